/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker of the node as seen from a process that has not the right to open events (host/wire.h): a
 * connection, made when it is first needed, that stays. Its
 * functions are called under one lock.
 */
#ifndef UNC_ACCESS_BROKER_H
#define UNC_ACCESS_BROKER_H

#include "host/events.h"

struct unc_broker;
struct unc_wire_answer;

struct unc_broker *unc_broker_new(struct unc_machine *); /* NULL: no memory */
void unc_broker_free(struct unc_broker *);

/* Whether any events of a PMU may be had. UNC_ERR_NOT_FOUND: no broker serves on this node;
 * UNC_ERR_PERMISSION with what is allowed; UNC_ERR_DENIED: the socket is not root's; UNC_ERR_IO. */
int unc_broker_asks(struct unc_broker *, const char *pmu, struct unc_error *err);
/* What its site allows, as it said last: "MEM, LINK, PCIE on imc, upi"; "": nothing was asked yet. */
const char *unc_broker_told(const struct unc_broker *);
/* The descriptors of n events that count as one group, which is this user's: other processes of his may
 * have it too. dead: the one that was had before does not count any more. Errors: what the broker says. */
int unc_broker_open(struct unc_broker *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, bool dead, int *fd,
		    struct unc_error *err);
/* Gives back what was opened over a connection (its number, when it was), of which every descriptor is closed: once
 * for each time. */
unsigned unc_broker_call(const struct unc_broker *);
void unc_broker_close(struct unc_broker *, unsigned call, const struct unc_kernel_place *,
		      const struct unc_kernel_event *, size_t n);
/* Asks who has what, from the row `first` on. */
int unc_broker_list(struct unc_broker *, uint32_t first, struct unc_wire_answer *out,
		    struct unc_error *err);

#endif
