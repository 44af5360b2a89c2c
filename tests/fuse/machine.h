/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine behind the files of fuse_machine.c. */
#ifndef UNC_TEST_FUSE_MACHINE_H
#define UNC_TEST_FUSE_MACHINE_H

#include "room.h"
#include "sim/sim_machine.h"

/* A register that was written, and what it held before that. */
struct written {
	void *reg;
	char *path;
	uint64_t offset, before;
};

struct machine {
	const char *spec;
	const struct unc_table
		*narrow; /* MACHINE_WIDTH: with narrower counters; NULL: as they are */
	struct room *room;
	struct unc_sim *sim;
	struct unc_bus *bus;
	struct unc_topology top;
	struct unc_pci_function *function;
	size_t n_functions;
	unsigned cpus; /* of a socket */
	struct written *written;
	size_t n_written;
	char *left; /* text */
};

/* CONTROL and CLOCK can be written, LOG and LEFT are long, LIVE is memory without the kernel's cache. */
enum kind { NONE, DIRECTORY, TEXT, MSR, CONFIG, MEMORY, LIVE, CONTROL, CLOCK, LOG, LEFT, LINK };

struct node {
	enum kind kind;
	unsigned cpu;
	const struct unc_pci_function *function;
	char text[1 << 15];
};

/* machine_text.c: what a kernel writes of it. Logical CPUs of all sockets. */
unsigned machine_cpus(const struct machine *);
/* /proc/cpuinfo */
void machine_cpuinfo(const struct machine *, char *buf, size_t size);
/* /proc/iomem */
void machine_iomem(const struct machine *, char *buf, size_t size);
/* The text of a file of a CPU below /sys; false: there is no such file. */
bool machine_cpu_text(const struct machine *, const char *path, struct node *);
/* A file of a PCI function. */
bool machine_pci_file(const struct machine *, const char *path, struct node *);

/* machine_tree.c: what /sys tells of devices; false: nothing. Of a folder the names, or NULL. */
bool machine_tree(const struct machine *, const char *path, struct node *);
char **machine_tree_list(const struct machine *, const char *path);

/* machine_left.c: a register is about to be written. */
void machine_remember(struct machine *, const char *path, uint64_t offset, void *reg);
void machine_forget(struct machine *);
/* What /left reads as. */
const char *machine_left(struct machine *, size_t *size);

#endif
