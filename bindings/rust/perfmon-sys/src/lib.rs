// SPDX-License-Identifier: MIT
// Written by scripts/bindings.py from bindings/api.json.
//! The C interface of libperfmon, version 1.0.0: types, constants and functions as in its
//! headers. The crate `perfmon` is the safe interface.
#![cfg_attr(not(test), no_std)]
#![allow(non_camel_case_types, non_upper_case_globals)]
use types::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_ulonglong, c_ushort, c_void};

/// Types of C on Linux; `core` has them since Rust 1.64.
pub mod types {
    pub use core::ffi::c_void;
    #[cfg(any(
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "riscv32",
        target_arch = "riscv64",
        target_arch = "s390x"
    ))]
    pub type c_char = u8;
    #[cfg(not(any(
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "riscv32",
        target_arch = "riscv64",
        target_arch = "s390x"
    )))]
    pub type c_char = i8;
    pub type c_uchar = u8;
    pub type c_ushort = u16;
    pub type c_int = i32;
    pub type c_uint = u32;
    #[cfg(target_pointer_width = "64")]
    pub type c_long = i64;
    #[cfg(not(target_pointer_width = "64"))]
    pub type c_long = i32;
    #[cfg(target_pointer_width = "64")]
    pub type c_ulong = u64;
    #[cfg(not(target_pointer_width = "64"))]
    pub type c_ulong = u32;
    pub type c_ulonglong = u64;
}

/// The problem with a text, in more detail than the error code. pfm_error_kind_name() gives the quoted words, which never change.
pub type pfm_error_kind_t = c_uint;
pub const PFM_KIND_NONE: pfm_error_kind_t = 0;
/// "unknown_event"
pub const PFM_KIND_UNKNOWN_EVENT: pfm_error_kind_t = 1;
/// "unsupported_alias": no such generic event
pub const PFM_KIND_UNSUPPORTED_ALIAS: pfm_error_kind_t = 2;
/// "unknown_qualifier": unit mask, modifier or field
pub const PFM_KIND_UNKNOWN_QUALIFIER: pfm_error_kind_t = 3;
/// "empty_qualifier": nothing between separators
pub const PFM_KIND_EMPTY_QUALIFIER: pfm_error_kind_t = 4;
/// "unexpected_value": the qualifier takes no value
pub const PFM_KIND_UNEXPECTED_VALUE: pfm_error_kind_t = 5;
/// "missing_value"
pub const PFM_KIND_MISSING_VALUE: pfm_error_kind_t = 6;
/// "bad_value": not a number, or out of range
pub const PFM_KIND_BAD_VALUE: pfm_error_kind_t = 7;
/// "qualifier_not_allowed": not allowed for this event
pub const PFM_KIND_QUALIFIER_NOT_ALLOWED: pfm_error_kind_t = 8;
/// "missing_umask": the event has no default unit mask
pub const PFM_KIND_MISSING_UMASK: pfm_error_kind_t = 9;
/// "conflict": parts of the text contradict
pub const PFM_KIND_CONFLICT: pfm_error_kind_t = 10;
/// "unknown_pmu"
pub const PFM_KIND_UNKNOWN_PMU: pfm_error_kind_t = 11;
/// "ambiguous": several PMUs have the event; name one
pub const PFM_KIND_AMBIGUOUS: pfm_error_kind_t = 12;
/// "syntax"
pub const PFM_KIND_SYNTAX: pfm_error_kind_t = 13;
/// "not_on_cpu": CPUID reports the event as missing
pub const PFM_KIND_NOT_ON_CPU: pfm_error_kind_t = 14;
/// "no_placement": the set does not fit; see clash
pub const PFM_KIND_NO_PLACEMENT: pfm_error_kind_t = 15;
/// "too_many"
pub const PFM_KIND_TOO_MANY: pfm_error_kind_t = 16;
/// "unexpressible": the dialect cannot express it
pub const PFM_KIND_UNEXPRESSIBLE: pfm_error_kind_t = 17;
/// "system": a system call failed; see sys_errno
pub const PFM_KIND_SYSTEM: pfm_error_kind_t = 18;
/// "image": a corrupt, foreign or untrusted file
pub const PFM_KIND_IMAGE: pfm_error_kind_t = 19;
/// "model": a processor-specific setting; see detail
pub const PFM_KIND_MODEL: pfm_error_kind_t = 20;
/// "alone": the event must be counted alone; see clash
pub const PFM_KIND_ALONE: pfm_error_kind_t = 21;
/// Bits of pfm_ctx_options_t.flags.
pub type pfm_ctx_flag_t = c_uint;
/// ignore this machine: every event must name its PMU
pub const PFM_CTX_NO_HOST: pfm_ctx_flag_t = 1;
/// do not search for image files
pub const PFM_CTX_NO_IMAGES: pfm_ctx_flag_t = 2;
/// How much a message matters; smaller values matter more.
pub type pfm_log_level_t = c_uint;
/// no message
pub const PFM_LOG_NONE: pfm_log_level_t = 0;
/// something was ignored: an image file that cannot be used
pub const PFM_LOG_WARNING: pfm_log_level_t = 1;
/// a choice that changes results: the table of another processor
pub const PFM_LOG_INFO: pfm_log_level_t = 2;
/// each step: tables that were tried, answers of the kernel
pub const PFM_LOG_DEBUG: pfm_log_level_t = 3;
/// Bits of perfmon_pmu_info_t.flags.
pub type pfm_pmu_flag_t = c_uint;
/// this machine has it
pub const PFM_PMU_HOST: pfm_pmu_flag_t = 1;
/// counts for a package or device, not for a task
pub const PFM_PMU_UNCORE: pfm_pmu_flag_t = 2;
/// serves a processor whose own list is missing
pub const PFM_PMU_FALLBACK: pfm_pmu_flag_t = 4;
/// the kernel exports it: it can be counted here
pub const PFM_PMU_KERNEL: pfm_pmu_flag_t = 8;
/// part of a processor core
pub const PFM_PMU_CORE: pfm_pmu_flag_t = 16;
/// an alias of a listed PMU, or a test
pub const PFM_PMU_HIDDEN: pfm_pmu_flag_t = 32;
/// a fallback that is the list of another member of the family, not its architectural events
pub const PFM_PMU_NEAREST: pfm_pmu_flag_t = 64;
/// Bits of perfmon_event_info_t.flags.
pub type pfm_event_flag_t = c_uint;
/// left out of listings
pub const PFM_EVENT_HIDDEN: pfm_event_flag_t = 1;
/// perfmon_event_info_t.replaced names its successor
pub const PFM_EVENT_DEPRECATED: pfm_event_flag_t = 2;
/// excludes other events from the general counters
pub const PFM_EVENT_ALONE: pfm_event_flag_t = 4;
/// counts for a whole package
pub const PFM_EVENT_PER_PKG: pfm_event_flag_t = 8;
/// the vendor has not validated it
pub const PFM_EVENT_EXPERIMENTAL: pfm_event_flag_t = 16;
/// architectural: the same on all processors
pub const PFM_EVENT_ARCH: pfm_event_flag_t = 32;
/// a metric: see metric.h
pub const PFM_EVENT_METRIC: pfm_event_flag_t = 128;
/// the vendor's list
pub const PFM_EVENT_BY_VENDOR: pfm_event_flag_t = 4096;
/// Linux's list; for Intel a copy of the vendor's
pub const PFM_EVENT_BY_LINUX: pfm_event_flag_t = 8192;
/// libpfm4's table
pub const PFM_EVENT_BY_LIBPFM4: pfm_event_flag_t = 16384;
/// The effect of an erratum on the count of its events. Open: later versions may add values.
pub type pfm_erratum_count_t = c_uint;
/// nothing: samples or another facility are wrong
pub const PFM_ERRATUM_COUNT_RIGHT: pfm_erratum_count_t = 0;
/// it can be too high
pub const PFM_ERRATUM_COUNT_HIGH: pfm_erratum_count_t = 1;
/// it can be too low
pub const PFM_ERRATUM_COUNT_LOW: pfm_erratum_count_t = 2;
/// it can be wrong in either direction
pub const PFM_ERRATUM_COUNT_WRONG: pfm_erratum_count_t = 3;
/// nothing is counted
pub const PFM_ERRATUM_COUNT_ZERO: pfm_erratum_count_t = 4;
/// it is off by a few at most
pub const PFM_ERRATUM_COUNT_NEAR: pfm_erratum_count_t = 5;
/// Bits of pfm_erratum_t.flags.
pub type pfm_erratum_flag_t = c_uint;
/// the PMU is of this machine, which has the erratum
pub const PFM_ERRATUM_HERE: pfm_erratum_flag_t = 1;
/// it is about all events of the PMU
pub const PFM_ERRATUM_EVERY_EVENT: pfm_erratum_flag_t = 2;
/// it is about the event with other modifiers or levels
pub const PFM_ERRATUM_CONDITIONAL: pfm_erratum_flag_t = 4;
/// Kinds of registers.
pub type pfm_reg_kind_t = c_uint;
/// control register of one counter
pub const PFM_REG_PMC: pfm_reg_kind_t = 0;
/// data register: the counter itself
pub const PFM_REG_PMD: pfm_reg_kind_t = 1;
/// control register that all fixed counters share
pub const PFM_REG_FIXED_CTRL: pfm_reg_kind_t = 2;
/// further control register that an event needs
pub const PFM_REG_EXTRA: pfm_reg_kind_t = 3;
/// instruction breakpoint register
pub const PFM_REG_IBR: pfm_reg_kind_t = 4;
/// data breakpoint register
pub const PFM_REG_DBR: pfm_reg_kind_t = 5;
/// word of perf_event_attr: num 0 for config, 1 for config1 ...
pub const PFM_REG_CONFIG: pfm_reg_kind_t = 6;
/// enable bits: n for counter n, 32 + n for fixed ones
pub const PFM_REG_GLOBAL_CTRL: pfm_reg_kind_t = 7;
/// Notations of events.
pub type pfm_dialect_t = c_uint;
/// pmu::EVENT:UMASK:modifier=value
pub const PFM_DIALECT_LIBPFM: pfm_dialect_t = 0;
/// Event,qualifier=value (FreeBSD)
pub const PFM_DIALECT_LIBPMC: pfm_dialect_t = 1;
/// pmu/event=0xc0,umask=1/ or rNNN
pub const PFM_DIALECT_PERF: pfm_dialect_t = 2;
/// the vendor's names
pub const PFM_DIALECT_VENDOR: pfm_dialect_t = 3;
/// How the error of a metric follows from the measurement.
pub type pfm_error_model_t = c_uint;
/// One measurement. The operands' own errors are propagated, taken as independent.
pub const PFM_ERROR_PROPAGATED: pfm_error_model_t = 0;
/// Repeated measurements. The value is that of the mean counts; its error follows from how the counts of a repetition vary together.
pub const PFM_ERROR_FROM_REPETITIONS: pfm_error_model_t = 1;
/// One measurement of events that shared counters, read at intervals of equal length. The value is that of the operands; its error is that of extrapolation, from how neighbouring intervals differ.
pub const PFM_ERROR_FROM_INTERVALS: pfm_error_model_t = 2;
/// Whether a metric has a value.
pub type pfm_metric_state_t = c_uint;
/// "defined"
pub const PFM_METRIC_DEFINED: pfm_metric_state_t = 0;
/// "division by zero"
pub const PFM_METRIC_DIVISION: pfm_metric_state_t = 1;
/// "not counted": an input has no value
pub const PFM_METRIC_NOT_COUNTED: pfm_metric_state_t = 2;
/// "out of range": of a double
pub const PFM_METRIC_OVERFLOW: pfm_metric_state_t = 3;
/// Whether the value of a metric can be true. pfm_plausibility_name() gives the quoted words.
pub type pfm_plausibility_t = c_uint;
/// "plausible": within its limits, or these are unknown
pub const PFM_PLAUSIBLE: pfm_plausibility_t = 0;
/// "outside its range": a share outside 0 and the whole, or negative
pub const PFM_OUTSIDE_RANGE: pfm_plausibility_t = 1;
/// "parts do not sum to the whole"
pub const PFM_WRONG_SUM: pfm_plausibility_t = 2;
/// "above the peak": more than memory can move
pub const PFM_ABOVE_PEAK: pfm_plausibility_t = 3;
/// How far a count can be trusted. pfm_quality_name() gives the quoted words.
pub type pfm_quality_t = c_uint;
/// "exact": counted all the time it was enabled
pub const PFM_QUALITY_EXACT: pfm_quality_t = 0;
/// "scaled": shared a counter; extrapolated from time running
pub const PFM_QUALITY_SCALED: pfm_quality_t = 1;
/// "partial": some CPUs or tasks were not counted
pub const PFM_QUALITY_PARTIAL: pfm_quality_t = 2;
/// "not counted": no value this time
pub const PFM_QUALITY_NOT_COUNTED: pfm_quality_t = 3;
/// "not supported": no value: cannot be counted here
pub const PFM_QUALITY_NOT_SUPPORTED: pfm_quality_t = 4;
/// "pretended": a value that pfm pretend made up
pub const PFM_QUALITY_PRETENDED: pfm_quality_t = 5;
/// "simulated": an emulator counted it, not a PMU
pub const PFM_QUALITY_SIMULATED: pfm_quality_t = 6;
/// Why a count is not exact. pfm_cause_name() gives a short phrase for each.
pub type pfm_cause_t = c_uint;
pub const PFM_CAUSE_NONE: pfm_cause_t = 0;
/// the machine or its hypervisor has no PMU for it
pub const PFM_CAUSE_NO_PMU: pfm_cause_t = 1;
/// perf_event_paranoid, or a process of another user
pub const PFM_CAUSE_PERMISSION: pfm_cause_t = 2;
/// the counter is in use
pub const PFM_CAUSE_BUSY: pfm_cause_t = 3;
/// the group does not fit the counters
pub const PFM_CAUSE_GROUP: pfm_cause_t = 4;
/// more events than counters
pub const PFM_CAUSE_MULTIPLEXED: pfm_cause_t = 5;
/// out of file descriptors
pub const PFM_CAUSE_FILES: pfm_cause_t = 6;
/// the kernel refused a setting
pub const PFM_CAUSE_ATTRIBUTE: pfm_cause_t = 7;
/// the process does not exist
pub const PFM_CAUSE_NO_PROCESS: pfm_cause_t = 8;
/// the CPU is offline or does not exist
pub const PFM_CAUSE_NO_CPU: pfm_cause_t = 9;
/// out of memory
pub const PFM_CAUSE_MEMORY: pfm_cause_t = 10;
/// enabled for less than a clock tick, or never
pub const PFM_CAUSE_NO_TIME: pfm_cause_t = 11;
/// the kernel has no perf_event_open(2), or no such device
pub const PFM_CAUSE_NO_KERNEL: pfm_cause_t = 12;
pub const PFM_CAUSE_OTHER: pfm_cause_t = 13;
/// samples: a buffer was full
pub const PFM_CAUSE_LOST: pfm_cause_t = 14;
/// samples: the kernel throttled the event
pub const PFM_CAUSE_THROTTLED: pfm_cause_t = 15;
/// the processor changed: the virtual machine was moved
pub const PFM_CAUSE_OTHER_CPU: pfm_cause_t = 16;
/// the processor counts this event wrong
pub const PFM_CAUSE_ERRATUM: pfm_cause_t = 17;
/// Bits of pfm_session_options_t.flags.
pub type pfm_session_flag_t = c_uint;
/// count child processes and threads too
pub const PFM_SESSION_INHERIT: pfm_session_flag_t = 1;
/// start when the process executes a program
pub const PFM_SESSION_ENABLE_ON_EXEC: pfm_session_flag_t = 2;
/// count every process on the CPUs
pub const PFM_SESSION_SYSTEM_WIDE: pfm_session_flag_t = 4;
/// resolve and describe the events, open nothing
pub const PFM_SESSION_DRY_RUN: pfm_session_flag_t = 8;
/// fail unless every event can be opened
pub const PFM_SESSION_STRICT: pfm_session_flag_t = 16;
/// make counters readable without a system call
pub const PFM_SESSION_USER_READ: pfm_session_flag_t = 32;
/// with SYSTEM_WIDE: one count per CPU, not the sum
pub const PFM_SESSION_PER_CPU: pfm_session_flag_t = 64;
/// pid is one thread, even the first of a process
pub const PFM_SESSION_ONE_THREAD: pfm_session_flag_t = 128;
/// Bits of pfm_plan_options_t.flags.
pub type pfm_plan_flag_t = c_uint;
/// use counters that the kernel reserves as well
pub const PFM_PLAN_ALL_COUNTERS: pfm_plan_flag_t = 1;
/// use them only if the events have no other counter: the kernel may free one of them
pub const PFM_PLAN_RESERVED_IF_NEEDED: pfm_plan_flag_t = 2;
/// Contents of a sample: bits of pfm_sampling_t.fields and pfm_record_t.has.
pub type pfm_sample_field_t = c_uint;
/// address of the instruction
pub const PFM_SAMPLE_IP: pfm_sample_field_t = 1;
/// process and thread
pub const PFM_SAMPLE_TID: pfm_sample_field_t = 2;
/// nanoseconds of the session's clock
pub const PFM_SAMPLE_TIME: pfm_sample_field_t = 4;
/// data address
pub const PFM_SAMPLE_ADDR: pfm_sample_field_t = 8;
/// the count itself
pub const PFM_SAMPLE_READ: pfm_sample_field_t = 16;
/// call chain
pub const PFM_SAMPLE_CHAIN: pfm_sample_field_t = 32;
/// id of the event
pub const PFM_SAMPLE_ID: pfm_sample_field_t = 64;
/// CPU it was taken on
pub const PFM_SAMPLE_CPU: pfm_sample_field_t = 128;
/// number of events that the sample represents
pub const PFM_SAMPLE_PERIOD: pfm_sample_field_t = 256;
/// id of the event on this task
pub const PFM_SAMPLE_STREAM: pfm_sample_field_t = 512;
/// data of the tracepoint
pub const PFM_SAMPLE_RAW: pfm_sample_field_t = 1024;
/// the last branches taken
pub const PFM_SAMPLE_BRANCH: pfm_sample_field_t = 2048;
/// user registers
pub const PFM_SAMPLE_REGS: pfm_sample_field_t = 4096;
/// a copy of the user stack
pub const PFM_SAMPLE_STACK: pfm_sample_field_t = 8192;
/// cost of the access, usually cycles
pub const PFM_SAMPLE_WEIGHT: pfm_sample_field_t = 16384;
/// where the data came from
pub const PFM_SAMPLE_SOURCE: pfm_sample_field_t = 32768;
pub const PFM_SAMPLE_IDENTIFIER: pfm_sample_field_t = 65536;
pub const PFM_SAMPLE_TRANSACTION: pfm_sample_field_t = 131072;
/// registers at the interrupt
pub const PFM_SAMPLE_INTR_REGS: pfm_sample_field_t = 262144;
pub const PFM_SAMPLE_PHYS_ADDR: pfm_sample_field_t = 524288;
pub const PFM_SAMPLE_AUX: pfm_sample_field_t = 1048576;
pub const PFM_SAMPLE_CGROUP: pfm_sample_field_t = 2097152;
/// size of the page that holds the data
pub const PFM_SAMPLE_DATA_PAGE: pfm_sample_field_t = 4194304;
/// size of the page that holds the instruction
pub const PFM_SAMPLE_CODE_PAGE: pfm_sample_field_t = 8388608;
/// weight as three numbers; excludes PFM_SAMPLE_WEIGHT
pub const PFM_SAMPLE_WEIGHTS: pfm_sample_field_t = 16777216;
/// Side-band records, which come beside samples: bits of pfm_sampling_t.records.
pub type pfm_sideband_t = c_uint;
/// executable mappings
pub const PFM_SIDEBAND_MAPS: pfm_sideband_t = 1;
/// other mappings
pub const PFM_SIDEBAND_DATA_MAPS: pfm_sideband_t = 2;
/// mappings with build ids (Linux 5.12)
pub const PFM_SIDEBAND_BUILD_ID: pfm_sideband_t = 4;
/// names of tasks
pub const PFM_SIDEBAND_COMM: pfm_sideband_t = 8;
/// tasks that start and end
pub const PFM_SIDEBAND_TASKS: pfm_sideband_t = 16;
/// context switches
pub const PFM_SIDEBAND_SWITCHES: pfm_sideband_t = 32;
pub const PFM_SIDEBAND_NAMESPACES: pfm_sideband_t = 64;
pub const PFM_SIDEBAND_KSYMBOLS: pfm_sideband_t = 128;
pub const PFM_SIDEBAND_BPF: pfm_sideband_t = 256;
pub const PFM_SIDEBAND_CGROUPS: pfm_sideband_t = 512;
pub const PFM_SIDEBAND_TEXT_POKE: pfm_sideband_t = 1024;
/// what symbols need: MAPS, BUILD_ID, COMM, TASKS
pub const PFM_SIDEBAND_USUAL: pfm_sideband_t = 29;
/// Bits of pfm_sampling_t.flags.
pub type pfm_sampling_flag_t = c_uint;
/// lower the precision if the PMU cannot do better
pub const PFM_SAMPLING_LESS_PRECISE: pfm_sampling_flag_t = 1;
/// call chains of user code only
pub const PFM_SAMPLING_USER_CHAIN: pfm_sampling_flag_t = 2;
/// clock is set; otherwise it is CLOCK_MONOTONIC
pub const PFM_SAMPLING_CLOCK: pfm_sampling_flag_t = 4;
/// call chains of kernel code only
pub const PFM_SAMPLING_KERNEL_CHAIN: pfm_sampling_flag_t = 8;
/// Types of records. A record of another type is passed on undecoded.
pub type pfm_record_type_t = c_uint;
pub const PFM_RECORD_MAP: pfm_record_type_t = 1;
pub const PFM_RECORD_LOST: pfm_record_type_t = 2;
pub const PFM_RECORD_COMM: pfm_record_type_t = 3;
pub const PFM_RECORD_EXIT: pfm_record_type_t = 4;
pub const PFM_RECORD_THROTTLE: pfm_record_type_t = 5;
pub const PFM_RECORD_UNTHROTTLE: pfm_record_type_t = 6;
pub const PFM_RECORD_FORK: pfm_record_type_t = 7;
pub const PFM_RECORD_READ: pfm_record_type_t = 8;
pub const PFM_RECORD_SAMPLE: pfm_record_type_t = 9;
pub const PFM_RECORD_MAP2: pfm_record_type_t = 10;
pub const PFM_RECORD_AUX: pfm_record_type_t = 11;
pub const PFM_RECORD_ITRACE_START: pfm_record_type_t = 12;
pub const PFM_RECORD_LOST_SAMPLES: pfm_record_type_t = 13;
pub const PFM_RECORD_SWITCH: pfm_record_type_t = 14;
pub const PFM_RECORD_SWITCH_CPU: pfm_record_type_t = 15;
pub const PFM_RECORD_NAMESPACES: pfm_record_type_t = 16;
pub const PFM_RECORD_KSYMBOL: pfm_record_type_t = 17;
pub const PFM_RECORD_BPF: pfm_record_type_t = 18;
pub const PFM_RECORD_CGROUP: pfm_record_type_t = 19;
pub const PFM_RECORD_TEXT_POKE: pfm_record_type_t = 20;
pub const PFM_RECORD_AUX_ID: pfm_record_type_t = 21;
/// user frames of earlier samples (Linux 6.19)
pub const PFM_RECORD_DEFERRED_CHAIN: pfm_record_type_t = 22;
/// Bits of pfm_record_t.misc. The lowest three are the mode of the processor.
pub type pfm_record_misc_t = c_uint;
pub const PFM_MISC_MODE: pfm_record_misc_t = 7;
pub const PFM_MISC_KERNEL: pfm_record_misc_t = 1;
pub const PFM_MISC_USER: pfm_record_misc_t = 2;
pub const PFM_MISC_HYPERVISOR: pfm_record_misc_t = 3;
pub const PFM_MISC_GUEST_KERNEL: pfm_record_misc_t = 4;
pub const PFM_MISC_GUEST_USER: pfm_record_misc_t = 5;
/// mappings: not executable
pub const PFM_MISC_DATA: pfm_record_misc_t = 8192;
/// names: the task executed a program
pub const PFM_MISC_EXEC: pfm_record_misc_t = 8192;
/// switches: the task leaves the CPU
pub const PFM_MISC_OUT: pfm_record_misc_t = 8192;
/// samples: ip is the instruction that caused the event
pub const PFM_MISC_EXACT: pfm_record_misc_t = 16384;
/// mappings: has a build id
pub const PFM_MISC_BUILD_ID: pfm_record_misc_t = 16384;
/// switches: the task was still runnable
pub const PFM_MISC_PREEMPTED: pfm_record_misc_t = 16384;
/// Incomplete parts of a sample: bits of pfm_record_t.truncated.
pub type pfm_truncated_t = c_uint;
/// the call chain has max_stack frames: callers may be missing
pub const PFM_TRUNCATED_CHAIN: pfm_truncated_t = 1;
/// the copy of the stack is full: callers may be missing
pub const PFM_TRUNCATED_STACK: pfm_truncated_t = 2;
/// Results of pfm_wait_session().
pub type pfm_wait_t = c_uint;
/// no records within the timeout
pub const PFM_WAIT_TIMEOUT: pfm_wait_t = 0;
/// there are records
pub const PFM_WAIT_READY: pfm_wait_t = 1;
/// all sampled tasks have ended and all records were read
pub const PFM_WAIT_ENDED: pfm_wait_t = 2;
/// Bits of pfm_trace_field_t.flags.
pub type pfm_trace_flag_t = c_uint;
pub const PFM_TRACE_SIGNED: pfm_trace_flag_t = 1;
/// an array of type, or a string
pub const PFM_TRACE_ARRAY: pfm_trace_flag_t = 2;
/// of variable length: offset leads to its position and length
pub const PFM_TRACE_DYNAMIC: pfm_trace_flag_t = 4;
/// dynamic, its position counted from the end of the field
pub const PFM_TRACE_RELATIVE: pfm_trace_flag_t = 8;
/// Bits of the flags of pfm_regions_options_t.
pub type pfm_regions_flag_t = c_uint;
/// do not subtract the cost of begin and end
pub const PFM_REGIONS_NO_SUBTRACT: pfm_regions_flag_t = 1;
/// change groups at every begin, not only at the outermost of a thread
pub const PFM_REGIONS_ROTATE_INNER: pfm_regions_flag_t = 2;
/// count events that cannot be counted for a task for the whole machine
pub const PFM_REGIONS_SYSTEM: pfm_regions_flag_t = 4;
/// write a row for each thread, not only the sums
pub const PFM_REGIONS_PER_THREAD: pfm_regions_flag_t = 8;
/// members that are set take precedence over the environment, which sets the others; flags are those of the program alone
pub const PFM_REGIONS_PROGRAM_FIRST: pfm_regions_flag_t = 16;
/// Effect of a finding on counting.
pub type pfm_finding_state_t = c_uint;
/// nothing prevents counting
pub const PFM_FINDING_GOOD: pfm_finding_state_t = 0;
/// some counting is restricted, or a remark
pub const PFM_FINDING_NOTE: pfm_finding_state_t = 1;
/// something cannot be counted
pub const PFM_FINDING_BAD: pfm_finding_state_t = 2;
/// The part of the check that a finding belongs to.
pub type pfm_finding_topic_t = c_uint;
/// processor, PMUs, kernel
pub const PFM_FINDING_MACHINE: pfm_finding_topic_t = 0;
/// permissions to count
pub const PFM_FINDING_PERMISSIONS: pfm_finding_topic_t = 1;
/// users of counters, limits, missing file systems
pub const PFM_FINDING_OBSTACLES: pfm_finding_topic_t = 2;
/// counts of a known workload
pub const PFM_FINDING_WORKLOAD: pfm_finding_topic_t = 3;
/// Bits of the flags of pfm_check_system().
pub type pfm_check_flag_t = c_uint;
/// only read files and try to open events
pub const PFM_CHECK_NO_WORKLOAD: pfm_check_flag_t = 1;
pub type pfmlib_mont_ear_mode_t = c_uint;
pub const PFMLIB_MONT_EAR_CACHE_MODE: pfmlib_mont_ear_mode_t = 0;
pub const PFMLIB_MONT_EAR_TLB_MODE: pfmlib_mont_ear_mode_t = 1;
pub const PFMLIB_MONT_EAR_ALAT_MODE: pfmlib_mont_ear_mode_t = 2;
/// Level that answered a miss.
pub type pfmlib_mont_level_t = c_uint;
pub const PFMLIB_MONT_LEVEL_NONE: pfmlib_mont_level_t = 0;
pub const PFMLIB_MONT_LEVEL_TLB2: pfmlib_mont_level_t = 1;
pub const PFMLIB_MONT_LEVEL_VHPT: pfmlib_mont_level_t = 2;
pub const PFMLIB_MONT_LEVEL_OS: pfmlib_mont_level_t = 3;
pub const PFMLIB_MONT_LEVEL_L2: pfmlib_mont_level_t = 4;
pub const PFMLIB_MONT_LEVEL_FAR: pfmlib_mont_level_t = 5;
/// Bits of pfm_profile_options_t.flags.
pub type pfm_profile_flag_t = c_uint;
/// only the function of each sampled instruction: call chains are neither read nor unwound
pub const PFM_PROFILE_INNERMOST: pfm_profile_flag_t = 1;
/// no inlined functions and no source lines; takes less time
pub const PFM_PROFILE_NO_LINES: pfm_profile_flag_t = 2;
/// Labels that keep stacks apart: bits of pfm_profile_options_t.labels. Names of tasks and events always do.
pub type pfm_profile_label_t = c_uint;
/// process and thread number
pub const PFM_LABEL_THREAD: pfm_profile_label_t = 1;
pub const PFM_LABEL_CPU: pfm_profile_label_t = 2;
/// path of the control group; needs samples with PFM_SAMPLE_CGROUP
pub const PFM_LABEL_CGROUP: pfm_profile_label_t = 4;
/// Bits of flags of functions, stacks and frames.
pub type pfm_frame_flag_t = c_uint;
/// compiled into the frame after it
pub const PFM_FRAME_INLINED: pfm_frame_flag_t = 1;
/// code of the kernel
pub const PFM_FRAME_KERNEL: pfm_frame_flag_t = 2;
/// not a function: callers that are missing from the call chain
pub const PFM_FRAME_CUT_OFF: pfm_frame_flag_t = 4;
/// function is the address in its file, in hexadecimal
pub const PFM_FRAME_UNNAMED: pfm_frame_flag_t = 8;
/// Markers in call chains: they are not addresses, but give the mode of the frames that follow.
pub const PFM_CHAIN_HYPERVISOR: u64 = 18446744073709551584;
/// Markers in call chains: they are not addresses, but give the mode of the frames that follow.
pub const PFM_CHAIN_KERNEL: u64 = 18446744073709551488;
/// Markers in call chains: they are not addresses, but give the mode of the frames that follow.
pub const PFM_CHAIN_USER: u64 = 18446744073709551104;
/// The next word is a cookie: the user frames are in the PFM_RECORD_DEFERRED_CHAIN with that cookie and the thread of the sample.
pub const PFM_CHAIN_DEFERRED: u64 = 18446744073709550976;
/// The lowest marker: higher values are not addresses.
pub const PFM_CHAIN_MARKER: u64 = 18446744073709547521;
/// pfm_record_t.event of a record that belongs to no event of the session.
pub const PFM_NO_EVENT: u64 = 4294967295;
/// pfm_sample_statistics_t.lost where the kernel does not count lost samples (before Linux 6.0).
pub const PFM_LOST_UNKNOWN: u64 = 18446744073709551615;
pub const PFM_PLM0: u64 = 1;
pub const PFM_PLM1: u64 = 2;
pub const PFM_PLM2: u64 = 4;
pub const PFM_PLM3: u64 = 8;
pub const PFMLIB_PFP_SYSTEMWIDE: u64 = 1;
pub const PFMLIB_SUCCESS: c_int = 0;
/// not supported here
pub const PFMLIB_ERR_NOTSUPP: c_int = -1;
/// invalid argument
pub const PFMLIB_ERR_INVAL: c_int = -2;
/// no PMU selected
pub const PFMLIB_ERR_NOINIT: c_int = -3;
/// unknown event or code
pub const PFMLIB_ERR_NOTFOUND: c_int = -4;
/// the set does not fit on the counters
pub const PFMLIB_ERR_NOASSIGN: c_int = -5;
/// buffer too small
pub const PFMLIB_ERR_FULL: c_int = -6;
/// an event is given more than once
pub const PFMLIB_ERR_EVTMANY: c_int = -7;
/// not a structure of this library
pub const PFMLIB_ERR_MAGIC: c_int = -8;
/// features that cannot be combined
pub const PFMLIB_ERR_FEATCOMB: c_int = -9;
/// events of sets that cannot be measured together
pub const PFMLIB_ERR_EVTSET: c_int = -10;
/// events that cannot be measured together
pub const PFMLIB_ERR_EVTINCOMP: c_int = -11;
/// too many events or unit masks
pub const PFMLIB_ERR_TOOMANY: c_int = -12;
/// code range too big
pub const PFMLIB_ERR_IRRTOOBIG: c_int = -13;
/// code range is empty
pub const PFMLIB_ERR_IRREMPTY: c_int = -14;
/// invalid code range
pub const PFMLIB_ERR_IRRINVAL: c_int = -15;
/// too many code ranges
pub const PFMLIB_ERR_IRRTOOMANY: c_int = -16;
/// invalid data range
pub const PFMLIB_ERR_DRRINVAL: c_int = -17;
/// too many data ranges
pub const PFMLIB_ERR_DRRTOOMANY: c_int = -18;
/// not available on this processor
pub const PFMLIB_ERR_BADHOST: c_int = -19;
/// code range not aligned to a bundle
pub const PFMLIB_ERR_IRRALIGN: c_int = -20;
/// code range lacks the flag that selects fetches
pub const PFMLIB_ERR_IRRFLAGS: c_int = -21;
/// invalid or missing unit mask
pub const PFMLIB_ERR_UMASK: c_int = -22;
/// out of memory
pub const PFMLIB_ERR_NOMEM: c_int = -23;
/// unknown qualifier
pub const PFMLIB_ERR_ATTR: c_int = -24;
/// invalid value of a qualifier
pub const PFMLIB_ERR_ATTR_VAL: c_int = -25;
/// a qualifier lacks its value
pub const PFMLIB_ERR_ATTR_MISSING: c_int = -26;
/// a qualifier that takes no value has one
pub const PFMLIB_ERR_ATTR_UNEXPECTED: c_int = -27;
/// empty qualifier
pub const PFMLIB_ERR_ATTR_EMPTY: c_int = -28;
/// the event does not accept this qualifier
pub const PFMLIB_ERR_ATTR_EVENT: c_int = -29;
/// qualifiers contradict each other
pub const PFMLIB_ERR_ATTR_SET: c_int = -30;
/// the name is known, but this processor lacks the event
pub const PFMLIB_ERR_ALIAS: c_int = -31;
/// unknown PMU
pub const PFMLIB_ERR_NOPMU: c_int = -32;
/// ambiguous event name
pub const PFMLIB_ERR_AMBIGUOUS: c_int = -33;
/// malformed event specification
pub const PFMLIB_ERR_SYNTAX: c_int = -34;
/// permission denied
pub const PFMLIB_ERR_PERM: c_int = -35;
/// counters in use
pub const PFMLIB_ERR_BUSY: c_int = -36;
/// a system call failed
pub const PFMLIB_ERR_SYS: c_int = -37;
/// corrupt or foreign image file
pub const PFMLIB_ERR_IMAGE: c_int = -38;
/// the lowest code
pub const PFMLIB_ERR_LAST: c_int = -38;
pub const PFMLIB_NO_PMU: i64 = -1;
pub const PFMLIB_UNKNOWN_PMU: u64 = 0;
pub const PFMLIB_GEN_IA64_PMU: u64 = 1;
pub const PFMLIB_ITANIUM_PMU: u64 = 2;
pub const PFMLIB_ITANIUM2_PMU: u64 = 3;
pub const PFMLIB_MONTECITO_PMU: u64 = 4;
pub const PFMLIB_AMD64_PMU: u64 = 16;
pub const PFMLIB_I386_P6_PMU: u64 = 32;
pub const PFMLIB_PENTIUM4_PMU: u64 = 33;
pub const PFMLIB_COREDUO_PMU: u64 = 34;
pub const PFMLIB_I386_PM_PMU: u64 = 35;
pub const PFMLIB_CORE_PMU: u64 = 36;
pub const PFMLIB_INTEL_CORE_PMU: u64 = 36;
pub const PFMLIB_INTEL_PPRO_PMU: u64 = 37;
pub const PFMLIB_INTEL_PII_PMU: u64 = 38;
pub const PFMLIB_INTEL_ATOM_PMU: u64 = 39;
pub const PFMLIB_INTEL_NHM_PMU: u64 = 40;
pub const PFMLIB_INTEL_WSM_PMU: u64 = 41;
pub const PFMLIB_GEN_IA32_PMU: u64 = 63;
pub const PFMLIB_MIPS_20KC_PMU: u64 = 64;
pub const PFMLIB_MIPS_24K_PMU: u64 = 65;
pub const PFMLIB_MIPS_25KF_PMU: u64 = 66;
pub const PFMLIB_MIPS_34K_PMU: u64 = 67;
pub const PFMLIB_MIPS_5KC_PMU: u64 = 68;
pub const PFMLIB_MIPS_74K_PMU: u64 = 69;
pub const PFMLIB_MIPS_R10000_PMU: u64 = 70;
pub const PFMLIB_MIPS_R12000_PMU: u64 = 71;
pub const PFMLIB_MIPS_RM7000_PMU: u64 = 72;
pub const PFMLIB_MIPS_RM9000_PMU: u64 = 73;
pub const PFMLIB_MIPS_SB1_PMU: u64 = 74;
pub const PFMLIB_MIPS_VR5432_PMU: u64 = 75;
pub const PFMLIB_MIPS_VR5500_PMU: u64 = 76;
pub const PFMLIB_MIPS_ICE9A_PMU: u64 = 77;
pub const PFMLIB_MIPS_ICE9B_PMU: u64 = 78;
pub const PFMLIB_POWERPC_PMU: u64 = 90;
pub const PFMLIB_CRAYX2_PMU: u64 = 96;
pub const PFMLIB_CELL_PMU: u64 = 100;
pub const PFMLIB_PPC970_PMU: u64 = 110;
pub const PFMLIB_PPC970MP_PMU: u64 = 111;
pub const PFMLIB_POWER3_PMU: u64 = 112;
pub const PFMLIB_POWER4_PMU: u64 = 113;
pub const PFMLIB_POWER5_PMU: u64 = 114;
pub const PFMLIB_POWER5p_PMU: u64 = 115;
pub const PFMLIB_POWER6_PMU: u64 = 116;
pub const PFMLIB_POWER7_PMU: u64 = 117;
pub const PFMLIB_SPARC_ULTRA12_PMU: u64 = 130;
pub const PFMLIB_SPARC_ULTRA3_PMU: u64 = 131;
pub const PFMLIB_SPARC_ULTRA3I_PMU: u64 = 132;
pub const PFMLIB_SPARC_ULTRA3PLUS_PMU: u64 = 133;
pub const PFMLIB_SPARC_ULTRA4PLUS_PMU: u64 = 134;
pub const PFMLIB_SPARC_NIAGARA1_PMU: u64 = 135;
pub const PFMLIB_SPARC_NIAGARA2_PMU: u64 = 136;
pub const PFMLIB_ALPHA_EV4_PMU: u64 = 150;
pub const PFMLIB_ALPHA_EV5_PMU: u64 = 151;
pub const PFMLIB_ALPHA_PCA56_PMU: u64 = 152;
pub const PFMLIB_ALPHA_EV6_PMU: u64 = 153;
pub const PFMLIB_ALPHA_EV67_PMU: u64 = 154;
/// number of registers in a mask
pub const PFMLIB_REG_MAX: u64 = 512;
/// number of words in a mask
pub const PFMLIB_REG_BV: u64 = 8;
pub const PFM_VERSION_MAJOR: u64 = 1;
pub const PFM_VERSION_MINOR: u64 = 0;
pub const PFM_VERSION_PATCH: u64 = 0;
pub const PFM_MAX_CLASH: u64 = 64;
pub const PFM_MAX_REGS: u64 = 8;
pub const PFM_MAX_ALTERNATIVES: u64 = 4;
/// the processor that the caller is bound to
pub const PCNTOPENONE: u64 = 32768;
/// all processors, with separate results
pub const PCNTOPENEACH: u64 = 65536;
/// all processors, with one sum
pub const PCNTOPENALL: u64 = 98304;
pub const PCNTOPENMASK: u64 = 98304;
pub const PFCNTR_VOID: u64 = 536870912;
/// written by the device
pub const PFCNTR_OUT: u64 = 1073741824;
/// read by the device
pub const PFCNTR_IN: u64 = 2147483648;
pub const PFCNTR_TYPE: u64 = 80;
/// disable counter interrupts
pub const PCNTRDISABLE: u64 = 536891392;
/// enable counter interrupts
pub const PCNTRENABLE: u64 = 536891393;
/// count every process
pub const PCNTLOGALL: u64 = 536891395;
pub const PCNTLOGSELECT: u64 = 536891396;
/// clear the driver's counts
pub const PCNTCLEARCNT: u64 = 536891397;
pub const PCNTCLEARPCBPME: u64 = 536891399;
pub const PCNTCALLER: u64 = 536891400;
pub const PCNTGETRSIZE: u64 = 1074286602;
/// array of struct pfipls
pub const PCNTGETIPLHIS: u64 = 2148028427;
/// a word of PFM_* items
pub const PCNTSETITEMS: u64 = 2148028447;
/// struct addr_range, user addresses
pub const PCNTSETUADDR: u64 = 2148552736;
pub const PCNTSETKADDR: u64 = 2148552737;
/// addr_range_t, user addresses
pub const PCNTSETURANGE: u64 = 2149601314;
/// addr_range_t, kernel addresses
pub const PCNTSETKRANGE: u64 = 2149601315;
pub const PCNTSETMUX: u64 = 2148028418;
/// array of struct pfcntrs
pub const PCNTGETCNT: u64 = 2148028422;
/// PCNTGETCNT of systems of 1997
pub const PCNTGETCNT_OLD: u64 = 1074286598;
/// a word of PF5_CTXT_*
pub const PCNT5CTXTS: u64 = 2148028456;
/// a word of PF5_MUX*
pub const PCNT5MUX: u64 = 2148028457;
/// a word of PF5_C*_INT_EVERY_*
pub const PCNT5FREQ: u64 = 2148028458;
/// counter word: stop
pub const PCNT5DISABLE: u64 = 2148028459;
/// counter word: start
pub const PCNT5ENABLE: u64 = 2148028460;
/// counter word: zero
pub const PCNT5CLEAR: u64 = 2148028461;
/// counter word: zero and start
pub const PCNT5RESTART: u64 = 2148028462;
/// counter word: load its values
pub const PCNT5SETCNTRS: u64 = 2148028463;
pub const PCNT5GETCNTRS: u64 = 3221770288;
pub const PCNT5GETCNT: u64 = 2148028465;
pub const PCNT5READCNTRS: u64 = 2148028466;
/// a word of PF6_MUX* or PF67_*
pub const PCNT6MUX: u64 = 2148028467;
pub const PCNT6ENABWRITE: u64 = 2148028468;
/// counter word: stop
pub const PCNT6DISABLE: u64 = 2148028469;
/// counter word: start
pub const PCNT6ENABLE: u64 = 2148028470;
/// counter word: zero
pub const PCNT6CLEAR: u64 = 2148028471;
/// counter word: zero and start
pub const PCNT6RESTART: u64 = 2148028472;
/// counter word: load its values
pub const PCNT6SETCNTRS: u64 = 2148028473;
pub const PCNT6GETCNTRS: u64 = 3221770298;
pub const PCNT6GETCNT: u64 = 2148028475;
pub const PCNT6READCNTRS: u64 = 2148028476;
/// interrupts of each counter
pub const PFM_COUNTERS: u64 = 1;
/// another spelling
pub const PFM_COUNTER: u64 = 1;
/// interrupt levels
pub const PFM_IPL: u64 = 2;
/// program counter; select it before a range request
pub const PFM_PROFILING: u64 = 4;
pub const PFM_PM_STAT_SHIFT: u64 = 8;
pub const PFM_PM_STAT_MASK: u64 = 65280;
pub const PFM_IPL_LEVELS: u64 = 9;
pub const PFM_IPL_IDLE: u64 = 7;
pub const PFM_IPL_USER: u64 = 8;
/// counter 1: every 256 events, else every 4096
pub const ICCSR_PC1: u64 = 1;
/// counter 0: every 4096 events, else every 65536
pub const ICCSR_PC0: u64 = 8;
/// PF_ISSUES ...
pub const ICCSR_MUX0_SHIFT: u64 = 8;
pub const ICCSR_MUX0_MASK: u64 = 3840;
/// PF_DCACHE ...
pub const ICCSR_MUX1_SHIFT: u64 = 32;
pub const ICCSR_MUX1_MASK: u64 = 30064771072;
/// bit n: the driver ignores counter n; not both
pub const ICCSR_DISABLE_SHIFT: u64 = 35;
pub const ICCSR_DISABLE_MASK: u64 = 103079215104;
pub const PMCTRS_ALL_CPUS: u64 = 255;
pub const PF5_SEL_COUNTER_0: u64 = 1;
pub const PF5_SEL_COUNTER_1: u64 = 2;
pub const PF5_SEL_COUNTER_2: u64 = 4;
pub const PF5_SEL_KMASK: u64 = 7;
pub const PF5_CPU_SHIFT: u64 = 8;
pub const PF5_CPU_KMASK: u64 = 65280;
pub const PF5_CTR2_SHIFT: u64 = 16;
pub const PF5_CTR2_KMASK: u64 = 1073676288;
pub const PF5_CTR1_SHIFT: u64 = 32;
pub const PF5_CTR1_KMASK: u64 = 281470681743360;
pub const PF5_CTR0_SHIFT: u64 = 48;
pub const PF5_CTR0_KMASK: i64 = -281474976710656;
pub const PF5_WRITE_KMASK: i64 = -3221291008;
pub const PF6_SEL_COUNTER_0: u64 = 1;
pub const PF6_SEL_COUNTER_1: u64 = 2;
pub const PF6_SEL_KMASK: u64 = 3;
pub const PF6_CTR1_SHIFT: u64 = 6;
pub const PF6_CTR1_KMASK: u64 = 67108800;
pub const PF6_CTR0_SHIFT: u64 = 28;
pub const PF6_CTR0_KMASK: u64 = 281474708275200;
pub const PF6_CPU_SHIFT: u64 = 56;
pub const PF6_CPU_KMASK: i64 = -72057594037927936;
pub const PF6_WRITE_KMASK: i64 = -71776119262543933;
pub const PF5_C0_INT_EVERY_65536: u64 = 512;
pub const PF5_C0_INT_EVERY_256: u64 = 768;
pub const PF5_C1_INT_EVERY_65536: u64 = 128;
pub const PF5_C1_INT_EVERY_256: u64 = 192;
pub const PF5_C2_INT_EVERY_16384: u64 = 32;
pub const PF5_C2_INT_EVERY_256: u64 = 48;
/// bits that the driver uses
pub const PF5_FREQ_KMASK: u64 = 1008;
/// bits that the driver always sets
pub const PF5_FREQ_SLOW: u64 = 672;
/// bits that require privilege
pub const PF5_FREQ_PRIVILEGED: u64 = 336;
pub const PF5_CTXT_ALL_MODES: u64 = 0;
pub const PF5_CTXT_NO_KERNEL: u64 = 256;
pub const PF5_CTXT_NO_PAL: u64 = 512;
pub const PF5_CTXT_NO_USER: u64 = 1073741824;
pub const PF5_CTXT_USER_AND_KERNEL: u64 = 512;
pub const PF5_CTXT_PAL_AND_KERNEL: u64 = 1073741824;
pub const PF5_CTXT_KERNEL: u64 = 1073742336;
pub const PF5_CTXT_USER_AND_PAL: u64 = 256;
pub const PF5_CTXT_USER: u64 = 768;
pub const PF5_CTXT_PAL: u64 = 1073742080;
pub const PF5_CTXT_EXEC_AND_SUPER: u64 = 1073742592;
pub const PF5_CTXT_ALL_PROC: u64 = 0;
/// marked processes only
pub const PF5_CTXT_SEL_PROC: u64 = 1;
/// mark this process; the chip does not get this bit
pub const PF5_CTXT_PME_THIS: u64 = 2;
pub const PF5_CTXT_THIS_PROC: u64 = 3;
/// bits that reach the chip
pub const PF5_CTXT_KMASK: u64 = 1073742593;
pub const PF5_MUX_KMASK: u64 = 141863388262170879;
/// bits that the driver also passes on
pub const PF5_MUX0_KMASK: u64 = 2147483648;
pub const PF5_MUX_CBOX_KMASK: u64 = 141863388262170624;
/// right shift for wrperfmon on EV5 and EV56
pub const PF5_MUX_CBOX_KSHIFT: u64 = 32;
/// right shift for wrperfmon on PCA56
pub const PFPCA56_MUX_CBOX_KSHIFT: u64 = 43;
pub const PF6_MUX_KMASK: u64 = 31;
pub const PF_ISSUES: u64 = 0;
pub const PF_PIPEDRY: u64 = 2;
pub const PF_LOADI: u64 = 4;
pub const PF_PIPEFROZEN: u64 = 6;
pub const PF_BRANCHI: u64 = 8;
pub const PF_CYCLES: u64 = 10;
pub const PF_PALMODE: u64 = 11;
pub const PF_NONISSUES: u64 = 12;
pub const PF_EXTPIN0: u64 = 14;
pub const PF_DCACHE: u64 = 0;
pub const PF_ICACHE: u64 = 1;
pub const PF_DUAL: u64 = 2;
pub const PF_BRANCHMISS: u64 = 3;
pub const PF_FPINST: u64 = 4;
pub const PF_INTOPS: u64 = 5;
pub const PF_STOREI: u64 = 6;
pub const PF_EXTPIN1: u64 = 7;
pub const PF5_MUX0_CYCLES: u64 = 0;
pub const PF5_MUX0_ISSUES: u64 = 2147483648;
pub const PF5_MUX1_NON_ISSUE_CYCLES: u64 = 0;
pub const PF5_MUX1_SPLIT_ISSUE_CYCLES: u64 = 16;
pub const PF5_MUX1_PIPELINE_DRY: u64 = 32;
pub const PF5_MUX1_REPLAY_TRAP: u64 = 48;
pub const PF5_MUX1_SINGLE_ISSUE_CYCLES: u64 = 64;
pub const PF5_MUX1_DUAL_ISSUE_CYCLES: u64 = 80;
pub const PF5_MUX1_TRIPLE_ISSUE_CYCLES: u64 = 96;
pub const PF5_MUX1_QUAD_ISSUE_CYCLES: u64 = 112;
pub const PF5_MUX1_FLOW_CHANGE: u64 = 128;
pub const PF5_MUX1_INTEGER_OPERATE: u64 = 144;
pub const PF5_MUX1_C_FP_INSTRUCTIONS: u64 = 160;
pub const PF5_MUX1_C_LOAD_INSTRUCTIONS: u64 = 176;
pub const PF5_MUX1_C_STORE_INSTRUCTIONS: u64 = 192;
pub const PF5_MUX1_C_ICACHE_ACCESS: u64 = 208;
pub const PF5_MUX1_C_DCACHE_ACCESS: u64 = 224;
pub const PF5_MUX2_C_LONG_STALLS: u64 = 0;
pub const PF5_MUX2_C_PC_MISPR: u64 = 2;
pub const PF5_MUX2_C_BRANCH_MISPREDICTS: u64 = 3;
pub const PF5_MUX2_C_ICACHE_MISSES: u64 = 4;
pub const PF5_MUX2_C_ITB_MISS: u64 = 5;
pub const PF5_MUX2_C_DCACHE_MISSES: u64 = 6;
pub const PF5_MUX2_C_DTB_MISS: u64 = 7;
pub const PF5_MUX2_C_LOADS_MERGED: u64 = 8;
pub const PF5_MUX2_C_LDU_REPLAYS: u64 = 9;
pub const PF5_MUX2_C_WB_MAF_FULL_REPLAYS: u64 = 10;
pub const PF5_MUX2_C_EXTERNAL: u64 = 11;
pub const PF5_MUX2_C_CYCLES: u64 = 12;
pub const PF5_MUX2_C_MEM_BARRIER: u64 = 13;
pub const PF5_MUX2_C_LOAD_LOCKED: u64 = 14;
pub const PF5_MUX1_C_SCACHE_ACCESS: u64 = 240;
pub const PF5_MUX1_C_SCACHE_READ: u64 = 2251799813685488;
pub const PF5_MUX1_C_SCACHE_WRITE: u64 = 4503599627370736;
pub const PF5_MUX1_C_SCACHE_VICTIM: u64 = 6755399441055984;
pub const PF5_MUX1_C_BCACHE_REF: u64 = 11258999068426480;
pub const PF5_MUX1_C_BCACHE_VICTIM: u64 = 13510798882111728;
pub const PF5_MUX1_C_SYS_REQ: u64 = 15762598695796976;
pub const PF5_MUX2_C_SCACHE_MISS: u64 = 15;
pub const PF5_MUX2_C_SCACHE_READ_MISS: u64 = 18014398509481999;
pub const PF5_MUX2_C_SCACHE_WRITE_MISS: u64 = 36028797018963983;
pub const PF5_MUX2_C_SCACHE_SH_WRITE: u64 = 54043195528445967;
pub const PF5_MUX2_C_SCACHE_WRITE: u64 = 72057594037927951;
pub const PF5_MUX2_C_BCACHE_MISS: u64 = 90071992547409935;
pub const PF5_MUX2_C_SYS_INV: u64 = 108086391056891919;
pub const PF5_MUX2_C_SYS_READ_REQ: u64 = 126100789566373903;
pub const PF5_MUX1_C_BCACHE_READ: u64 = 240;
pub const PF5_MUX1_C_BCACHE_DREAD_HIT: u64 = 2251799813685488;
pub const PF5_MUX1_C_BCACHE_DREAD_FILL: u64 = 4503599627370736;
pub const PF5_MUX1_C_BCACHE_WRITE: u64 = 6755399441055984;
pub const PF5_MUX1_C_BCACHE_CLN_WRT_HIT: u64 = 11258999068426480;
pub const PF5_MUX1_C_READ_MISS_2: u64 = 15762598695796976;
pub const PF5_MUX2_C_BCACHE_DREAD: u64 = 15;
pub const PF5_MUX2_C_BCACHE_READ_HIT: u64 = 18014398509481999;
pub const PF5_MUX2_C_BCACHE_READ_FILL: u64 = 36028797018963983;
pub const PF5_MUX2_C_BCACHE_WRITE_HIT: u64 = 54043195528445967;
pub const PF5_MUX2_C_BCACHE_WRITE_FILL: u64 = 72057594037927951;
pub const PF5_MUX2_C_SYS_READ_FLUSH_HIT: u64 = 90071992547409935;
pub const PF5_MUX2_C_SYS_READ_FLUSH_MISS: u64 = 108086391056891919;
pub const PF5_MUX2_C_READ_MISS_3: u64 = 126100789566373903;
pub const PF6_MUX0_CYCLES: u64 = 0;
pub const PF6_MUX0_RET_INSTRUCTIONS: u64 = 16;
pub const PF6_MUX1_CYCLES: u64 = 0;
pub const PF6_MUX1_RET_COND_BRANCHES: u64 = 1;
pub const PF6_MUX1_RET_BRANCH_MISPREDICTS: u64 = 2;
pub const PF6_MUX1_RET_DTB_SINGLE_MISSES: u64 = 3;
pub const PF6_MUX1_RET_DTB_DOUBLE_MISSES: u64 = 4;
pub const PF6_MUX1_RET_ITB_MISSES: u64 = 5;
pub const PF6_MUX1_RET_UNALIGNED_TRAPS: u64 = 6;
pub const PF6_MUX1_REPLAY_TRAP: u64 = 7;
pub const PF67_RET_INST_AND_CYCLES: u64 = 0;
pub const PF67_CYCLES_AND_UNDEFINED: u64 = 4;
pub const PF67_RET_INST_AND_BCACHE_MISS: u64 = 8;
pub const PF67_CYCLES_AND_REPLAY_TRAPS: u64 = 12;
pub const PF67_PROFILE_ME_MODE: u64 = 16;
pub const PF67_CYCLES_AND_RET_DELAY: u64 = 4;
pub const PFM_ALPHA_MAX_COUNTERS: u64 = 3;
/// one, and four more with PFM_ALPHA_FL_CALLER
pub const PFM_ALPHA_MAX_RANGES: u64 = 5;
pub const PFM_ALPHA_MAX_IOCTLS: u64 = 24;
pub const PFM_ALPHA_MAX_CALLS: u64 = 8;
pub const PMU_COREDUO_NUM_COUNTERS: u64 = 2;
pub const PFM_COREDUO_SEL_INV: u64 = 1;
/// count how often the condition becomes true
pub const PFM_COREDUO_SEL_EDGE: u64 = 2;
/// counters are PMC/PMD 4 to 15
pub const PMU_MONT_FIRST_COUNTER: u64 = 4;
pub const PMU_MONT_NUM_COUNTERS: u64 = 12;
pub const PMU_MONT_NUM_PMCS: u64 = 27;
pub const PMU_MONT_NUM_PMDS: u64 = 36;
/// trace buffer entries, PMD48 to PMD63
pub const PMU_MONT_NUM_ETB: u64 = 16;
pub const PMU_MONT_COUNTER_WIDTH: u64 = 47;
pub const PFMLIB_MONT_FL_EVT_NO_QUALCHECK: u64 = 1;
pub const PFMLIB_MONT_FL_EVT_ALL_THRD: u64 = 2;
pub const PFMLIB_MONT_FL_EVT_ACTIVE_ONLY: u64 = 4;
pub const PFMLIB_MONT_FL_EVT_ALWAYS: u64 = 8;
/// code only: count outside the ranges
pub const PFMLIB_MONT_RR_INV: u64 = 1;
pub const PFMLIB_MONT_RR_NO_FINE_MODE: u64 = 2;
pub const PFMLIB_MONT_IRR_DEMAND_FETCH: u64 = 4;
/// for these events: apply to prefetches
pub const PFMLIB_MONT_IRR_PREFETCH_MATCH: u64 = 8;
pub const PFMLIB_MONT_EVT_NO_GRP: u64 = 0;
pub const PFMLIB_MONT_EVT_L1D_CACHE_GRP: u64 = 1;
pub const PFMLIB_MONT_EVT_L2D_CACHE_GRP: u64 = 2;
pub const PFMLIB_MONT_EVT_NO_SET: i64 = -1;
/// occurs only while its thread is active
pub const PFMLIB_MONT_EVT_ACTIVE: u64 = 0;
/// can occur while its thread is inactive
pub const PFMLIB_MONT_EVT_FLOATING: u64 = 1;
/// belongs to no thread
pub const PFMLIB_MONT_EVT_CAUSAL: u64 = 2;
/// floating if measured with .me, otherwise causal
pub const PFMLIB_MONT_EVT_SELF_FLOATING: u64 = 3;
pub const PFMLIB_MONT_L3_CYCLES: u64 = 14;
pub const PFM_MONT_LAYOUTS: u64 = 1;
/// Receives a message of the library.
/// @data     pfm_ctx_options_t.log_data
/// @topic    "image", "machine", "lookup" or "session"; later versions may add topics
/// @message  one line without a newline, cut at 1,000 bytes; valid during the call
/// Threads that use the context call it at the same time, and some calls hold a lock of the library: it must not call a function of this library.
pub type pfm_log_fn_t = Option<unsafe extern "C" fn(*mut c_void, pfm_log_level_t, *const c_char, *const c_char)>;
/// A set of registers. Register n is bit n % 64 of word n / 64.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_regmask_t {
    pub bits: [u64; 8],
}
/// A register and its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_reg_t {
    pub reg_value: c_ulonglong,
    pub reg_addr: c_ulonglong,
    pub reg_num: c_uint,
    pub reg_reserved1: c_uint,
    pub reg_alt_addr: u64,
}
/// A context: which PMUs exist. Opaque.
#[repr(C)]
pub struct pfm_ctx_t {
    _private: [u8; 0],
}
/// Where and why a call failed. pfm_explain_error() turns it into a sentence.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_error_t {
    pub size: usize,
    /// PFMLIB_ERR_*, 0 for no error
    pub code: c_int,
    /// PFM_KIND_NONE where the code says everything
    pub kind: pfm_error_kind_t,
    /// bytes of the text with the error; start == end: a position
    pub start: u32,
    /// bytes of the text with the error; start == end: a position
    pub end: u32,
    /// index of the event of a set, or -1
    pub event: c_int,
    /// errno of the failed system call, 0 for none
    pub sys_errno: c_int,
    /// all counters that the events of clash can use
    pub clash_counters: u64,
    /// a phrase, or NULL; lives as long as the context
    pub detail: *const c_char,
    /// the limit or value that detail mentions
    pub number: u64,
    /// number of events in clash; 0 for other errors
    pub n_clash: u32,
    /// Indices, ascending, of a smallest set of events that do not fit together.
    pub clash: [u16; 64],
}
/// How to open a context. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_ctx_options_t {
    pub size: usize,
    /// PFM_CTX_*
    pub flags: c_uint,
    /// PMU of names without a prefix; NULL: $PERFMON_PMU, else this machine's.
    pub pmu: *const c_char,
    /// Folder that holds sys/ and proc/; NULL: $PERFMON_SYSFS, else "/".
    pub sysfs_root: *const c_char,
    /// Colon-separated folders and .pmdb files; NULL: $PERFMON_EVENTS, then the user's and the installed data folder.
    pub images: *const c_char,
    /// Identify the processor by this string, as in mapfile.csv; NULL: $PERFMON_CPUID, else the processor's own.
    pub cpuid: *const c_char,
    /// Receives messages; NULL: the topics of $PERFMON_DEBUG go to standard error, other messages nowhere.
    pub log: pfm_log_fn_t,
    /// first argument of log
    pub log_data: *mut c_void,
    /// Messages up to this level go to log; 0 means PFM_LOG_WARNING. Topics of $PERFMON_DEBUG go there at any level.
    pub log_level: pfm_log_level_t,
}
/// Description of a PMU.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct perfmon_pmu_info_t {
    pub size: usize,
    pub name: *const c_char,
    pub desc: *const c_char,
    /// other names, separated by blanks; "" for none
    pub aliases: *const c_char,
    /// "built in", "kernel", or the path of the image
    pub origin: *const c_char,
    /// the document its table comes from, "" if not stated
    pub source: *const c_char,
    /// name of the kernel's PMU, "" if unknown
    pub device: *const c_char,
    /// PFM_PMU_*
    pub flags: c_uint,
    /// perf_event_attr.type on this machine, -1 if not exported
    pub r#type: c_int,
    /// PFMLIB_*_PMU, or -1
    pub libpfm_type: c_int,
    /// events are numbered 0 .. n_events - 1
    pub n_events: c_uint,
    /// general counters
    pub n_counters: c_uint,
    /// fixed counters
    pub n_fixed: c_uint,
    /// bits of general counter 0
    pub width: c_uint,
    /// boxes of an uncore PMU on this machine, else 1 or 0
    pub n_instances: c_uint,
    /// CPU list it serves on this machine, "" for all or unknown
    pub cpus: *const c_char,
}
/// Description of an event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct perfmon_event_info_t {
    pub size: usize,
    pub pmu: c_int,
    pub event: c_uint,
    pub name: *const c_char,
    pub desc: *const c_char,
    /// longer description, "" for none
    pub detail: *const c_char,
    /// "" for none
    pub errata: *const c_char,
    /// "" for none
    pub note: *const c_char,
    /// event to use instead, "" for none
    pub replaced: *const c_char,
    /// unit of the scaled count, "" for none
    pub unit: *const c_char,
    /// count times scale is in unit; 1 for most events
    pub scale: f64,
    /// event select
    pub code: u64,
    /// counter mask; fixed counter n is bit 32 + n
    pub counters: u64,
    /// counter mask without hyper-threading; 0: the same
    pub counters_htoff: u64,
    /// PFM_EVENT_*
    pub flags: c_uint,
    /// number of unit masks
    pub n_umasks: c_uint,
    /// number of field values that its row sets
    pub n_fields: c_uint,
    /// 0: cannot be sampled precisely, 1: can, 2: must
    pub precise: c_int,
    /// suggested sampling period, 0 for none
    pub period: u64,
    /// topic in the vendor's list, "" for none
    pub topic: *const c_char,
}
/// Description of a unit mask.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_umask_info_t {
    pub size: usize,
    /// its qualifier: "core", "cachestate" ...
    pub group: *const c_char,
    pub name: *const c_char,
    pub desc: *const c_char,
    /// first other name, "" for none
    pub alias: *const c_char,
    /// bits it sets in its field
    pub value: u64,
    /// 1: set when the text names no unit mask of the group
    pub is_default: c_int,
    /// 1: can be combined with others of its group
    pub is_combinable: c_int,
}
/// A modifier: a number that the events of a PMU take (cmask, edge ...).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_modifier_info_t {
    pub size: usize,
    pub name: *const c_char,
    /// accepted values; max 1: the name alone means 1
    pub min: u64,
    /// accepted values; max 1: the name alone means 1
    pub max: u64,
    /// value when the text does not set it
    pub preset: u64,
}
/// A rule of a PMU: a limit of its events or of sets of them, or a remark for users.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_rule_info_t {
    pub size: usize,
    /// unique in the PMU
    pub name: *const c_char,
    /// "on": other counters than those in counters cannot count the event; "place": the event takes one of counters; "refuse": no counter can; "pair": it takes an even counter and the next one; "follow": it takes the counter after that of the event before it; "share": events of a set have equal values of some fields; "move": an event with other values becomes another one; "limit": a set has a limited number of such events; "needs": a set must hold another event; "note": a remark
    pub effect: *const c_char,
    /// what the rule says
    pub text: *const c_char,
    /// the manual or driver that it is from
    pub source: *const c_char,
    /// of effects "on" and "place"; fixed counter n is bit 32 + n
    pub counters: u64,
    /// 1: on facts of the machine, such as whether SMT is on
    pub depends: c_int,
    /// 1: for the event as it is; for a PMU: on this machine. What is true of other machines is unknown, and taken to be true
    pub holds: c_int,
    /// the file that shows the fact; "" if the rule does not hold here
    pub evidence: [c_char; 96],
}
/// An erratum of a processor. Its strings are never NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_erratum_t {
    pub size: usize,
    /// its names in the vendor's documents: "BDD053 BDM055"
    pub ids: *const c_char,
    /// what is wrong
    pub effect: *const c_char,
    /// what helps, "" for nothing
    pub workaround: *const c_char,
    /// what Linux does about it, "" for nothing
    pub kernel: *const c_char,
    /// steppings or firmware that have it, "" for all
    pub machines: *const c_char,
    /// event that counts the same and is right, "" for none
    pub instead: *const c_char,
    /// where it is described
    pub source: *const c_char,
    /// what becomes of the count
    pub count: pfm_erratum_count_t,
    /// PFM_ERRATUM_*
    pub flags: c_uint,
    /// events that it names
    pub n_events: c_uint,
}
/// A register and its value. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_reg_t {
    /// number; for PFM_REG_FIXED_CTRL that of the event's counter
    pub num: u32,
    /// the other members depend on it
    pub kind: pfm_reg_kind_t,
    /// address (on x86 the MSR), or the number again
    pub addr: u64,
    /// another address (on x86 the RDPMC index), or addr again
    pub alt_addr: u64,
    pub value: u64,
    /// as pfm_decode_field() takes it: "PERFEVTSEL0" ...; never released
    pub name: *const c_char,
    /// index of the first event of its set that needs it; -1: of no event
    pub event: i32,
    pub reserved: u32,
    pub reserved1: u64,
    pub reserved2: u64,
}
/// The members of perf_event_attr that select an event. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct perfmon_attr_t {
    /// valid if type_known
    pub r#type: u32,
    /// 0: type depends on the machine
    pub type_known: u8,
    pub exclude_user: u8,
    pub exclude_kernel: u8,
    pub exclude_hv: u8,
    /// precise_ip, 0 to 3
    pub precise: u8,
    /// 0: the kernel cannot count this event
    pub expressible: u8,
    pub pinned: u8,
    pub exclude_idle: u8,
    pub exclude_host: u8,
    pub exclude_guest: u8,
    pub reserved: [u8; 2],
    pub config: u64,
    pub config1: u64,
    pub config2: u64,
    pub config3: u64,
    pub config4: u64,
    pub reserved1: [u64; 3],
}
/// Another code and extra register that count the same event. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alternative_t {
    /// perf_event_attr.config
    pub config: u64,
    /// value of the counter's control register
    pub control: u64,
    /// address of the extra register
    pub msr: u64,
    /// value of the extra register
    pub value: u64,
    pub reserved: u64,
}
/// An event as register values and as perf attribute.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_encoding_t {
    pub size: usize,
    pub pmu: c_int,
    pub event: c_uint,
    /// PFM_PLM*: levels that are counted
    pub plm: c_uint,
    /// control registers: regs\[0\] .. regs\[n_regs - 1\]
    pub n_regs: c_uint,
    /// for the lowest counter that can count the event
    pub regs: [pfm_reg_t; 8],
    /// counter mask; fixed counter n is bit 32 + n
    pub counters: u64,
    pub n_alternatives: c_uint,
    pub alternatives: [pfm_alternative_t; 4],
    pub attr: perfmon_attr_t,
}
/// How to dispatch a set. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_dispatch_options_t {
    pub size: usize,
    /// levels of events that name none; 0: default
    pub plm: c_uint,
    /// PFMLIB_PFP_*
    pub flags: c_uint,
    /// control registers not to use, or NULL
    pub unavailable: *const pfmlib_regmask_t,
    /// 1: hyper-threading is off
    pub htoff: c_int,
    /// processor-specific settings, or NULL
    pub model_in: *mut c_void,
    /// receives processor-specific results, or NULL
    pub model_out: *mut c_void,
}
/// Placement and registers of a set, in memory of the library: size is what this library fills.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_set_t {
    pub size: usize,
    pub pmu: c_int,
    pub n_events: c_uint,
    pub n_pmcs: c_uint,
    pub n_pmds: c_uint,
    /// per event; fixed counter n is 32 + n; -1: needs no counter
    pub counter: *const c_int,
    /// Control registers: one per event in the order of events, then extra registers, then GLOBAL_CTRL where the PMU has it.
    pub pmcs: *const pfm_reg_t,
    /// Data registers, to read the counts from: one per event with a counter, then PERF_METRICS (MSR 0x329), once, if events are figures in it.
    pub pmds: *const pfm_reg_t,
}
/// An event that a set of registers means.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_decoded_event_t {
    pub size: usize,
    /// index of its control register in @regs
    pub reg: c_uint,
    /// fixed counter n is 32 + n; -1: unknown
    pub counter: c_int,
    /// bit of GLOBAL_CTRL: 1 or 0; -1 if @regs lacks that register
    pub enabled: c_int,
    /// more than 1: the registers cannot tell these events apart
    pub n_candidates: c_uint,
    /// which of them this is, from 0, the most likely first
    pub candidate: c_uint,
    /// the event, as pfm_encode_event() takes it; "" if unknown
    pub text: [c_char; 256],
}
/// Description of a metric.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_info_t {
    pub size: usize,
    pub pmu: c_int,
    pub event: c_uint,
    pub name: *const c_char,
    pub desc: *const c_char,
    /// "percent", "GHz" ...; "" for none
    pub unit: *const c_char,
    /// names of its groups, separated by ';'
    pub groups: *const c_char,
    /// metric that this one is a part of, "" for none
    pub parent: *const c_char,
    /// level in that tree, from 1; 0 outside any tree
    pub level: c_uint,
    /// events and constants that the value and the threshold need
    pub n_inputs: c_uint,
    /// inputs 0 .. n_value_inputs - 1 are enough for the value
    pub n_value_inputs: c_uint,
    /// 1: the table has a threshold for it
    pub has_threshold: c_int,
}
/// Description of an input of a metric.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_input_t {
    pub size: usize,
    /// 1: a constant of the machine or run ("#smt_on"), not an event
    pub is_constant: c_int,
    /// 1: optional; its value is preset unless the caller has a better one
    pub has_preset: c_int,
    pub preset: f64,
    /// the event, as pfm_encode_event() takes it; or the constant
    pub text: [c_char; 352],
    /// the vendor's spelling, "" if it is the same
    pub alias: [c_char; 352],
}
/// The value of one input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_operand_t {
    pub value: f64,
    /// standard error, 0 if the value is exact
    pub error: f64,
    /// 0: was not counted
    pub known: c_int,
    /// 0
    pub reserved: c_int,
}
/// The measurement that a metric is computed from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_data_t {
    pub size: usize,
    pub model: pfm_error_model_t,
    /// pfm_metric_info_t.n_inputs, or n_value_inputs for the value alone
    pub n_inputs: c_uint,
    /// The n_inputs operands. Ignored for PFM_ERROR_FROM_REPETITIONS.
    pub operands: *const pfm_metric_operand_t,
    /// n_samples x n_inputs counts: those of the first repetition or interval first; NaN for a count that is missing. Ignored for PFM_ERROR_PROPAGATED.
    pub samples: *const f64,
    /// repetitions or intervals
    pub n_samples: c_uint,
    /// PFM_ERROR_FROM_INTERVALS: share of the time, 0 to 1, in which all events counted as one group. 0: not together, which gives an upper bound of the error; 1: nothing was extrapolated. Ignored for the other models.
    pub observed: f64,
}
/// The value of a metric.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_value_t {
    pub size: usize,
    /// 0 unless state is PFM_METRIC_DEFINED
    pub value: f64,
    /// standard error; negative: unknown
    pub error: f64,
    /// 95 % confidence interval
    pub low: f64,
    /// 95 % confidence interval
    pub high: f64,
    /// PFM_METRIC_DEFINED: there is a value
    pub state: pfm_metric_state_t,
    /// index of an input that was not counted, or -1
    pub missing: c_int,
    /// 1: above its threshold; 0: not; -1: no threshold
    pub over_threshold: c_int,
}
/// The result of a check of a value, or of the sum of values.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_check_t {
    pub size: usize,
    pub result: pfm_plausibility_t,
    /// limits of the value or sum; -DBL_MAX, DBL_MAX: unknown
    pub low: f64,
    /// limits of the value or sum; -DBL_MAX, DBL_MAX: unknown
    pub high: f64,
    /// the likely reason and what to do; "" if plausible
    pub reason: *const c_char,
}
/// A session. Opaque. Only one thread at a time may use it, unless a function is thread-safe.
#[repr(C)]
pub struct pfm_session_t {
    _private: [u8; 0],
}
/// How a session samples: pfm_session_options_t.sampling. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_sampling_t {
    pub size: usize,
    /// PFM_SAMPLING_*
    pub flags: u32,
    /// events per sample, unless the text sets it
    pub period: u64,
    /// or samples per second, 0 for none; not both
    pub freq: u64,
    /// PFM_SAMPLE_*; TIME, IDENTIFIER are implied; 0: IP, TID, TIME, CPU, PERIOD
    pub fields: u64,
    /// PFM_SIDEBAND_*
    pub records: u32,
    /// clock id of times; see PFM_SAMPLING_CLOCK
    pub clock: i32,
    /// pages of each buffer, a power of two, within limits; 0: 128
    pub pages: u32,
    /// bytes that wake the reader; 0: a quarter of a buffer
    pub watermark: u32,
    /// samples that wake the reader, 0: use watermark
    pub wakeup_events: u32,
    /// frames of a call chain; 0: the kernel's limit
    pub max_stack: u32,
    /// branch_sample_type; 0: all user branches
    pub branch_filter: u64,
    /// masks of registers, as in perf_event_open(2)
    pub user_regs: u64,
    /// masks of registers, as in perf_event_open(2)
    pub intr_regs: u64,
    /// bytes of stack to copy, a multiple of 8
    pub user_stack: u32,
    /// 0 to 3: precise_ip of events that do not set it
    pub precise: u32,
}
/// A count.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_count_t {
    pub size: usize,
    /// extrapolated if scaled; 0 without a value
    pub value: u64,
    /// as read from the counter
    pub raw: u64,
    /// nanoseconds enabled, summed over CPUs
    pub enabled: u64,
    /// nanoseconds on a counter, summed over CPUs
    pub running: u64,
    /// how far value can be trusted
    pub quality: pfm_quality_t,
    /// why it is not exact
    pub cause: pfm_cause_t,
    /// errno of the failed system call, 0 for none
    pub sys_errno: c_int,
    /// value times scale is in pfm_count_info_t.unit
    pub scale: f64,
}
/// Description of a count.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_count_info_t {
    pub size: usize,
    /// index of its text among those of pfm_open_session()
    pub request: c_uint,
    /// the event, as the caller wrote it
    pub name: *const c_char,
    /// PMU that counts it
    pub pmu: *const c_char,
    /// "" for plain counts
    pub unit: *const c_char,
    /// number of its scheduling group
    pub group: c_uint,
    /// number of perf events in the sum (CPUs, boxes)
    pub n_kernel_events: c_uint,
    /// sentence about the cause, "" if the count is exact
    pub why: *const c_char,
    /// what to do about it, "" if unknown
    pub remedy: *const c_char,
    /// CPUs it is counted on, "" for those where the task runs
    pub cpus: *const c_char,
    /// 1: a level (temperature, occupancy), which cannot be subtracted
    pub is_level: c_int,
    pub attr: perfmon_attr_t,
    /// facts that were read and support the cause, "" for none
    pub evidence: *const c_char,
}
/// How to open a session. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_session_options_t {
    pub size: usize,
    /// PFM_SESSION_*
    pub flags: c_uint,
    /// 0: the calling thread; \> 0: that process or thread
    pub pid: c_int,
    /// CPU list such as "0,2-3"; NULL for all
    pub cpus: *const c_char,
    /// levels of events that name none; 0: all permitted
    pub plm: c_uint,
    /// "perf_event", "pfm_device"; NULL: the machine's own
    pub backend: *const c_char,
    /// e.g. pfm_alpha_session_t for "pfm_device"
    pub backend_options: *mut c_void,
    /// how to sample; NULL: count only. Not kept
    pub sampling: *const pfm_sampling_t,
    /// with SYSTEM_WIDE: this control group only; or NULL
    pub cgroup: *const c_char,
    /// Per text a filter on the fields of its tracepoint, in the kernel's syntax, or NULL. The array itself may be NULL.
    pub filters: *const *const c_char,
}
/// The value of a metric of a session.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_session_metric_t {
    pub size: usize,
    /// with event: the metric in the session's context, for pfm_describe_metric()
    pub pmu: c_int,
    pub event: c_uint,
    /// index of the text that names the metric or its group
    pub request: c_uint,
    /// PFM_METRIC_DEFINED: there is a value
    pub state: pfm_metric_state_t,
    /// 0 unless state is PFM_METRIC_DEFINED
    pub value: f64,
    /// standard error; negative: unknown (one inexact reading)
    pub error: f64,
    /// 95 % confidence interval
    pub low: f64,
    /// 95 % confidence interval
    pub high: f64,
    /// the worst quality of the counts it needs
    pub quality: pfm_quality_t,
    /// index of a count that has no value, or -1
    pub missing: c_int,
    /// 1: its counts are from several groups, so from other times
    pub across_groups: c_int,
    /// 1: above its threshold; 0: not; -1: no threshold
    pub over_threshold: c_int,
    /// by pfm_check_metric() and pfm_check_metric_sum()
    pub plausibility: pfm_plausibility_t,
    /// why it is probably wrong, and what to do; "" if plausible
    pub reason: *const c_char,
}
/// A part of a count: that of one run, or of an interval. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_count_part_t {
    /// as read from the counter
    pub raw: f64,
    /// times of any unit; both 0: raw is the whole count
    pub enabled: f64,
    /// times of any unit; both 0: raw is the whole count
    pub running: f64,
}
/// A count of an input of a metric. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_input_count_t {
    /// number of the input, for pfm_describe_metric_input()
    pub input: c_uint,
    /// counts with the same number were taken at the same time
    pub group: c_uint,
    /// the count; of several runs their mean
    pub value: f64,
    /// its standard error, 0 if it is exact
    pub error: f64,
    /// share of the time in which it was taken, 0 to 1
    pub observed: f64,
    /// how far value can be trusted; PFM_QUALITY_NOT_COUNTED: none
    pub quality: pfm_quality_t,
    /// 0
    pub reserved: c_int,
    /// the parts of the count, for errors from repetitions and intervals; NULL: unknown
    pub parts: *const pfm_count_part_t,
    /// 0
    pub more: [u64; 2],
}
/// Counts from which a metric is computed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_counts_t {
    pub size: usize,
    /// PFM_ERROR_PROPAGATED: the error follows from those of the counts; the others need parts.
    pub model: pfm_error_model_t,
    pub n_counts: c_uint,
    /// in any order; those of one input are added
    pub counts: *const pfm_input_count_t,
    /// parts of each count
    pub n_parts: c_uint,
    /// runs that a part is the sum of; 0: one
    pub runs_per_part: c_uint,
    /// duration, for metrics that are rates; 0: unknown
    pub seconds: f64,
}
/// The sum of counts of one event, over CPUs, tasks or kinds of cores. Initialise it with PFM_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_count_sum_t {
    pub size: usize,
    /// number of added counts
    pub n: c_uint,
    /// index, from 0, of the count that determines the quality
    pub worst: c_uint,
    pub reserved: [u64; 4],
    /// the sum; its quality and cause are those of the worst count
    pub count: pfm_count_t,
}
/// Counts of one event in repeated runs. Initialise it with PFM_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_tally_t {
    pub size: usize,
    /// number of added runs
    pub runs: c_uint,
    /// number of runs with a value
    pub counted: c_uint,
    /// of the values
    pub mean: f64,
    /// sum of squared differences from the mean; the standard error of the mean is sqrt(squares / (counted - 1) / counted)
    pub squares: f64,
    /// mean nanoseconds enabled, of the runs with a value
    pub enabled: f64,
    /// mean nanoseconds on a counter, of the runs with a value
    pub running: f64,
    pub reserved: [u64; 4],
    /// The count with the worst quality; partial if it has no value and other runs have one.
    pub count: pfm_count_t,
}
/// Location of a CPU. A number is -1 if the kernel does not export it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_cpu_info_t {
    pub size: usize,
    /// within its die
    pub core: c_int,
    /// within its socket
    pub die: c_int,
    pub socket: c_int,
    /// NUMA node
    pub node: c_int,
}
/// A metric, as pfm_describe_metric() takes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_metric_ref_t {
    pub pmu: c_int,
    pub event: c_uint,
}
/// A plan. Opaque.
#[repr(C)]
pub struct pfm_plan_t {
    _private: [u8; 0],
}
/// How to plan. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_plan_options_t {
    pub size: usize,
    /// PFM_PLAN_*
    pub flags: c_uint,
    /// levels of events that name none, 0 for the PMU's defaults
    pub plm: c_uint,
    /// counters not to use; fixed counter n is bit 32 + n
    pub taken: u64,
    /// 1: hyper-threading is off, so events can use more counters
    pub htoff: c_int,
    /// steps of the search for fewer groups, 0 for the default
    pub effort: c_ulong,
}
/// Description of a plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_plan_info_t {
    pub size: usize,
    /// planned events, including those of metrics and added ones
    pub n_events: c_uint,
    /// groups of all PMUs, which count side by side
    pub n_groups: c_uint,
    /// times the counters are reloaded: the most groups of one PMU
    pub n_rounds: c_uint,
    /// lower bound of n_groups: no plan has fewer
    pub bound: c_uint,
    /// 1: n_groups equals the bound
    pub optimal: c_int,
    /// the proof of the bound: one sentence per PMU
    pub certificate: *const c_char,
}
/// One event of a plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_planned_event_t {
    pub size: usize,
    /// index of the first text that asked for it
    pub request: c_uint,
    /// PMU that counts it
    pub pmu: c_int,
    /// the event, as pfm_encode_event() takes it
    pub text: *const c_char,
    /// its group, from 0
    pub group: c_uint,
    /// fixed counter n is 32 + n; -1: needs no counter
    pub counter: c_int,
    /// 1: needed by its group only (slots before top-down events)
    pub added: c_int,
    /// 1: the certificate refers to it
    pub in_proof: c_int,
    /// event that was asked for and counts wrong here; "" for none
    pub replaced: *const c_char,
    /// the errata of that event, "" for none
    pub errata: *const c_char,
}
/// The groups of a plan laid over slots of time. Opaque.
#[repr(C)]
pub struct pfm_schedule_t {
    _private: [u8; 0],
}
/// The needs of a text of the plan. 0 in a member sets no limit.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_wish_t {
    /// slots a minute in which it is counted, at least
    pub readings_per_minute: f64,
    /// seconds in which it is not counted, at most
    pub longest_gap: f64,
}
/// How to lay out slots. 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_schedule_options_t {
    pub size: usize,
    /// length of a slot, 0 for 1 second
    pub slot_seconds: f64,
    /// slots of a cycle; 0: one minute of them if there are wishes, else the rounds of the plan
    pub n_slots: c_uint,
    /// name of the machine: its hash shifts the cycle, so that a fleet counts everything at any time. NULL: all machines are in step.
    pub host: *const c_char,
    /// steps of the search for an arrangement, 0 for the default
    pub effort: c_ulong,
}
/// Description of a schedule.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_schedule_info_t {
    pub size: usize,
    /// slots of a cycle
    pub n_slots: c_uint,
    /// length of a slot
    pub slot_seconds: f64,
    /// texts of the plan
    pub n_requests: c_uint,
    /// groups of the plan
    pub n_groups: c_uint,
    /// slots that the host's name shifts the cycle
    pub shift: c_uint,
}
/// The share of a text of the plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_scheduled_request_t {
    pub size: usize,
    /// slots of a cycle in which its rarest group is counted
    pub n_readings: c_uint,
    /// seconds in which one of its groups is not counted, at most
    pub longest_gap: f64,
    /// Expected standard error of the mean of a cycle, as a share of the standard deviation between slots; 0 if it is counted all the time.
    pub standard_error: f64,
}
/// A branch: flags as in struct perf_branch_entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_branch_t {
    pub from: u64,
    pub to: u64,
    pub flags: u64,
}
/// Registers, in the order of the bits of the requested mask. Frozen: its size never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_regs_t {
    /// 0: none, 1: 32-bit, 2: 64-bit
    pub abi: u64,
    pub values: *const u64,
    pub n: u32,
}
/// A sample.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_sample_t {
    pub ip: u64,
    pub addr: u64,
    pub period: u64,
    /// innermost frame first, with PFM_CHAIN_* markers
    pub chain: *const u64,
    /// words in the format read_format of perf_event_open(2)
    pub read: *const u64,
    pub raw: *const c_void,
    /// newest first
    pub branches: *const pfm_branch_t,
    pub n_chain: u32,
    pub n_read: u32,
    pub raw_size: u32,
    pub n_branches: u32,
    pub read_format: u64,
    /// the processor's index of the newest branch, or all ones
    pub branch_index: u64,
    pub regs: pfm_regs_t,
    pub intr_regs: pfm_regs_t,
    /// stack_size bytes, of which stack_used are valid
    pub stack: *const c_void,
    pub stack_size: u64,
    pub stack_used: u64,
    /// with PFM_SAMPLE_WEIGHTS the first 32 bits only
    pub weight: u64,
    pub weight2: u16,
    pub weight3: u16,
    pub source: u64,
    pub transaction: u64,
    pub phys_addr: u64,
    pub cgroup: u64,
    pub data_page: u64,
    pub code_page: u64,
    pub aux: *const c_void,
    pub aux_size: u64,
    /// masks of the registers in regs, intr_regs
    pub regs_mask: u64,
    /// masks of the registers in regs, intr_regs
    pub intr_regs_mask: u64,
    /// branch_sample_type of branches
    pub branch_type: u64,
}
/// A mapping (PFM_RECORD_MAP, PFM_RECORD_MAP2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_map_t {
    pub start: u64,
    pub length: u64,
    pub offset: u64,
    pub name: *const c_char,
    pub major: u32,
    pub minor: u32,
    pub inode: u64,
    pub generation: u64,
    pub prot: u32,
    pub flags: u32,
    pub build_id: *const u8,
    pub build_id_size: u32,
}
/// The name of a task (PFM_RECORD_COMM).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_comm_t {
    pub name: *const c_char,
}
/// The parent of a task (PFM_RECORD_FORK, PFM_RECORD_EXIT).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_parent_t {
    pub ppid: u32,
    pub ptid: u32,
}
/// Lost records (PFM_RECORD_LOST) or samples (PFM_RECORD_LOST_SAMPLES).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_lost_t {
    pub lost: u64,
}
/// Counts of a task that ended (PFM_RECORD_READ).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_read_values_t {
    /// as format, a read_format of the kernel, describes them
    pub words: *const u64,
    pub format: u64,
    pub n: u32,
}
/// Data in the AUX area (PFM_RECORD_AUX).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_aux_t {
    pub offset: u64,
    pub size: u64,
    pub flags: u64,
}
/// The other task of a context switch (PFM_RECORD_SWITCH_CPU): the next or the previous one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_switch_t {
    pub other_pid: u32,
    pub other_tid: u32,
}
/// Namespaces of a task (PFM_RECORD_NAMESPACES).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_namespaces_t {
    pub n: u64,
    /// n pairs of device and inode
    pub links: *const u64,
}
/// A kernel symbol that was added or removed (PFM_RECORD_KSYMBOL).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_ksymbol_t {
    pub addr: u64,
    pub length: u32,
    pub r#type: u16,
    pub flags: u16,
    pub name: *const c_char,
}
/// A BPF program that was loaded or unloaded (PFM_RECORD_BPF).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_bpf_t {
    pub r#type: u16,
    pub flags: u16,
    pub id: u32,
    /// 8 bytes
    pub tag: *const u8,
}
/// A control group (PFM_RECORD_CGROUP).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_cgroup_t {
    pub id: u64,
    pub path: *const c_char,
}
/// A change of the kernel's code (PFM_RECORD_TEXT_POKE).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_text_poke_t {
    pub addr: u64,
    pub old_length: u16,
    pub new_length: u16,
    /// the old bytes, then the new ones
    pub bytes: *const u8,
}
/// The hardware's id of an AUX event (PFM_RECORD_AUX_ID).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_aux_id_t {
    pub id: u64,
}
/// User frames of earlier samples of the thread (PFM_RECORD_DEFERRED_CHAIN).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_deferred_chain_t {
    /// the word after PFM_CHAIN_DEFERRED in the chains of the samples
    pub cookie: u64,
    pub n: u64,
    /// innermost frame first, with PFM_CHAIN_* markers
    pub chain: *const u64,
}
/// The part of a record that depends on its type.
#[repr(C)]
#[derive(Clone, Copy)]
pub union pfm_record_body_t {
    pub sample: pfm_sample_t,
    pub map: pfm_map_t,
    pub comm: pfm_comm_t,
    pub task: pfm_parent_t,
    pub lost: pfm_lost_t,
    pub read: pfm_read_values_t,
    pub aux: pfm_aux_t,
    pub change: pfm_switch_t,
    pub namespaces: pfm_namespaces_t,
    pub ksymbol: pfm_ksymbol_t,
    pub bpf: pfm_bpf_t,
    pub cgroup: pfm_cgroup_t,
    pub poke: pfm_text_poke_t,
    pub aux_id: pfm_aux_id_t,
    pub deferred: pfm_deferred_chain_t,
}
/// A record. Its pointers point into the session's buffer and are valid until the next call that takes records. Fields that @has does not contain, and members of other types of records, are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_record_t {
    pub size: usize,
    /// PFM_RECORD_*, or a type that this library does not know
    pub r#type: u32,
    /// PFM_MISC_*
    pub misc: u32,
    /// index of the count it belongs to, or PFM_NO_EVENT
    pub event: u32,
    /// PFM_SAMPLE_*: fields that are present
    pub has: u64,
    pub time: u64,
    pub id: u64,
    pub stream: u64,
    pub pid: u32,
    pub tid: u32,
    pub cpu: u32,
    /// bytes of the record as the kernel wrote it, at raw
    pub raw_size: u32,
    /// the record as the kernel wrote it
    pub raw: *const c_void,
    /// bytes at its end that this library does not know
    pub unparsed: u32,
    /// PFM_TRUNCATED_*
    pub truncated: u32,
    pub body: pfm_record_body_t,
}
/// Samples of one event, with losses.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_sample_statistics_t {
    pub size: usize,
    /// exact: every sample was given; partial: some are missing
    pub quality: pfm_quality_t,
    /// why samples are missing
    pub cause: pfm_cause_t,
    /// precise_ip as granted
    pub precise: u32,
    /// samples that were given
    pub samples: u64,
    /// of those, with the exact address of the instruction
    pub exact: u64,
    /// sum of their periods
    pub weight: u64,
    /// dropped because a buffer was full, or PFM_LOST_UNKNOWN
    pub lost: u64,
    /// dropped by the processor, or outside the address ranges
    pub discarded: u64,
    /// times that the kernel throttled it; counts are wrong then
    pub throttled: u64,
    /// nanoseconds in which it was throttled
    pub throttled_ns: u64,
    /// the event's count
    pub count: u64,
    /// sampling period, or 0
    pub period: u64,
    /// sampling frequency in Hz, or 0
    pub freq: u64,
}
/// The buffers of a session.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_buffer_info_t {
    pub size: usize,
    /// number of buffers; 0 for a recording
    pub n: u32,
    /// pages of each, as granted
    pub pages: u32,
    /// pages of each, as requested
    pub wanted: u32,
    /// records lost according to LOST records
    pub lost: u64,
    /// bytes read
    pub bytes: u64,
    /// buffers with corrupt records; 1: a truncated recording
    pub damaged: u32,
    /// records of unknown types left out of a recording
    pub skipped: u32,
}
/// A field in a tracepoint's data (PFM_SAMPLE_RAW).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_trace_field_t {
    pub size: usize,
    /// "fd", "unsigned int"
    pub name: *const c_char,
    /// "fd", "unsigned int"
    pub r#type: *const c_char,
    /// in bytes
    pub offset: u32,
    /// in bytes
    pub length: u32,
    /// PFM_TRACE_*
    pub flags: u32,
    pub reserved: u32,
}
/// A recording that is being written. Opaque.
#[repr(C)]
pub struct pfm_recording_t {
    _private: [u8; 0],
}
/// A region. Its name must stay valid until its first begin; the library keeps a copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_region_t {
    pub name: *const c_char,
    /// set by the library; 0 until the first begin
    pub id: u32,
    pub reserved: u32,
}
/// A visit with a handle: for coroutines and tasks that move between threads, and for visits that overlap in any order.
#[repr(C)]
pub struct pfm_region_visit_t {
    _private: [u8; 0],
}
/// Options of regions. The variables PERFMON_REGIONS, PERFMON_REGIONS_OUTPUT and PERFMON_REGIONS_FORMAT of the environment take precedence over the members, and PERFMON_REGIONS_OPTIONS adds flags, unless flags has PFM_REGIONS_PROGRAM_FIRST.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_regions_options_t {
    pub size: usize,
    /// PFM_REGIONS_*
    pub flags: c_uint,
    /// comma-separated events, groups in braces and metrics; NULL: only times
    pub events: *const c_char,
    /// destination of the results when the process ends: a file (%p is the process ID), a folder if it ends with '/', or "-" for standard error; NULL: none
    pub output: *const c_char,
    /// "table", "json", "csv", "likwid", "papi", "chrome" or "firefox"; NULL: "table". The last two show each visit; visits are kept only if the first start has one of them
    pub format: *const c_char,
}
#[repr(C)]
pub struct pfm_region_results_t {
    _private: [u8; 0],
}
/// A row of results: one region under one parent, of one thread or of all threads together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_region_info_t {
    pub size: usize,
    pub region: *const c_char,
    /// enclosing region, "" for none
    pub parent: *const c_char,
    /// 0: all threads together
    pub thread: c_int,
    /// 1: the cost of the visits exceeds a tenth of a count or of the wall time
    pub costly: c_int,
    /// ended visits
    pub visits: u64,
    /// visits that are not inside another visit of the region
    pub outermost: u64,
    /// visits that are open, or during which the thread ended
    pub unfinished: u64,
    /// nanoseconds, of outermost visits; exclusive: without enclosed regions
    pub wall: u64,
    /// nanoseconds, of outermost visits; exclusive: without enclosed regions
    pub exclusive: u64,
    pub wall_min: u64,
    pub wall_max: u64,
    /// of a visit; negative for fewer than two visits
    pub wall_variance: f64,
    /// nanoseconds on a CPU; 0: unknown
    pub task: u64,
    /// number of visits in task
    pub task_visits: u64,
    /// number of threads
    pub threads: u64,
    /// errors of wall and exclusive: half-widths of the 95 % intervals that the uncertainty of the subtracted cost gives
    pub wall_error: u64,
    pub exclusive_error: u64,
    /// 0 if the interval of wall does not contain 0; otherwise the region is too short to measure: the number of visits after which the error is half the time of a visit, UINT64_MAX if no number is enough
    pub enough_visits: u64,
}
/// The count of one event in one row.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_region_count_t {
    pub size: usize,
    pub inclusive: u64,
    pub exclusive: u64,
    /// outermost visits that were counted completely; inclusive, min, max and variance are of these
    pub visits: u64,
    /// number of visits in exclusive
    pub exclusive_visits: u64,
    /// of a visit
    pub min: u64,
    /// of a visit
    pub max: u64,
    /// of a visit; negative for fewer than two visits
    pub variance: f64,
    /// cost of begin and end in the inclusive count; subtracted by default
    pub overhead: u64,
    /// exact, partial (counted in some visits), not counted or not supported
    pub quality: pfm_quality_t,
    pub cause: pfm_cause_t,
    /// counts times scale are in the unit of the event
    pub scale: f64,
    /// errors of inclusive and exclusive: half-widths of the 95 % intervals that the uncertainty of the subtracted cost gives
    pub error: u64,
    pub exclusive_error: u64,
    /// as in pfm_region_info_t
    pub enough_visits: u64,
}
/// An event that regions count.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_region_event_t {
    pub size: usize,
    pub name: *const c_char,
    pub unit: *const c_char,
    /// why it cannot be counted, "" if it can
    pub why: *const c_char,
    /// why it cannot be counted, "" if it can
    pub remedy: *const c_char,
    /// quality after opening
    pub quality: pfm_quality_t,
    pub cause: pfm_cause_t,
    /// 1: counted for the whole machine while the region runs
    pub whole_machine: c_int,
    /// number of its round; the n-th visit counts round n modulo n_rounds
    pub round: c_uint,
    /// number of rounds
    pub n_rounds: c_uint,
    /// what an empty visit counts
    pub cost_inside: f64,
    /// what one begin and end add to an enclosing region
    pub cost_pair: f64,
    /// half-widths of the 95 % intervals of these costs of one visit
    pub inside_error: f64,
    pub pair_error: f64,
}
/// The process that results are of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_region_process_t {
    pub size: usize,
    /// process ID
    pub process: c_int,
    /// of a parallel program, -1 if the environment has none
    pub rank: c_int,
    pub program: *const c_char,
    /// 1: the process has ended by exit(3) or a return from main(); 0: it runs, or has ended in another way
    pub has_ended: c_int,
    /// 1: the file was too small for all regions
    pub is_incomplete: c_int,
    /// field 22 of /proc/PID/stat
    pub start_time: u64,
    /// open visits
    pub unfinished: u64,
    /// number of rows
    pub n_regions: c_uint,
    /// number of processes whose results are added up
    pub n_processes: u64,
}
/// The result of pfm_check_system().
#[repr(C)]
pub struct pfm_system_check_t {
    _private: [u8; 0],
}
/// Result of one check. Strings are never NULL, but may be empty.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_finding_t {
    pub size: usize,
    pub topic: pfm_finding_topic_t,
    pub state: pfm_finding_state_t,
    /// name of the check, such as "NMI watchdog" or "cycles:u"
    pub check: *const c_char,
    /// state of the machine
    pub observed: *const c_char,
    /// what cannot be counted because of it
    pub consequence: *const c_char,
    /// a command or setting that helps
    pub remedy: *const c_char,
    /// what can be counted nevertheless
    pub available: *const c_char,
    /// the correct count, for an event of the workload
    pub expected: *const c_char,
    /// 1: an event of the workload; the next three members are set
    pub has_count: c_int,
    /// quality of its count
    pub quality: pfm_quality_t,
    /// why its count is not exact
    pub cause: pfm_cause_t,
    /// its value, 0 if it was not counted
    pub count: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct addr_range_t {
    pub start: u64,
    pub end: u64,
    pub stride: u64,
    pub res0: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_alpha_range_t {
    pub start: u64,
    pub end: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_alpha_input_param_t {
    pub pfp_alpha_rates: [u64; 3],
    pub pfp_alpha_periods: [u64; 3],
    pub pfp_alpha_flags: c_uint,
    pub pfp_alpha_scope: c_uint,
    pub pfp_alpha_open: c_uint,
    pub pfp_alpha_modes: c_uint,
    pub pfp_alpha_items: c_uint,
    pub pfp_alpha_statistic: c_uint,
    pub pfp_alpha_n_ranges: c_uint,
    pub reserved1: c_uint,
    pub pfp_alpha_ctxt: u64,
    pub pfp_alpha_stride: u64,
    pub pfp_alpha_ranges: [pfmlib_alpha_range_t; 5],
    pub reserved: [u64; 8],
}
/// A call of wrperfmon: function in a0, argument in a1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_alpha_call_t {
    pub function: c_uint,
    pub reserved: c_uint,
    pub argument: u64,
}
/// A device request. Requests that read have no words; their argument is the address of a pointer to an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_alpha_ioctl_t {
    pub name: *const c_char,
    pub request: u32,
    pub when: c_uint,
    pub n_words: c_uint,
    pub reserved: c_uint,
    pub words: [u64; 4],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_alpha_output_param_t {
    pub open_flags: c_uint,
    pub counters: c_uint,
    pub privileged: c_uint,
    pub n_ioctls: c_uint,
    pub n_calls: c_uint,
    pub statistic: c_uint,
    pub rates: [u64; 3],
    pub iccsr: u64,
    pub pmctr: u64,
    pub cbox: u64,
    pub pctr_ctl: u64,
    pub i_ctl: u64,
    pub ioctls: [pfmlib_alpha_ioctl_t; 24],
    pub calls: [pfmlib_alpha_call_t; 8],
    pub reserved: [u64; 8],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_event_info_t {
    pub kind: c_int,
    pub statistic: c_uint,
    pub pm_mode: c_int,
    pub weight_num: c_uint,
    pub weight_den: c_uint,
    pub half_units: c_int,
    pub counters: c_uint,
    pub uncertainty: c_uint,
    pub error_counts: c_int,
    pub shift_cycles: c_int,
    pub window_less: c_int,
    pub linux_raw: c_int,
    pub constant: *const c_char,
    pub formula: *const c_char,
    pub note: *const c_char,
}
/// A device request by name or number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_request_t {
    pub name: *const c_char,
    pub request: u32,
    pub families: c_uint,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_interrupt_t {
    pub counter: c_uint,
    pub ipl: c_uint,
    pub entry: *const c_char,
    pub vector: c_uint,
}
/// A sample of ProfileMe.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_sample_t {
    pub pc: u64,
    pub pc_in_exc_addr: c_int,
    pub pal: c_int,
    pub trap: c_int,
    pub trap_name: *const c_char,
    pub residue: c_uint,
    pub icache_miss: c_uchar,
    pub icache_parity: c_uchar,
    pub load_store_order: c_uchar,
    pub trapped: c_uchar,
    pub mispredicted: c_uchar,
    pub taken: c_uchar,
    pub valid: c_uchar,
    pub killed_early: c_uchar,
    pub stalled: c_uchar,
    pub profileme: c_uchar,
    pub mode: c_uint,
    pub pctr0: u64,
    pub pctr1: u64,
    pub statistics: u64,
}
/// An emulator of the counter device.
/// Each operation replaces the system call of its name: its first argument is @arg, and it returns the result of the system call, or -errno. Structures are those of \<perfmon/pfcntr.h\>, in the memory of this process.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_device_t {
    pub size: usize,
    pub pmu: c_int,
    pub n_cpus: c_uint,
    pub text_start: u64,
    pub text_end: u64,
    pub arg: *mut c_void,
    pub open: Option<unsafe extern "C" fn(*mut c_void, *const c_char, c_int) -> c_int>,
    pub read: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize) -> c_long>,
    pub ioctl: Option<unsafe extern "C" fn(*mut c_void, c_int, c_ulong, *mut c_void) -> c_int>,
    pub close: Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>,
}
/// Backend options of pfm_open_session() for the backend "pfm_device". 0 in every member gives the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_alpha_session_t {
    pub size: usize,
    pub model: *const pfmlib_alpha_input_param_t,
    pub device: *const c_char,
    pub emulator: *const pfm_alpha_device_t,
    pub n_cpus: c_uint,
    pub bind: c_int,
}
/// Settings of the event with the same index in pfp_events.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_coreduo_counter_t {
    /// count the clock cycles in which the event occurs at least this many times, 0..255; 0: count events
    pub cnt_mask: u64,
    /// PFM_COREDUO_SEL_*
    pub flags: c_uint,
}
/// model_in of pfm_dispatch_events(). A value out of range or an unknown flag gives PFMLIB_ERR_INVAL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_coreduo_input_param_t {
    pub pfp_coreduo_counters: [pfmlib_coreduo_counter_t; 2],
    /// must be 0
    pub reserved: [u64; 4],
}
/// model_out of pfm_dispatch_events(). There are no results other than registers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_coreduo_output_param_t {
    pub reserved: [u64; 8],
}
/// Settings of the counter of the event with the same index in pfp_events.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_counter_t {
    pub flags: c_uint,
    pub thres: c_uint,
}
/// An opcode matcher: matches instructions in the selected slots whose opcode equals opcm_match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_opcm_t {
    pub opcm_used: c_uchar,
    pub opcm_m: c_uchar,
    pub opcm_i: c_uchar,
    pub opcm_f: c_uchar,
    pub opcm_b: c_uchar,
    pub opcm_match: u64,
    pub opcm_mask: u64,
}
/// Branches that the trace buffer records. In tm, ptm and ppm, 0 matches none and 3 both kinds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_etb_t {
    pub etb_used: c_uchar,
    pub etb_plm: c_uint,
    pub etb_ds: c_uchar,
    pub etb_tm: c_uchar,
    pub etb_ptm: c_uchar,
    pub etb_ppm: c_uchar,
    pub etb_brt: c_uchar,
}
/// Trace of retired instructions, in the same buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_ipear_t {
    pub ipear_used: c_uchar,
    pub ipear_plm: c_uint,
    pub ipear_delay: c_ushort,
}
/// An event address register that does not follow an event of the set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_ear_t {
    pub ear_used: c_uchar,
    pub ear_mode: pfmlib_mont_ear_mode_t,
    pub ear_plm: c_uint,
    pub ear_umask: u64,
}
/// One address range. A list ends at the first entry with rr_start and rr_end 0, or after four.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_input_rr_desc_t {
    pub rr_plm: c_uint,
    pub rr_start: u64,
    pub rr_end: u64,
}
/// By how much the covered range exceeds the requested range.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_output_rr_desc_t {
    pub rr_soff: u64,
    pub rr_eoff: u64,
}
/// for these events: apply to prefetches
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_input_rr_t {
    pub rr_flags: c_uint,
    pub rr_limits: [pfmlib_mont_input_rr_desc_t; 4],
    pub rr_used: c_uchar,
}
/// Debug registers to load, in pairs of address and mask. The kernel adds the enable bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_output_rr_t {
    pub rr_nbr_used: c_uint,
    pub rr_infos: [pfmlib_mont_output_rr_desc_t; 4],
    pub rr_br: [pfmlib_reg_t; 8],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_input_param_t {
    pub pfp_mont_counters: [pfmlib_mont_counter_t; 12],
    pub pfp_mont_flags: u64,
    pub pfp_mont_opcm1: pfmlib_mont_opcm_t,
    pub pfp_mont_opcm2: pfmlib_mont_opcm_t,
    pub pfp_mont_iear: pfmlib_mont_ear_t,
    pub pfp_mont_dear: pfmlib_mont_ear_t,
    pub pfp_mont_ipear: pfmlib_mont_ipear_t,
    pub pfp_mont_etb: pfmlib_mont_etb_t,
    pub pfp_mont_drange: pfmlib_mont_input_rr_t,
    pub pfp_mont_irange: pfmlib_mont_input_rr_t,
    pub reserved: [u64; 1],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_output_param_t {
    pub pfp_mont_drange: pfmlib_mont_output_rr_t,
    pub pfp_mont_irange: pfmlib_mont_output_rr_t,
    pub reserved: [u64; 6],
}
/// A data EAR sample.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_dear_sample_t {
    pub dear_daddr: u64,
    pub dear_iaddr: u64,
    pub dear_slot: u32,
    pub dear_latency: u32,
    pub dear_overflow: u8,
    pub dear_valid: u8,
    pub dear_iaddr_valid: u8,
    pub reserved: u8,
    pub dear_level: pfmlib_mont_level_t,
}
/// A code EAR sample.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_iear_sample_t {
    pub iear_iaddr: u64,
    pub iear_latency: u32,
    pub iear_overflow: u8,
    pub iear_valid: u8,
    pub reserved: [u8; 2],
    pub iear_level: pfmlib_mont_level_t,
}
/// A branch from the trace buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_branch_t {
    pub br_source: u64,
    pub br_target: u64,
    pub br_source_valid: u8,
    pub br_target_valid: u8,
    pub br_taken: u8,
    pub br_slot: u8,
    pub br_mispredicted: u8,
    pub br_flushed: u8,
    pub br_entry: u8,
    pub reserved: u8,
}
/// A retired instruction group from the trace buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfmlib_mont_ip_t {
    pub ip_addr: u64,
    pub ip_cycles: u32,
    pub ip_delay: u32,
    pub ip_flushed: u8,
    pub ip_early_freeze: u8,
    pub ip_entry: u8,
    pub reserved: [u8; 5],
}
/// A profile. Opaque. Strings that its functions return live as long as it does, unless their description says otherwise.
#[repr(C)]
pub struct pfm_profile_t {
    _private: [u8; 0],
}
/// How samples are added up. 0 in every member gives the defaults: every sample. The strings are copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_profile_options_t {
    pub size: usize,
    /// PFM_PROFILE_*
    pub flags: u32,
    /// PFM_LABEL_*
    pub labels: u32,
    /// pattern of fnmatch(3) of events, with or without modifiers; NULL: all
    pub event: *const c_char,
    /// pattern of names of tasks; NULL: all
    pub task: *const c_char,
    /// pattern of the function of the sampled instruction; NULL: all
    pub symbol: *const c_char,
    /// seconds from the first sample; to 0: until the end
    pub from: f64,
    /// seconds from the first sample; to 0: until the end
    pub to: f64,
    /// separate debug files; NULL: /usr/lib/debug
    pub debug_folder: *const c_char,
}
/// The samples of a profile, and those that are missing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_profile_info_t {
    pub size: usize,
    pub n_events: c_uint,
    /// pfm_describe_stack()
    pub n_stacks: c_uint,
    /// 1: nothing was lost; the next five members are 0
    pub is_complete: c_int,
    /// 1: the recording breaks off before its end
    pub is_damaged: c_int,
    /// dropped because a buffer was full
    pub lost_records: u64,
    /// dropped by events; they may be among lost_records
    pub lost_samples: u64,
    /// times that the kernel throttled sampling
    pub throttled: u64,
    /// left out, because their event is unknown
    pub samples_without_event: u64,
    /// 1: samples have call chains
    pub has_stacks: c_int,
    /// nanoseconds, of samples; 0: they have no times
    pub first_time: u64,
    /// nanoseconds, of samples; 0: they have no times
    pub last_time: u64,
}
/// An event of a profile.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_profile_event_t {
    pub size: usize,
    pub name: *const c_char,
    /// of weights: "nanoseconds" or "count"
    pub unit: *const c_char,
    /// number of samples that were added up
    pub samples: u64,
    /// sum of their periods: events, or nanoseconds
    pub weight: u64,
    /// pfm_describe_function()
    pub n_functions: c_uint,
    /// 0
    pub reserved: c_uint,
}
/// A function and the samples of one event in it. "children": in the function or in what it called, each sample once, also where the function calls itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_function_t {
    pub size: usize,
    /// C++ and Rust names demangled
    pub function: *const c_char,
    /// path of the file, or "\[kernel\]", "\[JIT\]", "\[unknown\]" ...
    pub object: *const c_char,
    /// of the file, hexadecimal; "" if unknown
    pub build_id: *const c_char,
    /// PFM_FRAME_*
    pub flags: u32,
    /// 0
    pub reserved: u32,
    pub self_samples: u64,
    pub self_weight: u64,
    pub children_samples: u64,
    pub children_weight: u64,
    /// of the weight of the event, 0 to 1
    pub self_share: f64,
    /// of the weight of the event, 0 to 1
    pub children_share: f64,
    /// standard errors of the shares
    pub self_error: f64,
    /// standard errors of the shares
    pub children_error: f64,
}
/// A stack and the samples of one event with that stack and these labels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_stack_t {
    pub size: usize,
    pub event: c_uint,
    /// pfm_describe_frame()
    pub n_frames: c_uint,
    /// name of the thread
    pub task: *const c_char,
    /// 0 without PFM_LABEL_THREAD
    pub pid: u32,
    /// 0 without PFM_LABEL_THREAD
    pub tid: u32,
    /// -1 without PFM_LABEL_CPU, or unknown
    pub cpu: i32,
    /// PFM_FRAME_CUT_OFF: callers are missing
    pub flags: u32,
    /// "" without PFM_LABEL_CGROUP
    pub cgroup: *const c_char,
    pub samples: u64,
    pub weight: u64,
}
/// A frame of a stack.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_frame_t {
    pub size: usize,
    pub function: *const c_char,
    pub object: *const c_char,
    /// "" if unknown
    pub build_id: *const c_char,
    /// "file:line" of the instruction; "" if unknown, and where another function is inlined
    pub source: *const c_char,
    /// PFM_FRAME_*
    pub flags: u32,
    /// 0
    pub reserved: u32,
}
/// Symbols of files, processes and the kernel, read as they are needed. Opaque. Strings live as long as it does.
#[repr(C)]
pub struct pfm_symbols_t {
    _private: [u8; 0],
}
/// The function at an address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pfm_symbol_t {
    pub size: usize,
    /// C++ and Rust names demangled
    pub function: *const c_char,
    /// path of the file, "\[kernel\]" or "\[JIT\]"
    pub object: *const c_char,
    /// functions inlined at the address, the outermost first, separated by ';'; "" for none
    pub inlined: *const c_char,
    /// "file:line"; "" if unknown
    pub source: *const c_char,
    /// hexadecimal; "" if unknown
    pub build_id: *const c_char,
    /// of the function, in addresses of the file; 0 if unknown
    pub start: u64,
    /// of the function, in addresses of the file; 0 if unknown
    pub end: u64,
    /// of the instruction, in addresses of the file; 0 if unknown
    pub address: u64,
}
extern "C" {
    /// Returns the version of the library that runs, such as "1.0.0", and its numbers in @major, @minor and @patch, each of which may be NULL. It differs from that of the header if another version was installed after the program was compiled. The string is constant. Thread-safe.
    pub fn pfm_version(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint) -> *const c_char;
    /// Phrase for result code @code: constant, never NULL, also for codes that do not exist.
    pub fn pfm_result_text(code: c_int) -> *const c_char;
    /// Returns the stable word of @kind; "" for PFM_KIND_NONE and unknown values. Thread-safe.
    pub fn pfm_error_kind_name(kind: pfm_error_kind_t) -> *const c_char;
    /// Writes one sentence about @error to @buf.
    /// @text   the text that the failed call was given, or NULL
    /// @buf    always terminated; truncated at @len bytes
    /// Returns the length of the complete sentence. Thread-safe.
    pub fn pfm_explain_error(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        error: *const pfm_error_t,
        buf: *mut c_char,
        len: usize,
    ) -> usize;
    /// Finds names close to the token that @error points at in @text, best first.
    /// @names  receives at most @n names (8 at most) of up to 95 bytes each, terminated
    /// Returns the number of names. Searches whole tables: not for hot paths. Thread-safe.
    pub fn pfm_suggest_names(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        error: *const pfm_error_t,
        names: *mut [c_char; 96],
        n: usize,
    ) -> usize;
    /// Opens a context.
    /// @out      receives the context, NULL on failure; release it with pfm_close_context()
    /// @options  NULL for the defaults
    /// @error    filled on failure; may be NULL
    /// Image files and the kernel's PMUs are read when a name first needs them.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_INVAL     @out is NULL, or a size is invalid
    ///   PFMLIB_ERR_NOPMU     options-\>pmu names no PMU
    ///   PFMLIB_ERR_NOMEM     out of memory
    ///   PFMLIB_ERR_SYS       a system call failed; see error-\>sys_errno
    ///   PFMLIB_ERR_IMAGE     an image file that was named cannot be used
    /// Thread-safe.
    pub fn pfm_open_context(
        out: *mut *mut pfm_ctx_t,
        options: *const pfm_ctx_options_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Adds a reference to @ctx and returns it: for a part of a program that keeps a context which another part opened. Each reference ends with a pfm_close_context() of its own. NULL, the default context, is returned as it is. Thread-safe.
    pub fn pfm_ref_context(ctx: *mut pfm_ctx_t) -> *mut pfm_ctx_t;
    /// Ends a reference to @ctx: that of pfm_open_context() or of a pfm_ref_context(). The last one releases @ctx and every string that a function returned from it; open sessions count as references. NULL is allowed. The caller may not use @ctx any more. Thread-safe.
    pub fn pfm_close_context(ctx: *mut pfm_ctx_t);
    /// Returns the number of PMUs; they are numbered from 0 and keep their numbers. Loads images and the kernel's PMUs. Negative if that fails: PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS, PFMLIB_ERR_IMAGE. Thread-safe.
    pub fn pfm_count_pmus(ctx: *const pfm_ctx_t) -> c_int;
    /// Returns the number of the PMU called @name (its name or an alias), or -1. Loads images and the kernel's PMUs if @name is not built in; a failure is returned as by pfm_count_pmus().
    pub fn pfm_find_pmu(ctx: *const pfm_ctx_t, name: *const c_char) -> c_int;
    /// Returns the core PMU that serves this machine because no table describes its processor (PFM_PMU_FALLBACK): architectural events, or the nearest member's list; -1 if this machine needs none. Thread-safe.
    pub fn pfm_find_fallback_pmu(ctx: *const pfm_ctx_t) -> c_int;
    /// Describes PMU @pmu. PFMLIB_ERR_INVAL if @pmu is out of range. Thread-safe.
    pub fn pfm_describe_pmu(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        info: *mut perfmon_pmu_info_t,
    ) -> c_int;
    /// Describes feature @i of @pmu: its *@name, and *@text (a text, or "") or *@value (a number). PFMLIB_ERR_NOTFOUND past the last. Thread-safe.
    pub fn pfm_describe_feature(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        name: *mut *const c_char,
        text: *mut *const c_char,
        value: *mut u64,
    ) -> c_int;
    /// Describes image file @i that is on the search path but not used: its *@path and the reason in *@why. Verifies every image completely. PFMLIB_ERR_NOTFOUND past the last. Thread-safe.
    pub fn pfm_describe_rejected_image(
        ctx: *const pfm_ctx_t,
        i: c_uint,
        path: *mut *const c_char,
        why: *mut *const c_char,
    ) -> c_int;
    /// Describes event @event (0 .. n_events - 1) of @pmu in constant time. PFMLIB_ERR_INVAL if a number is out of range. Thread-safe, as are all functions of this header.
    pub fn pfm_describe_event(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        info: *mut perfmon_event_info_t,
    ) -> c_int;
    /// Returns 0 if the processor at hand reports that it does not implement event @event of @pmu, its PMU: it can be encoded, but not counted. 1 if it does, if it does not tell, and for events of other machines; an error code if a number is out of range.
    pub fn pfm_is_event_implemented(ctx: *const pfm_ctx_t, pmu: c_int, event: c_uint) -> c_int;
    /// Describes unit mask @i (0 .. n_umasks - 1) of an event. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_umask(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        info: *mut pfm_umask_info_t,
    ) -> c_int;
    /// Gives name @i of unit mask @umask of an event, the usual name first, in *@name. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_umask_name(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        umask: c_uint,
        i: c_uint,
        name: *mut *const c_char,
    ) -> c_int;
    /// Describes field value @i (0 .. n_fields - 1) of an event: the field's *@name, and *@text (or "") or *@value (or 0); *@counter is the only counter it applies to, or -1 for every counter.
    pub fn pfm_describe_field(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        name: *mut *const c_char,
        text: *mut *const c_char,
        value: *mut u64,
        counter: *mut c_int,
    ) -> c_int;
    /// Describes modifier @i of an event. PFMLIB_ERR_NOTFOUND past the last. The event may still refuse a modifier on some counters (no cmask on fixed counters).
    pub fn pfm_describe_modifier(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        info: *mut pfm_modifier_info_t,
    ) -> c_int;
    /// Describes rule @i of @pmu. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_rule(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        rule: *mut pfm_rule_info_t,
    ) -> c_int;
    /// Describes the @i-th rule that can hold for an event, with modifiers, levels and sets that a text may add. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_event_rule(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        rule: *mut pfm_rule_info_t,
    ) -> c_int;
    /// Describes the @i-th rule that can hold for the event that @text names. rule-\>holds is that of the text with its unit masks and modifiers, on this machine. PFMLIB_ERR_NOTFOUND past the last; other errors as for pfm_encode_event().
    pub fn pfm_describe_rule_by_text(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        i: c_uint,
        rule: *mut pfm_rule_info_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Gives name @i of the values of @field of @pmu in *@name, and the number (or, for a field of flags, the bit) in *@value. PFMLIB_ERR_NOTFOUND past the last, and for fields of numbers.
    pub fn pfm_describe_value_name(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        field: *const c_char,
        i: c_uint,
        name: *mut *const c_char,
        value: *mut u64,
    ) -> c_int;
    /// Describes privilege level @i of @pmu: the *@name that texts use, its PFM_PLM* bit in *@plm (0 for the hypervisor's level), and whether it is counted by default. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_privilege_level(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        name: *mut *const c_char,
        plm: *mut c_uint,
        is_default: *mut c_int,
    ) -> c_int;
    /// Describes erratum @i of @pmu, from 0. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_INVAL if
    /// @pmu is out of range or out-\>size is not set.
    pub fn pfm_describe_erratum(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        out: *mut pfm_erratum_t,
    ) -> c_int;
    /// Gives the number of event @k, from 0, of erratum @i of @pmu in *@event. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_erratum_event(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        k: c_uint,
        event: *mut c_uint,
    ) -> c_int;
    /// Describes the @i-th erratum, from 0, that is about event @event of @pmu, with its default unit masks. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_event_erratum(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        out: *mut pfm_erratum_t,
    ) -> c_int;
    /// Describes the @i-th erratum, from 0, that is about the event of @text, with its unit masks, modifiers and levels; @plm and the errors are those of pfm_encode_event(). PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_text_erratum(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        plm: c_uint,
        i: c_uint,
        out: *mut pfm_erratum_t,
    ) -> c_int;
    /// Finds the event that @text names, in any dialect: *@pmu and *@event. Unit masks and modifiers are not checked. Errors as for pfm_encode_event().
    pub fn pfm_find_event_by_text(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        pmu: *mut c_int,
        event: *mut c_uint,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Splits the first event off a comma-separated list, as users write it.
    /// @list   the rest of the list, moved past the event and its comma; NULL after the last
    /// @event  the event, surrounding blanks removed; not terminated
    /// @len    its length
    /// Commas between slashes ("cpu/event=1,umask=2/") and in braces do not split: a group such as "{cycles,instructions}:W" is one event, and the text inside its braces is a list again. A qualifier after a comma ("edge", "os", "cmask=2") belongs to the event before it. Names are not checked; an unclosed brace extends to the end. Returns 1, or 0 if *@list or an argument is NULL.
    pub fn pfm_split_events(
        list: *mut *const c_char,
        event: *mut *const c_char,
        len: *mut usize,
    ) -> c_int;
    /// Encodes the event that @text names.
    /// @ctx    the context, or NULL for the default one
    /// @text   an event in any dialect; see perfmon(7)
    /// @plm    levels to count if the text names none: any of PFM_PLM0 .. PFM_PLM3, 0 for the defaults of the PMU
    /// @out    filled on success, unchanged on failure; owned by the caller
    /// @error  filled on failure; may be NULL
    /// The attribute is for a machine that has the PMU (PFM_PMU_HOST of pfm_describe_pmu()): elsewhere its numbers select another event, and pfm_fill_perf_event_attr() refuses them. Does not allocate.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_INVAL     @text or @out is NULL, out-\>size is invalid, or @plm is out of range
    ///   PFMLIB_ERR_SYNTAX    the text cannot be parsed
    ///   PFMLIB_ERR_NOTFOUND  no PMU has the event
    ///   PFMLIB_ERR_UMASK     a unit mask is unknown or missing
    ///   PFMLIB_ERR_ATTR, PFMLIB_ERR_ATTR_VAL, PFMLIB_ERR_ATTR_MISSING, PFMLIB_ERR_ATTR_SET a modifier or field is unknown, or its value is wrong, missing, or set twice
    ///   PFMLIB_ERR_NOTSUPP   the PMU cannot count the event so
    ///   PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS, PFMLIB_ERR_IMAGE images or the kernel's PMUs cannot be read
    /// Thread-safe.
    pub fn pfm_encode_event(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        plm: c_uint,
        out: *mut pfm_encoding_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Encodes event number @event of @pmu without any modifier, with its default unit masks: the fast way through a whole table. Otherwise like pfm_encode_event().
    pub fn pfm_encode_event_at(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        plm: c_uint,
        out: *mut pfm_encoding_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Writes the event that @text names to @buf in @dialect, modifiers in canonical order. Encoding the result gives the same registers.
    /// Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
    ///   PFMLIB_ERR_NOTSUPP  the dialect cannot express the event (PFM_KIND_UNEXPRESSIBLE)
    ///   PFMLIB_ERR_FULL     @buf is too small; nothing was written
    /// Thread-safe.
    pub fn pfm_print_event(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        dialect: pfm_dialect_t,
        buf: *mut c_char,
        len: usize,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Computes the register values that count @n events of one PMU together.
    /// @out      receives the set, NULL on failure; release it with pfm_close_set()
    /// @texts    the events, as pfm_encode_event() takes them
    /// @options  NULL for the defaults
    /// @error    filled on failure; may be NULL
    /// Finds a placement if there is one: events with the fewest counters first, each on its lowest counter, so equal input gives equal output. Free-running events need no counter. Nothing is programmed.
    /// Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
    ///   PFMLIB_ERR_TOOMANY    more than 64 events
    ///   PFMLIB_ERR_EVTINCOMP  the events belong to several PMUs
    ///   PFMLIB_ERR_NOASSIGN   error-\>clash is a smallest set of events that do not fit together; with PFM_KIND_ALONE, error-\>event must be counted alone and the others of the clash cannot use fixed counters
    ///   PFMLIB_ERR_NOMEM      out of memory
    /// Thread-safe.
    pub fn pfm_dispatch_set(
        out: *mut *const pfm_set_t,
        ctx: *const pfm_ctx_t,
        texts: *const *const c_char,
        n: c_uint,
        options: *const pfm_dispatch_options_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Releases @set. NULL is allowed.
    pub fn pfm_close_set(set: *const pfm_set_t);
    /// Describes field @i of @reg ("PERFEVTSEL0", "PMC4", "config", "PCTR_CTL" ...) of @pmu, which holds @value: the field's *@name, its value in *@field, and its meaning in *@text (a word, an event, or ""). PFMLIB_ERR_NOTFOUND past the last field, PFMLIB_ERR_INVAL if the PMU has no such register.
    pub fn pfm_decode_field(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        reg: *const c_char,
        value: u64,
        i: c_uint,
        name: *mut *const c_char,
        field: *mut u64,
        text: *mut *const c_char,
    ) -> c_int;
    /// Writes to @name, which has room for @len bytes (16 are enough), register @i of @pmu that pfm_decode_field() takes. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_FULL if it does not fit.
    pub fn pfm_describe_register(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        i: c_uint,
        name: *mut c_char,
        len: usize,
    ) -> c_int;
    /// Writes to @buf, in the vendor's dialect, the @i-th event of @pmu that @value in register @reg can mean, the most likely first. Privilege levels and enable bits are not compared; modifiers are added for bits that the event does not explain. The ESCR of a Pentium 4's CCCR is in the upper half of @value. PFMLIB_ERR_NOTFOUND past the last. pfm_decode_set() compares extra registers too.
    pub fn pfm_decode_event(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        reg: *const c_char,
        value: u64,
        i: c_uint,
        buf: *mut c_char,
        len: usize,
    ) -> c_int;
    /// Finds the events that the @n registers @regs of @pmu count: pfm_set_t.pmcs, or registers read from hardware.
    /// @regs    kind, num and value are used; addr for PFM_REG_EXTRA, event for PFM_REG_CONFIG; not name
    /// @out     receives one entry per event and candidate, at most @n_out; entries of one event follow each other. A register that matches no event has one entry with an empty text
    /// Extra registers (OFFCORE_RSP_0 ...) are compared where @regs has them; without them, all events that differ only there are candidates, 32 of them at most.
    /// Returns the number of entries, which may exceed @n_out, or
    ///   PFMLIB_ERR_INVAL    @regs or @out is NULL, a size is invalid, or @pmu or the number of a control register is out of range
    ///   PFMLIB_ERR_NOTSUPP  registers of this PMU cannot be decoded
    pub fn pfm_decode_set(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        regs: *const pfm_reg_t,
        n: c_uint,
        out: *mut pfm_decoded_event_t,
        n_out: c_uint,
    ) -> c_int;
    /// Describes metric @event of @pmu. PFMLIB_ERR_NOTFOUND if the event is not a metric, PFMLIB_ERR_INVAL if a number is out of range. Thread-safe.
    pub fn pfm_describe_metric(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        info: *mut pfm_metric_info_t,
    ) -> c_int;
    /// Describes input @i of a metric. PFMLIB_ERR_NOTFOUND past the last. Thread-safe.
    pub fn pfm_describe_metric_input(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        info: *mut pfm_metric_input_t,
    ) -> c_int;
    /// Writes the formula of a metric (@threshold 0) or of its threshold (1) to @buf, always terminated, truncated at @len bytes. Returns the length of the complete formula, or a negative code. Thread-safe.
    pub fn pfm_print_metric(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        threshold: c_int,
        buf: *mut c_char,
        len: usize,
    ) -> c_int;
    /// Writes partner @i of a metric to @buf: an event whose samples show where the value comes from, as pfm_encode_event() takes it. An event with a precise form has the modifier ":pp". A metric of a tree without a partner has those of the metric that it is a part of.
    /// @buf  always terminated, truncated at @len bytes
    /// Returns the length of the complete text, or
    ///   PFMLIB_ERR_NOTFOUND  @i is past the last partner, or the event is not a metric
    ///   PFMLIB_ERR_INVAL     a number is out of range, or @buf is NULL although @len is not 0
    /// Thread-safe.
    pub fn pfm_print_metric_partner(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        i: c_uint,
        buf: *mut c_char,
        len: usize,
    ) -> c_int;
    /// Reads an input of a metric that is a constant of this machine or of a measurement: "#num_cpus", "#num_cpus_online", "#smt_on", "#threads_per_core", "#duration_ms". An unknown constant with a preset has that value.
    /// @input    from pfm_describe_metric_input()
    /// @seconds  length of the measurement, 0 if it is unknown
    /// @value    receives the value, 0 if it is unknown
    /// PFMLIB_ERR_NOTFOUND if the constant is unknown or the input is an event; PFMLIB_ERR_INVAL for NULL, an invalid size, or negative seconds. Thread-safe.
    pub fn pfm_read_metric_constant(
        ctx: *const pfm_ctx_t,
        input: *const pfm_metric_input_t,
        seconds: f64,
        value: *mut f64,
    ) -> c_int;
    /// Computes metric @event of @pmu from @data. The call succeeds for a metric without a value (see out-\>state).
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_NOTFOUND  the event is not a metric
    ///   PFMLIB_ERR_INVAL     @data or @out is NULL or has no size, the model is unknown, an array that the model needs is NULL, there are no samples although the model is PFM_ERROR_FROM_REPETITIONS, n_inputs is too small, or observed is not in 0 .. 1
    /// Thread-safe.
    pub fn pfm_compute_metric(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        data: *const pfm_metric_data_t,
        out: *mut pfm_metric_value_t,
    ) -> c_int;
    /// Checks a value of metric @event of @pmu against the limits that its unit and name imply. A share ("ratio", "percent") is within 0 and the whole; an amount is not negative; a bandwidth of memory is at most @memory_peak. The value is refused if its 95 % interval excludes the limits.
    /// @extrapolated  1: its counts were scaled or are partial, which the reason then says
    /// @memory_peak   from pfm_memory_bandwidth(); 0: unknown
    /// A value that is not defined is plausible. PFMLIB_ERR_INVAL for NULL or an invalid size; otherwise errors as for pfm_describe_metric(). Thread-safe.
    pub fn pfm_check_metric(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        value: *const pfm_metric_value_t,
        extrapolated: c_int,
        memory_peak: f64,
        out: *mut pfm_metric_check_t,
    ) -> c_int;
    /// Checks that @n values of metrics sum to @whole (1 or 100), within their intervals taken together; within a tenth if an error is unknown. If one is not defined, the sum is plausible. PFMLIB_ERR_INVAL for NULL, no values, an invalid size or @whole that is not positive. Thread-safe.
    pub fn pfm_check_metric_sum(
        parts: *const pfm_metric_value_t,
        n: c_uint,
        whole: f64,
        extrapolated: c_int,
        out: *mut pfm_metric_check_t,
    ) -> c_int;
    /// Lists the metrics whose values sum to a whole with that of metric @event of @pmu: the first level of top-down analysis, with the slots of the core's other thread where the processor counts these.
    /// @events  receives the events, @event among them, at most @n of them
    /// @whole   receives the whole: 1 or 100; may be NULL
    /// Returns how many there are, or
    ///   PFMLIB_ERR_NOTFOUND  the metric is not a part of such a sum, or the event is not a metric
    ///   PFMLIB_ERR_INVAL     a number is out of range, or @events is NULL although @n is not 0
    /// Thread-safe.
    pub fn pfm_list_metric_sum(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        events: *mut c_uint,
        n: c_uint,
        whole: *mut f64,
    ) -> c_int;
    /// Returns how many millions of bytes a second the memory of this machine can move: for each channel, width times transfer rate, by the firmware's DMI table or udev's copy of it. An upper bound where the kernel (EDAC) does not tell the channels, because devices that share a channel take turns. 0 if unknown. Thread-safe.
    pub fn pfm_memory_bandwidth(ctx: *const pfm_ctx_t) -> f64;
    /// Returns the stable words of @result, quoted above; "" for unknown values. Thread-safe.
    pub fn pfm_plausibility_name(result: pfm_plausibility_t) -> *const c_char;
    /// Returns the stable words of @state, quoted above; "" for unknown values. Thread-safe.
    pub fn pfm_metric_state_name(state: pfm_metric_state_t) -> *const c_char;
    /// Returns the stable words of @quality, quoted above; "" for unknown values. Thread-safe.
    pub fn pfm_quality_name(quality: pfm_quality_t) -> *const c_char;
    /// Returns the quality that a count with @quality and @cause would have if a PMU had counted it: for pretended and simulated counts exact, scaled or partial, for others @quality. A count has a value if the result is at most PFM_QUALITY_PARTIAL. Thread-safe.
    pub fn pfm_counter_quality(quality: pfm_quality_t, cause: pfm_cause_t) -> pfm_quality_t;
    /// Returns the stable words of @cause; "" for PFM_CAUSE_NONE and unknown values. Thread-safe.
    pub fn pfm_cause_name(cause: pfm_cause_t) -> *const c_char;
    /// Subtracts two readings of one count: @out is what was counted in between.
    /// @is_level  pfm_count_info_t.is_level: then @out is the later reading
    /// @out       may be one of the readings
    /// The quality of @out follows from the times between the readings, not from what happened before. If the count was reset in between, @out is the later reading. PFMLIB_ERR_INVAL for NULL or a size that is not set. Thread-safe.
    pub fn pfm_subtract_counts(
        earlier: *const pfm_count_t,
        later: *const pfm_count_t,
        is_level: c_int,
        out: *mut pfm_count_t,
    ) -> c_int;
    /// Opens counters for @n events; counting is stopped.
    /// @out      receives the session, NULL on failure; release it with pfm_close_session()
    /// @ctx      the context; the session keeps it alive
    /// @options  NULL for the defaults
    /// @texts    events, groups in braces ("{cycles,instructions}:W"), metrics or metric groups
    /// @error    filled on failure; may be NULL
    /// Events of metrics are planned (pfm_create_plan()) and follow the other events. An event that must be counted alone (PFM_EVENT_ALONE) may not share a group with others on general counters (PFM_KIND_ALONE), unless the group is weak (W), which is then split; outside groups it takes turns with the other events. An event that cannot be opened stays in the session with quality "not supported" or "not counted" and its cause, unless PFM_SESSION_STRICT.
    /// Returns PFMLIB_SUCCESS, the codes of pfm_encode_event() and pfm_create_plan(), or
    ///   PFMLIB_ERR_INVAL    an option is wrong, or @texts is NULL or empty
    ///   PFMLIB_ERR_NOTSUPP  the backend does not exist, or PFM_SESSION_STRICT and an event is refused
    ///   PFMLIB_ERR_SYS      a system call failed; see error-\>sys_errno
    ///   PFMLIB_ERR_NOMEM    out of memory
    /// Thread-safe.
    pub fn pfm_open_session(
        out: *mut *mut pfm_session_t,
        ctx: *const pfm_ctx_t,
        options: *const pfm_session_options_t,
        texts: *const *const c_char,
        n: c_uint,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Starts counting. A negative code on failure; pfm_session_errno() gives the errno.
    pub fn pfm_start_session(s: *mut pfm_session_t) -> c_int;
    /// Stops counting; errors as for pfm_start_session().
    pub fn pfm_stop_session(s: *mut pfm_session_t) -> c_int;
    /// Sets all counts to 0; errors as for pfm_start_session().
    pub fn pfm_reset_session(s: *mut pfm_session_t) -> c_int;
    /// Lets groups take turns: of groups g (pfm_count_info_t.group) with the same number @turns\[g\], those with @on\[g\] count and the others do not; groups with turn 0 count always. Call it before the first start, then at every change with the same @turns; at any time one group of each turn should be on. All CPUs change at once. The time of a group is that of all groups of its turn on the same CPU, so its counts are scaled. Both arrays have @n members; groups from @n on count always. PFMLIB_ERR_NOTSUPP: the backend cannot do that; else errors as for pfm_start_session().
    pub fn pfm_select_groups(
        s: *mut pfm_session_t,
        turns: *const c_uint,
        on: *const c_uchar,
        n: c_uint,
    ) -> c_int;
    /// Returns the number of counts: one per event and PMU (and per CPU with PFM_SESSION_PER_CPU).
    pub fn pfm_session_size(s: *const pfm_session_t) -> c_uint;
    /// Reads all counts. Looks once a second whether the processor is still the one that the session was opened on: counts of a virtual machine that was moved to another one are partial.
    /// @counts  room for @n counts, each with its size set; counts beyond the session's stay unchanged
    /// The call succeeds for a count without a value; its quality shows that. PFMLIB_ERR_INVAL for NULL or an invalid size; PFMLIB_ERR_SYS if reading fails.
    pub fn pfm_read_session(s: *mut pfm_session_t, counts: *mut pfm_count_t, n: c_uint) -> c_int;
    /// Reads count @i: without a system call if the session counts the calling thread and has PFM_SESSION_USER_READ, and if the kernel permits it; otherwise like pfm_read_session().
    pub fn pfm_read_count(s: *mut pfm_session_t, i: c_uint, count: *mut pfm_count_t) -> c_int;
    /// Describes count @i. PFMLIB_ERR_INVAL if it is out of range.
    pub fn pfm_describe_count(
        s: *const pfm_session_t,
        i: c_uint,
        info: *mut pfm_count_info_t,
    ) -> c_int;
    /// Returns errno of the last failed call on @s, 0 for none.
    pub fn pfm_session_errno(s: *const pfm_session_t) -> c_int;
    /// Stops counting and releases everything. NULL is allowed.
    pub fn pfm_close_session(s: *mut pfm_session_t);
    /// Returns the number of metrics that the texts of @s name.
    pub fn pfm_count_metrics(s: *const pfm_session_t) -> c_uint;
    /// Computes metric @i of @s from @rounds readings.
    /// @counts   @rounds times all counts of the session, as pfm_read_session() gives them or as differences (pfm_subtract_counts()); ignored if @rounds is 0
    /// @rounds   0: only identify the metric
    /// @seconds  duration of a round, for metrics that are rates; 0: unknown
    /// The value is that of the mean counts; with several rounds its error follows from how they vary (PFM_ERROR_FROM_REPETITIONS). The call succeeds for a metric without a value (see out-\>state). The value is checked against its limits, and the sum of its parts if the session has all of them. PFMLIB_ERR_INVAL for NULL, an invalid size or @i out of range. Thread-safe.
    pub fn pfm_compute_session_metric(
        s: *const pfm_session_t,
        i: c_uint,
        counts: *const pfm_count_t,
        rounds: c_uint,
        seconds: f64,
        out: *mut pfm_session_metric_t,
    ) -> c_int;
    /// Computes metric @event of @pmu from counts of its inputs, which the caller has summed as it likes: over runs, CPUs or tasks. Constants of the machine are read. The result is that of pfm_compute_session_metric(), with request 0; missing is the index of a count without a value that the metric needs. One measurement of exact counts has error 0; a partial count, or too few parts, make the error unknown. Sums of metrics are not checked.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_NOTFOUND  the event is not a metric
    ///   PFMLIB_ERR_INVAL     a pointer is NULL, a size is not set, the number of an input is out of range, the model is unknown or seconds is negative
    ///   PFMLIB_ERR_NOMEM     out of memory
    /// Thread-safe.
    pub fn pfm_compute_counted_metric(
        ctx: *const pfm_ctx_t,
        pmu: c_int,
        event: c_uint,
        data: *const pfm_metric_counts_t,
        out: *mut pfm_session_metric_t,
    ) -> c_int;
    /// Adds @count to @sum.
    /// A task or CPU that had no time to run adds nothing, and the sum stays exact. If some counts have a value and others have none, the sum has quality PFM_QUALITY_PARTIAL. Levels (pfm_count_info_t.is_level) are added, too.
    /// Returns PFMLIB_SUCCESS, or PFMLIB_ERR_INVAL if a pointer is NULL, the size of @count is invalid, or @sum is smaller than in version 1.0.
    pub fn pfm_add_count(sum: *mut pfm_count_sum_t, count: *const pfm_count_t) -> c_int;
    /// Adds the count of another run.
    /// Returns 1 if @count determines the quality of the tally, 0 if not, or PFMLIB_ERR_INVAL if a pointer is NULL, the size of @count is invalid, or @tally is smaller than in version 1.0.
    pub fn pfm_add_run(tally: *mut pfm_tally_t, count: *const pfm_count_t) -> c_int;
    /// Describes the location of CPU @cpu in the machine of @ctx; NULL for the default context.
    /// Returns PFMLIB_SUCCESS, or PFMLIB_ERR_INVAL if @info is NULL or its size is invalid.
    pub fn pfm_describe_cpu(ctx: *const pfm_ctx_t, cpu: c_uint, info: *mut pfm_cpu_info_t) -> c_int;
    /// Lists the metrics of a group.
    /// @text  "GROUP" of this machine's processors or "PMU::GROUP"; "NAME_group" holds the metrics that
    /// metric NAME consists of; "TopdownL1" is another name of "TmaL1"
    /// @out   receives the first @n metrics; may be NULL if @n is 0
    /// Returns the number of metrics in the group, PFMLIB_ERR_NOTFOUND if the group is unknown, PFMLIB_ERR_INVAL or PFMLIB_ERR_NOMEM.
    pub fn pfm_list_metric_group(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        out: *mut pfm_metric_ref_t,
        n: c_uint,
    ) -> c_int;
    /// Calls @each with "SUBSYSTEM:NAME" for every tracepoint of the running kernel that matches, in sorted order.
    /// @pattern  a shell pattern such as "sched:*", or NULL for every tracepoint
    /// @each     returns 0 to continue; any other value ends the call, which returns it
    /// Returns 0, the value of @each, or
    ///   PFMLIB_ERR_INVAL     @each is NULL
    ///   PFMLIB_ERR_NOTFOUND  tracefs is not mounted
    ///   PFMLIB_ERR_PERM      the user may not read tracefs
    ///   PFMLIB_ERR_NOMEM, PFMLIB_ERR_SYS
    pub fn pfm_visit_tracepoints(
        ctx: *const pfm_ctx_t,
        pattern: *const c_char,
        each: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int>,
        arg: *mut c_void,
    ) -> c_int;
    /// Reads the kernel's description of a tracepoint and its fields.
    /// @text  "SUBSYSTEM:NAME"; text after a second colon is ignored
    /// @buf   receives the description, truncated to @size bytes and terminated
    /// Returns the length of the description, or the codes above; PFMLIB_ERR_NOTFOUND also if the tracepoint does not exist.
    pub fn pfm_read_tracepoint_format(
        ctx: *const pfm_ctx_t,
        text: *const c_char,
        buf: *mut c_char,
        size: usize,
    ) -> c_int;
    /// Fills the members of a perf_event_attr that select an event.
    /// @event    an event in any dialect; see perfmon(7)
    /// @plm      levels to count if the text names none: any of PFM_PLM0..3; 0: PFM_PLM0 | PFM_PLM3
    /// @attr     type, size, config, config1, config2, bp_type, exclude_user, exclude_kernel, exclude_hv and precise_ip are set; exclude_idle, exclude_host and exclude_guest are set to 1 if the text requests it. The other members (inherit ...) do not change
    /// @name     receives the canonical name in libpfm's spelling, to be released with free(3); or NULL
    /// @index    receives the number of the event in its table, -1 if the text gives fields; or NULL
    /// Returns PFMLIB_SUCCESS, or writes nothing and returns
    ///   PFMLIB_ERR_INVAL    @event or @attr is NULL, or @plm is negative
    ///   PFMLIB_ERR_NOPMU    the event belongs to a processor that this machine does not have
    ///   PFMLIB_ERR_NOTSUPP  the kernel cannot count the event, or exports no PMU for it on this machine
    ///   PFMLIB_ERR_FULL     the event needs config3 or config4, and the size member is too small
    ///   PFMLIB_ERR_NOMEM    out of memory for @name
    /// and the codes of pfm_encode_event() for a text that is wrong.
    /// Thread-safe. Since 1.0.
    pub fn pfm_encode_perf_attr(
        event: *const c_char,
        plm: c_int,
        attr: *mut c_void,
        name: *mut *mut c_char,
        index: *mut c_int,
    ) -> c_int;
    /// Fills @attr from an encoding of any context.
    /// @ctx       the context that @encoding is from, or NULL for the default one
    /// @encoding  a result of pfm_encode_event()
    /// @attr      as above
    /// @size      size of *@attr in bytes: older headers lack config3 and config4
    /// Returns PFMLIB_SUCCESS, or the codes above. Thread-safe. Since 1.0.
    pub fn pfm_fill_perf_event_attr(
        ctx: *const pfm_ctx_t,
        encoding: *const pfm_encoding_t,
        attr: *mut c_void,
        size: usize,
    ) -> c_int;
    /// Plans the events of @texts, and those of the metrics and metric groups among them, in as few groups as possible; each group can be counted together.
    /// @out      receives the plan, NULL on failure; release it with pfm_close_plan()
    /// @options  NULL for the defaults
    /// @error    filled on failure; may be NULL
    /// A group belongs to one PMU. The events of a metric share a group where that costs no extra group. An event that must be counted alone shares its group with events on fixed counters only. Equal input gives an equal plan.
    /// Returns PFMLIB_SUCCESS, the codes of pfm_encode_event(), or
    ///   PFMLIB_ERR_NOASSIGN  an event has no counter left
    ///   PFMLIB_ERR_TOOMANY   too many events
    ///   PFMLIB_ERR_NOMEM     out of memory
    /// Thread-safe.
    pub fn pfm_create_plan(
        out: *mut *mut pfm_plan_t,
        ctx: *const pfm_ctx_t,
        texts: *const *const c_char,
        n: c_uint,
        options: *const pfm_plan_options_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Describes @plan. PFMLIB_ERR_INVAL for NULL or an invalid size. Thread-safe.
    pub fn pfm_describe_plan(plan: *const pfm_plan_t, info: *mut pfm_plan_info_t) -> c_int;
    /// Describes event @i of @plan. Events of a group follow each other, in an order in which they can be opened. PFMLIB_ERR_NOTFOUND past the last. Thread-safe.
    pub fn pfm_describe_planned_event(
        plan: *const pfm_plan_t,
        i: c_uint,
        event: *mut pfm_planned_event_t,
    ) -> c_int;
    /// Writes group @group of @plan, from 0, to @buf, as pfm_open_session() takes it: an event alone, or several in braces that count one by one if the kernel cannot keep them together ("{A,B}:W").
    /// @buf  always terminated, truncated at @len bytes
    /// Returns the length of the complete text, PFMLIB_ERR_NOTFOUND past the last group, or PFMLIB_ERR_INVAL if @plan is NULL, or @buf is NULL although @len is not 0. Thread-safe.
    pub fn pfm_print_plan_group(
        plan: *const pfm_plan_t,
        group: c_uint,
        buf: *mut c_char,
        len: usize,
    ) -> c_int;
    /// Releases @plan and its strings. NULL is allowed.
    pub fn pfm_close_plan(plan: *mut pfm_plan_t);
    /// Lays the groups of @plan over the slots of a cycle, which repeats. Each PMU counts one of its groups in each slot; a PMU with one group counts it all the time. The slots of a group are spread evenly. Slots that no wish needs go to the groups that have fewest.
    /// @out       receives the schedule, NULL on failure; release it with pfm_close_schedule()
    /// @wishes    of the texts of the plan, in their order; texts from @n_wishes on have no wish
    /// @options   NULL for the defaults
    /// @error     filled on failure; may be NULL. If the wishes cannot be met, error-\>detail says why, error-\>number is the number of slots that they need, and error-\>event is the text
    /// whose wish needs most of them. Equal input gives an equal schedule. @plan can be released before the schedule.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_INVAL     an argument is wrong
    ///   PFMLIB_ERR_NOASSIGN  no schedule meets the wishes
    ///   PFMLIB_ERR_FULL      none was found with this effort, and there may be one
    ///   PFMLIB_ERR_NOMEM     out of memory
    /// Thread-safe.
    pub fn pfm_create_schedule(
        out: *mut *mut pfm_schedule_t,
        plan: *const pfm_plan_t,
        wishes: *const pfm_wish_t,
        n_wishes: c_uint,
        options: *const pfm_schedule_options_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Describes @schedule. PFMLIB_ERR_INVAL for NULL or an invalid size. Thread-safe.
    pub fn pfm_describe_schedule(
        schedule: *const pfm_schedule_t,
        info: *mut pfm_schedule_info_t,
    ) -> c_int;
    /// Describes what text @i of the plan gets. PFMLIB_ERR_NOTFOUND past the last. Thread-safe.
    pub fn pfm_describe_scheduled_request(
        schedule: *const pfm_schedule_t,
        i: c_uint,
        request: *mut pfm_scheduled_request_t,
    ) -> c_int;
    /// The slot of the cycle at @time, in seconds since 1970, with the shift of the host: machines with the same plan, wishes and time count the same. Thread-safe.
    pub fn pfm_find_slot(schedule: *const pfm_schedule_t, time: f64) -> c_uint;
    /// 1 if group @group of the plan is counted in slot @slot, 0 if not, -1 if a number is out of range. Thread-safe.
    pub fn pfm_is_group_in_slot(
        schedule: *const pfm_schedule_t,
        slot: c_uint,
        group: c_uint,
    ) -> c_int;
    /// The groups with which group @group takes turns, as a number: equal for those that share a PMU. 0 if it is counted all the time. Thread-safe.
    pub fn pfm_get_group_turn(schedule: *const pfm_schedule_t, group: c_uint) -> c_uint;
    /// Releases @schedule. NULL is allowed.
    pub fn pfm_close_schedule(schedule: *mut pfm_schedule_t);
    /// Starts program @argv and counts it from its first instruction.
    /// @out      receives the session; release it with pfm_close_session()
    /// @ctx      a context, or NULL for the default one
    /// @options  as for pfm_open_session(), or NULL to count the program and its children. Without PFM_SESSION_INHERIT in flags, children are not counted. The members pid, cpus and cgroup, and the flags PFM_SESSION_SYSTEM_WIDE and PFM_SESSION_DRY_RUN must be 0
    /// @texts    @n events or groups, as for pfm_open_session()
    /// @argv     the program, which is searched in PATH, and its arguments; ends with NULL
    /// @pid      receives the process ID; the caller waits for it with waitpid(2)
    /// @error    filled on failure; may be NULL
    /// Counting starts with the program, without pfm_start_session(); pfm_stop_session() ends it. The program inherits the signal mask and the open files of the caller.
    /// Returns PFMLIB_SUCCESS after the child has executed the program. On failure, *@out is NULL, *@pid is 0, and no child process is left:
    ///   PFMLIB_ERR_INVAL  an argument is NULL or empty, or @options sets another target
    ///   PFMLIB_ERR_SYS    the program cannot be executed; see error-\>sys_errno
    ///   the codes of pfm_open_session()
    /// Thread-safe. It forks, so the handlers of pthread_atfork(3) run.
    pub fn pfm_spawn_session(
        out: *mut *mut pfm_session_t,
        ctx: *const pfm_ctx_t,
        options: *const pfm_session_options_t,
        texts: *const *const c_char,
        n: c_uint,
        argv: *const *mut c_char,
        pid: *mut c_int,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Waits until a buffer of @s reaches its watermark, a task ends, or @timeout milliseconds (-1: no limit) have passed. Returns PFM_WAIT_*, or a negative code: PFMLIB_ERR_INVAL if @s does not sample, PFMLIB_ERR_SYS if a system call fails.
    pub fn pfm_wait_session(s: *mut pfm_session_t, timeout: c_int) -> c_int;
    /// Takes the next record, the oldest of all buffers.
    /// @record  as PFM_INIT or the previous call left it; only members that differ are written
    /// With several buffers, a record is given one millisecond after its time, so that late records of other buffers can come first; a stopped session gives everything. Returns 1, 0 if no record is ready, or a negative code.
    pub fn pfm_next_record(s: *mut pfm_session_t, record: *mut pfm_record_t) -> c_int;
    /// Takes up to @n records, in the order of pfm_next_record(); about twice as fast per record.
    /// @records  zeroed, or as previous calls left them; the size of the first one is taken for all
    /// The records are valid until the next call; only then do the buffers reuse their space. Returns the number of records, 0 for none now, or a negative code. If it is less than @n, more records may follow.
    pub fn pfm_next_records(s: *mut pfm_session_t, records: *mut pfm_record_t, n: c_uint) -> c_int;
    /// Takes the contents of one buffer, undecoded: whole records, except that the last one may continue in the next piece of the same buffer, which then comes next.
    /// @bytes, @len  the piece, valid until the next call
    /// @buffer       the index of its buffer
    /// Not to be mixed with pfm_next_record(). Returns 1, 0 when every buffer was visited once (the next call starts again), or a negative code.
    pub fn pfm_next_bytes(
        s: *mut pfm_session_t,
        bytes: *mut *const c_void,
        len: *mut usize,
        buffer: *mut c_uint,
    ) -> c_int;
    /// Writes at most @n file descriptors, one per buffer, to @fds; poll(2) them for POLLIN. After POLLHUP a task has ended: call pfm_wait_session(@s, 0), then this function again. Returns how many there are.
    pub fn pfm_session_fds(s: *const pfm_session_t, fds: *mut c_int, n: c_uint) -> c_uint;
    /// Sends signal @signo to the calling thread with each sample; 0 turns that off.
    pub fn pfm_signal_session(s: *mut pfm_session_t, signo: c_int) -> c_int;
    /// Reports how many samples count @i has given and lost so far. The figures are consistent when the session is stopped and all records are taken. PFMLIB_ERR_INVAL if @s does not sample or @i is out of range.
    pub fn pfm_sampling_statistics(
        s: *mut pfm_session_t,
        i: c_uint,
        out: *mut pfm_sample_statistics_t,
    ) -> c_int;
    /// Reports on the buffers of @s, or on the recording that @s reads. PFMLIB_ERR_INVAL if @s does not sample.
    pub fn pfm_buffer_statistics(s: *const pfm_session_t, out: *mut pfm_buffer_info_t) -> c_int;
    /// Describes field @k of the tracepoint that count @i samples, from the kernel's description or the recording's. PFMLIB_ERR_NOTFOUND past the last, PFMLIB_ERR_NOTSUPP if the count is not a tracepoint or has no description.
    pub fn pfm_describe_trace_field(
        s: *mut pfm_session_t,
        i: c_uint,
        k: c_uint,
        out: *mut pfm_trace_field_t,
    ) -> c_int;
    /// Describes the field called @name; otherwise like pfm_describe_trace_field().
    pub fn pfm_find_trace_field(
        s: *mut pfm_session_t,
        i: c_uint,
        name: *const c_char,
        out: *mut pfm_trace_field_t,
    ) -> c_int;
    /// Reads @field of the sample @r.
    /// @value   receives a number of up to 8 bytes, sign-extended and in this machine's byte order; 0 for other fields
    /// @bytes, @length  receive its place in the sample
    /// Each of the three may be NULL. PFMLIB_ERR_NOTFOUND if the sample does not have the field.
    pub fn pfm_read_trace_field(
        s: *const pfm_session_t,
        r: *const pfm_record_t,
        field: *const pfm_trace_field_t,
        value: *mut u64,
        bytes: *mut *const c_void,
        length: *mut u32,
    ) -> c_int;
    /// Creates the recording @path of @s, in the format of perf-record(1); an existing file is overwritten.
    /// @out      receives the recording, NULL on failure; pfm_close_recording() completes and frees it
    /// @s        a session that samples; it must outlive the recording
    /// @command  command line to note in the file, arguments separated by newlines; or NULL
    /// @error    filled on failure; may be NULL
    /// Names and mappings of the tasks are written at once, so start the session first.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_INVAL    an argument is NULL, or @s does not sample
    ///   PFMLIB_ERR_NOTSUPP  samples of this session cannot be recorded
    ///   PFMLIB_ERR_NOMEM    out of memory
    ///   PFMLIB_ERR_SYS      the file cannot be written; see error-\>sys_errno
    pub fn pfm_create_recording(
        out: *mut *mut pfm_recording_t,
        path: *const c_char,
        s: *mut pfm_session_t,
        command: *const c_char,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Compresses what follows with zstd at @level 1 (fast) to 22 (small). Call it before the first pfm_write_records(). A compressed recording whose writer was killed can be read by this library only. PFMLIB_ERR_NOTSUPP without libzstd; the recording then stays uncompressed.
    pub fn pfm_compress_recording(r: *mut pfm_recording_t, level: c_int) -> c_int;
    /// Moves the contents of the session's buffers to the file, which is readable up to there from then on. *@size (@size may be NULL) receives the size of the file in bytes. Do not take records from the session by other calls. PFMLIB_ERR_SYS if writing fails.
    pub fn pfm_write_records(r: *mut pfm_recording_t, size: *mut u64) -> c_int;
    /// Writes what is left and the description of the machine, and frees the recording, also on failure. NULL is allowed. PFMLIB_ERR_SYS if writing fails.
    pub fn pfm_close_recording(r: *mut pfm_recording_t) -> c_int;
    /// Opens the recording @path, made by this library or perf-record(1) on any machine, as a session.
    /// @out    receives the session, NULL on failure; release it with pfm_close_session()
    /// @error  filled on failure; may be NULL
    /// pfm_next_record() gives its records sorted by time. Its events are described as counts, and have no values.
    /// Returns PFMLIB_SUCCESS, or
    ///   PFMLIB_ERR_INVAL    an argument is NULL, or the file is not a perf.data file, or corrupt
    ///   PFMLIB_ERR_NOTSUPP  compressed, and libzstd is missing
    ///   PFMLIB_ERR_NOMEM    out of memory
    ///   PFMLIB_ERR_SYS      the file cannot be read; see error-\>sys_errno
    pub fn pfm_open_recording(
        out: *mut *mut pfm_session_t,
        path: *const c_char,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Begin and end a visit of @region in the calling thread. Visits may nest to any depth, recurse, and overlap: pfm_end_region() ends the innermost open visit of its region. An end without a begin has no effect and is reported as unmatched. Neither call changes errno. Both are async-signal-safe once pfm_start_regions() has returned or a region has been entered.
    pub fn pfm_begin_region(region: *mut pfm_region_t);
    /// Begin and end a visit of @region in the calling thread. Visits may nest to any depth, recurse, and overlap: pfm_end_region() ends the innermost open visit of its region. An end without a begin has no effect and is reported as unmatched. Neither call changes errno. Both are async-signal-safe once pfm_start_regions() has returned or a region has been entered.
    pub fn pfm_end_region(region: *mut pfm_region_t);
    /// Returns the region called @name, for names that the program creates at run time. The same name gives the same pointer, which is valid until the process ends. NULL if memory is exhausted.
    pub fn pfm_find_region(name: *const c_char) -> *mut pfm_region_t;
    /// Begins a visit. Returns NULL, which the calls below accept, if regions are not counted.
    pub fn pfm_enter_region(region: *mut pfm_region_t) -> *mut pfm_region_visit_t;
    /// pfm_suspend_region() stops counting the visit in the calling thread, and pfm_resume_region() continues it in the calling thread. The results report a visit that moves to another thread without these two calls as not counted.
    pub fn pfm_suspend_region(visit: *mut pfm_region_visit_t);
    /// pfm_suspend_region() stops counting the visit in the calling thread, and pfm_resume_region() continues it in the calling thread. The results report a visit that moves to another thread without these two calls as not counted.
    pub fn pfm_resume_region(visit: *mut pfm_region_visit_t);
    /// Ends the visit and releases the handle. Its exclusive counts equal its inclusive counts, because it is not nested in other visits of the thread.
    pub fn pfm_leave_region(visit: *mut pfm_region_visit_t);
    /// Sets the counts of @region in the calling thread to zero. Open visits continue.
    pub fn pfm_reset_region(region: *mut pfm_region_t);
    /// Starts counting.
    /// @options  NULL for the defaults
    /// @error    filled on failure; may be NULL
    /// The events of the first start stay the same until the process ends: a later call with other events returns PFMLIB_ERR_INVAL, and a later call without events continues after pfm_stop_regions(). The call succeeds if some events cannot be counted; pfm_describe_region_event() gives the reason.
    pub fn pfm_start_regions(
        options: *const pfm_regions_options_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Stops counting. Discards open visits and keeps the results.
    pub fn pfm_stop_regions();
    /// Gives the cost of an empty visit in nanoseconds: the time that it measures inside, and the time that one begin and end add to an enclosing region. 0 before the first start. Each pointer may be NULL.
    pub fn pfm_region_cost(inside: *mut f64, pair: *mut f64);
    /// Number of events, number of metrics, and description of event @i. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_count_region_events() -> c_uint;
    /// Number of events, number of metrics, and description of event @i. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_count_region_metrics() -> c_uint;
    /// Number of events, number of metrics, and description of event @i. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_region_event(i: c_uint, event: *mut pfm_region_event_t) -> c_int;
    /// Returns the results so far, including those of running threads; release them with pfm_close_region_results(). NULL before the first start and if memory is exhausted.
    pub fn pfm_read_regions() -> *mut pfm_region_results_t;
    /// Describes row @i. Rows are in the order in which regions were first entered: for each region, all threads together, then each thread. PFMLIB_ERR_NOTFOUND past the last. Strings live until the process ends.
    pub fn pfm_describe_region(
        results: *const pfm_region_results_t,
        i: c_uint,
        info: *mut pfm_region_info_t,
    ) -> c_int;
    /// Gives the count of event @event in row @i. PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_region_count(
        results: *const pfm_region_results_t,
        i: c_uint,
        event: c_uint,
        count: *mut pfm_region_count_t,
    ) -> c_int;
    /// Gives metric @metric in row @i and its name in *@name. pfm_compute_metric() computes the value from the mean counts of a visit.
    pub fn pfm_region_metric(
        results: *const pfm_region_results_t,
        i: c_uint,
        metric: c_uint,
        name: *mut *const c_char,
        out: *mut pfm_session_metric_t,
    ) -> c_int;
    /// Reads results from the file of sums open as @fd (perfmon_regions(5)), also while its process adds to it. Release *@results with pfm_close_region_results(). PFMLIB_ERR_INVAL if the file is damaged or not such a file.
    pub fn pfm_load_regions(
        fd: c_int,
        results: *mut *mut pfm_region_results_t,
        error: *mut pfm_error_t,
    ) -> c_int;
    /// Adds the visits in @from to those in @to, region by region, in rows of all threads together; rows of single threads and visits for "chrome" and "firefox" leave @to. Both are from pfm_load_regions(), and count the same events: otherwise PFMLIB_ERR_INVAL, with @to unchanged. After PFMLIB_ERR_NOMEM a part has been added.
    pub fn pfm_add_region_results(
        to: *mut pfm_region_results_t,
        from: *const pfm_region_results_t,
    ) -> c_int;
    /// Gives the region of row @i another name, in all rows. For results of pfm_load_regions(): names of places in programs become those of functions. Names must differ; strings of the region that pfm_describe_region() has returned become invalid. PFMLIB_ERR_NOTFOUND past the last row, PFMLIB_ERR_INVAL for other results, PFMLIB_ERR_NOMEM.
    pub fn pfm_rename_region(
        results: *mut pfm_region_results_t,
        i: c_uint,
        name: *const c_char,
    ) -> c_int;
    /// Describes the process of @results.
    pub fn pfm_describe_region_process(
        results: *const pfm_region_results_t,
        process: *mut pfm_region_process_t,
    ) -> c_int;
    /// Writes the results to file descriptor @fd in a format of pfm_regions_options_t. PFMLIB_ERR_INVAL for an unknown format, and for "chrome" and "firefox" if visits were not kept.
    pub fn pfm_write_regions(
        results: *const pfm_region_results_t,
        fd: c_int,
        format: *const c_char,
    ) -> c_int;
    /// Writes the results to file descriptor @fd in a format of pfm_regions_options_t. PFMLIB_ERR_INVAL for an unknown format, and for "chrome" and "firefox" if visits were not kept.
    pub fn pfm_close_region_results(results: *mut pfm_region_results_t);
    /// Checks what this machine can count, who may count it, and what prevents counting.
    /// @out    receives the findings; release them with pfm_close_system_check()
    /// @ctx    the context to check; NULL for the default context
    /// @flags  PFM_CHECK_NO_WORKLOAD, or 0
    /// The function opens events, and counts basic events over a known workload of about 20 ms each. If PERFMON_SYSFS names a recorded machine, it only reads files.
    /// Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL (@out is NULL, unknown flag) or PFMLIB_ERR_NOMEM. Thread-safe.
    pub fn pfm_check_system(
        out: *mut *mut pfm_system_check_t,
        ctx: *const pfm_ctx_t,
        flags: c_uint,
    ) -> c_int;
    /// Describes finding @i, in the order of the checks.
    /// Set @finding-\>size before the call. The strings live as long as @check. Returns PFMLIB_SUCCESS, PFMLIB_ERR_INVAL, or PFMLIB_ERR_NOTFOUND past the last.
    pub fn pfm_describe_finding(
        check: *const pfm_system_check_t,
        i: c_uint,
        finding: *mut pfm_finding_t,
    ) -> c_int;
    /// Releases the findings. NULL is allowed.
    pub fn pfm_close_system_check(check: *mut pfm_system_check_t);
    /// Describes event @idx of @pmu, a PFMLIB_ALPHA_*_PMU (pfm_get_pmu_type() gives the selected one). The strings are constant.
    /// Returns PFMLIB_ERR_NOTSUPP if @pmu is not an Alpha, PFMLIB_ERR_INVAL if @idx is out of range. Since 1.0.
    pub fn pfm_alpha_get_event_info(
        pmu: c_int,
        idx: c_uint,
        info: *mut pfm_alpha_event_info_t,
    ) -> c_int;
    /// Kind of an event, as 1 or 0. They return 0 for events that do not exist.
    pub fn pfm_alpha_is_profileme(pmu: c_int, idx: c_uint) -> c_int;
    /// a statistic, a ratio or a counting mode of ProfileMe
    pub fn pfm_alpha_is_ratio(pmu: c_int, idx: c_uint) -> c_int;
    /// a statistic, a ratio or a counting mode of ProfileMe
    pub fn pfm_alpha_is_pair(pmu: c_int, idx: c_uint) -> c_int;
    /// Gives the select value of an event on @counter, and its select in the cache box (0 for none).
    /// Returns PFMLIB_ERR_INVAL if the counter cannot count the event. Since 1.0.
    pub fn pfm_alpha_get_event_select(
        pmu: c_int,
        idx: c_uint,
        counter: c_uint,
        select: *mut c_uint,
        cbox: *mut c_uint,
    ) -> c_int;
    /// Gives the constant of an event on @counter in the header, "" for none. Since 1.0.
    pub fn pfm_alpha_get_event_constant(
        pmu: c_int,
        idx: c_uint,
        counter: c_uint,
        constant: *mut *const c_char,
    ) -> c_int;
    /// Gives event number @n (from 0) of those that can be measured together with event @idx, each on its own counter.
    /// Returns PFMLIB_ERR_NOTFOUND past the last. Since 1.0.
    pub fn pfm_alpha_get_event_partner(
        pmu: c_int,
        idx: c_uint,
        n: c_uint,
        partner: *mut c_uint,
    ) -> c_int;
    /// Number of counters, and width of one in bits. They return 0 if @pmu is not an Alpha or does not have the counter.
    pub fn pfm_alpha_num_counters(pmu: c_int) -> c_uint;
    /// Number of counters, and width of one in bits. They return 0 if @pmu is not an Alpha or does not have the counter.
    pub fn pfm_alpha_counter_width(pmu: c_int, counter: c_uint) -> c_uint;
    /// Interrupt rate number @n of a counter, slowest first; 0 past the last. EV6 and later have one rate, and start values.
    pub fn pfm_alpha_rate(pmu: c_int, counter: c_uint, n: c_uint) -> u64;
    /// Makes the rate bits of ICCSR (EV4), or the word for PCNT5FREQ (EV5, PCA56), from the rates of the counters in @counters.
    /// Other counters get the slow rate. EV6 and later have no such word: the result is 0 if the rate is 2^20. Returns PFMLIB_ERR_INVAL if a counter does not have the rate. Since 1.0.
    pub fn pfm_alpha_rate_word(
        pmu: c_int,
        rates: *const u64,
        counters: c_uint,
        word: *mut u64,
        privileged: *mut c_int,
    ) -> c_int;
    /// Decodes a PCNT5FREQ word like the driver: the argument of wrperfmon 4, and whether the driver requires privilege.
    pub fn pfm_alpha_driver_rates(word: u64, a1: *mut u64, privileged: *mut c_int);
    /// CTL fields, at their positions in PMCTR, of the counters in @counters after a start with rates
    /// @a1.
    pub fn pfm_alpha_pmctr_ctl(a1: u64, counters: c_uint) -> u64;
    /// Makes the counter word for the counters @select of processor @cpu (PMCTRS_ALL_CPUS for all) with
    /// @values.
    /// Returns PFMLIB_ERR_NOTSUPP for EV4, PFMLIB_ERR_INVAL for a value that does not fit. Since 1.0.
    pub fn pfm_alpha_counter_word(
        pmu: c_int,
        select: c_uint,
        cpu: c_uint,
        values: *const u64,
        word: *mut u64,
    ) -> c_int;
    /// Decodes a counter word. Any result pointer may be NULL.
    pub fn pfm_alpha_split_counter_word(
        pmu: c_int,
        word: u64,
        select: *mut c_uint,
        cpu: *mut c_uint,
        values: *mut u64,
    ) -> c_int;
    /// Gives the value from which a counter of @width bits overflows after @period events, 1 to 2^width. PFMLIB_ERR_INVAL for other periods.
    pub fn pfm_alpha_start_value(width: c_uint, period: u64, value: *mut u64) -> c_int;
    /// Makes the word for PCNT5CTXTS that counts only in @modes; PFM_ALPHA_SCOPE_PROCESS adds the mark of this process.
    /// Returns PFMLIB_ERR_NOTSUPP if the chip cannot count these modes without others. Since 1.0.
    pub fn pfm_alpha_mode_word(modes: c_uint, scope: c_uint, word: *mut u64) -> c_int;
    /// Decodes such a word: returns the modes, whether only marked processes are counted (@select), and whether the request marks the caller (@marks).
    pub fn pfm_alpha_word_modes(word: u64, select: *mut c_int, marks: *mut c_int) -> c_uint;
    /// Translates a device request into a wrperfmon call. PFMLIB_ERR_NOTSUPP for requests that do not correspond to one call with one argument.
    pub fn pfm_alpha_device_call(
        pmu: c_int,
        request: u32,
        word: u64,
        call: *mut pfmlib_alpha_call_t,
    ) -> c_int;
    /// Gives the select word of ProfileMe counting mode @mode, 0 to 3.
    pub fn pfm_alpha_pm_mode_word(mode: c_uint, word: *mut u64) -> c_int;
    /// Gives request number @i (from 0), or the request called @name. PFMLIB_ERR_NOTFOUND past the last, and for an unknown name.
    pub fn pfm_alpha_request(i: c_uint, out: *mut pfm_alpha_request_t) -> c_int;
    /// Gives request number @i (from 0), or the request called @name. PFMLIB_ERR_NOTFOUND past the last, and for an unknown name.
    pub fn pfm_alpha_find_request(name: *const c_char, out: *mut pfm_alpha_request_t) -> c_int;
    /// Gives the value of a mask in the system's header ("PF5_WRITE_KMASK" ...). PFMLIB_ERR_NOTFOUND for an unknown name.
    pub fn pfm_alpha_mask(name: *const c_char, value: *mut u64) -> c_int;
    /// Gives the number of bytes of samples that read(2) returns for the range \[@start, @end).
    /// Returns PFMLIB_ERR_INVAL if the range is empty, or the stride is neither 0 nor a power of two. Since 1.0.
    pub fn pfm_alpha_sample_bytes(
        start: u64,
        end: u64,
        stride: u64,
        open: c_uint,
        n_cpus: c_uint,
        bytes: *mut u64,
    ) -> c_int;
    /// Bucket that covers @pc, in a range that begins at @start.
    pub fn pfm_alpha_bucket(start: u64, stride: u64, pc: u64) -> u64;
    /// Entry of struct pfipls that counts an interrupt.
    pub fn pfm_alpha_level_entry(user: c_int, idle: c_int, ipl: c_uint) -> c_uint;
    /// Decodes the arguments of an interrupt handler. @regs holds a0, a1 and a2 of Digital UNIX, or R4 of OpenVMS.
    /// Returns PFMLIB_ERR_NOTFOUND if the interrupt does not belong to a counter, PFMLIB_ERR_INVAL if
    /// @pmu does not have the counter. Since 1.0.
    pub fn pfm_alpha_decode_interrupt(
        pmu: c_int,
        os: c_int,
        regs: *const u64,
        out: *mut pfm_alpha_interrupt_t,
    ) -> c_int;
    /// Name of statistic @n, 0 (none) to 43, in the header; NULL past the last.
    pub fn pfm_alpha_statistic_name(n: c_uint) -> *const c_char;
    /// Number of the statistic called @name, with or without the prefix PF67_PM_; -1 if it is unknown.
    pub fn pfm_alpha_find_statistic(name: *const c_char) -> c_int;
    /// Computes a *_PER_RET statistic, as numerator and denominator, from the pair that the driver returns.
    /// Returns PFMLIB_ERR_INVAL if the statistic is not a ratio, PFMLIB_ERR_NOTFOUND if no instruction retired. Since 1.0.
    pub fn pfm_alpha_ratio(
        statistic: c_uint,
        count: u64,
        retired: u64,
        num: *mut u64,
        den: *mut u64,
    ) -> c_int;
    /// Decodes the three registers of a sample: @i_stat is the result of wrperfmon 8, @pmpc that of 9, and @pctr_ctl that of 5.
    /// @i_stat and @pmpc are valid only after an interrupt of the window. Pass 0 for a value that is not
    /// available. Since 1.0.
    pub fn pfm_alpha_decode_sample(
        i_stat: u64,
        pmpc: u64,
        pctr_ctl: u64,
        out: *mut pfm_alpha_sample_t,
    );
    /// Statistics that I_STAT, PMPC or PCTR_CTL implies: bit n is statistic n.
    pub fn pfm_alpha_i_stat_statistics(i_stat: u64) -> u64;
    /// Statistics that I_STAT, PMPC or PCTR_CTL implies: bit n is statistic n.
    pub fn pfm_alpha_pmpc_statistics(pmpc: u64) -> u64;
    /// Statistics that I_STAT, PMPC or PCTR_CTL implies: bit n is statistic n.
    pub fn pfm_alpha_pctr_ctl_statistics(pctr_ctl: u64) -> u64;
    /// Gives the driver's raw number for a perf_event_attr type and config, and the counter and mode word of the event alone.
    /// Returns 0 or the negative errno of perf_event_open(2). The result pointers may be NULL. Since 1.0.
    pub fn pfm_alpha_linux_event(
        r#type: u32,
        config: u64,
        raw: *mut c_uint,
        counter: *mut c_uint,
        mode: *mut u64,
    ) -> c_int;
    /// Gives the counters and the mode word of two events in a group. -EINVAL if they cannot be counted together.
    pub fn pfm_alpha_linux_pair(raw: *const c_uint, counter: *mut c_uint, mode: *mut u64) -> c_int;
    /// Gives the wrperfmon call with which the driver loads @counter so that it overflows after @period events.
    pub fn pfm_alpha_linux_write(
        counter: c_uint,
        period: u64,
        call: *mut pfmlib_alpha_call_t,
    ) -> c_int;
    /// Number of entries of the results: processors with PFM_ALPHA_OPEN_EACH, otherwise 1. Negative for sessions of another backend.
    pub fn pfm_alpha_session_entries(s: *const pfm_session_t) -> c_int;
    /// Gives the count of event @i in entry @entry: events, not interrupts.
    pub fn pfm_alpha_session_count(
        s: *mut pfm_session_t,
        entry: c_uint,
        i: c_uint,
        value: *mut u64,
    ) -> c_int;
    /// Gives the process cycles of an entry, as the device counts them.
    pub fn pfm_alpha_session_cycles(
        s: *mut pfm_session_t,
        entry: c_uint,
        cycles: *mut u64,
    ) -> c_int;
    /// Gives the interrupts at each level. PFMLIB_ERR_INVAL without PFM_IPL.
    pub fn pfm_alpha_session_levels(
        s: *mut pfm_session_t,
        entry: c_uint,
        out: *mut c_void,
    ) -> c_int;
    /// Gives the number of bytes of samples; 0 without PFM_PROFILING.
    pub fn pfm_alpha_session_sample_bytes(s: *mut pfm_session_t, bytes: *mut u64) -> c_int;
    /// Reads the samples of all entries, one block of buckets after the other. Returns the number of buckets, or a negative code.
    pub fn pfm_alpha_session_samples(
        s: *mut pfm_session_t,
        buckets: *mut c_void,
        n: usize,
    ) -> c_int;
    /// ProfileMe: gives the statistic and the retired instructions that the device returned. PFMLIB_ERR_INVAL for sessions of another backend.
    pub fn pfm_alpha_session_pair(
        s: *mut pfm_session_t,
        entry: c_uint,
        statistic: *mut u64,
        retired: *mut u64,
    ) -> c_int;
    /// Decode a data EAR sample from PMD32, PMD33 and PMD36.
    /// @mode must be the mode of the register, because the sample does not contain it. All members of
    /// *@out are written.
    /// Returns PFMLIB_ERR_INVAL for NULL or an unknown mode. Since 1.0.
    pub fn pfm_mont_decode_dear(
        mode: pfmlib_mont_ear_mode_t,
        pmd32: u64,
        pmd33: u64,
        pmd36: u64,
        out: *mut pfmlib_mont_dear_sample_t,
    ) -> c_int;
    /// Decode a code EAR sample from PMD34 and PMD35.
    /// Like pfm_mont_decode_dear(). Returns PFMLIB_ERR_INVAL for PFMLIB_MONT_EAR_ALAT_MODE. Since 1.0.
    pub fn pfm_mont_decode_iear(
        mode: pfmlib_mont_ear_mode_t,
        pmd34: u64,
        pmd35: u64,
        out: *mut pfmlib_mont_iear_sample_t,
    ) -> c_int;
    /// Decode the trace buffer of branches.
    /// @pmd38  index register
    /// @pmd39  extension register
    /// @pmds   PMD48 to PMD63
    /// @out    the branches, oldest first; room for 16
    /// @n      number of branches that were written
    /// A source and the next target form one branch. Entries that the hardware marked as empty are omitted. Returns PFMLIB_ERR_INVAL for NULL. Since 1.0.
    pub fn pfm_mont_decode_etb(
        pmd38: u64,
        pmd39: u64,
        pmds: *const u64,
        out: *mut pfmlib_mont_branch_t,
        n: *mut c_uint,
    ) -> c_int;
    /// Decode the trace buffer of retired instructions (IP-EAR). Arguments and results are those of pfm_mont_decode_etb().
    /// Since 1.0.
    pub fn pfm_mont_decode_ipear(
        pmd38: u64,
        pmd39: u64,
        pmds: *const u64,
        out: *mut pfmlib_mont_ip_t,
        n: *mut c_uint,
    ) -> c_int;
    pub static perfmon_regions_active: c_int;
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::mem::{align_of, size_of};

    #[test]
    fn structs_have_the_sizes_of_c() {
        assert_eq!((size_of::<pfmlib_regmask_t>(), align_of::<pfmlib_regmask_t>()), (64, 8));
        assert_eq!((size_of::<pfmlib_reg_t>(), align_of::<pfmlib_reg_t>()), (32, 8));
        assert_eq!((size_of::<pfm_error_t>(), align_of::<pfm_error_t>()), (192, 8));
        assert_eq!((size_of::<pfm_ctx_options_t>(), align_of::<pfm_ctx_options_t>()), (72, 8));
        assert_eq!((size_of::<perfmon_pmu_info_t>(), align_of::<perfmon_pmu_info_t>()), (96, 8));
        assert_eq!((size_of::<perfmon_event_info_t>(), align_of::<perfmon_event_info_t>()), (136, 8));
        assert_eq!((size_of::<pfm_umask_info_t>(), align_of::<pfm_umask_info_t>()), (56, 8));
        assert_eq!((size_of::<pfm_modifier_info_t>(), align_of::<pfm_modifier_info_t>()), (40, 8));
        assert_eq!((size_of::<pfm_rule_info_t>(), align_of::<pfm_rule_info_t>()), (152, 8));
        assert_eq!((size_of::<pfm_erratum_t>(), align_of::<pfm_erratum_t>()), (80, 8));
        assert_eq!((size_of::<pfm_reg_t>(), align_of::<pfm_reg_t>()), (64, 8));
        assert_eq!((size_of::<perfmon_attr_t>(), align_of::<perfmon_attr_t>()), (80, 8));
        assert_eq!((size_of::<pfm_alternative_t>(), align_of::<pfm_alternative_t>()), (40, 8));
        assert_eq!((size_of::<pfm_encoding_t>(), align_of::<pfm_encoding_t>()), (792, 8));
        assert_eq!((size_of::<pfm_dispatch_options_t>(), align_of::<pfm_dispatch_options_t>()), (48, 8));
        assert_eq!((size_of::<pfm_set_t>(), align_of::<pfm_set_t>()), (48, 8));
        assert_eq!((size_of::<pfm_decoded_event_t>(), align_of::<pfm_decoded_event_t>()), (288, 8));
        assert_eq!((size_of::<pfm_metric_info_t>(), align_of::<pfm_metric_info_t>()), (72, 8));
        assert_eq!((size_of::<pfm_metric_input_t>(), align_of::<pfm_metric_input_t>()), (728, 8));
        assert_eq!((size_of::<pfm_metric_operand_t>(), align_of::<pfm_metric_operand_t>()), (24, 8));
        assert_eq!((size_of::<pfm_metric_data_t>(), align_of::<pfm_metric_data_t>()), (48, 8));
        assert_eq!((size_of::<pfm_metric_value_t>(), align_of::<pfm_metric_value_t>()), (56, 8));
        assert_eq!((size_of::<pfm_metric_check_t>(), align_of::<pfm_metric_check_t>()), (40, 8));
        assert_eq!((size_of::<pfm_sampling_t>(), align_of::<pfm_sampling_t>()), (96, 8));
        assert_eq!((size_of::<pfm_count_t>(), align_of::<pfm_count_t>()), (64, 8));
        assert_eq!((size_of::<pfm_count_info_t>(), align_of::<pfm_count_info_t>()), (168, 8));
        assert_eq!((size_of::<pfm_session_options_t>(), align_of::<pfm_session_options_t>()), (72, 8));
        assert_eq!((size_of::<pfm_session_metric_t>(), align_of::<pfm_session_metric_t>()), (88, 8));
        assert_eq!((size_of::<pfm_count_part_t>(), align_of::<pfm_count_part_t>()), (24, 8));
        assert_eq!((size_of::<pfm_input_count_t>(), align_of::<pfm_input_count_t>()), (64, 8));
        assert_eq!((size_of::<pfm_metric_counts_t>(), align_of::<pfm_metric_counts_t>()), (40, 8));
        assert_eq!((size_of::<pfm_count_sum_t>(), align_of::<pfm_count_sum_t>()), (112, 8));
        assert_eq!((size_of::<pfm_tally_t>(), align_of::<pfm_tally_t>()), (144, 8));
        assert_eq!((size_of::<pfm_cpu_info_t>(), align_of::<pfm_cpu_info_t>()), (24, 8));
        assert_eq!((size_of::<pfm_metric_ref_t>(), align_of::<pfm_metric_ref_t>()), (8, 4));
        assert_eq!((size_of::<pfm_plan_options_t>(), align_of::<pfm_plan_options_t>()), (40, 8));
        assert_eq!((size_of::<pfm_plan_info_t>(), align_of::<pfm_plan_info_t>()), (40, 8));
        assert_eq!((size_of::<pfm_planned_event_t>(), align_of::<pfm_planned_event_t>()), (56, 8));
        assert_eq!((size_of::<pfm_wish_t>(), align_of::<pfm_wish_t>()), (16, 8));
        assert_eq!((size_of::<pfm_schedule_options_t>(), align_of::<pfm_schedule_options_t>()), (40, 8));
        assert_eq!((size_of::<pfm_schedule_info_t>(), align_of::<pfm_schedule_info_t>()), (40, 8));
        assert_eq!((size_of::<pfm_scheduled_request_t>(), align_of::<pfm_scheduled_request_t>()), (32, 8));
        assert_eq!((size_of::<pfm_branch_t>(), align_of::<pfm_branch_t>()), (24, 8));
        assert_eq!((size_of::<pfm_regs_t>(), align_of::<pfm_regs_t>()), (24, 8));
        assert_eq!((size_of::<pfm_sample_t>(), align_of::<pfm_sample_t>()), (264, 8));
        assert_eq!((size_of::<pfm_map_t>(), align_of::<pfm_map_t>()), (80, 8));
        assert_eq!((size_of::<pfm_comm_t>(), align_of::<pfm_comm_t>()), (8, 8));
        assert_eq!((size_of::<pfm_parent_t>(), align_of::<pfm_parent_t>()), (8, 4));
        assert_eq!((size_of::<pfm_lost_t>(), align_of::<pfm_lost_t>()), (8, 8));
        assert_eq!((size_of::<pfm_read_values_t>(), align_of::<pfm_read_values_t>()), (24, 8));
        assert_eq!((size_of::<pfm_aux_t>(), align_of::<pfm_aux_t>()), (24, 8));
        assert_eq!((size_of::<pfm_switch_t>(), align_of::<pfm_switch_t>()), (8, 4));
        assert_eq!((size_of::<pfm_namespaces_t>(), align_of::<pfm_namespaces_t>()), (16, 8));
        assert_eq!((size_of::<pfm_ksymbol_t>(), align_of::<pfm_ksymbol_t>()), (24, 8));
        assert_eq!((size_of::<pfm_bpf_t>(), align_of::<pfm_bpf_t>()), (16, 8));
        assert_eq!((size_of::<pfm_cgroup_t>(), align_of::<pfm_cgroup_t>()), (16, 8));
        assert_eq!((size_of::<pfm_text_poke_t>(), align_of::<pfm_text_poke_t>()), (24, 8));
        assert_eq!((size_of::<pfm_aux_id_t>(), align_of::<pfm_aux_id_t>()), (8, 8));
        assert_eq!((size_of::<pfm_deferred_chain_t>(), align_of::<pfm_deferred_chain_t>()), (24, 8));
        assert_eq!((size_of::<pfm_record_body_t>(), align_of::<pfm_record_body_t>()), (264, 8));
        assert_eq!((size_of::<pfm_record_t>(), align_of::<pfm_record_t>()), (352, 8));
        assert_eq!((size_of::<pfm_sample_statistics_t>(), align_of::<pfm_sample_statistics_t>()), (104, 8));
        assert_eq!((size_of::<pfm_buffer_info_t>(), align_of::<pfm_buffer_info_t>()), (48, 8));
        assert_eq!((size_of::<pfm_trace_field_t>(), align_of::<pfm_trace_field_t>()), (40, 8));
        assert_eq!((size_of::<pfm_region_t>(), align_of::<pfm_region_t>()), (16, 8));
        assert_eq!((size_of::<pfm_regions_options_t>(), align_of::<pfm_regions_options_t>()), (40, 8));
        assert_eq!((size_of::<pfm_region_info_t>(), align_of::<pfm_region_info_t>()), (144, 8));
        assert_eq!((size_of::<pfm_region_count_t>(), align_of::<pfm_region_count_t>()), (112, 8));
        assert_eq!((size_of::<pfm_region_event_t>(), align_of::<pfm_region_event_t>()), (96, 8));
        assert_eq!((size_of::<pfm_region_process_t>(), align_of::<pfm_region_process_t>()), (64, 8));
        assert_eq!((size_of::<pfm_finding_t>(), align_of::<pfm_finding_t>()), (88, 8));
        assert_eq!((size_of::<addr_range_t>(), align_of::<addr_range_t>()), (32, 8));
        assert_eq!((size_of::<pfmlib_alpha_range_t>(), align_of::<pfmlib_alpha_range_t>()), (16, 8));
        assert_eq!((size_of::<pfmlib_alpha_input_param_t>(), align_of::<pfmlib_alpha_input_param_t>()), (240, 8));
        assert_eq!((size_of::<pfmlib_alpha_call_t>(), align_of::<pfmlib_alpha_call_t>()), (16, 8));
        assert_eq!((size_of::<pfmlib_alpha_ioctl_t>(), align_of::<pfmlib_alpha_ioctl_t>()), (56, 8));
        assert_eq!((size_of::<pfmlib_alpha_output_param_t>(), align_of::<pfmlib_alpha_output_param_t>()), (1624, 8));
        assert_eq!((size_of::<pfm_alpha_event_info_t>(), align_of::<pfm_alpha_event_info_t>()), (72, 8));
        assert_eq!((size_of::<pfm_alpha_request_t>(), align_of::<pfm_alpha_request_t>()), (16, 8));
        assert_eq!((size_of::<pfm_alpha_interrupt_t>(), align_of::<pfm_alpha_interrupt_t>()), (24, 8));
        assert_eq!((size_of::<pfm_alpha_sample_t>(), align_of::<pfm_alpha_sample_t>()), (80, 8));
        assert_eq!((size_of::<pfm_alpha_device_t>(), align_of::<pfm_alpha_device_t>()), (72, 8));
        assert_eq!((size_of::<pfm_alpha_session_t>(), align_of::<pfm_alpha_session_t>()), (40, 8));
        assert_eq!((size_of::<pfmlib_coreduo_counter_t>(), align_of::<pfmlib_coreduo_counter_t>()), (16, 8));
        assert_eq!((size_of::<pfmlib_coreduo_input_param_t>(), align_of::<pfmlib_coreduo_input_param_t>()), (64, 8));
        assert_eq!((size_of::<pfmlib_coreduo_output_param_t>(), align_of::<pfmlib_coreduo_output_param_t>()), (64, 8));
        assert_eq!((size_of::<pfmlib_mont_counter_t>(), align_of::<pfmlib_mont_counter_t>()), (8, 4));
        assert_eq!((size_of::<pfmlib_mont_opcm_t>(), align_of::<pfmlib_mont_opcm_t>()), (24, 8));
        assert_eq!((size_of::<pfmlib_mont_etb_t>(), align_of::<pfmlib_mont_etb_t>()), (16, 4));
        assert_eq!((size_of::<pfmlib_mont_ipear_t>(), align_of::<pfmlib_mont_ipear_t>()), (12, 4));
        assert_eq!((size_of::<pfmlib_mont_ear_t>(), align_of::<pfmlib_mont_ear_t>()), (24, 8));
        assert_eq!((size_of::<pfmlib_mont_input_rr_desc_t>(), align_of::<pfmlib_mont_input_rr_desc_t>()), (24, 8));
        assert_eq!((size_of::<pfmlib_mont_output_rr_desc_t>(), align_of::<pfmlib_mont_output_rr_desc_t>()), (16, 8));
        assert_eq!((size_of::<pfmlib_mont_input_rr_t>(), align_of::<pfmlib_mont_input_rr_t>()), (112, 8));
        assert_eq!((size_of::<pfmlib_mont_output_rr_t>(), align_of::<pfmlib_mont_output_rr_t>()), (328, 8));
        assert_eq!((size_of::<pfmlib_mont_input_param_t>(), align_of::<pfmlib_mont_input_param_t>()), (464, 8));
        assert_eq!((size_of::<pfmlib_mont_output_param_t>(), align_of::<pfmlib_mont_output_param_t>()), (704, 8));
        assert_eq!((size_of::<pfmlib_mont_dear_sample_t>(), align_of::<pfmlib_mont_dear_sample_t>()), (32, 8));
        assert_eq!((size_of::<pfmlib_mont_iear_sample_t>(), align_of::<pfmlib_mont_iear_sample_t>()), (24, 8));
        assert_eq!((size_of::<pfmlib_mont_branch_t>(), align_of::<pfmlib_mont_branch_t>()), (24, 8));
        assert_eq!((size_of::<pfmlib_mont_ip_t>(), align_of::<pfmlib_mont_ip_t>()), (24, 8));
        assert_eq!((size_of::<pfm_profile_options_t>(), align_of::<pfm_profile_options_t>()), (64, 8));
        assert_eq!((size_of::<pfm_profile_info_t>(), align_of::<pfm_profile_info_t>()), (80, 8));
        assert_eq!((size_of::<pfm_profile_event_t>(), align_of::<pfm_profile_event_t>()), (48, 8));
        assert_eq!((size_of::<pfm_function_t>(), align_of::<pfm_function_t>()), (104, 8));
        assert_eq!((size_of::<pfm_stack_t>(), align_of::<pfm_stack_t>()), (64, 8));
        assert_eq!((size_of::<pfm_frame_t>(), align_of::<pfm_frame_t>()), (48, 8));
        assert_eq!((size_of::<pfm_symbol_t>(), align_of::<pfm_symbol_t>()), (72, 8));
    }
}
