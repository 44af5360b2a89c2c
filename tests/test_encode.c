/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden encodings and addresses: tests/encode/CPU.cases of each CPU, by the public interface. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cases.h"
#include "suite.h"
#include "uncore.h"

enum { MAX_REGISTERS = 8192, MAX_TYPES = 32, MAX_CPUS = 64 };

/* What a row can say of a register: a copy, as the walk's texts need not outlive the call. */
struct place {
	char unit[16], name[32], space[8], device[8];
	int index, width;
	unsigned long long address;
	unsigned device_id;
};

struct run;
struct machine;

/* The rows that begin with a word. */
struct kind {
	const char *word, *title;
	void (*check)(struct run *, const struct cases_row *, const char *subject);
};
enum { N_KINDS = 5 };

/* What a test is given: the rows of one kind of one CPU. */
struct job {
	struct machine *machine;
	const struct kind *kind;
};

struct machine {
	char file[64];
	struct unc_platform *platform;
	struct place *reg;
	size_t n_reg;
	struct job job[N_KINDS];
	size_t n_jobs;
};

/* One run over the rows of one kind. */
struct run {
	const struct machine *machine;
	const struct kind *kind;
	unsigned rows, failed;
};

static void __attribute__((format(printf, 3, 4)))
fail(struct run *run, const struct cases_row *row, const char *format, ...)
{
	va_list args;

	printf("# %s:%u: %s: ", row->file, row->line, row->field[0]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	run->failed++;
}

static bool is_kind(const struct cases_row *row, const struct kind *kind)
{
	size_t n = strlen(kind->word);

	return strncmp(row->field[0], kind->word, n) == 0 && row->field[0][n] == ' ';
}

static void each_row(void *user, const struct cases_row *row)
{
	struct run *run = user;

	if (!is_kind(row, run->kind))
		return;
	run->rows++;
	run->kind->check(run, row, row->field[0] + strlen(run->kind->word) + 1);
}

static void run_rows(const void *user)
{
	const struct job *job = user;
	struct run run = {.machine = job->machine, .kind = job->kind};

	CU_ASSERT_FATAL(run.machine->platform != NULL);
	CU_ASSERT_FATAL(cases_read(run.machine->file, each_row, &run) > 0);
	printf("# %s: %u rows %s\n", run.machine->file, run.rows, run.kind->word);
	CU_ASSERT(run.rows > 0);
	CHECK_NUMBER(run.failed, 0);
}

/* ------------------------------------------------------------------ events */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct unc_filter *)a)->reg, ((const struct unc_filter *)b)->reg);
}

/* Writes what an encoding is in the words of the cases, filters in the order of their names. */
static void describe(const struct unc_encoding *e, char *buf, size_t size)
{
	struct unc_filter filter[UNC_MAX_FILTERS];
	size_t n = (size_t)snprintf(buf, size, "ctl=0x%llx counters=", (unsigned long long)e->ctl);
	const char *comma = "";

	for (unsigned i = 0; i < 64 && n < size; i++)
		if (e->counters >> i & 1) {
			n += (size_t)snprintf(buf + n, size - n, "%s%u", comma, i);
			comma = ",";
		}
	if (n < size)
		n += (size_t)snprintf(buf + n, size - n, " filters=%s", e->n_filters ? "" : "-");
	memcpy(filter, e->filters, sizeof(filter));
	qsort(filter, e->n_filters, sizeof(filter[0]), by_name);
	for (size_t i = 0; i < e->n_filters && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s:0x%llx", i ? "," : "", filter[i].reg,
				      (unsigned long long)filter[i].value);
}

/* The same for a row: numbers are normalised, so that 0x0040 is 0x40. */
static int describe_row(const struct cases_row *row, char *buf, size_t size)
{
	const char *s = row->field[3];
	size_t n;

	if (strncmp(row->field[1], "ctl=", 4) || strncmp(row->field[2], "counters=", 9) ||
	    strncmp(s, "filters=", 8))
		return -1;
	n = (size_t)snprintf(buf, size, "ctl=0x%llx %s ", strtoull(row->field[1] + 4, NULL, 16),
			     row->field[2]);
	while (*s && n < size) {
		const char *colon = strchr(s, ':');
		char *end;

		if (!colon)
			return snprintf(buf + n, size - n, "%s", s);
		n += (size_t)snprintf(buf + n, size - n, "%.*s:0x%llx", (int)(colon - s), s,
				      strtoull(colon + 1, &end, 16));
		s = end;
		if (*s == ',' && n < size)
			buf[n++] = *s++;
	}
	return 0;
}

static int encode(struct run *run, const struct cases_row *row, const char *spec,
		  struct unc_encoding *e)
{
	struct unc_platform *p = run->machine->platform;

	memset(e, 0, sizeof(*e));
	e->size = sizeof(*e);
	int rc = unc_event_encode(p, spec, e);
	if (rc != 0)
		fail(run, row, "%s: %s", spec, unc_platform_error(p));
	return rc;
}

/* parse(format(parse(x))) is parse(x). */
static void check_stable(struct run *run, const struct cases_row *row,
			 const struct unc_encoding *first)
{
	struct unc_encoding again;
	char a[512], b[512];

	if (encode(run, row, first->name, &again) != 0)
		return;
	describe(first, a, sizeof(a));
	describe(&again, b, sizeof(b));
	if (strcmp(a, b) != 0 || strcmp(first->name, again.name) != 0 ||
	    first->index != again.index || first->socket != again.socket ||
	    strcmp(first->type, again.type) != 0)
		fail(run, row, "canonical text %s encodes to %s (%s), not %s", first->name, b,
		     again.name, a);
}

static void check_encode(struct run *run, const struct cases_row *row, const char *spec)
{
	struct unc_encoding e;
	char got[512], want[512];

	if (row->n != 5 || describe_row(row, want, sizeof(want)) < 0) {
		fail(run, row, "malformed row");
		return;
	}
	if (encode(run, row, spec, &e) != 0)
		return;
	describe(&e, got, sizeof(got));
	if (strcmp(got, want) != 0)
		fail(run, row, "got %s, want %s (%s)", got, want, row->field[4]);
	check_stable(run, row, &e);
}

static void check_fixed(struct run *run, const struct cases_row *row, const char *spec)
{
	struct unc_encoding e;

	if (row->n != 5 || strncmp(row->field[1], "counter=", 8) != 0) {
		fail(run, row, "malformed row");
		return;
	}
	if (encode(run, row, spec, &e) != 0)
		return;
	if (!e.counter || strcmp(e.counter, row->field[1] + 8) != 0 || e.counters)
		fail(run, row, "got counter %s, counters 0x%llx (%s)", e.counter ? e.counter : "-",
		     (unsigned long long)e.counters, row->field[4]);
	check_stable(run, row, &e);
}

static void check_name(struct run *run, const struct cases_row *row, const char *spec)
{
	struct unc_encoding e;

	if (row->n != 5)
		fail(run, row, "malformed row");
	else if (encode(run, row, spec, &e) == 0 && strcmp(e.name, row->field[1]) != 0)
		fail(run, row, "canonical text is %s, want %s", e.name, row->field[1]);
}

static int code_of(const char *name)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = {
		{"INVALID", UNC_ERR_INVALID},
		{"NOT_FOUND", UNC_ERR_NOT_FOUND},
		{"RANGE", UNC_ERR_RANGE},
		{"UNAVAILABLE", UNC_ERR_UNAVAILABLE},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(codes[i].name, name) == 0)
			return codes[i].code;
	return 0;
}

/* The text between the quotes that surround s. */
static char *unquote(const char *s, char *buf, size_t size)
{
	size_t n = strlen(s);

	if (n < 2 || s[0] != '"' || s[n - 1] != '"')
		snprintf(buf, size, "%s", s);
	else
		snprintf(buf, size, "%.*s", (int)(n - 2), s + 1);
	return buf;
}

static void check_error(struct run *run, const struct cases_row *row, const char *spec)
{
	struct unc_platform *p = run->machine->platform;
	struct unc_encoding e, before;
	char text[512], pattern[512];

	if (row->n != 4 || !code_of(row->field[1])) {
		fail(run, row, "malformed row");
		return;
	}
	memset(&before, 0x5a, sizeof(before));
	before.size = sizeof(before);
	e = before;
	int rc = unc_event_encode(p, unquote(spec, text, sizeof(text)), &e);
	if (rc == 0) {
		fail(run, row, "accepted as %s, want %s (%s)", e.name, row->field[1],
		     row->field[3]);
		return;
	}
	if (rc != code_of(row->field[1]))
		fail(run, row, "got %s, want %s: %s", unc_error_name(rc), row->field[1],
		     unc_platform_error(p));
	unquote(row->field[2], pattern, sizeof(pattern));
	if (!*unc_platform_error(p) || !cases_match(unc_platform_error(p), pattern))
		fail(run, row, "got \"%s\", want \"%s\"", unc_platform_error(p), pattern);
	if (memcmp(&e, &before, sizeof(e)) != 0)
		fail(run, row, "the output was touched");
}

/* --------------------------------------------------------------- registers */

static int each_register(void *user, const struct unc_register *reg)
{
	struct machine *m = user;

	if (m->n_reg == MAX_REGISTERS)
		return 1;
	struct place *p = &m->reg[m->n_reg++];
	snprintf(p->unit, sizeof(p->unit), "%s", reg->unit);
	snprintf(p->name, sizeof(p->name), "%s", reg->name);
	snprintf(p->space, sizeof(p->space), "%s", reg->space);
	snprintf(p->device, sizeof(p->device), "%s", reg->device ? reg->device : "");
	p->index = reg->index;
	p->width = reg->width;
	p->address = reg->address;
	p->device_id = reg->device ? reg->device_id : 0;
	return 0;
}

static const struct place *find_register(const struct machine *m, const char *unit, int index,
					 const char *name)
{
	const struct place *found = NULL;

	for (size_t i = 0; i < m->n_reg; i++) {
		const struct place *r = &m->reg[i];

		if (r->index != index || strcmp(r->unit, unit) || strcmp(r->name, name))
			continue;
		if (found)
			return NULL; /* twice: ambiguous */
		found = r;
	}
	return found;
}

static void check_register(struct run *run, const struct cases_row *row, const char *subject)
{
	char unit[32], name[32], space[8], address[24], width[8], device[8] = "", id[8] = "";
	int index;

	if (row->n != 3 || sscanf(subject, "%31s %d %31s", unit, &index, name) != 3 ||
	    sscanf(row->field[1], "%7s %23s %7s %7s %7s", space, address, width, device, id) < 3) {
		fail(run, row, "malformed row");
		return;
	}
	const struct place *r = find_register(run->machine, unit, index, name);
	if (!r) {
		fail(run, row, "no such register, or more than one");
		return;
	}
	if (strcmp(r->space, space) || r->address != strtoull(address, NULL, 16) ||
	    (strcmp(width, "-") && r->width != atoi(width)) || strcmp(r->device, device) ||
	    (*id && r->device_id != strtoul(id, NULL, 16)))
		fail(run, row, "got %s 0x%llx %d %s 0x%x, want %s (%s)", r->space, r->address,
		     r->width, r->device, r->device_id, row->field[1], row->field[2]);
}

/* ---------------------------------------------------------------- coverage */

static const struct kind kinds[N_KINDS] = {
	{.word = "encode", .title = "encodings", .check = check_encode},
	{.word = "name", .title = "canonical names", .check = check_name},
	{.word = "fixed", .title = "fixed counters", .check = check_fixed},
	{.word = "register", .title = "registers", .check = check_register},
	{.word = "error", .title = "errors", .check = check_error},
};

struct tally {
	const struct machine *machine;
	unsigned rows, errors, unknown;
	unsigned events[MAX_TYPES], registers[MAX_TYPES]; /* rows of each unit type */
};

static int type_of(const struct unc_platform *p, const char *name, size_t n)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(p, i)) && i < MAX_TYPES; i++)
		if (strlen(t->name) == n && strncasecmp(t->name, name, n) == 0)
			return (int)i;
	return -1;
}

/* The kind of a row, if rows of that kind are run; else NULL. */
static const struct kind *kind_of(const struct machine *m, const struct cases_row *row)
{
	for (size_t i = 0; i < m->n_jobs; i++)
		if (is_kind(row, m->job[i].kind))
			return m->job[i].kind;
	return NULL;
}

static void tally_row(void *user, const struct cases_row *row)
{
	struct tally *t = user;
	const struct unc_platform *p = t->machine->platform;
	const struct kind *kind = kind_of(t->machine, row);
	int type;

	t->rows++;
	if (!kind) {
		printf("# %s:%u: no test runs this row: %s\n", row->file, row->line, row->field[0]);
		t->unknown++;
		return;
	}
	const char *subject = row->field[0] + strlen(kind->word) + 1;
	if (kind->check == check_error) {
		t->errors++;
	} else if (kind->check == check_register) {
		type = type_of(p, subject, strcspn(subject, " "));
		if (type >= 0)
			t->registers[type]++;
	} else {
		type = type_of(p, subject, strcspn(subject, "."));
		if (type >= 0)
			t->events[type]++;
	}
}

static int has_events(const struct unc_platform *p, const char *type)
{
	const struct unc_event *e;

	for (size_t i = 0; (e = unc_event_get(p, i)); i++)
		if (strcmp(e->type, type) == 0)
			return 1;
	return 0;
}

static int has_registers(const struct machine *m, const char *type)
{
	for (size_t i = 0; i < m->n_reg; i++)
		if (strcmp(m->reg[i].unit, type) == 0)
			return 1;
	return 0;
}

/*
 * A unit type that the cases forget is a failure, and so are too few rows: one for four events at
 * least, and one in five about an error.
 */
static void check_coverage(const void *user)
{
	const struct machine *m = user;
	struct tally t = {.machine = m};
	const struct unc_type *type;
	size_t events = 0;

	CU_ASSERT_FATAL(m->platform != NULL);
	CU_ASSERT_FATAL(cases_read(m->file, tally_row, &t) > 0);
	while (unc_event_get(m->platform, events))
		events++;
	printf("# %s: %u rows, %u of them of errors, for %zu events\n", m->file, t.rows, t.errors,
	       events);
	CHECK_NUMBER(t.unknown, 0);
	CU_ASSERT(events > 0 && t.rows * 4 >= events);
	CU_ASSERT(t.errors * 5 >= t.rows);
	for (size_t i = 0; (type = unc_type_get(m->platform, i)); i++) {
		CU_ASSERT_FATAL(i < MAX_TYPES);
		int missing = (has_events(m->platform, type->name) && !t.events[i]) ||
			      (has_registers(m, type->name) && !t.registers[i]);
		if (missing)
			printf("# %s: no rows for the events or the registers of %s\n", m->file,
			       type->name);
		CU_ASSERT(!missing);
	}
}

static void check_files(const void *user)
{
	(void)user;
	CU_ASSERT(cases_cpu(0) != NULL && cases_cpu(MAX_CPUS) == NULL);
	CHECK_NUMBER(cases_of_no_cpu("encode", ".cases"), 0);
}

/* -------------------------------------------------------------------- main */

static void machine_open(struct machine *m, const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .cpu = cpu, .sim = ""};

	snprintf(m->file, sizeof(m->file), "encode/%s.cases", cpu);
	if (unc_platform_open(&options, &m->platform) != 0) {
		printf("# %s: %s\n", cpu, unc_open_error());
		return;
	}
	m->reg = calloc(MAX_REGISTERS, sizeof(*m->reg));
	if (!m->reg || unc_register_walk(m->platform, each_register, m) != 0)
		printf("# %s: cannot walk the registers\n", cpu);
}

/* Some CPUs have no fixed and no free-running counters. */
static bool has_fixed(const struct unc_platform *p)
{
	const struct unc_event *e;

	for (size_t i = 0; p && (e = unc_event_get(p, i)); i++)
		if (e->free_running)
			return true;
	return false;
}

static void machine_tests(struct machine *m, const char *cpu)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		struct job *job = &m->job[m->n_jobs];

		if (kinds[i].check == check_fixed && !has_fixed(m->platform))
			continue;
		*job = (struct job){m, &kinds[i]};
		suite_add(run_rows, job, "%s: %s", cpu, kinds[i].title);
		m->n_jobs++;
	}
	suite_add(check_coverage, m, "%s: every unit type has rows", cpu);
}

int main(void)
{
	static struct machine machines[MAX_CPUS];
	const char *cpu;
	size_t n = 0;

	suite_add(check_files, NULL, "every file of cases is of a CPU");
	for (; n < MAX_CPUS && (cpu = cases_cpu(n)) != NULL; n++) {
		machine_open(&machines[n], cpu);
		machine_tests(&machines[n], cpu);
	}
	int status = suite_run("encode", NULL);
	for (size_t i = 0; i < n; i++) {
		unc_platform_close(machines[i].platform);
		free(machines[i].reg);
	}
	return status;
}
