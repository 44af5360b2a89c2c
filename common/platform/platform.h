/* SPDX-License-Identifier: BSD-3-Clause */
/* The open machine, as sessions and the enumeration see it. */
#ifndef UNC_PLATFORM_H
#define UNC_PLATFORM_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "access/access.h"
#include "access/kernel.h"
#include "encode/kernel.h"
#include "host/cpu.h"
#include "host/fs.h"
#include "host/machine.h"
#include "machine/discover.h"
#include "machine/named.h"
#include "platform/pci_names.h"
#include "tables/table.h"

struct unc_journal; /* journal/journal.h */
struct unc_nodes;   /* numa.c */

/* The kernel's own driver for a unit. */
struct unc_kernel_unit {
	struct unc_kernel_place place[UNC_KERNEL_PMUS];
	uint8_t pmus;    /* bits: the PMUs of the unit that we may use */
	bool moves;      /* its driver opens events only on CPUs of the present mask */
	bool before;     /* the driver is preferred to the unit's registers */
	char *registers; /* why the registers cannot be used; of a unit that is not direct */
};

/* The sections of the site's file (site.c); names point into its text. */
struct unc_site_group {
	const char *name, *title;
	char (*item)[UNC_SPEC_MAX];
	size_t n_items;
	char why[UNC_ERROR_MAX]; /* "", or what is wrong: then the group has no items */
};

struct unc_site_units {
	const char *unit;         /* a type, or "upi2" */
	int socket;               /* -1: each */
	struct unc_tbl_nodes map; /* the node of each unit; no clusters: the units do not exist */
};

struct unc_site {
	char *text;
	struct unc_site_group *group;
	struct unc_site_units *units;
	size_t n_groups, n_units;
	struct unc_site_peaks {
		double of[UNC_MAX_SOCKETS], each; /* bytes per second; 0: not in the file */
		struct unc_error why;             /* one is wrong: none is used */
	} peaks;
	struct unc_wrong {              /* what was ignored */
		struct unc_error first; /* file:line: sentence */
		unsigned n;
	} wrong;
};

struct unc_platform {
	const struct unc_table *table; /* `own`, or that of the simulated machine */
	struct unc_table own;
	struct unc_named named; /* of PMUs whose names only the kernel knows */
	struct unc_site site;
	struct unc_pci_names pci_names; /* protected by lock */
	struct unc_memory_peaks {
		double of[UNC_MAX_SOCKETS]; /* bytes per second; 0: not known */
		struct unc_error why;       /* why it is not known */
	} peaks;
	bool raised; /* the process has more rights than its user (trust.h) */
	struct unc_fs *fs;
	struct unc_machine *machine;
	struct unc_access *access; /* NULL: opened for listing only */
	struct unc_topology topology;
	struct unc_instances instances;
	struct unc_kernel_unit *kernel; /* of each instance; NULL: the method was not chosen */
	unc_log_fn log;
	void *log_user;
	uint64_t opened_ns, opened_tsc;
	volatile uint64_t
		*here; /* a page that is empty in a forked process; NULL: the kernel cannot */
	pid_t pid;     /* of the process that opened it */
	pthread_mutex_t lock; /* protects error and the lazy part of metrics */
	struct unc_error error;
	pthread_mutex_t
		program;  /* held from the look at controls until they are set; protects journal */
	struct unc_runs { /* of sessions; equal wants share a run (units/set.h) */
		pthread_mutex_t lock;
		struct unc_run *first;
	} runs;
	struct unc_watch { /* the thread that does what is due for runs (units/watch.c) */
		pthread_mutex_t lock;
		pthread_cond_t wake;   /* waits by CLOCK_MONOTONIC */
		struct unc_run *first; /* of the runs that it watches */
		pthread_t thread;
		bool runs; /* false: no run needs it */
	} watch;
	struct unc_journal *journal;
	void *codes; /* tree of struct unc_coded; protected by lock */
	/* descriptors (describe.c) */
	struct unc_cpu cpu;
	struct unc_type *type;
	struct unc_unit *unit;
	_Atomic(struct unc_event *) *event; /* each NULL until its first use */
	struct unc_metric_row *metric;
	struct unc_group_row **group; /* each NULL until its first use; protected by lock */
	struct unc_nodes *nodes;      /* NULL until its first use; protected by lock */
	struct unc_umask *umask;      /* NULL until they are listed; protected by lock */
	struct unc_field *field;      /* the same; two for each: not needed, needed */
	char *devices; /* below PCIe stacks (session/qualifiers.c); NULL until its first use; by lock */
};

/* unc_platform_open() for a process with or without raised rights. */
int unc_platform_open_as(const struct unc_options *, bool raised, struct unc_platform **out);
/* The same with a root that is already open; NULL: none. */
int unc_platform_open_under(struct unc_fs *, const struct unc_options *, bool raised,
			    struct unc_platform **out);
/* The simulated machine of the options, the environment, or a dump of one. NULL: none. */
const char *unc_platform_sim(const struct unc_options *, bool raised, const struct unc_fs *);

/* The compiled-in tables, n in *n. The caller calls free() on the array. NULL: no memory. */
const struct unc_table **unc_tables(size_t *n);
#define UNC_EXAMPLE_CPU                                                                            \
	"emerald-rapids" /* in sentences; without its tables the last CPU that has them */

/* "sandybridge-ep, emerald-rapids": the tables that are compiled in. */
void unc_cpu_names(char *buf, size_t size);

/* The root of the options or the environment; with raised rights it must belong to root. */
int unc_platform_root(const struct unc_options *, bool raised, struct unc_fs **out,
		      struct unc_error *err);

/* spelling.c. Parses a name, as we or other tools spell it; event: no metric. Errors: those of unc_name_parse(). */
struct unc_name;
int unc_platform_parse(const struct unc_platform *, const char *text, bool event, struct unc_name *,
		       struct unc_error *err);
/* methods.c. Finds the units that the kernel's driver serves, after the probe of their registers. */
int unc_platform_kernel(struct unc_platform *, struct unc_error *err);
/* The kernel's PMU of a unit, by its name, or the name from a driver that does not know its type; errors: those of
 * unc_kernel_find(), or UNC_ERR_NOT_FOUND without a sentence: the unit has no such PMU. */
int unc_platform_pmu(const struct unc_platform *, const struct unc_instance *, unsigned pmu,
		     struct unc_kernel_place *, struct unc_error *err);
/* The method that serves a unit, as far as no event decides; "": none. */
const char *unc_platform_served(const struct unc_platform *, size_t instance);
/* The methods by which a unit can count a code: bits. kernel: the code for the driver, kept by the caller from one
 * unit to the next; zeros at first, NULL: not kept. err: why other methods cannot, code 0 if all can. */
struct unc_spec;
enum { UNC_BY_REGISTERS = 1, UNC_BY_KERNEL = 2 };
unsigned unc_platform_methods(const struct unc_platform *, size_t instance, const struct unc_code *,
			      struct unc_kernel_code *kernel, struct unc_error *err);

/* An event, encoded for units of a socket: once for all sessions of a platform, which owns it until it is closed. */
struct unc_coded {
	struct unc_code code;
	struct unc_kernel_code kernel; /* if `known`: the code for the kernel's driver */
	int socket;                    /* its socket; -1: any */
	char name[];                   /* canonical text */
};
/* Errors: those of unc_spec_encode(); UNC_ERR_INVALID its text is too long. NULL: see err. */
const struct unc_coded *unc_platform_code(struct unc_platform *, const struct unc_spec *,
					  int socket, struct unc_error *err);

/* Whether the kernel may count on a unit, now. */
bool unc_platform_has_driver(const struct unc_platform *, const struct unc_instance *);
/* Whether other programs may count by the kernel's driver on the machine. The driver ignores controls of others, and
 * does not check its own: a control of ours that it uses for the same event looks like ours. So nothing is restored
 * on its units, and the entries stay, orphaned, for a later start. */
bool unc_platform_kernel_counts(const struct unc_platform *);

/* Whether the machine has no unit of a type; unc_lacks_fn. Units that may exist are in the list. */
bool unc_platform_lacks(const void *platform, unsigned type);

/* Makes and frees the descriptors. */
int unc_describe(struct unc_platform *, struct unc_error *);
void unc_describe_free(struct unc_platform *);
/* A field, described for events that need it or do not; NULL: no memory. */
const struct unc_field *unc_describe_field(const struct unc_platform *, uint16_t field,
					   bool needed);

/* find.c: describes what a text names. */
struct unc_name;
struct unc_spec;
int unc_describe_item(struct unc_platform *, const struct unc_name *, const char *text,
		      struct unc_item *out, struct unc_error *);
/* The unit type of all its events; UNC_NONE: there are several. */
uint16_t unc_describe_type(const struct unc_platform *, const struct unc_name *);
/* Whether this machine has a unit that can count the code; else UNC_ERR_UNAVAILABLE. */
int unc_describe_counts(const struct unc_platform *, const struct unc_code *, struct unc_error *);
/* place.c: finds the node or device of a name on the machine, if it has one: name->at. A device gets its address as
 * its name. Errors: as unc_numa_socket(); UNC_ERR_NOT_FOUND, UNC_ERR_UNAVAILABLE, UNC_ERR_INVALID. */
int unc_place_find(struct unc_platform *, struct unc_name *, const char *text, struct unc_error *);
/* Limits an event to the place of a name. Errors: as unc_spec_set_ports(). */
int unc_place_put(const struct unc_platform *, const struct unc_name *, struct unc_spec *,
		  struct unc_error *);
/* groups.c */
int unc_describe_groups(struct unc_platform *, struct unc_error *);
void unc_describe_groups_free(struct unc_platform *);
/* The name of a group; NULL: past the end. */
const char *unc_describe_group(const struct unc_platform *, size_t index);

/* site.c: reads the site's file. A mistake is noted and its section ignored, all peaks after one; if the file cannot
 * be read or trusted, all of it is. `other`: the machine is not one of the site's. */
int unc_site_read(struct unc_platform *, bool other, struct unc_error *err);
void unc_site_free(struct unc_site *);

/* peak.c: finds the memory bandwidth of the sockets, once the units are known; and as unc_memory_peak(). */
void unc_peaks_find(struct unc_platform *);
int unc_peak_of(const struct unc_platform *, int socket, double *bytes_per_second,
		struct unc_error *err);

/* numa.c: the socket of a NUMA node. UNC_ERR_RANGE: the machine has no such node;
 * UNC_ERR_UNAVAILABLE: its socket, or its part of the socket, is unknown, and why. */
int unc_numa_socket(const struct unc_platform *, int node, struct unc_error *err);
/* Whether a socket has several nodes. */
bool unc_numa_clustered(const struct unc_platform *);
/* The node of a unit. UNC_ERR_UNAVAILABLE: it is unknown, or the unit belongs to its whole socket. */
int unc_numa_owner(const struct unc_platform *, size_t instance, struct unc_error *why);

/* Stores a sentence for unc_open_error(); returns err->code. */
int unc_open_fail(const struct unc_error *);

/* Time in ns and TSC ticks of the machine (the simulated one has its own). */
void unc_platform_now(const struct unc_platform *, uint64_t *ns, uint64_t *tsc);
/* Waits that time; false: waiting does not make it pass. */
bool unc_platform_pause(const struct unc_platform *, uint64_t ns);
/* Whether this process opened the platform; a forked one did not. */
static inline bool unc_platform_here(const struct unc_platform *p)
{
	return p->here ? *p->here != 0 : p->pid == getpid();
}
/* describe.c. Field `index` that event `event` takes; NULL past the end, or without memory for the first one. */
const struct unc_field *unc_field_get(const struct unc_platform *, size_t event, size_t index);
/* Frequency of the TSC as observed since the platform was opened; the machine's own if
 * simulated. */
double unc_platform_tsc_hz(const struct unc_platform *);
void unc_platform_log(const struct unc_platform *, enum unc_log_level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Stores a sentence for unc_platform_error(); returns its code. */
int unc_platform_keep(struct unc_platform *, const struct unc_error *);
int unc_platform_fail(struct unc_platform *, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Number of sockets to encode for: those of the machine, 2 when only listing. */
static inline int unc_platform_nodes(const struct unc_platform *p)
{
	return p->access ? p->topology.n_sockets : 2;
}

#endif
