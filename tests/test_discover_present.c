/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tells how many units there are, or which: registers of PCI functions, MSRs, functions that are
 * there or not. Device ids and registers: Linux uncore_snbep.c (CAPID6 of Skylake-SP, CAPID4 of
 * Haswell-EP and Broadwell-EP, MSR 0x2FFE of Sapphire Rapids), i10nm_base.c (the M2M of a memory
 * controller of Ice Lake-SP).
 */
#include "access/access.h"
#include "discover_listed.h"

enum { BUS = 0x7e, CAPID6 = 0x9c, CAPID4 = 0x94 };

static void msr(unsigned cpu, unsigned number, uint64_t value)
{
	fake_bytes(fake_path(&root, "/dev/cpu/%u/msr", cpu), number, &value, sizeof(value));
}

/* One socket: 18 slices, two of four SBos, memory controllers 0 and 2. */
static void one_socket(void)
{
	begin("present");
	topo.n_sockets = 1;
	fake_function(&root, BUS, 8, 0, 0x2014, 256);
	fake_put(&root, BUS, 8, 0, 0xc0, 0);
	fake_put(&root, BUS, 8, 0, 0xd4, 010);
	fake_function(&root, BUS, 0x1e, 3, 0x2083, 256);
	fake_put(&root, BUS, 0x1e, 3, CAPID6, 0xf0000000 | 0x3f3f3f);
	fake_function(&root, BUS, 0x1f, 3, 0x2fc0, 256);
	fake_put(&root, BUS, 0x1f, 3, CAPID4, 0x3f);
	fake_function(&root, BUS, 0x1f, 4, 0x6fc0, 256);
	fake_put(&root, BUS, 0x1f, 4, CAPID4, 0x3f);
	fake_function(&root, BUS, 0, 1, 0x3451, 256);
	fake_put(&root, BUS, 0, 1, 0xd0, 0x1e4);
	for (unsigned mc = 0; mc < 4; mc++)
		fake_put(&root, BUS, 0, 1, 0xd8 + 4 * mc, (mc + 1) * 0x40);
	fake_function(&root, BUS, 0x0c, 0, 0x344a, 256);
	fake_function(&root, BUS, 0x0e, 0, 0x344a, 256);
}

static void test_counts(void)
{
	one_socket();
	msr(0, 0x702, 0xffffffffffffff80 | 16);
	msr(0, 0x2ffe, 3);
	look();
	CHECK_NUMBER(count("cha", true), 16); /* the smallest count holds */
	CHECK_NUMBER(count("box", true), 3);
	CHECK_TEXT(unit("box", 0, 2)->location, "msr 0xf1c on cpu 0");
	CHECK_NUMBER(count("sbo", true), 2);
	CHECK_NUMBER(count("tbo", false), 0);
	look_away();

	msr(0, 0x702, 20);
	msr(0, 0x2ffe, 9); /* than there are places */
	fake_put(&root, BUS, 0x1f, 3, CAPID4, 0x40);
	fake_put(&root, BUS, 0x1f, 4, CAPID4, 0x80);
	look();
	CHECK_NUMBER(count("cha", true), 18);
	CHECK_NUMBER(count("box", true), 4);
	CHECK_NUMBER(count("sbo", true), 4);
	CHECK_NUMBER(count("tbo", true), 4);
	look_away();
	end();
}

/* An MSR that holds 0, or cannot be read, decides nothing; where nothing decides, none is guessed. */
static void test_undecided(void)
{
	static const char unknown[] = "their number is not known: ";

	one_socket();
	msr(0, 0x702, 0);
	msr(0, 0x2ffe, 0);
	look();
	CHECK_NUMBER(count("cha", true), 18);
	CHECK_NUMBER(count("box", false), 1);
	CHECK_NUMBER(count("box", true), 0);
	CHECK_TEXT(unit("box", 0, 0)->reason, "their number is not known: msr 0x2ffe says none");
	look_away();

	/* The MSR tells where the function does not. */
	hide(BUS, 0x1e, 3);
	hide(BUS, 0x1f, 3);
	msr(0, 0x702, 20);
	look();
	CHECK_NUMBER(count("cha", true), 20);
	CHECK_NUMBER(count("sbo", true), 0);
	CHECK_TEXT(unit("sbo", 0, 0)->reason,
		   "their number is not known: PCI device 8086:2fc0 is not visible");
	look_away();

	remove(fake_path(&root, "/dev/cpu/0/msr"));
	look();
	CHECK_NUMBER(count("cha", true), 0);
	CHECK_TEXT(unit("cha", 0, 0)->reason,
		   "their number is not known: PCI device 8086:2083 is not visible");
	CHECK_NUMBER(count("box", true), 0);
	CU_ASSERT(!strncmp(unit("box", 0, 0)->reason, unknown, strlen(unknown)));
	look_away();

	/* Nobody to ask. */
	discover();
	CHECK_NUMBER(count("box", true), 0);
	CHECK_TEXT(unit("box", 0, 0)->reason, "their number is not known: msr 0x2ffe is not read");
	forget();
	end();
}

/* Controllers that are not there have no channels, though the registers hold addresses of them. */
static void test_functions(void)
{
	one_socket();
	discover();
	CU_ASSERT(strstr(notes, "socket 0: 4 of 8 imc do not exist: there is no PCI function 0f.0 "
				"(8086:344a)\n") != NULL);
	CHECK_NUMBER(count("imc", false), 4);
	CHECK_NUMBER(count("imc", true), 4);
	CHECK_TEXT(unit("imc", 0, 1)->location, "mmio 0xf2066800");
	CHECK_TEXT(unit("imc", 0, 4)->location, "mmio 0xf20e2800");
	CHECK_TEXT(unit("imc", 0, 2)->location, "none");
	/* The register of the HBM is not there, but neither is any of its functions. */
	CHECK_NUMBER(count("hbm", false), 0);
	forget();
	/* One that does not tell what it is may be the controller's. */
	fake_function(&root, BUS, 0x0d, 0, 0x344a, 256);
	remove(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:0d.0/vendor", BUS));
	discover();
	CHECK_NUMBER(count("imc", false), 6);
	forget();
	fake_function(&root, BUS, 0x0c, 2, 0x324a, 256);
	discover();
	CHECK_NUMBER(count("hbm", false), 1);
	CHECK_TEXT(unit("hbm", 0, 0)->reason,
		   "their number is not known: PCI device 8086:325b is not visible");
	forget();
	end();
}

/* Firmware lists slices that are not there: the first of the list are taken. */
static void test_surplus(void)
{
	listed_machine();
	fake_put(&root, ubox_bus[0], 0x1e, 3, 0x9c, 3);
	fake_put(&root, ubox_bus[0], 0x1e, 3, 0xa0, 0);
	discover();
	CHECK_TEXT(notes, "socket 0: by PCI device 8086:325b there are 2 cha: the last 1 of the "
			  "discovery table are not used\n");
	CHECK_NUMBER(count("cha", true), 2 + 3);
	CHECK_TEXT(unit("cha", 0, 5)->location, "none");
	forget();
	/* Numbers may have holes. */
	fake_put(&root, ubox_bus[0], 0x1e, 3, 0xa0, 1);
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("cha", true), 3 + 3);
	forget();
	end();
}

/* ---- records of a shared number, and records that are not believed */

/* M2M at function 0, M2HBM at 1 to 4 of the same devices, with one number (PCM). */
static void test_split(void)
{
	listed_machine();
	use_table("split");
	for (unsigned i = 0; i < 2; i++)
		for (unsigned function = 1; function <= 2; function++)
			fake_function(&root, ubox_bus[0], 0x0c + i, function, 0x324a, 4096);
	/* Numbers go on behind those of M2M (Linux drops a number that comes twice), whatever their order:
	 * the place tells. */
	put_record(0, 24, M2M_WORD, pci_address(0, 0x0d, 1, 0x438), ident(7, 4, 24));
	put_record(0, 25, M2M_WORD, pci_address(0, 0x0c, 2, 0x438), ident(7, 5, 25));
	put_record(0, 26, M2M_WORD, pci_address(0, 0x0c, 1, 0x438), ident(7, 7, 26));
	put_record(0, 27, M2M_WORD, pci_address(0, 0x0c, 5, 0x438), ident(7, 8, 27));
	discover();
	CHECK_TEXT(
		notes,
		"socket 0: discovery lists 1 units of types that are not known, the first "
		"of type 7 at PCI function 5\nsocket 0: 1 of 4 m2hbm are not listed by discovery "
		"where they are: taken from their device ids\n");
	CHECK_NUMBER(count("m2m", true), 8);
	CHECK_NUMBER(count("m2m", false), 8);
	CHECK_TEXT(unit("m2m", 0, 0)->location, "pci 0000:7e:0c.0");
	CHECK_NUMBER(count("m2hbm", true), 4);
	CHECK_NUMBER(count("m2hbm", false), 4);
	CHECK_TEXT(unit("m2hbm", 0, 0)->location, "pci 0000:7e:0c.1");
	CHECK_TEXT(unit("m2hbm", 0, 1)->location, "pci 0000:7e:0c.2");
	CHECK_TEXT(unit("m2hbm", 0, 2)->location, "pci 0000:7e:0d.1");
	CHECK_NUMBER(unit("m2hbm", 0, 2)->status_position, 24);
	CHECK_NUMBER(reg_of(unit("m2hbm", 0, 2), "CTL0").address,
		     UNC_PCI(0, 0x7e, UNC_DEVFN(0x0d, 1), 0x468));
	forget();
	end();
}

/* A part with three links of which the third record names a function that is not there (Linux, "Add a
 * quirk for UPI on SPR"); worse, one whose records name functions that are. */
static void test_distrusted(void)
{
	static const char said[] =
		"socket 0: discovery of 3 upi is not used, because it is known to be "
		"wrong on some Listed; "
		"taken from their places\n"
		"socket 1: discovery of 2 upi is not used, because it is known to be "
		"wrong on some Listed; "
		"taken from their places\n";

	listed_machine();
	use_table("distrusted");
	put_record(0, 32, UPI_WORD, pci_address(0, 4, 1, 0x318), ident(8, 2, 32));
	put_record(1, 30, UPI_WORD, pci_address(1, 2, 1, 0x318), ident(8, 1, 30));
	put_record(1, 31, UPI_WORD, pci_address(1, 3, 1, 0x318), ident(8, 2, 31));
	put_record(1, 32, 0, 0, 0);
	discover();
	CHECK_TEXT(notes, said);
	CHECK_NUMBER(count("upi", true), 6);
	CHECK_NUMBER(count("upi", false), 6);
	for (unsigned i = 0; i < 3; i++) {
		char place[32];

		snprintf(place, sizeof(place), "pci 0000:fe:%02x.1", 1 + i);
		CHECK_TEXT(unit("upi", 1, i)->location, place);
	}
	forget();
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"registers that count", test_counts},
		{"registers that do not", test_undecided},
		{"functions that units hang on", test_functions},
		{"more records than units", test_surplus},
		{"types that share a number", test_split},
		{"records that are not believed", test_distrusted},
		{NULL, NULL},
	};

	return suite_run("discover_present", tests);
}
