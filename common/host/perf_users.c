/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/perf_users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first pid namespace, in which all processes are seen: PROC_PID_INIT_INO of linux/proc_ns.h. */
#define FIRST_NAMESPACE "pid:[4026531836]"

static bool link_is(int folder, const char *name, const char *target)
{
	char to[64];
	ssize_t n = readlinkat(folder, name, to, sizeof(to));

	return n == (ssize_t)strlen(target) && memcmp(to, target, (size_t)n) == 0;
}

/* Whether a descriptor of a process is an event. *seen: the descriptors could be listed. */
static bool has_event(const struct unc_fs *fs, const char *pid, bool *seen)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool has = false;
	DIR *dir = NULL;

	if (unc_fs_path(fs, path, sizeof(path), "/proc/%s/fd", pid) == 0)
		dir = opendir(path);
	/* A process that has just ended has no descriptors. */
	*seen = dir || errno == ENOENT || errno == ESRCH;
	while (dir && !has && (entry = readdir(dir)))
		has = link_is(dirfd(dir), entry->d_name, "anon_inode:[perf_event]");
	if (dir)
		closedir(dir);
	return has;
}

static void add_user(const struct unc_fs *fs, const char *pid, struct unc_perf_users *out)
{
	char command[64] = "";

	out->n++;
	out->pid = strtoll(pid, NULL, 10);
	unc_fs_text(fs, command, sizeof(command), "/proc/%s/comm", pid);
	snprintf(out->command, sizeof(out->command), "%.15s", command);
	unc_process_clean(out->command);
}

void unc_perf_users_find(const struct unc_fs *fs, struct unc_perf_users *out)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool first = false, seen;
	DIR *dir = NULL;

	*out = (struct unc_perf_users){
		.all = unc_fs_path(fs, path, sizeof(path), "/proc/self/ns/pid") == 0 &&
		       link_is(AT_FDCWD, path, FIRST_NAMESPACE)};
	if (unc_fs_path(fs, path, sizeof(path), "/proc") == 0)
		dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[strspn(entry->d_name, "0123456789")])
			continue;
		first |= strcmp(entry->d_name, "1") == 0;
		if (has_event(fs, entry->d_name, &seen))
			add_user(fs, entry->d_name, out);
		out->all &= seen;
	}
	/* If /proc hides the processes of other users (hidepid), process 1 is hidden too. */
	out->all &= first;
	if (dir)
		closedir(dir);
}

/* Whether the driver has a timer, as it has for each unit that it counts on. -1: timers cannot be read. */
static int has_timer(const struct unc_fs *fs)
{
	char path[PATH_MAX], line[256];
	FILE *file = NULL;
	int has;

	if (unc_fs_path(fs, path, sizeof(path), "/proc/timer_list") == 0)
		file = fopen(path, "re");
	has = file ? 0 : -1;
	while (has == 0 && fgets(line, sizeof(line), file))
		has = strstr(line, "uncore_pmu_hrtimer") != NULL;
	if (file)
		fclose(file);
	return has;
}

bool unc_perf_may_count(const struct unc_fs *fs)
{
	int timer = has_timer(fs);
	struct unc_perf_users users;
	bool seen;

	if (timer == 0)
		return false;
	unc_perf_users_find(fs, &users);
	return users.n > has_event(fs, "self", &seen) || (timer > 0 && !users.all);
}

/* ---- rights */

int unc_perf_level(const struct unc_fs *fs, int *level)
{
	char text[32], *end;
	int rc = unc_fs_text(fs, text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid");
	long value;

	if (rc < 0)
		return rc;
	value = strtol(text, &end, 10);
	if (end == text || *end || value < -100 || value > 100) {
		errno = EBADMSG;
		return UNC_ERR_IO;
	}
	*level = (int)value;
	return 0;
}

/* Linux itself requires CAP_PERFMON above 0 and has no level above 2. Level 3 of Debian and Android,
 * and level 4 of Ubuntu, allow the call to CAP_SYS_ADMIN only. */
enum unc_perf_right unc_perf_right(int level)
{
	return level >= 3 ? UNC_PERF_ADMIN : level > 0 ? UNC_PERF_PERFMON : UNC_PERF_EVERYBODY;
}

int unc_perf_refused(const struct unc_fs *fs, int errno_value, struct unc_error *err)
{
	int level;

	if (errno_value == EACCES && fs && unc_perf_level(fs, &level) == 0 &&
	    unc_perf_right(level) != UNC_PERF_EVERYBODY)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"perf_event_open: permission denied: "
				"kernel.perf_event_paranoid=%d asks for %s; 0 asks for nothing",
				level,
				unc_perf_right(level) == UNC_PERF_ADMIN
					? "CAP_SYS_ADMIN"
					: "CAP_PERFMON or CAP_SYS_ADMIN");
	return unc_fail(err, UNC_ERR_PERMISSION,
			"perf_event_open: %s: a security module or a container's seccomp profile "
			"forbids what kernel.perf_event_paranoid would allow",
			strerror(errno_value));
}
