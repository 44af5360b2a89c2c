/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat: counts for the time asked for. Signals are blocked and waited for, so that
 * counters are always restored and no handler is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"
#include "stat_child.h"

static const double least = 0.01;     /* a last interval shorter than this is not reported */
static const double tolerance = 1e-6; /* the last slice and the end are the same moment */

struct runner {
	struct stat_job *job;
	struct child child;
	sigset_t signals;
	bool stopped; /* by a signal */
	double first; /* when counting began, */
	double start; /* ... of this run */
	bool told;    /* that a counter was lost */
	bool skipped; /* the last interval was not one of each pass: some values are of both */
};

enum wake { WAKE_TIME, WAKE_CHILD, WAKE_STOP };

/* Blocks the signals that would end the process. Batch systems send some of them when time is up. */
static void block_end_signals(struct runner *r)
{
	static const int ends[] = {SIGHUP,  SIGQUIT, SIGUSR1,   SIGUSR2,
				   SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF};
	struct sigaction action;

	sigemptyset(&r->signals);
	sigaddset(&r->signals, SIGINT);
	sigaddset(&r->signals, SIGTERM);
	sigaddset(&r->signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&r->signals, ends[i]); /* unless ignored, as under nohup */
	signal(SIGCHLD, SIG_DFL);
	/* A reader that goes away, a file that may not grow: neither may leave counters running. */
	action = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGPIPE, &action, &r->child.on_pipe);
	sigaction(SIGXFSZ, &action, &r->child.on_size);
	sigprocmask(SIG_BLOCK, &r->signals, &r->child.signals);
}

/* Whether COMMAND got the signal, too: a terminal sends to both; an alarm or a limit ends us only. */
static bool is_from_terminal(int number, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (number == SIGINT || number == SIGQUIT || number == SIGHUP);
}

/* Handles a signal to end; true: stop now. With a COMMAND, the signal ends that, and its end ends us. */
static bool must_stop(struct runner *r, int number, const siginfo_t *info)
{
	bool again = r->stopped;

	r->stopped = true;
	if (!r->child.pid)
		return true;
	if (!is_from_terminal(number, info))
		kill(r->child.pid, number);
	if (!again)
		return false;
	r->child.status = BY_SIGNAL + number;
	return true;
}

static enum wake wait_for_signal(struct runner *r, double deadline)
{
	for (;;) {
		double left = fmin(deadline - now(), 3600);
		siginfo_t info;

		if (left <= 0)
			return WAKE_TIME;
		struct timespec ts = {.tv_sec = (time_t)left,
				      .tv_nsec = (long)((left - floor(left)) * 1e9)};
		int number = sigtimedwait(&r->signals, &info, &ts);

		if (number == SIGCHLD) {
			if (child_ended(&r->child))
				return WAKE_CHILD;
		} else if (number > 0 && must_stop(r, number, &info)) {
			return WAKE_STOP;
		}
	}
}

/* Whether all collected numbers belong to the interval that has ended. */
static bool is_interval_complete(struct runner *r)
{
	bool complete = stat_complete(r->job), whole = complete && !r->skipped;

	r->skipped = !complete;
	return whole;
}

static int end_interval(struct runner *r)
{
	struct stat_job *job = r->job;
	int rc = stat_collect(job);

	if (rc == 0 && is_interval_complete(r))
		rc = stat_report(job);
	if (rc == 0 && !r->told && series_lost(&job->series)) {
		stat_lament(job);
		r->told = true;
	}
	return rc;
}

/*
 * Counts until the end; with intervals, prints all reports but the last. Intervals end at fixed
 * times: after a late wake-up the next one is shorter, or is missed.
 */
static int count_intervals(struct runner *r)
{
	struct stat_job *job = r->job;
	double length = job->interval > 0 ? job->interval : INFINITY;
	double end = job->duration > 0 ? r->start + job->duration : INFINITY;
	int rc = 0;

	for (double k = 1; rc == 0 && now() < end; k++) {
		double next = r->start + k * length;

		if (wait_for_signal(r, fmin(next, end)) != WAKE_TIME)
			break;
		if (fmax(next, now()) >= end - tolerance)
			break;
		k = fmax(k, floor((now() - r->start) / length));
		rc = end_interval(r);
	}
	return rc;
}

/*
 * Sends the report to a file, or, if stdout belongs to COMMAND, to stderr. COMMAND keeps the old
 * stdout.
 */
static int redirect_report(struct runner *r)
{
	const struct args *args = r->job->args;
	int fd = STDERR_FILENO;

	r->child.out = -1;
	if (args->output ? strcmp(args->output, "-") == 0 : !args->words || args->json)
		return 0;
	if (args->output)
		fd = open(args->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0)
		r->child.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || r->child.out < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return failure("cannot write %s: %s", args->output ? args->output : "the report",
			       strerror(errno));
	if (args->output)
		close(fd);
	return 0;
}

/* Whether the time since the last report deserves a report of its own. */
static bool is_worth_a_report(struct runner *r)
{
	const struct stat_job *job = r->job;

	if (job->interval == 0)
		return true;
	/* A full one may be some ns short of its length. */
	return job->seconds >= 0.99 * fmin(job->interval, least) && is_interval_complete(r);
}

/* Stops before collecting: the loss of a counter may show only at the stop. */
static int end_count(struct runner *r)
{
	struct stat_job *job = r->job;
	struct unc_session *session = job->series.session;
	int stopped = series_error(&job->series, unc_session_stop(session));

	/* A turn that failed is told by both. */
	if (stopped && unc_session_read(session, NULL, 0, sizeof(struct unc_value)) < 0)
		return stopped;
	int status = stat_collect(job);

	if (status == 0 && !job->repeat && is_worth_a_report(r))
		status = stat_report(job);
	return status ? status : stopped;
}

/* Starts counting, then lets COMMAND start. */
static int begin_count(struct runner *r)
{
	struct stat_job *job = r->job;
	int status = series_error(&job->series, unc_session_start(job->series.session));

	if (status == 0)
		status = stat_announce(job);
	if (status == 0) /* what came before is of no interval */
		status = series_error(&job->series, unc_session_reset(job->series.session));
	r->start = now();
	if (job->runs == 0) {
		r->first = r->start;
		clock_gettime(CLOCK_REALTIME, &job->began);
	}
	job->started = r->start - r->first;
	if (status)
		child_abandon(&r->child);
	else
		status = child_release(&r->child);
	if (status)
		unc_session_stop(job->series.session);
	return status;
}

/* Counts once. */
static int measure_once(struct runner *r)
{
	struct stat_job *job = r->job;
	int status = job->args->words ? child_start(&r->child) : 0;

	if (status == 0)
		status = begin_count(r);
	if (status)
		return status;
	status = count_intervals(r);
	if (status)
		unc_session_stop(job->series.session);
	else
		status = end_count(r);
	return status;
}

/* Waits for COMMAND, which may run longer than the counting. */
static void await_child(struct runner *r)
{
	while (r->child.pid && r->child.status == 0 && wait_for_signal(r, INFINITY) != WAKE_STOP)
		continue;
}

/* One measurement, and its report. */
static int run_once(struct runner *r)
{
	int status = measure_once(r);

	if (status == 0 || r->job->harmed)
		stat_close(r->job);
	await_child(r);
	if (status == 0 && r->job->harmed)
		return EXIT_FAILURE;
	return status ? status : r->child.status;
}

/* Says which runs a report covers if runs are missing. Returns the exit status. */
static int end_with_fewer_runs(const struct runner *r)
{
	const struct stat_job *job = r->job;
	char *what = r->child.status ? must_print("ended with status %d", r->child.status)
				     : must_print("was stopped");

	if (job->runs == 0)
		remark("run 1 of %llu %s: there is no report", (unsigned long long)job->repeat,
		       what);
	else
		remark("run %llu of %llu %s: the report is of those before it",
		       (unsigned long long)job->runs + 1, (unsigned long long)job->repeat, what);
	free(what);
	return r->child.status ? r->child.status : job->runs == 0 ? EXIT_FAILURE : 0;
}

/* Runs as often as asked for, until one fails; then prints the report of all runs. */
static int run_repeatedly(struct runner *r)
{
	struct stat_job *job = r->job;
	int status = 0;

	while (job->runs < job->repeat && !r->stopped && r->child.status == 0) {
		status = measure_once(r);
		await_child(r);
		if (status)
			return status;
		if (!r->stopped && r->child.status == 0)
			stat_gather(job);
	}
	if (job->runs < job->repeat)
		status = end_with_fewer_runs(r);
	if (job->runs == 0)
		return status;
	stat_sum_up(job);
	int reported = stat_report(job);

	stat_close(job);
	return reported ? reported : job->harmed ? EXIT_FAILURE : status;
}

int stat_run(struct stat_job *job)
{
	struct runner r = {.job = job, .child = {.word = job->args->word}};
	int status;

	status = redirect_report(
		&r); /* may wait for the reader of a FIFO: a signal still ends that */
	block_end_signals(&r);
	if (status == 0)
		status = job->repeat ? run_repeatedly(&r) : run_once(&r);
	return status;
}
