/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine behind the files. */
#ifndef UNC_TEST_FUSE_MACHINE_H
#define UNC_TEST_FUSE_MACHINE_H

#include <sys/stat.h>

#include "room.h"
#include "sim/sim_machine.h"

/* A register that was written, and what it held before that. */
struct written {
	void *reg;
	char *path;
	uint64_t offset, before;
};

struct machine {
	const char *spec;
	const struct unc_table
		*narrow; /* MACHINE_WIDTH: with narrower counters; NULL: as they are */
	struct room *room;
	struct unc_sim *sim;
	unsigned cpus; /* of a socket */
	struct written *written;
	size_t n_written;
	char *left; /* text */
	pid_t pid;  /* who accesses it */
	/* NULL, or is told of each register that a process or a neighbour has written. */
	void (*wrote)(const struct machine *, const char *path, uint64_t offset, uint64_t value,
		      size_t size);
};

/* CONTROL and CLOCK can be written, LOG and LEFT are long, LIVE is memory without the kernel's cache. */
enum kind { NONE, DIRECTORY, TEXT, MSR, CONFIG, MEMORY, LIVE, CONTROL, CLOCK, LOG, LEFT, LINK };

struct node {
	enum kind kind;
	unsigned cpu;
	const struct unc_dump_entry *entry; /* of a device */
	char text[1 << 15];
};

/*
 * machine_files.c: what a process can do with the files. A path begins with a slash; pid is set
 * before. What fails is -errno. A machine that cannot be is NULL, and says why on stderr.
 */
struct machine *machine_new(const char *spec);
void machine_free(struct machine *);
/* 0, or -errno: such a file could not be opened. */
int machine_has(struct machine *, const char *path);
int machine_stat(struct machine *, const char *path, struct stat *st);
typedef void machine_name_fn(void *user, const char *name);
/* The names in a folder that can be listed, without those that are hidden. */
void machine_list(const struct machine *, const char *path, machine_name_fn *each, void *user);
int machine_link(const struct machine *, const char *path, char *buf, size_t size);
/* *mapped: it is memory, which can be mapped. */
int machine_open(struct machine *, const char *path, bool write, bool *mapped);
void machine_close(struct machine *, const char *path);
/* How many bytes. */
int machine_read(struct machine *, const char *path, char *buf, size_t size, uint64_t offset);
int machine_write(struct machine *, const char *path, const char *buf, size_t size,
		  uint64_t offset);

/* machine_text.c: what its files say, but for those of MSRs. Logical CPUs of all sockets. */
unsigned machine_cpus(const struct machine *);
/* False: there is no such file. */
bool machine_file(const struct machine *, const char *path, struct node *);
/* The names in a folder; NULL: it is none. */
char **machine_names(const struct machine *, const char *path);

/* A register is about to be written. */
void machine_remember(struct machine *, const char *path, uint64_t offset, void *reg);
void machine_forget(struct machine *);
/* What /left reads as. */
const char *machine_left(struct machine *, size_t *size);

#endif
