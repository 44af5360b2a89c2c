/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat with the library on a simulated machine. Time passes only where the command
 * waits, and as much as it asks for: nothing here depends on how fast the machine is. Between
 * command and library, values can be made invalid as the library would do it when somebody
 * interferes.
 */
#ifndef UNC_STAT_KIT_H
#define UNC_STAT_KIT_H

#include <stdatomic.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/tool/tool.h"
#include "session/session.h"
#include "common/uncore.h"
#include "suite.h"

/* ---- time */

static _Atomic uint64_t clock_ns;
static uint64_t start_ns; /* then it is 10^9 s since 1970: 2001-09-09 01:46:40 in UTC */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns = atomic_load(&clock_ns);

	if (id == CLOCK_REALTIME)
		ns += 1000000000000000000 - start_ns;
	*ts = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return 0;
}

static struct {
	unsigned late_wait; /* this one of the waits (from 1) ends late */
	double late;        /* by so many seconds */
	unsigned stop_wait; /* this one is ended by SIGINT, half way */

	/* From read `from` on (1 is the first), up to `to` if that is not 0, item `id` has these
	 * flags and this reason until the session is started again, if it can be. */
	unsigned from, to;
	int id;
	unsigned flags;
	const char *reason;
	double share;    /* with VALID */
	bool turn_fails; /* the last one: stop says so (UNC_ERR_BUSY), and each read behind it */

	double peak; /* what the memory of a socket can move; 0: not known */
} script;

static unsigned waits, starts, reads, stops;

/* A thread that waits for this time does not wake up: passes take turns here, of equal length. */
static struct {
	struct unc_session *session; /* NULL: they do not */
	uint64_t length, next;       /* of a turn; when it ends */
} turns;

static void pass_time(uint64_t ns)
{
	uint64_t now = atomic_load(&clock_ns), end = now + ns;

	/* who wakes at the end of a turn is a moment late, and comes first all the same */
	for (; turns.session && turns.next + 1000 < end; turns.next += turns.length) {
		now = turns.next > now ? turns.next : now;
		atomic_store(&clock_ns, now);
		(void)unc_run_turn(turns.session->run, &(struct unc_error){0});
	}
	atomic_store(&clock_ns, end);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	double seconds = (double)timeout->tv_sec + (double)timeout->tv_nsec * 1e-9;
	bool stop = ++waits == script.stop_wait;

	(void)set;
	if (stop)
		seconds /= 2;
	if (waits == script.late_wait)
		seconds += script.late;
	pass_time((uint64_t)ceil(seconds * 1e9) + 1);
	memset(info, 0, sizeof(*info));
	return stop ? SIGINT : -1;
}

/* ---- what the library gives */

int unc_session_turns(struct unc_session *s, unsigned ms)
{
	turns.session = s;
	turns.length = (uint64_t)ms * 1000000 / (unsigned)unc_session_passes(s);
	return 0;
}

int unc_session_start(struct unc_session *s)
{
	turns.next = atomic_load(&clock_ns) + turns.length;
	starts++;
	return REAL(unc_session_start)(s);
}

int unc_session_stop(struct unc_session *s)
{
	int rc = REAL(unc_session_stop)(s);

	stops++;
	return script.turn_fails ? UNC_ERR_BUSY : rc;
}

static bool interferes(int id)
{
	return script.from && reads >= script.from && (!script.to || reads <= script.to) &&
	       starts == 1 && id == script.id;
}

static void interfere(struct unc_value *values, size_t n)
{
	reads++;
	for (size_t i = 0; i < n; i++) {
		if (!interferes((int)i))
			continue;
		values[i].flags = script.flags;
		if (script.flags & UNC_VALUE_VALID)
			values[i].share = values[i].interval_share = script.share;
		else
			values[i] = (struct unc_value){.units = values[i].units,
						       .of = values[i].of,
						       .flags = script.flags};
	}
}

int unc_session_read(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	bool failed = script.turn_fails && stops;
	int rc = failed ? UNC_ERR_BUSY : REAL(unc_session_read)(s, values, n, size);

	interfere(values, rc == 0 ? n : 0);
	return rc;
}

const char *unc_session_reason(struct unc_session *s, int id)
{
	return interferes(id) ? script.reason : REAL(unc_session_reason)(s, id);
}

int unc_memory_peak(struct unc_platform *p, int socket, double *peak)
{
	if (script.peak == 0)
		return UNC_ERR_UNAVAILABLE;
	*peak = socket < 0 ? script.peak * unc_platform_sockets(p) : script.peak;
	return 0;
}

/* ---- running it */

static char out[1 << 17], err[1 << 14];

static void slurp(FILE *f, char *buf, size_t size)
{
	rewind(f);
	buf[fread(buf, 1, size - 1, f)] = '\0';
	fclose(f);
}

/* "stat " and `arguments`, which are separated by single blanks. Returns the exit status. */
static int run(const char *sim, const char *arguments)
{
	FILE *files[2] = {tmpfile(), tmpfile()};
	static const struct command command = {
		.name = "stat",
		.run = cmd_stat,
		.groups = REPORT | COUNT,
		.max = SIZE_MAX,
		.runs_command = true,
	};
	struct timespec ts;
	int status = -1;

	CU_ASSERT_FATAL(files[0] && files[1]);
	REAL(clock_gettime)(CLOCK_MONOTONIC, &ts);
	/* Nobody who waits in real time for a moment of this clock is woken. */
	start_ns = ((uint64_t)ts.tv_sec + 1000000) * 1000000000;
	atomic_store(&clock_ns, start_ns);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		char *text = strdup(arguments), *argv[32] = {"stat"};
		int argc = 1;

		for (char *word = strtok(text, " "); word && argc < 31; word = strtok(NULL, " "))
			argv[argc++] = word;
		setenv("UNCORE_SIM", sim, 1);
		setenv("TZ", "HERE-1:30", 1); /* an hour and a half east of Greenwich */
		dup2(fileno(files[0]), STDOUT_FILENO);
		dup2(fileno(files[1]), STDERR_FILENO);
		status = command_run(&command, argc, argv);
		free(text);
		_exit(status);
	}
	CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	slurp(files[0], out, sizeof(out));
	slurp(files[1], err, sizeof(err));
	memset(&script, 0, sizeof(script));
	return WEXITSTATUS(status);
}

static inline unsigned count_of(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, part)) != NULL; p += strlen(part))
		n++;
	return n;
}

/* Line `n` from 1; "" past the end. */
static const char *line(const char *text, unsigned n)
{
	static char buf[4096];
	size_t length;

	while (--n && (text = strchr(text, '\n')) != NULL)
		text++;
	length = text ? strcspn(text, "\n") : 0;
	snprintf(buf, sizeof(buf), "%.*s", (int)length, text ? text : "");
	return buf;
}

#define CHECK_PART(text, part)                                                                     \
	do {                                                                                       \
		CU_ASSERT(strstr((text), (part)) != NULL);                                         \
		if (!strstr((text), (part)))                                                       \
			printf("# line %d: '%s' is not in: %.300s\n", __LINE__, (part), (text));   \
	} while (0)

/* The number behind `"key":` in a line of JSON. */
static inline double number_in(const char *json, const char *key)
{
	char quoted[80];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(json, quoted);
	return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static const char snb[] = "sandybridge-ep";

#endif
