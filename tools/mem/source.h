/* SPDX-License-Identifier: MIT */
/* Where a load or store found its data: the word that PEBS, IBS and SPE samples have alike. */
#ifndef PFM_MEM_SOURCE_H
#define PFM_MEM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

enum mem_operation { MEM_OTHER, MEM_LOAD, MEM_STORE };

struct mem_source {
	enum mem_operation operation;
	bool is_hitm;   /* the line was modified in another cache */
	bool is_remote; /* of another node */
	bool is_locked;
	/* as "L1", "L3 miss", "remote RAM, other socket"; "unknown" if the processor did not say */
	char level[64];
};

/* Reads @word, PFM_SAMPLE_SOURCE of a sample. */
void mem_source_read(uint64_t word, struct mem_source *source);

#endif
