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

static int config_names(const oconfig_item_t *ci, struct block *block, bool is_group)
{
	int i;

	for (i = 0; i < ci->values_num && ci->values[i].type == OCONFIG_TYPE_STRING; i++) {
		struct wish wish = {is_group, strdup(ci->values[i].value.string)};
		struct wish *more = realloc(block->wishes, (block->n_wishes + 1) * sizeof(*more));

		block->wishes = more ? more : block->wishes;
		if (!more || !wish.text) {
			free(wish.text);
			return FAIL("out of memory");
		}
		block->wishes[block->n_wishes++] = wish;
	}
	return i > 0 && i == ci->values_num ? 0 : FAIL("%s takes names in quotes", ci->key);
}

static int config_partial(const oconfig_item_t *ci)
{
	bool wanted = true;
	int status = cf_util_get_boolean(ci, &wanted);

	self.partial_sums = wanted ? PARTIAL_SENT : PARTIAL_NOT_SENT;
	return status;
}

enum { OTHER = 1 };

/* An option for each place that series are made of. OTHER: it is none. */
static int config_per(const oconfig_item_t *ci, struct block *block)
{
	unsigned per = strcasecmp(ci->key, "PerUnit") == 0     ? UNC_EACH_UNIT
		       : strcasecmp(ci->key, "PerDevice") == 0 ? UNC_EACH_DEVICE
							       : 0;
	bool wanted = false;
	int status;

	if (!per)
		return OTHER;
	status = cf_util_get_boolean(ci, &wanted);
	block->says_per |= per;
	block->per = wanted ? block->per | per : block->per & ~per;
	return status;
}

/* What stands in blocks, and outside. OTHER: it is none of these. */
static int config_wish(const oconfig_item_t *ci, struct block *block)
{
	if (ci->children_num > 0 && strcasecmp(ci->key, "Cpu") != 0)
		return FAIL("<%s> is no block; the only one is <Cpu>", ci->key);
	if (strcasecmp(ci->key, "Metric") == 0 || strcasecmp(ci->key, "Event") == 0)
		return config_names(ci, block, false);
	if (strcasecmp(ci->key, "Group") == 0)
		return config_names(ci, block, true);
	return config_per(ci, block);
}

static int config_cpu(const oconfig_item_t *ci)
{
	struct block *more = realloc(self.cpus, (self.n_cpus + 1) * sizeof(*more)), *block;
	int status;

	if (!more)
		return FAIL("out of memory");
	self.cpus = more;
	block = &more[self.n_cpus++];
	*block = (struct block){0};
	status = cf_util_get_string(ci, &block->cpu);
	for (int i = 0; i < ci->children_num; i++) {
		int one = config_wish(&ci->children[i], block);

		if (one == OTHER)
			one = FAIL("no option %s in <Cpu>; options are Metric, Event, Group, "
				   "PerUnit, PerDevice",
				   ci->children[i].key);
		status |= one;
	}
	return status;
}

static int config_option(const oconfig_item_t *ci)
{
	int status = config_wish(ci, &self.always);

	if (status != OTHER)
		return status;
	if (strcasecmp(ci->key, "Simulate") == 0)
		return cf_util_get_string(ci, &self.simulate);
	if (strcasecmp(ci->key, "Access") == 0)
		return cf_util_get_string(ci, &self.access);
	if (strcasecmp(ci->key, "PartialSums") == 0)
		return config_partial(ci);
	if (strcasecmp(ci->key, "NodeSums") == 0)
		return cf_util_get_boolean(ci, &self.node_sums);
	if (strcasecmp(ci->key, "Cpu") == 0)
		return config_cpu(ci);
	return FAIL("no option %s; options are Metric, Event, Group, PerUnit, PerDevice, Cpu, "
		    "NodeSums, "
		    "PartialSums, Access, Simulate",
		    ci->key);
}

/* Always 0: collectd exits when a config callback fails. init() fails instead. */
static int config(oconfig_item_t *ci)
{
	for (int i = 0; i < ci->children_num; i++)
		self.broken |= config_option(&ci->children[i]) != 0;
	return 0;
}

static void free_block(const struct block *block)
{
	for (size_t i = 0; i < block->n_wishes; i++)
		free(block->wishes[i].text);
	free(block->wishes);
	free(block->cpu);
}

/* Undoes config and init, as far as they came. */
static int teardown(void)
{
	if (self.running && unc_session_stop(self.session) != 0)
		ERROR(LOG "%s", unc_session_error(self.session));
	intel_uncore_close();
	free_block(&self.always);
	for (size_t i = 0; i < self.n_cpus; i++)
		free_block(&self.cpus[i]);
	free(self.cpus);
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

/* Only the configuration keeps it from running: whatever else is in the way may go. */
static int init(void)
{
	self.interval = plugin_get_interval();
	if (set_up() != 0)
		return teardown(), -1;
	return plugin_register_complex_read(NULL, NAME, intel_uncore_read, self.interval, NULL);
}

__attribute__((visibility("default"))) void module_register(void)
{
	plugin_register_complex_config(NAME, config);
	plugin_register_init(NAME, init);
	plugin_register_shutdown(NAME, teardown);
}
