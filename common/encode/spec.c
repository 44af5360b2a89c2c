/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: umasks and fields of the tables and of a parsed event. */
#include "encode/event.h"

#include <string.h>

#include "tables/table.h"

unsigned unc_type_instances(const struct unc_table *t, unsigned type)
{
	return unc_type_part(t, type, 0)->where.n;
}

bool unc_umask_find(const struct unc_table *t, const struct unc_tbl_event *e, const char *name,
		    uint16_t *umask)
{
	*umask = UNC_FIND_NAMED(t, umask, e->umasks, name, strlen(name));
	return *umask != UNC_NONE;
}

bool unc_spec_has_umask(const struct unc_spec *spec, uint32_t umask)
{
	for (unsigned i = 0; i < spec->n_umasks; i++)
		if (spec->umask[i] == umask)
			return true;
	return false;
}

bool unc_user_gave(const struct unc_spec *spec, uint16_t field)
{
	for (unsigned i = 0; i < spec->n_fields; i++)
		if (spec->field[i].field == field)
			return true;
	return false;
}

void unc_spec_add_umask(struct unc_spec *spec, uint16_t umask)
{
	unsigned at = spec->n_umasks++;

	for (; at > 0 && spec->umask[at - 1] > umask; at--)
		spec->umask[at] = spec->umask[at - 1];
	spec->umask[at] = umask;
}

bool unc_event_takes(const struct unc_table *t, unsigned event, uint16_t field)
{
	const struct unc_tbl_event *e = &t->event[event];
	bool takes = (e->counter == UNC_NONE && (t->field[field].flags & UNC_FIELD_USER)) ||
		     unc_takes_field(t, &e->fields, field);

	for (const struct unc_tbl_umask *u = NULL;
	     !takes && (u = UNC_NEXT(t, umask, e->umasks, u));)
		takes = unc_takes_field(t, unc_umask_fields(t, u), field);
	return takes;
}

uint16_t unc_event_field(const struct unc_table *t, unsigned event, size_t i, bool *needed)
{
	const struct unc_range *fields = &t->type[t->event[event].type].fields;

	for (uint32_t k = fields->first; k < fields->first + fields->n; k++)
		if (unc_event_takes(t, event, (uint16_t)k) && i-- == 0) {
			*needed = unc_find_set(t, &t->event[event].fields.needs, (uint16_t)k);
			return (uint16_t)k;
		}
	return UNC_NONE;
}

const struct unc_code_filter *unc_filter_of(const struct unc_code_filter *filters, size_t n,
					    uint16_t reg)
{
	for (size_t i = 0; i < n; i++)
		if (filters[i].reg == reg)
			return &filters[i];
	return NULL;
}

/* The bits of a field that one of its pieces has in the register's value. */
static uint64_t piece(const struct unc_tbl_field *f, unsigned p, uint64_t reg)
{
	return (reg >> f->lo[p] & unc_ones(f->width[p])) << unc_field_from(f, p) << f->shift;
}

uint64_t unc_field_value(const struct unc_tbl_field *f, uint64_t ctl,
			 const struct unc_code_filter *filters, size_t n, bool *known)
{
	uint64_t value = 0;
	bool all = true;

	for (unsigned p = 0; p < UNC_PIECES && f->width[p]; p++) {
		bool in_ctl = f->reg[p] == UNC_NONE;
		const struct unc_code_filter *filter =
			in_ctl ? NULL : unc_filter_of(filters, n, f->reg[p]);

		all &= in_ctl || filter;
		value |= piece(f, p, in_ctl ? ctl : filter ? filter->value : 0);
	}
	if (known)
		*known = all;
	return value;
}

uint64_t unc_field_planned(const struct unc_table *t, const struct unc_code *code, uint16_t field)
{
	const struct unc_tbl_field *f = &t->field[field];
	uint64_t value = 0;

	for (unsigned p = 0; p < UNC_PIECES && f->width[p]; p++) {
		const struct unc_code_filter *filter =
			unc_filter_of(code->filter, code->n_filters, f->reg[p]);
		uint64_t rest = f->reg[p] == UNC_NONE ? code->ctl : t->reg[f->reg[p]].base;

		value |= piece(f, p, filter ? filter->value | (rest & ~filter->mask) : rest);
	}
	return value;
}

bool unc_event_needs(const struct unc_table *t, unsigned event, uint16_t umask, uint16_t field)
{
	const struct unc_tbl_event *e = &t->event[event];

	for (uint32_t i = 0; umask == UNC_NONE && i < e->umasks.n; i++)
		if (t->umask[e->umasks.first + i].flags & UNC_UMASK_DEFAULT)
			umask = (uint16_t)(e->umasks.first + i);
	return unc_find_set(t, &e->fields.needs, field) ||
	       (umask != UNC_NONE &&
		unc_find_set(t, &unc_umask_fields(t, &t->umask[umask])->needs, field));
}
