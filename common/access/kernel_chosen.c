/* SPDX-License-Identifier: BSD-3-Clause */
/* Access methods kernel and broker among those that were chosen: by which of them events are had. */
#include "access/access_ways.h"
#include "access/kernel_group.h"

/* 0: it was not chosen. */
static unsigned way_of(const struct unc_access *access, bool passed)
{
	return unc_ways_find(unc_access_ways(access),
			     passed ? &unc_access_broker : &unc_access_kernel);
}

bool unc_kernel_chosen(const struct unc_access *access)
{
	return way_of(access, false) || way_of(access, true);
}

bool unc_kernel_before(const struct unc_access *access, int space)
{
	unsigned own = way_of(access, false), passed = way_of(access, true);
	unsigned way = own && (!passed || own < passed) ? own : passed;
	unsigned other = unc_ways_next(unc_access_ways(access), space, 0);

	return way && (!other || way < other);
}

/* NULL: it was not chosen. */
static struct unc_backend *backend_of(const struct unc_access *access, bool passed)
{
	unsigned way = way_of(access, passed);

	return way ? unc_access_ways(access)->way[way].backend : NULL;
}

bool unc_kernel_told(const struct unc_access *access, char *buf, size_t size)
{
	struct unc_backend *broker = backend_of(access, true);

	return broker && unc_backend_told(broker, buf, size);
}

int unc_kernel_passed(struct unc_access *access, uint32_t first, struct unc_wire_answer *out,
		      struct unc_error *err)
{
	struct unc_backend *broker = backend_of(access, true);

	return broker ? unc_backend_list(broker, first, out, err) : UNC_ERR_NOT_FOUND;
}

/* The broker is asked where this process may not open them itself; what that would need is said where
 * there is no broker. */
int unc_kernel_find(struct unc_access *access, const char *pmu, unsigned socket,
		    struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_backend *own = backend_of(access, false), *broker = backend_of(access, true);
	struct unc_error why = {0};
	int rc = own      ? unc_backend_find(own, pmu, socket, out, err)
		 : broker ? UNC_ERR_PERMISSION
			  : unc_fail(err, UNC_ERR_UNAVAILABLE, "access method %s was not chosen",
				     unc_access_kernel.name);

	if (rc != UNC_ERR_PERMISSION || !broker)
		return rc;
	rc = unc_backend_find(broker, pmu, socket, out, &why);
	if (rc == UNC_ERR_NOT_FOUND)
		return own ? UNC_ERR_PERMISSION : unc_fail(err, UNC_ERR_PERMISSION, "%s", why.text);
	if (rc < 0)
		return unc_fail(err, rc, "%s", why.text);
	unc_error_clear(err);
	return 0;
}

int unc_kernel_open(struct unc_access *access, const struct unc_kernel_place *place,
		    const struct unc_kernel_event *events, size_t n, struct unc_kernel_group **out,
		    struct unc_error *err)
{
	unsigned way = way_of(access, place->passed);

	if (!way)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "access method %s was not chosen",
				place->passed ? unc_access_broker.name : unc_access_kernel.name);
	return unc_backend_join(unc_access_ways(access)->way[way].backend, way, place, events, n,
				out, err);
}
