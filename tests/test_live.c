/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load=live through the library, on a CPU of each folder of tables (ALL=1: on each CPU). In 100 seconds all traffic comes to the same share of what
 * the constant load has, whatever counts it: so what metrics relate stays related. By the manual page
 * it is 0.6 to 1 of 0.75 of what the levels come to: 0.2 * 0.44 + 0.25 * 0.36 + 0.1 * (0.95 + 0.85 + 0.74 +
 * 0.66) + 0.15 * 0.03.
 */
#include <math.h>

#include "kinds.h"
#include "session_kit.h"

enum { ROUND = 100 };
static const double least = 0.6 * 0.75 * 0.5025, most = 0.75 * 0.5025;

static struct unc_platform *open_cpu(const char *cpu, const char *options)
{
	char sim[128];

	snprintf(sim, sizeof(sim), "%s,sockets=2,clock=step,cxl=on%s", cpu, options);
	return machine(sim);
}

enum { MAX_PLACES = 3 };

/* A metric over 100 s in each of some places, of which a total is per second. NAN: it needs several
 * passes. */
static void measure_places(struct unc_platform *p, const struct unc_metric *m,
			   const char *const *place, size_t n, double *out)
{
	struct unc_value v[MAX_PLACES] = {{0}};
	struct unc_session *s;
	char text[128];

	for (size_t i = 0; i < n; i++)
		out[i] = NAN;
	if (m->passes != 1)
		return;
	s = session(p, 0);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%s%s", m->name, place[i]);
		add(s, text);
	}
	start(s);
	for (int i = 0; i < ROUND / 10; i++) { /* before any counter wraps */
		step(p, 10000 * ms);
		CU_ASSERT(unc_session_read(s, v, n, sizeof(*v)) == 0);
	}
	for (size_t i = 0; i < n; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
		out[i] = m->kind == UNC_METRIC_TOTAL ? v[i].value / ROUND : v[i].value;
	}
	unc_session_free(s);
}

static double measure(struct unc_platform *p, const struct unc_metric *m)
{
	double value;

	measure_places(p, m, (const char *const[]){""}, 1, &value);
	return value;
}

/* Whether a metric grows with traffic, where others are ratios of it or clocks. */
static bool is_traffic(const struct unc_metric *m)
{
	return m->kind == UNC_METRIC_TOTAL || strcmp(m->unit, "bytes_per_second") == 0 ||
	       strcmp(m->name, "link_utilization") == 0 ||
	       strcmp(m->name, "memory_utilization") == 0;
}

static bool is_portable(const struct unc_metric *m)
{
	return !strchr(m->name, '.');
}

static void relations(const void *cpu)
{
	struct unc_platform *live = open_cpu(cpu, ",load=live,seed=11");
	struct unc_platform *constant = open_cpu(cpu, ""), *half = open_cpu(cpu, ",load=0.5");
	const struct unc_metric *m;
	double share = 0;
	unsigned seen = 0;

	for (size_t i = 0; (m = unc_metric_get(live, i)) != NULL; i++) {
		if (!is_portable(m) || !m->available || m->passes != 1)
			continue;
		double before = measure(constant, m), now = measure(live, m);
		double factor = is_traffic(m) ? now / before : 1;

		printf("# %s: %g, %g\n", m->name, before, now);
		CHECK_NEAR(now, before * factor, 1e-4);
		CHECK_NEAR(measure(half, m), before * (is_traffic(m) ? 0.5 : 1), 1e-4);
		if (!is_traffic(m))
			continue;
		share = share > 0 ? share : factor;
		CHECK_NEAR(factor, share, 1e-4);
		seen++;
	}
	CU_ASSERT(seen >= 3 && share >= least && share <= most);
	check_quiet(live);
	unc_platform_close(live);
	unc_platform_close(constant);
	unc_platform_close(half);
}

/* Sockets differ, and add up; on the links there is no difference. */
static void sockets(const void *cpu)
{
	struct unc_platform *p = open_cpu(cpu, ",load=live,seed=12");
	const struct unc_metric *m;

	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++) {
		if (!is_portable(m) || !m->available || m->passes != 1 ||
		    m->kind != UNC_METRIC_TOTAL)
			continue;
		double of[MAX_PLACES];

		measure_places(p, m, (const char *const[]){":socket=0", ":socket=1", ""},
			       MAX_PLACES, of);
		double one = of[0], other = of[1], all = of[2];

		printf("# %s: %g, %g\n", m->name, one, other);
		if (strncmp(m->name, "link_", 5) == 0)
			CHECK_NEAR(one, other, 1e-6);
		else if (fabs(one - all) > 1e-6 * all) /* not where a bus is one for both */
			CU_ASSERT(fabs(one - other) > 0.01 * one);
		if (fabs(one - all) > 1e-6 * all)
			CHECK_NEAR(one + other, all, 1e-6);
	}
	unc_platform_close(p);
}

/* Whether the kernel counts or we do, each second has the same. */
static void by_the_kernel(void)
{
	struct unc_platform *own = machine("emerald-rapids,clock=step,load=live,seed=13");
	struct unc_platform *its =
		machine("emerald-rapids,clock=step,load=live,seed=13,kernel=on,rights=perf");
	struct unc_session *a = session(own, 0), *b = session(its, 0);
	int x = add(a, "imc.CAS_COUNT:RD"), y = add(b, "imc.CAS_COUNT:RD");
	uint64_t last = 0;

	start(a);
	start(b);
	for (unsigned i = 0; i < 2 * ROUND; i++) {
		step(own, 1000 * ms);
		step(its, 1000 * ms);
		uint64_t n = count_of(a, x), m = count_of(b, y);

		CU_ASSERT(n > last);
		CU_ASSERT(n <= m + 16 && m <= n + 16); /* 16 channels show whole counts */
		last = n;
	}
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(own);
	unc_platform_close(its);
}

/* What UNCORE_SIM says of the memory is the machine's word; else there is none. */
static void memory(void)
{
	struct unc_platform *p = machine("emerald-rapids,memory=4800"),
			    *none = machine("emerald-rapids");

	CHECK_NUMBER(p->machine->memory_speed, 4800);
	CHECK_NUMBER(none->machine->memory_speed, 0);
	unc_platform_close(p);
	unc_platform_close(none);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the kernel counts the same", by_the_kernel},
		{"memory=", memory},
		{NULL, NULL},
	};
	const char *cpu;

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++) {
		if (!kinds_cpu(i))
			continue;
		suite_add(relations, cpu, "%s: what metrics relate stays related", cpu);
		suite_add(sockets, cpu, "%s: sockets differ, and add up", cpu);
	}
	return suite_run("live", tests);
}
