/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a simulated machine:
 *
 *   sockets=N      1 .. 8; default: as the table says
 *   load=X         0 .. 1, traffic; clocks stay as they are. Default 1
 *   load=live      it changes with time, see sim_live.c
 *   seed=N         of load=live; default: by the name of the node
 *   memory=N       MT/s, what the firmware tells of the memory modules; default: nothing
 *   clock=wall     time passes (default);  clock=step  it moves by unc_sim_step() only;
 *                  clock=wait  by that, and while the library waits
 *   discovery=     ok (default); none: no discovery device; truncated: the memory ends among the
 *                  unit records; garbage: noise instead of a table; noupi: no UPI, M3UPI records
 *   hide=TYPE      the firmware hides the units of a type (hide=TYPE.PART: a part of them;
 *                  TYPE3: one of each socket, TYPE3@1: of socket 1, TYPE@1: all of socket 1):
 *                  PCI functions are not there, other registers fault. May be repeated
 *   tables=N       1 .. 8 discovery tables a socket, each of its own device; default 1
 *   unlisted=TYPE  the records of the units read as ones in the discovery table
 *   mislisted=TYPE:ADDRESS  they name this address. Units are chosen as for hide=
 *   frozen=N       somebody has frozen socket N: it stays so where the table knows no register that
 *                  lets a socket go
 *   idle=TYPE      nothing drives the clock of the units, as with hide=: an empty memory channel
 *   wrap=soon      all counters hold 1000000 less than where they wrap; those that a session writes
 *                  then begin in the middle of their range
 *   clusters=N     1 .. 4 sub-NUMA clusters a socket, each a node of its own; default 1
 *   cxl=on         it has memory behind its CXL links, with traffic; default: none
 *   devices=on     its PCIe stacks have root buses and devices (sim_devices.c); default: none
 *   numa=off       its kernel knows no nodes, and so not what is next to a PCI function
 *   kernel=on      its kernel has PMUs for the units, see sim_kernel.c; off (default): it has none
 *   rights=perf    the caller may open events of the kernel, but use no registers, nor read memory and
 *                  more of configuration space than 64 bytes; none: no events either; all (default)
 *   base=S         the machine has been up for S seconds when it is opened: TSC and
 *                  free-running counters do not start at 0
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim_machine.h"

/* One of the words; -1: none of them. */
static int word_of(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return -1;
}

#define AT(member) offsetof(struct sim_options, member)

/* Options that are a number of a range, or one of some words, which are numbered from 1 on. */
static const struct option {
	const char *name, *possible;
	uint64_t least, most;
	const char *words[6];
	size_t at; /* of its member, a uint64_t */
} options[] = {
	{"sockets", "1 to 8", 1, SIM_MAX_SOCKETS, {NULL}, AT(sockets)},
	{"load", "0 to 1, like 0.5, or live", 0, 0, {"live"}, AT(live)},
	{"seed", "a whole number", 0, UINT64_MAX, {NULL}, AT(seed)},
	{"memory", "1 to 100000 MT/s, like 4800", 1, 100000, {NULL}, AT(memory)},
	{"clock", "wall, step or wait", 0, 0, {"wall", "step", "wait"}, AT(clock)},
	{"discovery",
	 "ok, none, truncated, garbage or noupi",
	 0,
	 0,
	 {"ok", "none", "truncated", "garbage", "noupi"},
	 AT(discovery)},
	{"tables", "1 to 8", 1, SIM_MAX_TABLES, {NULL}, AT(tables)},
	{"frozen", "the number of a socket", 0, SIM_MAX_SOCKETS - 1, {NULL}, AT(frozen)},
	{"wrap", "soon", 0, 0, {"soon"}, AT(wrap_soon)},
	{"base", "0 to 1000000000 seconds", 0, 1000000000, {NULL}, AT(base)},
	{"kernel", "on or off", 0, 0, {"off", "on"}, AT(kernel)},
	{"clusters", "1 to 4", 1, SIM_MAX_CLUSTERS, {NULL}, AT(clusters)},
	{"cxl", "on", 0, 0, {"on"}, AT(cxl)},
	{"devices", "on", 0, 0, {"on"}, AT(devices)},
	{"numa", "off", 0, 0, {"off"}, AT(no_nodes)},
	{"rights", "all, perf or none", 0, 0, {"all", "perf", "none"}, AT(rights)},
};

static bool has_no_tables(const struct unc_sim *sim, const char *name, const char *value,
			  struct unc_error *err)
{
	return sim->table->discovery != UNC_DISCOVERY_TABLE &&
	       unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: %s=%s: %s has no discovery tables", name, value,
			unc_tbl_str(sim->table, sim->table->name));
}

static int set(struct unc_sim *sim, const struct option *option, const char *value,
	       struct unc_error *err)
{
	int word = word_of(value, option->words);
	uint64_t n = (uint64_t)word + 1;
	double load;

	if (option->at == AT(live) && unc_parse_double(value, &load) && load >= 0 && load <= 1) {
		sim->options.load = load;
		n = 0;
	} else if (option->words[0] ? word < 0
				    : !unc_parse_number(value, &n) || n < option->least ||
					      n > option->most) {
		return unc_fail(err, UNC_ERR_INVALID, "simulated machine: %s=%s: possible is %s",
				option->name, value, option->possible);
	}
	if ((option->at == AT(tables) || (option->at == AT(discovery) && n != SIM_DISCOVERY_OK)) &&
	    has_no_tables(sim, option->name, value, err))
		return UNC_ERR_INVALID;
	if (option->at == AT(frozen)) /* may be said of several */
		sim->frozen[n] = true;
	sim->options.seeded |= option->at == AT(seed);
	memcpy((char *)&sim->options + option->at, &n, sizeof(n));
	return 0;
}

/* What follows the type's name: [INDEX][@SOCKET][.PART][:ADDRESS]. */
static bool hidden_where(const struct unc_table *table, const struct unc_tbl_type *type,
			 const char *text, struct sim_hidden *hidden)
{
	const struct unc_tbl_part *part = &table->part[type->parts.first];
	char *end = (char *)(uintptr_t)text;

	if (*text >= '0' && *text <= '9')
		hidden->index = (int)strtol(text, &end, 10);
	if (*end == '@' && end[1] >= '0' && end[1] <= '9')
		hidden->socket = (int)strtol(end + 1, &end, 10);
	for (uint32_t p = 1; p < type->parts.n && *end == '.'; p++)
		if (strcmp(end + 1, unc_tbl_str(table, part[p].name)) == 0) {
			hidden->part = (int)p;
			return true;
		}
	if (hidden->what == SIM_MISLISTED)
		return *end == ':' && unc_parse_number(end + 1, &hidden->address);
	return *end == '\0';
}

static int choose_units(struct unc_sim *sim, const char *option, const char *value,
			enum sim_choice what, struct unc_error *err)
{
	const struct unc_table *table = sim->table;
	struct sim_hidden *hidden = &sim->options.hidden[sim->options.n_hidden];
	char list[256];
	struct unc_buf names = UNC_BUF(list);

	if ((what == SIM_UNLISTED || what == SIM_MISLISTED) &&
	    has_no_tables(sim, option, value, err))
		return UNC_ERR_INVALID;
	if (sim->options.n_hidden == SIM_MAX_HIDDEN)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: %s= may be given %d times", option,
				SIM_MAX_HIDDEN);
	for (size_t i = 0; i < table->n_type; i++) {
		const struct unc_tbl_type *type = &table->type[i];
		const char *name = unc_tbl_str(table, type->name);
		size_t length = strlen(name);

		unc_put_word(&names, name);
		if (strncmp(name, value, length) != 0 ||
		    (value[length] >= 'a' && value[length] <= 'z'))
			continue;
		*hidden = (struct sim_hidden){.type = (uint16_t)unc_type_pool(table, (unsigned)i),
					      .part = -1,
					      .index = -1,
					      .socket = -1,
					      .what = what};
		if (!hidden_where(table, type, value + length, hidden))
			return unc_fail(err, UNC_ERR_INVALID,
					"simulated machine: %s=%s: want %s[INDEX][@SOCKET]%s",
					option, value, name,
					what == SIM_MISLISTED
						? ":ADDRESS"
						: "[.PART] with a part that the type has");
		sim->options.n_hidden++;
		return 0;
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: %s=%s: no such unit type; there are: %s", option, value,
			list);
}

/* Takes one "option=value"; the word may be changed. */
static int take_word(struct unc_sim *sim, char *word, struct unc_error *err)
{
	/* In the order of enum sim_choice. */
	static const char *const choices[] = {"hide", "idle", "unlisted", "mislisted", NULL};
	char *value = strchr(word, '=');

	if (value) {
		*value++ = '\0';
		if (word_of(word, choices) >= 0)
			return choose_units(sim, word, value,
					    (enum sim_choice)word_of(word, choices), err);
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (strcmp(word, options[i].name) == 0)
				return set(sim, &options[i], value, err);
		value[-1] = '=';
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: unknown option '%s'; options are sockets=1..8, "
			"load=0..1|live, seed=N, memory=MT/s, clock=wall|step|wait, "
			"discovery=ok|none|truncated|garbage|noupi, tables=1..8, hide=TYPE, "
			"idle=TYPE, unlisted=TYPE, mislisted=TYPE:ADDRESS, frozen=SOCKET, "
			"wrap=soon, base=SECONDS, clusters=1..4, cxl=on, devices=on, numa=off, "
			"kernel=on|off, "
			"rights=all|perf|none",
			word);
}

int unc_sim_options(struct unc_sim *sim, char **text, const char *node, struct unc_error *err)
{
	char *word;
	int rc;

	sim->options.sockets = sim->work->machine.sockets;
	sim->options.load = 1;
	sim->options.clusters = 1;
	sim->options.seed = (uint64_t)(unc_sim_noise(node, 0) * 1e15);
	while ((word = strtok_r(NULL, ",", text)))
		if ((rc = take_word(sim, word, err)) < 0)
			return rc;
	if (sim->options.seeded && !sim->options.live)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: seed= is for load=live, which is not given");
	return 0;
}
