# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks folders of event tables, and compiles them: python3 scripts/tables DIR.. -o FOLDER writes
table_data.c, the tables for the library, and sim_data.c, the workloads and machines for the simulator, into a folder. Without -o it
prints what there is."""
import argparse
import os
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from tables import emit, grammar, reader  # noqa: E402
from tables.lines import TableError  # noqa: E402


def write(folder, texts):
    """All of them, or none."""
    paths = [os.path.join(folder, name) for name in texts]
    for path, text in zip(paths, texts.values()):
        if os.path.isdir(path):
            raise TableError(f'{path}: is a directory')
        with open(path + '.new', 'w', encoding='latin-1') as file:
            file.write(text)
    for path in paths:
        os.replace(path + '.new', path)


def main():
    parser = argparse.ArgumentParser(prog='tables', description=__doc__)
    parser.add_argument('folders', nargs='*', metavar='DIR', help='with cpus.tbl, and a folder for each CPU')
    parser.add_argument('-o', '--output', metavar='FOLDER', help='where the C goes')
    parser.add_argument('--grammar', action='store_true', help='the grammar of the tables, as eventtables/README.md has it')
    args = parser.parse_args()
    if args.grammar:
        print('\n'.join(grammar.as_text()))
        return 0
    if not args.folders:
        parser.error('which folder?')
    try:
        tables, (pool, work_pool) = reader.read_folders(args.folders)
        if args.output:
            write(args.output, {'table_data.c': emit.compiled('table', tables, pool),
                                'sim_data.c': emit.compiled('workload', tables, work_pool) + emit.machines(args.folders)})
    except (TableError, OSError) as error:
        print(f'tables: {error}', file=sys.stderr)
        return 1
    for t in tables if not args.output else ():
        print(f'{t.name}: {len(t.type)} types, {len(t.event)} events, {len(t.umask)} umasks, {len(t.metric)} metrics, '
              f'{len(t.load)} rates')
    return 0


if __name__ == '__main__':
    sys.exit(main())
