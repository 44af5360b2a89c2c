# SPDX-License-Identifier: BSD-3-Clause
"""Event files as import-events changes them: lines that keep their text where nothing is new. What units.tbl says is
read by the compiler of tables (scripts/tables), as words of lines are.
"""
import os

from tables.grammar import FLAG, STATEMENTS, UNITS, WORDS_ROLE
from tables.lines import TableError, is_of, logical_raw, number as number_of, numbers, words_of
from tables.reader import Reader, text_of
from tables.rows import NONE, ones, pieces

WIDTH = 100  # of a line, as in the tables there are
EVENT_COLUMNS = ('counters', 'doubtful', 'counter', 'max', 'aggregate', 'lane', 'alias', 'needs', 'uses', 'default', 'cpu')
UMASK_COLUMNS = ('counter', 'aggregate', 'alias', 'unavailable', 'needs', 'uses', 'default', 'cpu')
ROLES = (None,) + WORDS_ROLE
FLAGS = {c.name for s in STATEMENTS if s.name in ('event', 'umask') for c in s.columns if c.kind == FLAG}


# ---- lines and words

class Statement:
    """A logical line: its words, and its text as it stands in the file."""

    def __init__(self, raw, text, where):
        self.raw, self.where = raw, where
        try:
            self.words = words_of(text)
        except TableError as error:
            raise TableError(f'{where}: {error}')

    def plain(self):
        return [w.value for w in self.words if w.key is None and not w.quoted]

    def quoted(self):
        return next((w.value for w in self.words if w.quoted), '')

    def get(self, name, default=None):
        return next((w.value for w in self.words if w.key == name), default)

    def is_for(self, cpu):
        return is_of(self.get('cpu'), cpu)


def statements(path):
    """The logical lines of a file; comments and blank lines have no words."""
    for at, raw, text in logical_raw(text_of(path, 'utf-8')):
        yield Statement(raw, text, f'{path}:{at}')


def number(text, where):
    value = number_of(text)
    if value is None:
        raise TableError(f"{where}: '{text}' is not a number")
    return value


def counter_list(text, where):
    """'0-1,3' -> (0, 1, 3)"""
    found = numbers(text, 64)
    if found is None:
        raise TableError(f"{where}: '{text}' is not a list of numbers")
    return tuple(found)


def counter_text(counters):
    """(0, 1, 3) -> '0-1,3'"""
    runs = []
    for n in sorted(counters):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ','.join(str(a) if a == b else f'{a}-{b}' for a, b in runs)


# ---- units.tbl

class Field:
    def __init__(self, table, row):
        self.name, self.user = row.name, row.flags & 1
        self.values = {v.name.lower(): v.value for v in row.values.of(table.value)}
        self.pieces = [('CTL' if reg == NONE else table.reg[reg].name, low + width - 1, low) for reg, low, width in pieces(row)]

    def mask(self, reg):
        return sum(ones(high - low + 1) << low for r, high, low in self.pieces if r == reg)

    def only_in(self, reg):
        return len(self.pieces) == 1 and self.pieces[0][0] == reg

    def low(self):
        return self.pieces[0][2]


class Type:
    """A type of units, as a CPU has it."""

    def __init__(self, table, row):
        self.row, self.name, self.title = row, row.name, row.title
        self.publics = [text for text in row.public_prefix.split(',') if text]
        self.fields = {f.name.lower(): Field(table, f) for f in row.fields.of(table.field)}
        self.regs = {r.name: (ROLES[r.role], r.base) for r in row.regs.of(table.reg)}
        self.counters = [(c.name, c.ctl != NONE) for c in row.counters.of(table.counter)]
        self.code, self.umask = (None if at == NONE else table.field[at].name for at in (row.f_event, row.f_umask))
        self.presents = row.presents.of(table.present)
        self.enable, self.max, self.n_counters = row.enable, row.max_inc, row.n_counters

    def field(self, name):
        return self.fields.get(name.lower())

    def counter_names(self, fixed):
        return [name for name, is_fixed in self.counters if is_fixed == fixed]


def read_units(folder, cpu):
    """The types of a CPU, in the order of units.tbl."""
    path = os.path.join(folder, 'units.tbl')
    reader = Reader(cpu, {'units.tbl': text_of(path)}, shown={'units.tbl': path})
    reader.read_named('units.tbl', UNITS)
    reader.end_of_type()
    return [Type(reader.t, row) for row in reader.t.type]


# ---- TYPE.events

class Line:
    """An event or a umask. What is new or changed has no raw text and is written from its columns."""

    def __init__(self, kind, name):
        self.kind, self.name, self.words, self.raw, self.before = kind, name, '', None, []
        self.value = None  # umask: the text of its value
        self.sets, self.columns, self.flags = {}, {}, []

    @classmethod
    def of(cls, statement, before):
        plain = statement.plain()
        if len(plain) < 2:
            raise TableError(f'{statement.where}: {plain[0]} has no name')
        line = cls(plain[0], plain[1])
        line.raw, line.before, line.words = statement.raw, before, statement.quoted()
        known = EVENT_COLUMNS + ('code',) if line.kind == 'event' else UMASK_COLUMNS
        for word in plain[2:]:
            if word in FLAGS:
                line.flags.append(word)
            else:
                line.value = word
        for w in statement.words:
            if w.key is not None:
                (line.columns if w.key in known else line.sets)[w.key] = w.value
        return line

    def is_for(self, cpu):
        return is_of(self.columns.get('cpu'), cpu)

    def called(self, name):
        return name.lower() in (self.name.lower(), *self.columns.get('alias', self.name).lower().split(','))

    def list_of(self, column):
        return [word for word in self.columns.get(column, '').split(',') if word]

    def text(self, indent, wrap=True):
        """Its lines."""
        if self.raw is not None:
            return self.raw
        words = [self.kind, self.name] + ([self.value] if self.value else [])
        if 'code' in self.columns:
            words.append(f"code={self.columns['code']}")
        words += [f'{key}={value}' for key, value in self.sets.items()]
        order = EVENT_COLUMNS if self.kind == 'event' else UMASK_COLUMNS
        words += [] if self.kind == 'event' else self.flags
        for key in order:
            if key in self.columns:
                quote = '"' if key == 'unavailable' else ''
                words.append(f'{key}={quote}{self.columns[key]}{quote}')
            if key == 'aggregate' and self.kind == 'event':
                words += self.flags
        head, tail = indent + ' '.join(words), f'"{self.words}"'
        if len(head) + 1 + len(tail) <= WIDTH or not wrap:
            return [f'{head} {tail}']
        return [f'{head} \\', f'{indent}  {tail}']

    def touch(self):
        """It will be written anew."""
        self.raw = None


class Event(Line):
    def __init__(self, kind, name):
        super().__init__(kind, name)
        self.umasks, self.is_new = [], True
        self.select = None  # the field of a second set of codes

    def umask(self, name, cpu):
        return next((u for u in self.umasks if u.is_for(cpu) and u.called(name)), None)

    def umasks_of(self, text, cpu):
        """What stands behind the event's name: one umask, or two with a dot between; None: no such."""
        if not text:
            return [u for u in self.umasks if u.is_for(cpu) and 'default' in u.flags][:1]
        whole = self.umask(text, cpu)
        if whole:
            return [whole]
        first, dot, rest = text.partition('.')
        pair = [self.umask(first, cpu), self.umask(rest, cpu)] if dot else [None]
        return None if None in pair else pair


class EventFile:
    """TYPE.events: events and lines of other kinds, in their order."""

    def __init__(self, path, folder=None):
        self.path, self.events, self.uses, self.tail = path, [], [], []
        self.indent, self.blank, self.wrap, self.exists = '  ', False, True, os.path.exists(path)
        if self.exists:
            self.read(folder)

    def read(self, folder):
        before = []
        for line in statements(self.path):
            self.wrap &= len(line.raw) > 1 or len(line.raw[0]) <= WIDTH
            kind = line.plain()[0] if line.words else None
            if kind is None:
                before += line.raw
                continue
            if kind == 'umask' and self.events:
                self.events[-1].umasks.append(Line.of(line, before))
                self.indent = line.raw[0][:len(line.raw[0]) - len(line.raw[0].lstrip())]
            elif kind == 'event':
                self.events.append(Event.of(line, before))
                self.events[-1].is_new = False
                self.blank |= len(self.events) > 1 and '' in before
            elif kind == 'use':
                self.take_use(line, before, folder)
            else:
                raise TableError(f"{line.where}: '{kind}' is not known in a file of events")
            before = []
        self.tail = before

    def take_use(self, line, before, folder):
        name = line.plain()[1]
        other = EventFile(os.path.join(folder or os.path.dirname(self.path), name))
        sets = {w.key: w.value for w in line.words if w.key not in (None, 'cpu')}
        self.uses.append([before + line.raw, other, sets, len(self.events), line])

    def find(self, name, cpu):
        """(event, its umasks, what a `use` sets, the file) of BASE.UMASK, as the library finds it."""
        found = None
        for events, sets, file in [(self.events, {}, self)] + [
                (other.events, sets, other) for _, other, sets, _, line in self.uses if line.is_for(cpu)]:
            for event in events:
                for called in (event.name, event.columns.get('alias')):
                    if not called or not event.is_for(cpu) or not begins(name, called):
                        continue
                    umasks = event.umasks_of(name[len(called) + 1:], cpu)
                    rank = (umasks is not None, len(called))
                    if not found or rank > found[0]:
                        found = (rank, event, umasks, sets, file)
        return found and found[1:]

    def text(self):
        out = []
        for i, event in enumerate(self.events):
            for raw, _, _, at, _ in self.uses:
                out += raw if at == i else []
            if event.is_new and self.blank and not event.before and out:
                out.append('')
            out += event.before + event.text('', self.wrap)
            for umask in event.umasks:
                out += umask.before + umask.text(self.indent, self.wrap)
        for raw, _, _, at, _ in self.uses:
            out += raw if at >= len(self.events) else []
        return '\n'.join(out + self.tail) + '\n'


def begins(text, name):
    return text.lower().startswith(name.lower()) and text[len(name):len(name) + 1] in ('', '.')
