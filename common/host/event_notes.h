/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of groups of the kernel's events that processes of one user have open: which events, under
 * which descriptors of which process, so that another one can take these instead of counters of its
 * own. One file a user, beside the ledger (ledger.h), that nobody else may write: what it says of a
 * descriptor nobody can prove in full. What has ended without a word is forgotten by whoever looks.
 */
#ifndef UNC_EVENT_NOTES_H
#define UNC_EVENT_NOTES_H

#include "host/ledger_file.h"

enum {
	UNC_NOTED_EVENTS = 11, /* of a group; one of more is not noted */
	UNC_NOTES_OF_PLACE = 16
};

struct unc_noted_event {
	uint64_t config, config1, config2;
	uint64_t id; /* the kernel's own, that no other event ever has */
};

struct unc_note {
	uint32_t type, cpu; /* its place: the PMU, and the CPU that stands for the socket */
	uint32_t n;         /* its events, in the order of opening; 0: no note */
	uint32_t rest;      /* 0 */
	struct unc_noted_event event[UNC_NOTED_EVENTS];
	uint64_t holder[UNC_LEDGER_HOLDERS / 64]; /* who has it open */
	uint64_t more[2];                         /* 0 */
};

/* Who has it open, and what its descriptors are there. */
struct unc_note_holder {
	unsigned number;
	int64_t pid;
	int fd[UNC_NOTED_EVENTS];
};

struct unc_notes;

/* Those of a folder; `make`: it may be made. Nothing is opened yet. NULL: out of memory. */
struct unc_notes *unc_notes_new(const char *dir, bool make);
void unc_notes_free(struct unc_notes *);

/*
 * Nobody else opens a group while this is locked. False: there is no such file, it is not this
 * user's, or somebody has held the lock for long; nothing is shared then. errno: EMFILE, or another.
 */
bool unc_notes_lock(struct unc_notes *);
void unc_notes_unlock(struct unc_notes *);

/* Under the lock: UNC_NOTES_OF_PLACE notes, among which those of a place are; NULL: they cannot be
 * read. They stay until the next call. */
struct unc_note *unc_notes_at(struct unc_notes *, uint32_t type, uint32_t cpu);
/* The first living holder from out->number on that can be asked. The dead are forgotten. */
bool unc_notes_next(struct unc_notes *, struct unc_note *, struct unc_note_holder *out);
/* It does not have these events any more. */
void unc_notes_drop(struct unc_notes *, struct unc_note *, unsigned holder);
/* Nobody is to take them. */
void unc_notes_remove(struct unc_notes *, struct unc_note *);
/* This process has them open as well. */
void unc_notes_hold(struct unc_notes *, struct unc_note *, const int *fd);
/* A group that was opened; where there is no room it is not noted. */
void unc_notes_add(struct unc_notes *, const struct unc_note *, const int *fd);
/* Before a group is closed, by the id of its first event; takes the lock. */
void unc_notes_leave(struct unc_notes *, uint32_t type, uint32_t cpu, uint64_t id);

#endif
