/* SPDX-License-Identifier: BSD-3-Clause */
/* Access method kernel among those that were chosen. */
#include "access/kernel.h"

#include "access/access_ways.h"
#include "access/kernel_group.h"

/* 0: it was not chosen. */
static unsigned way_of(const struct unc_access *access)
{
	return unc_ways_find(unc_access_ways(access), &unc_access_kernel);
}

bool unc_kernel_chosen(const struct unc_access *access)
{
	return way_of(access) != 0;
}

bool unc_kernel_before(const struct unc_access *access, int space)
{
	unsigned way = way_of(access), other = unc_ways_next(unc_access_ways(access), space, 0);

	return way && (!other || way < other);
}

/* NULL: it was not chosen, and the sentence is there. */
static struct unc_backend *backend_of(const struct unc_access *access, struct unc_error *err)
{
	unsigned way = way_of(access);

	if (!way)
		unc_fail(err, UNC_ERR_UNAVAILABLE, "access method %s was not chosen",
			 unc_access_kernel.name);
	return way ? unc_access_ways(access)->way[way].backend : NULL;
}

void unc_kernel_share(struct unc_access *access, struct unc_ledger *ledger)
{
	struct unc_backend *backend = backend_of(access, NULL);

	if (backend)
		unc_backend_share(backend, ledger);
}

int unc_kernel_find(struct unc_access *access, const char *pmu, unsigned socket,
		    struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_backend *backend = backend_of(access, err);

	return backend ? unc_backend_find(backend, pmu, socket, out, err) : UNC_ERR_UNAVAILABLE;
}

int unc_kernel_open(struct unc_access *access, const struct unc_kernel_place *place,
		    const struct unc_kernel_event *events, size_t n, struct unc_kernel_group **out,
		    struct unc_error *err)
{
	struct unc_backend *backend = backend_of(access, err);

	if (!backend)
		return UNC_ERR_UNAVAILABLE;
	return unc_backend_join(backend, way_of(access), place, events, n, out, err);
}
