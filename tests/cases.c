/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int cases_read(const char *name, cases_fn fn, void *user)
{
	const char *tests = getenv("UNCORE_TESTS"), *source = getenv("SRCDIR");
	char path[1024], line[1024];
	struct cases_row row = {.file = name};
	int rows = 0;

	if (tests)
		snprintf(path, sizeof(path), "%s/%s", tests, name);
	else
		snprintf(path, sizeof(path), "%s/tests/%s", source ? source : ".", name);
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
