/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: what it is started with, its socket, and one loop. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "broker/broker.h"
#include "host/perf_users.h"

#ifndef SO_PASSRIGHTS /* Linux 6.16 */
#define SO_PASSRIGHTS 83
#endif

void broker_log(int priority, const char *format, ...)
{
	char text[UNC_ERROR_MAX + 64];

	UNC_FORMAT(text, format);
	fprintf(stderr, "<%d>%s\n", priority, text);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the socket */

/* The socket passed by the service manager (sd_listen_fds(3)); -1: none. */
static int passed_socket(struct unc_error *err)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	int kind = 0, listens = 0;
	socklen_t size = sizeof(kind);

	if (!pid || !n || strtol(pid, NULL, 10) != getpid())
		return -1;
	if (strcmp(n, "1") != 0 || getsockopt(3, SOL_SOCKET, SO_TYPE, &kind, &size) < 0 ||
	    getsockopt(3, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 ||
	    kind != SOCK_SEQPACKET || !listens)
		return unc_fail(err, UNC_ERR_INVALID,
				"what was passed (LISTEN_FDS) is not one listening socket of type "
				"SOCK_SEQPACKET (ListenSequentialPacket=)");
	fcntl(3, F_SETFD, FD_CLOEXEC);
	fcntl(3, F_SETFL, O_NONBLOCK);
	return 3;
}

/* Creates the socket. Only the owner of its folder can replace it. */
static int own_socket(const char *path, struct unc_error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct group *group = getgrnam("uncore");
	char folder[sizeof(at.sun_path)];
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return unc_fail(err, UNC_ERR_INVALID, "%s: a path has %zu bytes at most", path,
				sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	strcpy(folder, path);
	if (strrchr(folder, '/'))
		*strrchr(folder, '/') = '\0';
	if (*folder && mkdir(folder, 0755) < 0 && errno != EEXIST)
		return unc_fail(err, UNC_ERR_IO, "%s: %s", folder, strerror(errno));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return unc_fail(err, UNC_ERR_IO, "socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 || errno == EAGAIN) {
		close(fd);
		return unc_fail(err, UNC_ERR_BUSY, "%s: a broker serves there already", path);
	}
	if (errno == ECONNREFUSED)
		unlink(path);
	mode_t mask = umask(0177);
	bool bound = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
	int error = errno;

	umask(mask);
	if (!bound || (group && chown(path, (uid_t)-1, group->gr_gid) < 0) ||
	    chmod(path, 0660) < 0 || listen(fd, 256) < 0) {
		error = bound ? errno : error;
		close(fd);
		return unc_fail(err, UNC_ERR_IO, "%s: %s", path, strerror(error));
	}
	return fd;
}

/* ---- start */

/* Without the right nobody is served; the log and each client get the right that is missing. */
void broker_try_right(struct broker *b)
{
	const struct unc_kernel_event nothing = {.config = PERF_COUNT_SW_DUMMY};
	struct perf_event_attr attr = unc_events_attr(PERF_TYPE_SOFTWARE, &nothing, true, false);
	bool said = b->unable.code == UNC_ERR_PERMISSION;
	int fd;

	if (b->unable.code && !said) /* unable because of its policy */
		return;
	unc_error_clear(&b->unable);
	fd = unc_events_system.open(&b->machine, &attr, b->topology.socket[0].cpu, -1);
	if (fd >= 0) {
		close(fd);
	} else if (errno == EACCES || errno == EPERM) {
		unc_perf_refused(b->machine.fs, errno, &b->unable);
		unc_error_prefix(&b->unable, "the broker of this site may not open events itself "
					     "(its administrator: uncored(8), RIGHTS)");
		b->unable.code = UNC_ERR_PERMISSION;
		if (!said)
			broker_log(3, "%s", b->unable.text);
	}
}

/* cpu: its name; NULL: this one. */
static bool find_table(const struct broker *b, const char *cpu, struct unc_table *out)
{
	const struct unc_topology *top = &b->topology;

	for (size_t i = 0; unc_table_built(i, out); i++)
		if (cpu ? strcmp(cpu, unc_tbl_str(out, out->name)) == 0
			: unc_cpuid_is(out->cpuid, top->vendor, top->family, top->model,
				       top->stepping))
			return true;
	return false;
}

static int init_broker(struct broker *b, const char *policy, struct unc_error *err)
{
	struct rlimit limit;
	struct timespec t;
	int rc;

	for (unsigned i = 0; i < MAX_CONNECTIONS; i++)
		b->connection[i].fd = -1;
	b->policy_path = policy;
	b->machine.events = &unc_events_system;
	clock_gettime(CLOCK_REALTIME, &t);
	b->since = t.tv_sec;
	b->clock = now();
	if ((rc = unc_fs_open(NULL, &b->machine.fs, err)) < 0 ||
	    (rc = unc_topology_read(b->machine.fs, &b->topology, err)) < 0)
		return rc;
	unc_fs_raise_limit();
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur <= 2 * MAX_CONNECTIONS)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%llu descriptors are too few: %d connections and the descriptors "
				"kept for them (LimitNOFILE=, ulimit -Hn)",
				(unsigned long long)limit.rlim_cur, MAX_CONNECTIONS);
	b->most = limit.rlim_cur > 1u << 20 ? 1u << 20 : (unsigned)limit.rlim_cur;
	b->most -= MAX_CONNECTIONS + 64;
	return 0;
}

/* cpu: as find_table() takes it. */
static int read_policy(struct broker *b, const char *cpu, struct unc_error *err)
{
	struct unc_named named = {.table = NULL};
	struct unc_table table;
	bool found = find_table(b, cpu, &table);
	int rc = 0;

	if (!cpu)
		rc = unc_named_read(b->machine.fs, &b->topology, found ? &table : NULL, &named,
				    err);
	if (named.table)
		table = *named.table;
	else if (rc == 0 && !found)
		rc = cpu ? unc_fail(err, UNC_ERR_NOT_FOUND, "there are no tables of a CPU '%s'",
				    cpu)
			 : unc_fail(
				   err, UNC_ERR_UNAVAILABLE,
				   "there are no tables of this CPU: %s, family %d model 0x%x, and "
				   "its kernel has no PMU of an uncore; --cpu NAME checks a policy "
				   "for another one",
				   b->topology.vendor, b->topology.family,
				   (unsigned)b->topology.model);
	if (rc == 0)
		rc = policy_read(b->policy_path, &table, b->topology.n_sockets, &b->policy, err);
	if (rc < 0) { /* the old policy needs the old table */
		unc_named_free(&named);
		return rc;
	}
	unc_named_free(&b->named);
	b->named = named;
	b->table = table;
	return 0;
}

/* A bad policy at the start does not end the broker, so that clients get the reason. */
static void read_first_policy(struct broker *b)
{
	struct unc_error err = {0};

	if (read_policy(b, NULL, &err) == 0)
		return;
	broker_log(3,
		   "%s; nobody is served until you correct this and run systemctl reload uncored",
		   err.text);
	unc_fail(&b->unable, UNC_ERR_BUSY, "the broker of this site serves nobody: %s", err.text);
}

static void reload_policy(struct broker *b)
{
	struct unc_error err = {0};

	if (read_policy(b, NULL, &err) < 0) {
		broker_log(3, "%s; the policy that was read before stays", err.text);
		return;
	}
	unc_error_clear(&b->unable);
	broker_log(6, "allows %s", b->policy.told);
}

/* ---- the loop */

/* Handles SIGHUP (reload). False: the broker is to end. */
static bool handle_signal(struct broker *b, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGHUP)
		reload_policy(b);
	return info.ssi_signo == SIGHUP;
}

static void ignore_alarm(int signal)
{
	(void)signal;
}

/* The last close() of a TCP socket from a client may wait for its SO_LINGER; the alarm ends that wait. */
static void limit_waits(bool on)
{
	const struct timeval ms = {.tv_usec = on ? 1000 : 0};

	setitimer(ITIMER_REAL, &(struct itimerval){ms, ms}, NULL);
}

/* One turn of the loop. False: the broker is to end. */
static bool serve_turn(struct broker *b, int listening, int signals)
{
	static struct pollfd p[2 + MAX_CONNECTIONS];
	const uint64_t ms = 1000000;
	uint64_t first = audit_write(b, false);

	first = first == UINT64_MAX ? first : b->clock + first;
	p[MAX_CONNECTIONS] = (struct pollfd){.fd = listening, .events = POLLIN};
	p[MAX_CONNECTIONS + 1] = (struct pollfd){.fd = signals, .events = POLLIN};
	for (unsigned i = 0; i < MAX_CONNECTIONS; i++) {
		const struct connection *c = &b->connection[i];
		bool heard = c->not_before <= b->clock;

		p[i] = (struct pollfd){.fd = c->ended ? -1 : c->fd, .events = heard ? POLLIN : 0};
		if (c->fd >= 0 && (!heard || c->ended) && c->not_before < first)
			first = c->not_before;
	}
	int n = poll(p, 2 + MAX_CONNECTIONS,
		     first == UINT64_MAX ? -1
		     : first <= b->clock ? 0
					 : (int)((first - b->clock) / ms + 1));

	limit_waits(true);
	b->clock = now();
	b->turn++;
	for (unsigned k = 0, from = b->from; k < MAX_CONNECTIONS; k++) {
		unsigned i = (from + k) % MAX_CONNECTIONS;
		struct connection *c = &b->connection[i];

		if (n > 0 && p[i].revents & POLLIN)
			serve_request(b, i);
		else if ((n > 0 && p[i].revents) ||
			 (c->fd >= 0 && c->ended && c->not_before <= b->clock))
			serve_close(b, i);
	}
	if (n > 0 && p[MAX_CONNECTIONS].revents)
		serve_accept(b, listening);
	limit_waits(false);
	return n <= 0 || !p[MAX_CONNECTIONS + 1].revents || handle_signal(b, signals);
}

static int serve(struct broker *b, int listening)
{
	const struct sigaction interrupts = {.sa_handler = ignore_alarm, .sa_flags = SA_RESTART};
	const int none = 0;
	sigset_t set;
	int signals;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaction(SIGALRM, &interrupts, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* New kernels then refuse to send descriptors to the broker over connections made from now on. */
	setsockopt(listening, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none));
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0) {
		broker_log(3, "signalfd: %s", strerror(errno));
		return 1;
	}
	if (b->unable.code)
		broker_log(6, "serves nobody yet");
	else
		broker_log(6, "serves %s: %s", unc_tbl_str(&b->table, b->table.title),
			   b->policy.told);
	while (serve_turn(b, listening, signals))
		;
	audit_write(b, true);
	return 0;
}

/* ---- */

static const char usage[] =
	"usage: uncored [--policy FILE] [--socket PATH] [--check] [--cpu NAME] [--version] "
	"[--help]\n"
	"Opens the uncore events of the kernel for users whom the site allows; see uncored(8).\n";

static int print_policy(const struct broker *b)
{
	const struct policy *p = &b->policy;

	printf("CPU            %s\nallows         %s\nper user       %u descriptors, %u "
	       "connections, %u requests a second\nper unit       %u sets of events of a user that "
	       "do not count together\n",
	       unc_tbl_str(&b->table, b->table.title), p->told, p->descriptors, p->connections,
	       p->requests, p->sets);
	return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"policy", required_argument, NULL, 'p'},
						{"socket", required_argument, NULL, 's'},
						{"check", no_argument, NULL, 'c'},
						{"version", no_argument, NULL, 'v'},
						{"help", no_argument, NULL, 'h'},
						{"cpu", required_argument, NULL, 'C'},
						{0}};
	const char *policy = "/etc/libuncore/uncored.conf", *path = UNC_WIRE_SOCKET, *cpu = NULL;
	static struct broker broker;
	struct unc_error err = {0};
	bool only_check = false, own = false;
	int listening = -1, option, rc;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == 'p') {
			policy = optarg;
		} else if (option == 's') {
			path = optarg;
		} else if (option == 'c') {
			only_check = true;
		} else if (option == 'C') {
			cpu = optarg;
		} else if (option == 'v') {
			return printf("uncored %s\n", UNC_VERSION) < 0;
		} else if (option == 'h') {
			return fputs(usage, stdout) < 0;
		} else {
			fputs(usage, stderr);
			return 2;
		}
	if (optind < argc) {
		fprintf(stderr, "uncored: '%s' is not expected\n%s", argv[optind], usage);
		return 2;
	}
	if (cpu && !only_check) {
		fprintf(stderr, "uncored: --cpu needs --check\n%s", usage);
		return 2;
	}
	if (init_broker(&broker, policy, &err) == 0 && only_check &&
	    read_policy(&broker, cpu, &err) == 0)
		return print_policy(&broker);
	if (!err.code)
		listening = passed_socket(&err);
	if (!err.code && listening < 0) {
		own = true;
		listening = own_socket(path, &err);
	}
	if (err.code) {
		broker_log(3, "%s", err.text);
		return 1;
	}
	read_first_policy(&broker);
	broker_try_right(&broker);
	rc = serve(&broker, listening);
	if (own)
		unlink(path);
	return rc;
}
