/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a made-up uncore driver as files, which are read, asked by ioctl(), passed and closed as
 * those of perf_event_open() are, and share a unit as those of the kernel's driver do:
 *
 *   driver_events MOUNTPOINT       serves until it is unmounted
 *
 *   open/TYPE:CPU:LEADER:PINNED:DISABLED:CONFIG:CONFIG1:CONFIG2
 *            opening it makes an event of the PMU TYPE on CPU; LEADER is the id of its group's first
 *            event, 0 for one that begins a group. driver_syscall.c opens them.
 *   control  "offline CPU", "online CPU": all CPUs of a socket
 *   events   how many there are
 *
 * A unit, TYPE on CPU, has four counters for any event, and one for config 0xff. An event counts
 * 1 + (config & 0xf) a nanosecond. Groups that are not pinned take turns of a millisecond, as
 * kernel/events/core.c has it: from the one whose turn it is until the first that does not fit.
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fuse.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4096, COUNTERS = 4, FIXED = 0xff };

struct event {
	uint64_t id, leader; /* id 0: none; the leader's own: itself */
	uint64_t config, value, enabled, running;
	unsigned type, cpu;
	bool pinned, failed, enables, dead;
};

static struct event event[MOST]; /* in the order in which they were opened */
static uint64_t last_id, now_ns;
static bool offline[64];

static const uint64_t turn_ns = 1000000;

/* ---- time */

static bool leads(const struct event *e)
{
	return e->id && e->leader == e->id;
}

static bool same_unit(const struct event *a, const struct event *b)
{
	return a->type == b->type && a->cpu == b->cpu;
}

/* Whether the events of a group have counters, of which they are taken then. */
static bool fits(uint64_t leader, unsigned *general, unsigned *fixed)
{
	unsigned want_general = 0, want_fixed = 0;

	for (size_t i = 0; i < MOST; i++)
		if (event[i].id && event[i].leader == leader)
			(event[i].config & 0xff) == FIXED ? want_fixed++ : want_general++;
	if (want_general > *general || want_fixed > *fixed)
		return false;
	*general -= want_general;
	*fixed -= want_fixed;
	return true;
}

static void run(struct event *leader, uint64_t ns)
{
	leader->running += ns;
	for (size_t i = 0; i < MOST; i++)
		if (event[i].id && event[i].leader == leader->id)
			event[i].value += ns * (1 + (event[i].config & 0xf));
}

static bool is_active(const struct event *e, const struct event *of)
{
	return leads(e) && same_unit(e, of) && e->enables && !e->failed && !e->dead;
}

/* A unit for a time within one turn; `of` is the first group of it. */
static void run_unit(const struct event *of, uint64_t turn, uint64_t ns)
{
	unsigned general = COUNTERS, fixed = 1;
	size_t n = 0, flexible[MOST];
	bool room = true;

	for (size_t i = 0; i < MOST; i++) {
		struct event *e = &event[i];

		if (!is_active(e, of))
			continue;
		e->enabled += ns;
		if (!e->pinned)
			flexible[n++] = i;
		else if (fits(e->id, &general, &fixed))
			run(e, ns);
		else
			e->failed = true;
	}
	for (size_t i = 0; i < n && room; i++) {
		struct event *e = &event[flexible[(turn + i) % n]];

		room = fits(e->id, &general, &fixed);
		if (room)
			run(e, ns);
	}
}

static void run_all(uint64_t turn, uint64_t ns)
{
	for (size_t i = 0; i < MOST; i++) {
		bool first = leads(&event[i]);

		for (size_t k = 0; k < i && first; k++)
			first = !(leads(&event[k]) && same_unit(&event[k], &event[i]));
		if (first)
			run_unit(&event[i], turn, ns);
	}
}

static void catch_up(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;

	while (now_ns && now_ns < now) {
		uint64_t turn = now_ns / turn_ns, end = (turn + 1) * turn_ns;

		end = end < now ? end : now;
		run_all(turn, end - now_ns);
		now_ns = end;
	}
	now_ns = now;
}

/* ---- events */

static struct event *find(uint64_t id)
{
	for (size_t i = 0; i < MOST; i++)
		if (event[i].id == id)
			return &event[i];
	return NULL;
}

static int open_event(const char *path, uint64_t *id)
{
	unsigned general = COUNTERS, fixed = 1, pinned, disabled;
	struct event e = {0}, *leader;
	uint64_t config1, config2;

	if (sscanf(path, "/open/%u:%u:%" SCNu64 ":%u:%u:%" SCNx64 ":%" SCNx64 ":%" SCNx64, &e.type,
		   &e.cpu, &e.leader, &pinned, &disabled, &e.config, &config1, &config2) != 8 ||
	    e.cpu >= sizeof(offline) / sizeof(offline[0]))
		return -EINVAL;
	if (offline[e.cpu])
		return -ENODEV;
	leader = e.leader ? find(e.leader) : NULL;
	if (e.leader && (!leader || !leads(leader) || !same_unit(leader, &e)))
		return -EINVAL;
	for (size_t i = MOST; i-- > 0;)
		if (!event[i].id && (i == 0 || event[i - 1].id)) {
			e.pinned = pinned;
			e.enables = !disabled;
			e.id = ++last_id;
			e.leader = leader ? leader->id : e.id;
			event[i] = e;
			if (!fits(e.leader, &general, &fixed)) {
				event[i].id = 0;
				return -EINVAL;
			}
			*id = e.id;
			return 0;
		}
	return -EMFILE;
}

/* The events behind it move up, so that they stay in their order. */
static void close_event(struct event *e)
{
	size_t i = (size_t)(e - event);

	memmove(e, e + 1, (MOST - 1 - i) * sizeof(*e));
	event[MOST - 1] = (struct event){0};
}

/* The group's count, read_format GROUP with both times. -ENOSPC: no room. 0: it has no counters. */
static int read_event(const struct event *e, char *buf, size_t size)
{
	const struct event *leader = find(e->leader);
	uint64_t data[3 + MOST];
	size_t n = 0;

	if (!leader)
		return -EIO;
	for (size_t i = 0; i < MOST; i++)
		if (event[i].id && event[i].leader == leader->id)
			data[3 + n++] = event[i].value;
	data[0] = n;
	data[1] = leader->enabled;
	data[2] = leader->running;
	if (leader->failed)
		return 0;
	if (size < (3 + n) * sizeof(data[0]))
		return -ENOSPC;
	memcpy(buf, data, (3 + n) * sizeof(data[0]));
	return (int)((3 + n) * sizeof(data[0]));
}

/* ---- files */

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	bool folder = strcmp(path, "/") == 0 || strcmp(path, "/open") == 0;

	(void)fi;
	if (!folder && strncmp(path, "/open/", 6) != 0 && strcmp(path, "/control") != 0 &&
	    strcmp(path, "/events") != 0)
		return -ENOENT;
	*st = (struct stat){.st_mode = folder ? S_IFDIR | 0700 : S_IFREG | 0600,
			    .st_nlink = 1,
			    .st_size = folder ? 0 : 4096};
	return 0;
}

static int fuse_open_file(const char *path, struct fuse_file_info *fi)
{
	catch_up();
	fi->direct_io = 1;
	fi->fh = 0;
	if (fuse_get_context()->uid)
		return -EACCES; /* as perf_event_paranoid has it */
	return strncmp(path, "/open/", 6) == 0 ? open_event(path, &fi->fh) : 0;
}

static int fuse_read_file(const char *path, char *buf, size_t size, off_t at,
			  struct fuse_file_info *fi)
{
	size_t n = 0;

	(void)path;
	catch_up();
	if (fi->fh)
		return read_event(find(fi->fh), buf, size);
	for (size_t i = 0; i < MOST; i++)
		n += event[i].id != 0;
	return at ? 0 : snprintf(buf, size, "%zu\n", n);
}

static int fuse_write_file(const char *path, const char *buf, size_t size, off_t at,
			   struct fuse_file_info *fi)
{
	char word[16], text[64] = "";
	unsigned cpu;

	(void)at;
	memcpy(text, buf, size < sizeof(text) ? size : sizeof(text) - 1);
	if (fi->fh || strcmp(path, "/control") != 0 || sscanf(text, "%15s %u", word, &cpu) != 2 ||
	    cpu >= sizeof(offline) / sizeof(offline[0]))
		return -EINVAL;
	catch_up();
	offline[cpu] = strcmp(word, "offline") == 0;
	for (size_t i = 0; i < MOST; i++) /* for good, even if the CPUs come back */
		event[i].dead |= event[i].id && event[i].cpu == cpu && offline[cpu];
	return (int)size;
}

static int fuse_truncate_file(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)size;
	(void)fi;
	return strcmp(path, "/control") == 0 ? 0 : -EINVAL;
}

static int fuse_ioctl_file(const char *path, unsigned cmd, void *arg, struct fuse_file_info *fi,
			   unsigned flags, void *data)
{
	struct event *e = find(fi->fh), *leader;

	(void)path;
	(void)arg;
	(void)flags;
	if (!fi->fh || !e || !(leader = find(e->leader)))
		return -ENOTTY;
	catch_up();
	if (cmd == (unsigned)PERF_EVENT_IOC_ENABLE)
		leader->enables = true;
	else if (cmd == (unsigned)PERF_EVENT_IOC_DISABLE)
		leader->enables = false;
	else if (cmd == (unsigned)PERF_EVENT_IOC_RESET)
		e->value = 0;
	else if (cmd == (unsigned)PERF_EVENT_IOC_ID)
		memcpy(data, &e->id, sizeof(e->id));
	else
		return -EINVAL;
	return 0;
}

static int fuse_release_file(const char *path, struct fuse_file_info *fi)
{
	struct event *e = fi->fh ? find(fi->fh) : NULL;

	(void)path;
	catch_up();
	if (e)
		close_event(e);
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = get_attr,
	.open = fuse_open_file,
	.read = fuse_read_file,
	.write = fuse_write_file,
	.truncate = fuse_truncate_file,
	.ioctl = fuse_ioctl_file,
	.release = fuse_release_file,
};

int main(int argc, char **argv)
{
	char *args[] = {argv[0], "-f", "-s", "-oallow_other", argc == 2 ? argv[1] : NULL, NULL};

	if (argc != 2) {
		fprintf(stderr, "usage: driver_events MOUNTPOINT\n");
		return 2;
	}
	return fuse_main(5, args, &operations, NULL);
}
