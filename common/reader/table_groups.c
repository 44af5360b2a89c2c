/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: groups of metrics and events, and what else a site's file has. */
#include <string.h>

#include "encode/event.h"
#include "encode/name.h"
#include "reader/table_build.h"

enum { MAX_NAME = 31 };

static struct unc_tbl_group *last_group(struct unc_table_reader *r)
{
	return r->t.n_group ? UNC_ROW(r, t, group, r->t.n_group - 1) : NULL;
}

/* Its index; UNC_NONE: there is none. */
static uint16_t find_group(const struct unc_table *t, const char *name)
{
	return UNC_FIND(t, group, ((struct unc_range){0, (uint16_t)t->n_group}), name);
}

static void lose(struct unc_table_reader *r, struct unc_tbl_group *g)
{
	g->items.n = 0;
	if (!g->unavailable)
		g->unavailable = unc_add_string(r, r->err->text);
}

int unc_check_group(struct unc_table_reader *r)
{
	struct unc_tbl_group *g = last_group(r);

	if (!g || g->items.n || g->unavailable)
		return 0;
	unc_bad(r, "%s: group %s has no item", r->names == &r->t ? r->cpu : r->file[0].name,
		unc_tbl_str(&r->t, g->name));
	lose(r, g);
	return unc_note_wrong(r);
}

static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-");

	return length && length <= MAX_NAME && !text[length];
}

int unc_end_group(struct unc_table_reader *r)
{
	const char *name = unc_given(r, "NAME");
	int rc = unc_check_group(r);

	if (rc < 0)
		return rc;
	if (!is_name(name))
		return unc_bad(r, "group '%s' is not letters, digits, _ and - up to %d", name,
			       MAX_NAME);
	if (find_group(&r->t, name) != UNC_NONE)
		return unc_bad(r, "group %s is described twice", name);
	if (r->names != &r->t && find_group(r->names, name) != UNC_NONE)
		return unc_bad(r, "group %s is one of the library's: give it another name", name);
	r->w.group.items.first = (uint16_t)r->t.n_group_item;
	*UNC_ADD(r, t, group) = r->w.group;
	return 0;
}

void unc_lose_group(struct unc_table_reader *r)
{
	const char *word = r->line->n && !r->line->word[0].key ? r->line->word[0].value : "";
	bool begins = strcmp(word, "group") == 0;
	const char *name = begins && r->statement ? unc_given(r, "NAME") : NULL;
	size_t found = name ? find_group(&r->t, name) : begins ? UNC_NONE : r->t.n_group - 1;

	if (r->site && strcmp(word, "memory_peak") == 0)
		r->site->peaks.why = *r->err;
	if (!begins && r->statement && strcmp(word, "item") != 0)
		return;
	r->skipping = true; /* its items */
	if (found < r->t.n_group)
		lose(r, UNC_ROW(r, t, group, found));
}

/* The item as it is stored: canonical. What a site's file has for other CPUs is found out when the
 * group is asked for, and told there. */
static int canonical(struct unc_table_reader *r, const char *text, char *buf, size_t size)
{
	struct unc_code code;
	struct unc_name name;
	int rc = unc_name_parse(r->names, text, &name, r->err);

	if (rc == UNC_ERR_NOT_FOUND && r->names != &r->t && strlen(text) < size) {
		strcpy(buf, text);
		return 0;
	}
	if (rc < 0)
		return unc_bad(r, "item %s", r->err->text);
	if (unc_name_placed(&name))
		return unc_bad(r, "item %s: a group names no place", text);
	if (name.metric < 0 && unc_spec_encode(r->names, &name.spec, 0, 2, &code, r->err) < 0)
		return unc_bad(r, "item %s", r->err->text);
	return unc_name_format(r->names, &name, buf, size) < 0
		       ? unc_bad(r, "item %s: its canonical text is too long", text)
		       : 0;
}

int unc_end_item(struct unc_table_reader *r)
{
	struct unc_tbl_group *g = last_group(r);
	char text[UNC_SPEC_MAX];
	int rc;

	if (!g)
		return unc_bad(r, "item before the first group");
	if ((rc = canonical(r, unc_given(r, "TEXT"), text, sizeof(text))) < 0)
		return rc;
	unc_str at = unc_add_string(r, text);
	for (uint32_t i = 0; i < g->items.n; i++)
		if (r->t.group_item[g->items.first + i].text == at)
			return unc_bad(r, "item %s is given twice", text);
	UNC_ADD(r, t, group_item)->text = at;
	g->items.n++;
	return 0;
}

/* ---- a site's file */

int unc_end_absent(struct unc_table_reader *r)
{
	struct unc_site *site = r->site;
	struct unc_site_absent *a = &site->absent[site->n_absent];
	const char *unit = unc_given(r, "UNIT");

	if (!is_name(unit))
		return unc_bad(r, "absent %s: it is no unit, like upi2", unit);
	if (site->n_absent == UNC_SITE_SOCKETS)
		return unc_bad(r, "more than %d lines absent", UNC_SITE_SOCKETS);
	a->unit = unc_add_string(r, unit);
	for (unsigned i = 0; i < site->n_absent; i++)
		if (site->absent[i].unit == a->unit && site->absent[i].socket == r->w.socket)
			return unc_bad(r, "absent %s is given twice", unit);
	a->socket = r->w.socket;
	site->n_absent++;
	return 0;
}

int unc_end_memory_peak(struct unc_table_reader *r)
{
	const char *socket = unc_given(r, "socket");
	double *peak = &r->site->peaks.each, value = r->w.peak;
	uint64_t number;

	if (strcmp(socket, "each") != 0) {
		if (!unc_parse_number(socket, &number) || number >= UNC_SITE_SOCKETS)
			return unc_bad(r, "socket=%s is not a number up to %d, or each", socket,
				       UNC_SITE_SOCKETS - 1);
		peak = &r->site->peaks.of[number];
	}
	if (*peak > 0)
		return unc_bad(r, "socket=%s is given twice", socket);
	if (value < 1e8 || value > 1e14)
		return unc_bad(r,
			       "bytes_per_second=%g is none that a socket can have: 1e8 to 1e14 "
			       "(bytes, not MB or GB)",
			       value);
	*peak = value;
	return 0;
}
