/* SPDX-License-Identifier: MIT */
/* Tries a refused event again with one setting or field changed. */
#include <string.h>
#include "session/perf_refused.h"

int pfmi_perf_retry_open(const struct refused_event *q, union perf_attr_buffer *a, int group)
{
	int fd = pfmi_perf_open_event(&q->session->sys, a, q->pid, q->cpu, group);

	if (fd < 0)
		return fd;
	q->session->sys.close(&q->session->sys, fd);
	return 0;
}

/* Removes setting @i, which may be the cause instead of the event, from @a. Returns its name; NULL
 * after the last one. */
static const char *strip_setting(unsigned i, union perf_attr_buffer *a)
{
	switch (i) {
	case 0:
		if (!a->attr.precise_ip)
			return NULL;
		a->attr.precise_ip = 0;
		return "the precise level (p)";
	case 1:
		if (!a->attr.exclude_kernel)
			return NULL;
		a->attr.exclude_kernel = a->attr.exclude_hv = 0;
		return "excluding the kernel (u)";
	case 2:
		if (!a->attr.exclude_user)
			return NULL;
		a->attr.exclude_user = a->attr.exclude_hv = 0;
		return "excluding user code (k)";
	case 3:
		if (!a->attr.exclude_hv)
			return NULL;
		a->attr.exclude_hv = 0;
		return "excluding the hypervisor";
	case 4:
		if (!a->attr.exclude_idle)
			return NULL;
		a->attr.exclude_idle = 0;
		return "excluding idle time (I)";
	case 5:
		if (!a->attr.exclude_host)
			return NULL;
		a->attr.exclude_host = 0;
		return "excluding the host (G)";
	case 6:
		if (!a->attr.exclude_guest)
			return NULL;
		a->attr.exclude_guest = 0;
		return "excluding guests (H)";
	case 7:
		if (!a->attr.pinned)
			return NULL;
		a->attr.pinned = 0;
		return "pinning (D)";
	case 8:
		if (!a->attr.inherit)
			return NULL;
		a->attr.inherit = 0;
		return "counting children as well";
	case 9:
		if (!a->attr.enable_on_exec)
			return NULL;
		a->attr.enable_on_exec = 0;
		return "starting with the program";
	case 10:
		if (!(a->attr.exclude_user | a->attr.exclude_kernel | a->attr.exclude_hv))
			return NULL;
		a->attr.exclude_user = a->attr.exclude_kernel = a->attr.exclude_hv = 0;
		return "choosing levels";
	default: return NULL;
	}
}

#define N_SETTINGS 11

const char *pfmi_perf_find_refused_setting(const struct refused_event *q)
{
	for (unsigned i = 0; i < N_SETTINGS; i++) {
		union perf_attr_buffer a = q->attr_buffer;
		const char *name = strip_setting(i, &a);

		if (name && pfmi_perf_retry_open(q, &a, q->group_fd) == 0)
			return name;
	}
	return NULL;
}

const struct field *pfmi_perf_find_refused_field(const struct refused_event *q, uint64_t *value)
{
	const struct table *t = q->count->config.event.table;
	const perfmon_attr_t *p = &q->count->config.attr;
	const uint64_t config[4] = { p->config, p->config1, p->config2, p->config3 };

	if (q->attr_buffer.attr.type == PERF_TYPE_BREAKPOINT)
		return NULL;
	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = table_fields(t) + i;
		uint64_t changed[4];
		union perf_attr_buffer a = q->attr_buffer;

		if (f->n_ranges == 0 || f->kind == FIELD_TEXT ||
		    (f->width == 64 && f->ranges[0].config_word == 0))
			continue;
		*value = pfmi_pmu_extract_field(f, config);
		if (!*value)
			continue;
		memcpy(changed, config, sizeof(changed));
		field_insert(f, changed, 0);
		a.attr.config = changed[0];
		a.attr.config1 = changed[1];
		a.attr.config2 = changed[2];
		if (config[3])
			a.words[16] = changed[3];
		if (pfmi_perf_retry_open(q, &a, q->group_fd) == 0)
			return f;
	}
	return NULL;
}

uint64_t pfmi_perf_get_undeclared_bits(const struct session_count *c)
{
	const struct table *t =
		c->config.kernel_pmu ? c->config.kernel_pmu->table : c->config.event.table;
	uint64_t declared = 0;

	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = table_fields(t) + i;

		for (unsigned k = 0; k < f->n_ranges; k++)
			if (f->ranges[k].config_word == 0 && f->ranges[k].width < 64)
				declared |= (((uint64_t)1 << f->ranges[k].width) - 1)
				            << f->ranges[k].lsb;
	}
	return declared ? c->config.attr.config & ~declared : 0;
}
