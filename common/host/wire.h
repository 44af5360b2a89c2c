/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol between the broker of a node (broker/uncored.c) and its clients (access/broker.c), over a
 * socket of type SOCK_SEQPACKET. A message is a request or an answer, in the byte order of the machine. The
 * kernel tells who the client is (SO_PEERCRED). Events that a connection opened are kept, and shared with other
 * processes of the user, until they are closed as often as opened, or the connection ends.
 *
 * In every version a message begins with struct unc_wire_head, and an answer continues with `code` and
 * `text`: so each side can report a version that it does not understand.
 */
#ifndef UNC_WIRE_H
#define UNC_WIRE_H

#include "host/events.h"

#define UNC_WIRE_SOCKET "/run/uncored/socket"

enum {
	UNC_WIRE_MAGIC = 0x42434e55, /* "UNCB" */
	UNC_WIRE_VERSION = 2,
	UNC_WIRE_FDS = 253,   /* descriptors of an answer: the limit of the kernel */
	UNC_WIRE_SETS = 8,    /* of a request */
	UNC_WIRE_EVENTS = 64, /* of a set */
	UNC_WIRE_PMU = 48,
	UNC_WIRE_TEXT = 512,
	UNC_WIRE_ROWS = 16,
	UNC_WIRE_NOBODY = 65534 /* the user id of users that a user namespace does not map */
};

enum unc_wire_kind {
	UNC_WIRE_OPEN = 1, /* n sets: all descriptors, set after set, the leader of each first */
	UNC_WIRE_ASK, /* what this user may count, in `text`; n 1: about the PMU of one set without events */
	UNC_WIRE_LIST, /* open events, up to UNC_WIRE_ROWS rows; n: the first row */
	UNC_WIRE_CLOSE /* n sets that this connection opened */
};

struct unc_wire_head {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum unc_wire_kind; an answer repeats it */
	uint32_t n;    /* in an answer: descriptors, or rows */
	uint32_t rest; /* 0 */
};

/* Events that count together on one PMU. */
struct unc_wire_set {
	char pmu[UNC_WIRE_PMU]; /* its name in sysfs, zero-terminated */
	uint32_t cpu;           /* a CPU of its cpumask */
	uint32_t n;
	uint32_t dead; /* 1: this set was opened over this connection and no longer counts */
	uint32_t rest; /* 0 */
	struct unc_kernel_event event[UNC_WIRE_EVENTS]; /* n events; the rest is 0 */
};

struct unc_wire_request { /* ends after set n */
	struct unc_wire_head head;
	struct unc_wire_set set[UNC_WIRE_SETS];
};

/* An open event. */
struct unc_wire_row {
	char pmu[UNC_WIRE_PMU];
	struct unc_kernel_event event;
	uint32_t uid;
	uint32_t cpu;
	int64_t pid;    /* the process that asked first */
	uint32_t users; /* connections that use it */
	uint32_t age;   /* seconds since it was opened */
};

struct unc_wire_answer { /* ends after row n */
	struct unc_wire_head head;
	int32_t code;  /* 0, or UNC_ERR_* with its sentence in text */
	uint32_t next; /* UNC_WIRE_LIST: the next row to ask for; 0: no more */
	char text[UNC_WIRE_TEXT];
	int64_t since; /* start of the broker, seconds since 1970: it knows no older events */
	struct unc_wire_row row[UNC_WIRE_ROWS];
};

#endif
