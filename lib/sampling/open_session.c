/* SPDX-License-Identifier: MIT */
/* pfm_open_session(): joins counting, of module session, with the sampling of this module. */
#include "session/session.h"
#include "sampling/sampling.h"

int pfm_open_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                     const pfm_session_options_t *options, const char *const *texts, unsigned n,
                     pfm_error_t *error)
{
	return pfmi_session_open(out, ctx, options, texts, n, error, &pfmi_sampling_ops,
	                         &pfmi_sampling_device_ops);
}
