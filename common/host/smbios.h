/* SPDX-License-Identifier: BSD-3-Clause */
/* What the firmware says of the machine's memory: SMBIOS, DSP0134. */
#ifndef UNC_SMBIOS_H
#define UNC_SMBIOS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/fs.h"

/* DRAM in modules; all run at one speed, and each channel has as many. */
struct unc_smbios_memory {
	unsigned modules;
	unsigned speed; /* MT/s */
};

/* Of the structures of a table, of a machine with `channels`, 1 or more. UNC_ERR_UNAVAILABLE: it does
 * not tell, and why; UNC_ERR_MEMORY. */
int unc_smbios_memory(const uint8_t *table, size_t size, unsigned channels,
		      struct unc_smbios_memory *out, struct unc_error *err);
/* Of the machine under the root; also UNC_ERR_PERMISSION. */
int unc_smbios_read(const struct unc_fs *, unsigned channels, struct unc_smbios_memory *out,
		    struct unc_error *err);

#endif
