/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: how counters are controlled, in units.tbl: control, steps, lanes. */
#include "reader/table_build.h"

#include <string.h>

/* ---- settings of fields */

int unc_add_setting(struct unc_table_reader *r, const char *field, const char *text,
		    struct unc_range *range)
{
	uint16_t at = unc_find_field(&r->t, unc_current_type(r), field);
	uint64_t value = 0;

	if (at == UNC_NONE)
		return unc_bad(r, "'%s' is neither a column nor a field of %s", field,
			       unc_tbl_str(&r->t, unc_current_type(r)->name));
	if (text && (!unc_parse_number(text, &value) || (value & ~unc_field_max(&r->t.field[at]))))
		return unc_bad(r, "'%s' does not fit field %s", text, field);
	if (unc_sets_field(&r->t, range, at))
		return unc_bad(r, "field %s is given twice", field);
	*UNC_APPEND(r, range, set) = (struct unc_tbl_set){.field = at, .value = value};
	return 0;
}

static bool same_sets(const struct unc_tbl_set *a, const struct unc_tbl_set *b, unsigned n)
{
	while (n && a->field == b->field && a->given == b->given && a->value == b->value)
		a++, b++, n--;
	return n == 0;
}

void unc_share_sets(struct unc_table_reader *r, struct unc_range *range)
{
	unsigned last = range->first + range->n == r->t.n_set ? range->first : 0u;

	for (unsigned at = 0; range->n && at + range->n <= last; at++)
		if (same_sets(&r->t.set[at], &r->t.set[range->first], range->n)) {
			range->first = (uint16_t)at;
			r->t.n_set -= range->n;
			return;
		}
}

/* `fields NAME`: adds those that are not there yet. False if there is no such name. */
static bool add_bundle(struct unc_table_reader *r, const char *name, struct unc_range *range)
{
	uint16_t at = UNC_FIND(&r->t, bundle, unc_current_type(r)->bundles, name);

	for (uint32_t k = 0; at != UNC_NONE && k < r->t.bundle[at].sets.n; k++) {
		uint16_t field = r->t.set[r->t.bundle[at].sets.first + k].field;

		if (unc_sets_field(&r->t, range, field))
			continue;
		UNC_APPEND(r, range, set)->field = field;
	}
	return at != UNC_NONE;
}

int unc_add_list(struct unc_table_reader *r, const char *what, const char *p, bool with_value,
		 struct unc_range *range)
{
	while (p && *p) {
		const char *rest = p;
		char word[64];

		if (!unc_list_next(&p, word, sizeof(word)) || !word[0])
			return unc_bad(r, "%s=%s is not a list", what, rest);
		char *value = strchr(word, ':');
		if ((value != NULL) != with_value)
			return unc_bad(r, "%s=%s: want %s", what, word,
				       with_value ? "FIELD:VALUE" : "FIELD");
		if (value)
			*value++ = '\0';
		if (value || !add_bundle(r, word, range)) {
			int rc = unc_add_setting(r, word, value, range);

			if (rc < 0)
				return rc;
		}
	}
	unc_share_sets(r, range);
	return 0;
}

/* ---- control and steps */

int unc_end_control(struct unc_table_reader *r)
{
	const struct unc_tbl_type *type = &r->w.type;

	if (type->first_ctl == UNC_NONE)
		return unc_bad(r, "control must come after the control registers");
	if (r->t.reg[type->first_ctl].width == 32 && (type->enable | type->active) > UINT32_MAX)
		return unc_bad(r, "enable= and active= must fit the 32 bits of CTL");
	return 0;
}

/* REG=VALUE, or REG=found of unit control. */
static int read_write(struct unc_table_reader *r, const struct unc_word *w,
		      struct unc_tbl_step *step)
{
	step->reg = unc_find_reg(&r->t, unc_current_type(r), w->key);
	if (step->reg == UNC_NONE)
		return unc_bad(r, "'%s' is not a register above", w->key);
	if (step->reg == unc_current_type(r)->unit_ctl &&
	    !(r->t.reg[step->reg].flags & UNC_REG_WO) && strcmp(w->value, "found") == 0)
		step->kind = UNC_STEP_FOUND;
	else if (!unc_parse_number(w->value, &step->value) ||
		 (step->value & ~r->t.reg[step->reg].write_mask))
		return unc_bad(r, "%s=%s is not within the register's mask", w->key, w->value);
	return 0;
}

int unc_read_steps(struct unc_table_reader *r, struct unc_range *range)
{
	static const char names[][10] = {"", "filters", "controls", "preload", "restore"};
	enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

	for (struct unc_word *w = r->line->word + 1; w < r->line->word + r->line->n; w++) {
		struct unc_tbl_step step = {.kind = UNC_STEP_WRITE, .reg = UNC_NONE};
		int rc;

		if (w->used) /* cpu= */
			continue;
		w->used = true;
		if (w->key && (rc = read_write(r, w, &step)) < 0)
			return rc;
		while (!w->key && step.kind < N_NAMES && strcmp(w->value, names[step.kind]) != 0)
			step.kind++;
		if (step.kind == N_NAMES && !w->key)
			return unc_bad(r,
				       "'%s' is not REG=VALUE, filters, controls, preload or "
				       "restore",
				       w->value);
		*UNC_APPEND(r, range, step) = step;
	}
	return 0;
}

/* ---- what goes together */

int unc_bits_of(struct unc_table_reader *r, const struct unc_range *sets, uint16_t reg,
		uint64_t *bits)
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(&r->t, set, *sets, s));) {
		const struct unc_tbl_field *f = &r->t.field[s->field];

		if (f->reg[0] != reg || f->width[1])
			return unc_bad(r, "field %s is in another register",
				       unc_tbl_str(&r->t, f->name));
	}
	*bits |= unc_sets_bits(&r->t, sets, reg);
	return 0;
}

int unc_end_lane(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_lane *lane = &r->w.lane;

	if (!(lane->counters >> lane->lead & 1))
		return unc_bad(r, "lead= must be one of counters=");
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(&r->t, set, r->w.sets, s));) {
		uint64_t own = unc_field_bits(&r->t.field[s->field], UNC_NONE);

		if (!own)
			return unc_bad(r, "same= names a field outside of CTL");
		lane->same |= own;
	}
	if (type->lanes.n == UNC_MAX_LANES)
		return unc_bad(r, "a type has at most %d lanes", UNC_MAX_LANES);
	*UNC_APPEND(r, &type->lanes, lane) = *lane;
	return 0;
}

/* FIELD:VALUE, FIELD:given or FIELD:none of a forbid. */
static int add_condition(struct unc_table_reader *r, char *word, struct unc_range *range)
{
	char *value = strchr(word, ':');

	if (!value)
		return unc_bad(r, "forbid=%s: want FIELD:VALUE", word);
	*value++ = '\0';
	uint16_t given = strcmp(value, "given") == 0  ? UNC_GIVEN_USER
			 : strcmp(value, "none") == 0 ? UNC_GIVEN_NONE
						      : UNC_GIVEN_VALUE;
	int rc = unc_add_setting(r, word, given ? NULL : value, range);
	if (rc == 0)
		UNC_ROW(r, t, set, r->t.n_set - 1)->given = given;
	return rc;
}

int unc_end_forbid(struct unc_table_reader *r)
{
	struct unc_tbl_forbid *forbid = &r->w.forbid;
	const char *list = unc_given(r, "SETTINGS");
	char word[64];
	int rc = 0;

	for (const char *p = list; rc == 0 && p && *p;)
		rc = unc_list_next(&p, word, sizeof(word)) && word[0]
			     ? add_condition(r, word, &forbid->sets)
			     : unc_bad(r, "'%s' is not a list", list);
	*UNC_APPEND(r, &unc_current_type(r)->forbids, forbid) = *forbid;
	return rc;
}

/* "FIELD,.. OTHER": notes in each of the fields what OTHER is to it: it needs it, or has it as
 * mask. */
int unc_end_relation(struct unc_table_reader *r)
{
	bool mask = strcmp(r->statement, "mask") == 0;
	const char *list = unc_given(r, "FIELDS");
	char word[64];

	for (const char *p = list; p && *p;) {
		uint16_t at = unc_list_next(&p, word, sizeof(word))
				      ? unc_find_field(&r->t, unc_current_type(r), word)
				      : UNC_NONE;

		if (at == UNC_NONE || at == r->w.of)
			return unc_bad(r, "'%s' is not a list of other fields above", list);
		uint16_t *to =
			mask ? &UNC_ROW(r, t, field, at)->mask : &UNC_ROW(r, t, field, at)->needs;
		if (*to != UNC_NONE)
			return unc_bad(r, "%s of %s is given twice", mask ? "mask" : "needs", word);
		*to = r->w.of;
	}
	UNC_ROW(r, t, field, r->w.of)->flags |= mask ? UNC_FIELD_MASK : 0;
	return 0;
}

int unc_end_fields(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	const char *name = unc_given(r, "NAME");
	struct unc_tbl_bundle *bundle = &r->w.bundle;

	if (unc_find_field(&r->t, type, name) != UNC_NONE)
		return unc_bad(r, "%s is a field already", name);
	if (UNC_FIND(&r->t, bundle, type->bundles, name) != UNC_NONE)
		return unc_bad(r, "fields %s is given twice", name);
	int rc = unc_add_list(r, "fields", unc_given(r, "FIELDS"), false, &bundle->sets);
	*UNC_APPEND(r, &type->bundles, bundle) = *bundle;
	return rc;
}

/* ---- registers of the socket */

/* Each position is noted as 1 + its number. */
int unc_read_positions(struct unc_table_reader *r, const char *key, const char *list, unsigned max,
		       uint8_t *out, size_t size)
{
	unsigned first, last;
	size_t n = 0;

	for (const char *p = list; p; p = *p ? p + 1 : NULL) {
		if (!unc_range_next(&p, max + 1, &first, &last) || (*p && *p != ',') ||
		    n + last - first >= size)
			return unc_bad(r, "%s=%s is not a list of at most %zu numbers up to %u",
				       key, list, size, max);
		while (first <= last)
			out[n++] = (uint8_t)(1 + first++);
	}
	return 0;
}

int unc_end_global(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = &r->w.type;
	const char *unfreeze = unc_given(r, "unfreeze");
	int n = unc_read_regs(r, "status", type->global_status, 2);
	char word[64];

	if (n < 0)
		return n;
	type->n_global = (uint8_t)n;
	if (!unfreeze)
		return 0;
	if (!unc_read_pair(unfreeze, word, &type->unfreeze_value))
		return unc_bad(r, "unfreeze=%s is not REG:VALUE", unfreeze);
	type->unfreeze = unc_find_reg(&r->t, type, word);
	type->has_unfreeze = type->unfreeze != UNC_NONE;
	if (!type->has_unfreeze || (type->unfreeze_value & ~r->t.reg[type->unfreeze].write_mask))
		return unc_bad(r, "unfreeze=%s is not a register above and bits of its mask",
			       unfreeze);
	return 0;
}
