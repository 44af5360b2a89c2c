/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library and the simulator know of each other. The simulator is a shared object of its
 * own, libuncore-sim.so beside libuncore.so, loaded when a simulated machine is asked for
 * (sim_load.c); programs that have the library linked in have the simulator too (sim_static.c).
 */
#ifndef UNC_SIMULATOR_H
#define UNC_SIMULATOR_H

#include "host/machine.h"
#include "uncore.h"

/* Both sides share structs in memory: higher with each change of one of them. */
enum { UNC_SIMULATOR_VERSION = 10 };

struct unc_simulator {
	unsigned version;  /* UNC_SIMULATOR_VERSION when it was built; always first */
	const char *build; /* unc_version() of the library it was built with */
	/* As unc_machine_simulated(). */
	int (*open)(const char *spec, const char *node, const struct unc_table *const *tables,
		    size_t n, struct unc_machine **out, struct unc_error *err);
};

/* The one entry of the shared object. */
UNC_API const struct unc_simulator *unc_simulator(void);

/*
 * Loads the simulator from a file (sim_load.c). *library: to be given to dlclose() when nothing of it
 * is used any more.
 * Errors: UNC_ERR_UNAVAILABLE it is not there, is no simulator, or was built with another library;
 * UNC_ERR_DENIED the path is not absolute.
 */
int unc_simulator_load(const char *path, void **library, const struct unc_simulator **out,
		       struct unc_error *err);

/*
 * Opens a simulated machine, by the simulator. spec: "MACHINE[,option=value]...", see sim.h. node:
 * a name; machines of different nodes do different things, where the spec lets them. tables:
 * where to look the CPU up; they stay until the machine is closed. *out: unc_machine_close().
 * Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND with a sentence that lists what is possible;
 * UNC_ERR_UNAVAILABLE, UNC_ERR_DENIED the simulator cannot be loaded.
 */
int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err);

#endif
