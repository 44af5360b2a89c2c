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
#include "host/smbios.h"
#include "machine/hardware.h"
#include "suite.h"

enum { BLOCK = 512 };

static struct fake_root root;
static char file[320];
static struct unc_error err;

static void begin(void)
{
	fake_new(&root);
	snprintf(file, sizeof(file), "%s/dump.tar", root.path);
}

static char *tar;
static size_t size;

static void write_tar(void)
{
	FILE *out = fopen(file, "w");

	CU_ASSERT_FATAL(out && fwrite(tar, 1, size, out) == size && fclose(out) == 0);
}

static void read_tar(void)
{
	int fd = open(file, O_RDONLY);

	CU_ASSERT_FATAL(fd >= 0 && unc_fs_rest(fd, file, 1 << 22, &tar, &size, NULL) == 0);
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
	free(tar);
	read_tar();
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
	CHECK_NUMBER(lseek(fd, 0, SEEK_END), 4096);
	close(fd);
	unc_fs_close(fs);
}

static void test_replay(void)
{
	char command[1200];

	begin();
	make();
	open_root(file);
	check_replay();
	snprintf(command, sizeof(command), "mkdir %s/unpacked && tar xf %s -C %s/unpacked",
		 root.path, file, root.path);
	CHECK_NUMBER(system(command), 0); /* tar(1) reads it as well */
	snprintf(command, sizeof(command), "%s/unpacked", root.path);
	open_root(command);
	check_replay();
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

static void refused(int line, int code, const char *sentence)
{
	char want[600];
	int rc;

	write_tar();
	fs = NULL;
	rc = unc_fs_open(file, &fs, &err);
	snprintf(want, sizeof(want), "%s is no dump that can be replayed: %s", file, sentence);
	if (rc != code || (code == UNC_ERR_INVALID && strcmp(err.text, want) != 0))
		printf("# line %d: %d, %s\n", line, rc, rc ? err.text : "no error");
	CU_ASSERT(rc == code && (code != UNC_ERR_INVALID || strcmp(err.text, want) == 0));
	CU_ASSERT_PTR_NULL(fs);
}

static void sum(char *header)
{
	unsigned n = 0;

	memset(header + 148, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		n += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", n);
}

static char *entry(const char *name)
{
	for (size_t at = 0; at + BLOCK <= size; at += BLOCK)
		if (strcmp(tar + at, name) == 0 && memcmp(tar + at + 257, "ustar", 5) == 0)
			return tar + at;
	CU_FAIL_FATAL("no such entry");
	return NULL;
}

static void test_short(void)
{
	size_t whole;

	begin();
	make();
	whole = size;
	for (size = 0; size < BLOCK; size += 100)
		refused(__LINE__, UNC_ERR_NOT_FOUND, "");
	for (size = BLOCK; size < whole; size += BLOCK)
		refused(__LINE__, UNC_ERR_INVALID, "it is cut short");
	for (size = BLOCK + 100; size < whole; size += BLOCK)
		refused(__LINE__, UNC_ERR_INVALID, "it is cut short");
	fake_free(&root);
}

static void rename_entry(const char *name)
{
	char *header;

	make();
	header = entry("proc/cpuinfo");
	memset(header, 0, 100);
	memcpy(header, name, strlen(name));
	sum(header);
}

static void test_paths(void)
{
	static const char *const outside[] = {"/etc/passwd", "../x",     "proc/../../x", "..",
					      "a//b",        "./proc/x", "a/.."};

	begin();
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		rename_entry(outside[i]);
		refused(__LINE__, UNC_ERR_INVALID, "a path in it leads outside");
	}
	rename_entry("");
	refused(__LINE__, UNC_ERR_INVALID, "something is behind its end");
	make();
	memcpy(entry("proc/self/ns/user") + 157, "../../etc", 10);
	sum(entry("proc/self/ns/user"));
	refused(__LINE__, UNC_ERR_INVALID, "a link in it leads elsewhere");
	for (const char *type = "1346xgS"; *type; type++) {
		make();
		entry("proc/cpuinfo")[156] = *type;
		sum(entry("proc/cpuinfo"));
		refused(__LINE__, UNC_ERR_INVALID,
			"something in it is neither a file nor a folder");
	}
	fake_free(&root);
}

/* The text of an entry, of the same length. */
static void change(const char *name, const char *from, const char *to)
{
	char *text, *at;

	make();
	text = entry(name) + BLOCK;
	at = memmem(text, size - (size_t)(text - tar), from, strlen(from));
	CU_ASSERT_FATAL(at && strlen(from) == strlen(to));
	memcpy(at, to, strlen(to));
}

static void test_contents(void)
{
	static const char msr[] = "dev/cpu/0/msr.values";

	begin();
	change("libuncore-dump", "version 1", "version 2");
	refused(__LINE__, UNC_ERR_INVALID, "it is of another version");
	change("errors", "EPERM", "EPEEM");
	refused(__LINE__, UNC_ERR_INVALID, "a line of `errors` is not understood");
	change("errors", "dev/mem", "/ev/mem");
	refused(__LINE__, UNC_ERR_INVALID, "a line of `errors` is not understood");
	change(msr, "0x400304", "0x40030g");
	refused(__LINE__, UNC_ERR_INVALID, "a value is not understood");
	change(msr, "EIO", "EII");
	refused(__LINE__, UNC_ERR_INVALID, "a value is not understood");
	change(msr, "0x701", "0x700"); /* twice */
	refused(__LINE__, UNC_ERR_INVALID, "a value is not understood");
	change(msr, "size 0", "side 0");
	refused(__LINE__, UNC_ERR_INVALID, "values of what is no device");
	rename_entry("proc/x.values");
	refused(__LINE__, UNC_ERR_INVALID, "values of what is no device");
	rename_entry(msr); /* no values, and another entry has them */
	CU_ASSERT(unc_fs_open(file, &fs, &err) == 0);
	unc_fs_close(fs);
	write_tar();
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_INVALID);
	rename_entry("proc/self/ns/user");
	refused(__LINE__, UNC_ERR_INVALID, "a path is in it twice");
	make();
	tar[size - 1] = 'x';
	refused(__LINE__, UNC_ERR_INVALID, "something is behind its end");
	make();
	entry("proc/cpuinfo")[0] = 'P'; /* without its sum */
	refused(__LINE__, UNC_ERR_INVALID, "it is no tar of ours, or damaged");
	make();
	memcpy(entry("proc/cpuinfo") + 124, "77777777777", 12);
	sum(entry("proc/cpuinfo"));
	refused(__LINE__, UNC_ERR_INVALID, "it is cut short");
	fake_free(&root);
}

/* What is unpacked is judged as a tar is. */
static void test_folder(void)
{
	static const struct {
		const char *change, *sentence;
	} cases[] = {
		{"ln -s ../../etc proc/x", "a link in it leads elsewhere"},
		{"mkfifo proc/x", "a file of it cannot be read"},
		{"echo 1 >proc/x.values", "values of what is no device"},
		{"echo x >errors; echo 'version 2' >libuncore-dump", "it is of another version"},
		{"echo x >errors", "a line of `errors` is not understood"},
		{"mv libuncore-dump x; ln -s x libuncore-dump", "libuncore-dump cannot be read"},
		{"rm libuncore-dump; mkdir libuncore-dump", "libuncore-dump cannot be read"},
		{"mkdir -p $(printf 'a/%.0s' $(seq 60))", "a path in it leads outside"},
	};
	char command[2000], folder[340], want[600];

	begin();
	make();
	snprintf(folder, sizeof(folder), "%s/unpacked//", root.path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(command, sizeof(command),
			 "rm -rf %s && mkdir %s && cd %s && tar xf %s && { %s; }", folder, folder,
			 folder, file, cases[i].change);
		CU_ASSERT_FATAL(system(command) == 0);
		CHECK_NUMBER(unc_fs_open(folder, &fs, &err), UNC_ERR_INVALID);
		snprintf(want, sizeof(want), "%s is no dump that can be replayed: %s", folder,
			 cases[i].sentence);
		CHECK_TEXT(err.text, want);
	}
	snprintf(command, sizeof(command), "rm -rf %s && mkdir %s && cd %s && tar xf %s ", folder,
		 folder, folder, file);
	CU_ASSERT_FATAL(system(command) == 0);
	open_root(folder); /* whatever stands behind its name */
	check_replay();
	fake_free(&root);
}

static void test_large(void)
{
	begin();
	make();
	CHECK_NUMBER(truncate(file, (off_t)2 << 30), 0);
	CHECK_NUMBER(unc_fs_open(file, &fs, &err), UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "it is larger than 64 MiB, or no file"));
	fake_free(&root);
}

/* Any byte that is not what it was is refused, or leads to another dump: never further. */
static void test_noise(void)
{
	begin();
	make();
	for (size_t i = 0; i < size; i += 7) {
		char kept = tar[i];

		tar[i] ^= (char)(1 << i % 8);
		write_tar();
		if (unc_fs_open(file, &fs, &err) == 0)
			unc_fs_close(fs);
		tar[i] = kept;
	}
	fake_free(&root);
}

static void test_save(void)
{
	struct unc_dump *dump = unc_dump_new();
	const struct rlimit little = {2048, RLIM_INFINITY};
	struct rlimit old;

	begin();
	fake_text(file, "mine");
	CHECK_NUMBER(unc_dump_save(dump, file, &err), UNC_ERR_IO);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(err.text, "cannot be made: File exists; remove it, or give another name"));
	free(tar);
	read_tar();
	CHECK_TEXT(tar, "mine");
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

/* ---- DMTF DSP0134: memory device (17): locators at 0x10 and 0x11, serial number at 0x18; system (1):
 * serial number at 7, UUID at 8 */

static void test_mask(void)
{
	uint8_t table[] = "\x01\x1b\0\0\1\2\3\4UUIDUUIDUUIDUUID\0\0\0"
			  "Acme\0Box\0v1\0SN-1\0\0"
			  "\x11\x1b\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\1\2\0\0\0\0\0\3\4\0\0"
			  "DIMM_A1\0NODE 0\0Acme\0SN-2\0\0"
			  "\x7f\4\0\0\0";

	unc_smbios_mask(table, sizeof(table));
	CU_ASSERT(!memmem(table, sizeof(table), "UUID", 4) &&
		  !memmem(table, sizeof(table), "SN-", 3));
	CU_ASSERT(!memmem(table, sizeof(table), "Acme", 4) &&
		  !memmem(table, sizeof(table), "Box", 3));
	CU_ASSERT(memmem(table, sizeof(table), "DIMM_A1\0NODE 0\0XXXX\0XXXX\0", 25) != NULL);
	memcpy(table + 27, "Acme", 4);
	unc_smbios_mask(table, 40); /* it ends within: nothing of that stays */
	CU_ASSERT(!memmem(table, sizeof(table), "Acme", 4));
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what is in it comes again", test_replay},
		{"the kernel's events", test_events},
		{"cut short anywhere", test_short},
		{"paths and links outside, odd entries", test_paths},
		{"another version, and what is not understood", test_contents},
		{"a folder in which something is wrong", test_folder},
		{"two GiB", test_large},
		{"noise", test_noise},
		{"a file that exists, or cannot be written whole", test_save},
		{"serial numbers", test_mask},
		{NULL, NULL},
	};

	return suite_run("dump", tests);
}
