/* SPDX-License-Identifier: MIT */
/* Records as fuzz_records.c makes them, and what becomes of each. */
#include "digests.h"
#include "sampling/sampling.h"

static bool said_decode(const struct layout *l, const void *bytes, size_t size, pfm_record_t *out)
{
	bool whole = pfmi_record_decode(l, bytes, size, out);

	say("whole", whole);
	if (whole)
		say_record(out);
	else
		say("type", (uint64_t)out->type << 32 | out->misc);
	return whole;
}

static bool said_swap(const struct layout *l, void *bytes, size_t size)
{
	bool whole = pfmi_record_swap(l, bytes, size);

	say("swap", whole);
	say_bytes("bytes", bytes, size);
	return whole;
}

static void said_id(const struct layout *l, const void *bytes, size_t size)
{
	say("id", pfmi_record_id(l, bytes, size));
}

static void said_time(const struct layout *l, const void *bytes, size_t size)
{
	say("time", pfmi_record_time(l, bytes, size));
}

#define pfmi_record_decode     said_decode
#define pfmi_record_swap       said_swap
#define pfmi_record_id         said_id
#define pfmi_record_time       said_time
#define LLVMFuzzerTestOneInput ask_records
#include "../fuzz/fuzz_records.c"
