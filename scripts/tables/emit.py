# SPDX-License-Identifier: BSD-3-Clause
"""Tables and machines as C: arrays of all CPUs, one behind the other, and a function that gives those of one."""
import glob
import os

from .lines import TableError
from .rows import CLASSES, TABLE, WORKLOAD

BYTES = {'B': 1, 'H': 2, 'h': 2, 'I': 4, 'i': 4, 'S': 4, 'R': 4, 'Q': 8, 'd': 8}
MACHINE = '.machine'
RENAMED = {'with_': 'with'}


def asserted(kind):
    """That the struct of table.h has these members, of these sizes, in this order and no others between them."""
    before = None
    for member, letter, count in CLASSES[kind]._members:
        name = RENAMED.get(member, member)
        size = f'sizeof(struct unc_tbl_{letter[1:]})' if letter[0] == '@' else str(BYTES[letter] * (count or 1))
        yield f'IS({kind}, {name}, {size})\n'
        if before:
            yield f'FOLLOWS({kind}, {before}, {name})\n'
        before = name
    yield f'LAST({kind}, {before})\n'


def assertions(kinds):
    inner = {letter[1:] for kind in kinds for _, letter, _ in CLASSES[kind]._members if letter[0] == '@'}
    out = ['#define END(s, m) (offsetof(struct unc_tbl_##s, m) + sizeof(((struct unc_tbl_##s *)0)->m))\n'
           '#define IS(s, m, n) _Static_assert(sizeof(((struct unc_tbl_##s *)0)->m) == (n), #s "." #m);\n'
           '#define FOLLOWS(s, a, b) _Static_assert(offsetof(struct unc_tbl_##s, b) - END(s, a) < 8, #s "." #b);\n'
           '#define LAST(s, m) _Static_assert(sizeof(struct unc_tbl_##s) - END(s, m) < 8, #s);\n']
    for kind in sorted({*kinds, *inner}):
        out += asserted(kind)
    return ''.join(out)


def literal(text):
    out = []
    for letter in text:
        if letter in '"\\':
            out.append('\\' + letter)
        elif letter == '?':
            out.append('\\077')
        else:
            out.append(letter if ' ' <= letter < '\x7f' else f'\\{ord(letter):03o}')
    return ''.join(out)


def strings(pool):
    """The last one is terminated by the compiler."""
    return 'static const char strings[] =\n' + '\\0"\n'.join(f'"{literal(text)}' for text in pool.at) + '";\n'


def array(kind, owners, at):
    """The rows of all owners, and where those of each begin. CPUs that share a folder have many in common: what an
    earlier one has is not printed again."""
    known, out, first, n = {}, [], [], 0
    numbers = CLASSES[kind]._numbers
    for owner in owners:
        rows = getattr(owner, kind)
        text = ''.join(['{' + numbers(row, at) + '},\n' for row in rows])
        if text not in known:
            known[text] = n
            out.append(text)
            n += len(rows)
        first.append(known[text])
    return f'static const struct unc_tbl_{kind} all_{kind}[] = {{\n' + ''.join(out) + ('};\n' if n else '{0}\n};\n'), first


def head(family, owner, at):
    """What stands before the pointers."""
    if family == 'workload':
        return f'{{{owner.machine._numbers(at)}0x{owner.id:x},'
    texts = ''.join(f'{at[text]},' for text in (owner.name, owner.title, owner.folder, owner.alias))
    return f'{{{texts}{owner.discovery},{owner.topology._numbers(at)}0x{owner.id:x},'


def built(family, kinds, owners, pool):
    arrays = [array(kind, owners, pool.at) for kind in kinds]
    out = [text for text, _ in arrays]
    out.append(f'bool unc_{family}_built(size_t index, struct unc_{family} *out)\n{{\n'
               f'\tstatic const struct unc_{family} head[] = {{\n')
    for owner in owners:
        counts = ''.join(f'.n_{kind} = {len(getattr(owner, kind))},' for kind in kinds)
        out.append(f'{head(family, owner, pool.at)}{counts}}},\n')
    out.append(f'}};\n\tstatic const uint32_t first[][{len(kinds)}] = {{\n')
    for i in range(len(owners)):
        out.append('{' + ''.join(f'{first[i]},' for _, first in arrays) + '},\n')
    out.append(f'}};\n\n\tif (index >= {len(owners)})\n\t\treturn false;\n\t*out = head[index];\n')
    out += [f'\tout->{kind} = all_{kind} + first[index][{k}];\n' for k, kind in enumerate(kinds)]
    return ''.join(out)


def machine_texts(folder):
    """Name and lines of each simulated machine: of NAME.machine, and of each section of `variants`."""
    for path in sorted(glob.glob(f'{folder}/*/*{MACHINE}')):
        with open(path, encoding='latin-1') as file:
            yield os.path.basename(path)[:-len(MACHINE)], file.read().splitlines()
    path, name, lines = f'{folder}/variants', None, []
    if not os.path.exists(path):
        return
    with open(path, encoding='latin-1') as file:
        for line in file.read().splitlines():
            if name is None and line.startswith('machine '):
                name, lines = line[8:], ['uncore machine 2']
            elif name is not None:
                lines.append(line)
                if line == 'end':
                    yield name, lines
                    name = None
            elif line and line[0] != '#':
                raise TableError(f'{path}: "{line}" is in no machine')
    if name is not None:
        raise TableError(f'{path}: machine {name} has no line "end"')


def machines(folders):
    """One text with all of them, behind their names, and where each is: no pointers."""
    out, rows, at = [], [], 0
    for name, lines in (text for folder in folders for text in machine_texts(folder)):
        kept = [line for line in lines if line[:1] != '#']
        size = sum(len(line) + 1 for line in kept)
        out.append(f'"{literal(name)}\\0"\n' + ''.join(f'"{literal(line)}\\n"\n' for line in kept))
        rows.append(f'{{{at},{at + len(name) + 1},{size}}},\n')
        at += len(name) + 1 + size
    return ('static const char machines[] =\n' + (''.join(out) or '""\n') + ';\n'
            'const char *unc_machine_text(size_t index, const char **name, size_t *size)\n{\n'
            '\tstatic const struct {\n\t\tuint32_t name, text, size;\n\t} machine[] = {\n'
            + ''.join(rows) + f'{{0}}}};\n\tconst size_t n = {len(rows)};\n\n\tif (index >= n)\n'
            '\t\treturn NULL;\n\t*name = machines + machine[index].name;\n\t*size = machine[index].size;\n'
            '\treturn machines + machine[index].text;\n}\n')


def compiled(family, tables, pool):
    """The C of all tables, or all workloads."""
    kinds, top = (TABLE, 'topology') if family == 'table' else (WORKLOAD, 'machine')
    return ('/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by scripts/tables from eventtables/; do not edit. */\n'
            '#include <stddef.h>\n\n#include "tables/table.h"\n#pragma GCC diagnostic ignored "-Wmissing-braces"\n'
            + assertions([*kinds, top]) + strings(pool) + built(family, kinds, tables, pool)
            + f'\tout->strings = strings;\n\tout->n_strings = {pool.size};\n\treturn true;\n}}\n')
