/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An Emerald Rapids that is measured on: files of a kernel below a temporary folder, and registers in
 * the memory of this process. open(), pread(), pwrite(), mmap() and clock_gettime() of whatever
 * library is linked in go through machine.c, so that it serves every version of libuncore alike.
 * Each access to a register takes as long as it does by the msr driver, which interrupts a CPU of
 * the other socket if the caller runs on this one. Two worlds:
 *
 *   steady     a counter makes the same step each time that it is read; those in mapped memory
 *              count nanoseconds when somebody looks at the clock. Time is skipped.
 *   changing   a counter counts by time, at a rate of its own that machine_change() multiplies by
 *              0.5 to 2. Who wants time to pass sleeps (machine_sleep()).
 */
#ifndef UNC_BENCH_MACHINE_H
#define UNC_BENCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "uncore.h"

enum { CHAS = 60, CPUS = 32, MAX_SOCKETS = 8, ACCESS_NS = 350, REMOTE_NS = 3000 };

struct machine_counts {
	uint64_t reads, writes;
	uint64_t remote; /* to MSRs, by a thread that does not run on their socket: a thread that is
			    not bound runs on the first one */
};

/* So many sockets, CHAS slices and four memory channels each. Its root is machine_root(). */
void machine_begin(unsigned sockets);
/* So many PCI functions that are no monitors. */
void machine_others(unsigned n);
/* The kernel has a driver of the slices: groups of real events of the kernel that runs. */
void machine_pmus(unsigned sockets);
/* Its root becomes "/" of this process, so that the library takes the kernel that runs for its own.
 * False: that needs root. */
bool machine_enter(void);
void machine_end(void);
const char *machine_root(void);

/* Of all accesses until now. */
struct machine_counts machine_counts(void);
/* ns of CPU time that an access takes from now on: ACCESS_NS, and REMOTE_NS one that is remote; or 0:
 * its own alone. */
void machine_delay(unsigned ns);
/* Accesses of this thread are remote to no socket: for the least that a read could cost. */
void machine_everywhere(bool);
/* Counters in mapped memory move from now on when somebody looks at the clock. */
void machine_memory_counts(void);
/* The clocks of this process but those of CPU time move on; or stand still otherwise, and make a
 * step of 50 ns each time that somebody looks at them. */
void machine_skip(uint64_t ns);
void machine_stand_still(void);

/* The world becomes the changing one. Rates are drawn by a fixed seed, and are the same whatever
 * reads the counters. Clocks keep theirs: an uncore's clock does not follow its traffic. */
void machine_begin_changing(void);
/* Each counter's rate is multiplied by a factor from 0.5 to 2. */
void machine_change(void);
/* CPU time that went into the counting of counters in memory: none of a library's. */
double machine_counting_ns(void);
/* The process really sleeps. */
void machine_sleep(uint64_t ns);

/* A counter to be read without a library: by pread() of a descriptor, or in memory. */
struct machine_counter {
	int fd;
	int64_t at;
	volatile uint64_t *word;
	unsigned unit; /* the same of all counters of a unit */
};

/* The counters that a session of one unit type reads, unit by unit. Returns how many, at most
 * `room`. */
unsigned machine_counters(struct unc_session *, struct machine_counter *found, unsigned room);

#endif
