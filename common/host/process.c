/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/process.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/fs.h"

struct stat_fields {
	char state;
	uint64_t start;
};

/* Reads the real /proc, not that of a root: processes run on this system, even if another machine is shown. */
static bool read_proc(char *buf, size_t size, int64_t pid, const char *file)
{
	return unc_fs_text(NULL, buf, size, "/proc/%lld/%s", (long long)pid, file) == 0;
}

/* proc(5): fields 3 and 22. The last parenthesis ends the command, which may hold others. */
static bool read_stat(int64_t pid, struct stat_fields *out)
{
	char text[1024];
	const char *at = read_proc(text, sizeof(text), pid, "stat") ? strrchr(text, ')') : NULL;

	return at && sscanf(at,
			    ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %" SCNu64,
			    &out->state, &out->start) == 2;
}

void unc_process_clean(char command[UNC_COMMAND_MAX])
{
	command[UNC_COMMAND_MAX - 1] = '\0';
	for (char *c = command; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void unc_process_self(struct unc_process *self)
{
	struct stat_fields fields;
	struct stat space;
	char command[64] = "";

	*self = (struct unc_process){.pid = getpid()};
	if (read_stat(self->pid, &fields))
		self->start = fields.start;
	if (stat("/proc/self/ns/pid", &space) == 0)
		self->space = space.st_ino;
	if (read_proc(command, sizeof(command), self->pid, "comm"))
		snprintf(self->command, sizeof(self->command), "%.15s", command);
	unc_process_clean(self->command);
}

static bool read_command(int64_t pid, char command[UNC_COMMAND_MAX])
{
	char text[64];

	if (!read_proc(text, sizeof(text), pid, "comm"))
		return false;
	snprintf(command, UNC_COMMAND_MAX, "%.15s", text);
	unc_process_clean(command);
	return true;
}

bool unc_process_since(int64_t pid, uint64_t seconds, char command[UNC_COMMAND_MAX])
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	struct stat_fields fields;
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return read_stat(pid, &fields) &&
	       fields.start / ticks + seconds <= (uint64_t)now.tv_sec + 1 &&
	       read_command(pid, command);
}

bool unc_process_stopped(int64_t pid)
{
	struct stat_fields fields;

	return read_stat(pid, &fields) && (fields.state == 'T' || fields.state == 't');
}

bool unc_process_name(int64_t pid, uint64_t start, uint32_t space, char command[UNC_COMMAND_MAX])
{
	struct stat_fields fields;
	struct stat ns;

	return stat("/proc/self/ns/pid", &ns) == 0 && (uint32_t)ns.st_ino == space &&
	       read_stat(pid, &fields) && fields.start == start && read_command(pid, command);
}

int unc_thread_new(pthread_t *out, void *(*run)(void *user), void *user)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(out, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed;
}
