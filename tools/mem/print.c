/* SPDX-License-Identifier: MIT */
/* pfm mem: prints levels, hot lines and shared lines, as text and as JSON. */
#include <stdlib.h>
#include <string.h>
#include "common/columns.h"
#include "mem/print.h"
#include "common/pfm.h"

enum { MAX_PLACES = 16 };

/* ---- text ------------------------------------------------------------------------------------ */

static double get_share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Prints the mean latency in 8 columns. */
static void print_latency(const struct mem_sum *sum)
{
	if (sum->n_latency)
		printf(" %8.1f", (double)sum->latency / (double)sum->n_latency);
	else
		printf(" %8s", "-");
}

static void print_title(const char *text)
{
	printf("\n%s%s%s\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout));
}

static void print_node(uint32_t node)
{
	if (node == MEM_NO_NODE)
		printf(" %5s", "-");
	else
		printf(" %5u", node);
}

static const char *name_operation(enum mem_operation operation)
{
	return operation == MEM_LOAD ? "load" : operation == MEM_STORE ? "store" : "other";
}

enum { NAME_MIN = 16 }; /* columns of a terminal for names, before other columns are left out */

/* The columns that are shown; *@left: those of the name after them, SIZE_MAX in a pipe. */
static unsigned fit_columns(const struct table_column *columns, size_t n, size_t *left)
{
	size_t terminal = term_width(stdout), used = 0;
	unsigned shown = ~0u;

	if (terminal)
		shown = choose_columns(columns, n, terminal > NAME_MIN ? terminal - NAME_MIN : 0);
	for (size_t i = 0; i < n; i++)
		used += shown >> i & 1 ? columns[i].width : 0;
	*left = !terminal ? SIZE_MAX : terminal > used ? terminal - used : 0;
	return shown;
}

static void print_levels(const struct mem_job *job)
{
	const struct mem_lines *m = &job->lines;
	size_t left;
	/* Numbers, nodes, and operations. */
	const struct table_column columns[] = { { 36, 0 },
		                                { job->has_nodes ? 12 : 0, 0 },
		                                { 9, 0 } };

	fit_columns(columns, 3, &left);

	print_title("Where the data was");
	printf("%10s %7s %8s %8s", "samples", "share", "latency", "of all");
	if (job->has_nodes)
		printf(" %5s %5s", "CPU", "data");
	printf("  %-6s level\n", "");
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct mem_level *l = &m->levels[i];
		char number[GROUPED_MAX];

		printf("%10s %6.2f%%", group_digits(l->sum.samples, number),
		       100 * get_share(l->sum.samples, m->all.samples));
		print_latency(&l->sum);
		printf(" %7.2f%%", 100 * get_share(l->sum.latency, m->all.latency));
		if (job->has_nodes) {
			print_node(l->node);
			print_node(l->data_node);
		}
		printf("  %-6s ", name_operation(l->operation));
		put_cut(stdout, l->name, left, CUT_END);
		putchar('\n');
	}
}

static const char *name_sharing(const struct mem_line *l)
{
	return l->is_false_shared ? "false" : l->is_shared ? "true" : "-";
}

/* ---- hot lines ------------------------------------------------------------------------------- */

enum line_column {
	LINE_ADDRESS,
	LINE_SAMPLES,
	LINE_LOADS,
	LINE_STORES,
	LINE_HITM,
	LINE_LATENCY,
	LINE_SHARE,
	LINE_THREADS,
	LINE_SHARING,
	N_LINE_COLUMNS
};

/* Loads and stores of shared lines are shown below, too. */
static const struct table_column line_columns[N_LINE_COLUMNS] = {
	[LINE_ADDRESS] = { 18, 0 }, [LINE_SAMPLES] = { 9, 3 }, [LINE_LOADS] = { 9, 1 },
	[LINE_STORES] = { 9, 1 },   [LINE_HITM] = { 7, 2 },    [LINE_LATENCY] = { 9, 5 },
	[LINE_SHARE] = { 8, 0 },    [LINE_THREADS] = { 8, 4 }, [LINE_SHARING] = { 9, 0 },
};
static const char *const line_titles[N_LINE_COLUMNS] = {
	[LINE_ADDRESS] = "line",  [LINE_SAMPLES] = "samples", [LINE_LOADS] = "loads",
	[LINE_STORES] = "stores", [LINE_HITM] = "HITM",       [LINE_LATENCY] = "latency",
	[LINE_SHARE] = "share",   [LINE_THREADS] = "threads", [LINE_SHARING] = "sharing",
};

static void print_line_column(const struct mem_job *job, const struct mem_line *l,
                              enum line_column column)
{
	const struct mem_sum *all = &job->lines.all;

	switch (column) {
	case LINE_ADDRESS: printf("%#18llx", (unsigned long long)l->address); break;
	case LINE_SAMPLES: printf(" %8llu", (unsigned long long)l->sum.samples); break;
	case LINE_LOADS: printf(" %8llu", (unsigned long long)l->sum.loads); break;
	case LINE_STORES: printf(" %8llu", (unsigned long long)l->sum.stores); break;
	case LINE_HITM: printf(" %6llu", (unsigned long long)l->sum.hitm); break;
	case LINE_LATENCY: print_latency(&l->sum); break;
	case LINE_SHARE:
		printf(" %6.2f%%", 100 * (all->latency ? get_share(l->sum.latency, all->latency)
		                                       : get_share(l->sum.samples, all->samples)));
		break;
	case LINE_THREADS: printf(" %7u", l->n_threads); break;
	default: printf(" %-7s ", name_sharing(l)); break;
	}
}

static void print_line(const struct mem_job *job, const struct mem_line *l, unsigned shown,
                       size_t left)
{
	char name[NAME_LINE];

	for (unsigned i = 0; i < N_LINE_COLUMNS; i++)
		if (shown >> i & 1)
			print_line_column(job, l, (enum line_column)i);
	profile_format_line(export_text(&job->reader, l->object), name);
	put_cut(stdout, name, left, CUT_MIDDLE);
	putchar('\n');
}

static void print_lines(const struct mem_job *job, size_t n)
{
	char count[GROUPED_MAX], title[96];
	size_t left;
	unsigned shown = fit_columns(line_columns, N_LINE_COLUMNS, &left);

	snprintf(title, sizeof(title), "Hot cache lines (of %s)",
	         group_digits(job->lines.n_lines, count));
	print_title(title);
	for (unsigned i = 0; i < N_LINE_COLUMNS; i++)
		if (i == LINE_SHARING)
			printf(" %-8s", line_titles[i]);
		else if (shown >> i & 1)
			printf("%*s", (int)line_columns[i].width, line_titles[i]);
	puts("object");
	for (size_t i = 0; i < n; i++)
		print_line(job, &job->lines.lines[job->order[i]], shown, left);
}

/* ---- shared lines ---------------------------------------------------------------------------- */

/* The first place of a line, and the number of its places. */
static const struct mem_place *find_places(const struct mem_lines *m, uint32_t line, size_t *n)
{
	size_t low = 0, high = m->n_places, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->places[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < m->n_places && m->places[end].line == line; end++)
		;
	*n = end - low;
	return &m->places[low];
}

enum place_column {
	PLACE_OFFSET,
	PLACE_LOADS,
	PLACE_STORES,
	PLACE_HITM,
	PLACE_LATENCY,
	PLACE_THREAD,
	PLACE_TASK,
	N_PLACE_COLUMNS
};

static const struct table_column place_columns[N_PLACE_COLUMNS] = {
	[PLACE_OFFSET] = { 8, 0 }, [PLACE_LOADS] = { 9, 0 },   [PLACE_STORES] = { 9, 0 },
	[PLACE_HITM] = { 7, 3 },   [PLACE_LATENCY] = { 9, 2 }, [PLACE_THREAD] = { 11, 0 },
	[PLACE_TASK] = { 17, 1 },
};
static const char *const place_titles[N_PLACE_COLUMNS] = {
	[PLACE_OFFSET] = "offset", [PLACE_LOADS] = "loads",     [PLACE_STORES] = "stores",
	[PLACE_HITM] = "HITM",     [PLACE_LATENCY] = "latency", [PLACE_THREAD] = "thread",
	[PLACE_TASK] = "task",
};

static void print_place_column(const struct mem_job *job, const struct mem_place *p,
                               enum place_column column)
{
	char task[NAME_LINE];

	switch (column) {
	case PLACE_OFFSET: printf("%#8x", p->offset); break;
	case PLACE_LOADS: printf(" %8llu", (unsigned long long)p->sum.loads); break;
	case PLACE_STORES: printf(" %8llu", (unsigned long long)p->sum.stores); break;
	case PLACE_HITM: printf(" %6llu", (unsigned long long)p->sum.hitm); break;
	case PLACE_LATENCY: print_latency(&p->sum); break;
	case PLACE_THREAD: printf("  %-8d ", (int)p->tid); break;
	default:
		printf("%-16s ", profile_format_line(export_text(&job->reader, p->task), task));
		break;
	}
}

static void print_place_titles(unsigned shown)
{
	for (unsigned i = 0; i < N_PLACE_COLUMNS; i++)
		if (i == PLACE_THREAD)
			printf("  %-9s", place_titles[i]);
		else if (i == PLACE_TASK && shown >> i & 1)
			printf("%-17s", place_titles[i]);
		else if (shown >> i & 1)
			printf("%*s", (int)place_columns[i].width, place_titles[i]);
	puts("function");
}

static void print_places(const struct mem_job *job, uint32_t line)
{
	const struct mem_line *l = &job->lines.lines[line];
	size_t n, left;
	const struct mem_place *places = find_places(&job->lines, line, &n);
	unsigned shown = fit_columns(place_columns, N_PLACE_COLUMNS, &left);

	printf("%#llx: %u threads%s\n", (unsigned long long)l->address, l->n_threads,
	       l->is_false_shared ? " use different bytes: false sharing" : " share bytes");
	print_place_titles(shown);
	for (size_t i = 0; i < n && i < MAX_PLACES; i++) {
		char function[NAME_LINE];

		for (unsigned k = 0; k < N_PLACE_COLUMNS; k++)
			if (shown >> k & 1)
				print_place_column(job, &places[i], (enum place_column)k);
		profile_format_line(export_text(&job->reader, places[i].function), function);
		put_cut(stdout, function, left, CUT_NAME);
		putchar('\n');
	}
	if (n > MAX_PLACES)
		printf("%8s %zu more places; --json shows all\n", "", n - MAX_PLACES);
}

static void print_sharing(const struct mem_job *job)
{
	size_t n = 0;

	for (size_t i = 0; i < job->lines.n_lines; i++) {
		uint32_t line = job->order[i];

		if (!job->lines.lines[line].is_shared)
			continue;
		if (job->line_limit && n == job->line_limit)
			break;
		if (n++ == 0)
			print_title("Shared cache lines");
		else
			putchar('\n');
		print_places(job, line);
	}
}

void print_mem_text(const struct mem_job *job)
{
	const struct mem_sum *all = &job->lines.all;
	char samples[GROUPED_MAX], loads[GROUPED_MAX], stores[GROUPED_MAX], hitm[GROUPED_MAX],
		remote[GROUPED_MAX], text[NAME_LINE];
	size_t n = job->lines.n_lines;

	if (!all->samples)
		return;
	snprintf(text, sizeof(text),
	         "%s samples of accesses: %s loads, %s stores; %s found the line modified by "
	         "another core (HITM), %s of them in another node",
	         group_digits(all->samples, samples), group_digits(all->loads, loads),
	         group_digits(all->stores, stores), group_digits(all->hitm, hitm),
	         group_digits(all->remote_hitm, remote));
	term_wrap(stdout, 0, 2, text);
	if (!job->has_latency)
		puts("The samples have no latencies.");
	print_levels(job);
	if (n)
		print_lines(job,
		            job->line_limit && job->line_limit < n ? (size_t)job->line_limit : n);
	print_sharing(job);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_sum(struct json *j, const struct mem_sum *sum)
{
	put_count(j, "samples", sum->samples);
	put_count(j, "loads", sum->loads);
	put_count(j, "stores", sum->stores);
	put_count(j, "hitm", sum->hitm);
	put_count(j, "remote_hitm", sum->remote_hitm);
	if (sum->n_latency)
		put_real(j, "latency", (double)sum->latency / (double)sum->n_latency);
	else
		put_null(j, "latency");
	put_count(j, "total_latency", sum->latency);
}

static void put_node(struct json *j, const char *key, uint32_t node)
{
	if (node == MEM_NO_NODE)
		put_null(j, key);
	else
		put_count(j, key, node);
}

static void put_level(struct json *j, const struct mem_level *l)
{
	put_begin(j, NULL, '{');
	put_text(j, "kind", "level");
	put_text(j, "operation", name_operation(l->operation));
	put_text(j, "level", l->name);
	put_node(j, "cpu_node", l->node);
	put_node(j, "data_node", l->data_node);
	put_sum(j, &l->sum);
	put_end(j, '}');
	put_line(j);
}

static void put_cache_line(struct json *j, const struct mem_job *job, uint32_t line)
{
	const struct mem_line *l = &job->lines.lines[line];
	size_t n;
	const struct mem_place *places = find_places(&job->lines, line, &n);

	put_begin(j, NULL, '{');
	put_text(j, "kind", "line");
	put_hex(j, "address", l->address);
	if (l->physical)
		put_hex(j, "physical", l->physical);
	put_text(j, "object", export_text(&job->reader, l->object));
	put_count(j, "threads", l->n_threads);
	put_text(j, "sharing", l->is_shared ? name_sharing(l) : "none");
	put_sum(j, &l->sum);
	put_begin(j, "places", '[');
	for (size_t i = 0; i < n; i++) {
		put_begin(j, NULL, '{');
		put_count(j, "offset", places[i].offset);
		put_int(j, "tid", (int32_t)places[i].tid);
		put_text(j, "task", export_text(&job->reader, places[i].task));
		put_text(j, "function", export_text(&job->reader, places[i].function));
		put_sum(j, &places[i].sum);
		put_end(j, '}');
	}
	put_end(j, ']');
	put_end(j, '}');
	put_line(j);
}

void print_mem_json(const struct mem_job *job)
{
	struct json j = { .out = stdout };
	size_t n = job->lines.n_lines;

	if (job->line_limit && job->line_limit < n)
		n = (size_t)job->line_limit;
	for (size_t i = 0; i < job->lines.n_levels; i++)
		put_level(&j, &job->lines.levels[i]);
	for (size_t i = 0; i < n; i++)
		put_cache_line(&j, job, job->order[i]);
}
