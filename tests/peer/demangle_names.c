/* SPDX-License-Identifier: MIT */
/* Demangles each line of standard input, and compares the text with that of __cxa_demangle() of
 * libstdc++. Prints "SYMBOL<TAB>OURS<TAB>THEIRS" for each that differs, then "equal N". With an
 * argument it prints our text of each line alone, or the line. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile/symbols/demangle/cpp_name.h"
#include "profile/symbols/symbols.h"

typedef char *(*demangle_fn)(const char *symbol, char *buf, size_t *len, int *status);

static void cut(char *text)
{
	if (text && strnlen(text, SYMBOL_SIZE) == SYMBOL_SIZE)
		text[SYMBOL_SIZE - 1] = '\0';
}

/* True if both texts of @symbol are equal. */
static bool compare(demangle_fn demangle, const char *symbol)
{
	char *ours = symbols_demangle_cpp(symbol), *theirs;
	bool is_equal;
	int status;

	theirs = demangle(symbol, NULL, NULL, &status);
	cut(theirs);
	is_equal = ours && theirs ? strcmp(ours, theirs) == 0 : ours == theirs;
	if (!is_equal)
		printf("%s\t%s\t%s\n", symbol, ours ? ours : "", theirs ? theirs : "");
	is_equal = is_equal && ours;
	free(ours);
	free(theirs);
	return is_equal;
}

static void print_ours(const char *symbol)
{
	char *text = symbols_demangle_cpp(symbol);

	puts(text ? text : symbol);
	free(text);
}

int main(int argc, char **argv)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
	void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
	unsigned long n_equal = 0;
	demangle_fn demangle;
	char *line = NULL;
	size_t size = 0;

	(void)argv;
	if (!found && argc == 1)
		return 77;
	memcpy(&demangle, &found, sizeof(demangle));
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (argc > 1)
			print_ours(line);
		else
			n_equal += compare(demangle, line);
	}
	free(line);
	if (argc > 1)
		return 0;
	printf("equal %lu\n", n_equal);
	return 0;
}
