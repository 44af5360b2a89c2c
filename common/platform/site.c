/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a site (docs/measuring.md). */
#include "platform/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/nearest.h"
#include "base/text.h"
#include "encode/event.h"
#include "encode/name.h"
#include "host/fs.h"
#include "host/trust.h"

enum { MOST_BYTES = 1 << 20, MAX_CLUSTERS = 8, CPU_LIST = 512 };

/* Sections, and how a file of before them says the same. */
static const struct {
	char name[12];
	const char *keys, *old;
} sections[] = {
	{"group", "about, item",
	 "`[group NAME]`, and below it `about = TEXT` and `item = NAME` lines"},
	{"memory_peak", "each, socket0, socket1, ..",
	 "`[memory_peak]`, and below it `each = BYTES` or `socket0 = BYTES` (a second)"},
	{"absent", "unit", "`[absent]`, and below it `unit = upi2` or `unit = upi2 socket=1`"},
	{"nodes", "a unit type",
	 "`[nodes]`, and below it `imc = 0,0,1,1` or `imc = 0,0,1,1 socket=1`"},
	{"item", "", "`item = NAME`, below `[group NAME]`"},
};
enum { GROUP, MEMORY_PEAK, ABSENT, NODES, N_SECTIONS, OLD_ITEM = N_SECTIONS, N_OLD };

struct reading {
	const char *path;
	const struct unc_table *t;
	struct unc_site *site;
	int section;                  /* N_SECTIONS: none, or one that is not known */
	bool other;                   /* it is of other CPUs, or goes with what is wrong */
	bool no_memory;               /* a text is missing */
	bool old;                     /* a file of before there were sections */
	struct unc_site_group *twice; /* its name is given again */
};

static int bad(struct unc_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int bad(struct unc_error *err, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	return unc_fail(err, UNC_ERR_TABLE, "%s", text);
}

static char *kept(struct reading *r, const char *text)
{
	char *copy = strdup(text);

	r->no_memory |= !copy;
	return copy;
}

/* cpu=NAME,.. in a line: it is of these CPUs only, with cpu=!NAME,.. of all others. */
static bool of_other_cpu(const struct reading *r, char *value)
{
	char list[CPU_LIST];
	bool but;

	if (!unc_conf_word(value, "cpu", list, sizeof(list)))
		return false;
	but = list[0] == '!';
	return unc_list_has(list + but, unc_tbl_str(r->t, r->t->name)) == but;
}

static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-");

	return length && length < UNC_SITE_NAME && !text[length];
}

/* socket=N of a value; -1: each. */
static int read_socket(char *value, int *socket, struct unc_error *err)
{
	char text[16];
	uint64_t number;

	*socket = -1;
	if (!unc_conf_word(value, "socket", text, sizeof(text)))
		return 0;
	if (!unc_parse_number(text, &number) || number >= UNC_SITE_SOCKETS)
		return bad(err, "socket=%s is not a number up to %d", text, UNC_SITE_SOCKETS - 1);
	*socket = (int)number;
	return 0;
}

/* ---- groups */

static struct unc_site_group *last_group(struct reading *r)
{
	return r->site->n_groups ? &r->site->group[r->site->n_groups - 1] : NULL;
}

static struct unc_site_group *find_group(struct reading *r, const char *name)
{
	for (size_t i = 0; i < r->site->n_groups; i++)
		if (unc_same(r->site->group[i].name, name))
			return &r->site->group[i];
	return NULL;
}

static void lose_group(struct reading *r, struct unc_site_group *g, const char *why)
{
	for (size_t i = 0; i < g->n_items; i++)
		free(g->item[i]);
	g->n_items = 0;
	if (!g->why)
		g->why = kept(r, why);
}

static int begin_group(struct reading *r, const char *name, struct unc_error *err)
{
	const struct unc_range all = {0, (uint16_t)r->t->n_group};
	struct unc_site_group *g = find_group(r, name);

	r->other = true; /* if it is wrong */
	if (!is_name(name))
		return bad(err, "group '%.40s' is not letters, digits, _ and - up to %d", name,
			   UNC_SITE_NAME - 1);
	if ((r->twice = g))
		return bad(err, "group %s is described twice", name);
	if (UNC_FIND(r->t, group, all, name) != UNC_NONE)
		return bad(err, "group %s is one of the library's: give it another name", name);
	if (!(g = UNC_ADD_TO(r->site->group, r->site->n_groups)))
		return unc_no_memory(err);
	snprintf(g->name, sizeof(g->name), "%s", name);
	r->other = false;
	return 0;
}

/* The item as it is kept: canonical. What is of other CPUs is found out when the group is asked for, and
 * told there. */
static int canonical(const struct reading *r, const char *text, char buf[UNC_SPEC_MAX],
		     struct unc_error *err)
{
	struct unc_code code;
	struct unc_name name;
	int rc = unc_name_parse(r->t, text, &name, err);

	if (rc == UNC_ERR_NOT_FOUND && strlen(text) < UNC_SPEC_MAX) {
		unc_error_clear(err);
		strcpy(buf, text);
		return 0;
	}
	if (rc == 0 && unc_name_placed(&name))
		return bad(err, "item %s: a group names no place", text);
	if (rc < 0 ||
	    (name.metric < 0 && unc_spec_encode(r->t, &name.spec, 0, 2, &code, err) < 0) ||
	    unc_name_format(r->t, &name, buf, UNC_SPEC_MAX) < 0)
		return bad(err, "item %s", err->text);
	return 0;
}

static int add_item(struct reading *r, struct unc_site_group *g, const char *text,
		    struct unc_error *err)
{
	char buf[UNC_SPEC_MAX], **item;
	int rc = canonical(r, text, buf, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < g->n_items; i++)
		if (strcmp(g->item[i], buf) == 0)
			return bad(err, "item %s is given twice", buf);
	if (!(item = UNC_ADD_TO(g->item, g->n_items)))
		return unc_no_memory(err);
	*item = kept(r, buf);
	return 0;
}

/* ---- the others */

static int set_peak(struct reading *r, const char *key, const char *value, struct unc_error *err)
{
	double *peak = &r->site->peaks.each, bytes;
	uint64_t number;

	if (strcmp(key, "each") != 0) {
		if (strncmp(key, "socket", 6) != 0 || !unc_parse_number(key + 6, &number) ||
		    number >= UNC_SITE_SOCKETS)
			return bad(err, "'%.40s' is not each, nor socket0 to socket%d", key,
				   UNC_SITE_SOCKETS - 1);
		peak = &r->site->peaks.of[number];
	}
	if (*peak > 0)
		return bad(err, "%s is given twice", key);
	if (!unc_parse_double(value, &bytes) || !(bytes >= 1e8 && bytes <= 1e14))
		return bad(err,
			   "%s = %.40s is none that a socket can have: 1e8 to 1e14 bytes a second "
			   "(bytes, not MB or GB)",
			   key, value);
	*peak = bytes;
	return 0;
}

static int add_absent(struct reading *r, char *value, struct unc_error *err)
{
	struct unc_site *site = r->site;
	struct unc_site_absent a;
	int rc = read_socket(value, &a.socket, err);

	if (rc < 0)
		return rc;
	if (!is_name(value))
		return bad(err, "unit = %.60s: it is no unit, like upi2", value);
	if (site->n_absent == UNC_SITE_SOCKETS)
		return bad(err, "more than %d units are absent", UNC_SITE_SOCKETS);
	for (unsigned i = 0; i < site->n_absent; i++)
		if (unc_same(site->absent[i].unit, value) && site->absent[i].socket == a.socket)
			return bad(err, "unit = %s is given twice", value);
	snprintf(a.unit, sizeof(a.unit), "%s", value);
	site->absent[site->n_absent++] = a;
	return 0;
}

/* 0,0,-,1 */
static int read_clusters(const char *unit, const char *list, struct unc_tbl_nodes *map,
			 struct unc_error *err)
{
	uint64_t value, seen = 0;
	const char *rest = list;
	char word[8];

	for (unsigned i = 0; rest; i++) {
		if (i == UNC_MAX_PLACES)
			return bad(err, "a map has at most %d units", UNC_MAX_PLACES);
		if (!unc_list_next(&rest, word, sizeof(word)) ||
		    (strcmp(word, "-") != 0 &&
		     (!unc_parse_number(word, &value) || value >= MAX_CLUSTERS)))
			return bad(err, "%s = %.100s is not a list of clusters 0 to %d, or -", unit,
				   list, MAX_CLUSTERS - 1);
		if (strcmp(word, "-") == 0)
			continue;
		map->cluster[i] = (uint8_t)(value + 1);
		map->clusters = value >= map->clusters ? (uint8_t)(value + 1) : map->clusters;
		seen |= (uint64_t)1 << value;
	}
	if (map->clusters < 2 || seen != unc_ones(map->clusters))
		return bad(err, "%s = %.100s: a map has two clusters or more, and units of each",
			   unit, list);
	return 0;
}

static int add_nodes(struct reading *r, const char *unit, char *value, struct unc_error *err)
{
	struct unc_site_nodes *line = &r->site->nodes[r->site->n_nodes];
	int rc;

	if (!is_name(unit))
		return bad(err, "'%.40s' is no unit type, like imc", unit);
	if (r->site->n_nodes == UNC_SITE_NODES)
		return bad(err, "more than %d lines of nodes", UNC_SITE_NODES);
	*line = (struct unc_site_nodes){.socket = -1};
	snprintf(line->unit, sizeof(line->unit), "%s", unit);
	if ((rc = read_socket(value, &line->socket, err)) < 0 ||
	    (rc = read_clusters(unit, value, &line->map, err)) < 0)
		return rc;
	for (const struct unc_site_nodes *other = r->site->nodes; other < line; other++)
		if (unc_same(other->unit, unit) && other->socket == line->socket &&
		    other->map.clusters == line->map.clusters)
			return bad(err, "%s is given twice", unit);
	r->site->n_nodes++;
	return 0;
}

/* ---- lines */

static int begin_section(struct reading *r, char *text, struct unc_error *err)
{
	size_t length = strcspn(text, " \t");
	const char *name = text + length + strspn(text + length, " \t");
	struct unc_nearest nearest;
	char word[UNC_SITE_NAME], near[64];

	r->other = of_other_cpu(r, text);
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	unc_nearest_start(&nearest, word);
	for (r->section = 0; r->section < N_SECTIONS; r->section++) {
		if (strcmp(sections[r->section].name, word) == 0)
			break;
		unc_nearest_try(&nearest, sections[r->section].name);
	}
	if (r->section == N_SECTIONS) {
		r->other = true;
		return bad(err, "there is no section [%.40s]%s", text,
			   unc_nearest_text(&nearest, near, sizeof(near)));
	}
	if (r->section == GROUP)
		return r->other ? 0 : begin_group(r, name, err);
	return *name ? bad(err, "[%.40s]: %s takes no name", text, word) : 0;
}

static int read_line(struct reading *r, const char *key, char *value, struct unc_error *err)
{
	struct unc_site_group *g = last_group(r);
	bool about = r->section == GROUP && strcmp(key, "about") == 0;

	if (r->section == N_SECTIONS && !r->other)
		return bad(err, "'%.40s' stands before the first section", key);
	if (r->other || (!about && of_other_cpu(r, value)))
		return 0;
	if (!*value)
		return bad(err, "%s = has no value", key);
	if (about && g->about)
		return bad(err, "about is given twice");
	if (about)
		return (g->about = kept(r, value)) ? 0 : unc_no_memory(err);
	if (r->section == GROUP && strcmp(key, "item") == 0)
		return add_item(r, g, value, err);
	if (r->section == MEMORY_PEAK)
		return set_peak(r, key, value, err);
	if (r->section == ABSENT && strcmp(key, "unit") == 0)
		return add_absent(r, value, err);
	if (r->section == NODES)
		return add_nodes(r, key, value, err);
	return bad(err, "'%.40s' is not a key of [%s]: %s", key, sections[r->section].name,
		   sections[r->section].keys);
}

/* Whether a line is of a file of before there were sections: what it is now. */
static bool is_old(const char *line, struct unc_error *err)
{
	size_t length = strcspn(line, " \t");

	for (size_t i = 0; i < N_OLD; i++)
		if (strlen(sections[i].name) == length && line[length] &&
		    strncmp(line, sections[i].name, length) == 0) {
			bad(err,
			    "'%.60s' is of an older version, and is now %s (docs/measuring.md)",
			    line, sections[i].old);
			return true;
		}
	return false;
}

/* What is wrong goes, with what it is a part of. */
static void leave_out(struct reading *r, struct unc_error *err)
{
	struct unc_site_group *g = r->twice                           ? r->twice
				   : r->section == GROUP && !r->other ? last_group(r)
								      : NULL;

	if (g)
		lose_group(r, g, err->text);
	if (g && !r->twice)
		r->other = true;
	r->twice = NULL;
	if (r->section == MEMORY_PEAK || r->old)
		r->site->peaks.why = *err;
	if (!r->site->wrong.n++)
		r->site->wrong.first = *err;
	unc_error_clear(err);
}

/* At the end of a section. */
static void check_group(struct reading *r, struct unc_error *err)
{
	const struct unc_site_group *g = r->section == GROUP && !r->other ? last_group(r) : NULL;

	if (!g || g->n_items || g->why)
		return;
	bad(err, "%s: group %s has no item", r->path, g->name);
	leave_out(r, err);
}

/* rc, and the error: what is wrong with the line itself, if that is so. */
static int next_section(struct reading *r, int rc, char *text, struct unc_error *err)
{
	struct unc_error none = {0};

	check_group(r, &none);
	if (rc > 0)
		return begin_section(r, text, err);
	r->section = N_SECTIONS;
	r->other = true;
	return rc;
}

static int read_text(struct reading *r, char *text, size_t size, struct unc_error *err)
{
	struct unc_conf lines = {.next = text, .end = text + size};
	struct unc_conf_line line;
	int rc;

	while (!r->old && (rc = unc_conf_next(&lines, &line, err)) != 0) {
		r->old = line.key && r->section == N_SECTIONS && !r->other && is_old(line.key, err);
		if (r->old)
			rc = UNC_ERR_TABLE;
		else if (rc > 0 && line.key)
			rc = read_line(r, line.key, line.value, err);
		else if (!line.key) /* where a section begins, also one that is wrong */
			rc = next_section(r, rc, line.section, err);
		if (rc == UNC_ERR_MEMORY)
			return rc;
		if (rc < 0) {
			unc_error_prefix(err, "%s:%u", r->path, line.number);
			leave_out(r, err);
		}
	}
	check_group(r, err);
	return r->no_memory ? unc_no_memory(err) : 0;
}

/* The file as a text, to be freed. A FIFO or a device would hang us. */
static int read_whole(const char *path, bool raised, char **text, size_t *size,
		      struct unc_error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0)
		return unc_fail(err, UNC_ERR_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = unc_fail(err, UNC_ERR_IO, "%s is not a plain file", path);
	if (rc == 0 && raised)
		rc = unc_trust_owner(fd, path, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return unc_fs_rest(fd, path, MOST_BYTES, text, size, err);
}

int unc_site_load(const char *path, bool needed, bool raised, const struct unc_table *t,
		  struct unc_site *out, struct unc_error *err)
{
	struct reading r = {.path = path, .t = t, .site = out, .section = N_SECTIONS};
	size_t size;
	char *text;
	int rc;

	*out = (struct unc_site){.n_groups = 0};
	if (!needed && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if ((rc = read_whole(path, raised, &text, &size, err)) == 0) {
		rc = read_text(&r, text, size, err);
		free(text);
		return rc;
	}
	if (rc == UNC_ERR_MEMORY)
		return rc;
	out->peaks.why = out->wrong.first = *err;
	out->wrong.n = 1;
	unc_error_clear(err);
	return 0;
}

void unc_site_free(struct unc_site *site)
{
	for (size_t i = 0; i < site->n_groups; i++) {
		struct unc_site_group *g = &site->group[i];

		for (size_t k = 0; k < g->n_items; k++)
			free(g->item[k]);
		free(g->item);
		free(g->about);
		free(g->why);
	}
	free(site->group);
	*site = (struct unc_site){.n_groups = 0};
}
