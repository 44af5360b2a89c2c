/* SPDX-License-Identifier: BSD-3-Clause */
/* The same work on more of everything: CPU time in us, of which tests/bench/bench makes the slope.
 * Accesses take no time, so that what the library does is seen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

enum { ALL = SLICE_EVENTS * MAX_SOCKETS * CHAS };

static void put_size(const char *row, const char *what, unsigned n, double ns)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/%u", what, n);
	put(row, name, ns / 1e3);
}

static struct reader {
	struct unc_session *session;
	unsigned n, times;
	uint64_t apart;
	struct unc_value *v;
} * readers;

static void read_once(void *user)
{
	struct reader *r = user;

	if (r->apart)
		machine_skip(r->apart);
	if (unc_session_read(r->session, r->v, r->n, sizeof(*r->v)) < 0)
		die("read", unc_session_error(r->session));
}

static void *room_for(unsigned n, size_t size)
{
	void *room = calloc(n, size);

	if (!room)
		die("memory", "none");
	return room;
}

static void open_once(void *unused)
{
	(void)unused;
	unc_platform_close(open_platform(machine_root(), "", NULL));
}

/* A whole life with n items. */
static void live(const char *row, const char *what, unsigned n, struct unc_session *s,
		 unsigned items)
{
	struct reader r = {.session = s, .n = items, .v = room_for(items, sizeof(*r.v))};
	char name[96];
	double run[2][RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		run[0][i] = ns_of(start, s, 1);
		run[1][i] = ns_of(stop, s, 1);
	}
	snprintf(name, sizeof(name), "%s_start", what);
	put_size(row, name, n, median(run[0]));
	snprintf(name, sizeof(name), "%s_stop", what);
	put_size(row, name, n, median(run[1]));
	start(s);
	snprintf(name, sizeof(name), "%s_read", what);
	put_size(row, name, n, time_of(read_once, &r));
	r.apart = 60000000;
	snprintf(name, sizeof(name), "%s_60ms", what);
	put_size(row, name, n, time_of(read_once, &r));
	free(r.v);
}

static struct unc_platform *open_fast(unsigned sockets)
{
	struct unc_platform *p = open_machine(sockets);

	machine_delay(0);
	return p;
}

static void sockets(const char *row)
{
	static const char *const event = "cha.TOR_INSERTS:IA_MISS_DRD";

	for (unsigned n = 1; n <= MAX_SOCKETS; n *= 2) {
		struct unc_platform *p = open_fast(n);
		struct unc_session *s = session_with(p, &event, 1);

		put_size(row, "sockets_open", n, time_of(open_once, NULL));
		live(row, "sockets", n, s, 1);
		unc_session_free(s);
		close_machine(p);
	}
}

static void counters(const char *row)
{
	static const unsigned sizes[] = {1, 4, 16, 64, 256, 1024, ALL};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct unc_platform *p = open_fast(MAX_SOCKETS);
		double begin = cpu_ns();
		struct unc_session *s = session_of(p, MAX_SOCKETS, 0, sizes[i]);

		put_size(row, "counters_add", sizes[i], cpu_ns() - begin);
		live(row, "counters", sizes[i], s, sizes[i]);
		unc_session_free(s);
		close_machine(p);
	}
}

static void *read_often(void *user)
{
	struct reader *r = user;

	for (unsigned i = 0; i < r->times; i++)
		read_once(r);
	return NULL;
}

/* Threads with a session of one counter each: what 100 reads of each take, of all together. */
static void threads(const char *row)
{
	enum { MOST_THREADS = 256 };
	pthread_t thread[MOST_THREADS];
	struct unc_platform *p = open_fast(MAX_SOCKETS);

	readers = room_for(MOST_THREADS, sizeof(*readers));
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		readers[i] = (struct reader){.session = session_of(p, MAX_SOCKETS, i, 1),
					     .n = 1,
					     .times = 100,
					     .v = room_for(1, sizeof(struct unc_value))};
		start(readers[i].session);
	}
	for (unsigned n = 1; n <= MOST_THREADS; n *= 4) {
		double begin = cpu_ns();

		for (unsigned i = 0; i < n; i++)
			if (pthread_create(&thread[i], NULL, read_often, &readers[i]) != 0)
				die("thread", "cannot be created");
		for (unsigned i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		put_size(row, "threads_100_reads", n, cpu_ns() - begin);
	}
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		unc_session_free(readers[i].session);
		free(readers[i].v);
	}
	free(readers);
	close_machine(p);
}

void row_growth(const char *row)
{
	sockets(row);
	counters(row);
	threads(row);
}
