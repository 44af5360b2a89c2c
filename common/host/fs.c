/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 100 }; /* of a call that is interrupted, or comes short, again and again */

struct unc_fs {
	char prefix[PATH_MAX / 2]; /* "" for the real root, else without a slash at the end */
};

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

int unc_fs_open(const char *root, struct unc_fs **out, struct unc_error *err)
{
	struct unc_fs *fs;
	struct stat st;
	size_t n;

	if (!root || !*root)
		root = "/";
	if (stat(root, &st) < 0)
		return unc_fail(err, unc_fs_error(errno), "root '%s': %s", root, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return unc_fail(err, UNC_ERR_NOT_FOUND, "root '%s' is not a directory", root);
	for (n = strlen(root); n && root[n - 1] == '/'; n--)
		continue;
	if (n >= sizeof(fs->prefix))
		return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long");
	fs = calloc(1, sizeof(*fs));
	if (!fs)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	memcpy(fs->prefix, root, n);
	*out = fs;
	return 0;
}

void unc_fs_close(struct unc_fs *fs)
{
	free(fs);
}

const char *unc_fs_root(const struct unc_fs *fs)
{
	return *fs->prefix ? fs->prefix : "/";
}

bool unc_fs_is_real(const struct unc_fs *fs)
{
	return !*fs->prefix;
}

/* With errno, as whatever would be done with the path leaves it. */
static int path_of(const struct unc_fs *fs, char *buf, size_t size, const char *format,
		   va_list args)
{
	const char *prefix = fs ? fs->prefix : "";
	int head = snprintf(buf, size, "%s%s", prefix, *format == '/' ? "" : "/"), tail = -1;

	if (head >= 0 && (size_t)head < size)
		tail = vsnprintf(buf + head, size - (size_t)head, format, args);
	if (tail >= 0 && (size_t)tail < size - (size_t)head)
		return 0;
	errno = ENAMETOOLONG;
	return UNC_ERR_RANGE;
}

/* In a function that ends in `format, ...`: the path that these say, into an array. */
#define PATH_OF(rc, fs, path, size, format)                                                        \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		rc = path_of(fs, path, size, format, args);                                        \
		va_end(args);                                                                      \
	} while (0)

int unc_fs_path(const struct unc_fs *fs, char *buf, size_t size, const char *format, ...)
{
	int rc;

	PATH_OF(rc, fs, buf, size, format);
	return rc;
}

bool unc_try_again(int errno_value, unsigned *tries)
{
	return (errno_value == EINTR || errno_value == EAGAIN) && ++*tries < MAX_TRIES;
}

const char *unc_fs_reason(int errno_value)
{
	return errno_value == UNC_FS_IRREGULAR ? "not a regular file" : strerror(errno_value);
}

/* What a transfer of `size` bytes came to that moved `done`. */
static int outcome(ssize_t done, size_t size)
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
		rc = outcome(done, size);
	} while (unc_try_again(rc, &tries));
	return rc == EAGAIN && done > 0 ? ENODATA : rc; /* short for ever: the file ends within */
}

int unc_write_at(int fd, const void *buf, size_t size, uint64_t offset)
{
	unsigned tries = 0;
	int rc;

	do
		rc = outcome(pwrite(fd, buf, size, (off_t)offset), size);
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

static int open_path(const char *path, int flags)
{
	unsigned tries = 0;
	int fd;

	do
		fd = unc_above_stdio(open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	while (fd < 0 && unc_try_again(errno, &tries));
	return fd < 0 ? unc_fs_error(errno) : fd;
}

static int open_regular(const char *path)
{
	int fd = open_path(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = UNC_FS_IRREGULAR;
	return UNC_ERR_IO;
}

int unc_fs_descriptor(const struct unc_fs *fs, int flags, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	return rc < 0 ? rc : open_path(path, flags);
}

int unc_fs_regular(const struct unc_fs *fs, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	return rc < 0 ? rc : open_regular(path);
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

int unc_fs_text(const struct unc_fs *fs, char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	ssize_t got;
	size_t n = 0;
	int rc, fd, saved;

	PATH_OF(rc, fs, path, sizeof(path), format);
	if (rc < 0)
		return rc;
	fd = open_regular(path);
	if (fd < 0)
		return fd;
	while ((got = unc_read_more(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	saved = errno;
	close(fd);
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	errno = saved;
	return got < 0 ? unc_fs_error(saved) : 0;
}

bool unc_fs_exists(const struct unc_fs *fs, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	PATH_OF(rc, fs, path, sizeof(path), format);
	return rc == 0 && access(path, F_OK) == 0;
}
