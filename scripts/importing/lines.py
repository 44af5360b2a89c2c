# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a table: what those there are encode, and new ones."""
import collections
import os
import re

from .tables import Event, EventFile, Line, TableError, counter_list, counter_text
from .words import describe_event, describe_umask

CLOCK = re.compile(r'(.*_)?([DHU]?CLOCKTICKS|[DU]CLK)(_.*)?', re.I)


class Encoded:
    """What lines of a table make of a name, for one CPU."""

    def __init__(self, unit_type, event, umasks, use_sets):
        self.type, self.ctl, self.filters = unit_type, 0, {}
        self.counter = next((line.columns['counter'] for line in umasks + [event] if 'counter' in line.columns), None)
        self.counters = counter_list(event.columns['counters'], event.name) if 'counters' in event.columns else ()
        self.unavailable = any('unavailable' in u.columns for u in umasks)
        self.partial = bool(umasks) and all('partial' in u.flags for u in umasks)
        settings = [(unit_type.code, event.columns.get('code'))]
        settings += [(unit_type.umask, u.value) for u in umasks] + list(use_sets.items())
        for line in [event] + umasks:
            settings += line.sets.items()
            settings += [item.split(':', 1) for item in line.list_of('default')]
        for name, text in settings:
            if name and text is not None:
                self.deposit(name, text)

    def deposit(self, name, text):
        field = self.type.field(name)
        if not field or not field.pieces:
            raise TableError(f'{self.type.name}: no field {name} in units.tbl')
        value = field.values.get(text.lower())
        value = int(text, 0) if value is None else value
        for reg, high, low in field.pieces:
            mask = ((2 << high - low) - 1) << low
            if reg == 'CTL':
                self.ctl |= value << low & mask
            else:
                held = self.filters.get(reg, self.type.regs[reg][1])
                self.filters[reg] = held & ~mask | value << low & mask
            value >>= high - low + 1

    def agrees(self, row):
        if self.unavailable or row.counter:
            return self.unavailable or self.counter == row.counter
        filters = all(self.filters.get(reg, self.type.regs[reg][1]) == value for reg, value in row.filters.items())
        return self.ctl == row.ctl and self.counters == row.counters and not self.counter and filters


def new_umask(row, name, exact):
    umask = Line('umask', name)
    if row.type.umask and row.umask and not row.counter:
        umask.value = f'0x{row.umask:02X}'
    fill(umask, row)
    if row.unavailable:
        umask.columns['unavailable'] = row.unavailable
    if exact and not row.counter:
        umask.flags.append('exact')
    if not (umask.value or umask.sets or umask.columns.get('counter')) and row.type.umask:
        umask.value = '0x00'
    return umask


def fill(line, row):
    """The columns that event and umask have in common."""
    line.sets.update((name, f'0x{value:X}') for name, value in row.sets.items())
    if row.counter:
        line.columns['counter'] = row.counter
    if row.needs:
        line.columns['needs'] = ','.join(row.needs)
    if row.uses:
        line.columns['uses'] = ','.join(row.uses)
    if row.defaults:
        line.columns['default'] = ','.join(f'{name}:0x{value:X}' for name, value in row.defaults.items())


def extended(row):
    """Whether it has more than the umask that no other one of the event may have."""
    return bool(set(row.sets) - {row.select})


def are_numbers(rows):
    """Bits of umask values that are numbers: one of them is 0, or has a bit which is no umask by itself."""
    values = {row.umask for row in rows if row.umask_name and not extended(row)}
    if len(values) > 4 and values == set(range(min(values), max(values) + 1)) or len(values) > 1 and 0 in values:
        return ~0
    singles = {row.umask for row in rows if bin(row.umask).count('1') == 1 and not extended(row)}
    mixed = 0
    for row in rows:
        if not extended(row) and any(1 << i not in singles for i in range(16) if row.umask >> i & 1):
            mixed |= row.umask
    return mixed


def is_exact(row, mixed):
    return extended(row) or bin(row.umask).count('1') != 1 or bool(row.umask & mixed)


class Words:
    """Descriptions, and what no file tells (max, aggregate, clock), of the same event in other folders."""

    def __init__(self, folders):
        self.files = collections.defaultdict(list)
        for folder in folders:
            names = sorted(name for name in os.listdir(folder) if name.endswith('.events'))
            for name in names:
                self.files[name[:-len('.events')]].append(EventFile(os.path.join(folder, name)))
            if not names:
                raise TableError(f'--words {folder}: no TYPE.events there')

    def find(self, unit_type, event, umask=None):
        for type_name in [unit_type] + sorted(set(self.files) - {unit_type}):
            for file in self.files.get(type_name, ()):
                for known in file.events:
                    if known.called(event) and umask is None:
                        return known
                    for line in known.umasks if known.called(event) else ():
                        if line.called(umask):
                            return line
        return None

    def describe(self, unit_type, line, event=None):
        name = (event or line).name
        known = self.find(unit_type.name, name, line.name if event else None)
        if known:
            line.words = known.words
            for key in ('max', 'aggregate'):
                if key in known.columns and not event:
                    line.columns[key] = known.columns[key]
            if line.columns.get('max', '1') != '1':
                line.flags.append('estimate')  # what a document tells of another CPU
        else:
            line.words = describe_umask(line.name, event.name) if event else describe_event(line.name)


def common_kind(event, unit_type):
    """What follows from an event's name."""
    if CLOCK.fullmatch(event.name):
        if unit_type.max > 1 and 'code' in event.columns:
            event.columns['max'] = '1'
        event.columns['aggregate'] = 'max'
    elif 'OCCUPANCY' in event.name.upper() and 'code' in event.columns and unit_type.max < 255:
        event.columns.setdefault('max', '255')


def header(row, bare):
    """An event as one of its entries makes it; `bare`: it has no umasks, and says all by itself."""
    event = Event('event', row.event)
    event.select = row.select
    if not row.counter:
        event.columns['code'] = f'0x{row.code:02X}'
        event.columns['counters'] = counter_text(row.counters)
    if bare:
        if row.umask and row.type.umask:
            event.sets[row.type.umask] = f'0x{row.umask:02X}'
        fill(event, row)
    return event


class Group:
    """All entries of an event of one CPU."""

    def __init__(self, rows, report):
        self.rows, self.report = rows, report
        bare = [row for row in rows if not row.umask_name]
        self.bare = bare[0] if bare else None
        self.dotted = [row for row in rows if row.umask_name]

    def agree(self):
        """One code and one set of counters; drops what cannot be said in one event."""
        first = self.rows[0]
        for row in [r for r in self.rows if (r.code, r.counter is None) != (first.code, first.counter is None)]:
            self.report.note('umasks of one event with different codes, left out', row.public, True)
            self.rows.remove(row)
        self.drop_alike()
        if not self.rows:
            return
        sets = {row.counters for row in self.rows}
        if len(sets) > 1 and first.counter is None:
            shared = set.intersection(*map(set, sets))
            self.report.note('umasks of one event with different counters, the counters of all are taken'
                             if shared else 'umasks of one event that have no counter in common, left out',
                             first.type.name + '.' + first.event, not shared)
            for row in self.rows:
                row.counters = tuple(sorted(shared))
            if not shared:
                self.rows.clear()

    def drop_alike(self):
        """Several names for the umask 0: what tells them apart is in registers that the file does not name."""
        alike = [row for row in self.rows if row.umask_name and not row.counter and not row.umask
                 and not extended(row) and not row.defaults]
        for row in alike if len(alike) > 1 else ():
            self.report.note('the file does not say what tells this umask from others, left out', row.public, True)
            self.rows.remove(row)

    def event(self, mixed):
        """The event and its umasks; None if nothing is left."""
        self.agree()
        dotted = [row for row in self.dotted if row in self.rows]
        if not self.rows:
            return None
        event = header(self.bare if self.bare and not dotted else self.rows[0], not dotted)
        uses = {','.join(row.uses) for row in self.rows if not row.filters}
        if len(uses) == 1 and uses != {''}:  # also of those that set a filter: it is added to
            event.columns['uses'] = uses.pop()
        for row in dotted:
            event.umasks.append(new_umask(row, row.umask_name, is_exact(row, mixed)))
        if self.bare and dotted:
            self.add_default(event, mixed)
        hoist(event)
        return event

    def add_default(self, event, mixed):
        umask = new_umask(self.bare, 'ALL', is_exact(self.bare, mixed))
        same = next((u for u in event.umasks if (u.value, u.sets, u.columns) ==
                     (umask.value, umask.sets, umask.columns)), None)
        if not same:
            umask.name = next(name for name in ('ALL', 'ANY', 'DEFAULT') if not any(u.called(name) for u in event.umasks))
            event.umasks.append(umask)
        (same or umask).flags.append('default')


def hoist(event):
    """What all umasks say alike is said once, by the event."""
    if not event.umasks:
        return
    first = event.umasks[0]
    for column in ('needs', 'uses'):
        values = {u.columns.get(column) for u in event.umasks}
        if len(values) == 1 and first.columns.get(column):
            event.columns[column] = first.columns[column]
        if column in event.columns:
            for umask in event.umasks:
                if umask.columns.get(column) == event.columns[column]:
                    del umask.columns[column]
    if event.select and all(event.select in u.sets for u in event.umasks):
        event.sets[event.select] = first.sets[event.select]
        for umask in event.umasks:
            del umask.sets[event.select]
            if not umask.value and not umask.sets:
                umask.value = '0x00'
