/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface: events of the selected processor.
 *
 * Indexes are positions of rows. Names are compared as in libpfm 3: in full, without regard to
 * case, with all characters. */
#include <stdlib.h>
#include <string.h>
#include "selected.h"

/* The event code as libpfm 3 reports it. On x86 it includes the row's unit mask; on processors
 * whose selects differ between counters it is that of @counter. */
static uint64_t get_row_code(const struct table *t, unsigned row, unsigned counter)
{
	if (!table_get_key_field(t, KEY_CODE)) {
		if (counter == ANY_COUNTER && table_get_row_counter_mask(t, table_get_row(t, row)))
			counter = (unsigned)__builtin_ctzll(
				table_get_row_counter_mask(t, table_get_row(t, row)));
		return pfmi_table_get_row_value(t, row, KEY_SEL, counter);
	}
	return pfmi_table_get_row_value(t, row, KEY_CODE, counter) |
	       (t->encoder == ENCODER_X86
	                ? pfmi_table_get_row_value(t, row, KEY_UMASK, counter) << 8
	                : 0);
}

/* The code of a unit mask: its position for Montecito's cache line states, its bits otherwise. */
static uint64_t get_mask_code(const struct table *t, unsigned row, unsigned mask)
{
	const struct named_value *w = pfmi_pmu_get_row_umask(t, row, mask, NULL);

	return t->encoder == ENCODER_MONTECITO ? mask : w->value;
}

static const char *get_umask_name(const struct table *t, unsigned row, unsigned mask)
{
	return table_get_text(t, pfmi_pmu_get_row_umask(t, row, mask, NULL)->name);
}

static int find_row_by_name(const struct table *t, const char *s, size_t len, unsigned *idx)
{
	struct slice name = { s, (uint32_t)len };
	struct name_entry n = table_find_name(t, pfmi_table_hash_name(name), s, len);

	/* Names are hashed without blanks and dashes, which libpfm 3 compares. */
	if ((n.kind != NAME_EVENT && n.kind != NAME_ALIAS) ||
	    !pfmi_base_is_slice_icase(name, table_get_text(t, n.text)))
		return PFMLIB_ERR_NOTFOUND;
	*idx = n.row;
	return PFMLIB_SUCCESS;
}

static int find_row_by_code(const struct table *t, uint64_t code, unsigned first, unsigned *idx)
{
	for (unsigned i = first; i < t->n_rows; i++)
		if (get_row_code(t, i, ANY_COUNTER) == code) {
			*idx = i;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}

pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!name || !idx)
		return PFMLIB_ERR_INVAL;
	return find_row_by_name(t, name, strcspn(name, ":"), idx);
}

pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!idx)
		return PFMLIB_ERR_INVAL;
	return find_row_by_code(t, (uint64_t)(int64_t)code, 0, idx);
}

pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!next)
		return PFMLIB_ERR_INVAL;
	return start < t->n_rows ? find_row_by_code(t, (uint64_t)(int64_t)code, start + 1, next)
	                         : PFMLIB_ERR_NOTFOUND;
}

pfm_err_t pfm_find_event(const char *str, unsigned int *idx)
{
	uint64_t code;

	if (!pfm3_get_selected_table())
		return PFMLIB_ERR_NOINIT;
	if (!str || !idx)
		return PFMLIB_ERR_INVAL;
	if (*str < '0' || *str > '9')
		return pfm_find_event_byname(str, idx);
	/* Names of the Pentium 4 begin with digits. */
	if (!pfmi_base_parse_number(pfmi_base_make_slice(str), &code))
		return pfm_find_event_byname(str, idx) ? PFMLIB_ERR_INVAL : PFMLIB_SUCCESS;
	if (code > INT32_MAX)
		return PFMLIB_ERR_INVAL;
	return pfm_find_event_bycode((int)code, idx);
}

static int find_umask(const struct table *t, unsigned row, struct slice s, unsigned *mask)
{
	unsigned n = pfmi_pmu_count_row_umasks(t, row);
	uint64_t code;

	for (unsigned i = 0; i < n; i++)
		if (pfmi_base_is_slice_icase(s, get_umask_name(t, row, i))) {
			*mask = i;
			return PFMLIB_SUCCESS;
		}
	for (unsigned i = 0; pfmi_base_parse_number(s, &code) && i < n; i++)
		if (get_mask_code(t, row, i) == code) {
			*mask = i;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_UMASK;
}

pfm_err_t pfm_find_event_mask(unsigned int event, const char *str, unsigned int *mask_idx)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!str || !mask_idx || event >= t->n_rows)
		return PFMLIB_ERR_INVAL;
	return find_umask(t, event, pfmi_base_make_slice(str), mask_idx);
}

static int add_umask(pfmlib_event_t *e, unsigned mask)
{
	for (unsigned i = 0; i < e->num_masks; i++)
		if (e->unit_masks[i] == mask)
			return PFMLIB_SUCCESS;
	if (e->num_masks == PFMLIB_MAX_MASKS_PER_EVENT)
		return PFMLIB_ERR_TOOMANY;
	e->unit_masks[e->num_masks++] = mask;
	return PFMLIB_SUCCESS;
}

/* Adds the masks whose codes together are the number @s. */
static int add_umask_union(const struct table *t, struct slice s, pfmlib_event_t *e)
{
	unsigned n = pfmi_pmu_count_row_umasks(t, e->event);
	uint64_t number, all = 0;

	if (!pfmi_base_parse_number(s, &number))
		return PFMLIB_ERR_UMASK;
	for (unsigned i = 0; i < n; i++)
		if (!(get_mask_code(t, e->event, i) & ~number))
			all |= get_mask_code(t, e->event, i);
	if (all != number)
		return PFMLIB_ERR_UMASK;
	for (unsigned i = 0; i < n; i++)
		if (!(get_mask_code(t, e->event, i) & ~number)) {
			int rc = add_umask(e, i);

			if (rc)
				return rc;
		}
	return PFMLIB_SUCCESS;
}

static int parse_umasks(const struct table *t, const char *s, pfmlib_event_t *e)
{
	for (;;) {
		struct slice piece = { s, (uint32_t)strcspn(s, ":") };
		unsigned mask;
		int rc;

		if (piece.len == 0)
			return PFMLIB_ERR_UMASK;
		rc = find_umask(t, e->event, piece, &mask);
		rc = rc ? add_umask_union(t, piece, e) : add_umask(e, mask);
		if (rc)
			return rc;
		if (!s[piece.len])
			return PFMLIB_SUCCESS;
		s += piece.len + 1;
	}
}

pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e)
{
	const struct table *t = pfm3_get_selected_table();
	size_t len;
	int rc;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!str || !e)
		return PFMLIB_ERR_INVAL;
	memset(e, 0, sizeof(*e));
	len = strcspn(str, ":");
	rc = find_row_by_name(t, str, len, &e->event);
	if (rc)
		return rc;
	if (pfmi_pmu_count_row_umasks(t, e->event) == 0)
		return str[len] ? PFMLIB_ERR_UMASK : PFMLIB_SUCCESS;
	return str[len] ? parse_umasks(t, str + len + 1, e) : PFMLIB_ERR_UMASK;
}

pfm_err_t pfm_get_num_events(unsigned int *count)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!count)
		return PFMLIB_ERR_INVAL;
	*count = t->n_rows;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_max_event_name_len(size_t *len)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!len)
		return PFMLIB_ERR_INVAL;
	*len = 0;
	for (unsigned i = 0; i < t->n_rows; i++) {
		size_t this_len = strlen(table_get_row_name(t, i));

		for (unsigned m = pfmi_pmu_count_row_umasks(t, i); m-- > 0;)
			this_len += 1 + strlen(get_umask_name(t, i, m));
		*len = this_len > *len ? this_len : *len;
	}
	return PFMLIB_SUCCESS;
}

/* Appends @text in upper case, truncated if the text and a NUL do not fit into @max bytes. False if
 * it was truncated. */
static bool append_upper_case(char *buf, size_t max, size_t *at, const char *text)
{
	for (; *text; text++) {
		if (*at + 1 >= max)
			return false;
		buf[(*at)++] = *text >= 'a' && *text <= 'z' ? (char)(*text - ('a' - 'A')) : *text;
		buf[*at] = '\0';
	}
	return true;
}

pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen)
{
	const struct table *t = pfm3_get_selected_table();
	size_t at = 0;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !name || maxlen <= strlen(table_get_row_name(t, idx)))
		return PFMLIB_ERR_INVAL;
	append_upper_case(name, maxlen, &at, table_get_row_name(t, idx));
	return PFMLIB_SUCCESS;
}

int pfm3_check_event(const struct table *t, const pfmlib_event_t *e)
{
	unsigned n;

	if (e->event >= t->n_rows || e->num_masks > PFMLIB_MAX_MASKS_PER_EVENT)
		return PFMLIB_ERR_INVAL;
	n = pfmi_pmu_count_row_umasks(t, e->event);
	if ((n == 0) != (e->num_masks == 0))
		return PFMLIB_ERR_UMASK;
	for (unsigned i = 0; i < e->num_masks; i++)
		if (e->unit_masks[i] >= n)
			return PFMLIB_ERR_UMASK;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen)
{
	const struct table *t = pfm3_get_selected_table();
	size_t at = 0;
	bool fits;
	int rc;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!e || !name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	rc = pfm3_check_event(t, e);
	if (rc)
		return rc;
	name[0] = '\0';
	fits = append_upper_case(name, maxlen, &at, table_get_row_name(t, e->event));
	for (unsigned i = 0; fits && i < e->num_masks; i++)
		fits = append_upper_case(name, maxlen, &at, ":") &&
		       append_upper_case(name, maxlen, &at,
		                         get_umask_name(t, e->event, e->unit_masks[i]));
	return fits ? PFMLIB_SUCCESS : PFMLIB_ERR_FULL;
}

pfm_err_t pfm_get_event_code(unsigned int idx, int *code)
{
	return pfm_get_event_code_counter(idx, ~0u, code);
}

pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int counter, int *code)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !code)
		return PFMLIB_ERR_INVAL;
	if (counter != ~0u && (counter > 63 || !(t->all_counters >> counter & 1)))
		return PFMLIB_ERR_INVAL;
	*code = (int)get_row_code(t, idx, counter == ~0u ? ANY_COUNTER : counter);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !counters)
		return PFMLIB_ERR_INVAL;
	memset(counters, 0, sizeof(*counters));
	counters->bits[0] = table_get_row_counter_mask(t, table_get_row(t, idx));
	return PFMLIB_SUCCESS;
}

static int copy_text(const char *text, char **out)
{
	char *copy = strdup(text);

	if (!copy)
		return PFMLIB_ERR_NOMEM;
	*out = copy;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_description(unsigned int idx, char **desc)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !desc)
		return PFMLIB_ERR_INVAL;
	return copy_text(table_get_text(t, table_get_row(t, idx)->desc), desc);
}

pfm_err_t pfm_get_num_event_masks(unsigned int idx, unsigned int *count)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !count)
		return PFMLIB_ERR_INVAL;
	*count = pfmi_pmu_count_row_umasks(t, idx);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_mask_name(unsigned int idx, unsigned int mask_idx, char *name,
                                  size_t maxlen)
{
	const struct table *t = pfm3_get_selected_table();
	size_t at = 0;
	unsigned n;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	n = pfmi_pmu_count_row_umasks(t, idx);
	if (n == 0)
		return PFMLIB_ERR_NOTSUPP;
	if (mask_idx >= n)
		return PFMLIB_ERR_INVAL;
	if (maxlen <= strlen(get_umask_name(t, idx, mask_idx)))
		return PFMLIB_ERR_FULL;
	append_upper_case(name, maxlen, &at, get_umask_name(t, idx, mask_idx));
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !code || mask_idx >= pfmi_pmu_count_row_umasks(t, idx))
		return PFMLIB_ERR_INVAL;
	*code = (unsigned)get_mask_code(t, idx, mask_idx);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_mask_description(unsigned int idx, unsigned int mask_idx, char **desc)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (idx >= t->n_rows || !desc || mask_idx >= pfmi_pmu_count_row_umasks(t, idx))
		return PFMLIB_ERR_INVAL;
	return copy_text(table_get_text(t, pfmi_pmu_get_row_umask(t, idx, mask_idx, NULL)->desc),
	                 desc);
}

static int find_special_event(enum pfm3_special_event which, pfmlib_event_t *e)
{
	const struct table *t = pfm3_get_selected_table();
	const char *name;
	unsigned row;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!e)
		return PFMLIB_ERR_INVAL;
	name = pfm3_get_special_event(t, which);
	if (!name || find_row_by_name(t, name, strlen(name), &row))
		return PFMLIB_ERR_NOTSUPP;
	memset(e, 0, sizeof(*e));
	e->event = row;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e)
{
	return find_special_event(PFM3_CYCLES, e);
}

pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e)
{
	return find_special_event(PFM3_INSTRUCTIONS, e);
}
