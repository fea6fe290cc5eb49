/* SPDX-License-Identifier: MIT */
/* The kernel's interface of perf_event_open(2) with the names of libpfm4's header.
 *
 * Constants and records are those of the kernel's header. struct perf_event_attr is declared here:
 * it has all members up to config3 whatever the age of that header, and names for SWIG. If the
 * kernel's header was included before, its struct stays. */
#ifndef PERFMON_LIBPFM4_PERF_EVENT_H
#define PERFMON_LIBPFM4_PERF_EVENT_H

#include <inttypes.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* As in pfmlib.h: SWIG reads each header alone. */
#ifndef PFMLIB_UNNAMED
#ifdef SWIG
#define PFMLIB_UNNAMED(NAME) NAME
#define PFMLIB_EXTENSION
#else
#define PFMLIB_UNNAMED(NAME)
#define PFMLIB_EXTENSION __extension__
#endif
#endif

#ifdef _LINUX_PERF_EVENT_H
typedef struct perf_event_attr perf_event_attr_t;
#else
#define perf_event_attr perf_event_attr_of_kernel
#include <linux/perf_event.h>
#undef perf_event_attr

typedef struct perf_event_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	PFMLIB_EXTENSION union {
		uint64_t sample_period;
		uint64_t sample_freq;
	} PFMLIB_UNNAMED(sample);
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t disabled:1;
	uint64_t inherit:1;
	uint64_t pinned:1;
	uint64_t exclusive:1;
	uint64_t exclude_user:1;
	uint64_t exclude_kernel:1;
	uint64_t exclude_hv:1;
	uint64_t exclude_idle:1;
	uint64_t mmap:1;
	uint64_t comm:1;
	uint64_t freq:1;
	uint64_t inherit_stat:1;
	uint64_t enable_on_exec:1;
	uint64_t task:1;
	uint64_t watermark:1;
	uint64_t precise_ip:2;
	uint64_t mmap_data:1;
	uint64_t sample_id_all:1;
	uint64_t exclude_host:1;
	uint64_t exclude_guest:1;
	uint64_t exclude_callchain_kernel:1;
	uint64_t exclude_callchain_user:1;
	uint64_t mmap2:1;
	uint64_t comm_exec:1;
	uint64_t use_clockid:1;
	uint64_t context_switch:1;
	uint64_t write_backward:1;
	uint64_t namespaces:1;
	uint64_t ksymbol:1;
	uint64_t bpf_event:1;
	uint64_t aux_output:1;
	uint64_t cgroup:1;
	uint64_t text_poke:1;
	uint64_t build_id:1;
	uint64_t inherit_thread:1;
	uint64_t remove_on_exec:1;
	uint64_t sigtrap:1;
	uint64_t __reserved_1:26;
	PFMLIB_EXTENSION union {
		uint32_t wakeup_events;
		uint32_t wakeup_watermark;
	} PFMLIB_UNNAMED(wakeup);
	uint32_t bp_type;
	PFMLIB_EXTENSION union {
		uint64_t bp_addr;
		uint64_t kprobe_func;
		uint64_t uprobe_path;
		uint64_t config1;
	} PFMLIB_UNNAMED(bpa);
	PFMLIB_EXTENSION union {
		uint64_t bp_len;
		uint64_t kprobe_addr;
		uint64_t probe_offset;
		uint64_t config2;
	} PFMLIB_UNNAMED(bpb);
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t __reserved_2;
	uint32_t aux_sample_size;
	uint32_t __reserved_3;
	uint64_t sig_data;
	uint64_t config3;
} perf_event_attr_t;
#endif

/* Names of libpfm4 that no kernel's header has, or only newer ones. */
#ifndef PERF_ATTR_SIZE_VER8
#define PERF_ATTR_SIZE_VER8 136
#endif
#define PERF_SAMPLE_BRANCH_COUNTERS_SHIFT 19
#define PERF_SAMPLE_BRANCH_COUNTERS       (1U << PERF_SAMPLE_BRANCH_COUNTERS_SHIFT)
#define PERF_RECORD_MISC_EXACT            (1 << 14)
#define PERF_EVENT_MISC_CPUMODE_MASK      3
#define PERF_EVENT_MISC_CPUMODE_UNKNOWN   0
#define PERF_EVENT_MISC_KERNEL            1
#define PERF_EVENT_MISC_USER              2
#define PERF_EVENT_MISC_HYPERVISOR        3
#define cap_usr_rdpmc                     cap_user_rdpmc

#ifndef SWIG
struct perf_branch_stack {
	uint64_t nr;
	__extension__ struct perf_branch_entry entries[0];
};
#endif

#if !defined __cplusplus && !defined SWIG
/* The C library declares this function only for programs that request extensions of the
 * standard. */
extern long syscall(long number, ...);
#endif

static inline int perf_event_open(struct perf_event_attr *hw_event_uptr, pid_t pid, int cpu,
                                  int group_fd, unsigned long flags)
{
	return (int)syscall(__NR_perf_event_open, hw_event_uptr, pid, cpu, group_fd, flags);
}

#endif
