/* SPDX-License-Identifier: MIT */
/* The target of a decode: a register by its name, with its layout, counter and levels. */
#include <string.h>
#include "pmu/pmu.h"

int pfmi_pmu_get_config_index(const char *reg)
{
	if (!pfmi_base_skip_prefix_icase((struct slice){ "config", 6 }, reg))
		return -1;
	if (reg[6] == '\0')
		return 0;
	return reg[6] >= '0' && reg[6] < '0' + (int)N_CONFIG_WORDS && reg[7] == '\0' ? reg[6] - '0'
	                                                                             : -1;
}

/* The number at the end of a register's name. */
static unsigned get_trailing_number(const char *reg)
{
	size_t n = strlen(reg), at = n;
	unsigned value = 0;

	while (at > 0 && reg[at - 1] >= '0' && reg[at - 1] <= '9')
		at--;
	if (at == n || n - at > 2)
		return DECODE_NO_COUNTER;
	for (; at < n; at++)
		value = value * 10 + (unsigned)(reg[at] - '0');
	return value;
}

/* Bits of word 0 in which the table declares fields. */
static uint64_t get_declared_bits(const struct table *t)
{
	uint64_t all[N_CONFIG_WORDS] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].kind != FIELD_TEXT)
			field_insert(&table_fields(t)[i], all, ~(uint64_t)0);
	return all[0];
}

const struct register_field *pfmi_pmu_find_register_field(const struct decode_target *g,
                                                          const char *name)
{
	for (unsigned i = 0; i < g->n_layout; i++)
		if (strcmp(g->layout[i].name, name) == 0)
			return &g->layout[i];
	return NULL;
}

static uint64_t get_layout_value(const struct decode_target *g, const char *name)
{
	const struct register_field *b = pfmi_pmu_find_register_field(g, name);

	return b ? register_field_extract(g->value, *b) : 0;
}

/* The levels that a register counts; 0 if it has no bits for them. */
static uint8_t get_register_levels(const struct decode_target *g)
{
	uint64_t plm = get_layout_value(g, "plm") & 15;

	if (get_layout_value(g, "usr"))
		plm |= PFM_PLM3;
	if (get_layout_value(g, "os"))
		plm |= PFM_PLM0;
	return (uint8_t)plm;
}

/* True if the register enables each level by a bit. */
static bool has_level_bits(const struct decode_target *g)
{
	return g->is_register_pair || pfmi_pmu_find_register_field(g, "plm") ||
	       pfmi_pmu_find_register_field(g, "usr") || pfmi_pmu_find_register_field(g, "os");
}

bool pfmi_pmu_decode_shared_levels(struct decode_target *g, const char *reg, uint64_t value)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(g->table);
	int levels =
		ops->decode_shared_levels ? ops->decode_shared_levels(g->table, reg, value) : 0;

	if (levels > 0)
		g->plm = (uint8_t)levels;
	return levels >= 0;
}

/* Bits of config that the kernel controls on x86, except those in @mine, where the table has
 * fields. */
static uint64_t compute_kernel_owned_bits(const struct decode_target *g, uint64_t mine)
{
	static const char names[][12] = { "usr", "os", "int", "en", "guest_only", "host_only" };
	uint64_t all = 0;

	for (unsigned i = 0; i < g->n_layout; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(g->layout[i].name, names[k]) == 0)
				all |= register_field_mask(g->layout[i]) << g->layout[i].lsb;
	return all & ~mine;
}

bool pfmi_pmu_has_register_select_mask(const struct decode_target *g)
{
	return pfmi_pmu_get_config_index(g->reg_name) < 0 &&
	       pfmi_pmu_has_event_select_mask(g->table);
}

bool pfmi_pmu_init_decode_target(struct decode_target *g)
{
	int word = pfmi_pmu_get_config_index(g->reg_name);
	bool bits = table_has_field_bits(g->table);

	g->layout = pfmi_pmu_get_register_layout(
		g->table, word == 0 && bits ? "PERFEVTSEL" : g->reg_name, &g->n_layout);
	if (!g->layout)
		g->n_layout = 0;
	if (word >= 0 && !bits)
		return false;
	g->counter = word >= 0 ? DECODE_NO_COUNTER : get_trailing_number(g->reg_name);
	g->known_words = pfmi_pmu_has_register_select_mask(g) ? 0 : 1u << (word > 0 ? word : 0);
	g->config[word > 0 ? word : 0] = g->value;
	if (word <= 0 && bits)
		g->config[0] &= ~compute_kernel_owned_bits(g, get_declared_bits(g->table));
	g->is_register_pair = word < 0 && pfmi_pmu_get_encoder(g->table)->decode_register_pair;
	if (word < 0) {
		g->plm = get_register_levels(g);
		g->has_level_bits = has_level_bits(g);
		(void)pfmi_pmu_decode_shared_levels(g, g->reg_name, g->value);
	}
	/* The second register of a pair alone has no counter. */
	if (g->is_register_pair && pfmi_pmu_find_register_field(g, "event"))
		g->counter = DECODE_NO_COUNTER;
	return word >= 0 || g->layout;
}

/* True if the event sets a level that only MIPS has. Without a named level it counts at no other.
 */
static bool has_own_level(const struct event *ev)
{
	return pfmi_pmu_get_key_value(ev, KEY_SUPERVISOR, ANY_COUNTER) ||
	       pfmi_pmu_get_key_value(ev, KEY_EXCEPTION, ANY_COUNTER);
}

void pfmi_pmu_set_decoded_levels(const struct decode_target *g, struct event *ev)
{
	unsigned plm = g->is_register_pair ? ev->plm : g->plm;
	bool own = has_own_level(ev);

	ev->plm = plm == pfmi_pmu_get_encoder(g->table)->default_levels && !own ? 0 : (uint8_t)plm;
	ev->has_no_levels = g->has_level_bits && !plm && !own;
}

void pfmi_pmu_set_excluded_levels(const struct table *t, const char *reg, uint64_t value,
                                  struct event *ev)
{
	struct decode_target g = { .table = t, .reg_name = reg, .value = value };
	unsigned plm;

	g.layout = pfmi_pmu_get_register_layout(t, reg, &g.n_layout);
	if (!g.layout || !pfmi_pmu_find_register_field(&g, "nsh"))
		return;
	plm = (get_layout_value(&g, "p") ? 0 : PFM_PLM0) |
	      (get_layout_value(&g, "u") ? 0 : PFM_PLM3);
	ev->has_no_levels = !plm && !get_layout_value(&g, "nsh");
	if (get_layout_value(&g, "nsh"))
		plm = plm == pfmi_pmu_get_encoder(t)->default_levels ? 0 : plm | PFMI_PLMH;
	ev->plm = (uint8_t)plm;
}
