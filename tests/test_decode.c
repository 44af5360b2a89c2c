/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding: what is encoded is found again. Every event of every CPU with every umask goes through
 * both directions: the name may come back as another one that programs the same, but it must
 * program the same.
 */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "suite.h"
#include "uncore.h"

struct tally {
	unsigned same, other, failed, skipped;
};

/* Encodes, decodes and encodes again. */
static void there_and_back(const struct unc_table *t, const char *text, struct tally *tally)
{
	struct unc_error err = {0};
	struct unc_spec spec, back;
	struct unc_code code, again;
	char name[UNC_SPEC_MAX] = "", canonical[UNC_SPEC_MAX] = "";

	if (unc_spec_parse(t, text, &spec, &err) < 0 ||
	    unc_spec_encode(t, &spec, 0, 2, &code, &err) < 0 || code.counter != UNC_NONE) {
		tally->skipped++; /* needs a field, or has a counter of its own */
		return;
	}
	unc_spec_format(t, &spec, canonical, sizeof(canonical));
	if (unc_code_decode(t, code.type, code.ctl, code.filter, code.n_filters, &back, &err) < 0 ||
	    unc_spec_encode(t, &back, 0, 2, &again, &err) < 0) {
		printf("# %s (0x%llx): %s\n", text, (unsigned long long)code.ctl, err.text);
		tally->failed++;
		return;
	}
	unc_spec_format(t, &back, name, sizeof(name));
	bool agree = code.ctl == again.ctl;
	for (unsigned i = 0; i < again.n_filters; i++)
		for (unsigned k = 0; k < code.n_filters; k++)
			if (again.filter[i].reg == code.filter[k].reg)
				agree &= !((again.filter[i].value ^ code.filter[k].value) &
					   again.filter[i].mask);
	if (!agree) {
		printf("# %s comes back as %s, which programs something else\n", text, name);
		tally->failed++;
	} else if (strcmp(name, canonical) == 0) {
		tally->same++;
	} else {
		tally->other++;
	}
}

static void every_name(const struct unc_table *t)
{
	struct tally tally = {0};
	char text[UNC_SPEC_MAX];

	for (size_t i = 0; i < t->n_event; i++) {
		const struct unc_tbl_event *e = &t->event[i];
		int n = snprintf(text, sizeof(text), "%s.%s",
				 unc_tbl_str(t, t->type[e->type].name), unc_tbl_str(t, e->name));

		if (e->umasks.n == 0)
			there_and_back(t, text, &tally);
		for (uint32_t k = 0; k < e->umasks.n; k++) {
			snprintf(text + n, sizeof(text) - (size_t)n, ":%s",
				 unc_tbl_str(t, t->umask[e->umasks.first + k].name));
			there_and_back(t, text, &tally);
		}
	}
	printf("# %s: %u names come back, %u as another name, %u are not programmed alone\n",
	       unc_tbl_str(t, t->name), tally.same, tally.other, tally.skipped);
	CHECK_NUMBER(tally.failed, 0);
	CU_ASSERT(tally.same > 100);
	CU_ASSERT(tally.other * 4 < tally.same); /* alike: aliases, the same event in two words */
}

static void every_cpu(void)
{
	size_t n;
	const struct unc_table *const *all = unc_tables(&n);

	CU_ASSERT(n >= 6);
	for (size_t i = 0; i < n; i++)
		every_name(all[i]);
}

/* Values of the documents' own examples and tables; the names follow from them. */
static void by_value(void)
{
	static const struct {
		const char *cpu, *type;
		struct unc_register_value value[2];
		size_t n;
		const char *name; /* NULL: an error, and its code */
		int code;
	} rows[] = {
		/* Intel 327043-001, CBo: event 0x35, umask 0x3, enable; opcode in bits 31:23 */
		{"sandybridge-ep", "cbo", {{"CTL", 0x400335}, {"BOX_FILTER", 0xc1000000}}, 2,
		 "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182", 0},
		{"sandybridge-ep", "cbo", {{"CTL2", 0x400335}}, 1, NULL, UNC_ERR_INVALID},
		{"sandybridge-ep", "imc", {{"CTL0", 0x400304}}, 1, "imc.CAS_COUNT:RD", 0},
		{"sandybridge-ep", "imc", {{"CTL0", 0x4003ff}}, 1, NULL, UNC_ERR_NOT_FOUND},
		/* threshold 31:24, edge 18 */
		{"sandybridge-ep", "ha", {{"CTL1", 0x01440301}}, 1,
		 "ha.REQUESTS:READS:edge:thresh=1", 0},
		/* Levinthal's guide, OFFCORE_RESPONSE: request 0x77, response 0x40 */
		{"nehalem-ep", "core", {{"CTL", 0x1b7}, {"OFFCORE_RSP_0", 0x4077}}, 2,
		 "core.OFFCORE_RESPONSE_0:DATA_IFETCH:LOCAL_DRAM", 0},
		/* Intel 308065-001: plm 3:0, pm 6, event 15:8, umask 19:16, ism 25:24 */
		{"montecito", "bus", {{"CTL", 0x020F8A4F}}, 1, "bus.BUS_MEMORY:ALL_ANY", 0},
		{"montecito", "core", {{"PMC4", 0x0200124F}}, 1, "core.CPU_OP_CYCLES:ALL", 0},
		{"montecito", "core", {{"PMC4", 0x0200124C}}, 1, "core.CPU_OP_CYCLES:ALL:plm=12", 0},
		{"montecito", "core", {{"PMD33", 0x1}}, 1, NULL, UNC_ERR_INVALID},
		{"montecito", "core", {{"NONE", 0x1}}, 1, NULL, UNC_ERR_NOT_FOUND},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options o = {.size = sizeof(o), .cpu = rows[i].cpu};
		struct unc_platform *p;
		char name[UNC_SPEC_MAX];

		CU_ASSERT_EQUAL_FATAL(unc_platform_open(&o, &p), 0);
		int rc = unc_event_decode(p, rows[i].type, rows[i].value, rows[i].n, name,
					  sizeof(name));
		if (rows[i].name) {
			if (rc < 0)
				printf("# %s: %s\n", rows[i].name, unc_platform_error(p));
			CHECK_NUMBER(rc, 0);
			CHECK_TEXT(name, rows[i].name);
		} else {
			CHECK_NUMBER(rc, rows[i].code);
			CHECK_TEXT(name, "");
			CU_ASSERT(strlen(unc_platform_error(p)) > 10);
		}
		unc_platform_close(p);
	}
}

struct seen {
	const char *field;
	uint64_t value;
	int n;
};

static int see(void *user, const struct unc_field *field, uint64_t value)
{
	struct seen *seen = user;

	seen->n++;
	if (strcmp(field->name, seen->field) == 0)
		seen->value = value;
	return 0;
}

/* Fields of captured registers, by the document's layout (308065-001, figures 3-16, 3-20, 3-26). */
static void captured(void)
{
	static const struct {
		const char *reg;
		uint64_t value;
		const char *field;
		uint64_t want;
	} rows[] = {
		{"PMD33", 0xA123, "dear_latency", 0x123},         /* 12:0 */
		{"PMD33", 0xA123, "dear_ov", 1},                  /* 13 */
		{"PMD33", 0xA123, "dear_stat", 2},                /* 15:14 */
		{"PMD36", 0xF00000000000001D, "dear_ip", 0xF000000000000010}, /* 63:4 */
		{"PMD36", 0x1D, "dear_bn", 1},                    /* 2 */
		{"PMD35", 0x1FFF, "iear_latency", 0xFFF},         /* 11:0 */
		{"PMD55", 0x123456789ABCDEF6, "etb_slot", 1},     /* 3:2; PMD48 to 63 are alike */
		{"PMD55", 0x123456789ABCDEF6, "etb_address", 0x123456789ABCDEF0},
		{"PMD38", 0x2B, "etb_ebi", 11},                   /* 3:0 */
		{"PMD38", 0x2B, "etb_full", 1},                   /* 5 */
	};
	struct unc_options o = {.size = sizeof(o), .cpu = "montecito"};
	struct unc_platform *p;

	CU_ASSERT_EQUAL_FATAL(unc_platform_open(&o, &p), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen seen = {.field = rows[i].field};

		CHECK_NUMBER(unc_register_decode(p, "core", rows[i].reg, rows[i].value, see, &seen),
			     0);
		CU_ASSERT(seen.n > 0);
		CHECK_NUMBER(seen.value, rows[i].want);
	}
	CHECK_NUMBER(unc_register_decode(p, "core", "PMD99", 0, NULL, NULL), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_register_decode(p, "none", "PMD33", 0, NULL, NULL), UNC_ERR_NOT_FOUND);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"every event of every CPU there and back", every_cpu},
		{"values of the documents", by_value},
		{"captured registers", captured},
		{NULL, NULL},
	};

	return suite_run("decode", tests);
}
