/* SPDX-License-Identifier: MIT */
/*
 * cuse_client STORY: sessions on a counter device that a real kernel has: the nodes that
 * cuse_server.c serves in the amd64 guest, one for each family: /dev/pfcntr is an ev5, the others
 * are /dev/pfcntr-FAMILY. Run there with two processors.
 *
 *   root     the superuser
 *   closed   an ordinary user, before all users may read the node
 *   openup   makes it so
 *   user     an ordinary user after that
 */
#include <errno.h>
#include <fcntl.h>
#include <perfmon/pfcntr.h>
#include <perfmon/alpha.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "session.h"

/* Cycles that the model lets pass in a nanosecond: 500 MHz. */
#define CYCLES_OF(NS) ((NS) / 2)

struct family {
	const char *node;
	const char *texts[3];
	unsigned n, cycles; /* which of them counts cycles */
	uint64_t rate;      /* counts are interrupts times this; 0: counters can be read */
};

static const struct family families[] = {
	{ "/dev/pfcntr", { "ev5::cycles", "ev5::loads", "ev5::dcachemisses" }, 3, 0, 0 },
	{ "/dev/pfcntr-ev4", { "ev4::cycles", "ev4::dcache" }, 2, 0, 65536 },
	{ "/dev/pfcntr-pca56",
	  { "pca56::cycles", "pca56::icacheaccess", "pca56::dcachemisses" },
	  3,
	  0,
	  0 },
	{ "/dev/pfcntr-ev6", { "ev6::cycles", "ev6::replay" }, 2, 0, 0 },
	{ "/dev/pfcntr-ev67", { "ev67::cycles0", "ev67::replay" }, 2, 0, 0 },
};

static pfm_alpha_session_t device = { .size = sizeof(device) };

static void nap(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL); /* time, which the device counts */
}

/* Nanoseconds that counting has lasted since the session was opened, at the least and at the
 * most. */
static uint64_t least, most;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool open_on(const struct family *f)
{
	device.device = f->node;
	least = most = 0;
	return open_texts(f->texts, f->n) == 0;
}

static bool count_nap(long ms)
{
	uint64_t before = now(), started, stopping;
	bool ok = pfm_start_session(session) == 0;

	started = now();
	nap(ms);
	stopping = now();
	ok &= pfm_stop_session(session) == 0;
	least += stopping - started;
	most += now() - before;
	return ok && read_counts();
}

/* True if count @i is the cycles of @cpus processors in the time that has passed; it may lack
 * @missing of each. */
static bool plausible(unsigned i, unsigned cpus, uint64_t missing)
{
	uint64_t value = counts[i].value, low = (CYCLES_OF(least) - missing) * cpus,
		 high = (CYCLES_OF(most) + 500) * cpus;

	if (value < low || value > high)
		printf("# %llu, not between %llu and %llu\n", (unsigned long long)value,
		       (unsigned long long)low, (unsigned long long)high);
	return value >= low && value <= high;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void check_family(const struct family *f)
{
	const char *cycles = f->texts[f->cycles];
	bool exact = true, some = true;
	uint64_t before;

	options.flags = PFM_SESSION_SYSTEM_WIDE;
	check(open_on(f) && count_nap(30), "%s: a session opens and counts", f->node);
	tell();
	for (unsigned i = 0; i < f->n; i++) {
		exact &= is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		some &= counts[i].value > 0;
	}
	check(exact && some, "%s: all of its %u counts are exact", f->node, f->n);
	check(plausible(f->cycles, 2, f->rate + 500), "%s: %s of two processors at 500 MHz",
	      f->node, cycles);
	before = counts[f->cycles].value;
	nap(10);
	check(read_counts() && counts[f->cycles].value == before, "%s: stopped counters stand",
	      f->node);
	check(count_nap(10) && counts[f->cycles].value > before &&
	              plausible(f->cycles, 2, f->rate + 500),
	      "%s: and go on from there", f->node);
	check(pfm_reset_session(session) == 0 && read_counts() && counts[f->cycles].value == 0,
	      "%s: reset, they are 0", f->node);
	options.flags = 0;
	if (f->rate != 0)
		return;
	check(open_on(f) && count_nap(20) && plausible(f->cycles, 1, 500),
	      "%s: this process alone has one processor", f->node);
}

static void check_processors(void)
{
	uint64_t one = 0, other = 0;

	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	check(open_on(&families[0]) && count_nap(20) && pfm_alpha_session_entries(session) == 2 &&
	              pfm_session_size(session) == 6,
	      "processors are counted one by one");
	pfm_alpha_session_count(session, 0, 0, &one);
	pfm_alpha_session_count(session, 1, 0, &other);
	check(one > 0 && one == other && one == counts[0].value && plausible(0, 1, 500),
	      "with the same number of cycles on both: %llu", (unsigned long long)one);
	options.flags = 0;
}

/* The mode of an open to one processor is a bit that Linux sets of itself: it needs no door. */
static void check_one(void)
{
	const pfmlib_alpha_input_param_t how = { .pfp_alpha_open = PFM_ALPHA_OPEN_ONE };
	cpu_set_t all, one;

	device.model = &how;
	check(open_on(&families[0]) && read_counts() &&
	              is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU) &&
	              says(0, "this process is not bound to one processor",
	                   "bind it (bind_to_cpu) before counting"),
	      "one processor needs a process that is bound to it");
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	sched_getaffinity(0, sizeof(all), &all);
	sched_setaffinity(0, sizeof(one), &one);
	device.bind = 1;
	check(open_on(&families[0]) && count_nap(20) && plausible(0, 1, 500),
	      "bound, it counts there");
	device.bind = 0;
	device.model = NULL;
	sched_setaffinity(0, sizeof(all), &all);
}

/* ---- what is collected besides --------------------------------------------------------------- */

static void check_profile(void)
{
	const pfmlib_alpha_input_param_t how = {
		.pfp_alpha_items = PFM_COUNTERS | PFM_IPL | PFM_PROFILING,
		.pfp_alpha_n_ranges = 1,
		.pfp_alpha_ranges = { { 0x1000, 0x1100 } },
	};
	pfcntr_bucket_t buckets[64] = { 0 };
	struct pfipls levels = { .ipl = { 0 } };
	uint64_t size = 0, samples = 0, interrupts = 0;
	int n;

	device.model = &how;
	check(open_on(&families[0]) && count_nap(30), "a profile is taken");
	pfm_alpha_session_sample_bytes(session, &size);
	check(size == 64, "it has %llu bytes", (unsigned long long)size);
	n = pfm_alpha_session_samples(session, buckets, N(buckets));
	for (int i = 0; i < n; i++)
		samples += buckets[i];
	check(n == 16 && samples > 0 && samples == buckets[0],
	      "which read(2) delivers: %llu samples, all where the process was",
	      (unsigned long long)samples);
	check(pfm_alpha_session_levels(session, 0, &levels) == 0,
	      "interrupt levels come through a pointer in memory");
	for (size_t i = 0; i < N(levels.ipl); i++)
		interrupts += levels.ipl[i];
	check(interrupts >= samples, "and are at least as many: %llu",
	      (unsigned long long)interrupts);
	device.model = NULL;
}

/* ---- who has it ------------------------------------------------------------------------------ */

static bool is_busy(void)
{
	pfm_session_t *mine = session, *second = NULL;
	pfm_count_t count = { .size = sizeof(count) };
	bool busy;

	device.device = families[0].node;
	busy = pfm_open_session(&second, NULL, &options, families[0].texts, 1, NULL) == 0 &&
	       pfm_read_session(second, &count, 1) == 0 &&
	       count.quality == PFM_QUALITY_NOT_COUNTED && count.cause == PFM_CAUSE_BUSY &&
	       count.sys_errno == EBUSY;
	session = second;
	busy = busy &&
	       says(0,
	            "another process has the counter device, or did not give the counter "
	            "interrupt back",
	            "wait for it; if no program uses the counters, run this once as superuser");
	pfm_close_session(second);
	session = mine;
	return busy;
}

static bool is_free(void)
{
	return open_on(&families[0]) && count_nap(5) && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void check_holders(void)
{
	int status = 0, ready[2];
	char byte;
	pid_t child;

	check(open_on(&families[0]) && is_busy(),
	      "who comes second is told that the device is busy");
	pfm_close_session(session);
	session = NULL;
	check(is_free(), "when the first one closes it is free again");
	pfm_close_session(session);
	session = NULL;
	if (pipe(ready) != 0)
		return;
	child = fork();
	if (child == 0) {
		bool ok = is_free() && write(ready[1], "", 1) == 1;

		pause();
		_exit(ok ? 0 : 1);
	}
	check(read(ready[0], &byte, 1) == 1 && is_busy(), "another process has it");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && is_free(), "when that is killed it is free again");
	pfm_close_session(session);
	session = NULL;
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Requests by hand: the kernel's and the server's part in passing arguments. */
static void check_requests(void)
{
	int fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENALL);
	struct pfcntrs_ev5 three[3];
	uint64_t word = PF5_MUX0_CYCLES, where;

	memset(three, 0x5a, sizeof(three));
	check(fd >= 0, "the node opens");
	check(ioctl(fd, PCNT5MUX, &word) == 0, "an argument is fetched");
	check(ioctl(fd, PCNT5MUX, 8) < 0 && errno == EFAULT, "one that is not there is EFAULT");
	where = (uint64_t)(uintptr_t)&three[1];
	check(ioctl(fd, PCNT5GETCNT, &where) == 0 && three[1].pf_cntr0 != three[0].pf_cntr0,
	      "an array is written");
	check(memcmp(&three[0], &three[2], sizeof(three[0])) == 0 &&
	              ((unsigned char *)&three[2])[0] == 0x5a,
	      "and nothing beside it");
	where = 8;
	check(ioctl(fd, PCNT5GETCNT, &where) < 0 && errno == EFAULT,
	      "an array that is not there is EFAULT");
	check(ioctl(fd, PCNT6MUX, &word) < 0 && errno == EINVAL,
	      "another family's request is EINVAL");
	check(ioctl(fd, 0x5001UL, 0) < 0 && errno == EINVAL, "an unknown one too");
	word = PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0);
	check(ioctl(fd, PCNT5RESTART, &word) == 0 && ioctl(fd, PCNT5DISABLE, &word) == 0,
	      "it starts and stops");
	close(fd);
	fd = open(PFCNTR_DEVICE, O_RDONLY | PCNTOPENONE);
	check(fd < 0 && errno == EINVAL,
	      "an open to one processor by a process that is not bound is EINVAL");
}

static void check_user(void)
{
	const pfmlib_alpha_input_param_t fast = { .pfp_alpha_rates = { 256 } };

	check(is_free(), "an ordinary user counts where the node lets him");
	device.model = &fast;
	check(open_on(&families[0]) && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION) &&
	              says(0, "an interrupt every 256 events needs superuser privilege",
	                   "use the slow rate"),
	      "but not at the fast rate");
	device.model = NULL;
}

static void check_closed(void)
{
	check(open_on(&families[0]) && read_counts() &&
	              is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION) &&
	              says(0, "the counter device may not be opened",
	                   "request read permission for it"),
	      "a node that is closed to users");
}

int main(int argc, char **argv)
{
	const char *story = argc > 1 ? argv[1] : "";

	options.backend = "pfm_device";
	options.backend_options = &device;
	if (strcmp(story, "root") == 0) {
		for (size_t i = 0; i < N(families); i++)
			check_family(&families[i]);
		check_processors();
		check_one();
		check_profile();
		check_holders();
		check_requests();
	} else if (strcmp(story, "closed") == 0) {
		check_closed();
	} else if (strcmp(story, "user") == 0) {
		check_user();
	} else if (strcmp(story, "openup") == 0) {
		check(chmod(PFCNTR_DEVICE, 0666) == 0, "the node is opened up for everybody");
	}
	return finish();
}
