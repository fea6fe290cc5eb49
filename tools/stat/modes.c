/* SPDX-License-Identifier: MIT */
/* pfm stat: the options of each mode. An option that a mode would ignore is refused. */
#include "stat/options.h"

#include <string.h>

enum { STAT_ALL = STAT_COUNTS | STAT_REGIONS | STAT_COMMANDS | STAT_REGION_COMMANDS };

/* Options that are not listed belong to the usual mode alone. */
static const struct {
	const char *name;
	unsigned modes;
} options[] = {
	{ "event", STAT_ALL },
	{ "json", STAT_ALL },
	{ "output", STAT_ALL },
	{ "append", STAT_ALL },
	{ "repeat", STAT_ALL },
	{ "metrics", STAT_COUNTS | STAT_REGIONS | STAT_REGION_COMMANDS },
	{ "per-thread", STAT_COUNTS | STAT_REGIONS },
	{ "field-separator", STAT_COUNTS | STAT_REGIONS },
	{ "no-inherit", STAT_COUNTS | STAT_COMMANDS },
	{ "pid", STAT_COUNTS | STAT_REGIONS },
	{ "interval", STAT_COUNTS | STAT_REGIONS },
	{ "html", STAT_COUNTS | STAT_REGIONS },
	{ "regions", STAT_REGIONS | STAT_REGION_COMMANDS },
	{ "regions-system", STAT_REGIONS | STAT_REGION_COMMANDS },
	{ "no-subtract", STAT_REGIONS | STAT_REGION_COMMANDS },
	{ "visits", STAT_REGIONS },
	{ "by", STAT_REGIONS },
	{ "keep", STAT_REGIONS },
	{ "fail-above", STAT_COMMANDS | STAT_REGION_COMMANDS },
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

static bool is_option_given(const struct stat_options *o, int id)
{
	for (unsigned i = 0; stat_options[i].name; i++)
		if (stat_options[i].id == id)
			return o->given_options >> i & 1;
	return false;
}

int check_rounds(struct command_args *args, const struct stat_job *job)
{
	if (is_option_given(&job->options, 'r') && job->timing.repeat < 2)
		return report_usage_error(args, "-r: expected at least 2 rounds of several "
		                                "commands (::).");
	return EXIT_DONE;
}

static const char *describe_mode(enum stat_mode mode)
{
	if (mode == STAT_REGIONS)
		return "--regions";
	return mode == STAT_COMMANDS ? "several commands (::)"
	                             : "the regions of several commands (::)";
}

int check_option_modes(struct command_args *args, const struct stat_job *job, enum stat_mode mode)
{
	for (unsigned i = 0; stat_options[i].name; i++) {
		const char *name = stat_options[i].name;
		const unsigned modes = get_modes(name);

		if (!(job->options.given_options >> i & 1) || modes & mode)
			continue;
		if (mode == STAT_COUNTS)
			return report_usage_error(args, "--%s needs %s.", name,
			                          modes & STAT_REGIONS ? "--regions"
			                                               : "OLD :: NEW");
		return report_usage_error(args, "--%s cannot be combined with %s.", name,
		                          describe_mode(mode));
	}
	return EXIT_DONE;
}
