/* SPDX-License-Identifier: MIT */
/* The seam: every system call the library makes goes through this struct, so tests answer from a script, a recorded machine is
 * replayed from a folder, and the Alpha device model stands in for a kernel. Every function returns -errno on failure. */
#ifndef PERFMON_SYS_H
#define PERFMON_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;
struct pollfd;

struct sys {
	/* Opens @path (absolute, below the root) with open(2) @flags; returns a descriptor. */
	int (*open)(const struct sys *sys, const char *path, int flags);
	long (*read)(const struct sys *sys, int fd, void *buf, size_t n);
	int (*ioctl)(const struct sys *sys, int fd, unsigned long request, void *arg);
	int (*close)(const struct sys *sys, int fd);
	/* Maps @len bytes of @fd shared; @writable 0 for read-only. */
	int (*mmap)(const struct sys *sys, int fd, size_t len, int writable, void **out);
	int (*munmap)(const struct sys *sys, void *at, size_t len);
	/* Nanoseconds of a clock that stands still while the machine sleeps; it may go in steps of ten milliseconds. */
	uint64_t (*now)(const struct sys *sys);
	/* Waits for any of @n descriptors, @timeout milliseconds; returns how many have something to say. */
	int (*poll)(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout);
	int (*perf_event_open)(const struct sys *sys, struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags);
	/* Calls @each with the names in folder @path in sorted order, "." and ".." left out, until it returns nonzero. */
	int (*list)(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name), void *arg);
	/* Processor time that process @pid has taken until now, in nanoseconds, without that of its children. May be NULL: nobody knows. */
	int (*time_of)(const struct sys *sys, int pid, uint64_t *ns);
	/* CPUID leaf of the running processor: false if there is none or it must not be asked (another root). */
	bool (*cpuid)(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);
	char root[256]; /* prefix of /sys, /proc and tracefs paths: "" for the running machine */
	void *arg;      /* the implementation's own */
};

/* Does the error say only that the process has no room, and nothing of what it asked for? */
static inline bool pfmi_is_want(long err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/* A system that remembers the last of these errors: to most who look for a file, one that cannot be opened is not there. */
struct watched {
	struct sys sys;
	const struct sys *real;
	long want; /* 0: there was none */
};
void pfmi_sys_watch(struct watched *out, const struct sys *real);

/* The real system below @root ("" or "/" for this machine). */
void pfmi_sys_real(struct sys *out, const char *root);
/* Reads a whole small file into @buf, terminated, trailing newline removed. Returns its length or -errno (-EFBIG if it does not fit). */
long pfmi_sys_slurp(const struct sys *sys, const char *path, char *buf, size_t len);
/* Reads a whole file into memory the caller frees, terminated, as it is. 0 or -errno. */
int pfmi_sys_read(const struct sys *sys, const char *path, char **out, size_t *len);
/* The same of a file that has one line: it ends with that line, and nobody asks whether there is more. */
int pfmi_sys_read_line(const struct sys *sys, const char *path, char **out, size_t *len);
/* A decimal or 0x number in a file; -errno, -EINVAL if it is none. */
int pfmi_sys_number(const struct sys *sys, const char *path, uint64_t *out);

/* What is known of the processor at hand. Read once; every question about the machine is answered from here. */
struct host {
	bool known;
	char arch[12]; /* "x86", "arm64", "powerpc", "s390", "riscv", "alpha", "ia64", "sparc", "mips" */
	char id[96];   /* as in mapfile.csv: "GenuineIntel-6-55-4", "0x00000000413fd0c1" ... */
	char vendor[16];
	uint32_t family, model, stepping;
	uint64_t value;       /* MIDR, PVR, HWRPB cpu type ... */
	uint32_t pmu_version; /* architectural PMU version, 0 if none */
	uint32_t n_general, n_fixed, width_general, width_fixed;
	uint32_t arch_missing; /* CPUID.0AH EBX: set bit = architectural event missing */
	bool hypervisor;
	uint32_t n_types; /* hybrid: core types, each with its kernel PMU */
	struct {
		uint8_t core_type;
		uint32_t native_model;
		char device[24];
	} types[4];
};

/* Describes the host: from @cpuid text if not NULL, else by asking @sys. Two CPUID leaves are the budget of the first call. */
void pfmi_host_describe(const struct sys *sys, const char *cpuid, struct host *out);
/* Its two halves: who this is, without a system call on x86; and the core types of a hybrid. */
void pfmi_host_identify(const struct sys *sys, const char *cpuid, struct host *out);
void pfmi_host_cores(const struct sys *sys, const char *cpuid, struct host *h);
/* Adds what two further CPUID leaves know: the architectural PMU, and the design of this core of a hybrid. Not part of the plain
 * path, because each leaf costs a trap in a virtual machine. */
void pfmi_host_detail(const struct sys *sys, struct host *h);
/* The same from an id text alone; false if it is in no known form. */
bool pfmi_host_parse(const char *id, struct host *out);

struct table;
struct match;
/* True if @t is for @host; *@core gets the index of the hybrid core type, or 0. */
bool pfmi_host_matches(const struct host *host, const struct table *t, unsigned *core);
/* The rule for fallbacks: true if @t leaves @other, a table for the same host, without a job. An architectural one serves only if
 * nothing better does. */
bool pfmi_host_prefers(const struct table *t, const struct table *other);
struct image;
typedef void (*pfmi_host_each)(void *arg, uint32_t table, unsigned core);
/* Calls @each with the tables of @im that are for @host, the kernel's own events included; looked up, not searched for; those with
 * a flag of @without are left out. A table with several lines may come twice. */
void pfmi_image_hosts(const struct image *im, const struct host *host, uint32_t without, pfmi_host_each each, void *arg);
/* The same for units that any processor may have, by the name the kernel has for them. */
void pfmi_image_devices(const struct image *im, const char *device, pfmi_host_each each, void *arg);

#endif
