/* SPDX-License-Identifier: MIT */
/* A session that is being opened: its errors, memory for its counts and their names. */
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "context/context.h"

struct pfm_session *pfmi_session_get_built(const struct session_builder *o)
{
	return o->session;
}

int pfmi_session_report_error(const struct session_builder *o, int code, pfm_error_kind_t kind,
                              const char *at, size_t len, const char *detail)
{
	int rc = pfmi_base_set_error(o->error, code, kind, o->text,
	                             (struct slice){ at, (uint32_t)len }, detail);

	if (o->error)
		o->error->event = (int)o->request;
	return rc;
}

int pfmi_session_report_no_memory(const struct session_builder *o)
{
	return pfmi_session_report_error(o, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, 0, NULL);
}

const struct pmu_info *pfmi_session_get_pmu(struct session_builder *o, unsigned pmu)
{
	if (!o->cached_pmu.table || o->cached_pmu_number != pmu)
		o->cached_pmu = pfmi_context_get_pmu(o->session->ctx, pmu);
	o->cached_pmu_number = pmu;
	return &o->cached_pmu;
}

bool pfmi_session_is_generic_event(const struct session_builder *o, const struct member_event *f)
{
	const struct table *t = context_get_pmu_table(o->session->ctx, f->pmu);

	return t->encoder == ENCODER_PERF && (t->perf_type == 0 || t->perf_type == 3);
}

/* ---- counts -------------------------------------------------------------------------------- */

bool pfmi_session_reserve_counts(struct session_builder *o, unsigned n)
{
	struct pfm_session *s = o->session;
	unsigned size =
		o->counts_capacity * 2 > s->n_counts + n ? o->counts_capacity * 2 : s->n_counts + n;
	struct session_count *counts = s->n_counts + n > o->counts_capacity
	                                       ? realloc(s->counts, size * sizeof(*counts))
	                                       : s->counts;

	if (!counts)
		return false;
	o->counts_capacity = s->n_counts + n > o->counts_capacity ? size : o->counts_capacity;
	s->counts = counts;
	return true;
}

struct session_count *pfmi_session_append_count(struct session_builder *o)
{
	return pfmi_session_reserve_counts(o, 1) ? &o->session->counts[o->session->n_counts++]
	                                         : NULL;
}

void pfmi_session_copy_event(const struct event *from, struct event *to)
{
	memcpy(to, from,
	       offsetof(struct event, user_fields) +
	               from->n_user_fields * sizeof(from->user_fields[0]));
}

/* ---- names --------------------------------------------------------------------------------- */

#define NAME_BLOCK_SIZE 900 /* the smallest block of memory for names, in bytes */

struct name_block {
	struct name_block *next;
	size_t n_used, capacity;
	char bytes[];
};

char *pfmi_session_alloc_name(struct pfm_session *s, size_t size)
{
	struct name_block *n = s->name_blocks;
	char *name;

	if (!n || n->capacity - n->n_used < size) {
		size_t more = size > NAME_BLOCK_SIZE ? size : NAME_BLOCK_SIZE;

		n = malloc(sizeof(*n) + more);
		if (!n)
			return NULL;
		*n = (struct name_block){ .next = s->name_blocks, .capacity = more };
		s->name_blocks = n;
	}
	name = n->bytes + n->n_used;
	*name = '\0';
	n->n_used += size;
	return name;
}

void pfmi_session_free_names(struct pfm_session *s)
{
	for (struct name_block *n = s->name_blocks, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	s->name_blocks = NULL;
}

char *pfmi_session_copy_name(struct pfm_session *s, const char *name)
{
	size_t len = strlen(name);
	char *copy = pfmi_session_alloc_name(s, len + NAME_SUFFIX_SIZE);

	return copy ? memcpy(copy, name, len + 1) : NULL;
}
