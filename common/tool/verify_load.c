/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verify on hardware: moves a known number of bytes. One thread on each core of a socket, bound to
 * it, each with its part of a buffer in memory of one socket, which is far larger than the LLC: a
 * line that is read again has long left it. Loads take one word of each line; stores go past the
 * caches, whole lines at a time. Sockets, nodes and caches are those that sysfs tells.
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

enum { LINE = 64, CHUNK = 1 << 16, PIECE = 2 << 20, BIND = 2 /* MPOL_BIND */, MOST_NODES = 1024 };
static const double least_seconds = 0.25;

/* ---- the machine */

/* The number behind a word of a file, "": the first of all; with a K behind it times 1024. -1:
 * there is none. */
static long long number_in(const char *word, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static long long number_in(const char *word, const char *format, ...)
{
	long long number = -1;
	char line[256], unit, *at;
	va_list args;

	va_start(args, format);
	char *path = must_format(format, args);
	va_end(args);
	FILE *f = fopen(path, "r");

	while (f && number < 0 && fgets(line, sizeof(line), f))
		if ((at = strstr(line, word)) &&
		    sscanf(at + strlen(word), "%lld %c", &number, &unit) == 2 &&
		    (unit == 'K' || unit == 'k'))
			number *= 1024;
	if (f)
		fclose(f);
	free(path);
	return number;
}

static long long package_of(int cpu)
{
	return number_in("", "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
}

enum { NODES_OF_SOCKET = 8 };

/* What sysfs tells of a socket, and what is kept of it while bytes are moved. */
struct socket {
	long long package;
	int cpu[CPU_SETSIZE]; /* one of each core that the process may use */
	size_t n;
	int node[NODES_OF_SOCKET]; /* of these cores */
	int nodes;                 /* 0: the kernel knows none */
};

/* Sockets are numbered as packages are. */
struct rig {
	struct socket *socket;
	size_t n;
	char *buffer; /* NULL: there is none */
	size_t size;
	int home, node; /* where it is: as of a flow */
};

static struct socket *socket_of(struct rig *rig, long long package)
{
	size_t i = 0;

	while (i < rig->n && rig->socket[i].package < package)
		i++;
	if (i == rig->n || rig->socket[i].package != package) {
		rig->socket = must_alloc(rig->socket, ++rig->n, sizeof(*rig->socket));
		memmove(&rig->socket[i + 1], &rig->socket[i],
			(rig->n - 1 - i) * sizeof(*rig->socket));
		rig->socket[i] = (struct socket){.package = package};
	}
	return &rig->socket[i];
}

static int node_of(int cpu)
{
	for (int node = 0; node < MOST_NODES; node++) {
		char *path = must_print("/sys/devices/system/node/node%d/cpu%d", node, cpu);
		bool has = access(path, F_OK) == 0;

		free(path);
		if (has)
			return node;
	}
	return -1;
}

static void add_core(struct socket *socket, int cpu)
{
	int node = node_of(cpu), i = 0;

	socket->cpu[socket->n++] = cpu;
	while (i < socket->nodes && socket->node[i] != node)
		i++;
	if (node < 0 || i < socket->nodes || i == NODES_OF_SOCKET)
		return;
	/* In their order, as clusters of a socket are numbered. */
	for (socket->nodes++; i > 0 && socket->node[i - 1] > node; i--)
		socket->node[i] = socket->node[i - 1];
	socket->node[i] = node;
}

static struct rig *read_rig(void)
{
	struct rig *rig = must_alloc(NULL, 1, sizeof(*rig));
	cpu_set_t may;

	*rig = (struct rig){.n = 0};
	CPU_ZERO(&may);
	sched_getaffinity(0, sizeof(may), &may);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const long long package = package_of(cpu);

		if (package < 0)
			continue;
		struct socket *socket = socket_of(rig, package);

		if (CPU_ISSET(cpu, &may) &&
		    number_in("", "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
			      cpu) == cpu)
			add_core(socket, cpu);
	}
	return rig;
}

static double cache_of(int cpu)
{
	double largest = 0;

	for (int i = 0; i < 8; i++) {
		double size = (double)number_in(
			"", "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, i);

		largest = size > largest ? size : largest;
	}
	return largest;
}

/* What a control group and those above it leave, where it is mounted at `root`; `most` if that
 * is less. */
static double group_leaves(double most, const char *root, char *group, const char *limit,
			   const char *used)
{
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = '\0';
		long long all = number_in("", "%s%s/%s", root, group, limit);
		double left = (double)(all - number_in("", "%s%s/%s", root, group, used));

		if (all >= 0 && left < most)
			most = left > 0 ? left : 0;
	}
	return most;
}

/* What we may take: a tenth of what is free, and of what each control group above us leaves. */
static double memory(void)
{
	double most = (double)number_in("MemAvailable:", "/proc/meminfo");
	FILE *f = fopen("/proc/self/cgroup", "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) { /* NUMBER:CONTROLLERS:GROUP */
		char *rest = line, *number = strsep(&rest, ":"), *of = strsep(&rest, ":");

		if (!rest)
			continue;
		rest[strcspn(rest, "\n")] = '\0';
		if (strcmp(number, "0") == 0)
			most = group_leaves(most, "/sys/fs/cgroup", rest, "memory.max",
					    "memory.current");
		else if (strstr(of, "memory"))
			most = group_leaves(most, "/sys/fs/cgroup/memory", rest,
					    "memory.limit_in_bytes", "memory.usage_in_bytes");
	}
	if (f)
		fclose(f);
	return most / 10;
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

static void drop(struct rig *rig)
{
	if (rig->buffer)
		munmap(rig->buffer, rig->size);
	rig->buffer = NULL;
}

/* Piece by piece on one of the nodes after the other, and on no others. */
static bool bind_to(const struct rig *rig, const int *node, int nodes)
{
	for (size_t at = 0, i = 0; at < rig->size && nodes > 0; at += PIECE, i++) {
		unsigned long mask[MOST_NODES / 64] = {0};
		size_t left = rig->size - at;
		int to = node[i % (size_t)nodes];

		mask[to / 64] = 1ul << to % 64;
		if (syscall(SYS_mbind, rig->buffer + at, left < PIECE ? left : PIECE, BIND, mask,
			    MOST_NODES + 1ul, 0ul) < 0)
			return false;
	}
	return true;
}

/* In the memory of a socket, or of one of its nodes. */
static const char *allocate(struct rig *rig, const struct flow *flow, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return "there is no memory for the buffer";
	rig->buffer = p;
	rig->size = size;
	rig->home = flow->home;
	rig->node = flow->node;
	if ((size_t)flow->home < rig->n) {
		const struct socket *home = &rig->socket[flow->home];
		bool one = flow->node > 0;

		if (!bind_to(rig, home->node + (one ? flow->node - 1 : 0), one ? 1 : home->nodes)) {
			drop(rig); /* the next flow is not to take it for one that is bound */
			return "memory could not be bound to the nodes of the socket";
		}
	}
	madvise(p, size, MADV_HUGEPAGE);
	memset(p, 1, size);
	return NULL;
}

/* ---- the mover */

static const char *ready(struct verify *v, const struct flow *flow)
{
	const char *root = getenv("UNCORE_SYSROOT");

	if (flow->kind == IDLE)
		return NULL;
	if (root && *root && strcmp(root, "/") != 0)
		return "UNCORE_SYSROOT is another machine than the one that could move bytes";
	if (flow->kind == DEVICE)
		return v->args->device ? NULL : "--device names no disk to be read";
#ifndef __x86_64__
	return "there are no stores past the caches on this architecture";
#endif
	if (!v->of_mover)
		v->of_mover = read_rig();
	struct rig *rig = v->of_mover;

	if ((size_t)flow->from >= rig->n || rig->socket[flow->from].n == 0)
		return "no CPU of the socket may be used";
	const struct socket *from = &rig->socket[flow->from];
	int nodes = (size_t)flow->home < rig->n ? rig->socket[flow->home].nodes : 0;

	if (v->sockets > 1 && nodes == 0)
		return "the kernel does not tell which memory is the socket's";
	if (rig->buffer && rig->home == flow->home && rig->node == flow->node)
		return NULL;
	drop(rig);
	double cache = cache_of(from->cpu[0]), most = memory();

	if (most < 4 * cache || most < (double)from->n * CHUNK)
		return "a tenth of the free memory is less than four times the LLC";
	return allocate(rig, flow, (size_t)(most < 8 * cache ? most : 8 * cache));
}

static bool run(struct verify *v, const struct flow *flow, struct moved *moved)
{
	const struct rig *rig = v->of_mover;
	const struct socket *from = &rig->socket[flow->from];
	struct crew crew = {.kind = flow->kind};
	size_t n = from->n, part = rig->size / n / CHUNK * CHUNK;
	struct hand *hand = must_alloc(NULL, n, sizeof(*hand));
	bool bound = true;

	pthread_barrier_init(&crew.ready, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++) {
		hand[i] = (struct hand){.crew = &crew,
					.cpu = from->cpu[i],
					.part = rig->buffer + i * part,
					.size = part};
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

static void end(struct verify *v)
{
	struct rig *rig = v->of_mover;

	if (rig) {
		drop(rig);
		free(rig->socket);
	}
	free(rig);
	v->of_mover = NULL;
}

static int nodes(struct verify *v, int socket)
{
	if (!v->of_mover)
		v->of_mover = read_rig();
	const struct rig *rig = v->of_mover;

	return (size_t)socket < rig->n ? rig->socket[socket].nodes : 0;
}

const struct mover verify_load = {ready, move, nodes, end};
