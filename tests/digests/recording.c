/* SPDX-License-Identifier: MIT */
/* Recordings as fuzz_recording.c reads them, and what is in them. */
#include "digests.h"
#include <stdbool.h>
#include <perfmon/sampling.h>

static int said_read(pfm_session_t **out, const char *path, pfm_error_t *none)
{
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_read_recording(out, path, &error);

	(void)none;
	say("read", (uint64_t)rc);
	if (rc) {
		say("kind", (uint64_t)error.kind);
		say_text("detail", error.detail);
	}
	return rc;
}

static int said_next(pfm_session_t *s, pfm_record_t *r)
{
	int rc = pfm_next_record(s, r);

	say("next", (uint64_t)rc);
	if (rc == 1) {
		say("event", r->event);
		say_record(r);
	}
	return rc;
}

static int said_count(pfm_session_t *s, unsigned i, pfm_count_info_t *info)
{
	pfm_buffers_t buffers = PFM_INIT(buffers);
	pfm_sample_count_t samples = PFM_INIT(samples);
	int rc = pfm_describe_count(s, i, info);

	if (rc)
		return rc;
	say_text("name", info->name);
	say_text("pmu", info->pmu);
	say_text("unit", info->unit);
	say_text("cpus", info->cpus);
	say_text("why", info->why);
	say("group", info->group);
	say("parts", info->n_parts);
	say("type", info->attr.type);
	say("config", info->attr.config);
	say("precise", info->attr.precise);
	say("buffers", (uint64_t)pfm_read_buffers(s, &buffers));
	say("bytes", buffers.bytes);
	say("lost", buffers.lost);
	say("damaged", buffers.damaged);
	say("skipped", buffers.skipped);
	say("samples", (uint64_t)pfm_read_samples(s, i, &samples));
	say("quality", (uint64_t)samples.quality);
	say("cause", (uint64_t)samples.cause);
	say("samples", samples.samples);
	say("exact", samples.exact);
	say("weight", samples.weight);
	say("lost", samples.lost);
	say("throttled", samples.throttled);
	say("period", samples.period);
	say("freq", samples.freq);
	return rc;
}

#define pfm_read_recording     said_read
#define pfm_next_record        said_next
#define pfm_describe_count     said_count
#define LLVMFuzzerTestOneInput ask_recording
#include "../fuzz/fuzz_recording.c"
