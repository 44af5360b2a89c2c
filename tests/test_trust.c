/* SPDX-License-Identifier: BSD-3-Clause */
/* What is taken from the environment and from folders, by whom. Sentences are the contract with the
 * user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "host/fs.h"
#include "platform/platform.h"
#include "suite.h"
#include "host/trust.h"

static struct fake_root root, tables;
static struct unc_platform *p;
static char logged[2048];

/* One unit with a counter like the first CBo of Sandy Bridge-EP, and a "filter" that is LSTAR. */
static const char units_tbl[] = "type box title=\"Box\" \"a box\"\n"
				"  access msr\n"
				"  where base=0xD00 count=1\n"
				"  part entry access=msr base=0xC0000080 count=1\n"
				"  counters 1 width=44 max=8\n"
				"  reg CTL[1] at=0x10 step=1 width=64 role=ctl\n"
				"  reg CTR[1] at=0x16 step=1 width=64 role=ctr\n"
				"  reg FILTER part=entry at=0x2 width=64 mask=0xFFFFFFFFFFFFFFFF\n"
				"  field code CTL 7:0 \"event\"\n"
				"  field en   CTL 22 \"enable\"\n"
				"  field addr FILTER 31:0 \"where system calls go\"\n"
				"  control enable=0x400000 active=0x400000 code=code\n"
				"  start filters controls\n"
				"  join  filters controls\n"
				"  stop  restore\n"
				"  leave restore\n";
static const char box_events[] = "event PLAIN code=0x01 counters=0 \"an event\"\n"
				 "event ENTRY code=0x02 counters=0 uses=addr \"another\"\n";
static const char metrics_tbl[] =
	"metric box.SUM unit=count kind=total formula=\"box.PLAIN\" \"an event\"\n";
static const char workload_tbl[] = "machine sockets=1 cores=1 model=45 tsc_hz=1e9 \"Box\"\n"
				   "unit box present=0 clock=1e9\n";

static void begin(void)
{
	fake_new(&root);
	fake_new(&tables);
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : Test\nflags : fpu\nphysical id : 0\ncore id : 0\n");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
	fake_text(fake_path(&tables, "/cpus.tbl"),
		  "cpu boxed \"Boxed\" family=6 models=45 discovery=fixed\n");
	fake_text(fake_path(&tables, "/boxed/units.tbl"), units_tbl);
	fake_text(fake_path(&tables, "/boxed/box.events"), box_events);
	fake_text(fake_path(&tables, "/boxed/metrics.tbl"), metrics_tbl);
	fake_text(fake_path(&tables, "/boxed/workload.tbl"), workload_tbl);
	setenv("UNCORE_TABLES", tables.path, 1);
	setenv("UNCORE_SYSROOT", root.path, 1);
	unsetenv("UNCORE_SIM");
}

static void end(void)
{
	unc_platform_close(p);
	p = NULL;
	unsetenv("UNCORE_TABLES");
	unsetenv("UNCORE_SYSROOT");
	unsetenv("UNCORE_SIM");
	fake_free(&root);
	fake_free(&tables);
}

static void take_log(void *user, enum unc_log_level level, const char *text)
{
	size_t n = strlen(logged);

	(void)user;
	(void)level;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", text);
}

/* Opens, given what the program names and whether its rights are raised. */
static int open_as(bool raised, const char *sysroot, const char *folder, const char *sim)
{
	struct unc_options o = {.size = sizeof(o),
				.sysroot = sysroot,
				.tables = folder,
				.sim = sim,
				.log = take_log};

	unc_platform_close(p);
	p = NULL;
	logged[0] = '\0';
	int rc = unc_platform_open_as(&o, raised, &p);
	if (rc < 0)
		p = NULL;
	return rc;
}

/* Opens; that it fails ends the test. */
static void opened(bool raised, const char *sysroot, const char *folder, const char *sim)
{
	if (open_as(raised, sysroot, folder, sim) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
}

static const char *cpu_name(void)
{
	return p ? unc_platform_cpu(p)->name : unc_open_error();
}

/* Without raised rights, for a dump: as ever. */
static void test_plain(void)
{
	begin();
	opened(false, NULL, NULL, NULL);
	CHECK_TEXT(cpu_name(), "boxed");
	CHECK_NUMBER(unc_unit_get(p, 0)->available, 1);
	CU_ASSERT_PTR_NULL(strstr(logged, "is ignored"));
	opened(false, NULL, "", NULL);
	CHECK_TEXT(cpu_name(), "sandybridge-ep");
	setenv("UNCORE_SIM", "sandybridge-ep", 1);
	unsetenv("UNCORE_TABLES");
	opened(false, NULL, NULL, NULL);
	CHECK_NUMBER(unc_platform_simulated(p), 1);
	end();
}

/* With them: no variable counts, and a note says so. */
static void test_raised(void)
{
	static const char notes[] =
		"UNCORE_SIM is ignored: the program runs with raised privileges\n"
		"UNCORE_SYSROOT is ignored: the program runs with raised privileges\n"
		"UNCORE_TABLES is ignored: the program runs with raised privileges\n";

	begin();
	setenv("UNCORE_SIM", "sandybridge-ep", 1);
	open_as(true, NULL, NULL, NULL);
	CU_ASSERT(!p || !unc_platform_simulated(p));
	CU_ASSERT_STRING_NOT_EQUAL(cpu_name(), "boxed");
	/* What the machine that we run on makes us note follows. */
	logged[strlen(notes) < strlen(logged) ? strlen(notes) : strlen(logged)] = '\0';
	CHECK_TEXT(logged, notes);
	/* What the program says counts. */
	opened(true, NULL, NULL, "sandybridge-ep");
	CHECK_NUMBER(unc_platform_simulated(p), 1);
	end();
}

/* A root in which something is a device: another way to hardware. */
static void test_hardware(void)
{
	struct unc_session *s = NULL;
	struct unc_fs *fs;
	int id;

	begin();
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	CU_ASSERT(!unc_fs_is_hardware(fs));
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	CU_ASSERT(unc_fs_is_hardware(fs));
	unc_fs_close(fs);
	opened(false, NULL, NULL, NULL);
	CHECK_TEXT(cpu_name(), "boxed");
	CHECK_NUMBER(unc_unit_get(p, 0)->available, 0);
	CHECK_TEXT(unc_unit_get(p, 0)->reason,
		   "tables of the variable UNCORE_TABLES do not reach hardware: a program has to "
		   "name them itself (uncore --tables DIR, options.tables)");
	CHECK_NUMBER(unc_session_new(p, 0, &s), 0);
	CHECK_NUMBER(unc_session_add(s, "box.PLAIN", &id), UNC_ERR_UNAVAILABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), "do not reach hardware"));
	unc_session_free(s);
	/* Encoding and simulation serve as before; so do the built-in tables. */
	struct unc_encoding code = {.size = sizeof(code)};
	CHECK_NUMBER(unc_event_encode(p, "box.PLAIN", &code), 0);
	CHECK_NUMBER(code.ctl, 0x400001);
	opened(false, NULL, NULL, "boxed");
	CHECK_NUMBER(unc_unit_get(p, 0)->available, 1);
	opened(false, NULL, tables.path, NULL);
	CHECK_NUMBER(unc_unit_get(p, 0)->available, 1);
	end();
}

/* Tables that were asked for do not get past the fence either. */
static void test_fence(void)
{
	struct unc_session *s = NULL;
	uint64_t lstar = 0xffffffff81a00010;
	int id;

	begin();
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc0000082, &lstar, sizeof(lstar));
	opened(false, root.path, tables.path, NULL);
	CHECK_NUMBER(unc_session_new(p, 0, &s), 0);
	CHECK_NUMBER(unc_session_add(s, "box.ENTRY:addr=0x1000", &id), 0);
	CHECK_NUMBER(unc_session_start(s), UNC_ERR_DENIED);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s),
				      "msr 0xc0000082 on cpu 0 can be no register of a monitor, "
				      "whatever the tables say"));
	unc_session_free(s);
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/0/msr"), 0xc0000082, 8), lstar);
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/0/msr"), 0xd10, 8), 0);
	end();
}

/* Refused with the sentence "PATH TEXT". */
static void refused(int line, const char *path, const char *text)
{
	char want[600];

	snprintf(want, sizeof(want), "%s %s", path, text);
	suite_number(line, (unsigned long long)open_as(true, root.path, tables.path, NULL),
		     (unsigned long long)UNC_ERR_DENIED);
	suite_text(line, unc_open_error(), want);
}
#define REFUSED(path, text) refused(__LINE__, path, text)

#define FOREIGN                                                                                    \
	"belongs to user 65534: a program with raised privileges takes only what belongs to root"
#define WRITABLE                                                                                   \
	"may be written by others than root: a program with raised privileges does not take it"

/* What a program with raised rights names must be root's: the root, its folders, each table. */
static void test_owner(void)
{
	static const char *const of_root[] = {"", "/dev", "/proc"};
	static const char *const of_tables[] = {"", "/cpus.tbl", "/boxed", "/boxed/units.tbl",
						"/boxed/box.events"};

	if (getuid() != 0) {
		suite_skip("not root: files cannot be given away");
		return;
	}
	begin();
	opened(true, root.path, tables.path, NULL);
	for (unsigned i = 0; i < 3 + 5; i++) {
		char path[400];

		snprintf(path, sizeof(path), "%s%s", i < 3 ? root.path : tables.path,
			 i < 3 ? of_root[i] : of_tables[i - 3]);
		CHECK_NUMBER(chown(path, 65534, 65534), 0);
		REFUSED(path, FOREIGN);
		opened(false, root.path, tables.path, NULL);
		CHECK_NUMBER(chown(path, 0, 0), 0);
		CHECK_NUMBER(chmod(path, 0775), 0);
		REFUSED(path, WRITABLE);
		CHECK_NUMBER(chmod(path, 0757), 0);
		REFUSED(path, WRITABLE);
		CHECK_NUMBER(chmod(path, 0755), 0);
		opened(true, root.path, tables.path, NULL);
	}
	end();
}

/* Folders of tables hold plain files: a FIFO would hang whoever opens it. */
static void test_fifo(void)
{
	char text[400];

	begin();
	snprintf(text, sizeof(text), "%s/boxed/box.events", tables.path);
	remove(text);
	CHECK_NUMBER(mkfifo(text, 0644), 0);
	CHECK_NUMBER(open_as(false, root.path, tables.path, NULL), UNC_ERR_IO);
	snprintf(text, sizeof(text), "%s/boxed/box.events is not a plain file", tables.path);
	CHECK_TEXT(unc_open_error(), text);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"plain", test_plain},
		{"raised privileges", test_raised},
		{"tables of the environment on hardware", test_hardware},
		{"the fence", test_fence},
		{"owners", test_owner},
		{"no plain file", test_fifo},
		{NULL, NULL},
	};

	return suite_run("trust", tests);
}
