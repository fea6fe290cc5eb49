/* SPDX-License-Identifier: MIT */
#include "profile/symbols/code_shape.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/regular_file.h"
#include "profile/symbols/elf_file.h"
#include "profile/symbols/x86_instruction.h"

enum { CODE_MAX = 1 << 18, ARM_INSTRUCTION = 4 };

#define EDGE UINT32_MAX /* before the first operation, and after the last */

/* The bits that select the operation, without fields of registers and constants: Arm Architecture
 * Reference Manual, C4.1, encoding of A64. */
static uint32_t get_arm_operation(const uint8_t *code)
{
	uint32_t word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	                (uint32_t)code[3] << 24;

	if ((word & 0x7c000000) == 0x14000000) /* b, bl */
		return word & 0xfc000000;
	if ((word & 0x7c000000) == 0x34000000) /* cbz, cbnz, tbz, tbnz */
		return word & 0x7f000000;
	if ((word & 0xff000000) == 0x54000000) /* b.cond */
		return word & 0xff00000f;
	if ((word & 0x1f000000) == 0x10000000) /* adr, adrp */
		return word & 0x9f000000;
	return word & 0xffc00000;
}

/* Reads the operation at @code. Returns the length of the instruction; 0 if it is not whole. */
static size_t read_operation(unsigned machine, const uint8_t *code, size_t n, uint32_t *operation)
{
	if (machine == EM_X86_64)
		return x86_instruction_read(code, n, operation);
	if (n < ARM_INSTRUCTION)
		return 0;
	*operation = get_arm_operation(code);
	return ARM_INSTRUCTION;
}

static int compare_pairs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool code_shape_knows_machine(unsigned machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

bool code_shape_read(struct code_shape *s, unsigned machine, const uint8_t *code, size_t n)
{
	uint32_t before = EDGE, operation;

	s->n = 0;
	s->pairs = code_shape_knows_machine(machine) ? calloc(n + 1, sizeof(*s->pairs)) : NULL;
	if (!s->pairs)
		return false;
	for (size_t at = 0, len; at < n; at += len, before = operation) {
		len = read_operation(machine, code + at, n - at, &operation);
		if (!len)
			break;
		s->pairs[s->n++] = (uint64_t)before << 32 | operation;
	}
	s->pairs[s->n++] = (uint64_t)before << 32 | EDGE;
	qsort(s->pairs, s->n, sizeof(*s->pairs), compare_pairs);
	return true;
}

/* Finds the offset in the file of @size bytes at address @start. False if they are not all in one
 * section. */
static bool find_code(struct elf_file *e, uint64_t start, uint64_t size, uint64_t *offset)
{
	bool is_found = false;

	for (unsigned i = 0; i < e->n_sections && !is_found; i++) {
		Elf64_Shdr s = elf_get_section(e, i);

		is_found = s.sh_type == SHT_PROGBITS && start >= s.sh_addr &&
		           start - s.sh_addr < s.sh_size && size <= s.sh_size - (start - s.sh_addr);
		*offset = s.sh_offset + (start - s.sh_addr);
	}
	return is_found;
}

bool code_shape_read_file(struct code_shape *s, const char *path, uint64_t start, uint64_t end)
{
	uint64_t size = end - start, offset;
	struct stat st;
	int fd = end > start && size <= CODE_MAX ? open_regular_file(path, &st) : -1;
	struct elf_file e;
	uint8_t *code = NULL;
	bool is_read = false;

	*s = (struct code_shape){ .n = 0 };
	if (fd < 0)
		return false;
	e = elf_file_begin(fd, (uint64_t)st.st_size, path, NULL);
	if (elf_read_head(&e) && code_shape_knows_machine(e.machine) && elf_load_sections(&e) &&
	    find_code(&e, start, size, &offset))
		code = elf_read_bytes(&e, size, offset);
	if (code)
		is_read = code_shape_read(s, e.machine, code, (size_t)size);
	free(code);
	elf_free_sections(&e);
	close(fd);
	return is_read;
}

double code_shape_compare(const struct code_shape *a, const struct code_shape *b)
{
	size_t i = 0, k = 0, n = 0;

	while (i < a->n && k < b->n) {
		uint64_t x = a->pairs[i], y = b->pairs[k];

		n += x == y;
		i += x <= y;
		k += y <= x;
	}
	return a->n + b->n ? 2.0 * (double)n / (double)(a->n + b->n) : 0;
}

void code_shape_free(struct code_shape *s)
{
	free(s->pairs);
	*s = (struct code_shape){ .n = 0 };
}
