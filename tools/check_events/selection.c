/* SPDX-License-Identifier: MIT */
/* Selects the events to check: named ones, or those that have a meaning. */
#include "check_events/check_events.h"
#include "common/pfm.h"

#include <stdlib.h>
#include <string.h>

void read_meaning(struct event_check *c, const char *tags)
{
	snprintf(c->meaning, sizeof(c->meaning), "%s", tags);
	snprintf(c->reason, sizeof(c->reason), "no kernel has a known number of %s", tags);
	for (const char *tag = tags, *end; *tag && !c->has_quantity; tag = *end ? end + 1 : end) {
		const char *star, *name = tag;

		end = strchrnul(tag, ';');
		if (*tag == '+') {
			snprintf(c->reason, sizeof(c->reason),
			         "it is one of several events whose sum has the meaning");
			continue;
		}
		star = memchr(tag, '*', (size_t)(end - tag));
		if (star)
			name = star + 1;
		c->factor = star ? strtod(tag, NULL) : 1;
		c->has_quantity = truth_find_quantity(name, (size_t)(end - name), &c->quantity);
		if (c->has_quantity)
			snprintf(c->meaning, sizeof(c->meaning), "%.*s", (int)(end - tag), tag);
	}
	if (c->has_quantity)
		*c->reason = 0;
}

const char *find_meaning_tags(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	const char *name, *text;
	uint64_t value;
	int counter;

	for (unsigned i = 0;
	     !pfm_describe_field(ctx, pmu, event, i, &name, &text, &value, &counter); i++)
		if (strcmp(name, "meaning") == 0)
			return text;
	return NULL;
}

static struct event_check *add_check(struct check_list *list)
{
	size_t capacity = list->capacity ? 2 * list->capacity : 64;
	struct event_check *more;

	if (list->n == list->capacity) {
		more = realloc(list->checks, capacity * sizeof(*more));
		if (!more)
			return NULL;
		list->checks = more;
		list->capacity = capacity;
	}
	memset(&list->checks[list->n], 0, sizeof(*more));
	return &list->checks[list->n++];
}

static void describe_pmu(pfm_ctx_t *ctx, int pmu, struct event_check *c)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	c->pmu = c->device = c->cpus = "";
	if (pfm_describe_pmu(ctx, pmu, &info))
		return;
	c->pmu = info.name;
	c->device = info.device;
	c->cpus = info.cpus;
	c->is_whole_machine = info.flags & PFM_PMU_UNCORE;
	if (c->is_whole_machine && c->has_quantity && c->quantity < TRUTH_DRAM_READ_BYTES) {
		c->has_quantity = false;
		snprintf(c->reason, sizeof(c->reason),
		         "it counts for a whole package, where other programs run");
	}
}

bool add_named_check(pfm_ctx_t *ctx, const char *text, struct check_list *list)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	pfm_error_t error = PFM_INIT(error);
	struct event_check *c;
	const char *tags;

	if (pfm_encode_event(ctx, text, 0, &enc, &error)) {
		report_refusal(ctx, text, &error, WANTED_EVENT);
		return false;
	}
	c = add_check(list);
	if (!c)
		return false;
	snprintf(c->text, sizeof(c->text), "%s", text);
	tags = find_meaning_tags(ctx, enc.pmu, enc.event);
	if (tags)
		read_meaning(c, tags);
	else
		snprintf(c->reason, sizeof(c->reason),
		         "its table gives it no meaning that the test programs know");
	describe_pmu(ctx, enc.pmu, c);
	return true;
}

static bool add_checks_of_pmu(pfm_ctx_t *ctx, int pmu, const perfmon_pmu_info_t *info, bool all,
                              struct check_list *list)
{
	perfmon_event_info_t event = PFM_INIT(event);
	struct event_check *c;
	const char *tags;

	for (unsigned i = 0; i < info->n_events; i++) {
		tags = find_meaning_tags(ctx, pmu, i);
		if (!tags || pfm_describe_event(ctx, pmu, i, &event) ||
		    pfm_is_event_implemented(ctx, pmu, i) == 0)
			continue;
		c = add_check(list);
		if (!c)
			return false;
		snprintf(c->text, sizeof(c->text), "%s::%s", info->name, event.name);
		read_meaning(c, tags);
		describe_pmu(ctx, pmu, c);
		if (!c->has_quantity && !all)
			list->n--;
	}
	return true;
}

bool add_tagged_checks(pfm_ctx_t *ctx, const char *pmu, bool all, struct check_list *list)
{
	const int n = pfm_count_pmus(ctx), only = pmu ? pfm_find_pmu(ctx, pmu) : -1;
	perfmon_pmu_info_t info = PFM_INIT(info);

	if (pmu && only < 0) {
		fprintf(stderr, "pfm: --pmu: unknown PMU '%s'. 'pfm list --pmus' lists them.\n",
		        pmu);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (pfm_describe_pmu(ctx, i, &info) || (pmu && i != only))
			continue;
		if (!pmu && (!(info.flags & PFM_PMU_HOST) || info.flags & PFM_PMU_HIDDEN))
			continue;
		if (!add_checks_of_pmu(ctx, i, &info, all, list)) {
			report_no_memory();
			return false;
		}
	}
	return true;
}
