/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore: the performance monitors of an Intel socket outside its cores.
 *
 * Rules that hold for every function here:
 *  - The result is 0 or a negative UNC_ERR_* code. Outputs come last and are untouched on error (a
 *    text buffer is terminated, at least). If memory runs out, the result is UNC_ERR_MEMORY, which
 *    is not named below.
 *  - The library never prints, never exits and never changes a signal mask. The object of the call
 *    keeps the sentence of an error: unc_platform_error(), unc_session_error().
 *  - Descriptors (struct unc_type, ...) are constant and owned by the platform; they stay valid
 *    until unc_platform_close(). Later versions may add members at their ends: use them behind the
 *    pointer, do not copy them.
 *  - Structs that the caller allocates begin with `size`. The caller sets it to sizeof the struct
 *    that it was compiled with; for an array, sizeof one element is an argument. A shorter struct
 *    comes from a program that was compiled earlier: the library fills the members that fit, and
 *    takes missing ones for 0. In a longer struct, members that the library does not know stay 0;
 *    as input, another value there is UNC_ERR_INVALID, as is a size that no struct has.
 *  - One platform may serve many sessions; different sessions may be used from different threads,
 *    one session from one thread at a time.
 *  - A platform and its sessions belong to the process that opened the platform. In a forked child,
 *    each function that takes a session, or a platform that is not const, returns UNC_ERR_STATE
 *    (not named below) and touches nothing. Descriptors do not change: umasks, fields and metrics
 *    that were not requested before the fork are NULL. unc_session_free() and unc_platform_close()
 *    only free memory. The child may open a platform of its own.
 *  - A thread must not be cancelled (pthread_cancel()) inside a call: its locks stay locked, and
 *    later calls wait forever. A program that cancels threads disables cancellation around calls
 *    (pthread_setcancelstate()).
 *  - Pointers may be NULL only if the comment says so, texts never. unc_platform_close() and
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
 * of structs; a major changes or removes something. Programs that do not choose their library
 * (plugins, or dlopen()) check UNC_API_SERVES(unc_api_version()) before anything else.
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
	UNC_ERR_BUSY = -5,        /* another program has programmed the counter */
	UNC_ERR_PERMISSION = -6,  /* the kernel refuses the access */
	UNC_ERR_UNAVAILABLE = -7, /* not on this machine or CPU; the sentence says why */
	UNC_ERR_IO = -8,          /* an access failed */
	UNC_ERR_TABLE = -9,       /* an event table or a discovery table is broken */
	UNC_ERR_MEMORY = -10,     /* out of memory */
	UNC_ERR_STATE = -11,      /* the session is (or is not) running, or is another process's */
	UNC_ERR_DENIED = -12,     /* the library refuses: no monitor's register, or not trusted */
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
	/* root of /proc, /sys, /dev, or a file made by unc_gather(); NULL: $UNCORE_SYSROOT, else
	 * "/"; "": "/" */
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
 * Access methods: each unit is served by the first method of the list that reaches it for the
 * wanted events (unc_unit.access). All registers of a unit in one space use one method.
 *  kernel    Linux's own driver of the monitors counts: perf_event_open. It serves a unit that it
 *            has, events that it carries whole, and callers that it allows. Other events of such a
 *            unit are left to registers
 *  broker    the same events, opened by the broker of the node (uncored) for users who may not open
 *            them, as far as its site allows
 *  msr       model-specific registers: /dev/cpu/N/msr. N is the CPU that the caller runs on, if it
 *            is of the socket, else the socket's lowest that is neither isolated nor nohz_full. A
 *            socket of only such CPUs is left alone, unless the program is bound to one.
 *            A caller on another CPU interrupts it, at each register
 *  msr-safe  the same through the module msr-safe, within the allowlist of its administrator:
 *            /dev/cpu/msr_batch
 *  pci       configuration space: /sys/bus/pci
 *  mmio      memory: /dev/mem
 *  pmu       the monitor of an Itanium's hardware thread: no Linux of today gives access to it
 *  perf      counters that the kernel hands out: perf_event_open
 *  direct    stands for msr, pci, mmio, pmu, perf
 * The default is all methods, in this order. A simulated machine has one method, "simulated"; there,
 * direct stands for it.
 */

/*
 * Limits of access:
 *  - The library touches only registers and bits of the compiled table of this CPU, at the places that
 *    it knows or that can be checked. On a CPU without a table, the library reads only discovery, and
 *    writes nothing.
 *  - In a program with raised privileges (set-user-id, set-group-id, file capabilities: AT_SECURE)
 *    all variables are ignored, with a log line each. `sysroot`, with its folders dev, proc and sys,
 *    and the file of the site must belong to root and be writable by nobody else. Folders above them
 *    are not checked. A program with the rights of its user (sudo, a service with ambient
 *    capabilities) has no raised privileges. With them, a program gets no simulated machine that would
 *    have to be loaded.
 */

/*
 * Opens the machine: identifies the CPU, loads its table, discovers the units.
 * Units that cannot be reached are no error: they are listed with the reason.
 * Nothing is written to the hardware.
 * options: may be NULL (all defaults). *out: free with unc_platform_close().
 * A CPU without a table has the PMUs that its kernel names (docs/kernel-pmus.md), named "kernel-pmus".
 * Errors: UNC_ERR_UNAVAILABLE the CPU has no uncore table and its kernel no such PMU, or the simulator
 * cannot be loaded; UNC_ERR_NOT_FOUND no CPU of the name in `cpu` or `sim`, and the nearest;
 * UNC_ERR_INVALID bad option or simulation text, an unknown access method or none that the machine has,
 * `cpu` and `sim` of different CPUs, or options->size; UNC_ERR_RANGE a path is too long; UNC_ERR_DENIED
 * a root that a program with raised privileges may not use; UNC_ERR_IO. The sentence is in
 * unc_open_error() of the calling thread.
 * A wrong part of a site's file, or a wrong metric or group in a folder of tables, is ignored. The
 * log has one warning, with file and line; the part is then not available.
 */
UNC_API int unc_platform_open(const struct unc_options *options, struct unc_platform **out);

/* Sentence of the calling thread's last unc_platform_open() or unc_doctor(): why it failed. After a
 * success: which wrong parts were ignored, "" if none. */
UNC_API const char *unc_open_error(void);

/* Closes the platform; its sessions must have been freed. NULL is allowed. */
UNC_API void unc_platform_close(struct unc_platform *);

/* Sentence of the last call on this platform, by any thread; threads that want the sentence must not
 * call at the same time. It is kept by the functions whose platform is not const: unc_event_encode(),
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
	size_t n_kernel; /* unit types without a table, from the PMUs that this machine's kernel names */
};

/* The CPU of the platform; never NULL. The name of one that no table knows is UNC_CPU_KERNEL. */
#define UNC_CPU_KERNEL "kernel-pmus"
UNC_API const struct unc_cpu *unc_platform_cpu(const struct unc_platform *);
/* 1 if the registers are simulated. Show it wherever numbers are shown. */
UNC_API int unc_platform_simulated(const struct unc_platform *);
/* If the machine is a dump (unc_gather()): its day and kernel, "2026-11-23, Linux 6.1"; "" if it is
 * none. Show it as well. Nothing counts there. */
UNC_API const char *unc_platform_replayed(const struct unc_platform *);
/* Sockets of the machine; 0 if the platform was opened for listing only. */
UNC_API int unc_platform_sockets(const struct unc_platform *);

/* CPUs that the platform has tables for: those of its folder of tables, if it was opened with one,
 * else the built-in ones, as with NULL (then static storage). Index from 0; NULL past the end. */
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
	const char *from; /* source of the bus, "by the kernel", and whether it is the only one */
};

/*
 * Gives the root bus of a unit (unc_unit_get()) that is a PCIe stack. The bus comes from the kernel's driver of
 * the monitors (Linux, ABI sysfs-devices-mapping: Skylake-SP to Ice Lake-SP), or else from registers of the CPU.
 * *out is untouched on error.
 * Errors: UNC_ERR_NOT_FOUND the unit is no PCIe stack; UNC_ERR_PERMISSION the right to read the
 * registers is missing; UNC_ERR_UNAVAILABLE its bus is not known, and why; UNC_ERR_STATE in a forked
 * process.
 */
UNC_API int unc_unit_stack(struct unc_platform *, const struct unc_unit *unit,
			   struct unc_stack *out);

/* A PCI function below a root port of a stack, or a device of the CPU itself there, by sysfs. Bridges and
 * switches are not listed. */
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
 * Walks the devices of a PCIe stack, in the order of their addresses. Events do not distinguish devices that
 * share a port. The argument of fn is valid until fn returns. Stops at the first non-zero return of fn and
 * returns it. Each call looks up the devices anew: devices come and go, the stack and the port stay.
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
 * NUMA nodes, by number. The first call reads them; a node that goes offline later is not noticed. Index
 * from 0; NULL past the end. NULL also if no node is known: the kernel has none, or the platform was opened
 * for listing only.
 */
UNC_API const struct unc_node *unc_node_get(const struct unc_platform *, size_t index);

/* How the counts of the units of a type are combined. */
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
	/* The related CPU whose guide is its only source (since 1.1); "": it has sources of its own. */
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
/* Number `index` of the fields that event `event` with umask `umask` (-1: without any) needs to count;
 * NULL past the end. */
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

/* Metrics of the platform's CPU. Index from 0; NULL past the end. A metric whose needs cannot be
 * found for lack of memory is not available. */
UNC_API const struct unc_metric *unc_metric_get(const struct unc_platform *, size_t index);
/* Canonical name of the event that metric `metric` needs as number `index`; NULL past the end. */
UNC_API const char *unc_metric_need(const struct unc_platform *, size_t metric, size_t index);

/*
 * A set of metrics and events that belong together, to be measured at once: first the library's groups,
 * then the groups of the site (below).
 */
struct unc_group {
	const char *name; /* "MEM" */
	const char *desc;
	/* The items that can be counted here, in the order of display: canonical texts for
	 * unc_session_add(). Behind them, up to NULL, the items that cannot. */
	size_t n_items;
	const char *const *items;
	int passes;         /* of all together; 0 if not available */
	int available;      /* at least one item can be counted */
	const char *reason; /* why not; if available, items that cannot be counted and why, "" if
	                       none */
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
 * The site's file describes the machines of a site: etc/libuncore/site.conf under the root, or the file
 * of $UNCORE_SITE. It may have groups, the peak of a socket's memory, units that do not exist though
 * another socket has them, and the units of each NUMA node; docs/measuring.md has its sections. In a
 * program with raised privileges the file must belong to root and be writable by nobody else. A simulated
 * machine, or one of another CPU (options.cpu), takes only groups from the site's own file; from
 * $UNCORE_SITE it takes all. A wrong section is ignored as a whole. If a section of the memory is wrong,
 * all of them are ignored; a file that cannot be read or trusted is ignored as a whole.
 */

/*
 * The peak of the DRAM of a socket, or with -1 of all sockets, in bytes per second: the speed that
 * its modules run at, times 8 bytes, times its channels. The site's file has it.
 * Errors: UNC_ERR_UNAVAILABLE it is not known, and why; UNC_ERR_RANGE no such socket.
 */
UNC_API int unc_memory_peak(struct unc_platform *, int socket, double *bytes_per_second);

/* ------------------------------------------------------------------- names */

/* Part of the interface version: as large as they will be. A text has UNC_SPEC_MAX - 1 letters at
 * most. */
enum { UNC_MAX_FILTERS = 8, UNC_SPEC_MAX = 256, UNC_DEVICE_MAX = 40, UNC_LABEL_MAX = 160 };

/* The place of an event or a metric. */
struct unc_target {
	int socket; /* -1: all */
	int index;  /* of a unit within its socket; -1: all */
};

/* The event or metric of a text, or of an item of a session (unc_session_item()). */
struct unc_item {
	size_t size;                     /* sizeof(struct unc_item) */
	const struct unc_metric *metric; /* NULL: it is an event */
	const struct unc_event *event;   /* NULL: it is a metric */
	size_t index;                    /* what unc_metric_get() or unc_event_get() takes */
	/* the unit type whose units count it, as in struct unc_type; NULL: a portable metric, which
	 * may count on units of several types */
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
	 * unc_session_news() found them; "": none, or not looked up yet */
	char label[UNC_LABEL_MAX];
};

/*
 * Finds the event or the metric that a text names, with umasks, fields and place.
 * Errors: UNC_ERR_NOT_FOUND the name is neither (the sentence has the nearest name of both kinds), or the
 * event has no such umask or field; UNC_ERR_INVALID it is malformed, several unit types have an event of
 * this name, or out->size; UNC_ERR_RANGE a number of the text, or the machine does not have that socket.
 */
UNC_API int unc_item_find(struct unc_platform *, const char *text, struct unc_item *out);

/* A umask, place or field that may follow a name, behind a colon. */
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
 * Number `index` of the umasks, places and fields that may follow the name of an event or a metric on this machine.
 * Devices are looked up once.
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
 * Errors: UNC_ERR_INVALID the text is malformed, lacks a setting that the event needs, or
 * contradicts itself, does nothing or counts nothing; UNC_ERR_NOT_FOUND;
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
 * The reverse: writes the canonical text of the event that a counter of a unit of `type` counts with
 * these register values into buf (always terminated). value_size: sizeof(*values).
 * Errors: UNC_ERR_NOT_FOUND no such type or register, or no event has these values;
 * UNC_ERR_INVALID a control, or a filter that it depends on, is not given, or value_size;
 * UNC_ERR_RANGE two controls, or a register twice, or buf is too small.
 */
UNC_API int unc_event_decode(struct unc_platform *, const char *type,
			     const struct unc_register_value *values, size_t n, size_t value_size,
			     char *buf, size_t size);

typedef int (*unc_field_value_fn)(void *user, const struct unc_field *, uint64_t value);

/*
 * Walks the fields of register `reg` of `type` with their contents in `value`. Stops at the first
 * non-zero return of fn and returns it. With fn NULL, it only checks that the register exists.
 * Errors: UNC_ERR_NOT_FOUND no such type or register.
 */
UNC_API int unc_register_decode(struct unc_platform *, const char *type, const char *reg,
				uint64_t value, unc_field_value_fn fn, void *user);

/* --------------------------------------------------------------- measuring */

struct unc_session;

enum {
	UNC_SESSION_ROTATE = 1 /* items that do not fit at once are multiplexed */
};

/* A new, empty session. flags: 0 or UNC_SESSION_*. Free with unc_session_free(), before the
 * platform is closed. Errors: UNC_ERR_INVALID an unknown flag. The sentence is in
 * unc_platform_error(). */
UNC_API int unc_session_new(struct unc_platform *, unsigned flags, struct unc_session **out);

/*
 * Adds an event, or a metric: NAME[:socket=N] (imc3.MEM_BW_READS: of one unit). *id numbers the
 * items of the session from 0. The set is scheduled immediately.
 * Errors: those of unc_item_find() and unc_event_encode(); UNC_ERR_CONFLICT or UNC_ERR_BUSY names
 * the two events and the resource; UNC_ERR_PASSES the metric alone needs several passes and the
 * session may not rotate; UNC_ERR_UNAVAILABLE no unit can be reached; UNC_ERR_STATE the session is
 * running. On error the session is as before.
 */
UNC_API int unc_session_add(struct unc_session *, const char *text, int *id);

/* The places at which unc_session_add_each() adds; none but LACKING: once, as it is named. */
enum {
	UNC_EACH_SOCKET = 1,  /* on each socket */
	UNC_EACH_UNIT = 2,    /* on each unit; an item without a value of a unit on each socket */
	UNC_EACH_LACKING = 4, /* also an item that can be counted at none of them */
	UNC_EACH_NODE = 8,    /* on each NUMA node (unc_node_get()) */
	/* at each port of a PCIe stack that has devices below it, named by the first of them; if a device
	 * has no known port, also at all other ports of its stack together (ports=MASK). On the
	 * stack, if its devices are not known. An item without ports: on each socket */
	UNC_EACH_DEVICE = 16
};

/*
 * Adds an event or a metric at many places, each as an item of its own. The *n items are numbered from
 * *first, by socket and then by unit in the order of unc_unit_get(). A place in the text itself limits
 * them. A place where it cannot be counted, as a unit that the BIOS hides or a socket without such units,
 * has an item as well. This item never has a value, and its `units` and `of` are 0. unc_session_item()
 * has its error and unc_session_reason() the reason. per: UNC_EACH_*. A metric has no value of a unit if
 * its formula needs several unit types, or numbers known for sockets only. Then it is added on each
 * socket, and unc_session_error() has a sentence that says so.
 * Errors: those of unc_session_add(); UNC_ERR_UNAVAILABLE and UNC_ERR_RANGE only if it cannot be
 * counted at any place, and then those of the first, unless `per` has UNC_EACH_LACKING;
 * UNC_ERR_INVALID an unknown bit of `per`. On error nothing is added.
 */
UNC_API int unc_session_add_each(struct unc_session *, const char *text, unsigned per, int *first,
				 size_t *n);

/*
 * Describes item `id`: the event or metric, socket, unit, and its canonical text.
 * Errors: UNC_ERR_NOT_FOUND no such item; UNC_ERR_INVALID out->size.
 */
UNC_API int unc_session_item(struct unc_session *, int id, struct unc_item *out);

/* Number of passes the items need: 1 unless the session rotates. Cannot fail. */
UNC_API int unc_session_passes(const struct unc_session *);

/*
 * Programs free counters and begins to count. An event that another session counts already, of this
 * program or another, is counted once, for both. Nothing is reset, and nothing is frozen. Programmed
 * registers are read back. For each unit type and socket one more counter counts a clock, unless an item
 * does: it distinguishes a count of 0 from a frozen unit. A socket that was left frozen is unfrozen if no
 * program counts on it, with a warning in the log. unc_session_stop() restores all that the start changed.
 * A unit that cannot be used is excluded, and sums are PARTIAL; if no item has a unit left, that is an
 * error. After an error nothing is left changed, as far as it can be written.
 * Errors: UNC_ERR_STATE it runs already or has no items; UNC_ERR_BUSY no counter is free, a filter
 * belongs to another program, or another program programs the same at the same time; UNC_ERR_PERMISSION;
 * UNC_ERR_IO an access failed: the sentence names unit, register and reason; UNC_ERR_UNAVAILABLE
 * the platform is for listing only, or the items of a unit need two access methods; UNC_ERR_DENIED.
 */
UNC_API int unc_session_start(struct unc_session *);

enum {
	UNC_VALUE_VALID = 1,     /* the numbers mean something */
	UNC_VALUE_FRESH = 2,     /* an interval of the item ends with this read: with several passes
	                            it lasts until each pass that the item needs was measured */
	UNC_VALUE_ESTIMATED = 4, /* not measured all of the time: scaled to all of it */
	UNC_VALUE_PARTIAL = 8,   /* of fewer units than the machine has: unc_session_partial() */
	UNC_VALUE_LOST = 16, /* not VALID until a retry has its unit again: unc_session_reason() */
	/* Not VALID yet: a pass that it needs was not measured, or next to nothing of it. */
	UNC_VALUE_WAITS = 32,
	/* For a while since start or reset nothing has shown whether a unit counts: another program
	 * may have frozen it. unc_session_reason() */
	UNC_VALUE_UNPROVEN = 64,
	/* Its counters were not read at one time, where the time since start or reset began or
	 * ends: the reads took more than 1 % of it, `late`. The same for its last interval. */
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
	/* UNC_VALUE_*; without VALID the numbers mean nothing and are 0, except units and of. If
	 * interval_seconds is not 0, the interval has a value all the same: a unit that was lost has
	 * counted again for less than 5 % of the time since start or reset */
	unsigned flags;
	/* Seconds over which its counters were read, where the time since start or reset began or
	 * where it ends, the longer; and the same of its last interval. 0 where it is not LATE. */
	double late;
	double interval_late;
	unsigned lacked; /* of - units where counting began */
};

/*
 * Reads all counters and fills values[0 .. n-1], one per item in the order of adding. n may be less than
 * the number of items, or 0 with values NULL. size: sizeof(*values). Elements behind the last item are
 * untouched. A ratio with denominator 0 is not VALID. If another program took, cleared or froze a counter,
 * or the counter cannot be read, its count is excluded. A sum over other units is then PARTIAL; without
 * other units the value is not VALID, and unc_session_reason() has the reason. A thread of the library
 * retries lost counters, with all items of their unit: a second later, then after twice the time each, at
 * most 64 s. A recovered counter counts anew, scaled to all of the time. It has no value if it was measured
 * for less than 5 % of that time.
 * An impossible step of a counter is noticed at once. Controls that were compared more than a second ago
 * are compared before a value is given, and all controls at a change of the pass and at the stop. If a
 * control has changed, the total lacks the counts since the comparison before; reads in between, less than
 * a second apart, had them. If no counter of a set has moved, a clock is asked. Works on a running
 * session; on a stopped one it gives the final values again.
 * Errors: UNC_ERR_STATE not started; UNC_ERR_IO no counter could be read; UNC_ERR_INVALID size.
 */
UNC_API int unc_session_read(struct unc_session *, struct unc_value *values, size_t n, size_t size);

/*
 * Reads all counters, and fills counts[0 .. n-1] with the counts of the items since start or reset, in the order
 * of adding: the `count` of unc_session_read(), at less cost. No interval ends. n may be less than the number of
 * items. Returns 0, or 1 if an item is a metric, or a value is not VALID or carries a mark. After 1, counts[] means
 * nothing; use unc_session_read(). Errors: as unc_session_read().
 */
UNC_API int unc_session_counts(struct unc_session *, uint64_t *counts, size_t n);

/*
 * Why the last value of item `id` is not VALID, or is UNPROVEN, INTERVAL_LATE or LATE: the first of
 * these, as a sentence. "" if none holds, or if there is no such item. Owned by the session, until
 * its next call; unc_session_error() is then the same text.
 */
UNC_API const char *unc_session_reason(struct unc_session *, int id);

/*
 * The units that the sum of item `id` lacks, the first by name and the others by number: "imc3 (socket 1)
 * and 2 more: REASON"; "" if it is whole, or if there is no such item. Units that could not be used are known at the
 * start; others come and go with each read. A unit that only the kernel's driver reaches is missing for events that
 * the driver does not carry.
 * Owned by the session, until its next call.
 */
UNC_API const char *unc_session_partial(struct unc_session *, int id);

/* A mark of a value whose error is not known; unc_session_reason() has the reason. */
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

/* Kinds of changes of a value. */
enum unc_news_kind {
	UNC_NEWS_NO_VALUE, /* not of a ratio whose denominator is 0 */
	UNC_NEWS_PARTIAL,  /* begins anew where more units are missing */
	UNC_NEWS_MARK, /* of the interval: begins anew if none had it for an hour; its end is not reported */
	UNC_NEWS_DEVICES /* what is below the ports of the item was found, or is another (unc_item.label) */
};
struct unc_news {
	int id; /* of the item */
	enum unc_news_kind kind;
	int begins; /* 0: it is over */
	/* the reason, as of unc_session_partial() or unc_session_reason(); the devices; "" if it is over. Valid
	 * until fn returns */
	const char *text;
	const struct unc_mark *mark; /* of UNC_NEWS_MARK */
};
typedef int (*unc_news_fn)(void *user, const struct unc_news *);

/*
 * Reports each begin and end since the last call once, as of the last start or read. Devices are looked up
 * at most once a minute. Stops at the first non-zero return of fn and returns it.
 * Errors: UNC_ERR_STATE in a forked process.
 */
UNC_API int unc_session_news(struct unc_session *, unc_news_fn fn, void *user);

/*
 * Why this session cannot use the journal of the node, files in /run/libuncore (UNCORE_RUN names
 * another folder), and so does not know the sessions of other processes. Its counters are then
 * foreign to them, and theirs to it: none is shared, and if it is killed, its settings stay. "" if
 * they are known, if there can be none (a simulated machine), or if the session programs no
 * register: it uses the kernel's driver or free-running counters. Known since unc_session_start();
 * owned by the session, until its next call.
 */
UNC_API const char *unc_session_unprotected(struct unc_session *);

/* Wall-clock seconds since start or reset, up to the last read, and of the last interval. Either
 * may be NULL. Errors: UNC_ERR_STATE never started. */
UNC_API int unc_session_time(struct unc_session *, double *since_start, double *interval);

/*
 * Multiplexes the passes of a session, from its next start on, by a thread of the library. ms: each
 * pass begins a turn in any period of this many milliseconds. So a program that reads no more often
 * finds every value FRESH, except on a machine that is too busy. A larger number disturbs the measured
 * program less. After start and reset, turns begin with 2 ms, and each round takes twice as long, up to
 * its full length. But a turn lasts at least 20 times as long as the change from one pass to the next.
 * Each round measures this change; at first the duration of the start stands for it. So programming
 * takes 5 % of the time. If programming is slow, a round is longer than `ms`, and not every value is FRESH.
 * Sessions of the platform with the same passes in the same order turn together, at the pace of the
 * fastest. With one pass there is nothing to do. 0: no more turns, also while it runs: the present
 * pass goes on. A value has no meaning (UNC_VALUE_WAITS) before each pass that it needs has had a turn,
 * and no interval ends with a moment of one. A value has no meaning either if it was measured for less
 * than 5 % of the time that its turns promise (unc_session_reason() says so), in all or in its interval.
 * A unit that cannot be used in a turn is excluded from it, as at a start. If a turn fails all the same,
 * for example if memory runs out, counting ends. unc_session_read() and unc_session_reset() then return
 * that error until the session is stopped, which returns it too, and starts anew.
 * Errors: UNC_ERR_STATE the session is running, and its passes are not multiplexed yet.
 */
UNC_API int unc_session_turns(struct unc_session *, unsigned ms);

/* Sets all totals to 0 (the hardware counters go on; a lost counter stays lost). Errors:
 * UNC_ERR_STATE not started; UNC_ERR_IO no counter could be read. */
UNC_API int unc_session_reset(struct unc_session *);

/*
 * Reads once more, stops the counters and restores what was found. A register that another program
 * has changed since is left as it is. A write that fails is retried.
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
 * The argument of fn is valid until fn returns. The plan sets a counter to half of its range. If unknown
 * programs may count, a start sets it to a value of the session's own.
 * Errors: UNC_ERR_BUSY no counter is free; UNC_ERR_PERMISSION and UNC_ERR_IO as for
 * unc_session_start().
 */
UNC_API int unc_session_plan(struct unc_session *, enum unc_phase phase, unc_operation_fn fn,
			     void *user);

/* -------------------------------------------------------- counters of the node */

/* The owner that has programmed a counter. */
enum unc_owner {
	UNC_OWNER_LIBUNCORE, /* a session that runs, of this program or another */
	UNC_OWNER_KERNEL,    /* the kernel's own driver, for a program that uses perf events */
	UNC_OWNER_FOREIGN,   /* a program that uses neither of them; it may have ended */
	UNC_OWNER_ORPHANED   /* a session whose process has ended without restoring it */
};

/* The result for a counter that was to be released. */
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
	const char *by;     /* "broker": uncored has opened a kernel event for the owner, on a
			       counter that the kernel chooses (number -1, name NULL); else NULL */
};
typedef int (*unc_counter_fn)(void *user, const struct unc_counter *);

/*
 * Walks the counters of the machine that are switched on, with their events and owners. A counter that several
 * sessions share comes once, with the process that has programmed it. Stops at the first non-zero return of fn and
 * returns it. The argument of fn, except `unit`, is valid until fn returns. Nothing is written.
 * Sessions are known by the journal of the node (unc_session_unprotected()). If it cannot be read, sessions of
 * other processes come as foreign, with a warning in the log. Units out of reach also cause a warning. A counter in
 * no journal is the kernel's, if the kernel has a driver for monitors and a process may have perf events open.
 * The events that the broker of the node has given out since it began come last, even if no unit can be read.
 * Errors: UNC_ERR_UNAVAILABLE the platform is for listing only, or no unit can be read (the sentence
 * says why); UNC_ERR_BUSY a process has the lock of the node, and is stopped or hangs; UNC_ERR_IO,
 * UNC_ERR_PERMISSION a unit could not be read: fn has had the counters of the others. The sentence is
 * in unc_platform_error().
 */
UNC_API int unc_counters_walk(struct unc_platform *, unc_counter_fn fn, void *user);

enum { UNC_RELEASE_FORCE = 1 }; /* also foreign counters, and counters that other users left */

/*
 * Frees orphaned counters. It restores what their owners found, if the control still holds what they
 * programmed, and unfreezes the units and sockets that they froze. With UNC_RELEASE_FORCE the controls of
 * foreign counters become 0 as well, and frozen units on which nobody counts any more are unfrozen.
 * Counters of the kernel and of running sessions are never touched.
 * Only UNC_RELEASE_FORCE switches off counters that sessions of other users have left; sessions of that user
 * restore what was found there.
 * flags: 0 or UNC_RELEASE_FORCE. fn: called twice for each counter that is switched on. The first call is
 * before anything is done, with `release` UNC_RELEASE_FOUND; a non-zero return ends the walk, is returned,
 * and nothing is done. The second call is after all is done, with the result; a non-zero return ends the
 * walk. A counter that has changed between the two calls is left as it is.
 * Errors: those of unc_counters_walk(); UNC_ERR_INVALID an unknown flag; UNC_ERR_UNAVAILABLE
 * force is requested, but the journal of the node cannot be used, so a session's counter might be taken for a
 * foreign one: nothing is done; UNC_ERR_PERMISSION, UNC_ERR_DENIED, UNC_ERR_IO something could not be restored:
 * fn has had all results. The sentence is in unc_platform_error().
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
	/* Filled by unc_register_read(); in unc_register_walk() not known: -1, 0, "" */
	int socket;
	int known; /* 1: `value` is what it holds */
	uint64_t value;
	const char *reason; /* why it could not be read; else "" */
};
typedef int (*unc_register_fn)(void *user, const struct unc_register *);

/* Walks every register of the tables of the platform's CPU, one socket. The argument of fn is valid
 * until fn returns. Stops at the first non-zero return of fn and returns it; no errors of its own. */
UNC_API int unc_register_walk(const struct unc_platform *, unc_register_fn fn, void *user);

/*
 * Walks the registers of a unit of the machine, in the order of the tables, with their values. Each is read
 * once, a moment before fn gets it. Nothing is written, and only registers of monitors are read, as
 * anywhere. A register that has no value (it is write-only, or in a part of the unit out of reach) or that
 * cannot be read comes with the reason. A unit of memory whose place is not in the tables comes with
 * physical addresses, and `bar` NULL. Stops at the first non-zero return of fn and returns it.
 * unit: from unc_unit_get(), or any other descriptor of the platform.
 * Errors: UNC_ERR_NOT_FOUND the machine has no such unit; UNC_ERR_UNAVAILABLE its registers cannot be
 * used, and why: then fn is not called. UNC_ERR_IO, UNC_ERR_PERMISSION and the like, after fn has had all:
 * the first reason why a register that should be readable could not be read.
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
 * counters in use and what they count, frozen units. It also tests whether writes work: on each socket and in each
 * space one control of an unused unit is written with the value that it has. A check that is no failure has
 * `ok` set. On a CPU without a table the walk ends there.
 * options: as for unc_platform_open(), `cpu` is ignored. fn: called once a check, or more often
 * ("in use"); its strings are valid until it returns; non-zero ends the walk. Returns the number of
 * failed checks, or an error: UNC_ERR_INVALID fn is NULL, or options->size. The sentence is in
 * unc_open_error().
 */
UNC_API int unc_doctor(const struct unc_options *options, unc_check_fn fn, void *user);

/*
 * Writes the machine into a text file, which must not exist: all that discovery and unc_doctor() read,
 * errors included, the devices of PCIe stacks, and the registers of its monitors. As `sysroot` of the
 * options the file stands for the machine. It has nothing else: no name of a machine, user or program.
 * The function checks as unc_doctor() does, and writes the same registers. For a simulated machine the
 * file has its description.
 * options: as for unc_doctor(). Returns 0, also if checks of the doctor have failed.
 * Errors: those of unc_doctor(); UNC_ERR_INVALID the machine is a dump already; UNC_ERR_IO the file
 * exists, or cannot be written; UNC_ERR_RANGE a text is too long. The sentence is in unc_open_error().
 */
UNC_API int unc_gather(const struct unc_options *options, const char *file);

#ifdef __cplusplus
}
#endif
#endif
