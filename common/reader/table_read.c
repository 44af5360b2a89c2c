/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: files, and the order in which they are read. */
#include "reader/table_build.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a */
static uint64_t hash(uint64_t id, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		id = (id ^ (unsigned char)text[i]) * 0x100000001b3u;
	return id;
}

int unc_table_reader_new(const char *cpu, struct unc_table_reader **out, struct unc_error *err)
{
	struct unc_table_reader *r = calloc(1, sizeof(*r));

	if (!r || !(r->strings.text = calloc(1, 4096))) {
		free(r);
		return unc_no_memory(err);
	}
	if (strlen(cpu) >= sizeof(r->cpu)) {
		unc_table_reader_free(r);
		return unc_fail(err, UNC_ERR_INVALID, "the CPU name '%.40s...' is too long", cpu);
	}
	strcpy(r->cpu, cpu);
	r->strings.cap = 4096;
	r->t.strings = r->strings.text;
	r->t.n_strings = 1; /* offset 0 is "" */
	r->t.id = hash(0xcbf29ce484222325u, cpu, strlen(cpu));
	r->names = &r->t;
	r->type = UNC_NONE;
	*out = r;
	return 0;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct unc_table_file *find_file(const struct unc_table_reader *r, const char *name)
{
	for (size_t i = 0; i < r->n_files; i++)
		if (strcmp(last_component(r->file[i].name), name) == 0)
			return &r->file[i];
	return NULL;
}

int unc_table_reader_file(struct unc_table_reader *r, const char *name, const char *text,
			  size_t size, struct unc_error *err)
{
	if (find_file(r, last_component(name)))
		return unc_fail(err, UNC_ERR_TABLE, "%s: given twice", name);
	struct unc_table_file *larger = realloc(r->file, (r->n_files + 1) * sizeof(*r->file));
	if (!larger)
		return unc_no_memory(err);
	r->file = larger;
	struct unc_table_file *f = &r->file[r->n_files];
	f->name = strdup(name);
	f->text = malloc(size + 1);
	f->size = size;
	if (!f->name || !f->text) {
		free(f->name);
		free(f->text);
		return unc_no_memory(err);
	}
	memcpy(f->text, text, size);
	r->t.id = hash(r->t.id, text, size);
	r->n_files++;
	return 0;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* cpu=NAME,.. on a line: it is of these CPUs only, with cpu=!NAME,.. of all others; and what belongs to
 * it. */
static bool of_other_cpu(struct unc_table_reader *r, struct unc_line *line,
			 enum unc_table_part part)
{
	const struct unc_word *cpus = unc_take(line, UNC_WORD_KEY, "cpu");
	const char *word = line->word[0].key ? "" : line->word[0].value;
	bool but = cpus && cpus->value[0] == '!';
	bool other = cpus && unc_list_has(cpus->value + but, r->cpu) == but;

	if (is_one_of(word, "event", "group") || is_one_of(word, "type", "view"))
		r->skipping = other;
	else if (part == UNC_FILE_UNITS || is_one_of(word, "umask", "item"))
		return other || r->skipping;
	return other;
}

/* Where the file is of things that stand for themselves, what a wrong statement is about cannot be had. */
static int go_on(struct unc_table_reader *r, enum unc_table_part part)
{
	bool of_metric = part == UNC_FILE_METRICS;

	if (r->err->code != UNC_ERR_TABLE ||
	    (!of_metric && part != UNC_FILE_GROUPS && part != UNC_FILE_SITE))
		return r->err->code;
	if (!of_metric)
		unc_lose_group(r);
	else if (!unc_lose_metric(r) && r->checking)
		return 0;
	return unc_note_wrong(r);
}

static int read_file(struct unc_table_reader *r, const struct unc_table_file *f,
		     enum unc_table_part part);

/* Reads the file that a line wants to be read in its place. */
static int read_used(struct unc_table_reader *r)
{
	const struct unc_table_file *f = find_file(r, r->use);
	size_t first = r->t.n_event;
	int rc;

	if (!f)
		return unc_bad(r, "there is no file '%s' to use", r->use);
	if (r->using)
		return unc_bad(r, "a file that is used cannot use '%s' itself", r->use);
	r->using = true;
	rc = read_file(r, f, UNC_FILE_EVENTS);
	r->using = false;
	return rc < 0 ? rc : unc_end_used(r, first);
}

static int read_line(struct unc_table_reader *r, enum unc_table_part part)
{
	int rc;

	r->use = NULL;
	if (of_other_cpu(r, r->line, part))
		return 0;
	if ((rc = unc_read_statement(r, part)) < 0 || (r->use && (rc = read_used(r)) < 0))
		return rc;
	return unc_words_done(r);
}

static int read_file(struct unc_table_reader *r, const struct unc_table_file *f,
		     enum unc_table_part part)
{
	struct unc_line line = {0}, *outer = r->line;
	char *copy = malloc(f->size + 1);
	int rc;

	if (!copy)
		return unc_no_memory(r->err);
	memcpy(copy, f->text, f->size);
	struct unc_lines lines = {.next = copy, .end = copy + f->size};
	r->skipping = false;
	r->line = &line;
	for (;;) {
		r->statement = NULL;
		r->metric[0] = '\0';
		if ((rc = unc_line_next(&lines, &line, r->err)) == 0)
			break;
		if (rc > 0 && (rc = read_line(r, part)) == 0)
			continue;
		unc_error_prefix(r->err, "%s:%u", f->name, line.number);
		if ((rc = go_on(r, part)) < 0)
			break;
	}
	r->line = outer;
	free(copy);
	return rc;
}

/* A folder may lack a file that is not needed. */
static int read_named(struct unc_table_reader *r, const char *name, enum unc_table_part part,
		      bool needed)
{
	const struct unc_table_file *f = find_file(r, name);

	if (!f && needed)
		return unc_bad(r, "%s: the file %s is missing", r->cpu, name);
	return f ? read_file(r, f, part) : 0;
}

/* Without portable metrics what is portable in metrics.tbl is refused. */
static int read_metrics(struct unc_table_reader *r)
{
	int rc;

	if ((rc = read_named(r, "portable.tbl", UNC_FILE_PORTABLE, false)) < 0 ||
	    (rc = read_named(r, "metrics.tbl", UNC_FILE_METRICS, true)) < 0)
		return rc;
	r->checking = true;
	if ((rc = read_named(r, "metrics.tbl", UNC_FILE_METRICS, true)) < 0 ||
	    (rc = unc_check_portable(r)) < 0)
		return rc;
	unc_sort_metrics(r);
	return 0;
}

/* A CPU without one has no simulated machine. */
static int read_workload(struct unc_table_reader *r)
{
	int rc = read_named(r, "workload.tbl", UNC_FILE_WORKLOAD, false);

	if (rc == 0 && find_file(r, "workload.tbl") && !r->work.machine.sockets)
		return unc_bad(r, "%s: workload.tbl has no machine line", r->cpu);
	unc_mark_links(r);
	return rc;
}

static int read_all_events(struct unc_table_reader *r)
{
	for (size_t i = 0; i < r->t.n_type; i++) {
		struct unc_tbl_type *type = UNC_ROW(r, t, type, i);
		char name[64];
		int rc;

		strcpy(name, unc_tbl_str(&r->t, type->name));
		strcat(name, ".events");
		type->events.first = (uint16_t)r->t.n_event;
		r->first_fields = r->t.n_fields;
		r->type = (uint16_t)i;
		if ((rc = read_named(r, name, UNC_FILE_EVENTS, false)) < 0 ||
		    (rc = unc_events_end_type(r)) < 0)
			return rc;
		type->events.n = (uint16_t)(r->t.n_event - type->events.first);
	}
	return 0;
}

int unc_table_reader_finish(struct unc_table_reader *r, const struct unc_table **out,
			    struct unc_error *err)
{
	int rc;

	r->err = err;
	if ((rc = read_named(r, "cpus.tbl", UNC_FILE_CPUS, true)) < 0)
		return rc;
	if (!r->t.name)
		return unc_bad(r, "cpus.tbl has no line for %s", r->cpu);
	if ((rc = read_named(r, "units.tbl", UNC_FILE_UNITS, true)) < 0 ||
	    (rc = unc_units_end_type(r)) < 0 || (rc = read_all_events(r)) < 0 ||
	    (rc = unc_index(r)) < 0 || (rc = read_metrics(r)) < 0 ||
	    (rc = read_named(r, "groups.tbl", UNC_FILE_GROUPS, false)) < 0 ||
	    (rc = unc_check_group(r)) < 0 || (rc = read_workload(r)) < 0)
		return rc;
	if (r->out_of_memory)
		return unc_no_memory(err);
#define UNC_TOO_MANY(kind) || r->t.n_##kind >= UNC_NONE
	if (false UNC_TABLE_ARRAYS(UNC_TOO_MANY))
		return unc_bad(r, "%s: more than %d rows of a kind", r->cpu, UNC_NONE - 1);
	r->work.id = r->t.id;
	r->t.workload = &r->work;
	*out = &r->t;
	return 0;
}

int unc_table_reader_site(struct unc_table_reader *r, const struct unc_table *names,
			  struct unc_site *out, struct unc_error *err)
{
	int rc;

	r->err = err;
	r->names = names;
	r->site = out;
	if ((rc = read_file(r, &r->file[0], UNC_FILE_SITE)) < 0)
		return rc;
	unc_check_group(r);
	if (r->out_of_memory)
		return unc_no_memory(err);
	out->groups = &r->t;
	return 0;
}

void unc_table_reader_free(struct unc_table_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_files; i++) {
		free(r->file[i].name);
		free(r->file[i].text);
	}
	free(r->file);
#define UNC_FREE_ROWS(kind) free((void *)(uintptr_t)r->t.kind);
#define UNC_FREE_WORK(kind) free((void *)(uintptr_t)r->work.kind);
	UNC_TABLE_ARRAYS(UNC_FREE_ROWS)
	UNC_WORKLOAD_ARRAYS(UNC_FREE_WORK)
	free(r->cpu_line);
	free(r->strings.text);
	free(r->strings.texts);
	free(r);
}
