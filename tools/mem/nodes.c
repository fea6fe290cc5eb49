/* SPDX-License-Identifier: MIT */
/* Two sections after the data of perf.data:
 *
 *   NUMA_TOPOLOGY  u32 nodes; for each u32 number, u64 memory, u64 free, u32 length, CPUs as
 * "0-3,8" MEM_TOPOLOGY   u64 version (1), u64 size of a block, u64 nodes; for each u64 number, u64
 * bits, u64 bits, bits of blocks in words of 64 bits
 *
 * The file is not trusted. */
#include "mem/nodes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "mem/lines.h"
#include "perfdata/perfdata.h"
#include "profile/recording_section.h"

enum { MAX_CPUS = 65536 };

struct block_set {
	uint32_t node;
	uint64_t n_bits;
	const uint8_t *bits;
};

struct mem_nodes {
	uint32_t *cpu_nodes; /* of MAX_CPUS, or NULL */
	uint8_t *memory;     /* section MEM_TOPOLOGY, or NULL */
	uint64_t block_size;
	struct block_set *blocks;
	size_t n_blocks;
};

struct section_reader {
	const uint8_t *at;
	uint64_t left;
	bool is_bad;
};

static const uint8_t *take_bytes(struct section_reader *r, uint64_t n)
{
	const uint8_t *at = r->at;

	if (n > r->left) {
		r->is_bad = true;
		r->left = 0;
		return NULL;
	}
	r->at += n;
	r->left -= n;
	return at;
}

static uint64_t read_number(struct section_reader *r, unsigned size)
{
	const uint8_t *at = take_bytes(r, size);
	uint32_t narrow;
	uint64_t wide = 0;

	if (at && size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
	} else if (at) {
		memcpy(&narrow, at, sizeof(narrow));
		wide = narrow;
	}
	return wide;
}

/* Sets the node of the CPUs in a list such as 0-3,8. */
static void set_cpu_nodes(uint32_t *cpu_nodes, const char *list, uint32_t node)
{
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < MAX_CPUS; cpu++)
			cpu_nodes[cpu] = node;
		if (*end != ',')
			return;
	}
}

static void read_cpus(struct mem_nodes *m, uint8_t *bytes, uint64_t size)
{
	struct section_reader r = { bytes, size, false };
	uint64_t n = read_number(&r, 4);

	m->cpu_nodes = malloc(MAX_CPUS * sizeof(*m->cpu_nodes));
	if (m->cpu_nodes)
		memset(m->cpu_nodes, 0xff, MAX_CPUS * sizeof(*m->cpu_nodes));
	for (uint64_t i = 0; i < n && !r.is_bad && m->cpu_nodes; i++) {
		uint32_t node = (uint32_t)read_number(&r, 4);
		uint64_t length;
		const char *list;

		take_bytes(&r, 16);
		length = read_number(&r, 4);
		list = (const char *)take_bytes(&r, length);
		if (list && length && memchr(list, '\0', (size_t)length))
			set_cpu_nodes(m->cpu_nodes, list, node);
	}
	free(bytes);
}

static void read_memory(struct mem_nodes *m, uint8_t *bytes, uint64_t size)
{
	struct section_reader r = { bytes, size, false };
	uint64_t version = read_number(&r, 8), n;

	m->memory = bytes;
	m->block_size = read_number(&r, 8);
	n = read_number(&r, 8);
	if (version != 1 || !m->block_size || n > size / 24)
		return;
	m->blocks = calloc((size_t)n + 1, sizeof(*m->blocks));
	for (uint64_t i = 0; i < n && m->blocks; i++) {
		struct block_set *b = &m->blocks[m->n_blocks];

		b->node = (uint32_t)read_number(&r, 8);
		read_number(&r, 8);
		b->n_bits = read_number(&r, 8);
		if (b->n_bits > size * 8)
			return;
		b->bits = take_bytes(&r, (b->n_bits + 63) / 64 * 8);
		if (!b->bits)
			return;
		m->n_blocks++;
	}
}

struct mem_nodes *mem_nodes_read(const char *path)
{
	struct mem_nodes *m = calloc(1, sizeof(*m));
	uint64_t size = 0;
	uint8_t *bytes;

	if (!m)
		return NULL;
	bytes = read_recording_section(path, PERFDATA_FEATURE_NUMA_TOPOLOGY, &size);
	if (bytes)
		read_cpus(m, bytes, size);
	bytes = read_recording_section(path, PERFDATA_FEATURE_MEM_TOPOLOGY, &size);
	if (bytes)
		read_memory(m, bytes, size);
	return m;
}

void mem_nodes_free(struct mem_nodes *m)
{
	if (!m)
		return;
	free(m->cpu_nodes);
	free(m->memory);
	free(m->blocks);
	free(m);
}

uint32_t mem_nodes_of_cpu(const struct mem_nodes *m, uint32_t cpu)
{
	return m && m->cpu_nodes && cpu < MAX_CPUS ? m->cpu_nodes[cpu] : MEM_NO_NODE;
}

uint32_t mem_nodes_of_address(const struct mem_nodes *m, uint64_t physical)
{
	uint64_t block = m && m->block_size ? physical / m->block_size : 0;

	for (size_t i = 0; m && physical && i < m->n_blocks; i++) {
		uint64_t word = 0;

		if (block < m->blocks[i].n_bits)
			memcpy(&word, m->blocks[i].bits + block / 64 * 8, sizeof(word));
		if (word >> block % 64 & 1)
			return m->blocks[i].node;
	}
	return MEM_NO_NODE;
}
