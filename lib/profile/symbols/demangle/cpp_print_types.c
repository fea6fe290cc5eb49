/* SPDX-License-Identifier: MIT */
/* Types, whose text has a part before and a part after the name of what has the
 * type: of "int (*name) [5]" these are "int (*" and ") [5]". */
#include "profile/symbols/demangle/cpp_name.h"

#include <string.h>

static void print_before(struct cpp_text *t, const struct cpp_node *node);

/* A pointer or reference: to what, and its sign. */
struct derived_type {
	const struct cpp_node *to;
	const char *sign;
};

/* Returns the type that @node points or refers to, and the sign. References to references collapse:
 * "&" wins over "&&". Sets t->scope to the scope of the result. */
static struct derived_type get_derived(struct cpp_text *t, const struct cpp_node *node)
{
	struct derived_type d = { cpp_resolve(t, node->left), node->kind == CPP_POINTER ? "*"
		                                              : node->kind == CPP_REFERENCE
		                                                      ? "&"
		                                                      : "&&" };

	while (node->kind != CPP_POINTER && !t->failed &&
	       (d.to->kind == CPP_REFERENCE || d.to->kind == CPP_RVALUE)) {
		if (d.to->kind == CPP_REFERENCE)
			d.sign = "&";
		d.to = cpp_resolve(t, d.to->left);
	}
	return d;
}

/* The kind of @node without its qualifiers. */
static enum cpp_kind get_plain_kind(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *scope = t->scope;

	node = cpp_resolve(t, node);
	while (!t->failed && (node->kind == CPP_QUALIFIED || node->kind == CPP_EXTENDED))
		node = cpp_resolve(t, node->left);
	t->scope = scope;
	return node->kind;
}

static bool is_function(struct cpp_text *t, const struct cpp_node *node)
{
	return get_plain_kind(t, node) == CPP_FUNCTION;
}

/* Has the type @node a part after its name? */
static bool has_part_after(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *scope = t->scope;

	node = cpp_resolve(t, node);
	while (!t->failed && (node->kind == CPP_POINTER || node->kind == CPP_REFERENCE ||
	                      node->kind == CPP_RVALUE || node->kind == CPP_MEMBER_POINTER ||
	                      node->kind == CPP_QUALIFIED))
		node = cpp_resolve(t, node->kind == CPP_MEMBER_POINTER ? node->right : node->left);
	t->scope = scope;
	return node->kind == CPP_FUNCTION || node->kind == CPP_ARRAY;
}

/* Opens the parenthesis that a sign before a function or an array needs. */
static void open_sign(struct cpp_text *t, const struct cpp_node *to)
{
	enum cpp_kind kind = get_plain_kind(t, to);

	if (kind == CPP_ARRAY || kind == CPP_FUNCTION)
		cpp_put(t, kind == CPP_ARRAY ? " (" : "(");
}

static void close_sign(struct cpp_text *t, const struct cpp_node *to)
{
	enum cpp_kind kind = get_plain_kind(t, to);

	if (kind == CPP_ARRAY || kind == CPP_FUNCTION)
		cpp_put(t, ")");
}

static void print_derived(struct cpp_text *t, const struct cpp_node *node, bool is_before)
{
	const struct cpp_scope *scope = t->scope;
	struct derived_type d = get_derived(t, node);

	if (is_before) {
		print_before(t, d.to);
		open_sign(t, d.to);
		cpp_put(t, d.sign);
	} else {
		close_sign(t, d.to);
		cpp_print_after(t, d.to);
	}
	t->scope = scope;
}

static void print_before_member(struct cpp_text *t, const struct cpp_node *node)
{
	size_t begin;

	print_before(t, node->right);
	begin = t->length;
	open_sign(t, node->right);
	if (t->length == begin)
		cpp_put(t, " ");
	cpp_print(t, node->left);
	cpp_put(t, "::*");
}

/* Has the type in the qualified type @node the same qualifier? A parameter may stand for one that
 * is const already. */
static bool is_qualified_twice(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *scope = t->scope;
	const struct cpp_node *inner = cpp_resolve(t, node->left);

	while (!t->failed && inner->kind == CPP_QUALIFIED && inner->text != node->text)
		inner = cpp_resolve(t, inner->left);
	t->scope = scope;
	return inner->kind == CPP_QUALIFIED;
}

/* A qualifier is after the type, that of a function after its parameters. */
static void print_qualifier(struct cpp_text *t, const struct cpp_node *node)
{
	if (node->kind == CPP_QUALIFIED) {
		if (!is_qualified_twice(t, node))
			cpp_put_bytes(t, node->text, node->length);
		return;
	}
	if (node->right->kind != CPP_PREFIXED && cpp_last_char(t) != ' ' &&
	    !(node->right->kind == CPP_TEXT && node->right->text[0] == ' '))
		cpp_put(t, " ");
	cpp_print(t, node->right);
}

void cpp_print_result(struct cpp_text *t, const struct cpp_node *type)
{
	print_before(t, type);
	if (!has_part_after(t, type))
		cpp_put(t, " ");
}

static void print_parts_before(struct cpp_text *t, const struct cpp_node *node)
{
	switch (node->kind) {
	case CPP_POINTER:
	case CPP_REFERENCE:
	case CPP_RVALUE: print_derived(t, node, true); break;
	case CPP_MEMBER_POINTER: print_before_member(t, node); break;
	case CPP_FUNCTION:
		if (node->left)
			cpp_print_result(t, node->left);
		break;
	case CPP_ARRAY: print_before(t, node->right); break;
	case CPP_QUALIFIED:
	case CPP_EXTENDED:
		print_before(t, node->left);
		if (!is_function(t, node->left))
			print_qualifier(t, node);
		break;
	default: cpp_print_name(t, node); break;
	}
}

static void print_array_size(struct cpp_text *t, const struct cpp_node *node)
{
	if (cpp_last_char(t) != ']')
		cpp_put(t, " ");
	cpp_put(t, "[");
	if (node->left)
		cpp_print(t, node->left);
	cpp_put(t, "]");
	cpp_print_after(t, node->right);
}

/* Prints what C++ writes after the declared name: parameters, bounds of arrays, qualifiers. */
static void print_parts_after(struct cpp_text *t, const struct cpp_node *node)
{
	switch (node->kind) {
	case CPP_POINTER:
	case CPP_REFERENCE:
	case CPP_RVALUE: print_derived(t, node, false); break;
	case CPP_MEMBER_POINTER:
		close_sign(t, node->right);
		cpp_print_after(t, node->right);
		break;
	case CPP_FUNCTION:
		cpp_print_parameters(t, node);
		if (node->left)
			cpp_print_after(t, node->left);
		break;
	case CPP_ARRAY: print_array_size(t, node); break;
	case CPP_QUALIFIED:
	case CPP_EXTENDED:
		cpp_print_after(t, node->left);
		if (is_function(t, node->left))
			print_qualifier(t, node);
		break;
	default: break;
	}
}

static void print_before(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *scope = t->scope;

	if (cpp_begin_node(t))
		print_parts_before(t, cpp_resolve(t, node));
	cpp_end_node(t);
	t->scope = scope;
}

void cpp_print_after(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *scope = t->scope;

	if (cpp_begin_node(t))
		print_parts_after(t, cpp_resolve(t, node));
	cpp_end_node(t);
	t->scope = scope;
}

void cpp_print(struct cpp_text *t, const struct cpp_node *node)
{
	print_before(t, node);
	cpp_print_after(t, node);
}
