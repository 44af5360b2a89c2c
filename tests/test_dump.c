/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps of machines: what is in them comes again, and what somebody else has put there does not. */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/resource.h>

#include "fake_root.h"
#include "host/events.h"
#include "host/dump.h"
#include "host/fs.h"
#include "machine/hardware.h"
#include "suite.h"

static struct fake_root root;
static char file[320];
static struct unc_error err;

static void begin(void)
{
	fake_new(&root);
	snprintf(file, sizeof(file), "%s/machine", root.path);
}

static char *whole;
static size_t size;

static void write_file(const char *text, size_t n)
{
	FILE *out = fopen(file, "w");

	CU_ASSERT_FATAL(out && fwrite(text, 1, n, out) == n && fclose(out) == 0);
}

static void read_file(void)
{
	int fd = open(file, O_RDONLY);

	free(whole);
	CU_ASSERT_FATAL(fd >= 0 && unc_fs_rest(fd, file, 1 << 22, &whole, &size, NULL) == 0);
}

/* A dump with one of each. */
static void make(void)
{
	struct unc_dump *dump = unc_dump_new();
	struct unc_dump_entry *e = unc_dump_entry(dump, "/proc/cpuinfo", UNC_DUMP_FILE);
	const uint64_t value[] = {0x400304, 0x1234567890abcdef};

	unlink(file);
	snprintf(dump->from, sizeof(dump->from), "2026-11-23, Linux 6.1");
	e->data = strdup("vendor_id\t: GenuineIntel\n");
	e->size = strlen(e->data);
	e->taken = true;
	unc_dump_entry(dump, "/sys/bus/pci/devices/0000:7f:10.0", UNC_DUMP_FOLDER);
	e = unc_dump_entry(dump, "/proc/self/ns/user", UNC_DUMP_LINK);
	e->data = strdup("user:[4026531837]");
	unc_dump_failed(dump, "/dev/mem", false, EPERM);
	unc_dump_failed(dump, "/dev/mem", true, EPERM);
	unc_dump_failed(dump, "/dev/cpu/0/msr", true, EACCES);
	e = unc_dump_entry(dump, "/dev/cpu/0/msr", UNC_DUMP_DEVICE);
	unc_dump_note(dump, e, false, &value[0], 8, 0x700, 0);
	unc_dump_note(dump, e, false, &value[1], 8, 0x700, 0);
	unc_dump_note(dump, e, false, &value[1], 8, 0x701, 0);
	unc_dump_note(dump, e, false, NULL, 8, 0xd10, EIO);
	unc_dump_note(dump, e, true, NULL, 8, 0x700, EPERM);
	e = unc_dump_entry(dump, "/sys/bus/pci/devices/0000:7f:10.0/config", UNC_DUMP_DEVICE);
	e->size = 4096;
	unc_dump_note(dump, e, false, &value[1], 8, 0xa0, 0);
	CHECK_NUMBER(unc_dump_save(dump, file, &err), 0);
	unc_dump_free(dump);
	read_file();
}

/* ---- what comes again */

static struct unc_fs *fs;

static void open_root(const char *path)
{
	int rc = unc_fs_open(path, &fs, &err);

	if (rc < 0)
		printf("# %s\n", err.text);
	CU_ASSERT_FATAL(rc == 0);
}

static void check_replay(void)
{
	char text[80], **list;
	uint64_t value = 0;
	uint32_t half = 0;
	int fd;

	CHECK_TEXT(unc_fs_replayed(fs)->from, "2026-11-23, Linux 6.1");
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/proc/cpuinfo"), 0);
	CHECK_TEXT(text, "vendor_id\t: GenuineIntel");
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/proc/cmdline"), UNC_ERR_NOT_FOUND);
	CU_ASSERT(unc_fs_exists(fs, "/sys/bus/pci") && !unc_fs_exists(fs, "/sys/bus/pc"));
	CU_ASSERT(unc_fs_link(fs, text, sizeof(text), "/proc/self/ns/user"));
	CHECK_TEXT(text, "user:[4026531837]");
	list = unc_fs_list(fs, "/sys/bus/pci/devices");
	CU_ASSERT_FATAL(list && list[0] && !list[1]);
	CHECK_TEXT(list[0], "0000:7f:10.0");
	free(list);
	list = unc_fs_list(fs, "/sys/bus/event_source/devices");
	CU_ASSERT(!list && errno == ENOENT);
	CHECK_NUMBER(unc_fs_descriptor(fs, O_RDWR, "/dev/mem"), UNC_ERR_PERMISSION);
	CHECK_NUMBER(unc_fs_descriptor(fs, O_RDONLY, "/dev/mem"), UNC_ERR_PERMISSION);
	CHECK_NUMBER(unc_fs_descriptor(fs, O_RDWR, "/dev/cpu/0/msr"), UNC_ERR_PERMISSION);
	CU_ASSERT_FATAL((fd = unc_fs_descriptor(fs, O_RDONLY, "/dev/cpu/0/msr")) >= 0);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, NULL, 8, 0x700), 0);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0x700), 0);
	CHECK_NUMBER(value, 0x400304);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0x700), 0);
	CHECK_NUMBER(value, 0x1234567890abcdef); /* it had changed */
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0x701), 0);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0xd10), EIO);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0x702), ENODATA); /* not 0 */
	CHECK_NUMBER(unc_fs_write_at(fs, fd, &value, 8, 0x700), EPERM);
	CHECK_NUMBER(unc_fs_write_at(fs, fd, &value, 8, 0x701), EROFS);
	close(fd);
	CU_ASSERT_FATAL((fd = unc_fs_regular(fs, "/sys/bus/pci/devices/0000:7f:10.0/config")) >= 0);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0xa0), 0);
	CHECK_NUMBER(value, 0x1234567890abcdef);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &half, 4, 0xa4), 0);
	CHECK_NUMBER(half, 0x12345678);
	CHECK_NUMBER(unc_fs_read_at(fs, fd, &value, 8, 0xa4), ENODATA);
	CHECK_NUMBER(unc_fs_size(fs, fd), 4096);
	close(fd);
	unc_fs_close(fs);
}

static void test_replay(void)
{
	begin();
	make();
	open_root(file);
	check_replay();
	fake_free(&root);
}

/* As somebody reads it in a report. Empty files, files whose last line has no end, and links to devices are in it;
 * binary files, of which no machine is made, are not. */
static void test_text(void)
{
	struct unc_dump *dump = unc_dump_new();

	begin();
	unc_dump_put(dump, UNC_DUMP_FILE, "/proc/cmdline", "lockdown=integrity ");
	unc_dump_put(dump, UNC_DUMP_FILE, "/proc/empty", "");
	unc_dump_put(dump, UNC_DUMP_FILE, "/proc/two", "a\n\n");
	unc_dump_put(dump, UNC_DUMP_LINK, "/sys/bus/pci/devices/0000:17:00.0",
		     "../../../devices/x");
	unc_dump_put(dump, UNC_DUMP_FILE, "/sys/binary", "a");
	unc_dump_find(dump, "/sys/binary")->data[0] = '\0';
	snprintf(dump->sim, sizeof(dump->sim), "emerald-rapids,seed=2");
	CHECK_NUMBER(unc_dump_save(dump, file, &err), 0);
	unc_dump_free(dump);
	read_file();
	CHECK_TEXT(whole, "uncore machine 2\nfrom \nsimulated emerald-rapids,seed=2\n"
			  "file proc/cmdline\n lockdown=integrity \nfile proc/empty\n"
			  "file proc/two\n a\n \n"
			  "link sys/bus/pci/devices/0000:17:00.0 ../../../devices/x\nend\n");
	make();
	CHECK_TEXT(whole, "uncore machine 2\nfrom 2026-11-23, Linux 6.1\n"
			  "unwritable dev/cpu/0/msr EACCES\ndevice dev/cpu/0/msr 0\n"
			  " 0x700 0x400304 0x1234567890abcdef\n"
			  " 0x700 write EPERM\n"
			  " 0x701 0x1234567890abcdef\n"
			  " 0xd10 EIO\n"
			  "unreadable dev/mem EPERM\nunwritable dev/mem EPERM\ndevice dev/mem 0\n"
			  "file proc/cpuinfo\n vendor_id\t: GenuineIntel\n"
			  "link proc/self/ns/user user:[4026531837]\n"
			  "dir sys/bus/pci/devices/0000:7f:10.0\n"
			  "device sys/bus/pci/devices/0000:7f:10.0/config 4096\n"
			  " 0xa0 0x90abcdef\n"
			  " 0xa4 0x12345678\nend\n");
	fake_free(&root);
}

/* ---- machines that differ from another one */

static const char base[] =
	"uncore machine 2\nfile proc/cpuinfo\n one\ndevice dev/cpu/0/msr 0\n 0x700 0x1\n"
	" 0x701 0x2\n 0x702 0x3\n"
	"device sys/bus/pci/devices/0000:7f:10.0/config 4096\n 0x0 0x1\n 0xa0 0x2\n"
	"device sys/bus/pci/devices/0000:ff:10.0/config 4096\n 0x0 0x3\nend\n";

static const char *find_base(const char *name, size_t *n)
{
	*n = sizeof(base) - 1;
	return strcmp(name, "base") == 0 ? base : NULL;
}

/* What is read of a machine that is like the base: as text again, or the sentence. */
static const char *differing(const char *lines)
{
	char text[1000];
	struct unc_dump *dump;
	int n = snprintf(text, sizeof(text), "uncore machine 2\n%send\n", lines);

	if (unc_dump_read("it", text, (size_t)n, find_base, &dump, &err) < 0)
		return err.text;
	remove(file);
	CHECK_NUMBER(unc_dump_save(dump, file, &err), 0);
	unc_dump_free(dump);
	read_file();
	return whole;
}

static void test_like(void)
{
	begin();
	CHECK_TEXT(
		differing("# a remark\nlike base\nfile proc/cpuinfo\n two\nhide "
			  "sys/bus/pci/devices/0000:ff:*\n"
			  "device dev/cpu/0/msr 0\n 0x701 0x5\n 0x703 0x6\nfile proc/new\n"),
		"uncore machine 2\nfrom \ndevice dev/cpu/0/msr 0\n 0x700 0x1\n 0x701 0x5\n 0x702 "
		"0x3\n"
		" 0x703 0x6\nfile proc/cpuinfo\n two\nfile proc/new\n"
		"device sys/bus/pci/devices/0000:7f:10.0/config 4096\n 0x0 0x1\n 0xa0 0x2\nend\n");
	CHECK_TEXT(
		differing("like base\nhide proc\nunreadable dev/cpu/*/msr EACCES\n"
			  "device sys/bus/pci/devices/*/config 64\ndevice dev/cpu/0/msr 0\n "
			  "0x701-0x702 EIO\n"),
		"uncore machine 2\nfrom \nunreadable dev/cpu/0/msr EACCES\ndevice dev/cpu/0/msr 0\n"
		" 0x700 0x1\n 0x701 EIO\n 0x702 EIO\n"
		"device sys/bus/pci/devices/0000:7f:10.0/config 64\n 0x0 0x1\n"
		"device sys/bus/pci/devices/0000:ff:10.0/config 64\n 0x0 0x3\nend\n");
	CHECK_TEXT(differing("like nobody\n"), "it:2: no machine has that name");
	CHECK_TEXT(differing("dir proc\nlike base\n"), "it:3: no machine has that name");
	CHECK_TEXT(differing("like base\nhide sys/nothing\n"), "it:3: there is nothing to hide");
	fake_free(&root);
}

/* ---- the kernel's events: those who have asked for them get the same answer */

static void test_events(void)
{
	struct perf_event_attr attr = {.type = 13};
	struct unc_dump *dump;
	struct unc_machine *machine = NULL;
	char mask[16];
	uint32_t type = 0;
	int fd;

	begin();
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_0/type"), "13\n");
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_0/cpumask"), "0,16\n");
	open_root(root.path);
	CU_ASSERT_FATAL((dump = unc_fs_record(fs)) != NULL);
	CU_ASSERT_FATAL(unc_machine_hardware(fs, &machine, &err) == 0);
	CHECK_NUMBER(unc_events_system.find(machine, "uncore_imc_0", &type, mask, sizeof(mask)), 0);
	CHECK_NUMBER(unc_fs_asked(fs, (uint64_t)13 << 32 | 0, 0), 0);
	CHECK_NUMBER(unc_fs_asked(fs, (uint64_t)13 << 32 | 16, EACCES), EACCES);
	dump->hardware = true;
	CHECK_NUMBER(unc_dump_save(dump, file, &err), 0);
	unc_machine_close(machine);
	unc_fs_close(fs);

	open_root(file);
	CU_ASSERT_FATAL(unc_machine_hardware(fs, &machine, &err) == 0);
	CU_ASSERT_FATAL(machine->events == &unc_events_replayed);
	CHECK_NUMBER(machine->events->find(machine, "uncore_imc_0", &type, mask, sizeof(mask)), 0);
	CHECK_NUMBER(type, 13);
	CHECK_TEXT(mask, "0,16");
	CHECK_NUMBER(machine->events->find(machine, "uncore_imc_1", &type, mask, sizeof(mask)),
		     ENOENT);
	CU_ASSERT((fd = machine->events->open(machine, &attr, 0, -1)) >= 0);
	CU_ASSERT(machine->events->enable(machine, fd) < 0 && errno == EROFS);
	CU_ASSERT(machine->events->read(machine, fd, mask, sizeof(mask)) < 0 && errno == EROFS);
	machine->events->close(machine, fd);
	CU_ASSERT(machine->events->open(machine, &attr, 16, -1) < 0 && errno == EACCES);
	CU_ASSERT(machine->events->open(machine, &attr, 1, -1) < 0 && errno == ENODATA);
	unc_machine_close(machine);
	unc_fs_close(fs);
	fake_free(&root);
}

/* ---- what is refused: one sentence, of the file, and nothing is made */

/* The text behind the first line. */
static void refused(const char *text, const char *sentence)
{
	char all[4096], want[600];
	int n = snprintf(all, sizeof(all), "uncore machine 2\n%s", text);

	write_file(all, (size_t)n);
	fs = NULL;
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_INVALID);
	snprintf(want, sizeof(want), "%s:%s", file, sentence);
	CHECK_TEXT(err.text, want);
	CU_ASSERT_PTR_NULL(fs);
}

static void test_cut(void)
{
	begin();
	make();
	for (size_t n = 0; n < size; n++) {
		int rc;

		write_file(whole, n);
		fs = NULL;
		rc = unc_fs_open(file, &fs, &err);
		CHECK_NUMBER(rc, n < strlen("uncore machine 2\n") ? UNC_ERR_NOT_FOUND
								  : UNC_ERR_INVALID);
		CU_ASSERT(!fs && !strchr(err.text, '\n') && strstr(err.text, file));
	}
	write_file("libuncore-dump", 14);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_NOT_FOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "but one of another version: gather it again"));
	fake_free(&root);
}

static void test_paths(void)
{
	static const char *const outside[] = {"/etc/passwd", "../x", "proc/../../x", "..",
					      ".",           "a//b", "./proc/x",     "a/..",
					      "a/./b",       "a/"};
	char text[80];

	begin();
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		snprintf(text, sizeof(text), "file %s\nend\n", outside[i]);
		refused(text, "2: the path leads outside");
	}
	refused("dir ../dev/mem\n", "2: the path leads outside");
	refused("unreadable /dev/mem EPERM\n", "2: the path leads outside");
	fake_free(&root);
}

#define MEM "device dev/mem 0\n"
static void test_lines(void)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"nonsense\n", "2: it is not a line of a machine file"},
		{"file\n", "2: it is not a line of a machine file"},
		{"file a b\n", "2: it is not a line of a machine file"},
		{"link a\n", "2: it is not a line of a machine file"},
		{"device proc/x 0\n", "2: it is not a line of a machine file"},
		{"device dev/mem x\n", "2: it is not a line of a machine file"},
		{" a line of no file\n", "2: it is not a line of a machine file"},
		{"dir a\n a line of no file\n", "3: it is not a line of a machine file"},
		{"file a\ndir b\nfile a\n", "4: the path is given twice"},
		{"device dev/mem 0\nfile dev/mem\n", "3: the path is given twice"},
		{"link a b\nlink a c\n", "3: the path is given twice"},
		{MEM " 0x0 0x0\n 0x0 0x1\n", "4: the offset is given twice"},
		{MEM " y 0x0\n", "3: it is not an offset of a device"},
		{MEM " 0x0\n", "3: it is not an offset of a device"},
		{MEM " 0x0-0x4 EIO\n", "3: it is not an offset of a device"},
		{MEM " 0x0 y\n", "3: it is neither a value nor the name of an error"},
		{MEM " 0x0 EII\n", "3: it is neither a value nor the name of an error"},
		{MEM " 0x0 0x0 y\n", "3: it is neither a value nor the name of an error"},
		{MEM " 0x0 0x0 0x0 0x0\n", "3: it is neither a value nor the name of an error"},
		{MEM " 0x0 write 0x0\n", "3: it is neither a value nor the name of an error"},
		{"hide dev/mem\n", "2: it is not a line of a machine file"},
		{"like other\n", "2: no machine has that name"},
		{"unreadable dev/mem EII\n", "2: it is not the name of an error"},
		{"unreadable dev/mem OK\n", "2: it is not the name of an error"},
		{"end\nend\n", "3: a line follows 'end'"},
		{"end\n\n", "3: a line follows 'end'"},
	};

	begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i].text, cases[i].sentence);
	write_file("uncore machine 2\nfile a\n \0\nend\n", 32);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":3: a zero is in it"));
	write_file("uncore machine 1\nend\n", 21);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_NOT_FOUND);
	fake_free(&root);
}

/* More paths than a machine has, and more bytes. */
static void test_large(void)
{
	FILE *out;

	begin();
	make();
	CHECK_NUMBER(truncate(file, (off_t)2 << 30), 0);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_UNAVAILABLE);
	out = fopen(file, "w");
	fputs("uncore machine 2\n", out);
	for (int i = 0; i <= 50000; i++)
		fprintf(out, "dir %d\n", i);
	fclose(out);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":50002: there are too many paths"));
	fake_free(&root);
}

/* Any byte that is not what it was is refused, or leads to another dump: never further. */
static void test_noise(void)
{
	begin();
	make();
	for (size_t i = 0; i < size; i += 7) {
		char kept = whole[i];

		whole[i] ^= (char)(1 << i % 8);
		write_file(whole, size);
		if (unc_fs_open(file, &fs, &err) == 0)
			unc_fs_close(fs);
		whole[i] = kept;
	}
	fake_free(&root);
}

static void test_save(void)
{
	struct unc_dump *dump = unc_dump_new();
	const struct rlimit little = {16, RLIM_INFINITY};
	struct rlimit old;

	begin();
	fake_text(file, "mine");
	CHECK_NUMBER(unc_dump_save(dump, file, &err), UNC_ERR_IO);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(err.text, "cannot be made: File exists; remove it, or give another name"));
	read_file();
	CHECK_TEXT(whole, "mine");
	unlink(file);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &little);
	CHECK_NUMBER(unc_dump_save(dump, file, &err), UNC_ERR_IO);
	setrlimit(RLIMIT_FSIZE, &old);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be written: "));
	CU_ASSERT(access(file, F_OK) < 0);
	unc_dump_free(dump);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what is in it comes again", test_replay},
		{"the kernel's events", test_events},
		{"its text", test_text},
		{"like another one", test_like},
		{"cut anywhere", test_cut},
		{"paths that lead outside", test_paths},
		{"lines that are refused", test_lines},
		{"two GiB; too many paths", test_large},
		{"noise", test_noise},
		{"a file that exists, or cannot be written whole", test_save},
		{NULL, NULL},
	};

	return suite_run("dump", tests);
}
