/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool unc_parse_number(const char *text, uint64_t *value)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, base);
	if (!isdigit((unsigned char)text[0]) || *end)
		errno = EINVAL;
	if (!errno)
		*value = v;
	return !errno;
}

bool unc_parse_double(const char *text, double *value)
{
	char *end;

	if (text[strspn(text, "0123456789+-.eE")]) /* no blanks, hexadecimal, inf or nan */
		return false;
	locale_t c = newlocale(LC_ALL_MASK, "C",
			       (locale_t)0); /* the program's locale may have a comma */
	if (!c)
		return false;
	errno = 0;
	double v = strtod_l(text, &end, c);
	int failed = errno;
	freelocale(c);
	if (end == text || *end || failed)
		return false;
	*value = v;
	return true;
}

/* Parses a decimal number below `limit`, with no more digits than the limit; moves *p past it. */
static bool parse_small_number(const char **p, unsigned limit, unsigned *value)
{
	size_t digits = strspn(*p, "0123456789");

	*value = (unsigned)strtoul(*p, NULL, 10);
	*p += digits;
	return digits > 0 && digits <= (limit > 1000 ? 4 : 3) && *value < limit;
}

bool unc_range_next(const char **list, unsigned limit, unsigned *first, unsigned *last)
{
	if (!parse_small_number(list, limit, first))
		return false;
	*last = *first;
	if (**list != '-')
		return true;
	++*list;
	return parse_small_number(list, limit, last) && *last >= *first;
}

bool unc_list_has(const char *list, const char *wanted)
{
	char word[64] = "";

	while (list && !unc_same(word, wanted) && unc_list_next(&list, word, sizeof(word)))
		;
	return unc_same(word, wanted);
}

bool unc_list_next(const char **list, char *word, size_t size)
{
	size_t length = strcspn(*list, ",");

	if (length >= size)
		return false;
	memcpy(word, *list, length);
	word[length] = '\0';
	*list = (*list)[length] ? *list + length + 1 : NULL;
	return true;
}

struct unc_buf unc_buf(char *text, size_t size)
{
	if (size)
		text[0] = '\0';
	return (struct unc_buf){text, size, 0, 0};
}

void unc_put(struct unc_buf *buf, const char *format, ...)
{
	size_t at = buf->n < buf->size ? buf->n : buf->size;
	va_list args;

	va_start(args, format);
	int n = vsnprintf(buf->size ? buf->text + at : NULL, buf->size - at, format, args);
	va_end(args);
	buf->n += n > 0 ? (size_t)n : 0;
}

void unc_put_text(struct unc_buf *buf, const char *text)
{
	size_t length = strlen(text), room = buf->n < buf->size ? buf->size - buf->n - 1 : 0;
	size_t fits = length < room ? length : room;

	if (buf->n < buf->size) {
		memcpy(buf->text + buf->n, text, fits);
		buf->text[buf->n + fits] = '\0';
	}
	buf->n += length;
}

void unc_put_number(struct unc_buf *buf, uint64_t number, unsigned base)
{
	char digits[24] = "", *first = digits + sizeof(digits) - 1;

	do
		*--first = "0123456789abcdef"[number % base];
	while ((number /= base) != 0);
	unc_put_text(buf, first);
}

void unc_put_word(struct unc_buf *buf, const char *word)
{
	unc_put_text(buf, buf->words++ ? ", " : "");
	unc_put_text(buf, word);
}

void unc_put_few(struct unc_buf *buf, const char *word)
{
	enum { FEW = 8 };

	if (buf->words <= FEW)
		unc_put_word(buf, buf->words == FEW ? "..." : word);
}

void unc_put_bits(struct unc_buf *buf, uint64_t mask)
{
	for (unsigned i = 0, last; i < 64; i = last + 1) {
		for (last = i; last < 63 && mask >> i & mask >> (last + 1) & 1; last++)
			continue;
		if (mask >> i & 1)
			unc_put(buf, last > i ? "%s%u-%u" : "%s%u", buf->words++ ? "," : "", i,
				last);
	}
}

/* ASCII only: names do not depend on the locale of the program. */
static unsigned lower(char c)
{
	unsigned letter = (unsigned char)c;

	return letter - 'A' < 26 ? letter | 0x20 : letter;
}

bool unc_same(const char *a, const char *b)
{
	for (; *a == *b || lower(*a) == lower(*b); a++, b++)
		if (!*a)
			return true;
	return false;
}
