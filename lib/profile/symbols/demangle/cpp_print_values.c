/* SPDX-License-Identifier: MIT */
/* Expressions. An operand has parentheses unless it is a name. */
#include "profile/symbols/demangle/cpp_name.h"

#include <string.h>

static bool is_simple(const struct cpp_node *node)
{
	return node->kind == CPP_TEXT || node->kind == CPP_NESTED || node->kind == CPP_BRACES ||
	       node->kind == CPP_ARGUMENT;
}

void cpp_print_operand(struct cpp_text *t, const struct cpp_node *node)
{
	bool has_parentheses = !is_simple(node);

	if (has_parentheses)
		cpp_put(t, "(");
	cpp_print(t, node);
	if (has_parentheses)
		cpp_put(t, ")");
}

/* Integers of these types have no type before them, but letters behind. */
static const struct integer_type {
	const char *name, *suffix;
} integer_types[] = {
	{ "int", "" },         { "unsigned int", "u" },
	{ "long", "l" },       { "unsigned long", "ul" },
	{ "long long", "ll" }, { "unsigned long long", "ull" },
};

static bool is_type(const struct cpp_node *node, const char *name)
{
	return node->kind == CPP_TEXT && node->length == strlen(name) &&
	       memcmp(node->text, name, node->length) == 0;
}

static const char *get_suffix(const struct cpp_node *type)
{
	for (size_t i = 0; i < sizeof(integer_types) / sizeof(integer_types[0]); i++)
		if (is_type(type, integer_types[i].name))
			return integer_types[i].suffix;
	return NULL;
}

static bool is_floating(const struct cpp_node *type)
{
	return is_type(type, "float") || is_type(type, "double") || is_type(type, "long double") ||
	       is_type(type, "__float128");
}

/* Digits, after "n" for a negative number. */
static void put_digits(struct cpp_text *t, const struct cpp_node *literal)
{
	bool is_negative = literal->length && literal->text[0] == 'n';

	if (is_negative)
		cpp_put(t, "-");
	cpp_put_bytes(t, literal->text + is_negative, literal->length - is_negative);
}

static void print_literal(struct cpp_text *t, const struct cpp_node *literal)
{
	const char *suffix = get_suffix(literal->left);
	bool is_bool = is_type(literal->left, "bool") && literal->length == 1;

	if (is_bool && (literal->text[0] == '0' || literal->text[0] == '1')) {
		cpp_put(t, literal->text[0] == '1' ? "true" : "false");
		return;
	}
	if (suffix) {
		put_digits(t, literal);
		cpp_put(t, suffix);
		return;
	}
	cpp_put(t, "(");
	cpp_print(t, literal->left);
	cpp_put(t, ")");
	if (is_floating(literal->left))
		cpp_put(t, "[");
	put_digits(t, literal);
	if (is_floating(literal->left))
		cpp_put(t, "]");
}

/* The function that is called, or of which the address is taken, without its
 * parameters. */
static const struct cpp_node *get_function_name(const struct cpp_node *node)
{
	return node->kind == CPP_TYPED ? node->left : node;
}

static void print_unary(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_node *operand = node->left;

	cpp_put(t, node->op->text);
	if (!operand)
		return;
	if (strcmp(node->op->code, "ad") == 0 && operand->kind == CPP_TYPED &&
	    operand->left->kind == CPP_NESTED)
		operand = operand->left;
	cpp_print_operand(t, operand);
}

static void print_binary(struct cpp_text *t, const struct cpp_node *node)
{
	/* ">" would end the template arguments. */
	bool has_parentheses = strcmp(node->op->code, "gt") == 0;

	if (has_parentheses)
		cpp_put(t, "(");
	cpp_print_operand(t, node->left);
	if (node->op->form == '[') {
		cpp_put(t, "[");
		cpp_print(t, node->right);
		cpp_put(t, "]");
	} else {
		cpp_put(t, node->op->text);
		cpp_print_operand(t, node->right);
	}
	if (has_parentheses)
		cpp_put(t, ")");
}

static void print_choice(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_print_operand(t, node->left);
	cpp_put(t, "?");
	cpp_print_operand(t, node->right->left);
	cpp_put(t, " : ");
	cpp_print_operand(t, node->right->right->left);
}

static void put_list(struct cpp_text *t, const char *open, const struct cpp_node *list,
                     const char *close)
{
	cpp_put(t, open);
	cpp_print_list(t, list);
	cpp_put(t, close);
}

static void print_new(struct cpp_text *t, const struct cpp_node *node)
{
	const struct cpp_node *arguments = node->left->right;

	cpp_put(t, node->op->text);
	cpp_put(t, " ");
	if (node->right->left)
		put_list(t, "(", node->right, ") ");
	cpp_print(t, node->left->left);
	if (arguments && arguments->left && arguments->left->kind == CPP_BRACES)
		cpp_print(t, arguments->left);
	else if (arguments)
		put_list(t, "(", arguments, ")");
}

static void print_cast(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, "(");
	cpp_print(t, node->left);
	cpp_put(t, ")");
	if (node->right->kind == CPP_LIST)
		put_list(t, "(", node->right, ")");
	else
		cpp_print_operand(t, node->right);
}

static void print_named_cast(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, node->op->text);
	cpp_put(t, "<");
	cpp_print(t, node->left);
	cpp_put(t, ">(");
	cpp_print(t, node->right);
	cpp_put(t, ")");
}

/* "(...+x)", "(x+...)", or with a first or last operand "(x+...+y)". */
static void print_fold(struct cpp_text *t, const struct cpp_node *node)
{
	cpp_put(t, "(");
	if (node->text[1] == 'l')
		cpp_put(t, "...");
	else
		cpp_print_operand(t, node->left);
	cpp_put(t, node->op->text);
	if (node->text[1] == 'l')
		cpp_print_operand(t, node->left);
	else
		cpp_put(t, "...");
	if (node->right) {
		cpp_put(t, node->op->text);
		cpp_print_operand(t, node->right);
	}
	cpp_put(t, ")");
}

static void print_count(struct cpp_text *t, const struct cpp_node *node)
{
	int n = cpp_count_pack(t, node->left);

	if (n >= 0) {
		cpp_put_number(t, (uint32_t)n);
		return;
	}
	cpp_put(t, "sizeof...(");
	cpp_print(t, node->left);
	cpp_put(t, ")");
}

void cpp_print_expression(struct cpp_text *t, const struct cpp_node *node)
{
	switch (node->kind) {
	case CPP_LITERAL: print_literal(t, node); break;
	case CPP_UNARY: print_unary(t, node); break;
	case CPP_POSTFIX:
		cpp_print_operand(t, node->left);
		cpp_put(t, node->op->text);
		break;
	case CPP_BINARY: print_binary(t, node); break;
	case CPP_CHOICE: print_choice(t, node); break;
	case CPP_CALL:
		cpp_print_operand(t, get_function_name(node->left));
		put_list(t, "(", node->right, ")");
		break;
	case CPP_CAST: print_cast(t, node); break;
	case CPP_NAMED_CAST: print_named_cast(t, node); break;
	case CPP_NEW: print_new(t, node); break;
	case CPP_BRACES:
		if (node->left)
			cpp_print(t, node->left);
		put_list(t, "{", node->right, "}");
		break;
	case CPP_FOLD: print_fold(t, node); break;
	case CPP_COUNT: print_count(t, node); break;
	case CPP_TYPE_OPERAND:
		cpp_put(t, node->op->text);
		cpp_put(t, "(");
		cpp_print(t, node->left);
		cpp_put(t, ")");
		break;
	default: t->failed = true; break;
	}
}
