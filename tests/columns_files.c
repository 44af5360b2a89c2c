/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns_files.h"

/* One function of a type on each socket. Nothing but the UBoxes tells which socket a bus is of: bus
 * 7e is of node 0, which is socket 1, bus fe of node 1, socket 0; `behind`: the unit's is the next.
 */
static const struct files {
	const char *cpu;
	int model; /* of family 6 */
	unsigned ubox, ubox_device, nodeid, map, unit, unit_device, unit_function, behind;
} files[] = {
	/* Linux uncore_snbep.c: UBox of Sandy Bridge-EP, of Sapphire Rapids, of Skylake-SP */
	{"sandybridge-ep", 0x2d, 0x3ce0, 0x0b, 0x40, 0x54, 0x3cb5, 0x10, 5, 0},
	{"emerald-rapids", 0xcf, 0x3250, 0x00, 0xC0, 0xD4, 0x324a, 0x0f, 0, 1},
	{"madeup", 0x55, 0x2014, 0x08, 0xC0, 0xD4, 0x2042, 0x0a, 2, 1},
};

static void two_sockets(struct fake_root *root, int model)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : %d\nstepping : "
		 "5\n"
		 "physical id : 0\ncore id : 0\n\nprocessor : 1\nvendor_id : GenuineIntel\n"
		 "cpu family : 6\nmodel : %d\nphysical id : 1\ncore id : 0\n",
		 model, model);
	fake_text(fake_path(root, "/proc/cpuinfo"), text);
}

bool columns_files(struct fake_root *root, const char *cpu)
{
	const struct files *f = files;

	while (f < files + sizeof(files) / sizeof(files[0]) && strcmp(f->cpu, cpu) != 0)
		f++;
	if (f == files + sizeof(files) / sizeof(files[0]))
		return false;
	fake_new(root);
	two_sockets(root, f->model);
	for (unsigned node = 0; node < 2; node++) {
		unsigned bus = node ? 0xfe : 0x7e;

		fake_function(root, bus, f->ubox_device, 0, f->ubox, 256);
		fake_put(root, bus, f->ubox_device, 0, f->nodeid, node);
		fake_put(root, bus, f->ubox_device, 0, f->map, 1); /* nodes 1, 0 */
		fake_function(root, bus + f->behind, f->unit_device, f->unit_function, f->unit,
			      4096);
	}
	return true;
}
