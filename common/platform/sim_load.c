/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the simulator from beside the library when a simulated machine is opened. Neither the
 * environment nor the working directory has any influence on what is loaded.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "host/trust.h"
#include "machine/simulator.h"

#define SIMULATOR "libuncore-sim.so"

/* The path of the simulator that belongs to this library. If the library is part of the program,
 * the name by which the program was called is not used: its caller chooses that. */
static int simulator_path(char *path, size_t size, struct unc_error *err)
{
	const void *program = (const void *)(uintptr_t)getauxval(AT_PHDR);
	Dl_info library, start;
	char own[PATH_MAX] = "";
	const char *slash;
	ssize_t n;

	if (dladdr((void *)(uintptr_t)unc_machine_simulated, &library))
		snprintf(own, sizeof(own), "%s", library.dli_fname);
	if (*own && dladdr(program, &start) && start.dli_fbase == library.dli_fbase) {
		n = readlink("/proc/self/exe", own, sizeof(own) - 1);
		own[n > 0 ? n : 0] = '\0';
	}
	slash = strrchr(own, '/');
	if (snprintf(path, size, "%.*s/" SIMULATOR, slash ? (int)(slash - own) : 0, own) >=
	    (int)size)
		return unc_fail(err, UNC_ERR_RANGE, "the path of the library is too long");
	return 0;
}

int unc_simulator_load(const char *path, void **library, const struct unc_simulator **out,
		       struct unc_error *err)
{
	const struct unc_simulator *(*entry)(void);
	const struct unc_simulator *simulator;
	void *handle, *symbol;

	if (path[0] != '/')
		return unc_fail(err, UNC_ERR_DENIED,
				"the simulator %s is not loaded: the library's own path must be "
				"absolute (LD_LIBRARY_PATH)",
				path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"a simulated machine needs the simulator beside the library, which "
				"`make install` puts there: %s",
				dlerror());
	symbol = dlsym(handle, "unc_simulator");
	memcpy(&entry, &symbol, sizeof(entry));
	simulator = entry ? entry() : NULL;
	if (!simulator || simulator->version != UNC_SIMULATOR_VERSION ||
	    strcmp(simulator->build, unc_version()) != 0) {
		dlclose(handle);
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s is not the simulator of libuncore %s: install both from one "
				"build",
				path, unc_version());
	}
	*library = handle;
	*out = simulator;
	return 0;
}

int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err)
{
	const struct unc_simulator *simulator;
	void *library;
	char path[PATH_MAX];
	int rc;

	if (unc_raised())
		return unc_fail(err, UNC_ERR_DENIED,
				"a program with raised privileges gets no simulated machine");
	rc = simulator_path(path, sizeof(path), err);
	if (rc < 0 || (rc = unc_simulator_load(path, &library, &simulator, err)) < 0)
		return rc;
	rc = simulator->open(spec, node, tables, n, out, err);
	if (rc < 0)
		dlclose(library);
	else
		(*out)->library = library;
	return rc;
}
