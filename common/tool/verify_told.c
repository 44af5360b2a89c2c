/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify on a simulated machine: nothing is moved. The machine is told, by lines of a file, what the
 * generator would have moved, and in which time, which passes for it so. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify.h"

static const double rate = 15e9; /* bytes a second */
static const double seconds = 0.2;

char *verify_told_machine(const char *sim, int *fd)
{
	*fd = memfd_create("uncore-verify", MFD_CLOEXEC);
	/* as much other traffic as an idle machine has */
	return *fd < 0 ? NULL
		       : must_print("%s,told=/proc/self/fd/%d%s", sim, *fd,
				    strstr(sim, ",load=") ? "" : ",load=0.05");
}

static const char *ready(struct verify *v, const struct flow *flow)
{
	if (flow->kind != IDLE && unc_platform_cpu(v->platform)->family == 0x20)
		return "there is no generator of traffic for an Itanium";
	return NULL;
}

static bool move(struct verify *v, const struct flow *flow, struct moved *moved)
{
	double bytes = flow->kind == IDLE ? 0 : rate * seconds;
	char line[128];
	int n = snprintf(line, sizeof(line), "%.0f %d %d %.0f %.0f %.0f %d\n", seconds * 1e9,
			 flow->from, flow->home, flow->kind == READS ? bytes : 0,
			 flow->kind == WRITES ? bytes : 0, flow->kind == DEVICE ? bytes : 0,
			 flow->node);

	if (write(*(int *)v->of_mover, line, (size_t)n) != n)
		return verify_fail(v, "the simulated machine cannot be told: %s", strerror(errno));
	*moved = (struct moved){bytes, seconds};
	return true;
}

static int nodes(struct verify *v, int socket)
{
	const struct unc_node *node;
	int n = 0;

	for (size_t i = 0; (node = unc_node_get(v->platform, i)); i++)
		n += node->socket == socket;
	return strstr(getenv("UNCORE_SIM"), ",split=") ? 2 : n;
}

static void end(struct verify *v)
{
	close(*(int *)v->of_mover);
	free(v->of_mover);
}

const struct mover verify_told = {ready, move, nodes, end};
