/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CPU without workload.tbl: its simulated machine has all units, and the portable metrics come out as
 * load= of portable.tbl says for a socket.
 */
#include <dirent.h>

#include "cases.h"
#include "fake_root.h"
#include "reader/table_load.h"
#include "session_kit.h"

enum { MAX_TEXT = 16384 };

static struct fake_root tables; /* those of the source tree, without workload.tbl */

/* ---- tables of the source tree */

static const char *source(const char *name)
{
	static char path[2048];
	const char *dir = getenv("SRCDIR");

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	return path;
}

static void link_file(const char *from, const char *name)
{
	char *real = realpath(from, NULL);

	if (!real || symlink(real, fake_path(&tables, "/%s", name)) < 0)
		fake_die(from);
	free(real);
}

/* A folder, or cpus.tbl and its like. */
static void link_all(const char *folder)
{
	char from[1024], name[512];
	DIR *dir;

	snprintf(from, sizeof(from), "eventtables%s", folder);
	if (!(dir = opendir(source(from))))
		fake_die(from);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		const char *dot = strchr(entry->d_name, '.');

		snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
		snprintf(from, sizeof(from), "eventtables%s", name);
		if (!dot)
			link_all(name);
		else if (dot != entry->d_name && strcmp(dot, ".md") != 0 &&
			 strcmp(entry->d_name, "workload.tbl") != 0)
			link_file(source(from), name);
	}
	closedir(dir);
}

/* load= of a metric in portable.tbl; 0: it has none. */
static double load_of(const char *metric)
{
	FILE *f = fopen(source("eventtables/portable.tbl"), "r");
	char line[1024], name[64], *at;
	double load = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "portable %63s", name) == 1 && strcmp(name, metric) == 0 &&
		    (at = strstr(line, " load=")) != NULL)
			load = strtod(at + strlen(" load="), NULL);
	fclose(f);
	return load;
}

static struct unc_platform *open_derived(const char *cpu, const char *options)
{
	struct unc_options o = {.size = sizeof(o), .tables = tables.path};
	struct unc_platform *p = NULL;
	char sim[96];

	snprintf(sim, sizeof(sim), "%s,clock=step%s", cpu, options);
	o.sim = sim;
	if (unc_platform_open(&o, &p) < 0)
		printf("# %s: %s\n", sim, unc_open_error());
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	return p;
}

/* ---- metrics */

/* Of a second: a total, or the value of a gauge. */
static double measure(struct unc_platform *p, const char *name, int kind, const char *socket)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	char text[128];
	struct unc_value v = {0};

	snprintf(text, sizeof(text), "%s%s", name, socket);
	add_metric(s, text);
	start(s);
	for (int i = 0; i < unc_session_passes(s); i++) {
		if (i)
			CU_ASSERT(unc_session_rotate(s) == 0);
		step(p, 100 * ms);
		CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
	}
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	unc_session_free(s);
	/* With passes a total stands for the time of all of them. */
	return kind == UNC_METRIC_TOTAL ? v.value * v.share / v.seconds : v.value;
}

static double measure_named(struct unc_platform *p, const char *name, const char *socket)
{
	for (size_t i = 0; unc_metric_get(p, i); i++) {
		const struct unc_metric *m = unc_metric_get(p, i);

		if (strcmp(m->name, name) == 0)
			return measure(p, name, (int)m->kind, socket);
	}
	CU_FAIL("no such metric");
	return 0;
}

/* How many sockets are added up: the bus of Montecito is one for all. */
static double sockets_of(struct unc_platform *p, size_t metric)
{
	struct unc_encoding e = {.size = sizeof(e)};

	CU_ASSERT(unc_event_encode(p, unc_metric_need(p, metric, 0), &e) == 0);
	return e.aggregate == UNC_AGGREGATE_ONE ? 1 : 2;
}

static void metrics_of(const void *user)
{
	struct unc_platform *p = open_derived(user, "");
	const struct unc_workload *work = p->table->workload;
	const struct unc_metric *m;
	unsigned loads = 0;

	CHECK_TEXT(unc_tbl_str(p->table, work->missed), "");
	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++) {
		double load = strchr(m->name, '.') || !m->available ? 0 : load_of(m->name);

		if (load == 0)
			continue;
		printf("# %s: %g\n", m->name, load);
		CHECK_NEAR(measure(p, m->name, (int)m->kind, ":socket=0"), load, 1e-3);
		CHECK_NEAR(measure(p, m->name, (int)m->kind, ":socket=1"), load, 1e-3);
		if (m->kind == UNC_METRIC_TOTAL)
			CHECK_NEAR(measure(p, m->name, (int)m->kind, ""), sockets_of(p, i) * load,
				   1e-3);
		loads++;
	}
	CU_ASSERT(loads >= 5); /* Montecito, which has the fewest: memory, latency, LLC, clock */
	CHECK_NEAR(measure_named(p, "memory_bandwidth", ":socket=0"),
		   load_of("memory_read_bytes") + load_of("memory_write_bytes"), 1e-3);
	CHECK_NEAR(measure_named(p, "llc_miss_ratio", ":socket=0"),
		   load_of("llc_misses") / load_of("llc_lookups"), 1e-3);
	check_quiet(p);
	unc_platform_close(p);
}

/* Each place of the tables is a unit that discovery finds. */
static void units_of(const void *user)
{
	struct unc_platform *p = open_derived(user, "");
	const struct unc_table *t = p->table;
	const struct unc_tbl_machine *machine = &t->workload->machine;

	CHECK_NUMBER(machine->model, t->cpuid.models[0]);
	for (unsigned i = 0; i < t->n_type; i++) {
		unsigned places = unc_type_instances(t, i), found = 0;

		for (size_t k = 0; k < p->instances.n; k++)
			found += p->instances.unit[k].type == i && p->instances.unit[k].available;
		if (t->type[i].cpus && places > (unsigned)machine->cores * machine->threads)
			places = (unsigned)machine->cores * machine->threads;
		if (t->type[i].pool || !places)
			continue;
		printf("# %s: %u units\n", unc_type_name(t, i), found);
		CHECK_NUMBER(found, 2 * places);
	}
	unc_platform_close(p);
}

/* ---- rates worked out by hand, on the made-up CPU: two boxes in a socket */

static const char portable[] = "portable twice unit=bytes kind=total load=6e6 \"D\"\n"
			       "portable all unit=count kind=total load=3e6 \"D\"\n"
			       "portable gap unit=count kind=total load=1e6 \"D\"\n"
			       "portable share unit=ratio kind=gauge load=0.25 \"D\"\n"
			       "portable speed unit=hz kind=gauge load=3e9 \"D\"\n"
			       "portable most unit=ratio kind=gauge load=2 \"D\"\n"
			       "portable thick unit=count kind=total load=1e3 \"D\"\n"
			       "portable follows unit=bytes kind=total \"D\"\n"
			       "portable none unit=bytes kind=total load=7 \"D\"\n";
static const char metrics[] = "metric twice formula=\"(box.MIXED:RD + box.MIXED:WR) * 2\"\n"
			      "metric all formula=\"box.MIXED:RD:WR\"\n"
			      "metric gap formula=\"box.PLAIN - box.CHOICE:B\"\n"
			      "metric share formula=\"box.CHOICE:A / (box.CHOICE:A + box.HERE)\"\n"
			      "metric speed formula=\"mean(box.CLOCKTICKS) / TIME\"\n"
			      "metric most formula=\"box.HERE / (box.HERE + box.MIXED:WHOLE)\"\n"
			      "metric thick formula=\"box.PLAIN:thresh=2\"\n"
			      "metric follows formula=\"all + gap\"\n"
			      "metric none formula=\"nothing\" unavailable=\"a reason\"\n";

static void give(struct unc_table_reader *r, const char *name)
{
	char path[128], text[MAX_TEXT];
	struct unc_error err = {0};

	snprintf(path, sizeof(path), "tests/tables_bad/good/%s", name);
	FILE *f = fopen(source(path), "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	size_t n = fread(text, 1, sizeof(text), f);
	fclose(f);
	CU_ASSERT(unc_table_reader_file(r, name, text, n, &err) == 0);
}

static struct unc_table_reader *made_up(const struct unc_table **table)
{
	struct unc_table_reader *r;
	struct unc_error err = {0};

	CU_ASSERT_FATAL(unc_table_reader_new("testcpu", &r, &err) == 0);
	give(r, "cpus.tbl");
	give(r, "testcpu/units.tbl");
	give(r, "testcpu/box.events");
	CU_ASSERT(unc_table_reader_file(r, "portable.tbl", portable, strlen(portable), &err) == 0);
	CU_ASSERT(unc_table_reader_file(r, "metrics.tbl", metrics, strlen(metrics), &err) == 0);
	int rc = unc_table_reader_finish(r, table, &err);
	if (rc < 0)
		printf("# %s\n", err.text);
	CU_ASSERT_FATAL(rc == 0);
	return r;
}

/* Per second and unit, by the row of the event; -1: it has none. */
static double rate_of(const struct unc_table *t, const char *text)
{
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code code;

	CU_ASSERT_FATAL(unc_spec_parse(t, text, &spec, &err) == 0);
	CU_ASSERT_FATAL(unc_spec_encode(t, &spec, 0, 2, &code, &err) == 0);
	for (size_t i = 0; i < t->workload->n_rate; i++) {
		const struct unc_tbl_rate *row = &t->workload->rate[i];

		if (row->counter == code.counter && row->ctl == (code.ctl & row->ctl_mask))
			return row->per_second;
	}
	return -1;
}

static void by_hand(void)
{
	const struct unc_table *t;
	struct unc_table_reader *r = made_up(&t);
	const struct unc_workload *work = t->workload;

	/* 6e6 / 2 over two events and two boxes; both umasks count what each of them does */
	CHECK_NEAR(rate_of(t, "box.MIXED:RD"), 0.75e6, 1e-6);
	CHECK_NEAR(rate_of(t, "box.MIXED:WR"), 0.75e6, 1e-6);
	CHECK_NEAR(rate_of(t, "box.MIXED:RD:WR"), 1.5e6, 1e-6);
	CHECK_NEAR(rate_of(t, "box.PLAIN") - rate_of(t, "box.CHOICE:B"), 0.5e6, 1e-6);
	CHECK_NEAR(3 * rate_of(t, "box.CHOICE:A"), rate_of(t, "box.HERE"), 1e-6);
	CHECK_NEAR(rate_of(t, "box.CLOCKTICKS"), 3e9, 1e-6);
	CHECK_NUMBER(work->n_sim_unit, 1);
	CHECK_NEAR(work->sim_unit[0].clock_hz, 3e9, 1e-6);
	/* A share of 2 is none, and a threshold has no rate of its own. */
	CHECK_TEXT(unc_tbl_str(t, work->missed), "most, thick");
	CU_ASSERT(rate_of(t, "box.MIXED:WHOLE") == -1);
	CHECK_TEXT(unc_tbl_str(t, work->machine.title), "Test CPU (simulated)");
	unc_table_reader_free(r);
}

/* ---- events of which there are all unions of parts, each umask beside the others: as many ways lead
 * from the largest to the smallest as orders of the 8 bits, for each of them */

static size_t put_unions(char *text, size_t size, size_t first, size_t last)
{
	size_t n = 0;

	for (size_t i = first; i < last; i++)
		n += (size_t)snprintf(text + n, size - n, "%sbox.UNION:U%zu", i > first ? "+" : "",
				      i);
	return n;
}

static void unions(void)
{
	static char events[MAX_TEXT], formulas[MAX_TEXT];
	struct unc_table_reader *r;
	struct unc_error err = {0};
	const struct unc_table *t;
	char loads[1024];
	size_t n = 0, m = 0, k = 0;

	n += (size_t)snprintf(events, sizeof(events), "event UNION code=2 counters=0-1 \"D\"\n");
	for (size_t i = 1; i < 256; i++)
		n += (size_t)snprintf(events + n, sizeof(events) - n, "umask U%zu %zu \"D\"\n", i,
				      i);
	for (size_t i = 0; i < 2; i++) {
		k += (size_t)snprintf(loads + k, sizeof(loads) - k,
				      "portable m%zu unit=count kind=total load=4e9 \"D\"\n", i);
		m += (size_t)snprintf(formulas + m, sizeof(formulas) - m, "metric m%zu formula=\"",
				      i);
		m += put_unions(formulas + m, sizeof(formulas) - m, i ? 240 : 1, i ? 256 : 33);
		m += (size_t)snprintf(formulas + m, sizeof(formulas) - m, "\"\n");
	}
	CU_ASSERT_FATAL(unc_table_reader_new("testcpu", &r, &err) == 0);
	give(r, "cpus.tbl");
	give(r, "testcpu/units.tbl");
	CU_ASSERT(unc_table_reader_file(r, "box.events", events, n, &err) == 0);
	CU_ASSERT(unc_table_reader_file(r, "portable.tbl", loads, k, &err) == 0);
	CU_ASSERT(unc_table_reader_file(r, "metrics.tbl", formulas, m, &err) == 0);
	CU_ASSERT(unc_table_reader_finish(r, &t, &err) == 0);
	CHECK_TEXT(err.text, "");
	unc_table_reader_free(r);
}

/* ---- as many units as the tables can have (Granite Rapids has up to 126 CHAs) */

static void copy_wide(const struct fake_root *root, const char *name)
{
	static const char few[] = "step=0x20 count=2";
	char path[128], text[MAX_TEXT], *at;

	snprintf(path, sizeof(path), "tests/tables_bad/good/%s", name);
	FILE *f = fopen(source(path), "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	text[fread(text, 1, sizeof(text) - 3, f)] = '\0';
	fclose(f);
	if ((at = strstr(text, few)) != NULL) {
		at += sizeof(few) - 2; /* the 2 */
		memmove(at + 3, at + 1, strlen(at + 1) + 1);
		memcpy(at, "128", 3);
	}
	fake_text(fake_path(root, "/%s", name), text);
}

static void wide(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = "testcpu,clock=step"};
	struct unc_platform *p = NULL;
	struct unc_value v[3];
	struct fake_root root;

	fake_new(&root);
	copy_wide(&root, "cpus.tbl");
	copy_wide(&root, "testcpu/units.tbl");
	copy_wide(&root, "testcpu/box.events");
	fake_text(fake_path(&root, "/portable.tbl"),
		  "portable reads unit=count kind=total load=256e6 \"D\"\n");
	fake_text(fake_path(&root, "/testcpu/metrics.tbl"),
		  "metric reads formula=\"box.MIXED:RD\"\n");
	o.tables = root.path;
	if (unc_platform_open(&o, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CHECK_NUMBER(p->instances.n, 256);
	struct unc_session *s = session(p, 0);
	add(s, "box.MIXED:RD");
	add(s, "box127.MIXED:RD:socket=1");
	add(s, "box63.MIXED:RD:socket=0");
	int id;
	CU_ASSERT(unc_session_add(s, "box128.MIXED:RD", &id) < 0);
	CHECK_TEXT(unc_session_error(s),
		   "box128.MIXED:RD: no such unit; a socket has at most box0 to box127");
	start(s);
	step(p, 1000 * ms);
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NEAR(v[0].value, 512000000, 1e-6);
	CHECK_NEAR(v[1].value, 2000000, 1e-6);
	CHECK_NEAR(v[2].value, 2000000, 1e-6);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"rates by hand", by_hand},
		{"unions of parts", unions},
		{"128 units of a type", wide},
		{NULL, NULL},
	};
	const char *cpu;

	fake_new(&tables);
	link_all("");
	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++) {
		suite_add(units_of, cpu, "units of %s", cpu);
		suite_add(metrics_of, cpu, "metrics of %s", cpu);
	}
	int status = suite_run("no workload", tests);
	fake_free(&tables);
	return status;
}
