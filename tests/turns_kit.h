/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a machine of which the clock is stepped, for hosts whose passes take turns. */
#ifndef UNC_TEST_TURNS_KIT_H
#define UNC_TEST_TURNS_KIT_H

#include "uncore.h"

/* So many ms go by, and what is due in them is done: each turn that ends in them has ended. */
void let_time_pass(struct unc_platform *, struct unc_session *, unsigned ms);

#endif
