/* SPDX-License-Identifier: MIT */
/* Text to slices: where the processor, the event name and the attributes of a specifier stand. */
#include "lookup/lookup.h"

#include <string.h>
#include "table/table.h"

/* "pmu/terms/modifiers": @first is the first slash. */
static int parse_perf(struct spec *spec, const char *first, pfm_error_t *why)
{
	const char *last = strrchr(first, '/');

	if (last == first)
		return pfmi_refuse(why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, spec->text,
		                   (struct slice){ first, spec->len - (uint32_t)(first - spec->text) },
		                   "a second '/' must follow the terms");
	spec->form = SPEC_PERF;
	spec->pmu = (struct slice){ spec->text, (uint32_t)(first - spec->text) };
	spec->rest = (struct slice){ first, (uint32_t)(last - first) };
	spec->name = (struct slice){ first + 1, (uint32_t)(last - first - 1) };
	spec->modifiers = (struct slice){ last + 1, spec->len - (uint32_t)(last + 1 - spec->text) };
	if (spec->modifiers.len && spec->modifiers.s[0] == ':') {
		spec->modifiers.s++;
		spec->modifiers.len--;
	}
	return PFMLIB_SUCCESS;
}

/* Bytes of the text that goes on at @at; one too many for all that are more than a text may have. */
static uint32_t length(const char *text, const char *at)
{
	size_t n = (size_t)(at - text) + (*at ? strlen(at) : 0);

	return n > SPEC_MAX_TEXT ? SPEC_MAX_TEXT + 1 : (uint32_t)n;
}

static inline bool ends(uint64_t sum)
{
	return (int64_t)sum < 0;
}

/* Adds what is at @p to *@hash, up to a character that may end a piece of the text, and returns where that is. Three instructions for a
 * character: most of the time that it takes to read a text is spent here. */
static inline const char *add_plain(const char *p, uint32_t *hash)
{
	uint64_t h = *hash;

	for (;; p += 4) {
		if (ends(h += pfmi_weights[(unsigned char)p[0]]))
			break;
		if (ends(h += pfmi_weights[(unsigned char)p[1]])) {
			p += 1;
			break;
		}
		if (ends(h += pfmi_weights[(unsigned char)p[2]])) {
			p += 2;
			break;
		}
		if (ends(h += pfmi_weights[(unsigned char)p[3]])) {
			p += 3;
			break;
		}
	}
	__asm__(""
	        : "+r"(p)); /* read again what it is at: carrying it along the loop takes two instructions more for each character */
	*hash = (uint32_t)(h - pfmi_weights[(unsigned char)*p]);
	return p;
}

/* In a breakpoint (mem:ADDRESS/LENGTH) a slash stands alone. */
static bool is_breakpoint(const char *text)
{
	return strncmp(text, "mem:", 4) == 0;
}

/* A name, in one pass: every place where it may end, at ':' and '.', at the first ',' and at the end; "pmu::" before it. False if
 * a slash, where spec->rest begins then, shows that it is perf's form. */
static bool parse_name(struct spec *spec)
{
	const char *p = spec->text, *name = p;
	uint32_t h = NAME_HASH_SEED;
	unsigned n = 0;

	for (;; p++) {
		p = add_plain(p, &h);
		if (*p == '/') {
			if (!spec->pmu.len && !is_breakpoint(spec->text)) {
				spec->rest.s = p;
				return false;
			}
			h = name_hash(h, '/');
			continue;
		}
		if (*p != ':' && *p != '.')
			break;
		if (*p == ':' && p[1] == ':' && !spec->pmu.len && p > spec->text) {
			spec->pmu.len = (uint32_t)(p - spec->text);
			spec->pmu_hash = h;
			name = ++p + 1;
			n = 0;
			h = NAME_HASH_SEED;
			continue;
		}
		if (p > name && n < SPEC_MAX_CUTS)
			spec->cuts[n++] = (struct cut){ (uint32_t)(p - name), h };
		h = name_hash_separator(h);
	}
	if (n == SPEC_MAX_CUTS)
		n--;
	spec->name = (struct slice){ name, (uint32_t)(p - name) };
	spec->cuts[n++] = (struct cut){ spec->name.len, h };
	spec->n_cuts = n;
	spec->len = length(spec->text, p);
	return true;
}

int pfmi_spec_parse(const char *text, struct spec *out, pfm_error_t *why)
{
	out->text = text;
	out->form = SPEC_NAME;
	out->pmu = out->rest = out->modifiers = (struct slice){ text, 0 };
	out->n_cuts = 0;
	if (!parse_name(out)) {
		out->len = length(text, out->rest.s);
		if (out->len <= SPEC_MAX_TEXT)
			return parse_perf(out, out->rest.s, why);
	}
	if (out->len > SPEC_MAX_TEXT)
		return pfmi_refuse(why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, text, (struct slice){ text, 0 },
		                   "the text is longer than 4096 bytes");
	return PFMLIB_SUCCESS;
}

/* Bytes of the attribute that @rest begins with. */
static uint32_t length_of_attr(struct slice rest)
{
	const char *p = rest.s + 1, *end = rest.s + rest.len;

	if (rest.s[0] == ',' || rest.s[0] == '/') {
		p = memchr(p, ',', (size_t)(end - p));
		return p ? (uint32_t)(p - rest.s) : rest.len;
	}
	while (p < end && (!(pfmi_weights[(unsigned char)*p] & NAME_ENDS) || *p == '/'))
		p++;
	return (uint32_t)(p - rest.s);
}

bool pfmi_spec_next(struct slice *rest, struct spec_attr *out)
{
	const char *s = rest->s, *equals;
	uint32_t n, eq;

	if (rest->len == 0)
		return false;
	n = length_of_attr(*rest);
	equals = memchr(s, '=', n);
	eq = equals ? (uint32_t)(equals - s) : 0;
	out->at = s[0];
	out->has_value = eq != 0;
	out->name = (struct slice){ s + 1, (eq ? eq : n) - 1 };
	out->value = eq ? (struct slice){ s + eq + 1, n - eq - 1 } : (struct slice){ s + n, 0 };
	rest->s += n;
	rest->len -= n;
	return true;
}

/* The hexadecimal number behind @term, which ends in "0x". Returns what follows it, which is @end at most; NULL if that is not there. */
static const char *read_number(const char *p, const char *end, const char term[8], uint64_t *value)
{
	const char *digits = p + 8;
	unsigned d;

	if (end - p < 9 || memcmp(p, term, 8) != 0)
		return NULL;
	*value = 0;
	for (p = digits; (d = pfmi_digit(*p)) < 16; p++)
		*value = *value << 4 | d;
	return p > digits && p - digits < 16 ? p : NULL;
}

void pfmi_spec_numbers(const struct spec *spec, struct spec_numbers *out)
{
	const char *end = spec->rest.s + spec->rest.len, *p = read_number(spec->rest.s + 1, end, "event=0x", &out->code);
	unsigned n = 1;

	out->umask = 0;
	if (p && *p == ',') {
		p = read_number(p + 1, end, "umask=0x", &out->umask);
		n = 2;
	}
	out->n = p == end && !spec->modifiers.len ? n : 0;
}
