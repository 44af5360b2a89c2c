/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_init.c
 * @ingroup papi_components
 * @brief   First use and end of component intel_uncore: it opens the machine.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intel_uncore.h"

/* All but the texts, which codes that PAPI has given out stand for. In a child of the process that
 * it belongs to, the library frees and touches no counter. */
static void release(void)
{
	intel_uncore_close_all();
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

int intel_uncore_shutdown_component(void)
{
	if (intel_uncore.pid == getpid())
		intel_uncore_sum_up();
	release();
	intel_uncore_texts_forget(); /* as PAPI does with its codes */
	return PAPI_OK;
}

struct text_buffer {
	char *text;
	size_t size;
};

static int first_failure(void *user, const struct unc_check *check)
{
	const struct text_buffer *reason = user;

	if (!check->ok)
		snprintf(reason->text, reason->size,
			 "%s: no uncore unit can be read: %.400s; %.400s",
			 intel_uncore.platform_cpu(intel_uncore.platform)->title, check->detail,
			 check->remedy);
	return !check->ok; /* it is the cause of the others */
}

/* Why nothing can be counted, and what to do about it: better than the reason of some unit. */
static void explain(char *reason, size_t size, struct unc_options *options)
{
	struct text_buffer buffer = {reason, size};

	options->log = NULL; /* it has been said */
	snprintf(reason, size, "%s: no uncore unit can be read",
		 intel_uncore.platform_cpu(intel_uncore.platform)->title);
	intel_uncore.doctor(options, first_failure, &buffer);
}

static int init_private(char *reason, size_t size)
{
	PAPI_component_info_t *info = intel_uncore.info;
	struct unc_options options = {.size = sizeof(options), .log = intel_uncore_log};
	int error, papi_errno;

	if (intel_uncore.pid != getpid()) /* what the parent has counted it tells itself */
		memset(intel_uncore.doubts, 0, sizeof(intel_uncore.doubts));
	intel_uncore.pid = getpid();
	papi_errno = intel_uncore_load(reason, size);
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
		explain(reason, size, &options);
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

int intel_uncore_check_n_initialize(void)
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
			release();
		memcpy(info->disabled_reason, reason, sizeof(info->disabled_reason));
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return info->disabled;
}

/* Also in the child of a process that has initialized it: nothing of the parent's is used. */
int intel_uncore_init_component(PAPI_component_info_t *info, int cidx)
{
	intel_uncore.info = info;
	release();
	intel_uncore.lock = (unsigned int)(PAPI_NUM_LOCK + NUM_INNER_LOCK + cidx);
	info->CmpIdx = cidx;
	snprintf(info->disabled_reason, sizeof(info->disabled_reason),
		 "Not initialized. Access component events to initialize it.");
	info->disabled = PAPI_EDELAY_INIT;
	return PAPI_EDELAY_INIT;
}
