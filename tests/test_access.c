/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate and the back ends, on files. Expected sentences are the contract with the user. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "access_files.h"
#include "access/access_pci.h"
#include "fault_io.h"

/* A register that cannot be read. */
static void allow_writes(struct unc_reg reg, uint64_t mask)
{
	struct unc_allowed allowed = {reg, mask, false};

	CHECK_NUMBER(unc_access_allow(gate, &allowed, 1, NULL), 0);
}

/* ------------------------------------------------------------------------ allowlist */

static void test_allowlist(void)
{
	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x4000);
	fake_size(fake_path(&root, "/dev/cpu/8/msr"), 0x4000);
	REFUSED(read_of(msr(0x2008, 0)), UNC_ERR_DENIED,
		"msr 0x2008 on cpu 0 is not a register of this machine's monitors");
	allow(msr(0x2010, 0), 0);
	allow(msr(0x2008, 0), 0xff);
	allow_writes(msr(0x2000, 0), 0x301);
	REFUSED(read_of(msr(0x2008, 0)), 0, NULL);
	REFUSED(write_of(msr(0x2008, 0), 0xff), 0, NULL);
	REFUSED(write_of(msr(0x2008, 0), 0x1ff), UNC_ERR_DENIED,
		"msr 0x2008 on cpu 0: value 0x1ff has bits outside of 0xff");
	REFUSED(read_of(msr(0x2000, 0)), UNC_ERR_DENIED, "msr 0x2000 on cpu 0 is write-only");
	REFUSED(write_of(msr(0x2000, 0), 0x301), 0, NULL);
	REFUSED(write_of(msr(0x2010, 0), 0), UNC_ERR_DENIED, "msr 0x2010 on cpu 0 is read-only");
	/* The same number on another CPU, and its neighbours, are other registers. */
	REFUSED(read_of(msr(0x2008, 8)), UNC_ERR_DENIED,
		"msr 0x2008 on cpu 8 is not a register of this machine's monitors");
	REFUSED(read_of(msr(0x2007, 0)), UNC_ERR_DENIED,
		"msr 0x2007 on cpu 0 is not a register of this machine's monitors");
	REFUSED(write_of(msr(0x10, 0), 0), UNC_ERR_DENIED,
		"msr 0x10 on cpu 0 is not a register of this machine's monitors");
	/* Given later, and twice: what any of the two may do. */
	allow(msr(0x2010, 0), 0xf00);
	REFUSED(write_of(msr(0x2010, 0), 0x100), 0, NULL);
	/* Another width is another access. */
	REFUSED(read_of((struct unc_reg){0x2008, 0, UNC_SPACE_MSR, 32, 0}), UNC_ERR_DENIED,
		"msr 0x2008 on cpu 0 has 64 bits, the access 32");
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_DENIED,
		"pci 0000:7f:10.0 offset 0xa0 is not a register of this machine's monitors");
	REFUSED(read_of(mmio(0x2008, 64)), UNC_ERR_DENIED,
		"mmio 0x2008 is not a register of this machine's monitors");
	REFUSED(read_of((struct unc_reg){0x2008, 0, UNC_N_SPACES, 64, 0}), UNC_ERR_DENIED,
		"? 0x2008 is not a register of this machine's monitors");
	close_root();
}

/* One bad operation and nothing is prepared, not even opened. */
static void test_all_or_nothing(void)
{
	struct unc_reg_op ops[2] = {read_of(msr(0x2008, 0)), write_of(msr(0x2008, 0), 1)};

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x4000);
	allow(msr(0x2008, 0), 0);
	ops[0].handle.fd = -7;
	CHECK_NUMBER(unc_access_prepare(gate, ops, 2, &err), UNC_ERR_DENIED);
	CHECK_NUMBER(ops[0].handle.fd, -7);
	close_root();
}

/* Thousands of registers given in one go are all found. */
static void test_many(void)
{
	enum { N = 4000 };
	struct unc_allowed *list = calloc(N, sizeof(*list));
	struct unc_reg_op op;
	unsigned wrong = 0;

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000);
	for (unsigned i = 0; i < N; i++)
		list[i] = (struct unc_allowed){msr(0x2000 + (i * 2654435761u) % N * 2, 0), 0, true};
	CHECK_NUMBER(unc_access_allow(gate, list, N, NULL), 0);
	CHECK_NUMBER(unc_access_allow(gate, list, 0, NULL), 0);
	for (unsigned i = 0; i < N; i++) {
		op = read_of(list[i].reg);
		wrong += unc_access_prepare(gate, &op, 1, NULL) != 0;
		op.reg.address += 1;
		wrong += unc_access_prepare(gate, &op, 1, NULL) != UNC_ERR_DENIED;
	}
	CHECK_NUMBER(wrong, 0);
	free(list);
	close_root();
}

/* ------------------------------------------------------------------------------ msr */

static void test_msr(void)
{
	struct unc_reg_op ops[3];
	uint64_t value = 0x123456789abcdef0;

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
	fake_size(fake_path(&root, "/dev/cpu/4/msr"), 0x3000);
	fake_bytes(fake_path(&root, "/dev/cpu/4/msr"), 0x2008, &value, sizeof(value));
	allow(msr(0x2008, 0), UINT64_MAX);
	allow(msr(0x2008, 4), 0);
	ops[0] = write_of(msr(0x2008, 0), 0xfedcba9876543210);
	ops[1] = read_of(msr(0x2008, 4));
	ops[2] = read_of(msr(0x2008, 0));
	CHECK_NUMBER(unc_access_prepare(gate, ops, 3, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 3), 0);
	CHECK_NUMBER(ops[1].value, value);
	CHECK_NUMBER(ops[2].value, 0xfedcba9876543210); /* in order: after the write */
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/0/msr"), 0x2008, 8), 0xfedcba9876543210);
	/* A failure is reported on its own operation; the rest is run. */
	CHECK_NUMBER(truncate(fake_path(&root, "/dev/cpu/4/msr"), 0), 0);
	ops[2].value = 0;
	CHECK_NUMBER(unc_access_run(gate, ops, 3), UNC_ERR_IO);
	CHECK_NUMBER(ops[0].error, 0);
	CHECK_NUMBER(ops[1].error, UNC_ERR_IO);
	CHECK_NUMBER(ops[1].errno_value, ENODATA);
	CHECK_NUMBER(ops[2].error, 0);
	CHECK_NUMBER(ops[2].value, 0xfedcba9876543210);
	close_root();
}

/* Interrupted, put off or cut transfers are carried out; other failures are told with their errno.
 */
static void test_faults(void)
{
	static const struct {
		const char *fault;
		int code, errno_value;
	} rows[] = {
		{"EINTR times 3", 0, 0},
		{"EAGAIN times 3", 0, 0},
		{NULL, 0, 0}, /* half of it */
		{"EIO times 1", UNC_ERR_IO, EIO},
		{"EPERM times 1", UNC_ERR_PERMISSION, EPERM},
		{"EAGAIN", UNC_ERR_IO, EAGAIN},
		{"EINTR", UNC_ERR_IO, EINTR},
	};
	struct unc_reg_op ops[4];

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	allow(msr(0x2008, 0), UINT64_MAX);
	allow(pci(0xa0, 64), UINT64_MAX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int k = 0; k < 2; k++) {
			struct unc_reg reg = k ? pci(0xa0, 64) : msr(0x2008, 0);
			bool ok = !rows[i].code;

			ops[0] = write_of(reg, 0x1122334455667788 + i);
			ops[1] = ops[3] = read_of(reg);
			ops[2] = write_of(reg, 0x99 + i);
			CHECK_NUMBER(unc_access_prepare(gate, ops, 4, &err), 0);
			CHECK_NUMBER(unc_access_run(gate, ops, 1), 0);
			for (int op = 1; op <= 2; op++) {
				if (rows[i].fault)
					faults("fail %s %s %s", op == 1 ? "read" : "write",
					       k ? "*10.0/config 0xa0" : "*cpu/0/msr 0x2008",
					       rows[i].fault);
				else
					faults("short %s times 3",
					       k ? "*10.0/config 0xa0 2" : "*cpu/0/msr 0x2008 4");
				ops[op].error = ops[op].errno_value = 77;
				CHECK_NUMBER(unc_access_run(gate, &ops[op], 1),
					     ok ? 0 : UNC_ERR_IO);
				CHECK_NUMBER(ops[op].error, rows[i].code);
				CHECK_NUMBER(ops[op].errno_value, rows[i].errno_value);
				no_faults();
			}
			CHECK_NUMBER(ops[1].value, ok ? ops[0].value : 0);
			CHECK_NUMBER(unc_access_run(gate, &ops[3], 1), 0);
			/* What failed half-way through has left the upper half. */
			if (ok || !k)
				CHECK_NUMBER(ops[3].value, ok ? ops[2].value : ops[0].value);
		}
	close_root();
}

static void test_msr_errors(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	open_root();
	for (unsigned cpu = 0; cpu < 6; cpu++)
		allow(msr(0x2008, cpu), 1);
	allow(msr(0x3800, 3), 0);
	REFUSED(read_of(msr(0x2008, 0)), UNC_ERR_UNAVAILABLE,
		"/dev/cpu/0/msr: no such file: load the msr module (modprobe msr)");
	/* EIO as a missing register gives it: nothing is mapped at the bottom of a process. */
	CHECK_NUMBER(symlink("/proc/self/mem", fake_path(&root, "/dev/cpu/1/msr")), 0);
	REFUSED(read_of(msr(0x2008, 1)), UNC_ERR_UNAVAILABLE,
		"msr 0x2008 on cpu 1 cannot be read: the CPU, or the hypervisor of a virtual "
		"machine, does not know it");
	/* ENXIO as the driver gives it for an offline CPU: a socket cannot be opened. */
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", fake_path(&root, "/dev/cpu/2/msr"));
	CHECK_NUMBER(bind(s, (struct sockaddr *)&name, sizeof(name)), 0);
	REFUSED(read_of(msr(0x2008, 2)), UNC_ERR_UNAVAILABLE, "/dev/cpu/2/msr: the CPU is offline");
	close(s);
	fake_size(fake_path(&root, "/dev/cpu/3/msr"), 0x3000);
	REFUSED(read_of(msr(0x3800, 3)), UNC_ERR_UNAVAILABLE,
		"msr 0x3800 on cpu 3 is not in this dump");

	fake_size(fake_path(&root, "/dev/cpu/4/msr"), 0x3000);
	fake_size(fake_path(&root, "/dev/cpu/5/msr"), 0x3000);
	chmod(fake_path(&root, "/dev/cpu/4/msr"), 0444);
	chmod(fake_path(&root, "/dev/cpu/5/msr"), 0);
	fake_drop();
	REFUSED(read_of(msr(0x2008, 4)), 0, NULL);
	REFUSED(write_of(msr(0x2008, 4), 1), UNC_ERR_PERMISSION,
		"/dev/cpu/4/msr can be read but not written: root or CAP_SYS_RAWIO is needed");
	REFUSED(read_of(msr(0x2008, 5)), UNC_ERR_PERMISSION,
		"/dev/cpu/5/msr: permission denied: root or CAP_SYS_RAWIO is needed");
	fake_regain();
	close_root();
}

/* ------------------------------------------------------------------------------ pci */

static void test_pci(void)
{
	struct unc_reg_op ops[5];
	const char *config;

	open_root();
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	fake_put(&root, 0x7f, 0x10, 0, 0xa0, 0x89abcdef);
	fake_put(&root, 0x7f, 0x10, 0, 0xa4, 0x00001234);
	allow(pci(0xa0, 64), UINT64_MAX);
	allow(pci(0xd8, 32), 0xffffffff);
	allow(pci(0xf0, 32), 0xffffffff);
	ops[0] = read_of(pci(0xa0, 64));
	ops[1] = write_of(pci(0xd8, 32), 0x400304);
	ops[2] = read_of(pci(0xd8, 32));
	ops[3] = write_of(pci(0xa0, 64), 0x0000432155556666);
	ops[4] = write_of(pci(0xf0, 32), 7);
	CHECK_NUMBER(unc_access_prepare(gate, ops, 5, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 5), 0);
	CHECK_NUMBER(ops[0].value, 0x123489abcdef);
	CHECK_NUMBER(ops[2].value, 0x400304);
	config = fake_config(&root, 0x7f, 0x10, 0);
	CHECK_NUMBER(fake_get(config, 0xa0, 8), 0x0000432155556666);
	CHECK_NUMBER(fake_get(config, 0xdc, 4), 0); /* no wider than the register */
	CHECK_NUMBER(fake_get(config, 0xf0, 8), 7);
	CHECK_NUMBER(truncate(config, 0xa4), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 1), UNC_ERR_IO);
	CHECK_NUMBER(ops[0].error, UNC_ERR_IO);
	CHECK_NUMBER(ops[0].errno_value, ENODATA);
	close_root();
}

static void test_pci_errors(void)
{
	open_root();
	allow(pci(0xa0, 64), 1);
	allow(pci(0xa2, 32), 1);
	allow(match(0x228, 32), 1);
	allow(match(0x238, 64), 1);
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_UNAVAILABLE, "pci 0000:7f:10.0: no such function");
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 256);
	fake_function(&root, 0x7f, 8, 6, 0x3c86, 256);
	REFUSED(read_of(match(0x228, 32)), UNC_ERR_UNAVAILABLE,
		"pci 0000:7f:08.6 offset 0x228 is not reachable: the configuration space that the "
		"kernel shows ends at 0x100");
	fake_size(fake_config(&root, 0x7f, 8, 6), 0x23c);
	REFUSED(write_of(match(0x238, 64), 0), UNC_ERR_UNAVAILABLE,
		"pci 0000:7f:08.6 offset 0x238 is not reachable: the configuration space that the "
		"kernel shows ends at 0x23c");
	REFUSED(read_of(pci(0xa2, 32)), UNC_ERR_INVALID,
		"pci 0000:7f:10.0 offset 0xa2: no place for 32 bits");
	REFUSED(write_of(pci(0xa0, 64), 1), 0, NULL);
	close_root();

	open_root();
	allow(pci(0xa0, 64), 1);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 256);
	/* What the kernel shows to those without CAP_SYS_ADMIN. */
	fake_size(fake_config(&root, 0x7f, 0x10, 0), 64);
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_PERMISSION,
		"pci 0000:7f:10.0 offset 0xa0: configuration space ends at 64 bytes: CAP_SYS_ADMIN "
		"is needed for more");
	fake_size(fake_config(&root, 0x7f, 0x10, 0), 32);
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_UNAVAILABLE,
		"pci 0000:7f:10.0 offset 0xa0 is not reachable: the configuration space that the "
		"kernel shows ends at 0x20");
	fake_size(fake_config(&root, 0x7f, 0x10, 0), 256);
	faults("fail read *10.0/config 0xa4 EIO");
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_IO,
		"pci 0000:7f:10.0 offset 0xa0: Input/output error");
	no_faults();
	close_root();

	open_root();
	allow(pci(0xa0, 64), 1);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 256);
	chmod(fake_config(&root, 0x7f, 0x10, 0), 0);
	fake_drop();
	REFUSED(read_of(pci(0xa0, 64)), UNC_ERR_PERMISSION,
		"pci 0000:7f:10.0: permission denied: root is needed");
	fake_regain();
	chmod(fake_config(&root, 0x7f, 0x10, 0), 0444);
	fake_drop();
	REFUSED(write_of(pci(0xa0, 64), 1), UNC_ERR_PERMISSION,
		"pci 0000:7f:10.0 can be read but not written: root is needed");
	REFUSED(read_of(pci(0xa0, 64)), 0, NULL);
	fake_regain();
	close_root();
}

/* A counter that moves behind each dword that is read, at `rate` a ns. */
struct moving {
	uint64_t value, step, rate;
	uint64_t first, last; /* values that it had when the accesses began and ended */
	unsigned accesses;
	int fail_at;
	char order[64];
};

static int moving_read(void *user, uint32_t half[2], uint64_t *ns)
{
	struct moving *m = user;

	if (m->fail_at && (int)m->accesses + 1 == m->fail_at)
		return EACCES;
	m->first = m->accesses++ ? m->first : m->value;
	half[0] = (uint32_t)m->value;
	m->value += m->step;
	half[1] = (uint32_t)(m->value >> 32);
	m->last = m->value;
	m->value += m->step;
	*ns = m->rate ? 2 * m->step / m->rate : 1;
	return 0;
}

static int moving_write(void *user, int half, uint64_t value)
{
	struct moving *m = user;

	m->value = half == UNC_HALF_BOTH   ? value
		   : half == UNC_HALF_HIGH ? (m->value & UINT32_MAX) | value << 32
					   : (m->value & ~(uint64_t)UINT32_MAX) | value;
	m->order[m->accesses++] = "lhb"[half];
	return 0;
}

/* Reads once; the value must be one that the counter had. */
static unsigned read_moving(struct moving *m)
{
	uint64_t value = 0;

	CHECK_NUMBER(unc_halves_read(moving_read, m, &value), 0);
	CU_ASSERT(value >= m->first && value <= m->last);
	return m->accesses;
}

static void test_halves(void)
{
	struct moving m = {.value = 0x1ffffffff, .step = 1};
	uint64_t value = 42;

	/* A carry behind the low half: neither 0x1ffffffff + 2^32 nor anything like it is seen. */
	CHECK_NUMBER(read_moving(&m), 2);
	/* Behind the high half; it stands still in the second access. */
	m = (struct moving){.value = 0x1fffffffe, .step = 1};
	CHECK_NUMBER(read_moving(&m), 2);
	/* Far from a carry, or right behind one: one access. */
	m = (struct moving){.value = 0xaaaabbbbccccdddd};
	CHECK_NUMBER(read_moving(&m), 1);
	m = (struct moving){.value = 0x200000000, .step = 1};
	CHECK_NUMBER(read_moving(&m), 1);

	/* Whatever the start, the speed (the last is the fastest that a counter may have) and the
	 * time that an access takes, as long as a half does not run over in each. */
	for (uint64_t rate = 1; rate <= 4096; rate *= 64)
		for (uint64_t ns = 1; rate * ns < 1u << 30; ns *= 4)
			for (uint64_t back = 0; back < UINT32_MAX; back = 2 * back + 1) {
				m = (struct moving){.value = 0x300000000 - back,
						    .step = rate * ns,
						    .rate = rate};
				read_moving(&m);
			}
	/* Where it does, the value is none. */
	m = (struct moving){.value = 0xffffffff, .step = (uint64_t)4096 << 22, .rate = 4096};
	CHECK_NUMBER(unc_halves_read(moving_read, &m, &value), EIO);

	/* A high half that never comes to rest is no counter. */
	m = (struct moving){.value = 0xffffffff, .step = 0x100000000};
	CHECK_NUMBER(unc_halves_read(moving_read, &m, &value), EIO);
	CHECK_NUMBER(value, 42);
	for (int at = 1; at <= 2; at++) {
		m = (struct moving){.value = 0xffffffff, .fail_at = at};
		CHECK_NUMBER(unc_halves_read(moving_read, &m, &value), EACCES);
		CHECK_NUMBER(value, 42);
	}
}

/* Each access takes 2 ms: a counter of a half in 2^32 counts may have carried between the two of them, and
 * is read once more. */
static unsigned looks_at_clock;

static void slow_now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	*ns = 2000000u * (uint64_t)++looks_at_clock;
	if (tsc)
		*tsc = *ns;
	if (looks_at_clock == 2) /* behind the first access */
		fake_put(&root, 0x7f, 0x10, 0, 0xa0, 0x10);
}

static void test_slow_halves(void)
{
	struct unc_machine_methods methods;
	struct unc_reg_op op = read_of(pci(0xa0, 64));

	open_root();
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	fake_put(&root, 0x7f, 0x10, 0, 0xa0, 0x80000000); /* of 0x180000000 */
	fake_put(&root, 0x7f, 0x10, 0, 0xa4, 2);
	allow(pci(0xa0, 64), 0);
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	methods = *hardware->methods;
	methods.now = slow_now;
	hardware->methods = &methods;
	looks_at_clock = 0;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(op.value, 0x200000010);
	close_root();
}

static void test_halves_written(void)
{
	struct moving m = {0};

	CHECK_NUMBER(unc_halves_write(moving_write, &m, 0x1122334455667788, false), 0);
	CHECK_TEXT(m.order, "hl");
	CHECK_NUMBER(m.value, 0x1122334455667788);
	m = (struct moving){.value = 0x1122334400000000};
	CHECK_NUMBER(unc_halves_write(moving_write, &m, 0x1122334455667788, true), 0);
	CHECK_TEXT(m.order, "l");
	CHECK_NUMBER(m.value, 0x1122334455667788);
	m = (struct moving){.value = 1};
	CHECK_NUMBER(unc_halves_write(moving_write, &m, 0x1122334400000000, false), 0);
	CHECK_TEXT(m.order, "b");
	CHECK_NUMBER(m.value, 0x1122334400000000);
}

/* What cannot be written in the upper half of a register is left alone. */
static void test_pci_upper_half(void)
{
	struct unc_reg_op op;
	const char *config;

	open_root();
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	config = fake_config(&root, 0x7f, 0x10, 0);
	fake_put(&root, 0x7f, 0x10, 0, 0xa4, 0x55);
	fake_put(&root, 0x7f, 0x10, 0, 0xac, 0x55);
	allow(pci(0xa0, 64), 0x301);
	allow(pci(0xa8, 64), UINT64_MAX);
	op = write_of(pci(0xa0, 64), 0x101);
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(fake_get(config, 0xa0, 8), 0x5500000101);
	op = write_of(pci(0xa8, 64), 0x101);
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(fake_get(config, 0xa8, 8), 0x101);
	close_root();
}

/* --------------------------------------------------------------------------- mixed */

/* Reads that are done at once: one access each, and the sentence of a try where it fails. */
static void test_read(void)
{
	struct unc_reg_op ops[2];

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 256);
	fake_put(&root, 0x7f, 0x10, 0, 0xd8, 7);
	allow(msr(0x2008, 0), 0);
	allow(pci(0xd8, 32), 0);
	ops[0] = read_of(msr(0x2008, 0));
	ops[1] = read_of(pci(0xd8, 32));
	/* It fails twice, when it is run and when it is tried. */
	faults("fail read *10.0/config 0xd8 EIO times 2");
	CHECK_NUMBER(unc_access_read(gate, ops, 2, &err), UNC_ERR_IO);
	CHECK_TEXT(err.text, "pci 0000:7f:10.0 offset 0xd8: Input/output error");
	CHECK_NUMBER(struck, 2);
	/* Once: the next time it is right. */
	faults("fail read *10.0/config 0xd8 EIO times 1");
	unc_error_clear(&err);
	CHECK_NUMBER(unc_access_read(gate, ops, 2, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_NUMBER(ops[1].value, 7);
	/* It has been read: preparing it does not try it. */
	faults("fail read *10.0/config 0xd8 EIO times 1");
	CHECK_NUMBER(unc_access_prepare(gate, ops, 2, &err), 0);
	CHECK_NUMBER(struck, 0);
	no_faults();
	allow(msr(0x2010, 0), 0);
	ops[0] = read_of(msr(0x2010, 0));
	CHECK_NUMBER(unc_access_read(gate, ops, 1, &err), 0);
	faults("fail read *cpu/0/msr 0x2010 EIO times 1");
	CHECK_NUMBER(unc_access_prepare(gate, ops, 1, &err), 0);
	CHECK_NUMBER(struck, 0);
	no_faults();
	ops[1] = read_of(pci(0xdc, 32));
	CHECK_NUMBER(unc_access_read(gate, ops, 2, &err), UNC_ERR_DENIED);
	close_root();
}

/* An Itanium's monitors: there is nothing to reach them by. */
static void test_pmu(void)
{
	struct unc_reg pmc = {
		.address = UNC_PMU_PMC + 4, .target = 2, .space = UNC_SPACE_PMU, .width = 64};
	struct unc_reg_op op = {.reg = pmc, .kind = UNC_OP_READ};

	open_root();
	allow(pmc, UINT64_MAX);
	refused(__LINE__, op, UNC_ERR_UNAVAILABLE,
		"cpu 2: Linux has no interface to an Itanium's monitors (perfmonctl() was removed "
		"in "
		"5.10)");
	close_root();
}

/* A list of all spaces runs in its order. */
static void test_mixed(void)
{
	struct unc_reg_op ops[6];

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x3000);
	fake_size(fake_path(&root, "/dev/mem"), 0x10000);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 256);
	allow(msr(0x2008, 0), UINT64_MAX);
	allow(pci(0xa0, 64), UINT64_MAX);
	allow(mmio(0x1008, 64), UINT64_MAX);
	ops[0] = write_of(pci(0xa0, 64), 1);
	ops[1] = write_of(msr(0x2008, 0), 2);
	ops[2] = read_of(pci(0xa0, 64));
	ops[3] = write_of(mmio(0x1008, 64), 3);
	ops[4] = read_of(msr(0x2008, 0));
	ops[5] = read_of(mmio(0x1008, 64));
	CHECK_NUMBER(unc_access_prepare(gate, ops, 6, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 6), 0);
	CHECK_NUMBER(ops[2].value, 1);
	CHECK_NUMBER(ops[4].value, 2);
	CHECK_NUMBER(ops[5].value, 3);
	CHECK_NUMBER(unc_access_run(gate, ops, 0), 0);
	close_root();
}

static void *prepare_often(void *arg)
{
	unsigned cpu = (unsigned)(uintptr_t)arg, wrong = 0;

	for (int i = 0; i < 200; i++) {
		struct unc_reg_op op = read_of(msr(0x2008, (cpu + (unsigned)i) % 8));

		wrong += unc_access_prepare(gate, &op, 1, NULL) != 0 ||
			 unc_access_run(gate, &op, 1) != 0 || op.value != op.reg.target;
	}
	return (void *)(uintptr_t)wrong;
}

/* Sessions of different threads prepare at the same time. */
static void test_threads(void)
{
	pthread_t thread[4];

	open_root();
	for (uint64_t cpu = 0; cpu < 8; cpu++) {
		fake_size(fake_path(&root, "/dev/cpu/%d/msr", (int)cpu), 0x3000);
		fake_bytes(fake_path(&root, "/dev/cpu/%d/msr", (int)cpu), 0x2008, &cpu, 8);
		allow(msr(0x2008, (unsigned)cpu), 0);
	}
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, prepare_often, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *wrong;

		pthread_join(thread[i], &wrong);
		CU_ASSERT_PTR_NULL(wrong);
	}
	close_root();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"allowlist", test_allowlist},
		{"all or nothing", test_all_or_nothing},
		{"many registers", test_many},
		{"faults", test_faults},
		{"msr", test_msr},
		{"msr errors", test_msr_errors},
		{"pci", test_pci},
		{"pci errors", test_pci_errors},
		{"halves of a counter", test_halves},
		{"halves of a counter, slowly", test_slow_halves},
		{"halves written", test_halves_written},
		{"the upper half of a PCI register", test_pci_upper_half},
		{"reads at once", test_read},
		{"an Itanium's monitors", test_pmu},
		{"all spaces in one list", test_mixed},
		{"threads", test_threads},
		{NULL, NULL},
	};

	return suite_run("access", tests);
}
