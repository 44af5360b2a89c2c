/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectd plugin, with a daemon of our own around it and simulated hardware below: for
 * the tests test_collectd*.c. */
#ifndef UNC_TEST_COLLECTD_KIT_H
#define UNC_TEST_COLLECTD_KIT_H

#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "uncore.h"

/* What the session answers where a test says so; else the library does. */
static struct {
	bool on;
	int passes;
	int error;
	int start_error;     /* of the machine that is configured */
	unsigned version;    /* of the library; 0: its own */
	int open_error;      /* of a machine */
	const char *machine; /* in place of the one that is configured */
	bool replaced;       /* it is the one that was opened last */
	unsigned opens;
	int starts, stops; /* since the test asked last */
	unsigned round;    /* of the session's passes, ms */
	struct unc_value value[4];
	int devices_error;   /* of a look at what is below a stack */
	const char *devices; /* what all of them are called; NULL: by their own names */
	unsigned looks;
} script;

static unsigned script_version(void)
{
	return script.version ? script.version : unc_api_version();
}

static int script_open(const struct unc_options *options, struct unc_platform **out)
{
	struct unc_options wanted = *options;

	script.opens++;
	script.replaced = script.machine != NULL;
	if (script.machine)
		wanted.sim = script.machine;
	return script.open_error ? script.open_error : unc_platform_open(&wanted, out);
}

static int script_doctor(const struct unc_options *options, unc_check_fn fn, void *user)
{
	struct unc_options wanted = *options;

	if (script.machine)
		wanted.sim = script.machine;
	return unc_doctor(&wanted, fn, user);
}

static int script_passes(const struct unc_session *session)
{
	return script.on ? script.passes : unc_session_passes(session);
}

static int script_read(struct unc_session *session, struct unc_value *values, size_t n, size_t size)
{
	if (script.error)
		return script.error;
	if (!script.on)
		return unc_session_read(session, values, n, size);
	memcpy(values, script.value, n * sizeof(*values));
	return 0;
}

static int script_start(struct unc_session *session)
{
	script.starts++;
	return script.start_error && !script.replaced ? script.start_error
						      : unc_session_start(session);
}

static int script_stop(struct unc_session *session)
{
	script.stops++;
	return unc_session_stop(session);
}

static int script_turns(struct unc_session *session, unsigned ms)
{
	script.round = ms;
	return unc_session_turns(session, ms);
}

static const char *script_reason(struct unc_session *session, int id)
{
	static char text[32];

	if (!script.on)
		return unc_session_reason(session, id);
	snprintf(text, sizeof(text), "the reason of item %d", id);
	return text;
}

struct told {
	unc_device_fn fn;
	void *user;
};

static int script_device(void *user, const struct unc_device *device)
{
	const struct told *told = user;
	struct unc_device other = *device;

	if (script.devices)
		other.names = script.devices;
	return told->fn(told->user, &other);
}

static int script_devices(struct unc_platform *platform, const struct unc_unit *unit,
			  unc_device_fn fn, void *user)
{
	struct told told = {fn, user};

	script.looks++;
	if (script.devices_error)
		return script.devices_error;
	return unc_unit_devices(platform, unit, script_device, &told);
}

#define unc_api_version script_version
#define unc_platform_open script_open
#define unc_doctor script_doctor
#define unc_session_passes script_passes
#define unc_session_read script_read
#define unc_session_start script_start
#define unc_session_stop script_stop
#define unc_session_turns script_turns
#define unc_session_reason script_reason
#define unc_unit_devices script_devices
#include "../collectd_plugin/intel_uncore.c"
#include "../collectd_plugin/intel_uncore_devices.c"
#include "../collectd_plugin/intel_uncore_items.c"
#include "../collectd_plugin/intel_uncore_open.c"
#include "../collectd_plugin/intel_uncore_read.c"
#include "collectd_host.h"
#include "turns_kit.h"

static inline void begin(void)
{
	memset(&host, 0, sizeof(host));
	memset(&script, 0, sizeof(script));
	script.passes = 1;
	host.now = TIME_T_TO_CDTIME_T(1000);
	unsetenv("UNCORE_SIM");
	module_register();
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.init);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.shutdown);
	CU_ASSERT_PTR_NULL(host.read);
}

/* Shutdown, which must leave nothing behind. */
static inline void end(void)
{
	static const unsigned char nothing[sizeof(self)];

	CHECK_NUMBER(host.shutdown(), 0);
	CU_ASSERT(memcmp(&self, nothing, sizeof(self)) == 0);
}

/* An interval in which the machine's time passes as well. */
static inline void read_slowly(void)
{
	let_time_pass(self.platform, self.session, 10000);
	host.called = true;
	host.n_sent = 0;
	host.now += host.step;
	CHECK_NUMBER(host.read(NULL), 0);
}

/* The configuration was refused: these errors, no read callback, nothing left behind. */
static inline void check_refused(unsigned n, const char *sentence)
{
	CU_ASSERT(host.init() != 0);
	CU_ASSERT_PTR_NULL(host.read);
	CHECK_NUMBER(errors(), n);
	CU_ASSERT(logged(sentence));
	end();
}

#endif
