/* SPDX-License-Identifier: MIT */
/* The text of perf script -F ip,brstack: a line for each sample with its address and its branches,
 * the newest first, as FROM/TO/M or P/X or -/A or -/CYCLES. perf2bolt, llvm-profgen and AutoFDO
 * read it. Mappings are lines of their own, by which llvm-profgen finds the program. */
#include "export/export.h"

#include <inttypes.h>
#include <sys/mman.h>

/* Bits of the flags of a branch, as in struct perf_branch_entry. */
enum { BRANCH_MISPREDICTED = 1, BRANCH_PREDICTED = 2, BRANCH_IN_TX = 4, BRANCH_ABORT = 8 };

struct brstack {
	uint64_t n_branches;
};

/* A line as perf script --show-mmap-events has it. */
static void put_mapping(void *arg, const pfm_record_t *r)
{
	const struct exporter *e = arg;
	const pfm_map_t *m = &r->body.map;
	char name[NAME_LINE];

	fprintf(e->out,
	        "PERF_RECORD_MMAP2 %" PRId32 "/%" PRId32 ": [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64
	        " %02" PRIx32 ":%02" PRIx32 " %" PRIu64 " %" PRIu64 "]: %c%c%c%c %s\n",
	        (int32_t)r->pid, (int32_t)r->tid, m->start, m->length, m->offset, m->major,
	        m->minor, m->inode, m->generation, m->prot & PROT_READ ? 'r' : '-',
	        m->prot & PROT_WRITE ? 'w' : '-',
	        m->prot & PROT_EXEC || r->type == PFM_RECORD_MAP ? 'x' : '-',
	        m->flags & MAP_SHARED ? 's' : 'p', profile_format_line(m->name, name));
}

static void begin_file(struct exporter *e)
{
	e->reader->see_mapping = put_mapping;
	e->reader->see_mapping_arg = e;
}

static const char *get_prediction_letter(uint64_t flags)
{
	return flags & BRANCH_MISPREDICTED ? "M" : flags & BRANCH_PREDICTED ? "P" : "-";
}

/* Writes the type of a branch; nothing if it was not recorded. */
static void put_type(FILE *out, uint64_t flags)
{
	static const char *const names[16] = { NULL,     "COND",      "UNCOND",   "IND",
		                               "CALL",   "IND_CALL",  "RET",      "SYSCALL",
		                               "SYSRET", "COND_CALL", "COND_RET", "ERET",
		                               "IRQ",    "SERROR",    "NO_TX",    NULL };
	const char *name = names[flags >> 20 & 15];

	if (name)
		fprintf(out, "/%s", name);
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct brstack *state = e->state;

	fprintf(e->out, "%16llx ", (unsigned long long)s->ip);
	for (uint32_t i = 0; i < s->n_branches; i++) {
		const pfm_branch_t *b = &s->branches[i];

		fprintf(e->out, " 0x%llx/0x%llx/%s/%c/%c/%llu", (unsigned long long)b->from,
		        (unsigned long long)b->to, get_prediction_letter(b->flags),
		        b->flags & BRANCH_IN_TX ? 'X' : '-', b->flags & BRANCH_ABORT ? 'A' : '-',
		        (unsigned long long)(b->flags >> 4 & 0xffff));
		put_type(e->out, b->flags);
	}
	fputs(" \n", e->out);
	state->n_branches += s->n_branches;
}

static void end_file(struct exporter *e)
{
	const struct brstack *state = e->state;
	char text[LOSSES_MAX];

	if (!state->n_branches)
		fprintf(stderr,
		        "pfm export: %s has no branches; record them with 'pfm record -b'\n",
		        e->reader->path);
	else if (!is_profile_complete(&e->reader->losses))
		fprintf(stderr, "pfm export: brstack has no place for losses: %s\n",
		        print_profile_losses(&e->reader->losses, text));
}

const struct export_format export_brstack = {
	.name = "brstack",
	.summary = "branch records as text, for perf2bolt -p, llvm-profgen and AutoFDO",
	.suffixes = { ".brstack" },
	.state_size = sizeof(struct brstack),
	.begin = begin_file,
	.add_sample = add_sample,
	.end = end_file,
};
