/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients say to uncored, and policies of a site, as bytes of a fuzzer. events.c is compiled
 * with -Dsyscall=fuzz_syscall -Dioctl=fuzz_ioctl: what the broker opens is looked at here, and it ends
 * with abort() where that is not what the policy allows, or where anything is left of a client.
 *
 * clang's libFuzzer calls LLVMFuzzerTestOneInput() (scripts/fuzz-broker). With main() below it is a
 * test: as many inputs as the argument says, of a fixed seed; without one 6,000, with ALL=1 30,000.
 */
#undef syscall
#undef ioctl
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../fake_root.h"
#include "broker/broker.h"

long fuzz_syscall(long number, ...);
int fuzz_ioctl(int fd, unsigned long request, ...);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 4, FIRST_TYPE = 20 };

static const char *const pmus[] = {"uncore_imc_0", "uncore_imc_1", "uncore_cbox_0", "uncore_qpi_0",
				   "uncore_ha_0",  "uncore_x",     "uncore_nine",   "cpu"};
static struct broker broker;
static int client[CLIENTS];
static char root[] = "/tmp/fuzz-broker-XXXXXX";
static char policy_path[64];
static int locked[2]; /* a file that this process has locked: to be sent, and to ask by */
static unsigned long opened;

#define HOLDS(it)                                                                                  \
	do {                                                                                       \
		if (!(it)) {                                                                       \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #it);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

void broker_try_right(struct broker *b)
{
	(void)b;
}

void broker_log(int priority, const char *format, ...)
{
	(void)priority;
	(void)format;
}

/* ---- what the broker asks of the kernel */

static bool is_allowed(const struct perf_event_attr *attr)
{
	const struct policy *p = &broker.policy;

	for (size_t i = 0; i < p->n_words; i++)
		if (p->word[i].event.config == attr->config &&
		    p->word[i].event.config1 == attr->config1 &&
		    p->word[i].event.config2 == attr->config2)
			return true;
	return false;
}

/* PMUs 0, 1 and 3 are of units that the policy of this test allows; the last two have other types. */
static void check_attr(const struct perf_event_attr *attr, int pid, int cpu, int group, long flags)
{
	struct perf_event_attr known = {
		.type = attr->type,
		.size = sizeof(*attr),
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group < 0,
	};

	HOLDS(memcmp(attr, &known, sizeof(known)) == 0);
	HOLDS(attr->type == FIRST_TYPE || attr->type == FIRST_TYPE + 1 ||
	      attr->type == FIRST_TYPE + 3);
	HOLDS(pid == -1 && cpu == 0 && flags == PERF_FLAG_FD_CLOEXEC);
	HOLDS(is_allowed(attr));
}

long fuzz_syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	int pid, cpu, group;
	va_list ap;

	HOLDS(number == SYS_perf_event_open);
	va_start(ap, number);
	attr = va_arg(ap, const struct perf_event_attr *);
	pid = va_arg(ap, int);
	cpu = va_arg(ap, int);
	group = va_arg(ap, int);
	check_attr(attr, pid, cpu, group, va_arg(ap, int));
	va_end(ap);
	opened++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int fuzz_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	if (request == PERF_EVENT_IOC_ENABLE)
		return 0;
	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return ioctl(fd, request, arg);
}

/* ---- the node */

static void put(const char *text, const char *name, const char *file)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s/%s", root, name, file);
	f = fopen(path, "w");
	HOLDS(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void make_folders(const char *path)
{
	char part[256];

	for (const char *end = strchr(path + 1, '/');; end = strchr(end + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", end ? (int)(end - path) : 255, path);
		mkdir(part, 0700);
		if (!end)
			return;
	}
}

static void make_pmu(unsigned i)
{
	/* The name that no table knows is of the first one's type, and "cpu" of the kernel's own. */
	unsigned type = i == 5 ? FIRST_TYPE : i == 7 ? 4 : FIRST_TYPE + i;
	char path[256], text[16];

	if (i == 6)
		return; /* the kernel has none of that name */
	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s/format", root, pmus[i]);
	make_folders(path);
	snprintf(text, sizeof(text), "%u\n", type);
	put(text, pmus[i], "type");
	put("0\n", pmus[i], "cpumask");
	put("config:0-7\n", pmus[i], "format/event");
	put("config:8-15\n", pmus[i], "format/umask");
	put("config:24-31\n", pmus[i], "format/thresh");
	put("config1:0-63\n", pmus[i], "format/match0");
}

static void connect_client(unsigned i)
{
	uid_t uid = i ? 1000 + i % 2 : 0;
	int pair[2];

	HOLDS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	HOLDS(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
	HOLDS(grants_user(&broker, uid) != NULL);
	grants_user(&broker, uid)->connections++;
	broker.connection[i] = (struct connection){.fd = pair[0], .uid = uid, .pid = 1};
	client[i] = pair[1];
}

/* The lock ends with the first close() of any descriptor of the file in this process. */
static void lock_file(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[64];

	snprintf(path, sizeof(path), "%s/locked", root);
	locked[0] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	locked[1] = open(path, O_RDWR | O_CLOEXEC);
	HOLDS(locked[0] >= 0 && locked[1] >= 0 && fcntl(locked[0], F_SETLK, &lock) == 0);
}

static bool is_locked(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	HOLDS(fcntl(locked[1], F_OFD_GETLK, &lock) == 0);
	return lock.l_type != F_UNLCK;
}

static void begin(void)
{
	static const char name[] = "haswell-ep";
	size_t i = 0;

	HOLDS(mkdtemp(root));
	for (unsigned pmu = 0; pmu < sizeof(pmus) / sizeof(pmus[0]); pmu++)
		make_pmu(pmu);
	snprintf(policy_path, sizeof(policy_path), "%s/policy", root);
	broker.machine.events = &unc_events_system;
	HOLDS(unc_fs_open(root, &broker.machine.fs, NULL) == 0);
	while (unc_table_built(i, &broker.table) &&
	       strcmp(unc_tbl_str(&broker.table, broker.table.name), name) != 0)
		i++;
	HOLDS(policy_read("/nonexistent", &broker.table, 1, &broker.policy, NULL) == 0);
	broker.policy.descriptors = 40;
	broker.most = 100;
	for (i = 0; i < MAX_CONNECTIONS; i++)
		broker.connection[i].fd = -1;
	lock_file();
}

/* ---- an input */

struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t next(struct input *in, unsigned bytes)
{
	uint64_t value = 0;

	for (; bytes && in->size; bytes--, in->size--)
		value = value << 8 | *in->data++;
	return value;
}

/* A number of up to 8 bytes, most often a small one or one of the tables'. */
static uint64_t number(struct input *in)
{
	uint64_t kind = next(in, 1);

	if (kind < 32 && broker.policy.n_words)
		return broker.policy.word[next(in, 2) % broker.policy.n_words].event.config;
	return kind < 128 ? kind - 32 : next(in, kind % 9);
}

static size_t build(struct input *in, struct unc_wire_request *r)
{
	uint64_t shape = next(in, 1);

	r->head.magic = UNC_WIRE_MAGIC;
	r->head.version = UNC_WIRE_VERSION;
	r->head.kind = shape & 8 ? (uint16_t)(shape & 7) : UNC_WIRE_OPEN;
	r->head.n = (uint32_t)(shape >> 4);
	for (uint32_t i = 0; i < r->head.n && i < UNC_WIRE_SETS && in->size; i++) {
		struct unc_wire_set *set = &r->set[i];
		uint64_t flags = next(in, 1);

		memcpy(set->pmu, pmus[flags & 7], strlen(pmus[flags & 7]));
		set->dead = flags >> 3 & 1;
		set->n = flags >> 4;
		if (flags >> 4 == 15) {
			set->n = (uint32_t)number(in);
			set->cpu = (uint32_t)number(in);
			set->rest = (uint32_t)number(in);
		}
		for (uint32_t k = 0; k < set->n && k < UNC_WIRE_EVENTS && in->size; k++) {
			set->event[k].config = number(in);
			if (set->event[k].config & 1 && flags & 0x80)
				set->event[k].config1 = number(in);
		}
	}
	return offsetof(struct unc_wire_request, set) +
	       (r->head.kind == UNC_WIRE_LIST ? 0 : r->head.n) % (UNC_WIRE_SETS + 1) *
		       sizeof(r->set[0]);
}

/* Bytes as they are, changed in or put behind a request, or a request. */
static size_t message(struct input *in, struct unc_wire_request *r)
{
	uint64_t how = next(in, 1);
	size_t size = how & 1 ? build(in, r) : 0, at, n;

	if (how & 1 && how & 0xfe && how < 192)
		return size;
	at = size ? next(in, 2) % size : 0;
	n = in->size < how / 2 ? in->size : how / 2;
	n = n < sizeof(*r) - at ? n : sizeof(*r) - at;
	memcpy((char *)r + at, in->data, n);
	next(in, 0);
	in->data += n;
	in->size -= n;
	return size ? size : n + (how == 254 ? sizeof(*r) - n : 0);
}

static void take_answer(unsigned i, uint32_t asked, uint16_t kind)
{
	static struct unc_wire_answer answer;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(UNC_WIRE_FDS * sizeof(int))];
	} control;
	struct iovec data = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(client[i], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	size_t n = 0;

	if (got <= 0)
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t k = 0; k < n; k++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + k * sizeof(int), sizeof(fd));
			close(fd);
		}
	}
	HOLDS((size_t)got >= offsetof(struct unc_wire_answer, row));
	HOLDS(answer.head.magic == UNC_WIRE_MAGIC && answer.head.version == UNC_WIRE_VERSION);
	HOLDS(memchr(answer.text, '\0', sizeof(answer.text)) != NULL);
	HOLDS(answer.code <= 0 && (answer.code == 0 || (n == 0 && *answer.text)));
	HOLDS(answer.code || kind != UNC_WIRE_OPEN || n == asked);
	HOLDS(kind == UNC_WIRE_OPEN || n == 0);
}

/* With the locked file's descriptor, or without. */
static bool send_request(unsigned i, struct unc_wire_request *r, size_t size, bool with)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct iovec data = {r, size};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

	memcpy(CMSG_DATA(&control.head), &locked[0], sizeof(int));
	if (with) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	return sendmsg(client[i], &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* `sends`: a descriptor, for which the connection ends. It is never closed: that may wait. */
static void say(struct input *in, unsigned i, bool sends)
{
	static struct unc_wire_request r;
	const struct user *u;
	uint32_t asked = 0;
	size_t size;

	memset(&r, 0, sizeof(r));
	size = message(in, &r);
	if (!size || !send_request(i, &r, size, sends))
		return;
	for (uint32_t k = 0; k < r.head.n && k < UNC_WIRE_SETS; k++)
		asked += r.set[k].n;
	broker.clock += 1000000000;
	broker.turn++;
	serve_request(&broker, i);
	take_answer(i, asked, r.head.kind);
	u = grants_user(&broker, i ? 1000 + i % 2 : 0);
	HOLDS(u && u->descriptors <= broker.policy.descriptors && broker.kept <= broker.most);
	HOLDS(is_locked() && (!sends || broker.connection[i].fd < 0));
	if (broker.connection[i].fd < 0) {
		close(client[i]);
		connect_client(i);
	}
}

static void talk(struct input *in)
{
	int before = open("/dev/null", O_RDONLY), after;

	close(before);
	for (unsigned i = 0; i < CLIENTS; i++)
		connect_client(i);
	while (in->size) {
		uint64_t what = next(in, 1);
		unsigned i = what % CLIENTS;

		if (what < 16) {
			serve_close(&broker, i);
			close(client[i]);
			connect_client(i);
		} else {
			say(in, i, what >= 248);
		}
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		serve_close(&broker, i);
		close(client[i]);
	}
	HOLDS(!broker.kept && !broker.n_leases && !broker.n_grants);
	for (unsigned i = 0; i < MAX_USERS; i++)
		HOLDS(!broker.user[i].descriptors && !broker.user[i].connections);
	after = open("/dev/null", O_RDONLY);
	close(after);
	HOLDS(after == before);
}

/* A policy is refused with its file, or takes the place of the old one. */
static void read_policy(struct input *in)
{
	static struct policy out, kept;
	int fd = open(policy_path, O_WRONLY | O_CREAT | O_TRUNC, 0600), rc;
	struct unc_error err = {0};

	HOLDS(fd >= 0 && write(fd, in->data, in->size) == (ssize_t)in->size && close(fd) == 0);
	memset(&out, 0x5a, sizeof(out));
	memcpy(&kept, &out, sizeof(out));
	rc = policy_read(policy_path, &broker.table, 1, &out, &err);
	HOLDS(rc <= 0 && (rc == 0) == (err.code == 0));
	if (rc < 0)
		HOLDS(memcmp(&kept, &out, sizeof(out)) == 0 && strstr(err.text, "policy"));
	else
		HOLDS(out.descriptors && out.connections && out.requests && *out.told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	if (!*policy_path) {
		umask(077);
		begin();
	}
	if (next(&in, 1) < 240)
		talk(&in);
	else
		read_policy(&in);
	return 0;
}

#ifndef FUZZER
/* Changed in some bytes; half of them are what was written down here. */
static size_t draw(uint8_t *data, size_t most, uint64_t *seed)
{
	static const char policy[] = "\xff"
				     "[allow]\ngroups = MEM,LINK\nunits = "
				     "imc,qpi\n[limit]\nrequests = 7\n[connect]\nalone = yes\n";
	size_t size;

	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	size = 1 + (*seed >> 33) % most;
	for (size_t i = 0; i < size; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		data[i] = (uint8_t)(*seed >> 40);
	}
	if (*seed >> 63) {
		size = sizeof(policy) - 1;
		uint8_t at = data[0], value = data[size > 1], twice = data[2 % size];

		memcpy(data, policy, size);
		data[1 + at % (size - 1)] = value;
		if (twice & 1)
			data[1 + twice % (size - 1)] = value;
	}
	return size;
}

int main(int argc, char **argv)
{
	const char *all = getenv("ALL");
	unsigned long n = argc == 2                  ? strtoul(argv[1], NULL, 10)
			  : all && !strcmp(all, "1") ? 30000
						     : 6000;
	uint64_t seed = 20261124;
	uint8_t data[1024];

	for (unsigned long i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(data, draw(data, sizeof(data), &seed));
	struct fake_root made;

	strcpy(made.path, root);
	fake_free(&made);
	HOLDS(opened); /* or it is not shown what is not */
	printf("1..1\nok 1 - broker: %lu inputs: nothing was opened that is not allowed\n", n);
	return 0;
}
#endif
