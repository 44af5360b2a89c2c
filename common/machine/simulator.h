/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface between library and simulator. The simulator is a separate shared object,
 * libuncore-sim.so beside libuncore.so, loaded when a simulated machine is opened (sim_load.c);
 * programs with the library linked statically contain the simulator, too (sim_static.c).
 */
#ifndef UNC_SIMULATOR_H
#define UNC_SIMULATOR_H

#include "host/machine.h"
#include "uncore.h"

/* Both sides share structs in memory: the version grows with each change of one of them. */
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
 * Loads the simulator from a file (sim_load.c). The caller passes *library to dlclose() after its last use.
 * Errors: UNC_ERR_UNAVAILABLE: the file is missing, is no simulator, or was built with another library;
 * UNC_ERR_DENIED: the path is not absolute.
 */
int unc_simulator_load(const char *path, void **library, const struct unc_simulator **out,
		       struct unc_error *err);

/*
 * Opens a simulated machine. spec: "MACHINE[,option=value]...", see sim.h. node: a name; if the spec allows
 * it, machines of different nodes behave differently. tables: the tables with the CPU; they must outlive
 * the machine. *out: unc_machine_close().
 * Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND with a sentence that lists the possible values;
 * UNC_ERR_UNAVAILABLE, UNC_ERR_DENIED: the simulator cannot be loaded.
 */
int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err);

#endif
