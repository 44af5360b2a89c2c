/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_library.c
 * @ingroup papi_components
 * @brief   libuncore is loaded, and its errors become PAPI's.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "intel_uncore.h"

#define LIBRARY "libuncore.so.0"

struct intel_uncore intel_uncore;

int intel_uncore_code(int error)
{
	static const struct {
		int error, code;
	} codes[] = {
		{UNC_ERR_INVALID, PAPI_EINVAL},   {UNC_ERR_NOT_FOUND, PAPI_ENOEVNT},
		{UNC_ERR_RANGE, PAPI_EINVAL},     {UNC_ERR_CONFLICT, PAPI_ECNFLCT},
		{UNC_ERR_BUSY, PAPI_ECNFLCT},     {UNC_ERR_PERMISSION, PAPI_EPERM},
		{UNC_ERR_UNAVAILABLE, PAPI_ECMP}, {UNC_ERR_MEMORY, PAPI_ENOMEM},
		{UNC_ERR_PASSES, PAPI_EMULPASS},  {UNC_ERR_STATE, PAPI_ENOINIT},
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].error == error)
			return codes[i].code;
	return PAPI_ESYS;
}

int intel_uncore_fail(int error, const char *sentence)
{
	SUBDBG("%s\n", sentence);
	PAPIERROR("intel_uncore: %s", sentence);
	return intel_uncore_code(error);
}

void intel_uncore_log(void *user, enum unc_log_level level, const char *text)
{
	(void)user;
	if (level == UNC_LOG_WARNING)
		PAPIWARN("intel_uncore: %s", text);
	else
		SUBDBG("%s\n", text);
}

static const char *const doubts[] = {
	[INTEL_UNCORE_UNPROVEN] = "not proven to count",
	[INTEL_UNCORE_LATE] = "late",
};

void intel_uncore_doubt(int doubt, const char *name, const char *reason)
{
	if (__atomic_fetch_add(&intel_uncore.doubts[doubt].n, 1, __ATOMIC_RELAXED) == 0)
		fprintf(stderr, "intel_uncore: %s: %s: %s\n", name, doubts[doubt], reason);
}

void intel_uncore_sum_up(void)
{
	unsigned long n;
	int i;

	for (i = 0; i < INTEL_UNCORE_DOUBTS; i++) {
		n = __atomic_load_n(&intel_uncore.doubts[i].n, __ATOMIC_RELAXED);
		if (n != __atomic_exchange_n(&intel_uncore.doubts[i].told, n, __ATOMIC_RELAXED))
			fprintf(stderr, "intel_uncore: values that were %s: %lu\n", doubts[i], n);
	}
}

/* $PAPI_UNCORE_ROOT alone if it is set; else what the loader finds, then the root built in. */
int intel_uncore_load(char *reason, size_t size)
{
#define FUNCTION_ROW(name) {"unc_" #name, (void **)&intel_uncore.name},
	static const struct {
		const char *name;
		void **address;
	} rows[] = {INTEL_UNCORE_FUNCTIONS(FUNCTION_ROW)};
	const char *root = secure_getenv("PAPI_UNCORE_ROOT");
	char path[PAPI_HUGE_STR_LEN];
	size_t i;

	if (!root) {
		intel_uncore.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		root = INTEL_UNCORE_ROOT;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s/lib/" LIBRARY, root) >= sizeof(path)) {
		snprintf(reason, size, "PAPI_UNCORE_ROOT is too long");
		return PAPI_ENOSUPP;
	}
	if (!intel_uncore.library)
		intel_uncore.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!intel_uncore.library) {
		snprintf(reason, size,
			 "libuncore cannot be loaded (%.512s); PAPI_UNCORE_ROOT may "
			 "name the directory it is installed in",
			 dlerror());
		return PAPI_ENOSUPP;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].address = dlsym(intel_uncore.library, rows[i].name);
		if (!*rows[i].address) {
			snprintf(reason, size, "%s has no %s: it is another version of libuncore",
				 LIBRARY, rows[i].name);
			return PAPI_ENOSUPP;
		}
	}
	if (!UNC_API_SERVES(intel_uncore.api_version())) {
		snprintf(reason, size,
			 "libuncore %s has interface %u.%u, the component was compiled "
			 "for %u.%u: compile PAPI anew",
			 intel_uncore.version(), intel_uncore.api_version() >> 16,
			 intel_uncore.api_version() & 0xffff, UNC_API_VERSION >> 16,
			 UNC_API_VERSION & 0xffff);
		return PAPI_ENOSUPP;
	}
	return PAPI_OK;
}
