/* SPDX-License-Identifier: MIT */
/* What recorded registers hold: Montecito's address registers and trace buffer, ProfileMe samples, interrupts and words of Alpha
 * processors. */
#include "digests.h"
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_montecito.h>
#include "../fuzz/bytes.h"

static int said(const char *what, pfm_err_t rc)
{
	say(what, (uint64_t)rc);
	return rc == PFMLIB_SUCCESS;
}

static void montecito_addresses(pfmlib_mont_ear_mode_t mode, const uint64_t r[3])
{
	pfmlib_mont_dear_sample_t d;
	pfmlib_mont_iear_sample_t i;

	if (said("dear", pfm_mont_decode_dear(mode, r[0], r[1], r[2], &d))) {
		say("data", d.dear_daddr);
		say("code", d.dear_iaddr);
		say("slot", d.dear_slot);
		say("latency", d.dear_latency);
		say("valid", (unsigned)(d.dear_overflow | d.dear_valid << 1 | d.dear_iaddr_valid << 2));
		say("level", (uint64_t)d.dear_level);
	}
	if (said("iear", pfm_mont_decode_iear(mode, r[0], r[1], &i))) {
		say("code", i.iear_iaddr);
		say("latency", i.iear_latency);
		say("valid", (unsigned)(i.iear_overflow | i.iear_valid << 1));
		say("level", (uint64_t)i.iear_level);
	}
}

static void montecito_buffer(const uint64_t r[3], const uint64_t pmds[PMU_MONT_NUM_ETB])
{
	pfmlib_mont_branch_t branches[PMU_MONT_NUM_ETB];
	pfmlib_mont_ip_t ips[PMU_MONT_NUM_ETB];
	unsigned n = 0;

	said("etb", pfm_mont_decode_etb(r[0], r[1], pmds, branches, &n));
	for (unsigned i = 0; i < n; i++) {
		const pfmlib_mont_branch_t *b = &branches[i];

		say("source", b->br_source);
		say("target", b->br_target);
		say("flags", (unsigned)(b->br_mispredicted | b->br_flushed << 1));
		say("valid", (unsigned)(b->br_source_valid | b->br_target_valid << 1 | b->br_taken << 2));
		say("slot", b->br_slot);
		say("entry", b->br_entry);
	}
	n = 0;
	said("ipear", pfm_mont_decode_ipear(r[0], r[1], pmds, ips, &n));
	for (unsigned i = 0; i < n; i++) {
		say("address", ips[i].ip_addr);
		say("cycles", ips[i].ip_cycles);
		say("delay", ips[i].ip_delay);
		say("flushed", (unsigned)(ips[i].ip_flushed | ips[i].ip_early_freeze << 1));
		say("entry", ips[i].ip_entry);
	}
}

static void alpha_sample(const uint64_t r[3])
{
	pfm_alpha_sample_t s;

	pfm_alpha_decode_sample(r[0], r[1], r[2], &s);
	say("pc", s.pc);
	say("redirected", (uint64_t)s.pc_in_exc_addr << 1 | (uint64_t)s.pal);
	say("trap", (uint64_t)s.trap);
	say_text("trap", s.trap_name);
	say("residue", s.residue);
	say("flags", (unsigned)(s.icache_miss | s.icache_parity << 1 | s.load_store_order << 2 | s.trapped << 3 | s.mispredicted << 4 |
	                        s.taken << 5 | s.valid << 6 | s.killed_early << 7 | s.stalled << 8 | s.profileme << 9));
	say("mode", s.mode);
	say("counter", s.pctr0);
	say("counter", s.pctr1);
	say("statistics", s.statistics);
	say("statistics", pfm_alpha_i_stat_statistics(r[0]));
	say("statistics", pfm_alpha_pmpc_statistics(r[1]));
	say("statistics", pfm_alpha_pctr_ctl_statistics(r[2]));
}

static void say_call(pfm_err_t rc, const pfmlib_alpha_call_t *call)
{
	if (said("call", rc)) {
		say("function", call->function);
		say("argument", call->argument);
	}
}

static void alpha_words(struct bytes *b, int pmu, const uint64_t r[3])
{
	uint64_t values[PFM_ALPHA_MAX_COUNTERS] = { 0 }, w = 0, other = 0, length;
	unsigned select = 0, cpu = 0;
	pfm_alpha_interrupt_t interrupt = { 0 };
	pfm_alpha_request_t request;
	pfmlib_alpha_call_t call;
	int a = 0, m = 0;

	if (said("interrupt", pfm_alpha_decode_interrupt(pmu, (int)byte(b) & 3, r, &interrupt))) {
		say("counter", interrupt.counter);
		say("level", interrupt.ipl);
		say_text("entry", interrupt.entry);
		say("vector", interrupt.vector);
	}
	if (said("split", pfm_alpha_split_counter_word(pmu, r[0], &select, &cpu, values))) {
		say("select", select);
		say("cpu", cpu);
		for (unsigned i = 0; i < PFM_ALPHA_MAX_COUNTERS; i++)
			say("value", values[i]);
		if (said("word", pfm_alpha_counter_word(pmu, select, cpu, values, &w)))
			say("word", w);
	}
	for (unsigned i = 0; i < PFM_ALPHA_MAX_COUNTERS; i++)
		values[i] = byte(b) & 1 ? pfm_alpha_rate(pmu, i, byte(b) & 3) : shifted(b);
	if (said("rates", pfm_alpha_rate_word(pmu, values, byte(b), &w, &a))) {
		say("word", w);
		say("privileged", (uint64_t)a);
	}
	select = byte(b);
	cpu = byte(b);
	if (said("word", pfm_alpha_counter_word(pmu, select, cpu, values, &w)))
		say("word", w);
	pfm_alpha_driver_rates(r[0], &w, &a);
	say("rates", w);
	say("privileged", (uint64_t)a);
	say("control", pfm_alpha_pmctr_ctl(w, byte(b)));
	say("modes", pfm_alpha_word_modes(r[0], &a, &m));
	say("marks", (uint64_t)a << 1 | (uint64_t)m);
	if (said("modes", pfm_alpha_mode_word(select & 63, byte(b) % 3, &w)))
		say("word", w);
	if (said("start", pfm_alpha_start_value(byte(b) % 70, r[0] >> (cpu & 63), &w)))
		say("value", w);
	length = shifted(b);
	if (said("samples", pfm_alpha_sample_bytes(r[0], r[0] + length, r[2] >> (cpu & 63), cpu & 3, select, &w)))
		say("bytes", w);
	length = pair(b);
	if (said("samples", pfm_alpha_sample_bytes(r[0], r[0] + length, UINT64_C(1) << (select & 15), cpu & 3, select, &w)))
		say("bytes", w);
	say("bucket", pfm_alpha_bucket(r[0], (cpu & 1) << (select & 15), r[0] + length));
	if (said("ratio", pfm_alpha_ratio(byte(b) % 50, r[0], r[1], &w, &other))) {
		say("of", w);
		say("by", other);
	}
	say("entry", pfm_alpha_level_entry(cpu & 1, cpu >> 1 & 1, select & 15));
	if (said("request", pfm_alpha_request(byte(b) % 70, &request))) {
		say_text("request", request.name);
		say("families", request.families);
		say_call(pfm_alpha_device_call(pmu, request.request, byte(b) & 1 ? r[0] : shifted(b), &call), &call);
	}
	if (said("mode", pfm_alpha_pm_mode_word(byte(b) % 6, &w)))
		say("word", w);
	say_call(pfm_alpha_linux_write(cpu & 3, shifted(b), &call), &call);
}

static void alpha_linux(struct bytes *b, const uint64_t r[3])
{
	unsigned raw[2] = { 0, 0 }, counter[2] = { 0, 0 };
	uint64_t mode = 0;

	if (said("event", pfm_alpha_linux_event((uint32_t)r[0] & 7, byte(b) & 1 ? r[1] : byte(b) % 32, &raw[0], &counter[0], &mode))) {
		say("raw", raw[0]);
		say("counter", counter[0]);
		say("mode", mode);
	}
	raw[0] = byte(b) % 24;
	raw[1] = byte(b) % 24;
	if (said("pair", pfm_alpha_linux_pair(raw, counter, &mode))) {
		say("counters", counter[0] << 8 | counter[1]);
		say("mode", mode);
	}
}

int ask_decode(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	unsigned how = byte(&b);
	uint64_t r[3], pmds[PMU_MONT_NUM_ETB];

	take(&b, r, sizeof(r));
	if (how & 1) {
		alpha_words(&b, PFMLIB_ALPHA_EV4_PMU + (int)(how >> 1 & 7) % 6, r);
		alpha_sample(r);
		alpha_linux(&b, r);
		return 0;
	}
	montecito_addresses((pfmlib_mont_ear_mode_t)(how >> 1 & 3), r);
	for (unsigned i = 0; i < PMU_MONT_NUM_ETB; i++)
		pmds[i] = (r[i % 3] ^ data[i % size]) * UINT64_C(0x9e3779b97f4a7c15);
	montecito_buffer(r, pmds);
	return 0;
}
