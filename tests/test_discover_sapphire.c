/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sapphire Rapids by its own tables: Xeon Max with HBM, a part of one die with three UPI links, and what firmware lists
 * wrongly. Device ids, places and numbers: Linux uncore_snbep.c (UPI, M3UPI, MSR 0x2FFE; patches "Add a quirk for UPI on
 * SPR", "Correct the number of CHAs on SPR") and i10nm_base.c (HBM: CAPID3, base, distances), PCM types.h and cpucounters.cpp
 * (M2HBM, monitors of the HBM's channels); layout of the records: discover_listed.h.
 */
#include "built.h"
#include "access/access.h"
#include "discover_listed.h"

#define MSR_WORD CHA_WORD /* MDF has the same layout */
#define M3UPI_WORD 0x8000005808303804

enum {
	CAPID3 = 0x90,
	HBM_PRESENT = 0xf << 27,
	CHAS = 32,
	UPI_AT = 50, /* first records of their types */
	M3UPI_AT = 53,
	MCHBM_AT = 60,
	M2HBM_AT = 100,
	LAST_RECORD = 130
};

static void use_tables(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(all[i], all[i]->name), "sapphire-rapids") == 0)
			table = all[i];
}

static uint64_t hbm_base(int socket)
{
	return ((uint64_t)(socket ? 0x1e8 : 0x1e4) << 23) + ((uint64_t)0x400 << 12);
}

static void tells_chas(unsigned cpu, uint64_t n)
{
	fake_bytes(fake_path(&root, "/dev/cpu/%u/msr", cpu), 0x2ffe, &n, sizeof(n));
}

static void list_socket(int s)
{
	unsigned at = 0;

	put_global(s, STRIDE, LAST_RECORD);
	for (unsigned i = 0; i < CHAS; i++, at++)
		put_record(s, 1 + at, MSR_WORD, 0x2000 + 0x10 * i, ident(0, i, at));
	for (unsigned i = 0; i < 4; i++, at++)
		put_record(s, 1 + at, M2M_WORD, pci_address(s, 0x0c + i, 0, 0x438),
			   ident(7, i, at));
	/* MDF, where the guide has none. */
	put_record(s, 1 + at, MSR_WORD, 0x2840, ident(11, 2, at));
	for (unsigned i = 0; i < 3; i++) {
		put_record(s, UPI_AT + i, UPI_WORD, pci_address(s, 1 + i, 1, 0x318),
			   ident(8, i, 50 + i));
		put_record(s, M3UPI_AT + i, M3UPI_WORD, pci_address(s, 5 + i, 1, 0xa0),
			   ident(9, i, 53 + i));
	}
}

/* What Xeon Max has more: 16 controllers at functions 1 to 4, with two channels each. */
static void list_hbm(int s)
{
	fake_put(&root, ubox_bus[s], 0x1e, 3, CAPID3, HBM_PRESENT);
	for (unsigned i = 0; i < 16; i++) {
		fake_function(&root, ubox_bus[s], 0x0c + i / 4, 1 + i % 4, 0x324a, 4096);
		put_record(s, M2HBM_AT + i, M2M_WORD,
			   pci_address(s, 0x0c + i / 4, 1 + i % 4, 0x438),
			   ident(7, 4 + i, 100 + i));
	}
	for (unsigned i = 0; i < 32; i++)
		put_record(s, MCHBM_AT + i, IMC_WORD,
			   hbm_base(s) + 0x140000 + 0x9000 * (i / 2) + 0x4000 * (i % 2) + 0x1c00,
			   ident(14, i, 60 + i));
}

static void sapphire(bool hbm)
{
	begin("listed");
	use_tables();
	fake_size(fake_path(&root, "/dev/mem"), 0x2000200000);
	for (int s = 0; s < SOCKETS; s++) {
		discovery_device(s);
		other_devices(s);
		fake_put(&root, ubox_bus[s], 0, 1, 0xd4, 0xff000400); /* base of the HBM */
		fake_put(&root, ubox_bus[s], 0x1e, 3, CAPID3, 0x07ffffff);
		fake_put(&root, ubox_bus[s], 0x1e, 3, 0x9c, 0xffffffff); /* 32 CHAs */
		fake_put(&root, ubox_bus[s], 0x1e, 3, 0xa0, 0);
		for (unsigned i = 0; i < 3; i++)
			fake_function(&root, ubox_bus[s], 5 + i, 1, 0x3246, 4096);
		list_socket(s);
		if (hbm)
			list_hbm(s);
		tells_chas(s ? 32 : 0, CHAS);
	}
}

static void test_hbm(void)
{
	struct unc_reg reg;

	sapphire(true);
	look();
	CU_ASSERT(!strstr(notes, "m2hbm") && !strstr(notes, "mchbm") && !strstr(notes, "m2m"));
	CHECK_NUMBER(count("m2m", true), 8);
	CHECK_NUMBER(count("m2m", false), 8);
	CHECK_NUMBER(count("m2hbm", true), 32);
	CHECK_NUMBER(count("mchbm", true), 64);
	CHECK_TEXT(unit("m2hbm", 0, 0)->location, "pci 0000:7e:0c.1");
	CHECK_TEXT(unit("m2hbm", 1, 15)->location, "pci 0000:fe:0f.4");
	CHECK_NUMBER(unit("m2hbm", 1, 15)->status_position, 115);
	reg = reg_of(unit("m2hbm", 0, 6), "CTL1");
	CHECK_NUMBER(reg.address, UNC_PCI(0, 0x7e, UNC_DEVFN(0x0d, 3), 0x470));
	/* 0x1e4 << 23 = 0xf2000000, 0x400 << 12 = 0x400000; 0x140000 + 0x9000 + 0x4000 + 0x1c00 */
	CHECK_TEXT(unit("mchbm", 0, 3)->location, "mmio 0xf254ec00");
	CHECK_NUMBER(reg_of(unit("mchbm", 0, 3), "CTL3").address, 0xf254ec4c);
	CHECK_NUMBER(reg_of(unit("mchbm", 0, 3), "FIXED_CTR").address, 0xf254ec38);
	look_away();

	/* Outside of its memory a record is not believed. */
	put_word(0, MCHBM_AT + 1, 1, 0xfee00000);
	look();
	CHECK_NUMBER(count("mchbm", true), 63);
	CHECK_TEXT(unit("mchbm", 0, 1)->reason,
		   "discovery lists it, but memory 0xfee00000 is no place of mchbm");
	look_away();

	/* A list without the HBM that CAPID3 tells of: not a part without HBM, whose bytes would be missing in a sum. */
	for (unsigned i = 0; i < 32; i++)
		put_record(0, MCHBM_AT + i, 0, 0, 0);
	look();
	CU_ASSERT(strstr(notes, "socket 0: discovery lists no mchbm; taken from their places\n") !=
		  NULL);
	CHECK_NUMBER(count("mchbm", true), 64);
	CHECK_NUMBER(count("mchbm", false), 64);
	CHECK_TEXT(unit("mchbm", 0, 3)->location, "mmio 0xf254ec00");
	look_away();
	end();
}

/* Without discovery tables: the places, where CAPID3 says that there is HBM. */
static void test_hbm_by_place(void)
{
	sapphire(true);
	hide(0, 0, 1);
	hide(0x80, 0, 1);
	fake_put(&root, ubox_bus[1], 0x1e, 3, CAPID3, 0);
	look();
	CHECK_NUMBER(count("m2hbm", true), 16);
	CHECK_NUMBER(count("mchbm", true), 32);
	CHECK_TEXT(unit("m2hbm", 0, 5)->location, "pci 0000:7e:0d.2");
	CHECK_TEXT(unit("mchbm", 0, 31)->location, "mmio 0xf25ccc00");
	CHECK_NUMBER(count("m2hbm", false), 16);
	CHECK_NUMBER(count("mchbm", false), 32);
	CHECK_NUMBER(count("mdf", true), 0); /* not those of Emerald Rapids' guide */
	CHECK_TEXT(unit("mdf", 0, 0)->reason,
		   "only the discovery tables, which cannot be used, show whether there is one");
	look_away();
	end();
}

/* A part without HBM may show functions 1 to 4, and has the base of the socket's memory. */
static void test_no_hbm(void)
{
	sapphire(false);
	fake_function(&root, ubox_bus[0], 0x0c, 1, 0x324a, 4096);
	look();
	CHECK_NUMBER(count("m2hbm", false), 0);
	CHECK_NUMBER(count("mchbm", false), 0);
	CU_ASSERT(!strstr(notes, "hbm"));
	CHECK_NUMBER(count("m2m", true), 8);
	CHECK_TEXT(unit("mdf", 1, 2)->location, "msr 0x2840 on cpu 32");
	CHECK_NUMBER(count("mdf", false), 2);
	look_away();
	end();
}

/* Three links, whatever firmware lists: by the records the second would be counted twice, and the third
 * be missing. */
static void test_links(void)
{
	static const char said[] =
		"socket 0: discovery of 3 upi is not used, because it is known to be wrong on some "
		"Sapphire Rapids; taken from their places\n";

	for (int broken = 0; broken < 3; broken++) {
		sapphire(false);
		if (broken) {
			put_word(0, UPI_AT + 2, 1, pci_address(0, broken == 1 ? 4 : 2, 1, 0x318));
			put_word(0, M3UPI_AT + 2, 1, pci_address(0, broken == 1 ? 8 : 6, 1, 0xa0));
		}
		look();
		CHECK_NUMBER(strstr(notes, said) != NULL, broken != 0);
		CHECK_NUMBER(count("upi", true), 6);
		CHECK_NUMBER(count("upi", false), 6);
		CHECK_NUMBER(count("m3upi", true), 6);
		CHECK_TEXT(unit("upi", 0, 1)->location, "pci 0000:7e:02.1");
		CHECK_TEXT(unit("upi", 0, 2)->location, "pci 0000:7e:03.1");
		CHECK_TEXT(unit("m3upi", 1, 2)->location, "pci 0000:fe:07.1");
		look_away();
		end();
	}
}

/* The table has slices that do not exist: the MSR tells of 28, the bits of 36; 0 tells nothing. */
static void test_slices(void)
{
	static const struct {
		uint64_t msr;
		uint32_t bits;
		unsigned n;
		bool differ;
	} rows[] = {
		{32, 0xffffffff, 32, false}, {28, 0xffffffff, 28, true}, {0, 0xffffffff, 32, false},
		{0, 0x0fffffff, 28, false},  {30, 0x00ffffff, 24, true}, {60, 0xffffffff, 32, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sapphire(false);
		tells_chas(0, rows[i].msr);
		fake_put(&root, ubox_bus[0], 0x1e, 3, 0x9c, rows[i].bits);
		look();
		CHECK_NUMBER(count("cha", true), rows[i].n + CHAS);
		CHECK_NUMBER(count("cha", false), rows[i].n + CHAS);
		CHECK_NUMBER(strstr(notes, " cha: ") != NULL, rows[i].n < CHAS);
		CHECK_NUMBER(strstr(notes, "sources disagree on the number of cha") != NULL,
			     rows[i].differ);
		look_away();
		end();
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"Xeon Max", test_hbm},
		{"Xeon Max without discovery tables", test_hbm_by_place},
		{"no HBM", test_no_hbm},
		{"three links", test_links},
		{"slices that do not exist", test_slices},
		{NULL, NULL},
	};

	return suite_run("discover_sapphire", tests);
}
