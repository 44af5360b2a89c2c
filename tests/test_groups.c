/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: what each CPU has of them, and in how many passes it can be counted (groups.cases). */
#include "cases.h"
#include "session_kit.h"

/* ---- on every CPU */

struct wanted {
	const char *cpu, *group;
	int passes;
};

static bool in_list(const char *list, const char *word)
{
	char copy[256], *rest = NULL;
	bool found = false;

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *w = strtok_r(copy, ",", &rest); w; w = strtok_r(NULL, ",", &rest))
		found |= strcmp(w, word) == 0;
	return found;
}

static void find_row(void *user, const struct cases_row *row)
{
	struct wanted *wanted = user;

	CU_ASSERT_EQUAL_FATAL(row->n, 4);
	if (in_list(row->field[0], wanted->cpu) && strcmp(row->field[1], wanted->group) == 0)
		wanted->passes = atoi(row->field[2]);
}

static int passes_of(const char *cpu, const char *group)
{
	struct wanted wanted = {cpu, group, 1};

	CU_ASSERT_FATAL(cases_read("groups.cases", find_row, &wanted) > 0);
	return wanted.passes;
}

/* Whether a group is what it says: all items can be added, and need as many passes together. */
static void check_group(struct unc_platform *p, const struct unc_group *g, const char *cpu)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int id, wanted = passes_of(cpu, g->name);

	for (size_t i = 0; i < g->n_items; i++)
		if (unc_session_add(s, g->items[i], &id) < 0) {
			printf("# %s: %s\n", cpu, unc_session_error(s));
			CU_FAIL("item");
		}
	if (g->passes != (g->available ? wanted : 0))
		printf("# %s: %s needs %d passes\n", cpu, g->name, g->passes);
	CHECK_NUMBER(g->passes, g->available ? wanted : 0);
	CHECK_NUMBER(g->available, g->n_items > 0);
	CHECK_NUMBER(unc_session_passes(s), g->available ? wanted : 1);
	CU_ASSERT(g->available || g->reason[0]);
	CU_ASSERT(strlen(g->desc) > 10);
	unc_session_free(s);
}

static void every_cpu(void)
{
	const char *cpu;
	char sim[80];

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++) {
		const struct unc_group *g;
		struct unc_platform *p;
		size_t n = 0, of_name = 99;

		snprintf(sim, sizeof(sim), "%s,clock=step", cpu);
		p = machine(sim);
		for (; (g = unc_group_get(p, n)) != NULL; n++) {
			check_group(p, g, cpu);
			CHECK_NUMBER(unc_group_find(p, g->name, &of_name), 0);
			CHECK_NUMBER(of_name, n);
			CU_ASSERT_PTR_EQUAL(unc_group_get(p, n), g);
		}
		CHECK_NUMBER(n, 7);
		CHECK_NUMBER(unc_group_find(p, "overview", &n), 0);
		g = unc_group_get(p, n);
		CHECK_NUMBER(g->passes, 1);
		CHECK_TEXT(g->items[0], "memory_read_bytes");
		CHECK_TEXT(g->items[1], "memory_write_bytes");
		unc_platform_close(p);
	}
}

/* Three intervals of a group, each pass in its turn: no value is marked or lost. */
static void count_group(struct unc_platform *p, const struct unc_group *g, const char *sim)
{
	const unsigned marks = UNC_VALUE_UNPROVEN | UNC_VALUE_PARTIAL | UNC_VALUE_LOST;
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v[MAX_ITEMS];
	int id;

	for (size_t i = 0; i < g->n_items; i++)
		CHECK_NUMBER(unc_session_add(s, g->items[i], &id), 0);
	start(s);
	for (int turns = 3 * g->passes; turns > 0; turns--) {
		step(p, 100 * ms);
		CHECK_NUMBER(unc_session_read(s, v, g->n_items, sizeof(*v)), 0);
		for (size_t i = 0; i < g->n_items; i++) {
			if (v[i].flags & marks)
				printf("# %s, %s, %s: flags 0x%x: %s\n", sim, g->name, g->items[i],
				       v[i].flags, unc_session_reason(s, (int)i));
			CHECK_NUMBER(v[i].flags & marks, 0);
		}
		CHECK_NUMBER(turn_pass(s), 0);
	}
	unc_session_free(s);
}

/* With a load and without one, and where nothing drives a channel, a link or an I/O stack. */
static void nothing_in_doubt(void)
{
	static const char *const option[] = {
		"", ",load=0", ",idle=imc1@0", ",idle=qpi1@1", ",idle=upi1@1", ",idle=iio2@0"};
	const struct unc_group *g;
	const char *cpu;
	char sim[80];

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++)
		for (size_t k = 0; k < sizeof(option) / sizeof(option[0]); k++) {
			struct unc_options options = {.size = sizeof(options), .sim = sim};
			struct unc_platform *p = NULL;

			snprintf(sim, sizeof(sim), "%s,clock=wait%s", cpu, option[k]);
			/* Not each CPU has all of these units. */
			if (unc_platform_open(&options, &p) < 0) {
				CU_ASSERT(k >= 2);
				continue;
			}
			for (size_t n = 0; (g = unc_group_get(p, n)) != NULL; n++)
				if (g->available)
					count_group(p, g, sim);
			unc_platform_close(p);
		}
}

/* Rows that belong to no CPU or no group, or say nothing. */
static void check_row(void *user, const struct cases_row *row)
{
	struct unc_platform *p = user;
	char copy[256], *rest = NULL;
	size_t index;

	snprintf(copy, sizeof(copy), "%s", row->field[0]);
	for (char *w = strtok_r(copy, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
		bool known = false;

		for (size_t i = 0; cases_cpu(i); i++)
			known |= strcmp(cases_cpu(i), w) == 0;
		CU_ASSERT(known);
	}
	CHECK_NUMBER(unc_group_find(p, row->field[1], &index), 0);
	CU_ASSERT(strcmp(row->field[1], "OVERVIEW") != 0);
	CU_ASSERT(atoi(row->field[2]) > 1);
	CU_ASSERT(strlen(row->field[3]) > 10);
}

static void cases_are_used(void)
{
	struct unc_platform *p = machine(EMR);

	CU_ASSERT(cases_read("groups.cases", check_row, p) > 0);
	unc_platform_close(p);
}

/* ---- one machine */

static const struct unc_group *group(struct unc_platform *p, const char *name)
{
	size_t index = 0;

	CU_ASSERT_FATAL(unc_group_find(p, name, &index) == 0);
	return unc_group_get(p, index);
}

/* Montecito has no links, and its memory controller is in the chipset: metrics.tbl. */
static void what_is_lacking(void)
{
	struct unc_platform *p = machine("montecito,clock=step");
	const struct unc_group *g = group(p, "link");

	CHECK_TEXT(g->name, "LINK");
	CHECK_NUMBER(g->available, 0);
	CHECK_NUMBER(g->passes, 0);
	CHECK_NUMBER(g->n_items, 0);
	CHECK_TEXT(g->reason, "link_tx_bytes, link_rx_bytes, link_utilization: no links: the "
			      "sockets share a front-side bus; see bus.LINE_BYTES");
	g = group(p, "L3");
	CHECK_NUMBER(g->available, 1);
	CHECK_TEXT(g->reason, "");
	unc_platform_close(p);
}

/* A machine whose memory controllers are gone: hide= of the simulated machine. */
static void without_units(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc,clock=step");
	const struct unc_group *g = group(p, "MEM");

	CHECK_NUMBER(g->available, 1); /* latency is counted by the CBos */
	CHECK_NUMBER(g->n_items, 1);
	CHECK_TEXT(g->items[0], "memory_read_latency_ns");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(g->reason, "memory_read_bytes, memory_write_bytes, memory_bandwidth"));
	CU_ASSERT_PTR_NOT_NULL(strstr(g->reason, ": no imc unit can be read: "));
	unc_platform_close(p);
}

static void names(void)
{
	struct unc_platform *p = machine(EMR);
	size_t index = 7;

	CHECK_NUMBER(unc_group_find(p, "MEMORY", &index), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "no group MEMORY; nearest is MEM; there are OVERVIEW, "
					  "MEM, L3, LINK, PCIE, CXL, ENERGY");
	CHECK_NUMBER(unc_group_find(p, "qqqqqqqq", &index), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p),
		   "no group qqqqqqqq; there are OVERVIEW, MEM, L3, LINK, PCIE, CXL, ENERGY");
	CHECK_NUMBER(unc_group_find(p, "LNK", &index), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "no group LNK; nearest is LINK; there are OVERVIEW, "
					  "MEM, L3, LINK, PCIE, CXL, ENERGY");
	CHECK_NUMBER(index, 7);
	CU_ASSERT_PTR_NULL(unc_group_get(p, 7));
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"nothing is in doubt where nobody disturbs", nothing_in_doubt},
		{"each group on every CPU: its items and passes", every_cpu},
		{"the cases are of CPUs and groups that there are", cases_are_used},
		{"what a CPU lacks is told", what_is_lacking},
		{"what a machine lacks is told", without_units},
		{"groups are found by their names", names},
		{NULL, NULL},
	};

	return suite_run("groups", tests);
}
