/* SPDX-License-Identifier: BSD-3-Clause */
/* The command that stat runs: a process that waits until counting has begun. */
#ifndef UNC_TOOL_STAT_CHILD_H
#define UNC_TOOL_STAT_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
	char **word;
	/* inherited by the child as this process got it */
	sigset_t signals;
	struct sigaction on_pipe, on_size;
	int out; /* stdout of the child; -1: the same as ours */

	pid_t pid;  /* 0: none, or ended */
	int held;   /* socket that holds the child back, and reports why exec failed */
	int status; /* its exit status, when it has ended */
};

/* Forks the child. 0, or the exit status. */
int child_start(struct child *);
/* Lets the command start. 0, or the exit status if there is no such command. */
int child_release(struct child *);
/* Ends the process that was to become the command. */
void child_abandon(struct child *);
/* Checks whether the child has ended. */
bool child_ended(struct child *);

#endif
