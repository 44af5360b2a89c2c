/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model-specific registers through the kernel's msr driver: the file position is the number.
 *
 * The kernel interrupts the CPU of the file, unless the caller runs there. All CPUs of a socket have
 * the same registers: those of the caller's own socket are accessed on the caller's CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/access.h"
#include "base/grow.h"
#include "host/cpu.h"
#include "host/fs.h"
#include "host/machine.h"

struct cpu_file {
	uint32_t cpu; /* that was asked for: another of its socket may have taken its place */
	int fd;
	bool writable;
};

enum {
	NOT_OPENED,
	NOT_TO_BE_HAD, /* in place of a descriptor, which is above 2 */
	MAX_OWN = 32   /* a thread that is moved about shall not use up the program's descriptors */
};

struct unc_backend {
	const struct unc_machine *machine;
	struct unc_fs *fs;
	const struct unc_topology *topology; /* NULL: unknown */
	pthread_mutex_t lock;                /* of the files */
	struct cpu_file *file;               /* one per CPU used: as many as there are sockets */
	size_t n;
	/* of each CPU on which a caller ran, for who runs there; NULL: for nobody */
	_Atomic int *own;
	unsigned n_own; /* that are open */
};

static void msr_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
	backend->fs = machine->fs;
	pthread_mutex_init(&backend->lock, NULL);
}

static void msr_topology(struct unc_backend *backend, const struct unc_topology *topology)
{
	backend->topology = topology;
	/* Without memory for it registers are accessed elsewhere. */
	if (backend->machine->methods->cpu && !backend->own)
		backend->own = calloc(UNC_MAX_CPUS, sizeof(*backend->own));
}

static int fail_open(const struct unc_backend *backend, uint32_t cpu, int rc, struct unc_error *err)
{
	if (rc == UNC_ERR_PERMISSION)
		return unc_fail(
			err, rc,
			"/dev/cpu/%u/msr: permission denied: root or CAP_SYS_RAWIO is needed", cpu);
	if (rc != UNC_ERR_NOT_FOUND)
		return unc_fail(err, rc, "/dev/cpu/%u/msr: %s", cpu, unc_fs_reason(errno));
	if (unc_fs_exists(backend->fs, "/dev/cpu/%u/msr", cpu))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/cpu/%u/msr: the CPU is offline",
				cpu);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"/dev/cpu/%u/msr: no such file: load the msr module (modprobe msr)", cpu);
}

/* Where a CPU is offline any other of its socket reaches the same registers. Those that went
 * offline since cannot be opened. -1: there is none. */
static int open_sibling(const struct unc_backend *backend, const struct cpu_file *file)
{
	int cpu, fd;

	for (unsigned i = 0; (cpu = unc_topology_sibling(backend->topology, file->cpu, i)) >= 0;
	     i++) {
		if ((uint32_t)cpu == file->cpu || backend->topology->cpu_quiet[cpu])
			continue;
		fd = unc_fs_descriptor(backend->fs, file->writable ? O_RDWR : O_RDONLY,
				       "/dev/cpu/%d/msr", cpu);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Puts a sibling in the place of a file that is open: whoever uses it goes on. */
static bool move_file(struct unc_backend *backend, int fd)
{
	bool moved = false;

	pthread_mutex_lock(&backend->lock);
	for (size_t i = 0; i < backend->n && !moved; i++) {
		int other =
			backend->file[i].fd == fd ? open_sibling(backend, &backend->file[i]) : -1;

		if (other < 0)
			continue;
		moved = dup3(other, fd, O_CLOEXEC) == fd;
		close(other);
	}
	pthread_mutex_unlock(&backend->lock);
	return moved;
}

static struct cpu_file *open_cpu(struct unc_backend *backend, uint32_t cpu, struct unc_error *err)
{
	struct cpu_file file = {.cpu = cpu, .writable = true};
	void *more;

	for (size_t i = 0; i < backend->n; i++)
		if (backend->file[i].cpu == cpu)
			return &backend->file[i];
	file.fd = unc_fs_descriptor(backend->fs, O_RDWR, "/dev/cpu/%u/msr", cpu);
	if (file.fd == UNC_ERR_PERMISSION) {
		file.writable = false;
		file.fd = unc_fs_descriptor(backend->fs, O_RDONLY, "/dev/cpu/%u/msr", cpu);
	}
	if (file.fd < 0) {
		int rc = file.fd, error = errno;

		file.fd = rc == UNC_ERR_PERMISSION ? -1 : open_sibling(backend, &file);
		errno = error;
		if (file.fd < 0) {
			fail_open(backend, cpu, rc, err);
			return NULL;
		}
	}
	more = unc_grow(backend->file, backend->n, sizeof(file));
	if (!more) {
		close(file.fd);
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		return NULL;
	}
	backend->file = more;
	backend->file[backend->n] = file;
	return &backend->file[backend->n++];
}

static bool cpu_file(struct unc_backend *backend, uint32_t cpu, struct cpu_file *out,
		     struct unc_error *err)
{
	const struct cpu_file *file;

	pthread_mutex_lock(&backend->lock);
	file = open_cpu(backend, cpu, err);
	if (file)
		*out = *file;
	pthread_mutex_unlock(&backend->lock);
	return file != NULL;
}

/* Tries a read once, so that a missing register is a sentence now and not a code later. */
static int try_read(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	unsigned cpu = op->reg.target;
	uint64_t number = op->reg.address, value;
	int rc = unc_read_at(op->handle.fd, &value, sizeof(value), number);

	if (rc == ENXIO && move_file(backend, op->handle.fd))
		rc = unc_read_at(op->handle.fd, &value, sizeof(value), number);
	op->errno_value = (int16_t)rc;
	if (rc == 0)
		return 0;
	if (rc == ENODATA)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u is not in this dump", number, cpu);
	if (rc == EIO)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%" PRIx64 " on cpu %u does not exist: a virtual machine, "
				"or not the CPU of the table",
				number, cpu);
	if (rc == ENXIO)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u is offline", cpu);
	return unc_fail(err, unc_fs_error(rc), "msr 0x%" PRIx64 " on cpu %u: %s", number, cpu,
			strerror(rc));
}

static int msr_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	struct unc_error why = {0};
	struct cpu_file file;

	if (!cpu_file(backend, op->reg.target, &file, &why))
		return unc_fail(err, why.code, "%s", why.text);
	if (op->kind == UNC_OP_WRITE && !file.writable)
		return unc_fail(
			err, UNC_ERR_PERMISSION,
			"/dev/cpu/%u/msr can be read but not written: root or CAP_SYS_RAWIO "
			"is needed",
			op->reg.target);
	op->handle.fd = file.fd;
	return op->kind == UNC_OP_READ && !op->tried ? try_read(backend, op, err) : 0;
}

/* ---- running */

/* The file of the CPU on which the caller runs: opened once, and kept. */
static int own_file(struct unc_backend *backend, int cpu)
{
	int fd = atomic_load_explicit(&backend->own[cpu], memory_order_relaxed);

	if (fd != NOT_OPENED)
		return fd;
	pthread_mutex_lock(&backend->lock);
	fd = atomic_load_explicit(&backend->own[cpu], memory_order_relaxed);
	if (fd == NOT_OPENED) {
		if (backend->n_own < MAX_OWN)
			fd = unc_fs_descriptor(backend->fs, O_RDWR, "/dev/cpu/%d/msr", cpu);
		backend->n_own += fd > NOT_TO_BE_HAD;
		fd = fd > NOT_TO_BE_HAD ? fd : NOT_TO_BE_HAD;
		atomic_store_explicit(&backend->own[cpu], fd, memory_order_relaxed);
	}
	pthread_mutex_unlock(&backend->lock);
	return fd;
}

/* Where the caller runs: socket -1 if that does not help. */
struct seat {
	int socket, fd;
};

static struct seat take_seat(struct unc_backend *backend)
{
	const struct unc_topology *top = backend->topology;
	int cpu = backend->own ? backend->machine->methods->cpu(backend->machine) : -1;
	struct seat seat = {.socket = -1};

	/* Only one that was online: of another the socket is a guess. */
	if (cpu < 0 || cpu >= UNC_MAX_CPUS || !top->cpu_socket[cpu])
		return seat;
	seat.fd = own_file(backend, cpu);
	if (seat.fd != NOT_TO_BE_HAD)
		seat.socket = unc_topology_socket(top, cpu);
	return seat;
}

static int transfer(struct unc_reg_op *op, int fd)
{
	uint64_t value = op->value;
	int rc;

	if (op->kind == UNC_OP_WRITE)
		return unc_write_at(fd, &value, sizeof(value), op->reg.address);
	rc = unc_read_at(fd, &value, sizeof(value), op->reg.address);
	if (rc == 0)
		op->value = value;
	return rc;
}

static int run_one(struct unc_backend *backend, struct unc_reg_op *op, const struct seat *seat)
{
	bool own = seat->socket >= 0 &&
		   unc_topology_socket(backend->topology, (int)op->reg.target) == seat->socket;
	int rc = transfer(op, own ? seat->fd : op->handle.fd);

	if (rc == ENXIO && own) /* the caller has moved, and that CPU is offline */
		rc = transfer(op, op->handle.fd);
	if (rc == ENXIO && move_file(backend, op->handle.fd))
		rc = transfer(op, op->handle.fd);
	return rc;
}

static int msr_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	struct seat seat = take_seat(backend);
	int failed = 0;

	for (size_t i = 0; i < n; i++)
		failed += unc_op_done(&ops[i], run_one(backend, &ops[i], &seat));
	return failed;
}

static void msr_close(struct unc_backend *backend)
{
	for (size_t i = 0; i < backend->n; i++)
		close(backend->file[i].fd);
	for (int cpu = 0; backend->own && cpu < UNC_MAX_CPUS; cpu++)
		if (backend->own[cpu] > NOT_TO_BE_HAD)
			close(backend->own[cpu]);
	free(backend->own);
	pthread_mutex_destroy(&backend->lock);
	free(backend->file);
}

const struct unc_access_methods unc_access_msr = {
	.name = "msr",
	.spaces = 1 << UNC_SPACE_MSR,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = msr_open,
	.topology = msr_topology,
	.prepare = msr_prepare,
	.run = msr_run,
	.close = msr_close,
};
