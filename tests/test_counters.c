/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters in use: whose they are, and which of them are freed. On simulated machines for sessions, on
 * machines made of files for foreign counters and the kernel.
 */
#include "doctor_kit.h"
#include "host/perf_users.h"
#include "session_kit.h"

/* ---- rows as lines: "libuncore imc0 3 0x400304 imc.CAS_COUNT:RD" */

struct told {
	char text[4096];
	int pid; /* of the last */
	double since;
	unsigned shown, stop; /* rounds that have shown something, the row at which to stop */
};

static int take(void *user, const struct unc_counter *c)
{
	static const char *const owner[] = {"libuncore", "kernel", "foreign", "orphaned"};
	struct told *t = user;
	size_t n = strlen(t->text);
	char number[16];

	t->shown++;
	snprintf(number, sizeof(number), "%d", c->number);
	snprintf(t->text + n, sizeof(t->text) - n, "%s %s%d %s 0x%llx %s%s%s\n", owner[c->owner],
		 c->unit->type->name, c->unit->index, c->number < 0 ? c->name : number,
		 (unsigned long long)c->control, c->event ? c->event : "-",
		 c->release == UNC_RELEASE_DONE   ? ": released"
		 : c->release == UNC_RELEASE_KEPT ? ": kept: "
						  : "",
		 c->reason);
	t->pid = c->pid;
	t->since = c->since;
	return t->stop && t->shown == t->stop ? 7 : 0;
}

/* Of a release only what came of it. */
static int take_result(void *user, const struct unc_counter *c)
{
	struct told *t = user;

	if (c->release != UNC_RELEASE_FOUND)
		return take(user, c);
	return ++t->shown == t->stop ? 7 : 0;
}

static const char *walk(struct unc_platform *p)
{
	static struct told t;

	t = (struct told){.shown = 0};
	if (unc_counters_walk(p, take, &t) < 0)
		snprintf(t.text, sizeof(t.text), "%s", unc_platform_error(p));
	return t.text;
}

static const char *release(struct unc_platform *p, unsigned flags, int *rc)
{
	static struct told t;

	t = (struct told){.shown = 0};
	*rc = unc_counters_release(p, flags, take_result, &t);
	return t.text;
}

/* ---- sessions: Intel 327043-001, CAS_COUNT has code 4, RD is umask 3, WR 12; en is bit 22 */

static void test_sessions(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *a = session(p, 0), *b = session(p, 0);
	struct told t = {.shown = 0};
	char kept[512];
	int rc;

	CHECK_TEXT(walk(p), "");
	add(a, "imc0.CAS_COUNT:RD:socket=0");
	add(b, "imc0.CAS_COUNT:RD:socket=0");
	add(b, "imc0.CAS_COUNT:WR:socket=0");
	start(a);
	start(b);
	/* DCLK: the clock of both */
	CHECK_TEXT(walk(p), "libuncore imc0 2 0x400c04 imc.CAS_COUNT:WR\n"
			    "libuncore imc0 3 0x400304 imc.CAS_COUNT:RD\n"
			    "libuncore imc0 FIXED 0x400000 imc.DCLK\n");
	CHECK_NUMBER(unc_counters_walk(p, take, &t), 0);
	CHECK_NUMBER(t.pid, getpid());
	CU_ASSERT(t.since > 0);
	/* A walk ends where its function says. */
	t = (struct told){.stop = 1};
	CHECK_NUMBER(unc_counters_walk(p, take, &t), 7);
	CHECK_NUMBER(t.shown, 1);

	unc_session_stop(b);
	snprintf(kept, sizeof(kept),
		 "libuncore imc0 3 0x400304 imc.CAS_COUNT:RD: kept: pid %d (%s) counts with it\n"
		 "libuncore imc0 FIXED 0x400000 imc.DCLK: kept: pid %d (%s) counts with it\n",
		 getpid(), "test_counters", getpid(), "test_counters");
	CHECK_TEXT(release(p, UNC_RELEASE_FORCE, &rc), kept);
	CHECK_NUMBER(rc, 0);
	step(p, ms);
	CU_ASSERT(count_of(a, 0) > 0);
	CHECK_NUMBER(unc_session_stop(a), 0);
	CHECK_TEXT(walk(p), "");
	check_quiet(p);
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

/* An event, and the clock that shows whether its unit counts. */
static void test_orphaned(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct told t = {.stop = 1};
	int rc;

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	unc_run_unwatch(s->run);
	pthread_mutex_lock(&s->run->lock);
	CHECK_NUMBER(unc_run_end(s->run, UNC_GIVES_UP, NULL), 0);
	s->state = UNC_STOPPED;
	CHECK_TEXT(walk(p), "orphaned imc0 3 0x400304 imc.CAS_COUNT:RD\n"
			    "orphaned imc0 FIXED 0x400000 imc.DCLK\n");
	/* Who does not want it when it is shown keeps it. */
	CHECK_NUMBER(unc_counters_release(p, 0, take_result, &t), 7);
	CHECK_TEXT(walk(p), "orphaned imc0 3 0x400304 imc.CAS_COUNT:RD\n"
			    "orphaned imc0 FIXED 0x400000 imc.DCLK\n");
	CHECK_TEXT(release(p, 0, &rc), "orphaned imc0 3 0x400304 imc.CAS_COUNT:RD: released\n"
				       "orphaned imc0 FIXED 0x400000 imc.DCLK: released\n");
	CHECK_NUMBER(rc, 0);
	CHECK_NUMBER(held_registers(p), 0);
	CHECK_TEXT(walk(p), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- foreign counters, on files */

static struct unc_platform *files(void)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = root.path, .sim = ""};
	struct unc_platform *p = NULL;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	return p;
}

static const unsigned imc_fixed = 0xf0, imc_unit = 0xf4; /* Intel 327043-001: MC_CHy_PCI_PMON */

/* Of iMC 0: 10.0. */
static void program(unsigned offset, uint32_t value)
{
	fake_put(&root, 0x7f, 0x10, 0, offset, value);
}

static uint64_t imc_holds(unsigned offset)
{
	return fake_get(fake_config(&root, 0x7f, 0x10, 0), offset, 4);
}

static void begin_files(void)
{
	fake_new(&root);
	sandybridge();
	program(0xd8, 0x400304);
	program(0xdc, 0x4000ee); /* no such event */
	program(imc_fixed, 0x400000);
	setenv("UNCORE_RUN", fake_path(&root, "/run"), 1);
}

static void end_files(struct unc_platform *p)
{
	unc_platform_close(p);
	unsetenv("UNCORE_RUN");
	fake_free(&root);
}

#define BY_FORCE ": kept: it is foreign: freed by force only\n"

static void test_foreign(void)
{
	struct unc_platform *p;
	int rc;

	begin_files();
	program(imc_unit, 0x10100); /* frz_en, frz */
	p = files();
	CHECK_TEXT(walk(p), "foreign imc0 0 0x400304 imc.CAS_COUNT:RD\n"
			    "foreign imc0 1 0x4000ee -\n"
			    "foreign imc0 FIXED 0x400000 imc.DCLK\n");
	CHECK_TEXT(release(p, 0, &rc), "foreign imc0 0 0x400304 imc.CAS_COUNT:RD" BY_FORCE
				       "foreign imc0 1 0x4000ee -" BY_FORCE
				       "foreign imc0 FIXED 0x400000 imc.DCLK" BY_FORCE);
	CHECK_NUMBER(rc, 0);
	CHECK_NUMBER(imc_holds(0xd8), 0x400304);
	CHECK_TEXT(release(p, UNC_RELEASE_FORCE, &rc),
		   "foreign imc0 0 0x400304 imc.CAS_COUNT:RD: released\n"
		   "foreign imc0 1 0x4000ee -: released\n"
		   "foreign imc0 FIXED 0x400000 imc.DCLK: released\n");
	CHECK_NUMBER(rc, 0);
	CHECK_NUMBER(imc_holds(0xd8), 0);
	CHECK_NUMBER(imc_holds(0xdc), 0);
	CHECK_NUMBER(imc_holds(imc_fixed), 0);
	CHECK_NUMBER(imc_holds(imc_unit) & 0x100, 0); /* frz */
	end_files(p);
}

/* Somebody takes the counter when it is shown. */
static int take_over(void *user, const struct unc_counter *c)
{
	if (c->release == UNC_RELEASE_FOUND)
		program(0xd8, 0x400c04);
	return take_result(user, c);
}

static void test_changed(void)
{
	struct told t = {.shown = 0};
	struct unc_platform *p;

	begin_files();
	p = files();
	CHECK_NUMBER(unc_counters_release(p, UNC_RELEASE_FORCE, take_over, &t), 0);
	CHECK_TEXT(t.text, "foreign imc0 0 0x400304 imc.CAS_COUNT:RD: kept: it was programmed "
			   "anew after it was shown\n"
			   "foreign imc0 1 0x4000ee -: released\n"
			   "foreign imc0 FIXED 0x400000 imc.DCLK: released\n");
	CHECK_NUMBER(imc_holds(0xd8), 0x400c04);
	end_files(p);
}

/* Without a journal the counters of a session are foreign. */
static void test_unprotected(void)
{
	struct unc_platform *p;
	int rc;

	begin_files();
	p = files();
	fake_text(fake_path(&root, "/run"), "no folder\n");
	CHECK_TEXT(release(p, UNC_RELEASE_FORCE, &rc), "");
	CHECK_NUMBER(rc, UNC_ERR_UNAVAILABLE);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(unc_platform_error(p),
		       "foreign counters cannot be told from those of other programs' sessions: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_platform_error(p), "/run: Not a directory"));
	CHECK_NUMBER(imc_holds(0xd8), 0x400304);
	end_files(p);
}

static void test_errors(void)
{
	struct unc_options tables = {.size = sizeof(tables), .cpu = "sandybridge-ep", .sim = ""};
	struct unc_platform *p = NULL;
	int rc;

	CU_ASSERT_FATAL(unc_platform_open(&tables, &p) == 0);
	CHECK_TEXT(walk(p), "the platform is for listing only");
	release(p, 0, &rc);
	CHECK_NUMBER(rc, UNC_ERR_UNAVAILABLE);
	release(p, 2, &rc);
	CHECK_NUMBER(rc, UNC_ERR_INVALID);
	CHECK_TEXT(unc_platform_error(p), "unknown flags 0x2 for a release");
	unc_platform_close(p);

	/* Nothing can be read: that is not the same as nothing in use. */
	fake_new(&root);
	sandybridge();
	nftw(fake_path(&root, "/dev"), fake_unlink, 16, FTW_DEPTH | FTW_PHYS);
	nftw(fake_path(&root, "/sys/bus/pci"), fake_unlink, 16, FTW_DEPTH | FTW_PHYS);
	p = files();
	CU_ASSERT_PTR_EQUAL(strstr(walk(p), "no unit can be looked at; "), walk(p));
	end_files(p);
}

/* ---- the kernel */

static void link_to(const char *target, const char *path)
{
	char real[400];

	snprintf(real, sizeof(real), "%s", fake_path(&root, "%s", path));
	fake_text(real, ""); /* its folders */
	remove(real);
	CHECK_NUMBER(symlink(target, real), 0);
}

/* 4026531836: PROC_PID_INIT_INO of linux/proc_ns.h. */
static void processes(bool all)
{
	link_to(all ? "pid:[4026531836]" : "pid:[4026532999]", "/proc/self/ns/pid");
	link_to("/dev/null", "/proc/1/fd/0");
	link_to("socket:[4242]", "/proc/77/fd/3");
	fake_text(fake_path(&root, "/proc/77/comm"), "perf\n");
}

static void test_kernel(void)
{
	struct told t = {.shown = 0};
	struct unc_platform *p;
	int rc;

	begin_files();
	program(0xdc, 0);
	program(imc_fixed, 0);
	p = files();
	processes(true);
	CU_ASSERT_PTR_NOT_NULL(strstr(walk(p), "foreign imc0 0")); /* no driver */
	monitors_of_kernel();
	CU_ASSERT_PTR_NOT_NULL(strstr(walk(p), "foreign imc0 0")); /* nobody uses it */
	link_to("anon_inode:[perf_event]", "/proc/77/fd/4");
	CHECK_NUMBER(unc_counters_walk(p, take, &t), 0);
	CHECK_TEXT(t.text, "kernel imc0 0 0x400304 imc.CAS_COUNT:RD\n");
	CHECK_NUMBER(t.pid, 77);
	CHECK_TEXT(release(p, UNC_RELEASE_FORCE, &rc),
		   "kernel imc0 0 0x400304 imc.CAS_COUNT:RD: kept: it may be the kernel's: end the "
		   "program that counts with perf events\n");
	CHECK_NUMBER(rc, 0);
	CHECK_NUMBER(imc_holds(0xd8), 0x400304);

	/* Which of two it is cannot be told. */
	link_to("anon_inode:[perf_event]", "/proc/1/fd/9");
	CHECK_NUMBER(unc_counters_walk(p, take, &t), 0);
	CHECK_NUMBER(t.pid, 0);
	end_files(p);
}

/* What is not seen may have events open. */
static void test_hidden(void)
{
	struct unc_perf_users users;
	struct unc_fs *fs = NULL;

	fake_new(&root);
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	unc_perf_users_find(fs, &users); /* no /proc */
	CU_ASSERT(!users.all && users.n == 0);
	processes(false); /* in a container */
	unc_perf_users_find(fs, &users);
	CU_ASSERT(!users.all && users.n == 0);
	remove(fake_path(&root, "/proc/self/ns/pid"));
	processes(true);
	unc_perf_users_find(fs, &users);
	CU_ASSERT(users.all && users.n == 0);
	link_to("anon_inode:[perf_event]", "/proc/77/fd/4");
	unc_perf_users_find(fs, &users);
	CU_ASSERT(users.all && users.n == 1 && users.pid == 77);
	CHECK_TEXT(users.command, "perf");
	/* One that hides the processes of others. */
	nftw(fake_path(&root, "/proc/1"), fake_unlink, 16, FTW_DEPTH | FTW_PHYS);
	unc_perf_users_find(fs, &users);
	CU_ASSERT(!users.all && users.n == 1);
	/* Descriptors that cannot be listed: a file stands there. */
	processes(true);
	fake_text(fake_path(&root, "/proc/88/fd"), "");
	unc_perf_users_find(fs, &users);
	CU_ASSERT(!users.all && users.n == 1);
	unc_fs_close(fs);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"sessions that run, and share", test_sessions},
		{"what is orphaned", test_orphaned},
		{"foreign counters, by force", test_foreign},
		{"what has changed after it was shown stays", test_changed},
		{"no force without a journal", test_unprotected},
		{"errors have sentences", test_errors},
		{"the kernel, and for whom", test_kernel},
		{"processes that are not seen", test_hidden},
		{NULL, NULL},
	};

	return suite_run("counters", tests);
}
