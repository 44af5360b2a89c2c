/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the lines of workload.tbl into rates: events become values of controls and filters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "encode/event.h"
#include "encode/metric.h"
#include "sim/sim_machine.h"

/* Bits of CTL that choose the event; not those that only say that a field which any event takes is used. */
static uint64_t event_bits(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t mask = 0, beside = unc_type_modifiers(t, type);

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, type->fields, f));) {
		mask |= unc_field_bits(f, UNC_NONE);
		for (uint32_t k = 0; (f->flags & UNC_FIELD_USER) && k < f->with.n; k++)
			beside |= unc_field_bits(&t->field[t->set[f->with.first + k].field],
						 UNC_NONE);
	}
	return mask & ~beside;
}

static int add_rate(struct unc_sim *sim, struct unc_tbl_rate *rate, const struct unc_code *code,
		    struct unc_error *err)
{
	struct unc_tbl_rate *row;

	if (code->n_filters > sizeof(rate->filter) / sizeof(rate->filter[0]))
		return unc_fail(err, UNC_ERR_TABLE, "a rate may depend on 4 filter registers");
	rate->counter = code->counter;
	rate->ctl_mask = event_bits(sim->table, &sim->table->type[rate->type]);
	rate->ctl = code->ctl & rate->ctl_mask;
	rate->n_filters = (uint8_t)code->n_filters;
	for (unsigned i = 0; i < code->n_filters; i++)
		rate->filter[i] = (struct unc_tbl_rate_filter){
			code->filter[i].reg, code->filter[i].value, code->filter[i].mask};
	if (!(row = UNC_ADD_TO(sim->rate, sim->work_of.n_rate)))
		return unc_no_memory(err);
	*row = *rate;
	return 0;
}

/* Adds one row, or one for each socket if the code of the event depends on the socket. */
static int add_load(struct unc_sim *sim, const struct unc_tbl_load *line, struct unc_error *err)
{
	const struct unc_table *t = sim->table;
	struct unc_tbl_rate rate = {.type = line->type,
				    .steady = line->steady,
				    .cxl = line->cxl,
				    .per_second = line->per_second,
				    .per_clock = line->per_clock};
	/* A machine of one socket has the events about other sockets, too. */
	int sockets = sim->top.n_sockets > 1 ? sim->top.n_sockets : 2;
	struct unc_code code = {0};
	struct unc_spec spec;
	int rc = unc_spec_parse(t, sim->work->strings + line->event, &spec, err);

	for (int socket = 0; rc == 0 && socket < (code.by_socket ? sockets : 1); socket++) {
		rc = unc_spec_encode(t, &spec, socket, sockets, &code, err);
		rate.only_socket = (uint8_t)(code.by_socket ? socket + 1 : 0);
		rate.shared = code.aggregate == UNC_AGGREGATE_ONE;
		if (rc == 0)
			rc = add_rate(sim, &rate, &code, err);
	}
	return rc;
}

static void mark_link_type(struct unc_sim *sim, unsigned type)
{
	unsigned pool = unc_type_pool(sim->table, type);

	for (size_t i = 0; i < sim->work->n_sim_unit; i++)
		sim->unit[i].link |= sim->unit[i].type == pool;
	for (size_t i = 0; i < sim->work->n_rate; i++)
		sim->rate[i].shared |= unc_type_pool(sim->table, sim->rate[i].type) == pool;
}

/* Marks the units at the links between sockets. */
static void mark_links(struct unc_sim *sim)
{
	static const char names[][20] = {"link_tx_bytes", "link_rx_bytes", "link_utilization"};
	const struct unc_table *t = sim->table;
	struct unc_expr *expr;
	struct unc_spec spec;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int metric = unc_metric_index(t, names[i]);

		if (metric < 0 || t->metric[metric].unavailable ||
		    unc_formula_parse(t, (unsigned)metric, NULL, NULL, &expr, NULL) < 0)
			continue;
		for (size_t k = 0; k < unc_expr_refs(expr); k++)
			if (unc_spec_parse(t, unc_expr_ref(expr, k)->event, &spec, NULL) == 0)
				mark_link_type(sim, spec.type);
		unc_expr_free(expr);
	}
}

int unc_sim_rates(struct unc_sim *sim, struct unc_error *err)
{
	struct unc_workload *work = &sim->work_of;
	int rc = 0;

	if (!work->n_load)
		return 0;
	for (size_t i = 0; rc == 0 && i < work->n_load; i++)
		rc = add_load(sim, &work->load[i], err);
	if (rc < 0) {
		unc_error_prefix(err, "workload of %s", unc_tbl_str(sim->table, sim->table->name));
		return rc;
	}
	if (!(sim->unit = malloc((work->n_sim_unit + 1) * sizeof(*sim->unit))))
		return unc_no_memory(err);
	memcpy(sim->unit, work->sim_unit, work->n_sim_unit * sizeof(*sim->unit));
	mark_links(sim);
	work->rate = sim->rate;
	work->sim_unit = sim->unit;
	return 0;
}
