/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: the table of stat, redrawn at each interval, with bars. Signals are blocked and come
 * through a descriptor, so that counters and the terminal are restored however the command ends, out
 * of memory included.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "top.h"

enum wake { WAKE_TIME, WAKE_DRAW, WAKE_STOP, WAKE_PAGE };

struct runner {
	struct unc_platform *platform;
	struct top top;
	struct top_screen screen;
	size_t wanted;   /* a group, by a key */
	unsigned escape; /* letters of "\033[" that came last */
	double interval;
	uint64_t frames;   /* to draw; 0: no end */
	sigset_t set;      /* signals that are waited for */
	int signals, keys; /* descriptors; -1: there are no keys */
	bool taken;        /* the terminal is ours */
	bool harmed;       /* a counter was lost */
	struct termios before;
};

/* ---- the terminal */

/* Keys arrive when pressed and are not echoed; the screen before the command is kept. */
static void set_raw_terminal(struct runner *r)
{
	struct termios keys;

	if (!r->screen.terminal)
		return;
	r->taken = true;
	if (r->keys >= 0 && tcgetattr(r->keys, &r->before) == 0) {
		keys = r->before;
		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		keys.c_cc[VMIN] = 1;
		keys.c_cc[VTIME] = 0;
		tcsetattr(r->keys, TCSADRAIN, &keys);
	}
	fputs("\033[?1049h\033[?25l\033[H\033[2J", stdout);
	fflush(stdout);
}

static void restore_terminal(struct runner *r)
{
	if (!r->taken)
		return;
	r->taken = false;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (r->keys >= 0)
		tcsetattr(r->keys, TCSADRAIN, &r->before);
}

/* ---- what happens between two frames */

static void open_signals(struct runner *r)
{
	static const int taken[] = {SIGINT,    SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
				    SIGUSR2,   SIGALRM,  SIGXCPU, SIGPROF, SIGTSTP,
				    SIGVTALRM, SIGWINCH, SIGCONT};
	struct sigaction action;
	sigset_t blocked;

	sigemptyset(&r->set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (sigaction(taken[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&r->set, taken[i]); /* unless ignored, as under nohup */
	blocked = r->set;
	sigaddset(&blocked, SIGTTOU); /* the terminal is given back from the background as well */
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	action = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGXFSZ, &action, NULL);
	r->signals = r->keys < 0 ? -1 : signalfd(-1, &r->set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0) /* keys and signals cannot be waited for together */
		r->keys = -1;
}

static enum wake handle_signal(struct runner *r, int number)
{
	if (number ==
	    SIGTSTP) { /* from the keyboard: the shell gets its terminal; counting goes on */
		restore_terminal(r);
		raise(SIGSTOP);
		set_raw_terminal(r);
	}
	return number == SIGTSTP || number == SIGWINCH || number == SIGCONT ? WAKE_DRAW : WAKE_STOP;
}

static enum wake handle_key(struct runner *r)
{
	char key[16];
	ssize_t n = read(r->keys, key, sizeof(key));
	enum wake wake = WAKE_DRAW;

	if (n <= 0) { /* the terminal is gone, or belongs to somebody else */
		if (n == 0 || (errno != EINTR && errno != EAGAIN))
			r->keys = -1;
		return WAKE_TIME;
	}
	r->screen.said[0] = '\0';
	for (ssize_t i = 0; i < n; i++) {
		bool arrow = r->escape == 2;

		if (key[i] == 'q' || key[i] == 'Q')
			return WAKE_STOP;
		if (key[i] >= '1' && key[i] <= '9') {
			r->wanted = (size_t)(key[i] - '1');
			wake = WAKE_PAGE;
		}
		if (arrow && key[i] == 'A' && r->screen.scrolled)
			r->screen.scrolled--;
		if (arrow && key[i] == 'B')
			r->screen.scrolled++;
		r->escape = key[i] == '\033' ? 1 : r->escape == 1 && key[i] == '[' ? 2 : 0;
	}
	return wake;
}

/* A signal or a key within the time; WAKE_TIME: neither. */
static enum wake wait_for_input(struct runner *r, double seconds)
{
	struct timespec ts = {.tv_sec = (time_t)seconds,
			      .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
	struct pollfd fd[] = {{.fd = r->signals, .events = POLLIN},
			      {.fd = r->keys, .events = POLLIN}};
	int number;

	if (r->keys >= 0) {
		if (ppoll(fd, 2, &ts, NULL) <= 0)
			return WAKE_TIME;
		ts = (struct timespec){0};
	}
	number = sigtimedwait(&r->set, NULL, &ts);
	if (number > 0)
		return handle_signal(r, number);
	return r->keys >= 0 && fd[1].revents ? handle_key(r) : WAKE_TIME;
}

/* WAKE_TIME, WAKE_STOP or WAKE_PAGE; WAKE_DRAW: a frame could not be drawn. */
static enum wake wait_for_frame(struct runner *r, double deadline)
{
	for (;;) {
		double left = fmin(deadline - now(), 3600);
		enum wake wake;

		if (left <= 0)
			return WAKE_TIME;
		wake = wait_for_input(r, left);
		if (wake == WAKE_STOP || wake == WAKE_PAGE ||
		    (wake == WAKE_DRAW && !top_draw(&r->top, &r->screen)))
			return wake;
	}
}

/* ---- counting */

static int start_counting(const struct runner *r, struct top *top)
{
	int rc = unc_session_turns(top->series.session, (unsigned)floor(1000 * r->interval));

	return rc < 0 ? rc : unc_session_start(top->series.session);
}

/* Changes to another group, and starts counting it. If it cannot be shown, says why and keeps the page.
 * 0, or an error of the session. */
static int turn_page(struct runner *r)
{
	struct top next = {.group = NULL};
	char *why = top_open(&next, r->platform, r->wanted);
	int rc = 0;

	if (!why) {
		unc_session_stop(r->top.series.session);
		rc = start_counting(r, &next);
	}
	if (rc < 0) {
		why = must_print("%s", unc_session_error(next.series.session));
		rc = start_counting(r, &r->top);
	}
	snprintf(r->screen.said, sizeof(r->screen.said), "%s", why ? why : "");
	top_close(why ? &next : &r->top);
	if (!why)
		r->top = next;
	r->screen.scrolled = why ? r->screen.scrolled : 0;
	free(why);
	top_draw(&r->top, &r->screen);
	return rc;
}

/* Draws frames until a signal or key ends the command. 0, or an error of the session. */
static int draw_frames(struct runner *r)
{
	double start = now();

	if (r->screen.terminal && !top_draw(&r->top, &r->screen))
		return 0;
	for (double k = 1;; k++) {
		enum wake wake = wait_for_frame(r, start + k * r->interval);
		int rc = 0;

		if (wake == WAKE_PAGE) {
			rc = turn_page(r);
			start = now() - k * r->interval;
		} else if (wake == WAKE_TIME) {
			rc = top_read(&r->top);
			r->harmed |= rc == 0 && series_lost(&r->top.series);
			if (rc == 0)
				top_draw(&r->top, &r->screen);
		} else {
			return 0;
		}
		if (rc < 0 || ferror(stdout) ||
		    (wake == WAKE_TIME && r->frames && --r->frames == 0))
			return rc;
		/* One that comes late makes the next one shorter, not the series. */
		k = fmax(k, floor((now() - start) / r->interval));
	}
}

/* The exit status. */
static int end_watch(struct runner *r, int rc, int written)
{
	struct unc_session *session = r->top.series.session;
	char *sentence = must_print("%s", unc_session_error(session));
	int stopped = unc_session_stop(session), status = EXIT_SUCCESS;

	if (rc < 0)
		status = library_error(rc, sentence);
	else if (stopped < 0 && stopped != UNC_ERR_STATE)
		status = library_error(stopped, unc_session_error(session));
	else if (written == EPIPE)
		status = BY_SIGNAL + SIGPIPE;
	else if (written)
		status = failure("cannot write the frame: %s", strerror(written));
	else if (r->harmed)
		status = failure(
			"another program took over a counter: frames without its value have '-'");
	free(sentence);
	return status;
}

/* The runner whose terminal and counters are restored if exit() is called when memory runs out. */
static struct runner *at_exit;

static void restore_at_exit(void)
{
	if (!at_exit)
		return;
	restore_terminal(at_exit);
	unc_session_stop(at_exit->top.series.session);
}

static int run_top(struct runner *r)
{
	int rc;

	open_signals(r);
	rc = start_counting(r, &r->top);
	if (rc < 0)
		return series_error(&r->top.series, rc);
	at_exit = r;
	atexit(restore_at_exit);
	set_raw_terminal(r);
	errno = 0;
	rc = draw_frames(r);

	int written = ferror(stdout) ? errno : 0;

	at_exit = NULL;
	restore_terminal(r);
	return end_watch(r, rc, written);
}

/* ---- options */

static int parse_top_options(struct runner *r, const struct args *args)
{
	int rc = ARGS_OK;

	r->interval = 1;
	if (args->interval)
		rc = time_between("top", "-I", 1000, args->interval, 10, &r->interval);
	if (rc == ARGS_OK && args->number)
		return whole_number("top", "-n", "frames", args->number, &r->frames);
	return rc;
}

int cmd_top(struct unc_platform *platform, const struct args *args)
{
	const char *term = getenv("TERM");
	struct runner r = {.platform = platform, .signals = -1, .keys = -1};
	const struct unc_group *group; /* what is missing of it is said */
	int status = parse_top_options(&r, args);
	char *why;

	if (status != ARGS_OK)
		return status;
	setlocale(LC_CTYPE, "");
	r.screen.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	r.screen.terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
	if (r.screen.terminal && isatty(STDIN_FILENO))
		r.keys = STDIN_FILENO;
	status = open_group(platform, "OVERVIEW", false, &group);
	if (status == 0 && (why = top_open(&r.top, platform, 0)) != NULL) {
		status = failure("%s", why);
		free(why);
	}
	if (status == 0)
		status = run_top(&r);
	top_close(&r.top);
	if (r.signals >= 0)
		close(r.signals);
	return status;
}
