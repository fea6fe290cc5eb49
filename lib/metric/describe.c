/* SPDX-License-Identifier: MIT */
/* The description of a metric, and its formula written from its code. */
#include <string.h>
#include "base/sizes.h"
#include "metric/metric.h"
#include "machine/machine.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The index of input @i among the row's values; n_values if the metric has fewer inputs. Each input
 * is one value. */
static unsigned find_input_value(const struct metric *m, unsigned i)
{
	const struct row *r = table_get_row(m->table, m->row);
	unsigned key = table_get_key_field_plus1(m->table, KEY_METRIC_INPUTS),
		 at = key ? table_find_next_row_value(m->table, r, key - 1, 0) : r->n_values;

	for (; i && at < r->n_values; i--)
		at = table_find_next_row_value(m->table, r, key - 1, at + 1);
	return at;
}

unsigned pfmi_metric_count_inputs(const struct metric *m)
{
	const struct row *r = table_get_row(m->table, m->row);
	unsigned key = table_get_key_field_plus1(m->table, KEY_METRIC_INPUTS), n = 0;

	for (unsigned at = 0;
	     key && (at = table_find_next_row_value(m->table, r, key - 1, at)) < r->n_values; at++)
		n++;
	return n;
}

/* Returns the part of @item up to @mark; @item becomes the rest after it. */
static struct slice split_at_mark(struct slice *item, char mark)
{
	const char *end = memchr(item->text, mark, item->len);
	struct slice part = { item->text, end ? (uint32_t)(end - item->text) : item->len };

	item->text += part.len + (end != NULL);
	item->len -= part.len + (end != NULL);
	return part;
}

bool pfmi_metric_get_input(const struct metric *m, unsigned i, struct metric_input *out)
{
	const struct row *r = table_get_row(m->table, m->row);
	unsigned at = find_input_value(m, i);
	struct slice item;

	if (at == r->n_values)
		return false;
	item = pfmi_base_make_slice(
		table_get_text(m->table, (uint32_t)table_get_row_value(m->table, r, at).value));
	out->name = split_at_mark(&item, '|');
	out->alias = split_at_mark(&item, '|');
	out->preset = item;
	return true;
}

/* 1 + the highest number of the inputs that @code reads. */
static unsigned count_value_inputs(const char *code)
{
	unsigned n = 0, step;

	for (; (step = pfmi_metric_get_instruction_length(code)); code += step)
		if (*code == 'e' && pfmi_metric_get_operand(code) >= n)
			n = (unsigned)pfmi_metric_get_operand(code) + 1;
	return n;
}

/* ---- answers --------------------------------------------------------------------------------- */

int pfm_describe_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, pfm_metric_info_t *info)
{
	pfm_metric_info_t full = { .pmu = pmu, .event = event };
	struct metric m;
	int rc = base_has_struct_size(info) ? pfmi_metric_find_by_row(ctx, pmu, event, &m)
	                                    : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	full.name = table_get_row_name(m.table, event);
	full.desc = table_get_text(m.table, table_get_row(m.table, event)->desc);
	full.unit = pfmi_table_get_row_text(m.table, event, KEY_UNIT);
	full.groups = pfmi_table_get_row_text(m.table, event, KEY_METRIC_GROUP);
	full.parent = pfmi_table_get_row_text(m.table, event, KEY_METRIC_PARENT);
	full.level = pfmi_table_has_row_value(m.table, event, KEY_METRIC_LEVEL)
	                     ? (unsigned)pfmi_table_get_row_value(m.table, event, KEY_METRIC_LEVEL,
	                                                          ANY_COUNTER)
	                     : 0;
	full.n_inputs = pfmi_metric_count_inputs(&m);
	full.n_value_inputs = count_value_inputs(m.code);
	full.has_threshold = *m.threshold_code != '\0';
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

static void append_slice(char *buf, size_t len, struct slice s)
{
	size_t at = strlen(buf), n = at + s.len < len ? s.len : len - 1 - at;

	memcpy(buf + at, s.text, n);
	buf[at + n] = '\0';
}

void pfmi_metric_format_full_name(const struct metric *m, struct slice name, char *buf, size_t len)
{
	bool own = name.text[0] != '#' && !memchr(name.text, '/', name.len);

	for (uint32_t i = 0; i + 1 < name.len && own; i++)
		own = name.text[i] != ':' || name.text[i + 1] != ':';
	buf[0] = '\0';
	if (own) {
		append_slice(buf, len,
		             pfmi_base_make_slice(table_get_text(m->table, m->table->name)));
		append_slice(buf, len, pfmi_base_make_slice("::"));
	}
	append_slice(buf, len, name);
}

int pfm_describe_metric_input(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                              pfm_metric_input_t *info)
{
	pfm_metric_input_t full = { 0 };
	struct metric_input in;
	struct metric m;
	char number[32] = "";
	int rc = base_has_struct_size(info) ? pfmi_metric_find_by_row(ctx, pmu, event, &m)
	                                    : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	if (!pfmi_metric_get_input(&m, i, &in))
		return PFMLIB_ERR_NOTFOUND;
	full.is_constant = in.name.text[0] == '#';
	append_slice(number, sizeof(number), in.preset);
	full.has_preset = *number && pfmi_base_parse_decimal(number, &full.preset);
	pfmi_metric_format_full_name(&m, in.name, full.text, sizeof(full.text));
	append_slice(full.alias, sizeof(full.alias), in.alias);
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* ---- formulas -------------------------------------------------------------------------------- */

#define MAX_INSTRUCTIONS 4096 /* instructions of one code */
#define MAX_FORMULA_SIZE (1u << 20)

/* The instructions of a code, which are read from the last one: code is postfix. */
struct code_listing {
	const struct metric *metric;
	const char *instructions[MAX_INSTRUCTIONS];
	uint16_t slot_instruction[METRIC_MAX_SLOTS]; /* the instruction that fills each slot */
	unsigned n_instructions, n_slots;
	char *buf;
	size_t buf_size, length;
};

static void write_slice(struct code_listing *l, struct slice s)
{
	for (uint32_t i = 0; i < s.len && l->length < MAX_FORMULA_SIZE; i++, l->length++)
		if (l->length + 1 < l->buf_size)
			l->buf[l->length] = s.text[i];
}

static void write_text(struct code_listing *l, const char *s)
{
	write_slice(l, pfmi_base_make_slice(s));
}

static unsigned count_operands(char op)
{
	return op == '?' ? 3 : op == '~' || op == 's' ? 1 : strchr("eijklv", op) ? 0 : 2;
}

/* First instruction of the expression that ends with instruction @end. */
static unsigned find_expression_start(const struct code_listing *l, unsigned end)
{
	unsigned wanted = 1, i = end + 1;

	while (wanted && i--)
		wanted += count_operands(*l->instructions[i]) - 1;
	return i;
}

static void write_number(struct code_listing *l, uint64_t x)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + x % 10);
	while (x /= 10);
	write_text(l, p);
}

/* Rounds a quotient to a double, also where registers have more bits than a double. */
static double divide_doubles(double a, double b)
{
	volatile double q = a / b;

	return q;
}

/* Writes a double in its shortest decimal form of up to 15 places, as lists have it. */
static void write_double(struct code_listing *l, uint64_t bits)
{
	double v, power = 1;
	unsigned places = 0;

	memcpy(&v, &bits, sizeof(v));
	write_text(l, v < 0 ? "-" : "");
	v = v < 0 ? -v : v;
	while (v >= 1e18) {
		v /= 10;
		places++;
	}
	if (places) {
		write_number(l, (uint64_t)v);
		write_text(l, "e");
		write_number(l, places);
		return;
	}
	/* Both numbers are exact doubles, so the quotient equals the double that a reader of the
	 * digits gets. */
	while (places < 15 && v * power < 1e17 &&
	       divide_doubles((double)(uint64_t)(v * power + 0.5), power) != v) {
		power *= 10;
		places++;
	}
	write_number(l, (uint64_t)(v * power + 0.5) / (uint64_t)power);
	write_text(l, places ? "." : "");
	for (uint64_t part = (uint64_t)(v * power + 0.5) % (uint64_t)power,
	              unit = (uint64_t)power / 10;
	     unit; unit /= 10)
		write_number(l, part / unit % 10);
}

static void write_expression(struct code_listing *l, unsigned end, unsigned depth);

/* True for a name that the grammar reads without quotes. */
static bool is_unquoted_name(struct slice name)
{
	for (uint32_t i = 0; i < name.len; i++) {
		char c = name.text[i];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && !strchr("_.:#=", c))
			return false;
	}
	return name.len && !(name.text[0] >= '0' && name.text[0] <= '9');
}

static void write_name(struct code_listing *l, struct slice name)
{
	const char *quote = is_unquoted_name(name) ? "" : "'";

	write_text(l, quote);
	write_slice(l, name);
	write_text(l, quote);
}

static void write_input(struct code_listing *l, uint64_t i)
{
	struct metric_input in;

	if (pfmi_metric_get_input(l->metric, (unsigned)i, &in))
		write_name(l, in.name);
}

static void write_constant_or_input(struct code_listing *l, unsigned i, unsigned depth)
{
	const char *op = l->instructions[i];
	uint64_t x = *op == 'v' ? 0 : pfmi_metric_get_operand(op);

	switch (*op) {
	case 'e': write_input(l, x); break;
	case 'v':
		write_name(l, pfmi_base_make_slice(
				      table_get_row_name(l->metric->table, l->metric->row)));
		break;
	case 'k': write_double(l, x); break;
	case 'l':
		if (x < l->n_slots && l->slot_instruction[x])
			write_expression(l, l->slot_instruction[x] - 1u, depth + 1);
		break;
	default: write_number(l, x); break;
	}
}

static void write_operator(struct code_listing *l, unsigned end, unsigned depth)
{
	static const char words[][5] = { "<=", ">=", "==", "!=" };
	char op = *l->instructions[end], plain[2] = { op, '\0' };
	const char *mark = strchr("[]=!", op);
	unsigned second = find_expression_start(l, end - 1), first = second - 1;
	bool call = strchr("mMd", op) != NULL;

	write_text(l, op == 'm' ? "min" : op == 'M' ? "max" : op == 'd' ? "d_ratio" : "");
	write_text(l, "(");
	write_expression(l, first, depth + 1);
	if (call)
		plain[0] = ',';
	write_text(l, call ? "" : " ");
	write_text(l, mark && !call ? words[mark - "[]=!"] : plain);
	write_text(l, " ");
	write_expression(l, end - 1, depth + 1);
	write_text(l, ")");
}

static void write_conditional(struct code_listing *l, unsigned end, unsigned depth)
{
	unsigned third = find_expression_start(l, end - 1),
		 second = find_expression_start(l, third - 1);

	write_text(l, "(");
	write_expression(l, third - 1, depth + 1);
	write_text(l, " if ");
	write_expression(l, second - 1, depth + 1);
	write_text(l, " else ");
	write_expression(l, end - 1, depth + 1);
	write_text(l, ")");
}

/* Writes the expression that ends with instruction @end. The code was run before, so each operator
 * has its operands. */
static void write_expression(struct code_listing *l, unsigned end, unsigned depth)
{
	char op = *l->instructions[end];

	if (depth > 512 || l->length >= MAX_FORMULA_SIZE)
		return;
	if (op == 's') {
		write_expression(l, end - 1, depth + 1);
	} else if (op == '~') {
		write_text(l, "-");
		write_expression(l, end - 1, depth + 1);
	} else if (op == '?') {
		write_conditional(l, end, depth);
	} else if (count_operands(op)) {
		write_operator(l, end, depth);
	} else {
		write_constant_or_input(l, end, depth);
	}
}

/* Lists the instructions of @code, which is not empty. False if there are too many. */
static bool list_instructions(struct code_listing *l, const char *code)
{
	unsigned step;

	for (; (step = pfmi_metric_get_instruction_length(code)); code += step) {
		if (l->n_instructions == MAX_INSTRUCTIONS ||
		    (*code == 's' && l->n_slots == METRIC_MAX_SLOTS))
			return false;
		if (*code == 's')
			l->slot_instruction[l->n_slots++] = (uint16_t)l->n_instructions;
		l->instructions[l->n_instructions++] = code;
	}
	return true;
}

int pfmi_metric_print_formula(const struct metric *m, int threshold, char *buf, size_t len)
{
	struct code_listing l = { .metric = m, .buf = buf, .buf_size = len };
	pfm_metric_operand_t none[METRIC_MAX_INPUTS];
	struct metric_number own = { .state = PFM_METRIC_NOT_COUNTED }, value;
	const char *code = threshold ? m->threshold_code : m->code;

	if (!*code)
		return PFMLIB_ERR_NOTFOUND;
	memset(none, 0, sizeof(none));
	if (pfmi_metric_run_code(code, none, pfmi_metric_count_inputs(m), METRIC_MAX_INPUTS,
	                         threshold ? &own : NULL, &value) ||
	    !list_instructions(&l, code))
		return PFMLIB_ERR_INVAL;
	write_expression(&l, l.n_instructions - 1, 0);
	if (len)
		buf[l.length < len ? l.length : len - 1] = '\0';
	return (int)l.length;
}

int pfm_print_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold, char *buf,
                     size_t len)
{
	struct metric m;
	int rc = buf || !len ? pfmi_metric_find_by_row(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL;

	return rc ? rc : pfmi_metric_print_formula(&m, threshold, buf, len);
}
