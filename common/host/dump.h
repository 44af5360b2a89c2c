/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine as one text file: the files below its root that were read, and their content. A dump is
 * recorded while a root is used (fs.h), and later replaces that root, in memory. For a device
 * (/dev/cpu/N/msr, /dev/mem, configuration space) it has the value of each offset that was read; other
 * offsets cannot be read. A file that is not in the dump does not exist. Names of persons and machines
 * are left out (doctor/gather.c). The lines, in any order:
 *
 *   uncore machine 2                    first
 *   from DAY, Linux VERSION             hardware: recorded on real hardware; simulated SPEC
 *   file PATH                           its lines follow, each after a blank
 *   dir PATH, link PATH TARGET
 *   device PATH SIZE                    its values follow, each after a blank:
 *    OFFSET VALUE [LAST]                LAST: the value changed later; an errno may replace VALUE
 *    OFFSET write ERRNO                 the result of a write; OK: it succeeded
 * unreadable PATH ERRNO, unwritable PATH ERRNO    the file could not be opened
 *   # ...                               a remark
 *
  * A machine of the simulator may be a variant of another one. Its lines then replace those of that machine;
  * an offset may be a range (FIRST-LAST: the offsets that exist), and a path a pattern (fnmatch(3)):
 *
 *   like NAME                           second
 *   hide PATH                           the path and all paths below do not exist
 *
 *   end                                 last: a file without it is truncated
 */
#ifndef UNC_DUMP_H
#define UNC_DUMP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum unc_dump_kind { UNC_DUMP_FILE, UNC_DUMP_FOLDER, UNC_DUMP_LINK, UNC_DUMP_DEVICE };

/* A value of a device: 8 bytes of an MSR, else 4. */
struct unc_dump_value {
	uint64_t offset, first, last;
	bool write; /* the result of a write, without a value */
	bool again; /* it was read once: later reads return `last` */
	int error;  /* errno of a failure; 0: none */
};

struct unc_dump_entry {
	char *path; /* without a leading slash */
	enum unc_dump_kind kind;
	bool taken; /* the content has been recorded */
	char *data; /* content of a file, target of a link */
	size_t size;
	int error[2];                 /* errno of opening for reading, for writing; 0: no error */
	struct unc_dump_value *value; /* sorted */
	size_t n;
};

struct unc_dump {
	struct unc_dump_entry **entry; /* sorted by path */
	size_t n;
	bool replays;                  /* false: it is being recorded */
	bool hardware;                 /* recorded on hardware, not from files */
	char sim[512];                 /* the simulated machine; "": not simulated */
	char from[160];                /* "2026-11-23, Linux 6.1.0" */
	pthread_mutex_t lock;          /* sessions of several threads read at once */
	struct unc_dump_entry **of_fd; /* the device of a descriptor */
	size_t n_fd;
	bool no_memory; /* memory ran out: the dump is incomplete */
};

struct unc_dump *unc_dump_new(void);
void unc_dump_free(struct unc_dump *);
struct unc_dump_entry *unc_dump_find(const struct unc_dump *, const char *path);
/* Finds or creates the entry of a path. NULL: no memory, or a path that a dump cannot have. */
struct unc_dump_entry *unc_dump_entry(struct unc_dump *, const char *path, enum unc_dump_kind);
/* Deletes the content of an entry; deletes an entry. */
void unc_dump_empty(struct unc_dump_entry *);
void unc_dump_remove(struct unc_dump *, size_t index);
/* Stores a file or a link with its content. */
void unc_dump_put(struct unc_dump *, enum unc_dump_kind, const char *path, const char *data);
bool unc_dump_device(const char *path);
/* Finds or creates the value of a device at an offset; NULL: no memory. */
struct unc_dump_value *unc_dump_value(struct unc_dump *, struct unc_dump_entry *, bool write,
				      uint64_t offset);
/* Returns the name of the next entry of a folder, from *i on; NULL: no more. A path in a subfolder gives
 * the name of the subfolder, so that name may come several times. */
const char *unc_dump_child(const struct unc_dump *, const char *folder, size_t *i, size_t *length);

/* For a dump that is being recorded. path: including `root`. */
void unc_dump_take(struct unc_dump *, const char *root, const char *path);
void unc_dump_list(struct unc_dump *, const char *path, const char *const *name, size_t n);
void unc_dump_failed(struct unc_dump *, const char *path, bool write, int error);
/* Remembers the device of a descriptor. */
void unc_dump_opened(struct unc_dump *, const char *path, int fd);
/* Records an access. rc: its result, 0 or an errno value; it is returned. */
int unc_dump_note(struct unc_dump *, struct unc_dump_entry *, bool write, const void *buf,
		  size_t size, uint64_t offset, int rc);
/* Returns the entry of a path that is to be opened as a file or device; NULL, and errno. */
const struct unc_dump_entry *unc_dump_held(const struct unc_dump *, const char *path,
					   enum unc_dump_kind, bool write);
/* Returns the value that was read at an offset of a device; NULL: none. */
struct unc_dump_value *unc_dump_at(const struct unc_dump_entry *, uint64_t offset);
/* Repeats a recorded access; buf NULL: only checks that it is possible. ENODATA: it was not recorded. */
int unc_dump_again(struct unc_dump_entry *, bool write, void *buf, size_t size, uint64_t offset);

/* In dump_text.c. Creates the file, which must not exist. UNC_ERR_* with a sentence. */
int unc_dump_save(const struct unc_dump *, const char *file, struct unc_error *err);
/* Returns the text of the machine that a "like" line names; the text stays valid. NULL: no such machine. */
typedef const char *unc_dump_like_fn(const char *name, size_t *size);
/* Parses a machine in memory; like NULL: "like" is refused. UNC_ERR_INVALID, with the line that is wrong. */
int unc_dump_read(const char *name, const char *text, size_t size, unc_dump_like_fn *like,
		  struct unc_dump **out, struct unc_error *err);
/* Reads a file; *out is NULL if the path is a folder. UNC_ERR_NOT_FOUND: the file is not a machine. */
int unc_dump_load(const char *path, unc_dump_like_fn *like, struct unc_dump **out,
		  struct unc_error *err);

#endif
