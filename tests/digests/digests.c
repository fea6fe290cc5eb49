/* SPDX-License-Identifier: MIT */
#include "digests.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGESTS = 400,
       NAME_ROOM = 64 };

static struct digest {
	char name[NAME_ROOM];
	uint64_t is;
	bool asked;
} known[MOST_DIGESTS];
static unsigned n_known, n_wrong;
static char path[1024], current[NAME_ROOM], wrong[4096];
static uint64_t hash, seed;
static bool shown;

/* ---- saying ----------------------------------------------------------------------------------------------------------------- */

static void mix(uint64_t n)
{
	hash = (hash ^ n) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
}

static void mix_bytes(const unsigned char *at, size_t n)
{
	mix(n);
	for (; n > 0; n--)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
}

void say(const char *what, uint64_t n)
{
	mix(n);
	if (shown)
		printf("# %s %" PRIx64 "\n", what, n);
}

void say_text(const char *what, const char *text)
{
	mix(text != NULL);
	if (text)
		mix_bytes((const unsigned char *)text, strlen(text));
	if (shown)
		printf("# %s \"%s\"\n", what, text ? text : "(none)");
}

/* What the last bits of a number are is the compiler's business. */
void say_real(const char *what, double x)
{
	char text[40];

	snprintf(text, sizeof(text), "%.9g", x);
	say_text(what, text);
}

void say_bytes(const char *what, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	mix_bytes(at, n);
	if (!shown)
		return;
	printf("# %s", what);
	for (size_t i = 0; i < n; i++)
		printf(" %02x", at[i]);
	printf("\n");
}

/* ---- drawing ---------------------------------------------------------------------------------------------------------------- */

uint64_t draw_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

unsigned draw(unsigned n)
{
	return n ? (unsigned)((draw_word() >> 32) * n >> 32) : 0;
}

uint64_t draw_number(void)
{
	unsigned shift;

	switch (draw(4)) {
	case 0: return draw(4);
	case 1: return draw(300);
	case 2: shift = draw(60); return (uint64_t)draw(65536) << shift;
	default: shift = draw(64); return draw_word() >> shift;
	}
}

/* ---- digests ---------------------------------------------------------------------------------------------------------------- */

static struct digest *find(const char *name)
{
	for (unsigned i = 0; i < n_known; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

void read_known(const char *file)
{
	char line[256];
	const char *tests = getenv("PERFMON_TESTS");
	FILE *in;

	snprintf(path, sizeof(path), "%s/digests/%s", tests ? tests : "tests", file);
	in = fopen(path, "r");
	while (in && n_known < MOST_DIGESTS && fgets(line, sizeof(line), in))
		if (sscanf(line, "%63s %" SCNx64, known[n_known].name, &known[n_known].is) == 2)
			n_known++;
	if (in)
		fclose(in);
}

static bool writes(void)
{
	const char *what = getenv("PERFMON_DIGESTS");

	return what && strcmp(what, "write") == 0;
}

int write_known(int failed)
{
	FILE *out = writes() ? fopen(path, "w") : NULL;

	if (!out)
		return failed || writes();
	fprintf(out, "# SPDX-License-Identifier: MIT\n");
	for (unsigned i = 0; i < n_known; i++)
		if (known[i].asked)
			fprintf(out, "%s %016" PRIx64 "\n", known[i].name, known[i].is);
	return fclose(out);
}

void digest_begin(const char *name)
{
	const char *what = getenv("PERFMON_DIGESTS");

	snprintf(current, sizeof(current), "%s", name);
	shown = what && strcmp(what, name) == 0;
	hash = UINT64_C(0xcbf29ce484222325);
	mix_bytes((const unsigned char *)name, strlen(name));
	seed = hash | 1;
}

void digest_end(void)
{
	struct digest *d = find(current);
	size_t at = strlen(wrong);

	shown = false;
	if (writes()) {
		if (!d) {
			assert_true(n_known < MOST_DIGESTS);
			d = &known[n_known++];
			strcpy(d->name, current);
		}
		d->is = hash;
	} else if (!d || d->is != hash) {
		snprintf(wrong + at, sizeof(wrong) - at, " %s", current);
		n_wrong++;
	}
	if (d)
		d->asked = true;
}

/* ---- tests ------------------------------------------------------------ */

void same(void (*ask)(void))
{
#ifdef __x86_64__
	wrong[0] = '\0';
	n_wrong = 0;
	ask();
	if (n_wrong)
		fail_msg("answers have changed (see digests.h):%s", wrong);
#else
	(void)ask; /* the same numbers elsewhere would need the same byte order, arithmetic and size of pages */
	skip();
#endif
}

/* Nothing is left in the list that nobody asks any more. */
void list_is_up_to_date(void **state)
{
	(void)state;
#ifdef __x86_64__
	for (unsigned i = 0; i < n_known; i++)
		if (!known[i].asked)
			fail_msg("%s is in digests.txt alone", known[i].name);
#endif
}
