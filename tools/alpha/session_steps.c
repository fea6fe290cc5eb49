/* SPDX-License-Identifier: MIT */
/* pfm alpha session --json: executes the steps of a session on the model of the device. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <perfmon/pfcntr.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/session_replay.h"

/* Addresses in the invented memory of a process: words of an argument, a pointer, and an array. */
#define AT_WORDS   UINT64_C(0x1000)
#define AT_POINTER UINT64_C(0x2000)
#define AT_ARRAY   UINT64_C(0x10000)

/* ---- JSON values ----------------------------------------------------------------------------- */

static const struct {
	int number;
	const char *name;
} ERRNOS[] = {
	{ EPERM, "EPERM" },   { ESRCH, "ESRCH" },   { EBADF, "EBADF" },   { ENOMEM, "ENOMEM" },
	{ EFAULT, "EFAULT" }, { EBUSY, "EBUSY" },   { EEXIST, "EEXIST" }, { ENODEV, "ENODEV" },
	{ EINVAL, "EINVAL" }, { ENOTTY, "ENOTTY" }, { ENOSPC, "ENOSPC" }, { ENOENT, "ENOENT" },
	{ EACCES, "EACCES" }, { EIO, "EIO" },       { ENXIO, "ENXIO" },
};

static const char *get_errno_name(int err)
{
	for (size_t i = 0; i < sizeof ERRNOS / sizeof ERRNOS[0]; i++)
		if (ERRNOS[i].number == err)
			return ERRNOS[i].name;
	return "EIO";
}

json_t *make_hex_string(uint64_t value, int digits)
{
	char text[24];

	snprintf(text, sizeof text, "0x%0*" PRIx64, digits, value);
	return json_string(text);
}

/* Reads a number, or a string that contains one. */
static uint64_t read_number(struct session_replay_state *r, const json_t *v, uint64_t otherwise)
{
	char *end;
	uint64_t n;

	if (!v)
		return otherwise;
	if (json_is_integer(v))
		return (uint64_t)json_integer_value(v);
	if (!json_is_string(v) || !*json_string_value(v)) {
		r->wrong = "expected a number";
		return otherwise;
	}
	errno = 0;
	n = strtoull(json_string_value(v), &end, 0);
	if (*end || errno || !isdigit((unsigned char)*json_string_value(v)))
		r->wrong = "malformed number";
	return n;
}

uint64_t read_key_number(struct session_replay_state *r, const json_t *o, const char *key,
                         uint64_t otherwise)
{
	return read_number(r, json_object_get(o, key), otherwise);
}

/* Reads the number of a processor, level or user; 0 if omitted, UINT32_MAX if it is too large. */
static unsigned read_key_small(struct session_replay_state *r, const json_t *o, const char *key)
{
	uint64_t n = read_key_number(r, o, key, 0);

	return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

/* ---- the invented memory --------------------------------------------------------------------- */

static unsigned char *get_program_memory(struct program_memory *mem, uint64_t at, size_t n)
{
	if (at >= AT_ARRAY && at - AT_ARRAY <= mem->capacity &&
	    n <= mem->capacity - (at - AT_ARRAY))
		return mem->array + (at - AT_ARRAY);
	if (at >= AT_WORDS && at - AT_WORDS <= sizeof mem->words &&
	    n <= sizeof mem->words - (at - AT_WORDS))
		return (unsigned char *)mem->words + (at - AT_WORDS);
	if (at == AT_POINTER && n <= sizeof mem->pointer)
		return (unsigned char *)&mem->pointer;
	return NULL;
}

static int read_program_memory(void *arg, uint64_t from, void *to, size_t n)
{
	const unsigned char *at = get_program_memory(arg, from, n);

	if (!at)
		return -EFAULT;
	memcpy(to, at, n);
	return 0;
}

static int write_program_memory(void *arg, uint64_t to, const void *from, size_t n)
{
	unsigned char *at = get_program_memory(arg, to, n);

	if (!at)
		return -EFAULT;
	memcpy(at, from, n);
	return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Reads a process, which is a letter; A by default. Its pid is its position in the alphabet,
 * from 1. */
static int read_pid(struct session_replay_state *r, const json_t *step, const char *key)
{
	const json_t *v = json_object_get(step, key);
	const char *name = json_string_value(v);

	if (!v || json_is_null(v))
		return 1;
	if (!name || name[0] < 'A' || name[0] > 'Z' || name[1]) {
		r->wrong = "expected one capital letter for a process";
		return 1;
	}
	return name[0] - 'A' + 1;
}

/* Records the result of a step. An error without a documented errno is FAIL; the model's errno is
 * stored beside it. */
static void record_result(struct session_replay_state *r, json_t *step, long err)
{
	bool unknown = err < 0 && alpha_device_is_error_unconfirmed(r->m);

	json_object_set_new(step, "ret",
	                    json_string(err >= 0  ? "OK"
	                                : unknown ? "FAIL"
	                                          : get_errno_name((int)-err)));
	if (unknown)
		json_object_set_new(step, "errno", json_string(get_errno_name((int)-err)));
}

static int register_process(struct session_replay_state *r, const json_t *step, int pid)
{
	const json_t *bound = json_object_get(step, "bound");
	json_int_t cpu = json_is_integer(bound) ? json_integer_value(bound) : ALPHA_DEVICE_UNBOUND;

	if (alpha_device_is_process_marked(r->m, pid) < 0 || bound || json_object_get(step, "uid"))
		return alpha_device_set_process(r->m, pid, read_key_small(r, step, "uid"),
		                                cpu < INT32_MIN || cpu > INT32_MAX ? INT32_MAX
		                                                                   : (int)cpu);
	return 0;
}

static void run_open_step(struct session_replay_state *r, json_t *step)
{
	int pid = read_pid(r, step, "proc"), handle = register_process(r, step, pid);

	if (handle == 0)
		handle = alpha_device_open_session(r->m, pid, read_key_number(r, step, "flags", 0));
	if (handle >= 0)
		r->handle[pid - 1] = handle;
	record_result(r, step, handle);
}

static void run_close_step(struct session_replay_state *r, json_t *step)
{
	int pid = read_pid(r, step, "proc");

	record_result(r, step, alpha_device_close_session(r->m, r->handle[pid - 1]));
	r->handle[pid - 1] = -1;
}

static bool is_start_request(uint32_t request)
{
	return request == PCNTRENABLE || request == PCNT5ENABLE || request == PCNT5RESTART ||
	       request == PCNT6ENABLE || request == PCNT6RESTART || request == PCNT6ENABWRITE;
}

/* Records the registers of the first processor that the session holds. */
static void record_registers(struct session_replay_state *r)
{
	struct alpha_device_view v = { .holder_pid = -1 };

	for (unsigned i = 0; i < r->n_cpus && v.holder_pid < 0; i++)
		(void)alpha_device_get_view(r->m, i, &v);
	json_object_clear(r->regs);
	switch (alpha_device_get_options(r->m)->family) {
	case ALPHA_DEVICE_EV4:
		json_object_set_new(r->regs, "ICCSR_write", make_hex_string(v.iccsr, 16));
		break;
	case ALPHA_DEVICE_EV5:
		json_object_set_new(r->regs, "PMCTR", make_hex_string(v.pmctr, 16));
		json_object_set_new(r->regs, "BC_CTL_24_19", make_hex_string(v.cbox, 2));
		break;
	case ALPHA_DEVICE_PCA56:
		json_object_set_new(r->regs, "PMCTR", make_hex_string(v.pmctr, 16));
		json_object_set_new(r->regs, "a1_13_8", make_hex_string(v.cbox, 2));
		break;
	default:
		json_object_set_new(r->regs, "PCTR_CTL_written", make_hex_string(v.pctr_ctl, 16));
		json_object_set_new(r->regs, "I_CTL_enables", make_hex_string(v.i_ctl, 0));
	}
}

static void load_words(struct session_replay_state *r, const json_t *step)
{
	const json_t *list = json_object_get(step, "arg");

	memset(&r->memory, 0, sizeof r->memory);
	if (json_array_size(list) > MAX_WORDS)
		r->wrong = "an argument has at most four words";
	for (size_t i = 0; i < json_array_size(list) && i < MAX_WORDS; i++)
		r->memory.words[i] = read_number(r, json_array_get(list, i), 0);
}

static void add_array_words(struct session_replay_state *r, json_t *step, size_t size)
{
	json_t *out = json_array();
	uint64_t word;

	for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
		memcpy(&word, r->memory.array + at, sizeof word);
		json_array_append_new(out, make_hex_string(word, 16));
	}
	json_object_set_new(step, "out", out);
}

static void run_ioctl_step(struct session_replay_state *r, json_t *step)
{
	const struct alpha_device_memory mem = { read_program_memory, write_program_memory,
		                                 &r->memory };
	uint32_t request = (uint32_t)read_key_number(r, step, "req", 0);
	int pid = read_pid(r, step, "proc"), handle = r->handle[pid - 1],
	    err = register_process(r, step, pid);
	size_t size = alpha_device_get_result_size(r->m, handle, request);

	load_words(r, step);
	r->memory.capacity = (size_t)read_key_number(r, step, "user_bytes", size);
	if (r->memory.capacity > MAX_ARRAY)
		r->memory.capacity = MAX_ARRAY;
	r->memory.pointer = AT_ARRAY;
	if (read_key_number(r, step, "alloc_fails", 0))
		alpha_device_fail_next_alloc(r->m);
	if (err == 0)
		err = alpha_device_do_ioctl(r->m, handle, pid, request,
		                            size ? AT_POINTER : AT_WORDS, &mem);
	record_result(r, step, err);
	if (size && (err == 0 || err == -EFAULT))
		json_object_set_new(step, "out_bytes", json_integer((json_int_t)size));
	if (size && err == 0 && r->show_out)
		add_array_words(r, step, size);
	if (request == PCNTGETRSIZE && err == 0)
		json_object_set_new(step, "out_value",
		                    json_integer((json_int_t)r->memory.words[0]));
	if ((request == PCNT5GETCNTRS || request == PCNT6GETCNTRS) && err == 0)
		json_object_set_new(step, "out_word", make_hex_string(r->memory.words[0], 16));
	if (is_start_request(request) && err == 0)
		record_registers(r);
	r->touches_mark |= request == PCNTLOGSELECT || request == PCNTCLEARPCBPME;
}

static void run_read_step(struct session_replay_state *r, json_t *step)
{
	const struct alpha_device_memory mem = { read_program_memory, write_program_memory,
		                                 &r->memory };
	json_t *out = json_array();
	uint32_t bucket;
	long got;

	memset(&r->memory, 0, sizeof r->memory);
	r->memory.capacity = MAX_ARRAY;
	got = alpha_device_read_samples(r->m, r->handle[read_pid(r, step, "proc") - 1], AT_ARRAY,
	                                (size_t)read_key_number(r, step, "bytes", MAX_ARRAY), &mem);
	record_result(r, step, got);
	for (long at = 0; at + (long)sizeof bucket <= got; at += (long)sizeof bucket) {
		memcpy(&bucket, r->memory.array + at, sizeof bucket);
		json_array_append_new(out, json_integer(bucket));
	}
	json_object_set_new(step, "out_bytes", json_integer(got < 0 ? 0 : got));
	json_object_set_new(step, "buckets", out);
}

static void run_fork_step(struct session_replay_state *r, json_t *step)
{
	int parent = read_pid(r, step, "proc"),
	    child = json_object_get(step, "child") ? read_pid(r, step, "child") : MAX_PROCESSES;
	int err = alpha_device_fork_process(r->m, parent, child);

	if (err == 0)
		json_object_set_new(step, "child_pme",
		                    json_integer(alpha_device_is_process_marked(r->m, child)));
	else
		record_result(r, step, err);
	r->touches_mark = true;
}

static void run_exit_step(struct session_replay_state *r, json_t *step)
{
	int pid = read_pid(r, step, "proc");

	record_result(r, step, alpha_device_exit_process(r->m, pid));
	r->handle[pid - 1] = -1;
}

static void run_work_step(struct session_replay_state *r, json_t *step)
{
	struct alpha_device_work w = { .pid = read_pid(r, step, "proc"),
		                       .is_user = read_key_number(r, step, "user", 0) != 0,
		                       .is_pal = read_key_number(r, step, "pal", 0) != 0,
		                       .is_idle = read_key_number(r, step, "idle", 0) != 0,
		                       .ipl = read_key_small(r, step, "ipl"),
		                       .pc = read_key_number(r, step, "pc", 0),
		                       .return_address = read_key_number(r, step, "caller", 0),
		                       .cycles = read_key_number(r, step, "cycles", 0) };
	const json_t *events = json_object_get(step, "events");

	for (size_t i = 0; i < ALPHA_DEVICE_MAX_COUNTERS && i < json_array_size(events); i++) {
		w.events[i] = read_number(r, json_array_get(events, i), 0);
		if (w.events[i] > UINT64_C(1) << 34)
			r->wrong = "too many events in one step";
	}
	if (!r->wrong)
		record_result(r, step,
		              alpha_device_do_work(r->m, read_key_small(r, step, "cpu"), &w));
}

static void run_rare_step(struct session_replay_state *r, json_t *step, const char *op)
{
	if (strcmp(op, "foreign_handler") == 0) {
		if (alpha_device_set_foreign(r->m, read_key_small(r, step, "cpu"), true))
			r->wrong = "unknown processor";
	} else if (strcmp(op, "exec") == 0) {
		record_result(r, step, alpha_device_exec_process(r->m, read_pid(r, step, "proc")));
	} else if (strcmp(op, "bind") == 0) {
		int pid = read_pid(r, step, "proc");

		record_result(r, step, register_process(r, step, pid));
	} else {
		r->wrong = "unknown op";
	}
}

static const struct {
	const char *op;
	void (*run)(struct session_replay_state *r, json_t *step);
} STEPS[] = {
	{ "open", run_open_step },    { "ioctl", run_ioctl_step }, { "close", run_close_step },
	{ "read", run_read_step },    { "fork", run_fork_step },   { "exit", run_exit_step },
	{ "advance", run_work_step },
};

void run_step(struct session_replay_state *r, json_t *step)
{
	const char *op = json_string_value(json_object_get(step, "op"));

	if (!op) {
		r->wrong = "expected op in each step";
		return;
	}
	for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++)
		if (strcmp(op, STEPS[i].op) == 0) {
			STEPS[i].run(r, step);
			return;
		}
	run_rare_step(r, step, op);
}
