/* SPDX-License-Identifier: MIT */
/* NVTX: NVTX_INJECTION64_PATH names this library. The header-only part in the program loads it at
 * its first call and hands over a table of pointers to functions, by module and number; no GPU is
 * needed.
 *
 *     push, pop     a region of the calling thread; pop closes the innermost one of its domain
 *     start, end    a visit by handle
 *
 * Wide strings are not read. */
#include "adapter.h"

enum {
	EXPORT_CALLBACKS = 1,
	MODULE_CORE = 1,
	MODULE_CORE2 = 5,
	MESSAGE_ASCII = 1,
	MESSAGE_REGISTERED = 3
};

/* Numbers of functions in their modules. */
enum {
	CORE_RANGE_START_EX = 4,
	CORE_RANGE_START_A = 5,
	CORE_RANGE_END = 7,
	CORE_RANGE_PUSH_EX = 8,
	CORE_RANGE_PUSH_A = 9,
	CORE_RANGE_POP = 11
};
enum {
	CORE2_DOMAIN_RANGE_START_EX = 2,
	CORE2_DOMAIN_RANGE_END = 3,
	CORE2_DOMAIN_RANGE_PUSH_EX = 4,
	CORE2_DOMAIN_RANGE_POP = 5,
	CORE2_DOMAIN_REGISTER_STRING_A = 10,
	CORE2_DOMAIN_CREATE_A = 12
};

typedef void (*function)(void);

struct callbacks {
	size_t size;
	int (*functions_of)(int module, function ***table, unsigned *n);
};

/* nvtxEventAttributes_t, version 2 and later. */
struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t number;
		double real;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		pfm_region_t *registered;
	} message;
};

static struct open_domains domains = { .once = PTHREAD_ONCE_INIT };

static void make_key(void)
{
	(void)pthread_key_create(&domains.key, free_open_blocks);
}

static struct open_regions *get_open(const void *domain)
{
	return get_open_regions(&domains, make_key, domain);
}

static pfm_region_t *get_region_of_message(const struct attributes *a)
{
	if (a && a->message_type == MESSAGE_ASCII && a->message.text)
		return pfm_find_region(a->message.text);
	if (a && a->message_type == MESSAGE_REGISTERED && a->message.registered)
		return a->message.registered;
	return pfm_find_region("unnamed range");
}

/* NVTX returns the depth from 0 on; a pop without a push is -2 in its own words. */
static int push_range(const void *domain, pfm_region_t *region)
{
	struct open_regions *open = get_open(domain);

	push_region(open, region);
	return open ? (int)open->depth - 1 : -1;
}

static int pop_range(const void *domain)
{
	unsigned depth = pop_region(get_open(domain));

	return depth ? (int)depth - 1 : -2;
}

static int range_pop(void)
{
	return pop_range(NULL);
}

static int range_push_a(const char *text)
{
	return push_range(NULL, pfm_find_region(text ? text : "unnamed range"));
}

static int range_push_ex(const struct attributes *a)
{
	return push_range(NULL, get_region_of_message(a));
}

static int domain_range_push_ex(void *domain, const struct attributes *a)
{
	return push_range(domain, get_region_of_message(a));
}

static int domain_range_pop(void *domain)
{
	return pop_range(domain);
}

static uint64_t range_start_a(const char *text)
{
	(void)get_open(NULL); /* the page faults of its memory are not those of the range */
	return (uint64_t)(uintptr_t)pfm_enter_region(
		pfm_find_region(text ? text : "unnamed range"));
}

static uint64_t range_start_ex(const struct attributes *a)
{
	(void)get_open(NULL);
	return (uint64_t)(uintptr_t)pfm_enter_region(get_region_of_message(a));
}

static void range_end(uint64_t id)
{
	pfm_leave_region((pfm_region_visit_t *)(uintptr_t)id);
}

static uint64_t domain_range_start_ex(void *domain, const struct attributes *a)
{
	(void)domain;
	return range_start_ex(a);
}

static void domain_range_end(void *domain, uint64_t id)
{
	(void)domain;
	range_end(id);
}

/* A registered string is its region. */
static void *register_string(void *domain, const char *text)
{
	(void)domain;
	return pfm_find_region(text ? text : "unnamed range");
}

struct domain {
	struct domain *next;
	char name[];
};

/* The domain called @name, one for all calls. NULL, the default domain, without memory. */
static void *domain_create(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct domain *all;
	struct domain *d;

	name = name ? name : "";
	pthread_mutex_lock(&lock);
	for (d = all; d && strcmp(d->name, name) != 0;)
		d = d->next;
	if (!d && (d = malloc(sizeof(*d) + strlen(name) + 1))) {
		memcpy(d->name, name, strlen(name) + 1);
		d->next = all;
		all = d;
	}
	pthread_mutex_unlock(&lock);
	return d;
}

struct entry {
	unsigned number;
	function f;
};

static const struct entry core[] = {
	{ CORE_RANGE_START_EX, (function)range_start_ex },
	{ CORE_RANGE_START_A, (function)range_start_a },
	{ CORE_RANGE_END, (function)range_end },
	{ CORE_RANGE_PUSH_EX, (function)range_push_ex },
	{ CORE_RANGE_PUSH_A, (function)range_push_a },
	{ CORE_RANGE_POP, (function)range_pop },
};

static const struct entry core2[] = {
	{ CORE2_DOMAIN_RANGE_START_EX, (function)domain_range_start_ex },
	{ CORE2_DOMAIN_RANGE_END, (function)domain_range_end },
	{ CORE2_DOMAIN_RANGE_PUSH_EX, (function)domain_range_push_ex },
	{ CORE2_DOMAIN_RANGE_POP, (function)domain_range_pop },
	{ CORE2_DOMAIN_REGISTER_STRING_A, (function)register_string },
	{ CORE2_DOMAIN_CREATE_A, (function)domain_create },
};

static bool install_functions(const struct callbacks *c, int module, const struct entry *entries,
                              size_t n)
{
	function **table;
	unsigned size;

	if (!c->functions_of(module, &table, &size))
		return false;
	for (size_t i = 0; i < n; i++)
		if (entries[i].number < size && table[entries[i].number])
			*table[entries[i].number] = entries[i].f;
	return true;
}

/* Returns 1 if the functions are entered. */
EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));
EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const struct callbacks *c = get_table(EXPORT_CALLBACKS);

	if (!c || c->size < sizeof(*c) || !c->functions_of)
		return 0;
	return install_functions(c, MODULE_CORE, core, sizeof(core) / sizeof(core[0])) &&
	       install_functions(c, MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
}
