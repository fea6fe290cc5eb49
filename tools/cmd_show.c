/* SPDX-License-Identifier: MIT */
/* pfm show: everything about one event, or about one processor. */
#include "pfm.h"
#include "metric.h"
#include "show.h"

#include <inttypes.h>
#include <string.h>

enum { OPT_JSON = LONG_ONLY, OPT_PMU, TEXT_MAX = 1024, LABEL = 14 };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of names without one; default: this machine's" },
	{ OPT_JSON, "json", NULL, "one JSON object" },
	{ 0, NULL, NULL, NULL }
};

static const struct {
	pfm_dialect_t dialect;
	const char *name;
} dialects[] = { { PFM_DIALECT_LIBPFM, "libpfm" },
	         { PFM_DIALECT_LIBPMC, "libpmc" },
	         { PFM_DIALECT_PERF, "perf" },
	         { PFM_DIALECT_VENDOR, "vendor" } };

static const struct {
	unsigned bit;
	const char *name, *text;
} event_flags[] = { { PFM_EVENT_DEPRECATED, "deprecated", "deprecated" },
	            { PFM_EVENT_ALONE, "alone", "must be counted alone" },
	            { PFM_EVENT_PER_PKG, "per_pkg", "counts a package, not a CPU" },
	            { PFM_EVENT_EXPERIMENTAL, "experimental", "experimental" },
	            { PFM_EVENT_ARCH, "architectural",
	              "architectural: the same on every processor that has it" },
	            { PFM_EVENT_METRIC, "metric", "a metric, computed from other events" },
	            { PFM_EVENT_HIDDEN, "hidden", "hidden in lists" } };

/* Sources that agree with a row, where they were compared: PFM_EVENT_BY_*. */
static const char *const source_names[] = { "vendor", "linux", "libpfm4" };
static const char *const source_sentences[] = { "",
	                                        "only the vendor's list",
	                                        "only Linux's list",
	                                        "the vendor's list and Linux's agree",
	                                        "libpfm4 alone",
	                                        "the vendor's list and libpfm4 agree",
	                                        "Linux's list and libpfm4 agree",
	                                        "the vendor's list, Linux's and libpfm4 agree" };

/* Fields of tables that say more under another name. Fields that are shown elsewhere have no
 * label. */
static const struct {
	const char *name, *label;
} field_labels[] = {
	{ "code", NULL },
	{ "errata", NULL },
	{ "errata_class", "errata group" },
	{ "note", NULL },
	{ "replaced", NULL },
	{ "flags", NULL },
	{ "detail", NULL },
	{ "scale", NULL },
	{ "unit", NULL },
	{ "period", NULL },
	{ "on_htoff", NULL },
	{ "precise", NULL },
	{ "umask", "unit mask" },
	{ "max", "at most" },
	{ "type", "thread type" },
	{ "set", "event set" },
	{ "accepts", "filters" },
	{ "ear", "EAR" },
	{ "ear_umask", "EAR mask" },
	{ "ear_latency", "EAR latency" },
	{ "etb", "trace buffer" },
	{ "thres", "threshold" },
	{ "sel", "select" },
	{ "cbox", "second select" },
	{ "const", "constant" },
	{ "stat", "statistic" },
	{ "linux", "Linux raw" },
	{ "weight", "half units" },
	{ "arch_bit", "CPUID.0AH bit" },
	{ "source", "source" },
	{ "metric", NULL },
	{ "metric_inputs", NULL },
	{ "metric_threshold", NULL },
	{ "metric_group", "groups" },
	{ "metric_parent", NULL },
	{ "metric_level", NULL },
	{ "metric_locate", NULL },
	{ "core_spec", "core default" },
	{ "mesi", "MESI masks" },
	{ "msr", "MSR" },
	{ "params", "required fields" },
	{ "msr_value", "MSR value" },
};

struct shower {
	pfm_ctx_t *ctx;
	const char *pmu; /* --pmu, or NULL */
	bool json;
	struct json out;
};

/* ---- lines of text --------------------------------------------------------------------------- */

static void print_label(const char *label)
{
	printf("  %s%-*s%s ", term_colour_begin(stdout, DIM), LABEL, label,
	       term_colour_end(stdout));
}

static void print_line(const char *label, const char *text)
{
	if (!text || !*text)
		return;
	print_label(label);
	term_wrap(stdout, LABEL + 3, LABEL + 3, text);
}

static void print_number(const char *label, uint64_t value)
{
	print_label(label);
	printf("0x%" PRIx64 "\n", value);
}

static void print_heading(const char *text)
{
	printf("\n  %s%s%s\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout));
}

/* ---- an event: text -------------------------------------------------------------------------- */

static const char *field_label(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(field_labels) / sizeof(field_labels[0]); i++)
		if (strcmp(field_labels[i].name, name) == 0)
			return field_labels[i].label;
	return name;
}

static void print_fields(const struct shower *s, const pfm_event_info_t *e, int type)
{
	const char *name, *text, *label;
	char shown[64], where[16];
	uint64_t value;
	unsigned i;
	int counter;

	for (i = 0; i < e->n_fields; i++) {
		if (pfm_describe_field(s->ctx, e->pmu, e->event, i, &name, &text, &value,
		                       &counter) != PFMLIB_SUCCESS)
			break;
		label = field_label(name);
		if (!label || model_has_field(type, name) || strcmp(text, "#NA") == 0)
			continue;
		if (counter >= 0)
			snprintf(shown, sizeof(shown), "%s, counter %s", label,
			         counter_text(counter, where));
		else
			snprintf(shown, sizeof(shown), "%s", label);
		if (*text)
			print_line(shown, text);
		else if (strcmp(name, "max") == 0 || strcmp(name, "ear_latency") == 0) {
			print_label(shown);
			printf("%" PRIu64 " %s\n", value,
			       *name == 'm' ? "a cycle" : "cycles or more");
		} else
			print_number(shown, value);
	}
}

/* How wide the columns of an event's unit masks are. */
struct column_widths {
	int name, spelling, value;
};

static int widen_column(int width, size_t than)
{
	return (size_t)width < than ? (int)than : width;
}

static struct column_widths measure_umasks(const struct shower *s, const pfm_event_info_t *e)
{
	struct column_widths c = { 10, 0, 4 };
	pfm_umask_info_t m = PFM_INIT(m);
	char value[20];

	for (unsigned i = 0; i < e->n_umasks &&
	                     pfm_describe_umask(s->ctx, e->pmu, e->event, i, &m) == PFMLIB_SUCCESS;
	     i++) {
		c.name = widen_column(c.name, strlen(m.name));
		c.spelling = widen_column(c.spelling, strlen(m.alias));
		c.value = widen_column(
			c.value, (size_t)snprintf(value, sizeof(value), "0x%" PRIx64, m.value));
	}
	return c;
}

/* The name, its other spelling, the value, whether it is the default, and what it means: after
 * that, or below it where there is little room. */
static void print_umask(const pfm_umask_info_t *m, const struct column_widths *c)
{
	int at = 4 + c->name + 2 + (c->spelling ? c->spelling + 2 : 0) + c->value + 2 + 9;
	bool behind = *m->desc && at <= 56;
	char value[20];

	snprintf(value, sizeof(value), "0x%" PRIx64, m->value);
	printf("    %s%-*s%s  ", term_colour_begin(stdout, CYAN), c->name, m->name,
	       term_colour_end(stdout));
	if (c->spelling)
		printf("%-*s  ", c->spelling, m->alias);
	if (m->is_default || behind)
		printf("%-*s  %-*s", c->value, value, behind ? 9 : 0,
		       m->is_default ? "default" : "");
	else
		printf("%s", value);
	if (behind)
		term_wrap(stdout, (size_t)at, (size_t)at, m->desc);
	else
		putchar('\n');
	if (*m->desc && !behind) {
		printf("%8s", "");
		term_wrap(stdout, 8, 8, m->desc);
	}
}

static void print_umasks(const struct shower *s, const pfm_event_info_t *e)
{
	struct column_widths c = measure_umasks(s, e);
	pfm_umask_info_t m = PFM_INIT(m);
	const char *group = NULL;
	unsigned i;

	if (e->n_umasks)
		print_heading("Unit masks and qualifiers");
	for (i = 0; i < e->n_umasks &&
	            pfm_describe_umask(s->ctx, e->pmu, e->event, i, &m) == PFMLIB_SUCCESS;
	     i++) {
		if (!group || strcmp(group, m.group) != 0)
			printf("  %s %s(%s)%s\n", m.group, term_colour_begin(stdout, DIM),
			       m.is_combinable ? "any of" : "one of", term_colour_end(stdout));
		group = m.group;
		print_umask(&m, &c);
	}
}

/* Texts for numbers of fields with many bits. */
static size_t add_number(char *to, size_t size, const char *before, uint64_t value,
                         const pfm_modifier_info_t *m)
{
	return (size_t)(m->max > UINT32_MAX && value
	                        ? snprintf(to, size, "%s0x%" PRIx64, before, value)
	                        : snprintf(to, size, "%s%" PRIu64, before, value));
}

/* Prints the modifiers that a text may set, with their ranges and defaults. */
static void print_modifiers(const struct shower *s, const pfm_event_info_t *e)
{
	pfm_modifier_info_t m = PFM_INIT(m);
	char line[TEXT_MAX] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; pfm_describe_modifier(s->ctx, e->pmu, e->event, i, &m) == PFMLIB_SUCCESS &&
	            n < sizeof(line);
	     i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i ? ", " : "", m.name);
		if (n < sizeof(line) && (m.min || m.max > 1))
			n += add_number(line + n, sizeof(line) - n, "=", m.min, &m);
		if (n < sizeof(line) && (m.min || m.max > 1))
			n += add_number(line + n, sizeof(line) - n, "..", m.max, &m);
		if (n < sizeof(line) && m.preset)
			n += add_number(line + n, sizeof(line) - n, " (", m.preset, &m);
		if (n < sizeof(line) && m.preset)
			n += (size_t)snprintf(line + n, sizeof(line) - n, " by default)");
	}
	print_line("modifiers", line);
}

static void print_registers(const struct shower *s, const char *text)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	char counters[COUNTERS_MAX];
	pfm_error_t error = PFM_INIT(error);
	char sentence[TEXT_MAX];
	unsigned i;

	print_heading("Registers");
	if (pfm_encode_event(s->ctx, text, 0, &enc, &error) != PFMLIB_SUCCESS) {
		pfm_explain_error(s->ctx, text, &error, sentence, sizeof(sentence));
		print_line("none", sentence);
		return;
	}
	if (enc.counters)
		print_line("counters", counters_text(enc.counters, counters));
	for (i = 0; i < enc.n_regs; i++)
		print_reg(&enc.regs[i], LABEL);
	if (!enc.attr.expressible)
		return;
	print_label("perf");
	print_attr(stdout, &enc.attr);
	putchar('\n');
}

static void print_spellings(const struct shower *s, const char *text)
{
	char buf[TEXT_MAX];
	size_t i;

	print_heading("Spellings");
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (pfm_print_event(s->ctx, text, dialects[i].dialect, buf, sizeof(buf), NULL) ==
		    PFMLIB_SUCCESS)
			print_line(dialects[i].name, buf);
}

static void print_event(const struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                        const pfm_event_info_t *e)
{
	static const char *const precise[] = { "", "may be", "must be" };
	char counters[COUNTERS_MAX], scale[64];
	size_t i;

	printf("%s%s::%s%s\n", term_colour_begin(stdout, BOLD), pmu->name, e->name,
	       term_colour_end(stdout));
	printf("  ");
	term_wrap(stdout, 2, 2, *e->desc ? e->desc : "(no description)");
	if (*e->detail && strcmp(e->detail, e->desc) != 0) {
		printf("  ");
		term_wrap(stdout, 2, 2, e->detail);
	}
	putchar('\n');
	if (e->flags & PFM_EVENT_DEPRECATED)
		print_line("deprecated", *e->replaced ? e->replaced : "yes");
	for (i = 0; i < sizeof(event_flags) / sizeof(event_flags[0]); i++)
		if (e->flags & event_flags[i].bit & ~(unsigned)PFM_EVENT_DEPRECATED)
			print_line("kind", event_flags[i].text);
	if (e->flags & PFM_EVENT_METRIC)
		show_metric(s->ctx, e->pmu, e->event, print_line);
	else
		print_number("code", e->code);
	if (e->counters)
		print_line("counters", counters_text(e->counters, counters));
	if (e->counters_htoff && e->counters_htoff != e->counters)
		print_line("without HT", counters_text(e->counters_htoff, counters));
	print_fields(s, e, pmu->libpfm_type);
	print_model(s->ctx, pmu->libpfm_type, e, print_line);
	if (e->precise > 0 && e->precise <= 2)
		print_line("precise", precise[e->precise]);
	if (e->period) {
		print_label("period");
		printf("%" PRIu64 "\n", e->period);
	}
	if ((e->scale != 1 || *e->unit) && !(e->flags & PFM_EVENT_METRIC)) {
		snprintf(scale, sizeof(scale), "%.12g %s", e->scale, e->unit);
		print_line("scale", scale);
	}
	print_line("errata", e->errata);
	print_line("note", e->note);
	print_line("origin", pmu->origin);
	print_line("source", pmu->source);
	print_line("sources", source_sentences[e->flags / PFM_EVENT_BY_VENDOR & 7]);
	if (!(e->flags & PFM_EVENT_METRIC))
		print_modifiers(s, e);
	print_umasks(s, e);
	if (!(e->flags & PFM_EVENT_METRIC)) {
		print_registers(s, text);
		print_spellings(s, text);
	}
}

/* ---- an event: JSON -------------------------------------------------------------------------- */

static void json_fields(struct shower *s, const pfm_event_info_t *e)
{
	const char *name, *text;
	struct json *j = &s->out;
	uint64_t value;
	unsigned i;
	int counter;

	put_begin(j, "fields", '[');
	for (i = 0; i < e->n_fields; i++) {
		if (pfm_describe_field(s->ctx, e->pmu, e->event, i, &name, &text, &value,
		                       &counter) != PFMLIB_SUCCESS)
			break;
		put_begin(j, NULL, '{');
		put_text(j, "name", name);
		put_text_if(j, "text", text);
		put_hex(j, "value", value);
		if (counter >= 0)
			put_int(j, "counter", counter);
		put_end(j, '}');
	}
	put_end(j, ']');
}

static void json_umasks(struct shower *s, const pfm_event_info_t *e)
{
	pfm_umask_info_t m = PFM_INIT(m);
	struct json *j = &s->out;
	unsigned i;

	put_begin(j, "umasks", '[');
	for (i = 0; i < e->n_umasks &&
	            pfm_describe_umask(s->ctx, e->pmu, e->event, i, &m) == PFMLIB_SUCCESS;
	     i++) {
		put_begin(j, NULL, '{');
		put_text(j, "group", m.group);
		put_text(j, "name", m.name);
		put_text_if(j, "spelling", m.alias);
		put_hex(j, "value", m.value);
		put_bool(j, "default", m.is_default);
		put_bool(j, "any", m.is_combinable);
		put_text_if(j, "desc", m.desc);
		put_end(j, '}');
	}
	put_end(j, ']');
}

static void json_spellings(struct shower *s, const char *text)
{
	char buf[TEXT_MAX];
	size_t i;

	put_begin(&s->out, "spellings", '{');
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (pfm_print_event(s->ctx, text, dialects[i].dialect, buf, sizeof(buf), NULL) ==
		    PFMLIB_SUCCESS)
			put_text(&s->out, dialects[i].name, buf);
	put_end(&s->out, '}');
}

static void json_sources(struct json *j, unsigned flags)
{
	unsigned bits = flags / PFM_EVENT_BY_VENDOR & 7, i;

	if (!bits)
		return;
	put_begin(j, "sources", '[');
	for (i = 0; i < sizeof(source_names) / sizeof(source_names[0]); i++)
		if (bits >> i & 1)
			put_text(j, NULL, source_names[i]);
	put_end(j, ']');
}

static void json_event(struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                       const pfm_event_info_t *e)
{
	struct json *j = &s->out;
	size_t i;

	put_begin(j, NULL, '{');
	put_text(j, "input", text);
	put_text(j, "pmu", pmu->name);
	put_text(j, "event", e->name);
	put_text(j, "desc", e->desc);
	put_text_if(j, "detail", e->detail);
	put_hex(j, "code", e->code);
	counters_json(j, "counters", e->counters);
	if (e->counters_htoff)
		counters_json(j, "counters_htoff", e->counters_htoff);
	put_begin(j, "flags", '[');
	for (i = 0; i < sizeof(event_flags) / sizeof(event_flags[0]); i++)
		if (e->flags & event_flags[i].bit)
			put_text(j, NULL, event_flags[i].name);
	put_end(j, ']');
	json_sources(j, e->flags);
	put_text_if(j, "replaced", e->replaced);
	put_text_if(j, "errata", e->errata);
	put_text_if(j, "note", e->note);
	if (!(e->flags & PFM_EVENT_METRIC))
		put_text_if(j, "unit", e->unit);
	put_real(j, "scale", e->scale);
	put_int(j, "precise", e->precise);
	if (e->period)
		put_count(j, "period", e->period);
	json_fields(s, e);
	if (e->flags & PFM_EVENT_METRIC)
		show_metric_json(&s->out, s->ctx, e->pmu, e->event);
	json_model(s->ctx, j, pmu->libpfm_type, e);
	json_umasks(s, e);
	json_spellings(s, text);
	put_text(j, "origin", pmu->origin);
	put_text_if(j, "source", pmu->source);
	if (is_generic_fallback(s->ctx, e->pmu))
		put_bool(j, "fallback", true);
	put_end(j, '}');
	put_line(j);
}

/* ---- an event that no list has --------------------------------------------------------------- */

static const char *unlisted_desc(const char *pmu)
{
	if (strcmp(pmu, "tracepoint") == 0)
		return "A tracepoint of the running kernel.";
	if (strcmp(pmu, "breakpoint") == 0)
		return "Accesses to memory at an address.";
	return "Fields that no event of its list has.";
}

static void print_trace_field(void *arg, const struct trace_field *f)
{
	unsigned *n = arg;

	if (!(*n)++)
		print_heading("Fields, for --filter and in samples");
	printf("  %s%-24s%s %s, %u byte%s\n", term_colour_begin(stdout, CYAN), f->name,
	       term_colour_end(stdout), f->type, f->size, f->size == 1 ? "" : "s");
}

static void print_unlisted(const struct shower *s, const char *text, const pfm_pmu_info_t *pmu)
{
	unsigned fields = 0;

	printf("%s%s%s\n  %s\n\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout),
	       unlisted_desc(pmu->name));
	print_line("processor", pmu->name);
	print_line("origin", pmu->origin);
	visit_trace_fields(s->ctx, text, print_trace_field, &fields);
	print_registers(s, text);
	print_spellings(s, text);
}

static void json_trace_field(void *arg, const struct trace_field *f)
{
	struct json *j = arg;

	put_begin(j, NULL, '{');
	put_text(j, "name", f->name);
	put_text(j, "type", f->type);
	put_int(j, "offset", f->offset);
	put_int(j, "size", f->size);
	put_bool(j, "signed", f->is_signed);
	put_end(j, '}');
}

static void json_unlisted(struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                          const pfm_encoding_t *enc)
{
	struct json *j = &s->out;

	put_begin(j, NULL, '{');
	put_text(j, "input", text);
	put_text(j, "pmu", pmu->name);
	put_text(j, "desc", unlisted_desc(pmu->name));
	put_text(j, "origin", pmu->origin);
	counters_json(j, "counters", enc->counters);
	put_begin(j, "fields", '[');
	visit_trace_fields(s->ctx, text, json_trace_field, j);
	put_end(j, ']');
	put_attr(j, "perf", &enc->attr);
	json_spellings(s, text);
	put_end(j, '}');
	put_line(j);
}

/* ---- a group of metrics ---------------------------------------------------------------------- */

struct member_counter {
	struct shower *owner;
	const char *text;
	unsigned n;
};

/* One more of them, the heading before the first one. */
static bool show_member(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct member_counter *m = arg;
	pfm_event_info_t e = PFM_INIT(e);
	pfm_pmu_info_t p = PFM_INIT(p);
	char name[TEXT_MAX];

	if (pfm_describe_event(m->owner->ctx, pmu, event, &e) ||
	    pfm_describe_pmu(m->owner->ctx, pmu, &p))
		return true;
	snprintf(name, sizeof(name), "%s::%s", p.name, info->name);
	if (!m->n++ && m->owner->json) {
		put_begin(&m->owner->out, NULL, '{');
		put_text(&m->owner->out, "input", m->text);
		put_begin(&m->owner->out, "metrics", '[');
	} else if (m->n == 1) {
		printf("%s%s%s\n  A group of metrics; pfm stat -M counts what they need.\n\n",
		       term_colour_begin(stdout, BOLD), m->text, term_colour_end(stdout));
	}
	if (m->owner->json) {
		put_text(&m->owner->out, NULL, name);
		return true;
	}
	printf("  %s%s%s\n    ", term_colour_begin(stdout, CYAN), name, term_colour_end(stdout));
	term_wrap(stdout, 4, 4, *e.desc ? e.desc : "-");
	return true;
}

/* REFUSED if @text is not a group of metrics. */
static int show_group(struct shower *s, const char *text)
{
	struct member_counter m = { s, text, 0 };

	visit_group_metrics(s->ctx, text, show_member, &m);
	if (m.n && s->json) {
		put_end(&s->out, ']');
		put_end(&s->out, '}');
		put_line(&s->out);
	}
	return m.n ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- a processor ----------------------------------------------------------------------------- */

static const char *feature_text(const char *text, uint64_t value, char buf[24])
{
	if (*text)
		return text;
	snprintf(buf, 24, "%" PRIu64, value);
	return buf;
}

/* Long names are many among these, so they have a column of their own. */
static void print_features(const struct shower *s, int pmu)
{
	const char *name, *text;
	uint64_t value;
	size_t column = 0;
	char buf[24];
	unsigned i;

	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++)
		column = strlen(name) > column ? strlen(name) : column;
	if (i)
		print_heading("Features");
	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++) {
		printf("  %s%-*s%s ", term_colour_begin(stdout, DIM), (int)column, name,
		       term_colour_end(stdout));
		term_wrap(stdout, column + 3, column + 3, feature_text(text, value, buf));
	}
}

static void print_pmu(const struct shower *s, int pmu, const pfm_pmu_info_t *p)
{
	char buf[160];

	printf("%s%s%s  %s\n", term_colour_begin(stdout, BOLD), p->name, term_colour_end(stdout),
	       p->desc);
	print_line("also called", p->aliases);
	print_line("origin", p->origin);
	print_line("source", p->source);
	if (p->flags & PFM_PMU_FALLBACK)
		print_line("fallback",
		           p->flags & PFM_PMU_NEAREST
		                   ? "list of the nearest model: this model is unknown"
		                   : "architectural events only: this model is unknown");
	print_line("this machine", p->flags & PFM_PMU_HOST ? "yes" : "no");
	if (p->flags & PFM_PMU_KERNEL) {
		snprintf(buf, sizeof(buf), "%s, type %d", *p->device ? p->device : p->name,
		         p->type);
		print_line("kernel", buf);
	}
	print_line("CPUs", p->cpus);
	if (p->n_instances > 1) {
		snprintf(buf, sizeof(buf), "%u units", p->n_instances);
		print_line("instances", buf);
	}
	snprintf(buf, sizeof(buf), "%u", p->n_events);
	print_line("events", buf);
	if (p->n_counters || p->n_fixed) {
		snprintf(buf, sizeof(buf), "%u general, %u fixed", p->n_counters, p->n_fixed);
		print_line("counters", buf);
	}
	if (p->width) {
		snprintf(buf, sizeof(buf), "%u bits", p->width);
		print_line("width", buf);
	}
	print_features(s, pmu);
}

static void json_pmu(struct shower *s, int pmu, const pfm_pmu_info_t *p)
{
	const char *name, *text;
	struct json *j = &s->out;
	uint64_t value;
	unsigned i;

	put_begin(j, NULL, '{');
	put_text(j, "pmu", p->name);
	put_text(j, "desc", p->desc);
	put_text_if(j, "aka", p->aliases);
	put_text(j, "origin", p->origin);
	put_text_if(j, "source", p->source);
	put_bool(j, "host", p->flags & PFM_PMU_HOST);
	put_bool(j, "kernel", p->flags & PFM_PMU_KERNEL);
	put_bool(j, "uncore", p->flags & PFM_PMU_UNCORE);
	put_bool(j, "fallback", p->flags & PFM_PMU_FALLBACK);
	if (p->flags & PFM_PMU_NEAREST)
		put_bool(j, "nearest", true);
	if (p->type >= 0)
		put_int(j, "type", p->type);
	put_text_if(j, "device", p->device);
	put_text_if(j, "cpus", p->cpus);
	put_int(j, "instances", p->n_instances);
	put_int(j, "events", p->n_events);
	put_int(j, "counters", p->n_counters);
	put_int(j, "fixed", p->n_fixed);
	put_int(j, "width", p->width);
	put_begin(j, "features", '{');
	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++)
		if (*text)
			put_text(j, name, text);
		else
			put_hex(j, name, value);
	put_end(j, '}');
	put_end(j, '}');
	put_line(j);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The event exists; this checks its attributes. The event is shown even if required fields are
 * missing. */
static void check_event_text(const struct shower *s, const char *text, pfm_error_t *error)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	pfm_error_t wrong = PFM_INIT(wrong);

	if (pfm_encode_event(s->ctx, text, 0, &enc, &wrong) == PFMLIB_SUCCESS)
		return;
	switch (wrong.kind) {
	case PFM_KIND_UNKNOWN_QUALIFIER:
	case PFM_KIND_EMPTY_QUALIFIER:
	case PFM_KIND_UNEXPECTED_VALUE:
	case PFM_KIND_BAD_VALUE:
	case PFM_KIND_CONFLICT:
	case PFM_KIND_QUALIFIER_NOT_ALLOWED:
	case PFM_KIND_SYNTAX: *error = wrong; break;
	default: break;
	}
}

static int show_event(struct shower *s, const char *text, const pfm_error_t *error, int pmu,
                      unsigned event)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	pfm_event_info_t e = PFM_INIT(e);

	if (error->code != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(s->ctx, pmu, &info) != PFMLIB_SUCCESS ||
	    pfm_describe_event(s->ctx, pmu, event, &e) != PFMLIB_SUCCESS) {
		if (!s->json) {
			report_refusal(s->ctx, text, error, WANTED_ANY);
			return EXIT_REFUSED;
		}
		put_begin(&s->out, NULL, '{');
		put_text(&s->out, "input", text);
		put_refusal_json(&s->out, s->ctx, text, error, WANTED_ANY);
		put_end(&s->out, '}');
		put_line(&s->out);
		return EXIT_REFUSED;
	}
	if (s->json) {
		json_event(s, text, &info, &e);
	} else {
		print_event(s, text, &info, &e);
		is_generic_fallback(s->ctx, pmu);
	}
	return EXIT_DONE;
}

/* Shows the event that fields or words of the kernel select. Returns REFUSED, with the reason
 * printed, if they select none. */
static int show_unlisted(struct shower *s, const char *text, pfm_error_t *error)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	pfm_pmu_info_t info = PFM_INIT(info);
	pfm_event_info_t e = PFM_INIT(e);

	if (pfm_encode_event(s->ctx, text, 0, &enc, error) != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(s->ctx, enc.pmu, &info) != PFMLIB_SUCCESS)
		return EXIT_REFUSED;
	if (pfm_describe_event(s->ctx, enc.pmu, enc.event, &e) == PFMLIB_SUCCESS) {
		if (s->json)
			json_event(s, text, &info, &e);
		else
			print_event(s, text, &info, &e);
	} else if (s->json) {
		json_unlisted(s, text, &info, &enc);
	} else {
		print_unlisted(s, text, &info);
	}
	return EXIT_DONE;
}

/* The description of the processor that @text names before "::", or --pmu names; "" if neither. */
static void describe_named_pmu(const struct shower *s, const char *text, char *desc, size_t size)
{
	const char *colons = strstr(text, "::");
	pfm_pmu_info_t info = PFM_INIT(info);
	char name[TEXT_MAX];

	snprintf(name, sizeof(name), "%.*s", colons ? (int)(colons - text) : 0, text);
	if (!colons && s->pmu)
		snprintf(name, sizeof(name), "%s", s->pmu);
	*desc = '\0';
	if (!pfm_describe_pmu(s->ctx, pfm_find_pmu(s->ctx, name), &info))
		snprintf(desc, size, "%s", info.desc);
}

/* Shows why the processor lacks a standard metric: an answer, not a failure. False if @error says
 * something else. */
static bool show_missing_metric(struct shower *s, const char *text, const pfm_error_t *error)
{
	static const char begin[] = "cannot be measured: ";
	char sentence[TEXT_MAX], desc[TEXT_MAX];
	const char *reason;

	if (error->kind != PFM_KIND_UNSUPPORTED_ALIAS)
		return false;
	pfm_explain_error(s->ctx, text, error, sentence, sizeof(sentence));
	reason = strstr(sentence, begin);
	if (!reason)
		return false;
	reason += strlen(begin);
	describe_named_pmu(s, text, desc, sizeof(desc));
	if (s->json) {
		put_begin(&s->out, NULL, '{');
		put_text(&s->out, "input", text);
		put_text(&s->out, "desc", desc);
		put_text(&s->out, "unsupported", reason);
		put_end(&s->out, '}');
		put_line(&s->out);
	} else {
		printf("%s\n  cannot be measured on %s: %s\n", text,
		       *desc ? desc : "this processor", reason);
	}
	return true;
}

static int show_name(struct shower *s, const char *text)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	unsigned event = 0;
	int pmu = pfm_find_pmu(s->ctx, text);

	if (pmu < 0 || pfm_describe_pmu(s->ctx, pmu, &info) != PFMLIB_SUCCESS) {
		error.code = pfm_find_event_by_text(s->ctx, text, &pmu, &event, &error);
		if (error.code == PFMLIB_SUCCESS)
			check_event_text(s, text, &error);
		else if (show_missing_metric(s, text, &error) ||
		         show_unlisted(s, text, &error) == EXIT_DONE ||
		         show_group(s, text) == EXIT_DONE)
			return EXIT_DONE;
		return show_event(s, text, &error, pmu, event);
	}
	if (s->json)
		json_pmu(s, pmu, &info);
	else
		print_pmu(s, pmu, &info);
	return EXIT_DONE;
}

static int run_show(struct command_args *args)
{
	struct shower s = { .out = { .out = stdout } };
	const char *value, *pmu = NULL;
	int id, i, status = EXIT_DONE;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: s.json = true; break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "expected an event, a metric or a processor.");
	s.pmu = pmu;
	s.ctx = open_context(pmu);
	if (!s.ctx)
		return EXIT_REFUSED;
	for (i = 0; i < args->n; i++) {
		if (i && !s.json)
			putchar('\n');
		if (show_name(&s, args->operands[i]) != EXIT_DONE)
			status = EXIT_REFUSED;
	}
	pfm_close_context(s.ctx);
	return status;
}

const struct command cmd_show = {
	.name = "show",
	.usage = "[--pmu NAME] [--json] EVENT | PMU...",
	.summary = "describe an event, a metric or a processor in full",
	.about = "For an event: what it counts, its code, its unit masks and modifiers, the "
		 "counters that can count it, filters, errata, its replacement if it is "
		 "deprecated, its registers, and its spelling in each dialect. Modifiers that you "
		 "append are taken into account.\n"
		 "For a tracepoint: its fields. For a raw event: the named event with the same "
		 "code, if there is one.\n"
		 "For a metric: its formula, the threshold above which its value needs attention, "
		 "its events with their counters, the number of groups that count them, and the "
		 "event to sample where it is high. For a group of metrics: its members.\n"
		 "For a processor: its counters and their width, its capabilities, and the source "
		 "of its table.",
	.examples = "An event with all its modifiers\n"
		    "pfm show spr::MEM_LOAD_RETIRED.L3_MISS\n"
		    "The spelling of an event with modifiers in each dialect\n"
		    "pfm show coreduo::L2_Rqsts,core=all,cachestate=mi,usr\n"
		    "An Itanium 2 event: group, set, filters, event address register\n"
		    "pfm show montecito::DATA_EAR_CACHE_LAT4\n"
		    "A metric: its events, and in how many groups they are counted\n"
		    "pfm show skl::Frontend_Bound\n"
		    "The name of a raw event\n"
		    "pfm show coreduo::r412e\n"
		    "A processor and its capabilities\n"
		    "pfm show amdzen4\n",
	.options = options,
	.run = run_show
};
