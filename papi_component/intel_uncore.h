/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the two files of the component. */
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
	F(unit_get) F(event_get) F(umask_get) F(metric_get) F(item_find) F(item_qualifier) F(mark_get) \
	F(event_encode) F(session_new) F(session_add) F(session_passes) F(session_turns)           \
	F(session_start) F(session_read) F(session_counts) F(session_reset) F(session_stop)        \
	F(session_free) F(session_error) F(session_reason) F(session_partial) F(session_news)      \
	F(doctor)
/* clang-format on */
#define INTEL_UNCORE_DECLARE(name) __typeof__(unc_##name) *name;

struct control;

/* A text with qualifiers that a program has named. PAPI keeps their codes, so their number only grows. */
struct text {
	char *text;
	unsigned int number, base;
	int told; /* that it is a partial sum */
};

/* A base event. */
struct base {
	int listed; /* it can be counted here */
	int asked;  /* a program has named it */
	int told;   /* that it is a partial sum */
};

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
	void *tree;          /* the texts, */
	struct text **texts; /* and by their numbers */
	unsigned int n_texts;
	pid_t told_by; /* the process that has told that it is simulated */
	struct {
		unsigned long n;  /* values since PAPI was initialized */
		int told;         /* of the first of the process */
	} marked[UNC_MAX_MARKS];  /* of each mark */
	struct control *controls; /* EventSets that have a session */
};
extern struct intel_uncore intel_uncore;

/* The meaning of a code. */
struct name {
	unsigned int base, index;      /* the index is the library's */
	const struct unc_event *event; /* or */
	const struct unc_metric *metric;
	char text[UNC_SPEC_MAX];
	char masks[PAPI_2MAX_STR_LEN]; /* description of the qualifier; "" if none */
};

/* intel_uncore_names.c, which calls nothing of intel_uncore.c. PAPI's code for an error of the library; with a
 * sentence, which goes where PAPI's own go: it is shown after PAPI_set_debug() and with PAPI_VERBOSE. */
int intel_uncore_code(int error);
int intel_uncore_fail(int error, const char *sentence);
/* What can be counted: how many base events, or an error. */
int intel_uncore_list(void);
void intel_uncore_unlist(void);
void intel_uncore_forget_texts(void);
int intel_uncore_name(unsigned int code, struct name *name);
/* Whether a program has named what the code stands for; else the code is from an enumeration. */
int intel_uncore_asked(unsigned int code);
/* Whether the partial sum of a code was reported before; from now on it counts as reported. */
int intel_uncore_told(unsigned int code);
int intel_uncore_enum(unsigned int *code, int modifier);
int intel_uncore_find(const char *text, unsigned int *code);
int intel_uncore_describe(unsigned int code, PAPI_event_info_t *info);

#endif
