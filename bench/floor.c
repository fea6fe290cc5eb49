/* SPDX-License-Identifier: MIT */
/*
 * floor.c - the least that a look-up costs: an ideal encoder over the same names.
 *
 * Build:  cc -O2 floor.c -lpfm -o floor
 * Usage:  ./floor [-s SUFFIX] [PMU...]   (default core skl icx spr
 *                                         amd64_fam19h_zen4; "all" is every
 *                                         PMU at once, shuffled: out of L2)
 *         ./floor -1 [PMU]               one pass of each, for callgrind with
 *                                        --toggle-collect=ideal_pass
 * Takes every event and unit mask of every PMU of the installed library through
 * its public API, puts the folded names in two open-addressing hash tables
 * (events keyed by PMU and event name, masks keyed by event number and mask
 * name), and then encodes "pmu::EVENT:MASK<SUFFIX>" strings with: one scan for
 * delimiters and case, one probe and one full compare per name, a switch on the
 * modifier letters.  No allocation, no copy of the string.  The same strings go
 * to pfm_get_event_encoding in the same run (LIBPFM_ENCODE_INACTIVE is set
 * here), and "agree" counts equal register values: the ideal has the plain
 * x86 layout only, so events with their own rules differ, as they should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/pfmlib.h>

#define BITS_EV 16
#define BITS_UM 18

struct floor_entry {
	uint32_t hash, name, len, id;
	uint64_t code;
};
static struct floor_entry *tev, *tum;
static char *pool;
static uint32_t npool, nev, num;

static double read_clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare_names(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static inline uint64_t load_names(const char *p, size_t n)
{
	uint64_t v = 0;
	memcpy(&v, p, n < 8 ? n : 8);
	return v;
}

/* letters to one case; '_' and '.' keep apart from every letter and digit */
static inline uint64_t fold_name(uint64_t v)
{
	return v | ((v & 0x4040404040404040ull) >> 1);
}

#define MUL 0x9e3779b97f4a7c15ull
static inline uint64_t hash_name(uint64_t h, const char *p, size_t n)
{
	uint64_t v;
	for (; n > 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ fold_name(v)) * MUL;
		h ^= h >> 29;
	}
	memcpy(&v, p, 8); /* every string and pool has 8 bytes of slack */
	v &= ~0ull >> (64 - 8 * n);
	h = (h ^ fold_name(v) ^ (n << 56)) * MUL;
	return h ^ (h >> 32);
}

static inline int is_same_name(const char *folded, const char *p, size_t n)
{
	uint64_t a, b;
	for (; n > 8; n -= 8, p += 8, folded += 8) {
		memcpy(&a, p, 8);
		memcpy(&b, folded, 8);
		if (fold_name(a) != b)
			return 0;
	}
	memcpy(&a, p, 8);
	memcpy(&b, folded, 8);
	return !((fold_name(a) ^ b) & (~0ull >> (64 - 8 * n)));
}

static struct floor_entry *find_name(struct floor_entry *t, int bits, uint64_t h, const char *p,
                                     size_t n)
{
	uint32_t i = h >> (64 - bits), hh = (uint32_t)h;
	for (; t[i].len; i = (i + 1) & ((1u << bits) - 1))
		if (t[i].hash == hh && t[i].len == n && is_same_name(pool + t[i].name, p, n))
			return &t[i];
	return NULL;
}

static void add_entry(struct floor_entry *t, int bits, uint64_t h, const char *p, size_t n,
                      uint32_t id, uint64_t code)
{
	uint32_t i = h >> (64 - bits);
	size_t k;
	while (t[i].len)
		i = (i + 1) & ((1u << bits) - 1);
	t[i] = (struct floor_entry){ (uint32_t)h, npool, n, id, code };
	for (k = 0; k < n; k += 8) {
		uint64_t v = fold_name(load_names(p + k, n - k));
		memcpy(pool + npool + k, &v, 8);
	}
	npool += n;
}

static inline size_t range_ns(const char *p)
{
	size_t n = 0;
	for (;; n += 8) {
		uint64_t v, x, z;
		memcpy(&v, p + n, 8);
		x = v ^ 0x3a3a3a3a3a3a3a3aull;
		z = (x - 0x0101010101010101ull) & ~x;
		z |= (v - 0x0101010101010101ull) & ~v;
		z &= 0x8080808080808080ull;
		if (z)
			return n + (__builtin_ctzll(z) >> 3);
	}
}

static inline int measure_ideal(const char *s, unsigned plm, uint64_t *out)
{
	uint64_t code, hp = 0;
	unsigned seen = 0;
	struct floor_entry *e, *m = NULL;
	size_t n = range_ns(s);

	if (!n)
		return -1;
	if (s[n] == ':' && s[n + 1] == ':') {
		hp = hash_name(0, s, n);
		s += n + 2;
		n = range_ns(s);
		if (!n)
			return -1;
	}
	e = find_name(tev, BITS_EV, hash_name(hp, s, n), s, n);
	if (!e)
		return -1;
	code = e->code;
	while (s[n] == ':') {
		unsigned v = 0;
		s += n + 1;
		n = range_ns(s);
		if (n == 1 || (n > 2 && s[1] == '=')) {
			if (n == 1)
				v = 1;
			else
				for (size_t k = 2; k < n; k++) {
					if ((unsigned)(s[k] - '0') > 9)
						return -2;
					v = v * 10 + s[k] - '0';
				}
			switch (s[0] | 0x20) {
			case 'u':
				seen |= 1;
				code |= (uint64_t) !!v << 16;
				continue;
			case 'k':
				seen |= 2;
				code |= (uint64_t) !!v << 17;
				continue;
			case 'e': code |= (uint64_t) !!v << 18; continue;
			case 'i': code |= (uint64_t) !!v << 23; continue;
			case 'c':
				if (v > 255)
					return -3;
				code |= (uint64_t)v << 24;
				continue;
			}
		}
		if (!n)
			return -2;
		m = find_name(tum, BITS_UM, hash_name(e->id * MUL, s, n), s, n);
		if (!m)
			return -2;
		code |= m->code << 8;
	}
	if (!seen)
		code |= (uint64_t) !!(plm & PFM_PLM3) << 16 | (uint64_t) !!(plm & PFM_PLM0) << 17;
	*out = code | 1ull << 20 | 1ull << 22;
	return 0;
}

static volatile uint64_t sink;

/* ns per call of one string again and again: the median of five batches. */
static double ideal_hot(const char *s)
{
	double batch[5];
	for (int k = 0; k < 5; k++) {
		uint64_t c;
		double t0 = read_clock_ns();
		for (int i = 0; i < 200; i++)
			if (!measure_ideal(s, PFM_PLM0 | PFM_PLM3, &c))
				sink = c;
		batch[k] = (read_clock_ns() - t0) / 200;
	}
	qsort(batch, 5, sizeof(double), compare_names);
	return batch[2];
}

__attribute__((noinline)) void ideal_pass(char **s, int n)
{
	uint64_t c;
	for (int i = 0; i < n; i++)
		if (!measure_ideal(s[i], PFM_PLM0 | PFM_PLM3, &c))
			sink = c;
}

__attribute__((noinline)) void libpfm_pass(char **s, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t codes[8], *c = codes;
		int k = 8;
		if (!pfm_get_event_encoding(s[i], PFM_PLM0 | PFM_PLM3, NULL, NULL, &c, &k))
			sink = codes[0];
	}
}

int main(int argc, char **argv)
{
	static char *dfl[] = { "core", "skl", "icx", "spr", "amd64_fam19h_zen4" };
	static char *s[150000];
	const char *suffix = "";
	int once = 0, o, p, i, j, k, np, total = 0;
	char **pm;

	while ((o = getopt(argc, argv, "s:1")) != -1)
		if (o == 's')
			suffix = optarg;
		else
			once = 1;
	pm = argc > optind ? argv + optind : dfl;
	np = argc > optind ? argc - optind : 5;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize())
		return 1;
	tev = calloc(1u << BITS_EV, sizeof *tev);
	tum = calloc(1u << BITS_UM, sizeof *tum);
	pool = calloc(1, 16 << 20);
	for (p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pi = { .size = sizeof pi };
		char buf[256] = { 0 };
		uint64_t hp;
		if (pfm_get_pmu_info(p, &pi))
			continue;
		snprintf(buf, sizeof buf, "%s", pi.name);
		hp = hash_name(0, buf, strlen(buf));
		for (i = pi.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t e = { .size = sizeof e };
			char eb[256] = { 0 };
			if (pfm_get_event_info(i, PFM_OS_NONE, &e))
				continue;
			snprintf(eb, sizeof eb, "%s", e.name);
			add_entry(tev, BITS_EV, hash_name(hp, eb, strlen(eb)), eb, strlen(eb),
			          ++nev, e.code);
			for (j = 0; j < e.nattrs; j++) {
				pfm_event_attr_info_t a = { .size = sizeof a };
				char ub[256] = { 0 };
				if (pfm_get_event_attr_info(i, j, PFM_OS_NONE, &a) ||
				    a.type != PFM_ATTR_UMASK)
					continue;
				snprintf(ub, sizeof ub, "%s", a.name);
				add_entry(tum, BITS_UM, hash_name(nev * MUL, ub, strlen(ub)), ub,
				          strlen(ub), 0, a.code);
				num++;
			}
		}
	}
	printf("%u events, %u masks; tables %zu KiB, names %u KiB\n", nev, num,
	       (((size_t)1 << BITS_EV) * sizeof *tev + ((size_t)1 << BITS_UM) * sizeof *tum) >> 10,
	       npool >> 10);
	printf("%-18s %7s %7s | %9s %9s | %9s %9s %9s | %8s %8s %8s | %8s\n", "pmu", "strings",
	       "agree", "ideal ns", "miss ns", "pfm ns", "p10", "miss ns", "ratio", "miss r",
	       "length", "ideal hot");
	for (k = 0; k < np; k++) {
		static double ti[2][101], tl[2][101];
		int n = 0, agree = 0, r, x, reps = strcmp("all", pm[k]) ? 101 : 7;
		double len = 0, hot = 0;
		for (p = 0; p < PFM_PMU_MAX; p++) {
			pfm_pmu_info_t pi = { .size = sizeof pi };
			if (pfm_get_pmu_info(p, &pi) ||
			    (strcmp(pi.name, pm[k]) != 0 && strcmp("all", pm[k]) != 0))
				continue;
			for (i = pi.first_event; i != -1; i = pfm_get_event_next(i)) {
				pfm_event_info_t e = { .size = sizeof e };
				int m = 0;
				pfm_get_event_info(i, PFM_OS_NONE, &e);
				for (j = 0; j <= e.nattrs; j++) {
					pfm_event_attr_info_t a = { .size = sizeof a };
					if (j < e.nattrs &&
					    (pfm_get_event_attr_info(i, j, PFM_OS_NONE, &a) ||
					     a.type != PFM_ATTR_UMASK))
						continue;
					if (j == e.nattrs && m)
						continue;
					m++;
					s[n] = calloc(1, 256);
					len += snprintf(s[n++], 240, "%s::%s%s%s%s", pi.name,
					                e.name, a.name ? ":" : "",
					                a.name ? a.name : "", suffix);
				}
			}
		}
		if (!n)
			continue;
		total += n;
		srand(1);
		for (i = n - 1; i > 0; i--) {
			char *t = s[i];
			j = rand() % (i + 1);
			s[i] = s[j];
			s[j] = t;
		}
		for (i = 0; i < n; i++) {
			uint64_t codes[8], *c = codes, v = 0;
			int m = 8;
			if (!pfm_get_event_encoding(s[i], PFM_PLM0 | PFM_PLM3, NULL, NULL, &c,
			                            &m) &&
			    !measure_ideal(s[i], PFM_PLM0 | PFM_PLM3, &v) && v == codes[0])
				agree++;
		}
		if (once) {
			ideal_pass(s, n);
			printf("calls %d\n", n);
			continue;
		}
		for (i = 0; i < n; i++)
			hot += ideal_hot(s[i]) / n;
		for (x = 0; x < 2; x++) {
			for (r = 0; r < reps; r++) {
				double t0 = read_clock_ns(), t1;
				ideal_pass(s, n);
				t1 = read_clock_ns();
				libpfm_pass(s, n);
				tl[x][r] = (read_clock_ns() - t1) / n;
				ti[x][r] = (t1 - t0) / n;
			}
			qsort(ti[x], reps, sizeof(double), compare_names);
			qsort(tl[x], reps, sizeof(double), compare_names);
			for (i = 0; i < n; i++) { /* second round: unknown event names */
				char *q = strstr(s[i], "::") + 2;
				*q = 'q';
			}
		}
		printf("%-18s %7d %7d | %9.1f %9.1f | %9.0f %9.0f %9.0f | %8.1f %8.1f %8.1f | "
		       "%8.1f\n",
		       pm[k], n, agree, ti[0][reps / 2], ti[1][reps / 2], tl[0][reps / 2],
		       tl[0][reps / 10], tl[1][reps / 2], tl[0][reps / 2] / ti[0][reps / 2],
		       tl[1][reps / 2] / ti[1][reps / 2], len / n, hot);
	}
	return total ? 0 : 1;
}
