/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the simulated machines against the tables: all that a file has is read by somebody, and all that
 * the tables name is in it. A line that is wrong is noticed: some lines, ALL=1: 200 of each, are made wrong one at
 * a time.
 */
#include <stdarg.h>

#include "fake_root.h"
#include "session_kit.h"
#include "sim/sim_machine.h"

/* ---- what is wrong with a machine */

enum { SHOWN = 5 };

struct findings {
	unsigned n;
	char first[512];
	bool shows; /* prints them, the first few */
	const char *machine;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct findings *f, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (f->n == 0)
		memcpy(f->first, text, sizeof(text));
	if (f->shows && f->n < SHOWN)
		printf("# %s: %s\n", f->machine, text);
	f->n++;
}

static void take_note(void *user, enum unc_log_level level, const char *text)
{
	if (level == UNC_LOG_WARNING)
		wrong(user, "note: %s", text);
}

/* ---- each unit, and its registers */

static void check_reg(const struct unc_platform *p, const struct unc_instance *unit, unsigned reg,
		      struct findings *f)
{
	const struct unc_table *t = p->table;
	const char *name = unc_tbl_str(t, t->reg[reg].name);
	struct unc_error err;
	struct unc_reg place;

	if (t->reg[reg].flags & UNC_REG_WO)
		return;
	/* A part may be missing: what the file has for it is not read then. */
	if (unc_instance_reg(t, unit, reg, &place, &err) == 0 && place.space != UNC_SPACE_PERF &&
	    !unc_sim_find(unc_machine_sim(p->machine), &place))
		wrong(f, "%s %s%u of socket %u has no register %s at 0x%llx", unit->location,
		      unc_tbl_str(t, t->type[unit->type].name), unit->index, unit->socket, name,
		      (unsigned long long)unc_reg_shown(&place));
}

static int take_device(void *user, const struct unc_device *device)
{
	(void)user;
	(void)device;
	return 0;
}

static void check_unit(struct unc_platform *p, const struct unc_instance *unit, struct findings *f)
{
	const struct unc_tbl_type *type = &p->table->type[unit->type];

	if (!unit->available)
		wrong(f, "%s%u of socket %u: %s", unc_tbl_str(p->table, type->name), unit->index,
		      unit->socket, unit->reason);
	for (uint32_t i = 0; unit->available && i < type->regs.n; i++)
		check_reg(p, unit, type->regs.first + i, f);
}

/* ---- the lines of a file */

enum { LONGEST = 256 };

/* The text of a machine, line by line. */
struct lines {
	char (*line)[LONGEST];
	size_t n;
	uint64_t table[UNC_MAX_SOCKETS]; /* pages of discovery tables */
	size_t n_tables;
};

static void split(struct lines *lines, const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	*lines = (struct lines){.line = calloc(n + 1, LONGEST)};
	CU_ASSERT_FATAL(lines->line != NULL);
	for (const char *end; size; size -= (size_t)(end + 1 - text), text = end + 1) {
		end = memchr(text, '\n', size);
		CU_ASSERT_FATAL(end && end - text < LONGEST);
		memcpy(lines->line[lines->n++], text, (size_t)(end - text));
	}
}

/* The line that begins the block of a line. */
static const char *block_of(const struct lines *lines, size_t i)
{
	while (i > 0 && lines->line[i][0] == ' ')
		i--;
	return lines->line[i];
}

/* A place with a value of a device. */
static bool place_of(const struct lines *lines, size_t i, uint64_t *offset, uint64_t *value)
{
	unsigned long long at, held;
	char more;

	if (strncmp(block_of(lines, i), "device ", 7) != 0 ||
	    sscanf(lines->line[i], " 0x%llx 0x%llx%c", &at, &held, &more) != 2)
		return false;
	*offset = at;
	*value = held;
	return true;
}

static bool is_config(const struct lines *lines, size_t i)
{
	return strstr(block_of(lines, i), "/config ") != NULL;
}

/* ---- each value of the file */

/* Registers hold what they were found with: their places count as read. */
static void mark(const struct sim_reg *reg)
{
	const uint64_t at = reg->reg.space == UNC_SPACE_PCI ? UNC_PCI_OFFSET(reg->reg.address)
							    : reg->reg.address;
	const unsigned step = reg->reg.space == UNC_SPACE_MSR ? 64 : 32;
	struct unc_dump_value *v;

	for (unsigned bit = 0; reg->file && bit < reg->reg.width; bit += step)
		if ((v = unc_dump_at(reg->file, at + bit / 8)))
			v->again = true;
}

/* What a function is, which its files say too. */
static bool is_id(const struct unc_sim *sim, const char *path, uint64_t value)
{
	static const char name[][8] = {"vendor", "device"};
	char text[32];

	for (unsigned i = 0; i < 2; i++)
		if (unc_fs_text(sim->fs, text, sizeof(text), "/%.*s%s", (int)(strlen(path) - 6),
				path, name[i]) < 0 ||
		    strtoul(text, NULL, 16) != (value >> 16 * i & 0xffff))
			return false;
	return true;
}

/* Who a function is, and its first capability behind 256 bytes, are asked of some functions in some machines only. */
static void check_value(const struct unc_sim *sim, const struct lines *lines, size_t i,
			struct findings *f)
{
	const struct unc_dump_entry *e;
	const struct unc_dump_value *v;
	char path[LONGEST];
	uint64_t at, value;

	if (!place_of(lines, i, &at, &value) ||
	    sscanf(block_of(lines, i), "device %255s", path) != 1)
		return;
	e = unc_dump_find(sim->dump, path);
	v = e ? unc_dump_at(e, at) : NULL; /* a pattern is no path */
	if (v && at == 0 && is_config(lines, i) && !is_id(sim, path, value))
		wrong(f, "%s: '%s' is not what the files vendor and device say", path,
		      lines->line[i]);
	else if (v && !v->again && !(is_config(lines, i) && (at == 0 || at == UNC_PCI_EXTENDED)))
		wrong(f, "%s: nobody reads '%s'", path, lines->line[i]);
}

static void check_values(const struct unc_sim *sim, const struct lines *lines, struct findings *f)
{
	for (size_t i = 0; i < sim->n_index; i++)
		mark(sim->index[i]);
	for (const struct sim_plain *plain = sim->plain; plain; plain = plain->next)
		mark(&plain->reg);
	for (size_t i = 0; i < lines->n; i++)
		check_value(sim, lines, i, f);
}

/* sim: as UNCORE_SIM has it. Of a machine that is like another one, its own lines. */
static void examine(const char *sim, const struct lines *lines, struct findings *f)
{
	struct unc_options options = {
		.size = sizeof(options), .sim = sim, .log = take_note, .log_user = f};
	struct unc_platform *p = NULL;
	struct unc_stack stack = {.size = sizeof(stack)};

	if (unc_platform_open(&options, &p) < 0) {
		wrong(f, "%s", unc_open_error());
		return;
	}
	for (size_t i = 0; i < p->instances.n; i++)
		check_unit(p, &p->instances.unit[i], f);
	for (size_t i = 0; i < p->instances.n; i++) {
		unc_unit_stack(p, unc_unit_get(p, i), &stack);
		unc_unit_devices(p, unc_unit_get(p, i), take_device, NULL);
	}
	check_values(unc_machine_sim(p->machine), lines, f);
	unc_platform_close(p);
}

static void whole(const void *user)
{
	const char *name = user;
	struct findings f = {.shows = true, .machine = name};
	struct lines lines;
	char sim[128];
	size_t size;
	const char *text = unc_sim_text(name, &size);

	snprintf(sim, sizeof(sim), "%s,clock=step", name);
	split(&lines, text, size);
	examine(sim, &lines, &f);
	free(lines.line);
	CHECK_NUMBER(f.n, 0);
}

/* ---- lines made wrong */

/* The functions whose BAR 2 leads to a discovery table. */
static void find_tables(struct lines *lines)
{
	uint64_t at, low, high;

	for (size_t i = 0; i + 1 < lines->n && lines->n_tables < UNC_MAX_SOCKETS; i++)
		if (is_config(lines, i) && place_of(lines, i, &at, &low) && at == 0x18 &&
		    place_of(lines, i + 1, &at, &high) && at == 0x1c)
			lines->table[lines->n_tables++] = (high << 32 | low) & ~(uint64_t)0xfff;
}

static bool in_table(const struct lines *lines, uint64_t address)
{
	for (size_t i = 0; i < lines->n_tables; i++)
		if (address >= lines->table[i] && address < lines->table[i] + 0x80000)
			return true;
	return false;
}

static bool has_place(const struct lines *lines, size_t i, uint64_t offset)
{
	const char *block = block_of(lines, i);
	uint64_t at, value;

	for (size_t k =
		     (size_t)((const char(*)[LONGEST])block - (const char(*)[LONGEST])lines->line) +
		     1;
	     k < lines->n && lines->line[k][0] == ' '; k++)
		if (place_of(lines, k, &at, &value) && at == offset)
			return true;
	return false;
}

/* Each of these makes a line wrong, if it is of a kind for that; seed: how. */
static bool move_place(struct lines *lines, size_t i, uint64_t seed)
{
	const uint64_t step = strstr(block_of(lines, i), "/msr ") ? 1 : 4;
	uint64_t at, value, moved;

	if (!place_of(lines, i, &at, &value))
		return false;
	moved = seed & 1 ? at + step : at - step;
	if (has_place(lines, i, moved))
		moved = at - (moved - at);
	if (has_place(lines, i, moved) || moved > at + step)
		return false;
	snprintf(lines->line[i], LONGEST, " 0x%llx 0x%llx", (unsigned long long)moved,
		 (unsigned long long)value);
	return true;
}

static bool change_id(struct lines *lines, size_t i, uint64_t seed)
{
	const char *block = block_of(lines, i);
	unsigned id;

	if (strncmp(block, "file sys/bus/pci/", 17) != 0 ||
	    (strcmp(strrchr(block, '/'), "/device") != 0 &&
	     strcmp(strrchr(block, '/'), "/vendor") != 0) ||
	    sscanf(lines->line[i], " 0x%x", &id) != 1)
		return false;
	snprintf(lines->line[i], LONGEST, " 0x%04x", id ^ 1U << (seed & 3));
	return true;
}

/* Type, width, address, offset of the controls; records that are empty stay so. The number of controls is not
 * among them: more of them than the table knows are not used. */
static bool change_record(struct lines *lines, size_t i, uint64_t seed)
{
	static const struct {
		uint64_t offset, mask[2];
	} field[] = {{0, {0x100, 0x100000}}, {8, {0x1000, 0x100}}, {16, {0x1, 0x20}}};
	uint64_t at, value;

	if (!place_of(lines, i, &at, &value) || !in_table(lines, at) || at % 0x1000 < 32 ||
	    value == 0 || value == UINT32_MAX)
		return false;
	for (size_t k = 0; k < sizeof(field) / sizeof(field[0]); k++)
		if (at % 32 == field[k].offset) {
			snprintf(lines->line[i], LONGEST, " 0x%llx 0x%llx", (unsigned long long)at,
				 (unsigned long long)(value ^ field[k].mask[seed & 1]));
			return true;
		}
	return false;
}

/* Dwords of configuration space that hold addresses. */
static bool change_bar(struct lines *lines, size_t i, uint64_t seed)
{
	uint64_t at, value;

	if (!is_config(lines, i) || !place_of(lines, i, &at, &value) ||
	    !(at == 0x18 || at == 0x1c ||
	      (at >= 0xd0 && at <= 0xe4 && strstr(block_of(lines, i), ":00.1/"))))
		return false;
	snprintf(lines->line[i], LONGEST, " 0x%llx 0x%llx", (unsigned long long)at,
		 (unsigned long long)(value ^ (at == 0x18 ? 0x10000U : 1U) << (seed & 3)));
	return true;
}

/* Functions that are looked for by their id, wherever they are on their bus: UBoxes, what tells how many units
 * there are, and what has the discovery table. */
static bool is_anywhere(const struct lines *lines, const char *function)
{
	static const char id[][8] = {" 0x3ce0", " 0x2014", " 0x3250",
				     " 0x2083", " 0x325b", " 0x09a7"};
	char name[LONGEST];
	size_t line = 0;

	snprintf(name, sizeof(name), "file %s/device", function);
	while (line + 1 < lines->n && strcmp(lines->line[line], name) != 0)
		line++;
	for (size_t i = 0; line + 1 < lines->n && i < sizeof(id) / sizeof(id[0]); i++)
		if (strcmp(lines->line[line + 1], id[i]) == 0)
			return true;
	return false;
}

/* The function is at another place: in all lines that name it. */
static bool move_function(struct lines *lines, size_t i, uint64_t seed)
{
	static const char prefix[] = "sys/bus/pci/devices/0000:";
	char *path = strstr(lines->line[i], prefix), from[48], to[48];
	unsigned bus, device, function;

	if (strncmp(lines->line[i], "device ", 7) != 0 || !path ||
	    sscanf(path + sizeof(prefix) - 1, "%x:%x.%x", &bus, &device, &function) != 3)
		return false;
	snprintf(from, sizeof(from), "%s%02x:%02x.%x", prefix, bus, device, function);
	snprintf(to, sizeof(to), "%s%02x:%02x.%x", prefix, bus, device ^ (seed & 1 ? 0U : 0x10U),
		 function ^ (seed & 1 ? 4U : 0U));
	if (is_anywhere(lines, from))
		return false;
	for (size_t k = 0; k < lines->n; k++)
		if (strstr(lines->line[k], to))
			return false;
	for (size_t k = 0; k < lines->n; k++)
		if ((path = strstr(lines->line[k], from)))
			memcpy(path, to, strlen(to));
	return true;
}

static const struct {
	const char *name;
	bool (*change)(struct lines *, size_t line, uint64_t seed);
} kinds[] = {{"a place", move_place},
	     {"an id", change_id},
	     {"a record", change_record},
	     {"a BAR", change_bar},
	     {"a function", move_function}};
enum { PLACE, KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static uint64_t draw(uint64_t *state)
{
	return unc_sim_mix(++*state);
}

static void write_lines(const struct lines *lines, const char *file)
{
	FILE *out = fopen(file, "w");

	CU_ASSERT_FATAL(out != NULL);
	for (size_t i = 0; i < lines->n; i++)
		fprintf(out, "%s\n", lines->line[i]);
	CU_ASSERT_FATAL(fclose(out) == 0);
}

/* Makes a line of a kind wrong; false: the machine has none. *at: which, was: what it was. */
static bool change_one(struct lines *lines, unsigned kind, uint64_t *state, size_t *at,
		       char was[LONGEST])
{
	enum { TRIES = 20000 };

	for (unsigned tries = 0; tries < TRIES; tries++) {
		*at = (size_t)(draw(state) % lines->n);
		memcpy(was, lines->line[*at], LONGEST);
		if (kinds[kind].change(lines, *at, draw(state)))
			return true;
	}
	return false;
}

static void examine_lines(const struct lines *lines, struct findings *f)
{
	struct fake_root root;
	char sim[320];

	fake_new(&root);
	snprintf(sim, sizeof(sim), "%s/machine", root.path);
	write_lines(lines, sim);
	strcat(sim, ",clock=step");
	examine(sim, lines, f);
	fake_free(&root);
}

/* Whether a wrong line is noticed: one of a kind, a place if the machine has none of the kind. */
static bool is_noticed(const char *text, size_t size, unsigned kind, uint64_t *state)
{
	struct findings f = {0};
	struct lines lines;
	char was[LONGEST];
	size_t at;

	split(&lines, text, size);
	find_tables(&lines);
	if (!change_one(&lines, kind, state, &at, was)) {
		kind = PLACE;
		CU_ASSERT_FATAL(change_one(&lines, kind, state, &at, was));
	}
	examine_lines(&lines, &f);
	if (!f.n || getenv("ALL"))
		printf("# %s, %s: '%s' is '%s': %s\n", kinds[kind].name, block_of(&lines, at), was,
		       lines.line[at], f.n ? f.first : "not noticed");
	free(lines.line);
	return f.n > 0;
}

static void drawn(const void *user)
{
	const unsigned most = getenv("ALL") ? 200 : 20;
	uint64_t state = 1;
	size_t size;
	const char *text = unc_sim_text(user, &size);

	CU_ASSERT_FATAL(text != NULL);
	for (unsigned i = 0; i < most; i++)
		CU_ASSERT(is_noticed(text, size, i % KINDS, &state));
}

int main(void)
{
	static const char *const some[] = {"nehalem-ep", "sandybridge-ep", "skylake-sp",
					   "emerald-rapids", "granite-rapids"};
	const char *name;
	size_t size;

	for (size_t i = 0; unc_machine_text(i, &name, &size); i++)
		suite_add(whole, name, "all of %s is read", name);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		suite_add(drawn, some[i], "wrong lines of %s", some[i]);
	return suite_run("machines", NULL);
}
