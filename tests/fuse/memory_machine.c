/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD: a simulated machine as files (machine_files.c) in the memory of the process that reads
 * them: the C library's calls about paths below a root are answered without a system call. So a run
 * needs no other process, and costs a tenth of what it does through FUSE.
 *
 *   MEMORY_MACHINE="CPU[,option=value]..."   without it nothing changes. For this process only
 *   MEMORY_ROOT=DIR      the files are below it. A folder, in which the process leaves at its end
 *                        log, left and clock, as fuse_machine has them, and
 *                        registers: "PATH OFFSET VALUE" of each register of the machine, as poke
 *                        shows it
 *   MEMORY_LINES=FILE    lines of /control, before anything else. One that is refused ends the process
 *   MEMORY_JOURNAL=FILE  registers that were written, and the clock: the machine is found as the
 *                        last process with this file left it, even if that was killed
 *   MEMORY_AFTER=SECONDS the clock goes on by so many when the process has ended
 *
 * What is beside the files as in fuse/: virtual_clock.so and live_machine.so take ROOT/clock,
 * ROOT/tsc and ROOT/memory from here; this module stands before them in LD_PRELOAD. What only a
 * kernel does is not here: permissions, other processes, a child, who is stopped.
 */
#if !defined(__x86_64__)
typedef int nothing_to_do_here;
#else
/* The functions are defined here under both of their names. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine.h"

enum { MAX_FILES = 4096 };

static char root[PATH_MAX];
static size_t root_length;
static struct machine *machine;
static int journal = -1;

/* What is open, by its descriptor, which the kernel has for something else. */
static struct file {
	char *path; /* NULL: it is none of ours */
	uint64_t offset;
	bool mapped;
} file[MAX_FILES];

static void __attribute__((noreturn)) give_up(const char *what, const char *why)
{
	dprintf(STDERR_FILENO, "memory_machine: %s: %s\n", what, why);
	_exit(125);
}

/* ---- the machine, one thread at a time */

static atomic_flag busy = ATOMIC_FLAG_INIT;

/* Not a mutex: those are virtual_clock's, which reads the clock. */
static struct machine *take(void)
{
	while (atomic_flag_test_and_set(&busy))
		syscall(SYS_sched_yield);
	machine->pid = (pid_t)syscall(SYS_gettid);
	return machine;
}

static void let_go(void)
{
	atomic_flag_clear(&busy);
}

/* As a system call: -1 and errno. */
static int64_t returned(int64_t rc)
{
	let_go();
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

/* ---- what is left for others */

/* A register was written, by whoever it was. */
static void wrote(const struct machine *m, const char *path, uint64_t offset, uint64_t value,
		  size_t size)
{
	uint64_t now = unc_sim_time(m->sim);
	char line[640];
	int n = snprintf(line, sizeof(line),
			 "%" PRIu64 ".%09" PRIu64 " %s 0x%" PRIx64 " 0x%" PRIx64 " %zu\n",
			 now / 1000000000, now % 1000000000, path, offset, value, size);

	if (journal >= 0 && syscall(SYS_write, journal, line, (size_t)n) != n)
		give_up("the journal", strerror(errno));
}

/* As poke reads it: 8 bytes of an MSR, 4 of others. */
static void put_register(FILE *out, struct sim_reg *reg)
{
	uint64_t value = unc_sim_read(machine->sim, reg), address = reg->reg.address;

	switch (reg->reg.space) {
	case UNC_SPACE_MSR:
		fprintf(out, "/dev/cpu/%u/msr 0x%" PRIx64 " 0x%" PRIx64 "\n",
			reg->reg.target * machine->cpus, address, value);
		break;
	case UNC_SPACE_PCI:
		fprintf(out, "/sys/bus/pci/devices/%s/config 0x%x 0x%" PRIx32 "\n",
			unc_pci_name(address).text, UNC_PCI_OFFSET(address), (uint32_t)value);
		break;
	default:
		fprintf(out, "/memory 0x%" PRIx64 " 0x%" PRIx32 "\n", address, (uint32_t)value);
	}
}

static FILE *create(const char *name)
{
	char path[PATH_MAX];
	FILE *out;

	if (snprintf(path, sizeof(path), "%s/%s", root, name) >= (int)sizeof(path) ||
	    !(out = fopen(path, "we")))
		give_up(name, strerror(errno));
	return out;
}

static void put_text(const char *name, const char *text, size_t size)
{
	FILE *out = create(name);

	fwrite(text, 1, size, out);
	if (fclose(out) == EOF)
		give_up(name, strerror(errno));
}

static void __attribute__((destructor)) end(void)
{
	const char *after = getenv("MEMORY_AFTER"), *text;
	char now[64];
	size_t size;

	if (!root_length)
		return;
	(void)take(); /* for good */
	if (after && *after)
		(void)room_advance(machine->room, after, strlen(after));
	text = room_log(machine->room, &size);
	put_text("log", text, size);
	text = machine_left(machine, &size);
	put_text("left", text, size);
	snprintf(now, sizeof(now), "%" PRIu64 ".%09" PRIu64 "\n",
		 unc_sim_time(machine->sim) / 1000000000, unc_sim_time(machine->sim) % 1000000000);
	put_text("clock", now, strlen(now));
	if (journal >= 0 && syscall(SYS_write, journal, now, strlen(now)) < 0)
		give_up("the journal", strerror(errno));
	FILE *out = create("registers");
	for (size_t i = 0; i < machine->sim->n_regs; i++)
		if (machine->sim->reg[i].exists)
			put_register(out, &machine->sim->reg[i]);
	if (fclose(out) == EOF)
		give_up("registers", strerror(errno));
}

/* ---- beginning */

static char *content(const char *path, size_t *size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	ssize_t got = 1;

	*size = 0;
	while (fd >= 0 && got > 0) {
		if (!(text = realloc(text, *size + 4096)))
			give_up(path, "no memory");
		got = syscall(SYS_read, fd, text + *size, 4095);
		*size += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (text)
		text[*size] = '\0';
	return text;
}

static void line_of(const char *line)
{
	if (room_control(machine->room, line, strlen(line)) < 0)
		give_up(line, room_error(machine->room));
}

/* Lines "SECONDS PATH OFFSET VALUE BYTES", or "SECONDS". */
static void go_through(char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char path[512], poke[640];
		uint64_t at, part, offset, value, now = unc_sim_time(machine->sim);
		unsigned bytes;
		int n = sscanf(line, "%" SCNu64 ".%9" SCNu64 " %511s %" SCNx64 " %" SCNx64 " %u",
			       &at, &part, path, &offset, &value, &bytes);

		at = at * 1000000000 + part;
		if (n < 2 || at < now)
			give_up("the journal", line);
		unc_sim_step(machine->sim, at - now);
		if (n < 6)
			continue;
		snprintf(poke, sizeof(poke), "poke %s 0x%" PRIx64 " 0x%" PRIx64 " %u", path, offset,
			 value, bytes);
		line_of(poke);
	}
}

static void __attribute__((constructor)) begin(void)
{
	static bool begun;
	const char *spec = getenv("MEMORY_MACHINE"), *lines = getenv("MEMORY_LINES");
	const char *below = getenv("MEMORY_ROOT"), *kept = getenv("MEMORY_JOURNAL");
	char *text;
	size_t size;

	if (begun)
		return;
	begun = true;
	if (!spec || !*spec || !below || !*below)
		return;
	machine = machine_new(strdup(spec));
	if (!machine)
		give_up(spec, "no such machine");
	machine->wrote = wrote;
	if (kept && *kept) {
		text = content(kept, &size);
		if (text)
			go_through(text);
		free(text);
		journal = (int)syscall(SYS_openat, AT_FDCWD, kept,
				       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (journal < 0)
			give_up(kept, strerror(errno));
	}
	text = lines && *lines ? content(lines, &size) : NULL;
	for (char *line = text, *next; line; line = next) {
		if ((next = strchr(line, '\n')))
			*next++ = '\0';
		line_of(line);
	}
	free(text);
	snprintf(root, sizeof(root), "%s", below);
	root_length = strlen(root);
	unsetenv("MEMORY_MACHINE");
}

/* The path in the machine, which goes to buf; NULL: it is not there. */
static const char *inside(const char *path, char buf[PATH_MAX])
{
	size_t n = 0;

	begin(); /* another module may be ahead of it */
	if (!root_length || strncmp(path, root, root_length) != 0 ||
	    (path[root_length] && path[root_length] != '/'))
		return NULL;
	buf[n++] = '/';
	for (const char *c = path + root_length; *c && n < PATH_MAX - 1; c++)
		if (*c != '/' || buf[n - 1] != '/')
			buf[n++] = *c;
	buf[n] = '\0';
	return buf;
}

static struct file *opened(int fd)
{
	return fd >= 0 && fd < MAX_FILES && file[fd].path ? &file[fd] : NULL;
}

/* ---- opening and closing */

static int open_inside(const char *path, int flags)
{
	struct machine *m = take();
	struct stat st;
	bool mapped = false;
	int rc = machine_stat(m, path, &st);

	rc = rc < 0 ? rc : machine_open(m, path, (flags & O_ACCMODE) != O_RDONLY, &mapped);
	if (rc == 0)
		rc = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
	if (rc == -1)
		rc = -errno;
	if (rc >= MAX_FILES)
		give_up(path, "too many open files");
	if (rc >= 0)
		file[rc] = (struct file){.path = strdup(path), .mapped = mapped};
	return (int)returned(rc);
}

static int open_any(const char *path, int flags, mode_t mode)
{
	char buf[PATH_MAX];
	const char *name = inside(path, buf);

	return name ? open_inside(name, flags)
		    : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_any(path, flags, mode);
}

int close(int fd)
{
	struct file *f = opened(fd);

	if (f) {
		char *path = f->path;

		machine_close(take(), path);
		f->path = NULL;
		free(path);
		let_go();
	}
	return (int)syscall(SYS_close, fd);
}

/* ---- reading and writing */

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	const struct file *f = opened(fd);

	if (!f)
		return syscall(SYS_pread64, fd, buf, size, offset);
	return returned(machine_read(take(), f->path, buf, size, (uint64_t)offset));
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	const struct file *f = opened(fd);

	if (!f)
		return syscall(SYS_pwrite64, fd, buf, size, offset);
	return returned(machine_write(take(), f->path, buf, size, (uint64_t)offset));
}

ssize_t read(int fd, void *buf, size_t size)
{
	struct file *f = opened(fd);

	if (!f)
		return syscall(SYS_read, fd, buf, size);
	ssize_t n = pread(fd, buf, size, (off_t)f->offset);

	f->offset += n > 0 ? (uint64_t)n : 0;
	return n;
}

ssize_t write(int fd, const void *buf, size_t size)
{
	struct file *f = opened(fd);

	if (!f)
		return syscall(SYS_write, fd, buf, size);
	ssize_t n = pwrite(fd, buf, size, (off_t)f->offset);

	f->offset += n > 0 ? (uint64_t)n : 0;
	return n;
}

/* Memory to read is a copy of the moment, as through the kernel. What may be written is live_machine's. */
void *mmap(void *at, size_t length, int access, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	const struct file *f = opened(fd);
	union {
		void *found;
		void *(*call)(void *, size_t, int, int, int, off_t);
	} real = {.found = NULL};

	if (f && f->mapped && !(access & PROT_WRITE)) {
		void *copy = (void *)syscall(SYS_mmap, NULL, length, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);

		if (copy == MAP_FAILED)
			return copy;
		if (returned(machine_read(take(), f->path, copy, length, (uint64_t)offset)) >= 0)
			return copy;
		int error = errno;
		syscall(SYS_munmap, copy, length);
		errno = error;
		return MAP_FAILED;
	}
	if (!next) {
		real.found = dlsym(RTLD_NEXT, "mmap");
		next = real.call;
	}
	return next(at, length, access, flags, fd, offset);
}

/* ---- the same functions by other names: of large files, and of a checked build */

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
ssize_t pread64(int fd, void *buf, size_t size, off_t offset) __attribute__((alias("pread")));
ssize_t pwrite64(int fd, const void *buf, size_t size, off_t offset)
	__attribute__((alias("pwrite")));
void *mmap64(void *at, size_t length, int access, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open_any(path, flags, 0);
}

ssize_t __read_chk(int fd, void *buf, size_t size, size_t room);
ssize_t __read_chk(int fd, void *buf, size_t size, size_t room)
{
	return size <= room ? read(fd, buf, size) : -1;
}

ssize_t __pread_chk(int fd, void *buf, size_t size, off_t offset, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t size, off_t offset, size_t room)
{
	return size <= room ? pread(fd, buf, size, offset) : -1;
}

/* ---- looking */

static int stat_inside(const char *path, struct stat *st)
{
	return (int)returned(machine_stat(take(), path, st));
}

int stat(const char *restrict path, struct stat *restrict st)
{
	char buf[PATH_MAX];
	const char *name = inside(path, buf);

	return name ? stat_inside(name, st) : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	char buf[PATH_MAX];
	const char *name = inside(path, buf);

	return name ? stat_inside(name, st)
		    : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
	const struct file *f = opened(fd);

	return f ? stat_inside(f->path, st)
		 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

int access(const char *path, int mode)
{
	char buf[PATH_MAX];
	const char *name = inside(path, buf);
	struct stat st;

	return name ? stat_inside(name, &st) : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

ssize_t readlink(const char *restrict path, char *restrict buf, size_t size)
{
	char below[PATH_MAX], whole[PATH_MAX];
	const char *name = inside(path, below);
	int fd = -1, used = 0;

	if (sscanf(path, "/proc/self/fd/%d%n", &fd, &used) == 1 && !path[used] && opened(fd))
		snprintf(whole, sizeof(whole), "%.2000s%.2000s", root, opened(fd)->path);
	else if (!name)
		return syscall(SYS_readlinkat, AT_FDCWD, path, buf, size);
	else if (returned(machine_link(take(), name, whole, sizeof(whole))) < 0)
		return -1;
	size = size < strlen(whole) ? size : strlen(whole);
	memcpy(buf, whole, size);
	return (ssize_t)size;
}

ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t room);
ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t room)
{
	return size <= room ? readlink(path, buf, size) : -1;
}

/* ---- folders */

struct listing {
	const void *mark; /* &marked: it is not the C library's */
	size_t n, next;
	struct dirent *entry;
};

static const char marked;

static struct listing *listing_of(DIR *dir)
{
	struct listing *l = (struct listing *)(void *)dir;

	return l->mark == &marked ? l : NULL;
}

static void add_name(void *user, const char *name)
{
	struct listing *l = user;

	l->entry = realloc(l->entry, (l->n + 1) * sizeof(*l->entry));
	if (!l->entry)
		give_up(name, "no memory");
	memset(&l->entry[l->n], 0, sizeof(*l->entry));
	snprintf(l->entry[l->n++].d_name, sizeof(l->entry->d_name), "%s", name);
}

static void *next_function(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

DIR *opendir(const char *path)
{
	char buf[PATH_MAX];
	const char *name = inside(path, buf);
	struct listing *l;
	struct stat st;
	union {
		void *found;
		DIR *(*call)(const char *);
	} real = {.found = name ? NULL : next_function("opendir")};

	if (!name)
		return real.call(path);
	if (stat_inside(name, &st) < 0)
		return NULL;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return NULL;
	}
	if (!(l = calloc(1, sizeof(*l))))
		return NULL;
	l->mark = &marked;
	machine_list(take(), name, add_name, l);
	let_go();
	return (DIR *)(void *)l;
}

struct dirent *readdir(DIR *dir)
{
	struct listing *l = listing_of(dir);
	union {
		void *found;
		struct dirent *(*call)(DIR *);
	} real = {.found = l ? NULL : next_function("readdir")};

	if (!l)
		return real.call(dir);
	return l->next < l->n ? &l->entry[l->next++] : NULL;
}

int closedir(DIR *dir)
{
	struct listing *l = listing_of(dir);
	union {
		void *found;
		int (*call)(DIR *);
	} real = {.found = l ? NULL : next_function("closedir")};

	if (!l)
		return real.call(dir);
	free(l->entry);
	free(l);
	return 0;
}
#endif
