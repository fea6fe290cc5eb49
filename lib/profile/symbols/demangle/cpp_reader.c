/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle/cpp_name.h"

#include <ctype.h>
#include <string.h>

char cpp_peek(const struct cpp_name *n, size_t i)
{
	return i < (size_t)(n->end - n->next) ? n->next[i] : '\0';
}

bool cpp_take(struct cpp_name *n, const char *text)
{
	size_t length = strlen(text);

	if (n->failed || (size_t)(n->end - n->next) < length || memcmp(n->next, text, length) != 0)
		return false;
	n->next += length;
	return true;
}

void cpp_expect(struct cpp_name *n, const char *text)
{
	n->failed |= !cpp_take(n, text);
}

bool cpp_enter(struct cpp_name *n)
{
	n->failed |= n->depth >= CPP_MAX_DEPTH;
	n->depth++;
	return !n->failed;
}

void cpp_leave(struct cpp_name *n)
{
	n->depth--;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct cpp_node *cpp_add_node(struct cpp_name *n, enum cpp_kind kind, struct cpp_node *left,
                              struct cpp_node *right)
{
	struct cpp_node *node;

	n->failed |= n->n_nodes + 1 >= n->max_nodes;
	node = &n->nodes[n->failed ? n->max_nodes - 1 : n->n_nodes++];
	*node = (struct cpp_node){ .kind = kind, .text = "", .left = left, .right = right };
	return node;
}

struct cpp_node *cpp_add_text(struct cpp_name *n, const char *text, size_t length)
{
	struct cpp_node *node = cpp_add_node(n, CPP_TEXT, NULL, NULL);

	node->text = text;
	node->length = (uint32_t)length;
	return node;
}

struct cpp_node *cpp_add_number(struct cpp_name *n, enum cpp_kind kind, struct cpp_node *left,
                                uint32_t number)
{
	struct cpp_node *node = cpp_add_node(n, kind, left, NULL);

	node->number = number;
	return node;
}

struct cpp_node *cpp_remember(struct cpp_name *n, struct cpp_node *node)
{
	n->failed |= n->n_parts >= n->max_parts;
	if (!n->failed)
		n->parts[n->n_parts++] = node;
	return node;
}

/* ---- numbers and names ----------------------------------------------------------------------- */

uint32_t cpp_read_decimal(struct cpp_name *n)
{
	uint32_t value = 0;

	n->failed |= !isdigit((unsigned char)cpp_peek(n, 0));
	while (!n->failed && isdigit((unsigned char)cpp_peek(n, 0))) {
		value = value * 10 + (uint32_t)(*n->next++ - '0');
		n->failed |= value > CPP_MAX_BYTES;
	}
	return value;
}

static int get_digit(char c, bool is_base36)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return is_base36 && c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
}

uint32_t cpp_read_index(struct cpp_name *n, bool is_base36)
{
	uint32_t value = 0;
	int digit;

	if (cpp_take(n, "_"))
		return 0;
	n->failed |= get_digit(cpp_peek(n, 0), is_base36) < 0;
	while (!n->failed && (digit = get_digit(cpp_peek(n, 0), is_base36)) >= 0) {
		value = value * (is_base36 ? 36 : 10) + (uint32_t)digit;
		n->failed |= value > CPP_MAX_BYTES;
		n->next++;
	}
	cpp_expect(n, "_");
	return value + 1;
}

/* Compilers name an anonymous namespace "_GLOBAL__N_..."; "." and "$" stand for
 * "_" elsewhere. */
static bool is_anonymous_namespace(const char *name, size_t length)
{
	return length >= 10 && memcmp(name, "_GLOBAL_", 8) == 0 && strchr("_.$", name[8]) &&
	       name[9] == 'N';
}

struct cpp_node *cpp_read_source_name(struct cpp_name *n)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t length = cpp_read_decimal(n);
	const char *name = n->next;

	n->failed |= !length || length > (size_t)(n->end - n->next);
	if (n->failed)
		length = 0;
	n->next += length;
	n->last_name = is_anonymous_namespace(name, length)
	                       ? cpp_add_text(n, anonymous, sizeof(anonymous) - 1)
	                       : cpp_add_text(n, name, length);
	return n->last_name;
}

/* ---- references ------------------------------------------------------------------------------ */

/* The abbreviations of section 5.1.8: their letter, their text, the name of
 * their constructors, and what they stand for where a constructor follows
 * (NULL: the same). */
static const struct abbreviation {
	char letter;
	const char *text, *name, *whole;
} abbreviations[] = {
	{ 'a', "std::allocator", "allocator", NULL },
	{ 'b', "std::basic_string", "basic_string", NULL },
	{ 's', "std::string", "basic_string",
	  "std::basic_string<char, std::char_traits<char>, std::allocator<char> >" },
	{ 'i', "std::istream", "basic_istream",
	  "std::basic_istream<char, std::char_traits<char> >" },
	{ 'o', "std::ostream", "basic_ostream",
	  "std::basic_ostream<char, std::char_traits<char> >" },
	{ 'd', "std::iostream", "basic_iostream",
	  "std::basic_iostream<char, std::char_traits<char> >" },
	{ 't', "std", NULL, NULL },
};

static struct cpp_node *read_abbreviation(struct cpp_name *n, bool in_prefix)
{
	const struct abbreviation *a = abbreviations;
	const char *text;

	while (a < abbreviations + sizeof(abbreviations) / sizeof(*a) && a->letter != *n->next)
		a++;
	if (a == abbreviations + sizeof(abbreviations) / sizeof(*a)) {
		n->failed = true;
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	}
	n->next++;
	text = a->whole && in_prefix && (cpp_peek(n, 0) == 'C' || cpp_peek(n, 0) == 'D') ? a->whole
	                                                                                 : a->text;
	if (a->name)
		n->last_name = cpp_add_text(n, a->name, strlen(a->name));
	return cpp_add_text(n, text, strlen(text));
}

struct cpp_node *cpp_read_substitution(struct cpp_name *n, bool in_prefix)
{
	uint32_t i;

	cpp_expect(n, "S");
	if (!n->failed && cpp_peek(n, 0) >= 'a' && cpp_peek(n, 0) <= 'z')
		return read_abbreviation(n, in_prefix);
	i = cpp_read_index(n, true);
	n->failed |= i >= n->n_parts;
	return n->failed ? cpp_add_node(n, CPP_TEXT, NULL, NULL) : n->parts[i];
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Operators of the Itanium C++ ABI, section 5.1.5 (operator names) and 5.1.6
 * (expressions). */
/* Operators of the Itanium C++ ABI, sections 5.1.5 (names) and 5.1.6 (expressions). Forms:
 *   1  one operand after the operator        2  one on each side
 *   +  as 1; with two operands and without "_" after the code the operator
 * stands behind 3  choice     (  call     n  new     d  delete     c  cast by
 * name T  of a type  x  of an expression, in parentheses  .  access to a member
 *   [  index      0  a name alone */
static const struct cpp_operator operators[] = {
	{ "aN", '2', "&=" },        { "aS", '2', "=" },         { "aa", '2', "&&" },
	{ "ad", '1', "&" },         { "an", '2', "&" },         { "at", 'T', "alignof " },
	{ "aw", '1', "co_await " }, { "az", 'x', "alignof " },  { "cc", 'c', "const_cast" },
	{ "cl", '(', "()" },        { "cm", '2', "," },         { "co", '1', "~" },
	{ "dV", '2', "/=" },        { "da", 'd', "delete[] " }, { "dc", 'c', "dynamic_cast" },
	{ "de", '1', "*" },         { "dl", 'd', "delete " },   { "ds", '.', ".*" },
	{ "dt", '.', "." },         { "dv", '2', "/" },         { "eO", '2', "^=" },
	{ "eo", '2', "^" },         { "eq", '2', "==" },        { "ge", '2', ">=" },
	{ "gt", '2', ">" },         { "ix", '[', "[]" },        { "lS", '2', "<<=" },
	{ "le", '2', "<=" },        { "ls", '2', "<<" },        { "lt", '2', "<" },
	{ "mI", '2', "-=" },        { "mL", '2', "*=" },        { "mi", '2', "-" },
	{ "ml", '2', "*" },         { "mm", '+', "--" },        { "na", 'n', "new[]" },
	{ "ne", '2', "!=" },        { "ng", '1', "-" },         { "nt", '1', "!" },
	{ "nw", 'n', "new" },       { "nx", 'x', "noexcept" },  { "oR", '2', "|=" },
	{ "oo", '2', "||" },        { "or", '2', "|" },         { "pL", '2', "+=" },
	{ "pl", '2', "+" },         { "pm", '.', "->*" },       { "pp", '+', "++" },
	{ "ps", '1', "+" },         { "pt", '.', "->" },        { "qu", '3', "?" },
	{ "rM", '2', "%=" },        { "rS", '2', ">>=" },       { "rc", 'c', "reinterpret_cast" },
	{ "rm", '2', "%" },         { "rs", '2', ">>" },        { "sc", 'c', "static_cast" },
	{ "ss", '2', "<=>" },       { "st", 'T', "sizeof " },   { "sz", 'x', "sizeof " },
	{ "te", 'x', "typeid " },   { "ti", 'T', "typeid " },   { "tr", '0', "throw" },
	{ "tw", '1', "throw " },
};

const struct cpp_operator *cpp_find_operator(const char *code)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].code[0] == code[0] && operators[i].code[1] == code[1])
			return &operators[i];
	return NULL;
}
