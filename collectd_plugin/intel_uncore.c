/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: metrics and events of libuncore, a series for each socket. Here:
 * its configuration, its start and its end.
 */
#include "intel_uncore.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct intel_uncore self;

static int config_names(const oconfig_item_t *ci, bool is_event)
{
	int i;

	for (i = 0; i < ci->values_num && ci->values[i].type == OCONFIG_TYPE_STRING; i++) {
		struct wish wish = {is_event, strdup(ci->values[i].value.string)};
		struct wish *more = realloc(self.wishes, (self.n_wishes + 1) * sizeof(*more));

		self.wishes = more ? more : self.wishes;
		if (!more || !wish.text) {
			free(wish.text);
			return FAIL("out of memory");
		}
		self.wishes[self.n_wishes++] = wish;
	}
	return i > 0 && i == ci->values_num ? 0 : FAIL("%s takes names in quotes", ci->key);
}

static int config_partial(const oconfig_item_t *ci)
{
	bool wanted = true;
	int status = cf_util_get_boolean(ci, &wanted);

	self.whole_only = !wanted;
	return status;
}

/* Always 0: collectd exits when a config callback fails. init() fails instead. */
static int config(oconfig_item_t *ci)
{
	for (int i = 0; i < ci->children_num; i++) {
		const oconfig_item_t *child = &ci->children[i];
		int status;

		if (strcasecmp(child->key, "Simulate") == 0)
			status = cf_util_get_string(child, &self.simulate);
		else if (strcasecmp(child->key, "Access") == 0)
			status = cf_util_get_string(child, &self.access);
		else if (strcasecmp(child->key, "Metric") == 0)
			status = config_names(child, false);
		else if (strcasecmp(child->key, "Event") == 0)
			status = config_names(child, true);
		else if (strcasecmp(child->key, "PerUnit") == 0)
			status = cf_util_get_boolean(child, &self.per_unit);
		else if (strcasecmp(child->key, "PartialSums") == 0)
			status = config_partial(child);
		else
			status = FAIL("no option %s; options are Simulate, Access, Metric, Event, "
				      "PerUnit, PartialSums",
				      child->key);
		self.broken |= status != 0;
	}
	return 0;
}

/* Undoes config and init, as far as they came. */
static int teardown(void)
{
	if (self.running && unc_session_stop(self.session) != 0)
		ERROR(LOG "%s", unc_session_error(self.session));
	intel_uncore_close();
	for (size_t i = 0; i < self.n_wishes; i++)
		free(self.wishes[i].text);
	free(self.wishes);
	free(self.simulate);
	free(self.access);
	memset(&self, 0, sizeof(self));
	return 0;
}

static int set_up(void)
{
	unsigned version = unc_api_version();
	int status;

	if (!UNC_API_SERVES(version))
		return FAIL("libuncore %s has interface %u.%u, the plugin was compiled for %u.%u: "
			    "install those that belong together",
			    unc_version(), version >> 16, version & 0xffff, UNC_API_VERSION >> 16,
			    UNC_API_VERSION & 0xffff);
	if (self.broken)
		return FAIL("disabled by the errors in its configuration");
	status = intel_uncore_open();
	if (status == 0 && intel_uncore_start() != 0)
		intel_uncore_wait(unc_session_error(self.session));
	return status == NOT_NOW ? 0 : status;
}

int intel_uncore_register(void)
{
	self.step = self.interval;
	if (self.session)
		self.step /= (cdtime_t)unc_session_passes(self.session);
	return plugin_register_complex_read(NULL, NAME, intel_uncore_read, self.step, NULL);
}

/* Only the configuration keeps it from running: whatever else is in the way may go. */
static int init(void)
{
	if (set_up() != 0)
		return teardown(), -1;
	self.interval = plugin_get_interval();
	return intel_uncore_register();
}

__attribute__((visibility("default"))) void module_register(void)
{
	plugin_register_complex_config(NAME, config);
	plugin_register_init(NAME, init);
	plugin_register_shutdown(NAME, teardown);
}
