/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: TYPE.events. */
#include "table_build.h"

#include <stdio.h>
#include <string.h>

enum { MAX_EVENT_NAME = 63 };

static const struct unc_tbl_type *current(const struct unc_table_reader *r)
{
	return &r->t.type[r->type];
}

/* key=value words that are no column are fields. `code` first, so that it is set 0 of an event. */
static int take_settings(struct unc_table_reader *r, struct unc_line *line, struct unc_range *range,
			 struct unc_error *err)
{
	for (size_t i = 0; i < line->n; i++) {
		struct unc_word *w = &line->word[i];

		if (!w->key || w->used)
			continue;
		w->used = true;
		int rc = unc_add_setting(r, w->key, w->value, range, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_counters(struct unc_table_reader *r, struct unc_line *line, bool needed,
			 uint32_t *mask, struct unc_error *err)
{
	const char *text = unc_take(line, "counters");
	uint64_t bits;

	if (!text)
		return needed ? unc_fail(err, UNC_ERR_TABLE, "counters= is missing") : 0;
	if (!unc_parse_mask(text, &bits) || (bits & ~(uint64_t)unc_type_counters(current(r))))
		return unc_fail(err, UNC_ERR_TABLE, "counters=%s: %s has counters %d-%d", text,
				unc_tbl_str(&r->t, current(r)->name), current(r)->first,
				current(r)->first + current(r)->n_counters - 1);
	*mask = (uint32_t)bits;
	return 0;
}

static int take_counter(struct unc_table_reader *r, struct unc_line *line, uint16_t *counter,
			struct unc_error *err)
{
	const struct unc_range *all = &current(r)->counters;
	const char *text = unc_take(line, "counter");

	*counter = UNC_NONE;
	for (uint32_t i = 0; text && i < all->n; i++)
		if (unc_same(text, unc_tbl_str(&r->t, r->t.counter[all->first + i].name))) {
			*counter = (uint16_t)(all->first + i);
			return 0;
		}
	return text ? unc_fail(err, UNC_ERR_TABLE, "counter=%s: %s has no such counter", text,
			       unc_tbl_str(&r->t, current(r)->name))
		    : 0;
}

/* lane=NAME:SET */
static int take_lane(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_event *e,
		     struct unc_error *err)
{
	const struct unc_range *lanes = &current(r)->lanes;
	const char *text = unc_take(line, "lane");
	size_t length = text ? strcspn(text, ":") : 0;
	uint64_t set;

	if (!text)
		return 0;
	if (!text[length] || !unc_parse_number(text + length + 1, &set) || set > UINT8_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "lane=%s: want NAME:SET", text);
	for (uint32_t i = 0; i < lanes->n; i++) {
		const char *name = unc_tbl_str(&r->t, r->t.lane[lanes->first + i].name);

		if (strlen(name) == length && strncmp(name, text, length) == 0) {
			e->lane = (uint16_t)(lanes->first + i + 1);
			e->set = (uint8_t)set;
			return 0;
		}
	}
	return unc_fail(err, UNC_ERR_TABLE, "lane=%s: %s has no such lane", text,
			unc_tbl_str(&r->t, current(r)->name));
}

static bool good_name(const char *name)
{
	return name && strlen(name) <= MAX_EVENT_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
		       strlen(name);
}

static int code_field(struct unc_table_reader *r, struct unc_line *line, struct unc_tbl_event *e,
		      struct unc_error *err)
{
	const char *text = unc_take(line, "code");
	uint64_t code;
	int rc;

	if (!text) { /* then a fixed counter, its own or that of each umask: unc_events_end_type()
		      */
		if (unc_take(line, "counters"))
			return unc_fail(err, UNC_ERR_TABLE, "counters= without code=");
		return 0;
	}
	if (e->counter != UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "code= and counter= exclude each other");
	if (current(r)->f_event == UNC_NONE || !unc_parse_number(text, &code) || code > UINT16_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "code=%s is not an event code of %s", text,
				unc_tbl_str(&r->t, current(r)->name));
	e->code = (uint16_t)code;
	rc = unc_add_setting(r, unc_tbl_str(&r->t, r->t.field[current(r)->f_event].name), text,
			     &e->sets, err);
	return rc < 0 ? rc : take_counters(r, line, true, &e->counters, err);
}

/* Two events may share an alias, which their umasks tell apart, but no name. */
static int check_unique(struct unc_table_reader *r, const char *name, bool is_alias,
			struct unc_error *err)
{
	for (size_t i = current(r)->events.first; i < r->t.n_event; i++) {
		const struct unc_tbl_event *e = &r->t.event[i];

		if (unc_same(unc_tbl_str(&r->t, e->name), name) ||
		    (!is_alias && e->alias && unc_same(unc_tbl_str(&r->t, e->alias), name)))
			return unc_fail(err, UNC_ERR_TABLE, "event %s is described twice", name);
	}
	return 0;
}

static int read_event(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_event e = {.type = r->type, .aggregate = current(r)->aggregate};
	const char *name = unc_take_plain(line), *alias = unc_take(line, "alias"),
		   *desc = unc_take_quoted(line);
	uint64_t max = current(r)->max_inc;
	int rc;

	if (!good_name(name) || (alias && !good_name(alias)))
		return unc_fail(err, UNC_ERR_TABLE,
				"event needs a name of letters, digits, _ and .");
	if (!desc || !desc[0])
		return unc_fail(err, UNC_ERR_TABLE, "event %s has no description", name);
	if ((rc = check_unique(r, name, false, err)) < 0 ||
	    (alias && (rc = check_unique(r, alias, true, err)) < 0) ||
	    (rc = take_counter(r, line, &e.counter, err)) < 0)
		return rc;
	if ((rc = code_field(r, line, &e, err)) < 0)
		return rc;
	if ((rc = unc_take_number(line, "max", false, UINT32_MAX, &max, err)) < 0 ||
	    (rc = take_lane(r, line, &e, err)) < 0 ||
	    (rc = unc_take_aggregate(line, &e.aggregate, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "needs", false, &e.needs, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "uses", false, &e.uses, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "default", true, &e.defaults, err)) < 0)
		return rc;
	/* The code is the first setting; the others must follow it directly. */
	struct unc_range sets = {0};
	if (e.sets.n) {
		uint64_t code = r->t.set[e.sets.first].value;
		uint16_t field = r->t.set[e.sets.first].field;

		sets.first = (uint32_t)r->t.n_set;
		sets.n = 1;
		*unc_add_set(r) = (struct unc_tbl_set){.field = field, .value = code};
	}
	if ((rc = take_settings(r, line, &sets, err)) < 0)
		return rc;
	e.sets = sets;
	e.clock = unc_take_flag(line, "clock");
	e.max_inc = (uint32_t)max;
	e.name = unc_add_string(r, name);
	e.alias = unc_add_string(r, alias ? alias : "");
	e.desc = unc_add_string(r, desc);
	e.umasks.first = (uint32_t)r->t.n_umask;
	*unc_add_event(r) = e;
	return 0;
}

static int umask_unique(struct unc_table_reader *r, const struct unc_tbl_event *e, const char *name,
			struct unc_error *err)
{
	for (uint32_t i = 0; i < e->umasks.n; i++) {
		const struct unc_tbl_umask *u = &r->t.umask[e->umasks.first + i];

		if (unc_same(unc_tbl_str(&r->t, u->name), name) ||
		    (u->alias && unc_same(unc_tbl_str(&r->t, u->alias), name)))
			return unc_fail(err, UNC_ERR_TABLE, "umask %s is described twice", name);
	}
	return 0;
}

static int read_umask(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	struct unc_tbl_umask u = {0};
	const char *name = unc_take_plain(line), *alias = unc_take(line, "alias"),
		   *unavailable = unc_take(line, "unavailable"), *desc = unc_take_quoted(line),
		   *value;
	uint8_t aggregate = UINT8_MAX;
	int rc;

	if (r->t.n_event == current(r)->events.first)
		return unc_fail(err, UNC_ERR_TABLE, "umask before the first event");
	struct unc_tbl_event *e = UNC_ROW(r, event, r->t.n_event - 1);
	if (!good_name(name) || (alias && !good_name(alias)))
		return unc_fail(err, UNC_ERR_TABLE,
				"umask needs a name of letters, digits, _ and .");
	if (!desc || !desc[0])
		return unc_fail(err, UNC_ERR_TABLE, "umask %s has no description", name);
	u.flags = (uint8_t)((unc_take_flag(line, "exact") ? UNC_UMASK_EXACT : 0) |
			    (unc_take_flag(line, "partial") ? UNC_UMASK_PARTIAL : 0) |
			    (unc_take_flag(line, "default") ? UNC_UMASK_DEFAULT : 0) |
			    (unc_take_flag(line, "choice") ? UNC_UMASK_CHOICE : 0));
	if ((rc = umask_unique(r, e, name, err)) < 0 ||
	    (alias && (rc = umask_unique(r, e, alias, err)) < 0) ||
	    (rc = take_counter(r, line, &u.counter, err)) < 0 ||
	    (rc = take_counters(r, line, false, &u.counters, err)) < 0 ||
	    (rc = unc_take_aggregate(line, &aggregate, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "needs", false, &u.needs, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "uses", false, &u.uses, err)) < 0 ||
	    (rc = unc_take_fields(r, line, "default", true, &u.defaults, err)) < 0)
		return rc;
	value = unc_take_plain(line);
	if (value) {
		if (current(r)->f_umask == UNC_NONE)
			return unc_fail(err, UNC_ERR_TABLE, "%s has no umask field",
					unc_tbl_str(&r->t, current(r)->name));
		rc = unc_add_setting(r, unc_tbl_str(&r->t, r->t.field[current(r)->f_umask].name),
				     value, &u.sets, err);
		if (rc < 0)
			return rc;
	}
	if ((rc = take_settings(r, line, &u.sets, err)) < 0)
		return rc;
	if (u.sets.n == 0 && u.counter == UNC_NONE)
		return unc_fail(err, UNC_ERR_TABLE, "umask %s sets nothing", name);
	u.name = unc_add_string(r, name);
	u.alias = unc_add_string(r, alias ? alias : "");
	u.unavailable = unc_add_string(r, unavailable ? unavailable : "");
	u.aggregate = aggregate == UINT8_MAX ? 0 : (uint8_t)(aggregate + 1);
	u.desc = unc_add_string(r, desc);
	*unc_add_umask(r) = u;
	UNC_ROW(r, event, r->t.n_event - 1)->umasks.n++;
	return 0;
}

/* Sets a field in the events that `use` brought in. */
static int set_in_events(struct unc_table_reader *r, size_t first, const char *field,
			 const char *value, struct unc_error *err)
{
	for (size_t i = first; i < r->t.n_event; i++) {
		struct unc_range old = r->t.event[i].sets, sets = {(uint32_t)r->t.n_set, old.n};

		for (uint32_t k = 0; k < old.n; k++) {
			struct unc_tbl_set copy = r->t.set[old.first + k];

			*unc_add_set(r) = copy;
		}
		int rc = unc_add_setting(r, field, value, &sets, err);
		if (rc < 0)
			return rc;
		UNC_ROW(r, event, i)->sets = sets;
	}
	return 0;
}

static int read_use(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *name = unc_take_plain(line);
	const struct unc_table_file *f = name ? unc_table_find_file(r, name) : NULL;
	size_t first = r->t.n_event;
	int rc;

	if (!f)
		return unc_fail(err, UNC_ERR_TABLE, "there is no file '%s' to use",
				name ? name : "");
	if (r->using)
		return unc_fail(err, UNC_ERR_TABLE, "a file that is used cannot use '%s' itself",
				name);
	r->using = true;
	rc = unc_read_file(r, f, unc_read_events, err);
	r->using = false;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < line->n; i++) {
		struct unc_word *w = &line->word[i];

		if (!w->key || w->used)
			continue;
		w->used = true;
		if ((rc = set_in_events(r, first, w->key, w->value, err)) < 0)
			return rc;
	}
	return 0;
}

int unc_read_events(struct unc_table_reader *r, struct unc_line *line, struct unc_error *err)
{
	const char *word = unc_take_plain(line);
	int rc;

	if (word && strcmp(word, "event") == 0)
		rc = read_event(r, line, err);
	else if (word && strcmp(word, "umask") == 0)
		rc = read_umask(r, line, err);
	else if (word && strcmp(word, "use") == 0)
		rc = read_use(r, line, err);
	else
		rc = unc_fail(err, UNC_ERR_TABLE, "'%s' is not event, umask or use",
			      line->word[0].value);
	return rc < 0 ? rc : unc_words_done(line, err);
}

int unc_events_end_type(const struct unc_table_reader *r, struct unc_error *err)
{
	for (size_t i = current(r)->events.first; i < r->t.n_event; i++) {
		const struct unc_tbl_event *e = &r->t.event[i];
		bool counted = e->counters || e->counter != UNC_NONE;

		for (uint32_t k = 0; !counted && k < e->umasks.n; k++)
			if (r->t.umask[e->umasks.first + k].counter == UNC_NONE)
				break;
			else if (k + 1 == e->umasks.n)
				counted = true;
		if (!counted)
			return unc_fail(err, UNC_ERR_TABLE,
					"%s.events: event %s: code= or counter= is missing",
					unc_tbl_str(&r->t, current(r)->name),
					unc_tbl_str(&r->t, e->name));
	}
	return 0;
}
