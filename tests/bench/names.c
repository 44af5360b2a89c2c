/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it takes to encode a name, beside libpfm4, which is loaded if it is there: all events with each
 * of their umasks, as far as they can be encoded without more. What libpfm4 has no tables of is
 * compared with its newest ones.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

enum { MOST_NAMES = 20000, LONGEST = 256 };

struct names {
	struct unc_platform *p;
	char (*text)[LONGEST];
	unsigned n;
};

/* ---- ours */

/* NULL past the end. */
static const char *umask_at(struct unc_platform *p, size_t event, size_t i)
{
#ifdef UNC_API_VERSION
	const struct unc_umask *umask = unc_umask_get(p, event, i);

	return umask ? umask->name : NULL;
#else
	static struct unc_umask umask;

	return unc_umask_get(p, event, i, &umask) == 0 ? umask.name : NULL;
#endif
}

static void keep(struct names *names, const char *event, const char *umask)
{
	struct unc_encoding e = {.size = sizeof(e)};

	if (names->n == MOST_NAMES)
		die("names", "more than expected");
	snprintf(names->text[names->n], LONGEST, "%s%s%s", event, umask ? ":" : "",
		 umask ? umask : "");
	names->n += unc_event_encode(names->p, names->text[names->n], &e) == 0;
}

static void encode_all(void *user)
{
	struct names *names = user;
	struct unc_encoding e = {.size = sizeof(e)};

	for (unsigned i = 0; i < names->n; i++)
		if (unc_event_encode(names->p, names->text[i], &e) < 0)
			die(names->text[i], unc_platform_error(names->p));
}

/* ns of a name; 0: this version has no such CPU. */
static double encode(struct names *names, const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .sim = "", .cpu = cpu};
	const struct unc_event *event;
	const char *umask;

	names->n = 0;
	if (unc_platform_open(&options, &names->p) < 0)
		return 0;
	for (size_t i = 0; (event = unc_event_get(names->p, i)); i++) {
		keep(names, event->spec, NULL);
		for (size_t k = 0; (umask = umask_at(names->p, i, k)); k++)
			keep(names, event->spec, umask);
	}
	double ns = time_of(encode_all, names) / names->n;

	unc_platform_close(names->p);
	return ns;
}

/* ---- libpfm4: what is needed of perfmon/pfmlib.h, which need not be installed */

struct pmu_info {
	const char *name, *desc;
	size_t size;
	int pmu, type, events, first, most, counters, fixed;
	unsigned flags;
};
struct event_info {
	const char *name, *desc, *equal;
	size_t size;
	uint64_t code;
	int pmu, data, index, attributes, reserved;
	unsigned flags;
};
struct attribute_info {
	const char *name, *desc, *equal;
	size_t size;
	uint64_t code;
	int type, index, control;
	unsigned flags;
	uint64_t standard;
};
enum { PMUS = 1024, UMASK = 1, USER = 8 };

static struct {
	int (*initialize)(void);
	int (*get_pmu_info)(int, struct pmu_info *);
	int (*get_event_next)(int);
	int (*get_event_info)(int, int, struct event_info *);
	int (*get_event_attr_info)(int, int, int, struct attribute_info *);
	int (*get_event_encoding)(const char *, int, char **, int *, uint64_t **, int *);
} pfm;

static bool load(void)
{
	static const struct {
		const char *name;
		void *at;
	} functions[] = {{"pfm_initialize", &pfm.initialize},
			 {"pfm_get_pmu_info", &pfm.get_pmu_info},
			 {"pfm_get_event_next", &pfm.get_event_next},
			 {"pfm_get_event_info", &pfm.get_event_info},
			 {"pfm_get_event_attr_info", &pfm.get_event_attr_info},
			 {"pfm_get_event_encoding", &pfm.get_event_encoding}};
	void *library = dlopen("libpfm.so.4", RTLD_NOW);

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* whatever this computer is */
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!library || !(*(void **)functions[i].at = dlsym(library, functions[i].name)))
			return false;
	return pfm.initialize() == 0;
}

static bool pfm_encodes(const char *name)
{
	uint64_t *codes = NULL;
	int count = 0;
	bool right = pfm.get_event_encoding(name, USER, NULL, NULL, &codes, &count) == 0;

	free(codes);
	return right;
}

static void pfm_keep(struct names *names, const struct pmu_info *pmu, const char *event,
		     const char *umask)
{
	if (names->n == MOST_NAMES)
		die("names", "more than expected");
	snprintf(names->text[names->n], LONGEST, "%s::%s%s%s", pmu->name, event, umask ? ":" : "",
		 umask ? umask : "");
	names->n += pfm_encodes(names->text[names->n]);
}

static void pfm_collect(struct names *names, const struct pmu_info *pmu)
{
	for (int i = pmu->first; i >= 0; i = pfm.get_event_next(i)) {
		struct event_info event = {.size = sizeof(event)};

		if (pfm.get_event_info(i, 0, &event) != 0)
			continue;
		pfm_keep(names, pmu, event.name, NULL);
		for (int k = 0; k < event.attributes; k++) {
			struct attribute_info umask = {.size = sizeof(umask)};

			if (pfm.get_event_attr_info(i, k, 0, &umask) == 0 && umask.type == UMASK)
				pfm_keep(names, pmu, event.name, umask.name);
		}
	}
}

static void pfm_encode_all(void *user)
{
	struct names *names = user;

	for (unsigned i = 0; i < names->n; i++)
		if (!pfm_encodes(names->text[i]))
			die(names->text[i], "not encoded");
}

/* ns of a name of the PMUs that begin so, of each type its first unit. */
static double pfm_encode(struct names *names, const char *prefix)
{
	names->n = 0;
	for (int i = 0; i < PMUS; i++) {
		struct pmu_info pmu = {.size = sizeof(pmu)};
		size_t last;

		if (pfm.get_pmu_info(i, &pmu) != 0 ||
		    strncmp(pmu.name, prefix, strlen(prefix)) != 0)
			continue;
		last = strlen(pmu.name) - 1;
		if (pmu.name[last] == '0' || pmu.name[last] > '9')
			pfm_collect(names, &pmu);
	}
	return names->n ? time_of(pfm_encode_all, names) / names->n : 0;
}

void row_encode(const char *row)
{
	static const struct {
		const char *cpu, *prefix;
	} cpus[] = {{"emerald-rapids", "skx_unc_"}, {"sandybridge-ep", "snbep_unc_"},
		    {"ivybridge-ep", "ivbep_unc_"}, {"montecito", NULL},
		    {"nehalem-ep", NULL},           {"westmere-ep", NULL},
		    {"haswell-ep", NULL},           {"broadwell-ep", NULL},
		    {"broadwell-de", NULL},         {"skylake-sp", NULL},
		    {"cascadelake-sp", NULL},       {"cooperlake-sp", NULL},
		    {"icelake-sp", NULL},           {"icelake-d", NULL},
		    {"snow-ridge", NULL},           {"sapphire-rapids", NULL},
		    {"granite-rapids", NULL},       {"sierra-forest", NULL},
		    {"clearwater-forest", NULL},    {"grand-ridge", NULL}};
	struct names names = {.text = calloc(MOST_NAMES, LONGEST)};
	bool loaded = load();
	char name[64];

	if (!names.text)
		die("names", "out of memory");
	if (!loaded)
		fprintf(stderr,
			"rows: libpfm.so.4 cannot be loaded: nothing to compare names with\n");
	for (unsigned i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		double ours = encode(&names, cpus[i].cpu), theirs = 0;

		if (ours <= 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", row, cpus[i].cpu);
		put(name, "ns", ours);
		put(name, "names", names.n);
		if (loaded && cpus[i].prefix)
			theirs = pfm_encode(&names, cpus[i].prefix);
		if (theirs > 0) {
			put(name, "libpfm4_ns", theirs);
			put(name, "ratio", ours / theirs);
		}
	}
	free(names.text);
}
