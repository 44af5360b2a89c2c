/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine with discovery tables, made of files. What test_discover_table.c and
 * test_discover_faults.c share.
 */
#ifndef UNC_TEST_DISCOVER_LISTED_H
#define UNC_TEST_DISCOVER_LISTED_H

#include "discover_machine.h"

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
	begin("listed");
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
