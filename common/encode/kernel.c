/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes for the kernel's own driver: passes only what the tables know to arrive there. */
#include "encode/kernel.h"

#include <stdio.h>

#include "base/text.h"
#include "encode/schedule.h"

typedef unsigned long long ull;

struct work {
	const struct unc_table *t;
	const struct unc_tbl_type *type;
	const struct unc_code *code;
	const struct unc_tbl_kernel *pmu;
	struct unc_error *err;
};

static int __attribute__((format(printf, 2, 3)))
refuse_code(const struct work *w, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	return unc_fail(w->err, UNC_ERR_UNAVAILABLE, "%s.%s: %s", unc_tbl_str(w->t, w->type->name),
			unc_tbl_str(w->t, w->t->event[w->code->event].name), text);
}

/* The field of some bits of a register (UNC_NONE: of the control); the smallest, because another
 * field may name several of them. */
static const char *smallest_field(const struct work *w, uint16_t reg, uint64_t bits)
{
	const struct unc_tbl_field *best = NULL, *f = NULL;

	while ((f = UNC_NEXT(w->t, field, w->type->fields, f)))
		if ((unc_field_bits(f, reg) & bits) &&
		    (!best || unc_field_width(f) < unc_field_width(best)))
			best = f;
	return best ? unc_tbl_str(w->t, best->name) : "no field";
}

/* ---- control and filters */

static int check_control(const struct work *w)
{
	uint64_t dropped = w->code->ctl & ~w->type->enable & ~(w->pmu->bits | w->pmu->named);

	if (!dropped)
		return 0;
	return refuse_code(
		w, "the kernel's driver drops %s, bits 0x%llx of the control, without an error",
		smallest_field(w, UNC_NONE, dropped), (ull)dropped);
}

static int add_filters(const struct work *w, uint64_t config[2])
{
	const struct unc_tbl_kernel_filter *row = NULL;
	uint64_t bits[2] = {
		0}; /* bits of config1 and config2 that the driver writes for the event */

	while ((row = UNC_NEXT(w->t, kernel_filter, w->type->kernel_filters, row)))
		for (unsigned i = 0; i < 2 && (w->code->ctl & row->mask) == row->ctl; i++)
			bits[i] |= row->bits[i];
	for (unsigned i = 0; i < w->code->n_filters; i++) {
		const struct unc_code_filter *f = &w->code->filter[i];
		int at = unc_kernel_place(w->pmu, f->reg);
		uint64_t lost = at < 0 ? f->mask : f->mask & ~(bits[at / 2] >> at % 2 * 32);

		if (lost)
			return refuse_code(
				w,
				"the kernel's driver does not set %s of %s for it, and what "
				"an earlier event left there would count",
				smallest_field(w, f->reg, lost),
				unc_tbl_str(w->t, w->t->reg[f->reg].name));
		if (at >= 0)
			config[at / 2] |= f->value << at % 2 * 32;
	}
	return 0;
}

/* ---- counters */

/* The driver chooses the counter: the event must be countable on all counters that it may choose. */
static int check_driver_counters(const struct work *w)
{
	const struct unc_tbl_kernel_counters *row = NULL;
	uint16_t code = w->t->event[w->code->event].code;
	char driver[64], own[64];
	struct unc_buf its = UNC_BUF(driver), ours = UNC_BUF(own);

	while ((row = UNC_NEXT(w->t, kernel_counters, w->type->kernel_counters, row))) {
		if (row->code != code || !(row->counters & ~w->code->counters))
			continue;
		unc_put_bits(&its, row->counters);
		unc_put_bits(&ours, w->code->counters);
		return refuse_code(w,
				   "the kernel's driver may put it on counters %s, but only %s can "
				   "count it",
				   driver, own);
	}
	if (unc_schedule_follows(w->t, w->code, NULL))
		return refuse_code(w,
				   "it shows what another counter counts, and the kernel's driver "
				   "chooses which event that is");
	return 0;
}

/* ---- the code */

/* Encodes an event of a counter that counts one thing only. */
static int encode_fixed(const struct work *w, struct unc_kernel_code *k)
{
	const struct unc_tbl_counter *c = &w->t->counter[w->code->counter];

	k->config = c->kernel;
	if (c->kernel)
		return 0;
	return refuse_code(w, "the kernel's driver has no event for counter %s",
			   unc_tbl_str(w->t, c->name));
}

static int encode_counted(const struct work *w, struct unc_kernel_code *k)
{
	uint64_t config[2] = {0};
	int rc;

	if ((rc = check_control(w)) < 0 || (rc = check_driver_counters(w)) < 0 ||
	    (rc = add_filters(w, config)) < 0)
		return rc;
	k->config = w->code->ctl & ~w->type->enable;
	k->config1 = config[0];
	k->config2 = config[1];
	return 0;
}

int unc_kernel_encode(const struct unc_table *t, const struct unc_code *code,
		      struct unc_kernel_code *out, struct unc_error *err)
{
	const struct unc_tbl_type *type = &t->type[code->type];
	bool fixed = code->counter != UNC_NONE;
	bool of_free = fixed && t->counter[code->counter].ctl == UNC_NONE;
	struct work w = {.t = t, .type = type, .code = code, .err = err};
	struct unc_kernel_code k = {.known = true};
	int rc;

	w.pmu = unc_find_kernel(t, type, of_free);
	if (!w.pmu && (!fixed || !type->kernels.n))
		return refuse_code(&w, "the kernel's driver has no PMU for it");
	if (w.pmu && w.pmu->unavailable)
		return refuse_code(&w, "%s", unc_tbl_str(t, w.pmu->unavailable));
	rc = fixed ? encode_fixed(&w, &k) : encode_counted(&w, &k);
	if (rc < 0)
		return rc;
	k.pmu = (uint8_t)(w.pmu - (t->kernel + type->kernels.first));
	*out = k;
	return 0;
}
