/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery on machines made of files: they are read as those of a real one are.
 * What test_discover.c and test_discover_table.c share.
 */
#ifndef UNC_TEST_DISCOVER_MACHINE_H
#define UNC_TEST_DISCOVER_MACHINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/discover.h"
#include "fake_root.h"
#include "host/fs.h"
#include "machine/hardware.h"
#include "made.h"
#include "suite.h"

/* ------------------------------------------------------------------------ the machine */

enum { SOCKETS = 2 };

static struct fake_root root;
static struct unc_fs *fs;
static struct unc_bus *bus;
static struct unc_machine *hardware;
static struct unc_topology topo;
static const struct unc_table *table;
static struct unc_instances found;
static struct unc_error err;
static char notes[8192];

static inline void take_note(void *user, const char *text)
{
	size_t n = strlen(notes);

	(void)user;
	snprintf(notes + n, sizeof(notes) - n, "%s\n", text);
}

static inline void use_table(const char *cpu)
{
	table = made_table(cpu);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
}

/* With the tables of a made-up CPU (tests/tables). */
static inline void begin(const char *cpu)
{
	fake_new(&root);
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	memset(&topo, 0, sizeof(topo));
	topo.n_sockets = SOCKETS;
	topo.socket[0] = (struct unc_socket){.package = 0, .cpu = 0, .cores = 6};
	topo.socket[1] = (struct unc_socket){.package = 1, .cpu = 32, .cores = 6};
	for (int cpu_number = 0; cpu_number < 64; cpu_number++)
		topo.cpu_socket[cpu_number] = (uint8_t)(1 + cpu_number / 32);
	use_table(cpu);
}

static inline void discover(void)
{
	notes[0] = '\0';
	CHECK_NUMBER(unc_bus_open_system(fs, &bus, &err), 0);
	CHECK_NUMBER(unc_discover(table, &topo, bus, take_note, NULL, &found, &err), 0);
}

static inline void forget(void)
{
	unc_instances_free(&found);
	bus->methods->close(bus);
}

static inline void open_gate(struct unc_access **gate)
{
	CHECK_NUMBER(unc_machine_hardware(fs, &hardware, NULL), 0);
	hardware->fenced = false; /* the tables are the test's own: test_fence.c */
	CHECK_NUMBER(unc_access_open(hardware, NULL, gate, NULL), 0);
}

static inline void close_gate(struct unc_access *gate)
{
	unc_access_close(gate);
	hardware->methods->close(hardware);
}

/* With the gate to its registers, until look_away(). */
static struct unc_access *gated;

static inline void look(void)
{
	notes[0] = '\0';
	open_gate(&gated);
	CHECK_NUMBER(unc_bus_open_system(fs, &bus, &err), 0);
	bus->gate = gated;
	CHECK_NUMBER(unc_discover(table, &topo, bus, take_note, NULL, &found, &err), 0);
}

static inline void look_away(void)
{
	forget();
	close_gate(gated);
}

static inline void end(void)
{
	unc_fs_close(fs);
	fake_free(&root);
}

static inline unsigned type_number(const char *name)
{
	for (unsigned i = 0; i < table->n_type; i++)
		if (!strcmp(unc_tbl_str(table, table->type[i].name), name))
			return i;
	fake_die(name);
	return 0;
}

static inline const struct unc_instance *unit(const char *type, int socket, unsigned index)
{
	static const struct unc_instance none = {.location = "none", .reason = "none"};

	for (size_t i = 0; i < found.n; i++)
		if (found.unit[i].type == type_number(type) && found.unit[i].socket == socket &&
		    found.unit[i].index == index)
			return &found.unit[i];
	return &none;
}

/* How many units of a type there are, and how many of them are available. */
static inline unsigned count(const char *type, bool available)
{
	unsigned n = 0;

	for (size_t i = 0; i < found.n; i++)
		n += found.unit[i].type == type_number(type) &&
		     (!available || found.unit[i].available);
	return n;
}

static inline struct unc_reg reg_of(const struct unc_instance *inst, const char *name)
{
	const struct unc_tbl_type *type = &table->type[inst->type];
	struct unc_reg reg = {0};

	for (uint32_t i = 0; i < type->regs.n; i++)
		if (!strcmp(unc_tbl_str(table, table->reg[type->regs.first + i].name), name)) {
			unc_error_clear(&err);
			unc_instance_reg(table, inst, type->regs.first + i, &reg, &err);
		}
	return reg;
}

/* Takes a function away, as a BIOS does. */
static inline void hide(unsigned on_bus, unsigned device, unsigned function)
{
	remove(fake_config(&root, on_bus, device, function));
	rmdir(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x", on_bus, device, function));
}

static inline void locality(unsigned on_bus, unsigned device, unsigned function, const char *node,
			    const char *list)
{
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/numa_node", on_bus,
			    device, function),
		  node);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/local_cpulist", on_bus,
			    device, function),
		  list);
}

#endif
