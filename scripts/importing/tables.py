# SPDX-License-Identifier: BSD-3-Clause
"""Reads units.tbl and TYPE.events as far as import-events needs them, and writes event lines.

The grammar is told in eventtables/README.md. tablec is the judge of what is right: this reads what tablec has
accepted, and what it does not know it keeps as it stands.
"""
import os

WIDTH = 100  # of a line, as in the tables there are
EVENT_COLUMNS = ('counters', 'doubtful', 'counter', 'max', 'aggregate', 'alike', 'lane', 'alias', 'needs', 'uses', 'default', 'cpu')
UMASK_COLUMNS = ('counter', 'aggregate', 'alias', 'unavailable', 'needs', 'uses', 'default', 'cpu')
FLAGS = ('exact', 'choice', 'partial', 'default', 'clock', 'steady', 'estimate')


def is_of(cpus, cpu):
    """What cpu= says: these CPUs, or with ! all others."""
    return cpus is None or (cpu in cpus.lstrip('!').split(',')) != cpus.startswith('!')


class TableError(Exception):
    """A sentence for the user."""


# ---- lines and words

class Statement:
    """A logical line: its words, and its text as it stands in the file."""

    def __init__(self, raw, where):
        self.raw, self.where = raw, where
        self.words = split_words(' '.join(text[:-1] if text.endswith('\\') else text for text in raw), where)

    def plain(self):
        return [value for key, value, quoted in self.words if not key and not quoted]

    def quoted(self):
        return next((value for key, value, quoted in self.words if not key and quoted), '')

    def get(self, name, default=None):
        return next((value for key, value, _ in self.words if key == name), default)

    def is_for(self, cpu):
        return is_of(self.get('cpu'), cpu)


def split_words(text, where):
    """Words as (key or None, value, whether the value stands in quotes)."""
    words, at = [], 0
    while at < len(text):
        if text[at] in ' \t':
            at += 1
            continue
        if text[at] == '#':
            break
        start, key, quoted = at, None, False
        while at < len(text) and text[at] not in ' \t#"':
            at += 1
            if text[at - 1] == '=' and key is None:
                key, start = text[start:at - 1], at
        value = text[start:at]
        if at < len(text) and text[at] == '"':
            end = text.find('"', at + 1)
            if end < 0 or value:
                raise TableError(f'{where}: a quotation mark stands alone')
            value, quoted, at = text[at + 1:end], True, end + 1
        words.append((key, value, quoted))
    return words


def statements(path):
    """The logical lines of a file; comments and blank lines have no words."""
    try:
        with open(path, encoding='utf-8') as file:
            lines = file.read().split('\n')
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f'{path}: {getattr(error, "strerror", None) or error}')
    if lines and not lines[-1]:
        lines.pop()
    raw = []
    for number, line in enumerate(lines, 1):
        raw.append(line)
        if line.endswith('\\') and not line.lstrip().startswith('#'):
            continue
        yield Statement(raw, f'{path}:{number - len(raw) + 1}')
        raw = []
    if raw:
        raise TableError(f'{path}: the last line ends in \\, but nothing follows')


def number(text, where):
    try:
        return int(text, 0)
    except ValueError:
        raise TableError(f"{where}: '{text}' is not a number")


def counter_list(text, where):
    """'0-1,3' -> (0, 1, 3)"""
    found = []
    for part in text.split(','):
        first, _, last = part.partition('-')
        found += range(number(first, where), number(last or first, where) + 1)
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
    def __init__(self, line):
        words = [word for word in line.plain()[2:] if word not in ('user', 'nodes', 'exceeds', 'once', 'wo')]
        self.name, self.user = line.plain()[1], 'user' in line.plain()[2:]
        self.min, self.values, self.pieces = line.get('min'), {}, []
        for reg, bits in zip(words[::2], words[1::2]):
            high, _, low = bits.partition(':')
            self.pieces.append((reg, number(high, line.where), number(low or high, line.where)))

    def mask(self, reg):
        return sum(((2 << high - low) - 1) << low for r, high, low in self.pieces if r == reg)

    def only_in(self, reg):
        return len(self.pieces) == 1 and self.pieces[0][0] == reg

    def low(self):
        return self.pieces[0][2]


class Type:
    """A type of units, as a CPU has it."""

    def __init__(self, line):
        self.name, self.title = line.plain()[1], line.get('title', '')
        self.publics = [text for text in line.get('public', '').split(',') if text]
        self.fields, self.regs, self.counters = {}, {}, []
        self.code = self.umask = self.discovery = None
        self.presents = []
        self.stacks = None
        self.enable, self.max, self.n_counters = 0, 1, 0

    def field(self, name):
        return self.fields.get(name.lower())

    def counter_names(self, fixed):
        return [name for name, is_fixed in self.counters if is_fixed == fixed]

    def take(self, line):
        kind, plain = line.plain()[0], line.plain()
        if kind == 'discovery':
            self.discovery = plain[1]
        elif kind == 'stacks':
            self.stacks = line
        elif kind == 'present':
            self.presents.append(line)
        elif kind == 'counters':
            self.n_counters, self.max = number(plain[1], line.where), number(line.get('max', '1'), line.where)
        elif kind == 'control':
            self.code, self.umask = line.get('code'), line.get('umask')
            self.enable = number(line.get('enable', '0'), line.where)
        elif kind == 'reg':
            self.take_reg(plain[1], line)
        elif kind == 'field':
            field = Field(line)
            self.fields[field.name.lower()] = field
        elif kind == 'value' and self.field(plain[1]):
            self.field(plain[1]).values[plain[2].lower()] = number(plain[3], line.where)
        elif kind == 'counter':
            self.counters += [(name, line.get('ctl') is not None) for name in array(plain[1], 0, line.where)]

    def take_reg(self, name, line):
        for each in array(name, number(line.get('from', '0'), line.where), line.where):
            self.regs[each] = (line.get('role'), number(line.get('base', '0'), line.where))


def array(name, first, where):
    """'CTL[4]' -> CTL0 .. CTL3"""
    if not name.endswith(']'):
        return [name]
    stem, _, count = name[:-1].partition('[')
    return [f'{stem}{first + i}' for i in range(number(count, where))]


def read_units(folder, cpu):
    """The types of a CPU, in the order of units.tbl."""
    types, current, skipping = [], None, False
    for line in statements(os.path.join(folder, 'units.tbl')):
        begins = line.words and line.plain()[0] in ('type', 'view')
        if begins:
            skipping = not line.is_for(cpu)
        if not line.words or skipping or not line.is_for(cpu):
            continue
        if begins:
            current = Type(line)
            types.append(current)
            shared = next((t for t in types if t.name == line.get('of')), None)
            if shared:
                current.__dict__.update({k: v for k, v in shared.__dict__.items()
                                         if k not in ('name', 'title', 'publics')})
        elif current:
            current.take(line)
    return types


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
        for key, value, _ in statement.words:
            if key:
                (line.columns if key in known else line.sets)[key] = value
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
        sets = {key: value for key, value, _ in line.words if key and key != 'cpu'}
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
