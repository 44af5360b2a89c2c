/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: what is found by its name, and fields of which each event has to know, when all
 * are known. */
#include "reader/table_build.h"

#include <string.h>

static void add_slot(struct unc_table_reader *r, uint32_t first, const char *name, size_t row)
{
	size_t at = unc_slot_of(&r->t, first, name, strlen(name));

	while (r->t.slot[at].row)
		at = (at + 1) % r->t.n_slot;
	UNC_ROW(r, t, slot, at)->row = (uint16_t)(row + 1);
}

/* By its name, and by each word of its alias. */
static void add_names(struct unc_table_reader *r, uint32_t first, unc_str name, unc_str alias,
		      size_t row)
{
	const char *words = alias ? unc_tbl_str(&r->t, alias) : NULL;
	char word[UNC_SPEC_MAX];

	add_slot(r, first, unc_tbl_str(&r->t, name), row);
	while (words && unc_list_next(&words, word, sizeof(word)))
		add_slot(r, first, word, row);
}

static void index_type(struct unc_table_reader *r, size_t type)
{
	const struct unc_tbl_type *t = &r->t.type[type];

	add_names(r, 0, t->name, 0, type);
	for (size_t i = t->fields.first; i < (size_t)t->fields.first + t->fields.n; i++)
		add_names(r, t->fields.first, r->t.field[i].name, 0, i);
	for (size_t i = t->events.first; i < (size_t)t->events.first + t->events.n; i++) {
		const struct unc_tbl_event *e = &r->t.event[i];

		add_names(r, t->events.first, e->name, e->alias, i);
		for (size_t k = e->umasks.first; k < (size_t)e->umasks.first + e->umasks.n; k++)
			add_names(r, e->umasks.first, r->t.umask[k].name, r->t.umask[k].alias, k);
	}
}

/* A register that qualifies every event which takes its fields has to be settled by each. */
static bool is_settled(const struct unc_table *t, const struct unc_tbl_field *f)
{
	bool every = false;

	for (unsigned p = 0; p < 2 && f->width[p]; p++)
		every |= f->reg[p] != UNC_NONE && (t->reg[f->reg[p]].flags & UNC_REG_EVERY);
	return every || (f->flags & UNC_FIELD_DEFAULT) || f->like != UNC_NONE;
}

static bool is_checked(const struct unc_table *t, const struct unc_tbl_field *f)
{
	(void)t;
	return f->needs != UNC_NONE || f->mask != UNC_NONE || f->max_inc ||
	       f->role == UNC_IS_INVERT || f->role == UNC_IS_THRESHOLD;
}

/* Of each field that belongs there a row; the bits that they have in CTL, all if one is elsewhere. */
static uint64_t list_fields(struct unc_table_reader *r, const struct unc_range *fields,
			    bool (*belongs)(const struct unc_table *, const struct unc_tbl_field *),
			    struct unc_range *list)
{
	uint64_t bits = 0;

	for (size_t i = fields->first; i < (size_t)fields->first + fields->n; i++) {
		const struct unc_tbl_field *f = &r->t.field[i];
		bool in_ctl = f->reg[0] == UNC_NONE && (!f->width[1] || f->reg[1] == UNC_NONE);

		if (!belongs(&r->t, f))
			continue;
		unc_extend(list, r->t.n_set);
		UNC_ADD(r, t, set)->field = (uint16_t)i;
		bits |= in_ctl ? unc_field_bits(f, UNC_NONE) : UINT64_MAX;
	}
	return bits;
}

static size_t words_of(const struct unc_table *t, unc_str list)
{
	size_t commas = 0;

	for (const char *c = unc_tbl_str(t, list); *c; c++)
		commas += *c == ',';
	return list ? commas + 1 : 0;
}

int unc_index(struct unc_table_reader *r)
{
	size_t names = r->t.n_type + r->t.n_event + r->t.n_umask;

	for (size_t i = 0; i < r->t.n_type; i++) /* a view has those of another type */
		names += r->t.type[i].fields.n;
	for (size_t i = 0; i < r->t.n_event; i++)
		names += words_of(&r->t, r->t.event[i].alias);
	for (size_t i = 0; i < r->t.n_umask; i++)
		names += words_of(&r->t, r->t.umask[i].alias);
	for (size_t i = 0; i <= names + names / 3; i++)
		UNC_ADD(r, t, slot);
	for (size_t i = 0; i < r->t.n_type && !r->out_of_memory; i++) {
		struct unc_tbl_type *type = UNC_ROW(r, t, type, i);

		index_type(r, i);
		list_fields(r, &type->fields, is_settled, &type->settled);
		type->checked_bits = list_fields(r, &type->fields, is_checked, &type->checked);
	}
	return r->out_of_memory ? unc_no_memory(r->err) : 0;
}
