/* SPDX-License-Identifier: MIT */
/* The verifier of images at its limits: the last valid value and the first invalid one. */
#include "units.h"
#include <perfmon/types.h>
#include "made_table.h"

/* Makes an image of @n table heads that share all arrays, with one host, one name and one family.
 */
static struct image *make_image(uint32_t n)
{
	struct table *t = make_table();
	size_t heads = sizeof(struct image), body = t->size - sizeof(*t),
	       more = heads + n * sizeof(*t) + body, size = more + 64;
	struct image *im = calloc(1, size);
	uint32_t *tail;

	if (!im)
		abort();
	tail = (uint32_t *)(void *)((char *)im + more);
	*im = (struct image){
		.magic = IMAGE_MAGIC, .version = IMAGE_VERSION, .size = size, .n_tables = n
	};
	for (uint32_t i = 0; i < n; i++) {
		struct table *h = (struct table *)(void *)((char *)im + heads) + i;
		uint32_t shift = (n - 1 - i) * (uint32_t)sizeof(*t);

		*h = *t;
		for (uint32_t *at = &h->keys; at <= &h->row_groups;
		     at++) /* arrays follow each other without a gap */
			*at += shift;
		h->pool += shift;
		h->size += shift;
		h->flags &= ~(uint32_t)TABLE_FROM_KERNEL;
	}
	memcpy((char *)im + heads + n * sizeof(*t), t + 1, body);
	im->arrays[ARRAY_TABLES] = (struct image_array_span){ (uint32_t)heads, n };
	im->arrays[ARRAY_POOL] =
		(struct image_array_span){ (uint32_t)(heads + (n - 1) * sizeof(*t)) + t->pool,
		                           t->n_pool };
	im->arrays[ARRAY_PMU_NAMES] = (struct image_array_span){ (uint32_t)more, 3 };
	im->arrays[ARRAY_HOSTS] = (struct image_array_span){ (uint32_t)more + 12, 2 };
	im->arrays[ARRAY_FAMILY_MEMBERS] = (struct image_array_span){ (uint32_t)more + 28, 1 };
	im->arrays[ARRAY_FAMILIES] = (struct image_array_span){ (uint32_t)more + 32, 1 };
	im->arrays[ARRAY_NAME_FILTERS] = (struct image_array_span){ (uint32_t)more + 56, 1 };
	tail[0] = 0x10001; /* a name of table 0 */
	tail[9] = 0;       /* the first member of the family */
	tail[10] = 1;
	tail[12] = 1; /* a word of the family's filter */
	free(t);
	return im;
}

static void expect_valid_image(const struct image *im)
{
	const char *why = "";

	if (pfmi_table_verify_image(im, (size_t)im->size, VERIFY_HEAD, &why) || why)
		fail_msg("%s", why);
}

static void expect_bad_image(const struct image *im, const char *part)
{
	const char *why = NULL;

	assert_int_equal(pfmi_table_verify_image(im, (size_t)im->size, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	if (!strstr(why, part))
		fail_msg("\"%s\", not \"%s\"", why, part);
}

/* An image of the maximum number of tables. */
static void tables_of_an_image(void **state)
{
	struct image *im = make_image(IMAGE_MAX_TABLES);

	(void)state;
	expect_valid_image(im);
	free(im);
	im = make_image(IMAGE_MAX_TABLES + 1);
	expect_bad_image(im, "directory");
	free(im);
	im = make_image(2);
	expect_valid_image(im);
	im->n_tables = 1;
	expect_bad_image(im, "directory");
	im->n_tables = im->arrays[ARRAY_TABLES].n_elements = 0;
	expect_bad_image(im, "directory");
	free(im);
}

/* Each table of an image must be valid alone and end within the image. */
static void each_table_of_an_image(void **state)
{
	struct image *im = make_image(3);
	struct table *heads =
		(struct table *)(void *)((char *)im + im->arrays[ARRAY_TABLES].offset);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct table h = heads[i];

		heads[i].encoder = N_ENCODERS;
		expect_bad_image(im, "register layout");
		heads[i] = h;
		heads[i].size = (uint32_t)((char *)im + im->size - (char *)&heads[i]);
		expect_valid_image(im);
		heads[i].size += 8;
		expect_bad_image(im, "longer than its file");
		heads[i] = h;
		expect_valid_image(im);
	}
	free(im);
}

/* Only the reader of sysfs makes tables with the kernel's flag; others rely on what it implies. */
static void no_table_of_an_image_is_the_kernels(void **state)
{
	struct image *im = make_image(3);
	struct table *heads =
		(struct table *)(void *)((char *)im + im->arrays[ARRAY_TABLES].offset);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		heads[i].flags |= TABLE_FROM_KERNEL;
		expect_bad_image(im, "running kernel");
		heads[i].flags &= ~(uint32_t)TABLE_FROM_KERNEL;
		expect_valid_image(im);
	}
	free(im);
}

static void arrays_of_an_image(void **state)
{
	static const struct {
		enum image_array which;
		uint32_t size, align;
	} arrays[] = {
		{ ARRAY_TABLES, sizeof(struct table), 8 },
		{ ARRAY_PMU_NAMES, 4, 4 },
		{ ARRAY_FAMILIES, sizeof(struct pmu_family), 4 },
		{ ARRAY_FAMILY_MEMBERS, 2, 2 },
		{ ARRAY_HOSTS, 8, 4 },
		{ ARRAY_NAME_FILTERS, 8, 8 },
		{ ARRAY_POOL, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(arrays); i++) {
		struct image *im = make_image(2);
		struct image_array_span *s = &im->arrays[arrays[i].which], before = *s;

		expect_valid_image(im);
		s->offset = (uint32_t)im->size - s->n_elements * arrays[i].size + arrays[i].align;
		s->offset -= s->offset % arrays[i].align;
		expect_bad_image(im, "directory");
		s->offset = sizeof(*im) - arrays[i].align;
		expect_bad_image(im, "directory");
		if (arrays[i].align > 1) {
			s->offset = before.offset + 1;
			expect_bad_image(im, "directory");
		}
		*s = before;
		s->n_elements = UINT32_MAX;
		expect_bad_image(im, arrays[i].which == ARRAY_TABLES ? "directory" : "");
		free(im);
	}
}

static void names_and_hosts_of_an_image(void **state)
{
	struct image *im = make_image(2);
	uint32_t *calls = (uint32_t *)(void *)((char *)im + im->arrays[ARRAY_PMU_NAMES].offset);
	struct host_slot *hosts =
		(struct host_slot *)(void *)((char *)im + im->arrays[ARRAY_HOSTS].offset);
	uint16_t *parts =
		(uint16_t *)(void *)((char *)im + im->arrays[ARRAY_FAMILY_MEMBERS].offset);
	struct pmu_family *whole = (struct pmu_family *)(void *)((char *)im +
	                                                         im->arrays[ARRAY_FAMILIES].offset),
			  w = *whole;
	struct table *heads =
		(struct table *)(void *)((char *)im + im->arrays[ARRAY_TABLES].offset);

	(void)state;
	calls[1] = 3; /* two tables and a family */
	expect_valid_image(im);
	calls[1] = 4;
	expect_bad_image(im, "leads to no table");
	calls[1] = PMU_NAME_IS_ALIAS; /* an alias without a target */
	expect_bad_image(im, "leads to no table");
	calls[1] = 2;
	calls[2] = 1;
	expect_bad_image(im, "index of names is full");
	calls[2] = 0;
	hosts[0].table_plus1 = 2;
	expect_valid_image(im);
	hosts[0].table_plus1 = 3;
	expect_bad_image(im, "a host leads to no table");
	hosts[0].table_plus1 = hosts[1].table_plus1 = 1;
	expect_bad_image(im, "index of hosts is full");
	hosts[1].table_plus1 = 0;
	parts[0] = 1;
	expect_valid_image(im);
	parts[0] = 2;
	expect_bad_image(im, "member of a PMU family does not exist");
	parts[0] = 0;
	whole->n_members = 2;
	expect_bad_image(im, "members of a PMU family");
	*whole = w;
	whole->n_filter_words = 0;
	expect_bad_image(im, "members of a PMU family");
	whole->n_filter_words = 2;
	expect_bad_image(im, "members of a PMU family");
	*whole = w;
	whole->name = im->arrays[ARRAY_POOL].n_elements - POOL_PAD;
	expect_valid_image(im);
	whole->name++;
	expect_bad_image(im, "members of a PMU family");
	*whole = w;
	heads[1].family_plus1 = 1;
	expect_valid_image(im);
	heads[1].family_plus1 = 2;
	expect_bad_image(im, "members of a PMU family");
	heads[1].family_plus1 = 0;
	heads[1].n_pool--; /* the pool ends in nine zeros */
	expect_bad_image(im, "strings of its own");
	free(im);
}

UNIT(table_verify_image, cmocka_unit_test(tables_of_an_image),
     cmocka_unit_test(each_table_of_an_image),
     cmocka_unit_test(no_table_of_an_image_is_the_kernels), cmocka_unit_test(arrays_of_an_image),
     cmocka_unit_test(names_and_hosts_of_an_image));
