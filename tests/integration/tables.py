# SPDX-License-Identifier: BSD-3-Clause
"""The compiler of tables, by its own parts: what tables_bad/cases must be refused with, and what becomes of tables from
which a column is taken away. A line "not ok" for each that is otherwise; the last line counts."""
import os
import sys

source = sys.argv[1]
sys.path.insert(0, os.path.join(source, 'scripts'))

from tables import emit, grammar, reader  # noqa: E402
from tables.lines import TableError  # noqa: E402

GOOD = os.path.join(source, 'tests', 'tables_bad', 'good')
FILES = ('cpus.tbl', 'portable.tbl', 'groups.tbl', 'testcpu/units.tbl', 'testcpu/box.events', 'testcpu/metrics.tbl',
         'testcpu/workload.tbl')
# Columns that change nothing of what is compiled.
SILENT = {'portable.load'}  # make-workload reads it
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(f'not ok - {text}')


def good_files():
    return {os.path.basename(name): reader.text_of(os.path.join(GOOD, name)) for name in FILES}


def outcome(files, cpu):
    """What is compiled, or the sentence."""
    try:
        one = reader.Reader(cpu, files)
        table = one.read()
    except TableError as error:
        return str(error)
    return emit.compiled('table', [table], one.pool) + emit.compiled('workload', [table], one.work_pool)


def refused(text):
    return not text.startswith('/*')


# ---- tables_bad/cases

def cases():
    n = 0
    for line in reader.text_of(os.path.join(source, 'tests', 'tables_bad', 'cases')).splitlines():
        if not line or line[0] == '#':
            continue
        name, find, replace, want = (column.strip(' ') for column in line.split(';;', 3))
        find, replace, files = find.replace('\\n', '\n', 1), replace.replace('\\n', '\n', 1), good_files()
        if find not in files[name]:
            complain(f'{line}: nothing is replaced')
        files[name] = files[name].replace(find, replace, 1) if find else files[name] + replace
        got = outcome(files, 'testcpu')
        if got != want:
            complain(f"{line}: {got if refused(got) else 'nothing'}")
        n += 1
    return n


# ---- columns

def machines():
    """(CPU, its files as words): made-up ones first, which are small."""
    for folder in ('tests/tables_bad/good', 'tests/tables', 'eventtables'):
        tables = reader.Folder(os.path.join(source, folder))
        for cpu, of in sorted(tables.cpus(), key=lambda pair: size_of(source, folder, pair[1])):
            files = {**reader.files_of(tables.path), **reader.files_of(os.path.join(tables.path, of))}
            yield cpu, {name: list(reader.taken_apart(text)) for name, text in files.items() if name}


def size_of(*parts):
    folder = os.path.join(*parts)
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def kind_of(name):
    return 'TYPE.events' if name.endswith('.events') else name


def places_of(statement, words):
    """The words of a statement that are in a place, as its columns take them: (column, word)."""
    left = [w for w in words[1:] if w.key is None]
    flags = {c.name for c in statement.columns if c.kind == grammar.FLAG}
    quoted = [w for w in left if w.quoted]
    plain = [w for w in words[1:] if not w.quoted and (w.key is None and w.value not in flags)]
    for c in statement.columns:
        if not c.place:
            continue
        if c.name[0] == '"':
            if quoted:
                yield c, quoted.pop(0)
        elif c.kind == grammar.STEPS:
            for w in [w for w in words[1:] if w.key != 'cpu']:
                yield c, w
        elif plain:
            yield c, plain.pop(0)


def without(words, statement, column):
    """A line without a column; None: it has none."""
    if column.place:
        gone = [w for c, w in places_of(statement, words) if c is column]
    else:
        gone = [w for w in words[1:] if not w.quoted and
                (w.value if column.kind == grammar.FLAG and w.key is None else w.key) == column.name]
    return [w for w in words if w not in gone] if gone else None


def stripped(files, statement, column):
    """The files without the column, or (None) without the whole statement; None: it stands nowhere."""
    found, changed = False, {}
    for name, lines in files.items():
        changed[name] = []
        for at, words in lines:
            new = words
            of = statement.file == grammar.ANY or kind_of(name) == statement.file and words[0].value == statement.name and \
                words[0].key is None
            if of:
                new = [] if column is None else without(words, statement, column)
                found |= new is not None
                new = words if new is None else new
            if new:
                changed[name].append((at, new))
    return changed if found else None


def columns():
    left = {(s.name, c.name): (s, c) for s in grammar.STATEMENTS for c in s.columns}
    left.update({(s.name, ''): (s, None) for s in grammar.STATEMENTS if s.file != grammar.ANY})
    same, n = {}, 0
    for cpu, files in machines():
        whole = None
        for key, (statement, column) in list(left.items()):
            changed = stripped(files, statement, column)
            if changed is None:
                continue
            whole = whole or outcome(dict(files), cpu)
            got, name = outcome(changed, cpu), '.'.join(filter(None, key))
            if column and column.flags & grammar.NEEDED and not refused(got):
                complain(f'{cpu}: without {name}, which is needed, nothing is refused')
            if got == whole:
                same[key] = cpu  # another CPU may show it
                continue
            n += 1
            same.pop(key, None)
            del left[key]
        if not left:
            break
    for key in left:
        name = '.'.join(filter(None, key))
        if name not in SILENT:
            complain(f'{name}: ' + (f'{same[key]} is the same without' if key in same else 'no CPU has one'))
    return n


if __name__ == '__main__':
    print({'cases': cases, 'columns': columns}[sys.argv[2]]())
    sys.exit(wrong > 0)
