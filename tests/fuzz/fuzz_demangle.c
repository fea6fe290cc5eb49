/* SPDX-License-Identifier: MIT */
/* Any text as a symbol of Rust, of both forms, and of C++. */
#include <stdlib.h>
#include <string.h>
#include "profile/symbols/demangle/cpp_name.h"
#include "profile/symbols/symbols.h"
#include "time_bound.h"

static void try_name(char *(*demangle)(const char *symbol), const char *prefix, const uint8_t *data,
                     size_t size)
{
	size_t n = strlen(prefix);
	char *symbol = malloc(n + size + 1), *plain;

	if (!symbol)
		abort();
	memcpy(symbol, prefix, n);
	if (size)
		memcpy(symbol + n, data, size);
	symbol[n + size] = '\0';
	plain = demangle(symbol);
	if (plain && strlen(plain) >= SYMBOL_SIZE)
		abort();
	free(plain);
	free(symbol);
}

int try_input(const uint8_t *data, size_t size)
{
	try_name(symbols_demangle_rust, "_R", data, size);
	try_name(symbols_demangle_rust, "_ZN", data, size);
	try_name(symbols_demangle_cpp, "_Z", data, size);
	return 0;
}
