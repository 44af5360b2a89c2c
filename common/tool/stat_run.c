/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat: counts for as long as it is asked to. Signals are blocked and waited
 * for, so that counters are always put back and no handler is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

enum { NOT_FOUND = 127, NOT_RUN = 126 }; /* exit statuses, as of a shell */

static const double slice = 0.1;      /* seconds of a pass when nothing else says how long */
static const double least = 0.01;     /* a last interval shorter than this is not reported */
static const double tolerance = 1e-6; /* the last slice and the end are the same moment */

struct runner {
	struct stat_job *job;
	sigset_t signals, before;
	struct sigaction pipe_before, size_before;
	pid_t child; /* 0: none, or ended */
	int go;      /* pipe that holds the child back */
	int failed;  /* pipe that tells why it could not become the command */
	int status;  /* exit status of the child, or the one that ends us */
	int interrupts;
	double start;   /* when counting began */
	unsigned turns; /* passes that were measured since the last interval's end */
	bool renewed;   /* counting has been started anew */
};

enum wake { WAKE_TIME, WAKE_CHILD, WAKE_STOP };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* What ends a process that does not wait for it. Batch systems send some of them when time is up.
 */
static void block_signals(struct runner *r)
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
	sigaction(SIGPIPE, &action, &r->pipe_before);
	sigaction(SIGXFSZ, &action, &r->size_before);
	sigprocmask(SIG_BLOCK, &r->signals, &r->before);
}

/* In the child: waits until counting has begun, then becomes the command. */
static void become_command(const struct runner *r, int ready, int failed)
{
	char go;

	sigaction(SIGPIPE, &r->pipe_before, NULL);
	sigaction(SIGXFSZ, &r->size_before, NULL);
	sigprocmask(SIG_SETMASK, &r->before, NULL);
	if (read(ready, &go, 1) == 1) { /* else counting did not begin */
		execvp(r->job->args->word[0], r->job->args->word);
		int error = errno;

		if (write(failed, &error, sizeof(error)) < 0)
			_exit(NOT_RUN);
	}
	_exit(NOT_RUN);
}

static int start_child(struct runner *r)
{
	int ready[2] = {-1, -1}, failed[2] = {-1, -1};

	r->child = -1;
	if (pipe2(ready, O_CLOEXEC) == 0 && pipe2(failed, O_CLOEXEC) == 0)
		r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		return failure("cannot run %s: %s", r->job->args->word[0], strerror(errno));
	}
	if (r->child == 0) {
		close(ready[1]);
		become_command(r, ready[0], failed[1]);
	}
	close(ready[0]);
	close(failed[1]);
	r->go = ready[1];
	r->failed = failed[0];
	return 0;
}

/* Ends the process that was to become the command. */
static void abandon_child(struct runner *r)
{
	if (!r->child)
		return;
	close(r->go);
	close(r->failed);
	waitpid(r->child, NULL, 0);
	r->child = 0;
}

/* Lets the command begin. 0, or the exit status if there is no such command. */
static int release_child(struct runner *r)
{
	int error = 0;

	if (!r->child)
		return 0;
	/* The pipe is closed when the command runs; else the reason comes through it. */
	if (write(r->go, "g", 1) != 1 || read(r->failed, &error, sizeof(error)) <= 0)
		error = 0;
	if (error == 0) {
		close(r->go);
		close(r->failed);
		return 0;
	}
	abandon_child(r);
	failure("cannot run %s: %s", r->job->args->word[0], strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_RUN;
}

static bool child_ended(struct runner *r)
{
	int status;

	if (!r->child || waitpid(r->child, &status, WNOHANG) != r->child)
		return false;
	r->child = 0;
	r->status = WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* A terminal sends its signals to the command as well; an alarm or a limit is ours alone. */
static bool of_terminal(int number, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (number == SIGINT || number == SIGQUIT || number == SIGHUP);
}

/* A signal to end. With a command: the command is to end, and with it we do. */
static bool must_stop(struct runner *r, int number, const siginfo_t *info)
{
	if (!r->child)
		return true;
	if (!of_terminal(number, info))
		kill(r->child, number);
	if (r->interrupts++ == 0)
		return false;
	r->status = BY_SIGNAL + number;
	return true;
}

static enum wake wait_until(struct runner *r, double deadline)
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
			if (child_ended(r))
				return WAKE_CHILD;
		} else if (number > 0 && must_stop(r, number, &info)) {
			return WAKE_STOP;
		}
	}
}

/* Seconds that each pass is measured before the next has its turn. */
static double slice_length(const struct stat_job *job)
{
	double all = job->duration > 0 ? job->duration : INFINITY;

	if (job->interval > 0)
		return fmin(job->interval, all) / job->passes;
	if (job->passes == 1)
		return INFINITY;
	if (job->duration > 0) /* whole rounds, so that all passes get the same share */
		return all / (job->passes * fmax(1, floor(all / (job->passes * slice))));
	return slice;
}

static int session_error(const struct stat_job *job, int rc)
{
	return rc < 0 ? library_error(rc, unc_session_error(job->session)) : 0;
}

/* What was lost stays lost until the session starts anew. */
static int renew(struct runner *r)
{
	struct stat_job *job = r->job;
	int rc;

	if (!r->renewed)
		stat_lament(job);
	r->renewed = true;
	r->turns = 0;
	rc = unc_session_stop(job->session);
	if (rc == 0)
		rc = unc_session_start(job->session);
	job->started = now() - r->start;
	return session_error(job, rc);
}

static int collect_and_report(struct stat_job *job)
{
	int rc = stat_collect(job);

	return rc == 0 && stat_complete(job) ? stat_report(job) : rc;
}

/*
 * The end of a slice, `passed` slice lengths after the start. If it is the end of an interval as
 * well and each pass has had its turn, a report; then it is the next pass's turn.
 */
static int end_slice(struct runner *r, double passed)
{
	struct stat_job *job = r->job;
	unsigned passes = (unsigned)job->passes;
	int rc = 0;

	r->turns++;
	if (job->interval > 0 && r->turns >= passes && fmod(passed, passes) == 0) {
		r->turns = 0;
		rc = collect_and_report(job);
		if (rc == 0 && job->lost)
			return renew(r);
	}
	return rc || passes == 1 ? rc : session_error(job, unc_session_rotate(job->session));
}

/*
 * Counts until the end; with intervals, prints all reports but the last. Each slice has its place
 * in time: who wakes up late makes the next one shorter, or misses it.
 */
static int count(struct runner *r)
{
	struct stat_job *job = r->job;
	double length = slice_length(job);
	double end = job->duration > 0 ? r->start + job->duration : INFINITY;
	int rc = 0;

	for (double k = 1; rc == 0;) {
		double next = r->start + k * length;

		if (wait_until(r, fmin(next, end)) != WAKE_TIME ||
		    fmax(next, now()) >= end - tolerance)
			break;
		k = fmax(k, floor((now() - r->start) / length));
		rc = end_slice(r, k++);
	}
	return rc;
}

/* Reports whenever the event has counted enough, until the end; what is begun then is not. */
static int count_every(struct runner *r)
{
	struct stat_job *job = r->job;
	double end = job->duration > 0 ? r->start + job->duration : INFINITY;
	int rc = 0;

	while (rc == 0 && now() < end &&
	       wait_until(r, fmin(now() + job->interval, end)) == WAKE_TIME) {
		rc = stat_poll(job);
		if (rc || job->overflow.id < 0)
			continue;
		rc = stat_report(job);
		if (rc == 0 && job->lost)
			rc = renew(r);
	}
	return rc;
}

/* The report goes to a file; the command, already started, keeps the old stdout. */
static int redirect(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc = fd < 0 ? -1 : dup2(fd, STDOUT_FILENO);

	if (rc < 0)
		return failure("cannot write %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

/* What has been counted since the last report is one of its own. */
static bool worth_a_report(const struct runner *r)
{
	const struct stat_job *job = r->job;

	if (job->interval == 0)
		return true;
	/* A full one may be some ns short of its length. */
	return !job->every && r->turns + 1 >= (unsigned)job->passes &&
	       job->seconds >= 0.99 * fmin(job->interval, least) && stat_complete(job);
}

/* Stops, and reports then: a counter that is no longer ours may show only now. */
static int end_count(struct runner *r)
{
	struct stat_job *job = r->job;
	int stopped = session_error(job, unc_session_stop(job->session));
	int status = stat_collect(job);

	if (status == 0 && worth_a_report(r))
		status = stat_report(job);
	return status ? status : stopped;
}

static int measure(struct runner *r)
{
	struct stat_job *job = r->job;
	int status = session_error(job, unc_session_start(job->session));

	if (status == 0)
		status = stat_announce(job);
	if (status == 0 && !job->every) /* what came before is of no interval */
		status = session_error(job, unc_session_reset(job->session));
	r->start = now();
	if (status)
		abandon_child(r);
	else
		status = release_child(r);
	if (status) {
		unc_session_stop(job->session);
		return status;
	}
	status = job->every ? count_every(r) : count(r);
	if (status)
		unc_session_stop(job->session);
	else
		status = end_count(r);
	if (status == 0 || job->harmed)
		stat_close(job);
	return status == 0 && job->harmed ? EXIT_FAILURE : status;
}

int stat_run(struct stat_job *job)
{
	struct runner r = {.job = job};
	int status = 0;

	block_signals(&r);
	if (job->args->words)
		status = start_child(&r);
	if (status == 0 && job->args->output) {
		status = redirect(job->args->output);
		if (status)
			abandon_child(&r);
	}
	if (status == 0)
		status = measure(&r);
	while (r.child && r.status == 0 && wait_until(&r, INFINITY) != WAKE_STOP)
		continue; /* counting is over, the command is not */
	return status ? status : r.status;
}
