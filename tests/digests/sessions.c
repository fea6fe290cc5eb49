/* SPDX-License-Identifier: MIT */
/* Recorded machines, and sessions on their kernels, which refuse at random: what is opened how, what is asked of the kernel, what the
 * counts are and what is said of them. */
#include "digests.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/sampling.h>
#include "fake_sys.h"
#include "context/context.h"

enum { ROOM = 256,
       MOST_TEXTS = 7,
       MOST_COUNTS = 128 };

static const char *const machines[] = { "uncore", "hybrid", "amd", "arm" };
static struct fake fake;
static pfm_ctx_t *ctx;
static unsigned refuses; /* one event of so many; 0: none */
static uint64_t taste;

/* The same event is refused each time, another may not be. */
static int decide(struct fake *f, const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	static const int errors[] = { EINVAL, EINVAL, ENOENT, EACCES, EPERM, EBUSY, ENODEV, EOPNOTSUPP, ESRCH, ENOSPC, E2BIG, ENOMEM };
	uint64_t h = taste;

	(void)f;
	if (!refuses)
		return 0;
	h = (h ^ attr->type) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ attr->config) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ (unsigned)(attr->exclude_kernel | attr->exclude_user << 1 | attr->exclude_hv << 2 | attr->pinned << 3 | attr->precise_ip << 4 |
	                    attr->inherit << 6 | attr->exclude_guest << 7 | attr->exclusive << 8 | (group >= 0) << 9 | (pid > 0) << 10)) *
	    UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ attr->sample_type ^ attr->read_format) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ (taste & 1 ? (unsigned)cpu : 0)) * UINT64_C(0x9e3779b97f4a7c15);
	h ^= h >> 31;
	return h % refuses ? 0 : -errors[(h >> 32) % (sizeof(errors) / sizeof(errors[0]))];
}

static void tick(struct fake *f, struct fake_event *e)
{
	uint64_t h = (taste ^ (uint64_t)(e - f->events)) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 31;
	e->on = f->now;
	e->running = h % 4 == 0 ? f->now / 3 : h % 16 == 1 ? 0
	                               : h % 16 == 2       ? f->now - f->now / 1000
	                                                   : f->now;
	e->value = e->running == 0 ? 0 : h % 32 == 3 ? UINT64_MAX - (h >> 40)
	                                             : (h >> 44) * (f->now >> 10);
	e->lost = h % 5 == 0 ? h >> 60 : 0;
}

static void open_machine(const char *name)
{
	static const char *const ids[] = { "GenuineIntel-6-14-8", "GenuineIntel-6-FE-1" };
	pfm_ctx_options_t o = PFM_INIT(o);

	fake_recorded(&fake, name);
	fake_file(&fake, "/proc/4711/status", "Name:\tit\nTgid:\t4711\nPid:\t4711");
	fake_file(&fake, "/proc/4711/task/4711/status", "Name:\tit\nTgid:\t4711\nPid:\t4711");
	fake_file(&fake, "/proc/4711/task/4713/status", "Name:\tit\nTgid:\t4711\nPid:\t4713");
	fake.decide = decide;
	fake.tick = tick;
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = ids[name[0] != 'u'];
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	ctx->sys = fake.sys;
}

static void close_machine(void)
{
	pfm_close_context(ctx);
	fake_end(&fake);
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------ */

/* An event of the kernel's description. */
static void kernel_text(char text[ROOM])
{
	int first = (int)pfmi_n_builtin(), n = pfm_count_pmus(ctx);
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_event_info_t e = PFM_INIT(e);
	int i = first + (int)draw((unsigned)(n - first));

	snprintf(text, ROOM, "cycles");
	if (n <= first || pfm_describe_pmu(ctx, i, &pmu))
		return;
	if (pmu.n_events && pfm_describe_event(ctx, i, draw(pmu.n_events), &e) == PFMLIB_SUCCESS)
		snprintf(text, ROOM, draw(2) ? "%s/%s/" : "%s::%s", pmu.name, e.name);
	else
		snprintf(text, ROOM, "%s/event=%u,umask=3/", pmu.name, draw(256));
}

static void one_text(char text[ROOM])
{
	static const char *const words[] = {
		"cycles",
		"instructions",
		"page-faults",
		"task-clock",
		"cs",
		"cpu-clock",
		"minor-faults",
		"LLC-loads",
		"branch-misses",
		"cache-misses",
		"cpu-migrations",
		"dummy",
		"bpf-output",
		"sched:sched_switch",
		"syscalls:sys_enter_getppid",
		"r1a8",
		"r10000c0",
		"mem:0x1000/8:w",
		"mem:0x2000:x",
		"cpu/event=0xc0,umask=1,edge/",
		"cpu/cycles/",
		"cpu/instructions,period=1000/",
		"coreduo::Instr_Ret",
		"coreduo::L2_Lines_In,core=all",
		"coreduo::Unhalted_Core_Cycles",
		"software::faults_per_second",
		"hardware::ipc",
		"hardware::branch_misses_percent",
		"user_time",
		"system_time",
		"duration_time",
		"montecito::L3_MISSES",
		"nothing",
		"sched:*",
		"cpu_core/slots/",
		"cpu_atom/cpu-cycles/",
		"power/energy-pkg/",
		"uncore_imc/cas_count_read/",
		"amd_l3/event=4/",
		"slots",
		"topdown-retiring",
		"L1-dcache-load-misses",
		"ref-cycles",
		"hardware::ipc",
		"stalled-cycles-frontend",
	};
	static const char *const ends[] = { "", "", "", "", ":u", ":k", ":pp", ":D", ":G", ":H", ":I", ":W", ":uk", ":P", ":e", ":h", "/u" };

	if (draw(4) == 0)
		kernel_text(text);
	else
		snprintf(text, ROOM, "%s", words[draw(sizeof(words) / sizeof(words[0]))]);
	snprintf(text + strlen(text), ROOM - strlen(text), "%s", ends[draw(sizeof(ends) / sizeof(ends[0]))]);
}

/* One that every machine takes, though its kernel may not. */
static void plain_text(char text[ROOM])
{
	static const char *const words[] = { "cycles", "instructions", "page-faults", "task-clock", "cs", "cpu-clock", "minor-faults",
		                             "LLC-loads", "branch-misses", "dummy", "r1a8" };
	const char *word = words[draw(sizeof(words) / sizeof(words[0]))];

	snprintf(text, ROOM, "%s%s", word, draw(3) ? "" : draw(2) ? ":u"
	                                                          : ":k");
}

static void add_member(char text[ROOM], char before, const char *member)
{
	size_t at = strlen(text), n = strlen(member);

	if (at + n + 8 >= ROOM)
		return;
	text[at] = before;
	memcpy(text + at + 1, member, n + 1);
}

static void some_text(char text[ROOM])
{
	char member[ROOM];
	unsigned n = 1 + draw(4);

	if (draw(3)) {
		one_text(text);
		return;
	}
	text[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		one_text(member);
		add_member(text, i ? ',' : '{', member);
	}
	snprintf(text + strlen(text), ROOM - strlen(text), "}%s", draw(3) ? "" : draw(2) ? ":W"
	                                                                                 : ":Du");
}

/* ---- machines --------------------------------------------------------------------------------------------------------------- */

static void say_pmus(void)
{
	pfm_pmu_info_t p = PFM_INIT(p);
	pfm_event_info_t e = PFM_INIT(e);

	for (int i = (int)pfmi_n_builtin(); pfm_describe_pmu(ctx, i, &p) == PFMLIB_SUCCESS; i++) {
		say_text("pmu", p.name);
		say_text("device", p.device);
		say_text("desc", p.desc);
		say_text("aka", p.aka);
		say("flags", p.flags);
		say("type", (uint64_t)p.type);
		say("instances", p.n_instances);
		say_text("cpus", p.cpus);
		for (unsigned k = 0; pfm_describe_event(ctx, i, k, &e) == PFMLIB_SUCCESS; k++) {
			say_text("event", e.name);
			say("code", e.code);
			say("flags", e.flags);
			say("masks", e.n_umasks);
			say_text("unit", e.unit);
			say_real("scale", e.scale);
		}
	}
}

static void say_text_here(const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	char line[ROOM];

	say_text("text", text);
	if (pfm_encode_event(ctx, text, 0, &e, &why)) {
		say("code", (uint64_t)why.code);
		say("kind", (uint64_t)why.kind);
		say("start", why.start);
		say("end", why.end);
		say_text("detail", why.detail);
		say("length", pfm_explain_error(ctx, text, &why, line, sizeof(line)));
		say_text("sentence", line);
		return;
	}
	say("type", e.attr.type_known ? e.attr.type : 1000);
	say("config", e.attr.config);
	say("config1", e.attr.config1);
	say("config2", e.attr.config2);
	say("precise", (unsigned)(e.attr.precise << 8 | e.attr.exclude_user | e.attr.exclude_kernel << 1 | e.attr.exclude_hv << 2));
	for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
		int rc = pfm_print_event(ctx, text, (pfm_dialect_t)d, line, sizeof(line), NULL);

		say("print", (uint64_t)rc);
		if (rc == 0)
			say_text("name", line);
	}
}

void ask_machines(void)
{
	char name[64], text[ROOM];

	for (unsigned i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		open_machine(machines[i]);
		snprintf(name, sizeof(name), "machine/%s", machines[i]);
		digest_begin(name);
		say_pmus();
		for (unsigned k = 0; k < 150; k++) {
			one_text(text);
			if (draw(5) == 0)
				text[draw((unsigned)strlen(text))] ^= (char)(1 + draw(31));
			say_text_here(text);
		}
		digest_end();
		close_machine();
	}
}

/* ---- sessions --------------------------------------------------------------------------------------------------------------- */

static unsigned seen; /* events of the kernel that were spoken of */

static void say_calls(void)
{
	for (unsigned i = 0; i < N_FAKE_CALLS; i++)
		say("uses", fake.uses[i]);
	say("open", (uint64_t)fake.n_open);
	say("maps", (uint64_t)fake.n_maps);
	for (; seen < fake.n_events; seen++) {
		const struct fake_event *e = &fake.events[seen];

		say_bytes("attr", e->a.words, e->a.attr.size <= sizeof(e->a) ? e->a.attr.size : 0);
		say("pid", (uint64_t)e->pid);
		say("cpu", (uint64_t)e->cpu);
		say("group", (uint64_t)e->group);
		say("flags", e->flags);
	}
	for (unsigned i = 0; i < fake.n_events; i++)
		if (fake.events[i].used)
			say("on", i << 1 | fake.events[i].enabled);
}

static void say_count(const pfm_count_t *c)
{
	say("value", c->value);
	say("raw", c->raw);
	say("enabled", c->enabled);
	say("running", c->running);
	say("quality", (uint64_t)c->quality);
	say("cause", (uint64_t)c->cause);
	say("errno", (uint64_t)c->sys_errno);
	say_real("scale", c->scale);
}

static void say_info(const pfm_session_t *s, unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_describe_count(s, i, &info))
		return;
	say("request", info.request);
	say_text("name", info.name);
	say_text("pmu", info.pmu);
	say_text("unit", info.unit);
	say("group", info.group);
	say("parts", info.n_parts);
	say_text("why", info.why);
	say_text("remedy", info.remedy);
	say_text("cpus", info.cpus);
	say("level", (uint64_t)info.is_level);
}

static void say_metrics(const pfm_session_t *s, const pfm_count_t *counts, unsigned rounds)
{
	for (unsigned i = 0; i < pfm_count_metrics(s); i++) {
		pfm_session_metric_t m = PFM_INIT(m);

		say("metric", (uint64_t)pfm_compute_metric(s, i, counts, rounds, draw(2), &m));
		say("event", m.event);
		say("request", m.request);
		say("state", (uint64_t)m.state);
		say_real("value", m.value);
		say_real("error", m.error);
		say_real("low", m.low);
		say_real("high", m.high);
		say("quality", (uint64_t)m.quality);
		say("missing", (uint64_t)m.missing);
		say("across", (uint64_t)m.across_groups);
		say("over", (uint64_t)m.over_threshold);
	}
}

static pfm_count_t readings[2 * MOST_COUNTS];

static void read_all(pfm_session_t *s, pfm_count_t *to)
{
	unsigned n = pfm_count_session(s);

	for (unsigned i = 0; i < n; i++)
		to[i] = (pfm_count_t){ .size = sizeof(to[i]) };
	say("read", (uint64_t)pfm_read_session(s, to, n));
	for (unsigned i = 0; i < n; i++)
		say_count(&to[i]);
}

/* Records as the kernel may have written them into the buffer of some event. */
static void write_records(void)
{
	uint64_t words[41];

	for (unsigned n = 4 + draw(8); n > 0; n--) {
		unsigned size = 1 + draw(40), some = draw(fake.n_events);
		struct perf_event_header head = { .type = draw(3) ? PERF_RECORD_SAMPLE : draw(24), .misc = (uint16_t)draw(8) };

		if (!fake.events[some].used)
			continue;
		head.size = (uint16_t)(8 * size);
		memcpy(words, &head, sizeof(head));
		for (unsigned i = 1; i < size; i++) {
			words[i] = draw(3) ? draw(6) : fake_id(fake_fd(draw(fake.n_events)));
			words[i] = draw(8) ? words[i] : fake.now - draw(3000000);
		}
		say("written", fake_record(&fake, fake_fd(some), words, head.size));
	}
}

static void say_records(const pfm_record_t *r, int n)
{
	for (int i = 0; i < n; i++) {
		say("event", r[i].event);
		say_record(&r[i]);
	}
}

static void read_records(pfm_session_t *s)
{
	pfm_record_t r = PFM_INIT(r), many[3] = { { .size = sizeof(many[0]) } };
	int rc = 1;

	for (unsigned i = 0; i < 20 && rc > 0; i++) {
		if (draw(3)) {
			rc = pfm_next_record(s, &r);
			say("next", (uint64_t)rc);
			say_records(&r, rc);
		} else {
			rc = pfm_next_records(s, many, 3);
			say("next", (uint64_t)rc);
			say_records(many, rc);
		}
	}
}

static void say_samples(pfm_session_t *s)
{
	pfm_buffers_t buffers = PFM_INIT(buffers);
	pfm_sample_count_t c = PFM_INIT(c);
	int rc = pfm_read_buffers(s, &buffers);

	say("buffers", (uint64_t)rc);
	if (rc)
		return;
	say("n", buffers.n);
	say("pages", buffers.pages);
	say("wanted", buffers.wanted);
	for (unsigned i = 0; i < 3; i++) {
		write_records();
		say("wait", (uint64_t)pfm_wait_session(s, 0));
		read_records(s);
		fake.now += draw(2000000);
		if (draw(3) == 0)
			say("stop", (uint64_t)pfm_stop_session(s));
	}
	rc = pfm_read_buffers(s, &buffers);
	say("buffers", (uint64_t)rc);
	say("lost", buffers.lost);
	say("bytes", buffers.bytes);
	say("damaged", buffers.damaged);
	say("skipped", buffers.skipped);
	for (unsigned i = 0; i < pfm_count_session(s); i++) {
		say("samples", (uint64_t)pfm_read_samples(s, i, &c));
		say("quality", (uint64_t)c.quality);
		say("cause", (uint64_t)c.cause);
		say("precise", c.precise);
		say("period", c.period);
		say("freq", c.freq);
		say("lost", c.lost);
		say("samples", c.samples);
		say("exact", c.exact);
		say("weight", c.weight);
		say("discarded", c.discarded);
		say("throttled", c.throttled);
		say("throttled", c.throttled_ns);
		say("count", c.count);
	}
}

static void use(pfm_session_t *s)
{
	unsigned n = pfm_count_session(s);
	pfm_count_t c = { .size = sizeof(c) }, between = c;

	say("counts", n);
	if (n > MOST_COUNTS)
		return;
	for (unsigned i = 0; i < n; i++)
		say_info(s, i);
	read_all(s, readings);
	for (unsigned step = 0; step < 6; step++) {
		fake.now += draw(4) ? draw(2000000000) : 0;
		switch (step ? draw(6) : 0) {
		case 0: say("start", (uint64_t)pfm_start_session(s)); break;
		case 1: say("stop", (uint64_t)pfm_stop_session(s)); break;
		case 2: say("reset", (uint64_t)pfm_reset_session(s)); break;
		case 3:
			if (n) {
				say("one", (uint64_t)pfm_read_count(s, draw(n), &c));
				say_count(&c);
			}
			break;
		default: read_all(s, readings);
		}
		say("errno", (uint64_t)pfm_session_errno(s));
		say_calls();
	}
	fake.now += 1000000;
	read_all(s, readings + n);
	for (unsigned i = 0; i < n; i++) {
		say("between", (uint64_t)pfm_count_between(&readings[i], &readings[n + i], (int)draw(2), &between));
		say_count(&between);
		say_info(s, i);
	}
	say_metrics(s, readings, draw(3));
	say_samples(s);
}

/* Mostly such as a session takes. */
static void draw_sampling(pfm_sampling_t *o)
{
	o->flags = draw(4) ? 0 : draw(4);
	if (draw(2))
		o->period = draw(5) ? 1000 + draw(100000) : draw_number();
	else
		o->freq = draw(5000);
	o->fields = draw(2) ? 0 : draw_word() & (draw(9) ? 0xff00ff : 0x1ffffff);
	o->records = draw(2) ? 0 : draw(2048);
	o->pages = draw(20) ? 1u << draw(4) : draw(70);
	o->watermark = draw(6) ? 0 : draw(3000);
	o->wakeup_events = draw(6) ? 0 : draw(100);
	o->max_stack = draw(4) ? 0 : draw(120);
	o->branch_filter = draw(4) ? 0 : draw(1 << 18);
	o->user_regs = o->fields & PFM_SAMPLE_REGS ? 1 + draw(1 << 16) : draw(20) == 0;
	o->user_stack = o->fields & PFM_SAMPLE_STACK ? 8 * (1 + draw(1000)) : draw(20) == 0;
	o->intr_regs = o->fields & PFM_SAMPLE_INTR_REGS ? 1 + draw(1 << 16) : 0;
	o->precise = draw(8) ? 0 : draw(5);
}

static void ask_session(void)
{
	static const char *const cpus[] = { NULL, NULL, NULL, "0", "0-1", "0,2-3", "3", "9", "0-3", NULL, "4-7,0", "7" };
	static const int pids[] = { 0, 0, 0, 0, 4711, 4711, 4711, 4712 };
	static const unsigned levels[] = { 0, 0, 0, PFM_PLM3, PFM_PLM0, PFM_PLM0 | PFM_PLM3 };
	static const char *const filters[] = { NULL, "a == 1", "", NULL, NULL, NULL, NULL };
	pfm_session_options_t o = PFM_INIT(o);
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_error_t why = PFM_INIT(why);
	char texts[MOST_TEXTS][ROOM], line[ROOM];
	const char *pointers[MOST_TEXTS];
	unsigned plain = draw(2), n = 1 + draw(plain ? MOST_TEXTS : 3);
	pfm_session_t *s = NULL;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if (plain)
			plain_text(texts[i]);
		else
			some_text(texts[i]);
		pointers[i] = texts[i];
		say_text("text", texts[i]);
	}
	for (unsigned i = 0; i < 8; i++)
		if (draw(5) == 0)
			o.flags |= 1u << i;
	o.pid = pids[draw(8)];
	o.cpus = cpus[draw(12)];
	o.plm = levels[draw(6)];
	o.filters = draw(12) ? NULL : filters;
	o.cgroup = draw(20) ? NULL : "/no/such";
	if (draw(plain ? 2 : 8) == 0) {
		draw_sampling(&sampling);
		o.sampling = &sampling;
		say("sampling", sampling.fields);
	}
	say("flags", o.flags);
	say("pid", (uint64_t)o.pid);
	say_text("cpus", o.cpus);
	rc = pfm_open_session(&s, ctx, &o, pointers, n, &why);
	say("open", (uint64_t)rc);
	if (rc == PFMLIB_SUCCESS) {
		say_calls();
		use(s);
		pfm_close_session(s);
	} else {
		say("kind", (uint64_t)why.kind);
		say("start", why.start);
		say("end", why.end);
		say("event", (uint64_t)why.event);
		say_text("detail", why.detail);
		if (why.event >= 0 && why.event < (int)n) {
			pfm_explain_error(ctx, texts[why.event], &why, line, sizeof(line));
			say_text("sentence", line);
		}
	}
	say_calls();
	assert_int_equal(fake.n_open, 0);
	assert_int_equal(fake.n_maps, 0);
}

static void begin_session(unsigned number)
{
	fake.n_events = 0;
	seen = 0;
	memset(fake.uses, 0, sizeof(fake.uses));
	taste = draw_word();
	refuses = number % 3 == 0 ? 0 : 2 + draw(12);
	fake.now = 1000;
	fake.limit = draw(12) ? 0 : 3 + (int)draw(12);
	fake.locked = draw(8) ? 0 : 4096 * (1 + draw(64));
	fake.fail_at = draw(10) ? 0 : 1 + draw(30);
	fake.fail = (enum fake_call)draw(N_FAKE_CALLS);
	fake.fail_errno = EIO;
	fake.fail_on = draw(3) == 0;
	fake.taken = draw(2) ? 0 : draw_number();
}

void ask_sessions(void)
{
	char name[64];

	for (unsigned i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (unsigned part = 0; part < 5; part++) {
			open_machine(machines[i]);
			snprintf(name, sizeof(name), "session/%s%u", machines[i], part);
			digest_begin(name);
			fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", part & 1 ? "2" : "-1");
			assert_int_equal(pfmi_ctx_load(ctx, LOADED_ALL), 0);
			for (unsigned k = 0; k < 60; k++) {
				begin_session(k);
				ask_session();
			}
			fake.n_events = 0;
			digest_end();
			close_machine();
		}
}
