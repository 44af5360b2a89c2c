/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_event_open() of the events that driver_events.c serves, for a host/events.c that is compiled
 * with -Dsyscall=driver_syscall. DRIVER_EVENTS is where they are mounted. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

long driver_syscall(long number, ...);

static int open_event(const struct perf_event_attr *attr, int cpu, int group)
{
	char path[512];
	uint64_t leader = 0;

	if (group >= 0 && ioctl(group, PERF_EVENT_IOC_ID, &leader) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/open/%u:%d:%llu:%d:%d:%llx:%llx:%llx", DRIVER_EVENTS,
		 attr->type, cpu, (unsigned long long)leader, attr->pinned, attr->disabled,
		 (unsigned long long)attr->config, (unsigned long long)attr->config1,
		 (unsigned long long)attr->config2);
	return open(path, O_RDONLY | O_CLOEXEC);
}

long driver_syscall(long number, ...)
{
	long word[5];
	va_list ap;

	va_start(ap, number);
	if (number == SYS_perf_event_open) {
		const struct perf_event_attr *attr = va_arg(ap, const struct perf_event_attr *);
		int pid = va_arg(ap, int), cpu = va_arg(ap, int), group = va_arg(ap, int);

		va_end(ap);
		errno = EINVAL;
		return pid == -1 ? open_event(attr, cpu, group) : -1;
	}
	for (int i = 0; i < 5; i++)
		word[i] = va_arg(ap, long);
	va_end(ap);
	return syscall(number, word[0], word[1], word[2], word[3], word[4]);
}
