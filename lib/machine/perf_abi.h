/* SPDX-License-Identifier: MIT */
/* The attributes of perf_event_open(2), with every member that Linux has up to
 * PERF_ATTR_SIZE_VER9. The header <linux/perf_event.h> of the build system may be older and lack
 * members, so the library uses this layout alone; constants come from that header.
 *
 * Source: include/uapi/linux/perf_event.h of Linux, whose sizes VER0 to VER9 are the offsets of the
 * members that each version added. */
#ifndef PERFMON_MACHINE_PERF_ABI_H
#define PERFMON_MACHINE_PERF_ABI_H

#include <linux/perf_event.h>
#include <stdint.h>

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4) /* Linux 6.0 */
#endif

/* Sizes of struct perf_attr: the smallest that has all members that select an event without
 * config3, then those of later versions. */
enum {
	PERF_ATTR_MIN_SIZE = 80,      /* VER2: branch_sample_type */
	PERF_ATTR_SIGNAL_SIZE = 128,  /* VER7: sig_data */
	PERF_ATTR_CONFIG3_SIZE = 136, /* VER8: config3 */
	PERF_ATTR_CONFIG4_SIZE = 144  /* VER9: config4 */
};

/* may_alias: public functions write a caller's struct perf_event_attr through it. */
struct __attribute__((may_alias)) perf_attr {
	uint32_t type, size;
	uint64_t config;
	union {
		uint64_t sample_period, sample_freq;
	};
	uint64_t sample_type, read_format;
	/* one word of flags */
	uint64_t disabled:1, inherit:1, pinned:1, exclusive:1;
	uint64_t exclude_user:1, exclude_kernel:1, exclude_hv:1, exclude_idle:1;
	uint64_t mmap:1, comm:1, freq:1, inherit_stat:1;
	uint64_t enable_on_exec:1, task:1, watermark:1, precise_ip:2;
	uint64_t mmap_data:1, sample_id_all:1, exclude_host:1, exclude_guest:1;
	uint64_t exclude_callchain_kernel:1, exclude_callchain_user:1;
	uint64_t mmap2:1, comm_exec:1, use_clockid:1, context_switch:1;
	uint64_t write_backward:1, namespaces:1, ksymbol:1, bpf_event:1;
	uint64_t aux_output:1, cgroup:1, text_poke:1, build_id:1;
	uint64_t inherit_thread:1, remove_on_exec:1, sigtrap:1, reserved_flags:26;
	union {
		uint32_t wakeup_events, wakeup_watermark;
	};
	uint32_t bp_type;
	union {
		uint64_t bp_addr, config1;
	};
	union {
		uint64_t bp_len, config2;
	};
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack, reserved_2;
	uint32_t aux_sample_size, reserved_3;
	uint64_t sig_data;
	uint64_t config3; /* Linux 6.3 */
	uint64_t config4;
};

/* The size of the oldest version from VER7 on that has all members in use. A kernel whose struct is
 * shorter accepts it if the rest is 0, and answers E2BIG otherwise. */
static inline uint32_t perf_attr_get_size(uint64_t config3, uint64_t config4)
{
	return config4   ? PERF_ATTR_CONFIG4_SIZE
	       : config3 ? PERF_ATTR_CONFIG3_SIZE
	                 : PERF_ATTR_SIGNAL_SIZE;
}

#endif
