/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, memory and the opening of the library, as all commands want them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool.h"

_Noreturn static void no_memory(void)
{
	fputs("uncore: out of memory\n", stderr);
	exit(EXIT_FAILURE);
}

int complain(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	for (char *p = text; *p; p++) /* one line, whatever the user's words in it hold */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "uncore: %s\n", text);
	free(text);
	return status;
}

int whole_number(const char *command, const char *option, const char *what, const char *text,
		 uint64_t *out)
{
	bool digits = text[0] && strspn(text, "0123456789") == strlen(text);

	errno = 0;
	*out = digits ? strtoull(text, NULL, 10) : 0;
	if (errno || *out == 0)
		return bad_input("%s: option '%s' needs a number of %s from 1, not '%s'", command,
				 option, what, text);
	return ARGS_OK;
}

int time_between(const char *command, const char *option, double per, const char *text,
		 double least, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	bool number = end > text && !errno, ms = strcmp(end, "ms") == 0, s = strcmp(end, "s") == 0;

	*out /= ms ? 1000 : s ? 1 : per;
	if (!number || (*end && !ms && !s) || !(*out >= least / per && *out <= 1e9 / per))
		return bad_input("%s: option '%s' needs a number of %s from %g to 1e9, not '%s'; "
				 "500ms or 1.5s is accepted, too",
				 command, option, per > 1 ? "milliseconds" : "seconds", least,
				 text);
	return ARGS_OK;
}

int library_error(int rc, const char *sentence)
{
	if (rc >= 0)
		return EXIT_SUCCESS;
	if (!sentence || !sentence[0])
		sentence = unc_error_name(rc);
	switch (rc) {
	case UNC_ERR_INVALID:
	case UNC_ERR_NOT_FOUND:
	case UNC_ERR_RANGE:
	case UNC_ERR_CONFLICT:
	case UNC_ERR_PASSES:
		return bad_input("%s", sentence);
	default:
		return failure("%s", sentence);
	}
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void pause_for(double seconds)
{
	const struct timespec ts = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};

	nanosleep(&ts, NULL);
}

int finish(int status)
{
	if (fflush(stdout) != 0)
		return failure("cannot write the report: %s", strerror(errno));
	if (ferror(stdout) && status == EXIT_SUCCESS)
		return failure("cannot write the report");
	return status;
}

void *must_alloc(void *old, size_t n, size_t size)
{
	void *new = old ? reallocarray(old, n ? n : 1, size) : calloc(n ? n : 1, size);

	if (!new)
		no_memory();
	return new;
}

void *must_grow(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : must_alloc(array, n ? 2 * n : 1, size);
}

char *must_format(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		no_memory();
	return text;
}

char *must_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	return text;
}

char *must_add(char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *more = must_format(format, args);
	va_end(args);
	if (!text)
		return more;
	char *whole = must_print("%s%s", text, more);

	free(text);
	free(more);
	return whole;
}

char *must_list(char *list, const char *word)
{
	return must_add(list, "%s%s", list ? ", " : "", word);
}

static void log_line(void *user, enum unc_log_level level, const char *text)
{
	const struct args *args = user;

	if (level >= (args->verbose ? UNC_LOG_INFO : UNC_LOG_WARNING))
		remark("note: %s", text);
}

/* On an unsupported CPU: prints what its discovery tables list. */
static int tell_listed(void *none, const struct unc_check *check)
{
	(void)none;
	if (strcmp(check->check, "discovery") == 0)
		remark("%s", check->detail);
	return 0;
}

/* cpu: its tables; NULL: the machine. hint: behind the sentence that there is no such machine;
 * NULL: it is opened a second time. loud: it warns without -v as well. */
static int open_cpu(const struct args *args, const char *cpu, const char *hint, bool loud,
		    struct unc_platform **out)
{
	struct unc_options options = {
		.size = sizeof(options),
		.sim = cpu ? "" : NULL,
		.cpu = cpu,
		.log = args->verbose || loud ? log_line : NULL,
		.log_user = (void *)args,
		.access = args->access,
	};

	if (cpu && args->access)
		return bad_input("--access chooses how this machine is read, -c CPU the tables of "
				 "whatever machine: either, not both");
	int rc = unc_platform_open(&options, out);

	if (rc == 0 && hint && !options.log && *unc_open_error()) /* else it has been told */
		remark("note: %s", unc_open_error());
	if (rc == 0)
		return ARGS_OK;
	/* A name given by the user that is not known is bad input, whatever it is to the
	 * library. */
	if (rc == UNC_ERR_UNAVAILABLE && cpu)
		rc = UNC_ERR_NOT_FOUND;
	if (rc == UNC_ERR_UNAVAILABLE) {
		failure("%s%s", unc_open_error(), hint ? hint : "");
		if (hint)
			unc_doctor(&options, tell_listed, NULL);
		return EXIT_FAILURE;
	}
	return library_error(rc, unc_open_error());
}

int open_platform(const struct args *args, enum opens what, struct unc_platform **out)
{
	bool tables = what == OPEN_TABLES || what == OPEN_TABLES_ALONE;
	const char *cpu = tables ? args->cpu : what == OPEN_ANY_TABLES ? "*" : NULL;
	const char *hint = tables ? "; -c CPU gives the tables of another (see 'uncore cpus')" : "";

	if (what == OPEN_NOTHING)
		return ARGS_OK;
	int rc = open_cpu(args, cpu, hint, what == OPEN_NODE, out);

	if (rc != ARGS_OK || what != OPEN_TABLES_ALONE || cpu)
		return rc;
	if (unc_platform_cpu(*out)->n_kernel) /* only this machine has them */
		return rc;
	char *name = must_print("%s", unc_platform_cpu(*out)->name);

	unc_platform_close(*out);
	*out = NULL;
	rc = open_cpu(args, name, NULL, false, out);
	free(name);
	return rc;
}

/* Whether it goes without what its CPU counts. A metric that no CPU of the kind can give needs no
 * event. */
static bool lacks_here(struct unc_platform *platform, const struct unc_group *g)
{
	struct unc_item item = {.size = sizeof(item)};

	for (size_t i = g->n_items; g->items[i]; i++)
		if (unc_item_find(platform, g->items[i], &item) == 0 &&
		    (!item.metric || unc_metric_need(platform, item.index, 0)))
			return true;
	return false;
}

int open_group(struct unc_platform *platform, const char *name, bool verbose,
	       const struct unc_group **out)
{
	size_t index;
	int rc = unc_group_find(platform, name, &index);

	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	*out = unc_group_get(platform, index);
	if (!*out)
		return library_error(UNC_ERR_MEMORY, NULL);
	if (!(*out)->available)
		return failure("group %s: %s", (*out)->name, (*out)->reason);
	if (*(*out)->reason && (verbose || lacks_here(platform, *out)))
		remark("note: group %s: not here: %s", (*out)->name, (*out)->reason);
	return 0;
}
