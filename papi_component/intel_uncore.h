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
	F(unit_get) F(event_get) F(event_find) F(umask_get) F(field_get)              \
	F(metric_get) F(metric_find) F(name_at) F(event_encode) F(session_new) F(session_add_at)   \
	F(session_clear) F(session_passes) F(session_rotate) F(session_start) F(session_read)      \
	F(session_reset) F(session_stop)                                                          \
	F(session_free) F(session_error) F(session_reason) F(session_partial) F(doctor)
/* clang-format on */
#define INTEL_UNCORE_DECLARE(name) __typeof__(unc_##name) *name;

struct control;
struct texts;
struct turner;
struct type;

/* A base event. */
struct base {
	const struct type *type; /* of an event: its unit type */
	int listed;              /* it can be counted here */
	int group;               /* of the listing */
	int asked;               /* a program has named it */
};

struct intel_uncore {
	INTEL_UNCORE_FUNCTIONS(INTEL_UNCORE_DECLARE)
	void *library;
	pid_t pid; /* the process that loaded it */
	struct unc_platform *platform;
	unsigned int lock;              /* of everything below, and of the initialization */
	unsigned int n_metrics, n_base; /* base events: the metrics, then the events */
	struct base *bases;
	struct type *types;       /* the unit types */
	int incomplete;           /* a unit of the machine cannot be read */
	struct texts *texts;      /* what programs named and the library accepted */
	pid_t told_by;            /* the process that has told that it is simulated */
	struct control *controls; /* EventSets that have a session */
};
extern struct intel_uncore intel_uncore;
extern papi_vector_t _intel_uncore_vector;

/* What a code stands for. */
struct name {
	unsigned int base, index;      /* the index is the library's */
	const struct unc_event *event; /* or */
	const struct unc_metric *metric;
	char text[UNC_SPEC_MAX];
	char masks[PAPI_2MAX_STR_LEN]; /* description of the qualifier; "" if none */
};

enum {
	INTEL_UNCORE_MAX_ITEMS = 512 /* events of one EventSet; PAPI sizes its arrays by it */
};

struct item {
	unsigned int code;
	int papi_code, position;         /* where PAPI looks for its value */
	const struct unc_metric *metric; /* NULL: an event */
};

/* Of an EventSet. PAPI has cleared it, and frees it when it has no events any more. */
struct control {
	struct unc_session *session; /* NULL while there are no events */
	struct control *next, **link;
	struct turner *turner; /* while it runs in several passes */
	int multiplexed;       /* PAPI_set_multiplex(): it may need as many passes as it wants */
	int rotates;           /* the session may */
	int left;              /* passes of what was left when an event was removed; 0: fits */
	int lost;              /* a read has failed: the next reset starts anew */
	int wanted;            /* events that PAPI has in it; -1: not those that we have */
	int count, room;       /* of the arrays */
	struct item *items;
	struct unc_value *read;
	long long *values;
};

/* Initializes the component at its first use. */
int intel_uncore_check_n_initialize(void);
/* PAPI's code for an error of the library. */
int intel_uncore_code(int error);
/* The same; the sentence goes where PAPI's own go:
 * it is shown after PAPI_set_debug() and with PAPI_VERBOSE. */
int intel_uncore_fail(int error, const char *sentence);

int intel_uncore_init_component(int cidx);
int intel_uncore_shutdown_component(void);

int intel_uncore_update_control_state(hwd_control_state_t *ctl, NativeInfo_t *native, int count,
				      hwd_context_t *ctx);
/* PAPI_set_multiplex(), with or without events. */
int intel_uncore_multiplex(struct control *control, _papi_int_option_t *option);
int intel_uncore_fail_session(struct control *control, int error);
/* Warns of a sum that lacks a unit, once for each name. */
void intel_uncore_warn_partial(struct control *control, int id, const struct name *name);
void intel_uncore_close_all(void);

/* Which units a sum of that name is without, and why; "" if it is whole. */
void intel_uncore_partial(const struct name *name, char *text, size_t size);

int intel_uncore_list(void);
void intel_uncore_unlist(void);
int intel_uncore_name(unsigned int code, struct name *name);
/* Whether a program has named what the code stands for; else the code is from an enumeration. */
int intel_uncore_asked(unsigned int code);
int intel_uncore_ntv_enum_events(unsigned int *code, int modifier);
int intel_uncore_ntv_name_to_code(const char *text, unsigned int *code);
int intel_uncore_ntv_code_to_name(unsigned int code, char *text, int size);
int intel_uncore_ntv_code_to_info(unsigned int code, PAPI_event_info_t *info);

/* Texts; the caller holds the lock. The number of a text, which is added if it is new. */
int intel_uncore_text_number(const char *text, unsigned int base, unsigned int *number);
/* The text of a number, and its base event; NULL if there is none. */
const char *intel_uncore_text_get(unsigned int number, unsigned int *base);
/* 1 the first time that it is called with this text. */
int intel_uncore_text_tell(const char *text, unsigned int base);
void intel_uncore_texts_forget(void);

/* A thread lets the passes of a session that runs take turns; between lock and unlock it does not.
 * With NULL, and in a child of the process, nothing is done. */
int intel_uncore_turn_begin(struct unc_session *session, struct turner **out);
/* Ends the thread; an error of the library if it had to stop the session, which was said. */
int intel_uncore_turn_end(struct turner **at);
void intel_uncore_turn_lock(struct turner *turner);
void intel_uncore_turn_unlock(struct turner *turner);
/* Locked: why the session is stopped, NULL if it is not. */
const char *intel_uncore_turn_failed(const struct turner *turner);
/* Locked: 1, with a text, before every pass has had its turn since start or reset. */
int intel_uncore_turn_missing(const struct turner *turner, char *text, size_t size);
/* Of a turn at most, ns. */
unsigned long intel_uncore_turn_length(void);
/* Locked: the session was reset. */
void intel_uncore_turn_anew(struct turner *turner);

#endif
