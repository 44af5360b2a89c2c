/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore: the performance monitors of an Intel socket outside its cores.
 *
 * Rules that hold for every function here:
 *  - The result is 0 or a negative UNC_ERR_* code. Outputs come last and are untouched on error (a
 *    text buffer is terminated, at least). Where memory runs out it is UNC_ERR_MEMORY, which is
 *    not named below.
 *  - The library never prints, never exits and never changes a signal mask. The sentence that
 *    belongs to an error is kept by the object the call was made on: unc_platform_error(),
 *    unc_session_error().
 *  - Descriptors (struct unc_type, ...) are constant and owned by the platform; they stay valid
 *    until unc_platform_close(). Later versions may add members at their ends: use them behind the
 *    pointer, do not copy them.
 *  - Structs that the caller allocates begin with `size`, which the caller sets to sizeof the
 *    struct it was compiled with; for an array sizeof one element is an argument. The library
 *    serves shorter ones, of a program that was compiled earlier: it fills in what fits, and takes
 *    what is missing for 0. Of longer ones it leaves what it does not know 0, and takes no other
 *    value there: UNC_ERR_INVALID, as for a size that no struct has.
 *  - One platform may serve many sessions; different sessions may be used from different threads,
 *    one session from one thread at a time.
 *  - A platform and its sessions belong to the process that opened it. In a process that was
 *    forked off, what takes a session or a platform that is not const returns UNC_ERR_STATE (which
 *    is not named below) and touches nothing. Descriptors stay as they are: what nobody has asked
 *    for before the fork (umasks, fields, metrics) is NULL. unc_session_free() and
 *    unc_platform_close() only give memory back. The child may open a platform of its own.
 *  - A thread must not be cancelled (pthread_cancel()) inside a call: what it has locked stays so,
 *    and later calls wait forever. Who cancels threads disables that around calls
 *    (pthread_setcancelstate()).
 *  - Pointers may be NULL only where it is said, texts never; unc_platform_close() and
 *    unc_session_free() take NULL.
 */
#ifndef UNCORE_H
#define UNCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UNC_API __attribute__((visibility("default")))
#else
#define UNC_API
#endif

/*
 * Version of this interface: major << 16 | minor. A library serves programs that were compiled
 * with its major and its minor or an earlier one: a minor adds functions, and members at the ends
 * of structs; a major changes or removes something. Programs that do not choose the library they
 * are run with (plugins, or dlopen()) ask UNC_API_SERVES(unc_api_version()) before anything else.
 */
#define UNC_API_VERSION 0x30000u
#define UNC_API_SERVES(library)                                                                    \
	((library) >> 16 == UNC_API_VERSION >> 16 && (library) >= UNC_API_VERSION)

/* UNC_API_VERSION of the library that runs. */
UNC_API unsigned unc_api_version(void);

/* Error codes. unc_error_name() gives the short text. */
enum {
	UNC_OK = 0,
	UNC_ERR_INVALID = -1,     /* malformed input: a spec, an option, an argument */
	UNC_ERR_NOT_FOUND = -2,   /* no such CPU, unit, event, umask, field, metric or register */
	UNC_ERR_RANGE = -3,       /* a value does not fit its field, an index its unit type */
	UNC_ERR_CONFLICT = -4,    /* two events need the same counter or filter */
	UNC_ERR_BUSY = -5,        /* the counter is programmed by somebody else */
	UNC_ERR_PERMISSION = -6,  /* the kernel refuses the access */
	UNC_ERR_UNAVAILABLE = -7, /* this machine or CPU cannot give it; the sentence says why */
	UNC_ERR_IO = -8,          /* an access failed */
	UNC_ERR_TABLE = -9,       /* an event table or a discovery table is broken */
	UNC_ERR_MEMORY = -10,     /* out of memory */
	UNC_ERR_STATE = -11,      /* the session is (or is not) running, or is another process's */
	UNC_ERR_DENIED = -12,     /* refused by ourselves: no monitor's register, or not trusted */
	UNC_ERR_PASSES = -13      /* needs several passes and the session may not rotate */
};

/* Short text of an error code ("unknown error" if it is none); static storage. */
UNC_API const char *unc_error_name(int error);

/* "1.2.3"; static storage. */
UNC_API const char *unc_version(void);

/* ---------------------------------------------------------------- platform */

struct unc_platform;

enum unc_log_level { UNC_LOG_DEBUG, UNC_LOG_INFO, UNC_LOG_WARNING };
typedef void (*unc_log_fn)(void *user, enum unc_log_level level, const char *text);

struct unc_options {
	size_t size; /* sizeof(struct unc_options) */
	/* root of /proc, /sys, /dev, or the file that unc_gather() has made of one; NULL:
	 * $UNCORE_SYSROOT, else "/"; "": "/" */
	const char *sysroot;
	/* simulated machine, "MACHINE[,option=value]..."; NULL: $UNCORE_SIM; "": none */
	const char *sim;
	/* table to use whatever the machine is; NULL: identify; "*": any. Given without `sim`, no
	 * unit can be accessed: for listing, encoding */
	const char *cpu;
	unc_log_fn log; /* may be NULL */
	void *log_user;
	/* access methods in the order in which they are tried, "msr-safe,direct"; NULL:
	 * $UNCORE_ACCESS, else all; "": all. See below. */
	const char *access;
};

/*
 * Access methods: the first one of the list that reaches what is wanted of a unit serves it
 * (unc_unit.access), each unit for itself; all registers of a unit in one space go one way.
 *  kernel    Linux's own driver of the monitors counts: perf_event_open. Where it has the unit,
 *            carries the event whole and lets the caller; of a unit that is served so the events
 *            which it does not carry are left to registers
 *  broker    the same events, opened by the broker of the node (uncored) for who may not open them
 *            himself, as far as its site allows
 *  msr       model-specific registers: /dev/cpu/N/msr; N is the CPU that the caller runs on where
 *            it is of the socket, else the socket's lowest that is neither isolated nor nohz_full
 *            (or that the program is bound to: a socket of only such CPUs is left alone otherwise).
 *            While a session counts there a thread of the library, which takes no signals, is bound
 *            to that CPU and reads for callers of other sockets; where none can be had they
 *            interrupt the CPU themselves, at each register
 *  msr-safe  the same through the module msr-safe, within the allowlist of its administrator:
 *            /dev/cpu/msr_batch
 *  pci       configuration space: /sys/bus/pci
 *  mmio      memory: /dev/mem
 *  pmu       the monitor of an Itanium's hardware thread: no Linux of today has a way to it
 *  perf      counters that the kernel hands out: perf_event_open
 *  direct    stands for msr, pci, mmio, pmu, perf
 * All, in this order, is the default. A simulated machine has one method, "simulated", for which
 * direct stands there.
 */

/*
 * Who may say what is touched:
 *  - Only registers and bits are touched that the compiled table of this CPU has, at the places that
 *    it knows or that can be checked. A CPU without one is read as far as discovery goes, and not
 *    written.
 *  - In a program with raised privileges (set-user-id, set-group-id, file capabilities: AT_SECURE)
 *    all variables are ignored, with a log line each; `sysroot`, with its folders dev, proc and sys,
 *    and the file of the site must belong to root and be writable by nobody else. Folders above them
 *    are not looked at. A program that runs with the rights of its user (sudo, a service with ambient
 *    capabilities) is not such a program. One that is gets no simulated machine where that would have
 *    to be loaded.
 */

/*
 * Opens the machine: identifies the CPU, loads its table, discovers the units.
 * Units that cannot be reached do not make it fail: they are listed with the
 * reason. Nothing is written to the hardware.
 * options: may be NULL (all defaults). *out: free with unc_platform_close().
 * A CPU without a table has the PMUs that its kernel names (docs/kernel-pmus.md), named "kernel-pmus".
 * Errors: UNC_ERR_UNAVAILABLE the CPU has no uncore table and its kernel no such PMU, or the simulator
 * cannot be loaded; UNC_ERR_NOT_FOUND no CPU of the name in `cpu` or `sim`, and the nearest;
 * UNC_ERR_INVALID bad option or simulation text, an unknown access method or none
 * that the machine has, `cpu` and `sim` of different CPUs, or options->size;
 * UNC_ERR_RANGE a path
 * is too long; UNC_ERR_DENIED a root that a program with raised privileges
 * may not use; UNC_ERR_IO. The sentence is in unc_open_error() of the calling thread.
 * What is wrong in a site's file, or a metric or group that is wrong in a folder of tables, costs
 * no more than itself: it is left out, with one warning in the log, and cannot be had, with file
 * and line.
 */
UNC_API int unc_platform_open(const struct unc_options *options, struct unc_platform **out);

/* Sentence of the calling thread's last unc_platform_open() or unc_doctor(): why it failed; after
 * one that did not, what was wrong and left out, "" if nothing. */
UNC_API const char *unc_open_error(void);

/* Closes the platform; its sessions must have been freed. NULL is allowed. */
UNC_API void unc_platform_close(struct unc_platform *);

/* Sentence of the last call on this platform, by whichever thread (threads that want the sentence
 * take turns), of those that take a platform which is not const: unc_event_encode(),
 * unc_event_decode(), unc_register_decode(), unc_metric_eval(), unc_session_new(),
 * unc_*_find(), unc_memory_peak(), unc_counters_*(), unc_register_read(). "" if that call did not
 * fail. */
UNC_API const char *unc_platform_error(const struct unc_platform *);

struct unc_cpu {
	const char *name;  /* "emerald-rapids" */
	const char *title; /* "Emerald Rapids" */
	int family;
	const uint16_t *models;
	size_t n_models;
	size_t n_units; /* unit types */
	size_t n_events;
	size_t n_umasks;
	size_t n_metrics;   /* rows, the portable set included */
	unsigned steppings; /* bit N: stepping N of these models; 0: all */
	size_t n_kernel; /* unit types that no table knows, by what the kernel of this machine says of its PMUs */
};

/* The CPU of the platform; never NULL. */
UNC_API const struct unc_cpu *unc_platform_cpu(const struct unc_platform *);
/* 1 if the registers are simulated. Show it wherever numbers are shown. */
UNC_API int unc_platform_simulated(const struct unc_platform *);
/* Where the machine is a dump (unc_gather()): when it was made and of which kernel, "2026-11-23, Linux
 * 6.1"; "" if it is none. Show it as well. Nothing counts there. */
UNC_API const char *unc_platform_replayed(const struct unc_platform *);
/* Sockets of the machine; 0 if the platform was opened for listing only. */
UNC_API int unc_platform_sockets(const struct unc_platform *);

/* CPUs that the platform has tables for: those of the folder if it was opened with one, else those
 * built in, as with NULL (then static storage). Index from 0; NULL past the end. */
UNC_API const struct unc_cpu *unc_cpu_get(const struct unc_platform *, size_t index);

/* ------------------------------------------------------------- enumeration */

struct unc_type {
	const char *name;  /* "imc" */
	const char *title; /* the document's name, "iMC" */
	const char *desc;
	int counters;         /* programmable counters of one unit */
	int counter_width;    /* bits */
	int units;            /* units that can be read on this machine, all sockets */
	const char *units_of; /* the type whose units and counters it uses: its own name, unless it
	                         is a view: events that the counters of another type count */
	int ports; /* of a PCIe stack: the bits of the port mask of its events; 0: it is none */
};

/* Unit types of the platform's CPU. Index from 0; NULL past the end. */
UNC_API const struct unc_type *unc_type_get(const struct unc_platform *, size_t index);

struct unc_unit {
	const struct unc_type *type;
	int socket;
	int index; /* within the socket, as the hardware numbers it */
	/* "msr 0x2000 on cpu 0", "pci 0000:7f:10.0", "mmio 0x...", "uncore_imc_3" */
	const char *location;
	int available;
	const char *reason; /* why not; if available, what is missing and why the access methods
	                         before `access` did not reach it, "" if nothing */
	const char *access; /* name of the method that serves it, "msr"; "" if not available */
};

/* Units of the machine, sorted by type, socket, index; NULL past the end. */
UNC_API const struct unc_unit *unc_unit_get(const struct unc_platform *, size_t index);

enum { UNC_BUS_MAX = 16 };

/* A PCIe stack. */
struct unc_stack {
	size_t size;           /* to be set before */
	char bus[UNC_BUS_MAX]; /* its root bus, "0000:16" */
	const char *from; /* what tells it, "by the kernel", and whether one source alone says so */
};

/*
 * Of a unit (unc_unit_get()) that is a PCIe stack, the root bus, as the kernel's driver of the monitors
 * tells it (Linux, ABI sysfs-devices-mapping: Skylake-SP to Ice Lake-SP), or else as registers of the CPU
 * do. *out is untouched on error.
 * Errors: UNC_ERR_NOT_FOUND the unit is no PCIe stack; UNC_ERR_PERMISSION the right to read the
 * registers is missing; UNC_ERR_UNAVAILABLE its bus is not known, and why; UNC_ERR_STATE in a forked
 * process.
 */
UNC_API int unc_unit_stack(struct unc_platform *, const struct unc_unit *unit,
			   struct unc_stack *out);

/* A PCI function below a root port of a stack, or a device of the CPU itself there, by sysfs; bridges and
 * switches are not told. */
struct unc_device {
	size_t size;
	const char *address; /* "0000:17:00.0" */
	int port;            /* of the stack: bit of the port mask of its events; -1: not known */
	const char *names;   /* what drivers call it, "mlx5_0,eth2"; "" if none has it */
	const char *model; /* "Mellanox Technologies MT28908 Family", by pci.ids; "" if not known */
	unsigned ports;    /* all bits of the port mask that its traffic is in; 0: not known */
	const char
		*function_of; /* a virtual function (SR-IOV): address of the physical one, or "" */
	const char *link;     /* of its root port, "gen5 x16"; "" if the kernel does not show it */
	double link_bytes;    /* per second that the link moves in one direction; 0: not known */
};
typedef int (*unc_device_fn)(void *user, const struct unc_device *);

/*
 * Walks the devices of a PCIe stack, in the order of their addresses. Devices with one port share it: events
 * do not tell them apart. What fn gets is gone when it returns. Stops at the first non-zero return of
 * fn and returns it. Looked up anew at each call: devices come and go, the stack and the port stay.
 * Errors: as unc_unit_stack(); those of reading sysfs.
 */
UNC_API int unc_unit_devices(struct unc_platform *, const struct unc_unit *unit, unc_device_fn fn,
			     void *user);

/* A NUMA node of the machine, as the kernel tells it. */
struct unc_node {
	int number; /* of the kernel's; there may be gaps */
	int socket; /* -1: not known */
	/* of the sub-NUMA clusters of its socket, from 0, as where that is one node; -1: not known */
	int cluster;
	const char *reason; /* why not; "" if they are known */
};

/*
 * NUMA nodes, by number. Read when the first is asked for: what goes offline later is not seen. Index
 * from 0; NULL past the end, and where none is known: the kernel tells of none, or the platform was
 * opened for listing only.
 */
UNC_API const struct unc_node *unc_node_get(const struct unc_platform *, size_t index);

/* How the units of a type are put together. */
enum unc_aggregate {
	UNC_AGGREGATE_SUM,
	UNC_AGGREGATE_MAX,
	UNC_AGGREGATE_ONE,   /* all units see the same: one is measured */
	UNC_AGGREGATE_SOCKET /* all units of a socket see the same: one of each socket, added up */
};

struct unc_umask {
	const char *name;
	const char *desc;
	int standalone;     /* 0: only together with another umask */
	int combinable;     /* 0: only alone */
	const char *reason; /* why it cannot be programmed; "" if it can */
	const char *guide;  /* as of events */
};

struct unc_event {
	const char *type; /* name of the unit type */
	const char *name; /* "CAS_COUNT" */
	const char *spec; /* canonical text of the base event, "imc.CAS_COUNT" */
	const char *desc;
	size_t n_umasks;
	int needs_umask;
	enum unc_aggregate aggregate;
	int free_running; /* fixed or free-running: takes no programmable counter */
	/* The related CPU on whose guide alone it rests (since 1.1); "": it has sources of its own. */
	const char *guide;
};

struct unc_field {
	const char *name; /* "thresh" */
	const char *desc;
	uint64_t max; /* largest value */
	int width;    /* bits */
	int needed;   /* the event counts nothing without it */
	uint64_t min; /* least value */
};

/* Events of the platform's CPU. Index from 0; NULL past the end, or where memory has run out. */
UNC_API const struct unc_event *unc_event_get(const struct unc_platform *, size_t index);
/* Umask `index` of event `event`; NULL past the end, or where there is no memory to describe the first one. */
UNC_API const struct unc_umask *unc_umask_get(const struct unc_platform *, size_t event,
					      size_t index);
/* Field number `index` of those that must be given with umask `umask` of event `event`, or without
 * any (umask -1), for it to count; NULL past the end. */
UNC_API const struct unc_field *unc_event_need(const struct unc_platform *, size_t event, int umask,
					       size_t index);

enum unc_metric_kind {
	UNC_METRIC_TOTAL, /* accumulates: a count or bytes since start */
	UNC_METRIC_GAUGE  /* a ratio, rate or mean over the time measured */
};

struct unc_metric {
	const char *name; /* "imc.MEM_BW_READS", or portable: "memory_read_bytes" */
	const char *of;   /* unit type, or "portable" */
	const char *formula;
	const char *unit; /* "bytes", "count", "ratio", "ns", "hz", ... */
	enum unc_metric_kind kind;
	const char *desc;
	int passes; /* 0 if not available */
	int available;
	const char *reason; /* why not; "" if available */
};

/* Metrics of the platform's CPU. Index from 0; NULL past the end. Where there is no memory to find
 * out what it needs, it is not available. */
UNC_API const struct unc_metric *unc_metric_get(const struct unc_platform *, size_t index);
/* Canonical name of the event that metric `metric` needs as number `index`; NULL past the end. */
UNC_API const char *unc_metric_need(const struct unc_platform *, size_t metric, size_t index);

/*
 * A set of metrics and events that belong together, to be measured at once: the library's own, then
 * those of the site (below).
 */
struct unc_group {
	const char *name; /* "MEM" */
	const char *desc;
	/* What of it can be counted here, in the order in which it is to be shown: canonical texts
	 * for unc_session_add(). Behind them, up to NULL, what cannot. */
	size_t n_items;
	const char *const *items;
	int passes;         /* of all together; 0 if not available */
	int available;      /* at least one item can be counted */
	const char *reason; /* why not; if available, what of it cannot be counted and why, "" if
	                       nothing */
};

/* Groups of the platform's CPU. Index from 0; NULL past the end, or where there is no memory to
 * find out what one has. */
UNC_API const struct unc_group *unc_group_get(const struct unc_platform *, size_t index);

/*
 * The group of a name, without regard to case; *index is what unc_group_get() takes.
 * Errors: UNC_ERR_NOT_FOUND, and the nearest name, or all.
 */
UNC_API int unc_group_find(struct unc_platform *, const char *name, size_t *index);

/*
 * What a site knows of its machines: the file etc/libuncore/site.conf under the root, or that which
 * $UNCORE_SITE names. It may add groups, tell what the memory of a socket can move, which units do
 * not exist though another socket has them, and which belong to which NUMA node; its sections are
 * in docs/measuring.md. In a program with raised privileges the file must belong to root and be
 * writable by nobody else. A simulated machine and one of another CPU (options.cpu) take from the
 * site's own file its groups only; from $UNCORE_SITE all. What is wrong there is left out: a
 * section as a whole, of the memory all sections, all of a file that cannot be read or trusted.
 */

/*
 * The most that the DRAM of a socket, or with -1 of all sockets, can move in a second, in bytes:
 * the speed that its modules run at, times 8 bytes, times its channels. The site tells it.
 * Errors: UNC_ERR_UNAVAILABLE it is not known, and why; UNC_ERR_RANGE no such socket.
 */
UNC_API int unc_memory_peak(struct unc_platform *, int socket, double *bytes_per_second);

/* ------------------------------------------------------------------- names */

/* Part of the interface version: as large as they will be. A text has UNC_SPEC_MAX - 1 letters at
 * most. */
enum { UNC_MAX_FILTERS = 8, UNC_SPEC_MAX = 256, UNC_DEVICE_MAX = 40, UNC_LABEL_MAX = 160 };

/* Where an event or a metric is measured. */
struct unc_target {
	int socket; /* -1: all */
	int index;  /* of a unit within its socket; -1: all */
};

/* What a text names, or what an item of a session is (unc_session_item()). */
struct unc_item {
	size_t size;                     /* sizeof(struct unc_item) */
	const struct unc_metric *metric; /* NULL: it is an event */
	const struct unc_event *event;   /* NULL: it is a metric */
	size_t index;                    /* what unc_metric_get() or unc_event_get() takes */
	/* the unit type whose units count it, as in struct unc_type; NULL: a portable metric, which
	 * units of several types may count */
	const char *units_of;
	struct unc_target at; /* where; -1: all */
	/* of an item of a session: why it cannot be counted there, UNC_ERR_UNAVAILABLE or
	 * UNC_ERR_RANGE; unc_session_reason() has the sentence. 0: it can */
	int error;
	char base[UNC_SPEC_MAX]; /* canonical text without socket and unit */
	char name[UNC_SPEC_MAX]; /* canonical text with them */
	int node;                /* NUMA node that the text names; -1: none */
	int port; /* of a PCIe stack, of a metric or a device, the lowest; -1: none is named */
	/* PCI function that the text names, "0000_70_00_0": `at` and `port` say where; "": none */
	char device[UNC_DEVICE_MAX];
	unsigned
		ports; /* bits of the stack's port mask: of some devices several; 0: none is named */
	/* of an item of a session that names ports: the devices below them, "mlx5_0 eth2", as
	 * unc_session_news() found them; "": none, or it has not looked */
	char label[UNC_LABEL_MAX];
};

/*
 * The event or the metric that a text names, whichever it is, with umasks, fields and place.
 * Errors: UNC_ERR_NOT_FOUND it is neither, and the nearest name of both kinds, or the event has no
 * such umask or field; UNC_ERR_INVALID it is malformed, several unit types have an event of this
 * name, or out->size; UNC_ERR_RANGE a number of the text, or the machine has not that socket.
 */
UNC_API int unc_item_find(struct unc_platform *, const char *text, struct unc_item *out);

/* What may follow a name, behind a colon. */
enum unc_qualifier_kind { UNC_QUALIFIER_UMASK, UNC_QUALIFIER_PLACE, UNC_QUALIFIER_FIELD };
struct unc_qualifier {
	size_t size; /* sizeof(struct unc_qualifier) */
	enum unc_qualifier_kind kind;
	int unavailable;         /* it cannot be programmed; `desc` says why */
	const char *key;         /* "RD"; "socket", "thresh": = and a value follow */
	char text[UNC_SPEC_MAX]; /* the same, with the first value that there is: "socket=0" */
	char desc[768];          /* what it does, and its range: "Socket [0-1]; without it all" */
};

/*
 * Number `index` of what may follow the name of an event or a metric on this machine: umasks, places, fields. Which
 * devices there are is looked up once.
 * Errors: those of unc_item_find(); UNC_ERR_NOT_FOUND past the last; UNC_ERR_INVALID out->size.
 */
UNC_API int unc_item_qualifier(struct unc_platform *, const char *name, size_t index,
			       struct unc_qualifier *out);

/* ---------------------------------------------------------------- encoding */

/*
 * The text of an event:
 *   [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]
 * Names are case-insensitive. See README.md for the other spellings accepted.
 */

struct unc_filter {
	const char *reg; /* register name, "FILTER0" */
	uint64_t value;
	uint64_t mask; /* bits of the register that the event determines */
};

struct unc_encoding {
	size_t size;          /* sizeof(struct unc_encoding), or up to `name`: no texts are made */
	const char *type;     /* "imc" */
	const char *units_of; /* the type whose units count it, as in struct unc_type */
	int index;            /* -1: all units of the type */
	int socket;           /* -1: all sockets */
	uint64_t ctl;         /* control value as programmed, enable bits included */
	uint64_t counters;    /* bit i: programmable counter i may count it */
	const char *counter;  /* name of the fixed or free-running counter, or NULL */
	uint32_t event_code;
	enum unc_aggregate aggregate;
	struct unc_filter filters[UNC_MAX_FILTERS];
	size_t n_filters;
	char name[UNC_SPEC_MAX]; /* canonical text */
	char base[UNC_SPEC_MAX]; /* the same without index and socket */
	size_t event;            /* what unc_event_get() takes */
};

/*
 * Encodes an event. Symbolic values that depend on the socket (nid=local) are encoded for socket 0
 * unless the text says `socket=`.
 * Errors: UNC_ERR_INVALID the text is malformed, something that the event needs is missing, or
 * what is asked for contradicts itself, does nothing or counts nothing; UNC_ERR_NOT_FOUND;
 * UNC_ERR_RANGE; UNC_ERR_UNAVAILABLE this umask cannot be programmed; UNC_ERR_INVALID out->size.
 * The sentence is in unc_platform_error().
 */
UNC_API int unc_event_encode(struct unc_platform *, const char *spec, struct unc_encoding *out);

/* The value of a register, for decoding. */
struct unc_register_value {
	const char *reg; /* "FILTER0"; CTL or the name of any control register for the control */
	uint64_t value;
};

/*
 * The other way: the canonical text of the event that these registers of a unit of `type` make a
 * counter count, into buf (always terminated). value_size: sizeof(*values).
 * Errors: UNC_ERR_NOT_FOUND no such type or register, or no event is programmed so;
 * UNC_ERR_INVALID no control is given, or a filter that it depends on, or value_size;
 * UNC_ERR_RANGE two controls, or a register twice, or buf is too small.
 */
UNC_API int unc_event_decode(struct unc_platform *, const char *type,
			     const struct unc_register_value *values, size_t n, size_t value_size,
			     char *buf, size_t size);

typedef int (*unc_field_value_fn)(void *user, const struct unc_field *, uint64_t value);

/*
 * Walks the fields of register `reg` of `type` with what they are in `value`; stops at the first
 * non-zero return of fn and returns it. fn may be NULL: is there such a register?
 * Errors: UNC_ERR_NOT_FOUND no such type or register.
 */
UNC_API int unc_register_decode(struct unc_platform *, const char *type, const char *reg,
				uint64_t value, unc_field_value_fn fn, void *user);

/* --------------------------------------------------------------- measuring */

struct unc_session;

enum {
	UNC_SESSION_ROTATE = 1 /* what does not fit at once is measured in turn */
};

/* A new, empty session. flags: 0 or UNC_SESSION_*. Free with unc_session_free(), before the
 * platform is closed. Errors: UNC_ERR_INVALID an unknown flag. The sentence is in
 * unc_platform_error(). */
UNC_API int unc_session_new(struct unc_platform *, unsigned flags, struct unc_session **out);

/*
 * Adds an event, or a metric: NAME[:socket=N] (imc3.MEM_BW_READS: of one unit). *id numbers the
 * items of the session from 0. The set is scheduled at once:
 * Errors: those of unc_item_find() and unc_event_encode(); UNC_ERR_CONFLICT or UNC_ERR_BUSY names
 * the two events and the resource; UNC_ERR_PASSES the metric alone needs several passes and the
 * session may not rotate; UNC_ERR_UNAVAILABLE no unit can be reached; UNC_ERR_STATE the session is
 * running. On error the session is as before.
 */
UNC_API int unc_session_add(struct unc_session *, const char *text, int *id);

/* At which places unc_session_add_each() adds; none but LACKING: once, as it is named. */
enum {
	UNC_EACH_SOCKET = 1,  /* on each socket */
	UNC_EACH_UNIT = 2,    /* on each unit; what has no value of a unit on each socket */
	UNC_EACH_LACKING = 4, /* also what can be counted at none of them */
	UNC_EACH_NODE = 8,    /* on each NUMA node (unc_node_get()) */
	/* at each port of a PCIe stack that has devices below it, named by the first of them, and at all
	 * its other ports together (ports=MASK) if a device has no known port; on a stack of which the
	 * devices are not known; what has no ports on each socket */
	UNC_EACH_DEVICE = 16
};

/*
 * Adds an event or a metric at many places, each as an item of its own: they are numbered from
 * *first, *n of them, by socket and then by unit as unc_unit_get() has them. What the text itself
 * says of the place chooses among them. A place where it cannot be counted, as a unit that the BIOS
 * hides or a socket without such units, has its item as well: it never has a value, its `units` and
 * `of` are 0, unc_session_item() tells its error and unc_session_reason() why. per: UNC_EACH_*.
 * A metric whose formula needs several unit types, or what is known of sockets only, has no value
 * of a unit: it is added on each socket, and unc_session_error() has a sentence that says so.
 * Errors: those of unc_session_add(); UNC_ERR_UNAVAILABLE and UNC_ERR_RANGE only if it cannot be
 * counted at any place, and then those of the first, unless `per` has UNC_EACH_LACKING;
 * UNC_ERR_INVALID an unknown bit of `per`. On error nothing is added.
 */
UNC_API int unc_session_add_each(struct unc_session *, const char *text, unsigned per, int *first,
				 size_t *n);

/*
 * What item `id` is and where: the event or metric, socket, unit, and its canonical text.
 * Errors: UNC_ERR_NOT_FOUND no such item; UNC_ERR_INVALID out->size.
 */
UNC_API int unc_session_item(struct unc_session *, int id, struct unc_item *out);

/* Number of passes the items need: 1 unless the session rotates. Cannot fail. */
UNC_API int unc_session_passes(const struct unc_session *);

/*
 * Programs counters that nobody uses and begins to count; what another session counts already, of
 * this program or another, is counted once, for both. Nothing is reset, and nothing is frozen.
 * What was programmed is read back. For each unit type and socket one more counter counts a clock, unless
 * an item does, so that a 0 can be told from a unit that is frozen. A
 * socket that somebody left frozen is let go where nobody counts on it, with a warning in the log.
 * What is changed is remembered and restored by unc_session_stop(). A unit that cannot be had is
 * left out, and sums are PARTIAL; where no item has a unit left, that is an error.
 * Errors: UNC_ERR_STATE it runs already or has no items; UNC_ERR_BUSY no counter is free, a filter
 * is somebody else's, or somebody programs the same at the same time; UNC_ERR_PERMISSION;
 * UNC_ERR_IO an access failed: the sentence names unit, register and reason; UNC_ERR_UNAVAILABLE
 * the platform is for listing only, or what is counted on a unit needs two access methods;
 * UNC_ERR_DENIED. Nothing is left changed, as far as it can be written.
 */
UNC_API int unc_session_start(struct unc_session *);

enum {
	UNC_VALUE_VALID = 1,     /* the numbers mean something */
	UNC_VALUE_FRESH = 2,     /* an interval of the item ends with this read: with several passes
	                            it lasts until each that the item needs has had its turn */
	UNC_VALUE_ESTIMATED = 4, /* not measured all of the time: scaled to all of it */
	UNC_VALUE_PARTIAL = 8,   /* of fewer units than the machine has: unc_session_partial() */
	UNC_VALUE_LOST = 16, /* not VALID until its unit is taken up again: unc_session_reason() */
	/* Not VALID yet: a pass that it needs has not had its turn, or next to nothing of it. */
	UNC_VALUE_WAITS = 32,
	/* For a while since start or reset nothing has shown whether a unit counts: somebody may
	 * have frozen it. unc_session_reason() */
	UNC_VALUE_UNPROVEN = 64,
	/* Its counters were not read at one time, where the time since start or reset began or
	 * ends: over more than 1 % of it, `late`. The same of its last interval. */
	UNC_VALUE_LATE = 128,
	UNC_VALUE_INTERVAL_LATE = 256
};

struct unc_value {
	uint64_t count;  /* event: counted since start or reset, scaled to all of that time */
	uint64_t delta;  /* event: counted in its last interval, scaled to all of that time */
	double value;    /* metric: over the time since start or reset; event: (double)count */
	double interval; /* metric: over its last interval; event: (double)delta; NAN (and delta 0)
	                      where that has no value, as where a counter could not be read when
	                      it began: unc_session_reason() */
	double seconds;  /* how long it was measured since start or reset: with several passes
	                      less than unc_session_time() */
	double interval_seconds; /* how long in its last interval */
	double share;            /* of the time since start or reset that it was measured: 0 to 1 */
	double interval_share;   /* of its last interval */
	unsigned units;          /* units that were measured */
	unsigned of; /* units that it is about, those of unc_session_partial() included */
	/* UNC_VALUE_*; without VALID the numbers mean nothing and are 0, units and of excepted; and
	 * those of the interval, where interval_seconds is not 0: a unit that was lost has counted
	 * again for less than 5 % of the time since start or reset, and the interval has a value */
	unsigned flags;
	/* Seconds over which its counters were read, where the time since start or reset began or
	 * where it ends, the longer; and the same of its last interval. 0 where it is not LATE. */
	double late;
	double interval_late;
	unsigned lacked; /* of - units where counting began */
};

/*
 * Reads all counters and fills values[0 .. n-1], one per item in the order of
 * adding; n may be less than the number of items, or 0 with values NULL. size: sizeof(*values).
 * What is behind the last item is left as it is. A ratio with
 * denominator 0 is not VALID. What was counted by a counter that somebody else has taken, cleared
 * or frozen in the meantime, or that cannot be read, is left out: a sum over other units is
 * PARTIAL, and without one the value is not VALID, and unc_session_reason() tells why. A thread of the
 * library tries to take up again what was lost, with all that counts on its unit: a second after,
 * then after twice the time each, at most 64 s. What is taken up counts anew, scaled to all of the
 * time, and has no value where it was measured for less than 5 % of that.
 * Where a counter makes an impossible step that is seen at once. Controls that were compared more than a
 * second ago are compared before a value is given, and all of them at a change of the pass and at the
 * stop. Where one has changed, what was counted since the comparison before is not in the total; reads in
 * between, less than a second apart, had it. A set of counters of which none has moved asks a clock. Works on a
 * running session; on a stopped one it gives the final values again.
 * Errors: UNC_ERR_STATE not started; UNC_ERR_IO no counter could be read; UNC_ERR_INVALID size.
 */
UNC_API int unc_session_read(struct unc_session *, struct unc_value *values, size_t n, size_t size);

/*
 * Reads all counters, and fills counts[0 .. n-1] with what the items have counted since start or reset, in the
 * order of adding: the `count` of unc_session_read(), for less. No interval ends. n may be less than the number
 * of items. Returns 0; or 1, where it is not so simple: an item is a metric, or a value is not VALID, or carries
 * a mark. Then counts[] means nothing, and unc_session_read() tells. Errors: as unc_session_read().
 */
UNC_API int unc_session_counts(struct unc_session *, uint64_t *counts, size_t n);

/*
 * Why the last value of item `id` is not VALID, or is UNPROVEN, INTERVAL_LATE or LATE, the first of
 * these, as a sentence; "" where none is so, or if there is no such item. Owned by the session,
 * until its next call; unc_session_error() is the same text then.
 */
UNC_API const char *unc_session_reason(struct unc_session *, int id);

/*
 * What the sum of item `id` goes without, the first unit and how many more there are: "imc3 (socket 1)
 * and 2 more: REASON"; "" if it is whole, or if there is no such item. Units that could not be had come with the
 * start, and others come and go with each read. Where the kernel's driver alone reaches a unit, it is missing for
 * events that the driver does not carry.
 * Owned by the session, until its next call.
 */
UNC_API const char *unc_session_partial(struct unc_session *, int id);

/* A mark of a value that has one all the same: nobody knows how far it is off, unc_session_reason() tells why. */
struct unc_mark {
	unsigned flag;      /* UNC_VALUE_* of the time since start or reset; */
	unsigned interval;  /* of the last interval */
	const char *letter; /* in a row of numbers: "!" */
	const char *key;    /* in a list: "late" */
	const char *what;   /* before the sentence: "not proven to count" */
};
enum { UNC_MAX_MARKS = 8 }; /* as many as there will be */

/* All marks, the gravest first: number from 0; NULL past the last. */
UNC_API const struct unc_mark *unc_mark_get(size_t number);

/* What is new of a value. */
enum unc_news_kind {
	UNC_NEWS_NO_VALUE, /* not of a ratio whose denominator is 0 */
	UNC_NEWS_PARTIAL,  /* begins anew where more units are missing */
	UNC_NEWS_MARK, /* of the interval: begins anew where none had it for an hour; its end is not told */
	UNC_NEWS_DEVICES /* what is below the ports of the item was found, or is another (unc_item.label) */
};
struct unc_news {
	int id; /* of the item */
	enum unc_news_kind kind;
	int begins; /* 0: it is over */
	/* why, as unc_session_partial() or unc_session_reason() tell; the devices; "" where it is over. Valid
	 * until fn returns */
	const char *text;
	const struct unc_mark *mark; /* of UNC_NEWS_MARK */
};
typedef int (*unc_news_fn)(void *user, const struct unc_news *);

/*
 * Tells what has begun and what is over since the last call, each once, as of the last start or read. Devices are
 * looked for at most once a minute. Stops at the first non-zero return of fn and returns it.
 * Errors: UNC_ERR_STATE in a forked process.
 */
UNC_API int unc_session_news(struct unc_session *, unc_news_fn fn, void *user);

/*
 * Why sessions of other processes are not known to this one: they use the journal of the node, files
 * in /run/libuncore (UNCORE_RUN names another folder), and it cannot. Its counters are then
 * foreign to them, as theirs are to it: none is shared, and what it leaves when it is
 * killed stays. "" where they are known, where there can be none (a simulated machine), and for a
 * session that programs no register: the kernel's driver counts for it, or counters do that run
 * freely. Known since unc_session_start(); owned by the session, until its next call.
 */
UNC_API const char *unc_session_unprotected(struct unc_session *);

/* Wall-clock seconds since start or reset, up to the last read, and of the last interval. Either
 * may be NULL. Errors: UNC_ERR_STATE never started. */
UNC_API int unc_session_time(struct unc_session *, double *since_start, double *interval);

/*
 * Lets the passes of a session take turns by themselves, from its next start on, by a thread of the
 * library. ms: each pass begins a turn in any time of so many milliseconds, so that who reads no
 * more often finds every value FRESH (a machine that is too busy apart); a larger number disturbs
 * less what is counted. Turns begin with 2 ms, after start and reset, and each round takes twice as
 * long until it is as long as it may be. But a turn is at least 20 times as long as it takes to end
 * a pass and to begin the next one, which is measured in each round (at first: as long as the start
 * took): programming has 5 % of the time, and where it takes long, a round is longer than `ms` and
 * not every value FRESH. Sessions of the platform that want the same in the same order turn
 * together, at the pace of the fastest. With one pass there is nothing to be done. 0: no more
 * turns, also where it runs: what is counted then goes on. A value
 * has no meaning (UNC_VALUE_WAITS) before each pass that it needs has had a turn, and no interval
 * ends with a moment of one. Nor has one that was measured less than 5 % of the time that its turns
 * promise (unc_session_reason() tells), over all or of its interval. A unit that cannot be had in a
 * turn is left out of it, as of a start. Where a turn fails all the same, as when memory runs out,
 * nothing is counted any more: unc_session_read() and unc_session_reset() return that error until
 * the session is stopped, which returns it too, and starts anew.
 * Errors: UNC_ERR_STATE the session is running, and its passes do not take turns yet.
 */
UNC_API int unc_session_turns(struct unc_session *, unsigned ms);

/* Sets all totals to 0 (the hardware counters go on; what is lost stays lost). Errors:
 * UNC_ERR_STATE not started; UNC_ERR_IO no counter could be read. */
UNC_API int unc_session_reset(struct unc_session *);

/*
 * Reads once more, stops the counters and restores what was found. What somebody else has changed
 * since is left as it is. A write that fails is tried again.
 * Errors: UNC_ERR_STATE not running; UNC_ERR_IO, UNC_ERR_PERMISSION: the
 * sentence names what could not be read or restored; the session is stopped all the same.
 * UNC_ERR_MEMORY: nothing was done, and it can be tried again.
 */
UNC_API int unc_session_stop(struct unc_session *);

/* Stops if running, and frees. NULL is allowed. */
UNC_API void unc_session_free(struct unc_session *);

/* Sentence of the last call on this session; "" if it did not fail. Owned by the session, until its
 * next call. */
UNC_API const char *unc_session_error(const struct unc_session *);

/* One register operation, for walking a plan. */
struct unc_operation {
	const char *unit; /* "imc" */
	int socket;
	int index;
	/* register name, "CTL0"; of the kernel's driver "uncore_imc_0/config" or "/count" */
	const char *reg;
	/* "msr", "pci", "mmio", "pmu", "perf"; "kernel": what its driver is asked for */
	const char *space;
	/* MSR number, configuration offset, offset from the BAR base or physical
	 * address; pmu, perf: see eventtables/README.md; kernel: 0 */
	uint64_t address;
	const char *location; /* "cpu 0", "0000:7f:10.0", "" */
	int width;            /* bits */
	int write;            /* 0: read */
	uint64_t value;       /* written */
};
typedef int (*unc_operation_fn)(void *user, const struct unc_operation *);

enum unc_phase { UNC_PHASE_START, UNC_PHASE_READ, UNC_PHASE_STOP };

/*
 * Walks the operations of a phase without running them; stops at the first
 * non-zero return of `fn` and returns it. Works without access to the hardware;
 * with it, the controls of the units are read, to see which counters are free.
 * What fn gets is gone when it returns. A counter is set to half of its range here; where others
 * may count that are not known, a start sets it to a place of the session's own.
 * Errors: UNC_ERR_BUSY no counter is free; UNC_ERR_PERMISSION and UNC_ERR_IO as for
 * unc_session_start().
 */
UNC_API int unc_session_plan(struct unc_session *, enum unc_phase phase, unc_operation_fn fn,
			     void *user);

/* -------------------------------------------------------- counters of the node */

/* Who has programmed a counter. */
enum unc_owner {
	UNC_OWNER_LIBUNCORE, /* a session that runs, of this program or another */
	UNC_OWNER_KERNEL,    /* the kernel's own driver, for a program that uses perf events */
	UNC_OWNER_FOREIGN,   /* a program that knows neither of them, or has left it behind */
	UNC_OWNER_ORPHANED   /* a session whose process has ended without restoring it */
};

/* What came of a counter that was to be released. */
enum unc_release {
	UNC_RELEASE_FOUND, /* nothing yet: it is only shown */
	UNC_RELEASE_DONE,  /* it is free; of an orphaned one: what was found is restored */
	UNC_RELEASE_KEPT   /* it is as it was */
};

/* A counter that is switched on. */
struct unc_counter {
	const struct unc_unit *unit;
	int number;        /* of a programmable counter; -1: a fixed one */
	const char *name;  /* of a fixed counter, "FIXED"; of others NULL */
	uint64_t control;  /* what its control register holds */
	const char *event; /* what it counts, "imc.CAS_COUNT:RD"; NULL: no event of the tables */
	enum unc_owner owner;
	int pid;             /* of the owner; of the kernel's, the one process that has perf events
				open; 0: not known */
	const char *command; /* of that process, 15 letters at most; "": not known */
	double since;        /* programmed or shared: seconds since 1970; 0: not known */
	enum unc_release release;
	const char *reason; /* why it was kept; else "" */
	int uid;            /* of the owner; -1: not known */
	const char *by;     /* "broker": uncored has opened an event of the kernel for him, on a
			       counter that the kernel chooses (number -1, name NULL); else NULL */
};
typedef int (*unc_counter_fn)(void *user, const struct unc_counter *);

/*
 * Walks the counters of the machine that are switched on, with what they count and who has programmed
 * them; one that several sessions share comes once, with the process that has programmed it. Stops at
 * the first non-zero return of fn and returns it. What fn gets is gone when it returns, `unit` excepted. Nothing is written.
 * Sessions are known by the journal of the node, as unc_session_unprotected() tells: where it cannot be
 * read, those of other processes come as foreign, with a warning in the log; units that are out of
 * reach come as one as well. Where the kernel has a driver for monitors and it cannot be seen that no process
 * has perf events open, a counter that is in no journal is the kernel's.
 * What the broker of the node has given out since it began comes behind, also where no unit can be read.
 * Errors: UNC_ERR_UNAVAILABLE the platform is for listing only, or no unit can be read (the sentence
 * says why); UNC_ERR_BUSY a process has the lock of the node, and is stopped or hangs; UNC_ERR_IO,
 * UNC_ERR_PERMISSION a unit could not be read: fn has had what was found on the others. The sentence is
 * in unc_platform_error().
 */
UNC_API int unc_counters_walk(struct unc_platform *, unc_counter_fn fn, void *user);

enum { UNC_RELEASE_FORCE = 1 }; /* foreign counters, and what other users have left, too */

/*
 * Frees orphaned counters: what their owners found is restored, where the control holds what they
 * programmed; units and sockets that they froze go on. With UNC_RELEASE_FORCE the controls of
 * foreign counters become 0 as well, and units that are frozen, on which nobody counts any more,
 * go on. Counters of the kernel and of sessions that run are never touched.
 * Counters that sessions of other users have left are switched off with UNC_RELEASE_FORCE alone: what was found
 * there is for sessions of that user to restore.
 * flags: 0 or UNC_RELEASE_FORCE. fn: called twice for each counter that is switched on: before anything
 * is done, `release` being UNC_RELEASE_FOUND (a non-zero return ends the walk, is returned, and nothing
 * is done), and when all is done, with what came of it (a non-zero return ends the walk). What has
 * changed between the two is left as it is.
 * Errors: those of unc_counters_walk(); UNC_ERR_INVALID an unknown flag; UNC_ERR_UNAVAILABLE force is
 * asked for and the journal of the node cannot be used, so that a counter of a session might be taken for a foreign one:
 * nothing is done; UNC_ERR_PERMISSION, UNC_ERR_DENIED, UNC_ERR_IO something could not be restored:
 * fn has had what came of all. The sentence is in unc_platform_error().
 */
UNC_API int unc_counters_release(struct unc_platform *, unsigned flags, unc_counter_fn fn,
				 void *user);

/* ---------------------------------------------------------------- registers */

struct unc_register {
	const char *unit;
	int index;
	const char *name;
	const char *space;
	uint64_t address;   /* MSR number, configuration offset, or offset from the BAR base */
	int width;          /* bits */
	const char *device; /* PCI "0c.0", else NULL */
	unsigned device_id; /* PCI; 0: only the machine tells it */
	const char *bar;    /* MMIO, else NULL */
	/* What unc_register_read() tells; of unc_register_walk() nothing is known: -1, 0, "" */
	int socket;
	int known; /* 1: `value` is what it holds */
	uint64_t value;
	const char *reason; /* why it could not be read; else "" */
};
typedef int (*unc_register_fn)(void *user, const struct unc_register *);

/* Walks every register of the tables of the platform's CPU, one socket; what fn gets is gone when
 * it returns. Stops at the first non-zero return of fn and returns it; no errors of its own. */
UNC_API int unc_register_walk(const struct unc_platform *, unc_register_fn fn, void *user);

/*
 * Walks the registers of a unit of the machine, in the order of the tables, with what each of them
 * holds. Each is read once, a moment before fn gets it; nothing is written, and only registers of
 * monitors are read, as anywhere. A register that has no value (it is write-only, or a part of the unit
 * that is out of reach) or that cannot be read comes with the reason. A unit of memory whose place
 * the tables do not have comes with physical addresses, and `bar` NULL. Stops at the first non-zero
 * return of fn and returns it.
 * unit: from unc_unit_get(), or any other descriptor of the platform's.
 * Errors: UNC_ERR_NOT_FOUND the machine has no such unit; UNC_ERR_UNAVAILABLE its registers cannot be
 * used, and why: then fn is not called. UNC_ERR_IO, UNC_ERR_PERMISSION and the like: the first reason
 * for which one that should be readable could not be read, when fn has had all.
 */
UNC_API int unc_register_read(struct unc_platform *, const struct unc_unit *unit,
			      unc_register_fn fn, void *user);

/* ---------------------------------------------------------------- computing */

struct unc_count {
	const char *event; /* canonical text as unc_metric_need() gives it, or TIME, TSC, TSC_HZ,
	                      MEMORY_PEAK */
	double value;
};

/*
 * Computes a metric from n counts. size: sizeof(*counts); counts may be NULL if n is 0.
 * Errors: UNC_ERR_INVALID size; UNC_ERR_NOT_FOUND no such metric, or a count that it needs is not
 * given (the sentence names it); UNC_ERR_UNAVAILABLE the metric cannot be
 * computed on this CPU; UNC_ERR_RANGE there is no value: the denominator is 0, the
 * result overflows, or it is negative where that is impossible.
 */
UNC_API int unc_metric_eval(struct unc_platform *, const char *metric,
			    const struct unc_count *counts, size_t n, size_t size, double *value);

/* ---------------------------------------------------------------- diagnosis */

struct unc_check {
	const char *check; /* "cpu", "msr", ... */
	int ok;
	const char *detail;
	const char *remedy; /* "" if ok */
};
typedef int (*unc_check_fn)(void *user, const struct unc_check *);

/*
 * Explains why counters can or cannot be read here: CPU, tables, hypervisor, lockdown, privileges,
 * MSR driver, PCI functions, /dev/mem, counters of the kernel, units of a type that lacks some,
 * counters in use and what they count, what is frozen, and whether writes get through: on each
 * socket and in each space one control of a unit that nobody uses is written with the value that
 * is in it. What is no failure is told with `ok` set. On a CPU without a table it ends there.
 * options: as for unc_platform_open(), `cpu` is ignored. fn: called once a check, or more often
 * ("in use"); its strings are gone when it returns; non-zero ends the walk. Returns the number of
 * failed checks, or an error: UNC_ERR_INVALID fn is NULL, or options->size. The sentence is in
 * unc_open_error().
 */
UNC_API int unc_doctor(const struct unc_options *options, unc_check_fn fn, void *user);

/*
 * Makes a text file (which must not exist) of all that discovery and unc_doctor() read of the
 * machine, errors included, of the devices of PCIe stacks, and of what the registers of its monitors
 * hold: as `sysroot` of the options it stands for the machine. Nothing else is taken: no name of a
 * machine, user or program. It looks as unc_doctor() does, and writes what that writes. Of a
 * simulated machine the file has its description.
 * options: as for unc_doctor(). Returns 0, also where checks of the doctor have failed.
 * Errors: those of unc_doctor(); UNC_ERR_INVALID the machine is a dump already; UNC_ERR_IO the file
 * exists, or cannot be written; UNC_ERR_RANGE a text is too long. The sentence is in unc_open_error().
 */
UNC_API int unc_gather(const struct unc_options *options, const char *file);

#ifdef __cplusplus
}
#endif
#endif
