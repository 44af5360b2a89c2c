/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/perf_rights.h"

#include <errno.h>
#include <stdlib.h>

int unc_perf_level(const struct unc_fs *fs, int *level)
{
	char text[32], *end;
	int rc = unc_fs_text(fs, text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid");
	long value;

	if (rc < 0)
		return rc;
	value = strtol(text, &end, 10);
	if (end == text || *end || value < -100 || value > 100) {
		errno = EBADMSG;
		return UNC_ERR_IO;
	}
	*level = (int)value;
	return 0;
}

/* Linux itself asks for CAP_PERFMON above 0 and knows no level above 2; Debian's and Android's 3, and
 * Ubuntu's 4, close the call to all but CAP_SYS_ADMIN. */
enum unc_perf_right unc_perf_right(int level)
{
	return level >= 3 ? UNC_PERF_ADMIN : level > 0 ? UNC_PERF_PERFMON : UNC_PERF_EVERYBODY;
}

const char *unc_perf_right_name(enum unc_perf_right right)
{
	switch (right) {
	case UNC_PERF_ADMIN:
		return "CAP_SYS_ADMIN";
	case UNC_PERF_PERFMON:
		return "CAP_PERFMON or CAP_SYS_ADMIN";
	default:
		return "no right";
	}
}
