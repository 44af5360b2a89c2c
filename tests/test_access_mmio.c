/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory behind the gate, on a file as /dev/mem. Expected sentences are the contract with the user.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "access_files.h"

static void test_mmio(void)
{
	uint64_t base = 0xfb922800, counter = 0x0000ffffffffffff;
	struct unc_reg_op ops[5];
	const char *mem;

	open_root();
	mem = fake_path(&root, "/dev/mem");
	fake_size(mem, 0xfb930000);
	fake_bytes(mem, base + 8, &counter, 8);
	allow(mmio(base + 0x08, 64), 0);
	allow(mmio(base + 0x40, 32), 0xffffffff);
	allow(mmio(base + 0x44, 32), 0xffffffff);
	allow(mmio(base + 0x2000, 64), UINT64_MAX); /* another page */
	ops[0] = read_of(mmio(base + 0x08, 64));
	ops[1] = write_of(mmio(base + 0x44, 32), 0x11111111);
	ops[2] = write_of(mmio(base + 0x40, 32), 0x22222222);
	ops[3] = read_of(mmio(base + 0x44, 32));
	ops[4] = write_of(mmio(base + 0x2000, 64), 0x3333333344444444);
	CHECK_NUMBER(unc_access_prepare(gate, ops, 5, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 5), 0);
	CHECK_NUMBER(ops[0].value, counter);
	/* Controls are 4 bytes apart: a wider store would have wiped the next. */
	CHECK_NUMBER(ops[3].value, 0x11111111);
	CHECK_NUMBER(fake_get(mem, base + 0x40, 8), 0x1111111122222222);
	CHECK_NUMBER(fake_get(mem, base + 0x2000, 8), 0x3333333344444444);
	/* Prepared again: the same mapping. */
	void *kept = (void *)ops[0].handle.ptr;
	CHECK_NUMBER(unc_access_prepare(gate, ops, 1, &err), 0);
	CU_ASSERT_PTR_EQUAL((void *)ops[0].handle.ptr, kept);
	close_root();
}

/* Memory that may be opened but not mapped for writing, as with STRICT_DEVMEM. */
static int sealed_memory(void)
{
	int fd = memfd_create("mem", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, 0x10000) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
		fake_die("memfd");
	return fd;
}

static void test_mmio_errors(void)
{
	char link[64];
	int fd;

	open_root();
	allow(mmio(0x1008, 64), 1);
	allow(mmio(0x100c, 64), 1);
	allow(mmio(0xfff8, 64), 1);
	REFUSED(read_of(mmio(0x1008, 64)), UNC_ERR_UNAVAILABLE,
		"/dev/mem: no such file: a container, or a kernel without it");
	REFUSED(read_of(mmio(0x100c, 64)), UNC_ERR_INVALID, "mmio 0x100c: no place for 64 bits");
	fd = sealed_memory();
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	CHECK_NUMBER(symlink(link, fake_path(&root, "/dev/mem")), 0);
	REFUSED(read_of(mmio(0x1008, 64)), UNC_ERR_PERMISSION,
		"/dev/mem: the kernel refuses page 0x1000: it is locked down, or built with "
		"STRICT_DEVMEM (boot with iomem=relaxed)");
	close(fd);
	close_root();

	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0xfffc);
	allow(mmio(0x1008, 64), 1);
	allow(mmio(0xfff8, 64), 1);
	allow(mmio(0x20000, 64), 1);
	REFUSED(read_of(mmio(0xfff8, 64)), UNC_ERR_UNAVAILABLE, "mmio 0xfff8 is not in this dump");
	REFUSED(read_of(mmio(0x20000, 64)), UNC_ERR_UNAVAILABLE,
		"mmio 0x20000 is not in this dump");
	close_root();

	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0x10000);
	allow(mmio(0x1008, 64), 1);
	chmod(fake_path(&root, "/dev/mem"), 0);
	fake_drop();
	REFUSED(read_of(mmio(0x1008, 64)), UNC_ERR_PERMISSION,
		"/dev/mem: permission denied: root with CAP_SYS_RAWIO is needed, and a kernel that "
		"is not locked down (Secure Boot)");
	fake_regain();
	chmod(fake_path(&root, "/dev/mem"), 0444);
	fake_drop();
	REFUSED(write_of(mmio(0x1008, 64), 1), UNC_ERR_PERMISSION,
		"/dev/mem can be read but not written: root with CAP_SYS_RAWIO is needed");
	REFUSED(read_of(mmio(0x1008, 64)), 0, NULL);
	fake_regain();
	close_root();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"mmio", test_mmio},
		{"mmio errors", test_mmio_errors},
		{NULL, NULL},
	};

	return suite_run("access_mmio", tests);
}
