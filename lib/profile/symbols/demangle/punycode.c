/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle/punycode.h"

#include <stdint.h>
#include <string.h>

/* Parameters of RFC 3492, section 5. */
enum {
	BASE = 36,
	T_MIN = 1,
	T_MAX = 26,
	SKEW = 38,
	DAMP = 700,
	INITIAL_BIAS = 72,
	INITIAL_CODE = 0x80,
	CODE_MAX = 0x10ffff,
	LETTERS_MAX = PUNYCODE_TEXT / 4 - 1 /* of up to four bytes */
};

struct letters {
	uint32_t list[LETTERS_MAX];
	size_t n;
};

static bool insert_letter(struct letters *l, size_t at, uint32_t code)
{
	if (l->n == LETTERS_MAX || code > CODE_MAX || (code >= 0xd800 && code < 0xe000))
		return false;
	memmove(l->list + at + 1, l->list + at, (l->n - at) * sizeof(l->list[0]));
	l->list[at] = code;
	l->n++;
	return true;
}

static uint32_t adapt_bias(uint32_t delta, uint32_t n, bool is_first)
{
	uint32_t k = 0;

	delta = is_first ? delta / DAMP : delta / 2;
	delta += delta / n;
	for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static int get_digit_value(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	return c >= '0' && c <= '9' ? c - '0' + 26 : -1;
}

/* Adds a number at *@code to *@sum. False if it has no end. */
static bool read_delta(const char **code, const char *end, uint32_t bias, uint32_t *sum)
{
	uint64_t weight = 1, value = *sum;

	for (uint32_t k = BASE; *code < end; k += BASE) {
		int digit = get_digit_value(*(*code)++);
		uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;

		if (digit < 0)
			return false;
		value += (uint64_t)digit * weight;
		if (value > INT32_MAX)
			return false;
		*sum = (uint32_t)value;
		if ((uint32_t)digit < t)
			return true;
		weight *= BASE - t;
		if (weight > INT32_MAX)
			return false;
	}
	return false;
}

static bool read_letters(struct letters *l, const char *code, const char *end)
{
	uint32_t letter = INITIAL_CODE, at = 0, bias = INITIAL_BIAS;

	while (code < end) {
		uint32_t before = at, n = (uint32_t)l->n + 1;

		if (!read_delta(&code, end, bias, &at))
			return false;
		bias = adapt_bias(at - before, n, before == 0);
		letter += at / n;
		at %= n;
		if (!insert_letter(l, at++, letter))
			return false;
	}
	return true;
}

static char *put_letter(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

bool punycode_decode(const char *code, size_t len, char text[PUNYCODE_TEXT])
{
	struct letters l = { .n = 0 };
	const char *delimiter = memrchr(code, '_', len), *end = code + len;

	for (; delimiter && code < delimiter; code++)
		if (!insert_letter(&l, l.n, (unsigned char)*code))
			return false;
	code += delimiter != NULL;
	if (code == end || !read_letters(&l, code, end))
		return false;
	for (size_t i = 0; i < l.n; i++)
		text = put_letter(text, l.list[i]);
	*text = '\0';
	return true;
}
