/* SPDX-License-Identifier: BSD-3-Clause */
/* The event or metric that a text names, and its place. Pure. */
#ifndef UNC_NAME_H
#define UNC_NAME_H

#include "encode/event.h"

struct unc_name {
	int metric;           /* index into table->metric; -1: an event */
	struct unc_spec spec; /* of a metric: index and socket alone */
	int node;             /* NUMA node; -1: none is named */
	int port; /* of PCIe stacks, of a metric; -1: all. An event has it in its fields */
	/* "0000_70_00_0", or the kernel's name until the machine was asked; "": none */
	char device[UNC_DEVICE_MAX];
	/* The place, as found on the machine (platform/place.c); -1: not asked, or not needed */
	struct {
		int socket, index;
		unsigned ports; /* bits of the stack's port mask; 0: none is named */
	} at;
};

/* Without a place: the whole machine. */
#define UNC_NAME_ALL(number)                                                                       \
	{                                                                                          \
		.metric = (number), .spec = {.index = -1, .socket = -1}, .node = -1, .port = -1,   \
		.at = { -1,                                                                        \
			-1,                                                                        \
			0 }                                                                        \
	}

/* The name of a metric, "NAME[:socket=N]" or of one unit "type3.NAME", or of an event.
 * Errors: those of unc_spec_parse(). */
int unc_name_parse(const struct unc_table *, const char *text, struct unc_name *out,
		   struct unc_error *err);
/* The same for an event only. */
int unc_name_event(const struct unc_table *, const char *text, struct unc_name *out,
		   struct unc_error *err);
/* The ports that the name selects, by number or by a found device, as bits; 0: none. */
unsigned unc_name_ports(const struct unc_name *);
/* Whether the name has a place of any kind. */
bool unc_name_placed(const struct unc_name *);
/* UNC_ERR_NOT_FOUND with the nearest metric. */
int unc_name_no_metric(const struct unc_table *, const char *name, struct unc_error *err);

/* UNC_ERR_RANGE if the name's socket is not one of n. */
int unc_name_check(const struct unc_name *, const char *text, int n_sockets, struct unc_error *err);

/* Whether a text is the address of a PCI function, "0000:70:00.0", "70:00.0", or with '_'; out: the
 * form of names, "0000_70_00_0". */
bool unc_name_address(const char *text, char out[UNC_DEVICE_MAX]);

/* Canonical text; UNC_ERR_RANGE if it does not fit. */
int unc_name_format(const struct unc_table *, const struct unc_name *, char *buf, size_t size);

#endif
