# SPDX-License-Identifier: BSD-3-Clause
"""The grammar of the event tables: one row for every statement and every column. The reader (reader.py) uses it, and
eventtables/README.md ends with it (`make grammar`).

S(file, statement, flags, NAME of end_NAME in the reader, called after the last column, help)
C(kind, column, member of the row that the statement becomes, flags, limit, default, help)
R(kind, column, flags, help)
    likewise, if end_NAME reads the text itself
    A column in capitals is a word in this place; TEXT columns in "..." are quoted.
    Limit: the largest number (0: any that fits), a list of words, the bit of a flag. Default: of a number; of a list of
    words the value of the first word.

Columns are read in this order, words in a place by position; flags come before optional words.
"""
from .rows import (ABS, EVERY, EXCEEDS, FIELD_WO, FROZEN, MAX_PLACES, NODES, ONCE as FIELD_ONCE, RO, SEXT, SPACES,
                   NONE, UMASK_CHOICE, UMASK_DEFAULT, UMASK_EXACT, UMASK_GUIDE, UMASK_PARTIAL, USER, W1C, WHERE_LISTED, WO)

# Kinds of columns: the form behind the key, and for the error message what a wrong text is not.
KINDS = {
    'RAW': ('=...', ''),  # the text itself
    'WORD': ('', ''),  # likewise, and it may have a "="
    'TEXT': ('="..."', ''),
    'NUMBER': ('=N', 'a number'),
    'OFFSET': ('=N', 'an offset'),  # may be negative
    'REAL': ('=X', 'a number above 0'),
    'FLAG': ('', ''),
    'CHOICE': ('=WORD', ''),
    'MASK': ('=LIST', 'a list of numbers'),
    'SET': ('=LIST', 'a list of numbers up to 127'),
    'COUNTERS': ('=LIST', ''),  # of counters of the type
    'BITS': ('=HIGH:LOW', 'bits HIGH:LOW of a dword'),
    'DEVICE': ('=DEVICE.FUNCTION', 'DEVICE.FUNCTION in hexadecimal'),
    'FIELD': ('=FIELD', 'a field above'),
    'REG': ('=REG', 'a register above'),
    'COUNTER': ('=COUNTER', ''),
    'UNIT': ('=TYPE', 'a unit type'),
    'PART': ('=PART', 'a part above'),
    'BAR': ('=BAR', 'a bar above'),
    'FIELDS': ('=FIELD,..', ''),
    'SETTINGS': ('=FIELD:VALUE,..', ''),
    'STEPS': ('', ''),
}
(RAW, WORD, TEXT, NUMBER, OFFSET, REAL, FLAG, CHOICE, MASK, SET, COUNTERS, BITS, DEVICE, FIELD, REG, COUNTER, UNIT, PART,
 BAR, FIELDS, SETTINGS, STEPS) = KINDS

# Flags of a column; PLUS1: stored so that 0 is "none"; MSR ..: only where registers are reached so.
NEEDED, POSITIVE, PLUS1, MSR, PCI, MMIO, CPUS_ONLY = (1 << i for i in range(7))
ANY_SPACE = MSR | PCI | MMIO | CPUS_ONLY
FLAG_TEXTS = ((NEEDED, 'needed'), (POSITIVE, 'not 0'), (MSR, 'msr'), (PCI, 'pci'), (MMIO, 'mmio'), (CPUS_ONLY, 'pmu, perf'))
HOW = (MSR, PCI, MMIO, CPUS_ONLY, CPUS_ONLY, 0)  # by the space of registers; the last: still unknown

# Flags of a statement: ONCE in a type, or in the file; it belongs to a TYPE; SELF: its columns are members of the type;
# SETTINGS_TOO: other KEY=VALUE are settings of fields; AND_WHERE: `where` follows on the line
ONCE, TYPE, SETTINGS_TOO, AND_WHERE = 1, 2, 4, 16
SELF = 8 | TYPE

ANY, CPUS, UNITS, EVENTS = 'all files', 'cpus.tbl', 'units.tbl', 'TYPE.events'
PORTABLE, METRICS, GROUPS, WORKLOAD = 'portable.tbl', 'metrics.tbl', 'groups.tbl', 'workload.tbl'

WORDS_DISCOVERY = ('fixed', 'table', 'none')
WORDS_SPACE = SPACES
WORDS_AGGREGATE = ('sum', 'max', 'one', 'socket')
WORDS_ROLE = ('unit_ctl', 'status', 'ctl', 'ctr', 'fixed_ctl', 'fixed_ctr', 'free')
WORDS_IS = ('other', 'freeze', 'freeze_enable', 'reset_controls', 'reset_counters', 'enable_counters', 'enable_fixed',
            'freeze_socket', 'unfreeze_socket', 'reset', 'edge', 'invert', 'threshold', 'states', 'both_threads', 'overflow')
WORDS_KIND = ('total', 'gauge')
WORDS_INHERIT = ('higher', 'lower')
WORDS_TELLS = ('ones', 'number', 'all')
WORDS_MEMORY = ('ddr', 'hbm')
WORDS_MAP = ('own', 'list', 'bytes')
METRIC_TOTAL = 0


class Column:
    __slots__ = 'kind', 'name', 'of', 'member', 'flags', 'limit', 'default', 'help', 'left_out', 'place'

    def __init__(self, kind, name, member, flags, limit, default, help):
        self.kind, self.name, self.flags, self.limit, self.default, self.help = kind, name, flags, limit, default, help
        self.of, self.member = member.split('.')[:-1], member.split('.')[-1]
        self.place = name[0] < 'a'  # a word in its place
        # what the member holds where the column is left out; None: 0
        self.left_out = NONE if kind in (FIELD, REG, COUNTER) else default if kind == NUMBER and default else None


class Statement:
    __slots__ = 'file', 'name', 'flags', 'end', 'help', 'columns', 'rows'

    def __init__(self, file, name, flags, end, help):
        self.file, self.name, self.flags, self.end, self.help, self.columns = file, name, flags, end, help, []
        self.rows = []  # that its columns are members of


STATEMENTS = []


def S(*row):
    STATEMENTS.append(Statement(*row))


def C(*row):
    column, statement = Column(*row), STATEMENTS[-1]
    statement.columns.append(column)
    if column.of and column.of[0] not in statement.rows and not (statement.flags & SELF == SELF and column.of[0] == 'type'):
        statement.rows.append(column.of[0])


def R(kind, name, flags, help):
    C(kind, name, '', flags, 0, 0, help)


# ---- any file
S(ANY, 'any', 0, 'nothing',
  'a line of a file that several CPUs share')
R(RAW, 'cpu', 0,
  'NAME,..: only for these CPUs, `!NAME,..`: for all others. On a type it covers the whole type, on an event its umasks, on a group its items')

# ---- cpus.tbl
S(CPUS, 'cpu', 0, 'cpu',
  'a CPU')
R(RAW, 'NAME', NEEDED, 'its name, and that of its folder')
R(RAW, '"TITLE"', NEEDED, 'as people write the name')
C(NUMBER, 'family', 'cpu.family', NEEDED, 0xff, 0, 'CPUID family')
R(RAW, 'models', NEEDED, 'CPUID models, up to 8')
C(MASK, 'steppings', 'cpu.steppings', 0, 0, 0, 'only these steppings, if several CPUs share a model')
C(NUMBER, 'unmapped', 'cpu.unmapped', POSITIVE, 0xff, 0,
  'the one of these models to which statements `map` do not apply')
C(CHOICE, 'discovery', 'cpu.discovery', NEEDED, WORDS_DISCOVERY, 0,
  "`fixed`: places from units.tbl and PCI; `table`: the hardware's PMON discovery tables, and places from units.tbl for units that they lack; `none`")
R(RAW, 'folder', 0, 'the CPU whose tables this one shares')
R(RAW, 'alias', 0, 'other names of the CPU; a list is allowed')
S(CPUS, 'known', 0, 'known',
  'a CPU without tables, so that messages can name it; after the first `cpu`')
R(RAW, '"TITLE"', NEEDED, 'as people write the name')
C(NUMBER, 'family', 'cpu.family', NEEDED, 0xff, 0, 'CPUID family')
R(RAW, 'models', NEEDED, 'CPUID models, up to 8')

# ---- units.tbl, before the first type
S(UNITS, 'topology', ONCE, 'topology',
  'the UBox device whose configuration registers give the socket of a PCI bus. A bus without a UBox has the socket of the CPUs next to it, else that of the next bus with a UBox')
C(NUMBER, 'ubox', 'topology.ubox_id', NEEDED, 0xffff, 0, 'device id of the UBox')
C(NUMBER, 'nodeid', 'topology.nodeid_offset', POSITIVE, 0xfff, 0,
  'offset of its node id. Without it, and with `map=`: if the kernel does not give the sockets, the UBoxes are in their order')
C(NUMBER, 'map', 'topology.map_offset', POSITIVE, 0xfff, 0, 'offset of the map from node ids to sockets')
C(DEVICE, 'device', 'topology.devfn', NEEDED, 0, 0, 'its place on its bus')
C(NUMBER, 'buses', 'topology.buses', POSITIVE, 256, 1, 'it gives the socket of its bus and of the N - 1 above it')
C(CHOICE, 'inherit', 'topology.inherit', 0, WORDS_INHERIT, 0,
  'the direction to the next bus with a UBox: `higher` by default')
S(UNITS, 'bar', 0, 'bar',
  'physical addresses held in configuration space: element i is `(cfg[base] & base_bits) << base_shift` plus `(cfg[at + i*step] & bits) << shift`. An element that reads as all ones, or (except the first) as 0, is empty: its units do not exist')
C(TEXT, 'NAME', 'bar.name', NEEDED, 0, 0, 'for the `bar=` of places')
C(NUMBER, 'id', 'bar.device_id', NEEDED, 0, 0, 'PCI device id')
C(DEVICE, 'device', 'bar.devfn', NEEDED, 0, 0, 'its place on its bus')
C(NUMBER, 'base', 'bar.base_offset', NEEDED, 0xfff, 0, 'offset of the common part')
C(BITS, 'base_bits', 'bar.base_mask', NEEDED, 0, 0, 'its bits')
C(NUMBER, 'base_shift', 'bar.base_shift', NEEDED, 63, 0, 'of the common part')
C(NUMBER, 'at', 'bar.offset', NEEDED, 0xfff, 0, 'offset of element 0')
C(NUMBER, 'step', 'bar.step', NEEDED, 0xfff, 0, 'from one element to the next')
C(BITS, 'bits', 'bar.mask', NEEDED, 0, 0, 'bits of an element')
C(NUMBER, 'shift', 'bar.shift', NEEDED, 63, 0, 'of an element')
C(NUMBER, 'count', 'bar.count', NEEDED, MAX_PLACES, 0, 'elements')
C(NUMBER, 'size', 'bar.size', NEEDED, 0, 0, 'bytes that may be mapped')

# ---- units.tbl: types
S(UNITS, 'type', 0, 'type',
  'begins a type of units, which lasts to the next')
C(TEXT, 'NAME', 'type.name', NEEDED, 0, 0, 'may end in a digit only if it has another digit before; up to 31 characters')
C(TEXT, 'title', 'type.title', NEEDED, 0, 0, "the document's name")
C(TEXT, 'public', 'type.public_prefix', 0, 0, 0, 'prefix of the public event names; a list is allowed, `-` before old ones')
C(NUMBER, 'share', 'type.share', POSITIVE, 64, 1,
  "each N adjacent units count parts of one thing (with `cpus=`, as many units as the machine's cores have threads)")
R(RAW, 'partner', 0,
  'a type above: unit i of one exists if unit i of the other does. If the hardware numbers them freely, both types have as many units')
C(TEXT, '"DESCRIPTION"', 'type.desc', NEEDED, 0, 0, '')
S(UNITS, 'view', 0, 'view',
  'a type that has no registers of its own. Events of all views of a type compete for its counters')
C(TEXT, 'NAME', 'type.name', NEEDED, 0, 0, '')
R(RAW, 'of', NEEDED, 'the type above whose units, counters and fields its events use')
C(TEXT, 'title', 'type.title', NEEDED, 0, 0, 'as for `type`')
C(TEXT, '"DESCRIPTION"', 'type.desc', NEEDED, 0, 0, '')
S(UNITS, 'access', ONCE | TYPE, 'access',
  "the way to the registers of the main part. `pmu`: registers of a logical CPU's own monitor: PMC n is n, PMD n is 0x100 + n, IBR n is 0x200 + n, DBR n is 0x300 + n. `perf`: counters that the kernel hands out through perf_event_open: 0 to 0xF the `config` of an event, 0x10 more its count, 0x100 + EVENT the `config1` of events with this low byte")
C(CHOICE, 'HOW', 'place.space', NEEDED, WORDS_SPACE, 0, '')
S(UNITS, 'discovery', ONCE | SELF, 'discovery',
  'the units are in the discovery table of the hardware. Without it: never discovered')
C(NUMBER, 'N', 'type.discovery', NEEDED, 0x7fff, 0, 'unit type id in the discovery table')
C(FLAG, 'optional', 'type.unlisted', 0, 1, 0, 'firmware may lack their records')
C(FLAG, 'distrust', 'type.distrusted', 0, 1, 0, 'its records are known and not used: `where` says which units exist')
C(MASK, 'functions', 'type.functions', 0, 0xff, 0,
  'only the records with this id at these PCI functions, `1-4`; so several types may share an id')
S(UNITS, 'where', TYPE, 'where',
  'places of the main part, repeatable')
C(NUMBER, 'base', 'place.base', MSR | MMIO, 0xffffffff, 0, 'the first address, or the offset from the bar')
C(NUMBER, 'base', 'place.base', PCI, 0xfff, 0, 'offset that registers count from')
C(NUMBER, 'base', 'place.base', CPUS_ONLY, 0xffff, 0, '`perf`: the type of the events (4: raw)')
C(NUMBER, 'count', 'place.count', MSR | MMIO, MAX_PLACES, 0, 'how many')
C(NUMBER, 'step', 'place.step', MSR | MMIO, 0xffffffff, 0, 'from one to the next')
R(RAW, 'bases', MSR, 'instead of base, step and count: each address')
R(RAW, 'device', PCI | NEEDED, 'each DEVICE.FUNCTION, hexadecimal, as lspci prints them: `08.2,09.2`')
R(RAW, 'id', PCI, 'their device ids; one id serves all places. Needed except with `listed`')
C(BAR, 'bar', 'place.bar', MMIO | NEEDED, 0, 0, 'instance i is in element i/per, at base + (i%per)*step')
C(NUMBER, 'per', 'place.per', MMIO | POSITIVE, MAX_PLACES, 1, 'instances in an element')
C(NUMBER, 'cpus', 'place.cpus', CPUS_ONLY | NEEDED | POSITIVE, MAX_PLACES, 0,
  'one unit for each logical CPU of the socket, N at most')
C(FLAG, 'optional', 'place.optional', 0, 1, 0,
  'only some models of the CPU have them. A socket without them lists none, unless another socket has them. MSRs: units have gaps in their numbers; those that answer exist, as many as `present` says')
C(NUMBER, 'group', 'place.group', PCI | POSITIVE, 255, 0,
  'all places with this number, of any type, come together: if a socket has one of them, and any unit of the other type, the others are missing')
C(FLAG, 'listed', 'place.optional', MMIO | PCI, WHERE_LISTED, 0,
  'only the discovery table says whether a unit is here; a record with any other place is not believed. A PCI function without a known device id must be of Intel, at this place, on the socket')
S(UNITS, 'present', TYPE, 'present',
  'which of the places, or how many, hold a unit on a socket; repeatable: a unit must pass all that can be read, and the smallest count applies. If the hardware lists the type, records beyond the count are not used')
R(RAW, 'id', 0,
  'PCI device id. With `offsets=`: of the function whose registers answer; without: of functions that prove units by their presence. `ID-ID`: one unit for each PCI function with a device id in this range, and no fewer than cores (if some functions are hidden, also units beyond whose register can be read)')
R(RAW, 'device', 0,
  'its DEVICE.FUNCTION; without `offsets=` a list of up to 16: unit i exists if function i/per does. With `ID-ID` the first; the others alternate between this column of the die and the next')
C(NUMBER, 'per', 'present.per', POSITIVE, MAX_PLACES, 1, 'units of a function')
R(RAW, 'offsets', 0, 'one or two configuration offsets')
C(NUMBER, 'msr', 'present.msr', POSITIVE, 0, 0,
  'instead of a PCI function, an MSR of any CPU of the socket; if it cannot be read, or holds 0, it decides nothing')
C(BITS, 'bits', 'present.mask', 0, 0, 0, 'only these bits of the one register')
C(CHOICE, 'tells', 'present.tells', 0, WORDS_TELLS, 0,
  'the meaning of these bits: a bit for each unit (default), the number of units, or all units exist if they are not 0')
C(NUMBER, 'none', 'present.none', 0, MAX_PLACES, 0, 'with `tells=all`, how many units exist if they are 0')
S(UNITS, 'memory', ONCE | SELF, 'nothing',
  'the units count the accesses to memory; their channels give its peak bandwidth')
C(CHOICE, 'KIND', 'type.memory', NEEDED, WORDS_MEMORY, 1,
  'modules of DDR3 or later, of 8 bytes a channel; memory on the package, whose speed is unknown')
C(NUMBER, 'channels', 'type.channels', POSITIVE, 16, 1, 'channels of a unit')
S(UNITS, 'stacks', ONCE | SELF, 'nothing',
  "the units are PCIe stacks, each behind a root bus. The kernel's driver gives the bus (`die0`, `die1` of its PMU), or else `map`")
C(NUMBER, 'ports', 'type.ports', NEEDED | POSITIVE, 8, 0, "root ports of a unit, each a bit of the events' port mask")
C(NUMBER, 'first', 'type.port_zero', 0, 31, 255,
  'device number of the root port 0; the others follow. Without it only `endpoint` gives ports')
C(NUMBER, 'zero', 'type.bus_zero', 0, 63, 255,
  'the unit on bus 0000:00 if there is no valid bit: for other units 0000:00 means no bus')
C(NUMBER, 'dmi', 'type.port_dmi', PLUS1, 7, 0,
  'port of DMI: of the root port that is device 0, and of the chipset on bus 0000:00')
S(UNITS, 'map', TYPE, 'map',
  'registers that hold the root buses of the stacks; repeatable, the first that can be read applies. They are read on request, never written')
C(NUMBER, 'msr', 'map.msr', POSITIVE, 0, 0, 'an MSR with a byte for each id; bit 63 says that they are valid')
C(NUMBER, 'id', 'map.id', POSITIVE, 0, 0, 'instead of an MSR, the device id of a PCI function')
C(CHOICE, 'tells', 'map.tells', 0, WORDS_MAP, 0,
  'their form. `own`: a function on each root bus has the id of its stack. `list`: one function for each socket has a bit for each valid id in `valid=`, and from each of the `offsets=` on a byte for each of 16 ids. `bytes`: it has a byte for each id, four at each of the `offsets=`')
C(DEVICE, 'device', 'map.devfn', 0, 0, 0, 'with `tells=bytes`, the function on the same bus that has the bytes')
R(RAW, 'offsets', 0, 'one or two configuration offsets')
C(NUMBER, 'valid', 'map.valid', POSITIVE, 0xffc, 0, 'with `tells=list`, a configuration offset')
C(BITS, 'bits', 'map.mask', 0, 0, 0, 'with `tells=own`, the bits of the id')
R(RAW, 'ids', NEEDED, 'the id of each unit, from unit 0 on; `-`: the unit has none')
C(NUMBER, 'chip', 'map.chip', POSITIVE, 254, 0, 'the map applies to CPUs where the next three columns give this value')
C(NUMBER, 'chip_id', 'map.chip_id', POSITIVE, 0, 0, 'device id of a PCI function of the socket')
C(NUMBER, 'chip_offset', 'map.chip_offset', POSITIVE, 0xffc, 0, 'configuration offset in that function')
C(BITS, 'chip_bits', 'map.chip_mask', 0, 0, 0, 'bits of that register')
C(FLAG, 'one', 'map.one', 0, 1, 0, 'only one source has it')
S(UNITS, 'endpoint', TYPE, 'endpoint',
  'a PCI function on the root bus of a stack, a device of the CPU itself or a root port, whose port does not follow from its device number')
C(NUMBER, 'id', 'endpoint.id', NEEDED | POSITIVE, 0, 0, 'device id')
C(MASK, 'ports', 'endpoint.ports', 0, 255, 0,
  'its port; several: its traffic is in all of them, and cannot be separated. Without it: unknown')
C(NUMBER, 'bus', 'endpoint.bus', POSITIVE, 15, 0, 'its root bus is N behind that of the stack')
C(NUMBER, 'chip', 'endpoint.chip', POSITIVE, 254, 0, 'only with a `map` with this `chip=`')
S(UNITS, 'nodes', TYPE, 'nodes',
  'with sub-NUMA clusters: the cluster of each unit, a line for each number of clusters. Without it units are known by socket only')
R(RAW, 'clusters', NEEDED,
  'clusters of units 0, 1, ..: `1,1,0,0`. The clusters of a socket count from 0, in the order of its nodes; `-`: none. `in_order`: any number of clusters with equally many units each, lowest first')
S(UNITS, 'part', TYPE | AND_WHERE, 'part',
  'registers of the unit at a place of their own; two parts at most. Takes the columns of `where` too')
C(TEXT, 'NAME', 'place.name', NEEDED, 0, 0, 'for the `part=` of registers')
C(CHOICE, 'access', 'place.space', NEEDED, WORDS_SPACE, 0, 'as for `access`')

# ---- units.tbl: counters, registers, fields
S(UNITS, 'counters', ONCE | SELF, 'counters',
  'programmable counters. `counters 0` for a unit with fixed or free-running counters only')
C(NUMBER, 'N', 'type.n_counters', NEEDED, 32, 0, 'how many')
C(NUMBER, 'width', 'type.width', POSITIVE, 64, 0, 'bits of each; needed if there are any')
C(NUMBER, 'max', 'type.max_inc', POSITIVE, 0xffff, 1, 'largest increment per clock of an event without `max=`')
S(UNITS, 'reg', TYPE, 'reg',
  'a register; `NAME[N]` makes NAME0 .. NAME(N-1), or from `from=` on')
R(RAW, 'NAME', NEEDED, 'or `NAME[N]`; the counters have the numbers of their `ctl` and `ctr`')
C(OFFSET, 'at', 'reg.offset', NEEDED, 0, 0, "offset from the part's base, may be negative")
C(NUMBER, 'width', 'reg.width', NEEDED, 64, 0, '32 or 64')
C(NUMBER, 'step', 'stride', 0, 0x7fffffff, 0, 'from one of an array to the next; needed for arrays')
C(NUMBER, 'from', 'start', 0, 200, 0, 'number of the first of an array')
C(CHOICE, 'role', 'reg.role', 0, WORDS_ROLE, 1, 'its role, unless it is a filter or another setting')
C(PART, 'part', 'reg.part', 0, 0, 0, 'the part of the unit that it is in, if not the main part')
C(NUMBER, 'mask', 'reg.write_mask', 0, 0, 0, 'bits that software may write; needed except for `ro`, `ctl` and `ctr`')
C(NUMBER, 'base', 'reg.base', 0, 0, 0,
  'the value of a filter if no event sets it (required ones, neutral settings), within `mask=`')
C(NUMBER, 'busy', 'reg.busy', 0, 0, 0, 'if these bits are found set, another program uses the register')
C(NUMBER, 'per_unit', 'reg.per_unit', 0, 0x7fffffff, 0, 'in each further unit at the same place it is N higher')
C(FLAG, 'wo', 'reg.flags', 0, WO, 0, 'write-only')
C(FLAG, 'ro', 'reg.flags', 0, RO, 0, 'read-only')
C(FLAG, 'w1c', 'reg.flags', 0, W1C, 0, 'ones written clear bits')
C(FLAG, 'absolute', 'reg.flags', 0, ABS, 0, '`at` is the address itself')
C(FLAG, 'sext', 'reg.flags', 0, SEXT, 0, "`ctr`: reads repeat the counter's top bit")
C(FLAG, 'frozen', 'reg.flags', 0, FROZEN, 0, 'without a role: has a defined value only while the unit is frozen')
C(FLAG, 'every', 'reg.flags', 0, EVERY, 0,
  'qualifies every event that takes its fields: if an event names none of them, `base` is written')
S(UNITS, 'control', ONCE | SELF, 'control',
  'how a programmable counter is set to an event')
C(NUMBER, 'enable', 'type.enable', NEEDED, 0, 0, 'bits set in CTL while counting')
C(NUMBER, 'active', 'type.active', NEEDED | POSITIVE, 0, 0,
  'if any of these bits is found set in CTL, the counter is in use')
C(NUMBER, 'exclusive', 'type.exclusive', 0, 0, 0, 'all counters in use on a unit must agree in these bits of CTL')
C(FIELD, 'code', 'type.f_event', NEEDED, 0, 0, 'the field for event codes')
C(FIELD, 'umask', 'type.f_umask', 0, 0, 0, 'the field for umask values')
S(UNITS, 'lane', TYPE, 'lane',
  'counters that count together. A name may have several lanes. If no lead can count an event, the event shows the count of the lead: it needs exactly one lead event beside it, added before it (in a formula, named before it)')
C(TEXT, 'NAME', 'lane.name', NEEDED, 0, 0, 'for the `lane=` of events')
C(COUNTERS, 'counters', 'lane.counters', NEEDED, 0, 0, 'which')
C(NUMBER, 'lead', 'lane.lead', NEEDED, 31, 0, 'the lead must count an event of this lane before another counter may, of the same set')
C(FIELDS, 'same', 'sets', 0, 0, 0, "fields that must agree with the lead's")
S(UNITS, 'global', ONCE | SELF, 'global',
  'registers of the socket, in the type that has them')
R(RAW, 'status', NEEDED, 'one or two registers: what has overflowed')
R(RAW, 'unfreeze', 0, '`REG:VALUE` unfreezes all units of a frozen socket')
S(UNITS, 'forbid', TYPE, 'forbid',
  'settings that exclude each other, with the reason')
R(RAW, 'SETTINGS', NEEDED,
  '`FIELD:VALUE,..`; `FIELD:given`: the user gives it, `FIELD:none`: neither user nor event nor umask gives it')
C(TEXT, '"REASON"', 'forbid.why', NEEDED, 0, 0, '')
S(UNITS, 'needs', TYPE, 'relation',
  'if one of the fields is not 0, the other must not be 0 either (an edge needs a threshold)')
R(RAW, 'FIELDS', NEEDED, '')
C(FIELD, 'OTHER', 'of', NEEDED, 0, 0, '')
S(UNITS, 'mask', TYPE, 'relation',
  'the other field masks these: only its set bits are compared. A user who gives one of the fields must give the other too, not as 0, unless it comes `with` the field')
R(RAW, 'FIELDS', NEEDED, '')
C(FIELD, 'OTHER', 'of', NEEDED, 0, 0, '')
S(UNITS, 'fields', TYPE, 'fields',
  'a name for several fields in `uses=`')
C(TEXT, 'NAME', 'bundle.name', NEEDED, 0, 0, '')
R(RAW, 'FIELDS', NEEDED, '')
S(UNITS, 'counter', TYPE, 'counter',
  'a fixed or free-running counter; `NAME[N]` with `ctr=REG` for an array')
R(RAW, 'NAME', NEEDED, 'or `NAME[N]`')
R(RAW, 'ctr', NEEDED, 'its register')
C(NUMBER, 'width', 'counter.width', NEEDED | POSITIVE, 64, 0, 'bits')
C(REG, 'ctl', 'counter.ctl', 0, 0, 0, 'fixed: its control')
C(NUMBER, 'enable', 'counter.enable', 0, 0, 0, 'fixed: written to the control while counting')
C(NUMBER, 'kernel', 'counter.kernel', POSITIVE, 0, 0,
  "its `config` for the kernel's driver; each further one of an array has the umask one higher. Without it the driver has no event for the counter")
S(UNITS, 'field', TYPE, 'field',
  'bits of a register. REG `CTL` stands for the control register of the used counter. A split field names two pieces, low first: `field rnid MATCH1 3:0 MATCH0 31:31`')
C(TEXT, 'NAME', 'field.name', NEEDED, 0, 0, 'up to 31 characters')
C(FLAG, 'user', 'field.flags', 0, USER, 0, 'every event of the type takes it')
C(FLAG, 'nodes', 'field.flags', 0, NODES, 0, 'a mask of node ids, takes `local` and `remote`')
C(FLAG, 'exceeds', 'field.flags', 0, EXCEEDS, 0,
  "a threshold that the increment must exceed, so it is less than the event's largest increment")
C(FLAG, 'once', 'field.flags', 0, FIELD_ONCE, 0,
  'not set while another counter of the unit counts an event of the same code')
C(FLAG, 'wo', 'field.flags', 0, FIELD_WO, 0, 'reads back as 0')
R(RAW, 'REG', NEEDED, 'a register above, or `CTL`')
R(RAW, 'HIGH:LOW', NEEDED, 'its bits in the register')
R(RAW, 'REG', 0, 'of the second piece')
R(RAW, 'HIGH:LOW', 0, 'of the second piece')
C(NUMBER, 'shift', 'field.shift', 0, 31, 0, 'the N low bits of the value are not stored and must be 0')
C(CHOICE, 'is', 'field.role', 0, WORDS_IS, 1, 'its effect on the machine, see above')
C(COUNTERS, 'counters', 'field.counters', 0, 0, 0, 'the counters that support it')
C(NUMBER, 'default', 'field.default_value', 0, 0, 0, 'the value if it is not given')
C(NUMBER, 'max', 'field.max_inc', POSITIVE, 0, 0,
  'if the event sets it, a threshold compares with another number than the increment, at most this')
C(NUMBER, 'min', 'field.min', 0, 0, 0, 'the least value')
C(FIELD, 'like', 'field.like', 0, 0, 0, 'a filter field that gets the value of this field if the event uses its register')
C(SETTINGS, 'with', 'field.with_', 0, 0, 0, 'also set, unless the user gives them')
C(TEXT, '"DESCRIPTION"', 'field.desc', NEEDED, 0, 0, '')
S(UNITS, 'value', TYPE, 'value',
  'a name for a value of a field (`opc=DRd`)')
C(FIELD, 'FIELD', 'of', NEEDED, 0, 0, '')
C(TEXT, 'NAME', 'value.name', NEEDED, 0, 0, '')
C(NUMBER, 'NUMBER', 'value.value', NEEDED, 0, 0, '')
C(TEXT, '"DESCRIPTION"', 'value.desc', 0, 0, 0, '')

# ---- units.tbl: the kernel's driver
S(UNITS, 'kernel', TYPE, 'kernel',
  "a PMU of the kernel's own driver that counts for units of the type, and the bits that it really carries: neither its `format/` nor a successful open shows them. One for free-running counters, one for all others. Settings that are not here and below are not given to the kernel")
C(FLAG, 'free', 'kernel.free', 0, 1, 0, 'the PMU of the free-running counters')
C(TEXT, 'NAME', 'kernel.name', 0, 0, 0, 'its name in sysfs; `{n}` is the number of the unit, if there are several')
R(RAW, 'numbers', 0,
  "`{n}` of each unit: `0-1,3-4`, 32 at most; further units have none. Default: the unit's index. If the numbers differ from the indexes, the kernel's driver must have the last")
C(NUMBER, 'bits', 'kernel.bits', 0, 0, 0,
  'bits of CTL that it carries, without the enable bits, which it always sets')
C(NUMBER, 'named', 'kernel.named', 0, 0, 0,
  'further bits that it carries if `format/umask` of its PMU names them: kernels of one version differ')
R(RAW, 'config1', 0, 'filter registers that it takes from `config1`: the low 32 bits, then the high ones')
R(RAW, 'config2', 0, 'the same of `config2`')
C(TEXT, 'unavailable', 'kernel.unavailable', 0, 0, 0,
  'instead of all others: why the kernel cannot count for these units')
S(UNITS, 'kernel_filter', TYPE, 'kernel_filter',
  'events for which the driver writes filters. For all other events, and in all other fields, the register keeps the value of the previous event')
C(FIELDS, 'FIELDS', 'sets', NEEDED, 0, 0, 'fields that it takes from the registers of config1 and config2')
R(RAW, 'codes', 0, 'codes of the events; default: all')
R(RAW, 'umasks', 0, 'their whole umasks; default: any')
C(SETTINGS, 'when', 'when', 0, 0, 0, 'settings of CTL that the event must have')
S(UNITS, 'kernel_counters', TYPE, 'kernel_counters',
  "counters on which the driver puts events of these codes, if they differ from the events' own: on those it would count something else, or nothing")
C(COUNTERS, 'COUNTERS', 'kernel_counters.counters', NEEDED, 0, 0, '')
R(RAW, 'codes', NEEDED, 'codes of the events')

# ---- units.tbl: steps
S(UNITS, 'start', ONCE | SELF, 'nothing',
  'steps, undone by `stop`. If another program counts on the unit, `REG=` steps are skipped. A frozen unit that is idle is unfrozen, no matter who froze it; nothing else is frozen or reset (`SOURCES.md`, start and stop)')
C(STEPS, 'STEPS', 'type.steps_start', NEEDED, 0, 0,
  "`REG=VALUE` writes; `REG=found` writes back the found value of unit control; `preload` sets the used counters to half of their range, on hardware to a value of each session's own, far from both ends of the range; `filters`, `controls` write the settings of the events; `restore` writes the found values back to controls and filters that still hold ours")
S(UNITS, 'stop', ONCE | SELF, 'nothing',
  'undoes `start`')
C(STEPS, 'STEPS', 'type.steps_stop', NEEDED, 0, 0, '')
S(UNITS, 'freeze', ONCE | SELF, 'nothing',
  'writes that stop the counters of a unit. A readable unit control then shows whether another program has frozen the unit. With `unfreeze`, or neither')
C(STEPS, 'STEPS', 'type.steps_freeze', NEEDED, 0, 0, '')
S(UNITS, 'unfreeze', ONCE | SELF, 'nothing',
  'writes that unfreeze the unit')
C(STEPS, 'STEPS', 'type.steps_unfreeze', NEEDED, 0, 0, '')

# ---- TYPE.events
S(EVENTS, 'event', SETTINGS_TOO, 'event',
  'an event of the type. `FIELD=VALUE`: any control field of the type by name (`ev_sel_ext=1`)')
C(TEXT, 'NAME', 'event.name', NEEDED, 0, 0, 'letters, digits, _ and . up to 63')
R(RAW, 'code', 0, 'the event code')
C(COUNTERS, 'counters', 'event.counters', 0, 0, 0, 'counters that can count it, `0-1,3`; needed with `code=`')
C(COUNTER, 'counter', 'event.counter', 0, 0, 0, 'a fixed or free-running counter, then without code and counters')
C(TEXT, 'alias', 'event.alias', 0, 0, 0, 'another spelling; two events may share it if their umasks differ')
C(COUNTERS, 'doubtful', 'event.doubtful', 0, 0, 0,
  'counters of `counters=` that not all sources allow: used only if the others are not enough')
C(NUMBER, 'max', 'event.max_inc', POSITIVE, 0, 0,
  'largest increment per clock, if not that of the type: no threshold may exceed it')
C(FLAG, 'estimate', 'event.estimate', 0, 1, 0,
  'no document has its largest increment: it decides how often the counter is read, and limits no threshold. The `max=` of a type is an estimate for its events')
C(CHOICE, 'aggregate', 'event.aggregate', 0, WORDS_AGGREGATE, 0,
  'how units are combined, by default `sum`; `max` (clocks); `one`: all count the same, and the first is taken (with `share=N` the sum of the first N); `socket`: all of a socket count the same, and the first of each socket is added')
R(RAW, 'lane', 0, '`NAME:SET`: the lane it counts in, and its set')
C(FIELDS, 'needs', 'event.fields.needs', 0, 0, 0, 'fields the user must give')
C(FIELDS, 'uses', 'event.fields.uses', 0, 0, 0, 'fields the user may give')
C(SETTINGS, 'default', 'event.fields.defaults', 0, 0, 0,
  'the user may override it, also in some bits by another field. A `FIELD=VALUE` cannot be overridden')
C(FLAG, 'clock', 'event.clock', 0, 1, 0,
  'counts whenever the unit runs, so it shows a frozen unit (of several the first that is available)')
C(FLAG, 'stops_clock', 'event.stops', 0, 1, 0,
  'the clock of its unit stops while it counts, and shows nothing: if no counter of such a unit moves, it is unproven')
C(FLAG, 'guide', 'event.guide', 0, 1, 0,
  "no public file of a CPU that shares the folder has it and its umasks: for that CPU only the guide of the folder's own CPU is their source")
C(TEXT, '"DESCRIPTION"', 'event.desc', NEEDED, 0, 0, '')
S(EVENTS, 'umask', SETTINGS_TOO, 'umask',
  'a umask of the event above. `FIELD=VALUE` as for events')
C(TEXT, 'NAME', 'umask.name', NEEDED, 0, 0, 'as for events')
C(FLAG, 'exact', 'umask.flags', 0, UMASK_EXACT, 0, 'not to be combined with others')
C(FLAG, 'partial', 'umask.flags', 0, UMASK_PARTIAL, 0, 'counts nothing alone')
C(FLAG, 'default', 'umask.flags', 0, UMASK_DEFAULT, 0, 'used if no umask is given')
C(FLAG, 'choice', 'umask.flags', 0, UMASK_CHOICE, 0, 'not to be combined with another `choice`')
R(RAW, 'VALUE', 0, 'the value of the umask field')
C(TEXT, 'alias', 'umask.alias', 0, 0, 0, 'another spelling; a list is allowed')
C(TEXT, 'unavailable', 'umask.unavailable', 0, 0, 0, 'the reason why it cannot be programmed')
C(COUNTER, 'counter', 'umask.counter', 0, 0, 0, 'as for events')
C(CHOICE, 'aggregate', 'umask.aggregate', 0, WORDS_AGGREGATE, 1, 'if it differs from the event')
C(FIELDS, 'needs', 'does.needs', 0, 0, 0, 'as for events')
C(FIELDS, 'uses', 'does.uses', 0, 0, 0, 'as for events')
C(SETTINGS, 'default', 'does.defaults', 0, 0, 0, 'as for events')
C(FLAG, 'guide', 'umask.flags', 0, UMASK_GUIDE, 0, 'as for events')
C(TEXT, '"DESCRIPTION"', 'umask.desc', NEEDED, 0, 0, '')
S(EVENTS, 'use', SETTINGS_TOO, 'use',
  'includes the events of another file of the same folder (`cms.events`), with `FIELD=VALUE` set in each')
R(RAW, 'FILE', NEEDED, '')

# ---- portable.tbl
S(PORTABLE, 'portable', 0, 'portable',
  'a metric that means the same on every CPU: each metrics.tbl has its formula, or the reason for having none. A folder without this file has no such metrics')
C(TEXT, 'NAME', 'metric.name', NEEDED, 0, 0, 'without a type')
R(RAW, 'unit', NEEDED, 'as for metrics')
C(CHOICE, 'kind', 'metric.kind', NEEDED, WORDS_KIND, METRIC_TOTAL, 'as for metrics')
C(REAL, 'load', 'per_second', 0, 0, 0,
  'the amount per second and socket of a simulated machine, or the value of a gauge; omitted if it follows from other metrics')
C(TEXT, '"DEFINITION"', 'metric.desc', NEEDED, 0, 0, 'in one sentence')

# ---- metrics.tbl
S(METRICS, 'metric', 0, 'metric',
  'a name without a type is a metric of portable.tbl, which has its unit, kind and description. `{x}` in name, formula and description is replaced by each number or word of `x=`')
R(RAW, 'NAME', NEEDED, '`TYPE.NAME` or `NAME`')
R(RAW, 'x', 0, '`0-3,5`, numbers up to 63, or a list of words')
R(RAW, 'unit', 0,
  'needed, except for a portable metric: `bytes`, `count`, `ratio`, `ns`, `clocks`, `hz`, `bytes_per_second`, `count_per_second`')
C(CHOICE, 'kind', 'metric.kind', 0, WORDS_KIND, METRIC_TOTAL, 'needed likewise: whether it adds up over time')
R(RAW, 'formula', NEEDED, 'see above')
R(RAW, 'unavailable', 0,
  'the reason why a metric of the document cannot be computed; the formula stays as documentation')
R(RAW, '"DESCRIPTION"', 0,
  'needed, except for a portable metric: the particulars of this CPU, added behind the definition')

# ---- groups.tbl
S(GROUPS, 'group', 0, 'group',
  'metrics and events that belong together and are measured together. A folder without this file has no groups')
C(TEXT, 'NAME', 'group.name', NEEDED, 0, 0, 'letters, digits, _ and - up to 31')
C(TEXT, '"DESCRIPTION"', 'group.desc', NEEDED, 0, 0, '')
S(GROUPS, 'item', 0, 'item',
  'an item of the group above, in the order of the output')
R(WORD, 'TEXT', NEEDED, 'a metric, or an event as the user writes it, without a place')

# ---- workload.tbl
S(WORKLOAD, 'machine', ONCE, 'machine',
  'the simulated machine')
C(REAL, 'tsc_hz', 'machine.tsc_hz', NEEDED, 0, 0, 'frequency of the time stamp counter')
S(WORKLOAD, 'unit', 0, 'unit',
  'units of a type')
C(UNIT, 'TYPE', 'sim_unit.type', NEEDED, 0, 0, '')
C(REAL, 'clock', 'sim_unit.clock_hz', NEEDED, 0, 0, 'clocks per second')
S(WORKLOAD, 'let', 0, 'let',
  '`let NAME = EXPRESSION`: names a number; constants and earlier names allowed')
R(RAW, 'NAME', NEEDED, '')
R(RAW, '=', NEEDED, '')
S(WORKLOAD, 'rate', 0, 'rate',
  "count of an event per second and unit, at full load; `clock` is the clock of the row's unit. An event without a row counts at its own small rate")
C(UNIT, 'TYPE', 'load.type', NEEDED, 0, 0, '')
R(WORD, 'EVENT', NEEDED, 'as the user writes it, without the type')
C(FLAG, 'steady', 'load.steady', 0, 1, 0,
  'the rate does not depend on the traffic, like that of a clock. The clock of the unit itself needs no word')
C(FLAG, 'cxl', 'load.cxl', 0, 1, 0, 'counts on a machine with memory behind CXL links; 0 on others')
R(RAW, '"EXPRESSION"', NEEDED, '')
S(WORKLOAD, 'occupancy', 0, 'rate',
  'the mean increment per clock of the unit (arrivals per second times seconds each stays)')
C(UNIT, 'TYPE', 'load.type', NEEDED, 0, 0, '')
R(WORD, 'EVENT', NEEDED, '')
R(RAW, '"EXPRESSION"', NEEDED, '')


# ---- as text: for eventtables/README.md

def limits_of(column):
    texts = [text for flag, text in FLAG_TEXTS if column.flags & flag]
    if column.kind == NUMBER and column.limit:
        texts.append(f'up to {column.limit}' if column.limit < 1024 else f'up to 0x{column.limit:x}')
    return ', '.join(texts) + (f', default {column.default}' if column.kind == NUMBER and column.default else '')


def text_of(statement):
    """The statement and its columns as rows of a table of Markdown."""
    places = sorted((c for c in statement.columns if c.place), key=lambda c: c.name[0] == '"')
    words = [statement.name] + [c.name if c.flags & NEEDED else f'[{c.name}]' for c in places]
    words += ['FIELD=VALUE..'] if statement.flags & SETTINGS_TOO else []
    yield f"| **`{' '.join(words)}`** | {'once' if statement.flags & ONCE else ''} | {statement.help} |"
    for c in statement.columns:
        if c.place and not c.help:
            continue
        choice = f"`{'`, `'.join(c.limit)}`{': ' if c.help else ''}" if c.kind == CHOICE else ''
        yield f"| `{c.name}{'' if c.place else KINDS[c.kind][0]}` | {limits_of(c)} | {choice}{c.help} |"


def as_text():
    file = ''
    for statement in STATEMENTS:
        if statement.file != file:
            file = statement.file
            yield f'\n### {file}\n\n| word | | what |\n|---|---|---|'
        yield from text_of(statement)
