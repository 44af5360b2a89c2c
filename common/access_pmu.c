/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor of an Itanium's hardware thread, through the kernel's perfmonctl: a system-wide
 * context for each CPU. PMC0 belongs to the kernel: freezing it is PFM_STOP, freeing it PFM_START.
 * The interface cannot read a PMC, IBR or DBR: such reads tell what was written last, and before
 * that what a context of our own starts with. It was removed from Linux 5.10.
 */
#include "access_pmu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "access.h"
#include "fs.h"
#include "grow.h"

_Static_assert(sizeof(struct unc_pfm_context) == 128, "perfmon context");
_Static_assert(sizeof(struct unc_pfm_reg) == 160, "perfmon register");
_Static_assert(sizeof(struct unc_pfm_load) == 32, "perfmon load");
_Static_assert(sizeof(struct unc_pfm_breakpoint) == 32, "perfmon breakpoint");

enum { N_REGS = UNC_PMU_DBR + 8, BATCH = 16 };

struct context {
	uint32_t cpu;
	int fd;
	uint64_t written[N_REGS];
};

struct unc_backend {
	struct unc_fs *fs;
	struct unc_pfm_kernel kernel;
	pthread_mutex_t lock; /* held while a thread is pinned */
	cpu_set_t before;     /* where it may run otherwise */
	struct context **context;
	size_t n;
};

/* ---- the real kernel */

static int kernel_call(void *user, int fd, int command, void *arguments, int n)
{
	(void)user;
#if defined(__ia64__) && defined(__linux__)
	return (int)syscall(1175 /* perfmonctl */, fd, command, arguments, n);
#else
	(void)fd;
	(void)command;
	(void)arguments;
	(void)n;
	errno = ENOSYS;
	return -1;
#endif
}

static int kernel_pin(void *user, int cpu)
{
	struct unc_backend *backend = user;
	cpu_set_t one;

	if (cpu < 0)
		return sched_setaffinity(0, sizeof(backend->before), &backend->before);
	if (sched_getaffinity(0, sizeof(backend->before), &backend->before) < 0)
		return -1;
	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

void unc_pmu_use(struct unc_backend *backend, const struct unc_pfm_kernel *kernel)
{
	static const struct unc_pfm_kernel real = {.call = kernel_call, .pin = kernel_pin};

	backend->kernel = kernel ? *kernel : real;
	if (!kernel)
		backend->kernel.user = backend;
}

static int call(struct unc_backend *b, int fd, int command, void *arguments, int n)
{
	return b->kernel.call(b->kernel.user, fd, command, arguments, n);
}

/* ---- contexts */

static int pmu_open(struct unc_fs *fs, struct unc_sim *sim, struct unc_backend **out,
		    struct unc_error *err)
{
	struct unc_backend *backend = calloc(1, sizeof(*backend));

	(void)sim;
	if (!backend)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	backend->fs = fs;
	pthread_mutex_init(&backend->lock, NULL);
	unc_pmu_use(backend, NULL);
	*out = backend;
	return 0;
}

static int fail_context(uint32_t cpu, struct unc_error *err)
{
	if (errno == ENOSYS)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"this kernel has no perfmonctl: only Linux on Itanium before 5.10 "
				"has it");
	if (errno == EPERM || errno == EACCES)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"perfmonctl on cpu %u: permission denied: system-wide monitoring "
				"needs root",
				cpu);
	if (errno == EBUSY)
		return unc_fail(err, UNC_ERR_BUSY,
				"perfmonctl on cpu %u: somebody else is monitoring this CPU", cpu);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "perfmonctl on cpu %u: %s", cpu, strerror(errno));
}

/* What the kernel lets a context start with: the reset values of Intel 308065-001, 3.3.12, and the
 * instruction set mask, which must be 2 in all counters and in PMC40. */
static void set_defaults(struct context *c)
{
	static const struct {
		uint8_t pmc;
		uint64_t value;
	} defaults[] = {
		{32, 0x030f01ffffffffff}, {33, 0x1ffffffffff},  {34, 0x000f01ffffffffff},
		{35, 0x1ffffffffff},      {36, 0xfffffff0},     {38, 0xdb6},
		{40, 0x2000000},          {41, 0x2078fefefefe},
	};

	for (unsigned i = 4; i < 16; i++)
		c->written[UNC_PMU_PMC + i] = 0x2000000;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		c->written[UNC_PMU_PMC + defaults[i].pmc] = defaults[i].value;
}

/* Makes a system-wide context and loads it on its CPU, on which the thread runs. */
static int make_context(struct unc_backend *b, struct context *c, struct unc_error *err)
{
	struct unc_pfm_context create = {.flags = UNC_PFM_SYSTEM_WIDE};
	struct unc_pfm_load load = {.pid = (int32_t)syscall(SYS_gettid)};
	int rc = 0;

	if (call(b, 0, UNC_PFM_CREATE_CONTEXT, &create, 1) < 0)
		return fail_context(c->cpu, err);
	c->fd = create.fd;
	if (call(b, c->fd, UNC_PFM_LOAD_CONTEXT, &load, 1) < 0) {
		rc = fail_context(c->cpu, err);
		close(c->fd);
	}
	return rc;
}

static struct context *new_context(struct unc_backend *b, uint32_t cpu, struct unc_error *err)
{
	void *larger = unc_grow(b->context, b->n, sizeof(*b->context));
	struct context *c = larger ? calloc(1, sizeof(*c)) : NULL;
	int rc;

	if (larger)
		b->context = larger;
	if (!c) {
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		return NULL;
	}
	c->cpu = cpu;
	set_defaults(c);
	if (b->kernel.pin(b->kernel.user, (int)cpu) < 0) {
		rc = unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u: %s", cpu, strerror(errno));
	} else {
		rc = make_context(b, c, err);
		b->kernel.pin(b->kernel.user, -1);
	}
	if (rc < 0) {
		free(c);
		return NULL;
	}
	b->context[b->n++] = c;
	return c;
}

static struct context *context_of(struct unc_backend *b, uint32_t cpu, struct unc_error *err)
{
	struct context *c = NULL;

	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < b->n && !c; i++)
		if (b->context[i]->cpu == cpu)
			c = b->context[i];
	if (!c)
		c = new_context(b, cpu, err);
	pthread_mutex_unlock(&b->lock);
	return c;
}

static int pmu_prepare(struct unc_backend *b, struct unc_reg_op *op, struct unc_error *err)
{
	struct unc_error why = {0};

	if (!unc_fs_is_real(b->fs))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"a dump of a machine has no performance monitor");
	if (op->reg.address >= N_REGS)
		return unc_fail(err, UNC_ERR_DENIED, "there is no PMU register 0x%llx",
				(unsigned long long)op->reg.address);
	op->handle.sim = context_of(b, op->reg.target, &why);
	return op->handle.sim ? 0 : unc_fail(err, why.code, "%s", why.text);
}

/* ---- operations */

/* What one call of the kernel can do: a command and, of breakpoints or counters, a list. */
static int command_of(const struct unc_reg_op *op)
{
	bool write = op->kind == UNC_OP_WRITE;

	if (op->reg.address >= UNC_PMU_DBR)
		return write ? UNC_PFM_WRITE_DBRS : 0;
	if (op->reg.address >= UNC_PMU_IBR)
		return write ? UNC_PFM_WRITE_IBRS : 0;
	if (op->reg.address >= UNC_PMU_PMD)
		return write ? UNC_PFM_WRITE_PMDS : UNC_PFM_READ_PMDS;
	if (op->reg.address == UNC_PMU_PMC) /* bit 0 freezes */
		return !write ? 0 : op->value & 1 ? UNC_PFM_STOP : UNC_PFM_START;
	return write ? UNC_PFM_WRITE_PMCS : 0;
}

static int call_list(struct unc_backend *b, const struct context *c, int command,
		     struct unc_reg_op *ops, int n)
{
	union {
		struct unc_pfm_reg reg[BATCH];
		struct unc_pfm_breakpoint breakpoint[BATCH];
	} list;

	memset(&list, 0, sizeof(list));
	if (command == UNC_PFM_START || command == UNC_PFM_STOP)
		return call(b, c->fd, command, NULL, 0);
	bool breakpoints = command == UNC_PFM_WRITE_IBRS || command == UNC_PFM_WRITE_DBRS;
	for (int i = 0; i < n; i++) {
		uint32_t number = (uint32_t)ops[i].reg.address & 0xff;

		if (breakpoints) {
			list.breakpoint[i].number = number;
			list.breakpoint[i].value = ops[i].value;
		} else {
			list.reg[i].number = number;
			list.reg[i].value = command == UNC_PFM_READ_PMDS ? 0 : ops[i].value;
		}
	}
	int rc = call(b, c->fd, command, &list, n);
	for (int i = 0; i < n && rc >= 0 && command == UNC_PFM_READ_PMDS; i++)
		ops[i].value = list.reg[i].value;
	return rc;
}

/* Operations from `ops` on that one call does: the same command on the same CPU. */
static int batch(const struct unc_reg_op *ops, size_t n)
{
	int command = command_of(&ops[0]), length = 1;

	if (command == UNC_PFM_START || command == UNC_PFM_STOP)
		return 1;
	while ((size_t)length < n && length < BATCH &&
	       ops[length].handle.sim == ops[0].handle.sim && command_of(&ops[length]) == command)
		length++;
	return length;
}

static int run_batch(struct unc_backend *b, struct unc_reg_op *ops, int n)
{
	struct context *c = ops[0].handle.sim;
	int command = command_of(&ops[0]);
	int rc = command ? call_list(b, c, command, ops, n) : 0;
	int error = rc >= 0 ? 0 : errno;

	for (int i = 0; i < n; i++) {
		unc_op_done(&ops[i], error);
		if (command == 0)
			ops[i].value = c->written[ops[i].reg.address];
		else if (ops[i].kind == UNC_OP_WRITE && error == 0)
			c->written[ops[i].reg.address] = ops[i].value;
	}
	return error ? n : 0;
}

static int pmu_run(struct unc_backend *b, struct unc_reg_op *ops, size_t n)
{
	const struct context *on = NULL;
	int failed = 0;

	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < n;) {
		const struct context *c = ops[i].handle.sim;
		int length = batch(ops + i, n - i);

		if (c != on && on)
			b->kernel.pin(b->kernel.user, -1);
		if (c != on && b->kernel.pin(b->kernel.user, (int)c->cpu) < 0) {
			for (int k = 0; k < length; k++)
				unc_op_done(&ops[i + (size_t)k], errno);
			failed += length;
			on = NULL;
		} else {
			on = c;
			failed += run_batch(b, ops + i, length);
		}
		i += (size_t)length;
	}
	if (on)
		b->kernel.pin(b->kernel.user, -1);
	pthread_mutex_unlock(&b->lock);
	return failed;
}

static void pmu_close(struct unc_backend *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct context *c = b->context[i];

		if (b->kernel.pin(b->kernel.user, (int)c->cpu) == 0) {
			call(b, c->fd, UNC_PFM_UNLOAD_CONTEXT, NULL, 0);
			b->kernel.pin(b->kernel.user, -1);
		}
		close(c->fd);
		free(c);
	}
	pthread_mutex_destroy(&b->lock);
	free(b->context);
	free(b);
}

const struct unc_access_methods unc_access_pmu = {
	.name = "pmu",
	.space = UNC_SPACE_PMU,
	.open = pmu_open,
	.prepare = pmu_prepare,
	.run = pmu_run,
	.close = pmu_close,
};
