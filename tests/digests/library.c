/* SPDX-License-Identifier: MIT */
/* The tests of what the library answers. */
#include "digests.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/sampling.h>

/* ---- inputs of the fuzzers -------------------------------------------------------------------------------------------------- */

void ask_any(const char *name, harness *fn, unsigned n, unsigned most)
{
	uint8_t bytes[1024];

	digest_begin(name);
	for (unsigned i = 0; i < n; i++) {
		unsigned size = 1 + draw(most), large = i % 4 ? 2 + draw(8) : 10;

		for (unsigned k = 0; k < size; k++)
			bytes[k] = (uint8_t)draw(draw(10) < large && k != 1 ? 256 : i & 1 ? 2
			                                                                  : 5);
		bytes[0] = (uint8_t)draw(256);
		say("input", i);
		fn(bytes, size);
	}
	digest_end();
}

static void change(uint8_t *bytes, size_t size)
{
	unsigned at = draw((unsigned)size);

	bytes[at] ^= (uint8_t)(draw(3) ? 1u << draw(8) : draw(256));
}

void ask_like(const char *name, harness *fn, unsigned n)
{
	char file[1200];
	const char *tests = getenv("PERFMON_TESTS");
	uint8_t bytes[16384], changed[sizeof(bytes)];
	size_t size;
	FILE *in;

	snprintf(file, sizeof(file), "%s/fuzz/corpus/%s", tests ? tests : "tests", name);
	in = fopen(file, "r");
	assert_non_null(in);
	size = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	digest_begin(name);
	for (unsigned i = 0; i <= n; i++) {
		memcpy(changed, bytes, size);
		for (unsigned k = i ? 1 + draw(3) : 0; k > 0; k--)
			change(changed, size);
		say("input", i);
		fn(changed, i % 8 == 7 ? draw((unsigned)size) + 1 : size);
	}
	digest_end();
}

static void say_words(const char *what, const uint64_t *words, size_t n)
{
	say_bytes(what, words, n * sizeof(words[0]));
}

static void say_sample(const pfm_sample_t *s)
{
	say("ip", s->ip);
	say("addr", s->addr);
	say("period", s->period);
	say_words("chain", s->chain, s->n_chain);
	say_words("read", s->read, s->n_read);
	say("format", s->read_format);
	say_bytes("raw", s->raw, s->raw_size);
	say_bytes("branches", s->branches, s->n_branches * sizeof(pfm_branch_t));
	say("branch", s->branch_index);
	say("abi", s->regs.abi);
	say_words("regs", s->regs.values, s->regs.n);
	say("abi", s->intr_regs.abi);
	say_words("regs", s->intr_regs.values, s->intr_regs.n);
	say("stack", s->stack_size);
	say_bytes("stack", s->stack, (size_t)s->stack_used);
	say("weight", s->weight);
	say("weight", s->weight2);
	say("weight", s->weight3);
	say("source", s->source);
	say("transaction", s->transaction);
	say("phys", s->phys_addr);
	say("cgroup", s->cgroup);
	say("page", s->data_page);
	say("page", s->code_page);
	say_bytes("aux", s->aux, s->aux ? (size_t)s->aux_size : 0);
}

static void say_map(const pfm_map_t *m)
{
	say("start", m->start);
	say("length", m->length);
	say("offset", m->offset);
	say_text("name", m->name);
	say("major", m->major);
	say("minor", m->minor);
	say("inode", m->inode);
	say("generation", m->generation);
	say("prot", m->prot);
	say("flags", m->flags);
	say_bytes("id", m->build_id, m->build_id_size);
}

static void say_other(const pfm_record_t *r)
{
	switch (r->type) {
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK:
		say("ppid", r->task.ppid);
		say("ptid", r->task.ptid);
		break;
	case PFM_RECORD_LOST:
	case PFM_RECORD_LOST_SAMPLES: say("lost", r->lost.lost); break;
	case PFM_RECORD_READ:
		say("format", r->read.format);
		say_words("words", r->read.words, r->read.n);
		break;
	case PFM_RECORD_AUX:
		say("offset", r->aux.offset);
		say("size", r->aux.size);
		say("flags", r->aux.flags);
		break;
	case PFM_RECORD_SWITCH_CPU:
		say("other", r->change.other_pid);
		say("other", r->change.other_tid);
		break;
	case PFM_RECORD_NAMESPACES: say_words("links", r->namespaces.links, (size_t)r->namespaces.n * 2); break;
	case PFM_RECORD_KSYMBOL:
		say("addr", r->ksymbol.addr);
		say("length", r->ksymbol.length);
		say("type", r->ksymbol.type);
		say("flags", r->ksymbol.flags);
		say_text("name", r->ksymbol.name);
		break;
	case PFM_RECORD_BPF:
		say("type", r->bpf.type);
		say("flags", r->bpf.flags);
		say("id", r->bpf.id);
		say_bytes("tag", r->bpf.tag, r->bpf.tag ? 8 : 0);
		break;
	case PFM_RECORD_TEXT_POKE:
		say("addr", r->poke.addr);
		say("old", r->poke.old_length);
		say_bytes("bytes", r->poke.bytes, (size_t)r->poke.old_length + r->poke.new_length);
		break;
	case PFM_RECORD_AUX_ID: say("id", r->aux_id.id); break;
	default: break;
	}
}

void say_record(const pfm_record_t *r)
{
	say("type", r->type);
	say("misc", r->misc);
	say("has", r->has);
	say("time", r->time);
	say("id", r->id);
	say("stream", r->stream);
	say("pid", r->pid);
	say("tid", r->tid);
	say("cpu", r->cpu);
	say("size", r->raw_size);
	say("unread", r->unread);
	say("cut", r->cut);
	switch (r->type) {
	case PFM_RECORD_SAMPLE: say_sample(&r->sample); break;
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: say_map(&r->map); break;
	case PFM_RECORD_COMM: say_text("name", r->comm.name); break;
	case PFM_RECORD_CGROUP:
		say("id", r->cgroup.id);
		say_text("path", r->cgroup.path);
		break;
	default: say_other(r);
	}
}

/* ---- the tests -------------------------------------------------------------------------------------------------------------- */

static void ask_settings(void)
{
	ask_any("dispatch", ask_dispatch, 6000, 200);
}

static void ask_samples(void)
{
	ask_any("decode", ask_decode, 3000, 120);
}

static void ask_devices(void)
{
	ask_any("device", ask_device, 1200, 600);
}

static void ask_buffers(void)
{
	static const char *const files[] = { "recording/file", "recording/file-big", "recording/pipe", "recording/pipe-big" };

	ask_any("records", ask_records, 4000, 400);
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ask_like(files[i], ask_recording, 400);
}

static void ask_formulas(void)
{
	static const char *const files[] = { "formula/deep", "formula/doubling", "formula/not_a_number", "formula/ratio", "formula/tree",
		                             "formula/words" };

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ask_like(files[i], ask_formula, 150);
}

#define SAME(kind)                            \
	static void same_##kind(void **state) \
	{                                     \
		(void)state;                  \
		same(ask_##kind);             \
	}
SAME(texts)
SAME(tables)
SAME(registers)
SAME(plans)
SAME(metrics)
SAME(machines)
SAME(sessions)
SAME(settings)
SAME(samples)
SAME(devices)
SAME(buffers)
SAME(formulas)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_texts),
		cmocka_unit_test(same_tables),
		cmocka_unit_test(same_registers),
		cmocka_unit_test(same_plans),
		cmocka_unit_test(same_metrics),
		cmocka_unit_test(same_machines),
		cmocka_unit_test(same_sessions),
		cmocka_unit_test(same_settings),
		cmocka_unit_test(same_samples),
		cmocka_unit_test(same_devices),
		cmocka_unit_test(same_buffers),
		cmocka_unit_test(same_formulas),
		cmocka_unit_test(list_is_up_to_date),
	};

	read_known("digests.txt");
	return write_known(cmocka_run_group_tests(tests, NULL, NULL));
}
