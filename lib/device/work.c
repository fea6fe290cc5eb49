/* SPDX-License-Identifier: MIT */
/* The device model: processors work, counters move, interrupts are collected; and a look inside. */
#include <errno.h>
#include <string.h>
#include "state.h"

/* ---- rates ------------------------------------------------------------------------------------------------------- */

static uint64_t rate4(const struct use *u, unsigned counter)
{
	if (counter == 0)
		return u->mux & ICCSR_PC0 ? 4096 : 65536;
	return u->mux & ICCSR_PC1 ? 256 : 4096;
}

/* FRQ of a counter: two bits each, counter 2 lowest. */
static unsigned freq5(const struct use *u, unsigned counter)
{
	return (unsigned)(u->freq >> (8 - 2 * counter) & 3);
}

uint64_t pfmi_model_use_rate(const struct model *m, const struct use *u, unsigned counter)
{
	if (m->options.family == MODEL_EV4)
		return rate4(u, counter);
	if (model_is_ev5(m) && freq5(u, counter) == 3)
		return 256;
	return (uint64_t)1 << model_width(m, counter);
}

/* ---- what one interrupt leaves ----------------------------------------------------------------------------------- */

static void note_level(const struct model *m, struct cpu *cpu, const struct model_work *w, uint64_t n)
{
	if (w->user) {
		cpu->ipl[PFM_IPL_USER] += n;
		return;
	}
	if (!w->idle || w->ipl != 0) {
		cpu->ipl[w->ipl < 6 ? w->ipl : 5] += n;
		return;
	}
	cpu->ipl[PFM_IPL_IDLE] += n;
	if (m->options.idle_is_level0)
		cpu->ipl[0] += n;
}

static bool inside(const struct text_range *r, uint64_t pc, bool inclusive)
{
	return pc >= r->start && (pc < r->end || (inclusive && pc == r->end));
}

static void note_pc(const struct model *m, struct use *u, unsigned block, const struct model_work *w, uint64_t n)
{
	struct profile *p = &u->profile;
	uint64_t pc = w->pc, bucket;

	if (p->mode != (w->user ? PROFILE_USER : PROFILE_KERNEL))
		return;
	for (unsigned i = 0; p->caller && i < p->n_extra; i++)
		if (inside(&p->extra[i], w->pc, false))
			pc = w->caller;
	if (!inside(&p->range, pc, m->options.end_inclusive))
		return;
	bucket = p->stride == 0 || p->stride > UINT64_MAX / 16 ? 0 : (pc - p->range.start) / (4 * p->stride);
	if (bucket < p->n_buckets)
		p->buckets[block * p->n_buckets + bucket] += (uint32_t)n;
}

/* @n interrupts in one place. */
static void tick(struct model *m, struct use *u, unsigned c, unsigned counter, const struct model_work *w, uint64_t n)
{
	struct cpu *cpu = &m->cpus[c];

	if (m->options.family == MODEL_EV4 && (u->mux >> (ICCSR_DISABLE_SHIFT + counter) & 1)) {
		cpu->discarded += n; /* muted: they came, and are thrown away */
		return;
	}
	if (u->items & PFM_COUNTERS) {
		cpu->interrupts[counter] += n;
		cpu->cycles = cpu->clock;
	}
	if (u->items & PFM_IPL)
		note_level(m, cpu, w, n);
	if (u->items & PFM_PROFILING)
		note_pc(m, u, u->mode == PCNTOPENEACH ? c : 0, w, n);
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */

/* True if the mode bits of PMCTR let the chip count what @w does. Kk alone covers the three inner modes; with the other two it
 * spares executive and supervisor. */
static bool mode_counts(const struct model *m, const struct use *u, const struct model_work *w)
{
	uint64_t off = u->modes & (PF5_CTXT_NO_USER | PF5_CTXT_NO_PAL | PF5_CTXT_NO_KERNEL);
	bool exec = w->user && m->options.user_is_exec;

	if (w->pal)
		return !(off & PF5_CTXT_NO_PAL);
	if (w->user && !exec)
		return !(off & PF5_CTXT_NO_USER);
	if (off == PF5_CTXT_EXEC_AND_SUPER)
		return exec;
	return !(off & PF5_CTXT_NO_KERNEL);
}

static bool process_counts(const struct model *m, const struct use *u, const struct model_work *w)
{
	const struct process *p;

	if (!u->select || (m->options.family == MODEL_EV4 && !m->options.ev4_pass3))
		return true;
	p = pfmi_model_find(m, w->pid);
	return p && p->marked;
}

static bool counts(const struct model *m, const struct use *u, unsigned counter, const struct model_work *w)
{
	if (!(u->running >> counter & 1) || (m->options.enable_gates && !u->interrupts))
		return false;
	return process_counts(m, u, w) && (!model_is_ev5(m) || mode_counts(m, u, w));
}

int pfmi_model_work(struct model *m, unsigned cpu, const struct model_work *w)
{
	struct cpu *c;
	struct use *u;

	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	c = &m->cpus[cpu];
	c->clock += w->cycles;
	if (c->use < 0)
		return 0;
	u = &m->uses[c->use];
	for (unsigned k = 0; k < model_n_counters(m); k++) {
		uint64_t rate = pfmi_model_use_rate(m, u, k), before = c->value[k] / rate, sum;

		if (!counts(m, u, k, w))
			continue;
		sum = c->value[k] + w->events[k];
		if (sum / rate > before)
			tick(m, u, cpu, k, w, sum / rate - before);
		c->value[k] = sum % rate;
	}
	return 0;
}

int pfmi_model_interrupt(struct model *m, unsigned cpu, unsigned counter, const struct model_work *w)
{
	struct use *u;

	if (cpu >= m->options.n_cpus || counter >= model_n_counters(m))
		return -EINVAL;
	u = m->cpus[cpu].use < 0 ? NULL : &m->uses[m->cpus[cpu].use];
	if (!u || !(u->running >> counter & 1)) {
		m->cpus[cpu].discarded++;
		return 0;
	}
	tick(m, u, cpu, counter, w, 1);
	return 0;
}

/* ---- invented work ----------------------------------------------------------------------------------------------- */

/* Which select @counter has now. */
static unsigned select_of(const struct model *m, const struct use *u, unsigned counter)
{
	if (m->options.family == MODEL_EV4)
		return (unsigned)(counter == 0 ? (u->mux & ICCSR_MUX0_MASK) >> ICCSR_MUX0_SHIFT
		                               : (u->mux & ICCSR_MUX1_MASK) >> ICCSR_MUX1_SHIFT);
	if (model_is_ev6(m))
		return (unsigned)(m->options.family == MODEL_EV67 ? u->mux >> 2 & 7 : counter == 0 ? u->mux >> 4 & 1
		                                                                                   : u->mux & 15);
	if (counter == 0)
		return (unsigned)(u->mux >> 31 & 1);
	if (counter == 1)
		return (unsigned)((u->mux >> 4 & 15) << 3 | (u->mux >> 51 & 7));
	return (unsigned)((u->mux & 15) << 3 | (u->mux >> 54 & 7));
}

/* Events in 1024 cycles: all of them where the select counts cycles, else some share that differs between selects. */
static uint64_t events_per_1024(const struct model *m, const struct use *u, unsigned counter)
{
	unsigned sel = select_of(m, u, counter);
	bool cycles = (m->options.family == MODEL_EV4 && counter == 0 && sel == PF_CYCLES) ||
	              (model_is_ev5(m) && ((counter == 0 && sel == 0) || (counter == 2 && sel >> 3 == 0xc))) ||
	              (m->options.family == MODEL_EV6 && sel == 0) ||
	              (m->options.family == MODEL_EV67 && (sel & 1) == !counter && (counter == 0 || sel == 0));

	return cycles ? 1024 : 16 + (sel * 149u + counter * 61u) % 640;
}

void pfmi_model_run(struct model *m, uint64_t ns, int pid, unsigned cpu, uint64_t pc)
{
	uint64_t cycles = ns / 1000 * m->options.mhz + ns % 1000 * m->options.mhz / 1000;

	for (unsigned i = 0; i < m->options.n_cpus; i++) {
		struct model_work w = { .pid = -1, .idle = true, .pc = m->options.ktext_start, .cycles = cycles };
		const struct use *u = m->cpus[i].use < 0 ? NULL : &m->uses[m->cpus[i].use];

		if (i == cpu % m->options.n_cpus)
			w = (struct model_work){ .pid = pid, .user = true, .pc = pc, .cycles = cycles };
		for (unsigned k = 0; u && k < model_n_counters(m); k++) {
			uint64_t units = cycles * events_per_1024(m, u, k) + m->share[k];

			w.events[k] = units / 1024;
			m->share[k] = units % 1024;
		}
		(void)pfmi_model_work(m, i, &w);
	}
}

/* ---- looking inside ---------------------------------------------------------------------------------------------- */

/* PMCTR as the chip has it: FRQ of a counter becomes its CTL when it is started. */
static uint64_t pmctr(const struct model *m, const struct use *u, const struct cpu *c)
{
	uint64_t word = PF5_CTRS(0, 0, c->value[0], c->value[1], c->value[2]);

	word |= u->mux & (UINT64_C(0xff) | PF5_MUX0_KMASK);
	word |= u->modes & ~PF5_CTXT_SEL_PROC;
	for (unsigned k = 0; k < model_n_counters(m); k++)
		if (u->running >> k & 1)
			word |= (uint64_t)freq5(u, k) << (14 - 2 * k);
	return word;
}

int pfmi_model_look(const struct model *m, unsigned cpu, struct model_view *out)
{
	const struct cpu *c;
	const struct use *u;

	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	c = &m->cpus[cpu];
	u = c->use < 0 ? NULL : &m->uses[c->use];
	*out = (struct model_view){ .holder = u ? u->pid : -1, .foreign = c->foreign, .cycles = c->cycles, .discarded = c->discarded };
	memcpy(out->value, c->value, sizeof out->value);
	memcpy(out->interrupts_of, c->interrupts, sizeof out->interrupts_of);
	if (!u)
		return 0;
	out->interrupts = u->interrupts;
	out->running = u->running;
	if (m->options.family == MODEL_EV4)
		out->iccsr = u->mux & ~ICCSR_DISABLE_MASK;
	if (model_is_ev5(m)) {
		out->pmctr = pmctr(m, u, c);
		out->cbox = (u->mux & PF5_MUX_CBOX_KMASK) >> 51;
	}
	if (model_is_ev6(m)) {
		out->pctr_ctl = PF6_CTRS(0, 0, c->value[0], c->value[1]) | u->mux;
		out->i_ctl = (uint64_t)u->running << 18;
	}
	return 0;
}
