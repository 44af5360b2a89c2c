/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of register spaces and PCI functions, and the result of an operation. */
#include "base/reg.h"

#include <errno.h>
#include <stdio.h>

#include "uncore.h"

const char *unc_space_name(int space)
{
	static const char *const names[UNC_N_SPACES] = {"msr", "pci", "mmio", "pmu", "perf"};

	return space >= 0 && space < UNC_N_SPACES ? names[space] : "?";
}

struct unc_pci_name unc_pci_name(uint64_t address)
{
	struct unc_pci_name name;
	unsigned devfn = UNC_PCI_DEVFN(address);

	snprintf(name.text, sizeof(name.text), "%04x:%02x:%02x.%x", UNC_PCI_DOMAIN(address),
		 UNC_PCI_BUS(address), devfn >> 3, devfn & 7);
	return name;
}

int unc_op_failed(struct unc_reg_op *op, int errno_value)
{
	op->errno_value = (int16_t)errno_value;
	switch (errno_value) {
	case EPERM:
	case EACCES:
		op->error = UNC_ERR_PERMISSION;
		break;
	case EBUSY:
		op->error = UNC_ERR_BUSY;
		break;
	default:
		op->error = UNC_ERR_IO;
	}
	return 1;
}
