/* SPDX-License-Identifier: MIT */
/* Answers to many questions that a generator of a fixed seed asks, as one number for each kind of question: it differs as soon as
 * anything in any of the answers does. digests.txt and, of libpfm.so.4, digests_libpfm4.txt have the numbers. They do not say what is
 * right, which other tests do, but that something is no longer as it was. PERFMON_DIGESTS=NAME prints the answers of that name, to be
 * compared with those of a build before: what differs is read before PERFMON_DIGESTS=write writes the numbers anew.
 *
 * Questions are asked of processors whose tables do not change from one list of a vendor to the next. */
#ifndef PERFMON_TESTS_DIGESTS_H
#define PERFMON_TESTS_DIGESTS_H

#include <stddef.h>
#include <stdint.h>

/* The answers, piece by piece. */
void say(const char *what, uint64_t n);
void say_text(const char *what, const char *text);
void say_real(const char *what, double x);
void say_bytes(const char *what, const void *bytes, size_t n);

/* A number below @n; all of them. */
unsigned draw(unsigned n);
uint64_t draw_word(void);
/* Mostly a small number, sometimes one with few bits, sometimes any. */
uint64_t draw_number(void);

/* Everything that is said between these has one digest; the generator begins with @name's own seed. */
void digest_begin(const char *name);
void digest_end(void);

/* The digests of @file beside this one; and at the end of a program, which ends with what is returned: writes them where that is
 * asked for. */
void read_known(const char *file);
int write_known(int failed);
/* Tests: all that @ask has asked is answered as ever; nothing is left in the list that nobody asks any more. */
void same(void (*ask)(void));
void list_is_up_to_date(void **state);

/* ---- the same of what the fuzzers ask (../fuzz) --------------------------------------------------------------------------- */

typedef int harness(const uint8_t *data, size_t size);
/* Gives @fn @n inputs of up to @most bytes, among which small numbers are more frequent than others. */
void ask_any(const char *name, harness *fn, unsigned n, unsigned most);
/* The file @name of the corpus, and @n copies of it with a few bytes changed. */
void ask_like(const char *name, harness *fn, unsigned n);

struct pfm_record;
void say_record(const struct pfm_record *r);

/* ---- kinds of questions --------------------------------------------------------------------------------------------------- */

void ask_texts(void);
void ask_tables(void);
void ask_registers(void);
void ask_plans(void);
void ask_metrics(void);
void ask_machines(void);
void ask_sessions(void);

harness ask_dispatch, ask_decode, ask_device, ask_records, ask_recording, ask_formula;

#endif
