/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_event_open with answers in place of the kernel, for what the kernel that we run on does not
 * do: the program is linked with --wrap=syscall. Against the kernel: test_access_kernel.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "access_kit.h"
#include "fake_root.h"

static struct {
	bool on;   /* answers in place of the kernel: */
	int error; /* this errno; if 0, */
	int fd;    /* a copy of this descriptor */
	unsigned calls;
	struct perf_event_attr attr; /* of the last call */
	int pid, cpu, group;
	unsigned long flags;
} fake;

__attribute__((no_sanitize("address"))) /* it reads six arguments, whatever there are */
long syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open || !fake.on)
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	fake.calls++;
	memcpy(&fake.attr, (void *)a[0], sizeof(fake.attr));
	fake.pid = (int)a[1];
	fake.cpu = (int)a[2];
	fake.group = (int)a[3];
	fake.flags = (unsigned long)a[4];
	errno = fake.error;
	return fake.error ? -1 : fcntl(fake.fd, F_DUPFD_CLOEXEC, 0);
}

static void fake_on(int error)
{
	memset(&fake, 0, sizeof(fake));
	fake.on = true;
	fake.error = error;
}

static void perf_extra(void)
{
	unsigned before = descriptors();

	begin("/");
	allow_events(3);
	allow_events(5);
	allow(event(PERF_TYPE_RAW, UNC_PERF_EXTRA + 8, 3), UINT64_MAX);
	allow(event(PERF_TYPE_RAW, UNC_PERF_CONFIG + 2, 3), UINT64_MAX);
	fake_on(0);
	fake.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CHECK_NUMBER(value_of(extra(7, 3)), 0);
	CHECK_NUMBER(set(extra(7, 3), 0x123456789abc), 0);
	CHECK_NUMBER(set(extra(8, 3), 0x8888), 0);
	CHECK_NUMBER(set(extra(7, 5), 0x7777), 0);
	CHECK_NUMBER(value_of(extra(7, 3)), 0x123456789abc);
	CHECK_NUMBER(fake.calls, 0);
	/* The event as the kernel gets it: all tasks of a CPU, pinned, counting at once. */
	CHECK_NUMBER(set(config(2, 3), 0xabcd07), 0);
	CHECK_NUMBER(fake.calls, 1);
	CHECK_NUMBER(fake.attr.type, PERF_TYPE_SOFTWARE);
	CHECK_NUMBER(fake.attr.size, sizeof(fake.attr));
	CHECK_NUMBER(fake.attr.config, 0xabcd07);
	CHECK_NUMBER(fake.attr.config1, 0x123456789abc);
	CHECK_NUMBER(fake.attr.pinned, 1);
	CHECK_NUMBER(fake.attr.disabled, 0);
	CHECK_NUMBER(fake.attr.read_format, PERF_FORMAT_TOTAL_TIME_ENABLED);
	CHECK_NUMBER(fake.pid, -1);
	CHECK_NUMBER(fake.cpu, 3);
	CHECK_NUMBER(fake.group, -1);
	CHECK_NUMBER(fake.flags, PERF_FLAG_FD_CLOEXEC);
	/* Another CPU, another code: another config1, or none. */
	CHECK_NUMBER(set(config(2, 5), 0x07), 0);
	CHECK_NUMBER(fake.cpu, 5);
	CHECK_NUMBER(fake.attr.config1, 0x7777);
	CHECK_NUMBER(set(config(1, 3), 0x08), 0);
	CHECK_NUMBER(fake.attr.config1, 0x8888);
	CHECK_NUMBER(set(config(0, 3), 0x0709), 0);
	CHECK_NUMBER(fake.attr.config1, 0);
	CHECK_NUMBER(set(extra(7, 3), 0), 0);
	CHECK_NUMBER(set(config(2, 3), 0x07), 0);
	CHECK_NUMBER(fake.attr.config1, 0);
	/* Another type of events has its own. */
	CHECK_NUMBER(set(event(PERF_TYPE_RAW, UNC_PERF_EXTRA + 8, 3), 0x4444), 0);
	CHECK_NUMBER(set(event(PERF_TYPE_RAW, UNC_PERF_CONFIG + 2, 3), 0x108), 0);
	CHECK_NUMBER(fake.attr.type, PERF_TYPE_RAW);
	CHECK_NUMBER(fake.attr.config1, 0x4444);
	CHECK_NUMBER(value_of(config(2, 3)), 0x07);
	CHECK_NUMBER(value_of(extra(8, 3)), 0x8888);
	close(fake.fd);
	fake.on = false;
	end();
	CHECK_NUMBER(descriptors(), before);
}

/* Why not: each errno of the kernel has its sentence. */
static void perf_reasons(void)
{
	static const struct {
		int error, code, run;
		const char *text;
	} rows[] = {
		{EACCES, UNC_ERR_PERMISSION, UNC_ERR_PERMISSION,
		 "perf_event_open on cpu 3: permission denied: root, CAP_PERFMON or "
		 "kernel.perf_event_paranoid below 1 is needed"},
		{EPERM, UNC_ERR_PERMISSION, UNC_ERR_PERMISSION,
		 "perf_event_open on cpu 3: permission denied: root, CAP_PERFMON or "
		 "kernel.perf_event_paranoid below 1 is needed"},
		{ENOENT, UNC_ERR_UNAVAILABLE, UNC_ERR_IO,
		 "the kernel has no core PMU for cpu 3: a virtual machine without one, or it is "
		 "switched off"},
		{EOPNOTSUPP, UNC_ERR_UNAVAILABLE, UNC_ERR_IO,
		 "the kernel has no core PMU for cpu 3: a virtual machine without one, or it is "
		 "switched off"},
		{EMFILE, UNC_ERR_UNAVAILABLE, UNC_ERR_IO,
		 "perf_event_open on cpu 3: Too many open files"},
		{0, 0, 0, NULL},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_reg raw = event(PERF_TYPE_RAW, UNC_PERF_CONFIG, 3);
		unsigned before = descriptors();

		begin("/");
		allow(raw, UINT64_MAX);
		fake_on(rows[i].error);
		fake.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		REFUSED(read_of(raw), rows[i].code, rows[i].text);
		/* Tried by the generic event: what clocks count on is there for raw ones. */
		CHECK_NUMBER(fake.attr.type, PERF_TYPE_HARDWARE);
		CHECK_NUMBER(fake.attr.config, PERF_COUNT_HW_CPU_CYCLES);
		CHECK_NUMBER(fake.attr.disabled, 1);
		CHECK_NUMBER(fake.cpu, 3);
		CHECK_NUMBER(set(raw, 0xc0), rows[i].run);
		CHECK_NUMBER(fake.attr.type, PERF_TYPE_RAW);
		close(fake.fd);
		fake.on = false;
		end();
		CHECK_NUMBER(descriptors(), before);
	}
}

/* A pinned event that has lost its counter reads as end of file: an error, never a number. */
static void perf_lost(void)
{
	struct unc_reg_op op = read_of(count(0, 3));

	begin("/");
	allow_events(3);
	fake_on(0);
	fake.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_NUMBER(set(config(0, 3), 7), 0);
	CHECK_NUMBER(run_one(&op), UNC_ERR_BUSY);
	close(fake.fd);
	fake.fd = open("/", O_RDONLY | O_CLOEXEC); /* cannot be read: EISDIR */
	CHECK_NUMBER(set(config(0, 3), 7), 0);
	CHECK_NUMBER(run_one(&op), UNC_ERR_IO);
	close(fake.fd);
	/* Its CPU went offline: count and time enabled stand still (both 0 here), the clock does
	 * not. */
	fake.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CHECK_NUMBER(set(config(0, 3), 7), 0);
	CHECK_NUMBER(run_one(&op), 0);
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	CHECK_NUMBER(run_one(&op), UNC_ERR_IO);
	CHECK_NUMBER(op.errno_value, ENODEV);
	close(fake.fd);
	fake.on = false;
	end();
}

static void perf_gate(void)
{
	struct fake_root root;

	begin("/");
	allow_events(3);
	REFUSED(read_of(config(4, 3)), UNC_ERR_DENIED,
		"perf 0x4 on cpu 3 is not a register of this machine's monitors");
	REFUSED(write_of(config(0, 4), 1), UNC_ERR_DENIED,
		"perf 0x0 on cpu 4 is not a register of this machine's monitors");
	REFUSED(read_of(event(PERF_TYPE_RAW, 0, 3)), UNC_ERR_DENIED,
		"perf 0x0 on cpu 3 is not a register of this machine's monitors");
	REFUSED(write_of(count(1, 3), 0), UNC_ERR_DENIED, "perf 0x11 on cpu 3 is read-only");
	end();

	fake_new(&root);
	begin(root.path);
	allow_events(0);
	REFUSED(read_of(config(0, 0)), UNC_ERR_UNAVAILABLE,
		"a dump of a machine has no counters of the kernel");
	REFUSED(write_of(config(0, 0), 2), UNC_ERR_UNAVAILABLE,
		"a dump of a machine has no counters of the kernel");
	REFUSED(read_of(count(0, 0)), UNC_ERR_UNAVAILABLE,
		"a dump of a machine has no counters of the kernel");
	end();
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"config1, and how an event is opened", perf_extra},
		{"why not", perf_reasons},
		{"a counter is lost", perf_lost},
		{"refused", perf_gate},
		{NULL, NULL},
	};

	return suite_run("access perf", tests);
}
