/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: whether a unit is frozen, as far as registers show it, and unfreezing it or its socket. */
#include "units/inside.h"
#include "units/look.h"

int unc_unit_frozen(const struct unc_table *t, const struct unc_instance *u,
		    const uint64_t *control)
{
	const struct unc_tbl_type *type = &t->type[u->type];

	if (!control || !unc_reg_shows(t, type->unit_ctl))
		return -1;
	return (int)unc_unit_state(t, type, *control);
}

int unc_unit_go_on(struct unc_platform *p, const struct unc_instance *u,
		   const struct unc_journal_entry *orphan, struct unc_error *err)
{
	const struct unc_table *t = p->table;
	const struct unc_tbl_type *type = &t->type[u->type];
	struct unc_held held = {.n_controls = 1};
	const struct unc_set unit = {.unit = u, .held = &held};
	struct unc_plan look = {0}, plan = {0};
	size_t others = 0;
	int frozen = -1, rc = unc_look_at(t, u, UNC_LOOK_STATE, NULL, &look, err);

	if (rc == 0)
		rc = unc_plan_run(p, &look,
				  orphan ? "looking at what ended processes have left"
					 : "looking at what was freed",
				  err);
	if (rc == 0) {
		others = unc_occupancy(p, &look, u, NULL).n;
		frozen = unc_unit_frozen(t, u, unc_plan_value(&look, u, type->unit_ctl));
	}
	unc_plan_free(&look);
	if (rc == 0 && frozen != UNC_UNIT_RUNS && (orphan || !others))
		rc = unc_plan_steps(t, &unit, UNC_LET_GO, &plan, err);
	if (rc == 0 && orphan && !others && unc_type_restores(t, type))
		rc = unc_plan_add(t, &plan, u, type->unit_ctl, UNC_OP_WRITE,
				  orphan->found & t->reg[type->unit_ctl].write_mask, err);
	return unc_plan_run_once(p, &plan, rc, "unfreezing a unit", err);
}

/* ---- sockets */

/* The unit of a socket that has the socket's status; NULL: none. */
static const struct unc_instance *find_ubox(const struct unc_platform *p, unsigned socket)
{
	for (const struct unc_instance *u = p->instances.unit;
	     u < p->instances.unit + p->instances.n; u++)
		if (u->socket == socket && u->direct && p->table->type[u->type].n_global)
			return u;
	return NULL;
}

/* Whether others count on a unit where this run does; *own: the run counts there. */
static bool has_company(const struct unc_run *run, const struct unc_instance *u, bool *own)
{
	bool shared = false;

	*own = false;
	for (size_t i = 0; i < run->n_sets + run->n_clocks; i++) {
		const struct unc_set *set = unc_run_set(run, i);

		if (set->unit != u || set->state != UNC_SET_COUNTS)
			continue;
		*own = true;
		shared |= set->shared;
	}
	return shared;
}

/* Whether another program or session counts on a unit of the socket: 1 or 0; or an error. */
static int find_others(struct unc_run *run, unsigned socket, struct unc_error *err)
{
	struct unc_platform *p = run->platform;
	struct unc_plan plan = {0};
	int rc = 0, others = 0;
	bool own;

	for (const struct unc_instance *u = p->instances.unit;
	     u < p->instances.unit + p->instances.n && rc == 0; u++) {
		if (u->socket != socket || !u->direct || unc_space_of_thread(u->part[0].space))
			continue;
		others |= has_company(run, u, &own);
		if (!own)
			rc = unc_look_at(p->table, u, UNC_LOOK_CONTROLS, NULL, &plan, err);
	}
	if (rc == 0 && !others)
		rc = unc_plan_run(p, &plan, "looking for others who count", err);
	for (size_t i = 0; i < plan.n && rc == 0 && !others; i++)
		others = unc_counter_in_use(p->table, &plan, i) != UNC_NONE;
	unc_plan_free(&plan);
	return rc < 0 ? rc : others;
}

int unc_socket_go_on(struct unc_run *run, unsigned socket, struct unc_error *err)
{
	struct unc_platform *p = run->platform;
	const struct unc_instance *ubox = find_ubox(p, socket);
	const struct unc_tbl_type *type = ubox ? &p->table->type[ubox->type] : NULL;
	struct unc_plan plan = {0};
	struct unc_error why;
	int rc;

	if (!type || !type->has_unfreeze || (rc = find_others(run, socket, &why)) > 0)
		return 0;
	if (rc == 0)
		rc = unc_plan_add(p->table, &plan, ubox, type->unfreeze, UNC_OP_WRITE,
				  type->unfreeze_value, &why);
	rc = unc_plan_run_once(p, &plan, rc, "unfreezing", &why);
	if (rc == UNC_ERR_MEMORY)
		return unc_no_memory(err);
	if (rc == 0)
		unc_platform_log(p, UNC_LOG_WARNING,
				 "socket %u was frozen, and nobody counts there: unfrozen", socket);
	else /* its units are lost, those of other sockets are not */
		unc_platform_log(p, UNC_LOG_WARNING, "socket %u is frozen and stays so: %s", socket,
				 why.text);
	return rc == 0;
}
