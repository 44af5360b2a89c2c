/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the running kernel: PMUs from sysfs, counts from perf_event_open. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "host/cpu.h"
#include "host/events.h"
#include "host/fs.h"

static const char devices[] = "/sys/bus/event_source/devices";

static int read_pmu(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
		    size_t size)
{
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

/* Parses "config:8-15,32-63"; after the name of the word follows a list like that of CPUs. */
static uint64_t parse_bits(const char *text, const char *word)
{
	size_t length = strlen(word);
	bool named[UNC_MAX_CPUS] = {false};
	uint64_t bits = 0;

	if (strncmp(text, word, length) != 0 || text[length] != ':' ||
	    !unc_cpu_list(text + length + 1, named))
		return 0;
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)named[i] << i;
	return bits;
}

static uint64_t umask_of(struct unc_machine *machine, const char *pmu)
{
	char text[64];

	if (unc_fs_text(machine->fs, text, sizeof(text), "%s/%s/format/umask", devices, pmu) < 0)
		return 0;
	return parse_bits(text, "config");
}

int unc_events_format(const struct unc_fs *fs, const char *pmu, struct unc_kernel_event *bits)
{
	char **names = unc_fs_list(fs, "%s/%s/format", devices, pmu), text[64];

	if (!names)
		return errno;
	*bits = (struct unc_kernel_event){0};
	for (char **name = names; *name; name++) {
		if (unc_fs_text(fs, text, sizeof(text), "%s/%s/format/%s", devices, pmu, *name) < 0)
			continue;
		bits->config |= parse_bits(text, "config");
		bits->config1 |= parse_bits(text, "config1");
		bits->config2 |= parse_bits(text, "config2");
	}
	free(names);
	return 0;
}

/* ---- PMUs and events that may be opened */

/* The first type that a PMU driver gets; a test sets a lower one, to count with the kernel's own PMUs. */
#ifndef UNC_FIRST_PMU_TYPE
#define UNC_FIRST_PMU_TYPE PERF_TYPE_MAX
#endif

static const struct known {
	char begin[24];
	unsigned counters; /* 0: the PMU is not used */
	const char *text;
} known[] = {
#define TAKE(begin, counters, title) {begin, counters, title},
#define LEAVE(begin, why) {begin, 0, why},
#include "host/pmus.inc"
};

static const struct known *find_known(const char *name)
{
	size_t i = 0;

	while (i < sizeof(known) / sizeof(known[0]) &&
	       strncmp(name, known[i].begin, strlen(known[i].begin)) != 0)
		i++;
	return i < sizeof(known) / sizeof(known[0]) ? &known[i] : NULL;
}

unsigned unc_events_counters(const char *name)
{
	const struct known *row = find_known(name);

	return row ? row->counters : 0;
}

const char *unc_events_title(const char *name)
{
	const struct known *row = find_known(name);

	return row ? row->text : "";
}

bool unc_events_pmu(const char *name)
{
	static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	const char *dot = strchr(name, '.'); /* "cxl_pmu_mem0.0" has one, between numbers */

	return unc_events_counters(name) && !name[strspn(name, rest)] &&
	       (!dot || (isdigit((unsigned char)dot[-1]) && isdigit((unsigned char)dot[1]) &&
			 !strchr(dot + 1, '.')));
}

bool unc_events_type(uint32_t type)
{
	return type >= UNC_FIRST_PMU_TYPE;
}

struct perf_event_attr unc_events_attr(uint32_t type, const struct unc_kernel_event *event,
				       bool leads, bool pinned)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = leads,
		.pinned = leads && pinned,
	};
}

void unc_events_close(struct unc_machine *machine, const int *fd, size_t n)
{
	while (n-- > 0) /* the leader last: without it the others are no group */
		machine->events->close(machine, fd[n]);
}

int unc_events_open(struct unc_machine *machine, const struct unc_kernel_place *place,
		    const struct unc_kernel_event *event, size_t n, bool pinned, int *fd,
		    size_t *refused)
{
	const struct unc_machine_events *events = machine->events;
	int error;

	for (size_t i = 0; i < n;) {
		struct perf_event_attr attr =
			unc_events_attr(place->type, &event[i], i == 0, pinned);

		fd[i] = events->open(machine, &attr, (int)place->cpu, i ? fd[0] : -1);
		error = errno;
		if (fd[i] >= 0) {
			i++;
		} else if (error != EMFILE || !unc_fs_raise_limit()) {
			unc_events_close(machine, fd, i);
			*refused = i;
			return error;
		}
	}
	if (events->enable(machine, fd[0]) == 0)
		return 0;
	error = errno;
	unc_events_close(machine, fd, n);
	*refused = 0;
	return error;
}

/* Returns the key of a dump's entry: the right to count depends on PMU and CPU, not on the event. */
static uint64_t right_key(const struct perf_event_attr *attr, int cpu)
{
	return (uint64_t)attr->type << 32 | (uint32_t)cpu;
}

static int open_event(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		      int group_fd)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
	int error = errno;

	(void)unc_fs_asked(machine ? machine->fs : NULL, right_key(attr, cpu), fd < 0 ? error : 0);
	errno = error;
	return fd;
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
	.find = read_pmu,
	.umask = umask_of,
	.open = open_event,
	.enable = enable_event,
	.read = read_event,
	.close = close_event,
};

/* ---- from a dump: PMUs and rights as recorded; no event counts */

static int reopen_event(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
			int group_fd)
{
	(void)group_fd;
	errno = unc_fs_asked(machine->fs, right_key(attr, cpu), 0);
	return errno ? -1 : unc_above_stdio(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static int enable_nothing(struct unc_machine *machine, int fd)
{
	(void)machine;
	(void)fd;
	errno = EROFS;
	return -1;
}

static long read_nothing(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	(void)buf;
	(void)size;
	return enable_nothing(machine, fd);
}

const struct unc_machine_events unc_events_replayed = {
	.find = read_pmu,
	.umask = umask_of,
	.open = reopen_event,
	.enable = enable_nothing,
	.read = read_nothing,
	.close = close_event,
};
