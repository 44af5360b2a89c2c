/* SPDX-License-Identifier: BSD-3-Clause */
/* The access methods of a machine that were chosen, in the order in which they are tried: its ways.
 * A way is a number from 1 on. */
#ifndef UNC_ACCESS_WAYS_H
#define UNC_ACCESS_WAYS_H

#include "access/access.h"

struct unc_way {
	const struct unc_access_methods *methods;
	struct unc_backend *backend;
	struct unc_error absent; /* why the method is not there; code 0: it is */
	bool named;              /* was asked for by its own name */
};

struct unc_ways {
	const struct unc_access_methods **all; /* of the machine; NULL ends the list */
	struct unc_way *way;                   /* way[0] is none */
	unsigned n;
};

/* order: names with commas between them; "direct" stands for the methods that are; NULL or "": all
 * that the machine has. A name of hardware's that this machine lacks is passed over.
 * UNC_ERR_INVALID: an unknown name, or nothing remains. */
int unc_ways_open(struct unc_ways *, struct unc_machine *, const char *order,
		  struct unc_error *err);
void unc_ways_close(struct unc_ways *);

/* The next way behind `way` (0: the first) to registers of a space; 0: no more. A method that is
 * not there is passed over, unless it was asked for by its name. */
unsigned unc_ways_next(const struct unc_ways *, int space, unsigned way);
/* The sentence where there is none. */
int unc_ways_none(const struct unc_ways *, int space, struct unc_error *err);

/* The way of a method; 0: it was not chosen. */
unsigned unc_ways_find(const struct unc_ways *, const struct unc_access_methods *);

/* Where no way is chosen yet, the first of its space is taken. UNC_ERR_DENIED: the way that was
 * chosen does not lead to the space; or as unc_ways_none(). */
int unc_ways_lead(const struct unc_ways *, struct unc_reg *, struct unc_error *err);

#endif
