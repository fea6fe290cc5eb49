/* SPDX-License-Identifier: MIT */
/* The stack machine that runs the code of metrics. Nothing is allocated. A value that is undefined
 * at any step is reported as undefined, never as a number. */
#include <float.h>
#include <string.h>
#include "metric/metric.h"

struct metric_machine {
	unsigned stack_depth, n_slots;
	struct metric_number stack[METRIC_MAX_STACK];
	struct metric_number slots[METRIC_MAX_SLOTS];
};

/* ---- code ------------------------------------------------------------------------------------ */

/* Length of each instruction: 1 + its digits; 0 for characters that are no instruction. */
static const unsigned char instruction_lengths[128] = {
	['i'] = 2, ['e'] = 3, ['j'] = 3, ['s'] = 3, ['l'] = 3, ['k'] = 12, ['v'] = 1,
	['+'] = 1, ['-'] = 1, ['*'] = 1, ['/'] = 1, ['%'] = 1, ['<'] = 1,  ['>'] = 1,
	['['] = 1, [']'] = 1, ['='] = 1, ['!'] = 1, ['&'] = 1, ['|'] = 1,  ['^'] = 1,
	['m'] = 1, ['M'] = 1, ['d'] = 1, ['~'] = 1, ['?'] = 1,
};

/* Length of the instruction at @code, 0 if missing; its operand in *@x. */
static unsigned read_instruction(const char *code, uint64_t *x)
{
	unsigned char op = (unsigned char)*code;
	unsigned n = op < sizeof(instruction_lengths) ? instruction_lengths[op] : 0;
	uint64_t value = 0;

	for (unsigned i = 1; i < n; i++) {
		if (code[i] < '0' || code[i] > 'o')
			return 0;
		value = value << 6 | (unsigned)(code[i] - '0');
	}
	*x = value;
	return n;
}

unsigned pfmi_metric_get_instruction_length(const char *code)
{
	uint64_t x;

	return read_instruction(code, &x);
}

uint64_t pfmi_metric_get_operand(const char *code)
{
	uint64_t x = 0;

	read_instruction(code, &x);
	return x;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct metric_number make_undefined(pfm_metric_state_t state)
{
	return (struct metric_number){ .state = state };
}

static struct metric_number make_number(double v, double d)
{
	return metric_is_finite(v) && metric_is_finite(d)
	               ? (struct metric_number){ v, d, PFM_METRIC_DEFINED }
	               : make_undefined(PFM_METRIC_OVERFLOW);
}

static struct metric_number make_boolean(bool yes)
{
	return (struct metric_number){ yes, 0, PFM_METRIC_DEFINED };
}

static struct metric_number divide_numbers(struct metric_number a, struct metric_number b)
{
	if (b.value == 0)
		return make_undefined(PFM_METRIC_DIVISION);
	return make_number(a.value / b.value,
	                   (a.derivative - a.value / b.value * b.derivative) / b.value);
}

/* The remainder of whole numbers, as perf computes it. */
static struct metric_number compute_remainder(struct metric_number a, struct metric_number b)
{
	const double limit = 9e18;

	if (a.value > limit || a.value < -limit || b.value > limit || b.value < -limit)
		return make_undefined(PFM_METRIC_OVERFLOW);
	if ((int64_t)b.value == 0)
		return make_undefined(PFM_METRIC_DIVISION);
	return make_number((double)((int64_t)a.value % (int64_t)b.value), a.derivative);
}

/* One operand can decide the result: 0 & x is 0 even if x is undefined. */
static struct metric_number evaluate_and(struct metric_number a, struct metric_number b)
{
	if ((!a.state && a.value == 0) || (!b.state && b.value == 0))
		return make_boolean(false);
	return a.state ? a : b.state ? b : make_boolean(true);
}

static struct metric_number evaluate_or(struct metric_number a, struct metric_number b)
{
	if ((!a.state && a.value != 0) || (!b.state && b.value != 0))
		return make_boolean(true);
	return a.state ? a : b.state ? b : make_boolean(false);
}

static struct metric_number apply_operator(char op, struct metric_number a, struct metric_number b)
{
	if (op == '&')
		return evaluate_and(a, b);
	if (op == '|')
		return evaluate_or(a, b);
	if (a.state || b.state)
		return a.state ? a : b;
	switch (op) {
	case '+': return make_number(a.value + b.value, a.derivative + b.derivative);
	case '-': return make_number(a.value - b.value, a.derivative - b.derivative);
	case '*':
		return make_number(a.value * b.value,
		                   a.derivative * b.value + a.value * b.derivative);
	case '/': return divide_numbers(a, b);
	case '%': return compute_remainder(a, b);
	case '<': return make_boolean(a.value < b.value);
	case '>': return make_boolean(a.value > b.value);
	case '[': return make_boolean(a.value <= b.value);
	case ']': return make_boolean(a.value >= b.value);
	case '=': return make_boolean(a.value == b.value);
	case '!': return make_boolean(a.value != b.value);
	case '^': return make_boolean((a.value != 0) != (b.value != 0));
	case 'm': return b.value < a.value ? b : a;
	case 'M': return b.value > a.value ? b : a;
	default: return b.value == 0 ? make_boolean(false) : divide_numbers(a, b);
	}
}

static bool push_number(struct metric_machine *m, struct metric_number c)
{
	if (m->stack_depth == METRIC_MAX_STACK)
		return false;
	m->stack[m->stack_depth++] = c;
	return true;
}

static bool push_double_bits(struct metric_machine *m, uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return metric_is_finite(v) && push_number(m, make_number(v, 0));
}

static bool push_input(struct metric_machine *m, const pfm_metric_operand_t *input, bool along)
{
	return push_number(m, input->known ? make_number(input->value, along)
	                                   : make_undefined(PFM_METRIC_NOT_COUNTED));
}

/* Slots are filled in order, so a slot that was not filled is recognised by its number. */
static bool store_slot(struct metric_machine *m, uint64_t slot)
{
	if (m->stack_depth == 0 || slot != m->n_slots || slot >= METRIC_MAX_SLOTS)
		return false;
	m->slots[m->n_slots++] = m->stack[m->stack_depth - 1];
	return true;
}

static bool apply_conditional(struct metric_machine *m)
{
	struct metric_number *s;

	if (m->stack_depth < 3)
		return false;
	m->stack_depth -= 2;
	s = &m->stack[m->stack_depth - 1];
	if (!s[0].state)
		s[0] = s[0].value != 0 ? s[1] : s[2];
	return true;
}

static bool apply_top_operator(struct metric_machine *m, char op)
{
	if (m->stack_depth < 2)
		return false;
	m->stack_depth--;
	m->stack[m->stack_depth - 1] =
		apply_operator(op, m->stack[m->stack_depth - 1], m->stack[m->stack_depth]);
	return true;
}

static bool negate_top(struct metric_machine *m)
{
	struct metric_number *top;

	if (m->stack_depth == 0)
		return false;
	top = &m->stack[m->stack_depth - 1];
	top->value = -top->value;
	top->derivative = -top->derivative;
	return true;
}

/* Applies an operator to two numbers. False for other operators and if the result is not finite. */
static bool apply_plain_operator(char op, double *a, double b)
{
	switch (op) {
	case '+': *a += b; break;
	case '-': *a -= b; break;
	case '*': *a *= b; break;
	case '/': *a /= b; break; /* not finite for divisor 0 */
	case '<': *a = *a < b; break;
	case '>': *a = *a > b; break;
	case '[': *a = *a <= b; break;
	case ']': *a = *a >= b; break;
	case '&': *a = *a != 0 && b != 0; break;
	case '|': *a = *a != 0 || b != 0; break;
	case 'm': *a = b < *a ? b : *a; break;
	case 'M': *a = b > *a ? b : *a; break;
	default: return false;
	}
	return metric_is_finite(*a);
}

/* Computes the value of code without derivatives and reasons. False if any step is undefined, which
 * is rare: struct metric_machine then runs the code. */
static bool run_plain_code(const char *code, const pfm_metric_operand_t *inputs, unsigned n,
                           const struct metric_number *own, double *out)
{
	double stack[METRIC_MAX_STACK], slots[METRIC_MAX_SLOTS];
	unsigned depth = 0, n_slots = 0, step;
	uint64_t x;

	for (; (step = read_instruction(code, &x)) && depth < METRIC_MAX_STACK; code += step) {
		switch (*code) {
		case 'e':
			if (x >= n || !inputs[x].known || !metric_is_finite(inputs[x].value))
				return false;
			stack[depth++] = inputs[x].value;
			break;
		case 'i':
		case 'j': stack[depth++] = (double)x; break;
		case 'v':
			if (!own || own->state)
				return false;
			stack[depth++] = own->value;
			break;
		case 'k':
			memcpy(&stack[depth], &x, sizeof(x));
			if (!metric_is_finite(stack[depth++]))
				return false;
			break;
		case 's':
			if (!depth || x != n_slots || x >= METRIC_MAX_SLOTS)
				return false;
			slots[n_slots++] = stack[depth - 1];
			break;
		case 'l':
			if (x >= n_slots)
				return false;
			stack[depth++] = slots[x];
			break;
		case '?':
			if (depth < 3)
				return false;
			depth -= 2;
			stack[depth - 1] = stack[depth - 1] != 0 ? stack[depth] : stack[depth + 1];
			break;
		default:
			if (depth < 2 ||
			    !apply_plain_operator(*code, &stack[depth - 2], stack[depth - 1]))
				return false;
			depth--;
		}
	}
	if (*code || depth != 1)
		return false;
	*out = stack[0];
	return true;
}

int pfmi_metric_run_code(const char *code, const pfm_metric_operand_t *inputs, unsigned n,
                         unsigned along, const struct metric_number *own, struct metric_number *out)
{
	struct metric_machine m;
	bool ok = true;
	uint64_t x;
	unsigned step;

	*out = (struct metric_number){ .state = PFM_METRIC_DEFINED };
	if (along == n && run_plain_code(code, inputs, n, own, &out->value))
		return PFMLIB_SUCCESS;
	m.stack_depth = m.n_slots = 0;
	for (; ok && (step = read_instruction(code, &x)); code += step) {
		switch (*code) {
		case 'e': ok = x < n && push_input(&m, &inputs[x], x == along); break;
		case 'i':
		case 'j': ok = push_number(&m, make_number((double)x, 0)); break;
		case 'k': ok = push_double_bits(&m, x); break;
		case 'v': ok = own && push_number(&m, *own); break;
		case 's': ok = store_slot(&m, x); break;
		case 'l': ok = x < m.n_slots && push_number(&m, m.slots[x]); break;
		case '~': ok = negate_top(&m); break;
		case '?': ok = apply_conditional(&m); break;
		default: ok = apply_top_operator(&m, *code); break;
		}
	}
	if (!ok || *code || m.stack_depth != 1)
		return PFMLIB_ERR_INVAL;
	*out = m.stack[0];
	return PFMLIB_SUCCESS;
}
