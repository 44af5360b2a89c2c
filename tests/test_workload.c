/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUs whose workload.tbl scripts/make-workload has made: the simulated machine has all units, and the portable metrics
 * come out as load= of portable.tbl says for a socket.
 *
 * Rates and metrics are of the same formulas, so this shows nothing about these (test_factors): it shows that the solver,
 * encoding, sums over units and sockets, and passes agree.
 */
#include <glob.h>

#include "fake_root.h"
#include "made.h"
#include "session_kit.h"

enum { MAX_TEXT = 16384 };

static const char *source(const char *name)
{
	static char path[2048];
	const char *dir = getenv("SRCDIR");

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	return path;
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

static struct unc_platform *open_made(const char *cpu)
{
	struct unc_options o = {.size = sizeof(o)};
	struct unc_platform *p = NULL;
	char sim[96];

	snprintf(sim, sizeof(sim), "%s,clock=step", cpu);
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
	add(s, text);
	start(s);
	for (int i = 0; i < unc_session_passes(s); i++) {
		if (i)
			CU_ASSERT(turn_pass(s) == 0);
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
	struct unc_platform *p = open_made(user);
	const struct unc_metric *m;
	unsigned loads = 0;

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
	struct unc_platform *p = open_made(user);
	const struct unc_table *t = p->table;

	for (unsigned i = 0; i < t->n_type; i++) {
		unsigned places = unc_type_instances(t, i), found = 0;

		for (size_t k = 0; k < p->instances.n; k++)
			found += p->instances.unit[k].type == i && p->instances.unit[k].available;
		/* `present` may tell of fewer than there are places for: test_machines.c. */
		if (t->type[i].pool || !places || t->type[i].presents.n)
			continue;
		printf("# %s: %u units\n", unc_type_name(t, i), found);
		CHECK_NUMBER(found, 2 * places);
	}
	unc_platform_close(p);
}

/* ---- as many units as the tables can have (Granite Rapids has up to 126 CHAs) */

bool unc_table_built(size_t index, struct unc_table *out)
{
	if (index > 0)
		return REAL(unc_table_built)(index - 1, out);
	*out = *made_table("wide");
	return true;
}

bool unc_workload_built(size_t index, struct unc_workload *out)
{
	size_t n = 0;

	while (made_workload_built(n, out) && n < index)
		n++;
	return made_workload_built(index, out) || REAL(unc_workload_built)(index - n, out);
}

static void wide(void)
{
	const char *box = box_machine(1, 0x10, 128);
	char spec[80];
	struct unc_options o = {.size = sizeof(o), .sim = spec};
	struct unc_platform *p = NULL;
	struct unc_value v[3];

	snprintf(spec, sizeof(spec), "%s,clock=step", box);
	if (unc_platform_open(&o, &p) < 0)
		printf("# %s\n", unc_open_error());
	unlink(box);
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
}

/* The CPUs that a file was made of: its second line names them. */
static void add_made(const char *path, char *line, size_t size)
{
	static const char made[] = "# Made by scripts/make-workload ";
	FILE *f = fopen(path, "r");

	if (!f)
		fake_die(path);
	for (int i = 0; i < 2; i++)
		if (!fgets(line, (int)size, f))
			line[0] = '\0';
	fclose(f);
	if (strncmp(line, made, sizeof(made) - 1) != 0)
		return;
	for (const char *cpu = strtok(line + sizeof(made) - 1, " .\n"); cpu;
	     cpu = strtok(NULL, " .\n")) {
		suite_add(units_of, cpu, "units of %s", cpu);
		suite_add(metrics_of, cpu, "metrics of %s", cpu);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"128 units of a type", wide},
		{NULL, NULL},
	};
	static char line[16][256];
	glob_t files;

	if (glob(source("eventtables/*/workload.tbl"), 0, NULL, &files) != 0 || files.gl_pathc > 16)
		fake_die("eventtables/*/workload.tbl");
	for (size_t i = 0; i < files.gl_pathc; i++)
		add_made(files.gl_pathv[i], line[i], sizeof(line[i]));
	globfree(&files);
	return suite_run("workload made", tests);
}
