/* SPDX-License-Identifier: MIT */
/* Sessions: counts are handed to a backend, and what it reads is judged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/session.h"
#include "perfdata/perfdata.h"
#include "context/context.h"
#include "machine/machine.h"
#include "base/sizes.h"

/* ---- opening ---------------------------------------------------------------------------------------------------------- */

/* In the order they are tried. Not a table: its pointers would be relocated in every process. */
static const struct backend *backend_at(unsigned i)
{
	switch (i) {
	case 0: return &pfmi_backend_perf_event;
	case 1: return &pfmi_backend_pfm_device;
	default: return NULL;
	}
}

/* Who names one wants to know. */
static bool is_usable(const struct pfm_session *s, const struct backend *b, pfm_error_t *why)
{
	return (!s->options.backend && b->is_shown && b->is_shown(s->ctx)) || !b->probe || b->probe(&s->sys, why) == PFMLIB_SUCCESS;
}

/* The backend the caller names, or the one this machine has; NULL if it has none (every count will say so). In a dry run nothing is
 * asked of it: what it would do is planned. */
static int choose_backend(struct opening *o)
{
	struct pfm_session *s = o->s;
	const char *name = s->options.backend;
	bool dry = s->options.flags & PFM_SESSION_DRY_RUN;
	const struct backend *b;

	for (unsigned i = 0; (b = backend_at(i)); i++) {
		if (name && strcmp(name, b->name) != 0)
			continue;
		if (dry || is_usable(s, b, name ? o->why : NULL)) {
			s->judges = b;
			s->backend = dry ? &pfmi_backend_dry_run : b;
			return PFMLIB_SUCCESS;
		}
		if (name) {
			if (o->why)
				o->why->event = -1;
			return PFMLIB_ERR_NOTSUPP;
		}
	}
	return name ? pfmi_opening_refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "no backend of that name") : PFMLIB_SUCCESS;
}

static void no_backend(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!s->counts[i].told.cause)
			pfmi_give_up(&s->counts[i], PFM_CAUSE_NO_KERNEL, ENOSYS,
			             s->sys.root[0] ? "make a dry run" : "use a kernel with CONFIG_PERF_EVENTS",
			             s->sys.root[0] ? "%s is a recorded machine: nothing can be counted"
			                            : "the kernel has no perf_event_open%s",
			             s->sys.root);
}

static int strict_code(int cause)
{
	switch (cause) {
	case PFM_CAUSE_NO_PMU: return PFMLIB_ERR_NOPMU;
	case PFM_CAUSE_PERMISSION: return PFMLIB_ERR_PERM;
	case PFM_CAUSE_BUSY: return PFMLIB_ERR_BUSY;
	case PFM_CAUSE_GROUP: return PFMLIB_ERR_NOASSIGN;
	case PFM_CAUSE_ATTRIBUTE: return PFMLIB_ERR_ATTR_VAL;
	case PFM_CAUSE_MEMORY: return PFMLIB_ERR_NOMEM;
	case PFM_CAUSE_NO_KERNEL: return PFMLIB_ERR_NOTSUPP;
	default: return PFMLIB_ERR_SYS;
	}
}

/* With PFM_SESSION_STRICT one count that is not whole fails them all. */
static int check_strict(struct opening *o)
{
	struct pfm_session *s = o->s;

	if (!(s->options.flags & PFM_SESSION_STRICT))
		return PFMLIB_SUCCESS;
	for (unsigned i = 0; i < s->n; i++) {
		const struct counting *c = &s->counts[i];

		if (!c->told.cause)
			continue;
		o->request = c->asked.request;
		pfmi_opening_refuse(o, strict_code(c->told.cause), PFM_KIND_SYSTEM, NULL, 0, pfm_cause_name(c->told.cause));
		if (o->why)
			o->why->sys_errno = c->told.sys_errno;
		return strict_code(c->told.cause);
	}
	return PFMLIB_SUCCESS;
}

/* A text that names no event may name metrics; they are not sampled. */
static int add_text(struct opening *o, const char *text)
{
	const pfm_error_t before = *o->why;
	int rc = pfmi_add_text(o, text), found;

	if (rc == PFMLIB_SUCCESS || o->s->sampling)
		return rc;
	found = pfmi_find_metrics(o, text);
	if (found == PFMLIB_SUCCESS)
		*o->why = before;
	return found == PFMLIB_SUCCESS ? found : found == PFMLIB_ERR_NOMEM ? pfmi_opening_no_memory(o)
	                                                                   : rc;
}

static int open_all(struct opening *o, const char *const *texts, unsigned n)
{
	struct pfm_session *s = o->s;
	int rc = pfmi_ctx_load(s->ctx, LOADED_ALL);

	if (rc)
		return pfmi_opening_refuse(o, rc, PFM_KIND_SYSTEM, NULL, 0, "what this machine has could not be read");
	s->sys = s->ctx->sys;
	pfmi_find_cores(o);
	rc = choose_backend(o);
	if (!rc && s->options.sampling)
		rc = pfmi_sampling_ask(o);
	for (o->request = 0; o->request < n && !rc; o->request++)
		rc = texts[o->request] ? add_text(o, texts[o->request])
		                       : pfmi_opening_refuse(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "an event is NULL");
	if (!rc && s->n_metrics)
		rc = pfmi_plan_metrics(o, texts);
	if (rc)
		return rc;
	o->request = 0;
	o->text = NULL;
	pfmi_take_turns(s);
	rc = pfmi_keep_cpus(o);
	if (rc)
		return rc;
	s->last = malloc((s->n + 1) * sizeof(*s->last));
	if (!s->last)
		return pfmi_opening_no_memory(o);
	if (s->backend)
		rc = s->backend->program(s, o->why);
	else
		no_backend(s);
	return rc ? rc : check_strict(o);
}

static int open_session(pfm_session_t **out, const pfm_ctx_t *ctx, const pfm_session_options_t *options,
                        const char *const *texts, unsigned n, pfm_error_t *why)
{
	struct opening o = { .why = why };
	struct pfm_session *s;
	int rc;

	s = pfmi_zeros(sizeof(*s));
	if (!s)
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	o.s = s;
	s->ctx = pfmi_ctx_hold(ctx);
	if (!pfmi_take(&s->options, sizeof(s->options), options))
		rc = pfmi_opening_refuse(&o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "options.size is not set");
	else if (s->options.pid < 0)
		rc = pfmi_opening_refuse(&o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, "options.pid is negative");
	else if (s->options.plm > PFMI_LEVELS)
		rc = pfmi_opening_refuse(&o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, PFMI_NO_LEVELS);
	else
		rc = open_all(&o, texts, n);
	if (rc)
		pfm_close_session(s);
	else
		*out = s;
	return rc;
}

int pfm_open_session(pfm_session_t **out, const pfm_ctx_t *ctx, const pfm_session_options_t *options,
                     const char *const *texts, unsigned n, pfm_error_t *error)
{
	pfm_error_t mine = { .size = sizeof(mine) }, *why = error ? pfmi_error_begin(error, &mine) : &mine;
	int rc;

	if (out)
		*out = NULL;
	if (!out || !texts || n == 0)
		rc = pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                 "out or texts is NULL, or there are no events");
	else
		rc = open_session(out, ctx, options, texts, n, why);
	return pfmi_error_end(error, why, rc);
}

void pfm_close_session(pfm_session_t *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx;

	if (!s)
		return;
	if (s->backend)
		s->backend->close(s);
	pfmi_data_close(s);
	pfmi_sampling_free(s);
	pfmi_free_metrics(s);
	pfmi_free_names(s);
	free(s->counts);
	free(s->last);
	free(s->cpus);
	pfmi_cpus_free(&s->wanted);
	pfmi_cpus_free(&s->online);
	ctx.in = s->ctx; /* the session's own hold on it */
	pfm_close_context(ctx.out);
	free(s);
}

/* ---- counting --------------------------------------------------------------------------------------------------------- */

int pfm_start_session(pfm_session_t *s)
{
	int rc;

	if (!s)
		return PFMLIB_ERR_INVAL;
	rc = s->backend ? s->backend->start(s) : PFMLIB_SUCCESS;
	if (rc == PFMLIB_SUCCESS)
		s->running = s->started = true;
	return rc;
}

int pfm_stop_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	s->running = false;
	return s->backend ? s->backend->stop(s) : PFMLIB_SUCCESS;
}

int pfm_reset_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	return s->backend ? s->backend->reset(s) : PFMLIB_SUCCESS;
}

unsigned pfm_count_session(const pfm_session_t *s)
{
	return s ? s->n : 0;
}

/* Fills s->last; or @into, if it is not NULL and they are as good as there: then s->into is NULL. */
static inline int read_last(struct pfm_session *s, pfm_count_t *into)
{
	int rc = PFMLIB_SUCCESS;

	s->into = into;
	if (s->backend)
		rc = s->backend->read(s, s->last, s->n);
	for (unsigned i = 0; i < s->n && !s->backend; i++)
		s->last[i] = (pfm_count_t){ .size = sizeof(s->last[i]) };
	s->filled |= !rc;
	if (!rc && !s->clear)
		pfmi_judge_all(s, s->last);
	return rc;
}

/* True if all @n of the caller's structs have today's size. */
static bool are_todays(const pfm_count_t *counts, unsigned n)
{
	size_t other = 0;

	for (const pfm_count_t *c = counts; c < counts + n; c++)
		other |= c->size ^ sizeof(*c);
	return !other;
}

/* True if they all have the size of the first. */
static bool are_alike(pfm_count_t *counts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (pfmi_size_of(pfmi_nth(counts, i)) != counts->size)
			return false;
	return true;
}

int pfm_read_session(pfm_session_t *s, pfm_count_t *counts, unsigned n)
{
	bool alike, all;
	int rc;

	if (!s || (n && !pfmi_sized(counts)))
		return PFMLIB_ERR_INVAL;
	alike = n && counts->size == sizeof(*counts);
	if (!(alike ? are_todays(counts, n) : are_alike(counts, n)))
		return PFMLIB_ERR_INVAL;
	all = alike && n >= s->n;
	rc = read_last(s, all ? counts : NULL);
	if (rc || (all && !s->into))
		return rc;
	if (n > s->n)
		n = s->n;
	/* Structs of today's size are copied in one go. */
	if (alike)
		memcpy(counts, s->last, n * sizeof(*counts));
	for (unsigned i = 0; i < n && !alike; i++)
		pfmi_give(pfmi_nth(counts, i), &s->last[i], sizeof(s->last[i]));
	return rc;
}

int pfm_read_count(pfm_session_t *s, unsigned i, pfm_count_t *count)
{
	const struct counting *c;
	int rc = PFMLIB_ERR_NOTSUPP;

	if (!s || i >= s->n || !pfmi_sized(count))
		return PFMLIB_ERR_INVAL;
	c = &s->counts[i];
	if (!s->filled)
		memset(s->last, 0, s->n * sizeof(*s->last));
	s->filled = true;
	/* Counts that are judged together are read together. */
	if (s->backend && s->backend->read_fast && !c->asked.sibling && c->opened.n_open)
		rc = s->backend->read_fast(s, i, &s->last[i]);
	if (rc == PFMLIB_SUCCESS)
		pfmi_judge(s, i, s->last);
	else if (rc == PFMLIB_ERR_NOTSUPP)
		rc = read_last(s, NULL);
	if (rc == PFMLIB_SUCCESS)
		pfmi_give(count, &s->last[i], sizeof(s->last[i]));
	return rc;
}

/* A recording knows of no PMUs. */
static const char *pmu_name(const struct pfm_session *s, const struct counting *c)
{
	const struct table *t;

	if (s->reading)
		return "";
	if (c->asked.device)
		return c->asked.instance ? c->asked.device->instances[c->asked.instance - 1] : c->asked.device->name;
	t = pfmi_table_at(s->ctx, c->asked.pmu);
	return t ? table_text(t, t->name) : "";
}

/* The list of CPUs that one count is taken on, as the user's text, the instance of its device or the session has it. */
static const char *counted_cpus(const struct pfm_session *s, const struct counting *c)
{
	if (*c->asked.cpus)
		return c->asked.cpus;
	if (c->asked.device)
		return c->asked.device->instance_cpus[c->asked.instance ? c->asked.instance - 1 : 0];
	return s->options.cpus ? s->options.cpus : "";
}

static void describe_count(const struct pfm_session *s, const struct counting *c, pfm_count_info_t *info)
{
	info->request = c->asked.request;
	info->name = c->asked.name;
	info->pmu = pmu_name(s, c);
	info->unit = c->asked.unit;
	info->group = c->asked.group;
	info->n_parts = c->opened.n_parts;
	info->why = c->told.about ? c->told.why : "";
	info->remedy = c->told.about ? c->told.remedy : "";
	info->attr = c->asked.attr;
	info->is_level = c->asked.is_level;
	info->cpus = counted_cpus(s, c);
}

int pfm_describe_count(const pfm_session_t *s, unsigned i, pfm_count_info_t *info)
{
	pfm_count_info_t full;

	if (!s || i >= s->n || !pfmi_sized(info))
		return PFMLIB_ERR_INVAL;
	if (info->size >= sizeof(*info)) {
		describe_count(s, &s->counts[i], info);
		return PFMLIB_SUCCESS;
	}
	full = (pfm_count_info_t)PFM_INIT(full);
	describe_count(s, &s->counts[i], &full);
	pfmi_give(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_session_errno(const pfm_session_t *s)
{
	return s ? s->sys_errno : 0;
}
