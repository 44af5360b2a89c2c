# SPDX-License-Identifier: BSD-3-Clause
"""workload.tbl. Events stay text, which the simulator encodes when it is opened."""
from .formula import Formula, evaluate
from .lines import TableError
from .rows import CLASSES

MAX_TEXT, MAX_LETS, MAX_LET = 1024, 128, 47


def no_number(name):
    raise TableError(f'no number is called {name}')


class Workload:
    def set_let(self, name, value, again=False):
        if name in self.lets and not again:
            raise TableError(f'{name} is given twice')
        if len(name) > MAX_LET or name not in self.lets and len(self.lets) == MAX_LETS:
            raise TableError(f'too many numbers, or too long a name: {name}')
        self.lets[name] = value

    def evaluate(self, text):
        """The number that an expression is."""
        code = Formula(text, None, lambda name: name if name in self.lets else no_number(name)).code
        value = evaluate(code, lambda name: self.lets[name])
        if value is None or value < 0:
            raise TableError(f'"{text}" is not a number of at least 0')
        return value

    def end_let(self):
        if self.text('=') != '=':
            raise TableError('want: let NAME = EXPRESSION')
        words = [w for w in self.line if not w.used and w.key is None and not w.quoted]
        for w in words:
            w.used = True
        self.all_used()
        self.set_let(self.text('NAME'), self.evaluate(''.join(w.value + ' ' for w in words)))

    def end_machine(self):
        self.t.machine = self.w.machine

    def end_unit(self):
        u = self.w.sim_unit
        if self.t.type[u.type].pool:
            raise TableError('a view has no units of its own')
        if any(other.type == u.type for other in self.t.sim_unit):
            raise TableError('this unit is described twice')
        self.t.sim_unit.append(u)

    def pool_of(self, number):
        return self.t.type[number].pool - 1 if self.t.type[number].pool else number

    def end_rate(self):
        """Of a line, per second or per clock."""
        row, w, per_clock = CLASSES['load'](), self.w.load, self.statement.name == 'occupancy'
        row.type, row.steady, row.cxl = w.type, w.steady, w.cxl
        clock = next((u.clock_hz for u in self.t.sim_unit if u.type == self.pool_of(w.type)), 0)
        if not clock:
            raise TableError('the unit line of this type must come first')
        row.event = self.work_pool.add(f"{self.t.type[w.type].name}.{self.text('EVENT')}")
        self.set_let('clock', clock, True)
        setattr(row, 'per_clock' if per_clock else 'per_second', self.evaluate(self.text('"EXPRESSION"')))
        self.t.load.append(row)
