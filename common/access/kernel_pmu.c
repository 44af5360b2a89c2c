/* SPDX-License-Identifier: BSD-3-Clause */
/* PMUs of the kernel's driver: whether this process or the broker opens their events, and the sharing of groups. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "access/access_ways.h"
#include "access/broker.h"
#include "access/kernel_group.h"
#include "host/cpu.h"
#include "host/machine.h"
#include "host/perf_users.h"

/* ---- PMUs */

/* Opens an event for a test. Only success or a refusal for lack of rights settles the question. */
static void test_right(struct unc_backend *backend, const struct unc_kernel_place *place)
{
	const struct unc_kernel_event any = {0};
	struct perf_event_attr attr = unc_events_attr(place->type, &any, true, false);
	struct unc_machine *machine = backend->machine;
	int fd = machine->events->open(machine, &attr, (int)place->cpu, -1);

	if (fd >= 0)
		machine->events->close(machine, fd);
	else if (errno == EACCES || errno == EPERM)
		unc_perf_refused(machine->fs, errno, &backend->refused);
	backend->tried = fd >= 0 || backend->refused.code;
}

/* The caller holds the lock. */
static int need_broker(struct unc_backend *backend, struct unc_error *err)
{
	if (!backend->broker)
		backend->broker = unc_broker_new(backend->machine);
	return backend->broker ? 0 : unc_no_memory(err);
}

/* Whether this process, or the broker for it, may open events of a PMU. */
static int has_right(struct unc_backend *backend, const char *pmu,
		     const struct unc_kernel_place *place, struct unc_error *err)
{
	int rc;

	pthread_mutex_lock(&backend->lock);
	if (!backend->passed && !backend->tried)
		test_right(backend, place);
	rc = backend->passed ? need_broker(backend, err) : 0;
	if (rc == 0 && backend->passed)
		rc = unc_broker_asks(backend->broker, pmu, err);
	else if (backend->refused.code)
		rc = unc_fail(err, backend->refused.code, "%s", backend->refused.text);
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

/* Returns CPU number `nth` of a socket in a cpumask. */
static int choose_cpu(const struct unc_backend *backend, const char *pmu, const char *mask,
		      unsigned socket, unsigned nth, uint32_t *out, struct unc_error *err)
{
	bool cpus[UNC_MAX_CPUS] = {false};

	if (!unc_cpu_list(mask, cpus))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"cpumask of the kernel's PMU %s: '%.40s' is not a list of CPUs "
				"like 0,8",
				pmu, mask);
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		if (cpus[cpu] && unc_topology_socket(backend->machine->top, cpu) == (int)socket &&
		    nth-- == 0) {
			*out = (uint32_t)cpu;
			return 0;
		}
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"cpumask of the kernel's PMU %s, '%.40s', has no%s CPU of socket %u", pmu,
			mask, nth ? " such" : "", socket);
}

static int find_with_backend(struct unc_backend *backend, const char *pmu, unsigned socket,
			     unsigned nth, struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_kernel_place place = {.passed = backend->passed};
	struct unc_machine *machine = backend->machine;
	char mask[4096];
	int rc;

	if (!unc_events_pmu(pmu))
		return unc_fail(err, UNC_ERR_DENIED,
				"the kernel's PMU '%.40s' is not one of its uncore driver", pmu);
	rc = machine->events->find(machine, pmu, &place.type, mask, sizeof(mask));
	if (rc == ENOENT)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel has no PMU %s: its driver %s",
				pmu,
				!machine->simulated && unc_fs_exists(machine->fs,
								     "/sys/module/intel_uncore")
					? "is loaded (intel_uncore) and does not know the unit"
					: "is not loaded (modprobe intel_uncore) or does not know "
					  "the unit");
	if (rc)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel's PMU %s: %s", pmu,
				unc_fs_reason(rc));
	if (machine->fenced && !unc_events_type(place.type))
		return unc_fail(err, UNC_ERR_DENIED,
				"the kernel's PMU %s: type %u is not one of a driver", pmu,
				place.type);
	if ((rc = choose_cpu(backend, pmu, mask, socket, nth, &place.cpu, err)) < 0 ||
	    (rc = has_right(backend, pmu, &place, err)) < 0)
		return rc;
	*out = place;
	memcpy(out->pmu, pmu, strnlen(pmu, sizeof(out->pmu) - 1));
	return 0;
}

/* ---- the method: kernel or broker */

/* Returns 0 if the method was not chosen. */
static unsigned number_of_method(const struct unc_access *access, bool passed)
{
	return unc_ways_find(unc_access_ways(access),
			     passed ? &unc_access_broker : &unc_access_kernel);
}

/* Returns NULL if the method was not chosen. */
static struct unc_backend *backend_of(const struct unc_access *access, bool passed)
{
	unsigned way = number_of_method(access, passed);

	return way ? unc_access_ways(access)->way[way].backend : NULL;
}

bool unc_kernel_chosen(const struct unc_access *access)
{
	return number_of_method(access, false) || number_of_method(access, true);
}

bool unc_kernel_before(const struct unc_access *access, int space)
{
	unsigned own = number_of_method(access, false), passed = number_of_method(access, true);
	unsigned way = own && (!passed || own < passed) ? own : passed;
	unsigned other = unc_ways_next(unc_access_ways(access), space, 0);

	return way && (!other || way < other);
}

bool unc_kernel_told(const struct unc_access *access, char *buf, size_t size)
{
	struct unc_backend *backend = backend_of(access, true);
	int n = 0;

	if (!backend)
		return false;
	pthread_mutex_lock(&backend->lock);
	n = snprintf(buf, size, "%s", backend->broker ? unc_broker_told(backend->broker) : "");
	pthread_mutex_unlock(&backend->lock);
	return n > 0;
}

int unc_kernel_passed(struct unc_access *access, uint32_t first, struct unc_wire_answer *out,
		      struct unc_error *err)
{
	struct unc_backend *backend = backend_of(access, true);
	int rc;

	if (!backend)
		return UNC_ERR_NOT_FOUND;
	pthread_mutex_lock(&backend->lock);
	rc = need_broker(backend, err);
	if (rc == 0)
		rc = unc_broker_list(backend->broker, first, out, err);
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

/* If this process may not open the events, the broker is asked. If there is no broker, the error names the
 * right that is missing. */
int unc_kernel_find(struct unc_access *access, const char *pmu, unsigned socket, unsigned nth,
		    struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_backend *own = backend_of(access, false), *broker = backend_of(access, true);
	struct unc_error why = {0};
	int rc = own      ? find_with_backend(own, pmu, socket, nth, out, err)
		 : broker ? UNC_ERR_PERMISSION
			  : unc_fail(err, UNC_ERR_UNAVAILABLE, "access method %s was not chosen",
				     unc_access_kernel.name);

	if (rc != UNC_ERR_PERMISSION || !broker)
		return rc;
	rc = find_with_backend(broker, pmu, socket, nth, out, &why);
	if (rc == UNC_ERR_NOT_FOUND)
		return own ? UNC_ERR_PERMISSION : unc_fail(err, UNC_ERR_PERMISSION, "%s", why.text);
	if (rc < 0)
		return unc_fail(err, rc, "%s", why.text);
	unc_error_clear(err);
	return 0;
}

/* ---- groups */

int unc_kernel_open(struct unc_access *access, const struct unc_kernel_place *place,
		    const struct unc_kernel_event *events, size_t n, struct unc_kernel_group **out,
		    struct unc_error *err)
{
	struct unc_backend *backend = backend_of(access, place->passed);
	struct unc_kernel_group *group;
	int rc = 0;

	if (!backend)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "access method %s was not chosen",
				place->passed ? unc_access_broker.name : unc_access_kernel.name);
	pthread_mutex_lock(&backend->lock);
	for (group = backend->first; group && !unc_kernel_group_has(group, place, events, n);)
		group = group->next;
	if (!group && (rc = unc_kernel_group_open(backend, place, events, n, &group, err)) == 0)
		group->way = (uint8_t)number_of_method(access, place->passed);
	if (rc == 0) {
		group->users++;
		*out = group;
	}
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

void unc_kernel_close(struct unc_kernel_group *group)
{
	struct unc_backend *backend = group ? group->backend : NULL;
	struct unc_kernel_group **at;

	if (!group)
		return;
	pthread_mutex_lock(&backend->lock);
	if (--group->users == 0) {
		for (at = &backend->first; *at != group;)
			at = &(*at)->next;
		*at = group->next;
		unc_kernel_group_close(group, backend->broker);
	}
	pthread_mutex_unlock(&backend->lock);
}
