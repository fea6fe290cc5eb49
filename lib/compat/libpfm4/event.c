/* SPDX-License-Identifier: MIT */
/* Look-up of PMUs and events by name and by index. */
#include <string.h>
#include "compat/libpfm4/l4.h"

int l4_find_pmu_by_name(const char *name, size_t len)
{
	const uint16_t *slots = l4_get_image_array(l4_image.pmu_slots);
	uint32_t mask = l4_image.pmu_slots.n_elements - 1;

	for (uint32_t at = l4_hash_name(name, len) & mask; slots[at]; at = (at + 1) & mask)
		if (l4_is_same_name(l4_get_text(l4_get_pmu(slots[at] - 1u)->name), name, len))
			return slots[at] - 1;
	return -1;
}

int l4_find_pmu_by_id(unsigned id)
{
	const uint16_t *by_id = l4_get_image_array(l4_image.pmus_by_id);

	return id < l4_image.pmus_by_id.n_elements ? by_id[id] - 1 : -1;
}

bool l4_is_in_revision_range(unsigned rev, uint32_t flags)
{
	unsigned first = flags >> 8 & 0xff, last = flags >> 16 & 0xff;

	return (!first || rev >= first) && (!last || rev <= last);
}

static bool is_valid_row(const struct l4_pmu *u, const struct l4_row *r, unsigned encoder)
{
	return (!r->only_pmu || r->only_pmu == u->id) &&
	       (!(u->flags & PMU_ROWS_BY_MACHINE) || l4_is_row_for_host(u, r)) &&
	       (encoder != L4_ENCODER_AMD64 || l4_is_in_revision_range(u->revision, r->flags));
}

static uint32_t count_table_rows(const struct l4_pmu *u)
{
	return l4_get_pmu_table(u)->n_rows;
}

/* Converts a row's number to its position among the events of the architectural PMU (@from_table),
 * or back. CPUID excludes some rows, which have no position. UINT32_MAX without a result. */
static uint32_t convert_arch_position(uint32_t pos, bool from_table)
{
	unsigned version, missing, general, fixed;
	uint32_t n = 0;

	l4_get_arch_pmu(&version, &missing, &general, &fixed);
	for (uint32_t i = 0; i < 32; i++) {
		if (i < 7 && missing >> i & 1) {
			if (from_table && i == pos)
				return UINT32_MAX;
			continue;
		}
		if (from_table ? i == pos : n == pos)
			return from_table ? n : i;
		n++;
	}
	return UINT32_MAX;
}

/* Makes @out row @number of the PMU's table, at position @pos. False if the PMU lacks the row. */
static bool fill_event(uint32_t pmu, uint32_t number, uint32_t pos, struct l4_event *out)
{
	const struct l4_pmu *u = l4_get_pmu(pmu);
	const struct l4_table *t = l4_get_pmu_table(u);
	const struct l4_row *r = l4_get_row(((const uint16_t *)l4_get_image_array(
		l4_image.row_numbers))[t->first_row_number + number]);

	if (r->libpfm4_row && l4_is_exact_mode())
		r = l4_get_row(r->libpfm4_row);
	*out = (struct l4_event){ .pmu_number = pmu,
		                  .pmu = u,
		                  .row = r,
		                  .position = pos,
		                  .encoder = (uint8_t)t->encoder };
	return is_valid_row(u, r, t->encoder);
}

/* The number of fixed rows of the perf PMU. After them it has the subsystems of tracepoints, then
 * the rows of type 4, of which the kernel lists some for the core. */
static uint32_t count_fixed_perf_rows(uint32_t pmu)
{
	struct l4_event ev;
	uint32_t n = 0, end = count_table_rows(l4_get_pmu(pmu));

	while (n < end && fill_event(pmu, n, n, &ev) && ev.row->kind != 4)
		n++;
	return n;
}

static bool is_listed_by_kernel(uint32_t pmu, uint32_t number, uint32_t pos, struct l4_event *out)
{
	return fill_event(pmu, number, pos, out) &&
	       l4_kernel_has_event(l4_get_text(out->row->name));
}

/* The position of row @number, an event of the CPU's own PMU (type 4), among the events that the
 * kernel has; @number after the last row: their end. */
static uint32_t find_perf_position(uint32_t pmu, uint32_t number)
{
	struct l4_event ev;
	uint32_t i = count_fixed_perf_rows(pmu), n = i + l4_count_trace_systems();

	for (; i < number; i++)
		n += is_listed_by_kernel(pmu, i, n, &ev);
	return n;
}

static bool get_perf_event(uint32_t pmu, uint32_t pos, struct l4_event *out)
{
	uint32_t i = count_fixed_perf_rows(pmu), end = count_table_rows(l4_get_pmu(pmu)), n;

	if (pos < i)
		return fill_event(pmu, pos, pos, out);
	n = l4_count_trace_systems();
	if (pos - i < n) {
		fill_event(pmu, 0, pos - i, out);
		out->is_tracepoint_system = true;
		return true;
	}
	for (n += i; i < end; i++)
		if (is_listed_by_kernel(pmu, i, pos, out) && n++ == pos)
			return true;
	return false;
}

bool l4_get_event(uint32_t pmu, uint32_t pos, struct l4_event *out)
{
	const struct l4_pmu *u = l4_get_pmu(pmu);
	const struct l4_table *t = l4_get_pmu_table(u);

	if (t->encoder == L4_ENCODER_PERF)
		return get_perf_event(pmu, pos, out);
	if (t->encoder == L4_ENCODER_ARCH) {
		uint32_t number = convert_arch_position(pos, false);

		return number < t->n_rows && fill_event(pmu, number, pos, out);
	}
	return pos < t->n_rows && fill_event(pmu, pos, pos, out);
}

static bool find_tracepoint_system(uint32_t pmu, const char *name, size_t len, struct l4_event *out)
{
	int system = l4_find_trace_system(name, len);

	if (system < 0)
		return false;
	fill_event(pmu, 0, 0, out);
	out->position = (uint32_t)system;
	out->is_tracepoint_system = true;
	return true;
}

/* Converts a row's number in @ev to its position, which can depend on the kernel or CPUID. False if
 * this machine lacks the event. */
static bool resolve_position(struct l4_event *ev)
{
	if (ev->encoder == L4_ENCODER_ARCH) {
		ev->position = convert_arch_position(ev->position, true);
		return ev->position != UINT32_MAX;
	}
	if (ev->encoder == L4_ENCODER_PERF && ev->row->kind == 4) {
		ev->position = find_perf_position(ev->pmu_number, ev->position);
		return l4_kernel_has_event(l4_get_text(ev->row->name));
	}
	return true;
}

bool l4_find_event(uint32_t pmu, const char *name, size_t len, struct l4_event *out)
{
	const struct l4_table *t = l4_get_pmu_table(l4_get_pmu(pmu));
	const uint16_t *slots =
		(const uint16_t *)l4_get_image_array(l4_image.slots) + t->first_slot;

	for (uint32_t at = l4_hash_name(name, len) & t->slot_mask; slots[at];
	     at = (at + 1) & t->slot_mask) {
		uint32_t number = slots[at] - 1u;

		if (fill_event(pmu, number, number, out) &&
		    l4_is_same_name(l4_get_text(out->row->name), name, len) &&
		    resolve_position(out))
			return true;
	}
	return t->encoder == L4_ENCODER_PERF && find_tracepoint_system(pmu, name, len, out);
}

uint32_t l4_get_event_end(uint32_t pmu)
{
	const struct l4_table *t = l4_get_pmu_table(l4_get_pmu(pmu));

	if (t->encoder == L4_ENCODER_PERF)
		return find_perf_position(pmu, t->n_rows);
	if (t->encoder == L4_ENCODER_ARCH)
		return l4_count_events(pmu);
	return t->n_rows;
}

static uint32_t count_machine_events(uint32_t pmu)
{
	struct l4_event ev;
	uint32_t n = 0;

	for (uint32_t i = 0; i < count_table_rows(l4_get_pmu(pmu)); i++)
		n += fill_event(pmu, i, i, &ev);
	return n;
}

uint32_t l4_count_events(uint32_t pmu)
{
	const struct l4_pmu *u = l4_get_pmu(pmu);
	uint32_t n = 0;

	if (l4_get_pmu_table(u)->encoder == L4_ENCODER_PERF)
		return l4_get_event_end(pmu);
	if (u->flags & PMU_ROWS_BY_MACHINE)
		return count_machine_events(pmu);
	if (l4_get_pmu_table(u)->encoder != L4_ENCODER_ARCH)
		return u->n_events;
	while (convert_arch_position(n, false) < l4_get_pmu_table(u)->n_rows)
		n++;
	return n;
}

int l4_make_event_index(const struct l4_event *ev)
{
	uint32_t pos = ev->is_tracepoint_system
	                       ? count_fixed_perf_rows(ev->pmu_number) + ev->position
	                       : ev->position;

	return (int)((uint32_t)ev->pmu->id << L4_POSITION_BITS | pos);
}

int l4_get_first_event_index(uint32_t pmu)
{
	const struct l4_pmu *u = l4_get_pmu(pmu);

	struct l4_event ev;
	uint32_t first = u->first_event;

	while (u->flags & PMU_ROWS_BY_MACHINE && first < count_table_rows(u) &&
	       !fill_event(pmu, first, first, &ev))
		first++;
	return l4_count_events(pmu) ? (int)((uint32_t)u->id << L4_POSITION_BITS | first) : -1;
}

bool l4_get_event_by_index(int idx, struct l4_event *out)
{
	int pmu = idx < 0 ? -1 : l4_find_pmu_by_id((unsigned)idx >> L4_POSITION_BITS);

	return pmu >= 0 && l4_is_pmu_enabled((uint32_t)pmu) &&
	       l4_get_event((uint32_t)pmu, (uint32_t)idx & ((1u << L4_POSITION_BITS) - 1), out);
}

const char *l4_get_event_name(const struct l4_event *ev)
{
	return ev->is_tracepoint_system ? l4_get_trace_system_name(ev->position)
	                                : l4_get_text(ev->row->name);
}
