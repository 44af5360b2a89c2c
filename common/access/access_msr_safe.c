/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model-specific registers through the module msr-safe (https://github.com/LLNL/msr-safe): lists of
 * operations in one call, each checked against an allowlist that the administrator keeps. The
 * module refuses a list in which a register is not allowed, and runs nothing of it. Bits outside of
 * a register's write mask it leaves as they are without a word: so a unit is served only if the
 * masks hold all that the tables let us write.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ioctl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "access/access.h"
#include "base/grow.h"
#include "host/cpu.h"
#include "host/fs.h"
#include "host/machine.h"

static const char device[] = "/dev/cpu/msr_batch";

/* The module's interface: msr_safe.h of its source. */
struct batch_op {
	uint16_t cpu;
	uint16_t is_read;
	int32_t error; /* a negative errno value */
	uint32_t number;
	uint64_t value;
	uint64_t write_mask; /* of the allowlist, filled for reads too */
};

struct batch {
	uint32_t n;
	uint32_t version; /* before 2.0 not looked at */
	struct batch_op *op;
};

#define RUN_BATCH _IOWR('c', 0xA2, struct batch)

enum { INTERFACE = 2 << 16, MAX_BATCH = 64 };

/* A CPU that was asked for, and the one of its socket that stands in for it. */
struct seat {
	uint32_t cpu;
	atomic_uint_least32_t now;
};

struct unc_backend {
	struct unc_fs *fs;
	const struct unc_topology *topology; /* NULL: unknown */
	pthread_mutex_t lock;                /* of the file and the seats */
	int fd;                              /* -1: not opened yet */
	struct seat **seat;                  /* each on its own: operations keep pointers */
	size_t n;
};

static int open_device(const struct unc_fs *fs, struct unc_error *err)
{
	int fd = unc_fs_descriptor(fs, O_RDONLY, "%s", device);

	if (fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: no such file: the module msr-safe is not loaded", device);
	if (fd == UNC_ERR_PERMISSION)
		return unc_fail(err, fd,
				"%s: permission denied: its group may use msr-safe, or root",
				device);
	return fd < 0 ? unc_fail(err, fd, "%s: %s", device, unc_fs_reason(errno)) : fd;
}

static int safe_detect(struct unc_machine *machine, struct unc_error *err)
{
	int fd = open_device(machine->fs, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void safe_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->fs = machine->fs;
	backend->fd = -1;
	pthread_mutex_init(&backend->lock, NULL);
}

static void safe_topology(struct unc_backend *backend, const struct unc_topology *topology)
{
	backend->topology = topology;
}

static struct seat *find_seat(struct unc_backend *backend, uint32_t cpu)
{
	struct seat *seat, **more;

	for (size_t i = 0; i < backend->n; i++)
		if (backend->seat[i]->cpu == cpu)
			return backend->seat[i];
	more = unc_grow(backend->seat, backend->n, sizeof(*more));
	if (!more)
		return NULL;
	backend->seat = more;
	seat = malloc(sizeof(*seat));
	if (!seat)
		return NULL;
	seat->cpu = cpu;
	atomic_init(&seat->now, cpu);
	return more[backend->n++] = seat;
}

/* Opens the device once; the seat of a CPU. */
static int take_seat(struct unc_backend *backend, uint32_t cpu, struct seat **out,
		     struct unc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&backend->lock);
	if (backend->fd < 0) {
		rc = open_device(backend->fs, err);
		backend->fd = rc < 0 ? -1 : rc;
	}
	*out = rc < 0 ? NULL : find_seat(backend, cpu);
	pthread_mutex_unlock(&backend->lock);
	if (rc < 0)
		return rc;
	return *out ? 0 : unc_fail(err, UNC_ERR_MEMORY, "out of memory");
}

/* Runs a list. 0, or the errno value of the whole; each has its own in op[].error. */
static int run_batch(const struct unc_backend *backend, struct batch_op *op, size_t n)
{
	struct batch batch = {.n = (uint32_t)n, .version = INTERFACE, .op = op};

	return ioctl(backend->fd, RUN_BATCH, &batch) < 0 ? errno : 0;
}

/* What a list is made of; handle.sim is the seat of the operation's CPU. */
static struct batch_op batch_op(const struct unc_reg_op *op)
{
	const struct seat *seat = op->handle.sim;

	return (struct batch_op){
		.cpu = (uint16_t)atomic_load_explicit(&seat->now, memory_order_relaxed),
		.is_read = op->kind == UNC_OP_READ,
		.number = (uint32_t)op->reg.address,
		.value = op->value,
	};
}

/* ---- one operation */

/* 0 or an errno value. EROFS (no write mask) is a matter of rights here. */
static int run_one(const struct unc_backend *backend, struct batch_op *op)
{
	int rc = run_batch(backend, op, 1);

	if (op->error)
		rc = -op->error;
	if (rc == 0 && !op->is_read && op->value & ~op->write_mask)
		rc = EACCES;
	return rc == EROFS ? EACCES : rc;
}

/* Where the CPU went offline another one of its socket takes its place. */
static int transfer(const struct unc_backend *backend, struct unc_reg_op *op)
{
	struct seat *seat = op->handle.sim;
	struct batch_op one = batch_op(op);
	int rc = run_one(backend, &one), cpu;

	for (unsigned i = 0; rc == ENXIO; i++) {
		cpu = unc_topology_sibling(backend->topology, seat->cpu, i);
		if (cpu < 0)
			break;
		if (backend->topology->cpu_quiet[cpu])
			continue;
		one = batch_op(op);
		one.cpu = (uint16_t)cpu;
		rc = run_one(backend, &one);
		if (rc == 0)
			atomic_store_explicit(&seat->now, (uint32_t)cpu, memory_order_relaxed);
	}
	if (rc == 0 && op->kind == UNC_OP_READ)
		op->value = one.value;
	return rc;
}

/* ---- whether it can be reached */

static int fail_register(const struct unc_reg *reg, int errno_value, struct unc_error *err)
{
	uint64_t number = reg->address;

	switch (errno_value) {
	case EACCES:
		return unc_fail(err, UNC_ERR_PERMISSION,
				"msr 0x%" PRIx64 " is not on the allowlist of msr-safe", number);
	case EIO:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u does not exist: a virtual machine, "
				"or not the CPU of the table",
				number, reg->target);
	case ENXIO:
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u is offline", reg->target);
	case ENOTTY:
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s is no device of msr-safe", device);
	case ENOPROTOOPT:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: msr-safe wants another version of its interface than 2",
				device);
	default:
		return unc_fail(err, unc_fs_error(errno_value), "%s: %s", device,
				strerror(errno_value));
	}
}

/* Reads a list of registers for their write masks. What cannot be read is left to the probe. */
static int check_masks(const struct unc_backend *backend, const struct unc_allowed *regs,
		       struct batch_op *op, size_t n, struct unc_error *err)
{
	int rc = run_batch(backend, op, n);
	bool told = false;

	for (size_t i = 0; i < n; i++) {
		told |= op[i].error != 0;
		if (op[i].error == -EACCES || op[i].error == -ENXIO)
			return fail_register(&regs[i].reg, -op[i].error, err);
		if (!op[i].error && regs[i].write_mask & ~op[i].write_mask)
			return unc_fail(err, UNC_ERR_PERMISSION,
					"the allowlist of msr-safe lets 0x%" PRIx64
					" be written to msr 0x%" PRIx64 "; 0x%" PRIx64 " is needed",
					op[i].write_mask, regs[i].reg.address, regs[i].write_mask);
	}
	return rc && !told ? fail_register(&regs[0].reg, rc, err) : 0;
}

static int safe_serves(struct unc_backend *backend, const struct unc_allowed *regs, size_t n,
		       struct unc_error *err)
{
	struct batch_op op[MAX_BATCH];
	int rc = 0;

	for (size_t i = 0, k; i < n && rc == 0; i += k) {
		for (k = 0; k < MAX_BATCH && i + k < n && rc == 0; k++) {
			struct unc_reg_op read = {.reg = regs[i + k].reg, .kind = UNC_OP_READ};
			struct seat *seat;

			rc = take_seat(backend, read.reg.target, &seat, err);
			read.handle.sim = seat;
			if (rc == 0)
				op[k] = batch_op(&read);
		}
		if (rc == 0)
			rc = check_masks(backend, regs + i, op, k, err);
	}
	return rc;
}

static int safe_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	struct seat *seat;
	int rc = take_seat(backend, op->reg.target, &seat, err);

	if (rc < 0)
		return rc;
	op->handle.sim = seat;
	if (op->kind != UNC_OP_READ || op->tried)
		return 0;
	rc = transfer(backend, op);
	op->errno_value = (int16_t)rc;
	return rc ? fail_register(&op->reg, rc, err) : 0;
}

/* ---- running */

/* Reads as one list. False: nothing is known, for one that fails keeps all from being run. */
static bool read_list(const struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	struct batch_op op[MAX_BATCH];

	for (size_t i = 0; i < n; i++)
		op[i] = batch_op(&ops[i]);
	if (run_batch(backend, op, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		ops[i].value = op[i].value;
		unc_op_done(&ops[i], 0);
	}
	return true;
}

/* Reads go together, on all CPUs at once; writes one by one, in their order. */
static int safe_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	for (size_t i = 0, k; i < n; i += k) {
		for (k = 0; k < MAX_BATCH && i + k < n && ops[i + k].kind == UNC_OP_READ; k++)
			continue;
		if (k > 1 && read_list(backend, ops + i, k))
			continue;
		k = k ? k : 1;
		for (size_t j = i; j < i + k; j++)
			failed += unc_op_done(&ops[j], transfer(backend, &ops[j]));
	}
	return failed;
}

static void safe_close(struct unc_backend *backend)
{
	for (size_t i = 0; i < backend->n; i++)
		free(backend->seat[i]);
	free(backend->seat);
	if (backend->fd >= 0)
		close(backend->fd);
	pthread_mutex_destroy(&backend->lock);
}

const struct unc_access_methods unc_access_msr_safe = {
	.name = "msr-safe",
	.spaces = 1 << UNC_SPACE_MSR,
	.detect = safe_detect,
	.backend = sizeof(struct unc_backend),
	.open = safe_open,
	.topology = safe_topology,
	.serves = safe_serves,
	.prepare = safe_prepare,
	.run = safe_run,
	.close = safe_close,
};
