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
	const char *devices; /* what is below all ports now; NULL: what the library says */
	unsigned told[4];    /* bits of news that have begun */
	bool read;           /* values were given */
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
	script.read = true;
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

/* As unc_session_news() of values that come from a test (tests/test_news.c has the library's). */
static int script_news(struct unc_session *session, unc_news_fn fn, void *user)
{
	char text[32];

	if (!script.on && !script.devices)
		return unc_session_news(session, fn, user);
	for (int i = 0; i < 4 && script.read; i++) {
		unsigned flags = script.value[i].flags, *told = &script.told[i], is = 0;

		is |= !(flags & (UNC_VALUE_VALID | UNC_VALUE_FRESH)) << UNC_NEWS_NO_VALUE;
		is |= ((flags & UNC_VALUE_INTERVAL_LATE) != 0) << UNC_NEWS_MARK;
		snprintf(text, sizeof(text), "the reason of item %d", i);
		for (int kind = 0; kind <= UNC_NEWS_MARK; kind++)
			if ((is ^ *told) >> kind & 1 && (kind != UNC_NEWS_MARK || is >> kind & 1))
				fn(user, &(struct unc_news){
						 i, (enum unc_news_kind)kind, is >> kind & 1,
						 is >> kind & 1 ? text : "",
						 kind == UNC_NEWS_MARK ? unc_mark_get(1) : NULL});
		*told = is;
	}
	for (size_t i = 0;
	     script.devices &&
	     unc_session_item(session, (int)i,
			      &(struct unc_item){.size = sizeof(struct unc_item)}) == 0;
	     i++)
		fn(user, &(struct unc_news){(int)i, UNC_NEWS_DEVICES, 1, script.devices, NULL});
	script.devices = NULL;
	return 0;
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
#define unc_session_news script_news
#include "../collectd_plugin/intel_uncore.c"
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
