/* SPDX-License-Identifier: MIT */
/* Demangles names of Rust: those of RFC 2603, which begin with "_R", and older ones, which look
 * like names of C++ whose last part is a hash. Names are as rustc prints them without hashes of
 * crates and without types of constants. */
#include "profile/symbols/demangle/demangle_rust_old.h"
#include "profile/symbols/demangle/punycode.h"
#include "profile/symbols/demangle/rust_text.h"
#include "profile/symbols/symbols.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 100,    /* of parts inside each other */
	MAX_PARTS = 20000,  /* a part can refer to others, which refer to others */
	LIFETIME_NAMES = 26 /* 'a to 'z */
};

static char read_byte(struct rust_name *r)
{
	char c = r->failed ? '\0' : *r->next;

	r->failed |= !c;
	r->next += c != '\0';
	return c;
}

/* Counts a part of the name. Fails if parts nest too deeply or are too many. */
static bool enter_nested_part(struct rust_name *r)
{
	r->failed |= r->depth >= MAX_DEPTH || r->parts >= MAX_PARTS;
	r->parts += !r->failed;
	r->depth++;
	return !r->failed;
}

/* ---- numbers and identifiers ----------------------------------------------------------------- */

/* "_" is 0, "0_" 1, "1_" 2. */
static uint64_t read_base_62(struct rust_name *r)
{
	uint64_t value = 0;
	int digit;

	if (rust_take_char(r, '_'))
		return 0;
	while (!rust_take_char(r, '_') && !r->failed) {
		digit = rust_read_digit(read_byte(r));
		r->failed |= digit < 0 || value > (UINT64_MAX - 62) / 62;
		value = value * 62 + (uint64_t)(digit < 0 ? 0 : digit);
	}
	return value + 1;
}

/* A number after @tag, plus 1; 0 without the tag. */
static uint64_t read_tagged_number(struct rust_name *r, char tag)
{
	return rust_take_char(r, tag) ? read_base_62(r) + 1 : 0;
}

static struct identifier read_identifier(struct rust_name *r)
{
	bool is_punycode = rust_take_char(r, 'u');
	struct identifier id = rust_read_bytes(r, true);

	id.is_punycode = is_punycode;
	return id;
}

static void put_identifier(struct rust_name *r, const struct identifier *id)
{
	char text[PUNYCODE_TEXT];

	if (r->is_silent)
		return;
	if (!id->is_punycode) {
		rust_put_bytes(r, id->text, id->len);
	} else if (punycode_decode(id->text, id->len, text)) {
		rust_put_text(r, text);
	} else {
		rust_put_text(r, "punycode{");
		rust_put_bytes(r, id->text, id->len);
		rust_put_text(r, "}");
	}
}

/* ---- paths and types ------------------------------------------------------------------------- */

static void read_path(struct rust_name *r, bool is_value);
static void read_type(struct rust_name *r);
static void read_const(struct rust_name *r);

/* Reads an earlier part of the name, to which a back reference points, with @read. */
static void read_reference(struct rust_name *r, void (*read)(struct rust_name *r, bool is_value),
                           bool is_value)
{
	const char *here = r->next - 1; /* of the tag */
	uint64_t offset = read_base_62(r);
	const char *after = r->next;

	r->failed |= offset >= (uint64_t)(here - r->mangled);
	if (r->failed || r->is_silent)
		return;
	r->next = r->mangled + offset;
	read(r, is_value);
	r->next = after;
}

static void read_type_again(struct rust_name *r, bool is_value)
{
	(void)is_value;
	read_type(r);
}

static void read_const_again(struct rust_name *r, bool is_value)
{
	(void)is_value;
	read_const(r);
}

/* Lifetime number @index, counted from the innermost one; 0 has no name. */
static void put_lifetime(struct rust_name *r, uint64_t index)
{
	uint64_t depth = r->bound - index;
	char name[32];

	if (index == 0) {
		rust_put_text(r, "'_");
		return;
	}
	r->failed |= index > r->bound;
	if (depth < LIFETIME_NAMES)
		snprintf(name, sizeof(name), "'%c", (char)('a' + depth));
	else
		snprintf(name, sizeof(name), "'_%llu", (unsigned long long)depth);
	rust_put_text(r, name);
}

/* "for<'a, 'b> ". Returns how many lifetimes it adds. */
static uint64_t read_binder(struct rust_name *r)
{
	uint64_t n = read_tagged_number(r, 'G');

	r->failed |= n > MAX_PARTS - r->parts;
	if (r->failed || !n)
		return 0;
	r->parts += (unsigned)n;
	rust_put_text(r, "for<");
	for (uint64_t i = 0; i < n && !r->failed; i++) {
		rust_put_text(r, i ? ", " : "");
		r->bound++;
		put_lifetime(r, 1);
	}
	rust_put_text(r, "> ");
	return n;
}

static void read_generic_argument(struct rust_name *r)
{
	if (rust_take_char(r, 'L'))
		put_lifetime(r, read_base_62(r));
	else if (rust_take_char(r, 'K'))
		read_const(r);
	else
		read_type(r);
}

/* Parts up to "E" with @separator between; returns their number. */
static size_t read_list(struct rust_name *r, void (*read)(struct rust_name *r),
                        const char *separator)
{
	size_t n = 0;

	for (; !rust_take_char(r, 'E') && !r->failed; n++) {
		rust_put_text(r, n ? separator : "");
		read(r);
	}
	return n;
}

/* Reads the path of an implementation, which says where it is, and is not shown. */
static void skip_implementation(struct rust_name *r)
{
	bool was_silent = r->is_silent;

	r->is_silent = true;
	read_tagged_number(r, 's');
	read_path(r, false);
	r->is_silent = was_silent;
}

/* "{closure#0}", "{shim:vtable#0}" */
static void put_compiler_name(struct rust_name *r, char kind, const struct identifier *id,
                              uint64_t disambiguator)
{
	char text[48];

	snprintf(text, sizeof(text), "::{%.*s", kind == 'C' || kind == 'S' ? 0 : 1, &kind);
	rust_put_text(r, text);
	rust_put_text(r, kind == 'C' ? "closure" : kind == 'S' ? "shim" : "");
	rust_put_text(r, id->len ? ":" : "");
	put_identifier(r, id);
	snprintf(text, sizeof(text), "#%llu}", (unsigned long long)disambiguator);
	rust_put_text(r, text);
}

static void read_nested_path(struct rust_name *r, bool is_value)
{
	char kind = read_byte(r);
	uint64_t disambiguator;
	struct identifier id;

	read_path(r, is_value);
	disambiguator = read_tagged_number(r, 's');
	id = read_identifier(r);
	if (isupper((unsigned char)kind)) {
		put_compiler_name(r, kind, &id, disambiguator);
		return;
	}
	r->failed |= !islower((unsigned char)kind);
	rust_put_text(r, id.len ? "::" : "");
	put_identifier(r, &id);
}

static void read_crate(struct rust_name *r)
{
	struct identifier id;

	read_tagged_number(r, 's');
	id = read_identifier(r);
	put_identifier(r, &id);
}

/* "<T>", "<T as Trait>" */
static void read_implementation_type(struct rust_name *r, bool has_trait)
{
	rust_put_text(r, "<");
	read_type(r);
	if (has_trait) {
		rust_put_text(r, " as ");
		read_path(r, false);
	}
	rust_put_text(r, ">");
}

/* A path; in one of a value, "::" is before arguments. With @stays_open its arguments are not
 * closed. Returns true if they are not. */
static bool read_open_path(struct rust_name *r, bool is_value, bool stays_open)
{
	bool is_open = false;
	char tag = read_byte(r);

	if (!enter_nested_part(r))
		return false;
	switch (tag) {
	case 'C': read_crate(r); break;
	case 'N': read_nested_path(r, is_value); break;
	case 'M':
		skip_implementation(r);
		read_implementation_type(r, false);
		break;
	case 'X':
		skip_implementation(r);
		read_implementation_type(r, true);
		break;
	case 'Y': read_implementation_type(r, true); break;
	case 'I':
		read_path(r, is_value);
		rust_put_text(r, is_value ? "::<" : "<");
		read_list(r, read_generic_argument, ", ");
		is_open = stays_open;
		rust_put_text(r, is_open ? "" : ">");
		break;
	case 'B': read_reference(r, read_path, is_value); break;
	default: r->failed = true; break;
	}
	r->depth--;
	return is_open;
}

static void read_path(struct rust_name *r, bool is_value)
{
	read_open_path(r, is_value, false);
}

/* "Trait<T, Item = U>" */
static void read_dyn_trait(struct rust_name *r)
{
	bool is_open = read_open_path(r, false, true);

	while (rust_take_char(r, 'p')) {
		struct identifier id = read_identifier(r);

		rust_put_text(r, is_open ? ", " : "<");
		put_identifier(r, &id);
		rust_put_text(r, " = ");
		read_type(r);
		is_open = true;
	}
	rust_put_text(r, is_open ? ">" : "");
}

static void read_dyn(struct rust_name *r)
{
	uint64_t n, lifetime;

	rust_put_text(r, "dyn ");
	n = read_binder(r);
	read_list(r, read_dyn_trait, " + ");
	r->bound -= n;
	r->failed |= !rust_take_char(r, 'L');
	lifetime = read_base_62(r);
	if (lifetime) {
		rust_put_text(r, " + ");
		put_lifetime(r, lifetime);
	}
}

/* The name of a calling convention has "_" for "-". */
static void read_convention(struct rust_name *r)
{
	struct identifier id = { .text = "C", .len = 1 };

	if (!rust_take_char(r, 'C'))
		id = read_identifier(r);
	rust_put_text(r, "extern \"");
	for (size_t i = 0; i < id.len; i++)
		rust_put_bytes(r, id.text[i] == '_' ? "-" : &id.text[i], 1);
	rust_put_text(r, "\" ");
}

static void read_function_type(struct rust_name *r)
{
	uint64_t n = read_binder(r);

	rust_put_text(r, rust_take_char(r, 'U') ? "unsafe " : "");
	if (rust_take_char(r, 'K'))
		read_convention(r);
	rust_put_text(r, "fn(");
	read_list(r, read_type, ", ");
	rust_put_text(r, ")");
	if (!rust_take_char(r, 'u')) {
		rust_put_text(r, " -> ");
		read_type(r);
	}
	r->bound -= n;
}

static void read_reference_type(struct rust_name *r, const char *word)
{
	uint64_t lifetime = rust_take_char(r, 'L') ? read_base_62(r) : 0;

	rust_put_text(r, "&");
	if (lifetime) {
		put_lifetime(r, lifetime);
		rust_put_text(r, " ");
	}
	rust_put_text(r, word);
	read_type(r);
}

static void read_array(struct rust_name *r, bool has_length)
{
	rust_put_text(r, "[");
	read_type(r);
	if (has_length) {
		rust_put_text(r, "; ");
		read_const(r);
	}
	rust_put_text(r, "]");
}

static const char *get_basic_type(char tag)
{
	static const char *const names[] = { "i8",   "bool",  "char",  "f64", "str", "f32", NULL,
		                             "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
		                             "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
		                             "...",  NULL,    "i64",   "u64", "!" };

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void read_type(struct rust_name *r)
{
	char tag = read_byte(r);
	const char *basic = get_basic_type(tag);

	if (basic) {
		rust_put_text(r, basic);
		return;
	}
	if (!enter_nested_part(r))
		return;
	switch (tag) {
	case 'A':
	case 'S': read_array(r, tag == 'A'); break;
	case 'T':
		rust_put_text(r, "(");
		rust_put_text(r, read_list(r, read_type, ", ") == 1 ? ",)" : ")");
		break;
	case 'R': read_reference_type(r, ""); break;
	case 'Q': read_reference_type(r, "mut "); break;
	case 'P':
		rust_put_text(r, "*const ");
		read_type(r);
		break;
	case 'O':
		rust_put_text(r, "*mut ");
		read_type(r);
		break;
	case 'F': read_function_type(r); break;
	case 'D': read_dyn(r); break;
	case 'B': read_reference(r, read_type_again, false); break;
	default:
		r->next--;
		read_path(r, false);
		break;
	}
	r->depth--;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Hexadecimal digits up to "_". */
static struct identifier read_hex(struct rust_name *r)
{
	struct identifier hex = { .text = r->next };

	while (!r->failed &&
	       (isdigit((unsigned char)*r->next) || (*r->next >= 'a' && *r->next <= 'f'))) {
		r->next++;
		hex.len++;
	}
	r->failed |= !rust_take_char(r, '_');
	return hex;
}

static void read_number(struct rust_name *r)
{
	struct identifier hex;
	char text[32];

	rust_put_text(r, rust_take_char(r, 'n') ? "-" : "");
	hex = read_hex(r);
	if (hex.len > 16) {
		rust_put_text(r, "0x");
		put_identifier(r, &hex);
		return;
	}
	snprintf(text, sizeof(text), "%llu",
	         hex.len ? (unsigned long long)strtoull(hex.text, NULL, 16) : 0);
	rust_put_text(r, text);
}

static void read_character(struct rust_name *r)
{
	struct identifier hex = read_hex(r);
	unsigned long code = hex.len && hex.len <= 6 ? strtoul(hex.text, NULL, 16) : 0;
	char text[32];

	if (code >= ' ' && code < 0x7f && code != '\'' && code != '\\')
		snprintf(text, sizeof(text), "'%c'", (char)code);
	else
		snprintf(text, sizeof(text), "'\\u{%lx}'", code);
	rust_put_text(r, text);
}

static void read_const(struct rust_name *r)
{
	char tag = read_byte(r);

	if (!enter_nested_part(r))
		return;
	switch (tag) {
	case 'p': rust_put_text(r, "_"); break;
	case 'b':
		rust_put_text(r, *r->next == '1' ? "true" : "false");
		read_hex(r);
		break;
	case 'c': read_character(r); break;
	case 'B': read_reference(r, read_const_again, false); break;
	default:
		r->failed |= !strchr("ahslmxynotij", tag);
		read_number(r);
		break;
	}
	r->depth--;
}

/* ---- a symbol ------------------------------------------------------------------------------- */

/* Adds what a compiler appends to a symbol, such as ".cold". */
static void put_suffix(struct rust_name *r)
{
	r->failed |= *r->next && *r->next != '.';
	if (*r->next && strncmp(r->next, ".llvm.", 6) != 0)
		rust_put_text(r, r->next);
}

char *symbols_demangle_rust(const char *symbol)
{
	bool is_new = strncmp(symbol, "_R", 2) == 0;
	struct rust_name r = { .mangled = symbol + 2, .ends_when_full = is_new };

	if (!is_new && (strncmp(symbol, "_ZN", 3) != 0 || !strstr(symbol, "17h")))
		return NULL;
	r.text = malloc(SYMBOL_SIZE);
	if (!r.text)
		return NULL;
	r.text[0] = '\0';
	r.next = is_new ? r.mangled : symbol + 3;
	if (is_new) {
		r.failed = isdigit((unsigned char)*r.next);
		read_path(&r, true);
		if (!r.failed && isupper((unsigned char)*r.next)) {
			r.is_silent = true; /* the crate that has this instance */
			read_path(&r, false);
			r.is_silent = false;
		}
	} else {
		rust_read_old_name(&r);
	}
	put_suffix(&r);
	if (!r.failed || (is_new && r.is_full))
		return r.text;
	free(r.text);
	return NULL;
}
