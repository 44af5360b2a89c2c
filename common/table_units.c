/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table reader: units.tbl; places are read by table_where.c, control by table_control.c, and
 * table_type.c looks at each type once it is whole.
 */
#include "table_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COUNTERS = 32, MAX_ARRAY = 32, MAX_NAME = 31 };

static bool parse_int(const char *text, int64_t *value)
{
	uint64_t v;
	bool negative = text[0] == '-';

	if (!unc_parse_number(text + negative, &v) || v > INT32_MAX)
		return false;
	*value = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

/* ---- registers, fields, counters */

/* "NAME[4]" -> NAME and 4; without brackets 0. */
static bool split_array(const char *word, char name[MAX_NAME + 1], unsigned *count)
{
	size_t length = strcspn(word, "[");
	int used = 0;

	*count = 0;
	if (length == 0 || length > MAX_NAME - 2)
		return false;
	memcpy(name, word, length);
	name[length] = '\0';
	if (!word[length])
		return true;
	return sscanf(word + length, "[%u]%n", count, &used) == 1 && used &&
	       !word[length + (size_t)used] && *count > 0 && *count <= MAX_ARRAY;
}

static int take_role(struct unc_line *line, uint8_t *role, struct unc_error *err)
{
	static const char *const names[] = {"other", "unit_ctl",  "status",    "ctl",
					    "ctr",   "fixed_ctl", "fixed_ctr", "free"};
	const char *text = unc_take(line, "role");

	for (uint8_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*role = i;
			return 0;
		}
	return text ? unc_bad(err, "role", text, "a known role") : 0;
}

static int take_part(struct unc_table_reader *r, struct unc_line *line, uint8_t *part,
		     struct unc_error *err)
{
	const struct unc_range *parts = &unc_current_type(r)->parts;
	const char *text = unc_take(line, "part");

	for (uint32_t i = 0; text && i < parts->n; i++)
		if (strcmp(text, unc_tbl_str(&r->t, r->t.part[parts->first + i].name)) == 0) {
			*part = (uint8_t)i;
			return 0;
		}
	return text ? unc_bad(err, "part", text, "a part above") : 0;
}

/* What may be written where mask= is left out. */
static int default_mask(const struct unc_tbl_type *type, struct unc_tbl_reg *reg, bool given,
			struct unc_error *err)
{
	if (reg->role == UNC_ROLE_FREE)
		reg->flags |= UNC_REG_RO;
	if (reg->flags & UNC_REG_RO) {
		if (reg->role == UNC_ROLE_CTL)
			return unc_fail(err, UNC_ERR_TABLE, "ro on the control of a counter");
		reg->write_mask = 0;
		return given ? unc_fail(err, UNC_ERR_TABLE, "mask= on a read-only register") : 0;
	}
	if (given || reg->role == UNC_ROLE_CTL)
		return 0;
	if (reg->role == UNC_ROLE_CTR && type->n_counters)
		reg->write_mask = unc_ones(type->width);
	else if (reg->role == UNC_ROLE_CTR)
		return unc_fail(err, UNC_ERR_TABLE, "counters must come before the registers");
	else
		return unc_fail(err, UNC_ERR_TABLE, "mask= or ro is missing");
	return 0;
}

struct array { /* NAME, or NAME<from> .. NAME<from + count - 1> */
	char name[MAX_NAME + 1];
	unsigned count;
	uint64_t from, step;
};

static int add_regs(struct unc_table_reader *r, struct unc_tbl_reg *reg, const struct array *a,
		    int64_t offset, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	char full[MAX_NAME + 12];

	if (offset + (int64_t)(a->count * a->step) > INT32_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "step= is too large");
	for (unsigned i = 0; i < (a->count ? a->count : 1); i++) {
		snprintf(full, sizeof(full), a->count ? "%s%u" : "%s", a->name,
			 (unsigned)a->from + i);
		if (unc_find_reg(&r->t, type, full) != UNC_NONE)
			return unc_fail(err, UNC_ERR_TABLE, "register %s is described twice", full);
		reg->name = unc_add_string(r, full);
		reg->offset = (int32_t)(offset + (int64_t)(i * a->step));
		reg->nth = (uint8_t)i;
		reg->number = (uint8_t)(a->from + i);
		uint16_t index = (uint16_t)r->t.n_reg;
		*unc_add_reg(r) = *reg;
		type->regs.n++;
		if (type->first_ctl == UNC_NONE && reg->role == UNC_ROLE_CTL)
			type->first_ctl = index;
		if (type->first_ctr == UNC_NONE && reg->role == UNC_ROLE_CTR)
			type->first_ctr = index;
		if (reg->role == UNC_ROLE_UNIT_CTL)
			type->unit_ctl = index;
		if (reg->role == UNC_ROLE_STATUS)
			type->status = index;
	}
	return 0;
}

static int read_reg(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_reg reg = {0};
	struct array a = {0};
	uint64_t width = 0, mask = 0, per_unit = 0;
	const char *word = unc_take_plain(line), *at = unc_take(line, "at");
	int64_t offset;
	int rc;

	if (!word || !split_array(word, a.name, &a.count))
		return unc_bad(err, "register", word, "NAME or NAME[N]");
	if (!at || !parse_int(at, &offset))
		return unc_bad(err, "at", at, "an offset");
	bool given = false;
	for (size_t i = 0; i < line->n; i++)
		given |= line->word[i].key && strcmp(line->word[i].key, "mask") == 0;
	if ((rc = unc_take_number(line, "width", true, 64, &width, err)) < 0 ||
	    (rc = unc_take_number(line, "step", a.count > 1, INT32_MAX, &a.step, err)) < 0 ||
	    (rc = unc_take_number(line, "from", false, 200, &a.from, err)) < 0 ||
	    (rc = unc_take_number(line, "mask", false, UINT64_MAX, &mask, err)) < 0 ||
	    (rc = unc_take_number(line, "base", false, mask, &reg.base, err)) < 0 ||
	    (rc = unc_take_number(line, "busy", false, UINT64_MAX, &reg.busy, err)) < 0 ||
	    (rc = unc_take_number(line, "per_unit", false, INT32_MAX, &per_unit, err)) < 0 ||
	    (rc = take_role(line, &reg.role, err)) < 0 ||
	    (rc = take_part(r, line, &reg.part, err)) < 0)
		return rc;
	if (width != 32 && width != 64)
		return unc_fail(err, UNC_ERR_TABLE, "width= must be 32 or 64");
	reg.flags = (uint8_t)((unc_take_flag(line, "wo") ? UNC_REG_WO : 0) |
			      (unc_take_flag(line, "ro") ? UNC_REG_RO : 0) |
			      (unc_take_flag(line, "w1c") ? UNC_REG_W1C : 0) |
			      (unc_take_flag(line, "absolute") ? UNC_REG_ABS : 0) |
			      (unc_take_flag(line, "sext") ? UNC_REG_SEXT : 0) |
			      (unc_take_flag(line, "frozen") ? UNC_REG_FROZEN : 0) |
			      (unc_take_flag(line, "every") ? UNC_REG_EVERY : 0));
	if ((reg.flags & UNC_REG_SEXT) && reg.role != UNC_ROLE_CTR)
		return unc_fail(err, UNC_ERR_TABLE, "sext is for role=ctr");
	if ((reg.flags & UNC_REG_FROZEN) && reg.role != UNC_ROLE_OTHER)
		return unc_fail(err, UNC_ERR_TABLE, "frozen is for registers without a role");
	if (reg.base & ~mask)
		return unc_fail(err, UNC_ERR_TABLE, "base= is outside of mask=");
	reg.per_unit = (int32_t)per_unit;
	reg.width = (uint8_t)width;
	reg.write_mask = mask;
	if ((rc = default_mask(type, &reg, given, err)) < 0)
		return rc;
	if (width == 32 && reg.role != UNC_ROLE_CTR && reg.write_mask > UINT32_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "mask= does not fit 32 bits");
	return add_regs(r, &reg, &a, offset, err);
}

/* One piece "REG BITS" of a field. */
static int read_piece(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_field *f,
		      unsigned piece, struct unc_error *err)
{
	const char *reg = unc_take_plain(line), *bits = unc_take_plain(line);
	unsigned high, low;
	uint16_t at = unc_current_type(r)->first_ctl;

	if (!reg || !bits || !unc_parse_bits(bits, &high, &low))
		return unc_bad(err, "field", bits, "REGISTER HIGH:LOW");
	f->reg[piece] = UNC_NONE;
	if (strcmp(reg, "CTL") != 0)
		at = f->reg[piece] = unc_find_reg(&r->t, unc_current_type(r), reg);
	if (at == UNC_NONE)
		return unc_bad(err, "register", reg, "a register above");
	if (high >= r->t.reg[at].width)
		return unc_fail(err, UNC_ERR_TABLE, "bit %u is outside %s", high, reg);
	f->lo[piece] = (uint8_t)low;
	f->width[piece] = (uint8_t)(high - low + 1);
	return 0;
}

static bool more_pieces(const struct unc_line *line)
{
	unsigned plain = 0;

	for (size_t i = 0; i < line->n; i++) {
		const struct unc_word *w = &line->word[i];

		plain += !w->key && !w->quoted && !w->used;
	}
	return plain >= 2;
}

enum { IN_UNIT_CTL = 1, IN_CTL = 2, IN_FIXED_CTL = 4, IN_OTHERS = 8, ANYWHERE = 15 };

/* Where a role can be; `many`: more than one field of a register can have it. */
static const struct {
	const char *name;
	uint8_t places;
	bool many;
} roles[UNC_N_IS] = {
	[UNC_IS_FREEZE] = {"freeze", IN_UNIT_CTL, false},
	[UNC_IS_FREEZE_ENABLE] = {"freeze_enable", IN_UNIT_CTL, false},
	[UNC_IS_RESET_CONTROLS] = {"reset_controls", IN_UNIT_CTL, false},
	[UNC_IS_RESET_COUNTERS] = {"reset_counters", IN_UNIT_CTL, false},
	[UNC_IS_ENABLE_COUNTERS] = {"enable_counters", IN_UNIT_CTL, false},
	[UNC_IS_ENABLE_FIXED] = {"enable_fixed", IN_UNIT_CTL, false},
	[UNC_IS_FREEZE_SOCKET] = {"freeze_socket", IN_OTHERS, false},
	[UNC_IS_UNFREEZE_SOCKET] = {"unfreeze_socket", IN_OTHERS, false},
	[UNC_IS_RESET] = {"reset", IN_CTL | IN_FIXED_CTL, false},
	[UNC_IS_EDGE] = {"edge", IN_CTL, true},
	[UNC_IS_INVERT] = {"invert", IN_CTL, true},
	[UNC_IS_THRESHOLD] = {"threshold", IN_CTL, false},
	[UNC_IS_STATES] = {"states", IN_CTL, false},
	[UNC_IS_BOTH_THREADS] = {"both_threads", IN_CTL, false},
	[UNC_IS_OTHER] = {"other", ANYWHERE, true},
};

static unsigned place_of(const struct unc_table *t, uint16_t reg)
{
	unsigned role = reg == UNC_NONE ? UNC_ROLE_CTL : t->reg[reg].role;

	return role == UNC_ROLE_UNIT_CTL    ? IN_UNIT_CTL
	       : role == UNC_ROLE_CTL       ? IN_CTL
	       : role == UNC_ROLE_FIXED_CTL ? IN_FIXED_CTL
					    : IN_OTHERS;
}

/* Without a role the machine would ignore what any event takes, and what unit control does. */
static int take_is(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_field *f,
		   struct unc_error *err)
{
	const char *text = unc_take(line, "is");
	const struct unc_range *fields = &unc_current_type(r)->fields;
	unsigned place = place_of(&r->t, f->reg[0]);
	char list[200];
	struct unc_buf known = UNC_BUF(list);

	if (!text && place != IN_UNIT_CTL && !(place == IN_CTL && (f->flags & UNC_FIELD_USER)))
		return 0;
	for (uint8_t i = UNC_N_IS - 1; i > UNC_IS_NOTHING; i--) {
		if (!(roles[i].places & place))
			continue;
		unc_put_word(&known, roles[i].name);
		if (text && strcmp(text, roles[i].name) == 0)
			f->role = i;
	}
	if (!text)
		return unc_fail(err, UNC_ERR_TABLE, "is= is missing: one of %s", list);
	if (!f->role)
		return unc_fail(err, UNC_ERR_TABLE, "is=%s: in this register it is one of %s", text,
				list);
	for (uint32_t i = 0; i < fields->n && !roles[f->role].many; i++) {
		const struct unc_tbl_field *other = &r->t.field[fields->first + i];

		if (other->role == f->role && other->reg[0] == f->reg[0])
			return unc_fail(err, UNC_ERR_TABLE, "is=%s: field %s is that already", text,
					unc_tbl_str(&r->t, other->name));
	}
	return 0;
}

/* What values a field takes, and what comes with them. */
static int take_limits(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_field *f,
		       struct unc_error *err)
{
	const char *counters = unc_take(line, "counters"), *below = unc_take(line, "below");
	uint64_t mask = 0, none = UINT64_MAX, value = none;
	int rc;

	if (counters && (!unc_parse_mask(counters, &mask) ||
			 (mask & ~(uint64_t)unc_type_counters(unc_current_type(r)))))
		return unc_bad(err, "counters", counters, "a list of counters of the type");
	if (below && strcmp(below, "max") != 0)
		return unc_bad(err, "below", below, "max");
	if ((rc = unc_take_number(line, "default", false, unc_field_max(f), &value, err)) < 0 ||
	    (rc = unc_take_number(line, "min", false, unc_field_max(f), &f->min, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "with", true, &f->with, err)) < 0 ||
	    (rc = unc_take_like(r, line, f, err)) < 0)
		return rc;
	f->counters = (uint32_t)mask;
	f->flags |= below ? UNC_FIELD_BELOW_MAX : 0;
	if (value != none) {
		f->flags |= UNC_FIELD_DEFAULT;
		f->default_value = value;
	}
	return 0;
}

static int read_field(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_field f = {
		.reg = {UNC_NONE, UNC_NONE}, .needs = UNC_NONE, .mask = UNC_NONE, .like = UNC_NONE};
	uint64_t shift = 0;
	const char *name = unc_take_plain(line);
	int rc;

	if (!name || strlen(name) > MAX_NAME)
		return unc_bad(err, "field", name, "a name");
	if (unc_find_field(&r->t, unc_current_type(r), name) != UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "field %s is described twice", name);
	f.flags = (uint8_t)((unc_take_flag(line, "user") ? UNC_FIELD_USER : 0) |
			    (unc_take_flag(line, "nodes") ? UNC_FIELD_NODES : 0) |
			    (unc_take_flag(line, "exceeds") ? UNC_FIELD_EXCEEDS : 0) |
			    (unc_take_flag(line, "whole") ? UNC_FIELD_WHOLE : 0) |
			    (unc_take_flag(line, "once") ? UNC_FIELD_ONCE : 0) |
			    (unc_take_flag(line, "wo") ? UNC_FIELD_WO : 0));
	if ((rc = read_piece(r, line, &f, 0, err)) < 0 ||
	    (more_pieces(line) && (rc = read_piece(r, line, &f, 1, err)) < 0) ||
	    (rc = unc_take_number(line, "shift", false, 31, &shift, err)) < 0)
		return rc;
	f.shift = (uint8_t)shift;
	if ((rc = take_limits(r, line, &f, err)) < 0 || (rc = take_is(r, line, &f, err)) < 0)
		return rc;
	f.name = unc_add_string(r, name);
	const char *desc = unc_take_quoted(line);
	if (!desc)
		return unc_fail(err, UNC_ERR_TABLE, "field %s has no description", name);
	f.desc = unc_add_string(r, desc);
	f.values.first = (uint32_t)r->t.n_value;
	*unc_add_field(r) = f;
	unc_current_type(r)->fields.n++;
	return 0;
}

static int read_value(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *field = unc_take_plain(line), *name = unc_take_plain(line),
		   *number = unc_take_plain(line), *desc = unc_take_quoted(line);
	uint64_t value;

	if (!number)
		return unc_fail(err, UNC_ERR_TABLE, "value needs FIELD NAME NUMBER");
	uint16_t at = unc_find_field(&r->t, unc_current_type(r), field);
	if (at == UNC_NONE)
		return unc_bad(err, "field", field, "a field above");
	struct unc_tbl_field *f = UNC_ROW(r, field, at);
	if (!unc_parse_number(number, &value) || (value & ~unc_field_max(f)))
		return unc_bad(err, "number", number, "a value of the field");
	if (f->values.n == 0)
		f->values.first = (uint32_t)r->t.n_value;
	if (f->values.first + f->values.n != r->t.n_value)
		return unc_fail(err, UNC_ERR_TABLE, "the values of field %s are not together",
				field);
	for (uint32_t i = 0; i < f->values.n; i++)
		if (unc_same(unc_tbl_str(&r->t, r->t.value[f->values.first + i].name), name))
			return unc_fail(err, UNC_ERR_TABLE, "value %s is described twice", name);
	struct unc_tbl_value *v = unc_add_value(r);
	v->name = unc_add_string(r, name);
	v->desc = unc_add_string(r, desc ? desc : "");
	v->value = value;
	f->values.n++;
	return 0;
}

static int read_counter(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_counter c = {.ctl = UNC_NONE};
	const char *word = unc_take_plain(line), *ctr = unc_take(line, "ctr"),
		   *ctl = unc_take(line, "ctl");
	char name[MAX_NAME + 1], full[MAX_NAME + 12], reg[MAX_NAME + 12];
	uint64_t width = 0, bit = UINT64_MAX, global = UINT64_MAX;
	unsigned count;
	int rc;

	if (!word || !split_array(word, name, &count) || !ctr || strlen(ctr) > MAX_NAME)
		return unc_bad(err, "counter", word, "NAME or NAME[N] with ctr=");
	if ((rc = unc_take_number(line, "width", true, 64, &width, err)) < 0 ||
	    (rc = unc_take_number(line, "status", false, 63, &bit, err)) < 0 ||
	    (rc = unc_take_number(line, "global", false, 127, &global, err)) < 0 ||
	    (rc = unc_take_number(line, "enable", ctl != NULL, UINT64_MAX, &c.enable, err)) < 0)
		return rc;
	c.status_bit = bit == UINT64_MAX ? 0 : (uint8_t)(bit + 1);
	c.global_bit = global == UINT64_MAX ? 0 : (uint8_t)(global + 1);
	if (ctl && !c.enable)
		return unc_fail(err, UNC_ERR_TABLE, "enable= must name bits");
	if (ctl && (c.ctl = unc_find_reg(&r->t, unc_current_type(r), ctl)) == UNC_NONE)
		return unc_bad(err, "ctl", ctl, "a register above");
	if (ctl && (c.enable & ~r->t.reg[c.ctl].write_mask))
		return unc_fail(err, UNC_ERR_TABLE, "enable= is outside the mask of %s", ctl);
	if (ctl && (rc = unc_take_bits(r, line, c.ctl, &c.freeze, err)) < 0)
		return rc;
	c.width = (uint8_t)width;
	for (unsigned i = 0; i < (count ? count : 1); i++) {
		snprintf(full, sizeof(full), count ? "%s%u" : "%s", name, i);
		snprintf(reg, sizeof(reg), count ? "%s%u" : "%s", ctr, i);
		if ((c.ctr = unc_find_reg(&r->t, unc_current_type(r), reg)) == UNC_NONE)
			return unc_bad(err, "ctr", reg, "a register above");
		if (width == 0 || width > r->t.reg[c.ctr].width)
			return unc_fail(err, UNC_ERR_TABLE,
					"width= must be from 1 to the %u bits of %s",
					r->t.reg[c.ctr].width, reg);
		c.name = unc_add_string(r, full);
		*unc_add_counter(r) = c;
		unc_current_type(r)->counters.n++;
	}
	return 0;
}

/* ---- types */

/* Name and texts of a type or view, which becomes the current one. */
static int begin_type(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_type *t,
		      struct unc_error *err)
{
	const char *name = unc_take_plain(line), *title = unc_take(line, "title"),
		   *prefix = unc_take(line, "public"), *desc = unc_take_quoted(line);
	int rc;

	if (!name || strlen(name) > MAX_NAME || !title || !desc)
		return unc_fail(err, UNC_ERR_TABLE,
				"type and view need a name, title= and a description");
	/* In NAME3.EVENT the digits are the number of a unit. */
	if (strcspn(name, "0123456789") != strlen(name) && name[strlen(name) - 1] >= '0' &&
	    name[strlen(name) - 1] <= '9' && !t->pool)
		return unc_fail(err, UNC_ERR_TABLE, "the name of type %s ends in a digit", name);
	if (unc_find_type(&r->t, name) != UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "type %s is described twice", name);
	if ((rc = unc_take_aggregate(line, &t->aggregate, err)) < 0)
		return rc;
	t->name = unc_add_string(r, name);
	t->title = unc_add_string(r, title);
	t->public_prefix = unc_add_string(r, prefix ? prefix : "");
	t->desc = unc_add_string(r, desc);
	r->type_line = line->number;
	*unc_add_type(r) = *t;
	return 0;
}

static int read_type(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type t = {
		.first_ctl = UNC_NONE,
		.first_ctr = UNC_NONE,
		.unit_ctl = UNC_NONE,
		.status = UNC_NONE,
		.f_event = UNC_NONE,
		.f_umask = UNC_NONE,
		.discovery = -1,
	};
	uint64_t share = 1;
	int rc;

	if ((rc = unc_units_end_type(r, err)) < 0 ||
	    (rc = unc_take_number(line, "share", false, 64, &share, err)) < 0)
		return rc;
	if (!share)
		return unc_fail(err, UNC_ERR_TABLE, "share= must be at least 1");
	t.share = (uint8_t)share;
	t.parts = (struct unc_range){(uint32_t)r->t.n_part, 1};
	t.regs.first = (uint32_t)r->t.n_reg;
	t.fields.first = (uint32_t)r->t.n_field;
	t.counters.first = (uint32_t)r->t.n_counter;
	uint16_t at = (uint16_t)r->t.n_type;
	if ((rc = begin_type(r, line, &t, err)) < 0)
		return rc;
	r->type = at;
	struct unc_tbl_part *main_part = unc_add_part(r);
	main_part->space = UNC_N_SPACES; /* access is missing so far */
	main_part->where.first = (uint32_t)r->t.n_where;
	return 0;
}

static int read_view(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *of = unc_take(line, "of");
	int rc = unc_units_end_type(r, err);

	if (rc < 0)
		return rc;
	uint16_t pool = of ? unc_find_type(&r->t, of) : UNC_NONE;
	if (pool == UNC_NONE || r->t.type[pool].pool)
		return unc_bad(err, "of", of, "a type above");
	struct unc_tbl_type t = r->t.type[pool];
	t.pool = (uint16_t)(pool + 1);
	t.aggregate = UNC_AGGREGATE_SUM;
	return begin_type(r, line, &t, err);
}

static int read_counters(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *count = unc_take_plain(line);
	uint64_t n, width = 0, max = 1, first = 0;
	int rc;

	if (!count || !unc_parse_number(count, &n) || n > MAX_COUNTERS)
		return unc_bad(err, "counters", count, "a number up to 32");
	if (unc_current_type(r)->max_inc)
		return unc_fail(err, UNC_ERR_TABLE, "counters is given twice");
	if ((rc = unc_take_number(line, "width", n > 0, 64, &width, err)) < 0 ||
	    (rc = unc_take_number(line, "first", false, MAX_COUNTERS, &first, err)) < 0 ||
	    (rc = unc_take_number(line, "max", false, 0xffff, &max, err)) < 0)
		return rc;
	if (first + n > MAX_COUNTERS)
		return unc_fail(err, UNC_ERR_TABLE, "counters are numbered up to 31");
	unc_current_type(r)->first = (uint8_t)first;
	if ((n && !width) || !max)
		return unc_fail(err, UNC_ERR_TABLE, "width= and max= must be at least 1");
	unc_current_type(r)->n_counters = (uint8_t)n;
	unc_current_type(r)->width = (uint8_t)width;
	unc_current_type(r)->max_inc = (uint32_t)max;
	return 0;
}

static int type_statement(struct unc_table_reader *r, struct unc_line *line, const char *word,
			  struct unc_error *err)
{
	static const struct {
		const char *word;
		int (*read)(struct unc_table_reader *, struct unc_line *, struct unc_error *);
	} statements[] = {
		{"access", unc_read_access},    {"discovery", unc_read_discovery},
		{"where", unc_read_main_where}, {"part", unc_read_part},
		{"counters", read_counters},    {"reg", read_reg},
		{"control", unc_read_control},  {"counter", read_counter},
		{"field", read_field},          {"value", read_value},
		{"lane", unc_read_lane},        {"forbid", unc_read_forbid},
		{"fields", unc_read_bundle},    {"overflow", unc_read_overflow},
		{"global", unc_read_global},    {"needs", unc_read_needs},
		{"mask", unc_read_mask},
	};
	struct unc_tbl_type *type = unc_current_type(r);
	const struct {
		const char *word;
		struct unc_range *steps;
	} lists[] = {
		{"start", &type->steps_start},   {"join", &type->steps_join},
		{"stop", &type->steps_stop},     {"leave", &type->steps_leave},
		{"freeze", &type->steps_freeze}, {"unfreeze", &type->steps_unfreeze},
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (strcmp(word, statements[i].word) == 0)
			return statements[i].read(r, line, err);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(word, lists[i].word) == 0)
			return unc_read_steps(r, line, lists[i].steps, err);
	return unc_fail(err, UNC_ERR_TABLE, "'%s' is not a statement of units.tbl", word);
}

int unc_read_units(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *word = unc_take_plain(line);
	int rc;

	if (!word)
		return unc_fail(err, UNC_ERR_TABLE, "a line must begin with a statement");
	if (strcmp(word, "type") == 0)
		rc = read_type(r, line, err);
	else if (strcmp(word, "view") == 0)
		rc = read_view(r, line, err);
	else if (strcmp(word, "topology") == 0)
		rc = unc_read_topology(r, line, err);
	else if (strcmp(word, "bar") == 0)
		rc = unc_read_bar(r, line, err);
	else if (r->type == UNC_NONE)
		rc = unc_fail(err, UNC_ERR_TABLE, "'%s' before the first type", word);
	else
		rc = type_statement(r, line, word, err);
	return rc < 0 ? rc : unc_words_done(line, err);
}
