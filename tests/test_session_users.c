/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of several users of a node: they share what they count, and nobody has a register
 * written by what another user says was found there, but by what root says. A member of the
 * ledger's group without any right to registers can keep others from counters, no more.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_files.h"
#include "units/registers.h"

enum { USER = 65534, GROUP = 65533 };
enum { BOX_CTL = 0xD04 };                /* the unit control of CBo 0 */
enum { FOUND = 0x12, VALUE = 0x400000 }; /* not enabled; CLOCKTICKS */
static const char clock_of_pcu[] = "pcu.CLOCKTICKS:socket=0";

/* ---- the machine */

/* A node whose group may write the run directory, and its registers where they have the right. */
static bool begin_node(mode_t registers)
{
	if (geteuid() != 0) {
		suite_skip("only root can become another user");
		return false;
	}
	begin(true);
	CHECK_NUMBER(chmod(root.path, 0755), 0);
	CHECK_NUMBER(chown(fake_path(&root, "/run/libuncore"), 0, GROUP), 0);
	CHECK_NUMBER(chmod(fake_path(&root, "/run/libuncore"), 03770), 0);
	CHECK_NUMBER(chown(fake_path(&root, "/dev/cpu/0/msr"), 0, GROUP), 0);
	CHECK_NUMBER(chmod(fake_path(&root, "/dev/cpu/0/msr"), registers), 0);
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), CTL3, &(char){FOUND}, 1);
	return true;
}

/* Bytes of the control that are its own: it holds what was found, or counts. */
static bool holds_found(void)
{
	return file_at(CTL3) == FOUND && file_at(CTL3 + 2) == 0;
}

static bool counts(void)
{
	return file_at(CTL3 + 2) == VALUE >> 16;
}

/* Somebody who knows no ledger. */
static void set_control(void)
{
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), CTL3, &(uint32_t){VALUE}, 3);
}

/* ---- another user */

static void become_user(void)
{
	const gid_t none = GROUP;

	if (setgroups(1, &none) < 0 || setresgid(GROUP, GROUP, GROUP) < 0 ||
	    setresuid(USER, USER, USER) < 0)
		_exit(1);
}

/* One step of a process of its own. */
static void as_user(void (*does)(void))
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	CU_ASSERT_FATAL((pid = fork()) >= 0);
	if (pid == 0) {
		become_user();
		does();
		_exit(0);
	}
	CHECK_NUMBER(waitpid(pid, &status, 0), pid);
	CHECK_NUMBER(status, 0);
}

struct process {
	pid_t pid;
	int end; /* written to: it stops what it does */
};

/* One that counts. */
static struct unc_session *count(const char *event)
{
	struct heard heard;
	struct unc_session *s = session(of_files(&heard), 0);
	int id;

	if (unc_session_add(s, event, &id) < 0 || unc_session_start(s) < 0 ||
	    *unc_session_unprotected(s))
		_exit(1);
	return s;
}

/* One that locks what the first holders of all files have locked, for writers where it can. */
static void lock_some(void)
{
	DIR *all = opendir(fake_path(&root, "/run/libuncore"));
	struct dirent *entry;

	while (all && (entry = readdir(all)) != NULL) {
		struct flock lock = {.l_type = F_WRLCK,
				     .l_whence = SEEK_SET,
				     .l_start = ((off_t)1 << 40) + 1,
				     .l_len = 8};
		int fd = openat(dirfd(all), entry->d_name, O_RDWR | O_CLOEXEC);

		if (fd < 0) {
			lock.l_type = F_RDLCK;
			fd = openat(dirfd(all), entry->d_name, O_RDONLY | O_CLOEXEC);
		}
		if (entry->d_name[0] != '.' && fcntl(fd, F_OFD_SETLK, &lock) < 0)
			_exit(1);
	}
}

/* One that says that nothing drives the unit, on which it counts. */
static void say_idle(void)
{
	struct unc_ledger *l = unc_ledger_new();
	struct unc_ledger_record r = {.key = {.address = BOX_CTL, .space = UNC_SPACE_MSR},
				      .role = UNC_HELD_UNIT,
				      .value = UNC_STANDS};
	unsigned holder;

	if (!l || unc_ledger_open(l, fake_path(&root, "/run/libuncore"), false, NULL) < 0 ||
	    unc_ledger_lock(l, true, NULL) < 0 || unc_ledger_enter(l, &holder, NULL) < 0)
		_exit(1);
	unc_ledger_set(&r, holder, true);
	if (unc_ledger_put(l, &r, NULL) < 0)
		_exit(1);
	unc_ledger_unlock(l);
}

static bool no_files; /* may be opened any more by one that stops */
static const char locks[] = "locks", idle[] = "idle";

/* A process that counts, or what it is asked for, until it is told to end, or killed. */
static struct process begin_counting(bool user, const char *event)
{
	struct unc_session *s = NULL;
	int ready[2], end[2];
	struct process p;
	char byte = 0;

	fflush(stdout);
	CU_ASSERT_FATAL(pipe(ready) == 0 && pipe(end) == 0 && (p.pid = fork()) >= 0);
	if (p.pid == 0) {
		close(end[1]);
		if (user)
			become_user();
		if (event == locks)
			lock_some();
		else if (event == idle)
			say_idle();
		else
			s = count(event);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)!read(end[0], &byte, 1);
		if (no_files)
			setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
		_exit(s && unc_session_stop(s) < 0);
	}
	close(ready[1]);
	close(end[0]);
	CU_ASSERT_FATAL(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	p.end = end[1];
	return p;
}

static void stop(struct process p)
{
	int status = -1;

	CHECK_NUMBER(write(p.end, "", 1), 1);
	CHECK_NUMBER(waitpid(p.pid, &status, 0), p.pid);
	CHECK_NUMBER(status, 0);
	close(p.end);
}

static void kill_it(struct process p)
{
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	close(p.end);
}

/* A session that starts, which looks at what others have left, and stops. */
static void pass_by(bool user)
{
	stop(begin_counting(user, clock_of_pcu));
}

/* ---- what one without rights says */

static struct unc_ledger *open_ledger(void)
{
	struct unc_ledger *l = unc_ledger_new();

	if (!l || unc_ledger_open(l, fake_path(&root, "/run/libuncore"), false, NULL) < 0 ||
	    unc_ledger_lock(l, true, NULL) < 0)
		_exit(1);
	return l;
}

/* That a session has programmed the control, which has ended when this process has. */
static void forge(void)
{
	struct unc_ledger *l = open_ledger();
	struct unc_ledger_record r = {.key = {.address = CTL3, .space = UNC_SPACE_MSR},
				      .role = UNC_HELD_CONTROL,
				      .found = 0x34,
				      .value = VALUE,
				      .mask = UINT64_MAX,
				      .since = 1,
				      .pid = getpid(),
				      .command = "stat"};
	unsigned holder;

	if (unc_ledger_enter(l, &holder, NULL) < 0)
		_exit(1);
	unc_ledger_set(&r, holder, true);
	if (unc_ledger_put(l, &r, NULL) < 0)
		_exit(1);
}

struct released {
	enum unc_release release;
	char reason[200];
};

static int keep_release(void *user, const struct unc_counter *c)
{
	struct released *out = user;

	out->release = c->release;
	snprintf(out->reason, sizeof(out->reason), "%s", c->reason);
	return 0;
}

static void test_forged(void)
{
	struct heard heard;
	struct released out = {.reason = ""};

	if (!begin_node(0600))
		return;
	set_control();
	as_user(forge);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, clock_of_pcu);
	start(s);
	CU_ASSERT(counts());
	CHECK_NUMBER(heard.n, 1);
	CU_ASSERT(strstr(heard.text, "cbo0 (socket 0): CTL3 was left behind by pid ") &&
		  strstr(heard.text, " (stat) of user 65534: a session of that user puts it back, "
				     "or uncore release --force"));
	unc_session_free(s);
	CHECK_NUMBER(unc_counters_release(p, 0, keep_release, &out), 0);
	CHECK_NUMBER(out.release, UNC_RELEASE_KEPT);
	CHECK_TEXT(out.reason,
		   "it was left behind by user 65534: restored by that user's sessions, "
		   "or by force");
	CU_ASSERT(counts());
	/* Who asks for it is told, and has it. */
	CHECK_NUMBER(unc_counters_release(p, UNC_RELEASE_FORCE, keep_release, &out), 0);
	CHECK_NUMBER(out.release, UNC_RELEASE_DONE);
	CHECK_NUMBER(file_at(CTL3), 0x34);
	CU_ASSERT(!counts());
	/* And that is all: what comes later is somebody's. */
	set_control();
	heard.n = 0;
	s = session(p, 0);
	add(s, clock_of_pcu);
	start(s);
	unc_session_free(s);
	CU_ASSERT(counts());
	CHECK_NUMBER(heard.n, 0);
	unc_platform_close(p);
	fake_free(&root);
}

/* What a session has found, in each file that this user may write (ledger_inside.h: records of 256
 * bytes, `found` is the fourth word; the header's fourth word tells of changes). */
static void rewrite(void)
{
	const char *dir = fake_path(&root, "/run/libuncore");
	struct dirent *entry;
	DIR *all = opendir(dir);

	while (all && (entry = readdir(all)) != NULL) {
		int at = openat(dirfd(all), entry->d_name, O_RDWR | O_CLOEXEC);
		uint64_t word[4], changes;

		if (pread(at, &changes, 8, 24) != 8)
			continue;
		changes++;
		for (off_t i = 4096 + 1024 * 64; pread(at, word, 32, i) == 32 && i < 1 << 20;
		     i += 256)
			if (word[0] == CTL3 && pwrite(at, &(uint64_t){0x34}, 8, i + 24) != 8)
				_exit(1);
		if (pwrite(at, &changes, 8, 24) != 8)
			_exit(1);
		close(at);
	}
}

static void test_rewritten(void)
{
	struct heard heard;

	if (!begin_node(0600))
		return;
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, ticks);
	start(s);
	CU_ASSERT(counts());
	as_user(rewrite);
	as_user(forge);
	as_user(rewrite);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_TEXT(unc_session_unprotected(s), "");
	CU_ASSERT(holds_found());
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* That a process lives is not for others to say. */
static void test_locked(void)
{
	if (!begin_node(0600))
		return;
	kill_it(begin_counting(false, ticks));
	struct process other = begin_counting(true, locks);
	CU_ASSERT(counts());
	pass_by(false);
	CU_ASSERT(holds_found());
	stop(other);
	fake_free(&root);
}

/* The unit of this unit control. */
static const struct unc_instance *instance_at(const struct unc_session *s, uint64_t address)
{
	const struct unc_platform *p = s->platform;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		uint16_t unit_ctl = p->table->type[u->type].unit_ctl;
		struct unc_reg place;

		if (unit_ctl != UNC_NONE &&
		    unc_instance_reg(p->table, u, unit_ctl, &place, NULL) == 0 &&
		    place.space == UNC_SPACE_MSR && place.address == address)
			return u;
	}
	CU_FAIL_FATAL("no such unit");
	return NULL;
}

/* That nothing drives a unit is believed of root. */
static void test_idle(void)
{
	const struct unc_plan nothing = {.n = 0};
	const struct unc_assignment none = {.n = 0};
	const struct unc_occupancy others = {.n = 1};
	struct heard heard;

	for (unsigned user = 0; user < 2; user++) {
		if (!begin_node(0600))
			return;
		struct process other = begin_counting(user, idle);
		struct unc_platform *p = of_files(&heard);
		struct unc_session *s = session(p, 0);
		struct unc_claim u = {.instance = instance_at(s, BOX_CTL)};

		unc_units_lock(&s->units);
		CHECK_NUMBER(unc_settings_claim(&s->units, &u, &none, &others, &nothing, NULL), 0);
		CHECK_NUMBER(u.found == UNC_FOUND_IDLE, !user);
		unc_units_unlock(&s->units);
		stop(other);
		unc_session_free(s);
		unc_platform_close(p);
		fake_free(&root);
	}
}

/* ---- what one with rights does */

/* The first of two users that share a counter stops first, or last. */
static void check_shared(bool user_first, bool in_order)
{
	if (!begin_node(0660))
		return;
	struct process one = begin_counting(user_first, ticks),
		       two = begin_counting(!user_first, ticks);
	stop(in_order ? one : two);
	CU_ASSERT(counts());
	stop(in_order ? two : one);
	/* Root does not believe the user, who has to restore it. */
	if (user_first && in_order) {
		CU_ASSERT(counts());
		pass_by(false);
		CU_ASSERT(counts());
		pass_by(true);
	}
	CU_ASSERT(holds_found());
	/* Nobody remembers more of it. */
	set_control();
	pass_by(true);
	pass_by(false);
	CU_ASSERT(counts());
	fake_free(&root);
}

static void test_shared(void)
{
	for (unsigned i = 0; i < 4; i++)
		check_shared(i & 1, i & 2);
}

/* Both that share it are killed, in any order, and who comes then. */
static void check_killed(bool user_first, bool user_next)
{
	if (!begin_node(0660))
		return;
	struct process one = begin_counting(user_first, ticks),
		       two = begin_counting(!user_first, ticks);
	kill_it(one);
	pass_by(user_next);
	CU_ASSERT(counts());
	kill_it(two);
	pass_by(user_next);
	CHECK_NUMBER(holds_found(), user_next || !user_first);
	pass_by(true);
	CU_ASSERT(holds_found());
	set_control();
	pass_by(false);
	pass_by(true);
	CU_ASSERT(counts());
	fake_free(&root);
}

static void test_killed(void)
{
	for (unsigned i = 0; i < 4; i++)
		check_killed(i & 1, i & 2);
}

static void test_alone(void)
{
	for (unsigned i = 0; i < 4; i++) {
		bool user = i & 1, next = i & 2;

		if (!begin_node(0660))
			return;
		kill_it(begin_counting(user, ticks));
		CU_ASSERT(counts());
		pass_by(next);
		CHECK_NUMBER(holds_found(), !user || next);
		pass_by(user);
		CU_ASSERT(holds_found());
		set_control();
		pass_by(!next);
		pass_by(next);
		CU_ASSERT(counts());
		fake_free(&root);
	}
}

/* Where a file cannot be read for want of descriptors those who were in it are taken to live. */
static void test_descriptors(void)
{
	if (!begin_node(0660))
		return;
	struct process user = begin_counting(true, ticks);
	no_files = true;
	struct process poor = begin_counting(false, ticks);
	no_files = false;
	stop(poor);
	CU_ASSERT(counts());
	stop(user);
	CU_ASSERT(holds_found());
	fake_free(&root);
}

/* ---- an older library */

/* Its file has another layout. */
static const char *leave_older(void)
{
	static const struct {
		uint64_t magic;
		uint32_t version, holder, record, holders;
	} older = {0x4c4544474552554e, 1, 64, 256, 1024};
	const char *path = fake_path(&root, "/run/libuncore/ledger");

	fake_bytes(path, 0, &older, sizeof(older));
	fake_size(path, 4096 + 1024 * 64);
	return path;
}

/* One of its sessions has a lock in it. */
static void test_older(void)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = ((off_t)1 << 40) + 1,
			     .l_len = 1};
	struct heard heard;
	char want[512];
	int fd;

	begin(true);
	fd = open(leave_older(), O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, ticks);
	start(s);
	snprintf(want, sizeof(want),
		 "%s/run/libuncore/ledger is not a ledger of this version: remove it when nobody "
		 "measures",
		 root.path);
	CHECK_TEXT(unc_session_unprotected(s), want);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* When it has gone its file makes room. */
	close(fd);
	start(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* Nobody uses it: it makes room for members of the group as well, who cannot remove it. */
static void test_older_left(void)
{
	if (!begin_node(0660))
		return;
	const char *path = leave_older();
	CHECK_NUMBER(chown(path, 0, GROUP), 0);
	CHECK_NUMBER(chmod(path, 0660), 0);
	pass_by(true);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a forged record of a process that has ended", test_forged},
		{"what a session has found, rewritten", test_rewritten},
		{"locks that one without rights can have", test_locked},
		{"what one without rights says of a unit", test_idle},
		{"two users share a counter", test_shared},
		{"two users share a counter and are killed", test_killed},
		{"one is killed, and who comes then", test_alone},
		{"no descriptor is left", test_descriptors},
		{"a library of an older layout", test_older},
		{"what one of an older layout has left", test_older_left},
		{NULL, NULL},
	};

	return suite_run("session, users", tests);
}
