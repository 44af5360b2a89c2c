/* SPDX-License-Identifier: BSD-3-Clause */
/* The command decode: from register values back to the event and its fields. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "tool.h"

struct fields {
	struct json *json; /* NULL: text */
	const char *reg;
};

static int show_field(void *user, const struct unc_field *field, uint64_t value)
{
	const struct fields *f = user;
	char buf[CELL_MAX];

	if (f->json) {
		json_object(f->json, NULL);
		json_text(f->json, "register", f->reg);
		json_text(f->json, "field", field->name);
		json_hex(f->json, "value", value);
		json_text(f->json, "desc", field->desc);
		json_end(f->json);
	} else {
		printf("  %-12s %-12s %12s  %s\n", f->reg, field->name, hex(buf, value),
		       field->desc);
	}
	return 0;
}

/* REGISTER=VALUE, taken apart in place. */
static int parse_value(char *text, struct unc_register_value *out)
{
	char *equals = strchr(text, '='), *end;

	if (!equals || equals == text || !equals[1])
		return bad_input("decode: '%s' is not REGISTER=VALUE", text);
	*equals = '\0';
	errno = 0;
	*out = (struct unc_register_value){.reg = text, .value = strtoull(equals + 1, &end, 0)};
	if (*end || errno || equals[1] == '-')
		return bad_input("decode: the value of %s is not a number of 64 bits: '%s'", text,
				 equals + 1);
	return 0;
}

static int show(struct unc_platform *platform, const char *type,
		const struct unc_register_value *values, size_t n, struct json *j)
{
	char name[UNC_SPEC_MAX];
	int rc;

	for (size_t i = 0; i < n; i++) /* before anything is printed */
		if ((rc = unc_register_decode(platform, type, values[i].reg, 0, NULL, NULL)) < 0)
			return library_error(rc, unc_platform_error(platform));
	rc = unc_event_decode(platform, type, values, n, name, sizeof(name));
	if (rc < 0 && rc != UNC_ERR_NOT_FOUND && rc != UNC_ERR_INVALID)
		return library_error(rc, unc_platform_error(platform));
	if (j) {
		json_object(j, NULL);
		json_text_or_null(j, "name", name);
		json_text(j, "note", rc == 0 ? NULL : unc_platform_error(platform));
		json_array(j, "fields");
	} else {
		printf("%s\n", rc == 0 ? name : unc_platform_error(platform));
	}
	for (size_t i = 0; i < n; i++) {
		struct fields f = {.json = j, .reg = values[i].reg};

		unc_register_decode(platform, type, values[i].reg, values[i].value, show_field, &f);
	}
	if (j) {
		json_end(j);
		json_end(j);
	}
	return EXIT_SUCCESS;
}

int cmd_decode(int argc, char **argv)
{
	struct unc_platform *platform;
	struct unc_register_value *values;
	struct args args;
	struct json json;
	int rc = args_parse(&args, argc, argv, true, 2, 17);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	size_t n = (size_t)(argc - optind - 1);
	values = must_alloc(NULL, n, sizeof(*values));
	rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = parse_value(argv[optind + 1 + (int)i], &values[i]);
	if (args.json)
		json_start(&json, stdout);
	if (rc == 0)
		rc = show(platform, argv[optind], values, n, args.json ? &json : NULL);
	free(values);
	unc_platform_close(platform);
	return rc;
}
