/* SPDX-License-Identifier: MIT */
/* The machine that runs the code of metrics: hostile code, slopes against differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "metric/metric.h"

static const pfm_metric_operand_t none;

static int run(const char *code, const pfm_metric_operand_t *in, unsigned n,
               struct metric_number *out)
{
	return pfmi_metric_run_code(code, in, n, n, NULL, out);
}

static void each_instruction_computes_its_value(void **state)
{
	const pfm_metric_operand_t in[] = { { .value = 12, .known = 1 },
		                            { .value = 5, .known = 1 },
		                            { .known = 0 } };
	static const struct {
		const char *code;
		double value;
		int state;
	} cases[] = {
		{ "e00e01+", 17, 0 },
		{ "e00e01-", 7, 0 },
		{ "e00e01*", 60, 0 },
		{ "e00e01/", 2.4, 0 },
		{ "e00e01%", 2, 0 },
		{ "e00~", -12, 0 },
		{ "e00e01<", 0, 0 },
		{ "e00e01>", 1, 0 },
		{ "i1i1[", 1, 0 },
		{ "i1i2]", 0, 0 },
		{ "i1i1=", 1, 0 },
		{ "i1i1!", 0, 0 },
		{ "e00e01m", 5, 0 },
		{ "e00e01M", 12, 0 },
		{ "i1i0d", 0, 0 },
		{ "i1e00e01?", 12, 0 },
		{ "i0e00e01?", 5, 0 },
		{ "j10", 64, 0 },
		{ "e00s00l00*", 144, 0 },
		{ "e00i0/", 0, PFM_METRIC_DIVISION },
		{ "e02i1+", 0, PFM_METRIC_NOT_COUNTED },
		{ "i1e00e02?", 12, 0 },
		{ "e02e00e00?", 0, PFM_METRIC_NOT_COUNTED },
		{ "i0e02&", 0, 0 },
		{ "e02i1|", 1, 0 },
		{ "i1i0/e00m", 0, PFM_METRIC_DIVISION },
	};
	struct metric_number out;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(run(cases[i].code, in, 3, &out), PFMLIB_SUCCESS);
		assert_int_equal(out.state, cases[i].state);
		if (!out.state)
			assert_true(fabs(out.value - cases[i].value) < 1e-12);
	}
}

/* Stores the result of @op for two numbers. Returns its state. */
static int expected(char op, double a, double b, double *v)
{
	switch (op) {
	case '+': *v = a + b; break;
	case '-': *v = a - b; break;
	case '*': *v = a * b; break;
	case '/': *v = b != 0 ? a / b : 0; return b != 0 ? PFM_METRIC_DEFINED : PFM_METRIC_DIVISION;
	case 'd': *v = b != 0 ? a / b : 0; break;
	case '%':
		*v = trunc(b) != 0 ? fmod(trunc(a), trunc(b)) : 0;
		return trunc(b) != 0 ? PFM_METRIC_DEFINED : PFM_METRIC_DIVISION;
	case '<': *v = a < b; break;
	case '>': *v = a > b; break;
	case '[': *v = a <= b; break;
	case ']': *v = a >= b; break;
	case '=': *v = a == b; break;
	case '!': *v = a != b; break;
	case '&': *v = a != 0 && b != 0; break;
	case '|': *v = a != 0 || b != 0; break;
	case '^': *v = (a != 0) != (b != 0); break;
	case 'm': *v = fmin(a, b); break;
	default: *v = fmax(a, b); break;
	}
	return PFM_METRIC_DEFINED;
}

/* Of numbers that are less, equal and more, of both signs and none: by the short way for values
 * alone, and by the machine, which is asked for the slope along an input that is not there. */
static void operators_on_either_way(void **state)
{
	static const double values[] = { -7.5, -2, -1, -0.5, 0, 0.5, 1, 2, 7.5 };
	const unsigned n = sizeof(values) / sizeof(values[0]);
	char code[] = "e00e01?";
	struct metric_number out;

	(void)state;
	for (const char *op = "+-*/%<>[]=!&|^mMd"; *op; op++)
		for (unsigned i = 0; i < n * n; i++) {
			const pfm_metric_operand_t in[] = { { .value = values[i / n], .known = 1 },
				                            { .value = values[i % n],
				                              .known = 1 } };
			double v;
			int known = expected(*op, in[0].value, in[1].value, &v);

			code[6] = *op;
			for (unsigned along = 2; along < 4; along++) {
				assert_int_equal(
					pfmi_metric_run_code(code, in, 2, along, NULL, &out),
					PFMLIB_SUCCESS);
				if ((int)out.state != known ||
				    (!known && fabs(out.value - v) > 1e-12))
					fail_msg("%g %c %g: %g, state %d", in[0].value, *op,
					         in[1].value, out.value, out.state);
			}
		}
}

/* As many numbers and slots as there may be, and one more, on either way. */
static void the_machine_is_full_when_it_is_full(void **state)
{
	char code[3 * METRIC_MAX_STACK + 3 * METRIC_MAX_SLOTS + 32];
	struct metric_number out;

	(void)state;
	for (unsigned more = 0; more < 2; more++)
		for (unsigned along = 1; along < 3; along++) {
			*code = '\0';
			for (unsigned i = 0; i < METRIC_MAX_STACK + more; i++)
				strcat(code, "i1");
			for (unsigned i = 1; i < METRIC_MAX_STACK + more; i++)
				strcat(code, "+");
			assert_int_equal(pfmi_metric_run_code(code, &none, 1, along, NULL, &out),
			                 more ? PFMLIB_ERR_INVAL : PFMLIB_SUCCESS);
			assert_true(more || out.value == METRIC_MAX_STACK);
			strcpy(code, "i1");
			for (unsigned i = 0; i < METRIC_MAX_SLOTS + more; i++) {
				char one[4] = { 's', (char)('0' + i / 64), (char)('0' + i % 64),
					        '\0' };

				strcat(code, one);
			}
			assert_int_equal(pfmi_metric_run_code(code, &none, 1, along, NULL, &out),
			                 more ? PFMLIB_ERR_INVAL : PFMLIB_SUCCESS);
		}
}

static void refuses_invalid_code(void **state)
{
	static const char *const codes[] = { "",    "+",   "i1+", "i1i1",  "e",     "e0",    "e0z",
		                             "e05", "l00", "s00", "i1s01", "?",     "i1i1?", "~",
		                             "v",   "x",   "i",   "k0000", "i1l00+" };
	char deep[3 * 80 + 1] = "", slots[8000] = "i1";
	struct metric_number out;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_int_equal(run(codes[i], &none, 1, &out), PFMLIB_ERR_INVAL);
	for (unsigned i = 0; i < 80; i++)
		strcat(deep, "i1");
	for (unsigned i = 0; i < 79; i++)
		strcat(deep, "+");
	assert_int_equal(run(deep, &none, 1, &out), PFMLIB_ERR_INVAL);
	for (unsigned i = 0; i < 300; i++) {
		char one[4] = { 's', (char)('0' + i / 64), (char)('0' + i % 64), '\0' };

		strcat(slots, one);
	}
	assert_int_equal(run(slots, &none, 1, &out), PFMLIB_ERR_INVAL);
}

/* An emulator or a checker runs us: a part of the long loops will do. */
static bool is_quick(void)
{
	return getenv("PERFMON_QUICK") != NULL;
}

static void noise_never_leaves_the_machine(void **state)
{
	static const char letters[] = "eijkslv+-*/%<>[]=!&|^mMd~?00001230";
	pfm_metric_operand_t in[4] = { { .value = 1, .known = 1 },
		                       { .value = 0, .known = 1 },
		                       { .value = 1e300, .known = 1 } };
	char code[64];
	struct metric_number out, careful;
	unsigned n_defined = 0, rounds = is_quick() ? 20000 : 200000;

	(void)state;
	srand(5);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned n = (unsigned)rand() %
		             (round % 2 ? 60 : 8); /* short ones mean something more often */

		for (unsigned i = 0; i < n; i++)
			code[i] = letters[(unsigned)rand() % (sizeof(letters) - 1)];
		code[n] = '\0';
		if (run(code, in, 4, &out) == PFMLIB_SUCCESS && !out.state) {
			assert_true(isfinite(out.value));
			/* With a slope it takes the long way, which has to come to the same. */
			assert_int_equal(pfmi_metric_run_code(code, in, 4, 0, NULL, &careful),
			                 PFMLIB_SUCCESS);
			assert_true(!careful.state && careful.value == out.value);
			n_defined++;
		}
	}
	assert_true(n_defined > rounds / 1000);
}

/* (a - b) / max(a * b, c) and its kin: the slope along each input is what a small step makes. */
static void slopes_are_those_of_differences(void **state)
{
	static const char *const codes[] = { "e00e01-e00e01*e02M/", "e00e01/s00l00*e02+",
		                             "e00e01e02*>e00e01e02/?", "e00~e01d", "e00e01me02*" };
	pfm_metric_operand_t in[3] = { { .value = 7, .known = 1 },
		                       { .value = 3, .known = 1 },
		                       { .value = 11, .known = 1 } };
	const double step = 1e-6;
	struct metric_number low, high, at;

	(void)state;
	for (size_t c = 0; c < sizeof(codes) / sizeof(codes[0]); c++)
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(pfmi_metric_run_code(codes[c], in, 3, i, NULL, &at),
			                 PFMLIB_SUCCESS);
			in[i].value += step;
			run(codes[c], in, 3, &high);
			in[i].value -= 2 * step;
			run(codes[c], in, 3, &low);
			in[i].value += step;
			assert_true(fabs((high.value - low.value) / (2 * step) - at.derivative) <
			            1e-6);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_computes_its_value),
		cmocka_unit_test(operators_on_either_way),
		cmocka_unit_test(the_machine_is_full_when_it_is_full),
		cmocka_unit_test(refuses_invalid_code),
		cmocka_unit_test(noise_never_leaves_the_machine),
		cmocka_unit_test(slopes_are_those_of_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
