/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine for faults of discovery: test_discover_faults.c, test_discover_slices.c. Device ids:
 * PCI ids; registers of the UBox: Linux uncore_snbep.c; the bus of 1e.3: boot logs of Ice Lake-SP.
 */
#ifndef UNC_TEST_DISCOVER_FAULTY_H
#define UNC_TEST_DISCOVER_FAULTY_H

#include "discover_machine.h"
#include "fault_io.h"

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
	begin("faulty");
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

#define with_faults(...) (faults(__VA_ARGS__), discover(), no_faults())

static inline void leave(void)
{
	forget();
	end();
}

#endif
