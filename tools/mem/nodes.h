/* SPDX-License-Identifier: MIT */
/* NUMA nodes of the machine that was recorded: which CPUs and which memory belong to each. */
#ifndef PFM_MEM_NODES_H
#define PFM_MEM_NODES_H

#include <stdint.h>

struct mem_nodes;

/* Reads what the recording at @path says. NULL if it says nothing, or without memory. */
struct mem_nodes *mem_nodes_read(const char *path);
void mem_nodes_free(struct mem_nodes *m);
/* The node of a CPU or of a physical address; MEM_NO_NODE if it is not known. @m may be
 * NULL. */
uint32_t mem_nodes_of_cpu(const struct mem_nodes *m, uint32_t cpu);
uint32_t mem_nodes_of_address(const struct mem_nodes *m, uint64_t physical);

#endif
