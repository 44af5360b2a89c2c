/* SPDX-License-Identifier: BSD-3-Clause */
/* All file access goes through a root, so that a test can use the dump of a machine. */
#ifndef UNC_FS_H
#define UNC_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct unc_dump;
struct unc_fs;

/* root: NULL or "" means "/"; or a dump (dump.h). */
int unc_fs_open(const char *root, struct unc_fs **out, struct unc_error *err);
/* Makes a root of a complete dump, in memory, and takes ownership of the dump. NULL: no memory; the dump
 * is freed then, too. */
struct unc_fs *unc_fs_of_dump(struct unc_dump *);
/* Adds a user of the root, who closes it too. */
struct unc_fs *unc_fs_share(struct unc_fs *);
void unc_fs_close(struct unc_fs *);
/* Begins to record what is read, and the results. NULL: no memory. */
struct unc_dump *unc_fs_record(struct unc_fs *);
/* Returns the dump that replaces the root; NULL: none. */
const struct unc_dump *unc_fs_replayed(const struct unc_fs *);
const char *unc_fs_root(const struct unc_fs *);
bool unc_fs_is_real(const struct unc_fs *);

/* Writes "root/path" of a printf-style path into buf. NULL as root means this system, here and below.
 * UNC_ERR_RANGE: the path is too long. */
int unc_fs_path(const struct unc_fs *, char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The functions below set errno if they fail; unc_fs_reason() turns it into words. No function waits:
 * a FIFO in place of a file is an error.
 */
enum {
	UNC_FS_IRREGULAR = 4095
}; /* in errno: a FIFO, a device or a folder. No such errno exists. */
const char *unc_fs_reason(int errno_value);

/* Reads a text file whole (up to size - 1 bytes), terminates it, strips the last newline.
 * UNC_ERR_NOT_FOUND, UNC_ERR_PERMISSION, UNC_ERR_IO. */
int unc_fs_text(const struct unc_fs *, char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Opens a file (flags as open(2), O_CLOEXEC is added). Returns the descriptor or a negative UNC_ERR_*. */
int unc_fs_descriptor(const struct unc_fs *, int flags, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Opens a regular file (files of /proc and /sys are) for reading. Returns as unc_fs_descriptor(). */
int unc_fs_regular(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool unc_fs_exists(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Lists the names in a folder, unordered; NULL ends the list, which the caller frees. NULL, and errno. */
char **unc_fs_list(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reads the target of a link; false: the path is no link. */
bool unc_fs_link(const struct unc_fs *, char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Moves a descriptor above stdin, stdout and stderr. A program may have closed these; its output would
 * then go to a register. fd may be negative. */
int unc_above_stdio(int fd);
/* Raises the limit of descriptors to the maximum of this process; false: it cannot be raised. */
bool unc_fs_raise_limit(void);
/*
 * Transfers exactly size bytes at an offset, in one piece. The offset may be a register, so a transfer
 * that is interrupted, short or refused with EAGAIN is repeated as a whole, a limited number of times.
 * Returns 0 or an errno value; ENODATA: the file ends before.
 */
int unc_read_at(int fd, void *buf, size_t size, uint64_t offset);
int unc_write_at(int fd, const void *buf, size_t size, uint64_t offset);
/* The same for a device of the root. If a dump replaces the root, the value is the recorded one; buf NULL
 * then only checks that one was recorded. */
int unc_fs_read_at(const struct unc_fs *, int fd, void *buf, size_t size, uint64_t offset);
int unc_fs_write_at(const struct unc_fs *, int fd, const void *buf, size_t size, uint64_t offset);
/* Records the result of an access to mapped memory: 0 or an errno value. */
void unc_fs_note(const struct unc_fs *, int fd, bool write, const void *buf, size_t size,
		 uint64_t offset, int rc);
/* Records the result `rc` of a request to the kernel that is no file, under a number; returns rc. If a dump
 * replaces the root, returns the recorded result; ENODATA: none was recorded. */
int unc_fs_asked(const struct unc_fs *, uint64_t number, int rc);
/* Reads the rest of a file of unknown size and closes it. The caller frees *text, which has a zero after
 * its *size bytes. UNC_ERR_UNAVAILABLE: the file cannot be read, or is larger than `most`;
 * UNC_ERR_MEMORY. */
int unc_fs_rest(int fd, const char *path, size_t most, char **text, size_t *size,
		struct unc_error *err);
/* Reads a whole file of the root, as unc_fs_rest(). If it cannot be opened, errno has the reason; err is unchanged. */
int unc_fs_whole(const struct unc_fs *, const char *path, size_t most, char **text, size_t *size,
		 struct unc_error *err);
/* Returns the size of an open file of the root, or the size in the dump that replaces it. */
uint64_t unc_fs_size(const struct unc_fs *, int fd);
/* Calls read(2), again if it is interrupted. */
ssize_t unc_read_more(int fd, void *buf, size_t size);
/* Whether to repeat a call that failed with this errno; *tries counts, from 0. */
bool unc_try_again(int errno_value, unsigned *tries);
/* Returns the UNC_ERR_* of an errno value. */
int unc_fs_error(int errno_value);

#endif
