/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/fs.h"
#include "host/ledger_inside.h"

/* ---- opening */

/* Waits for nothing. */
static int open_at(int folder, const char *path, int flags)
{
	int fd;

	do
		fd = openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	while (fd < 0 && errno == EMFILE && unc_fs_raise_limit());
	return unc_above_stdio(fd);
}

/* In a folder that its group may write and that is not sticky an older file of somebody could be
 * put in the place of the newer one. */
static int check_folder(int fd, const char *dir, struct unc_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return unc_fail(err, UNC_ERR_IO, "%.200s: %s", dir, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return unc_fail(
			err, UNC_ERR_DENIED,
			"%.200s belongs to user %u: the ledger needs a folder of root's, or "
			"of one's own",
			dir, (unsigned)st.st_uid);
	if (st.st_mode & S_IWOTH)
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s may be written by everybody: the ledger needs a folder "
				"that only root or a group may write",
				dir);
	if (st.st_mode & S_IWGRP && !(st.st_mode & S_ISVTX))
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s is not sticky: its group might replace the files of "
				"others there (chmod +t)",
				dir);
	return 0;
}

int unc_ledger_folder(struct unc_ledger *l, bool make, struct unc_error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
	const char *dir = l->dir;
	int fd, rc;

	if (l->folder)
		return 0;
	fd = open_at(AT_FDCWD, dir, flags);
	if (fd < 0 && errno == ENOENT && make && mkdir(dir, 0755) == 0)
		fd = open_at(AT_FDCWD, dir, flags);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s is not a folder (a link is not followed)", dir);
	if (fd < 0)
		return unc_fail(err, unc_fs_error(errno), "%.200s: %s", dir, strerror(errno));
	rc = check_folder(fd, dir, err);
	if (rc == 0 && !(l->folder = fdopendir(fd)))
		rc = unc_fail(err, unc_fs_error(errno), "%.200s: %s", dir, strerror(errno));
	if (rc < 0)
		close(fd);
	return rc;
}

/* Members of the folder's group share the node's file, and may read those of the users, whatever
 * the umask and the group of who comes first. */
static int make_file(int folder, const char *name, bool shared)
{
	int fd = open_at(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && fstat(folder, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0)
		(void)fchmod(fd, shared ? 0660 : 0640);
	return fd;
}

/* Its owner is the kernel's only word on who has written what is in it. */
static int check_file(const struct ledger_file *f, struct unc_error *err)
{
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return unc_fail(err, UNC_ERR_IO, "%s: %s", f->path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return unc_fail(err, UNC_ERR_DENIED,
				"%s is not a regular file with one name: remove it", f->path);
	if (f->user >= 0 && (st.st_uid != (uid_t)f->user || st.st_mode & (S_IWGRP | S_IWOTH)))
		return unc_fail(err, UNC_ERR_DENIED,
				"%s may be written by others than user %u: remove it", f->path,
				(unsigned)f->user);
	return 0;
}

int unc_ledger_file_open(const struct unc_ledger *l, struct ledger_file *f, bool make,
			 struct unc_error *err)
{
	int flags = f->user < 0 || f->user == geteuid() ? O_RDWR : O_RDONLY, fd = -1, rc;
	const char *name = f->path + snprintf(f->path, sizeof(f->path), "%.200s/", l->dir);
	const int folder = dirfd(l->folder);

	snprintf(f->path + strlen(f->path), UNC_LEDGER_NAME, f->user < 0 ? "ledger" : "ledger.%u",
		 (unsigned)f->user);
	/* Who loses the race to make it opens that of the winner. */
	for (int tries = 0; fd < 0 && tries < 3; tries++) {
		fd = open_at(folder, name, flags | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT && make)
			fd = make_file(folder, name, f->user < 0);
		if (fd < 0 && errno != EEXIST && errno != ENOENT)
			break;
	}
	if (fd < 0)
		return unc_fail(err, errno == ELOOP ? UNC_ERR_DENIED : unc_fs_error(errno),
				"%s: %s", f->path,
				errno == ELOOP ? "a link is not followed: remove it"
					       : strerror(errno));
	f->fd = fd;
	if ((rc = check_file(f, err)) < 0)
		unc_ledger_file_close(&f->fd);
	return rc;
}

void unc_ledger_file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int unc_ledger_file_check(const struct ledger_file *f, struct unc_error *err)
{
	struct stat st;

	if (fstat(f->fd, &st) == 0 && st.st_nlink)
		return 0;
	return unc_fail(err, UNC_ERR_NOT_FOUND,
			"%s was removed while sessions ran: who came since is not known", f->path);
}

/* ---- locks: on bytes far behind what is written */

static int lock_byte(int fd, int command, off_t i, off_t n, short *type)
{
	const off_t locks = (off_t)1 << 40;
	struct flock lock = {
		.l_type = *type, .l_whence = SEEK_SET, .l_start = locks + i, .l_len = n};
	int rc = fcntl(fd, command, &lock);

	*type = lock.l_type;
	return rc == 0 ? 0 : errno == EACCES ? EAGAIN : errno;
}

int unc_ledger_file_lock(int fd, unsigned i, short type)
{
	return lock_byte(fd, F_OFD_SETLK, i, 1, &type);
}

/* Whether somebody else has one of n locks that keeps us from this one. */
static bool is_locked(int fd, off_t i, off_t n, short type)
{
	return lock_byte(fd, F_OFD_GETLK, i, n, &type) != 0 || type != F_UNLCK;
}

/* In seconds: of this process, not of the machine that it measures, which may be simulated. */
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

/* PATIENCE seconds while the number of the turn stays the same, MOST in all. */
static int await(int turn, const sigset_t *ends)
{
	enum { PATIENCE = 10, MOST = 60 };
	const long longest = 2000000; /* ns */
	long long begun = now(), since = begun;
	struct timespec pause = {.tv_nsec = 50000};
	uint64_t last = 0, number;
	sigset_t pending;
	int error;

	while ((error = unc_ledger_file_lock(turn, LOCK_TURN, F_WRLCK)) == EAGAIN) {
		if (unc_read_at(turn, &number, sizeof(number), offsetof(struct header, turn)) ==
			    0 &&
		    number != last) {
			last = number;
			since = now();
		}
		if (now() - since > PATIENCE || now() - begun > MOST)
			return EAGAIN;
		sigpending(&pending);
		sigandset(&pending, &pending, ends);
		if (!sigisemptyset(&pending))
			return EINTR;
		ppoll(NULL, 0, &pause, NULL);
		pause.tv_nsec = pause.tv_nsec * 2 < longest ? pause.tv_nsec * 2 : longest;
	}
	return error;
}

/* Signals that ask the process to end are kept back, so that they can be told from others, as those
 * of a profiler. */
static int await_signals(int turn)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	sigset_t set, before;
	int error;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	error = await(turn, &set);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* By /proc it is the same file, whatever has become of its name. Where there is no /proc, or no
 * descriptor to be had, which must not keep a session from its stop, the same description has to
 * do. */
int unc_ledger_file_turn(int fd, bool wait, int *turn)
{
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*turn = open_at(AT_FDCWD, path, O_RDWR);
	*turn = *turn < 0 ? fd : *turn;
	error = unc_ledger_file_lock(*turn, LOCK_TURN, F_WRLCK);
	if (error == EAGAIN && wait)
		error = await_signals(*turn);
	if (error)
		unc_ledger_file_end(fd, turn);
	return error;
}

/* One that was forked meanwhile has the description as well. */
void unc_ledger_file_end(int fd, int *turn)
{
	if (*turn >= 0)
		unc_ledger_file_lock(*turn, LOCK_TURN, F_UNLCK);
	if (*turn >= 0 && *turn != fd)
		close(*turn);
	*turn = -1;
}

/* Who may only read the file can have a lock for readers: that tells nothing. */
bool unc_ledger_file_held(int fd, unsigned holder)
{
	return is_locked(fd, LOCK_HOLDERS + holder, 1, F_RDLCK);
}

bool unc_ledger_file_reset(int fd)
{
	return !is_locked(fd, LOCK_HOLDERS, UNC_LEDGER_HOLDERS, F_WRLCK) && ftruncate(fd, 0) == 0;
}

/* ---- what stands in it */

int unc_ledger_fail(const struct ledger_file *f, const char *what, int error, struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_IO, "%s could not be %s: %s", f->path, what,
			error == ENODATA ? "it ends too early" : strerror(error));
}

int unc_ledger_file_put(const struct ledger_file *f, const void *buf, size_t size, uint64_t at,
			struct unc_error *err)
{
	struct rlimit most;
	int error;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
	    at + size > most.rlim_cur)
		error = EFBIG;
	else
		error = unc_write_at(f->fd, buf, size, at);
	return error ? unc_ledger_fail(f, "written", error, err) : 0;
}
