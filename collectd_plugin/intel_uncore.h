/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the plugin share. */
#ifndef INTEL_UNCORE_H
#define INTEL_UNCORE_H

#include "collectd.h"
#include "plugin.h"
#include "utils_complain.h"

#include <stdbool.h>

#include "uncore.h"

#define NAME "intel_uncore"
#define LOG NAME " plugin: "
#define FAIL(...) (plugin_log(LOG_ERR, LOG __VA_ARGS__), -1)

/* a name of the configuration */
struct wish {
	bool is_group;
	char *text;
};

/* what the configuration asks for, of all CPUs or in the block of one */
struct block {
	char *cpu; /* NULL: all */
	bool per_unit;
	bool says_per_unit; /* a block that does not takes what is said outside */
	struct wish *wishes;
	size_t n_wishes;
};

/* one series */
struct item {
	int id; /* of the session */
	value_list_t vl;
	value_t value;
	double scale;
	bool is_total;
	bool named;    /* by the configuration itself, not by a group */
	bool going;    /* the interval before had a value: total goes on */
	bool begun;    /* a value was sent */
	unsigned told; /* UNC_VALUE_PARTIAL and UNPROVEN: the log has it */
	cdtime_t late; /* when the last value came that was LATE; 0: none was */
	double total;
	c_complain_t complaint;
};

struct intel_uncore {
	char *simulate;
	char *access;
	bool whole_only; /* no partial sums */
	bool node_sums;  /* a series of all sockets, too */
	bool broken;     /* the configuration */
	struct block always;
	struct block *cpus;
	size_t n_cpus;
	bool told;      /* the log has the names that are wrong */
	bool blind;     /* no unit of the machine can be read */
	size_t n_names; /* of the configuration, that name something */
	struct unc_platform *platform;
	struct unc_session *session; /* NULL: it could not be opened yet */
	struct item *items;
	size_t n_items;
	struct unc_value *values; /* of the session's items */
	size_t n_values;
	cdtime_t interval;
	cdtime_t begun; /* when the interval did */
	bool running;
	bool reopened; /* and nothing was read since */
	c_complain_t complaint;
};
extern struct intel_uncore self;

/* Adds all that is configured for this CPU to the session. A name that is wrong, or that this machine
 * cannot give, is a line in the log. -1: nothing is left, or no memory. */
int intel_uncore_add_all(void);
/* The one of n that is the same series; NULL: none. */
const struct item *intel_uncore_same_series(const struct item *items, size_t n,
					    const struct item *item);
/* Warns, once for an item, of a sum over fewer units than the machine has. */
void intel_uncore_tell_partial(struct item *item);

enum { NOT_NOW = 1 }; /* beside 0 and -1: it may work later, and the log says why not yet */

/* Opens the machine and finds all that is configured there. 0, NOT_NOW, or -1: what is wrong stays so
 * until the configuration is changed. */
int intel_uncore_open(void);
void intel_uncore_close(void);
/* Says why it does not count, once until it does. */
void intel_uncore_wait(const char *why);
/* Looks at the machine anew: units that have gone are missing then. Series keep their totals. */
void intel_uncore_reopen(void);
int intel_uncore_start(void);
int intel_uncore_read(user_data_t *user);

#endif
