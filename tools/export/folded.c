/* SPDX-License-Identifier: MIT */
/* Folded stacks: "task;outer;inner WEIGHT", one line for each stack, for flame graph programs.
 * Losses follow as a comment, which ends in a word: no reader takes it for a stack. */
#include "export/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/text_output.h"

struct folded {
	struct text_pool lines;  /* stacks as text: several addresses may have one name */
	struct export_rows sums; /* stack: the number of a line */
};

/* Heaviest first; lines that weigh the same are in the order in which they came. */
static int compare_rows(const void *a, const void *b)
{
	const struct export_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static void put_names(const struct export_reader *r, const struct export_location *l, FILE *out)
{
	char line[NAME_LINE];

	for (unsigned i = 0; i < l->n_names; i++) {
		putc(';', out);
		base_put_line(out, export_frame_text(export_name(r, l, i), line));
		if (i)
			fputs("_[i]", out);
		else if (l->mode == PFM_MISC_KERNEL)
			fputs("_[k]", out);
	}
}

static void put_stack(struct exporter *e, const struct export_row *row, FILE *out)
{
	const struct whole_stack *stack = &e->stacks.list[row->stack];
	char line[NAME_LINE];

	base_put_line(out, export_frame_text(export_text(e->reader, row->task), line));
	for (uint32_t i = stack->n; i-- > 0;)
		put_names(e->reader, &e->reader->locations[e->stacks.frames[stack->first + i]],
		          out);
}

/* Adds a row to the line of its stack. */
static void add_to_line(struct exporter *e, const struct export_row *row)
{
	struct folded *f = e->state;
	struct export_row sum = { .samples = row->samples, .weight = row->weight };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	e->failed |= !out;
	if (!out)
		return;
	put_stack(e, row, out);
	e->failed |= fclose(out) != 0 || !text;
	if (!e->failed) {
		sum.stack = text_pool_add(&f->lines, text);
		export_add_row(&f->sums, &sum);
	}
	free(text);
	e->failed |= f->lines.failed || f->sums.failed;
}

static void end_file(struct exporter *e)
{
	struct folded *f = e->state;
	char text[LOSSES_MAX];

	for (size_t i = 0; i < e->rows.n && !e->failed; i++)
		add_to_line(e, &e->rows.list[i]);
	if (f->sums.n)
		qsort(f->sums.list, f->sums.n, sizeof(*f->sums.list), compare_rows);
	for (size_t i = 0; i < f->sums.n; i++)
		fprintf(e->out, "%s %llu\n", f->lines.text[f->sums.list[i].stack],
		        (unsigned long long)f->sums.list[i].weight);
	fprintf(e->out, "# %s\n", print_profile_losses(&e->reader->losses, text));
}

static void free_state(struct exporter *e)
{
	struct folded *f = e->state;

	export_free_rows(&f->sums);
	text_pool_free(&f->lines);
}

/* ---- reading back ---------------------------------------------------------------------------- */

/* Adds the number at the end of the @len bytes at @line to *@sum. False if it is missing. */
static bool add_line_weight(const char *line, size_t len, uint64_t *sum)
{
	size_t digits = 0;

	if (strncmp(line, "# quality: ", 11) == 0)
		return true;
	while (digits < len && isdigit((unsigned char)line[len - digits - 1]))
		digits++;
	if (!digits || digits + 2 > len || line[len - digits - 1] != ' ')
		return false;
	*sum += strtoull(line + len - digits, NULL, 10);
	return true;
}

static const char *check_folded(const struct export_reader *r, const char *path)
{
	uint64_t sum = 0, weight = 0;
	bool is_good = true;
	size_t n = 0;
	char *data = export_read_file(path, &n);

	for (size_t at = 0, len; data && at < n && is_good; at += len + 1) {
		len = strcspn(data + at, "\n");
		is_good = add_line_weight(data + at, len, &sum);
	}
	for (unsigned i = 0; i < r->n_events; i++)
		weight += r->events[i].weight;
	if (!data)
		return "the file cannot be read back";
	free(data);
	if (!is_good)
		return "a line does not end in a weight";
	return sum == weight ? NULL : "the sum of the weights differs from the recording";
}

const struct export_format export_folded = {
	.name = "folded",
	.summary = "one line for each stack, for flame graph programs",
	.suffixes = { ".folded", ".collapsed" },
	.is_sum = true,
	.state_size = sizeof(struct folded),
	.row_keys = ROW_TASK,
	.end = end_file,
	.release = free_state,
	.check = check_folded,
};
