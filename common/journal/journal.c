/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "host/fs.h"

#define MAGIC 0x324c4e52554f4a55u /* "UJOURNL2" */
enum { LOCKED = 1, CHANGED = 2 };
enum {
	HANGS = 60,
	MOST = 16384,
	USERS = 64,
	BUCKETS = 1024,
	ENTRY = sizeof(struct unc_journal_entry)
};

/* The start of each file; the file of a user has only the first 64 bytes. */
struct head {
	uint64_t magic;
	char boot[40];
	uint64_t n, pad; /* entries from n on are free; in `lock`: how often it was locked */
	int32_t pid;     /* the process that locked it last */
	char command[UNC_COMMAND_MAX];
	uint32_t n_users, user[USERS];
};
_Static_assert(ENTRY == 64 && offsetof(struct head, pid) == ENTRY, "no write crosses a page");

struct book { /* the journal of a user */
	int file, locks;
	uint32_t user;
	uint16_t n;
	struct unc_journal_entry *entry; /* MOST entries; unused pages take no memory */
};

struct unc_journal {
	int folder, node; /* -1: in memory */
	char dir[200], boot[40];
	struct unc_process self;
	struct unc_error reason;
	struct book book[USERS]; /* the first belongs to this user */
	struct unc_journal_entry *spare;
	unsigned n_books, in_use;             /* entries used by sessions of this process */
	uint16_t uses[MOST];                  /* sessions of this process that use an entry */
	uint8_t state[MOST];                  /* LOCKED, CHANGED */
	uint16_t from, to;                    /* entries that the files lack so far */
	uint16_t next[MOST], bucket[BUCKETS]; /* number + 1 */
	struct unc_journal *link;             /* next of `all` */
	struct unc_journal_entry entry[2][MOST];
};

/* ---- a forked child closes all files */

static struct unc_journal *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_descriptors(struct unc_journal *j)
{
	for (unsigned i = 0; i < j->n_books; i++) {
		close_fd(&j->book[i].file);
		close_fd(&j->book[i].locks);
	}
	close_fd(&j->folder);
	close_fd(&j->node);
}

static void index_entries(struct unc_journal *j);

/* Deletes entries of other processes: once unknown, they must not be taken for those of a killed one. */
static void forget_unused(struct unc_journal *j)
{
	for (uint16_t i = 0; i < j->book->n; i++)
		if (!j->uses[i])
			memset(&j->book->entry[i], 0, ENTRY);
	index_entries(j);
}

/* Keeps the journal in memory from now on. The caller holds all_lock, so that no fork sees it half closed. */
static void close_files(struct unc_journal *j)
{
	close_descriptors(j);
	while (j->n_books > 1)
		free(j->book[--j->n_books].entry);
	forget_unused(j);
}

static void lock_all(void)
{
	pthread_mutex_lock(&all_lock);
}

static void unlock_all(void)
{
	pthread_mutex_unlock(&all_lock);
}

static void close_in_child(void)
{
	for (; all; all = all->link)
		close_descriptors(all);
	pthread_mutex_unlock(&all_lock);
}

static void register_fork_handlers(void)
{
	pthread_atfork(lock_all, unlock_all, close_in_child);
}

struct unc_journal *unc_journal_new(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct unc_journal *j = mmap(NULL, sizeof(*j), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (j == MAP_FAILED)
		return NULL;
	j->book[0].entry = j->entry[0];
	j->spare = j->entry[1];
	j->folder = j->node = j->book[0].file = j->book[0].locks = -1;
	j->n_books = 1;
	unc_process_self(&j->self);
	pthread_once(&once, register_fork_handlers);
	pthread_mutex_lock(&all_lock);
	j->link = all;
	all = j;
	pthread_mutex_unlock(&all_lock);
	return j;
}

void unc_journal_free(struct unc_journal *j)
{
	struct unc_journal **link = &all;

	if (!j)
		return;
	pthread_mutex_lock(&all_lock);
	while (*link && *link != j)
		link = &(*link)->link;
	if (*link) {
		*link = j->link;
		close_files(j);
	}
	pthread_mutex_unlock(&all_lock);
	munmap(j, sizeof(*j));
}

const char *unc_journal_reason(const struct unc_journal *j)
{
	return j->reason.text;
}

/* ---- files */

/* Reports a failure of the file of a user, or (b NULL) of the node. why NULL: errno has the reason. */
static int fail_at(const struct unc_journal *j, const struct book *b, int code, const char *why,
		   struct unc_error *err)
{
	char name[32] = "lock";

	if (b)
		snprintf(name, sizeof(name), "journal.%u", b->user);
	return unc_fail(err, why ? code : unc_fs_error(errno), "%s/%s: %s", j->dir, name,
			why ? why : strerror(errno));
}

static int open_at(int folder, const char *name, int flags)
{
	int fd;

	do
		fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			    0600);
	while (fd < 0 && errno == EMFILE && unc_fs_raise_limit());
	return unc_above_stdio(fd);
}

/* Opens a file; mode 0: it is not created. Members of the folder's group share the file of the node. */
static int open_journal_file(struct unc_journal *j, const struct book *b, const char *rest,
			     mode_t mode, int *fd, struct unc_error *err)
{
	int flags = mode ? O_RDWR : O_RDONLY;
	char name[32] = "lock";
	struct stat st, of;

	if (b)
		snprintf(name, sizeof(name), "journal.%u%s", b->user, rest);
	*fd = open_at(j->folder, name, flags);
	if (*fd < 0 && errno == ENOENT && mode) {
		*fd = open_at(j->folder, name, flags | O_CREAT | O_EXCL);
		if (*fd < 0 && errno == EEXIST) /* another process was faster */
			*fd = open_at(j->folder, name, flags);
		else if (*fd >= 0 && fstat(j->folder, &of) == 0 &&
			 fchown(*fd, (uid_t)-1, of.st_gid) == 0)
			(void)fchmod(*fd, mode);
	}
	if (*fd < 0 || fstat(*fd, &st) < 0)
		return fail_at(j, b, UNC_ERR_DENIED,
			       errno == ELOOP ? "a link is not followed: remove it" : NULL, err);
	if (S_ISREG(st.st_mode) && st.st_nlink < 2 &&
	    (!b || (st.st_uid == b->user && !(st.st_mode & (S_IWGRP | S_IWOTH)))))
		return 0;
	close_fd(fd);
	return fail_at(j, b, UNC_ERR_DENIED,
		       "not a file that has one name and only its user may write: remove it", err);
}

static uint64_t entry_offset(unsigned number)
{
	return (uint64_t)(number + 1) * ENTRY;
}

/* Writes to a file, but not past the process's limit of file sizes, which would kill the process. */
static int write_at(const struct unc_journal *j, const struct book *b, const void *from,
		    size_t size, uint64_t at, struct unc_error *err)
{
	struct rlimit most;

	if (j->folder < 0)
		return 0;
	errno = getrlimit(RLIMIT_FSIZE, &most) == 0 && at + size > most.rlim_cur
			? EFBIG
			: unc_write_at(b ? b->file : j->node, from, size, at);
	return errno ? fail_at(j, b, 0, NULL, err) : 0;
}

static const char broken[] =
	"of another version of the library, or broken: remove it when nobody measures";

/* Reads the head of a file. A file that is empty, or of an earlier boot, counts as new: n is 0. */
static int read_head(const struct unc_journal *j, const struct book *b, struct head *h, size_t size,
		     struct unc_error *err)
{
	errno = unc_read_at(b ? b->file : j->node, h, size, 0);
	if (errno && errno != ENODATA)
		return fail_at(j, b, 0, NULL, err);
	if (!errno && (h->magic != MAGIC || h->n_users > USERS))
		return fail_at(j, b, UNC_ERR_INVALID, broken, err);
	if (errno || strncmp(h->boot, j->boot, sizeof(h->boot)) != 0)
		*h = (struct head){.magic = MAGIC};
	memcpy(h->boot, j->boot, sizeof(h->boot));
	return 0;
}

/* Reads the *n entries of a user into `to`. */
static int read_book(const struct unc_journal *j, const struct book *b,
		     struct unc_journal_entry *to, uint16_t *n, struct unc_error *err)
{
	struct head h = {0};
	struct stat st;
	int rc = read_head(j, b, &h, ENTRY, err);

	if (rc < 0)
		return rc;
	if (h.n > MOST || fstat(b->file, &st) < 0 ||
	    (h.n && st.st_size < (off_t)entry_offset((unsigned)h.n)))
		return fail_at(j, b, UNC_ERR_INVALID, broken, err);
	if (h.n && (errno = unc_read_at(b->file, to, h.n * ENTRY, entry_offset(0))))
		return fail_at(j, b, 0, NULL, err);
	*n = (uint16_t)h.n;
	return 0;
}

/* ---- locks of the open file description */

static int set_lock(int fd, uint64_t first, uint64_t n, short type)
{
	struct flock l = {.l_type = type, .l_start = (off_t)first, .l_len = (off_t)n};

	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EACCES ? EAGAIN : errno;
}

/* Whether another journal has locked one of n entries; true if that cannot be read. */
static bool others_have(const struct book *b, uint32_t first, uint32_t n)
{
	struct flock l = {.l_type = F_WRLCK, .l_start = first, .l_len = n};

	return b->locks >= 0 && (fcntl(b->locks, F_OFD_GETLK, &l) < 0 || l.l_type != F_UNLCK);
}

/* ---- entries, found by their registers */

static uint16_t *bucket_of(struct unc_journal *j, const struct unc_journal_key *key)
{
	uint64_t mixed = (key->address * 31 + key->package) * 31 + key->space;

	return &j->bucket[(mixed * 0x9e3779b97f4a7c15u) >> 54];
}

static void index_entries(struct unc_journal *j)
{
	memset(j->bucket, 0, sizeof(j->bucket));
	for (uint16_t i = j->book->n; i-- > 0;)
		if (j->book->entry[i].space) {
			uint16_t *bucket = bucket_of(j, &j->book->entry[i].key);

			j->next[i] = *bucket;
			*bucket = (uint16_t)(i + 1);
		}
}

static bool has_key(const struct unc_journal_entry *e, const struct unc_journal_key *key)
{
	return e->space && e->key.address == key->address && e->key.package == key->package &&
	       e->key.space == key->space;
}

uint16_t unc_journal_end(const struct unc_journal *j)
{
	return j->book->n;
}

struct unc_journal_entry *unc_journal_at(struct unc_journal *j, uint16_t number)
{
	return &j->book->entry[number];
}

uint16_t unc_journal_find(struct unc_journal *j, const struct unc_journal_key *key, uint16_t last)
{
	uint16_t i = last == UNC_JOURNAL_NONE ? *bucket_of(j, key) : j->next[last];

	while (i && !has_key(&j->book->entry[i - 1], key))
		i = j->next[i - 1];
	return i ? i - 1 : UNC_JOURNAL_NONE;
}

const struct unc_journal_entry *unc_journal_taken(const struct unc_journal *j,
						  const struct unc_journal_key *key, uint64_t mask,
						  uint32_t *user, bool *held)
{
	const struct unc_journal_entry *found = NULL;

	for (const struct book *b = j->book + 1; b < j->book + j->n_books; b++)
		for (uint16_t i = 0; i < b->n; i++) {
			const struct unc_journal_entry *e = &b->entry[i];

			if (!has_key(e, key) || (mask && !(e->mask & mask)))
				continue;
			found = e;
			*user = b->user;
			/* Only root can read the locks of other users; otherwise the entry counts as held. */
			*held = b->locks < 0 || others_have(b, i, 1);
			if (*held)
				return e;
		}
	return found;
}

/* ---- the sessions that use entries */

bool unc_journal_held(const struct unc_journal *j, uint16_t i)
{
	return j->uses[i] || others_have(j->book, i, 1);
}

static void mark_changed(struct unc_journal *j, uint16_t i, uint8_t what)
{
	if (j->from >= j->to)
		j->from = j->to = i;
	j->from = i < j->from ? i : j->from;
	j->to = i >= j->to ? i + 1 : j->to;
	j->state[i] |= what;
}

void unc_journal_put(struct unc_journal *j, uint16_t i)
{
	mark_changed(j, i, CHANGED);
}

void unc_journal_join(struct unc_journal *j, uint16_t i)
{
	j->in_use += !j->uses[i]++;
	mark_changed(j, i, 0);
}

void unc_journal_drop(struct unc_journal *j, uint16_t i)
{
	if (j->uses[i] && !--j->uses[i])
		j->in_use--;
	mark_changed(j, i, 0);
}

bool unc_journal_last(const struct unc_journal *j, uint16_t i)
{
	return j->uses[i] == 1 && !others_have(j->book, i, 1);
}

void unc_journal_clear(struct unc_journal *j, uint16_t i)
{
	uint16_t *at = bucket_of(j, &j->book->entry[i].key);

	while (*at && *at != i + 1)
		at = &j->next[*at - 1];
	*at = *at ? j->next[i] : 0;
	memset(&j->book->entry[i], 0, ENTRY);
	unc_journal_put(j, i);
	unc_journal_drop(j, i);
}

/* A free entry has no lock either: a broken file may have lost entries that are in use. */
uint16_t unc_journal_add(struct unc_journal *j, const struct unc_journal_entry *entry)
{
	struct book *b = j->book;
	uint16_t i = 0, *bucket = bucket_of(j, &entry->key);

	while (i < MOST && (j->uses[i] || b->entry[i].space || others_have(b, i, 1)))
		i++;
	if (i == MOST)
		return UNC_JOURNAL_NONE;
	b->entry[i] = *entry;
	b->entry[i].pid = (int32_t)j->self.pid;
	b->entry[i].start = j->self.start;
	b->entry[i].space = (uint32_t)j->self.space ? (uint32_t)j->self.space : 1;
	b->entry[i].since = (int64_t)time(NULL);
	j->next[i] = *bucket;
	*bucket = (uint16_t)(i + 1);
	unc_journal_put(j, i);
	unc_journal_join(j, i);
	return i;
}

/* Locks entries that became used, or unlocks those that became unused; adjacent ones by one call. */
static int set_locks(struct unc_journal *j, bool locked)
{
	uint16_t first = j->from;
	int error = 0;

	for (uint16_t i = j->from; i <= j->to; i++) {
		if (i < j->to && (j->state[i] & LOCKED) != locked && (j->uses[i] != 0) == locked) {
			j->state[i] ^= LOCKED;
			continue;
		}
		if (i > first && !error)
			error = set_lock(j->book->locks, first, i - first,
					 locked ? F_RDLCK : F_UNLCK);
		first = i + 1;
	}
	return error;
}

/* Writes in this order: locks, entries, the head that counts them; then drops locks of unused entries. */
static int write_all(struct unc_journal *j, struct unc_error *err)
{
	struct head h = {.magic = MAGIC, .n = j->book->n};
	uint16_t first = j->from;
	int rc = 0;

	memcpy(h.boot, j->boot, sizeof(h.boot));
	if ((errno = set_locks(j, true)))
		return fail_at(j, j->book, 0, NULL, err);
	for (uint16_t i = j->from; i <= j->to && rc == 0; i++) {
		if (i < j->to && j->state[i] & CHANGED) {
			h.n = i >= h.n ? i + 1u : h.n;
			continue;
		}
		if (i > first)
			rc = write_at(j, j->book, &j->book->entry[first],
				      (size_t)(i - first) * ENTRY, entry_offset(first), err);
		first = i + 1;
	}
	if (rc == 0 && h.n > j->book->n)
		rc = write_at(j, j->book, &h, ENTRY, 0, err);
	(void)set_locks(j, false);
	return rc;
}

int unc_journal_write(struct unc_journal *j, struct unc_error *err)
{
	struct unc_error why;
	bool known = false;
	int rc = j->from < j->to ? write_all(j, &why) : 0;

	for (uint16_t i = 0; i < j->book->n && rc < 0; i++)
		known |= j->uses[i] && !(j->state[i] & CHANGED);
	for (uint16_t i = j->from; i < j->to; i++)
		j->state[i] &= LOCKED;
	j->book->n = j->to > j->book->n ? j->to : j->book->n;
	j->from = j->to = 0;
	if (known)
		return unc_fail(err, rc, "%s", why.text);
	if (rc < 0) { /* no session of this process is in the file: the journal moves to memory */
		j->reason = why;
		pthread_mutex_lock(&all_lock);
		close_files(j);
		pthread_mutex_unlock(&all_lock);
	}
	return 0;
}

/* ---- opening */

static bool is_removed(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || !st.st_nlink;
}

static int open_folder(struct unc_journal *j, bool make)
{
	struct stat st;

	j->folder = open_at(AT_FDCWD, j->dir, O_RDONLY | O_DIRECTORY);
	if (j->folder < 0 && errno == ENOENT && make && mkdir(j->dir, 0755) == 0)
		j->folder = open_at(AT_FDCWD, j->dir, O_RDONLY | O_DIRECTORY);
	if (j->folder < 0 || fstat(j->folder, &st) < 0)
		return unc_fail(&j->reason, unc_fs_error(errno), "%s: %s", j->dir, strerror(errno));
	if ((!st.st_uid || st.st_uid == j->book->user) && !(st.st_mode & S_IWOTH) &&
	    (!(st.st_mode & S_IWGRP) || st.st_mode & S_ISVTX))
		return 0;
	return unc_fail(&j->reason, UNC_ERR_DENIED,
			"%s: the journal needs a folder of root or of yours that only its owner "
			"may write, or also a group if it is sticky (chmod o-w,+t)",
			j->dir);
}

int unc_journal_open(struct unc_journal *j, const char *dir, bool make)
{
	struct book *own = j->book;
	int rc;

	if (j->in_use || (j->folder >= 0 && !is_removed(j->node) && !is_removed(own->file) &&
			  !is_removed(own->locks)))
		return 0;
	pthread_mutex_lock(&all_lock);
	close_files(j);
	unc_error_clear(&j->reason);
	own->n = 0;
	own->user = geteuid();
	snprintf(j->dir, sizeof(j->dir), "%s", dir);
	if (unc_fs_text(NULL, j->boot, sizeof(j->boot), "/proc/sys/kernel/random/boot_id") < 0)
		j->boot[0] = '\0';
	if ((rc = open_folder(j, make)) < 0 ||
	    (rc = open_journal_file(j, NULL, "", 0660, &j->node, &j->reason)) < 0 ||
	    (rc = open_journal_file(j, own, "", 0644, &own->file, &j->reason)) < 0 ||
	    (rc = open_journal_file(j, own, ".locks", 0600, &own->locks, &j->reason)) < 0)
		close_files(j);
	pthread_mutex_unlock(&all_lock);
	return rc;
}

/* ---- a turn */

/* Returns the time of this process; the measured machine may be simulated, with another time. */
static long long clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Waits for the lock of the node. On a busy machine a turn may last many seconds; a stopped owner gets less. */
static int await_lock(const struct unc_journal *j, unsigned patience, struct unc_error *err)
{
	struct timespec pause = {.tv_nsec = 50000};
	struct head h = {.n = UINT64_MAX};
	long long begun = clock_ns(), since = begun;
	uint64_t turn = 0;
	bool stopped = false;

	while ((errno = set_lock(j->node, 0, 1, F_WRLCK)) == EAGAIN) {
		if (!patience)
			return unc_fail(err, UNC_ERR_BUSY, "the journal is locked");
		if (unc_read_at(j->node, &h, sizeof(h), 0) == 0 && h.n != turn) {
			turn = h.n;
			since = clock_ns();
		}
		/* The second limit: a process that can write the file could change h.n for ever. */
		if (clock_ns() - since > (stopped ? patience : HANGS) * 1000000000ll ||
		    clock_ns() - begun > 2 * HANGS * 1000000000ll) {
			unc_process_clean(h.command);
			return unc_fail(
				err, UNC_ERR_BUSY,
				"%s/lock is held by pid %d (%s), which %s: let it go on or end it",
				j->dir, (int)h.pid, h.command,
				stopped ? "is stopped" : "has had it for more than a minute");
		}
		stopped = clock_ns() - since > 500000000 && unc_process_stopped(h.pid);
		ppoll(NULL, 0, &pause, NULL);
		pause.tv_nsec = pause.tv_nsec < 1000000 ? pause.tv_nsec * 2 : 2000000;
	}
	return errno ? fail_at(j, NULL, 0, NULL, err) : 0;
}

/* Adds a user that is new in the file of the node. A file that is missing, unreadable or writable by others
 * is ignored. */
static int add_book(struct unc_journal *j, uint32_t user, struct unc_error *err)
{
	struct book b = {.file = -1, .locks = -1, .user = user};
	int rc;

	for (unsigned i = 0; i < j->n_books; i++)
		if (j->book[i].user == user)
			return 0;
	if (j->n_books == USERS)
		return fail_at(j, &b, UNC_ERR_BUSY, "there are too many users", err);
	rc = open_journal_file(j, &b, "", 0, &b.file, err);
	if (rc < 0)
		return rc == UNC_ERR_NOT_FOUND || rc == UNC_ERR_PERMISSION || rc == UNC_ERR_DENIED
			       ? 0
			       : rc;
	if (!(b.entry = calloc(MOST, ENTRY))) {
		close_fd(&b.file);
		return unc_no_memory(err);
	}
	(void)open_journal_file(j, &b, ".locks", 0, &b.locks, NULL);
	j->book[j->n_books++] = b;
	return 0;
}

static int read_others(struct unc_journal *j, struct unc_error *err)
{
	int failed = 0;

	for (unsigned i = 1; i < j->n_books; i++) {
		struct book *b = &j->book[i];
		int rc = read_book(j, b, b->entry, &b->n, failed ? NULL : err);

		if (rc == UNC_ERR_INVALID)
			b->n = 0; /* a broken file is ignored */
		else if (rc < 0)
			failed = rc;
	}
	return failed;
}

static void drop_removed(struct unc_journal *j)
{
	for (unsigned i = j->n_books; --i > 0;)
		if (is_removed(j->book[i].file)) {
			close_fd(&j->book[i].file);
			close_fd(&j->book[i].locks);
			free(j->book[i].entry);
			j->book[i] = j->book[--j->n_books];
		}
}

/* Updates the file of the node, and reads the entries of other users. The file names the owner of the lock
 * for waiting processes, and all users with entries. Its loss does no harm: each process adds its user. */
static int enter_turn(struct unc_journal *j, struct unc_error *err)
{
	struct head h = {0};
	int rc = read_head(j, NULL, &h, sizeof(h), err);
	uint32_t i = 0;

	if (rc < 0 && rc != UNC_ERR_INVALID)
		return rc;
	if (rc < 0)
		h = (struct head){.magic = MAGIC};
	memcpy(h.boot, j->boot, sizeof(h.boot));
	h.n++;
	h.pid = (int32_t)j->self.pid;
	memcpy(h.command, j->self.command, sizeof(h.command));
	while (i < h.n_users && h.user[i] != j->book->user)
		i++;
	if (i == USERS)
		i = h.n_users = 0;
	h.user[i] = j->book->user;
	h.n_users += i == h.n_users;
	rc = write_at(j, NULL, &h, sizeof(h), 0, err);
	drop_removed(j);
	for (i = 0; i < h.n_users && rc == 0; i++)
		rc = add_book(j, h.user[i], err);
	return rc < 0 ? rc : read_others(j, err);
}

/* Reads the entries of this user. Entries used by sessions of this process stay, even if the file lost them.
 * A broken file that no session uses is emptied. */
static int read_own(struct unc_journal *j, struct unc_error *err)
{
	struct book *b = j->book;
	struct unc_journal_entry *was = b->entry;
	uint16_t n = 0;
	int rc = read_book(j, b, j->spare, &n, err);

	if (rc == UNC_ERR_INVALID && !j->in_use && !others_have(b, 0, MOST) &&
	    ftruncate(b->file, 0) == 0)
		rc = read_book(j, b, j->spare, &n, err);
	if (rc < 0)
		return rc;
	for (uint16_t i = 0; i < n || i < b->n; i++) {
		if (i >= n)
			memset(&j->spare[i], 0, ENTRY);
		if (j->uses[i] && !has_key(&j->spare[i], &was[i].key))
			j->spare[i] = was[i];
	}
	b->n = j->in_use && b->n > n ? b->n : n;
	b->entry = j->spare;
	j->spare = was;
	if (is_removed(j->node) || is_removed(b->file))
		return fail_at(j, b, UNC_ERR_NOT_FOUND,
			       "was removed while sessions ran: later sessions are unknown", err);
	return 0;
}

int unc_journal_lock(struct unc_journal *j, unsigned patience, struct unc_error *err)
{
	struct unc_error why = {.code = 0};
	int rc;

	if (j->folder < 0)
		return 0;
	if ((rc = await_lock(j, patience, &why)) == UNC_ERR_BUSY)
		return unc_fail(err, rc, "%s", why.text);
	pthread_mutex_lock(&all_lock);
	if (rc == 0)
		rc = enter_turn(j, &why);
	if (rc == 0)
		rc = read_own(j, &why);
	if (rc == 0)
		unc_error_clear(&why); /* a broken file was emptied */
	j->reason = why;
	if (rc < 0 && !j->in_use)
		close_files(j);
	else if (rc < 0)
		forget_unused(j);
	else
		index_entries(j);
	pthread_mutex_unlock(&all_lock);
	return 0;
}

void unc_journal_unlock(struct unc_journal *j)
{
	(void)unc_journal_write(j, NULL); /* after a failure the files are as after a kill */
	(void)set_lock(j->node, 0, 1, F_UNLCK);
}
