/* SPDX-License-Identifier: BSD-3-Clause */
#include "built.h"
#include "cases.h"

#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 1024 };

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	for (n = strlen(s); n && isspace((unsigned char)s[n - 1]); n--)
		continue;
	s[n] = '\0';
	return s;
}

static void split(char *line, struct cases_row *row)
{
	static char empty[] = "";
	char *next;

	row->n = 0;
	for (char *s = line; s && row->n < CASES_FIELDS; s = next) {
		next = strstr(s, " ; ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		row->field[row->n++] = trim(s);
	}
	for (size_t i = row->n; i < CASES_FIELDS; i++)
		row->field[i] = empty;
}

static void path_of(const char *name, char *path)
{
	const char *tests = getenv("UNCORE_TESTS"), *source = getenv("SRCDIR");

	if (tests)
		snprintf(path, PATH, "%s/%s", tests, name);
	else
		snprintf(path, PATH, "%s/tests/%s", source ? source : ".", name);
}

int cases_read(const char *name, cases_fn fn, void *user)
{
	char path[PATH], line[4096];
	struct cases_row row = {.file = name};
	int rows = 0;

	path_of(name, path);
	FILE *f = fopen(path, "r");
	if (!f) {
		printf("# cannot open %s\n", path);
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		char *s = trim(line);

		row.line++;
		if (*s == '\0' || *s == '#')
			continue;
		split(s, &row);
		fn(user, &row);
		rows++;
	}
	fclose(f);
	return rows;
}

const struct unc_table *cases_table(size_t i)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	return i < n ? all[i] : NULL;
}

const char *cases_cpu(size_t i)
{
	const struct unc_table *t = cases_table(i);

	return t ? unc_tbl_str(t, t->name) : NULL;
}

bool cases_has(const char *folder, const char *cpu, const char *ending)
{
	char name[256], path[PATH];

	snprintf(name, sizeof(name), "%s/%s%s", folder, cpu, ending);
	path_of(name, path);
	return access(path, F_OK) == 0;
}

static bool is_cpu(const char *name, size_t n)
{
	const char *cpu;

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++)
		if (strlen(cpu) == n && strncmp(cpu, name, n) == 0)
			return true;
	return false;
}

int cases_of_no_cpu(const char *folder, const char *ending)
{
	char path[PATH];
	struct dirent *entry;
	int files = 0;

	path_of(folder, path);
	DIR *dir = opendir(path);
	if (!dir) {
		printf("# cannot open %s\n", path);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		size_t n = strlen(entry->d_name), end = strlen(ending);

		if (n <= end || strcmp(entry->d_name + n - end, ending) != 0 ||
		    is_cpu(entry->d_name, n - end))
			continue;
		printf("# %s/%s: the tables have no such CPU\n", path, entry->d_name);
		files++;
	}
	closedir(dir);
	return files;
}

int cases_match(const char *text, const char *pattern)
{
	const char *at = text;
	int anywhere = 0;

	while (*pattern) {
		const char *gap = strstr(pattern, "...");
		size_t n = gap ? (size_t)(gap - pattern) : strlen(pattern);

		while (strncmp(at, pattern, n) != 0)
			if (!anywhere || *at++ == '\0')
				return 0;
		at += n;
		pattern += gap ? n + 3 : n;
		anywhere = 1;
	}
	return 1;
}

bool cases_mask(const char *text, uint64_t *mask)
{
	unsigned first, last;

	for (*mask = 0; unc_range_next(&text, 64, &first, &last); text++) {
		while (first <= last)
			*mask |= (uint64_t)1 << first++;
		if (*text != ',')
			break;
	}
	return *mask && !*text;
}
