/* SPDX-License-Identifier: MIT */
/* Encodings in the shape of the kernel's own structure. */
#include <linux/perf_event.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct perf_event_attr *attr, const pfm_attr_t *from)
{
	attr->size = sizeof(*attr);
	attr->type = from->type;
	attr->config = from->config;
	attr->config1 = from->config1;
	attr->config2 = from->config2;
	attr->exclude_user = from->exclude_user & 1u;
	attr->exclude_kernel = from->exclude_kernel & 1u;
	attr->exclude_hv = from->exclude_hv & 1u;
	/* Switched on where the text says so; else what the caller asked for stays. */
	attr->exclude_idle |= from->exclude_idle & 1u;
	attr->exclude_host |= from->exclude_host & 1u;
	attr->exclude_guest |= from->exclude_guest & 1u;
	attr->precise_ip = from->precise & 3u;
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
	if (!e.attr.expressible || !e.attr.type_known)
		return PFMLIB_ERR_NOTSUPP;
	if (name && pfm_print_event(NULL, event, PFM_DIALECT_LIBPFM, text, sizeof(text), NULL))
		snprintf(text, sizeof(text), "%s", event); /* no other spelling than the caller's */
	if (name && !(copy = strdup(text)))
		return PFMLIB_ERR_NOMEM;
	fill(attr, &e.attr);
	if (name)
		*name = copy;
	if (index)
		*index = (int)e.event;
	return PFMLIB_SUCCESS;
}
