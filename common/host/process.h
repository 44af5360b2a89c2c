/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process somebody is, told to others: a number alone is given again to the next. */
#ifndef UNC_PROCESS_H
#define UNC_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNC_COMMAND_MAX = 16 };

struct unc_process {
	int64_t pid;
	uint64_t start; /* in clock ticks since boot; 0: /proc does not tell */
	uint64_t space; /* of its number: the inode of its pid namespace; 0: unknown */
	char command[UNC_COMMAND_MAX];
};

/* The one that runs. */
void unc_process_self(struct unc_process *);
/* The command of a process, told by its numbers; false: it has ended, or is not seen from here. */
bool unc_process_name(int64_t pid, uint64_t start, uint32_t space, char command[UNC_COMMAND_MAX]);
/* The command of the process that has a number now, if it has run for so many seconds; false: it has not (the number
 * is another one's by now), or is not seen from here. */
bool unc_process_since(int64_t pid, uint64_t seconds, char command[UNC_COMMAND_MAX]);
/* Whether it is stopped by a signal or a debugger, as far as it is seen from here. */
bool unc_process_stopped(int64_t pid);
/* Makes a name of unknown origin fit to be printed. */
void unc_process_clean(char command[UNC_COMMAND_MAX]);
/* A thread that takes no signals: they are the program's. 0, or an errno. */
int unc_thread_new(pthread_t *out, void *(*run)(void *user), void *user);

#endif
