/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

/* ---- reads, beside those of the same counters without a library */

struct reading {
	struct unc_session *session;
	unsigned items;
	uint64_t apart;           /* ns between two */
	uint64_t looks, accesses; /* of the session, until now; machine_counts() */
	struct machine_counter counter[MOST];
	unsigned counters;
	bool stamps;
	unsigned together;     /* counters of units that have one stamp, where they are in memory */
	volatile uint64_t sum; /* so that none is left out */
};

static void read_session(void *user)
{
	struct reading *r = user;
	static struct unc_value v[MOST];

	if (r->apart && !changes)
		machine_skip(r->apart);
	if (unc_session_read(r->session, v, r->items, sizeof(*v)) < 0)
		die("read", unc_session_error(r->session));
	for (unsigned i = 0; i < r->items; i++)
		if (!(v[i].flags & UNC_VALUE_VALID))
			die("read", unc_session_reason(r->session, (int)i));
}

/* The floor: each counter once, by somebody who is near to it, and one look at the clock a unit, or as
 * many as the library takes. */
static void read_bare(void *user)
{
	struct reading *r = user;
	struct timespec t;
	uint64_t value, sum = 0;

	machine_everywhere(true);
	for (unsigned i = 0; i < r->counters; i++) {
		const struct machine_counter *c = &r->counter[i];

		if (c->word)
			value = *c->word;
		else if (pread(c->fd, &value, 8, c->at) != 8)
			die("pread", "failed");
		sum += value;
		if (r->stamps && i % r->together == 0 && (i == 0 || c->unit != c[-1].unit)) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sum += (uint64_t)t.tv_nsec;
		}
	}
	machine_everywhere(false);
	r->sum += sum;
}

/* Reads of the session, with what is counted meanwhile. */
static double counted(double (*measure)(void (*)(void *), void *, unsigned), struct reading *r,
		      unsigned calls)
{
	struct machine_counts before = machine_counts(), after;
	double ns = measure(read_session, r, calls);

	after = machine_counts();
	r->looks += calls;
	r->accesses += after.reads - before.reads;
	return ns;
}

static double alone(void (*call)(void *), void *user, unsigned calls)
{
	double counting = machine_counting_ns(), ns = ns_alone(call, user);

	(void)calls; /* one */
	return ns - (machine_counting_ns() - counting);
}

/* ns of a read: of the session, and of what it costs at least. */
struct cost {
	double session, bare;
};

/* Each in a tight loop: time is skipped. */
static void measure_steady(struct reading *r, struct cost run[RUNS])
{
	unsigned session_calls = enough(read_session, r), bare_calls = enough(read_bare, r);

	counted(ns_of, r, 100);
	for (unsigned i = 0; i < RUNS; i++) {
		run[i].session = ns_of(read_session, r, session_calls);
		run[i].bare = ns_of(read_bare, r, bare_calls);
	}
}

/* Time passes, with the floor in the middle of it, so that both find the caches as a wait leaves them;
 * each is measured alone. */
static void measure_changing(struct reading *r, struct cost run[RUNS])
{
	const unsigned calls = r->apart >= 60000000 ? 5 : r->apart ? 20 : 50;

	for (unsigned i = 0; i < RUNS; i++) {
		run[i] = (struct cost){0};
		for (unsigned k = 0; k < calls; k++) {
			pass(r->apart / 2);
			run[i].bare += alone(read_bare, r, 1) / calls;
			pass(r->apart / 2);
			run[i].session += counted(alone, r, 1) / calls;
			machine_change();
		}
	}
}

/* They take turns, so that what else this computer does meets both alike. */
static void report(const char *row, struct reading *r)
{
	struct cost run[RUNS];
	double session[RUNS], bare[RUNS], ratio[RUNS];

	r->looks = r->accesses = 0;
	(changes ? measure_changing : measure_steady)(r, run);
	for (unsigned i = 0; i < RUNS; i++) {
		session[i] = run[i].session;
		bare[i] = run[i].bare;
		ratio[i] = session[i] / bare[i];
	}
	put(row, "ratio", median(ratio));
	put(row, "session_ns", median(session));
	put(row, "floor_ns", median(bare));
	if (r->accesses) /* loads cannot be seen */
		put(row, "accesses", (double)r->accesses / (double)r->looks / r->counters);
}

/* Of a session that runs. */
static struct reading *reading_again(struct unc_session *s, unsigned items)
{
	static struct reading r;

	r = (struct reading){.session = s, .items = items, .stamps = true, .together = 1};
	r.counters = machine_counters(s, r.counter, MOST);
	if (!r.counters)
		die("plan", "no counter is read");
	pass(60000000);
	if (changes)
		machine_change();
	return &r;
}

static struct reading *reading_of(struct unc_session *s, unsigned items)
{
	start(s);
	return reading_again(s, items);
}

void report_reads(const char *row, struct unc_session *s, unsigned items)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} apart[] = {{"tight", 0}, {"2ms", 2000000}, {"60ms", 60000000}};
	struct reading *r = reading_of(s, items);
	char name[64];

	for (unsigned k = 0; k < sizeof(apart) / sizeof(apart[0]); k++) {
		snprintf(name, sizeof(name), "%s/%s", row, apart[k].name);
		r->apart = apart[k].ns;
		report(name, r);
	}
}

void row_read(const char *row)
{
	static const unsigned sizes[] = {10, 120, 480, 0};
	struct unc_platform *p = open_machine(2);
	char name[64];

	for (unsigned i = 0; sizes[i]; i++) {
		struct unc_session *s = session_of(p, 2, 0, sizes[i]);

		snprintf(name, sizeof(name), "%s/%u", row, sizes[i]);
		report_reads(name, s, sizes[i]);
		unc_session_free(s);
	}
	close_machine(p);
}

/* 120 of the socket on which the caller runs: no thread of another one is woken. */
void row_own(const char *row)
{
	struct unc_platform *p = open_machine(1);
	struct unc_session *s = session_of(p, 1, 0, 2 * CHAS);

	report_reads(row, s, 2 * CHAS);
	unc_session_free(s);
	close_machine(p);
}

/* Configuration space: three links of each socket, four counters of each. */
void row_pci(const char *row)
{
	static const char *const events[] = {"upi.CLOCKTICKS", "upi.TxL_FLITS:ALL_DATA",
					     "upi.RxL_FLITS:ALL_DATA", "upi.L1_POWER_CYCLES"};
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_with(p, events, 4);

	report_reads(row, s, 4);
	unc_session_free(s);
	close_machine(p);
}

/* Memory: eight channels of each socket. A load takes as long as one of the cache here. */
void row_mmio(const char *row)
{
	static const char *const events[] = {"imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR",
					     "imc.ACT_COUNT:ALL", "imc.CLOCKTICKS"};
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_with(p, events, 4);
	char name[64];

	machine_memory_counts();
	report_reads(row, s, 4);
	struct reading *r = reading_again(s, 4);
	r->together = 16;
	snprintf(name, sizeof(name), "%s/needed", row);
	report(name, r);
	snprintf(name, sizeof(name), "%s/loads", row);
	r->stamps = false;
	report(name, r);
	unc_session_free(s);
	close_machine(p);
}

/* What a value costs beside the reads: accesses take no time. */
void row_software(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_of(p, 2, 0, 120);
	struct reading *r = reading_of(s, 120);
	struct cost run[RUNS];
	double more[RUNS];

	machine_delay(0);
	r->stamps = false;
	(changes ? measure_changing : measure_steady)(r, run);
	for (unsigned i = 0; i < RUNS; i++)
		more[i] = (run[i].session - run[i].bare) / 120;
	put(row, "ns", median(more));
	unc_session_free(s);
	close_machine(p);
}
