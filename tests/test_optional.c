/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * optional(EVENT) in formulas: 0 where the machine has no unit of the type, an error where it has one
 * that cannot be counted, or where nobody tells. On tables of Emerald Rapids with metrics of the test's
 * own, and HBM that the part is not sold with: what both count for a second is in the lines below.
 */
#include <unistd.h>

#include "session_kit.h"

enum { CHANNELS = 8 * 2 }; /* of a controller kind, on two sockets */

static const char metrics_tbl[] =
	"metric imc.BYTES unit=bytes kind=total formula=\"imc.PRE_COUNT:RD * 64\" \"DDR\"\n"
	"metric imc.WITH_HBM unit=bytes kind=total "
	"formula=\"(imc.PRE_COUNT:RD + optional(mchbm.PRE_COUNT:RD)) * 64\" \"DDR and HBM\"\n"
	"metric imc.HBM unit=bytes kind=total "
	"formula=\"optional(mchbm.PRE_COUNT:RD) * 64\" \"HBM\"\n"
	"metric imc.NEEDS_HBM unit=bytes kind=total "
	"formula=\"mchbm.PRE_COUNT:RD * 64\" \"HBM, as a part that has it\"\n";
static const char hbm[] = "unit mchbm present=0-7 clock=1.6e9\n"
			  "rate mchbm PRE_COUNT:RD \"5000\"\n";
static const double ddr_bytes = 1000.0 * 64 * CHANNELS, hbm_bytes = 5000.0 * 64 * CHANNELS;

static char folder[512];

static void append(const char *name, const char *text)
{
	char path[640];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "a");
	CU_ASSERT_FATAL(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void run(const char *format, const char *a, const char *b)
{
	char command[2048];

	snprintf(command, sizeof(command), format, a, b);
	CU_ASSERT_FATAL(system(command) == 0);
}

static void make_tables(bool with)
{
	const char *dir = getenv("SRCDIR"), *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%.400s/uncore-optional.XXXXXX", tmp ? tmp : "/tmp");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	run("cp -r '%s/eventtables/emerald-rapids' '%s/hbm'", dir ? dir : ".", folder);
	run("chmod -R u+w '%s%s'", folder, "");
	run("sed -i '/PRE_COUNT/d' '%s/hbm/%s'", folder, "workload.tbl");
	run(": >'%s/hbm/%s'", folder, "metrics.tbl");
	append("cpus.tbl", "cpu emerald-rapids \"HBM\" family=6 models=0xCF "
			   "discovery=table folder=hbm\n");
	append("hbm/metrics.tbl", metrics_tbl);
	append("hbm/workload.tbl", "rate imc PRE_COUNT:RD \"1000\"\n");
	if (with)
		append("hbm/workload.tbl", hbm);
}

static struct unc_platform *open_machine(bool with, const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim, .tables = folder};
	struct unc_platform *p = NULL;

	make_tables(with);
	if (unc_platform_open(&options, &p) < 0)
		printf("# %s: %s\n", sim, unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static void close_machine(struct unc_platform *p)
{
	unc_platform_close(p);
	run("rm -rf '%s%s'", folder, "");
}

static const struct unc_metric *metric_of(struct unc_platform *p, const char *name)
{
	const struct unc_metric *m;

	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++)
		if (strcmp(m->name, name) == 0)
			return m;
	CU_FAIL_FATAL("no such metric");
	return NULL;
}

/* What a metric gives in a second. */
static struct unc_value second(struct unc_platform *p, const char *name)
{
	struct unc_session *s = session(p, 0);
	int id = add(s, name);

	start(s);
	step(p, 1000 * ms);
	struct unc_value v = value_of(s, id);
	CU_ASSERT(unc_session_stop(s) == 0);
	unc_session_free(s);
	return v;
}

/* Events that a metric needs, with blanks between them. */
static void check_needs(struct unc_platform *p, const char *name, const char *want)
{
	const struct unc_metric *m;
	char got[256] = "";
	const char *need;

	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++)
		for (size_t k = 0; strcmp(m->name, name) == 0 && (need = unc_metric_need(p, i, k));
		     k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", k ? " " : "",
				 need);
	CHECK_TEXT(got, want);
}

/* It cannot be had, and the reason, also of a session, has this text. */
static void check_refused(struct unc_platform *p, const char *name, const char *why)
{
	const struct unc_metric *m = metric_of(p, name);
	struct unc_session *s = session(p, 0);
	int id;

	CU_ASSERT(!m->available);
	if (!strstr(m->reason, why))
		printf("# %s: %s\n", name, m->reason);
	CU_ASSERT(strstr(m->reason, why) != NULL);
	int rc = unc_session_add(s, name, &id);
	if (rc == 0)
		rc = unc_session_start(s);
	CU_ASSERT(rc < 0);
	if (!strstr(unc_session_error(s), why))
		printf("# %s: session: %s\n", name, unc_session_error(s));
	CU_ASSERT(strstr(unc_session_error(s), why) != NULL);
	unc_session_free(s);
}

static void no_units(void)
{
	struct unc_platform *p = open_machine(false, "emerald-rapids,clock=step");
	struct unc_value v = second(p, "imc.WITH_HBM");

	CHECK_TEXT(metric_of(p, "imc.WITH_HBM")->reason, "");
	CU_ASSERT(metric_of(p, "imc.WITH_HBM")->available);
	CHECK_NUMBER(metric_of(p, "imc.WITH_HBM")->passes, 1);
	check_needs(p, "imc.WITH_HBM", "imc.PRE_COUNT:RD");
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	CU_ASSERT(!(v.flags & UNC_VALUE_PARTIAL));
	CU_ASSERT_DOUBLE_EQUAL(v.value, ddr_bytes, 1e-3 * ddr_bytes);
	CU_ASSERT_DOUBLE_EQUAL(second(p, "imc.WITH_HBM:socket=1").value, ddr_bytes / 2,
			       1e-3 * ddr_bytes);
	v = second(p, "imc.HBM"); /* nothing is left to be counted */
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	CU_ASSERT(v.value == 0);
	check_refused(p, "imc.NEEDS_HBM", "mchbm");
	close_machine(p);
}

static void all_units(void)
{
	struct unc_platform *p = open_machine(true, "emerald-rapids,clock=step");

	check_needs(p, "imc.WITH_HBM", "imc.PRE_COUNT:RD mchbm.PRE_COUNT:RD");
	struct unc_value v = second(p, "imc.WITH_HBM");
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	CU_ASSERT(!(v.flags & UNC_VALUE_PARTIAL));
	CU_ASSERT_DOUBLE_EQUAL(v.value, ddr_bytes + hbm_bytes, 1e-3 * ddr_bytes);
	CU_ASSERT_DOUBLE_EQUAL(second(p, "imc.HBM").value, hbm_bytes, 1e-3 * hbm_bytes);
	close_machine(p);
}

/* There, but hidden by the firmware: never 0 in place of what they count. */
static void hidden_units(void)
{
	struct unc_platform *p =
		open_machine(true, "emerald-rapids,clock=step,hide=mchbm0,hide=mchbm1,"
				   "hide=mchbm2,hide=mchbm3,hide=mchbm4,"
				   "hide=mchbm5,hide=mchbm6,hide=mchbm7");

	check_refused(p, "imc.WITH_HBM", "mchbm");
	CU_ASSERT(metric_of(p, "imc.BYTES")->available);
	close_machine(p);
	/* A type that the discovery tables do not list is not there. */
	p = open_machine(true, "emerald-rapids,clock=step,hide=mchbm");
	CU_ASSERT_DOUBLE_EQUAL(second(p, "imc.WITH_HBM").value, ddr_bytes, 1e-3 * ddr_bytes);
	close_machine(p);
	p = open_machine(true, "emerald-rapids,clock=step,hide=mchbm3@1");
	CU_ASSERT(second(p, "imc.WITH_HBM").flags & UNC_VALUE_PARTIAL);
	close_machine(p);
}

/* Only discovery tables tell of HBM: without them nobody knows whether there is some. */
static void untold_units(void)
{
	static const char *const sims[] = {"emerald-rapids,clock=step,discovery=none",
					   "emerald-rapids,clock=step,discovery=garbage"};

	for (size_t i = 0; i < 2; i++) {
		struct unc_platform *p = open_machine(i == 1, sims[i]);

		check_refused(p, "imc.WITH_HBM",
			      "whether there is one only the discovery tables tell");
		CU_ASSERT(metric_of(p, "imc.BYTES")->available);
		close_machine(p);
	}
}

/* Without a machine nobody knows what it lacks. A formula of numbers needs all of them. */
static void no_machine(void)
{
	struct unc_count counts[] = {{"imc.PRE_COUNT:RD", 3}, {"mchbm.PRE_COUNT:RD", 4}};
	struct unc_options options = {
		.size = sizeof(options), .cpu = "emerald-rapids", .tables = folder, .sim = NULL};
	struct unc_platform *p = NULL;
	double value = -1;

	make_tables(false);
	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	check_needs(p, "imc.WITH_HBM", "imc.PRE_COUNT:RD mchbm.PRE_COUNT:RD");
	CHECK_NUMBER(unc_metric_eval(p, "imc.WITH_HBM", counts, 1, sizeof(*counts), &value),
		     UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "imc.WITH_HBM needs a count of mchbm.PRE_COUNT:RD");
	CHECK_NUMBER(unc_metric_eval(p, "imc.WITH_HBM", counts, 2, sizeof(*counts), &value), 0);
	CU_ASSERT(value == (3 + 4) * 64);
	close_machine(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a machine without the units", no_units},
		{"with them", all_units},
		{"with units that cannot be read", hidden_units},
		{"where nobody tells whether there are some", untold_units},
		{"numbers, without a machine", no_machine},
		{NULL, NULL},
	};

	return suite_run("optional", tests);
}
