/* SPDX-License-Identifier: MIT */
/* Kernels that move a known number of bytes. Their unit is a byte: a right event counts 1 for each
 * byte that a stream moves, and a little more, because lines are fetched ahead and written back
 * late. */
#include "truth/kernels.h"
#include "truth/streams.h"

/* Bytes that were moved, or that could have been while it was idle. */
static double moved;

static double read_moved(void)
{
	return moved;
}

static bool run_stream(enum truth_stream kind, unsigned long n)
{
	double bytes, seconds;

	if (!truth_run_stream(kind, n, &bytes, &seconds))
		return false;
	moved += bytes;
	return true;
}

static bool read_memory(unsigned long n, void *memory)
{
	(void)memory;
	return run_stream(TRUTH_STREAM_READ, n);
}

static bool write_memory(unsigned long n, void *memory)
{
	(void)memory;
	return run_stream(TRUTH_STREAM_WRITE, n);
}

static bool leave_memory(unsigned long n, void *memory)
{
	(void)memory;
	return run_stream(TRUTH_STREAM_IDLE, n);
}

/* Members that all streams have. */
#define STREAM(function) .turns = 2, .run = (function), .account = read_moved, .is_stream = true

static const struct truth_kernel streams[] = {
	{ .name = "idle_memory",
	  .about = "threads on all CPUs that leave the memory alone",
	  STREAM(leave_memory),
	  .is_idle = true,
	  WITHIN(DRAM_READ_BYTES, 0, 0.05),
	  WITHIN(DRAM_WRITE_BYTES, 0, 0.05),
	  WITHIN(DRAM_BYTES, 0, 0.1) },
	{ .name = "memory_reads",
	  .about = "threads on all CPUs that read memory",
	  .control = "idle_memory",
	  STREAM(read_memory),
	  WITHIN(DRAM_READ_BYTES, 0.9, 1.3),
	  WITHIN(DRAM_WRITE_BYTES, 0, 0.25),
	  WITHIN(DRAM_BYTES, 0.9, 1.5) },
	{ .name = "memory_writes",
	  .about = "threads on all CPUs that write memory",
	  .control = "memory_reads",
	  STREAM(write_memory),
	  WITHIN(DRAM_READ_BYTES, 0, 1.4),
	  WITHIN(DRAM_WRITE_BYTES, 0.8, 1.3),
	  WITHIN(DRAM_BYTES, 0.8, 2.6) },
};

const struct truth_kernel *truth_list_streams(size_t *n)
{
	*n = sizeof(streams) / sizeof(streams[0]);
	return streams;
}
