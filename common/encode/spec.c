/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: which umasks and fields there are, and which a parsed one holds. */
#include "encode/event.h"

#include "base/text.h"
#include "tables/table.h"

unsigned unc_type_instances(const struct unc_table *t, unsigned type)
{
	return t->part[t->type[type].parts.first].where.n;
}

bool unc_umask_find(const struct unc_table *t, const struct unc_tbl_event *e, const char *name,
		    uint16_t *umask)
{
	for (uint32_t i = 0; i < e->umasks.n; i++) {
		const struct unc_tbl_umask *u = &t->umask[e->umasks.first + i];

		if (unc_same(unc_tbl_str(t, u->name), name) ||
		    (u->alias && unc_list_has(unc_tbl_str(t, u->alias), name))) {
			*umask = (uint16_t)(e->umasks.first + i);
			return true;
		}
	}
	return false;
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

	for (uint32_t i = 0; i < e->umasks.n && !takes; i++)
		takes = unc_takes_field(t, &t->umask[e->umasks.first + i].fields, field);
	return takes;
}

uint16_t unc_event_field(const struct unc_table *t, unsigned event, size_t i, bool *needed)
{
	const struct unc_range *fields = &t->type[t->event[event].type].fields;

	for (uint32_t k = fields->first; k < fields->first + fields->n; k++)
		if (unc_event_takes(t, event, (uint16_t)k) && i-- == 0) {
			*needed = unc_sets_field(t, &t->event[event].fields.needs, (uint16_t)k);
			return (uint16_t)k;
		}
	return UNC_NONE;
}

uint64_t unc_field_value(const struct unc_tbl_field *f, uint64_t ctl,
			 const struct unc_code_filter *filters, size_t n, bool *known)
{
	uint64_t value = 0;
	unsigned at = 0;
	bool all = true;

	for (unsigned p = 0; p < 2 && f->width[p]; p++) {
		uint64_t reg = ctl;
		size_t i = 0;

		while (i < n && filters[i].reg != f->reg[p])
			i++;
		if (f->reg[p] != UNC_NONE) {
			all &= i < n;
			reg = i < n ? filters[i].value : 0;
		}
		value |= (reg >> f->lo[p] & unc_ones(f->width[p])) << at;
		at += f->width[p];
	}
	if (known)
		*known = all;
	return value << f->shift;
}

uint64_t unc_field_planned(const struct unc_table *t, const struct unc_code *code, uint16_t field)
{
	const struct unc_tbl_field *f = &t->field[field];
	struct unc_code_filter reg[2] = {{.reg = f->reg[0]}, {.reg = f->reg[1]}};

	for (unsigned p = 0; p < 2; p++) {
		if (reg[p].reg == UNC_NONE)
			continue;
		reg[p].value = t->reg[reg[p].reg].base;
		for (unsigned i = 0; i < code->n_filters; i++)
			if (code->filter[i].reg == reg[p].reg)
				reg[p].value = code->filter[i].value |
					       (reg[p].value & ~code->filter[i].mask);
	}
	return unc_field_value(f, code->ctl, reg, 2, NULL);
}

bool unc_event_needs(const struct unc_table *t, unsigned event, uint16_t umask, uint16_t field)
{
	const struct unc_tbl_event *e = &t->event[event];

	for (uint32_t i = 0; umask == UNC_NONE && i < e->umasks.n; i++)
		if (t->umask[e->umasks.first + i].flags & UNC_UMASK_DEFAULT)
			umask = (uint16_t)(e->umasks.first + i);
	return unc_sets_field(t, &e->fields.needs, field) ||
	       (umask != UNC_NONE && unc_sets_field(t, &t->umask[umask].fields.needs, field));
}
