/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore with a neighbour who takes counters away: after shim_lose() nothing that is read means
 * anything, until a session starts anew. scripts/build-papi links it with the library, of which all
 * else is; intel_uncore_lost needs it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "uncore.h"

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static int lost;

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

int unc_session_read(struct unc_session *session, struct unc_value *values, size_t n)
{
	int error = REAL(unc_session_read)(session, values, n);
	size_t i;

	for (i = 0; !error && lost && i < n; i++)
		values[i] = (struct unc_value){ .flags = UNC_VALUE_LOST };
	return error;
}

const char *unc_session_reason(struct unc_session *session, int id)
{
	return lost ? "a neighbour has taken the counter" : REAL(unc_session_reason)(session, id);
}
