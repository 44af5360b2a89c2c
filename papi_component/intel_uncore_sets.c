/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_sets.c
 * @ingroup papi_components
 * @brief   What an EventSet of component intel_uncore has: a session of libuncore with its events.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intel_uncore.h"

int intel_uncore_fail_session(struct control *control, int error)
{
	if (!error)
		return PAPI_OK;
	return intel_uncore_fail(error, intel_uncore.session_error(control->session));
}

static void close_control(struct control *control)
{
	/* A thread of the parent may have held the lock when this process was forked off. */
	int ours = getpid() == intel_uncore.pid;

	if (!control->session)
		return;
	intel_uncore.session_free(control->session);
	control->session = NULL;
	papi_free(control->items);
	papi_free(control->read);
	papi_free(control->counts);
	papi_free(control->values);
	control->items = NULL;
	control->read = NULL;
	control->counts = NULL;
	control->values = NULL;
	control->count = control->room = 0;
	if (ours)
		_papi_hwi_lock((int)intel_uncore.lock);
	*control->link = control->next;
	if (control->next)
		control->next->link = control->link;
	if (ours)
		_papi_hwi_unlock((int)intel_uncore.lock);
}

void intel_uncore_close_all(void)
{
	while (intel_uncore.controls) /* of threads that forgot to clean up */
		close_control(intel_uncore.controls);
}

static void link_control(struct control *control)
{
	_papi_hwi_lock((int)intel_uncore.lock);
	control->next = intel_uncore.controls;
	control->link = &intel_uncore.controls;
	if (control->next)
		control->next->link = &control->next;
	intel_uncore.controls = control;
	_papi_hwi_unlock((int)intel_uncore.lock);
}

/* A session without items, in place of the one that there may be. */
static int open_session(struct control *control, int rotates)
{
	struct unc_session *session;
	int error = intel_uncore.session_new(intel_uncore.platform,
					     rotates ? UNC_SESSION_ROTATE : 0, &session);

	if (error)
		return intel_uncore_fail(error, intel_uncore.platform_error(intel_uncore.platform));
	if (!control->session)
		link_control(control);
	intel_uncore.session_free(control->session);
	control->session = session;
	control->rotates = rotates;
	control->count = 0;
	return PAPI_OK;
}

/* ------------------------------------------------------------ sums that lack a unit */

/* PAPI gives the list of events anew whenever one is added or removed. */
void intel_uncore_warn_partial(struct control *control, int id)
{
	const char *text = intel_uncore.session_partial(control->session, id);
	struct name name;
	int tell;

	if (!*text || intel_uncore_name(control->items[id].code, &name) != PAPI_OK)
		return;
	_papi_hwi_lock((int)intel_uncore.lock);
	tell = intel_uncore_text_tell(name.text, name.base);
	_papi_hwi_unlock((int)intel_uncore.lock);
	if (tell)
		PAPIWARN("intel_uncore: %s: partial sum, without %s", name.text, text);
}

/* What an EventSet needs grows with its events, and is freed with the last. */
static int make_room(struct control *control, int count)
{
	int room = control->room ? 2 * control->room : 8;
	long long *values;
	struct unc_value *read;
	uint64_t *counts;
	struct item *items;

	if (count <= control->room)
		return PAPI_OK;
	room = room < count ? count : room;
	items = papi_realloc(control->items, (size_t)room * sizeof(*items));
	control->items = items ? items : control->items;
	read = papi_realloc(control->read, (size_t)room * sizeof(*read));
	control->read = read ? read : control->read;
	counts = papi_realloc(control->counts, (size_t)room * sizeof(*counts));
	control->counts = counts ? counts : control->counts;
	values = papi_realloc(control->values, (size_t)room * sizeof(*values));
	control->values = values ? values : control->values;
	if (!items || !read || !counts || !values)
		return PAPI_ENOMEM;
	control->room = room;
	return PAPI_OK;
}

/* How many passes an EventSet may need: those of the metric that needs most by itself, for its name
 * is listed with them, or as many as it wants. It has the first `same` of the codes already. */
static int passes_allowed(const struct control *control, const unsigned int *codes, int count,
			  int same)
{
	int i, passes = control->left ? control->left : 1;
	const struct unc_metric *metric;
	struct name name;

	if (control->multiplexed)
		return INT_MAX;
	for (i = 0; i < count; i++) {
		if (i < same)
			metric = control->items[i].metric;
		else
			metric = intel_uncore_name(codes[i], &name) == PAPI_OK ? name.metric : NULL;
		if (metric && metric->passes > passes)
			passes = metric->passes;
	}
	return passes;
}

static int refuse_passes(struct control *control, const char *name, int passes)
{
	char sentence[PAPI_HUGE_STR_LEN];

	snprintf(sentence, sizeof(sentence),
		 "%s: beside the others of the EventSet it does not fit into %d passes, those of "
		 "its metrics; PAPI_set_multiplex() allows more",
		 name, passes);
	open_session(control, control->rotates); /* PAPI gives the list of before again */
	return intel_uncore_fail(UNC_ERR_CONFLICT, sentence);
}

static int add_item(struct control *control, unsigned int code, int passes)
{
	struct name name;
	int id, error, papi_errno = intel_uncore_name(code, &name);

	if (papi_errno == PAPI_OK)
		papi_errno = make_room(control, control->count + 1);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	error = intel_uncore.session_add(control->session, name.text, &id);
	/* An enumeration has what counts nothing alone, or not at all, and its description says so. */
	if ((error == UNC_ERR_INVALID || error == UNC_ERR_UNAVAILABLE) && !intel_uncore_asked(code))
		return intel_uncore_code(error);
	papi_errno = intel_uncore_fail_session(control, error);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	control->items[control->count].code = code;
	control->items[control->count++].metric = name.metric;
	if (intel_uncore.session_passes(control->session) > passes)
		return refuse_passes(control, name.text, passes);
	intel_uncore_warn_partial(control, id);
	return PAPI_OK;
}

/* Leaves the first `same` items of the session, or none of them. */
static int keep_items(struct control *control, int same, int rotates)
{
	if (control->session && rotates == control->rotates && same == control->count)
		return PAPI_OK;
	return open_session(control, rotates);
}

/* PAPI gives the whole list after each change: one more, some less, or, after a failure, the one
 * before. Only what differs is done. */
static int set_items(struct control *control, const unsigned int *codes, int count)
{
	int i, same = 0, passes, papi_errno;

	while (same < count && same < control->count && control->items[same].code == codes[same])
		same++;
	passes = passes_allowed(control, codes, count, same);
	papi_errno = keep_items(control, same, passes > 1 || control->left);
	for (i = control->count; i < count && papi_errno == PAPI_OK; i++)
		papi_errno = add_item(control, codes[i], passes);
	return papi_errno;
}

/* PAPI has taken an event out already, and does not put it back: the others have to stay, if need be in
 * more passes. */
static int remove_items(struct control *control, const unsigned int *codes, int count)
{
	int papi_errno = set_items(control, codes, count);

	if (papi_errno == PAPI_ECNFLCT) {
		control->left = INT_MAX;
		papi_errno = set_items(control, codes, count);
		if (papi_errno == PAPI_OK)
			control->left = intel_uncore.session_passes(control->session);
	}
	control->wanted = papi_errno == PAPI_OK ? count : -1;
	return papi_errno;
}

/* Where PAPI removes an event it puts the last one into the gap, but leaves the code of the removed one
 * there. */
static void mend_codes(const struct control *control, NativeInfo_t *native, int count)
{
	int i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < control->count; k++)
			if (control->items[k].position == native[i].ni_position)
				native[i].ni_papi_code = control->items[k].papi_code;
}

/* PAPI learns new positions only where it has added an event: what it had before keeps its own. */
static void place_new(const struct control *control, NativeInfo_t *native, int count)
{
	int i, next = 0, known = count < control->wanted ? count : control->wanted;
	char used[INTEL_UNCORE_MAX_ITEMS] = {0};

	for (i = 0; i < known; i++)
		if (native[i].ni_position >= 0 && native[i].ni_position < INTEL_UNCORE_MAX_ITEMS)
			used[native[i].ni_position] = 1;
	for (i = known > 0 ? known : 0; i < count; i++) {
		while (used[next])
			next++;
		native[i].ni_position = next++;
	}
}

/* What PAPI knows of the items. */
static int note_places(struct control *control, const NativeInfo_t *native, int count)
{
	int i, room = 0;

	for (i = 0; i < count; i++) {
		control->items[i].papi_code = native[i].ni_papi_code;
		control->items[i].position = native[i].ni_position;
		room = room > native[i].ni_position ? room : native[i].ni_position + 1;
	}
	return make_room(control, room);
}

static int change_items(struct control *control, const unsigned int *codes, int count)
{
	int papi_errno;

	if (count < control->wanted)
		return remove_items(control, codes, count);
	papi_errno = set_items(control, codes, count);
	if (control->wanted >= 0 && papi_errno == PAPI_OK)
		control->wanted = count;
	return papi_errno;
}

void intel_uncore_empty(struct control *control)
{
	close_control(control);
	control->left = control->wanted = 0;
}

int intel_uncore_update(struct control *control, NativeInfo_t *native, int count)
{
	unsigned int codes[INTEL_UNCORE_MAX_ITEMS];
	int i, papi_errno;

	if (count > INTEL_UNCORE_MAX_ITEMS)
		return PAPI_ECOUNT;
	if (count < control->wanted)
		mend_codes(control, native, count);
	place_new(control, native, count);
	for (i = 0; i < count; i++)
		codes[i] = (unsigned int)native[i].ni_event;
	papi_errno = change_items(control, codes, count);
	return papi_errno == PAPI_OK ? note_places(control, native, count) : papi_errno;
}

/* With or without events; what PAPI knows of them stays. */
int intel_uncore_multiplex(struct control *control, _papi_int_option_t *option)
{
	unsigned int codes[INTEL_UNCORE_MAX_ITEMS];
	int i, papi_errno = PAPI_OK, count = control->count;

	for (i = 0; i < count; i++)
		codes[i] = control->items[i].code;
	control->multiplexed = 1;
	if (count)
		papi_errno = set_items(control, codes, count);
	if (papi_errno != PAPI_OK) {
		control->multiplexed = 0;
		set_items(control, codes, count);
	}
	option->multiplex.ns = INTEL_UNCORE_TURN_MS * 1000000UL;
	return papi_errno;
}
