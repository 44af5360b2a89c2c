/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the crowd: see crowd.c. */
#ifndef CROWD_H
#define CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_EVENTS = 32, MAX_CONTROLS = 64 };

/* What a second counts. */
struct crowd_event {
	const char *spec;
	double rate;
};

/* A control that a stranger programs. */
struct crowd_control {
	char file[256];
	uint64_t offset, value;
	size_t size;
};

/* What all have done so far; in a file that they share. */
struct crowd_tally {
	atomic_uint sessions;             /* started */
	atomic_uint right, marked, wrong; /* numbers */
	atomic_uint refused;              /* starts: no counter is free */
	atomic_uint failed;               /* other errors */
	atomic_uint strange;              /* controls that strangers have set */
	atomic_uint kills;
};

struct crowd {
	const char *root, *dir;
	uint64_t seed, state; /* of chance */
	unsigned processes, strangers;
	unsigned kills; /* of a hundred sessions */
	double seconds; /* of the machine's time */
	struct crowd_event event[MAX_EVENTS];
	unsigned n_events;
	struct crowd_control control[MAX_CONTROLS];
	unsigned n_controls;
	struct crowd_tally *tally;
};

/* 0 to n - 1 */
unsigned crowd_draw(struct crowd *, unsigned n);
/* Seconds of the machine's clock. */
double crowd_time(const struct crowd *);
/* A line of ROOT/control. */
void crowd_control(const struct crowd *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line of DIR/said. */
void crowd_say(const struct crowd *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a control; *value: what it holds. False: it cannot. */
bool crowd_set(const struct crowd *, const struct crowd_control *, uint64_t value);
bool crowd_get(const struct crowd *, const struct crowd_control *, uint64_t *value);

/* crowd_worker.c: what the others do; their exit status. */
int crowd_work(struct crowd *); /* sessions at random, until the time is over */
int crowd_last(struct crowd *); /* one session with all events */
int crowd_stranger(struct crowd *);

#endif
