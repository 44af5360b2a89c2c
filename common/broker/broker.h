/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker: opens events of the kernel's uncore driver for users whom the site allows, and passes
 * the descriptors. It touches no register, and takes no part when the events are read.
 */
#ifndef UNC_BROKER_H
#define UNC_BROKER_H

#include <sys/types.h>

#include "host/cpu.h"
#include "host/wire.h"
#include "machine/named.h"
#include "tables/table.h"

enum { MAX_CONNECTIONS = 4096, MAX_GRANTS = 4096, MAX_LEASES = 131072, MAX_USERS = 256 };
/* No user can block others: a user has at most 1/SHARE of each table, and the last 1/ROOTS is for root. */
enum { SHARE = 4, ROOTS = 8 };

/* ---- policy.c: what the site allows */

enum { MAX_WORDS = 8192, MAX_TYPES = 256, MAX_GROUPS = 16 };

/* An event of the tables, as the kernel takes it. */
struct word {
	uint16_t type; /* of the table */
	uint8_t pmu;   /* of the unit */
	struct unc_kernel_event event;
};

struct policy {
	bool all[MAX_TYPES]; /* unit types of which every event without a filter is allowed; also: */
	struct word word
		[MAX_WORDS]; /* events of groups; of `all`, those with a filter set by the tables */
	size_t n_words;
	gid_t group[MAX_GROUPS]; /* who may connect */
	unsigned n_groups;       /* 0: every user that the socket lets in */
	/* Limits of a user: requests in a second; sets on a unit that do not count together. */
	uint32_t descriptors, connections, requests, sets;
	char told[256]; /* "MEM, LINK, PCIE on imc, upi": for people */
};

/* Reads the site's policy; without the file, the defaults. UNC_ERR_DENIED: a user other than root may
 * write the file; UNC_ERR_TABLE with file:line; UNC_ERR_IO. After an error *out is unchanged. */
int policy_read(const char *path, const struct unc_table *, int sockets, struct policy *out,
		struct unc_error *err);
/* Whether a user may have an event (NULL: any) of a PMU: 0, or UNC_ERR_PERMISSION, UNC_ERR_INVALID,
 * UNC_ERR_UNAVAILABLE. known: the bits that the PMU's format names. *type: of the table. */
int policy_allows(const struct policy *, const struct unc_table *, uid_t uid, const char *pmu,
		  const struct unc_kernel_event *, const struct unc_kernel_event *known,
		  uint16_t *type, struct unc_error *err);

/* ---- grants.c: what is open, and for whom */

/* A set of events that is open for one user; each connection that uses it has a lease. */
struct grant {
	bool used;
	bool retired; /* its holder reported it dead: closed here, and not handed out again */
	uid_t uid;
	pid_t pid;
	uint64_t opened; /* ns */
	unsigned leases; /* number of connections that use it */
	struct unc_wire_set set;
	int fd[UNC_WIRE_EVENTS];
};

struct lease {
	uint16_t connection, grant;
	unsigned times; /* requests for it over the connection, minus those given back */
};

/* A user: what counts against the limits, and the next line of the log. */
struct user {
	uid_t uid;
	bool used;
	unsigned connections, grants, leases, descriptors;
	double tokens; /* requests and events allowed at once; below 0: the user waits */
	uint64_t seen; /* ns: when tokens was computed */
	uint64_t turn; /* the last turn of the loop that served the user */
	/* The next line of the log, and when the last one was written. */
	unsigned given, refused;
	uint64_t logged;
	pid_t pid;
	char last[256];
};

struct connection {
	int fd; /* -1: none */
	uid_t uid;
	pid_t pid;
	unsigned
		untaken; /* descriptors of its last answer, if the client has not received it yet */
	bool ended;      /* closed, and kept until no descriptor is on the way in the kernel */
	uint64_t not_before; /* ns: earliest time of its next request */
};

struct broker {
	struct unc_machine machine; /* only its files and the kernel's events are used */
	struct unc_table table;
	struct unc_named
		named; /* that it is of, where the kernel names PMUs which no table knows */
	struct unc_topology topology;
	struct policy policy;
	const char *policy_path;
	int64_t since; /* seconds since 1970 */
	unsigned most; /* descriptors that it may keep for users; kept: how many it has */
	unsigned kept;
	uint64_t clock, turn;  /* ns, at this turn of its loop; its number */
	unsigned from;         /* the connection that is served first */
	struct user strangers; /* users refused when they connect, together: for the log */
	struct unc_error
		unable; /* why nobody is served: a bad policy, or no right to open events */
	unsigned n_connections;
	size_t n_leases, n_grants; /* entries from these numbers on are unused */
	struct connection connection[MAX_CONNECTIONS];
	struct user user[MAX_USERS];
	struct grant grant[MAX_GRANTS];
	struct lease lease[MAX_LEASES];
};

/* Opens all descriptors of a request, *n of them into fd; after an error none is open. */
int grants_open(struct broker *, unsigned connection, const struct unc_wire_request *, int *fd,
		size_t *n, struct unc_error *err);
/* Gives back the first n sets of a request. UNC_ERR_NOT_FOUND: the connection lacks one of them. */
int grants_close(struct broker *, unsigned connection, const struct unc_wire_request *, uint32_t n,
		 struct unc_error *err);
/* Gives back all sets of a connection. */
void grants_end(struct broker *, unsigned connection);
/* The entry of a user, made if needed. NULL: too many users. */
struct user *grants_user(struct broker *, uid_t uid);
/* The entry of a user. NULL: none. */
struct user *grants_known(struct broker *, uid_t uid);

/* ---- audit.c: a line a user and minute */

/* What a user was given, or why he was refused. */
void audit_given(struct broker *, const struct grant *);
void audit_refused(struct broker *, uid_t uid, pid_t pid, const char *why);
/* Writes the lines that are due, or all. Returns ns until the next one is due; UINT64_MAX: none. */
uint64_t audit_write(struct broker *, bool all);

/* ---- serve.c: those who are connected */

/* Accepts or refuses a new connection. */
void serve_accept(struct broker *, int listening);
/* Answers a request of a connection, unless its user has to wait. */
void serve_request(struct broker *, unsigned connection);
void serve_close(struct broker *, unsigned connection);

/* ---- uncored.c */

/* Tries whether the broker may open events; if not, `unable` says which right is missing. */
void broker_try_right(struct broker *);

/* A line for the journal; priority as in syslog(3): 3 error, 4 warning, 6 information. */
void broker_log(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
