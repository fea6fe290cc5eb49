/* SPDX-License-Identifier: MIT */
/* Text of a C++ name, and what template parameters stand for. */
#include "profile/symbols/demangle/cpp_name.h"

#include "profile/symbols/symbols.h"
#include <stdio.h>
#include <string.h>

void cpp_put_bytes(struct cpp_text *t, const char *bytes, size_t length)
{
	size_t left = SYMBOL_SIZE - 1 - t->length;

	t->is_full |= length > left;
	length = length < left ? length : left;
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
	t->bytes[t->length] = '\0';
}

void cpp_put(struct cpp_text *t, const char *text)
{
	cpp_put_bytes(t, text, strlen(text));
}

void cpp_put_number(struct cpp_text *t, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%lu", (unsigned long)number);
	cpp_put(t, text);
}

char cpp_last_char(const struct cpp_text *t)
{
	return t->length ? t->bytes[t->length - 1] : '\0';
}

bool cpp_begin_node(struct cpp_text *t)
{
	t->failed |= t->depth >= CPP_MAX_DEPTH || t->steps >= CPP_MAX_STEPS;
	t->depth++;
	t->steps++;
	return !t->failed && !t->is_full;
}

void cpp_end_node(struct cpp_text *t)
{
	t->depth--;
}

/* ---- template parameters --------------------------------------------------------------------- */

/* Element @i of @list, or NULL. */
static const struct cpp_node *get_element(const struct cpp_node *list, uint32_t i)
{
	while (list && i--)
		list = list->right;
	return list ? list->left : NULL;
}

/* The template argument that @parameter refers to in t->scope, or NULL. */
static const struct cpp_node *get_argument(const struct cpp_text *t,
                                           const struct cpp_node *parameter)
{
	return t->scope ? get_element(t->scope->arguments, parameter->number) : NULL;
}

const struct cpp_node *cpp_resolve(struct cpp_text *t, const struct cpp_node *node)
{
	while (node->kind == CPP_PARAMETER && !t->is_in_lambda) {
		const struct cpp_node *argument = get_argument(t, node);

		if (argument && argument->kind == CPP_PACK && t->pack_index >= 0)
			argument = get_element(argument->right, (uint32_t)t->pack_index);
		t->failed |= !argument || ++t->steps >= CPP_MAX_STEPS;
		if (t->failed)
			return node;
		t->scope = t->scope->outer;
		node = argument;
	}
	return node;
}

static int count_elements(const struct cpp_node *list)
{
	int n = 0;

	for (; list && list->left; list = list->right)
		n++;
	return n;
}

int cpp_count_pack(struct cpp_text *t, const struct cpp_node *pattern)
{
	const struct cpp_node *argument;
	int n = -1;

	if (!pattern || pattern->kind == CPP_LAMBDA || t->is_in_lambda)
		return -1;
	if (pattern->kind == CPP_PARAMETER) {
		argument = get_argument(t, pattern);
		return argument && argument->kind == CPP_PACK ? count_elements(argument->right)
		                                              : -1;
	}
	if (cpp_begin_node(t)) {
		n = cpp_count_pack(t, pattern->left);
		if (n < 0)
			n = cpp_count_pack(t, pattern->right);
	}
	cpp_end_node(t);
	return n;
}

/* ---- lists ----------------------------------------------------------------------------------- */

void cpp_print_list(struct cpp_text *t, const struct cpp_node *list)
{
	size_t begin = t->length, before;

	for (; list && list->left && !t->failed && !t->is_full; list = list->right) {
		before = t->length;
		if (before > begin)
			cpp_put(t, ", ");
		begin = before > begin ? begin : t->length;
		cpp_print(t, list->left);
		if (t->length == before + 2 && before > begin) {
			t->length = before; /* a pack without elements */
			t->bytes[before] = '\0';
		}
	}
}

void cpp_print_expansion(struct cpp_text *t, const struct cpp_node *node)
{
	int n = cpp_count_pack(t, node->left), outer = t->pack_index;
	size_t begin = t->length;

	if (n < 0) {
		cpp_print_operand(t, node->left);
		cpp_put(t, "...");
		return;
	}
	for (int i = 0; i < n && !t->failed && !t->is_full; i++) {
		if (t->length > begin)
			cpp_put(t, ", ");
		t->pack_index = i;
		cpp_print(t, node->left);
	}
	t->pack_index = outer;
}
