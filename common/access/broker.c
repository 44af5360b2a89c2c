/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/fs.h"
#include "host/wire.h"

enum { MAX_KINDS = 64, PATIENCE = 2 }; /* seconds for an answer */

/* A kind of PMUs: their names differ only in the number. */
struct kind {
	char name[UNC_WIRE_PMU];
	struct unc_error said;
};

struct unc_broker {
	struct unc_machine *machine;
	int fd;        /* -1: not connected */
	unsigned call; /* number of the connection */
	bool silent;   /* it did not answer: no more requests are sent */
	char told[UNC_WIRE_TEXT];
	size_t n;
	struct kind kind[MAX_KINDS];
};

struct unc_broker *unc_broker_new(struct unc_machine *machine)
{
	struct unc_broker *b = calloc(1, sizeof(*b));

	if (b)
		*b = (struct unc_broker){.machine = machine, .fd = -1};
	return b;
}

static void disconnect(struct unc_broker *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

void unc_broker_free(struct unc_broker *b)
{
	if (b)
		disconnect(b);
	free(b);
}

const char *unc_broker_told(const struct unc_broker *b)
{
	return b->told;
}

/* ---- the connection */

/* Whether the machine's root has a user id in the user namespace of this process. */
static bool knows_root(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned long inside, outside = 1, n;
	bool knows = !f;

	while (f && !knows && fscanf(f, "%lu %lu %lu", &inside, &outside, &n) == 3)
		knows = outside == 0;
	if (f)
		fclose(f);
	return knows;
}

/* In a user's container, root appears as the user id nobody. */
static bool is_root(uid_t uid)
{
	return uid == 0 || (uid == UNC_WIRE_NOBODY && !knows_root());
}

/* Another user's socket could pass any file: only root may own and write the socket and its folder. */
static int check_socket_owner(const struct sockaddr_un *at, struct unc_error *err)
{
	char folder[sizeof(at->sun_path)];
	struct stat st;

	strcpy(folder, at->sun_path);
	*strrchr(folder, '/') = '\0';
	if (lstat(at->sun_path, &st) < 0)
		return unc_fail(err,
				errno == ENOENT || errno == ENOTDIR ? UNC_ERR_NOT_FOUND
								    : UNC_ERR_PERMISSION,
				"the broker's socket %s: %s", at->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode) || !is_root(st.st_uid) || lstat(folder, &st) < 0 ||
	    !is_root(st.st_uid) || st.st_mode & (S_IWGRP | S_IWOTH))
		return unc_fail(err, UNC_ERR_DENIED,
				"%s is not trusted: root must own it and its folder, and only root "
				"may write the folder",
				at->sun_path);
	return 0;
}

static int check_server(int fd, const char *path, struct unc_error *err)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && is_root(who.uid))
		return 0;
	return unc_fail(err, UNC_ERR_DENIED, "%s is served by user %u, not by root", path,
			(unsigned)who.uid);
}

/* Reports a missing answer. error 0: the broker closed the connection. A silent broker is waited for only
 * once; its connection stays open, and with it the events opened over it. */
static int fail_no_answer(struct unc_broker *b, int error, struct unc_error *err)
{
	b->silent |= error == EAGAIN;
	return unc_fail(err, UNC_ERR_IO, "the broker %s",
			b->silent ? "does not answer"
			: error   ? strerror(error)
				  : "has ended the connection");
}

static int connect_once(struct unc_broker *b, struct unc_error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = PATIENCE};
	int rc;

	if (b->silent)
		return fail_no_answer(b, EAGAIN, err);
	if (b->fd >= 0)
		return 0;
	if ((rc = unc_fs_path(b->machine->fs, at.sun_path, sizeof(at.sun_path), "%s",
			      UNC_WIRE_SOCKET + 1)) < 0)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "no broker serves under this root");
	if ((rc = check_socket_owner(&at, err)) < 0)
		return rc;
	b->fd = unc_above_stdio(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	if (b->fd < 0)
		return unc_fail(err, UNC_ERR_IO, "socket: %s", strerror(errno));
	setsockopt(b->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(b->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(b->fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		int error = errno;

		rc = error == EAGAIN ? fail_no_answer(b, error, err)
		     : error == ECONNREFUSED
			     ? unc_fail(err, UNC_ERR_IO,
					"no process listens on the broker's socket %s: its "
					"administrator starts it again (systemctl restart "
					"uncored.socket)",
					at.sun_path)
			     : unc_fail(err, error == EACCES ? UNC_ERR_PERMISSION : UNC_ERR_IO,
					"the broker's socket %s: %s%s", at.sun_path,
					strerror(error),
					error == EACCES ? ": you are not in its group" : "");
	} else {
		rc = check_server(b->fd, at.sun_path, err);
	}
	b->call++;
	if (rc < 0)
		disconnect(b);
	return rc;
}

/* ---- a request and its answer */

/* Keeps passed descriptors up to `most` and closes the rest. Returns how many came. */
static size_t keep_descriptors(struct msghdr *m, int *fd, size_t most)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t came = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
				      ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
				      : 0;

		for (size_t i = 0; i < came; i++, n++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (n < most)
				fd[n] = one;
			else
				close(one);
		}
	}
	return n;
}

/* *n: descriptors expected, then received. errno EMFILE: this process had no room for all of them. */
static int receive_answer(struct unc_broker *b, struct unc_wire_answer *answer, int *fd, size_t *n,
			  struct unc_error *err)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(UNC_WIRE_FDS * sizeof(int))];
	} control;
	struct iovec data = {answer, sizeof(*answer)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	size_t most = *n;
	ssize_t got;

	do
		got = recvmsg(b->fd, &m, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	*n = got > 0 ? keep_descriptors(&m, fd, most) : 0;
	errno = got < 0 ? errno : m.msg_flags & MSG_CTRUNC ? EMFILE : 0;
	if (got <= 0)
		return fail_no_answer(b, errno, err);
	if ((size_t)got < offsetof(struct unc_wire_answer, since) ||
	    answer->head.magic != UNC_WIRE_MAGIC || !memchr(answer->text, '\0', UNC_WIRE_TEXT))
		return unc_fail(err, UNC_ERR_IO, "the answer is not that of a broker");
	if (answer->head.version != UNC_WIRE_VERSION)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the broker speaks version %u of its protocol, this library "
				"version %d: install the same release",
				answer->head.version, UNC_WIRE_VERSION);
	if (answer->code)
		return unc_fail(err, answer->code < 0 ? answer->code : UNC_ERR_IO, "%s",
				answer->text);
	if (errno == EMFILE || *n != most)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"only %zu of %zu descriptors could be taken: raise the hard limit "
				"of open files (ulimit -Hn, LimitNOFILE=)",
				*n, most);
	return 0;
}

/* A broker that refuses a client answers before any request and closes: an answer can be there even if
 * sending failed. */
static int send_request(struct unc_broker *b, const struct unc_wire_request *r, size_t size,
			struct unc_wire_answer *answer, int *fd, size_t *n, struct unc_error *err)
{
	int rc = connect_once(b, err);
	size_t came = *n;

	if (rc < 0)
		return rc;
	(void)send(b->fd, r, size, MSG_NOSIGNAL);
	rc = receive_answer(b, answer, fd, &came, err);
	if (rc < 0 &&
	    errno == ECONNRESET) { /* reported once, before the data that can still be read */
		came = *n;
		rc = receive_answer(b, answer, fd, &came, err);
	}
	int error = errno;

	for (size_t i = 0; rc < 0 && i < came && i < *n; i++)
		close(fd[i]);
	if (rc == UNC_ERR_IO && !b->silent)
		disconnect(b);
	errno = error;
	return rc;
}

/* Closes events whose descriptors found no room in this process: the broker still keeps them open. */
static void close_unreceived(struct unc_broker *b, struct unc_wire_request *r, size_t size)
{
	struct unc_wire_answer answer;
	size_t n = 0;

	if (r->head.kind != UNC_WIRE_OPEN || b->fd < 0)
		return;
	r->head.kind = UNC_WIRE_CLOSE;
	(void)send_request(b, r, size, &answer, NULL, &n, NULL);
	r->head.kind = UNC_WIRE_OPEN;
}

/* Sends a request; repeats it if the broker was restarted, or after raising the limit of descriptors. */
static int transact(struct unc_broker *b, struct unc_wire_request *r, size_t sets,
		    struct unc_wire_answer *answer, int *fd, size_t n, struct unc_error *err)
{
	size_t size = offsetof(struct unc_wire_request, set) + sets * sizeof(r->set[0]);
	bool connected = b->fd >= 0, full;
	int rc;

	r->head.magic = UNC_WIRE_MAGIC;
	r->head.version = UNC_WIRE_VERSION;
	rc = send_request(b, r, size, answer, fd, &n, err);
	if ((full = rc < 0 && errno == EMFILE))
		close_unreceived(b, r, size);
	if ((rc == UNC_ERR_IO && connected && b->fd < 0 && r->head.kind != UNC_WIRE_CLOSE) ||
	    (full && unc_fs_raise_limit())) {
		unc_error_clear(err);
		rc = send_request(b, r, size, answer, fd, &n, err);
		if (rc < 0 && errno == EMFILE)
			close_unreceived(b, r, size);
	}
	return rc;
}

/* ---- requests */

/* A refusal holds for the kind and is remembered; a failed connection is tried again the next time. */
int unc_broker_asks(struct unc_broker *b, const char *pmu, struct unc_error *err)
{
	struct unc_wire_request r = {.head = {.kind = UNC_WIRE_ASK, .n = 1}};
	size_t length = strlen(pmu);
	struct unc_wire_answer answer;
	char name[UNC_WIRE_PMU] = "";
	int rc;

	while (length > 0 && pmu[length - 1] >= '0' && pmu[length - 1] <= '9')
		length--;
	memcpy(name, pmu, length < sizeof(name) ? length : sizeof(name) - 1);
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->kind[i].name, name) == 0)
			return b->kind[i].said.code ? unc_fail(err, b->kind[i].said.code, "%s",
							       b->kind[i].said.text)
						    : 0;
	memcpy(r.set[0].pmu, pmu, strnlen(pmu, sizeof(r.set[0].pmu) - 1));
	struct unc_error said = {0};

	rc = transact(b, &r, 1, &answer, NULL, 0, &said);
	if (rc == 0)
		strcpy(b->told, answer.text);
	else
		unc_fail(err, rc, "%s", said.text);
	if (b->n < MAX_KINDS && (rc == 0 || rc == UNC_ERR_PERMISSION)) {
		strcpy(b->kind[b->n].name, name);
		b->kind[b->n++].said = said;
	}
	return rc;
}

/* Makes a request about one set; n is at most UNC_WIRE_EVENTS. */
static struct unc_wire_request request_of(uint16_t kind, const struct unc_kernel_place *place,
					  const struct unc_kernel_event *events, size_t n)
{
	struct unc_wire_request r = {.head = {.kind = kind, .n = 1}};
	struct unc_wire_set *set = &r.set[0];

	_Static_assert(sizeof(set->pmu) == sizeof(place->pmu), "names");
	memcpy(set->pmu, place->pmu, sizeof(set->pmu));
	set->cpu = place->cpu;
	set->n = (uint32_t)n;
	memcpy(set->event, events, n * sizeof(*events));
	return r;
}

int unc_broker_open(struct unc_broker *b, const struct unc_kernel_place *place,
		    const struct unc_kernel_event *events, size_t n, bool dead, int *fd,
		    struct unc_error *err)
{
	struct unc_wire_request r;
	struct unc_wire_answer answer;

	if (n > UNC_WIRE_EVENTS)
		return unc_fail(err, UNC_ERR_CONFLICT, "%zu events are more than the broker opens",
				n);
	r = request_of(UNC_WIRE_OPEN, place, events, n);
	r.set[0].dead = dead;
	return transact(b, &r, 1, &answer, fd, n, err);
}

unsigned unc_broker_call(const struct unc_broker *b)
{
	return b->call;
}

void unc_broker_close(struct unc_broker *b, unsigned call, const struct unc_kernel_place *place,
		      const struct unc_kernel_event *events, size_t n)
{
	struct unc_wire_request r = request_of(UNC_WIRE_CLOSE, place, events, n);
	struct unc_wire_answer answer;

	/* The end of a connection closes all events opened over it. */
	if (b->fd >= 0 && b->call == call && !b->silent)
		(void)transact(b, &r, 1, &answer, NULL, 0, NULL);
}

int unc_broker_list(struct unc_broker *b, uint32_t first, struct unc_wire_answer *out,
		    struct unc_error *err)
{
	struct unc_wire_request r = {.head = {.kind = UNC_WIRE_LIST, .n = first}};
	int rc = transact(b, &r, 0, out, NULL, 0, err);

	if (rc == 0 && out->head.n > UNC_WIRE_ROWS)
		return unc_fail(err, UNC_ERR_IO, "the answer is not that of a broker");
	return rc;
}
