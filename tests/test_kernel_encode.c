/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes for the kernel's own driver, tests/kernel/CPU.cases of each CPU: names of PMUs, what an event
 * is to them, what is lost on the way. And every event of every CPU, asked whether it is on the list.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cases.h"
#include "encode/kernel.h"
#include "suite.h"

typedef unsigned long long ull;

enum { MAX_CPUS = 64, SPECS = 4096 };

/* One run over the rows of a CPU. */
struct run {
	const struct unc_table *t;
	char file[80];
	const struct cases_row *row;
	unsigned failed, rows[4]; /* by kind */
	uint8_t seen[256];        /* what there is of each type: bits 1 << kind */
	uint64_t named[256][3];   /* bits that sysfs names, by the rows `format` */
};

static void __attribute__((format(printf, 2, 3))) wrong(struct run *run, const char *format, ...)
{
	va_list args;

	printf("# %s:%u: %s: ", run->file, run->row->line, run->row->field[0]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	run->failed++;
}

/* ---- rows */

static bool encode(struct run *run, const char *text, struct unc_spec *spec, struct unc_code *code)
{
	struct unc_error err = {0};

	if (unc_spec_parse(run->t, text, spec, &err) < 0 ||
	    unc_spec_encode(run->t, spec, 0, 2, code, &err) < 0) {
		wrong(run, "%s", err.text);
		return false;
	}
	return true;
}

/* Whether the driver is left anything of this CPU. */
static bool any_code(const struct unc_table *t)
{
	for (size_t i = 0; i < t->n_kernel; i++)
		if (!t->kernel[i].unavailable)
			return true;
	return false;
}

/* pmu TYPE INDEX NUMBER ; NAME or - ; SOURCE */
static void check_pmu(struct run *run, const char *subject)
{
	char name[32], got[UNC_KERNEL_NAME] = "";
	unsigned index, number;

	if (sscanf(subject, "%31s %u %u", name, &index, &number) != 3 ||
	    unc_find_type(run->t, name) == UNC_NONE) {
		wrong(run, "malformed row");
		return;
	}
	unsigned type = unc_find_type(run->t, name);
	run->seen[type] |= 1;
	if (!unc_kernel_pmu(run->t, type, number, index, got, sizeof(got)))
		strcpy(got, "-");
	if (strcmp(got, run->row->field[1]) != 0)
		wrong(run, "is %s, want %s", got, run->row->field[1]);
}

/* code SPEC ; NUMBER of the PMU ; config ; config1 ; config2 ; SOURCE */
static void check_code(struct run *run, const char *subject)
{
	char *const *f = run->row->field;
	struct unc_kernel_code k = {0};
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code code;

	if (run->row->n != 6) {
		wrong(run, "malformed row");
		return;
	}
	if (!encode(run, subject, &spec, &code))
		return;
	run->seen[code.type] |= 2;
	if (unc_kernel_encode(run->t, &code, &k, &err) < 0)
		wrong(run, "refused: %s", err.text);
	else if (k.pmu != strtoul(f[1], NULL, 0) || k.config != strtoull(f[2], NULL, 16) ||
		 k.config1 != strtoull(f[3], NULL, 16) || k.config2 != strtoull(f[4], NULL, 16))
		wrong(run, "is PMU %u, 0x%llx 0x%llx 0x%llx, want %s, %s %s %s", k.pmu,
		      (ull)k.config, (ull)k.config1, (ull)k.config2, f[1], f[2], f[3], f[4]);
}

/* lost SPEC... ; SENTENCE behind the name of the event ; SOURCE */
static void check_lost(struct run *run, const char *subject)
{
	char texts[SPECS], pattern[512], *rest = NULL;
	struct unc_kernel_code k, before;

	snprintf(texts, sizeof(texts), "%s", subject);
	snprintf(pattern, sizeof(pattern), "...%s", run->row->field[1]);
	if (run->row->n != 3)
		wrong(run, "malformed row");
	memset(&before, 0x5a, sizeof(before));
	for (char *s = strtok_r(texts, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
		struct unc_error err = {0};
		struct unc_spec spec;
		struct unc_code code;

		if (!encode(run, s, &spec, &code))
			continue;
		run->seen[code.type] |= 4;
		k = before;
		int rc = unc_kernel_encode(run->t, &code, &k, &err);
		if (rc != UNC_ERR_UNAVAILABLE || !cases_match(err.text, pattern))
			wrong(run, "%s: %d, \"%s\"", s, rc, err.text);
		if (memcmp(&k, &before, sizeof(k)) != 0)
			wrong(run, "%s: the output was touched", s);
	}
}

/* format TYPE ; BITS of config ; of config1 ; of config2 ; SOURCE */
static void read_format(struct run *run, const char *subject)
{
	uint16_t type = unc_find_type(run->t, subject);

	if (type == UNC_NONE || run->row->n != 5) {
		wrong(run, "malformed row");
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		const char *list = run->row->field[1 + i];

		run->named[type][i] = 0;
		if (strcmp(list, "-") != 0 && !cases_mask(list, &run->named[type][i]))
			wrong(run, "'%s' is not a list of bits", list);
	}
	run->seen[type] |= 8;
}

static void each_row(void *user, const struct cases_row *row)
{
	static const struct {
		const char *word;
		void (*check)(struct run *, const char *subject);
	} kinds[] = {{"pmu ", check_pmu},
		     {"code ", check_code},
		     {"lost ", check_lost},
		     {"format ", read_format}};
	struct run *run = user;

	run->row = row;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].word);

		if (strncmp(row->field[0], kinds[i].word, n) == 0) {
			run->rows[i]++;
			kinds[i].check(run, row->field[0] + n);
			return;
		}
	}
	wrong(run, "no test runs this row");
}

/* Whether the kernel counts for units of a type, by its rows; every type that has one needs rows. */
static bool served(const struct unc_table *t, size_t type)
{
	return t->type[type].kernels.n && !t->kernel[t->type[type].kernels.first].unavailable;
}

static struct run run_of(const void *user)
{
	struct run run = {.t = user};

	snprintf(run.file, sizeof(run.file), "kernel/%s.cases", unc_tbl_str(run.t, run.t->name));
	CU_ASSERT_FATAL(run.t->n_type <= 256);
	CU_ASSERT_FATAL(cases_read(run.file, each_row, &run) > 0);
	return run;
}

static void golden_rows(const void *user)
{
	struct run run = run_of(user);

	printf("# %s: %u names, %u codes, %u lost\n", run.file, run.rows[0], run.rows[1],
	       run.rows[2]);
	CHECK_NUMBER(run.failed, 0);
	CU_ASSERT((run.rows[1] >= 5 || !any_code(run.t)) && run.rows[2] >= 3);
	for (size_t i = 0; i < run.t->n_type; i++) {
		unsigned want = served(run.t, i) ? 1 | 2 : run.t->type[i].kernels.n ? 4 : 0;

		if ((run.seen[i] & want) != want)
			printf("# %s: no row '%s' about %s\n", run.file,
			       want == 4 ? "lost" : "pmu' or 'code",
			       unc_type_name(run.t, (unsigned)i));
		CHECK_NUMBER(run.seen[i] & want, want);
	}
}

/* ---- every event */

struct tally {
	unsigned codes, on_list, not_alone;
};

static uint64_t some_value(const struct unc_table *t, const struct unc_tbl_field *f)
{
	if (f->values.n)
		return t->value[f->values.first + f->values.n - 1].value;
	return f->min ? f->min : (uint64_t)1 << f->shift;
}

/* An event with one umask (UNC_NONE: without), and the fields that it needs. */
static struct unc_spec spec_of(const struct unc_table *t, uint16_t event, uint16_t umask)
{
	struct unc_spec s = {
		.type = t->event[event].type, .event = event, .index = -1, .socket = -1};
	bool needed;
	uint16_t field;

	if (umask != UNC_NONE)
		unc_spec_add_umask(&s, umask);
	for (size_t i = 0; (field = unc_event_field(t, event, i, &needed)) != UNC_NONE; i++)
		if (unc_event_needs(t, event, umask, field) && s.n_fields < UNC_SPEC_FIELDS)
			s.field[s.n_fields++] = (struct unc_spec_field){
				.field = field, .value = some_value(t, &t->field[field])};
	return s;
}

/* What the driver is given is only what sysfs names, and what the tables say of the rest is kept. */
static void check_given(struct run *run, const struct unc_code *code,
			const struct unc_kernel_code *k)
{
	const struct unc_tbl_type *type = &run->t->type[code->type];
	const uint64_t *named = run->named[code->type],
		       given[] = {k->config, k->config1, k->config2};
	bool fixed = code->counter != UNC_NONE;
	char name[UNC_KERNEL_NAME];

	CU_ASSERT(unc_kernel_pmu(run->t, code->type, k->pmu, 0, name, sizeof(name)));
	CU_ASSERT(!unc_kernel_pmu(run->t, code->type, k->pmu, 0, name, strlen(name)));
	CU_ASSERT(unc_kernel_pmu(run->t, code->type, k->pmu, 0, name, strlen(name) + 2));
	CU_ASSERT(strncmp(name, "uncore", 6) == 0);
	CU_ASSERT((run->seen[code->type] & 8) || fixed);
	for (unsigned i = 0; i < 3 && !fixed; i++)
		CHECK_NUMBER(given[i] & ~named[i], 0);
	CHECK_NUMBER(fixed ? 0 : k->config, fixed ? 0 : code->ctl & ~type->enable);
	/* That code is the kernel's for counters of their own. */
	CU_ASSERT(fixed == ((k->config & 0xff) == 0xff));
}

static void try(struct run *run, uint16_t event, uint16_t umask, struct tally *tally)
{
	struct unc_spec spec = spec_of(run->t, event, umask);
	struct unc_kernel_code k;
	struct unc_error err = {0};
	struct unc_code code;

	if (unc_spec_encode(run->t, &spec, 0, 2, &code, &err) < 0) {
		tally[spec.type].not_alone++;
		return;
	}
	tally[spec.type].codes++;
	int rc = unc_kernel_encode(run->t, &code, &k, &err);
	tally[spec.type].on_list += rc == 0;
	if (rc == 0)
		check_given(run, &code, &k);
	else
		CU_ASSERT(rc == UNC_ERR_UNAVAILABLE && strlen(err.text) > 20);
	CU_ASSERT(rc < 0 || served(run->t, spec.type));
}

static void every_event(const void *user)
{
	struct run run = run_of(user);
	struct tally tally[256] = {{0}};

	for (uint16_t i = 0; i < run.t->n_event; i++) {
		const struct unc_range *umasks = &run.t->event[i].umasks;

		if (!umasks->n)
			try(&run, i, UNC_NONE, tally);
		for (uint32_t k = 0; k < umasks->n; k++)
			try(&run, i, (uint16_t)(umasks->first + k), tally);
	}
	for (size_t i = 0; i < run.t->n_type; i++) {
		printf("# %s %s: %u of %u on the list, %u do not stand alone\n",
		       unc_tbl_str(run.t, run.t->name), unc_type_name(run.t, (unsigned)i),
		       tally[i].on_list, tally[i].codes, tally[i].not_alone);
		CU_ASSERT(!served(run.t, i) || tally[i].on_list > 0);
	}
}

static void check_files(const void *user)
{
	(void)user;
	CHECK_NUMBER(cases_of_no_cpu("kernel", ".cases"), 0);
}

int main(void)
{
	const struct unc_table *t;

	for (size_t i = 0; i < MAX_CPUS && (t = cases_table(i)) != NULL; i++) {
		const char *cpu = unc_tbl_str(t, t->name);

		if (!t->n_kernel && !cases_has("kernel", cpu, ".cases"))
			continue;
		suite_add(golden_rows, t, "%s: what the kernel is given", cpu);
		suite_add(every_event, t, "%s: every event is on the list, or not", cpu);
	}
	suite_add(check_files, NULL, "no cases of CPUs that there are not");
	return suite_run("kernel_encode", NULL);
}
