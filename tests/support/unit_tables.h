/* SPDX-License-Identifier: MIT */
/* Tables that are built in, and sets of their rows. */
#ifndef PERFMON_TESTS_UNITS_TABLES_H
#define PERFMON_TESTS_UNITS_TABLES_H

#include "units.h"
#include "pmu/pmu.h"

/* The first built-in table of @encoder; with @name, the one called so. */
static inline const struct table *table_with(unsigned encoder, const char *name)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->encoder == encoder &&
		    (!name ||
		     strcmp(table_get_text(table_get_builtin(i), table_get_builtin(i)->name),
		            name) == 0))
			return table_get_builtin(i);
	fail_msg("no table of encoder %u %s", encoder, name ? name : "");
	return NULL;
}

/* The built-in table called @name, whatever its encoder. */
static inline const struct table *table_called(const char *name)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (strcmp(table_get_text(table_get_builtin(i), table_get_builtin(i)->name),
		           name) == 0)
			return table_get_builtin(i);
	fail_msg("no table %s", name);
	return NULL;
}

/* The registers of @n events together; fails if they do not fit. */
static inline void find_place(const struct event *events, unsigned n, unsigned plm,
                              struct placement *where, struct register_values *out)
{
	const struct encode_request req = {
		.table = events[0].table, .events = events, .n_events = n, .plm = plm
	};

	assert_int_equal(pfmi_pmu_dispatch_set(&req, where, out, NULL), PFMLIB_SUCCESS);
}

/* Fails unless the @n fields at @layout are those in @drawn, "name:first-last name:bit ...", all
 * there are and in order. */
static inline void expect_fields(const struct register_field *layout, unsigned n, const char *drawn)
{
	char text[1024] = "";
	size_t used = 0;

	for (unsigned i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%u", i ? " " : "",
		                         layout[i].name, layout[i].lsb);
		if (layout[i].width > 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "-%u",
			                         layout[i].lsb + layout[i].width - 1);
	}
	assert_string_equal(text, drawn);
}

/* True if @row of @t represents an event. */
static inline bool is_event(const struct table *t, uint32_t row)
{
	return !(table_get_row(t, row)->flags & (ROW_METRIC | ROW_SHADOWED));
}

/* The kernel's words of an event as they are without attributes. */
static inline void config_of(const struct table *t, uint32_t row, uint64_t config[N_CONFIG_WORDS])
{
	struct event ev;
	perfmon_attr_t a;

	pfmi_pmu_init_event(&ev, t, row);
	pfmi_pmu_build_event_attr(&ev, -1, PFM_PLM0 | PFM_PLM3, &a);
	attr_get_words(&a, config);
}

#endif
