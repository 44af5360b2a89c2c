/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden encodings and addresses: tests/encode/CPU.cases through the public interface. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cases.h"
#include "suite.h"
#include "uncore.h"

enum { MAX_REGISTERS = 8192, MAX_TYPES = 32 };

/* What a row can say of a register: a copy, as the walk's texts need not outlive the call. */
struct place {
	char unit[16], name[32], space[8], device[8];
	int index, width;
	unsigned long long address;
	unsigned device_id;
};

static struct machine {
	const char *cpu, *file;
	unsigned least; /* rows */
	struct unc_platform *platform;
	struct place *reg;
	size_t n_reg;
} machines[] = {
	{.cpu = "sandybridge-ep", .file = "encode/sandybridge-ep.cases", .least = 120},
	{.cpu = "emerald-rapids", .file = "encode/emerald-rapids.cases", .least = 120},
	{.cpu = "ivybridge-ep", .file = "encode/ivybridge-ep.cases", .least = 120},
	{.cpu = "nehalem-ep", .file = "encode/nehalem-ep.cases", .least = 120},
	/* what differs from Nehalem-EP, whose tables it shares */
	{.cpu = "westmere-ep", .file = "encode/westmere-ep.cases", .least = 50},
	{.cpu = "montecito", .file = "encode/montecito.cases", .least = 120},
};

/* One run over the rows of one kind. */
struct run {
	struct machine *machine;
	const char *kind;
	void (*check)(struct run *, const struct cases_row *, const char *subject);
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

static void each_row(void *user, const struct cases_row *row)
{
	struct run *run = user;
	size_t n = strlen(run->kind);

	if (strncmp(row->field[0], run->kind, n) != 0 || row->field[0][n] != ' ')
		return;
	run->rows++;
	run->check(run, row, row->field[0] + n + 1);
}

static void run_kind(struct machine *m, const char *kind,
		     void (*check)(struct run *, const struct cases_row *, const char *))
{
	struct run run = {.machine = m, .kind = kind, .check = check};

	CU_ASSERT_FATAL(m->platform != NULL);
	CU_ASSERT_FATAL(cases_read(m->file, each_row, &run) > 0);
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
		n += (size_t)snprintf(buf + n, size - n, "%s%s:0x%llx", i ? "," : "",
				      filter[i].reg, (unsigned long long)filter[i].value);
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
	char text[UNC_SPEC_MAX], a[512], b[512];

	if (unc_encoding_format(first, text, sizeof(text)) != 0 || strcmp(text, first->name) != 0)
		fail(run, row, "unc_encoding_format() gives \"%s\", not \"%s\"", text,
		     first->name);
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
	    (strcmp(width, "-") && r->width != atoi(width)) ||
	    strcmp(r->device, device) ||
	    (*id && r->device_id != strtoul(id, NULL, 16)))
		fail(run, row, "got %s 0x%llx %d %s 0x%x, want %s (%s)", r->space,
		     r->address, r->width, r->device, r->device_id, row->field[1],
		     row->field[2]);
}

/* ---------------------------------------------------------------- coverage */

struct tally {
	struct machine *machine;
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

static void tally_row(void *user, const struct cases_row *row)
{
	static const char *const kinds[] = {"encode", "fixed", "name", "register", "error"};
	struct tally *t = user;
	const struct unc_platform *p = t->machine->platform;
	const char *subject = strchr(row->field[0], ' ');
	unsigned known = 0;
	int type;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (subject && strlen(kinds[i]) == (size_t)(subject - row->field[0]))
			known |= strncmp(kinds[i], row->field[0], strlen(kinds[i])) == 0;
	t->rows++;
	t->unknown += !known;
	if (!known)
		return;
	subject++;
	t->errors += strncmp(row->field[0], "error ", 6) == 0;
	if (strncmp(row->field[0], "register ", 9) == 0) {
		type = type_of(p, subject, strcspn(subject, " "));
		if (type >= 0)
			t->registers[type]++;
	} else if (strncmp(row->field[0], "error ", 6) != 0) {
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

/* A unit type that the cases forget is a failure, and so are too few rows. */
static void check_coverage(struct machine *m)
{
	struct tally t = {.machine = m};
	const struct unc_type *type;

	CU_ASSERT_FATAL(m->platform != NULL);
	CU_ASSERT_FATAL(cases_read(m->file, tally_row, &t) > 0);
	CHECK_NUMBER(t.unknown, 0);
	CU_ASSERT(t.rows >= m->least);
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

/* -------------------------------------------------------------------- main */

static void machine_open(struct machine *m)
{
	struct unc_options options = {.size = sizeof(options), .cpu = m->cpu, .sim = ""};

	if (unc_platform_open(&options, &m->platform) != 0) {
		printf("# %s: %s\n", m->cpu, unc_open_error());
		return;
	}
	m->reg = calloc(MAX_REGISTERS, sizeof(*m->reg));
	if (!m->reg || unc_register_walk(m->platform, each_register, m) != 0)
		printf("# %s: cannot walk the registers\n", m->cpu);
}

#define TESTS(n, prefix)                                          \
	static void prefix##_encode(void)                         \
	{                                                         \
		run_kind(&machines[n], "encode", check_encode);   \
	}                                                         \
	static void prefix##_name(void)                           \
	{                                                         \
		run_kind(&machines[n], "name", check_name);       \
	}                                                         \
	static UNUSED void prefix##_fixed(void)                   \
	{                                                         \
		run_kind(&machines[n], "fixed", check_fixed);     \
	}                                                         \
	static void prefix##_register(void)                       \
	{                                                         \
		run_kind(&machines[n], "register", check_register); \
	}                                                         \
	static void prefix##_error(void)                          \
	{                                                         \
		run_kind(&machines[n], "error", check_error);     \
	}                                                         \
	static void prefix##_coverage(void)                       \
	{                                                         \
		check_coverage(&machines[n]);                     \
	}

/* The Itanium's monitor has no fixed counters. */
#define UNUSED __attribute__((unused))

TESTS(0, snb)
TESTS(1, emr)
TESTS(2, ivb)
TESTS(3, nhm)
TESTS(4, wsm)
TESTS(5, mont)

static const struct suite_test tests[] = {
	{"sandybridge-ep: encodings", snb_encode},
	{"sandybridge-ep: canonical names", snb_name},
	{"sandybridge-ep: fixed counters", snb_fixed},
	{"sandybridge-ep: registers", snb_register},
	{"sandybridge-ep: errors", snb_error},
	{"sandybridge-ep: every unit type has rows", snb_coverage},
	{"emerald-rapids: encodings", emr_encode},
	{"emerald-rapids: canonical names", emr_name},
	{"emerald-rapids: fixed counters", emr_fixed},
	{"emerald-rapids: registers", emr_register},
	{"emerald-rapids: errors", emr_error},
	{"emerald-rapids: every unit type has rows", emr_coverage},
	{"ivybridge-ep: encodings", ivb_encode},
	{"ivybridge-ep: canonical names", ivb_name},
	{"ivybridge-ep: fixed counters", ivb_fixed},
	{"ivybridge-ep: registers", ivb_register},
	{"ivybridge-ep: errors", ivb_error},
	{"ivybridge-ep: every unit type has rows", ivb_coverage},
	{"nehalem-ep: encodings", nhm_encode},
	{"nehalem-ep: canonical names", nhm_name},
	{"nehalem-ep: fixed counters", nhm_fixed},
	{"nehalem-ep: registers", nhm_register},
	{"nehalem-ep: errors", nhm_error},
	{"nehalem-ep: every unit type has rows", nhm_coverage},
	{"westmere-ep: encodings", wsm_encode},
	{"westmere-ep: canonical names", wsm_name},
	{"westmere-ep: fixed counters", wsm_fixed},
	{"westmere-ep: registers", wsm_register},
	{"westmere-ep: errors", wsm_error},
	{"westmere-ep: every unit type has rows", wsm_coverage},
	{"montecito: encodings", mont_encode},
	{"montecito: canonical names", mont_name},
	{"montecito: registers", mont_register},
	{"montecito: errors", mont_error},
	{"montecito: every unit type has rows", mont_coverage},
	{NULL, NULL},
};

int main(void)
{
	size_t n = sizeof(machines) / sizeof(machines[0]);

	for (size_t i = 0; i < n; i++)
		machine_open(&machines[i]);
	int status = suite_run("encode", tests);
	for (size_t i = 0; i < n; i++) {
		unc_platform_close(machines[i].platform);
		free(machines[i].reg);
	}
	return status;
}
