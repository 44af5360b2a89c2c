/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI configuration registers through sysfs. The kernel reads and writes them as dwords, in the order
 * of their offsets. */
#include "access/access_pci.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "access/access.h"
#include "base/grow.h"
#include "host/fs.h"
#include "host/machine.h"

enum {
	/* The high half changes once in 2^32 counts: if it changes at each try, this is no
	   counter. */
	MAX_TRIES = 4,
	/* Counts per ns that no counter reaches: 1000 per clock at 4 GHz. */
	FASTEST = 1 << 12,
	/* ns: more than a tick of the hardware clocks that Linux takes its time from. */
	TICK = 1 << 10,
	UNPRIVILEGED = 0x40 /* end of configuration space without CAP_SYS_ADMIN */
};

struct function_file {
	uint64_t function; /* UNC_PCI_FUNCTION() */
	int fd;
	bool writable;
};

struct unc_backend {
	struct unc_machine *machine;
	struct function_file *file;
	size_t n;
};

/* Whether the low half may have wrapped within `ns`. */
static bool may_wrap(uint32_t low, uint64_t ns)
{
	return ns >= UINT32_MAX / FASTEST || UINT32_MAX - low < (ns + TICK) * FASTEST;
}

int unc_halves_read(unc_halves_read_fn read, void *user, uint64_t *value)
{
	uint32_t half[2], high;
	uint64_t ns;
	int rc = read(user, half, &ns);
	bool sure = rc == 0 && !may_wrap(half[0], ns);

	for (int i = 0; i < MAX_TRIES && rc == 0 && !sure; i++) {
		high = half[1];
		rc = read(user, half, &ns);
		/* The low half is valid: the high half was the same before and after it. */
		sure = rc == 0 && (half[1] == high || !may_wrap(half[0], ns));
	}
	if (sure)
		*value = (uint64_t)half[1] << 32 | half[0];
	return rc || sure ? rc : EIO;
}

int unc_halves_write(unc_halves_write_fn write, void *user, uint64_t value, bool low_only)
{
	int rc = 0;

	if (!low_only && !(uint32_t)value)
		return write(user, UNC_HALF_BOTH, value);
	if (!low_only)
		rc = write(user, UNC_HALF_HIGH, value >> 32);
	return rc ? rc : write(user, UNC_HALF_LOW, (uint32_t)value);
}

static void pci_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
}

int unc_pci_dword(const struct unc_fs *fs, uint64_t address, uint32_t *value)
{
	int fd = unc_fs_regular(fs, UNC_PCI_CONFIG_PATH, unc_pci_name(address).text), rc = 0;
	uint32_t word;

	if (fd < 0)
		return errno;
	if (value)
		rc = unc_fs_read_at(fs, fd, &word, sizeof(word), UNC_PCI_OFFSET(address));
	close(fd);
	if (value && rc == 0)
		*value = le32toh(word); /* on machines of any byte order */
	return rc;
}

int unc_pci_fail(const struct unc_fs *fs, uint64_t address, int errno_value, struct unc_error *err)
{
	const struct unc_pci_name function = unc_pci_name(address);
	const unsigned offset = UNC_PCI_OFFSET(address);
	const char *name = function.text;
	unsigned long long end = 0;
	uint32_t dword;
	int fd, beyond = 0;

	if (errno_value == EPERM || errno_value == EACCES)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"pci %s offset 0x%x: permission denied: root is needed", name,
				offset);
	if (errno_value != ENODATA)
		return unc_fail(err, UNC_ERR_IO, "pci %s offset 0x%x: %s", name, offset,
				unc_fs_reason(errno_value));
	/* The space ends before the offset. Without rights the file size does not show where, so test a read. */
	fd = unc_fs_regular(fs, UNC_PCI_CONFIG_PATH, name);
	if (fd >= 0) {
		beyond = unc_fs_read_at(fs, fd, &dword, sizeof(dword), UNPRIVILEGED);
		end = (unsigned long long)unc_fs_size(fs, fd);
		close(fd);
	}
	if (beyond == ENODATA && offset >= UNPRIVILEGED && end >= UNPRIVILEGED)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"pci %s offset 0x%x: configuration space ends at 64 bytes: "
				"CAP_SYS_ADMIN is needed for more",
				name, offset);
	return unc_fail(err, offset > 0xff ? UNC_ERR_RANGE : UNC_ERR_UNAVAILABLE,
			"pci %s offset 0x%x is not reachable: the configuration space that the "
			"kernel shows ends at 0x%llx",
			name, offset, end);
}

static int open_function(struct unc_backend *backend, struct function_file *file,
			 struct unc_error *err)
{
	const struct unc_pci_name function = unc_pci_name(file->function);
	const char *name = function.text;

	file->fd = unc_fs_descriptor(backend->machine->fs, O_RDWR, UNC_PCI_CONFIG_PATH, name);
	file->writable = file->fd >= 0;
	if (file->fd == UNC_ERR_PERMISSION)
		file->fd = unc_fs_descriptor(backend->machine->fs, O_RDONLY, UNC_PCI_CONFIG_PATH,
					     name);
	if (file->fd >= 0)
		return 0;
	if (file->fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "pci %s: no such function", name);
	if (file->fd == UNC_ERR_PERMISSION)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"pci %s: permission denied: root is needed", name);
	return unc_fail(err, file->fd, "pci %s: %s", name, unc_fs_reason(errno));
}

/* Opens the file of a function, once. */
static int function_file(struct unc_backend *backend, uint64_t address,
			 const struct function_file **out, struct unc_error *err)
{
	struct function_file file = {.function = UNC_PCI_FUNCTION(address)}, *added;
	int rc;

	for (size_t i = 0; i < backend->n; i++)
		if (backend->file[i].function == file.function) {
			*out = &backend->file[i];
			return 0;
		}
	rc = open_function(backend, &file, err);
	if (rc < 0)
		return rc;
	if (!(added = UNC_ADD_TO(backend->file, backend->n))) {
		close(file.fd);
		return unc_no_memory(err);
	}
	*added = file;
	*out = added;
	return 0;
}

/* Reads the last dword for a test: the kernel ends the file where reading is not allowed or possible. A
 * register to be written may be unreadable: then the size of the file decides. */
static int try_reach(const struct unc_backend *backend, const struct unc_reg_op *op,
		     struct unc_error *err)
{
	unsigned offset = UNC_PCI_OFFSET(op->reg.address);
	unsigned last = offset + op->reg.width / 8u - 4u;
	struct unc_error why = {0};
	uint32_t value;
	int rc = 0;

	if (op->kind == UNC_OP_READ)
		rc = unc_fs_read_at(backend->machine->fs, op->handle.fd, &value, sizeof(value),
				    last);
	else if (unc_fs_size(backend->machine->fs, op->handle.fd) < (uint64_t)last + 4)
		rc = ENODATA;
	if (rc == 0)
		return 0;
	rc = unc_pci_fail(backend->machine->fs, op->reg.address, rc, &why);
	return unc_fail(err, rc == UNC_ERR_RANGE ? UNC_ERR_UNAVAILABLE : rc, "%s", why.text);
}

static int pci_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	const struct unc_pci_name function = unc_pci_name(op->reg.address);
	const struct function_file *file = NULL;
	int rc;

	if ((op->reg.width != 32 && op->reg.width != 64) || op->reg.address & 3 ||
	    UNC_PCI_OFFSET(op->reg.address) + op->reg.width / 8u > 4096)
		return unc_fail(err, UNC_ERR_INVALID, "pci %s offset 0x%x: no place for %u bits",
				function.text, UNC_PCI_OFFSET(op->reg.address), op->reg.width);
	rc = function_file(backend, op->reg.address, &file, err);
	if (rc < 0)
		return rc;
	if (op->kind == UNC_OP_WRITE && !file->writable)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"pci %s can be read but not written: root is needed",
				function.text);
	op->handle.fd = file->fd;
	return op->tried ? 0 : try_reach(backend, op, err);
}

/* A running operation, and the time at which the last access ended. */
struct transfer {
	const struct unc_machine *machine;
	struct unc_reg_op *op;
	uint64_t since;
};

static int read_halves(void *user, uint32_t half[2], uint64_t *ns)
{
	struct transfer *t = user;
	uint64_t before = t->since;
	int rc = unc_fs_read_at(t->machine->fs, t->op->handle.fd, half, 8,
				UNC_PCI_OFFSET(t->op->reg.address));

	t->since = unc_machine_now(t->machine);
	*ns = t->since - before;
	return rc;
}

static int write_halves(void *user, int half, uint64_t value)
{
	const struct transfer *t = user;
	const struct unc_reg_op *op = t->op;
	unsigned offset = UNC_PCI_OFFSET(op->reg.address) + (half == UNC_HALF_HIGH ? 4 : 0);

	return unc_fs_write_at(t->machine->fs, op->handle.fd, &value, half == UNC_HALF_BOTH ? 8 : 4,
			       offset);
}

static int run_pci_op(struct transfer *t)
{
	struct unc_reg_op *op = t->op;
	uint32_t value;
	int rc;

	if (op->kind == UNC_OP_WRITE)
		return unc_halves_write(write_halves, t, op->value,
					op->low_only || op->reg.width == 32);
	if (op->reg.width == 64)
		return unc_halves_read(read_halves, t, &op->value);
	rc = unc_fs_read_at(t->machine->fs, op->handle.fd, &value, 4,
			    UNC_PCI_OFFSET(op->reg.address));
	if (rc == 0)
		op->value = value;
	return rc;
}

static int pci_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	struct transfer t = {.machine = backend->machine,
			     .since = unc_machine_now(backend->machine)};
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		t.op = &ops[i];
		failed += unc_op_done(&ops[i], run_pci_op(&t));
	}
	return failed;
}

static void pci_close(struct unc_backend *backend)
{
	for (size_t i = 0; i < backend->n; i++)
		close(backend->file[i].fd);
	free(backend->file);
}

const struct unc_access_methods unc_access_pci = {
	.name = "pci",
	.spaces = 1 << UNC_SPACE_PCI,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = pci_open,
	.prepare = pci_prepare,
	.run = pci_run,
	.close = pci_close,
};
