/* SPDX-License-Identifier: MIT */
/* The marks are in a shared library that this program opens: those of likwid, or with the argument
 * "papi" those of PAPI. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char path[4096];
	const char *end = strrchr(argv[0], '/');
	void *library;
	int (*visit)(void);

	snprintf(path, sizeof(path), "%.*s/libmarked_inside%s.so", end ? (int)(end - argv[0]) : 1,
	         end ? argv[0] : ".", argc > 1 && strcmp(argv[1], "papi") == 0 ? "_papi" : "");
	library = argc ? dlopen(path, RTLD_NOW) : NULL;
	visit = library ? (int (*)(void))dlsym(library, "visit_inside") : NULL;
	return visit ? visit() : 1;
}
