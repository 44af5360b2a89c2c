/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: what the kernel's own driver carries: kernel, kernel_filter, kernel_counters. */
#include <string.h>

#include "reader/table_build.h"

enum { MAX_VALUES = 128 }; /* of a list of codes or umasks */

/* ---- kernel */

/* config1=LOW,HIGH or config1=LOW: registers of 32 bits each, or LOW of 64. */
static int read_config(struct unc_table_reader *r, const char *column, uint16_t out[2])
{
	int n;

	out[0] = out[1] = UNC_NONE;
	n = unc_read_regs(r, column, out, 2);
	for (int i = 0; i < n; i++)
		if (r->t.reg[out[i]].write_mask > UINT32_MAX)
			return unc_bad(r, "%s=%s: only the low half of it would fit", column,
				       unc_reg_name(&r->t, out[i]));
	return n;
}

static int check_name(struct unc_table_reader *r, const char *name)
{
	const struct unc_tbl_type *type = unc_current_type(r);
	const char *number = strstr(name, "{n}");

	if (strncmp(name, "uncore", 6) != 0)
		return unc_bad(r, "kernel '%s' is not a PMU of the uncore driver: uncore...", name);
	if (strlen(name) > UNC_MAX_KERNEL_NAME)
		return unc_bad(r, "kernel '%s' is longer than %d letters", name,
			       UNC_MAX_KERNEL_NAME);
	if (!number && unc_given(r, "numbers"))
		return unc_bad(r, "numbers= needs {n} in the name");
	if (!number && r->t.part[type->parts.first].where.n > 1)
		return unc_bad(r, "kernel '%s' has no {n} for the number of the unit", name);
	return 0;
}

/* Which of its columns a row has. */
static int check_columns(struct unc_table_reader *r, const struct unc_tbl_kernel *k)
{
	bool programs = k->bits || k->named || unc_given(r, "config1") || unc_given(r, "config2");

	if ((k->name != 0) == (k->unavailable != 0))
		return unc_bad(r, "kernel wants either a name or unavailable=");
	if (k->unavailable)
		return programs || k->free || unc_given(r, "numbers")
			       ? unc_bad(r, "unavailable= stands alone")
			       : 0;
	if (k->free)
		return programs ? unc_bad(r, "free-running counters have no bits= and no filters")
				: 0;
	return unc_need(r, "bits");
}

int unc_end_kernel(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_kernel *k = &r->w.kernel;
	int rc;

	if ((rc = check_columns(r, k)) < 0 ||
	    (k->name && (rc = check_name(r, unc_tbl_str(&r->t, k->name))) < 0) ||
	    (rc = read_config(r, "config1", k->config)) < 0 ||
	    (rc = read_config(r, "config2", k->config + 2)) < 0 ||
	    (rc = unc_read_positions(r, "numbers", unc_given(r, "numbers"), 254, k->number,
				     sizeof(k->number))) < 0)
		return rc;
	if (unc_find_kernel(&r->t, type, k->free))
		return unc_bad(r, "kernel is given twice for the same counters");
	*UNC_APPEND(r, &type->kernels, kernel) = *k;
	return 0;
}

/* ---- kernel_filter */

/* The bits of config1 and config2 that fields are. */
static int read_bits(struct unc_table_reader *r, const struct unc_tbl_kernel *k, uint64_t bits[2])
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(&r->t, set, r->w.sets, s));) {
		const struct unc_tbl_field *f = &r->t.field[s->field];

		for (unsigned p = 0; p < 2 && f->width[p]; p++) {
			int at = f->reg[p] == UNC_NONE ? -1 : unc_kernel_place(k, f->reg[p]);

			if (at < 0)
				return unc_bad(r,
					       "field %s is in no register of config1= or "
					       "config2=",
					       unc_tbl_str(&r->t, f->name));
			bits[at / 2] |= unc_ones(f->width[p]) << f->lo[p] << at % 2 * 32;
		}
	}
	return 0;
}

static uint64_t bits_of(const struct unc_table_reader *r, uint16_t field)
{
	return field == UNC_NONE ? 0 : unc_field_bits(&r->t.field[field], UNC_NONE);
}

/* column=VALUE,..: values of a field of CTL, as bits there; how many. No list: one, 0. */
static int read_values(struct unc_table_reader *r, const char *column, uint16_t field,
		       uint64_t out[MAX_VALUES])
{
	const char *list = unc_given(r, column);
	char word[24];
	int n = 0;

	out[0] = 0;
	if (!list)
		return 1;
	if (field == UNC_NONE)
		return unc_bad(r, "%s=: %s has no such field", column,
			       unc_type_name(&r->t, r->type));
	const struct unc_tbl_field *f = &r->t.field[field];
	for (const char *rest = list; list; rest = list, n++) {
		if (n == MAX_VALUES || !unc_list_next(&list, word, sizeof(word)) ||
		    !unc_parse_number(word, &out[n]) || (out[n] & ~unc_field_max(f)))
			return unc_bad(r, "%s=%s is not a list of values of field %s", column, rest,
				       unc_tbl_str(&r->t, f->name));
		out[n] <<= f->lo[0];
	}
	return n;
}

static int add_filter(struct unc_table_reader *r, const struct unc_tbl_kernel_filter *row)
{
	struct unc_range *rows = &unc_current_type(r)->kernel_filters;
	const struct unc_tbl_kernel_filter *other = NULL;

	while ((other = UNC_NEXT(&r->t, kernel_filter, *rows, other)))
		if (other->ctl == row->ctl && other->mask == row->mask)
			return unc_bad(r, "control 0x%llx has a kernel_filter already",
				       (unsigned long long)row->ctl);
	*UNC_APPEND(r, rows, kernel_filter) = *row;
	return 0;
}

/* when=: what the control must have whatever code and umask. */
static int read_when(struct unc_table_reader *r, struct unc_tbl_kernel_filter *row)
{
	const struct unc_range *when = &r->w.when;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(&r->t, set, *when, s));)
		row->mask |= bits_of(r, s->field);
	return unc_bits_of(r, when, UNC_NONE, &row->ctl);
}

/* A row for each code and umask. */
int unc_end_kernel_filter(struct unc_table_reader *r)
{
	const struct unc_tbl_type *type = unc_current_type(r);
	const struct unc_tbl_kernel *k = unc_find_kernel(&r->t, type, false);
	uint64_t code[MAX_VALUES], umask[MAX_VALUES];
	struct unc_tbl_kernel_filter row = {0};
	int codes, umasks, rc;

	if (!k || k->unavailable)
		return unc_bad(r, "kernel_filter before a kernel that has filters");
	if (!unc_given(r, "codes") && !r->w.when.n)
		return unc_bad(r, "codes= or when= is missing");
	if ((rc = read_bits(r, k, row.bits)) < 0 || (rc = read_when(r, &row)) < 0 ||
	    (rc = codes = read_values(r, "codes", type->f_event, code)) < 0 ||
	    (rc = umasks = read_values(r, "umasks", type->f_umask, umask)) < 0)
		return rc;
	row.mask |= unc_given(r, "codes") ? bits_of(r, type->f_event) : 0;
	row.mask |= unc_given(r, "umasks") ? bits_of(r, type->f_umask) : 0;
	for (int i = 0; i < codes * umasks; i++) {
		struct unc_tbl_kernel_filter one = row;

		one.ctl |= code[i / umasks] | umask[i % umasks];
		if ((rc = add_filter(r, &one)) < 0)
			return rc;
	}
	return 0;
}

/* ---- kernel_counters */

int unc_end_kernel_counters(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_kernel_counters row = r->w.kernel_counters;
	uint64_t code[MAX_VALUES];
	int n;

	if (!unc_find_kernel(&r->t, type, false))
		return unc_bad(r, "kernel_counters before kernel");
	n = read_values(r, "codes", type->f_event, code);
	for (int i = 0; i < n; i++) {
		const struct unc_tbl_kernel_counters *other = NULL;

		row.code = (uint16_t)(code[i] >> r->t.field[type->f_event].lo[0]);
		while ((other = UNC_NEXT(&r->t, kernel_counters, type->kernel_counters, other)))
			if (other->code == row.code)
				return unc_bad(r, "code 0x%x has kernel_counters already",
					       row.code);
		*UNC_APPEND(r, &type->kernel_counters, kernel_counters) = row;
	}
	return n < 0 ? n : 0;
}

/* ---- the whole */

static int check_bits(struct unc_table_reader *r, const struct unc_tbl_type *type, uint64_t bits)
{
	uint64_t fields = type->first_ctl == UNC_NONE ? 0 : r->t.reg[type->first_ctl].write_mask;

	if (bits & ~fields)
		return unc_bad(r, "kernel bits=0x%llx are more than CTL has, 0x%llx",
			       (unsigned long long)bits, (unsigned long long)fields);
	if (bits & type->enable)
		return unc_bad(r, "kernel bits= must leave out the enable bits");
	if (bits_of(r, type->f_event) & ~bits)
		return unc_bad(r, "kernel bits= must have those of the code");
	if (type->exclusive)
		return unc_bad(r, "the kernel does not keep apart what exclusive= does");
	return 0;
}

int unc_check_kernel(struct unc_table_reader *r, const struct unc_tbl_type *type)
{
	const struct unc_tbl_kernel *k = unc_find_kernel(&r->t, type, false);
	const struct unc_tbl_counter *c = NULL;

	while ((c = UNC_NEXT(&r->t, counter, type->counters, c)))
		if (c->kernel && !unc_find_kernel(&r->t, type, c->ctl == UNC_NONE))
			return unc_bad(r, "counter %s has kernel=, but the type no PMU for it",
				       unc_tbl_str(&r->t, c->name));
	return k && !k->unavailable ? check_bits(r, type, k->bits) : 0;
}
