/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker: opens events of the kernel's uncore driver for users whom the site allows, and passes
 * the descriptors. It touches no register, and is not asked when they are read.
 */
#ifndef UNC_BROKER_H
#define UNC_BROKER_H

#include <sys/types.h>

#include "host/cpu.h"
#include "host/wire.h"
#include "machine/named.h"
#include "tables/table.h"

enum { MAX_CONNECTIONS = 4096, MAX_GRANTS = 4096, MAX_LEASES = 131072, MAX_USERS = 256 };
/* Of each table a user has one part in so many at most, and the last part in so many is root's: nobody stops
 * another. */
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
	bool all[MAX_TYPES]; /* each event of these unit types without a filter, and beside it */
	struct word
		word[MAX_WORDS]; /* those of groups, and of `all` that the tables put a filter to */
	size_t n_words;
	gid_t group[MAX_GROUPS]; /* who may connect */
	unsigned n_groups;       /* 0: whoever the socket lets in */
	/* Limits of a user: requests in a second; sets on a unit that do not count together. */
	uint32_t descriptors, connections, requests, sets;
	char told[256]; /* "MEM, LINK, PCIE on imc, upi": for people */
};

/* Reads the file of the site; one that is not there: the defaults. UNC_ERR_DENIED: somebody else than
 * root may write it; UNC_ERR_TABLE with file:line; UNC_ERR_IO. *out is as it was after an error. */
int policy_read(const char *path, const struct unc_table *, int sockets, struct policy *out,
		struct unc_error *err);
/* Whether a user may have an event (NULL: any) of a PMU: 0, or UNC_ERR_PERMISSION, UNC_ERR_INVALID,
 * UNC_ERR_UNAVAILABLE. known: the bits that the PMU's format names. *type: of the table. */
int policy_allows(const struct policy *, const struct unc_table *, uid_t uid, const char *pmu,
		  const struct unc_kernel_event *, const struct unc_kernel_event *known,
		  uint16_t *type, struct unc_error *err);

/* ---- grants.c: what is open, and for whom */

/* A group of events that is open for one user; all connections that have it lease it. */
struct grant {
	bool used;
	bool retired; /* its holder says that it is dead: nobody gets it any more, nothing is open */
	uid_t uid;
	pid_t pid;
	uint64_t opened; /* ns */
	unsigned leases; /* connections that have it */
	struct unc_wire_set set;
	int fd[UNC_WIRE_EVENTS];
};

struct lease {
	uint16_t connection, grant;
	unsigned times; /* that it was asked for over the connection, and not given back */
};

/* All that counts against a user's limits. */
struct user {
	uid_t uid;
	bool used;
	unsigned connections, grants, leases, descriptors;
	double tokens; /* requests and events that he may have at once; less than 0: he waits */
	uint64_t seen; /* ns: when the tokens were those */
	uint64_t turn; /* of the loop, in which he was heard last */
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
	unsigned untaken; /* descriptors of its last answer, if that was not taken yet */
	bool ended; /* and it has ended: it stays until that is, for the kernel has them on the way */
	uint64_t not_before; /* ns: when it is heard again */
};

struct broker {
	struct unc_machine machine; /* its files and the kernel's events alone */
	struct unc_table table;
	struct unc_named
		named; /* that it is of, where the kernel names PMUs which no table knows */
	struct unc_topology topology;
	struct policy policy;
	const char *policy_path;
	int64_t since; /* seconds since 1970 */
	unsigned most; /* descriptors that it may keep for others */
	unsigned kept;
	uint64_t clock, turn;  /* ns, at this turn of its loop; its number */
	unsigned from;         /* the connection that is heard first */
	struct user strangers; /* of all who are refused when they come: for the log */
	struct unc_error
		unable; /* why nobody is served: its policy, or it may open nothing itself */
	unsigned n_connections;
	size_t n_leases, n_grants; /* what follows in use is below */
	struct connection connection[MAX_CONNECTIONS];
	struct user user[MAX_USERS];
	struct grant grant[MAX_GRANTS];
	struct lease lease[MAX_LEASES];
};

/* All descriptors of a request for a connection: *n of them into fd. All or nothing. */
int grants_open(struct broker *, unsigned connection, const struct unc_wire_request *, int *fd,
		size_t *n, struct unc_error *err);
/* Gives back the first n sets of a request. UNC_ERR_NOT_FOUND: the connection has not one of them. */
int grants_close(struct broker *, unsigned connection, const struct unc_wire_request *, uint32_t n,
		 struct unc_error *err);
/* All that it had. */
void grants_end(struct broker *, unsigned connection);
/* NULL: there are too many users. */
struct user *grants_user(struct broker *, uid_t uid);
/* NULL: he is not known. */
struct user *grants_known(struct broker *, uid_t uid);

/* ---- audit.c: a line a user and minute */

/* What a user was given, or why he was refused. */
void audit_given(struct broker *, const struct grant *);
void audit_refused(struct broker *, uid_t uid, pid_t pid, const char *why);
/* Writes lines that are due, or all; ns until the next is: UINT64_MAX: none will be. */
uint64_t audit_write(struct broker *, bool all);

/* ---- serve.c: those who are connected */

/* One who connects. */
void serve_accept(struct broker *, int listening);
/* A request of one who is heard. */
void serve_request(struct broker *, unsigned connection);
void serve_close(struct broker *, unsigned connection);

/* ---- uncored.c */

/* Whether it may open events itself: in `unable`, with what is missing. */
void broker_try_right(struct broker *);

/* A line for the journal; priority as in syslog(3): 3 error, 4 warning, 6 information. */
void broker_log(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
