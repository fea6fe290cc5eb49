/* SPDX-License-Identifier: MIT */
/* pfm stat: the options of each mode. An option that a mode would ignore is refused. */
#include "stat/options.h"

#include <string.h>

/* Options that are not listed belong to the usual mode alone. */
static const struct {
	const char *name;
	unsigned modes;
} options[] = {
	{ "event", STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS },
	{ "json", STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS },
	{ "output", STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS },
	{ "append", STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS },
	{ "metrics", STAT_COUNTS | STAT_REGIONS },
	{ "per-thread", STAT_COUNTS | STAT_REGIONS },
	{ "field-separator", STAT_COUNTS | STAT_REGIONS },
	{ "repeat", STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS },
	{ "no-inherit", STAT_COUNTS | STAT_COMMANDS },
	{ "pid", STAT_COUNTS | STAT_REGIONS },
	{ "interval", STAT_COUNTS | STAT_REGIONS },
	{ "regions", STAT_REGIONS },
	{ "regions-system", STAT_REGIONS },
	{ "no-subtract", STAT_REGIONS },
};

static unsigned get_modes(const char *name)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(options[i].name, name) == 0)
			return options[i].modes;
	return STAT_COUNTS;
}

void note_given_option(struct stat_options *o, int id)
{
	for (unsigned i = 0; stat_options[i].name; i++)
		if (stat_options[i].id == id)
			o->given_options |= (uint64_t)1 << i;
}

int check_option_modes(struct command_args *args, const struct stat_job *job, enum stat_mode mode)
{
	for (unsigned i = 0; stat_options[i].name; i++) {
		const char *name = stat_options[i].name;

		if (!(job->options.given_options >> i & 1) || get_modes(name) & mode)
			continue;
		if (mode == STAT_COUNTS)
			return report_usage_error(args, "--%s needs --regions.", name);
		return report_usage_error(args, "--%s cannot be combined with %s.", name,
		                          mode == STAT_REGIONS ? "--regions"
		                                               : "several commands (::)");
	}
	return EXIT_DONE;
}
