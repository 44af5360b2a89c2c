/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of unit types: tests/units/CPU.cases, each with its source. And what the rows of units.tbl must have to do with
 * each other, on every CPU: what starts a unit resets nothing and lets it count, its fields do not overlap, its masks
 * have no bit that nothing tells of.
 *
 *   counters TYPE,.. ; NUMBER of WIDTH bits ; SOURCE
 *   field TYPE,.. NAME.. ; REG HIGH:LOW.. ; SOURCE: one place for each name, in their order
 *   value TYPE,.. FIELD ; NAME NUMBER, .. ; SOURCE: numbers are hexadecimal
 *   mask TYPE,.. REG ; MASK ; SOURCE
 *   discovery TYPE,.. ; ID ; SOURCE: of its records in the PMON discovery table
 *   bases TYPE,.. ; ADDRESS.. ; SOURCE: where the registers of units 0, 1, .. begin
 *   event TYPE,.. EVENT CODE COUNTERS ; UMASK=NUMBER[/xBITS of CTL 63:32].. ; SOURCE: COUNTERS may be -, not told; no
 *     umask is -
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "cases.h"
#include "encode/event.h"
#include "suite.h"

typedef unsigned long long ull;

/* The rows of a CPU. */
struct run {
	const struct unc_table *t;
	const struct cases_row *row;
	unsigned failed, facts;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct run *run, const char *format, ...)
{
	va_list args;

	printf("# %s:%u: %s: ", run->row->file, run->row->line, run->row->field[0]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	run->failed++;
}

static uint64_t ones(unsigned lo, unsigned width)
{
	return (width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX) << lo;
}

/* ---- facts */

static const struct unc_tbl_field *find_field(const struct unc_table *t,
					      const struct unc_tbl_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->fields.n; i++)
		if (strcmp(unc_tbl_str(t, t->field[type->fields.first + i].name), name) == 0)
			return &t->field[type->fields.first + i];
	return NULL;
}

static const struct unc_tbl_reg *find_reg(const struct unc_table *t,
					  const struct unc_tbl_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->regs.n; i++)
		if (strcmp(unc_tbl_str(t, t->reg[type->regs.first + i].name), name) == 0)
			return &t->reg[type->regs.first + i];
	return NULL;
}

static const char *reg_name(const struct unc_table *t, uint16_t reg)
{
	return reg == UNC_NONE ? "CTL" : unc_tbl_str(t, t->reg[reg].name);
}

/* NUMBER of WIDTH bits */
static void check_counters(struct run *run, const struct unc_tbl_type *type, char *rest)
{
	unsigned n, width;

	(void)rest;
	if (sscanf(run->row->field[1], "%u of %u bits", &n, &width) != 2)
		wrong(run, "malformed row");
	else if (type->n_counters != n || type->width != width)
		wrong(run, "%s has %u of %u bits", unc_tbl_str(run->t, type->name),
		      type->n_counters, type->width);
}

/* REG HIGH:LOW.. */
static void check_field(struct run *run, const struct unc_tbl_type *type, char *names)
{
	char places[512], *next_name = NULL, *next = NULL, *place, *reg;

	snprintf(places, sizeof(places), "%s", run->row->field[1]);
	reg = strtok_r(places, " ", &next);
	for (char *name = strtok_r(names, " ", &next_name); name;
	     name = strtok_r(NULL, " ", &next_name)) {
		const struct unc_tbl_field *f = find_field(run->t, type, name);
		unsigned high, low;

		place = strtok_r(NULL, " ", &next);
		if (!place || !reg || sscanf(place, "%u:%u", &high, &low) != 2)
			wrong(run, "malformed row: where %s is", name);
		else if (!f)
			wrong(run, "%s has no field %s", unc_tbl_str(run->t, type->name), name);
		else if (f->lo[0] != low || f->width[0] != high - low + 1 || f->width[1] ||
			 strcmp(reg_name(run->t, f->reg[0]), reg))
			wrong(run, "%s.%s is %s %u:%u", unc_tbl_str(run->t, type->name), name,
			      reg_name(run->t, f->reg[0]), f->lo[0] + f->width[0] - 1u, f->lo[0]);
		else
			run->facts++;
	}
}

/* NAME NUMBER, .. */
static void check_value(struct run *run, const struct unc_tbl_type *type, char *field)
{
	const struct unc_tbl_field *f = find_field(run->t, type, field);
	char list[2048], *next = NULL;

	snprintf(list, sizeof(list), "%s", run->row->field[1]);
	if (!f)
		wrong(run, "%s has no field %s", unc_tbl_str(run->t, type->name), field);
	for (char *one = strtok_r(list, ",", &next); one && f; one = strtok_r(NULL, ",", &next)) {
		const struct unc_tbl_value *v = NULL;
		char name[64];
		ull number;

		if (sscanf(one, " %63s %llx", name, &number) != 2) {
			wrong(run, "malformed row: %s", one);
			continue;
		}
		for (uint32_t i = 0; i < f->values.n && !v; i++)
			if (strcmp(unc_tbl_str(run->t, run->t->value[f->values.first + i].name),
				   name) == 0)
				v = &run->t->value[f->values.first + i];
		if (!v)
			wrong(run, "%s.%s has no value %s", unc_tbl_str(run->t, type->name), field,
			      name);
		else if (v->value != number)
			wrong(run, "%s.%s: %s is 0x%llx, want 0x%llx",
			      unc_tbl_str(run->t, type->name), field, name, (ull)v->value, number);
		else
			run->facts++;
	}
}

static void check_mask(struct run *run, const struct unc_tbl_type *type, char *name)
{
	const struct unc_tbl_reg *reg = find_reg(run->t, type, name);

	if (!reg)
		wrong(run, "%s has no register %s", unc_tbl_str(run->t, type->name), name);
	else if (reg->write_mask != strtoull(run->row->field[1], NULL, 16))
		wrong(run, "%s.%s has mask 0x%llx", unc_tbl_str(run->t, type->name), name,
		      (ull)reg->write_mask);
	else
		run->facts++;
}

static void check_discovery(struct run *run, const struct unc_tbl_type *type, char *rest)
{
	(void)rest;
	if (type->discovery != atoi(run->row->field[1]))
		wrong(run, "%s has id %d", unc_tbl_str(run->t, type->name), type->discovery);
	else
		run->facts++;
}

static void check_bases(struct run *run, const struct unc_tbl_type *type, char *rest)
{
	struct unc_range where = run->t->part[type->parts.first].where;
	char list[2048], *next = NULL;
	uint32_t n = 0;

	(void)rest;
	snprintf(list, sizeof(list), "%s", run->row->field[1]);
	for (char *one = strtok_r(list, " ", &next); one; one = strtok_r(NULL, " ", &next), n++)
		if (n >= where.n || run->t->where[where.first + n].base != strtoull(one, NULL, 16))
			wrong(run, "%s%u is elsewhere than at %s", unc_tbl_str(run->t, type->name),
			      n, one);
		else
			run->facts++;
	if (n < where.n)
		wrong(run, "%s has %u places", unc_tbl_str(run->t, type->name), where.n);
}

static void check_umask(struct run *run, const char *text, unsigned code, const char *counters,
			unsigned umask, ull bits, bool has_bits)
{
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code got;
	uint64_t mask = 0;

	if (unc_spec_parse(run->t, text, &spec, &err) < 0 ||
	    unc_spec_encode(run->t, &spec, 0, 2, &got, &err) < 0)
		wrong(run, "%s", err.text);
	else if ((got.ctl & 0xFFFF) != (umask << 8 | code) || (has_bits && got.ctl >> 32 != bits))
		wrong(run, "%s is 0x%llx", text, (ull)got.ctl);
	else if (strcmp(counters, "-") != 0 &&
		 (!cases_mask(counters, &mask) || got.counters != mask))
		wrong(run, "%s counts on 0x%x", text, got.counters);
	else
		run->facts++;
}

/* UMASK=NUMBER[/xBITS].. */
static void check_event(struct run *run, const struct unc_tbl_type *type, char *rest)
{
	char name[64], counters[32], list[4096], text[192], *next = NULL;
	const char *of = unc_tbl_str(run->t, type->name);
	unsigned code;

	snprintf(list, sizeof(list), "%s", run->row->field[1]);
	if (sscanf(rest, "%63s %x %31s", name, &code, counters) != 3) {
		wrong(run, "malformed row");
		return;
	}
	for (char *one = strtok_r(list, " ", &next); one; one = strtok_r(NULL, " ", &next)) {
		char umask[64];
		unsigned number = 0;
		ull bits = 0;
		int n = strcmp(one, "-") == 0
				? 1
				: sscanf(one, "%63[^=]=%x/x%llx", umask, &number, &bits);

		snprintf(text, sizeof(text), n == 1 ? "%s.%s" : "%s.%s:%s", of, name, umask);
		check_umask(run, text, code, counters, number, bits, n == 3);
	}
}

static void each_row(void *user, const struct cases_row *row)
{
	static const struct {
		const char *word;
		void (*check)(struct run *, const struct unc_tbl_type *, char *rest);
	} kinds[] = {{"counters", check_counters},  {"field", check_field}, {"value", check_value},
		     {"mask", check_mask},          {"event", check_event}, {"bases", check_bases},
		     {"discovery", check_discovery}};
	char text[512], *types, *rest = NULL, *next = NULL;
	const char *word;
	struct run *run = user;
	size_t kind = 0;

	run->row = row;
	snprintf(text, sizeof(text), "%s", row->field[0]);
	word = strtok_r(text, " ", &rest);
	types = strtok_r(NULL, " ", &rest);
	while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind].word, word) != 0)
		kind++;
	if (row->n != 3 || !types || kind == sizeof(kinds) / sizeof(kinds[0])) {
		wrong(run, "no test runs this row");
		return;
	}
	for (char *one = strtok_r(types, ",", &next); one; one = strtok_r(NULL, ",", &next)) {
		uint16_t type = unc_find_type(run->t, one);
		char again[512];

		snprintf(again, sizeof(again), "%s", rest);
		if (type == UNC_NONE)
			wrong(run, "no unit type %s", one);
		else
			kinds[kind].check(run, &run->t->type[type], again);
	}
}

static void check_facts(const void *user)
{
	struct run run = {.t = user};
	char file[80];

	snprintf(file, sizeof(file), "units/%s.cases", unc_tbl_str(run.t, run.t->name));
	CU_ASSERT_FATAL(cases_read(file, each_row, &run) > 0);
	printf("# %s: %u facts\n", file, run.facts);
	CHECK_NUMBER(run.failed, 0);
}

/* ---- what must agree */

static const struct unc_table *checked;
static unsigned disagree;

static void __attribute__((format(printf, 2, 3)))
say(const struct unc_tbl_type *type, const char *format, ...)
{
	va_list args;

	printf("# %s %s: ", unc_tbl_str(checked, checked->name), unc_tbl_str(checked, type->name));
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	disagree++;
}

/* The bits of a register that fields of the type have, of one role or of all (UNC_IS_...). */
static uint64_t bits_of(const struct unc_tbl_type *type, uint16_t reg, int role)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &checked->field[type->fields.first + i];

		for (unsigned k = 0; k < 2; k++)
			if (f->width[k] && f->reg[k] == reg && (role < 0 || f->role == role))
				bits |= ones(f->lo[k], f->width[k]);
	}
	return bits;
}

/* What steps write to the unit control in the end; UINT64_MAX: nothing. */
static uint64_t written(const struct unc_tbl_type *type, struct unc_range steps)
{
	uint64_t value = UINT64_MAX;

	for (uint32_t i = 0; i < steps.n; i++) {
		const struct unc_tbl_step *step = &checked->step[steps.first + i];

		if (step->kind == UNC_STEP_WRITE && step->reg == type->unit_ctl)
			value = step->value;
	}
	return value;
}

/* Started, it counts; frozen, it differs from that by what freezes it alone; nothing is ever reset. */
static void check_steps(const struct unc_tbl_type *type)
{
	uint64_t freeze = bits_of(type, type->unit_ctl, UNC_IS_FREEZE),
		 start = written(type, type->steps_start),
		 frozen = written(type, type->steps_freeze),
		 freed = written(type, type->steps_unfreeze),
		 reset = bits_of(type, type->unit_ctl, UNC_IS_RESET_CONTROLS) |
			 bits_of(type, type->unit_ctl, UNC_IS_RESET_COUNTERS);

	if (start != UINT64_MAX && start & (freeze | reset))
		say(type, "start writes 0x%llx", (ull)start);
	if (freeze && frozen != UINT64_MAX &&
	    (frozen & reset || (frozen & freeze) != freeze || (frozen ^ freeze) != freed))
		say(type, "freeze writes 0x%llx, unfreeze 0x%llx", (ull)frozen, (ull)freed);
	if (start != UINT64_MAX && freed != UINT64_MAX && start != freed)
		say(type, "start writes 0x%llx, unfreeze 0x%llx", (ull)start, (ull)freed);
}

/* A counter is in use where its enable is set, or, where it has none, its event select. */
static void check_control(const struct unc_tbl_type *type)
{
	const struct unc_tbl_field *code =
		type->f_event == UNC_NONE ? NULL : &checked->field[type->f_event];
	const struct unc_tbl_field *en = find_field(checked, type, "en");
	uint64_t select = code ? ones(code->lo[0], code->width[0]) : 0;

	if (type->active != (type->enable ? type->enable : select))
		say(type, "active is 0x%llx, enable 0x%llx, event select 0x%llx", (ull)type->active,
		    (ull)type->enable, (ull)select);
	if (en && type->enable != ones(en->lo[0], en->width[0]))
		say(type, "enable is 0x%llx, the field en is bit %u", (ull)type->enable, en->lo[0]);
}

/* Two fields are apart, or one is a part of the other. */
static void check_overlap(const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->fields.n; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct unc_tbl_field *a = &checked->field[type->fields.first + i],
						   *b = &checked->field[type->fields.first + k];
			uint64_t x = ones(a->lo[0], a->width[0]), y = ones(b->lo[0], b->width[0]);

			if (a->reg[0] == b->reg[0] && !a->width[1] && !b->width[1] && x & y &&
			    (x & y) != x && (x & y) != y)
				say(type, "%s and %s overlap", unc_tbl_str(checked, a->name),
				    unc_tbl_str(checked, b->name));
		}
}

static void check_masks(const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->regs.n; i++) {
		const struct unc_tbl_reg *reg = &checked->reg[type->regs.first + i];
		uint64_t fields = bits_of(type, (uint16_t)(type->regs.first + i), -1);

		/* A bit for each counter, from 0 on. */
		if (reg->flags & UNC_REG_W1C &&
		    (reg->write_mask & (reg->write_mask + 1) ||
		     (reg->role == UNC_ROLE_STATUS && reg->write_mask < ones(0, type->n_counters))))
			say(type, "%s has mask 0x%llx", unc_tbl_str(checked, reg->name),
			    (ull)reg->write_mask);
		bool socket = bits_of(type, (uint16_t)(type->regs.first + i), UNC_IS_FREEZE_SOCKET);

		if ((reg->role == UNC_ROLE_UNIT_CTL || socket) && reg->write_mask != fields)
			say(type, "%s has mask 0x%llx, its fields 0x%llx",
			    unc_tbl_str(checked, reg->name), (ull)reg->write_mask, (ull)fields);
	}
	for (uint32_t i = 0; i < type->counters.n; i++) {
		const struct unc_tbl_counter *c = &checked->counter[type->counters.first + i];

		if (c->ctl != UNC_NONE && checked->reg[c->ctr].write_mask != ones(0, c->width))
			say(type, "%s of %u bits has mask 0x%llx", unc_tbl_str(checked, c->name),
			    c->width, (ull)checked->reg[c->ctr].write_mask);
	}
}

/* The monitors of a thread (Montecito, Nehalem's core) have no controls of this form. */
static bool is_uncore(const struct unc_tbl_type *type)
{
	unsigned space = checked->part[type->parts.first].space;

	return space == UNC_SPACE_MSR || space == UNC_SPACE_PCI || space == UNC_SPACE_MMIO;
}

static void check_agreement(const void *user)
{
	checked = user;
	disagree = 0;
	for (size_t i = 0; i < checked->n_type; i++) {
		const struct unc_tbl_type *type = &checked->type[i];

		if (!is_uncore(type))
			continue;
		check_overlap(type);
		check_masks(type);
		if (type->unit_ctl != UNC_NONE)
			check_steps(type);
		if (type->n_counters)
			check_control(type);
	}
	CHECK_NUMBER(disagree, 0);
}

static void check_files(const void *user)
{
	(void)user;
	CU_ASSERT(cases_table(0) != NULL);
	CHECK_NUMBER(cases_of_no_cpu("units", ".cases"), 0);
}

int main(void)
{
	const struct unc_table *t;

	suite_add(check_files, NULL, "every file of facts is of a CPU");
	for (size_t i = 0; (t = cases_table(i)) != NULL; i++) {
		const char *cpu = unc_tbl_str(t, t->name);

		suite_add(check_agreement, t, "%s: its units agree with themselves", cpu);
		if (cases_has("units", cpu, ".cases"))
			suite_add(check_facts, t, "%s: facts of its units", cpu);
	}
	return suite_run("units", NULL);
}
