/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel has noted of all PCI functions, in one file: /proc/bus/pci/devices. It tells of a
 * function what its own files vendor, device and resource do, which are three to be opened.
 */
#ifndef UNC_PCI_LIST_H
#define UNC_PCI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unc_fs;

enum { UNC_PCI_BARS = 6 }; /* of a function; bridges have windows behind them */

struct unc_pci_noted {
	uint16_t bus_devfn; /* the domain is not told */
	uint16_t vendor, device;
	struct unc_pci_bar {
		uint64_t first, last;
	} memory[UNC_PCI_BARS]; /* first 0: that BAR is none */
};

/* In the order of bus_devfn. Empty where there is no such file. */
struct unc_pci_list {
	struct unc_pci_noted *row;
	size_t n;
};

/* False: memory has run out. */
bool unc_pci_list_read(const struct unc_fs *, struct unc_pci_list *);
/* The function of a name as the kernel writes it; NULL: it has to be asked itself, as it is not in
 * the list, or functions of several domains have its bus and number. */
const struct unc_pci_noted *unc_pci_list_find(const struct unc_pci_list *, const char *name);
void unc_pci_list_free(struct unc_pci_list *);

#endif
