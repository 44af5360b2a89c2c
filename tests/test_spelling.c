/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as other tools spell them: tests/names.cases. */
#include "cases.h"
#include "columns_files.h"
#include "session_kit.h"

static struct unc_platform *platform_of(const char *cpu)
{
	static struct unc_platform *open[UNC_TABLE_CPUS];
	size_t i = 0;
	char sim[64];

	for (; !cpu && i < UNC_TABLE_CPUS; i++) {
		unc_platform_close(open[i]);
		open[i] = NULL;
	}
	if (!cpu)
		return NULL;
	while (strcmp(cases_cpu(i), cpu) != 0)
		i++;
	snprintf(sim, sizeof(sim), "%s,clock=step", cpu);
	open[i] = open[i] ? open[i] : machine(sim);
	return open[i];
}

/* The canonical name is what comes back, from the library and from a session. */
static void check_row(void *user, const struct cases_row *row)
{
	const char *theirs = row->field[1], *ours = row->field[2], *said;
	struct unc_platform *p = platform_of(row->field[0]);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_item item = {.size = sizeof(item)};
	struct unc_encoding e = {.size = sizeof(e)};
	int id, found = unc_item_find(p, theirs, &item);
	bool refused = *ours == '!', event;

	(void)user;
	said = refused ? unc_platform_error(p) : item.name;
	if (refused ? found == 0 || !strstr(said, ours + 2) : found || strcmp(said, ours) != 0) {
		printf("# %s:%u: %s: %s\n", row->file, row->line, theirs,
		       found ? unc_platform_error(p) : item.name);
		CU_FAIL("another name");
	}
	event = !refused && item.event;
	CHECK_NUMBER(unc_session_add(s, theirs, &id) == 0, !refused);
	if (!refused) {
		CHECK_NUMBER(unc_session_item(s, id, &item), 0);
		CHECK_TEXT(item.name, ours);
	}
	CHECK_NUMBER(unc_event_encode(p, theirs, &e) == 0, event);
	CHECK_TEXT(event ? e.name : "", event ? ours : "");
	unc_session_free(s);
}

static void test_cases(void)
{
	CU_ASSERT(cases_read("names.cases", check_row, NULL) > 45);
	platform_of(NULL);
}

/* What is ours stays ours: every event, umask and metric of a CPU by its own name, and none is taken for another's. */
static void test_ours(void)
{
	struct unc_platform *p = machine(SNB);
	const struct unc_metric *m;
	const struct unc_event *event;
	struct unc_item item = {.size = sizeof(item)};

	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++) {
		CHECK_NUMBER(unc_item_find(p, m->name, &item), 0);
		CU_ASSERT_PTR_EQUAL(item.metric, m);
	}
	for (size_t i = 0; (event = unc_event_get(p, i)) != NULL; i++) {
		CHECK_NUMBER(unc_item_find(p, event->spec, &item), 0);
		CU_ASSERT_PTR_EQUAL(item.event, event);
	}
	unc_platform_close(p);
}

static struct unc_platform *listing(const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .cpu = cpu};
	struct unc_platform *p = NULL;

	CHECK_NUMBER(unc_platform_open(&options, &p), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	return p;
}

/* The control word of what has a name names it. */
static unsigned check_raw(struct unc_platform *p, const char *name)
{
	struct unc_encoding e = {.size = sizeof(e)}, again = e;
	char raw[UNC_SPEC_MAX];

	if (unc_event_encode(p, name, &e) < 0 || e.counter || e.n_filters)
		return 0;
	snprintf(raw, sizeof(raw), "%s.RAW:config=%#llx", e.type, (unsigned long long)e.ctl);
	if (unc_event_encode(p, raw, &again) < 0 || again.ctl != e.ctl) {
		printf("# %s: %s: %s\n", name, raw, unc_platform_error(p));
		CU_FAIL("another control word");
	}
	return 1;
}

static void test_raw(void)
{
	const struct unc_event *event;
	const struct unc_umask *umask;
	unsigned n;

	for (size_t cpu = 0; cases_cpu(cpu); cpu++) {
		struct unc_platform *p = listing(cases_cpu(cpu));

		n = 0;
		for (size_t i = 0; (event = unc_event_get(p, i)) != NULL; i++) {
			n += check_raw(p, event->spec);
			for (size_t k = 0; (umask = unc_umask_get(p, i, k)) != NULL; k++) {
				char name[2 * UNC_SPEC_MAX];

				snprintf(name, sizeof(name), "%s:%s", event->spec, umask->name);
				n += check_raw(p, name);
			}
		}
		CU_ASSERT(n > 50);
		unc_platform_close(p);
	}
}

/* An alias means what events/ of the kernel that runs says: Linux, drivers/../events/intel/uncore_snbep.c. */
static void test_alias(void)
{
	struct unc_options options = {.size = sizeof(options)};
	struct unc_item item = {.size = sizeof(item)};
	struct unc_platform *p = NULL;
	struct fake_root root;

	CU_ASSERT_FATAL(columns_files(&root, "sandybridge-ep"));
	fake_text(fake_path(&root,
			    "/sys/bus/event_source/devices/uncore_imc_0/events/cas_count_read"),
		  "event=0x04,umask=0x03\n");
	options.sysroot = root.path;
	CHECK_NUMBER(unc_platform_open(&options, &p), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CHECK_NUMBER(unc_item_find(p, "uncore_imc/cas_count_read/", &item), 0);
	CHECK_TEXT(item.name, "imc.CAS_COUNT:RD");
	CHECK_NUMBER(unc_item_find(p, "uncore_imc_2/cas_count_read/:socket=0", &item), 0);
	CHECK_TEXT(item.name, "imc2.CAS_COUNT:RD:socket=0");
	CHECK_NUMBER(unc_item_find(p, "uncore_imc/cas_count_write/", &item), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p),
		   "uncore_imc/cas_count_write/, as perf spells it: the kernel's "
		   "imc has no alias cas_count_write");
	/* CPU 0 is of socket 0 (columns_files.c). */
	CHECK_NUMBER(unc_item_find(p, "snbep_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0", &item), 0);
	CHECK_TEXT(item.name, "imc0.CAS_COUNT:RD:socket=0");
	unc_platform_close(p);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"each row of names.cases", test_cases},
		{"what is ours", test_ours},
		{"raw events", test_raw},
		{"aliases of the kernel's", test_alias},
		{NULL, NULL},
	};

	return suite_run("spelling", tests);
}
