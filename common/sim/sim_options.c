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
 *   numa=off       its kernel knows no nodes, and so not what is next to a PCI function
 *   kernel=on      its kernel has PMUs for the units, see sim_kernel.c; off (default): it has none
 *   rights=perf    the caller may open events of the kernel, but use no registers, nor read memory and
 *                  more of configuration space than 64 bytes; none: no events either; all (default)
 *   base=S         the machine has been up for S seconds when it is opened: TSC and
 *                  free-running counters do not start at 0
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim_machine.h"

static int bad_option(struct unc_error *err, const char *name, const char *value,
		      const char *possible)
{
	return unc_fail(err, UNC_ERR_INVALID, "simulated machine: %s=%s: possible is %s", name,
			value, possible);
}

/* One of the words; -1: none of them. */
static int word_of(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return -1;
}

static int set_sockets(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t n;

	if (!unc_parse_number(value, &n) || n < 1 || n > SIM_MAX_SOCKETS)
		return bad_option(err, "sockets", value, "1 to 8");
	sim->options.sockets = (int)n;
	return 0;
}

static int set_load(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	double load;

	sim->options.live = strcmp(value, "live") == 0;
	if (sim->options.live)
		return 0;
	if (!unc_parse_double(value, &load) || !(load >= 0 && load <= 1))
		return bad_option(err, "load", value, "0 to 1, like 0.5, or live");
	sim->options.load = load;
	return 0;
}

static int set_seed(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	sim->options.seeded = true;
	if (!unc_parse_number(value, &sim->options.seed))
		return bad_option(err, "seed", value, "a whole number");
	return 0;
}

static int set_memory(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t speed;

	if (!unc_parse_number(value, &speed) || speed < 1 || speed > 100000)
		return bad_option(err, "memory", value, "1 to 100000 MT/s, like 4800");
	sim->options.memory = (unsigned)speed;
	return 0;
}

static int set_clock(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"wall", "step", "wait", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "clock", value, "wall, step or wait");
	sim->options.step = word != 0;
	sim->options.wait = word == 2;
	return 0;
}

static bool has_no_tables(const struct unc_sim *sim, const char *name, const char *value,
			  struct unc_error *err)
{
	return sim->table->discovery != UNC_DISCOVERY_TABLE &&
	       unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: %s=%s: %s has no discovery tables", name, value,
			unc_tbl_str(sim->table, sim->table->name));
}

static int set_discovery(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"ok", "none", "truncated", "garbage", "noupi", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "discovery", value, "ok, none, truncated, garbage or noupi");
	if (word > 0 && has_no_tables(sim, "discovery", value, err))
		return UNC_ERR_INVALID;
	sim->options.discovery = (enum sim_discovery)word;
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

static int set_tables(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t n;

	if (!unc_parse_number(value, &n) || n < 1 || n > SIM_MAX_TABLES)
		return bad_option(err, "tables", value, "1 to 8");
	if (has_no_tables(sim, "tables", value, err))
		return UNC_ERR_INVALID;
	sim->options.tables = (unsigned)n;
	return 0;
}

static int set_frozen(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t n;

	if (!unc_parse_number(value, &n) || n >= SIM_MAX_SOCKETS)
		return bad_option(err, "frozen", value, "the number of a socket");
	sim->frozen[n] = true;
	return 0;
}

static int set_wrap(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	if (strcmp(value, "soon") != 0)
		return bad_option(err, "wrap", value, "soon");
	sim->options.wrap_soon = true;
	return 0;
}

static int set_kernel(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"off", "on", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "kernel", value, "on or off");
	sim->options.kernel = word == 1;
	return 0;
}

static int set_numa(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	if (strcmp(value, "off") != 0)
		return bad_option(err, "numa", value, "off");
	sim->options.no_nodes = true;
	return 0;
}

static int set_rights(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	static const char *const words[] = {"all", "perf", "none", NULL};
	int word = word_of(value, words);

	if (word < 0)
		return bad_option(err, "rights", value, "all, perf or none");
	sim->options.registers = word == 0;
	sim->options.events = word <= 1;
	return 0;
}

static int set_base(struct unc_sim *sim, const char *value, struct unc_error *err)
{
	uint64_t seconds;

	if (!unc_parse_number(value, &seconds) || seconds > UINT64_C(1000000000))
		return bad_option(err, "base", value, "0 to 1000000000 seconds");
	sim->options.base = seconds * UINT64_C(1000000000);
	return 0;
}

int unc_sim_set(struct unc_sim *sim, char *word, struct unc_error *err)
{
	static const struct {
		const char *name;
		int (*set)(struct unc_sim *, const char *, struct unc_error *);
	} options[] = {
		{"sockets", set_sockets},     {"load", set_load},     {"clock", set_clock},
		{"discovery", set_discovery}, {"tables", set_tables}, {"frozen", set_frozen},
		{"wrap", set_wrap},           {"base", set_base},     {"kernel", set_kernel},
		{"rights", set_rights},       {"seed", set_seed},     {"memory", set_memory},
		{"numa", set_numa},
	};
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
				return options[i].set(sim, value, err);
		value[-1] = '=';
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: unknown option '%s'; options are sockets=1..8, "
			"load=0..1|live, seed=N, memory=MT/s, clock=wall|step|wait, "
			"discovery=ok|none|truncated|garbage|noupi, "
			"tables=1..8, hide=TYPE, idle=TYPE, unlisted=TYPE, mislisted=TYPE:ADDRESS, "
			"frozen=SOCKET, wrap=soon, base=SECONDS, numa=off, kernel=on|off, "
			"rights=all|perf|none",
			word);
}
