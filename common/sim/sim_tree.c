/* SPDX-License-Identifier: BSD-3-Clause */
/* The files by which its kernel tells of devices, those below /sys alone. */
#include "host/dump.h"
#include "host/fs.h"
#include "sim/sim_machine.h"

int unc_sim_tree_build(struct unc_sim *sim, struct unc_error *err)
{
	struct unc_dump *files = unc_dump_new();
	int rc = files ? unc_sim_devices(sim, files, err) : 0;

	if (rc < 0) {
		unc_dump_free(files);
		return rc;
	}
	sim->tree = unc_fs_of_dump(files);
	return sim->tree ? 0 : unc_no_memory(err);
}

void unc_sim_tree_free(struct unc_sim *sim)
{
	unc_fs_close(sim->tree);
}
