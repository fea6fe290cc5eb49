/* SPDX-License-Identifier: MIT */
/* pfm show: an event, as text and as JSON. */
#include "check_events/known.h"
#include "common/errata.h"
#include "common/pfm.h"
#include "common/metric.h"
#include "show/show.h"

#include <inttypes.h>
#include <string.h>

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

/* Names of the sources that confirm a row, by bit of PFM_EVENT_BY_*. */
static const char *const source_names[] = { "vendor", "linux", "libpfm4" };
static const char *const source_sentences[] = { "",
	                                        "only the vendor's list",
	                                        "only Linux's list",
	                                        "the vendor's list and Linux's agree",
	                                        "libpfm4 alone",
	                                        "the vendor's list and libpfm4 agree",
	                                        "Linux's list and libpfm4 agree",
	                                        "the vendor's list, Linux's and libpfm4 agree" };

/* Labels of fields. A field shown elsewhere has the label NULL. */
static const struct {
	const char *name, *label;
} field_labels[] = {
	{ "code", NULL },
	{ "errata", NULL },
	{ "errata_class", NULL },
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
	{ "source", NULL }, /* shown with the sources */
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
	{ "alt", NULL },
};

/* ---- an event: text -------------------------------------------------------------------------- */

static const char *get_field_label(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(field_labels) / sizeof(field_labels[0]); i++)
		if (strcmp(field_labels[i].name, name) == 0)
			return field_labels[i].label;
	return name;
}

static void print_fields(const struct shower *s, const perfmon_event_info_t *e, int type)
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
		label = get_field_label(name);
		if (!label || model_has_field(type, name) || strcmp(text, "#NA") == 0)
			continue;
		if (counter >= 0)
			snprintf(shown, sizeof(shown), "%s, counter %s", label,
			         format_counter(counter, where));
		else
			snprintf(shown, sizeof(shown), "%s", label);
		if (*text)
			show_line(shown, text);
		else if (strcmp(name, "max") == 0 || strcmp(name, "ear_latency") == 0) {
			show_label(shown);
			printf("%" PRIu64 " %s\n", value,
			       *name == 'm' ? "a cycle" : "cycles or more");
		} else
			show_number(shown, value);
	}
}

/* Widths of the columns of unit masks. */
struct column_widths {
	int name, spelling, value;
};

static int widen_column(int width, size_t than)
{
	return (size_t)width < than ? (int)than : width;
}

static struct column_widths measure_umasks(const struct shower *s, const perfmon_event_info_t *e)
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

/* Prints name, alias, value and default mark of a unit mask, then its description, on the next line
 * if there is little room. */
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

static void print_umasks(const struct shower *s, const perfmon_event_info_t *e)
{
	struct column_widths c = measure_umasks(s, e);
	pfm_umask_info_t m = PFM_INIT(m);
	const char *group = NULL;
	unsigned i;

	if (e->n_umasks)
		show_heading("Unit masks and qualifiers");
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

/* Appends @before and a number; hexadecimal for large ones. */
static size_t add_number(char *to, size_t size, const char *before, uint64_t value,
                         const pfm_modifier_info_t *m)
{
	return (size_t)(m->max > UINT32_MAX && value
	                        ? snprintf(to, size, "%s0x%" PRIx64, before, value)
	                        : snprintf(to, size, "%s%" PRIu64, before, value));
}

/* Prints the modifiers that a text may set, with their ranges and defaults. */
static void print_modifiers(const struct shower *s, const perfmon_event_info_t *e)
{
	pfm_modifier_info_t m = PFM_INIT(m);
	char line[SHOW_TEXT_SIZE] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; pfm_describe_modifier(s->ctx, e->pmu, e->event, i, &m) == PFMLIB_SUCCESS &&
	            n < sizeof(line);
	     i++) {
		if (!m.max) /* no other value is possible for this event */
			continue;
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", n ? ", " : "", m.name);
		if (n < sizeof(line) && (m.min || m.max > 1))
			n += add_number(line + n, sizeof(line) - n, "=", m.min, &m);
		if (n < sizeof(line) && (m.min || m.max > 1))
			n += add_number(line + n, sizeof(line) - n, "..", m.max, &m);
		if (n < sizeof(line) && m.preset)
			n += add_number(line + n, sizeof(line) - n, " (", m.preset, &m);
		if (n < sizeof(line) && m.preset)
			n += (size_t)snprintf(line + n, sizeof(line) - n, " by default)");
	}
	show_line("modifiers", line);
}

/* Says what becomes of events of a set that need other values in the event's extra register. */
static void print_shared_register(const pfm_encoding_t *enc)
{
	unsigned i = 0;

	while (i < enc->n_regs && enc->regs[i].kind != PFM_REG_EXTRA)
		i++;
	if (i == enc->n_regs)
		return;
	show_label("shared");
	printf("%s (0x%" PRIx64 ") has one value at a time", enc->regs[i].name, enc->regs[i].addr);
	for (i = 0; i < enc->n_alternatives; i++)
		printf("%s MSR 0x%" PRIx64, i ? "," : "; another value of a set takes",
		       enc->alternatives[i].msr);
	putchar('\n');
}

void print_registers(const struct shower *s, const char *text)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	char counters[COUNTERS_MAX];
	pfm_error_t error = PFM_INIT(error);
	char sentence[SHOW_TEXT_SIZE];
	unsigned i;

	show_heading("Registers");
	if (pfm_encode_event(s->ctx, text, 0, &enc, &error) != PFMLIB_SUCCESS) {
		pfm_explain_error(s->ctx, text, &error, sentence, sizeof(sentence));
		show_line("none", sentence);
		return;
	}
	if (enc.counters)
		show_line("counters", format_counters(enc.counters, counters));
	for (i = 0; i < enc.n_regs; i++)
		print_reg(&enc.regs[i], SHOW_LABEL_WIDTH);
	print_shared_register(&enc);
	if (!enc.attr.expressible)
		return;
	show_label("perf");
	print_attr(stdout, &enc.attr);
	putchar('\n');
}

void print_spellings(const struct shower *s, const char *text)
{
	char buf[SHOW_TEXT_SIZE];
	size_t i;

	show_heading("Spellings");
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (pfm_print_event(s->ctx, text, dialects[i].dialect, buf, sizeof(buf), NULL) ==
		    PFMLIB_SUCCESS)
			show_line(dialects[i].name, buf);
}

/* Prints the name and the descriptions. */
static void print_event_title(const perfmon_pmu_info_t *pmu, const perfmon_event_info_t *e)
{
	printf("%s%s::%s%s\n", term_colour_begin(stdout, BOLD), pmu->name, e->name,
	       term_colour_end(stdout));
	printf("  ");
	term_wrap(stdout, 2, 2, *e->desc ? e->desc : "(no description)");
	if (*e->detail && strcmp(e->detail, e->desc) != 0) {
		printf("  ");
		term_wrap(stdout, 2, 2, e->detail);
	}
	putchar('\n');
}

/* Shows what kind of event it is, its code and its counters. */
static void show_event_code(const struct shower *s, const perfmon_event_info_t *e)
{
	char counters[COUNTERS_MAX];
	size_t i;

	if (e->flags & PFM_EVENT_DEPRECATED)
		show_line("deprecated", *e->replaced ? e->replaced : "yes");
	for (i = 0; i < sizeof(event_flags) / sizeof(event_flags[0]); i++)
		if (e->flags & event_flags[i].bit & ~(unsigned)PFM_EVENT_DEPRECATED)
			show_line("kind", event_flags[i].text);
	if (pfm_is_event_implemented(s->ctx, e->pmu, e->event) == 0)
		show_line("here", "not supported: this CPU does not implement it");
	if (e->flags & PFM_EVENT_METRIC)
		show_metric(s->ctx, e->pmu, e->event, show_line);
	else
		show_number("code", e->code);
	if (e->counters)
		show_line("counters", format_counters(e->counters, counters));
	if (e->counters_htoff && e->counters_htoff != e->counters)
		show_line("without HT", format_counters(e->counters_htoff, counters));
}

/* Shows what reading its counts requires. */
static void show_event_use(const struct shower *s, const perfmon_pmu_info_t *pmu,
                           const perfmon_event_info_t *e)
{
	static const char *const precise[] = { "", "may be", "must be" };
	char scale[64];

	if (e->precise > 0 && e->precise <= 2)
		show_line("precise", precise[e->precise]);
	if (e->period) {
		show_label("period");
		printf("%" PRIu64 "\n", e->period);
	}
	if ((e->scale != 1 || *e->unit) && !(e->flags & PFM_EVENT_METRIC)) {
		snprintf(scale, sizeof(scale), "%.12g %s", e->scale, e->unit);
		show_line("scale", scale);
	}
	if (!show_event_errata(s, pmu, e))
		show_line("errata", e->errata);
	show_line("note", e->note);
}

/* Shows on which machines the event was compared with known counts. */
static void show_checks(const struct shower *s, const perfmon_pmu_info_t *pmu,
                        const perfmon_event_info_t *e)
{
	char buf[KNOWN_TEXT_MAX];

	for (unsigned i = 0; describe_known_check(known_checks, pmu->name, e->name, i, buf); i++)
		show_line("checked", buf);
	if (!is_checked_on_hardware(known_checks, pmu->name, e->name) &&
	    is_checkable(s->ctx, e->pmu, e->event))
		show_line("checked", "never on hardware");
}

/* Shows the rules that can hold for event @text. */
static void show_text_rules(const struct shower *s, const char *text)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	char buf[RULE_TEXT_MAX];

	for (unsigned i = 0; !pfm_describe_rule_by_text(s->ctx, text, i, &rule, NULL); i++) {
		if (i == 0)
			show_heading("Rules");
		printf("  %s%s%s: ", term_colour_begin(stdout, CYAN), rule.name,
		       term_colour_end(stdout));
		term_wrap(stdout, strlen(rule.name) + 4, 4, format_rule(&rule, buf));
	}
}

/* The list that has the event: that of its row, otherwise that of its table, unless libpfm4 alone
 * has the event. */
static const char *get_event_source(const struct shower *s, const perfmon_pmu_info_t *pmu,
                                    const perfmon_event_info_t *e)
{
	const unsigned by =
		e->flags & (PFM_EVENT_BY_VENDOR | PFM_EVENT_BY_LINUX | PFM_EVENT_BY_LIBPFM4);
	const char *name, *text;
	uint64_t value;
	int counter;

	for (unsigned i = 0; pfm_describe_field(s->ctx, e->pmu, e->event, i, &name, &text, &value,
	                                        &counter) == PFMLIB_SUCCESS;
	     i++)
		if (strcmp(name, "source") == 0 && *text)
			return text;
	return by == PFM_EVENT_BY_LIBPFM4 ? "" : pmu->source;
}

void show_event_as_text(const struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                        const perfmon_event_info_t *e)
{
	print_event_title(pmu, e);
	show_event_code(s, e);
	print_fields(s, e, pmu->libpfm_type);
	print_model_lines(s->ctx, pmu->libpfm_type, e, show_line);
	show_event_use(s, pmu, e);
	show_checks(s, pmu, e);
	show_line("origin", pmu->origin);
	show_line("source", get_event_source(s, pmu, e));
	show_line("sources", source_sentences[e->flags / PFM_EVENT_BY_VENDOR & 7]);
	if (!(e->flags & PFM_EVENT_METRIC))
		print_modifiers(s, e);
	print_umasks(s, e);
	if (!(e->flags & PFM_EVENT_METRIC)) {
		show_text_rules(s, text);
		print_registers(s, text);
		print_spellings(s, text);
	}
}

/* ---- an event: JSON -------------------------------------------------------------------------- */

static void put_fields(struct shower *s, const perfmon_event_info_t *e)
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

static void put_umasks(struct shower *s, const perfmon_event_info_t *e)
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

void put_spellings(struct shower *s, const char *text)
{
	char buf[SHOW_TEXT_SIZE];
	size_t i;

	put_begin(&s->out, "spellings", '{');
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (pfm_print_event(s->ctx, text, dialects[i].dialect, buf, sizeof(buf), NULL) ==
		    PFMLIB_SUCCESS)
			put_text(&s->out, dialects[i].name, buf);
	put_end(&s->out, '}');
}

static void put_sources(struct json *j, unsigned flags)
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

static void put_checks(struct json *j, const perfmon_pmu_info_t *pmu, const perfmon_event_info_t *e)
{
	char buf[KNOWN_TEXT_MAX];

	for (unsigned i = 0; describe_known_check(known_checks, pmu->name, e->name, i, buf); i++) {
		if (i == 0)
			put_begin(j, "checked", '[');
		put_text(j, NULL, buf);
	}
	if (describe_known_check(known_checks, pmu->name, e->name, 0, buf))
		put_end(j, ']');
}

void show_event_as_json(struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                        const perfmon_event_info_t *e)
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
	put_counter_numbers(j, "counters", e->counters);
	if (e->counters_htoff)
		put_counter_numbers(j, "counters_htoff", e->counters_htoff);
	put_begin(j, "flags", '[');
	for (i = 0; i < sizeof(event_flags) / sizeof(event_flags[0]); i++)
		if (e->flags & event_flags[i].bit)
			put_text(j, NULL, event_flags[i].name);
	if (pfm_is_event_implemented(s->ctx, e->pmu, e->event) == 0)
		put_text(j, NULL, "not_implemented");
	put_end(j, ']');
	put_sources(j, e->flags);
	put_text_if(j, "replaced", e->replaced);
	put_text_if(j, "errata", e->errata);
	put_event_errata(j, s->ctx, e->pmu, e->event);
	put_text_if(j, "note", e->note);
	put_checks(j, pmu, e);
	if (!(e->flags & PFM_EVENT_METRIC))
		put_text_if(j, "unit", e->unit);
	put_real(j, "scale", e->scale);
	put_int(j, "precise", e->precise);
	if (e->period)
		put_count(j, "period", e->period);
	put_fields(s, e);
	if (e->flags & PFM_EVENT_METRIC)
		show_metric_json(&s->out, s->ctx, e->pmu, e->event);
	put_model(s->ctx, j, pmu->libpfm_type, e);
	put_umasks(s, e);
	if (!(e->flags & PFM_EVENT_METRIC))
		put_text_rules(j, s->ctx, text, false);
	put_spellings(s, text);
	put_text(j, "origin", pmu->origin);
	put_text_if(j, "source", get_event_source(s, pmu, e));
	if (report_generic_fallback(s->ctx, e->pmu))
		put_bool(j, "fallback", true);
	put_end(j, '}');
	put_line(j);
}
