/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command traffic: moves a known number of bytes. One thread on each core of some NUMA nodes, bound to
 * it, each with its part of a buffer in the memory of other nodes, or of the same. The buffer is far
 * larger than the LLC: a line that is read again has long left it. Loads take one word of each line;
 * stores go past the caches, whole lines at a time. Or a disk is read past the page cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "tool.h"

enum { LINE = 64, CHUNK = 1 << 16, PIECE = 2 << 20, BIND = 2 /* MPOL_BIND */, MOST_NODES = 1024 };

struct traffic {
	const struct args *args;
	double seconds;
	cpu_set_t cpus;                        /* one of each core */
	unsigned long memory[MOST_NODES / 64]; /* nodes; none: wherever the kernel puts it */
	char *buffer;
	size_t size;
	volatile bool end;
	pthread_barrier_t ready;
	const char *why; /* it cannot be made; NULL: it can */
};

/* The first line of a file, or "". */
static const char *line_of(char line[4096], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static const char *line_of(char line[4096], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *path = must_format(format, args);
	va_end(args);
	FILE *f = fopen(path, "r");

	if (!f || !fgets(line, 4096, f))
		line[0] = '\0';
	if (f)
		fclose(f);
	free(path);
	return line;
}

/* The next number of a list, "0-3,8"; false: there is none more. */
static bool next_number(const char **list, long *last, long *number)
{
	char *end;

	if (*last > *number) {
		++*number;
		return true;
	}
	*number = strtol(*list, &end, 10);
	if (end == *list)
		return false;
	*last = *end == '-' ? strtol(end + 1, &end, 10) : *number;
	*list = end + (*end == ',');
	return true;
}

/* Whether a list is of NUMA nodes that there are. */
static bool has_nodes(const char *list)
{
	const char *at = list;
	long last = -1, node = -1;
	bool any = false;

	while (next_number(&at, &last, &node)) {
		char *path = must_print("/sys/devices/system/node/node%ld", node);
		bool there = node >= 0 && node < MOST_NODES && last < MOST_NODES &&
			     access(path, F_OK) == 0;

		free(path);
		if (!there)
			return false;
		any = true;
	}
	return any && !*at;
}

/* ---- where */

/* Whether another logical CPU of its core is chosen already. */
static bool has_sibling(const struct traffic *t, long cpu)
{
	char line[4096];
	const char *list =
		line_of(line, "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", cpu);

	for (long last = -1, other = -1; next_number(&list, &last, &other);)
		if (other >= 0 && other < CPU_SETSIZE && CPU_ISSET(other, &t->cpus))
			return true;
	return false;
}

static void add_cores(struct traffic *t, const char *cpus)
{
	cpu_set_t may;

	sched_getaffinity(0, sizeof(may), &may);
	for (long last = -1, cpu = -1; next_number(&cpus, &last, &cpu);)
		if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &may) && !has_sibling(t, cpu))
			CPU_SET(cpu, &t->cpus);
}

static void find_places(struct traffic *t)
{
	const char *from = t->args->from, *memory = t->args->memory ? t->args->memory : from;
	char line[4096];

	if (!from)
		add_cores(t, line_of(line, "/sys/devices/system/cpu/online"));
	for (long last = -1, node = -1; from && next_number(&from, &last, &node);)
		add_cores(t, line_of(line, "/sys/devices/system/node/node%ld/cpulist", node));
	for (long last = -1, node = -1; memory && next_number(&memory, &last, &node);)
		if (node >= 0 && node < MOST_NODES)
			t->memory[node / 64] |= 1ul << node % 64;
	if (CPU_COUNT(&t->cpus) == 0)
		t->why = "no CPU of these nodes may be used";
}

/* ---- how much: four to eight times the LLC, and a tenth of the free memory at most */

static double cache_size(void)
{
	double largest = 0;
	char line[4096];

	for (int i = 0; i < 8; i++) { /* "36608K" */
		double size =
			1024 *
			atof(line_of(line, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i));

		largest = size > largest ? size : largest;
	}
	return largest;
}

/* What a control group and those above it leave, where it is mounted at `root`; `most` if that is less. */
static double group_leaves(double most, const char *root, char *group, const char *limit,
			   const char *used)
{
	char line[4096];

	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = '\0';
		double left = strtod(line_of(line, "%s%s/%s", root, group, limit), NULL);

		if (line[0] < '0' || line[0] > '9')
			continue;
		left -= strtod(line_of(line, "%s%s/%s", root, group, used), NULL);
		most = fmin(most, fmax(left, 0));
	}
	return most;
}

/* Free memory in bytes, as far as the control groups of this process let it be taken. */
static double free_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	double most = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "MemAvailable:", 13) == 0)
			most = 1024 * atof(line + 13);
	if (f)
		fclose(f);
	f = fopen("/proc/self/cgroup", "r");
	while (f && fgets(line, sizeof(line), f)) { /* NUMBER:CONTROLLERS:GROUP */
		char *rest = line, *number = strsep(&rest, ":"), *of = strsep(&rest, ":\n");

		if (rest)
			rest[strcspn(rest, "\n")] = '\0';
		if (rest && strcmp(number, "0") == 0)
			most = group_leaves(most, "/sys/fs/cgroup", rest, "memory.max",
					    "memory.current");
		else if (rest && strstr(of, "memory"))
			most = group_leaves(most, "/sys/fs/cgroup/memory", rest,
					    "memory.limit_in_bytes", "memory.usage_in_bytes");
	}
	if (f)
		fclose(f);
	return most;
}

static bool bind_pieces(const struct traffic *t)
{
	long node = -1;

	for (size_t at = 0; at < t->size; at += PIECE) {
		unsigned long mask[MOST_NODES / 64] = {0};
		size_t left = t->size - at;
		int tries = 0;

		do
			node = (node + 1) % MOST_NODES;
		while (!(t->memory[node / 64] >> node % 64 & 1) && ++tries < MOST_NODES);
		mask[node / 64] = 1ul << node % 64;
		if (tries < MOST_NODES &&
		    syscall(SYS_mbind, t->buffer + at, left < PIECE ? left : PIECE, BIND, mask,
			    MOST_NODES + 1ul, 0ul) < 0)
			return false;
	}
	return true;
}

/* All of it is there before anything is moved. */
static void make_buffer(struct traffic *t)
{
	double cache = cache_size(), most = free_memory() / 10;
	void *p;

	if (most < 4 * cache || most < (double)CPU_COUNT(&t->cpus) * CHUNK) {
		t->why = "a tenth of the free memory is less than four times the LLC";
		return;
	}
	t->size = (size_t)(most < 8 * cache ? most : 8 * cache);
	p = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		t->why = "there is no memory for the buffer";
		return;
	}
	t->buffer = p;
	if (!bind_pieces(t)) {
		t->why = "memory could not be bound to these nodes";
		return;
	}
	madvise(p, t->size, MADV_HUGEPAGE);
	memset(p, 1, t->size);
}

/* ---- threads */

struct hand {
	struct traffic *traffic;
	int cpu;
	char *part;
	size_t size;
	pthread_t thread;
	bool bound;
	double bytes;
};

static void load_buffer(const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += LINE)
		(void)*(const volatile uint64_t *)(const void *)(from + i);
}

static void store(char *to, size_t size)
{
#ifdef __x86_64__
	const __m128i ones = _mm_set1_epi32(1);

	for (size_t i = 0; i < size; i += sizeof(ones))
		_mm_stream_si128((__m128i *)(void *)(to + i), ones);
	_mm_sfence();
#else
	(void)to;
	(void)size;
#endif
}

static void *work(void *arg)
{
	struct hand *h = arg;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(h->cpu, &cpu);
	h->bound = sched_setaffinity(0, sizeof(cpu), &cpu) == 0;
	pthread_barrier_wait(&h->traffic->ready);
	for (size_t at = 0; h->bound && !h->traffic->end; at = (at + CHUNK) % h->size) {
		(h->traffic->args->writes ? store(h->part + at, CHUNK)
					  : load_buffer(h->part + at, CHUNK));
		h->bytes += CHUNK;
	}
	return NULL;
}

/* Returns the bytes; -1, and `why`: none. */
static double move_memory(struct traffic *t)
{
	size_t n = (size_t)CPU_COUNT(&t->cpus), part = t->size / n / CHUNK * CHUNK, i = 0;
	struct hand *hand = must_alloc(NULL, n, sizeof(*hand));
	double bytes = 0;

	t->end = false;
	pthread_barrier_init(&t->ready, NULL, (unsigned)n + 1);
	for (int cpu = 0; i < n; cpu++) {
		if (!CPU_ISSET(cpu, &t->cpus))
			continue;
		hand[i] = (struct hand){
			.traffic = t, .cpu = cpu, .part = t->buffer + i * part, .size = part};
		if (pthread_create(&hand[i].thread, NULL, work, &hand[i]) != 0)
			abort(); /* those that wait for it would do so for ever */
		i++;
	}
	pthread_barrier_wait(&t->ready);
	pause_for(t->seconds);
	t->end = true;
	for (i = 0; i < n; i++) {
		pthread_join(hand[i].thread, NULL);
		bytes += hand[i].bytes;
		t->why = hand[i].bound ? t->why : "a thread could not be bound to its core";
	}
	pthread_barrier_destroy(&t->ready);
	free(hand);
	return bytes;
}

static double read_disk(struct traffic *t)
{
	enum { SIZE = 4 << 20 };
	int fd = open(t->args->device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	double begun = now(), bytes = 0;
	void *p = NULL;
	ssize_t n = fd < 0 || posix_memalign(&p, 4096, SIZE) != 0 ? -1 : 1;

	while (n >= 0 && now() - begun < t->seconds && (n = read(fd, p, SIZE)) >= 0) {
		bytes += (double)n;
		if (n == 0 && (bytes == 0 || lseek(fd, 0, SEEK_SET) < 0))
			break;
	}
	if (n < 0 || bytes == 0)
		t->why = n < 0 ? strerror(errno) : "nothing can be read";
	free(p);
	if (fd >= 0)
		close(fd);
	return bytes;
}

/* ---- the command */

static void move_once(struct traffic *t)
{
	double begun = now(), bytes = t->args->device ? read_disk(t) : move_memory(t);

	if (!t->why)
		printf("moved %.0f %.9f\n", bytes, now() - begun);
	fflush(stdout);
}

int cmd_traffic(struct unc_platform *none, const struct args *args)
{
	struct traffic t = {.args = args, .seconds = 1};
	char line[256];
	int rc = args->duration ? time_between("traffic", "-d", 1, args->duration, 0.01, &t.seconds)
				: ARGS_OK;

	(void)none;
	if (rc != ARGS_OK)
		return rc;
	if (args->device && (args->from || args->memory || args->writes))
		return bad_input("traffic: --device reads a disk; --from, --memory and --writes "
				 "are for memory");
	for (int i = 0; i < 2; i++)
		if ((i ? args->memory : args->from) && !has_nodes(i ? args->memory : args->from))
			return bad_input(
				"traffic: option '%s' needs NUMA nodes of this machine, as 0 or "
				"0-3,8, not '%s'",
				i ? "--memory" : "--from", i ? args->memory : args->from);
#ifndef __x86_64__
	if (args->writes)
		t.why = "there are no stores past the caches on this architecture";
#endif
	if (!t.why && !args->device)
		find_places(&t);
	if (!t.why && !args->device)
		make_buffer(&t);
	if (args->wait && !t.why) {
		puts("ready");
		fflush(stdout);
	}
	if (!args->wait && !t.why)
		move_once(&t);
	while (args->wait && !t.why && fgets(line, sizeof(line), stdin)) {
		t.seconds = fmin(fmax(atof(line), 0.01), 60);
		move_once(&t);
	}
	if (!t.why)
		return EXIT_SUCCESS;
	if (args->wait)
		printf("not %s\n", t.why);
	return args->wait     ? EXIT_FAILURE
	       : args->device ? failure("traffic: %s: %s", args->device, t.why)
			      : failure("traffic: %s", t.why);
}
