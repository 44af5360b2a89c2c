/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table reader: types, counters, registers and fields of units.tbl; places are in
 * table_where.c, control in table_control.c, and table_type.c looks at each type once it is whole.
 */
#include <stdio.h>
#include <string.h>

#include "reader/table_build.h"

enum { MAX_COUNTERS = 32, MAX_ARRAY = 32, MAX_NAME = 31 };

/* "NAME[4]" -> NAME and 4; without brackets 0. */
static int split_array(struct unc_table_reader *r, const char *word, char name[MAX_NAME + 1],
		       unsigned *count)
{
	size_t length = strcspn(word, "[");
	int used = 0;

	*count = 0;
	if (length > 0 && length <= MAX_NAME - 2) {
		memcpy(name, word, length);
		name[length] = '\0';
		if (!word[length])
			return 0;
		if (sscanf(word + length, "[%u]%n", count, &used) == 1 && used &&
		    !word[length + (size_t)used] && *count > 0 && *count <= MAX_ARRAY)
			return 0;
	}
	return unc_bad(r, "'%s' is not NAME or NAME[N]", word);
}

/* ---- types */

/* A type or view becomes a row. */
static int add_type(struct unc_table_reader *r, const struct unc_tbl_type *t)
{
	const char *name = unc_tbl_str(&r->t, t->name);
	size_t digits = strcspn(name, "0123456789");

	if (strlen(name) > MAX_NAME)
		return unc_bad(r, "the name of type %s is too long", name);
	/* In NAME3.EVENT the digits are the number of a unit. */
	if (name[digits] && strchr("0123456789", name[strlen(name) - 1]) && !t->pool)
		return unc_bad(r, "the name of type %s ends in a digit", name);
	if (unc_find_type(&r->t, name) != UNC_NONE)
		return unc_bad(r, "type %s is described twice", name);
	r->type_line = r->line->number;
	*UNC_ADD(r, t, type) = *t;
	return 0;
}

int unc_end_type(struct unc_table_reader *r)
{
	struct unc_tbl_type *t = &r->w.type;
	const char *partner = unc_given(r, "partner");
	uint16_t at = (uint16_t)r->t.n_type;
	int rc = unc_units_end_type(r);

	if (rc < 0)
		return rc;
	t->first_ctl = t->first_ctr = t->unit_ctl = t->status = t->f_event = t->f_umask = UNC_NONE;
	t->discovery = -1;
	if (partner) {
		t->partner = (uint16_t)(unc_find_type(&r->t, partner) + 1u);
		if (!t->partner)
			return unc_bad(r, "partner=%s is not a type above", partner);
	}
	t->parts = (struct unc_range){(uint16_t)r->t.n_part, 1};
	t->regs.first = (uint16_t)r->t.n_reg;
	t->fields.first = (uint16_t)r->t.n_field;
	t->counters.first = (uint16_t)r->t.n_counter;
	if ((rc = add_type(r, t)) < 0)
		return rc;
	r->type = at;
	r->seen_in_type = 0;
	r->space = UNC_N_SPACES;
	struct unc_tbl_part *main_part = UNC_ADD(r, t, part);
	main_part->space = UNC_N_SPACES; /* access is missing so far */
	main_part->where.first = (uint16_t)r->t.n_where;
	return 0;
}

int unc_end_view(struct unc_table_reader *r)
{
	const char *of = unc_given(r, "of");
	uint16_t pool = unc_find_type(&r->t, of);
	struct unc_tbl_type t;
	int rc = unc_units_end_type(r);

	if (rc < 0)
		return rc;
	if (pool == UNC_NONE || r->t.type[pool].pool)
		return unc_bad(r, "of=%s is not a type above", of);
	t = r->t.type[pool];
	t.pool = (uint16_t)(pool + 1);
	t.name = r->w.type.name;
	t.title = r->w.type.title;
	t.public_prefix = 0;
	t.desc = r->w.type.desc;
	return add_type(r, &t);
}

int unc_end_counters(struct unc_table_reader *r)
{
	return r->w.type.n_counters ? unc_need(r, "width") : 0;
}

/* ---- registers */

/* What may be written where mask= is left out. */
static int default_mask(struct unc_table_reader *r, const struct unc_tbl_type *type,
			struct unc_tbl_reg *reg, bool given)
{
	if (reg->role == UNC_ROLE_FREE)
		reg->flags |= UNC_REG_RO;
	if (reg->flags & UNC_REG_RO) {
		if (reg->role == UNC_ROLE_CTL)
			return unc_bad(r, "ro on the control of a counter");
		reg->write_mask = 0;
		return given ? unc_bad(r, "mask= on a read-only register") : 0;
	}
	if (given || reg->role == UNC_ROLE_CTL)
		return 0;
	if (reg->role == UNC_ROLE_CTR && type->n_counters)
		reg->write_mask = unc_ones(type->width);
	else if (reg->role == UNC_ROLE_CTR)
		return unc_bad(r, "counters must come before the registers");
	else
		return unc_bad(r, "mask= or ro is missing");
	return 0;
}

static int check_reg(struct unc_table_reader *r, const struct unc_tbl_reg *reg)
{
	if (reg->width != 32 && reg->width != 64)
		return unc_bad(r, "width= must be 32 or 64");
	if ((reg->flags & UNC_REG_SEXT) && reg->role != UNC_ROLE_CTR)
		return unc_bad(r, "sext is for role=ctr");
	if ((reg->flags & UNC_REG_FROZEN) && reg->role != UNC_ROLE_OTHER)
		return unc_bad(r, "frozen is for registers without a role");
	if (reg->base & ~reg->write_mask)
		return unc_bad(r, "base= is outside of mask=");
	return 0;
}

/* Where the type keeps the register, or the first of its array; NULL: nowhere. */
static uint16_t *slot_of(struct unc_tbl_type *type, const struct unc_tbl_reg *reg)
{
	switch (reg->role) {
	case UNC_ROLE_CTL:
		if (type->first_ctl != UNC_NONE)
			return NULL;
		type->first = reg->number;
		return &type->first_ctl;
	case UNC_ROLE_CTR:
		return type->first_ctr == UNC_NONE ? &type->first_ctr : NULL;
	case UNC_ROLE_UNIT_CTL:
		return &type->unit_ctl;
	case UNC_ROLE_STATUS:
		return &type->status;
	default:
		return NULL;
	}
}

int unc_end_reg(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_reg *reg = &r->w.reg;
	int64_t offset = reg->offset;
	char name[MAX_NAME + 1], full[MAX_NAME + 12];
	unsigned count;
	int rc;

	if ((rc = split_array(r, unc_given(r, "NAME"), name, &count)) < 0 ||
	    (count > 1 && (rc = unc_need(r, "step")) < 0) || (rc = check_reg(r, reg)) < 0 ||
	    (rc = default_mask(r, type, reg, unc_given(r, "mask") != NULL)) < 0)
		return rc;
	if (reg->width == 32 && reg->role != UNC_ROLE_CTR && reg->write_mask > UINT32_MAX)
		return unc_bad(r, "mask= does not fit 32 bits");
	if (offset + (int64_t)count * r->w.stride > INT32_MAX)
		return unc_bad(r, "step= is too large");
	for (unsigned i = 0; i < (count ? count : 1); i++) {
		reg->nth = (uint8_t)i;
		reg->number = (uint8_t)(r->w.from + i);
		if (reg->role == UNC_ROLE_CTL && reg->number >= MAX_COUNTERS)
			return unc_bad(r, "counters are numbered up to %d", MAX_COUNTERS - 1);
		reg->offset = (int32_t)(offset + (int64_t)i * r->w.stride);
		uint16_t *slot = slot_of(type, reg);
		snprintf(full, sizeof(full), count ? "%s%u" : "%s", name, reg->number);
		if (unc_find_reg(&r->t, type, full) != UNC_NONE)
			return unc_bad(r, "register %s is described twice", full);
		reg->name = unc_add_string(r, full);
		if (slot)
			*slot = (uint16_t)r->t.n_reg;
		*UNC_ADD(r, t, reg) = *reg;
		type->regs.n++;
	}
	return 0;
}

int unc_end_counter(struct unc_table_reader *r)
{
	struct unc_tbl_counter *c = &r->w.counter;
	char name[MAX_NAME + 1], full[MAX_NAME + 12], reg[MAX_NAME + 12];
	unsigned count;
	int rc;

	if ((rc = split_array(r, unc_given(r, "NAME"), name, &count)) < 0)
		return rc;
	if (c->ctl != UNC_NONE) {
		const struct unc_tbl_reg *ctl = &r->t.reg[c->ctl];

		if (!c->enable)
			return unc_bad(r, "enable= must name bits");
		if (c->enable & ~ctl->write_mask)
			return unc_bad(r, "enable= is outside the mask of %s",
				       unc_tbl_str(&r->t, ctl->name));
	} else if (unc_given(r, "enable")) {
		return unc_bad(r, "enable= goes with ctl=");
	}
	for (unsigned i = 0; i < (count ? count : 1); i++) {
		snprintf(full, sizeof(full), count ? "%s%u" : "%s", name, i);
		snprintf(reg, sizeof(reg), count ? "%.31s%u" : "%.31s", unc_given(r, "ctr"), i);
		if ((c->ctr = unc_find_reg(&r->t, unc_current_type(r), reg)) == UNC_NONE)
			return unc_bad(r, "ctr=%s is not a register above", reg);
		if (c->width > r->t.reg[c->ctr].width)
			return unc_bad(r, "width= is more than the %u bits of %s",
				       r->t.reg[c->ctr].width, reg);
		c->name = unc_add_string(r, full);
		*UNC_ADD(r, t, counter) = *c;
		c->kernel = (uint16_t)(c->kernel ? c->kernel + 0x100 : 0);
		unc_current_type(r)->counters.n++;
	}
	return 0;
}

/* ---- fields */

/* One piece "REG BITS" of a field. */
static int read_piece(struct unc_table_reader *r, unsigned piece)
{
	const char *reg = unc_given_nth(r, "REG", piece),
		   *bits = unc_given_nth(r, "HIGH:LOW", piece);
	struct unc_tbl_field *f = &r->w.field;
	unsigned high, low;
	uint16_t at = unc_current_type(r)->first_ctl;

	f->reg[piece] = UNC_NONE;
	if (!reg)
		return 0;
	if (piece && !bits)
		return unc_bad(r, "unknown or repeated word '%s'", reg);
	if (!bits || !unc_parse_bits(bits, &high, &low))
		return unc_bad(r, "'%s' is not bits HIGH:LOW of a register", bits ? bits : "");
	if (strcmp(reg, "CTL") != 0)
		at = f->reg[piece] = unc_find_reg(&r->t, unc_current_type(r), reg);
	if (at == UNC_NONE)
		return unc_bad(r, "'%s' is not a register above", reg);
	if (high >= r->t.reg[at].width)
		return unc_bad(r, "bit %u is outside %s", high, reg);
	f->lo[piece] = (uint8_t)low;
	f->width[piece] = (uint8_t)(high - low + 1);
	return 0;
}

static int check_field(struct unc_table_reader *r, const struct unc_tbl_field *f)
{
	uint64_t max = unc_field_max(f);

	if (f->default_value > max || f->min > max)
		return unc_bad(r, "default= and min= go up to 0x%llx", (unsigned long long)max);
	if (f->like != UNC_NONE &&
	    (f->reg[0] == UNC_NONE || unc_field_max(&r->t.field[f->like]) != max))
		return unc_bad(r, "like= is for a field of a filter, and one as wide as this");
	return 0;
}

enum { IN_UNIT_CTL = 1, IN_CTL = 2, IN_FIXED_CTL = 4, IN_OTHERS = 8, MANY = 16 };

/* Where a field of each role can be; MANY: more than one of a register can have it. */
static const uint8_t places[UNC_N_IS] = {
	[UNC_IS_FREEZE] = IN_UNIT_CTL,
	[UNC_IS_FREEZE_ENABLE] = IN_UNIT_CTL,
	[UNC_IS_RESET_CONTROLS] = IN_UNIT_CTL,
	[UNC_IS_RESET_COUNTERS] = IN_UNIT_CTL,
	[UNC_IS_ENABLE_COUNTERS] = IN_UNIT_CTL,
	[UNC_IS_ENABLE_FIXED] = IN_UNIT_CTL,
	[UNC_IS_FREEZE_SOCKET] = IN_OTHERS,
	[UNC_IS_UNFREEZE_SOCKET] = IN_OTHERS,
	[UNC_IS_RESET] = IN_CTL | IN_FIXED_CTL,
	[UNC_IS_EDGE] = IN_CTL | MANY,
	[UNC_IS_INVERT] = IN_CTL | MANY,
	[UNC_IS_THRESHOLD] = IN_CTL,
	[UNC_IS_STATES] = IN_CTL,
	[UNC_IS_BOTH_THREADS] = IN_CTL,
	[UNC_IS_OVERFLOW] = IN_CTL,
	[UNC_IS_OTHER] = IN_UNIT_CTL | IN_CTL | IN_FIXED_CTL | IN_OTHERS | MANY,
};

/* Without a role the machine would ignore what any event takes, and what unit control does. */
static int check_role(struct unc_table_reader *r, const struct unc_tbl_field *f)
{
	const struct unc_range *fields = &unc_current_type(r)->fields;
	unsigned role = f->reg[0] == UNC_NONE ? UNC_ROLE_CTL : r->t.reg[f->reg[0]].role;
	unsigned place = role == UNC_ROLE_UNIT_CTL    ? IN_UNIT_CTL
			 : role == UNC_ROLE_CTL       ? IN_CTL
			 : role == UNC_ROLE_FIXED_CTL ? IN_FIXED_CTL
						      : IN_OTHERS;

	if (!f->role && (place == IN_UNIT_CTL || (place == IN_CTL && (f->flags & UNC_FIELD_USER))))
		return unc_bad(r,
			       "is= is missing, of a field of unit control or one that any event "
			       "takes");
	if (f->role && !(places[f->role] & place))
		return unc_bad(r, "is=%s: no field of this register is that", unc_given(r, "is"));
	for (const struct unc_tbl_field *other = NULL;
	     f->role && !(places[f->role] & MANY) &&
	     (other = UNC_NEXT(&r->t, field, *fields, other));)
		if (other->role == f->role && other->reg[0] == f->reg[0])
			return unc_bad(r, "is=%s: field %s is that already", unc_given(r, "is"),
				       unc_tbl_str(&r->t, other->name));
	return 0;
}

int unc_end_field(struct unc_table_reader *r)
{
	struct unc_tbl_field *f = &r->w.field;
	const char *name = unc_tbl_str(&r->t, f->name);
	int rc;

	if (strlen(name) > MAX_NAME)
		return unc_bad(r, "the name of field %s is too long", name);
	if (unc_find_field(&r->t, unc_current_type(r), name) != UNC_NONE)
		return unc_bad(r, "field %s is described twice", name);
	if ((rc = read_piece(r, 0)) < 0 || (rc = read_piece(r, 1)) < 0 ||
	    (rc = check_field(r, f)) < 0 || (rc = check_role(r, f)) < 0)
		return rc;
	f->flags |= unc_given(r, "default") ? UNC_FIELD_DEFAULT : 0;
	f->needs = f->mask = UNC_NONE;
	f->values.first = (uint16_t)r->t.n_value;
	*UNC_ADD(r, t, field) = *f;
	unc_current_type(r)->fields.n++;
	return 0;
}

int unc_end_value(struct unc_table_reader *r)
{
	struct unc_tbl_field *f = UNC_ROW(r, t, field, r->w.of);
	const struct unc_tbl_value *v = &r->w.value;
	const char *name = unc_tbl_str(&r->t, v->name);

	if (v->value & ~unc_field_max(f))
		return unc_bad(r, "0x%llx is not a value of the field",
			       (unsigned long long)v->value);
	if (f->values.n == 0)
		f->values.first = (uint16_t)r->t.n_value;
	if (f->values.first + f->values.n != r->t.n_value)
		return unc_bad(r, "the values of field %s are not together",
			       unc_tbl_str(&r->t, f->name));
	if (UNC_FIND(&r->t, value, f->values, name) != UNC_NONE)
		return unc_bad(r, "value %s is described twice", name);
	*UNC_ADD(r, t, value) = *v;
	f->values.n++;
	return 0;
}
