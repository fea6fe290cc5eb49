/* SPDX-License-Identifier: MIT */
/* A recording that a test writes record by record, as
 * tools/perf/Documentation/perf.data-file-format describes it: one event, samples with thread, time
 * and call chain. */
#ifndef PERFMON_TESTS_TINY_RECORDING_H
#define PERFMON_TESTS_TINY_RECORDING_H

#include "machine/perf_abi.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TINY_PID = 41, TINY_HEADER = 104, TINY_ATTR = 128 + 16 };

struct tiny_recording {
	char path[64];
	FILE *file;
	uint64_t n_bytes; /* of records */
};

static inline void tiny_put(struct tiny_recording *t, uint64_t word)
{
	fwrite(&word, sizeof(word), 1, t->file);
	t->n_bytes += sizeof(word);
}

static inline void tiny_begin(struct tiny_recording *t)
{
	static const uint8_t zeros[TINY_HEADER];
	uint8_t entry[TINY_ATTR] = { 0 };
	struct perf_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                  .size = 128,
		                  .config = PERF_COUNT_SW_CPU_CLOCK,
		                  .sample_period = 1000,
		                  .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		                                 PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		                  .sample_id_all = 1 };

	*t = (struct tiny_recording){ .path = "/tmp/perfmon-tiny-XXXXXX" };
	t->file = fdopen(mkstemp(t->path), "w");
	memcpy(entry, &attr, sizeof(attr) < 128 ? sizeof(attr) : 128);
	fwrite(zeros, sizeof(zeros), 1, t->file);
	fwrite(entry, sizeof(entry), 1, t->file);
}

static inline void tiny_put_head(struct tiny_recording *t, uint32_t type, uint32_t misc,
                                 size_t n_words)
{
	const struct perf_event_header head = { .type = type,
		                                .misc = (uint16_t)misc,
		                                .size = (uint16_t)(8 + 8 * n_words) };

	fwrite(&head, sizeof(head), 1, t->file);
	t->n_bytes += sizeof(head);
}

static inline uint64_t tiny_thread(void)
{
	return TINY_PID | (uint64_t)TINY_PID << 32;
}

/* The command, of at most 7 bytes, of the process. */
static inline void tiny_add_comm(struct tiny_recording *t, const char *name)
{
	char text[8] = "";
	uint64_t word;

	memcpy(text, name, strlen(name));
	memcpy(&word, text, sizeof(word));
	tiny_put_head(t, PERF_RECORD_COMM, 0, 4);
	tiny_put(t, tiny_thread());
	tiny_put(t, word);
	tiny_put(t, tiny_thread());
	tiny_put(t, 1);
}

/* A user sample; the first of @n_chain words is a marker. */
static inline void tiny_add_sample(struct tiny_recording *t, uint64_t time, const uint64_t *chain,
                                   size_t n_chain)
{
	tiny_put_head(t, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 4 + n_chain);
	tiny_put(t, n_chain > 1 ? chain[1] : 0);
	tiny_put(t, tiny_thread());
	tiny_put(t, time);
	tiny_put(t, n_chain);
	for (size_t i = 0; i < n_chain; i++)
		tiny_put(t, chain[i]);
}

/* Record 22 of Linux 6.19: the user frames of the samples with @cookie. */
static inline void tiny_add_deferred(struct tiny_recording *t, uint64_t time, uint64_t cookie,
                                     const uint64_t *chain, size_t n)
{
	tiny_put_head(t, 22, PERF_RECORD_MISC_USER, 4 + n);
	tiny_put(t, cookie);
	tiny_put(t, n);
	for (size_t i = 0; i < n; i++)
		tiny_put(t, chain[i]);
	tiny_put(t, tiny_thread());
	tiny_put(t, time);
}

/* Writes the header, and a text of section 4, the kernel's release. */
static inline void tiny_end(struct tiny_recording *t, const char *release)
{
	uint64_t data = TINY_HEADER + TINY_ATTR, end = data + t->n_bytes;
	uint64_t header[TINY_HEADER / 8] = {
		0x32454c4946524550, TINY_HEADER, TINY_ATTR, TINY_HEADER,           TINY_ATTR, data,
		t->n_bytes,         0,           0,         release ? 1u << 4 : 0,
	};
	uint32_t length = release ? (uint32_t)strlen(release) + 1 : 0;
	uint64_t section[] = { end + 16, 4 + length };

	if (release) {
		fwrite(section, sizeof(section), 1, t->file);
		fwrite(&length, sizeof(length), 1, t->file);
		fwrite(release, length, 1, t->file);
	}
	rewind(t->file);
	fwrite(header, sizeof(header), 1, t->file);
	fclose(t->file);
}

static inline void tiny_remove(struct tiny_recording *t)
{
	unlink(t->path);
}

#endif
