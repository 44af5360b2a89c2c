/* SPDX-License-Identifier: BSD-3-Clause */
/* The chosen access methods of a machine, in the order of trying. A way is the number of a method in
 * that order, from 1 on; 0: none. */
#ifndef UNC_ACCESS_WAYS_H
#define UNC_ACCESS_WAYS_H

#include "access/access.h"

struct unc_way {
	const struct unc_access_methods *methods;
	struct unc_backend *backend;
	struct unc_error absent; /* why the method does not exist; code 0: it does */
	bool named;              /* the user gave its name */
};

struct unc_ways {
	const struct unc_access_methods **all; /* of the machine; NULL ends the list */
	struct unc_way *way;                   /* way[0] is unused */
	unsigned n;
};

/* order: method names separated by commas; "direct" means all direct methods; NULL or "": all methods of
 * the machine. A method of hardware that this machine lacks is skipped. UNC_ERR_INVALID: an unknown
 * name, or no method remains. */
int unc_ways_open(struct unc_ways *, struct unc_machine *, const char *order,
		  struct unc_error *err);
void unc_ways_close(struct unc_ways *);

/* Returns the next method after `way` (0: the first) that serves a space; 0: no more. A method that does
 * not exist is skipped, unless the user gave its name. */
unsigned unc_ways_next(const struct unc_ways *, int space, unsigned way);
/* Stores the sentence for a space without a method. */
int unc_ways_none(const struct unc_ways *, int space, struct unc_error *err);

/* Returns the number of a method; 0: it was not chosen. */
unsigned unc_ways_find(const struct unc_ways *, const struct unc_access_methods *);

/* Chooses the first method of the register's space if reg->way is 0. UNC_ERR_DENIED: the method chosen
 * before does not serve the space; other errors: unc_ways_none(). */
int unc_ways_lead(const struct unc_ways *, struct unc_reg *, struct unc_error *err);

#endif
