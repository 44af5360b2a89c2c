/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions on machines whose kernel counts (kernel=on), with something between us and its model. */
#ifndef UNC_TEST_KERNEL_SESSION_KIT_H
#define UNC_TEST_KERNEL_SESSION_KIT_H

#include <errno.h>
#include <linux/perf_event.h>

#include "session_kit.h"

#define IVB "ivybridge-ep,clock=step,kernel=on"
#define IVB_WAIT "ivybridge-ep,clock=wait,kernel=on"

static inline struct unc_platform *by(const char *sim, const char *access)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim, .access = access};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s: %s\n", sim, unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static inline const struct unc_instance *unit_of(struct unc_platform *p, const char *type,
						 unsigned index, unsigned socket)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (u->index == index && u->socket == socket &&
		    strcmp(unc_tbl_str(p->table, p->table->type[u->type].name), type) == 0)
			return u;
	}
	CU_FAIL_FATAL("no such unit");
	return NULL;
}

/* ---- a kernel between us and the model: it can fail, be short of counters, or stand still */

static struct {
	const struct unc_machine_events *model;
	unsigned opened, closed, reads;
	unsigned fail_at; /* this open fails, from 1 on; 0: none */
	unsigned keep;    /* of 4 parts of the time, those that are ours; 4: all */
	bool offline;     /* time stands still for events */
	bool apart;       /* of each group the first event is left */
	bool gone;        /* its driver was unloaded */
	uint32_t moved;   /* and loaded again: the numbers of its PMUs are so much greater */
	uint64_t enabled; /* where it does */
} between;

static inline int find_between(struct unc_machine *m, const char *pmu, uint32_t *type, char *mask,
			       size_t size)
{
	int rc = between.gone ? ENOENT : between.model->find(m, pmu, type, mask, size);

	if (rc == 0)
		*type += between.moved;
	return rc;
}

static inline int open_between(struct unc_machine *m, const struct perf_event_attr *attr, int cpu,
			       int group_fd)
{
	if (between.fail_at && between.opened - between.closed + 1 == between.fail_at) {
		errno = EINVAL;
		return -1;
	}
	struct perf_event_attr before = *attr;

	before.type -= between.moved;
	int fd = between.model->open(m, &before, cpu, group_fd);
	between.opened += fd >= 0;
	return fd;
}

static inline int enable_between(struct unc_machine *m, int fd)
{
	return between.model->enable(m, fd);
}

static inline long read_between(struct unc_machine *m, int fd, void *buf, size_t size)
{
	uint64_t *data = buf;
	long got = between.model->read(m, fd, buf, size);

	between.reads++;
	if (got <= 0)
		return got;
	if (between.apart) {
		data[0] = 1;
		got = 4 * (long)sizeof(*data);
	}
	if (between.offline) {
		data[1] = data[2] = between.enabled;
		return got;
	}
	data[1] += between.apart ? between.reads : 0; /* time goes by between two reads */
	between.enabled = data[1];
	data[2] = data[1] / 4 * between.keep;
	for (uint64_t i = 0; i < data[0]; i++)
		data[3 + i] = data[3 + i] / 4 * between.keep;
	return got;
}

static inline void close_between(struct unc_machine *m, int fd)
{
	between.closed++;
	between.model->close(m, fd);
}

static inline void stand_between(struct unc_platform *p)
{
	static const struct unc_machine_events events = {.find = find_between,
							 .open = open_between,
							 .enable = enable_between,
							 .read = read_between,
							 .close = close_between};

	memset(&between, 0, sizeof(between));
	between.keep = 4;
	between.model = p->machine->events;
	p->machine->events = &events;
}

/* Six events on four counters, and one beside them. */
static const char *const many[] = {
	"imc0.CAS_COUNT:RD:socket=0", "imc0.CAS_COUNT:WR:socket=0",
	"imc0.ACT_COUNT:RD:socket=0", "imc0.PRE_COUNT:RD:socket=0",
	"imc0.PRE_COUNT:WR:socket=0", "imc0.PRE_COUNT:PAGE_MISS:socket=0",
	"imc1.CAS_COUNT:RD:socket=0",
};
enum { MANY = sizeof(many) / sizeof(*many) };

#endif
