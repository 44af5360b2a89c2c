/* SPDX-License-Identifier: BSD-3-Clause */
#include "units/counters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "access/access.h"
#include "base/grow.h"
#include "encode/decode.h"
#include "host/perf_users.h"
#include "host/wire.h"
#include "units/inside.h"
#include "units/look.h"

/* ---- programs that count through the kernel */

struct look {
	struct unc_platform *platform;
	struct unc_counters *out;
	struct unc_perf_users users; /* valid once `known` */
	bool known;
	struct unc_error *err;
};

/* Events of a simulated kernel belong to this process. */
static void find_users(struct look *look)
{
	struct unc_process self;

	if (look->known)
		return;
	look->known = true;
	if (!look->platform->machine->simulated) {
		unc_perf_users_find(look->platform->fs, &look->users);
		return;
	}
	unc_process_self(&self);
	look->users = (struct unc_perf_users){.n = 1, .all = true, .pid = self.pid};
	memcpy(look->users.command, self.command, sizeof(self.command));
}

/* ---- owners */

static int add_row(struct look *look, const struct unc_found *row)
{
	struct unc_counters *out = look->out;
	void *more = unc_grow(out->row, out->n, sizeof(*out->row));

	if (!more)
		return unc_fail(look->err, UNC_ERR_MEMORY, "out of memory");
	out->row = more;
	out->row[out->n++] = *row;
	return 0;
}

/* A counter without an entry: it may be the kernel's, if the unit has a kernel driver. */
static int add_outsider(struct look *look, struct unc_found *row)
{
	row->owner = UNC_OWNER_FOREIGN;
	if (!unc_platform_has_driver(look->platform, row->instance))
		return add_row(look, row);
	find_users(look);
	if (look->users.all && !look->users.n)
		return add_row(look, row);
	row->owner = UNC_OWNER_KERNEL;
	if (look->users.all && look->users.n == 1) {
		row->pid = look->users.pid;
		memcpy(row->command, look->users.command, sizeof(row->command));
	}
	return add_row(look, row);
}

/* The entry of a control that holds its value; *held: a running session has it. If a program has
 * changed the control since, the entry proves nothing. */
static const struct unc_journal_entry *
entry_of_row(const struct unc_platform *p, const struct unc_found *row, uint32_t *user, bool *held)
{
	const struct unc_journal_entry *e = NULL;
	struct unc_journal *j = p->journal;
	struct unc_journal_key key;
	uint16_t n;

	if (!unc_entry_key(p, row->instance, row->ctl, &key))
		return NULL;
	*user = (uint32_t)geteuid();
	n = unc_journal_find(j, &key, UNC_JOURNAL_NONE);
	if (n != UNC_JOURNAL_NONE) {
		*held = unc_journal_held(j, n);
		e = unc_journal_at(j, n);
	} else {
		e = unc_journal_taken(j, &key, 0, user, held);
	}
	return e && unc_entry_stands(p, row->instance, row->ctl, e, row->control) ? e : NULL;
}

static int add_used_counter(struct look *look, struct unc_found *row)
{
	uint32_t user;
	bool held;
	const struct unc_journal_entry *e = entry_of_row(look->platform, row, &user, &held);

	if (!e)
		return add_outsider(look, row);
	row->owner = held ? UNC_OWNER_LIBUNCORE : UNC_OWNER_ORPHANED;
	row->user = user;
	row->believed = user == geteuid();
	row->since = (uint64_t)e->since * 1000000000;
	/* The process that programmed it may have ended before others that count by it. */
	if (unc_process_name(e->pid, e->start, e->space, row->command) || !held)
		row->pid = e->pid;
	return add_row(look, row);
}

/* ---- reading units */

static int add_unit_counters(struct look *look, const struct unc_instance *u,
			     const struct unc_plan *plan)
{
	const struct unc_table *t = look->platform->table;
	int rc = 0;

	for (size_t i = 0; i < plan->n && rc == 0; i++) {
		struct unc_found row = {.instance = u,
					.ctl = plan->tag[i].reg,
					.ctr = unc_counter_in_use(t, plan, i),
					.control = plan->op[i].value};

		if (row.ctr == UNC_NONE)
			continue;
		if (unc_counter_event(t, plan, i, row.event, sizeof(row.event)) < 0)
			row.event[0] = '\0';
		rc = add_used_counter(look, &row);
	}
	return rc;
}

/* A unit that cannot be read does not hide the others. */
static int read_unit(struct look *look, const struct unc_instance *u)
{
	struct unc_platform *p = look->platform;
	struct unc_plan *read = &look->out->read[u - p->instances.unit];
	struct unc_error why = {0};
	int failed = unc_look_at(p->table, u, UNC_LOOK_EVENTS, NULL, read, &why), rc;

	if (failed == 0)
		failed = unc_plan_run(p, read, "looking at it", &why);
	if (failed < 0 && !look->out->failed.code) {
		unc_error_prefix(&why, "%s", unc_unit_name(p, u).text);
		look->out->failed = why;
	}
	rc = failed == UNC_ERR_MEMORY ? unc_fail(look->err, failed, "out of memory")
				      : add_unit_counters(look, u, read);
	if (failed < 0)
		unc_plan_free(read);
	return rc;
}

/* Why the registers of a unit that the kernel may count on cannot be used. */
static const char *hidden_reason(const struct unc_platform *p, const struct unc_instance *u)
{
	const struct unc_kernel_unit *kernel = p->kernel ? &p->kernel[u - p->instances.unit] : NULL;

	return kernel && kernel->pmus ? kernel->registers : u->reason;
}

int unc_counters_look(struct unc_platform *p, struct unc_counters *out, struct unc_error *err)
{
	const struct unc_instances *all = &p->instances;
	struct look look = {.platform = p, .out = out, .err = err};
	int rc = 0;

	*out = (struct unc_counters){.read = calloc(all->n + 1, sizeof(*out->read)),
				     .n_read = all->n};
	if (!out->read)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	snprintf(out->unknown, sizeof(out->unknown), "%s", unc_journal_reason(p->journal));
	for (size_t i = 0; i < all->n && rc == 0; i++) {
		const struct unc_instance *u = &all->unit[i];

		if (unc_space_of_thread(u->part[0].space))
			continue; /* the kernel saves these counters with each thread */
		if (u->direct) {
			rc = read_unit(&look, u);
			out->n_looked++;
		} else if (out->n_hidden++ == 0) {
			out->hidden = u;
		}
	}
	if (rc < 0 || out->n_looked || !out->hidden)
		return rc;
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "no unit can be looked at; %s: %s",
			unc_unit_name(p, out->hidden).text, hidden_reason(p, out->hidden));
}

void unc_counters_free(struct unc_counters *c)
{
	for (size_t i = 0; i < c->n_read; i++)
		unc_plan_free(&c->read[i]);
	free(c->read);
	free(c->row);
	*c = (struct unc_counters){.n = 0};
}

const struct unc_found *unc_counters_find(const struct unc_counters *c,
					  const struct unc_instance *u, uint16_t ctl)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->row[i].instance == u && c->row[i].ctl == ctl)
			return &c->row[i];
	return NULL;
}

void unc_counters_warn(struct unc_platform *p, const struct unc_counters *c)
{
	char more[40] = "";

	if (*c->unknown)
		unc_platform_log(p, UNC_LOG_WARNING,
				 "sessions of other programs are not known, they are shown as "
				 "foreign: %.350s",
				 c->unknown);
	if (!c->n_hidden)
		return;
	if (c->n_hidden > 1)
		snprintf(more, sizeof(more), " and %zu more", c->n_hidden - 1);
	unc_platform_log(p, UNC_LOG_WARNING, "not looked at: %s%s: %s",
			 unc_unit_name(p, c->hidden).text, more, hidden_reason(p, c->hidden));
}

/* ---- reporting */

static int tell_row(const struct unc_platform *p, const struct unc_found *f, enum unc_release what,
		    unc_counter_fn fn, void *user)
{
	const struct unc_table *t = p->table;
	const struct unc_tbl_type *type = &t->type[f->instance->type];
	struct unc_counter row = {
		.unit = unc_unit_get(p, (size_t)(f->instance - p->instances.unit)),
		.number = t->reg[f->ctl].role == UNC_ROLE_CTL ? t->reg[f->ctl].number : -1,
		.control = f->control,
		.event = *f->event ? f->event : NULL,
		.owner = f->owner,
		.pid = f->pid > 0 && f->pid <= INT_MAX ? (int)f->pid : 0,
		.command = f->command,
		.since = (double)f->since / 1e9,
		.release = what == UNC_RELEASE_DONE && f->why.code ? UNC_RELEASE_KEPT : what,
		.reason = f->why.text,
		.uid = f->owner == UNC_OWNER_ORPHANED ? (int)f->user : -1,
	};

	for (uint32_t i = 0; row.number < 0 && i < type->counters.n; i++)
		if (t->counter[type->counters.first + i].ctr == f->ctr)
			row.name = unc_tbl_str(t, t->counter[type->counters.first + i].name);
	return fn(user, &row);
}

int unc_counters_tell(const struct unc_platform *p, const struct unc_counters *c,
		      enum unc_release what, unc_counter_fn fn, void *user)
{
	int rc = 0;

	for (size_t i = 0; i < c->n && rc == 0; i++)
		rc = tell_row(p, &c->row[i], what, fn, user);
	return rc;
}

int unc_counters_once(struct unc_platform *p, struct unc_counters *out, struct unc_error *err)
{
	int rc;

	*out = (struct unc_counters){.n = 0};
	if (!unc_platform_here(p))
		return UNC_ERR_STATE;           /* a thread that is not here may hold its lock */
	unc_platform_fail(p, UNC_OK, "%s", ""); /* clears the error of the call before */
	if (!p->access)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the platform is for listing only");
	if ((rc = unc_node_lock(p, UNC_START_PATIENCE, err)) < 0)
		return rc;
	rc = unc_counters_look(p, out, err);
	unc_node_unlock(p);
	if (rc == 0)
		unc_counters_warn(p, out);
	return rc;
}

/* ---- what the broker has handed out */

/* The unit of a PMU; NULL: the tables have none. */
static const struct unc_instance *unit_of_pmu(const struct unc_platform *p,
					      const struct unc_wire_row *row)
{
	int socket = unc_topology_socket(&p->topology, (int)row->cpu);
	const struct unc_instance *found = NULL;

	for (size_t i = 0; p->kernel && i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_kernel_place *place = p->kernel[i].place;

		for (unsigned k = 0; k < UNC_KERNEL_PMUS && (int)u->socket == socket; k++)
			if (strcmp(place[k].pmu, row->pmu) ==
			    0) /* of several units, the one of this CPU */
				found = !found || place[k].cpu == row->cpu ? u : found;
	}
	return found;
}

/* Drops the row of a register that the kernel programmed for the broker: it is reported once, with
 * the broker's user. */
static void drop_found(const struct unc_platform *p, struct unc_counters *found,
		       const struct unc_instance *u, uint64_t config)
{
	uint64_t enable = p->table->type[u->type].enable;
	size_t i = 0;

	while (i < found->n &&
	       !(found->row[i].owner == UNC_OWNER_KERNEL && found->row[i].instance == u &&
		 (found->row[i].control | enable) == (config | enable)))
		i++;
	if (i < found->n)
		memmove(&found->row[i], &found->row[i + 1], (--found->n - i) * sizeof(*found->row));
}

static int tell_broker_row(const struct unc_platform *p, const struct unc_wire_row *row,
			   struct unc_counters *found, unc_counter_fn fn, void *user)
{
	const struct unc_instance *u = unit_of_pmu(p, row);
	char event[UNC_SPEC_MAX], command[UNC_COMMAND_MAX] = "";
	const struct unc_table *t = p->table;
	struct unc_spec spec;

	if (!u)
		return 0;
	if (row->event.config1 || row->event.config2 ||
	    unc_code_decode(t, u->type, row->event.config | t->type[u->type].enable, NULL, 0, &spec,
			    NULL) < 0 ||
	    unc_spec_format(t, &spec, event, sizeof(event)) < 0)
		event[0] = '\0';
	bool seen = unc_process_since(row->pid, row->age, command);
	drop_found(p, found, u, row->event.config);
	const struct unc_counter c = {
		.unit = unc_unit_get(p, (size_t)(u - p->instances.unit)),
		.number = -1,
		.control = row->event.config,
		.event = *event ? event : NULL,
		.owner = UNC_OWNER_KERNEL,
		.pid = seen && row->pid <= INT_MAX ? (int)row->pid : 0,
		.command = command,
		.reason = "",
		.uid = (int)row->uid,
		.by = unc_access_broker.name,
	};

	return fn(user, &c);
}

/* *n: the number of counters. A node without a broker has none. */
static int walk_broker(struct unc_platform *p, struct unc_counters *found, size_t *n,
		       unc_counter_fn fn, void *user)
{
	struct unc_wire_answer answer;
	uint32_t first = 0;
	char since[40] = "";
	int rc = 0;

	do {
		struct unc_error why = {0};

		if (!p->access || unc_kernel_passed(p->access, first, &answer, &why) < 0) {
			if (why.code && why.code != UNC_ERR_NOT_FOUND)
				unc_platform_log(p, UNC_LOG_WARNING,
						 "the counters of the broker are not known: %s",
						 why.text);
			return rc;
		}
		for (uint32_t i = 0; i < answer.head.n && rc == 0; i++)
			rc = tell_broker_row(p, &answer.row[i], found, fn, user);
		*n += answer.head.n;
		first = answer.next;
	} while (first && rc == 0);
	time_t seconds = (time_t)answer.since;
	struct tm t;

	if (gmtime_r(&seconds, &t))
		strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", &t);
	unc_platform_log(p, UNC_LOG_WARNING,
			 "the broker began at %s: it does not know what an earlier one gave out",
			 since);
	return rc;
}

int unc_counters_walk(struct unc_platform *p, unc_counter_fn fn, void *user)
{
	struct unc_counters found;
	struct unc_error err = {0};
	int rc = unc_counters_once(p, &found, &err);

	if (rc == 0 || rc == UNC_ERR_UNAVAILABLE) {
		size_t passed = 0;
		int told = walk_broker(p, &found, &passed, fn, user);

		if (rc < 0 && passed) {
			unc_platform_log(p, UNC_LOG_WARNING, "%s", err.text);
			unc_error_clear(&err);
			rc = told;
		}
		rc = rc ? rc : told;
	}
	if (rc == 0)
		rc = unc_counters_tell(p, &found, UNC_RELEASE_FOUND, fn, user);
	if (rc == 0 && found.failed.code)
		err = found.failed;
	unc_counters_free(&found);
	return err.code ? unc_platform_keep(p, &err) : rc;
}
