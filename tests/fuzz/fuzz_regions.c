/* SPDX-License-Identifier: MIT */
/* Files of sums of regions (perfmon_regions(5)): an input decides what a writer puts there, chunk
 * by chunk, and then which words of it change. Files that are read are written in a format. */
#include <fcntl.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bytes.h"
#include "region/region.h"
#include "region/storage.h"
#include "time_bound.h"

enum { PAGE = REGION_FILE_PAGE, PAGES = 16, PRIVATE_BYTES = 16, EVENTS = 4, TEXTS = 4 };

static struct made {
	struct bytes in;
	struct layout layout;
	struct region_file_header *header;
	unsigned n_names, page;
	uint64_t slot; /* the last one; 0: none */
	_Alignas(16) char file[PAGES * PAGE];
} m;

static uint32_t below(uint32_t n)
{
	return byte(&m.in) % n;
}

/* Zeros, small numbers, words with few bits, and all ones. */
static uint64_t number(void)
{
	unsigned how = byte(&m.in);

	return how < 64 ? 0 : how < 160 ? how - 63u : how < 240 ? shifted(&m.in) : UINT64_MAX;
}

/* Starts a chunk of one page, or of two. */
static struct region_chunk *add_chunk(enum region_chunk_kind kind)
{
	unsigned pages = 1 + (below(8) == 0);
	struct region_chunk *c = (struct region_chunk *)(void *)(m.file + (size_t)m.page * PAGE);

	if (m.page + pages > PAGES)
		return NULL;
	m.page += pages;
	*c = (struct region_chunk){ .kind = kind, .bytes = pages * PAGE, .tid = (int32_t)below(4) };
	return c;
}

static void put(char **to, const void *from, size_t n)
{
	memcpy(*to, from, n);
	*to += n;
}

static void put_word(char **to, uint32_t word)
{
	put(to, &word, sizeof(word));
}

static void put_event(char **to, unsigned rounds)
{
	const struct region_file_event f = {
		.scale = below(8) ? 1 : (double)number(),
		.inside = below(8) ? 2 : (double)number(),
		.pair = below(16),
		.quality = (int32_t)below(8),
		.cause = (int32_t)below(20),
		.round = below(rounds + 1),
		.flags = below(8),
		.name = TEXTS,
		.unit = below(TEXTS),
		.why = below(TEXTS),
		.remedy = below(TEXTS),
	};

	put(to, &f, sizeof(f));
}

static void put_rounds(char **to, unsigned rounds, unsigned events)
{
	for (unsigned r = 0; r < rounds; r++) {
		unsigned groups = below(3);

		put_word(to, groups);
		for (unsigned g = 0; g < groups; g++) {
			unsigned n = 1 + below(events);

			put_word(to, n);
			put_word(to, below(2));
			for (unsigned i = 0; i < n; i++)
				put_word(to, below(events));
		}
	}
}

/* Events, and the sizes of slots and visits that follow from them. */
static void add_events(void)
{
	static const char list[] = "cycles,page-faults";
	struct region_chunk *c = add_chunk(CHUNK_EVENTS);
	unsigned events = 1 + below(EVENTS), rounds = 1 + below(2);
	char *to = (char *)(c + 1), *metrics;

	c->n = 1;
	put_word(&to, sizeof(list) - 1);
	put_word(&to, events);
	put_word(&to, rounds);
	put_word(&to, below(2));
	for (unsigned i = 0; i < events; i++)
		put_event(&to, rounds);
	put_rounds(&to, rounds, events);
	put(&to, list, sizeof(list) - 1);
	for (size_t i = 0; i < (size_t)4 * TEXTS * events; i++)
		*to++ = (char)('a' + below(20));
	metrics = pfmi_storage_read_events(&m.layout, c + 1, c->bytes - sizeof(*c));
	free(metrics);
	m.header->private_bytes = PRIVATE_BYTES;
	m.header->slot_bytes = (uint32_t)(PRIVATE_BYTES + pfmi_entry_get_size(&m.layout) -
	                                  offsetof(struct entry, region));
	m.header->visit_bytes = (uint32_t)pfmi_slice_get_size(&m.layout);
}

static void add_names(void)
{
	struct region_chunk *c = add_chunk(CHUNK_NAMES);
	char *to = (char *)(c + 1);

	for (c->n = below(8); m.n_names < c->n; m.n_names++) {
		uint32_t length = below(16);

		put_word(&to, LAST_OWN_REGION + 1 + m.n_names);
		put_word(&to, length);
		take(&m.in, to, length);
		to += (length + 7) / 8 * 8;
	}
}

static uint32_t choose_region(void)
{
	return LAST_OWN_REGION + 1 + below(m.n_names + 1);
}

static void fill_slot(char *slot)
{
	struct entry *e =
		(struct entry *)(void *)(slot + PRIVATE_BYTES - offsetof(struct entry, region));
	uint64_t *words = (uint64_t *)(void *)(slot + PRIVATE_BYTES + 16);

	for (size_t i = 0; i < (m.header->slot_bytes - PRIVATE_BYTES - 16u) / 8; i++)
		words[i] = number();
	e->region = choose_region();
	e->parent = below(2) ? choose_region() : 0;
	e->sequence = below(8) ? 2 : 1;
	e->threads = below(4);
	m.slot = (uint64_t)(slot - m.file);
}

static void add_sums(void)
{
	struct region_chunk *c = add_chunk(CHUNK_SUMS);
	unsigned most = !c ? 0 : (unsigned)((c->bytes - sizeof(*c)) / m.header->slot_bytes);

	if (!c)
		return;
	c->missed = number();
	c->unmatched = number();
	c->unmatched_region = choose_region();
	for (unsigned n = below(8); c->n < n && c->n < most; c->n++)
		fill_slot((char *)(c + 1) + (size_t)c->n * m.header->slot_bytes);
}

static void add_visits(void)
{
	struct region_chunk *c = add_chunk(CHUNK_VISITS);
	char *to = (char *)(c + 1) + VISITS_PRIVATE_BYTES;

	if (!c)
		return;
	for (unsigned n = below(8); c->n < n; c->n++) {
		uint64_t *words = (uint64_t *)(void *)to;
		uint64_t begin = number();

		for (size_t i = 0; i < m.header->visit_bytes / 8; i++)
			words[i] = number();
		words[0] = begin;
		words[1] = begin + pair(&m.in);
		((struct visit_slice *)(void *)to)->region = choose_region();
		to += m.header->visit_bytes;
	}
}

static void add_undo(void)
{
	struct region_chunk *c = add_chunk(CHUNK_UNDO);
	uint64_t target = m.slot;

	if (!c || !target)
		return;
	fill_slot((char *)(c + 1));
	m.header->merge_target = target;
	m.header->merge_source = target - m.header->slot_bytes;
}

static void make_header(void)
{
	m.header = (struct region_file_header *)(void *)m.file;
	*m.header = (struct region_file_header){ .version = REGION_FILE_VERSION,
		                                 .order = REGION_FILE_ORDER,
		                                 .flags = pair(&m.in),
		                                 .pid = 1 + (int32_t)below(4),
		                                 .rank = (int32_t)below(4) - 1,
		                                 .state = REGION_FILE_ENDED,
		                                 .lost = below(2),
		                                 .dropped = below(2),
		                                 .wall_inside = below(100),
		                                 .wall_pair = below(100),
		                                 .task_inside = below(100),
		                                 .program = "program" };
	memcpy(m.header->magic, REGION_FILE_MAGIC, sizeof(m.header->magic));
}

static void make_file(void)
{
	memset(m.file, 0, sizeof(m.file));
	m.layout = (struct layout){ 0 };
	m.n_names = 0;
	m.page = 1;
	m.slot = 0;
	make_header();
	add_events();
	add_names();
	for (unsigned n = below(6); n; n--) {
		unsigned kind = below(8);

		if (kind < 4)
			add_sums();
		else if (kind < 6)
			add_visits();
		else if (kind == 6)
			add_undo();
		else
			add_chunk(CHUNK_FREE);
	}
	pfmi_layout_free(&m.layout);
}

static void change_words(void)
{
	for (unsigned n = below(4); n; n--) {
		uint32_t word = (uint32_t)number();
		/* Headers more often than sums. */
		size_t at = below(2) ? below(PAGES) * (size_t)PAGE + below(200)
		                     : pair(&m.in) % sizeof(m.file);

		memcpy(m.file + at / 4 * 4, &word, sizeof(word));
	}
}

/* Output in JSON must be one JSON value after the other, whatever names it has. */
static void check_json(FILE *f)
{
	int c;

	rewind(f);
	while ((c = getc(f)) != EOF) {
		json_t *value;

		if (c == '\n')
			continue;
		ungetc(c, f);
		/* Numbers may be larger than Jansson's. */
		value = json_loadf(f, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, NULL);
		if (!value)
			abort();
		json_decref(value);
	}
}

static void write_results(const pfm_region_results_t *r)
{
	static const char *const formats[] = { "json",   "chrome", "firefox", "papi",
		                               "likwid", "csv",    "table" };
	enum { JSON_FORMATS = 4 };
	unsigned format = below(sizeof(formats) / sizeof(formats[0]));
	FILE *f = fdopen(memfd_create("written", MFD_CLOEXEC), "r+");

	if (!f || pfm_write_regions(r, fileno(f), formats[format]) != PFMLIB_SUCCESS)
		abort();
	if (format < JSON_FORMATS)
		check_json(f);
	fclose(f);
}

int try_input(const uint8_t *data, size_t size)
{
	pfm_region_results_t *r;
	int fd = memfd_create("made", MFD_CLOEXEC);

	m.in = (struct bytes){ data, size };
	make_file();
	change_words();
	if (write(fd, m.file, (size_t)m.page * PAGE) != (ssize_t)m.page * PAGE)
		abort();
	if (pfm_load_regions(fd, &r, NULL) == PFMLIB_SUCCESS) {
		write_results(r);
		pfm_close_region_results(r);
	}
	close(fd);
	return 0;
}
