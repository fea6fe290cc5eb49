/* SPDX-License-Identifier: MIT */
/* CPU lists as the kernel prints and users write them ("0,2-3"), and sets of CPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"

/* Bytes of the smallest page, without the NUL: the kernel may have cut a list of this length. */
#define SYSFS_PAGE_BYTES 4095

static bool parse_cpu_number(const char **p, unsigned *out)
{
	unsigned v = 0;

	if (!base_is_digit(**p))
		return false;
	for (; base_is_digit(**p); ++*p) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v >= MAX_CPU_NUMBER)
			return false;
	}
	*out = v;
	return true;
}

bool pfmi_machine_next_cpu_range(const char **list, unsigned *first, unsigned *last)
{
	const char *p = *list;

	if (!parse_cpu_number(&p, first))
		return false;
	*last = *first;
	if (*p == '-') {
		p++;
		if (!parse_cpu_number(&p, last) || *last < *first)
			return false;
	}
	if (*p == ',' && base_is_digit(p[1]))
		p++;
	else if (*p)
		return false;
	*list = p;
	return true;
}

/* Makes the set long enough for CPU @cpu. */
static bool reserve_cpu(struct cpu_mask *set, unsigned cpu)
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

static void set_cpu_range(struct cpu_mask *set, unsigned first, unsigned last)
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

int pfmi_machine_add_cpu_list(struct cpu_mask *set, const char *list)
{
	unsigned first, last;

	while (pfmi_machine_next_cpu_range(&list, &first, &last)) {
		if (!reserve_cpu(set, last))
			return -ENOMEM;
		set_cpu_range(set, first, last);
	}
	return *list ? -EINVAL : 0;
}

int pfmi_machine_parse_cpu_list(const char *list, struct cpu_mask *out)
{
	int rc;

	*out = (struct cpu_mask){ 0 };
	rc = pfmi_machine_add_cpu_list(out, list);
	if (rc)
		pfmi_machine_free_cpus(out);
	return rc;
}

int pfmi_machine_make_first_cpus(unsigned n, struct cpu_mask *out)
{
	*out = (struct cpu_mask){ 0 };
	if (!reserve_cpu(out, n - 1))
		return -ENOMEM;
	set_cpu_range(out, 0, n - 1);
	return 0;
}

int pfmi_machine_copy_cpus(const struct cpu_mask *from, struct cpu_mask *out)
{
	*out = (struct cpu_mask){ .words = malloc(from->n_words * sizeof(*from->words) + 1),
		                  .n_words = from->n_words };
	if (!out->words) {
		out->n_words = 0;
		return -ENOMEM;
	}
	memcpy(out->words, from->words, from->n_words * sizeof(*from->words));
	return 0;
}

void pfmi_machine_free_cpus(struct cpu_mask *set)
{
	free(set->words);
	*set = (struct cpu_mask){ 0 };
}

bool pfmi_machine_has_cpu(const struct cpu_mask *set, unsigned cpu)
{
	return cpu / 64 < set->n_words && set->words[cpu / 64] >> cpu % 64 & 1;
}

bool pfmi_machine_next_cpu(const struct cpu_mask *set, unsigned *cpu)
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

size_t pfmi_machine_count_cpus(const struct cpu_mask *set)
{
	size_t n = 0;

	for (size_t w = 0; w < set->n_words; w++)
		n += (size_t)__builtin_popcountll(set->words[w]);
	return n;
}

/* Prints the set with as few ranges as possible: the text is at most as long as any list of the
 * same CPUs, because a list names each CPU at which a range begins or ends. */
static void print_cpu_list(const struct cpu_mask *set, char *out, size_t size)
{
	const char *comma = "";

	for (unsigned first = 0; pfmi_machine_next_cpu(set, &first);) {
		unsigned end = first + 1;
		size_t n;

		while (pfmi_machine_has_cpu(set, end))
			end++;
		n = (size_t)snprintf(out, size, end == first + 1 ? "%s%u" : "%s%u-%u", comma, first,
		                     end - 1);
		out += n;
		size -= n;
		comma = ",";
		first = end;
	}
	*out = '\0';
}

/* Reads the line in file @path, and the set of CPUs that it lists. */
static int read_cpu_list_file(const struct sys *sys, const char *path, char **text, size_t *len,
                              struct cpu_mask *set)
{
	int rc = pfmi_machine_read_line_file(sys, path, text, len);

	if (rc)
		return rc;
	if (*len >= SYSFS_PAGE_BYTES && (*text)[*len - 1] != '\n') {
		rc = -EFBIG;
	} else {
		while (*len && (*text)[*len - 1] == '\n')
			(*text)[--*len] = '\0';
		rc = pfmi_machine_parse_cpu_list(*text, set);
	}
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

int pfmi_machine_read_cpu_list(const struct sys *sys, const char *path, char **out)
{
	struct cpu_mask set;
	size_t len = 0;
	int rc = read_cpu_list_file(sys, path, out, &len, &set);

	if (rc)
		return rc;
	print_cpu_list(&set, *out, len + 1);
	pfmi_machine_free_cpus(&set);
	return 0;
}

int pfmi_machine_read_cpus(const struct sys *sys, const char *path, struct cpu_mask *out)
{
	char *text;
	size_t len = 0;
	int rc;

	*out = (struct cpu_mask){ 0 };
	rc = read_cpu_list_file(sys, path, &text, &len, out);
	if (!rc)
		free(text);
	return rc;
}
