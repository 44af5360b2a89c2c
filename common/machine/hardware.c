/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/hardware.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "access/access.h"
#include "host/cpu.h"
#include "host/events.h"
#include "host/trust.h"
#include "machine/discover.h"

struct hardware {
	struct unc_machine machine; /* first */
	bool here;                  /* not a dump: this process runs on it */
};

static uint64_t time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	*ns = time_of(CLOCK_BOOTTIME);
	if (!tsc)
		return;
#if defined(__x86_64__) || defined(__i386__)
	*tsc = __rdtsc();
#else
	*tsc = 0;
#endif
}

/* Keeps in *since the most that BOOTTIME can be ahead of MONOTONIC. If it is surely further ahead now, the
 * machine was suspended. */
static bool slept(const struct unc_machine *machine, uint64_t *since)
{
	uint64_t before = time_of(CLOCK_MONOTONIC), now = time_of(CLOCK_BOOTTIME);
	uint64_t after = time_of(CLOCK_MONOTONIC), had = *since;

	(void)machine;
	*since = now - before;
	return now > after && now - after > had;
}

static int cpu(const struct unc_machine *machine)
{
	return ((const struct hardware *)machine)->here ? sched_getcpu() : -1;
}

static void close_hardware(struct unc_machine *machine)
{
	free(machine);
}

static const struct unc_machine_methods hardware = {
	.access = unc_access_hardware,
	.now = now,
	.slept = slept,
	.pause = unc_machine_sleep,
	.close = close_hardware,
	.cpu = cpu,
};

int unc_machine_hardware(struct unc_fs *fs, struct unc_machine **out, struct unc_error *err)
{
	struct hardware *hw = malloc(sizeof(*hw));

	if (!hw)
		return unc_no_memory(err);
	/* Files of a machine have no running kernel that could count; a dump has the kernel's recorded answers. */
	bool told = unc_fs_replayed(fs) && unc_fs_of_hardware(fs);

	*hw = (struct hardware){.machine = {.methods = &hardware,
					    .events = unc_fs_is_real(fs) ? &unc_events_system
						      : told             ? &unc_events_replayed
									 : NULL,
					    .fs = fs,
					    .fenced = true},
				.here = unc_fs_is_hardware(fs)};
	*out = &hw->machine;
	return 0;
}
