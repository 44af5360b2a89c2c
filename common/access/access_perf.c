/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that the kernel owns, through perf_event_open. They have no registers: writing a config opens
 * an event, writing 0 closes it, and its count is read from its file. The kernel chooses the counters
 * and shares them with its other users. The events are pinned: an event without a counter is an error,
 * never a number scaled up from a part of the time.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/access.h"
#include "host/machine.h"

struct perf_reg {
	struct perf_reg *next;
	struct unc_reg reg;
	uint64_t value;   /* config or config1, as written */
	int fd;           /* the open event; -1: none */
	uint64_t enabled; /* ns of counting, at its last read */
	uint64_t read_ns; /* the time of that read */
};

struct unc_backend {
	struct unc_machine *machine;
	pthread_mutex_t lock;   /* for the list: one thread may prepare while another runs */
	struct perf_reg *first; /* operations keep pointers to them */
};

static uint32_t perf_number(const struct unc_reg *reg)
{
	return (uint32_t)reg->address;
}

static void perf_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
	pthread_mutex_init(&backend->lock, NULL);
}

static int open_pinned(const struct unc_backend *backend, const struct unc_reg *reg,
		       uint64_t config, uint64_t config1, bool disabled)
{
	struct unc_machine *machine = backend->machine;
	struct perf_event_attr attr = {
		.type = (uint32_t)(reg->address >> 32),
		.size = sizeof(attr),
		.config = config,
		.config1 = config1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = disabled,
		.pinned = 1,
	};

	return machine->events->open(machine, &attr, (int)reg->target, -1);
}

/* Tests whether the kernel offers any event of this type on this CPU. */
static int test_event_type(const struct unc_backend *backend, const struct unc_reg *reg,
			   struct unc_error *err)
{
	struct unc_reg generic = *reg;

	/* Raw events need a core PMU, and so does generic event 0 (clocks), which is tested instead. */
	if (reg->address >> 32 == PERF_TYPE_RAW)
		generic.address = (uint64_t)PERF_TYPE_HARDWARE << 32;
	int fd = open_pinned(backend, &generic, 0, 0, true);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == EACCES || errno == EPERM)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"perf_event_open on cpu %u: permission denied: root, CAP_PERFMON "
				"or kernel.perf_event_paranoid below 1 is needed",
				reg->target);
	if (errno == ENOENT || errno == EOPNOTSUPP)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel has no core PMU for cpu %u: a virtual machine without "
				"one, or it is switched off",
				reg->target);
	if (errno == ENODEV)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"perf_event_open: cpu %u is offline, or has no events of this type",
				reg->target);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "perf_event_open on cpu %u: %s", reg->target,
			strerror(errno));
}

static struct perf_reg *find_perf_reg(const struct unc_backend *backend, const struct unc_reg *reg)
{
	struct perf_reg *have = backend->first;

	while (have && (have->reg.address != reg->address || have->reg.target != reg->target))
		have = have->next;
	return have;
}

static struct perf_reg *find_or_add_perf_reg(struct unc_backend *backend, const struct unc_reg *reg)
{
	struct perf_reg *have = find_perf_reg(backend, reg);

	if (have || !(have = malloc(sizeof(*have))))
		return have;
	*have = (struct perf_reg){.reg = *reg, .fd = -1, .next = backend->first};
	return backend->first = have;
}

static int perf_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	struct unc_reg config = op->reg;
	int rc = 0;

	if (!backend->machine->events)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"a dump of a machine has no counters of the kernel");
	/* A count belongs to the row of its event: one row serves both. */
	if (perf_number(&op->reg) >= UNC_PERF_COUNT && perf_number(&op->reg) < UNC_PERF_EXTRA)
		config.address -= UNC_PERF_COUNT;
	pthread_mutex_lock(&backend->lock);
	if (op->kind == UNC_OP_READ && perf_number(&config) < UNC_PERF_COUNT &&
	    !find_perf_reg(backend, &config))
		rc = test_event_type(backend, &config, err);
	op->handle.sim = rc == 0 ? find_or_add_perf_reg(backend, &config) : NULL;
	pthread_mutex_unlock(&backend->lock);
	if (rc == 0 && !op->handle.sim)
		rc = unc_no_memory(err);
	return rc;
}

static int write_config(struct unc_backend *backend, struct perf_reg *event, uint64_t value)
{
	struct unc_reg extra = event->reg;

	if (event->fd >= 0)
		close(event->fd);
	event->fd = -1;
	event->value = event->enabled = event->read_ns = 0;
	if (!value)
		return 0;
	extra.address &= ~(uint64_t)UINT32_MAX;
	extra.address |= UNC_PERF_EXTRA | (value & 0xff);
	pthread_mutex_lock(&backend->lock);
	const struct perf_reg *with = find_perf_reg(backend, &extra);
	pthread_mutex_unlock(&backend->lock);
	event->fd = open_pinned(backend, &event->reg, value, with ? with->value : 0, false);
	if (event->fd < 0)
		return errno;
	event->value = value;
	return 0;
}

/*
 * Reads a count; an event that is not open has counted 0. If its CPU went offline, the event keeps
 * returning its old count: only the time enabled, which no longer advances, shows that.
 */
static int read_count(const struct unc_machine *machine, struct perf_reg *event, uint64_t *value)
{
	const uint64_t moment = 1000000;
	uint64_t before = unc_machine_now(machine);
	struct {
		uint64_t count, enabled;
	} r;
	ssize_t got;

	*value = 0;
	if (event->fd < 0)
		return 0;
	got = read(event->fd, &r, sizeof(r));
	if (got != sizeof(r))
		return got < 0 ? errno : EBUSY; /* end of file: a pinned event without a counter */
	if (r.enabled == event->enabled && event->read_ns && before - event->read_ns > moment)
		return ENODEV;
	event->enabled = r.enabled;
	event->read_ns = unc_machine_now(machine);
	*value = r.count;
	return 0;
}

static int perf_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct unc_reg_op *op = &ops[i];
		struct perf_reg *reg = op->handle.sim;
		uint32_t number = perf_number(&op->reg);
		int rc = 0;

		if (number >= UNC_PERF_COUNT && number < UNC_PERF_EXTRA)
			rc = read_count(backend->machine, reg, &op->value);
		else if (op->kind == UNC_OP_READ)
			op->value = reg->value;
		else if (number >= UNC_PERF_EXTRA)
			reg->value = op->value;
		else
			rc = write_config(backend, reg, op->value);
		failed += unc_op_done(op, rc);
	}
	return failed;
}

static void perf_close(struct unc_backend *backend)
{
	for (struct perf_reg *next; backend->first; backend->first = next) {
		next = backend->first->next;
		if (backend->first->fd >= 0)
			close(backend->first->fd);
		free(backend->first);
	}
	pthread_mutex_destroy(&backend->lock);
}

const struct unc_access_methods unc_access_perf = {
	.name = "perf",
	.spaces = 1 << UNC_SPACE_PERF,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = perf_open,
	.prepare = perf_prepare,
	.run = perf_run,
	.close = perf_close,
};
