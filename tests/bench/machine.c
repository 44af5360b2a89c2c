/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../fake_root.h"

enum {
	N_MSRS = 0x4000,
	CONFIG_SIZE = 4096,
	MAX_FUNCTIONS = 64,
	MAX_FILES = 65536,
	MAX_MAPS = 1024,
	MAX_GROUPS = 1024,
	FIRST_BUS = 0x1e,
	BUSES = 0x20,
	CLOCK_EVENT = 1, /* CLOCKTICKS of slices, links and channels */
	OF_UNIT = 4,     /* counters of a slice or link */
	OF_CHANNEL = 5   /* the fixed one is the last */
};
static const uint64_t counter_mask = ((uint64_t)1 << 48) - 1;

/* Register files, and groups of the kernel's events, that are open. Numbers of sockets, functions and
 * groups count from 1. */
static struct {
	uint8_t socket, function;
	uint16_t group;
} file[MAX_FILES];

/* Processes that are forked off have the same machine. */
static struct registers {
	uint64_t msr[MAX_SOCKETS][N_MSRS];
	struct function {
		unsigned bus, device, function;
		unsigned char config[CONFIG_SIZE];
	} pci[MAX_FUNCTIONS];
} * all;
static unsigned n_pci;

static struct map {
	char *at;
	size_t length;
	uint64_t offset;
} map[MAX_MAPS];
static unsigned n_maps;
static volatile uint64_t *mapped[MAX_MAPS]; /* counters */
static unsigned n_mapped;
static bool memory_counts;
static uint64_t countings; /* of all of them, until now */
static double counting_ns; /* of one */

/* How a counter counts in the changing world. */
struct rate {
	double per_ns, part; /* of a count that is not whole yet */
	uint64_t seen_ns;    /* the counter holds what it had counted by then */
};
static struct {
	struct rate slice[MAX_SOCKETS][CHAS][OF_UNIT];
	struct rate function[MAX_FUNCTIONS][OF_UNIT];
	struct rate memory[MAX_MAPS];
	struct group {
		struct rate rate;
		uint64_t clock, count; /* of the kernel's event, and what it stands for */
	} group[MAX_GROUPS];
	unsigned groups;
	uint64_t random;
} * changing; /* NULL: the world is steady */

static struct fake_root root;
static _Atomic uint64_t reads, writes, remote, skipped;
/* Rounds of an empty loop that an access, and a remote one, take in addition. */
static struct {
	unsigned local, remote;
} loops, calibrated;
static _Thread_local bool everywhere;
static _Thread_local unsigned here; /* the CPU that this thread runs on */
static _Atomic uint64_t stands;     /* the time at which the clocks stand, in ns; 0: they go */

const char *machine_root(void)
{
	return root.path;
}

struct machine_counts machine_counts(void)
{
	return (struct machine_counts){reads, writes, remote};
}

void machine_memory_counts(void)
{
	memory_counts = true;
}

static uint64_t steps(struct rate *r, uint64_t ns)
{
	double count = r->per_ns * (double)ns + r->part;
	uint64_t whole = (uint64_t)count;

	r->part = count - (double)whole;
	return whole;
}

/* Of a channel the last counter is a clock; the others are if CTL[4], at 0x40, says so. */
static bool is_memory_clock(unsigned i)
{
	const volatile char *ctr = (const volatile char *)mapped[i];
	unsigned k = i % OF_CHANNEL;

	return k == OF_CHANNEL - 1 || ctr[0x40 - 0x8 - 4 * (int)k] == CLOCK_EVENT;
}

/* Counters in memory make a step a ns, as clocks do. */
static void count_mapped(uint64_t ns)
{
	for (unsigned i = 0; i < n_mapped; i++)
		*mapped[i] +=
			changing && !is_memory_clock(i) ? steps(&changing->memory[i], ns) : ns;
}

void machine_skip(uint64_t ns)
{
	count_mapped(ns);
	skipped += ns;
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

static int real_time(clockid_t id, struct timespec *t)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	return next(id, t);
}

/* The machine's, of which nothing is set going. */
static uint64_t time_now(void)
{
	struct timespec t;

	real_time(CLOCK_MONOTONIC, &t);
	return ns_of(&t) + skipped;
}

void machine_stand_still(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	stands = ns_of(&t) - skipped;
}

/* ---- files of registers */

/* What file of registers a path is. */
static void remember(int fd, const char *path)
{
	const char *cpu = strstr(path, "/dev/cpu/"), *name = strstr(path, "/devices/");
	unsigned number, domain, bus, device, function;

	if (fd < 0 || fd >= MAX_FILES)
		return;
	file[fd].socket = file[fd].function = 0;
	if (strncmp(path, root.path, strlen(root.path)) != 0)
		return;
	if (cpu && sscanf(cpu, "/dev/cpu/%u/msr", &number) == 1)
		file[fd].socket = (uint8_t)(number / CPUS + 1);
	if (!name || !strstr(name, "/config") ||
	    sscanf(name, "/devices/%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return;
	for (unsigned i = 0; i < n_pci; i++)
		if (all->pci[i].bus == bus && all->pci[i].device == device &&
		    all->pci[i].function == function)
			file[fd].function = (uint8_t)(i + 1);
}

/* ---- in place of the C library's: registers */

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);

	remember(fd, path);
	return fd;
}

int close(int fd)
{
	if (fd >= 0 && fd < MAX_FILES)
		file[fd].socket = file[fd].function = file[fd].group = 0;
	return (int)syscall(SYS_close, fd);
}

/* What an access costs; `by` is where it is counted. */
static void take_time(_Atomic uint64_t *by, unsigned socket)
{
	++*by;
	bool far = socket && !everywhere && socket - 1 != here / CPUS;

	remote += far;
	for (unsigned i = far ? loops.remote : loops.local; i > 0; i--)
		__asm__ volatile("");
}

/* What a counter that has such an event as its control's lowest byte has counted since it was last
 * asked for. */
static uint64_t counted(struct rate *r, unsigned event)
{
	uint64_t now, before;

	if (!changing)
		return event != 0;
	now = time_now();
	before = r->seen_ns;
	r->seen_ns = now;
	return !event ? 0 : event == CLOCK_EVENT ? now - before : steps(r, now - before);
}

/* Counters count while their controls select an event: CTL[4] and CTR[4] of a slice at 2 and 8. */
static bool is_slice_counter(unsigned at)
{
	return at >= 0x2000 && at < 0x2000 + 0x10 * CHAS && (at & 0xf) >= 8 && (at & 0xf) < 12;
}

static void count_msr(unsigned socket, unsigned at)
{
	uint64_t *msr = all->msr[socket];
	struct rate *rate = NULL;

	if (!is_slice_counter(at))
		return;
	if (changing)
		rate = &changing->slice[socket][(at >> 4) & 0xff][at & 3];
	msr[at] = (msr[at] + counted(rate, msr[at - 6] & 0xff)) & counter_mask;
}

/* Of a UPI link: CTR[4] at 0x320, CTL[4] at 0x350. */
static void count_link(unsigned function, unsigned at)
{
	unsigned char *config = all->pci[function].config;
	uint64_t counter;

	if (at < 0x320 || at >= 0x340 || at & 7)
		return;
	memcpy(&counter, config + at, sizeof(counter));
	counter += counted(changing ? &changing->function[function][(at - 0x320) / 8] : NULL,
			   config[at + 0x30]);
	counter &= counter_mask;
	memcpy(config + at, &counter, sizeof(counter));
}

/* By time a counter counts for its control until that is written, or the counter. */
static void settle_msr(unsigned socket, unsigned at)
{
	if (changing)
		count_msr(socket, is_slice_counter(at) ? at : at + 6);
}

static void settle_link(unsigned function, unsigned at)
{
	if (changing)
		count_link(function, at < 0x350 ? at : at - 0x30);
}

/* The word at a physical address, where the library has mapped it. */
static volatile uint64_t *word_at(uint64_t address)
{
	for (unsigned i = 0; i < n_maps; i++)
		if (address >= map[i].offset && address - map[i].offset < map[i].length)
			return (volatile uint64_t *)(void *)(map[i].at + (address - map[i].offset));
	return NULL;
}

/* Of a channel: CTR[4] at 8, FIXED_CTR at 0x38. */
static void map_counters(char *at, uint64_t address, size_t length)
{
	static const unsigned counters[] = {0x8, 0x10, 0x18, 0x20, 0x38};

	for (uint64_t page = 0; page < length; page += 4096)
		for (unsigned i = 0; i < OF_CHANNEL && ((address + page) & 0x7fff) == 0x2000; i++)
			mapped[n_mapped++] =
				(volatile uint64_t *)(void *)(at + page + 0x800 + counters[i]);
}

static unsigned socket_of(int fd)
{
	return fd >= 0 && fd < MAX_FILES ? file[fd].socket : 0;
}

static unsigned function_of(int fd)
{
	return fd >= 0 && fd < MAX_FILES ? file[fd].function : 0;
}

ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
	unsigned socket = socket_of(fd), function = function_of(fd);

	if (socket && at < N_MSRS && size == 8) {
		count_msr(socket - 1, (unsigned)at);
		memcpy(buf, &all->msr[socket - 1][at], 8);
	} else if (function && (size_t)at + size <= CONFIG_SIZE) {
		count_link(function - 1, (unsigned)at);
		memcpy(buf, all->pci[function - 1].config + at, size);
	} else {
		return syscall(SYS_pread64, fd, buf, size, at);
	}
	take_time(&reads, socket);
	return (ssize_t)size;
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
	unsigned socket = socket_of(fd), function = function_of(fd);

	if (socket && at < N_MSRS && size == 8) {
		settle_msr(socket - 1, (unsigned)at);
		memcpy(&all->msr[socket - 1][at], buf, 8);
	} else if (function && (size_t)at + size <= CONFIG_SIZE) {
		settle_link(function - 1, (unsigned)at);
		memcpy(all->pci[function - 1].config + at, buf, size);
	} else {
		return syscall(SYS_pwrite64, fd, buf, size, at);
	}
	take_time(&writes, socket);
	return (ssize_t)size;
}

/* An event of the kernel's clock counts at the group's rate. It is the only one of its group here. */
static void count_group(struct group *g, uint64_t *clock)
{
	g->count += steps(&g->rate, *clock - g->clock);
	g->clock = *clock;
	*clock = g->count;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t n = syscall(SYS_read, fd, buf, size);
	unsigned group = changing && fd >= 0 && fd < MAX_FILES ? file[fd].group : 0;
	uint64_t head[4]; /* events, time enabled, time running, the event */

	if (!group || n < (ssize_t)sizeof(head))
		return n;
	memcpy(head, buf, sizeof(head));
	count_group(&changing->group[group - 1], &head[3]);
	memcpy(buf, head, sizeof(head));
	return n;
}

static void remember_group(long fd)
{
	if (!changing || fd < 0 || fd >= MAX_FILES)
		return;
	if (changing->groups == MAX_GROUPS)
		fake_die("too many groups");
	file[fd].group = (uint16_t)++changing->groups;
}

/* A PMU of the tree is none of the kernel that runs: its events are made of its clock, which every
 * kernel has. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	struct perf_event_attr clock_event;
	long a[6];
	va_list args;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open) {
		clock_event = *(const struct perf_event_attr *)a[0];
		clock_event.type = PERF_TYPE_SOFTWARE;
		clock_event.config = PERF_COUNT_SW_CPU_CLOCK;
		clock_event.config1 = clock_event.config2 = 0;
		a[0] = (long)&clock_event;
		a[2] = 0;
	}
	long rc = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (number == SYS_perf_event_open)
		remember_group(rc);
	return rc;
}

/* ---- CPUs: those of the machine, of which a thread runs on the lowest that it is bound to */

static unsigned n_cpus;
static _Thread_local bool is_bound;
static _Thread_local cpu_set_t bound;

int sched_getcpu(void)
{
	return (int)here;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid; /* 0, or this thread's */
	memset(set, 0, size);
	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		if (!is_bound || CPU_ISSET(cpu, &bound))
			CPU_SET_S(cpu, size, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	cpu_set_t wanted;
	unsigned lowest = n_cpus;

	(void)pid;
	CPU_ZERO(&wanted);
	for (unsigned cpu = n_cpus; cpu-- > 0;)
		if (CPU_ISSET_S(cpu, size, set)) {
			CPU_SET(cpu, &wanted);
			lowest = cpu;
		}
	if (lowest == n_cpus) {
		errno = EINVAL;
		return -1;
	}
	is_bound = true;
	bound = wanted;
	here = lowest;
	return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	(void)thread; /* this one */
	return sched_getaffinity(0, size, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	(void)thread;
	return sched_setaffinity(0, size, set);
}

/* ---- memory and time */

void *mmap(void *where, size_t length, int access, int flags, int fd, off_t offset)
{
	void *at = (void *)syscall(SYS_mmap, where, length, access, flags, fd, offset);

	if (at != MAP_FAILED && (access & PROT_WRITE) && fd >= 0 && n_maps < MAX_MAPS) {
		if (!word_at((uint64_t)offset))
			map_counters(at, (uint64_t)offset, length);
		map[n_maps++] = (struct map){at, length, (uint64_t)offset};
	}
	return at;
}

/* Time passes where somebody waits for it, at once. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	machine_skip(ns_of(time));
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	static uint64_t counted;
	/* Counting is to take no time. In the changing world who looks again whether a counter moves
	   finds that it does, and the time is told: machine_counting_ns(). */
	const uint64_t often = changing ? 0 : 20000;

	bool used = id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID;
	int rc = real_time(used ? id : CLOCK_MONOTONIC,
			   t); /* it never slept, and no clock is behind */

	if (used)
		return rc;
	uint64_t now = stands ? stands += 50 : ns_of(t);

	if (memory_counts && now - counted > often) {
		count_mapped(counted ? now - counted : 0);
		counted = now;
		countings++;
	}
	now += skipped;
	t->tv_sec = (time_t)(now / 1000000000);
	t->tv_nsec = (long)(now % 1000000000);
	return rc;
}

/* ---- the time of an access */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the empty loop is run for an access to take its time: the best of some tries, for what else the
 * machine does only makes it slower. A counter is read, of which nobody has the control. */
static void calibrate(void)
{
	enum { TRIES = 30, N = 1000 };
	uint64_t best[2] = {UINT64_MAX, UINT64_MAX}, value;
	static const unsigned length[2] = {0, 1000};
	int fd = open(fake_path(&root, "/dev/cpu/0/msr"), O_RDONLY | O_CLOEXEC);
	uint64_t *msr = all->msr[0];
	const off_t at = changing ? 0x2008 : 0x2000;

	msr[0x2002] = changing ? CLOCK_EVENT + 1 : 0;
	for (unsigned i = 0; i < TRIES; i++)
		for (unsigned k = 0; k < 2; k++) {
			loops.local = length[k];
			uint64_t begin = cpu_ns();

			for (unsigned n = 0; n < N; n++)
				if (pread(fd, &value, 8, at) != 8)
					fake_die("msr");
			uint64_t took = cpu_ns() - begin;

			best[k] = took < best[k] ? took : best[k];
		}
	close(fd);
	msr[0x2002] = msr[0x2008] = 0;
	const double round = (double)(best[1] - best[0]) / length[1], own = (double)best[0];

	calibrated.local = (unsigned)(((double)ACCESS_NS * N - own) / round);
	calibrated.remote = (unsigned)(((double)REMOTE_NS * N - own) / round);
}

void machine_delay(unsigned ns)
{
	loops = calibrated;
	if (!ns)
		loops.local = loops.remote = 0;
}

void machine_everywhere(bool is)
{
	everywhere = is;
}

/* ---- the changing world */

/* 0.5 to 2, as often below 1 as above. */
static double draw_factor(void)
{
	uint64_t x = changing->random += 0x9e3779b97f4a7c15; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	x ^= x >> 31;
	double half = 0.5 + (double)(x >> 12) / (double)((uint64_t)1 << 53);

	return x & 1 ? half : 1 / half;
}

/* 10 million to a billion counts a second: one that would leave that goes the other way. */
static void change(struct rate *r)
{
	double factor = draw_factor(), next = r->per_ns * factor;

	r->per_ns = next < 0.01 || next > 1 ? r->per_ns / factor : next;
}

/* Calls for all counters that there are, in an order that is always the same. */
static void each_rate(void (*call)(struct rate *))
{
	for (unsigned i = 0; i < n_cpus / CPUS; i++)
		for (unsigned k = 0; k < CHAS * OF_UNIT; k++)
			call(&changing->slice[i][k / OF_UNIT][k % OF_UNIT]);
	for (unsigned k = 0; k < n_pci * OF_UNIT; k++)
		call(&changing->function[k / OF_UNIT][k % OF_UNIT]);
	for (unsigned i = 0; i < MAX_MAPS; i++)
		call(&changing->memory[i]);
	for (unsigned i = 0; i < MAX_GROUPS; i++)
		call(&changing->group[i].rate);
}

static void begin_rate(struct rate *r)
{
	*r = (struct rate){.per_ns = 0.1, .seen_ns = time_now()};
	for (unsigned i = 0; i < 8; i++)
		change(r);
}

void machine_begin_changing(void)
{
	changing = mmap(NULL, sizeof(*changing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (changing == MAP_FAILED)
		fake_die("mmap");
	changing->random = 1;
	each_rate(begin_rate);
	calibrate();
	loops = calibrated;
}

/* The best of some tries. */
static void calibrate_counting(void)
{
	enum { TRIES = 30, N = 1000 };
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t begin = cpu_ns();

		for (unsigned n = 0; n < N; n++)
			count_mapped(0);
		uint64_t took = cpu_ns() - begin;

		best = took < best ? took : best;
	}
	counting_ns = (double)best / N;
}

double machine_counting_ns(void)
{
	return (double)countings * counting_ns;
}

void machine_change(void)
{
	struct timespec now;

	if (memory_counts && counting_ns == 0)
		calibrate_counting();
	for (unsigned i = 0; i < n_cpus / CPUS; i++)
		for (unsigned k = 0; k < CHAS * OF_UNIT; k++)
			count_msr(i, 0x2008 + 0x10 * (k / OF_UNIT) + k % OF_UNIT);
	for (unsigned i = 0; i < n_pci * OF_UNIT; i++)
		count_link(i / OF_UNIT, 0x320 + 8 * (i % OF_UNIT));
	if (memory_counts)
		clock_gettime(CLOCK_MONOTONIC, &now);
	each_rate(change);
}

void machine_sleep(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (syscall(SYS_nanosleep, &left, &left) < 0)
		continue;
}

/* ---- what a kernel shows: functions and offsets of Intel 817509-001 */

/* In the kernel's list of all functions, without BARs. */
static void list_function(unsigned bus, unsigned device, unsigned function, unsigned id)
{
	FILE *list = fopen(fake_path(&root, "/proc/bus/pci/devices"), "a");

	if (!list)
		fake_die("the list of functions");
	fprintf(list, "%02x%02x\t8086%04x\t0", bus, device << 3 | function, id);
	for (int i = 0; i < 14; i++)
		fprintf(list, "\t%16x", 0);
	fputc('\n', list);
	fclose(list);
}

static void add_function(unsigned bus, unsigned device, unsigned function, unsigned id)
{
	if (n_pci == MAX_FUNCTIONS)
		fake_die("too many PCI functions");
	const char near[] = {(char)('0' + (bus - FIRST_BUS) / BUSES), '\n', '\0'};

	all->pci[n_pci].bus = bus;
	all->pci[n_pci].device = device;
	all->pci[n_pci].function = function;
	n_pci++;
	fake_function(&root, bus, device, function, id, CONFIG_SIZE);
	list_function(bus, device, function, id);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/numa_node", bus, device,
			    function),
		  near);
}

/* What was put went to the registers of this process: older versions read the files by libpci. */
static void save_functions(void)
{
	for (unsigned i = 0; i < n_pci; i++) {
		int fd = open(fake_config(&root, all->pci[i].bus, all->pci[i].device,
					  all->pci[i].function),
			      O_WRONLY | O_CLOEXEC);

		if (syscall(SYS_pwrite64, fd, all->pci[i].config, CONFIG_SIZE, 0) != CONFIG_SIZE)
			fake_die("config");
		close(fd);
	}
}

static void add_socket(unsigned socket, FILE *cpuinfo)
{
	unsigned bus = FIRST_BUS + BUSES * socket, first = socket * CPUS;
	char text[32];

	snprintf(text, sizeof(text), "%u-%u\n", first, first + CPUS - 1);
	for (unsigned cpu = first; cpu < first + CPUS; cpu++) {
		fprintf(cpuinfo,
			"processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			"model\t\t: 207\nmodel name\t: made of files\nstepping\t: 2\n"
			"physical id\t: %u\ncore id\t\t: %u\n\n",
			cpu, socket, cpu - first);
		if (symlink("/dev/null", fake_path(&root, "/dev/cpu/%u/msr", cpu)) < 0)
			fake_die("msr"); /* a device: this is no dump of a machine */
	}
	fake_text(fake_path(&root, "/sys/devices/system/node/node%u/cpulist", socket), text);
	add_function(bus, 0, 0, 0x3250); /* UBox */
	fake_put(&root, bus, 0, 0, 0xc0, socket);
	fake_put(&root, bus, 0, 0, 0xd4, 076543210);
	add_function(bus, 0, 1, 0x3251); /* memory controllers at 2 GB a socket above 64 GB */
	fake_put(&root, bus, 0, 1, 0xd0, 0x2000 + 0x100 * socket);
	for (unsigned mc = 0; mc < 4; mc++)
		fake_put(&root, bus, 0, 1, 0xd8 + 4 * mc, 0x80 * mc);
	add_function(bus, 0x1e, 3, 0x325b); /* slices */
	fake_put(&root, bus, 0x1e, 3, 0x9c, UINT32_MAX);
	fake_put(&root, bus, 0x1e, 3, 0xa0, (1u << (CHAS - 32)) - 1);
	for (unsigned link = 0; link < 3; link++)
		add_function(bus, 1 + link, 1, 0x3241);
}

void machine_others(unsigned n)
{
	static const char *const text[][2] = {
		{"vendor", "0x8086\n"},        {"device", "0x1234\n"}, {"class", "0x088000\n"},
		{"resource", "0x0 0x0 0x0\n"}, {"numa_node", "0\n"},   {"local_cpulist", "0-31\n"}};

	for (unsigned i = 0; i < n; i++) {
		unsigned bus = 0xe0 + i / 256, device = i / 8 % 32, function = i % 8;

		fake_function(&root, bus, device, function, 0x1234, CONFIG_SIZE);
		list_function(bus, device, function, 0x1234);
		for (unsigned k = 0; k < sizeof(text) / sizeof(text[0]); k++)
			fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/%s", bus,
					    device, function, text[k][0]),
				  text[k][1]);
	}
}

bool machine_enter(void)
{
	if (chroot(root.path) < 0 || chdir("/") < 0)
		return false;
	root.path[0] = '\0';
	return true;
}

void machine_pmus(unsigned sockets)
{
	static const char where[] = "/sys/bus/event_source/devices/uncore_cha_%u/%s";
	char cpus[64] = "", type[16];

	for (unsigned i = 0; i < sockets; i++)
		snprintf(cpus + strlen(cpus), sizeof(cpus) - strlen(cpus), "%s%u", i ? "," : "",
			 i * CPUS);
	for (unsigned i = 0; i < CHAS; i++) {
		snprintf(type, sizeof(type), "%u\n", 24 + i);
		fake_text(fake_path(&root, where, i, "type"), type);
		fake_text(fake_path(&root, where, i, "cpumask"), cpus);
		fake_text(fake_path(&root, where, i, "format/umask"), "config:8-15,32-55\n");
	}
}

void machine_begin(unsigned sockets)
{
	FILE *cpuinfo;
	char online[32];

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		fake_die("mmap");
	memset(all, 0, sizeof(*all)); /* its pages are there, before anybody counts pages */
	n_pci = n_maps = n_mapped = 0;
	n_cpus = sockets * CPUS;
	fake_new(&root);
	cpuinfo = fopen(fake_path(&root, "/proc/cpuinfo"), "w");
	if (!cpuinfo)
		fake_die("cpuinfo");
	for (unsigned i = 0; i < sockets; i++)
		add_socket(i, cpuinfo);
	fclose(cpuinfo);
	fake_size(fake_path(&root, "/dev/mem"), (uint64_t)(0x2000 + 0x100 * sockets) << 23);
	mkdir(fake_path(&root, "/run/libuncore"), 0755);
	snprintf(online, sizeof(online), "0-%u\n", n_cpus - 1);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), online);
	save_functions();
	for (unsigned i = 0; i < sockets; i++)
		all->msr[i][0x2ffe] = CHAS;
	calibrate();
	loops = calibrated;
}

void machine_end(void)
{
	if (changing)
		munmap(changing, sizeof(*changing));
	changing = NULL;
	munmap(all, sizeof(*all));
	fake_free(&root);
}

/* ---- what counts */

struct search {
	struct machine_counter *found;
	unsigned n, room;
};

/* A descriptor of ours; it stays open. */
static int file_of(const char *path)
{
	static char last[1024];
	static int fd = -1;

	if (fd < 0 || strcmp(path, last) != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fake_die(path);
	snprintf(last, sizeof(last), "%s", path);
	return fd;
}

static void find_pci(const struct unc_operation *op, struct machine_counter *c)
{
	const char *at = strstr(op->location, "0000:");
	unsigned bus, device, function;

	if (!at || sscanf(at, "0000:%x:%x.%x", &bus, &device, &function) != 3)
		fake_die(op->location);
	c->fd = file_of(fake_config(&root, bus, device, function));
}

static int find_counter(void *user, const struct unc_operation *op)
{
	struct search *s = user;
	struct machine_counter c = {.fd = -1,
				    .at = (int64_t)op->address,
				    .unit = (unsigned)(op->socket << 16 | op->index)};

	if (op->write || !strstr(op->reg, "CTR") || s->n == s->room)
		return 0;
	if (strcmp(op->space, "msr") == 0) {
		c.fd = file_of(fake_path(&root, "/dev/cpu/%u/msr", (unsigned)op->socket * CPUS));
	} else if (strcmp(op->space, "pci") == 0) {
		find_pci(op, &c);
	} else {
		c.word = word_at(op->address);
	}
	s->found[s->n++] = c;
	return 0;
}

static int by_unit(const void *a, const void *b)
{
	const struct machine_counter *x = a, *y = b;

	return (x->unit > y->unit) - (x->unit < y->unit);
}

unsigned machine_counters(struct unc_session *session, struct machine_counter *found, unsigned room)
{
	struct search s = {.found = found, .room = room};

	if (unc_session_plan(session, UNC_PHASE_READ, find_counter, &s) != 0)
		fake_die("plan");
	qsort(found, s.n, sizeof(*found), by_unit);
	return s.n;
}
