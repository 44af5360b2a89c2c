/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes in one virtual time: inside virtual_clock.so. See virtual_crowd.c. */
#ifndef VIRTUAL_CROWD_H
#define VIRTUAL_CROWD_H

#include <stdbool.h>
#include <stdint.h>

/* Joins the crowd of VIRTUAL_CROWD; without that variable, or without a clock, nothing changes. */
void crowd_join(void);
bool crowd_joined(void);
/* Waits for a time of the machine (ns). With `look` it may return before. */
void crowd_wait(uint64_t until, bool look);

/* virtual_clock.c */
uint64_t machine_time(void);
/* Moves the clock to a time, or to what happens at the machine before it. */
void machine_move(uint64_t until);

#endif
