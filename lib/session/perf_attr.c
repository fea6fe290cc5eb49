/* SPDX-License-Identifier: MIT */
/* Encodings in the shape of the kernel's own structure. */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/sizes.h"
#include "session/session.h"
#include "context/context.h"

#define CONFIG3_OFFSET 128 /* where later kernels have it, behind what the header of the system we are built on may know */
#define CONFIG3_END    136

int pfmi_perf_fill_attr(const pfm_attr_t *from, struct perf_event_attr *attr, size_t room)
{
	bool breakpoint = from->type == PERF_TYPE_BREAKPOINT;

	if (room < PERF_ATTR_SIZE_VER2 || (from->config3 && room < CONFIG3_END))
		return PFMLIB_ERR_FULL;
	attr->size = (uint32_t)(from->config3 ? CONFIG3_END : room < sizeof(*attr) ? room
	                                                                           : sizeof(*attr));
	attr->type = from->type;
	attr->config = breakpoint ? 0 : from->config;
	if (breakpoint)
		attr->bp_type = (uint32_t)from->config; /* pfm_attr_t has no other place for it */
	attr->config1 = from->config1;
	attr->config2 = from->config2;
	if (from->config3)
		memcpy((char *)attr + CONFIG3_OFFSET, &from->config3, sizeof(from->config3));
	attr->exclude_user = from->exclude_user & 1u;
	attr->exclude_kernel = from->exclude_kernel & 1u;
	attr->exclude_hv = from->exclude_hv & 1u;
	/* Switched on where the text says so; else what the caller asked for stays. */
	attr->exclude_idle |= from->exclude_idle & 1u;
	attr->exclude_host |= from->exclude_host & 1u;
	attr->exclude_guest |= from->exclude_guest & 1u;
	attr->pinned |= from->pinned & 1u;
	attr->precise_ip = from->precise & 3u;
	return PFMLIB_SUCCESS;
}

int pfm_fill_perf_event_attr(const pfm_ctx_t *ctx, const pfm_encoding_t *encoding, struct perf_event_attr *attr, size_t size)
{
	pfm_encoding_t e;

	if (!ctx)
		ctx = pfmi_context_get_default();
	if (!encoding || !attr || !base_copy_struct_in(&e, sizeof(e), encoding) || pfmi_context_load(ctx, LOADED_ALL) || e.pmu < 0 ||
	    (unsigned)e.pmu >= context_count_pmus(ctx))
		return PFMLIB_ERR_INVAL;
	if (!e.attr.expressible)
		return PFMLIB_ERR_NOTSUPP;
	/* Its numbers would mean some other event here. */
	if (!(pfmi_context_get_pmu(ctx, (unsigned)e.pmu).flags & PFM_PMU_HOST))
		return PFMLIB_ERR_NOPMU;
	if (!e.attr.type_known)
		return PFMLIB_ERR_NOTSUPP;
	return pfmi_perf_fill_attr(&e.attr, attr, size);
}

/* Writes the full name of @event to @text; the caller's spelling where libpfm has no name for it. */
static void print_full_name(const char *event, char *text, size_t len)
{
	if (pfm_print_event(NULL, event, PFM_DIALECT_LIBPFM, text, len, NULL))
		snprintf(text, len, "%s", event);
}

int pfm_get_perf_event_encoding(const char *event, int plm, struct perf_event_attr *attr, char **name, int *index)
{
	pfm_encoding_t e = PFM_INIT(e);
	char text[1024];
	char *copy = NULL;
	int rc;

	if (!event || !attr || plm < 0)
		return PFMLIB_ERR_INVAL;
	rc = pfm_encode_event(NULL, event, (unsigned)plm, &e, NULL);
	if (rc)
		return rc;
	if (name)
		print_full_name(event, text, sizeof(text));
	if (name && !(copy = strdup(text)))
		return PFMLIB_ERR_NOMEM;
	/* What is written is no longer than the struct was when it first had the members that are. */
	rc = pfm_fill_perf_event_attr(NULL, &e, attr, attr->size >= sizeof(*attr) ? attr->size : sizeof(*attr));
	if (rc) {
		free(copy);
		return rc;
	}
	if (name)
		*name = copy;
	if (index)
		*index = (int)e.event;
	return PFMLIB_SUCCESS;
}
