/* SPDX-License-Identifier: MIT */
/* pfm show: the formats of a PMU, which are the bits of configuration words that its fields have,
 * as the kernel writes them: config1:9-18. */
#include "common/pfm.h"
#include "show/show.h"

#include <inttypes.h>
#include <string.h>

enum { N_FORMAT_WORDS = 5 };

/* The bits of field @i of a configuration word: those that change its value. 0 past the last. */
static uint64_t find_field_bits(const struct shower *s, int pmu, const char *word, unsigned i,
                                const char **name)
{
	uint64_t bits = 0, value;
	const char *text;

	for (unsigned bit = 0; bit < 64; bit++) {
		if (pfm_decode_field(s->ctx, pmu, word, (uint64_t)1 << bit, i, name, &value,
		                     &text) != PFMLIB_SUCCESS)
			return 0;
		bits |= (uint64_t)(value != 0) << bit;
	}
	return bits;
}

/* Writes runs of bits: 0-7,32-35. */
static void write_bits(uint64_t bits, char *buf, size_t size)
{
	size_t n = strlen(buf);

	for (unsigned low = 0, high; low < 64 && n < size; low = high + 1) {
		high = low;
		if (!(bits >> low & 1))
			continue;
		while (high < 63 && bits >> (high + 1) & 1)
			high++;
		n += (size_t)snprintf(buf + n, size - n, high > low ? "%s%u-%u" : "%s%u",
		                      buf[n - 1] == ':' ? "" : ",", low, high);
	}
}

bool get_format(const struct shower *s, int pmu, unsigned i, const char **name, char *buf,
                size_t size)
{
	static const char words[N_FORMAT_WORDS][8] = { "config", "config1", "config2", "config3",
		                                       "config4" };
	unsigned before = 0;

	for (unsigned w = 0; w < N_FORMAT_WORDS; w++)
		for (unsigned k = 0;; k++) {
			uint64_t bits = find_field_bits(s, pmu, words[w], k, name);

			if (!bits)
				break;
			if (before++ < i)
				continue;
			snprintf(buf, size, "%s:", words[w]);
			write_bits(bits, buf, size);
			return true;
		}
	return false;
}

void print_formats(const struct shower *s, int pmu)
{
	const char *name;
	char buf[160];

	for (unsigned i = 0; get_format(s, pmu, i, &name, buf, sizeof(buf)); i++) {
		if (i == 0)
			show_heading("Formats");
		show_line(name, buf);
	}
}
