/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: where units are (topology, bar, access, where, present, part). */
#include <stdio.h>
#include <string.h>

#include "reader/table_build.h"

int unc_end_topology(struct unc_table_reader *r)
{
	r->t.topology = r->w.topology;
	return !unc_given(r, "map") == !unc_given(r, "nodeid")
		       ? 0
		       : unc_bad(r, "nodeid= and map= go together");
}

int unc_end_bar(struct unc_table_reader *r)
{
	*UNC_ADD(r, t, bar) = r->w.bar;
	return 0;
}

/* ---- places */

static int where_msr(struct unc_table_reader *r)
{
	const struct unc_words_place *w = &r->w.place;
	const char *bases = unc_given(r, "bases");
	uint64_t base[UNC_MAX_PLACES + 1];
	int n = unc_read_list(bases, unc_parse_number, UINT64_MAX, base, UNC_MAX_PLACES + 1), rc;

	if (!bases && ((rc = unc_need(r, "base")) < 0 || (rc = unc_need(r, "count")) < 0 ||
		       (w->count > 1 && (rc = unc_need(r, "step")) < 0)))
		return rc;
	if (!bases && w->count > 1 && w->step == 0)
		return unc_bad(r, "step=0 puts all units at the same place");
	if (n < 0)
		return unc_bad(r, "bases=%s is not a list of numbers", bases);
	for (int i = 0; i < (bases ? n : w->count); i++)
		UNC_ADD(r, t, where)->base = bases ? base[i] : w->base + (unsigned)i * w->step;
	return 0;
}

static int where_pci(struct unc_table_reader *r)
{
	const char *devices = unc_given(r, "device"), *ids = unc_given(r, "id");
	uint64_t devfn[UNC_MAX_PLACES + 1], id[UNC_MAX_PLACES + 1];
	int n = unc_read_list(devices, unc_parse_devfn, UINT64_MAX, devfn, UNC_MAX_PLACES + 1);
	int n_ids = unc_read_list(ids, unc_parse_number, 0xffff, id, UNC_MAX_PLACES + 1), rc;

	if (r->w.place.optional != UNC_WHERE_LISTED && (rc = unc_need(r, "id")) < 0)
		return rc;
	if (n < 0)
		return unc_bad(r, "device=%s is not a list of DEVICE.FUNCTION", devices);
	if (n_ids < 0)
		return unc_bad(r, "id=%s is not a list of device ids", ids);
	if (ids && n_ids != 1 && n_ids != n) /* one id serves all, else there is one for each */
		return unc_bad(r, "id=%s is not as long as the list of devices", ids);
	for (int i = 0; i < n; i++)
		*UNC_ADD(r, t, where) = (struct unc_tbl_where){
			.base = r->w.place.base,
			.devfn = (uint8_t)devfn[i],
			.device_id = ids ? (uint16_t)id[n_ids > 1 ? i : 0] : 0};
	return 0;
}

static int where_mmio(struct unc_table_reader *r)
{
	const struct unc_words_place *w = &r->w.place;
	const struct unc_tbl_bar *bar = &r->t.bar[w->bar];
	int rc;

	if ((rc = unc_need(r, "base")) < 0 || (rc = unc_need(r, "count")) < 0 ||
	    (w->per > 1 && (rc = unc_need(r, "step")) < 0))
		return rc;
	if ((w->count + w->per - 1) / w->per > bar->count)
		return unc_bad(r, "count= needs more elements than bar %s has",
			       unc_tbl_str(&r->t, bar->name));
	for (unsigned i = 0; i < w->count; i++)
		*UNC_ADD(r, t, where) =
			(struct unc_tbl_where){.base = w->base + i % w->per * w->step,
					       .bar = w->bar,
					       .bar_index = (uint8_t)(i / w->per)};
	return 0;
}

/* One unit for each logical CPU. */
static int where_cpus(struct unc_table_reader *r)
{
	unc_current_type(r)->cpus = 1;
	for (unsigned i = 0; i < r->w.place.cpus; i++)
		UNC_ADD(r, t, where)->base = r->w.place.base << 32;
	return 0;
}

static int add_places(struct unc_table_reader *r, uint32_t part)
{
	static int (*const add[UNC_N_SPACES])(struct unc_table_reader *) = {
		where_msr, where_pci, where_mmio, where_cpus, where_cpus};
	size_t first = r->t.n_where;
	int rc = add[r->t.part[part].space](r);
	struct unc_range *where = &UNC_ROW(r, t, part, part)->where;

	for (size_t i = first; i < r->t.n_where; i++) {
		UNC_ROW(r, t, where, i)->optional = r->w.place.optional;
		UNC_ROW(r, t, where, i)->group = r->w.place.group;
	}
	where->n = (uint16_t)(r->t.n_where - where->first);
	if (rc == 0 && where->n > UNC_MAX_PLACES)
		return unc_bad(r, "more than %d places", UNC_MAX_PLACES);
	return rc;
}

int unc_end_access(struct unc_table_reader *r)
{
	r->space = r->w.place.space;
	UNC_ROW(r, t, part, unc_current_type(r)->parts.first)->space = r->space;
	return 0;
}

/* A record of the discovery table is of one type. */
int unc_end_discovery(struct unc_table_reader *r)
{
	const struct unc_tbl_type *t = &r->w.type;

	for (const struct unc_tbl_type *other = r->t.type; other < r->t.type + r->type; other++) {
		if (!other->pool && other->discovery == t->discovery &&
		    (!other->functions || !t->functions || other->functions & t->functions))
			return unc_bad(r,
				       "records of %d are those of type %s: functions= must tell "
				       "them apart",
				       t->discovery, unc_tbl_str(&r->t, other->name));
	}
	return 0;
}

/* Of the main part, or on the line of another part. */
int unc_end_where(struct unc_table_reader *r)
{
	const struct unc_range *parts = &unc_current_type(r)->parts;
	bool of_part = strcmp(r->statement, "part") == 0;

	if (!of_part && (parts->n != 1 || r->space == UNC_N_SPACES))
		return unc_bad(r, "where must come after access and before part");
	return add_places(r, parts->first + parts->n - 1);
}

int unc_end_part(struct unc_table_reader *r)
{
	if (unc_current_type(r)->parts.n == 3)
		return unc_bad(r, "a unit has at most three parts");
	r->space = r->w.place.space;
	*UNC_ADD(r, t, part) = (struct unc_tbl_part){
		.name = r->w.place.name, .space = r->space, .where.first = (uint16_t)r->t.n_where};
	unc_current_type(r)->parts.n++;
	return 0;
}

/* ---- how many there are */

/* "0x10" or "0x10-0x1f" */
static bool parse_ids(const char *text, struct unc_tbl_present *row)
{
	const char *dash = strchr(text, '-');
	uint64_t first, last = 0;
	char word[16];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, "-"), text);
	if (!unc_parse_number(word, &first) || !first || first > 0xffff ||
	    (dash && (!unc_parse_number(dash + 1, &last) || last < first || last > 0xffff)))
		return false;
	row->id = (uint16_t)first;
	row->last = (uint16_t)last;
	return true;
}

static bool parse_devices(const char *list, struct unc_tbl_present *row)
{
	uint64_t devfn[UNC_MAX_PRESENT];
	int n = unc_read_list(list, unc_parse_devfn, UINT64_MAX, devfn, UNC_MAX_PRESENT);

	for (int i = 0; i < n; i++)
		row->devfn[row->n_devices++] = (uint8_t)devfn[i];
	return n > 0;
}

static bool parse_offsets(const char *list, struct unc_tbl_present *row)
{
	uint64_t offset[2];
	int n = unc_read_list(list, unc_parse_number, 0xffc, offset, 2);

	for (int i = 0; i < n; i++) {
		if (offset[i] & 3)
			return false;
		row->offset[row->n_offsets++] = (uint16_t)offset[i];
	}
	return n >= 0;
}

static int present_msr(struct unc_table_reader *r, struct unc_tbl_present *row)
{
	if (unc_given(r, "id") || unc_given(r, "device") || unc_given(r, "offsets") ||
	    unc_given(r, "per"))
		return unc_bad(r,
			       "id=, device=, per= and offsets= are of a PCI function, not of an "
			       "MSR");
	if (row->tells == UNC_TELLS_ALL)
		return unc_bad(r, "an MSR that holds 0 decides nothing: tells=all is of a PCI "
				  "function");
	if (!row->mask)
		row->mask = UINT64_MAX;
	return 0;
}

static int present_pci(struct unc_table_reader *r, struct unc_tbl_present *row)
{
	const char *ids = unc_given(r, "id"), *devices = unc_given(r, "device");
	const char *offsets = unc_given(r, "offsets");
	int rc;

	if (!ids)
		return unc_bad(r, "present wants id= or msr=");
	if ((rc = unc_need(r, "device")) < 0)
		return rc;
	if (!parse_ids(ids, row))
		return unc_bad(r, "id=%s is not a device id, or two as in 0x0ee0-0x0eee", ids);
	if (!parse_devices(devices, row))
		return unc_bad(r, "device=%s is not a list of DEVICE.FUNCTION, up to %d", devices,
			       UNC_MAX_PRESENT);
	if (!parse_offsets(offsets, row))
		return unc_bad(r, "offsets=%s is not one or two configuration offsets", offsets);
	if (row->n_devices > 1 && (row->last || offsets))
		return unc_bad(r, "a list of devices goes with one id and without offsets=");
	if (unc_given(r, "per") && (row->last || offsets))
		return unc_bad(r, "per= is of functions of one id that tell by being there");
	if (row->last && offsets)
		return unc_bad(r, "offsets= goes with one id");
	if (!offsets && (unc_given(r, "bits") || unc_given(r, "tells") || row->none))
		return unc_bad(r, "bits=, tells= and none= are of registers: offsets= is missing");
	if (row->n_offsets == 2 && row->mask)
		return unc_bad(r, "bits= goes with one register");
	if (!row->mask)
		row->mask = row->n_offsets == 2 ? UINT64_MAX : UINT32_MAX;
	return 0;
}

int unc_end_present(struct unc_table_reader *r)
{
	struct unc_tbl_present *row = &r->w.present;
	struct unc_range *rows = &unc_current_type(r)->presents;
	int rc = row->msr ? present_msr(r, row) : present_pci(r, row);

	if (rc < 0)
		return rc;
	if (row->none && row->tells != UNC_TELLS_ALL)
		return unc_bad(r, "none= goes with tells=all");
	*UNC_APPEND(r, rows, present) = *row;
	return 0;
}
