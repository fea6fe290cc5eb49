/* SPDX-License-Identifier: MIT */
/* Facts of the machine at hand on which rules of tables depend, each with its evidence: the file
 * that shows it and what the file says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"

/* A file with a number that is the fact, or its negation. Texts are arrays, since pointers would
 * need relocations. */
struct fact_file {
	char path[48];
	bool is_negated;
};

static const struct fact_file fact_files[N_MACHINE_FACTS] = {
	[FACT_SMT] = { "/sys/devices/system/cpu/smt/active", false },
	[FACT_WATCHDOG] = { "/proc/sys/kernel/nmi_watchdog", false },
	[FACT_TSX_RESERVE] = { "/sys/devices/cpu/allow_tsx_force_abort", true },
};

/* A word in a line of /proc/cpuinfo. */
static const struct {
	char line[8], word[12];
} fact_words[N_MACHINE_FACTS] = {
	[FACT_GUEST] = { "flags", "hypervisor" },
	[FACT_TSX] = { "flags", "rtm" },
};

static bool read_fact_file(const struct sys *sys, const struct fact_file *f, char *evidence,
                           size_t len)
{
	uint64_t value;

	if (pfmi_machine_read_number(sys, f->path, &value) || (value != 0) == f->is_negated)
		return false;
	snprintf(evidence, len, "%s is %u", f->path, (unsigned)value);
	return true;
}

/* Has the first line of @text that begins with @key the word? */
static bool has_word_in_line(const char *text, const char *key, const char *word)
{
	size_t n = strlen(word);
	const char *line = strstr(text, key), *end = line ? strchr(line, '\n') : NULL;

	for (const char *at = line; at && (at = strstr(at, word)) && (!end || at < end); at += n)
		if (at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n' || !at[n]))
			return true;
	return false;
}

static bool read_fact_word(const struct sys *sys, const char *line, const char *word,
                           char *evidence, size_t len)
{
	char *text;
	size_t size;
	bool is_true;

	if (pfmi_machine_read_file(sys, "/proc/cpuinfo", &text, &size))
		return false;
	is_true = has_word_in_line(text, line, word);
	free(text);
	if (is_true)
		snprintf(evidence, len, "/proc/cpuinfo has the flag %s", word);
	return is_true;
}

bool pfmi_machine_read_fact(const struct sys *sys, enum machine_fact fact, char *evidence,
                            size_t len)
{
	if (fact_files[fact].path[0])
		return read_fact_file(sys, &fact_files[fact], evidence, len);
	return read_fact_word(sys, fact_words[fact].line, fact_words[fact].word, evidence, len);
}

unsigned pfmi_machine_read_facts(const struct sys *sys, unsigned facts, char *evidence, size_t len)
{
	unsigned found = 0;

	for (enum machine_fact i = 0; i < N_MACHINE_FACTS; i++)
		if (facts >> i & 1 && pfmi_machine_read_fact(sys, i, evidence, len))
			found |= 1u << i;
	return found;
}
