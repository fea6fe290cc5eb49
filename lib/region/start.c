/* SPDX-License-Identifier: MIT */
/* Configuration, start, and the end of the process. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/sizes.h"
#include "base/text.h"
#include "machine/machine.h"
#include "region/region.h"

enum { KEEP_FILE = 1 << 30 }; /* beside the flags of programs */

/* Reads the words of PERFMON_REGIONS_OPTIONS. Unknown words are ignored, since they may be meant
 * for a newer library. */
static unsigned read_environment_flags(void)
{
	static const struct {
		char word[16];
		unsigned flag;
	} words[] = { { "no-subtract", PFM_REGIONS_NO_SUBTRACT },
		      { "rotate-inner", PFM_REGIONS_ROTATE_INNER },
		      { "system", PFM_REGIONS_SYSTEM },
		      { "per-thread", PFM_REGIONS_PER_THREAD },
		      { "keep-file", KEEP_FILE } };
	const char *at = pfmi_machine_get_env("PERFMON_REGIONS_OPTIONS");
	unsigned flags = 0;

	while (at && *at) {
		size_t len = strcspn(at, ",");

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == len && memcmp(words[i].word, at, len) == 0)
				flags |= words[i].flag;
		at += len + (at[len] == ',');
	}
	return flags;
}

/* The number of "group=N" among those words; 0 if missing. */
static unsigned read_environment_group(void)
{
	const char *at = pfmi_machine_get_env("PERFMON_REGIONS_OPTIONS");

	at = at ? strstr(at, "group=") : NULL;
	return at ? (unsigned)strtoull(at + strlen("group="), NULL, 10) : 0;
}

/* ---- messages ---------------------------------------------------------------------------- */

static void print_refusal(const char *events, const pfm_error_t *error)
{
	char sentence[512];

	pfm_explain_error(pfmi_regions.layout.ctx, events, error, sentence, sizeof(sentence));
	pfmi_region_print_message("PERFMON_REGIONS", sentence);
}

static const char *get_environment_format(void)
{
	const char *format = pfmi_machine_get_env("PERFMON_REGIONS_FORMAT");
	char text[256];

	if (!format || pfmi_region_find_format(format))
		return format;
	snprintf(text, sizeof(text),
	         "expected table, json, csv, likwid, papi, chrome or firefox, got '%.100s'; the "
	         "results are a table",
	         format);
	pfmi_region_print_message("PERFMON_REGIONS_FORMAT", text);
	return "table";
}

/* ---- output ------------------------------------------------------------------------------ */

/* Opens a file whose name can be guessed: it replaces a link or an earlier file, and another user's
 * stays. */
static int open_guessed(const char *path)
{
	unlink(path);
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL | O_NOFOLLOW, 0666);
}

/* Notes the file at the destination of the results: one of an earlier run, which is replaced. */
static void note_output(void)
{
	const struct region_format *format = pfmi_region_find_format(pfmi_regions.format);
	char path[4200];
	struct stat s;

	if (!pfmi_region_build_path(path, sizeof(path), format ? format->suffix : "") ||
	    stat(path, &s) != 0)
		return;
	pfmi_regions.earlier = (struct output_file){ s.st_ino, s.st_size, s.st_mtim };
}

/* Results that were written since this process started are those of another process of the same
 * program, such as a rank. */
static bool is_of_another(int fd)
{
	const struct output_file *earlier = &pfmi_regions.earlier;
	struct stat s;

	return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 &&
	       (s.st_ino != earlier->inode || s.st_size != earlier->size ||
	        s.st_mtim.tv_sec != earlier->time.tv_sec ||
	        s.st_mtim.tv_nsec != earlier->time.tv_nsec);
}

/* Opens the file of results at @path, which the user chose. The lock, which ends with the
 * descriptor, makes one process of several the first. Each later one adds its number to the
 * path. */
static int open_output(char *path, size_t size)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	size_t len = strlen(path);
	int fd;

	if (pfmi_regions.epoch)
		return open_guessed(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return fd;
	(void)fcntl(fd, F_OFD_SETLKW, &lock);
	if (!is_of_another(fd)) {
		(void)!ftruncate(fd, 0);
		return fd;
	}
	close(fd);
	snprintf(path + len, size - len, ".%d", (int)getpid());
	return open_guessed(path);
}

static void write_results(void)
{
	const struct region_format *format = pfmi_region_find_format(pfmi_regions.format);
	pfm_region_results_t *r;
	char path[4200] = "";
	int fd = STDERR_FILENO;
	bool is_written = true;

	if (strcmp(pfmi_regions.output, "-") != 0) {
		if (!pfmi_region_build_path(path, sizeof(path), format ? format->suffix : ""))
			return;
		fd = open_output(path, sizeof(path));
		if (fd < 0)
			pfmi_region_print_lost_output(path, errno);
	}
	r = fd < 0 ? NULL : pfm_read_regions();
	if (r && (r->n || fd != STDERR_FILENO)) {
		r->process.has_ended = true;
		errno = EIO;
		is_written = !pfm_write_regions(r, fd, pfmi_regions.format);
		if (!is_written && fd != STDERR_FILENO)
			pfmi_region_print_lost_output(path, errno);
	}
	pfm_close_region_results(r);
	if (fd >= 0 && fd != STDERR_FILENO)
		close(fd);
	pfmi_storage_end(!r || !is_written);
}

/* ---- start ------------------------------------------------------------------------------- */

static void write_at_exit(void)
{
	if (pfmi_regions.keeps_file && pfmi_storage_get_header())
		pfmi_storage_end(true);
	else if (pfmi_regions.started && *pfmi_regions.output)
		write_results();
	__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
}

/* Keeps this library loaded, even after dlclose(): threads have a pointer to one of its
 * functions. */
static void stay_loaded(void)
{
	Dl_info info;

	if (dladdr((void *)&pfmi_regions, &info) && info.dli_fname && *info.dli_fname == '/')
		(void)!dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static int refuse_start(pfm_error_t *error, int code, int err)
{
	if (error && error->size) {
		size_t size = error->size;

		*error = (pfm_error_t){ .size = size,
			                .code = code,
			                .kind = PFM_KIND_SYSTEM,
			                .event = -1,
			                .sys_errno = err };
	}
	return code;
}

static int start_regions(const char *events, unsigned flags, const char *output, const char *format,
                         pfm_error_t *error)
{
	const struct region_format *writer;
	struct regions *r = &pfmi_regions;
	int rc, err;

	r->layout.max_group_size = read_environment_group();
	rc = pfmi_layout_plan(&r->layout, events, flags & PFM_REGIONS_SYSTEM, error);

	if (!rc && (err = pfmi_thread_install_handlers()) != 0)
		rc = refuse_start(error, PFMLIB_ERR_NOMEM, err);
	if (rc) {
		pfmi_layout_free(&r->layout);
		return rc;
	}
	r->flags = flags & ~(unsigned)KEEP_FILE;
	r->keeps_file = flags & KEEP_FILE;
	r->events = events ? strdup(events) : NULL;
	r->events = r->events ? r->events : "";
	writer = pfmi_region_find_format(format);
	r->format = writer ? writer->name : "table";
	r->keeps_slices = writer && writer->slices != NO_SLICES;
	snprintf(r->output, sizeof(r->output), "%s", output ? output : "");
	note_output();
	stay_loaded();
	atexit(write_at_exit);
	at_quick_exit(write_at_exit);
	r->started = true;
	return PFMLIB_SUCCESS;
}

/* Does everything that the first begin needs and a signal handler must not do. Other threads wait
 * for the one that starts. */
static int start_once(const char *events, unsigned flags, const char *output, const char *format,
                      bool *is_first, pfm_error_t *error)
{
	int rc;

	pfmi_regions_lock();
	*is_first = !pfmi_regions.started;
	rc = *is_first ? start_regions(events, flags, output, format, error) : PFMLIB_SUCCESS;
	if (!rc) /* the number changes after each stop, so that threads discard the visits that it
	            cut */
		__atomic_store_n(&perfmon_regions_active,
		                 1 + (int)(__atomic_load_n(&pfmi_regions.run, __ATOMIC_RELAXED) &
		                           (INT_MAX >> 1)),
		                 __ATOMIC_RELAXED);
	pfmi_regions_unlock();
	*is_first = *is_first && !rc;
	return rc;
}

bool pfmi_regions_start_from_environment(bool *is_first)
{
	const char *events = pfmi_machine_get_env("PERFMON_REGIONS"),
		   *output = pfmi_machine_get_env("PERFMON_REGIONS_OUTPUT");
	pfm_error_t error = PFM_INIT(error);
	int saved = errno;

	*is_first = false;
	if (!events) {
		__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
	} else if (start_once(strcmp(events, "time") == 0 ? "" : events, read_environment_flags(),
	                      output ? output : "-", get_environment_format(), is_first, &error)) {
		print_refusal(events, &error);
		__atomic_store_n(&perfmon_regions_active, 0, __ATOMIC_RELAXED);
	}
	errno = saved;
	return __atomic_load_n(&perfmon_regions_active, __ATOMIC_RELAXED) > 0;
}

/* Replaces the program's choices by those of the environment. The user who runs the program sets
 * the environment, so it decides, unless the program claims the first word: then it only completes
 * them. Returns the events of the environment that are counted; NULL: those of the program. */
static const char *apply_environment(pfm_regions_options_t *o)
{
	const bool completes = o->flags & PFM_REGIONS_PROGRAM_FIRST;
	const char *events = pfmi_machine_get_env("PERFMON_REGIONS"),
		   *output = pfmi_machine_get_env("PERFMON_REGIONS_OUTPUT");

	events = completes && o->events ? NULL : events;
	o->events = events ? events : o->events;
	o->output = output && !(completes && o->output) ? output : o->output;
	if (!completes || !o->format) {
		const char *format = get_environment_format();

		o->format = format ? format : o->format;
	}
	o->flags |= completes ? 0 : read_environment_flags();
	return events;
}

int pfmi_regions_start(const pfm_regions_options_t *options, bool *is_first, pfm_error_t *error)
{
	const char *from_environment;
	pfm_regions_options_t o;
	pfm_error_t e = PFM_INIT(e);
	const char *wrong = base_copy_options_in(&o, sizeof(o), options);
	int rc;

	*is_first = false;
	if (!wrong)
		wrong = base_find_unknown_flag(o.flags, PFM_REGIONS_PROGRAM_FIRST);
	if (wrong)
		return pfmi_base_refuse_argument(error, wrong);
	if (o.format && !pfmi_region_find_format(o.format))
		return refuse_start(error, PFMLIB_ERR_INVAL, EINVAL);
	from_environment = apply_environment(&o);
	if (pfmi_regions.started && o.events && strcmp(o.events, pfmi_regions.events) != 0 &&
	    !from_environment)
		return refuse_start(error, PFMLIB_ERR_INVAL, EBUSY);
	error = error ? error : &e;
	rc = start_once(o.events && strcmp(o.events, "time") != 0 ? o.events : "", o.flags,
	                o.output, o.format, is_first, error);
	if (rc && from_environment)
		print_refusal(from_environment, error);
	return rc;
}
