/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore.c
 * @ingroup papi_components
 * @brief   The performance monitors of an Intel socket outside its cores, through libuncore.
 *
 * The component knows no hardware: it hands texts to libuncore and numbers back. The library is
 * loaded at the first use of the component, so that programs which never use it pay nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intel_uncore.h"

enum {
	MAX_ITEMS = 512 /* events of one EventSet; PAPI sizes its arrays by it */
};

/* Of an EventSet. */
struct control {
	struct unc_session *session; /* NULL while there are no events */
	struct control *next, **link;
	int count;
	int lost; /* a read has failed: the next reset starts anew */
	unsigned int codes[MAX_ITEMS];
	const struct unc_metric *metrics[MAX_ITEMS]; /* NULL: an event */
	struct unc_value read[MAX_ITEMS];
	long long values[MAX_ITEMS];
};

static int fail_session(struct control *control, int error)
{
	if (!error)
		return PAPI_OK;
	return intel_uncore_fail(error, intel_uncore.session_error(control->session));
}

/* ------------------------------------------------------------ sessions of EventSets */

static void close_control(struct control *control)
{
	/* A thread of the parent may have held the lock when this process was forked off. */
	int ours = getpid() == intel_uncore.pid;

	if (!control->session)
		return;
	intel_uncore.session_free(control->session);
	control->session = NULL;
	control->count = 0;
	if (ours)
		_papi_hwi_lock((int)intel_uncore.lock);
	*control->link = control->next;
	if (control->next)
		control->next->link = control->link;
	if (ours)
		_papi_hwi_unlock((int)intel_uncore.lock);
}

void intel_uncore_close_all(void)
{
	while (intel_uncore.controls) /* of threads that forgot to clean up */
		close_control(intel_uncore.controls);
}

/* A program may exit while it counts (with the high-level API it does): put back what was found. */
static void __attribute__((destructor)) stop_all(void)
{
	struct control *control;

	if (getpid() != intel_uncore.pid) /* a child that was forked has no say */
		return;
	for (control = intel_uncore.controls; control; control = control->next)
		intel_uncore.session_stop(control->session);
}

static int shutdown_thread(hwd_context_t *ctx)
{
	(void)ctx; /* nothing is kept per thread; without this, PAPI_unregister_thread() fails */
	return PAPI_OK;
}

static int init_control_state(hwd_control_state_t *ctl)
{
	(void)ctl; /* PAPI has cleared it; the session comes with the first event */
	return intel_uncore_check_n_initialize();
}

static int open_control(struct control *control)
{
	int error = intel_uncore.session_new(intel_uncore.platform, 0, &control->session);

	if (error)
		return intel_uncore_fail(error, intel_uncore.platform_error(intel_uncore.platform));
	_papi_hwi_lock((int)intel_uncore.lock);
	control->next = intel_uncore.controls;
	control->link = &intel_uncore.controls;
	if (control->next)
		control->next->link = &control->next;
	intel_uncore.controls = control;
	_papi_hwi_unlock((int)intel_uncore.lock);
	return PAPI_OK;
}

/* ------------------------------------------------------------ sums that lack a unit */

void intel_uncore_partial(const struct name *name, char *text, size_t size)
{
	struct unc_platform *platform = intel_uncore.platform;
	char spec[UNC_SPEC_MAX + PAPI_MIN_STR_LEN];
	struct unc_session *session;
	const struct unc_umask *umask;
	int id, error;
	size_t i;

	*text = '\0';
	if (!intel_uncore.incomplete || /* the usual case costs nothing */
	    intel_uncore.session_new(platform, UNC_SESSION_ROTATE, &session))
		return;
	error = intel_uncore.session_add_at(session, name->text, NULL, &id);
	/* An event that needs a umask is counted by the same units with any. */
	for (i = 0; error && name->event && name->event->needs_umask &&
		    (umask = intel_uncore.umask_get(platform, name->index, i));
	     i++) {
		snprintf(spec, sizeof(spec), "%s:%s", name->text, umask->name);
		error = intel_uncore.session_add_at(session, spec, NULL, &id);
	}
	if (!error)
		snprintf(text, size, "%s", intel_uncore.session_partial(session, id));
	intel_uncore.session_free(session);
}

/* PAPI gives the list of events anew whenever one is added or removed. */
static void warn_partial(struct control *control, int id, const struct name *name)
{
	const char *text = intel_uncore.session_partial(control->session, id);
	int tell;

	if (!*text)
		return;
	_papi_hwi_lock((int)intel_uncore.lock);
	tell = intel_uncore_text_tell(name->text, name->base);
	_papi_hwi_unlock((int)intel_uncore.lock);
	if (tell)
		PAPIWARN("intel_uncore: %s: partial sum, without %s", name->text, text);
}

static int add_item(struct control *control, unsigned int code)
{
	struct name name;
	int id, papi_errno = intel_uncore_name(code, &name);

	if (papi_errno == PAPI_OK)
		papi_errno = fail_session(control, intel_uncore.session_add_at(
							   control->session, name.text, NULL, &id));
	if (papi_errno != PAPI_OK)
		return papi_errno;
	warn_partial(control, id, &name);
	control->codes[control->count] = code;
	control->metrics[control->count++] = name.metric;
	return PAPI_OK;
}

/* PAPI gives the whole list after each change: one more, some less, or, after a failure, the one
 * before. Only what differs is done. */
static int update_control_state(hwd_control_state_t *ctl, NativeInfo_t *native, int count,
				hwd_context_t *ctx)
{
	struct control *control = ctl;
	int i, same = 0, papi_errno;

	(void)ctx;
	if (count == 0) { /* PAPI is about to free the control state, perhaps */
		close_control(control);
		return PAPI_OK;
	}
	papi_errno = intel_uncore_check_n_initialize();
	if (papi_errno != PAPI_OK)
		return papi_errno;
	if (count > MAX_ITEMS)
		return PAPI_ECOUNT;
	if (!control->session)
		papi_errno = open_control(control);
	while (same < count && same < control->count &&
	       control->codes[same] == (unsigned int)native[same].ni_event)
		same++;
	if (papi_errno == PAPI_OK && same < control->count) {
		papi_errno = fail_session(control, intel_uncore.session_clear(control->session));
		if (papi_errno == PAPI_OK)
			control->count = 0;
	}
	for (i = control->count; i < count && papi_errno == PAPI_OK; i++)
		papi_errno = add_item(control, (unsigned int)native[i].ni_event);
	for (i = 0; i < count; i++)
		native[i].ni_position = i;
	return papi_errno;
}

/* ------------------------------------------------------------- counting */

/* PAPI would look by a timer, read in the signal handler, and call nobody. */
static int refuse_overflow(EventSetInfo_t *set, int index, int threshold)
{
	(void)set;
	(void)index;
	(void)threshold;
	intel_uncore_fail(UNC_ERR_INVALID, "uncore counters have no interrupt that a program could "
					   "get: no PAPI_overflow(), no PAPI_profil()");
	return PAPI_ENOSUPP;
}

/* What stands still on a unit where somebody else counts is known once it is looked at. */
static void warn_of_still_units(struct control *control)
{
	struct name name;
	int i;

	for (i = 0; i < control->count; i++)
		if (intel_uncore_name(control->codes[i], &name) == PAPI_OK)
			warn_partial(control, i, &name);
}

static int start(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	ThreadInfo_t *thread = _papi_hwi_lookup_thread(0);
	EventSetInfo_t *set =
		thread ? thread->running_eventset[_intel_uncore_vector.cmp_info.CmpIdx] : NULL;
	struct control *control = ctl;
	int papi_errno;

	(void)ctx;
	if (set && set->ctl_state == ctl && set->state & PAPI_OVERFLOWING)
		return refuse_overflow(set, 0, 0); /* PAPI_OVERFLOW_FORCE_SW: nobody was asked */
	papi_errno = fail_session(control, intel_uncore.session_start(control->session));
	if (papi_errno == PAPI_OK) {
		control->lost = 0;
		warn_of_still_units(control);
	}
	return papi_errno;
}

static int stop(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	(void)ctx;
	return fail_session(ctl, intel_uncore.session_stop(((struct control *)ctl)->session));
}

/* A lost counter comes back with a new start only. What cannot be put back is said, and no reason
 * not to count. */
static int reset(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	struct control *control = ctl;

	if (!control->lost)
		return fail_session(control, intel_uncore.session_reset(control->session));
	stop(ctx, ctl);
	return start(ctx, ctl);
}

/* The library's sentence on a value that means nothing. */
static int fail_value(struct control *control, int item)
{
	int lost = control->read[item].flags & UNC_VALUE_LOST, papi_errno;

	papi_errno =
		intel_uncore_fail(UNC_ERR_IO, intel_uncore.session_reason(control->session, item));
	control->lost |= lost;
	return lost ? PAPI_ECLOST : papi_errno;
}

/* A gauge travels as the bits of a double, NaN if it means nothing. An integer has no such value:
 * the read fails. */
static int read_values(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags)
{
	struct control *control = ctl;
	const struct unc_value *value = control->read;
	double number;
	int i, is_gauge, papi_errno;

	(void)ctx;
	(void)flags;
	papi_errno =
		fail_session(control, intel_uncore.session_read(control->session, control->read,
								(size_t)control->count,
								sizeof(control->read[0])));
	control->lost |= papi_errno != PAPI_OK;
	for (i = 0; i < control->count && papi_errno == PAPI_OK; i++, value++) {
		is_gauge = control->metrics[i] && control->metrics[i]->kind == UNC_METRIC_GAUGE;
		number = value->flags & UNC_VALUE_VALID ? value->value : __builtin_nan("");
		if (is_gauge && value->flags & UNC_VALUE_LOST)
			fail_value(control, i); /* says so: no NaN of nothing to nothing */
		if (is_gauge)
			memcpy(&control->values[i], &number, sizeof(number));
		else if (!(value->flags & UNC_VALUE_VALID))
			papi_errno = fail_value(control, i);
		else if (!control->metrics[i])
			control->values[i] = (long long)value->count;
		else
			control->values[i] = (long long)(number < 0 ? number - 0.5 : number + 0.5);
	}
	*values = control->values;
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
	return code == PAPI_GRANUL ? PAPI_OK : PAPI_ENOSUPP; /* PAPI has compared it with ours */
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
			/* It has no interrupts. But only a component that claims them is asked. */
			.hardware_intr = 1,
			.kernel_profile = 1,
			.hardware_intr_sig = PAPI_INT_SIGNAL,
			.cntr_umasks = 1,
		},
	.size =
		{
			.context = 1, /* nothing is kept per thread */
			.control_state = sizeof(struct control),
			.reg_value = 1,
			.reg_alloc = 1,
		},
	.init_component = intel_uncore_init_component,
	.shutdown_component = intel_uncore_shutdown_component,
	.shutdown_thread = shutdown_thread,
	.init_control_state = init_control_state,
	.update_control_state = update_control_state,
	.start = start,
	.stop = stop,
	.read = read_values,
	.reset = reset,
	.ctl = ctl,
	.set_domain = set_domain,
	.set_overflow = refuse_overflow,
	.set_profile = refuse_overflow,
	.ntv_enum_events = intel_uncore_ntv_enum_events,
	.ntv_name_to_code = intel_uncore_ntv_name_to_code,
	.ntv_code_to_name = intel_uncore_ntv_code_to_name,
	.ntv_code_to_info = intel_uncore_ntv_code_to_info,
};
