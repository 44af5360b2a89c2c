/* SPDX-License-Identifier: BSD-3-Clause */
/* How many slices there are, where the functions that tell it show, and where registers have to be
 * tried; and what can be read but not written. */
#include "access/access.h"
#include "discover_faulty.h"
#include "discover_listed.h"

static void probe(struct unc_access **access)
{
	open_gate(access);
	CHECK_NUMBER(unc_instances_probe(table, &found, *access, NULL), 0);
	close_gate(*access);
}

/* The functions tell the number of slices; cores that are offline do not. */
static void test_slices(void)
{
	machine();
	for (unsigned i = 6; i < 10; i++)
		fake_function(&root, 0x7e, 0x0c + i % 2, i / 2, 0x0ee0 + i, 256);
	topo.socket[0].cores = 2;
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("cbo", true), 10 + 6);
	forget();
	/* One that does not tell what it is may be one of them. */
	with_faults("fail read *7e:10.1/config 0 EIO");
	CHECK_NUMBER(count("cbo", true), 11 + 6);
	CU_ASSERT(!unit("cbo", 0, 9)->doubtful);
	CU_ASSERT(unit("cbo", 0, 10)->doubtful);
	forget();
	/* No fewer than cores, whatever shows. */
	topo.socket[0].cores = 12;
	discover();
	CHECK_NUMBER(count("cbo", true), 12 + 6);
	leave();
}

/* The other package is not there at all. */
static void one_socket(void)
{
	topo.n_sockets = 1;
	hide(0xfe, 0x0b, 0);
	hide(0xfe, 0x10, 0);
	hide(0xfe, 0x10, 1);
	hide(0xff, 0x1e, 3);
	hide(0xfe, 0, 1);
	for (unsigned i = 0; i < 6; i++)
		hide(0xfe, 0x0c + i % 2, i / 2);
}

static const char uncounted[] =
	"socket 0: the PCI functions 8086:0ee0 to 0eee, which tell how many cbo there are, cannot "
	"be counted: of 2 to 15, those that answer are taken\n";

/* Where they do not show, what answers is there; not what is known to the CPU to be no register. */
static void test_slices_by_reading(void)
{
	static const struct {
		unsigned from, to;
		unsigned listed, available;
		const char *reason; /* of CBo 11 */
	} rows[] = {
		{0xd00 + 12 * 0x20, 0xee0, 12, 12, ""},
		/* The last: it may not be there. */
		{0xd00 + 11 * 0x20, 0xee0, 11, 11, "none"},
		/* One of its registers only, or one before others: it should be. */
		{0xd00 + 11 * 0x20 + 0x10, 0, 15, 14, "msr 0xe70 on cpu 0 cannot be read"},
		{0xd00 + 11 * 0x20, 0xd00 + 12 * 0x20, 15, 14, "msr 0xe70 on cpu 0 cannot be read"},
		/* Of those that the cores have, none may be missing. */
		{0xd00, 0xee0, 2, 0, "none"},
	};
	struct unc_access *access;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine();
		one_socket();
		topo.socket[0].cores = 2;
		for (unsigned k = 0; k < 6; k++)
			hide(0x7e, 0x0c + k % 2, k / 2);
		fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
		fake_size(fake_path(&root, "/dev/mem"), 0xf2100000);
		discover();
		CHECK_TEXT(notes, uncounted);
		CHECK_NUMBER(count("cbo", false), 15);
		faults("fail read *cpu/0/msr %#x EIO", rows[i].from);
		for (unsigned at = rows[i].from + 1; at < rows[i].to; at++)
			fault_too("fail read *cpu/0/msr %#x EIO", at);
		probe(&access);
		no_faults();
		CHECK_NUMBER(count("cbo", false), rows[i].listed);
		CHECK_NUMBER(count("cbo", true), rows[i].available);
		CU_ASSERT(!strncmp(unit("cbo", 0, 11)->reason, rows[i].reason,
				   strlen(rows[i].reason)));
		CHECK_NUMBER(count("cha", true), 8);
		CHECK_NUMBER(count("mc", true), 4);
		leave();
	}
}

/* A failure is not "no such register": nothing is dropped for it. */
static void test_slices_unreadable(void)
{
	struct unc_access *access;

	machine();
	one_socket();
	topo.socket[0].cores = 2;
	for (unsigned k = 0; k < 6; k++)
		hide(0x7e, 0x0c + k % 2, k / 2);
	discover();
	probe(&access); /* there is no msr driver */
	CHECK_NUMBER(count("cbo", false), 15);
	CHECK_NUMBER(count("cbo", true), 0);
	CHECK_TEXT(unit("cbo", 0, 14)->reason,
		   "/dev/cpu/0/msr: no such file: load the msr module (modprobe msr)");
	forget();
	/* A virtual machine has no slices to look for. */
	topo.hypervisor = true;
	discover();
	CHECK_NUMBER(count("cbo", false), 2);
	leave();
}

/* Channels that the discovery table does not list: those of controllers that are not there read as ones (Linux
 * i10nm_base.c, "Skip the absent memory controllers"), others are counted. */
static void test_channels_by_reading(void)
{
	static const uint32_t ones[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	struct unc_access *access;

	listed_machine();
	for (unsigned i = 2; i < 8; i++)
		put_record(0, 10 + i, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	for (unsigned i = 4; i < 8; i++) /* their controls */
		fake_bytes(fake_path(&root, "/dev/mem"),
			   mem_base(0, i / 2) + 0x22800 + 0x8000 * (i % 2) + 0x40, ones,
			   sizeof(ones));
	discover();
	CHECK_NUMBER(count("imc", false), 8 + 8);
	probe(&access);
	CHECK_NUMBER(count("imc", false), 4 + 8);
	CHECK_NUMBER(count("imc", true), 4 + 8);
	CU_ASSERT(unit("imc", 0, 3)->available);
	leave();
}

/* What can be read but not written cannot be started. */
static void test_read_only(void)
{
	struct unc_access *access;

	machine();
	one_socket();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
	fake_size(fake_path(&root, "/dev/mem"), 0xf2100000);
	chmod(fake_path(&root, "/dev/cpu/0/msr"), 0444);
	chmod(fake_config(&root, 0x7e, 0x10, 0), 0444);
	discover();
	fake_drop();
	probe(&access);
	fake_regain();
	CHECK_TEXT(unit("cha", 0, 0)->reason,
		   "/dev/cpu/0/msr can be read but not written: root or CAP_SYS_RAWIO is needed");
	CHECK_TEXT(unit("imc", 0, 0)->reason,
		   "pci 0000:7e:10.0 can be read but not written: root is needed");
	CHECK_NUMBER(count("mc", true), 4); /* counts by itself */
	leave();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"slices", test_slices},
		{"slices by reading", test_slices_by_reading},
		{"slices that cannot be read", test_slices_unreadable},
		{"channels by reading", test_channels_by_reading},
		{"read only", test_read_only},
		{NULL, NULL},
	};

	return suite_run("discover_slices", tests);
}
