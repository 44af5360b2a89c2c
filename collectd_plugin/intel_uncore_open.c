/* SPDX-License-Identifier: BSD-3-Clause */
/* collectd plugin intel_uncore: the machine is opened, waited for, and looked at anew. */
#include "intel_uncore.h"

#include <stdlib.h>
#include <string.h>

static void log_text(void *user, enum unc_log_level level, const char *text)
{
	static const int severity[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING};

	(void)user;
	plugin_log(severity[level], LOG "%s", text);
}

void intel_uncore_wait(const char *why)
{
	c_complain_once(LOG_ERR, &self.complaint, LOG "%s%s; tried again in each interval", why,
			self.simulate ? "" : "; uncore doctor says more");
}

static int wait_for_cause(void *user, const struct unc_check *check)
{
	(void)user;
	if (!check->ok)
		c_complain_once(
			LOG_ERR, &self.complaint,
			LOG "no counter can be read: %s; remedy: %s; tried again in each interval",
			check->detail, check->remedy);
	return !check->ok; /* the first is the cause of the others */
}

static struct unc_options options(void)
{
	return (struct unc_options){.size = sizeof(struct unc_options),
				    .sim = self.simulate,
				    .access = self.access,
				    .log = log_text};
}

/* A wrong name or option, or a CPU without tables, stays so; an access that failed may not. */
static int open_platform(void)
{
	struct unc_options wanted = options();
	int status = unc_platform_open(&wanted, &self.platform);

	if (status == UNC_ERR_IO || status == UNC_ERR_PERMISSION || status == UNC_ERR_MEMORY)
		return intel_uncore_wait(unc_open_error()), NOT_NOW;
	return status ? FAIL("%s", unc_open_error()) : 0;
}

static bool any_unit(void)
{
	const struct unc_unit *unit;
	size_t i = 0;

	while ((unit = unc_unit_get(self.platform, i)) && !unit->available)
		i++;
	return unit != NULL;
}

/* Why no unit can be read, and what to do about it. */
static void wait_for_units(void)
{
	struct unc_options wanted = options();

	wanted.log = NULL;
	if (!c_would_release(&self.complaint) && unc_doctor(&wanted, wait_for_cause, NULL) <= 0)
		intel_uncore_wait("no counter can be read");
}

/* What could not be opened is left as it is: intel_uncore_close(). */
static int open_session(void)
{
	int status = open_platform();

	if (status)
		return status;
	self.blind = !any_unit(); /* but names can be wrong all the same */
	if (unc_session_new(self.platform, UNC_SESSION_ROTATE, &self.session) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (intel_uncore_add_all() != 0)
		return -1;
	if (self.blind)
		return wait_for_units(), NOT_NOW;
	unc_session_turns(self.session, (unsigned)CDTIME_T_TO_MS(self.interval));
	self.values = calloc(self.n_values, sizeof(*self.values));
	return self.values ? 0 : FAIL("out of memory");
}

static void forget_session(void)
{
	self.platform = NULL;
	self.session = NULL;
	self.items = NULL;
	self.values = NULL;
	self.n_items = 0;
	self.labels = NULL;
	self.n_values = 0;
	self.n_labels = 0;
	self.looked = 0;
	self.n_names = 0;
}

void intel_uncore_close(void)
{
	unc_session_free(self.session);
	unc_platform_close(self.platform);
	free(self.items);
	free(self.values);
	intel_uncore_free_labels();
	forget_session();
}

int intel_uncore_open(void)
{
	int status = open_session();
	const struct unc_cpu *cpu;

	if (status) {
		intel_uncore_close();
		return status;
	}
	cpu = unc_platform_cpu(self.platform);
	if (unc_platform_simulated(self.platform))
		NOTICE(LOG "SIMULATED %s: the values are not of this machine", cpu->title);
	INFO(LOG "%s, %d sockets: %zu series, passes: %d", cpu->title,
	     unc_platform_sockets(self.platform), self.n_items, unc_session_passes(self.session));
	intel_uncore_look_up(cdtime());
	return 0;
}

/* A series goes on from what was sent last. */
static void keep_totals(const struct intel_uncore *old)
{
	for (size_t i = 0; i < self.n_items; i++) {
		struct item *item = &self.items[i];
		const struct item *was = intel_uncore_same_series(old->items, old->n_items, item);

		if (!was)
			continue;
		item->total = was->total;
		item->begun = was->begun;
		item->complaint = was->complaint;
	}
}

void intel_uncore_reopen(void)
{
	struct intel_uncore old = self;

	forget_session();
	if (open_session() == 0) {
		struct intel_uncore now;

		keep_totals(&old);
		intel_uncore_keep_labels(&old);
		intel_uncore_look_up(cdtime());
		now = self;
		self = old;
		intel_uncore_close();
		self = now;
	} else {
		intel_uncore_close();
		old.complaint = self.complaint;
		self = old;
	}
	self.reopened = true;
}
