/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the broker costs, beside doing it oneself with the right to: reads, starts, requests. It runs on the node of
 * tests/integration/broker.inc, as root, so that both can be measured in one process; tests/bench/broker.sh starts it.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/wire.h"

enum { ROUNDS = 41, READS = 2000, MOST = 120, OF_SET = 60, ASKS = 500 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *us)
{
	qsort(us, ROUNDS, sizeof(*us), by_value);
	return us[ROUNDS / 2];
}

/* ---- oneself */

static int open_own(int leader)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .read_format = PERF_FORMAT_GROUP |
						      PERF_FORMAT_TOTAL_TIME_ENABLED |
						      PERF_FORMAT_TOTAL_TIME_RUNNING,
				       .disabled = leader < 0};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

/* Groups as the broker opens them. */
static void start_own(int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned leader = i - i % OF_SET;

		fd[i] = open_own(i == leader ? -1 : fd[leader]);
		if ((i == leader + OF_SET - 1 || i == n - 1) &&
		    ioctl(fd[leader], PERF_EVENT_IOC_ENABLE, 0) < 0)
			die("enable");
	}
}

/* ---- by the broker */

static int call(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = UNC_WIRE_SOCKET};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("connect");
	return fd;
}

static void ask(int to, struct unc_wire_request *r, unsigned sets, int *fd, unsigned n)
{
	static struct unc_wire_answer answer;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(UNC_WIRE_FDS * sizeof(int))];
	} control;
	struct iovec data = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};

	r->head.magic = UNC_WIRE_MAGIC;
	r->head.version = UNC_WIRE_VERSION;
	r->head.n = sets;
	if (send(to, r, offsetof(struct unc_wire_request, set) + sets * sizeof(r->set[0]), 0) < 0 ||
	    recvmsg(to, &m, MSG_CMSG_CLOEXEC) <= 0)
		die("the broker");
	if (answer.code || answer.head.n != n) {
		fprintf(stderr, "the broker: %s\n", answer.text);
		exit(1);
	}
	if (n)
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), n * sizeof(*fd));
}

static void start_passed(int to, int *fd, unsigned n)
{
	static struct unc_wire_request r;
	unsigned sets = 0;

	memset(&r, 0, sizeof(r));
	r.head.kind = UNC_WIRE_OPEN;
	for (unsigned left = n; left; sets++) {
		struct unc_wire_set *set = &r.set[sets];

		snprintf(set->pmu, sizeof(set->pmu), "uncore_imc_%u", sets);
		set->n = left < OF_SET ? left : OF_SET;
		left -= set->n;
	}
	ask(to, &r, sets, fd, n);
}

/* ---- rows */

static double read_one(int fd)
{
	uint64_t data[8];
	double start = now_us();

	for (unsigned i = 0; i < READS; i++)
		if (read(fd, data, sizeof(data)) <= 0)
			die("read");
	return (now_us() - start) / READS;
}

static void row_reads(void)
{
	double own[ROUNDS], passed[ROUNDS];
	int a, b, to = call();

	start_own(&a, 1);
	start_passed(to, &b, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		own[i] = read_one(a);
		passed[i] = read_one(b);
	}
	double of_own = median(own), of_passed = median(passed);

	printf("read of a passed descriptor            %8.2f of one's own (%.3f us)\n",
	       of_passed / of_own, of_own);
	close(a);
	close(b);
	close(to);
}

static void close_all(const int *fd, unsigned n)
{
	while (n > 0)
		close(fd[--n]);
}

/* Connected already, as a session is that has looked which units there are. */
static void row_start(unsigned n)
{
	double own[ROUNDS], passed[ROUNDS];
	int fd[MOST];

	for (unsigned i = 0; i < ROUNDS; i++) {
		int to = call();
		double start = now_us();

		start_own(fd, n);
		own[i] = now_us() - start;
		close_all(fd, n);
		start = now_us();
		start_passed(to, fd, n);
		passed[i] = now_us() - start;
		close_all(fd, n);
		close(to);
		usleep(2000); /* the broker closes its own */
	}
	double of_own = median(own), of_passed = median(passed);

	printf("start of %3u events through the broker %8.2f of one's own (%.0f us)\n", n,
	       of_passed / of_own, of_own);
}

static void row_requests(void)
{
	static struct unc_wire_request r = {.head = {.kind = UNC_WIRE_ASK}};
	double us[ROUNDS];
	int to = call();

	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = now_us();

		for (unsigned k = 0; k < ASKS; k++)
			ask(to, &r, 0, NULL, 0);
		us[i] = (now_us() - start) / ASKS;
	}
	printf("requests a second of one client        %8.0f\n", 1e6 / median(us));
	close(to);
}

int main(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	row_reads();
	row_start(1);
	row_start(8);
	row_start(MOST);
	row_requests();
	return 0;
}
