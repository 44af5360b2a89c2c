/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: workload.tbl. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encode/event.h"
#include "encode/expr.h"
#include "encode/metric.h"
#include "reader/table_build.h"

enum { MAX_TEXT = 1024 };

/* ---- numbers with names */

/*
 * Each number is worked out once for every flow with flow_lines more of it, so that what comes from
 * a line is known of all that derives from it: rates are linear in the lines. As many as there are
 * of the load, so that what rounding costs stays in the last digits.
 */
static const double flow_lines = 1e9;

static const char *const flow_names[UNC_N_FLOWS] = {
	[UNC_FLOW_READ_LOCAL] = "read_local",     [UNC_FLOW_READ_REMOTE] = "read_remote",
	[UNC_FLOW_READ_SERVED] = "read_served",   [UNC_FLOW_WRITE_LOCAL] = "write_local",
	[UNC_FLOW_WRITE_REMOTE] = "write_remote", [UNC_FLOW_WRITE_SERVED] = "write_served",
	[UNC_FLOW_PCIE_WRITE] = "pcie_write",
};

struct let_env {
	const struct unc_table_reader *r;
	unsigned which; /* of its values */
	char text[40];  /* the number that a name stands for, as a formula */
};

static const char *let_formula(void *user, const char *name)
{
	struct let_env *env = user;

	for (size_t i = 0; i < env->r->n_lets; i++)
		if (strcmp(env->r->let[i].name, name) == 0) {
			snprintf(env->text, sizeof(env->text), "%.17g",
				 env->r->let[i].value[env->which]);
			return env->text;
		}
	return NULL;
}

static int let_event(void *user, const char *text, char *buf, size_t size, struct unc_error *err)
{
	(void)user;
	(void)buf;
	(void)size;
	return unc_fail(err, UNC_ERR_TABLE, "no number is called %s", text);
}

static int evaluate_one(struct unc_table_reader *r, const char *text, unsigned which, double *value)
{
	struct let_env env = {.r = r, .which = which};
	struct unc_expr_env lookup = {.formula = let_formula, .canonical = let_event, .user = &env};
	struct unc_expr_vars vars = {NAN, NAN, NAN, NAN}; /* a workload has none of them */
	struct unc_expr *expr;
	int rc = unc_expr_parse(text, &lookup, &expr, r->err);

	if (rc < 0)
		return rc;
	const char *why = unc_expr_eval(expr, NULL, &vars, value);
	unc_expr_free(expr);
	if (why || (which == 0 && *value < 0))
		return unc_bad(r, "\"%s\" is not a number of at least 0", text);
	return 0;
}

static int evaluate(struct unc_table_reader *r, const char *text, double value[UNC_N_VALUES])
{
	int rc = 0;

	for (unsigned i = 0; i < UNC_N_VALUES && rc == 0; i++)
		rc = evaluate_one(r, text, i, &value[i]);
	return rc;
}

static int set_let(struct unc_table_reader *r, const char *name, const double value[UNC_N_VALUES],
		   bool again)
{
	size_t i = 0;

	while (i < r->n_lets && strcmp(r->let[i].name, name) != 0)
		i++;
	if (i < r->n_lets && !again)
		return unc_bad(r, "%s is given twice", name);
	if (i == UNC_MAX_LETS || strlen(name) >= sizeof(r->let[i].name))
		return unc_bad(r, "too many numbers, or too long a name: %s", name);
	strcpy(r->let[i].name, name);
	memcpy(r->let[i].value, value, sizeof(r->let[i].value));
	r->n_lets += i == r->n_lets;
	return 0;
}

/* The words of the expression are joined again. */
int unc_end_let(struct unc_table_reader *r)
{
	char text[MAX_TEXT];
	struct unc_buf buf = UNC_BUF(text);
	double value[UNC_N_VALUES] = {0};
	int rc;

	if (strcmp(unc_given(r, "="), "=") != 0)
		return unc_bad(r, "want: let NAME = EXPRESSION");
	for (const struct unc_word *w; (w = unc_take(r->line, UNC_WORD_PLAIN, NULL));)
		unc_put(&buf, "%s ", w->value);
	if ((rc = unc_words_done(r)) < 0 || (rc = evaluate(r, text, value)) < 0)
		return rc;
	return set_let(r, unc_given(r, "NAME"), value, false);
}

/* ---- the machine */

int unc_end_machine(struct unc_table_reader *r)
{
	double value[UNC_N_VALUES];
	int rc = 0;

	r->work.machine = r->w.machine;
	for (unsigned i = 0; i < UNC_N_FLOWS && rc == 0; i++) {
		memset(value, 0, sizeof(value));
		value[1 + i] = flow_lines;
		rc = set_let(r, flow_names[i], value, false);
	}
	return rc;
}

int unc_end_unit(struct unc_table_reader *r)
{
	const struct unc_tbl_sim_unit *u = &r->w.sim_unit;
	const struct unc_tbl_type *type = &r->t.type[u->type];

	if (type->pool)
		return unc_bad(r, "a view has no units of its own");
	/* Where units.tbl has no places discovery tells them, but for PCI functions: they prove by
	 * their device id, which stands there, what they are. */
	const struct unc_tbl_part *part = &r->t.part[type->parts.first];
	bool placed = part->where.n || part->space == UNC_SPACE_PCI;
	for (unsigned i = part->where.n; placed && i < UNC_MAX_PLACES; i++)
		if (unc_bits_has(&u->present, i))
			return unc_bad(r, "present= names unit %u, and units.tbl has %u places", i,
				       part->where.n);
	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == u->type)
			return unc_bad(r, "this unit is described twice");
	*UNC_ADD(r, work, sim_unit) = *u;
	return 0;
}

static void mark_type(struct unc_table_reader *r, unsigned type)
{
	unsigned pool = unc_type_pool(&r->t, type);

	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == pool)
			UNC_ROW(r, work, sim_unit, i)->link = true;
	for (size_t i = 0; i < r->work.n_rate; i++)
		if (unc_type_pool(&r->t, r->work.rate[i].type) == pool)
			UNC_ROW(r, work, rate, i)->shared = true;
}

void unc_mark_links(struct unc_table_reader *r)
{
	static const char names[][20] = {"link_tx_bytes", "link_rx_bytes", "link_utilization"};
	struct unc_expr *expr;
	struct unc_spec spec;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int metric = unc_metric_index(&r->t, names[i]);

		/* A formula that is wrong is told by unc_end_metric(). */
		if (metric < 0 || r->t.metric[metric].unavailable ||
		    unc_formula_parse(&r->t, (unsigned)metric, NULL, NULL, &expr, NULL) < 0)
			continue;
		for (size_t k = 0; k < unc_expr_refs(expr); k++)
			if (unc_spec_parse(&r->t, unc_expr_ref(expr, k)->event, &spec, NULL) == 0)
				mark_type(r, spec.type);
		unc_expr_free(expr);
	}
}

/* ---- what is counted */

static double clock_of(const struct unc_table_reader *r, uint16_t type)
{
	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == unc_type_pool(&r->t, type))
			return r->work.sim_unit[i].clock_hz;
	return 0;
}

/* Bits of CTL that tell what is counted. A bit that comes with a field which any event takes only
 * says that the field is used. */
static uint64_t what_mask(const struct unc_table *t, const struct unc_tbl_type *type)
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

static int add_rate(struct unc_table_reader *r, struct unc_tbl_rate *rate,
		    const struct unc_code *code)
{
	if (code->n_filters > sizeof(rate->filter) / sizeof(rate->filter[0]))
		return unc_bad(r, "a rate may depend on 4 filter registers");
	rate->counter = code->counter;
	rate->ctl_mask = what_mask(&r->t, &r->t.type[rate->type]);
	rate->ctl = code->ctl & rate->ctl_mask;
	rate->n_filters = (uint8_t)code->n_filters;
	for (unsigned i = 0; i < code->n_filters; i++)
		rate->filter[i] = (struct unc_tbl_rate_filter){
			code->filter[i].reg, code->filter[i].value, code->filter[i].mask};
	*UNC_ADD(r, work, rate) = *rate;
	return 0;
}

/* What an event ("type.EVENT", as the user writes it) counts per second, or per clock, and unit: a row,
 * or one for each socket where its code depends on that. */
static int add_event_rate(struct unc_table_reader *r, const char *text, struct unc_tbl_rate rate)
{
	int sockets = r->work.machine.sockets, rc = 0;
	struct unc_spec spec;
	struct unc_code code = {0};

	if ((rc = unc_spec_parse(&r->t, text, &spec, r->err)) < 0)
		return rc;
	rate.type = spec.type;
	for (int socket = 0; rc == 0 && socket < (code.by_socket ? sockets : 1); socket++) {
		rc = unc_spec_encode(&r->t, &spec, socket, sockets, &code, r->err);
		rate.only_socket = (uint8_t)(code.by_socket ? socket + 1 : 0);
		rate.shared = code.aggregate == UNC_AGGREGATE_ONE;
		if (rc == 0)
			rc = add_rate(r, &rate, &code);
	}
	return rc;
}

/* Of a line, per second or per clock. */
int unc_end_rate(struct unc_table_reader *r)
{
	bool per_clock = strcmp(r->statement, "occupancy") == 0;
	char text[UNC_SPEC_MAX];
	double clock[UNC_N_VALUES], value[UNC_N_VALUES] = {0};
	struct unc_tbl_rate rate = {.steady = r->w.rate.steady, .cxl = r->w.rate.cxl};
	int rc;

	for (unsigned i = 0; i < UNC_N_VALUES; i++)
		clock[i] = clock_of(r, r->w.rate.type);
	if (clock[0] == 0)
		return unc_bad(r, "the unit line of this type must come first");
	snprintf(text, sizeof(text), "%s.%s", unc_type_name(&r->t, r->w.rate.type),
		 unc_given(r, "EVENT"));
	if ((rc = set_let(r, "clock", clock, true)) < 0 ||
	    (rc = evaluate(r, unc_given(r, "\"EXPRESSION\""), value)) < 0)
		return rc;
	*(per_clock ? &rate.per_clock : &rate.per_second) = value[0];
	for (unsigned i = 0; i < UNC_N_FLOWS;
	     i++) /* what lines displace, such as idle flits, stays */
		rate.flow[i] = value[1 + i] < value[0] ? 0
						       : (value[1 + i] - value[0]) / flow_lines *
								 (per_clock ? clock[0] : 1);
	return add_event_rate(r, text, rate);
}
