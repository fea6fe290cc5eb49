/* SPDX-License-Identifier: MIT */
/* The device model: work of processors, counters, interrupts; and inspection. */
#include <errno.h>
#include <string.h>
#include "alpha/state.h"

/* ---- rates ----------------------------------------------------------------------------------- */

static uint64_t get_ev4_rate(const struct device_session *u, unsigned counter)
{
	if (counter == 0)
		return u->mux_word & ICCSR_PC0 ? 4096 : 65536;
	return u->mux_word & ICCSR_PC1 ? 256 : 4096;
}

/* The field FRQ of a counter. Each has two bits; counter 2 has the lowest. */
static unsigned get_ev5_freq(const struct device_session *u, unsigned counter)
{
	return (unsigned)(u->freq_word >> (8 - 2 * counter) & 3);
}

uint64_t alpha_device_get_rate(const struct alpha_device *m, const struct device_session *u,
                               unsigned counter)
{
	if (m->options.family == ALPHA_DEVICE_EV4)
		return get_ev4_rate(u, counter);
	if (alpha_device_is_ev5(m) && get_ev5_freq(u, counter) == 3)
		return 256;
	return (uint64_t)1 << alpha_device_counter_width(m, counter);
}

/* ---- interrupts ------------------------------------------------------------------------------ */

static void count_level(const struct alpha_device *m, struct device_cpu *cpu,
                        const struct alpha_device_work *w, uint64_t n)
{
	if (w->is_user) {
		cpu->level_counts[PFM_IPL_USER] += n;
		return;
	}
	if (!w->is_idle || w->ipl != 0) {
		cpu->level_counts[w->ipl < 6 ? w->ipl : 5] += n;
		return;
	}
	cpu->level_counts[PFM_IPL_IDLE] += n;
	if (m->options.idle_is_level0)
		cpu->level_counts[0] += n;
}

static bool is_address_in_range(const struct device_text_range *r, uint64_t pc, bool inclusive)
{
	return pc >= r->start && (pc < r->end || (inclusive && pc == r->end));
}

static void count_bucket(const struct alpha_device *m, struct device_session *u, unsigned block,
                         const struct alpha_device_work *w, uint64_t n)
{
	struct device_profile *p = &u->profile;
	uint64_t pc = w->pc, bucket;

	if (p->mode != (w->is_user ? PROFILE_USER : PROFILE_KERNEL))
		return;
	for (unsigned i = 0; p->charges_callers && i < p->n_caller_ranges; i++)
		if (is_address_in_range(&p->caller_ranges[i], w->pc, false))
			pc = w->return_address;
	if (!is_address_in_range(&p->range, pc, m->options.end_inclusive))
		return;
	bucket = p->stride == 0 || p->stride > UINT64_MAX / 16
	                 ? 0
	                 : (pc - p->range.start) / (4 * p->stride);
	if (bucket < p->n_buckets)
		p->buckets[block * p->n_buckets + bucket] += (uint32_t)n;
}

/* Counts @n interrupts of @counter at one program counter. */
static void count_interrupts(struct alpha_device *m, struct device_session *u, unsigned c,
                             unsigned counter, const struct alpha_device_work *w, uint64_t n)
{
	struct device_cpu *cpu = &m->cpus[c];

	if (m->options.family == ALPHA_DEVICE_EV4 &&
	    (u->mux_word >> (ICCSR_DISABLE_SHIFT + counter) & 1)) {
		cpu->n_discarded += n; /* the driver discards interrupts of a disabled counter */
		return;
	}
	if (u->items & PFM_COUNTERS) {
		cpu->interrupt_counts[counter] += n;
		cpu->interrupt_cycles = cpu->clock_cycles;
	}
	if (u->items & PFM_IPL)
		count_level(m, cpu, w, n);
	if (u->items & PFM_PROFILING)
		count_bucket(m, u, u->mode == PCNTOPENEACH ? c : 0, w, n);
}

/* ---- conditions of counting ------------------------------------------------------------------ */

/* True if the mode bits of PMCTR allow the chip to count @w. Kk alone disables the three inner
 * modes; with the other two bits it leaves executive and supervisor mode enabled. */
static bool is_counted_mode(const struct alpha_device *m, const struct device_session *u,
                            const struct alpha_device_work *w)
{
	uint64_t off = u->mode_word & (PF5_CTXT_NO_USER | PF5_CTXT_NO_PAL | PF5_CTXT_NO_KERNEL);
	bool exec = w->is_user && m->options.user_is_exec;

	if (w->is_pal)
		return !(off & PF5_CTXT_NO_PAL);
	if (w->is_user && !exec)
		return !(off & PF5_CTXT_NO_USER);
	if (off == PF5_CTXT_EXEC_AND_SUPER)
		return exec;
	return !(off & PF5_CTXT_NO_KERNEL);
}

static bool is_counted_process(const struct alpha_device *m, const struct device_session *u,
                               const struct alpha_device_work *w)
{
	const struct device_process *p;

	if (!u->counts_marked_only ||
	    (m->options.family == ALPHA_DEVICE_EV4 && !m->options.ev4_pass3))
		return true;
	p = alpha_device_find_process(m, w->pid);
	return p && p->is_marked;
}

static bool is_counting(const struct alpha_device *m, const struct device_session *u,
                        unsigned counter, const struct alpha_device_work *w)
{
	if (!(u->running_counters >> counter & 1) ||
	    (m->options.enable_gates && !u->has_interrupts_on))
		return false;
	return is_counted_process(m, u, w) && (!alpha_device_is_ev5(m) || is_counted_mode(m, u, w));
}

int alpha_device_do_work(struct alpha_device *m, unsigned cpu, const struct alpha_device_work *w)
{
	struct device_cpu *c;
	struct device_session *u;

	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	c = &m->cpus[cpu];
	c->clock_cycles += w->cycles;
	if (c->session < 0)
		return 0;
	u = &m->sessions[c->session];
	for (unsigned k = 0; k < alpha_device_count_counters(m); k++) {
		uint64_t rate = alpha_device_get_rate(m, u, k), before = c->chip_values[k] / rate,
			 sum;

		if (!is_counting(m, u, k, w))
			continue;
		sum = c->chip_values[k] + w->events[k];
		if (sum / rate > before)
			count_interrupts(m, u, cpu, k, w, sum / rate - before);
		c->chip_values[k] = sum % rate;
	}
	return 0;
}

int alpha_device_raise_interrupt(struct alpha_device *m, unsigned cpu, unsigned counter,
                                 const struct alpha_device_work *w)
{
	struct device_session *u;

	if (cpu >= m->options.n_cpus || counter >= alpha_device_count_counters(m))
		return -EINVAL;
	u = m->cpus[cpu].session < 0 ? NULL : &m->sessions[m->cpus[cpu].session];
	if (!u || !(u->running_counters >> counter & 1)) {
		m->cpus[cpu].n_discarded++;
		return 0;
	}
	count_interrupts(m, u, cpu, counter, w, 1);
	return 0;
}

/* ---- invented work --------------------------------------------------------------------------- */

/* The current select of @counter. */
static unsigned get_select(const struct alpha_device *m, const struct device_session *u,
                           unsigned counter)
{
	if (m->options.family == ALPHA_DEVICE_EV4)
		return (unsigned)(counter == 0
		                          ? (u->mux_word & ICCSR_MUX0_MASK) >> ICCSR_MUX0_SHIFT
		                          : (u->mux_word & ICCSR_MUX1_MASK) >> ICCSR_MUX1_SHIFT);
	if (alpha_device_is_ev6(m))
		return (unsigned)(m->options.family == ALPHA_DEVICE_EV67 ? u->mux_word >> 2 & 7
		                  : counter == 0                         ? u->mux_word >> 4 & 1
		                                                         : u->mux_word & 15);
	if (counter == 0)
		return (unsigned)(u->mux_word >> 31 & 1);
	if (counter == 1)
		return (unsigned)((u->mux_word >> 4 & 15) << 3 | (u->mux_word >> 51 & 7));
	return (unsigned)((u->mux_word & 15) << 3 | (u->mux_word >> 54 & 7));
}

/* Invented events in 1024 cycles, by counter and select. They agree with each other as those of the
 * hardware do: on an EV4, issues and nonissues are 1024, and 375 dual issues and (500 - 375) * 2
 * single ones are 1000 instructions; on an EV5, issues are 200 + 2 * 180 + 3 * 40 + 4 * 30. Parts
 * are at most their whole, and cycles without an issue at most those that are left. */
static const uint16_t ev4_shares[2][16] = {
	{ 500, 500, 180, 180, 220, 220, 150, 150, 130, 130, 1024, 50, 524, 524, 16, 16 },
	{ 60, 20, 375, 12, 40, 400, 110, 17 },
};
static const uint16_t ev5_shares[3][15] = {
	{ 1024, 800 },
	{ 250, 90, 200, 8, 200, 180, 40, 30, 120, 380, 60, 150, 70, 600, 220 },
	{ 30, 11, 4, 10, 24, 2, 40, 3, 6, 5, 7, 1, 1024, 9, 12 },
};
/* Select 15 of counters 1 and 2, by the select of the cache box. */
static const uint16_t ev5_cache_shares[2][8] = { { 48, 36, 12, 6, 5, 10, 3, 7 },
	                                         { 9, 7, 2, 3, 12, 4, 8, 5 } };
static const uint16_t pca56_cache_shares[2][8] = { { 48, 30, 6, 12, 9, 5, 3, 4 },
	                                           { 36, 40, 8, 10, 2, 1, 7, 3 } };
static const uint16_t ev6_shares[2][16] = {
	{ 1024, 700 },
	{ 1024, 90, 6, 4, 1, 2, 3, 12, 16, 17, 18, 19, 20, 21, 22, 23 },
};
/* By mode: the retired instructions of modes 0 and 2 are the same event. */
static const uint16_t ev67_shares[2][8] = { { 700, 1024, 700, 1024, 700, 1024, 700, 1024 },
	                                    { 1024, 14, 6, 12, 16, 17, 18, 19 } };

static uint64_t invent_event_rate(const struct alpha_device *m, const struct device_session *u,
                                  unsigned counter)
{
	unsigned sel = get_select(m, u, counter);

	switch (m->options.family) {
	case ALPHA_DEVICE_EV4: return ev4_shares[counter][sel];
	case ALPHA_DEVICE_EV6: return ev6_shares[counter][sel];
	case ALPHA_DEVICE_EV67: return ev67_shares[counter][sel];
	default: break;
	}
	if (counter == 0)
		return ev5_shares[0][sel];
	if (sel >> 3 < 15)
		return ev5_shares[counter][sel >> 3];
	return m->options.family == ALPHA_DEVICE_PCA56 ? pca56_cache_shares[counter - 1][sel & 7]
	                                               : ev5_cache_shares[counter - 1][sel & 7];
}

void alpha_device_run(struct alpha_device *m, uint64_t ns, int pid, unsigned cpu, uint64_t pc)
{
	uint64_t cycles = ns / 1000 * m->options.mhz + ns % 1000 * m->options.mhz / 1000;

	for (unsigned i = 0; i < m->options.n_cpus; i++) {
		struct alpha_device_work w = {
			.pid = -1, .is_idle = true, .pc = m->options.ktext_start, .cycles = cycles
		};
		const struct device_session *u =
			m->cpus[i].session < 0 ? NULL : &m->sessions[m->cpus[i].session];

		if (i == cpu % m->options.n_cpus)
			w = (struct alpha_device_work){
				.pid = pid, .is_user = true, .pc = pc, .cycles = cycles
			};
		for (unsigned k = 0; u && k < alpha_device_count_counters(m); k++) {
			uint64_t units =
				cycles * invent_event_rate(m, u, k) + m->event_remainders[k];

			w.events[k] = units / 1024;
			m->event_remainders[k] = units % 1024;
		}
		(void)alpha_device_do_work(m, i, &w);
	}
}

/* ---- looking inside -------------------------------------------------------------------------- */

/* PMCTR of the chip: the field FRQ of a counter becomes its CTL when it is started. */
static uint64_t build_pmctr(const struct alpha_device *m, const struct device_session *u,
                            const struct device_cpu *c)
{
	uint64_t word = PF5_CTRS(0, 0, c->chip_values[0], c->chip_values[1], c->chip_values[2]);

	word |= u->mux_word & (UINT64_C(0xff) | PF5_MUX0_KMASK);
	word |= u->mode_word & ~PF5_CTXT_SEL_PROC;
	for (unsigned k = 0; k < alpha_device_count_counters(m); k++)
		if (u->running_counters >> k & 1)
			word |= (uint64_t)get_ev5_freq(u, k) << (14 - 2 * k);
	return word;
}

int alpha_device_get_view(const struct alpha_device *m, unsigned cpu, struct alpha_device_view *out)
{
	const struct device_cpu *c;
	const struct device_session *u;

	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	c = &m->cpus[cpu];
	u = c->session < 0 ? NULL : &m->sessions[c->session];
	*out = (struct alpha_device_view){ .holder_pid = u ? u->pid : -1,
		                           .is_foreign = c->is_foreign,
		                           .cycles = c->interrupt_cycles,
		                           .n_discarded = c->n_discarded };
	memcpy(out->chip_values, c->chip_values, sizeof out->chip_values);
	memcpy(out->interrupt_counts, c->interrupt_counts, sizeof out->interrupt_counts);
	if (!u)
		return 0;
	out->has_interrupts_on = u->has_interrupts_on;
	out->running_counters = u->running_counters;
	if (m->options.family == ALPHA_DEVICE_EV4)
		out->iccsr = u->mux_word & ~ICCSR_DISABLE_MASK;
	if (alpha_device_is_ev5(m)) {
		out->pmctr = build_pmctr(m, u, c);
		out->cbox = (u->mux_word & PF5_MUX_CBOX_KMASK) >> 51;
	}
	if (alpha_device_is_ev6(m)) {
		out->pctr_ctl = PF6_CTRS(0, 0, c->chip_values[0], c->chip_values[1]) | u->mux_word;
		out->i_ctl = (uint64_t)u->running_counters << 18;
	}
	return 0;
}
