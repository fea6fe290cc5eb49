/* SPDX-License-Identifier: MIT */
/* Names of functions, variables and types. */
#include "profile/symbols/demangle/cpp_name.h"

#include <ctype.h>

static void print_numbered(struct cpp_text *t, const char *text, const struct cpp_node *node)
{
	cpp_put(t, text);
	cpp_put_number(t, node->number);
	cpp_put(t, "}");
}

/* A lambda; template parameters in its own parameters are "auto:1", "auto:2".
 */
static void print_lambda(struct cpp_text *t, const struct cpp_node *node)
{
	bool was_in_lambda = t->is_in_lambda;

	t->is_in_lambda = true;
	cpp_put(t, "{lambda(");
	cpp_print_list(t, node->left);
	print_numbered(t, ")#", node);
	t->is_in_lambda = was_in_lambda;
}

static void print_operator(struct cpp_text *t, const struct cpp_node *node)
{
	const char *text = node->op->text;
	size_t length = 0;

	while (text[length] && !(text[length] == ' ' && !text[length + 1]))
		length++;
	cpp_put(t, islower((unsigned char)text[0]) ? "operator " : "operator");
	cpp_put_bytes(t, text, length);
}

/* The last step of a name. */
static const struct cpp_node *get_last_step(const struct cpp_node *node)
{
	while (node->kind == CPP_NESTED)
		node = node->right;
	return node;
}

/* A conversion of a template is to a type that its own arguments make. */
static void print_template(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_scope *outer = t->scope, own = { node->right, outer };

	if (get_last_step(node->left)->kind == CPP_CONVERSION)
		t->scope = &own;
	cpp_print(t, node->left);
	t->scope = outer;
	cpp_put(t, cpp_last_char(t) == '<' ? " <" : "<");
	cpp_print_list(t, node->right);
	cpp_put(t, cpp_last_char(t) == '>' ? " >" : ">");
}

/* ---- functions ------------------------------------------------------------------------------- */

static void print_function(struct cpp_text *t, const struct cpp_node *node, bool has_result);

/* @name without the qualifiers of its function; what it is local to comes
 * first. */
static void print_bare_name(struct cpp_text *t, const struct cpp_node *name)
{
	for (; name->kind == CPP_OF_THIS || name->kind == CPP_LOCAL;
	     name = name->kind == CPP_LOCAL ? name->right : name->left) {
		if (name->kind == CPP_OF_THIS)
			continue;
		if (name->left->kind == CPP_TYPED)
			print_function(t, name->left, false);
		else
			cpp_print(t, name->left);
		cpp_put(t, "::");
	}
	cpp_print(t, name);
}

/* The qualifiers of the function called @name, the innermost first. */
static void print_qualifiers(struct cpp_text *t, const struct cpp_node *name)
{
	while (name->kind == CPP_LOCAL)
		name = name->right;
	if (name->kind != CPP_OF_THIS)
		return;
	print_qualifiers(t, name->left);
	cpp_put(t, name->text);
}

void cpp_print_parameters(struct cpp_text *t, const struct cpp_node *function)
{
	cpp_put(t, "(");
	cpp_print_list(t, function->right);
	cpp_put(t, ")");
}

/* Result, name and parameters. What a template function is made of refers to
 * its arguments; its name does not. */
static void print_function(struct cpp_text *t, const struct cpp_node *node, bool has_result)
{
	const struct cpp_node *name = node->left, *type = node->right,
			      *own = cpp_get_own_name(name);
	const struct cpp_scope *outer = t->scope, inner = { own->right, outer };
	const struct cpp_scope *scope = own->kind == CPP_TEMPLATE ? &inner : outer;

	has_result = has_result && type->left;
	t->scope = scope;
	if (has_result)
		cpp_print_result(t, type->left);
	t->scope = outer;
	print_bare_name(t, name);
	t->scope = scope;
	cpp_print_parameters(t, type);
	print_qualifiers(t, name);
	if (has_result)
		cpp_print_after(t, type->left);
	t->scope = outer;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void print_enclosed(struct cpp_text *t, const char *open, const struct cpp_node *node,
                           const char *close)
{
	cpp_put(t, open);
	cpp_print(t, node);
	cpp_put(t, close);
}

static void print_vector(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_print(t, node->right);
	print_enclosed(t, " __vector(", node->left, ")");
}

static void print_sized(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, node->text);
	cpp_put_number(t, node->number);
	if (node->left)
		cpp_print(t, node->left);
}

/* A template parameter of a lambda. */
static void print_auto(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, "auto:");
	cpp_put_number(t, node->number + 1);
}

static void print_temporary(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, "reference temporary #");
	cpp_put_number(t, node->number);
	print_enclosed(t, " for ", node->left, "");
}

static void print_argument(struct cpp_text *t, const struct cpp_node *node)
{
	if (node->number)
		print_numbered(t, "{parm#", node);
	else
		cpp_put(t, "this");
}

/* Two names with @text between them. */
static void print_pair(struct cpp_text *t, const struct cpp_node *first, const char *text,
                       const struct cpp_node *second)
{
	cpp_print(t, first);
	cpp_put(t, text);
	cpp_print(t, second);
}

void cpp_print_name(struct cpp_text *t, const struct cpp_node *node)
{
	switch (node->kind) {
	case CPP_TEXT: cpp_put_bytes(t, node->text, node->length); break;
	case CPP_NESTED: print_pair(t, node->left, "::", node->right); break;
	case CPP_LOCAL:
	case CPP_OF_THIS:
		print_bare_name(t, node);
		print_qualifiers(t, node);
		break;
	case CPP_TEMPLATE: print_template(t, node); break;
	case CPP_LIST: cpp_print_list(t, node); break;
	case CPP_PACK: cpp_print_list(t, node->right); break;
	case CPP_TYPED: print_function(t, node, true); break;
	case CPP_VECTOR: print_vector(t, node); break;
	case CPP_SIZED: print_sized(t, node); break;
	case CPP_PARAMETER: print_auto(t, node); break;
	case CPP_PREFIXED: print_enclosed(t, node->text, node->left, ""); break;
	case CPP_VTABLE_IN:
		cpp_put(t, "construction vtable for ");
		print_pair(t, node->left, "-in-", node->right);
		break;
	case CPP_TEMPORARY: print_temporary(t, node); break;
	case CPP_CONSTRUCTOR: cpp_print(t, node->left); break;
	case CPP_DESTRUCTOR: print_enclosed(t, "~", node->left, ""); break;
	case CPP_OPERATOR: print_operator(t, node); break;
	case CPP_LITERAL_OPERATOR: print_enclosed(t, "operator\"\" ", node->left, ""); break;
	case CPP_CONVERSION: print_enclosed(t, "operator ", node->left, ""); break;
	case CPP_LAMBDA: print_lambda(t, node); break;
	case CPP_UNNAMED: print_numbered(t, "{unnamed type#", node); break;
	case CPP_DEFAULT: print_numbered(t, "{default arg#", node); break;
	case CPP_BINDING: print_enclosed(t, "[", node->left, "]"); break;
	case CPP_TAGGED:
		print_pair(t, node->left, "[abi:", node->right);
		cpp_put(t, "]");
		break;
	case CPP_CLONE:
		print_enclosed(t, "", node->left, " [clone ");
		cpp_put_bytes(t, node->text, node->length);
		cpp_put(t, "]");
		break;
	case CPP_EXPANSION: cpp_print_expansion(t, node); break;
	case CPP_DECLTYPE: print_enclosed(t, "decltype (", node->left, ")"); break;
	case CPP_ARGUMENT: print_argument(t, node); break;
	default: cpp_print_expression(t, node); break;
	}
}
