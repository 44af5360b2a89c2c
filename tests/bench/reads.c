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
	uint64_t apart; /* ns between two */
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

	if (r->apart)
		machine_skip(r->apart);
	if (unc_session_read(r->session, v, r->items, sizeof(*v)) < 0)
		die("read", unc_session_error(r->session));
	for (unsigned i = 0; i < r->items; i++)
		if (!(v[i].flags & UNC_VALUE_VALID))
			die("read", unc_session_reason(r->session, (int)i));
}

/* The floor: each counter once, and one look at the clock a unit, or as many as the library takes. */
static void read_bare(void *user)
{
	struct reading *r = user;
	struct timespec t;
	uint64_t value, sum = 0;

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
	r->sum += sum;
}

/* They take turns, so that what else this computer does meets both alike. */
static void report(const char *row, struct reading *r)
{
	double session[RUNS], bare[RUNS], ratio[RUNS];
	unsigned session_calls = enough(read_session, r), bare_calls = enough(read_bare, r);
	struct machine_counts before = machine_counts(), after;

	for (unsigned i = 0; i < 100; i++)
		read_session(r);
	after = machine_counts();
	for (unsigned i = 0; i < RUNS; i++) {
		session[i] = ns_of(read_session, r, session_calls);
		bare[i] = ns_of(read_bare, r, bare_calls);
		ratio[i] = session[i] / bare[i];
	}
	put(row, "ratio", median(ratio));
	put(row, "session_ns", median(session));
	put(row, "floor_ns", median(bare));
	if (after.reads != before.reads) /* loads cannot be seen */
		put(row, "accesses", (double)(after.reads - before.reads) / 100 / r->counters);
}

/* Of a session that runs. */
static struct reading *reading_again(struct unc_session *s, unsigned items)
{
	static struct reading r;

	r = (struct reading){.session = s, .items = items, .stamps = true, .together = 1};
	r.counters = machine_counters(s, r.counter, MOST);
	if (!r.counters)
		die("plan", "no counter is read");
	machine_skip(60000000);
	return &r;
}

static struct reading *reading_of(struct unc_session *s, unsigned items)
{
	start(s);
	return reading_again(s, items);
}

static void report_all(const char *row, struct unc_session *s, unsigned items)
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
		report_all(name, s, sizes[i]);
		unc_session_free(s);
	}
	close_machine(p);
}

/* Configuration space: three links of each socket, four counters of each. */
void row_pci(const char *row)
{
	static const char *const events[] = {"upi.CLOCKTICKS", "upi.TxL_FLITS:ALL_DATA",
					     "upi.RxL_FLITS:ALL_DATA", "upi.L1_POWER_CYCLES"};
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_with(p, events, 4);

	report_all(row, s, 4);
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
	report_all(row, s, 4);
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
	double more[RUNS];

	machine_delay(0);
	r->stamps = false;
	unsigned session_calls = enough(read_session, r), bare_calls = enough(read_bare, r);

	for (unsigned i = 0; i < RUNS; i++)
		more[i] =
			(ns_of(read_session, r, session_calls) - ns_of(read_bare, r, bare_calls)) /
			120;
	put(row, "ns", median(more));
	unc_session_free(s);
	close_machine(p);
}
