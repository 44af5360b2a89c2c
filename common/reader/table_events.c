/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: TYPE.events. */
#include <stdio.h>
#include <string.h>

#include "encode/event.h"
#include "reader/table_build.h"

enum { MAX_EVENT_NAME = 63 };

/* key=value words that are no column are fields. */
static int take_settings(struct unc_table_reader *r, struct unc_range *range)
{
	int rc = 0;

	for (const struct unc_word *w; rc == 0 && (w = unc_take(r->line, UNC_WORD_KEY, NULL));)
		rc = unc_add_setting(r, w->key, w->value, range);
	return rc;
}

/* lane=NAME:SET */
static int find_lane(struct unc_table_reader *r, const char *text, struct unc_tbl_event *e)
{
	char name[64];
	uint64_t set;

	if (!unc_read_pair(text, name, &set) || set > UINT8_MAX)
		return unc_bad(r, "lane=%s: want NAME:SET", text);
	e->lane = (uint16_t)(UNC_FIND(&r->t, lane, unc_current_type(r)->lanes, name) + 1u);
	e->set = (uint8_t)set;
	return e->lane ? 0
		       : unc_bad(r, "lane=%s: %s has no such lane", text,
				 unc_type_name(&r->t, r->type));
}

static int check_name(struct unc_table_reader *r, const char *what, const char *name)
{
	size_t length = strlen(name);

	if (length <= MAX_EVENT_NAME &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
		    length)
		return 0;
	return unc_bad(r, "'%s' is no name of %s: letters, digits, _ and ., up to %d", name, what,
		       MAX_EVENT_NAME);
}

/* The code is the first setting of an event. */
static int set_code(struct unc_table_reader *r, const char *text, struct unc_tbl_event *e)
{
	uint64_t code;

	if (!text) /* then a fixed counter, its own or that of each umask: unc_events_end_type() */
		return e->counters ? unc_bad(r, "counters= without code=") : 0;
	if (e->counter != UNC_NONE)
		return unc_bad(r, "code= and counter= exclude each other");
	if (unc_current_type(r)->f_event == UNC_NONE || !unc_parse_number(text, &code) ||
	    code > UINT16_MAX)
		return unc_bad(r, "code=%s is not an event code of %s", text,
			       unc_type_name(&r->t, r->type));
	e->code = (uint16_t)code;
	int rc = unc_need(r, "counters");
	return rc < 0 ? rc
		      : unc_add_setting(r, unc_field_name(&r->t, unc_current_type(r)->f_event),
					text, &e->fields.sets);
}

/* Two events may share an alias, which their umasks tell apart, but no name. */
static int check_unique(struct unc_table_reader *r, const char *name, bool is_alias)
{
	for (size_t i = unc_current_type(r)->events.first; i < r->t.n_event; i++) {
		const struct unc_tbl_event *e = &r->t.event[i];

		if (unc_same(unc_tbl_str(&r->t, e->name), name) ||
		    (!is_alias && e->alias && unc_same(unc_tbl_str(&r->t, e->alias), name)))
			return unc_bad(r, "event %s is described twice", name);
	}
	return 0;
}

int unc_end_event(struct unc_table_reader *r)
{
	struct unc_tbl_event *e = &r->w.event;
	const char *name = unc_tbl_str(&r->t, e->name), *alias = unc_tbl_str(&r->t, e->alias);
	const char *lane = unc_given(r, "lane");
	int rc;

	if ((rc = check_name(r, "an event", name)) < 0 ||
	    (rc = check_name(r, "an event", alias)) < 0 ||
	    (rc = check_unique(r, name, false)) < 0 ||
	    (e->alias && (rc = check_unique(r, alias, true)) < 0) ||
	    (lane && (rc = find_lane(r, lane, e)) < 0) ||
	    (rc = set_code(r, unc_given(r, "code"), e)) < 0 ||
	    (rc = take_settings(r, &e->fields.sets)) < 0)
		return rc;
	if (!unc_given(r, "max") && (e->max_inc = unc_current_type(r)->max_inc) > 1)
		e->estimate = 1;
	unc_share_sets(r, &e->fields.sets);
	e->type = r->type;
	e->umasks.first = (uint16_t)r->t.n_umask;
	*UNC_ADD(r, t, event) = *e;
	return 0;
}

static bool has_umask(const struct unc_table *t, const struct unc_tbl_event *e, const char *name)
{
	const struct unc_tbl_umask *u = NULL;
	bool has = false;

	while (!has && (u = UNC_NEXT(t, umask, e->umasks, u)))
		has = unc_same(unc_tbl_str(t, u->name), name) ||
		      (u->alias && unc_list_has(unc_tbl_str(t, u->alias), name));
	return has;
}

static int check_umask(struct unc_table_reader *r, const struct unc_tbl_event *e, const char *names)
{
	char name[MAX_EVENT_NAME + 2];
	int rc = 0;

	while (names && rc == 0) {
		if (!unc_list_next(&names, name, sizeof(name)))
			return unc_bad(r, "umask %s has too long a name", names);
		rc = check_name(r, "a umask", name);
		if (rc == 0 && has_umask(&r->t, e, name))
			rc = unc_bad(r, "umask %s is described twice", name);
	}
	return rc;
}

/* The row of what the umask does with fields: one of its type does the same, or a new one. */
static uint16_t share_fields(struct unc_table_reader *r)
{
	size_t at = r->first_fields;

	while (at < r->t.n_fields && memcmp(&r->t.fields[at], &r->w.does, sizeof(r->w.does)) != 0)
		at++;
	if (at == r->t.n_fields)
		*UNC_ADD(r, t, fields) = r->w.does;
	return (uint16_t)at;
}

int unc_end_umask(struct unc_table_reader *r)
{
	struct unc_tbl_umask *u = &r->w.umask;
	const char *name = unc_tbl_str(&r->t, u->name), *alias = unc_tbl_str(&r->t, u->alias);
	const char *value = unc_given(r, "VALUE");
	uint16_t field = unc_current_type(r)->f_umask;
	int rc;

	if (r->t.n_event == unc_current_type(r)->events.first)
		return unc_bad(r, "umask before the first event");
	struct unc_tbl_event *e = UNC_ROW(r, t, event, r->t.n_event - 1);
	if ((rc = check_name(r, "a umask", name)) < 0 || (rc = check_umask(r, e, name)) < 0 ||
	    (u->alias && (rc = check_umask(r, e, alias)) < 0))
		return rc;
	if (value && field == UNC_NONE)
		return unc_bad(r, "%s has no umask field", unc_type_name(&r->t, r->type));
	if (value &&
	    (rc = unc_add_setting(r, unc_field_name(&r->t, field), value, &r->w.does.sets)) < 0)
		return rc;
	if ((rc = take_settings(r, &r->w.does.sets)) < 0)
		return rc;
	if (r->w.does.sets.n == 0 && u->counter == UNC_NONE)
		return unc_bad(r, "umask %s sets nothing", name);
	unc_share_sets(r, &r->w.does.sets);
	u->fields = share_fields(r);
	if (e->guide)
		u->flags |= UNC_UMASK_GUIDE;
	*UNC_ADD(r, t, umask) = *u;
	e->umasks.n++;
	return 0;
}

/* Sets a field in the events that `use` brought in. */
static int set_in_events(struct unc_table_reader *r, size_t first, const char *field,
			 const char *value)
{
	for (size_t i = first; i < r->t.n_event; i++) {
		struct unc_range old = r->t.event[i].fields.sets,
				 sets = {(uint16_t)r->t.n_set, old.n};

		for (uint32_t k = 0; k < old.n; k++) {
			struct unc_tbl_set copy = r->t.set[old.first + k];

			*UNC_ADD(r, t, set) = copy;
		}
		int rc = unc_add_setting(r, field, value, &sets);
		if (rc < 0)
			return rc;
		unc_share_sets(r, &sets);
		UNC_ROW(r, t, event, i)->fields.sets = sets;
	}
	return 0;
}

int unc_end_use(struct unc_table_reader *r)
{
	r->use = unc_given(r, "FILE");
	return 0;
}

int unc_end_used(struct unc_table_reader *r, size_t first)
{
	int rc = 0;

	for (const struct unc_word *w; rc == 0 && (w = unc_take(r->line, UNC_WORD_KEY, NULL));)
		rc = set_in_events(r, first, w->key, w->value);
	return rc;
}

int unc_events_end_type(struct unc_table_reader *r)
{
	for (size_t i = unc_current_type(r)->events.first; i < r->t.n_event; i++) {
		const struct unc_tbl_event *e = &r->t.event[i];
		bool counted = e->counters || e->counter != UNC_NONE;

		for (uint32_t k = 0; !counted && k < e->umasks.n; k++)
			if (r->t.umask[e->umasks.first + k].counter == UNC_NONE)
				break;
			else if (k + 1 == e->umasks.n)
				counted = true;
		if (!counted)
			return unc_bad(r, "%s.events: event %s: code= or counter= is missing",
				       unc_type_name(&r->t, r->type), unc_tbl_str(&r->t, e->name));
	}
	return 0;
}
