/* SPDX-License-Identifier: MIT */
/*
 * Sessions on the PMU of a guest, and the command beside them: counts of a loop whose number of
 * instructions is known.
 *
 *   pmu_session GUEST GUEST        arm32, riscv64 or ppc64le: what the guest of that name counts
 *   pmu_session GUEST hotplug      two CPUs, one of which is switched off and on again
 *   pmu_session GUEST nointerrupt  counters overflow without an interrupt
 *   pmu_session arm64 truth        what the command says of programs whose counts are known
 *   pmu_session loop N             N rounds of the loop: a command to count and to sample
 *
 * Counts are compared as differences of two lengths of the loop, because starting and stopping add
 * as much to both.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session.h"
#include "command.h"
#include "guest/region_counts.h"
#include "known_loop.h"

enum { ROUNDS = 1000000, PER_ROUND = 4, PAGES = 4096 };

static const struct guest {
	const char *name;
	const char *pmu;                   /* the host's, as pfm list --pmus has it */
	const char *cycles, *instructions; /* events with their PMU's own names */
	const char *tlb_misses;            /* of data, or NULL where the emulator has none */
	unsigned per_mille;                /* how far a count may be off */
	bool interrupts;                   /* an overflow interrupts */
	unsigned long rounds_to_wrap;      /* rounds until 32 bits overflow; 0: no such counter */
} guests[] = {
	{ "arm32", "cortex_a15", "cortex_a15::CPU_CYCLES:u", "cortex_a15::INST_RETIRED:u", NULL, 1,
	  true, (1UL << 30) + ROUNDS },
	{ "riscv64", "riscv_sbi", "cycles:u", "instructions:u", "dTLB-load-misses:u", 2, true, 0 },
	{ "arm64", "cortex_a57", "cycles:u", "instructions:u", NULL, 1, true, 0 },
	{ "ppc64le", "power9", "power9::PM_CYC:u", "power9::PM_INST_CMPL:u", NULL, 3, false,
	  (1UL << 30) + ROUNDS },
};

static const struct guest *guest;

static bool near(uint64_t value, uint64_t wanted)
{
	uint64_t slack = wanted / 1000 * guest->per_mille + 1;

	return value + slack >= wanted && value <= wanted + slack;
}

static bool count_loop(unsigned long rounds)
{
	if (pfm_reset_session(session) || pfm_start_session(session))
		return false;
	loop(rounds);
	return pfm_stop_session(session) == 0 && read_counts();
}

/* Difference between the counts of event @i in two lengths of the loop. */
static uint64_t count_difference(unsigned i)
{
	uint64_t first = 0;

	if (!count_loop(ROUNDS))
		return 0;
	first = counts[i].value;
	return count_loop(3 * ROUNDS) ? counts[i].value - first : 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Prints the lines of the output that hold @text, as comments. */
static void show_said(const char *text)
{
	for (char *line = said; *line;) {
		size_t len = strcspn(line, "\n");
		char end = line[len];

		line[len] = '\0';
		if (strstr(line, text))
			printf("# %s\n", line);
		line[len] = end;
		line += len + (line[len] != '\0');
	}
}

/* ---- what is checked ------------------------------------------------------------------------- */

static void host(void)
{
	char line[64];
	const char *found;

	snprintf(line, sizeof(line), "\n  %s ", guest->pmu);
	found = RUN("list", "--pmus") == 0 ? strstr(said, line) : NULL;
	check(found && strcspn(found + 1, "\n") > (size_t)(strstr(found, "this machine") - found),
	      "pfm list --pmus says that this machine is a %s", guest->pmu);
	show_said("this machine");
}

static void one_event(const char *text)
{
	uint64_t difference = open_text(text) ? count_difference(0) : 0;

	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
	              near(difference, 2UL * PER_ROUND * ROUNDS),
	      "%s: 8000000 are %llu", text, (unsigned long long)difference);
	tell();
}

static void group(void)
{
	char text[160];
	uint64_t first;

	snprintf(text, sizeof(text), "{%s,%s}", guest->cycles, guest->instructions);
	check(open_text(text) && count_loop(ROUNDS), "%s opens", text);
	first = counts[1].value;
	check(count_loop(3 * ROUNDS) && near(counts[1].value - first, 2UL * PER_ROUND * ROUNDS) &&
	              counts[0].enabled == counts[1].enabled &&
	              counts[0].running == counts[1].running,
	      "members of a group count over the same time");
	tell();
}

/* More events than counters: each count is extrapolated from its share of the time, or exact. */
static void twelve_events(void)
{
	enum { EVENTS = 12, LONG = 150 };
	const char *texts[EVENTS];
	bool honest = true;
	unsigned good = 0, shared = 0;

	for (unsigned i = 0; i < EVENTS; i++)
		texts[i] = guest->instructions;
	check(open_texts(texts, EVENTS) == 0 && count_loop(LONG * ROUNDS), "twelve events open");
	tell();
	for (unsigned i = 0; i < EVENTS; i++) {
		bool right = counts[i].value > (uint64_t)LONG * PER_ROUND * ROUNDS * 9 / 10 &&
		             counts[i].value < (uint64_t)LONG * PER_ROUND * ROUNDS * 11 / 10;

		honest &= right || counts[i].quality > PFM_QUALITY_SCALED;
		good += right;
		shared += counts[i].quality == PFM_QUALITY_SCALED;
	}
	check(honest, "each is right or does not claim to be: %u are right, %u extrapolated", good,
	      shared);
	check(good > 0, "one of them at least is right");
}

static void inherit(void)
{
	uint64_t sum[2] = { 0 };

	options.flags = PFM_SESSION_INHERIT;
	check(open_text(guest->instructions), "an inherited event opens");
	for (unsigned i = 0; i < 2; i++) {
		pfm_reset_session(session);
		pfm_start_session(session);
		for (unsigned k = 0; k < 3; k++) {
			pid_t pid = fork();

			if (pid == 0) {
				loop(i ? 3 * ROUNDS : ROUNDS);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		pfm_stop_session(session);
		read_counts();
		sum[i] = counts[0].value;
	}
	options.flags = 0;
	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
	              near(sum[1] - sum[0], 6UL * PER_ROUND * ROUNDS),
	      "three children: 24000000 are %llu", (unsigned long long)(sum[1] - sum[0]));
	tell();
}

/* Each page is touched for the first time in this address space: no TLB can have it. */
static void tlb_misses(void)
{
	volatile char *pages;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t none;

	if (!guest->tlb_misses)
		return;
	pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	for (size_t i = 0; i < PAGES; i++)
		pages[i * page] = 1;
	check(open_text(guest->tlb_misses) && count_loop(ROUNDS), "%s opens", guest->tlb_misses);
	none = counts[0].value;
	pfm_reset_session(session);
	pfm_start_session(session);
	for (size_t i = 0; i < PAGES; i++)
		(void)pages[i * page];
	pfm_stop_session(session);
	read_counts();
	tell();
	/* The emulator's TLB may keep the last ones that were written. */
	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && counts[0].value >= none + PAGES / 2 &&
	              counts[0].value <= none + PAGES + PAGES / 2,
	      "%d pages are %llu misses, the loop alone is %llu", PAGES,
	      (unsigned long long)counts[0].value, (unsigned long long)none);
	munmap((void *)(uintptr_t)pages, PAGES * page);
}

/* A 32-bit counter overflows within the count. */
static void wrap(void)
{
	uint64_t wanted = (uint64_t)guest->rounds_to_wrap * PER_ROUND;

	if (!guest->rounds_to_wrap)
		return;
	check(open_text(guest->instructions) && count_loop(guest->rounds_to_wrap),
	      "a count of more than 32 bits opens");
	tell();
	check(counts[0].quality > PFM_QUALITY_SCALED || near(counts[0].value, wanted),
	      "%llu are %llu, or not exact", (unsigned long long)wanted,
	      (unsigned long long)counts[0].value);
}

static bool switch_cpu_1(bool on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool ok = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	if (!ok)
		printf("# CPU 1 cannot be switched %s\n", on ? "on" : "off");
	close(fd);
	usleep(60000); /* the service notices within its interval */
	return ok;
}

/* A system-wide count is exact until a CPU comes back, whose time is missing then. */
static void cpus_come_and_go(void)
{
	uint64_t first;
	bool ok;

	options.flags = PFM_SESSION_SYSTEM_WIDE;
	check(open_text("cycles:u") && pfm_start_session(session) == 0,
	      "a count of two CPUs opens");
	loop(ROUNDS);
	read_counts();
	tell();
	first = counts[0].value;
	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && first,
	      "it is exact while both are there");
	ok = switch_cpu_1(false) && switch_cpu_1(true);
	loop(ROUNDS);
	pfm_stop_session(session);
	read_counts();
	tell();
	check(ok && is(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU) && counts[0].value > first,
	      "and partial after one was off and on again");
	options.flags = 0;
}

static void record_and_report(bool has_interrupt)
{
	int status = RUN("record", "-e", guest->instructions, "-c", "1000000", "-o", "/tmp/data",
	                 "--", "/pmu_session", "loop", "50000000");

	show_said("");
	if (!has_interrupt) {
		check(status != 0 || strstr(said, "no interrupt"),
		      "pfm record says that no interrupt comes");
		status = RUN("record", "-e", "cpu-clock:u", "-o", "/tmp/data", "--", "/pmu_session",
		             "loop", "50000000");
		show_said("");
	}
	check(status == 0, "pfm record ends well");
	status = RUN("report", "--json", "/tmp/data");
	show_said("");
	check(status == 0 && strstr(said, "pmu_session") && strstr(said, "loop"),
	      "pfm report names the loop");
	status = RUN("stat", "-e", guest->instructions, "--", "/pmu_session", "loop", "1000000");
	show_said("");
	check(status == 0 && strstr(said, " 4,") && strstr(said, "seconds elapsed"),
	      "pfm stat counts the loop");
}

/* ---- truth ----------------------------------------------------------------------------------- */

/* Eight spellings of the same event: more than there are counters. */
#define SPELLINGS                                                                                  \
	"instructions:u,armv8_pmuv3/event=8/u,armv8_pmuv3/event=0x8/u,armv8_pmuv3/event=0x08/u,"   \
	"armv8_pmuv3/event=0x008/u,armv8_pmuv3/event=0x0008/u,armv8_pmuv3/event=0x00008/u,"        \
	"armv8_pmuv3/event=0x000008/u"

/* The number after @key in @line; @missing without one. */
static double read_member(const char *line, const char *key, double missing)
{
	const char *at = strstr(line, key);
	char *end;
	double number = at ? strtod(at + strlen(key), &end) : missing;

	return at && end != at + strlen(key) ? number : missing;
}

/* An event that PMCEID0 hides: the kernel opens it, and its count stays 0. */
static void event_that_is_missing(void)
{
	check(RUN("show", "cortex_a57::L1D_CACHE") == 0 &&
	              strstr(said, "this CPU does not implement it"),
	      "pfm show says that an event is missing");
	show_said("");
	check(RUN("list", "L1D_CACHE") == 0 && strstr(said, "this CPU does not implement it"),
	      "pfm list says that an event is missing");
	RUN("stat", "--json", "-e", "cortex_a57::L1D_CACHE,cortex_a57::INST_RETIRED:u", "--",
	    "/pmu_session", "loop", "1000");
	check(strstr(said, "\"not supported\"") && strstr(said, "this CPU does not implement it") &&
	              strstr(said, "\"exact\""),
	      "pfm stat does not count it");
	show_said("");
}

/* Intervals of --rotate contain the true count, or are not given. */
static void rotation(void)
{
	enum { RUNS = 5 };
	static const char rounds[] = "100000000";
	const double truth = PER_ROUND * 1e8;
	unsigned n = 0, covering = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		RUN("stat", "--json", "--rotate=5", "-e", SPELLINGS, "--", "/pmu_session", "loop",
		    rounds);
		if (!run)
			show_said("instructions");
		for (const char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
			double value = read_member(line, "\"value\": ", -1),
			       half = read_member(line, "\"interval\": ", -1);
			bool covers = value * (1 - half / 100) <= truth + 20000 &&
			              value * (1 + half / 100) >= truth;

			n += half >= 0;
			covering += half >= 0 && covers;
		}
	}
	check(n > 0 && covering * 100 >= n * 95, "%u of %u intervals of --rotate cover the truth",
	      covering, n);
}

/* Events that do not fit take turns between visits of a region. */
static void regions_take_turns(void)
{
	check_region_turns(check, SPELLINGS);
}

/* Instructions and cycles are right in QEMU, and its PMU never counts loads. */
static void known_counts(void)
{
	check(RUN("check-events", "cortex_a57::INST_RETIRED", "cortex_a57::CPU_CYCLES",
	          "cortex_a57::LD_SPEC") == 0 &&
	              strstr(said, "3 events: 2 right, 1 zero, 0 not checked."),
	      "pfm check-events finds the event that stays at 0");
	show_said("");
}

static void truth(void)
{
	event_that_is_missing();
	known_counts();
	rotation();
	regions_take_turns();
	check(RUN("doctor") <= 1 && strstr(said, "instructions:u"), "pfm doctor ends well");
	show_said("");
	record_and_report(true);
}

static void all_counts(void)
{
	host();
	one_event(guest->instructions);
	one_event(guest->cycles);
	one_event("instructions:u");
	one_event("cycles:u");
	group();
	twelve_events();
	inherit();
	tlb_misses();
	record_and_report(guest->interrupts);
	wrap();
#ifdef __riscv
	check_region_counts(check, false);
#endif
}

int main(int argc, char **argv)
{
	const char *story = argc == 3 ? argv[2] : "";

	if (argc == 3 && strcmp(argv[1], "loop") == 0) {
		loop(strtoul(story, NULL, 0));
		return 0;
	}
	for (unsigned i = 0; argc == 3 && i < N(guests); i++)
		if (strcmp(guests[i].name, argv[1]) == 0)
			guest = &guests[i];
	if (!guest)
		return 2;
	if (strcmp(story, "hotplug") == 0)
		cpus_come_and_go();
	else if (strcmp(story, "truth") == 0)
		truth();
	else if (strcmp(story, "nointerrupt") == 0)
		record_and_report(false);
	else
		all_counts();
	return finish();
}
