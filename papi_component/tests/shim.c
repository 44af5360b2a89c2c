/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore with a neighbour who takes counters away: after shim_lose() nothing that is read means
 * anything, until a session starts anew; with SHIM_TURNS=stuck the next pass never has its turn,
 * with SHIM_TURNS=fail it finds no counters; with SHIM_LATE=SENTENCE all values are late; or one of
 * another version. scripts/build-papi links it with the library, of which all else is;
 * intel_uncore_lost and intel_uncore_turns need it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "uncore.h"

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static int lost;

/* One that belongs to other programs, where $SHIM_API_VERSION says so. */
unsigned unc_api_version(void)
{
	const char *version = getenv("SHIM_API_VERSION");

	return version ? (unsigned)strtoul(version, NULL, 0) : REAL(unc_api_version)();
}

UNC_API void shim_lose(void);

void shim_lose(void)
{
	lost = 1;
}

int unc_session_start(struct unc_session *session)
{
	lost = 0;
	return REAL(unc_session_start)(session);
}

static int turns(const char *how)
{
	const char *set = getenv("SHIM_TURNS");

	return set && !strcmp(set, how);
}

int unc_session_turns(struct unc_session *session, unsigned ms)
{
	return turns("stuck") ? 0 : REAL(unc_session_turns)(session, ms);
}

int unc_session_read(struct unc_session *session, struct unc_value *values, size_t n, size_t size)
{
	int error = turns("fail") ? UNC_ERR_BUSY : REAL(unc_session_read)(session, values, n, size);
	size_t i;

	for (i = 0; !error && lost && i < n; i++)
		values[i] = (struct unc_value){.flags = UNC_VALUE_LOST};
	for (i = 0; !error && getenv("SHIM_LATE") && i < n; i++)
		values[i].flags |= UNC_VALUE_LATE;
	return error;
}

/* Something is to be told. */
int unc_session_counts(struct unc_session *session, uint64_t *counts, size_t n)
{
	return lost || turns("fail") || getenv("SHIM_LATE")
		       ? 1
		       : REAL(unc_session_counts)(session, counts, n);
}

const char *unc_session_reason(struct unc_session *session, int id)
{
	if (getenv("SHIM_LATE"))
		return getenv("SHIM_LATE");
	return lost ? "a neighbour has taken the counter" : REAL(unc_session_reason)(session, id);
}

int unc_session_stop(struct unc_session *session)
{
	int error = REAL(unc_session_stop)(session);

	return turns("fail") ? UNC_ERR_BUSY : error;
}

const char *unc_session_error(const struct unc_session *session)
{
	return turns("fail") ? "a neighbour has the counters of the next pass"
			     : REAL(unc_session_error)(session);
}
