/* SPDX-License-Identifier: MIT */
/* Terms of sampling in an event text: period=, freq=, precise=, pinned, excl. They are removed
 * before the event is looked up, as no PMU has them. */
#include <string.h>
#include "session/session_internal.h"

struct sampling_term {
	struct slice name, value;
	bool has_value;
	bool is_perf_syntax; /* between slashes, where numbers are written as perf does */
};

/* Applies the term @t. Returns false if its value is invalid. @known: it is a term of sampling. */
static bool apply_term(const struct sampling_term *t, struct group_member *m, bool *known)
{
	uint64_t v = 0;
	bool number = t->has_value && (t->is_perf_syntax ? pfmi_base_parse_perf_number
	                                                 : pfmi_base_parse_number)(t->value, &v);

	*known = true;
	if (pfmi_base_is_slice_icase(t->name, "period") && t->has_value)
		return m->period = v, m->freq = 0, number && v && !(v >> 63);
	if (pfmi_base_is_slice_icase(t->name, "freq") && t->has_value)
		return m->freq = v, m->period = 0, number && v && !(v >> 63);
	if (pfmi_base_is_slice_icase(t->name, "precise") && t->has_value)
		return m->precise = 1 + (unsigned)(v & 3), number && v < 4;
	if (pfmi_base_is_slice_icase(t->name, "pinned") && !t->has_value)
		return m->pinned = true;
	if (pfmi_base_is_slice_icase(t->name, "excl") && !t->has_value)
		return m->exclusive = true;
	return *known = false;
}

static struct sampling_term parse_term(const char *s, size_t len, bool perfs)
{
	const char *eq = memchr(s, '=', len);
	size_t name = eq ? (size_t)(eq - s) : len;

	return (struct sampling_term){ { s, (uint32_t)name },
		                       { eq ? eq + 1 : s + len,
		                         (uint32_t)(eq ? len - name - 1 : 0) },
		                       eq != NULL,
		                       perfs };
}

/* Removes the @len bytes at @s and one separator: the one before them, or the one after them where
 * the terms of a PMU begin. Afterwards s - 1 is a separator. */
static void remove_term(char *s, size_t len)
{
	char *from = s[-1] == '/' ? s : s - 1;

	if (from == s && s[len] == ',')
		len++;
	memmove(from, s + len, strlen(s + len) + 1);
}

bool pfmi_session_extract_terms(char *text, struct group_member *m, const char **bad)
{
	bool any = false;
	char *s = text + strcspn(text, ":,/");

	*bad = NULL;
	while (s && *s) {
		size_t len = strcspn(s + 1, ":,/");
		struct sampling_term t = parse_term(s + 1, len, *s != ':' && strchr(text, '/'));
		bool known;

		if (!apply_term(&t, m, &known) && known) {
			*bad = s + 1;
			return true;
		}
		any |= known;
		if (known)
			remove_term(s + 1, len);
		else
			s += 1 + len;
	}
	return any;
}
