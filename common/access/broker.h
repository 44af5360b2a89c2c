/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to the broker of the node (host/wire.h), for a process without the right to open events.
 * It is made when first needed, and stays. The caller holds one lock for all functions.
 */
#ifndef UNC_ACCESS_BROKER_H
#define UNC_ACCESS_BROKER_H

#include "host/events.h"

struct unc_broker;
struct unc_wire_answer;

struct unc_broker *unc_broker_new(struct unc_machine *); /* NULL: no memory */
void unc_broker_free(struct unc_broker *);

/* Asks whether the broker opens any events of a PMU. UNC_ERR_NOT_FOUND: no broker serves on this node;
 * UNC_ERR_PERMISSION with what is allowed; UNC_ERR_DENIED: the socket is not root's; UNC_ERR_IO. */
int unc_broker_asks(struct unc_broker *, const char *pmu, struct unc_error *err);
/* Returns what the site allows, by the last answer: "MEM, LINK, PCIE on imc, upi"; "": not asked yet. */
const char *unc_broker_told(const struct unc_broker *);
/* Opens n events as one group and receives their descriptors; other processes of the user may share it.
 * dead: the group received before no longer counts. Errors: those of the broker. */
int unc_broker_open(struct unc_broker *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, bool dead, int *fd,
		    struct unc_error *err);
/* Closes a group, once for each time it was opened, after its descriptors are closed. call: the number of the
 * connection when the group was opened, from unc_broker_call(). */
unsigned unc_broker_call(const struct unc_broker *);
void unc_broker_close(struct unc_broker *, unsigned call, const struct unc_kernel_place *,
		      const struct unc_kernel_event *, size_t n);
/* Lists open events and their users, from row `first` on. */
int unc_broker_list(struct unc_broker *, uint32_t first, struct unc_wire_answer *out,
		    struct unc_error *err);

#endif
