/* SPDX-License-Identifier: MIT */
/* Names, functions, and what compilers make: the Itanium C++ ABI,
 * sections 5.1.2 to 5.1.4. */
#include "profile/symbols/demangle/cpp_name.h"

#include <ctype.h>
#include <string.h>

/* ---- unqualified names ----------------------------------------------------------------------- */

/* Skips the number of a name that its function has several times ("_1", "__12_"): it is not
 * shown. */
static void skip_discriminator(struct cpp_name *n)
{
	const char *begin = n->next;

	if (cpp_take(n, "__")) {
		while (isdigit((unsigned char)cpp_peek(n, 0)))
			n->next++;
		if (!cpp_take(n, "_"))
			n->next = begin;
	} else if (isdigit((unsigned char)cpp_peek(n, 1)) && cpp_take(n, "_")) {
		n->next++;
	}
}

static struct cpp_node *read_conversion(struct cpp_name *n)
{
	bool was_conversion = n->is_conversion;
	struct cpp_node *type;

	n->is_conversion = true;
	type = cpp_read_type(n);
	n->is_conversion = was_conversion;
	return cpp_add_node(n, CPP_CONVERSION, type, NULL);
}

static struct cpp_node *read_operator_name(struct cpp_name *n)
{
	const struct cpp_operator *op;
	struct cpp_node *name;

	if (cpp_take(n, "cv"))
		return read_conversion(n);
	if (cpp_take(n, "li")) {
		name = cpp_read_source_name(n);
		return cpp_add_node(n, CPP_LITERAL_OPERATOR, name, NULL);
	}
	op = cpp_peek(n, 1) ? cpp_find_operator(n->next) : NULL;
	n->failed |= !op;
	name = cpp_add_node(n, CPP_OPERATOR, NULL, NULL);
	if (!op)
		return name;
	name->op = op;
	n->next += 2;
	return name;
}

/* "C1", "D0", or "CI1" and a base class; "DC", names and "E" are a structured
 * binding. */
static struct cpp_node *read_constructor(struct cpp_name *n)
{
	enum cpp_kind kind = cpp_peek(n, 0) == 'C' ? CPP_CONSTRUCTOR : CPP_DESTRUCTOR;
	struct cpp_node *class = n->last_name;
	bool is_inherited;

	n->next++;
	is_inherited = cpp_take(n, "I");
	n->failed |= !class || !isdigit((unsigned char)cpp_peek(n, 0));
	if (n->failed)
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	n->next++;
	if (is_inherited) {
		cpp_read_type(n);
		n->last_name = class;
	}
	return cpp_add_node(n, kind, class, NULL);
}

static struct cpp_node *read_binding(struct cpp_name *n)
{
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, NULL, NULL), *last = list;

	cpp_expect(n, "DC");
	while (!n->failed && !cpp_take(n, "E")) {
		if (last->left) {
			last->right = cpp_add_node(n, CPP_LIST, NULL, NULL);
			last = last->right;
		}
		last->left = cpp_read_source_name(n);
	}
	return cpp_add_node(n, CPP_BINDING, list, NULL);
}

/* "Ut", "Ul": a type or a lambda without a name, with its number. */
static struct cpp_node *read_unnamed(struct cpp_name *n)
{
	struct cpp_node *parameters;

	if (cpp_take(n, "Ut"))
		return cpp_add_number(n, CPP_UNNAMED, NULL, 1 + cpp_read_index(n, false));
	cpp_expect(n, "Ul");
	parameters = cpp_read_parameters(n);
	cpp_expect(n, "E");
	return cpp_add_number(n, CPP_LAMBDA, parameters, 1 + cpp_read_index(n, false));
}

static struct cpp_node *read_untagged_name(struct cpp_name *n)
{
	char c = cpp_peek(n, 0);

	if (cpp_take(n, "L")) {
		struct cpp_node *name = cpp_read_source_name(n);

		skip_discriminator(n);
		return name;
	}
	if (isdigit((unsigned char)c))
		return cpp_read_source_name(n);
	if (islower((unsigned char)c))
		return read_operator_name(n);
	if (c == 'U')
		return read_unnamed(n);
	if (c == 'D' && cpp_peek(n, 1) == 'C')
		return read_binding(n);
	if (c == 'C' || c == 'D')
		return read_constructor(n);
	n->failed = true;
	return cpp_add_node(n, CPP_TEXT, NULL, NULL);
}

struct cpp_node *cpp_read_unqualified_name(struct cpp_name *n)
{
	struct cpp_node *name = read_untagged_name(n), *last = n->last_name;

	while (cpp_take(n, "B"))
		name = cpp_add_node(n, CPP_TAGGED, name, cpp_read_source_name(n));
	n->last_name = last;
	return name;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* One step of a nested name; @before: the steps before it, or NULL. */
static struct cpp_node *read_step(struct cpp_name *n, struct cpp_node *before)
{
	struct cpp_node *step;
	char c = cpp_peek(n, 0);

	if (c == 'I') {
		n->failed |= !before;
		return cpp_add_node(n, CPP_TEMPLATE, before, cpp_read_template_arguments(n));
	}
	if (c == 'S')
		step = cpp_read_substitution(n, true);
	else if (c == 'T')
		step = cpp_read_template_parameter(n);
	else if (c == 'D' && (cpp_peek(n, 1) == 't' || cpp_peek(n, 1) == 'T'))
		step = cpp_read_decltype(n);
	else
		step = cpp_read_unqualified_name(n);
	return before ? cpp_add_node(n, CPP_NESTED, before, step) : step;
}

static struct cpp_node *read_steps(struct cpp_name *n)
{
	struct cpp_node *name = NULL;
	bool is_known;

	while (!n->failed && !cpp_take(n, "E")) {
		if (name && cpp_take(n, "M"))
			continue; /* the lambda that follows initializes the member before it */
		is_known = !name && cpp_peek(n, 0) == 'S';
		name = read_step(n, name);
		if (!is_known && cpp_peek(n, 0) != 'E')
			cpp_remember(n, name);
	}
	n->failed |= !name;
	return name;
}

/* "N", the qualifiers of a member function, the steps of the name, "E". */
static struct cpp_node *read_nested_name(struct cpp_name *n)
{
	const char *letters = (cpp_expect(n, "N"), n->next);
	size_t length = cpp_take_qualifiers(n);
	const char *reference = cpp_take(n, "R") ? " &" : cpp_take(n, "O") ? " &&" : NULL;
	struct cpp_node *name = read_steps(n);

	while (length--) {
		name = cpp_add_node(n, CPP_OF_THIS, name, NULL);
		name->text = letters[length] == 'K'   ? " const"
		             : letters[length] == 'V' ? " volatile"
		                                      : " restrict";
	}
	if (reference) {
		name = cpp_add_node(n, CPP_OF_THIS, name, NULL);
		name->text = reference;
	}
	return name;
}

/* "Z", a function, "E", then what is in it: a name, a string, or what is in a
 * default argument. */
static struct cpp_node *read_local_name(struct cpp_name *n)
{
	struct cpp_node *function, *entity, *argument;

	cpp_expect(n, "Z");
	function = cpp_read_encoding(n);
	cpp_expect(n, "E");
	if (cpp_take(n, "s")) {
		skip_discriminator(n);
		entity = cpp_add_text(n, "string literal", 14);
	} else if (cpp_take(n, "d")) {
		argument = cpp_add_number(n, CPP_DEFAULT, NULL, 1 + cpp_read_index(n, false));
		entity = cpp_add_node(n, CPP_LOCAL, argument, cpp_read_entity_name(n));
	} else {
		entity = cpp_read_entity_name(n);
		skip_discriminator(n);
	}
	return cpp_add_node(n, CPP_LOCAL, function, entity);
}

/* A name that is neither nested nor local: it may begin with "St" or be known.
 * Sets *@is_known. */
static struct cpp_node *read_plain_name(struct cpp_name *n, bool *is_known)
{
	struct cpp_node *std;

	if (cpp_take(n, "St")) {
		std = cpp_add_text(n, "std", 3);
		return cpp_add_node(n, CPP_NESTED, std, cpp_read_unqualified_name(n));
	}
	*is_known = cpp_peek(n, 0) == 'S';
	return *is_known ? cpp_read_substitution(n, false) : cpp_read_unqualified_name(n);
}

struct cpp_node *cpp_read_entity_name(struct cpp_name *n)
{
	struct cpp_node *name;
	bool is_known = false;

	if (!cpp_enter(n)) {
		cpp_leave(n);
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	}
	if (cpp_peek(n, 0) == 'N') {
		name = read_nested_name(n);
	} else if (cpp_peek(n, 0) == 'Z') {
		name = read_local_name(n);
	} else {
		name = read_plain_name(n, &is_known);
		if (cpp_peek(n, 0) == 'I') {
			if (!is_known)
				cpp_remember(n, name);
			name = cpp_add_node(n, CPP_TEMPLATE, name, cpp_read_template_arguments(n));
		}
	}
	cpp_leave(n);
	return n->failed ? cpp_add_node(n, CPP_TEXT, NULL, NULL) : name;
}

/* ---- what compilers make --------------------------------------------------------------------- */

static struct cpp_node *add_prefixed(struct cpp_name *n, const char *text, struct cpp_node *of)
{
	struct cpp_node *node = cpp_add_node(n, CPP_PREFIXED, of, NULL);

	node->text = text;
	return node;
}

static void skip_number(struct cpp_name *n)
{
	cpp_take(n, "n");
	cpp_read_decimal(n);
	cpp_expect(n, "_");
}

/* "h", an offset; or "v", two offsets. */
static void skip_call_offset(struct cpp_name *n)
{
	bool is_virtual = cpp_take(n, "v");

	if (!is_virtual)
		cpp_expect(n, "h");
	skip_number(n);
	if (is_virtual)
		skip_number(n);
}

/* Prefixes of types, then those of names: the code and the text. */
static const char *const type_prefixes[][2] = {
	{ "TV", "vtable for " },        { "TT", "VTT for " },         { "TI", "typeinfo for " },
	{ "TS", "typeinfo name for " }, { "TF", "typeinfo fn for " }, { "TJ", "java Class for " },
};

static const char *const name_prefixes[][2] = {
	{ "GV", "guard variable for " },
	{ "TH", "TLS init function for " },
	{ "TW", "TLS wrapper function for " },
};

static const char *const function_prefixes[][2] = {
	{ "GA", "hidden alias for " },
	{ "GTt", "transaction clone for " },
	{ "GTn", "non-transaction clone for " },
};

/* The text of the prefix that comes next, which is skipped; NULL: none does. */
static const char *take_prefix(struct cpp_name *n, const char *const list[][2], size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (cpp_take(n, list[i][0]))
			return list[i][1];
	return NULL;
}

static struct cpp_node *read_thunk(struct cpp_name *n)
{
	const char *text = cpp_peek(n, 1) == 'h'   ? "non-virtual thunk to "
	                   : cpp_peek(n, 1) == 'v' ? "virtual thunk to "
	                                           : "covariant return thunk to ";

	n->next++;
	if (cpp_take(n, "c"))
		skip_call_offset(n);
	skip_call_offset(n);
	return add_prefixed(n, text, cpp_read_encoding(n));
}

static struct cpp_node *read_construction_vtable(struct cpp_name *n)
{
	struct cpp_node *derived = cpp_read_type(n);

	cpp_read_decimal(n);
	cpp_expect(n, "_");
	return cpp_add_node(n, CPP_VTABLE_IN, cpp_read_type(n), derived);
}

static struct cpp_node *read_reference_temporary(struct cpp_name *n)
{
	struct cpp_node *name = cpp_read_entity_name(n);
	uint32_t number = 0;

	if (cpp_peek(n, 0))
		number = cpp_read_index(n, true);
	return cpp_add_number(n, CPP_TEMPORARY, name, number);
}

#define SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct cpp_node *read_special(struct cpp_name *n)
{
	const char *text = take_prefix(n, type_prefixes, SIZE(type_prefixes));

	if (text)
		return add_prefixed(n, text, cpp_read_type(n));
	text = take_prefix(n, name_prefixes, SIZE(name_prefixes));
	if (text)
		return add_prefixed(n, text, cpp_read_entity_name(n));
	text = take_prefix(n, function_prefixes, SIZE(function_prefixes));
	if (text)
		return add_prefixed(n, text, cpp_read_encoding(n));
	if (cpp_take(n, "TC"))
		return read_construction_vtable(n);
	if (cpp_take(n, "GR"))
		return read_reference_temporary(n);
	if (cpp_take(n, "TA"))
		return add_prefixed(
			n, "template parameter object for ",
			cpp_add_node(n, CPP_LIST, cpp_read_template_arguments(n)->left, NULL));
	return read_thunk(n);
}

/* ---- functions ------------------------------------------------------------------------------- */

const struct cpp_node *cpp_get_own_name(const struct cpp_node *name)
{
	while (name->kind == CPP_OF_THIS || name->kind == CPP_LOCAL)
		name = name->kind == CPP_LOCAL ? name->right : name->left;
	return name;
}

/* Constructors, destructors and conversions have no return type in their names.
 */
static bool has_no_result(const struct cpp_node *name)
{
	while (name &&
	       (name->kind == CPP_NESTED || name->kind == CPP_TAGGED || name->kind == CPP_LOCAL))
		name = name->kind == CPP_TAGGED ? name->left : name->right;
	return name && (name->kind == CPP_CONSTRUCTOR || name->kind == CPP_DESTRUCTOR ||
	                name->kind == CPP_CONVERSION);
}

static bool has_result(const struct cpp_node *name)
{
	name = cpp_get_own_name(name);
	return name->kind == CPP_TEMPLATE && !has_no_result(name->left);
}

static struct cpp_node *read_function(struct cpp_name *n, struct cpp_node *name)
{
	struct cpp_node *function = cpp_add_node(n, CPP_FUNCTION, NULL, NULL);
	bool has_type = cpp_take(n, "J") || has_result(name);

	if (has_type)
		function->left = cpp_read_type(n);
	function->right = cpp_read_parameters(n);
	return cpp_add_node(n, CPP_TYPED, name, function);
}

struct cpp_node *cpp_read_encoding(struct cpp_name *n)
{
	char c = cpp_peek(n, 0), d = cpp_peek(n, 1);
	struct cpp_node *name = NULL;

	if (cpp_enter(n)) {
		if (c == 'T' || (c == 'G' && (d == 'V' || d == 'R' || d == 'A' || d == 'T')))
			name = read_special(n);
		else
			name = cpp_read_entity_name(n);
		c = cpp_peek(n, 0);
		if (!n->failed && name->kind != CPP_PREFIXED && name->kind != CPP_VTABLE_IN &&
		    name->kind != CPP_TEMPORARY && c && c != 'E' && c != '.')
			name = read_function(n, name);
	}
	cpp_leave(n);
	return name && !n->failed ? name : cpp_add_node(n, CPP_TEXT, NULL, NULL);
}
