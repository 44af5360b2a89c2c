# SPDX-License-Identifier: BSD-3-Clause
"""How counters are controlled, in units.tbl: settings, steps, lanes; and what the kernel's driver carries."""
from .lines import TableError, number, numbers, pair
from .rows import CLASSES, MASK, NONE, WO, Range, field_bits, field_max, ones, pieces

STEPS = ('filters', 'controls', 'preload', 'restore')  # UNC_STEP_*, from 1
WRITE, FOUND = 0, 5
MAX_LANES, MAX_VALUES, MAX_KERNEL_NAME = 4, 128, 40


class Control:
    # ---- settings of fields

    def add_setting(self, name, text, sets):
        """FIELD=VALUE, or without a value, joins a range of sets."""
        at, value = self.find_field(name), 0
        if at == NONE:
            raise TableError(f"'{name}' is neither a column nor a field of {self.type.name}")
        if text is not None:
            value = number(text)
            if value is None or value & ~field_max(self.t.field[at]):
                raise TableError(f"'{text}' does not fit field {name}")
        if any(s.field == at for s in sets.of(self.t.set)):
            raise TableError(f'field {name} is given twice')
        sets.extend(self.t.set)
        self.t.set.append(CLASSES['set'](field=at, value=value))

    def share_sets(self, sets):
        """A range that is whole, and last: where the same stand already it is those."""
        last, n = sets.first, sets.n
        if not n or last + n != len(self.t.set):
            return
        at, known = self.grams.setdefault(n, [0, {}])
        while at + n <= last:
            known.setdefault(self.gram(at, n), at)
            at += 1
        self.grams[n][0] = at
        same = known.get(self.gram(last, n))
        if same is not None:
            sets.first = same
            del self.t.set[last:]

    def gram(self, at, n):
        return tuple((s.field, s.given, s.value) for s in self.t.set[at:at + n])

    def add_list(self, what, text, with_value, sets):
        """FIELD,.. (a name of `fields` stands for several) or, with_value, FIELD:VALUE,.."""
        words = text.split(',')
        if words[-1] == '':
            words.pop()
        for i, word in enumerate(words):
            if not word or len(word) > 63:
                raise TableError(f"{what}={','.join(text.split(',')[i:])} is not a list")
            name, colon, value = word.partition(':')
            if bool(colon) != with_value:
                raise TableError(f"{what}={word}: want {'FIELD:VALUE' if with_value else 'FIELD'}")
            fields = None if colon else self.bundles.get((self.type.fields.first, word.lower()))
            if not fields:
                self.add_setting(name, value if colon else None, sets)
                continue
            for field in fields:
                if all(s.field != field for s in sets.of(self.t.set)):
                    sets.extend(self.t.set)
                    self.t.set.append(CLASSES['set'](field=field))
        self.share_sets(sets)

    def bits_of(self, sets, reg=NONE):
        """The bits that settings make in a control register (NONE: CTL)."""
        found = 0
        for s in sets.of(self.t.set):
            f = self.t.field[s.field]
            if f.reg[0] != reg or f.width[1]:
                raise TableError(f'field {f.name} is in another register')
            found |= s.value << f.lo[0]
        return found

    # ---- control and steps

    def end_control(self):
        t = self.type
        if t.first_ctl == NONE:
            raise TableError('control must come after the control registers')
        if self.t.reg[t.first_ctl].width == 32 and (t.enable | t.active) > ones(32):
            raise TableError('enable= and active= must fit the 32 bits of CTL')

    def read_steps(self, steps):
        """The rest of a line."""
        for w in self.line:
            if w.used:
                continue
            w.used = True
            step = CLASSES['step'](reg=NONE)
            if w.key is not None:
                self.read_write(w, step)
            elif w.value in STEPS:
                step.kind = 1 + STEPS.index(w.value)
            else:
                raise TableError(f"'{w.value}' is not REG=VALUE, filters, controls, preload or restore")
            steps.extend(self.t.step)
            self.t.step.append(step)

    def read_write(self, w, step):
        """REG=VALUE, or REG=found of unit control."""
        step.reg = self.find_reg(w.key)
        if step.reg == NONE:
            raise TableError(f"'{w.key}' is not a register above")
        reg = self.t.reg[step.reg]
        if step.reg == self.type.unit_ctl and not reg.flags & WO and w.value == 'found':
            step.kind = FOUND
            return
        value = number(w.value)
        if value is None or value & ~reg.write_mask:
            raise TableError(f"{w.key}={w.value} is not within the register's mask")
        step.value = value

    # ---- what goes together

    def end_lane(self):
        lane, t = self.w.lane, self.type
        if not lane.counters >> lane.lead & 1:
            raise TableError('lead= must be one of counters=')
        for s in self.w.sets.of(self.t.set):
            own = field_bits(self.t.field[s.field])
            if not own:
                raise TableError('same= names a field outside of CTL')
            lane.same |= own
        if t.lanes.n == MAX_LANES:
            raise TableError(f'a type has at most {MAX_LANES} lanes')
        t.lanes.extend(self.t.lane)
        self.t.lane.append(lane)

    def end_forbid(self):
        """FIELD:VALUE, FIELD:given or FIELD:none"""
        forbid, text = self.w.forbid, self.text('SETTINGS')
        words = text.split(',')
        for word in words[:-1] if words[-1] == '' else words:
            if not word or len(word) > 63:
                raise TableError(f"'{text}' is not a list")
            name, colon, value = word.partition(':')
            if not colon:
                raise TableError(f'forbid={word}: want FIELD:VALUE')
            given = {'given': 1, 'none': 2}.get(value, 0)
            self.add_setting(name, None if given else value, forbid.sets)
            self.t.set[-1].given = given
        self.type.forbids.extend(self.t.forbid)
        self.t.forbid.append(forbid)

    def end_relation(self):
        """'FIELD,.. OTHER': notes in each of the fields what OTHER is to it: it needs it, or has it as mask."""
        to, text, of = self.statement.name, self.text('FIELDS'), self.w.of
        words = text.split(',')
        for word in words[:-1] if words[-1] == '' else words:
            at = self.find_field(word)
            if at in (NONE, of):
                raise TableError(f"'{text}' is not a list of other fields above")
            if getattr(self.t.field[at], to) != NONE:
                raise TableError(f'{to} of {word} is given twice')
            setattr(self.t.field[at], to, of)
        self.t.field[of].flags |= MASK if to == 'mask' else 0

    def end_fields(self):
        name, sets = self.text('NAME'), Range()
        if self.find_field(name) != NONE:
            raise TableError(f'{name} is a field already')
        if (self.type.fields.first, name.lower()) in self.bundles:
            raise TableError(f'fields {name} is given twice')
        self.add_list('fields', self.text('FIELDS'), False, sets)
        self.bundles[self.type.fields.first, name.lower()] = [s.field for s in sets.of(self.t.set)]

    # ---- registers of the socket

    def positions(self, key, most, size):
        """A list of numbers, one for each unit: `3-5,3,4`; each is kept as 1 + its value."""
        text = self.text(key)
        found = numbers(text, most + 1) if text is not None else []
        if found is None or len(found) > size:
            raise TableError(f'{key}={text} is not a list of at most {size} numbers up to {most}')
        return ([1 + n for n in found] + [0] * size)[:size]

    def registers_of(self, column, most):
        words = self.text(column).split(',') if column in self.given else []
        found = []
        for word in words:
            if len(found) == most or len(word) > 63:
                raise TableError(f'{column}={self.text(column)} is not one or two registers')
            found.append(self.find_reg(word))
            if found[-1] == NONE:
                raise TableError(f'{column}={word} is not a register above')
        return found

    def end_global(self):
        t, unfreeze = self.type, self.text('unfreeze')
        t.n_global = len(self.registers_of('status', 2))
        if unfreeze is None:
            return
        named = pair(unfreeze)
        if not named:
            raise TableError(f'unfreeze={unfreeze} is not REG:VALUE')
        t.unfreeze, t.unfreeze_value = self.find_reg(named[0]), named[1]
        t.has_unfreeze = int(t.unfreeze != NONE)
        if not t.has_unfreeze or t.unfreeze_value & ~self.t.reg[t.unfreeze].write_mask:
            raise TableError(f'unfreeze={unfreeze} is not a register above and bits of its mask')

    # ---- the kernel's driver

    def find_kernel(self, of_free):
        return next((k for k in self.type.kernels.of(self.t.kernel) if bool(k.free) == bool(of_free)), None)

    def config_of(self, column):
        """column=LOW,HIGH or column=LOW: registers of 32 bits each, or LOW of 64."""
        found = self.registers_of(column, 2)
        for at in found:
            if self.t.reg[at].write_mask > ones(32):
                raise TableError(f'{column}={self.t.reg[at].name}: only the low half of it would fit')
        return (found + [NONE, NONE])[:2]

    def check_pmu_name(self, name):
        if not name.startswith('uncore'):
            raise TableError(f"kernel '{name}' is not a PMU of the uncore driver: uncore...")
        if len(name) > MAX_KERNEL_NAME:
            raise TableError(f"kernel '{name}' is longer than {MAX_KERNEL_NAME} letters")
        if '{n}' not in name and 'numbers' in self.given:
            raise TableError('numbers= needs {n} in the name')
        if '{n}' not in name and self.t.part[self.type.parts.first].where.n > 1:
            raise TableError(f"kernel '{name}' has no {{n}} for the number of the unit")

    def check_columns(self, k):
        programs = k.bits or k.named or 'config1' in self.given or 'config2' in self.given
        if bool(k.name) == bool(k.unavailable):
            raise TableError('kernel wants either a name or unavailable=')
        if k.unavailable:
            if programs or k.free or 'numbers' in self.given:
                raise TableError('unavailable= stands alone')
        elif k.free and programs:
            raise TableError('free-running counters have no bits= and no filters')
        elif not k.free:
            self.need('bits')

    def end_kernel(self):
        k, t = self.w.kernel, self.type
        self.check_columns(k)
        if k.name:
            self.check_pmu_name(k.name)
        k.config = self.config_of('config1') + self.config_of('config2')
        k.number = self.positions('numbers', 254, len(k.number))
        if self.find_kernel(k.free):
            raise TableError('kernel is given twice for the same counters')
        t.kernels.extend(self.t.kernel)
        self.t.kernel.append(k)

    def filter_bits(self, k):
        """The bits of config1 and config2 that the fields of a kernel_filter are."""
        found = [0, 0]
        for s in self.w.sets.of(self.t.set):
            f = self.t.field[s.field]
            for reg, low, width in pieces(f):
                if reg == NONE or reg not in k.config:
                    raise TableError(f'field {f.name} is in no register of config1= or config2=')
                at = k.config.index(reg)
                found[at // 2] |= ones(width) << low << at % 2 * 32
        return found

    def values_of(self, column, field):
        """column=VALUE,..: values of a field of CTL, as bits there. No list: one, 0."""
        if column not in self.given:
            return [0]
        if field == NONE:
            raise TableError(f'{column}=: {self.type.name} has no such field')
        f, words = self.t.field[field], self.text(column).split(',')
        found = [number(word) if len(word) < 24 else None for word in words]
        for i, value in enumerate(found):
            if i == MAX_VALUES or value is None or value & ~field_max(f):
                raise TableError(f"{column}={','.join(words[i:])} is not a list of values of field {f.name}")
        return [value << f.lo[0] for value in found]

    def bits_of_field(self, field):
        return 0 if field == NONE else field_bits(self.t.field[field])

    def end_kernel_filter(self):
        """A row for each code and umask."""
        t, k, when = self.type, self.find_kernel(False), self.w.when
        if not k or k.unavailable:
            raise TableError('kernel_filter before a kernel that has filters')
        if 'codes' not in self.given and not when.n:
            raise TableError('codes= or when= is missing')
        filtered, mask = self.filter_bits(k), 0
        for s in when.of(self.t.set):
            mask |= self.bits_of_field(s.field)
        ctl = self.bits_of(when)
        codes, umasks = self.values_of('codes', t.f_event), self.values_of('umasks', t.f_umask)
        mask |= self.bits_of_field(t.f_event) if 'codes' in self.given else 0
        mask |= self.bits_of_field(t.f_umask) if 'umasks' in self.given else 0
        for each in [ctl | code | umask for code in codes for umask in umasks]:
            if any(other.ctl == each and other.mask == mask for other in t.kernel_filters.of(self.t.kernel_filter)):
                raise TableError(f'control 0x{each:x} has a kernel_filter already')
            t.kernel_filters.extend(self.t.kernel_filter)
            self.t.kernel_filter.append(CLASSES['kernel_filter'](ctl=each, mask=mask, bits=filtered))

    def end_kernel_counters(self):
        t = self.type
        if not self.find_kernel(False):
            raise TableError('kernel_counters before kernel')
        for value in self.values_of('codes', t.f_event):
            code = value >> self.t.field[t.f_event].lo[0]
            if any(other.code == code for other in t.kernel_counters.of(self.t.kernel_counters)):
                raise TableError(f'code 0x{code:x} has kernel_counters already')
            t.kernel_counters.extend(self.t.kernel_counters)
            self.t.kernel_counters.append(CLASSES['kernel_counters'](counters=self.w.kernel_counters.counters, code=code))

    def check_kernel(self, t):
        k = self.find_kernel(False)
        for c in t.counters.of(self.t.counter):
            if c.kernel and not self.find_kernel(c.ctl == NONE):
                raise TableError(f'counter {c.name} has kernel=, but the type no PMU for it')
        if not k or k.unavailable:
            return
        fields = 0 if t.first_ctl == NONE else self.t.reg[t.first_ctl].write_mask
        if k.bits & ~fields:
            raise TableError(f'kernel bits=0x{k.bits:x} are more than CTL has, 0x{fields:x}')
        if k.bits & t.enable:
            raise TableError('kernel bits= must leave out the enable bits')
        if self.bits_of_field(t.f_event) & ~k.bits:
            raise TableError('kernel bits= must have those of the code')
        if t.exclusive:
            raise TableError('the kernel does not keep apart what exclusive= does')
