/* SPDX-License-Identifier: MIT */
/* The report of pfm mem. */
#ifndef PFM_MEM_PRINT_H
#define PFM_MEM_PRINT_H

#include "export/export.h"
#include "mem/lines.h"
#include "mem/nodes.h"

struct mem_job {
	struct export_reader reader;
	struct mem_lines lines;
	struct mem_nodes *nodes;
	uint32_t *order; /* of lines */
	uint64_t n_without_address, line_limit;
	const char *path, *event;
	bool json, has_nodes, has_latency;
};

/* Print the accesses that were read. */
void print_mem_text(const struct mem_job *job);
void print_mem_json(const struct mem_job *job);

#endif
