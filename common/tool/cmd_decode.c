/* SPDX-License-Identifier: BSD-3-Clause */
/* The command decode: from register values back to the event and its fields. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

struct fields {
	struct printer *printer;
	const char *reg;
};

static int print_field(void *user, const struct unc_field *field, uint64_t value)
{
	const struct fields *f = user;

	print_row(f->printer);
	print_also(f->printer, "register", "  ");
	print_text(f->printer, "register", "register", f->reg);
	print_text(f->printer, "field", "field", field->name);
	print_hex(f->printer, "value", "value", value);
	print_text(f->printer, "desc", "desc", field->desc);
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

static int decode(struct unc_platform *platform, const struct args *args,
		  const struct unc_register_value *values, size_t n)
{
	char name[UNC_SPEC_MAX];
	const char *type = args->word[0];
	struct printer p;
	int rc;

	for (size_t i = 0; i < n; i++) /* before anything is printed */
		if ((rc = unc_register_decode(platform, type, values[i].reg, 0, NULL, NULL)) < 0)
			return library_error(rc, unc_platform_error(platform));
	rc = unc_event_decode(platform, type, values, n, sizeof(*values), name, sizeof(name));
	if (rc < 0 && rc != UNC_ERR_NOT_FOUND && rc != UNC_ERR_INVALID)
		return library_error(rc, unc_platform_error(platform));
	print_start(&p, args, platform);
	print_open(&p, NULL, '{');
	print_known(&p, "name", "", name);
	print_text(&p, "note", "", rc == 0 ? NULL : unc_platform_error(platform));
	print_list(&p, "fields", NO_TITLES, "register|field|>value|desc");
	for (size_t i = 0; i < n; i++) {
		struct fields f = {.printer = &p, .reg = values[i].reg};

		unc_register_decode(platform, type, values[i].reg, values[i].value, print_field,
				    &f);
	}
	print_end(&p);
	print_close(&p);
	return rc == UNC_ERR_NOT_FOUND ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_decode(struct unc_platform *platform, const struct args *args)
{
	size_t n = args->words - 1;
	struct unc_register_value *values = must_alloc(NULL, n, sizeof(*values));
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = parse_value(args->word[i + 1], &values[i]);
	if (rc == 0)
		rc = decode(platform, args, values, n);
	free(values);
	return rc;
}
