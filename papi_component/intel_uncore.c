/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore.c
 * @ingroup papi_components
 * @brief   The performance monitors of an Intel socket outside its cores, through libuncore.
 *
 * The component knows no hardware: it hands texts to libuncore and numbers back. The library is
 * loaded at the first use of the component, so that programs which never use it pay nothing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intel_uncore.h"

#define LIBRARY "libuncore.so.0"

enum {
	MAX_ITEMS = 512 /* events of one EventSet; PAPI sizes its arrays by it */
};

/* Of an EventSet. */
struct control {
	struct unc_session *session;   /* NULL while there are no events */
	struct control *next, **link;
	int count;
	unsigned int codes[MAX_ITEMS];
	const struct unc_metric *metrics[MAX_ITEMS]; /* NULL: an event */
	struct unc_value read[MAX_ITEMS];
	long long values[MAX_ITEMS];
};

struct intel_uncore intel_uncore;
papi_vector_t _intel_uncore_vector;

int intel_uncore_fail(int error, const char *sentence)
{
	static const struct {
		int error, code;
	} codes[] = {
		{ UNC_ERR_INVALID, PAPI_EINVAL },    { UNC_ERR_NOT_FOUND, PAPI_ENOEVNT },
		{ UNC_ERR_RANGE, PAPI_EINVAL },      { UNC_ERR_CONFLICT, PAPI_ECNFLCT },
		{ UNC_ERR_BUSY, PAPI_ECNFLCT },      { UNC_ERR_PERMISSION, PAPI_EPERM },
		{ UNC_ERR_UNAVAILABLE, PAPI_ECMP },  { UNC_ERR_MEMORY, PAPI_ENOMEM },
		{ UNC_ERR_PASSES, PAPI_EMULPASS },
	};
	size_t i;

	SUBDBG("%s\n", sentence);
	PAPIERROR("intel_uncore: %s", sentence);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].error == error)
			return codes[i].code;
	return PAPI_ESYS;
}

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

/* ------------------------------------------------------------ first use and end */

/* $PAPI_UNCORE_ROOT alone if it is set; else what the loader finds, then the root built in. */
static int load_library(char *reason, size_t size)
{
#define FUNCTION_ROW(name) { "unc_" #name, (void **)&intel_uncore.name },
	static const struct {
		const char *name;
		void **address;
	} rows[] = { INTEL_UNCORE_FUNCTIONS(FUNCTION_ROW) };
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
		snprintf(reason, size, "libuncore cannot be loaded (%.512s); PAPI_UNCORE_ROOT may "
			 "name the directory it is installed in", dlerror());
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
	return PAPI_OK;
}

static void close_control(struct control *control)
{
	if (!control->session)
		return;
	intel_uncore.session_free(control->session);
	control->session = NULL;
	control->count = 0;
	_papi_hwi_lock((int)intel_uncore.lock);
	*control->link = control->next;
	if (control->next)
		control->next->link = control->link;
	_papi_hwi_unlock((int)intel_uncore.lock);
}

/* The one teardown, of a failed initialization and of shutdown. */
static int shutdown_component(void)
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
	_intel_uncore_vector.cmp_info.initialized = 0;
	_intel_uncore_vector.cmp_info.num_native_events = -1;
	return PAPI_OK;
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

static int init_private(char *reason, size_t size)
{
	PAPI_component_info_t *info = &_intel_uncore_vector.cmp_info;
	struct unc_options options = { .size = sizeof(options), .log = log_text };
	int error, papi_errno;

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
	papi_errno = intel_uncore_list(reason, size);
	if (papi_errno < 0)
		return papi_errno;
	info->num_native_events = papi_errno;
	snprintf(info->description, sizeof(info->description), "%sUncore of %s, %d socket(s)",
		 intel_uncore.platform_simulated(intel_uncore.platform) ?
		 INTEL_UNCORE_SIMULATED ": " : "",
		 intel_uncore.platform_cpu(intel_uncore.platform)->title,
		 intel_uncore.platform_sockets(intel_uncore.platform));
	snprintf(info->support_version, sizeof(info->support_version), "%s",
		 intel_uncore.version());
	return PAPI_OK;
}

int intel_uncore_check_n_initialize(void)
{
	PAPI_component_info_t *info = &_intel_uncore_vector.cmp_info;
	char reason[PAPI_HUGE_STR_LEN] = "";

	_papi_hwi_lock((int)intel_uncore.lock);
	if (!info->initialized && info->disabled == PAPI_EDELAY_INIT) {
		info->disabled = init_private(reason, sizeof(reason));
		info->initialized = info->disabled == PAPI_OK;
		if (!info->initialized)
			shutdown_component();
		memcpy(info->disabled_reason, reason, sizeof(info->disabled_reason));
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return info->disabled;
}

static int init_component(int cidx)
{
	PAPI_component_info_t *info = &_intel_uncore_vector.cmp_info;

	intel_uncore.lock = (unsigned int)(PAPI_NUM_LOCK + NUM_INNER_LOCK + cidx);
	info->CmpIdx = cidx;
	snprintf(info->disabled_reason, sizeof(info->disabled_reason),
		 "Not initialized. Access component events to initialize it.");
	info->disabled = PAPI_EDELAY_INIT;
	return PAPI_EDELAY_INIT;
}

/* ------------------------------------------------------------- counting */

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

static int add_item(struct control *control, unsigned int code)
{
	struct name name;
	int id, papi_errno = intel_uncore_name(code, &name);

	if (papi_errno == PAPI_OK)
		papi_errno = fail_session(control, name.event ?
			intel_uncore.session_add(control->session, name.text, &id) :
			intel_uncore.session_add_metric(control->session, name.text, &id));
	if (papi_errno != PAPI_OK)
		return papi_errno;
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
	int i, same = 0, papi_errno = intel_uncore_check_n_initialize();

	(void)ctx;
	if (papi_errno != PAPI_OK)
		return papi_errno;
	if (count == 0) { /* PAPI is about to free the control state, perhaps */
		close_control(control);
		return PAPI_OK;
	}
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

static int start(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	(void)ctx;
	return fail_session(ctl, intel_uncore.session_start(((struct control *)ctl)->session));
}

static int stop(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	(void)ctx;
	return fail_session(ctl, intel_uncore.session_stop(((struct control *)ctl)->session));
}

static int reset(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
	(void)ctx;
	return fail_session(ctl, intel_uncore.session_reset(((struct control *)ctl)->session));
}

/* A gauge travels as the bits of a double, NaN if it means nothing. An integer has no such value:
 * the read fails. */
static int read_values(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags)
{
	struct control *control = ctl;
	const struct unc_value *value = control->read;
	double number;
	int i, papi_errno;

	(void)ctx;
	(void)flags;
	papi_errno = fail_session(control,
		intel_uncore.session_read(control->session, control->read, (size_t)control->count));
	for (i = 0; i < control->count && papi_errno == PAPI_OK; i++, value++) {
		number = value->flags & UNC_VALUE_VALID ? value->value : __builtin_nan("");
		if (control->metrics[i] && control->metrics[i]->kind == UNC_METRIC_GAUGE)
			memcpy(&control->values[i], &number, sizeof(number));
		else if (!(value->flags & UNC_VALUE_VALID))
			papi_errno = intel_uncore_fail(UNC_ERR_IO, "a counter gave no valid value");
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
	.cmp_info = {
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
		.hardware_intr_sig = PAPI_INT_SIGNAL,
		.cntr_umasks = 1,
	},
	.size = {
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
	.ntv_enum_events = intel_uncore_ntv_enum_events,
	.ntv_name_to_code = intel_uncore_ntv_name_to_code,
	.ntv_code_to_name = intel_uncore_ntv_code_to_name,
	.ntv_code_to_info = intel_uncore_ntv_code_to_info,
};
