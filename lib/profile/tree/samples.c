/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool has_callers(const pfm_record_t *record)
{
	const pfm_sample_t *s = &record->body.sample;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_chain && n < 2; i++)
		n += s->chain[i] < PFM_CHAIN_MARKER;
	return n > 1;
}

static bool needs_stacks(const struct profile_reader *r)
{
	return !r->options.innermost_only &&
	       (r->options.detail == STACKS || r->options.tree || r->options.children);
}

/* True if samples are added to the nodes of a call tree, which may be wanted for its sums alone. */
static bool needs_tree(const struct profile_reader *r)
{
	return r->options.tree || r->options.children;
}

static void collect_instruction(const pfm_record_t *record, struct frames *f)
{
	f->mode[0] = record->misc & PFM_MISC_MODE;
	f->address[0] = record->body.sample.ip;
	f->n_frames = 1;
}

static void collect_stack(pfm_record_t *record, struct frames *f)
{
	struct frame_walk walk = { .record = record };

	for (f->n_frames = 0; walk_frames(&walk); f->n_frames++) {
		if (f->n_frames == FRAMES_MAX) {
			record->truncated |= PFM_TRUNCATED_CHAIN;
			return;
		}
		f->mode[f->n_frames] = walk.mode;
		/* A return address may be the first byte after the function that called; the
		 * instruction where another frame was interrupted may be the first of its own. */
		f->address[f->n_frames] = walk.address - walk.is_caller;
	}
}

/* The frames of a sample, or that of its instruction if no others are needed. Of more than
 * FRAMES_MAX the outermost are missing. Frames that were collected before stay. */
static const struct frames *collect_frames(struct profile_reader *r, pfm_record_t *record)
{
	struct frames *f = &r->frames;

	if (!f->n_frames && needs_stacks(r))
		collect_stack(record, f);
	else if (!f->n_frames)
		collect_instruction(record, f);
	return f;
}

/* Fills the members of @key that depend on the address, if the report distinguishes them. */
static void add_address(struct profile_reader *r, const pfm_record_t *record, uint64_t address,
                        uint32_t mode, struct profile_place *key)
{
	if (!(r->keys & (KEY_OBJECT | KEY_SYMBOL | KEY_LINE | KEY_ADDRESS)))
		return;
	names_find_at_address(r, record->pid, address, mode, key);
	if (!(r->keys & KEY_OBJECT))
		key->object = 0;
	if (!(r->keys & KEY_SYMBOL))
		key->function = 0;
}

/* Hashes the members of a frame's place that come from the sample; consecutive samples mostly have
 * equal ones. */
static uint64_t hash_sample_key(struct profile_reader *r, const struct profile_place *key)
{
	const uint64_t parts[] = { (uint64_t)key->event << 32 | key->task,
		                   (uint64_t)key->cpu << 32 | key->cgroup,
		                   (uint64_t)key->pid << 32 | key->tid, key->slice };

	if (!r->key_hash || memcmp(parts, r->key_parts, sizeof(parts)) != 0)
		r->key_hash = pfmi_base_hash_bytes(parts, sizeof(parts));
	memcpy(r->key_parts, parts, sizeof(parts));
	return r->key_hash;
}

static void add_frame_place(struct profile_reader *r, const struct profile_place *place,
                            struct frame_places *f)
{
	struct profile *p = r->target_profile;

	f->list[f->n++] =
		places_find(&p->places, &p->n_places, &r->places_capacity, &r->place_table, place);
}

/* Adds the functions in the text @inlined, which ';' separates. */
static void add_inlined_places(struct profile_reader *r, const struct profile_place *place,
                               uint32_t inlined, struct frame_places *f)
{
	struct text_pool *texts = &r->target_profile->texts;
	struct profile_place at = *place;
	char name[SYMBOL_SIZE + 16];
	size_t len;

	for (size_t i = 0; texts->text[inlined][i] && f->n <= INLINED_MAX;
	     i += len + (texts->text[inlined][i + len] == ';')) {
		len = strcspn(texts->text[inlined] + i, ";");
		snprintf(name, sizeof(name), "%.*s (inlined)", (int)len, texts->text[inlined] + i);
		at.function = text_pool_add(texts, name);
		add_frame_place(r, &at, f);
	}
}

/* Finds the places of @place, which has the names of its frame. */
static void add_frame_places(struct profile_reader *r, struct profile_place place,
                             struct frame_places *f)
{
	uint32_t inlined = r->keys & KEY_LINE ? 0 : place.inlined;

	f->n = 0;
	if (!(r->keys & KEY_LINE))
		place.inlined = place.source = 0;
	add_frame_place(r, &place, f);
	if (inlined && r->keys & KEY_SYMBOL)
		add_inlined_places(r, &place, inlined, f);
}

static struct known_frame *get_known_frame(struct profile_reader *r,
                                           const struct profile_place *place, uint64_t key_hash)
{
	uint64_t names = (uint64_t)place->object << 32 ^ (uint64_t)place->inlined << 48 ^
	                 (uint64_t)place->source << 16 ^ place->function;

	return &r->known_frames[(names ^ place->address ^ key_hash) * 0x9e3779b97f4a7c15u >>
	                        (64 - KNOWN_FRAMES_LOG2)];
}

/* Finds the places of frame @i; after the last one: of the callers that are missing. @key_hash: of
 * hash_sample_key(). */
static void get_frame_places(struct profile_reader *r, const pfm_record_t *record, unsigned i,
                             const struct profile_place *key, uint64_t key_hash,
                             struct frame_places *f)
{
	struct profile_place place = *key;
	struct known_frame *known;

	if (i < r->frames.n_frames)
		add_address(r, record, r->frames.address[i], r->frames.mode[i], &place);
	else if (r->keys & KEY_SYMBOL)
		place.function = names_get_text_number(r, CUT_OFF);
	known = get_known_frame(r, &place, key_hash);
	if (known->key == key_hash && known->address == place.address &&
	    known->object == place.object && known->function == place.function &&
	    known->inlined == place.inlined && known->source == place.source &&
	    known->build_id == place.build_id) {
		f->n = known->n_places;
		memcpy(f->list, known->places, sizeof(known->places));
		return;
	}
	add_frame_places(r, place, f);
	if (f->n > KNOWN_PLACES_MAX)
		return;
	*known = (struct known_frame){ .key = key_hash,
		                       .address = place.address,
		                       .object = place.object,
		                       .function = place.function,
		                       .inlined = place.inlined,
		                       .source = place.source,
		                       .build_id = place.build_id,
		                       .n_places = f->n };
	memcpy(known->places, f->list, f->n * sizeof(*f->list));
}

/* The node of the sample's stack, which is added without the sample if it is new; NO_NODE without
 * memory. @key: what the places of all frames have in common. */
static uint32_t find_or_add_path(struct profile_reader *r, pfm_record_t *record,
                                 const struct profile_place *key)
{
	const struct profile *p = r->target_profile;
	bool is_callee_tree = r->options.tree == CALLEE_TREE;
	uint64_t key_hash = hash_sample_key(r, key);
	unsigned n = collect_frames(r, record)->n_frames +
	             (record->truncated & PFM_TRUNCATED_CHAIN ? 1 : 0);
	struct frame_places f;
	uint32_t parent = NO_NODE;

	for (unsigned k = 0; k < n; k++) {
		get_frame_places(r, record, is_callee_tree ? k : n - 1 - k, key, key_hash, &f);
		for (unsigned i = 0; i < f.n; i++) {
			uint32_t place = f.list[is_callee_tree ? f.n - 1 - i : i];
			const struct profile_node *node =
				place != HASH_NOT_FOUND ? places_find_or_add_node(r, parent, place)
							: NULL;

			if (!node)
				return NO_NODE;
			parent = (uint32_t)(node - p->nodes);
		}
	}
	return parent;
}

static uint64_t hash_stack(struct profile_reader *r, const pfm_record_t *record,
                           const struct profile_place *key)
{
	const pfm_sample_t *s = &record->body.sample;
	const uint64_t parts[] = {
		s->n_chain ? pfmi_base_hash_bytes(s->chain, s->n_chain * sizeof(*s->chain)) : s->ip,
		(uint64_t)record->pid << 32 | (record->misc & PFM_MISC_MODE),
		(uint64_t)record->truncated << 32 | s->n_chain,
		hash_sample_key(r, key),
	};

	return pfmi_base_hash_bytes(parts, sizeof(parts));
}

/* The entry for a stack; its index is valid if it has the hash and the generation. */
static struct known_stack *get_known_stack(struct profile_reader *r, uint64_t hash)
{
	return &r->known_stacks[hash % KNOWN_STACKS];
}

/* Returns the node of the sample's stack. Nodes of recent stacks are remembered. */
static uint32_t get_node_of_stack(struct profile_reader *r, pfm_record_t *record,
                                  const struct profile_place *key)
{
	uint64_t hash = hash_stack(r, record, key);
	struct known_stack *known = get_known_stack(r, hash);

	if (known->generation != r->sample_generation || known->hash != hash)
		*known = (struct known_stack){ hash, r->sample_generation,
			                       find_or_add_path(r, record, key) };
	r->target_profile->failed |= known->index == NO_NODE;
	return known->index;
}

/* Adds the sample to the node where its stack ends. */
static void add_stack(struct profile_reader *r, pfm_record_t *record,
                      const struct profile_place *key)
{
	uint32_t node = get_node_of_stack(r, record, key);

	if (node == NO_NODE)
		return;
	r->target_profile->nodes[node].end_samples++;
	r->target_profile->nodes[node].end_weight += key->weight;
}

/* Does the time of @record belong to the report? Sets its slice. */
static bool is_in_time_range(struct profile_reader *r, const pfm_record_t *record, uint32_t *slice)
{
	struct profile *p = r->target_profile;
	const struct profile_options *o = &r->options;
	double seconds;

	if (!(record->has & PFM_SAMPLE_TIME))
		return o->from <= 0 && o->to <= 0;
	if (p->n_slices > 1)
		*slice = time_span_slice(&p->sampled, record->time, p->n_slices);
	else
		time_span_note(&p->sampled, record->time);
	seconds = (double)time_span_between(p->sampled.first, record->time) / 1e9;
	return seconds >= o->from && (o->to <= 0 || seconds < o->to);
}

static bool has_wanted_name(const struct profile_reader *r, const char *pattern, uint32_t name)
{
	return !pattern || fnmatch(pattern, r->target_profile->texts.text[name], 0) == 0;
}

/* Does the function at the sample's instruction have the name that is wanted? */
static bool has_wanted_symbol(struct profile_reader *r, pfm_record_t *record)
{
	struct profile_place place = { 0 };
	const struct frames *f;

	if (!r->options.symbol)
		return true;
	f = collect_frames(r, record);
	names_find_at_address(r, record->pid, f->address[0], f->mode[0], &place);
	return has_wanted_name(r, r->options.symbol, place.function);
}

/* The parts of a place that do not depend on the address. */
static void fill_place_key(struct profile_reader *r, const pfm_record_t *record, uint32_t task,
                           struct profile_place *key)
{
	if (r->keys & KEY_TASK || r->options.detail == STACKS)
		key->task = task;
	if (r->keys & KEY_CPU)
		key->cpu = record->has & PFM_SAMPLE_CPU ? record->cpu : UNKNOWN_CPU;
	if (r->keys & KEY_THREAD) {
		key->pid = record->pid;
		key->tid = record->tid;
	}
	if (r->keys & KEY_CGROUP && record->has & PFM_SAMPLE_CGROUP)
		key->cgroup = tasks_get_cgroup_name(&r->visit.tasks, record->body.sample.cgroup);
}

static void add_to_sums(struct profile *p, const struct profile_place *key)
{
	struct profile_sum *sum = &p->sums[(size_t)key->event * p->n_slices + key->slice];

	p->weights[key->event] += key->weight;
	p->samples[key->event]++;
	sum->samples++;
	sum->weight += key->weight;
	sum->squares += (double)key->weight * (double)key->weight;
}

/* Adds the sample to its stack, as a text. */
static void add_stack_text(struct profile_reader *r, pfm_record_t *record,
                           struct profile_place *key)
{
	struct profile *p = r->target_profile;
	uint64_t hash = hash_stack(r, record, key);
	struct known_stack *known = get_known_stack(r, hash);

	if (known->generation != r->sample_generation || known->hash != hash) {
		collect_frames(r, record);
		key->function = number_stack_text(r, record, key->task);
		*known = (struct known_stack){ hash, r->sample_generation,
			                       places_find(&p->stacks, &p->n_stacks,
			                                   &r->stacks_capacity, &r->stack_table,
			                                   key) };
	}
	p->failed |= known->index == HASH_NOT_FOUND;
	if (known->index != HASH_NOT_FOUND)
		places_add_sample(&p->stacks[known->index], key->weight);
}

/* The place of the sample's innermost frame; HASH_NOT_FOUND without memory. */
static uint32_t get_instruction_place(struct profile_reader *r, pfm_record_t *record,
                                      const struct profile_place *key)
{
	struct frame_places f;

	collect_frames(r, record);
	get_frame_places(r, record, 0, key, hash_sample_key(r, key), &f);
	r->target_profile->failed |= f.list[0] == HASH_NOT_FOUND;
	return f.list[0];
}

/* Adds the sample to the place of its instruction. */
static void add_instruction(struct profile_reader *r, pfm_record_t *record,
                            const struct profile_place *key)
{
	uint32_t at = get_instruction_place(r, record, key);

	if (at != HASH_NOT_FOUND)
		places_add_sample(&r->target_profile->places[at], key->weight);
}

/* Adds what the sample has counted of @event to its place, or to the node of its stack. */
static void add_counts(struct profile_reader *r, pfm_record_t *record, uint32_t event,
                       const struct profile_place *key)
{
	struct profile *p = r->target_profile;
	bool is_tree = needs_tree(r);
	uint32_t at =
		is_tree ? get_node_of_stack(r, record, key) : get_instruction_place(r, record, key);
	uint64_t count = record->body.sample.period;

	if (at == HASH_NOT_FOUND)
		return;
	p->failed |= !event_counts_add(&p->counts,
	                               is_tree ? &p->nodes[at].counts : &p->places[at].counts,
	                               event, record->time, count ? count : 1);
}

static void add_to_detail(struct profile_reader *r, pfm_record_t *record, struct profile_place *key)
{
	if (r->options.detail == STACKS)
		add_stack_text(r, record, key);
	else if (needs_tree(r))
		add_stack(r, record, key);
	else
		add_instruction(r, record, key);
}

/* Prepares the frames of the sample, and what is known of it without their names. */
static void read_frames(struct profile_reader *r, const struct visited_sample *sample)
{
	pfm_record_t *record = sample->record;

	r->sample_generation = sample->generation;
	if (needs_stacks(r))
		complete_visited_chain(&r->visit, sample);
	r->frames.n_frames = 0;
	if (r->options.innermost_only)
		record->truncated = 0;
	r->target_profile->has_chains = r->target_profile->has_chains ||
	                                record->has & PFM_SAMPLE_STACK || has_callers(record);
}

/* Does the report have the sample? Sets its slice of time. */
static bool is_wanted(struct profile_reader *r, const struct visited_sample *sample,
                      uint32_t *slice)
{
	return is_in_time_range(r, sample->record, slice) &&
	       has_wanted_name(r, r->options.task, sample->task) &&
	       has_wanted_symbol(r, sample->record) &&
	       (!r->is_wanted || r->is_wanted[sample->event]);
}

void samples_read(struct profile_reader *r, const struct visited_sample *sample)
{
	struct profile *p = r->target_profile;
	pfm_record_t *record = sample->record;
	struct profile_place key = { .event = sample->event, .weight = sample->weight };
	bool is_sample = true;

	if (r->options.metrics) {
		p->failed |=
			!event_counts_read_record(&p->counts, record, sample->event, &is_sample);
		key.event = 0;
		key.weight = 1;
	}
	read_frames(r, sample);
	if (!is_wanted(r, sample, &key.slice))
		return;
	key.weight = limit_weight(p->weights[sample->event], key.weight, &p->losses.damaged);
	if (is_sample)
		add_to_sums(p, &key);
	fill_place_key(r, record, sample->task, &key);
	if (is_sample)
		add_to_detail(r, record, &key);
	if (r->options.metrics)
		add_counts(r, record, sample->event, &key);
}
