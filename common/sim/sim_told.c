/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a traffic generator tells the machine (told=PATH): a text file to which it appends lines
 *
 *     NS SOCKET HOME READ WRITTEN [PCIE [NODE]]
 *
 * of decimal numbers. For the next NS nanoseconds threads on socket SOCKET load READ bytes from the
 * memory of socket HOME and write WRITTEN bytes to it past the caches, and devices of socket SOCKET
 * write PCIE bytes to its own memory. NODE 1 to N: the threads' bytes are of one of the nodes of
 * HOME's memory, two with split=, else clusters=; 0: they are evenly on all of them. With NS 0 that
 * happens together with what the next line says. The machine's clock moves by these lines alone.
 * The file is looked at whenever somebody asks for the time, from where the last complete line
 * ended. After a line that cannot be understood the clock stands still and every access to a
 * register fails: nothing that is counted from there on would be right.
 *
 * A line is spread evenly over its time. Only times within the last one are ever asked for: what
 * happens at a time of its own, a carry that freezes, is looked for after each line
 * (unc_sim_enter()).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "sim/sim_machine.h"

enum number { NS, SOCKET, HOME, READ, WRITTEN, PCIE, NODE, NUMBERS, LONGEST = 127 };
static const uint64_t largest =
	1000000000000000; /* of a line's numbers: sums stay far below 2^64 */

/* What each socket has moved, by way (enum unc_flow), in bytes; and what of it was of each of its
 * nodes alone. */
enum { ALL, PARTS = SIM_MAX_CLUSTERS + 1 };
typedef uint64_t sim_moved[SIM_MAX_SOCKETS][PARTS][UNC_N_FLOWS];

struct sim_told {
	int fd;
	off_t at;      /* where the next line begins */
	unsigned line; /* lines read */
	uint64_t begun,
		ns; /* the last period: when it began on this machine's clock, how long it was */
	sim_moved before; /* its beginning, */
	sim_moved during; /* in it, */
	sim_moved next;   /* together with a line that is still to come */
	char wrong[160];  /* why it cannot go on; "": it can */
};

int unc_sim_told_open(struct unc_sim *sim, const char *path, struct unc_error *err)
{
	struct sim_told *told = calloc(1, sizeof(*told));
	struct stat st;

	if (!told)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	unc_sim_told_close(sim->told);
	sim->told = told;
	told->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (told->fd < 0 || fstat(told->fd, &st) < 0)
		return unc_fail(err, UNC_ERR_INVALID, "simulated machine: told=%s: %s", path,
				strerror(errno));
	if (!S_ISREG(st.st_mode))
		return unc_fail(err, UNC_ERR_INVALID, "simulated machine: told=%s: not a file",
				path);
	return 0;
}

void unc_sim_told_close(struct sim_told *told)
{
	if (told && told->fd >= 0)
		close(told->fd);
	free(told);
}

const char *unc_sim_told_wrong(const struct unc_sim *sim)
{
	return sim->told && sim->told->wrong[0] ? sim->told->wrong : NULL;
}

/* How many numbers a line has; 0: it is not made of numbers, or of too many, or one is too
 * large. */
static unsigned numbers_of(const char *text, uint64_t number[NUMBERS])
{
	unsigned n = 0;
	char *end;

	for (;; text = end + 1) {
		if (n == NUMBERS || *text < '0' || *text > '9')
			return 0;
		errno = 0;
		number[n] = strtoull(text, &end, 10);
		if (errno || number[n++] > largest)
			return 0;
		if (*end != ' ')
			return *end ? 0 : n;
	}
}

static void add(struct sim_told *told, const uint64_t number[NUMBERS], enum number of,
		enum unc_flow flow, uint64_t bytes)
{
	told->next[number[of]][ALL][flow] += bytes;
	if (number[NODE] && of == HOME)
		told->next[number[of]][number[NODE]][flow] += bytes;
}

static void flow(struct sim_told *told, const uint64_t number[NUMBERS])
{
	bool local = number[SOCKET] == number[HOME];

	add(told, number, HOME, local ? UNC_FLOW_READ_LOCAL : UNC_FLOW_READ_SERVED, number[READ]);
	add(told, number, HOME, local ? UNC_FLOW_WRITE_LOCAL : UNC_FLOW_WRITE_SERVED,
	    number[WRITTEN]);
	if (!local) {
		add(told, number, SOCKET, UNC_FLOW_READ_REMOTE, number[READ]);
		add(told, number, SOCKET, UNC_FLOW_WRITE_REMOTE, number[WRITTEN]);
	}
	add(told, number, SOCKET, UNC_FLOW_PCIE_WRITE, number[PCIE]);
}

/* The next line, if all of it is there. What is no text, or does not end, is shown up to there. */
static bool read_line(struct sim_told *told, char text[LONGEST + 2], size_t *length)
{
	ssize_t size = pread(told->fd, text, LONGEST + 1, told->at);
	const char *end = size > 0 ? memchr(text, '\n', (size_t)size) : NULL;

	if (size < 0)
		snprintf(told->wrong, sizeof(told->wrong), "told=: the file cannot be read: %s",
			 strerror(errno));
	if (!end && size <= LONGEST)
		return false; /* its end is still to come */
	*length = end ? (size_t)(end - text) : (size_t)size;
	text[*length] = '\0';
	told->at += (off_t)*length + 1;
	told->line++;
	return true;
}

/* Nodes of a socket's memory. */
static unsigned nodes_of(const struct unc_sim *sim)
{
	for (int i = 0; i < sim->options.n_hidden; i++)
		if (sim->options.hidden[i].what == SIM_SPLIT)
			return 2;
	return (unsigned)sim->options.clusters;
}

/* Adds a line to what is moved next; false: it is none. */
static bool take_line(const struct unc_sim *sim, const char *text, size_t length, uint64_t *ns)
{
	struct sim_told *told = sim->told;
	uint64_t number[NUMBERS] = {0}, sockets = sim->options.sockets;
	bool whole = strlen(text) == length && length <= LONGEST;
	struct unc_buf wrong = UNC_BUF(told->wrong);

	if (!whole || numbers_of(text, number) < PCIE)
		unc_put(&wrong,
			"told=: line %u is not NS SOCKET HOME READ WRITTEN [PCIE [NODE]]: "
			"\"%.60s\"",
			told->line, text);
	else if (number[SOCKET] >= sockets || number[HOME] >= sockets)
		unc_put(&wrong, "told=: line %u: this machine has the sockets 0 to %u: \"%.60s\"",
			told->line, (unsigned)sockets - 1, text);
	else if (number[NODE] > nodes_of(sim))
		unc_put(&wrong, "told=: line %u: a socket has the nodes 1 to %u: \"%.60s\"",
			told->line, nodes_of(sim), text);
	if (told->wrong[0])
		return false;
	flow(told, number);
	*ns = number[NS];
	return true;
}

uint64_t unc_sim_told_next(struct unc_sim *sim, uint64_t now)
{
	struct sim_told *told = sim->told;
	char text[LONGEST + 2];
	uint64_t ns = 0;
	size_t length;

	if (!told || told->wrong[0])
		return 0;
	while (!ns)
		if (!read_line(told, text, &length) || !take_line(sim, text, length, &ns))
			return 0;
	for (unsigned socket = 0; socket < SIM_MAX_SOCKETS; socket++)
		for (unsigned i = 0; i < PARTS * UNC_N_FLOWS; i++)
			told->before[socket][i / UNC_N_FLOWS][i % UNC_N_FLOWS] +=
				told->during[socket][i / UNC_N_FLOWS][i % UNC_N_FLOWS];
	memcpy(told->during, told->next, sizeof(told->during));
	memset(told->next, 0, sizeof(told->next));
	told->begun = now;
	told->ns = ns;
	return ns;
}

/* The node that a unit belongs to, from 1 on; 0: its socket. */
static unsigned node_of(const struct sim_block *block)
{
	const struct unc_bits *present = &block->type->present;
	const struct unc_tbl_type *type = block->type->row;
	unsigned below = 0, nodes = nodes_of(block->sim), n = unc_bits_count(present);
	const struct unc_tbl_nodes *map = unc_type_nodes(block->sim->table, type, nodes);
	bool split = unc_sim_is(block, SIM_SPLIT);

	if (!split && (block->sim->options.clusters < 2 || n % nodes ||
		       (!map && type->memory != UNC_MEMORY_DDR)))
		return 0;
	for (unsigned i = 0; i < block->index; i++)
		below += unc_bits_has(present, i);
	return !split && map && map->clusters ? map->cluster[block->index] : 1 + nodes * below / n;
}

/* Bytes of a flow by now. */
static uint64_t gone_by(const struct sim_told *told, unsigned socket, unsigned part, unsigned flow,
			uint64_t now)
{
	uint64_t gone = now < told->begun ? 0 : now - told->begun,
		 bytes = told->during[socket][part][flow];

	if (gone < told->ns)
		bytes = (uint64_t)((double)bytes * (double)gone / (double)told->ns);
	return told->before[socket][part][flow] + bytes;
}

void unc_sim_told_moved(const struct sim_block *block, uint64_t now, uint64_t moved[UNC_N_FLOWS])
{
	const struct sim_told *told = block->sim->told;
	unsigned node = node_of(block), nodes = nodes_of(block->sim);

	for (unsigned i = 0; i < UNC_N_FLOWS; i++) {
		moved[i] = gone_by(told, block->moves, ALL, i, now);
		if (!node)
			continue;
		/* Fewer units share what is of their node alone. */
		for (unsigned of = 1; of <= nodes; of++)
			moved[i] -= gone_by(told, block->moves, of, i, now);
		moved[i] += nodes * gone_by(told, block->moves, node, i, now);
	}
}
