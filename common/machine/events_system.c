/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the kernel that runs: PMUs from sysfs, counts through perf_event_open. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "host/fs.h"
#include "machine/hardware.h"

static int find_pmu(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
		    size_t size)
{
	static const char devices[] = "/sys/bus/event_source/devices";
	char text[32];
	uint64_t number;

	if (unc_fs_text(machine->fs, text, sizeof(text), "%s/%s/type", devices, pmu) < 0)
		return errno;
	if (!unc_parse_number(text, &number) || number > UINT32_MAX)
		return EBADMSG;
	if (unc_fs_text(machine->fs, mask, size, "%s/%s/cpumask", devices, pmu) < 0)
		return errno;
	*type = (uint32_t)number;
	return 0;
}

static int open_event(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		      int group_fd)
{
	(void)machine;
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}

static int enable_event(struct unc_machine *machine, int fd)
{
	(void)machine;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static long read_event(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	(void)machine;
	return unc_read_more(fd, buf, size);
}

static void close_event(struct unc_machine *machine, int fd)
{
	(void)machine;
	close(fd);
}

const struct unc_machine_events unc_events_system = {
	.find = find_pmu,
	.open = open_event,
	.enable = enable_event,
	.read = read_event,
	.close = close_event,
};
