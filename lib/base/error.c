/* SPDX-License-Identifier: MIT */
/* Errors of calls, and the phrase for each result code. */
#include "base/bits.h"
#include "base/text.h"

#include <perfmon/types.h>

int pfmi_base_set_error(pfm_error_t *why, int code, pfm_error_kind_t kind, const char *text,
                        struct slice s, const char *detail)
{
	if (!why)
		return code;
	*why = (pfm_error_t){
		.size = why->size, .code = code, .kind = kind, .event = -1, .detail = detail
	};
	if (text && s.text) {
		why->start = (uint32_t)(s.text - text);
		why->end = why->start + s.len;
	}
	return code;
}

int pfmi_base_set_plain_error(pfm_error_t *why, int code, pfm_error_kind_t kind, const char *detail)
{
	return pfmi_base_set_error(why, code, kind, NULL, (struct slice){ 0 }, detail);
}

int pfmi_base_set_event_error(pfm_error_t *why, int code, pfm_error_kind_t kind, int event,
                              const char *detail)
{
	pfmi_base_set_plain_error(why, code, kind, detail);
	if (why)
		why->event = event;
	return code;
}

void pfmi_base_set_clash(pfm_error_t *why, uint64_t events)
{
	if (!why)
		return;
	why->n_clash = 0;
	for (; events; events &= events - 1)
		why->clash[why->n_clash++] = (uint16_t)base_find_lowest_bit(events);
}

uint64_t pfmi_base_get_clash(const pfm_error_t *why)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < why->n_clash && i < PFM_MAX_CLASH; i++)
		if (why->clash[i] < 64)
			events |= (uint64_t)1 << why->clash[i];
	return events;
}

int pfmi_base_refuse_argument(pfm_error_t *why, const char *detail)
{
	return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, detail);
}

int pfmi_base_set_no_memory_error(pfm_error_t *why)
{
	return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL);
}

int pfmi_base_set_errno_error(pfm_error_t *why, int code, int err, const char *detail)
{
	pfmi_base_set_plain_error(why, code, PFM_KIND_SYSTEM, detail);
	if (why)
		why->sys_errno = err;
	return code;
}

const char *pfm_result_text(int code)
{
	switch (code) {
#define ERR(NAME, NUMBER, TEXT)                                                                    \
	case NUMBER:                                                                               \
		return TEXT;
#include "base/errors.def"
#undef ERR
	default: return "unknown result code";
	}
}
