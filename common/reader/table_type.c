/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: what a type of units.tbl must have when its block ends. */
#include "reader/table_build.h"

enum { MAX_REGS = 96 };

/* Bits of CTL that software may set: all its fields and the enable bits. */
static void set_control_masks(struct unc_table_reader *r, const struct unc_tbl_type *type)
{
	uint64_t mask = type->enable;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(&r->t, field, type->fields, f));)
		mask |= unc_field_bits(f, UNC_NONE);
	for (unsigned i = 0; i < type->n_counters; i++) {
		struct unc_tbl_reg *reg = UNC_ROW(r, t, reg, type->first_ctl + i);

		if (reg->write_mask == 0)
			reg->write_mask = mask;
	}
}

/* What an event programs must pass the allowlist: every field lies in bits that may be written. */
static int check_masks(struct unc_table_reader *r, const struct unc_tbl_type *type)
{
	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(&r->t, field, type->fields, f));) {
		for (unsigned p = 0; p < 2 && f->width[p]; p++) {
			uint64_t bits = unc_ones(f->width[p]) << f->lo[p];
			const struct unc_tbl_reg *reg =
				&r->t.reg[f->reg[p] == UNC_NONE ? type->first_ctl : f->reg[p]];

			/* A field of a read-only register tells what it shows. */
			if (reg->write_mask && (bits & ~reg->write_mask))
				return unc_bad(r, "field %s is outside the mask of %s",
					       unc_tbl_str(&r->t, f->name),
					       unc_tbl_str(&r->t, reg->name));
		}
	}
	return 0;
}

/* The N registers of a role must follow each other, with the numbers of the counters. */
static bool one_array(const struct unc_table *t, const struct unc_tbl_type *type, int role,
		      uint16_t first)
{
	unsigned n = 0;

	for (uint32_t i = type->regs.first; i < type->regs.first + type->regs.n; i++) {
		if (t->reg[i].role != role)
			continue;
		if (i != first + n || t->reg[i].number != type->first + n)
			return false;
		n++;
	}
	return n == type->n_counters;
}

/* Units that hang on functions: none may be without one. */
static int check_present(struct unc_table_reader *r, const struct unc_tbl_type *type)
{
	const struct unc_range *where = &r->t.part[type->parts.first].where;
	bool listed = where->n && r->t.where[where->first].optional == UNC_WHERE_LISTED;
	const struct unc_tbl_present *row = NULL;
	unsigned places = listed ? 0 : where->n;

	while ((row = UNC_NEXT(&r->t, present, type->presents, row))) {
		unsigned told = (unsigned)row->n_devices * row->per;

		if (!row->msr && !row->n_offsets && !row->last && told < places)
			return unc_bad(r, "present tells of %u units, where of %u", told, places);
	}
	return 0;
}

int unc_units_end_type(struct unc_table_reader *r)
{
	int rc;

	if (r->type == UNC_NONE)
		return 0;
	const struct unc_tbl_type *type = unc_current_type(r);
	const struct unc_tbl_part *part = &r->t.part[type->parts.first];

	bool programmable = type->n_counters != 0;
	const struct {
		bool missing;
		const char *what;
	} needs[] = {
		{part->space == UNC_N_SPACES, "access"},
		{part->where.n == 0 && type->discovery < 0, "where or discovery"},
		{part->where.n == 0 && type->distrusted,
		 "where, which tells in place of discovery,"},
		{!programmable && type->counters.n == 0, "a counter"},
		{!one_array(&r->t, type, UNC_ROLE_CTL, type->first_ctl) ||
			 !one_array(&r->t, type, UNC_ROLE_CTR, type->first_ctr),
		 "one CTL and one CTR for each counter"},
		{programmable && type->f_event == UNC_NONE, "control"},
		{programmable && (!type->steps_start.n || !type->steps_stop.n ||
				  !type->steps_join.n || !type->steps_leave.n),
		 "start, join, stop or leave"},
		{!type->steps_freeze.n != !type->steps_unfreeze.n, "freeze or unfreeze"},
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].missing)
			return unc_bad(r, "type %s (line %u): %s is missing",
				       unc_tbl_str(&r->t, type->name), r->type_line, needs[i].what);
	set_control_masks(r, type);
	rc = type->regs.n > MAX_REGS ? unc_bad(r, "more than %d registers", MAX_REGS) : 0;
	if (rc < 0 || (rc = check_masks(r, type)) < 0 || (rc = check_present(r, type)) < 0 ||
	    (rc = unc_check_kernel(r, type)) < 0)
		unc_error_prefix(r->err, "type %s", unc_tbl_str(&r->t, type->name));
	else
		r->type = UNC_NONE;
	return rc;
}
