/* SPDX-License-Identifier: BSD-3-Clause */
/* Model-specific registers through the kernel's msr driver: the file position is the number. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "fs.h"

struct cpu_file {
	uint32_t cpu;
	int fd;
	bool writable;
};

struct unc_backend {
	struct unc_fs *fs;
	struct cpu_file *file; /* one per CPU used: as many as there are sockets */
	size_t n;
};

static int msr_open(struct unc_fs *fs, struct unc_sim *sim, struct unc_backend **out,
		    struct unc_error *err)
{
	struct unc_backend *backend = calloc(1, sizeof(*backend));

	(void)sim;
	if (!backend)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	backend->fs = fs;
	*out = backend;
	return 0;
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

static struct cpu_file *cpu_file(struct unc_backend *backend, uint32_t cpu, struct unc_error *err)
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
		fail_open(backend, cpu, file.fd, err);
		return NULL;
	}
	more = realloc(backend->file, (backend->n + 1) * sizeof(file));
	if (!more) {
		close(file.fd);
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		return NULL;
	}
	backend->file = more;
	backend->file[backend->n] = file;
	return &backend->file[backend->n++];
}

/* Tries a read once, so that a missing register is a sentence now and not a code later. */
static int try_read(struct unc_reg_op *op, struct unc_error *err)
{
	unsigned cpu = op->reg.target;
	uint64_t number = op->reg.address, value;
	int rc = unc_read_at(op->handle.fd, &value, sizeof(value), number);

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
	struct cpu_file *file = cpu_file(backend, op->reg.target, &why);

	if (!file)
		return unc_fail(err, why.code, "%s", why.text);
	if (op->kind == UNC_OP_WRITE && !file->writable)
		return unc_fail(
			err, UNC_ERR_PERMISSION,
			"/dev/cpu/%u/msr can be read but not written: root or CAP_SYS_RAWIO "
			"is needed",
			op->reg.target);
	op->handle.fd = file->fd;
	return op->kind == UNC_OP_READ ? try_read(op, err) : 0;
}

static int msr_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	(void)backend;
	for (size_t i = 0; i < n; i++) {
		struct unc_reg_op *op = &ops[i];
		uint64_t number = op->reg.address, value = op->value;
		int rc;

		if (op->kind == UNC_OP_READ)
			rc = unc_read_at(op->handle.fd, &value, sizeof(value), number);
		else
			rc = unc_write_at(op->handle.fd, &value, sizeof(value), number);
		if (rc == 0)
			op->value = value;
		failed += unc_op_done(op, rc);
	}
	return failed;
}

static void msr_close(struct unc_backend *backend)
{
	for (size_t i = 0; i < backend->n; i++)
		close(backend->file[i].fd);
	free(backend->file);
	free(backend);
}

const struct unc_access_methods unc_access_msr = {
	.name = "msr",
	.space = UNC_SPACE_MSR,
	.open = msr_open,
	.prepare = msr_prepare,
	.run = msr_run,
	.close = msr_close,
};
