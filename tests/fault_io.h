/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls on files that fail when a test wants it: faults.h. A program that includes this has
 * its own open(), pread(), pwrite() and read(), and so have the libraries that it uses. The offset
 * of an open() and a read() is 0.
 */
#ifndef UNC_TEST_FAULT_IO_H
#define UNC_TEST_FAULT_IO_H

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

static unsigned io_calls; /* of those that this has, so far */

static inline int fault_before_fd(enum room_op op, int fd, off_t offset, size_t *size)
{
	char link[40], path[1024];
	int saved = errno;
	ssize_t n;

	io_calls++;
	if (!any_faults)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	errno = saved;
	return fault_before(op, path, (uint64_t)offset, size);
}

int open(const char *path, int flags, ...)
{
	size_t none = 0;
	va_list args;
	int mode;

	io_calls++;
	if (fault_before(ROOM_OPEN, path, 0, &none) < 0)
		return -1;
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* What a library calls that is built with checks. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags, 0);
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	if (fault_before_fd(ROOM_READ, fd, offset, &size) < 0)
		return -1;
	return syscall(SYS_pread64, fd, buf, size, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	if (fault_before_fd(ROOM_WRITE, fd, offset, &size) < 0)
		return -1;
	return syscall(SYS_pwrite64, fd, buf, size, offset);
}

ssize_t read(int fd, void *buf, size_t size)
{
	if (fault_before_fd(ROOM_READ, fd, 0, &size) < 0)
		return -1;
	return syscall(SYS_read, fd, buf, size);
}

#endif
