/* SPDX-License-Identifier: MIT */
/* Processes at the model of the counter device as fuzz_device.c drives them, and what is seen of it after each step. Sessions, whose
 * time is the machine's, are not asked for. */
#include "digests.h"
#include <time.h>
#include "context/context.h"
#include "device/model.h"

static int said_look(const struct model *m, unsigned cpu, struct model_view *v)
{
	int rc = pfmi_model_look(m, cpu, v);

	say("holder", (uint64_t)v->holder);
	say("foreign", (uint64_t)v->foreign << 1 | v->interrupts);
	say("running", v->running);
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		say("value", v->value[i]);
		say("interrupts", v->interrupts_of[i]);
	}
	say("cycles", v->cycles);
	say("discarded", v->discarded);
	say("iccsr", v->iccsr);
	say("pmctr", v->pmctr);
	say("cbox", v->cbox);
	say("pctr_ctl", v->pctr_ctl);
	say("i_ctl", v->i_ctl);
	return rc;
}

static int said_open(struct model *m, int pid, uint64_t flags)
{
	int rc = pfmi_model_open(m, pid, flags);

	say("open", (uint64_t)rc);
	say("unconfirmed", pfmi_model_unconfirmed(m));
	return rc;
}

/* What was asked for, and how long the answer is. */
static uint8_t answer[4096 + 64];

static int said_ioctl(struct model *m, int handle, int pid, uint32_t request, uint64_t arg, const struct model_memory *mem)
{
	int rc = pfmi_model_ioctl(m, handle, pid, request, arg, mem);

	say("ioctl", (uint64_t)rc);
	say("unconfirmed", pfmi_model_unconfirmed(m));
	for (size_t n = 1; n <= 4096; n *= 2)
		if (mem->get(mem->arg, 0x10000, answer, n) == 0)
			say_bytes("array", answer, n < 256 ? n : 256);
	if (mem->get(mem->arg, 0x1000, answer, 32) == 0)
		say_bytes("words", answer, 32);
	return rc;
}

static long said_read(struct model *m, int handle, uint64_t to, size_t n, const struct model_memory *mem)
{
	long rc = pfmi_model_read(m, handle, to, n, mem);

	say("read", (uint64_t)rc);
	if (rc > 0 && (size_t)rc <= sizeof(answer) && mem->get(mem->arg, to, answer, (size_t)rc) == 0)
		say_bytes("samples", answer, (size_t)rc);
	return rc;
}

static size_t said_size(const struct model *m, int handle, uint32_t request)
{
	size_t size = pfmi_model_result_size(m, handle, request);

	say("size", size);
	return size;
}

#define __real_clock_gettime   clock_gettime
#define __wrap_clock_gettime   not_the_clock
#define pfmi_model_look        said_look
#define pfmi_model_open        said_open
#define pfmi_model_ioctl       said_ioctl
#define pfmi_model_read        said_read
#define pfmi_model_result_size said_size
#define LLVMFuzzerTestOneInput ask_any_device
#include "../fuzz/fuzz_device.c"

/* Somebody has opened the device before, whom the first two bytes choose, and how. */
int ask_device(const uint8_t *data, size_t size)
{
	static const unsigned modes[] = { PCNTOPENALL, PCNTOPENALL, PCNTOPENEACH, PCNTOPENONE };
	enum { OPTIONS = 5,
	       OPEN = 3 };
	uint8_t bytes[1100] = { 0 };
	unsigned mode = modes[data[0] >> 6] >> 4;
	struct bytes b = { bytes, size + 4 };

	memcpy(bytes, data, size < OPTIONS ? size : OPTIONS);
	bytes[OPTIONS] = OPEN;
	bytes[OPTIONS + 1] = (uint8_t)(data[0] >> 5 & 1);
	bytes[OPTIONS + 2] = (uint8_t)mode;
	bytes[OPTIONS + 3] = (uint8_t)(mode >> 8);
	if (size > OPTIONS)
		memcpy(bytes + OPTIONS + 4, data + OPTIONS, size - OPTIONS);
	walk(b);
	return 0;
}
