/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated machines of which one unit goes wrong: its registers cannot be read or written, its
 * events of the kernel cannot be had or read. unc_machine_simulated() is the test's own here: it
 * stands between the gate and the model.
 */
#ifndef UNC_TEST_LOSING_KIT_H
#define UNC_TEST_LOSING_KIT_H

#include <linux/perf_event.h>

#include "faults.h"
#include "machine/simulator.h"
#include "session_kit.h"

enum { LOSING_REGS = 256, LOSING_EVENTS = 4096 };

/*
 * The unit. Faults of its registers are of a path like "reg/control" and the offset 0, those of its
 * events of "event": faults("fail read reg/control - EIO").
 */
static struct {
	struct unc_reg reg[LOSING_REGS];
	uint8_t role[LOSING_REGS];
	size_t n;
	const struct unc_kernel_unit *kernel;
	unsigned prepared; /* accesses to its controls: somebody wants to look there */
} losing;

static const char *const losing_path[] = {
	[UNC_ROLE_OTHER] = "reg/other",
	[UNC_ROLE_UNIT_CTL] = "reg/unit-control",
	[UNC_ROLE_STATUS] = "reg/status",
	[UNC_ROLE_CTL] = "reg/control",
	[UNC_ROLE_CTR] = "reg/counter",
	[UNC_ROLE_FIXED_CTL] = "reg/control-fixed",
	[UNC_ROLE_FIXED_CTR] = "reg/counter-fixed",
	[UNC_ROLE_FREE] = "reg/counter-free",
};

/* ---- its registers */

static const struct unc_access_methods *losing_model;

/* Whether the access is to fail; *control: it is to a control of the unit. */
static inline bool losing_fails(const struct unc_reg_op *op, bool *control)
{
	enum room_op does = op->kind == UNC_OP_READ ? ROOM_READ : ROOM_WRITE;
	size_t size = 8;

	*control = false;
	for (size_t i = 0; i < losing.n; i++) {
		const struct unc_reg *reg = &losing.reg[i];

		if (reg->address != op->reg.address || reg->target != op->reg.target ||
		    reg->space != op->reg.space)
			continue;
		*control = losing.role[i] == UNC_ROLE_CTL;
		return fault_before(does, losing_path[losing.role[i]], 0, &size) < 0;
	}
	return false;
}

static inline int losing_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;
	bool control;

	if (!losing.n)
		return losing_model->run(backend, ops, n);
	for (size_t i = 0; i < n; i++)
		if (losing_fails(&ops[i], &control)) {
			unc_op_done(&ops[i], EIO);
			failed++;
		} else {
			failed += losing_model->run(backend, &ops[i], 1);
		}
	return failed;
}

/* As methods of hardware do, which try what is to be read. */
static inline int losing_prepare(struct unc_backend *backend, struct unc_reg_op *op,
				 struct unc_error *err)
{
	bool control, fails = losing_fails(op, &control);

	losing.prepared += control;
	if (op->kind == UNC_OP_READ && !op->tried && fails) {
		unc_op_done(op, EIO);
		return unc_fail(err, UNC_ERR_IO, "the register cannot be read: %s", strerror(EIO));
	}
	return losing_model->prepare(backend, op, err);
}

/* ---- its events of the kernel */

static const struct unc_machine_events *losing_kernel;
static bool losing_fd[LOSING_EVENTS];      /* is of the unit */
static struct perf_event_attr losing_attr; /* of the last of these */

static inline int losing_open(struct unc_machine *m, const struct perf_event_attr *attr, int cpu,
			      int group_fd)
{
	size_t none = 0;
	bool its = false;
	int fd;

	for (unsigned i = 0; losing.kernel && i < UNC_KERNEL_PMUS; i++)
		its |= losing.kernel->pmus >> i & 1 && losing.kernel->place[i].type == attr->type &&
		       losing.kernel->place[i].cpu == (uint32_t)cpu;
	if (its)
		losing_attr = *attr;
	if (its && fault_before(ROOM_OPEN, "event", 0, &none) < 0)
		return -1;
	fd = losing_kernel->open(m, attr, cpu, group_fd);
	CU_ASSERT_FATAL(fd < LOSING_EVENTS);
	if (fd >= 0)
		losing_fd[fd] = its;
	return fd;
}

/* One of a pinned group that has lost its counters reads as nothing at all. */
static inline long losing_read(struct unc_machine *m, int fd, void *buf, size_t size)
{
	bool its = fd >= 0 && fd < LOSING_EVENTS && losing_fd[fd];

	if (its && fault_before(ROOM_READ, "event", 0, &size) < 0)
		return -1;
	return size ? losing_kernel->read(m, fd, buf, size) : 0;
}

/* ---- the machine */

int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err)
{
	static struct unc_access_methods registers;
	static const struct unc_access_methods *const ways[] = {&registers, NULL};
	static struct unc_machine_methods methods;
	static struct unc_machine_events events;
	int rc = REAL(unc_machine_simulated)(spec, node, tables, n, out, err);

	if (rc < 0)
		return rc;
	losing_model = (*out)->methods->access[0];
	registers = *losing_model;
	registers.prepare = losing_prepare;
	registers.run = losing_run;
	methods = *(*out)->methods;
	methods.access = ways;
	(*out)->methods = &methods;
	if (!(*out)->events)
		return 0;
	losing_kernel = (*out)->events;
	events = *losing_kernel;
	events.open = losing_open;
	events.read = losing_read;
	(*out)->events = &events;
	return 0;
}

/* Whether another unit of its type has this register as well. */
static inline bool losing_shares(struct unc_platform *p, const struct unc_instance *u,
				 const struct unc_reg *reg, uint32_t number)
{
	struct unc_reg its;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *other = &p->instances.unit[i];

		if (other != u && other->type == u->type &&
		    unc_instance_reg(p->table, other, number, &its, NULL) == 0 &&
		    its.space == reg->space && its.address == reg->address &&
		    its.target == reg->target)
			return true;
	}
	return false;
}

/* It is this unit. Registers that it shares with others are not its own. */
static inline void losing_unit(struct unc_platform *p, const struct unc_instance *u)
{
	const struct unc_table *t = p->table;
	const struct unc_range *regs = &t->type[u->type].regs;

	memset(&losing, 0, sizeof(losing));
	for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
		CU_ASSERT_FATAL(losing.n < LOSING_REGS);
		losing.role[losing.n] = t->reg[i].role;
		if (!(t->reg[i].flags & UNC_REG_ABS) &&
		    unc_instance_reg(t, u, i, &losing.reg[losing.n], NULL) == 0 &&
		    !losing_shares(p, u, &losing.reg[losing.n], i))
			losing.n++;
	}
	if (p->kernel)
		losing.kernel = &p->kernel[u - p->instances.unit];
}

#endif
