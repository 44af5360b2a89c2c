/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: who may connect, their requests, and the answers. */
#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/broker.h"

static const uint64_t second = 1000000000;

/* ---- answers */

static struct unc_wire_answer answer_of(const struct broker *b, uint16_t kind)
{
	return (struct unc_wire_answer){
		.head = {.magic = UNC_WIRE_MAGIC, .version = UNC_WIRE_VERSION, .kind = kind},
		.since = b->since,
	};
}

/* Never waits: a client that does not receive its answers gets no further one. False: this one did not fit. */
static bool send_answer(int to, const struct unc_wire_answer *answer, size_t rows, const int *fd,
			size_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(UNC_WIRE_FDS * sizeof(int))];
	} control = {.room = {0}};
	struct iovec data = {(void *)(uintptr_t)answer,
			     offsetof(struct unc_wire_answer, row) + rows * sizeof(answer->row[0])};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

	if (n) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fd, n * sizeof(int));
	}
	return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

static bool send_error(const struct broker *b, int to, uint16_t kind, const struct unc_error *err)
{
	struct unc_wire_answer answer = answer_of(b, kind);

	answer.code = err->code;
	snprintf(answer.text, sizeof(answer.text), "%s", err->text);
	return send_answer(to, &answer, 0, NULL, 0);
}

/* ---- who may ask */

static bool is_member(const struct policy *p, int fd, const struct ucred *who)
{
	static gid_t of[65536];
	socklen_t size = sizeof(of);

	if (!p->n_groups || who->uid == 0)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, of, &size) < 0)
		size = 0;
	for (unsigned i = 0; i < p->n_groups; i++) {
		if (p->group[i] == who->gid)
			return true;
		for (size_t k = 0; k < size / sizeof(of[0]); k++)
			if (p->group[i] == of[k])
				return true;
	}
	return false;
}

/* Whether a uid is subordinate (subuid(5)): one user has thousands of these for user namespaces. */
static bool is_subordinate(uid_t uid)
{
	FILE *f = fopen("/etc/subuid", "re");
	char line[512];
	bool is = false;

	while (f && !is && fgets(line, sizeof(line), f)) {
		unsigned long first, n;

		is = sscanf(line, "%*[^:]:%lu:%lu", &first, &n) == 2 && uid >= first &&
		     uid - first < n;
	}
	if (f)
		fclose(f);
	return is;
}

static int check_peer_rights(struct broker *b, int fd, struct ucred *who, struct unc_error *err)
{
	socklen_t size = sizeof(*who);
	struct user *u;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &size) < 0)
		return unc_fail(err, UNC_ERR_PERMISSION, "the kernel does not tell who you are");
	if (b->unable.code == UNC_ERR_BUSY)
		return unc_fail(err, b->unable.code, "%s", b->unable.text);
	if (who->uid == UNC_WIRE_NOBODY)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"user id %d identifies no user: it belongs to nobody, or to "
				"another user namespace",
				UNC_WIRE_NOBODY);
	if (!is_member(&b->policy, fd, who))
		return unc_fail(
			err, UNC_ERR_PERMISSION,
			"you are in none of the groups that the broker of this site serves");
	if (is_subordinate(who->uid))
		return unc_fail(err, UNC_ERR_PERMISSION,
				"user id %u is a subordinate one (/etc/subuid), and a user has "
				"many of these: only users' own ids are served",
				(unsigned)who->uid);
	u = grants_user(b, who->uid);
	if (!u)
		return unc_fail(err, UNC_ERR_BUSY, "the broker has too many users");
	if (who->uid && b->n_connections >= MAX_CONNECTIONS - MAX_CONNECTIONS / ROOTS)
		return unc_fail(err, UNC_ERR_BUSY, "the broker has too many connections");
	if (who->uid && u->connections >= b->policy.connections)
		return unc_fail(
			err, UNC_ERR_BUSY,
			"you have %u connections to the broker, the most that a user may have",
			u->connections);
	return 0;
}

/* Whether the client has not received its last answer yet. */
static bool is_untaken(const struct connection *c)
{
	int unread = 0;

	return ioctl(c->fd, SIOCOUTQ, &unread) == 0 && unread;
}

void serve_accept(struct broker *b, int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred who = {.uid = UNC_WIRE_NOBODY};
	struct unc_error err = {0};
	unsigned i = 0;

	if (fd < 0)
		return;
	while (i < MAX_CONNECTIONS && b->connection[i].fd >= 0)
		i++;
	if (i == MAX_CONNECTIONS)
		unc_fail(&err, UNC_ERR_BUSY, "the broker has too many connections");
	if (err.code || check_peer_rights(b, fd, &who, &err) < 0) {
		audit_refused(b, who.uid, who.pid, err.text);
		send_error(b, fd, 0, &err);
		close(fd);
		return;
	}
	grants_user(b, who.uid)->connections++;
	b->n_connections++;
	b->connection[i] = (struct connection){.fd = fd, .uid = who.uid, .pid = who.pid};
}

void serve_close(struct broker *b, unsigned i)
{
	struct connection *c = &b->connection[i];

	if (!c->ended)
		grants_end(b, i);
	c->ended = c->untaken && is_untaken(c);
	c->not_before = b->clock + second / 100;
	if (c->ended)
		return;
	grants_user(b, c->uid)->connections--;
	b->n_connections--;
	close(c->fd);
	c->fd = -1;
}

/* ---- requests */

/* Reads one message without room for descriptors, so that the kernel drops those that came: close() of one
 * on a FUSE mount of its sender would block the broker as long as the sender likes. */
static int receive_request(int fd, struct unc_wire_request *r, size_t *size, struct unc_error *err)
{
	struct iovec data = {r, sizeof(*r)};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT);

	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR) ? UNC_ERR_BUSY : UNC_ERR_IO;
	*size = (size_t)got;
	if (m.msg_flags & MSG_CTRUNC)
		return unc_fail(err, UNC_ERR_INVALID, "descriptors are not accepted here");
	if (m.msg_flags & MSG_TRUNC)
		return unc_fail(err, UNC_ERR_INVALID, "a message has %zu bytes at most",
				sizeof(*r));
	return 0;
}

static bool is_zero(const void *data, size_t size)
{
	const char *byte = data;

	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return false;
	return true;
}

static int check_set_format(const struct unc_wire_set *set, bool asks, struct unc_error *err)
{
	const char *end = memchr(set->pmu, '\0', sizeof(set->pmu));

	if (!end || !is_zero(end, (size_t)(set->pmu + sizeof(set->pmu) - end)))
		return unc_fail(err, UNC_ERR_INVALID, "the name of a PMU does not end");
	if (asks ? set->n : !set->n || set->n > UNC_WIRE_EVENTS)
		return unc_fail(err, UNC_ERR_INVALID, "a set has 1 to %d events", UNC_WIRE_EVENTS);
	if (set->dead > 1 || set->rest ||
	    !is_zero(&set->event[set->n], (UNC_WIRE_EVENTS - set->n) * sizeof(set->event[0])))
		return unc_fail(err, UNC_ERR_INVALID, "fields without a meaning must be 0");
	return 0;
}

/* Checks a request; first the fields that all versions of the protocol have in common. */
static int check_request(const struct unc_wire_request *r, size_t size, struct unc_error *err)
{
	size_t sets = r->head.kind == UNC_WIRE_LIST ? 0 : r->head.n, events = 0;
	bool asks = r->head.kind == UNC_WIRE_ASK;
	int rc = 0;

	if (size < sizeof(r->head) || r->head.magic != UNC_WIRE_MAGIC)
		return unc_fail(err, UNC_ERR_INVALID,
				"this is not a message of the broker's protocol");
	if (r->head.version != UNC_WIRE_VERSION)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the broker speaks version %d of its protocol, and you version %u: "
				"install the same release",
				UNC_WIRE_VERSION, r->head.version);
	if (r->head.kind < UNC_WIRE_OPEN || r->head.kind > UNC_WIRE_CLOSE || r->head.rest)
		return unc_fail(err, UNC_ERR_INVALID, "there is no request %u", r->head.kind);
	if (((r->head.kind == UNC_WIRE_OPEN || r->head.kind == UNC_WIRE_CLOSE) && !sets) ||
	    sets > (asks ? 1 : UNC_WIRE_SETS))
		return unc_fail(err, UNC_ERR_INVALID, "a request has 1 to %d sets", UNC_WIRE_SETS);
	if (size != offsetof(struct unc_wire_request, set) + sets * sizeof(r->set[0]))
		return unc_fail(err, UNC_ERR_INVALID, "%zu bytes are not a request of %zu sets",
				size, sets);
	for (size_t i = 0; i < sets && rc == 0; i++) {
		rc = check_set_format(&r->set[i], asks, err);
		events += rc == 0 ? r->set[i].n : 0;
	}
	if (rc == 0 && events > UNC_WIRE_FDS)
		rc = unc_fail(err, UNC_ERR_INVALID, "a request has %d events at most",
			      UNC_WIRE_FDS);
	return rc;
}

static bool list_grants(const struct broker *b, int to, uint32_t first)
{
	struct unc_wire_answer answer = answer_of(b, UNC_WIRE_LIST);
	uint32_t row = 0;

	for (size_t i = 0; i < b->n_grants; i++) {
		const struct grant *g = &b->grant[i];

		for (uint32_t k = 0; g->used && !g->retired && k < g->set.n; k++, row++) {
			struct unc_wire_row *out = &answer.row[answer.head.n];

			if (row < first || answer.next)
				continue;
			if (answer.head.n == UNC_WIRE_ROWS) {
				answer.next = row;
				continue;
			}
			*out = (struct unc_wire_row){
				.event = g->set.event[k],
				.uid = g->uid,
				.cpu = g->set.cpu,
				.pid = g->pid,
				.users = g->leases,
				.age = (uint32_t)((b->clock - g->opened) / second)};
			memcpy(out->pmu, g->set.pmu, sizeof(out->pmu));
			answer.head.n++;
		}
	}
	return send_answer(to, &answer, answer.head.n, NULL, 0);
}

/* The kernel counts descriptors in flight against the broker: a user may leave only a part of them untaken. */
static int check_untaken(struct broker *b, const struct connection *c,
			 const struct unc_wire_request *r, struct unc_error *err)
{
	unsigned all = 0;

	for (uint32_t i = 0; i < r->head.n; i++)
		all += r->set[i].n;
	for (unsigned i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *other = &b->connection[i];

		if (other->fd < 0 || other->uid != c->uid || !other->untaken)
			continue;
		if (!is_untaken(other))
			other->untaken = 0;
		all += other->untaken;
	}
	if (c->uid && all > b->most / SHARE)
		return unc_fail(err, UNC_ERR_BUSY,
				"you have not taken %u descriptors that were passed to you: no "
				"more are passed until you do",
				all);
	return 0;
}

static int answer_ask(struct broker *b, uid_t uid, const struct unc_wire_request *r,
		      struct unc_error *err)
{
	uint16_t type;

	broker_try_right(b);
	if (b->unable.code)
		return unc_fail(err, b->unable.code, "%s", b->unable.text);
	return r->head.n ? policy_allows(&b->policy, &b->table, uid, r->set[0].pmu, NULL, NULL,
					 &type, err)
			 : 0;
}

static bool answer_request(struct broker *b, unsigned i, const struct unc_wire_request *r)
{
	struct connection *c = &b->connection[i];
	struct unc_wire_answer answer = answer_of(b, r->head.kind);
	struct unc_error err = {0};
	int fd[UNC_WIRE_FDS], rc = 0;
	size_t n = 0;

	switch (r->head.kind) {
	case UNC_WIRE_LIST:
		return list_grants(b, c->fd, r->head.n);
	case UNC_WIRE_OPEN:
		rc = check_untaken(b, c, r, &err);
		if (rc == 0)
			rc = grants_open(b, i, r, fd, &n, &err);
		break;
	case UNC_WIRE_CLOSE:
		rc = grants_close(b, i, r, r->head.n, &err);
		break;
	default:
		rc = answer_ask(b, c->uid, r, &err);
		snprintf(answer.text, sizeof(answer.text), "%s", b->policy.told);
	}
	if (rc < 0) {
		audit_refused(b, c->uid, c->pid, err.text);
		return send_error(b, c->fd, r->head.kind, &err);
	}
	answer.head.n = (uint32_t)n;
	c->untaken = (unsigned)n;
	if (send_answer(c->fd, &answer, 0, fd, n))
		return true;
	c->untaken = 0;
	if (!n)
		return false;
	(void)grants_close(b, i, r, r->head.n, NULL); /* this request alone */
	unc_fail(&err, UNC_ERR_BUSY, "the broker cannot pass descriptors now");
	return send_error(b, c->fd, r->head.kind, &err);
}

/* Whether a connection may be served now: its last answer was received, and its user has tokens left. */
static bool may_be_heard(struct broker *b, struct connection *c)
{
	struct user *u = grants_user(b, c->uid);
	double most = b->policy.requests;

	if (is_untaken(c)) {
		c->not_before = b->clock + second / 200;
		return false;
	}
	if (u->turn == b->turn) /* one request of a user in each turn */
		return false;
	c->untaken = 0;
	u->tokens += (double)(b->clock - u->seen) / (double)second * most;
	u->tokens = u->tokens > most ? most : u->tokens;
	u->seen = b->clock;
	if (u->tokens < 1) {
		c->not_before = b->clock + (uint64_t)((double)second / most) + 1;
		return false;
	}
	u->tokens--;
	u->turn = b->turn;
	b->from = (unsigned)(c - b->connection + 1);
	return true;
}

void serve_request(struct broker *b, unsigned i)
{
	struct connection *c = &b->connection[i];
	static struct unc_wire_request r;
	struct unc_error err = {0};
	size_t size = 0;

	if (!may_be_heard(b, c))
		return;
	int rc = receive_request(c->fd, &r, &size, &err);

	if (rc == UNC_ERR_BUSY)
		return;
	if (rc == 0)
		rc = check_request(&r, size, &err);
	if (err.code)
		send_error(b, c->fd, 0, &err);
	/* A client that violates the protocol is disconnected. */
	if (rc < 0 || !answer_request(b, i, &r))
		serve_close(b, i);
}
