/* SPDX-License-Identifier: MIT */
/* Tries a refused event again with one setting or field changed. */
#include <string.h>
#include "session/perf_refused.h"

int pfmi_perf_retry_open(const struct refused_event *q, struct perf_attr *a, int group)
{
	int fd = pfmi_perf_open_event(&q->session->sys, a, q->pid, q->cpu, group);

	if (fd < 0)
		return fd;
	q->session->sys.close(&q->session->sys, fd);
	return 0;
}

/* Removes setting @i, which may be the cause instead of the event, from @a. Returns its name; NULL
 * after the last one. */
static const char *strip_setting(unsigned i, struct perf_attr *a)
{
	switch (i) {
	case 0:
		if (!a->precise_ip)
			return NULL;
		a->precise_ip = 0;
		return "the precise level (p)";
	case 1:
		if (!a->exclude_kernel)
			return NULL;
		a->exclude_kernel = a->exclude_hv = 0;
		return "excluding the kernel (u)";
	case 2:
		if (!a->exclude_user)
			return NULL;
		a->exclude_user = a->exclude_hv = 0;
		return "excluding user code (k)";
	case 3:
		if (!a->exclude_hv)
			return NULL;
		a->exclude_hv = 0;
		return "excluding the hypervisor";
	case 4:
		if (!a->exclude_idle)
			return NULL;
		a->exclude_idle = 0;
		return "excluding idle time (I)";
	case 5:
		if (!a->exclude_host)
			return NULL;
		a->exclude_host = 0;
		return "excluding the host (G)";
	case 6:
		if (!a->exclude_guest)
			return NULL;
		a->exclude_guest = 0;
		return "excluding guests (H)";
	case 7:
		if (!a->pinned)
			return NULL;
		a->pinned = 0;
		return "pinning (D)";
	case 8:
		if (!a->inherit)
			return NULL;
		a->inherit = 0;
		return "counting children as well";
	case 9:
		if (!a->enable_on_exec)
			return NULL;
		a->enable_on_exec = 0;
		return "starting with the program";
	case 10:
		if (!(a->exclude_user | a->exclude_kernel | a->exclude_hv))
			return NULL;
		a->exclude_user = a->exclude_kernel = a->exclude_hv = 0;
		return "choosing levels";
	default: return NULL;
	}
}

#define N_SETTINGS 11

const char *pfmi_perf_find_refused_setting(const struct refused_event *q)
{
	for (unsigned i = 0; i < N_SETTINGS; i++) {
		struct perf_attr a = q->attr;
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
	uint64_t config[N_CONFIG_WORDS];

	if (q->attr.type == PERF_TYPE_BREAKPOINT)
		return NULL;
	attr_get_words(p, config);
	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = table_fields(t) + i;
		uint64_t changed[N_CONFIG_WORDS];
		struct perf_attr a = q->attr;

		if (f->n_ranges == 0 || f->kind == FIELD_TEXT ||
		    (f->width == 64 && f->ranges[0].config_word == 0))
			continue;
		*value = pfmi_pmu_extract_field(f, config);
		if (!*value)
			continue;
		memcpy(changed, config, sizeof(changed));
		field_insert(f, changed, 0);
		a.config = changed[0];
		a.config1 = changed[1];
		a.config2 = changed[2];
		a.config3 = changed[3];
		a.config4 = changed[4];
		if (pfmi_perf_retry_open(q, &a, q->group_fd) == 0)
			return f;
	}
	return NULL;
}

uint64_t pfmi_perf_compute_undeclared_bits(const struct session_count *c)
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
