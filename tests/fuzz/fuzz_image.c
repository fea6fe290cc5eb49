/* SPDX-License-Identifier: MIT */
/* Any bytes as an image. What the check lets through is used in every way the library uses a
 * table. */
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"
#include "pmu/pmu.h"
#include "time_bound.h"

/* Asks about the machines of the table by each kind of id. */
static void ask_for_hosts(const struct table *t)
{
	static const char *const machines[] = { "GenuineIntel-6-97-2", "AuthenticAMD-25-17-1",
		                                "alpha-11", "ia64-32-0", "0x00000000413fd0c1" };
	struct host host;
	unsigned core;

	for (unsigned i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (pfmi_machine_parse_host_id(machines[i], &host))
			pfmi_machine_is_table_for_host(&host, t, &core);
	pfmi_machine_is_better_table(&host, t, t);
}

/* The checksum only catches accidents; a hostile file has a right one. So the fuzzer goes past it,
 * table by table. */
static void use(const struct table *t)
{
	uint64_t config[N_CONFIG_WORDS];

	ask_for_hosts(t);
	for (uint32_t row = 0; row < t->n_rows && row < 64; row++) {
		struct event ev;
		struct encode_request req = {
			.table = t, .events = &ev, .n_events = 1, .plm = PFM_PLM0 | PFM_PLM3
		};
		struct placement where;
		struct register_values regs;
		pfm_error_t why = PFM_INIT(why);
		const char *name = table_get_row_name(t, row);
		uint32_t h = NAME_HASH_SEED;

		for (const char *p = name; *p; p++)
			h = table_hash_char(h, (unsigned char)*p);
		table_find_name(t, h, name, strlen(name));
		pfmi_pmu_init_event(&ev, t, row);
		for (unsigned i = 0; i < pfmi_pmu_count_row_umasks(t, row) && i < 48; i++)
			pfmi_pmu_add_umask(&ev, i);
		pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
		for (int k = 1; k < N_KEYS; k++) {
			const struct field *f = table_get_key_field(t, (enum field_key)k);

			pfmi_table_get_row_text(
				t, row, f && f->kind == FIELD_TEXT ? (enum field_key)k : KEY_NONE);
		}
		pfmi_pmu_dispatch_set(&req, &where, &regs, &why);
	}
}

int try_input(const uint8_t *data, size_t size)
{
	const char *why;
	void *copy;

	size -= size % 8; /* others are refused at once */
	copy = aligned_alloc(8, size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	pfmi_table_verify_image(copy, size, VERIFY_ALL, &why);
	if (size >= sizeof(struct image) + 8)
		((struct image *)copy)->size = size;
	if (size >= sizeof(struct image) + 8 &&
	    pfmi_table_verify_image(copy, size, VERIFY_HEAD, &why) == 0) {
		const struct image *im = copy;
		const struct pmu_family *families = table_get_image_array(im, ARRAY_FAMILIES);

		for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++)
			table_can_family_have_name(im, &families[i], (uint32_t)size * 0x9e3779b1u);
		for (uint32_t i = 0; i < im->n_tables; i++) {
			const struct table *t = table_get_image_table(im, i);

			if (pfmi_table_verify(t,
			                      size - (size_t)((const char *)t - (const char *)copy),
			                      VERIFY_ALL, &why) == 0)
				use(t);
		}
	}
	free(copy);
	return 0;
}
