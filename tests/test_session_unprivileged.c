/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process sees and measures that may open events of the kernel and nothing else (CAP_PERFMON, or
 * kernel.perf_event_paranoid at 0): configuration space ends at 64 bytes, memory and registers are
 * closed. It must be what root gets through the same driver, unit by unit and number by number.
 */
#include "kernel_session_kit.h"
#include "tables/table.h"

/* "NAME,clock=step,kernel=on,MORE" of a CPU. Static storage. */
static const char *sim_of(const char *cpu, const char *more)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s,clock=step,kernel=on%s", cpu, more);
	return text;
}

static bool by_kernel(const struct unc_platform *p, size_t i)
{
	return p->kernel && p->kernel[i].pmus && p->instances.unit[i].available;
}

static const struct unc_instance *same_unit(const struct unc_platform *p,
					    const struct unc_instance *other, size_t *at)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		*at = i;
		if (u->type == other->type && u->index == other->index &&
		    u->socket == other->socket)
			return u;
	}
	return NULL;
}

/* Each unit that the kernel counts for one is counted by the same PMUs, on the same CPU, for the other. */
static unsigned compare_units(const struct unc_platform *a, const struct unc_platform *b)
{
	unsigned n = 0;
	size_t k;

	for (size_t i = 0; i < a->instances.n; i++) {
		const struct unc_instance *u = &a->instances.unit[i], *other;

		if (!by_kernel(a, i))
			continue;
		n++;
		other = same_unit(b, u, &k);
		if (!other || !by_kernel(b, k) || a->kernel[i].pmus != b->kernel[k].pmus ||
		    memcmp(a->kernel[i].place, b->kernel[k].place, sizeof(a->kernel[i].place))) {
			printf("# %s%u of socket %u: %s\n", unc_type_name(a->table, u->type),
			       u->index, u->socket, other ? other->reason : "not in the list");
			CU_FAIL("a unit differs");
		}
	}
	return n;
}

static const char *const servers[] = {"nehalem-ep",   "westmere-ep",    "sandybridge-ep",
				      "ivybridge-ep", "haswell-ep",     "broadwell-ep",
				      "skylake-sp",   "cascadelake-sp", "cooperlake-sp",
				      "icelake-sp",   "emerald-rapids"};
enum { SERVERS = sizeof(servers) / sizeof(*servers) };

static void test_units(void)
{
	for (size_t i = 0; i < SERVERS; i++) {
		struct unc_platform *root = by(sim_of(servers[i], ""), "kernel");
		struct unc_platform *user = by(sim_of(servers[i], ",rights=perf"), NULL);
		unsigned n = compare_units(root, user);

		CU_ASSERT(n > 0);
		CHECK_NUMBER(compare_units(user, root), n);
		unc_platform_close(user);
		unc_platform_close(root);
	}
}

/* 32 CHAs, 8 channels, 4 controllers with free-running counters, 8 stacks with three units, 14 MDF and
 * the PCU (workload.tbl) are in the driver's list; M2M and UPI prove themselves on the bus. */
static void test_told(void)
{
	struct unc_platform *p = by(sim_of("emerald-rapids", ",rights=perf"), NULL);
	const struct unc_instance *u = unit_of(p, "imc", 3, 1);
	unsigned told = 0;

	for (size_t i = 0; i < p->instances.n; i++)
		told += p->instances.unit[i].by_driver;
	CHECK_NUMBER(told, 2 * (32 + 8 + 4 + 3 * 8 + 14 + 1));
	CU_ASSERT(u->by_driver && !u->direct);
	CHECK_TEXT(u->location, "uncore_imc_3");
	CHECK_TEXT(u->reason, "that it exists is what the kernel's driver says");
	CU_ASSERT(!unit_of(p, "m2m", 3, 1)->by_driver);
	/* What neither the driver nor the bus tells is not passed over in silence. */
	CU_ASSERT(!unit_of(p, "cxlcm", 0, 0)->available);
	CHECK_TEXT(unit_of(p, "cxlcm", 0, 0)->reason,
		   "only the discovery tables, which cannot be used, show whether there is one");
	unc_platform_close(p);
}

/* ---- metrics */

struct measured {
	int rc;
	struct unc_value value;
};

static struct measured measure(struct unc_platform *p, const char *metric)
{
	struct unc_session *s = session(p, 0);
	struct measured m = {0};
	int id;

	m.rc = unc_session_add(s, metric, &id);
	if (m.rc == 0)
		m.rc = unc_session_start(s);
	if (m.rc == 0) {
		step(p, 10 * ms);
		m.value = value_of(s, id);
		CHECK_NUMBER(unc_session_stop(s), 0);
	}
	unc_session_free(s);
	return m;
}

static void compare_metrics(const char *cpu)
{
	struct unc_platform *root = by(sim_of(cpu, ""), "kernel");
	struct unc_platform *user = by(sim_of(cpu, ",rights=perf"), "kernel");
	const struct unc_metric *m;
	unsigned valid = 0;

	for (size_t i = 0; (m = unc_metric_get(root, i)); i++) {
		struct measured a = measure(root, m->name), b = measure(user, m->name);

		if (a.rc != b.rc || a.value.flags != b.value.flags ||
		    (a.value.flags & UNC_VALUE_VALID && a.value.value != b.value.value)) {
			printf("# %s: %d %g, %d %g\n", m->name, a.rc, a.value.value, b.rc,
			       b.value.value);
			CU_FAIL("a metric differs");
		}
		valid += (b.value.flags & UNC_VALUE_VALID) != 0;
	}
	CU_ASSERT(valid > 10);
	unc_platform_close(user);
	unc_platform_close(root);
}

static void test_metrics(void)
{
	for (size_t i = 0; i < SERVERS; i++)
		compare_metrics(servers[i]);
}

/* ---- sockets that differ */

static void check_sum(struct unc_platform *p, const char *event, bool partial)
{
	struct unc_session *s = session(p, 0);
	int id = add(s, event);

	start(s);
	step(p, ms);
	struct unc_value v = value_of(s, id);
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	CHECK_NUMBER((v.flags & UNC_VALUE_PARTIAL) != 0, partial);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
}

/* What socket 1 lacks, and what tells everybody that the two differ. Its PMUs are there all the same. */
static void test_differ(void)
{
	static const struct {
		const char *machine, *told;
		bool m2m; /* sums of M2M are whole: each proves itself */
	} rows[] = {
		{"emerald-rapids-no-cha31@1", "and its L3 has 79360 KiB, that of socket 0 81920;",
		 true},
		{"emerald-rapids-no-upi2@1", "PCI functions 8086:3241: it has 2, socket 0 3;",
		 true},
		{"emerald-rapids-no-m2m3@1", "PCI functions 8086:324a: it has 3, socket 0 4;",
		 false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct unc_platform *p = by(sim_of(rows[i].machine, ",rights=perf"), NULL);
		const struct unc_instance *u = unit_of(p, "cha", 31, 1);

		CU_ASSERT(!u->available && !u->by_driver && u->unknown);
		if (!strstr(u->reason, rows[i].told) ||
		    !strstr(u->reason, "CAP_SYS_ADMIN is needed for more")) {
			printf("# %s\n", u->reason);
			CU_FAIL("the reason");
		}
		CU_ASSERT(unit_of(p, "cha", 31, 0)->available);
		check_sum(p, "cha.CLOCKTICKS", true);
		check_sum(p, "imc.CAS_COUNT:RD", true);
		check_sum(p, "mc.DCLK", true);
		check_sum(p, "m2m.CLOCKTICKS", !rows[i].m2m);
		check_sum(p, "cha.CLOCKTICKS:socket=0", false);
		unc_platform_close(p);
	}
}

/* Stack 4 has no IIO and controller 1 no channels (hidden): the driver has PMUs of their free-running
 * counters nevertheless. Root knows of the controller by its address. */
static void test_no_unit(void)
{
	struct unc_platform *p = by(sim_of("emerald-rapids-no-imc2-imc3", ",rights=perf"), NULL);
	const struct unc_instance *mc = unit_of(p, "mc", 1, 1);
	struct unc_instance iio4 = *unit_of(p, "iio", 3, 0);
	size_t at;

	iio4.index = 4;
	CU_ASSERT(same_unit(p, &iio4, &at) == NULL);
	CU_ASSERT(!mc->available && mc->unknown);
	CHECK_TEXT(mc->reason, "whether it exists is not known: the kernel's driver has a PMU of "
			       "free-running counters, as it has for units that do not exist");
	check_sum(p, "mc.DCLK", true);
	check_sum(p, "imc.CAS_COUNT:RD", false);
	check_sum(p, "iio.CLOCKTICKS", false);
	unc_platform_close(p);
}

/* ---- where nobody is asked */

static unsigned told_by_driver(struct unc_platform *p, unsigned *available)
{
	unsigned n = 0;

	*available = 0;
	for (size_t i = 0; i < p->instances.n; i++) {
		n += p->instances.unit[i].by_driver;
		*available += p->instances.unit[i].available;
	}
	unc_platform_close(p);
	return n;
}

static void test_not_asked(void)
{
	unsigned available;

	/* No driver; another method; tables that are broken, not closed; tables that can be read. */
	CHECK_NUMBER(told_by_driver(by("emerald-rapids,clock=step,rights=perf", NULL), &available),
		     0);
	CHECK_NUMBER(available, 0);
	CHECK_NUMBER(told_by_driver(by(sim_of("emerald-rapids", ",rights=perf"), "simulated"),
				    &available),
		     0);
	CHECK_NUMBER(available, 0);
	CHECK_NUMBER(told_by_driver(by(sim_of("emerald-rapids-garbage", ""), NULL), &available), 0);
	CU_ASSERT(available > 0);
	CHECK_NUMBER(told_by_driver(by(sim_of("emerald-rapids", ""), NULL), &available), 0);
	CU_ASSERT(available > 0);
	/* No discovery device: nothing says that tables are there. */
	CHECK_NUMBER(told_by_driver(by(sim_of("emerald-rapids-no-discovery", ",rights=perf"), NULL),
				    &available),
		     0);
}

/* The driver is there, the right to open events is not: its units are listed, with that reason. */
static void test_no_right(void)
{
	struct unc_platform *p = by(sim_of("emerald-rapids", ",rights=none"), NULL);
	const struct unc_instance *u = unit_of(p, "cha", 33, 1);

	CU_ASSERT(!u->available && u->by_driver);
	CU_ASSERT(strncmp(u->reason, "kernel: perf_event_open: ", 25) == 0);
	unsigned available;
	CU_ASSERT(told_by_driver(p, &available) > 0);
	CHECK_NUMBER(available, 0);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the units that root has", test_units},
		{"which units the driver tells of", test_told},
		{"the metrics that root has", test_metrics},
		{"sockets that differ", test_differ},
		{"PMUs without a unit", test_no_unit},
		{"where the driver is not asked", test_not_asked},
		{"no right to open events", test_no_right},
		{NULL, NULL},
	};

	return suite_run("session_unprivileged", tests);
}
