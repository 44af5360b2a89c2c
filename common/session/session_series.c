/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what is named, at all its places, and what an item is. */
#include <string.h>

#include "base/abi.h"
#include "session/session.h"

/* What is being added, and what came of it. */
struct series {
	struct unc_name name;
	char base[UNC_SPEC_MAX];
	size_t n, counted;
	struct unc_error lacks; /* the first place where it cannot be counted */
};

/* A unit or a socket may be without what others have: that is an item as well. */
static int add_place(struct unc_session *s, struct series *series, int socket, int index)
{
	struct unc_name there = series->name;
	struct unc_error lacks;
	int rc;

	there.spec.socket = socket;
	there.spec.index = index;
	rc = unc_session_add_name(s, &there, series->base, NULL);
	series->counted += rc == 0;
	if (rc == UNC_ERR_UNAVAILABLE || rc == UNC_ERR_RANGE) {
		lacks = s->error;
		if (!series->lacks.code)
			series->lacks = lacks;
		rc = unc_session_add_name(s, &there, series->base, &lacks);
	}
	series->n += rc == 0;
	return rc;
}

static int add_sockets(struct unc_session *s, struct series *series)
{
	int rc = 0, only = series->name.spec.socket;

	for (int socket = 0; rc == 0 && socket < s->platform->topology.n_sockets; socket++)
		if (only < 0 || only == socket)
			rc = add_place(s, series, socket, series->name.spec.index);
	return rc;
}

static int add_units(struct unc_session *s, struct series *series, const char *units_of)
{
	const struct unc_spec *only = &series->name.spec;
	const struct unc_unit *unit;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (unit = unc_unit_get(s->platform, i)) != NULL; i++)
		if (strcmp(unit->type->name, units_of) == 0 &&
		    (only->socket < 0 || only->socket == unit->socket) &&
		    (only->index < 0 || only->index == unit->index))
			rc = add_place(s, series, unit->socket, unit->index);
	return rc;
}

/* All that `per` asks for; the place of the text itself where there is no other. */
static int add_places(struct unc_session *s, struct series *series, unsigned per)
{
	const struct unc_spec *at = &series->name.spec;
	struct unc_item what = {0};
	int rc = unc_describe_item(s->platform, &series->name, &what, &s->error);

	if (rc < 0)
		return rc;
	if (what.metric && !what.metric->available)
		per &= ~(unsigned)UNC_EACH_UNIT;
	if (per & UNC_EACH_UNIT && what.units_of)
		rc = add_units(s, series, what.units_of);
	else if (per & (UNC_EACH_UNIT | UNC_EACH_SOCKET))
		rc = add_sockets(s, series);
	return rc || series->n ? rc : add_place(s, series, at->socket, at->index);
}

static int add_series(struct unc_session *s, const char *text, unsigned per, struct series *series)
{
	int rc = unc_name_parse(s->platform->table, text, &series->name, &s->error);

	if (rc == 0)
		rc = unc_session_base(s, &series->name, text, series->base);
	if (rc == 0)
		rc = add_places(s, series, per);
	if (rc == 0 && series->counted == 0 && !(per & UNC_EACH_LACKING)) {
		s->error = series->lacks;
		rc = s->error.code;
	}
	return rc;
}

int unc_session_add_each(struct unc_session *s, const char *text, unsigned per, int *first,
			 size_t *n)
{
	const unsigned known = UNC_EACH_SOCKET | UNC_EACH_UNIT | UNC_EACH_LACKING;
	struct unc_checkpoint before = unc_session_checkpoint(s);
	struct series series = {.n = 0};
	int rc = unc_session_enter_idle(s);

	if (rc == 0 && per & ~known)
		rc = unc_fail(&s->error, UNC_ERR_INVALID, "unknown places 0x%x of a series",
			      per & ~known);
	if (rc == 0 && (rc = add_series(s, text, per, &series)) < 0)
		unc_session_roll_back(s, before);
	if (rc < 0)
		return rc;
	unc_error_clear(&s->error);
	s->state = UNC_UNMEASURED; /* what was measured before is not of this set */
	*first = (int)before.items;
	*n = series.n;
	return 0;
}

/* ---- what an item is */

static int tell_item(struct unc_session *s, const struct unc_session_item *item,
		     struct unc_item *out)
{
	struct unc_name name = {.metric = item->metric};
	struct unc_item told = {.size = out->size};
	int rc;

	name.spec.event = item->event;
	name.spec.socket = item->socket;
	name.spec.index = item->index;
	rc = unc_describe_item(s->platform, &name, &told, &s->error);
	if (rc < 0)
		return rc;
	told.error = item->lacks ? item->lacks->code : 0;
	memcpy(told.name, item->name, strlen(item->name) + 1);
	memcpy(told.base, item->base, strlen(item->base) + 1);
	unc_struct_out(out, out->size, &told, sizeof(told));
	return 0;
}

int unc_session_item(struct unc_session *s, int id, struct unc_item *out)
{
	const struct unc_session_item *item;
	int rc = unc_session_enter(s);

	if (rc < 0 || (rc = unc_struct_check(out->size, "unc_item", &s->error)) < 0)
		return rc;
	item = unc_session_find_item(s, id);
	return item ? tell_item(s, item, out) : s->error.code;
}
