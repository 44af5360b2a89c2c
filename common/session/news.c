/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: reports changes of the values once each: a state begins, or is over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/session.h"

static const uint64_t look_every = 60000000000;   /* it walks all PCI functions */
static const uint64_t mark_every = 3600000000000; /* for a machine that is busy now and then */

struct news {
	struct unc_session *s;
	uint64_t now; /* ns */
	unc_news_fn fn;
	void *user;
	int rc; /* the result of fn */
};

static void report_news(struct news *n, size_t id, enum unc_news_kind kind, bool begins,
			const char *text)
{
	const struct unc_news news = {(int)id, kind, begins, text, NULL};

	n->rc = n->fn(n->user, &news);
}

/* Reports that a state of an item begins or ends. */
static void report_change(struct news *n, size_t id, enum unc_news_kind kind, bool is)
{
	struct unc_session_item *item = &n->s->item[id];
	unsigned bit = 1u << kind;

	if (n->rc || is == !!(item->told & bit))
		return;
	item->told ^= bit;
	report_news(n, id, kind, is,
		    !is                        ? ""
		    : kind == UNC_NEWS_PARTIAL ? unc_session_partial(n->s, (int)id)
					       : unc_session_reason(n->s, (int)id));
}

/* ---- values */

/* Whether the lack of a value is worth a report: not for a ratio of 0 to 0, nor for a pass that
 * will be measured, nor before the first read. */
static bool is_worth_report(struct unc_session *s, size_t id)
{
	return s->last.ns > s->start.ns && !unc_session_waits_for(s, &s->item[id]) &&
	       *unc_session_reason(s, (int)id) && s->error.code != UNC_ERR_RANGE;
}

static void report_partial(struct news *n, size_t id, unsigned lacking)
{
	struct unc_session_item *item = &n->s->item[id];

	if (lacking > item->told_lacking) /* more than were reported */
		item->told &= ~(1u << UNC_NEWS_PARTIAL);
	item->told_lacking = lacking;
	report_change(n, id, UNC_NEWS_PARTIAL, lacking > 0);
}

static void report_marks(struct news *n, size_t id, unsigned flags)
{
	struct unc_session_item *item = &n->s->item[id];
	struct unc_news news = {.id = (int)id, .kind = UNC_NEWS_MARK, .begins = 1};

	for (size_t i = 0; n->rc == 0 && (news.mark = unc_mark_get(i)) != NULL; i++) {
		if (!(flags & news.mark->interval))
			continue;
		news.text = unc_session_why(n->s, (int)id, news.mark->interval);
		if (n->now >= item->marked_until[i])
			n->rc = n->fn(n->user, &news);
		item->marked_until[i] = n->now + mark_every;
	}
}

static void check_value(struct news *n, size_t id)
{
	struct unc_session_item *item = &n->s->item[id];
	struct unc_value v;
	bool valid;

	pthread_mutex_lock(&n->s->run->lock);
	unc_session_value(n->s, item, &v);
	pthread_mutex_unlock(&n->s->run->lock);
	valid = v.flags & UNC_VALUE_VALID || v.interval_seconds > 0;
	if (valid || is_worth_report(n->s, id))
		report_change(n, id, UNC_NEWS_NO_VALUE, !valid);
	if (valid || v.flags & UNC_VALUE_PARTIAL)
		report_partial(n, id, v.of - v.units);
	if (valid && v.flags & UNC_VALUE_FRESH)
		report_marks(n, id, v.flags);
}

/* ---- devices below the ports of an item */

/* A stack whose devices are looked up, and what is found for each item. */
struct stack {
	const struct unc_session *s;
	const struct unc_unit *unit;
	char (*now)[UNC_LABEL_MAX];
};

/* Whether an item has ports of the stack; or, without ports, is the whole of a stack whose devices
 * are unknown, which is logged. */
static bool is_below(const struct unc_item *what, const struct unc_unit *unit)
{
	bool portable = what->metric && strcmp(what->metric->of, "portable") == 0;

	return (what->ports || portable) && what->at.socket == unit->socket &&
	       what->at.index == unit->index && what->units_of &&
	       strcmp(unit->type->name, what->units_of) == 0;
}

/* The words are separated by ' '. */
static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; (at = strstr(at, word)) != NULL; at += n)
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

/* Adds each name once; names are separated by ','. A function without a driver's name gets its address. */
static int add_device_label(void *user, const struct unc_device *device)
{
	const struct stack *stack = user;
	const char *names;
	char name[UNC_LABEL_MAX];

	for (size_t i = 0; i < stack->s->n_items; i++) {
		const struct unc_item *what = stack->s->item[i].what;
		struct unc_buf text = {stack->now[i], UNC_LABEL_MAX, strlen(stack->now[i]), 0};

		if (!(what->ports & device->ports) || !is_below(what, stack->unit))
			continue;
		names = device->names[0] ? device->names : device->address;
		while (names && unc_list_next(&names, name, sizeof(name)))
			if (!has_word(text.text, name))
				unc_put(&text, "%s%s", text.n ? " " : "", name);
	}
	return 0;
}

static void report_devices(struct news *n, size_t id, const char *now)
{
	struct unc_session_item *item = &n->s->item[id];
	bool known = item->told >> UNC_NEWS_DEVICES & 1;

	if (n->rc)
		return;
	item->told |= item->what->ports ? 1u << UNC_NEWS_DEVICES : 0;
	if (strcmp(now, item->what->label) == 0 && (known || !*now))
		return;
	snprintf(item->what->label, sizeof(item->what->label), "%s", now);
	report_news(n, id, UNC_NEWS_DEVICES, *now, item->what->label);
}

/* A label that cannot be looked up stays as it was. */
static void update_devices(struct news *n, struct stack *stack)
{
	struct unc_session *s = n->s;

	if (unc_unit_devices(s->platform, stack->unit, add_device_label, stack) == 0) {
		for (size_t i = 0; i < s->n_items; i++)
			if (is_below(s->item[i].what, stack->unit))
				report_devices(n, i, stack->now[i]);
		return;
	}
	if (!s->told_unknown)
		unc_platform_log(s->platform, UNC_LOG_INFO,
				 "it is not known what is below %s%d (socket %d): %s",
				 stack->unit->type->name, stack->unit->index, stack->unit->socket,
				 unc_platform_error(s->platform));
	s->told_unknown = true;
}

static void check_devices(struct news *n)
{
	struct unc_session *s = n->s;
	struct stack stack = {.s = s};
	size_t k;

	if (!s->n_items || n->now < s->look_at)
		return;
	s->look_at = n->now + look_every;
	stack.now = calloc(s->n_items, sizeof(*stack.now));
	for (size_t i = 0; stack.now && (stack.unit = unc_unit_get(s->platform, i)) != NULL; i++) {
		if (!stack.unit->type->ports)
			continue;
		for (k = 0; k < s->n_items && !is_below(s->item[k].what, stack.unit); k++)
			;
		if (k < s->n_items)
			update_devices(n, &stack);
	}
	free(stack.now);
}

int unc_session_news(struct unc_session *s, unc_news_fn fn, void *user)
{
	struct news n = {.s = s, .fn = fn, .user = user};

	if (unc_session_enter(s) < 0)
		return UNC_ERR_STATE;
	n.now = unc_machine_now(s->platform->machine);
	check_devices(&n);
	for (size_t i = 0; i < s->n_items && n.rc == 0; i++)
		if (s->item[i].lacks)
			continue;
		else if (s->run)
			check_value(&n, i);
		else
			report_partial(&n, i, s->item[i].of - s->item[i].units);
	return n.rc;
}
