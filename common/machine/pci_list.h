/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's data on all PCI functions, in one file: /proc/bus/pci/devices. For each function it has the
 * content of the files vendor, device and resource, which would be three files to open.
 */
#ifndef UNC_PCI_LIST_H
#define UNC_PCI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unc_fs;

enum { UNC_PCI_BARS = 6 }; /* of a function; bridges have windows after them */

struct unc_pci_noted {
	uint16_t bus_devfn; /* the file has no domains */
	uint16_t vendor, device;
	struct unc_pci_bar {
		uint64_t first, last;
	} memory[UNC_PCI_BARS]; /* first 0: no such BAR */
};

/* Rows in the order of bus_devfn; empty if the file does not exist. */
struct unc_pci_list {
	struct unc_pci_noted *row;
	size_t n;
};

/* False: memory has run out. */
bool unc_pci_list_read(const struct unc_fs *, struct unc_pci_list *);
/* Returns the function of a name as the kernel writes it. NULL: read the function's own files, because the
 * list lacks it, or functions of several domains have its bus and number. */
const struct unc_pci_noted *unc_pci_list_find(const struct unc_pci_list *, const char *name);
void unc_pci_list_free(struct unc_pci_list *);

#endif
