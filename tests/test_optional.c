/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * optional(EVENT) in formulas: 0 where the machine has no unit of the type, an error where it has one
 * that cannot be counted, or where nobody tells. By memory_read_bytes of Sapphire Rapids, whose simulated
 * machine has HBM, and of Emerald Rapids, which is given the same formula: of HBM there nothing but discovery
 * tells, and the machine has none.
 */
#include "session_kit.h"

static const char bytes[] = "memory_read_bytes", ddr[] = "imc.CAS_COUNT:RD",
		  hbm[] = "mchbm.CAS_COUNT:RD";

static uint16_t row_of(const struct unc_table *t)
{
	uint16_t i = 0;

	while (i < t->n_metric && strcmp(unc_tbl_str(t, t->metric[i].name), bytes) != 0)
		i++;
	CU_ASSERT_FATAL(i < t->n_metric);
	return i;
}

bool unc_table_built(size_t index, struct unc_table *out)
{
	static struct unc_tbl_metric metrics[512];
	struct unc_table other;

	if (!REAL(unc_table_built)(index, out))
		return false;
	if (strcmp(unc_tbl_str(out, out->name), "emerald-rapids") != 0)
		return true;
	for (size_t i = 0; REAL(unc_table_built)(i, &other); i++)
		if (strcmp(unc_tbl_str(&other, other.name), "sapphire-rapids") == 0)
			break;
	CU_ASSERT_FATAL(out->n_metric <= 512);
	memcpy(metrics, out->metric, out->n_metric * sizeof(*metrics));
	metrics[row_of(out)].formula = other.metric[row_of(&other)].formula; /* one pool of texts */
	out->metric = metrics;
	return true;
}

static const struct unc_metric *metric_of(struct unc_platform *p, size_t *index)
{
	const struct unc_metric *m;

	for (*index = 0; (m = unc_metric_get(p, *index)) != NULL; (*index)++)
		if (strcmp(m->name, bytes) == 0)
			return m;
	CU_FAIL_FATAL("no such metric");
	return NULL;
}

/* Events that the metric needs, with blanks between them. */
static void check_needs(struct unc_platform *p, const char *want)
{
	char got[256] = "";
	const char *need;
	size_t index;

	metric_of(p, &index);
	for (size_t k = 0; (need = unc_metric_need(p, index, k)) != NULL; k++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", k ? " " : "", need);
	CHECK_TEXT(got, want);
}

/* What the metric gives in a second, and its events: 64 bytes of a channel of DDR5, 32 of one of HBM2e. */
static struct unc_value second(struct unc_platform *p, bool has_hbm)
{
	struct unc_session *s = session(p, 0);
	int all = add(s, bytes), of_ddr = add(s, ddr), of_hbm = has_hbm ? add(s, hbm) : -1;

	start(s);
	step(p, 1000 * ms);
	struct unc_value v = value_of(s, all);
	double want = 64 * value_of(s, of_ddr).value;
	if (has_hbm) {
		double more = 32 * value_of(s, of_hbm).value;

		CU_ASSERT(more > 1e9);
		want += more;
	}
	CU_ASSERT(want > 1e9);
	CU_ASSERT_DOUBLE_EQUAL(v.value, want, 1e-6 * want);
	CU_ASSERT(unc_session_stop(s) == 0);
	unc_session_free(s);
	return v;
}

/* It cannot be had, and the reason, also of a session, has this text. */
static void check_refused(struct unc_platform *p, const char *why)
{
	struct unc_session *s = session(p, 0);
	size_t index;
	const struct unc_metric *m = metric_of(p, &index);
	int id, rc;

	CU_ASSERT(!m->available);
	if (!strstr(m->reason, why))
		printf("# %s\n", m->reason);
	CU_ASSERT(strstr(m->reason, why) != NULL);
	rc = unc_session_add(s, bytes, &id);
	if (rc == 0)
		rc = unc_session_start(s);
	CU_ASSERT(rc < 0);
	if (!strstr(unc_session_error(s), why))
		printf("# session: %s\n", unc_session_error(s));
	CU_ASSERT(strstr(unc_session_error(s), why) != NULL);
	unc_session_free(s);
}

static void no_units(void)
{
	struct unc_platform *p = machine("emerald-rapids,clock=step");
	size_t index;

	CHECK_TEXT(metric_of(p, &index)->reason, "");
	CU_ASSERT(metric_of(p, &index)->available);
	CHECK_NUMBER(metric_of(p, &index)->passes, 1);
	check_needs(p, ddr);
	struct unc_value v = second(p, false);
	CU_ASSERT((v.flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL)) == UNC_VALUE_VALID);
	unc_platform_close(p);
}

static void all_units(void)
{
	struct unc_platform *p = machine("sapphire-rapids,clock=step");

	check_needs(p, "imc.CAS_COUNT:RD mchbm.CAS_COUNT:RD");
	struct unc_value v = second(p, true);
	CU_ASSERT((v.flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL)) == UNC_VALUE_VALID);
	unc_platform_close(p);
}

/* There, but hidden by the firmware: never 0 in place of what they count. */
static void hidden_units(void)
{
	struct unc_platform *p = machine("sapphire-rapids-no-mchbm,clock=step");

	check_refused(p, "mchbm");
	unc_platform_close(p);
	p = machine("sapphire-rapids-no-mchbm3@1,clock=step");
	CU_ASSERT(second(p, true).flags & UNC_VALUE_PARTIAL);
	unc_platform_close(p);
}

/* Only discovery tables tell of HBM: without them nobody knows whether there is some. */
static void untold_units(void)
{
	static const char *const sims[] = {"emerald-rapids-no-discovery,clock=step",
					   "emerald-rapids-garbage,clock=step"};

	for (size_t i = 0; i < 2; i++) {
		struct unc_platform *p = machine(sims[i]);

		check_refused(p, "only the discovery tables, which cannot be used, show");
		unc_platform_close(p);
	}
}

/* Without a machine nobody knows what it lacks. A formula of numbers needs all of them. */
static void no_machine(void)
{
	struct unc_count counts[] = {{ddr, 3}, {hbm, 4}};
	struct unc_options options = {
		.size = sizeof(options), .cpu = "emerald-rapids", .sim = NULL};
	struct unc_platform *p = NULL;
	double value = -1;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	check_needs(p, "imc.CAS_COUNT:RD mchbm.CAS_COUNT:RD");
	CHECK_NUMBER(unc_metric_eval(p, bytes, counts, 1, sizeof(*counts), &value),
		     UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "memory_read_bytes needs a count of mchbm.CAS_COUNT:RD");
	CHECK_NUMBER(unc_metric_eval(p, bytes, counts, 2, sizeof(*counts), &value), 0);
	CU_ASSERT(value == 3 * 64 + 4 * 32);
	unc_platform_close(p);
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
