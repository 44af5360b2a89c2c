/* SPDX-License-Identifier: BSD-3-Clause */
/* Access methods kernel and broker: reading groups of events. */
#include "access/broker.h"
#include "access/kernel_group.h"
#include "host/machine.h"

static void kernel_open(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->machine = machine;
	pthread_mutex_init(&backend->lock, NULL);
}

static void broker_open(struct unc_backend *backend, struct unc_machine *machine)
{
	kernel_open(backend, machine);
	backend->passed = true;
}

/* ---- reading */

void unc_kernel_op(struct unc_kernel_group *group, const struct unc_kernel_event *event,
		   struct unc_reg_op *out)
{
	*out = (struct unc_reg_op){
		.kind = UNC_OP_READ,
		.reg = {.address = (uint64_t)group->place.type << 32 |
				   unc_kernel_group_find(group, event),
			.target = group->place.cpu,
			.space = UNC_SPACE_PERF,
			.width = 64,
			.way = group->way},
		.handle.group = group,
	};
}

uint64_t unc_kernel_idle(const struct unc_reg_op *op)
{
	const struct unc_kernel_group *group = op->handle.group;

	return atomic_load(&group->idle);
}

uint64_t unc_kernel_ran(const struct unc_reg_op *op)
{
	const struct unc_kernel_group *group = op->handle.group;

	return atomic_load(&group->ran);
}

static int kernel_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	int failed = 0;

	(void)backend;
	for (size_t i = 0; i < n;) {
		struct unc_kernel_group *group = ops[i].handle.group;

		pthread_mutex_lock(&group->lock);
		int rc = unc_kernel_group_read(group);
		for (; i < n && ops[i].handle.group == group; i++) {
			if (rc == 0)
				ops[i].value =
					group->data[UNC_GROUP_VALUE + (uint32_t)ops[i].reg.address];
			failed += unc_op_done(&ops[i], rc);
		}
		pthread_mutex_unlock(&group->lock);
	}
	return failed;
}

static void kernel_close(struct unc_backend *backend)
{
	/* NULL: in a forked process the broker's events belong to the parent. */
	for (struct unc_kernel_group *next; backend->first; backend->first = next) {
		next = backend->first->next;
		unc_kernel_group_close(backend->first, NULL);
	}
	unc_broker_free(backend->broker);
	pthread_mutex_destroy(&backend->lock);
}

const struct unc_access_methods unc_access_kernel = {
	.name = "kernel",
	.backend = sizeof(struct unc_backend),
	.open = kernel_open,
	.run = kernel_run,
	.close = kernel_close,
};

const struct unc_access_methods unc_access_broker = {
	.name = "broker",
	.backend = sizeof(struct unc_backend),
	.open = broker_open,
	.run = kernel_run,
	.close = kernel_close,
};
