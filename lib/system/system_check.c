/* SPDX-License-Identifier: MIT */
/* pfm_check_system() and the functions that read its findings. */
#include "system/system_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "context/context.h"

/* Reports that files could not be read for lack of memory or descriptors: other findings may be
 * wrong then. */
static void check_resources(struct pfm_system_check *c)
{
	struct finding f = { .state = PFM_FINDING_BAD, .check = "own resources" };

	if (!c->sys.resource_error)
		return;
	pfmi_check_set_text(f.observed, "some files could not be read: %s",
	                    strerror((int)-c->sys.resource_error));
	pfmi_check_set_text(f.consequence, "the findings above may be wrong");
	pfmi_check_set_text(f.remedy,
	                    "check again with more memory and a higher limit of open files");
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

int pfm_check_system(pfm_system_check_t **out, const pfm_ctx_t *ctx, unsigned flags)
{
	struct pfm_system_check *c;

	if (out)
		*out = NULL;
	if (!out || base_find_unknown_flag(flags, PFM_CHECK_NO_WORKLOAD))
		return PFMLIB_ERR_INVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return PFMLIB_ERR_NOMEM;
	ctx = context_get_or_default(ctx);
	c->ctx = ctx;
	pfmi_machine_init_watched_sys(&c->sys, &ctx->sys);
	c->is_recorded = ctx->sys.root[0] != '\0';
	pfmi_check_machine(c);
	pfmi_check_permissions(c);
	pfmi_check_obstacles(c);
	pfmi_check_holders(c);
	check_resources(c);
	if (!c->is_recorded && !(flags & PFM_CHECK_NO_WORKLOAD))
		pfmi_check_workload(c);
	if (c->failed) {
		pfm_close_system_check(c);
		return PFMLIB_ERR_NOMEM;
	}
	*out = c;
	return PFMLIB_SUCCESS;
}

int pfm_describe_finding(const pfm_system_check_t *check, unsigned i, pfm_finding_t *finding)
{
	const struct finding *f;
	pfm_finding_t full;

	if (!check || !base_has_struct_size(finding))
		return PFMLIB_ERR_INVAL;
	if (i >= check->n_findings)
		return PFMLIB_ERR_NOTFOUND;
	f = &check->findings[i];
	full = (pfm_finding_t){ .topic = f->topic,
		                .state = f->state,
		                .check = f->check,
		                .observed = f->observed,
		                .consequence = f->consequence,
		                .remedy = f->remedy,
		                .available = f->available,
		                .expected = f->expected ? f->expected : "",
		                .has_count = f->expected != NULL,
		                .quality = f->count.quality,
		                .cause = f->count.cause };
	if (f->expected &&
	    pfm_counter_quality(f->count.quality, f->count.cause) <= PFM_QUALITY_PARTIAL)
		full.count = f->count.value;
	base_copy_struct_out(finding, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

void pfm_close_system_check(pfm_system_check_t *check)
{
	if (!check)
		return;
	free(check->findings);
	free(check);
}
