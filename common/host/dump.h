/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine as one text file: the files below its root that were read, with what was read of them. It is
 * filled while a root is used (fs.h), and stands in for that root later, in memory. Of a device
 * (/dev/cpu/N/msr, /dev/mem, configuration space) it has the values that were read, place by place; no
 * other place can be read. A file that is not in it is one that does not exist. Names of persons and
 * machines are left out (doctor/gather.c). Its lines, of which the order does not matter:
 *
 *   uncore machine 2                    first
 *   from DAY, Linux VERSION             hardware: it is no machine made of files; simulated SPEC
 *   file PATH                           its lines follow, each behind a blank
 *   dir PATH, link PATH TARGET
 *   device PATH SIZE                    its places follow, each behind a blank:
 *    OFFSET VALUE [LAST]                LAST: it has changed since; or an errno in place of VALUE
 *    OFFSET write ERRNO                 what came of a write; OK: it was done
 *   unreadable PATH ERRNO, unwritable PATH ERRNO    it could not be opened
 *   # ...                               a remark
 *
 * A machine of the simulator may differ from another one. What follows then replaces what that one has, a
 * place of a device may be a range (FIRST-LAST: of those that it has), and a path a pattern (fnmatch(3)):
 *
 *   like NAME                           second
 *   hide PATH                           neither it nor what is below exists
 *
 *   end                                 last: a file without it was cut
 */
#ifndef UNC_DUMP_H
#define UNC_DUMP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum unc_dump_kind { UNC_DUMP_FILE, UNC_DUMP_FOLDER, UNC_DUMP_LINK, UNC_DUMP_DEVICE };

/* A place of a device: 8 bytes of an MSR, else 4. */
struct unc_dump_value {
	uint64_t offset, first, last;
	bool write; /* no value: what came of a write */
	bool again; /* it was read, and comes with `last` from now on */
	int error;  /* errno: why it could not be */
};

struct unc_dump_entry {
	char *path; /* without a slash at its begin */
	enum unc_dump_kind kind;
	bool taken; /* what it holds is known */
	char *data; /* a file, a link */
	size_t size;
	int error[2]; /* errno of opening it for reading, for writing; 0: it could be */
	struct unc_dump_value *value; /* sorted */
	size_t n;
};

struct unc_dump {
	struct unc_dump_entry **entry; /* sorted by path */
	size_t n;
	bool replays;                  /* else it is being filled */
	bool hardware;                 /* it is of hardware, not of a machine made of files */
	char sim[512];                 /* simulated: as which; "" if it is not */
	char from[160];                /* "2026-11-23, Linux 6.1.0" */
	pthread_mutex_t lock;          /* while it is used: sessions of different threads read */
	struct unc_dump_entry **of_fd; /* the device behind a descriptor */
	size_t n_fd;
	bool no_memory; /* something is missing */
};

struct unc_dump *unc_dump_new(void);
void unc_dump_free(struct unc_dump *);
struct unc_dump_entry *unc_dump_find(const struct unc_dump *, const char *path);
/* The entry of a path, made if there is none. NULL: no memory, or no path that a dump can have. */
struct unc_dump_entry *unc_dump_entry(struct unc_dump *, const char *path, enum unc_dump_kind);
/* Takes away what an entry holds; takes an entry away. */
void unc_dump_empty(struct unc_dump_entry *);
void unc_dump_remove(struct unc_dump *, size_t index);
/* A file or a link, and what is in it. */
void unc_dump_put(struct unc_dump *, enum unc_dump_kind, const char *path, const char *data);
/* Whether a path is of a device. */
bool unc_dump_device(const char *path);
/* The place of a device, made if there is none; NULL: no memory. */
struct unc_dump_value *unc_dump_value(struct unc_dump *, struct unc_dump_entry *, bool write,
				      uint64_t offset);
/* The next entry from *i on that is in a folder, and its name there; NULL: no more. What is deeper comes
 * under the name of its first folder, which may come again. */
const char *unc_dump_child(const struct unc_dump *, const char *folder, size_t *i, size_t *length);

/* While it is filled. path: as it is under `root`. */
void unc_dump_take(struct unc_dump *, const char *root, const char *path);
void unc_dump_list(struct unc_dump *, const char *path, const char *const *name, size_t n);
void unc_dump_failed(struct unc_dump *, const char *path, bool write, int error);
/* Remembers which device a descriptor leads to. */
void unc_dump_opened(struct unc_dump *, const char *path, int fd);
/* What was read, or tried to be; 0 or the errno value in `rc`, which is returned. */
int unc_dump_note(struct unc_dump *, struct unc_dump_entry *, bool write, const void *buf,
		  size_t size, uint64_t offset, int rc);
/* The entry of a path, to be opened as a file or device; NULL, and errno. */
const struct unc_dump_entry *unc_dump_held(const struct unc_dump *, const char *path,
					   enum unc_dump_kind, bool write);
/* The place of a device where something was read; NULL: there is none. */
struct unc_dump_value *unc_dump_at(const struct unc_dump_entry *, uint64_t offset);
/* The same again; buf NULL: only whether it can be. ENODATA: nobody has read that. */
int unc_dump_again(struct unc_dump_entry *, bool write, void *buf, size_t size, uint64_t offset);

/* dump_text.c. Makes the file, which must not exist. UNC_ERR_* with a sentence. */
int unc_dump_save(const struct unc_dump *, const char *file, struct unc_error *err);
/* The text of a machine that another one may be like, which stays; NULL: there is none. */
typedef const char *unc_dump_like_fn(const char *name, size_t *size);
/* Reads it from memory; like NULL: it is like no other. UNC_ERR_INVALID, with the line that is wrong. */
int unc_dump_read(const char *name, const char *text, size_t size, unc_dump_like_fn *like,
		  struct unc_dump **out, struct unc_error *err);
/* Reads a file; *out is NULL if the path is a folder. UNC_ERR_NOT_FOUND: it is no such file. */
int unc_dump_load(const char *path, unc_dump_like_fn *like, struct unc_dump **out,
		  struct unc_error *err);

#endif
