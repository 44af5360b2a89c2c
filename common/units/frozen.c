/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: whether a unit or its socket is frozen, as far as registers tell, and what lets it go
 * on. */
#include "units/inside.h"
#include "units/occupancy.h"

int unc_unit_frozen(const struct unc_table *t, const struct unc_instance *u,
		    const uint64_t *control)
{
	const struct unc_tbl_type *type = &t->type[u->type];

	if (!control || !unc_reg_shows(t, type->unit_ctl))
		return -1;
	return (int)unc_unit_state(t, type, *control);
}

int unc_units_go_on(struct unc_units *s, const struct unc_instance *u,
		    const struct unc_journal_entry *orphan, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->type];
	const struct unc_claim unit = {.instance = u, .n_controls = 1};
	struct unc_plan look = {0}, plan = {0};
	const uint64_t *control;
	size_t others = 0;
	int frozen = -1, rc = unc_occupancy_look(s, u, UNC_LOOK_STATE, NULL, 0, &look, err);

	if (rc == 0)
		rc = unc_units_run_plan(s, &look,
					orphan ? "looking at what ended processes have left"
					       : "looking at what was freed",
					err);
	if (rc == 0) {
		others = unc_occupancy(s, &look, u, NULL).n;
		if ((control = unc_plan_value(&look, u, type->unit_ctl)) != NULL)
			frozen = unc_unit_frozen(t, u, control);
	}
	unc_plan_free(&look);
	if (rc == 0 && frozen != UNC_UNIT_RUNS && (orphan || !others))
		rc = unc_plan_steps(t, &unit, 1, UNC_LET_GO, &plan, err);
	if (rc == 0 && orphan && !others && unc_type_restores(t, type))
		rc = unc_plan_add(t, &plan, u, type->unit_ctl, UNC_OP_WRITE,
				  orphan->found & t->reg[type->unit_ctl].write_mask, err);
	return unc_units_run_once(s, &plan, rc, "letting a unit go on", err);
}

/* ---- sockets */

/* The unit of a socket that has the socket's status; NULL: none. */
static const struct unc_instance *find_ubox(const struct unc_units *s, unsigned socket)
{
	const struct unc_platform *p = s->platform;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (u->socket == socket && u->direct && p->table->type[u->type].n_global)
			return u;
	}
	return NULL;
}

/* Whether somebody else counts on a unit of the socket: 1 or 0; or an error. */
static int find_others(struct unc_units *s, unsigned socket, struct unc_error *err)
{
	const struct unc_table *table = s->platform->table;
	struct unc_plan plan = {0};
	int rc = 0, others = 0;

	for (size_t i = 0; i < s->platform->instances.n && rc == 0; i++) {
		const struct unc_instance *u = &s->platform->instances.unit[i];
		const struct unc_claim *own = unc_units_claimed(s, u);

		if (u->socket != socket || !u->direct || unc_space_of_thread(u->part[0].space))
			continue;
		if (own)
			others |= own->company != UNC_ALONE;
		else
			rc = unc_occupancy_look(s, u, UNC_LOOK_CONTROLS, NULL, 0, &plan, err);
	}
	if (rc == 0 && !others)
		rc = unc_units_run_plan(s, &plan, "looking for others who count", err);
	for (size_t i = 0; i < plan.n && rc == 0 && !others; i++)
		others = unc_counter_in_use(table, &plan, i) != UNC_NONE;
	unc_plan_free(&plan);
	return rc < 0 ? rc : others;
}

int unc_units_unfreeze(struct unc_units *s, uint64_t sockets, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	struct unc_error why;
	int any = 0;

	for (unsigned i = 0; i < UNC_MAX_SOCKETS; i++) {
		const struct unc_instance *ubox = sockets >> i & 1 ? find_ubox(s, i) : NULL;
		struct unc_plan plan = {0};
		int rc;

		if (!ubox || !t->type[ubox->type].has_unfreeze ||
		    (rc = find_others(s, i, &why)) > 0)
			continue;
		if (rc == 0)
			rc = unc_plan_add(t, &plan, ubox, t->type[ubox->type].unfreeze,
					  UNC_OP_WRITE, t->type[ubox->type].unfreeze_value, &why);
		rc = unc_units_run_once(s, &plan, rc, "unfreezing", &why);
		if (rc == UNC_ERR_MEMORY)
			return unc_fail(err, rc, "out of memory");
		any |= rc == 0;
		if (rc == 0)
			unc_platform_log(s->platform, UNC_LOG_WARNING,
					 "socket %u was frozen and nobody counts there: it goes on",
					 i);
		else /* its units are lost, and those of others are not */
			unc_platform_log(s->platform, UNC_LOG_WARNING,
					 "socket %u is frozen and stays so: %s", i, why.text);
	}
	return any;
}
