/* SPDX-License-Identifier: MIT */
/* Types and template arguments: the Itanium C++ ABI, sections 5.1.5 and 5.1.6.
 */
#include "profile/symbols/demangle/cpp_name.h"

#include <ctype.h>
#include <string.h>

struct builtin_type {
	const char *code, *text;
};

static const struct builtin_type builtin_types[] = {
	{ "a", "signed char" },
	{ "b", "bool" },
	{ "c", "char" },
	{ "d", "double" },
	{ "e", "long double" },
	{ "f", "float" },
	{ "g", "__float128" },
	{ "h", "unsigned char" },
	{ "i", "int" },
	{ "j", "unsigned int" },
	{ "l", "long" },
	{ "m", "unsigned long" },
	{ "n", "__int128" },
	{ "o", "unsigned __int128" },
	{ "s", "short" },
	{ "t", "unsigned short" },
	{ "v", "void" },
	{ "w", "wchar_t" },
	{ "x", "long long" },
	{ "y", "unsigned long long" },
	{ "z", "..." },
	{ "Da", "auto" },
	{ "Dc", "decltype(auto)" },
	{ "Dd", "decimal64" },
	{ "De", "decimal128" },
	{ "Df", "decimal32" },
	{ "Dh", "half" },
	{ "Di", "char32_t" },
	{ "Dn", "decltype(nullptr)" },
	{ "Ds", "char16_t" },
	{ "Du", "char8_t" },
	{ "DF16b", "std::bfloat16_t" },
};

static struct cpp_node *read_builtin_type(struct cpp_name *n)
{
	for (size_t i = 0; i < sizeof(builtin_types) / sizeof(builtin_types[0]); i++)
		if (cpp_take(n, builtin_types[i].code))
			return cpp_add_text(n, builtin_types[i].text,
			                    strlen(builtin_types[i].text));
	return NULL;
}

/* ---- qualifiers ------------------------------------------------------------------------------ */

size_t cpp_take_qualifiers(struct cpp_name *n)
{
	size_t length = 0;

	while (cpp_peek(n, length) && strchr("rVK", cpp_peek(n, length)))
		length++;
	n->next += length;
	return length;
}

static const char *get_qualifier(char letter)
{
	return letter == 'K' ? " const" : letter == 'V' ? " volatile" : " restrict";
}

/* @inner with the letters of qualifiers at @letters, of which the last is the innermost. */
static struct cpp_node *add_qualifiers(struct cpp_name *n, struct cpp_node *inner,
                                       const char *letters, size_t length)
{
	while (length--) {
		inner = cpp_add_node(n, CPP_QUALIFIED, inner, NULL);
		inner->text = get_qualifier(letters[length]);
		inner->length = (uint32_t)strlen(inner->text);
	}
	return inner;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* True at the end of a function, or at the reference qualifier before it. */
static bool is_at_end_of_parameters(const struct cpp_name *n)
{
	char c = cpp_peek(n, 0);

	return n->failed || !c || strchr("E.Q", c) ||
	       ((c == 'R' || c == 'O') && cpp_peek(n, 1) == 'E');
}

struct cpp_node *cpp_read_parameters(struct cpp_name *n)
{
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, NULL, NULL), *last = list;

	if (cpp_peek(n, 0) == 'v') {
		n->next++;
		n->failed |= !is_at_end_of_parameters(n);
		return list;
	}
	n->failed |= is_at_end_of_parameters(n);
	while (!is_at_end_of_parameters(n)) {
		if (last->left) {
			last->right = cpp_add_node(n, CPP_LIST, NULL, NULL);
			last = last->right;
		}
		last->left = cpp_read_type(n);
	}
	return list;
}

/* An exception specification: its text is added to the qualifiers of a
 * function. */
static struct cpp_node *read_exceptions(struct cpp_name *n)
{
	struct cpp_node *condition;

	if (cpp_take(n, "Do"))
		return cpp_add_text(n, " noexcept", 9);
	if (cpp_take(n, "DO")) {
		condition = cpp_add_node(n, CPP_PREFIXED, cpp_read_expression(n), NULL);
		condition->text = " noexcept";
	} else {
		cpp_expect(n, "Dw");
		condition = cpp_add_node(n, CPP_PREFIXED, cpp_read_parameters(n), NULL);
		condition->text = " throw";
	}
	cpp_expect(n, "E");
	return condition;
}

/* A function type: "F...E", after the qualifiers @letters of the functions that
 * it is of. */
static struct cpp_node *read_function_type(struct cpp_name *n, const char *letters, size_t length)
{
	struct cpp_node *function = cpp_add_node(n, CPP_FUNCTION, NULL, NULL), *exceptions = NULL;

	while (cpp_peek(n, 0) == 'D') {
		if (cpp_take(n, "Dx"))
			continue;
		exceptions = read_exceptions(n);
		if (n->failed)
			return function;
	}
	cpp_expect(n, "F");
	cpp_take(n, "Y");
	function->left = cpp_read_type(n);
	function->right = cpp_read_parameters(n);
	function = add_qualifiers(n, function, letters, length);
	if (exceptions)
		function = cpp_add_node(n, CPP_EXTENDED, function, exceptions);
	if (cpp_peek(n, 1) == 'E' && (cpp_peek(n, 0) == 'R' || cpp_peek(n, 0) == 'O')) {
		function = cpp_add_node(n, CPP_QUALIFIED, function, NULL);
		function->text = *n->next++ == 'R' ? " &" : " &&";
		function->length = (uint32_t)strlen(function->text);
	}
	cpp_expect(n, "E");
	return function;
}

static bool is_at_function(const struct cpp_name *n)
{
	char c = cpp_peek(n, 0), d = cpp_peek(n, 1);

	return c == 'F' || (c == 'D' && d && strchr("oOwx", d));
}

/* ---- compound types -------------------------------------------------------------------------- */

/* The number of elements, an expression, or nothing; then "_". */
static struct cpp_node *read_dimension(struct cpp_name *n)
{
	const char *begin = n->next;
	struct cpp_node *dimension = NULL;

	if (isdigit((unsigned char)cpp_peek(n, 0))) {
		while (isdigit((unsigned char)cpp_peek(n, 0)))
			n->next++;
		dimension = cpp_add_text(n, begin, (size_t)(n->next - begin));
	} else if (cpp_peek(n, 0) != '_') {
		dimension = cpp_read_expression(n);
	}
	cpp_expect(n, "_");
	return dimension;
}

static struct cpp_node *read_array_type(struct cpp_name *n)
{
	struct cpp_node *dimension = read_dimension(n);

	return cpp_add_node(n, CPP_ARRAY, dimension, cpp_read_type(n));
}

static struct cpp_node *read_vector_type(struct cpp_name *n)
{
	struct cpp_node *dimension;

	if (cpp_take(n, "_")) {
		dimension = cpp_read_expression(n);
		cpp_expect(n, "_");
	} else {
		dimension = read_dimension(n);
	}
	return cpp_add_node(n, CPP_VECTOR, dimension, cpp_read_type(n));
}

static struct cpp_node *read_member_pointer(struct cpp_name *n)
{
	struct cpp_node *class = cpp_read_type(n);

	return cpp_add_node(n, CPP_MEMBER_POINTER, class, cpp_read_type(n));
}

struct cpp_node *cpp_read_decltype(struct cpp_name *n)
{
	struct cpp_node *expression;

	if (!cpp_take(n, "Dt"))
		cpp_expect(n, "DT");
	expression = cpp_read_expression(n);
	cpp_expect(n, "E");
	return cpp_add_node(n, CPP_DECLTYPE, expression, NULL);
}

/* "u" and a vendor's type, or "U" and a vendor's qualifier. */
static struct cpp_node *read_vendor_type(struct cpp_name *n)
{
	struct cpp_node *name, *last = n->last_name;
	bool is_type = cpp_take(n, "u");

	if (!is_type)
		cpp_expect(n, "U");
	name = cpp_read_source_name(n);
	n->last_name = last;
	if (cpp_peek(n, 0) == 'I')
		name = cpp_add_node(n, CPP_TEMPLATE, name, cpp_read_template_arguments(n));
	return is_type ? name : cpp_add_node(n, CPP_EXTENDED, cpp_read_type(n), name);
}

/* "DF16_" and the like: floating-point types of a number of bits. "DB8_",
 * "DU8_": integers. */
static struct cpp_node *read_sized_type(struct cpp_name *n)
{
	const char *prefix = cpp_take(n, "DF")   ? "_Float"
	                     : cpp_take(n, "DB") ? "signed _BitInt("
	                     : cpp_take(n, "DU") ? "unsigned _BitInt("
	                                         : NULL;
	struct cpp_node *type;

	n->failed |= !prefix;
	type = cpp_add_number(n, CPP_SIZED, NULL, cpp_read_decimal(n));
	type->text = prefix;
	if (prefix && prefix[0] != '_')
		type->left = cpp_add_text(n, ")", 1);
	if (cpp_take(n, "x"))
		type->left = cpp_add_text(n, "x", 1);
	else
		cpp_expect(n, "_");
	return type;
}

static struct cpp_node *read_D_type(struct cpp_name *n)
{
	if (cpp_peek(n, 1) == 't' || cpp_peek(n, 1) == 'T')
		return cpp_read_decltype(n);
	if (cpp_take(n, "Dp"))
		return cpp_add_node(n, CPP_EXPANSION, cpp_read_type(n), NULL);
	if (cpp_take(n, "Dv"))
		return read_vector_type(n);
	return is_at_function(n) ? read_function_type(n, NULL, 0) : read_sized_type(n);
}

/* A parameter, or a template that one stands for. */
static struct cpp_node *read_T_type(struct cpp_name *n)
{
	struct cpp_node *parameter;

	if (cpp_peek(n, 1) && strchr("sue", cpp_peek(n, 1))) {
		n->next += 2;
		return cpp_read_entity_name(n);
	}
	parameter = cpp_read_template_parameter(n);
	if (cpp_peek(n, 0) != 'I' || n->is_conversion)
		return parameter;
	cpp_remember(n, parameter);
	return cpp_add_node(n, CPP_TEMPLATE, parameter, cpp_read_template_arguments(n));
}

/* Something known, or a name that begins with "St". Sets *@is_known if the
 * result is not new. */
static struct cpp_node *read_S_type(struct cpp_name *n, bool *is_known)
{
	char c = cpp_peek(n, 1);
	struct cpp_node *type;

	if (c == '_' || isdigit((unsigned char)c) || isupper((unsigned char)c)) {
		type = cpp_read_substitution(n, false);
		*is_known = cpp_peek(n, 0) != 'I';
		return *is_known ? type
		                 : cpp_add_node(n, CPP_TEMPLATE, type,
		                                cpp_read_template_arguments(n));
	}
	type = cpp_read_entity_name(n);
	*is_known = c != 't' && type->kind == CPP_TEXT;
	return type;
}

static struct cpp_node *read_qualified_type(struct cpp_name *n)
{
	const char *letters = n->next;
	size_t length = cpp_take_qualifiers(n);

	if (is_at_function(n))
		return read_function_type(n, letters, length);
	return add_qualifiers(n, cpp_read_type(n), letters, length);
}

/* "P", "R", "O", "C" or "G", then a type. */
static struct cpp_node *read_derived_type(struct cpp_name *n)
{
	char letter = *n->next++;
	struct cpp_node *inner = cpp_read_type(n), *type;

	if (letter == 'P')
		return cpp_add_node(n, CPP_POINTER, inner, NULL);
	if (letter == 'R' || letter == 'O')
		return cpp_add_node(n, letter == 'R' ? CPP_REFERENCE : CPP_RVALUE, inner, NULL);
	type = cpp_add_node(n, CPP_QUALIFIED, inner, NULL);
	type->text = letter == 'C' ? " _Complex" : " _Imaginary";
	type->length = (uint32_t)strlen(type->text);
	return type;
}

static struct cpp_node *read_new_type(struct cpp_name *n, bool *is_known)
{
	switch (cpp_peek(n, 0)) {
	case 'r':
	case 'V':
	case 'K': return read_qualified_type(n);
	case 'P':
	case 'R':
	case 'O':
	case 'C':
	case 'G': return read_derived_type(n);
	case 'F': return read_function_type(n, NULL, 0);
	case 'A': n->next++; return read_array_type(n);
	case 'M': n->next++; return read_member_pointer(n);
	case 'T': return read_T_type(n);
	case 'S': return read_S_type(n, is_known);
	case 'D': return read_D_type(n);
	case 'u':
	case 'U': return read_vendor_type(n);
	default: return cpp_read_entity_name(n);
	}
}

struct cpp_node *cpp_read_type(struct cpp_name *n)
{
	struct cpp_node *type = read_builtin_type(n);
	bool is_known = false;

	if (type)
		return type;
	if (!cpp_enter(n)) {
		cpp_leave(n);
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	}
	type = read_new_type(n, &is_known);
	cpp_leave(n);
	return is_known ? type : cpp_remember(n, type);
}

/* ---- templates ------------------------------------------------------------------------------- */

struct cpp_node *cpp_read_template_parameter(struct cpp_name *n)
{
	cpp_expect(n, "T");
	return cpp_add_number(n, CPP_PARAMETER, NULL, cpp_read_index(n, false));
}

static struct cpp_node *read_template_argument(struct cpp_name *n)
{
	struct cpp_node *argument;

	switch (cpp_peek(n, 0)) {
	case 'X':
		n->next++;
		argument = cpp_read_expression(n);
		cpp_expect(n, "E");
		return argument;
	case 'L': return cpp_read_literal(n);
	case 'I':
	case 'J': return cpp_add_node(n, CPP_PACK, NULL, cpp_read_template_arguments(n));
	default: return cpp_read_type(n);
	}
}

struct cpp_node *cpp_read_template_arguments(struct cpp_name *n)
{
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, NULL, NULL), *last = list;
	struct cpp_node *last_name = n->last_name;
	bool was_conversion = n->is_conversion;

	if (!cpp_take(n, "I"))
		cpp_expect(n, "J");
	n->is_conversion = false;
	if (cpp_enter(n))
		while (!n->failed && !cpp_take(n, "E")) {
			if (last->left) {
				last->right = cpp_add_node(n, CPP_LIST, NULL, NULL);
				last = last->right;
			}
			last->left = read_template_argument(n);
		}
	cpp_leave(n);
	n->last_name = last_name;
	n->is_conversion = was_conversion;
	return list;
}
