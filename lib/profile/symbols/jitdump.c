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

/* Adds a function whose name has at most @n bytes. False without memory. */
static bool add_function(struct symbol_table *t, uint64_t address, uint64_t size, const char *name,
                         size_t n, uint32_t rank)
{
	struct symbol s = { .start = address, .size = size, .rank = rank };

	if (!size || !n || !*name)
		return true;
	s.demangled = strndup(name, n < SYMBOL_SIZE ? n : SYMBOL_SIZE - 1);
	s.name = s.demangled;
	if (s.name && symbol_table_add(t, &s))
		return true;
	free(s.demangled);
	return false;
}

static bool add_moved_function(struct symbol_table *t, const struct code_move *m, uint32_t rank)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->list[i].start == m->old_address)
			return add_function(t, m->address, m->size, t->list[i].name, SYMBOL_SIZE,
			                    rank);
	return true;
}

static bool add_code_record(struct symbol_table *t, uint32_t kind, const uint8_t *body, size_t size,
                            uint32_t rank)
{
	struct code_load load;
	struct code_move move;

	if (kind == CODE_LOAD && size > sizeof(load)) {
		memcpy(&load, body, sizeof(load));
		return add_function(t, load.address, load.size, (const char *)body + sizeof(load),
		                    size - sizeof(load), rank);
	}
	if (kind == CODE_MOVE && size >= sizeof(move)) {
		memcpy(&move, body, sizeof(move));
		return add_moved_function(t, &move, rank);
	}
	return true;
}

/* Reads the head, and goes to the first record. */
static bool read_file_head(FILE *f)
{
	struct jitdump_head h;
	uint8_t rest[MAX_HEAD];

	return fread(&h, sizeof(h), 1, f) == 1 && h.magic == JITDUMP_MAGIC && h.size >= sizeof(h) &&
	       h.size <= MAX_HEAD && fread(rest, 1, h.size - sizeof(h), f) == h.size - sizeof(h);
}

bool jitdump_read(struct symbol_table *t, FILE *f, uint32_t rank)
{
	struct record_head h;
	uint8_t *body = NULL;
	bool is_added = read_file_head(f);

	if (!is_added)
		return true;
	while (is_added && fread(&h, sizeof(h), 1, f) == 1 && h.size >= sizeof(h) &&
	       h.size <= MAX_RECORD) {
		size_t size = h.size - sizeof(h);
		uint8_t *more = realloc(body, size + 1);

		is_added = more != NULL;
		body = more ? more : body;
		if (!is_added || fread(body, 1, size, f) != size)
			break;
		body[size] = '\0';
		is_added = add_code_record(t, h.kind, body, size, rank++);
	}
	free(body);
	return is_added;
}
