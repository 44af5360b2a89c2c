/* SPDX-License-Identifier: BSD-3-Clause */
/* Access method kernel: PMUs, and which users share a group of events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/broker.h"
#include "access/kernel_group.h"
#include "host/cpu.h"
#include "host/machine.h"
#include "host/perf_users.h"

/* What one of its users sees: its events among those of the group. */
struct unc_kernel_group {
	struct unc_backend *backend;
	struct unc_perf_group *shared;
	uint8_t way;
	size_t at[];
};

struct unc_backend {
	struct unc_machine *machine;
	pthread_mutex_t lock; /* of what follows */
	struct unc_perf_group *first;
	struct unc_broker *broker; /* that opens events for it; NULL: it opens them itself */
	bool passed;               /* of access method broker */
	bool tried;                /* whether there is the right */
	struct unc_error refused;
};

static void kernel_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
	pthread_mutex_init(&backend->lock, NULL);
}

static void broker_open(struct unc_backend *backend, struct unc_machine *machine)
{
	kernel_open(backend, machine);
	backend->passed = true;
}

/* ---- PMUs */

/* Asks the kernel for an event, until it has said yes or no to that as such. */
static void try_right(struct unc_backend *backend, const struct unc_kernel_place *place)
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

/* The lock is held. */
static int need_broker(struct unc_backend *backend, struct unc_error *err)
{
	if (!backend->broker)
		backend->broker = unc_broker_new(backend->machine);
	return backend->broker ? 0 : unc_no_memory(err);
}

static int ask_broker(struct unc_backend *backend, const char *pmu, struct unc_error *err)
{
	int rc;

	pthread_mutex_lock(&backend->lock);
	rc = need_broker(backend, err);
	if (rc == 0)
		rc = unc_broker_asks(backend->broker, pmu, err);
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

int unc_backend_list(struct unc_backend *backend, uint32_t first, struct unc_wire_answer *out,
		     struct unc_error *err)
{
	int rc;

	pthread_mutex_lock(&backend->lock);
	rc = need_broker(backend, err);
	if (rc == 0)
		rc = unc_broker_list(backend->broker, first, out, err);
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

int unc_backend_told(struct unc_backend *backend, char *buf, size_t size)
{
	pthread_mutex_lock(&backend->lock);
	int n = snprintf(buf, size, "%s", backend->broker ? unc_broker_told(backend->broker) : "");
	pthread_mutex_unlock(&backend->lock);
	return n > 0;
}

static int has_right(struct unc_backend *backend, const struct unc_kernel_place *place,
		     struct unc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&backend->lock);
	if (!backend->tried)
		try_right(backend, place);
	if (backend->refused.code)
		rc = unc_fail(err, backend->refused.code, "%s", backend->refused.text);
	pthread_mutex_unlock(&backend->lock);
	return rc;
}

/* The CPU of a socket in a cpumask. */
static int choose_cpu(const struct unc_backend *backend, const char *pmu, const char *mask,
		      unsigned socket, uint32_t *out, struct unc_error *err)
{
	bool cpus[UNC_MAX_CPUS] = {false};

	if (!unc_cpu_list(mask, cpus))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"cpumask of the kernel's PMU %s: '%.40s' is not a list of CPUs "
				"like 0,8",
				pmu, mask);
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		if (cpus[cpu] && unc_topology_socket(backend->machine->top, cpu) == (int)socket) {
			*out = (uint32_t)cpu;
			return 0;
		}
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"cpumask of the kernel's PMU %s, '%.40s', has no CPU of socket %u", pmu,
			mask, socket);
}

static int find_place(const struct unc_backend *backend, const char *pmu, unsigned socket,
		      struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_machine *machine = backend->machine;
	char mask[4096];
	int rc = machine->events->find(machine, pmu, &out->type, mask, sizeof(mask));

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
	if (machine->fenced && !unc_events_type(out->type))
		return unc_fail(err, UNC_ERR_DENIED,
				"the kernel's PMU %s: type %u is not one of a driver", pmu,
				out->type);
	return choose_cpu(backend, pmu, mask, socket, &out->cpu, err);
}

int unc_backend_find(struct unc_backend *backend, const char *pmu, unsigned socket,
		     struct unc_kernel_place *out, struct unc_error *err)
{
	struct unc_kernel_place place = {0};
	int rc;

	if (!unc_events_pmu(pmu))
		return unc_fail(err, UNC_ERR_DENIED,
				"the kernel's PMU '%.40s' is not one of its uncore driver", pmu);
	rc = find_place(backend, pmu, socket, &place, err);
	if (rc == 0)
		rc = backend->passed ? ask_broker(backend, pmu, err)
				     : has_right(backend, &place, err);
	if (rc < 0)
		return rc;
	*out = place;
	out->passed = backend->passed;
	memcpy(out->pmu, pmu, strnlen(pmu, sizeof(out->pmu) - 1));
	return 0;
}

/* ---- groups: the lock of the list is held */

/* Why the kernel says of each CPU of the socket that it is offline. */
static int fail_cpus(const struct unc_backend *backend, uint32_t of, struct unc_error *err)
{
	bool online[UNC_MAX_CPUS] = {false};
	char text[4096];
	int cpu;

	if (!backend->machine->fs ||
	    unc_fs_text(backend->machine->fs, text, sizeof(text),
			"/sys/devices/system/cpu/online") < 0 ||
	    !unc_cpu_list(text, online))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_NO_CPU);
	for (unsigned i = 0; (cpu = unc_topology_sibling(backend->machine->top, of, i)) >= 0; i++)
		if (online[cpu])
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"perf_event_open: no such device, though cpu %d of the "
					"socket is online: the kernel's driver is being unloaded",
					cpu);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_NO_CPU);
}

/* The CPU that stood for its socket may have gone offline since: any other will do. */
static int open_group(struct unc_backend *backend, const struct unc_kernel_place *place,
		      const struct unc_kernel_event *events, size_t n, struct unc_perf_group **out,
		      struct unc_error *err)
{
	struct unc_kernel_place at = *place;
	int rc, cpu;

	for (unsigned i = 0;
	     (rc = unc_perf_group_open(backend->machine, backend->broker, backend->first, &at,
				       events, n, out, err)) == UNC_ERR_NOT_FOUND;
	     i++) {
		cpu = unc_topology_sibling(backend->machine->top, place->cpu, i);
		if (cpu < 0)
			return fail_cpus(backend, place->cpu, err);
		at.cpu = (uint32_t)cpu;
	}
	if (rc < 0)
		return rc;
	unc_error_clear(err);   /* of the CPUs before */
	(*out)->place = *place; /* by which others will ask */
	return 0;
}

static int share_group(struct unc_backend *backend, const struct unc_kernel_place *place,
		       const struct unc_kernel_event *events, size_t n, struct unc_perf_group **out,
		       struct unc_error *err)
{
	struct unc_perf_group *group = backend->first;
	int rc;

	while (group && !unc_perf_group_has(group, place, events, n))
		group = group->next;
	if (!group) {
		rc = open_group(backend, place, events, n, &group, err);
		if (rc < 0)
			return rc;
		backend->first = group;
	}
	group->users++;
	*out = group;
	return 0;
}

static void leave_group(struct unc_backend *backend, struct unc_perf_group *group)
{
	struct unc_perf_group **at = &backend->first;

	if (--group->users)
		return;
	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	unc_perf_group_close(group, backend->broker);
}

int unc_backend_join(struct unc_backend *backend, unsigned way,
		     const struct unc_kernel_place *place, const struct unc_kernel_event *events,
		     size_t n, struct unc_kernel_group **out, struct unc_error *err)
{
	struct unc_kernel_group *group = malloc(sizeof(*group) + n * sizeof(group->at[0]));
	int rc;

	if (!group)
		return unc_no_memory(err);
	pthread_mutex_lock(&backend->lock);
	rc = share_group(backend, place, events, n, &group->shared, err);
	pthread_mutex_unlock(&backend->lock);
	if (rc < 0) {
		free(group);
		return rc;
	}
	group->backend = backend;
	group->way = (uint8_t)way;
	for (size_t i = 0; i < n; i++)
		group->at[i] = unc_perf_group_find(group->shared, &events[i]);
	*out = group;
	return 0;
}

void unc_kernel_close(struct unc_kernel_group *group)
{
	if (!group)
		return;
	pthread_mutex_lock(&group->backend->lock);
	leave_group(group->backend, group->shared);
	pthread_mutex_unlock(&group->backend->lock);
	free(group);
}

void unc_kernel_forget(struct unc_kernel_group *group)
{
	free(group);
}

/* ---- reading */

void unc_kernel_op(struct unc_kernel_group *group, size_t i, struct unc_reg_op *out)
{
	const struct unc_kernel_place *place = &group->shared->place;

	*out = (struct unc_reg_op){
		.kind = UNC_OP_READ,
		.reg = {.address = (uint64_t)place->type << 32 | group->at[i],
			.target = place->cpu,
			.space = UNC_SPACE_PERF,
			.width = 64,
			.way = group->way},
		.handle.group = group->shared,
	};
}

uint64_t unc_kernel_idle(const struct unc_reg_op *op)
{
	const struct unc_perf_group *group = op->handle.group;

	return atomic_load(&group->idle);
}

uint64_t unc_kernel_ran(const struct unc_reg_op *op)
{
	const struct unc_perf_group *group = op->handle.group;

	return atomic_load(&group->ran);
}

static int kernel_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	(void)backend;
	for (size_t i = 0; i < n;) {
		struct unc_perf_group *group = ops[i].handle.group;

		pthread_mutex_lock(&group->lock);
		int rc = unc_perf_group_read(group);
		for (; i < n && ops[i].handle.group == group; i++) {
			if (rc == 0)
				ops[i].value =
					group->data[UNC_GROUP_VALUE + (uint32_t)ops[i].reg.address];
			failed += unc_op_done(&ops[i], rc);
		}
		pthread_mutex_unlock(&group->lock);
	}
	return failed;
}

static void kernel_close(struct unc_backend *backend)
{
	/* In a forked process: its owner's. */
	for (struct unc_perf_group *next; backend->first; backend->first = next) {
		next = backend->first->next;
		unc_perf_group_close(backend->first, NULL);
	}
	unc_broker_free(backend->broker);
	pthread_mutex_destroy(&backend->lock);
}

const struct unc_access_methods unc_access_kernel = {
	.name = "kernel",
	.backend = sizeof(struct unc_backend),
	.open = kernel_open,
	.run = kernel_run,
	.close = kernel_close,
};

const struct unc_access_methods unc_access_broker = {
	.name = "broker",
	.backend = sizeof(struct unc_backend),
	.open = broker_open,
	.run = kernel_run,
	.close = kernel_close,
};
