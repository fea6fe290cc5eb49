/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: adapters, small libraries that turn marks of other interfaces into regions.
 * The runtimes of those interfaces load them through environment variables; interfaces without one
 * are served by a library that is preloaded into all processes of the command, whatever wrapper
 * starts the marked program. */
#include "stat/region_results.h"
#include "stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct adapter {
	const char *interfaces, *variable, *library;
	const char *older; /* variable of older runtimes, or NULL; newer ones refuse two values */
} adapters[] = {
	{ "ITT", "INTEL_LIBITTNOTIFY64", "libperfmon-itt.so", NULL },
	{ "NVTX", "NVTX_INJECTION64_PATH", "libperfmon-nvtx.so", NULL },
	{ "Kokkos", "KOKKOS_TOOLS_LIBS", "libperfmon-kokkos.so", "KOKKOS_PROFILE_LIBRARY" },
	{ "OpenMP", "OMP_TOOL_LIBRARIES", "libperfmon-ompt.so", NULL },
	{ "likwid, PAPI", "LD_PRELOAD", "libperfmon-preload.so", NULL },
};

enum { ADAPTERS = sizeof(adapters) / sizeof(adapters[0]) };

/* Adds @text to a variable whose value is a list. */
static void add_to_variable(const char *name, const char *text)
{
	const char *before = getenv(name);
	char *list = NULL;

	if (before && *before && asprintf(&list, "%s:%s", text, before) < 0)
		list = NULL;
	setenv(name, list ? list : text, 1);
	free(list);
}

/* A tool that the user has chosen stays. */
static bool is_free(const struct adapter *a)
{
	return strcmp(a->variable, "LD_PRELOAD") == 0 ||
	       (!getenv(a->variable) && !(a->older && getenv(a->older)));
}

static void load_adapter(const struct adapter *a, const char *path)
{
	if (strcmp(a->variable, "LD_PRELOAD") == 0) {
		add_to_variable(a->variable, path);
		/* Programs built with gcc's AddressSanitizer refuse other libraries before it. */
		add_to_variable("ASAN_OPTIONS", "verify_asan_link_order=0");
	} else {
		setenv(a->variable, path, 1);
	}
	if (a->older)
		setenv(a->older, path, 1);
}

void load_region_adapters(const struct stat_job *job, char *on, size_t size)
{
	const char *folder = getenv("PERFMON_ADAPTERS");
	char path[REGION_PATH_SIZE];
	size_t at = 0;

	*on = 0;
	for (unsigned i = 0; i < ADAPTERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder && *folder ? folder : PERFMON_ADAPTERS,
		         adapters[i].library);
		if (access(path, R_OK) != 0 || !is_free(&adapters[i]))
			continue;
		load_adapter(&adapters[i], path);
		if (at < size)
			at += (size_t)snprintf(on + at, size - at, "%s%s", at ? ", " : "",
			                       adapters[i].interfaces);
	}
	if (job->regions.has_gomp && at && at < size)
		snprintf(on + at, size - at, ", libgomp");
}

/* ---- programs without regions ------------------------------------------------------------ */

/* Names that programs with marks contain. */
static const struct {
	const char *text, *remedy;
} marks[] = {
	{ "pfm_begin_region", "it calls perfmon, but did not begin a region" },
	{ "likwid_marker",
	  "it has markers of likwid: is it built with -DLIKWID_PERFMON, and linked "
	  "with a shared liblikwid?" },
	{ "PAPI_hl_", "it calls PAPI: is it linked with a shared libpapi?" },
	{ "papif_hl_", "it calls PAPI: is it linked with a shared libpapi?" },
	{ "__itt_", "it contains ITT, but began no task" },
	{ "nvtxRange", "it contains NVTX, but began no range" },
	{ "kokkosp_", "it contains Kokkos, but ran no kernel" },
	{ "GOMP_parallel",
	  "its OpenMP is that of gcc: --regions=gomp counts its parallel regions" },
};

/* Finds the path of @command as execvp(3) does. False if it does not exist. */
static bool find_program(const char *command, char *path, size_t size)
{
	const char *at = getenv("PATH");

	if (strchr(command, '/') || !at)
		return (size_t)snprintf(path, size, "%s", command) < size &&
		       access(path, X_OK) == 0;
	for (size_t len; *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if ((size_t)snprintf(path, size, "%.*s/%s", (int)len, at, command) < size &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* True if the program's file contains @mark, such as the name of an imported function. */
static bool file_contains(const char *path, const char *mark)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(mark), kept = 0, n;
	char buf[65536];
	bool found = false;

	while (f && !found && (n = fread(buf + kept, 1, sizeof(buf) - kept, f)) > 0) {
		n += kept;
		found = memmem(buf, n, mark, len) != NULL;
		kept = n < len ? n : len;
		memmove(buf, buf + n - kept, kept);
	}
	if (f)
		fclose(f);
	return found;
}

/* Reports the marks that the program at @path contains. False if there are none. */
static bool report_marks(const char *path, const char *command)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!file_contains(path, marks[i].text))
			continue;
		fprintf(stderr, "%s: %s contains %s: %s\n", program_name, command, marks[i].text,
		        marks[i].remedy);
		found = true;
	}
	return found;
}

/* Says what was looked for in a program that has no mark, and what to do. */
static void report_no_mark(const char *path, const char *command)
{
	char magic[4] = "";
	FILE *f = fopen(path, "re");
	const bool is_elf = f && fread(magic, 1, sizeof(magic), f) == sizeof(magic) &&
	                    memcmp(magic, "\177ELF", sizeof(magic)) == 0;

	if (f)
		fclose(f);
	fprintf(stderr, "%s: %s imports none of ", program_name, command);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		fprintf(stderr, "%s%s", i ? ", " : "", marks[i].text);
	fprintf(stderr, "%s\n",
	        is_elf ? ": it has no marks, or a library or a child of it has them"
	               : ": it is a script, whose interpreter may have them");
}

void report_no_region(const char *command, const char *on)
{
	char path[REGION_PATH_SIZE];

	fprintf(stderr, "%s: %s entered no region; marks of perfmon%s%s are counted\n",
	        program_name, command, *on ? ", " : "", on);
	if (find_program(command, path, sizeof(path)) && !report_marks(path, command))
		report_no_mark(path, command);
}
