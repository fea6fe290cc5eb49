/* SPDX-License-Identifier: MIT */
/* Folded stacks: "task;outer;inner WEIGHT", one line for each stack, for flame graph programs. */
#include "export/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "profile/render/folded_stacks.h"

static void put_names(const struct export_reader *r, const struct export_location *l, FILE *out)
{
	for (unsigned i = 0; i < l->n_names; i++) {
		putc(';', out);
		put_folded_name(out, export_name(r, l, i));
		if (i)
			fputs("_[i]", out);
		else if (l->mode == PFM_MISC_KERNEL)
			fputs("_[k]", out);
	}
}

static void put_stack(struct exporter *e, const struct export_row *row, FILE *out)
{
	const struct whole_stack *stack = &e->stacks.list[row->stack];

	put_folded_name(out, export_text(e->reader, row->task));
	for (uint32_t i = stack->n; i-- > 0;)
		put_names(e->reader, &e->reader->locations[e->stacks.frames[stack->first + i]],
		          out);
}

/* Adds a row to the line of its stack: several addresses may have one name. */
static void add_to_line(struct exporter *e, const struct export_row *row)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		put_stack(e, row, out);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	e->failed |= !add_folded_line(e->state, text, row->weight);
}

static void end_file(struct exporter *e)
{
	for (size_t i = 0; i < e->rows.n && !e->failed; i++)
		add_to_line(e, &e->rows.list[i]);
	sort_folded_lines(e->state);
	write_folded_lines(e->out, e->state, &e->reader->losses);
}

static void free_state(struct exporter *e)
{
	free_folded_stacks(e->state);
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
	.state_size = sizeof(struct folded_stacks),
	.row_keys = ROW_TASK,
	.end = end_file,
	.release = free_state,
	.check = check_folded,
};
