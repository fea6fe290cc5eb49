/* SPDX-License-Identifier: MIT */
/*
 * pfm check-events on the PMU of a guest, whose emulator counts some events and leaves others at 0.
 *
 *   events_session GUEST events     the judgements, alone, beside loads, and with a full PMU
 *   events_session GUEST repeat N   N judgements of the same events beside a load: no false alarm
 *   events_session GUEST report     prints the report of all events, for lib/events/truth
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "tap.h"

enum { SPINNERS = 3, HELD_MAX = 16, CHUNK = 200 };

/* The events of a guest's emulator: events that are right, and one that stays at 0. */
static const struct guest {
	const char *name;
	const char *right[3];
	const char *zero; /* NULL: it leaves none of those with a meaning at 0 */
} guests[] = {
	{ "arm64",
	  { "cortex_a57::INST_RETIRED", "cortex_a57::CPU_CYCLES", "page-faults" },
	  "cortex_a57::LD_SPEC" },
	{ "arm32",
	  { "cortex_a15::INST_RETIRED", "cortex_a15::CPU_CYCLES", "page-faults" },
	  "cortex_a15::LD_SPEC" },
	{ "riscv64", { "hardware::instructions", "hardware::cpu-cycles", "page-faults" }, NULL },
	{ "ppc64le",
	  { "power9::PM_INST_CMPL", "power9::PM_CYC", "page-faults" },
	  "power9::PM_BR_CMPL" },
};

static const struct guest *guest;

/* ---- the command ----------------------------------------------------------------------------- */

#define CHECK(...) RUN("check-events", "--json", __VA_ARGS__)

/* True if the report judges @event as @judgement. */
static bool is_judged(const char *event, const char *judgement)
{
	char key[128];
	const char *at;

	snprintf(key, sizeof(key), "{\"event\": \"%s\"", event);
	at = strstr(said, key);
	at = at ? strstr(at, "\"judgement\": \"") : NULL;
	if (!at)
		return false;
	at += strlen("\"judgement\": \"");
	return strncmp(at, judgement, strlen(judgement)) == 0 && at[strlen(judgement)] == '"';
}

/* Prints the judgements of the report as comments after a failure. */
static bool show_unless(bool ok)
{
	for (const char *at = ok ? NULL : strstr(said, "{\"event\""); at;
	     at = strstr(at + 1, "{\"event\""))
		printf("# %.200s\n", at);
	return ok;
}

static void check_right(const char *where, const char *other)
{
	for (unsigned i = 0; i < 3; i++)
		check(show_unless(is_judged(guest->right[i], "right") ||
		                  (other && is_judged(guest->right[i], other))),
		      "%s: %s is right%s%s", where, guest->right[i], other ? " or " : "",
		      other ? other : "");
}

/* ---- the load -------------------------------------------------------------------------------- */

static pid_t spinners[SPINNERS];

static void begin_load(void)
{
	for (unsigned i = 0; i < SPINNERS; i++) {
		spinners[i] = fork();
		if (spinners[i] == 0)
			for (volatile unsigned long k = 0;; k++) {}
	}
}

static void end_load(void)
{
	for (unsigned i = 0; i < SPINNERS; i++) {
		kill(spinners[i], SIGKILL);
		waitpid(spinners[i], NULL, 0);
	}
}

/* Holds every counter of the first CPU by pinned events. Returns their number. */
static unsigned hold_counters(int held[HELD_MAX])
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_HW_INSTRUCTIONS,
		                        .pinned = 1 };
	unsigned n = 0;
	char count[8];

	while (n < HELD_MAX) {
		held[n] = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
		if (held[n] < 0)
			break;
		if (read(held[n], count, sizeof(count)) <= 0) { /* it got no counter */
			close(held[n]);
			break;
		}
		n++;
	}
	return n;
}

/* ---- what is checked ------------------------------------------------------------------------- */

static void check_alone(void)
{
	check(show_unless(CHECK(guest->right[0], guest->right[1], guest->right[2]) == 0),
	      "check-events ends well");
	check_right("alone", NULL);
	if (!guest->zero)
		return;
	CHECK(guest->zero);
	check(show_unless(is_judged(guest->zero, "zero")), "%s, which QEMU leaves at 0, is zero",
	      guest->zero);
}

/* No false alarm: an event that is right is not called anything else. */
static void check_beside_load(void)
{
	begin_load();
	CHECK(guest->right[0], guest->right[1], guest->right[2]);
	end_load();
	check_right("beside a load", "not checked");
}

static void check_full_pmu(void)
{
	int held[HELD_MAX];
	unsigned n = hold_counters(held);

	CHECK(guest->right[0], guest->right[1], guest->right[2]);
	check(n > 0, "%u counters are held", n);
	check_right("with a full PMU", "not checked");
	check(show_unless(is_judged("page-faults", "right")), "page faults need no counter");
	while (n--)
		close(held[n]);
}

static int check_all(void)
{
	check_alone();
	check_beside_load();
	check_full_pmu();
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}

/* Judges the events @n times beside a load, every second time with a full PMU. */
static int repeat(unsigned n)
{
	unsigned n_right = 0, n_left = 0, n_wrong = 0;
	int held[HELD_MAX];

	begin_load();
	for (unsigned i = 0; i < n; i++) {
		unsigned n_held = i % 2 ? hold_counters(held) : 0;

		CHECK(guest->right[0], guest->right[1], guest->right[2]);
		while (n_held--)
			close(held[n_held]);
		for (unsigned k = 0; k < 3; k++) {
			bool right = is_judged(guest->right[k], "right"),
			     left = is_judged(guest->right[k], "not checked");

			n_right += right;
			n_left += left;
			n_wrong += !right && !left;
			show_unless(right || left);
		}
	}
	end_load();
	check(n_wrong == 0 && n_right > 0,
	      "%u runs: %u judgements right, %u not made, %u false alarms", n, n_right, n_left,
	      n_wrong);
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}

/* Prints the report in pieces that a console takes. */
static int report(void)
{
	bool ok = CHECK("--all", "--emulator", "QEMU 7.2 (TCG)") == 0;

	for (const char *at = said; *at; at += strnlen(at, CHUNK))
		printf("REPORT %.*s\n", CHUNK, at);
	check(ok, "the report is printed");
	printf("1..%d\n", n_cases);
	return !ok;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof(guests) / sizeof(guests[0]); i++)
		if (strcmp(argv[1], guests[i].name) == 0)
			guest = &guests[i];
	if (!guest)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[2], "report") == 0)
		return report();
	if (strcmp(argv[2], "repeat") == 0)
		return repeat(argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : 100);
	return check_all();
}
