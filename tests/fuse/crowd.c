/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many processes that count on one machine of files (fuse_machine), at random.
 *
 *   crowd run OPTION... EVENT=RATE...
 *
 *   crowd race OPTION... EVENT=RATE EVENT=RATE    two of them: crowd_race.c
 *   crowd rank OPTION... EVENT=RATE...            counts for SECONDS and says what came out
 *   crowd members DIR                             how many there are
 *   crowd puppet OPTION... EVENT=RATE...          one by hand: crowd_puppet.c
 *
 *   -r ROOT        of the machine, opened with clock=step
 *   -d DIR         an empty folder for what they share
 *   -s SEED        of chance
 *   -n PROCESSES   that start, read and stop sessions; who is killed gets a successor
 *   -t SECONDS     of the machine's time
 *   -k N           of a hundred acts one is SIGKILL, of itself or at a register access to come
 *   -g N           how far a number may be from the truth: each counter of a sum has its own rest
 *   -l RUN         a race: the second of the two has a journal of its own there
 *   -x N           foreign processes, which program and clear controls by themselves
 *   -X FILE:OFFSET:BYTES:VALUE   a control that they set to VALUE; may be repeated
 *
 * RATE is what EVENT counts in a second. Half of the sessions count the first event and no other.
 * Each of the others is started with CROWD_PRELOAD (virtual_clock.so, live_machine.so) as
 * LD_PRELOAD, in the machine's time, which stands still while one of them runs: VIRTUAL_CROWD. At
 * the end one more session counts all events. Says what came out as words NAME=NUMBER; DIR/said
 * has a line for what was not right.
 */
#include "crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCESSES = 200 };

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
	exit(2);
}

unsigned crowd_draw(struct party *c, unsigned n)
{
	c->state = c->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((c->state >> 33) % n);
}

/* ---- files */

int crowd_open(const char *folder, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if ((fd = open(path, flags | O_CLOEXEC, 0600)) < 0)
		give_up(path);
	return fd;
}

double crowd_time(const struct party *c)
{
	char text[40];
	ssize_t n = pread(c->clock, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strtod(text, NULL);
}

static void write_line(const char *folder, const char *name, int flags, const char *format,
		       va_list args)
{
	int fd = crowd_open(folder, name, flags);
	char line[1024];
	int n = vsnprintf(line, sizeof(line) - 1, format, args);

	n = n < (int)sizeof(line) - 1 ? n : (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (write(fd, line, (size_t)n) != n)
		give_up(line);
	close(fd);
}

void crowd_control(const struct party *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(c->root, "control", O_WRONLY, format, args);
	va_end(args);
}

void crowd_say(const struct party *c, const char *format, ...)
{
	char text[900];
	va_list args;
	int n = snprintf(text, sizeof(text), "%.6f seed %" PRIu64 ": ", crowd_time(c), c->seed);

	snprintf(text + n, sizeof(text) - (size_t)n, "%s", format);
	va_start(args, format);
	write_line(c->dir, "said", O_WRONLY | O_APPEND | O_CREAT, text, args);
	va_end(args);
}

bool crowd_set(const struct party *c, const struct party_control *control, uint64_t value)
{
	int fd = crowd_open(c->root, control->file, O_RDWR);
	ssize_t n = pwrite(fd, &value, control->size, (off_t)control->offset);

	close(fd);
	return n == (ssize_t)control->size;
}

bool crowd_get(const struct party *c, const struct party_control *control, uint64_t *value)
{
	int fd = crowd_open(c->root, control->file, O_RDONLY);

	*value = 0;
	ssize_t n = pread(fd, value, control->size, (off_t)control->offset);

	close(fd);
	return n == (ssize_t)control->size;
}

static struct party_tally *open_tally(const char *dir)
{
	int fd = crowd_open(dir, "tally", O_RDWR | O_CREAT);
	void *at;

	if (ftruncate(fd, sizeof(struct party_tally)) < 0)
		give_up("tally");
	at = mmap(NULL, sizeof(struct party_tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		give_up("tally");
	return at;
}

/* ---- arguments */

static void usage(void)
{
	fprintf(stderr,
		"usage: crowd run -r ROOT -d DIR -s SEED -n PROCESSES -t SECONDS [-k KILLS] "
		"[-x FOREIGN -X FILE:OFFSET:BYTES:VALUE...] EVENT=RATE...\n");
	exit(2);
}

static void take_control(struct party *c, const char *text)
{
	struct party_control *to = &c->control[c->n_controls++];

	if (c->n_controls > MAX_CONTROLS)
		usage();
	/* A colon of a PCI function's name is part of the file. */
	const char *end = text + strlen(text);

	for (int colons = 0; end > text && colons < 3;)
		colons += *--end == ':';
	if (end == text || end - text >= (int)sizeof(to->file) ||
	    sscanf(end, ":%" SCNi64 ":%zu:%" SCNi64, (int64_t *)&to->offset, &to->size,
		   (int64_t *)&to->value) != 3)
		usage();
	memcpy(to->file, text, (size_t)(end - text));
}

static void take_event(struct party *c, char *text)
{
	char *value = strrchr(text, '=');

	if (!value || c->n_events == MAX_EVENTS)
		usage();
	*value = '\0';
	c->event[c->n_events++] = (struct party_event){text, strtod(value + 1, NULL)};
}

static void take_options(struct party *c, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "r:d:s:n:t:k:g:l:x:X:")) != -1) {
		switch (option) {
		case 'r':
			c->root = optarg;
			break;
		case 'd':
			c->dir = optarg;
			break;
		case 's':
			c->seed = c->state = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			c->processes = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 't':
			c->seconds = strtod(optarg, NULL);
			break;
		case 'k':
			c->kills = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'g':
			c->grain = strtod(optarg, NULL);
			break;
		case 'l':
			c->other = optarg;
			break;
		case 'x':
			c->foreign = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'X':
			take_control(c, optarg);
			break;
		default:
			usage();
		}
	}
	while (optind < argc)
		take_event(c, strdup(argv[optind++]));
	if (!c->root || !c->dir || !c->n_events || c->processes > MAX_PROCESSES)
		usage();
}

/* ---- processes */

pid_t crowd_spawn(const struct party *c, char **argv, const char *what, uint64_t seed, int from,
		  int to)
{
	const char *preload = getenv("CROWD_PRELOAD");
	char path[4096], text[32], option[] = "-s";
	char *arguments[256];
	size_t n = 0;
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (pid > 0)
		return pid;
	if ((from >= 0 && dup2(from, STDIN_FILENO) < 0) || (to >= 0 && dup2(to, STDOUT_FILENO) < 0))
		give_up("dup2");
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	arguments[n++] = argv[0];
	arguments[n++] = strdup(what);
	for (size_t i = 2; argv[i] && n < 250; i++)
		arguments[n++] = argv[i];
	arguments[n++] = option; /* the last one counts */
	arguments[n++] = text;
	arguments[n] = NULL;
	snprintf(path, sizeof(path), "%s/clock", c->root);
	setenv("VIRTUAL_CLOCK", path, 1);
	setenv("VIRTUAL_MACHINE", c->root, 1);
	snprintf(path, sizeof(path), "%s/crowd", c->dir);
	setenv("VIRTUAL_CROWD", path, 1);
	setenv("LD_PRELOAD", preload ? preload : "", 1);
	execv("/proc/self/exe", arguments);
	give_up(argv[0]);
}

/* Who ends before the time is over is followed by another one. */
static void run_all(struct party *c, char **argv)
{
	unsigned all = c->processes + c->foreign, born = 0, living = 0;
	pid_t pid[MAX_PROCESSES * 2] = {0};
	int status;

	for (;;) {
		for (unsigned i = 0; i < all && crowd_time(c) < c->seconds; i++) {
			if (pid[i])
				continue;
			pid[i] = crowd_spawn(c, argv, i < c->processes ? "work" : "foreign",
					     c->seed * 100000 + ++born, -1, -1);
			living++;
		}
		if (!living)
			return;
		pid_t ended = wait(&status);

		for (unsigned i = 0; i < all; i++)
			if (pid[i] == ended) {
				pid[i] = 0;
				living--;
			}
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			c->tally->kills++;
		else if (status)
			c->tally->failed++;
	}
}

/* A foreign process that was killed has left what only it could clear. */
static void clear_foreign(const struct party *c)
{
	uint64_t value;

	for (unsigned i = 0; i < c->n_controls; i++)
		if (crowd_get(c, &c->control[i], &value) && value == c->control[i].value)
			crowd_set(c, &c->control[i], 0);
}

unsigned crowd_lines(const char *folder, const char *name)
{
	int fd = crowd_open(folder, name, O_RDONLY);
	char buf[4096];
	unsigned lines = 0;

	for (ssize_t n; (n = read(fd, buf, sizeof(buf))) > 0;)
		for (ssize_t i = 0; i < n; i++)
			lines += buf[i] == '\n';
	close(fd);
	return lines;
}

static int run(struct party *c, char **argv)
{
	struct party_tally *t = c->tally;
	int status;

	run_all(c, argv);
	crowd_control(c, "clear");
	clear_foreign(c);
	unsigned wrong = t->wrong, refused = t->refused, marked = t->marked;

	waitpid(crowd_spawn(c, argv, "last", c->seed, -1, -1), &status, 0);
	printf("sessions=%u right=%u marked=%u wrong=%u refused=%u failed=%u kills=%u foreign=%u "
	       "last=%s left=%u\n",
	       t->sessions, t->right, marked, wrong, refused, t->failed, t->kills, t->foreign,
	       status || t->refused != refused || t->wrong != wrong || t->marked != marked
		       ? "bad"
		       : "right",
	       crowd_lines(c->root, "left"));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct party *);
	} others[] = {
		{"work", crowd_work},       {"last", crowd_last},     {"rank", crowd_rank},
		{"foreign", crowd_foreign}, {"puppet", crowd_puppet},
	};
	struct party c = {.grain = 1};

	if (argc == 3 && strcmp(argv[1], "members") == 0)
		return crowd_members(argv[2]);
	if (argc < 3)
		usage();
	take_options(&c, argc - 1, argv + 1);
	c.tally = open_tally(c.dir);
	c.clock = crowd_open(c.root, "clock", O_RDONLY);
	if (strcmp(argv[1], "run") == 0)
		return run(&c, argv);
	if (strcmp(argv[1], "race") == 0 && c.n_events == 2)
		return crowd_race(&c, argv);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(argv[1], others[i].name) == 0)
			return others[i].run(&c);
	usage();
}
