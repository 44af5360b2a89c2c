/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine for faults of discovery: test_discover_faults.c, test_discover_slices.c. Device ids:
 * PCI ids; registers of the UBox: Linux uncore_snbep.c; the bus of 1e.3: boot logs of Ice Lake-SP.
 */
#ifndef UNC_TEST_DISCOVER_FAULTY_H
#define UNC_TEST_DISCOVER_FAULTY_H

#include "discover_machine.h"
#include "fault_io.h"

static const char units[] =
	"topology ubox=0x3ce0 nodeid=0x40 map=0x54 device=0b.0 buses=2\n"
	"bar mem id=0x3251 device=00.1 base=0xD0 base_bits=28:0 base_shift=23 at=0xD8 step=4 "
	"bits=10:0 shift=12 count=4 size=0x40000\n"
	"type cbo title=\"CBo\" public=UNC_C_ \"slice\"\n"
	"  access msr\n  where base=0xD00 step=0x20 count=15\n"
	"  present id=0x0ee0-0x0eee device=0c.0\n"
	"  counters 2 width=44\n"
	"  reg BOX_CTL at=0x4 width=32 role=unit_ctl mask=0x10103 wo\n"
	"  reg CTL[2] at=0x10 step=1 width=32 role=ctl\n"
	"  reg CTR[2] at=0x16 step=1 width=64 role=ctr\n" CONTROL
	"type imc title=\"iMC\" public=UNC_M_ \"channel\"\n"
	"  access pci\n"
	"  where device=10.0,10.1 id=0x3cb0,0x3cb1\n"
	"  where device=11.0 id=0x3cb8 optional\n"
	"  counters 1 width=48\n"
	"  reg CTR0 at=0xA0 width=64 role=ctr\n"
	"  reg CTL0 at=0xD8 width=32 role=ctl\n" CONTROL
	"type cha title=\"CHA\" public=UNC_CHA_ \"slice\"\n"
	"  access msr\n  where base=0x2000 step=0x10 count=8\n"
	"  present id=0x325b device=1e.3 offsets=0x9C,0xA0\n"
	"  counters 1 width=48\n"
	"  reg CTL0 at=0x2 width=64 role=ctl\n"
	"  reg CTR0 at=0x8 width=64 role=ctr\n" CONTROL
	"type mc title=\"mc\" public=UNC_F_ \"memory controller\"\n"
	"  access mmio\n"
	"  where bar=mem base=0x2290 count=4\n"
	"  counters 0 width=48\n"
	"  reg READ at=0x0 width=64 role=free ro\n"
	"  counter READ ctr=READ width=48\n";

enum { GROUPS = 076543210 }; /* node i is package i */

static inline void ubox(unsigned on_bus, unsigned node)
{
	fake_function(&root, on_bus, 0x0b, 0, 0x3ce0, 256);
	fake_put(&root, on_bus, 0x0b, 0, 0x40, node);
	fake_put(&root, on_bus, 0x0b, 0, 0x54, GROUPS);
}

/* Two sockets, on buses 7e and fe; 1e.3 on the bus behind. */
static inline void machine(void)
{
	begin("fixed", units);
	for (unsigned s = 0; s < SOCKETS; s++) {
		unsigned on_bus = s ? 0xfe : 0x7e;

		ubox(on_bus, s);
		fake_function(&root, on_bus, 0x10, 0, 0x3cb0, 256);
		fake_function(&root, on_bus, 0x10, 1, 0x3cb1, 256);
		fake_function(&root, on_bus + 1, 0x1e, 3, 0x325b, 256);
		fake_put(&root, on_bus + 1, 0x1e, 3, 0x9c, s ? 0x0f : 0xff);
		fake_function(&root, on_bus, 0, 1, 0x3251, 256);
		fake_put(&root, on_bus, 0, 1, 0xd0, 0x1e4 + 4 * s);
		for (unsigned i = 0; i < 4; i++)
			fake_put(&root, on_bus, 0, 1, 0xd8 + 4 * i, i * 0x40);
		for (unsigned i = 0; i < 6; i++)
			fake_function(&root, on_bus, 0x0c + i % 2, i / 2, 0x0ee0 + i, 256);
	}
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-63\n");
}

static inline void with_fault(enum fault_call call, const char *path, off_t at, int error)
{
	fault = (struct fault){call, path, at, error, FAULT_FOR_EVER, 0};
	discover();
	fault = (struct fault){0};
}

static inline void leave(void)
{
	forget();
	end();
}

#endif
