/* SPDX-License-Identifier: BSD-3-Clause */
/* What is taken from the environment, by whom. Sentences are the contract with the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "host/fs.h"
#include "platform/platform.h"
#include "suite.h"
#include "host/trust.h"

static struct fake_root root;
static struct unc_platform *p;
static char logged[2048];

static void begin(void)
{
	fake_new(&root);
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : Test\nflags : fpu\nphysical id : 0\ncore id : 0\n");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
	setenv("UNCORE_SYSROOT", root.path, 1);
	unsetenv("UNCORE_SIM");
}

static void end(void)
{
	unc_platform_close(p);
	p = NULL;
	unsetenv("UNCORE_SYSROOT");
	unsetenv("UNCORE_SIM");
	fake_free(&root);
}

static void take_log(void *user, enum unc_log_level level, const char *text)
{
	size_t n = strlen(logged);

	(void)user;
	(void)level;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", text);
}

/* Opens, given what the program names and whether its rights are raised. */
static int open_as(bool raised, const char *sysroot, const char *sim)
{
	struct unc_options o = {.size = sizeof(o), .sysroot = sysroot, .sim = sim, .log = take_log};

	unc_platform_close(p);
	p = NULL;
	logged[0] = '\0';
	int rc = unc_platform_open_as(&o, raised, &p);
	if (rc < 0)
		p = NULL;
	return rc;
}

/* Opens; that it fails ends the test. */
static void opened(bool raised, const char *sysroot, const char *sim)
{
	if (open_as(raised, sysroot, sim) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
}

static const char *cpu_name(void)
{
	return p ? unc_platform_cpu(p)->name : unc_open_error();
}

/* Without raised rights: as ever. */
static void test_plain(void)
{
	begin();
	opened(false, NULL, NULL);
	CHECK_TEXT(cpu_name(), "sandybridge-ep");
	CHECK_NUMBER(unc_unit_get(p, 0)->available, 1);
	CU_ASSERT_PTR_NULL(strstr(logged, "is ignored"));
	setenv("UNCORE_SIM", "ivybridge-ep", 1);
	opened(false, NULL, NULL);
	CHECK_NUMBER(unc_platform_simulated(p), 1);
	end();
}

/* With them: no variable counts, and a note says so. */
static void test_raised(void)
{
	static const char notes[] =
		"UNCORE_SIM is ignored: the program runs with raised privileges\n"
		"UNCORE_SYSROOT is ignored: the program runs with raised privileges\n";

	begin();
	setenv("UNCORE_SIM", "ivybridge-ep", 1);
	open_as(true, NULL, NULL);
	CU_ASSERT(!p || !unc_platform_simulated(p));
	CU_ASSERT_STRING_NOT_EQUAL(cpu_name(), "sandybridge-ep");
	/* What the machine that we run on makes us note follows. */
	logged[strlen(notes) < strlen(logged) ? strlen(notes) : strlen(logged)] = '\0';
	CHECK_TEXT(logged, notes);
	/* What the program says counts. */
	opened(true, NULL, "ivybridge-ep");
	CHECK_NUMBER(unc_platform_simulated(p), 1);
	end();
}

/* A root in which something is a device: another way to hardware. */
static void test_hardware(void)
{
	struct unc_fs *fs;

	begin();
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	CU_ASSERT(!unc_fs_is_hardware(fs));
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	CU_ASSERT(unc_fs_is_hardware(fs));
	unc_fs_close(fs);
	end();
}

/* Refused with the sentence "PATH TEXT". */
static void refused(int line, const char *path, const char *text)
{
	char want[600];

	snprintf(want, sizeof(want), "%s %s", path, text);
	suite_number(line, (unsigned long long)open_as(true, root.path, NULL),
		     (unsigned long long)UNC_ERR_DENIED);
	suite_text(line, unc_open_error(), want);
}
#define REFUSED(path, text) refused(__LINE__, path, text)

#define FOREIGN                                                                                    \
	"belongs to user 65534: a program with raised privileges takes only what belongs to root"
#define WRITABLE                                                                                   \
	"may be written by others than root: a program with raised privileges does not take it"

/* What a program with raised rights names must be root's: the root and its folders. */
static void test_owner(void)
{
	static const char *const of_root[] = {"", "/dev", "/proc"};

	if (getuid() != 0) {
		suite_skip("not root: files cannot be given away");
		return;
	}
	begin();
	opened(true, root.path, NULL);
	for (unsigned i = 0; i < 3; i++) {
		char path[400];

		snprintf(path, sizeof(path), "%s%s", root.path, of_root[i]);
		CHECK_NUMBER(chown(path, 65534, 65534), 0);
		REFUSED(path, FOREIGN);
		opened(false, root.path, NULL);
		CHECK_NUMBER(chown(path, 0, 0), 0);
		CHECK_NUMBER(chmod(path, 0775), 0);
		REFUSED(path, WRITABLE);
		CHECK_NUMBER(chmod(path, 0757), 0);
		REFUSED(path, WRITABLE);
		CHECK_NUMBER(chmod(path, 0755), 0);
		opened(true, root.path, NULL);
	}
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"plain", test_plain},
		{"raised privileges", test_raised},
		{"what is hardware", test_hardware},
		{"owners", test_owner},
		{NULL, NULL},
	};

	return suite_run("trust", tests);
}
