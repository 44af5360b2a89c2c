# SPDX-License-Identifier: BSD-3-Clause
"""Entries of the public files, in the words of a table."""
import json
import re

from .tables import TableError, counter_list


def bits(entry, key):
    text = entry.get(key) or '0'
    try:
        return int(text, 16)
    except (ValueError, TypeError):
        raise TableError(f"{entry['EventName']}: {key} '{text}' is not a hexadecimal number")


def load_entries(path):
    try:
        with open(path, encoding='utf-8-sig') as file:
            data = json.load(file)
    except OSError as error:
        raise TableError(f'{path}: {error.strerror}')
    except ValueError as error:
        raise TableError(f'{path}: no JSON: {error}')
    events = data.get('Events') if isinstance(data, dict) else None
    if not isinstance(events, list) or not events:
        raise TableError(f"{path}: no list 'Events' as in Intel's public event files")
    for i, entry in enumerate(events):
        if not isinstance(entry, dict) or not entry.get('EventName'):
            raise TableError(f'{path}: entry {i} has no EventName')
        for key in ('EventCode', 'UMask', 'Counter', 'Unit'):
            if not isinstance(entry.get(key), str):
                raise TableError(f"{path}: {entry['EventName']} has no {key}")
    return events


class Row:
    """An entry in our words: what an event and a umask must say."""

    def __init__(self, unit_type, entry, name):
        self.type, self.public = unit_type, entry['EventName']
        self.event, _, umask = name.partition('.')
        self.umask_name = umask or None
        self.counters, self.counter, self.code, self.umask = (), None, None, 0
        self.sets, self.defaults, self.needs, self.uses = {}, {}, [], []
        self.filters, self.unavailable, self.error = {}, None, None
        self.deprecated = str(entry.get('Deprecated', '0')) not in ('0', '')
        self.notes = []  # for the report, if a line is made of it
        self.ctl, self.select = 0, None  # select: the field of ExtSel
        if not self.take_counter(entry):
            self.take_control(entry)
            self.take_filter(entry)

    def take_counter(self, entry):
        """A fixed or free-running counter."""
        kind, text = entry.get('CounterType', ''), entry['Counter']
        if kind == 'FIXED' or text == 'FIXED':
            names, at = self.type.counter_names(True), 0
        elif kind == 'FREERUN':
            names, at = self.type.counter_names(False), counter_list(text, self.public)[0]
        else:
            self.counters = counter_list(text, self.public)
            return False
        if at >= len(names) or (kind != 'FREERUN' and len(names) > 1):
            self.error = f'{self.type.name} has no such {"free-running" if kind == "FREERUN" else "fixed"} counter in units.tbl'
        else:
            self.counter = names[at]
        return True

    def place(self, field, value, what):
        """A value at the bits of a field of CTL."""
        if not value:
            return 0
        if not field or value << field.low() & ~field.mask('CTL'):
            self.error = f'{what} 0x{value:X} does not fit {self.type.name}' + (f'.{field.name}' if field else '')
            return 0
        return value << field.low()

    def take_control(self, entry):
        t = self.type
        code, umask = t.field(t.code or ''), t.field(t.umask or '')
        if not code:
            self.error = f'{t.name} has no programmable counters'
            return
        if max(self.counters) >= t.n_counters:
            self.error = f"counters {entry['Counter']} are more than {t.name} has"
        self.code, self.umask = bits(entry, 'EventCode'), bits(entry, 'UMask') if umask else 0
        control = self.place(code, self.code, 'code') | self.place(umask, self.umask, 'umask')
        ext = bits(entry, 'UMaskExt') << 32
        other = ext | bits(entry, 'ExtSel') << 21 | (0 if umask else bits(entry, 'UMask') << 8)
        for key, name in (('PortMask', 'ch_mask'), ('FCMask', 'fc_mask')):
            field = t.field(name)
            placed = self.place(field, bits(entry, key), key)
            if placed and ext & field.mask('CTL') not in (0, placed):
                self.notes.append(f'{key} and UMaskExt differ, the bits of both are taken')
            other |= placed
        self.ctl = control | other
        self.spread(other, (code, umask))
        if bits(entry, 'ExtSel'):
            self.select = next((f.name for f in t.fields.values() if f.mask('CTL') == 1 << 21), None)

    def spread(self, rest, taken):
        """Control bits that are neither code nor umask: into the fields that hold most of them."""
        fields = [f for f in self.type.fields.values() if f.only_in('CTL') and not f.user and f not in taken]
        while rest:
            best = max(fields, key=lambda f: (bin(rest & f.mask('CTL')).count('1'), f.mask('CTL')), default=None)
            if not best or not rest & best.mask('CTL'):
                self.error = f'bits 0x{rest:X} of the control have no field in {self.type.name}'
                return
            value = (rest & best.mask('CTL')) >> best.low()
            if best.name in ('ch_mask', 'fc_mask'):
                self.defaults[best.name] = value
            else:
                self.sets[best.name] = value
            rest &= ~best.mask('CTL')
        if self.defaults:
            self.uses += [n for n in ('ch_mask', 'fc_mask') if self.type.field(n)]
            self.defaults = {name: self.defaults[name] for name in self.uses if name in self.defaults}

    def take_filter(self, entry):
        text = entry.get('Filter') or ''
        if text in ('na', 'null', '') or 'chnl' in text or text.startswith('CtrCtrl'):
            return
        value, named = bits(entry, 'FILTER_VALUE'), []
        for name, _, high, low in re.findall(r'([A-Za-z_]*[A-Za-z]\d*)(\[(\d+):(\d+)\])?', text):
            reg = find_register(self.type, name)
            if not reg:
                self.unavailable = f'its filter, {text}, is no register that is known'
                self.notes.append(f'filter {text} is no register of {self.type.name}: unavailable')
                return
            if value:
                self.set_filter(reg, value)
            else:
                named.append((reg, (2 << int(high)) - (1 << int(low)) if high else ~0))
        self.name_fields(named, text)

    def name_fields(self, named, text):
        """Fields that the user must give, if each of the bits named are one; else he may."""
        fields = [f for f in self.type.fields.values() if not f.user]
        within = [f.name for f in fields for reg, mask in named if f.mask(reg) and not f.mask(reg) & ~mask]
        exact = [next((f.name for f in fields if f.mask(reg) == mask), None) for reg, mask in named]
        if named and not within:
            exact = [next((f.name for f in fields if f.mask(reg) & mask), None) for reg, mask in named]
            self.notes.append(f'filter {text} is not quite a field of {self.type.name}: '
                        + (f'needs={",".join(exact)}' if None not in exact else 'unavailable'))
            if None in exact:
                self.unavailable = f'its filter, {text}, is not known'
        if None in exact:
            self.uses = list(dict.fromkeys(self.uses + within))
        else:
            self.needs = list(dict.fromkeys(exact))

    def set_filter(self, reg, value):
        """What the register must hold: the fields in which it differs from what it holds at rest."""
        rest = self.type.regs[reg][1]
        self.filters[reg] = value
        for field in sorted(self.type.fields.values(), key=lambda f: -f.mask(reg)):
            mask = field.mask(reg)
            if len(field.pieces) == 1 and mask and (rest ^ value) & mask:
                self.sets[field.name] = (value & mask) >> field.low()
                rest = rest & ~mask | value & mask
        if rest != value:
            self.error = f'FILTER_VALUE 0x{value:X} has bits without a field in {self.type.name} {reg}'

    def theirs(self):
        """As tests/perfmon/CPU.txt writes what a file says."""
        if self.counter:
            return 'free-running'
        filters = ''.join(f' {reg}=0x{value:x}' for reg, value in self.filters.items())
        return f"ctl=0x{self.ctl | self.type.enable:x} counters={','.join(map(str, self.counters))}{filters}"


def find_register(unit_type, name):
    """CBoFilter1 -> FILTER1, HA_OpcodeMatch -> OPCODEMATCH, QPIMask0 -> PKT_MASK0."""
    plain, best = name.lower().replace('_', ''), (0, None)
    of_type = ('', unit_type.name.lower(), unit_type.title.lower())
    for reg, (role, _) in unit_type.regs.items():
        if role:
            continue
        words = reg.lower().split('_')
        for at in range(len(words)):
            ending = ''.join(words[at:])
            if plain.endswith(ending) and plain[:-len(ending)] in of_type and len(ending) > best[0]:
                best = (len(ending), reg)
    return best[1]
