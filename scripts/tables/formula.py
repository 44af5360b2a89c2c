# SPDX-License-Identifier: BSD-3-Clause
"""Formulas: their grammar is that of common/encode/expr.c, which computes metrics. Names of events are not looked up."""
import math
import re

from .lines import TableError

MAX_NESTING, MAX_NAME = 64, 255
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.:=|\[\]]*')
NAME_LETTERS = re.compile(r'[A-Za-z0-9_.:=|\[\]]*')
NUMBER = re.compile(r'0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')
VARIABLES = ('TIME', 'TSC', 'TSC_HZ', 'MEMORY_PEAK')
FUNCTIONS = {'round': 1, 'max': 2, 'min': 2, 'positive': 1, 'sum': 0, 'mean': 0, 'optional': 0}  # values; 0: an event


class Formula:
    """A text that is read. inner(name) is the text of a metric of that name; None: it is an event's. event(text) refuses
    what is no event. `code` is the whole as nested tuples."""

    def __init__(self, text, inner=None, event=None, name=None, outer=None):
        self.text, self.inner, self.event, self.name, self.outer = text, inner, event, name, outer
        self.at, self.column, self.nesting = 0, 1, outer.nesting + 1 if outer else 0
        self.code = self.whole()

    # ---- sentences

    def fail(self, sentence):
        frame = self
        while frame:
            sentence = f'column {frame.column}: {sentence}'
            if frame.name:
                sentence = f'metric {frame.name}: {sentence}'
            frame = frame.outer
        raise TableError(sentence)

    def missing(self, what):
        self.fail(f"{what} is missing before '{self.text[self.at:self.at + 16]}'" if self.look() else f'{what} is missing at the end')

    # ---- the grammar

    def look(self):
        while self.text[self.at:self.at + 1].isspace():
            self.at += 1
        self.column = self.at + 1
        return self.text[self.at:self.at + 1]

    def accept(self, letter):
        if self.look() != letter:
            return False
        self.at += 1
        return True

    def expect(self, letter):
        if not self.accept(letter):
            self.missing(f"'{letter}'")

    def enter(self):
        if self.nesting == MAX_NESTING:
            self.fail(f'nested too deeply (at most {MAX_NESTING} levels)')
        self.nesting += 1

    def whole(self):
        code = self.sum()
        if self.look():
            self.fail(f"unexpected '{self.text[self.at:self.at + 16]}'")
        return code

    def chain(self, part, signs):
        code = part()
        while self.look() and self.look() in signs:
            sign = self.look()
            self.at += 1
            code = (sign, code, part())
        return code

    def sum(self):
        return self.chain(self.product, '+-')

    def product(self):
        return self.chain(self.value, '*/')

    def value(self):
        letter = self.look()
        if letter and (letter in '0123456789.'):
            return self.number()
        if NAME.match(letter):
            return self.named()
        if letter not in ('-', '('):
            self.missing('a value')
        self.enter()
        self.at += 1
        if letter == '-':
            code = ('negate', self.value())
        else:
            code = self.sum()
            self.expect(')')
        self.nesting -= 1
        return code

    def number(self):
        match = NUMBER.match(self.text, self.at)
        start, end = self.at, match.end() if match else self.at
        word = NAME_LETTERS.match(self.text, start)[0]
        if not match or NAME_LETTERS.match(self.text, end)[0]:
            self.fail(f"'{word}' is not a number")
        if len(match[0]) > 40:
            self.fail(f'number {match[0][:40]}... is too long')
        value = float(int(match[0], 16)) if match[0][1:2] in ('x', 'X') else float(match[0])
        if math.isinf(value):
            self.fail(f'number {match[0]} is too large')
        self.at = end
        return ('number', value)

    def word(self):
        word = NAME_LETTERS.match(self.text, self.at)[0]
        if len(word) > MAX_NAME:
            self.fail(f'name longer than {MAX_NAME} characters')
        self.at += len(word)
        return word

    def named(self):
        word, column = self.word(), self.column
        called = self.accept('(')
        if called and word in FUNCTIONS:
            return self.function(word)
        self.column = column
        if called:
            self.fail(f'no function {word}; there are round, max, min, positive, sum, mean and optional')
        if word in VARIABLES:
            return ('variable', word)
        text = self.inner(word) if self.inner else None
        if text is None:
            return self.event_of(word)
        self.check_cycle(word)
        self.enter()
        code = Formula(text, self.inner, self.event, word, self).code
        self.nesting -= 1
        return code

    def event_of(self, word):
        try:
            return ('event', self.event(word) if self.event else word)
        except TableError as error:
            return self.fail(str(error))

    def function(self, name):
        self.enter()
        if FUNCTIONS[name]:
            code = (name, self.sum())
            if FUNCTIONS[name] == 2:
                self.expect(',')
                code += (self.sum(),)
        elif NAME.match(self.look()):
            code = self.event_of(self.word())
        else:
            self.fail(f'{name}() takes the name of an event')
        self.nesting -= 1
        self.expect(')')
        return code

    def check_cycle(self, name):
        """A metric that is being put in already may not be put in again."""
        frame = self
        while frame and not (frame.name and frame.name.lower() == name.lower()):
            frame = frame.outer
        if not frame:
            return
        outermost = self
        while outermost.outer:
            outermost = outermost.outer
        outermost.fail(f'metric {name} refers to itself' + ('' if frame is self else f' through {self.name}'))


def evaluate(code, names):
    """What it comes to; None: a denominator of 0, an overflow, a variable. names(text) is the value of an event's name."""
    kind, *parts = code
    if kind == 'number':
        return parts[0]
    if kind == 'event':
        return names(parts[0])
    if kind == 'variable':
        return None
    values = [evaluate(part, names) for part in parts]
    if None in values or kind == '/' and values[1] == 0 or kind == 'positive' and values[0] < 0:
        return None
    value = OPERATIONS[kind](*values)
    return value if math.isfinite(value) else None


OPERATIONS = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b, '/': lambda a, b: a / b,
              'max': lambda a, b: a if a > b else b, 'min': lambda a, b: a if a < b else b, 'negate': lambda a: -a,
              'positive': lambda a: a, 'round': lambda a: math.copysign(math.floor(abs(a) + 0.5), a)}
