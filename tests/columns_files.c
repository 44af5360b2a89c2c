/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns_files.h"

/* One function of a type on each socket, and one with a register that tells how many units there are.
 * Nothing but the UBoxes tells which socket a bus is of: bus 7e is of node 0, which is socket 1, bus fe
 * of node 1, socket 0; `behind`: the others' is the next. */
static const struct files {
	const char *cpu;
	int model; /* of family 6 */
	struct function {
		unsigned id, device, function;
	} ubox;
	unsigned nodeid, map, behind;
	struct function unit, counting;
	unsigned offset, value;
} files[] = {
	/* Linux uncore_snbep.c: UBox of Sandy Bridge-EP, Haswell-EP, Skylake-SP, Sapphire Rapids */
	{"sandybridge-ep", 0x2d, {0x3ce0, 0x0b, 0}, 0x40, 0x54, 0, {0x3cb5, 0x10, 5}, {0}, 0, 0},
	{"haswell-ep",
	 0x3f,
	 {0x2f1e, 0x10, 5},
	 0x40,
	 0x54,
	 0,
	 {0x2f30, 0x12, 1},
	 {0x2fc0, 0x1e, 3},
	 0x94,
	 0},
	{"skylake-sp",
	 0x55,
	 {0x2014, 0x08, 0},
	 0xC0,
	 0xD4,
	 1,
	 {0x2066, 0x09, 0},
	 {0x2083, 0x1e, 3},
	 0x9C,
	 0xF000000F},
	{"emerald-rapids", 0xcf, {0x3250, 0x00, 0}, 0xC0, 0xD4, 1, {0x324a, 0x0f, 0}, {0}, 0, 0},
};

static void two_sockets(struct fake_root *root, int model)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : %d\nstepping : "
		 "4\n"
		 "physical id : 0\ncore id : 0\n\nprocessor : 1\nvendor_id : GenuineIntel\n"
		 "cpu family : 6\nmodel : %d\nphysical id : 1\ncore id : 0\n",
		 model, model);
	fake_text(fake_path(root, "/proc/cpuinfo"), text);
}

static void one_socket(struct fake_root *root, const struct files *f, unsigned bus, unsigned node)
{
	const struct function *ubox = &f->ubox, *unit = &f->unit, *counting = &f->counting;

	fake_function(root, bus, ubox->device, ubox->function, ubox->id, 256);
	fake_put(root, bus, ubox->device, ubox->function, f->nodeid, node);
	fake_put(root, bus, ubox->device, ubox->function, f->map, 1); /* nodes 1, 0 */
	bus += f->behind;
	fake_function(root, bus, unit->device, unit->function, unit->id, 4096);
	if (counting->id) {
		fake_function(root, bus, counting->device, counting->function, counting->id, 256);
		fake_put(root, bus, counting->device, counting->function, f->offset, f->value);
	}
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
	one_socket(root, f, 0x7e, 0);
	one_socket(root, f, 0xfe, 1);
	return true;
}
