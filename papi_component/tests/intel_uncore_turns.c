/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does not fit at once is measured in turn: metrics that need several passes by themselves, and
 * EventSets that PAPI_set_multiplex() allows it. Nothing is told of it before each pass has had its
 * turn. With INTEL_UNCORE_FEW=1 few metrics, events and threads have turns, and no numbers are
 * compared. With shim.c, SHIM_TURNS=stuck, nobody else's turn ever comes; with SHIM_TURNS=fail
 * somebody has taken the counters of the next pass.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "intel_uncore_test.h"

enum {
	FILLERS = 40,     /* more than one unit has counters */
	PATIENCE = 60000, /* looks, one each millisecond and more: who needs them all hangs */
	LONG = 5000, /* looks, for a gauge that may have no value: turns are long where changes are */
	FEW = 3,     /* metrics: one that has a value is among them */
	TRIES = 200, /* of a measurement that a busy machine may spoil */
	BESIDE_ROUNDS = 3,
	HANGS = 600 /* seconds */
};

static int few(void)
{
	return getenv("INTEL_UNCORE_FEW") != NULL;
}

/* How many events a set is filled with. */
static int fillers(void)
{
	return few() ? 10 : FILLERS;
}

static double read_double(const long long *value)
{
	double number;

	memcpy(&number, value, sizeof(number));
	return number;
}

static int is_gauge(int code)
{
	PAPI_event_info_t info;

	CALL(PAPI_get_event_info(code, &info));
	return info.data_type == PAPI_DATATYPE_FP64;
}

static int make_set(int cid, int multiplexed)
{
	int set = PAPI_NULL;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_assign_eventset_component(set, cid));
	if (multiplexed)
		CALL(PAPI_set_multiplex(set));
	return set;
}

static void remove_set(int set)
{
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

/* Until every pass has had its turn, integers cannot be read. */
static void read_when_measured(int set, long long *values)
{
	int papi_errno, looks;

	for (looks = 0; looks < PATIENCE; looks++) {
		papi_errno = PAPI_read(set, values);
		if (papi_errno == PAPI_OK)
			return;
		CHECK("not an error of several passes", papi_errno == PAPI_EMULPASS);
		usleep(1000);
	}
	test_fail(__FILE__, __LINE__, "a pass never has its turn", papi_errno);
}

/* A metric that needs several passes has a value once all have had their turn. */
static int check_metric(int code, int cid, int quiet)
{
	int set = make_set(cid, 0), looks, gauge = is_gauge(code);
	long long value, later;
	char name[PAPI_HUGE_STR_LEN];

	CALL(PAPI_event_code_to_name(code, name));
	CALL(PAPI_add_event(set, code));
	CALL(PAPI_start(set));
	read_when_measured(set, &value);
	for (looks = 0; gauge && isnan(read_double(&value)) && looks < LONG; looks++) {
		usleep(2000);
		CALL(PAPI_read(set, &value));
	}
	if (!gauge) { /* and can begin anew */
		CALL(PAPI_reset(set));
		read_when_measured(set, &later);
	}
	CALL(PAPI_stop(set, &later));
	remove_set(set);
	if (!quiet)
		printf("%s: %g\n", name, gauge ? read_double(&value) : (double)value);
	return gauge ? !isnan(read_double(&value)) : value > 0;
}

static int find_metrics(int cid, int *codes, int most)
{
	int code = PAPI_NATIVE_MASK, n = 0;
	PAPI_event_info_t info;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		CALL(PAPI_get_event_info(code, &info));
		if (strstr(info.long_descr, " passes: multiplexed)") && n < most)
			codes[n++] = code;
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	return n;
}

/* Adds the events of the listing, which come type by type, until there are fillers() of them or, if
 * `all` of them need not fit, one does not; how many there are. */
static int fill(int set, int cid, int all)
{
	int code = PAPI_NATIVE_MASK, n = 0, papi_errno = PAPI_OK;
	PAPI_event_info_t info;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		CALL(PAPI_get_event_info(code, &info));
		if (!strstr(info.symbol, ".") || strncmp(info.units, "count", 5) ||
		    info.data_type == PAPI_DATATYPE_FP64 ||
		    strstr(info.long_descr, " passes: multiplexed)"))
			continue;
		papi_errno = add_somehow(set, code, cid);
		n += papi_errno == PAPI_OK;
	} while (n < fillers() && (all || papi_errno != PAPI_ECNFLCT) &&
		 PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	return n;
}

/* Beside a metric of several passes others fit as long as it needs no more of them. */
static void check_beside(int metric, int cid)
{
	int set = make_set(cid, 0), fit;

	CALL(PAPI_add_event(set, metric));
	fit = fill(set, cid, 0);
	CHECK("the set has no end", fit < fillers());
	CHECK("what was refused is in the set", PAPI_num_events(set) == fit + 1);
	remove_set(set);
}

/* How often what a busy machine has spoiled is measured: only where the load is constant numbers are
 * compared. */
static int tries_on(const char *description)
{
	return strstr(description, "SIMULATED") && !few() ? TRIES : 1;
}

/* Bytes read a byte written, with so many events beside them. */
static double measure_ratio(int set, int cid, int beside)
{
	long long values[FILLERS + 2];

	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	if (beside)
		CHECK("not all fit", fill(set, cid, 1) == beside);
	CALL(PAPI_add_named_event(set, PREFIX "memory_write_bytes"));
	CALL(PAPI_start(set));
	work();
	read_when_measured(set, values);
	CALL(PAPI_stop(set, values));
	return (double)values[0] / (double)values[beside + 1];
}

/* Bytes read a byte written, the first two events of a set. */
static double measure_left(int set)
{
	long long values[FILLERS + 2];

	CALL(PAPI_start(set));
	work();
	read_when_measured(set, values);
	CALL(PAPI_stop(set, values));
	return (double)values[0] / (double)values[1];
}

/* What remains when an event is taken out stays, in turn if it does not fit at once, and keeps its
 * values: PAPI moves the last event. */
static void check_removal(const char *first, int filled, int cid, const char *description)
{
	int set = make_set(cid, 0), looks, fit, tries = tries_on(description);
	double once = measure_ratio(set, cid, 0), left = NAN;

	remove_set(set);
	set = make_set(cid, 0);
	CALL(PAPI_add_named_event(set, first));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_add_named_event(set, PREFIX "memory_write_bytes"));
	fit = filled ? fill(set, cid, 1) : 0;
	CALL(PAPI_remove_named_event(set, first));
	CHECK("not one event was removed", PAPI_num_events(set) == fit + 2);
	for (looks = 0; looks < tries && !(fabs(left / once - 1) < 0.02); looks++)
		left = measure_left(set);
	CHECK("what is left differs", looks < TRIES);
	remove_set(set);
}

/* The load of a simulated machine is constant: what was measured in turn is what there is, unless
 * this thread lost its CPU between a register and the clock, which does not always happen. */
static void check_values(int cid, const char *description)
{
	double once, in_turn = NAN;
	int set, looks, tries = tries_on(description);

	set = make_set(cid, 0);
	once = measure_ratio(set, cid, 0);
	CHECK("all fit at once", fill(set, cid, 0) < fillers());
	CALL(PAPI_set_multiplex(set));
	CHECK("multiplexed twice", PAPI_set_multiplex(set) == PAPI_EINVAL);
	remove_set(set);
	for (looks = 0; looks < tries && !(fabs(in_turn / once - 1) < 0.02); looks++) {
		set = make_set(cid, 1);
		in_turn = measure_ratio(set, cid, fillers());
		remove_set(set);
	}
	if (looks == TRIES)
		printf("at once %g, in turn %g\n", once, in_turn);
	CHECK("what was measured in turn differs", looks < TRIES);
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	CHECK("/proc/self/task", tasks);
	while ((entry = readdir(tasks)))
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n;
}

static int threads_while_running(int set)
{
	int n;

	CALL(PAPI_start(set));
	n = count_threads();
	CALL(PAPI_reset(set));
	while (PAPI_stop(set, NULL) == PAPI_EMULPASS)
		usleep(1000);
	return n;
}

/* No thread is there for the turns alone. */
static void check_threads(int cid)
{
	int single = make_set(cid, 0), many = make_set(cid, 1), before, one, two;

	CALL(PAPI_add_named_event(single, PREFIX "memory_read_bytes"));
	fill(many, cid, 1);
	before = count_threads();
	one = threads_while_running(single);
	two = threads_while_running(many);
	CHECK("a thread for the turns", two == one);
	CHECK("a thread is left", count_threads() == before);
	remove_set(single);
	remove_set(many);
}

/* Threads that want the same passes are served by the same turns: nobody loses a counter. */
static void *count_beside(void *argument)
{
	static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER; /* PAPI lists for one thread */
	long long values[FILLERS];
	int set, round;

	CALL(PAPI_register_thread());
	for (round = 0; round < (few() ? 1 : BESIDE_ROUNDS); round++) {
		pthread_mutex_lock(&listing);
		set = make_set(*(int *)argument, 1);
		CHECK("not all fit", fill(set, *(int *)argument, 1) == fillers());
		pthread_mutex_unlock(&listing);
		CALL(PAPI_start(set));
		read_when_measured(set, values);
		CALL(PAPI_reset(set));
		read_when_measured(set, values);
		CALL(PAPI_stop(set, values));
		remove_set(set);
	}
	CALL(PAPI_unregister_thread());
	return NULL;
}

static void check_beside_threads(int cid)
{
	pthread_t threads[4];
	int i, n = few() ? 2 : 4;

	CALL(PAPI_thread_init((unsigned long (*)(void))pthread_self));
	for (i = 0; i < n; i++)
		CHECK("pthread_create", !pthread_create(&threads[i], NULL, count_beside, &cid));
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* The child has no such thread; what it does is no harm to the parent. */
static void check_fork(int cid)
{
	int set = make_set(cid, 1), status;
	long long values[FILLERS];
	pid_t child;

	fill(set, cid, 1);
	CALL(PAPI_start(set));
	fflush(NULL);
	child = fork();
	CHECK("fork", child >= 0);
	if (child == 0) {
		alarm(HANGS);
		CHECK("a child reads", PAPI_read(set, values) == PAPI_ENOINIT);
		CHECK("a child stops", PAPI_stop(set, values) == PAPI_ENOINIT);
		PAPI_shutdown();
		exit(42);
	}
	CHECK("waitpid", waitpid(child, &status, 0) == child);
	CHECK("the child failed", WIFEXITED(status) && WEXITSTATUS(status) == 42);
	read_when_measured(set, values);
	CALL(PAPI_stop(set, values));
	remove_set(set);
}

/* Integers fail, for good while the turns do not come; gauges are NaN; both can be given up. */
static void check_stuck(int cid, const char *metric)
{
	int set = make_set(cid, 1);
	long long values[FILLERS], value;

	fill(set, cid, 1);
	CALL(PAPI_start(set));
	usleep(20000);
	CHECK("half a measurement is read", PAPI_read(set, values) == PAPI_EMULPASS);
	CHECK("and read by stop", PAPI_stop(set, values) == PAPI_EMULPASS);
	CHECK("and read after a reset",
	      PAPI_reset(set) == PAPI_OK && PAPI_read(set, values) == PAPI_EMULPASS);
	PAPI_shutdown(); /* while it runs */
	cid = find_component();
	set = make_set(cid, 1);
	CALL(PAPI_add_named_event(set, metric));
	CALL(PAPI_start(set));
	usleep(20000);
	CALL(PAPI_stop(set, &value));
	CHECK("half a measurement has a value", isnan(read_double(&value)));
	remove_set(set);
}

/* The counters of the next pass are somebody else's: that is a loss, and a reset begins anew. */
static void check_fail(int cid)
{
	int set = make_set(cid, 1), looks;
	long long values[FILLERS];

	fill(set, cid, 1);
	CALL(PAPI_start(set));
	for (looks = 0; PAPI_read(set, values) == PAPI_EMULPASS && looks < PATIENCE; looks++)
		usleep(1000);
	CHECK("no error", PAPI_read(set, values) == PAPI_ECLOST);
	CHECK("nor by stop", PAPI_stop(set, values) == PAPI_ECLOST);
	unsetenv("SHIM_TURNS");
	CALL(PAPI_reset(set));
	read_when_measured(set, values);
	CALL(PAPI_stop(set, values));
	remove_set(set);
}

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), metrics[64], n, i, values = 0;
	const char *shim = getenv("SHIM_TURNS");
	char description[PAPI_MAX_STR_LEN], name[PAPI_HUGE_STR_LEN];

	snprintf(description, sizeof(description), "%.120s",
		 PAPI_get_component_info(cid)->description);
	n = find_metrics(cid, metrics, few() ? FEW : 64);
	PAPI_set_debug(shim ? PAPI_VERB_ECONT : PAPI_QUIET);
	if (shim && !strcmp(shim, "stuck")) {
		CHECK("no metric needs several passes", n > 0);
		for (i = 0; i + 1 < n && !is_gauge(metrics[i]); i++)
			;
		CHECK("none is a gauge", is_gauge(metrics[i]));
		CALL(PAPI_event_code_to_name(metrics[i], name));
		check_stuck(cid, name);
	} else if (shim) {
		check_fail(cid);
	} else {
		for (i = 0; i < n; i++)
			values += check_metric(metrics[i], cid, quiet);
		CHECK("hardly any metric has a value", values * 2 >= n);
		if (n) {
			check_beside(metrics[0], cid);
			CALL(PAPI_event_code_to_name(metrics[0], name));
			check_removal(name, 1, cid, description);
		}
		check_removal(PREFIX "memory_write_bytes:socket=0", 0, cid, description);
		check_values(cid, description);
		check_threads(cid);
		check_fork(cid);
		check_beside_threads(cid);
	}
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
