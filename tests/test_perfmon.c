/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our tables against Intel's public event files, read from the folder $UNCORE_PERFMON (a clone
 * of github.com/intel/perfmon, or the folder that holds the files). Every public event must
 * encode as the file says, but for deprecated ones that we do not have; tests/perfmon/CPU.txt names
 * the files and holds the reviewed differences.
 *
 *   file ; PATH: in a clone of github.com/intel/perfmon
 *   unit ; NAME ; TYPE: a unit as the files name it, and ours
 *   enable ; BITS: of the control, which the files leave out
 *   filter ; TEXT ; FIELDS: what the files say of a filter, and what such an event is asked for with
 *   value ; REG ; REST: the register that FILTER_VALUE is of, and what it holds at rest
 *   place ; PortMask or FCMask ; BIT: its lowest bit in the control
 *   like ; CPU: all rows of that CPU but its files, for one that shares its folder
 *   NAME ; OURS ; THEIRS ; who is right and why: a reviewed difference
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "suite.h"
#include "uncore.h"

#ifndef HAVE_JANSSON

static void compare(const void *user)
{
	(void)user;
	suite_skip("built without libjansson");
}

#else
#include <jansson.h>

enum {
	MAX_EXCEPTIONS = 512,
	MAX_FILES = 4,
	MAX_UNITS = 32,
	MAX_FILTERS = 32,
	TEXT = 160,
	REG = 32
};

/* A unit as the public files name it, and our type. */
struct unit {
	char name[TEXT], type[TEXT];
	unsigned line; /* 0: of a CPU that this one is like */
	unsigned same, reviewed, different, left_out;
};

/* What the files say of a filter, and a value of it that the event is asked for with. */
struct filter {
	char text[TEXT], fields[TEXT];
	unsigned line;
	int used;
};

struct exception {
	char name[TEXT], ours[TEXT], theirs[TEXT];
	unsigned line;
	int used;
};

/* What tests/perfmon/CPU.txt says, and what came out. */
struct comparison {
	char exceptions[TEXT]; /* its name */
	struct unc_platform *platform;
	char file[MAX_FILES][TEXT]; /* in a clone */
	struct unit unit[MAX_UNITS];
	struct filter filter[MAX_FILTERS];
	struct exception exception[MAX_EXCEPTIONS];
	size_t n_files, n_units, n_filters, n_exceptions;
	uint64_t enable;      /* bits of the control register that the files leave out */
	char filter_reg[REG]; /* what FILTER_VALUE is of, and what it holds at rest */
	uint64_t filter_rest;
	unsigned port, fc; /* lowest bits of PortMask and FCMask in the control register */
	bool is_like;      /* rows of another CPU's file are read */
	unsigned malformed;
};

static void copy(char *to, const char *from)
{
	snprintf(to, TEXT, "%s", from);
}

static bool read_exception(struct comparison *c, const struct cases_row *row)
{
	if (row->n != 4 || c->n_exceptions == MAX_EXCEPTIONS)
		return false;
	struct exception *e = &c->exception[c->n_exceptions++];
	copy(e->name, row->field[0]);
	copy(e->ours, row->field[1]);
	copy(e->theirs, row->field[2]);
	e->line = c->is_like ? 0 : row->line;
	return true;
}

static bool read_filter(struct comparison *c, const struct cases_row *row)
{
	if (row->n != 3 || c->n_filters == MAX_FILTERS)
		return false;
	struct filter *f = &c->filter[c->n_filters++];
	copy(f->text, row->field[1]);
	copy(f->fields, row->field[2]);
	f->line = c->is_like ? 0 : row->line;
	return true;
}

static bool read_unit(struct comparison *c, const struct cases_row *row)
{
	if (row->n != 3 || c->n_units == MAX_UNITS)
		return false;
	struct unit *u = &c->unit[c->n_units++];
	copy(u->name, row->field[1]);
	copy(u->type, row->field[2]);
	u->line = c->is_like ? 0 : row->line;
	return true;
}

static bool read_file(struct comparison *c, const struct cases_row *row)
{
	if (c->is_like)
		return true;
	if (row->n != 2 || c->n_files == MAX_FILES)
		return false;
	copy(c->file[c->n_files++], row->field[1]);
	return true;
}

static bool read_enable(struct comparison *c, const struct cases_row *row)
{
	char *end;

	c->enable = strtoull(row->field[1], &end, 16);
	return row->n == 2 && end != row->field[1] && *end == '\0';
}

/* PortMask ; BIT or FCMask ; BIT, where they are others than the first CPUs' with masks have. */
static bool read_place(struct comparison *c, const struct cases_row *row)
{
	bool port = strcmp(row->field[1], "PortMask") == 0;
	char *end;
	unsigned long bit = strtoul(row->field[2], &end, 10);

	*(port ? &c->port : &c->fc) = (unsigned)bit;
	return row->n == 3 && end != row->field[2] && *end == '\0' && bit < 64 &&
	       (port || strcmp(row->field[1], "FCMask") == 0);
}

static bool read_value(struct comparison *c, const struct cases_row *row)
{
	char *end;

	snprintf(c->filter_reg, REG, "%s", row->field[1]);
	c->filter_rest = strtoull(row->field[2], &end, 16);
	return row->n == 3 && end != row->field[2] && *end == '\0';
}

static void read_row(void *user, const struct cases_row *row);

/* All rows of another CPU but its files. */
static bool read_like(struct comparison *c, const struct cases_row *row)
{
	char name[TEXT];

	if (row->n != 2 || c->is_like)
		return false;
	snprintf(name, sizeof(name), "perfmon/%s.txt", row->field[1]);
	c->is_like = true;
	bool read = cases_read(name, read_row, c) > 0;
	c->is_like = false;
	return read;
}

static void read_row(void *user, const struct cases_row *row)
{
	static const struct {
		const char *word;
		bool (*read)(struct comparison *, const struct cases_row *);
	} words[] = {
		{"file", read_file},     {"enable", read_enable}, {"unit", read_unit},
		{"filter", read_filter}, {"place", read_place},   {"value", read_value},
		{"like", read_like},
	};
	bool (*read)(struct comparison *, const struct cases_row *) = read_exception;
	struct comparison *c = user;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, row->field[0]) == 0)
			read = words[i].read;
	if (!read(c, row)) {
		printf("# %s:%u: malformed row, or too many\n", row->file, row->line);
		c->malformed++;
	}
}

static const char *text_of(const json_t *event, const char *key)
{
	const char *s = json_string_value(json_object_get(event, key));

	return s ? s : "";
}

static uint64_t number_of(const json_t *event, const char *key)
{
	return strtoull(text_of(event, key), NULL, 16);
}

static void describe(uint64_t ctl, uint64_t counters, const char *counter, char *buf)
{
	size_t n;

	if (counter) {
		snprintf(buf, TEXT, "free-running");
		return;
	}
	n = (size_t)snprintf(buf, TEXT, "ctl=0x%llx counters=", (unsigned long long)ctl);
	for (unsigned i = 0; i < 64 && n < TEXT; i++)
		if (counters >> i & 1)
			n += (size_t)snprintf(buf + n, TEXT - n, "%s%u",
					      counters & ((UINT64_C(1) << i) - 1) ? "," : "", i);
}

static void describe_value(const struct comparison *c, uint64_t value, char *buf)
{
	size_t n = strlen(buf);

	snprintf(buf + n, TEXT - n, " %s=0x%llx", c->filter_reg, (unsigned long long)value);
}

/*
 * ExtSel is control register 21, UMaskExt 63:32, PortMask 47:36, FCMask 50:48 if no row says other
 * places; entries of the IIO give the masks in either form or in both.
 */
static void describe_theirs(const struct comparison *c, const json_t *event, char *buf)
{
	uint64_t ctl = number_of(event, "EventCode") | number_of(event, "UMask") << 8 |
		       number_of(event, "ExtSel") << 21 | number_of(event, "UMaskExt") << 32 |
		       number_of(event, "PortMask") << c->port |
		       number_of(event, "FCMask") << c->fc | c->enable;
	uint64_t counters = 0;
	char *end;

	if (strcmp(text_of(event, "CounterType"), "FREERUN") == 0 ||
	    strcmp(text_of(event, "Counter"), "FIXED") == 0) {
		describe(0, 0, "", buf);
		return;
	}
	for (const char *s = text_of(event, "Counter"); *s; s = *end ? end + 1 : end)
		counters |= UINT64_C(1) << (strtoul(s, &end, 10) & 63);
	describe(ctl, counters, NULL, buf);
	if (number_of(event, "FILTER_VALUE"))
		describe_value(c, number_of(event, "FILTER_VALUE"), buf);
}

/* The same of ours, where the file has a value of a filter. */
static void describe_our_value(const struct comparison *c, const struct unc_encoding *e, char *buf)
{
	uint64_t value = c->filter_rest;

	for (size_t i = 0; i < e->n_filters; i++)
		if (strcmp(e->filters[i].reg, c->filter_reg) == 0)
			value = e->filters[i].value | (value & ~e->filters[i].mask);
	describe_value(c, value, buf);
}

static struct unit *find_unit(struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->n_units; i++)
		if (strcmp(c->unit[i].name, name) == 0)
			return &c->unit[i];
	return NULL;
}

static void judge(struct comparison *c, struct unit *unit, const char *name, const char *ours,
		  const char *theirs)
{
	if (strcmp(ours, theirs) == 0) {
		unit->same++;
		return;
	}
	for (size_t i = 0; i < c->n_exceptions; i++) {
		struct exception *e = &c->exception[i];

		if (strcmp(e->name, name) || strcmp(e->ours, ours) || strcmp(e->theirs, theirs))
			continue;
		e->used = 1;
		unit->reviewed++;
		return;
	}
	printf("# %s ; %s ; %s ; not reviewed\n", name, ours, theirs);
	unit->different++;
}

/* The fields that the filter of a public event asks for; "" if it has none that we know. */
static const char *fields_of(struct comparison *c, const json_t *event)
{
	const char *text = text_of(event, "Filter");

	for (size_t i = 0; i < c->n_filters; i++)
		if (strcmp(text, c->filter[i].text) == 0) {
			c->filter[i].used = 1;
			return c->filter[i].fields;
		}
	return "";
}

/* Whether the tables say that no public file has an event, or one of its umasks. */
static bool by_guide(const struct comparison *c, const struct unc_encoding *e)
{
	const struct unc_event *event = unc_event_get(c->platform, e->event);
	const struct unc_umask *umask;
	char name[UNC_SPEC_MAX];

	for (size_t k = 0; (umask = unc_umask_get(c->platform, e->event, k)); k++) {
		snprintf(name, sizeof(name), "%s:%s", event->spec, umask->name);
		if (*umask->guide && strcmp(name, e->name) == 0)
			return true;
	}
	return *event->guide && strcmp(event->spec, e->name) == 0;
}

static void compare_event(struct comparison *c, const json_t *event)
{
	struct unit *unit = find_unit(c, text_of(event, "Unit"));
	const char *name = text_of(event, "EventName"), *fields = fields_of(c, event);
	struct unc_encoding e = {.size = sizeof(e)};
	char spec[TEXT], ours[TEXT], theirs[TEXT];

	if (!unit) {
		printf("# %s: %s has no row for the unit %s\n", name, c->exceptions,
		       text_of(event, "Unit"));
		c->malformed++;
		return;
	}
	snprintf(spec, TEXT, "%s%s", name, fields);
	int rc = unc_event_encode(c->platform, spec, &e);
	if (rc != 0 && strcmp(text_of(event, "Deprecated"), "1") == 0) {
		unit->left_out++;
		return;
	}
	if (rc != 0)
		snprintf(ours, TEXT, "%s", unc_error_name(rc));
	else if (strcmp(e.type, unit->type) != 0)
		snprintf(ours, TEXT, "unit %s", e.type);
	else if (*fields && e.n_filters == 0)
		snprintf(ours, TEXT, "no filter");
	else
		describe(e.ctl, e.counters, e.counter, ours);
	if (rc == 0 && number_of(event, "FILTER_VALUE"))
		describe_our_value(c, &e, ours);
	if (rc == 0 && by_guide(c, &e))
		snprintf(ours, TEXT, "guide");
	describe_theirs(c, event, theirs);
	judge(c, unit, name, ours, theirs);
}

/* In a clone of the repository, or with all files in one folder. */
static int compare_file(struct comparison *c, const char *folder, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *const names[] = {slash ? slash + 1 : file, file};
	json_t *root = NULL, *event;
	json_error_t error;
	char path[1024];
	size_t i;

	for (i = 0; i < 2 && !root; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		root = json_load_file(path, 0, &error);
		if (!root && json_error_code(&error) != json_error_cannot_open_file)
			break;
	}
	if (!root) {
		printf("# %s: %s\n", path, error.text);
		return -1;
	}
	json_t *events = json_object_get(root, "Events");
	int n = (int)json_array_size(events);
	json_array_foreach(events, i, event) compare_event(c, event);
	json_decref(root);
	return n;
}

/*
 * A row of ours that no event of the files has to do with. Rows of a CPU that this one is like need
 * not be about its events: that CPU's own test looks at them.
 */
static unsigned unused(const struct comparison *c, unsigned line, const char *name,
		       const char *what)
{
	if (line == 0)
		return 0;
	printf("# %s:%u: %s: %s\n", c->exceptions, line, name, what);
	return 1;
}

static unsigned report(const struct comparison *c)
{
	unsigned bad = c->malformed, compared = 0;

	for (const struct unit *u = c->unit; u < c->unit + c->n_units; u++) {
		printf("# %-6s %3u the same, %3u reviewed, %3u different, %3u deprecated that we "
		       "do "
		       "not have\n",
		       u->type, u->same, u->reviewed, u->different, u->left_out);
		bad += u->different;
		if (u->same + u->reviewed + u->different + u->left_out == 0)
			bad += unused(c, u->line, u->name, "no event of such a unit");
		compared += u->same;
	}
	for (const struct filter *f = c->filter; f < c->filter + c->n_filters; f++)
		if (!f->used)
			bad += unused(c, f->line, f->text, "no event has such a filter");
	for (const struct exception *e = c->exception; e < c->exception + c->n_exceptions; e++)
		if (!e->used)
			bad += unused(c, e->line, e->name, "no such difference any more");
	CU_ASSERT(compared > 0);
	return bad;
}

static void compare(const void *user)
{
	const char *cpu = user, *folder = getenv("UNCORE_PERFMON");
	struct unc_options options = {.size = sizeof(options), .cpu = cpu, .sim = ""};

	if (!folder || !*folder) {
		suite_skip("UNCORE_PERFMON does not name the folder of the public event files");
		return;
	}
	struct comparison *c = calloc(1, sizeof(*c));
	CU_ASSERT_FATAL(c != NULL);
	c->port = 36;
	c->fc = 48;
	snprintf(c->exceptions, sizeof(c->exceptions), "perfmon/%s.txt", cpu);
	if (unc_platform_open(&options, &c->platform) != 0) {
		printf("# %s\n", unc_open_error());
		CU_FAIL("the tables cannot be opened");
		free(c);
		return;
	}
	CU_ASSERT(cases_read(c->exceptions, read_row, c) > 0 && c->n_files > 0);
	for (size_t i = 0; i < c->n_files; i++)
		CU_ASSERT(compare_file(c, folder, c->file[i]) > 0);
	CHECK_NUMBER(report(c), 0);
	unc_platform_close(c->platform);
	free(c);
}

#endif

static void check_files(const void *user)
{
	(void)user;
	CU_ASSERT(cases_cpu(0) != NULL);
	CHECK_NUMBER(cases_of_no_cpu("perfmon", ".txt"), 0);
}

/* Not every CPU has public files. */
int main(void)
{
	const char *cpu;

	suite_add(check_files, NULL, "every file of reviewed differences is of a CPU");
	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++)
		if (cases_has("perfmon", cpu, ".txt"))
			suite_add(compare, cpu, "%s: tables agree with the public event files",
				  cpu);
	return suite_run("perfmon", NULL);
}
