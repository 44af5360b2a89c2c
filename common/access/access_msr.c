/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model-specific registers through the kernel's msr driver: the file position is the number.
 *
 * The kernel interrupts the CPU of the file, unless the caller runs on it. All CPUs of a socket have the
 * same registers, so the registers of the caller's socket are accessed on the caller's CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "access/access.h"
#include "host/cpu.h"
#include "host/fs.h"
#include "host/machine.h"

enum {
	NOT_OPENED,
	NOT_TO_BE_HAD, /* instead of a descriptor, which is above 2 */
	MAX_OWN = 32   /* a thread that migrates must not use up the program's descriptors */
};

struct unc_backend {
	const struct unc_machine *machine;
	pthread_mutex_t lock; /* for opening files */
	atomic_uint n_own;    /* CPUs whose file was opened because a caller ran there */
	atomic_int writable;  /* the file found writable last */
	_Atomic int file[UNC_MAX_CPUS];
};

static void msr_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
	pthread_mutex_init(&backend->lock, NULL);
}

static int fail_msr_file(const struct unc_backend *backend, uint32_t cpu, int rc, int errno_value,
			 struct unc_error *err)
{
	if (rc == UNC_ERR_PERMISSION)
		return unc_fail(
			err, rc,
			"/dev/cpu/%u/msr: permission denied: root or CAP_SYS_RAWIO is needed", cpu);
	if (rc != UNC_ERR_NOT_FOUND)
		return unc_fail(err, rc, "/dev/cpu/%u/msr: %s", cpu, unc_fs_reason(errno_value));
	if (unc_fs_exists(backend->machine->fs, "/dev/cpu/%u/msr", cpu))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/cpu/%u/msr: the CPU is offline",
				cpu);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"/dev/cpu/%u/msr: no such file: load the msr module (modprobe msr)", cpu);
}

static int file_of_cpu(struct unc_backend *backend, uint32_t cpu)
{
	return atomic_load_explicit(&backend->file[cpu], memory_order_relaxed);
}

/* Opens the file of a CPU, once. Returns it, or UNC_ERR_* and errno. */
static int open_cpu_file(struct unc_backend *backend, uint32_t cpu)
{
	static const char path[] = "/dev/cpu/%u/msr";
	struct unc_fs *fs = backend->machine->fs;
	int fd;

	if (cpu >= UNC_MAX_CPUS)
		return UNC_ERR_NOT_FOUND;
	if ((fd = file_of_cpu(backend, cpu)) > NOT_TO_BE_HAD)
		return fd;
	pthread_mutex_lock(&backend->lock);
	if ((fd = file_of_cpu(backend, cpu)) <= NOT_TO_BE_HAD) {
		fd = unc_fs_descriptor(fs, O_RDWR, path, cpu);
		if (fd == UNC_ERR_PERMISSION)
			fd = unc_fs_descriptor(fs, O_RDONLY, path, cpu);
		if (fd >= 0)
			atomic_store_explicit(&backend->file[cpu], fd, memory_order_relaxed);
	}
	pthread_mutex_unlock(&backend->lock);
	return fd;
}

/* If a CPU is offline, any other CPU of its socket reaches the same registers. Returns the file of the next
 * one from *i on; UNC_ERR_NOT_FOUND: no more. */
static int sibling_file(struct unc_backend *backend, uint32_t cpu, unsigned *i)
{
	const struct unc_topology *top = backend->machine->top;
	int other, fd = UNC_ERR_NOT_FOUND;

	while (fd < 0 && (other = unc_topology_sibling(top, cpu, (*i)++)) >= 0)
		if ((uint32_t)other != cpu && !top->cpu_quiet[other])
			fd = open_cpu_file(backend, (uint32_t)other);
	return fd;
}

static bool is_writable(struct unc_backend *backend, int fd)
{
	if (atomic_load(&backend->writable) != fd) {
		if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return false;
		atomic_store(&backend->writable, fd);
	}
	return true;
}

static int transfer_value(const struct unc_backend *backend, struct unc_reg_op *op, int fd)
{
	const struct unc_fs *fs = backend->machine->fs;
	uint64_t value = op->value;
	int rc;

	if (op->kind == UNC_OP_WRITE)
		return unc_fs_write_at(fs, fd, &value, sizeof(value), op->reg.address);
	rc = unc_fs_read_at(fs, fd, &value, sizeof(value), op->reg.address);
	if (rc == 0)
		op->value = value;
	return rc;
}

/* Uses the file of the operation. If its CPU went offline, switches the operation to another CPU's file. */
static int transfer_or_move(struct unc_backend *backend, struct unc_reg_op *op)
{
	int rc = transfer_value(backend, op, op->handle.fd), fd;

	for (unsigned i = 0;
	     rc == ENXIO && (fd = sibling_file(backend, op->reg.target, &i)) >= 0;) {
		rc = transfer_value(backend, op, fd);
		if (rc != ENXIO)
			op->handle.fd = fd;
	}
	return rc;
}

/* Reads once for a test, so that a missing register is a sentence now instead of a code later. */
static int try_read(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	unsigned cpu = op->reg.target;
	uint64_t number = op->reg.address;
	int rc = transfer_or_move(backend, op);

	op->errno_value = (int16_t)rc;
	if (rc == 0)
		return 0;
	if (rc == ENODATA)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u is not in this dump", number, cpu);
	if (rc == EIO)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u cannot be read: the CPU, or the "
				"hypervisor of a virtual machine, does not know it",
				number, cpu);
	if (rc == ENXIO)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u is offline", cpu);
	return unc_fail(err, unc_fs_error(rc), "msr 0x%" PRIx64 " on cpu %u: %s", number, cpu,
			strerror(rc));
}

static int msr_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	int rc = open_cpu_file(backend, op->reg.target), error = errno, fd = rc;
	unsigned i = 0;

	if (rc < 0 && rc != UNC_ERR_PERMISSION)
		fd = sibling_file(backend, op->reg.target, &i);
	if (fd < 0)
		return fail_msr_file(backend, op->reg.target, rc, error, err);
	if (op->kind == UNC_OP_WRITE && !is_writable(backend, fd))
		return unc_fail(
			err, UNC_ERR_PERMISSION,
			"/dev/cpu/%u/msr can be read but not written: root or CAP_SYS_RAWIO "
			"is needed",
			op->reg.target);
	op->handle.fd = fd;
	return op->kind == UNC_OP_READ && !op->tried ? try_read(backend, op, err) : 0;
}

/* ---- running */

/* Returns the file of the CPU on which the caller runs. A file that cannot be opened is not tried again. */
static int caller_file(struct unc_backend *backend, uint32_t cpu)
{
	int fd = file_of_cpu(backend, cpu), none = NOT_OPENED;

	if (fd == NOT_OPENED)
		fd = atomic_fetch_add(&backend->n_own, 1) < MAX_OWN ? open_cpu_file(backend, cpu)
								    : -1;
	if (fd >= 0)
		return fd;
	atomic_compare_exchange_strong(&backend->file[cpu], &none, NOT_TO_BE_HAD);
	return NOT_TO_BE_HAD;
}

/* The socket on which the caller runs, and the file of its CPU; socket -1: not usable. */
struct seat {
	int socket, fd;
};

static struct seat find_seat(struct unc_backend *backend)
{
	const struct unc_topology *top = backend->machine->top;
	const struct unc_machine *machine = backend->machine;
	int cpu = machine->methods->cpu ? machine->methods->cpu(machine) : -1;
	struct seat seat = {.socket = -1};

	/* The CPU must have been online at discovery: otherwise its socket is not known. */
	if (!top || cpu < 0 || cpu >= UNC_MAX_CPUS || !top->cpu_socket[cpu])
		return seat;
	seat.fd = caller_file(backend, (uint32_t)cpu);
	if (seat.fd != NOT_TO_BE_HAD)
		seat.socket = unc_topology_socket(top, cpu);
	return seat;
}

static int run_msr_op(struct unc_backend *backend, struct unc_reg_op *op, const struct seat *seat)
{
	bool own = seat->socket >= 0 &&
		   unc_topology_socket(backend->machine->top, (int)op->reg.target) == seat->socket;
	int rc = own ? transfer_value(backend, op, seat->fd) : ENXIO;

	/* Another socket; or the caller's CPU went offline, or its file is read-only. */
	return rc == ENXIO || rc == EBADF ? transfer_or_move(backend, op) : rc;
}

static int msr_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	struct seat seat = find_seat(backend);
	int failed = 0;

	for (size_t i = 0; i < n; i++)
		failed += unc_op_done(&ops[i], run_msr_op(backend, &ops[i], &seat));
	return failed;
}

static void msr_close(struct unc_backend *backend)
{
	for (uint32_t cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		if (file_of_cpu(backend, cpu) > NOT_TO_BE_HAD)
			close(file_of_cpu(backend, cpu));
	pthread_mutex_destroy(&backend->lock);
}

const struct unc_access_methods unc_access_msr = {
	.name = "msr",
	.spaces = 1 << UNC_SPACE_MSR,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = msr_open,
	.prepare = msr_prepare,
	.run = msr_run,
	.close = msr_close,
};
