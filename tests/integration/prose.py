#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of Markdown pages: prose.py PAGE... tells of each page how many it has, their mean and longest number of words,
and how many begin with a word of WEAK. Status 1: over all pages the mean is 18 or more, one has over 40 words, or 3 % or
more begin so. Code, tables and headings are no sentences."""
import re
import sys

MEAN, LONGEST, SHARE = 18, 40, 3
WEAK = re.compile(r'(What|Who|Where|One that|Of)\b')
END = re.compile(r'(?<=[.!?:])["”)]?\s+(?=[A-Z("“\[0-9])')


def paragraphs(text):
    text = re.sub(r'<!--.*?-->', '', text, flags=re.S)
    text = re.sub(r'^```.*?^```', '\n', text, flags=re.S | re.M)
    block = []
    for line in text.split('\n') + ['']:
        item = re.match(r'\s*([-*]|\d+\.)\s+', line)
        other = not line.strip() or line.startswith(('|', '#', '![')) or (line.startswith('    ') and not block)
        if (item or other) and block:
            yield ' '.join(block)
            block = []
        if not other:
            block.append(line[item.end():] if item else line.strip())


def sentences(text):
    for block in paragraphs(text):
        block = re.sub(r'`[^`]*`', 'Code', block)
        block = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', block).replace('**', '')
        yield from (s for s in END.split(block) if len(s.split()) > 1)


def main():
    words, weak, failed = [], 0, False
    for page in sys.argv[1:]:
        with open(page, encoding='utf-8') as file:
            all_of_page = list(sentences(file.read()))
        lengths = [len(s.split()) for s in all_of_page] or [0]
        begin = [s for s in all_of_page if WEAK.match(s)]
        words += lengths
        weak += len(begin)
        print(f'{page}: {len(lengths)} sentences, mean {sum(lengths) / len(lengths):.1f}, longest {max(lengths)}, '
              f'{len(begin)} begin weakly')
        for s in begin:
            print(f'    begins weakly: {s[:100]}')
        for s, n in zip(all_of_page, lengths):
            if n > LONGEST:
                failed = True
                print(f'    {n} words: {s[:100]}')
    mean, share = sum(words) / len(words), 100 * weak / len(words)
    print(f'all: {len(words)} sentences, mean {mean:.1f}, longest {max(words)}, {share:.1f} % begin weakly')
    return failed or mean >= MEAN or share >= SHARE


sys.exit(main())
