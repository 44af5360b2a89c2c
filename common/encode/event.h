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
	uint8_t node;   /* the value is the mask of the own node, or of the others */
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

/* What is programmed. */
struct unc_code {
	uint16_t type;
	uint16_t event;
	uint16_t counter; /* fixed or free-running (index into table->counter), or UNC_NONE */
	uint8_t aggregate;
	uint32_t counters; /* programmable counters that may count it */
	uint32_t doubtful; /* those of them that come last */
	uint32_t max_inc;  /* largest increment per clock */
	uint64_t ctl;
	uint64_t exclusive; /* other events of the unit must agree in these bits of ctl */
	uint16_t lane;      /* as in struct unc_tbl_event */
	uint8_t set;
	uint16_t n_filters;
	bool by_socket; /* the encoding differs from socket to socket */
	bool whole;     /* one of the units that share something counts for all of them */
	struct unc_code_filter filter[UNC_MAX_FILTERS]; /* n_filters of them */
};

/* Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND, UNC_ERR_RANGE, each with its sentence; *out is what has
 * been read until then. out->event is the event that the text begins with; UNC_NONE: not that far. */
int unc_spec_parse(const struct unc_table *, const char *text, struct unc_spec *out,
		   struct unc_error *err);

/* UNC_ERR_RANGE if the tables have no such unit, or no machine such a socket. */
int unc_spec_check(const struct unc_table *, const char *text, const struct unc_spec *,
		   struct unc_error *err);

/* Some ports of a PCIe stack, by the field of its events that is the mask of ports: UNC_ERR_INVALID
 * where the event has none, or has a mask already that is not of all ports; UNC_ERR_RANGE. */
enum { UNC_MAX_PORTS = 8 };
int unc_spec_set_ports(const struct unc_table *, struct unc_spec *, unsigned ports,
		       struct unc_error *err);

/* Encodes for one socket of n_sockets; without err, also what only others set (decoding). On error
 * *out means nothing. */
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

/* Instances of a type in the tables: 0 if only discovery knows. */
unsigned unc_type_instances(const struct unc_table *, unsigned type);

/* Whether an event takes a field: as any of the type does, its own, or with one of its umasks. */
bool unc_event_takes(const struct unc_table *, unsigned event, uint16_t field);

/* The i-th field that an event takes: those of every event of the type, then its own and its
 * umasks'. *needed: it must be given (with each umask). UNC_NONE past the end. */
uint16_t unc_event_field(const struct unc_table *, unsigned event, size_t i, bool *needed);

/* Whether an event has to be given the field: with a umask, or without any (UNC_NONE). */
bool unc_event_needs(const struct unc_table *, unsigned event, uint16_t umask, uint16_t field);

/* What a field will hold: what an event makes of it, else what its register holds at rest. */
uint64_t unc_field_planned(const struct unc_table *, const struct unc_code *, uint16_t field);

/* The one of a register among n; NULL: there is none. */
const struct unc_code_filter *unc_filter_of(const struct unc_code_filter *, size_t n, uint16_t reg);

bool unc_code_same(const struct unc_code *, const struct unc_code *);

/* The value of a field in registers: ctl, and filters of which `reg` gives the value. *known (may be
 * NULL): they have all of it. */
uint64_t unc_field_value(const struct unc_tbl_field *, uint64_t ctl,
			 const struct unc_code_filter *filters, size_t n, bool *known);

#endif
