/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of another socket, by the msr driver: threads that are bound there read them. Accesses
 * from afar and changes of the CPU are counted on a machine of made-up CPUs (bench/machine.c), of
 * which this program runs on the first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/machine.h"
#include "suite.h"

enum { N = 16, MS = 1000000 };

static unsigned refusals; /* of threads that are made, the next ones */

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*run)(void *), void *restrict user)
{
	union {
		void *found;
		int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	} next = {.found = dlsym(RTLD_NEXT, "pthread_create")};

	if (!refusals)
		return next.call(thread, attributes, run, user);
	refusals--;
	return EAGAIN;
}

static struct unc_platform *open_machine(unsigned sockets)
{
	struct unc_platform *p = NULL;

	machine_begin(sockets);
	machine_delay(0);
	machine_stand_still();
	struct unc_options options = {
		.size = sizeof(options), .sysroot = machine_root(), .sim = ""};

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static void close_machine(struct unc_platform *p)
{
	unc_platform_close(p);
	machine_offline(-1);
	machine_confine(false);
	machine_end();
}

/* Counts on the first slices of a socket. */
static struct unc_session *session_on(struct unc_platform *p, unsigned sockets, unsigned mask)
{
	struct unc_session *s = NULL;
	char text[UNC_SPEC_MAX];
	int id;

	CU_ASSERT_FATAL(unc_session_new(p, 0, &s) == 0);
	for (unsigned i = 0; i < N; i++)
		for (unsigned socket = 0; socket < sockets; socket++) {
			snprintf(text, sizeof(text), "cha%u.TOR_INSERTS:IA_MISS_DRD:socket=%u", i,
				 socket);
			if (mask >> socket & 1)
				CU_ASSERT_FATAL(unc_session_add(s, text, &id) == 0);
		}
	return s;
}

static void start(struct unc_session *s)
{
	if (unc_session_start(s) < 0)
		printf("# %s\n", unc_session_error(s));
	else
		return;
	CU_FAIL_FATAL("start");
}

/* A read so many ms later: all values are there. */
static void read_after(struct unc_session *s, unsigned ms, struct unc_value v[2 * N], unsigned n)
{
	machine_skip((uint64_t)ms * MS);
	CHECK_NUMBER(unc_session_read(s, v, n, sizeof(*v)), 0);
	for (unsigned i = 0; i < n; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
		CU_ASSERT(!(v[i].flags & UNC_VALUE_PARTIAL));
	}
}

static unsigned threads(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned n = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Threads: %u", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* From a start to a stop nothing is done from afar, and a look is one change of the CPU. */
static void test_another_socket(void)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_on(p, 2, 2);
	struct unc_value v[2 * N];
	struct machine_counts before = machine_counts(), looked;
	static const unsigned apart[] = {0, 2, 60, 1000, 10000};
	unsigned alone = threads();

	start(s);
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	CHECK_NUMBER(threads(), alone + 2); /* that one, and the one that looks in */
	for (unsigned i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		looked = machine_counts();
		read_after(s, apart[i], v, N);
		CHECK_NUMBER(machine_counts().moves - looked.moves, 1);
		CU_ASSERT(machine_counts().reads - looked.reads >= N);
	}
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	CHECK_NUMBER(threads(), alone);
	unc_session_free(s);
	close_machine(p);
}

/* A counter of this machine counts its reads: each look is in what it has counted, near and far. */
static void test_values(void)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *near = session_on(p, 2, 1), *far = session_on(p, 2, 2);
	struct unc_value a[2 * N], b[2 * N];

	start(near);
	start(far);
	for (unsigned i = 1; i <= 20; i++) {
		read_after(near, 7 * i, a, N);
		read_after(far, 0, b, N);
		for (unsigned k = 0; k < N; k++) {
			CU_ASSERT((a[k].flags & b[k].flags & UNC_VALUE_VALID) && a[k].count >= i &&
				  b[k].count >= i);
		}
	}
	unc_session_free(near);
	unc_session_free(far);
	close_machine(p);
}

/* Of several sockets each is one change, whatever the order of what was added. */
static void test_all_sockets(void)
{
	struct unc_platform *p = open_machine(4);
	struct unc_session *s = session_on(p, 4, 0xd); /* not the second one */
	struct unc_value v[4 * N];
	struct machine_counts before = machine_counts(), looked;
	unsigned alone = threads();

	start(s);
	CHECK_NUMBER(threads(), alone + 3);
	looked = machine_counts();
	CHECK_NUMBER(unc_session_read(s, v, 3 * N, sizeof(*v)), 0);
	CHECK_NUMBER(machine_counts().moves - looked.moves, 2);
	CHECK_NUMBER(machine_counts().reads - looked.reads, 3 * N);
	unc_session_free(s);
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	CHECK_NUMBER(threads(), alone);
	close_machine(p);
}

/* Who counts at home needs nobody, nor does a machine of one socket. */
static void test_own_socket(void)
{
	for (unsigned sockets = 1; sockets <= 2; sockets++) {
		struct unc_platform *p = open_machine(sockets);
		struct unc_session *s = session_on(p, sockets, 1);
		struct unc_value v[2 * N];
		struct machine_counts before = machine_counts();
		unsigned alone = threads();

		start(s);
		read_after(s, 60, v, N);
		CHECK_NUMBER(threads(), alone + 1);
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(machine_counts().moves - before.moves, 0);
		CHECK_NUMBER(machine_counts().remote - before.remote, 0);
		unc_session_free(s);
		close_machine(p);
	}
}

/* Where no thread can be made, or none bound there, it is read from afar. The next session tries
 * again. */
static void test_no_thread(void)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_on(p, 2, 2);
	struct unc_value v[2 * N];
	struct machine_counts before;
	unsigned alone = threads();

	for (int how = 0; how < 2; how++) {
		before = machine_counts();
		refusals = how == 0;
		machine_confine(how == 1);
		start(s);
		CHECK_NUMBER(threads(), alone + 1); /* the one that looks in */
		read_after(s, 60, v, N);
		CU_ASSERT(machine_counts().remote - before.remote > N);
		CHECK_NUMBER(unc_session_stop(s), 0);
		machine_confine(false);
		before = machine_counts();
		start(s);
		read_after(s, 60, v, N);
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	}
	unc_session_free(s);
	close_machine(p);
}

/* The thread goes to another CPU of the socket when its own goes offline. */
static void test_offline(void)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_on(p, 2, 2);
	struct unc_value v[2 * N];
	struct machine_counts before = machine_counts();

	start(s);
	read_after(s, 60, v, N);
	machine_offline(CPUS);
	read_after(s, 60, v, N);
	machine_offline(CPUS + 1);
	read_after(s, 60, v, N);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	unc_session_free(s);
	close_machine(p);
}

/* In a forked process there are no threads: its sessions are the other's. */
static void test_forked(void)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_on(p, 2, 2);
	struct machine_counts before = machine_counts();
	struct unc_value v[2 * N];
	int status = 1;

	start(s);
	pid_t child = fork();

	if (child == 0) {
		int rc = unc_session_read(s, v, N, sizeof(*v));

		unc_session_free(s);
		unc_platform_close(p);
		_exit(rc == UNC_ERR_STATE ? 0 : 1);
	}
	CU_ASSERT(waitpid(child, &status, 0) == child && status == 0);
	read_after(s, 60, v, N);
	unc_session_free(s);
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	close_machine(p);
}

/* ---- threads of the program, that start and stop at the same time */

struct program {
	pthread_t thread;
	struct unc_session *session;
	unsigned failed; /* calls */
};

static void *measure(void *user)
{
	struct program *one = user;
	struct unc_value v[2 * N];

	for (unsigned round = 0; round < 5; round++) {
		one->failed += unc_session_start(one->session) < 0;
		for (unsigned i = 0; i < 20; i++)
			one->failed += unc_session_read(one->session, v, 2 * N, sizeof(*v)) < 0;
		one->failed += unc_session_stop(one->session) < 0;
	}
	return NULL;
}

static void test_several(void)
{
	struct unc_platform *p = open_machine(2);
	struct machine_counts before = machine_counts();
	unsigned alone = threads();
	struct program one[3] = {0};

	for (int i = 0; i < 3; i++) {
		one[i].session = session_on(p, 2, 3);
		CU_ASSERT_FATAL(pthread_create(&one[i].thread, NULL, measure, &one[i]) == 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(one[i].thread, NULL);
		CHECK_NUMBER(one[i].failed, 0);
		unc_session_free(one[i].session);
	}
	CHECK_NUMBER(machine_counts().remote - before.remote, 0);
	CHECK_NUMBER(threads(), alone);
	close_machine(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"another socket", test_another_socket},
		{"what was counted", test_values},
		{"all sockets", test_all_sockets},
		{"the caller's own socket", test_own_socket},
		{"no thread is to be had", test_no_thread},
		{"a CPU that goes offline", test_offline},
		{"a forked process", test_forked},
		{"threads of the program", test_several},
		{NULL, NULL},
	};

	return suite_run("near", tests);
}
