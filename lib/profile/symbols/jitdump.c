/* SPDX-License-Identifier: MIT */
/* All numbers have the byte order of the machine that wrote the dump; others are not read.
 *
 *   head    u32 magic "JiTD", u32 version, u32 size of the head, u32 machine, u32 0, u32 process,
 *           u64 time, u64 flags
 *   record  u32 kind, u32 size, u64 time, and for
 *     0  code that was compiled: u32 process, u32 thread, u64 address, u64 address, u64 size,
 *        u64 number, name, the code
 *     1  code that was moved: u32 process, u32 thread, u64 new address, u64 old address,
 *        u64 new address, u64 size, u64 number
 *     2  lines, 3 end, 4 unwinding: not read */
#include "profile/symbols/jitdump.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/hash.h"
#include "profile/symbols/symbols.h"

#define JITDUMP_MAGIC 0x4a695444u
#define MAX_HEAD      4096u
#define MAX_RECORD    ((uint32_t)64 << 20)

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

struct jitdump_head {
	uint32_t magic, version, size, machine, reserved, pid;
	uint64_t time, flags;
};

struct record_head {
	uint32_t kind, size;
	uint64_t time;
};

struct code_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, number;
};

struct code_move {
	uint32_t pid, tid;
	uint64_t vma, old_address, address, size, number;
};

bool is_jitdump_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && strcmp(name + 4 + digits, ".dump") == 0;
}

/* The newest function that begins at an address. */
struct newest_function {
	uint64_t address;
	size_t symbol; /* its index in the table */
};

struct jitdump_reader {
	struct symbol_table *table;
	struct newest_function *newest;
	size_t n, capacity;
	struct hash_table addresses; /* of @newest */
	struct budget *budget;
	uint32_t rank;
	bool has_ended; /* the budget is spent */
	bool failed;    /* no memory */
};

struct address_search {
	const struct newest_function *list;
	uint64_t address;
};

static bool begins_at(const void *arg, uint32_t i)
{
	const struct address_search *s = arg;

	return s->list[i].address == s->address;
}

/* The newest function that begins at @address, or NULL. */
static struct newest_function *find_newest(const struct jitdump_reader *r, uint64_t address)
{
	const struct address_search search = { r->newest, address };
	uint32_t at = pfmi_base_find_hash(&r->addresses, pfmi_base_hash_number(address), begins_at,
	                                  &search);

	return at == HASH_NOT_FOUND ? NULL : &r->newest[at];
}

/* Notes that the last symbol of the table is the newest one at its address. */
static void note_newest(struct jitdump_reader *r, uint64_t address)
{
	struct newest_function *newest = find_newest(r, address);

	if (newest) {
		newest->symbol = r->table->n - 1;
		return;
	}
	r->newest = base_grow_list(r->newest, r->n, &r->capacity, sizeof(*r->newest), &r->failed);
	r->failed = r->failed || !pfmi_base_add_hash(&r->addresses, pfmi_base_hash_number(address),
	                                             (uint32_t)r->n);
	if (!r->failed)
		r->newest[r->n++] = (struct newest_function){ address, r->table->n - 1 };
}

/* Adds a function whose name has at most @n bytes. */
static void add_function(struct jitdump_reader *r, uint64_t address, uint64_t size,
                         const char *name, size_t n)
{
	struct symbol s = { .start = address, .size = size, .rank = r->rank++ };

	if (!size || !n || !*name)
		return;
	n = strnlen(name, n < SYMBOL_SIZE ? n : SYMBOL_SIZE - 1);
	r->has_ended = !budget_charge(r->budget, sizeof(s) + n);
	if (r->has_ended)
		return;
	s.demangled = strndup(name, n);
	s.name = s.demangled;
	r->failed = !s.name || !symbol_table_add(r->table, &s);
	if (r->failed)
		free(s.demangled);
	else
		note_newest(r, address);
}

static void add_code_record(struct jitdump_reader *r, uint32_t kind, const uint8_t *body,
                            size_t size)
{
	const struct newest_function *old;
	struct code_load load;
	struct code_move move;

	if (kind == CODE_LOAD && size > sizeof(load)) {
		memcpy(&load, body, sizeof(load));
		add_function(r, load.address, load.size, (const char *)body + sizeof(load),
		             size - sizeof(load));
	}
	if (kind == CODE_MOVE && size >= sizeof(move)) {
		memcpy(&move, body, sizeof(move));
		old = find_newest(r, move.old_address);
		if (old)
			add_function(r, move.address, move.size, r->table->list[old->symbol].name,
			             SYMBOL_SIZE);
	}
}

/* Reads the head, and goes to the first record. */
static bool read_file_head(FILE *f)
{
	struct jitdump_head h;
	uint8_t rest[MAX_HEAD];

	return fread(&h, sizeof(h), 1, f) == 1 && h.magic == JITDUMP_MAGIC && h.size >= sizeof(h) &&
	       h.size <= MAX_HEAD && fread(rest, 1, h.size - sizeof(h), f) == h.size - sizeof(h);
}

bool jitdump_read(struct symbol_table *t, FILE *f, uint32_t rank, struct budget *budget)
{
	struct jitdump_reader r = { .table = t, .budget = budget, .rank = rank };
	struct record_head h;
	uint8_t *body = NULL;

	if (!read_file_head(f))
		return true;
	while (!r.failed && !r.has_ended && fread(&h, sizeof(h), 1, f) == 1 &&
	       h.size >= sizeof(h) && h.size <= MAX_RECORD) {
		size_t size = h.size - sizeof(h);
		uint8_t *more = realloc(body, size + 1);

		r.failed = !more;
		body = more ? more : body;
		if (r.failed || fread(body, 1, size, f) != size)
			break;
		body[size] = '\0';
		add_code_record(&r, h.kind, body, size);
	}
	free(body);
	free(r.newest);
	pfmi_base_free_hash(&r.addresses);
	return !r.failed;
}
