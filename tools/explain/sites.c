/* SPDX-License-Identifier: MIT */
#include "explain/sites.h"
#include "common/pfm.h"
#include "common/sampling_session.h"
#include "profile/profile.h"
#include "profile/waits.h"
#include "record/fields.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <perfmon/sampling.h>

/* A prime number, so that samples do not keep step with periodic timers. */
enum { SAMPLES_A_SECOND = 997 };

/* ---- sampling -------------------------------------------------------------------------------- */

static pfm_session_t *open_session(const pfm_ctx_t *ctx, const struct explain_target *target,
                                   pid_t child, const char *event, pfm_sampling_t *sampling)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session = NULL;

	options.sampling = sampling;
	set_counted_target(&options, target, child);
	if (pfm_open_session(&session, ctx, &options, &event, 1, &error))
		return NULL;
	if (has_sampling_event(session))
		return session;
	pfm_close_session(session);
	return NULL;
}

/* Opens the file of the samples. */
static bool open_recording(struct sampler *s)
{
	int fd;

	strcpy(s->path, "/tmp/pfm-explain-XXXXXX");
	fd = mkostemp(s->path, O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	if (pfm_create_recording(&s->recording, s->path, s->session, NULL, NULL) == PFMLIB_SUCCESS)
		return true;
	unlink(s->path);
	return false;
}

void begin_sampler(struct sampler *s, const pfm_ctx_t *ctx, const struct explain_target *target,
                   pid_t child, const char *event, enum sampler_kind kind)
{
	pfm_sampling_t sampling = PFM_INIT(sampling);

	*s = (struct sampler){ .kind = kind };
	snprintf(s->event, sizeof(s->event), "%s", event);
	sampling.freq = SAMPLES_A_SECOND;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU |
	                  PFM_SAMPLE_PERIOD;
	sampling.records = PFM_SIDEBAND_USUAL;
	if (kind == SAMPLES_OF_WAITS) {
		sampling.records |= PFM_SIDEBAND_SWITCHES;
		if (read_call_graph("dwarf", &sampling))
			read_call_graph("fp", &sampling);
	}
	s->session = open_session(ctx, target, child, event, &sampling);
	if (s->session && pfm_start_session(s->session) == PFMLIB_SUCCESS && open_recording(s))
		return;
	pfm_close_session(s->session);
	s->session = NULL;
}

void drain_sampler(struct sampler *s)
{
	if (s->session)
		pfm_write_records(s->recording, NULL);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The samples by place, and the functions that have the most of them. */
struct site_scan {
	const struct profile *p;
	uint64_t *weights; /* by number of place */
	uint32_t *order;
	size_t n;
	uint64_t total;
};

/* The samples of a function; of its line, and of its instruction, that have the most. */
struct function_sum {
	uint64_t weight, line, address;
	uint32_t place, line_place, address_place;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By function, then by line. */
static int compare_places(const void *a, const void *b, void *places)
{
	const struct profile_place *sorted = places, *x = &sorted[*(const uint32_t *)a],
				   *y = &sorted[*(const uint32_t *)b];

	if (x->object != y->object)
		return compare_numbers(x->object, y->object);
	if (x->function != y->function)
		return compare_numbers(x->function, y->function);
	return x->source != y->source ? compare_numbers(x->source, y->source)
	                              : compare_numbers(x->address, y->address);
}

static bool is_same_function(const struct profile_place *x, const struct profile_place *y)
{
	return x->object == y->object && x->function == y->function;
}

/* True for the kernel and the libraries through which programs wait. */
static bool is_below_program(const char *object)
{
	const char *name = base_name(object);

	return !*name || *name == '[' || strncmp(name, "libc.so", 7) == 0 ||
	       strncmp(name, "libc-", 5) == 0 || strncmp(name, "libpthread", 10) == 0 ||
	       strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0;
}

/* The place of a stack that ends at @node: the innermost one of the program, else the innermost. */
static uint32_t find_waiting_place(const struct profile *p, uint32_t node)
{
	uint32_t inner = node, found = NO_NODE;

	for (; node != NO_NODE; node = p->nodes[node].parent) {
		const struct profile_place *at = &p->places[p->nodes[node].place];

		inner = node;
		if (!is_below_program(p->texts.text[at->object]))
			found = node;
	}
	return p->nodes[found != NO_NODE ? found : inner].place;
}

static bool weigh_places(const struct profile *p, enum sampler_kind kind, struct site_scan *scan)
{
	*scan = (struct site_scan){ .p = p };
	scan->weights = calloc(p->n_places + 1, sizeof(*scan->weights));
	scan->order = calloc(p->n_places + 1, sizeof(*scan->order));
	if (!scan->weights || !scan->order)
		return false;
	for (uint32_t i = 0; kind == SAMPLES_OF_WORK && i < p->n_places; i++)
		scan->weights[i] = p->places[i].weight;
	for (uint32_t i = 0; kind == SAMPLES_OF_WAITS && i < p->n_nodes; i++)
		if (p->nodes[i].end_weight)
			scan->weights[find_waiting_place(p, i)] += p->nodes[i].end_weight;
	for (uint32_t i = 0; i < p->n_places; i++)
		if (scan->weights[i]) {
			scan->order[scan->n++] = i;
			scan->total += scan->weights[i];
		}
	qsort_r(scan->order, scan->n, sizeof(*scan->order), compare_places, p->places);
	return true;
}

/* Adds up the function that begins at @i of the order. Returns where the next one begins. */
static size_t add_up_function(const struct site_scan *scan, size_t i, struct function_sum *sum)
{
	const struct profile_place *places = scan->p->places, *first = &places[scan->order[i]];
	uint64_t line = 0;
	uint32_t before = scan->order[i];

	*sum = (struct function_sum){ .place = scan->order[i] };
	for (; i < scan->n && is_same_function(first, &places[scan->order[i]]); i++) {
		const uint32_t at = scan->order[i];
		const uint64_t weight = scan->weights[at];

		line = places[at].source == places[before].source ? line + weight : weight;
		before = at;
		sum->weight += weight;
		if (line > sum->line) {
			sum->line = line;
			sum->line_place = at;
		}
		if (weight > sum->address) {
			sum->address = weight;
			sum->address_place = at;
		}
	}
	return i;
}

/* Keeps @sum if it is among the greatest. */
static void keep_function(struct function_sum best[SITES_MAX], const struct function_sum *sum)
{
	unsigned at = SITES_MAX;

	while (at > 0 && best[at - 1].weight < sum->weight)
		at--;
	if (at == SITES_MAX)
		return;
	memmove(&best[at + 1], &best[at], (SITES_MAX - 1 - at) * sizeof(*best));
	best[at] = *sum;
}

static void describe_site(const struct site_scan *scan, const struct function_sum *sum,
                          struct explain_site *out)
{
	const struct profile_place *at = &scan->p->places[sum->place];
	char *const *texts = scan->p->texts.text;
	const double all = (double)scan->total;

	snprintf(out->function, sizeof(out->function), "%s", texts[at->function]);
	snprintf(out->object, sizeof(out->object), "%s", texts[at->object]);
	snprintf(out->source, sizeof(out->source), "%s",
	         texts[scan->p->places[sum->line_place].source]);
	out->address = scan->p->places[sum->address_place].address;
	out->share = (double)sum->weight / all;
	out->line_share = (double)sum->line / all;
	out->address_share = (double)sum->address / all;
}

static void find_sites(const struct profile *p, enum sampler_kind kind, struct explain_sites *out)
{
	struct function_sum best[SITES_MAX] = { { 0 } }, sum;
	struct site_scan scan;

	if (weigh_places(p, kind, &scan)) {
		for (size_t i = 0; i < scan.n; keep_function(best, &sum))
			i = add_up_function(&scan, i, &sum);
		for (unsigned i = 0; i < SITES_MAX && best[i].weight; i++)
			describe_site(&scan, &best[i], &out->list[out->n++]);
		out->samples = p->n_events ? p->samples[0] : 0;
	}
	free(scan.weights);
	free(scan.order);
}

/* Reads the file: the functions, by samples or by the time that waits took. */
static void read_sites(const struct sampler *s, struct explain_sites *out)
{
	const bool is_work = s->kind == SAMPLES_OF_WORK;
	struct profile profile = { .session = NULL };
	struct profile_options options = { .keys = KEY_OBJECT | KEY_SYMBOL | KEY_LINE |
		                                   (is_work ? KEY_ADDRESS : 0u),
		                           .tree = is_work ? NO_TREE : CALLEE_TREE,
		                           .innermost_only = is_work,
		                           .file_addresses = true };

	options.waits = is_work ? NULL : waits_read(s->path, NULL);
	if (profile_read_selected(&profile, s->path, &options) == PFMLIB_SUCCESS) {
		find_sites(&profile, s->kind, out);
		profile_free(&profile);
	}
	waits_free(options.waits);
}

void end_sampler(struct sampler *s, struct explain_sites *out)
{
	if (out) {
		memset(out, 0, sizeof(*out));
		snprintf(out->event, sizeof(out->event), "%s", s->event);
	}
	if (!s->session)
		return;
	pfm_stop_session(s->session);
	drain_sampler(s);
	if (pfm_close_recording(s->recording) == PFMLIB_SUCCESS && out)
		read_sites(s, out);
	unlink(s->path);
	pfm_close_session(s->session);
	s->session = NULL;
}
