/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of collectd that the tests need. Included once, behind the plugin's source. */
#ifndef UNC_TEST_COLLECTD_HOST_H
#define UNC_TEST_COLLECTD_HOST_H

#include "suite.h"

#include <stdarg.h>

enum { MAX_SERIES = 512, LOG_SIZE = 16384 };

static struct {
	int (*config)(oconfig_item_t *);
	plugin_init_cb init;
	plugin_shutdown_cb shutdown;
	plugin_read_cb read;
	char log[LOG_SIZE];
	value_list_t sent[MAX_SERIES]; /* since the read began */
	value_t value[MAX_SERIES];
	size_t n_sent;
	cdtime_t now;
	cdtime_t step; /* between two calls of the plugin */
	bool called;
} host;

int plugin_register_complex_config(const char *type, int (*callback)(oconfig_item_t *))
{
	CHECK_TEXT(type, "intel_uncore");
	host.config = callback;
	return 0;
}

int plugin_register_init(const char *name, plugin_init_cb callback)
{
	CHECK_TEXT(name, "intel_uncore");
	host.init = callback;
	return 0;
}

int plugin_register_shutdown(const char *name, plugin_shutdown_cb callback)
{
	CHECK_TEXT(name, "intel_uncore");
	host.shutdown = callback;
	return 0;
}

int plugin_register_complex_read(const char *group, const char *name, plugin_read_cb callback,
				 cdtime_t interval, const user_data_t *user)
{
	CU_ASSERT_PTR_NULL(group);
	CHECK_TEXT(name, "intel_uncore");
	CU_ASSERT_PTR_NULL(user);
	host.read = callback;
	host.step = interval;
	return 0;
}

static inline void log_line(int level, const char *format, va_list args)
{
	static const char *const names[] = {
		[LOG_ERR] = "error", [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
		[LOG_INFO] = "info", [LOG_DEBUG] = "debug",
	};
	size_t n = strlen(host.log);

	n += (size_t)snprintf(host.log + n, LOG_SIZE - n, "[%s] ", names[level]);
	n += (size_t)vsnprintf(host.log + n, LOG_SIZE - n, format, args);
	CU_ASSERT_FATAL(n + 1 < LOG_SIZE);
	snprintf(host.log + n, LOG_SIZE - n, "\n");
}

#define LOG_ARGS(level, format)                                                                    \
	va_list args;                                                                              \
	va_start(args, format);                                                                    \
	log_line(level, format, args);                                                             \
	va_end(args)

int plugin_unregister_read(const char *name)
{
	CHECK_TEXT(name, "intel_uncore");
	CU_ASSERT_PTR_NOT_NULL(host.read);
	host.read = NULL;
	return 0;
}

void plugin_log(int level, const char *format, ...)
{
	LOG_ARGS(level, format);
}

void c_complain_once(int level, c_complain_t *c, const char *format, ...)
{
	bool again = c->interval != 0;

	c->interval = 1;
	if (again)
		return;
	LOG_ARGS(level, format);
}

void c_do_release(int level, c_complain_t *c, const char *format, ...)
{
	c->interval = 0;
	LOG_ARGS(level, format);
}

int cf_util_get_string(const oconfig_item_t *ci, char **ret)
{
	if (ci->values_num != 1 || ci->values[0].type != OCONFIG_TYPE_STRING) {
		ERROR("cf_util_get_string: %s", ci->key);
		return -1;
	}
	free(*ret);
	*ret = strdup(ci->values[0].value.string);
	return 0;
}

int cf_util_get_boolean(const oconfig_item_t *ci, bool *ret)
{
	if (ci->values_num != 1 || ci->values[0].type != OCONFIG_TYPE_BOOLEAN) {
		ERROR("cf_util_get_boolean: %s", ci->key);
		return -1;
	}
	*ret = ci->values[0].value.boolean != 0;
	return 0;
}

cdtime_t cdtime(void)
{
	return host.now;
}

cdtime_t plugin_get_interval(void)
{
	return TIME_T_TO_CDTIME_T(10);
}

/* One text is all that the plugin says of a value. */
struct meta_data_s {
	char *key, *value;
};

meta_data_t *meta_data_create(void)
{
	return calloc(1, sizeof(meta_data_t));
}

void meta_data_destroy(meta_data_t *md)
{
	if (!md)
		return;
	free(md->key);
	free(md->value);
	free(md);
}

int meta_data_add_string(meta_data_t *md, const char *key, const char *value)
{
	CU_ASSERT_PTR_NULL(md->key);
	md->key = strdup(key);
	md->value = strdup(value);
	return 0;
}

int plugin_dispatch_values(const value_list_t *vl)
{
	CHECK_TEXT(vl->plugin, "intel_uncore");
	CHECK_TEXT(vl->host, ""); /* collectd fills it in */
	CHECK_NUMBER(vl->values_len, 1);
	CU_ASSERT_FATAL(host.n_sent < MAX_SERIES);
	host.sent[host.n_sent] = *vl;
	host.value[host.n_sent++] = vl->values[0];
	return 0;
}

/* ---- configuration trees and what became of them */

enum { MAX_LINES = 16, MAX_VALUES = 3 };

/* The words of a line: a number, a boolean, or else a string each. */
static inline void words_of(char *text, oconfig_item_t *line, oconfig_value_t *values)
{
	char *save, *word;

	line->key = strtok_r(text, " ", &save);
	line->values = values;
	while ((word = strtok_r(NULL, " ", &save))) {
		oconfig_value_t *v = &values[line->values_num++];
		char *end;

		v->type = OCONFIG_TYPE_NUMBER;
		v->value.number = strtod(word, &end);
		if (*end == '\0')
			continue;
		v->type = OCONFIG_TYPE_BOOLEAN;
		v->value.boolean = strcmp(word, "true") == 0;
		if (v->value.boolean || strcmp(word, "false") == 0)
			continue;
		v->type = OCONFIG_TYPE_STRING;
		v->value.string = word;
	}
}

/* "Key value value", up to a NULL. "<Key value" begins a block, which has the lines behind it up to
 * "/" or the end. */
static inline int configure(const char *first, ...)
{
	static char text[MAX_LINES][256];
	oconfig_item_t lines[MAX_LINES] = {0}, inside[MAX_LINES] = {0};
	oconfig_item_t plugin = {.key = "Plugin", .children = lines}, *into = &plugin;
	oconfig_value_t values[MAX_LINES][MAX_VALUES];
	size_t n = 0, n_inside = 0;
	va_list args;

	va_start(args, first);
	for (const char *line = first; line; line = va_arg(args, const char *), n++) {
		CU_ASSERT_FATAL(n < MAX_LINES);
		if (*line == '/') {
			into = &plugin;
			continue;
		}
		snprintf(text[n], sizeof(text[n]), "%s", *line == '<' ? line + 1 : line);
		words_of(text[n], &into->children[into->children_num++], values[n]);
		n_inside += into != &plugin;
		if (*line != '<')
			continue;
		into = &plugin.children[plugin.children_num - 1];
		into->children = &inside[n_inside];
	}
	va_end(args);
	return host.config(&plugin);
}

/* An interval, that ends with a call. collectd's first one comes at once. */
static inline int read_once(void)
{
	if (!host.called) {
		CHECK_NUMBER(host.read(NULL), 0);
		CHECK_NUMBER(host.n_sent, 0);
	}
	host.called = true;
	host.n_sent = 0;
	host.now += host.step;
	return host.read(NULL);
}

static inline bool logged(const char *text)
{
	bool found = strstr(host.log, text) != NULL;

	if (!found)
		printf("# not in the log: %s\n# %s\n", text, host.log);
	return found;
}

static inline unsigned errors(void)
{
	unsigned n = 0;

	for (const char *at = host.log; (at = strstr(at, "[error]")); at++)
		n++;
	return n;
}

static inline const value_list_t *find(const char *name)
{
	char text[4 * DATA_MAX_NAME_LEN];

	for (size_t i = 0; i < host.n_sent; i++) {
		const value_list_t *vl = &host.sent[i];

		snprintf(text, sizeof(text), "%s/%s-%s", vl->plugin_instance, vl->type,
			 vl->type_instance);
		if (strcmp(text, name) == 0)
			return vl;
	}
	return NULL;
}

static inline value_t value_of(const char *name)
{
	const value_list_t *vl = find(name);

	if (!vl)
		printf("# no series %s\n", name);
	CU_ASSERT_PTR_NOT_NULL(vl);
	return vl ? host.value[vl - host.sent] : (value_t){0};
}

#endif
