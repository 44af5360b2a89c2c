/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing open files, and the reasons for failures. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/fs.h"

enum { MAX_TRIES = 100 }; /* of a call that is interrupted or transfers less than all */

int unc_fs_error(int errno_value)
{
	switch (errno_value) {
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
		return UNC_ERR_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return UNC_ERR_PERMISSION;
	case ENOMEM:
		return UNC_ERR_MEMORY;
	case ENAMETOOLONG:
		return UNC_ERR_RANGE;
	default:
		return UNC_ERR_IO;
	}
}

bool unc_try_again(int errno_value, unsigned *tries)
{
	return (errno_value == EINTR || errno_value == EAGAIN) && ++*tries < MAX_TRIES;
}

const char *unc_fs_reason(int errno_value)
{
	return errno_value == UNC_FS_IRREGULAR ? "not a regular file" : strerror(errno_value);
}

/* Returns the result of a transfer that moved `done` of `size` bytes: 0 or an errno value. */
static int transfer_result(ssize_t done, size_t size)
{
	if (done < 0)
		return errno;
	return (size_t)done == size ? 0 : done == 0 ? ENODATA : EAGAIN;
}

int unc_read_at(int fd, void *buf, size_t size, uint64_t offset)
{
	unsigned tries = 0;
	ssize_t done;
	int rc;

	do {
		done = pread(fd, buf, size, (off_t)offset);
		rc = transfer_result(done, size);
	} while (unc_try_again(rc, &tries));
	return rc == EAGAIN && done > 0 ? ENODATA : rc; /* always short: the file ends inside */
}

int unc_write_at(int fd, const void *buf, size_t size, uint64_t offset)
{
	unsigned tries = 0;
	int rc;

	do
		rc = transfer_result(pwrite(fd, buf, size, (off_t)offset), size);
	while (unc_try_again(rc, &tries));
	return rc;
}

int unc_above_stdio(int fd)
{
	int above, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return above;
}

bool unc_fs_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

ssize_t unc_read_more(int fd, void *buf, size_t size)
{
	unsigned tries = 0;
	ssize_t got;

	do
		got = read(fd, buf, size);
	while (got < 0 && unc_try_again(errno, &tries));
	return got;
}

int unc_fs_rest(int fd, const char *path, size_t most, char **text, size_t *size,
		struct unc_error *err)
{
	char *buf = NULL, *more;
	ssize_t got = 1;
	size_t n = 0;
	int rc = 0;

	for (size_t room = 1 << 16; rc == 0 && got > 0; room *= 2) {
		if (room > most)
			rc = unc_fail(err, UNC_ERR_UNAVAILABLE, "%s is larger than %zu MiB", path,
				      most >> 20);
		else if (!(more = realloc(buf, room)))
			rc = unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		else
			buf = more;
		while (rc == 0 && n < room - 1 &&
		       (got = unc_read_more(fd, buf + n, room - 1 - n)) > 0)
			n += (size_t)got;
	}
	if (got < 0)
		rc = unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be read: %s", path,
			      strerror(errno));
	close(fd);
	if (rc < 0) {
		free(buf);
		return rc;
	}
	buf[n] = '\0';
	*text = buf;
	*size = n;
	return 0;
}
