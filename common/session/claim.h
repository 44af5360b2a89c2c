/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers that running sessions of one platform have set. Several may need the same filter or
 * fixed counter: the last to leave puts back what the first found. The caller holds
 * platform->program.
 */
#ifndef UNC_CLAIM_H
#define UNC_CLAIM_H

#include "platform/platform.h"
#include "session/plan.h"

/* Claims all settings of n units: setting->restore becomes what the first claimant found.
 * On error nothing is claimed. */
int unc_claim(struct unc_platform *, struct unc_plan_unit *units, size_t n, struct unc_error *err);
/* Whether a running session has set the register. */
bool unc_claimed(const struct unc_platform *, const struct unc_instance *, uint16_t reg);
/* Sets setting->keep where another session needs it still, and is not to find it changed. */
void unc_claim_keep(const struct unc_platform *, struct unc_plan_unit *units, size_t n);
/* Gives them up. */
void unc_claim_release(struct unc_platform *, struct unc_plan_unit *units, size_t n);

#endif
