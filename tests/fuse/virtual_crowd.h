/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes in one virtual time: inside virtual_clock.so. See virtual_crowd.c. */
#ifndef VIRTUAL_CROWD_H
#define VIRTUAL_CROWD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CROWD_MEMBERS = 256 };

enum crowd_state { CROWD_GONE, CROWD_RUNS, CROWD_WAITS, CROWD_TRIES /* for a lock */ };

struct crowd_member {
	uint32_t woken; /* futex */
	enum crowd_state state;
	bool look; /* goes on before its time as well */
	pid_t pid;
	uint64_t until; /* CROWD_WAITS: a time; CROWD_TRIES: when it has tried last */
};

/* What is in the file. Member i holds a lock of its byte i as long as it lives. */
struct crowd {
	pthread_mutex_t lock;
	uint64_t turn; /* how often somebody has run: a lock may be free again */
	struct crowd_member member[CROWD_MEMBERS];
};

/* Between 1 and 0 a program waits for something else than time, which goes on without it. */
void virtual_clock_idle(int idle);

/* Joins the crowd of VIRTUAL_CROWD; without that variable, or without a clock, nothing changes. */
void crowd_rest(void);
void crowd_join(void);
bool crowd_joined(void);
/* Waits for a time of the machine (ns). With `look` it may return before. */
void crowd_wait(uint64_t until, bool look);

/* virtual_clock.c */
uint64_t machine_time(void);
/* Moves the clock to a time, or to what happens at the machine before it. */
void machine_move(uint64_t until);
/* To the end of the first stall, if there is one. */
void machine_jump(void);

#endif
