/* SPDX-License-Identifier: MIT */
/* Text to slices: the PMU, the event name and the attributes. */
#include "lookup/lookup.h"

#include <string.h>
#include "table/table.h"

/* "pmu/terms/modifiers": @first is the first slash. */
static int parse_perf_form(struct spec *spec, const char *first, pfm_error_t *why)
{
	const char *last = strrchr(first, '/');

	if (last == first)
		return pfmi_base_set_error(
			why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, spec->text,
			(struct slice){ first, spec->len - (uint32_t)(first - spec->text) },
			"a second '/' must follow the terms");
	spec->form = SPEC_PERF;
	spec->pmu_name = (struct slice){ spec->text, (uint32_t)(first - spec->text) };
	spec->attrs = (struct slice){ first, (uint32_t)(last - first) };
	spec->name = (struct slice){ first + 1, (uint32_t)(last - first - 1) };
	spec->modifiers = (struct slice){ last + 1, spec->len - (uint32_t)(last + 1 - spec->text) };
	if (spec->modifiers.len && spec->modifiers.text[0] == ':') {
		spec->modifiers.text++;
		spec->modifiers.len--;
	}
	return PFMLIB_SUCCESS;
}

/* The length of @text, of which @at is a known position; SPEC_MAX_LENGTH + 1 if it is longer. */
static uint32_t measure_text(const char *text, const char *at)
{
	size_t n = (size_t)(at - text) + (*at ? strlen(at) : 0);

	return n > SPEC_MAX_LENGTH ? SPEC_MAX_LENGTH + 1 : (uint32_t)n;
}

/* Moves *@p to the next separator or the end, adds the characters before it to *@hash, and returns
 * that separator. */
static inline size_t hash_plain_run(const char **p, uint32_t *hash)
{
	size_t c = (unsigned char)**p;
	uint64_t h = *hash + pfmi_table_char_weights[c];

	while (!(h & NAME_SEPARATOR_BIT)) {
		c = (unsigned char)*++*p;
		h += pfmi_table_char_weights[c];
	}
	*hash = (uint32_t)h;
	return c;
}

/* A breakpoint (mem:ADDRESS/LENGTH) has a single slash. */
static bool is_breakpoint(const char *text)
{
	return strncmp(text, "mem:", 4) == 0;
}

/* Does a modifier of one letter with a value follow @separator ("c=2")? No event name and no unit
 * mask has such a part: compiler/image/image_writer.py refuses them. */
static inline bool is_letter_with_value(const char *separator)
{
	return separator[1] && separator[2] == '=';
}

/* Parses "pmu::NAME:attributes" in one pass. Records each place where the name can end: at ':' and
 * '.', and at the first ',' or the end unless this is after "c=2" or the like. False, with
 * spec->attrs at the slash, if the text has perf's form. */
static bool parse_name_form(struct spec *spec)
{
	const char *p = spec->text, *name = p;
	uint32_t h = NAME_HASH_SEED;
	unsigned n = 0;

	for (;; p++) {
		size_t separator = hash_plain_run(&p, &h);

		if (separator == '/') {
			if (!spec->pmu_name.len && !is_breakpoint(spec->text)) {
				spec->attrs.text = p;
				return false;
			}
			h = table_hash_char(h, '/');
			continue;
		}
		if (separator != ':' && separator != '.')
			break;
		if (separator == ':' && p[1] == ':' && !spec->pmu_name.len && p > spec->text) {
			spec->pmu_name.len = (uint32_t)(p - spec->text);
			spec->pmu_name_hash = h;
			name = ++p + 1;
			n = 0;
			h = NAME_HASH_SEED;
			continue;
		}
		if (p > name && n < SPEC_MAX_PREFIXES - 1)
			spec->prefixes[n++] = (struct name_prefix){ (uint32_t)(p - name), h };
		h = table_hash_separator(h);
	}
	spec->name = (struct slice){ name, (uint32_t)(p - name) };
	if (n == 0 || !is_letter_with_value(name + spec->prefixes[n - 1].len))
		spec->prefixes[n++] = (struct name_prefix){ spec->name.len, h };
	spec->n_prefixes = n;
	spec->len = measure_text(spec->text, p);
	return true;
}

int pfmi_spec_parse(const char *text, struct spec *out, pfm_error_t *why)
{
	out->text = text;
	out->form = SPEC_NAME;
	out->pmu_name = out->attrs = out->modifiers = (struct slice){ text, 0 };
	out->n_prefixes = 0;
	if (!parse_name_form(out)) {
		out->len = measure_text(text, out->attrs.text);
		if (out->len <= SPEC_MAX_LENGTH)
			return parse_perf_form(out, out->attrs.text, why);
	}
	if (out->len > SPEC_MAX_LENGTH)
		return pfmi_base_set_error(why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, text,
		                           (struct slice){ text, 0 },
		                           "the text is longer than 4096 bytes");
	return PFMLIB_SUCCESS;
}

/* Finds the end of the attribute that @rest begins with, and its first '='; NULL if missing. An
 * attribute after ',' or '/' ends at a comma alone. */
static const char *search_attr_end(struct slice rest, const char **equals)
{
	const char *p = rest.text + 1, *end = rest.text + rest.len;

	*equals = NULL;
	for (; p < end; p++)
		switch (*p) {
		case ',': return p;
		case ':':
		case '.':
			if (rest.text[0] != ',' && rest.text[0] != '/')
				return p;
			break;
		case '=':
			if (!*equals)
				*equals = p;
			break;
		default: break;
		}
	return p;
}

bool pfmi_spec_next_attr(struct slice *rest, struct spec_attr *out)
{
	const char *s = rest->text, *equals, *end, *name_end;

	if (rest->len == 0)
		return false;
	end = search_attr_end(*rest, &equals);
	name_end = equals ? equals : end;
	out->separator = s[0];
	out->has_value = equals != NULL;
	out->name = (struct slice){ s + 1, (uint32_t)(name_end - s) - 1 };
	out->value = equals ? (struct slice){ equals + 1, (uint32_t)(end - equals) - 1 }
	                    : (struct slice){ end, 0 };
	rest->text = end;
	rest->len -= (uint32_t)(end - s);
	return true;
}

/* Reads the hexadecimal number after @term, which ends in "0x". Returns the character after it, at
 * most @end; NULL if the term is missing. */
static const char *read_hex_term(const char *p, const char *end, const char term[8],
                                 uint64_t *value)
{
	const char *digits = p + 8;
	unsigned d;

	if (end - p < 9 || memcmp(p, term, 8) != 0)
		return NULL;
	*value = 0;
	for (p = digits; (d = base_get_digit_value(*p)) < 16; p++)
		*value = *value << 4 | d;
	return p > digits && p - digits < 16 ? p : NULL;
}

void pfmi_spec_read_codes(const struct spec *spec, struct spec_codes *out)
{
	const char *end = spec->attrs.text + spec->attrs.len,
		   *p = read_hex_term(spec->attrs.text + 1, end, "event=0x", &out->code);
	unsigned n = 1;

	out->umask = 0;
	if (p && *p == ',') {
		p = read_hex_term(p + 1, end, "umask=0x", &out->umask);
		n = 2;
	}
	out->n_terms = p == end && !spec->modifiers.len ? n : 0;
}
