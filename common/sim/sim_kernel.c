/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of the simulated machine, as far as its uncore PMUs go (kernel=on; sim_driver.c has
 * the driver):
 *
 *   - its PMUs are those of the units of the first socket: one that another lacks can be opened
 *     there as well, and counts nothing;
 *   - a group that cannot fit an empty unit is refused (EINVAL); pinned groups come first, and one
 *     without counters is an error until it is closed (it reads as end of file); the others take
 *     turns, at a read from 4 ms after the last turn on.
 *
 * It does not look in every 60 s as the real one does, so a step of the clock must be shorter than
 * a counter takes to wrap.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sim/sim_kernel.h"

enum { FIRST_TYPE = 32, MAX_EVENTS = 64, TURN_NS = 4000000 };

/* ---- PMUs */

/* Their types are those of the blocks of the first socket, one behind the other. */
static bool find_type(struct unc_sim *sim, const char *pmu, uint32_t *type)
{
	char name[UNC_KERNEL_NAME];

	for (size_t i = 0; i < sim->n_blocks; i++)
		for (unsigned p = 0; p < UNC_KERNEL_PMUS; p++) {
			const struct sim_block *block = &sim->block[i];

			if (block->socket || !block->reg[0].exists ||
			    !unc_kernel_pmu(sim->table, block->type->number, p, block->index, name,
					    sizeof(name)) ||
			    strcmp(name, pmu) != 0)
				continue;
			*type = FIRST_TYPE + (uint32_t)i * UNC_KERNEL_PMUS + p;
			return true;
		}
	return false;
}

static int find_pmu(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
		    size_t size)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	size_t n = 0;

	if (!find_type(sim, pmu, type))
		return ENOENT;
	for (int i = 0; i < (int)sim->options.sockets && n < size; i++)
		n += (size_t)snprintf(mask + n, size - n, "%s%d", i ? "," : "",
				      i * unc_sim_cpus(sim));
	return 0;
}

/* ---- who counts */

/* The next event from *i on that shares the counters of `box`; NULL: there are no more. */
static struct sim_event *next_event(const struct sim_kernel *k, const struct sim_event *box,
				    size_t *i)
{
	while (*i < k->n) {
		struct sim_event *e = k->event[(*i)++];

		if (e && e->block == box->block && e->pmu == box->pmu)
			return e;
	}
	return NULL;
}

/* The list with a group behind it; 0: there is no room for more. */
static size_t append(struct sim_event **list, size_t n, struct sim_event *leader)
{
	for (struct sim_event *e = leader; e; e = e->next) {
		if (n == MAX_EVENTS)
			return 0;
		list[n++] = e;
	}
	return n;
}

/* Group number i of a box, of the pinned ones or of the others; NULL: there are no more. */
static struct sim_event *group_at(const struct sim_kernel *k, const struct sim_event *box,
				  bool pinned, size_t i)
{
	struct sim_event *e;

	for (size_t n = 0; (e = next_event(k, box, &n));)
		if (e->leader == e && e->state != SIM_STOPPED && e->pinned == pinned && i-- == 0)
			return e;
	return NULL;
}

/* Which counter each event is to have: groups get them, pinned ones first. */
static void choose(const struct sim_kernel *k, const struct sim_event *box)
{
	size_t n = 0, more, groups = 0;
	struct sim_event *list[MAX_EVENTS], *e;
	int slot[MAX_EVENTS];
	bool room = true;

	for (size_t i = 0; (e = group_at(k, box, true, i)); i++) {
		more = e->state == SIM_FAILED ? 0 : append(list, n, e);
		e->state =
			more && unc_sim_event_assign(list, more, slot) ? SIM_COUNTING : SIM_FAILED;
		n = e->state == SIM_COUNTING ? more : n;
	}
	while (group_at(k, box, false, groups))
		groups++;
	for (size_t i = 0; i < groups; i++) {
		e = group_at(k, box, false, (i + box->block->turn) % groups);
		more = room ? append(list, n, e) : 0;
		room = more && unc_sim_event_assign(list, more, slot);
		e->state = room ? SIM_COUNTING : SIM_WAITING;
		n = room ? more : n;
	}
	unc_sim_event_assign(list, n, slot);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		e->wanted = -1;
	for (size_t i = 0; i < n; i++)
		list[i]->wanted = slot[i];
}

/* Times and counts of all events of a box, up to now. */
static void update(struct sim_kernel *k, const struct sim_event *box, uint64_t now)
{
	struct sim_event *e;

	for (size_t i = 0; (e = next_event(k, box, &i));) {
		if (e->slot >= 0)
			unc_sim_event_count(e, now);
		e->enabled += e->state == SIM_WAITING || e->state == SIM_COUNTING ? now - e->at : 0;
		e->running += e->state == SIM_COUNTING ? now - e->at : 0;
		e->at = now;
	}
}

static void schedule(struct sim_kernel *k, const struct sim_event *box, uint64_t now)
{
	struct sim_event *e;
	bool changes = false;

	update(k, box, now);
	choose(k, box);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		changes |= e->slot != e->wanted;
	if (!changes)
		return;
	unc_sim_event_freeze(box, true, now);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		if (e->slot >= 0 && e->slot != e->wanted)
			unc_sim_event_stop(e, now);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		if (e->slot != e->wanted)
			unc_sim_event_start(e, e->wanted, now);
	unc_sim_event_freeze(box, false, now);
}

/* ---- calls */

/* What the driver says to an event: 0 or an errno. */
static int check_event(struct unc_sim *sim, const struct perf_event_attr *attr, int cpu,
		       struct sim_event *e)
{
	uint32_t number = (attr->type - FIRST_TYPE) / UNC_KERNEL_PMUS;
	unsigned pmu = (attr->type - FIRST_TYPE) % UNC_KERNEL_PMUS;
	const struct sim_block *first = number < sim->n_blocks ? &sim->block[number] : NULL;
	char name[UNC_KERNEL_NAME];

	if (!first ||
	    !unc_kernel_pmu(sim->table, first->type->number, pmu, first->index, name, sizeof(name)))
		return ENOENT;
	if (cpu < 0 || cpu >= unc_sim_cpus(sim) * (int)sim->options.sockets ||
	    attr->sample_period || attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
	    attr->exclude_idle)
		return EINVAL;
	e->block = unc_sim_block(sim, first->type->number, first->index,
				 (unsigned)(cpu / unc_sim_cpus(sim)));
	if (!e->block)
		return EINVAL;
	e->pmu = &sim->table->kernel[first->type->row->kernels.first + pmu];
	e->slot = -1;
	if (!unc_sim_event_take(e, (const uint64_t[]){attr->config, attr->config1, attr->config2}))
		return EINVAL;
	return 0;
}

/* Behind the others of its group; EINVAL if they never fit together. */
static int join(struct sim_event *e, struct sim_event *leader)
{
	struct sim_event *list[MAX_EVENTS], **end = &leader->next;
	int slot[MAX_EVENTS];
	size_t n = append(list, 0, leader);

	if (e->block != leader->block || e->pmu != leader->pmu || !n || n == MAX_EVENTS)
		return EINVAL;
	list[n++] = e;
	if (!unc_sim_event_assign(list, n, slot))
		return EINVAL;
	while (*end)
		end = &(*end)->next;
	*end = e;
	e->leader = leader;
	return 0;
}

/* The lowest number that is free, as a descriptor has. */
static int keep(struct sim_kernel *k, struct sim_event *e)
{
	size_t fd = 0;

	while (fd < k->n && k->event[fd])
		fd++;
	if (fd == k->n && !UNC_ADD_TO(k->event, k->n))
		return -1;
	k->event[fd] = e;
	return (int)fd;
}

static int open_event(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		      int group_fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct sim_event *e = calloc(1, sizeof(*e));
	int fd = -1, rc = e ? 0 : ENOMEM;
	uint64_t now = unc_sim_enter(sim);

	if (rc == 0 && sim->options.rights == SIM_RIGHTS_NONE)
		rc = EACCES; /* before anything else is looked at */
	if (rc == 0)
		rc = check_event(sim, attr, cpu, e);
	if (rc == 0 && group_fd >= 0)
		rc = join(e, sim->kernel.event[group_fd]);
	if (rc == 0 && (fd = keep(&sim->kernel, e)) < 0)
		rc = ENOMEM;
	if (rc == 0) {
		e->leader = e->leader ? e->leader : e;
		e->pinned = attr->pinned;
		e->state = attr->disabled ? SIM_STOPPED : SIM_WAITING;
		e->at = now;
		schedule(&sim->kernel, e, now);
	}
	pthread_mutex_unlock(&sim->lock);
	if (rc) {
		free(e);
		errno = rc;
	}
	return fd;
}

static int enable_event(struct unc_machine *machine, int fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	uint64_t now = unc_sim_enter(sim);
	struct sim_event *e = sim->kernel.event[fd];

	if (e->state == SIM_STOPPED) {
		update(&sim->kernel, e, now);
		e->state = SIM_WAITING;
		schedule(&sim->kernel, e, now);
	}
	pthread_mutex_unlock(&sim->lock);
	return 0;
}

/* Of the leader of a group; then it may be somebody else's turn. */
static long read_event(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct sim_kernel *k = &sim->kernel;
	uint64_t *data = buf, n = 0, now = unc_sim_enter(sim);
	struct sim_event *e = k->event[fd];
	bool failed = e->state == SIM_FAILED;

	update(k, e, now);
	for (const struct sim_event *m = e; m && 8 * (3 + n) < size; m = m->next)
		data[3 + n++] = m->count;
	data[0] = n;
	data[1] = e->enabled;
	data[2] = e->running;
	if (now - e->block->turned >= TURN_NS) {
		e->block->turned = now;
		e->block->turn++;
		schedule(k, e, now);
	}
	pthread_mutex_unlock(&sim->lock);
	return failed ? 0 : (long)(8 * (3 + n));
}

/* What follows a leader that is gone stops. */
static void leave(struct sim_event *e)
{
	struct sim_event *next;

	if (e->leader != e) {
		for (next = e->leader; next->next != e;)
			next = next->next;
		next->next = e->next;
		return;
	}
	for (e->state = SIM_STOPPED; e->next; e->next = next) {
		next = e->next->next;
		e->next->leader = e->next;
		e->next->state = SIM_STOPPED;
		e->next->next = NULL;
	}
}

static void close_event(struct unc_machine *machine, int fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	uint64_t now = unc_sim_enter(sim);
	struct sim_event *e = sim->kernel.event[fd];

	update(&sim->kernel, e, now);
	leave(e);
	schedule(&sim->kernel, e, now);
	sim->kernel.event[fd] = NULL;
	free(e);
	pthread_mutex_unlock(&sim->lock);
}

const struct unc_machine_events unc_sim_events = {
	.find = find_pmu,
	.open = open_event,
	.enable = enable_event,
	.read = read_event,
	.close = close_event,
};

void unc_sim_kernel_free(struct unc_sim *sim)
{
	for (size_t i = 0; i < sim->kernel.n; i++)
		free(sim->kernel.event[i]);
	free(sim->kernel.event);
}
