/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows share: CPU time, sessions on the machine (machine.h), lines of output. */
#ifndef UNC_BENCH_KIT_H
#define UNC_BENCH_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

#ifndef UNC_API_VERSION /* before there were versions */
#define unc_session_read(s, v, n, size) unc_session_read(s, v, n)
#define unc_session_reason(s, id) "not valid"
#endif

enum { RUNS = 15, MOST = 480 };

/* The world is the changing one (machine.h). */
extern bool changes;

void die(const char *what, const char *why);
/* "ROW/WHAT VALUE", a line; of the changing world "changing/ROW/WHAT VALUE". */
void put(const char *row, const char *what, double value);

/* CPU time of this process, of all its threads. */
double cpu_ns(void);
double median(double run[RUNS]);
/* ns of one call; and how many calls take 1 ms. */
double ns_of(void (*call)(void *), void *user, unsigned calls);
unsigned enough(void (*call)(void *), void *user);
/* ns of one call by itself, without what looking at the time costs. */
double ns_alone(void (*call)(void *), void *user);
/* The median of RUNS. */
double time_of(void (*call)(void *), void *user);
/* Time until the next read: skipped, or in the changing world slept. */
void pass(uint64_t ns);

struct unc_platform *open_platform(const char *root, const char *sim, const char *cpu);
/* A machine of so many sockets, and its platform. */
struct unc_platform *open_machine(unsigned sockets);
void close_machine(struct unc_platform *);
struct unc_session *session_with(struct unc_platform *, const char *const *events, unsigned n);
/* The event of a slice that is counter i of so many sockets: all slices with the first event, then
 * with the next one. */
enum { SLICE_EVENTS = 4 };
extern const char *const slice_events[SLICE_EVENTS];
void slice_text(unsigned sockets, unsigned i, char *text, size_t size);
/* n counters from number `first` on, each an item of its own. */
struct unc_session *session_of(struct unc_platform *, unsigned sockets, unsigned first, unsigned n);
/* With a session as `user`. */
void start(void *user);
void stop(void *user);

/* System calls of this work in a process of its own (lives.c). */
struct calls {
	double all, opens;
};
struct calls system_calls(void (*work)(unsigned), unsigned how_often);

/* Reads of a session, not started yet: tight, 2 and 60 ms apart, over bare reads of its counters. */
void report_reads(const char *row, struct unc_session *, unsigned items);

/* The rows: each prints its lines. */
void row_read(const char *row);
void row_own(const char *row);
void row_pci(const char *row);
void row_mmio(const char *row);
void row_software(const char *row);
void row_start(const char *row);
void row_beside(const char *row);
void row_remote(const char *row);
void row_memory(const char *row);
void row_threads(const char *row);
void row_open(const char *row);
void row_kernel(const char *row);
void row_encode(const char *row);
void row_growth(const char *row);

#endif
