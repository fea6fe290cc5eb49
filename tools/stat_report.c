/* SPDX-License-Identifier: MIT */
/* How counts are shown: value, quality, and where there is one, cause and remedy. A count that was not taken is never a number. */
#include "pfm.h"
#include "show.h"
#include "stat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 40,
       REMARK_MAX = 256 };

bool has_value(const pfm_count_t *count)
{
	return count->quality != PFM_QUALITY_NOT_COUNTED && count->quality != PFM_QUALITY_NOT_SUPPORTED;
}

void tally_add(struct tally *t, const pfm_count_t *count)
{
	double value = (double)count->value, before = t->mean;
	int worst = t->counted && t->count.quality > count->quality ? t->count.quality : count->quality;

	t->runs++;
	if (!has_value(count)) {
		if (!t->counted)
			t->count = *count;
		return;
	}
	t->count = *count;
	t->count.quality = worst;
	t->counted++;
	t->mean += (value - before) / t->counted;
	t->squares += (value - before) * (value - t->mean);
}

pfm_count_t count_between(const pfm_count_t *before, const pfm_count_t *now)
{
	pfm_count_t d = *now;

	if (!has_value(now) || !has_value(before))
		return d;
	d.raw -= before->raw;
	d.enabled -= before->enabled;
	d.running -= before->running;
	d.value = d.raw;
	/* Each interval is judged by its own times: extrapolated sums may fall from one reading to the next. */
	if (d.enabled && !d.running) {
		d.quality = PFM_QUALITY_NOT_COUNTED;
		d.cause = PFM_CAUSE_MULTIPLEXED;
		d.value = 0;
	} else if (d.running < d.enabled) {
		d.value = (uint64_t)((double)d.raw * (double)d.enabled / (double)d.running + 0.5);
		if (d.quality == PFM_QUALITY_EXACT)
			d.quality = PFM_QUALITY_SCALED;
		if (d.cause == PFM_CAUSE_NONE)
			d.cause = PFM_CAUSE_MULTIPLEXED;
	} else if (d.quality == PFM_QUALITY_SCALED) {
		d.quality = PFM_QUALITY_EXACT;
		d.cause = PFM_CAUSE_NONE;
	}
	return d;
}

/* In percent of the mean. */
static double deviation(const struct tally *t)
{
	if (t->counted < 2 || t->mean <= 0)
		return 0;
	/* Of the mean, not of a run: what repeating is for. */
	return 100 * sqrt(t->squares / (t->counted - 1) / t->counted) / t->mean;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------- */

static void number_text(double value, char buf[NUMBER_MAX])
{
	char whole[GROUPED_MAX];

	if (value < 1)
		snprintf(buf, NUMBER_MAX, "%.6g", value);
	else
		snprintf(buf, NUMBER_MAX, "%s.%02u", grouped((uint64_t)value, whole), (unsigned)((value - floor(value)) * 100));
}

static void value_text(const struct tally *t, const pfm_count_info_t *info, char buf[NUMBER_MAX])
{
	if (!t->counted)
		snprintf(buf, NUMBER_MAX, "<%s>", pfm_quality_name(t->count.quality));
	else if (*info->unit || t->count.scale != 1)
		number_text(t->mean * t->count.scale, buf);
	else
		grouped((uint64_t)(t->mean + 0.5), buf);
}

/* Columns that units need: none if no count has one. */
static size_t unit_width(const struct report *r)
{
	pfm_count_info_t info = PFM_INIT(info);
	size_t width = 0;
	unsigned i;

	for (i = 0; i < r->n; i++)
		if (pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS && strlen(info.unit) > width)
			width = strlen(info.unit);
	return width;
}

static void remark_text(const struct tally *t, unsigned repeat, char buf[REMARK_MAX])
{
	int n = 0;

	buf[0] = 0;
	if (t->counted && t->count.quality != PFM_QUALITY_EXACT)
		n += snprintf(buf, REMARK_MAX, "  %s", pfm_quality_name(t->count.quality));
	if (t->counted && t->count.quality == PFM_QUALITY_SCALED && t->count.enabled)
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, ": counted %.1f%% of the time",
		              100.0 * (double)t->count.running / (double)t->count.enabled);
	if (repeat > 1 && t->counted > 1)
		n += snprintf(buf + n, REMARK_MAX - (size_t)n, "  +- %.2f%%", deviation(t));
	if (t->counted && t->counted < t->runs)
		snprintf(buf + n, REMARK_MAX - (size_t)n, "  in %u of %u runs", t->counted, t->runs);
}

static void print_row(const struct report *r, unsigned i, const pfm_count_info_t *info, size_t units)
{
	const struct tally *t = &r->tallies[i];
	char value[NUMBER_MAX], remark[REMARK_MAX];
	enum style style = !t->counted ? RED : t->count.quality == PFM_QUALITY_EXACT ? PLAIN
	                                                                             : YELLOW;

	value_text(t, info, value);
	remark_text(t, r->repeat, remark);
	if (r->time >= 0)
		fprintf(r->out, "%12.6f", r->time);
	if (r->per_cpu)
		fprintf(r->out, "  CPU %-4s", info->cpus);
	fprintf(r->out, "%s%20s%s ", term_on(r->out, style), value, term_off(r->out));
	if (units)
		fprintf(r->out, "%-*s ", (int)units, t->counted ? info->unit : "");
	fputs(info->name, r->out);
	if (*info->pmu && !strstr(info->name, info->pmu))
		fprintf(r->out, "  %s[%s]%s", term_on(r->out, DIM), info->pmu, term_off(r->out));
	fprintf(r->out, "%s\n", remark);
}

/* True if the event @text is one of a list that stands in for this machine's processor. */
static bool from_stand_in(const pfm_ctx_t *ctx, const char *text)
{
	unsigned event;
	int pmu;

	return pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) == PFMLIB_SUCCESS && stands_in(ctx, pmu);
}

/* What readers of counts must know, each event once. */
static void print_notes(const struct report *r)
{
	pfm_count_info_t info = PFM_INIT(info), before = PFM_INIT(before);
	char note[NOTE_MAX];
	unsigned i;

	for (i = 0; i < r->n && pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS; i++) {
		if (!*count_note(r->ctx, info.name, note))
			continue;
		if (i && pfm_describe_count(r->session, i - 1, &before) == PFMLIB_SUCCESS && strcmp(before.name, info.name) == 0)
			continue;
		fprintf(r->out, "\n  %s:\n    ", info.name);
		term_wrap(r->out, 4, 4, note);
	}
}

/* True if an earlier count has the same sentences, so that those of this one were printed already. */
static bool said_before(const struct report *r, unsigned i, const pfm_count_info_t *info)
{
	pfm_count_info_t other = PFM_INIT(other);
	unsigned k;

	for (k = 0; k < i; k++)
		if (pfm_describe_count(r->session, k, &other) == PFMLIB_SUCCESS && strcmp(other.why, info->why) == 0 &&
		    strcmp(other.remedy, info->remedy) == 0)
			return true;
	return false;
}

/* Why counts are not exact, each reason once, with the events it holds for. */
static void print_reasons(const struct report *r)
{
	pfm_count_info_t info = PFM_INIT(info), other = PFM_INIT(other);
	unsigned i, k, first;

	for (i = 0; i < r->n; i++) {
		if (pfm_describe_count(r->session, i, &info) != PFMLIB_SUCCESS || !*info.why || said_before(r, i, &info))
			continue;
		fputc('\n', r->out);
		for (k = i, first = 1; k < r->n; k++)
			if (pfm_describe_count(r->session, k, &other) == PFMLIB_SUCCESS && strcmp(other.why, info.why) == 0 &&
			    strcmp(other.remedy, info.remedy) == 0) {
				fprintf(r->out, "%s%s", first ? "  " : ", ", other.name);
				first = 0;
			}
		fputs(":\n    ", r->out);
		term_wrap(r->out, 4, 4, info.why);
		if (*info.remedy) {
			fputs("    ", r->out);
			term_wrap(r->out, 4, 4, info.remedy);
		}
	}
}

static void print_counts(const struct report *r)
{
	pfm_count_info_t info = PFM_INIT(info);
	size_t units = unit_width(r);
	unsigned i;

	for (i = 0; i < r->n; i++)
		if (pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS)
			from_stand_in(r->ctx, info.name);
	if (r->time < 0)
		fprintf(r->out, "\n  %s%s%s\n\n", term_on(r->out, BOLD), r->target, term_off(r->out));
	for (i = 0; i < r->n; i++)
		if (pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS)
			print_row(r, i, &info, units);
	if (r->time >= 0)
		return;
	print_reasons(r);
	print_notes(r);
	fprintf(r->out, "\n%20.6f seconds elapsed%s\n", r->elapsed, r->repeat > 1 ? ", mean of the runs" : "");
	if (r->user >= 0)
		fprintf(r->out, "%20.6f seconds user\n%20.6f seconds system\n", r->user, r->system);
	fputc('\n', r->out);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------- */

static void put_notes(struct json *j, const pfm_ctx_t *ctx, const char *text)
{
	char note[NOTE_MAX];

	put_text_if(j, "note", count_note(ctx, text, note));
	if (from_stand_in(ctx, text))
		put_bool(j, "fallback", true);
}

static void put_reason(struct json *j, const pfm_count_info_t *info, int quality, int cause)
{
	put_text(j, "quality", pfm_quality_name(quality));
	if (cause != PFM_CAUSE_NONE)
		put_text(j, "cause", pfm_cause_name(cause));
	put_text_if(j, "why", info->why);
	put_text_if(j, "remedy", info->remedy);
}

static void json_count(const struct report *r, unsigned i, const pfm_count_info_t *info)
{
	const struct tally *t = &r->tallies[i];
	struct json j = { .out = r->out };

	put_begin(&j, NULL, '{');
	if (r->time >= 0)
		put_real(&j, "time", r->time);
	put_text(&j, "event", info->name);
	put_text(&j, "pmu", info->pmu);
	if (r->per_cpu)
		put_text(&j, "cpu", info->cpus);
	if (t->counted)
		put_hex(&j, "value", (uint64_t)(t->mean + 0.5));
	else
		put_null(&j, "value");
	if (t->counted && (*info->unit || t->count.scale != 1)) {
		put_real(&j, "amount", t->mean * t->count.scale);
		put_text(&j, "unit", info->unit);
	}
	put_reason(&j, info, t->count.quality, t->count.cause);
	put_notes(&j, r->ctx, info->name);
	put_hex(&j, "enabled", t->count.enabled);
	put_hex(&j, "running", t->count.running);
	put_int(&j, "group", info->group);
	if (r->repeat > 1) {
		put_int(&j, "runs", t->runs);
		put_int(&j, "counted", t->counted);
		put_real(&j, "deviation", deviation(t));
	}
	put_real(&j, "elapsed", r->elapsed);
	put_end(&j, '}');
	put_line(&j);
}

int report_counts(const struct report *r)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i;

	if (r->json)
		for (i = 0; i < r->n && pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS; i++)
			json_count(r, i, &info);
	else
		print_counts(r);
	return fflush(r->out) ? errno : 0;
}

/* ---- dry runs --------------------------------------------------------------------------------------------------------------- */

static void json_plan(FILE *out, const pfm_ctx_t *ctx, const pfm_count_info_t *info)
{
	struct json j = { .out = out };

	put_begin(&j, NULL, '{');
	put_text(&j, "event", info->name);
	put_text(&j, "pmu", info->pmu);
	put_int(&j, "group", info->group);
	put_int(&j, "parts", info->n_parts);
	put_text_if(&j, "cpus", info->cpus);
	put_text_if(&j, "unit", info->unit);
	put_text_if(&j, "why", info->why);
	put_text_if(&j, "remedy", info->remedy);
	put_notes(&j, ctx, info->name);
	if (info->attr.expressible) {
		put_begin(&j, "perf", '{');
		if (info->attr.type_known)
			put_int(&j, "type", info->attr.type);
		else
			put_null(&j, "type");
		put_hex(&j, "config", info->attr.config);
		put_hex(&j, "config1", info->attr.config1);
		put_hex(&j, "config2", info->attr.config2);
		put_int(&j, "exclude_user", info->attr.exclude_user);
		put_int(&j, "exclude_kernel", info->attr.exclude_kernel);
		if (info->attr.exclude_idle)
			put_int(&j, "exclude_idle", 1);
		if (info->attr.exclude_host)
			put_int(&j, "exclude_host", 1);
		if (info->attr.exclude_guest)
			put_int(&j, "exclude_guest", 1);
		put_end(&j, '}');
	} else {
		put_null(&j, "perf");
	}
	put_end(&j, '}');
	put_line(&j);
}

static void print_indented(FILE *out, const char *text)
{
	if (!*text)
		return;
	fputs("  ", out);
	term_wrap(out, 2, 2, text);
}

static void print_plan(FILE *out, const pfm_ctx_t *ctx, const pfm_count_info_t *info)
{
	char note[NOTE_MAX];
	const pfm_attr_t *a = &info->attr;

	fprintf(out, "%s%s%s\n  pmu %s, group %u, %u kernel event%s%s%s\n", term_on(out, BOLD), info->name, term_off(out), info->pmu,
	        info->group, info->n_parts, info->n_parts == 1 ? "" : "s", *info->cpus ? ", CPUs " : "", info->cpus);
	if (a->expressible && a->type_known)
		fprintf(out, "  type=%" PRIu32 " config=0x%" PRIx64, a->type, a->config);
	else if (a->expressible)
		fprintf(out, "  config=0x%" PRIx64, a->config);
	if (a->expressible && (a->config1 || a->config2))
		fprintf(out, " config1=0x%" PRIx64 " config2=0x%" PRIx64, a->config1, a->config2);
	if (a->expressible)
		fprintf(out, "%s%s%s%s%s%s\n", a->exclude_user ? " exclude_user" : "", a->exclude_kernel ? " exclude_kernel" : "",
		        a->exclude_idle ? " exclude_idle" : "", a->exclude_host ? " exclude_host" : "",
		        a->exclude_guest ? " exclude_guest" : "", a->pinned ? " pinned" : "");
	print_indented(out, info->why);
	print_indented(out, info->remedy);
	print_indented(out, count_note(ctx, info->name, note));
	from_stand_in(ctx, info->name);
}

void report_plan(FILE *out, bool json, const pfm_ctx_t *ctx, const pfm_session_t *session)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i, n = pfm_count_session(session);

	for (i = 0; i < n && pfm_describe_count(session, i, &info) == PFMLIB_SUCCESS; i++)
		if (json)
			json_plan(out, ctx, &info);
		else
			print_plan(out, ctx, &info);
}
