/* SPDX-License-Identifier: BSD-3-Clause */
/* What is open, for whom, and until when. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "broker/broker.h"
#include "host/perf_users.h"

/* ---- users */

struct user *grants_user(struct broker *b, uid_t uid)
{
	const uint64_t second = 1000000000;
	struct user *free_one = NULL;

	for (unsigned i = 0; i < MAX_USERS; i++) {
		struct user *u = &b->user[i];

		if (u->used && u->uid == uid)
			return u;
		/* Who comes again at once has not earned new requests by going. */
		if (!u->used || (!u->connections && !u->descriptors && b->clock - u->seen > second))
			free_one = u;
	}
	if (free_one)
		*free_one = (struct user){
			.uid = uid, .used = true, .tokens = b->policy.requests, .seen = b->clock};
	return free_one;
}

/* ---- opening */

static int fail_open(struct broker *b, const struct unc_wire_set *set, uint16_t type, uint32_t i,
		     int error, struct unc_error *err)
{
	switch (error) {
	case EACCES:
	case EPERM:
		unc_perf_refused(b->machine.fs, error, err);
		unc_error_prefix(err, "the broker itself may not");
		broker_log(3, "%s", err->text);
		return err->code;
	case EINVAL:
		if (i > 0)
			return unc_fail(
				err, UNC_ERR_CONFLICT,
				"%u events do not count together: the unit has %u counters, "
				"and not each counts everything",
				set->n, b->table.type[type].n_counters);
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the kernel refuses config=0x%" PRIx64,
				set->event[i].config);
	case EMFILE:
	case ENFILE:
		return unc_fail(err, UNC_ERR_BUSY, "the broker has no descriptors left");
	default:
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "perf_event_open on cpu %u: %s", set->cpu,
				strerror(error));
	}
}

static void close_events(struct grant *g, uint32_t n)
{
	while (n > 0) /* the leader last */
		close(g->fd[--n]);
}

/* Opened while the leader is disabled, and enabled once. */
static int open_events(struct broker *b, struct grant *g, uint32_t pmu, uint16_t type,
		       struct unc_error *err)
{
	const struct unc_machine_events *events = &unc_events_system;

	for (uint32_t i = 0; i < g->set.n; i++) {
		struct perf_event_attr attr = unc_events_attr(pmu, &g->set.event[i], i == 0, false);

		g->fd[i] = events->open(&b->machine, &attr, (int)g->set.cpu, i ? g->fd[0] : -1);
		if (g->fd[i] < 0) {
			int error = errno;

			close_events(g, i);
			return fail_open(b, &g->set, type, i, error, err);
		}
	}
	if (events->enable(&b->machine, g->fd[0]) == 0)
		return 0;
	int error = errno;

	close_events(g, g->set.n);
	return fail_open(b, &g->set, type, 0, error, err);
}

/* The number of a PMU, if the CPU is one of its mask. */
static int find_pmu(struct broker *b, const struct unc_wire_set *set, uint32_t *pmu,
		    struct unc_error *err)
{
	static bool cpus[UNC_MAX_CPUS];
	static char mask[4096];
	int error;

	if (!unc_events_pmu(set->pmu))
		return unc_fail(err, UNC_ERR_DENIED, "it is not one of the uncore driver");
	error = unc_events_system.find(&b->machine, set->pmu, pmu, mask, sizeof(mask));
	if (error)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s",
				error == ENOENT ? "the kernel has no such PMU"
						: unc_fs_reason(error));
	if (!unc_events_type(*pmu))
		return unc_fail(err, UNC_ERR_DENIED, "type %u is not one of a driver", *pmu);
	memset(cpus, 0, sizeof(cpus));
	if (!unc_cpu_list(mask, cpus) || set->cpu >= UNC_MAX_CPUS || !cpus[set->cpu])
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u is none of its cpumask, %.40s",
				set->cpu, mask);
	return 0;
}

/* All of it is asked at each request: nothing that was allowed once stays so. */
static int check_set(struct broker *b, uid_t uid, const struct unc_wire_set *set, uint32_t *pmu,
		     uint16_t *type, struct unc_error *err)
{
	struct unc_kernel_event known;
	int rc = find_pmu(b, set, pmu, err);

	if (rc == 0 && unc_events_format(b->machine.fs, set->pmu, &known))
		rc = unc_fail(err, UNC_ERR_UNAVAILABLE, "it has no format");
	for (uint32_t i = 0; i < set->n && rc == 0; i++)
		rc = policy_allows(&b->policy, &b->table, uid, set->pmu, &set->event[i], &known,
				   type, err);
	return rc;
}

static void log_grant(struct broker *b, const struct grant *g)
{
	const uint64_t second = 1000000000;
	enum { LINES = 20 };

	if (b->clock - b->logged >= second) {
		if (b->n_logged > LINES)
			broker_log(6, "%u more grants", b->n_logged - LINES);
		b->logged = b->clock;
		b->n_logged = 0;
	}
	for (uint32_t i = 0; i < g->set.n; i++)
		if (++b->n_logged <= LINES)
			broker_log(6,
				   "grant uid=%u pid=%d cpu=%u event=%s/config=0x%" PRIx64
				   ",config1=0x%" PRIx64 ",config2=0x%" PRIx64 "/",
				   (unsigned)g->uid, (int)g->pid, g->set.cpu, g->set.pmu,
				   g->set.event[i].config, g->set.event[i].config1,
				   g->set.event[i].config2);
}

/* ---- grants and their leases */

/* The copies are closed; who was given some keeps them. */
static void retire(struct broker *b, struct grant *g)
{
	if (g->retired)
		return;
	close_events(g, g->set.n);
	b->kept -= g->set.n;
	g->retired = true;
}

static void drop_lease(struct broker *b, size_t i)
{
	struct grant *g = &b->grant[b->lease[i].grant];

	b->lease[i] = b->lease[--b->n_leases];
	if (--g->leases)
		return;
	retire(b, g);
	grants_user(b, g->uid)->descriptors -= g->set.n;
	g->used = false;
	while (b->n_grants > 0 && !b->grant[b->n_grants - 1].used)
		b->n_grants--;
}

void grants_end(struct broker *b, unsigned connection)
{
	for (size_t i = b->n_leases; i-- > 0;)
		if (b->lease[i].connection == connection)
			drop_lease(b, i);
}

static bool has_lease(const struct broker *b, unsigned connection, size_t grant)
{
	for (size_t i = 0; i < b->n_leases; i++)
		if (b->lease[i].connection == connection && b->lease[i].grant == grant)
			return true;
	return false;
}

static bool same_set(const struct unc_wire_set *a, const struct unc_wire_set *b)
{
	return a->cpu == b->cpu && a->n == b->n && strcmp(a->pmu, b->pmu) == 0 &&
	       memcmp(a->event, b->event, a->n * sizeof(a->event[0])) == 0;
}

/* That of the user for the same set; or where there is none, a free one. MAX_GRANTS: none. */
static size_t find_grant(const struct broker *b, uid_t uid, const struct unc_wire_set *set)
{
	size_t i = 0, free_one = MAX_GRANTS;

	for (; i < b->n_grants; i++) {
		const struct grant *g = &b->grant[i];

		if (!g->used)
			free_one = free_one == MAX_GRANTS ? i : free_one;
		else if (!g->retired && g->uid == uid && same_set(&g->set, set))
			return i;
	}
	return free_one < b->n_grants ? free_one : b->n_grants;
}

static int new_grant(struct broker *b, struct grant *g, const struct connection *c,
		     const struct unc_wire_set *set, uint32_t pmu, uint16_t type,
		     struct unc_error *err)
{
	struct user *u = grants_user(b, c->uid);
	int rc;

	if (u->descriptors + set->n > b->policy.descriptors)
		return unc_fail(
			err, UNC_ERR_BUSY,
			"%u more descriptors are more than the %u that a user may have here; "
			"%u are in use",
			set->n, b->policy.descriptors, u->descriptors);
	if (b->kept + set->n > b->most)
		return unc_fail(err, UNC_ERR_BUSY, "the broker has no descriptors left");
	*g = (struct grant){.uid = c->uid, .pid = c->pid, .set = *set};
	if ((rc = open_events(b, g, pmu, type, err)) < 0)
		return rc;
	g->used = true;
	b->n_grants += (size_t)(g - b->grant) == b->n_grants;
	u->descriptors += set->n;
	b->kept += set->n;
	log_grant(b, g);
	return 0;
}

static int open_set(struct broker *b, unsigned connection, const struct unc_wire_set *set, int *fd,
		    size_t *n, struct unc_error *err)
{
	const struct connection *c = &b->connection[connection];
	uint16_t type = 0;
	uint32_t pmu;
	int rc = check_set(b, c->uid, set, &pmu, &type, err);
	size_t at = find_grant(b, c->uid, set);
	bool has = rc == 0 && at < MAX_GRANTS && b->grant[at].used && has_lease(b, connection, at);

	if (rc < 0)
		return rc;
	if (has && set->dead) { /* its lease stays, and counts, until the connection ends */
		retire(b, &b->grant[at]);
		at = find_grant(b, c->uid, set);
		has = false;
	}
	if (at == MAX_GRANTS || b->n_leases == MAX_LEASES)
		return unc_fail(err, UNC_ERR_BUSY, "the broker has too many users");
	struct grant *g = &b->grant[at];

	if (!g->used && (rc = new_grant(b, g, c, set, pmu, type, err)) < 0)
		return rc;
	if (!has) {
		b->lease[b->n_leases++] = (struct lease){(uint16_t)connection, (uint16_t)at};
		g->leases++;
	}
	memcpy(fd + *n, g->fd, set->n * sizeof(*fd));
	*n += set->n;
	return 0;
}

int grants_open(struct broker *b, unsigned connection, const struct unc_wire_request *r, int *fd,
		size_t *n, struct unc_error *err)
{
	size_t leases = b->n_leases;
	int rc = 0;

	for (uint32_t i = *n = 0; i < r->head.n && rc == 0; i++) {
		rc = open_set(b, connection, &r->set[i], fd, n, err);
		if (rc < 0)
			unc_error_prefix(err, "%s", r->set[i].pmu);
	}
	while (rc < 0 && b->n_leases > leases)
		drop_lease(b, b->n_leases - 1);
	return rc;
}
