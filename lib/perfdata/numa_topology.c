/* SPDX-License-Identifier: MIT */
/* NUMA nodes of this machine for readers of a recording: their CPUs, and the blocks of physical
 * memory that they have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"
#include "base/grow.h"

#define NODES      "/sys/devices/system/node"
#define BLOCK_SIZE "/sys/devices/system/memory/block_size_bytes"

enum { MAX_NODES = 1024, MAX_BLOCKS = 1 << 24, TEXT_ALIGN = 64, WORD_BITS = 64 };

/* Appends the length of a text, then the text with zeros up to that length. */
static bool append_padded_text(struct byte_buffer *b, const char *text)
{
	static const char zeros[TEXT_ALIGN];
	size_t n = strlen(text) + 1, padded = (n + TEXT_ALIGN - 1) / TEXT_ALIGN * TEXT_ALIGN;

	return pfmi_perfdata_append_u32(b, (uint32_t)padded) &&
	       pfmi_perfdata_append_bytes(b, text, n) &&
	       pfmi_perfdata_append_bytes(b, zeros, padded - n);
}

/* Numbers in the names of a folder's entries. */
struct numbers {
	const char *prefix;
	uint32_t *list;
	size_t n, capacity;
};

/* Adds the number of an entry whose name is prefix and number. */
static int add_entry_number(void *arg, const char *name)
{
	struct numbers *a = arg;
	size_t len = strlen(a->prefix);
	uint64_t number;
	char *end;
	bool failed = false;

	if (strncmp(name, a->prefix, len) != 0 || name[len] < '0' || name[len] > '9')
		return 0;
	number = strtoull(name + len, &end, 10);
	if (*end || number >= MAX_BLOCKS)
		return 0;
	a->list = base_grow_list(a->list, a->n, &a->capacity, sizeof(*a->list), &failed);
	if (failed)
		return -ENOMEM;
	a->list[a->n++] = (uint32_t)number;
	return 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of the entries of @folder that begin with @prefix, in order. False without such
 * entries, or without memory. The caller frees the list. */
static bool read_numbers(const struct pfm_session *s, const char *folder, const char *prefix,
                         struct numbers *out)
{
	int rc;

	*out = (struct numbers){ .prefix = prefix };
	rc = s->sys.list_folder(&s->sys, folder, add_entry_number, out);
	if (rc < 0 || !out->n) {
		free(out->list);
		out->list = NULL;
		out->n = 0;
		return false;
	}
	qsort(out->list, out->n, sizeof(*out->list), compare_u32);
	return true;
}

/* Finds the number, in KiB, in the line of meminfo that has @key. */
static uint64_t read_kib_of_key(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static bool append_node(const struct pfm_session *s, struct byte_buffer *b, uint32_t node)
{
	char path[128], cpus[4096] = "", memory[4096] = "";

	snprintf(path, sizeof(path), NODES "/node%u/meminfo", (unsigned)node);
	if (pfmi_machine_read_small_file(&s->sys, path, memory, sizeof(memory)) <= 0)
		memory[0] = '\0';
	snprintf(path, sizeof(path), NODES "/node%u/cpulist", (unsigned)node);
	if (pfmi_machine_read_small_file(&s->sys, path, cpus, sizeof(cpus)) <= 0)
		cpus[0] = '\0';
	return pfmi_perfdata_append_u32(b, node) &&
	       pfmi_perfdata_append_u64(b, read_kib_of_key(memory, "MemTotal:")) &&
	       pfmi_perfdata_append_u64(b, read_kib_of_key(memory, "MemFree:")) &&
	       append_padded_text(b, cpus);
}

bool pfmi_perfdata_build_numa_topology(const struct pfm_session *s, struct byte_buffer *out)
{
	struct numbers nodes;
	bool is_built = read_numbers(s, NODES, "node", &nodes) && nodes.n <= MAX_NODES &&
	                pfmi_perfdata_append_u32(out, (uint32_t)nodes.n);

	for (size_t i = 0; i < nodes.n && is_built; i++)
		is_built = append_node(s, out, nodes.list[i]);
	free(nodes.list);
	return is_built;
}

/* Appends the set of a node's blocks. */
static bool append_blocks(struct byte_buffer *b, uint32_t node, const struct numbers *blocks)
{
	uint64_t n_bits = (uint64_t)blocks->list[blocks->n - 1] + 1, word = 0;
	size_t next = 0;
	bool is_added = pfmi_perfdata_append_u64(b, node) && pfmi_perfdata_append_u64(b, n_bits) &&
	                pfmi_perfdata_append_u64(b, n_bits);

	for (uint64_t at = 0; at < n_bits && is_added; at += WORD_BITS, word = 0) {
		for (; next < blocks->n && blocks->list[next] < at + WORD_BITS; next++)
			word |= (uint64_t)1 << (blocks->list[next] - at);
		is_added = pfmi_perfdata_append_u64(b, word);
	}
	return is_added;
}

bool pfmi_perfdata_build_memory_topology(const struct pfm_session *s, struct byte_buffer *out)
{
	char text[64], path[128];
	struct numbers nodes, blocks;
	uint64_t n = 0;
	size_t count_at;
	bool is_built;

	if (pfmi_machine_read_small_file(&s->sys, BLOCK_SIZE, text, sizeof(text)) <= 0 ||
	    !read_numbers(s, NODES, "node", &nodes))
		return false;
	is_built = pfmi_perfdata_append_u64(out, 1) &&
	           pfmi_perfdata_append_u64(out, strtoull(text, NULL, 16));
	count_at = out->end;
	is_built = is_built && pfmi_perfdata_append_u64(out, 0);
	for (size_t i = 0; i < nodes.n && is_built; i++) {
		snprintf(path, sizeof(path), NODES "/node%u", (unsigned)nodes.list[i]);
		if (!read_numbers(s, path, "memory", &blocks))
			continue;
		is_built = append_blocks(out, nodes.list[i], &blocks);
		free(blocks.list);
		n++;
	}
	if (is_built)
		memcpy(out->data + count_at, &n, sizeof(n));
	free(nodes.list);
	return is_built && n;
}
