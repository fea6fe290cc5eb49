/* SPDX-License-Identifier: MIT */
/* PMUs, events and attributes: by name, by index, in order. */
#include <endian.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define B(name, desc)                   \
	{                               \
		name, false, 0, 1, desc \
	}
#define N(name, low, high, desc)            \
	{                                   \
		name, true, low, high, desc \
	}
#define K               B("k", "count in the kernel")
#define U               B("u", "count in user mode")
#define H(name)         B(name, "count in the hypervisor")
#define E               B("e", "count beginnings, not cycles")
#define I               B("i", "count while below the threshold")
#define C               N("c", 0, 255, "count cycles with at least this many")
#define THRESHOLD(high) N("t", 0, high, "count cycles with at least this many")
#define CORE_ID(high)   N("cf", 0, high, "only requests of this core")
#define THREAD_ID(high) N("tf", 0, high, "only requests of this thread")
#define NODE(high)      N("nf", 1, high, "only requests to these nodes")
#define T               B("t", "count both threads of the core")
#define LDLAT           N("ldlat", 1, 65535, "loads of at least this many cycles")
#define INTX            B("intx", "count in transactions")
#define INTXCP          B("intxcp", "leave out aborted transactions")

const struct l4_mod l4_mods[L4_ENCODERS][24] = {
	[L4_CORE] = { K, U, E, I, C, T, LDLAT, INTX, INTXCP, N("fe_thres", 1, 4095, "bubbles of at least this many cycles") },
	[L4_ARCH] = { K, U, E, I, C, T, LDLAT, INTX, INTXCP },
	[L4_NHM_UNC] = { E, I, C, B("o", "count overflows of the queue") },
	[L4_EP_UNC] = { E, I, THRESHOLD(255), THRESHOLD(31), THREAD_ID(1), CORE_ID(15), NODE(255),
	                N("ff", 0, 255, "frequency, in steps of 100 MHz"),
	                N("addr", 0, (1ull << 40) - 1, "only this physical address"), NODE(255), B("isoc", "only isochronous requests"),
	                B("nc", "only requests that are not coherent"), CORE_ID(63), THREAD_ID(7), CORE_ID(64),
	                B("loc", "only requests to this socket"),
	                B("rem", "only requests to other sockets"), B("lmem", "only requests to this socket's memory"),
	                B("rmem", "only requests to other sockets' memory"), N("dnid", 0, 15, "only this destination node"),
	                N("rcsnid", 0, 15, "only this return channel's node"), THRESHOLD(63),
	                B("occ_i", "count while occupancy is below the threshold"),
	                B("occ_e", "count changes of occupancy") },
	[L4_AMD64] = { K, U, E, I, C, H("h"), B("g", "count in guests") },
	[L4_ARM] = { K, U, H("hv") },
	[L4_PLAIN] = { K, U, H("hv") },
	[L4_SPARC] = { K, U, H("h") },
	[L4_MIPS] = { K, U, B("s", "count in supervisor mode"), B("e", "count at exception level") },
	[L4_NETBURST] = { U, K, B("cmpl", "count while below the threshold"), E, N("thr", 0, 15, "threshold") },
};

const struct l4_mod l4_os_attrs[OS_ATTRS] = {
	[OS_U] = U,
	[OS_K] = K,
	[OS_H] = H("h"),
	[OS_PERIOD] = N("period", 1, UINT64_MAX, "sample after this many"),
	[OS_FREQ] = N("freq", 1, UINT64_MAX, "sample this often in a second"),
	[OS_PRECISE] = N("precise", 0, 3, "how far a sample may be off: 3 not at all"),
	[OS_EXCL] = B("excl", "nothing else may count beside it"),
	[OS_MG] = B("mg", "count in guests"),
	[OS_MH] = B("mh", "count in the host"),
	[OS_CPU] = N("cpu", 0, INT32_MAX - 1, "count on this CPU"),
	[OS_PINNED] = B("pinned", "always on a counter, or an error"),
	[OS_HW_SMPL] = B("hw_smpl", "samples come from the hardware's buffer"),
};

/* ---- names ---------------------------------------------------------------------------------------------------- */

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static uint64_t mix(uint64_t h, uint64_t letters)
{
	h = (h ^ (letters | 0x2020202020202020u)) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* Eight letters at a time, as if all were small: the same as hash_of() in lib/pmuc/libpfm4.py. */
uint32_t l4_hash(const char *name, size_t len)
{
	uint64_t h = len, letters;

	for (; len >= 8; name += 8, len -= 8) {
		memcpy(&letters, name, 8);
		h = mix(h, le64toh(letters));
	}
	for (letters = 0; len; len--)
		letters = letters << 8 | (unsigned char)name[len - 1];
	return (uint32_t)mix(h, letters);
}

bool l4_same(const char *stored, const char *name, size_t len)
{
	if (strncmp(stored, name, len) == 0) /* as most people write it */
		return stored[len] == '\0';
	for (size_t i = 0; i < len; i++)
		if (lower(stored[i]) != lower(name[i]) || !stored[i])
			return false;
	return stored[len] == '\0';
}

/* ---- PMUs ----------------------------------------------------------------------------------------------------- */

int l4_unit_named(const char *name, size_t len)
{
	const uint16_t *slots = l4_at(l4_image.unit_slots);
	uint32_t mask = l4_image.unit_slots.n - 1;

	for (uint32_t at = l4_hash(name, len) & mask; slots[at]; at = (at + 1) & mask)
		if (l4_same(l4_text(l4_unit(slots[at] - 1u)->name), name, len))
			return slots[at] - 1;
	return -1;
}

int l4_unit_by_id(unsigned id)
{
	const uint16_t *by_id = l4_at(l4_image.by_id);

	return id < l4_image.by_id.n ? by_id[id] - 1 : -1;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static bool is_revision(unsigned rev, uint32_t flags)
{
	unsigned first = flags >> 8 & 0xff, last = flags >> 16 & 0xff;

	return (!first || rev >= first) && (!last || rev <= last);
}

static bool row_valid(const struct l4_unit *u, const struct l4_row *r, unsigned encoder)
{
	return (!r->only || r->only == u->id) && (!(u->flags & U_MACHINES) || l4_listed(u, r)) &&
	       (encoder != L4_AMD64 || is_revision(u->rev, r->flags));
}

static uint32_t static_end(const struct l4_unit *u)
{
	return l4_table(u)->n;
}

/* The architectural PMU has only the events that CPUID does not take away; positions count those. */
static uint32_t arch_position(uint32_t pos, bool from_table)
{
	unsigned version, missing, general, fixed;
	uint32_t n = 0;

	l4_arch(&version, &missing, &general, &fixed);
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

/* Row @number of the PMU's table as event at @pos. */
static bool fill(uint32_t unit, uint32_t number, uint32_t pos, struct l4_event *out)
{
	const struct l4_unit *u = l4_unit(unit);
	const struct l4_table *t = l4_table(u);
	const struct l4_row *r = l4_row_number(((const uint16_t *)l4_at(l4_image.numbers))[t->first + number]);

	if (r->exact && l4_exact())
		r = l4_row_number(r->exact);
	*out = (struct l4_event){ .unit = unit, .u = u, .row = r, .pos = pos, .encoder = (uint8_t)t->encoder };
	return row_valid(u, r, t->encoder);
}

/* perf: after the fixed list come the tracepoints' subsystems, then the events the kernel lists for the core, rows of type 4. */
static uint32_t perf_fixed_end(uint32_t unit)
{
	struct l4_event ev;
	uint32_t n = 0, end = static_end(l4_unit(unit));

	while (n < end && fill(unit, n, n, &ev) && ev.row->type != 4)
		n++;
	return n;
}

static bool is_listed(uint32_t unit, uint32_t number, uint32_t pos, struct l4_event *out)
{
	return fill(unit, number, pos, out) && l4_kernel_has_event(l4_text(out->row->name));
}

/* The position of row @number of those of type 4, or of what would come next. */
static uint32_t perf_position(uint32_t unit, uint32_t number)
{
	struct l4_event ev;
	uint32_t i = perf_fixed_end(unit), n = i + l4_trace_systems();

	for (; i < number; i++)
		n += is_listed(unit, i, n, &ev);
	return n;
}

static bool perf_event_at(uint32_t unit, uint32_t pos, struct l4_event *out)
{
	uint32_t i = perf_fixed_end(unit), end = static_end(l4_unit(unit)), n;

	if (pos < i)
		return fill(unit, pos, pos, out);
	n = l4_trace_systems();
	if (pos - i < n) {
		fill(unit, 0, pos - i, out);
		out->traced = true;
		return true;
	}
	for (n += i; i < end; i++)
		if (is_listed(unit, i, pos, out) && n++ == pos)
			return true;
	return false;
}

bool l4_event_at(uint32_t unit, uint32_t pos, struct l4_event *out)
{
	const struct l4_unit *u = l4_unit(unit);
	const struct l4_table *t = l4_table(u);

	if (t->encoder == L4_PERF)
		return perf_event_at(unit, pos, out);
	if (t->encoder == L4_ARCH) {
		uint32_t number = arch_position(pos, false);

		return number < t->n && fill(unit, number, pos, out);
	}
	return pos < t->n && fill(unit, pos, pos, out);
}

static bool perf_event_named(uint32_t unit, const char *name, size_t len, struct l4_event *out)
{
	int system = l4_trace_find(name, len);

	if (system < 0)
		return false;
	fill(unit, 0, 0, out);
	out->pos = (uint32_t)system;
	out->traced = true;
	return true;
}

/* The position of a row that kernel and CPUID may have moved. */
static bool settle(struct l4_event *ev)
{
	if (ev->encoder == L4_ARCH) {
		ev->pos = arch_position(ev->pos, true);
		return ev->pos != UINT32_MAX;
	}
	if (ev->encoder == L4_PERF && ev->row->type == 4) {
		ev->pos = perf_position(ev->unit, ev->pos);
		return l4_kernel_has_event(l4_text(ev->row->name));
	}
	return true;
}

bool l4_event_named(uint32_t unit, const char *name, size_t len, struct l4_event *out)
{
	const struct l4_table *t = l4_table(l4_unit(unit));
	const uint16_t *slots = (const uint16_t *)l4_at(l4_image.slots) + t->slots;

	for (uint32_t at = l4_hash(name, len) & t->slot_mask; slots[at]; at = (at + 1) & t->slot_mask) {
		uint32_t number = slots[at] - 1u;

		if (fill(unit, number, number, out) && l4_same(l4_text(out->row->name), name, len) && settle(out))
			return true;
	}
	return t->encoder == L4_PERF && perf_event_named(unit, name, len, out);
}

uint32_t l4_event_end(uint32_t unit)
{
	const struct l4_table *t = l4_table(l4_unit(unit));

	if (t->encoder == L4_PERF)
		return perf_position(unit, t->n);
	if (t->encoder == L4_ARCH)
		return l4_event_count(unit);
	return t->n;
}

static uint32_t machine_events(uint32_t unit)
{
	struct l4_event ev;
	uint32_t n = 0;

	for (uint32_t i = 0; i < static_end(l4_unit(unit)); i++)
		n += fill(unit, i, i, &ev);
	return n;
}

uint32_t l4_event_count(uint32_t unit)
{
	const struct l4_unit *u = l4_unit(unit);
	uint32_t n = 0;

	if (l4_table(u)->encoder == L4_PERF)
		return l4_event_end(unit);
	if (u->flags & U_MACHINES)
		return machine_events(unit);
	if (l4_table(u)->encoder != L4_ARCH)
		return u->n_events;
	while (arch_position(n, false) < l4_table(u)->n)
		n++;
	return n;
}

int l4_index(const struct l4_event *ev)
{
	uint32_t pos = ev->traced ? perf_fixed_end(ev->unit) + ev->pos : ev->pos;

	return (int)((uint32_t)ev->u->id << L4_POS_BITS | pos);
}

int l4_first_index(uint32_t unit)
{
	const struct l4_unit *u = l4_unit(unit);

	struct l4_event ev;
	uint32_t first = u->first;

	while (u->flags & U_MACHINES && first < static_end(u) && !fill(unit, first, first, &ev))
		first++;
	return l4_event_count(unit) ? (int)((uint32_t)u->id << L4_POS_BITS | first) : -1;
}

bool l4_event_index(int idx, struct l4_event *out)
{
	int unit = idx < 0 ? -1 : l4_unit_by_id((unsigned)idx >> L4_POS_BITS);

	return unit >= 0 && l4_exists((uint32_t)unit) && l4_event_at((uint32_t)unit, (uint32_t)idx & ((1u << L4_POS_BITS) - 1), out);
}

const char *l4_event_name(const struct l4_event *ev)
{
	return ev->traced ? l4_trace_system(ev->pos) : l4_text(ev->row->name);
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

bool l4_mask_valid(const struct l4_event *ev, const struct l4_mask *m)
{
	return (!m->only || m->only == ev->u->id) && (ev->encoder != L4_AMD64 || is_revision(ev->u->rev, m->flags));
}

/* How many masks of the row the PMU has. */
static uint32_t count_masks(const struct l4_event *ev)
{
	const struct l4_mask *m = l4_masks(ev->row);
	uint32_t n = 0;

	if (ev->traced)
		return l4_trace_points(ev->pos);
	if (!(ev->row->traits & T_MODEL_MASKS))
		return ev->row->n_masks;
	for (uint32_t i = 0; i < ev->row->n_masks; i++)
		n += l4_mask_valid(ev, &m[i]);
	return n;
}

static uint32_t own_mods(const struct l4_event *ev)
{
	unsigned version, missing, general, fixed;
	const uint32_t t = 1u << 5, tx = 1u << 7 | 1u << 8;

	if (ev->encoder != L4_ARCH)
		return ev->traced ? 0 : ev->row->mods;
	l4_arch(&version, &missing, &general, &fixed);
	return (ev->row->mods & ~(t | tx)) | (version == 3 || version == 4 ? t : 0) | (version > 3 ? tx : 0);
}

#define OS_BIT(a) (1u << OS_##a)
static const uint32_t SAMPLING = OS_BIT(PERIOD) | OS_BIT(FREQ) | OS_BIT(PRECISE);
static const uint32_t OS_BASIC = OS_BIT(U) | OS_BIT(K) | OS_BIT(H) | OS_BIT(MG) | OS_BIT(MH);

/* What the kernel's interface does not offer for Intel's PMUs. */
static uint32_t intel_lacks(const struct l4_event *ev)
{
	const struct l4_unit *u = ev->u;
	bool every = ev->encoder == L4_CORE && (u->flags & U_PEBS_ALL);
	bool pebs = (ev->row->flags & F_PEBS) || (ev->row->traits & T_PEBS_MASK);
	uint32_t out = OS_BIT(H);

	if (!pebs || ev->encoder == L4_EP_UNC)
		out |= OS_BIT(PRECISE);
	if (!every || pebs || ev->encoder == L4_EP_UNC)
		out |= OS_BIT(HW_SMPL);
	if (!u->levels)
		out |= OS_BASIC;
	return u->flags & U_NO_SAMPLING ? out | SAMPLING : out;
}

static uint32_t perf_lacks(const struct l4_event *ev)
{
	unsigned levels = l4_core_levels();

	if (ev->traced || ev->row->type == 1 || ev->row->type == 4)
		return OS_BIT(PRECISE) | OS_BIT(H) | OS_BIT(HW_SMPL);
	if (!levels)
		levels = ev->u->levels;
	return OS_BIT(HW_SMPL) | (levels & PFM_PLM3 ? 0 : OS_BIT(U)) | (levels & PFM_PLM0 ? 0 : OS_BIT(K)) |
	       (levels & PFM_PLMH ? 0 : OS_BIT(H));
}

static bool is_intel_rapl(const struct l4_event *ev)
{
	return strcmp(l4_text(ev->u->name), "rapl") == 0;
}

/* What each PMU's own code takes out of the list under an OS layer: its modifiers, and the layer's attributes. */
static void lacks(const struct l4_event *ev, uint32_t *mods, uint32_t *os)
{
	uint32_t kept = OS_BIT(PRECISE) | OS_BIT(HW_SMPL);
	bool amd = ev->u->host == L4_HOST_AMD;

	*mods = 0;
	*os = kept;
	switch (ev->encoder) {
	case L4_CORE:
	case L4_ARCH:
	case L4_NHM_UNC:
		*mods = 3;
		*os = intel_lacks(ev);
		break;
	case L4_EP_UNC:
		*mods = 1u << 11;
		*os = intel_lacks(ev);
		break;
	case L4_AMD64:
		*mods = 1u << 0 | 1u << 1 | 1u << 5;
		*os = kept | (ev->u->rev < 8 || ev->u->rev == 11 ? OS_BIT(H) : 0);
		break;
	case L4_ARM:
	case L4_SPARC:
		*mods = 7;
		break;
	case L4_MIPS:
		*mods = 15;
		break;
	case L4_NETBURST:
		*mods = 3;
		*os = kept | OS_BIT(H);
		break;
	case L4_PERF:
		*os = perf_lacks(ev);
		break;
	case L4_PERF_RAW:
		*os = 0;
		break;
	default:
		*mods = 7;
		*os = is_intel_rapl(ev) ? intel_lacks(ev) : kept | (amd ? OS_BIT(H) : 0);
	}
	if (amd && strcmp(l4_text(ev->u->name), "amd64_fam15h_nb") == 0) {
		*mods = 0;
		*os = UINT32_MAX;
	}
}

void l4_attrs(const struct l4_event *ev, pfm_os_t os, struct l4_attrs *out)
{
	uint32_t no_mods, no_os;

	out->n_masks = count_masks(ev);
	out->mods = own_mods(ev);
	out->os = 0;
	if (os == PFM_OS_NONE)
		return;
	lacks(ev, &no_mods, &no_os);
	out->mods &= ~no_mods;
	out->os = (os == PFM_OS_PERF_EVENT ? OS_BASIC : (1u << OS_ATTRS) - 1) & ~no_os;
}

/* The number of the set bit with @n set bits below it. */
static unsigned nth_bit(uint32_t bits, unsigned n)
{
	while (n--)
		bits &= bits - 1;
	return (unsigned)__builtin_ctz(bits);
}

static uint16_t nth_mask(const struct l4_event *ev, unsigned n)
{
	const struct l4_mask *m = l4_masks(ev->row);
	unsigned i = 0;

	if (ev->traced || !(ev->row->traits & T_MODEL_MASKS))
		return (uint16_t)n;
	for (;; i++)
		if (l4_mask_valid(ev, &m[i]) && n-- == 0)
			return (uint16_t)i;
}

bool l4_attr_at(const struct l4_event *ev, const struct l4_attrs *list, unsigned index, struct l4_attr *out)
{
	unsigned mods;

	out->value = 0;
	if (index < list->n_masks) {
		out->kind = ATTR_MASK;
		out->number = nth_mask(ev, index);
		return true;
	}
	index -= list->n_masks;
	mods = l4_bits(list->mods);
	if (index < mods) {
		out->kind = ATTR_MOD;
		out->number = (uint16_t)nth_bit(list->mods, index);
		return true;
	}
	index -= mods;
	if (index >= l4_bits(list->os))
		return false;
	out->kind = ATTR_OS;
	out->number = (uint16_t)nth_bit(list->os, index);
	return true;
}

const char *l4_attr_name(const struct l4_event *ev, const struct l4_attr *a)
{
	if (a->kind == ATTR_OS)
		return l4_os_attrs[a->number].name;
	if (a->kind == ATTR_MOD)
		return l4_mods[ev->encoder][a->number].name;
	return ev->traced ? l4_trace_point(ev->pos, a->number, NULL) : l4_text(l4_masks(ev->row)[a->number].name);
}
