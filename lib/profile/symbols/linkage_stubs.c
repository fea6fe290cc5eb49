/* SPDX-License-Identifier: MIT */
/* A stub jumps to the address in a slot of the global offset table, and a relocation says which
 * function the linker stores there. The jump is decoded, so that it does not matter which of the
 * layouts (lazy, eager, with landing pads) the linker chose. */
#include "profile/symbols/linkage_stubs.h"

#include <stdlib.h>
#include <string.h>

struct slot {
	uint64_t address;
	uint32_t symbol;
};

/* Slots of a file, as its relocations describe them, in ascending order of addresses. */
struct slots {
	struct slot *list;
	size_t n;
	uint8_t *symbols; /* the table of dynamic symbols */
	uint64_t n_symbols;
	const char *names;
	uint64_t n_names;
};

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* ---- relocations ----------------------------------------------------------------------------- */

static bool is_slot_relocation(const struct elf_file *e, uint64_t info)
{
	uint64_t type = ELF64_R_TYPE(info);

	if (e->machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static void add_relocations(struct elf_file *e, const Elf64_Shdr *s, struct slots *slots)
{
	uint8_t *bytes = elf_read_bytes(e, s->sh_size, s->sh_offset);
	size_t n = bytes ? (size_t)(s->sh_size / sizeof(Elf64_Rela)) : 0;
	struct slot *list = n ? realloc(slots->list, (slots->n + n) * sizeof(*list)) : NULL;

	e->out_of_memory |= n && !list;
	if (list)
		slots->list = list;
	for (size_t i = 0; list && i < n; i++) {
		Elf64_Rela r;

		memcpy(&r, bytes + i * sizeof(r), sizeof(r));
		if (is_slot_relocation(e, r.r_info))
			list[slots->n++] =
				(struct slot){ r.r_offset, (uint32_t)ELF64_R_SYM(r.r_info) };
	}
	free(bytes);
}

/* Reads the relocations, and the symbols that they name. */
static void read_slots(struct elf_file *e, struct slots *slots)
{
	Elf64_Shdr texts = { .sh_size = 0 };

	for (unsigned i = 0; i < e->n_sections; i++) {
		Elf64_Shdr s = elf_get_section(e, i);

		if (s.sh_type == SHT_RELA)
			add_relocations(e, &s, slots);
		if (s.sh_type != SHT_DYNSYM || slots->symbols)
			continue;
		slots->symbols = elf_read_bytes(e, s.sh_size, s.sh_offset);
		slots->n_symbols = slots->symbols ? s.sh_size / sizeof(Elf64_Sym) : 0;
		texts = s.sh_link < e->n_sections ? elf_get_section(e, s.sh_link) : texts;
	}
	slots->n_names = elf_measure_names(slots->names, texts.sh_size);
	if (slots->n)
		qsort(slots->list, slots->n, sizeof(*slots->list), compare_slots);
}

/* The function whose address is in the slot at @address, or NULL. */
static const char *find_function(const struct slots *slots, uint64_t address)
{
	const struct slot key = { .address = address };
	const struct slot *slot =
		slots->n ? bsearch(&key, slots->list, slots->n, sizeof(key), compare_slots) : NULL;
	Elf64_Sym s;

	if (!slot || slot->symbol >= slots->n_symbols)
		return NULL;
	memcpy(&s, slots->symbols + slot->symbol * sizeof(s), sizeof(s));
	return s.st_name < slots->n_names && slots->names[s.st_name] ? slots->names + s.st_name
	                                                             : NULL;
}

/* ---- instructions ---------------------------------------------------------------------------- */

enum { STUB_SIZE = 16, STUB_STEP = 8 }; /* bytes; those of .plt.got take 8 on x86-64 */

static uint32_t read_word(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w)); /* both architectures are little-endian, as this machine is */
	return w;
}

/* The slot that the code at @p, @n bytes at @address, jumps through: endbr64 and bnd may come
 * before jmp *distance(%rip). 0 for another instruction. */
static uint64_t decode_x86_64(const uint8_t *p, size_t n, uint64_t address)
{
	static const uint8_t landing_pad[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (n >= sizeof(landing_pad) && memcmp(p, landing_pad, sizeof(landing_pad)) == 0)
		at = sizeof(landing_pad);
	at += at < n && p[at] == 0xf2;
	if (at + 6 > n || p[at] != 0xff || p[at + 1] != 0x25)
		return 0;
	return address + at + 6 + (uint64_t)(int64_t)(int32_t)read_word(p + at + 2);
}

/* The slot that the code jumps through: a landing pad may come before adrp x16, page and
 * ldr x17, [x16, distance]. 0 for other instructions. */
static uint64_t decode_aarch64(const uint8_t *p, size_t n, uint64_t address)
{
	size_t at = n >= 4 && read_word(p) == 0xd503245f ? 4 : 0;
	uint32_t adrp, ldr;
	uint64_t pages;

	if (at + 8 > n)
		return 0;
	adrp = read_word(p + at);
	ldr = read_word(p + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	pages = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	if (pages & 1 << 20)
		pages |= ~(uint64_t)0x1fffff;
	return ((address + at) & ~(uint64_t)0xfff) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
}

static void add_stubs_of_section(struct elf_file *e, const char *section, const struct slots *slots,
                                 struct symbol_table *t)
{
	Elf64_Shdr s;
	uint8_t *code;

	if (!elf_find_section(e, section, &s))
		return;
	code = elf_read_bytes(e, s.sh_size, s.sh_offset);
	for (uint64_t at = 0; code && at < s.sh_size; at += STUB_STEP) {
		size_t n = s.sh_size - at < STUB_SIZE ? (size_t)(s.sh_size - at) : STUB_SIZE;
		uint64_t address = s.sh_addr + at;
		uint64_t slot = e->machine == EM_X86_64 ? decode_x86_64(code + at, n, address)
		                                        : decode_aarch64(code + at, n, address);
		const char *name = slot ? find_function(slots, slot) : NULL;

		if (name && !symbol_table_add(t, &(struct symbol){ .start = address,
		                                                   .size = n,
		                                                   .binding = STB_LOCAL,
		                                                   .is_linkage_stub = true,
		                                                   .name = name }))
			e->out_of_memory = true;
	}
	free(code);
}

void linkage_stubs_add(struct elf_file *e, const char *names, struct symbol_table *t)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { .names = names };

	if (!names || !e->is_64bit || (e->machine != EM_X86_64 && e->machine != EM_AARCH64))
		return;
	read_slots(e, &slots);
	for (size_t i = 0; slots.n && i < sizeof(sections) / sizeof(sections[0]); i++)
		add_stubs_of_section(e, sections[i], &slots, t);
	free(slots.symbols);
	free(slots.list);
}
