/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine with discovery tables, made of files. What test_discover_table.c and
 * test_discover_faults.c share.
 */
#ifndef UNC_TEST_DISCOVER_LISTED_H
#define UNC_TEST_DISCOVER_LISTED_H

#include "discover_machine.h"

static const char listed_units[] =
	"topology ubox=0x3250 nodeid=0xC0 map=0xD4 device=00.0\nbar mem id=0x3251 device=00.1 "
	"base=0xD0 "
	"base_bits=28:0 base_shift=23 \\\n    at=0xD8 step=4 bits=10:0 shift=12 count=4 "
	"size=0x40000\ntype cha title=\"CHA\" public=UNC_CHA_ \"slice\"\n  access msr\n  discovery "
	"0\n  where base=0x2000 step=0x10 count=64\n  present id=0x325b "
	"device=1e.3 offsets=0x9C,0xA0\n  counters 4 "
	"width=48\n  reg UNIT_CTL at=0x0 width=64 role=unit_ctl mask=0x301 wo\n  reg CTL[4] at=0x2 "
	"step=1 width=64 role=ctl\n  reg CTR[4] at=0x8 step=1 width=64 role=ctr\n" CONTROL
	"type imc title=\"iMC\" public=UNC_M_ \"channel\"\n  access mmio\n  discovery 6\n  where "
	"bar=mem base=0x22800 step=0x8000 per=2 count=8\n  counters 4 width=48\n  reg UNIT_CTL "
	"at=0x0 width=32 role=unit_ctl mask=0x301 wo\n  reg CTR[4] at=0x8 step=8 width=64 "
	"role=ctr\n  reg CTL[4] at=0x40 step=4 width=32 role=ctl\n" CONTROL
	"type mc title=\"MC\" public=UNC_M_ \"controller\"\n  access mmio\n  where bar=mem base=0 "
	"count=4\n  counters 0 width=48\n  reg DCLK at=0x22B0 width=64 role=free ro\n  counter "
	"DCLK ctr=DCLK width=48\ntype m2m title=\"M2M\" public=UNC_M2M_ \"mesh to memory\"\n  "
	"access pci\n  discovery 7\n  where device=0c.0,0d.0,0e.0,0f.0 id=0x324a\n  counters 4 "
	"width=48\n  reg UNIT_CTL at=0x438 width=64 role=unit_ctl mask=0x301 wo\n  reg CTR[4] "
	"at=0x440 step=8 width=64 role=ctr\n  reg CTL[4] at=0x468 step=8 width=64 "
	"role=ctl\n" CONTROL
	"type upi title=\"UPI\" public=UNC_UPI_ \"link\"\n  access pci\n  discovery 8\n  where "
	"device=01.1,02.1,03.1,04.1 id=0x3241\n  counters 4 width=48\n  reg UNIT_CTL at=0x318 "
	"width=64 role=unit_ctl mask=0x301 wo\n  reg CTR[4] at=0x320 step=8 width=64 role=ctr\n  "
	"reg CTL[4] at=0x350 step=8 width=64 role=ctl\n" CONTROL
	"type cxlcm title=\"CXL CM\" public=UNC_CXLCM_ \"CXL\"\n  access mmio\n  discovery 12\n  "
	"counters 8 width=48\n  reg UNIT_CTL at=0x0 width=64 role=unit_ctl mask=0x301 wo\n  reg "
	"CTR[8] at=0x8 step=8 width=64 role=ctr\n  reg CTL[8] at=0x48 step=8 width=64 "
	"role=ctl\n" CONTROL;

/* First words of records: access 63:62, status 39:32, counters 31:24, width 23:16, controls
 * 15:8, number 7:0. */
#define CHA_WORD 0x0000000108300204
#define IMC_WORD 0x4000005c08304004
#define M2M_WORD 0x8000007008303004
#define UPI_WORD 0x8000007408303804
#define CXL_WORD 0x4000000008304808

enum { STRIDE = 4, RECORDS = 40 };

static const unsigned ubox_bus[SOCKETS] = {0x7e, 0xfe};
static const uint64_t table_at[SOCKETS] = {0xfb000000, 0x2000100000};

/* ------------------------------------------------------------------------- the machine */

static inline uint64_t mem_base(int socket, unsigned mc)
{
	return ((uint64_t)(socket ? 0x1e8 : 0x1e4) << 23) + ((uint64_t)mc * 0x40 << 12);
}

/* Word w of record r (0: global) of a socket's table. */
static inline void put_word(int socket, unsigned record, unsigned word, uint64_t value)
{
	fake_bytes(fake_path(&root, "/dev/mem"), table_at[socket] + (record * STRIDE + word) * 8,
		   &value, sizeof(value));
}

static inline void put_record(int socket, unsigned record, uint64_t a, uint64_t b, uint64_t c)
{
	put_word(socket, record, 0, a);
	put_word(socket, record, 1, b);
	put_word(socket, record, 2, c);
}

static inline uint64_t ident(unsigned type, unsigned id, unsigned position)
{
	return type | (uint64_t)id << 16 | (uint64_t)position << 32;
}

static inline uint64_t pci_address(int socket, unsigned device, unsigned function, unsigned offset)
{
	return 0x80000000 | UNC_PCI(0, ubox_bus[socket], UNC_DEVFN(device, function), offset);
}

static inline void put_global(int socket, unsigned stride, unsigned max)
{
	put_record(socket, 0, 1 | stride << 8 | (uint64_t)max << 16, 0x2ff0, 2 | 64 << 8);
}

/* The device that holds the table: bus 00 or 80; capabilities 100 (AER), 150 (CXL's DVSEC 1),
 * 180 (Intel's DVSEC 2), 1c0 (Intel's DVSEC 1). */
static inline void discovery_device(int socket)
{
	unsigned on_bus = socket ? 0x80 : 0, bir = socket ? 2 : 0, at = 0x10 + 4 * bir;

	fake_function(&root, on_bus, 0, 1, 0x09a7, 4096);
	fake_put(&root, on_bus, 0, 1, 0x100, 0x15020001);
	fake_put(&root, on_bus, 0, 1, 0x150, 0x18010023);
	fake_put(&root, on_bus, 0, 1, 0x154, 0x03c01e98);
	fake_put(&root, on_bus, 0, 1, 0x158, 1);
	fake_put(&root, on_bus, 0, 1, 0x180, 0x1c010023);
	fake_put(&root, on_bus, 0, 1, 0x184, 0x01008086);
	fake_put(&root, on_bus, 0, 1, 0x188, 2);
	fake_put(&root, on_bus, 0, 1, 0x1c0, 0x00010023);
	fake_put(&root, on_bus, 0, 1, 0x1c4, 0x01008086);
	fake_put(&root, on_bus, 0, 1, 0x1c8, 1);
	fake_put(&root, on_bus, 0, 1, 0x1cc, 0xabcd0000 | bir);
	/* Socket 0: 32 bits. Socket 1: 64 bits, prefetchable. */
	fake_put(&root, on_bus, 0, 1, at, (uint32_t)table_at[socket] | (socket ? 0xcu : 0));
	if (socket)
		fake_put(&root, on_bus, 0, 1, at + 4, (uint32_t)(table_at[socket] >> 32));
}

static inline void other_devices(int socket)
{
	unsigned on_bus = ubox_bus[socket];

	fake_function(&root, on_bus, 0, 0, 0x3250, 4096);
	fake_put(&root, on_bus, 0, 0, 0xc0, (uint32_t)socket);
	fake_put(&root, on_bus, 0, 0, 0xd4, 010);
	fake_function(&root, on_bus, 0, 1, 0x3251, 4096);
	fake_put(&root, on_bus, 0, 1, 0xd0, socket ? 0x1e8 : 0x1e4);
	for (unsigned mc = 0; mc < 4; mc++)
		fake_put(&root, on_bus, 0, 1, 0xd8 + 4 * mc, 0xff000000 | (mc * 0x40));
	for (unsigned i = 0; i < 4; i++)
		fake_function(&root, on_bus, 0x0c + i, 0, 0x324a, 4096);
	for (unsigned i = 0; i < 3; i++)
		fake_function(&root, on_bus, 1 + i, 1, 0x3241, 4096);
	fake_function(&root, on_bus, 0x1e, 3, 0x325b, 4096);
	fake_put(&root, on_bus, 0x1e, 3, 0x9c, 0x23);
	fake_put(&root, on_bus, 0x1e, 3, 0xa0, 0);
}

/* CHA 0 and 1 at records 1 and 2, CHA 5 at 4, as many as 8086:325b tells; iMC from 10; M2M from 20; UPI from 30. */
static inline void listed_machine(void)
{
	begin("listed", listed_units);
	fake_size(fake_path(&root, "/dev/mem"), 0x2000200000);
	for (int s = 0; s < SOCKETS; s++) {
		discovery_device(s);
		other_devices(s);
		put_global(s, STRIDE, RECORDS);
		put_record(s, 1, CHA_WORD, 0x2000, ident(0, 0, 0)); /* word 2 is 0 */
		put_record(s, 2, CHA_WORD, 0x2010, ident(0, 1, 3));
		put_record(s, 3, UINT64_MAX, UINT64_MAX, UINT64_MAX);
		put_record(s, 4, CHA_WORD, 0x2050, ident(0, 5, 4));
		for (unsigned i = 0; i < 8; i++)
			put_record(s, 10 + i, IMC_WORD,
				   mem_base(s, i / 2) + 0x22800 + 0x8000 * (i % 2),
				   ident(6, i, 10 + i));
		for (unsigned i = 0; i < 4; i++)
			put_record(s, 20 + i, M2M_WORD, pci_address(s, 0x0c + i, 0, 0x438),
				   ident(7, i, 20 + i));
		for (unsigned i = 0; i < 3; i++)
			put_record(s, 30 + i, UPI_WORD, pci_address(s, 1 + i, 1, 0x318),
				   ident(8, i, 30 + i));
		put_record(s, 40, CXL_WORD, 0x1f00000000 + (uint64_t)s * 0x10000, ident(12, 0, 40));
	}
}

#endif
