# SPDX-License-Identifier: BSD-3-Clause
"""portable.tbl, metrics.tbl, groups.tbl. Names of events in them are looked up by tests/test_table.c."""
import re

from .formula import Formula
from .lines import TableError, number_set
from .rows import CLASSES, NONE

MAX_TEXT, MAX_WORD, MAX_METRIC, MAX_PORTABLE, MAX_GROUP = 1024, 24, 127, 32, 31
UNITS = ('bytes', 'count', 'ratio', 'ns', 'clocks', 'hz', 'bytes_per_second', 'count_per_second')


def check_unit(unit):
    if unit not in UNITS:
        raise TableError(f'unit={unit} is not a known unit')


def names_of(text):
    """x=: numbers and ranges, or words"""
    mask = number_set(text, 64)
    if mask is not None:
        yield from (str(x) for x in range(64) if mask >> x & 1)
        return
    words = text.split(',')
    for i, word in enumerate(words[:-1] if words[-1] == '' else words):
        if not word or word[0].isdigit() or len(word) >= MAX_WORD:
            raise TableError(f"x={','.join(words[i:])} is neither numbers up to 63 nor a list of words")
        yield word


class Metrics:
    # ---- portable.tbl

    def end_portable(self):
        m, unit = self.w.metric, self.text('unit')
        check_unit(unit)
        if '.' in m.name:
            raise TableError(f'portable {m.name}: a metric of a unit type is not portable')
        if m.name.lower() in self.portable:
            raise TableError(f'portable {m.name} is described twice')
        if len(self.portable) == MAX_PORTABLE:
            raise TableError(f'more than {MAX_PORTABLE} portable metrics')
        m.unit = self.pool.add(unit)
        self.portable[m.name.lower()] = m

    def read_metrics(self):
        """Without portable metrics what is portable in metrics.tbl is refused."""
        self.formulas, self.metric_at = [], {}
        self.read_named('portable.tbl', 'portable.tbl')
        self.read_named('metrics.tbl', 'metrics.tbl', True)
        self.check_formulas()
        for name, m in self.portable.items():
            if (NONE, name) not in self.metric_at:
                raise TableError(f'{self.cpu}: metrics.tbl lacks {m.name} of portable.tbl: give a formula, or why there is none by '
                                 'unavailable=')
        order = {name: i for i, name in enumerate(self.portable)}  # these before all others
        self.t.metric.sort(key=lambda m: order.get(m.name.lower(), len(order)) if m.type == NONE else len(order))

    def check_formulas(self):
        """A formula may have metrics that come behind it."""
        where = self.shown.get('metrics.tbl', 'metrics.tbl')
        for at, name, m in self.formulas:
            try:
                Formula(m.formula, self.formula_of)
            except TableError as error:
                raise TableError(f'{where}:{at}: metric {name}: {error}')

    def formula_of(self, name):
        try:
            m = self.metric_at.get(self.split(name))
        except TableError:
            return None
        return m.formula if m else None

    # ---- metrics.tbl

    def end_metric(self):
        x, given = self.text('x'), self.text('NAME')
        if ('{x}' in given) != (x is not None):
            raise TableError('x= and {x} in the name belong together')
        for word in names_of(x) if x is not None else ['']:
            self.add_metric(given, word)

    def split(self, name):
        """'cha.LLC_MPI' -> the type's number and the name in it, as it is looked up"""
        word, dot, own = name.partition('.')
        at = self.find_type(word) if dot else NONE
        if dot and (at == NONE or not own):
            raise TableError(f'metric {name}: no such unit type')
        return at, (own if dot else name).lower()

    def add_metric(self, given, x):
        texts = [text.replace('{x}', x) for text in (given, self.text('formula'), self.text('"DESCRIPTION"', ''))]
        name, formula, desc = texts
        if any(len(text) + MAX_WORD >= size for text, size in zip(texts, (MAX_METRIC + 1, MAX_TEXT, MAX_TEXT))):
            raise TableError(f'metric {given}: a text is too long')
        at = self.split(name)
        if at in self.metric_at:
            raise TableError(f'metric {name} is described twice')
        m = CLASSES['metric'](type=at[0], name=self.pool.add(name.partition('.')[2] if at[0] != NONE else name))
        m.formula, m.unavailable = self.pool.add(formula), self.pool.add(self.text('unavailable', ''))
        if at[0] == NONE:
            self.take_portable(m, given, desc)
        else:
            self.take_own(m, desc)
        self.metric_at[at] = m
        self.t.metric.append(m)
        if not m.unavailable:
            self.formulas.append((self.line_number, name, m))

    def take_portable(self, m, given, particular):
        """What portable.tbl says of a metric, and what the CPU adds to it."""
        p = self.portable.get(m.name.lower())
        if not p:
            raise TableError(f'metric {given}: portable.tbl has no such name; others begin with a unit type')
        if 'unit' in self.given or 'kind' in self.given:
            raise TableError(f'metric {given}: portable.tbl has its unit and kind')
        m.unit, m.kind, m.desc = p.unit, p.kind, self.pool.add(p.desc + (' ' + particular if particular else ''))

    def take_own(self, m, desc):
        self.need('unit')
        check_unit(self.text('unit'))
        self.need('kind')
        if not desc:
            raise TableError('metric: "DESCRIPTION" is missing')
        m.unit, m.kind, m.desc = self.pool.add(self.text('unit')), self.w.metric.kind, self.pool.add(desc)

    # ---- groups.tbl

    def end_group(self):
        self.check_group()
        g = self.w.group
        if not re.fullmatch('[a-zA-Z0-9_-]{1,%d}' % MAX_GROUP, g.name):
            raise TableError(f"group '{g.name}' is not letters, digits, _ and - up to {MAX_GROUP}")
        if any(other.name.lower() == g.name.lower() for other in self.t.group):
            raise TableError(f'group {g.name} is described twice')
        g.items.first = len(self.t.group_item)
        self.t.group.append(g)

    def check_group(self):
        """At the end of groups, and before the next: whether the last one has an item."""
        if self.t.group and not self.t.group[-1].items.n:
            raise TableError(f'{self.cpu}: group {self.t.group[-1].name} has no item')

    def end_item(self):
        text = self.text('TEXT')
        if not self.t.group:
            raise TableError('item before the first group')
        g = self.t.group[-1]
        if any(item.text == text for item in g.items.of(self.t.group_item)):
            raise TableError(f'item {text} is given twice')
        self.t.group_item.append(CLASSES['group_item'](text=self.pool.add(text)))
        g.items.n += 1
