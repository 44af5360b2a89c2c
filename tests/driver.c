/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The uncore driver of Linux at the units of a simulated machine, as measured on a kernel 6.1, and the kernel around
 * it, as far as its uncore PMUs go. It acts through the registers, and like the real one without asking whether
 * anybody else does:
 *
 *   - which bits of an event arrive, and which filters are written for it, say the rows `kernel` of
 *     the table; the rest is dropped without an error, and a filter keeps what the last event left;
 *   - events get the lowest free counter of those on which the driver puts them, the choosiest first;
 *   - the unit is frozen while it is programmed. An event that stops leaves its counter as it is,
 *     and its control without the enable bit where there is one of its own, else 0;
 *   - its PMUs are those of the units of the first socket: one that another lacks can be opened
 *     there as well, and counts nothing;
 *   - a group that cannot fit an empty unit is refused (EINVAL); pinned groups come first, and one
 *     without counters is an error until it is closed (it reads as end of file); the others take
 *     turns: at a read from 4 ms after the last turn on, or by the clock (driver_turns()).
 *
 * It does not look in every 60 s as the real one does, so a step of the clock must be shorter than
 * a counter takes to wrap.
 */
#include "driver.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sim/sim_machine.h"

enum { FIRST_TYPE = 32, MAX_EVENTS = 64, TURN_NS = 4000000, MOST_MACHINES = 64 };

/* DEAD: its socket went offline, for good. */
enum driver_state { STOPPED, WAITING, COUNTING, FAILED, DEAD };

/* A box is a unit of one socket: events of one PMU and block share its counters. */
struct event {
	struct sim_block *block;
	const struct unc_tbl_kernel *pmu;
	uint64_t config;
	uint32_t filter[4], mask[4]; /* of the registers pmu->config */
	uint32_t slots;              /* positions in block->counter that the driver knows for it */
	int slot, wanted;            /* that it has, and is to have; -1: none now */
	uint64_t last, count;
	struct event *leader, *next; /* of its group */
	/* Of the group, with its leader. */
	bool pinned;
	enum driver_state state;
	uint64_t enabled, running, at; /* ns, up to then */
};

/* Whose turn it is at a unit, and since when. */
struct turn {
	unsigned number;
	uint64_t since; /* ns */
};

/* The driver of a machine; a descriptor is a position. */
struct driver {
	struct unc_machine *machine; /* NULL: none */
	struct event **event;        /* NULL: closed */
	size_t n;
	struct turn *turn; /* one for each of its blocks */
	bool refuses;      /* for want of rights */
	uint64_t period;   /* ns of a turn by the clock; 0: at reads */
	bool offline[UNC_MAX_SOCKETS];
	const struct unc_machine_methods *own; /* of the machine without it */
	struct unc_machine_methods methods;
};

static struct driver driver[MOST_MACHINES];
static pthread_mutex_t drivers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct driver *driver_of(const struct unc_machine *machine)
{
	struct driver *found = NULL;

	pthread_mutex_lock(&drivers_lock);
	for (unsigned i = 0; i < MOST_MACHINES && !found; i++)
		found = driver[i].machine == machine ? &driver[i] : NULL;
	pthread_mutex_unlock(&drivers_lock);
	return found;
}

static struct turn *turn_of(struct driver *k, const struct event *e)
{
	const struct unc_sim *sim = e->block->sim;

	if (!k->turn && !(k->turn = calloc(sim->n_blocks, sizeof(*k->turn))))
		abort();
	return &k->turn[e->block - sim->block];
}

static int cpus_of(const struct unc_sim *sim)
{
	return sim->top.socket[0].cpus;
}

/* ---- what the driver does to a unit */

enum { FIXED_EVENT = 0xff };

/* Positions in block->counter on which the driver puts an event; 0: it knows none. */
static uint32_t slots_of(const struct event *e)
{
	const struct unc_table *t = e->block->sim->table;
	const struct unc_tbl_type *type = e->block->type->row;
	uint64_t config = e->config & (e->pmu->free ? 0xffff : 0xff);
	uint32_t counters = 0;

	for (const struct unc_tbl_counter *c = NULL; (c = UNC_NEXT(t, counter, type->counters, c));)
		if (c->kernel == config && (c->ctl == UNC_NONE) == e->pmu->free)
			return (uint32_t)1
			       << (type->n_counters + (c - t->counter) - type->counters.first);
	if (e->pmu->free || config == FIXED_EVENT)
		return 0;
	uint64_t code = unc_field_of(&t->field[type->f_event], e->config);
	for (const struct unc_tbl_event *row = NULL; (row = UNC_NEXT(t, event, type->events, row));)
		if (row->code == code)
			counters |= row->counters;
	for (const struct unc_tbl_kernel_counters *row = NULL;
	     (row = UNC_NEXT(t, kernel_counters, type->kernel_counters, row));)
		counters = row->code == code ? row->counters : counters;
	return counters ? counters >> type->first : (uint32_t)unc_ones(type->n_counters);
}

static void take_filters(struct event *e, const uint64_t config[2])
{
	const struct unc_range *rows = &e->block->type->row->kernel_filters;
	const struct unc_tbl_kernel_filter *row = NULL;

	while ((row = UNC_NEXT(e->block->sim->table, kernel_filter, *rows, row)))
		for (unsigned k = 0; k < 4 && (e->config & row->mask) == row->ctl; k++)
			e->mask[k] |= (uint32_t)(row->bits[k / 2] >> k % 2 * 32);
	for (unsigned k = 0; k < 4; k++)
		e->filter[k] = (uint32_t)(config[k / 2] >> k % 2 * 32) & e->mask[k];
}

static bool take_event(struct event *e, const uint64_t config[3])
{
	e->config = config[0];
	e->slots = slots_of(e);
	take_filters(e, config + 1);
	return e->slots != 0;
}

static struct sim_counter *counter_of(const struct event *e)
{
	return &e->block->counter[e->slot];
}

static void write_reg(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	if (reg->exists)
		unc_sim_reg_write(reg, value, now);
}

static void count_event(struct event *e, uint64_t now)
{
	struct sim_counter *counter = counter_of(e);
	uint64_t value = counter->ctr->exists ? unc_sim_reg_read(counter->ctr, now) : 0;

	e->count += (value - e->last) & unc_ones(counter->width);
	e->last = value;
}

static void start_event(struct event *e, int slot, uint64_t now)
{
	const struct unc_tbl_type *type = e->block->type->row;
	struct sim_counter *counter = &e->block->counter[slot];

	e->slot = slot;
	e->last = counter->ctr->exists ? unc_sim_reg_read(counter->ctr, now) : 0;
	for (unsigned k = 0; k < 4; k++)
		if (e->mask[k]) {
			struct sim_reg *reg = unc_sim_reg(e->block, e->pmu->config[k]);

			write_reg(reg, (reg->value & ~(uint64_t)e->mask[k]) | e->filter[k], now);
		}
	if (counter->ctl)
		write_reg(counter->ctl,
			  counter->row
				  ? counter->row->enable
				  : (e->config & (e->pmu->bits | e->pmu->named)) | type->enable,
			  now);
}

static void stop_event(struct event *e, uint64_t now)
{
	const struct sim_type *type = e->block->type;
	struct sim_counter *counter = counter_of(e);
	bool keeps = type->row->enable && !type->field[UNC_IS_ENABLE_COUNTERS] && !counter->row;

	if (counter->ctl)
		write_reg(counter->ctl, keeps ? e->config & (e->pmu->bits | e->pmu->named) : 0,
			  now);
	for (unsigned k = 0; k < 4 && !type->row->enable; k++)
		if (e->mask[k])
			write_reg(unc_sim_reg(e->block, e->pmu->config[k]), 0, now);
	count_event(e, now);
	e->slot = -1;
}

static void freeze_box(const struct event *e, bool frozen, uint64_t now)
{
	const struct sim_type *type = e->block->type;
	const uint64_t *bits = type->bits;
	uint64_t enables = bits[UNC_IS_ENABLE_COUNTERS] | bits[UNC_IS_ENABLE_FIXED];

	if (type->row->unit_ctl == UNC_NONE || e->pmu->free)
		return;
	struct sim_reg *reg = unc_sim_reg(e->block, type->row->unit_ctl);
	uint64_t value =
		(reg->value | bits[UNC_IS_FREEZE_ENABLE]) & ~(bits[UNC_IS_FREEZE] | enables);
	write_reg(reg, value | (frozen ? bits[UNC_IS_FREEZE] : enables), now);
}

static bool filters_agree(const struct event *a, const struct event *b)
{
	for (unsigned k = 0; k < 4; k++)
		if (a->mask[k] & b->mask[k] & (a->filter[k] ^ b->filter[k]))
			return false;
	return true;
}

static bool assign(struct event *const *list, size_t n, int *slot)
{
	uint32_t taken = 0;

	for (int weight = 1; weight <= 32; weight++)
		for (size_t i = 0; i < n; i++) {
			const struct event *e = list[i];
			uint32_t left = e->slots & ~(e->pmu->free ? 0 : taken);

			if (__builtin_popcount(e->slots) != weight)
				continue;
			if (!left)
				return false;
			slot[i] = e->slot >= 0 && (left >> e->slot & 1) ? e->slot
									: __builtin_ctz(left);
			taken |= (uint32_t)1 << slot[i];
		}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!filters_agree(list[i], list[k]))
				return false;
	return true;
}

/* ---- PMUs */

/* A unit; NULL: there is none. */
static struct sim_block *unit_at(const struct unc_sim *sim, unsigned type, unsigned index,
				 unsigned socket)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].type->number == type && sim->block[i].index == index &&
		    sim->block[i].socket == socket)
			return &sim->block[i];
	return NULL;
}

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
	for (int i = 0; i < sim->top.n_sockets && n < size; i++)
		n += (size_t)snprintf(mask + n, size - n, "%s%d", i ? "," : "", i * cpus_of(sim));
	return 0;
}

/* ---- who counts */

/* The next event from *i on that shares the counters of `box`; NULL: there are no more. */
static struct event *next_event(const struct driver *k, const struct event *box, size_t *i)
{
	while (*i < k->n) {
		struct event *e = k->event[(*i)++];

		if (e && e->block == box->block && e->pmu == box->pmu)
			return e;
	}
	return NULL;
}

/* The list with a group behind it; 0: there is no room for more. */
static size_t append(struct event **list, size_t n, struct event *leader)
{
	for (struct event *e = leader; e; e = e->next) {
		if (n == MAX_EVENTS)
			return 0;
		list[n++] = e;
	}
	return n;
}

/* Group number i of a box, of the pinned ones or of the others; NULL: there are no more. */
static struct event *group_at(const struct driver *k, const struct event *box, bool pinned,
			      size_t i)
{
	struct event *e;

	for (size_t n = 0; (e = next_event(k, box, &n));)
		if (e->leader == e && e->state != STOPPED && e->state != DEAD &&
		    e->pinned == pinned && i-- == 0)
			return e;
	return NULL;
}

/* Which counter each event is to have: groups get them, pinned ones first. */
static void choose(struct driver *k, const struct event *box)
{
	size_t n = 0, more, groups = 0;
	struct event *list[MAX_EVENTS], *e;
	int slot[MAX_EVENTS];
	bool room = true;

	for (size_t i = 0; (e = group_at(k, box, true, i)); i++) {
		more = e->state == FAILED ? 0 : append(list, n, e);
		e->state = more && assign(list, more, slot) ? COUNTING : FAILED;
		n = e->state == COUNTING ? more : n;
	}
	while (group_at(k, box, false, groups))
		groups++;
	for (size_t i = 0; i < groups; i++) {
		e = group_at(k, box, false, (i + turn_of(k, box)->number) % groups);
		more = room ? append(list, n, e) : 0;
		room = more && assign(list, more, slot);
		e->state = room ? COUNTING : WAITING;
		n = room ? more : n;
	}
	assign(list, n, slot);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		e->wanted = -1;
	for (size_t i = 0; i < n; i++)
		list[i]->wanted = slot[i];
}

/* Times and counts of all events of a box, up to now. */
static void update(struct driver *k, const struct event *box, uint64_t now)
{
	struct event *e;

	for (size_t i = 0; (e = next_event(k, box, &i));) {
		if (e->slot >= 0)
			count_event(e, now);
		e->enabled += e->state == WAITING || e->state == COUNTING ? now - e->at : 0;
		e->running += e->state == COUNTING ? now - e->at : 0;
		e->at = now;
	}
}

static void schedule(struct driver *k, const struct event *box, uint64_t now)
{
	struct event *e;
	bool changes = false;

	update(k, box, now);
	choose(k, box);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		changes |= e->slot != e->wanted;
	if (!changes)
		return;
	freeze_box(box, true, now);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		if (e->slot >= 0 && e->slot != e->wanted)
			stop_event(e, now);
	for (size_t i = 0; (e = next_event(k, box, &i));)
		if (e->slot != e->wanted)
			start_event(e, e->wanted, now);
	freeze_box(box, false, now);
}

/* Whether somebody waits for his turn. */
static bool somebody_waits(const struct driver *k, const struct event *box)
{
	const struct event *e;

	for (size_t i = 0; (e = next_event(k, box, &i));)
		if (e->leader == e && e->state == WAITING)
			return true;
	return false;
}

/* Lets the turns by the clock go by, before anything changes. */
static void catch_up(struct driver *k, const struct event *box, uint64_t now)
{
	struct turn *turn = turn_of(k, box);

	if (!k->period)
		return;
	while (turn->since + k->period <= now && somebody_waits(k, box)) {
		turn->since += k->period;
		turn->number++;
		schedule(k, box, turn->since);
	}
	turn->since = now - now % k->period;
}

/* ---- calls */

/* What the driver says to an event: 0 or an errno. */
static int check_event(struct unc_sim *sim, const struct perf_event_attr *attr, int cpu,
		       struct event *e)
{
	uint32_t number = (attr->type - FIRST_TYPE) / UNC_KERNEL_PMUS;
	unsigned pmu = (attr->type - FIRST_TYPE) % UNC_KERNEL_PMUS;
	const struct sim_block *first = number < sim->n_blocks ? &sim->block[number] : NULL;
	char name[UNC_KERNEL_NAME];

	if (!first ||
	    !unc_kernel_pmu(sim->table, first->type->number, pmu, first->index, name, sizeof(name)))
		return ENOENT;
	if (cpu < 0 || cpu >= cpus_of(sim) * sim->top.n_sockets || attr->sample_period ||
	    attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle)
		return EINVAL;
	e->block = unit_at(sim, first->type->number, first->index, (unsigned)(cpu / cpus_of(sim)));
	if (!e->block)
		return EINVAL;
	if (driver_of(&sim->machine)->offline[e->block->socket])
		return ENODEV;
	e->pmu = &sim->table->kernel[first->type->row->kernels.first + pmu];
	e->slot = -1;
	if (!take_event(e, (const uint64_t[]){attr->config, attr->config1, attr->config2}))
		return EINVAL;
	return 0;
}

/* Behind the others of its group; EINVAL if they never fit together. */
static int join(struct event *e, struct event *leader)
{
	struct event *list[MAX_EVENTS], **end = &leader->next;
	int slot[MAX_EVENTS];
	size_t n = append(list, 0, leader);

	if (e->block != leader->block || e->pmu != leader->pmu || !n || n == MAX_EVENTS)
		return EINVAL;
	list[n++] = e;
	if (!assign(list, n, slot))
		return EINVAL;
	while (*end)
		end = &(*end)->next;
	*end = e;
	e->leader = leader;
	return 0;
}

/* The lowest number that is free, as a descriptor has. */
static int keep(struct driver *k, struct event *e)
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
	struct driver *k = driver_of(machine);
	struct event *e = calloc(1, sizeof(*e));
	int fd = -1, rc = e ? 0 : ENOMEM;
	uint64_t now = unc_sim_enter(sim);

	if (rc == 0 && k->refuses)
		rc = EACCES; /* before anything else is looked at */
	if (rc == 0)
		rc = check_event(sim, attr, cpu, e);
	if (rc == 0)
		catch_up(k, e, now);
	if (rc == 0 && group_fd >= 0)
		rc = join(e, k->event[group_fd]);
	if (rc == 0 && (fd = keep(k, e)) < 0)
		rc = ENOMEM;
	if (rc == 0) {
		e->leader = e->leader ? e->leader : e;
		e->pinned = attr->pinned;
		e->state = attr->disabled ? STOPPED : WAITING;
		e->at = now;
		schedule(k, e, now);
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
	struct driver *k = driver_of(machine);
	uint64_t now = unc_sim_enter(sim);
	struct event *e = k->event[fd];

	if (e->state == STOPPED) {
		catch_up(k, e, now);
		update(k, e, now);
		e->state = WAITING;
		schedule(k, e, now);
	}
	pthread_mutex_unlock(&sim->lock);
	return 0;
}

/* Of the leader of a group; then it may be somebody else's turn. */
static long read_event(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct driver *k = driver_of(machine);
	uint64_t *data = buf, n = 0, now = unc_sim_enter(sim);
	struct event *e = k->event[fd];
	bool failed;

	e = e->leader;
	catch_up(k, e, now);
	update(k, e, now);
	failed = e->state == FAILED;
	for (const struct event *m = e; m && 8 * (3 + n) < size; m = m->next)
		data[3 + n++] = m->count;
	data[0] = n;
	data[1] = e->enabled;
	data[2] = e->running;
	if (!k->period && now - turn_of(k, e)->since >= TURN_NS) {
		turn_of(k, e)->since = now;
		turn_of(k, e)->number++;
		schedule(k, e, now);
	}
	pthread_mutex_unlock(&sim->lock);
	return failed ? 0 : (long)(8 * (3 + n));
}

/* What follows a leader that is gone stops. */
static void leave(struct event *e)
{
	struct event *next;

	if (e->leader != e) {
		for (next = e->leader; next->next != e;)
			next = next->next;
		next->next = e->next;
		return;
	}
	for (e->state = STOPPED; e->next; e->next = next) {
		next = e->next->next;
		e->next->leader = e->next;
		e->next->state = STOPPED;
		e->next->next = NULL;
	}
}

static void close_event(struct unc_machine *machine, int fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct driver *k = driver_of(machine);
	uint64_t now = unc_sim_enter(sim);
	struct event *e = k->event[fd];

	catch_up(k, e, now);
	update(k, e, now);
	leave(e);
	schedule(k, e, now);
	k->event[fd] = NULL;
	free(e);
	pthread_mutex_unlock(&sim->lock);
}

static const struct unc_machine_events driver_events = {
	.find = find_pmu,
	.open = open_event,
	.enable = enable_event,
	.read = read_event,
	.close = close_event,
};

/* ---- what a test does beside */

void driver_turns(struct unc_machine *machine, uint64_t ns)
{
	driver_of(machine)->period = ns;
}

void driver_stop(struct unc_machine *machine, int fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct driver *k = driver_of(machine);
	uint64_t now = unc_sim_enter(sim);
	struct event *leader = k->event[fd]->leader;

	catch_up(k, leader, now);
	update(k, leader, now);
	leader->state = leader->state == DEAD ? DEAD : STOPPED;
	schedule(k, leader, now);
	pthread_mutex_unlock(&sim->lock);
}

void driver_reset(struct unc_machine *machine, int fd)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	struct driver *k = driver_of(machine);
	uint64_t now = unc_sim_enter(sim);
	struct event *e = k->event[fd];

	update(k, e, now);
	e->count = 0;
	pthread_mutex_unlock(&sim->lock);
}

void driver_offline(struct unc_machine *machine, int cpu, bool offline)
{
	struct unc_sim *sim = unc_machine_sim(machine);
	uint64_t now = unc_sim_enter(sim);
	struct driver *k = driver_of(machine);
	const unsigned socket = (unsigned)(cpu / cpus_of(sim));

	k->offline[socket] = offline;
	for (size_t i = 0; i < k->n && offline; i++)
		if (k->event[i] && k->event[i]->block->socket == socket) {
			catch_up(k, k->event[i], now);
			update(k, k->event[i], now);
			k->event[i]->state = DEAD;
			schedule(k, k->event[i], now);
		}
	pthread_mutex_unlock(&sim->lock);
}

/* ---- a machine that has it */

static void close_machine(struct unc_machine *machine)
{
	struct driver *k = driver_of(machine);
	const struct unc_machine_methods *own = k->own;

	for (size_t i = 0; i < k->n; i++)
		free(k->event[i]);
	free(k->event);
	free(k->turn);
	machine->methods = own;
	pthread_mutex_lock(&drivers_lock);
	*k = (struct driver){0};
	pthread_mutex_unlock(&drivers_lock);
	own->close(machine);
}

void driver_attach(struct unc_machine *machine, bool refuses)
{
	struct driver *k = driver_of(NULL);

	if (!k)
		abort();
	*k = (struct driver){.machine = machine, .refuses = refuses, .own = machine->methods};
	k->methods = *k->own;
	k->methods.close = close_machine;
	machine->methods = &k->methods;
	machine->events = &driver_events;
}
