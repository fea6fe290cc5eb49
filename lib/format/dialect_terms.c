/* SPDX-License-Identifier: MIT */
/* An event in the terms of a dialect: what one dialect writes as a unit mask is a field, a
 * flag or a raw number in another. */
#include "format/printer.h"

static bool is_nameable_value(const struct table *t, const struct umask_group *g, uint64_t value)
{
	return pfmi_format_has_words_for_value(t, g, value) ||
	       (!value && !(g->flags & (GROUP_REQUIRED | GROUP_HAS_DEFAULT)));
}

/* Splits a raw unit mask into the groups it represents, if all of them can be named. */
static void split_raw_umask(struct event *ev)
{
	uint64_t raw = 0, seen = 0, parts[EVENT_MAX_GROUPS];

	for (unsigned i = 0; i < event_count_groups(ev); i++)
		raw |= ev->group_values[i];
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);
		bool masks = g->field + 1u == table_get_key_field_plus1(ev->table, KEY_UMASK);

		parts[i] = masks ? raw & g->mask : 0;
		if ((masks && seen & g->mask) || !is_nameable_value(ev->table, g, parts[i]))
			return;
		seen |= masks ? g->mask : 0;
	}
	if (raw & ~seen)
		return;
	memcpy(ev->group_values, parts, event_count_groups(ev) * sizeof(parts[0]));
	ev->has_raw_umask = 0;
}

static bool merge_field_value(struct event *ev, unsigned field, uint64_t value)
{
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field) {
			ev->user_fields[i].value |= value;
			return true;
		}
	return pfmi_pmu_set_user_field(ev, field, value);
}

/* Turns a raw unit mask into its field as a whole, if unit masks are parts of a modifier. The first
 * group holds all of the raw mask. */
static void convert_raw_to_field(struct event *ev)
{
	const struct umask_group *g = event_get_group(ev, 0);

	if (table_fields(ev->table)[g->field].is_modifier &&
	    merge_field_value(ev, g->field, ev->group_values[0]))
		ev->group_values[0] = ev->has_raw_umask = 0;
}

/* Turns a unit mask that sets a flag ("TRIPS" is edge) into the flag: only libpfm has it as a unit
 * mask. */
static void convert_umask_to_flag(struct event *ev)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);
		const struct field *f = table_fields(ev->table) + g->field;

		if (f->is_modifier && f->width == 1 && !(g->flags & GROUP_REQUIRED) &&
		    (!ev->group_values[i] || merge_field_value(ev, g->field, ev->group_values[i])))
			ev->group_values[i] = 0;
	}
}

/* Would a group of @field have no words for its value, once the field is not set as a whole? */
static bool has_unnameable_group(const struct event *ev, unsigned field)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++) {
		const struct umask_group *g = event_get_group(ev, i);

		if (g->field == field && pfmi_format_is_written_without_fields(ev, i) &&
		    !is_nameable_value(ev->table, g, ev->group_values[i]))
			return true;
	}
	return false;
}

static void convert_flag_to_umask(struct event *ev)
{
	for (unsigned i = 0; i < event_count_groups(ev); i++)
		for (unsigned k = 0; k < ev->n_user_fields; k++) {
			const struct umask_group *g = event_get_group(ev, i);
			uint64_t value = ev->user_fields[k].value | ev->group_values[i],
				 before = ev->group_values[i];

			if (ev->user_fields[k].field != g->field || !value ||
			    !pfmi_format_has_words_for_value(ev->table, g, value))
				continue;
			ev->group_values[i] = value;
			if (has_unnameable_group(ev, g->field))
				ev->group_values[i] = before;
			else
				ev->user_fields[k--] = ev->user_fields[--ev->n_user_fields];
		}
}

void pfmi_format_use_dialect_terms(struct event *ev, pfm_dialect_t dialect)
{
	if (ev->has_raw_umask)
		split_raw_umask(ev);
	if (ev->has_raw_umask)
		convert_raw_to_field(ev);
	if (dialect == PFM_DIALECT_LIBPFM)
		convert_flag_to_umask(ev);
	else if (dialect != PFM_DIALECT_PERF)
		convert_umask_to_flag(ev);
}
