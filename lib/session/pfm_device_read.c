/* SPDX-License-Identifier: MIT */
/* Reads the counts of the Tru64 counter device. The device counts interrupts; where the counters
 * themselves can be read, their present values are added. */
#include <errno.h>
#include <string.h>
#include "session/pfm_device.h"

const struct sys *pfmi_device_get_sys(const struct pfm_session *s)
{
	const struct device_state *d = s->live.backend_state;

	return d->is_emulated ? &d->emulator_sys : &s->sys;
}

int pfmi_device_record_errno(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EPERM || err == -EACCES ? PFMLIB_ERR_PERM
	       : err == -EBUSY                 ? PFMLIB_ERR_BUSY
	                                       : PFMLIB_ERR_SYS;
}

int pfmi_device_send_request(struct pfm_session *s, uint32_t number, void *arg)
{
	const struct device_state *d = s->live.backend_state;
	const struct sys *sys = pfmi_device_get_sys(s);
	int err;

	do
		err = sys->ioctl(sys, d->fd, number, arg);
	while (err == -EINTR);
	return err;
}

int pfmi_device_send_array_request(struct pfm_session *s, uint32_t number, void *array)
{
	uint64_t pointer = (uint64_t)(uintptr_t)array;

	return pfmi_device_send_request(s, number, &pointer);
}

/* ---- counts -------------------------------------------------------------------------------- */

int pfmi_device_fetch_counts(struct pfm_session *s, uint32_t number,
                             uint64_t counts[][PFM_ALPHA_MAX_COUNTERS])
{
	struct device_state *d = s->live.backend_state;
	unsigned n = pfm_alpha_num_counters(d->pmu_type),
		 first = d->pmu_type == PFMLIB_ALPHA_EV4_PMU ? 0 : 1;
	uint64_t words[MAX_DEVICE_ENTRIES * (PFM_ALPHA_MAX_COUNTERS + 1)] = { 0 };
	int err = pfmi_device_send_array_request(s, number, words);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++) {
		const uint64_t *entry = words + e * (n + 1);

		for (unsigned c = 0; c < n; c++)
			counts[e][c] = entry[c + first];
		d->entries[e].cycles = entry[first ? 0 : n];
	}
	return err;
}

/* True if every counter in use interrupts when it is full: then the sum of interrupts and values is
 * right. */
static bool has_full_rates(const struct device_state *d)
{
	for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++)
		if ((d->encoder_output.counters >> c & 1) &&
		    d->encoder_output.rates[c] != pfm_alpha_rate(d->pmu_type, c, 0))
			return false;
	return true;
}

/* Adds what the counters hold since the last interrupt, for each processor. */
static int add_counter_values(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	bool one = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_ONE;

	for (unsigned cpu = 0; cpu < (one ? 1 : d->n_cpus); cpu++) {
		uint64_t values[PFM_ALPHA_MAX_COUNTERS] = { 0 };
		uint64_t word = PF5_CTRS(d->encoder_output.counters,
		                         one ? (unsigned)d->options.bind : cpu, 0, 0, 0);
		int err = pfmi_device_send_request(s, PCNT5GETCNTRS, &word);

		if (err < 0)
			return err;
		(void)pfm_alpha_split_counter_word(d->pmu_type, word, NULL, NULL, values);
		for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
			if (d->encoder_output.rates[c])
				d->entries[d->n_entries > 1 ? cpu : 0].events[c] +=
					values[c] % d->encoder_output.rates[c];
	}
	return 0;
}

static int read_interrupts(struct pfm_session *s, uint32_t number)
{
	struct device_state *d = s->live.backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_fetch_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++)
			d->entries[e].events[c] =
				pfm_alpha_events(counts[e][c], d->encoder_output.rates[c]);
	return err;
}

/* Reads sums of interrupts and values, without the start values, which are not events. */
static int read_counter_values(struct pfm_session *s, uint32_t number)
{
	struct device_state *d = s->live.backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS],
		cpus = d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_ALL ? d->n_cpus : 1;
	int err = pfmi_device_fetch_counts(s, number, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		for (unsigned c = 0; c < pfm_alpha_num_counters(d->pmu_type); c++) {
			uint64_t start = 0, period = d->encoder_output.rates[c];

			if (d->has_started && period && number == PCNT6READCNTRS)
				(void)pfm_alpha_start_value(pfm_alpha_counter_width(d->pmu_type, c),
				                            period, &start);
			d->entries[e].events[c] =
				counts[e][c] < start * cpus ? 0 : counts[e][c] - start * cpus;
		}
	return err;
}

/* Stores the two numbers of a ProfileMe statistic in place of the counters. */
static int read_statistic_pair(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	uint64_t counts[MAX_DEVICE_ENTRIES][PFM_ALPHA_MAX_COUNTERS];
	int err = pfmi_device_fetch_counts(s, PCNT6GETCNT, counts);

	for (unsigned e = 0; err >= 0 && e < d->n_entries; e++)
		memcpy(d->entries[e].events, counts[e], 2 * sizeof counts[e][0]);
	return err;
}

int pfmi_device_read_entries(struct pfm_session *s)
{
	struct device_state *d = s->live.backend_state;
	int err;

	if (d->encoder_input.pfp_alpha_items && !(d->encoder_input.pfp_alpha_items & PFM_COUNTERS))
		return 0;
	switch (d->pmu_type) {
	case PFMLIB_ALPHA_EV4_PMU: return read_interrupts(s, PCNTGETCNT);
	case PFMLIB_ALPHA_EV5_PMU:
	case PFMLIB_ALPHA_PCA56_PMU:
		err = read_interrupts(s, PCNT5GETCNT);
		if (err < 0)
			return err;
		return has_full_rates(d) ? read_counter_values(s, PCNT5READCNTRS)
		                         : add_counter_values(s);
	default:
		if (d->encoder_output.statistic)
			return read_statistic_pair(s);
		return d->encoder_input.pfp_alpha_flags & PFM_ALPHA_FL_GETCNT
		               ? read_interrupts(s, PCNT6GETCNT)
		               : read_counter_values(s, PCNT6READCNTRS);
	}
}

uint64_t pfmi_device_count_since_reset(const struct device_state *d,
                                       const struct device_location *p)
{
	uint64_t sum = 0;

	for (unsigned e = 0; e < d->n_entries; e++)
		if (p->entry < 0 || p->entry == (int)e)
			sum += d->entries[e].events[p->counter] -
			       d->entries[e].reset_events[p->counter];
	return sum;
}
