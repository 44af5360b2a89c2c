/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the record of the node: groups of the kernel's events that processes of one user have open;
 * which events, under which descriptors of which process, so that another one can take these
 * instead of counters of its own. Others are not asked: what is said of a descriptor nobody can
 * prove in full. What has ended without a word is forgotten by whoever looks.
 *
 * All of it is done under the lock of the ledger.
 */
#ifndef UNC_LEDGER_EVENTS_H
#define UNC_LEDGER_EVENTS_H

#include "host/ledger.h"

enum { UNC_NOTED_EVENTS = 11 }; /* of a group; one of more is not noted */

struct unc_noted_event {
	uint64_t config, config1, config2;
	uint64_t id; /* the kernel's own, that no other event ever has */
};

struct unc_note {
	uint32_t type, cpu; /* its place: the PMU, and the CPU that stands for the socket */
	uint32_t n;         /* its events, in the order of opening */
	uint32_t rest;      /* 0 */
	struct unc_noted_event event[UNC_NOTED_EVENTS];
};

/* Who has it open, and what its descriptors are there. */
struct unc_note_holder {
	unsigned number;
	int64_t pid;
	int fd[UNC_NOTED_EVENTS];
};

/* Whether this process may share groups: the lock is held, on a file. */
bool unc_notes_shared(const struct unc_ledger *);
/* The next note of a place from *i on, which becomes its number; false: there are no more. */
bool unc_notes_next(struct unc_ledger *, uint32_t type, uint32_t cpu, size_t *i, struct unc_note *);
/* The first living holder of note i from out->number on that can be asked. */
bool unc_notes_holder(struct unc_ledger *, size_t i, struct unc_note_holder *out);
/* It does not have these events any more. */
void unc_notes_drop(struct unc_ledger *, size_t i, unsigned holder);
/* Nobody is to take them. */
void unc_notes_remove(struct unc_ledger *, size_t i);
/* This process has them open, as a group of its own or one that it has taken. False: there is no
 * room to note it; else it ends with unc_notes_leave(), before the group is closed. */
bool unc_notes_add(struct unc_ledger *, const struct unc_note *, const int *fd);
void unc_notes_leave(struct unc_ledger *, uint32_t type, uint32_t cpu, uint64_t id);

#endif
