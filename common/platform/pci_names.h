/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNC_PCI_NAMES_H
#define UNC_PCI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct unc_fs;

struct unc_pci_names {
	char *text; /* NULL: there is no such file */
};

/* fs: as unc_fs_regular(); NULL: of this system. */
void unc_pci_names_read(const struct unc_fs *, struct unc_pci_names *);
void unc_pci_names_free(struct unc_pci_names *);
/* "Mellanox Technologies MT28908 Family [ConnectX-6]"; false, and "", if it is not known. */
bool unc_pci_name_of(const struct unc_pci_names *, unsigned vendor, unsigned device, char *buf,
		     size_t size);

#endif
