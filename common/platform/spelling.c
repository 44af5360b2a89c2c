/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names as other tools spell them: a text of perf, of libpfm4 or of perf's metrics becomes one of ours, which is
 * parsed as all are. What is ours is tried first.
 *
 *   uncore_imc_3/event=0x05,umask=0xcf/   perf: PMU and terms; an alias is what the running kernel's events/ says
 *   imc3.RAW:event=0x05:umask=0xcf        the same in our form
 *   skx_unc_imc0::UNC_M_CAS_COUNT:RD      libpfm4, as of PAPI's perf_event_uncore
 *   UNC_CHA_CLOCKTICKS:config1=0x...      filters as a number, of either
 *   memory_bandwidth_read                 foreign.inc
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "encode/decode.h"
#include "encode/name.h"
#include "platform/platform.h"

static const char raw[] = ".RAW:";

struct spelling {
	const struct unc_platform *p;
	const char *text, *tool;
	uint16_t type;
	int index, socket; /* -1: all */
	uint64_t ctl;      /* of perf's terms */
	uint64_t given;    /* bits of it that terms gave */
	struct unc_code_filter filter[UNC_MAX_FILTERS];
	size_t n_filters;
	struct unc_error *err;
};

__attribute__((format(printf, 3, 4))) static int refuse_name(const struct spelling *s, int code,
							     const char *format, ...)
{
	char why[UNC_ERROR_MAX / 2];

	UNC_FORMAT(why, format);
	return unc_fail(s->err, code, "%.200s, as %s spells it: %s", s->text, s->tool, why);
}

/* ---- PMUs and units */

/* Splits a unit number off the end of a name; *length becomes the length of the type. */
static bool split_number(const char *name, size_t *length, int *index)
{
	size_t n = *length;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	if (*length - n > 4)
		return false;
	*index = n < *length ? atoi(name + n) : -1;
	*length = n;
	return n > 0;
}

/* "uncore_imc_3", "uncore_imc" and "imc" by the row of a PMU, "cxl_pmu_mem0.0" too; *index: of the unit, -1: of
 * all. */
static bool is_pmu(const struct unc_table *t, const struct unc_tbl_kernel *k, const char *name,
		   size_t length, int *index)
{
	const char *row = unc_tbl_str(t, k->name), *number = strstr(row, "{n}");
	size_t prefix = number ? (size_t)(number - row) : strlen(row), has = length;
	size_t behind = number ? strlen(number + 3) : 0;
	int n;

	*index = -1;
	if (strncasecmp(name, "uncore_", 7) != 0 && strncmp(row, "uncore_", 7) == 0)
		row += 7, prefix -= 7;
	if (length && length == prefix - (number && number[-1] == '_') &&
	    strncasecmp(name, row, length) == 0)
		return true;
	if (number && has > behind && strncasecmp(name + has - behind, number + 3, behind) == 0)
		has -= behind;
	if (!number || k->per > 1 || !split_number(name, &has, &n) || n < 0 || has != prefix ||
	    strncasecmp(name, row, prefix) != 0)
		return false;
	*index = unc_kernel_unit(k, n);
	return *index >= 0;
}

/* "uncore_type_4_0" is how kernels before 6.8 call unit 0 of the type with number 4 in the discovery tables. */
static bool is_typed(struct spelling *s, const char *name, size_t length)
{
	const struct unc_table *t = s->p->table;
	int id, number, end = 0;

	if (sscanf(name, "uncore_type_%3d_%3d%n", &id, &number, &end) != 2 || (size_t)end != length)
		return false;
	for (s->type = 0; s->type < t->n_type; s->type++) {
		const struct unc_tbl_kernel *k = unc_find_kernel(t, &t->type[s->type], false);

		if (t->type[s->type].discovery == id && k && !k->unavailable)
			return (s->index = unc_kernel_unit(k, number)) >= 0;
	}
	return false;
}

static bool find_pmu(struct spelling *s, const char *name, size_t length)
{
	const struct unc_table *t = s->p->table;

	for (s->type = 0; s->type < t->n_type; s->type++)
		for (const struct unc_tbl_kernel *k = NULL;
		     (k = UNC_NEXT(t, kernel, t->type[s->type].kernels, k));)
			if (!k->free && is_pmu(t, k, name, length, &s->index))
				return true;
	return is_typed(s, name, length);
}

/* "imc0" of "skx_unc_imc0::"; "nhm_unc::" has no type. */
static bool find_unit(struct spelling *s, const char *name, size_t length)
{
	const struct unc_range all = {0, s->p->table->n_type};
	char type[UNC_SPEC_MAX];

	s->index = -1;
	for (int without = 0; without < 2; without++) { /* r3qpi, but imc0 */
		snprintf(type, sizeof(type), "%.*s%s", (int)length, name,
			 length == 3 && strncasecmp(name, "ubo", 3) == 0 ? "x" : "");
		s->type = UNC_FIND_NAMED(s->p->table, type, all, type, strlen(type));
		if (s->type != UNC_NONE || (!without && !split_number(name, &length, &s->index)))
			return s->type != UNC_NONE;
	}
	return false;
}

/* ---- registers, and what they are as a text */

/* A field of the type by name; perf's filters also without "filter_". */
static const struct unc_tbl_field *find_field(const struct spelling *s, const char *name)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = {
#define FIELD(theirs, ours) {theirs, ours},
#include "platform/foreign.inc"
	};
	const struct unc_table *t = s->p->table;
	const struct unc_tbl_field *f = NULL;

	name += strncasecmp(name, "filter_", 7) == 0 ? 7 : 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		name = unc_same(name, rows[i].theirs) ? rows[i].ours : name;
	while ((f = UNC_NEXT(t, field, t->type[s->type].fields, f)) &&
	       !unc_same(unc_tbl_str(t, f->name), name))
		;
	return f;
}

/* A filter register, existing or new; NULL: there is no room. */
static struct unc_code_filter *filter_of(struct spelling *s, uint16_t reg)
{
	size_t i = 0;

	while (i < s->n_filters && s->filter[i].reg != reg)
		i++;
	if (i == UNC_MAX_FILTERS)
		return NULL;
	if (i == s->n_filters)
		s->filter[s->n_filters++] = (struct unc_code_filter){.reg = reg};
	return &s->filter[i];
}

static int fail_room(const struct spelling *s)
{
	return refuse_name(s, UNC_ERR_INVALID, "more than %d filters", UNC_MAX_FILTERS);
}

/* Adds bits of a filter register. */
static int add_filter(struct spelling *s, uint16_t reg, uint64_t value, uint64_t bits)
{
	struct unc_code_filter *filter = filter_of(s, reg);

	if (!filter)
		return fail_room(s);
	if (filter->mask & bits)
		return refuse_name(s, UNC_ERR_INVALID, "bits of %s are given twice",
				   unc_tbl_str(s->p->table, s->p->table->reg[reg].name));
	filter->value |= value;
	filter->mask |= bits;
	return 0;
}

/* Adds a half of config1 or config2 as a filter register, by the row of the unit's PMU. */
static int add_half(struct spelling *s, unsigned config, unsigned half, uint64_t value)
{
	const struct unc_table *t = s->p->table;
	const struct unc_tbl_kernel *k = unc_find_kernel(t, &t->type[s->type], false);
	uint16_t reg = k ? k->config[2 * (config - 1) + half] : UNC_NONE;

	if (reg != UNC_NONE)
		return add_filter(s, reg, value, UINT32_MAX);
	return value ? refuse_name(s, UNC_ERR_INVALID, "config%u is no filter of %s", config,
				   unc_type_name(t, s->type))
		     : 0;
}

static int add_config(struct spelling *s, unsigned config, uint64_t value)
{
	int rc = add_half(s, config, 0, value & UINT32_MAX);

	return rc < 0 ? rc : add_half(s, config, 1, value >> 32);
}

/* Adds bits of the control. */
static int add_control(struct spelling *s, const char *name, uint64_t value, uint64_t bits)
{
	if (s->given & bits)
		return refuse_name(s, UNC_ERR_INVALID, "bits of %.40s are given twice", name);
	s->given |= bits;
	s->ctl |= value;
	return 0;
}

static int fail_value(const struct spelling *s, const char *name, uint64_t value)
{
	return refuse_name(s, UNC_ERR_RANGE, "%.40s=%#llx does not fit", name,
			   (unsigned long long)value);
}

/* Adds a term of perf. */
static int add_term(struct spelling *s, const char *name, uint64_t value)
{
	const struct unc_tbl_field *f;
	uint64_t high; /* bits 32-63 of the umask, bit 21 of a PCU's event */

	if (unc_same(name, "config"))
		return add_control(s, name, value, UINT64_MAX);
	if (unc_same(name, "config1") || unc_same(name, "config2"))
		return add_config(s, (unsigned)(name[6] - '0'), value);
	if (unc_same(name, "event")) {
		high = value >> 8 << 21;
		return value < 0x200 ? add_control(s, name, (value & 0xff) | high, 0xff | high)
				     : fail_value(s, name, value);
	}
	if (unc_same(name, "umask")) {
		high = value >> 8 << 32;
		return value >> 40 == 0
			       ? add_control(s, name, (value & 0xff) << 8 | high, 0xff00 | high)
			       : fail_value(s, name, value);
	}
	if (!(f = find_field(s, name)))
		return refuse_name(s, UNC_ERR_NOT_FOUND, "%s has no field %.40s",
				   unc_type_name(s->p->table, s->type), name);
	if (f->width[1] || value & ~unc_field_max(f))
		return fail_value(s, name, value);
	value = value >> f->shift << f->lo[0];
	if (f->reg[0] != UNC_NONE)
		return add_filter(s, f->reg[0], value, unc_ones(f->width[0]) << f->lo[0]);
	return add_control(s, name, value, unc_ones(f->width[0]) << f->lo[0]);
}

/* Adds terms: "event=0x05,umask=0xcf"; "edge" without a value is 1. */
static int add_terms(struct spelling *s, const char *list)
{
	char term[UNC_SPEC_MAX], *equal;
	uint64_t value;
	int rc = *list ? 0 : refuse_name(s, UNC_ERR_INVALID, "it has no terms");

	while (list && *list && rc == 0) {
		if (!unc_list_next(&list, term, sizeof(term)))
			return refuse_name(s, UNC_ERR_INVALID, "a term is too long");
		value = 1;
		if ((equal = strchr(term, '=')) != NULL)
			*equal++ = '\0';
		if (equal && !unc_parse_number(equal, &value))
			return refuse_name(s, UNC_ERR_INVALID, "%.40s=%.40s is not a number", term,
					   equal);
		rc = add_term(s, term, value);
	}
	return rc;
}

/* Terms of a PMU that only the kernel knows are fields: "arm_cmn_0/hnf_cache_miss,nodeid=8/" is
 * arm_cmn.hnf_cache_miss:nodeid=8; without an event it is RAW. */
static int put_terms(const struct spelling *s, const char *list, struct unc_buf *out)
{
	const struct unc_table *t = s->p->table;
	size_t n = strcspn(list, ",=");
	char term[UNC_SPEC_MAX];
	uint16_t event;

	snprintf(term, sizeof(term), "%.*s", (int)n, list);
	event = UNC_FIND_NAMED(t, event, t->type[s->type].events, term, n);
	if (list[n] == '=' || event == UNC_NONE)
		event = UNC_FIND_NAMED(t, event, t->type[s->type].events, "RAW", 3);
	else
		list = list[n] ? list + n + 1 : NULL;
	unc_put(out, "%s.%s", unc_type_name(t, s->type), unc_event_name(t, event));
	while (list && *list) {
		if (!unc_list_next(&list, term, sizeof(term)))
			return refuse_name(s, UNC_ERR_INVALID, "a term is too long");
		unc_put(out, strchr(term, '=') ? ":%s" : ":%s=1", term);
	}
	return 0;
}

/* A field of the control without which a filter does nothing: our names add it, a number does not. */
static const char *needed(const struct unc_table *t, const struct unc_tbl_field *f)
{
	const struct unc_tbl_set *set = NULL;

	while ((set = UNC_NEXT(t, set, f->with, set)) != NULL)
		if (t->field[set->field].reg[0] == UNC_NONE)
			return unc_tbl_str(t, t->field[set->field].name);
	return NULL;
}

/* Appends the fields of a filter register that the event takes; bits of no field are an error. */
static int put_filter(struct spelling *s, struct unc_buf *out, uint16_t event, uint16_t reg,
		      uint64_t value)
{
	const struct unc_table *t = s->p->table;
	uint64_t rest = value;
	const char *with;

	for (const struct unc_tbl_field *f = NULL;
	     rest && (f = UNC_NEXT(t, field, t->type[s->type].fields, f));) {
		uint64_t bits = unc_field_bits(f, reg);

		if (!(rest & bits) || f->reg[0] != reg || f->width[1] ||
		    !unc_event_takes(t, event, (uint16_t)(f - t->field)))
			continue;
		if ((with = needed(t, f)) != NULL)
			return refuse_name(s, UNC_ERR_INVALID,
					   "%s does nothing without %s: ask for it as %s=",
					   unc_tbl_str(t, f->name), with, unc_tbl_str(t, f->name));
		unc_put(out, ":%s=%#llx", unc_tbl_str(t, f->name),
			(unsigned long long)unc_field_of(f, value) << f->shift);
		rest &= ~bits;
	}
	return rest ? refuse_name(s, UNC_ERR_INVALID,
				  "bits %#llx of %s are no field that %s.%s takes",
				  (unsigned long long)rest, unc_tbl_str(t, t->reg[reg].name),
				  unc_type_name(t, s->type), unc_event_name(t, event))
		    : 0;
}

static int put_filters(struct spelling *s, struct unc_buf *out, uint16_t event)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_filters && rc == 0; i++)
		rc = put_filter(s, out, event, s->filter[i].reg, s->filter[i].value);
	return rc;
}

static int put_place(const struct spelling *s, struct unc_buf *out)
{
	if (s->index >= 0)
		unc_put(out, ":unit=%d", s->index);
	if (s->socket >= 0)
		unc_put(out, ":socket=%d", s->socket);
	return out->n < out->size ? 0 : refuse_name(s, UNC_ERR_INVALID, "the text is too long");
}

/* ---- perf */

/* Finds the terms of an alias that the kernel has for the PMU of any unit. */
static int find_alias(struct spelling *s, char *terms, size_t size)
{
	char alias[UNC_SPEC_MAX];
	const struct unc_table *t = s->p->table;
	char pmu[UNC_KERNEL_NAME];
	bool is_there = false;

	snprintf(alias, sizeof(alias), "%s", terms);
	for (unsigned i = 0; i < UNC_MAX_PLACES; i++) {
		if (!unc_kernel_pmu(t, s->type, 0, i, pmu, sizeof(pmu)) || !s->p->fs)
			continue;
		if (unc_fs_text(s->p->fs, terms, size, "/sys/bus/event_source/devices/%s/events/%s",
				pmu, alias) == 0)
			return 0;
		is_there |= unc_fs_exists(s->p->fs, "/sys/bus/event_source/devices/%s", pmu);
	}
	return refuse_name(
		s, UNC_ERR_NOT_FOUND,
		is_there ? "the kernel's %s has no alias %.60s"
			 : "an alias is what the kernel's driver says, and it has no PMU of %s "
			   "here (%.60s)",
		unc_type_name(t, s->type), alias);
}

/* Filters that perf leaves out are written as 0. */
static int decode_terms(struct spelling *s, struct unc_spec *out)
{
	const struct unc_table *t = s->p->table;
	const struct unc_tbl_kernel *k = unc_find_kernel(t, &t->type[s->type], false);
	uint64_t ctl = s->ctl | t->type[s->type].enable;
	struct unc_error why = {0};
	struct unc_code_filter *filter;
	int rc = unc_code_decode(t, s->type, ctl, s->filter, s->n_filters, out, &why);

	for (int half = 0; rc == UNC_ERR_INVALID && k && half < 4; half++) {
		if (k->config[half] == UNC_NONE)
			continue;
		if (!(filter = filter_of(s, k->config[half])))
			return fail_room(s);
		filter->mask |= UINT32_MAX;
	}
	if (rc == UNC_ERR_INVALID)
		rc = unc_code_decode(t, s->type, ctl, s->filter, s->n_filters, out, &why);
	if (rc == UNC_ERR_NOT_FOUND)
		return refuse_name(s, rc, "no event of %s has event=%#llx,umask=%#llx%s",
				   unc_type_name(t, s->type), (unsigned long long)(s->ctl & 0xff),
				   (unsigned long long)((s->ctl >> 8 & 0xff) | s->ctl >> 32 << 8),
				   s->ctl & 0xffff0000 ? " with these fields" : "");
	return rc < 0 ? refuse_name(s, rc, "%s", why.text) : 0;
}

/* Writes the event of the terms, and places after it: ":socket=0". */
static int put_event(struct spelling *s, const char *places, char *out, size_t size)
{
	struct unc_buf buf = unc_buf(out, size);
	struct unc_spec spec;
	int rc = decode_terms(s, &spec);

	if (rc < 0)
		return rc;
	if (unc_spec_format(s->p->table, &spec, out, size) < 0)
		return refuse_name(s, UNC_ERR_INVALID, "the text is too long");
	buf.n = strlen(out);
	unc_put(&buf, "%s", places);
	return put_place(s, &buf);
}

static int of_perf(struct spelling *s, char *out, size_t size)
{
	const struct unc_table *t = s->p->table;
	const char *slash = strchr(s->text, '/'), *end = strrchr(s->text, '/');
	char terms[UNC_SPEC_MAX];
	bool found = find_pmu(s, s->text, (size_t)(slash - s->text));
	int rc = 0;

	s->tool = "perf";
	if (!found && slash == end)
		return UNC_ERR_NOT_FOUND; /* of no PMU */
	if (slash == end || (end[1] && end[1] != ':'))
		return refuse_name(s, UNC_ERR_INVALID, "want PMU/TERM,.../");
	if (!found)
		return refuse_name(s, UNC_ERR_NOT_FOUND,
				   "%.*s is no PMU of units that the tables of %s have",
				   (int)(slash - s->text), s->text, unc_tbl_str(t, t->name));
	snprintf(terms, sizeof(terms), "%.*s", (int)(end - slash - 1), slash + 1);
	if (t->type[s->type].by_kernel) {
		struct unc_buf buf = unc_buf(out, size);

		if ((rc = put_terms(s, terms, &buf)) < 0)
			return rc;
		unc_put(&buf, "%s", end + 1);
		return put_place(s, &buf);
	}
	if (*terms && !strpbrk(terms, "=,") && !find_field(s, terms))
		rc = find_alias(s, terms, sizeof(terms));
	if (rc == 0)
		rc = add_terms(s, terms);
	if (rc < 0)
		return rc;
	return put_event(s, end + 1, out, size);
}

/* ---- raw events */

/* Translates "imc3.RAW:event=0x05:umask=0xcf:socket=0": terms of perf in our form. */
static int of_raw(struct spelling *s, const char *dot, char *out, size_t size)
{
	char words[UNC_SPEC_MAX], *word, *next = words;
	char terms[UNC_SPEC_MAX], places[UNC_SPEC_MAX];
	struct unc_buf term = UNC_BUF(terms), place = UNC_BUF(places);
	int rc;

	s->tool = "perf";
	if (!find_unit(s, s->text, (size_t)(dot - s->text)))
		return refuse_name(s, UNC_ERR_NOT_FOUND, "%.*s is no unit type of %s",
				   (int)(dot - s->text), s->text,
				   unc_tbl_str(s->p->table, s->p->table->name));
	snprintf(words, sizeof(words), "%s", dot + strlen(raw));
	while ((word = strsep(&next, ":")) != NULL)
		if (unc_is_place(word, strcspn(word, "=")))
			unc_put(&place, ":%s", word);
		else
			unc_put(&term, "%s%s", term.n ? "," : "", word);
	if (s->p->table->type[s->type].by_kernel) /* such a type has the event, with all fields */
		return UNC_ERR_NOT_FOUND;
	rc = add_terms(s, terms);
	return rc < 0 ? rc : put_event(s, places, out, size);
}

/* ---- libpfm4 */

/* Adds ":cpu=0", ":config1=0x..." or ":filter1=0x..."; *kept: the word is ours. */
static int add_modifier(struct spelling *s, const char *word, bool *kept)
{
	const char *equal = strchr(word, '=');
	size_t n = equal ? (size_t)(equal - word) : 0;
	uint64_t value = 0;
	bool cpu = n == 3 && strncasecmp(word, "cpu", n) == 0;
	bool number = n == 7 && strncasecmp(word, "filter", 6) == 0 && strchr("01", word[6]);
	bool filter =
		number || (n == 7 && strncasecmp(word, "config", 6) == 0 && strchr("12", word[6]));

	*kept = !cpu && !filter;
	if (*kept)
		return 0;
	if (!unc_parse_number(equal + 1, &value))
		return refuse_name(s, UNC_ERR_INVALID, "%.60s is not a number", word);
	if (number && value > UINT32_MAX)
		return refuse_name(s, UNC_ERR_RANGE, "%.60s does not fit", word);
	if (number)
		return add_half(s, 1, word[6] == '1', value);
	if (filter)
		return add_config(s, word[6] == '1' ? 1 : 2, value);
	for (int i = 0; i < s->p->topology.n_sockets && s->socket < 0 && value < UNC_MAX_CPUS; i++)
		if (unc_topology_socket(&s->p->topology, (int)value) == i ||
		    s->p->topology.socket[i].cpu == (int)value)
			s->socket = i;
	if (cpu && s->socket < 0)
		return refuse_name(s, UNC_ERR_RANGE, "there is no CPU %llu here",
				   (unsigned long long)value);
	return 0;
}

/* Encodes the text; false: it is incomplete or wrong, which the parser reports. */
static bool encode_text(const struct spelling *s, const char *text, struct unc_code *code)
{
	struct unc_error why;
	struct unc_spec spec;

	return unc_spec_parse(s->p->table, text, &spec, &why) == 0 &&
	       unc_spec_encode(s->p->table, &spec, 0, 1, code, &why) == 0;
}

/* Bits that the text sets in a filter register, beyond those that were given. */
static uint64_t beyond(const struct spelling *s, const struct unc_code *code, size_t i)
{
	for (size_t k = 0; k < code->n_filters; k++)
		if (code->filter[k].reg == s->filter[i].reg)
			return (code->filter[k].value ^ s->filter[i].value) & code->filter[k].mask &
			       s->filter[i].mask;
	return 0;
}

/* Sets defaults to 0 in a given filter register: a given register is the whole value. */
static int zero_defaults(struct spelling *s, struct unc_buf *out, uint16_t event)
{
	const struct unc_table *t = s->p->table;
	struct unc_code code;

	if (!encode_text(s, out->text, &code))
		return 0;
	for (size_t i = 0; i < s->n_filters; i++)
		for (const struct unc_tbl_field *f = NULL;
		     (f = UNC_NEXT(t, field, t->type[s->type].fields, f)) != NULL;)
			if (beyond(s, &code, i) & unc_field_bits(f, s->filter[i].reg) &&
			    unc_event_takes(t, event, (uint16_t)(f - t->field)))
				unc_put(out, ":%s=0", unc_tbl_str(t, f->name));
	if (!encode_text(s, out->text, &code))
		return 0;
	for (size_t i = 0; i < s->n_filters; i++)
		if (beyond(s, &code, i))
			return refuse_name(s, UNC_ERR_INVALID,
					   "%s.%s does not count with %#llx in %s",
					   unc_type_name(t, s->type), unc_event_name(t, event),
					   (unsigned long long)s->filter[i].value,
					   unc_tbl_str(t, t->reg[s->filter[i].reg].name));
	return 0;
}

/* Translates our words with modifiers of other tools among them. */
static int of_words(struct spelling *s, const char *name, char *out, size_t size)
{
	const struct unc_table *t = s->p->table;
	struct unc_buf buf = unc_buf(out, size);
	char words[UNC_SPEC_MAX], *word, *next = words;
	struct unc_spec spec;
	bool kept;
	int rc = 0;

	snprintf(words, sizeof(words), "%.*s", (int)strcspn(name, ":"), name);
	(void)unc_spec_parse(t, words, &spec, NULL);
	if (spec.event == UNC_NONE)
		return refuse_name(s, UNC_ERR_NOT_FOUND, "there is no event %.100s", words);
	s->type = spec.type;
	snprintf(words, sizeof(words), "%s", name);
	while (rc == 0 && (word = strsep(&next, ":")) != NULL) {
		rc = add_modifier(s, word, &kept);
		if (rc == 0 && kept)
			unc_put(&buf, "%s%s", buf.n ? ":" : "", word);
	}
	rc = rc < 0 ? rc : put_filters(s, &buf, spec.event);
	if (rc == 0 && s->n_filters)
		rc = zero_defaults(s, &buf, spec.event);
	return rc < 0 ? rc : put_place(s, &buf);
}

static int of_libpfm(struct spelling *s, char *out, size_t size)
{
	const struct unc_table *t = s->p->table;
	const char *unit = strstr(s->text, "_unc_"), *name = strstr(s->text, "::") + 2;
	const struct unc_tbl_kernel *k;
	const char *prefix;
	char text[UNC_SPEC_MAX];
	size_t length = 0;
	int number;

	s->tool = "libpfm4";
	if (!find_unit(s, unit + 5, (size_t)(name - 2 - (unit + 5))))
		return refuse_name(s, UNC_ERR_NOT_FOUND, "%.*s is no unit type of %s",
				   (int)(name - 2 - (unit + 5)), unit + 5, unc_tbl_str(t, t->name));
	k = unc_find_kernel(t, &t->type[s->type], false);
	number = s->index;
	if (number >= 0 && k && (s->index = unc_kernel_unit(k, number)) < 0)
		return refuse_name(s, UNC_ERR_NOT_FOUND, "the kernel has no %s of number %d",
				   unc_type_name(t, s->type), number);
	/* The type is known: "UNC_M_CAS_COUNT" is its CAS_COUNT. */
	for (prefix = unc_tbl_str(t, t->type[s->type].public_prefix); *prefix;
	     prefix += length + (prefix[length] == ',')) {
		length = strcspn(prefix, ",");
		if (strncasecmp(name, prefix, length) == 0) {
			name += length;
			break;
		}
	}
	snprintf(text, sizeof(text), "%s.%s", unc_type_name(t, s->type), name);
	return of_words(s, text, out, size);
}

/* ---- kinds of names */

static int of_metric(struct spelling *s, char *out, size_t size)
{
	static const struct {
		const char *theirs, *ours, *tool;
	} rows[] = {
#define METRIC(theirs, ours, tool) {theirs, ours, tool},
#include "platform/foreign.inc"
	};
	size_t n = strcspn(s->text, ":");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].theirs) == n && strncasecmp(s->text, rows[i].theirs, n) == 0) {
			s->tool = rows[i].tool;
			snprintf(out, size, "%s%s", rows[i].ours, s->text + n);
			return 0;
		}
	return UNC_ERR_NOT_FOUND;
}

/* Whether event files of the CPU use the prefix of a name, "UNC_H_"; "-UNC_H_" is a prefix that
 * they call deprecated. */
static bool has_prefix(const struct unc_table *t, const char *name)
{
	char prefix[24] = "-";
	size_t n = strcspn(name, "_");

	n += name[n] ? 1 + strcspn(name + n + 1, "_") : 0;
	snprintf(prefix + 1, sizeof(prefix) - 1, "%.*s_", (int)n, name);
	for (size_t i = 0; i < t->n_type; i++)
		if (unc_list_has(unc_tbl_str(t, t->type[i].public_prefix), prefix) ||
		    unc_list_has(unc_tbl_str(t, t->type[i].public_prefix), prefix + 1))
			return true;
	return false;
}

/* A name that Intel's event files call deprecated. */
static int of_old(struct spelling *s, char *out, size_t size)
{
	static const struct {
		const char *before, *now;
	} rows[] = {
#define OLD(before, now) {before, now},
#include "platform/foreign.inc"
	};
	struct unc_spec spec;
	char rest[UNC_SPEC_MAX];

	if (!has_prefix(s->p->table, s->text))
		return UNC_ERR_NOT_FOUND;
	snprintf(out, size, "%s", s->text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].before);

		if (strncasecmp(out, rows[i].before, n) != 0)
			continue;
		snprintf(rest, sizeof(rest), "%s", out + n);
		snprintf(out, size, "%s%s", rows[i].now, rest);
		if (unc_spec_parse(s->p->table, out, &spec, NULL) == 0) {
			s->tool = "Intel's event files";
			return 0;
		}
	}
	return UNC_ERR_NOT_FOUND;
}

/* "CAS_COUNT.RD", a public event without its prefix: a umask after a dot, and no unit type. */
static int of_event_file(struct spelling *s, char *out, size_t size)
{
	struct unc_spec spec;

	snprintf(out, size, "%s", s->text);
	for (char *dot = out; (dot = strchr(dot, '.')) != NULL; dot++) {
		*dot = ':';
		if (unc_spec_parse(s->p->table, out, &spec, NULL) == 0) {
			s->tool = "Intel's event files";
			return 0;
		}
		*dot = '.';
	}
	return UNC_ERR_NOT_FOUND;
}

static bool has_modifier(const char *text)
{
	return strcasestr(text, ":config") || strcasestr(text, ":filter") ||
	       strcasestr(text, ":cpu=");
}

/* Translates another tool's name into ours; UNC_ERR_NOT_FOUND without a sentence: no tool's. */
static int translate(struct spelling *s, char *out, size_t size)
{
	const char *unit = strstr(s->text, "_unc_"), *colons = strstr(s->text, "::");
	const char *dot = strcasestr(s->text, raw);

	if (strlen(s->text) >= UNC_SPEC_MAX)
		return UNC_ERR_NOT_FOUND;
	if (strchr(s->text, '/'))
		return of_perf(s, out, size);
	if (dot)
		return of_raw(s, dot, out, size);
	if (unit && colons > unit)
		return of_libpfm(s, out, size);
	s->tool = "perf";
	if (has_modifier(s->text))
		return of_words(s, s->text, out, size);
	if (of_metric(s, out, size) == 0 || of_old(s, out, size) == 0)
		return 0;
	return of_event_file(s, out, size);
}

int unc_platform_parse(const struct unc_platform *p, const char *text, bool event,
		       struct unc_name *name, struct unc_error *err)
{
	int (*parse)(const struct unc_table *, const char *, struct unc_name *,
		     struct unc_error *) = event ? unc_name_event : unc_name_parse;
	struct unc_error why = {0};
	struct spelling s = {.p = p, .text = text, .index = -1, .socket = -1, .err = &why};
	char ours[2 * UNC_SPEC_MAX];
	const char *left;
	int rc = parse(p->table, text, name, NULL);

	if (rc == 0)
		return 0;
	rc = translate(&s, ours, sizeof(ours));
	if ((left = unc_named_left(&p->named, text)) != NULL)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", left);
	if (rc == UNC_ERR_NOT_FOUND && !why.code)
		return parse(p->table, text, name, err);
	s.err = err;
	if (rc == 0) {
		rc = parse(p->table, ours, name, &why);
		return rc < 0 ? refuse_name(&s, rc, "%s", why.text) : 0;
	}
	return unc_fail(err, rc, "%s", why.text);
}
