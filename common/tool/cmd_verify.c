/* SPDX-License-Identifier: BSD-3-Clause */
/* The command verify: what is counted while `uncore traffic`, or a program of the user's, moves a known
 * number of bytes. What must be counted, and what readings say of it, is in verdict.c. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "verdict.h"

enum { BEFORE, DURING, AFTER, LOOKS, MOST_UNITS = 512, MOST_NODES = 8, MOST_CLOCKS = 64 };
static const double seconds = 0.25; /* of a flow, and before and behind it */

/* What is moved: by CPUs of a socket, in the memory of a socket. */
struct flow {
	enum traffic_kind kind;
	int from, home;
	int node; /* NUMA node of that memory; -1: all of the socket's */
};

struct finding {
	const char *class; /* "clocks" */
	char *check, *expected, *measured, *reason;
	int is; /* as of a verdict */
};

struct verify {
	const struct args *args;
	struct unc_platform *platform;
	int sockets;
	char *why;        /* the sentence of the last thing that could not be had */
	struct flow flow; /* of the program that runs */
	bool broken;      /* the program that moves bytes cannot be had, or does not answer */
	pid_t mover;      /* 0: none */
	int to, from;     /* its stdin and stdout */
	double others[2]; /* what others moved before and after memory was last read, as a share */
	struct finding *finding;
	size_t n;
};

/* What is counted in one session: units or sockets, before, during and after a flow. */
struct counted {
	struct place {
		int socket, index;
		double value[LOOKS], seconds[LOOKS];
		char *why;
	} * place;
	size_t n;
	double bytes;
};

/* ---- signals are blocked and polled for, so that registers are restored on the way out */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_ENDS = sizeof(ends) / sizeof(ends[0]) };

static void block_ends(void)
{
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_ENDS; i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]); /* unless ignored, as under nohup */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The pending signal that ends the command; 0: none. */
static int end_signal(void)
{
	sigset_t waiting;

	for (size_t i = 0; sigpending(&waiting) == 0 && i < N_ENDS; i++)
		if (sigismember(&waiting, ends[i]))
			return ends[i];
	return 0;
}

/* ---- findings */

/* Sets v->why; returns false. */
static bool deny(struct verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool deny(struct verify *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	free(v->why);
	v->why = text;
	return false;
}

static char *amount(double value, const char *unit)
{
	char buf[CELL_MAX];

	if (unit[0] == '%')
		return must_print("%.4g %%", 100 * value);
	return must_print("%s", strcmp(unit, "bytes") == 0 ? scaled(buf, value, "B")
							   : with_unit(buf, value, unit));
}

/* Adds a finding. It owns `check`; frees `doubt`, the rows of tables that would be wrong. */
static void add_row(struct verify *v, const char *class, char *check, const struct row *row,
		    const struct reading *reading, char *doubt)
{
	struct verdict verdict = verify_judge(row, reading);
	struct finding f = {.class = class, .check = check, .is = verdict.is};

	if (verdict.is == NOT_JUDGED) {
		f.reason = must_print("%s", verdict.why);
	} else {
		char *least = amount(fmax(verdict.least, 0), row->unit),
		     *most = amount(verdict.most, row->unit);

		f.expected = must_print("%s to %s", least, most);
		f.measured = amount(verdict.value, row->unit);
		if (verdict.is == WRONG)
			f.reason = must_print("%s; in doubt: %s", row->means, doubt);
		free(least);
		free(most);
	}
	free(doubt);
	v->finding = must_grow(v->finding, v->n, sizeof(*v->finding));
	v->finding[v->n++] = f;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%zu checks: %.60s", v->n, check);
}

/* Adds a finding that is not judged, with v->why: nothing could be counted or moved. */
static void add_none(struct verify *v, const char *class, char *check)
{
	add_row(v, class, check, &verify_clock, &(struct reading){.why = v->why}, NULL);
}

/* ---- the program that moves bytes: one process a flow, which reports when its buffer is ready */

static void end_mover(struct verify *v)
{
	if (!v->mover)
		return;
	close(v->to);
	close(v->from);
	kill(-v->mover, SIGTERM);
	for (int i = 0; i < 100 && waitpid(v->mover, NULL, WNOHANG) == 0; i++)
		pause_for(0.01);
	kill(-v->mover, SIGKILL); /* with what it has started */
	while (waitpid(v->mover, NULL, WNOHANG) > 0)
		continue;
	v->mover = 0;
}

/* "0,1": the NUMA nodes of a socket, or `only`. */
static char *node_list(const struct verify *v, int socket, int only)
{
	const struct unc_node *node;
	char *list = NULL;

	for (size_t i = 0; (node = unc_node_get(v->platform, i)); i++)
		if (node->socket == socket && (only < 0 || only == node->number))
			list = must_add(list, "%s%d", list ? "," : "", node->number);
	return list;
}

static void run_mover(const struct verify *v, const struct flow *flow, int in, int out)
{
	char *from = node_list(v, flow->from, -1), *home = node_list(v, flow->home, flow->node);
	char *own[] = {"uncore", "traffic"}, *theirs[] = {"sh", "-c", NULL, "traffic"};
	char *argv[16];
	size_t n = 0;
	sigset_t none;

	theirs[2] = must_print("%s \"$@\"", v->args->traffic);
	for (size_t i = 0; i < (v->args->traffic ? 4 : 2); i++)
		argv[n++] = v->args->traffic ? theirs[i] : own[i];
	argv[n++] = "--wait";
	if (flow->kind == DEVICE) {
		argv[n++] = must_print("--device=%s", v->args->device);
	} else if (from && home) {
		argv[n++] = must_print("--from=%s", from);
		argv[n++] = must_print("--memory=%s", home);
	}
	if (flow->kind == WRITES)
		argv[n++] = "--writes";
	argv[n] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execv(v->args->traffic ? "/bin/sh" : "/proc/self/exe", argv);
	printf("not cannot run it: %s\n", strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* Reads a line: "ready", "moved BYTES SECONDS", "not WHY". False, with v->why: no line within `patience` seconds or
 * before a signal to end, or the program reports a failure. */
static bool read_line(struct verify *v, double patience, char line[256])
{
	struct pollfd from = {.fd = v->from, .events = POLLIN};
	double end = now() + patience;
	size_t n = 0;
	char c;

	while (n < 255) {
		if (end_signal())
			return deny(v, "a signal ended it");
		if (now() > end) {
			v->broken = true;
			return deny(v, "the program that moves bytes does not answer");
		}
		if (poll(&from, 1, 50) <= 0)
			continue;
		if (read(from.fd, &c, 1) != 1) {
			v->broken = true;
			return deny(v, "the program that moves bytes has ended");
		}
		if (c == '\n')
			break;
		line[n++] = c;
	}
	line[n] = '\0';
	return strncmp(line, "not ", 4) != 0 || deny(v, "%s", line + 4);
}

static bool deny_answer(struct verify *v, const char *line)
{
	v->broken = true;
	return deny(v, "the program that moves bytes says '%.80s'", line);
}

/* Starts the program for a flow. True: its buffer is ready. */
static bool start_mover(struct verify *v, const struct flow *flow)
{
	const char *root = getenv("UNCORE_SYSROOT");
	int in[2], out[2];
	char line[256];

	if (flow->kind == IDLE || (v->mover && memcmp(flow, &v->flow, sizeof(*flow)) == 0))
		return true;
	end_mover(v);
	if (v->broken)
		return false;
	if (!v->args->traffic && root && *root && strcmp(root, "/") != 0)
		return deny(v, "UNCORE_SYSROOT is another machine than the one that could move "
			       "bytes");
	if (unc_platform_cpu(v->platform)->family == 0x20)
		return deny(v, "there is no traffic for an Itanium");
	if (flow->kind == DEVICE && !v->args->device)
		return deny(v, "--device names no disk to be read");
	if (flow->kind != DEVICE && v->sockets > 1 && !unc_node_get(v->platform, 0))
		return deny(v, "the kernel does not tell which memory is the socket's");
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return deny(v, "%s", strerror(errno));
	fflush(stdout);
	if ((v->mover = fork()) == 0)
		run_mover(v, flow, in[0], out[1]);
	if (v->mover < 0) {
		v->mover = 0;
		return deny(v, "%s", strerror(errno));
	}
	setpgid(v->mover, v->mover);
	close(in[0]);
	close(out[1]);
	v->to = in[1];
	v->from = out[0];
	v->flow = *flow;
	if (read_line(v, 600, line) && (strcmp(line, "ready") == 0 || deny_answer(v, line)))
		return true;
	end_mover(v);
	return false;
}

/* Moves bytes for a duration; an IDLE flow lets the time pass. */
static bool move(struct verify *v, const struct flow *flow, double duration, double *bytes)
{
	double took = 0;
	char line[256];

	*bytes = 0;
	if (flow->kind == IDLE) {
		pause_for(duration);
		return true;
	}
	dprintf(v->to, "%.3f\n", duration);
	if (!read_line(v, duration + 60, line))
		return false;
	return (sscanf(line, "moved %lf %lf", bytes, &took) == 2 && *bytes > 0 &&
		isfinite(*bytes) && took > 0 && isfinite(took)) ||
	       deny_answer(v, line);
}

/* ---- counting */

static void put_place(struct unc_session *s, int id, struct unc_value *const look[LOOKS],
		      struct place *place)
{
	struct unc_item item = {.size = sizeof(item)};
	const struct unc_value *x = &look[DURING][id];

	unc_session_item(s, id, &item);
	bool rate = item.metric && strcmp(item.metric->unit, "bytes_per_second") == 0;

	*place = (struct place){.socket = item.at.socket, .index = item.at.index};
	for (int k = BEFORE; k < LOOKS; k++) {
		double share = look[k][id].interval_share;

		place->seconds[k] = share > 0 ? look[k][id].interval_seconds / share : NAN;
		place->value[k] = look[k][id].interval * (rate ? place->seconds[k] : 1);
	}
	if (!(x->flags & UNC_VALUE_VALID))
		place->why = must_print("%s", unc_session_reason(s, id));
	else if (x->flags & UNC_VALUE_PARTIAL)
		place->why = must_print("without %s", unc_session_partial(s, id));
}

static bool run_session(struct verify *v, struct unc_session *s, const struct flow *flow,
			struct counted *out)
{
	static const struct flow idle = {IDLE, 0, 0, -1};
	struct unc_value *look[LOOKS];
	double bytes, while_ = seconds * unc_session_passes(s);
	int rc = unc_session_turns(s, 10);
	bool moved = true;

	rc = rc < 0 ? rc : unc_session_start(s);
	for (int k = BEFORE; k < LOOKS; k++)
		look[k] = must_alloc(NULL, out->n, sizeof(*look[k]));
	for (int k = BEFORE; k < LOOKS && rc == 0 && moved; k++) {
		if (k == DURING || flow->kind != IDLE)
			moved = move(v, k == DURING ? flow : &idle, while_, &bytes);
		out->bytes += k == DURING ? bytes : 0;
		if (moved)
			rc = unc_session_read(s, look[k], out->n, sizeof(*look[k]));
	}
	if (rc < 0)
		deny(v, "%s", unc_session_error(s));
	out->place = must_alloc(NULL, out->n, sizeof(*out->place));
	for (size_t i = 0; i < out->n && rc == 0 && moved; i++)
		put_place(s, (int)i, look, &out->place[i]);
	for (int k = BEFORE; k < LOOKS; k++)
		free(look[k]);
	return rc == 0 && moved;
}

static void drop_counts(struct counted *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->place[i].why);
	free(c->place);
	*c = (struct counted){.n = 0};
}

/* Counts one text at all its places. False, with v->why: not possible. Ends with drop_counts(). */
static bool count_at(struct verify *v, const struct flow *flow, const char *text, unsigned per,
		     struct counted *out)
{
	struct unc_session *s = NULL;
	int first;
	bool done = false;

	*out = (struct counted){.n = 0};
	if (end_signal())
		return deny(v, "a signal ended it");
	if (!start_mover(v, flow))
		return false;
	if (unc_session_new(v->platform, UNC_SESSION_ROTATE, &s) < 0)
		deny(v, "%s", unc_platform_error(v->platform));
	else if (unc_session_add_each(s, text, per, &first, &out->n) < 0)
		deny(v, "%s", unc_session_error(s));
	else
		done = run_session(v, s, flow, out);
	unc_session_free(s);
	if (!done)
		drop_counts(out);
	return done;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The counts of a socket, to be judged; value: room for its units. */
static struct reading read_socket(const struct counted *c, int socket, double value[MOST_UNITS])
{
	struct reading r = {.value = value, .bytes = c->bytes};

	for (size_t i = 0; i < c->n && r.n < MOST_UNITS; i++) {
		const struct place *p = &c->place[i];

		if (p->socket != socket)
			continue;
		r.why = p->why ? p->why : r.why;
		r.seconds = p->seconds[DURING];
		for (int k = 0; k < 2; k++)
			r.others[k] = p->value[2 * k] / p->seconds[2 * k] * r.seconds / c->bytes;
		value[r.n++] = p->value[DURING];
	}
	qsort(value, r.n, sizeof(*value), by_value);
	return r;
}

/* ---- metrics, and the units of what they are made of */

static const char *need_of(const struct verify *v, const char *metric, size_t i)
{
	struct unc_item item = {.size = sizeof(item)};

	return unc_item_find(v->platform, metric, &item) == 0 && item.metric
		       ? unc_metric_need(v->platform, item.index, i)
		       : NULL;
}

/* "imc.CAS_COUNT:RD (events) and memory_read_bytes (metrics.tbl)" */
static char *doubt_of(const struct verify *v, const char *metric)
{
	char *list = NULL;
	const char *event;

	for (size_t i = 0; (event = need_of(v, metric, i)); i++)
		list = must_list(list, event);
	return must_add(list, "%s%s (metrics.tbl)", list ? " (events) and " : "", metric);
}

static char *name_of(const struct row *row, const char *text, const struct flow *flow, int socket)
{
	if (row->of == UNITS)
		return must_print("units of %s on socket %d, the one that is farthest off", text,
				  socket);
	if (row->kind == DEVICE)
		return must_print("%s of socket %d while a device writes", text, socket);
	return must_print("%s of socket %d while socket %d %s memory of %d", text, socket,
			  flow->from, row->kind == READS ? "reads" : "writes", flow->home);
}

static bool is_at(const struct row *row, const struct flow *flow, int socket)
{
	return row->at == FROM   ? socket == flow->from
	       : row->at == HOME ? socket == flow->home
				 : socket != flow->from && socket != flow->home;
}

/* Judges a row by its counts; NULL: nothing could be counted. */
static void judge_at(struct verify *v, const struct row *row, const char *text,
		     const struct flow *flow, const struct counted *c)
{
	double value[MOST_UNITS];

	for (int s = 0; s < v->sockets; s++) {
		struct reading r = {.why = v->why};

		if (!is_at(row, flow, s))
			continue;
		if (c)
			r = read_socket(c, s, value);
		if (c && row->of == LINES)
			for (int k = 0; k < 2; k++)
				r.others[k] *= 64;
		if (c && strcmp(text, "memory_read_bytes") == 0 && s == flow->home)
			memcpy(v->others, r.others, sizeof(v->others));
		if (row->of == RATIO || row->of == VALUE)
			memcpy(r.others, v->others, sizeof(r.others));
		add_row(v, row->of == UNITS ? "units" : "metrics", name_of(row, text, flow, s), row,
			&r,
			row->of == UNITS ? must_print("%s (events), its units (units.tbl)", text)
					 : doubt_of(v, row->name));
	}
}

static bool in_flow(const struct row *row, const struct flow *flow)
{
	return row->kind == flow->kind && row->remote == (flow->from != flow->home);
}

/* Whether an earlier row has the same metric, and so has counted for this one, too. */
static bool is_counted(const struct row *row, const struct flow *flow)
{
	const struct row *k = verify_rows;

	while (k < row && !(in_flow(k, flow) && k->of != UNITS && strcmp(k->name, row->name) == 0))
		k++;
	return k < row;
}

/* Runs a flow, and counts each metric once for all of its rows. */
static void run_flow(struct verify *v, const struct flow *flow)
{
	const struct row *end = verify_rows + verify_n_rows;
	struct counted c;
	const char *event;

	for (const struct row *row = verify_rows; row < end && !end_signal(); row++) {
		if (!in_flow(row, flow))
			continue;
		for (size_t i = 0; row->of == UNITS && (event = need_of(v, row->name, i)); i++) {
			judge_at(v, row, event, flow,
				 count_at(v, flow, event, UNC_EACH_UNIT, &c) ? &c : NULL);
			drop_counts(&c);
		}
		if (row->of == UNITS || is_counted(row, flow))
			continue;
		bool done = count_at(v, flow, row->name, UNC_EACH_SOCKET, &c);

		for (const struct row *k = row; k < end; k++)
			if (in_flow(k, flow) && k->of != UNITS && strcmp(k->name, row->name) == 0)
				judge_at(v, k, row->name, flow, done ? &c : NULL);
		drop_counts(&c);
	}
}

static void check_metrics(struct verify *v)
{
	static const char *const unmoved[] = {"pcie_read_bytes", "pcie_outbound_read_bytes",
					      "pcie_outbound_write_bytes", "cxl_read_bytes",
					      "cxl_write_bytes"};

	for (enum traffic_kind kind = READS; kind <= DEVICE; kind++)
		for (int s = 0; s < v->sockets; s++) {
			int next = (s + 1) % v->sockets;

			run_flow(v, &(struct flow){kind, s, s, -1});
			if (next != s && kind != DEVICE)
				run_flow(v, &(struct flow){kind, s, next, -1});
		}
	deny(v, "nothing here moves a known number of bytes from memory to a device, between cores "
		"and devices, or to CXL memory");
	for (size_t i = 0; i < sizeof(unmoved) / sizeof(unmoved[0]); i++)
		add_none(v, "metrics", must_print("%s", unmoved[i]));
	if (v->sockets > 1)
		return;
	deny(v, "there is one socket");
	add_none(v, "metrics", must_print("remote memory and links"));
}

/* ---- clocks */

/* Reads on socket 0, or idle if they are not possible: a package that sleeps stops its clocks. */
static struct flow some_flow(struct verify *v)
{
	struct flow flow = {READS, 0, 0, -1};

	if (!start_mover(v, &flow))
		flow.kind = IDLE;
	return flow;
}

/* The next clock event of a unit of this machine, from *index on; NULL: none. */
static const struct unc_event *next_clock(struct verify *v, size_t *index)
{
	const struct unc_event *e;
	const struct unc_type *t;

	for (; (e = unc_event_get(v->platform, *index)); ++*index) {
		if (e->aggregate != UNC_AGGREGATE_MAX || e->needs_umask ||
		    !(strcasestr(e->name, "CLOCKTICKS") || strstr(e->name, "CLK")))
			continue;
		for (size_t i = 0; (t = unc_type_get(v->platform, i)); i++)
			if (strcmp(t->name, e->type) == 0 && t->units > 0)
				return e;
	}
	return NULL;
}

/* A fixed or free-running counter beside a programmed one: one clock, or its half. */
static void judge_pair(struct verify *v, const struct unc_event *a, const struct counted *ca,
		       const struct unc_event *b, const struct counted *cb, int socket)
{
	double va[MOST_UNITS], vb[MOST_UNITS], two[2];
	struct reading ra = read_socket(ca, socket, va), rb = read_socket(cb, socket, vb);

	if (ra.n && rb.n) {
		two[0] = va[ra.n / 2] / ra.seconds;
		two[1] = vb[rb.n / 2] / rb.seconds;
		two[1] *= two[0] / two[1] > 1.4 ? 2 : two[0] / two[1] < 0.7 ? 0.5 : 1;
	}
	add_row(v, "clocks", must_print("%s against %s on socket %d", a->spec, b->spec, socket),
		&verify_pair,
		&(struct reading){
			.value = two, .n = ra.n && rb.n ? 2 : 0, .why = ra.why ? ra.why : rb.why},
		must_print("%s, %s (events)", a->spec, b->spec));
}

static void check_clocks(struct verify *v)
{
	const struct unc_event *event[MOST_CLOCKS], *e;
	struct counted c[MOST_CLOCKS];
	struct flow awake = some_flow(v);
	double value[MOST_UNITS];
	size_t n = 0;

	for (size_t i = 0; n < MOST_CLOCKS && (e = next_clock(v, &i)); i++) {
		bool done = count_at(v, &awake, e->spec, UNC_EACH_UNIT, &c[n]);

		for (int s = 0; s < v->sockets; s++) {
			struct reading r = {.why = v->why};

			if (done)
				r = read_socket(&c[n], s, value);
			add_row(v, "clocks",
				must_print("%s on socket %d, by wall time", e->spec, s),
				&verify_clock, &r, must_print("the code of %s (events)", e->spec));
			add_row(v, "units", name_of(&verify_units, e->spec, &awake, s),
				&verify_units, &r,
				must_print("the units of %s (units.tbl)", e->type));
		}
		if (done)
			event[n++] = e;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && event[i]->free_running; k++)
			for (int s = 0; s < v->sockets && !event[k]->free_running; s++)
				if (strcmp(event[i]->type, event[k]->type) == 0)
					judge_pair(v, event[i], &c[i], event[k], &c[k], s);
	while (n > 0)
		drop_counts(&c[--n]);
}

/* ---- nodes of a socket: the units that count traffic bound to each node */

/* The node whose traffic made up four fifths or more of a unit's counts; -1: none. */
static int node_at(const struct counted *c, int nodes, size_t place)
{
	double sum = 0;
	int most = 0;

	for (int node = 0; node < nodes; node++) {
		sum += c[node].place[place].value[DURING];
		if (c[node].place[place].value[DURING] > c[most].place[place].value[DURING])
			most = node;
	}
	return sum > 0 && c[most].place[place].value[DURING] > 0.8 * sum ? most : -1;
}

/* Right if each node's traffic has the same number of units of its own; prints them as a section of the site's file. */
static void judge_nodes(struct verify *v, const char *event, const struct counted *c, int nodes,
			int socket)
{
	char *line = must_print("for site.conf: [nodes %.*s], socket = %d, clusters = ",
				(int)strcspn(event, "."), event, socket);
	double count[MOST_NODES] = {0}, units = 0;
	bool even = true;

	for (size_t i = 0; i < c->n; i++) {
		int node = c->place[i].socket == socket ? node_at(c, nodes, i) : -1;

		if (c->place[i].socket != socket)
			continue;
		line = node < 0 ? must_add(line, "%s-", units > 0 ? "," : "")
				: must_add(line, "%s%d", units > 0 ? "," : "", node);
		units++;
		count[node < 0 ? 0 : node] += node >= 0;
	}
	for (int node = 0; node < nodes; node++)
		even = even && count[node] == count[0] && count[0] > 0;
	add_row(v, "nodes",
		must_print("units of %s on socket %d, by the node whose traffic they see", event,
			   socket),
		&verify_pair, &(struct reading){.value = (double[]){even, 1}, .n = 2},
		must_print("which units belong to which node"));
	if (even)
		v->finding[v->n - 1].reason = line;
	else
		free(line);
}

static void check_nodes(struct verify *v)
{
	const struct unc_node *node;
	const char *event;

	for (int s = 0; s < v->sockets; s++)
		for (size_t i = 0; (event = need_of(v, "memory_read_bytes", i)) && !end_signal();
		     i++) {
			struct counted c[MOST_NODES];
			int nodes = 0;
			bool done = true;

			for (size_t k = 0; done && (node = unc_node_get(v->platform, k)); k++)
				if (node->socket == s && node->cluster >= 0 && nodes < MOST_NODES)
					done = count_at(v,
							&(struct flow){READS, s, s, node->number},
							event, UNC_EACH_UNIT, &c[nodes++]);
			if (done && nodes > 1)
				judge_nodes(v, event, c, nodes, s);
			else if (!done)
				add_none(v, "nodes",
					 must_print("units of %s on socket %d, by node", event, s));
			while (nodes > 0)
				drop_counts(&c[--nodes]);
		}
}

/* ---- the report */

static const char *const verdicts[] = {
	[RIGHT] = "right", [WRONG] = "wrong", [NOT_JUDGED] = "not judged"};
static const struct column columns[] = {
	{CELL("verdict", "VERDICT")},   {CELL("expected", "EXPECTED")},
	{CELL("measured", "MEASURED")}, {FOLD("check", "CHECK")},
	{BELOW("reason", "-> ")},       {0}};

/* Prints the findings; brief: without those that are right and have no remark. */
static void put_findings(const struct verify *v, struct record *r, const char *key, bool brief)
{
	record_list(r, key, columns);
	for (const struct finding *f = v->finding; f < v->finding + v->n; f++) {
		if (brief && f->is == RIGHT && !f->reason)
			continue;
		record_row(r);
		record_text(r, "check", f->check);
		record_known(r, "expected", f->expected ? f->expected : "");
		record_known(r, "measured", f->measured ? f->measured : "");
		record_text(r, "verdict", verdicts[f->is]);
		record_known(r, "reason", f->reason ? f->reason : "");
	}
	record_end(r);
}

/* "62 of 62 clocks": those that are right, by their class. */
static void put_classes(const struct verify *v, struct record *r)
{
	static const char *const class[] = {"clocks", "units", "metrics", "nodes"};
	const char *before = "\n";

	for (size_t i = 0; i < sizeof(class) / sizeof(class[0]); i++) {
		size_t all = 0, right = 0;

		for (const struct finding *f = v->finding; f < v->finding + v->n; f++) {
			all += strcmp(f->class, class[i]) == 0;
			right += strcmp(f->class, class[i]) == 0 && f->is == RIGHT;
		}
		if (!all)
			continue;
		record_line(r, "%s%zu of %zu %s are right", before, right, all, class[i]);
		before = "";
	}
}

/* "msr, mmio": the methods that serve units. */
static char *method_list(const struct verify *v)
{
	const struct unc_unit *u;
	char *list = NULL;

	for (size_t i = 0; (u = unc_unit_get(v->platform, i)); i++)
		if (u->available && !(list && strstr(list, u->access)))
			list = must_list(list, u->access);
	return list ? list : must_print("none");
}

/* Writes all that a reader of the report needs to judge it, without anything that identifies the machine. */
static int write_file(const struct verify *v, const struct args *args, int fd)
{
	struct args json = {.json = true};
	struct utsname kernel;
	struct record r;
	char *methods = method_list(v);

	uname(&kernel);
	record_start(&r, &json, v->platform);
	r.out = fdopen(dup(fd), "w");
	if (!r.out || ftruncate(fd, 0) < 0)
		return failure("cannot write '%s': %s", args->output, strerror(errno));
	record_open(&r, NULL, '{');
	record_text(&r, "cpu", unc_platform_cpu(v->platform)->name);
	record_bool(&r, "simulated", unc_platform_simulated(v->platform));
	record_integer(&r, "sockets", v->sockets);
	record_text(&r, "kernel", kernel.release);
	record_text(&r, "architecture", kernel.machine);
	record_text(&r, "version", unc_version());
	record_text(&r, "access", methods);
	put_findings(v, &r, "checks", false);
	record_close(&r);
	free(methods);
	return fclose(r.out) == 0 ? EXIT_SUCCESS
				  : failure("cannot write '%s': %s", args->output, strerror(errno));
}

static int report_checks(const struct verify *v, const struct args *args, int fd)
{
	bool wrong = false;
	struct record r;

	for (size_t i = 0; i < v->n; i++)
		wrong |= v->finding[i].is == WRONG;
	record_start(&r, args, v->platform);
	put_findings(v, &r, NULL, !args->json && !args->verbose);
	put_classes(v, &r);
	int rc = fd >= 0 ? write_file(v, args, fd) : EXIT_SUCCESS;

	if (fd >= 0 && rc == EXIT_SUCCESS)
		record_line(&r, "\n%s: reports go to %s.", args->output, UNC_REPORT_TO);
	return wrong || v->broken ? EXIT_FAILURE : rc;
}

static void close_all(struct verify *v)
{
	end_mover(v);
	for (size_t i = 0; i < v->n; i++) {
		free(v->finding[i].check);
		free(v->finding[i].expected);
		free(v->finding[i].measured);
		free(v->finding[i].reason);
	}
	free(v->finding);
	free(v->why);
	unc_platform_close(v->platform);
}

int cmd_verify(struct unc_platform *none, const struct args *args)
{
	struct verify v = {.args = args, .platform = none};
	int rc, fd = -1;

	if (args->output && strcmp(args->output, "-") == 0)
		return bad_input("verify: option '-o' needs a file, not '-'; -j is on stdout");
	if (args->traffic && !args->traffic[strspn(args->traffic, " \t")])
		return bad_input("verify: option '--traffic' needs a command, not ''");
	if (args->output && (fd = open(args->output, O_WRONLY | O_CREAT, 0666)) < 0)
		return failure("cannot write '%s': %s", args->output, strerror(errno));
	block_ends();
	rc = open_platform(args, OPEN_MACHINE, &v.platform);
	if (rc == ARGS_OK) {
		v.sockets = unc_platform_sockets(v.platform);
		if (*unc_platform_replayed(v.platform))
			rc = failure("verify: the machine is a dump, and a dump does not count");
	}
	if (rc == ARGS_OK) {
		if (unc_platform_simulated(v.platform)) {
			deny(&v, "a simulated machine counts by the tables that are to be checked");
			add_none(&v, "metrics", must_print("all"));
		} else {
			check_clocks(&v);
			check_metrics(&v);
			check_nodes(&v);
		}
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
		rc = end_signal() ? BY_SIGNAL + end_signal() : report_checks(&v, args, fd);
	}
	close_all(&v);
	if (fd >= 0)
		close(fd);
	return rc;
}
