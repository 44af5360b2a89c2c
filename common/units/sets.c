/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: sets that start, stop or are shown together, each by its provider. */
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

const struct unc_provider *const unc_providers[UNC_N_PROVIDERS] = {&unc_registers, &unc_kernel};

/* Moves the sets of a provider to the front of a batch, and returns them. */
static struct unc_batch provider_batch(const struct unc_batch *b, const struct unc_provider *by)
{
	struct unc_batch own = {b->set, 0};

	for (size_t i = 0; i < b->n; i++) {
		struct unc_set *set = b->set[i];

		if (set->by == by) {
			memmove(&b->set[own.n + 1], &b->set[own.n], (i - own.n) * sizeof(set));
			b->set[own.n++] = set;
		}
	}
	return own;
}

/* Whether sessions count on a unit by its registers: the kernel would overwrite them. */
static bool is_claimed(const struct unc_platform *p, const struct unc_instance *u)
{
	const struct unc_range *regs = &p->table->type[u->type].regs;

	for (uint32_t i = regs->first; i < regs->first + regs->n; i++)
		if (p->table->reg[i].role == UNC_ROLE_CTL && unc_entry_any(p, u, (uint16_t)i))
			return true;
	return false;
}

/* The provider of a set. *unloaded: the kernel's driver is gone. */
static const struct unc_provider *choose_provider(const struct unc_platform *p,
						  const struct unc_set *set, bool *unloaded)
{
	size_t instance = (size_t)(set->unit - p->instances.unit);
	unsigned by = UNC_BY_REGISTERS | UNC_BY_KERNEL;

	if (!p->kernel)
		return &unc_registers;
	for (size_t i = 0; i < set->n; i++) {
		struct unc_kernel_code kernel = set->counter[i].event->kernel;

		by &= unc_platform_methods(p, instance, &set->counter[i].event->code, &kernel,
					   NULL);
	}
	if (by == UNC_BY_KERNEL)
		return &unc_kernel;
	if (!(by & UNC_BY_KERNEL) || !p->kernel[instance].before || is_claimed(p, set->unit))
		return &unc_registers;
	if (unc_platform_has_driver(p, set->unit))
		return &unc_kernel;
	*unloaded = true;
	return &unc_registers;
}

static int claim_sets(struct unc_run *run, struct unc_batch *b, struct unc_error *err)
{
	bool unloaded = false;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		struct unc_set *set = b->set[i];
		const struct unc_provider *by = choose_provider(run->platform, set, &unloaded);
		struct unc_error why;

		if (set->by && set->by != by)
			set->by->forget(set);
		set->by = by;
		if (by->claim(run, set, &why) == 0)
			b->set[n++] = set;
		else
			rc = unc_set_leave(run, set, &why, err);
	}
	b->n = n;
	if (unloaded)
		unc_platform_log(run->platform, UNC_LOG_WARNING,
				 "the kernel's driver was unloaded: registers count instead");
	return rc;
}

/* Prepares the reads of sets that have started. */
static int prepare_reads(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		struct unc_set *set = b->set[i];
		const struct unc_batch one = {&set, 1};

		if (set->state != UNC_SET_COUNTS ||
		    set->by->reads(run, set, unc_set_ops(run, set), &why) == 0)
			continue;
		rc = unc_set_leave(run, set, &why, err);
		(void)set->by->stop(run, &one, NULL);
	}
	return rc;
}

int unc_sets_start(struct unc_run *run, struct unc_batch *b, struct unc_error *err)
{
	size_t n = b->n;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		b->set[i]->state = UNC_SET_COUNTS;
		b->set[i]->begins = true;
		b->set[i]->unread = 0;
	}
	run->regroup = true;
	rc = claim_sets(run, b, err);
	for (int i = 0; i < UNC_N_PROVIDERS && rc == 0; i++) {
		struct unc_batch own = provider_batch(b, unc_providers[i]);

		if (own.n)
			rc = unc_providers[i]->start(run, &own, err);
	}
	if (rc == 0)
		rc = prepare_reads(run, b, err);
	if (rc < 0)
		(void)unc_sets_stop(run, b, NULL);
	for (size_t i = 0; i < n && rc < 0; i++) /* also those that were not claimed */
		if (b->set[i]->state == UNC_SET_COUNTS)
			b->set[i]->state = UNC_SET_OFF;
	return rc;
}

int unc_sets_stop(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	int failed = 0;

	for (int i = 0; i < UNC_N_PROVIDERS; i++) {
		struct unc_batch own = provider_batch(b, unc_providers[i]);
		int rc = own.n ? unc_providers[i]->stop(run, &own, failed ? NULL : err) : 0;

		/* A stop without memory has still done something. */
		if (!failed)
			failed = rc == UNC_ERR_MEMORY ? UNC_ERR_IO : rc;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->set[i]->state == UNC_SET_COUNTS)
			b->set[i]->state = UNC_SET_OFF;
	run->regroup = true;
	return failed;
}

int unc_sets_ready(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < UNC_N_PROVIDERS && rc == 0; i++) {
		struct unc_batch own = provider_batch(b, unc_providers[i]);

		if (unc_providers[i]->ready && own.n)
			rc = unc_providers[i]->ready(run, &own, err);
	}
	return rc;
}

int unc_sets_show(struct unc_run *run, struct unc_batch *b, bool held, enum unc_phase phase,
		  unc_operation_fn fn, void *user, struct unc_error *err)
{
	int rc = held ? 0 : claim_sets(run, b, err);

	if (rc == 0 && !b->n && run->failed.code)
		rc = unc_fail(err, run->failed.code, "%s", run->failed.text);
	for (int i = 0; i < UNC_N_PROVIDERS && rc == 0; i++) {
		struct unc_batch own = provider_batch(b, unc_providers[i]);

		rc = unc_providers[i]->show(run, &own, phase, fn, user, err);
	}
	return rc;
}
