/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a simulated machine:
 *
 *   sockets=N      the machine of this name with so many, if there is one
 *   load=X         0 .. 1, traffic; clocks stay as they are. Default 1
 *   load=live      it changes with time, see sim_live.c
 *   seed=N         of load=live; default: by the name of the node
 *   memory=N       MT/s, the speed of the memory modules; default: not known
 *   clock=wall     time passes (default);  clock=step  it moves by unc_sim_step() only;
 *                  clock=wait  by that, and while the library waits
 *   frozen=N       another program has frozen socket N; it stays frozen if the table has no register
 *                  that unfreezes a socket
 *   idle=TYPE      nothing drives the clock of the units of a type: an empty memory channel (TYPE3: one of each
 *                  socket, TYPE3@1: of socket 1, TYPE@1: all of socket 1). May be repeated
 *   wrap=soon      all counters hold 1000000 less than where they wrap; those that a session writes
 *                  then begin in the middle of their range
 *   base=S         the machine has been up for S seconds when it is opened: TSC and
 *                  free-running counters do not start at 0
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim_machine.h"

/* The index of a word; -1: not one of them. */
static int find_word(const char *value, const char *const *words)
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
	{"sockets", "1 to 8", 1, 8, {NULL}, AT(sockets)},
	{"load", "0 to 1, like 0.5, or live", 0, 0, {"live"}, AT(live)},
	{"seed", "a whole number", 0, UINT64_MAX, {NULL}, AT(seed)},
	{"memory", "1 to 100000 MT/s, like 4800", 1, 100000, {NULL}, AT(memory)},
	{"clock", "wall, step or wait", 0, 0, {"wall", "step", "wait"}, AT(clock)},
	{"frozen", "the number of a socket", 0, UNC_MAX_SOCKETS - 1, {NULL}, AT(frozen)},
	{"wrap", "soon", 0, 0, {"soon"}, AT(wrap_soon)},
	{"base", "0 to 1000000000 seconds", 0, 1000000000, {NULL}, AT(base)},
};

static int set_option(struct unc_sim *sim, const struct option *option, const char *value,
		      struct unc_error *err)
{
	int word = find_word(value, option->words);
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
	if (option->at == AT(frozen)) /* may be said of several */
		sim->frozen[n] = true;
	sim->options.seeded |= option->at == AT(seed);
	memcpy((char *)&sim->options + option->at, &n, sizeof(n));
	return 0;
}

/* Makes the units that a text TYPE[INDEX][@SOCKET] names idle. Returns their number; -1: no such text. */
static int make_idle(struct unc_sim *sim, const char *text, const char *name, unsigned type)
{
	char *end = (char *)(uintptr_t)text + strlen(name);
	const bool one = *end >= '0' && *end <= '9';
	const unsigned index = (unsigned)strtoul(end, &end, 10);
	const bool on_one = *end == '@' && end[1] >= '0' && end[1] <= '9';
	const unsigned socket = (unsigned)strtoul(on_one ? end + 1 : "0", on_one ? &end : NULL, 10);
	int n = 0;

	for (struct sim_block *b = sim->block; !*end && b < sim->block + sim->n_blocks; b++)
		if (b->type->number == type && (!one || b->index == index) &&
		    (!on_one || b->socket == socket)) {
			b->idle = true;
			n++;
		}
	return *end ? -1 : n;
}

static int choose_idle(struct unc_sim *sim, const char *text, struct unc_error *err)
{
	const struct unc_table *table = sim->table;
	char list[256];
	struct unc_buf names = UNC_BUF(list);

	for (unsigned i = 0; i < table->n_type; i++) {
		const char *name = unc_type_name(table, i);
		const size_t length = strlen(name);
		int n;

		unc_put_word(&names, name);
		if (strncmp(name, text, length) != 0 ||
		    (text[length] >= 'a' && text[length] <= 'z'))
			continue;
		n = make_idle(sim, text, name, unc_type_pool(table, i));
		if (n > 0)
			return 0;
		return unc_fail(err, UNC_ERR_INVALID, "simulated machine: idle=%s: %s%s", text,
				n < 0 ? "want TYPE[INDEX][@SOCKET] of " : "it has no such unit of ",
				name);
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: idle=%s: no such unit type; there are: %s", text, list);
}

int unc_sim_choices(struct unc_sim *sim, struct unc_error *err)
{
	int rc = 0;

	for (int i = sim->top.n_sockets; i < UNC_MAX_SOCKETS; i++)
		if (sim->frozen[i])
			return unc_fail(err, UNC_ERR_INVALID,
					"simulated machine: frozen=%d: there are sockets 0 to %d",
					i, sim->top.n_sockets - 1);
	for (unsigned i = 0; rc == 0 && i < sim->options.n_idle; i++)
		rc = choose_idle(sim, sim->options.idle[i], err);
	return rc;
}

/* Parses one "option=value"; may write into the word. */
static int parse_word(struct unc_sim *sim, char *word, struct unc_error *err)
{
	char *value = strchr(word, '=');

	if (value) {
		*value++ = '\0';
		if (strcmp(word, "idle") == 0 && sim->options.n_idle == SIM_MAX_IDLE)
			return unc_fail(err, UNC_ERR_INVALID,
					"simulated machine: idle= may be given %d times",
					SIM_MAX_IDLE);
		if (strcmp(word, "idle") == 0) {
			sim->options.idle[sim->options.n_idle++] = value;
			return 0;
		}
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (strcmp(word, options[i].name) == 0)
				return set_option(sim, &options[i], value, err);
		value[-1] = '=';
	}
	return unc_fail(err, UNC_ERR_INVALID,
			"simulated machine: unknown option '%s'; options are sockets=1..8, "
			"load=0..1|live, seed=N, memory=MT/s, clock=wall|step|wait, idle=TYPE, "
			"frozen=SOCKET, wrap=soon, base=SECONDS",
			word);
}

int unc_sim_options(struct unc_sim *sim, char **text, const char *node, struct unc_error *err)
{
	char *word;
	int rc;

	sim->options.load = 1;
	sim->options.seed = (uint64_t)(unc_sim_noise(node, 0) * 1e15);
	while ((word = strtok_r(NULL, ",", text)))
		if ((rc = parse_word(sim, word, err)) < 0)
			return rc;
	if (sim->options.seeded && !sim->options.live)
		return unc_fail(err, UNC_ERR_INVALID,
				"simulated machine: seed= is for load=live, which is not given");
	return 0;
}
