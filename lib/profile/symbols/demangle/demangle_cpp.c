/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle/cpp_name.h"
#include "profile/symbols/symbols.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A byte makes at most four nodes; some bytes are read twice. */
enum { NODES_PER_BYTE = 8 };

/* Digits after the next @at characters. */
static size_t measure_digits(const struct cpp_name *n, size_t at)
{
	size_t length = 0;

	while (isdigit((unsigned char)cpp_peek(n, at + length)))
		length++;
	return length;
}

/* Clones that a compiler made: ".constprop.0", ".cold", ".123". */
static size_t measure_clone(const struct cpp_name *n)
{
	size_t length = 1;

	if (cpp_peek(n, 0) != '.')
		return 0;
	while (islower((unsigned char)cpp_peek(n, length)) || cpp_peek(n, length) == '_')
		length++;
	if (length == 1)
		return measure_digits(n, 1) ? 1 + measure_digits(n, 1) : 0;
	while (cpp_peek(n, length) == '.' && measure_digits(n, length + 1))
		length += 1 + measure_digits(n, length + 1);
	return length;
}

static struct cpp_node *read_symbol(struct cpp_name *n)
{
	struct cpp_node *name = cpp_read_encoding(n);
	size_t length;

	while (!n->failed && (length = measure_clone(n)) > 0) {
		name = cpp_add_node(n, CPP_CLONE, name, NULL);
		name->text = n->next;
		name->length = (uint32_t)length;
		n->next += length;
	}
	n->failed |= n->next != n->end;
	return name;
}

/* The text of @name, or NULL. */
static char *print_symbol(const struct cpp_node *name)
{
	char bytes[SYMBOL_SIZE];
	struct cpp_text t = { .bytes = bytes, .pack_index = -1 };

	bytes[0] = '\0';
	cpp_print(&t, name);
	return t.failed && !t.is_full ? NULL : strndup(bytes, sizeof(bytes));
}

char *symbols_demangle_cpp(const char *symbol)
{
	size_t length = strnlen(symbol, CPP_MAX_BYTES);
	struct cpp_name n = { .next = symbol + 2, .end = symbol + length };
	struct cpp_node *name;
	char *text = NULL;

	if (strncmp(symbol, "_Z", 2) != 0 || length == CPP_MAX_BYTES)
		return NULL;
	n.max_nodes = (uint32_t)(NODES_PER_BYTE * length + 8);
	n.max_parts = (uint32_t)(length + 1);
	n.nodes = malloc(n.max_nodes * sizeof(*n.nodes));
	n.parts = malloc(n.max_parts * sizeof(*n.parts));
	if (n.nodes && n.parts) {
		name = read_symbol(&n);
		text = n.failed ? NULL : print_symbol(name);
	}
	free(n.nodes);
	free(n.parts);
	return text;
}
