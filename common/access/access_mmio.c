/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory-mapped registers through /dev/mem: plain loads and stores of the register's width. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/access.h"
#include "base/grow.h"
#include "host/fs.h"
#include "host/machine.h"

struct page {
	uint64_t address;
	char *map;
};

struct unc_backend {
	struct unc_fs *fs;
	struct page *page; /* only pages that hold allowed registers */
	size_t n;
	uint64_t page_size;
	int fd;       /* -1: not opened yet */
	bool plain;   /* a plain file replaces the memory: access past its end would be fatal */
	uint64_t end; /* of the plain file */
	bool writable;
};

static void mmio_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->fs = machine->fs;
	backend->fd = -1;
	backend->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
}

static int open_dev_mem(struct unc_backend *backend, struct unc_error *err)
{
	struct stat st;
	int fd;

	if (backend->fd >= 0)
		return 0;
	/* O_SYNC: the kernel maps it uncached. */
	fd = unc_fs_descriptor(backend->fs, O_RDWR | O_SYNC, "/dev/mem");
	backend->writable = fd >= 0;
	if (fd == UNC_ERR_PERMISSION)
		fd = unc_fs_descriptor(backend->fs, O_RDONLY | O_SYNC, "/dev/mem");
	if (fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"/dev/mem: no such file: a container, or a kernel without it");
	if (fd == UNC_ERR_PERMISSION)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"/dev/mem: permission denied: root with CAP_SYS_RAWIO is needed, "
				"and a kernel that is not locked down (Secure Boot)");
	if (fd < 0)
		return unc_fail(err, fd, "/dev/mem: %s", unc_fs_reason(errno));
	if (!unc_fs_replayed(backend->fs) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		backend->plain = true;
		backend->end = (uint64_t)st.st_size;
	}
	backend->fd = fd;
	return 0;
}

static int fail_page(uint64_t address, int errno_value, struct unc_error *err)
{
	if (errno_value == EPERM || errno_value == EACCES)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"/dev/mem: the kernel refuses page 0x%" PRIx64
				": it is locked down, or built with STRICT_DEVMEM (boot with "
				"iomem=relaxed)",
				address);
	return unc_fail(err, unc_fs_error(errno_value), "/dev/mem: page 0x%" PRIx64 ": %s", address,
			strerror(errno_value));
}

/* Maps the page of `op`, once. */
static int find_page(struct unc_backend *backend, uint64_t address, const struct unc_reg_op *op,
		     char **map, struct unc_error *err)
{
	int access = PROT_READ | (backend->writable ? PROT_WRITE : 0);
	struct page *more;

	for (size_t i = 0; i < backend->n; i++)
		if (backend->page[i].address == address) {
			*map = backend->page[i].map;
			return 0;
		}
	more = unc_grow(backend->page, backend->n, sizeof(*more));
	if (!more)
		return unc_no_memory(err);
	backend->page = more;
	*map = mmap(NULL, backend->page_size, access, MAP_SHARED, backend->fd, (off_t)address);
	if (*map == MAP_FAILED) {
		int error = errno;

		unc_fs_note(backend->fs, backend->fd, op->kind == UNC_OP_WRITE, NULL,
			    op->reg.width / 8u, op->reg.address, error);
		return fail_page(address, error, err);
	}
	more[backend->n++] = (struct page){.address = address, .map = *map};
	return 0;
}

/* Checks that the dump that replaces the memory has a value of the register. */
static int prepare_recorded(struct unc_backend *backend, const struct unc_reg_op *op, uint64_t page,
			    struct unc_error *err)
{
	int rc = op->kind == UNC_OP_WRITE ? 0
					  : unc_fs_read_at(backend->fs, backend->fd, NULL,
							   op->reg.width / 8u, op->reg.address);

	if (rc == ENODATA)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "mmio 0x%" PRIx64 " is not in this dump",
				op->reg.address);
	return rc ? fail_page(page, rc, err) : 0;
}

static int mmio_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	uint64_t address = op->reg.address, bytes = op->reg.width / 8;
	uint64_t inside = address & (backend->page_size - 1);
	char *map = NULL;
	int rc;

	if ((bytes != 4 && bytes != 8) || address & (bytes - 1))
		return unc_fail(err, UNC_ERR_INVALID, "mmio 0x%" PRIx64 ": no place for %u bits",
				address, op->reg.width);
	rc = open_dev_mem(backend, err);
	if (rc < 0)
		return rc;
	if (op->kind == UNC_OP_WRITE && !backend->writable)
		return unc_fail(
			err, UNC_ERR_PERMISSION,
			"/dev/mem can be read but not written: root with CAP_SYS_RAWIO is needed");
	if (backend->plain && (address >= backend->end || backend->end - address < bytes))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "mmio 0x%" PRIx64 " is not in this dump",
				address);
	if (unc_fs_replayed(backend->fs))
		return prepare_recorded(backend, op, address - inside, err);
	rc = find_page(backend, address - inside, op, &map, err);
	if (rc < 0)
		return rc;
	op->handle.ptr = map + inside;
	return 0;
}

static int run_recorded(struct unc_backend *backend, struct unc_reg_op *op)
{
	bool read = op->kind == UNC_OP_READ;
	uint64_t value = op->value;
	size_t size = op->reg.width / 8u;
	int rc;

	if (read)
		value = 0;
	rc = read ? unc_fs_read_at(backend->fs, backend->fd, &value, size, op->reg.address)
		  : unc_fs_write_at(backend->fs, backend->fd, &value, size, op->reg.address);
	if (rc == 0)
		op->value = value;
	return unc_op_done(op, rc);
}

static int mmio_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct unc_reg_op *op = &ops[i];
		volatile uint64_t *wide = op->handle.ptr;
		volatile uint32_t *narrow = op->handle.ptr;

		if (unc_fs_replayed(backend->fs)) {
			failed += run_recorded(backend, op);
			continue;
		}
		if (op->kind == UNC_OP_READ)
			op->value = op->reg.width == 64 ? *wide : *narrow;
		else if (op->reg.width == 64)
			*wide = op->value;
		else
			*narrow = (uint32_t)op->value;
		unc_fs_note(backend->fs, backend->fd, op->kind == UNC_OP_WRITE, &op->value,
			    op->reg.width / 8u, op->reg.address, 0);
		unc_op_done(op, 0);
	}
	return failed;
}

static void mmio_close(struct unc_backend *backend)
{
	for (size_t i = 0; i < backend->n; i++)
		munmap(backend->page[i].map, backend->page_size);
	if (backend->fd >= 0)
		close(backend->fd);
	free(backend->page);
}

const struct unc_access_methods unc_access_mmio = {
	.name = "mmio",
	.spaces = 1 << UNC_SPACE_MMIO,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = mmio_open,
	.prepare = mmio_prepare,
	.run = mmio_run,
	.close = mmio_close,
};
