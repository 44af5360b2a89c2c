/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore.c
 * @ingroup papi_components
 * @brief   The performance monitors of an Intel socket outside its cores, through libuncore.
 *
 * The component knows no hardware: it hands texts to libuncore and numbers back. The library is
 * loaded at the first use of the component, so that programs which never use it pay nothing. An EventSet is a
 * session of the library.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intel_uncore.h"

#define LIBRARY "libuncore.so.0"

enum {
	MAX_ITEMS = 512, /* events of one EventSet; PAPI sizes its arrays by it */
	TURN_MS = 64     /* of a pass, at most */
};

struct item {
	unsigned int code;
	int papi_code, position;         /* where PAPI looks for its value */
	const struct unc_metric *metric; /* NULL: an event */
	int lost; /* a read has found units missing: it has no value before the next start */
};

/* Room for the largest EventSet; the kernel gives memory only to the part that is used. */
struct room {
	struct item items[MAX_ITEMS];
	struct unc_value read[MAX_ITEMS];
	uint64_t counts[MAX_ITEMS];
	long long values[MAX_ITEMS];
};

/* State of an EventSet. PAPI clears it, and frees it when the EventSet has no events any more. */
struct control {
	struct unc_session *session; /* NULL while there are no events */
	struct room *room;           /* as long as there is a session */
	struct control *next, **link;
	int multiplexed; /* PAPI_set_multiplex(): it may need as many passes as it wants */
	int rotates;     /* the session may */
	int left;        /* passes of what was left when an event was removed; 0: fits */
	int lost;        /* a read has failed: the next reset starts anew */
	int wanted;      /* events that PAPI has in it; -1: not those that we have */
	int count;       /* of the items */
};

extern papi_vector_t _intel_uncore_vector;

/* ------------------------------------------------------------ errors, and what is told */

static int fail_session(struct control *control, int error)
{
	if (!error)
		return PAPI_OK;
	return intel_uncore_fail(error, intel_uncore.session_error(control->session));
}

static void log_text(void *user, enum unc_log_level level, const char *text)
{
	(void)user;
	if (level == UNC_LOG_WARNING)
		PAPIWARN("intel_uncore: %s", text);
	else
		SUBDBG("%s\n", text);
}

/* Reports a sum that lacks a unit, once for each name. */
static int report_partial(void *user, const struct unc_news *news)
{
	const struct control *control = user;
	unsigned int code = control->room->items[news->id].code;
	struct name name;

	if (news->kind == UNC_NEWS_PARTIAL && news->begins &&
	    intel_uncore_name(code, &name) == PAPI_OK && !intel_uncore_told(code))
		PAPIWARN("intel_uncore: %s: partial sum, without %s", name.text, news->text);
	return 0;
}

/* Reports a mark at its first value in the process, whatever PAPI may print; the number of marked values is printed
 * when PAPI shuts down. */
static void note_marks(const struct control *control, int item)
{
	unsigned int flags = control->room->read[item].flags;
	const struct unc_mark *mark;
	struct name name;
	size_t i;

	for (i = 0; (mark = intel_uncore.mark_get(i)) != NULL; i++) {
		if (!(flags & UNC_VALUE_VALID) || !(flags & mark->flag))
			continue;
		__atomic_fetch_add(&intel_uncore.marked[i].n, 1, __ATOMIC_RELAXED);
		if (!__atomic_exchange_n(&intel_uncore.marked[i].told, 1, __ATOMIC_RELAXED) &&
		    intel_uncore_name(control->room->items[item].code, &name) == PAPI_OK)
			fprintf(stderr, "intel_uncore: %s: %s: %s\n", name.text, mark->what,
				intel_uncore.session_reason(control->session, item));
	}
}

static void sum_up(void)
{
	size_t i;

	for (i = 0; i < UNC_MAX_MARKS && intel_uncore.pid == getpid(); i++) {
		if (intel_uncore.marked[i].n)
			fprintf(stderr, "intel_uncore: values that were %s: %lu\n",
				intel_uncore.mark_get(i)->what, intel_uncore.marked[i].n);
		intel_uncore.marked[i].n = 0;
	}
}

/* Says once, whatever PAPI may print, that the machine is simulated: a forgotten variable must not end in a paper. */
static void report_simulated(void)
{
	pid_t pid = getpid();

	if (intel_uncore.platform_simulated(intel_uncore.platform) &&
	    __atomic_exchange_n(&intel_uncore.told_by, pid, __ATOMIC_RELAXED) != pid)
		fprintf(stderr,
			"intel_uncore: " INTEL_UNCORE_SIMULATED
			" %s (UNCORE_SIM): no number comes from hardware\n",
			intel_uncore.platform_cpu(intel_uncore.platform)->name);
}

/* ------------------------------------------------------------ the session of an EventSet */

static void close_control(struct control *control)
{
	/* A thread of the parent may have held the lock when this process was forked off. */
	int ours = getpid() == intel_uncore.pid;

	if (!control->session)
		return;
	intel_uncore.session_free(control->session);
	papi_free(control->room);
	control->session = NULL;
	control->room = NULL;
	control->count = 0;
	if (ours)
		_papi_hwi_lock((int)intel_uncore.lock);
	*control->link = control->next;
	if (control->next)
		control->next->link = control->link;
	if (ours)
		_papi_hwi_unlock((int)intel_uncore.lock);
}

static void link_control(struct control *control)
{
	_papi_hwi_lock((int)intel_uncore.lock);
	control->next = intel_uncore.controls;
	control->link = &intel_uncore.controls;
	if (control->next)
		control->next->link = &control->next;
	intel_uncore.controls = control;
	_papi_hwi_unlock((int)intel_uncore.lock);
}

/* Opens a session without items; it replaces the one that the EventSet has. */
static int open_session(struct control *control, int rotates)
{
	struct room *room = control->room ? control->room : papi_calloc(1, sizeof(*room));
	struct unc_session *session;
	int error;

	if (!room)
		return PAPI_ENOMEM;
	error = intel_uncore.session_new(intel_uncore.platform, rotates ? UNC_SESSION_ROTATE : 0,
					 &session);
	if (error) {
		if (!control->room)
			papi_free(room);
		return intel_uncore_fail(error, intel_uncore.platform_error(intel_uncore.platform));
	}
	if (!control->session)
		link_control(control);
	intel_uncore.session_free(control->session);
	control->session = session;
	control->room = room;
	control->rotates = rotates;
	control->count = 0;
	return PAPI_OK;
}

/* The number of passes that an EventSet may need: unlimited if it is multiplexed, else that of the metric that
 * needs most by itself, since the list of names tells that number. */
static int passes_allowed(const struct control *control, const unsigned int *codes, int count)
{
	int i, passes = control->left ? control->left : 1;
	struct name name;

	if (control->multiplexed)
		return INT_MAX;
	for (i = 0; i < count; i++)
		if (intel_uncore_name(codes[i], &name) == PAPI_OK && name.metric &&
		    name.metric->passes > passes)
			passes = name.metric->passes;
	return passes;
}

static int refuse_passes(struct control *control, const char *name, int passes)
{
	char sentence[PAPI_HUGE_STR_LEN];

	snprintf(sentence, sizeof(sentence),
		 "%s: beside the others of the EventSet it does not fit into %d passes, those of "
		 "its metrics; PAPI_set_multiplex() allows more",
		 name, passes);
	open_session(control, control->rotates); /* PAPI gives the list of before again */
	return intel_uncore_fail(UNC_ERR_CONFLICT, sentence);
}

static int add_item(struct control *control, unsigned int code, int passes)
{
	struct name name;
	int id, error, papi_errno = intel_uncore_name(code, &name);

	if (papi_errno != PAPI_OK)
		return papi_errno;
	error = intel_uncore.session_add(control->session, name.text, &id);
	/* An enumeration has what counts nothing alone, or not at all, and its description says so. */
	if ((error == UNC_ERR_INVALID || error == UNC_ERR_UNAVAILABLE) && !intel_uncore_asked(code))
		return intel_uncore_code(error);
	if (error)
		return fail_session(control, error);
	control->room->items[control->count++] = (struct item){.code = code, .metric = name.metric};
	if (intel_uncore.session_passes(control->session) > passes)
		return refuse_passes(control, name.text, passes);
	intel_uncore.session_news(control->session, report_partial, control);
	return PAPI_OK;
}

/* PAPI gives the whole list after each change: with one event more, some less, or, after a failure, the
 * list before. Only differences are applied to the session. */
static int set_items(struct control *control, const unsigned int *codes, int count)
{
	int i, same = 0, passes = passes_allowed(control, codes, count), papi_errno = PAPI_OK;
	int rotates = passes > 1 || control->left;

	while (same < count && same < control->count &&
	       control->room->items[same].code == codes[same])
		same++;
	if (!control->session || rotates != control->rotates || same != control->count)
		papi_errno = open_session(control, rotates);
	for (i = control->count; i < count && papi_errno == PAPI_OK; i++)
		papi_errno = add_item(control, codes[i], passes);
	return papi_errno;
}

/* ------------------------------------------------------------ first use, and end */

/* $PAPI_UNCORE_ROOT alone if it is set; else what the loader finds, then the root built in. */
static int load_library(char *reason, size_t size)
{
#define FUNCTION_ROW(name) {"unc_" #name, (void **)&intel_uncore.name},
	static const struct {
		const char *name;
		void **address;
	} rows[] = {INTEL_UNCORE_FUNCTIONS(FUNCTION_ROW)};
	const char *root = secure_getenv("PAPI_UNCORE_ROOT");
	char path[PAPI_HUGE_STR_LEN];
	size_t i;

	if (!root) {
		intel_uncore.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		root = INTEL_UNCORE_ROOT;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s/lib/" LIBRARY, root) >= sizeof(path)) {
		snprintf(reason, size, "PAPI_UNCORE_ROOT is too long");
		return PAPI_ENOSUPP;
	}
	if (!intel_uncore.library)
		intel_uncore.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!intel_uncore.library) {
		snprintf(reason, size,
			 "libuncore cannot be loaded (%.512s); PAPI_UNCORE_ROOT may "
			 "name the directory it is installed in",
			 dlerror());
		return PAPI_ENOSUPP;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].address = dlsym(intel_uncore.library, rows[i].name);
		if (!*rows[i].address) {
			snprintf(reason, size, "%s has no %s: it is another version of libuncore",
				 LIBRARY, rows[i].name);
			return PAPI_ENOSUPP;
		}
	}
	if (UNC_API_SERVES(intel_uncore.api_version()))
		return PAPI_OK;
	snprintf(reason, size,
		 "libuncore %s has interface %u.%u, the component was compiled "
		 "for %u.%u: compile PAPI anew",
		 intel_uncore.version(), intel_uncore.api_version() >> 16,
		 intel_uncore.api_version() & 0xffff, UNC_API_VERSION >> 16,
		 UNC_API_VERSION & 0xffff);
	return PAPI_ENOSUPP;
}

/* Closes all but the texts: PAPI has given out codes that stand for them. In a child after a fork, the
 * library frees memory, and touches no counter. */
static void close_library(void)
{
	while (intel_uncore.controls) /* of threads that forgot to clean up */
		close_control(intel_uncore.controls);
	intel_uncore_unlist();
	if (intel_uncore.platform)
		intel_uncore.platform_close(intel_uncore.platform);
	if (intel_uncore.library)
		dlclose(intel_uncore.library);
	intel_uncore.platform = NULL;
	intel_uncore.library = NULL;
	intel_uncore.info->initialized = 0;
	intel_uncore.info->num_native_events = -1;
}

static int shutdown_component(void)
{
	sum_up();
	close_library();
	intel_uncore_forget_texts(); /* as PAPI does with its codes */
	return PAPI_OK;
}

struct text_buffer {
	char *text;
	size_t size;
};

/* The doctor's reason why nothing can be counted, with its remedy: better than the reason of some unit. */
static int first_failure(void *user, const struct unc_check *check)
{
	const struct text_buffer *reason = user;

	if (!check->ok)
		snprintf(reason->text, reason->size,
			 "%s: no uncore unit can be read: %.400s; %.400s",
			 intel_uncore.platform_cpu(intel_uncore.platform)->title, check->detail,
			 check->remedy);
	return !check->ok; /* the first failed check is the cause of later ones */
}

static int init_private(char *reason, size_t size)
{
	PAPI_component_info_t *info = intel_uncore.info;
	struct unc_options options = {.size = sizeof(options), .log = log_text};
	struct text_buffer buffer = {reason, size};
	int error, papi_errno;

	if (intel_uncore.pid != getpid()) /* what the parent has counted it tells itself */
		memset(intel_uncore.marked, 0, sizeof(intel_uncore.marked));
	intel_uncore.pid = getpid();
	papi_errno = load_library(reason, size);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	error = intel_uncore.platform_open(&options, &intel_uncore.platform);
	if (error) {
		snprintf(reason, size, "%s", intel_uncore.open_error());
		if (error == UNC_ERR_UNAVAILABLE) /* this is no such machine: not worth a message */
			return PAPI_ENOSUPP;
		return intel_uncore_fail(error, reason);
	}
	papi_errno = intel_uncore_list();
	if (papi_errno < 0) {
		snprintf(reason, size, "no room for the list of events");
		return papi_errno;
	}
	if (papi_errno == 0) {
		options.log = NULL; /* it has been said */
		snprintf(reason, size, "%s: no uncore unit can be read",
			 intel_uncore.platform_cpu(intel_uncore.platform)->title);
		intel_uncore.doctor(&options, first_failure, &buffer);
		return PAPI_ENOSUPP;
	}
	info->num_native_events = papi_errno;
	snprintf(info->description, sizeof(info->description), "%sUncore of %s, %d socket(s)",
		 intel_uncore.platform_simulated(intel_uncore.platform) ? INTEL_UNCORE_SIMULATED
			 ": "
									: "",
		 intel_uncore.platform_cpu(intel_uncore.platform)->title,
		 intel_uncore.platform_sockets(intel_uncore.platform));
	snprintf(info->support_version, sizeof(info->support_version), "%s",
		 intel_uncore.version());
	return PAPI_OK;
}

/* Initializes the component at its first use. */
static int check_n_initialize(void)
{
	PAPI_component_info_t *info = intel_uncore.info;
	char reason[PAPI_HUGE_STR_LEN] = "";

	if (info->initialized && intel_uncore.pid != getpid())
		return intel_uncore_fail(
			UNC_ERR_STATE,
			"another process has opened the counters; after a fork, the child calls "
			"PAPI_library_init() first");
	_papi_hwi_lock((int)intel_uncore.lock);
	if (!info->initialized && info->disabled == PAPI_EDELAY_INIT) {
		info->disabled = init_private(reason, sizeof(reason));
		info->initialized = info->disabled == PAPI_OK;
		if (!info->initialized)
			close_library();
		memcpy(info->disabled_reason, reason, sizeof(info->disabled_reason));
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return info->disabled;
}

/* Also called in a child after a fork: uses nothing of its parent. */
static int init_component(int cidx)
{
	PAPI_component_info_t *info = &_intel_uncore_vector.cmp_info;

	intel_uncore.info = info;
	close_library();
	intel_uncore.lock = (unsigned int)(PAPI_NUM_LOCK + NUM_INNER_LOCK + cidx);
	info->CmpIdx = cidx;
	snprintf(info->disabled_reason, sizeof(info->disabled_reason),
		 "Not initialized. Access component events to initialize it.");
	info->disabled = PAPI_EDELAY_INIT;
	return PAPI_EDELAY_INIT;
}

static int shutdown_thread(hwd_context_t *ctx)
{
	(void)ctx; /* nothing is kept per thread; without this, PAPI_unregister_thread() fails */
	return PAPI_OK;
}

static int init_control_state(hwd_control_state_t *ctl)
{
	(void)ctl; /* PAPI has cleared it; the session comes with the first event */
	return check_n_initialize();
}

/* ------------------------------------------------------------ the lists that PAPI gives */

/* PAPI has removed an event already, and does not add it back on failure: the remaining events must fit,
 * if necessary in more passes. */
static int remove_items(struct control *control, const unsigned int *codes, int count)
{
	int papi_errno = set_items(control, codes, count);

	if (papi_errno == PAPI_ECNFLCT) {
		control->left = INT_MAX;
		papi_errno = set_items(control, codes, count);
		if (papi_errno == PAPI_OK)
			control->left = intel_uncore.session_passes(control->session);
	}
	control->wanted = papi_errno == PAPI_OK ? count : -1;
	return papi_errno;
}

/* The one place that mends what PAPI does not do (remove_native_events() of papi_internal.c, 7.0 to 7.3). Where it
 * removes an event it puts the last one into the gap, but leaves the code of the removed one there; and it learns new
 * positions only where it has added an event. With the patch in upstream/ this is "ni_position = i" for each. */
static void mend_list(const struct control *control, NativeInfo_t *native, int count)
{
	int i, k, next = 0, known = count < control->wanted ? count : control->wanted;
	char used[MAX_ITEMS] = {0};

	for (i = 0; i < count && count < control->wanted; i++)
		for (k = 0; k < control->count; k++)
			if (control->room->items[k].position == native[i].ni_position)
				native[i].ni_papi_code = control->room->items[k].papi_code;
	for (i = 0; i < known; i++)
		if (native[i].ni_position >= 0 && native[i].ni_position < MAX_ITEMS)
			used[native[i].ni_position] = 1;
	for (i = known > 0 ? known : 0; i < count; i++) {
		while (used[next])
			next++;
		native[i].ni_position = next++;
	}
}

static int update_control_state(hwd_control_state_t *ctl, NativeInfo_t *native, int count,
				hwd_context_t *ctx)
{
	struct control *control = ctl;
	unsigned int codes[MAX_ITEMS];
	int i, papi_errno;

	(void)ctx;
	if (count == 0) { /* PAPI is about to free the control state, perhaps */
		close_control(control);
		control->left = control->wanted = 0;
		return PAPI_OK;
	}
	papi_errno = count > MAX_ITEMS ? PAPI_ECOUNT : check_n_initialize();
	if (papi_errno != PAPI_OK)
		return papi_errno;
	mend_list(control, native, count);
	for (i = 0; i < count; i++)
		codes[i] = (unsigned int)native[i].ni_event;
	if (count < control->wanted) {
		papi_errno = remove_items(control, codes, count);
	} else {
		papi_errno = set_items(control, codes, count);
		if (control->wanted >= 0 && papi_errno == PAPI_OK)
			control->wanted = count;
	}
	for (i = 0; i < count && papi_errno == PAPI_OK; i++) {
		control->room->items[i].papi_code = native[i].ni_papi_code;
		control->room->items[i].position = native[i].ni_position;
	}
	return papi_errno;
}

/* PAPI_set_multiplex(), with or without events; what PAPI knows of them stays. */
static int set_multiplex(struct control *control, _papi_int_option_t *option)
{
	struct item items[MAX_ITEMS];
	unsigned int codes[MAX_ITEMS] = {0};
	int i, papi_errno = PAPI_OK, count = control->count;

	for (i = 0; i < count; i++) {
		items[i] = control->room->items[i];
		codes[i] = items[i].code;
	}
	control->multiplexed = 1;
	if (count)
		papi_errno = set_items(control, codes, count);
	if (papi_errno != PAPI_OK) {
		control->multiplexed = 0;
		set_items(control, codes, count);
	}
	for (i = 0; i < count && i < control->count; i++)
		control->room->items[i] = items[i];
	option->multiplex.ns = TURN_MS * 1000000UL;
	return papi_errno;
}

/* ------------------------------------------------------------ counting */

/* PAPI would poll by a timer, read in the signal handler, and never call the user's handler. */
static int refuse_overflow(void)
{
	intel_uncore_fail(
		UNC_ERR_INVALID,
		"uncore counters cannot interrupt a program: no PAPI_overflow(), no PAPI_profil()");
	return PAPI_ENOSUPP;
}

static int start(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	ThreadInfo_t *thread = _papi_hwi_lookup_thread(0);
	EventSetInfo_t *set = thread ? thread->running_eventset[intel_uncore.info->CmpIdx] : NULL;
	struct control *control = ctl;
	int i, papi_errno, passes;

	(void)ctx;
	if (set && set->ctl_state == ctl && set->state & PAPI_OVERFLOWING)
		return refuse_overflow();
	/* PAPI would assign the values to the wrong events. */
	if (control->count != control->wanted)
		return intel_uncore_fail(
			UNC_ERR_CONFLICT,
			"an event could not be removed from the EventSet, or put back into it; "
			"PAPI_cleanup_eventset() lets it begin anew");
	passes = intel_uncore.session_passes(control->session);
	intel_uncore.session_turns(control->session, TURN_MS * ((unsigned int)passes + 1));
	papi_errno = fail_session(control, intel_uncore.session_start(control->session));
	if (papi_errno != PAPI_OK)
		return papi_errno;
	control->lost = 0;
	for (i = 0; i < control->count; i++)
		control->room->items[i].lost = 0;
	report_simulated();
	intel_uncore.session_news(control->session, report_partial, control);
	return PAPI_OK;
}

static int stop(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	struct control *control = ctl;
	int error = intel_uncore.session_stop(control->session);

	(void)ctx;
	if (error == UNC_ERR_BUSY &&
	    control->lost) /* a turn that found no counter: a read said so */
		return PAPI_OK;
	return fail_session(control, error);
}

/* A lost counter comes back only with a new start. A failed restore is reported, and does not prevent
 * the start. */
static int reset(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	struct control *control = ctl;

	if (!control->lost)
		return fail_session(control, intel_uncore.session_reset(control->session));
	stop(ctx, ctl);
	return start(ctx, ctl);
}

/* Reports why a value is meaningless: by the library's sentence, with the name if it needs time; or because the
 * units of a sum have changed since its start, though the library gives a value. */
static int fail_value(struct control *control, int item)
{
	unsigned int flags = control->room->read[item].flags;
	const char *without = "", *reason = intel_uncore.session_reason(control->session, item);
	char sentence[2 * PAPI_HUGE_STR_LEN];
	struct name name;
	int error = UNC_ERR_IO;

	intel_uncore_name(control->room->items[item].code, &name);
	snprintf(sentence, sizeof(sentence), "%s", reason);
	if (control->room->items[item].lost && !(flags & UNC_VALUE_LOST)) {
		without = intel_uncore.session_partial(control->session, item);
		snprintf(sentence, sizeof(sentence),
			 "%s: its units have changed since its start%s%s; PAPI_reset() begins a "
			 "new count",
			 name.text, *without ? ": it lacks " : "", without);
	} else if (flags & UNC_VALUE_WAITS || (!(flags & UNC_VALUE_LOST) &&
					       intel_uncore.session_passes(control->session) > 1)) {
		snprintf(sentence, sizeof(sentence), "%s: %s", name.text, reason);
		error = UNC_ERR_PASSES;
	}
	error = intel_uncore_fail(error, sentence);
	return control->room->items[item].lost ? PAPI_ECLOST : error;
}

/* A gauge is passed as the bits of a double, NaN if it is meaningless. An integer has no such value:
 * the read fails. */
static int set_value(struct control *control, int i)
{
	const struct unc_value *value = &control->room->read[i];
	struct item *item = &control->room->items[i];
	long long *out = &control->room->values[item->position];
	double number;

	/* What was counted before and what is counted later is not of the same units, and stays so. */
	item->lost |= value->flags & UNC_VALUE_LOST || value->of - value->units != value->lacked;
	number = value->flags & UNC_VALUE_VALID && !item->lost ? value->value : __builtin_nan("");
	control->lost |= item->lost;
	if (!item->lost)
		note_marks(control, i);
	if (item->metric && item->metric->kind == UNC_METRIC_GAUGE) {
		/* Says so: no NaN of nothing to nothing. */
		if (item->lost || value->flags & UNC_VALUE_WAITS)
			fail_value(control, i);
		memcpy(out, &number, sizeof(number));
		return PAPI_OK;
	}
	if (item->lost || !(value->flags & UNC_VALUE_VALID))
		return fail_value(control, i);
	*out = item->metric ? (long long)(number < 0 ? number - 0.5 : number + 0.5)
			    : (long long)value->count;
	return PAPI_OK;
}

/* 1: some values are not plain counts, or have something to be reported. */
static int read_counts(struct control *control)
{
	struct room *room = control->room;
	int i, rc = control->lost;

	if (!rc)
		rc = intel_uncore.session_counts(control->session, room->counts,
						 (size_t)control->count);
	for (i = 0; i < control->count && rc == 0; i++)
		room->values[room->items[i].position] = (long long)room->counts[i];
	return rc;
}

static int read_values(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags)
{
	struct control *control = ctl;
	int error = read_counts(control), i, papi_errno;

	(void)ctx;
	(void)flags;
	*values = control->room->values;
	if (error == 0)
		return PAPI_OK;
	if (error > 0)
		error = intel_uncore.session_read(control->session, control->room->read,
						  (size_t)control->count, sizeof(struct unc_value));
	papi_errno = fail_session(control, error);
	control->lost |= papi_errno != PAPI_OK;
	if (error == UNC_ERR_BUSY) /* a pass found no counter */
		papi_errno = PAPI_ECLOST;
	for (i = 0; i < control->count && papi_errno == PAPI_OK; i++)
		papi_errno = set_value(control, i);
	return papi_errno;
}

/* The counters belong to the node, whatever runs on it. */
static int set_domain(hwd_control_state_t *ctl, int domain)
{
	(void)ctl;
	return domain == PAPI_DOM_ALL ? PAPI_OK : PAPI_EINVAL;
}

static int ctl(hwd_context_t *ctx, int code, _papi_int_option_t *option)
{
	(void)ctx;
	if (code == PAPI_DOMAIN)
		return set_domain(NULL, option->domain.domain);
	if (code == PAPI_MULTIPLEX)
		return set_multiplex(option->multiplex.ESI->ctl_state, option);
	return code == PAPI_GRANUL ? PAPI_OK : PAPI_ENOSUPP; /* PAPI has compared it with ours */
}

/* ------------------------------------------------------------ names */

static int enum_events(unsigned int *code, int modifier)
{
	int papi_errno = check_n_initialize();

	return papi_errno == PAPI_OK ? intel_uncore_enum(code, modifier) : papi_errno;
}

static int name_to_code(const char *text, unsigned int *code)
{
	int papi_errno = check_n_initialize();

	return papi_errno == PAPI_OK ? intel_uncore_find(text, code) : papi_errno;
}

static int code_to_name(unsigned int code, char *text, int size)
{
	int papi_errno = check_n_initialize();
	struct name name;

	if (papi_errno == PAPI_OK)
		papi_errno = intel_uncore_name(code, &name);
	if (papi_errno == PAPI_OK && snprintf(text, (size_t)size, "%s", name.text) >= size)
		papi_errno = PAPI_EBUF;
	return papi_errno;
}

static int code_to_info(unsigned int code, PAPI_event_info_t *info)
{
	int papi_errno = check_n_initialize();

	return papi_errno == PAPI_OK ? intel_uncore_describe(code, info) : papi_errno;
}

papi_vector_t _intel_uncore_vector = {
	.cmp_info =
		{
			.name = "intel_uncore",
			.short_name = "intel_uncore",
			.description = "Uncore counters of Intel sockets: memory, LLC, links, PCIe",
			.version = "1.0",
			.num_native_events = -1,
			.num_cntrs = MAX_ITEMS,
			.num_mpx_cntrs = MAX_ITEMS,
			.default_domain = PAPI_DOM_ALL,
			.available_domains = PAPI_DOM_ALL,
			.default_granularity = PAPI_GRN_SYS,
			.available_granularities = PAPI_GRN_SYS,
			.kernel_multiplex = 1, /* PAPI leaves it to us */
			.cntr_umasks = 1,
		},
	.size =
		{
			.context = 1, /* nothing is kept per thread */
			.control_state = sizeof(struct control),
			.reg_value = 1,
			.reg_alloc = 1,
		},
	.init_component = init_component,
	.shutdown_component = shutdown_component,
	.shutdown_thread = shutdown_thread,
	.init_control_state = init_control_state,
	.update_control_state = update_control_state,
	.start = start,
	.stop = stop,
	.read = read_values,
	.reset = reset,
	.ctl = ctl,
	.set_domain = set_domain,
	.ntv_enum_events = enum_events,
	.ntv_name_to_code = name_to_code,
	.ntv_code_to_name = code_to_name,
	.ntv_code_to_info = code_to_info,
};
