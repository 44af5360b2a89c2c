# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the tables in memory: what common/tables/table.h has as structs, member by member in its order.

Letters are those of Python's module struct: B, H, I, Q have 1, 2, 4 and 8 bytes, h and i are signed, d is a double. S
is a text (unc_str), R a range of rows, a number before a letter an array, @NAME a struct. The compiled C asserts all of
it against table.h.
"""
NONE = 0xffff  # "no row" in a 16-bit index
MAX_PLACES = 128  # UNC_BITS_MAX: units of a type on a socket

STRUCTS = {
    'cpuid': 'family n_models:H models:8H steppings unmapped:H',
    'where': 'base:Q device_id:H devfn bar bar_index optional group:B',
    'present': 'mask:Q msr:I id last:H offset:2H n_offsets tells none per n_devices:B devfn:16B',
    'map': 'msr mask chip_mask:I id:H offset:2H valid chip_id chip_offset:H devfn tells one chip:B ids:16B',
    'endpoint': 'id:H bus ports chip:B',
    'bar': 'name:S device_id:H devfn count:B base_offset offset step:H base_shift shift:B base_mask mask size:I',
    'part': 'name:S space:B where:R',
    'reg': 'name:S offset per_unit:i write_mask base busy:Q part role number nth width flags:B',
    'field': 'name desc:S reg:3H lo:3B width:3B shift flags role:B counters max_inc:I needs mask like:H '
             'default_value min:Q with_ values:R',
    'value': 'name desc:S value:Q',
    'set': 'field given:H value:Q',
    'step': 'kind reg:H value:Q',
    'counter': 'name:S ctr ctl:H enable:Q width:B kernel:H',
    'lane': 'name:S counters:I lead:B same:Q',
    'forbid': 'why:S sets:R',
    'kernel': 'name unavailable:S bits named:Q config:4H number:32B free per:B',
    'kernel_filter': 'ctl mask:Q bits:2Q',
    'kernel_counters': 'counters:I code:H',
    'nodes': 'clusters:B cluster:128B',
    'type': 'name title desc public_prefix:S parts regs fields steps_start steps_stop steps_freeze '
            'steps_unfreeze counters lanes forbids kernels kernel_filters kernel_counters events nodes settled '
            'checked:R checked_bits:Q pool partner unfreeze:H n_global has_unfreeze:B '
            'unfreeze_value:Q first_ctl first_ctr unit_ctl status f_event f_umask:H '
            'enable active exclusive:Q max_inc:I discovery:h presents maps endpoints:R unlisted distrusted functions cpus '
            'share first n_counters width memory channels ports port_zero bus_zero port_dmi by_kernel:B',
    'fields': 'sets needs uses defaults:R',
    'umask': 'name desc alias unavailable:S fields counter:H flags aggregate:B',
    'event': 'name desc alias:S umasks:R fields:@fields counters doubtful:I counter type:H max_inc:I code lane:H '
             'set aggregate clock stops estimate guide:B',
    'slot': 'row:H',
    'metric': 'name formula unit desc unavailable:S type:H kind:B',
    'group': 'name desc:S items:R',
    'group_item': 'text:S',
    'known': 'title:S cpuid:@cpuid',
    'load': 'event:S type:H steady cxl:B per_second per_clock:d',
    'sim_unit': 'type:H clock_hz:d link:B',
    'topology': 'ubox_id nodeid_offset map_offset buses:H devfn inherit:B',
    'machine': 'tsc_hz:d',
    # of the reader alone
    'cpu': 'steppings:Q family discovery unmapped:H',
    'bundle': 'name:S',
    'place': 'base step:Q name:S space count per cpus bar optional group:B',
}
# What a table, and a workload, has rows of, in the order of UNC_TABLE_ARRAYS and UNC_WORKLOAD_ARRAYS.
TABLE = ('cpuid where present map endpoint bar part reg field value set step counter lane forbid kernel kernel_filter '
         'kernel_counters nodes type fields umask event slot metric group group_item known').split()
WORKLOAD = ['load', 'sim_unit']

# table.h and reg.h
WHERE_LISTED = 2
WO, RO, W1C, ABS, SEXT, FROZEN, EVERY = (1 << i for i in range(7))  # UNC_REG_*
USER, NODES, DEFAULT, EXCEEDS, ONCE, FIELD_WO, MASK = (1 << i for i in range(7))  # UNC_FIELD_*
UMASK_EXACT, UMASK_PARTIAL, UMASK_DEFAULT, UMASK_CHOICE, UMASK_GUIDE = (1 << i for i in range(5))
SPACES = ('msr', 'pci', 'mmio', 'pmu', 'perf')  # UNC_SPACE_*; behind the last: no access so far


class Range:
    """Rows first, first + 1 .. of another array."""
    __slots__ = 'first', 'n'

    def __init__(self, first=0, n=0):
        self.first, self.n = first, n

    def of(self, rows):
        return rows[self.first:self.first + self.n]

    def extend(self, rows):
        """By one row, which comes next."""
        if not self.n:
            self.first = len(rows)
        self.n += 1


def members(text):
    """(name, letter, how many; 0: it is none of an array)"""
    names = []
    for word in text.split():
        name, colon, kind = word.partition(':')
        names.append(name)
        if colon:
            count = kind.rstrip('BHIQhidSR') if kind[0] != '@' else ''
            for each in names:
                yield each, kind if kind[0] == '@' else kind[-1], int(count or 0)
            names = []


def make(name):
    """The class of a struct. _numbers(row, at) is a row as it is printed, whose texts are at[text]."""
    listed = list(members(STRUCTS[name]))
    arguments, texts = [], []
    for member, letter, count in listed:
        if letter[0] == '@':
            arguments.append(f'self.{member} = {letter[1:]}()')
        else:
            zero = {'S': "''", 'R': 'Range()', 'd': '0.0'}.get(letter, '0')
            arguments.append(f'self.{member} = {f"[{zero}] * {count}" if count else zero}')
    body = '; '.join(arguments)
    scope = {'Range': Range, **CLASSES}
    exec(f'class {name}:\n    __slots__ = {tuple(m for m, _, _ in listed)!r}\n'
         f'    def __init__(self, **given):\n        {body}\n        for k, v in given.items(): setattr(self, k, v)\n', scope)
    made = scope[name]
    made._members = listed
    formats, values = [], []
    for member, letter, count in listed:
        form = {'Q': '0x%x,', 'd': '%.17g,', 'R': '%d,%d,'}.get(letter, '%d,')
        if letter[0] == '@':
            inner = CLASSES[letter[1:]]
            formats.append(inner._format)
            values += [value.replace('row.', f'row.{member}.', 1) for value in inner._values]
        elif letter == 'R':
            formats.append(form)
            values += [f'row.{member}.first', f'row.{member}.n']
        elif letter == 'S':
            formats.append(form)
            values.append(f'at[row.{member}]')
        else:
            formats.append(form * (count or 1))
            values += [f'row.{member}[{i}]' for i in range(count)] or [f'row.{member}']
    made._format, made._values = ''.join(formats), values
    made._numbers = eval(f'lambda row, at: {made._format!r} % ({", ".join(values)},)')
    made._bits = {member: {'B': 8, 'H': 16, 'h': 16, 'I': 32, 'i': 32}.get(letter, 64) for member, letter, _ in listed}
    return made


CLASSES = {}
for _name in sorted(STRUCTS, key=lambda name: '@' in STRUCTS[name]):
    CLASSES[_name] = make(_name)


def copy(row):
    """A row of its own, with its own ranges and arrays."""
    new = type(row)()
    for member, letter, count in row._members:
        value = getattr(row, member)
        if letter[0] == '@':
            value = copy(value)
        elif letter == 'R':
            value = Range(value.first, value.n)
        setattr(new, member, list(value) if count else value)
    return new


# ---- questions, as those of tables/table.c

def ones(width):
    return (1 << width) - 1


def pieces(field):
    """(register, lowest bit, width) of each piece of a field."""
    return [(field.reg[p], field.lo[p], field.width[p]) for p in (0, 1) if field.width[p]]


def field_max(field):
    return ones(field.width[0] + field.width[1] + field.shift) & ~ones(field.shift)


def field_bits(field, reg=NONE):
    """Its bits in a register, or in the control of a counter."""
    return sum(ones(width) << low for at, low, width in pieces(field) if at == reg)
