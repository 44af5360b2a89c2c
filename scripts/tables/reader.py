# SPDX-License-Identifier: BSD-3-Clause
"""The strict reader of the tables of a CPU: a line becomes a row by the grammar, and what is wrong is refused with its
place and its reason."""
import hashlib
import os

from . import control, events, grammar, metrics, units, workload
from .grammar import (AND_WHERE, BAR, BITS, CHOICE, COUNTER, COUNTERS, CPUS, DEVICE, EVENTS, FIELD, FIELDS, FLAG, GROUPS, KINDS,
                      MASK, NEEDED, NUMBER, OFFSET, ONCE, PART, PLUS1, POSITIVE, RAW, REAL, REG, SELF, SET, SETTINGS, STEPS,
                      TEXT, TYPE, UNIT, UNITS, WORD, WORKLOAD)
from .lines import TableError, bits, devfn, is_of, logical_raw, nearest, number, number_set, real, words_of
from .rows import CLASSES, NONE, SPACES, TABLE, WORKLOAD as WORKLOAD_ROWS, Range, ones

MAX_CPUS = 32  # UNC_TABLE_CPUS
BY_NAME = {(s.file, s.name): s for s in grammar.STATEMENTS}
WHERE = BY_NAME[UNITS, 'where']


class Pool:
    """Texts, each once: where they are in the strings of the compiled tables."""

    def __init__(self):
        self.at, self.size = {'': 0}, 1

    def add(self, text):
        if text not in self.at:
            self.at[text] = self.size
            self.size += len(text) + 1
        return text


class Given:
    """What a line says, as its columns fill it in: the row that it becomes, and what goes with that."""

    def __init__(self):
        self.sets, self.when, self.of, self.stride, self.start, self.per_second = Range(), Range(), 0, 0, 0, 0.0


class Table:
    """The rows of a CPU, and of its workload."""

    def __init__(self):
        for name in TABLE + WORKLOAD_ROWS:
            setattr(self, name, [])
        self.name = self.title = self.folder = self.alias = ''
        self.id = 0  # of its name and the texts that it was made of
        self.discovery, self.topology, self.machine = 0, CLASSES['topology'](), CLASSES['machine']()


def named(rows, among, name):
    """The first of a range of rows with a name, without regard to case; NONE: there is none."""
    name = name.lower()
    for i in range(among.first, among.first + among.n):
        if rows[i].name.lower() == name:
            return i
    return NONE


class Reader(units.Units, control.Control, events.Events, metrics.Metrics, workload.Workload):
    """Reads the files of a CPU, {name: text}."""

    def __init__(self, cpu, files, pools=(), shown=None):
        self.cpu, self.files, self.shown = cpu, files, shown or {}
        self.pool, self.work_pool = pools or (Pool(), Pool())
        self.t = Table()
        self.type = None  # whose block is read
        self.space = len(SPACES)  # of the part whose places are read
        self.skipping = False  # an event or group of other CPUs: its umasks or items are skipped too
        self.seen, self.seen_in_type = set(), set()
        self.cpu_lines, self.portable, self.lets = [], {}, {}
        self.field_at, self.reg_at = {}, {}  # (first of the type, name) -> index
        self.bundles = {}  # (first of the type, name) -> fields that the name stands for
        self.grams, self.using = {}, False
        self.folders = {}  # {cpu: its folder}, of all; none: cpu= may name any

    # ---- the order

    def read(self):
        self.read_named('cpus.tbl', CPUS, True)
        if not self.t.name:
            raise TableError(f'cpus.tbl has no line for {self.cpu}')
        self.read_named('units.tbl', UNITS, True)
        self.end_of_type()
        self.read_all_events()
        self.read_metrics()
        self.read_named('groups.tbl', GROUPS)
        self.check_group()
        self.read_named('workload.tbl', WORKLOAD)
        if 'workload.tbl' in self.files and not self.t.machine.tsc_hz:
            raise TableError(f'{self.cpu}: workload.tbl has no machine line')
        if any(len(getattr(self.t, kind)) >= NONE for kind in TABLE):
            raise TableError(f'{self.cpu}: more than {NONE - 1} rows of a kind')
        return self.t

    def read_all_events(self):
        for i, row in enumerate(self.t.type):
            self.begin_events(row, i)
            self.read_named(row.name + '.events', EVENTS)
            self.end_events(row)
        self.type = None
        self.index()

    def read_named(self, name, kind, needed=False):
        if name in self.files:
            self.read_file(name, kind)
        elif needed:
            raise TableError(f'{self.cpu}: the file {name} is missing')

    def read_file(self, name, kind):
        self.skipping = False
        for at, line in self.lines_of(name):
            self.line_number = at
            try:
                if isinstance(line, TableError):
                    raise line
                for word in line:
                    word.used = False
                if not self.is_of_other(line, kind):
                    self.read_line(line, kind)
            except TableError as error:
                where = self.shown.get(name, name)
                raise TableError(f'{where}:{at}: {error}')

    def lines_of(self, name):
        """(number, words) of each line with words. Files of a folder that CPUs share are taken apart once."""
        if isinstance(self.files[name], str):
            self.files[name] = list(taken_apart(self.files[name]))
        return self.files[name]

    def is_of_other(self, line, kind):
        """cpu=NAME,.. on a line: it is of these CPUs only, with cpu=!NAME,.. of all others; and what belongs to it."""
        cpus = next((w for w in line if w.key == 'cpu'), None)
        word = '' if line[0].key else line[0].value
        if cpus:
            cpus.used = True
            self.check_names(cpus.value, kind)
        other = cpus is not None and not is_of(cpus.value, self.cpu)
        if word in ('event', 'group', 'type', 'view'):
            self.skipping = other
        elif kind == UNITS or word in ('umask', 'item'):
            return other or self.skipping
        return other

    def check_names(self, cpus, kind):
        """A line that is of no CPU at all would be missing without a word."""
        for name in cpus.lstrip('!').lower().split(',') if self.folders else ():
            if name not in self.folders:
                raise TableError(f'cpu={cpus}: there is no CPU {name}{nearest(name, self.folders)}')
            if kind not in (CPUS, GROUPS) and self.folders[name] != self.folders[self.cpu.lower()]:
                raise TableError(f'cpu={cpus}: {name} has another folder, {self.folders[name]}')

    # ---- a line

    def read_line(self, line, kind):
        first = line[0]
        statement = BY_NAME.get((kind, first.value)) if first.key is None and not first.quoted else None
        if not statement:
            raise TableError(f"'{first.value}' is not a statement of {kind}"
                             f'{nearest(first.value, [s.name for s in grammar.STATEMENTS if s.file == kind])}')
        first.used = True
        self.line, self.statement, self.given, self.use = line, statement, {}, None
        self.check_place(statement)
        self.w = Given()
        for name in statement.rows:
            setattr(self.w, name, CLASSES['fields' if name == 'does' else name]())
        self.read_columns(statement)
        if statement.flags & AND_WHERE:
            self.read_columns(WHERE)
        if self.use:
            self.read_used()
        self.all_used()

    def check_place(self, s):
        seen = self.seen_in_type if s.flags & TYPE else self.seen
        if s.flags & TYPE and self.type is None:
            raise TableError(f"'{s.name}' before the first type")
        if s.flags & ONCE and s in seen:
            raise TableError(f'{s.name} is given twice')
        seen.add(s)

    def read_columns(self, s):
        how, there = grammar.HOW[self.space], {w.key or w.value for w in self.line}
        for c in s.columns:
            only = c.flags & grammar.ANY_SPACE
            if only and not only & how:
                continue
            if c.place or c.name in there:
                self.read_column(s, c)
            elif c.flags & NEEDED:
                raise TableError(f'{c.name}= is missing')
            elif c.left_out is not None:
                setattr(self.row_of(c), c.member, c.left_out)
        end = getattr(self, 'end_' + s.end, None)
        if end:
            end()

    def all_used(self):
        for w in self.line:
            if not w.used:
                raise TableError(f'text left over: "{w.value}"' if w.quoted else f"unknown or repeated word '{w}'")

    def take(self, c):
        """The word of a column; None: it is not there."""
        name, kind = c.name, c.kind
        for w in self.line:
            if w.used:
                continue
            if name[0] == '"':
                fits = w.quoted
            elif w.quoted or kind != WORD and name[0] < 'a' and w.key is not None:
                fits = False
            elif kind == WORD or name[0] < 'a':
                fits = True
            else:
                fits = w.key is None and w.value == name if kind == FLAG else w.key == name
            if fits:
                w.used = True
                return w
        return None

    def take_settings(self, sets):
        """KEY=VALUE words that are no column are fields."""
        for w in self.line:
            if not w.used and w.key is not None:
                w.used = True
                self.add_setting(w.key, w.value, sets)

    def text(self, column, default=None):
        """What the line gives a column."""
        return self.given.get(column, (default,))[0]

    def need(self, column):
        if column not in self.given:
            raise TableError(f'{column}= is missing')

    def read_column(self, s, c):
        if c.kind == STEPS:
            return self.read_steps(getattr(self.row_of(c), c.member))
        word = self.take(c)
        if not word or word.quoted and not word.value:
            if c.flags & NEEDED:
                raise TableError(f'{s.name}: {c.name} is missing' if c.place else f'{c.name}= is missing')
            if c.left_out is not None:
                setattr(self.row_of(c), c.member, c.left_out)
            return None
        text = str(word) if c.kind == WORD else word.value
        self.given.setdefault(c.name, []).append(text)
        if c.kind == FLAG:
            row = self.row_of(c)
            return setattr(row, c.member, getattr(row, c.member) | c.limit)
        if c.kind in (RAW, WORD):
            return None
        said = f"{s.name} '{text}'" if c.place else f'{c.name}={text}'
        if c.kind in (FIELDS, SETTINGS):
            return self.add_list(c.name, text, c.kind == SETTINGS, getattr(self.row_of(c), c.member))
        return setattr(self.row_of(c), c.member, self.value_of(c, text, said))

    def row_of(self, c):
        """Where the column is kept."""
        row = self.w
        for name in c.of:
            if name == 'type' and self.statement.flags & SELF == SELF:
                row = self.type
                continue
            row = getattr(row, name)
        return row

    # ---- values

    def value_of(self, c, text, said):
        def is_not(what):
            raise TableError(f'{said} is not {what}')
        if c.kind == CHOICE:
            if text not in c.limit:
                is_not(', '.join(c.limit[:-1]) + ' or ' + c.limit[-1])
            return c.limit.index(text) + c.default
        if c.kind == COUNTERS:
            return self.counters_of(text, said)
        value = PARSERS[c.kind](self, text)
        if value is None and c.kind == COUNTER:
            raise TableError(f'counter={text}: {self.type.name} has no such counter')
        if value is None or c.kind == MASK and c.limit and value > c.limit or c.kind == REAL and value <= 0:
            is_not('a list of numbers up to 7' if c.kind == MASK and c.limit else KINDS[c.kind][1])
        if c.kind == NUMBER:
            most = c.limit or ones(self.size_of(c))
            if value > most:
                raise TableError(f'{said} is larger than 0x{most:x}')
            if not value and c.flags & POSITIVE:
                raise TableError(f'{c.name}= must not be 0')
        return value + 1 if c.flags & PLUS1 else value

    def size_of(self, c):
        row = self.row_of(c)
        return row._bits[c.member] if hasattr(row, '_bits') else 64

    def counters_of(self, text, said):
        mask, t = number_set(text, 64), self.type
        if mask is not None and not mask & ~(ones(t.n_counters) << t.first):
            return mask
        if not t.n_counters:
            raise TableError(f'{said}: {t.name} has no programmable counters')
        raise TableError(f'{said}: {t.name} has counters {t.first}-{t.first + t.n_counters - 1}')

    def find_field(self, name):
        return self.named_of_type(self.field_at, self.type.fields, name) if self.type else NONE

    def find_reg(self, name):
        return self.named_of_type(self.reg_at, self.type.regs, name) if self.type else NONE

    def named_of_type(self, at, among, name):
        index = at.get((among.first, name.lower()), NONE)
        return index if index < among.first + among.n else NONE

    def find_type(self, name):
        return named(self.t.type, Range(0, len(self.t.type)), name)


def found(index):
    return None if index == NONE else index


def offset(reader, text):
    value = number(text[text.startswith('-'):])
    return None if value is None or value > 0x7fffffff else -value if text[0] == '-' else value


def dword_bits(reader, text):
    pair = bits(text)
    return ones(pair[0] + 1) & ~ones(pair[1]) if pair and pair[0] <= 31 else None


def set_of(reader, text):
    mask = number_set(text)
    return None if mask is None else [mask & ones(64), mask >> 64]


def part_of(reader, text):
    index = found(named(reader.t.part, reader.type.parts, text))
    return None if index is None else index - reader.type.parts.first


PARSERS = {
    NUMBER: lambda reader, text: number(text),
    OFFSET: offset,
    REAL: lambda reader, text: real(text),
    TEXT: lambda reader, text: reader.pool.add(text),
    MASK: lambda reader, text: number_set(text, 64),
    SET: set_of,
    BITS: dword_bits,
    DEVICE: lambda reader, text: devfn(text),
    FIELD: lambda reader, text: found(reader.find_field(text)),
    REG: lambda reader, text: found(reader.find_reg(text)),
    COUNTER: lambda reader, text: found(named(reader.t.counter, reader.type.counters, text)),
    UNIT: lambda reader, text: found(reader.find_type(text)),
    PART: part_of,
    BAR: lambda reader, text: found(named(reader.t.bar, Range(0, len(reader.t.bar)), text)),
}


def taken_apart(text):
    for at, _, line in logical_raw(text):
        try:
            words = words_of(line)
        except TableError as error:
            words = error
        if words:
            yield at, words


# ---- folders

def text_of(path, encoding='latin-1'):
    """A letter for each byte, so that what is not ASCII stays what it is."""
    try:
        with open(path, encoding=encoding, newline='') as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f'{path}: {getattr(error, "strerror", None) or error}')


def files_of(folder):
    """Its files, and '', which is what all of them are known by."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(('.tbl', '.events')) and name[0] != '.')
    except OSError as error:
        raise TableError(f'{folder}: {error.strerror}')
    files, digest = {}, hashlib.sha256()
    for name in names:
        files[name] = text_of(os.path.join(folder, name))
        digest.update(f'{name} {len(files[name])}\n{files[name]}'.encode('latin-1'))
    files[''] = digest.digest()
    return files


class Folder:
    """A folder of tables: cpus.tbl, what CPUs have in common, and a folder for each."""

    def __init__(self, path):
        self.path, self.common, self.of = path, None, {}

    def cpus(self):
        """(name, folder) of each CPU that cpus.tbl describes."""
        path = os.path.join(self.path, 'cpus.tbl')
        for at, words in taken_apart(text_of(path)):
            if isinstance(words, TableError):
                raise TableError(f'{path}:{at}: {words}')
            if len(words) >= 2 and words[1].key is None and words[0].value != 'known':
                yield words[1].value, next((w.value for w in words if w.key == 'folder'), words[1].value)

    def reader(self, cpu, folder, pools):
        self.common = self.common or files_of(self.path)
        path = os.path.join(self.path, folder)
        if folder not in self.of:
            self.of[folder] = files_of(path)
        own = self.of[folder]
        twice = [name for name in own if name and name in self.common]
        if twice:
            raise TableError(f'{os.path.join(path, twice[0])}: given twice')
        shown = {name: os.path.join(self.path if name in self.common else path, name) for name in (*self.common, *own)}
        reader = Reader(cpu, Files(self.common, own), pools, shown)
        digest = hashlib.sha256(cpu.encode('latin-1') + self.common[''] + own['']).digest()
        reader.t.id = int.from_bytes(digest[:8], 'big')
        return reader


class Files:
    """Files of two folders; what is taken apart is kept where it was."""

    def __init__(self, *folders):
        self.folders = folders

    def folder_of(self, name):
        return next((f for f in self.folders if name in f), self.folders[-1])

    def __contains__(self, name):
        return name in self.folder_of(name)

    def __getitem__(self, name):
        return self.folder_of(name)[name]

    def __setitem__(self, name, value):
        self.folder_of(name)[name] = value


def read_folders(paths):
    """The tables of all CPUs of some folders, and the texts of all tables, and of all workloads."""
    pools, tables = (Pool(), Pool()), []
    for path in paths:
        folder, n = Folder(path), len(tables)
        cpus = list(folder.cpus())
        for cpu, of in cpus:
            reader = folder.reader(cpu, of, pools)
            reader.folders = {name.lower(): place for name, place in cpus}
            tables.append(reader.read())
        if len(tables) == n:
            raise TableError(f'{os.path.join(path, "cpus.tbl")}: describes no CPU')
    if len(tables) > MAX_CPUS:
        raise TableError(f'{paths[0]}: more than {MAX_CPUS} CPUs')
    return tables, pools
