/* SPDX-License-Identifier: MIT */
/* Preloaded into all programs under pfm stat --regions: the marker functions of likwid and of
 * PAPI's high-level interface, whether a program, one of its libraries or a plugin calls them. The
 * first call loads the adapter; a program without such calls has one small library more, without
 * libperfmon. Fortran's functions of libpapi call these ones. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { PATH_SIZE = 4096 };

typedef void (*function)(void);

/* The function called @name of an adapter, which is in the folder of this library, or the next one
 * of the program's libraries. */
static function find_function(const char *adapter, const char *name)
{
	static const char here;
	char path[PATH_SIZE];
	void *library = NULL;
	Dl_info info;
	function f;
	const char *end =
		dladdr(&here, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;

	if (end && (size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)(end - info.dli_fname),
	                            info.dli_fname, adapter) < sizeof(path))
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	f = library ? (function)dlsym(library, name) : NULL;
	return f ? f : (function)dlsym(RTLD_NEXT, name);
}

#define FORWARD(ADAPTER, TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)                               \
	EXPORT TYPE NAME PARAMETERS;                                                               \
	EXPORT TYPE NAME PARAMETERS                                                                \
	{                                                                                          \
		static function found;                                                             \
		function f = __atomic_load_n(&found, __ATOMIC_ACQUIRE);                            \
                                                                                                   \
		if (!f) {                                                                          \
			f = find_function(ADAPTER, #NAME);                                         \
			__atomic_store_n(&found, f, __ATOMIC_RELEASE);                             \
		}                                                                                  \
		if (!f)                                                                            \
			return WITHOUT;                                                            \
		return ((TYPE(*) PARAMETERS)f)ARGUMENTS;                                           \
	}

#define LIKWID(TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)                                         \
	FORWARD("libperfmon-likwid.so", TYPE, NAME, PARAMETERS, ARGUMENTS, WITHOUT)
#define PAPI(NAME, PARAMETERS, ARGUMENTS)                                                          \
	FORWARD("libperfmon-papi-hl.so", int, NAME, PARAMETERS, ARGUMENTS, -1)

LIKWID(void, likwid_markerInit, (void), (), )
LIKWID(void, likwid_markerThreadInit, (void), (), )
LIKWID(void, likwid_markerNextGroup, (void), (), )
LIKWID(void, likwid_markerClose, (void), (), )
LIKWID(int, likwid_markerWriteFile, (const char *path), (path), -1)
LIKWID(int, likwid_markerRegisterRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerStartRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerStopRegion, (const char *tag), (tag), -1)
LIKWID(int, likwid_markerResetRegion, (const char *tag), (tag), -1)
LIKWID(void, likwid_markerGetRegion,
       (const char *tag, int *n, double *events, double *time, int *count),
       (tag, n, events, time, count), )

PAPI(PAPI_hl_region_begin, (const char *name), (name))
PAPI(PAPI_hl_read, (const char *name), (name))
PAPI(PAPI_hl_region_end, (const char *name), (name))
PAPI(PAPI_hl_stop, (void), ())
