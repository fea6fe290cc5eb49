/* SPDX-License-Identifier: MIT */
/* Attributes of events: which there are, and each by its index. */
#include <string.h>
#include "compat/libpfm4/l4.h"

#define BOOL_MODIFIER(name, desc)                                                                  \
	{                                                                                          \
		name, false, 0, 1, desc                                                            \
	}
#define NUMBER_MODIFIER(name, low, high, desc)                                                     \
	{                                                                                          \
		name, true, low, high, desc                                                        \
	}
#define MODIFIER_K                BOOL_MODIFIER("k", "count in the kernel")
#define MODIFIER_U                BOOL_MODIFIER("u", "count in user mode")
#define MODIFIER_HYPERVISOR(name) BOOL_MODIFIER(name, "count in the hypervisor")
#define MIN_COUNT_TEXT            "count cycles with at least this many"
#define MIN_LATENCY_TEXT          "loads of at least this many cycles"
#define MODIFIER_E                BOOL_MODIFIER("e", "count beginnings, not cycles")
#define MODIFIER_I                BOOL_MODIFIER("i", "count while below the threshold")
#define MODIFIER_C                NUMBER_MODIFIER("c", 0, 255, MIN_COUNT_TEXT)
#define MODIFIER_THRESHOLD(high)  NUMBER_MODIFIER("t", 0, high, MIN_COUNT_TEXT)
#define MODIFIER_CORE_ID(high)    NUMBER_MODIFIER("cf", 0, high, "only requests of this core")
#define MODIFIER_THREAD_ID(high)  NUMBER_MODIFIER("tf", 0, high, "only requests of this thread")
#define MODIFIER_NODE(high)       NUMBER_MODIFIER("nf", 1, high, "only requests to these nodes")
#define MODIFIER_T                BOOL_MODIFIER("t", "count both threads of the core")
#define MODIFIER_LDLAT            NUMBER_MODIFIER("ldlat", 1, 65535, MIN_LATENCY_TEXT)
#define MODIFIER_INTX             BOOL_MODIFIER("intx", "count in transactions")
#define MODIFIER_INTXCP           BOOL_MODIFIER("intxcp", "leave out aborted transactions")

const struct l4_modifier l4_modifiers[L4_N_ENCODERS][24] = {
	[L4_ENCODER_CORE] = { MODIFIER_K, MODIFIER_U, MODIFIER_E, MODIFIER_I, MODIFIER_C,
	                      MODIFIER_T, MODIFIER_LDLAT, MODIFIER_INTX, MODIFIER_INTXCP,
	                      NUMBER_MODIFIER("fe_thres", 1, 4095,
	                                      "bubbles of at least this many cycles") },
	[L4_ENCODER_ARCH] = { MODIFIER_K, MODIFIER_U, MODIFIER_E, MODIFIER_I, MODIFIER_C,
	                      MODIFIER_T, MODIFIER_LDLAT, MODIFIER_INTX, MODIFIER_INTXCP },
	[L4_ENCODER_NHM_UNC] = { MODIFIER_E, MODIFIER_I, MODIFIER_C,
	                         BOOL_MODIFIER("o", "count overflows of the queue") },
	[L4_ENCODER_EP_UNC] = { MODIFIER_E,
	                        MODIFIER_I,
	                        MODIFIER_THRESHOLD(255),
	                        MODIFIER_THRESHOLD(31),
	                        MODIFIER_THREAD_ID(1),
	                        MODIFIER_CORE_ID(15),
	                        MODIFIER_NODE(255),
	                        NUMBER_MODIFIER("ff", 0, 255, "frequency, in steps of 100 MHz"),
	                        NUMBER_MODIFIER("addr", 0, (1ull << 40) - 1,
	                                        "only this physical address"),
	                        MODIFIER_NODE(255),
	                        BOOL_MODIFIER("isoc", "only isochronous requests"),
	                        BOOL_MODIFIER("nc", "only requests that are not coherent"),
	                        MODIFIER_CORE_ID(63),
	                        MODIFIER_THREAD_ID(7),
	                        MODIFIER_CORE_ID(64),
	                        BOOL_MODIFIER("loc", "only requests to this socket"),
	                        BOOL_MODIFIER("rem", "only requests to other sockets"),
	                        BOOL_MODIFIER("lmem", "only requests to this socket's memory"),
	                        BOOL_MODIFIER("rmem", "only requests to other sockets' memory"),
	                        NUMBER_MODIFIER("dnid", 0, 15, "only this destination node"),
	                        NUMBER_MODIFIER("rcsnid", 0, 15, "only this return channel's node"),
	                        MODIFIER_THRESHOLD(63),
	                        BOOL_MODIFIER("occ_i",
	                                      "count while occupancy is below the threshold"),
	                        BOOL_MODIFIER("occ_e", "count changes of occupancy") },
	[L4_ENCODER_AMD64] = { MODIFIER_K, MODIFIER_U, MODIFIER_E, MODIFIER_I, MODIFIER_C,
	                       MODIFIER_HYPERVISOR("h"), BOOL_MODIFIER("g", "count in guests") },
	[L4_ENCODER_ARM] = { MODIFIER_K, MODIFIER_U, MODIFIER_HYPERVISOR("hv") },
	[L4_ENCODER_PLAIN] = { MODIFIER_K, MODIFIER_U, MODIFIER_HYPERVISOR("hv") },
	[L4_ENCODER_SPARC] = { MODIFIER_K, MODIFIER_U, MODIFIER_HYPERVISOR("h") },
	[L4_ENCODER_MIPS] = { MODIFIER_K, MODIFIER_U,
	                      BOOL_MODIFIER("s", "count in supervisor mode"),
	                      BOOL_MODIFIER("e", "count at exception level") },
	[L4_ENCODER_NETBURST] = { MODIFIER_U, MODIFIER_K,
	                          BOOL_MODIFIER("cmpl", "count while below the threshold"),
	                          MODIFIER_E, NUMBER_MODIFIER("thr", 0, 15, "threshold") },
};

const struct l4_modifier l4_os_attrs[N_OS_ATTRS] = {
	[OS_ATTR_U] = MODIFIER_U,
	[OS_ATTR_K] = MODIFIER_K,
	[OS_ATTR_H] = MODIFIER_HYPERVISOR("h"),
	[OS_ATTR_PERIOD] = NUMBER_MODIFIER("period", 1, UINT64_MAX, "sample after this many"),
	[OS_ATTR_FREQ] = NUMBER_MODIFIER("freq", 1, UINT64_MAX, "sample this often in a second"),
	[OS_ATTR_PRECISE] = NUMBER_MODIFIER(
		"precise", 0, 3, "precision of samples; with 3 their addresses are exact"),
	[OS_ATTR_EXCL] = BOOL_MODIFIER("excl", "nothing else may count beside it"),
	[OS_ATTR_MG] = BOOL_MODIFIER("mg", "count in guests"),
	[OS_ATTR_MH] = BOOL_MODIFIER("mh", "count in the host"),
	[OS_ATTR_CPU] = NUMBER_MODIFIER("cpu", 0, INT32_MAX - 1, "count on this CPU"),
	[OS_ATTR_PINNED] = BOOL_MODIFIER("pinned", "always on a counter, or an error"),
	[OS_ATTR_HW_SMPL] = BOOL_MODIFIER("hw_smpl", "samples come from the hardware's buffer"),
};

bool l4_has_mask(const struct l4_event *ev, const struct l4_mask *m)
{
	return (!m->only_pmu || m->only_pmu == ev->pmu->id) &&
	       (ev->encoder != L4_ENCODER_AMD64 ||
	        l4_is_in_revision_range(ev->pmu->revision, m->flags));
}

/* The number of the row's masks that the PMU has. */
static uint32_t count_masks(const struct l4_event *ev)
{
	const struct l4_mask *m = l4_get_row_masks(ev->row);
	uint32_t n = 0;

	if (ev->is_tracepoint_system)
		return l4_count_tracepoints(ev->position);
	if (!(ev->row->traits & TRAIT_MODEL_MASKS))
		return ev->row->n_masks;
	for (uint32_t i = 0; i < ev->row->n_masks; i++)
		n += l4_has_mask(ev, &m[i]);
	return n;
}

static uint32_t get_event_modifiers(const struct l4_event *ev)
{
	unsigned version, missing, general, fixed;
	const uint32_t t = 1u << 5, tx = 1u << 7 | 1u << 8;

	if (ev->encoder != L4_ENCODER_ARCH)
		return ev->is_tracepoint_system ? 0 : ev->row->modifiers;
	l4_get_arch_pmu(&version, &missing, &general, &fixed);
	return (ev->row->modifiers & ~(t | tx)) | (version == 3 || version == 4 ? t : 0) |
	       (version > 3 ? tx : 0);
}

#define OS_ATTR_BIT(a) (1u << OS_ATTR_##a)

static const uint32_t SAMPLING_ATTRS =
	OS_ATTR_BIT(PERIOD) | OS_ATTR_BIT(FREQ) | OS_ATTR_BIT(PRECISE);

static const uint32_t BASIC_OS_ATTRS =
	OS_ATTR_BIT(U) | OS_ATTR_BIT(K) | OS_ATTR_BIT(H) | OS_ATTR_BIT(MG) | OS_ATTR_BIT(MH);

/* The attributes of the OS layer that Intel's PMUs lack. */
static uint32_t get_intel_missing_attrs(const struct l4_event *ev)
{
	const struct l4_pmu *u = ev->pmu;
	bool every = ev->encoder == L4_ENCODER_CORE && (u->flags & PMU_PEBS_ON_ALL);
	bool pebs = (ev->row->flags & ROW_HAS_PEBS) || (ev->row->traits & TRAIT_PEBS_MASK);
	uint32_t out = OS_ATTR_BIT(H);

	if (!pebs || ev->encoder == L4_ENCODER_EP_UNC)
		out |= OS_ATTR_BIT(PRECISE);
	if (!every || pebs || ev->encoder == L4_ENCODER_EP_UNC)
		out |= OS_ATTR_BIT(HW_SMPL);
	if (!u->levels)
		out |= BASIC_OS_ATTRS;
	return u->flags & PMU_NO_SAMPLING ? out | SAMPLING_ATTRS : out;
}

static uint32_t get_perf_missing_attrs(const struct l4_event *ev)
{
	unsigned levels = l4_get_core_levels();

	if (ev->is_tracepoint_system || ev->row->kind == 1 || ev->row->kind == 4)
		return OS_ATTR_BIT(PRECISE) | OS_ATTR_BIT(H) | OS_ATTR_BIT(HW_SMPL);
	if (!levels)
		levels = ev->pmu->levels;
	return OS_ATTR_BIT(HW_SMPL) | (levels & PFM_PLM3 ? 0 : OS_ATTR_BIT(U)) |
	       (levels & PFM_PLM0 ? 0 : OS_ATTR_BIT(K)) | (levels & PFM_PLMH ? 0 : OS_ATTR_BIT(H));
}

static bool is_rapl_event(const struct l4_event *ev)
{
	return strcmp(l4_get_text(ev->pmu->name), "rapl") == 0;
}

/* The modifiers and the attributes of the OS layer that a PMU lacks under such a layer. */
static void list_missing_attrs(const struct l4_event *ev, uint32_t *mods, uint32_t *os)
{
	uint32_t kept = OS_ATTR_BIT(PRECISE) | OS_ATTR_BIT(HW_SMPL);
	bool amd = ev->pmu->host_kind == L4_HOST_AMD;

	*mods = 0;
	*os = kept;
	switch (ev->encoder) {
	case L4_ENCODER_CORE:
	case L4_ENCODER_ARCH:
	case L4_ENCODER_NHM_UNC:
		*mods = 3;
		*os = get_intel_missing_attrs(ev);
		break;
	case L4_ENCODER_EP_UNC:
		*mods = 1u << 11;
		*os = get_intel_missing_attrs(ev);
		break;
	case L4_ENCODER_AMD64:
		*mods = 1u << 0 | 1u << 1 | 1u << 5;
		*os = kept |
		      (ev->pmu->revision < 8 || ev->pmu->revision == 11 ? OS_ATTR_BIT(H) : 0);
		break;
	case L4_ENCODER_ARM:
	case L4_ENCODER_SPARC: *mods = 7; break;
	case L4_ENCODER_MIPS: *mods = 15; break;
	case L4_ENCODER_NETBURST:
		*mods = 3;
		*os = kept | OS_ATTR_BIT(H);
		break;
	case L4_ENCODER_PERF: *os = get_perf_missing_attrs(ev); break;
	case L4_ENCODER_PERF_RAW: *os = 0; break;
	default:
		*mods = 7;
		*os = is_rapl_event(ev) ? get_intel_missing_attrs(ev)
		                        : kept | (amd ? OS_ATTR_BIT(H) : 0);
	}
	if (amd && strcmp(l4_get_text(ev->pmu->name), "amd64_fam15h_nb") == 0) {
		*mods = 0;
		*os = UINT32_MAX;
	}
}

void l4_list_attrs(const struct l4_event *ev, pfm_os_t os, struct l4_attr_list *out)
{
	uint32_t no_mods, no_os;

	out->n_masks = count_masks(ev);
	out->modifiers = get_event_modifiers(ev);
	out->os_attrs = 0;
	if (os == PFM_OS_NONE)
		return;
	list_missing_attrs(ev, &no_mods, &no_os);
	out->modifiers &= ~no_mods;
	out->os_attrs =
		(os == PFM_OS_PERF_EVENT ? BASIC_OS_ATTRS : (1u << N_OS_ATTRS) - 1) & ~no_os;
}

/* The number of the set bit with @n set bits below it. */
static unsigned find_nth_bit(uint32_t bits, unsigned n)
{
	while (n--)
		bits &= bits - 1;
	return (unsigned)__builtin_ctz(bits);
}

static uint16_t find_nth_mask(const struct l4_event *ev, unsigned n)
{
	const struct l4_mask *m = l4_get_row_masks(ev->row);
	unsigned i = 0;

	if (ev->is_tracepoint_system || !(ev->row->traits & TRAIT_MODEL_MASKS))
		return (uint16_t)n;
	for (;; i++)
		if (l4_has_mask(ev, &m[i]) && n-- == 0)
			return (uint16_t)i;
}

bool l4_get_attr(const struct l4_event *ev, const struct l4_attr_list *list, unsigned index,
                 struct l4_attr *out)
{
	unsigned mods;

	out->value = 0;
	if (index < list->n_masks) {
		out->kind = L4_ATTR_MASK;
		out->number = find_nth_mask(ev, index);
		return true;
	}
	index -= list->n_masks;
	mods = l4_count_bits(list->modifiers);
	if (index < mods) {
		out->kind = L4_ATTR_MODIFIER;
		out->number = (uint16_t)find_nth_bit(list->modifiers, index);
		return true;
	}
	index -= mods;
	if (index >= l4_count_bits(list->os_attrs))
		return false;
	out->kind = L4_ATTR_OS;
	out->number = (uint16_t)find_nth_bit(list->os_attrs, index);
	return true;
}

const char *l4_get_attr_name(const struct l4_event *ev, const struct l4_attr *a)
{
	if (a->kind == L4_ATTR_OS)
		return l4_os_attrs[a->number].name;
	if (a->kind == L4_ATTR_MODIFIER)
		return l4_modifiers[ev->encoder][a->number].name;
	return ev->is_tracepoint_system ? l4_get_tracepoint_name(ev->position, a->number, NULL)
	                                : l4_get_text(l4_get_row_masks(ev->row)[a->number].name);
}
