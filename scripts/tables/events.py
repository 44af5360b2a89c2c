# SPDX-License-Identifier: BSD-3-Clause
"""TYPE.events, and the index of what is found by its name."""
import re

from .lines import TableError, listed, number, pair
from .rows import (CLASSES, DEFAULT, EVERY, NONE, UMASK_GUIDE, Range, field_bits, ones, pieces)

MAX_EVENT_NAME = 63
NAME = re.compile('[a-zA-Z0-9_.]*')
INVERT, THRESHOLD = 12, 13  # UNC_IS_*
LOWER, ODD = 0x2020202020202020, 0x9e3779b97f4a7c15


def check_name(what, name):
    if len(name) > MAX_EVENT_NAME or not NAME.fullmatch(name):
        raise TableError(f"'{name}' is no name of {what}: letters, digits, _ and ., up to {MAX_EVENT_NAME}")


class Events:
    def begin_events(self, row, index):
        row.events.first = len(self.t.event)
        self.type, self.type_number = row, index
        self.does_at, self.names, self.event = {}, {}, None  # of the type

    # ---- events

    def end_event(self):
        e, t = self.w.event, self.type
        check_name('an event', e.name)
        check_name('an event', e.alias)
        self.check_unique(e.name, False)
        if e.alias:
            self.check_unique(e.alias, True)
        if 'lane' in self.given:
            self.find_lane(e)
        self.set_code(e)
        self.take_settings(e.fields.sets)
        if 'max' not in self.given:
            e.max_inc = t.max_inc
            if e.max_inc > 1:
                e.estimate = 1
        self.share_sets(e.fields.sets)
        e.type, e.umasks.first = self.type_number, len(self.t.umask)
        self.names.setdefault(e.name.lower(), 'name')
        self.names[e.name.lower()] = 'name'
        if e.alias:
            self.names.setdefault(e.alias.lower(), 'alias')
        self.event = e
        self.t.event.append(e)

    def check_unique(self, name, is_alias):
        """Two events may share an alias, which their umasks tell apart, but no name."""
        if self.names.get(name.lower()) in (('name',) if is_alias else ('name', 'alias')):
            raise TableError(f'event {name} is described twice')

    def find_lane(self, e):
        text, named = self.text('lane'), pair(self.text('lane'))
        if not named or named[1] > 0xff:
            raise TableError(f'lane={text}: want NAME:SET')
        e.set, lanes = named[1], self.type.lanes
        for i, lane in enumerate(lanes.of(self.t.lane)):
            if lane.name.lower() == named[0].lower():
                e.lane = lanes.first + i + 1
                return
        raise TableError(f'lane={text}: {self.type.name} has no such lane')

    def set_code(self, e):
        """The code is the first setting of an event."""
        text, t = self.text('code'), self.type
        if text is None:  # then a fixed counter, its own or that of each umask: end_events()
            if e.counters:
                raise TableError('counters= without code=')
            return
        if e.counter != NONE:
            raise TableError('code= and counter= exclude each other')
        code = number(text)
        if t.f_event == NONE or code is None or code > 0xffff:
            raise TableError(f'code={text} is not an event code of {t.name}')
        e.code = code
        self.need('counters')
        self.add_setting(self.t.field[t.f_event].name, text, e.fields.sets)

    def end_events(self, t):
        for e in t.events.of(self.t.event) if t.events.n else self.t.event[t.events.first:]:
            umasks = e.umasks.of(self.t.umask)
            if not e.counters and e.counter == NONE and (not umasks or any(u.counter == NONE for u in umasks)):
                raise TableError(f'{t.name}.events: event {e.name}: code= or counter= is missing')
        t.events.n = len(self.t.event) - t.events.first

    # ---- umasks

    def end_umask(self):
        u, t, e, value = self.w.umask, self.type, self.event, self.text('VALUE')
        does = self.w.does
        if not e:
            raise TableError('umask before the first event')
        for name in [u.name] + (u.alias.split(',') if u.alias else []):
            self.check_umask(e, name)
        if value is not None:
            if t.f_umask == NONE:
                raise TableError(f'{t.name} has no umask field')
            self.add_setting(self.t.field[t.f_umask].name, value, does.sets)
        self.take_settings(does.sets)
        if not does.sets.n and u.counter == NONE:
            raise TableError(f'umask {u.name} sets nothing')
        self.share_sets(does.sets)
        u.fields = self.share_fields(does)
        if e.guide:
            u.flags |= UMASK_GUIDE
        self.t.umask.append(u)
        e.umasks.n += 1

    def check_umask(self, e, name):
        if len(name) > MAX_EVENT_NAME + 1:
            raise TableError(f'umask {name} has too long a name')
        check_name('a umask', name)
        for other in e.umasks.of(self.t.umask):
            if other.name.lower() == name.lower() or other.alias and listed(other.alias, name):
                raise TableError(f'umask {name} is described twice')

    def share_fields(self, does):
        """The row of what the umask does with fields: one of its type does the same, or a new one."""
        key = tuple((r.first, r.n) for r in (does.sets, does.needs, does.uses, does.defaults))
        if key not in self.does_at:
            self.does_at[key] = len(self.t.fields)
            self.t.fields.append(does)
        return self.does_at[key]

    # ---- files that others use

    def end_use(self):
        self.use = self.text('FILE')

    def read_used(self):
        """Reads the file in place of the line, and sets fields in the events that it brings."""
        line, first = self.line, len(self.t.event)
        if self.use not in self.files:
            raise TableError(f"there is no file '{self.use}' to use")
        if self.using:
            raise TableError(f"a file that is used cannot use '{self.use}' itself")
        self.using = True
        self.read_file(self.use, 'TYPE.events')
        self.using, self.line = False, line
        for w in line:
            if not w.used and w.key is not None:
                w.used = True
                for e in self.t.event[first:]:
                    self.set_in(e, w.key, w.value)

    def set_in(self, e, field, value):
        old = e.fields.sets.of(self.t.set)
        sets = Range(len(self.t.set), len(old))
        self.t.set += [CLASSES['set'](field=s.field, given=s.given, value=s.value) for s in old]
        self.add_setting(field, value, sets)
        self.share_sets(sets)
        e.fields.sets = sets

    # ---- when all events have been read

    def index(self):
        """What is found by its name, unc_find_named(), and fields of which each event has to know."""
        names = []
        for i, t in enumerate(self.t.type):
            names.append((0, t.name, i))
            names += [(t.fields.first, self.t.field[at].name, at) for at in range(t.fields.first, t.fields.first + t.fields.n)]
            for at in range(t.events.first, t.events.first + t.events.n):
                e = self.t.event[at]
                names += [(t.events.first, name, at) for name in names_of(e)]
                names += [(e.umasks.first, name, k) for k in range(e.umasks.first, e.umasks.first + e.umasks.n)
                          for name in names_of(self.t.umask[k])]
        slots = [0] * (len(names) + len(names) // 3 + 1)
        for first, name, row in names:
            at = slot_of(len(slots), first, name)
            while slots[at]:
                at = (at + 1) % len(slots)
            slots[at] = row + 1
        self.t.slot = [CLASSES['slot'](row=row) for row in slots]
        for t in self.t.type:
            self.list_fields(t.fields, self.is_settled, t.settled)
            t.checked_bits = self.list_fields(t.fields, self.is_checked, t.checked)

    def list_fields(self, fields, belongs, into):
        """Of each field that belongs there a row; the bits that they have in CTL, all if one is elsewhere."""
        found = 0
        for at in range(fields.first, fields.first + fields.n):
            f = self.t.field[at]
            if belongs(f):
                into.extend(self.t.set)
                self.t.set.append(CLASSES['set'](field=at))
                in_ctl = f.reg[0] == NONE and (not f.width[1] or f.reg[1] == NONE)
                found |= field_bits(f) if in_ctl else ones(64)
        return found

    def is_settled(self, f):
        """A register that qualifies every event which takes its fields has to be settled by each."""
        every = any(at != NONE and self.t.reg[at].flags & EVERY for at, _, _ in pieces(f))
        return every or f.flags & DEFAULT or f.like != NONE

    def is_checked(self, f):
        return f.needs != NONE or f.mask != NONE or f.max_inc or f.role in (INVERT, THRESHOLD)


def names_of(row):
    return [row.name] + (row.alias.split(',') if row.alias else [])


def slot_of(n, first, name, known={}):
    """unc_slot_of()"""
    letters = known.get(name)
    if letters is None:
        text = name.encode('latin-1')
        whole = len(text) // 8 * 8
        letters = known[name] = [int.from_bytes(text[i:i + 8], 'little') | LOWER for i in range(0, whole, 8)] + \
            [int.from_bytes(text[whole:], 'little') | LOWER]
    value = first
    for part in letters[:-1]:
        value = (value ^ part) * ODD & 0xffffffffffffffff
        value ^= value >> 32
    value = (value ^ letters[-1]) * ODD & 0xffffffffffffffff
    return (value >> 32) * n >> 32
