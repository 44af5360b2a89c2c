/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks things up in a table. */
#include "tables/table.h"

#include <endian.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

unsigned unc_field_from(const struct unc_tbl_field *f, unsigned piece)
{
	unsigned from = 0;

	while (piece-- > 0)
		from += f->width[piece];
	return from;
}

unsigned unc_field_width(const struct unc_tbl_field *f)
{
	return unc_field_from(f, UNC_PIECES);
}

uint64_t unc_field_max(const struct unc_tbl_field *f)
{
	return unc_ones(unc_field_width(f) + f->shift) & ~unc_ones(f->shift);
}

uint64_t unc_field_bits(const struct unc_tbl_field *f, uint16_t reg)
{
	uint64_t bits = 0;

	for (unsigned p = 0; p < UNC_PIECES && f->width[p]; p++)
		if (f->reg[p] == reg)
			bits |= unc_ones(f->width[p]) << f->lo[p];
	return bits;
}

uint64_t unc_field_of(const struct unc_tbl_field *f, uint64_t value)
{
	uint64_t all = 0;

	for (unsigned p = 0; p < UNC_PIECES && f->width[p] && f->reg[p] == f->reg[0]; p++)
		all |= (value >> f->lo[p] & unc_ones(f->width[p])) << unc_field_from(f, p);
	return all;
}

uint64_t unc_type_modifiers(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t bits = type->enable;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, type->fields, f));)
		if ((f->flags & UNC_FIELD_USER) || f->role > UNC_IS_OTHER)
			bits |= unc_field_bits(f, UNC_NONE);
	return bits;
}

enum unc_unit_state unc_unit_state(const struct unc_table *t, const struct unc_tbl_type *type,
				   uint64_t unit_ctl)
{
	uint64_t frozen, runs, tells;

	if (!type->steps_freeze.n)
		return UNC_UNIT_RUNS;
	frozen = t->step[type->steps_freeze.first].value;
	runs = t->step[type->steps_unfreeze.first].value;
	tells = frozen ^ runs;
	if (!((unit_ctl ^ runs) & tells))
		return UNC_UNIT_RUNS;
	return (unit_ctl ^ frozen) & tells ? UNC_UNIT_PARTLY : UNC_UNIT_FROZEN;
}

bool unc_type_restores(const struct unc_table *t, const struct unc_tbl_type *type)
{
	for (const struct unc_tbl_step *s = NULL; (s = UNC_NEXT(t, step, type->steps_stop, s));)
		if (s->kind == UNC_STEP_FOUND)
			return true;
	return false;
}

const struct unc_tbl_set *unc_find_set(const struct unc_table *t, const struct unc_range *sets,
				       uint16_t field)
{
	for (uint32_t i = 0; i < sets->n; i++)
		if (t->set[sets->first + i].field == field)
			return &t->set[sets->first + i];
	return NULL;
}

bool unc_takes_field(const struct unc_table *t, const struct unc_tbl_fields *fields, uint16_t field)
{
	return unc_find_set(t, &fields->needs, field) || unc_find_set(t, &fields->uses, field);
}

uint64_t unc_sets_bits(const struct unc_table *t, const struct unc_range *sets, uint16_t reg)
{
	uint64_t bits = 0;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(t, set, *sets, s));)
		if (t->field[s->field].reg[0] == reg)
			bits |= s->value << t->field[s->field].lo[0];
	return bits;
}

uint16_t unc_find_row(const struct unc_table *t, const void *rows, size_t size, struct unc_range in,
		      const char *name)
{
	unc_str at;

	for (uint32_t i = in.first; i < in.first + in.n; i++) {
		memcpy(&at, (const char *)rows + i * size, sizeof(at));
		if (unc_same(unc_tbl_str(t, at), name))
			return (uint16_t)i;
	}
	return UNC_NONE;
}

/* Hashes eight letters at a time, without case; the result is the same on all machines. */
size_t unc_slot_of(const struct unc_table *t, uint32_t first, const char *name, size_t length)
{
	const uint64_t lower = 0x2020202020202020, odd = 0x9e3779b97f4a7c15;
	uint64_t hash = first, letters;

	for (; length >= sizeof(letters); length -= sizeof(letters), name += sizeof(letters)) {
		memcpy(&letters, name, sizeof(letters));
		hash = (hash ^ (le64toh(letters) | lower)) * odd;
		hash ^= hash >> 32;
	}
	for (letters = 0; length; length--)
		letters = letters << 8 | (unsigned char)name[length - 1];
	hash = (hash ^ (letters | lower)) * odd;
	return (hash >> 32) * t->n_slot >> 32;
}

static bool is_row_named(const struct unc_table *t, const char *row, bool has_alias,
			 const char *name)
{
	unc_str names[3]; /* name, description, alias */

	memcpy(names, row, has_alias ? sizeof(names) : sizeof(names[0]));
	return unc_same(unc_tbl_str(t, names[0]), name) ||
	       (has_alias && names[2] && unc_list_has(unc_tbl_str(t, names[2]), name));
}

uint16_t unc_find_named(const struct unc_table *t, const void *rows, size_t size,
			struct unc_range in, const char *name, size_t length)
{
	bool has_alias = rows == t->event || rows == t->umask;
	size_t at = t->n_slot ? unc_slot_of(t, in.first, name, length) : 0;

	for (; t->n_slot && t->slot[at].row; at = at + 1 < t->n_slot ? at + 1 : 0) {
		uint32_t i = t->slot[at].row - 1u;

		if (i - in.first < in.n &&
		    is_row_named(t, (const char *)rows + i * size, has_alias, name))
			return (uint16_t)i;
	}
	for (uint32_t i = in.first; t->extended && i < (uint32_t)in.first + in.n; i++)
		if (is_row_named(t, (const char *)rows + i * size, has_alias, name))
			return (uint16_t)i;
	return UNC_NONE;
}

uint16_t unc_find_type(const struct unc_table *t, const char *name)
{
	return UNC_FIND(t, type, ((struct unc_range){0, (uint16_t)t->n_type}), name);
}

const struct unc_tbl_kernel *unc_find_kernel(const struct unc_table *t,
					     const struct unc_tbl_type *type, bool of_free)
{
	for (const struct unc_tbl_kernel *k = NULL; (k = UNC_NEXT(t, kernel, type->kernels, k));)
		if (!k->free == !of_free)
			return k;
	return NULL;
}

const struct unc_tbl_nodes *unc_type_nodes(const struct unc_table *t,
					   const struct unc_tbl_type *type, unsigned clusters)
{
	for (const struct unc_tbl_nodes *row = NULL; (row = UNC_NEXT(t, nodes, type->nodes, row));)
		if (!row->clusters || row->clusters == clusters)
			return row;
	return NULL;
}

int unc_kernel_place(const struct unc_tbl_kernel *k, uint16_t reg)
{
	for (int i = 0; i < 4; i++)
		if (k->config[i] == reg)
			return i;
	return -1;
}

/* Whether the kernel's numbers of units are our indexes. */
static bool has_our_numbers(const struct unc_tbl_kernel *k)
{
	static const uint8_t none[sizeof(k->number)];

	return memcmp(k->number, none, sizeof(none)) == 0;
}

/* Returns the number of a unit in the name of its PMU; -1: none. */
static int kernel_number(const struct unc_tbl_kernel *k, unsigned index)
{
	if (has_our_numbers(k))
		return (int)index;
	return index < sizeof(k->number) ? k->number[index] - 1 : -1;
}

int unc_kernel_unit(const struct unc_tbl_kernel *k, int number)
{
	unsigned i = 0;

	if (has_our_numbers(k))
		return number;
	while (i < sizeof(k->number) && kernel_number(k, i) != number)
		i++;
	return i < sizeof(k->number) ? (int)i : -1;
}

bool unc_kernel_pmu(const struct unc_table *t, unsigned type, unsigned pmu, unsigned index,
		    char *buf, size_t size)
{
	const struct unc_range *rows = &t->type[type].kernels;
	struct unc_buf text = unc_buf(buf, size);

	if (pmu >= rows->n || t->kernel[rows->first + pmu].unavailable)
		return false;
	const struct unc_tbl_kernel *k = &t->kernel[rows->first + pmu];
	const char *name = unc_tbl_str(t, k->name), *number = strstr(name, "{n}");
	unsigned per = k->per ? k->per : 1;
	int n = kernel_number(k, index / per);
	if (!number) {
		unc_put(&text, "%s", name);
		return text.n < size && index < per;
	}
	unc_put(&text, "%.*s%d%s", (int)(number - name), name, n, number + 3);
	return text.n < size && n >= 0;
}

bool unc_kernel_typed(const struct unc_table *t, unsigned type, unsigned pmu, unsigned index,
		      char *buf, size_t size)
{
	const struct unc_tbl_type *row = &t->type[type];
	struct unc_buf text = unc_buf(buf, size);
	int n = -1;

	if (pmu < row->kernels.n && row->discovery >= 0 &&
	    !t->kernel[row->kernels.first + pmu].free &&
	    !t->kernel[row->kernels.first + pmu].unavailable)
		n = kernel_number(&t->kernel[row->kernels.first + pmu], index);
	unc_put(&text, "uncore_type_%d_%d", row->discovery, n);
	return text.n < size && n >= 0;
}

unsigned unc_kernel_nth(const struct unc_table *t, unsigned type, unsigned pmu, unsigned index)
{
	const struct unc_tbl_kernel *k = &t->kernel[t->type[type].kernels.first + pmu];

	return k->per ? index % k->per : 0;
}

bool unc_kernel_last(const struct unc_table *t, unsigned type, unsigned pmu, char *buf, size_t size)
{
	const struct unc_range *rows = &t->type[type].kernels;
	bool other = false;
	unsigned last = 0;

	if (pmu >= rows->n)
		return false;
	const struct unc_tbl_kernel *k = &t->kernel[rows->first + pmu];
	for (unsigned i = 0; i < sizeof(k->number); i++) {
		last = k->number[i] ? i : last;
		other = other || (k->number[i] && k->number[i] - 1u != i);
	}
	return other && unc_kernel_pmu(t, type, pmu, last, buf, size);
}

bool unc_is_place(const char *word, size_t length)
{
	static const char *const places[] = {"socket", "unit",   "node", "port",
					     "ports",  "device", "cpu"};
	size_t i = 0;

	while (i < sizeof(places) / sizeof(places[0]) &&
	       (strlen(places[i]) != length || strncasecmp(places[i], word, length) != 0))
		i++;
	return i < sizeof(places) / sizeof(places[0]);
}

bool unc_cpu_is(const struct unc_table *t, const char *name)
{
	return *name && (unc_same(unc_tbl_str(t, t->name), name) ||
			 unc_list_has(unc_tbl_str(t, t->alias), name));
}

bool unc_cpuid_is(const struct unc_tbl_cpuid *cpuid, const char *vendor, int family, int model,
		  int stepping)
{
	if (strcmp(vendor, "GenuineIntel") != 0 || cpuid->family != family)
		return false;
	for (unsigned i = 0; i < cpuid->n_models; i++)
		if (cpuid->models[i] == model)
			return !cpuid->steppings ||
			       (stepping >= 0 && stepping < 16 && cpuid->steppings >> stepping & 1);
	return false;
}
