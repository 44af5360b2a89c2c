/* SPDX-License-Identifier: BSD-3-Clause */
/* The most that the memory of a socket can move: told by the site, or channels by the speed of their
 * modules. */
#include "host/smbios.h"
#include "platform/platform.h"

#define SITE_TELLS "; peak in [memory] of /etc/libuncore/site.conf tells it"

enum { CHANNEL_BYTES = 8 }; /* width of a channel */

/* ---- channels */

struct channels {
	unsigned of[UNC_MAX_SOCKETS], all;
};

/* Channels by the units that count their accesses; UNC_ERR_UNAVAILABLE: they do not tell. */
static int count_channels(const struct unc_platform *p, struct channels *c, struct unc_error *err)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_tbl_type *type = &p->table->type[u->type];

		if (type->memory == UNC_MEMORY_NONE)
			continue;
		if (u->unknown)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"nobody says how many channels there are");
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

/* ---- speed */

static int speed_of(const struct unc_platform *p, unsigned channels, unsigned *speed,
		    struct unc_error *err)
{
	struct unc_smbios_memory memory;
	int rc;

	*speed = p->machine->memory_speed;
	if (*speed)
		return 0;
	if (p->machine->simulated)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine was not given the speed of its memory "
				"(memory=MT/s)");
	if ((rc = unc_smbios_read(p->fs, channels, &memory, err)) < 0)
		return rc;
	*speed = memory.speed;
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

int unc_peaks_find(struct unc_platform *p, struct unc_error *err)
{
	const struct unc_site_peaks *site = &p->site.peaks;
	struct channels c = {.all = 0};
	unsigned speed = 0;
	int rc;

	p->peaks.why = site->why;
	if (site->why.code)
		return 0;
	for (int i = 0; i < p->topology.n_sockets; i++)
		p->peaks.of[i] = site->of[i] > 0 ? site->of[i] : site->each;
	if (all_known(p))
		return 0;
	if ((rc = count_channels(p, &c, &p->peaks.why)) == 0)
		rc = speed_of(p, c.all, &speed, &p->peaks.why);
	for (int i = 0; rc == 0 && i < p->topology.n_sockets; i++)
		if (p->peaks.of[i] <= 0)
			p->peaks.of[i] = 1e6 * speed * CHANNEL_BYTES * c.of[i];
	return rc == UNC_ERR_MEMORY ? unc_fail(err, rc, "out of memory") : 0;
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
			return unc_fail(
				err, UNC_ERR_UNAVAILABLE,
				"what the memory of socket %d can move is not known: %s%s", i,
				p->peaks.why.text[0] ? p->peaks.why.text : "it has no channels",
				p->machine->simulated || p->site.peaks.why.code ? "" : SITE_TELLS);
		sum += p->peaks.of[i];
	}
	*bytes_per_second = sum;
	return 0;
}
