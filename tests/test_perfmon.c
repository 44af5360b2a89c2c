/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our Emerald Rapids tables against Intel's public event files, read from the folder
 * $UNCORE_PERFMON (a clone of github.com/intel/perfmon, or the folder that holds the files).
 * Every public event must encode as the file says; differences are reviewed in
 * perfmon-exceptions.txt.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "suite.h"
#include "uncore.h"

#ifndef HAVE_JANSSON

static void compare(void)
{
	suite_skip("built without libjansson");
}

#else
#include <jansson.h>

enum { MAX_EXCEPTIONS = 512, TEXT = 160 };

static const char *const files[] = {"emeraldrapids_uncore.json",
				    "emeraldrapids_uncore_experimental.json"};

/* Units of the public files. */
static const struct {
	const char *unit, *type;
} units[] = {
	{"CHA", "cha"},	    {"iMC", "imc"},	  {"IIO", "iio"},     {"IRP", "irp"},
	{"UPI LL", "upi"},  {"M2M", "m2m"},	  {"PCU", "pcu"},     {"M2PCIe", "m2pcie"},
	{"M3UPI", "m3upi"}, {"MDF", "mdf"},	  {"CXLCM", "cxlcm"}, {"CXLDP", "cxldp"},
	{"UBOX", "ubox"},   {"M2HBM", "m2hbm"},	  {"MCHBM", "mchbm"},
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

struct exception {
	char name[TEXT], ours[TEXT], theirs[TEXT];
	unsigned line;
	int used;
};

struct comparison {
	struct unc_platform *platform;
	struct exception exception[MAX_EXCEPTIONS];
	size_t n_exceptions;
	unsigned same[N_UNITS], reviewed[N_UNITS], absent[N_UNITS], different[N_UNITS];
	unsigned malformed;
};

static void read_exception(void *user, const struct cases_row *row)
{
	struct comparison *c = user;

	if (row->n != 4 || c->n_exceptions == MAX_EXCEPTIONS) {
		printf("# %s:%u: malformed row, or too many\n", row->file, row->line);
		c->malformed++;
		return;
	}
	struct exception *e = &c->exception[c->n_exceptions++];
	snprintf(e->name, TEXT, "%s", row->field[0]);
	snprintf(e->ours, TEXT, "%s", row->field[1]);
	snprintf(e->theirs, TEXT, "%s", row->field[2]);
	e->line = row->line;
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

/*
 * UMaskExt is control register 63:32, PortMask 47:36, FCMask 50:48; entries of the IIO give
 * the masks in either form or in both.
 */
static void describe_theirs(const json_t *event, char *buf)
{
	uint64_t ctl = number_of(event, "EventCode") | number_of(event, "UMask") << 8 |
		       number_of(event, "UMaskExt") << 32 | number_of(event, "PortMask") << 36 |
		       number_of(event, "FCMask") << 48;
	uint64_t counters = 0;
	char *end;

	if (strcmp(text_of(event, "CounterType"), "FREERUN") == 0) {
		describe(0, 0, "", buf);
		return;
	}
	for (const char *s = text_of(event, "Counter"); *s; s = *end ? end + 1 : end)
		counters |= UINT64_C(1) << (strtoul(s, &end, 10) & 63);
	describe(ctl, counters, NULL, buf);
}

static int find_unit(const char *unit)
{
	for (int i = 0; i < N_UNITS; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return i;
	return -1;
}

static void judge(struct comparison *c, int unit, const char *name, const char *ours,
		  const char *theirs)
{
	if (strcmp(ours, theirs) == 0) {
		c->same[unit]++;
		return;
	}
	for (size_t i = 0; i < c->n_exceptions; i++) {
		struct exception *e = &c->exception[i];

		if (strcmp(e->name, name) || strcmp(e->ours, ours) || strcmp(e->theirs, theirs))
			continue;
		e->used = 1;
		c->reviewed[unit]++;
		return;
	}
	printf("# %s ; %s ; %s ; not reviewed\n", name, ours, theirs);
	c->different[unit]++;
}

static void compare_event(struct comparison *c, const json_t *event)
{
	int unit = find_unit(text_of(event, "Unit"));
	const char *name = text_of(event, "EventName");
	struct unc_encoding e = {.size = sizeof(e)};
	char ours[TEXT], theirs[TEXT];

	if (unit < 0) {
		printf("# %s: unit %s is not known\n", name, text_of(event, "Unit"));
		c->malformed++;
		return;
	}
	int rc = unc_event_encode(c->platform, name, &e);
	if (rc == UNC_ERR_NOT_FOUND) {
		printf("# %s: not in our tables\n", name);
		c->absent[unit]++;
		return;
	}
	if (rc != 0)
		snprintf(ours, TEXT, "%s", unc_error_name(rc));
	else if (strcmp(e.type, units[unit].type) != 0)
		snprintf(ours, TEXT, "unit %s", e.type);
	else
		describe(e.ctl, e.counters, e.counter, ours);
	describe_theirs(event, theirs);
	judge(c, unit, name, ours, theirs);
}

static int compare_file(struct comparison *c, const char *folder, const char *file)
{
	static const char *const below[] = {"", "/EMR/events"};
	json_t *root = NULL, *event;
	json_error_t error;
	char path[1024];
	size_t i;

	for (i = 0; i < 2 && !root; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", folder, below[i], file);
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
	json_array_foreach (events, i, event)
		compare_event(c, event);
	json_decref(root);
	return n;
}

static unsigned report(const struct comparison *c)
{
	unsigned bad = c->malformed, compared = 0;

	for (int i = 0; i < N_UNITS; i++) {
		printf("# %-6s %3u the same, %3u reviewed, %3u different, %3u not in our tables\n",
		       units[i].type, c->same[i], c->reviewed[i], c->different[i], c->absent[i]);
		bad += c->different[i] + c->absent[i];
		compared += c->same[i];
	}
	for (size_t i = 0; i < c->n_exceptions; i++)
		if (!c->exception[i].used) {
			printf("# perfmon-exceptions.txt:%u: %s: no such difference any more\n",
			       c->exception[i].line, c->exception[i].name);
			bad++;
		}
	CU_ASSERT(compared > 0);
	return bad;
}

static void compare(void)
{
	static struct comparison c;
	struct unc_options options = {.size = sizeof(options), .cpu = "emerald-rapids", .sim = ""};
	const char *folder = getenv("UNCORE_PERFMON");

	if (!folder || !*folder) {
		suite_skip("UNCORE_PERFMON does not name the folder of the public event files");
		return;
	}
	if (unc_platform_open(&options, &c.platform) != 0) {
		printf("# %s\n", unc_open_error());
		CU_FAIL("the tables cannot be opened");
		return;
	}
	CU_ASSERT(cases_read("perfmon-exceptions.txt", read_exception, &c) >= 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		CU_ASSERT(compare_file(&c, folder, files[i]) > 0);
	CHECK_NUMBER(report(&c), 0);
	unc_platform_close(c.platform);
}

#endif

static const struct suite_test tests[] = {
	{"emerald-rapids: tables agree with the public event files", compare},
	{NULL, NULL},
};

int main(void)
{
	return suite_run("perfmon", tests);
}
