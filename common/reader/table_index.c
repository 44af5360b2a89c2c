/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: what is found by its name, and what matters to each event, when all are known. */
#include "reader/table_build.h"

#include <string.h>

static void add_slot(struct unc_table_reader *r, uint32_t first, const char *name, size_t row)
{
	size_t at = unc_slot_of(&r->t, first, name, strlen(name));

	while (r->t.slot[at].row)
		at = (at + 1) % r->t.n_slot;
	UNC_ROW(r, t, slot, at)->row = (uint16_t)(row + 1);
}

static void index_umask(struct unc_table_reader *r, uint32_t first, size_t row)
{
	const struct unc_tbl_umask *u = &r->t.umask[row];
	const char *alias = u->alias ? unc_tbl_str(&r->t, u->alias) : NULL;
	char word[UNC_SPEC_MAX];

	add_slot(r, first, unc_tbl_str(&r->t, u->name), row);
	while (alias && unc_list_next(&alias, word, sizeof(word)))
		add_slot(r, first, word, row);
}

/* Of names that are the same, the first. */
static void index_name(struct unc_table_reader *r, const struct unc_range *names, size_t row)
{
	struct unc_tbl_event_name *all = UNC_ROW(r, t, event_name, 0);
	const char *name = unc_tbl_str(&r->t, all[row].name);
	size_t first = row;

	while (first > names->first && unc_same(unc_tbl_str(&r->t, all[first - 1].name), name))
		first--;
	if (first == row)
		add_slot(r, names->first, name, row);
	all[first].more = (uint16_t)(row - first);
}

static void index_type(struct unc_table_reader *r, size_t type)
{
	const struct unc_tbl_type *t = &r->t.type[type];

	add_slot(r, 0, unc_type_name(&r->t, (unsigned)type), type);
	for (size_t i = t->fields.first; i < (size_t)t->fields.first + t->fields.n; i++)
		add_slot(r, t->fields.first, unc_field_name(&r->t, (unsigned)i), i);
	for (size_t i = t->names.first; i < (size_t)t->names.first + t->names.n; i++)
		index_name(r, &t->names, i);
	for (size_t e = t->events.first; e < (size_t)t->events.first + t->events.n; e++) {
		const struct unc_range *umasks = &r->t.event[e].umasks;

		for (uint32_t i = 0; i < umasks->n; i++)
			index_umask(r, umasks->first, umasks->first + i);
	}
}

static void list_field(struct unc_table_reader *r, struct unc_range *list, size_t field)
{
	unc_extend(list, r->t.n_set);
	UNC_ADD(r, t, set)->field = (uint16_t)field;
}

/* A register that qualifies every event which takes its fields has to be settled by each. */
static bool in_every(const struct unc_table *t, const struct unc_tbl_field *f)
{
	bool every = false;

	for (unsigned p = 0; p < 2 && f->width[p]; p++)
		every |= f->reg[p] != UNC_NONE && (t->reg[f->reg[p]].flags & UNC_REG_EVERY);
	return every;
}

/* The fields with which an event has to do without being given them. */
static void list_settled(struct unc_table_reader *r, struct unc_tbl_type *type)
{
	for (size_t i = type->fields.first; i < (size_t)type->fields.first + type->fields.n; i++) {
		const struct unc_tbl_field *f = &r->t.field[i];

		if ((f->flags & UNC_FIELD_DEFAULT) || f->like != UNC_NONE || in_every(&r->t, f))
			list_field(r, &type->settled, i);
	}
}

static void list_checked(struct unc_table_reader *r, struct unc_tbl_type *type)
{
	for (size_t i = type->fields.first; i < (size_t)type->fields.first + type->fields.n; i++) {
		const struct unc_tbl_field *f = &r->t.field[i];
		bool in_ctl = f->reg[0] == UNC_NONE && (!f->width[1] || f->reg[1] == UNC_NONE);

		if (f->needs == UNC_NONE && f->mask == UNC_NONE && !f->max_inc &&
		    f->role != UNC_IS_INVERT && f->role != UNC_IS_THRESHOLD)
			continue;
		list_field(r, &type->checked, i);
		type->checked_bits |= in_ctl ? unc_field_bits(f, UNC_NONE) : UINT64_MAX;
	}
}

int unc_index(struct unc_table_reader *r)
{
	size_t names = r->t.n_type + r->t.n_event_name + r->t.n_umask;

	for (size_t i = 0; i < r->t.n_type; i++) /* a view has those of another type */
		names += r->t.type[i].fields.n;
	for (size_t i = 0; i < r->t.n_umask; i++)
		for (const char *c = unc_tbl_str(&r->t, r->t.umask[i].alias); *c; c++)
			names += c[1] == ',' || !c[1];
	for (size_t i = 0; i <= names + names / 3; i++)
		UNC_ADD(r, t, slot);
	for (size_t i = 0; i < r->t.n_type && !r->out_of_memory; i++) {
		index_type(r, i);
		list_settled(r, UNC_ROW(r, t, type, i));
		list_checked(r, UNC_ROW(r, t, type, i));
	}
	return r->out_of_memory ? unc_no_memory(r->err) : 0;
}
