/* SPDX-License-Identifier: MIT */
/* CPU lists as the kernel prints them and users write them ("0,2-3"), and the sets they stand for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"

#define PAGE 4095 /* bytes of sysfs's smallest page, but for the NUL: a list as long as that may have been cut */

static bool cpu_number(const char **p, unsigned *out)
{
	unsigned v = 0;

	if (!pfmi_is_digit(**p))
		return false;
	for (; pfmi_is_digit(**p); ++*p) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v >= CPUS_MAX)
			return false;
	}
	*out = v;
	return true;
}

bool pfmi_cpus_next(const char **list, unsigned *first, unsigned *last)
{
	const char *p = *list;

	if (!cpu_number(&p, first))
		return false;
	*last = *first;
	if (*p == '-') {
		p++;
		if (!cpu_number(&p, last) || *last < *first)
			return false;
	}
	if (*p == ',' && pfmi_is_digit(p[1]))
		p++;
	else if (*p)
		return false;
	*list = p;
	return true;
}

/* Makes room for CPU @cpu. */
static bool grow(struct cpus *set, unsigned cpu)
{
	size_t n = cpu / 64 + 1;
	uint64_t *words;

	if (n <= set->n_words)
		return true;
	words = realloc(set->words, n * sizeof(*words));
	if (!words)
		return false;
	memset(words + set->n_words, 0, (n - set->n_words) * sizeof(*words));
	set->words = words;
	set->n_words = n;
	return true;
}

static void add(struct cpus *set, unsigned first, unsigned last)
{
	for (unsigned w = first / 64; w <= last / 64; w++) {
		uint64_t bits = ~(uint64_t)0;

		if (w == first / 64)
			bits &= ~(uint64_t)0 << first % 64;
		if (w == last / 64)
			bits &= ~(uint64_t)0 >> (63 - last % 64);
		set->words[w] |= bits;
	}
}

int pfmi_cpus_add(struct cpus *set, const char *list)
{
	unsigned first, last;

	while (pfmi_cpus_next(&list, &first, &last)) {
		if (!grow(set, last))
			return -ENOMEM;
		add(set, first, last);
	}
	return *list ? -EINVAL : 0;
}

int pfmi_cpus_read(const char *list, struct cpus *out)
{
	int rc;

	*out = (struct cpus){ 0 };
	rc = pfmi_cpus_add(out, list);
	if (rc)
		pfmi_cpus_free(out);
	return rc;
}

int pfmi_cpus_first(unsigned n, struct cpus *out)
{
	*out = (struct cpus){ 0 };
	if (!grow(out, n - 1))
		return -ENOMEM;
	add(out, 0, n - 1);
	return 0;
}

int pfmi_cpus_copy(const struct cpus *from, struct cpus *out)
{
	*out = (struct cpus){ .words = malloc(from->n_words * sizeof(*from->words) + 1), .n_words = from->n_words };
	if (!out->words) {
		out->n_words = 0;
		return -ENOMEM;
	}
	memcpy(out->words, from->words, from->n_words * sizeof(*from->words));
	return 0;
}

void pfmi_cpus_free(struct cpus *set)
{
	free(set->words);
	*set = (struct cpus){ 0 };
}

bool pfmi_cpus_has(const struct cpus *set, unsigned cpu)
{
	return cpu / 64 < set->n_words && set->words[cpu / 64] >> cpu % 64 & 1;
}

bool pfmi_cpus_from(const struct cpus *set, unsigned *cpu)
{
	for (size_t w = *cpu / 64; w < set->n_words; w++) {
		uint64_t bits = set->words[w];

		if (w == *cpu / 64)
			bits &= ~(uint64_t)0 << *cpu % 64;
		if (bits) {
			*cpu = (unsigned)w * 64 + (unsigned)__builtin_ctzll(bits);
			return true;
		}
	}
	return false;
}

size_t pfmi_cpus_count(const struct cpus *set)
{
	size_t n = 0;

	for (size_t w = 0; w < set->n_words; w++)
		n += (size_t)__builtin_popcountll(set->words[w]);
	return n;
}

/* The set in the shortest words, which are no longer than any list it was read from: every first and last CPU is named there. */
static void print(const struct cpus *set, char *out, size_t room)
{
	const char *comma = "";

	for (unsigned first = 0; pfmi_cpus_from(set, &first);) {
		unsigned end = first + 1;
		size_t n;

		while (pfmi_cpus_has(set, end))
			end++;
		n = (size_t)snprintf(out, room, end == first + 1 ? "%s%u" : "%s%u-%u", comma, first, end - 1);
		out += n;
		room -= n;
		comma = ",";
		first = end;
	}
	*out = '\0';
}

/* The line in file @path, and the set of CPUs it stands for. */
static int read_list(const struct sys *sys, const char *path, char **text, size_t *len, struct cpus *set)
{
	int rc = pfmi_sys_read_line(sys, path, text, len);

	if (rc)
		return rc;
	if (*len >= PAGE && (*text)[*len - 1] != '\n') {
		rc = -EFBIG;
	} else {
		while (*len && (*text)[*len - 1] == '\n')
			(*text)[--*len] = '\0';
		rc = pfmi_cpus_read(*text, set);
	}
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

int pfmi_cpus_file(const struct sys *sys, const char *path, char **out)
{
	struct cpus set;
	size_t len = 0;
	int rc = read_list(sys, path, out, &len, &set);

	if (rc)
		return rc;
	print(&set, *out, len + 1);
	pfmi_cpus_free(&set);
	return 0;
}

int pfmi_cpus_load(const struct sys *sys, const char *path, struct cpus *out)
{
	char *text;
	size_t len = 0;
	int rc;

	*out = (struct cpus){ 0 };
	rc = read_list(sys, path, &text, &len, out);
	if (!rc)
		free(text);
	return rc;
}
