/* SPDX-License-Identifier: MIT */
/* Packed texts (struct packed_texts) of the image inside the library. A block is unpacked at the
 * first use of one of its texts, into memory that stays. */
#include <pthread.h>
#include <stdatomic.h>
#include "table/table.h"

#define N_CHARACTERS 256u

/* A character or a phrase. Its text is copied from the place where it was unpacked first. */
struct symbol {
	uint32_t place;  /* offset of the text from the characters on; before the first use, the
	                    numbers of the two parts, the first in the lower half */
	uint32_t length; /* of its text, 0 before the first use */
};

/* The codes of one length: peeked bits from @base on, up to @limit. */
struct code_range {
	uint64_t base, limit;
	uint32_t first_symbol;
};

static struct {
	pthread_mutex_t lock; /* guards the members below and all blocks that are not ready */
	struct code_range codes[PACKED_LENGTHS];
	uint8_t shortest[256]; /* the length of the shortest code for the next eight bits */
} unpacker = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct bit_reader {
	const uint8_t *bytes;
	uint64_t at; /* number of the next bit */
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory for the symbols, a flag for each block, the characters and the blocks, in this order; zero
 * at the start. pmuc.py computes its size. */
extern char pfmi_text_memory[] __attribute__((visibility("hidden")));

static const struct packed_texts *get_packed_texts(void)
{
	return table_get_image_array(table_get_builtin_image(), ARRAY_PACKED_TEXTS);
}
static struct symbol *get_symbols(void)
{
	return (struct symbol *)(void *)pfmi_text_memory;
}
/* One flag for each block: 1 if its texts can be read. */
static _Atomic uint8_t *get_ready_flags(const struct packed_texts *p)
{
	return (_Atomic uint8_t *)(void *)(pfmi_text_memory + sizeof(struct symbol) * p->n_symbols);
}
static char *get_characters(const struct packed_texts *p)
{
	return pfmi_text_memory + sizeof(struct symbol) * p->n_symbols +
	       (((size_t)p->n_blocks + 7) & ~(size_t)7);
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* The next 32 bits. */
static uint32_t peek_bits(const struct bit_reader *r)
{
	const uint8_t *b = r->bytes + (r->at >> 3);
	uint64_t x = (uint64_t)b[0] << 56 | (uint64_t)b[1] << 48 | (uint64_t)b[2] << 40 |
	             (uint64_t)b[3] << 32 | (uint64_t)b[4] << 24 | (uint64_t)b[5] << 16 |
	             (uint64_t)b[6] << 8 | (uint64_t)b[7];

	return (uint32_t)(x << (r->at & 7) >> 32);
}

/* A number of @n bits, at most 32. */
static uint32_t read_number(struct bit_reader *r, unsigned n)
{
	uint32_t x = peek_bits(r);

	r->at += n;
	return n ? x >> (32 - n) : 0;
}

/* A number from 1 on in Elias' gamma code: n zeros, then n + 1 bits. */
static uint32_t read_gamma(struct bit_reader *r)
{
	unsigned n = (unsigned)__builtin_clz(peek_bits(r) | 1);

	r->at += n;
	return read_number(r, n + 1);
}

static void read_characters(struct bit_reader *r, struct symbol *s, unsigned n, char *characters)
{
	for (; n; n--, s++) {
		s->place = read_number(r, 8);
		s->length = 1;
		characters[s->place] = (char)s->place;
	}
}

static void read_phrases(struct bit_reader *r, struct symbol *s, unsigned n, unsigned right_bits)
{
	for (uint32_t left = 0; n; n--, s++) {
		left += read_gamma(r) - 1;
		s->place = left | read_number(r, right_bits) << 16;
	}
}

static void read_symbols(const struct packed_texts *p)
{
	struct bit_reader r = { (const uint8_t *)p, (uint64_t)p->symbols * 8 };
	struct symbol *s = get_symbols();
	unsigned right_bits =
		p->n_symbols > 2 ? 32u - (unsigned)__builtin_clz(p->n_symbols - 1) : 1;

	for (unsigned i = 1; i <= PACKED_LENGTHS; i++) {
		const uint16_t *counts = p->n_symbols_by_code[i % PACKED_LENGTHS];

		read_characters(&r, s, counts[0], get_characters(p));
		s += counts[0];
		for (unsigned depth = 1; depth < PACKED_DEPTHS; depth++) {
			read_phrases(&r, s, counts[depth], right_bits);
			s += counts[depth];
		}
	}
}

/* Codes of a length are consecutive numbers, after those of shorter ones. */
static void compute_codes(const struct packed_texts *p)
{
	uint32_t number = 0;
	uint64_t base = 0;

	for (unsigned length = 1; length < PACKED_LENGTHS; length++) {
		struct code_range *c = &unpacker.codes[length];
		uint32_t n = 0;

		for (unsigned depth = 0; depth < PACKED_DEPTHS; depth++)
			n += p->n_symbols_by_code[length][depth];
		*c = (struct code_range){ base, base + ((uint64_t)n << (32 - length)), number };
		number += n;
		base = c->limit;
	}
	for (unsigned i = 0; i < 256; i++) {
		unsigned length = 1;

		while (length + 1 < PACKED_LENGTHS && unpacker.codes[length].limit <= (uint64_t)i
		                                                                              << 24)
			length++;
		unpacker.shortest[i] = (uint8_t)length;
	}
}

/* The number of the next symbol. */
static uint32_t read_symbol(struct bit_reader *r)
{
	uint32_t bits = peek_bits(r);
	unsigned length = unpacker.shortest[bits >> 24];
	const struct code_range *c;

	while (length + 1 < PACKED_LENGTHS && bits >= unpacker.codes[length].limit)
		length++;
	c = &unpacker.codes[length];
	r->at += length;
	return c->first_symbol + (uint32_t)((bits - c->base) >> (32 - length));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Appends the text of symbol number @i at @to. Returns its end. Copies write up to seven bytes
 * more: PACKED_BLOCK_SLACK. */
static char *unpack_symbol(char *characters, uint32_t i, char *to) /* NOLINT(misc-no-recursion) */
{
	struct symbol *s = get_symbols() + i;
	char *end = to;

	if (s->length) {
		const char *from = characters + s->place;

		for (uint32_t k = 0; k < s->length; k += 8) {
			uint64_t bytes;

			memcpy(&bytes, from + k, 8);
			memcpy(to + k, &bytes, 8);
		}
		return to + s->length;
	}
	end = unpack_symbol(characters, s->place & 0xffff, end);
	end = unpack_symbol(characters, s->place >> 16, end);
	s->place = (uint32_t)(to - characters);
	s->length = (uint32_t)(end - to);
	return end;
}

static void unpack_block(const struct packed_texts *p, uint32_t block)
{
	const uint32_t *starts =
		(const uint32_t *)(const void *)((const char *)p + p->blocks) + block;
	struct bit_reader r = { (const uint8_t *)p, starts[0] };
	char *characters = get_characters(p),
	     *to = characters + N_CHARACTERS + (size_t)block * PACKED_BLOCK_SIZE;

	while (r.at < starts[1])
		to = unpack_symbol(characters, read_symbol(&r), to);
}

static void lock_unpacker(void)
{
	pthread_mutex_lock(&unpacker.lock);
}
static void unlock_unpacker(void)
{
	pthread_mutex_unlock(&unpacker.lock);
}

/* fork() waits until no thread unpacks, so a child finds whole blocks and a free lock. The handlers
 * are registered when the library is loaded, because fork() may be called during the first use. */
static __attribute__((constructor)) void register_fork_handlers(void)
{
	(void)pthread_atfork(lock_unpacker, unlock_unpacker, unlock_unpacker);
}

static void init_unpacker(const struct packed_texts *p)
{
	read_symbols(p);
	compute_codes(p);
}

/* Symbol 0 is a character, or a phrase of two other symbols. */
static bool is_unpacker_initialised(void)
{
	return get_symbols()->place || get_symbols()->length;
}

static __attribute__((cold, noinline)) void unpack_block_once(const struct packed_texts *p,
                                                              uint32_t block)
{
	_Atomic uint8_t *is_ready = get_ready_flags(p) + block;

	lock_unpacker();
	if (!is_unpacker_initialised())
		init_unpacker(p);
	if (!atomic_load_explicit(is_ready, memory_order_relaxed)) {
		unpack_block(p, block);
		atomic_store_explicit(is_ready, 1, memory_order_release);
	}
	unlock_unpacker();
}

const char *pfmi_table_unpack_text(uint32_t at)
{
	const struct packed_texts *p = get_packed_texts();
	uint32_t block = at / PACKED_BLOCK_SIZE;

	if (!atomic_load_explicit(get_ready_flags(p) + block, memory_order_acquire))
		unpack_block_once(p, block);
	return get_characters(p) + N_CHARACTERS + at;
}

bool pfmi_table_has_packed_texts(uint32_t size, uint32_t identity)
{
	const struct image *im = table_get_builtin_image();
	const struct packed_texts *p = get_packed_texts();

	return im->arrays[ARRAY_PACKED_TEXTS].n_elements &&
	       (uint64_t)p->n_blocks * PACKED_BLOCK_SIZE == size && p->identity == identity;
}
