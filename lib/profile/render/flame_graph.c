/* SPDX-License-Identifier: MIT */
/* A flame graph: every stack is a column of boxes, as wide as its share, callers below the
 * functions that they call. One SVG file with a short script: a click on a box enlarges it. */
#include "profile/render/flame_graph.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/utf8.h"
#include "base/text_output.h"

enum {
	GRAPH_WIDTH = 1200,
	ROW_HEIGHT = 17,
	TOP_MARGIN = 40,
	BOTTOM_MARGIN = 10,
	CHARACTER_WIDTH = 7
};

/* ---- boxes ----------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	const struct flame_stack *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Advances to the frame of depth @depth from the one before. */
static void advance_to_frame(struct flame_stack *s, unsigned depth)
{
	if (depth == 0)
		s->frame = s->text;
	else if (s->frame)
		s->frame = s->frame[s->frame_length] ? s->frame + s->frame_length + 1 : NULL;
	s->frame_length = s->frame ? strcspn(s->frame, ";") : 0;
}

static unsigned count_stack_frames(const char *s)
{
	unsigned n = 1;

	for (; *s; s++)
		n += *s == ';';
	return n;
}

static bool add_box(struct flame_boxes *b, const struct flame_box *box)
{
	bool failed = false;

	b->boxes = base_grow_list(b->boxes, b->n_boxes, &b->capacity, sizeof(*b->boxes), &failed);
	if (!failed)
		b->boxes[b->n_boxes++] = *box;
	return !failed;
}

/* Adds the boxes of one depth: neighbours with equal frames up to it share a box. False without
 * memory. */
static bool add_boxes_of_depth(struct flame_boxes *b, struct flame_stack *stacks, size_t n,
                               unsigned depth)
{
	uint64_t before = 0;
	size_t end;

	for (size_t i = 0; i < n; i++) {
		advance_to_frame(&stacks[i], depth);
		stacks[i].is_joined =
			i && (stacks[i].is_joined || depth == 0) && stacks[i].frame &&
			stacks[i - 1].frame &&
			stacks[i].frame_length == stacks[i - 1].frame_length &&
			memcmp(stacks[i].frame, stacks[i - 1].frame, stacks[i].frame_length) == 0;
	}
	for (size_t i = 0; i < n; i = end) {
		struct flame_box box = { .name = stacks[i].frame,
			                 .len = stacks[i].frame_length,
			                 .depth = depth,
			                 .weight = stacks[i].weight,
			                 .old_weight = stacks[i].old_weight };

		for (end = i + 1; end < n && stacks[end].is_joined; end++) {
			box.weight += stacks[end].weight;
			box.old_weight += stacks[end].old_weight;
		}
		box.x = (double)before / (double)b->total;
		box.width = (double)box.weight / (double)b->total;
		if (box.len && box.weight && !add_box(b, &box))
			return false;
		before += box.weight;
	}
	return true;
}

bool make_flame_boxes(struct flame_stack *stacks, size_t n, struct flame_boxes *b)
{
	bool has_memory = true;

	*b = (struct flame_boxes){ .boxes = NULL };
	for (size_t i = 0; i < n; i++) {
		unsigned depth = count_stack_frames(stacks[i].text);

		b->depth = depth > b->depth ? depth : b->depth;
		b->total += stacks[i].weight;
		b->old_total += stacks[i].old_weight;
	}
	qsort(stacks, n, sizeof(*stacks), compare_texts);
	for (unsigned depth = 0; has_memory && depth < b->depth && b->total; depth++)
		has_memory = add_boxes_of_depth(b, stacks, n, depth);
	return has_memory;
}

/* ---- SVG ------------------------------------------------------------------------------------- */

void begin_flame_box(FILE *out, const struct flame_box *box)
{
	fprintf(out, "<g data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\"><title>", box->x, box->width,
	        box->depth);
	base_put_xml(out, box->name, box->len);
}

/* Bytes of the name that fit into @size characters. */
static size_t cut_name(const struct flame_box *box, size_t size)
{
	size_t at = 0;

	for (; at < box->len && size; size--) {
		size_t n = utf8_measure_char(box->name + at, box->len - at);

		at += n ? n : 1;
	}
	return at;
}

/* Writes the name, cut to a box of @width pixels. */
static void put_box_name(FILE *out, const struct flame_box *box, double width)
{
	size_t fits = width >= 3 * CHARACTER_WIDTH ? (size_t)(width / CHARACTER_WIDTH) - 1 : 0;

	if (fits < 2)
		return;
	if (cut_name(box, fits) == box->len) {
		base_put_xml(out, box->name, box->len);
		return;
	}
	base_put_xml(out, box->name, cut_name(box, fits - 1));
	fputs("\xe2\x80\xa6", out);
}

static unsigned compute_graph_height(unsigned depth)
{
	return TOP_MARGIN + BOTTOM_MARGIN + depth * ROW_HEIGHT;
}

void end_flame_box(FILE *out, const struct flame_box *box, unsigned depth,
                   struct flame_colour colour)
{
	double x = box->x * GRAPH_WIDTH, width = box->width * GRAPH_WIDTH;
	unsigned y = compute_graph_height(depth) - BOTTOM_MARGIN - (box->depth + 1) * ROW_HEIGHT;

	fprintf(out,
	        "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
	        "fill=\"rgb(%u,%u,%u)\"/><text x=\"%.2f\" y=\"%u\">",
	        x, y, width > 0.8 ? width - 0.5 : 0.3, ROW_HEIGHT - 1, colour.red, colour.green,
	        colour.blue, x + 3, y + ROW_HEIGHT - 5);
	put_box_name(out, box, width);
	fputs("</text></g>\n", out);
}

static const char svg_script[] =
	"<script><![CDATA[\n"
	"const W = 1200, R = 17, H = +document.documentElement.getAttribute('height'), boxes = "
	"[...document.querySelectorAll('g')];\n"
	"function show(x, w, d) {\n"
	"  for (const g of boxes) {\n"
	"    const gx = +g.dataset.x, gw = +g.dataset.w, gd = +g.dataset.d, below = gd < d;\n"
	"    const inside = below ? gx <= x + 1e-6 && gx + gw >= x + w - 1e-6 : gx >= x - 1e-6 && "
	"gx + gw <= x + w + 1e-6;\n"
	"    const px = below ? 0 : (gx - x) / w * W, pw = below ? W : gw / w * W, r = "
	"g.querySelector('rect'), t = g.querySelector('text');\n"
	"    g.style.display = inside && pw > 0.3 ? '' : 'none';\n"
	"    g.style.opacity = below ? 0.5 : 1;\n"
	"    const y = H - 10 - (gd + 1) * R;\n"
	"    r.setAttribute('x', px); r.setAttribute('y', y); r.setAttribute('width', Math.max(pw "
	"- 0.5, 0.3)); r.setAttribute('height', R - 1);\n"
	"    const name = g.querySelector('title').textContent.replace(/, [^,]*$/, ''), fits = "
	"Math.floor(pw / 7) - 1;\n"
	"    t.textContent = fits < 2 ? '' : name.length <= fits ? name : name.slice(0, fits - 1) "
	"+ '\\u2026';\n"
	"    t.setAttribute('x', px + 3); t.setAttribute('y', y + R - 5);\n"
	"  }\n"
	"}\n"
	"for (const g of boxes) g.addEventListener('click', () => show(+g.dataset.x, +g.dataset.w, "
	"+g.dataset.d));\n"
	"document.getElementById('whole').addEventListener('click', () => show(0, 1, 0));\n"
	"show(0, 1, 0);\n"
	"]]></script>\n";

void begin_flame_graph(FILE *out, unsigned depth)
{
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
	        "viewBox=\"0 0 %d %u\" style=\"background:#fff\" "
	        "font-family=\"monospace\" font-size=\"11\">\n"
	        "<style>g{cursor:pointer}g:hover rect{stroke:#000}</style>\n"
	        "<text id=\"whole\" x=\"10\" y=\"20\" style=\"cursor:pointer\">",
	        GRAPH_WIDTH, compute_graph_height(depth), GRAPH_WIDTH, compute_graph_height(depth));
}

void end_flame_title(FILE *out)
{
	fputs(" (click a box to see it alone, here to see all)</text>\n", out);
}

void end_flame_graph(FILE *out)
{
	fputs(svg_script, out);
	fputs("</svg>\n", out);
}

static struct flame_colour choose_warm_colour(const char *s, size_t n)
{
	unsigned h = 5381;

	while (n--)
		h = h * 33 + (unsigned char)*s++;
	return (struct flame_colour){ 205 + h % 50, 80 + h / 50 % 120, h / 6000 % 55 };
}

bool write_flame_graph(FILE *out, const char *title, struct flame_stack *stacks, size_t n)
{
	struct flame_boxes boxes = { .boxes = NULL };
	bool has_memory = make_flame_boxes(stacks, n, &boxes);

	if (has_memory) {
		begin_flame_graph(out, boxes.depth);
		base_put_xml(out, title, strlen(title));
		end_flame_title(out);
		for (size_t i = 0; i < boxes.n_boxes; i++) {
			const struct flame_box *box = &boxes.boxes[i];

			begin_flame_box(out, box);
			fprintf(out, ", %.2f%% (%llu)",
			        100.0 * (double)box->weight / (double)boxes.total,
			        (unsigned long long)box->weight);
			end_flame_box(out, box, boxes.depth,
			              choose_warm_colour(box->name, box->len));
		}
		end_flame_graph(out);
	}
	free(boxes.boxes);
	return has_memory;
}
