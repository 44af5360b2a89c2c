/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: how counters are controlled, in units.tbl: control, steps, lanes, overflow. */
#include "table_build.h"

#include <string.h>

/* ---- settings of fields */

int unc_add_setting(struct unc_table_reader *r, const char *field, const char *text,
		    struct unc_range *range, struct unc_error *err)
{
	uint16_t at = unc_find_field(&r->t, unc_current_type(r), field);
	uint64_t value = 0;

	if (at == UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "'%s' is neither a column nor a field of %s",
				field, unc_tbl_str(&r->t, unc_current_type(r)->name));
	if (text && (!unc_parse_number(text, &value) || (value & ~unc_field_max(&r->t.field[at]))))
		return unc_fail(err, UNC_ERR_TABLE, "'%s' does not fit field %s", text, field);
	if (range->n == 0)
		range->first = (uint32_t)r->t.n_set;
	if (unc_sets_field(&r->t, range, at))
		return unc_fail(err, UNC_ERR_TABLE, "field %s is given twice", field);
	struct unc_tbl_set *set = unc_add_set(r);
	set->field = at;
	set->value = value;
	range->n++;
	return 0;
}

/* `fields NAME`: adds those that are not there yet. False if there is no such name. */
static bool add_bundle(struct unc_table_reader *r, const char *name, struct unc_range *range)
{
	const struct unc_tbl_type *type = unc_current_type(r);

	for (uint32_t i = 0; i < type->bundles.n; i++) {
		struct unc_tbl_bundle bundle = r->t.bundle[type->bundles.first + i];

		if (!unc_same(unc_tbl_str(&r->t, bundle.name), name))
			continue;
		for (uint32_t k = 0; k < bundle.sets.n; k++) {
			uint16_t field = r->t.set[bundle.sets.first + k].field;

			if (unc_sets_field(&r->t, range, field))
				continue;
			if (range->n == 0)
				range->first = (uint32_t)r->t.n_set;
			unc_add_set(r)->field = field;
			range->n++;
		}
		return true;
	}
	return false;
}

static int add_list(struct unc_table_reader *r, const char *what, const char *p, bool with_value,
		    struct unc_range *range, struct unc_error *err)
{
	while (p && *p) {
		const char *rest = p;
		char word[64];

		if (!unc_list_next(&p, word, sizeof(word)) || !word[0])
			return unc_fail(err, UNC_ERR_TABLE, "%s=%s is not a list", what, rest);
		char *value = strchr(word, ':');
		if ((value != NULL) != with_value)
			return unc_fail(err, UNC_ERR_TABLE, "%s=%s: want %s", what, word,
					with_value ? "FIELD:VALUE" : "FIELD");
		if (value)
			*value++ = '\0';
		if (value || !add_bundle(r, word, range)) {
			int rc = unc_add_setting(r, word, value, range, err);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* needs=a,b: a list of fields; default=a:1,b:2: a list of settings. */
int unc_take_fields(struct unc_table_reader *r, struct unc_line *line, const char *key,
		    bool with_value, struct unc_range *range, struct unc_error *err)
{
	const char *list = unc_take(line, key);

	return list ? add_list(r, key, list, with_value, range, err) : 0;
}

/* like=FIELD: takes the value of that one. */
int unc_take_like(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_field *f,
		  struct unc_error *err)
{
	const char *name = unc_take(line, "like");

	if (!name)
		return 0;
	f->like = unc_find_field(&r->t, unc_current_type(r), name);
	if (f->like == UNC_NONE || f->reg[0] == UNC_NONE ||
	    unc_field_max(&r->t.field[f->like]) != unc_field_max(f))
		return unc_bad(err, "like", name, "a field above, as wide as this one of a filter");
	return 0;
}

/* ---- control and steps */

static int take_field(struct unc_table_reader *r, struct unc_line *line, const char *key,
		      bool needed, uint16_t *field, struct unc_error *err)
{
	const char *name = unc_take(line, key);

	*field = UNC_NONE;
	if (!name)
		return needed ? unc_fail(err, UNC_ERR_TABLE, "%s= is missing", key) : 0;
	*field = unc_find_field(&r->t, unc_current_type(r), name);
	return *field == UNC_NONE ? unc_bad(err, key, name, "a field above") : 0;
}

int unc_read_control(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	int rc;

	if (type->first_ctl == UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE,
				"control must come after the control registers");
	if (type->f_event != UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "control is given twice");
	if ((rc = unc_take_number(line, "enable", true, UINT64_MAX, &type->enable, err)) < 0 ||
	    (rc = unc_take_number(line, "active", true, UINT64_MAX, &type->active, err)) < 0 ||
	    (rc = unc_take_number(line, "exclusive", false, UINT64_MAX, &type->exclusive, err)) <
		    0 ||
	    (rc = take_field(r, line, "code", true, &type->f_event, err)) < 0 ||
	    (rc = take_field(r, line, "umask", false, &type->f_umask, err)) < 0)
		return rc;
	if (r->t.reg[type->first_ctl].width == 32 && (type->enable | type->active) > UINT32_MAX)
		return unc_fail(err, UNC_ERR_TABLE,
				"enable= and active= must fit the 32 bits of CTL");
	if (type->active == 0)
		return unc_fail(err, UNC_ERR_TABLE, "active= must name bits");
	return 0;
}

int unc_read_steps(struct unc_table_reader *r, struct unc_line *line, struct unc_range *range,
		   struct unc_error *err)
{
	static const char *const names[] = {"", "filters", "controls", "preload", "restore"};
	enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

	if (range->n)
		return unc_fail(err, UNC_ERR_TABLE, "these steps are given twice");
	range->first = (uint32_t)r->t.n_step;
	for (size_t i = 1; i < line->n; i++) {
		struct unc_word *w = &line->word[i];
		struct unc_tbl_step step = {.kind = UNC_STEP_WRITE, .reg = UNC_NONE};

		w->used = true;
		if (w->key) {
			step.reg = unc_find_reg(&r->t, unc_current_type(r), w->key);
			if (step.reg == UNC_NONE)
				return unc_bad(err, "register", w->key, "a register above");
			if (step.reg == unc_current_type(r)->unit_ctl &&
			    !(r->t.reg[step.reg].flags & UNC_REG_WO) &&
			    strcmp(w->value, "found") == 0)
				step.kind = UNC_STEP_FOUND;
			else if (!unc_parse_number(w->value, &step.value) ||
				 (step.value & ~r->t.reg[step.reg].write_mask))
				return unc_bad(err, "value", w->value,
					       "within the register's mask");
		} else {
			for (step.kind = 1; step.kind < N_NAMES; step.kind++)
				if (strcmp(w->value, names[step.kind]) == 0)
					break;
			if (step.kind == N_NAMES)
				return unc_bad(err, "step", w->value,
					       "REG=VALUE, filters, controls, preload or restore");
		}
		*unc_add_step(r) = step;
		range->n++;
	}
	return 0;
}

/* ---- what goes together */

/* The bits that FIELD:VALUE sets in the control register `reg` (UNC_NONE: CTL). */
int unc_take_bits(struct unc_table_reader *r, struct unc_line *line, uint16_t reg, uint64_t *bits,
		  struct unc_error *err)
{
	struct unc_range sets = {0};
	int rc = unc_take_fields(r, line, "set", true, &sets, err);

	*bits = 0;
	for (uint32_t i = 0; rc == 0 && i < sets.n; i++) {
		const struct unc_tbl_set *s = &r->t.set[sets.first + i];
		const struct unc_tbl_field *f = &r->t.field[s->field];

		if (f->reg[0] != reg || f->width[1])
			return unc_fail(err, UNC_ERR_TABLE, "set=: field %s is in another register",
					unc_tbl_str(&r->t, f->name));
		*bits |= s->value << f->lo[0];
	}
	return rc;
}

int unc_read_lane(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	const char *name = unc_take_plain(line), *counters = unc_take(line, "counters");
	struct unc_tbl_lane lane = {0};
	struct unc_range same = {0};
	uint64_t lead = 0, bits;
	int rc;

	if (!name || !counters || !unc_parse_mask(counters, &bits) ||
	    (bits & ~(uint64_t)unc_type_counters(type)))
		return unc_bad(err, "counters", counters, "a list of counters of the type");
	if ((rc = unc_take_number(line, "lead", true, 31, &lead, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "same", false, &same, err)) < 0)
		return rc;
	if (!(bits >> lead & 1))
		return unc_fail(err, UNC_ERR_TABLE, "lead= must be one of counters=");
	for (uint32_t i = 0; i < same.n; i++) {
		uint64_t own =
			unc_field_bits(&r->t.field[r->t.set[same.first + i].field], UNC_NONE);

		if (!own)
			return unc_fail(err, UNC_ERR_TABLE, "same= names a field outside of CTL");
		lane.same |= own;
	}
	if (type->lanes.n == UNC_MAX_LANES)
		return unc_fail(err, UNC_ERR_TABLE, "a type has at most %d lanes", UNC_MAX_LANES);
	lane.name = unc_add_string(r, name);
	lane.counters = (uint32_t)bits;
	lane.lead = (uint8_t)lead;
	if (type->lanes.n == 0)
		type->lanes.first = (uint32_t)r->t.n_lane;
	*unc_add_lane(r) = lane;
	type->lanes.n++;
	return 0;
}

/* FIELD:VALUE, FIELD:given or FIELD:none of a forbid. */
static int add_condition(struct unc_table_reader *r, char *word, struct unc_range *range,
			 struct unc_error *err)
{
	char *value = strchr(word, ':');

	if (!value)
		return unc_fail(err, UNC_ERR_TABLE, "forbid=%s: want FIELD:VALUE", word);
	*value++ = '\0';
	uint16_t given = strcmp(value, "given") == 0  ? UNC_GIVEN_USER
			 : strcmp(value, "none") == 0 ? UNC_GIVEN_NONE
						      : UNC_GIVEN_VALUE;
	int rc = unc_add_setting(r, word, given ? NULL : value, range, err);
	if (rc == 0)
		UNC_ROW(r, set, r->t.n_set - 1)->given = given;
	return rc;
}

int unc_read_forbid(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	const char *list = unc_take_plain(line), *why = unc_take_quoted(line);
	struct unc_tbl_forbid forbid = {0};
	char word[64];
	int rc = 0;

	if (!list || !why)
		return unc_fail(err, UNC_ERR_TABLE, "forbid needs FIELD:VALUE,.. and the reason");
	for (const char *p = list; rc == 0 && p && *p;)
		rc = unc_list_next(&p, word, sizeof(word)) && word[0]
			     ? add_condition(r, word, &forbid.sets, err)
			     : unc_bad(err, "forbid", list, "a list");
	forbid.why = unc_add_string(r, why);
	if (type->forbids.n == 0)
		type->forbids.first = (uint32_t)r->t.n_forbid;
	*unc_add_forbid(r) = forbid;
	type->forbids.n++;
	return rc;
}

/* "FIELD,.. OTHER": notes in each of the fields what OTHER is to it. */
static int read_relation(struct unc_table_reader *r, struct unc_line *line, const char *what,
			 uint16_t *(*slot)(struct unc_tbl_field *), struct unc_error *err)
{
	const struct unc_tbl_type *type = unc_current_type(r);
	const char *list = unc_take_plain(line), *name = unc_take_plain(line);
	uint16_t other = name ? unc_find_field(&r->t, type, name) : UNC_NONE;
	char word[64];

	if (other == UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "%s wants FIELD,.. and a field, all above",
				what);
	for (const char *p = list; p && *p;) {
		uint16_t at = unc_list_next(&p, word, sizeof(word))
				      ? unc_find_field(&r->t, type, word)
				      : UNC_NONE;

		if (at == UNC_NONE || at == other)
			return unc_bad(err, what, list, "a list of other fields above");
		uint16_t *to = slot(UNC_ROW(r, field, at));
		if (*to != UNC_NONE)
			return unc_fail(err, UNC_ERR_TABLE, "%s of %s is given twice", what, word);
		*to = other;
	}
	return 0;
}

static uint16_t *needs_of(struct unc_tbl_field *f)
{
	return &f->needs;
}

static uint16_t *mask_of(struct unc_tbl_field *f)
{
	return &f->mask;
}

/* needs FIELD,.. OTHER: where one of the fields is not 0, OTHER must not be 0 either. */
int unc_read_needs(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	return read_relation(r, line, "needs", needs_of, err);
}

/* mask FIELD,.. OTHER: of a field, the bits that are set in OTHER are compared. */
int unc_read_mask(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	return read_relation(r, line, "mask", mask_of, err);
}

int unc_read_bundle(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	const char *name = unc_take_plain(line), *list = unc_take_plain(line);
	struct unc_tbl_bundle bundle = {0};

	if (!name || !list)
		return unc_fail(err, UNC_ERR_TABLE, "fields needs a name and FIELD,..");
	if (unc_find_field(&r->t, type, name) != UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "%s is a field already", name);
	for (uint32_t i = 0; i < type->bundles.n; i++)
		if (unc_same(unc_tbl_str(&r->t, r->t.bundle[type->bundles.first + i].name), name))
			return unc_fail(err, UNC_ERR_TABLE, "fields %s is given twice", name);
	int rc = add_list(r, "fields", list, false, &bundle.sets, err);
	bundle.name = unc_add_string(r, name);
	if (type->bundles.n == 0)
		type->bundles.first = (uint32_t)r->t.n_bundle;
	*unc_add_bundle(r) = bundle;
	type->bundles.n++;
	return rc;
}

/* ---- overflow */

static int take_reg(struct unc_table_reader *r, struct unc_line *line, const char *key,
		    uint16_t *reg, struct unc_error *err)
{
	const char *name = unc_take(line, key);

	if (!name)
		return 0;
	*reg = unc_find_reg(&r->t, unc_current_type(r), name);
	return *reg == UNC_NONE ? unc_bad(err, key, name, "a register above") : 0;
}

int unc_read_overflow(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_overflow o = {.clear = UNC_NONE, .global = -1, .known = 1};
	const char *freezes = unc_take(line, "freezes");
	uint64_t bit = 0, global = UINT64_MAX, units = 0, per = 0;
	int rc;

	if (type->overflow.known)
		return unc_fail(err, UNC_ERR_TABLE, "overflow is given twice");
	o.status = type->status;
	if ((rc = unc_take_bits(r, line, UNC_NONE, &o.set, err)) < 0 ||
	    (rc = take_reg(r, line, "status", &o.status, err)) < 0 ||
	    (rc = take_reg(r, line, "clear", &o.clear, err)) < 0 ||
	    (rc = unc_take_number(line, "bit", false, 63, &bit, err)) < 0 ||
	    (rc = unc_take_number(line, "global", false, 127, &global, err)) < 0 ||
	    (rc = unc_take_number(line, "units", false, 64, &units, err)) < 0 ||
	    (rc = unc_take_number(line, "per", false, 64, &per, err)) < 0)
		return rc;
	if (global == UINT64_MAX && (units || per))
		return unc_fail(err, UNC_ERR_TABLE, "units= and per= go with global=");
	o.freezes = !freezes                       ? UNC_FREEZES_NOTHING
		    : strcmp(freezes, "unit") == 0 ? UNC_FREEZES_UNIT
						   : UNC_FREEZES_SOCKET;
	if (o.freezes == UNC_FREEZES_SOCKET && strcmp(freezes, "socket") != 0)
		return unc_bad(err, "freezes", freezes, "unit or socket");
	if ((o.set != 0) != (o.freezes != UNC_FREEZES_NOTHING))
		return unc_fail(err, UNC_ERR_TABLE, "set= and freezes= belong together");
	if (o.clear == UNC_NONE)
		o.clear = o.status;
	o.bit = (uint8_t)bit;
	o.units = (uint8_t)units;
	o.per = (uint8_t)per;
	if (global != UINT64_MAX)
		o.global = (int16_t)global;
	type->overflow = o;
	return 0;
}

int unc_read_global(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_type *type = unc_current_type(r);
	const char *status = unc_take(line, "status"), *unfreeze = unc_take(line, "unfreeze");
	char word[64];

	if (!status || !*status || type->n_global)
		return unc_fail(err, UNC_ERR_TABLE, "global needs status=, once");
	for (const char *p = status; p && *p;) {
		if (type->n_global == 2 || !unc_list_next(&p, word, sizeof(word)))
			return unc_bad(err, "status", status, "one or two registers");
		uint16_t reg = unc_find_reg(&r->t, type, word);
		if (reg == UNC_NONE)
			return unc_bad(err, "status", word, "a register above");
		type->global_status[type->n_global++] = reg;
	}
	if (!unfreeze)
		return 0;
	size_t length = strcspn(unfreeze, ":");
	if (length >= sizeof(word) || !unfreeze[length] ||
	    !unc_parse_number(unfreeze + length + 1, &type->unfreeze_value))
		return unc_bad(err, "unfreeze", unfreeze, "REGISTER:VALUE");
	memcpy(word, unfreeze, length);
	word[length] = '\0';
	type->unfreeze = unc_find_reg(&r->t, type, word);
	type->has_unfreeze = type->unfreeze != UNC_NONE;
	if (!type->has_unfreeze || (type->unfreeze_value & ~r->t.reg[type->unfreeze].write_mask))
		return unc_bad(err, "unfreeze", unfreeze, "a register above and bits of its mask");
	return 0;
}
