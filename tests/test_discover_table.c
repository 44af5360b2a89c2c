/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the PMON discovery tables. Registers and addresses: Intel 817509-001 (Emerald Rapids),
 * tables 1-9 and 1-12; tables in memory: section 1.9, tables 1-13 and 1-14; unit type numbers and
 * the PCI address of a record: Linux uncore_discovery.h. The first words of the records follow
 * from table 1-14 and the units' register offsets.
 */
#include "discover_listed.h"

static void test_listed(void)
{
	struct unc_reg reg;

	listed_machine();
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("cha", true), 6);
	CHECK_NUMBER(count("imc", true), 16);
	CHECK_NUMBER(count("mc", true), 8);
	CHECK_NUMBER(count("m2m", true), 8);
	CHECK_NUMBER(count("upi", true), 6);
	CHECK_NUMBER(count("cxlcm", true), 2);
	CHECK_NUMBER(found.n, 6 + 16 + 8 + 8 + 6 + 2);
	CHECK_TEXT(unit("cha", 0, 5)->location, "msr 0x2050 on cpu 0");
	CHECK_TEXT(unit("cha", 1, 1)->location, "msr 0x2010 on cpu 32");
	CHECK_NUMBER(unit("cha", 1, 1)->status_position, 3);
	CHECK_NUMBER(unit("cha", 1, 0)->status_position, 0);
	/* 0x1e4 << 23 = 0xf2000000, 0x40 << 12 = 0x40000 */
	CHECK_TEXT(unit("imc", 0, 3)->location, "mmio 0xf206a800");
	CHECK_TEXT(unit("mc", 0, 1)->location, "mmio 0xf2040000");
	CHECK_TEXT(unit("m2m", 1, 3)->location, "pci 0000:fe:0f.0");
	CHECK_TEXT(unit("upi", 0, 2)->location, "pci 0000:7e:03.1");
	CHECK_TEXT(unit("cxlcm", 1, 0)->location, "mmio 0x1f00010000");
	reg = reg_of(unit("m2m", 1, 3), "CTL1");
	CHECK_NUMBER(reg.address, UNC_PCI(0, 0xfe, UNC_DEVFN(0x0f, 0), 0x470));
	CHECK_NUMBER(reg_of(unit("imc", 0, 3), "CTL3").address, 0xf206a84c);
	CHECK_NUMBER(reg_of(unit("cha", 1, 5), "CTR0").address, 0x2058);
	CHECK_NUMBER(reg_of(unit("cha", 1, 5), "CTR0").target, 32);
	CHECK_NUMBER(reg_of(unit("mc", 0, 0), "DCLK").address, 0xf20022b0);
	forget();
	end();
}

/* The addresses of a socket's memory controllers: a base and four elements, however many ask. */
static const struct unc_bus_methods *counted;
static unsigned n_read;

static int count_config(struct unc_bus *b, const struct unc_pci_function *f, unsigned offset,
			uint32_t *value, struct unc_error *e)
{
	n_read += f->device == 0x3251 && f->bus == ubox_bus[0];
	return counted->config(b, f, offset, value, e);
}

static void test_read_once(void)
{
	struct unc_bus_methods methods;

	listed_machine();
	CHECK_NUMBER(unc_bus_open_system(fs, &bus, &err), 0);
	counted = bus->methods;
	methods = *counted;
	methods.config = count_config;
	bus->methods = &methods;
	n_read = 0;
	CHECK_NUMBER(unc_discover(table, &topo, bus, take_note, NULL, &found, &err), 0);
	CHECK_NUMBER(count("imc", true), 16);
	CHECK_NUMBER(n_read, 1 + 4);
	forget();
	end();
}

/* Places by the tables alone, for listings. */
static void test_nominal(void)
{
	struct unc_instance inst;

	begin("listed");
	unc_instance_nominal(table, type_number("imc"), 3, &inst);
	CHECK_TEXT(inst.location, "mmio mem1+0x2a800");
	CHECK_NUMBER(reg_of(&inst, "CTL1").address, 0x2a844);
	unc_instance_nominal(table, type_number("cxlcm"), 0, &inst);
	CU_ASSERT(!inst.available);
	CHECK_TEXT(inst.reason, "only the machine's discovery table has its place");
	end();
}

/* A change to the table of socket 0: a word of it, a configuration dword of its device, or more
 * by a function. */
struct change {
	void (*run)(void);
	unsigned record, word, config;
	uint64_t value;
};

static void make(const struct change *change)
{
	if (change->run)
		change->run();
	else if (change->config)
		fake_put(&root, 0, 0, 1, change->config, (uint32_t)change->value);
	else
		put_word(0, change->record, change->word, change->value);
}

#define WORD(r, w, v)                                                                              \
	{                                                                                          \
		.record = (r), .word = (w), .value = (v)                                           \
	}
#define CONFIG(at, v)                                                                              \
	{                                                                                          \
		.config = (at), .value = (v)                                                       \
	}
#define GLOBAL(stride, max) WORD(0, 0, 1 | (stride) << 8 | (max) << 16)

/* Changes that make the table untrustworthy as a whole. */
static void break_zero(void)
{
	put_record(0, 0, 0, 0, 0);
}
static void break_ones(void)
{
	put_record(0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX);
}
static void break_types(void)
{
	for (unsigned i = 1; i <= RECORDS; i++)
		put_record(0, i, CHA_WORD, 0x2000, ident(1000, i, 0));
}
/* 19 records are of known units; five of them go, and 17 unknown ones come. */
static void break_most(void)
{
	for (unsigned i = 1; i < 5; i++)
		put_record(0, i, 0, 0, 0);
	for (unsigned i = 1; i < 10; i++)
		put_record(0, i, CHA_WORD, 0x2000, ident(1000, i, 0));
	for (unsigned i = 22; i < 30; i++)
		put_record(0, i, CHA_WORD, 0x2000, ident(1000, i, 0));
}
static void break_last_bar(void)
{
	fake_put(&root, 0, 0, 1, 0x1cc, 5);
	fake_put(&root, 0, 0, 1, 0x24, 0xfb000004);
}
static void break_memory(void)
{
	fake_put(&root, 0, 0, 1, 0x10, 0x10);
	put_word(0, 0, 0, 0);
	CHECK_NUMBER(truncate(fake_path(&root, "/dev/mem"), 0x20), 0);
	fake_put(&root, 0x80, 0, 1, 0x1c8, 3); /* the other table is gone as well */
}
static void break_by_end(void)
{
	uint64_t address = 0x2000200000 - (RECORDS / 2) * STRIDE * 8;

	/* The table of socket 0 moves to the end of what can be read. */
	for (unsigned i = 0; i < RECORDS / 2 * STRIDE; i++) {
		uint64_t word = fake_get(fake_path(&root, "/dev/mem"), table_at[0] + 8 * i, 8);

		fake_bytes(fake_path(&root, "/dev/mem"), address + 8 * i, &word, 8);
	}
	fake_put(&root, 0, 0, 1, 0x10, (uint32_t)address | 4);
	fake_put(&root, 0, 0, 1, 0x14, (uint32_t)(address >> 32));
}

static void test_broken_tables(void)
{
	static const struct {
		struct change change;
		const char *text;
	} rows[] = {
		{GLOBAL(0, RECORDS), "broken: records 0 words apart, where one has 3"},
		{GLOBAL(2, RECORDS), "broken: records 2 words apart, where one has 3"},
		{GLOBAL(STRIDE, 0), "broken: it has no unit records"},
		{GLOBAL(255, 1023),
		 "truncated: 1023 records of 2040 bytes do not fit into 0x80000 bytes"},
		{{.run = break_zero}, "there is no table in its BAR"},
		{{.run = break_ones}, "there is no table in its BAR"},
		{WORD(0, 0, 3ull << 62 | 1 | STRIDE << 8 | RECORDS << 16),
		 "broken: access type 3 of global control"},
		{WORD(0, 1, 0x123456789abcdef0),
		 "broken: global control 0x123456789abcdef0 is no MSR"},
		{{.run = break_most},
		 "broken: 14 of its 40 records are of known units, 17 are not"},
		{{.run = break_types},
		 "broken: 0 of its 40 records are of known units, 40 are not"},
		{CONFIG(0x1cc, 7), "it names BAR 7, which does not exist"},
		{CONFIG(0x10, 0), "BAR 0 has no address"},
		{CONFIG(0x10, 0xc001), "BAR 0 (0xc001) is no memory"},
		{{.run = break_last_bar}, "BAR 5 cannot have 64 bits"},
		{{.run = break_memory}, "/dev/mem: 0x10 to 0x27 is not in this dump"},
		{{.run = break_by_end},
		 "truncated: /dev/mem: 0x20001ffd80 to 0x200020029f is not in this dump"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[600];

		listed_machine();
		make(&rows[i].change);
		discover();
		snprintf(text, sizeof(text),
			 "discovery table of pci 0000:00:00.1: %s\nsocket 0: no usable discovery "
			 "table; the places of the guide are used\n",
			 rows[i].text);
		/* Only this one also takes the table of socket 1 away. */
		if (rows[i].change.run == break_memory)
			snprintf(
				text + strlen(text), sizeof(text) - strlen(text),
				"socket 1: no discovery table; the places of the guide are used\n");
		CHECK_TEXT(notes, text);
		/* By the guide: 3 CHAs by the bits of 8086:325b, all channels by the BARs. */
		CHECK_TEXT(unit("cha", 0, 2)->location, "msr 0x2020 on cpu 0");
		CHECK_TEXT(unit("cha", 0, 3)->location, "none");
		CU_ASSERT(unit("cha", 0, 2)->available);
		CHECK_TEXT(unit("imc", 0, 3)->location, "mmio 0xf206a800");
		CU_ASSERT(unit("m2m", 0, 0)->available);
		CU_ASSERT(!unit("upi", 0, 3)->available);
		CHECK_NUMBER(unit("upi", 0, 2)->status_position, -1);
		CHECK_TEXT(unit("cxlcm", 0, 0)->reason,
			   "only the discovery tables, which cannot be "
			   "used, show whether there is one");
		if (rows[i].change.run != break_memory) {
			CHECK_TEXT(unit("cha", 1, 5)->location, "msr 0x2050 on cpu 32");
			CHECK_TEXT(unit("cha", 1, 6)->location, "none");
		}
		forget();
		end();
	}
}

/* Changes to single records of socket 0: what becomes of the units. */

/* The PCI address of UPI 1, record 31, on bus 7e. */
#define UPI_AT(device, function, offset)                                                           \
	WORD(31, 1, 0x80000000 | UNC_PCI(0, 0x7e, UNC_DEVFN(device, function), offset))

static void one_hole(void)
{
	put_record(0, 4, 0, 0, 0);
}
static void unknown_type(void)
{
	put_word(0, 4, 2, ident(99, 0, 0));
	put_record(0, 5, CHA_WORD, 0x2060, ident(99, 1, 0));
}
static void same_twice(void)
{
	put_record(0, 5, CHA_WORD, 0x2050, ident(0, 5, 4));
}
/* Of four that 8086:325b tells. */
static void same_place(void)
{
	fake_put(&root, 0x7e, 0x1e, 3, 0x9c, 0x27);
	put_record(0, 5, CHA_WORD, 0x2050, ident(0, 6, 4));
}
static void no_upi(void)
{
	for (unsigned i = 30; i < 33; i++)
		put_record(0, i, 0, 0, 0);
}
static void no_cha(void)
{
	for (unsigned i = 1; i < 5; i++)
		put_record(0, i, 0, 0, 0);
}

#define LESS "socket 0: discovery lists 2 cha, by PCI device 8086:325b there are 3\n"
#define BY_ID                                                                                      \
	"\nsocket 0: 1 of 3 upi are not listed by discovery where they are: taken from their "     \
	"device ids\n"

static void test_broken_records(void)
{
	static const struct {
		struct change change;
		const char *notes;
		const char *type; /* and how many are available on socket 0 */
		unsigned available;
	} rows[] = {
		{{.run = one_hole}, LESS, "cha", 2},
		{WORD(4, 1, 0), LESS, "cha", 2},
		{WORD(4, 1, UINT64_MAX), LESS, "cha", 2},
		{{.run = unknown_type},
		 "socket 0: discovery lists 2 units of types that are not known, the first of type "
		 "99\n" LESS,
		 "cha",
		 2},
		{WORD(4, 1, 0x1a0),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: MSR 0x1a0 is no place of "
		 "cha)\n",
		 "cha", 2},
		/* shifted by three; inside another one's registers */
		{WORD(4, 1, 0x2053),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: MSR 0x2053 is no place of "
		 "cha)\n",
		 "cha", 2},
		{WORD(4, 0, CHA_WORD | 2ull << 62),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: access type 2, but cha "
		 "registers are msr)\n",
		 "cha", 2},
		{WORD(4, 0, CHA_WORD | 3ull << 62),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: access type 3, but cha "
		 "registers are msr)\n",
		 "cha", 2},
		{{.run = same_twice}, "", "cha", 3},
		{{.run = same_place},
		 "socket 0: discovery of 1 of 4 cha is broken (cha6: it is listed at 0x2050, and "
		 "cha5 at "
		 "0x2050)\n",
		 "cha",
		 3},
		{WORD(4, 0, CHA_WORD - 2),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: discovery says 2 counters, "
		 "the guide "
		 "4)\n",
		 "cha", 2},
		{WORD(4, 0, CHA_WORD - 0x100000),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: discovery says counters of 32 "
		 "bits, "
		 "the guide 48)\n",
		 "cha", 2},
		{WORD(1, 0, CHA_WORD + 0x100004),
		 "socket 0: discovery of 1 of 3 cha is broken (cha0: its record, of 8 counters of "
		 "64 bits "
		 "at 0x2000, is not like those of other cha)\n",
		 "cha", 2},
		{WORD(4, 0, CHA_WORD + 0x100),
		 "socket 0: discovery of 1 of 3 cha is broken (cha5: discovery says controls at "
		 "+0x3 and "
		 "counters at +0x8, the guide +0x2 and +0x8)\n",
		 "cha", 2},
		{WORD(10, 1, 0x100000),
		 "socket 0: discovery of 1 of 8 imc is broken (imc0: memory 0x100000 is no place "
		 "of imc)\n",
		 "imc", 7},
		/* within the memory of its controller */
		{WORD(10, 1, 0xf2022880),
		 "socket 0: discovery of 1 of 8 imc is broken (imc0: memory 0xf2022880 is no place "
		 "of imc)\n",
		 "imc", 7},
		{WORD(10, 1, 0xf2022804),
		 "socket 0: discovery of 1 of 8 imc is broken (imc0: 0xf2022804 is no address of a "
		 "unit)\n",
		 "imc", 7},
		/* Linux, uncore_discovery.h: domain 30:28, bus 27:20; it does not look at bit 31 */
		{WORD(31, 1, UNC_PCI(0, 0x7e, UNC_DEVFN(2, 1), 0x318)), "", "upi", 3},
		{UPI_AT(4, 1, 0x318),
		 "socket 0: discovery of 1 of 3 upi is broken (upi1: no 8086:3241 of this socket "
		 "is at 0000:7e:04.1)" BY_ID,
		 "upi", 3},
		{UPI_AT(0x0c, 0, 0x318),
		 "socket 0: discovery of 1 of 3 upi is broken (upi1: no 8086:3241 of this socket "
		 "is at 0000:7e:0c.0)" BY_ID,
		 "upi", 3},
		{WORD(31, 1, 0x80000000 | UNC_PCI(0, 0xfe, UNC_DEVFN(2, 1), 0x318)),
		 "socket 0: discovery of 1 of 3 upi is broken (upi1: no 8086:3241 of this socket "
		 "is at 0000:fe:02.1)" BY_ID,
		 "upi", 3},
		{UPI_AT(2, 1, 0xa0),
		 "socket 0: discovery of 1 of 3 upi is broken (upi1: unit control at 0xa0, not at "
		 "0x318)" BY_ID,
		 "upi", 3},
		{WORD(31, 2, 8 | 9 << 16),
		 "socket 0: discovery of 1 of 3 upi is broken (upi9: its number is beyond the 4 "
		 "there are)" BY_ID,
		 "upi", 3},
		{{.run = no_upi},
		 "socket 0: discovery lists no upi; taken from their device ids\n",
		 "upi",
		 3},
		{{.run = no_cha},
		 "socket 0: discovery lists no cha\nsocket 0: discovery lists 0 cha, by PCI device "
		 "8086:325b there are 3\n",
		 "cha",
		 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned whole;

		listed_machine();
		discover();
		whole = count(rows[i].type, true) / 2;
		forget();
		make(&rows[i].change);
		discover();
		CHECK_TEXT(notes, rows[i].notes);
		CHECK_NUMBER(count(rows[i].type, true), whole + rows[i].available);
		forget();
		end();
	}
}

/* A unit that contradicts the guide is listed, but not used. */
static void test_contradictions(void)
{
	static const struct {
		struct change change;
		const char *reason;
	} rows[] = {
		{WORD(4, 1, 0x1a0), "discovery lists it, but MSR 0x1a0 is no place of cha"},
		{WORD(4, 0, CHA_WORD - 2),
		 "discovery lists it, but discovery says 2 counters, the guide 4"},
		{WORD(4, 0, CHA_WORD - 0x100000),
		 "discovery lists it, but discovery says counters of 32 bits, the guide 48"},
		{WORD(4, 0, CHA_WORD + 0x100),
		 "discovery lists it, but discovery says controls at +0x3 and counters at +0x8, "
		 "the guide +0x2 and +0x8"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		listed_machine();
		make(&rows[i].change);
		discover();
		CU_ASSERT(!unit("cha", 0, 5)->available);
		CHECK_TEXT(unit("cha", 0, 5)->reason, rows[i].reason);
		reg_of(unit("cha", 0, 5), "CTL0");
		CHECK_NUMBER(err.code, UNC_ERR_UNAVAILABLE);
		CU_ASSERT(unit("cha", 0, 1)->available);
		forget();
		end();
	}
}

/* A list of capabilities that turns round ends, and the other socket's table is still read. */
static void test_endless_capabilities(void)
{
	listed_machine();
	fake_put(&root, 0, 0, 1, 0x180, 0x10010023); /* back to 100 */
	discover();
	CHECK_TEXT(notes, "pci 0000:00:00.1: the list of capabilities has a loop\n"
			  "socket 0: no discovery table; the places of the guide are used\n");
	CHECK_NUMBER(unit("cha", 1, 1)->status_position, 3);
	forget();

	/* Behind a capability that has been used, too. */
	fake_put(&root, 0, 0, 1, 0x180, 0x1c010023);
	fake_put(&root, 0, 0, 1, 0x1c0, 0x10010023);
	discover();
	CHECK_TEXT(notes, "pci 0000:00:00.1: the list of capabilities has a loop\n");
	CHECK_NUMBER(unit("cha", 0, 1)->status_position, 3);
	forget();
	end();
}

/* 240 capabilities that name one table, and a table that is named for another socket: each is read once, and
 * a fault is said once. */
static void test_one_table(void)
{
	listed_machine();
	for (unsigned at = 0x100; at < 0x1000; at += 0x10) {
		fake_put(&root, 0, 0, 1, at, 0x10023 | (at + 0x10 < 0x1000 ? at + 0x10 : 0) << 20);
		fake_put(&root, 0, 0, 1, at + 4, 0x01008086);
		fake_put(&root, 0, 0, 1, at + 8, 1);
		fake_put(&root, 0, 0, 1, at + 12, 0);
	}
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("cha", true), 6);
	forget();

	for (unsigned at = 0x100; at < 0x1000; at += 0x10)
		fake_put(&root, 0, 0, 1, at + 12, 7);
	discover();
	CHECK_TEXT(notes, "discovery table of pci 0000:00:00.1: it names BAR 7, which does not "
			  "exist\nsocket 0: no usable discovery table; the places of the guide are "
			  "used\n");
	forget();
	end();

	listed_machine();
	fake_put(&root, 0x80, 0, 1, 0x18, (uint32_t)table_at[0]);
	discover();
	CHECK_TEXT(notes,
		   "discovery table of pci 0000:80:00.1: it is the table of socket 0\nsocket 1: no "
		   "usable discovery table; the places of the guide are used\n");
	forget();
	end();
}

/* Channels that are not listed and have an address, and a register that says 0 of it. */
static void test_channels(void)
{
	listed_machine();
	for (unsigned i = 12; i < 18; i++)
		put_record(0, i, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	fake_put(&root, 0xfe, 0, 1, 0xd0, 0);
	discover();
	CHECK_TEXT(notes,
		   "socket 0: 6 of 8 imc are not listed by discovery where they are: taken "
		   "from their places\nsocket 1: discovery of 8 of 8 imc is broken (imc0: memory "
		   "0xf4022800 cannot be checked: PCI function 00.1 (8086:3251) holds no address "
		   "at 0xd0)\n");
	CHECK_NUMBER(count("imc", true), 8);
	CHECK_NUMBER(count("imc", false), 16);
	CHECK_TEXT(unit("imc", 0, 7)->location, "mmio 0xf20ea800");
	forget();
	end();
}

/* Without a table, without the device that counts: nothing is guessed. */
static void test_uncounted(void)
{
	listed_machine();
	for (int s = 0; s < SOCKETS; s++)
		hide(s ? 0x80 : 0, 0, 1);
	hide(0x7e, 0x1e, 3);
	fake_put(&root, 0xfe, 0, 1, 0xd0, 0);
	discover();
	CHECK_TEXT(notes, "socket 0: no discovery table; the places of the guide are used\n"
			  "socket 1: no discovery table; the places of the guide are used\n");
	CHECK_NUMBER(count("cha", false), 2 * 3);
	CHECK_NUMBER(count("cha", true), 3);
	CU_ASSERT(!unit("cha", 0, 0)->available);
	CHECK_TEXT(unit("cha", 0, 0)->reason,
		   "their number is not known: PCI device 8086:325b is not visible");
	CU_ASSERT(unit("cha", 1, 2)->available);
	CU_ASSERT(unit("imc", 0, 0)->available);
	CHECK_TEXT(unit("imc", 1, 0)->reason,
		   "PCI function 00.1 (8086:3251) holds no address at 0xd0");
	forget();
	end();
}

/* A table whose socket nobody knows is left alone. */
static void test_unknown_socket(void)
{
	listed_machine();
	for (int s = 0; s < SOCKETS; s++)
		remove(fake_config(&root, ubox_bus[s], 0, 0));
	discover();
	CU_ASSERT_PTR_NOT_NULL(strstr(notes, "discovery table of pci 0000:00:00.1: its socket is "
					     "not known\n"));
	CHECK_NUMBER(count("imc", true), 0);
	forget();

	/* Where the kernel knows, all is well. */
	locality(0x00, 0, 1, "0\n", "0-31\n");
	locality(0x80, 0, 1, "1\n", "32-63\n");
	discover();
	CHECK_NUMBER(count("cha", true), 6);
	forget();
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"nominal places", test_nominal},
		{"discovery tables", test_listed},
		{"addresses are read once", test_read_once},
		{"broken tables", test_broken_tables},
		{"broken records", test_broken_records},
		{"contradictions", test_contradictions},
		{"endless capabilities", test_endless_capabilities},
		{"one table", test_one_table},
		{"channels that are not listed", test_channels},
		{"uncounted units", test_uncounted},
		{"unknown socket", test_unknown_socket},
		{NULL, NULL},
	};

	return suite_run("discover_table", tests);
}
