/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our tables against Intel's public event files, read from the folder $UNCORE_PERFMON (a clone
 * of github.com/intel/perfmon, or the folder that holds the files). Every public event must
 * encode as the file says; differences are reviewed in a file of exceptions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "suite.h"
#include "uncore.h"

#ifndef HAVE_JANSSON

static void emerald_rapids(void)
{
	suite_skip("built without libjansson");
}

static void ivybridge_ep(void)
{
	suite_skip("built without libjansson");
}

static void sandybridge_ep(void)
{
	suite_skip("built without libjansson");
}

#else
#include <jansson.h>

enum { MAX_EXCEPTIONS = 512, TEXT = 160 };

/* A CPU and its public files. */
struct public {
	const char *cpu, *exceptions, *below; /* below: the folder in a clone */
	const char *file[2];
	uint64_t enable; /* bits of the control register that the files leave out */
};

static const struct public publics[] = {
	{"emerald-rapids", "perfmon/emerald-rapids.txt", "/EMR/events",
	 {"emeraldrapids_uncore.json", "emeraldrapids_uncore_experimental.json"}, 0},
	{"ivybridge-ep", "perfmon/ivybridge-ep.txt", "/IVT/events", {"ivytown_uncore.json", NULL},
	 0x400000},
	{"sandybridge-ep", "perfmon/sandybridge-ep.txt", "/JKT/events",
	 {"jaketown_uncore.json", NULL}, 0x400000},
};

/* What the files say of a filter, and a value of it that the event is asked for with. */
static const struct {
	const char *filter, *fields;
} filters[] = {
	{"CBoFilter[17:10]", ":nid=0x1"},
	{"CBoFilter[22:18]", ":state=0x1"},
	{"CBoFilter[22:18], CBoFilter[17:10]", ":state=0x1:nid=0x1"},
	{"CBoFilter[31:23]", ":opc=0x182"},
	{"CBoFilter[31:23], CBoFilter[17:10]", ":opc=0x182:nid=0x1"},
	{"CBoFilter0[23:17]", ":state=0x1"},
	{"CBoFilter1[15:0]", ":nid=0x1"},
	{"CBoFilter1[28:20]", ":opc=0x182"},
	{"CBoFilter1[28:20], CBoFilter1[15:0]", ":opc=0x182:nid=0x1"},
	{"HA_AddrMatch0[31:6], HA_AddrMatch1[13:0]", ":addr=0x1000"},
	{"HA_OpcodeMatch[5:0]", ":opc=0x1"},
	{"HA_AddrMatch0[31:6], HA_AddrMatch1[13:0], HA_OpcodeMatch[5:0]", ":addr=0x1000:opc=0x1"},
	{"PCUFilter[7:0]", ":band0=1"},
	{"PCUFilter[15:8]", ":band1=1"},
	{"PCUFilter[23:16]", ":band2=1"},
	{"PCUFilter[31:24]", ":band3=1"},
	{"QPIMask0[17:0],QPIMatch0[17:0],QPIMask1[19:16],QPIMatch1[19:16]", ":mc=0x1:rds=0x1"},
};

/* Units of the public files. */
static const struct {
	const char *unit, *type;
} units[] = {
	{"CHA", "cha"},	    {"iMC", "imc"},	  {"IIO", "iio"},     {"IRP", "irp"},
	{"UPI LL", "upi"},  {"M2M", "m2m"},	  {"PCU", "pcu"},     {"M2PCIe", "m2pcie"},
	{"M3UPI", "m3upi"}, {"MDF", "mdf"},	  {"CXLCM", "cxlcm"}, {"CXLDP", "cxldp"},
	{"UBOX", "ubox"},   {"M2HBM", "m2hbm"},	  {"MCHBM", "mchbm"},
	{"CBO", "cbo"},	    {"HA", "ha"},	  {"QPI LL", "qpi"},  {"R2PCIe", "r2pcie"},
	{"R3QPI", "r3qpi"},
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

struct exception {
	char name[TEXT], ours[TEXT], theirs[TEXT];
	unsigned line;
	int used;
};

struct comparison {
	const struct public *public;
	struct unc_platform *platform;
	struct exception exception[MAX_EXCEPTIONS];
	size_t n_exceptions;
	unsigned same[N_UNITS], reviewed[N_UNITS], different[N_UNITS];
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
 * ExtSel is control register 21, UMaskExt 63:32, PortMask 47:36, FCMask 50:48; entries of the
 * IIO give the masks in either form or in both.
 */
static void describe_theirs(const struct public *public, const json_t *event, char *buf)
{
	uint64_t ctl = number_of(event, "EventCode") | number_of(event, "UMask") << 8 |
		       number_of(event, "ExtSel") << 21 | number_of(event, "UMaskExt") << 32 |
		       number_of(event, "PortMask") << 36 | number_of(event, "FCMask") << 48 |
		       public->enable;
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

/* The fields that the filter of a public event asks for; "" if it has none that we know. */
static const char *fields_of(const json_t *event)
{
	const char *filter = text_of(event, "Filter");

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(filter, filters[i].filter) == 0)
			return filters[i].fields;
	return "";
}

static void compare_event(struct comparison *c, const json_t *event)
{
	int unit = find_unit(text_of(event, "Unit"));
	const char *name = text_of(event, "EventName"), *fields = fields_of(event);
	struct unc_encoding e = {.size = sizeof(e)};
	char spec[TEXT], ours[TEXT], theirs[TEXT];

	if (unit < 0) {
		printf("# %s: unit %s is not known\n", name, text_of(event, "Unit"));
		c->malformed++;
		return;
	}
	snprintf(spec, TEXT, "%s%s", name, fields);
	int rc = unc_event_encode(c->platform, spec, &e);
	if (rc != 0)
		snprintf(ours, TEXT, "%s", unc_error_name(rc));
	else if (strcmp(e.type, units[unit].type) != 0)
		snprintf(ours, TEXT, "unit %s", e.type);
	else if (*fields && e.n_filters == 0)
		snprintf(ours, TEXT, "no filter");
	else
		describe(e.ctl, e.counters, e.counter, ours);
	describe_theirs(c->public, event, theirs);
	judge(c, unit, name, ours, theirs);
}

static int compare_file(struct comparison *c, const char *folder, const char *file)
{
	const char *const below[] = {"", c->public->below};
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
		if (c->same[i] + c->reviewed[i] + c->different[i])
			printf("# %-6s %3u the same, %3u reviewed, %3u different\n", units[i].type,
			       c->same[i], c->reviewed[i], c->different[i]);
		bad += c->different[i];
		compared += c->same[i];
	}
	for (size_t i = 0; i < c->n_exceptions; i++)
		if (!c->exception[i].used) {
			printf("# %s:%u: %s: no such difference any more\n", c->public->exceptions,
			       c->exception[i].line, c->exception[i].name);
			bad++;
		}
	CU_ASSERT(compared > 0);
	return bad;
}

static void compare(const struct public *public)
{
	struct unc_options options = {.size = sizeof(options), .cpu = public->cpu, .sim = ""};
	const char *folder = getenv("UNCORE_PERFMON");

	if (!folder || !*folder) {
		suite_skip("UNCORE_PERFMON does not name the folder of the public event files");
		return;
	}
	struct comparison *c = calloc(1, sizeof(*c));
	CU_ASSERT_FATAL(c != NULL);
	c->public = public;
	if (unc_platform_open(&options, &c->platform) != 0) {
		printf("# %s\n", unc_open_error());
		CU_FAIL("the tables cannot be opened");
		free(c);
		return;
	}
	CU_ASSERT(cases_read(public->exceptions, read_exception, c) >= 0);
	for (size_t i = 0; i < 2 && public->file[i]; i++)
		CU_ASSERT(compare_file(c, folder, public->file[i]) > 0);
	CHECK_NUMBER(report(c), 0);
	unc_platform_close(c->platform);
	free(c);
}

static void emerald_rapids(void)
{
	compare(&publics[0]);
}

static void ivybridge_ep(void)
{
	compare(&publics[1]);
}

static void sandybridge_ep(void)
{
	compare(&publics[2]);
}

#endif

static const struct suite_test tests[] = {
	{"emerald-rapids: tables agree with the public event files", emerald_rapids},
	{"ivybridge-ep: tables agree with the public event files", ivybridge_ep},
	{"sandybridge-ep: tables agree with the public event files", sandybridge_ep},
	{NULL, NULL},
};

int main(void)
{
	return suite_run("perfmon", tests);
}
