/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns_strip.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "suite.h"

enum { NAME = 256, PATH = 1024, LINES = 8192 };

/* A word of a statement as it stands in the text: [from, to). */
struct span {
	const char *from, *to;
};
enum { MAX_SPANS = 128 };

struct statement {
	const char *from, *to; /* with the end of its last line */
	struct span word[MAX_SPANS];
	size_t n;
};

static bool blank(const char *p)
{
	return *p == ' ' || *p == '\t';
}

/* Behind a word that begins at p; quotes may hold blanks and ends of lines. */
static const char *word_end(const char *p)
{
	for (bool quoted = false; *p; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted && (blank(p) || *p == '\n' || *p == '#'))
			break;
	}
	return p;
}

/* The statement at p: its words, and the lines that it takes. */
static void next_statement(const char *p, struct statement *s)
{
	s->from = p;
	s->n = 0;
	while (*p && *p != '\n') {
		if (*p == '#') {
			p += strcspn(p, "\n");
		} else if (blank(p)) {
			p++;
		} else if (p[0] == '\\' && p[1] == '\n') {
			p += 2;
		} else {
			struct span *w = &s->word[s->n < MAX_SPANS - 1 ? s->n++ : s->n];

			w->from = p;
			w->to = p = word_end(p);
		}
	}
	s->to = *p ? p + 1 : p;
}

static bool is_word(const struct span *w, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(w->to - w->from) == n && strncmp(w->from, text, n) == 0;
}

static bool is_column(const struct span *w, const char *column)
{
	size_t n = strlen(column), length = (size_t)(w->to - w->from);

	if (column[n - 1] == '=' || column[0] == '"')
		return length >= n && strncmp(w->from, column, n) == 0;
	return is_word(w, column);
}

/* Neither KEY=VALUE nor a text. */
static bool is_plain(const struct span *w)
{
	return !memchr(w->from, '=', (size_t)(w->to - w->from)) && *w->from != '"';
}

static bool has_word(const struct statement *s, const char *text)
{
	bool found = false;

	for (size_t i = 0; i < s->n; i++)
		found |= is_word(&s->word[i], text);
	return found;
}

static char *copy(char *out, const char *from, const char *to)
{
	memcpy(out, from, (size_t)(to - from));
	return out + (to - from);
}

static bool is_item(const struct span *w, unsigned place, const struct columns_item *item)
{
	if (*item->column)
		return is_column(w, item->column);
	return item->place == COLUMNS_ALL_PLACES || (is_plain(w) && place == item->place);
}

/* The statement without the column, or without the plain word in the place. */
static char *cut(char *out, const struct statement *s, const struct columns_item *item, unsigned *n)
{
	const char *from = s->from;
	unsigned place = 0;

	for (size_t i = 1; i < s->n; i++) {
		place += is_plain(&s->word[i]);
		if (!is_item(&s->word[i], place, item))
			continue;
		out = copy(out, from, s->word[i].from);
		from = s->word[i].to;
		++*n;
	}
	return copy(out, from, s->to);
}

/* The text without the item; *n is raised by how often it was there. `type` as in copy_file(). */
static char *strip(const char *text, const char *type, const struct columns_item *item, unsigned *n)
{
	struct statement s;
	char *stripped = malloc(strlen(text) + 1), *out = stripped;
	bool here = !*item->type || (type && strcmp(type, item->type) == 0);

	while (stripped && *text) {
		next_statement(text, &s);
		text = s.to;
		if (!type && *item->type && s.n > 1 &&
		    (is_word(&s.word[0], "type") || is_word(&s.word[0], "view")))
			here = is_word(&s.word[1], item->type);
		if (!here || !s.n ||
		    (strcmp(item->statement, "any") != 0 &&
		     !is_word(&s.word[0], item->statement)) ||
		    (*item->word && !has_word(&s, item->word)))
			out = copy(out, s.from, s.to);
		else if (*item->column || item->place)
			out = cut(out, &s, item, n);
		else
			++*n; /* the whole of it */
	}
	if (out)
		*out = '\0';
	return stripped;
}

/* ---- the copy */

static char folder[NAME];

static void source(const char *name, char *path)
{
	const char *dir = getenv("SRCDIR");

	snprintf(path, PATH, "%s/eventtables/%.200s", dir ? dir : ".", name);
}

static char *read_text(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "r");

	CU_ASSERT_FATAL(f && fstat(fileno(f), &st) == 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	CU_ASSERT_FATAL(text && fread(text, 1, (size_t)st.st_size, f) == (size_t)st.st_size);
	fclose(f);
	return text;
}

static void write_text(const char *name, const char *text)
{
	char path[PATH];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	CU_ASSERT_FATAL(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* A file of the tables without the item. TYPE.events is of that type; in others `type` tells. */
static void copy_file(const char *name, const struct columns_item *item, unsigned *n)
{
	char path[PATH], type[NAME] = "";
	const char *slash = strchr(name, '/'), *dot = strstr(name, ".events");

	source(name, path);
	if (slash && dot)
		snprintf(type, sizeof(type), "%.*s", (int)(dot - slash - 1), slash + 1);
	char *text = read_text(path);
	char *stripped = strip(text, dot ? type : NULL, item, n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stripped);
	write_text(name, stripped);
	free(text);
	free(stripped);
}

/* Lines of cpus.tbl: of a CPU, and of those without tables. "": there is no such CPU. */
static void find_cpu(const char *cpu, char lines[LINES])
{
	struct unc_buf kept = unc_buf(lines, LINES);
	char path[PATH], *line, *rest = NULL;
	size_t length = strlen(cpu);
	bool found = false;

	source("cpus.tbl", path);
	char *text = read_text(path);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		bool is = strncmp(line, "cpu ", 4) == 0 && strncmp(line + 4, cpu, length) == 0 &&
			  line[4 + length] == ' ';

		if (is || (found && strncmp(line, "known ", 6) == 0))
			unc_put(&kept, "%s\n", line);
		found = found || is;
	}
	free(text);
	CU_ASSERT_FATAL(kept.n + 1 < LINES);
}

/* cpus.tbl has those lines only; the folder of the CPU is given back. */
static void copy_cpus(const char *cpu, const struct columns_item *item, unsigned *n, char *tables)
{
	char lines[LINES];

	find_cpu(cpu, lines);
	CU_ASSERT_FATAL(*lines);
	const char *other = strstr(lines, "folder=");
	snprintf(tables, 32, "%.31s", other ? other + 7 : cpu);
	tables[strcspn(tables, " \n")] = '\0';
	char *stripped = strip(lines, NULL, item, n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stripped);
	write_text("cpus.tbl", stripped);
	free(stripped);
}

static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/uncore-columns.XXXXXX", tmp ? tmp : "/tmp");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

unsigned columns_copy(const char *cpu, const struct columns_item *item, const char **out)
{
	char tables[32], path[PATH], name[PATH + NAME];
	struct dirent *entry;
	unsigned n = 0;

	if (!*folder)
		make_folder();
	copy_cpus(cpu, item, &n, tables);
	copy_file("portable.tbl", item, &n);
	copy_file("groups.tbl", item, &n);
	snprintf(name, sizeof(name), "%s/%s", folder, tables);
	CU_ASSERT_FATAL(mkdir(name, 0700) == 0 || errno == EEXIST);
	source(tables, path);
	DIR *dir = opendir(path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!strstr(entry->d_name, ".tbl") && !strstr(entry->d_name, ".events"))
			continue;
		snprintf(name, sizeof(name), "%s/%s", tables, entry->d_name);
		copy_file(name, item, &n);
	}
	closedir(dir);
	*out = folder;
	return n;
}

void columns_end(void)
{
	char command[NAME + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (*folder && system(command) != 0)
		printf("# %s is left\n", folder);
}
