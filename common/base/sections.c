/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sections.h"

#include <string.h>

#include "base/text.h"

static const char blanks[] = " \t\r";

static char *trimmed(char *text)
{
	size_t n = strlen(text);

	while (n && strchr(blanks, text[n - 1]))
		text[--n] = '\0';
	return text + strspn(text, blanks);
}

/* Returns the next line without its comment and surrounding blanks. */
static char *next_line(struct unc_sections *f)
{
	char *line = f->next, *end = line + strcspn(line, "\n"), *p = line;

	f->next = *end ? end + 1 : end;
	*end = '\0';
	f->at = ++f->line;
	while ((p = strchr(p, '#')) && p > line && !strchr(blanks, p[-1]))
		p++;
	if (p)
		*p = '\0';
	return trimmed(line);
}

static int fail_section(const struct unc_sections *f, const char *line, struct unc_error *err)
{
	for (const struct unc_section_old *old = f->old; old->word; old++)
		if (strncmp(line, old->word, strlen(old->word)) == 0 &&
		    strchr(blanks, line[strlen(old->word)])) /* or the end */
			return unc_fail(err, UNC_ERR_TABLE,
					"'%.60s' is of an older form: it is now %s, in lines of "
					"their own",
					line, old->now);
	return unc_fail(err, UNC_ERR_TABLE, "'%.60s' begins no section; %s", line, f->has);
}

static int begin_section(struct unc_sections *f, char *line, struct unc_error *err)
{
	size_t n = strlen(line), name = strcspn(line, " \t]") - 1;
	const struct unc_section_rule *rule = f->rules;

	f->outside = *line != '[';
	if (f->outside || line[n - 1] != ']')
		return fail_section(f, line, err);
	while (rule->name && (strlen(rule->name) != name || strncmp(rule->name, line + 1, name)))
		rule++;
	if (!rule->name || rule->argument == (name == n - 2))
		return fail_section(f, line, err);
	line[n - 1] = '\0';
	f->argument = trimmed(line + 1 + name);
	f->rule = rule;
	return 0;
}

static int fail_key(const struct unc_sections *f, const char *key, struct unc_error *err)
{
	char text[128];
	struct unc_buf list = UNC_BUF(text);

	for (unsigned i = 0; i < UNC_SECTION_KEYS && f->rule->key[i].name; i++)
		unc_put_word(&list, f->rule->key[i].name);
	return unc_fail(err, UNC_ERR_TABLE, "'%.40s' is not a key of [%s]; its keys are %s", key,
			f->rule->name, text);
}

static int add_setting(struct unc_sections *f, char *line, struct unc_error *err)
{
	const struct unc_section_key *key = f->rule->key, *end = key + UNC_SECTION_KEYS;
	char *value = strchr(line, '=');

	if (!value || value == line)
		return unc_fail(err, UNC_ERR_TABLE, "'%.60s' is not key = value", line);
	*value++ = '\0';
	line = trimmed(line);
	value = trimmed(value);
	while (key < end && (!key->name || strcmp(key->name, line) != 0))
		key++;
	if (key == end)
		return fail_key(f, line, err);
	if (!*value)
		return unc_fail(err, UNC_ERR_TABLE, "%s = has no value", line);
	if (!key->often && unc_section_value(f, line)) {
		f->at = f->line;
		return unc_fail(err, UNC_ERR_TABLE, "%s is given twice", line);
	}
	if (f->n == UNC_SECTION_LINES)
		return unc_fail(err, UNC_ERR_TABLE, "a section has %d lines at most", (int)f->n);
	f->set[f->n++] = (struct unc_setting){line, value, f->line};
	return 0;
}

static int check_needed_keys(struct unc_sections *f, struct unc_error *err)
{
	const struct unc_section_key *key = f->rule->key;

	for (unsigned i = 0; i < UNC_SECTION_KEYS; i++)
		if (key[i].needed && !unc_section_value(f, key[i].name))
			return unc_fail(err, UNC_ERR_TABLE, "[%s] has no line %s = ...",
					f->rule->name, key[i].name);
	return f->n ? 0 : unc_fail(err, UNC_ERR_TABLE, "[%s] has no line", f->rule->name);
}

int unc_section_next(struct unc_sections *f, struct unc_error *err)
{
	unsigned first = 0;
	int rc = 0;

	f->rule = NULL;
	f->outside = false;
	f->n = 0;
	while (*f->next && !(first && f->next[strspn(f->next, blanks)] == '[')) {
		char *line = next_line(f);

		if (!*line || rc < 0)
			continue;
		rc = first ? add_setting(f, line, err) : begin_section(f, line, err);
		first = first ? first : f->at;
		if (rc < 0)
			unc_section_wrong(f, err);
	}
	if (!first || rc < 0)
		return rc;
	rc = check_needed_keys(f, err);
	f->at = first;
	return rc < 0 ? unc_section_wrong(f, err) : 1;
}

const char *unc_section_value(struct unc_sections *f, const char *key)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->set[i].key, key) == 0) {
			f->at = f->set[i].line;
			return f->set[i].value;
		}
	return NULL;
}

int unc_section_wrong(const struct unc_sections *f, struct unc_error *err)
{
	unc_error_prefix(err, "%s:%u", f->path, f->at);
	return UNC_ERR_TABLE;
}
