/* SPDX-License-Identifier: MIT */
/* Samples of the Tru64 counter device. The device writes no records. At an interrupt it increments
 * the bucket of the program counter, in a profile of one range of addresses that read(2) returns as
 * a whole. This file makes a record, in Linux's form, for each interrupt since the previous
 * reading, so that all later steps are the same. The records lack what the device does not store:
 * time, task, and counter; without the counter, only one event can be sampled at a time. With
 * ProfileMe the device has pairs of numbers instead of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "session/pfm_device.h"
#include "sampling/sampling.h"

#define POLL_INTERVAL_NS 10000000L /* between readings, because the device wakes no process */
#define DEFAULT_STRIDE   4u        /* instructions in a bucket */

/* Whether a reading clears the buckets is undocumented. The first reading that finds samples shows
 * it. */
enum bucket_read_mode { READ_MODE_UNKNOWN, READ_KEEPS_BUCKETS, READ_CLEARS_BUCKETS };

struct pc_profile {
	enum bucket_read_mode read_mode;
	/* buckets of all entries; 0: pairs instead of a profile */
	size_t n_buckets, buckets_per_entry;
	uint64_t start_address, bucket_width;
	/* at the last reading; memory for the next one; samples without a record so far */
	pfcntr_bucket_t *last_buckets, *new_buckets, *pending_buckets;
	/* sum of pending_buckets, or number of new pairs */
	uint64_t n_pending;
	/* bucket or pair of the next record */
	size_t pass_position;
	/* records are being made, up to the last bucket */
	bool is_in_pass;
	/* the device had been stopped before the last reading */
	bool is_final_look;
	uint64_t record[8];
};

/* ---- request to the device ------------------------------------------------------------------- */

/* The period of the event, or of the session. */
static uint64_t get_requested_period(const struct pfm_session *s, const struct session_count *c)
{
	if (pfmi_pmu_has_user_key(&c->config.event, KEY_PERIOD))
		return 0;
	return c->config.period ? c->config.period : s->sampling->config.period;
}

static void choose_interrupt_rates(const struct pfm_session *s, pfmlib_alpha_input_param_t *in)
{
	const struct session_count *c = &s->counts[0];
	uint64_t period = get_requested_period(s, c);
	int pmu = c->config.event.table->libpfm_type;

	for (unsigned k = 0; k < PFM_ALPHA_MAX_COUNTERS && period; k++)
		if (pfm_alpha_rate(pmu, k, 0) == period || pfm_alpha_rate(pmu, k, 1) == period)
			in->pfp_alpha_rates[k] = period;
}

static int prepare_device_sampling(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	struct sampling_state *sm = s->sampling;
	pfmlib_alpha_input_param_t *in = &d->encoder_input;

	sm->totals = calloc(s->n_counts, sizeof(*sm->totals));
	sm->event_ids = calloc(s->n_counts, sizeof(*sm->event_ids));
	if (!sm->totals || !sm->event_ids)
		return PFMLIB_ERR_NOMEM;
	if (sm->config.fields & PFM_SAMPLE_CPU)
		in->pfp_alpha_open = PFM_ALPHA_OPEN_EACH;
	in->pfp_alpha_items |= PFM_COUNTERS | PFM_PROFILING;
	if (d->is_emulated && d->emulator.text_start < d->emulator.text_end &&
	    !in->pfp_alpha_n_ranges) {
		in->pfp_alpha_ranges[0] =
			(pfmlib_alpha_range_t){ d->emulator.text_start, d->emulator.text_end };
		in->pfp_alpha_n_ranges = 1;
	}
	choose_interrupt_rates(s, in);
	return PFMLIB_SUCCESS;
}

/* Pairs need no profile: they come with the counts. */
static void set_device_event(struct device_state *d)
{
	if (!d->encoder_output.statistic)
		return;
	d->encoder_input.pfp_alpha_items &= ~(unsigned)PFM_PROFILING;
	d->encoder_input.pfp_alpha_n_ranges = 0;
}

static bool is_counter_period(const struct device_state *d, unsigned counter, uint64_t period)
{
	return d->encoder_output.rates[counter] == period;
}

static const char *explain_device_refusal(const struct pfm_session *s, unsigned i)
{
	const struct device_state *d = s->live.backend_state;
	const struct session_count *c = &s->counts[i];
	unsigned counter = (unsigned)d->locations[i].counter;
	uint64_t period = get_requested_period(s, c);

	if (c->config.freq || s->sampling->config.freq)
		return "the device samples by period, not by frequency";
	if (c->config.attr.precise && !(s->sampling->config.flags & PFM_SAMPLING_LESS_PRECISE))
		return "the device's samples are not precise";
	if (d->encoder_output.statistic)
		return period ? "the device does not report the period of ProfileMe" : NULL;
	if (!d->encoder_input.pfp_alpha_n_ranges)
		return "expected addresses to profile in pfp_alpha_ranges";
	if (period && !is_counter_period(d, counter, period))
		return "its counter does not interrupt after so many events";
	if (!pfm_alpha_rate(d->pmu_type, counter, 1) &&
	    !is_counter_period(d, counter, pfm_alpha_rate(d->pmu_type, counter, 0)))
		return "its counter restarts at 0 after an interrupt: one sample per 1048576 "
		       "events";
	return NULL;
}

/* ---- full buffers -------------------------------------------------------------------------- */

/* The id in the records of count @i, and the count of the samples of @entry. */
static uint64_t get_count_id(unsigned i)
{
	return i + 1;
}

static unsigned find_count_of_entry(const struct pfm_session *s, size_t entry)
{
	const struct device_state *d = s->live.backend_state;

	for (unsigned i = 0; i < s->n_counts; i++)
		if (d->locations[i].counter >= 0 &&
		    (d->locations[i].entry < 0 || (size_t)d->locations[i].entry == entry))
			return i;
	return 0;
}

static void set_record_layouts(struct pfm_session *s)
{
	const struct device_state *d = s->live.backend_state;
	struct sampling_state *sm = s->sampling;
	bool each = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_EACH;

	sm->common_layout =
		(struct record_layout){ .fields = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP |
		                                  (each ? PFM_SAMPLE_CPU : 0u),
		                        .read_format = PERF_FORMAT_GROUP,
		                        .has_trailers = true };
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		sm->totals[i].layout = sm->common_layout;
		c->config.attr.precise = 0;
		if (d->locations[i].counter < 0)
			continue;
		c->config.period = d->encoder_output.statistic
		                           ? 0
		                           : d->encoder_output.rates[d->locations[i].counter];
		sm->event_ids[sm->n_event_ids++] = (struct event_id){ get_count_id(i), i };
	}
}

static int alloc_profile(struct pfm_session *s, struct pc_profile *p)
{
	const struct device_state *d = s->live.backend_state;
	uint64_t bytes = 0, stride = d->encoder_input.pfp_alpha_flags & PFM_ALPHA_FL_STRIDE
	                                     ? d->encoder_input.pfp_alpha_stride
	                                     : DEFAULT_STRIDE;
	int err = pfmi_device_send_request(s, PCNTGETRSIZE, &bytes);

	if (err < 0)
		return pfmi_device_record_errno(s, err);
	p->start_address = d->encoder_input.pfp_alpha_ranges[0].start;
	p->bucket_width = stride * 4;
	p->buckets_per_entry = (size_t)(bytes / sizeof(*p->new_buckets) / d->n_entries);
	p->n_buckets = p->buckets_per_entry * d->n_entries;
	p->last_buckets = calloc(p->n_buckets + 1, sizeof(*p->last_buckets));
	p->new_buckets = calloc(p->n_buckets + 1, sizeof(*p->new_buckets));
	p->pending_buckets = calloc(p->n_buckets + 1, sizeof(*p->pending_buckets));
	return p->last_buckets && p->new_buckets && p->pending_buckets ? PFMLIB_SUCCESS
	                                                               : PFMLIB_ERR_NOMEM;
}

static int open_device_sampling(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;

	set_record_layouts(s);
	if (!s->sampling->n_event_ids)
		return PFMLIB_SUCCESS; /* nothing can be sampled */
	d->profile = calloc(1, sizeof(*d->profile));
	if (!d->profile)
		return PFMLIB_ERR_NOMEM;
	return d->encoder_output.statistic ? PFMLIB_SUCCESS : alloc_profile(s, d->profile);
}

static void close_device_sampling(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;

	if (d->profile) {
		free(d->profile->last_buckets);
		free(d->profile->new_buckets);
		free(d->profile->pending_buckets);
	}
	free(d->profile);
	d->profile = NULL;
	if (s->sampling)
		pfmi_sampling_close_buffers(s);
}

/* ---- looking ------------------------------------------------------------------------------- */

/* Counts the interrupts since the session was opened. *@more: there are new ones. */
static int count_interrupts(struct pfm_session *s, bool *more)
{
	struct device_state *d = s->live.backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	uint32_t number = d->pmu_type == PFMLIB_ALPHA_EV4_PMU        ? PCNTGETCNT
	                  : pfm_alpha_num_counters(d->pmu_type) == 3 ? PCNT5GETCNT
	                                                             : PCNT6GETCNT;
	int err = pfmi_device_fetch_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++) {
		uint64_t sum = 0;

		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++)
			sum += d->encoder_output.counters >> c & 1 ? counts[e][c] : 0;
		*more |= sum != d->entries[e].n_interrupts;
		d->entries[e].n_interrupts = sum;
	}
	return err;
}

static int read_buckets(struct pfm_session *s, pfcntr_bucket_t *to)
{
	const struct device_state *d = s->live.backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);
	size_t bytes = d->profile->n_buckets * sizeof(*to);
	long got = sys->read(sys, d->fd, to, bytes);

	return got < 0 ? (int)got : (size_t)got == bytes ? 0 : -EIO;
}

/* Reads the profile twice, the first time that it has samples: buckets that decrease were cleared
 * by the first reading. Afterwards new_buckets has the sum of both readings, and last_buckets what
 * the device still holds of it. */
static int detect_read_mode(struct pfm_session *s)
{
	struct pc_profile *p = ((struct device_state *)s->live.backend_state)->profile;
	bool any = false, fewer = false;
	int err;

	for (size_t i = 0; i < p->n_buckets; i++)
		any |= p->new_buckets[i] != 0;
	if (!any)
		return 0;
	err = read_buckets(s, p->last_buckets);
	for (size_t i = 0; i < p->n_buckets && err >= 0; i++)
		fewer |= p->last_buckets[i] < p->new_buckets[i];
	p->read_mode = fewer ? READ_CLEARS_BUCKETS : READ_KEEPS_BUCKETS;
	for (size_t i = 0; i < p->n_buckets && err >= 0; i++) {
		p->new_buckets[i] =
			fewer ? p->new_buckets[i] + p->last_buckets[i] : p->last_buckets[i];
		p->last_buckets[i] = 0;
	}
	return err;
}

static int update_profile(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	struct pc_profile *p = d->profile;
	int err = read_buckets(s, p->new_buckets);

	if (err >= 0 && p->read_mode == READ_MODE_UNKNOWN)
		err = detect_read_mode(s);
	for (size_t i = 0; i < p->n_buckets && err >= 0; i++) {
		pfcntr_bucket_t more = p->read_mode == READ_CLEARS_BUCKETS
		                               ? p->new_buckets[i]
		                               : p->new_buckets[i] - p->last_buckets[i];

		p->pending_buckets[i] += more;
		p->n_pending += more;
		d->entries[i / p->buckets_per_entry].n_in_range += more;
		p->last_buckets[i] = p->new_buckets[i];
	}
	return err;
}

static int update_pairs(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	int err = pfmi_device_read_entries(s);

	d->profile->n_pending = 0;
	for (unsigned e = 0; e < d->n_entries && err >= 0; e++)
		d->profile->n_pending += memcmp(d->entries[e].last_pair, d->entries[e].events,
		                                sizeof(d->entries[e].last_pair)) != 0;
	return err;
}

/* Reads the counts of interrupts first: if they have not changed, neither has the much larger
 * profile. */
static int update_pending_samples(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	bool more = false;
	int err;

	d->profile->is_final_look = !d->started_at;
	if (!d->has_started)
		return PFMLIB_SUCCESS;
	if (d->encoder_output.statistic) {
		err = update_pairs(s);
	} else {
		err = count_interrupts(s, &more);
		if (err >= 0 && more)
			err = update_profile(s);
	}
	return err < 0 ? pfmi_device_record_errno(s, err) : PFMLIB_SUCCESS;
}

/* ---- handing out --------------------------------------------------------------------------- */

/* Writes the word of the processor, if it is known. Returns the number of bytes. */
static size_t write_cpu_word(const struct pfm_session *s, size_t entry, uint64_t *to)
{
	const uint32_t cpu[2] = { (uint32_t)entry, 0 };

	if (!(s->sampling->common_layout.fields & PFM_SAMPLE_CPU))
		return 0;
	memcpy(to, cpu, sizeof(cpu));
	return 1;
}

static size_t write_record_header(uint64_t *record, uint32_t type, uint16_t misc, size_t words)
{
	struct record_header head = { type, misc, (uint16_t)(words * sizeof(*record)) };

	memcpy(record, &head, sizeof(head));
	return words * sizeof(*record);
}

static size_t write_sample_record(const struct pfm_session *s, size_t bucket)
{
	const struct device_state *d = s->live.backend_state;
	struct pc_profile *p = d->profile;
	uint64_t *record = p->record;
	size_t entry = bucket / p->buckets_per_entry;
	uint16_t mode = d->encoder_input.pfp_alpha_flags & PFM_ALPHA_FL_KERNEL ? PFM_MISC_KERNEL
	                                                                       : PFM_MISC_USER;

	record[1] = get_count_id(find_count_of_entry(s, entry));
	record[2] = p->start_address + bucket % p->buckets_per_entry * p->bucket_width;
	return write_record_header(record, PFM_RECORD_SAMPLE, mode,
	                           3 + write_cpu_word(s, entry, record + 3));
}

/* Writes a group of two: the statistic, and the retired instructions. Their task is unknown. */
static size_t write_pair_record(const struct pfm_session *s, size_t e)
{
	const struct device_state *d = s->live.backend_state;
	uint64_t *record = d->profile->record;
	struct device_entry *entry = &d->entries[e];
	size_t words = 5;

	record[1] = UINT64_MAX;
	record[2] = 2;
	memcpy(entry->last_pair, entry->events, sizeof(entry->last_pair));
	for (unsigned k = 0; k < 2; k++)
		record[3 + k] = entry->events[k] - entry->reset_events[k];
	words += write_cpu_word(s, e, record + words);
	record[words++] = get_count_id(find_count_of_entry(s, e));
	return write_record_header(record, PFM_RECORD_READ, 0, words);
}

/* Writes the next record of this pass. Returns its size; 0 at the end of the pass. */
static size_t write_next_record(const struct pfm_session *s)
{
	const struct device_state *d = s->live.backend_state;
	struct pc_profile *p = d->profile;

	for (; p->pass_position < p->n_buckets; p->pass_position++)
		if (p->pending_buckets[p->pass_position]) {
			p->pending_buckets[p->pass_position]--;
			p->n_pending--;
			return write_sample_record(s, p->pass_position);
		}
	for (; d->encoder_output.statistic && p->pass_position < d->n_entries; p->pass_position++)
		if (memcmp(d->entries[p->pass_position].last_pair,
		           d->entries[p->pass_position].events,
		           sizeof(d->entries[p->pass_position].last_pair)) != 0) {
			p->n_pending--;
			return write_pair_record(s, p->pass_position);
		}
	return 0;
}

/* A pass ends with what its reading found, even if the device goes on; after a stop, with
 * everything that the device has. */
int pfmi_device_read_next_sample(struct pfm_session *s, const void **bytes, size_t *size)
{
	struct device_state *d = s->live.backend_state;
	struct pc_profile *p = d ? d->profile : NULL;

	while (p) {
		int rc = p->is_in_pass ? PFMLIB_SUCCESS : update_pending_samples(s);

		if (rc)
			return rc;
		p->pass_position = p->is_in_pass ? p->pass_position : 0;
		p->is_in_pass = true;
		*size = write_next_record(s);
		*bytes = p->record;
		if (*size) {
			s->sampling->n_bytes += *size;
			return 1;
		}
		p->is_in_pass = false;
		if (d->started_at || (p->is_final_look && !p->n_pending))
			break;
	}
	return 0;
}

int pfmi_device_wait_for_sample(struct pfm_session *s, int timeout)
{
	const struct device_state *d = s->live.backend_state;

	for (int64_t left = timeout < 0 ? INT64_MAX : timeout * INT64_C(1000000);
	     d && d->profile;) {
		struct timespec step = { .tv_nsec = left < POLL_INTERVAL_NS ? (long)left
			                                                    : POLL_INTERVAL_NS };
		int rc = d->profile->n_pending ? PFMLIB_SUCCESS : update_pending_samples(s);

		if (rc)
			return rc;
		if (d->profile->n_pending)
			return PFM_WAIT_READY;
		if (!d->started_at)
			return PFM_WAIT_ENDED;
		if (left <= 0)
			return PFM_WAIT_TIMEOUT;
		nanosleep(&step, NULL);
		left -= timeout < 0 ? 0 : step.tv_nsec;
	}
	return PFM_WAIT_ENDED;
}

uint64_t pfmi_device_count_out_of_range(const struct pfm_session *s, unsigned i)
{
	const struct device_state *d = s->live.backend_state;
	uint64_t interrupts = 0, found = 0;

	for (unsigned e = 0; d && d->profile && !d->encoder_output.statistic && e < d->n_entries;
	     e++)
		if (d->locations[i].entry < 0 || d->locations[i].entry == (int)e) {
			interrupts += d->entries[e].n_interrupts;
			found += d->entries[e].n_in_range;
		}
	return interrupts > found ? interrupts - found : 0;
}

const struct device_sampling_ops pfmi_sampling_device_ops = {
	.prepare = prepare_device_sampling,
	.set_event = set_device_event,
	.explain_refusal = explain_device_refusal,
	.open = open_device_sampling,
	.close = close_device_sampling,
};
