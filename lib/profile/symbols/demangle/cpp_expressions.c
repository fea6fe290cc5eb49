/* SPDX-License-Identifier: MIT */
/* Expressions, in types and template arguments: the Itanium C++ ABI,
 * section 5.1.6. */
#include "profile/symbols/demangle/cpp_name.h"

#include <ctype.h>
#include <string.h>

/* Expressions up to @end, which is skipped. */
static struct cpp_node *read_expressions(struct cpp_name *n, const char *end)
{
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, NULL, NULL), *last = list;

	while (!n->failed && !cpp_take(n, end)) {
		if (last->left) {
			last->right = cpp_add_node(n, CPP_LIST, NULL, NULL);
			last = last->right;
		}
		last->left = cpp_read_expression(n);
	}
	return list;
}

/* "L", a type and digits, or a name with an own mangling; then "E". */
struct cpp_node *cpp_read_literal(struct cpp_name *n)
{
	struct cpp_node *literal;
	const char *text;

	cpp_expect(n, "L");
	if (cpp_take(n, "_Z") || cpp_take(n, "Z")) {
		literal = cpp_read_encoding(n);
		cpp_expect(n, "E");
		return literal;
	}
	literal = cpp_add_node(n, CPP_LITERAL, cpp_read_type(n), NULL);
	text = n->next;
	while (cpp_peek(n, 0) && cpp_peek(n, 0) != 'E')
		n->next++;
	literal->text = text;
	literal->length = (uint32_t)(n->next - text);
	cpp_expect(n, "E");
	return literal;
}

/* "fp_", "fp0_", "fpT", or "fL1p_" of an outer function. */
static struct cpp_node *read_function_argument(struct cpp_name *n)
{
	if (cpp_take(n, "fpT"))
		return cpp_add_number(n, CPP_ARGUMENT, NULL, 0);
	if (cpp_take(n, "fL")) {
		cpp_read_decimal(n);
		cpp_expect(n, "p");
	} else {
		cpp_expect(n, "fp");
	}
	cpp_take_qualifiers(n);
	return cpp_add_number(n, CPP_ARGUMENT, NULL, 1 + cpp_read_index(n, false));
}

/* ---- names ----------------------------------------------------------------------------------- */

/* @scope::name, or the name alone; with "on" an operator, with "dn" a
 * destructor. */
static struct cpp_node *read_base_name(struct cpp_name *n, struct cpp_node *scope)
{
	struct cpp_node *name;

	if (cpp_take(n, "dn")) {
		name = isdigit((unsigned char)cpp_peek(n, 0)) ? cpp_read_unqualified_name(n)
		                                              : cpp_read_type(n);
		name = cpp_add_node(n, CPP_DESTRUCTOR, name, NULL);
	} else {
		cpp_take(n, "on");
		name = cpp_read_unqualified_name(n);
	}
	if (cpp_peek(n, 0) == 'I')
		name = cpp_add_node(n, CPP_TEMPLATE, name, cpp_read_template_arguments(n));
	return scope ? cpp_add_node(n, CPP_NESTED, scope, name) : name;
}

/* The scope of a dependent name: a type, or levels of names up to "E". A
 * template without "E" after it is a type, which later references count;
 * compilers write both. */
static struct cpp_node *read_scope(struct cpp_name *n)
{
	const char *begin = n->next;
	uint32_t n_parts = n->n_parts;
	struct cpp_node *scope;

	if (!isdigit((unsigned char)cpp_peek(n, 0)))
		return cpp_read_type(n);
	scope = read_base_name(n, NULL);
	if (scope->kind == CPP_TEMPLATE && cpp_peek(n, 0) != 'E' && !n->failed) {
		n->next = begin;
		n->n_parts = n_parts;
		return cpp_read_type(n);
	}
	while (!n->failed && !cpp_take(n, "E"))
		scope = read_base_name(n, scope);
	return scope;
}

/* "sr", a scope and a name. */
static struct cpp_node *read_scoped_name(struct cpp_name *n)
{
	struct cpp_node *scope;

	cpp_expect(n, "sr");
	scope = read_scope(n);
	return read_base_name(n, scope);
}

/* ---- operators ------------------------------------------------------------------------------- */

static struct cpp_node *add_operation(struct cpp_name *n, enum cpp_kind kind,
                                      const struct cpp_operator *op, struct cpp_node *left,
                                      struct cpp_node *right)
{
	struct cpp_node *node = cpp_add_node(n, kind, left, right);

	node->op = op;
	return node;
}

/* Reads the member after "." or "->": a name, or an expression. */
static struct cpp_node *read_member(struct cpp_name *n)
{
	char c = cpp_peek(n, 0), d = cpp_peek(n, 1);

	if (isdigit((unsigned char)c) || (c == 'o' && d == 'n') || (c == 'd' && d == 'n'))
		return read_base_name(n, NULL);
	return cpp_read_expression(n);
}

static struct cpp_node *read_two(struct cpp_name *n, const struct cpp_operator *op)
{
	struct cpp_node *left = cpp_read_expression(n);

	return add_operation(n, CPP_BINARY, op, left,
	                     op->form == '.' ? read_member(n) : cpp_read_expression(n));
}

static struct cpp_node *read_choice(struct cpp_name *n, const struct cpp_operator *op)
{
	struct cpp_node *condition = cpp_read_expression(n);
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, cpp_read_expression(n), NULL);

	list->right = cpp_add_node(n, CPP_LIST, cpp_read_expression(n), NULL);
	return add_operation(n, CPP_CHOICE, op, condition, list);
}

static struct cpp_node *read_call(struct cpp_name *n, const struct cpp_operator *op)
{
	struct cpp_node *function = read_member(n);

	return add_operation(n, CPP_CALL, op, function, read_expressions(n, "E"));
}

/* Placement, "_", type; then "E", or arguments between "pi" or "il" and "E". */
static struct cpp_node *read_new(struct cpp_name *n, const struct cpp_operator *op)
{
	struct cpp_node *placement = read_expressions(n, "_");
	struct cpp_node *list = cpp_add_node(n, CPP_LIST, cpp_read_type(n), NULL);

	if (cpp_take(n, "pi"))
		list->right = read_expressions(n, "E");
	else if (cpp_peek(n, 0) == 'i')
		list->right = cpp_add_node(n, CPP_LIST, cpp_read_expression(n), NULL);
	else
		cpp_expect(n, "E");
	return add_operation(n, CPP_NEW, op, list, placement);
}

static struct cpp_node *read_named_cast(struct cpp_name *n, const struct cpp_operator *op)
{
	struct cpp_node *type = cpp_read_type(n);

	return add_operation(n, CPP_NAMED_CAST, op, type, cpp_read_expression(n));
}

/* "++x" has "_" after its code, "x++" has not. */
static struct cpp_node *read_step(struct cpp_name *n, const struct cpp_operator *op)
{
	enum cpp_kind kind = cpp_take(n, "_") ? CPP_UNARY : CPP_POSTFIX;

	return add_operation(n, kind, op, cpp_read_expression(n), NULL);
}

static struct cpp_node *read_operation(struct cpp_name *n, const struct cpp_operator *op)
{
	switch (op->form) {
	case '0': return add_operation(n, CPP_UNARY, op, NULL, NULL);
	case '1':
	case 'd':
	case 'x': return add_operation(n, CPP_UNARY, op, cpp_read_expression(n), NULL);
	case '+': return read_step(n, op);
	case '3': return read_choice(n, op);
	case '(': return read_call(n, op);
	case 'n': return read_new(n, op);
	case 'c': return read_named_cast(n, op);
	case 'T': return add_operation(n, CPP_TYPE_OPERAND, op, cpp_read_type(n), NULL);
	default: return read_two(n, op);
	}
}

/* "cv", a type and an operand, or "_" and a list of operands. */
static struct cpp_node *read_cast(struct cpp_name *n)
{
	struct cpp_node *type;
	bool was_conversion = n->is_conversion;

	cpp_expect(n, "cv");
	n->is_conversion = false;
	type = cpp_read_type(n);
	n->is_conversion = was_conversion;
	if (cpp_take(n, "_"))
		return cpp_add_node(n, CPP_CAST, type, read_expressions(n, "E"));
	return cpp_add_node(n, CPP_CAST, type, cpp_read_expression(n));
}

/* "fl", "fr", "fL", "fR", and an operator: an operand repeated for all elements
 * of a pack. */
static struct cpp_node *read_fold(struct cpp_name *n)
{
	const char *order = n->next;
	const struct cpp_operator *op = NULL;
	struct cpp_node *left, *right = NULL, *fold;

	n->next += 2;
	if (cpp_peek(n, 1))
		op = cpp_find_operator(n->next);
	n->failed |= !op;
	if (!op)
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	n->next += 2;
	left = cpp_read_expression(n);
	if (order[1] == 'L' || order[1] == 'R')
		right = cpp_read_expression(n);
	fold = add_operation(n, CPP_FOLD, op, left, right);
	fold->text = order;
	fold->length = 2;
	return fold;
}

/* "tl" and a type, or "il"; then the elements of a list. */
static struct cpp_node *read_braces(struct cpp_name *n)
{
	struct cpp_node *type = cpp_take(n, "tl") ? cpp_read_type(n) : NULL;

	if (!type)
		cpp_expect(n, "il");
	return cpp_add_node(n, CPP_BRACES, type, read_expressions(n, "E"));
}

static bool is_fold(const struct cpp_name *n)
{
	return cpp_peek(n, 0) == 'f' && cpp_peek(n, 1) && strchr("lrLR", cpp_peek(n, 1)) &&
	       !(cpp_peek(n, 1) == 'L' && isdigit((unsigned char)cpp_peek(n, 2)));
}

static struct cpp_node *read_pack_size(struct cpp_name *n)
{
	struct cpp_node *pack;

	cpp_expect(n, "sZ");
	pack = cpp_peek(n, 0) == 'f' ? read_function_argument(n) : cpp_read_template_parameter(n);
	return cpp_add_node(n, CPP_COUNT, pack, NULL);
}

static struct cpp_node *read_new_expression(struct cpp_name *n)
{
	char c = cpp_peek(n, 0), d = cpp_peek(n, 1);
	const struct cpp_operator *op;

	if (c == 'L')
		return cpp_read_literal(n);
	if (c == 'T')
		return cpp_read_template_parameter(n);
	if (is_fold(n))
		return read_fold(n);
	if (c == 'f')
		return read_function_argument(n);
	if (c == 's' && d == 'r')
		return read_scoped_name(n);
	if (cpp_take(n, "sp"))
		return cpp_add_node(n, CPP_EXPANSION, cpp_read_expression(n), NULL);
	if (c == 's' && d == 'Z')
		return read_pack_size(n);
	if (c == 'c' && d == 'v')
		return read_cast(n);
	if ((c == 't' || c == 'i') && d == 'l')
		return read_braces(n);
	if (isdigit((unsigned char)c) || (c == 'o' && d == 'n') || (c == 'd' && d == 'n'))
		return read_base_name(n, NULL);
	if (cpp_take(n, "gs")) {
		struct cpp_node *inner = cpp_read_expression(n);

		inner = cpp_add_node(n, CPP_PREFIXED, inner, NULL);
		inner->text = "::";
		return inner;
	}
	op = d ? cpp_find_operator(n->next) : NULL;
	n->failed |= !op;
	if (!op)
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	n->next += 2;
	return read_operation(n, op);
}

struct cpp_node *cpp_read_expression(struct cpp_name *n)
{
	struct cpp_node *expression;

	if (!cpp_enter(n)) {
		cpp_leave(n);
		return cpp_add_node(n, CPP_TEXT, NULL, NULL);
	}
	expression = read_new_expression(n);
	cpp_leave(n);
	return expression;
}
