/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verify on hardware: moves a known number of bytes. One thread on each core of a socket, bound to it,
 * each with its part of a buffer in memory of one node, which is far larger than the LLC: a line that is
 * read again has long left it. Loads take one word of each line; stores go past the caches, whole
 * lines at a time. Sockets, nodes and caches are those that sysfs tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "verify.h"

enum { LINE = 64, CHUNK = 1 << 16, BIND = 2 /* MPOL_BIND */, MOST_NODES = 1024 };
static const double least_seconds = 0.25;

/* ---- the machine */

/* The first number of a file of sysfs; with a K behind it times 1024. -1: there is none. */
static long long number_in(const char *format, ...) __attribute__((format(printf, 1, 2)));
static long long number_in(const char *format, ...)
{
	long long number = -1;
	char unit = 0;
	va_list args;

	va_start(args, format);
	char *path = must_format(format, args);
	va_end(args);
	FILE *f = fopen(path, "r");

	if (f && fscanf(f, "%lld%c", &number, &unit) >= 1 && unit == 'K')
		number *= 1024;
	if (f)
		fclose(f);
	free(path);
	return number;
}

/* The number behind a word of a file; 0: it is not there. */
static double behind(const char *path, const char *word)
{
	double value = 0;
	char line[256], *at;
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if ((at = strstr(line, word)))
			value = strtod(at + strlen(word), NULL);
	if (f)
		fclose(f);
	return value;
}

static long long package_of(int cpu)
{
	return number_in("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
}

/* One CPU of each core of a socket that the process may use. Sockets are numbered as packages are. */
static size_t cores_of(int socket, int *cpu)
{
	cpu_set_t may;
	size_t n = 0;
	int c = 0;

	sched_getaffinity(0, sizeof(may), &may);
	for (long long package = 0; package < CPU_SETSIZE && socket >= 0; package++) {
		for (c = 0; c < CPU_SETSIZE && package_of(c) != package; c++)
			;
		socket -= c < CPU_SETSIZE;
	}
	for (long long package = c < CPU_SETSIZE ? package_of(c) : -1; c < CPU_SETSIZE; c++)
		if (package_of(c) == package && CPU_ISSET(c, &may) &&
		    number_in("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", c) ==
			    c)
			cpu[n++] = c;
	return n;
}

/* The first node of a socket's CPUs that has memory; -1: the kernel knows none. */
static int node_of(int socket)
{
	static const char nodes[] = "/sys/devices/system/node";
	int cpu[CPU_SETSIZE];

	if (cores_of(socket, cpu) == 0)
		return -1;
	for (int node = 0; node < MOST_NODES; node++) {
		char *path = must_print("%s/node%d/cpu%d", nodes, node, cpu[0]);
		bool has = access(path, F_OK) == 0;

		free(path);
		if (has)
			return node;
	}
	return -1;
}

static double cache_of(int cpu)
{
	double largest = 0;

	for (int i = 0; i < 8; i++) {
		double size = (double)number_in("/sys/devices/system/cpu/cpu%d/cache/index%d/size",
						cpu, i);

		largest = size > largest ? size : largest;
	}
	return largest;
}

/* What we may take: a tenth of what is free, and of what each control group above us leaves. */
static double memory(void)
{
	double most = 1024 * behind("/proc/meminfo", "MemAvailable:") / 10;
	char line[512], *path = NULL, *end;
	FILE *f = fopen("/proc/self/cgroup", "r");

	while (f && fgets(line, sizeof(line), f))
		path = strncmp(line, "0::", 3) == 0 ? line + 3 : path;
	if (f)
		fclose(f);
	for (end = path ? path + strcspn(path, "\n") : NULL; end && end > path;
	     end = strrchr(path, '/')) {
		*end = '\0';
		double limit = (double)number_in("/sys/fs/cgroup%s/memory.max", path);
		double left = limit - (double)number_in("/sys/fs/cgroup%s/memory.current", path);

		if (limit >= 0 && left / 10 < most)
			most = left > 0 ? left / 10 : 0;
	}
	return most;
}

/* ---- threads */

struct crew {
	enum flow_kind kind;
	pthread_barrier_t ready;
	volatile bool end;
};

/* One core, and its part of the buffer. */
struct hand {
	struct crew *crew;
	int cpu;
	char *part;
	size_t size;
	pthread_t thread;
	bool bound;
	double bytes;
};

static void load(const char *from, size_t size)
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
	pthread_barrier_wait(&h->crew->ready);
	for (size_t at = 0; h->bound && !h->crew->end; at = (at + CHUNK) % h->size) {
		if (h->crew->kind == READS)
			load(h->part + at, CHUNK);
		else
			store(h->part + at, CHUNK);
		h->bytes += CHUNK;
	}
	return NULL;
}

static double pause_for(double seconds)
{
	double begun = now();
	struct timespec ts = {.tv_sec = (time_t)seconds,
			      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&ts, NULL);
	return now() - begun;
}

/* ---- the buffer: all of it is there before anything is counted */

struct buffer {
	char *p;
	size_t size;
	int node;
};

static void drop(struct verify *v)
{
	struct buffer *b = v->of_mover;

	if (b)
		munmap(b->p, b->size);
	free(b);
	v->of_mover = NULL;
}

static const char *allocate(struct verify *v, int node, size_t size)
{
	unsigned long mask[MOST_NODES / 64] = {0};
	struct buffer *b = must_alloc(NULL, 1, sizeof(*b));

	*b = (struct buffer){.size = size, .node = node};
	b->p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->p == MAP_FAILED) {
		free(b);
		return "there is no memory for the buffer";
	}
	v->of_mover = b;
	if (node >= 0) {
		mask[node / 64] = 1ul << node % 64;
		if (syscall(SYS_mbind, b->p, size, BIND, mask, MOST_NODES + 1ul, 0ul) < 0)
			return "memory could not be bound to the node of the socket";
	}
	madvise(b->p, size, MADV_HUGEPAGE);
	memset(b->p, 1, size);
	return NULL;
}

/* ---- the mover */

static const char *ready(struct verify *v, const struct flow *flow)
{
	const char *root = getenv("UNCORE_SYSROOT");
	int cpu[CPU_SETSIZE], node;

	if (flow->kind == IDLE)
		return NULL;
	if (root && *root && strcmp(root, "/") != 0)
		return "UNCORE_SYSROOT is another machine than the one that could move bytes";
	if (flow->kind == DEVICE)
		return v->args->device ? NULL : "--device names no disk to be read";
#ifndef __x86_64__
	return "there are no stores past the caches on this architecture";
#endif
	size_t n = cores_of(flow->from, cpu);

	if (n == 0)
		return "no CPU of the socket may be used";
	node = node_of(flow->home);
	if (v->sockets > 1 && node < 0)
		return "the kernel does not tell which memory is the socket's";
	if (v->of_mover && ((struct buffer *)v->of_mover)->node == node)
		return NULL;
	drop(v);
	double cache = cache_of(cpu[0]), most = memory();

	if (most < 4 * cache || most < (double)n * CHUNK)
		return "a tenth of the free memory is less than four times the LLC";
	return allocate(v, node, (size_t)(most < 8 * cache ? most : 8 * cache));
}

static bool run(struct verify *v, const struct flow *flow, struct moved *moved)
{
	struct buffer *b = v->of_mover;
	struct crew crew = {.kind = flow->kind};
	int cpu[CPU_SETSIZE];
	size_t n = cores_of(flow->from, cpu), part = b->size / n / CHUNK * CHUNK;
	struct hand *hand = must_alloc(NULL, n, sizeof(*hand));
	bool bound = true;

	pthread_barrier_init(&crew.ready, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++) {
		hand[i] = (struct hand){
			.crew = &crew, .cpu = cpu[i], .part = b->p + i * part, .size = part};
		if (pthread_create(&hand[i].thread, NULL, work, &hand[i]) != 0)
			abort(); /* those that wait for it would do so for ever */
	}
	double begun = now();

	pthread_barrier_wait(&crew.ready);
	pause_for(least_seconds);
	crew.end = true;
	for (size_t i = 0; i < n; i++) {
		pthread_join(hand[i].thread, NULL);
		moved->bytes += hand[i].bytes;
		bound &= hand[i].bound;
	}
	moved->seconds = now() - begun;
	pthread_barrier_destroy(&crew.ready);
	free(hand);
	return bound || verify_fail(v, "a thread could not be bound to its core");
}

/* A disk, past the page cache. */
static bool read_device(struct verify *v, struct moved *moved)
{
	enum { SIZE = 4 << 20 };
	int fd = open(v->args->device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	double begun = now();
	void *p = NULL;
	ssize_t n = -1;

	if (fd < 0 || posix_memalign(&p, 4096, SIZE) != 0) {
		verify_fail(v, "%s: %s", v->args->device, strerror(errno));
	} else {
		while (now() - begun < least_seconds && (n = read(fd, p, SIZE)) > 0)
			moved->bytes += (double)n;
		moved->seconds = now() - begun;
		if (n < 0)
			verify_fail(v, "%s: %s", v->args->device, strerror(errno));
	}
	free(p);
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

static bool move(struct verify *v, const struct flow *flow, struct moved *moved)
{
	*moved = (struct moved){0, 0};
	if (flow->kind == DEVICE)
		return read_device(v, moved);
	if (flow->kind != IDLE)
		return run(v, flow, moved);
	moved->seconds = pause_for(least_seconds);
	return true;
}

const struct mover verify_load = {ready, move, drop};
