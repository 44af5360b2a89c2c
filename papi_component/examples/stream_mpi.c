/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory traffic does an MPI program cause? A triad as in STREAM (a = b + s * c), and what
 * the memory controllers of each node counted meanwhile.
 *
 * The counters belong to a socket, not to a process: one rank of each node reads them. First with
 * low-level calls, then, if PAPI_EVENTS names events, as a region of the high-level API, whose
 * report is in papi_hl_output/.
 *
 * A signal that asks it to end (of a batch system, a limit, a terminal) ends the rounds of the rank
 * that gets it. What was counted is reported, the counters are restored, and the exit status is 128
 * and the signal's number.
 *
 * usage: mpirun -n RANKS stream_mpi [MILLIONS OF ELEMENTS PER RANK [ROUNDS]]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <papi.h>

enum { MAX_SOCKETS = 16, MAX_EVENTS = 2 * MAX_SOCKETS };

struct node {
	char name[MPI_MAX_PROCESSOR_NAME];
	int simulated;
	int sockets;
	double seconds;
	long long bytes[MAX_EVENTS]; /* read and written, socket by socket */
	int partial[MAX_SOCKETS];    /* not of all its memory channels */
};

static void check(const char *what, int papi_errno)
{
	if (papi_errno == PAPI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, PAPI_strerror(papi_errno));
	PAPI_shutdown(); /* puts counters back that run yet */
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The component; the program ends with the reason if it cannot be used. */
static const PAPI_component_info_t *find_component(void)
{
	int cid = PAPI_get_component_index("intel_uncore"), code = PAPI_NATIVE_MASK;
	const PAPI_component_info_t *info;

	check("component intel_uncore", cid < 0 ? cid : PAPI_OK);
	PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid); /* the first use initializes it */
	info = PAPI_get_component_info(cid);
	if (info->disabled) {
		fprintf(stderr, "component intel_uncore: %s\n", info->disabled_reason);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return info;
}

/* The codes of the bytes read and written of each socket; returns the number of sockets. */
static int find_sockets(int codes[MAX_EVENTS])
{
	static const char *const metrics[] = {"memory_read_bytes", "memory_write_bytes"};
	char name[PAPI_MAX_STR_LEN];
	int i, papi_errno;

	for (i = 0; i < MAX_EVENTS; i++) {
		snprintf(name, sizeof(name), "intel_uncore:::%s:socket=%d", metrics[i % 2], i / 2);
		papi_errno = PAPI_event_name_to_code(name, &codes[i]);
		if (papi_errno == PAPI_EINVAL && i > 0 && i % 2 == 0)
			break; /* there is no such socket */
		check(name, papi_errno);
	}
	return i / 2;
}

/* An EventSet of all sockets. From here on the component says on stderr what is wrong with a number. */
static int add_sockets(struct node *node)
{
	int codes[MAX_EVENTS], set = PAPI_NULL, i;
	PAPI_event_info_t info;

	node->sockets = find_sockets(codes);
	PAPI_set_debug(PAPI_VERB_ECONT);
	check("PAPI_create_eventset", PAPI_create_eventset(&set));
	for (i = 0; i < 2 * node->sockets; i++) {
		check("PAPI_get_event_info", PAPI_get_event_info(codes[i], &info));
		check(info.symbol, PAPI_add_event(set, codes[i]));
		node->partial[i / 2] |= strstr(info.long_descr, "(partial sum, ") != NULL;
	}
	return set;
}

static volatile sig_atomic_t stopped; /* by this signal */

/* Neither PAPI nor MPI may be called here. */
static void take_signal(int number)
{
	stopped = number;
}

static void take_signals(void)
{
	static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGALRM, SIGTERM, SIGXCPU};
	struct sigaction action;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], NULL, &action);
		if (action.sa_handler == SIG_IGN) /* as under nohup */
			continue;
		action.sa_handler = take_signal;
		action.sa_flags = SA_RESTART;
		sigaction(numbers[i], &action, NULL);
	}
}

/* *done: the rounds that were made, all unless a signal came. */
static double triad(double *a, const double *b, const double *c, long n, int rounds, long *done)
{
	double start = MPI_Wtime();
	long i;

	for (*done = 0; *done < rounds && !stopped; ++*done)
		for (i = 0; i < n; i++)
			a[i] = b[i] + (3.0 + (double)*done) * c[i];
	return MPI_Wtime() - start;
}

static void print_node(const struct node *node)
{
	int socket;

	for (socket = 0; socket < node->sockets; socket++) {
		const long long *bytes = &node->bytes[2 * socket];

		printf("%-16s %6d %16lld %16lld %10.3f %10.3f%s%s\n", node->name, socket, bytes[0],
		       bytes[1], (double)bytes[0] / node->seconds / 1e9,
		       (double)bytes[1] / node->seconds / 1e9,
		       node->partial[socket] ? "  PARTIAL" : "",
		       node->simulated ? "  SIMULATED" : "");
	}
}

/* Rank 0 of `readers` prints what all of them measured. */
static void report(MPI_Comm readers, const struct node *mine)
{
	int rank, size, i;
	struct node *all;

	MPI_Comm_rank(readers, &rank);
	MPI_Comm_size(readers, &size);
	all = calloc((size_t)size, sizeof(*all));
	if (!all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Gather(mine, sizeof(*mine), MPI_BYTE, all, sizeof(*all), MPI_BYTE, 0, readers);
	if (rank == 0) {
		printf("%-16s %6s %16s %16s %10s %10s\n", "node", "socket", "bytes read",
		       "bytes written", "read GB/s", "write GB/s");
		for (i = 0; i < size; i++)
			print_node(&all[i]);
		if (all[0].simulated)
			printf("SIMULATED: these bytes come from libuncore's model of a machine, "
			       "not from the triad\n");
	}
	free(all);
}

int main(int argc, char **argv)
{
	long n = 1000000 * (argc > 1 ? atol(argv[1]) : 4), i, done, sum;
	int rounds = argc > 2 ? atoi(argv[2]) : 10, rank, ranks, node_rank, length, set = PAPI_NULL;
	double *a, *b, *c, seconds, slowest, start;
	struct node mine = {.simulated = 0};
	MPI_Comm node, readers;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &node_rank);
	MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED, rank, &readers);

	if (n <= 0 || rounds <= 0) {
		fprintf(stderr, "usage: stream_mpi [MILLIONS OF ELEMENTS PER RANK [ROUNDS]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	a = malloc((size_t)n * sizeof(*a));
	b = malloc((size_t)n * sizeof(*b));
	c = malloc((size_t)n * sizeof(*c));
	if (!a || !b || !c)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < n; i++) {
		a[i] = 0;
		b[i] = 1;
		c[i] = 2;
	}

	/* Low-level calls: one rank of each node. */
	take_signals();
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (node_rank == 0) {
		mine.simulated = strstr(find_component()->description, "SIMULATED") != NULL;
		set = add_sockets(&mine);
		MPI_Get_processor_name(mine.name, &length);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (node_rank == 0)
		check("PAPI_start", PAPI_start(set));
	start = MPI_Wtime();
	seconds = triad(a, b, c, n, rounds, &done);
	MPI_Barrier(node);
	if (node_rank == 0) {
		check("PAPI_stop", PAPI_stop(set, mine.bytes));
		mine.seconds = MPI_Wtime() - start;
		check("PAPI_cleanup_eventset", PAPI_cleanup_eventset(set));
		check("PAPI_destroy_eventset", PAPI_destroy_eventset(&set));
		report(readers, &mine);
		MPI_Comm_free(&readers);
	}
	MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&done, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("triad: %d ranks, 3 arrays of %.0f MB each, %ld rounds, %.3f s; the program "
		       "itself asked for %.3f GB/s\n",
		       ranks, (double)n * sizeof(*a) / 1e6, sum / ranks, slowest,
		       3.0 * (double)n * sizeof(*a) * (double)sum / slowest / 1e9);

	MPI_Allreduce(&done, &sum, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
	if (sum == rounds && getenv("PAPI_EVENTS")) {
		if (node_rank == 0)
			check("PAPI_hl_region_begin", PAPI_hl_region_begin("triad"));
		triad(a, b, c, n, rounds, &done);
		MPI_Barrier(node);
		if (node_rank == 0)
			check("PAPI_hl_region_end", PAPI_hl_region_end("triad"));
	}

	free(a);
	free(b);
	free(c);
	MPI_Comm_free(&node);
	MPI_Finalize();
	return stopped ? 128 + stopped : 0;
}
