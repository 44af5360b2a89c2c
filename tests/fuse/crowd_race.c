/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes at the same moment: the first is stopped at its Nth access to a register of its
 * start, or of its stop; the second starts, as far as it can; the first goes on. Both count. For
 * every N, until the first gets through without being stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crowd.h"
#include "virtual_crowd.h"

enum { LINE = 4096, GIVE_UP_MS = 60000 };

struct partner {
	pid_t pid;
	int to, from;
	char said[LINE]; /* its last answer */
};

struct race {
	struct party *party;
	struct partner a, b;
	const struct crowd *crowd;
	unsigned points, right, marked, refused, wrong, left;
};

/* ---- partners */

static void tell(struct partner *p, const char *word, const char *what)
{
	p->said[0] = '\0';
	dprintf(p->to, "%s%s%s\n", word, *what ? " " : "", what);
}

/* Whether it has answered, in so many ms. */
static bool answered(struct partner *p, int ms)
{
	struct pollfd file = {.fd = p->from, .events = POLLIN};
	size_t n = strlen(p->said);

	while (!strchr(p->said, '\n')) {
		if (poll(&file, 1, ms) <= 0)
			return false;
		ssize_t got = read(p->from, p->said + n, LINE - 1 - n);

		if (got <= 0)
			snprintf(p->said, LINE, "error: it has ended\n");
		else
			p->said[n += (size_t)got] = '\0';
	}
	return true;
}

static const char *hear(struct partner *p)
{
	if (!answered(p, GIVE_UP_MS)) {
		fprintf(stderr, "crowd: no answer from %d\n", (int)p->pid);
		exit(2);
	}
	return p->said;
}

static void begin_partner(struct race *r, struct partner *p, char **argv)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		exit(2);
	p->pid = crowd_spawn(r->party, argv, "puppet", 1, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	hear(p);
}

/* ---- states */

static bool stopped(const struct partner *p)
{
	char path[40], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *end = strrchr(text, ')');

	return end && end[2] == 'T';
}

/* It waits for a lock. */
static bool tries(const struct race *r, const struct partner *p)
{
	for (size_t i = 0; i < CROWD_MEMBERS; i++)
		if (r->crowd->member[i].pid == p->pid)
			return r->crowd->member[i].state == CROWD_TRIES;
	return false;
}

/* Until it has answered, is stopped, or waits for a lock. */
static bool rests(struct race *r, struct partner *p)
{
	for (int ms = 0; ms < GIVE_UP_MS; ms++)
		if (answered(p, 1))
			return true;
		else if (stopped(p) || tries(r, p))
			return false;
	hear(p);
	return true;
}

/* ---- a point */

static void assess(struct race *r, struct partner *p, unsigned n, const char *what)
{
	const char *said = hear(p);

	r->wrong += strstr(said, "wrong") != NULL;
	r->marked += strncmp(said, "marked", 6) == 0;
	r->right += strncmp(said, "right", 5) == 0;
	r->refused += strncmp(said, "error", 5) == 0;
	if (strncmp(said, "right", 5) != 0 && strncmp(said, "ok", 2) != 0)
		crowd_say(r->party, "access %u, %s, %s: %s", n, what,
			  p == &r->a ? "first" : "second", said);
}

/* Both have what they asked for, or a sentence. */
static void count_both(struct race *r, unsigned n, const char *what, bool a, bool b)
{
	struct partner *all[] = {a ? &r->a : NULL, b ? &r->b : NULL};

	tell(&r->b, "sleep", "1");
	hear(&r->b);
	for (int i = 0; i < 2; i++)
		if (all[i]) {
			tell(all[i], "read", "");
			assess(r, all[i], n, what);
		}
	for (int i = 0; i < 2; i++)
		if (all[i]) {
			tell(all[i], "stop", "");
			assess(r, all[i], n, what);
		}
}

static bool ok(const struct partner *p)
{
	return strncmp(p->said, "ok", 2) == 0;
}

/* False: the first was not stopped. */
static bool at_start(struct race *r, const char *op, unsigned n)
{
	const struct party_event *e = r->party->event;
	bool through;

	crowd_control(r->party, "after %u %s * signal STOP", n, op);
	tell(&r->a, "start", e[0].spec);
	through = rests(r, &r->a);
	crowd_control(r->party, "clear");
	tell(&r->b, "start", e[1].spec);
	rests(r, &r->b);
	kill(r->a.pid, SIGCONT);
	hear(&r->a);
	hear(&r->b);
	if (!ok(&r->a))
		assess(r, &r->a, n, op);
	if (!ok(&r->b))
		assess(r, &r->b, n, op);
	count_both(r, n, op, ok(&r->a), ok(&r->b));
	return !through;
}

static bool at_stop(struct race *r, const char *op, unsigned n)
{
	const struct party_event *e = r->party->event;
	bool through;

	tell(&r->a, "start", e[0].spec);
	hear(&r->a);
	tell(&r->a, "sleep", "1");
	hear(&r->a);
	crowd_control(r->party, "after %u %s * signal STOP", n, op);
	tell(&r->a, "stop", "");
	through = rests(r, &r->a);
	crowd_control(r->party, "clear");
	tell(&r->b, "start", e[1].spec);
	rests(r, &r->b);
	kill(r->a.pid, SIGCONT);
	assess(r, &r->a, n, op);
	hear(&r->b);
	if (!ok(&r->b))
		assess(r, &r->b, n, op);
	count_both(r, n, op, false, ok(&r->b));
	return !through;
}

static void all_points(struct race *r, bool (*point)(struct race *, const char *, unsigned),
		       const char *op)
{
	for (unsigned n = 1, left; point(r, op, n); n++) {
		r->points++;
		if ((left = crowd_lines(r->party->root, "left")) != 0)
			crowd_say(r->party, "access %u, %s: %u registers are left", n, op, left);
		r->left += left;
	}
}

/* The file that VIRTUAL_CROWD names; it may not be there yet. */
static const struct crowd *map_crowd(const char *dir)
{
	int fd = crowd_open(dir, "crowd", O_RDONLY);
	const struct crowd *crowd = mmap(NULL, sizeof(*crowd), PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	if (crowd == MAP_FAILED)
		exit(2);
	return crowd;
}

int crowd_members(const char *dir)
{
	const struct crowd *crowd = map_crowd(dir);
	unsigned n = 0;

	for (size_t i = 0; i < CROWD_MEMBERS; i++)
		n += crowd->member[i].state != CROWD_GONE;
	printf("%u\n", n);
	return 0;
}

int crowd_race(struct party *party, char **argv)
{
	struct race r = {.party = party};

	begin_partner(&r, &r.a, argv);
	if (party->other)
		setenv("UNCORE_RUN", party->other, 1);
	begin_partner(&r, &r.b, argv);
	r.crowd = map_crowd(party->dir);
	all_points(&r, at_start, "read");
	all_points(&r, at_start, "write");
	all_points(&r, at_stop, "read");
	all_points(&r, at_stop, "write");
	close(r.a.to);
	close(r.b.to);
	printf("points=%u right=%u marked=%u refused=%u wrong=%u left=%u\n", r.points, r.right,
	       r.marked, r.refused, r.wrong, r.left);
	return 0;
}
