/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with the library linked in that opens a simulated machine, for integration/privileges.sh. */
#include <stdio.h>

#include "uncore.h"

int main(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = "sandybridge-ep"};
	struct unc_platform *p = NULL;
	int rc = unc_platform_open(&o, &p);

	puts(rc < 0 ? unc_open_error() : unc_platform_cpu(p)->name);
	if (rc == 0)
		unc_platform_close(p);
	return rc < 0;
}
