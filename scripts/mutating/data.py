# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of eventtables/ that may be changed, one at a time, and what they are changed to.

The grammar is told in eventtables/README.md. Only what the tables decide is drawn: no comment, no description, and
nothing that is told by no source (NOT_DRAWN).
"""
import collections
import fnmatch
import glob
import os
import random
import re
import subprocess
import sys

UNITS, EVENTS = 400, 200  # numbers of units.tbl, and rows of *.events, that are drawn

# line counts from 0; column is STATEMENT.COLUMN, as a row of known_data names it.
Number = collections.namedtuple('Number', 'path line column old new')

NUMBER = re.compile(r'(?<![\w.])(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])')
DEVICE = re.compile(r'(?<![\w.])[0-9a-f]{2}\.[0-7](?![\w.])')  # device=0e.1
WORD = re.compile(r'(\w+)=("(?:[^"]*)"|\S*)|"[^"]*"|\S+')

# Columns of which no document says anything: estimates of increments are ours (eventtables/README.md, `max=`).
NOT_DRAWN = ('counters.max', 'event.max of an estimate')


# ---- where numbers are

def statements(text):
    """(first line, its lines without comments), a statement each."""
    lines = [uncommented(line) for line in text.split('\n')]
    at = 0
    while at < len(lines):
        end = at + 1
        while lines[end - 1].endswith('\\') and end < len(lines):
            end += 1
        if lines[at].strip():
            yield at, lines[at:end]
        at = end


def uncommented(line):
    """The line, with blanks in place of a comment."""
    for m in re.finditer(r'"[^"]*"?|#', line):
        if m.group(0) == '#':
            return line[:m.start()]
    return line


def words(lines):
    """(line within the statement, start, key or None, value), of which the value starts there; no quoted text without a key.

    A quoted text may go on in the next line."""
    text = ''.join(line.rstrip('\\').ljust(len(line)) + '\n' for line in lines)
    for m in WORD.finditer(text):
        key, start = m.group(1), m.start(2) if m.group(1) else m.start()
        if key or not m.group(0).startswith('"'):
            line = text.count('\n', 0, start)
            yield line, start - (text.rfind('\n', 0, start) + 1), key, text[start:m.end()]


def numbers(path, text):
    """(line, start, end, STATEMENT.COLUMN) of each number."""
    for first, lines in statements(text):
        found = list(words(lines))
        statement = found[0][3]
        plain = ' '.join(value for _, _, key, value in found if not key)
        if any(key == 'unavailable' for _, _, key, _ in found) and statement == 'metric':
            continue  # its formula is no more than documentation
        for line, start, key, value in found[1:]:
            column = statement + '.' + (key or 'number')
            if key in ('alias', 'title', 'unavailable', 'public', 'cpu'):
                continue
            if column in NOT_DRAWN or (column == 'event.max' and 'estimate' in plain.split()):
                continue
            for m in (DEVICE if key == 'device' else NUMBER).finditer(value):
                before = value[:m.start()]
                yield (first + line + before.count('\n'),
                       m.start() - (before.rfind('\n') + 1) if '\n' in before else start + m.start(),
                       m.group(0), column)


# ---- what they become

def halved(old):
    """A factor that is wrong by two, as far as it stays what it was: a number of a formula."""
    value = float(old) / 2 or 1
    return '%d' % value if value == int(value) and re.fullmatch(r'\d+', old) else repr(value)


def changed(old, draw):
    """Another number, written as this one is."""
    if old.startswith('0x'):
        value = int(old, 16)
        return '0x%0*X' % (len(old) - 2, value ^ 1 << draw.randrange(max(1, value.bit_length())))
    if not old.isdigit():
        return '%g' % (2 * float(old))
    return str(draw.choice([n for n in (int(old) + 1, int(old) - 1, 2 * int(old)) if n >= 0 and n != int(old)]))


def other_device(old, draw):
    device, function = old.split('.')
    if draw.random() < .5:
        return '%s.%d' % (device, int(function) ^ 1)
    return '%02x.%s' % (int(device, 16) ^ 1 << draw.randrange(5), function)


def mutant(path, lines, number, draw):
    line, start, old, column = number
    at = lines[line]
    if column.endswith('.device'):
        new = other_device(old, draw)
    elif column == 'metric.formula' and not at[:start].endswith('='):
        new = halved(old)
    else:
        new = changed(old, draw)
    return Number(path, line, column, at, at[:start] + new + at[start + len(old):])


# ---- the draw

def all_of(root, pattern):
    """(path, its lines, its numbers) of each file."""
    for path in sorted(glob.glob('eventtables/' + pattern, root_dir=root)):
        with open(os.path.join(root, path)) as f:
            text = f.read()
        yield path, text.split('\n'), list(numbers(path, text))


def chosen(root, seed):
    """Each number of portable.tbl and of all metrics.tbl; drawn ones of units.tbl; one of each drawn row of *.events."""
    draw = random.Random('data %d' % seed)
    out = [mutant(path, lines, number, draw) for pattern in ('portable.tbl', '*/metrics.tbl')
           for path, lines, found in all_of(root, pattern) for number in found]
    units = [(path, lines, number) for path, lines, found in all_of(root, '*/units.tbl') for number in found]
    out += [mutant(*one, draw) for one in sorted(draw.sample(units, UNITS), key=lambda one: (one[0], one[2]))]
    rows = collections.OrderedDict()
    for path, lines, found in all_of(root, '*/*.events'):
        for number in found:
            rows.setdefault((path, number[0]), []).append((path, lines, number))
    out += [mutant(*draw.choice(rows[row]), draw) for row in sorted(draw.sample(list(rows), EVENTS))]
    return out


# ---- rows of tests/mutants/known_data

def is_row(row, m):
    """FILE and COLUMN may have * and ?; LINE is the whole line without the blanks around it, or *."""
    path, column, line, _ = row
    return (fnmatch.fnmatchcase(m.path, 'eventtables/' + path) and fnmatch.fnmatchcase(m.column, column) and
            line in ('*', m.old.strip()))


# ---- a folder of tables with one number changed

class Folder:
    """The tables of one folder of eventtables/ and what their cases need, as few as that, so that they are read quickly."""

    def __init__(self, root, folder, top):
        self.root, self.top = root, top
        self.tables, self.tests = os.path.join(top, 'tables'), os.path.join(top, 'tests')
        self.cpus = self.closed(folder)
        os.makedirs(self.tables)
        for one in {self.folder_of(cpu) for cpu in self.cpus}:
            self.link('eventtables/' + one, os.path.join(self.tables, one))
        self.link('eventtables/portable.tbl', os.path.join(self.tables, 'portable.tbl'))
        with open(os.path.join(self.tables, 'cpus.tbl'), 'w') as f:
            f.writelines(line + '\n' for line in self.cpu_lines() if line.split()[1] in self.cpus)
        for kind in ('encode', 'metrics', 'kernel', 'perfmon', 'units'):
            os.makedirs(os.path.join(self.tests, kind))
            for path in glob.glob(os.path.join(root, 'tests', kind, '*')):
                if os.path.basename(path).rsplit('.', 1)[0] in self.cpus:
                    os.symlink(path, os.path.join(self.tests, kind, os.path.basename(path)))

    def cpu_lines(self):
        with open(os.path.join(self.root, 'eventtables/cpus.tbl')) as f:
            return [line.rstrip('\n') for line in f if line.startswith('cpu ')]

    def folder_of(self, cpu):
        line = next(line for line in self.cpu_lines() if line.split()[1] == cpu)
        shared = re.search(r'\bfolder=(\S+)', line)
        return shared.group(1) if shared else cpu

    def closed(self, folder):
        """The CPUs of a folder (None: all), and those whose cases stand for theirs (`like ; CPU`), with all that share tables."""
        every = [line.split()[1] for line in self.cpu_lines()]
        folders = {folder} if folder else {self.folder_of(cpu) for cpu in every}
        while True:
            cpus = [cpu for cpu in every if self.folder_of(cpu) in folders]
            more = {self.folder_of(like) for cpu in cpus for like in self.likes(cpu)}
            if more <= folders:
                return cpus
            folders |= more

    def likes(self, cpu):
        for path in glob.glob(os.path.join(self.root, 'tests/*/%s.*' % cpu)):
            with open(path) as f:
                yield from re.findall(r'^like ; (\S+)', f.read(), re.M)

    def link(self, source, target):
        """A folder becomes one of links, so that one of them can be replaced."""
        source = os.path.join(self.root, source)
        if not os.path.isdir(source):
            os.symlink(source, target)
            return
        os.mkdir(target)
        for name in os.listdir(source):
            os.symlink(os.path.join(source, name), os.path.join(target, name))

    def compiled(self):
        """Whether the tables, as they are, are taken: then they are a module."""
        script, c = os.path.join(self.root, 'scripts/tables'), [os.path.join(self.top, f'{half}_data.c') for half in ('table', 'sim')]
        return not subprocess.call([sys.executable, script, self.tables, '-o', self.top], stderr=subprocess.DEVNULL) and \
            not subprocess.call(['gcc', '-O0', '-shared', '-fPIC', '-I' + os.path.join(self.root, 'common'), '-o', self.module(), *c])

    def module(self):
        return os.path.join(self.top, 'tables.so')

    def environment(self):
        return {'LD_PRELOAD': self.module(), 'UNCORE_TESTS': self.tests}

    def put(self, m):
        """The file of a mutant is a copy now; None: all are what they were."""
        path = os.path.join(self.tables, m.path.split('/', 1)[1])
        os.unlink(path)
        with open(os.path.join(self.root, m.path)) as f:
            lines = f.read().split('\n')
        lines[m.line] = m.new
        with open(path, 'w') as f:
            f.write('\n'.join(lines))

    def restore(self, m):
        path = os.path.join(self.tables, m.path.split('/', 1)[1])
        os.unlink(path)
        os.symlink(os.path.join(self.root, m.path), path)
