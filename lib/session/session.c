/* SPDX-License-Identifier: MIT */
/* Sessions: opens counts in a backend, and determines the quality of what it reads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "context/context.h"
#include "machine/machine.h"
#include "base/sizes.h"

/* ---- opening ------------------------------------------------------------------------------- */

/* The backends in the order of preference. A table of pointers would be relocated in every
 * process. */
static const struct backend *get_backend(unsigned i)
{
	switch (i) {
	case 0: return &pfmi_perf_backend;
	case 1: return &pfmi_device_backend;
	default: return NULL;
	}
}

/* True if the backend can be used. A backend that the caller named is probed, so that a failure has
 * a reason. */
static bool is_usable_backend(const struct pfm_session *s, const struct backend *b,
                              pfm_error_t *why)
{
	return (!s->options.backend && b->is_known_usable && b->is_known_usable(s->ctx)) ||
	       !b->probe || b->probe(&s->sys, why) == PFMLIB_SUCCESS;
}

/* Chooses the backend that the caller named, or the one of this machine; NULL, and a cause for
 * every count, if it has none. A dry run does not ask the backend, but plans what it would do. */
static int choose_backend(struct session_builder *o)
{
	struct pfm_session *s = o->session;
	const char *name = s->options.backend;
	bool dry = s->options.flags & PFM_SESSION_DRY_RUN;
	const struct backend *b;

	for (unsigned i = 0; (b = get_backend(i)); i++) {
		if (name && strcmp(name, b->name) != 0)
			continue;
		if (dry || is_usable_backend(s, b, name ? o->error : NULL)) {
			s->live.policy_backend = b;
			s->live.backend = dry ? &pfmi_session_dry_run_backend : b;
			return PFMLIB_SUCCESS;
		}
		if (name) {
			if (o->error)
				o->error->event = -1;
			return PFMLIB_ERR_NOTSUPP;
		}
	}
	return name ? pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0,
	                                        "unknown backend")
	            : PFMLIB_SUCCESS;
}

static void fail_counts_without_backend(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++)
		if (!s->counts[i].status.cause)
			pfmi_session_fail_count(
				&s->counts[i], PFM_CAUSE_NO_KERNEL, ENOSYS,
				s->sys.root[0] ? "make a dry run"
					       : "use a kernel with CONFIG_PERF_EVENTS",
				s->sys.root[0] ? "%s is a recorded machine: nothing can be counted"
					       : "the kernel has no perf_event_open%s",
				s->sys.root);
}

static int map_cause_to_error(pfm_cause_t cause)
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

/* With PFM_SESSION_STRICT, one incomplete count makes the session fail. */
static int check_strict_counts(struct session_builder *o)
{
	struct pfm_session *s = o->session;

	if (!(s->options.flags & PFM_SESSION_STRICT))
		return PFMLIB_SUCCESS;
	for (unsigned i = 0; i < s->n_counts; i++) {
		const struct session_count *c = &s->counts[i];

		if (!c->status.cause)
			continue;
		o->request = c->config.request;
		pfmi_session_report_error(o, map_cause_to_error(c->status.cause), PFM_KIND_SYSTEM,
		                          NULL, 0, pfm_cause_name(c->status.cause));
		if (o->error)
			o->error->sys_errno = c->status.sys_errno;
		return map_cause_to_error(c->status.cause);
	}
	return PFMLIB_SUCCESS;
}

/* Adds an event, or the metrics that the text names; metrics are not sampled. */
static int add_text_or_metrics(struct session_builder *o, const char *text)
{
	const pfm_error_t before = *o->error;
	int rc = pfmi_session_add_text(o, text), found;

	if (rc == PFMLIB_SUCCESS || o->session->sampling)
		return rc;
	found = pfmi_session_add_metrics(o, text);
	if (found == PFMLIB_SUCCESS)
		*o->error = before;
	return found == PFMLIB_SUCCESS     ? found
	       : found == PFMLIB_ERR_NOMEM ? pfmi_session_report_no_memory(o)
	                                   : rc;
}

static bool has_file_counts(const struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++)
		if (session_is_file_count(&s->counts[i]))
			return true;
	return false;
}

/* Counts in files come first, so that the other backend sees which of them are refused. */
static int open_in_backends(struct pfm_session *s, pfm_error_t *why)
{
	int rc = PFMLIB_SUCCESS;

	if (!s->live.backend) {
		fail_counts_without_backend(s);
		return PFMLIB_SUCCESS;
	}
	if (s->live.policy_backend == &pfmi_perf_backend && has_file_counts(s))
		s->live.file_backend = &pfmi_session_file_backend;
	if (s->live.file_backend)
		rc = s->live.file_backend->open_counts(s, why);
	return rc ? rc : s->live.backend->open_counts(s, why);
}

static int open_session_counts(struct session_builder *o, const char *const *texts, unsigned n)
{
	struct pfm_session *s = o->session;
	int rc = pfmi_context_load(s->ctx, LOADED_ALL);

	if (rc)
		return pfmi_session_report_error(o, rc, PFM_KIND_SYSTEM, NULL, 0,
		                                 "the PMUs of this machine could not be read");
	s->sys = s->ctx->sys;
	pfmi_session_find_core_pmus(o);
	rc = choose_backend(o);
	if (!rc && s->options.sampling)
		rc = s->sampling_ops->read_options(o);
	for (o->request = 0; o->request < n && !rc; o->request++)
		rc = texts[o->request]
		             ? add_text_or_metrics(o, texts[o->request])
		             : pfmi_session_report_error(o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL,
		                                         0, "an event is NULL");
	if (!rc && s->n_metrics)
		rc = pfmi_session_plan_metrics(o, texts);
	if (rc)
		return rc;
	o->request = 0;
	o->text = NULL;
	pfmi_session_mark_exclusive_groups(s);
	rc = pfmi_session_apply_cpu_list(o);
	if (rc)
		return rc;
	pfmi_session_mark_copies(s);
	s->reading.last_counts = malloc((s->n_counts + 1) * sizeof(*s->reading.last_counts));
	if (!s->reading.last_counts)
		return pfmi_session_report_no_memory(o);
	s->processor.identified_at = s->sys.get_time(&s->sys);
	rc = open_in_backends(s, o->error);
	return rc ? rc : check_strict_counts(o);
}

/* Why the options of a session are refused; NULL if they are right. */
static const char *find_option_error(const pfm_session_options_t *o)
{
	if (o->pid < 0)
		return "expected options.pid of at least 0";
	if (o->plm > PFMI_LEVEL_MASK)
		return PFMI_BAD_LEVELS_MESSAGE;
	return base_find_unknown_flag(o->flags, PFM_SESSION_ONE_THREAD);
}

/* Opens @s, of which only sampling_ops is set. Closes it on failure. */
static int open_session(struct pfm_session *s, pfm_session_t **out, const pfm_ctx_t *ctx,
                        const pfm_session_options_t *options, const char *const *texts, unsigned n,
                        pfm_error_t *why)
{
	struct session_builder o = { .session = s, .error = why };
	const char *wrong = base_copy_options_in(&s->options, sizeof(s->options), options);
	int rc;

	s->ctx = pfmi_context_add_ref(ctx);
	if (!wrong)
		wrong = find_option_error(&s->options);
	rc = wrong ? pfmi_session_report_error(&o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0, wrong)
	           : open_session_counts(&o, texts, n);
	if (rc)
		pfm_close_session(s);
	else
		*out = s;
	return rc;
}

int pfmi_session_open(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n,
                      pfm_error_t *error, const struct sampling_ops *ops,
                      const struct device_sampling_ops *device_ops)
{
	pfm_error_t mine = { .size = sizeof(mine) },
		    *why = error ? base_choose_error_struct(error, &mine) : &mine;
	struct pfm_session *s = NULL;
	int rc;

	if (out)
		*out = NULL;
	if (!out || !texts || n == 0)
		rc = pfmi_base_refuse_argument(why, "out or texts is NULL, or there are no events");
	else if (!(s = calloc(1, sizeof(*s))))
		rc = pfmi_base_set_no_memory_error(why);
	else {
		s->sampling_ops = ops;
		s->device_sampling_ops = device_ops;
		rc = open_session(s, out, ctx, options, texts, n, why);
	}
	return base_return_error(error, why, rc);
}

void pfm_close_session(pfm_session_t *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx;

	if (!s)
		return;
	if (s->live.backend)
		s->live.backend->close_counts(s);
	if (s->live.file_backend)
		s->live.file_backend->close_counts(s);
	if (s->recording)
		s->recording_ops->close(s);
	if (s->sampling_ops)
		s->sampling_ops->free_state(s);
	pfmi_session_free_metrics(s);
	pfmi_session_free_names(s);
	free(s->counts);
	free(s->reading.last_counts);
	pfmi_session_free_turns(s);
	free(s->cpus.text);
	pfmi_machine_free_cpus(&s->cpus.requested);
	pfmi_machine_free_cpus(&s->cpus.online);
	ctx.in = s->ctx; /* the session has its own reference */
	pfm_close_context(ctx.out);
	free(s);
}

/* ---- counting ------------------------------------------------------------------------------ */

int pfm_start_session(pfm_session_t *s)
{
	int rc;

	if (!s)
		return PFMLIB_ERR_INVAL;
	rc = s->live.backend ? s->live.backend->start_counting(s) : PFMLIB_SUCCESS;
	if (rc == PFMLIB_SUCCESS && s->live.file_backend)
		rc = s->live.file_backend->start_counting(s);
	if (rc == PFMLIB_SUCCESS)
		s->live.running = s->live.started = true;
	return rc;
}

int pfm_stop_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	s->live.running = false;
	if (s->live.file_backend)
		s->live.file_backend->stop_counting(s);
	return s->live.backend ? s->live.backend->stop_counting(s) : PFMLIB_SUCCESS;
}

int pfm_reset_session(pfm_session_t *s)
{
	if (!s)
		return PFMLIB_ERR_INVAL;
	if (s->live.file_backend)
		s->live.file_backend->reset_counts(s);
	return s->live.backend ? s->live.backend->reset_counts(s) : PFMLIB_SUCCESS;
}

unsigned pfm_session_size(const pfm_session_t *s)
{
	return s ? s->n_counts : 0;
}

/* Reads all counts into s->reading.last_counts; or into @into, if it is not NULL and all counts are
 * still exact: then s->reading.caller_counts is NULL. */
static inline int read_last_counts(struct pfm_session *s, pfm_count_t *into)
{
	int rc = PFMLIB_SUCCESS;

	pfmi_session_check_processor(s);
	s->reading.is_all_exact &= !s->processor.has_changed;
	s->reading.caller_counts = into;
	if (s->live.backend)
		rc = s->live.backend->read_counts(s, s->reading.last_counts, s->n_counts);
	if (!rc && s->live.file_backend)
		rc = s->live.file_backend->read_counts(s, s->reading.last_counts, s->n_counts);
	for (unsigned i = 0; i < s->n_counts && !s->live.backend; i++)
		s->reading.last_counts[i] =
			(pfm_count_t){ .size = sizeof(s->reading.last_counts[i]) };
	s->reading.has_last_counts |= !rc;
	if (!rc && s->live.turns) {
		pfmi_session_apply_turns(s, s->reading.last_counts);
		s->reading.is_all_exact = false;
	}
	if (!rc && !s->reading.is_all_exact) {
		pfmi_session_assess_all_qualities(s, s->reading.last_counts);
		if (s->reading.has_copies && !s->live.turns &&
		    !pfmi_session_compare_copies(s, s->reading.last_counts))
			s->reading.is_all_exact = false;
	}
	if (!rc)
		pfmi_session_mark_pretended(s, s->reading.last_counts, s->n_counts);
	/* Groups that take turns are assessed at each reading. */
	s->reading.is_all_exact &= !s->live.turns;
	return rc;
}

/* True if all @n structures of the caller have the present size. */
static bool has_current_sizes(const pfm_count_t *counts, unsigned n)
{
	size_t other = 0;

	for (const pfm_count_t *c = counts; c < counts + n; c++)
		other |= c->size ^ sizeof(*c);
	return !other;
}

/* True if all have the size of the first one. */
static bool has_equal_sizes(pfm_count_t *counts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (base_get_struct_size(base_get_struct_at(counts, i)) !=
		    base_get_struct_size(counts))
			return false;
	return true;
}

int pfm_read_session(pfm_session_t *s, pfm_count_t *counts, unsigned n)
{
	bool alike, all;
	int rc;

	if (!s || (n && !base_has_struct_size(counts)))
		return PFMLIB_ERR_INVAL;
	alike = n && counts->size == sizeof(*counts);
	if (!(alike ? has_current_sizes(counts, n) : has_equal_sizes(counts, n)))
		return PFMLIB_ERR_INVAL;
	all = alike && n >= s->n_counts;
	rc = read_last_counts(s, all ? counts : NULL);
	if (rc || (all && !s->reading.caller_counts))
		return rc;
	if (n > s->n_counts)
		n = s->n_counts;
	/* Structures of the present size are copied at once. */
	if (alike)
		memcpy(counts, s->reading.last_counts, n * sizeof(*counts));
	for (unsigned i = 0; i < n && !alike; i++)
		base_copy_struct_out(base_get_struct_at(counts, i), &s->reading.last_counts[i],
		                     sizeof(s->reading.last_counts[i]));
	return rc;
}

int pfm_read_count(pfm_session_t *s, unsigned i, pfm_count_t *count)
{
	const struct session_count *c;
	int rc = PFMLIB_ERR_NOTSUPP;

	if (!s || i >= s->n_counts || !base_has_struct_size(count))
		return PFMLIB_ERR_INVAL;
	c = &s->counts[i];
	if (!s->reading.has_last_counts)
		memset(s->reading.last_counts, 0, s->n_counts * sizeof(*s->reading.last_counts));
	s->reading.has_last_counts = true;
	/* Counts whose quality depends on each other are read together. */
	if (s->live.backend && s->live.backend->read_user_count && !s->live.turns &&
	    !c->config.sibling_set && !s->reading.has_copies && c->kernel_state.n_open)
		rc = s->live.backend->read_user_count(s, i, &s->reading.last_counts[i]);
	if (rc == PFMLIB_SUCCESS && ++s->processor.n_reads >= USER_READS_PER_CHECK)
		pfmi_session_check_processor(s);
	if (rc == PFMLIB_SUCCESS) {
		pfmi_session_assess_quality(s, i, s->reading.last_counts);
		pfmi_session_mark_pretended(s, &s->reading.last_counts[i], 1);
	} else if (rc == PFMLIB_ERR_NOTSUPP) {
		rc = read_last_counts(s, NULL);
	}
	if (rc == PFMLIB_SUCCESS)
		base_copy_struct_out(count, &s->reading.last_counts[i],
		                     sizeof(s->reading.last_counts[i]));
	return rc;
}

/* A recording has no PMUs. */
static const char *get_count_pmu_name(const struct pfm_session *s, const struct session_count *c)
{
	const struct table *t;

	if (s->recording)
		return "";
	if (c->config.kernel_pmu)
		return c->config.instance
		               ? c->config.kernel_pmu->instance_names[c->config.instance - 1]
		               : c->config.kernel_pmu->name;
	t = context_get_usable_table(s->ctx, c->config.pmu);
	return t ? table_get_text(t, t->name) : "";
}

/* The list of CPUs of a count: that of the user's text, of the instance of its device, or of the
 * session. */
static const char *get_counted_cpus(const struct pfm_session *s, const struct session_count *c)
{
	if (*c->config.cpus)
		return c->config.cpus;
	if (c->config.kernel_pmu)
		return c->config.kernel_pmu
		        ->instance_cpu_lists[c->config.instance ? c->config.instance - 1 : 0];
	return s->options.cpus ? s->options.cpus : "";
}

static void set_count_info(const struct pfm_session *s, const struct session_count *c,
                           pfm_count_info_t *info)
{
	info->request = c->config.request;
	info->name = c->config.name;
	info->pmu = get_count_pmu_name(s, c);
	info->unit = c->config.unit;
	info->group = c->config.group;
	info->n_kernel_events = session_is_file_count(c) ? 1 : c->kernel_state.n_events;
	info->why = c->status.reason_cause ? c->status.reason : "";
	info->remedy = c->status.reason_cause ? c->status.remedy : "";
	info->evidence = c->status.reason_cause ? c->status.evidence : "";
	info->attr = c->config.attr;
	info->is_level = c->config.is_level;
	info->cpus = get_counted_cpus(s, c);
}

int pfm_describe_count(const pfm_session_t *s, unsigned i, pfm_count_info_t *info)
{
	pfm_count_info_t full;

	if (!s || i >= s->n_counts || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	if (info->size >= sizeof(*info)) {
		set_count_info(s, &s->counts[i], info);
		return PFMLIB_SUCCESS;
	}
	full = (pfm_count_info_t)PFM_INIT(full);
	set_count_info(s, &s->counts[i], &full);
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_session_errno(const pfm_session_t *s)
{
	return s ? s->sys_errno : 0;
}
