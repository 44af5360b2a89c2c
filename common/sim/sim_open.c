/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a simulated machine. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "sim/sim_machine.h"

const struct unc_workload *unc_sim_workload(const struct unc_table *table)
{
	const char *name = unc_tbl_str(table, table->name);
	size_t n;
	const struct unc_workload *const *all = unc_workloads(&n);

	if (table->workload)
		return table->workload;
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->cpu, name) == 0 && all[i]->id == table->id)
			return all[i];
	return NULL;
}

static int find_table(struct unc_sim *sim, const char *cpu, const struct unc_table *const *tables,
		      size_t n, struct unc_error *err)
{
	char list[256], near[80];
	struct unc_buf names = UNC_BUF(list);
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, cpu);
	for (size_t i = 0; i < n; i++) {
		const char *name = unc_tbl_str(tables[i], tables[i]->name);

		unc_put_word(&names, name);
		unc_nearest_try_short(&nearest, name);
		if (strcmp(name, cpu) != 0)
			continue;
		sim->table = tables[i];
		sim->work = unc_sim_workload(sim->table);
		if (!sim->work)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the simulator was built with other tables of %s than the "
					"library: install both from one build",
					name);
		return sim->work->machine.sockets
			       ? 0
			       : unc_fail(err, UNC_ERR_UNAVAILABLE,
					  "%s has no simulated machine: its tables have no "
					  "workload.tbl, which scripts/make-workload makes",
					  name);
	}
	return unc_fail(err, UNC_ERR_NOT_FOUND,
			"there is no simulated machine '%s'%s; there are: %s", cpu,
			unc_nearest_text(&nearest, near, sizeof(near)), list);
}

static int open_machine(struct unc_sim *sim, char *text, const char *node,
			const struct unc_table *const *tables, size_t n, struct unc_error *err)
{
	char *next = NULL, *word = strtok_r(text, ",", &next);
	int rc = find_table(sim, word ? word : "", tables, n, err);

	if (rc == 0)
		rc = unc_sim_options(sim, &next, node, err);
	if (rc == 0)
		rc = unc_sim_build(sim, err);
	return rc < 0 ? rc : unc_sim_bus_build(sim, err);
}

int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err)
{
	struct unc_sim *sim = calloc(1, sizeof(*sim));
	char *text = strdup(spec ? spec : "");
	int rc = UNC_ERR_MEMORY;

	if (!sim || !text) {
		unc_fail(err, rc, "out of memory");
		free(sim);
		free(text);
		return rc;
	}
	pthread_mutex_init(&sim->lock, NULL);
	rc = open_machine(sim, text, node, tables, n, err);
	free(text);
	if (rc < 0) {
		unc_sim_close(sim);
		return rc;
	}
	sim->opened = unc_sim_time(sim);
	*out = sim;
	return 0;
}

void unc_sim_close(struct unc_sim *sim)
{
	if (!sim)
		return;
	for (size_t i = 0; sim->type && i < sim->table->n_type; i++)
		free(sim->type[i].rate);
	unc_sim_bus_free(sim);
	free(sim->type);
	free(sim->block);
	free(sim->reg);
	free(sim->counter);
	free(sim->index);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}
