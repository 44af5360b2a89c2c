/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the component share. */
#ifndef INTEL_UNCORE_H
#define INTEL_UNCORE_H

#include "papi.h"
#include "papi_internal.h"
#include "papi_vector.h"
#include "papi_memory.h"
#include "extras.h"

#include "uncore.h"

#define INTEL_UNCORE_SIMULATED "SIMULATED"

/* The functions of libuncore, called as intel_uncore.FUNCTION(). */
/* clang-format off */
#define INTEL_UNCORE_FUNCTIONS(F)                                                                  \
	F(api_version) F(version) F(open_error) F(platform_open) F(platform_close)                 \
	F(platform_error) F(platform_cpu) F(platform_simulated) F(platform_sockets) F(type_get)    \
	F(unit_get) F(unit_devices) F(node_get) F(event_get) F(umask_get) F(field_get) F(metric_get) F(item_find)              \
	F(event_encode) F(session_new) F(session_add) F(session_passes)           \
	F(session_turns) F(session_start) F(session_read) F(session_counts) F(session_reset) F(session_stop) \
	F(session_free) F(session_error) F(session_reason) F(session_partial) F(session_missing)    \
	F(doctor)
/* clang-format on */
#define INTEL_UNCORE_DECLARE(name) __typeof__(unc_##name) *name;

struct control;
struct texts;

/* A base event. */
struct base {
	int listed; /* it can be counted here */
	int asked;  /* a program has named it */
};

/* Marks with which a value is given: the first is said, and how many there were in the end. */
enum { INTEL_UNCORE_UNPROVEN, INTEL_UNCORE_LATE, INTEL_UNCORE_DOUBTS };

struct intel_uncore {
	INTEL_UNCORE_FUNCTIONS(INTEL_UNCORE_DECLARE)
	PAPI_component_info_t *info; /* of the component */
	void *library;
	pid_t pid; /* the process that loaded it */
	struct unc_platform *platform;
	unsigned int lock;              /* of everything below, and of the initialization */
	unsigned int n_metrics, n_base; /* base events: the metrics, then the events */
	struct base *bases;
	int incomplete;      /* a unit of the machine cannot be read */
	char *devices;       /* below PCIe stacks, "mlx5_0, nvme0"; NULL: nobody has looked yet */
	struct texts *texts; /* what programs named and the library accepted */
	pid_t told_by;       /* the process that has told that it is simulated */
	struct {
		unsigned long n, told; /* values of the process; as they were told last */
	} doubts[INTEL_UNCORE_DOUBTS];
	struct control *controls; /* EventSets that have a session */
};
extern struct intel_uncore intel_uncore;

/* What a code stands for. */
struct name {
	unsigned int base, index;      /* the index is the library's */
	const struct unc_event *event; /* or */
	const struct unc_metric *metric;
	char text[UNC_SPEC_MAX];
	char masks[PAPI_2MAX_STR_LEN]; /* description of the qualifier; "" if none */
};

enum {
	INTEL_UNCORE_MAX_ITEMS = 512, /* events of one EventSet; PAPI sizes its arrays by it */
	INTEL_UNCORE_TURN_MS = 64     /* of a pass, at most */
};

struct item {
	unsigned int code;
	int papi_code, position;         /* where PAPI looks for its value */
	const struct unc_metric *metric; /* NULL: an event */
	unsigned int missing;            /* units that its sum lacked where counting began */
	int lost; /* a read has found others missing: it has no value before the next start */
};

/* Of an EventSet. PAPI has cleared it, and frees it when it has no events any more. */
struct control {
	struct unc_session *session; /* NULL while there are no events */
	struct control *next, **link;
	int multiplexed; /* PAPI_set_multiplex(): it may need as many passes as it wants */
	int rotates;     /* the session may */
	int left;        /* passes of what was left when an event was removed; 0: fits */
	int lost;        /* a read has failed: the next reset starts anew */
	int wanted;      /* events that PAPI has in it; -1: not those that we have */
	int count, room; /* of the arrays */
	struct item *items;
	struct unc_value *read;
	uint64_t *counts;
	long long *values;
};

/* Files of the component call each other one way, in this order. */

/* intel_uncore_library.c. PAPI's code for an error of the library. */
int intel_uncore_code(int error);
/* The same; the sentence goes where PAPI's own go:
 * it is shown after PAPI_set_debug() and with PAPI_VERBOSE. */
int intel_uncore_fail(int error, const char *sentence);
void intel_uncore_log(void *user, enum unc_log_level level, const char *text);
int intel_uncore_load(char *reason, size_t size);
/* A value has this mark; of the first of the process is told, whatever PAPI may print. */
void intel_uncore_doubt(int doubt, const char *name, const char *reason);
/* Tells how many there were, if that has changed. */
void intel_uncore_sum_up(void);

/* intel_uncore_texts.c; the caller holds the lock. The number of a text, which is added if it is new. */
int intel_uncore_text_number(const char *text, unsigned int base, unsigned int *number);
/* The text of a number, and its base event; NULL if there is none. */
const char *intel_uncore_text_get(unsigned int number, unsigned int *base);
/* 1 the first time that it is called with this text. */
int intel_uncore_text_tell(const char *text, unsigned int base);
void intel_uncore_texts_forget(void);

/* intel_uncore_names.c */
int intel_uncore_list(void);
void intel_uncore_unlist(void);
int intel_uncore_name(unsigned int code, struct name *name);
/* Whether a program has named what the code stands for; else the code is from an enumeration. */
int intel_uncore_asked(unsigned int code);
int intel_uncore_enum(unsigned int *code, int modifier);
int intel_uncore_find(const char *text, unsigned int *code);
int intel_uncore_describe(unsigned int code, PAPI_event_info_t *info);

/* intel_uncore_sets.c. The list of events is this one now; it has none any more. */
int intel_uncore_update(struct control *control, NativeInfo_t *native, int count);
void intel_uncore_empty(struct control *control);
/* PAPI_set_multiplex(), with or without events. */
int intel_uncore_multiplex(struct control *control, _papi_int_option_t *option);
int intel_uncore_fail_session(struct control *control, int error);
/* Warns of a sum that lacks a unit, once for each name. */
void intel_uncore_warn_partial(struct control *control, int id);
void intel_uncore_close_all(void);

/* intel_uncore_init.c. Initializes the component at its first use. */
int intel_uncore_check_n_initialize(void);
int intel_uncore_init_component(PAPI_component_info_t *info, int cidx);
int intel_uncore_shutdown_component(void);

#endif
