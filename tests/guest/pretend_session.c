/* SPDX-License-Identifier: MIT */
/*
 * pretend_session STORY: the library on the PMU of pretend_pmu.c, in the amd64 guest. It describes
 * itself in sysfs, refuses config bits outside of that description, has four counters, and counts
 * (event + 1) * (umask + 1) in a microsecond: so each count tells which event select and which unit
 * mask reached the kernel.
 *
 *   before   while the module is not loaded
 *   root     with it
 *   user     as an ordinary user, at perf_event_paranoid 2
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "session.h"

#define CONFIG_BITS UINT64_C(0xff84ffff) /* event, umask, edge, inv, cmask */
#define USR_OS      UINT64_C(0x00030000)
#define INT_EN      UINT64_C(0x00500000)

static void pass(long us)
{
	struct timespec t, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += us * 1000;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((t.tv_sec - end.tv_sec) * 1000000000 + t.tv_nsec < end.tv_nsec);
}

static bool run(long us)
{
	bool ok = pfm_reset_session(session) == 0 && pfm_start_session(session) == 0;

	pass(us);
	return pfm_stop_session(session) == 0 && ok && read_counts();
}

static uint64_t rate_of(uint64_t config)
{
	return ((config & 0xff) + 1) * ((config >> 8 & 0xff) + 1);
}

/* The kernel and the module take the time one after the other: hence a margin. */
static bool at_rate(unsigned i, uint64_t config)
{
	uint64_t wanted = counts[i].enabled * rate_of(config) / 1000, margin = wanted / 50;

	return counts[i].value > wanted - margin && counts[i].value < wanted + margin;
}

/* One attempt may meet a machine that stops the guest in between. */
static bool counts_as(const char *text, uint64_t config)
{
	for (int attempt = 0; attempt < 5; attempt++)
		if (open_text(text) && run(2000) && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
		    at_rate(0, config))
			return true;
	tell();
	return false;
}

/* ---- the description ------------------------------------------------------------------------- */

static void check_description(void)
{
	static const struct {
		const char *text;
		uint64_t config;
	} rows[] = {
		{ "cpu/event=0xc0,umask=1/", 0x1c0 },
		{ "cpu/event=0xff,umask=0xff/", 0xffff },
		{ "cpu/event=0,umask=0/", 0 },
		{ "cpu/umask=0x41,event=0x2e/", 0x412e },
		{ "cpu/event=0x3c,cmask=0x10,inv,edge/", 0x1084003c },
		{ "cpu/event=0x3c,inv=1/", 0x80003c },
		{ "cpu/config=0x1c0/", 0x1c0 },
		{ "cpu/cache-misses/", 0x412e },
		{ "cpu/branch-misses,umask=2/", 0x2c5 },
		{ "cpu/cache-references,cmask=1/", 0x1004f2e },
		{ "cpu/event=0x12,usr=1/",
		  0x12 }, /* the kernel's own bit: an exclusion, not a number */
		{ "r1c0", 0x1c0 },
	};
	static const struct {
		const char *text;
		pfm_error_kind_t kind;
		unsigned start, end;
	} wrong[] = {
		{ "cpu/event=0x100/", PFM_KIND_BAD_VALUE, 10, 15 },
		{ "cpu/event=1,umask=0x100/", PFM_KIND_BAD_VALUE, 18, 23 },
		{ "cpu/event=1,edge=2/", PFM_KIND_BAD_VALUE, 17, 18 },
		{ "cpu/event=1,any=1/", PFM_KIND_UNKNOWN_QUALIFIER, 12, 15 },
	};
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);

	check(pfm_describe_pmu(NULL, pfm_find_pmu(NULL, "cpu"), &pmu) == 0 &&
	              pmu.type == PERF_TYPE_RAW,
	      "cpu is found, with its type");
	for (size_t i = 0; i < N(rows); i++) {
		pfm_encoding_t code = PFM_INIT(code);
		int rc = pfm_encode_event(NULL, rows[i].text, 0, &code, NULL);

		check(rc == 0 && code.attr.type == PERF_TYPE_RAW &&
		              code.attr.config == rows[i].config && code.attr.config1 == 0,
		      "%s is 0x%llx", rows[i].text, (unsigned long long)code.attr.config);
		check(counts_as(rows[i].text, rows[i].config), "and counts %llu in a microsecond",
		      (unsigned long long)rate_of(rows[i].config));
	}
	for (size_t i = 0; i < N(wrong); i++) {
		pfm_encoding_t code = PFM_INIT(code);
		pfm_error_t error = PFM_INIT(error);
		int rc = pfm_encode_event(NULL, wrong[i].text, 0, &code, &error);

		check(rc != 0 && error.kind == wrong[i].kind && error.start == wrong[i].start &&
		              error.end == wrong[i].end,
		      "%s is refused before the kernel sees it: %s at %u to %u", wrong[i].text,
		      pfm_error_kind_name(error.kind), (unsigned)error.start, (unsigned)error.end);
	}
}

static const char no_event[] = "the PMU of this processor has no event for it";
static const char list_them[] = "choose another event: pfm list shows what this machine has";

static void check_generic(void)
{
	static const struct {
		const char *text;
		uint64_t config;
	} rows[] = {
		{ "cycles", 0x3c },
		{ "instructions", 0xc0 },
		{ "cache-references", 0x4f2e },
		{ "cache-misses", 0x412e },
		{ "branches", 0xc4 },
		{ "branch-misses", 0xc5 },
		{ "cycles:u", 0x3c },
	};

	for (size_t i = 0; i < N(rows); i++)
		check(counts_as(rows[i].text, rows[i].config), "%s is the kernel's 0x%llx",
		      rows[i].text, (unsigned long long)rows[i].config);
	check(open_text("bus-cycles") && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
	              says(0, no_event, list_them),
	      "bus-cycles is not one of them");
	check(open_text("L1-dcache-loads") && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
	              says(0, no_event, list_them),
	      "nor is L1-dcache-loads");
}

/* ---- whole registers ------------------------------------------------------------------------- */

static int try_raw(uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_RAW, .config = config, .disabled = 1
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

struct tally {
	unsigned encodings, alike, clean, accepted, refused;
};

/* Checks one encoding: the register in the processor's format, the attribute in the kernel's. */
static void weigh(const char *text, struct tally *t)
{
	pfm_encoding_t code = PFM_INIT(code);
	uint64_t reg, owned = INT_EN | USR_OS;

	if (pfm_encode_event(NULL, text, 0, &code, NULL) != 0 || code.n_regs == 0)
		return;
	reg = code.regs[0].value;
	t->encodings++;
	t->alike += (reg & INT_EN) == INT_EN && (reg & USR_OS) != 0 &&
	            (reg & ~owned) == code.attr.config;
	t->clean += code.attr.expressible && (code.attr.config & ~CONFIG_BITS) == 0 &&
	            code.attr.config1 == 0 && code.attr.config2 == 0;
	t->accepted += try_raw(code.attr.config) == 0;
	t->refused += try_raw(reg) == -EINVAL;
}

static void weigh_event(int pmu, unsigned i, struct tally *t)
{
	static const char *const qualifiers[] = { "",         ":u", ":k",          ":c=2",
		                                  ":c=255:i", ":e", ":u:k:c=1:i:e" };
	perfmon_event_info_t event = PFM_INIT(event);
	char text[160];

	pfm_describe_event(NULL, pmu, i, &event);
	for (size_t q = 0; q < N(qualifiers); q++) {
		snprintf(text, sizeof(text), "coreduo::%s%s", event.name, qualifiers[q]);
		weigh(text, t);
	}
	for (unsigned u = 0; u < event.n_umasks; u++) {
		pfm_umask_info_t umask = PFM_INIT(umask);

		pfm_describe_umask(NULL, pmu, i, u, &umask);
		snprintf(text, sizeof(text), "coreduo::%s:%s", event.name, umask.name);
		weigh(text, t);
	}
}

static void check_registers(void)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int pmu = pfm_find_pmu(NULL, "coreduo");
	struct tally t = { 0 };

	check(pmu >= 0 && pfm_describe_pmu(NULL, pmu, &info) == 0, "coreduo is known");
	for (unsigned i = 0; i < info.n_events; i++)
		weigh_event(pmu, i, &t);
	check(t.encodings > 900, "%u encodings of its %u events", t.encodings, info.n_events);
	check(t.alike == t.encodings, "%u registers are the kernel's number and INT, EN, USR or OS",
	      t.alike);
	check(t.clean == t.encodings, "%u numbers for the kernel have none of these", t.clean);
	check(t.accepted == t.encodings, "%u of them the kernel takes", t.accepted);
	check(t.refused == t.encodings, "%u registers it would have refused", t.refused);
}

/* The kernel counts config values from the encoder, and the refusal of a whole register value is
 * explained. */
static void check_numbers(void)
{
	static const char *const texts[] = { "coreduo::L2_LINES_IN:SELF:ANY",
		                             "coreduo::Bus_Snoops,agent=any,cachestate=ms",
		                             "coreduo::UNHALTED_CORE_CYCLES" };

	for (size_t i = 0; i < N(texts); i++) {
		pfm_encoding_t code = PFM_INIT(code);
		char raw[32];
		int rc = pfm_encode_event(NULL, texts[i], 0, &code, NULL);

		snprintf(raw, sizeof(raw), "r%llx", (unsigned long long)code.attr.config);
		check(rc == 0 && counts_as(raw, code.attr.config), "%s is counted as %s", texts[i],
		      raw);
	}
	check(open_text("r5300c0") && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE) &&
	              counts[0].sys_errno == EINVAL &&
	              says(0,
	                   "the kernel refuses config=0x5300c0 on cpu, whose format has no field "
	                   "for 0x530000 of it",
	                   "clear these bits: the kernel sets the enable, interrupt and privilege "
	                   "bits"),
	      "a whole register is explained");
	check(open_text("coreduo::Instr_Ret") && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
	              says(0,
	                   "this machine has no coreduo: its events can be encoded but not counted "
	                   "here",
	                   "use an event of this machine: pfm list shows them"),
	      "another processor's event is not counted by chance");
}

/* ---- groups ---------------------------------------------------------------------------------- */

#define FOUR "cycles,instructions,cpu/event=0x10,umask=0x3/,cache-misses"

static const char no_room[] =
	"the group does not fit: with the members before it, no counter is left for this event";
static const char smaller[] = "make the group smaller, or allow the library to split it (:W after "
			      "the brace)";

static bool four_at_rate(void)
{
	static const uint64_t configs[] = { 0x3c, 0xc0, 0x310, 0x412e };
	bool ok = true;

	for (unsigned i = 0; i < 4; i++)
		ok = ok && is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && at_rate(i, configs[i]);
	return ok;
}

static bool four_counted(const char *text)
{
	for (int attempt = 0; attempt < 5; attempt++)
		if (open_text(text) && run(2000) && four_at_rate())
			return true;
	tell();
	return false;
}

/* Five take turns on four counters, at the ticks of the clock. */
static bool five_in_turn(void)
{
	for (int attempt = 0; attempt < 5; attempt++) {
		unsigned n = 0;

		if (!open_text("{" FOUR ",branch-misses}:W") || !run(60000))
			return false;
		while (n < 5 && is(n, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED) &&
		       counts[n].running < counts[n].enabled)
			n++;
		if (n == 5)
			return true;
		tell();
	}
	return false;
}

static void check_groups(void)
{
	pfm_error_t error = PFM_INIT(error);
	const char *five = "{" FOUR ",branch-misses}";
	pfm_session_t *none = NULL;
	int rc;

	check(four_counted("{" FOUR "}"), "four events are a group");
	check(open_text(five) && run(2000) && is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "a group of five is not counted");
	check(is(4, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP) && counts[4].value == 0 &&
	              says(4, no_room, smaller),
	      "the fifth is not");
	check(open_text("{" FOUR ",branch-misses,task-clock}") && run(2000) &&
	              is(4, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP) &&
	              is(5, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "a software event behind it is not counted either");
	options.flags = PFM_SESSION_STRICT;
	rc = pfm_open_session(&none, NULL, &options, &five, 1, &error);
	check(rc == PFMLIB_ERR_NOASSIGN && none == NULL && error.sys_errno == EINVAL,
	      "a strict session is refused as a whole");
	options.flags = 0;
	check(five_in_turn(), "a weak group is broken up: %s", about(4).why);
	check(open_text("{" FOUR "}:D") && run(2000) && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE),
	      "a pinned group is counted");
}

/* Four counters that one session holds are not there for another one. */
static void check_busy(void)
{
	pfm_session_t *first;

	check(open_text("{" FOUR "}:D") && pfm_start_session(session) == 0,
	      "a session holds all four counters");
	first = session;
	session = NULL;
	check(open_text("branch-misses") && run(10000) &&
	              is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER) && counts[0].value == 0,
	      "another one gets none, and no zero that looks like a count");
	tell();
	check(open_text("branch-misses:D") && run(10000) &&
	              is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER),
	      "pinned, it is told so too");
	tell();
	pfm_close_session(first);
	check(counts_as("branch-misses", 0xc5), "when the first one closes they are free");
}

/* ---- other stories --------------------------------------------------------------------------- */

static void check_before(void)
{
	check(open_text("instructions") && run(100) &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
	              says(0,
	                   "the hypervisor gives this virtual machine no PMU: hardware events "
	                   "cannot be counted",
	                   "switch the virtual PMU on (QEMU: -cpu host,pmu=on), take a bigger or a "
	                   "bare-metal instance, or use software "
	                   "events such as task-clock"),
	      "a virtual machine without a PMU");
	check(!open_text("cpu/event=0xc0/"), "has no cpu to name");
}

static void check_user(void)
{
	const char *texts[] = { "instructions", "instructions:u", "instructions:k" };

	check(getuid() != 0 && open_texts(texts, N(texts)) == 0 && run(2000),
	      "an ordinary user opens a session");
	tell();
	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
	              strcmp(about(0).name, "instructions:u") == 0,
	      "what may be counted is called %s", about(0).name);
	check(is(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE), "user code is counted");
	check(is(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION) &&
	              says(2, "perf_event_paranoid is 2: counting the kernel needs 1 or lower",
	                   "count user code only (:u), run with the capability CAP_PERFMON "
	                   "(CAP_SYS_ADMIN before Linux 5.8), "
	                   "which root has outside of containers, "
	                   "or set kernel.perf_event_paranoid to 1"),
	      "the kernel is not");
}

int main(int argc, char **argv)
{
	const char *story = argc > 1 ? argv[1] : "";

	if (strcmp(story, "before") == 0) {
		check_before();
	} else if (strcmp(story, "root") == 0) {
		check_description();
		check_generic();
		check_registers();
		check_numbers();
		check_groups();
		check_busy();
	} else if (strcmp(story, "user") == 0) {
		check_user();
	}
	return finish();
}
