/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the broker of a node (broker/uncored.c) and those who ask it (access/broker.c) say to each
 * other, over a socket of type SOCK_SEQPACKET: a message is a request or an answer, in the byte
 * order of the machine. Who asks is who the kernel says (SO_PEERCRED). What was asked for over a connection is
 * kept, and shared with other processes of the user, until it is given back as often, or the connection ends.
 *
 * All versions begin a message with struct unc_wire_head, and an answer goes on with `code` and
 * `text`: so each can say that it does not understand the other.
 */
#ifndef UNC_WIRE_H
#define UNC_WIRE_H

#include "host/events.h"

#define UNC_WIRE_SOCKET "/run/uncored/socket"

enum {
	UNC_WIRE_MAGIC = 0x42434e55, /* "UNCB" */
	UNC_WIRE_VERSION = 2,
	UNC_WIRE_FDS = 253,   /* descriptors of an answer: the kernel passes no more at once */
	UNC_WIRE_SETS = 8,    /* of a request */
	UNC_WIRE_EVENTS = 64, /* of a set */
	UNC_WIRE_PMU = 48,
	UNC_WIRE_TEXT = 512,
	UNC_WIRE_ROWS = 16,
	UNC_WIRE_NOBODY = 65534 /* the user id of those that a user namespace does not map */
};

enum unc_wire_kind {
	UNC_WIRE_OPEN = 1, /* n sets: all descriptors, set after set, the leader of each first */
	UNC_WIRE_ASK, /* what this user may count, in `text`; n 1: whether any of this PMU, of no events */
	UNC_WIRE_LIST, /* n: the first row: who has what, up to UNC_WIRE_ROWS rows */
	UNC_WIRE_CLOSE /* n sets that were had over this connection are given back */
};

struct unc_wire_head {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum unc_wire_kind; an answer repeats it */
	uint32_t n;    /* of an answer: descriptors, or rows */
	uint32_t rest; /* 0 */
};

/* Events that are to count together on one PMU. */
struct unc_wire_set {
	char pmu[UNC_WIRE_PMU]; /* its name in sysfs, which ends with a zero */
	uint32_t cpu;           /* one of its cpumask */
	uint32_t n;
	uint32_t dead; /* 1: the one that was had over this connection does not count any more */
	uint32_t rest; /* 0 */
	struct unc_kernel_event event[UNC_WIRE_EVENTS]; /* n of them; zeros behind */
};

struct unc_wire_request { /* ends behind set n */
	struct unc_wire_head head;
	struct unc_wire_set set[UNC_WIRE_SETS];
};

/* Events that somebody has. */
struct unc_wire_row {
	char pmu[UNC_WIRE_PMU];
	struct unc_kernel_event event;
	uint32_t uid;
	uint32_t cpu;
	int64_t pid;    /* who asked first */
	uint32_t users; /* connections that have it */
	uint32_t age;   /* seconds since it was opened */
};

struct unc_wire_answer { /* ends behind row n */
	struct unc_wire_head head;
	int32_t code;  /* 0, or UNC_ERR_* with its sentence in text */
	uint32_t next; /* UNC_WIRE_LIST: the first row that is not told yet; 0: all were */
	char text[UNC_WIRE_TEXT];
	int64_t since; /* when the broker began, seconds since 1970: of what is older it knows nothing */
	struct unc_wire_row row[UNC_WIRE_ROWS];
};

#endif
