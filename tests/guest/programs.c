/* SPDX-License-Identifier: MIT */
/* Fifty programs in one: "programs K" calls function K % 10 of the C library for K / 10 + 1 units
 * of work, each of a few million instructions. */
#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_FUNCTIONS = 10, SORTED = 20000, TEXT = 1 << 16 };

static volatile double result;
static char text[TEXT];
static uint32_t numbers[SORTED];

static uint32_t draw(void)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return state;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_numbers(void)
{
	for (int i = 0; i < SORTED; i++)
		numbers[i] = draw();
	qsort(numbers, SORTED, sizeof(*numbers), compare);
}

static void print_numbers(void)
{
	for (int i = 0; i < 10000; i++)
		result += snprintf(text, sizeof(text), "%d %x %s", i, draw(), "text");
}

static void print_fractions(void)
{
	for (int i = 0; i < 4000; i++)
		result += snprintf(text, sizeof(text), "%.9g", draw() / 7.0);
}

static void read_fractions(void)
{
	for (int i = 0; i < 20000; i++)
		result += strtod("3.14159265358979", NULL);
}

static void compute_powers(void)
{
	for (int i = 1; i < 20000; i++)
		result += pow(i, 1.5) + log(i) + sin(i);
}

static void search_text(void)
{
	memset(text, 'a', TEXT - 1);
	for (int i = 0; i < 1500; i++)
		result += (double)strlen(text + i);
}

static void copy_text(void)
{
	for (int i = 0; i < 3000; i++)
		memmove(text + 1, text, TEXT - 2);
}

static void allocate_memory(void)
{
	void *kept[64] = { NULL };

	for (int i = 0; i < 30000; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(16 + draw() % 500);
	}
}

static void match_pattern(void)
{
	regex_t pattern;

	if (regcomp(&pattern, "a.*b[0-9]+c", REG_EXTENDED))
		return;
	for (int i = 0; i < 4000; i++)
		result += regexec(&pattern, "xxaxxxxb123cxx", 0, NULL, 0);
	regfree(&pattern);
}

static void hash_numbers(void)
{
	uint64_t hash = 14695981039346656037u;

	for (int i = 0; i < 500000; i++)
		hash = (hash ^ (draw() & 0xff)) * 1099511628211u;
	result = (double)hash;
}

int main(int argc, char **argv)
{
	static void (*const functions[N_FUNCTIONS])(void) = {
		sort_numbers, print_numbers, print_fractions, read_fractions, compute_powers,
		search_text,  copy_text,     allocate_memory, match_pattern,  hash_numbers
	};
	const unsigned number = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	for (unsigned i = 0; i <= number / N_FUNCTIONS; i++)
		functions[number % N_FUNCTIONS]();
	return 0;
}
