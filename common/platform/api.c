/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding, registers and metric evaluation behind the public interface. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/text.h"
#include "encode/decode.h"
#include "encode/event.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "platform/platform.h"
#include "tables/table.h"

/* ---- encoding */

/* Writes the canonical texts, if the program has room for them. */
static int name_encoding(const struct unc_table *t, const struct unc_name *name,
			 struct unc_encoding *out)
{
	struct unc_name base;
	int rc;

	if (out->size <= offsetof(struct unc_encoding, name))
		return 0;
	rc = unc_name_format(t, name, out->name, sizeof(out->name));
	memcpy(out->base, out->name, sizeof(out->base));
	if (rc < 0 || (name->spec.index < 0 && name->spec.socket < 0))
		return rc;
	base = *name;
	base.spec.index = base.spec.socket = -1;
	return unc_name_format(t, &base, out->base, sizeof(out->base));
}

static int encode(struct unc_platform *p, const char *text, struct unc_encoding *out,
		  struct unc_error *err)
{
	const struct unc_table *t = p->table;
	struct unc_name name;
	struct unc_spec placed;
	const struct unc_spec *spec = &name.spec;
	struct unc_code code;
	int rc;

	if ((rc = unc_platform_parse(p, text, true, &name, err)) < 0 ||
	    (rc = unc_place_find(p, &name, text, err)) < 0)
		return rc;
	if (name.node >= 0 || name.device[0]) {
		placed = name.spec;
		spec = &placed;
		if ((rc = unc_place_put(p, &name, &placed, err)) < 0)
			return rc;
	}
	rc = unc_spec_encode(t, spec, spec->socket < 0 ? 0 : spec->socket, unc_platform_nodes(p),
			     &code, err);
	if (rc < 0)
		return rc;
	if (name_encoding(t, &name, out) < 0)
		return unc_fail(err, UNC_ERR_INVALID, "%s: the canonical text is too long", text);
	out->event = code.event;
	out->type = unc_type_name(t, code.type);
	out->units_of = unc_type_name(t, unc_type_pool(t, code.type));
	out->index = spec->index;
	out->socket = spec->socket;
	out->ctl = code.ctl;
	out->counters = code.counters;
	out->counter = code.counter == UNC_NONE ? NULL : unc_counter_name(t, code.counter);
	out->event_code = t->event[code.event].code;
	out->aggregate = (enum unc_aggregate)code.aggregate;
	out->n_filters = code.n_filters;
	for (unsigned i = 0; i < code.n_filters; i++)
		out->filters[i] = (struct unc_filter){
			.reg = unc_reg_name(t, code.filter[i].reg),
			.value = code.filter[i].value,
			.mask = code.filter[i].mask,
		};
	return 0;
}

int unc_event_encode(struct unc_platform *p, const char *text, struct unc_encoding *out)
{
	struct unc_encoding all;
	struct unc_error err;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	unc_error_clear(&err);
	memset(&all, 0, out->size < sizeof(all) ? out->size : sizeof(all));
	all.size = out->size;
	if (unc_struct_check(out->size, "unc_encoding", &err) == 0 &&
	    encode(p, text, &all, &err) == 0)
		unc_struct_out(out, out->size, &all, sizeof(all));
	return unc_platform_keep(p, &err);
}

/* ---- decoding */

enum { MAX_DECODED = 16 }; /* registers beside the control: more than any event uses */

/* Finds a register by name; UNC_NONE in *reg: a control. */
static int find_register(const struct unc_table *t, const char *type_name, const char *name,
			 uint16_t *type, uint16_t *reg, struct unc_error *err)
{
	*type = unc_find_type(t, type_name);
	if (*type == UNC_NONE)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "%s has no unit type %s",
				unc_tbl_str(t, t->name), type_name);
	*reg = unc_same(name, "CTL") ? t->type[*type].first_ctl
				     : UNC_FIND(t, reg, t->type[*type].regs, name);
	if (*reg == UNC_NONE)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "%s has no register %s", type_name, name);
	return 0;
}

static int decode_values(struct unc_platform *p, const char *type_name,
			 const struct unc_register_value *values, size_t n, char *buf, size_t size,
			 struct unc_error *err)
{
	const struct unc_table *t = p->table;
	struct unc_code_filter filter[MAX_DECODED];
	size_t n_filters = 0;
	const uint64_t *ctl = NULL;
	struct unc_spec spec;
	uint16_t type = 0, reg;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if ((rc = find_register(t, type_name, values[i].reg, &type, &reg, err)) < 0)
			return rc;
		if (t->reg[reg].role == UNC_ROLE_CTL && ctl)
			return unc_fail(err, UNC_ERR_RANGE,
					"two controls are given, the second is %s; a control is "
					"of one counter, decode one at a time",
					values[i].reg);
		for (size_t k = 0; k < n_filters; k++)
			if (filter[k].reg == reg)
				return unc_fail(err, UNC_ERR_RANGE, "%s is given twice",
						values[i].reg);
		if (t->reg[reg].role == UNC_ROLE_CTL)
			ctl = &values[i].value;
		else if (n_filters == MAX_DECODED)
			return unc_fail(err, UNC_ERR_RANGE,
					"more than %d registers beside a control", MAX_DECODED);
		else
			filter[n_filters++] =
				(struct unc_code_filter){.reg = reg, .value = values[i].value};
	}
	if (!ctl)
		return unc_fail(err, UNC_ERR_INVALID, "the value of a control is needed: CTL=..");
	if ((rc = unc_code_decode(t, type, *ctl, filter, n_filters, &spec, err)) < 0)
		return rc;
	if (unc_spec_format(t, &spec, buf, size) < 0)
		return unc_fail(err, UNC_ERR_RANGE,
				"the text of the event needs more than %zu bytes", size);
	return 0;
}

int unc_event_decode(struct unc_platform *p, const char *type,
		     const struct unc_register_value *values, size_t n, size_t value_size,
		     char *buf, size_t size)
{
	struct unc_register_value *own;
	struct unc_error err = {0};

	if (size)
		buf[0] = '\0';
	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	own = unc_structs_in(sizeof(*own), values, n, value_size, "unc_register_value", &err);
	if (own && decode_values(p, type, own, n, buf, size, &err) < 0 && size)
		buf[0] = '\0';
	free(own);
	return unc_platform_keep(p, &err);
}

/* Whether a field belongs to this register. */
static bool is_field_of(const struct unc_table *t, const struct unc_tbl_field *f, uint16_t reg)
{
	return f->reg[0] == UNC_NONE ? t->reg[reg].role == UNC_ROLE_CTL : f->reg[0] == reg;
}

/* The register whose fields describe `reg`: of an array the first, unless `reg` has its own. */
static uint16_t layout_of(const struct unc_table *t, const struct unc_tbl_type *type, uint16_t reg)
{
	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, type->fields, f));)
		if (is_field_of(t, f, reg))
			return reg;
	return (uint16_t)(reg - t->reg[reg].nth);
}

int unc_register_decode(struct unc_platform *p, const char *type_name, const char *name,
			uint64_t value, unc_field_value_fn fn, void *user)
{
	const struct unc_table *t = p->table;
	struct unc_error err = {0};
	uint16_t type, reg, layout = UNC_NONE;
	int rc;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	find_register(t, type_name, name, &type, &reg, &err);
	rc = unc_platform_keep(p, &err);
	if (rc == 0)
		layout = layout_of(t, &t->type[type], reg);
	for (const struct unc_tbl_field *f = NULL;
	     rc == 0 && fn && (f = UNC_NEXT(t, field, t->type[type].fields, f));) {
		struct unc_code_filter here = {.reg = f->reg[0], .value = value};
		bool known;

		if (!is_field_of(t, f, layout))
			continue;
		const struct unc_field *out =
			unc_describe_field(p, (uint16_t)(f - t->field), false);
		rc = out ? fn(user, out, unc_field_value(f, value, &here, 1, &known))
			 : unc_platform_fail(p, UNC_ERR_MEMORY, "out of memory");
	}
	return rc;
}

/* ---- registers */

/* Describes a register of a unit, nominal or of the machine. */
static struct unc_register describe_register(const struct unc_table *t,
					     const struct unc_instance *unit,
					     const struct unc_tbl_reg *row,
					     const struct unc_reg *reg, char device[8])
{
	const struct unc_tbl_part *part = unc_type_part(t, unit->type, row->part);
	const struct unc_tbl_where *w = unc_part_place(t, part, unit->index);
	struct unc_register out = {
		.unit = unc_type_name(t, unit->type),
		.index = unit->index,
		.name = unc_tbl_str(t, row->name),
		.space = unc_space_name(reg->space),
		.address = unc_reg_shown(reg),
		.width = reg->width,
		.socket = -1,
		.reason = "",
	};

	if (reg->space == UNC_SPACE_PCI) {
		snprintf(device, 8, "%02x.%x", UNC_PCI_DEVFN(reg->address) >> 3,
			 UNC_PCI_DEVFN(reg->address) & 7u);
		out.device = device;
		out.device_id = w ? w->device_id : 0;
	}
	if (reg->space == UNC_SPACE_MMIO && w) {
		out.bar = unc_tbl_str(t, t->bar[w->bar].name);
		out.address += w->base - unit->part[row->part].base;
	}
	return out;
}

static int walk_unit(const struct unc_table *t, unsigned type, unsigned index, unc_register_fn fn,
		     void *user)
{
	const struct unc_range *regs = &t->type[type].regs;
	struct unc_instance unit;

	unc_instance_nominal(t, type, index, &unit);
	for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
		struct unc_reg reg;
		char device[8];

		if (unc_instance_reg(t, &unit, i, &reg, NULL) < 0)
			continue;
		struct unc_register out = describe_register(t, &unit, &t->reg[i], &reg, device);
		int stop = fn(user, &out);
		if (stop)
			return stop;
	}
	return 0;
}

int unc_register_walk(const struct unc_platform *p, unc_register_fn fn, void *user)
{
	const struct unc_table *t = p->table;

	for (unsigned type = 0; type < t->n_type; type++)
		for (unsigned i = 0; !t->type[type].pool && i < unc_type_instances(t, type); i++) {
			int stop = walk_unit(t, type, i, fn, user);

			if (stop)
				return stop;
		}
	return 0;
}

/* The instance of a unit, if its registers can be used; NULL with the reason. */
static const struct unc_instance *
usable_instance(const struct unc_platform *p, const struct unc_unit *unit, struct unc_error *err)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (p->unit[i].type != unit->type || u->socket != unit->socket ||
		    u->index != unit->index)
			continue;
		if (p->access && u->direct)
			return u;
		unc_fail(err, UNC_ERR_UNAVAILABLE, "%s",
			 p->access && u->available ? p->kernel[i].registers : p->unit[i].reason);
		return NULL;
	}
	unc_fail(err, UNC_ERR_NOT_FOUND, "the machine has no unit %s%d on socket %d",
		 unit->type->name, unit->index, unit->socket);
	return NULL;
}

/* Reads a register of a unit. Code 0 with a sentence: it has no readable value. */
static void read_register_value(const struct unc_platform *p, const struct unc_instance *u,
				const struct unc_tbl_reg *row, struct unc_reg_op *op,
				struct unc_error *err)
{
	if (row->flags & UNC_REG_WO)
		unc_fail(err, 0, "it is write-only");
	else if (row->flags & UNC_REG_FROZEN)
		unc_fail(err, 0, "it has a value only while the unit is frozen");
	else if (unc_access_read(p->access, op, 1, err) < 0 && !err->code)
		unc_fail(err, op->error, "%s: %s", u->location, unc_fs_reason(op->errno_value));
}

/* Describes and reads a register. One of a missing part is described where the tables have it;
 * false: they have no place for it. */
static bool read_register(const struct unc_platform *p, const struct unc_instance *u, uint32_t reg,
			  struct unc_register *out, char device[8], struct unc_error *err)
{
	const struct unc_table *t = p->table;
	struct unc_reg_op op = {.kind = UNC_OP_READ};
	struct unc_instance nominal;
	bool missing = unc_instance_reg(t, u, reg, &op.reg, err) < 0;

	if (missing) {
		err->code = 0;
		unc_instance_nominal(t, u->type, u->index, &nominal);
		if (unc_instance_reg(t, &nominal, reg, &op.reg, NULL) < 0)
			return false;
	} else {
		read_register_value(p, u, &t->reg[reg], &op, err);
	}
	*out = describe_register(t, missing ? &nominal : u, &t->reg[reg], &op.reg, device);
	out->socket = u->socket;
	out->known = !*err->text;
	out->value = out->known ? op.value : 0;
	out->reason = err->text;
	return true;
}

int unc_register_read(struct unc_platform *p, const struct unc_unit *unit, unc_register_fn fn,
		      void *user)
{
	const struct unc_instance *u;
	struct unc_error first = {0};
	int stop = 0;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	u = usable_instance(p, unit, &first);
	const struct unc_range *regs = u ? &p->table->type[u->type].regs : NULL;
	for (uint32_t i = 0; u && i < regs->n && stop == 0; i++) {
		struct unc_register out;
		struct unc_error err = {0};
		char device[8];

		if (!read_register(p, u, regs->first + i, &out, device, &err))
			continue;
		if (err.code && !first.code)
			first = err;
		stop = fn(user, &out);
	}
	if (stop)
		unc_error_clear(&first);
	unc_platform_keep(p, &first);
	return stop ? stop : first.code;
}

/* ---- computing */

static const double *find_count(const struct unc_table *t, const struct unc_count *counts, size_t n,
				const char *event)
{
	char text[UNC_SPEC_MAX];

	for (size_t i = 0; i < n; i++) {
		if (unc_same(counts[i].event, event))
			return &counts[i].value;
		if (unc_spec_canonical(t, counts[i].event, text, sizeof(text), NULL) == 0 &&
		    strcmp(text, event) == 0)
			return &counts[i].value;
	}
	return NULL;
}

/* Explains a failed evaluation: a variable of the formula is missing, or the numbers do not fit. */
static int explain_failure(const struct unc_expr *expr, const struct unc_expr_vars *vars,
			   const char *metric, const char *why, struct unc_error *err)
{
	unsigned uses = unc_expr_uses(expr);
	const char *needed = (uses & UNC_EXPR_TIME) && isnan(vars->time) ? "TIME (seconds)"
			     : (uses & UNC_EXPR_TSC) && isnan(vars->tsc) ? "TSC (ticks)"
			     : (uses & UNC_EXPR_TSC_HZ) && isnan(vars->tsc_hz)
				     ? "TSC_HZ (ticks per second)"
			     : (uses & UNC_EXPR_MEMORY_PEAK) && isnan(vars->memory_peak)
				     ? "MEMORY_PEAK (bytes per second)"
				     : NULL;

	if (needed)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "%s needs %s", metric, needed);
	return unc_fail(err, UNC_ERR_RANGE, "%s: %s", metric, why);
}

static int evaluate(const struct unc_platform *p, const struct unc_expr *expr, const char *metric,
		    const struct unc_count *counts, size_t n, double *value, struct unc_error *err)
{
	size_t refs = unc_expr_refs(expr);
	double *ref = calloc(refs + 1, sizeof(*ref));
	const double *time = find_count(p->table, counts, n, "TIME");
	const double *tsc = find_count(p->table, counts, n, "TSC");
	const double *hz = find_count(p->table, counts, n, "TSC_HZ");
	const double *peak = find_count(p->table, counts, n, "MEMORY_PEAK");
	/* A variable that is not given is missing, not 0. */
	struct unc_expr_vars vars = {time ? *time : NAN, tsc ? *tsc : NAN, hz ? *hz : NAN,
				     peak ? *peak : NAN};
	int rc = 0;

	if (!ref)
		return unc_no_memory(err);
	for (size_t i = 0; i < refs && rc == 0; i++) {
		const char *event = unc_expr_ref(expr, i)->event;
		const double *count = find_count(p->table, counts, n, event);

		if (count)
			ref[i] = *count;
		else
			rc = unc_fail(err, UNC_ERR_NOT_FOUND, "%s needs a count of %s", metric,
				      event);
	}
	const char *why = rc == 0 ? unc_expr_eval(expr, ref, &vars, value) : NULL;
	if (why)
		rc = explain_failure(expr, &vars, metric, why, err);
	free(ref);
	return rc;
}

static int eval_metric(struct unc_platform *p, const char *metric, const struct unc_count *counts,
		       size_t n, double *value, struct unc_error *err)
{
	int index = unc_metric_index(p->table, metric);
	struct unc_expr *expr;
	double result = 0;

	if (index < 0)
		return unc_name_no_metric(p->table, metric, err);
	const struct unc_tbl_metric *m = &p->table->metric[index];
	if (m->unavailable)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be computed: %s", metric,
				unc_tbl_str(p->table, m->unavailable));
	int rc = unc_formula_parse(p->table, (unsigned)index, NULL, NULL, &expr, err);
	if (rc < 0)
		return rc;
	rc = evaluate(p, expr, metric, counts, n, &result, err);
	unc_expr_free(expr);
	if (rc == 0)
		*value = result;
	return rc;
}

int unc_metric_eval(struct unc_platform *p, const char *metric, const struct unc_count *counts,
		    size_t n, size_t size, double *value)
{
	struct unc_error err = {0};
	struct unc_count *own;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	own = unc_structs_in(sizeof(*own), counts, n, size, "unc_count", &err);
	if (own)
		eval_metric(p, metric, own, n, value, &err);
	free(own);
	return unc_platform_keep(p, &err);
}

int unc_memory_peak(struct unc_platform *p, int socket, double *bytes_per_second)
{
	struct unc_error err = {0};

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	unc_peak_of(p, socket, bytes_per_second, &err);
	return unc_platform_keep(p, &err);
}
