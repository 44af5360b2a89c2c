/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of metrics and events: those of the tables, then those of the site. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "encode/name.h"
#include "encode/schedule.h"
#include "platform/platform.h"

struct unc_group_row {
	struct unc_group pub;
	char reason[4 * UNC_ERROR_MAX];
	const char **items;
	bool known;
};

/* Events that a group counts, each once. */
struct codes {
	struct unc_code code[UNC_MAX_CODES];
	size_t n;
	bool more; /* more than there is room for */
};

static size_t count_groups(const struct unc_platform *p)
{
	return p->table->n_group + p->site.n_groups;
}

/* Group `index` if it belongs to the site; NULL: it belongs to the tables. */
static const struct unc_site_group *of_site(const struct unc_platform *p, size_t index)
{
	return index < p->table->n_group ? NULL : &p->site.group[index - p->table->n_group];
}

/* ---- what a group needs */

static void add_code(struct codes *c, const struct unc_code *code)
{
	for (size_t i = 0; i < c->n; i++)
		if (unc_code_same(&c->code[i], code))
			return;
	if (c->n < UNC_MAX_CODES)
		c->code[c->n++] = *code;
	else
		c->more = true;
}

static int add_event(const struct unc_platform *p, const struct unc_spec *spec, struct codes *c,
		     struct unc_error *err)
{
	struct unc_code code;
	int rc = unc_spec_encode(p->table, spec, 0, unc_platform_nodes(p), &code, err);

	if (rc < 0 || (rc = unc_describe_counts(p, &code, err)) < 0)
		return rc;
	add_code(c, &code);
	return 0;
}

static int add_metric(const struct unc_platform *p, size_t metric, struct codes *c,
		      struct unc_error *err)
{
	const struct unc_metric *m = unc_metric_get(p, metric);
	const char *event;
	int rc = 0;

	if (!m || !m->available)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", m ? m->reason : "out of memory");
	for (size_t i = 0; rc == 0 && (event = unc_metric_need(p, metric, i)) != NULL; i++) {
		struct unc_spec spec;

		rc = unc_spec_parse(p->table, event, &spec, err);
		if (rc == 0)
			rc = add_event(p, &spec, c, err);
	}
	return rc;
}

/* Adds an item; fails if it cannot be counted here. */
static int add_group_item(const struct unc_platform *p, const char *text, struct codes *c,
			  struct unc_error *err)
{
	struct unc_name name;
	int rc = unc_name_parse(p->table, text, &name, err);

	if (rc < 0)
		return rc;
	return name.metric >= 0 ? add_metric(p, (size_t)name.metric, c, err)
				: add_event(p, &name.spec, c, err);
}

/* ---- one group */

/* What a group lacks, with the reasons; neighbouring items with the same reason are joined. */
struct lacks {
	struct unc_buf text;
	char items[UNC_ERROR_MAX], reason[UNC_ERROR_MAX];
	struct unc_buf list; /* in items */
};

static void put_lacks(struct lacks *l)
{
	if (l->list.n)
		unc_put(&l->text, "%s%s: %s", l->text.n ? "; " : "", l->items, l->reason);
	l->list = UNC_BUF(l->items);
}

static void add_lacks(struct lacks *l, const char *item, const char *reason)
{
	if (strcmp(l->reason, reason) != 0)
		put_lacks(l);
	strcpy(l->reason, reason);
	unc_put_word(&l->list, item);
}

static struct unc_group_row *study(const struct unc_platform *p, size_t index)
{
	struct unc_group_row *row = calloc(1, sizeof(*row));
	struct codes *c = calloc(1, sizeof(*c));
	const struct unc_site_group *own = of_site(p, index);
	const struct unc_tbl_group *g = own ? NULL : &p->table->group[index];
	size_t n = g ? g->items.n : own->n_items, lacking = 0;
	struct lacks lacks = {.reason = ""};

	if (row)
		row->items = calloc(2 * n + 1, sizeof(*row->items));
	if (!row || !c || !row->items) {
		free(row ? row->items : NULL);
		free(row);
		free(c);
		return NULL;
	}
	lacks.text = UNC_BUF(row->reason);
	lacks.list = UNC_BUF(lacks.items);
	for (size_t i = 0; i < n; i++) {
		const char *item =
			own ? own->item[i]
			    : unc_tbl_str(p->table, p->table->group_item[g->items.first + i].text);
		struct unc_error why = {0};

		if (add_group_item(p, item, c, &why) == 0) {
			row->items[row->pub.n_items++] = item;
		} else {
			row->items[n + lacking++] = item;
			add_lacks(&lacks, item, why.text);
		}
	}
	put_lacks(&lacks);
	memmove(&row->items[row->pub.n_items], &row->items[n], lacking * sizeof(*row->items));
	row->items[n] = NULL;
	unc_put_text(&lacks.text, own ? own->why : "");
	row->pub.name = unc_describe_group(p, index);
	row->pub.desc = g ? unc_tbl_str(p->table, g->desc) : own->title;
	row->pub.items = row->items;
	row->pub.reason = row->reason;
	row->pub.available = row->pub.n_items > 0 && !c->more;
	if (c->more) {
		row->pub.n_items = 0;
		snprintf(row->reason, sizeof(row->reason), "it needs more than %d events at once",
			 UNC_MAX_CODES);
	}
	row->pub.passes = row->pub.available ? unc_schedule_passes(p->table, c->code, c->n) : 0;
	free(c);
	return row;
}

static void free_row(struct unc_group_row *row)
{
	if (row)
		free(row->items);
	free(row);
}

/* Computed at the first request, without the lock, because metrics take it themselves. */
const struct unc_group *unc_group_get(const struct unc_platform *p, size_t index)
{
	struct unc_platform *own = (struct unc_platform *)(uintptr_t)p;
	struct unc_group_row *row;

	if (index >= count_groups(p))
		return NULL;
	if (!unc_platform_here(p))
		return p->group[index] ? &p->group[index]->pub : NULL;
	pthread_mutex_lock(&own->lock);
	row = p->group[index];
	pthread_mutex_unlock(&own->lock);
	if (row)
		return &row->pub;
	row = study(p, index);
	pthread_mutex_lock(&own->lock);
	if (!own->group[index]) {
		own->group[index] = row;
		row = NULL;
	}
	pthread_mutex_unlock(&own->lock);
	free_row(row);
	return own->group[index] ? &own->group[index]->pub : NULL;
}

const char *unc_describe_group(const struct unc_platform *p, size_t index)
{
	if (index >= count_groups(p))
		return NULL;
	return of_site(p, index) ? of_site(p, index)->name
				 : unc_tbl_str(p->table, p->table->group[index].name);
}

int unc_describe_groups(struct unc_platform *p, struct unc_error *err)
{
	p->group = calloc(count_groups(p) + 1, sizeof(struct unc_group_row *));
	return p->group ? 0 : unc_no_memory(err);
}

void unc_describe_groups_free(struct unc_platform *p)
{
	for (size_t i = 0; p->group && i < count_groups(p); i++)
		free_row(p->group[i]);
	free(p->group);
}
