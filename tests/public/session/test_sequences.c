/* SPDX-License-Identifier: MIT */
/* Sessions beside a model of them: sequences, drawn by a generator of a fixed seed, of opening,
 * starting, stopping, resetting, reading and closing several sessions while threads are born, work,
 * move between CPUs and end, and programs are forked and executed. The counts of a session must be
 * between two figures that the kernel itself keeps for each thread (/proc/self/task, rusage): those
 * of the time in which the session certainly counted, and those of the time in which it may have
 * counted. A sequence that fails is shortened as far as it still fails, and printed.
 *
 * PERFMON_SEQUENCES: how many, PERFMON_SEED: the first one's number; what failed is run again by
 * that number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

#define MAX_OPS      48
#define MAX_THREADS  8
#define MAX_SESSIONS 4
#define MAX_CPUS     4
#define END_FAULTS   16 /* of a thread or program that ends, after its last word about itself */
#define END_SWITCHES 8

enum book {
	FAULTS,
	SWITCHES,
	TOUCHED, /* pages we touched on purpose: what user level alone must see at the least */
	BOOKS
};

enum kind {
	OPEN,
	START,
	STOP,
	RESET,
	READ,
	CLOSE,
	TOUCH,
	SLEEP,
	BIRTH,
	DEATH,
	MOVE,
	FORK,
	EXEC,
	KINDS
};

static const char *const kind_names[] = { "open",  "start", "stop",  "reset", "read",
	                                  "close", "touch", "sleep", "birth", "death",
	                                  "move",  "fork",  "exec" };

/* Operands are taken modulo what there is, so that a sequence stays one when some of it is left
 * out. */
struct op {
	uint8_t kind, a, b, c;
};

struct sequence {
	unsigned n;
	struct op ops[MAX_OPS];
};

/* A thread. Number 0 is the one that commands the others. */
struct actor {
	pthread_t thread;
	int tid;
	unsigned cpu;
	bool alive;
	sem_t go, done;
	struct op command;
	unsigned newborn; /* number of the actor that this one is to give birth to */
	uint64_t touched, last[BOOKS];
};

struct books {
	uint64_t of[MAX_THREADS][BOOKS];
};

/* Bounds of the counts of a session. */
struct model {
	pfm_session_t *session;
	bool counts[MAX_THREADS], inherits, running;
	unsigned cpus; /* set of places in the list of CPUs, 0: everywhere */
	uint64_t low[BOOKS], high[BOOKS];
	struct books low_base, high_base;
};

static struct actor actors[MAX_THREADS];
static unsigned n_actors;
static struct model models[MAX_SESSIONS];
static unsigned cpus[MAX_CPUS], n_cpus;
static char *verdict; /* shared with the parent */

#define VERDICT_ROOM 512

__attribute__((format(printf, 1, 2))) static _Noreturn void wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, VERDICT_ROOM, fmt, ap);
	va_end(ap);
	_exit(1);
}

/* ---- what the kernel's books say ------------------------------------------------------------- */

static void read_file(int tid, const char *name, char *text, size_t room)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	f = fopen(path, "r");
	n = f ? fread(text, 1, room - 1, f) : 0;
	text[n] = '\0';
	if (f)
		fclose(f);
	if (!n)
		wrong("%s cannot be read", path);
}

static uint64_t field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 10) : 0;
}

static void read_books(const struct actor *a, uint64_t out[BOOKS])
{
	char text[4096], *p;

	if (!a->alive) {
		memcpy(out, a->last, sizeof(a->last));
		return;
	}
	read_file(a->tid, "stat", text, sizeof(text));
	p = strrchr(text, ')');
	for (unsigned i = 0; p && i < 8; i++)
		p = strchr(p + 1, ' ');
	out[FAULTS] = p ? strtoull(p, NULL, 10) : 0;
	read_file(a->tid, "status", text, sizeof(text));
	out[SWITCHES] = field(text, "\nvoluntary_ctxt_switches:") +
	                field(text, "\nnonvoluntary_ctxt_switches:");
	out[TOUCHED] = a->touched;
}

static struct books look(void)
{
	struct books b = { 0 };

	for (unsigned i = 0; i < n_actors; i++)
		read_books(&actors[i], b.of[i]);
	return b;
}

/* ---- the model ------------------------------------------------------------------------------- */

static bool is_there(const struct model *m, unsigned actor)
{
	return m->counts[actor] && (!m->cpus || m->cpus >> actors[actor].cpu & 1);
}

/* Raises the upper bounds by everything that happened from @a to @b. */
static void allow(struct model *m, const struct books *a, const struct books *b)
{
	for (unsigned i = 0; i < n_actors; i++)
		for (unsigned k = 0; is_there(m, i) && k < BOOKS; k++)
			m->high[k] += b->of[i][k] - a->of[i][k];
}

/* A running session has counted all until @now. */
static void advance(struct model *m, const struct books *now)
{
	for (unsigned i = 0; i < n_actors; i++)
		for (unsigned k = 0; is_there(m, i) && k < BOOKS; k++) {
			m->low[k] += now->of[i][k] - m->low_base.of[i][k];
			m->high[k] += now->of[i][k] - m->high_base.of[i][k];
		}
	m->low_base = m->high_base = *now;
}

static void model_start(struct model *m)
{
	struct books before = look(), after;

	if (m->running)
		advance(m, &before);
	if (pfm_start_session(m->session))
		wrong("start: errno %d", pfm_session_errno(m->session));
	after = look();
	if (!m->running) {
		allow(m, &before, &after);
		m->low_base = m->high_base = after;
	}
	m->running = true;
}

static void model_stop(struct model *m)
{
	struct books before = look(), after;

	if (m->running)
		advance(m, &before);
	if (pfm_stop_session(m->session))
		wrong("stop: errno %d", pfm_session_errno(m->session));
	after = look();
	if (m->running)
		allow(m, &before, &after);
	m->running = false;
}

static void model_reset(struct model *m)
{
	struct books before = look(), after;

	if (pfm_reset_session(m->session))
		wrong("reset: errno %d", pfm_session_errno(m->session));
	after = look();
	memset(m->low, 0, sizeof(m->low));
	memset(m->high, 0, sizeof(m->high));
	if (!m->running)
		return;
	allow(m, &before, &after);
	m->low_base = m->high_base = after;
}

static void check_count(const struct model *m, unsigned i, const pfm_count_t *c)
{
	pfm_count_info_t info = PFM_INIT(info);
	enum book book;
	uint64_t low;

	pfm_describe_count(m->session, i, &info);
	book = strncmp(info.name, "minor", 5) == 0 ? FAULTS : SWITCHES;
	low = book == FAULTS && strstr(info.name, ":u") ? m->low[TOUCHED] : m->low[book];
	if (c->quality == PFM_QUALITY_NOT_SUPPORTED && c->cause == PFM_CAUSE_PERMISSION)
		return;
	if (c->quality == PFM_QUALITY_NOT_COUNTED && low == 0)
		return; /* no actor ran */
	if (c->quality != PFM_QUALITY_EXACT || c->value < low || c->value > m->high[book])
		wrong("%s is %llu, %s (%s), not %llu to %llu", info.name,
		      (unsigned long long)c->value, pfm_quality_name(c->quality), info.why,
		      (unsigned long long)low, (unsigned long long)m->high[book]);
}

static void model_read(struct model *m)
{
	pfm_count_t counts[8] = { 0 };
	unsigned n = pfm_session_size(m->session);
	struct books before = look(), after;
	struct model seen;

	if (m->running)
		advance(m, &before);
	for (unsigned i = 0; i < n; i++)
		counts[i].size = sizeof(counts[i]);
	if (pfm_read_session(m->session, counts, n))
		wrong("read: errno %d", pfm_session_errno(m->session));
	after = look();
	seen = *m;
	if (m->running)
		allow(&seen, &before, &after);
	for (unsigned i = 0; i < n; i++)
		check_count(&seen, i, &counts[i]);
}

static void model_close(struct model *m)
{
	pfm_close_session(m->session);
	memset(m, 0, sizeof(*m));
}

/* "0,1,0" for a set of places in the list of CPUs: some of them twice. */
static void write_cpus(unsigned set, char *text, size_t room)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < 2 * n_cpus; i++)
		if (set >> (i % n_cpus) & 1)
			at += (size_t)snprintf(text + at, room - at, "%s%u", at ? "," : "",
			                       cpus[i % n_cpus]);
}

static unsigned living(unsigned number)
{
	while (!actors[number % n_actors].alive)
		number++;
	return number % n_actors;
}

static bool is_meant(const struct actor *a, const pfm_session_options_t *options)
{
	bool all = options->pid == getpid() && !(options->flags & PFM_SESSION_ONE_THREAD);

	return a->alive && (all || a->tid == (options->pid ? options->pid : getpid()));
}

static void model_open(struct model *m, const struct op *op)
{
	static const char *const texts[][2] = {
		{ "minor-faults", "context-switches" },
		{ "{minor-faults,context-switches}", NULL },
		{ "{minor-faults,minor-faults,context-switches}", "context-switches" },
		{ "{context-switches,minor-faults}:W", "minor-faults" },
	};
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	unsigned which = op->b % 4, target = living(op->a / 4u);
	char list[64];

	if (m->session)
		model_close(m);
	options.pid = op->a % 4 == 0 ? 0 : op->a % 4 == 1 ? getpid() : actors[target].tid;
	options.flags =
		(op->c & 1 ? PFM_SESSION_INHERIT : 0u) | (op->c & 2 ? PFM_SESSION_ONE_THREAD : 0u);
	m->inherits = op->c & 1;
	m->cpus = op->c >> 2 & 1 ? (op->c >> 3) % (1u << n_cpus) : 0;
	write_cpus(m->cpus, list, sizeof(list));
	options.cpus = *list ? list : NULL;
	for (unsigned i = 0; i < n_actors; i++)
		m->counts[i] = is_meant(&actors[i], &options);
	if (pfm_open_session(&m->session, NULL, &options, texts[which], texts[which][1] ? 2 : 1,
	                     &error))
		wrong("open: %s %s", pfm_error_kind_name(error.kind),
		      error.detail ? error.detail : "");
}

/* ---- threads and programs -------------------------------------------------------------------- */

/* Sanitizers keep books in memory of their own: not about these pages. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
touch_pages(unsigned pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = pages * page;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(3);
	madvise(p, size, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < pages; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, size);
}

static void work(struct actor *a, const struct op *op)
{
	const struct timespec moment = { .tv_nsec = 1000 };

	if (op->kind == TOUCH) {
		touch_pages(1 + op->b);
		a->touched += 1 + op->b;
	}
	for (unsigned i = 0; op->kind == SLEEP && i < 1 + op->b % 8u; i++)
		nanosleep(&moment, NULL); /* the switches are what is counted */
}

static void *live(void *arg);

static void give_birth(struct actor *a)
{
	if (pthread_create(&actors[a->newborn].thread, NULL, live, &actors[a->newborn]))
		_exit(3);
}

static void *live(void *arg)
{
	struct actor *a = arg;

	a->tid = (int)syscall(SYS_gettid);
	a->alive = true;
	for (sem_post(&a->done);; sem_post(&a->done)) {
		while (sem_wait(&a->go))
			;
		if (a->command.kind == DEATH)
			break;
		if (a->command.kind == BIRTH)
			give_birth(a);
		work(a, &a->command);
	}
	read_books(a, a->last);
	return NULL;
}

static void wait_for(struct actor *a)
{
	while (sem_wait(&a->done))
		;
}

static void command(unsigned number, const struct op *op)
{
	struct actor *a = &actors[number];

	if (number == 0) {
		work(a, op);
		return;
	}
	a->command = *op;
	sem_post(&a->go);
	if (op->kind != DEATH)
		wait_for(a);
}

static void birth(const struct op *op)
{
	unsigned parent = living(op->a), child = n_actors;

	if (n_actors == MAX_THREADS)
		return;
	actors[child].cpu = actors[parent].cpu;
	actors[parent].newborn = child;
	sem_init(&actors[child].go, 0, 0);
	sem_init(&actors[child].done, 0, 0);
	for (unsigned i = 0; i < MAX_SESSIONS; i++)
		models[i].counts[child] = models[i].counts[parent] && models[i].inherits;
	if (parent)
		command(parent, op);
	else
		give_birth(&actors[0]);
	wait_for(&actors[child]);
	n_actors++; /* all that it has done counts: its books began with it */
}

static void death(const struct op *op)
{
	unsigned number = living(op->a);
	struct actor *a = &actors[number];
	char path[64];

	if (number == 0)
		return;
	command(number, op);
	pthread_join(a->thread, NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%d", a->tid);
	while (access(path, F_OK) == 0)
		sched_yield();
	a->alive = false;
	for (unsigned i = 0; i < MAX_SESSIONS; i++)
		if (models[i].running && is_there(&models[i], number)) {
			models[i].high[FAULTS] += END_FAULTS;
			models[i].high[SWITCHES] += END_SWITCHES;
		}
}

static void bind_to(const struct actor *a)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[a->cpu], &set);
	if (sched_setaffinity(a->tid, sizeof(set), &set))
		wrong("thread %d cannot be bound to CPU %u", a->tid, cpus[a->cpu]);
}

/* Work during the move can be counted on either of the two CPUs. */
static void move(const struct op *op)
{
	struct books before = look(), after;
	struct actor *a = &actors[living(op->a)];

	for (unsigned i = 0; i < MAX_SESSIONS; i++)
		if (models[i].running)
			advance(&models[i], &before);
	a->cpu = op->b % n_cpus;
	bind_to(a);
	after = look();
	for (unsigned i = 0; i < MAX_SESSIONS; i++) {
		struct model *m = &models[i];

		if (!m->running || !m->cpus)
			continue;
		for (unsigned t = 0; t < n_actors; t++)
			for (unsigned k = 0; m->counts[t] && k < BOOKS; k++)
				m->high[k] += after.of[t][k] - before.of[t][k];
		m->low_base = m->high_base = after;
	}
}

/* A child of the first thread, which touches pages as it is or as another program. */
static void run_program(const struct op *op)
{
	struct rusage usage;
	unsigned pages = 1 + op->b;
	char number[16];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", pages);
	pid = fork();
	if (pid == 0) {
		if (op->kind == EXEC)
			execl("/proc/self/exe", "test_sequences", "--touch", number, (char *)NULL);
		touch_pages(pages);
		_exit(0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		wrong("the child failed");
	for (unsigned i = 0; i < MAX_SESSIONS; i++) {
		struct model *m = &models[i];

		if (!m->running || !m->inherits || !is_there(m, 0))
			continue;
		m->low[FAULTS] += pages;
		m->low[TOUCHED] += pages;
		m->high[FAULTS] += (uint64_t)usage.ru_minflt + END_FAULTS;
		m->high[SWITCHES] += (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw) + END_SWITCHES;
	}
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void perform(const struct op *op)
{
	struct model *m = &models[op->a % MAX_SESSIONS];

	if (op->kind == OPEN)
		model_open(&models[op->b / 4u % MAX_SESSIONS], op);
	if (op->kind < OPEN + 6 && op->kind != OPEN && !m->session)
		return;
	switch (op->kind) {
	case OPEN: break;
	case START: model_start(m); break;
	case STOP: model_stop(m); break;
	case RESET: model_reset(m); break;
	case READ: model_read(m); break;
	case CLOSE: model_close(m); break;
	case BIRTH: birth(op); break;
	case DEATH: death(op); break;
	case MOVE: move(op); break;
	case FORK:
	case EXEC: run_program(op); break;
	default: command(living(op->a), op);
	}
}

static _Noreturn void run_here(const struct sequence *s)
{
	n_actors = 1;
	actors[0].tid = getpid();
	actors[0].alive = true;
	bind_to(&actors[0]);
	for (unsigned i = 0; i < s->n; i++)
		perform(&s->ops[i]);
	for (unsigned i = 0; i < MAX_SESSIONS; i++)
		if (models[i].session) {
			model_read(&models[i]);
			model_stop(&models[i]);
			model_read(&models[i]);
			model_close(&models[i]);
		}
	_exit(0);
}

/* In a process of its own. True if it went well. */
static bool run_sequence(const struct sequence *s)
{
	int status;
	pid_t pid;

	verdict[0] = '\0';
	pid = fork();
	if (pid == 0) {
		alarm(60);
		run_here(s);
	}
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (status && !*verdict)
		snprintf(verdict, VERDICT_ROOM, "it ended with status %#x", (unsigned)status);
	return status == 0;
}

static uint32_t next_number(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void draw(uint32_t seed, struct sequence *s)
{
	/* Often enough that most operations find a session that runs. */
	static const uint8_t kinds[] = { OPEN,  OPEN,  OPEN,  START, START, START, START, STOP,
		                         STOP,  RESET, READ,  READ,  READ,  READ,  CLOSE, TOUCH,
		                         TOUCH, TOUCH, TOUCH, TOUCH, SLEEP, SLEEP, BIRTH, BIRTH,
		                         DEATH, MOVE,  MOVE,  FORK,  EXEC };

	seed = seed * 2654435761u | 1;
	for (unsigned i = 0; i < 4; i++)
		next_number(&seed);
	s->n = 8 + next_number(&seed) % (MAX_OPS - 8);
	for (unsigned i = 0; i < s->n; i++) {
		uint32_t r = next_number(&seed) >> 3;

		s->ops[i] = (struct op){ i < 2 ? OPEN : kinds[next_number(&seed) % sizeof(kinds)],
			                 (uint8_t)r, (uint8_t)(r >> 8), (uint8_t)(r >> 16) };
	}
}

/* Leaves out what is not needed for it to fail: halves first, then single operations. */
static void shrink(struct sequence *s)
{
	for (unsigned piece = s->n / 2; piece; piece /= 2)
		for (unsigned at = 0; at + piece <= s->n;) {
			struct sequence less = { .n = s->n - piece };

			memcpy(less.ops, s->ops, at * sizeof(*s->ops));
			memcpy(less.ops + at, s->ops + at + piece,
			       (s->n - at - piece) * sizeof(*s->ops));
			if (run_sequence(&less))
				at += piece;
			else
				*s = less;
		}
}

static void print_sequence(const struct sequence *s)
{
	for (unsigned i = 0; i < s->n; i++)
		print_message("# %2u %s %u %u %u\n", i, kind_names[s->ops[i].kind], s->ops[i].a,
		              s->ops[i].b, s->ops[i].c);
}

static unsigned number_of(const char *name, unsigned preset)
{
	const char *value = getenv(name);

	return value && *value ? (unsigned)strtoul(value, NULL, 10) : preset;
}

/* Skips where this kernel counts no page faults, or not for this user. */
static void need_kernel(void)
{
	pfm_count_t count = { .size = sizeof(count) };
	pfm_session_t *s = NULL;

	if (pfm_open_session(&s, NULL, NULL, (const char *const[]){ "minor-faults" }, 1, NULL) ||
	    pfm_read_session(s, &count, 1))
		fail_msg("no session can be opened");
	pfm_close_session(s);
	if (count.quality == PFM_QUALITY_NOT_SUPPORTED) {
		print_message("# SKIP this kernel counts no page faults for this user: %s\n",
		              pfm_cause_name(count.cause));
		skip();
	}
}

static void sessions_count_what_the_model_says(void **state)
{
	unsigned n = number_of("PERFMON_SEQUENCES", 60), first = number_of("PERFMON_SEED", 1);

	(void)state;
	need_kernel();
	for (unsigned seed = first; seed < first + n; seed++) {
		char why[VERDICT_ROOM];
		struct sequence s = { 0 };

		draw(seed, &s);
		if (run_sequence(&s))
			continue;
		memcpy(why, verdict, sizeof(why));
		shrink(&s);
		print_message("# sequence %u: %s\n", seed, why);
		run_sequence(&s);
		print_sequence(&s);
		fail_msg("sequence %u fails, made short: %s", seed,
		         *verdict ? verdict : "not each time");
	}
}

static int set_up(void **state)
{
	cpu_set_t set;

	(void)state;
	sched_getaffinity(0, sizeof(set), &set);
	for (unsigned i = 0; i < CPU_SETSIZE && n_cpus < MAX_CPUS; i++)
		if (CPU_ISSET(i, &set))
			cpus[n_cpus++] = i;
	verdict =
		mmap(NULL, VERDICT_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return n_cpus && verdict != MAP_FAILED ? 0 : -1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sessions_count_what_the_model_says) };

	if (argc == 3 && strcmp(argv[1], "--touch") == 0) {
		touch_pages((unsigned)strtoul(argv[2], NULL, 10));
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, NULL);
}
