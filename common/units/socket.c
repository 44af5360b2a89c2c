/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: what is of a whole socket: who else counts on it, and what lets it go on when it is
 * frozen. */
#include "units/occupancy.h"
#include "units/units.h"

const struct unc_instance *unc_units_ubox(const struct unc_units *s, unsigned socket)
{
	const struct unc_platform *p = s->platform;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (u->socket == socket && u->direct && p->table->type[u->type].n_global)
			return u;
	}
	return NULL;
}

int unc_units_others(struct unc_units *s, unsigned socket, bool *others, struct unc_error *err)
{
	const struct unc_table *table = s->platform->table;
	struct unc_plan plan = {0};
	int rc = 0;

	*others = false;
	for (size_t i = 0; i < s->platform->instances.n && rc == 0; i++) {
		const struct unc_instance *u = &s->platform->instances.unit[i];
		const struct unc_plan_unit *own = unc_units_unit(s, u);

		if (u->socket != socket || !u->direct || unc_space_of_thread(u->part[0].space))
			continue;
		if (own)
			*others |= own->shared;
		else
			rc = unc_occupancy_look(table, u, NULL, NULL, &plan, err);
	}
	if (rc == 0 && !*others)
		rc = unc_units_run_plan(s, &plan, "looking for others who count", err);
	for (size_t i = 0; i < plan.n && rc == 0 && !*others; i++)
		*others = unc_counter_in_use(table, &plan, i) != UNC_NONE;
	unc_plan_free(&plan);
	return rc;
}

int unc_units_unfreeze(struct unc_units *s, const bool sockets[UNC_MAX_SOCKETS], bool *any,
		       struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	struct unc_plan plan = {0};
	int rc = 0;

	*any = false;
	for (unsigned i = 0; i < UNC_MAX_SOCKETS && rc == 0; i++) {
		const struct unc_instance *ubox = sockets[i] ? unc_units_ubox(s, i) : NULL;
		bool others = false;

		if (!ubox || !t->type[ubox->type].has_unfreeze)
			continue;
		rc = unc_units_others(s, i, &others, err);
		if (rc < 0 || others)
			continue;
		*any = true;
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "socket %u was frozen and nobody counts there: it goes on", i);
		rc = unc_plan_add(t, &plan, ubox, t->type[ubox->type].unfreeze, UNC_OP_WRITE,
				  t->type[ubox->type].unfreeze_value, err);
	}
	return unc_units_run_once(s, &plan, rc, "unfreezing", err);
}
