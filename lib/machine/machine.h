/* SPDX-License-Identifier: MIT */
/* The machine: the syscall table, the processor's identity, CPU lists, the PMUs of the running
 * kernel, tracefs and the environment.
 *
 * All system access of the library goes through struct sys, so tests can script the answers and a
 * recorded machine can be read from a folder. Functions return -errno on failure unless they say
 * otherwise. */
#ifndef PERFMON_MACHINE_H
#define PERFMON_MACHINE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/private.h"
#include "base/text.h"
#include "table/table.h"

/* ---- the syscall table ----------------------------------------------------------------------- */

struct perf_attr;
struct pollfd;

/* Receiver of messages. */
struct log {
	unsigned topics;           /* LOG_*: topics of which every message is wanted */
	pfm_log_level_t max_level; /* other topics: messages up to this level */
	pfm_log_fn_t write;        /* NULL: standard error */
	void *data;
};

struct sys {
	struct log log;
	/* Opens @path (absolute, below the root) with open(2) @flags; returns a descriptor. */
	int (*open)(const struct sys *sys, const char *path, int flags);
	long (*read)(const struct sys *sys, int fd, void *buf, size_t n);
	int (*ioctl)(const struct sys *sys, int fd, unsigned long request, void *arg);
	int (*close)(const struct sys *sys, int fd);
	/* Maps @len bytes of @fd shared; @writable 0 for read-only. */
	int (*mmap)(const struct sys *sys, int fd, size_t len, int writable, void **out);
	int (*munmap)(const struct sys *sys, void *at, size_t len);
	/* Nanoseconds of a clock that stops while the machine sleeps; it may go in steps of
	 * ten milliseconds. */
	uint64_t (*get_time)(const struct sys *sys);
	/* Waits for any of @n descriptors, at most @timeout milliseconds. Returns how many are
	 * ready. */
	int (*poll)(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout);
	int (*perf_event_open)(const struct sys *sys, struct perf_attr *attr, int pid, int cpu,
	                       int group, unsigned long flags);
	/* Calls @each with the names in folder @path in sorted order, "." and ".." left out, until
	 * it returns nonzero. */
	int (*list_folder)(const struct sys *sys, const char *path,
	                   int (*each)(void *arg, const char *name), void *arg);
	/* Processor time that process @pid has taken until now, in nanoseconds, without that of its
	 * children. May be NULL: unknown. */
	int (*get_process_time)(const struct sys *sys, int pid, uint64_t *ns);
	/* Executes CPUID. False if the processor lacks the leaf, or below another root. */
	bool (*read_cpuid)(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
	                   uint32_t regs[4]);
	char root[256]; /* prefix of /sys, /proc and tracefs paths: "" for the running machine */
	void *arg;      /* for the implementation */
};

/* Did a call fail for lack of memory or descriptors only? */
static inline bool machine_is_resource_error(long err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/* A syscall table that remembers the last resource error. Most callers treat a file that cannot be
 * opened as missing. */
struct watched_sys {
	struct sys sys;
	const struct sys *target;
	long resource_error; /* 0 without one */
};
void pfmi_machine_init_watched_sys(struct watched_sys *out, const struct sys *real);

/* The real system below @root ("" or "/" for this machine). */
PERFMON_PRIVATE void pfmi_machine_init_real_sys(struct sys *out, const char *root);
/* Reads a whole small file into @buf, terminated, trailing newline removed. Returns its length or
 * -errno (-EFBIG if it does not fit). */
long pfmi_machine_read_small_file(const struct sys *sys, const char *path, char *buf, size_t len);
/* Reads a whole file into memory the caller frees, terminated, as it is. 0 or -errno. */
int pfmi_machine_read_file(const struct sys *sys, const char *path, char **out, size_t *len);
/* Reads the first line of a file. */
int pfmi_machine_read_line_file(const struct sys *sys, const char *path, char **out, size_t *len);
/* The peak bandwidth of memory in millions of bytes per second, from the firmware's DMI table or
 * udev's copy of it; 0 if both are missing or have no speeds. Only one device of a channel
 * transfers at a time: without EDAC, which lists the channels, the result is an upper bound. */
double pfmi_machine_read_memory_peak(const struct sys *sys);
/* The sum over the devices of a DMI table of @size bytes, and over those of udev's copy. *@devices
 * is their number. */
double pfmi_machine_compute_memory_peak(const unsigned char *table, size_t size, unsigned *devices);
double pfmi_machine_compute_udev_memory_peak(const char *text, unsigned *devices);
/* Reads a decimal or 0x number in a file. Returns 0 or -errno; -EINVAL for other text. */
int pfmi_machine_read_number(const struct sys *sys, const char *path, uint64_t *out);

/* Reads a fact of this machine. If it is true, writes the file that shows it to @evidence. */
bool pfmi_machine_read_fact(const struct sys *sys, enum machine_fact fact, char *evidence,
                            size_t len);
/* Returns those of @facts (bits of enum machine_fact) that are true. Writes the file that shows the
 * last of them to @evidence. */
unsigned pfmi_machine_read_facts(const struct sys *sys, unsigned facts, char *evidence, size_t len);

/* ---- the processor's identity ---------------------------------------------------------------- */

/* The processor of this machine. It is read once. */
struct host {
	bool is_known;
	char arch[12];    /* "x86", "arm64", "powerpc", "s390", "riscv", "alpha", "ia64", "sparc",
	                     "mips" */
	char id_text[96]; /* as in mapfile.csv: "GenuineIntel-6-55-4", "0x00000000413fd0c1" ... */
	char vendor[16];
	uint32_t family, model, stepping;
	uint64_t id_register; /* MIDR, PVR, HWRPB cpu type ... */
	uint32_t pmu_version; /* architectural PMU version, 0 if none */
	uint32_t n_general, n_fixed, width_general, width_fixed;
	uint32_t missing_arch_events; /* CPUID.0AH EBX: set bit = architectural event missing */
	bool has_hypervisor;
	uint32_t n_core_types; /* hybrid: core types, each with its kernel PMU */
	struct {
		uint8_t core_type;
		uint32_t native_model;
		char device[24];
	} core_types[4];
};

/* Identifies the processor: that with the id @cpuid, or that of @sys if @cpuid is NULL. Makes no
 * system call on x86. */
PERFMON_PRIVATE void pfmi_machine_identify_host(const struct sys *sys, const char *cpuid,
                                                struct host *out);
/* Adds the core types of a hybrid processor. */
void pfmi_machine_read_core_types(const struct sys *sys, const char *cpuid, struct host *h);
/* Is the processor a different one from @known? A virtual machine may have migrated to another
 * host. Executes two CPUID leaves on x86, and reads small files elsewhere. */
bool pfmi_machine_is_other_host(const struct sys *sys, const struct host *known);
/* Reads two more CPUID leaves: the architectural PMU, and the design of a hybrid processor's core.
 * Encoding does without them, because each leaf traps in a virtual machine. */
void pfmi_machine_read_host_details(const struct sys *sys, struct host *h);
/* Parses the id of a processor. False if its form is unknown. */
bool pfmi_machine_parse_host_id(const char *id, struct host *out);

/* True if @t is for @host; *@core gets the index of the hybrid core type, or 0. */
bool pfmi_machine_is_table_for_host(const struct host *host, const struct table *t, unsigned *core);
/* True if @host, which @t is for, is one of the machines of the erratum. */
bool pfmi_machine_has_erratum(const struct host *host, const struct table *t,
                              const struct erratum *e);
/* True if @t serves @host as the list of the nearest member of its family: the model of @host is
 * unknown. */
bool pfmi_machine_is_nearest_table(const struct host *host, const struct table *t);
/* True if @t replaces @other, which is also for @host. The model's own list is better than that of
 * the nearest member, and both are better than the architectural table. */
PERFMON_PRIVATE bool pfmi_machine_is_better_table(const struct host *host, const struct table *t,
                                                  const struct table *other);
typedef void (*pfmi_machine_host_table_fn)(void *arg, uint32_t table, unsigned core);
/* Calls @each with the tables of @im that are for @host and those of the kernel's own events,
 * except tables with a flag in @without. A table with several match lines may come twice. */
PERFMON_PRIVATE void pfmi_machine_visit_host_tables(const struct image *im, const struct host *host,
                                                    uint32_t without,
                                                    pfmi_machine_host_table_fn each, void *arg);
/* Calls @each with the tables of PMUs that any processor may have and that the kernel calls
 * @device. */
void pfmi_machine_visit_device_tables(const struct image *im, const char *device,
                                      pfmi_machine_host_table_fn each, void *arg);

/* A PMU of this machine. */
struct host_pmu {
	unsigned pmu_index, core_type;
	const struct kernel_pmu *kernel_pmu; /* the kernel's PMU that counts it, or NULL */
};
/* PMUs of this machine, sorted by number. The owner frees @pmus. */
struct host_pmu_list {
	struct host_pmu *pmus;
	unsigned n_pmus;
	size_t capacity;
	bool is_out_of_memory;
};
/* An image whose tables are PMUs from number @first_pmu on. @is_usable(@arg) says whether its rows
 * may be read. */
struct pmu_image {
	const struct image *image;
	unsigned first_pmu;
	bool (*is_usable)(void *arg);
	void *arg;
};
struct kernel_info;
/* Adds to @list the tables of @image that describe @host. @kernel may be NULL. */
void pfmi_machine_match_image(struct host_pmu_list *list, const struct host *host,
                              const struct kernel_info *kernel, const struct pmu_image *image);

/* ---- sets of CPUs ---------------------------------------------------------------------------- */

/* All CPU numbers are less: kernels are built for at most 8,192 CPUs. */
#define MAX_CPU_NUMBER (1u << 16)

/* A set of CPUs. */
struct cpu_mask {
	uint64_t *words;
	size_t n_words;
};

/* Parses the next range of a CPU list such as "0,2-3" and moves *@list past it. False at the end,
 * where *@list is at the terminating NUL, or at a syntax error. */
bool pfmi_machine_next_cpu_range(const char **list, unsigned *first, unsigned *last);
/* Adds the CPUs of @list to the set. Returns 0, -EINVAL or -ENOMEM; the caller frees the set in
 * each case. */
int pfmi_machine_add_cpu_list(struct cpu_mask *set, const char *list);
/* Parses @list. Returns 0, -EINVAL or -ENOMEM. The caller frees the set with
 * pfmi_machine_free_cpus(). */
int pfmi_machine_parse_cpu_list(const char *list, struct cpu_mask *out);
/* Makes the set of CPUs 0 to @n - 1; @n is at least 1. Returns 0 or -ENOMEM. */
int pfmi_machine_make_first_cpus(unsigned n, struct cpu_mask *out);
/* Copies a set. Returns 0 or -ENOMEM. */
int pfmi_machine_copy_cpus(const struct cpu_mask *from, struct cpu_mask *out);
void pfmi_machine_free_cpus(struct cpu_mask *set);
bool pfmi_machine_has_cpu(const struct cpu_mask *set, unsigned cpu);
/* Sets *@cpu to the first CPU of the set from *@cpu on. False if the set has no more. */
bool pfmi_machine_next_cpu(const struct cpu_mask *set, unsigned *cpu);
size_t pfmi_machine_count_cpus(const struct cpu_mask *set);
/* Reads the CPU list in file @path of any length, with as few ranges as possible, into memory the
 * caller frees. Returns 0 or -errno; -EINVAL for other text, -EFBIG if the kernel cut the list at
 * the end of a page. */
int pfmi_machine_read_cpu_list(const struct sys *sys, const char *path, char **out);
#define PFMI_ONLINE_CPUS_PATH   "/sys/devices/system/cpu/online"
#define PFMI_POSSIBLE_CPUS_PATH "/sys/devices/system/cpu/possible"
/* Reads the CPU list in file @path as a set, which is empty on failure. */
int pfmi_machine_read_cpus(const struct sys *sys, const char *path, struct cpu_mask *out);
/* Length of a PMU's name without its instance number: "_" and digits, "_" and more than two
 * hexadecimal digits, or digits. */
size_t pfmi_machine_measure_instance_base(const char *name);

/* ---- PMUs of the kernel ---------------------------------------------------------------------- */

/* A PMU the running kernel shows (a folder below /sys/bus/event_source/devices), and its instances
 * folded into one. */
struct kernel_pmu {
	char name[64]; /* without the instance number: "uncore_cha" */
	unsigned n_instances;
	const int *instance_types;         /* one per instance */
	const char *const *instance_names; /* their names: "uncore_cha_0" ... */
	const char *cpu_list; /* cpumask or cpus file of the first instance, "" if it has none */
	const char *const *instance_cpu_lists; /* such a list for each instance */
	bool is_core, is_uncore;
	const struct table *table; /* format and events of sysfs as a table */
	/* For events without a perf event: the file with the value of each, by the event's config;
	 * with drm_driver, its key in the fdinfo of clients of that driver. NULL: perf events. */
	const char *const *files;
	unsigned n_files;
	const char *drm_driver; /* NULL: @files are files */
};

/* The first perf type of PMUs whose values are files: above all types of the kernel. */
#define FILE_PMU_TYPE 0x7f000000
/* A file that only pretended machines have; its line names the processor and the model. */
#define PFMI_PRETENDED_PATH "/sys/bus/event_source/pretended"

struct kernel_info {
	char pretended[96]; /* the line of PFMI_PRETENDED_PATH; "" on hardware */
	unsigned n_pmus;
	const struct kernel_pmu *pmus;
	int paranoid; /* perf_event_paranoid, -100 if unreadable */
	bool nmi_watchdog;
};

/* Reads the PMUs and settings of the kernel below sys->root; free with
 * pfmi_machine_free_kernel_info(). Files that cannot be read or parsed are skipped. NULL only
 * without memory. (lib/machine/kernel_pmus.c) */
struct kernel_info *pfmi_machine_read_kernel_info(const struct sys *sys);
void pfmi_machine_free_kernel_info(struct kernel_info *k);
/* True if the processor reports that it lacks the event with the word @config of the cores' PMU
 * @p, which may be NULL. */
bool pfmi_machine_is_event_missing(const struct host *h, const struct kernel_pmu *p,
                                   uint64_t config);
/* PMU called @name (with or without instance number), or NULL. */
const struct kernel_pmu *pfmi_machine_find_kernel_pmu(const struct kernel_info *k,
                                                      struct slice name);
/* True if events of @t are for devices with the identifier that the kernel shows for @p (their
 * field "compat"). */
bool pfmi_machine_has_kernel_identifier(const struct kernel_pmu *p, const struct table *t);
/* 1 + the instance of @p that is called @name ("uncore_imc_3"); 0 if @name means all instances. */
unsigned pfmi_machine_find_instance(const struct kernel_pmu *p, struct slice name);
/* 1 + the instance of @p whose number is @digits; 0 if missing. */
unsigned pfmi_machine_find_instance_number(const struct kernel_pmu *p, struct slice digits);
/* The folders in which tracefs has the subsystems of tracepoints. */
#define TRACEFS_MOUNTS 2u
extern const char pfmi_machine_tracefs_paths[TRACEFS_MOUNTS][40];
/* Reads the number of tracepoint @group:@name from tracefs. Returns 0 or -errno. */
int pfmi_lookup_tracepoint_id(const struct sys *sys, struct slice group, struct slice name,
                              uint64_t *id);

/* A client of a GPU: a file of a process for which the kernel shows the use of the GPU. */
struct drm_client {
	struct slice driver;
	uint64_t id;      /* the same for all files of one client */
	const char *text; /* lines "KEY: VALUE" */
};
/* Calls @each with the clients of all processes whose files may be read, until it returns nonzero;
 * reads at most @max_files files. (lib/machine/drm_pmus.c) */
void pfmi_machine_visit_drm_clients(const struct sys *sys, unsigned max_files,
                                    int (*each)(void *arg, const struct drm_client *client),
                                    void *arg);
/* The value of @key, in bytes where the text has another unit; false if missing. */
bool pfmi_machine_read_drm_value(const char *text, const char *key, uint64_t *value);

/* ---- environment ----------------------------------------------------------------------------- */

/* The value of an environment variable; NULL if it is unset or empty, and in set-user-ID programs
 * that another user runs. */
const char *pfmi_machine_get_env(const char *name);
/* Values of the variables that choose a processor or a machine; NULL if unset. */
struct env_options {
	const char *pmu, *events, *cpuid, *sysfs_root, *force_pmu;
	unsigned log_topics; /* enum log_topic, from PERFMON_DEBUG */
};
PERFMON_PRIVATE void pfmi_machine_read_env_options(struct env_options *out);

/* ---- messages -------------------------------------------------------------------------------- */

/* Topics of messages. */
enum log_topic {
	LOG_LOOKUP = 1,  /* tables that were tried, rows that matched */
	LOG_SESSION = 2, /* what the kernel answered */
	LOG_IMAGE = 4,   /* image files that are ignored */
	LOG_MACHINE = 8, /* which tables serve this machine */
};
/* True if messages of @topic at @level are written. Callers test it before they compose one. */
static inline bool machine_is_logged(const struct log *log, enum log_topic topic,
                                     pfm_log_level_t level)
{
	return log->topics & topic || level <= log->max_level;
}
/* Sends one line to the context's callback, or "perfmon: TOPIC: ..." to standard error; it is cut
 * at 1,000 bytes. Does nothing if the topic is
 * not logged at this level. (lib/machine/log.c) */
__attribute__((format(printf, 4, 5))) void pfmi_machine_log(const struct log *log,
                                                            enum log_topic topic,
                                                            pfm_log_level_t level,
                                                            const char *format, ...);
/* The topics that a list such as "lookup,session" names; unknown ones are ignored. */
unsigned pfmi_machine_parse_log_topics(const char *list);

#endif
