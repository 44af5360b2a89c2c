/* SPDX-License-Identifier: BSD-3-Clause */
/* PMUs that the kernel names (named.h): one type, with its fields, events, metrics and units. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "host/events.h"
#include "machine/named_rows.h"

enum {
	CONFIGS = 3,
	HALVES = 4,
	MOST = 32
}; /* config, config1, config2; halves of the latter; counters */

struct making {
	struct unc_naming *m;
	const struct unc_named_pmu *pmu;
	size_t type;
	uint64_t bits; /* of config that fields have */
};

static struct unc_tbl_type *type_of(const struct making *w)
{
	return (struct unc_tbl_type *)(uintptr_t)&w->m->t->type[w->type];
}

/* ---- registers, which are never accessed; an event is config, config1 and config2 */

/* One register a counter, and one a half of config1 and config2, which all types share. */
static uint16_t find_registers(struct unc_naming *m)
{
	static const char *const halves[HALVES] = {"config1_low", "config1_high", "config2_low",
						   "config2_high"};
	size_t first = m->t->n_reg;

	for (size_t i = 0; i < m->t->n_type; i++)
		if (m->t->type[i].by_kernel)
			return m->t->type[i].regs.first;
	for (unsigned i = 0; i < HALVES; i++) {
		struct unc_tbl_reg *reg = UNC_NAMED_ROW(m, reg);

		reg->name = unc_named_text(m, "%s", halves[i]);
		reg->write_mask = UINT32_MAX;
		reg->width = 32;
	}
	for (unsigned i = 0; i < 2 * MOST; i++) {
		struct unc_tbl_reg *reg = UNC_NAMED_ROW(m, reg);

		reg->role = i < MOST ? UNC_ROLE_CTL : UNC_ROLE_CTR;
		reg->name = unc_named_text(m, i < MOST ? "CTL%u" : "CTR%u", i % MOST);
		reg->number = reg->nth = (uint8_t)(i % MOST);
		reg->width = 64;
		reg->write_mask = i < MOST ? UINT64_MAX : 0;
	}
	return (uint16_t)first;
}

/* ---- fields */

static bool is_word(const char *name)
{
	return *name && !isdigit((unsigned char)*name) &&
	       !name[strspn(name,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* Adds bits first to last of config (0), config1 or config2; false: there is no room for the piece. */
static bool add_piece(struct unc_tbl_field *f, uint16_t regs, unsigned config, unsigned first,
		      unsigned last)
{
	unsigned end = config && first < 32 && last > 31 ? 31 : last, p = 0;

	while (p < UNC_PIECES && f->width[p])
		p++;
	if (p == UNC_PIECES)
		return false;
	f->reg[p] = config ? (uint16_t)(regs + 2 * (config - 1) + first / 32) : UNC_NONE;
	f->lo[p] = (uint8_t)(config ? first % 32 : first);
	f->width[p] = (uint8_t)(end - first + 1);
	return end == last || add_piece(f, regs, config, end + 1, last);
}

/* Parses "config1:0-7,32". Returns why it cannot be used; *lies: the whole PMU cannot be trusted. */
static const char *parse_field(struct unc_tbl_field *f, const char *text, uint16_t regs,
			       uint64_t *bits, bool *lies)
{
	static const char *const words[CONFIGS] = {"config", "config1", "config2"};
	const char *list = strchr(text, ':');
	unsigned config = 0, first, last;
	uint64_t seen = 0;

	while (list && config < CONFIGS &&
	       (strlen(words[config]) != (size_t)(list - text) ||
		strncmp(words[config], text, (size_t)(list - text)) != 0))
		config++;
	if (!list || config == CONFIGS)
		return "it is not of config, config1 or config2";
	do {
		list++;
		*lies = !unc_range_next(&list, 64, &first, &last) || (*list && *list != ',');
		if (*lies)
			return "it is not a list of bits like config:0-7,32";
		uint64_t piece = unc_ones(last - first + 1) << first;

		*lies = (seen & piece) != 0;
		if (*lies)
			return "it has a bit twice";
		seen |= piece;
		if (!add_piece(f, regs, config, first, last))
			return "it has more than three pieces";
	} while (*list);
	*bits = config ? 0 : seen;
	return NULL;
}

/* Adds a field from a line "NAME=config:0-7" of the formats; false: the PMU is left out. */
static bool add_format_field(struct making *w, const char *name, const char *text)
{
	struct unc_naming *m = w->m;
	struct unc_tbl_field f = {
		.flags = UNC_FIELD_USER, .needs = UNC_NONE, .mask = UNC_NONE, .like = UNC_NONE};
	const char *why;
	uint64_t bits = 0;
	bool lies = false;

	for (unsigned p = 0; p < UNC_PIECES; p++)
		f.reg[p] = UNC_NONE;
	why = parse_field(&f, text, type_of(w)->regs.first, &bits, &lies);
	if (!why && (!is_word(name) || unc_is_place(name, strlen(name))))
		why = "its name says where an event counts, or has other letters than a-z, 0-9 and "
		      "_";
	if (why) {
		unc_named_leave(m, w->pmu->name, lies ? NULL : name, "format/%s is '%.40s': %s%s",
				name, text, why, lies ? "" : ", so events cannot have it");
		return !lies;
	}
	f.name = unc_named_text(m, "%s", name);
	f.desc = unc_named_text(m, "%s of the kernel's event", text);
	*UNC_NAMED_ROW(m, field) = f;
	type_of(w)->fields.n++;
	w->bits |= bits;
	return true;
}

/* False: the PMU is left out. */
static bool add_fields(struct making *w)
{
	char *copy = strdup(w->pmu->format), *rest = copy, *line, *text;
	bool sound = copy != NULL;

	while (sound && (line = strsep(&rest, "\n")) != NULL && *line) {
		if (!(text = strchr(line, '='))) {
			unc_named_leave(w->m, w->pmu->name, NULL,
					"its format/ has a file of several lines");
			sound = false;
			continue;
		}
		*text++ = '\0';
		sound = add_format_field(w, line, text);
	}
	free(copy);
	return sound;
}

static uint16_t find_named_field(const struct making *w, const char *name)
{
	return UNC_FIND(w->m->t, field, type_of(w)->fields, name);
}

/* ---- events */

/* Adds a term of an event's file, "umask=0x01" or "edge", as a row. Returns why it cannot be used, or NULL. */
static const char *add_term(struct making *w, char *term, struct unc_range *sets)
{
	char *equal = strchr(term, '=');
	uint64_t value = 1;
	struct unc_tbl_set *set;
	uint16_t field;

	if (equal)
		*equal++ = '\0';
	if ((field = find_named_field(w, term)) == UNC_NONE)
		return "is no field of its format/";
	if (equal && !unc_parse_number(equal, &value))
		return "has no number: RAW takes one";
	if (value & ~unc_field_max(&w->m->t->field[field]))
		return "does not fit into its field";
	set = UNC_NAMED_ROW(w->m, set);
	set->field = field;
	set->value = value;
	sets->n++;
	return NULL;
}

/* False: the event is left out, and that has been noted. */
static bool add_terms(struct making *w, const char *event, const char *terms,
		      struct unc_range *sets)
{
	char term[UNC_KERNEL_NAME], whole[UNC_KERNEL_NAME];
	const char *why = NULL;

	*sets = (struct unc_range){(uint16_t)w->m->t->n_set, 0};
	while (terms && !why) {
		why = unc_list_next(&terms, term, sizeof(term)) ? NULL : "is too long";
		memcpy(whole, term, sizeof(whole));
		if (!why)
			why = add_term(w, term, sets);
	}
	if (why)
		unc_named_leave(w->m, w->pmu->stem, event,
				"the kernel's events/ says '%s', which %s", whole, why);
	return !why;
}

/* Adds an event with these settings to the type. */
static void add_named_event(struct making *w, const char *name, const char *desc,
			    const struct unc_tbl_fields *fields)
{
	struct unc_naming *m = w->m;
	struct unc_tbl_event event = {.fields = *fields,
				      .counters = (uint32_t)unc_ones(type_of(w)->n_counters),
				      .counter = UNC_NONE,
				      .type = (uint16_t)w->type,
				      .max_inc = 1,
				      .estimate = 1};

	event.name = unc_named_text(m, "%s", name);
	event.desc = unc_named_text(m, "%s", desc);
	event.umasks.first = (uint16_t)m->t->n_umask;
	*UNC_NAMED_ROW(m, event) = event;
	type_of(w)->events.n++;
}

/* Adds the metric of an event in bytes, `EVENT_bytes`, or in the unit of its file. */
static void add_scaled(struct making *w, const char *event, const char *scale, const char *unit)
{
	static const struct {
		char name[8], factor[12];
	} sizes[] = {{"Bytes", "1"}, {"KiB", "1024"}, {"MiB", "1048576"}};
	struct unc_naming *m = w->m;
	struct unc_tbl_metric metric = {.type = (uint16_t)w->type, .kind = UNC_METRIC_TOTAL};
	char own[24] = "scaled";
	double number;
	size_t i = 0;

	if (!unc_parse_double(scale, &number) || !(number > 0)) {
		unc_named_leave(m, w->pmu->stem, event, "its .scale, '%.40s', is no number", scale);
		return;
	}
	while (i < sizeof(sizes) / sizeof(sizes[0]) && !unc_same(sizes[i].name, unit))
		i++;
	for (size_t k = 0; is_word(unit) && strlen(unit) < sizeof(own) && k <= strlen(unit); k++)
		own[k] = (char)tolower((unsigned char)unit[k]);
	if (i < sizeof(sizes) / sizeof(sizes[0]))
		snprintf(own, sizeof(own), "bytes");
	metric.name = unc_named_text(m, "%s_%s", event, own);
	metric.unit = unc_named_text(m, "%s", *unit ? own : "count");
	metric.formula =
		unc_named_text(m, "%s.%s * %s * %s", w->pmu->stem, event, scale,
			       i < sizeof(sizes) / sizeof(sizes[0]) ? sizes[i].factor : "1");
	metric.desc = unc_named_text(m, "%s in %s: the kernel says that one is %s %s.", event,
				     *unit ? own : "its unit", scale, unit);
	*UNC_NAMED_ROW(m, metric) = metric;
}

/* Reads a file that belongs to an event, "data_read.scale"; "": there is none. */
static void read_beside(const struct making *w, const char *event, const char *what, char *text,
			size_t size)
{
	if (unc_fs_text(w->m->fs, text, size, UNC_NAMED_FOLDER "/%s/events/%s.%s", w->pmu->name,
			event, what) < 0)
		*text = '\0';
}

static void read_event_file(struct making *w, const char *name)
{
	char terms[256], scale[64], unit[64], text[UNC_ERROR_MAX];
	struct unc_buf desc = UNC_BUF(text);
	struct unc_tbl_fields fields = {.sets = {0}};

	if (strchr(name, '.') || UNC_FIND(w->m->t, event, type_of(w)->events, name) != UNC_NONE)
		return;
	if (!is_word(name)) {
		unc_named_leave(w->m, w->pmu->stem, name,
				"a name here has the letters a-z, 0-9 and _ only");
		return;
	}
	if (unc_fs_text(w->m->fs, terms, sizeof(terms), UNC_NAMED_FOLDER "/%s/events/%s",
			w->pmu->name, name) < 0) {
		unc_named_leave(w->m, w->pmu->stem, name, "it cannot be read: %s",
				unc_fs_reason(errno));
		return;
	}
	if (!add_terms(w, name, terms, &fields.sets))
		return;
	read_beside(w, name, "scale", scale, sizeof(scale));
	read_beside(w, name, "unit", unit, sizeof(unit));
	unc_put(&desc, "%s of the kernel: %s", name, terms);
	if (*scale)
		unc_put(&desc, "; one is %s %s", scale, unit);
	add_named_event(w, name, desc.text, &fields);
	if (*scale)
		add_scaled(w, name, scale, unit);
}

/* Adds the events of a PMU that other PMUs of its type do not have. */
static void read_events(struct making *w)
{
	char **names = unc_named_list(w->m->fs, w->pmu->name, "/events");

	for (char **name = names; name && *name && !w->m->rc; name++)
		read_event_file(w, *name);
	free(names);
}

/* Adds the event RAW, with all fields; the field that selects the event must be given. */
static void add_raw(struct making *w)
{
	static const char *const words[] = {"event", "type", "mask"};
	struct unc_tbl_fields fields = {.sets = {0}};
	uint16_t event = UNC_NONE;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && event == UNC_NONE; i++)
		event = find_named_field(w, words[i]);
	if (event != UNC_NONE) {
		fields.needs = (struct unc_range){(uint16_t)w->m->t->n_set, 1};
		UNC_NAMED_ROW(w->m, set)->field = event;
	}
	add_named_event(w, "RAW", "Any event, by the fields of the kernel's format.", &fields);
}

/* ---- units */

/* A PMU with several CPUs of a socket, as amd_l3, has a unit for each. */
static void add_named_units(struct making *w, unsigned per)
{
	unsigned seen[UNC_MAX_SOCKETS] = {0};

	for (size_t i = 0; i < w->pmu->n_cpus && !w->m->rc; i++) {
		uint16_t socket = w->pmu->socket[i];
		unsigned index =
			seen[socket]++ + per * (w->pmu->number < 0 ? 0 : (unsigned)w->pmu->number);
		struct unc_named_unit *unit;

		if (index >= UNC_MAX_PLACES) {
			unc_named_leave(w->m, w->pmu->name, NULL,
					"a socket has more than %d units of %s: the rest is left "
					"out",
					UNC_MAX_PLACES, w->pmu->stem);
			return;
		}
		if (!(unit = UNC_ADD_TO(w->m->out->unit, w->m->out->n_units))) {
			unc_named_no_memory(w->m);
			return;
		}
		*unit = (struct unc_named_unit){(uint16_t)w->type, socket, (uint16_t)index, ""};
		snprintf(unit->pmu, sizeof(unit->pmu), "%s", w->pmu->name);
	}
}

/* ---- all of it */

static void add_kernel(struct making *w, unsigned per)
{
	struct unc_naming *m = w->m;
	struct unc_tbl_kernel kernel = {.bits = w->bits, .per = (uint8_t)(per > 1 ? per : 0)};
	struct unc_tbl_kernel_filter *filter;

	type_of(w)->kernels = (struct unc_range){(uint16_t)m->t->n_kernel, 1};
	type_of(w)->kernel_filters = (struct unc_range){(uint16_t)m->t->n_kernel_filter, 1};
	kernel.name = unc_named_text(m, "%s", w->pmu->pattern);
	for (unsigned i = 0; i < HALVES; i++)
		kernel.config[i] = (uint16_t)(type_of(w)->regs.first + i);
	*UNC_NAMED_ROW(m, kernel) = kernel;
	filter =
		UNC_NAMED_ROW(m, kernel_filter); /* whatever the event: all that the format names */
	filter->bits[0] = filter->bits[1] = UINT64_MAX;
}

static void begin_type(struct making *w)
{
	struct unc_naming *m = w->m;
	struct unc_tbl_type type = {.discovery = -1, .by_kernel = 1, .width = 64, .max_inc = 1};
	struct unc_tbl_part *part;

	type.unit_ctl = type.status = type.f_event = type.f_umask = UNC_NONE;
	type.regs = (struct unc_range){find_registers(m), HALVES + 2 * MOST};
	type.first_ctl = (uint16_t)(type.regs.first + HALVES);
	type.first_ctr = (uint16_t)(type.first_ctl + MOST);
	type.n_counters = (uint8_t)unc_events_counters(w->pmu->name);
	type.port_zero = type.bus_zero = 255;
	type.name = unc_named_text(m, "%s", w->pmu->stem);
	type.title = unc_named_text(m, "%s", unc_events_title(w->pmu->name));
	type.desc = unc_named_text(
		m, "Known by what the kernel says of its PMU %s: no table describes it.",
		w->pmu->pattern);
	type.parts = (struct unc_range){(uint16_t)m->t->n_part, 1};
	part = UNC_NAMED_ROW(m, part);
	part->space = UNC_SPACE_NONE;
	type.fields.first = (uint16_t)m->t->n_field;
	type.events.first = (uint16_t)m->t->n_event;
	w->type = m->t->n_type;
	*UNC_NAMED_ROW(m, type) = type;
}

void unc_named_type(struct unc_naming *m, size_t first)
{
	struct making w = {.m = m, .pmu = &m->pmu[first]};
	const char *stem = w.pmu->stem;
	unsigned per = 1;

	for (size_t i = first; i < m->n_pmus; i++) {
		struct unc_named_pmu *pmu = &m->pmu[i];

		if (pmu->done || strcmp(pmu->stem, stem) != 0)
			continue;
		if (strcmp(pmu->pattern, w.pmu->pattern) != 0 ||
		    strcmp(pmu->format, w.pmu->format) != 0) {
			unc_named_leave(m, pmu->name, NULL,
					"its name or format/ is not as that of %s", w.pmu->name);
			pmu->done = true;
		} else if (pmu->per > per) { /* more units of a socket than places are left out */
			per = pmu->per < UNC_MAX_PLACES ? pmu->per : UNC_MAX_PLACES;
		}
	}
	begin_type(&w);
	if (m->rc || !add_fields(&w)) { /* the last row goes again, and its PMUs */
		m->t->n_type -= m->t->n_type > w.type;
	} else {
		add_kernel(&w, per);
		add_raw(&w);
	}
	for (size_t i = first; i < m->n_pmus && !m->rc; i++) {
		if (m->pmu[i].done || strcmp(m->pmu[i].stem, stem) != 0)
			continue;
		m->pmu[i].done = true;
		if (m->t->n_type == w.type)
			continue;
		w.pmu = &m->pmu[i];
		read_events(&w);
		add_named_units(&w, per);
	}
}
