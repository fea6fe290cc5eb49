/* SPDX-License-Identifier: MIT */
/* What a table says of a metric, and its code written as a formula again. */
#include <string.h>
#include "base/sizes.h"
#include "metric/metric.h"
#include "machine/machine.h"

int pfmi_metric_find(const struct pfm_ctx *ctx, int pmu, unsigned event, struct metric *out)
{
	ctx = context_or_default(ctx);
	if (pmu < 0 || (unsigned)pmu >= context_count_pmus(ctx) || !context_is_pmu_usable(ctx, (unsigned)pmu) ||
	    event >= context_pmu_table(ctx, (unsigned)pmu)->n_rows)
		return PFMLIB_ERR_INVAL;
	out->table = context_pmu_table(ctx, (unsigned)pmu);
	out->row = event;
	out->code = pfmi_row_text(out->table, event, KEY_METRIC);
	out->threshold = pfmi_row_text(out->table, event, KEY_METRIC_THRESHOLD);
	return table_row(out->table, event)->flags & ROW_METRIC && *out->code ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND;
}

/* ---- inputs ---------------------------------------------------------------------------------------------------------- */

/* Where among the row's values input @i is; n_values if it has fewer. Each input is a value of its own. */
static unsigned input_at(const struct metric *m, unsigned i)
{
	const struct row *r = table_row(m->table, m->row);
	unsigned key = table_key(m->table, KEY_METRIC_INPUTS), at = key ? row_next_value(m->table, r, key - 1, 0) : r->n_values;

	for (; i && at < r->n_values; i--)
		at = row_next_value(m->table, r, key - 1, at + 1);
	return at;
}

unsigned pfmi_metric_inputs(const struct metric *m)
{
	const struct row *r = table_row(m->table, m->row);
	unsigned key = table_key(m->table, KEY_METRIC_INPUTS), n = 0;

	for (unsigned at = 0; key && (at = row_next_value(m->table, r, key - 1, at)) < r->n_values; at++)
		n++;
	return n;
}

/* The part of @item up to @mark; @item is left behind it. */
static struct slice take_part(struct slice *item, char mark)
{
	const char *end = memchr(item->s, mark, item->len);
	struct slice part = { item->s, end ? (uint32_t)(end - item->s) : item->len };

	item->s += part.len + (end != NULL);
	item->len -= part.len + (end != NULL);
	return part;
}

bool pfmi_metric_input(const struct metric *m, unsigned i, struct metric_input *out)
{
	const struct row *r = table_row(m->table, m->row);
	unsigned at = input_at(m, i);
	struct slice item;

	if (at == r->n_values)
		return false;
	item = pfmi_slice(table_text(m->table, (uint32_t)row_value(m->table, r, at).value));
	out->name = take_part(&item, '|');
	out->alias = take_part(&item, '|');
	out->preset = item;
	return true;
}

/* How many of the inputs, from the first, @code reads. */
static unsigned inputs_of(const char *code)
{
	unsigned n = 0, step;

	for (; (step = pfmi_metric_step(code)); code += step)
		if (*code == 'e' && pfmi_metric_operand(code) >= n)
			n = (unsigned)pfmi_metric_operand(code) + 1;
	return n;
}

/* ---- answers --------------------------------------------------------------------------------------------------------- */

int pfm_describe_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, pfm_metric_info_t *info)
{
	pfm_metric_info_t full = { .pmu = pmu, .event = event };
	struct metric m;
	int rc = pfmi_sized(info) ? pfmi_metric_find(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	full.name = table_row_name(m.table, event);
	full.desc = table_text(m.table, table_row(m.table, event)->desc);
	full.unit = pfmi_row_text(m.table, event, KEY_UNIT);
	full.groups = pfmi_row_text(m.table, event, KEY_METRIC_GROUP);
	full.parent = pfmi_row_text(m.table, event, KEY_METRIC_PARENT);
	full.level = pfmi_row_has(m.table, event, KEY_METRIC_LEVEL)
	                     ? (unsigned)pfmi_row_value(m.table, event, KEY_METRIC_LEVEL, ANYWHERE)
	                     : 0;
	full.n_inputs = pfmi_metric_inputs(&m);
	full.n_value_inputs = inputs_of(m.code);
	full.has_threshold = *m.threshold != '\0';
	pfmi_give(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

static void append(char *buf, size_t len, struct slice s)
{
	size_t at = strlen(buf), n = at + s.len < len ? s.len : len - 1 - at;

	memcpy(buf + at, s.s, n);
	buf[at + n] = '\0';
}

/* A name of the metric's own table gets that table's name before it. */
static void full_name(const struct metric *m, struct slice name, char *buf, size_t len)
{
	bool own = name.s[0] != '#' && !memchr(name.s, '/', name.len);

	for (uint32_t i = 0; i + 1 < name.len && own; i++)
		own = name.s[i] != ':' || name.s[i + 1] != ':';
	buf[0] = '\0';
	if (own) {
		append(buf, len, pfmi_slice(table_text(m->table, m->table->name)));
		append(buf, len, pfmi_slice("::"));
	}
	append(buf, len, name);
}

int pfm_describe_metric_input(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, pfm_metric_input_t *info)
{
	pfm_metric_input_t full = { 0 };
	struct metric_input in;
	struct metric m;
	char number[32] = "";
	int rc = pfmi_sized(info) ? pfmi_metric_find(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	if (!pfmi_metric_input(&m, i, &in))
		return PFMLIB_ERR_NOTFOUND;
	full.is_constant = in.name.s[0] == '#';
	append(number, sizeof(number), in.preset);
	full.has_preset = *number && pfmi_decimal(number, &full.preset);
	full_name(&m, in.name, full.text, sizeof(full.text));
	append(full.alias, sizeof(full.alias), in.alias);
	pfmi_give(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* ---- formulas -------------------------------------------------------------------------------------------------------- */

#define MAX_PARTS 4096 /* instructions of one code */
#define MAX_TEXT  (1u << 20)

/* Code with the place of each instruction, so that it can be read from its end. */
struct listing {
	const struct metric *m;
	const char *ops[MAX_PARTS];
	uint16_t slot[METRIC_MAX_SLOTS]; /* instruction that fills it */
	unsigned n, n_slots;
	char *buf;
	size_t len, at;
};

static void put(struct listing *l, struct slice s)
{
	for (uint32_t i = 0; i < s.len && l->at < MAX_TEXT; i++, l->at++)
		if (l->at + 1 < l->len)
			l->buf[l->at] = s.s[i];
}

static void put_text(struct listing *l, const char *s)
{
	put(l, pfmi_slice(s));
}

static unsigned operands(char op)
{
	return op == '?' ? 3 : op == '~' || op == 's' ? 1
	               : strchr("eijklv", op)         ? 0
	                                              : 2;
}

/* First instruction of the expression that ends with instruction @end. */
static unsigned start_of(const struct listing *l, unsigned end)
{
	unsigned wanted = 1, i = end + 1;

	while (wanted && i--)
		wanted += operands(*l->ops[i]) - 1;
	return i;
}

static void put_number(struct listing *l, uint64_t x)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + x % 10);
	while (x /= 10);
	put_text(l, p);
}

/* The double that is nearest to a quotient, also where registers have more bits than a double. */
static double quotient(double a, double b)
{
	volatile double q = a / b;

	return q;
}

/* A double in its shortest decimal form of up to 15 places: what lists contain. */
static void put_double(struct listing *l, uint64_t bits)
{
	double v, power = 1;
	unsigned places = 0;

	memcpy(&v, &bits, sizeof(v));
	put_text(l, v < 0 ? "-" : "");
	v = v < 0 ? -v : v;
	while (v >= 1e18) {
		v /= 10;
		places++;
	}
	if (places) {
		put_number(l, (uint64_t)v);
		put_text(l, "e");
		put_number(l, places);
		return;
	}
	/* The quotient of two numbers that a double has exactly is what reading their digits gives. */
	while (places < 15 && v * power < 1e17 && quotient((double)(uint64_t)(v * power + 0.5), power) != v) {
		power *= 10;
		places++;
	}
	put_number(l, (uint64_t)(v * power + 0.5) / (uint64_t)power);
	put_text(l, places ? "." : "");
	for (uint64_t part = (uint64_t)(v * power + 0.5) % (uint64_t)power, unit = (uint64_t)power / 10; unit; unit /= 10)
		put_number(l, part / unit % 10);
}

static void put_expression(struct listing *l, unsigned end, unsigned depth);

/* True for a name that the grammar reads without quotes. */
static bool is_plain(struct slice name)
{
	for (uint32_t i = 0; i < name.len; i++) {
		char c = name.s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && !strchr("_.:#=", c))
			return false;
	}
	return name.len && !(name.s[0] >= '0' && name.s[0] <= '9');
}

static void put_name(struct listing *l, struct slice name)
{
	const char *quote = is_plain(name) ? "" : "'";

	put_text(l, quote);
	put(l, name);
	put_text(l, quote);
}

static void put_input(struct listing *l, uint64_t i)
{
	struct metric_input in;

	if (pfmi_metric_input(l->m, (unsigned)i, &in))
		put_name(l, in.name);
}

static void put_leaf(struct listing *l, unsigned i, unsigned depth)
{
	const char *op = l->ops[i];
	uint64_t x = *op == 'v' ? 0 : pfmi_metric_operand(op);

	switch (*op) {
	case 'e': put_input(l, x); break;
	case 'v': put_name(l, pfmi_slice(table_row_name(l->m->table, l->m->row))); break;
	case 'k': put_double(l, x); break;
	case 'l':
		if (x < l->n_slots && l->slot[x])
			put_expression(l, l->slot[x] - 1u, depth + 1);
		break;
	default: put_number(l, x); break;
	}
}

static void put_operator(struct listing *l, unsigned end, unsigned depth)
{
	static const char words[][5] = { "<=", ">=", "==", "!=" };
	char op = *l->ops[end], plain[2] = { op, '\0' };
	const char *mark = strchr("[]=!", op);
	unsigned second = start_of(l, end - 1), first = second - 1;
	bool call = strchr("mMd", op) != NULL;

	put_text(l, op == 'm' ? "min" : op == 'M' ? "max"
	                        : op == 'd'       ? "d_ratio"
	                                          : "");
	put_text(l, "(");
	put_expression(l, first, depth + 1);
	if (call)
		plain[0] = ',';
	put_text(l, call ? "" : " ");
	put_text(l, mark && !call ? words[mark - "[]=!"] : plain);
	put_text(l, " ");
	put_expression(l, end - 1, depth + 1);
	put_text(l, ")");
}

static void put_choice(struct listing *l, unsigned end, unsigned depth)
{
	unsigned third = start_of(l, end - 1), second = start_of(l, third - 1);

	put_text(l, "(");
	put_expression(l, third - 1, depth + 1);
	put_text(l, " if ");
	put_expression(l, second - 1, depth + 1);
	put_text(l, " else ");
	put_expression(l, end - 1, depth + 1);
	put_text(l, ")");
}

/* The expression that ends with instruction @end. Code was run once before, so it is whole. */
static void put_expression(struct listing *l, unsigned end, unsigned depth)
{
	char op = *l->ops[end];

	if (depth > 512 || l->at >= MAX_TEXT)
		return;
	if (op == 's') {
		put_expression(l, end - 1, depth + 1);
	} else if (op == '~') {
		put_text(l, "-");
		put_expression(l, end - 1, depth + 1);
	} else if (op == '?') {
		put_choice(l, end, depth);
	} else if (operands(op)) {
		put_operator(l, end, depth);
	} else {
		put_leaf(l, end, depth);
	}
}

/* Lists the instructions, of which there are some; false if there are too many. */
static bool list_code(struct listing *l, const char *code)
{
	unsigned step;

	for (; (step = pfmi_metric_step(code)); code += step) {
		if (l->n == MAX_PARTS || (*code == 's' && l->n_slots == METRIC_MAX_SLOTS))
			return false;
		if (*code == 's')
			l->slot[l->n_slots++] = (uint16_t)l->n;
		l->ops[l->n++] = code;
	}
	return true;
}

int pfmi_metric_print(const struct metric *m, int threshold, char *buf, size_t len)
{
	struct listing l = { .m = m, .buf = buf, .len = len };
	pfm_metric_count_t none[METRIC_MAX_INPUTS];
	struct cell own = { .state = PFM_METRIC_NOT_COUNTED }, value;
	const char *code = threshold ? m->threshold : m->code;

	if (!*code)
		return PFMLIB_ERR_NOTFOUND;
	memset(none, 0, sizeof(none));
	if (pfmi_metric_run(code, none, pfmi_metric_inputs(m), METRIC_MAX_INPUTS, threshold ? &own : NULL, &value) || !list_code(&l, code))
		return PFMLIB_ERR_INVAL;
	put_expression(&l, l.n - 1, 0);
	if (len)
		buf[l.at < len ? l.at : len - 1] = '\0';
	return (int)l.at;
}

int pfm_print_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold, char *buf, size_t len)
{
	struct metric m;
	int rc = buf || !len ? pfmi_metric_find(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL;

	return rc ? rc : pfmi_metric_print(&m, threshold, buf, len);
}
