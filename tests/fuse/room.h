/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to the machine beside its own doings: faults, neighbours, signals, time.
 *
 * A line of /control is an action, or an action that waits for its moment:
 *
 *   at SECONDS ACTION                          when the clock passes that time
 *   before|after N open|read|write PATTERN ACTION
 *                                              around the Nth access from now on (not of /clock
 *                                              and the like); reads and writes: of registers
 *
 *   fail open|read|write|stat PATTERN OFFSET ERRNO [times N] [after N]
 *   short PATTERN OFFSET BYTES [times N] [after N]   a read or write of so many bytes only
 *   value PATTERN OFFSET VALUE   what a register reads as (MSR: 64 bits, configuration: a dword)
 *   size PATTERN BYTES           a file ends there, as configuration space does for a mere user
 *   text PATH TEXT...            what a file holds (\n: a new line)
 *   hide PATH                    neither it nor what is below exists
 *   offline CPU, online CPU      of the running system, as by hotplug
 *   poke PATH OFFSET VALUE [BYTES]   a neighbour writes a register: 8 bytes of an MSR, 4 of others
 *   signal NAME [PID]            KILL, STOP, CONT, ...; default: to the process of the access
 *   stall SECONDS [PID]          the process of the access stands still for so long, behind it,
 *                                while others go on; where nobody else could move the clock, it
 *                                jumps
 *   advance SECONDS              the clock jumps
 *   cost SECONDS                 what each access to a register takes; each dword of
 *                                configuration space
 *   delays SEED ONE_IN LONGEST [PATTERN]   one of so many accesses to a register takes 0 to
 *                                LONGEST seconds, half of them before it, half behind it. Which
 *                                and how long is drawn from SEED alone. The last line counts
 *   delays off
 *   log off|writes|all           what goes to /log: accesses to registers
 *   clear                        no fault, no action waits, all CPUs online, the log is empty
 *   reset                        and the machine is new, its clock at 0
 *
 * PATTERN is one of fnmatch(3); OFFSET a number, or - for every one. An action that cannot be
 * is refused with EINVAL, and /control then reads as the reason.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum room_op { ROOM_OPEN, ROOM_READ, ROOM_WRITE, ROOM_STAT };

struct room;

/* An access by a process. */
struct room_access {
	enum room_op op;
	const char *path;
	uint64_t offset;
	size_t size;
	uint64_t value; /* what is written, or was read */
	bool reg;       /* of a register */
	pid_t pid;
	uint64_t later; /* ns that go by behind it */
};

/* The machine that the room is built around. */
struct room_machine {
	void *user;
	/* Writes a register as a process would, without faults. 0 or -errno. */
	int (*poke)(void *user, const char *path, uint64_t offset, uint64_t value, size_t size);
	void (*step)(void *user, uint64_t ns);
	uint64_t (*time)(void *user);
	int (*reset)(void *user);
	bool (*steps)(void *user); /* its clock is driven */
	unsigned (*cpus)(void *user);
};

struct room *room_new(const struct room_machine *);
void room_free(struct room *);

/* Runs one or more lines of /control. 0, -EINVAL (room_error() says why), -ENOMEM. */
int room_control(struct room *, const char *lines, size_t size);
const char *room_error(const struct room *);

/*
 * "SECONDS" moves the clock; what was to happen on the way happens at its time. "=TIME" moves it
 * to that time, or only to that of what happens before: who waits can look whether it ends the
 * wait. "-" moves it to the end of the first stall, if there is one: nobody waits for a time.
 */
int room_advance(struct room *, const char *seconds, size_t size);
/* Who has opened or closed /clock could move it: a process that lives in its time. */
void room_clock(struct room *, bool opened);

/* The time that an access takes goes by. */
void room_pass(struct room *);
/* Before an access: what waits for it happens. -errno: it fails. access->size may get less. */
int room_before(struct room *, struct room_access *);
/* After it, with what it returned. */
void room_after(struct room *, const struct room_access *, int result);

bool room_hidden(const struct room *, const char *path);
bool room_offline(const struct room *, unsigned cpu);
/* NULL: what the machine says. */
const char *room_text(const struct room *, const char *path);
/* Whether such a file is somewhere below. */
bool room_text_below(const struct room *, const char *path);
bool room_value(const struct room *, const char *path, uint64_t offset, uint64_t *value);
uint64_t room_size(const struct room *, const char *path, uint64_t size);

/* Lines "NUMBER SECONDS PID read|write PATH OFFSET VALUE RESULT". */
const char *room_log(const struct room *, size_t *size);

#endif
