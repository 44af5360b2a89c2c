# SPDX-License-Identifier: BSD-3-Clause
"""Puts what the public files say into TYPE.events."""
import collections

from .lines import CLOCK, Encoded, Group, are_numbers, common_kind
from .tables import Event, counter_list, counter_text

# Of entries of which tests/perfmon/CPU.txt holds a reviewed difference.
REVIEWED_OUT = 'left out, as it was reviewed'
REVIEWED_KEPT = 'left as the table has it, as it was reviewed'


def merge(unit_types, rows, file, context):
    """unit_types: of each CPU; rows: entries of this type by CPU; context: words, reviewed, report, folder_cpus."""
    Merge(unit_types, rows, file, context).run()


class Merge:
    def __init__(self, unit_types, rows, file, context):
        self.types, self.rows, self.file, self.context = unit_types, rows, file, context
        self.cpus, self.report = list(unit_types), context.report
        self.said = collections.defaultdict(list)  # id of a line -> CPUs for which it says what a file says
        self.left = collections.defaultdict(list)  # and those for which it says something else, but stays
        codes = [code_of(event) for event in file.events]
        self.by_code = len(codes) > 1 and codes == sorted(codes)

    def run(self):
        self.change_headers()
        open_rows = self.settle()
        names = collections.OrderedDict((row.event.lower(), row.event) for rows in open_rows.values() for row in rows)
        for key in sorted(names):
            self.take_event(key, open_rows)
        self.restrict()
        self.mark_clock()

    # ---- what is there

    def found(self, row, cpu):
        """(event, umasks) that the table has for a row; umasks None: the event has no such."""
        name = row.event + ('.' + row.umask_name if row.umask_name else '')
        found = self.file.find(name, cpu)
        if not found:
            return None
        event, umasks, sets, file = found
        if umasks == [] and any(u.is_for(cpu) for u in event.umasks):
            umasks = None
        return event, umasks, sets, file is self.file

    def is_reviewed(self, row, cpu):
        return (row.public, row.theirs()) in self.context.reviewed[cpu]

    def encodes(self, row, cpu, found):
        event, umasks, sets, _ = found
        return umasks is not None and Encoded(self.types[cpu], event, umasks, sets).agrees(row)

    def agrees(self, row, cpu, found):
        return self.is_reviewed(row, cpu) or self.encodes(row, cpu, found)

    def settle(self):
        """Notes what the table says already; the rest, by CPU."""
        self.said.clear()
        rest = {cpu: [] for cpu in self.cpus}
        for cpu in self.cpus:
            for row in self.rows[cpu]:
                found = self.found(row, cpu)
                if found and self.agrees(row, cpu, found):
                    for line in [found[0]] + (found[1] or []):
                        self.said[id(line)].append(cpu)
                    if self.is_reviewed(row, cpu) and not self.encodes(row, cpu, found):
                        self.report.note(REVIEWED_KEPT, row.public, reviewed=True)
                elif self.is_reviewed(row, cpu):
                    self.report.note(REVIEWED_OUT, row.public, reviewed=True)
                elif not row.deprecated:
                    rest[cpu].append(row)
                    for note in row.notes:
                        self.report.note(note, row.public)
        return rest

    def change_headers(self):
        """An event whose code or counters are others in all entries of all CPUs."""
        entries = collections.defaultdict(list)
        for cpu in self.cpus:
            for row in self.rows[cpu]:
                found = self.found(row, cpu)
                if found and found[3] and not row.deprecated:
                    entries[id(found[0])].append((found[0], row, self.agrees(row, cpu, found)))
        for of_event in entries.values():
            event, row, _ = of_event[0]
            wanted = {(r.code, r.counters) for _, r, _ in of_event}
            if any(same for _, _, same in of_event) or len(wanted) > 1 or row.counter or 'code' not in event.columns:
                continue
            if int(event.columns['code'], 0) == row.code and \
                    counter_list(event.columns['counters'], event.name) == row.counters:
                continue
            event.columns['code'] = f'0x{row.code:02X}'
            event.columns['counters'] = counter_text(row.counters)
            event.touch()

    # ---- what is new

    def take_event(self, key, open_rows):
        built, existing = collections.OrderedDict(), {}
        all_rows = [row for cpu in self.cpus for row in self.rows[cpu] if row.event.lower() == key]
        mixed = are_numbers([row for row in all_rows if not row.deprecated])
        for cpu in self.cpus:
            rows = [row for row in self.rows[cpu] if row.event.lower() == key and not row.deprecated]
            if not any(row in open_rows[cpu] for row in rows):
                continue
            event = Group(rows, self.report).event(mixed)
            found = next((f for f in (self.found(row, cpu) for row in rows) if f), None)
            if event and found:
                existing[cpu] = found
                self.change(cpu, event, found, [row for row in rows if row in open_rows[cpu]])
            elif event:
                built[cpu] = event
        for event in self.joined(built):
            self.insert(event)

    def leave(self, cpu, event, why, name):
        """The table says something else that these lines cannot be made of: they stay."""
        self.report.note(why + ': left as it is', name, True)
        for line in [event] + event.umasks:
            if line.is_for(cpu):
                self.left[id(line)].append(cpu)

    def change(self, cpu, new, found, rows):
        """An event that the table has: its umasks that are missing, or say something else."""
        old, _, _, own = found
        if not own:
            self.leave(cpu, old, 'used from a file that several types share, and not as the public file says', rows[0].public)
            return
        same_counters = 'counters' not in new.columns or 'counters' in old.columns and \
            counter_list(old.columns['counters'], old.name) == counter_list(new.columns['counters'], new.name)
        if new.columns.get('code') and int(old.columns.get('code', '-1'), 0) != int(new.columns['code'], 0) or not same_counters:
            self.leave(cpu, old, 'the table has another code or other counters for some umasks of the event',
                       f'{self.types[cpu].name}.{old.name}')
            return
        for row in rows:
            self.change_row(cpu, old, new, row)

    def change_row(self, cpu, old, new, row):
        found = self.found(row, cpu)
        if found and self.agrees(row, cpu, found):  # now that all umasks of the event have the same counters
            self.said[id(old)].append(cpu)
            for line in found[1]:
                self.said[id(line)].append(cpu)
            return
        umasks = found[1] if found and found[0] is old else None
        if row.umask_name:
            wanted = new.umask(row.umask_name, cpu)
        else:
            wanted = next((u for u in new.umasks if 'default' in u.flags), None)
        if not wanted and (old.umasks or not new.umasks and not umasks == []):
            self.leave(cpu, old, 'the table has umasks where the file has none', row.public)
        elif not wanted:
            self.replace(old, new, cpu)
        elif umasks and len(umasks) == 1:
            self.replace(umasks[0], wanted, cpu, old)
        elif umasks is None:
            self.context.words.describe(self.types[cpu], wanted, old)
            self.add(old, wanted, cpu)
        else:
            self.leave(cpu, old, 'two umasks of the table together say something else', row.public)

    def replace(self, line, wanted, cpu, event=None):
        """The columns of `wanted` that encode; words and the rest stay. Beside it where other CPUs keep the old one."""
        if self.said[id(line)] and event:
            wanted.words = line.words
            self.add(event, wanted, cpu)
            return
        line.value = wanted.value
        line.sets = dict(wanted.sets)
        for column in ('default', 'counter', 'needs'):
            line.columns.pop(column, None)
            if column in wanted.columns:
                line.columns[column] = wanted.columns[column]
        line.touch()
        self.said[id(line)].append(cpu)

    def add(self, event, umask, cpu):
        """A new line, of this CPU; of several if they want the same."""
        umask.columns.pop('cpu', None)
        same = next((u for u in event.umasks if u.raw is None and u.text('') == umask.text('')), None) or \
            self.of_others(event, umask, cpu)
        if not same:
            at = next((i for i, u in enumerate(event.umasks) if order(u) > order(umask)), len(event.umasks))
            event.umasks.insert(at, umask)
        self.said[id(same or umask)].append(cpu)
        if cpu not in self.said[id(event)]:
            self.said[id(event)].append(cpu)

    def of_others(self, event, umask, cpu):
        """A line of other CPUs of the folder that says the same: it is of this one, too."""
        for line in event.umasks:
            columns = {name: value for name, value in line.columns.items() if name != 'cpu'}
            if line.name.lower() == umask.name.lower() and not line.columns.get('cpu', '!').startswith('!') and \
                    (int(line.value or '0', 0), line.sets, columns) == (int(umask.value or '0', 0), umask.sets, umask.columns):
                line.columns['cpu'] += ',' + cpu
                if set(self.context.folder_cpus) <= set(line.columns['cpu'].split(',')):
                    del line.columns['cpu']
                line.touch()
                return line
        return None

    def joined(self, built):
        """One event for the CPUs that agree on it."""
        groups = collections.OrderedDict()
        for cpu, event in built.items():
            groups.setdefault(tuple(event.text('')), []).append(cpu)
        for cpus in groups.values():
            event = Event('event', built[cpus[0]].name)
            first = built[cpus[0]]
            event.sets, event.columns, event.flags = first.sets, first.columns, first.flags
            self.context.words.describe(self.types[cpus[0]], event)
            common_kind(event, self.types[cpus[0]])
            for cpu in cpus:
                for umask in built[cpu].umasks:
                    self.context.words.describe(self.types[cpu], umask, event)
                    self.add(event, umask, cpu)
                self.said[id(event)] += [] if cpu in self.said[id(event)] else [cpu]
            event.umasks.sort(key=order)
            self.join_spellings(event)
            yield event

    def join_spellings(self, event):
        """Umasks that differ in nothing but their names are one, with an alias."""
        kept = []
        for umask in event.umasks:
            same = next((u for u in kept if 'alias' not in u.columns and self.said[id(u)] == self.said[id(umask)] and
                         (u.value, u.sets, u.columns) == (umask.value, umask.sets, umask.columns)), None)
            if same:
                same.columns['alias'] = umask.name
                same.flags += [flag for flag in umask.flags if flag not in same.flags]
            else:
                kept.append(umask)
        event.umasks = kept

    def insert(self, event):
        """By code where the file is sorted so, else by name."""
        events = self.file.events
        key = code_of if self.by_code else (lambda e: e.name.lower())
        at = next((i for i, e in enumerate(events) if key(e) > key(event)), len(events))
        if at == 0 and events:
            event.before, events[0].before = events[0].before, []
        events.insert(at, event)
        for use in self.file.uses:
            use[3] += use[3] >= at

    # ---- CPUs of a shared folder

    def restrict(self):
        for event in self.file.events:
            self.restrict_line(event, self.context.folder_cpus)
            within = [cpu for cpu in self.context.folder_cpus if event.is_for(cpu)]
            for umask in event.umasks:
                self.restrict_line(umask, within)

    def restrict_line(self, line, within):
        """`cpu=` if not all CPUs that have files have it; what no file has stays."""
        said = self.said.get(id(line))
        now = [cpu for cpu in within if line.is_for(cpu)]
        missing = [cpu for cpu in now if cpu in self.cpus and cpu not in (said or []) + self.left[id(line)]]
        if not said:
            self.context.unknown += 1
        elif missing:
            line.columns['cpu'] = ','.join(cpu for cpu in now if cpu not in missing)
            line.touch()

    def mark_clock(self):
        """One clock of the type tells whether a unit runs."""
        own = self.file.events
        if any('clock' in event.flags for event in own):
            return
        clocks = [e for e in own if e.raw is None and CLOCK.fullmatch(e.name) and not e.umasks]
        clocks.sort(key=lambda e: (e.name.upper() != 'CLOCKTICKS', 'counter' in e.columns))
        if clocks:
            clocks[0].flags.append('clock')


def code_of(event):
    return int(event.columns.get('code', '0x10000'), 0)


def order(umask):
    """As umasks stand in a file: by value, extension and name, its numbers as numbers."""
    value = int(umask.value, 0) if umask.value else -1
    name = ''.join(part.zfill(4) if part.isdigit() else part.lower() for part in split_digits(umask.name))
    return value, [int(v, 0) if v[:1].isdigit() else 0 for v in umask.sets.values()], name


def split_digits(name):
    parts = ['']
    for letter in name:
        if parts[-1] and parts[-1][-1].isdigit() != letter.isdigit():
            parts.append('')
        parts[-1] += letter
    return parts
