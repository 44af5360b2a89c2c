/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: where units are (topology, bar, access, where, part). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/table_build.h"

int unc_end_topology(struct unc_table_reader *r)
{
	r->t.topology = r->w.topology;
	return 0;
}

int unc_end_bar(struct unc_table_reader *r)
{
	*unc_add_bar(r) = r->w.bar;
	return 0;
}

/* ---- places */

static int where_msr(struct unc_table_reader *r)
{
	const struct unc_words_where *w = &r->w.where;
	uint64_t base;
	char word[24];
	int rc;

	if (!w->bases && ((rc = unc_need(r, "base")) < 0 || (rc = unc_need(r, "count")) < 0 ||
			  (w->count > 1 && (rc = unc_need(r, "step")) < 0)))
		return rc;
	if (!w->bases && w->count > 1 && w->step == 0)
		return unc_bad(r, "step=0 puts all units at the same place");
	for (const char *p = w->bases; p;) {
		if (!unc_list_next(&p, word, sizeof(word)) || !unc_parse_number(word, &base))
			return unc_bad(r, "bases=%s is not a list of numbers", w->bases);
		unc_add_where(r)->base = base;
	}
	for (unsigned i = 0; !w->bases && i < w->count; i++)
		unc_add_where(r)->base = w->base + i * w->step;
	return 0;
}

static int where_pci(struct unc_table_reader *r)
{
	const struct unc_words_where *w = &r->w.where;
	const char *ids = w->ids;
	uint64_t id = 0, devfn;
	char word[16];

	for (const char *p = w->devices; p;) {
		if (!unc_list_next(&p, word, sizeof(word)) || !unc_parse_devfn(word, &devfn))
			return unc_bad(r, "device=%s is not a list of DEVICE.FUNCTION", w->devices);
		if (ids && (!unc_list_next(&ids, word, sizeof(word)) ||
			    !unc_parse_number(word, &id) || id > 0xffff))
			return unc_bad(r, "id=%s is not a list of device ids", w->ids);
		/* One id serves all, else there is one for each. */
		if ((p != NULL) != (ids != NULL) && strchr(w->ids, ','))
			return unc_bad(r, "id=%s is not as long as the list of devices", w->ids);
		*unc_add_where(r) = (struct unc_tbl_where){
			.base = w->base, .devfn = (uint8_t)devfn, .device_id = (uint16_t)id};
	}
	return 0;
}

static int where_mmio(struct unc_table_reader *r)
{
	const struct unc_words_where *w = &r->w.where;
	const struct unc_tbl_bar *bar = &r->t.bar[w->bar];
	int rc;

	if ((rc = unc_need(r, "base")) < 0 || (rc = unc_need(r, "count")) < 0 ||
	    (w->per > 1 && (rc = unc_need(r, "step")) < 0))
		return rc;
	if ((w->count + w->per - 1) / w->per > bar->count)
		return unc_bad(r, "count= needs more elements than bar %s has",
			       unc_tbl_str(&r->t, bar->name));
	for (unsigned i = 0; i < w->count; i++)
		*unc_add_where(r) = (struct unc_tbl_where){.base = w->base + i % w->per * w->step,
							   .bar = w->bar,
							   .bar_index = (uint8_t)(i / w->per)};
	return 0;
}

/* One unit for each logical CPU. */
static int where_cpus(struct unc_table_reader *r)
{
	const struct unc_words_where *w = &r->w.where;
	unc_current_type(r)->cpus = 1;
	for (unsigned i = 0; i < w->cpus; i++)
		unc_add_where(r)->base = w->base << 32;
	return 0;
}

/* present=ID offsets=A,B: the bits set in these registers; present=ID-ID: the functions of these
 * ids. Either tells how many units there are. */
static int read_present(struct unc_table_reader *r)
{
	const struct unc_words_where *w = &r->w.where;
	struct unc_tbl_type *type = unc_current_type(r);
	int first = 0, last = 0, end = 0;
	unsigned a, b;

	if (!w->present)
		return w->present_devfn ? unc_bad(r, "present_at= goes with present=") : 0;
	int n = sscanf(w->present, "%i%n-%i%n", &first, &end, &last, &end);
	if (n < 1 || w->present[end] || first <= 0 || first > 0xffff ||
	    (n == 2 && (last < first || last > 0xffff)))
		return unc_bad(r, "present=%s is not a device id, or two as in 0x0ee0-0x0eee",
			       w->present);
	type->present_id = (uint16_t)first;
	type->present_last = (uint16_t)last;
	type->present_devfn = w->present_devfn;
	if ((n == 2) != (w->offsets == NULL))
		return unc_bad(r, "present= of one id and offsets= go together");
	if (n == 2)
		return w->present_devfn ? 0 : unc_need(r, "present_at");
	if (sscanf(w->offsets, "%x,%x", &a, &b) != 2 || a > 0xffc || b > 0xffc)
		return unc_bad(r, "offsets=%s is not two configuration offsets", w->offsets);
	type->present_offset[0] = (uint16_t)a;
	type->present_offset[1] = (uint16_t)b;
	return w->present_devfn ? 0 : unc_need(r, "present_at");
}

static int add_places(struct unc_table_reader *r, uint32_t part)
{
	size_t first = r->t.n_where;
	int rc = read_present(r);

	if (rc < 0)
		return rc;
	switch (r->t.part[part].space) {
	case UNC_SPACE_MSR:
		rc = where_msr(r);
		break;
	case UNC_SPACE_PCI:
		rc = where_pci(r);
		break;
	case UNC_SPACE_MMIO:
		rc = where_mmio(r);
		break;
	default:
		rc = where_cpus(r);
	}
	for (size_t i = first; i < r->t.n_where; i++)
		UNC_ROW(r, where, i)->optional = r->w.where.optional;
	struct unc_range *where = &UNC_ROW(r, part, part)->where;
	where->n = (uint32_t)r->t.n_where - where->first;
	if (rc == 0 && where->n > UNC_MAX_PLACES)
		return unc_bad(r, "more than %d places", UNC_MAX_PLACES);
	return rc;
}

int unc_end_access(struct unc_table_reader *r)
{
	r->space = r->w.where.space;
	UNC_ROW(r, part, unc_current_type(r)->parts.first)->space = r->space;
	return 0;
}

int unc_end_where(struct unc_table_reader *r)
{
	const struct unc_range *parts = &unc_current_type(r)->parts;

	if (parts->n != 1 || r->space == UNC_N_SPACES)
		return unc_bad(r, "where must come after access and before part");
	return add_places(r, parts->first);
}

int unc_end_part(struct unc_table_reader *r)
{
	uint32_t at = (uint32_t)r->t.n_part;
	int rc;

	if (unc_current_type(r)->parts.n == 3)
		return unc_bad(r, "a unit has at most three parts");
	r->space = r->w.where.space;
	*unc_add_part(r) = (struct unc_tbl_part){
		.name = r->w.where.name, .space = r->space, .where.first = (uint32_t)r->t.n_where};
	unc_current_type(r)->parts.n++;
	rc = unc_read_where(r);
	return rc < 0 ? rc : add_places(r, at);
}
