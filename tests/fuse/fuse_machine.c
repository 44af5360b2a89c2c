/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated machine as files of the kernel (machine_files.c), so that the real back ends run with
 * real system calls.
 *
 *   fuse_machine "CPU[,option=value]..." MOUNTPOINT      serves until it is unmounted
 */
#define FUSE_USE_VERSION 31
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

/* It is told who asks. */
static struct machine *machine(void)
{
	struct machine *m = fuse_get_context()->private_data;

	m->pid = fuse_get_context()->pid;
	return m;
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	return machine_stat(machine(), path, st);
}

struct filler {
	fuse_fill_dir_t fill;
	void *buf;
};

static void fill_name(void *user, const char *name)
{
	const struct filler *filler = user;

	filler->fill(filler->buf, name, NULL, 0, (enum fuse_fill_dir_flags)0);
}

static int list(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
		struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	struct filler filler = {fill, buf};

	(void)offset;
	(void)fi;
	(void)flags;
	machine_list(machine(), path, fill_name, &filler);
	return 0;
}

static int read_link(const char *path, char *buf, size_t size)
{
	return machine_link(machine(), path, buf, size);
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	bool mapped;
	int rc = machine_open(machine(), path, (fi->flags & O_ACCMODE) != O_RDONLY, &mapped);

	fi->direct_io = rc == 0 && !mapped;
	return rc;
}

static int close_file(const char *path, struct fuse_file_info *fi)
{
	(void)fi;
	machine_close(machine(), path);
	return 0;
}

/* A shell that writes to a file empties it first. */
static int truncate_file(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)size;
	(void)fi;
	return machine_has(machine(), path);
}

static int read_file(const char *path, char *buf, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	(void)fi;
	return machine_read(machine(), path, buf, size, (uint64_t)offset);
}

static int write_file(const char *path, const char *buf, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	(void)fi;
	return machine_write(machine(), path, buf, size, (uint64_t)offset);
}

/* Nothing is remembered: what a file is like may change at any moment. */
static void *start(struct fuse_conn_info *connection, struct fuse_config *config)
{
	connection->max_readahead = 0; /* of memory only what is asked for */
	config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
	return machine();
}

static const struct fuse_operations operations = {
	.init = start,
	.getattr = get_attributes,
	.readlink = read_link,
	.truncate = truncate_file,
	.readdir = list,
	.open = open_file,
	.release = close_file,
	.read = read_file,
	.write = write_file,
};

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "-f", "-s", argc == 3 ? argv[2] : NULL, NULL};

	if (argc != 3) {
		fprintf(stderr, "usage: fuse_machine CPU[,option=value]... MOUNTPOINT\n");
		return 2;
	}
	struct machine *m = machine_new(argv[1]);
	int status = m ? fuse_main(4, arguments, &operations, m) : 1;
	machine_free(m);
	return status;
}
