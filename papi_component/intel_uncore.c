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
	/* What stands still on a unit where somebody else counts is known once it is looked at. */
	for (i = 0; i < control->count; i++)
		intel_uncore_warn_partial(control, i);
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

/* Why a value means nothing: the library's sentence, with the name where it needs time. */
static int fail_value(struct control *control, int item)
{
	unsigned int flags = control->read[item].flags;
	const char *reason = intel_uncore.session_reason(control->session, item);
	char sentence[PAPI_HUGE_STR_LEN];
	struct name name;
	int papi_errno;

	if (needs_time(control, flags)) {
		intel_uncore_name(control->items[item].code, &name);
		snprintf(sentence, sizeof(sentence), "%s: %s", name.text, reason);
		return intel_uncore_fail(UNC_ERR_PASSES, sentence);
	}
	papi_errno = intel_uncore_fail(UNC_ERR_IO, reason);
	if (!(flags & UNC_VALUE_LOST))
		return papi_errno;
	control->lost = 1;
	return PAPI_ECLOST;
}

/* A sum has lost a unit, nothing shows whether what it counts is all, or its counters were not read
 * at one time: each is said once. */
static void warn_doubt(struct control *control, int item)
{
	const unsigned int marks = UNC_VALUE_PARTIAL | UNC_VALUE_UNPROVEN | UNC_VALUE_LATE;
	unsigned int doubt = control->read[item].flags & marks & ~control->items[item].told;
	struct name name;

	control->items[item].told |= doubt;
	if (doubt & UNC_VALUE_PARTIAL)
		intel_uncore_warn_partial(control, item);
	if (!(doubt & ~UNC_VALUE_PARTIAL))
		return;
	if (intel_uncore_name(control->items[item].code, &name) == PAPI_OK)
		PAPIWARN("intel_uncore: %s: %s", name.text,
			 intel_uncore.session_reason(control->session, item));
}

/* A gauge travels as the bits of a double, NaN if it means nothing. An integer has no such value:
 * the read fails. */
static int set_value(struct control *control, int item)
{
	const struct unc_value *value = &control->read[item];
	const struct unc_metric *metric = control->items[item].metric;
	long long *out = &control->values[control->items[item].position];
	double number = value->flags & UNC_VALUE_VALID ? value->value : __builtin_nan("");

	warn_doubt(control, item);
	if (metric && metric->kind == UNC_METRIC_GAUGE) {
		/* Says so: no NaN of nothing to nothing. */
		if (value->flags & (UNC_VALUE_LOST | UNC_VALUE_WAITS))
			fail_value(control, item);
		memcpy(out, &number, sizeof(number));
		return PAPI_OK;
	}
	if (!(value->flags & UNC_VALUE_VALID))
		return fail_value(control, item);
	*out = metric ? (long long)(number < 0 ? number - 0.5 : number + 0.5)
		      : (long long)value->count;
	return PAPI_OK;
}

static int read_values(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags)
{
	struct control *control = ctl;
	int error = intel_uncore.session_read(control->session, control->read,
					      (size_t)control->count, sizeof(control->read[0])),
	    i, papi_errno = intel_uncore_fail_session(control, error);

	(void)ctx;
	(void)flags;
	control->lost |= papi_errno != PAPI_OK;
	if (error == UNC_ERR_BUSY) /* a pass found no counter */
		papi_errno = PAPI_ECLOST;
	for (i = 0; i < control->count && papi_errno == PAPI_OK; i++)
		papi_errno = set_value(control, i);
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
