/* SPDX-License-Identifier: MIT */
/* Codes of Intel's events from texts. */
#ifndef PERFMON_TESTS_LIBPFM4_CODES_H
#define PERFMON_TESTS_LIBPFM4_CODES_H

#include "libpfm4_internal.h"
#include <perfmon/pfmlib.h>

static const char *const INACTIVE[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };

static inline int encode(const char *text, int plm, struct l4_code *c)
{
	struct l4_query q;
	int rc = l4_parse_event(text, PFM_OS_NONE, &q);

	*c = (struct l4_code){ 0 };
	if (rc)
		return rc;
	return q.event.encoder == L4_ENCODER_NHM_UNC  ? l4_encode_nhm_unc(&q, plm, c)
	       : q.event.encoder == L4_ENCODER_EP_UNC ? l4_encode_ep_unc(&q, plm, c)
	                                              : l4_encode_core(&q, plm, c);
}

static inline void word_is(const char *text, int plm, uint64_t want)
{
	struct l4_code c;
	int rc = encode(text, plm, &c);

	if (rc || c.words[0] != want)
		fail_msg("%s: %d, %llx", text, rc, (unsigned long long)c.words[0]);
}

static inline void refuses(const char *text, int want)
{
	struct l4_code c;
	int rc = encode(text, PFM_PLM3, &c);

	if (rc != want)
		fail_msg("%s: %d, not %d", text, rc, want);
}

enum { K = PFM_PLM0, U = PFM_PLM3 };

#endif
