/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and reads groups of the kernel's events. */
#include "access/kernel_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "access/broker.h"
#include "host/cpu.h"
#include "host/events.h"
#include "host/perf_users.h"

/* ---- opening */

static int fail_descriptors(const struct unc_kernel_group *group, size_t opened,
			    struct unc_error *err)
{
	struct rlimit limit = {0};
	size_t have = opened;

	for (const struct unc_kernel_group *other = group->next; other; other = other->next)
		have += other->n;
	getrlimit(RLIMIT_NOFILE, &limit);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"each event of the kernel needs a file descriptor: %zu are open and %zu "
			"more are needed for this unit alone, but the process may have %llu in "
			"all: raise the hard limit of open files (ulimit -Hn, LimitNOFILE=)",
			have, group->n - opened, (unsigned long long)limit.rlim_cur);
}

/* Reports why event i could not be opened. */
static int fail_event(const struct unc_kernel_group *group, size_t i, int errno_value,
		      struct unc_error *err)
{
	const struct unc_kernel_event *event = &group->event[i];

	switch (errno_value) {
	case EACCES:
	case EPERM:
		return unc_perf_refused(group->backend->machine->fs, errno_value, err);
	case EMFILE:
		return fail_descriptors(group, i, err);
	case ENOMEM:
		return unc_no_memory(err);
	case EBUSY:
		return unc_fail(err, UNC_ERR_BUSY,
				"another event of the kernel has exclusive use of these counters");
	case ENODEV:
		return unc_fail(err, UNC_ERR_NOT_FOUND, "cpu %u is offline", group->place.cpu);
	case ENOENT:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel has no PMU of type %u: its driver was unloaded",
				group->place.type);
	case EINVAL:
		if (i > 0)
			return unc_fail(err, UNC_ERR_CONFLICT,
					"the kernel does not count config=0x%" PRIx64
					" together with %zu other event%s: too few counters, or "
					"one filter for two values",
					event->config, i, i == 1 ? "" : "s");
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel refuses config=0x%" PRIx64
				" on cpu %u: the unit is not there, or has no such event, or its "
				"socket is offline",
				event->config, group->place.cpu);
	default:
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "perf_event_open on cpu %u: %s",
				group->place.cpu, strerror(errno_value));
	}
}

/* Returns 0 or errno. An empty read means a pinned group without counters. If a CPU goes offline without a
 * replacement, the kernel splits its groups, and the leader's time enabled stops. If another process closed a
 * member, that time goes on. */
static int read_data(struct unc_kernel_group *group)
{
	struct unc_machine *machine = group->backend->machine;
	size_t size = (UNC_GROUP_VALUE + group->n) * sizeof(*group->data);
	long got = machine->events->read(machine, group->fd[0], group->data, size);
	uint64_t enabled = group->data[UNC_GROUP_ENABLED];

	if (got < 0)
		return errno;
	if (got == 0)
		return EBUSY;
	if (group->data[UNC_GROUP_N] < group->n) {
		machine->events->read(machine, group->fd[0], group->data, size);
		return group->ended = group->data[UNC_GROUP_ENABLED] == enabled ? ENODEV : ENOLINK;
	}
	return (size_t)got == size && group->data[UNC_GROUP_N] == group->n ? 0 : EIO;
}

/* Checks that counts only grow: another process with the same descriptors may have set one to 0. */
static int check_values(struct unc_kernel_group *group)
{
	for (size_t i = 0; i < group->n; i++) {
		if (group->data[UNC_GROUP_VALUE + i] < group->last[i])
			return group->ended = ERANGE;
		group->last[i] = group->data[UNC_GROUP_VALUE + i];
	}
	return 0;
}

/*
 * Checks that the group still counts. If all its CPUs went offline, it keeps returning old counts; only its
 * time enabled, which falls behind the clock (by more than 0.2 %), shows that. If that time has stopped, the
 * group has ended; otherwise the delay was a gap in which the kernel moved it to another CPU.
 */
static int check_time(struct unc_kernel_group *group, uint64_t before)
{
	const uint64_t ms = 1000000;
	uint64_t elapsed = before - group->seen, enabled = group->data[UNC_GROUP_ENABLED];
	uint64_t advanced = enabled - group->enabled;
	int rc = 0;

	if (group->timed && elapsed > advanced + elapsed / 500 + ms) {
		rc = read_data(group);
		if (rc == 0 && group->data[UNC_GROUP_ENABLED] == enabled)
			rc = group->ended = ENODEV;
		group->gaps += elapsed - advanced;
		group->timed = false;
	}
	/* Not at each read: between frequent reads the allowed difference would hide a group that has ended. */
	if (rc == 0 && (!group->timed || elapsed >= 100 * ms)) {
		group->timed = true;
		group->seen = unc_machine_now(group->backend->machine);
		group->enabled = group->data[UNC_GROUP_ENABLED];
	}
	return rc;
}

int unc_kernel_group_read(struct unc_kernel_group *group)
{
	uint64_t before = unc_machine_now(group->backend->machine);
	int rc = group->ended ? group->ended : read_data(group);

	if (rc == 0)
		rc = check_time(group, before);
	if (rc == 0)
		rc = check_values(group);
	group->lost |= rc == EBUSY;
	if (rc)
		return rc;
	atomic_store(&group->ran, group->data[UNC_GROUP_RUNNING]);
	atomic_store(&group->idle,
		     group->gaps + group->data[UNC_GROUP_ENABLED] - group->data[UNC_GROUP_RUNNING]);
	return 0;
}

/* Waits until the time enabled advances: groups of a socket that went offline keep their old counts, and
 * their time has stopped. Returns 0 or errno. */
static int wait_until_counting(struct unc_kernel_group *group)
{
	const uint64_t ms = 1000000;
	int error = unc_kernel_group_read(group);
	uint64_t enabled = group->data[UNC_GROUP_ENABLED];

	for (unsigned i = 0; !error && group->data[UNC_GROUP_ENABLED] == enabled; i++) {
		if (i == 20)
			return ENODEV;
		if (i > 0)
			group->backend->machine->methods->pause(group->backend->machine, ms);
		error = unc_kernel_group_read(group);
	}
	return error;
}

/* Opens a group through the broker. If it is shared with other processes of the user and no longer counts,
 * the broker replaces it. */
static int open_passed(struct unc_kernel_group *group, struct unc_error *err)
{
	struct unc_broker *broker = group->backend->broker;
	int rc, error = ENODEV;

	for (int dead = 0; dead <= 1 && error; dead++) {
		rc = unc_broker_open(broker, &group->place, group->event, group->n, dead, group->fd,
				     err);
		if (rc < 0 && dead) /* the dead group is still open */
			unc_broker_close(broker, group->call, &group->place, group->event,
					 group->n);
		if (rc < 0)
			return rc;
		group->call = unc_broker_call(broker);
		group->ended = 0;
		group->timed = false;
		memset(group->last, 0, group->n * sizeof(*group->last));
		error = wait_until_counting(group);
		if (error)
			unc_events_close(group->backend->machine, group->fd, group->n);
	}
	if (error)
		unc_broker_close(broker, group->call, &group->place, group->event, group->n);
	if (error)
		return unc_fail(err, UNC_ERR_IO, "what the broker opened on %s does not count: %s",
				group->place.pmu, strerror(error));
	return 0;
}

/* Opens a pinned group; if others leave too few counters, one that is not pinned. */
static int open_own(struct unc_kernel_group *group, struct unc_error *err)
{
	int error = EBUSY;
	size_t refused;

	for (int pinned = 1; pinned >= 0 && error == EBUSY; pinned--) {
		error = unc_events_open(group->backend->machine, &group->place, group->event,
					group->n, pinned, group->fd, &refused);
		if (error)
			return fail_event(group, refused, error, err);
		group->lost = false;
		error = unc_kernel_group_read(group);
		if (error)
			unc_events_close(group->backend->machine, group->fd, group->n);
	}
	if (error)
		return unc_fail(err, UNC_ERR_IO,
				"events of the kernel on cpu %u cannot be read: %s",
				group->place.cpu, strerror(error));
	return 0;
}

/* Allocates a group without open events; NULL: out of memory. */
static struct unc_kernel_group *new_group(struct unc_backend *backend,
					  const struct unc_kernel_place *place,
					  const struct unc_kernel_event *events, size_t n)
{
	/* One block, with the arrays after the struct. */
	struct unc_kernel_group *group =
		calloc(1, sizeof(*group) + (UNC_GROUP_VALUE + 2 * n) * sizeof(*group->data) +
				  n * (sizeof(*group->event) + sizeof(*group->fd)));

	if (!group)
		return NULL;
	pthread_mutex_init(&group->lock, NULL);
	group->backend = backend;
	group->next = backend->first;
	group->place = *place;
	group->n = n;
	group->data = (uint64_t *)(group + 1);
	group->last = group->data + UNC_GROUP_VALUE + n;
	group->event = (struct unc_kernel_event *)(group->last + n);
	group->fd = (int *)(group->event + n);
	memcpy(group->event, events, n * sizeof(*events));
	return group;
}

static void free_group(struct unc_kernel_group *group)
{
	pthread_mutex_destroy(&group->lock);
	free(group);
}

/* Reports why the kernel takes each CPU of the socket for offline. */
static int fail_cpus(const struct unc_machine *machine, uint32_t of, struct unc_error *err)
{
	bool online[UNC_MAX_CPUS] = {false};
	char text[4096];
	int cpu;

	if (!machine->fs ||
	    unc_fs_text(machine->fs, text, sizeof(text), "/sys/devices/system/cpu/online") < 0 ||
	    !unc_cpu_list(text, online))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_NO_CPU);
	for (unsigned i = 0; (cpu = unc_topology_sibling(machine->top, of, i)) >= 0; i++)
		if (online[cpu])
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"perf_event_open: no such device, though cpu %d of the "
					"socket is online: the kernel's driver is being unloaded",
					cpu);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, UNC_NO_CPU);
}

/* If the CPU of the cpumask went offline meanwhile, any other CPU of the socket is used. */
int unc_kernel_group_open(struct unc_backend *backend, const struct unc_kernel_place *place,
			  const struct unc_kernel_event *events, size_t n,
			  struct unc_kernel_group **out, struct unc_error *err)
{
	const struct unc_topology *top = backend->machine->top;
	struct unc_kernel_group *group = new_group(backend, place, events, n);
	int rc, cpu;

	if (!group)
		return unc_no_memory(err);
	rc = backend->passed ? open_passed(group, err) : open_own(group, err);
	for (unsigned i = 0; !backend->passed && rc == UNC_ERR_NOT_FOUND &&
			     (cpu = unc_topology_sibling(top, place->cpu, i)) >= 0;
	     i++) {
		group->place.cpu = (uint32_t)cpu;
		rc = open_own(group, err);
	}
	if (!backend->passed && rc == UNC_ERR_NOT_FOUND)
		rc = fail_cpus(backend->machine, place->cpu, err);
	if (rc < 0) {
		free_group(group);
		return rc;
	}
	unc_error_clear(err);  /* errors of CPUs tried before */
	group->place = *place; /* later callers compare it */
	*out = backend->first = group;
	return 0;
}

void unc_kernel_group_close(struct unc_kernel_group *group, struct unc_broker *broker)
{
	unc_events_close(group->backend->machine, group->fd, group->n);
	if (broker)
		unc_broker_close(broker, group->call, &group->place, group->event, group->n);
	free_group(group);
}

/* ---- sharing */

size_t unc_kernel_group_find(const struct unc_kernel_group *group,
			     const struct unc_kernel_event *event)
{
	size_t i = 0;

	while (i < group->n && memcmp(&group->event[i], event, sizeof(*event)) != 0)
		i++;
	return i;
}

bool unc_kernel_group_has(struct unc_kernel_group *group, const struct unc_kernel_place *place,
			  const struct unc_kernel_event *events, size_t n)
{
	pthread_mutex_lock(&group->lock);
	bool has = !group->ended && !group->lost && group->place.type == place->type &&
		   group->place.cpu == place->cpu;
	pthread_mutex_unlock(&group->lock);

	for (size_t i = 0; i < n && has; i++)
		has = unc_kernel_group_find(group, &events[i]) < group->n;
	return has;
}
