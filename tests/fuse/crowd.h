/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the crowd: see crowd.c. */
#ifndef CROWD_H
#define CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_EVENTS = 32, MAX_CONTROLS = 64 };

/* What a second counts. */
struct party_event {
	const char *spec;
	double rate;
};

/* A control that a foreign process programs. */
struct party_control {
	char file[256];
	uint64_t offset, value;
	size_t size;
};

/* What all have done so far; in a file that they share. */
struct party_tally {
	atomic_uint sessions;             /* started */
	atomic_uint right, marked, wrong; /* numbers */
	atomic_uint refused;              /* starts: no counter is free */
	atomic_uint failed;               /* other errors */
	atomic_uint foreign;              /* controls that foreign processes have set */
	atomic_uint kills;
};

struct party {
	const char *root, *dir;
	const char *other;    /* folder of the second's journal in a race; NULL: they share one */
	uint64_t seed, state; /* of chance */
	unsigned processes, foreign;
	unsigned kills; /* of a hundred sessions */
	double seconds; /* of the machine's time */
	double grain;   /* how far a number may be from the truth */
	struct party_event event[MAX_EVENTS];
	unsigned n_events;
	struct party_control control[MAX_CONTROLS];
	unsigned n_controls;
	struct party_tally *tally;
	int clock; /* file */
};

/* 0 to n - 1 */
unsigned crowd_draw(struct party *, unsigned n);
/* Seconds of the machine's clock. */
double crowd_time(const struct party *);
/* A line of ROOT/control. */
void crowd_control(const struct party *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line of DIR/said. */
void crowd_say(const struct party *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a control; *value: what it holds. False: it cannot. */
bool crowd_set(const struct party *, const struct party_control *, uint64_t value);
bool crowd_get(const struct party *, const struct party_control *, uint64_t *value);

int crowd_open(const char *folder, const char *name, int flags);
unsigned crowd_lines(const char *folder, const char *name);
/* One that does something else, with the arguments of this one and a seed of its own; from and to
 * are its standard input and output, -1: those of this one. */
pid_t crowd_spawn(const struct party *, char **argv, const char *what, uint64_t seed, int from,
		  int to);

/* crowd_worker.c: what the others do; their exit status. */
int crowd_work(struct party *); /* sessions at random, until the time is over */
int crowd_last(struct party *); /* one session with all events */
int crowd_rank(struct party *);
int crowd_foreign(struct party *);
/* crowd_puppet.c, crowd_race.c */
int crowd_puppet(struct party *);
int crowd_race(struct party *, char **argv);
int crowd_members(const char *dir);

#endif
