/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model-specific registers through the module msr-safe (https://github.com/LLNL/msr-safe): lists of
  * operations in one call, each checked against the administrator's allowlist. The module refuses a
  * list with a register that is not allowed, and runs nothing of it. It silently ignores bits outside
  * a register's write mask: so a unit is served only if the masks have all bits that the tables
  * allow to be written.
  */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "access/access.h"
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
	uint32_t version; /* ignored before 2.0 */
	struct batch_op *op;
};

#define RUN_BATCH _IOWR('c', 0xA2, struct batch)

enum { INTERFACE = 2 << 16, MAX_BATCH = 64 };

struct unc_backend {
	const struct unc_machine *machine;
	int fd; /* -1: not opened yet */
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
	backend->machine = machine;
	backend->fd = -1;
}

/* Opens the device once. No lock: called while the machine is opened, or by the gate under its lock. */
static int open_once(struct unc_backend *backend, struct unc_error *err)
{
	int fd = backend->fd < 0 ? open_device(backend->machine->fs, err) : backend->fd;

	if (fd < 0)
		return fd;
	backend->fd = fd;
	return 0;
}

/* Runs a list. Returns 0 or the errno value of the call; op[].error has that of each operation. */
static int run_batch(const struct unc_backend *backend, struct batch_op *op, size_t n)
{
	struct batch batch = {.n = (uint32_t)n, .version = INTERFACE, .op = op};

	return ioctl(backend->fd, RUN_BATCH, &batch) < 0 ? errno : 0;
}

static struct batch_op batch_op(const struct unc_reg_op *op, int cpu)
{
	return (struct batch_op){
		.cpu = (uint16_t)cpu,
		.is_read = op->kind == UNC_OP_READ,
		.number = (uint32_t)op->reg.address,
		.value = op->value,
	};
}

/* ---- one operation */

/* Returns 0 or an errno value. EROFS (no write mask) becomes EACCES: it is a matter of rights. */
static int run_batch_op(const struct unc_backend *backend, struct batch_op *op)
{
	int rc = run_batch(backend, op, 1);

	if (op->error)
		rc = -op->error;
	if (rc == 0 && !op->is_read && op->value & ~op->write_mask)
		rc = EACCES;
	return rc == EROFS ? EACCES : rc;
}

/* Runs an operation on CPU handle.fd. If that CPU went offline, another CPU of its socket replaces it. */
static int transfer_batch_op(const struct unc_backend *backend, struct unc_reg_op *op)
{
	const struct unc_topology *top = backend->machine->top;
	struct batch_op one = batch_op(op, op->handle.fd);
	int rc = run_batch_op(backend, &one), cpu;

	for (unsigned i = 0;
	     rc == ENXIO && (cpu = unc_topology_sibling(top, op->reg.target, i)) >= 0; i++) {
		if (top->cpu_quiet[cpu])
			continue;
		one = batch_op(op, cpu);
		rc = run_batch_op(backend, &one);
		if (rc == 0)
			op->handle.fd = cpu;
	}
	if (rc == 0 && op->kind == UNC_OP_READ)
		op->value = one.value;
	return rc;
}

/* ---- testing registers */

static int fail_register(const struct unc_reg *reg, int errno_value, struct unc_error *err)
{
	uint64_t number = reg->address;

	switch (errno_value) {
	case EACCES:
		return unc_fail(err, UNC_ERR_PERMISSION,
				"msr 0x%" PRIx64 " is not on the allowlist of msr-safe", number);
	case EIO:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u cannot be read: the CPU, or the "
				"hypervisor of a virtual machine, does not know it",
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

/* Reads a list of registers for their write masks. Other failed reads are left to the test of the unit. */
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
	int rc = open_once(backend, err);

	for (size_t i = 0, k; i < n && rc == 0; i += k) {
		for (k = 0; k < MAX_BATCH && i + k < n; k++) {
			const struct unc_reg_op read = {.reg = regs[i + k].reg,
							.kind = UNC_OP_READ};

			op[k] = batch_op(&read, (int)read.reg.target);
		}
		rc = check_masks(backend, regs + i, op, k, err);
	}
	return rc;
}

static int safe_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	int rc = open_once(backend, err);

	if (rc < 0)
		return rc;
	op->handle.fd = (int)op->reg.target;
	if (op->kind != UNC_OP_READ || op->tried)
		return 0;
	rc = transfer_batch_op(backend, op);
	op->errno_value = (int16_t)rc;
	return rc ? fail_register(&op->reg, rc, err) : 0;
}

/* ---- running */

/* Reads all registers as one list. False: no value is valid, because one failure stops the list. */
static bool read_batch(const struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	struct batch_op op[MAX_BATCH];

	for (size_t i = 0; i < n; i++)
		op[i] = batch_op(&ops[i], ops[i].handle.fd);
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
		if (k > 1 && read_batch(backend, ops + i, k))
			continue;
		k = k ? k : 1;
		for (size_t j = i; j < i + k; j++)
			failed += unc_op_done(&ops[j], transfer_batch_op(backend, &ops[j]));
	}
	return failed;
}

static void safe_close(struct unc_backend *backend)
{
	if (backend->fd >= 0)
		close(backend->fd);
}

const struct unc_access_methods unc_access_msr_safe = {
	.name = "msr-safe",
	.spaces = 1 << UNC_SPACE_MSR,
	.detect = safe_detect,
	.backend = sizeof(struct unc_backend),
	.open = safe_open,
	.serves = safe_serves,
	.prepare = safe_prepare,
	.run = safe_run,
	.close = safe_close,
};
