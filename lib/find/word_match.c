/* SPDX-License-Identifier: MIT */
/* Questions in plain words: "last level cache misses" is LONGEST_LAT_CACHE.MISS of Intel,
 * LL_CACHE_MISS_RD of Arm. Texts are compared as lists of words, ".ll.cache.miss.rd.". */
#include <string.h>
#include "find/word_match.h"
#include "base/sizes.h"

#define MISS "miss|refill|replacement"
#define CYCLES                                                                                     \
	".cpu.clk.unhalted.thread|.cpu.clk.unhalted.core|.cpu.clk.unhalted|.not.halted.cyc|"       \
	".cpu.cycles|.pm.cyc|.cycle.count|.cycle.cnt|.core.active.cycle|.unhalted.core.cycles|"    \
	".core.clock.cycles|.cpu.op.cycles.all"
#define INSTRUCTIONS                                                                               \
	".inst.retired|.ret.instr|.retired.instructions|.instructions.retired|.pm.inst.cmpl|"      \
	".inst.all|.instr.ret|.instr.cnt|.inst.count|.instruction.retired|.retinst"
#define RETIRED ".ret|.cmpl|.compl|.inst|.spec"

/* Words of users, and words that names and descriptions have instead, a line each: "KEY=CONCEPTS".
 * key is the beginning of the question's words; one that ends with a dot is whole words, and one
 * that begins with a dot as well is the whole question. A blank
 * separates concepts, '|' alternatives; an answer may lack a concept after '?'; '@' is followed by
 * the key of other concepts. Words without concepts mean nothing. The first key that fits is taken:
 * long ones come first. One string needs no relocation. */
static const char synonyms[] =
	/* perf's generic names, which are words of many names */
	".cycles.=" CYCLES "\n"
	".cpu.cycles.=" CYCLES "\n"
	".instructions.=" INSTRUCTIONS "\n"
	/* PAPI's presets */
	"papi.tot.=\n"
	"papi.=\n"
	"l1.dcm.=@l1d. @miss.\n"
	"l1.icm.=@l1i. @miss.\n"
	"l1.tcm.=.l1 @miss.\n"
	"l2.dcm.=.l2 @miss.\n"
	"l2.tcm.=.l2 @miss.\n"
	"l3.tcm.=@llc. @miss.\n"
	"l1.ldm.=@l1d. @miss.\n"
	"l2.ldm.=.l2 @miss.\n"
	"l3.ldm.=@llc. @miss.\n"
	"tlb.dm.=@dtlb. " MISS "|.walk\n"
	"tlb.im.=@itlb. " MISS "|.walk\n"
	"br.msp.=@branch. @mispred.\n"
	"br.ins.=@branch. " RETIRED "\n"
	"ld.ins.=@load.\n"
	"sr.ins.=@store.\n"
	"fp.ops.=@flop.\n"
	"fp.ins.=@flop.\n"
	"res.stl.=stall\n"
	/* several words */
	"l1.dcache.load.miss=@l1d. @load. @miss.\n"
	"l1.dcache.loads.=.all.load|.ld.dispatch|.ld.spec|.ld.retired|l1d.cache.rd|.ld.ref\n"
	"l1.dcache.stores.=.all.store|.store.dispatch|.st.spec|.st.retired|l1d.cache.wr|.st.ref\n"
	"l1.icache.load.miss=@l1i. " MISS "|stall\n"
	"itlb.load.=@itlb.\n"
	"icache.miss=@l1i. " MISS "|stall\n"
	"instruction.cache.miss=@l1i. " MISS "|stall\n"
	"op.cache.=op.cache|.dsb|.mop.cache\n"
	"uop.cache.=@op.cache.\n"
	"l1.cache.=.l1|.dc.\n"
	"l2.cache.=.l2\n"
	"l3.cache.=@llc.\n"
	"data.cache.refill=.dc.fill|.fills|l1d.cache.refill|.dc.refill|.refills.from\n"
	"branch.miss=@branch. @mispred.\n"
	"branch.instr=@branch. " RETIRED "\n"
	"instructions.per.cycle=.ipc\n"
	"instructions.per.clock=.ipc\n"
	"cycles.per.instruction=.cpi|.ipc\n"
	"store.to.load.forward=@store.forward.\n"
	"self.modifying.code.=smc|.self.mod\n"
	"lock.contention.=.lock|contention\n"
	"vector.instr=.vec|simd|.ase|.sve|.packed\n"
	"last.level.=@llc.\n"
	"l1.data.cache.=@l1d.\n"
	"l1.data.=@l1d.\n"
	"l1.dcache.=@l1d.\n"
	"l1.instruction.cache.=@l1i.\n"
	"l1.icache.=@l1i.\n"
	"instruction.cache.=@l1i.\n"
	"data.cache.=@l1d.\n"
	"data.tlb.=@dtlb.\n"
	"instruction.tlb.=@itlb.\n"
	"cache.miss=@llc. @miss.\n"
	"cache.ref=@llc. .ref|.access|.rd|.cache\n"
	"load.instr=@load. " RETIRED "\n"
	"store.instr=@store. " RETIRED "\n"
	"system.call=.syscall|.svc|.ring\n"
	"page.walk=@table.walk.\n"
	"translation.table.walk=@table.walk.\n"
	"table.walk=.walk|.ptw|.tablewalk\n"
	"micro.op=.uop|.ops.|.op\n"
	"front.end=@frontend.\n"
	"frontend=frontend|.fe.|.front.end|.idq\n"
	"back.end=@backend.\n"
	"backend=backend|.be.|.back.end\n"
	"store.forward=.stlf|.store.forward|.store.fwd|.ld.blocks\n"
	"machine.clear=clear|.nuke|.flush\n"
	"hyper.thread=.thread|smt\n"
	"memory.order=.memory.order|.ordering\n"
	"memory.disambig=disambig\n"
	"memory.barrier=.dmb|.dsb|barrier|.fence|.mem.sync\n"
	"bad.spec=bad.spec\n"
	"not.taken=.ntaken|.not.taken|.nt.\n"
	"length.changing.prefix=.lcp|length.chang\n"
	"line.fill.buffer=.fb.|.lfb|.fill.buf|.hit.lfb\n"
	"btb.miss=@branch.target.buffer.\n"
	"branch.target.buffer.miss=@branch.target.buffer.\n"
	"branch.target.buffer=.btb|baclear\n"
	"load.buffer.=.lb.|.load.buffer|.ldq|.ld.buf|.load.queue\n"
	"load.queue.=.lb.|.load.buffer|.ldq|.load.queue\n"
	"store.buffer.=.sb.|.store.buffer|.stq|.store.queue|on.stores\n"
	"store.queue.=@store.buffer.\n"
	"retire.queue.=@reorder.buffer.\n"
	"reorder.buffer.=.retire.token|.retire.queue|.rob.|.reorder\n"
	"4k.alias=address.alias|4k.alias\n"
	"unaligned.access=@unaligned.\n"
	"misaligned.access=@unaligned.\n"
	"exclusive.store=.strex|.stx\n"
	"integer.instr=.int.|.alu|.dp.\n"
	"crypto.instr=@crypto.\n"
	"microcoded.instr=@microcod.\n"
	"remote.cache.=.remote.hitm|.remote.fwd|.remote.cache|.rl2l3|.dl2l3\n"
	"l0.cache.=.l0\n"
	"load.miss=.load|.ld|.rd.|.read|.dcache|.dmiss|.data.cache " MISS "|dmiss\n"
	"load.exclusive=.ldrex|.ldx\n"
	"tlb.flush=tlb.flush|.tlbs.flush|.tlb.inval\n"
	"cross.core.=xsnp|.xcore|.snoop\n"
	"ref.cycle=ref.tsc|.reference.cycles|ref.xclk|.cnt.cycles|.ref.cycles\n"
	"reference.cycle=@ref.cycle.\n"
	"reference.clock.cycle=@ref.cycle.\n"
	"level.1.=.l1\n"
	"level.2.=.l2\n"
	"level.3.data.cache.=@llc.\n"
	"level.3.=@llc.\n"
	"first.level.=.l1\n"
	"second.level.tlb.=.stlb|.l2.tlb|.l2d.tlb|.l2.dtlb\n"
	"second.level.=.l2\n"
	/* caches and address translation */
	"l1d=l1d|.l1.d|.dc.|.dcache|.dc1.|.ld.miss.l1|.data.from.l2|l1.miss\n"
	"dcache=@l1d.\n"
	"l1i=l1i|.l1.i|.icache|.ic.|.l1.ic|.ifetch|.inst.from\n"
	"icache=@l1i.\n"
	"llc.=longest.lat.cache|.llc|.ll.cache|.l3|.last.level\n"
	"dtlb.=.dtlb|.d.tlb|.l1d.tlb|.l2d.tlb|.l1.dtlb|.derat|.data.tlb\n"
	"itlb.=.itlb|.i.tlb|.l1i.tlb|.l2i.tlb|.ierat|.bp.l1.tlb\n"
	"erat.=erat\n"
	"stlb.=.stlb|.l2.tlb|.l2d.tlb|.l2.dtlb|.walk\n"
	"miss=" MISS "\n"
	"refill=@miss.\n"
	"prefetch=.pref|hwpf|swpf|.pf.|prefetch|.prf\n"
	"writeback=.writeback|.wb|.l2.trans|.victim\n"
	"evict=.evict|.victim|.lines.out|.wb\n"
	/* instructions */
	"mispred=.misp.|mispred|.mis.pred|.mpred|.misp|.wrongly|.msp.\n"
	"misp.=@mispred.\n"
	"branch=.br.|.brn.|.brs.|branch|.bru.|.bra.\n"
	"jump=@branch.\n"
	"instruction=.inst|.ins.|instructions\n"
	"insn=@instruction.\n"
	"instr.=@instruction.\n"
	"ins.=@instruction.\n"
	"cycle=.cyc|.clk|cycles|.clock\n"
	"cyc.=@cycle.\n"
	"clock=@cycle.\n"
	"load=.load|.ld.|.ld|.rd.|.read\n"
	"read=@load.\n"
	"store=.store|.st.|.st|.wr.|.write\n"
	"write=@store.\n"
	"uops.=@uop.\n"
	"uop.=.uop|.ops.|.op\n"
	"retire=.ret|.cmpl|.compl\n"
	"stall=stall|.bound\n"
	"flop=.fp.|.fp|flop|.vfp|.float\n"
	"float=@flop.\n"
	"vector=.vec|simd|.ase|.sve|.packed|256b|128b\n"
	"simd=.simd|.vec|.ase|packed|.sse\n"
	"avx=avx|256b|512b|.packed\n"
	"divi=.div|divi\n"
	"atomic=atomic|.lock|.lse|.ldrex|.strex|.cas\n"
	"lock=.lock|locks\n"
	"unaligned=unaligned|.misal|.split\n"
	"misaligned=@unaligned.\n"
	"specul=.spec\n"
	"exception=.exc|exception|.fault\n"
	"syscall=@system.call.\n"
	"function.call=.call|.bl.\n"
	"call=.call|.ret\n"
	"return=.return|.near.ret|.ret.near\n"
	"taken=.taken|.tkn\n"
	"decode=.mite|.decode|.dec\n"
	"microcod=.ucode|.ms.|microcod|.cops\n"
	"execut=.exec|.exe.|execut\n"
	"unhalted.=unhalted|.not.halted|.not.in.halt|.run.cyc\n"
	"interrupt=.irq|.fiq|interrupt|.hw.int\n"
	"barrier=.dmb|.dsb|.isb|barrier|.fence\n"
	"crypto=crypto|.aes|.sha\n"
	"fail=fail\n"
	"operation=.op|.uop|operation|.inst\n"
	"reload=reload|refill|miss\n"
	"integer=.int|.alu|.dp.|integer\n"
	"immediate=.immed|.imm.|immediate\n"
	"fusion=.fus\n"
	"fused=.fus\n"
	"utili=\n"
	"side.=\n"
	"without.=\n"
	"complet=.cmpl|complet\n"
	"delivered.=\n"
	"caused.=\n"
	"because.=\n"
	"due.=\n"
	"to.=\n"
	"from.=\n"
	"is.=\n"
	"are.=\n"
	"with.=\n"
	"and.=\n"
	"or.=\n"
	"that.=\n"
	"above.=\n"
	"over.=\n"
	"wasted.=\n"
	"lost.=\n"
	"received.=\n"
	"occupied.=\n"
	"another.=?another|.other|remote\n"
	"conflict=?conflict|.alias\n"
	"penalt=?penalt\n"
	"transition=?transition|.mix\n"
	"issued.=?issued\n"
	"state.=?state\n"
	"idle=idle|.wait|.halt|sleep\n"
	"resteer=resteer|baclear\n"
	"btb.=@branch.target.buffer.\n"
	"shootdown=.inval|flush|.tlbi\n"
	"slots.=.slot|.topdown|.bound\n"
	"tile.=amx|tile\n"
	"full.=.full|stall|.bound\n"
	/* memory */
	"access=?.access|.ref|.req\n"
	"request=?request|.req|.rq\n"
	"ccx.=.ccx|core.complex\n"
	"pcie=pcie|.iio\n"
	"dram=dram|.mem.|.imc|.memory|.ddr|.cas\n"
	"memory=.mem|memory|dram\n"
	"snoop=snoop|xsnp|.snp\n"
	"local.memory.=@local.\n"
	"remote.memory.=@remote.\n"
	"local.=.local|.lcl|.lmem\n"
	"remote=remote|.far|.rmt|.rmem\n"
	"numa=.remote|.dram|.far|.local\n"
	"bandwidth=bandwidth|.bw|.cas|data.req|.bytes\n"
	"latency=latency|.lat\n"
	"bus.=.bus|.offcore|.fill\n"
	/* words that say nothing about the event */
	"blocked.=.block|.blk\n"
	"busy.=\n"
	"active.=.active|busy\n"
	"of.=\n"
	"the.=\n"
	"a.=\n"
	"in.=\n"
	"for.=\n"
	"per.=\n"
	"by.=\n"
	"on.=\n"
	"number.=\n"
	"count.=\n"
	"counts.=\n"
	"total.=\n"
	"event.=\n"
	"events.=\n"
	"rate.=\n"
	"ratio.=\n"
	"cpu.=\n"
	"cache.=\n"
	"hardware.=\n";

/* Writes @text as lower-case words between dots. */
static uint32_t fold_words(struct slice text, char out[WORD_TEXT_SIZE])
{
	uint32_t n = 0;

	out[n++] = '.';
	for (uint32_t i = 0; i < text.len && n + 2 < WORD_TEXT_SIZE; i++) {
		char c = text.text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			out[n++] = c;
		else if (out[n - 1] != '.')
			out[n++] = '.';
	}
	if (out[n - 1] != '.')
		out[n++] = '.';
	out[n] = 0;
	return n;
}

/* The line of @synonyms whose key @words begins with, or NULL. */
static const char *find_synonym(const char *words)
{
	for (const char *line = synonyms; *line; line = strchr(line, '\n') + 1)
		if (strncmp(words, line, strcspn(line, "=")) == 0)
			return line;
	return NULL;
}

static void add_concept(struct word_query *q, const char *text, size_t len)
{
	bool is_optional = len && *text == '?';

	if (!len || q->n_concepts == WORD_MAX_CONCEPTS)
		return;
	if (is_optional)
		q->optional_concepts |= 1u << q->n_concepts;
	q->concepts[q->n_concepts++] =
		(struct slice){ text + is_optional, (uint32_t)(len - is_optional) };
}

static void add_synonym_concepts(struct word_query *q, const char *line)
{
	for (const char *at = strchr(line, '=') + 1; *at != '\n'; at += *at == ' ') {
		size_t len = strcspn(at, " \n");

		if (*at == '@')
			add_synonym_concepts(q, find_synonym(at + 1));
		else
			add_concept(q, at, len);
		q->is_known = true;
		at += len;
	}
}

/* Words that the key of @line has. */
static unsigned count_key_words(const char *line)
{
	unsigned n = 1;

	for (; *line != '='; line++)
		n += *line == '.' && line[1] != '=';
	return n;
}

/* The length of the word at @word without the ending of a plural: "flushes", "boxes", "loads". */
static size_t measure_singular(const char *word)
{
	size_t len = strcspn(word, ".");

	if (len > 4 &&
	    (memcmp(word + len - 4, "shes", 4) == 0 || memcmp(word + len - 4, "ches", 4) == 0 ||
	     memcmp(word + len - 4, "sses", 4) == 0 || memcmp(word + len - 3, "xes", 3) == 0))
		return len - 2;
	return len > 3 && word[len - 1] == 's' && word[len - 2] != 's' ? len - 1 : len;
}

/* Adds the word at @word, which a dot precedes. */
static void add_plain_word(struct word_query *q, const char *word)
{
	add_concept(q, word - 1, measure_singular(word) + 1);
}

static unsigned count_required_concepts(const struct word_query *q)
{
	return q->n_concepts - (unsigned)__builtin_popcount(q->optional_concepts);
}

void pfmi_find_parse_words(struct word_query *q, struct slice text)
{
	const char *at;

	q->n_concepts = q->n_may_miss = q->optional_concepts = 0;
	q->is_known = q->desc_suffices = q->is_generic = false;
	fold_words(text, q->text);
	at = find_synonym(q->text);
	if (at && strlen(q->text) == strcspn(at, "=")) {
		add_synonym_concepts(q, at);
		q->is_generic = true;
		return;
	}
	for (at = q->text + 1; *at;) {
		const char *line = find_synonym(at);

		if (line)
			add_synonym_concepts(q, line);
		else
			add_plain_word(q, at);
		for (unsigned n = line ? count_key_words(line) : 1; n > 0; n--)
			at += strcspn(at, ".") + 1;
	}
	if (count_required_concepts(q) == 0)
		q->optional_concepts = 0;
}

bool pfmi_find_relax_words(struct word_query *q)
{
	if (3 * (q->n_may_miss + 1) > count_required_concepts(q))
		return false;
	q->n_may_miss++;
	return true;
}

/* A name as words, and which of its characters a concept explains. */
struct name_words {
	char text[WORD_TEXT_SIZE];
	bool is_explained[WORD_TEXT_SIZE];
};

/* Marks each word of @name in which @form is. Returns whether there is one. */
static bool mark_explained_words(struct name_words *name, const char *form)
{
	const char *at = name->text;
	size_t len = strlen(form);
	bool found = false;

	for (; (at = strstr(at, form)); at++) {
		const char *end = at + len + strcspn(at + len, ".");

		for (const char *c = at + (*at == '.'); c < end; c++)
			name->is_explained[c - name->text] = true;
		found = true;
	}
	return found;
}

/* Is an alternative of @concept in @words, or in @name, whose words are marked then? */
static bool find_concept_in_words(struct slice concept, const char *words, struct name_words *name)
{
	char form[64];
	bool found = false;

	for (uint32_t at = 0; at < concept.len;) {
		const char *bar = memchr(concept.text + at, '|', concept.len - at);
		uint32_t end = bar ? (uint32_t)(bar - concept.text) : concept.len;

		if (end - at < sizeof(form)) {
			memcpy(form, concept.text + at, end - at);
			form[end - at] = 0;
			found |= name ? mark_explained_words(name, form)
			              : strstr(words, form) != NULL;
		}
		at = end + 1;
	}
	return found;
}

/* Words of @name that no concept explains and that restrict what is counted. A hit for a question
 * about misses, or the reverse, is worth three. */
static unsigned count_extra_words(const struct name_words *name)
{
	static const char neutral[] = ".all.any.retired.ret.cmpl.ex.ls.pm.count.total.";
	unsigned n = 0;

	for (const char *at = name->text + 1; *at; at += strcspn(at, ".") + 1) {
		char word[WORD_TEXT_SIZE];
		size_t len = strcspn(at, ".");
		bool is_explained = false;

		for (size_t i = 0; i < len; i++)
			is_explained |= name->is_explained[at - name->text + (ptrdiff_t)i];
		if (is_explained)
			continue;
		word[0] = '.';
		memcpy(word + 1, at, len + 1);
		word[len + 2] = 0;
		if (strcmp(word, ".hit.") == 0 || strcmp(word, ".miss.") == 0)
			n += 3;
		else
			n += !strstr(neutral, word);
	}
	return n;
}

/* A description without its advice, "When high, look at L3_Bound.", whose words are not about
 * it. */
static struct slice strip_advice(const char *desc)
{
	const char *advice = strstr(desc, ". When ");

	return (struct slice){ desc, (uint32_t)(advice ? advice - desc : (ptrdiff_t)strlen(desc)) };
}

/* Sets *@in_name to the number of concepts that @name has. */
static unsigned compute_cost(const struct word_query *q, const char *name, const char *desc,
                             unsigned *in_name)
{
	struct name_words words = { .text = "" };
	char desc_words[WORD_TEXT_SIZE] = "";
	unsigned cost, n_missing = 0, n_optional = 0; /* missing concepts */

	*in_name = 0;
	fold_words((struct slice){ name, (uint32_t)strlen(name) }, words.text);
	for (unsigned i = 0; i < q->n_concepts; i++) {
		if (find_concept_in_words(q->concepts[i], NULL, &words)) {
			++*in_name;
			continue;
		}
		if (!desc_words[0])
			fold_words(strip_advice(desc), desc_words);
		if (find_concept_in_words(q->concepts[i], desc_words, NULL))
			continue;
		if (q->optional_concepts >> i & 1)
			n_optional++;
		else if (++n_missing > q->n_may_miss)
			return WORD_NO_MATCH;
	}
	cost = 4 * (q->n_concepts - *in_name) + 4 * n_missing - 2 * n_optional +
	       count_extra_words(&words);
	return cost < WORD_COST_MAX ? cost : WORD_COST_MAX;
}

unsigned pfmi_find_compute_word_cost(const struct word_query *q, const char *name, const char *desc)
{
	unsigned in_name, cost;

	if (!q->n_concepts)
		return WORD_NO_MATCH;
	cost = compute_cost(q, name, desc, &in_name);
	if (cost == WORD_NO_MATCH || in_name)
		return cost;
	return q->desc_suffices ? WORD_COST_MAX : WORD_NO_MATCH;
}
