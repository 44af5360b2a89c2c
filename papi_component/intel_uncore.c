/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore.c
 * @ingroup papi_components
 * @brief   The performance monitors of an Intel socket outside its cores, through libuncore.
 *
 * The component knows no hardware: it hands texts to libuncore and numbers back. The library is
 * loaded at the first use of the component, so that programs which never use it pay nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "intel_uncore.h"

extern papi_vector_t _intel_uncore_vector;

/* A program may exit while it counts (with the high-level API it does): restore what was found. */
static void __attribute__((destructor)) stop_all(void)
{
	struct control *control;

	if (getpid() != intel_uncore.pid) /* a child that was forked has no say */
		return;
	intel_uncore_sum_up();
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

/* PAPI would look by a timer, read in the signal handler, and call nobody. */
static int refuse_overflow(void)
{
	intel_uncore_fail(UNC_ERR_INVALID, "uncore counters have no interrupt that a program could "
					   "get: no PAPI_overflow(), no PAPI_profil()");
	return PAPI_ENOSUPP;
}

/* Ranks of an MPI job are started by one process of their node. The first of them that comes here holds a
 * name that the kernel gives to one process at a time, and takes back when it ends. */
static int first_rank_of_node(void)
{
	static const char *const ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
					    "PALS_LOCAL_RANKID", "SLURM_LOCALID", "PMIX_RANK"};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	size_t i, n = sizeof(ranks) / sizeof(ranks[0]);
	int fd, taken;

	for (i = 0; i < n && !getenv(ranks[i]); i++)
		;
	fd = i < n ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	if (fd < 0)
		return 1;
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
		 "intel_uncore " INTEL_UNCORE_SIMULATED " %ld %ld", (long)getuid(),
		 (long)getppid());
	taken = bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0 && errno == EADDRINUSE;
	if (taken)
		close(fd);
	return !taken;
}

/* PAPI's high-level API writes the CPU's name into its report, and nothing of us but our own. */
static void mark_report(void)
{
	char *model = _papi_hwi_system_info.hw_info.model_string, host[PAPI_MAX_STR_LEN];

	snprintf(host, sizeof(host), "%s", model);
	snprintf(model, sizeof(_papi_hwi_system_info.hw_info.model_string),
		 "intel_uncore: " INTEL_UNCORE_SIMULATED "; %.90s", host);
}

/* Once, whatever PAPI may print: a variable that was forgotten must not end in a paper. */
static void tell_simulated(void)
{
	int tell;

	_papi_hwi_lock((int)intel_uncore.lock);
	tell = intel_uncore.told_by != intel_uncore.pid &&
	       intel_uncore.platform_simulated(intel_uncore.platform);
	if (tell)
		intel_uncore.told_by = intel_uncore.pid;
	_papi_hwi_unlock((int)intel_uncore.lock);
	if (tell)
		mark_report();
	if (tell && first_rank_of_node())
		fprintf(stderr,
			"intel_uncore: " INTEL_UNCORE_SIMULATED
			" %s (UNCORE_SIM): no number comes from hardware\n",
			intel_uncore.platform_cpu(intel_uncore.platform)->name);
}

/* An event that could not be removed, or put back: PAPI would take the values of others for its own. */
static int check_events(const struct control *control)
{
	if (control->count == control->wanted)
		return PAPI_OK;
	return intel_uncore_fail(UNC_ERR_CONFLICT,
				 "an event could not be removed from the EventSet, or put back "
				 "into it; PAPI_cleanup_eventset() lets it begin anew");
}

static int count_unit(void *user, const struct unc_unit *unit)
{
	(void)unit;
	++*(unsigned int *)user;
	return 0;
}

/* What stands still on a unit where somebody else counts is known once it is looked at. */
static void note_missing(struct control *control, int id)
{
	control->items[id].missing = 0;
	control->items[id].lost = 0;
	intel_uncore.session_missing(control->session, id, count_unit, &control->items[id].missing);
	intel_uncore_warn_partial(control, id);
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
	papi_errno = check_events(control);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	passes = intel_uncore.session_passes(control->session);
	intel_uncore.session_turns(control->session,
				   INTEL_UNCORE_TURN_MS * ((unsigned int)passes + 1));
	papi_errno =
		intel_uncore_fail_session(control, intel_uncore.session_start(control->session));
	if (papi_errno != PAPI_OK)
		return papi_errno;
	control->lost = 0;
	tell_simulated();
	for (i = 0; i < control->count; i++)
		note_missing(control, i);
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
	return intel_uncore_fail_session(control, error);
}

/* A lost counter comes back with a new start only. What cannot be restored is said, and no reason
 * not to count. */
static int reset(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	struct control *control = ctl;

	if (!control->lost)
		return intel_uncore_fail_session(control,
						 intel_uncore.session_reset(control->session));
	stop(ctx, ctl);
	return start(ctx, ctl);
}

/* A pass that the value needs had no turn yet, or what has its turn was hardly measured: later it
 * will have been. */
static int needs_time(const struct control *control, unsigned int flags)
{
	return flags & UNC_VALUE_WAITS ||
	       (!(flags & UNC_VALUE_LOST) && intel_uncore.session_passes(control->session) > 1);
}

/* Whether a sum is not over the units of its start, or a counter is lost: what was counted before
 * and what is counted later is not of the same, and stays so until counting begins anew. */
static int is_lost(struct item *item, const struct unc_value *value)
{
	item->lost |= value->flags & UNC_VALUE_LOST || value->of - value->units != item->missing;
	return item->lost;
}

/* Of a sum that has a value by the library; without the units that it lacks now, if there are some. */
static int fail_sum(struct control *control, int item, const char *name)
{
	const char *without = intel_uncore.session_partial(control->session, item);
	char sentence[2 * PAPI_HUGE_STR_LEN];

	snprintf(sentence, sizeof(sentence),
		 "%s: its units are not those of its start%s%s; PAPI_reset() begins anew", name,
		 *without ? ": it is without " : "", without);
	intel_uncore_fail(UNC_ERR_IO, sentence);
	return PAPI_ECLOST;
}

/* Why a value means nothing: the library's sentence, with the name where it needs time. */
static int fail_value(struct control *control, int item)
{
	unsigned int flags = control->read[item].flags;
	const char *reason = intel_uncore.session_reason(control->session, item);
	char sentence[PAPI_HUGE_STR_LEN];
	struct name name;

	intel_uncore_name(control->items[item].code, &name);
	if (control->items[item].lost && !(flags & UNC_VALUE_LOST))
		return fail_sum(control, item, name.text);
	if (needs_time(control, flags)) {
		snprintf(sentence, sizeof(sentence), "%s: %s", name.text, reason);
		return intel_uncore_fail(UNC_ERR_PASSES, sentence);
	}
	intel_uncore_fail(UNC_ERR_IO, reason);
	return flags & UNC_VALUE_LOST ? PAPI_ECLOST : intel_uncore_code(UNC_ERR_IO);
}

/* Nothing shows whether what is counted is all, or the counters were not read at one time. */
static void note_doubts(const struct control *control, int item)
{
	unsigned int flags = control->read[item].flags;
	struct name name;

	if (!(flags & UNC_VALUE_VALID) || !(flags & (UNC_VALUE_UNPROVEN | UNC_VALUE_LATE)) ||
	    intel_uncore_name(control->items[item].code, &name) != PAPI_OK)
		return;
	if (flags & UNC_VALUE_UNPROVEN)
		intel_uncore_doubt(INTEL_UNCORE_UNPROVEN, name.text,
				   intel_uncore.session_reason(control->session, item));
	if (flags & UNC_VALUE_LATE)
		intel_uncore_doubt(INTEL_UNCORE_LATE, name.text,
				   intel_uncore.session_reason(control->session, item));
}

/* A gauge travels as the bits of a double, NaN if it means nothing. An integer has no such value:
 * the read fails. */
static int set_value(struct control *control, int item)
{
	const struct unc_value *value = &control->read[item];
	const struct unc_metric *metric = control->items[item].metric;
	long long *out = &control->values[control->items[item].position];
	int lost = is_lost(&control->items[item], value);
	double number = value->flags & UNC_VALUE_VALID && !lost ? value->value : __builtin_nan("");

	control->lost |= lost;
	if (!lost)
		note_doubts(control, item);
	if (metric && metric->kind == UNC_METRIC_GAUGE) {
		/* Says so: no NaN of nothing to nothing. */
		if (lost || value->flags & UNC_VALUE_WAITS)
			fail_value(control, item);
		memcpy(out, &number, sizeof(number));
		return PAPI_OK;
	}
	if (lost || !(value->flags & UNC_VALUE_VALID))
		return fail_value(control, item);
	*out = metric ? (long long)(number < 0 ? number - 0.5 : number + 0.5)
		      : (long long)value->count;
	return PAPI_OK;
}

/* 1: these are no plain counts, or there is something to be told of them. */
static int read_counts(struct control *control)
{
	int i, simple = 1, rc;

	for (i = 0; i < control->count && simple; i++)
		simple = !control->items[i].lost;
	rc = simple ? intel_uncore.session_counts(control->session, control->counts,
						  (size_t)control->count)
		    : 1;
	for (i = 0; i < control->count && rc == 0; i++)
		control->values[control->items[i].position] = (long long)control->counts[i];
	return rc;
}

static int read_values(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags)
{
	struct control *control = ctl;
	int error = read_counts(control), i, papi_errno;

	(void)ctx;
	(void)flags;
	*values = control->values;
	if (error == 0)
		return PAPI_OK;
	if (error > 0)
		error = intel_uncore.session_read(control->session, control->read,
						  (size_t)control->count, sizeof(control->read[0]));
	papi_errno = intel_uncore_fail_session(control, error);
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
		return intel_uncore_multiplex(option->multiplex.ESI->ctl_state, option);
	return code == PAPI_GRANUL ? PAPI_OK : PAPI_ENOSUPP; /* PAPI has compared it with ours */
}

static int init_component(int cidx)
{
	return intel_uncore_init_component(&_intel_uncore_vector.cmp_info, cidx);
}

static int update_control_state(hwd_control_state_t *ctl, NativeInfo_t *native, int count,
				hwd_context_t *ctx)
{
	int papi_errno;

	(void)ctx;
	if (count == 0) { /* PAPI is about to free the control state, perhaps */
		intel_uncore_empty(ctl);
		return PAPI_OK;
	}
	papi_errno = intel_uncore_check_n_initialize();
	return papi_errno == PAPI_OK ? intel_uncore_update(ctl, native, count) : papi_errno;
}

/* ------------------------------------------------------------ names */

static int enum_events(unsigned int *code, int modifier)
{
	int papi_errno = intel_uncore_check_n_initialize();

	return papi_errno == PAPI_OK ? intel_uncore_enum(code, modifier) : papi_errno;
}

static int name_to_code(const char *text, unsigned int *code)
{
	int papi_errno = intel_uncore_check_n_initialize();

	return papi_errno == PAPI_OK ? intel_uncore_find(text, code) : papi_errno;
}

static int code_to_name(unsigned int code, char *text, int size)
{
	int papi_errno = intel_uncore_check_n_initialize();
	struct name name;

	if (papi_errno == PAPI_OK)
		papi_errno = intel_uncore_name(code, &name);
	if (papi_errno == PAPI_OK && snprintf(text, (size_t)size, "%s", name.text) >= size)
		papi_errno = PAPI_EBUF;
	return papi_errno;
}

static int code_to_info(unsigned int code, PAPI_event_info_t *info)
{
	int papi_errno = intel_uncore_check_n_initialize();

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
			.num_cntrs = INTEL_UNCORE_MAX_ITEMS,
			.num_mpx_cntrs = INTEL_UNCORE_MAX_ITEMS,
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
	.ntv_enum_events = enum_events,
	.ntv_name_to_code = name_to_code,
	.ntv_code_to_name = code_to_name,
	.ntv_code_to_info = code_to_info,
};
