/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: sets that the kernel's own driver counts. The driver chooses the counters, shares them
 * with its other users, and takes them back from ended processes: of such a unit no register is
 * read, written, compared or restored here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

/* The open groups of a set, one for each PMU; NULL: not needed. */
struct groups {
	struct unc_kernel_group *pmu[UNC_KERNEL_PMUS];
	struct unc_time last; /* as the kernel reported it */
};

static struct groups *groups_of(const struct unc_set *set)
{
	return set->held;
}

static const struct unc_kernel_unit *kernel_of(const struct unc_run *run, const struct unc_set *set)
{
	return &run->platform->kernel[set->unit - run->platform->instances.unit];
}

static int kernel_claim(struct unc_run *run, struct unc_set *set, struct unc_error *err)
{
	const struct unc_table *t = run->platform->table;

	if (!set->held && !(set->held = calloc(1, sizeof(struct groups))))
		return unc_no_memory(err);
	for (size_t i = 0; i < set->n; i++) {
		struct unc_set_counter *c = &set->counter[i];
		const struct unc_code *code = &c->event->code;

		c->ctr = code->counter != UNC_NONE ? t->counter[code->counter].ctr
						   : unc_type_ctr(&t->type[code->type], 0);
		c->mask = UINT64_MAX; /* the kernel adds up */
		c->start = 0;
	}
	return 0;
}

static struct unc_kernel_event event_of(const struct unc_set *set, size_t i)
{
	const struct unc_kernel_code *code = &set->counter[i].event->kernel;

	return (struct unc_kernel_event){code->config, code->config1, code->config2};
}

/* The events of a set on one PMU of its unit, as they are opened. */
static size_t events_of(const struct unc_set *set, unsigned pmu, struct unc_kernel_event *out)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		if (set->counter[i].event->kernel.pmu == pmu)
			out[n++] = event_of(set, i);
	return n;
}

/* The driver may have been unloaded since the platform was opened, or loaded again: then the PMU
 * has another number, or another PMU has its number. */
static int find_place_now(const struct unc_run *run, const struct unc_set *set, unsigned pmu,
			  struct unc_kernel_place *place, struct unc_error *err)
{
	const struct unc_platform *p = run->platform;
	struct unc_kernel_place now;
	int rc;

	if ((rc = unc_platform_pmu(p, set->unit, pmu, &now, err)) < 0)
		return rc;
	/* Processes share groups by the CPU that was found first. */
	if (!now.passed && !kernel_of(run, set)->moves)
		now.cpu = place->cpu;
	*place = now;
	return 0;
}

static void close_set(struct unc_set *set)
{
	for (unsigned pmu = 0; set->held && pmu < UNC_KERNEL_PMUS; pmu++) {
		unc_kernel_close(groups_of(set)->pmu[pmu]);
		groups_of(set)->pmu[pmu] = NULL;
	}
}

static int open_set(struct unc_run *run, struct unc_set *set, struct unc_error *err)
{
	int rc = 0;

	for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && rc == 0; pmu++) {
		struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
		struct unc_kernel_place place = kernel_of(run, set)->place[pmu];
		size_t n = events_of(set, pmu, event);

		if (n && (rc = find_place_now(run, set, pmu, &place, err)) == 0)
			rc = unc_kernel_open(run->platform->access, &place, event, n,
					     &groups_of(set)->pmu[pmu], err);
	}
	if (rc < 0) {
		close_set(set);
		unc_error_prefix(err, "%s", unc_unit_name(run->platform, set->unit).text);
	}
	return rc;
}

static int kernel_start(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++)
		if (open_set(run, b->set[i], &why) < 0)
			rc = unc_set_leave(run, b->set[i], &why, err);
	return rc;
}

static int kernel_reads(struct unc_run *run, struct unc_set *set, struct unc_reg_op *ops,
			struct unc_error *err)
{
	(void)run;
	(void)err;
	for (size_t i = 0; i < set->n; i++) {
		const struct unc_kernel_event event = event_of(set, i);

		unc_kernel_op(groups_of(set)->pmu[set->counter[i].event->kernel.pmu], &event,
			      &ops[i]);
	}
	return 0;
}

static void kernel_timed(struct unc_set *set, const struct unc_reg_op *op)
{
	uint64_t ran = unc_kernel_ran(op), idle = unc_kernel_idle(op);
	struct unc_time *last = &groups_of(set)->last;

	if (!set->begins) {
		set->time.ran += ran - last->ran;
		set->time.idle += idle - last->idle;
	}
	last->ran = ran;
	last->idle = idle;
}

/* The caller must not run the prepared reads of these sets any more. */
static int kernel_stop(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	(void)run;
	(void)err;
	for (size_t i = 0; i < b->n; i++)
		close_set(b->set[i]);
	return 0;
}

static void kernel_abandon(struct unc_run *run, const struct unc_batch *b)
{
	(void)kernel_stop(run, b, NULL);
}

/* In a forked process open files end with the gate. */
static void kernel_forget(struct unc_set *set)
{
	free(set->held);
	set->held = NULL;
}

/* ---- reporting */

/* At a start the numbers of an event, at a read its count. */
static int show_event(const struct unc_set *set, unsigned cpu, const char *pmu,
		      struct unc_operation *op, const struct unc_kernel_event *event,
		      unc_operation_fn fn, void *user)
{
	static const char *const member[] = {"config", "config1", "config2", "count"};
	const uint64_t value[] = {event->config, event->config1, event->config2, 0};
	char name[UNC_KERNEL_NAME + 16], location[24];
	int stop = 0;

	snprintf(location, sizeof(location), "cpu %u", cpu);
	op->socket = set->unit->socket;
	op->index = set->unit->index;
	op->reg = name;
	op->space = "kernel";
	op->location = location;
	op->width = 64;
	for (unsigned i = op->write ? 0 : 3; i < (op->write ? 3u : 4u) && !stop; i++) {
		if (i > 0 && i < 3 && !value[i])
			continue;
		snprintf(name, sizeof(name), "%s/%s", pmu, member[i]);
		op->value = value[i];
		stop = fn(user, op);
	}
	return stop;
}

static int show_pmu(const struct unc_run *run, const struct unc_set *set, unsigned pmu,
		    enum unc_phase phase, unc_operation_fn fn, void *user)
{
	const struct unc_table *t = run->platform->table;
	struct unc_operation op = {.unit = unc_type_name(t, set->unit->type),
				   .write = phase == UNC_PHASE_START};
	struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
	const struct unc_kernel_place *place = &kernel_of(run, set)->place[pmu];
	size_t n = events_of(set, pmu, event);
	int stop = 0;

	for (size_t i = 0; i < n && !stop; i++)
		stop = show_event(set, place->cpu, place->pmu, &op, &event[i], fn, user);
	return stop;
}

static int kernel_show(struct unc_run *run, const struct unc_batch *b, enum unc_phase phase,
		       unc_operation_fn fn, void *user, struct unc_error *err)
{
	int stop = 0;

	(void)err;
	for (size_t i = 0; i < b->n && phase != UNC_PHASE_STOP; i++)
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && !stop; pmu++)
			stop = show_pmu(run, b->set[i], pmu, phase, fn, user);
	return stop;
}

static const char *kernel_subject(const struct unc_run *run, const struct unc_set *set)
{
	(void)run;
	return set->counter[0].event->name;
}

static int kernel_fail_unread(const struct unc_run *run, const struct unc_set *set,
			      struct unc_error *err)
{
	int error = set->unread;

	return unc_fail(err, UNC_ERR_IO, "%s: what the kernel counts on %s could not be read: %s",
			kernel_subject(run, set), unc_unit_name(run->platform, set->unit).text,
			error == ENODEV    ? "all CPUs of its socket went offline, or another "
					     "process of this user has stopped it"
			: error == ERANGE  ? "another process of this user has set it to 0"
			: error == ENOLINK ? "another process of this user has ended a part of it"
			: error == EBUSY   ? "other users of the kernel have its counters"
					   : strerror(error));
}

static int kernel_fail_read(const struct unc_run *run, const struct unc_set *set,
			    const struct unc_reg_op *op, struct unc_error *err)
{
	struct unc_error why = {0};

	(void)op;
	unc_set_reason(run, set, &why);
	return unc_fail(err, UNC_ERR_IO, "nothing could be read: %s", why.text);
}

/* An event whose socket went offline has ended for good, even if its CPUs come back. */
static bool is_gone_for_good(int error)
{
	return error == ENODEV || error == ERANGE || error == ENOLINK;
}

const struct unc_provider unc_kernel = {
	.claim = kernel_claim,
	.start = kernel_start,
	.reads = kernel_reads,
	.timed = kernel_timed,
	.stop = kernel_stop,
	.abandon = kernel_abandon,
	.forget = kernel_forget,
	.show = kernel_show,
	.gone = is_gone_for_good,
	.subject = kernel_subject,
	.fail_unread = kernel_fail_unread,
	.fail_read = kernel_fail_read,
};
