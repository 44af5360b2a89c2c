/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text: parse, encode, format. Pure: works on a table, no I/O. */
#ifndef UNC_EVENT_H
#define UNC_EVENT_H

#include <stdbool.h>

#include "tables/table.h"

enum { UNC_SPEC_UMASKS = 16, UNC_SPEC_FIELDS = 16 };

enum { UNC_NODE_NONE, UNC_NODE_LOCAL, UNC_NODE_REMOTE };

struct unc_spec_field {
	uint16_t field; /* index into table->field */
	uint8_t node;   /* the value is the mask of this node, or of the other nodes */
	uint64_t value;
};

/* A parsed event. Umasks and fields are sorted in table order, so that equal events are equal. */
struct unc_spec {
	uint16_t type;                   /* index into table->type */
	uint16_t event;                  /* index into table->event */
	int index;                       /* unit, -1 all */
	int socket;                      /* -1 all */
	uint16_t umask[UNC_SPEC_UMASKS]; /* index into table->umask */
	uint16_t n_umasks;
	struct unc_spec_field field[UNC_SPEC_FIELDS];
	uint16_t n_fields;
};

struct unc_code_filter {
	uint16_t reg; /* index into table->reg */
	uint64_t value, mask;
};

/* The registers of an event. */
struct unc_code {
	uint16_t type;
	uint16_t event;
	uint16_t counter; /* fixed or free-running (index into table->counter), or UNC_NONE */
	uint8_t aggregate;
	uint32_t counters; /* programmable counters that may count it */
	uint32_t doubtful; /* of these, the counters that are used last */
	uint32_t max_inc;  /* largest increment per clock */
	uint64_t ctl;
	uint64_t exclusive; /* other events of the unit must agree in these bits of ctl */
	uint16_t lane;      /* as in struct unc_tbl_event */
	uint8_t set;
	uint16_t n_filters;
	bool by_socket; /* the encoding differs from socket to socket */
	bool whole;     /* one unit of those that share something counts for all of them */
	struct unc_code_filter filter[UNC_MAX_FILTERS]; /* n_filters of them */
};

/* Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND, UNC_ERR_RANGE, each with its sentence; *out holds what was parsed
 * before the error. out->event is the event of the text; UNC_NONE: none was found. */
int unc_spec_parse(const struct unc_table *, const char *text, struct unc_spec *out,
		   struct unc_error *err);

/* UNC_ERR_RANGE if the tables have no such unit, or the socket is larger than any machine has. */
int unc_spec_check(const struct unc_table *, const char *text, const struct unc_spec *,
		   struct unc_error *err);

/* Selects ports of a PCIe stack, by the port mask field of its events: UNC_ERR_INVALID if the event
 * has no such field, or already has a mask that is not of all ports; UNC_ERR_RANGE. */
enum { UNC_MAX_PORTS = 8 };
int unc_spec_set_ports(const struct unc_table *, struct unc_spec *, unsigned ports,
		       struct unc_error *err);

/* Encodes for one socket of n_sockets; without err also codes that only other programs set (for
 * decoding). On error *out is undefined. */
int unc_spec_encode(const struct unc_table *, const struct unc_spec *, int socket, int n_sockets,
		    struct unc_code *out, struct unc_error *err);

/* Canonical text; UNC_ERR_RANGE if it does not fit. */
int unc_spec_format(const struct unc_table *, const struct unc_spec *, char *buf, size_t size);

/* Parse, check that it encodes, format: for formulas. */
int unc_spec_canonical(const struct unc_table *, const char *text, char *buf, size_t size,
		       struct unc_error *err);

/* The umask of an event by name or alias, without regard to case. */
bool unc_umask_find(const struct unc_table *, const struct unc_tbl_event *, const char *name,
		    uint16_t *umask);

bool unc_spec_has_umask(const struct unc_spec *, uint32_t umask);
/* Whether the user gives a field. */
bool unc_user_gave(const struct unc_spec *, uint16_t field);
/* Adds a umask that the event does not have yet, in table order; there must be room. */
void unc_spec_add_umask(struct unc_spec *, uint16_t umask);

/* Number of units of a type in the tables; 0 if only discovery knows it. */
unsigned unc_type_instances(const struct unc_table *, unsigned type);

/* Whether an event takes a field: every event of the type does, the event does, or one of its umasks. */
bool unc_event_takes(const struct unc_table *, unsigned event, uint16_t field);

/* The i-th field that an event takes: of every event of the type, then of the event and its umasks.
 * *needed: it must be given (with each umask). UNC_NONE past the end. */
uint16_t unc_event_field(const struct unc_table *, unsigned event, size_t i, bool *needed);

/* Whether an event needs the field: with a umask, or without any (UNC_NONE). */
bool unc_event_needs(const struct unc_table *, unsigned event, uint16_t umask, uint16_t field);

/* The value that a field will hold: from the event, else its register's value at rest. */
uint64_t unc_field_planned(const struct unc_table *, const struct unc_code *, uint16_t field);

/* The filter of a register, among n; NULL: none. */
const struct unc_code_filter *unc_filter_of(const struct unc_code_filter *, size_t n, uint16_t reg);

bool unc_code_same(const struct unc_code *, const struct unc_code *);

/* The value of a field in registers: ctl, and filters with their `reg`. *known (may be NULL): these
 * hold all of the field. */
uint64_t unc_field_value(const struct unc_tbl_field *, uint64_t ctl,
			 const struct unc_code_filter *filters, size_t n, bool *known);

#endif
