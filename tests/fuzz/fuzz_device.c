/* SPDX-License-Identifier: MIT */
/* The Alpha counter device. Either a walk: several processes open, ask, read, fork and end in any
 * order, and after each step the model must agree with what this file remembers. Or a session of
 * the library on the device, with any settings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <perfmon/pfcntr.h>
#include <perfmon/alpha.h>
#include "context/context.h"
#include "device_sys.h"
#include "settings.h"
#include "time_bound.h"

enum {
	MAX_CPUS = 5,
	MAX_PIDS = 6,
	MAX_STEPS = 120,
	AT_WORDS = 0x1000,
	AT_POINTER = 0x2000,
	AT_ARRAY = 0x10000
};

/* Memory of a process at the addresses above. */
struct memory {
	uint64_t words[4], pointer;
	uint8_t array[4096];
	size_t room; /* bytes of the array that exist */
};

struct walk {
	struct bytes in;
	struct alpha_device *m;
	struct alpha_device_options options;
	struct memory memory;
	struct {
		int pid; /* process that opened it; 0: not open */
		uint64_t cpus;
		unsigned mode;
	} uses[ALPHA_DEVICE_MAX_CPUS];
	int cpu_of[MAX_PIDS + 1]; /* processor each process is bound to; -2: no such process */
	unsigned uid_of[MAX_PIDS + 1];
	struct alpha_device_view before[MAX_CPUS];
	uint64_t cleared; /* processors whose counts this step may have zeroed */
	bool changed;     /* this step may change what can be seen */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static uint8_t *place(struct memory *mem, uint64_t at, size_t n)
{
	if (at >= AT_ARRAY && at - AT_ARRAY <= mem->room && n <= mem->room - (at - AT_ARRAY))
		return mem->array + (at - AT_ARRAY);
	if (at >= AT_WORDS && at - AT_WORDS <= sizeof(mem->words) &&
	    n <= sizeof(mem->words) - (at - AT_WORDS))
		return (uint8_t *)mem->words + (at - AT_WORDS);
	return at == AT_POINTER && n <= sizeof(mem->pointer) ? (uint8_t *)&mem->pointer : NULL;
}

static int memory_get(void *arg, uint64_t from, void *to, size_t n)
{
	const uint8_t *at = place(arg, from, n);

	if (at)
		memcpy(to, at, n);
	return at ? 0 : -EFAULT;
}

static int memory_put(void *arg, uint64_t to, const void *from, size_t n)
{
	uint8_t *at = place(arg, to, n);

	if (at)
		memcpy(at, from, n);
	return at ? 0 : -EFAULT;
}

static struct alpha_device_memory access(struct walk *w)
{
	return (struct alpha_device_memory){ memory_get, memory_put, &w->memory };
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static void forget(struct walk *w, uint64_t cpus, int pid)
{
	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		if (w->uses[i].pid && ((w->uses[i].cpus & cpus) || w->uses[i].pid == pid))
			w->uses[i].pid = 0;
}

static void look(const struct walk *w, struct alpha_device_view *views)
{
	for (unsigned i = 0; i < w->options.n_cpus; i++)
		if (alpha_device_get_view(w->m, i, &views[i]))
			abort();
}

static unsigned width(const struct walk *w, unsigned counter)
{
	return pfm_alpha_counter_width(PFMLIB_ALPHA_EV4_PMU + (int)w->options.family, counter);
}

static void check_processor(const struct walk *w, unsigned cpu, const struct alpha_device_view *old,
                            const struct alpha_device_view *v)
{
	int holder = -1;

	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		if (w->uses[i].pid && w->uses[i].cpus >> cpu & 1) {
			if (holder >= 0)
				abort(); /* two hold it */
			holder = w->uses[i].pid;
		}
	if (v->holder_pid != holder || (holder < 0 && v->running_counters))
		abort();
	for (unsigned k = 0;
	     k < pfm_alpha_num_counters(PFMLIB_ALPHA_EV4_PMU + (int)w->options.family); k++)
		if (v->chip_values[k] >> width(w, k) ||
		    (v->interrupt_counts[k] < old->interrupt_counts[k] && !(w->cleared >> cpu & 1)))
			abort();
	if (v->n_discarded < old->n_discarded ||
	    (v->cycles < old->cycles && !(w->cleared >> cpu & 1)))
		abort();
}

static void check(struct walk *w)
{
	struct alpha_device_view views[MAX_CPUS];

	look(w, views);
	if (!w->changed && memcmp(views, w->before, w->options.n_cpus * sizeof(views[0])))
		abort(); /* refused, and yet something happened */
	for (unsigned i = 0; i < w->options.n_cpus; i++)
		check_processor(w, i, &w->before[i], &views[i]);
	for (int pid = 1; pid <= MAX_PIDS; pid++)
		if ((alpha_device_is_process_marked(w->m, pid) >= 0) != (w->cpu_of[pid] != -2))
			abort();
	memcpy(w->before, views, sizeof(views));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int some_pid(struct walk *w)
{
	return (int)byte(&w->in) % MAX_PIDS + 1;
}

static void step_process(struct walk *w)
{
	int pid = some_pid(w), cpu = (int)byte(&w->in) % (MAX_CPUS + 2) - 1;
	unsigned uid = byte(&w->in) & 1;

	if (alpha_device_set_process(w->m, pid, uid, cpu) == 0) {
		w->cpu_of[pid] = cpu;
		w->uid_of[pid] = uid;
	}
}

static void step_fork(struct walk *w)
{
	int parent = some_pid(w), child = some_pid(w),
	    err = alpha_device_fork_process(w->m, parent, child);

	if ((err == 0) != (w->cpu_of[parent] != -2 && w->cpu_of[child] == -2))
		abort();
	if (err == 0) {
		w->cpu_of[child] = w->cpu_of[parent];
		w->uid_of[child] = w->uid_of[parent];
		if (alpha_device_is_process_marked(w->m, child) !=
		    alpha_device_is_process_marked(w->m, parent))
			abort();
	}
}

static void step_exit(struct walk *w)
{
	int pid = some_pid(w);

	if (alpha_device_exit_process(w->m, pid) == 0) {
		w->cpu_of[pid] = -2;
		forget(w, 0, pid);
		w->changed = true;
	}
}

static void step_open(struct walk *w)
{
	int pid = some_pid(w);
	unsigned flags = pair(&w->in) << 4;
	int handle = alpha_device_open_session(w->m, pid, flags);
	unsigned mode = flags & PCNTOPENMASK ? flags & PCNTOPENMASK : PCNTOPENONE;
	uint64_t cpus;

	if (handle < 0)
		return;
	if (w->cpu_of[pid] == -2 || handle >= ALPHA_DEVICE_MAX_CPUS)
		abort();
	w->changed = true;
	cpus = mode == PCNTOPENONE ? UINT64_C(1) << w->cpu_of[pid]
	                           : (UINT64_C(1) << w->options.n_cpus) - 1;
	if (w->options.root_evicts && w->uid_of[pid] == 0)
		forget(w, w->options.single_holder ? ~UINT64_C(0) : cpus, 0);
	w->uses[handle].pid = pid;
	w->uses[handle].cpus = cpus;
	w->uses[handle].mode = mode;
}

/* Expected results of the counting requests, summed up from the visible state of each processor. */
static void check_counts(const struct walk *w, int handle, bool events)
{
	int pmu = PFMLIB_ALPHA_EV4_PMU + (int)w->options.family;
	unsigned n = pfm_alpha_num_counters(pmu), first = pmu != PFMLIB_ALPHA_EV4_PMU,
		 each = w->uses[handle].mode == PCNTOPENEACH;

	for (unsigned e = 0; e < (each ? w->options.n_cpus : 1); e++)
		for (unsigned k = 0; k < n; k++) {
			uint64_t sum = 0, is;

			for (unsigned i = 0; i < w->options.n_cpus; i++)
				if (each ? i == e : w->uses[handle].cpus >> i & 1)
					sum += events ? (w->before[i].interrupt_counts[k]
					                 << width(w, k)) +
					                        w->before[i].chip_values[k]
					              : w->before[i].interrupt_counts[k];
			memcpy(&is, w->memory.array + (e * (n + 1) + k + first) * 8, 8);
			if (is != sum)
				abort();
		}
}

static void step_ioctl(struct walk *w)
{
	const struct alpha_device_memory mem = access(w);
	int handle = (int)byte(&w->in) % (MAX_CPUS + 1), pid = some_pid(w), err;
	unsigned which = byte(&w->in), how = byte(&w->in);
	pfm_alpha_request_t request;
	uint32_t number;
	size_t size;

	number = pfm_alpha_request(which, &request) == PFMLIB_SUCCESS ? request.request
	                                                              : (uint32_t)word(&w->in);
	for (unsigned i = 0; i < 4; i++)
		w->memory.words[i] = how >> i & 1
		                             ? word(&w->in)
		                             : (i < 2 && how & 16 ? w->options.ktext_start : 0) +
		                                       shifted(&w->in);
	size = alpha_device_get_result_size(w->m, handle, number);
	w->memory.room = how & 32 ? byte(&w->in) : sizeof(w->memory.array);
	w->memory.pointer = AT_ARRAY;
	if (how & 64)
		alpha_device_fail_next_alloc(w->m);
	err = alpha_device_do_ioctl(w->m, handle, pid, number,
	                            how & 128 ? shifted(&w->in)
	                            : size    ? AT_POINTER
	                                      : AT_WORDS,
	                            &mem);
	if (err > 0 || (err == 0 && (w->cpu_of[pid] == -2 || !w->uses[handle].pid)))
		abort();
	if (err < 0)
		return;
	w->changed = true;
	if (number == PCNTCLEARCNT)
		w->cleared = w->uses[handle].cpus;
	if (how & 128 || !w->options.family_errno) /* the latter: other families' requests succeed
	                                              and do nothing */
		return;
	if (size && number != PCNTGETIPLHIS)
		check_counts(w, handle, number == PCNT5READCNTRS || number == PCNT6READCNTRS);
}

static void step_read(struct walk *w)
{
	const struct alpha_device_memory mem = access(w);
	int handle = (int)byte(&w->in) % (MAX_CPUS + 1), pid = w->uses[handle].pid;
	size_t n = pair(&w->in);
	uint64_t size = 0;
	long got;

	w->memory.room = sizeof(w->memory.array);
	if (pid && w->cpu_of[pid] != -2) {
		if (alpha_device_do_ioctl(w->m, handle, pid, PCNTGETRSIZE, AT_WORDS, &mem))
			abort();
		size = w->memory.words[0];
	}
	got = alpha_device_read_samples(w->m, handle, AT_ARRAY, n, &mem);
	if ((got >= 0) != (pid && (size < n ? size : n) <= sizeof(w->memory.array)) ||
	    got > (long)n)
		abort();
	if (got >= 0 && (uint64_t)got != (size < n ? size : n))
		abort();
}

static void step_close(struct walk *w)
{
	int handle = (int)byte(&w->in) % (MAX_CPUS + 1);

	if ((alpha_device_close_session(w->m, handle) == 0) != (w->uses[handle].pid != 0))
		abort();
	w->uses[handle].pid = 0;
	w->changed = true;
}

static void step_work(struct walk *w)
{
	unsigned cpu = byte(&w->in) % (MAX_CPUS + 1), how = byte(&w->in),
		 counter = byte(&w->in) & 3;
	struct alpha_device_work work = { .pid = some_pid(w),
		                          .is_user = how & 1,
		                          .is_pal = how & 2,
		                          .is_idle = how & 4,
		                          .ipl = how >> 3 & 7,
		                          .cycles = shifted(&w->in) & UINT32_MAX,
		                          .pc = shifted(&w->in) +
		                                (how & 64 ? w->options.ktext_start : 0),
		                          .return_address = shifted(&w->in) };

	for (unsigned k = 0; k < ALPHA_DEVICE_MAX_COUNTERS; k++)
		work.events[k] = shifted(&w->in) & (UINT64_MAX >> 8);
	w->changed = true;
	if (how & 128 && counter < 3)
		(void)alpha_device_raise_interrupt(w->m, cpu, counter, &work);
	else if (how & 128)
		alpha_device_run(w->m, pair(&w->in), work.pid, cpu, work.pc);
	else
		(void)alpha_device_do_work(w->m, cpu, &work);
}

static void step_foreign(struct walk *w)
{
	unsigned cpu = byte(&w->in) % (MAX_CPUS + 1);

	(void)alpha_device_set_foreign(w->m, cpu, byte(&w->in) & 1);
	w->changed = true;
}

/* Every setting has its other value somewhere. */
static void take_options(struct bytes *b, struct alpha_device_options *o)
{
	unsigned family = byte(b), how = pair(b), errors = pair(b);

	alpha_device_set_defaults(o, (enum alpha_device_family)(family % 5));
	o->n_cpus = family / 5 % MAX_CPUS + 1;
	o->max_buffer = how & 1 ? 1 << 16 : 256;
	o->ev4_pass3 = how & 2;
	o->single_holder = how & 4;
	o->root_evicts = how & 8;
	o->enable_gates = how & 16;
	o->idle_is_level0 = how & 32;
	o->read_clears = how & 64;
	o->blocks_backwards = how & 128;
	o->end_inclusive = how & 256;
	o->round_down = how & 512;
	o->check_first_range = how & 1024;
	o->echo_word = how & 2048;
	o->old_getcnt = how & 4096;
	o->live_cycles = how & 8192;
	o->user_is_exec = how & 16384;
	o->no_mode_errno = errors & 1 ? EINVAL : 0;
	o->family_errno = errors & 2 ? EINVAL : 0;
	o->unknown_errno = errors & 4 ? ENOTTY : EINVAL;
	o->items_errno = errors & 8 ? EINVAL : 0;
	o->running_errno = errors & 16 ? EBUSY : 0;
	o->start_cpu_errno = errors & 32 ? EINVAL : 0;
	o->range_errno = errors & 64 ? EFAULT : 0;
	o->stride_errno = errors & 128 ? EINVAL : 0;
}

static void walk(struct bytes b)
{
	static void (*const steps[])(struct walk *
	                             w) = { step_process, step_fork,  step_exit,  step_open,
		                            step_open,    step_ioctl, step_ioctl, step_ioctl,
		                            step_ioctl,   step_ioctl, step_read,  step_close,
		                            step_work,    step_work,  step_work,  step_foreign };
	static struct walk w;

	memset(&w, 0, sizeof(w));
	w.in = b;
	take_options(&w.in, &w.options);
	w.m = alpha_device_new(&w.options);
	if (!w.m)
		abort();
	for (int pid = 1; pid <= MAX_PIDS; pid++) {
		w.cpu_of[pid] = -2;
		if (pid <= 3 &&
		    alpha_device_set_process(w.m, pid, pid == 2,
		                             pid == 3 ? ALPHA_DEVICE_UNBOUND : 0) == 0) {
			w.cpu_of[pid] = pid == 3 ? ALPHA_DEVICE_UNBOUND : 0;
			w.uid_of[pid] = pid == 2;
		}
	}
	look(&w, w.before);
	for (unsigned i = 0; w.in.left && i < MAX_STEPS; i++) {
		w.changed = false;
		w.cleared = 0;
		steps[byte(&w.in) & 15](&w);
		check(&w);
	}
	alpha_device_free(w.m);
}

/* ---- a session ------------------------------------------------------------------------------- */

static void some_work(struct bytes *b, struct alpha_device *m, unsigned n_cpus)
{
	for (unsigned i = 0; i < n_cpus; i++) {
		struct alpha_device_work work = { .pid = 1, .is_user = true, .cycles = pair(b) };

		for (unsigned k = 0; k < ALPHA_DEVICE_MAX_COUNTERS; k++)
			work.events[k] = (uint64_t)pair(b) << 3;
		(void)alpha_device_do_work(m, i, &work);
	}
}

static void read_all(pfm_session_t *s, unsigned n, pfm_count_t *counts)
{
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	if (pfm_read_session(s, counts, n) || pfm_session_errno(s))
		abort();
}

static void use_session(struct bytes *b, pfm_session_t *s, struct alpha_device *m, unsigned n_cpus)
{
	pfm_count_t before[16], after[16];
	unsigned n = pfm_session_size(s);
	pfcntr_bucket_t buckets[64];
	uint64_t bytes;
	struct pfipls levels;

	if (n > 16)
		abort();
	some_work(b, m, n_cpus);
	if (pfm_start_session(s))
		return;
	some_work(b, m, n_cpus);
	read_all(s, n, before);
	for (unsigned i = 0; i < 4; i++) {
		unsigned how = byte(b);

		if (how & 1)
			pfm_stop_session(s);
		some_work(b, m, n_cpus);
		if (how & 2)
			pfm_start_session(s);
		read_all(s, n, after);
		for (unsigned k = 0; k < n; k++)
			if (after[k].raw < before[k].raw)
				abort(); /* counts never go back */
		memcpy(before, after, sizeof(before));
	}
	pfm_alpha_session_levels(s, 0, &levels);
	if (pfm_alpha_session_sample_bytes(s, &bytes) == PFMLIB_SUCCESS)
		pfm_alpha_session_samples(s, buckets, 64);
	if (pfm_reset_session(s) == PFMLIB_SUCCESS) {
		read_all(s, n, after);
		for (unsigned k = 0; k < n; k++)
			if (after[k].raw && !(after[k].quality == PFM_QUALITY_NOT_SUPPORTED))
				abort();
	}
}

/* Time must not decide which way the library goes. While a session lasts, each look at the clock is
 * a microsecond later. */
static uint64_t ticks;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!ticks)
		return __real_clock_gettime(clock, t);
	ticks++;
	*t = (struct timespec){ .tv_sec = (time_t)(ticks / 1000000),
		                .tv_nsec = (long)(ticks % 1000000 * 1000) };
	return 0;
}

static void session(struct bytes b)
{
	static const char *const families[] = { "alpha_ev4", "alpha_ev5", "alpha_pca56",
		                                "alpha_ev6", "alpha_ev67" };
	unsigned family = byte(&b) % 5, n_cpus = byte(&b) % MAX_CPUS + 1, n = byte(&b) % 3 + 1,
		 flags = byte(&b);
	pfmlib_alpha_input_param_t settings;
	pfm_alpha_session_t own = PFM_INIT(own);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_ctx_options_t o = PFM_INIT(o);
	struct alpha_device_options model_options;
	struct alpha_device_sys sys = { .pid = 1 };
	struct alpha_device_view v;
	char texts[3][128];
	const char *pointers[3];
	pfm_session_t *s;
	pfm_ctx_t *ctx;

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (pfm_open_context(&ctx, &o, NULL))
		abort();
	for (unsigned i = 0; i < n; i++) {
		perfmon_pmu_info_t pmu = PFM_INIT(pmu);
		perfmon_event_info_t event = PFM_INIT(event);
		int number = pfm_find_pmu(ctx, families[family]);

		if (pfm_describe_pmu(ctx, number, &pmu) ||
		    pfm_describe_event(ctx, number, pair(&b) % pmu.n_events, &event))
			abort();
		snprintf(texts[i], sizeof(texts[i]), "%s::%s", families[family], event.name);
		pointers[i] = texts[i];
	}
	take_alpha(&b, PFMLIB_ALPHA_EV4_PMU + (int)family, &settings);
	alpha_device_set_defaults(&model_options, (enum alpha_device_family)family);
	model_options.n_cpus = n_cpus;
	model_options.max_buffer = 1 << 16;
	sys.device = alpha_device_new(&model_options);
	if (!sys.device || alpha_device_set_process(sys.device, 1, flags >> 6 & 1, 0))
		abort();
	init_device_sys(&ctx->sys, &sys);
	own.model = flags & 128 ? NULL : &settings;
	own.n_cpus = n_cpus;
	options.backend = "pfm_device";
	options.backend_options = &own;
	options.flags =
		flags & (PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_STRICT);
	if (pfm_open_session(&s, ctx, &options, pointers, n, NULL) == PFMLIB_SUCCESS) {
		use_session(&b, s, sys.device, n_cpus);
		pfm_close_session(s);
	}
	for (unsigned i = 0; i < n_cpus; i++)
		if (alpha_device_get_view(sys.device, i, &v) || v.holder_pid >= 0)
			abort();
	alpha_device_free(sys.device);
	pfm_close_context(ctx);
}

int try_input(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };

	if (byte(&b) & 1) {
		ticks = 1;
		session(b);
		ticks = 0;
	} else {
		walk(b);
	}
	return 0;
}
