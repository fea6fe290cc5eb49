/* SPDX-License-Identifier: MIT */
/* Numbers of samples and losses, and the quality of samples. */
#include "sampling/sampling_internal.h"
#include "base/sizes.h"

static uint64_t get_lost_samples(const struct pfm_session *s, const struct session_count *c)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t lost = 0;

	if (!sampling_has_buffers(s))
		return 0;
	for (unsigned k = 0; k < c->kernel_state.n_events; k++)
		lost += st->events[c->kernel_state.first_event + k].lost_samples;
	return s->sampling->lacks_lost_counts ? PFM_LOST_UNKNOWN : lost;
}

/* True if samples of count @i may have been taken for those of another count, or of no count. For
 * two counts of one event the number of samples tells, after all were read. */
static bool has_mixed_samples(const struct pfm_session *s, unsigned i,
                              const pfm_sample_statistics_t *o)
{
	const struct session_count *c = &s->counts[i];
	uint64_t all = o->samples + o->lost, right = o->period ? o->count / o->period : all;
	bool twin = false, known = o->lost != PFM_LOST_UNKNOWN && !s->live.running;

	if (!sampling_has_shared_ids(c))
		return false;
	for (unsigned k = 0; k < s->n_counts; k++)
		twin |= k != i && sampling_has_shared_ids(&s->counts[k]) &&
		        s->counts[k].config.attr.config == c->config.attr.config;
	return s->sampling->n_ambiguous_samples ||
	       (twin && known &&
	        (all > right ? all - right : right - all) > c->kernel_state.n_events);
}

/* True if there are fewer than half as many samples as the count and its fixed period demand, as on
 * virtual machines whose overflow interrupts wait for the clock. Each counter may have an
 * unfinished period; inherited counters are too many to track. */
static bool has_too_few_samples(const struct pfm_session *s, unsigned i,
                                const pfm_sample_statistics_t *o)
{
	uint64_t due = o->period ? o->count / o->period : 0,
		 parts = s->counts[i].kernel_state.n_events;

	return !(s->options.flags & PFM_SESSION_INHERIT) && due > parts + 8 &&
	       o->samples + o->discarded < (due - parts) / 2;
}

/* True if the processor dropped samples or the buffer was full. Samples outside of the profiled
 * addresses are not lost. */
static bool has_lost_samples(const struct pfm_session *s, const pfm_sample_statistics_t *o)
{
	if (o->discarded && !pfmi_sampling_uses_device(s))
		return true;
	return o->lost == PFM_LOST_UNKNOWN ? s->sampling->n_lost != 0 : o->lost != 0;
}

static void assess_sample_quality(const struct pfm_session *s, unsigned i,
                                  pfm_sample_statistics_t *o)
{
	const pfm_count_t *count = &s->reading.last_counts[i];

	o->quality = count->quality;
	o->cause = count->cause;
	if (pfm_counter_quality(o->quality, o->cause) != PFM_QUALITY_EXACT)
		return;
	if (o->throttled)
		o->cause = PFM_CAUSE_THROTTLED;
	else if (has_lost_samples(s, o))
		o->cause = PFM_CAUSE_LOST;
	else if (has_mixed_samples(s, i, o) || has_too_few_samples(s, i, o))
		o->cause = PFM_CAUSE_OTHER;
	else
		return;
	if (o->quality == PFM_QUALITY_EXACT)
		o->quality = PFM_QUALITY_PARTIAL;
}

int pfm_sampling_statistics(pfm_session_t *s, unsigned i, pfm_sample_statistics_t *out)
{
	pfm_sample_statistics_t full = { .size = sizeof(full) };
	pfm_count_t count = PFM_INIT(count);
	const struct session_count *c;
	const struct sample_totals *t;
	int rc;

	if (!sampling_is_active(s) || i >= s->n_counts || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	rc = pfm_read_count(s, i, &count);
	if (rc)
		return rc;
	c = &s->counts[i];
	t = &s->sampling->totals[i];
	full.precise = c->config.attr.precise;
	full.samples = t->n_samples;
	full.exact = t->n_exact;
	full.weight = t->total_weight;
	full.discarded = pfmi_sampling_uses_device(s) ? pfmi_device_count_out_of_range(s, i)
	                                              : t->n_discarded;
	full.throttled = t->n_throttled;
	full.throttled_ns = t->throttled_ns;
	full.lost = get_lost_samples(s, c);
	full.count = count.value;
	full.period = c->config.period;
	full.freq = c->config.freq;
	assess_sample_quality(s, i, &full);
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_buffer_statistics(const pfm_session_t *s, pfm_buffer_info_t *out)
{
	pfm_buffer_info_t full = PFM_INIT(full);

	if ((!sampling_is_active(s) && !(s && s->recording)) || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	full.n = s->sampling->n_buffers;
	full.pages = s->sampling->buffer_pages;
	full.wanted = s->sampling->config.pages;
	full.lost = s->sampling->n_lost;
	full.bytes = s->sampling->n_bytes;
	full.skipped = s->sampling->n_unknown_records;
	full.damaged =
		s->recording ? s->recording_ops->is_damaged(s) : s->sampling->n_damaged_buffers;
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
