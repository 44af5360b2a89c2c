/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a control may stand for, of all events of all tables: who programs one of them looks at each
 * filter that goes with it, and counts in its lane. And what is known of the others: Intel 327043-001
 * (tables 2-10, 2-12, 2-14, 2-79 to 2-81), SDM (GQ_SNOOP), Intel 817509-001 (tid_en 16).
 */
#include "built.h"
#include "encode/control.h"
#include "encode/event.h"
#include "made.h"
#include "suite.h"

/* Fields that the event or the umask must have get the least value that there is. */
static void give_needed(const struct unc_table *t, struct unc_spec *spec, uint16_t umask)
{
	bool by_event;
	uint16_t field;

	for (size_t i = 0; (field = unc_event_field(t, spec->event, i, &by_event)) != UNC_NONE;
	     i++) {
		uint64_t min = t->field[field].min ? t->field[field].min : 1;

		if (!by_event && !unc_event_needs(t, spec->event, umask, field))
			continue;
		spec->field[spec->n_fields++] = (struct unc_spec_field){
			.field = field, .value = min << t->field[field].shift};
	}
}

struct seen {
	unsigned codes, filters, lanes, blind;
};

static void check_code(const struct unc_table *t, const struct unc_code *code, struct seen *seen)
{
	const struct unc_tbl_type *type = &t->type[unc_type_pool(t, code->type)];
	uint64_t all = 0;

	seen->codes++;
	for (unsigned i = 0; i < code->n_filters; i++) {
		const struct unc_code_filter *f = &code->filter[i];
		uint64_t looks = unc_control_looks(t, code->type, code->ctl, f->reg);

		if (f->mask & ~looks)
			printf("# %s %s: 0x%llx of %s\n", unc_type_name(t, code->type),
			       unc_event_name(t, code->event), (unsigned long long)f->mask,
			       unc_tbl_str(t, t->reg[f->reg].name));
		CHECK_NUMBER(f->mask & ~looks, 0);
		seen->filters++;
	}
	for (uint32_t i = 0; i < type->regs.n; i++)
		all |= unc_control_looks(t, code->type, code->ctl,
					 (uint16_t)(type->regs.first + i));
	seen->blind += all == 0;
	for (uint32_t i = 0; i < type->lanes.n && code->lane; i++) {
		const struct unc_tbl_lane *lane = &t->lane[type->lanes.first + i];

		if (lane->name != t->lane[code->lane - 1].name)
			continue;
		CU_ASSERT(unc_control_in_lane(t, code->type, code->ctl, lane));
		seen->lanes++;
	}
}

static void check_event(const struct unc_table *t, uint16_t event, uint16_t umask,
			struct seen *seen)
{
	struct unc_spec spec = {
		.type = t->event[event].type, .event = event, .index = -1, .socket = -1};
	struct unc_code code;

	if (umask != UNC_NONE)
		spec.umask[spec.n_umasks++] = umask;
	give_needed(t, &spec, umask);
	if (unc_spec_encode(t, &spec, 0, 2, &code, NULL) == 0 && code.counter == UNC_NONE)
		check_code(t, &code, seen);
}

static void own_filters(void)
{
	struct seen seen = {0};
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < all[k]->n_event; i++) {
			const struct unc_range *umasks = &all[k]->event[i].umasks;

			check_event(all[k], (uint16_t)i, UNC_NONE, &seen);
			for (uint32_t u = 0; u < umasks->n; u++)
				check_event(all[k], (uint16_t)i, (uint16_t)(umasks->first + u),
					    &seen);
		}
	printf("# %u codes with %u filters, %u in lanes, %u look at none\n", seen.codes,
	       seen.filters, seen.lanes, seen.blind);
	CU_ASSERT(seen.codes > 5000 && seen.filters > 200 && seen.lanes > 50);
	CU_ASSERT(seen.blind > seen.codes / 2); /* what is known is not feared */
}

static const struct unc_table *table_of(const char *cpu)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(all[i], all[i]->name), cpu) == 0)
			return all[i];
	return NULL;
}

static void looks(void)
{
	static const struct {
		const char *cpu, *type, *reg;
		uint64_t ctl, looks;
	} rows[] = {
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x400000, 0},
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x480000, 0x1f},       /* tid_en: tid */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x1f440000, 0},        /* edge, thresh */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x400334, 0x7c0000},   /* states */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x404134, 0x7ffc00},   /* and nodes */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x4000ff, UINT64_MAX}, /* no event */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x40ff00, UINT64_MAX}, /* no umask */
		{"sandybridge-ep", "cbo", "BOX_FILTER", 0x600000, UINT64_MAX}, /* reserved bit */
		{"sandybridge-ep", "pcu", "BOX_FILTER", 0x40000c, 0xff00},     /* band 1 */
		{"sandybridge-ep", "pcu", "BOX_FILTER", 0x400000, 0},
		{"nehalem-ep", "unc", "GQ_SNOOP_MESF", 0x40080c, 0xff},
		{"nehalem-ep", "unc", "GQ_SNOOP_MESF", 0x400108, 0},
		{"nehalem-ep", "unc", "ADDR_OPCODE_MATCH", 0x40080c, 0},
		{"emerald-rapids", "cha", "FILTER0", 0x1, 0},
		{"emerald-rapids", "cha", "FILTER0", 0x10001, 0x3ff},
		/* who may be qualified by a range, by all of them */
		{"montecito", "core", "PMC38", 0x200084f, UINT64_MAX},
		{"montecito", "core", "PMC38", 0x200124f, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct unc_table *t = table_of(rows[i].cpu);
		unsigned type = unc_find_type(t, rows[i].type);
		uint16_t reg = unc_find_reg(t, &t->type[type], rows[i].reg);

		CU_ASSERT_FATAL(reg != UNC_NONE);
		if (unc_control_looks(t, type, rows[i].ctl, reg) != rows[i].looks)
			printf("# row %zu: 0x%llx\n", i, (unsigned long long)rows[i].ctl);
		CHECK_NUMBER(unc_control_looks(t, type, rows[i].ctl, reg), rows[i].looks);
	}
}

/* ---- what no CPU has so far: fields beside another one that are in the filter too (tests/tables/madeup) */

/* The upper piece of s, 3:2 of its value, stands where u does. */
static void check_contradiction(const struct unc_table *t)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"box.S:u=2:s=8", ""},
		{"box.S:u=1:s=8", "box.S: fields u and s contradict each other"},
		{"box.S:s=8:u=1", "box.S: fields u and s contradict each other"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_error err = {0};
		struct unc_spec spec;
		struct unc_code code;

		if (unc_spec_parse(t, rows[i].text, &spec, &err) == 0)
			(void)unc_spec_encode(t, &spec, 0, 1, &code, &err);
		CHECK_TEXT(err.text, rows[i].sentence);
	}
}

static void made_up(void)
{
	static const struct {
		const char *type;
		uint64_t ctl, looks;
	} rows[] = {
		{"box", 0x400010, 0xfff},
		{"box", 0x400011, 0xf000},
		{"every", 0x400010, UINT64_MAX}, /* one of its registers qualifies every event */
	};
	const struct unc_table *t = made_table("madeup");

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned type = unc_find_type(t, rows[i].type);
		uint16_t reg = unc_find_reg(t, &t->type[type], "FILTER");

		CHECK_NUMBER(unc_control_looks(t, type, rows[i].ctl, reg), rows[i].looks);
	}
	check_contradiction(t);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"an event looks at its own filters, and counts in its lane", own_filters},
		{"which bits of a filter", looks},
		{"fields beside another one", made_up},
		{NULL, NULL},
	};

	return suite_run("control", tests);
}
