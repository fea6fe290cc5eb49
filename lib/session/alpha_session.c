/* SPDX-License-Identifier: MIT */
/* Functions for the Tru64 counter device alone: entries of processors, cycles, interrupt levels,
 * samples, pairs of ProfileMe. */
#include "session/pfm_device.h"

/* The device of a session that is open, or NULL. */
static struct device_state *get_open_device(const pfm_session_t *s)
{
	struct device_state *d =
		s && s->live.backend == &pfmi_device_backend ? s->live.backend_state : NULL;

	return d && d->fd >= 0 ? d : NULL;
}

int pfm_alpha_session_entries(const pfm_session_t *s)
{
	const struct device_state *d = get_open_device(s);

	return d ? (int)d->n_entries : PFMLIB_ERR_INVAL;
}

static int refresh_device_entry(pfm_session_t *s, unsigned entry, struct device_state **d)
{
	int err;

	*d = get_open_device(s);
	if (!*d || entry >= (*d)->n_entries)
		return PFMLIB_ERR_INVAL;
	err = (*d)->has_started ? pfmi_device_read_entries(s) : 0;
	return err < 0 ? pfmi_device_record_errno(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_count(pfm_session_t *s, unsigned entry, unsigned i, uint64_t *value)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !value || i >= s->n_counts || d->locations[i].counter < 0)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*value = pfmi_device_count_since_reset(
		d, &(struct device_location){ d->locations[i].counter, (int)entry });
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_cycles(pfm_session_t *s, unsigned entry, uint64_t *cycles)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !cycles)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*cycles = d->entries[entry].cycles;
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_levels(pfm_session_t *s, unsigned entry, struct pfipls *out)
{
	struct device_state *d = get_open_device(s);
	struct pfipls levels[MAX_DEVICE_ENTRIES];
	int err;

	if (!d || !out || entry >= d->n_entries || !(d->encoder_input.pfp_alpha_items & PFM_IPL))
		return PFMLIB_ERR_INVAL;
	err = pfmi_device_send_array_request(s, PCNTGETIPLHIS, levels);
	if (err < 0)
		return pfmi_device_record_errno(s, err);
	*out = levels[entry];
	return PFMLIB_SUCCESS;
}

int pfm_alpha_session_sample_bytes(pfm_session_t *s, uint64_t *bytes)
{
	int err;

	if (!get_open_device(s) || !bytes)
		return PFMLIB_ERR_INVAL;
	err = pfmi_device_send_request(s, PCNTGETRSIZE, bytes);
	return err < 0 ? pfmi_device_record_errno(s, err) : PFMLIB_SUCCESS;
}

int pfm_alpha_session_samples(pfm_session_t *s, pfcntr_bucket_t *buckets, size_t n)
{
	const struct device_state *d = get_open_device(s);
	const struct sys *sys;
	long got;

	if (!d || !buckets || n > INT32_MAX / sizeof *buckets)
		return PFMLIB_ERR_INVAL;
	sys = pfmi_device_get_sys(s);
	got = sys->read(sys, d->fd, buckets, n * sizeof *buckets);
	return got < 0 ? pfmi_device_record_errno(s, (int)got)
	               : (int)((size_t)got / sizeof *buckets);
}

int pfm_alpha_session_pair(pfm_session_t *s, unsigned entry, uint64_t *statistic, uint64_t *retired)
{
	struct device_state *d;
	int rc = refresh_device_entry(s, entry, &d);

	if (rc || !statistic || !retired || !d->encoder_output.statistic)
		return rc ? rc : PFMLIB_ERR_INVAL;
	*statistic = d->entries[entry].events[0] - d->entries[entry].reset_events[0];
	*retired = d->entries[entry].events[1] - d->entries[entry].reset_events[1];
	return PFMLIB_SUCCESS;
}
