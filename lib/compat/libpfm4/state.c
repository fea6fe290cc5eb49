/* SPDX-License-Identifier: MIT */
/* State of pfm_initialize(): the environment and, once needed, the PMUs of this machine. Every word
 * is atomic and independent of the others, so readers take no lock and may run while another thread
 * terminates and initialises again. */
#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"

#define N_PMU_WORDS ((L4_MAX_PMU_ID + 31) / 32)

enum { OS_UNKNOWN, OS_ABSENT, OS_PRESENT };

static struct {
	pthread_mutex_t lock; /* held while other members are changed */
	atomic_int ready;
	atomic_uint pmu_end; /* PMUs from here on do not exist */
	_Atomic uint32_t disabled_pmus[N_PMU_WORDS], active_pmus[N_PMU_WORDS];
	atomic_int is_detected; /* active_pmus is valid */
	atomic_int os_state, is_exact, encodes_inactive, is_verbose, to_stdout;
	atomic_uint arch_pmu; /* version, missing events, counters: one byte each */
	atomic_uint core_levels, event_lists;
	char cpuid[96], cpuinfo[256]; /* read with the lock held */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

void l4_print_message(const char *format, ...)
{
	va_list ap;

	if (!atomic_load(&state.is_verbose))
		return;
	va_start(ap, format);
	vfprintf(atomic_load(&state.to_stdout) ? stdout : stderr, format, ap);
	va_end(ap);
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool is_env_option_on(const char *name)
{
	const char *v = getenv(name);

	return v && *v >= '1' && *v <= '9';
}

/* Copies a text and truncates it to @size bytes with the NUL. The first snprintf() of a process
 * would cost more than the rest of pfm_initialize(). */
static void copy_truncated(char *to, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	memcpy(to, text, n);
	to[n] = '\0';
}

static bool is_in_disabled_list(const char *list, const char *name)
{
	char item[64];

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len && len < sizeof(item)) {
			memcpy(item, list, len);
			item[len] = '\0';
			if (strstr(name, item))
				return true;
		}
		list += len + (list[len] == ',');
	}
	return false;
}

static void read_disabled(void)
{
	const char *list = getenv("LIBPFM_DISABLED_PMUS");
	uint32_t words[N_PMU_WORDS] = { 0 };

	for (uint32_t i = 0; list && i < l4_image.pmus.n_elements; i++)
		if (is_in_disabled_list(list, l4_get_text(l4_get_pmu(i)->name)))
			words[i / 32] |= 1u << i % 32;
	for (unsigned i = 0; i < N_PMU_WORDS; i++)
		atomic_store_explicit(&state.disabled_pmus[i], words[i], memory_order_relaxed);
}

static void read_environment(void)
{
	const char *cpuinfo = getenv("LIBPFM_PROC_CPUINFO");

	copy_truncated(state.cpuinfo, sizeof(state.cpuinfo), cpuinfo ? cpuinfo : "");
	copy_truncated(state.cpuid, sizeof(state.cpuid), l4_get_perfmon_variable("PERFMON_CPUID"));
	atomic_store(&state.is_exact, !is_env_option_on("PERFMON_LIBPFM4_CORRECT"));
	atomic_store(&state.encodes_inactive, getenv("LIBPFM_ENCODE_INACTIVE") != NULL);
	atomic_store(&state.is_verbose,
	             is_env_option_on("LIBPFM_VERBOSE") || is_env_option_on("LIBPFM_DEBUG"));
	atomic_store(&state.to_stdout, getenv("LIBPFM_DEBUG_STDOUT") != NULL);
	read_disabled();
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

static bool is_pmu_disabled(uint32_t n)
{
	return atomic_load_explicit(&state.disabled_pmus[n / 32], memory_order_relaxed) >> n % 32 &
	       1;
}

/* True if the PMU needs no device of the kernel, or the kernel has it. */
static bool has_needed_device(const struct l4_pmu *u)
{
	char path[L4_PATH_SIZE];

	if (!u->needs_device || !l4_is_os_active())
		return true;
	l4_format_path(path, L4_EVENT_SOURCE_DIR "%s", l4_get_text(u->kernel_event_names));
	return access(path, F_OK) == 0;
}

static void publish_active_pmus(const uint32_t words[N_PMU_WORDS], unsigned levels)
{
	for (unsigned i = 0; i < N_PMU_WORDS; i++)
		atomic_store_explicit(&state.active_pmus[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&state.core_levels, levels, memory_order_relaxed);
	atomic_store_explicit(&state.is_detected, 1, memory_order_release);
}

static void detect_active_pmus(void)
{
	uint32_t words[N_PMU_WORDS] = { 0 };
	unsigned levels = 0;
	struct l4_host_identity m;

	l4_identify_host(&m, state.cpuid, state.cpuinfo);
	atomic_store(&state.arch_pmu, (m.arch_version & 0xff) | (m.arch_missing & 0xff) << 8 |
	                                      (m.arch_general & 0xff) << 16 | m.arch_fixed << 24);
	atomic_store(&state.event_lists, m.event_lists);
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++) {
		const struct l4_pmu *u = l4_get_pmu(i);

		if (is_pmu_disabled(i) || !l4_is_pmu_for_host(&m, u) || !has_needed_device(u))
			continue;
		l4_print_message("libpfm4: PMU %s is active\n", l4_get_text(u->name));
		words[i / 32] |= 1u << i % 32;
		if (u->type == PFM_PMU_TYPE_CORE && !levels)
			levels = u->levels;
	}
	publish_active_pmus(words, levels);
}

/* Makes the first PMU whose name begins with @text the only active one, and disables those after
 * it. */
static void force_named_pmu(const char *text)
{
	size_t len = strcspn(text, ",");
	uint32_t words[N_PMU_WORDS] = { 0 };

	atomic_store(&state.arch_pmu, 3);
	atomic_store(&state.event_lists, L4_DEFAULT_EVENT_LISTS);
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++) {
		const struct l4_pmu *u = l4_get_pmu(i);

		if (is_pmu_disabled(i) || strncasecmp(l4_get_text(u->name), text, len) != 0 ||
		    !has_needed_device(u))
			continue;
		words[i / 32] |= 1u << i % 32;
		atomic_store(&state.pmu_end, i + 1);
		l4_print_message("libpfm4: PMU %s is forced\n", l4_get_text(u->name));
		break;
	}
	publish_active_pmus(words, 0);
}

static uint32_t get_active_word(unsigned n)
{
	if (!atomic_load_explicit(&state.is_detected, memory_order_acquire)) {
		pthread_mutex_lock(&state.lock);
		if (!atomic_load(&state.is_detected) && atomic_load(&state.ready))
			detect_active_pmus();
		pthread_mutex_unlock(&state.lock);
	}
	return atomic_load_explicit(&state.active_pmus[n], memory_order_relaxed);
}

bool l4_is_pmu_enabled(uint32_t pmu)
{
	return pmu < atomic_load_explicit(&state.pmu_end, memory_order_relaxed) &&
	       !is_pmu_disabled(pmu);
}

bool l4_is_pmu_active(uint32_t pmu)
{
	return get_active_word(pmu / 32) >> pmu % 32 & 1;
}

bool l4_can_name_pmu(uint32_t pmu)
{
	return atomic_load_explicit(&state.encodes_inactive, memory_order_relaxed) ||
	       l4_is_pmu_active(pmu);
}

void l4_get_arch_pmu(unsigned *version, unsigned *missing, unsigned *general, unsigned *fixed)
{
	unsigned arch;

	get_active_word(0);
	arch = atomic_load(&state.arch_pmu);
	*version = arch & 0xff;
	*missing = arch >> 8 & 0xff;
	*general = arch >> 16 & 0xff;
	*fixed = arch >> 24;
}

bool l4_is_row_for_host(const struct l4_pmu *u, const struct l4_row *r)
{
	unsigned lists;

	get_active_word(0);
	lists = atomic_load_explicit(&state.event_lists, memory_order_relaxed);
	return r->kind & (u->host_kind == L4_HOST_INTEL ? lists >> 8 : lists & 0xff);
}

unsigned l4_get_core_levels(void)
{
	get_active_word(0);
	return atomic_load_explicit(&state.core_levels, memory_order_relaxed);
}

/* ---- the kernel's interface ------------------------------------------------------------------ */

static bool has_perf_events(void)
{
	char path[L4_PATH_SIZE];
	const struct dirent *d;
	bool found = false;
	DIR *dir;

	l4_format_path(path, "/proc/sys/kernel/perf_event_paranoid");
	if (access(path, F_OK) != 0)
		return false;
	l4_format_path(path, L4_EVENT_SOURCE_DIR);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		l4_format_path(path, L4_EVENT_SOURCE_DIR "%s/perf_event_mux_interval_ms",
		               d->d_name);
		found = d->d_name[0] != '.' && access(path, F_OK) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool l4_is_os_active(void)
{
	int os = atomic_load_explicit(&state.os_state, memory_order_relaxed);

	if (os == OS_UNKNOWN) {
		os = has_perf_events() ? OS_PRESENT : OS_ABSENT;
		atomic_store_explicit(&state.os_state, os, memory_order_relaxed);
	}
	return os == OS_PRESENT;
}

bool l4_is_exact_mode(void)
{
	return atomic_load_explicit(&state.is_exact, memory_order_relaxed);
}

/* ---- start and end --------------------------------------------------------------------------- */

bool l4_is_ready(void)
{
	return atomic_load_explicit(&state.ready, memory_order_acquire);
}

/* fork() waits until no thread holds a lock, because no thread of the child would release it. */
static void lock_before_fork(void)
{
	pthread_mutex_lock(&state.lock);
	l4_lock_tracepoints();
}

static void unlock_after_fork(void)
{
	l4_unlock_tracepoints();
	pthread_mutex_unlock(&state.lock);
}

/* Runs when the library is loaded: a fork() that begins while the first thread initialises would
 * not call handlers installed by that thread. */
__attribute__((constructor)) static void register_fork_handlers(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

void l4_initialize(void)
{
	const char *forced;

	pthread_mutex_lock(&state.lock);
	if (!atomic_load(&state.ready)) {
		read_environment();
		l4_read_root();
		atomic_store(&state.os_state, OS_UNKNOWN);
		atomic_store(&state.is_detected, 0);
		atomic_store(&state.pmu_end, l4_image.pmus.n_elements);
		forced = getenv("LIBPFM_FORCE_PMU");
		if (forced)
			force_named_pmu(forced);
		atomic_store_explicit(&state.ready, 1, memory_order_release);
	}
	pthread_mutex_unlock(&state.lock);
}

void l4_terminate(void)
{
	pthread_mutex_lock(&state.lock);
	atomic_store(&state.ready, 0);
	pthread_mutex_unlock(&state.lock);
}
