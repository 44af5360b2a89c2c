/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated machine as files: what the kernel shows of its CPUs, MSRs, PCI functions and
 * memory. fuse_machine.c shows them to all processes through the kernel, memory_machine.c to one
 * process from its own memory.
 *
 * MSRs and configuration space go to the registers of the machine. /dev/mem can be read and
 * mapped, but a mapping is a copy of the moment: counters there move, and writes arrive, only for a
 * process with tests/fuse/live_machine.c. Beside what a kernel shows there are, at the top:
 *
 *   clock     seconds since the machine was switched on; with clock=step, "2.5" written to it
 *             moves it on by so many (tests/fuse/virtual_clock.c makes it a process's own time)
 *   tsc       ticks of its TSC
 *   control   faults, neighbours and signals: see room.h
 *   log       accesses to registers
 *   left      registers that processes have written and that do not hold what they did before:
 *             "PATH OFFSET VALUE BEFORE"; counters are left out
 *   memory    physical memory as it is now, to read and to write
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../built.h"
#include "../sim_units.h"
#include "machine.h"

/* ---- paths */

/* The files beside those of a kernel. */
static bool room_file(const struct machine *m, const char *path, struct node *node)
{
	uint64_t now = unc_sim_time(m->sim);

	if (strcmp(path, "/clock") == 0) {
		node->kind = CLOCK;
		snprintf(node->text, sizeof(node->text), "%" PRIu64 ".%09" PRIu64 "\n",
			 now / 1000000000, now % 1000000000);
	} else if (strcmp(path, "/tsc") == 0) {
		snprintf(node->text, sizeof(node->text), "%" PRIu64 "\n", unc_sim_tsc(m->sim));
	} else if (strcmp(path, "/control") == 0) {
		node->kind = CONTROL;
		snprintf(node->text, sizeof(node->text), "%s\n", room_error(m->room));
	} else if (strcmp(path, "/log") == 0) {
		node->kind = LOG;
	} else if (strcmp(path, "/left") == 0) {
		node->kind = LEFT;
	} else if (strcmp(path, "/memory") == 0) {
		node->kind = LIVE;
	} else {
		return false;
	}
	return true;
}

/* -ENXIO: the CPU of this MSR file is offline. */
static int find_node(const struct machine *m, const char *path, struct node *node)
{
	const char *text = room_text(m->room, path);
	int used = 0;

	*node = (struct node){.kind = TEXT};
	if (room_file(m, path, node))
		return 0;
	if (room_hidden(m->room, path))
		return -ENOENT;
	if (text)
		snprintf(node->text, sizeof(node->text), "%s", text);
	else if (sscanf(path, "/dev/cpu/%u/msr%n", &node->cpu, &used) == 1 && used && !path[used])
		node->kind = node->cpu < machine_cpus(m) ? MSR : NONE;
	else if (strcmp(path, "/") == 0 || room_text_below(m->room, path))
		node->kind = DIRECTORY;
	else if (sscanf(path, "/dev/cpu/%u%n", &node->cpu, &used) == 1 && used && !path[used])
		node->kind = node->cpu < machine_cpus(m) ? DIRECTORY : NONE;
	else if (!machine_file(m, path, node))
		node->kind = NONE;
	if (node->kind == MSR && room_offline(m->room, node->cpu))
		return -ENXIO;
	return node->kind == NONE ? -ENOENT : 0;
}

int machine_has(struct machine *m, const char *path)
{
	struct node node;

	return find_node(m, path, &node);
}

static bool is_register(const struct node *node)
{
	return node->kind == MSR || node->kind == CONFIG || node->kind == LIVE;
}

/* What waits for the access happens; then 0, or the error that it meets. */
static int meet(struct machine *m, struct room_access *access)
{
	access->pid = m->pid;
	return room_before(m->room, access);
}

/* ---- files */

static uint64_t length_of(struct machine *m, const char *path, const struct node *node)
{
	size_t length = strlen(node->text);

	/* Devices have no size; a mapping needs one, beyond any address of the machine. */
	if (node->kind == LOG)
		room_log(m->room, &length);
	if (node->kind == LEFT)
		machine_left(m, &length);
	return node->kind == CONFIG   ? room_size(m->room, path, 4096)
	       : node->kind == MEMORY ? (uint64_t)1 << 52
				      : length;
}

int machine_stat(struct machine *m, const char *path, struct stat *st)
{
	struct room_access access = {.op = ROOM_STAT, .path = path};
	struct node node;
	int rc = find_node(m, path, &node);

	memset(st, 0, sizeof(*st));
	/* The file of an offline CPU can be looked up, but not opened. */
	if ((rc < 0 && rc != -ENXIO) || (rc = meet(m, &access)) < 0)
		return rc;
	st->st_nlink = 1;
	st->st_mode = node.kind == DIRECTORY ? S_IFDIR | 0755
		      : node.kind == LINK    ? S_IFLNK | 0777
					     : S_IFREG | 0600;
	st->st_size = (off_t)length_of(m, path, &node);
	return 0;
}

void machine_list(const struct machine *m, const char *path, machine_name_fn *each, void *user)
{
	char name[600], **names = machine_names(m, path);

	for (char **entry = names; entry && *entry; entry++) {
		snprintf(name, sizeof(name), "%.290s/%.290s", path, *entry);
		if (!room_hidden(m->room, name))
			each(user, *entry);
	}
	free(names);
}

int machine_link(const struct machine *m, const char *path, char *buf, size_t size)
{
	struct node node;
	int rc = find_node(m, path, &node);

	if (rc == 0 && node.kind != LINK)
		rc = -EINVAL;
	if (rc == 0)
		snprintf(buf, size, "%s", node.text);
	return rc;
}

/* Why a device of the machine's file cannot be opened; the MSRs of a socket are one file there. */
static int refused(const struct machine *m, const struct node *node, bool write)
{
	const struct unc_dump_entry *entry = node->entry;
	char path[40];

	for (unsigned i = 0; node->kind == MSR && !entry && i < m->cpus; i++) {
		snprintf(path, sizeof(path), "dev/cpu/%u/msr", node->cpu / m->cpus * m->cpus + i);
		entry = unc_dump_find(m->sim->dump, path);
	}
	return entry ? -entry->error[write] : 0;
}

int machine_open(struct machine *m, const char *path, bool write, bool *mapped)
{
	struct room_access access = {.op = ROOM_OPEN, .path = path};
	struct node node;
	int rc = find_node(m, path, &node);

	if (rc == 0)
		rc = refused(m, &node, write);
	if (rc == 0)
		rc = meet(m, &access);
	if (rc == 0)
		room_after(m->room, &access, 0);
	if (rc == 0 && node.kind == CLOCK)
		room_clock(m->room, true);
	*mapped = rc == 0 && node.kind == MEMORY;
	return rc;
}

void machine_close(struct machine *m, const char *path)
{
	if (strcmp(path, "/clock") == 0)
		room_clock(m->room, false);
}

/* As the kernel's driver: 8 bytes at the MSR's number; no such MSR is an I/O error. */
static void *msr(struct machine *m, const struct node *node, size_t size, off_t number)
{
	struct unc_reg reg = {.address = (uint64_t)number,
			      .target = node->cpu,
			      .space = UNC_SPACE_MSR,
			      .width = 64};

	if (size != 8)
		return NULL;
	void *found = unc_sim_find(m->sim, &reg);
	reg.width = 32; /* an MSR of which the tables use the low half */
	return found ? found : unc_sim_find(m->sim, &reg);
}

static int read_msr(struct machine *m, const struct node *node, const char *path, char *buf,
		    size_t size, uint64_t number)
{
	void *reg = msr(m, node, size, (off_t)number);
	uint64_t value;

	if (!reg)
		return -EIO;
	value = unc_sim_read(m->sim, reg);
	(void)room_value(m->room, path, number, &value);
	memcpy(buf, &value, 8);
	return 8;
}

/* The monitor's register that has a dword of configuration space or memory, from its bit *shift on; NULL: there is none. */
static struct sim_reg *register_of(const struct machine *m, int space, uint64_t address,
				   unsigned *shift)
{
	static const struct {
		uint8_t width, below;
	} shape[] = {{32, 0}, {64, 0}, {64, 4}};
	struct sim_reg *found = NULL;

	for (size_t i = 0; !found && i < sizeof(shape) / sizeof(shape[0]); i++) {
		const struct unc_reg reg = {.address = address - shape[i].below,
					    .space = (uint8_t)space,
					    .width = shape[i].width};

		found = unc_sim_at(m->sim, &reg);
		*shift = 8u * shape[i].below;
	}
	return found;
}

/* A dword of configuration space or memory: of a register as it is now, else what the file says. */
static bool dword(struct machine *m, int space, uint64_t address,
		  const struct unc_dump_entry *entry, uint32_t *value)
{
	unsigned shift;
	struct sim_reg *reg = register_of(m, space, address, &shift);
	const struct unc_dump_value *v;

	if (reg) {
		*value = (uint32_t)(unc_sim_read(m->sim, reg) >> shift);
		return true;
	}
	v = unc_dump_at(entry, space == UNC_SPACE_PCI ? UNC_PCI_OFFSET(address) : address);
	*value = v && !v->error ? (uint32_t)v->first : 0;
	return v && !v->error;
}

/* The function that a file is of, UNC_PCI(). */
static uint64_t function_of(const struct unc_dump_entry *entry)
{
	unsigned domain = 0, bus = 0, device = 0, function = 0;

	(void)sscanf(entry->path, "sys/bus/pci/devices/%x:%x:%x.%x", &domain, &bus, &device,
		     &function);
	return UNC_PCI(domain, bus, UNC_DEVFN(device, function), 0);
}

static int read_config(struct machine *m, const struct node *node, const char *path, char *buf,
		       size_t size, uint64_t offset)
{
	const uint64_t end = room_size(m->room, path, node->entry->size ? node->entry->size : 4096);
	uint32_t word = 0;

	for (size_t n = 0; n < size; n++) {
		unsigned at = (unsigned)(offset + n);
		uint64_t value;

		if (at >= end)
			return (int)n;
		if (n && !(at & 3))
			room_pass(m->room); /* the kernel reads dword by dword */
		if (n == 0 || !(at & 3))
			(void)dword(m, UNC_SPACE_PCI, function_of(node->entry) + (at & ~3u),
				    node->entry, &word);
		value = word;
		(void)room_value(m->room, path, at & ~3u, &value);
		buf[n] = (char)(value >> 8 * (at & 3));
	}
	return (int)size;
}

/* 8 bytes; of which nobody answers are all ones. */
static uint64_t memory_word(struct machine *m, uint64_t address)
{
	const struct unc_dump_entry *memory = unc_dump_find(m->sim->dump, "dev/mem");
	uint32_t low = 0, high = 0;
	bool any = memory && dword(m, UNC_SPACE_MMIO, address, memory, &low);

	any |= memory && dword(m, UNC_SPACE_MMIO, address + 4, memory, &high);
	return any ? low | (uint64_t)high << 32 : UINT64_MAX;
}

static int read_memory(struct machine *m, const char *path, char *buf, size_t size,
		       uint64_t address)
{
	for (size_t n = 0; n < size;) {
		const uint64_t at = (address + n) & ~(uint64_t)7, skip = (address + n) & 7;
		const size_t part = size - n < 8 - skip ? size - n : (size_t)(8 - skip);
		uint64_t value = memory_word(m, at);

		(void)room_value(m->room, path, at, &value);
		memcpy(buf + n, (const char *)&value + skip, part);
		n += part;
	}
	return (int)size;
}

static int read_text(const char *text, size_t length, char *buf, size_t size, uint64_t offset)
{
	if (offset >= length)
		return 0;
	size = size < length - offset ? size : length - (size_t)offset;
	memcpy(buf, text + offset, size);
	return (int)size;
}

static int read_node(struct machine *m, const struct node *node, const char *path, char *buf,
		     size_t size, uint64_t offset)
{
	const char *log;
	size_t length;

	switch (node->kind) {
	case MSR:
		return read_msr(m, node, path, buf, size, offset);
	case CONFIG:
		return read_config(m, node, path, buf, size, offset);
	case MEMORY:
	case LIVE:
		return read_memory(m, path, buf, size, offset);
	case LOG:
		log = room_log(m->room, &length);
		return read_text(log, length, buf, size, offset);
	case LEFT:
		log = machine_left(m, &length);
		return read_text(log, length, buf, size, offset);
	default:
		return read_text(node->text, strlen(node->text), buf, size, offset);
	}
}

/* A short access: the device has done its part, the caller is told of less. */
static int told(int done, size_t size)
{
	return done > 0 && (size_t)done > size ? (int)size : done;
}

int machine_read(struct machine *m, const char *path, char *buf, size_t size, uint64_t offset)
{
	struct room_access access = {.op = ROOM_READ, .path = path, .offset = offset, .size = size};
	struct node node;
	int rc = find_node(m, path, &node);

	if (rc < 0)
		return rc == -ENOENT ? -ENODEV : rc; /* it was there when it was opened */
	access.reg = is_register(&node);
	if ((rc = meet(m, &access)) == 0)
		rc = told(read_node(m, &node, path, buf, size, offset), access.size);
	if (rc > 0)
		memcpy(&access.value, buf, rc < 8 ? (size_t)rc : 8);
	room_after(m->room, &access, rc);
	return rc;
}

/* A dword of configuration space: a register of that width, or half of a wider one. */
static int write_config(struct machine *m, const struct node *node, const char *path,
			uint32_t value, unsigned offset)
{
	unsigned shift;
	struct sim_reg *reg =
		register_of(m, UNC_SPACE_PCI, function_of(node->entry) + offset, &shift);
	uint64_t keep = 0;

	if (!reg)
		return -EIO;
	machine_remember(m, path, offset, reg);
	if (reg->reg.width == 64)
		keep = unc_sim_read(m->sim, reg) & ~((uint64_t)UINT32_MAX << shift);
	unc_sim_write(m->sim, reg, keep | (uint64_t)value << shift);
	return 0;
}

static int write_memory(struct machine *m, const char *path, uint64_t value, size_t size,
			uint64_t address)
{
	struct unc_reg reg = {
		.address = address, .space = UNC_SPACE_MMIO, .width = (uint8_t)(8 * size)};
	struct sim_reg *found = size == 4 || size == 8 ? unc_sim_at(m->sim, &reg) : NULL;

	if (!found)
		return -EIO;
	machine_remember(m, path, address, found);
	unc_sim_write(m->sim, found, value);
	return 0;
}

/* A register takes what it is given, whole. */
static int change_register(struct machine *m, const struct node *node, const char *path,
			   uint64_t value, size_t size, uint64_t offset)
{
	if (node->kind == MSR) {
		void *reg = msr(m, node, size, (off_t)offset);

		if (!reg)
			return -EIO;
		machine_remember(m, path, offset, reg);
		unc_sim_write(m->sim, reg, value);
		return 0;
	}
	if (node->kind == LIVE)
		return write_memory(m, path, value, size, offset);
	if (node->kind != CONFIG || (size != 4 && size != 8))
		return -EINVAL;
	int rc = write_config(m, node, path, (uint32_t)value, (unsigned)offset);

	return rc < 0 || size == 4
		       ? rc
		       : write_config(m, node, path, (uint32_t)(value >> 32), (unsigned)offset + 4);
}

static int write_register(struct machine *m, const struct node *node, const char *path,
			  uint64_t value, size_t size, uint64_t offset)
{
	int rc = change_register(m, node, path, value, size, offset);

	if (rc == 0 && m->wrote)
		m->wrote(m, path, offset, value, size);
	return rc;
}

int machine_write(struct machine *m, const char *path, const char *buf, size_t size,
		  uint64_t offset)
{
	struct room_access access = {
		.op = ROOM_WRITE, .path = path, .offset = offset, .size = size};
	struct node node;
	int rc = find_node(m, path, &node);

	if (rc < 0)
		return rc == -ENOENT ? -ENODEV : rc;
	if (node.kind == CONTROL)
		rc = room_control(m->room, buf, size);
	if (node.kind == CLOCK)
		rc = room_advance(m->room, buf, size);
	if (node.kind == CONTROL || node.kind == CLOCK)
		return rc < 0 ? rc : (int)size;
	access.reg = is_register(&node);
	memcpy(&access.value, buf, size < 8 ? size : 8);
	if ((rc = meet(m, &access)) == 0)
		rc = write_register(m, &node, path, access.value, size, offset);
	rc = rc < 0 ? rc : told((int)size, access.size);
	room_after(m->room, &access, rc);
	return rc;
}

/* ---- registers that were written, and what they held before */

void machine_remember(struct machine *m, const char *path, uint64_t offset, void *reg)
{
	const struct sim_reg *known = reg;
	struct written *more;

	if (known->counter && known->counter->ctr == known) /* it counts */
		return;
	for (size_t i = 0; i < m->n_written; i++)
		if (m->written[i].reg == reg)
			return;
	more = realloc(m->written, (m->n_written + 1) * sizeof(*more));
	if (!more)
		abort();
	m->written = more;
	more[m->n_written++] = (struct written){.reg = reg,
						.path = strdup(path),
						.offset = offset,
						.before = unc_sim_read(m->sim, reg)};
}

void machine_forget(struct machine *m)
{
	for (size_t i = 0; i < m->n_written; i++)
		free(m->written[i].path);
	free(m->written);
	free(m->left);
	m->written = NULL;
	m->left = NULL;
	m->n_written = 0;
}

const char *machine_left(struct machine *m, size_t *size)
{
	enum { LINE = 200 };
	char *text = realloc(m->left, m->n_written * LINE + 1);

	if (!text)
		abort();
	m->left = text;
	*size = 0;
	for (size_t i = 0; i < m->n_written; i++) {
		const struct written *w = &m->written[i];
		uint64_t now = unc_sim_read(m->sim, w->reg);

		if (now != w->before)
			*size += (size_t)snprintf(text + *size, LINE,
						  "%s 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 "\n",
						  w->path, w->offset, now, w->before);
	}
	return text;
}

/* ---- the machine, as the room sees it */

static int poke(void *user, const char *path, uint64_t offset, uint64_t value, size_t size)
{
	struct node node;
	int rc = find_node(user, path, &node);

	return rc < 0 ? rc : write_register(user, &node, path, value, size, offset);
}

static void step(void *user, uint64_t ns)
{
	unc_sim_step(((struct machine *)user)->sim, ns);
}

static uint64_t time_of(void *user)
{
	return unc_sim_time(((struct machine *)user)->sim);
}

static bool steps(void *user)
{
	const char *clock = strstr(((struct machine *)user)->spec, "clock=step");

	return clock && clock[-1] == ',';
}

static unsigned cpus_of(void *user)
{
	return machine_cpus(user);
}

static void close_machine(struct machine *m)
{
	machine_forget(m);
	unc_sim_close(m->sim);
	m->sim = NULL;
}

/* The tables of a machine whose counters have no more bits than this; NULL: as they are. */
static const struct unc_table *narrow(const struct unc_table *table, const char *bits)
{
	unsigned width = (unsigned)strtoul(bits, NULL, 10);
	struct unc_tbl_type *type = calloc(table->n_type, sizeof(*type));
	struct unc_tbl_counter *counter = calloc(table->n_counter, sizeof(*counter));
	struct unc_table *copy = malloc(sizeof(*copy));

	if (!type || !counter || !copy)
		abort();
	for (size_t i = 0; i < table->n_type; i++) {
		type[i] = table->type[i];
		if (type[i].width > width)
			type[i].width = (uint8_t)width;
	}
	for (size_t i = 0; i < table->n_counter; i++) {
		counter[i] = table->counter[i];
		if (counter[i].width > width && table->reg[counter[i].ctr].write_mask)
			counter[i].width = (uint8_t)width;
	}
	*copy = *table;
	copy->type = type;
	copy->counter = counter;
	return copy;
}

/* Opens the machine; if there is one already, a new one takes its place. */
static int open_machine(void *user)
{
	struct machine *m = user;
	struct unc_error err = {0};
	size_t n;
	const struct unc_table *const *all = built_tables(&n);
	const char *bits = getenv("MACHINE_WIDTH");

	close_machine(m);
	for (size_t i = 0; i < n && bits && !m->narrow; i++)
		if (strncmp(m->spec, unc_tbl_str(all[i], all[i]->name), strcspn(m->spec, ",")) == 0)
			m->narrow = narrow(all[i], bits);
	if (m->narrow) {
		all = &m->narrow;
		n = 1;
	}
	if (unc_sim_open(m->spec, "node", all, n, &m->sim, &err) == 0 &&
	    sim_units(m->sim, &err) == 0) {
		m->cpus = (unsigned)m->sim->top.socket[0].cpus;
		return 0;
	}
	fprintf(stderr, "simulated machine: %s\n", err.text);
	return -EIO;
}

struct machine *machine_new(const char *spec)
{
	struct machine *m = calloc(1, sizeof(*m));
	const struct room_machine around = {.user = m,
					    .poke = poke,
					    .step = step,
					    .time = time_of,
					    .reset = open_machine,
					    .steps = steps,
					    .cpus = cpus_of};

	if (!m)
		return NULL;
	m->spec = spec;
	m->room = room_new(&around);
	if (m->room && open_machine(m) == 0)
		return m;
	machine_free(m);
	return NULL;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	close_machine(m);
	room_free(m->room);
	free(m);
}
