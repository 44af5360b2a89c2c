/* SPDX-License-Identifier: BSD-3-Clause */
/* The command groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static void print_group(struct printer *p, const struct unc_group *g)
{
	print_row(p);
	print_text(p, "group", "GROUP", g->name);
	if (g->available)
		print_also(p, "PASSES", "%d", g->passes);
	else
		print_also(p, "PASSES", "-");
	print_text(p, "desc", "ITEMS", g->desc);
	print_open(p, "items", '[');
	for (size_t i = 0; i < g->n_items; i++) {
		print_line(p);
		print_also(p, "ITEMS", "  ");
		print_text(p, NULL, "ITEMS", g->items[i]);
	}
	print_close(p);
	print_integer(p, "passes", NULL, g->passes);
	print_bool(p, "available", g->available);
	if (g->reason[0]) {
		print_line(p);
		print_also(p, "ITEMS", g->available ? "  not here: " : "  not available: ");
	}
	print_known(p, "reason", "ITEMS", g->reason);
}

int cmd_groups(struct unc_platform *platform, const struct args *args)
{
	const struct unc_group *g;
	struct printer p;
	size_t wanted = 0;

	if (args->words && unc_group_find(platform, args->word[0], &wanted) < 0)
		return bad_input("%s", unc_platform_error(platform));
	print_start(&p, args, platform);
	print_list(&p, NULL, TITLES, "GROUP|>PASSES|ITEMS");
	for (size_t i = wanted; (g = unc_group_get(platform, i)) != NULL; i++) {
		print_group(&p, g);
		if (args->words)
			break;
	}
	print_end(&p);
	return EXIT_SUCCESS;
}
