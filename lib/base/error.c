/* SPDX-License-Identifier: MIT */
/* Errors and their texts. */
#include "base/text.h"

#include <perfmon/pfmlib.h>

int pfmi_base_set_error(pfm_error_t *why, int code, pfm_error_kind_t kind, const char *text, struct slice s, const char *detail)
{
	if (!why)
		return code;
	*why = (pfm_error_t){ .size = why->size, .code = code, .kind = kind, .event = -1, .detail = detail };
	if (text && s.text) {
		why->start = (uint32_t)(s.text - text);
		why->end = why->start + s.len;
	}
	return code;
}

int pfmi_base_set_errno_error(pfm_error_t *why, int code, int err, const char *detail)
{
	pfmi_base_set_error(why, code, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, detail);
	if (why)
		why->sys_errno = err;
	return code;
}

char *pfm_strerror(int code)
{
	/* Writable arrays only because the prototype has no const. */
	switch (code) {
#define ERR(NAME, NUMBER, TEXT)            \
	case NUMBER: {                     \
		static char text[] = TEXT; \
		return text;               \
	}
#include "base/errors.def"
#undef ERR
	default: break;
	}
	static char unknown[] = "unknown result code";
	return unknown;
}
