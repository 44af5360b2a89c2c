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
	char *cpu;         /* NULL: all */
	unsigned per;      /* UNC_EACH_UNIT, UNC_EACH_DEVICE */
	unsigned says_per; /* those that the block does not say are as outside */
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
	size_t named;     /* number of its name in the configuration; 0: a group has it */
	bool going;       /* the interval before had a value: total goes on */
	bool begun;       /* a value was sent */
	unsigned told;    /* UNC_VALUE_PARTIAL and UNPROVEN: the log has it */
	unsigned missing; /* units that its sum lacked where counting began */
	bool lost;        /* and more of them now */
	cdtime_t late;    /* when the last value came that was LATE; 0: none was */
	double total;
	c_complain_t complaint;
};

/* The port of a PCIe stack, or ports that count together, and what is below. */
struct label {
	char place[DATA_MAX_NAME_LEN]; /* plugin instance of its series */
	const char *units_of;
	int socket, index;
	unsigned ports;
	bool known;        /* it was looked up before */
	char *names;       /* "mlx5_0 eth2"; NULL: nothing that is known */
	char *found;       /* while it is looked up */
	meta_data_t *meta; /* of the values of its series; NULL: none */
};

struct intel_uncore {
	char *simulate;
	char *access;
	enum {
		PARTIAL_FROM_START, /* those that lacked the units where counting began */
		PARTIAL_SENT,
		PARTIAL_NOT_SENT
	} partial_sums; /* which of them are sent */
	bool node_sums; /* a series of all sockets, too */
	bool broken;    /* the configuration */
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
	struct label *labels;
	size_t n_labels;
	cdtime_t looked;   /* for devices; 0: not yet */
	bool told_unknown; /* the log has why labels are not known */
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
/* Type and type instance, as `text` becomes one. -1: it is too long. */
int intel_uncore_set_names(value_list_t *vl, const char *type, const char *text);
/* Warns, once for an item, of a sum over fewer units than the machine has. */
void intel_uncore_tell_partial(struct item *item);
/* Whether such a sum is sent. */
bool intel_uncore_is_sent(const struct item *item);

enum { NOT_NOW = 1 }; /* beside 0 and -1: it may work later, and the log says why not yet */

/* Opens the machine and finds all that is configured there. 0, NOT_NOW, or -1: what is wrong stays so
 * until the configuration is changed. */
int intel_uncore_open(void);
void intel_uncore_close(void);
/* Says why it does not count, once until it does. */
void intel_uncore_wait(const char *why);
/* Looks at the machine anew: units that have gone are missing then. Series keep their totals. */
void intel_uncore_reopen(void);

/* A label for the place of a series that is of a port. -1: no memory. */
int intel_uncore_add_label(const struct item *item, const struct unc_item *what);
/* Looks up what is below the ports, once a minute at most. A change is a line in the log. */
void intel_uncore_look_up(cdtime_t now);
/* The labels that another opening of the machine has found, to see what has changed since. */
void intel_uncore_keep_labels(const struct intel_uncore *old);
void intel_uncore_send_labels(cdtime_t now);
void intel_uncore_free_labels(void);

int intel_uncore_start(void);
int intel_uncore_read(user_data_t *user);

#endif
