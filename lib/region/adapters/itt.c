/* SPDX-License-Identifier: MIT */
/* ITT (ittnotify): INTEL_LIBITTNOTIFY64 names this library. The part of ITT that is linked into the
 * program loads it at its first call and hands over its table of functions, in which those below
 * are entered.
 *
 *     task           a region of the calling thread, named as the task's string; end closes
 *                    the innermost one of its domain
 *     overlapped task, frame, region
 *                    a visit by handle, found by its id
 *     pause, resume  regions are not counted in between
 */
#include <pthread.h>
#include "adapter.h"

/* Layouts of ittnotify since 2011. Members that this library does not use are named by their types.
 */
struct itt_api {
	const char *name;
	void **function;
	void *initial, *nothing;
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_api *apis; /* a NULL name ends them */
};

struct itt_domain {
	volatile int flags; /* 0: switched off */
	const char *name;
	void *wide_name;
	int extra1;
	void *extra2; /* the runtime's: the region */
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide_text;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_id {
	unsigned long long d[3];
};

static struct open_domains domains_of_thread = { .once = PTHREAD_ONCE_INIT };

static void make_key(void)
{
	(void)pthread_key_create(&domains_of_thread.key, free_open_blocks);
}

static struct open_regions *get_open(const void *domain)
{
	return get_open_regions(&domains_of_thread, make_key, domain);
}

/* The region of a name, kept where the structure has a place for it. */
static pfm_region_t *get_cached_region(const char *name, void **kept)
{
	pfm_region_t *region = __atomic_load_n(kept, __ATOMIC_RELAXED);

	if (!region) {
		region = pfm_find_region(name ? name : "unnamed task");
		__atomic_store_n(kept, (void *)region, __ATOMIC_RELAXED);
	}
	return region;
}

/* ---- domains and strings ------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct itt_domain *domains;
static struct itt_string *strings;

/* The domain called @name, switched on; one for all calls. NULL without memory. */
static struct itt_domain *create_domain(const char *name)
{
	struct itt_domain *d;

	if (!name)
		return NULL;
	pthread_mutex_lock(&lock);
	for (d = domains; d && strcmp(d->name, name) != 0;)
		d = d->next;
	if (!d && (d = calloc(1, sizeof(*d)))) {
		d->flags = 1;
		d->name = strdup(name);
		d->next = domains;
		if (d->name)
			domains = d;
	}
	pthread_mutex_unlock(&lock);
	return d;
}

static struct itt_string *create_string(const char *text)
{
	struct itt_string *s;

	if (!text)
		return NULL;
	pthread_mutex_lock(&lock);
	for (s = strings; s && strcmp(s->text, text) != 0;)
		s = s->next;
	if (!s && (s = calloc(1, sizeof(*s)))) {
		s->text = strdup(text);
		s->next = strings;
		if (s->text)
			strings = s;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

/* ---- visits by id ------------------------------------------------------------------------ */

struct open_visit {
	struct open_visit *next;
	const void *domain;
	struct itt_id id;
	pfm_region_visit_t *visit;
};

enum { LISTS = 64 };

static struct open_visit *visits[LISTS];

static struct open_visit **get_visit_list(const struct itt_id *id)
{
	return &visits[(id->d[0] ^ id->d[1] ^ id->d[2] ^ id->d[0] >> 12) % LISTS];
}

static void open_visit(const void *domain, const struct itt_id *id, pfm_region_t *region)
{
	struct open_visit *v = malloc(sizeof(*v)), **list = get_visit_list(id);

	/* Tasks inside the visit need it: its page faults are not those of the visit. */
	(void)get_open(domain);
	if (!v)
		return;
	v->domain = domain;
	v->id = *id;
	pthread_mutex_lock(&lock);
	v->next = *list;
	*list = v;
	pthread_mutex_unlock(&lock);
	v->visit = pfm_enter_region(region);
}

static void close_visit(const void *domain, const struct itt_id *id)
{
	struct open_visit **at = get_visit_list(id), *v;

	pthread_mutex_lock(&lock);
	while ((v = *at) && (v->domain != domain || memcmp(&v->id, id, sizeof(*id)) != 0))
		at = &v->next;
	if (v)
		*at = v->next;
	pthread_mutex_unlock(&lock);
	if (v)
		pfm_leave_region(v->visit);
	free(v);
}

/* ---- the functions ----------------------------------------------------------------------- */

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                       struct itt_string *name)
{
	void *none = NULL;

	(void)id;
	(void)parent;
	if (domain && domain->flags)
		push_region(get_open(domain), name ? get_cached_region(name->text, &name->extra2)
		                                   : get_cached_region(NULL, &none));
}

static void task_end(const struct itt_domain *domain)
{
	if (domain && domain->flags)
		pop_region(get_open(domain));
}

static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id id,
                                  struct itt_id parent, struct itt_string *name)
{
	(void)parent;
	if (domain && domain->flags && name)
		open_visit(domain, &id, get_cached_region(name->text, &name->extra2));
}

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	close_visit(domain, &id);
}

/* A frame without an id is the only one of its domain. */
static void frame_begin_v3(struct itt_domain *domain, const struct itt_id *id)
{
	static const struct itt_id none;

	if (domain && domain->flags)
		open_visit(domain, id ? id : &none,
		           get_cached_region(domain->name, &domain->extra2));
}

static void frame_end_v3(struct itt_domain *domain, const struct itt_id *id)
{
	static const struct itt_id none;

	close_visit(domain, id ? id : &none);
}

static void region_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                         struct itt_string *name)
{
	task_begin_overlapped(domain, id, parent, name);
}

static void region_end(const struct itt_domain *domain, struct itt_id id)
{
	close_visit(domain, &id);
}

static void pause_counting(void)
{
	pfm_stop_regions();
}

static void resume_counting(void)
{
	if (secure_getenv("PERFMON_REGIONS"))
		pfm_start_regions(NULL, NULL);
}

static const struct {
	const char *name;
	void *function;
} functions[] = {
	{ "__itt_domain_create", (void *)create_domain },
	{ "__itt_string_handle_create", (void *)create_string },
	{ "__itt_task_begin", (void *)task_begin },
	{ "__itt_task_end", (void *)task_end },
	{ "__itt_task_begin_overlapped", (void *)task_begin_overlapped },
	{ "__itt_task_end_overlapped", (void *)task_end_overlapped },
	{ "__itt_frame_begin_v3", (void *)frame_begin_v3 },
	{ "__itt_frame_end_v3", (void *)frame_end_v3 },
	{ "__itt_region_begin", (void *)region_begin },
	{ "__itt_region_end", (void *)region_end },
	{ "__itt_pause", (void *)pause_counting },
	{ "__itt_resume", (void *)resume_counting },
	{ "__itt_detach", (void *)pause_counting },
};

static void *find_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	return NULL;
}

/* Counters are made by the program's own part. */
static bool is_made_by_program(const char *name)
{
	static const char *const names[] = { "__itt_counter_create", "__itt_histogram_create" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Functions that no adapter has do nothing. */
EXPORT void __itt_api_init(struct itt_global *global, int groups);
EXPORT void __itt_api_init(struct itt_global *global, int groups)
{
	for (struct itt_api *a = global->apis; a && a->name; a++) {
		void *function = find_function(a->name);

		if (function && (a->group & groups))
			*a->function = function;
		else if (!is_made_by_program(a->name))
			*a->function = a->nothing;
	}
}
