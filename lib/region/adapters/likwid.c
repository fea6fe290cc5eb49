/* SPDX-License-Identifier: MIT */
/* likwid's marker functions. Preloaded, they answer before those of liblikwid: START and STOP begin
 * and end a region of the calling thread, wherever it runs, so that nothing needs to be pinned.
 * What is counted is what regions count; groups are planned, so that SWITCH has nothing to do.
 * WRITE_FILE writes a file in likwid's format. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "adapter.h"

EXPORT void likwid_markerInit(void);
EXPORT void likwid_markerThreadInit(void);
EXPORT void likwid_markerNextGroup(void);
EXPORT int likwid_markerWriteFile(const char *path);
EXPORT void likwid_markerClose(void);
EXPORT int likwid_markerRegisterRegion(const char *tag);
EXPORT int likwid_markerStartRegion(const char *tag);
EXPORT int likwid_markerStopRegion(const char *tag);
EXPORT void likwid_markerGetRegion(const char *tag, int *n, double *events, double *time,
                                   int *count);
EXPORT int likwid_markerResetRegion(const char *tag);

enum { OPEN_TAGS = 64 };

/* Tags that the thread has started: likwid refuses to start one twice and to stop one that was not
 * started. */
static __thread pfm_region_t *started[OPEN_TAGS];
static __thread unsigned n_started;

static int find_started(const pfm_region_t *region)
{
	for (unsigned i = 0; i < n_started; i++)
		if (started[i] == region)
			return (int)i;
	return -1;
}

EXPORT void likwid_markerInit(void)
{
	pfm_start_regions(NULL, NULL);
}

EXPORT void likwid_markerThreadInit(void)
{
}

EXPORT void likwid_markerNextGroup(void)
{
}

EXPORT int likwid_markerRegisterRegion(const char *tag)
{
	return pfm_find_region(tag) ? 0 : -ENOMEM;
}

EXPORT int likwid_markerStartRegion(const char *tag)
{
	pfm_region_t *region = pfm_find_region(tag);

	if (!region || n_started == OPEN_TAGS)
		return -ENOMEM;
	if (find_started(region) >= 0)
		return -EINVAL;
	started[n_started++] = region;
	pfm_begin_region(region);
	return 0;
}

EXPORT int likwid_markerStopRegion(const char *tag)
{
	pfm_region_t *region = pfm_find_region(tag);
	int at = find_started(region);

	if (at < 0)
		return -EINVAL;
	pfm_end_region(region);
	started[at] = started[--n_started];
	return 0;
}

EXPORT int likwid_markerResetRegion(const char *tag)
{
	pfm_region_t *region = pfm_find_region(tag);

	if (!region)
		return -ENOMEM;
	pfm_reset_region(region);
	return 0;
}

/* Adds up what this thread counted of the region under all its parents. */
EXPORT void likwid_markerGetRegion(const char *tag, int *n, double *events, double *time,
                                   int *count)
{
	pfm_region_results_t *r = pfm_read_regions();
	pfm_region_info_t info = PFM_INIT(info);
	int size = n ? *n : 0, all = (int)pfm_count_region_events(), me = (int)gettid();

	*time = 0;
	*count = 0;
	if (n)
		*n = all < size ? all : size;
	for (int k = 0; n && k < *n; k++)
		events[k] = 0;
	for (unsigned i = 0; r && pfm_describe_region(r, i, &info) == PFMLIB_SUCCESS; i++) {
		if (info.thread != me || strcmp(info.region, tag) != 0)
			continue;
		*time += (double)info.wall / 1e9;
		*count += (int)info.visits;
		for (int k = 0; n && k < *n; k++) {
			pfm_region_count_t c = PFM_INIT(c);

			pfm_region_count(r, i, (unsigned)k, &c);
			events[k] += (double)c.inclusive;
		}
	}
	pfm_close_region_results(r);
}

EXPORT int likwid_markerWriteFile(const char *path)
{
	pfm_region_results_t *r = pfm_read_regions();
	int fd = r ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	int rc = fd < 0 ? -errno : pfm_write_regions(r, fd, "likwid");

	if (fd >= 0)
		close(fd);
	pfm_close_region_results(r);
	return r ? rc : -ENOENT;
}

EXPORT void likwid_markerClose(void)
{
	const char *path = secure_getenv("LIKWID_FILEPATH");

	if (path && *path)
		likwid_markerWriteFile(path);
}
