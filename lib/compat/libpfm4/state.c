/* SPDX-License-Identifier: MIT */
/* What pfm_initialize() reads: the environment, and, when somebody first asks, which PMUs this machine has. Every word is atomic and
 * means something by itself, so calls need no lock and may run while another thread terminates and initialises again. */
#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"

#define WORDS ((L4_IDS + 31) / 32)

enum { UNKNOWN,
       NO,
       YES };

static struct {
	pthread_mutex_t lock; /* of those who change the rest */
	atomic_int ready, result;
	atomic_uint end; /* PMUs from here on do not exist */
	_Atomic uint32_t disabled[WORDS], active[WORDS];
	atomic_int detected; /* active is filled */
	atomic_int os, exact, inactive, verbose, to_stdout;
	atomic_uint arch; /* version, missing events, counters: one byte each */
	atomic_uint core_levels, lists;
	char cpuid[96], cpuinfo[256]; /* below the lock */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Read below the lock by the first start and kept: other threads build paths of it at any time. */
static struct {
	bool known;
	char path[256];
} root;

void l4_say(const char *format, ...)
{
	va_list ap;

	if (!atomic_load(&state.verbose))
		return;
	va_start(ap, format);
	vfprintf(atomic_load(&state.to_stdout) ? stdout : stderr, format, ap);
	va_end(ap);
}

/* ---- the environment ------------------------------------------------------------------------------------------ */

static bool is_on(const char *name)
{
	const char *v = getenv(name);

	return v && *v >= '1' && *v <= '9';
}

/* Variables of our own: not for programs that run with somebody else's rights. */
static const char *own(const char *name)
{
	const char *v = getauxval(AT_SECURE) ? NULL : getenv(name);

	return v ? v : "";
}

/* As much of @text as there is room for. The first snprintf() of a process costs more than all the rest of its start. */
static void keep(char *to, size_t room, const char *text)
{
	size_t n = strnlen(text, room - 1);

	memcpy(to, text, n);
	to[n] = '\0';
}

static void read_root(void)
{
	const char *path = own("PERFMON_SYSFS");
	size_t len = *path ? strlen(path) : 0;

	/* A root that cannot be kept must not become this machine's: nothing is below that file. */
	if (len >= sizeof(root.path)) {
		path = "/dev/null";
		len = strlen(path);
	}
	if (len)
		memcpy(root.path, path, len);
	root.known = true;
}

bool l4_path(char out[L4_PATH], const char *format, ...)
{
	va_list ap;
	size_t len;
	int n;

	len = strlen(root.path);
	memcpy(out, root.path, len);
	va_start(ap, format);
	n = vsnprintf(out + len, L4_PATH - len, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= L4_PATH - len)
		out[0] = '\0';
	return len > 0;
}

static bool is_in(const char *list, const char *name)
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
	uint32_t words[WORDS] = { 0 };

	for (uint32_t i = 0; list && i < l4_image.units.n; i++)
		if (is_in(list, l4_text(l4_unit(i)->name)))
			words[i / 32] |= 1u << i % 32;
	for (unsigned i = 0; i < WORDS; i++)
		atomic_store_explicit(&state.disabled[i], words[i], memory_order_relaxed);
}

static void read_environment(void)
{
	const char *cpuinfo = getenv("LIBPFM_PROC_CPUINFO");

	keep(state.cpuinfo, sizeof(state.cpuinfo), cpuinfo ? cpuinfo : "");
	keep(state.cpuid, sizeof(state.cpuid), own("PERFMON_CPUID"));
	atomic_store(&state.exact, is_on("PERFMON_LIBPFM4_EXACT"));
	atomic_store(&state.inactive, getenv("LIBPFM_ENCODE_INACTIVE") != NULL);
	atomic_store(&state.verbose, is_on("LIBPFM_VERBOSE") || is_on("LIBPFM_DEBUG"));
	atomic_store(&state.to_stdout, getenv("LIBPFM_DEBUG_STDOUT") != NULL);
	read_disabled();
}

/* ---- PMUs ----------------------------------------------------------------------------------------------------- */

static bool is_disabled(uint32_t n)
{
	return atomic_load_explicit(&state.disabled[n / 32], memory_order_relaxed) >> n % 32 & 1;
}

/* Uncore PMUs of newer processors count only where the kernel has their device. */
static bool has_device(const struct l4_unit *u)
{
	char path[L4_PATH];

	if (!u->sysfs || !l4_os_active())
		return true;
	l4_path(path, L4_DEVICES "%s", l4_text(u->perf));
	return access(path, F_OK) == 0;
}

static void publish(const uint32_t words[WORDS], unsigned levels)
{
	for (unsigned i = 0; i < WORDS; i++)
		atomic_store_explicit(&state.active[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&state.core_levels, levels, memory_order_relaxed);
	atomic_store_explicit(&state.detected, 1, memory_order_release);
}

static void detect(void)
{
	uint32_t words[WORDS] = { 0 };
	unsigned levels = 0;
	struct l4_machine m;

	l4_machine_read(&m, state.cpuid, state.cpuinfo);
	atomic_store(&state.arch, (m.arch_version & 0xff) | (m.arch_missing & 0xff) << 8 |
	                                  (m.arch_general & 0xff) << 16 | m.arch_fixed << 24);
	atomic_store(&state.lists, m.lists);
	for (uint32_t i = 0; i < l4_image.units.n; i++) {
		const struct l4_unit *u = l4_unit(i);

		if (is_disabled(i) || !l4_machine_matches(&m, u) || !has_device(u))
			continue;
		l4_say("libpfm4: PMU %s is active\n", l4_text(u->name));
		words[i / 32] |= 1u << i % 32;
		if (u->type == PFM_PMU_TYPE_CORE && !levels)
			levels = u->levels;
	}
	publish(words, levels);
}

/* The first PMU whose name starts with @text is the one that exists for this machine, and none that comes later does. */
static int force(const char *text)
{
	size_t len = strcspn(text, ",");
	uint32_t words[WORDS] = { 0 };

	atomic_store(&state.arch, 3);
	atomic_store(&state.lists, L4_LISTS_ELSEWHERE);
	for (uint32_t i = 0; i < l4_image.units.n; i++) {
		const struct l4_unit *u = l4_unit(i);

		if (is_disabled(i) || strncasecmp(l4_text(u->name), text, len) != 0 || !has_device(u))
			continue;
		words[i / 32] |= 1u << i % 32;
		atomic_store(&state.end, i + 1);
		l4_say("libpfm4: PMU %s is forced\n", l4_text(u->name));
		publish(words, 0);
		return PFM_SUCCESS;
	}
	publish(words, 0);
	return PFM_SUCCESS;
}

static uint32_t active_word(unsigned n)
{
	if (!atomic_load_explicit(&state.detected, memory_order_acquire)) {
		pthread_mutex_lock(&state.lock);
		if (!atomic_load(&state.detected) && atomic_load(&state.ready))
			detect();
		pthread_mutex_unlock(&state.lock);
	}
	return atomic_load_explicit(&state.active[n], memory_order_relaxed);
}

bool l4_exists(uint32_t unit)
{
	return unit < atomic_load_explicit(&state.end, memory_order_relaxed) && !is_disabled(unit);
}

bool l4_active(uint32_t unit)
{
	return active_word(unit / 32) >> unit % 32 & 1;
}

bool l4_answers(uint32_t unit)
{
	return atomic_load_explicit(&state.inactive, memory_order_relaxed) || l4_active(unit);
}

void l4_arch(unsigned *version, unsigned *missing, unsigned *general, unsigned *fixed)
{
	unsigned arch;

	active_word(0);
	arch = atomic_load(&state.arch);
	*version = arch & 0xff;
	*missing = arch >> 8 & 0xff;
	*general = arch >> 16 & 0xff;
	*fixed = arch >> 24;
}

bool l4_listed(const struct l4_unit *u, const struct l4_row *r)
{
	unsigned lists;

	active_word(0);
	lists = atomic_load_explicit(&state.lists, memory_order_relaxed);
	return r->type & (u->host == L4_HOST_INTEL ? lists >> 8 : lists & 0xff);
}

unsigned l4_core_levels(void)
{
	active_word(0);
	return atomic_load_explicit(&state.core_levels, memory_order_relaxed);
}

/* ---- the kernel's interface ----------------------------------------------------------------------------------- */

static bool find_os(void)
{
	char path[L4_PATH];
	const struct dirent *d;
	bool found = false;
	DIR *dir;

	l4_path(path, "/proc/sys/kernel/perf_event_paranoid");
	if (access(path, F_OK) != 0)
		return false;
	l4_path(path, L4_DEVICES);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		l4_path(path, L4_DEVICES "%s/perf_event_mux_interval_ms", d->d_name);
		found = d->d_name[0] != '.' && access(path, F_OK) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool l4_os_active(void)
{
	int os = atomic_load_explicit(&state.os, memory_order_relaxed);

	if (os == UNKNOWN) {
		os = find_os() ? YES : NO;
		atomic_store_explicit(&state.os, os, memory_order_relaxed);
	}
	return os == YES;
}

bool l4_exact(void)
{
	return atomic_load_explicit(&state.exact, memory_order_relaxed);
}

/* ---- start and end -------------------------------------------------------------------------------------------- */

bool l4_ready(void)
{
	return atomic_load_explicit(&state.ready, memory_order_acquire);
}

/* fork() waits until no thread is at work below a lock: nobody would ever give it back to the child. */
static void before_fork(void)
{
	pthread_mutex_lock(&state.lock);
	l4_trace_hold(true);
}

static void after_fork(void)
{
	l4_trace_hold(false);
	pthread_mutex_unlock(&state.lock);
}

/* When the library is loaded: a fork() that has begun while the first thread initialises would not hear of handlers it brings. */
__attribute__((constructor)) static void mind_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

int l4_start(void)
{
	const char *forced;
	int rc;

	pthread_mutex_lock(&state.lock);
	if (!atomic_load(&state.ready)) {
		read_environment();
		if (!root.known)
			read_root();
		atomic_store(&state.os, UNKNOWN);
		atomic_store(&state.detected, 0);
		atomic_store(&state.end, l4_image.units.n);
		forced = getenv("LIBPFM_FORCE_PMU");
		atomic_store(&state.result, forced ? force(forced) : PFM_SUCCESS);
		atomic_store_explicit(&state.ready, 1, memory_order_release);
	}
	rc = atomic_load(&state.result);
	pthread_mutex_unlock(&state.lock);
	return rc;
}

void l4_stop(void)
{
	pthread_mutex_lock(&state.lock);
	atomic_store(&state.ready, 0);
	pthread_mutex_unlock(&state.lock);
}
