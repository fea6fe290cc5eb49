/* SPDX-License-Identifier: MIT */
/* Messages of every command: contexts that cannot be opened, refusals, sets of counters, names of
 * registers; and lines in. */
#include "common/pfm.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SUGGESTIONS = 5, MAX_SIMILAR_NAMES = 8, SENTENCE_MAX = 1024 };

int report_no_memory(void)
{
	fputs("pfm: out of memory\n", stderr);
	return EXIT_REFUSED;
}

/* ---- contexts and refusals ------------------------------------------------------------------- */

/* The processor of names without one, as the user gave it; NULL for this machine's. */
static const char *chosen;

static void report_unknown_pmu(const char *pmu, const pfm_error_t *error)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx;

	if (pmu && !*pmu) {
		fputs("pfm: expected the name of a processor, got an empty one; 'pfm list --pmus' "
		      "lists them\n",
		      stderr);
		return;
	}

	if (pfm_open_context(&ctx, &options, NULL) != PFMLIB_SUCCESS)
		ctx = NULL;
	report_refusal(ctx, pmu, error, WANTED_ANY);
	pfm_close_context(ctx);
}

/* Opens a context. With @load, also reads this machine's PMUs. */
static pfm_ctx_t *open_checked_context(const char *pmu, bool load)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	const char *sysfs = getenv("PERFMON_SYSFS");
	struct stat place;
	pfm_ctx_t *ctx;

	if (sysfs && *sysfs && (stat(sysfs, &place) || !S_ISDIR(place.st_mode)))
		fprintf(stderr, "pfm: note: PERFMON_SYSFS: expected a folder, got %s\n", sysfs);
	options.pmu = pmu;
	chosen = pmu ? pmu : getenv("PERFMON_PMU");
	if (pfm_open_context(&ctx, &options, &error) == PFMLIB_SUCCESS) {
		int n = load ? pfm_count_pmus(ctx) : 0;

		if (n >= 0 && (!pmu || pfm_find_pmu(ctx, pmu) >= 0))
			return ctx;
		pfm_close_context(ctx);
		if (n < 0)
			report_culprit(&error, n, PFM_KIND_SYSTEM, 0, 0, NULL);
		else
			report_culprit(&error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0,
			               strlen(pmu), NULL);
	}
	/* Settings without an option come from the environment. */
	if (error.kind == PFM_KIND_UNKNOWN_PMU && !pmu) {
		fputs("pfm: PERFMON_PMU is set:\n", stderr);
		report_refusal(NULL, getenv("PERFMON_PMU"), &error, WANTED_ANY);
	} else if (error.kind == PFM_KIND_UNKNOWN_PMU) {
		report_unknown_pmu(pmu, &error);
	} else {
		report_refusal(NULL, error.kind == PFM_KIND_IMAGE ? getenv("PERFMON_EVENTS") : NULL,
		               &error, WANTED_ANY);
	}
	return NULL;
}

pfm_ctx_t *open_context(const char *pmu)
{
	return open_checked_context(pmu, true);
}

pfm_ctx_t *open_unloaded_context(const char *pmu)
{
	return open_checked_context(pmu, false);
}

bool report_generic_fallback(const pfm_ctx_t *ctx, int pmu)
{
	static bool said;
	perfmon_pmu_info_t info = PFM_INIT(info);

	if (pfm_describe_pmu(ctx, pmu, &info) != PFMLIB_SUCCESS ||
	    !(info.flags & PFM_PMU_FALLBACK) || pfm_find_fallback_pmu(ctx) != pmu)
		return false;
	if (!said)
		fprintf(stderr,
		        "pfm: note: no list of this machine's processor is loaded; %s %s. 'pfm "
		        "import' loads vendors' lists.\n",
		        info.name,
		        info.flags & PFM_PMU_NEAREST
		                ? "is the list of the nearest model, whose events can differ"
		                : "holds the events common to its family");
	said = true;
	return true;
}

void report_culprit(pfm_error_t *error, int code, pfm_error_kind_t kind, size_t start, size_t end,
                    const char *detail)
{
	*error = (pfm_error_t)PFM_INIT(*error);
	error->code = code;
	error->kind = kind;
	error->start = (uint32_t)start;
	error->end = (uint32_t)end;
	error->event = -1;
	error->detail = detail;
}

/* Each publisher once. */
static void report_newer_list(unsigned set)
{
	static unsigned said;

	for (unsigned i = 0; newer_list_commands(set & ~said, i); i++)
		fprintf(stderr, "  a newer list may have it: %s\n",
		        newer_list_commands(set & ~said, i));
	said |= set;
}

/* More names than are suggested can begin with the word that is refused: the command that lists all
 * of them. Without a PMU in the text it is not known whose names they are. */
static void suggest_list_command(const char *text, const pfm_error_t *error,
                                 char names[MAX_SUGGESTIONS][96], size_t n)
{
	const char *word = text + error->start;
	int len = (int)(error->end - error->start), pmu_len = (int)error->start - 2;

	if (n < MAX_SUGGESTIONS || len <= 0 || pmu_len <= 0 || strncmp(word - 2, "::", 2) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(names[i], word, (size_t)len) != 0 || names[i][len] != '.')
			return;
	fprintf(stderr, "  all of them: pfm list --pmu %.*s '^%.*s[.]'\n", pmu_len, text, len,
	        word);
}

/* Is @name, which is suggested for @text, a metric? */
static bool is_metric_name(const pfm_ctx_t *ctx, const char *text, const char *name)
{
	const char *colons = strstr(name, "::") ? NULL : strstr(text, "::");
	perfmon_event_info_t info = PFM_INIT(info);
	char whole[192];
	unsigned event;
	int pmu;

	snprintf(whole, sizeof(whole), "%.*s%s", (int)(colons ? colons + 2 - text : 0), text, name);
	return !pfm_find_event_by_text(ctx, whole, &pmu, &event, NULL) &&
	       !pfm_describe_event(ctx, pmu, event, &info) && info.flags & PFM_EVENT_METRIC;
}

/* Lists names that are similar to the culprit in @text; where @wanted is WANTED_EVENT, metrics only
 * if no event is similar or @text is a question in several words. Returns how many. */
static size_t list_similar_names(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                                 enum wanted_name wanted, char names[MAX_SUGGESTIONS][96])
{
	char all[MAX_SIMILAR_NAMES][96];
	size_t n_all = text ? pfm_suggest_names(ctx, text, error, all, MAX_SIMILAR_NAMES) : 0;
	size_t n = 0;

	for (size_t i = 0; i < n_all && n < MAX_SUGGESTIONS; i++)
		if (wanted != WANTED_EVENT || strchr(text, ' ') ||
		    !is_metric_name(ctx, text, all[i]))
			memcpy(names[n++], all[i], sizeof(all[i]));
	if (n_all && !n) {
		n = n_all < MAX_SUGGESTIONS ? n_all : MAX_SUGGESTIONS;
		memcpy(names, all, n * sizeof(all[0]));
	}
	return n;
}

void report_refusal(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error,
                    enum wanted_name wanted)
{
	char sentence[SENTENCE_MAX], names[MAX_SUGGESTIONS][96];
	const char *title = "  did you mean ";
	size_t n = 0, i;

	pfm_explain_error(ctx, text, error, sentence, sizeof(sentence));
	fprintf(stderr, "pfm: %s%s%s\n", term_colour_begin(stderr, BOLD), sentence,
	        term_colour_end(stderr));
	if (!text)
		return;
	/* A range of the whole text, or none, points at nothing that the sentence does not say. */
	if (error->end > error->start || error->start > 0)
		term_mark_error(stderr, text, error->start, error->end);
	n = list_similar_names(ctx, text, error, wanted, names);
	for (i = 0; wanted == WANTED_EVENT && i < n && is_metric_name(ctx, text, names[i]); i++)
		;
	if (n && i == n)
		title = "  for 'pfm metric' or 'pfm stat -M', did you mean ";
	for (i = 0; i < n; i++)
		fprintf(stderr, "%s%s", i == 0 ? title : i + 1 < n ? ", " : " or ", names[i]);
	if (n)
		fputs("?\n", stderr);
	suggest_list_command(text, error, names, n);
	report_newer_list(find_newer_lists(ctx, text, error, chosen, names, n));
}

void put_refusal_json(struct json *j, const pfm_ctx_t *ctx, const char *text,
                      const pfm_error_t *error, enum wanted_name wanted)
{
	char sentence[SENTENCE_MAX], names[MAX_SUGGESTIONS][96];
	unsigned newer;
	size_t n, i;

	pfm_explain_error(ctx, text, error, sentence, sizeof(sentence));
	n = list_similar_names(ctx, text, error, wanted, names);
	put_begin(j, "error", '{');
	put_int(j, "code", error->code);
	put_text(j, "kind", pfm_error_kind_name(error->kind));
	put_begin(j, "at", '[');
	put_int(j, NULL, error->start);
	put_int(j, NULL, error->end);
	put_end(j, ']');
	put_text(j, "message", sentence);
	put_begin(j, "suggest", '[');
	for (i = 0; i < n; i++)
		put_text(j, NULL, names[i]);
	put_end(j, ']');
	newer = find_newer_lists(ctx, text, error, chosen, names, n);
	if (newer) {
		put_begin(j, "newer", '[');
		for (unsigned k = 0; newer_list_commands(newer, k); k++)
			put_text(j, NULL, newer_list_commands(newer, k));
		put_end(j, ']');
	}
	put_end(j, '}');
}

void refuse_input(struct json *json, const pfm_ctx_t *ctx, const char *text,
                  const pfm_error_t *error, enum wanted_name wanted)
{
	if (!json) {
		report_refusal(ctx, text, error, wanted);
		return;
	}
	put_begin(json, NULL, '{');
	if (text)
		put_text(json, "input", text);
	put_refusal_json(json, ctx, text, error, wanted);
	put_end(json, '}');
	put_line(json);
}

/* ---- counters and registers ------------------------------------------------------------------ */

/* Runs of bits of @set as "0-3,5", each number after @prefix. */
static size_t print_bit_runs(char *buf, size_t at, uint32_t set, const char *prefix)
{
	unsigned i, last;

	for (i = 0; i < 32; i = last + 1) {
		last = i;
		if (!(set >> i & 1))
			continue;
		while (last < 31 && set >> (last + 1) & 1)
			last++;
		at += (size_t)snprintf(buf + at, COUNTERS_MAX - at, "%s%s%u", at ? "," : "", prefix,
		                       i);
		if (last > i)
			at += (size_t)snprintf(buf + at, COUNTERS_MAX - at, "-%s%u", prefix, last);
	}
	return at;
}

/* One counter at @s, "3" or "F1"; what is after it, or NULL if missing. */
static const char *read_counter(const char *s, unsigned long *bit)
{
	bool fixed = *s == 'F' || *s == 'f';
	char *end;

	s += fixed;
	if (*s < '0' || *s > '9')
		return NULL;
	*bit = strtoul(s, &end, 10);
	if (*bit > 31)
		return NULL;
	*bit += fixed ? 32 : 0;
	return end;
}

bool read_counters(const char *text, uint64_t *out)
{
	unsigned long first = 0, last;

	for (;; text++) {
		text = read_counter(text, &first);
		last = first;
		if (text && *text == '-')
			text = read_counter(text + 1, &last);
		if (!text || last < first || first / 32 != last / 32 || (*text && *text != ','))
			return false;
		for (; first <= last; first++)
			*out |= (uint64_t)1 << first;
		if (!*text)
			return true;
	}
}

char *format_counters(uint64_t counters, char buf[COUNTERS_MAX])
{
	size_t at = print_bit_runs(buf, 0, (uint32_t)counters, "");

	at = print_bit_runs(buf, at, (uint32_t)(counters >> 32), "F");
	if (at == 0)
		snprintf(buf, COUNTERS_MAX, "none");
	return buf;
}

char *format_counter(int counter, char buf[16])
{
	if (counter < 0)
		snprintf(buf, 16, "-");
	else
		snprintf(buf, 16, "%s%d", counter < 32 ? "" : "F", counter % 32);
	return buf;
}

void put_counter_numbers(struct json *j, const char *key, uint64_t counters)
{
	char name[16];
	int i;

	put_begin(j, key, '[');
	for (i = 0; i < 32; i++)
		if (counters >> i & 1)
			put_int(j, NULL, i);
	for (i = 32; i < 64; i++)
		if (counters >> i & 1)
			put_text(j, NULL, format_counter(i, name));
	put_end(j, ']');
}

/* Yes or no settings of a perfmon_attr_t, by the names perf_event_open(2) gives them. */
static const struct {
	const char *name;
	size_t at;
} attr_flags[] = {
	{ "exclude_user", offsetof(perfmon_attr_t, exclude_user) },
	{ "exclude_kernel", offsetof(perfmon_attr_t, exclude_kernel) },
	{ "exclude_hv", offsetof(perfmon_attr_t, exclude_hv) },
	{ "exclude_idle", offsetof(perfmon_attr_t, exclude_idle) },
	{ "exclude_host", offsetof(perfmon_attr_t, exclude_host) },
	{ "exclude_guest", offsetof(perfmon_attr_t, exclude_guest) },
	{ "pinned", offsetof(perfmon_attr_t, pinned) },
};
enum { ALWAYS_REPORTED = 2 }; /* so many of them are in JSON also when they are 0 */

static bool get_attr_flag(const perfmon_attr_t *attr, size_t i)
{
	return ((const uint8_t *)attr)[attr_flags[i].at] != 0;
}

/* Names of the words in perf_event_attr. A breakpoint's are in fields of their own: config stays
 * 0. */
static const char *const *choose_word_names(const perfmon_attr_t *a)
{
	static const char *const usual[] = { "config", "config1", "config2", "config3", "config4" };
	static const char *const breakpoint[] = { "bp_type", "bp_addr", "bp_len", "config3",
		                                  "config4" };

	return a->type_known && a->type == PERF_TYPE_BREAKPOINT ? breakpoint : usual;
}

void print_attr(FILE *out, const perfmon_attr_t *a)
{
	const uint64_t words[] = { a->config, a->config1, a->config2, a->config3, a->config4 };
	const char *const *names = choose_word_names(a);
	size_t i;

	if (a->type_known)
		fprintf(out, "type=%" PRIu32 " ", a->type);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (i == 0 || words[i])
			fprintf(out, "%s%s=0x%" PRIx64, i ? " " : "", names[i], words[i]);
	if (a->precise)
		fprintf(out, " precise_ip=%u", a->precise);
	for (i = 0; i < sizeof(attr_flags) / sizeof(attr_flags[0]); i++)
		if (get_attr_flag(a, i))
			fprintf(out, " %s", attr_flags[i].name);
}

void put_attr(struct json *j, const char *key, const perfmon_attr_t *a)
{
	const uint64_t words[] = { a->config, a->config1, a->config2, a->config3, a->config4 };
	const char *const *names = choose_word_names(a);
	size_t i;

	if (!a->expressible) {
		put_null(j, key);
		return;
	}
	put_begin(j, key, '{');
	if (a->type_known)
		put_int(j, "type", a->type);
	else
		put_null(j, "type");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (i < 3 || words[i])
			put_hex(j, names[i], words[i]);
	if (a->precise)
		put_int(j, "precise_ip", a->precise);
	for (i = 0; i < sizeof(attr_flags) / sizeof(attr_flags[0]); i++)
		if (i < ALWAYS_REPORTED || get_attr_flag(a, i))
			put_int(j, attr_flags[i].name, get_attr_flag(a, i));
	put_end(j, '}');
}

void print_reg(const pfm_reg_t *reg, int column)
{
	bool has_address = reg->kind != PFM_REG_CONFIG && reg->addr != reg->num;
	bool is_msr = reg->kind == PFM_REG_EXTRA || reg->kind == PFM_REG_GLOBAL_CTRL;

	printf("  %-*s 0x%016" PRIx64, column, reg->name, reg->value);
	if (has_address || is_msr)
		printf("  at 0x%" PRIx64, reg->addr);
	putchar('\n');
}
