/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside sampling: session_trigger.c knows what each sampled counter needs, session_sample.c what is
 * done with them. */
#ifndef UNC_SAMPLE_H
#define UNC_SAMPLE_H

#include "session/session.h"
#include "units/guest.h"

/* One counter that is watched. */
struct unc_trigger {
	uint32_t slot;
	const struct unc_instance *instance;
	const struct unc_tbl_type *type;
	uint64_t preload;
	int global;                      /* bit in the status of the socket, -1: none */
	const struct unc_instance *ubox; /* has the status of the socket */
	uint64_t bit;                    /* in the status of the unit; 0: has none */
	uint64_t freeze;                 /* bits of the control by which its carry freezes */
	uint8_t freezes;                 /* what the hardware does at its carry: UNC_FREEZES_* */
	bool carried;
	size_t global_op, status_op; /* among sample.look; SIZE_MAX: none */
};

struct unc_sample {
	struct unc_trigger *trigger;
	size_t n;
	struct unc_plan look; /* reads of the status registers */
};

/* Whether the counter of a slot can be sampled at all, for a sentence before anything runs. */
int unc_trigger_check(struct unc_session *, const struct unc_slot *);
/* What the counter of a slot needs, once it is known. UNC_ERR_UNAVAILABLE: nothing tells that it has
 * carried. */
int unc_trigger_find(struct unc_session *, uint32_t slot, struct unc_trigger *);
/* Which register of the socket's status has the unit, and its bit there. */
uint16_t unc_trigger_global(const struct unc_session *, const struct unc_trigger *, uint64_t *bit);
/* Appends what clears the status of the unit and of the socket. */
int unc_trigger_clear(struct unc_session *, const struct unc_trigger *, struct unc_plan *,
		      struct unc_error *err);

#endif
