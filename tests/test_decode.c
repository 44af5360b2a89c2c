/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding: what is encoded is found again. Every event of every CPU with every umask goes through
 * both directions: the name may come back as another one that programs the same, but it must
 * program the same.
 */
#include <stdio.h>
#include <string.h>

#include "built.h"
#include "encode/decode.h"
#include "suite.h"
#include "uncore.h"

struct tally {
	unsigned same, other, failed, skipped;
};

enum { MAX_REGS = 96 }; /* of a type (reader/table_type.c) */

/* The filter registers of a unit as an event leaves them: what it does not set is at rest. */
static size_t registers(const struct unc_table *t, const struct unc_code *code,
			struct unc_code_filter out[MAX_REGS])
{
	const struct unc_range *regs = &t->type[code->type].regs;
	size_t n = 0;

	for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
		const struct unc_tbl_reg *reg = &t->reg[i];

		if (reg->role != UNC_ROLE_OTHER)
			continue;
		out[n] = (struct unc_code_filter){.reg = (uint16_t)i, .value = reg->base};
		for (unsigned k = 0; k < code->n_filters; k++)
			if (code->filter[k].reg == i)
				out[n].value =
					code->filter[k].value | (reg->base & ~code->filter[k].mask);
		n++;
	}
	return n;
}

/* Encodes, decodes and encodes again. */
static void there_and_back(const struct unc_table *t, const char *text, struct tally *tally)
{
	struct unc_error err = {0};
	struct unc_spec spec, back;
	struct unc_code code, again;
	struct unc_code_filter reg[MAX_REGS];
	char name[UNC_SPEC_MAX] = "", canonical[UNC_SPEC_MAX] = "";

	if (unc_spec_parse(t, text, &spec, &err) < 0 ||
	    unc_spec_encode(t, &spec, 0, 2, &code, &err) < 0 || code.counter != UNC_NONE) {
		tally->skipped++; /* needs a field, or has a counter of its own */
		return;
	}
	unc_spec_format(t, &spec, canonical, sizeof(canonical));
	size_t n = registers(t, &code, reg);
	if (unc_code_decode(t, code.type, code.ctl, reg, n, &back, &err) < 0 ||
	    unc_spec_encode(t, &back, 0, 2, &again, &err) < 0) {
		printf("# %s (0x%llx): %s\n", text, (unsigned long long)code.ctl, err.text);
		tally->failed++;
		return;
	}
	unc_spec_format(t, &back, name, sizeof(name));
	bool agree = code.ctl == again.ctl;
	for (unsigned i = 0; i < again.n_filters; i++)
		for (size_t k = 0; k < n; k++)
			if (again.filter[i].reg == reg[k].reg)
				agree &= !((again.filter[i].value ^ reg[k].value) &
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
		int n = snprintf(text, sizeof(text), "%s.%s", unc_tbl_str(t, t->type[e->type].name),
				 unc_tbl_str(t, e->name));

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
	CU_ASSERT(tally.same >= t->n_event);
	CU_ASSERT(tally.other * 4 < tally.same); /* alike: aliases, the same event in two words */
}

/* An event with each field that it takes, at the least value that says something. */
static void every_field(const struct unc_table *t, struct unc_spec *spec, struct tally *tally)
{
	char text[UNC_SPEC_MAX];
	uint16_t field;
	bool needed;

	spec->n_fields = 1;
	for (size_t i = 0; (field = unc_event_field(t, spec->event, i, &needed)) != UNC_NONE; i++) {
		const struct unc_tbl_field *f = &t->field[field];
		uint64_t least = (uint64_t)1 << f->shift;

		spec->field[0] = (struct unc_spec_field){.field = field,
							 .value = least < f->min ? f->min : least};
		unc_spec_format(t, spec, text, sizeof(text));
		there_and_back(t, text, tally);
	}
}

/* With the first umasks of each event: it takes long. */
static void every_event(const struct unc_table *t)
{
	struct tally tally = {0};

	for (size_t i = 0; i < t->n_event; i++) {
		const struct unc_tbl_event *e = &t->event[i];
		struct unc_spec spec = {
			.type = e->type, .event = (uint16_t)i, .index = -1, .socket = -1};

		for (uint32_t u = 0; u < (e->umasks.n ? e->umasks.n : 1) && u < 4; u++) {
			spec.n_umasks = e->umasks.n ? 1 : 0;
			spec.umask[0] = (uint16_t)(e->umasks.first + u);
			every_field(t, &spec, &tally);
		}
	}
	printf("# %s, a field each: %u come back, %u as another name, %u are not programmed so\n",
	       unc_tbl_str(t, t->name), tally.same, tally.other, tally.skipped);
	CHECK_NUMBER(tally.failed, 0);
	CU_ASSERT(tally.same > 0);
}

static void every_cpu(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	CU_ASSERT(n >= 6);
	for (size_t i = 0; i < n; i++) {
		every_name(all[i]);
		every_event(all[i]);
	}
}

/* ---- what is given is programmed, or refused */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

/* Whether one field of the table is the mask of another. */
static bool masks(const struct unc_table *t, uint16_t field)
{
	for (size_t i = 0; i < t->n_field; i++)
		if (t->field[i].mask == field)
			return true;
	return false;
}

/* A field that was given holds its value. Of a mask more bits may be set; where a mask says what is
 * compared, bits that are not compared may be anything, and bits that are 0 may be another field's. */
static bool holds(const struct unc_table *t, const struct unc_code *code,
		  const struct unc_spec_field *given)
{
	const struct unc_tbl_field *f = &t->field[given->field];
	bool known;
	uint64_t got = unc_field_value(f, code->ctl, code->filter, code->n_filters, &known);

	if (masks(t, given->field))
		return known && !(given->value & ~got);
	if (f->mask != UNC_NONE && f->with.n == 0)
		return known;
	return known && got == given->value;
}

/* A pair of fields of an event, with random values. */
static void try_pair(const struct unc_table *t, struct unc_spec *spec, uint64_t *random,
		     struct tally *tally)
{
	struct unc_error err = {0};
	struct unc_code code;

	for (unsigned i = 0; i < spec->n_fields; i++) {
		const struct unc_tbl_field *f = &t->field[spec->field[i].field];
		uint64_t all = ~(uint64_t)0 >> (64 - f->width[0] - f->width[1] - f->shift);

		spec->field[i].value = next_random(random) & all & ~((1u << f->shift) - 1);
		if (spec->field[i].value < f->min)
			spec->field[i].value = f->min;
	}
	if (unc_spec_encode(t, spec, 0, 2, &code, &err) < 0) {
		CU_ASSERT(strlen(err.text) > 10);
		tally->skipped++;
		return;
	}
	for (unsigned i = 0; i < spec->n_fields; i++) {
		if (holds(t, &code, &spec->field[i])) {
			tally->same++;
			continue;
		}
		char name[UNC_SPEC_MAX] = "";

		unc_spec_format(t, spec, name, sizeof(name));
		printf("# %s: %s is not what was given\n", name,
		       unc_tbl_str(t, t->field[spec->field[i].field].name));
		tally->failed++;
	}
}

static void every_pair(const struct unc_table *t, size_t event, uint64_t *random,
		       struct tally *tally)
{
	const struct unc_tbl_event *e = &t->event[event];
	struct unc_spec spec = {
		.type = e->type, .event = (uint16_t)event, .index = -1, .socket = -1};
	uint16_t field[64], one;
	size_t n = 0;
	bool needed;

	while (n < 64 && (one = unc_event_field(t, (unsigned)event, n, &needed)) != UNC_NONE)
		field[n++] = one;
	for (uint32_t u = 0; u < (e->umasks.n ? e->umasks.n : 1) && u < 4; u++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = a; b < n; b++) {
				spec.n_umasks = e->umasks.n ? 1 : 0;
				spec.umask[0] = (uint16_t)(e->umasks.first + u);
				spec.field[0] = (struct unc_spec_field){.field = field[a]};
				spec.field[1] = (struct unc_spec_field){.field = field[b]};
				spec.n_fields = a == b ? 1 : 2;
				try_pair(t, &spec, random, tally);
			}
}

static void given_is_programmed(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++) {
		struct tally tally = {0};
		uint64_t random = 4711;

		for (size_t event = 0; event < all[i]->n_event; event++)
			every_pair(all[i], event, &random, &tally);
		printf("# %s: %u fields hold what was given, %u pairs are refused\n",
		       unc_tbl_str(all[i], all[i]->name), tally.same, tally.skipped);
		CHECK_NUMBER(tally.failed, 0);
		CU_ASSERT(tally.same >= all[i]->n_event);
	}
}

/* Values of the documents' own examples and tables; the names follow from them. */
static void by_value(void)
{
	static const struct {
		const char *cpu, *type;
		struct unc_register_value value[5];
		size_t n;
		const char *name; /* NULL: an error, and its code */
		int code;
	} rows[] = {
		/* Intel 327043-001, CBo: event 0x35, umask 0x3, enable; opcode in bits 31:23 */
		{"sandybridge-ep",
		 "cbo",
		 {{"CTL", 0x400335}, {"BOX_FILTER", 0xc1000000}},
		 2,
		 "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182",
		 0},
		{"sandybridge-ep", "cbo", {{"CTL2", 0x400335}}, 1, NULL, UNC_ERR_INVALID},
		{"sandybridge-ep", "imc", {{"CTL0", 0x400304}}, 1, "imc.CAS_COUNT:RD", 0},
		{"sandybridge-ep", "imc", {{"CTL0", 0x4003ff}}, 1, NULL, UNC_ERR_NOT_FOUND},
		/* threshold 31:24, edge 18 */
		{"sandybridge-ep",
		 "ha",
		 {{"CTL1", 0x01440301}},
		 1,
		 "ha.REQUESTS:READS:edge:thresh=1",
		 0},
		/* perfmon IVT V24: RNID 3:0 in MATCH1, bit 4 in MATCH0[31]; all five bits compared */
		{"ivybridge-ep",
		 "qpi",
		 {{"CTL0", 0x600038},
		  {"PKT_MATCH0", 0},
		  {"PKT_MATCH1", 0x1},
		  {"PKT_MASK0", 0x80000000},
		  {"PKT_MASK1", 0xF}},
		 5,
		 "qpi.CTO_COUNT:rnid=1",
		 0},
		/* Levinthal's guide, OFFCORE_RESPONSE: request 0x77, response 0x40 */
		{"nehalem-ep",
		 "core",
		 {{"CTL", 0x1b7}, {"OFFCORE_RSP_0", 0x4077}},
		 2,
		 "core.OFFCORE_RESPONSE_0:DATA_IFETCH:LOCAL_DRAM",
		 0},
		/* Intel 308065-001: plm 3:0, pm 6, event 15:8, umask 19:16, ism 25:24 */
		{"montecito", "bus", {{"CTL", 0x020F8A4F}}, 1, "bus.BUS_MEMORY:ALL_ANY", 0},
		{"montecito", "core", {{"PMC4", 0x0200124F}}, 1, "core.CPU_OP_CYCLES:ALL", 0},
		{"montecito",
		 "core",
		 {{"PMC4", 0x0200124C}},
		 1,
		 "core.CPU_OP_CYCLES:ALL:plm=12",
		 0},
		/* pm 6 is 0: a user monitor; also where the event has no other sign of it */
		{"montecito", "core", {{"PMC4", 0x0200120F}}, 1, "core.CPU_OP_CYCLES:ALL:pm=0", 0},
		/* any view of the pool; oi 5, by which an overflow freezes, says nothing of the event */
		{"montecito", "si", {{"CTL", 0x0200DB4F}}, 1, "l3.L3_REFERENCES", 0},
		{"montecito", "core", {{"CTL", 0x020F8A6F}}, 1, "bus.BUS_MEMORY:ALL_ANY", 0},
		{"montecito", "core", {{"CTL", 0x020F8A2F}}, 1, "bus.BUS_MEMORY:ALL_ANY:pm=0", 0},
		/* 308065-001, table 3-20: plm and pm of PMC40 are those of the counter */
		{"montecito",
		 "core",
		 {{"CTL", 0x0200C848}, {"PMC40", 0x2000048}},
		 2,
		 "core.DATA_EAR_EVENTS:CACHE_LAT4:plm=8",
		 0},
		/* SDM, UNCORE_PERFEVTSELx: OCC_CTR_RST (17) reads as 0; with it, as it was written */
		{"nehalem-ep", "unc", {{"CTL", 0x400102}}, 1, "unc.GQ_TRACKER_OCCUP:RT", 0},
		{"nehalem-ep", "unc", {{"CTL", 0x420102}}, 1, "unc.GQ_TRACKER_OCCUP:RT", 0},
		{"nehalem-ep", "unc", {{"CTL3", 0x420103}}, 1, "unc.GQ_ALLOC:RT:occ_rst", 0},
		/* ov_en (20, 329468-002), frz_ovf (20, 2.2 of the guide): set while sampling freezes */
		{"ivybridge-ep", "imc", {{"CTL0", 0x500304}}, 1, "imc.CAS_COUNT:RD", 0},
		{"emerald-rapids", "cha", {{"CTL0", 0x100001}}, 1, "cha.CLOCKTICKS", 0},
		/* rst (17, 327043-001 table 2-11) is write-only: what PCM writes */
		{"sandybridge-ep", "cbo", {{"CTL0", 0x420037}}, 1, NULL, UNC_ERR_NOT_FOUND},
		{"sandybridge-ep", "cbo", {{"CTL0", 0x420137}}, 1, "cbo.LLC_VICTIMS:M_STATE", 0},
		/* others may set it, though no count comes of it: guide table 2-64, largest 1 */
		{"sandybridge-ep", "imc", {{"CTL0", 0x2400304}}, 1, "imc.CAS_COUNT:RD:thresh=2", 0},
		/* one counter at a time */
		{"sandybridge-ep",
		 "imc",
		 {{"CTL0", 0x400304}, {"CTL1", 0x400c04}},
		 2,
		 NULL,
		 UNC_ERR_RANGE},
		{"sandybridge-ep",
		 "cbo",
		 {{"BOX_FILTER", 1}, {"BOX_FILTER", 2}},
		 2,
		 NULL,
		 UNC_ERR_RANGE},
		{"montecito", "core", {{"PMD33", 0x1}}, 1, NULL, UNC_ERR_INVALID},
		{"montecito", "core", {{"NONE", 0x1}}, 1, NULL, UNC_ERR_NOT_FOUND},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options o = {.size = sizeof(o), .cpu = rows[i].cpu};
		struct unc_platform *p;
		char name[UNC_SPEC_MAX];

		CU_ASSERT_EQUAL_FATAL(unc_platform_open(&o, &p), 0);
		int rc = unc_event_decode(p, rows[i].type, rows[i].value, rows[i].n,
					  sizeof(rows[i].value[0]), name, sizeof(name));
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
		{"PMD33", 0xA123, "dear_latency", 0x123},                     /* 12:0 */
		{"PMD33", 0xA123, "dear_ov", 1},                              /* 13 */
		{"PMD33", 0xA123, "dear_stat", 2},                            /* 15:14 */
		{"PMD36", 0xF00000000000001D, "dear_ip", 0xF000000000000010}, /* 63:4 */
		{"PMD36", 0x1D, "dear_bn", 1},                                /* 2 */
		{"PMD35", 0x1FFF, "iear_latency", 0xFFF},                     /* 11:0 */
		{"PMD55", 0x123456789ABCDEF6, "etb_slot", 1}, /* 3:2; PMD48 to 63 are alike */
		{"PMD55", 0x123456789ABCDEF6, "etb_address", 0x123456789ABCDEF0},
		{"PMD38", 0x2B, "etb_ebi", 11}, /* 3:0 */
		{"PMD38", 0x2B, "etb_full", 1}, /* 5 */
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
		{"what is given is programmed, or refused", given_is_programmed},
		{"values of the documents", by_value},
		{"captured registers", captured},
		{NULL, NULL},
	};

	return suite_run("decode", tests);
}
