/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, options and the opening of the library, as all commands want them. */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tool.h"

/* One line, whatever the user's words that it quotes have in them. */
static void say(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	for (char *p = text; p && *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "uncore: %s\n", text ? text : "out of memory");
	free(text);
}

int bad_input(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_BAD_INPUT;
}

int failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_FAILURE;
}

void remark(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int library_error(int error, const char *sentence)
{
	if (!sentence || !sentence[0])
		sentence = unc_error_name(error);
	switch (error) {
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
	void *new = reallocarray(old, n ? n : 1, size);

	if (!new)
		exit(failure("out of memory"));
	return new;
}

char *must_print(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		exit(failure("out of memory"));
	va_end(args);
	return text;
}

/* The option that getopt_long() stumbled over, as the user wrote it. */
static const char *stumbled(char buf[3], char **argv)
{
	if (!optopt || strncmp(argv[optind - 1], "--", 2) == 0)
		return argv[optind - 1];
	buf[0] = '-';
	buf[1] = (char)optopt;
	buf[2] = '\0';
	return buf;
}

int args_option(struct args *args, int opt, char **argv)
{
	char buf[3];

	switch (opt) {
	case 'j':
		args->json = true;
		return ARGS_OK;
	case 'v':
		args->verbose = true;
		return ARGS_OK;
	case 'c':
		args->cpu = optarg;
		return ARGS_OK;
	case ARGS_TABLES:
		args->tables = optarg;
		return ARGS_OK;
	case 'h':
		command_help(command_find(argv[0]));
		return EXIT_SUCCESS;
	case ':':
		return bad_input("%s: option '%s' needs a value; see 'uncore help %s'", argv[0],
				 stumbled(buf, argv), argv[0]);
	default:
		return bad_input("%s: unknown option '%s'; see 'uncore help %s'", argv[0],
				 stumbled(buf, argv), argv[0]);
	}
}

int args_parse(struct args *args, int argc, char **argv, bool with_cpu, int min, int max)
{
	static const struct option options[] = {ARGS_LONG, {NULL, 0, NULL, 0}};
	int opt, rc;

	*args = (struct args){0};
	while ((opt = getopt_long(argc, argv, ARGS_SHORT, options, NULL)) != -1) {
		rc = args_option(args, opt, argv);
		if (rc != ARGS_OK)
			return rc;
	}
	if (args->cpu && !with_cpu)
		return bad_input("%s takes no option '-c'", argv[0]);
	if (argc - optind < min)
		return bad_input("%s: an argument is missing: uncore %s %s", argv[0], argv[0],
				 command_find(argv[0])->synopsis);
	if (argc - optind > max)
		return bad_input("%s: unexpected argument '%s'; see 'uncore help %s'", argv[0],
				 argv[optind + max], argv[0]);
	return ARGS_OK;
}

static void log_line(void *user, enum unc_log_level level, const char *text)
{
	(void)user;
	if (level > UNC_LOG_DEBUG)
		fprintf(stderr, "uncore: note: %s\n", text);
}

static int open_platform(const struct args *args, const char *sim, bool tables_do,
			 struct unc_platform **out)
{
	struct unc_options options = {
		.size = sizeof(options),
		.sim = sim,
		.cpu = args->cpu,
		.tables = args->tables,
		.log = args->verbose ? log_line : NULL,
	};
	int rc = unc_platform_open(&options, out);

	if (rc == 0)
		return ARGS_OK;
	if (rc == UNC_ERR_UNAVAILABLE && !args->cpu && tables_do)
		return failure("%s; -c CPU gives the tables of another (see 'uncore cpus')",
			       unc_open_error());
	/* A name given by the user that is not known is bad input, whatever it is to the library.
	 */
	return library_error(rc == UNC_ERR_UNAVAILABLE && args->cpu ? UNC_ERR_NOT_FOUND : rc,
			     unc_open_error());
}

int open_tables(const struct args *args, struct unc_platform **out)
{
	return open_platform(args, args->cpu ? "" : NULL, true, out);
}

int open_machine(const struct args *args, struct unc_platform **out)
{
	return open_platform(args, NULL, false, out);
}

void print_label(const struct unc_platform *platform)
{
	if (unc_platform_simulated(platform))
		printf("SIMULATED %s: nothing here comes from hardware\n\n",
		       unc_platform_cpu(platform)->name);
}

int find_metric(const struct unc_platform *platform, const char *name, size_t *index)
{
	const struct unc_metric *m;

	for (size_t i = 0; (m = unc_metric_get(platform, i)) != NULL; i++)
		if (strcasecmp(m->name, name) == 0) {
			*index = i;
			return 0;
		}
	return UNC_ERR_NOT_FOUND;
}

bool name_matches(const char *pattern, const char *name)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, pattern) != NULL;
}
