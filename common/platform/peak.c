/* SPDX-License-Identifier: BSD-3-Clause */
/* The most that the memory can move. */
#include "platform/platform.h"

int unc_peak_of(const struct unc_platform *p, int socket, double *bytes_per_second,
		struct unc_error *err)
{
	(void)bytes_per_second;
	if (!p->access)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"what the memory can move is not known: the platform was opened for "
			"listing only");
	if (socket < -1 || socket >= p->topology.n_sockets)
		return unc_fail(err, UNC_ERR_RANGE, "this machine has sockets 0 to %d, not %d",
				p->topology.n_sockets - 1, socket);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"what the memory can move is not known: nothing tells the speed of its "
			"modules");
}
