/* SPDX-License-Identifier: BSD-3-Clause */
/* All file access, under a root, so that the dump of a machine is a test. */
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
/* Files in memory, of a dump that is not filled any more and goes with the root. NULL: no memory; the
 * dump is freed. */
struct unc_fs *unc_fs_of_dump(struct unc_dump *);
/* One more who uses it, and closes it. */
struct unc_fs *unc_fs_share(struct unc_fs *);
void unc_fs_close(struct unc_fs *);
/* Notes from now on what is read, and how it comes out. NULL: no memory. */
struct unc_dump *unc_fs_record(struct unc_fs *);
/* The dump that stands for the root; NULL: none does. */
const struct unc_dump *unc_fs_replayed(const struct unc_fs *);
const char *unc_fs_root(const struct unc_fs *);
/* True if the root is the real one. */
bool unc_fs_is_real(const struct unc_fs *);

/* "root/path" of a printf-style path, into buf; of no root it is that of this system, here and in
 * what follows. UNC_ERR_RANGE if too long. */
int unc_fs_path(const struct unc_fs *, char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The functions that follow leave in errno why they failed; unc_fs_reason() has the words. None of
 * them waits: a FIFO where a file should be is an error.
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
/* Opens a regular file (as those of /proc and /sys are) for reading. As unc_fs_descriptor(). */
int unc_fs_regular(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool unc_fs_exists(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The names in a folder, in no order, up to NULL: free(). NULL, and errno. */
char **unc_fs_list(const struct unc_fs *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Where a link leads; false: it is none. */
bool unc_fs_link(const struct unc_fs *, char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Never stdin, stdout or stderr, which a program may have closed: what it prints would go to a
 * register. Gives another descriptor for what is open; fd may be negative. */
int unc_above_stdio(int fd);
/* Lets this process have as many descriptors as it may; false: it has them already. */
bool unc_fs_raise_limit(void);
/*
 * Transfers exactly size bytes at an offset, in one piece: what is interrupted, comes short or is
 * put off is done again as a whole, because the place may be a register; but not for ever. 0, or
 * the errno value; ENODATA: the file ends before.
 */
int unc_read_at(int fd, void *buf, size_t size, uint64_t offset);
int unc_write_at(int fd, const void *buf, size_t size, uint64_t offset);
/* The same of a file of the root: a device. Where a dump stands for it, what was read there; buf NULL:
 * only whether something was. */
int unc_fs_read_at(const struct unc_fs *, int fd, void *buf, size_t size, uint64_t offset);
int unc_fs_write_at(const struct unc_fs *, int fd, const void *buf, size_t size, uint64_t offset);
/* What came of an access to memory that is mapped: 0 or an errno value. */
void unc_fs_note(const struct unc_fs *, int fd, bool write, const void *buf, size_t size,
		 uint64_t offset, int rc);
/* The same of asking the kernel for something that is no file, by a number; returned is `rc`, or where a
 * dump stands for the root what came of it there: ENODATA where nobody has asked. */
int unc_fs_asked(const struct unc_fs *, uint64_t number, int rc);
/* The rest of a file whose size the kernel does not tell, which is closed: *text is to be freed,
 * and has a zero behind its *size bytes. UNC_ERR_UNAVAILABLE: it cannot be read, or is larger than
 * `most`; UNC_ERR_MEMORY. */
int unc_fs_rest(int fd, const char *path, size_t most, char **text, size_t *size,
		struct unc_error *err);
/* A whole file of the root, as unc_fs_rest(); where it cannot be opened errno has the reason, and err nothing. */
int unc_fs_whole(const struct unc_fs *, const char *path, size_t most, char **text, size_t *size,
		 struct unc_error *err);
/* How many bytes an open file of the root has; where a dump stands for it, what that says. */
uint64_t unc_fs_size(const struct unc_fs *, int fd);
/* As read(2), where interruptions are no failure. */
ssize_t unc_read_more(int fd, void *buf, size_t size);
/* Whether a call that failed so is worth another try; *tries counts them, from 0. */
bool unc_try_again(int errno_value, unsigned *tries);
/* UNC_ERR_* for an errno value. */
int unc_fs_error(int errno_value);

#endif
