# SPDX-License-Identifier: BSD-3-Clause
"""A first units.tbl for a CPU, begun as a copy of a related CPU's: what public files have events of."""
import os
import re

from .public import load_entries
from .tables import TableError, statements

HEAD = """\
# SPDX-License-Identifier: BSD-3-Clause
# Begun as a copy of {cpu}'s: no place, device id, number of units and width here is known to be right of this CPU.
"""
REFERS = ('of', 'partner')


def plain(raw):
    """A line without its cpu=, and without what a kernel's driver really carries: that is traced, CPU by CPU."""
    return [re.sub(r' (cpu|kernel)=[^ ]+', '', text) for text in raw]


def blocks(path, cpu):
    """What stands before the first type, and each type that the CPU has: (statement, its lines)."""
    head, types, skipped, at_type = [], [], False, False
    for line in statements(path):
        words = line.plain()
        if words[:1] in (['type'], ['view']):
            skipped, at_type = not line.is_for(cpu), True
            if not skipped:
                types.append((line, plain(line.raw)))
        elif words and words[0].startswith('kernel'):
            continue
        elif words and line.is_for(cpu) and not skipped:
            (types[-1][1] if at_type else head).extend(plain(line.raw))
    return head, types


def write_first(folder, related, files, report):
    """Makes FOLDER/units.tbl of that of `related`, a folder of eventtables."""
    cpu, path = os.path.basename(os.path.realpath(related)), os.path.join(folder, 'units.tbl')
    if os.path.exists(path):
        raise TableError(f'{path} is there already: --units makes a first one')
    head, types = blocks(os.path.join(related, 'units.tbl'), cpu)
    names = {entry['EventName'].lower() for paths in files.values() for file in paths for entry in load_entries(file)}
    prefixes = sorted((p.lower() for line, _ in types for p in line.get('public', '').split(',') if p), key=len, reverse=True)
    used = {next((p for p in prefixes if name.startswith(p)), None) for name in names}
    wanted = {line.plain()[1] for line, _ in types if used & set(line.get('public', '').lower().split(','))}
    lines = {line.plain()[1]: line for line, _ in types}
    for name in [*wanted]:
        wanted |= {lines[name].get(key) for key in REFERS} & set(lines)
    for line, _ in types:
        if line.plain()[1] not in wanted:
            report.note(f'types of {cpu} of which no file has events, left out of units.tbl', line.plain()[1])
    text = [line for line, rows in types if line.plain()[1] in wanted for line in ['', *rows]]
    os.makedirs(folder, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEAD.format(cpu=cpu) + '\n' + '\n'.join(head + text) + '\n')
