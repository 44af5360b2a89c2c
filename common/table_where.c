/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: where units are (topology, bar; access, where, part, discovery). */
#include "table_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0c.1" -> devfn */
static bool parse_devfn(const char *text, uint8_t *devfn)
{
	char *end;
	unsigned long device = strtoul(text, &end, 16);

	if (end == text || *end != '.' || device > 31 || end[1] < '0' || end[1] > '7' || end[2])
		return false;
	*devfn = (uint8_t)UNC_DEVFN(device, end[1] - '0');
	return true;
}

/* ---- before the types */

int unc_read_topology(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	uint64_t ubox = 0, node = 0, map = 0, buses = 1;
	int rc;

	if (r->t.topology.ubox_id)
		return unc_fail(err, UNC_ERR_TABLE, "topology is given twice");
	if ((rc = unc_take_number(line, "ubox", true, 0xffff, &ubox, err)) < 0 ||
	    (rc = unc_take_number(line, "nodeid", true, 0xfff, &node, err)) < 0 ||
	    (rc = unc_take_number(line, "map", true, 0xfff, &map, err)) < 0 ||
	    (rc = unc_take_number(line, "buses", false, 256, &buses, err)) < 0)
		return rc;
	if (!buses)
		return unc_fail(err, UNC_ERR_TABLE, "buses= must be at least 1");
	r->t.topology = (struct unc_tbl_topology){(uint16_t)ubox, (uint16_t)node, (uint16_t)map,
						  (uint16_t)buses};
	return 0;
}

static int take_bits(struct unc_line *line, const char *key, uint32_t *mask, struct unc_error *err)
{
	const char *text = unc_take(line, key);
	unsigned high, low;

	if (!text || !unc_parse_bits(text, &high, &low) || high > 31)
		return unc_bad(err, key, text, "bits HIGH:LOW of a dword");
	*mask = (uint32_t)(unc_ones(high + 1) & ~unc_ones(low));
	return 0;
}

int unc_read_bar(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_bar b = {0};
	uint64_t id = 0, base = 0, base_shift = 0, at = 0, step = 0, shift = 0, count = 0, size = 0;
	const char *name = unc_take_plain(line), *device = unc_take(line, "device");
	int rc;

	if (!name)
		return unc_fail(err, UNC_ERR_TABLE, "bar needs a name");
	if (!device || !parse_devfn(device, &b.devfn))
		return unc_bad(err, "device", device, "DEVICE.FUNCTION in hexadecimal");
	if ((rc = unc_take_number(line, "id", true, 0xffff, &id, err)) < 0 ||
	    (rc = unc_take_number(line, "base", true, 0xfff, &base, err)) < 0 ||
	    (rc = take_bits(line, "base_bits", &b.base_mask, err)) < 0 ||
	    (rc = unc_take_number(line, "base_shift", true, 63, &base_shift, err)) < 0 ||
	    (rc = unc_take_number(line, "at", true, 0xfff, &at, err)) < 0 ||
	    (rc = unc_take_number(line, "step", true, 0xfff, &step, err)) < 0 ||
	    (rc = take_bits(line, "bits", &b.mask, err)) < 0 ||
	    (rc = unc_take_number(line, "shift", true, 63, &shift, err)) < 0 ||
	    (rc = unc_take_number(line, "count", true, UNC_MAX_PLACES, &count, err)) < 0 ||
	    (rc = unc_take_number(line, "size", true, UINT32_MAX, &size, err)) < 0)
		return rc;
	b.name = unc_add_string(r, name);
	b.device_id = (uint16_t)id;
	b.count = (uint8_t)count;
	b.base_offset = (uint16_t)base;
	b.offset = (uint16_t)at;
	b.step = (uint16_t)step;
	b.base_shift = (uint8_t)base_shift;
	b.shift = (uint8_t)shift;
	b.size = (uint32_t)size;
	*unc_add_bar(r) = b;
	return 0;
}

/* ---- places */

static int where_msr(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *bases = unc_take(line, "bases");
	uint64_t base = 0, step = 0, count = 0;
	int rc;

	if (bases) {
		for (const char *p = bases;; p++) {
			char *end;

			base = strtoull(p, &end, 0);
			if (end == p || (*end && *end != ','))
				return unc_bad(err, "bases", bases, "a list of numbers");
			unc_add_where(r)->base = base;
			if (*end == '\0')
				return 0;
			p = end;
		}
	}
	if ((rc = unc_take_number(line, "base", true, UINT32_MAX, &base, err)) < 0 ||
	    (rc = unc_take_number(line, "count", true, UNC_MAX_PLACES, &count, err)) < 0 ||
	    (rc = unc_take_number(line, "step", count > 1, UINT32_MAX, &step, err)) < 0)
		return rc;
	if (count > 1 && step == 0)
		return unc_fail(err, UNC_ERR_TABLE, "step=0 puts all units at the same place");
	for (uint64_t i = 0; i < count; i++)
		unc_add_where(r)->base = base + i * step;
	return 0;
}

static int where_pci(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *devices = unc_take(line, "device"), *ids = unc_take(line, "id");
	const char *next_id = ids;
	uint64_t base = 0;
	int rc;

	if ((rc = unc_take_number(line, "base", false, 0xfff, &base, err)) < 0)
		return rc;
	if (!devices || !ids)
		return unc_fail(err, UNC_ERR_TABLE, "device= and id= are needed");
	for (const char *p = devices;; p++) {
		size_t length = strcspn(p, ",");
		struct unc_tbl_where w = {.base = base};
		char word[8], *end;

		if (length >= sizeof(word))
			return unc_bad(err, "device", devices, "a list of DEVICE.FUNCTION");
		memcpy(word, p, length);
		word[length] = '\0';
		if (!parse_devfn(word, &w.devfn))
			return unc_bad(err, "device", word, "DEVICE.FUNCTION in hexadecimal");
		unsigned long id = strtoul(next_id, &end, 0);
		if (end == next_id || id > 0xffff || (*end && *end != ','))
			return unc_bad(err, "id", ids, "a list of device ids, one for each device");
		w.device_id = (uint16_t)id;
		*unc_add_where(r) = w;
		if (p[length] == '\0')
			return *end && strchr(ids, ',')
				       ? unc_bad(err, "id", ids, "as long as the list of devices")
				       : 0;
		if (strchr(ids, ','))
			next_id = *end ? end + 1 : end;
		p += length;
	}
}

static int where_mmio(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *name = unc_take(line, "bar");
	uint64_t base = 0, step = 0, per = 1, count = 0;
	size_t bar = 0;
	int rc;

	while (name && bar < r->t.n_bar && strcmp(name, unc_tbl_str(&r->t, r->t.bar[bar].name)))
		bar++;
	if (!name || bar == r->t.n_bar)
		return unc_bad(err, "bar", name, "the name of a bar above");
	if ((rc = unc_take_number(line, "base", true, UINT32_MAX, &base, err)) < 0 ||
	    (rc = unc_take_number(line, "count", true, UNC_MAX_PLACES, &count, err)) < 0 ||
	    (rc = unc_take_number(line, "per", false, UNC_MAX_PLACES, &per, err)) < 0 ||
	    (rc = unc_take_number(line, "step", per > 1, UINT32_MAX, &step, err)) < 0)
		return rc;
	if (per == 0 || (count + per - 1) / per > r->t.bar[bar].count)
		return unc_fail(err, UNC_ERR_TABLE, "count= needs more elements than bar %s has",
				name);
	for (uint64_t i = 0; i < count; i++) {
		struct unc_tbl_where *w = unc_add_where(r);

		w->base = base + i % per * step;
		w->bar = (uint8_t)bar;
		w->bar_index = (uint8_t)(i / per);
	}
	return 0;
}

/* One unit for each logical CPU. */
static int where_cpus(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	uint64_t base = 0, n = 0;
	int rc;

	if ((rc = unc_take_number(line, "cpus", true, UNC_MAX_PLACES, &n, err)) < 0 ||
	    (rc = unc_take_number(line, "base", false, UINT16_MAX, &base, err)) < 0)
		return rc;
	if (!n)
		return unc_fail(err, UNC_ERR_TABLE, "cpus= must be at least 1");
	unc_current_type(r)->cpus = 1;
	for (uint64_t i = 0; i < n; i++)
		unc_add_where(r)->base = base << 32;
	return 0;
}

/* present=ID offsets=A,B: the bits set in these registers; present=ID-ID: the functions of these
 * ids. Either tells how many units there are. */
static int read_present(struct unc_tbl_type *type, struct unc_line *line, struct unc_error *err)
{
	const char *present = unc_take(line, "present"), *offsets;
	int first, last, end = 0;
	unsigned a, b;
	uint64_t id;

	if (!present)
		return 0;
	if (sscanf(present, "%i-%i%n", &first, &last, &end) == 2 && !present[end]) {
		if (first <= 0 || first > last || last > 0xffff)
			return unc_bad(err, "present", present, "a range of device ids");
		type->present_id = (uint16_t)first;
		type->present_last = (uint16_t)last;
		return 0;
	}
	if (!unc_parse_number(present, &id) || !id || id > 0xffff)
		return unc_bad(err, "present", present, "a device id, or two as in 0x0ee0-0x0eee");
	offsets = unc_take(line, "offsets");
	if (!offsets || sscanf(offsets, "%x,%x", &a, &b) != 2 || a > 0xffc || b > 0xffc)
		return unc_bad(err, "offsets", offsets, "two configuration offsets");
	type->present_id = (uint16_t)id;
	type->present_offset[0] = (uint16_t)a;
	type->present_offset[1] = (uint16_t)b;
	return 0;
}

static int read_where(struct unc_table_reader *r, struct unc_line *line, uint32_t part,
		      struct unc_error *err)
{
	static int (*const readers[UNC_N_SPACES])(struct unc_table_reader *, struct unc_line *,
						  struct unc_error *) = {
		where_msr, where_pci, where_mmio, where_cpus, where_cpus};
	struct unc_tbl_type *type = unc_current_type(r);
	int rc;

	bool optional = unc_take_flag(line, "optional");
	size_t first = r->t.n_where;
	if ((rc = read_present(type, line, err)) < 0)
		return rc;
	rc = readers[r->t.part[part].space](r, line, err);
	for (size_t i = first; optional && i < r->t.n_where; i++)
		UNC_ROW(r, where, i)->optional = 1;
	struct unc_range *where = &UNC_ROW(r, part, part)->where;
	where->n = (uint32_t)r->t.n_where - where->first;
	if (rc == 0 && where->n > UNC_MAX_PLACES)
		return unc_fail(err, UNC_ERR_TABLE, "more than %d places", UNC_MAX_PLACES);
	return rc;
}

/* ---- statements of a type */

static int take_access(const char *text, uint8_t *space, struct unc_error *err)
{
	for (uint8_t i = 0; text && i < UNC_N_SPACES; i++)
		if (strcmp(text, unc_space_name(i)) == 0) {
			*space = i;
			return 0;
		}
	return unc_bad(err, "access", text, "msr, pci, mmio, pmu or perf");
}

static int read_part(struct unc_table_reader *r, struct unc_line *line, const char *name,
		     struct unc_error *err)
{
	uint8_t space = 0;
	uint32_t at = (uint32_t)r->t.n_part;
	int rc = take_access(unc_take(line, "access"), &space, err);

	if (rc < 0)
		return rc;
	if (at - unc_current_type(r)->parts.first >= 3)
		return unc_fail(err, UNC_ERR_TABLE, "a unit has at most three parts");
	struct unc_tbl_part *p = unc_add_part(r);
	p->name = unc_add_string(r, name);
	p->space = space;
	p->where.first = (uint32_t)r->t.n_where;
	unc_current_type(r)->parts.n++;
	return read_where(r, line, at, err);
}

int unc_read_discovery(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *text = unc_take_plain(line);
	uint64_t id;

	if (!text || !unc_parse_number(text, &id) || id > INT16_MAX)
		return unc_bad(err, "discovery", text, "a unit type id");
	if (unc_current_type(r)->discovery >= 0)
		return unc_fail(err, UNC_ERR_TABLE, "discovery is given twice");
	unc_current_type(r)->discovery = (int16_t)id;
	return 0;
}

int unc_read_access(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_part *part = UNC_ROW(r, part, unc_current_type(r)->parts.first);

	if (part->space != UNC_N_SPACES)
		return unc_fail(err, UNC_ERR_TABLE, "access is given twice");
	return take_access(unc_take_plain(line), &part->space, err);
}

int unc_read_main_where(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const struct unc_range *parts = &unc_current_type(r)->parts;

	if (parts->n != 1 || r->t.part[parts->first].space == UNC_N_SPACES)
		return unc_fail(err, UNC_ERR_TABLE, "where must come after access and before part");
	return read_where(r, line, parts->first, err);
}

int unc_read_part(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *name = unc_take_plain(line);

	return name ? read_part(r, line, name, err)
		    : unc_fail(err, UNC_ERR_TABLE, "part needs a name");
}
