/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of `uncore verify -o` for a metric. Only reports in exactly the form that verify writes are
 * read. They are in the folder UNCORE_REPORTS, or in the installed one, where a site may add its own.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* The text of a report on hardware with this CPU, to be freed; NULL: the file is none. */
static char *report_of(const char *path, const char *cpu)
{
	char *head = must_print("{\"cpu\":\"%s\",\"simulated\":false,", cpu), *text = NULL;
	FILE *f = fopen(path, "r");
	size_t size = 0;

	if (f && (getline(&text, &size, f) < 0 || strncmp(text, head, strlen(head)) != 0)) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	free(head);
	return text;
}

/* Whether a report judged a metric right at least once, and never wrong. */
static bool all_right(const char *report, const char *metric)
{
	static const char verdict[] = "\"verdict\":\"";
	char *check = must_print("{\"check\":\"%s of socket ", metric);
	bool right = false, wrong = false;

	while ((report = strstr(report, check)) && (report = strstr(report, verdict))) {
		report += strlen(verdict);
		right |= strncmp(report, "right\"", 6) == 0;
		wrong |= strncmp(report, "wrong\"", 6) == 0;
	}
	free(check);
	return right && !wrong;
}

bool metric_verified(const char *cpu, const char *metric)
{
	const char *folder = secure_getenv("UNCORE_REPORTS");
	char *pattern = must_print("%s/*.json", folder ? folder : UNC_REPORTS);
	glob_t found = {.gl_pathc = 0};
	bool verified = false;

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && !verified; i++) {
			char *report = report_of(found.gl_pathv[i], cpu);

			verified = report && all_right(report, metric);
			free(report);
		}
	globfree(&found);
	free(pattern);
	return verified;
}
