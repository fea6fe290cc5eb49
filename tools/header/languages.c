/* SPDX-License-Identifier: MIT */
/* The languages of pfm header but Go, and the writer that fills their texts. */
#include "header/header.h"
#include "common/pfm.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const struct header_language languages[] = {
	{ .name = "c",
	  .comment_begin = "/* ",
	  .comment_end = " */",
	  .head = "#ifndef $P_EVENTS_H\n#define $P_EVENTS_H\n\n#include <stdint.h>\n\n"
	          "struct $p_register {\n\tuint64_t address, value;\n};\n\n",
	  .constant = "#define $n UINT64_C($v)\n",
	  .writes_begin = "static const struct $p_register $p_writes[$k] = {\n",
	  .write = "\t{ $a, $v }, /* $r */\n",
	  .writes_end = "};\n",
	  .reads_begin = "static const uint64_t $p_reads[$k] = {\n",
	  .read = "\t$a, /* $r */\n",
	  .reads_end = "};\n",
	  .tail = "\n#endif\n" },
	{ .name = "rust",
	  .comment_begin = "// ",
	  .comment_end = "",
	  .head = "#![allow(dead_code)]\n\n",
	  .constant = "pub const $n: u64 = $v;\n",
	  .writes_begin = "/// Addresses of registers and the values to write, in this order.\n"
	                  "pub const $P_WRITES: [(u64, u64); $k] = [\n",
	  .write = "    ($a, $v), // $r\n",
	  .writes_end = "];\n",
	  .reads_begin = "/// Addresses of the counters.\npub const $P_READS: [u64; $k] = [\n",
	  .read = "    $a, // $r\n",
	  .reads_end = "];\n",
	  .tail = "" },
	{ .name = "zig",
	  .comment_begin = "// ",
	  .comment_end = "",
	  .head = "pub const Register = struct { address: u64, value: u64 };\n\n",
	  .constant = "pub const $n: u64 = $v;\n",
	  .writes_begin = "pub const $p_writes = [$k]Register{\n",
	  .write = "    .{ .address = $a, .value = $v }, // $r\n",
	  .writes_end = "};\n",
	  .reads_begin = "pub const $p_reads = [$k]u64{\n",
	  .read = "    $a, // $r\n",
	  .reads_end = "};\n",
	  .tail = "" },
	{ .name = "asm",
	  .comment_begin = "/* ",
	  .comment_end = " */",
	  .head = "",
	  .constant = "\t.set $n, $v\n",
	  .writes_begin = "\t.section .rodata\n\t.balign 8\n\t.set $P_N_WRITES, $k\n"
	                  "\t.globl $p_writes\n$p_writes:\n",
	  .write = "\t.quad $a, $v /* $r */\n",
	  .writes_end = "",
	  .reads_begin = "\t.set $P_N_READS, $k\n\t.globl $p_reads\n$p_reads:\n",
	  .read = "\t.quad $a /* $r */\n",
	  .reads_end = "",
	  .tail = "" },
	{ .name = "python",
	  .comment_begin = "# ",
	  .comment_end = "",
	  .head = "",
	  .constant = "$n = $v\n",
	  .writes_begin = "# Addresses of registers and the values to write, in this order.\n"
	                  "$P_WRITES = [\n",
	  .write = "    ($a, $v),  # $r\n",
	  .writes_end = "]\n",
	  .reads_begin = "# Addresses of the counters.\n$P_READS = [\n",
	  .read = "    $a,  # $r\n",
	  .reads_end = "]\n",
	  .tail = "" },
	{ .name = "tablegen",
	  .comment_begin = "// ",
	  .comment_end = "",
	  .head = "class $pConstant<bits<64> value> { bits<64> Value = value; }\n"
	          "class $pWrite<bits<64> address, bits<64> value, string name> {\n"
	          "  bits<64> Address = address;\n  bits<64> Value = value;\n  string Name = "
	          "name;\n}\n"
	          "class $pRead<bits<64> address, string name> {\n"
	          "  bits<64> Address = address;\n  string Name = name;\n}\n\n",
	  .constant = "def $n : $pConstant<$v>;\n",
	  .writes_begin = "",
	  .write = "def $p_write$i : $pWrite<$a, $v, \"$r\">;\n",
	  .writes_end = "",
	  .reads_begin = "",
	  .read = "def $p_read$i : $pRead<$a, \"$r\">;\n",
	  .reads_end = "",
	  .tail = "" },
};

enum { N_LANGUAGES = sizeof(languages) / sizeof(languages[0]) };

const struct header_language *find_header_language(const char *name)
{
	for (size_t i = 0; i < N_LANGUAGES; i++)
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	return NULL;
}

char *list_header_languages(char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < N_LANGUAGES && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s, ", languages[i].name);
	if (n < size)
		snprintf(buf + n, size - n, "go");
	return buf;
}

/* Writes @text as an identifier: capital letters, digits, '_'. Returns @buf. */
static char *make_identifier(const char *text, char buf[IDENTIFIER_MAX])
{
	size_t n = 0;

	for (; *text && n + 1 < IDENTIFIER_MAX; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) && c < 128)
			buf[n++] = (char)toupper(c);
		else if (n && buf[n - 1] != '_')
			buf[n++] = '_';
	}
	while (n && buf[n - 1] == '_')
		n--;
	buf[n] = 0;
	return buf;
}

/* ---- filling texts --------------------------------------------------------------------------- */

/* Replacements of letters in a text. */
struct fill {
	const char *prefix; /* in capital letters */
	const char *name, *reg;
	uint64_t value, address;
	unsigned rows, row;
};

static void put_small(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(tolower((unsigned char)*text), out);
}

static void put_filled(FILE *out, const char *text, const struct fill *fill)
{
	for (; *text; text++) {
		if (*text != '$') {
			putc(*text, out);
			continue;
		}
		switch (*++text) {
		case 'p': put_small(out, fill->prefix); break;
		case 'P': fputs(fill->prefix, out); break;
		case 'n': fputs(fill->name, out); break;
		case 'r': fputs(fill->reg, out); break;
		case 'v': fprintf(out, "0x%" PRIx64, fill->value); break;
		case 'a': fprintf(out, "0x%" PRIx64, fill->address); break;
		case 'k': fprintf(out, "%u", fill->rows); break;
		default: fprintf(out, "%u", fill->row); break;
		}
	}
}

/* Writes @text as comments of at most 96 columns, broken at blanks. */
static void put_comment(FILE *out, const struct header_language *l, const char *label,
                        const char *text)
{
	char line[2048];
	const char *at = line;

	snprintf(line, sizeof(line), "%s%s", label, text);
	for (char *end = line; (end = strpbrk(end, "*\n\r")) != NULL; end++)
		if (*end != '*' || end[1] == '/')
			*end = ' ';
	while (*at) {
		size_t n = strlen(at);

		if (n > 90) {
			for (n = 90; n > 40 && at[n] != ' '; n--)
				;
		}
		fprintf(out, "%s%.*s%s\n", l->comment_begin, (int)n, at, l->comment_end);
		at += n;
		at += *at == ' ';
	}
}

/* ---- the set --------------------------------------------------------------------------------- */

/* True if register @i repeats an earlier one, as the control of all fixed counters does. */
static bool is_repeated(const pfm_set_t *set, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (set->pmcs[k].kind == set->pmcs[i].kind &&
		    set->pmcs[k].addr == set->pmcs[i].addr &&
		    strcmp(set->pmcs[k].name, set->pmcs[i].name) == 0)
			return true;
	return false;
}

static bool is_written(const pfm_set_t *set, unsigned i)
{
	return set->pmcs[i].kind != PFM_REG_CONFIG && !is_repeated(set, i);
}

static void put_constant(FILE *out, const struct header_language *l, const char *prefix,
                         const char *name, const char *suffix, uint64_t value)
{
	char full[3 * IDENTIFIER_MAX];

	snprintf(full, sizeof(full), "%s_%s_%s", prefix, name, suffix);
	put_filled(out, l->constant,
	           &(struct fill){ .prefix = prefix, .name = full, .value = value });
}

/* The name of event @i: its text without the PMU, and a number if an earlier event has the name. */
static char *name_event(const struct header_set *h, unsigned i, char buf[IDENTIFIER_MAX])
{
	char other[IDENTIFIER_MAX];
	const char *colons = strstr(h->texts[i], "::");
	unsigned same = 0;
	size_t n;

	make_identifier(colons ? colons + 2 : h->texts[i], buf);
	for (unsigned k = 0; k < i; k++) {
		colons = strstr(h->texts[k], "::");
		same += strcmp(make_identifier(colons ? colons + 2 : h->texts[k], other), buf) == 0;
	}
	n = strlen(buf);
	if (same && n + 12 < IDENTIFIER_MAX)
		snprintf(buf + n, IDENTIFIER_MAX - n, "_%u", same + 1);
	return buf;
}

static void put_rules(FILE *out, const struct header_language *l, const struct header_set *h,
                      const char *text)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	char buf[RULE_TEXT_MAX];

	for (unsigned i = 0;
	     pfm_describe_rule_by_text(h->ctx, text, i, &rule, NULL) == PFMLIB_SUCCESS; i++)
		if (rule.holds)
			put_comment(out, l, "Rule: ", format_rule(&rule, buf));
}

static void put_event(FILE *out, const struct header_language *l, const struct header_set *h,
                      const char *prefix, unsigned i)
{
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t encoding = PFM_INIT(encoding);
	char name[IDENTIFIER_MAX], counters[COUNTERS_MAX];

	name_event(h, i, name);
	putc('\n', out);
	put_comment(out, l, "", h->texts[i]);
	if (pfm_encode_event(h->ctx, h->texts[i], 0, &encoding, NULL) == PFMLIB_SUCCESS) {
		if (pfm_describe_event(h->ctx, encoding.pmu, encoding.event, &info) ==
		    PFMLIB_SUCCESS)
			put_comment(out, l, "", info.desc);
		if (encoding.counters)
			put_comment(out, l, "Counters that can count it: ",
			            format_counters(encoding.counters, counters));
	}
	put_rules(out, l, h, h->texts[i]);
	if (h->set->counter[i] >= 0)
		put_constant(out, l, prefix, name, "COUNTER", (uint64_t)h->set->counter[i]);
	for (unsigned k = 0; k < h->set->n_pmcs; k++)
		if (h->set->pmcs[k].event == (int)i && h->set->pmcs[k].kind == PFM_REG_CONFIG)
			put_constant(out, l, prefix, name, "CONFIG", h->set->pmcs[k].value);
}

static void put_writes(FILE *out, const struct header_language *l, const pfm_set_t *set,
                       const char *prefix)
{
	struct fill fill = { .prefix = prefix };
	char name[IDENTIFIER_MAX];

	for (unsigned i = 0; i < set->n_pmcs; i++)
		fill.rows += is_written(set, i);
	if (!fill.rows)
		return;
	putc('\n', out);
	put_comment(out, l, "", "Registers to write, in this order.");
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (is_written(set, i)) {
			make_identifier(set->pmcs[i].name, name);
			put_constant(out, l, prefix, name, "ADDRESS", set->pmcs[i].addr);
			put_constant(out, l, prefix, name, "VALUE", set->pmcs[i].value);
		}
	putc('\n', out);
	put_filled(out, l->writes_begin, &fill);
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (is_written(set, i)) {
			fill.reg = set->pmcs[i].name;
			fill.address = set->pmcs[i].addr;
			fill.value = set->pmcs[i].value;
			put_filled(out, l->write, &fill);
			fill.row++;
		}
	put_filled(out, l->writes_end, &fill);
}

static void put_reads(FILE *out, const struct header_language *l, const pfm_set_t *set,
                      const char *prefix)
{
	struct fill fill = { .prefix = prefix, .rows = set->n_pmds };

	if (!fill.rows)
		return;
	putc('\n', out);
	put_filled(out, l->reads_begin, &fill);
	for (; fill.row < set->n_pmds; fill.row++) {
		fill.reg = set->pmds[fill.row].name;
		fill.address = set->pmds[fill.row].addr;
		put_filled(out, l->read, &fill);
	}
	put_filled(out, l->reads_end, &fill);
}

void write_header(FILE *out, const struct header_language *l, const struct header_set *h)
{
	char prefix[IDENTIFIER_MAX];

	make_identifier(h->prefix ? h->prefix : h->pmu.name, prefix);
	put_comment(out, l, "Registers that count events of ", h->pmu.desc);
	put_comment(out, l, "Written by pfm header, perfmon ", PERFMON_VERSION);
	if (*h->pmu.source)
		put_comment(out, l, "Source of the events: ", h->pmu.source);
	put_filled(out, "\n", &(struct fill){ .prefix = prefix });
	put_filled(out, l->head, &(struct fill){ .prefix = prefix });
	put_comment(out, l, "",
	            "Counters: fixed counter n has the number 32 + n. CONFIG is "
	            "perf_event_attr.config.");
	for (unsigned i = 0; i < h->set->n_events; i++)
		put_event(out, l, h, prefix, i);
	put_writes(out, l, h->set, prefix);
	put_reads(out, l, h->set, prefix);
	put_filled(out, l->tail, &(struct fill){ .prefix = prefix });
}
