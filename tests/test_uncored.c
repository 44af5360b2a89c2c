/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies of the broker on the tables of each CPU that the kernel has PMUs of: uncored.cases. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/broker.h"
#include "cases.h"
#include "suite.h"

static char path[64];
static struct policy policy;

static const struct unc_table *table_of(const char *cpu)
{
	const char *name;

	for (size_t i = 0; (name = cases_cpu(i)); i++)
		if (strcmp(name, cpu) == 0)
			return cases_table(i);
	return NULL;
}

static bool read_policy(const struct unc_table *t, const char *text)
{
	struct unc_error err = {0};
	FILE *f = *text ? fopen(path, "w") : NULL;

	if (f) {
		fputs("[allow]\n", f);
		for (const char *c = text; *c; c++)
			fputc(*c == '&' ? '\n' : *c, f);
		fputc('\n', f);
		fclose(f);
	}
	int rc = policy_read(f ? path : "/nonexistent", t, 2, &policy, &err);

	if (rc < 0)
		printf("# %s: %s\n", text, err.text);
	return rc == 0;
}

/* Whether the answer is the one that is wanted: "yes", or words of a sentence. */
static bool answers(const struct unc_table *t, const struct cases_row *row, const char *want)
{
	const struct unc_kernel_event all = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct unc_kernel_event event = {strtoull(row->field[2], NULL, 0),
					 strtoull(row->field[3], NULL, 0),
					 strtoull(row->field[4], NULL, 0)};
	struct unc_error err = {0};
	uint16_t type;
	int rc = policy_allows(&policy, t, 1000, row->field[1], &event, &all, &type, &err);
	bool right = strcmp(want, "yes") == 0 ? rc == 0 : rc < 0 && strstr(err.text, want);

	if (!right)
		printf("# %s:%u: %s %s %s: '%s', want '%s'\n", row->file, row->line, row->field[0],
		       row->field[1], row->field[2], rc < 0 ? err.text : "yes", want);
	return right;
}

static void check_row(void *user, const struct cases_row *row)
{
	const struct unc_table *t = table_of(row->field[0]);
	unsigned *failed = user;

	*failed += !(row->n == 8 && t && read_policy(t, "") && answers(t, row, row->field[5]) &&
		     read_policy(t, row->field[7]) && answers(t, row, row->field[6]));
}

static void test_cases(void)
{
	unsigned failed = 0;

	if (geteuid() != 0) {
		suite_skip("a policy has to belong to root");
		return;
	}
	CU_ASSERT(cases_read("uncored.cases", check_row, &failed) > 30);
	CU_ASSERT_EQUAL(failed, 0);
}

/* Whether a user may have any event of a PMU. */
static int serves(const struct unc_table *t, const char *pmu, struct unc_error *err)
{
	uint16_t type;

	return policy_allows(&policy, t, 1000, pmu, NULL, NULL, &type, err);
}

/* Each CPU of which the kernel has PMUs of memory controllers lets users have some of them. */
static void test_each_cpu(void)
{
	const char *name;

	for (size_t i = 0; (name = cases_cpu(i)); i++) {
		const struct unc_table *t = cases_table(i);
		uint16_t imc = unc_find_type(t, "imc");
		struct unc_error err = {0};
		bool has = imc != UNC_NONE && t->type[imc].kernels.n &&
			   !t->kernel[t->type[imc].kernels.first].unavailable;

		CU_ASSERT(read_policy(t, ""));
		if (has && serves(t, "uncore_imc_0", &err) < 0) {
			printf("# %s: %s\n", name, err.text);
			CU_FAIL("memory traffic is allowed by default");
		}
		CU_ASSERT(serves(t, "power", &err) == UNC_ERR_UNAVAILABLE);
		CU_ASSERT(serves(t, "cpu", &err) == UNC_ERR_UNAVAILABLE);
	}
}

static void test_bits(void)
{
	const struct unc_table *t = table_of("haswell-ep");
	const struct unc_kernel_event known = {0xFF84FFFF, 0, 0};
	struct unc_kernel_event event = {.config = 0x304};
	struct unc_error err = {0};
	uint16_t type;

	if (geteuid() != 0) {
		suite_skip("a policy has to belong to root");
		return;
	}
	CU_ASSERT_FATAL(t && read_policy(t, "units = imc"));
	CU_ASSERT_EQUAL(
		policy_allows(&policy, t, 1000, "uncore_imc_0", &event, &known, &type, &err), 0);
	for (unsigned bit = 0; bit < 64; bit++) {
		event.config = 0x304 ^ 1ull << bit;
		int rc = policy_allows(&policy, t, 1000, "uncore_imc_0", &event, &known, &type,
				       &err);

		CU_ASSERT_EQUAL(rc, known.config >> bit & 1 ? 0 : UNC_ERR_INVALID);
		unc_error_clear(&err);
	}
	event.config = 0x304;
	event.config1 = 1;
	CU_ASSERT_EQUAL(policy_allows(&policy, t, 0, "uncore_imc_0", &event, &known, &type, &err),
			UNC_ERR_INVALID);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"policies on the tables of each CPU", test_cases},
		{"memory traffic by default", test_each_cpu},
		{"bits that format does not name", test_bits},
		{0},
	};

	umask(022);
	snprintf(path, sizeof(path), "/tmp/test-uncored-%d", (int)getpid());
	int rc = suite_run("uncored", tests);

	unlink(path);
	return rc;
}
