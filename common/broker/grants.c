/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants: which sets of events are open for which users, and the leases of connections. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "broker/broker.h"
#include "host/perf_users.h"

/* ---- users */

struct user *grants_known(struct broker *b, uid_t uid)
{
	for (struct user *u = b->user; u < b->user + MAX_USERS; u++)
		if (u->used && u->uid == uid)
			return u;
	return NULL;
}

struct user *grants_user(struct broker *b, uid_t uid)
{
	const uint64_t second = 1000000000;
	struct user *free_one = grants_known(b, uid);

	if (free_one)
		return free_one;
	for (unsigned i = uid ? 1 : 0; i < MAX_USERS; i++) { /* the first is root */
		struct user *u = &b->user[i];

		/* Keep the entry for a second: reconnecting must not refill the tokens. */
		if (!free_one && (!u->used || (!u->connections && !u->descriptors && !u->given &&
					       !u->refused && b->clock - u->seen > second)))
			free_one = u;
	}
	if (free_one)
		*free_one = (struct user){
			.uid = uid, .used = true, .tokens = b->policy.requests, .seen = b->clock};
	return free_one;
}

/* Whether a user with `mine` entries may have one more; all users together have `all` of `most`. */
static bool may_have(uid_t uid, size_t mine, size_t all, size_t most)
{
	return uid ? mine < most / SHARE && all < most - most / ROOTS : all < most;
}

/* ---- opening */

static int fail_open(struct broker *b, const struct unc_wire_set *set, uint16_t type, size_t i,
		     int error, struct unc_error *err)
{
	switch (error) {
	case EACCES:
	case EPERM:
		broker_try_right(b);
		unc_perf_refused(b->machine.fs, error, err);
		unc_error_prefix(err, "the broker itself may not");
		return err->code;
	case EINVAL:
		if (i > 0)
			return unc_fail(err, UNC_ERR_CONFLICT,
					"%u events do not count together: the unit has %u "
					"counters, and not each of them can count every event",
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

/* Finds the number of a set's PMU. Fails if the set's CPU is not in the PMU's mask. */
static int find_pmu(struct broker *b, const struct unc_wire_set *set, uint32_t *pmu,
		    struct unc_error *err)
{
	bool cpus[UNC_MAX_CPUS] = {false};
	char mask[4096];
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
	if (!unc_cpu_list(mask, cpus) || set->cpu >= UNC_MAX_CPUS || !cpus[set->cpu])
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "cpu %u is not in its cpumask, %.40s",
				set->cpu, mask);
	return 0;
}

/* Checks a set anew at each request, since the policy and the kernel may have changed. */
static int may_open(struct broker *b, uid_t uid, const struct unc_wire_set *set, uint32_t *pmu,
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

/* ---- grants and their leases */

/* Stops the events, and closes the broker's descriptors; clients keep theirs, stopped. */
static void retire(struct broker *b, struct grant *g)
{
	if (g->retired)
		return;
	ioctl(g->fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	unc_events_close(&b->machine, g->fd, g->set.n);
	b->kept -= g->set.n;
	g->retired = true;
}

static void drop_lease(struct broker *b, struct lease *lease)
{
	struct grant *g = &b->grant[lease->grant];
	struct user *u = grants_user(b, g->uid);

	*lease = b->lease[--b->n_leases];
	u->leases--;
	if (--g->leases)
		return;
	retire(b, g);
	u->descriptors -= g->set.n;
	u->grants--;
	g->used = false;
	while (b->n_grants > 0 && !b->grant[b->n_grants - 1].used)
		b->n_grants--;
}

void grants_end(struct broker *b, unsigned connection)
{
	for (size_t i = b->n_leases; i-- > 0;)
		if (b->lease[i].connection == connection)
			drop_lease(b, &b->lease[i]);
}

static bool same_set(const struct unc_wire_set *a, const struct unc_wire_set *b)
{
	return a->cpu == b->cpu && a->n == b->n && strcmp(a->pmu, b->pmu) == 0 &&
	       memcmp(a->event, b->event, a->n * sizeof(a->event[0])) == 0;
}

/* The lease of a connection for a set; retired: of a retired grant only, else of others only. */
static struct lease *find_lease(struct broker *b, unsigned connection,
				const struct unc_wire_set *set, bool retired)
{
	for (struct lease *l = b->lease; l < b->lease + b->n_leases; l++) {
		const struct grant *g = &b->grant[l->grant];

		if (l->connection == connection && retired == g->retired && same_set(&g->set, set))
			return l;
	}
	return NULL;
}

/* The user's grant for the same set, or a free one. MAX_GRANTS: none is free. */
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

/* The number of turns in which a user's sets time-share a unit, this set included (first fit). */
static unsigned count_turns(const struct broker *b, uid_t uid, const struct unc_wire_set *set,
			    const struct unc_tbl_type *type)
{
	unsigned used[MAX_GRANTS / SHARE] = {set->n}, turns = 1;
	const unsigned counters = type->n_counters + type->counters.n;

	for (size_t i = 0; i < b->n_grants && type->n_counters; i++) {
		const struct grant *g = &b->grant[i];
		unsigned at = 0;

		if (!g->used || g->retired || g->uid != uid || g->set.cpu != set->cpu ||
		    strcmp(g->set.pmu, set->pmu) != 0)
			continue;
		while (at < turns && used[at] + g->set.n > counters)
			at++;
		turns += at == turns;
		used[at] += g->set.n;
	}
	return turns;
}

static int check_limits(struct broker *b, const struct connection *c, const struct user *u,
			const struct unc_wire_set *set, uint16_t type, struct unc_error *err)
{
	if (u->descriptors + set->n > b->policy.descriptors)
		return unc_fail(err, UNC_ERR_BUSY,
				"%u more descriptors exceed the %u that a user may have here; %u "
				"are in use",
				set->n, b->policy.descriptors, u->descriptors);
	if (b->kept + set->n > (c->uid ? b->most - b->most / ROOTS : b->most))
		return unc_fail(err, UNC_ERR_BUSY, "the broker has no descriptors left");
	if (!may_have(c->uid, u->grants, b->n_grants, MAX_GRANTS))
		return unc_fail(err, UNC_ERR_BUSY,
				"you have %u sets of events, all users %zu: the broker has no room "
				"for more",
				u->grants, b->n_grants);
	if (c->uid && count_turns(b, c->uid, set, &b->table.type[type]) > b->policy.sets)
		return unc_fail(
			err, UNC_ERR_BUSY,
			"cpu %u: you have other sets of events open there that do not count "
			"together with these; a user may have %u such sets, which are time-shared",
			set->cpu, b->policy.sets);
	return 0;
}

static int new_grant(struct broker *b, struct grant *g, const struct connection *c,
		     const struct unc_wire_set *set, uint32_t pmu, uint16_t type,
		     struct unc_error *err)
{
	const struct unc_kernel_place place = {.type = pmu, .cpu = set->cpu};
	struct user *u = grants_user(b, c->uid);
	int rc = check_limits(b, c, u, set, type, err);
	size_t refused;

	if (rc < 0)
		return rc;
	u->tokens -= set->n; /* whatever comes of it */
	*g = (struct grant){.uid = c->uid, .pid = c->pid, .opened = b->clock, .set = *set};
	rc = unc_events_open(&b->machine, &place, set->event, set->n, false, g->fd, &refused);
	if (rc)
		return fail_open(b, set, type, refused, rc, err);
	g->used = true;
	b->n_grants += (size_t)(g - b->grant) == b->n_grants;
	u->descriptors += set->n;
	u->grants++;
	b->kept += set->n;
	audit_given(b, g);
	return 0;
}

/* The set is allowed; pmu, type: as it was found. */
static int open_set(struct broker *b, unsigned connection, const struct unc_wire_set *set,
		    uint32_t pmu, uint16_t type, int *fd, size_t *n, struct unc_error *err)
{
	const struct connection *c = &b->connection[connection];
	struct user *u = grants_user(b, c->uid);
	size_t at = find_grant(b, c->uid, set);
	struct lease *lease = find_lease(b, connection, set, false);
	unsigned times = 0;
	int rc;

	if (lease && set->dead) { /* nobody gets it any more; who has it keeps it */
		times = lease->times - 1;
		retire(b, &b->grant[at]);
		drop_lease(b, lease);
		lease = NULL;
		at = find_grant(b, c->uid, set);
	}
	if (at == MAX_GRANTS || (!lease && !may_have(c->uid, u->leases, b->n_leases, MAX_LEASES)))
		return unc_fail(err, UNC_ERR_BUSY,
				"you have %u shares of sets of events, all users %zu: the broker "
				"has no room for more",
				u->leases, b->n_leases);
	struct grant *g = &b->grant[at];

	if (!g->used && (rc = new_grant(b, g, c, set, pmu, type, err)) < 0)
		return rc;
	if (!lease) {
		lease = &b->lease[b->n_leases++];
		*lease = (struct lease){(uint16_t)connection, (uint16_t)at, times};
		g->leases++;
		u->leases++;
	}
	lease->times++;
	memcpy(fd + *n, g->fd, set->n * sizeof(*fd));
	*n += set->n;
	return 0;
}

int grants_close(struct broker *b, unsigned connection, const struct unc_wire_request *r,
		 uint32_t n, struct unc_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct lease *lease = find_lease(b, connection, &r->set[i], true);

		lease = lease ? lease : find_lease(b, connection, &r->set[i], false);
		if (!lease)
			rc = unc_fail(err, UNC_ERR_NOT_FOUND, "%s: you have no such events",
				      r->set[i].pmu);
		else if (--lease->times == 0)
			drop_lease(b, lease);
	}
	return rc;
}

int grants_open(struct broker *b, unsigned connection, const struct unc_wire_request *r, int *fd,
		size_t *n, struct unc_error *err)
{
	const uid_t uid = b->connection[connection].uid;
	uint16_t type[UNC_WIRE_SETS] = {0};
	uint32_t pmu[UNC_WIRE_SETS], allowed = 0, opened = 0;
	int rc = 0;

	*n = 0;
	while (allowed < r->head.n && /* all of it, before any is opened */
	       (rc = may_open(b, uid, &r->set[allowed], &pmu[allowed], &type[allowed], err)) == 0)
		allowed++;
	while (rc == 0 && opened < r->head.n &&
	       (rc = open_set(b, connection, &r->set[opened], pmu[opened], type[opened], fd, n,
			      err)) == 0)
		opened++;
	if (rc < 0) {
		unc_error_prefix(err, "%s", r->set[allowed < r->head.n ? allowed : opened].pmu);
		(void)grants_close(b, connection, r, opened, NULL);
	}
	return rc;
}
