# SPDX-License-Identifier: BSD-3-Clause
"""cpus.tbl, and what units.tbl says of units, their places, registers and fields."""
import re

from .grammar import WORDS_ROLE
from .lines import TableError, bits, devfn, list_of, number
from .rows import (CLASSES, DEFAULT, FROZEN, MAX_PLACES, NONE, RO, SEXT, SPACES, USER, WHERE_LISTED, Range, copy,
                   field_bits, field_max, ones, pieces)

MAX_NAME, MAX_REGS, MAX_ARRAY, MAX_COUNTERS, MAX_STACKS, NO_STACK, MAX_PRESENT = 31, 96, 32, 32, 16, 0xff, 16
OTHER, UNIT_CTL, STATUS, CTL, CTR, FIXED_CTL, FIXED_CTR, FREE = range(len(WORDS_ROLE) + 1)  # UNC_ROLE_*
ONES, NUMBER, ALL = range(3)  # UNC_TELLS_*
OWN, LIST, BYTES = range(3)  # UNC_MAP_*
IN_UNIT_CTL, IN_CTL, IN_FIXED_CTL, IN_OTHERS, MANY = 1, 2, 4, 8, 16
# Where a field of each role (`is=`, from 1) can be; MANY: more than one of a register can have it.
ROLE_PLACES = [0, IN_UNIT_CTL | IN_CTL | IN_FIXED_CTL | IN_OTHERS | MANY] + [IN_UNIT_CTL] * 6 + [IN_OTHERS] * 2 + \
    [IN_CTL | IN_FIXED_CTL, IN_CTL | MANY, IN_CTL | MANY] + [IN_CTL] * 4


def split_array(word):
    """'NAME[4]' -> NAME and 4; without brackets 0."""
    name, bracket, rest = word.partition('[')
    match = re.fullmatch(r'\s*\+?([0-9]{1,9})\]', rest)
    if 0 < len(name) <= MAX_NAME - 2 and (not bracket or match and 0 < int(match[1]) <= MAX_ARRAY):
        return name, int(match[1]) if bracket else 0
    raise TableError(f"'{word}' is not NAME or NAME[N]")


def each_name(name, count, first=0):
    return [f'{name}{first + i}' for i in range(count)] if count else [name]


class Units:
    # ---- cpus.tbl

    def cpuid(self):
        models = []
        for word in self.text('models').split(','):
            if len(word) >= 24:
                raise TableError(f"models={self.text('models')} is not a list")
            model = number(word)
            if model is None or model > 0xff:
                raise TableError(f"model '{word}' is not a number up to 0xff")
            if len(models) == 8:
                raise TableError('too many models')
            models.append(model)
        cpu = self.w.cpu
        if cpu.steppings > 0xffff:
            raise TableError('steppings= has more than 0 to 15')
        return CLASSES['cpuid'](family=cpu.family, n_models=len(models), models=(models + [0] * 8)[:8],
                                steppings=cpu.steppings, unmapped=cpu.unmapped)

    def add_cpu_line(self, cpuid):
        """A machine is of one line, whatever their order."""
        for other, at in self.cpu_lines:
            both = (cpuid.steppings or 0xffff) & (other.steppings or 0xffff)
            for model in cpuid.models[:cpuid.n_models]:
                if both and cpuid.family == other.family and model in other.models[:other.n_models]:
                    raise TableError(f'model 0x{model:02X} stepping {(both & -both).bit_length() - 1} of family {cpuid.family} '
                                     f'is that of line {at}, too')
        self.cpu_lines.append((cpuid, self.line_number))

    def end_cpu(self):
        name, cpuid = self.text('NAME'), self.cpuid()
        ours = name == self.cpu
        if ours and self.t.name:
            raise TableError(f'{name} is described twice')
        if not self.cpu_lines:
            self.first = ours
        self.add_cpu_line(cpuid)
        if ours:
            self.t.name = self.pool.add(name)
            self.t.folder = self.pool.add(self.text('folder', ''))
            self.t.alias = self.pool.add(self.text('alias', ''))
            self.t.title = self.pool.add(self.text('"TITLE"'))
            self.t.cpuid.append(cpuid)
            self.t.discovery = self.w.cpu.discovery

    def end_known(self):
        """Of no CPU with tables; the table of the first keeps them for all."""
        cpuid = self.cpuid()
        if not self.cpu_lines:
            raise TableError('known must come after the first cpu')
        self.add_cpu_line(cpuid)
        if self.first:
            self.t.known.append(CLASSES['known'](title=self.pool.add(self.text('"TITLE"')), cpuid=cpuid))

    # ---- types

    def end_type(self):
        t, partner = self.w.type, self.text('partner')
        self.end_of_type()
        t.first_ctl = t.first_ctr = t.unit_ctl = t.status = t.f_event = t.f_umask = NONE
        t.discovery = -1
        if partner:
            t.partner = self.find_type(partner) + 1
            if t.partner > NONE:
                raise TableError(f'partner={partner} is not a type above')
        t.parts = Range(len(self.t.part), 1)
        t.regs.first, t.fields.first, t.counters.first = len(self.t.reg), len(self.t.field), len(self.t.counter)
        self.add_type(t)
        self.type, self.seen_in_type, self.space = t, set(), len(SPACES)
        self.t.part.append(CLASSES['part'](space=self.space, where=Range(len(self.t.where))))

    def add_type(self, t):
        if len(t.name) > MAX_NAME:
            raise TableError(f'the name of type {t.name} is too long')
        if t.name[-1:].isdigit() and not t.pool:  # in NAME3.EVENT the digits are the number of a unit
            raise TableError(f'the name of type {t.name} ends in a digit')
        if self.find_type(t.name) != NONE:
            raise TableError(f'type {t.name} is described twice')
        self.type_line = self.line_number
        self.t.type.append(t)

    def end_view(self):
        of, w = self.text('of'), self.w.type
        pool = self.find_type(of)
        self.end_of_type()
        if pool == NONE or self.t.type[pool].pool:
            raise TableError(f'of={of} is not a type above')
        t = copy(self.t.type[pool])
        t.pool, t.name, t.title, t.public_prefix, t.desc = pool + 1, w.name, w.title, '', w.desc
        self.add_type(t)

    def end_counters(self):
        if self.type.n_counters:
            self.need('width')

    # ---- places

    def end_topology(self):
        self.t.topology = self.w.topology
        if ('map' in self.given) != ('nodeid' in self.given):
            raise TableError('nodeid= and map= go together')

    def end_bar(self):
        self.t.bar.append(self.w.bar)

    def needs_of_places(self, several):
        self.need('base')
        self.need('count')
        if several:
            self.need('step')

    def where_msr(self, w):
        texts = self.text('bases')
        if texts is None:
            self.needs_of_places(w.count > 1)
            if w.count > 1 and not w.step:
                raise TableError('step=0 puts all units at the same place')
            return [{'base': w.base + i * w.step} for i in range(w.count)]
        bases = list_of(texts, number, ones(64), MAX_PLACES + 1)
        if bases is None:
            raise TableError(f'bases={texts} is not a list of numbers')
        return [{'base': base} for base in bases]

    def where_pci(self, w):
        texts, id_texts = self.text('device'), self.text('id')
        devices = list_of(texts, devfn, 0xff, MAX_PLACES + 1)
        ids = list_of(id_texts, number, 0xffff, MAX_PLACES + 1) if id_texts is not None else [0]
        if w.optional != WHERE_LISTED:
            self.need('id')
        if devices is None:
            raise TableError(f'device={texts} is not a list of DEVICE.FUNCTION')
        if ids is None:
            raise TableError(f'id={id_texts} is not a list of device ids')
        if len(ids) not in (1, len(devices)):  # one serves all, else there is one for each
            raise TableError(f'id={id_texts} is not as long as the list of devices')
        return [{'base': w.base, 'devfn': device, 'device_id': ids[i if len(ids) > 1 else 0]} for i, device in enumerate(devices)]

    def where_mmio(self, w):
        bar = self.t.bar[w.bar]
        self.needs_of_places(w.per > 1)
        if -(-w.count // w.per) > bar.count:
            raise TableError(f'count= needs more elements than bar {bar.name} has')
        return [{'base': w.base + i % w.per * w.step, 'bar': w.bar, 'bar_index': i // w.per} for i in range(w.count)]

    def where_cpus(self, w):
        """One unit for each logical CPU."""
        self.type.cpus = 1
        return [{'base': w.base << 32} for _ in range(w.cpus)]

    def end_access(self):
        self.space = self.t.part[self.type.parts.first].space = self.w.place.space

    def end_where(self):
        """Of the main part, or on the line of another part."""
        parts, w = self.type.parts, self.w.place
        if self.statement.name != 'part' and (parts.n != 1 or self.space == len(SPACES)):
            raise TableError('where must come after access and before part')
        part = self.t.part[parts.first + parts.n - 1]
        add = (self.where_msr, self.where_pci, self.where_mmio, self.where_cpus, self.where_cpus)[part.space]
        for place in add(w):
            self.t.where.append(CLASSES['where'](optional=w.optional, group=w.group, **place))
        part.where.n = len(self.t.where) - part.where.first
        if part.where.n > MAX_PLACES:
            raise TableError(f'more than {MAX_PLACES} places')

    def end_part(self):
        if self.type.parts.n == 3:
            raise TableError('a unit has at most three parts')
        self.space = self.w.place.space
        self.t.part.append(CLASSES['part'](name=self.w.place.name, space=self.space, where=Range(len(self.t.where))))
        self.type.parts.n += 1

    def end_discovery(self):
        """A record of the discovery table is of one type."""
        t = self.type
        for other in self.t.type[:-1]:
            if not other.pool and other.discovery == t.discovery and \
                    (not other.functions or not t.functions or other.functions & t.functions):
                raise TableError(f'records of {t.discovery} are those of type {other.name}: functions= must tell them apart')

    # ---- how many there are

    def end_present(self):
        row = self.w.present
        (self.present_msr if row.msr else self.present_pci)(row)
        if row.none and row.tells != ALL:
            raise TableError('none= goes with tells=all')
        self.type.presents.extend(self.t.present)
        self.t.present.append(row)

    def present_msr(self, row):
        if any(column in self.given for column in ('id', 'device', 'offsets', 'per')):
            raise TableError('id=, device=, per= and offsets= are of a PCI function, not of an MSR')
        if row.tells == ALL:
            raise TableError('an MSR that holds 0 decides nothing: tells=all is of a PCI function')
        row.mask = row.mask or ones(64)

    def present_pci(self, row):
        ids, devices, offsets = self.text('id'), self.text('device'), self.text('offsets')
        if ids is None:
            raise TableError('present wants id= or msr=')
        self.need('device')
        first, dash, last = ids.partition('-')
        row.id, row.last = number(first[:15]) or 0, (number(last) or 0) if dash else 0
        if not 0 < row.id <= 0xffff or dash and not row.id <= row.last <= 0xffff:
            raise TableError(f'id={ids} is not a device id, or two as in 0x0ee0-0x0eee')
        functions = list_of(devices, devfn, 0xff, MAX_PRESENT)
        if not functions:
            raise TableError(f'device={devices} is not a list of DEVICE.FUNCTION, up to {MAX_PRESENT}')
        told = list_of(offsets, number, 0xffc, 2) if offsets is not None else []
        if told is None or any(at & 3 for at in told):
            raise TableError(f'offsets={offsets} is not one or two configuration offsets')
        row.n_devices, row.devfn = len(functions), (functions + [0] * MAX_PRESENT)[:MAX_PRESENT]
        row.n_offsets, row.offset = len(told), (told + [0, 0])[:2]
        if row.n_devices > 1 and (row.last or told):
            raise TableError('a list of devices goes with one id and without offsets=')
        if 'per' in self.given and (row.last or told):
            raise TableError('per= is of functions of one id that tell by being there')
        if row.last and told:
            raise TableError('offsets= goes with one id')
        if offsets is None and ('bits' in self.given or 'tells' in self.given or row.none):
            raise TableError('bits=, tells= and none= are of registers: offsets= is missing')
        if row.n_offsets == 2 and row.mask:
            raise TableError('bits= goes with one register')
        row.mask = row.mask or ones(64 if row.n_offsets == 2 else 32)

    # ---- PCIe stacks, and clusters

    def end_map(self):
        row = self.w.map
        own, listed = row.tells == OWN and not row.msr, row.tells == LIST
        if row.msr and row.tells == OWN:
            row.tells = BYTES
        ids = list_of(self.text('ids'), lambda text: NO_STACK if text == '-' else number(text), NO_STACK, MAX_STACKS)
        if ids is None or any(i >= 32 for i, word in zip(ids, self.text('ids').split(',')) if word != '-'):
            raise TableError(f"ids={self.text('ids')} is not a list of at most {MAX_STACKS} ids up to 31, or '-'")
        row.ids = (ids + [NO_STACK] * MAX_STACKS)[:MAX_STACKS]
        offsets = self.text('offsets')
        told = list_of(offsets, number, 0xffc, 2) if offsets is not None else []
        if told is None or any(at & 3 for at in told):
            raise TableError(f'offsets={offsets} is not one or two configuration offsets')
        if len(told) != (0 if row.msr else 1 if row.tells == OWN else 2):
            raise TableError('map wants msr=, or offsets=: one with tells=own, else two')
        row.offset = (told + [0, 0])[:2]
        if bool(row.msr) == bool(row.id) or row.msr and row.tells != BYTES:
            raise TableError('map wants msr= or id=, an MSR tells bytes')
        if own != bool(row.mask) or listed != bool(row.valid) or (not row.msr and row.tells == BYTES) != bool(row.devfn):
            raise TableError('bits= goes with tells=own, valid= with tells=list, device= with tells=bytes of a function')
        if len({bool(row.chip), bool(row.chip_id), bool(row.chip_mask), bool(row.chip_offset)}) > 1:
            raise TableError('chip=, chip_id=, chip_offset= and chip_bits= go together')
        self.type.maps.extend(self.t.map)
        self.t.map.append(row)

    def end_endpoint(self):
        self.type.endpoints.extend(self.t.endpoint)
        self.t.endpoint.append(self.w.endpoint)

    def end_nodes(self):
        text, row = self.text('clusters'), CLASSES['nodes']()
        if text != 'in_order':
            words = text.split(',')
            if len(words) > MAX_PLACES:
                raise TableError(f'clusters= has more than {MAX_PLACES} units')
            found = [-1 if word == '-' else number(word[:7]) for word in words]
            if any(n is None or n >= 8 for n in found):
                raise TableError(f'clusters={text} is not a list of clusters 0 to 7, or -')
            row.cluster, row.clusters = ([n + 1 for n in found] + [0] * MAX_PLACES)[:MAX_PLACES], max(found) + 1
            if row.clusters < 2 or set(found) - {-1} != set(range(row.clusters)):
                raise TableError(f'clusters={text}: a map has two clusters or more, and units of each')
        for other in self.type.nodes.of(self.t.nodes):
            if other.clusters == row.clusters or not other.clusters or not row.clusters:
                raise TableError('nodes is given twice for as many clusters')
        self.type.nodes.extend(self.t.nodes)
        self.t.nodes.append(row)

    # ---- registers

    def default_mask(self, reg):
        """What may be written where mask= is left out."""
        given = 'mask' in self.given
        if reg.role == FREE:
            reg.flags |= RO
        if reg.flags & RO:
            if reg.role == CTL:
                raise TableError('ro on the control of a counter')
            if given:
                raise TableError('mask= on a read-only register')
            reg.write_mask = 0
        elif given or reg.role == CTL:
            return
        elif reg.role == CTR:
            if not self.type.n_counters:
                raise TableError('counters must come before the registers')
            reg.write_mask = ones(self.type.width)
        else:
            raise TableError('mask= or ro is missing')

    def check_reg(self, reg):
        if reg.width not in (32, 64):
            raise TableError('width= must be 32 or 64')
        if reg.flags & SEXT and reg.role != CTR:
            raise TableError('sext is for role=ctr')
        if reg.flags & FROZEN and reg.role != OTHER:
            raise TableError('frozen is for registers without a role')
        if reg.base & ~reg.write_mask:
            raise TableError('base= is outside of mask=')

    def keep_first(self, reg):
        """The type knows its registers with a role, of an array the first."""
        t, at = self.type, len(self.t.reg)
        if reg.role == CTL and t.first_ctl == NONE:
            t.first, t.first_ctl = reg.number, at
        elif reg.role == CTR and t.first_ctr == NONE:
            t.first_ctr = at
        elif reg.role == UNIT_CTL:
            t.unit_ctl = at
        elif reg.role == STATUS:
            t.status = at

    def end_reg(self):
        reg, w = self.w.reg, self.w
        first, (name, count) = reg.offset, split_array(self.text('NAME'))
        if count > 1:
            self.need('step')
        self.check_reg(reg)
        self.default_mask(reg)
        if reg.width == 32 and reg.role != CTR and reg.write_mask > ones(32):
            raise TableError('mask= does not fit 32 bits')
        if first + count * w.stride > 0x7fffffff:
            raise TableError('step= is too large')
        for i, full in enumerate(each_name(name, count, w.start)):
            reg = copy(reg)
            reg.nth, reg.number, reg.offset = i, w.start + i, first + i * w.stride
            if reg.role == CTL and reg.number >= MAX_COUNTERS:
                raise TableError(f'counters are numbered up to {MAX_COUNTERS - 1}')
            if self.find_reg(full) != NONE:
                raise TableError(f'register {full} is described twice')
            reg.name = self.pool.add(full)
            self.keep_first(reg)
            self.reg_at[self.type.regs.first, full.lower()] = len(self.t.reg)
            self.t.reg.append(reg)
            self.type.regs.n += 1

    def end_counter(self):
        c, (name, count) = self.w.counter, split_array(self.text('NAME'))
        if c.ctl != NONE:
            ctl = self.t.reg[c.ctl]
            if not c.enable:
                raise TableError('enable= must name bits')
            if c.enable & ~ctl.write_mask:
                raise TableError(f'enable= is outside the mask of {ctl.name}')
        elif 'enable' in self.given:
            raise TableError('enable= goes with ctl=')
        for full, reg in zip(each_name(name, count), each_name(self.text('ctr')[:31], count)):
            c = copy(c)
            c.ctr = self.find_reg(reg)
            if c.ctr == NONE:
                raise TableError(f'ctr={reg} is not a register above')
            if c.width > self.t.reg[c.ctr].width:
                raise TableError(f'width= is more than the {self.t.reg[c.ctr].width} bits of {reg}')
            c.name = self.pool.add(full)
            self.t.counter.append(copy(c))
            c.kernel += 0x100 if c.kernel else 0
            self.type.counters.n += 1

    # ---- fields

    def read_piece(self, f, piece):
        """'REG BITS'"""
        reg, text = ((self.given.get(column, []) + [None, None])[piece] for column in ('REG', 'HIGH:LOW'))
        f.reg[piece] = NONE
        if reg is None:
            return
        if piece and text is None:
            raise TableError(f"unknown or repeated word '{reg}'")
        pair = bits(text) if text is not None else None
        if not pair:
            raise TableError(f"'{text or ''}' is not bits HIGH:LOW of a register")
        at = self.type.first_ctl
        if reg != 'CTL':
            at = f.reg[piece] = self.find_reg(reg)
        if at == NONE:
            raise TableError(f"'{reg}' is not a register above")
        if pair[0] >= self.t.reg[at].width:
            raise TableError(f'bit {pair[0]} is outside {reg}')
        f.lo[piece], f.width[piece] = pair[1], pair[0] - pair[1] + 1

    def check_field(self, f):
        most = field_max(f)
        if f.default_value > most or f.min > most:
            raise TableError(f'default= and min= go up to 0x{most:x}')
        if f.like != NONE and (f.reg[0] == NONE or field_max(self.t.field[f.like]) != most):
            raise TableError('like= is for a field of a filter, and one as wide as this')

    def check_role(self, f):
        """Without a role the machine would ignore what any event takes, and what unit control does."""
        role = CTL if f.reg[0] == NONE else self.t.reg[f.reg[0]].role
        place = {UNIT_CTL: IN_UNIT_CTL, CTL: IN_CTL, FIXED_CTL: IN_FIXED_CTL}.get(role, IN_OTHERS)
        if not f.role and (place == IN_UNIT_CTL or place == IN_CTL and f.flags & USER):
            raise TableError('is= is missing, of a field of unit control or one that any event takes')
        if f.role and not ROLE_PLACES[f.role] & place:
            raise TableError(f"is={self.text('is')}: no field of this register is that")
        for other in self.type.fields.of(self.t.field):
            if f.role and not ROLE_PLACES[f.role] & MANY and other.role == f.role and other.reg[0] == f.reg[0]:
                raise TableError(f"is={self.text('is')}: field {other.name} is that already")

    def end_field(self):
        f = self.w.field
        if len(f.name) > MAX_NAME:
            raise TableError(f'the name of field {f.name} is too long')
        if self.find_field(f.name) != NONE:
            raise TableError(f'field {f.name} is described twice')
        self.read_piece(f, 0)
        self.read_piece(f, 1)
        self.check_field(f)
        self.check_role(f)
        f.flags |= DEFAULT if 'default' in self.given else 0
        f.needs = f.mask = NONE
        f.values.first = len(self.t.value)
        self.field_at[self.type.fields.first, f.name.lower()] = len(self.t.field)
        self.t.field.append(f)
        self.type.fields.n += 1

    def end_value(self):
        f, v = self.t.field[self.w.of], self.w.value
        if v.value & ~field_max(f):
            raise TableError(f'0x{v.value:x} is not a value of the field')
        if not f.values.n:
            f.values.first = len(self.t.value)
        if f.values.first + f.values.n != len(self.t.value):
            raise TableError(f'the values of field {f.name} are not together')
        if any(other.name.lower() == v.name.lower() for other in f.values.of(self.t.value)):
            raise TableError(f'value {v.name} is described twice')
        self.t.value.append(v)
        f.values.n += 1

    # ---- a type as a whole

    def end_of_type(self):
        t = self.type
        if t is None:
            return
        part, programs = self.t.part[t.parts.first], t.n_counters != 0
        missing = [what for is_missing, what in (
            (part.space == len(SPACES), 'access'),
            (not part.where.n and t.discovery < 0, 'where or discovery'),
            (not part.where.n and t.distrusted, 'where, which tells in place of discovery,'),
            (not programs and not t.counters.n, 'a counter'),
            (not self.one_array(t, CTL, t.first_ctl) or not self.one_array(t, CTR, t.first_ctr), 'one CTL and one CTR for each counter'),
            (programs and t.f_event == NONE, 'control'),
            (programs and not (t.steps_start.n and t.steps_stop.n), 'start or stop'),
            (bool(t.steps_freeze.n) != bool(t.steps_unfreeze.n), 'freeze or unfreeze')) if is_missing]
        if missing:
            raise TableError(f'type {t.name} (line {self.type_line}): {missing[0]} is missing')
        self.set_control_masks(t)
        try:
            if t.regs.n > MAX_REGS:
                raise TableError(f'more than {MAX_REGS} registers')
            self.check_masks(t)
            self.check_present(t, part.where)
            self.check_kernel(t)
        except TableError as error:
            raise TableError(f'type {t.name}: {error}')
        self.type = None


    def one_array(self, t, role, first):
        """The N registers of a role follow each other, with the numbers of the counters."""
        found = [(t.regs.first + i, reg.number) for i, reg in enumerate(t.regs.of(self.t.reg)) if reg.role == role]
        return found == [(first + i, t.first + i) for i in range(t.n_counters)]

    def set_control_masks(self, t):
        """Bits of CTL that software may set: all its fields and the enable bits."""
        mask = t.enable
        for f in t.fields.of(self.t.field):
            mask |= field_bits(f)
        for reg in self.t.reg[t.first_ctl:t.first_ctl + t.n_counters]:
            reg.write_mask = reg.write_mask or mask

    def check_masks(self, t):
        """What an event programs must pass the allowlist. A field of a read-only register tells what it shows."""
        for f in t.fields.of(self.t.field):
            for at, low, width in pieces(f):
                reg = self.t.reg[t.first_ctl if at == NONE else at]
                if reg.write_mask and (ones(width) << low) & ~reg.write_mask:
                    raise TableError(f'field {f.name} is outside the mask of {reg.name}')

    def check_present(self, t, where):
        """Units that hang on functions: none may be without one."""
        listed = where.n and self.t.where[where.first].optional == WHERE_LISTED
        places = 0 if listed else where.n
        for row in t.presents.of(self.t.present):
            told = row.n_devices * row.per
            if not row.msr and not row.n_offsets and not row.last and told < places:
                raise TableError(f'present tells of {told} units, where of {places}')
