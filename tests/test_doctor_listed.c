/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CPU of next year, that no table is for: what the doctor and an open say of it. Its discovery tables are
 * those of discover_listed.h (Intel 817509-001, tables 1-9 to 1-14). That nothing else of it is read the
 * files tell: the configuration space of all other functions, and the MSRs, are gone.
 */
#include "discover_listed.h"
#include "uncore.h"

static char said[8192];

static int take_check(void *user, const struct unc_check *check)
{
	size_t n = strlen(said);

	(void)user;
	snprintf(said + n, sizeof(said) - n, "%s %s: %s\n", check->ok ? "ok" : "FAIL", check->check,
		 check->detail);
	return 0;
}

static int doctor(void)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = root.path, .sim = ""};

	said[0] = '\0';
	return unc_doctor(&options, take_check, NULL);
}

#define FUNCTION "/sys/bus/pci/devices/0000:%02x:%02x.%x"
/* Functions of other_devices(). */
static const unsigned others[] = {UNC_DEVFN(0, 0),    UNC_DEVFN(0, 1),    UNC_DEVFN(0x0c, 0),
				  UNC_DEVFN(0x0d, 0), UNC_DEVFN(0x0e, 0), UNC_DEVFN(0x0f, 0),
				  UNC_DEVFN(1, 1),    UNC_DEVFN(2, 1),    UNC_DEVFN(3, 1),
				  UNC_DEVFN(0x1e, 3)};

/* Two sockets of 32 CPUs; the kernel tells nodes. */
static void next_machine(int family, int model)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	listed_machine();
	f = open_memstream(&text, &size);
	for (int i = 0; i < 64; i++)
		fprintf(f,
			"processor : %d\nvendor_id : GenuineIntel\ncpu family : %d\nmodel : %d\n"
			"model name : Next\nflags : fpu\nphysical id : %d\ncore id : %d\n\n",
			i, family, model, i / 32, i % 32);
	fclose(f);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
	free(text);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-63\n");
	locality(0, 0, 1, "0\n", "0-31\n");
	locality(0x80, 0, 1, "1\n", "32-63\n");
	for (unsigned s = 0; s < SOCKETS; s++)
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			unsigned device = others[i] >> 3, function = others[i] & 7;

			fake_text(
				fake_path(&root, FUNCTION "/vendor", ubox_bus[s], device, function),
				"0x8086\n");
			fake_text(
				fake_path(&root, FUNCTION "/device", ubox_bus[s], device, function),
				"0x3250\n");
			remove(fake_config(&root, ubox_bus[s], device, function));
		}
}

/* Where emerald-rapids is the nearest, by model or as the first of those with all types. */
static const struct {
	const char *type, *access, *controls, *places;
} kinds[] = {
	{"0, cha of emerald-rapids: 6 units", "msr, 4", "0x2", "0x2000 to 0x2010 by 0x10, 0x2050"},
	{"6, imc of emerald-rapids: 16 units", "mmio, 4", "0x40",
	 "0xf2022800 to 0xf202a800 by 0x8000, 0xf2062800 to 0xf206a800 by 0x8000, "
	 "0xf20a2800 to 0xf20aa800 by 0x8000, 0xf20e2800 to 0xf20ea800 by 0x8000"},
	{"7, m2m of emerald-rapids: 8 units", "pci, 4", "0x30",
	 "0000:7e:0c.0, 0000:7e:0d.0, 0000:7e:0e.0, 0000:7e:0f.0 offset 0x438"},
	{"8, upi of emerald-rapids: 6 units", "pci, 4", "0x38",
	 "0000:7e:01.1, 0000:7e:02.1, 0000:7e:03.1 offset 0x318"},
	{"12, cxlcm of emerald-rapids: 2 units", "mmio, 8", "0x48", "0x1f00000000"},
};

static void all_kinds(char *text, size_t size)
{
	size_t n = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		n += (size_t)snprintf(
			text + n, size - n,
			"ok discovery: type %s; access %s counters of 48 bits, controls at +%s and "
			"counters at +0x8 of unit control, which on socket 0 is at %s\n",
			kinds[k].type, kinds[k].access, kinds[k].controls, kinds[k].places);
	snprintf(
		text + n, size - n,
		"ok discovery: emerald-rapids has 5 of these 5 unit types: a first table can begin "
		"as a copy of it\n");
}

static void test_next(void)
{
	static const struct {
		int family, model;
		const char *sentence;
	} rows[] = {
		{6, 0xd2, " has no uncore monitors that are known here; there are tables for "},
		{19, 0x77, " has no uncore monitors that are known here; there are tables for "},
		{19, 0x01, " Diamond Rapids: no table yet ("}, /* known by name (cpus.tbl) */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char all[4096];

		all_kinds(all, sizeof(all));
		next_machine(rows[i].family, rows[i].model);
		CHECK_NUMBER(doctor(), 1);
		CHECK_TEXT(strchr(said, '\n') + 1, all);
		CU_ASSERT_PTR_NOT_NULL(strstr(said, rows[i].sentence));
		end();
	}
}

/* What is wrong with a table, and what no table knows, is told. */
static void test_odd(void)
{
	next_machine(6, 0xd2);
	put_record(0, 35, CHA_WORD, 0x5000, ident(1000, 0, 0));
	put_global(1, 2, RECORDS);
	CHECK_NUMBER(doctor(), 2); /* the CPU, and the table */
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "\nok discovery: socket 0: discovery lists 1 units of "
					    "types that are not known, the first of type 1000\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "\nok discovery: discovery table of pci 0000:80:00.1: "
					    "broken: records 2 words apart, where one has 3\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(said, "\nFAIL discovery: not all discovery tables of socket 1 can be read"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "cha of emerald-rapids: 3 units; access msr"));
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a CPU of next year", test_next},
		{"what is odd in its tables", test_odd},
		{NULL, NULL},
	};

	return suite_run("doctor_listed", tests);
}
