/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNC_PCI_NAMES_H
#define UNC_PCI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct unc_fs;

/* libpci, loaded when the first name is asked for. */
struct unc_pci_names {
	bool tried, broken;
	void *library;
	struct pci_access *access; /* NULL: there are no names */
};

void unc_pci_names_free(struct unc_pci_names *);
/* "Mellanox Technologies MT28908 Family [ConnectX-6]"; "" if pci.ids does not have it, or libpci is missing. fs: under
 * whose root pci.ids is, at each call the same; NULL: libpci's own place. */
void unc_pci_name_of(struct unc_pci_names *, const struct unc_fs *fs, unsigned vendor,
		     unsigned device, char *buf, size_t size);

#endif
