/* SPDX-License-Identifier: BSD-3-Clause */
/* collectd plugin intel_uncore: what happens in an interval. */
#include "intel_uncore.h"

#include <math.h>
#include <stdio.h>

static int count_unit(void *user, const struct unc_unit *unit)
{
	(void)unit;
	++*(unsigned *)user;
	return 0;
}

int intel_uncore_start(void)
{
	int status = unc_session_start(self.session);

	for (size_t i = 0; i < self.n_items && status == 0; i++) {
		struct item *item = &self.items[i];

		item->missing = 0;
		unc_session_missing(self.session, item->id, count_unit, &item->missing);
	}
	self.running = status == 0;
	self.begun = cdtime();
	return status;
}

/* A unit that cannot be reached any more would keep all others from counting: the machine is looked
 * at anew, once, and it is missing. */
static int start_again(void)
{
	int status = intel_uncore_start();

	if ((status != UNC_ERR_IO && status != UNC_ERR_UNAVAILABLE) || self.reopened)
		return status;
	WARNING(LOG "%s; looking for the units anew", unc_session_error(self.session));
	intel_uncore_reopen();
	return intel_uncore_start();
}

/* A total grows by what the interval counted, so it never shrinks and its rate is the one measured.
 * After an interval without a value it begins anew, below what was sent last: collectd and its back
 * ends show a gap, not a rate over both. */
static void dispatch(struct item *item, double interval, cdtime_t now)
{
	if (item->going)
		item->total += fmax(interval, 0);
	else if (item->begun)
		item->total = floor(fmin(item->total, 1)) - 1;
	item->begun = item->going = true;
	if (item->is_total)
		item->value.derive = (derive_t)fmod(item->total, 0x1p63);
	else
		item->value.gauge = interval * item->scale;
	item->vl.values = &item->value;
	item->vl.values_len = 1;
	item->vl.time = now;
	item->vl.interval = self.interval;
	plugin_dispatch_values(&item->vl);
}

/* Whether a value that is sent is late, and none was for an hour: a machine that is busy now and
 * then must not fill the log. */
static bool is_late_again(struct item *item, cdtime_t now)
{
	cdtime_t last = item->late;

	if (!item->going || !(self.values[item->id].flags & UNC_VALUE_INTERVAL_LATE))
		return false;
	item->late = now;
	return !last || now - last > TIME_T_TO_CDTIME_T(3600);
}

/* One look at the counters makes many values late: one line for all of them. */
static void tell_late(cdtime_t now)
{
	const struct item *first = NULL;
	size_t n = 0;
	char more[32] = "";

	for (size_t i = 0; i < self.n_items; i++)
		if (is_late_again(&self.items[i], now) && n++ == 0)
			first = &self.items[i];
	if (n > 1)
		snprintf(more, sizeof(more), " and %zu more", n - 1);
	if (n)
		WARNING(LOG "%s/%s%s: late: %s", first->vl.plugin_instance, first->vl.type_instance,
			more, unc_session_reason(self.session, first->id));
}

/* Sends the value if there is one. A ratio of nothing to nothing is nothing to complain about. */
static void send_item(struct item *item, cdtime_t now)
{
	const struct unc_value *value = &self.values[item->id];
	/* Since the start there may be no value, and one of the interval. */
	bool valid = value->flags & UNC_VALUE_VALID || value->interval_seconds > 0, lost;

	if (!valid && (item->is_total || value->flags & UNC_VALUE_LOST))
		c_complain_once(LOG_WARNING, &item->complaint, LOG "%s/%s: no value: %s",
				item->vl.plugin_instance, item->vl.type_instance,
				unc_session_reason(self.session, item->id));
	else if (valid)
		c_release(LOG_INFO, &item->complaint, LOG "%s/%s: values again",
			  item->vl.plugin_instance, item->vl.type_instance);
	lost = value->flags & UNC_VALUE_PARTIAL && value->of - value->units > item->missing;
	if (lost && !item->lost) /* than were told */
		item->told &= ~(unsigned)UNC_VALUE_PARTIAL;
	item->lost = lost;
	if (value->flags & UNC_VALUE_PARTIAL)
		intel_uncore_tell_partial(item);
	else if (valid && item->told & UNC_VALUE_PARTIAL)
		INFO(LOG "%s/%s: whole again", item->vl.plugin_instance, item->vl.type_instance);
	item->told &= value->flags | ~(unsigned)UNC_VALUE_PARTIAL;
	if (value->flags & UNC_VALUE_UNPROVEN & ~item->told)
		WARNING(LOG "%s/%s: %s", item->vl.plugin_instance, item->vl.type_instance,
			unc_session_reason(self.session, item->id));
	item->told |= value->flags & UNC_VALUE_UNPROVEN;
	if (valid && value->flags & UNC_VALUE_FRESH && !isnan(value->interval) &&
	    (!(value->flags & UNC_VALUE_PARTIAL) || intel_uncore_is_sent(item)))
		dispatch(item, value->interval, now);
	else
		item->going = false;
}

/* The next call starts anew. Not a failure to collectd, which would wait twice as long after each. */
static int read_failed(void)
{
	intel_uncore_wait(unc_session_error(self.session));
	for (size_t i = 0; i < self.n_items; i++)
		self.items[i].going = false;
	self.running = false;
	return 0;
}

/* When the counters were read: a busy machine may take long before or after it, but the library
 * knows how long the interval was. */
static cdtime_t time_of_look(cdtime_t called)
{
	cdtime_t now = cdtime(), look;
	double interval = 0;

	unc_session_time(self.session, NULL, &interval);
	look = self.begun + DOUBLE_TO_CDTIME_T(interval);
	return look < called ? called : look > now ? now : look;
}

static int end_interval(void)
{
	cdtime_t called = cdtime(), now;

	if (unc_session_read(self.session, self.values, self.n_values, sizeof(*self.values)) != 0)
		return read_failed();
	c_release(LOG_INFO, &self.complaint, LOG "counting again");
	self.reopened = false;
	self.begun = now = time_of_look(called);
	intel_uncore_look_up(now);
	for (size_t i = 0; i < self.n_items; i++)
		send_item(&self.items[i], now);
	intel_uncore_send_labels(now);
	tell_late(now);
	return 0;
}

/* Calls that follow each other at once, where collectd has just begun or was late, are not all taken:
 * with several passes not each has had its turn in a moment. With one it is just counted, so that the
 * next interval has its value, too. */
static bool is_too_soon(void)
{
	return cdtime() - self.begun <
	       self.interval / (unc_session_passes(self.session) > 1 ? 8 : 100);
}

int intel_uncore_read(user_data_t *user)
{
	int status = self.session ? 0 : intel_uncore_open(); /* it could not be opened yet */

	(void)user;
	if (status < 0) /* an error of the configuration that shows only now is the end */
		plugin_unregister_read(NAME);
	if (status != 0)
		return 0;
	if (!self.running) {
		unc_session_stop(self.session);
		return start_again() != 0 ? read_failed() : 0;
	}
	return is_too_soon() ? 0 : end_interval();
}
