/* SPDX-License-Identifier: MIT */
/* Regions of this process, made by hand: two events in one group, whose readings are in a file,
 * and one thread. */
#ifndef TESTS_REGION_MADE_REGIONS_H
#define TESTS_REGION_MADE_REGIONS_H

#include "units.h"
#include "region/region.h"
#include <unistd.h>

enum { WORDS = GROUP_VALUES + 2 };

struct made_regions {
	struct region_event events[2];
	unsigned numbers[2];
	struct group group;
	struct round round;
	struct thread thread;
	FILE *readings;
	int fds[2];
	void *pages[2];
	uint64_t now[WORDS];
};

static inline void make_event(struct region_event *e, char *name)
{
	static char nothing[1];

	*e = (struct region_event){
		.name = name, .unit = nothing, .why = nothing, .remedy = nothing, .cpus = nothing
	};
	e->scale = 1;
	e->quality = PFM_QUALITY_EXACT;
	e->countable = true;
}

static inline void make_regions(struct made_regions *m)
{
	static char names[2][16] = { "cycles:u", "page-faults" };

	memset(m, 0, sizeof(*m));
	m->readings = tmpfile();
	assert_non_null(m->readings);
	make_event(&m->events[0], names[0]);
	make_event(&m->events[1], names[1]);
	m->numbers[1] = 1;
	m->group = (struct group){ .n = 2, .events = m->numbers };
	m->round = (struct round){ .n = 1, .groups = &m->group };
	m->fds[0] = m->fds[1] = fileno(m->readings);
	m->thread = (struct thread){ .tid = 7,
		                     .opened = true,
		                     .generation = 1,
		                     .run = pfmi_regions.run,
		                     .fds = m->fds,
		                     .pages = m->pages,
		                     .now = m->now,
		                     .last = &m->thread.entries };
	m->thread.stride = sizeof(struct frame) + 2 * WORDS * sizeof(uint64_t);
	pfmi_regions.layout = (struct layout){
		.n_events = 2, .events = m->events, .n_rounds = 1, .rounds = &m->round
	};
	pfmi_layout_assign_places(&pfmi_regions.layout);
	pfmi_regions.started = true;
	pfmi_regions.flags = 0;
	pfmi_regions.threads = &m->thread;
	pfmi_region_caller.thread = &m->thread;
	pfmi_region_caller.state = UNPREPARED;
	perfmon_regions_active = 1;
}

static inline void unmake_regions(struct made_regions *m)
{
	assert_int_equal(pfmi_region_caller.busy, 0);
	pfmi_storage_forget_thread(&m->thread);
	pfmi_arena_free(&m->thread.arena);
	fclose(m->readings);
	pfmi_regions.layout = (struct layout){ 0 };
	pfmi_regions.started = false;
	pfmi_regions.flags = 0;
	pfmi_regions.threads = NULL;
	pfmi_region_caller.thread = NULL;
	pfmi_region_caller.state = UNPREPARED;
	perfmon_regions_active = -1;
}

/* Adds a reading of the group: the time, of which it counted @running, and two counts. */
static inline void add_reading(struct made_regions *m, uint64_t enabled, uint64_t running,
                               uint64_t first, uint64_t second)
{
	const uint64_t words[WORDS] = { 2, enabled, running, first, second };
	int fd = fileno(m->readings);
	off_t at = lseek(fd, 0, SEEK_CUR);

	lseek(fd, 0, SEEK_END);
	assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
	lseek(fd, at, SEEK_SET);
}

/* The row of region @name under @parent in thread @tid (0: all). */
static inline unsigned made_row(const pfm_region_results_t *r, const char *name, const char *parent,
                                int tid)
{
	pfm_region_info_t info = PFM_INIT(info);

	assert_non_null(r);
	for (unsigned i = 0; pfm_describe_region(r, i, &info) == PFMLIB_SUCCESS; i++)
		if (strcmp(info.region, name) == 0 && strcmp(info.parent, parent) == 0 &&
		    info.thread == tid)
			return i;
	fail_msg("no row for %s in %s, thread %d", name, parent, tid);
	return 0;
}

static inline pfm_region_info_t made_info(const pfm_region_results_t *r, unsigned i)
{
	pfm_region_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_region(r, i, &info), PFMLIB_SUCCESS);
	return info;
}

static inline pfm_region_count_t made_count(const pfm_region_results_t *r, unsigned i,
                                            unsigned event)
{
	pfm_region_count_t count = PFM_INIT(count);

	assert_int_equal(pfm_region_count(r, i, event, &count), PFMLIB_SUCCESS);
	return count;
}

/* Results of one region in thread 7: three visits of 1000 ns, 200 cycles each on the average; page
 * faults were not counted. */
struct made_results {
	struct pfm_region_results results;
	struct result_row rows[2];
	struct tally tallies[2];
};

static inline void make_results(struct made_results *r, const char *region)
{
	memset(r, 0, sizeof(*r));
	r->tallies[0] = (struct tally){ .inclusive = 600,
		                        .exclusive = 400,
		                        .visits = 3,
		                        .exclusive_visits = 3,
		                        .min = 100,
		                        .max = 300,
		                        .mean = 200,
		                        .m2 = 20000 };
	for (unsigned i = 0; i < 2; i++) {
		r->rows[i] = (struct result_row){ .region = pfmi_region_find_or_make_number(region),
			                          .tid = i ? 7 : 0,
			                          .threads = 1,
			                          .tallies = r->tallies };
		r->rows[i].times = (struct times){ .visits = 3,
			                           .outermost = 3,
			                           .wall = 3000,
			                           .exclusive = 2000,
			                           .min = 500,
			                           .max = 1500,
			                           .mean = 1000,
			                           .m2 = 500000 };
	}
	r->results.n = 2;
	r->results.layout = &pfmi_regions.layout;
	pfmi_region_fill_process(&r->results.process);
	r->results.rows = r->rows;
}

/* The text that @write makes of @r; the caller frees it. */
static inline char *write_to_text(region_write_fn *write, const pfm_region_results_t *r)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_true(write(out, r));
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), n);
	return text;
}

#endif
