/* SPDX-License-Identifier: MIT */
#include "pretend/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "pretend/generic.h"
#include "pretend/recorded.h"
#include "pretend/tree.h"

enum { N_WORDS = 4 };

/* ---- formats --------------------------------------------------------------------------------- */

/* The kernel's name of a field of a register. */
static const char *get_kernel_field(const char *field)
{
	return strcmp(field, "code") == 0 ? "event" : field;
}

static void name_word(unsigned word, char name[16])
{
	snprintf(name, 16, word ? "config%u" : "config", word);
}

/* Adds bit @bit of word @word to the ranges in @text, such as "config:0-7,32". */
static void add_bit(char text[256], const char *word, unsigned bit)
{
	size_t len = strlen(text);
	char *last = strrchr(text, ',') ? strrchr(text, ',') + 1 : strchr(text, ':');
	unsigned first = 0, end = 0;
	int n;

	if (!len) {
		snprintf(text, 256, "%s:%u", word, bit);
		return;
	}
	last += *last == ':';
	n = sscanf(last, "%u-%u", &first, &end);
	if ((n == 2 ? end : first) + 1 == bit)
		snprintf(last, 256 - (size_t)(last - text), "%u-%u", first, bit);
	else
		snprintf(text + len, 256 - len, ",%u", bit);
}

/* The value of field @name in register @word with the value @value; 0 if it has none. */
static uint64_t get_field(const struct pretend_machine *m, int pmu, const char *word,
                          uint64_t value, const char *name)
{
	const char *found, *text;
	uint64_t field;

	for (unsigned i = 0; !pfm_decode_field(m->ctx, pmu, word, value, i, &found, &field, &text);
	     i++)
		if (strcmp(found, name) == 0)
			return field;
	return 0;
}

/* Finds the bits of a field by decoding words that have one bit set. */
static void describe_format(const struct pretend_machine *m, int pmu, unsigned word,
                            const char *name, char text[256])
{
	char reg[16];

	text[0] = '\0';
	name_word(word, reg);
	for (unsigned bit = 0; bit < 64; bit++)
		if (get_field(m, pmu, reg, (uint64_t)1 << bit, name))
			add_bit(text, reg, bit);
}

static void put_formats(struct tree *t, const struct pretend_machine *m,
                        const struct pretend_pmu *pmu)
{
	char folder[128], format[256], reg[16];
	const char *name, *text;
	uint64_t field;

	snprintf(folder, sizeof(folder), "devices/%s/format", pmu->device);
	for (unsigned word = 0; word < N_WORDS; word++) {
		name_word(word, reg);
		for (unsigned i = 0;
		     !pfm_decode_field(m->ctx, pmu->pmu, reg, 0, i, &name, &field, &text); i++) {
			describe_format(m, pmu->pmu, word, name, format);
			if (*format)
				put_file(t, folder, get_kernel_field(name), format);
		}
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

bool resolve_generic(const struct pretend_machine *m, const struct model *model,
                     const struct pretend_pmu *pmu, const char *name, char text[256],
                     pfm_encoding_t *encoding)
{
	perfmon_pmu_info_t p = PFM_INIT(p);

	if (pfm_describe_pmu(m->ctx, pmu->pmu, &p))
		return false;
	for (size_t i = 0; i < model->n_generics; i++) {
		const char *at = model->generics[i].events;

		for (; strcmp(model->generics[i].name, name) == 0 && *at; at += *at == '|') {
			size_t len;

			at += strspn(at, " \t");
			len = strcspn(at, " \t|");
			snprintf(text, 256, "%s::%.*s", p.name, (int)len, at);
			*encoding = (pfm_encoding_t)PFM_INIT(*encoding);
			if (!pfm_encode_event(m->ctx, text, 0, encoding, NULL))
				return true;
			at += strcspn(at, "|");
		}
	}
	return false;
}

/* Writes the fields of @attr that are not 0: "event=0x3c,umask=0x1". */
static void format_terms(const struct pretend_machine *m, int pmu, const perfmon_attr_t *attr,
                         char out[256])
{
	const uint64_t words[N_WORDS] = { attr->config, attr->config1, attr->config2,
		                          attr->config3 };
	const char *name, *text;
	char reg[16];
	uint64_t field;
	int len = 0;

	for (unsigned word = 0; word < N_WORDS; word++) {
		name_word(word, reg);
		for (unsigned i = 0; words[word] && !pfm_decode_field(m->ctx, pmu, reg, words[word],
		                                                      i, &name, &field, &text);
		     i++)
			if (field && len < 200)
				len += snprintf(out + len, 256 - (size_t)len, "%s%s=0x%llx",
				                len ? "," : "", get_kernel_field(name),
				                (unsigned long long)field);
	}
	if (!len)
		snprintf(out, 256, "event=0x0");
}

/* Events of caches have no file. */
static void put_events(struct tree *t, const struct pretend_machine *m, const struct model *model,
                       const struct pretend_pmu *pmu)
{
	char folder[128], text[256], terms[256];
	pfm_encoding_t e = PFM_INIT(e);

	snprintf(folder, sizeof(folder), "devices/%s/events", pmu->device);
	for (size_t i = 0; i < model->n_generics; i++) {
		const char *name = model->generics[i].name;

		if (!is_hardware_generic(name) || !resolve_generic(m, model, pmu, name, text, &e))
			continue;
		format_terms(m, pmu->pmu, &e.attr, terms);
		put_file(t, folder, name, terms);
	}
}

/* Architectural events of Arm, which registers announce (PMCEID0 and PMCEID1). */
static bool is_announced(uint64_t code)
{
	return code < 0x40 || (code >= 0x4000 && code < 0x4040);
}

/* Drivers of Arm export the events that the processor announces: those of its table. */
static void put_announced_events(struct tree *t, const struct pretend_machine *m,
                                 const struct pretend_pmu *pmu)
{
	perfmon_event_info_t info = PFM_INIT(info);
	perfmon_pmu_info_t p = PFM_INIT(p);
	pfm_encoding_t e = PFM_INIT(e);
	char folder[128], name[128], terms[32];

	if (get_processor_family(m) != FAMILY_ARM || pfm_describe_pmu(m->ctx, pmu->pmu, &p))
		return;
	snprintf(folder, sizeof(folder), "devices/%s/events", pmu->device);
	for (unsigned i = 0; i < p.n_events; i++) {
		if (pfm_encode_event_at(m->ctx, pmu->pmu, i, 0, &e, NULL) ||
		    !is_announced(e.attr.config) || pfm_describe_event(m->ctx, pmu->pmu, i, &info))
			continue;
		snprintf(name, sizeof(name), "%s", info.name);
		for (char *at = name; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		snprintf(terms, sizeof(terms), "event=0x%04x", (unsigned)e.attr.config);
		put_file(t, folder, name, terms);
	}
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

static void put_cpus(struct tree *t, const char *folder, const struct pretend_pmu *pmu)
{
	if (!pmu->is_core)
		put_file(t, folder, "cpumask", "0");
	else if (pmu->cpu >= 0)
		put_line_file(t, folder, "cpus", "%d", pmu->cpu);
}

/* The CPUs of a recording are not those of this machine. */
static void put_recorded_cpus(struct tree *t, const struct pretend_pmu *pmu)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "devices/%s", pmu->device);
	put_cpus(t, folder, pmu);
}

static void put_pmu(struct tree *t, const struct pretend_machine *m, const struct model *model,
                    const struct pretend_pmu *pmu)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "devices/%s", pmu->device);
	put_line_file(t, folder, "type", "%u", pmu->type);
	put_line_file(t, folder, "perf_event_mux_interval_ms", "%d", 4);
	put_cpus(t, folder, pmu);
	put_formats(t, m, pmu);
	if (!pmu->is_core)
		return;
	put_events(t, m, model, pmu);
	put_announced_events(t, m, pmu);
	put_capabilities(t, m, pmu);
}

/* The kernel's own PMUs stay as they are. */
static void put_own_pmus(struct tree *t)
{
	static const struct {
		const char *name;
		unsigned type;
	} own[] = { { "software", 1 }, { "tracepoint", 2 }, { "breakpoint", 5 } };
	char folder[64];

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		snprintf(folder, sizeof(folder), "devices/%s", own[i].name);
		put_line_file(t, folder, "type", "%u", own[i].type);
	}
}

static bool report_failure(const struct tree *t, const char *root, const char *below)
{
	const bool is_link = t->error == ELOOP || t->error == ENOTDIR;

	fprintf(stderr, "pfm pretend: %s%s%s%s%s: %s%s\n", root, *below ? "/" : "", below,
	        *t->where ? "/" : "", t->where, strerror(t->error),
	        is_link ? ": symbolic links below the folder are not followed" : "");
	return false;
}

bool write_pretend_sysfs(const struct pretend_machine *m, const struct model *model,
                         const char *root, const char *below)
{
	static struct tree t;

	begin_tree(&t, root);
	descend_tree(&t, below);
	put_line_file(&t, "", "pretended", "%s, model %s", m->name, model->name);
	put_own_pmus(&t);
	if (*m->recording)
		copy_recorded_files(m, &t);
	for (unsigned i = 0; i < m->n_pmus; i++) {
		if (*m->recording)
			put_recorded_cpus(&t, &m->pmus[i]);
		else
			put_pmu(&t, m, model, &m->pmus[i]);
	}
	end_tree(&t);
	return !t.error || report_failure(&t, root, below);
}
