/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of the kernel's events among processes of one user: what one has open another takes by its
 * descriptors (pidfd_getfd(), where the kernel lets the one trace the other), so that all of them use
 * the same counters. Whatever is in the way, counters of its own do as well, as long as there are any.
 */
#include <errno.h>
#include <string.h>

#include "access/kernel_group.h"
#include "host/fs.h"
#include "host/ledger_events.h"
#include "host/machine.h"

/* ---- taking it */

/* A number of a descriptor is given again to the next file: the ids are not. */
static int check_ids(const struct unc_perf_group *group, const struct unc_note *note)
{
	struct unc_machine *machine = group->machine;

	for (size_t i = 0; i < note->n; i++) {
		uint64_t id;

		if (machine->events->id(machine, group->fd[i], &id) < 0 || id != note->event[i].id)
			return EBADF;
	}
	return 0;
}

static int take_events(struct unc_perf_group *group, const struct unc_note_holder *holder)
{
	struct unc_machine *machine = group->machine;
	int rc;

	do
		rc = machine->events->take(machine, holder->pid, holder->fd, group->n, group->fd);
	while (rc < 0 && errno == EMFILE && unc_fs_raise_limit());
	return rc < 0 ? errno : 0;
}

/* All of a note: an event leaves its group when nobody has it open. */
static struct unc_perf_group *new_group(struct unc_machine *machine, struct unc_perf_group *next,
					const struct unc_note *note)
{
	const struct unc_kernel_place place = {.type = note->type, .cpu = note->cpu};
	struct unc_kernel_event event[UNC_NOTED_EVENTS];

	for (size_t i = 0; i < note->n; i++)
		event[i] = (struct unc_kernel_event){note->event[i].config, note->event[i].config1,
						     note->event[i].config2};
	return unc_perf_group_new(machine, next, &place, event, note->n);
}

/* 0, or errno: EBADF, ESRCH: the holder does not have them; ENODEV, EBUSY: they do not count. */
static int take_group(struct unc_perf_group *group, const struct unc_note *note,
		      const struct unc_note_holder *holder)
{
	int error = take_events(group, holder);

	if (error)
		return error;
	error = check_ids(group, note);
	if (!error)
		error = unc_perf_group_runs(group);
	if (error)
		unc_perf_group_close_events(group, group->n);
	return error;
}

/* By one of those who have it; false: none lets it be taken. */
static bool take(struct unc_perf_group *group, struct unc_ledger *ledger, size_t i,
		 const struct unc_note *note)
{
	struct unc_note_holder holder = {0};

	for (; unc_notes_holder(ledger, i, &holder); holder.number++) {
		int error = take_group(group, note, &holder);

		if (error == 0 && unc_notes_add(ledger, note, group->fd))
			group->id = note->event[0].id;
		if (error == 0)
			return true;
		if (error == EBADF || error == ESRCH) /* a child keeps its lock */
			unc_notes_drop(ledger, i, holder.number);
		if (error == ENODEV || error == EBUSY)
			unc_notes_remove(ledger, i);
	}
	return false;
}

struct unc_perf_group *unc_perf_group_join(struct unc_machine *machine, struct unc_ledger *ledger,
					   struct unc_perf_group *next,
					   const struct unc_kernel_place *place,
					   const struct unc_kernel_event *events, size_t n)
{
	struct unc_note note;

	for (size_t i = 0; unc_notes_next(ledger, place->type, place->cpu, &i, &note); i++) {
		struct unc_perf_group *group = new_group(machine, next, &note);

		if (group && unc_perf_group_has(group, place, events, n) &&
		    take(group, ledger, i, &note))
			return group;
		if (group)
			unc_perf_group_free(group);
	}
	return NULL;
}

/* ---- letting others take */

void unc_perf_group_note(struct unc_perf_group *group, struct unc_ledger *ledger)
{
	struct unc_machine *machine = group->machine;
	struct unc_note note = {
		.type = group->place.type, .cpu = group->place.cpu, .n = (uint32_t)group->n};

	if (group->n > UNC_NOTED_EVENTS)
		return;
	for (size_t i = 0; i < group->n; i++) {
		struct unc_noted_event *event = &note.event[i];

		*event = (struct unc_noted_event){group->event[i].config, group->event[i].config1,
						  group->event[i].config2, 0};
		if (machine->events->id(machine, group->fd[i], &event->id) < 0)
			return;
	}
	if (unc_notes_add(ledger, &note, group->fd))
		group->id = note.event[0].id;
}
