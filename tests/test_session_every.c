/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events and umasks start, count and stop on the simulated machines; every metric of every CPU does.
 * Each name of each CPU is encoded and added to a session. Those start that make the code do
 * something new: the first of a kind of unit (kinds.h) with these counters, filters, lane or fixed
 * counter, and of each type of each CPU the first that counts. With ALL=1 every name starts; then some
 * share a folder of tables: once a name of an event has counted, its other umasks are left out where a
 * CPU before has counted them with the same values in its registers.
 */
#include "kinds.h"
#include "session_kit.h"
#include "base/text.h"

/* Words behind `key` in the sentence of the last error, up to a blank or comma; false if it is not. */
static bool says(const char *sentence, const char *key, char *word, size_t size)
{
	const char *at = strstr(sentence, key);

	if (at)
		snprintf(word, size, "%.*s", (int)strcspn(at + strlen(key), " ,:"),
			 at + strlen(key));
	return at != NULL;
}

/* Adds the fields that the event cannot do without, with value 1 or the least. */
static int complete(struct unc_platform *p, char *spec, size_t size)
{
	struct unc_encoding e = {.size = sizeof(e)};
	int rc;

	for (unsigned tries = 0; (rc = unc_event_encode(p, spec, &e)) < 0; tries++) {
		const char *sentence = unc_platform_error(p);
		char word[64];
		size_t n = strlen(spec);

		if (tries == UNC_SPEC_FIELDS)
			return rc;
		if (says(sentence, "the least is ", word, sizeof(word)))
			snprintf(strrchr(spec, '=') + 1, size - n, "%s", word);
		else if (says(sentence, "needs a value of field ", word, sizeof(word)) ||
			 says(sentence, ": give ", word, sizeof(word)))
			/* Low address bits are not compared, and must be 0. */
			snprintf(spec + n, size - n, ":%s=%s", word,
				 strcmp(word, "addr") == 0 ? "0x1000" : "1");
		else
			return rc;
	}
	return rc;
}

/* Adds an event, and before it one that it needs beside it. */
static int add_with_lead(struct unc_platform *p, struct unc_session *s, const char *spec, int *id)
{
	char lead[UNC_SPEC_MAX], name[64];
	const struct unc_umask *u;
	int rc = unc_session_add(s, spec, id);

	if (rc != UNC_ERR_CONFLICT ||
	    !says(unc_session_error(s), "needs one of ", name, sizeof(name)))
		return rc;
	snprintf(lead, sizeof(lead), "%.*s.%s", (int)strcspn(spec, ".") % 32, spec, name);
	for (size_t i = 0; unc_event_get(p, i); i++)
		if (strcmp(unc_event_get(p, i)->spec, lead) == 0 && (u = unc_umask_get(p, i, 0))) {
			size_t n = strlen(lead);

			snprintf(lead + n, sizeof(lead) - n, ":%s", u->name);
			break;
		}
	rc = unc_session_add(s, lead, id);
	return rc < 0 ? rc : unc_session_add(s, spec, id);
}

/* One event by itself, for a second. Returns whether it counted. */
static bool counts(struct unc_platform *p, const char *spec)
{
	struct unc_session *s = session(p, 0);
	struct unc_value v[2] = {0};
	int id = 0;

	if (add_with_lead(p, s, spec, &id) < 0 || unc_session_start(s) < 0) {
		printf("# %s: %s%s\n", spec, unc_platform_error(p), unc_session_error(s));
		CU_FAIL("an event that does not start");
	} else {
		step(p, 1000 * ms);
		CU_ASSERT(unc_session_read(s, v, 2, sizeof(*v)) == 0);
		CU_ASSERT(v[id].flags & UNC_VALUE_VALID);
		CU_ASSERT(unc_session_stop(s) == 0);
	}
	unc_session_free(s);
	return v[id].count > 0;
}

/* Whether an event can be counted, as far as the scheduler knows. */
static bool can_be_added(struct unc_platform *p, const char *spec)
{
	struct unc_session *s = session(p, 0);
	int id, rc = add_with_lead(p, s, spec, &id);

	if (rc < 0)
		printf("# %s: %s\n", spec, unc_session_error(s));
	unc_session_free(s);
	return rc == 0;
}

/* The folder of a CPU's tables, as cpus.tbl tells; without that file each has its own. */
static void folder_of(const char *cpu, char *folder, size_t size)
{
	const char *source = getenv("SRCDIR");
	char line[512], name[64];
	FILE *file;

	snprintf(line, sizeof(line), "%s/eventtables/cpus.tbl", source ? source : ".");
	file = fopen(line, "r");
	snprintf(folder, size, "%s", cpu);
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu %63s", name) == 1 && strcmp(name, cpu) == 0) {
			line[strcspn(line, "\n")] = 0;
			says(line, " folder=", folder, size);
		}
	if (file)
		fclose(file);
}

/* What a CPU of this folder counts with these values in its registers. */
static uint64_t registers_of(const char *folder, const struct unc_encoding *e)
{
	uint64_t hash = kinds_mixed(KINDS_HASH, folder, strlen(folder));

	hash = kinds_mixed(hash, e->base, strlen(e->base));
	hash = kinds_mixed(hash, &e->ctl, sizeof(e->ctl));
	hash = kinds_mixed(hash, &e->counters, sizeof(e->counters));
	for (size_t i = 0; i < e->n_filters; i++)
		hash = kinds_mixed(hash, &e->filters[i].value, sizeof(e->filters[i].value));
	return hash;
}

/* Whether no name before, complete, was like this one. */
static bool is_new(struct unc_platform *p, const char *folder, const char *spec)
{
	static uint64_t seen[1 << 16]; /* by their hashes, each at its place or behind it */
	enum { PLACES = sizeof(seen) / sizeof(seen[0]) };
	struct unc_encoding e = {.size = sizeof(e)};
	uint64_t hash;
	size_t at;

	if (unc_event_encode(p, spec, &e) < 0)
		return true;
	hash = kinds_all() ? registers_of(folder, &e) : kinds_shape(p->table, &e);
	for (at = hash % PLACES; seen[at] && seen[at] != hash;)
		at = (at + 1) % PLACES;
	bool before = seen[at] == hash;
	seen[at] = hash;
	return !before;
}

static bool has_units(const struct unc_platform *p, const char *type)
{
	for (size_t i = 0; unc_type_get(p, i); i++)
		if (strcmp(unc_type_get(p, i)->name, type) == 0)
			return unc_type_get(p, i)->units > 0;
	return false;
}

struct tally {
	unsigned counted, silent, before;
	bool one; /* name has counted, of the type, or with ALL=1 of the event */
	char folder[64];
};

static void one_name(struct unc_platform *p, const char *base, const char *umask, struct tally *t)
{
	char spec[UNC_SPEC_MAX];

	snprintf(spec, sizeof(spec), "%s%s%s", base, umask ? ":" : "", umask ? umask : "");
	(void)complete(p, spec, sizeof(spec)); /* or it does not start, and says why */
	if (!is_new(p, t->folder, spec) && t->one) {
		t->before++;
		CU_ASSERT(kinds_all() || can_be_added(p, spec));
	} else if (counts(p, spec)) {
		t->counted++;
		t->one = true;
	} else {
		printf("# %s counts nothing\n", spec);
		t->silent++;
	}
}

static void every_event(const char *cpu, const char *sim)
{
	struct unc_platform *p = machine(sim);
	struct tally t = {0};
	const struct unc_event *e;
	const char *type = "";
	unsigned events = 0, types = 0;

	folder_of(cpu, t.folder, sizeof(t.folder));
	for (size_t i = 0; (e = unc_event_get(p, i)) != NULL; i++) {
		const struct unc_umask *u;

		if (!has_units(p, e->type))
			continue;
		events++;
		if (kinds_all() || strcmp(type, e->type) != 0)
			t.one = false;
		types += strcmp(type, e->type) != 0;
		type = e->type;
		if (!e->needs_umask)
			one_name(p, e->spec, NULL, &t);
		for (size_t k = 0; (u = unc_umask_get(p, i, k)); k++)
			if (u->standalone && !u->reason[0])
				one_name(p, e->spec, u->name, &t);
	}
	printf("# %s: %u names count, %u do not, %u are like others\n", sim, t.counted, t.silent,
	       t.before);
	/* A healthy machine has no errors, no throttling, no empty ranks: the workload says 0 there. Of
	 * kinds, names are tried until one counts. */
	CU_ASSERT(events > 0 && t.counted >= (kinds_all() ? events : types));
	CU_ASSERT(t.silent * (kinds_all() ? 3 : 1) < t.counted);
	check_quiet(p);
	unc_platform_close(p);
}

static void every_metric(const char *sim)
{
	struct unc_platform *p = machine(sim);
	const struct unc_metric *m;
	unsigned valid = 0, none = 0;
	size_t n = 0;

	for (; (m = unc_metric_get(p, n)) != NULL; n++) {
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);
		struct unc_value v = {0};

		if (m->available) {
			add(s, m->name);
			CHECK_NUMBER(unc_session_passes(s), m->passes);
			start(s);
			for (int pass = 0; pass < m->passes; pass++) {
				step(p, ms);
				CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
				CU_ASSERT(turn_pass(s) == 0);
			}
			CU_ASSERT(unc_session_stop(s) == 0);
			if (!(v.flags & UNC_VALUE_VALID))
				printf("# %s has no value\n", m->name);
			valid += (v.flags & UNC_VALUE_VALID) != 0;
			none += !(v.flags & UNC_VALUE_VALID);
		} else {
			CU_ASSERT(strlen(m->reason) > 5);
		}
		unc_session_free(s);
	}
	printf("# %s: %u metrics have a value, %u have none\n", sim, valid, none);
	CU_ASSERT(n > 0 && valid * 2 >= n);
	CU_ASSERT(none * 20 < valid);
	check_quiet(p);
	unc_platform_close(p);
}

/* COUNTER0_OCCUPANCY shows the occupancy in counter 0 of its unit: exactly one must be in the set. */
static void exactly_one_lead(void)
{
	static const struct {
		const char *event[3];
		const char *sentence; /* of the last one; NULL: all fit */
	} rows[] = {
		{{"cbo.COUNTER0_OCCUPANCY:thresh=1"},
		 "cbo.COUNTER0_OCCUPANCY:thresh=1 needs one of RxR_OCCUPANCY, TOR_OCCUPANCY on "
		 "counter 0 of cbo, added before it: it shows what that one counts"},
		{{"cbo.CLOCKTICKS", "cbo.COUNTER0_OCCUPANCY:thresh=1"},
		 "cbo.COUNTER0_OCCUPANCY:thresh=1 needs one of RxR_OCCUPANCY, TOR_OCCUPANCY on "
		 "counter 0 of cbo, added before it: it shows what that one counts"},
		{{"cbo.TOR_OCCUPANCY", "cbo.COUNTER0_OCCUPANCY:thresh=1"}, NULL},
		{{"cbo0.TOR_OCCUPANCY", "cbo0.COUNTER0_OCCUPANCY:thresh=1"}, NULL},
		/* one of the units has none */
		{{"cbo0.TOR_OCCUPANCY", "cbo.COUNTER0_OCCUPANCY:thresh=1"},
		 "cbo.COUNTER0_OCCUPANCY:thresh=1 needs one of RxR_OCCUPANCY, TOR_OCCUPANCY on "
		 "counter 0 of cbo, added before it: it shows what that one counts"},
		{{"cbo.TOR_OCCUPANCY", "cbo.RxR_OCCUPANCY:IRQ", "cbo.COUNTER0_OCCUPANCY:thresh=1"},
		 "cbo.COUNTER0_OCCUPANCY:thresh=1 would show what cbo.TOR_OCCUPANCY counts, or "
		 "cbo.RxR_OCCUPANCY:IRQ: it needs exactly one of them in the set"},
		{{"cbo.TOR_OCCUPANCY", "cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo.RxR_OCCUPANCY:IRQ"},
		 "cbo.COUNTER0_OCCUPANCY:thresh=1 would show what cbo.TOR_OCCUPANCY counts, or "
		 "cbo.RxR_OCCUPANCY:IRQ: it needs exactly one of them in the set"},
		/* on different units */
		{{"cbo0.TOR_OCCUPANCY", "cbo1.RxR_OCCUPANCY:IRQ",
		  "cbo0.COUNTER0_OCCUPANCY:thresh=1"},
		 NULL},
		/* the same one twice */
		{{"cbo.TOR_OCCUPANCY", "cbo.TOR_OCCUPANCY", "cbo.COUNTER0_OCCUPANCY:thresh=1"},
		 NULL},
		/* two thresholds on one occupancy */
		{{"cbo.TOR_OCCUPANCY", "cbo.COUNTER0_OCCUPANCY:thresh=1",
		  "cbo.COUNTER0_OCCUPANCY:thresh=8"},
		 NULL},
	};
	struct unc_platform *p = machine("sandybridge-ep,sockets=1,clock=step");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);
		int id, rc = 0;

		for (size_t k = 0; k < 3 && rows[i].event[k]; k++) {
			bool last = k == 2 || !rows[i].event[k + 1];

			rc = unc_session_add(s, rows[i].event[k], &id);
			CHECK_NUMBER(rc, last && rows[i].sentence ? UNC_ERR_CONFLICT : 0);
		}
		CHECK_TEXT(rc < 0 ? unc_session_error(s) : "",
			   rows[i].sentence ? rows[i].sentence : "");
		unc_session_free(s);
	}
	unc_platform_close(p);
}

static void events_of(const void *user)
{
	char sim[64];

	snprintf(sim, sizeof(sim), "%s,clock=step,cxl=on", (const char *)user);
	every_event(user, sim);
}

static void metrics_of(const void *user)
{
	char sim[64];

	snprintf(sim, sizeof(sim), "%s,clock=step", (const char *)user);
	every_metric(sim);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"an event that shows what another counts", exactly_one_lead},
		{NULL, NULL},
	};
	const char *cpu;

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++) {
		suite_add(events_of, cpu, "events of %s", cpu);
		suite_add(metrics_of, cpu, "metrics of %s", cpu);
	}
	return suite_run("every event", tests);
}
