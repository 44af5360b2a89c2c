# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a table, their words, and what words can be: numbers, lists, places. As base/text.h."""
import re

BLANK = ' \t\r'
MAX_WORDS = 96
TO_KEY, TO_END = re.compile('[^ \t\r"#=]*'), re.compile('[^ \t\r"#]*')
NUMBER = re.compile('0[xX][0-9a-fA-F]+|[0-9]+')
REAL = re.compile(r'[0-9+\-.eE]+')


class TableError(Exception):
    """A sentence for the user."""


class Word:
    """Plain (key is None), key=value, or quoted."""
    __slots__ = 'key', 'value', 'quoted', 'used'

    def __init__(self, key, value, quoted):
        self.key, self.value, self.quoted, self.used = key, value, quoted, False

    def __str__(self):
        return self.value if self.key is None else f'{self.key}={self.value}'


def logical_raw(text):
    """(number, lines as they stand, text) of each line; one that ends in a backslash goes on in the next: the break
    becomes one blank."""
    physical, at = text.split('\n'), 0
    if physical[-1] == '':
        physical.pop()
    while at < len(physical):
        first, line = at, physical[at]
        at += 1
        while line.endswith('\\') and (at < len(physical) or text.endswith('\n')):
            line = line[:-1].rstrip(BLANK) + ' ' + (physical[at].lstrip(BLANK) if at < len(physical) else '')
            at += 1
        yield first + 1, physical[first:at], line


def words_of(line):
    """The words of a logical line."""
    words, at, end = [], 0, len(line)
    if '\0' in line:
        raise TableError('a NUL byte in the text')
    while True:
        while at < end and line[at] in BLANK:
            at += 1
        if at >= end or line[at] == '#':
            return words
        if len(words) == MAX_WORDS:
            raise TableError(f'more than {MAX_WORDS} words in a line')
        word, at = word_at(line, at)
        words.append(word)


def word_at(line, start):
    at, key, value_at = TO_KEY.match(line, start).end(), None, start
    if line[at:at + 1] == '=' and (at > start or line[at + 1:at + 2] not in (' ', '\t', '\r')):
        key, value_at = line[start:at], at + 1
        at += 1
    if line[at:at + 1] == '"' and at == value_at:
        close = line.find('"', at + 1)
        if close < 0:
            raise TableError('a quote is not closed')
        value, at = line[at + 1:close], close + 1
    else:
        at = TO_END.match(line, at).end()
        value = line[value_at:at]
    if line[at:at + 1] not in ('', ' ', '\t', '\r', '#'):
        raise TableError(f"a blank is missing before '{line[at:at + 8]}'")
    if key == '':
        raise TableError("'=' without a name before it")
    return Word(key, value, line[start] == '"'), at


# ---- what a word can be; None: it is not that

def number(text):
    if not NUMBER.fullmatch(text) or len(text) > 40:
        return None
    value = int(text, 16 if text[1:2] in ('x', 'X') else 10)
    return value if value < 1 << 64 else None


def real(text):
    try:
        value = float(text) if REAL.fullmatch(text) else None
    except ValueError:
        return None
    return value if value not in (float('inf'), float('-inf')) else None


def numbers(text, limit):
    """'0-3,5': each number, below a limit, in the order in which they stand."""
    found = []
    for part in text.split(','):
        match = re.fullmatch('([0-9]{1,3})(?:-([0-9]{1,3}))?', part)
        if not match:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < limit:
            return None
        found += range(first, last + 1)
    return found


def number_set(text, limit=128):
    """The same as a mask; each number once."""
    found = numbers(text, limit)
    if found is None or len(set(found)) != len(found):
        return None
    return sum(1 << n for n in found)


def bits(text):
    """'HIGH:LOW', or one bit: (high, low)"""
    match = re.fullmatch('([0-9]{1,3})(?::([0-9]{1,3}))?', text)
    high, low = (int(match[1]), int(match[2] or match[1])) if match else (0, 64)
    return (high, low) if low <= high < 64 else None


def devfn(text):
    """'0c.1'"""
    match = re.fullmatch(r'([0-9a-fA-F]{1,2})\.([0-9])', text)
    if not match or int(match[1], 16) > 31 or int(match[2]) > 7:
        return None
    return int(match[1], 16) << 3 | int(match[2])


def list_of(text, parse, limit, most):
    """A list of what `parse` reads, each up to the limit; None: it is none, or has more than `most`."""
    found = [parse(part) if len(part) < 24 else None for part in text.split(',')]
    return None if len(found) > most or any(n is None or n > limit for n in found) else found


def pair(text):
    """'NAME:NUMBER'"""
    name, colon, value = text.partition(':')
    return (name, number(value)) if colon and number(value) is not None and len(name) < 64 else None


def listed(text, word):
    """Whether a list has the word, without regard to case."""
    return word.lower() in text.lower().split(',')


def is_of(cpus, cpu):
    """What cpu= says: of these CPUs, or with ! of all others."""
    return cpus is None or listed(cpus.lstrip('!'), cpu) != cpus.startswith('!')


# ---- the nearest name

def distance(a, b):
    """Letters to change, add, leave out, or to exchange with the next one."""
    before, last = [], list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for k, other in enumerate(b, 1):
            row.append(min(last[k - 1] + (letter != other), 1 + min(last[k], row[k - 1])))
            if i > 1 and k > 1 and letter == b[k - 2] and a[i - 2] == other:
                row[k] = min(row[k], before[k - 2] + 1)
        before, last = last, row
    return last[-1]


def nearest(wanted, names):
    """'; nearest is NAME', or nothing."""
    near = [(distance(wanted.lower(), name.lower()), i, name) for i, name in enumerate(names) if wanted]
    near = [found for found in near if found[0] <= len(found[2]) // 2 + 1]
    return f'; nearest is {min(near)[2]}' if near else ''
