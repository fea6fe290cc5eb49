/* SPDX-License-Identifier: MIT */
/* pfm archive, and pfm record --bundle: a recording and the files that name its code, as one file
 * for other machines. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "archive/archive.h"
#include "archive/tar_file.h"
#include "base/grow.h"
#include "common/pfm.h"
#include "diff/region_rows.h"
#include "export/export.h"
#include "profile/regular_file.h"
#include "profile/symbols/debug_files.h"
#include "profile/symbols/jitdump.h"
#include "profile/symbols/symbols.h"

enum { NAME_SIZE = 100, KERNEL_LIST_MAX = 1 << 26 };

static const struct command_option options[] = {
	{ 'o', "output", "FILE",
	  "write to FILE, compressed if its name ends in .zst; default: the name of the recording "
	  "with .tar.zst" },
	{ 0, NULL, NULL, NULL }
};

struct archive_job {
	const char *path, *output;
	char *default_output;
	struct export_reader reader;
	FILE *out;
	pid_t packer; /* zstd, or 0 */
	unsigned n_files, n_missing;
	struct dump {
		uint32_t pid;
		char *path;
	} * dumps; /* of compilers, as processes have mapped them */
	size_t n_dumps, dumps_capacity;
	bool failed; /* no memory */
};

/* ---- output ---------------------------------------------------------------------------------- */

static bool is_compressed(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && strcmp(path + len - 4, ".zst") == 0;
}

/* True for a name that tells other programs to unpack what is not packed like that. */
static bool promises_other_packing(const char *path)
{
	static const char *const ends[] = { ".gz", ".tgz", ".xz", ".txz", ".bz2", ".lz4", ".zip" };
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len > strlen(ends[i]) && strcmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Starts zstd, which reads from job->out and writes to @fd. False, with errno, if it cannot be
 * started. */
static bool start_packer(struct archive_job *job, int fd)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	job->packer = fork();
	if (job->packer == 0) {
		dup2(ends[0], STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
		execlp("zstd", "zstd", "-q", "-c", (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	job->out = job->packer > 0 ? fdopen(ends[1], "w") : NULL;
	if (!job->out)
		close(ends[1]);
	return job->out;
}

/* True if the packer ended well. */
static bool end_packer(struct archive_job *job)
{
	int status = 0;

	if (!job->packer)
		return true;
	while (waitpid(job->packer, &status, 0) < 0 && errno == EINTR)
		;
	job->packer = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		fprintf(stderr,
		        "pfm %s: zstd is missing: install zstd, or pack the recording with pfm "
		        "archive -o FILE.tar\n",
		        get_running_command());
	errno = EIO;
	return status == 0;
}

static int report_output_error(const struct archive_job *job)
{
	fprintf(stderr, "pfm %s: %s: %s\n", get_running_command(), job->output,
	        describe_output_error(errno));
	return EXIT_REFUSED;
}

/* ---- contents -------------------------------------------------------------------------------- */

/* The name of the recording in the archive. */
static const char *get_recording_name(const struct archive_job *job)
{
	const char *name = base_name(job->path);

	return strlen(name) < 24 ? name : "perf.data";
}

/* "NAME.files/REST", in @name. */
static void make_store_name(const struct archive_job *job, const char *rest, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s" STORE_SUFFIX "/%s", get_recording_name(job), rest);
}

/* Adds the file at @path as @name. False if it cannot be written; a file that is gone is left out.
 */
static bool add_file(struct archive_job *job, const char *name, const char *path)
{
	struct stat st;
	int fd = open_regular_file(path, &st);
	bool is_added;

	if (fd < 0) {
		job->n_missing++;
		return true;
	}
	is_added = tar_add_file(job->out, name, fd);
	job->n_files += is_added;
	close(fd);
	return is_added;
}

/* Adds the file of mapping @m by its build id. */
static bool add_program(struct archive_job *job, const struct export_mapping *m)
{
	const char *path = m->object ? symbols_get_path(m->object) : NULL;
	char folder[NAME_SIZE], name[NAME_SIZE];
	const uint8_t *id;
	size_t n_id = 0;

	id = path ? symbols_get_build_id(m->object, &n_id) : NULL;
	if (!id || strncmp(path, "/proc/self/", 11) == 0) { /* [vdso] */
		job->n_missing +=
			m->object && !path && export_text(&job->reader, m->file)[0] == '/';
		return true;
	}
	snprintf(folder, sizeof(folder), "%s" STORE_SUFFIX, get_recording_name(job));
	make_stored_file_path(folder, id, n_id, "elf", name, sizeof(name));
	if (*name && !add_file(job, name, path))
		return false;
	path = symbols_get_debug_path(m->object);
	make_stored_file_path(folder, id, n_id, "debug", name, sizeof(name));
	return !path || !*name || add_file(job, name, path);
}

/* Adds the map of what process @pid compiled, if it has written one. */
static bool add_map(struct archive_job *job, uint32_t pid)
{
	char path[64], name[NAME_SIZE];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	make_store_name(job, base_name(path), name);
	return access(path, R_OK) != 0 || add_file(job, name, path);
}

static bool is_first_dump(const struct archive_job *job, uint32_t pid)
{
	for (size_t i = 0; i < job->n_dumps; i++)
		if (job->dumps[i].pid == pid)
			return false;
	return true;
}

/* Notes the dump of a compiler. A later mapping of one process is the same file. */
static void see_mapping(void *arg, const pfm_record_t *record)
{
	struct archive_job *job = arg;
	const char *path = record->body.map.name;

	if (!is_jitdump_path(path) || !is_first_dump(job, record->pid))
		return;
	job->dumps = base_grow_list(job->dumps, job->n_dumps, &job->dumps_capacity,
	                            sizeof(*job->dumps), &job->failed);
	if (job->failed)
		return;
	job->dumps[job->n_dumps].pid = record->pid;
	job->dumps[job->n_dumps].path = strdup(path);
	job->failed |= !job->dumps[job->n_dumps++].path;
}

static bool add_dump(struct archive_job *job, const struct dump *dump)
{
	char file[32], name[NAME_SIZE];

	snprintf(file, sizeof(file), "jit-%u.dump", dump->pid);
	make_store_name(job, file, name);
	return add_file(job, name, dump->path);
}

/* Adds the visits of regions that are beside the recording. */
static bool add_visits(struct archive_job *job)
{
	char path[4096], name[NAME_SIZE];

	snprintf(path, sizeof(path), "%s" REGIONS_SUFFIX, job->path);
	snprintf(name, sizeof(name), "%s" REGIONS_SUFFIX, get_recording_name(job));
	if (access(path, R_OK) != 0)
		return true;
	job->n_files--; /* it names no code */
	return add_file(job, name, path);
}

static bool is_first_of_process(const struct export_reader *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->mappings[k].pid == r->mappings[i].pid)
			return false;
	return true;
}

static bool is_first_of_object(const struct export_reader *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->mappings[k].object == r->mappings[i].object)
			return false;
	return true;
}

/* The functions of the running kernel, if they are not hidden: other machines cannot look them up.
 */
static bool add_kernel_list(struct archive_job *job)
{
	char *text = malloc(KERNEL_LIST_MAX), name[NAME_SIZE];
	FILE *f = text ? fopen("/proc/kallsyms", "re") : NULL;
	size_t size = f ? fread(text, 1, KERNEL_LIST_MAX, f) : 0;
	bool is_hidden = !size || strncmp(text, "0000000000000000 ", 17) == 0;
	bool is_added = true;

	if (f)
		fclose(f);
	make_store_name(job, KERNEL_LIST_NAME, name);
	if (!is_hidden)
		is_added = tar_add_text(job->out, name, text, size);
	free(text);
	return is_added;
}

static bool add_files(struct archive_job *job)
{
	const struct export_reader *r = &job->reader;

	if (!add_file(job, get_recording_name(job), job->path) || !add_visits(job))
		return false;
	for (size_t i = 1; i < r->n_mappings; i++)
		if (r->mappings[i].object && is_first_of_object(r, i) &&
		    !add_program(job, &r->mappings[i]))
			return false;
	for (size_t i = 1; i < r->n_mappings; i++)
		if (r->mappings[i].pid && is_first_of_process(r, i) &&
		    !add_map(job, r->mappings[i].pid))
			return false;
	for (size_t i = 0; i < job->n_dumps; i++)
		if (!add_dump(job, &job->dumps[i]))
			return false;
	return add_kernel_list(job) && tar_end(job->out);
}

/* Reads all samples, whose mappings are those of the archive. */
static int read_samples(struct archive_job *job)
{
	struct export_sample sample;
	int status = export_open(&job->reader, job->path, NULL), rc = 1;

	job->reader.merges_processes = true;
	job->reader.see_mapping = see_mapping;
	job->reader.see_mapping_arg = job;
	while (status == EXIT_DONE && (rc = export_next(&job->reader, &sample)) == 1)
		export_read_frames(&job->reader, &sample);
	if (status == EXIT_DONE && (job->reader.failed || job->failed))
		return report_no_memory();
	return rc < 0 ? EXIT_REFUSED : status;
}

static int write_archive(struct archive_job *job)
{
	struct export_output o;
	bool is_written;

	if (!export_open_output(&o, job->output, false)) {
		export_close_output(&o, false);
		return report_output_error(job);
	}
	if (is_compressed(job->output) && !start_packer(job, fileno(o.out))) {
		export_close_output(&o, false);
		return report_output_error(job);
	}
	if (!job->packer)
		job->out = o.out;
	is_written = add_files(job);
	if (job->packer) {
		is_written = fclose(job->out) == 0 && is_written;
		is_written = end_packer(job) && is_written;
	}
	if (!export_close_output(&o, is_written) || !is_written)
		return report_output_error(job);
	fprintf(stderr, "pfm %s: the recording and %u files that name its code are in %s\n",
	        get_running_command(), job->n_files - 1, job->output);
	if (job->n_missing)
		fprintf(stderr, "pfm %s: %u files are gone, and their functions have no names\n",
		        get_running_command(), job->n_missing);
	return EXIT_DONE;
}

int archive_recording(const char *path, const char *output)
{
	struct archive_job job = { .path = path, .output = output };
	int status;

	if (!job.output && asprintf(&job.default_output, "%s.tar.zst", job.path) < 0)
		return report_no_memory();
	job.output = job.output ? job.output : job.default_output;
	signal(SIGPIPE, SIG_IGN);
	status = read_samples(&job);
	if (status == EXIT_DONE)
		status = write_archive(&job);
	export_close(&job.reader);
	for (size_t i = 0; i < job.n_dumps; i++)
		free(job.dumps[i].path);
	free(job.dumps);
	free(job.default_output);
	return status;
}

static int run_archive(struct command_args *args)
{
	const char *value, *path = "perf.data", *output = NULL;
	int id;

	while ((id = next_option(args, &value)) > 0)
		output = value;
	if (id < 0)
		return args->status;
	if (args->n > 1)
		return report_usage_error(args, "expected one recording, got %d.", args->n);
	if (args->n)
		path = args->operands[0];
	if (output && promises_other_packing(output))
		return report_usage_error(args,
		                          "-o: expected a name that ends in .tar or .zst, got "
		                          "'%s': pfm packs with zstd alone.",
		                          output);
	if (strcmp(path, "-") == 0)
		return report_usage_error(args, "expected a file, got standard input.");
	return archive_recording(path, output);
}

const struct command cmd_archive = {
	.name = "archive",
	.usage = "[-o OUTPUT] [FILE]",
	.summary = "pack a recording with its programs, for another machine",
	.about = "Writes the recording, by default perf.data, and the programs and libraries that "
		 "have samples, their debug files and the functions that programs compiled to an "
		 "archive of tar, together with the names of the kernel's functions. Unpack it on "
		 "any machine, and pfm report names the same functions.",
	.examples = "Pack a recording, to be copied to another machine\n"
		    "pfm archive perf.data\n"
		    "Read it there\n"
		    "tar -xf perf.data.tar.zst && pfm report\n",
	.options = options,
	.reads_recording = true,
	.run = run_archive
};
