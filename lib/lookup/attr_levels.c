/* SPDX-License-Identifier: MIT */
/* Attributes of every event: privilege levels, precision, the counter, perf's letters. */
#include "lookup/attr_internal.h"

static const struct {
	char word[4];
	char separator;
	uint8_t plm;
} level_words[] = {
	{ "u", ':', PFM_PLM3 },   { "k", ':', PFM_PLM0 },  { "h", ':', PFMI_PLMH },
	{ "usr", ',', PFM_PLM3 }, { "os", ',', PFM_PLM0 },
};

bool pfmi_lookup_get_level_word(unsigned i, const char **word, unsigned *plm)
{
	if (i >= sizeof(level_words) / sizeof(level_words[0]))
		return false;
	*word = level_words[i].word;
	*plm = level_words[i].plm & 0xfu;
	return true;
}

/* libpfm4 calls the hypervisor level "hv" on Arm. */
static bool is_level_word(struct slice name, unsigned i)
{
	return attr_is_word(name, level_words[i].word) ||
	       (level_words[i].plm == PFMI_PLMH && attr_is_word(name, "hv"));
}

/* Switches the levels in @plm on or off; refused if the text said the opposite before. */
static int set_levels(struct attr_reader *r, unsigned plm, bool on, struct slice at)
{
	if (plm & (on ? r->cleared_plm : r->event->plm))
		return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, at,
		                   "contradicts an earlier value");
	r->has_level = true;
	if (on)
		r->event->plm |= (uint8_t)plm;
	else
		r->cleared_plm |= plm;
	return PFMLIB_SUCCESS;
}

/* Has @name the length and the first letter of a level? */
static bool may_be_level(struct slice name)
{
	if (name.len == 0 || name.len > MAX_LEVEL_LENGTH)
		return false;
	switch (name.text[0] | 0x20) {
	case 'u':
	case 'k':
	case 'h':
	case 'o': return true;
	default: return false;
	}
}

int pfmi_attr_read_level(struct attr_reader *r)
{
	if (!may_be_level(r->attr.name))
		return 0;
	for (unsigned i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++) {
		bool on;
		int rc;

		if (!is_level_word(r->attr.name, i) ||
		    (level_words[i].separator == ',' && attr_is_libpfm(r)) ||
		    (level_words[i].separator == ':' && attr_is_libpmc(r)))
			continue;
		rc = pfmi_attr_parse_bool(r, &on);
		if (rc)
			return rc;
		rc = set_levels(r, level_words[i].plm, on, r->attr.name);
		return rc ? rc : 1;
	}
	return 0;
}

bool pfmi_attr_is_level(struct slice word)
{
	for (unsigned i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++)
		if (level_words[i].separator == ':' && attr_is_word(word, level_words[i].word))
			return true;
	return false;
}

int pfmi_attr_parse_bool(const struct attr_reader *r, bool *out)
{
	struct slice v = r->attr.value;
	uint64_t number = 0;

	*out = true;
	if (!r->attr.has_value)
		return PFMLIB_SUCCESS;
	if (attr_is_libpmc(r))
		return attr_refuse(r, PFMLIB_ERR_ATTR_UNEXPECTED, PFM_KIND_UNEXPECTED_VALUE, v,
		                   NULL);
	if (v.len == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name,
		                   NULL);
	if (v.len == 1 && strchr("yYtT", v.text[0]))
		return PFMLIB_SUCCESS;
	if (pfmi_base_parse_number(v, &number) ? number <= 1
	                                       : v.len == 1 && strchr("nNfF", v.text[0])) {
		*out = number == 1;
		return PFMLIB_SUCCESS;
	}
	return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, v,
	                   "expected y, t or 1 for yes, n, f or 0 for no");
}

static int refuse_contradiction(const struct attr_reader *r)
{
	return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
	                   "contradicts an earlier value");
}

static int set_counter_pin(struct attr_reader *r, unsigned counter)
{
	if (r->event->counter_pin != ANY_COUNTER && r->event->counter_pin != counter)
		return refuse_contradiction(r);
	r->event->counter_pin = (uint16_t)counter;
	return PFMLIB_SUCCESS;
}

/* "plm" may be beside levels by name, which it must not contradict. */
static int set_plm(struct attr_reader *r, unsigned plm)
{
	if (r->has_plm && r->given_plm != plm)
		return refuse_contradiction(r);
	r->has_plm = true;
	r->given_plm = plm;
	return set_levels(r, plm, true, r->attr.name);
}

static int set_precise(struct attr_reader *r, unsigned precise)
{
	if (r->has_precise && r->event->precise != precise)
		return refuse_contradiction(r);
	r->has_precise = true;
	r->event->precise = (uint8_t)precise;
	return PFMLIB_SUCCESS;
}

/* "counter=2", "plm=0x9", "precise=2": attributes of every event in the colon and perf grammars. */
int pfmi_attr_read_common(struct attr_reader *r)
{
	static const struct {
		char word[8];
		uint64_t max;
		char detail[40];
	} words[] = { { "counter", 63, "expected a counter from 0 to 63" },
		      { "plm", 15, "expected levels from 0 to 15" },
		      { "precise", 3, "expected a precise level from 0 to 3" } };
	unsigned which = 0;
	uint64_t value;
	int rc;

	while (which < 3 && !attr_is_word(r->attr.name, words[which].word))
		which++;
	if (which == 3 || attr_is_libpmc(r))
		return 0;
	if (!r->attr.has_value || r->attr.value.len == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name,
		                   NULL);
	if (!pfmi_base_parse_number(r->attr.value, &value) || value > words[which].max)
		return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value,
		                   words[which].detail);
	rc = which == 0   ? set_counter_pin(r, (unsigned)value)
	     : which == 1 ? set_plm(r, (unsigned)value)
	                  : set_precise(r, (unsigned)value);
	return rc ? rc : 1;
}

/* perf's modifier letters: levels, precision, exclusions. D, S and W are settings of a session. */
int pfmi_attr_read_perf_modifiers(struct attr_reader *r, struct slice m)
{
	for (uint32_t i = 0; i < m.len; i++) {
		struct slice letter = { m.text + i, 1 };
		int rc = PFMLIB_SUCCESS;

		switch (m.text[i]) {
		case 'u': rc = set_levels(r, PFM_PLM3, true, letter); break;
		case 'k': rc = set_levels(r, PFM_PLM0, true, letter); break;
		case 'h': rc = set_levels(r, PFMI_PLMH, true, letter); break;
		case 'p':
			r->has_precise = true;
			if (++r->event->precise > 3)
				return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
				                   letter, "at most three: ppp");
			break;
		case 'P': r->event->precise = 3; break;
		case 'I': r->event->exclude_flags |= EVENT_EXCLUDE_IDLE; break;
		case 'G': r->event->exclude_flags |= EVENT_ONLY_GUEST; break;
		case 'H': r->event->exclude_flags |= EVENT_ONLY_HOST; break;
		case 'D':
		case 'S':
		case 'W': break;
		case 'e':
			return attr_refuse(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter,
			                   "this library has no exclusive groups");
		case 'b':
			return attr_refuse(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter,
			                   "this library cannot count with BPF");
		default:
			return attr_refuse(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter,
			                   NULL);
		}
		if (rc)
			return rc;
	}
	return PFMLIB_SUCCESS;
}
