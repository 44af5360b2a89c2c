/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of a simulated machine that no platform was opened on. */
#ifndef UNC_TEST_SIM_UNITS_H
#define UNC_TEST_SIM_UNITS_H

#include "host/fs.h"
#include "sim/sim_machine.h"

/* Finds them, by which registers behave; as a platform does when it is opened. */
static inline int sim_units(struct unc_sim *sim, struct unc_error *err)
{
	struct unc_machine *machine = &sim->machine;
	struct unc_instances found = {0};
	struct unc_access *gate = NULL;
	struct unc_bus *bus = NULL;
	int rc = unc_access_open(machine, NULL, &gate, err);

	machine->top = &sim->top;
	if (rc == 0 && (rc = unc_bus_open_system(machine->fs, &bus, err)) == 0) {
		bus->gate = gate;
		rc = unc_discover(sim->table, &sim->top, bus, NULL, NULL, &found, err);
	}
	if (rc == 0)
		rc = machine->methods->found(machine, &found, err);
	unc_instances_free(&found);
	if (bus)
		bus->methods->close(bus);
	unc_access_close(gate);
	return rc;
}

#endif
