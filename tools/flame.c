/* SPDX-License-Identifier: MIT */
/* A flame graph: every stack a column of boxes, as wide as its share, what called below what was
 * called. One file, with the few lines of script that make a click on a box show that box alone. */
#include <stdlib.h>
#include <string.h>
#include "pfm.h"
#include "profile/profile.h"
#include "text_output.h"
#include "profile_messages.h"

enum { GRAPH_WIDTH = 1200, ROW_HEIGHT = 17, TOP_MARGIN = 40 };

/* A stack; how far it has been drawn. */
struct flame_line {
	const char *text, *frame; /* frame: the one of this depth, NULL after the last */
	size_t len;
	uint64_t weight;
	bool joined; /* agrees with the line before it so far */
};

static int compare_texts(const void *a, const void *b)
{
	const struct flame_line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* On to the frame of depth @depth, from that above it. */
static void next_frame(struct flame_line *l, unsigned depth)
{
	if (depth == 0)
		l->frame = l->text;
	else if (l->frame)
		l->frame = l->frame[l->len] ? l->frame + l->len + 1 : NULL;
	l->len = l->frame ? strcspn(l->frame, ";") : 0;
}

static unsigned stack_depth(const char *s)
{
	unsigned n = 1;

	for (; *s; s++)
		n += *s == ';';
	return n;
}

static unsigned warm_colour(const char *s, size_t n)
{
	unsigned h = 5381;

	while (n--)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

static void put_box(FILE *out, const char *name, size_t len, double x, double width, unsigned depth,
                    uint64_t weight, uint64_t total)
{
	unsigned h = warm_colour(name, len);

	fprintf(out, "<g data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\"><title>", x, width, depth);
	put_xml_text(out, name, len);
	fprintf(out, ", %.2f%% (%llu)</title><rect fill=\"rgb(%u,%u,%u)\"/><text>",
	        100.0 * (double)weight / (double)total, (unsigned long long)weight, 205 + h % 50,
	        80 + h / 50 % 120, h / 6000 % 55);
	put_xml_text(out, name, len);
	fputs("</text></g>\n", out);
}

/* Boxes of one depth: neighbours that agree up to it are one. */
static void put_level(FILE *out, struct flame_line *lines, size_t n, unsigned depth, uint64_t total)
{
	uint64_t before = 0, weight;
	size_t end;

	for (size_t i = 0; i < n; i++) {
		next_frame(&lines[i], depth);
		lines[i].joined = i && (lines[i].joined || depth == 0) && lines[i].frame &&
		                  lines[i - 1].frame && lines[i].len == lines[i - 1].len &&
		                  memcmp(lines[i].frame, lines[i - 1].frame, lines[i].len) == 0;
	}
	for (size_t i = 0; i < n; i = end, before += weight) {
		weight = lines[i].weight;
		for (end = i + 1; end < n && lines[end].joined; end++)
			weight += lines[end].weight;
		if (lines[i].len)
			put_box(out, lines[i].frame, lines[i].len, (double)before / (double)total,
			        (double)weight / (double)total, depth, weight, total);
	}
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
	"g.querySelector('rect'), t = "
	"g.querySelector('text');\n"
	"    g.style.display = inside && pw > 0.3 ? '' : 'none';\n"
	"    g.style.opacity = below ? 0.5 : 1;\n"
	"    const y = H - 10 - (gd + 1) * R;\n"
	"    r.setAttribute('x', px); r.setAttribute('y', y); r.setAttribute('width', Math.max(pw "
	"- 0.5, 0.3)); r.setAttribute('height', "
	"R - 1);\n"
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

int put_flame_graph(const struct profile *p, FILE *out, const char *title)
{
	struct flame_line *lines = calloc(p->n_stacks + 1, sizeof(*lines));
	unsigned depth = 0;
	uint64_t total = 0;

	if (!lines)
		return report_no_memory();
	for (size_t i = 0; i < p->n_stacks; i++) {
		lines[i] = (struct flame_line){ .text = p->texts.text[p->stacks[i].function],
			                        .weight = p->stacks[i].weight };
		total += lines[i].weight;
		if (stack_depth(lines[i].text) > depth)
			depth = stack_depth(lines[i].text);
	}
	qsort(lines, p->n_stacks, sizeof(*lines), compare_texts);
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
	        "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
	        "font-family=\"monospace\" font-size=\"11\">\n<style>g{cursor:pointer}g:hover "
	        "rect{stroke:#000}</style>\n"
	        "<text id=\"whole\" x=\"10\" y=\"20\" style=\"cursor:pointer\">",
	        GRAPH_WIDTH, TOP_MARGIN + 10 + depth * ROW_HEIGHT);
	put_xml_text(out, title, strlen(title));
	fputs(" (click a box to see it alone, here to see all)</text>\n", out);
	for (unsigned d = 0; d < depth && total; d++)
		put_level(out, lines, p->n_stacks, d, total);
	fputs(svg_script, out);
	fputs("</svg>\n", out);
	free(lines);
	return EXIT_DONE;
}
