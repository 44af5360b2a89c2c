/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/ledger_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME "ledger"

/* Locks are on bytes far behind what is written: LOCKS is the node's, then one for each holder. */
static const off_t LOCKS = (off_t)1 << 40;

/* ---- opening */

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
	return 0;
}

static int open_folder(const char *dir, bool make, struct unc_error *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, fd = open(dir, flags), rc;

	if (fd < 0 && errno == ENOENT && make && mkdir(dir, 0755) == 0)
		fd = open(dir, flags);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s is not a folder (a link is not followed)", dir);
	if (fd < 0)
		return unc_fail(err, unc_fs_error(errno), "%.200s: %s", dir, strerror(errno));
	if ((rc = check_folder(fd, dir, err)) < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Members of the folder's group share it, whatever the umask and the group of who comes first. */
static int make_file(int folder, const char *name, bool own)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || own)
		return fd;
	if (fstat(folder, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0)
		(void)fchmod(fd, 0660);
	return fd;
}

static int check_file(int fd, const char *dir, const char *name, bool own, struct unc_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return unc_fail(err, UNC_ERR_IO, "%.200s/%s: %s", dir, name, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s/%s is not a regular file with one name: remove it", dir,
				name);
	if (own && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		return unc_fail(err, UNC_ERR_DENIED,
				"%.200s/%s may be written by others than user %u: remove it", dir,
				name, (unsigned)geteuid());
	return 0;
}

static int open_file(const char *dir, const char *name, bool own, bool make, struct unc_error *err)
{
	int folder = open_folder(dir, make, err), fd = -1, rc;
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	if (folder < 0)
		return folder;
	/* Who loses the race to make it opens that of the winner. */
	for (int tries = 0; fd < 0 && tries < 3; tries++) {
		fd = openat(folder, name, flags);
		if (fd < 0 && errno == ENOENT)
			fd = make_file(folder, name, own);
		if (fd < 0 && errno != EEXIST && errno != ENOENT)
			break;
	}
	close(folder);
	fd = unc_above_stdio(fd);
	if (fd < 0)
		return unc_fail(err, errno == ELOOP ? UNC_ERR_DENIED : unc_fs_error(errno),
				"%.200s/%s: %s", dir, name,
				errno == ELOOP ? "a link is not followed: remove it"
					       : strerror(errno));
	if ((rc = check_file(fd, dir, name, own, err)) < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

int unc_ledger_file_open(const char *dir, bool make, struct unc_error *err)
{
	return open_file(dir, NAME, false, make, err);
}

int unc_ledger_file_own(const char *dir, const char *name, bool make, struct unc_error *err)
{
	return open_file(dir, name, true, make, err);
}

bool unc_ledger_file_removed(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_nlink == 0;
}

/* ---- locks */

static struct flock byte(off_t at, off_t n, short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = LOCKS + at, .l_len = n};
}

static int set_lock(int fd, off_t at, short type)
{
	struct flock lock = byte(at, 1, type);

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EACCES ? EAGAIN : errno;
}

/* Whether somebody else has one of n locks. */
static bool is_locked(int fd, off_t at, off_t n)
{
	struct flock lock = byte(at, n, F_WRLCK);

	return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* By /proc it is the same file, whatever has become of its name. Where there is no /proc, or no
 * descriptor to be had, which must not keep a session from its stop, the same description has to
 * do. */
int unc_ledger_file_turn(int fd)
{
	char path[64];
	int turn;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	turn = unc_above_stdio(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	return turn < 0 ? fd : turn;
}

int unc_ledger_file_lock(int turn)
{
	return set_lock(turn, 0, F_WRLCK);
}

/* In seconds: of this process, not of the machine that it measures, which may be simulated. */
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

static int await(int turn, uint64_t at, const sigset_t *ends)
{
	const long longest = 2000000; /* ns */
	long long begun = now(), since = begun;
	struct timespec pause = {.tv_nsec = 50000};
	uint64_t last = 0, number;
	sigset_t pending;
	int error;

	while ((error = unc_ledger_file_lock(turn)) == EAGAIN) {
		if (unc_read_at(turn, &number, sizeof(number), at) == 0 && number != last) {
			last = number;
			since = now();
		}
		if (now() - since > UNC_LEDGER_PATIENCE || now() - begun > UNC_LEDGER_MOST)
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
int unc_ledger_file_await(int turn, uint64_t at)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	int error = unc_ledger_file_lock(turn);
	struct sigaction action;
	sigset_t set, before;

	if (error != EAGAIN)
		return error;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	error = await(turn, at, &set);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* One that was forked meanwhile has the description as well. */
void unc_ledger_file_unlock(int fd, int turn)
{
	set_lock(turn, 0, F_UNLCK);
	if (turn != fd)
		close(turn);
}

int unc_ledger_file_hold(int fd, unsigned holder)
{
	return set_lock(fd, 1 + (off_t)holder, F_WRLCK);
}

void unc_ledger_file_drop(int fd, unsigned holder)
{
	set_lock(fd, 1 + (off_t)holder, F_UNLCK);
}

bool unc_ledger_file_held(int fd, unsigned holder)
{
	return is_locked(fd, 1 + (off_t)holder, 1);
}

bool unc_ledger_file_discard(int fd, const char *dir)
{
	struct stat mine, named;
	int folder;
	bool gone;

	if (is_locked(fd, 1, UNC_LEDGER_HOLDERS) || (folder = open_folder(dir, false, NULL)) < 0)
		return false;
	/* Not that of somebody who was faster. */
	gone = fstat(fd, &mine) == 0 && fstatat(folder, NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == named.st_dev && mine.st_ino == named.st_ino &&
	       unlinkat(folder, NAME, 0) == 0;
	close(folder);
	return gone;
}

/* ---- bytes */

int unc_ledger_file_get(int fd, void *buf, size_t size, uint64_t at)
{
	return unc_read_at(fd, buf, size, at);
}

int unc_ledger_file_put(int fd, const void *buf, size_t size, uint64_t at)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
	    at + size > most.rlim_cur)
		return EFBIG;
	return unc_write_at(fd, buf, size, at);
}
