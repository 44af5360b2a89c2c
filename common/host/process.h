/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a process, for other processes: a pid alone does not suffice, the kernel reuses it. */
#ifndef UNC_PROCESS_H
#define UNC_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNC_COMMAND_MAX = 16 };

struct unc_process {
	int64_t pid;
	uint64_t start; /* in clock ticks since boot; 0: not known */
	uint64_t space; /* inode of its pid namespace; 0: unknown */
	char command[UNC_COMMAND_MAX];
};

/* Describes the calling process. */
void unc_process_self(struct unc_process *);
/* Reads the command of the process with these numbers; false: it has ended, or cannot be seen from here. */
bool unc_process_name(int64_t pid, uint64_t start, uint32_t space, char command[UNC_COMMAND_MAX]);
/* Reads the command of the process that has the pid now, if it has run for so many seconds. False: it has not (the pid
 * was reused), or cannot be seen from here. */
bool unc_process_since(int64_t pid, uint64_t seconds, char command[UNC_COMMAND_MAX]);
/* Whether a process is stopped by a signal or a debugger; false also if it cannot be seen from here. */
bool unc_process_stopped(int64_t pid);
/* Makes a command name printable: other characters become '?'. */
void unc_process_clean(char command[UNC_COMMAND_MAX]);
/* Starts a thread that blocks all signals: they belong to the program. Returns 0 or an errno. */
int unc_thread_new(pthread_t *out, void *(*run)(void *user), void *user);

#endif
