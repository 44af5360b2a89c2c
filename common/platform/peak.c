/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory bandwidth of a socket: from the site; of a simulated machine, channels times the speed
 * of their modules. */
#include "platform/platform.h"

enum { CHANNEL_BYTES = 8 }; /* width of a channel */

/* ---- channels */

struct channels {
	unsigned of[UNC_MAX_SOCKETS], all;
};

/* Counts channels by the units that count their accesses; UNC_ERR_UNAVAILABLE: units do not show them. */
static int count_channels(const struct unc_platform *p, struct channels *c, struct unc_error *err)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_tbl_type *type = &p->table->type[u->type];

		if (type->memory == UNC_MEMORY_NONE)
			continue;
		if (u->unknown)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the number of channels is not known");
		if (type->memory == UNC_MEMORY_HBM && !u->available)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"it may have memory on the package (HBM): %s", u->reason);
		if (type->memory == UNC_MEMORY_HBM)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the machine has memory on the package (HBM)");
		c->of[u->socket] += type->channels;
		c->all += type->channels;
	}
	if (!c->all)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the tables do not tell the channels of %s", p->cpu.title);
	return 0;
}

/* ---- peaks */

static bool all_known(const struct unc_platform *p)
{
	for (int i = 0; i < p->topology.n_sockets; i++)
		if (p->peaks.of[i] <= 0)
			return false;
	return true;
}

static void simulated_peaks(struct unc_platform *p)
{
	struct channels c = {.all = 0};

	if (count_channels(p, &c, &p->peaks.why) < 0)
		return;
	if (!p->machine->memory_speed)
		unc_fail(&p->peaks.why, UNC_ERR_UNAVAILABLE,
			 "the simulated machine was not given the speed of its memory "
			 "(memory=MT/s)");
	for (int i = 0; i < p->topology.n_sockets; i++)
		if (p->peaks.of[i] <= 0)
			p->peaks.of[i] = 1e6 * p->machine->memory_speed * CHANNEL_BYTES * c.of[i];
}

void unc_peaks_find(struct unc_platform *p)
{
	const struct unc_site_peaks *site = &p->site.peaks;

	p->peaks.why = site->why;
	if (site->why.code)
		return;
	for (int i = 0; i < p->topology.n_sockets; i++)
		p->peaks.of[i] = site->of[i] > 0 ? site->of[i] : site->each;
	if (all_known(p))
		return;
	if (p->machine->simulated)
		simulated_peaks(p);
	else
		unc_fail(&p->peaks.why, UNC_ERR_UNAVAILABLE,
			 "peak in [memory] of /etc/libuncore/site.conf tells it");
}

int unc_peak_of(const struct unc_platform *p, int socket, double *bytes_per_second,
		struct unc_error *err)
{
	int first = socket < 0 ? 0 : socket, last = socket < 0 ? p->topology.n_sockets - 1 : socket;
	double sum = 0;

	if (!p->access)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"what the memory can move is not known: the platform was opened for "
			"listing only");
	if (socket < -1 || socket >= p->topology.n_sockets)
		return unc_fail(err, UNC_ERR_RANGE, "this machine has sockets 0 to %d, not %d",
				p->topology.n_sockets - 1, socket);
	for (int i = first; i <= last; i++) {
		if (p->peaks.of[i] <= 0)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"what the memory of socket %d can move is not known: %s", i,
					p->peaks.why.text[0] ? p->peaks.why.text
							     : "it has no channels");
		sum += p->peaks.of[i];
	}
	*bytes_per_second = sum;
	return 0;
}
