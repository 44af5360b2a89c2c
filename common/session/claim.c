/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/claim.h"

#include "base/grow.h"

struct unc_claim {
	const struct unc_instance *instance;
	uint64_t found;
	uint16_t reg; /* index into table->reg */
	uint16_t users;
};

/* Few: the sessions of a process that run at the same time. */
static struct unc_claim *find(const struct unc_platform *p, const struct unc_instance *instance,
			      uint16_t reg)
{
	for (size_t i = 0; i < p->n_claims; i++)
		if (p->claim[i].instance == instance && p->claim[i].reg == reg)
			return &p->claim[i];
	return NULL;
}

static int claim_one(struct unc_platform *p, const struct unc_instance *instance,
		     struct unc_setting *setting, struct unc_error *err)
{
	struct unc_claim *claim = find(p, instance, setting->reg);

	if (!claim) {
		struct unc_claim *more = unc_grow(p->claim, p->n_claims, sizeof(*more));

		if (!more)
			return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		p->claim = more;
		claim = &more[p->n_claims++];
		*claim = (struct unc_claim){
			.instance = instance, .reg = setting->reg, .found = setting->found};
	}
	claim->users++;
	setting->claimed = true;
	setting->restore = claim->found;
	return 0;
}

static void release_one(struct unc_platform *p, const struct unc_instance *instance,
			struct unc_setting *setting)
{
	struct unc_claim *claim = setting->claimed ? find(p, instance, setting->reg) : NULL;

	setting->claimed = setting->keep = false;
	if (claim && --claim->users == 0)
		*claim = p->claim[--p->n_claims];
}

static void keep_one(const struct unc_platform *p, const struct unc_instance *instance,
		     struct unc_setting *setting)
{
	const struct unc_claim *claim = setting->claimed ? find(p, instance, setting->reg) : NULL;

	setting->keep |= claim && claim->users > 1;
}

bool unc_claimed(const struct unc_platform *p, const struct unc_instance *instance, uint16_t reg)
{
	return find(p, instance, reg) != NULL;
}

int unc_claim(struct unc_platform *p, struct unc_plan_unit *units, size_t n, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct unc_plan_unit *u = &units[i];

		for (size_t k = 0; k < u->n_controls && rc == 0; k++)
			rc = claim_one(p, u->instance, &u->control[k], err);
		for (size_t k = 0; k < u->n_filters && rc == 0; k++)
			rc = claim_one(p, u->instance, &u->filter[k], err);
	}
	if (rc < 0)
		unc_claim_release(p, units, n);
	return rc;
}

void unc_claim_keep(const struct unc_platform *p, struct unc_plan_unit *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct unc_plan_unit *u = &units[i];

		for (size_t k = 0; k < u->n_controls; k++)
			keep_one(p, u->instance, &u->control[k]);
		for (size_t k = 0; k < u->n_filters; k++)
			keep_one(p, u->instance, &u->filter[k]);
	}
}

void unc_claim_release(struct unc_platform *p, struct unc_plan_unit *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct unc_plan_unit *u = &units[i];

		for (size_t k = 0; k < u->n_controls; k++)
			release_one(p, u->instance, &u->control[k]);
		for (size_t k = 0; k < u->n_filters; k++)
			release_one(p, u->instance, &u->filter[k]);
	}
}
