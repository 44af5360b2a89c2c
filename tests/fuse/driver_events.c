/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the uncore driver of a simulated machine (driver.c) as files, which are read, asked by ioctl(), passed and
 * closed as those of perf_event_open() are:
 *
 *   driver_events MACHINE MOUNTPOINT     serves until it is unmounted
 *
 *   open/TYPE:CPU:LEADER:PINNED:DISABLED:CONFIG:CONFIG1:CONFIG2
 *            opening it makes an event of the PMU TYPE on CPU; LEADER is the id of its group's first
 *            event, 0 for one that begins a group. driver_syscall.c opens them.
 *   pmu/NAME the type of a PMU
 *   control  "offline CPU", "online CPU": all CPUs of a socket
 *   events   how many there are
 *
 * Groups that are not pinned take turns of a millisecond.
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fuse.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../built.h"
#include "../driver.h"
#include "../sim_units.h"

enum { MOST = 4096 };

static struct unc_machine *machine;
static uint64_t id_of[MOST]; /* of a descriptor; 0: it is closed */
static uint64_t last_id;
static size_t events;

static int fd_of(uint64_t id)
{
	for (int fd = 0; fd < MOST; fd++)
		if (id && id_of[fd] == id)
			return fd;
	return -1;
}

static int open_event(const char *path, uint64_t *id)
{
	unsigned type, pinned, disabled;
	int cpu, leader = -1, fd;
	uint64_t of, config[3];
	struct perf_event_attr attr = {.size = sizeof(attr)};

	if (sscanf(path, "/open/%u:%d:%" SCNu64 ":%u:%u:%" SCNx64 ":%" SCNx64 ":%" SCNx64, &type,
		   &cpu, &of, &pinned, &disabled, &config[0], &config[1], &config[2]) != 8 ||
	    (of && (leader = fd_of(of)) < 0))
		return -EINVAL;
	attr.type = type;
	attr.config = config[0];
	attr.config1 = config[1];
	attr.config2 = config[2];
	attr.pinned = pinned != 0;
	attr.disabled = disabled != 0;
	if ((fd = machine->events->open(machine, &attr, cpu, leader)) < 0)
		return -errno;
	if (fd >= MOST) {
		machine->events->close(machine, fd);
		return -EMFILE;
	}
	*id = id_of[fd] = ++last_id;
	events++;
	return 0;
}

static int type_of(const char *path, uint32_t *type)
{
	char mask[64];

	return strncmp(path, "/pmu/", 5) != 0 ||
	       machine->events->find(machine, path + 5, type, mask, sizeof(mask));
}

/* ---- files */

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	const bool folder =
		strcmp(path, "/") == 0 || strcmp(path, "/open") == 0 || strcmp(path, "/pmu") == 0;
	uint32_t type;

	(void)fi;
	if (!folder && strncmp(path, "/open/", 6) != 0 && strcmp(path, "/control") != 0 &&
	    strcmp(path, "/events") != 0 && type_of(path, &type))
		return -ENOENT;
	*st = (struct stat){.st_mode = folder ? S_IFDIR | 0700 : S_IFREG | 0600,
			    .st_nlink = 1,
			    .st_size = folder ? 0 : 4096};
	return 0;
}

static int fuse_open_file(const char *path, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	fi->fh = 0;
	if (fuse_get_context()->uid)
		return -EACCES; /* as perf_event_paranoid has it */
	return strncmp(path, "/open/", 6) == 0 ? open_event(path, &fi->fh) : 0;
}

static int fuse_read_file(const char *path, char *buf, size_t size, off_t at,
			  struct fuse_file_info *fi)
{
	uint32_t type;

	if (fi->fh)
		return (int)machine->events->read(machine, fd_of(fi->fh), buf, size);
	if (at)
		return 0;
	return type_of(path, &type) ? snprintf(buf, size, "%zu\n", events)
				    : snprintf(buf, size, "%u\n", type);
}

static int fuse_write_file(const char *path, const char *buf, size_t size, off_t at,
			   struct fuse_file_info *fi)
{
	char word[16], text[64] = "";
	int cpu;

	(void)at;
	memcpy(text, buf, size < sizeof(text) ? size : sizeof(text) - 1);
	if (fi->fh || strcmp(path, "/control") != 0 || sscanf(text, "%15s %d", word, &cpu) != 2 ||
	    cpu)
		return -EINVAL;
	driver_offline(machine, cpu, strcmp(word, "offline") == 0);
	return (int)size;
}

static int fuse_truncate_file(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)size;
	(void)fi;
	return strcmp(path, "/control") == 0 ? 0 : -EINVAL;
}

static int fuse_ioctl_file(const char *path, unsigned cmd, void *arg, struct fuse_file_info *fi,
			   unsigned flags, void *data)
{
	const int fd = fd_of(fi->fh);

	(void)path;
	(void)arg;
	(void)flags;
	if (fd < 0)
		return -ENOTTY;
	if (cmd == (unsigned)PERF_EVENT_IOC_ENABLE)
		machine->events->enable(machine, fd);
	else if (cmd == (unsigned)PERF_EVENT_IOC_DISABLE)
		driver_stop(machine, fd);
	else if (cmd == (unsigned)PERF_EVENT_IOC_RESET)
		driver_reset(machine, fd);
	else if (cmd == (unsigned)PERF_EVENT_IOC_ID)
		memcpy(data, &fi->fh, sizeof(fi->fh));
	else
		return -EINVAL;
	return 0;
}

static int fuse_release_file(const char *path, struct fuse_file_info *fi)
{
	const int fd = fd_of(fi->fh);

	(void)path;
	if (fd < 0)
		return 0;
	machine->events->close(machine, fd);
	id_of[fd] = 0;
	events--;
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = get_attr,
	.open = fuse_open_file,
	.read = fuse_read_file,
	.write = fuse_write_file,
	.truncate = fuse_truncate_file,
	.ioctl = fuse_ioctl_file,
	.release = fuse_release_file,
};

static bool begin(const char *spec)
{
	struct unc_error err = {0};
	struct unc_sim *sim;
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	if (unc_sim_open(spec, "node", all, n, &sim, &err) < 0 || sim_units(sim, &err) < 0) {
		fprintf(stderr, "driver_events: %s\n", err.text);
		return false;
	}
	machine = &sim->machine;
	driver_attach(machine, false);
	driver_turns(machine, 1000000);
	return true;
}

int main(int argc, char **argv)
{
	char *args[] = {argv[0], "-f", "-s", "-oallow_other", argc == 3 ? argv[2] : NULL, NULL};

	if (argc != 3) {
		fprintf(stderr, "usage: driver_events MACHINE MOUNTPOINT\n");
		return 2;
	}
	return begin(argv[1]) ? fuse_main(5, args, &operations, NULL) : 1;
}
