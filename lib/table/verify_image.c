/* SPDX-License-Identifier: MIT */
/* Verification of images from files: the directory, names, families and hosts of an image, and each
 * of its tables. */
#include <string.h>
#include <perfmon/types.h>
#include "table/table.h"

/* Folds two running sums over 64-bit words. Flipped bits and swapped words change the result, and
 * the loop runs at the speed of memory. */
static uint32_t compute_checksum(const uint64_t *p, size_t n)
{
	uint64_t first = 0, second = 0;

	for (size_t i = 0; i < n; i++) {
		first += p[i];
		second += first;
	}
	first ^= second << 1 | second >> 63;
	return (uint32_t)(first ^ first >> 32);
}

static bool is_array_in_image(const struct image *im, enum image_array which, size_t element_size,
                              size_t align)
{
	const struct image_array_span *s = &im->arrays[which];

	return s->offset % align == 0 && s->offset >= sizeof(*im) && s->offset <= im->size &&
	       s->n_elements <= (im->size - s->offset) / element_size;
}

static const char *check_image_head(const struct image *im, size_t size)
{
	if (size < sizeof(*im))
		return "too short for an image of event tables";
	if (im->magic == __builtin_bswap32(IMAGE_MAGIC))
		return "written on a machine of the other byte order: import the lists again here";
	if (im->magic != IMAGE_MAGIC)
		return "not an image of event tables";
	if (im->version != IMAGE_VERSION)
		return "written by another version: import the lists again";
	if (im->size != size || size % 8 || size > UINT32_MAX)
		return "truncated or extended";
	if (im->n_tables == 0 || im->n_tables > IMAGE_MAX_TABLES ||
	    im->n_tables != im->arrays[ARRAY_TABLES].n_elements ||
	    !is_array_in_image(im, ARRAY_TABLES, sizeof(struct table), 8) ||
	    !is_array_in_image(im, ARRAY_PMU_NAMES, sizeof(uint32_t), 4) ||
	    !is_array_in_image(im, ARRAY_FAMILIES, sizeof(struct pmu_family), 4) ||
	    !is_array_in_image(im, ARRAY_FAMILY_MEMBERS, sizeof(uint16_t), 2) ||
	    !is_array_in_image(im, ARRAY_POOL, 1, 1) ||
	    !is_array_in_image(im, ARRAY_HOSTS, sizeof(struct host_slot), 4) ||
	    !is_array_in_image(im, ARRAY_NAME_FILTERS, sizeof(uint64_t), 8))
		return "the directory of tables is out of bounds";
	return NULL;
}

/* True if the array has the @n elements from @first on. */
static bool is_range_in_array(const struct image *im, enum image_array which, uint32_t first,
                              uint32_t n)
{
	return first <= im->arrays[which].n_elements && n <= im->arrays[which].n_elements - first;
}

/* Checks the members of PMU families, and the filters over the members' names, which are never
 * empty. */
static const char *check_families(const struct image *im)
{
	const struct pmu_family *families = table_get_image_array(im, ARRAY_FAMILIES);
	const uint16_t *members = table_get_image_array(im, ARRAY_FAMILY_MEMBERS);

	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++)
		if (im->arrays[ARRAY_POOL].n_elements < POOL_PAD ||
		    families[i].name > im->arrays[ARRAY_POOL].n_elements - POOL_PAD ||
		    !is_range_in_array(im, ARRAY_FAMILY_MEMBERS, families[i].first_member,
		                       families[i].n_members) ||
		    !is_range_in_array(im, ARRAY_NAME_FILTERS, families[i].first_filter_word,
		                       families[i].n_filter_words) ||
		    !families[i].n_filter_words)
			return "the members of a PMU family are out of bounds";
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILY_MEMBERS].n_elements; i++)
		if (members[i] >= im->n_tables)
			return "a member of a PMU family does not exist";
	for (uint32_t i = 0; i < im->n_tables; i++)
		if (table_get_image_table(im, i)->family_plus1 >
		    im->arrays[ARRAY_FAMILIES].n_elements)
			return "the members of a PMU family are out of bounds";
	return NULL;
}

/* Checks that names of PMUs lead to tables or families, and that some slot is empty. */
static const char *check_pmu_names(const struct image *im)
{
	const uint32_t *slots = table_get_image_array(im, ARRAY_PMU_NAMES);
	uint32_t n = im->arrays[ARRAY_PMU_NAMES].n_elements, used = 0,
		 n_families = im->arrays[ARRAY_FAMILIES].n_elements;

	for (uint32_t i = 0; i < n; i++) {
		if ((slots[i] & PMU_NAME_NUMBER_MASK) > im->n_tables + n_families ||
		    (slots[i] && !(slots[i] & PMU_NAME_NUMBER_MASK)))
			return "a name leads to no table";
		used += slots[i] != 0;
	}
	return n && used < n ? NULL : "the index of names is full";
}

static const char *check_hosts(const struct image *im)
{
	const struct host_slot *hosts = table_get_image_array(im, ARRAY_HOSTS);
	uint32_t n = im->arrays[ARRAY_HOSTS].n_elements, used = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (hosts[i].table_plus1 > im->n_tables)
			return "a host leads to no table";
		used += hosts[i].table_plus1 != 0;
	}
	return n && used < n ? NULL : "the index of hosts is full";
}

int pfmi_table_verify_image(const void *image, size_t size, enum verify_depth depth,
                            const char **why)
{
	const struct image *im = image;

	*why = (uintptr_t)image % 8 ? "misaligned" : check_image_head(im, size);
	if (!*why && depth == VERIFY_ALL &&
	    im->checksum != compute_checksum((const uint64_t *)(const void *)im->arrays,
	                                     (size - offsetof(struct image, arrays)) / 8))
		*why = "damaged: the checksum does not match";
	if (!*why)
		*why = pfmi_table_find_image_table_fault(im, depth);
	if (!*why)
		*why = check_pmu_names(im);
	if (!*why)
		*why = check_families(im);
	if (!*why)
		*why = check_hosts(im);
	return *why ? PFMLIB_ERR_IMAGE : PFMLIB_SUCCESS;
}
