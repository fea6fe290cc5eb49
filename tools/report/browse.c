/* SPDX-License-Identifier: MIT */
/* pfm report on a terminal: functions that open to show their callers, a search, and the
 * instructions of a function. */
#include "common/screen.h"
#include "report/browse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/grow.h"

enum {
	SEARCH_MAX = 64,
	FRAME_LINES = 3,  /* title, names of columns, keys */
	DEPTH_SHOWN = 20, /* steps of an indentation */
	TEXT_MAX = 1 << 24
};

struct browser_row {
	uint32_t node;
	unsigned depth;
};

/* Lines of text that cover the functions. */
struct browser_text {
	char *bytes, **lines;
	size_t n, capacity, top;
};

struct browser {
	const struct report_job *job;
	const char *path;
	uint32_t *first,
		*next; /* children of a node, the heaviest first; roots from first[n_nodes] */
	bool *is_open; /* of each node */
	struct browser_row *rows;
	size_t n_rows, capacity, top, chosen;
	unsigned event;
	char search[SEARCH_MAX];
	bool is_searching, has_help, is_over, failed;
	struct browser_text text;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* The profile whose nodes compare_weights() compares: qsort() passes no argument on. */
static const struct profile *sorted;

static int compare_weights(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct profile_node *m = &sorted->nodes[x], *n = &sorted->nodes[y];

	if (m->weight != n->weight)
		return m->weight < n->weight ? -1 : 1;
	return x < y ? 1 : -(x > y);
}

/* Links the nodes. False without memory. */
static bool link_nodes(struct browser *b)
{
	const struct profile *p = &b->job->profile;
	uint32_t *order = malloc((p->n_nodes + 1) * sizeof(*order));

	b->first = malloc((p->n_nodes + 1) * sizeof(*b->first));
	b->next = malloc((p->n_nodes + 1) * sizeof(*b->next));
	b->is_open = calloc(p->n_nodes + 1, sizeof(*b->is_open));
	if (!order || !b->first || !b->next || !b->is_open) {
		free(order);
		return false;
	}
	for (uint32_t i = 0; i <= p->n_nodes; i++)
		b->first[i] = NO_NODE;
	for (uint32_t i = 0; i < p->n_nodes; i++)
		order[i] = i;
	sorted = p;
	qsort(order, p->n_nodes, sizeof(*order), compare_weights);
	for (size_t i = 0; i < p->n_nodes; i++) {
		uint32_t parent = p->nodes[order[i]].parent;
		uint32_t *list = &b->first[parent == NO_NODE ? p->n_nodes : parent];

		b->next[order[i]] = *list;
		*list = order[i];
	}
	free(order);
	return true;
}

static const struct profile_place *get_place(const struct browser *b, uint32_t node)
{
	return &b->job->profile.places[b->job->profile.nodes[node].place];
}

static const char *get_text(const struct browser *b, uint32_t number)
{
	return b->job->profile.texts.text[number];
}

/* Does the search show this root? */
static bool is_shown(const struct browser *b, uint32_t node)
{
	const struct profile_place *at = get_place(b, node);

	return at->event == b->event &&
	       (!*b->search || strcasestr(get_text(b, at->function), b->search) ||
	        strcasestr(get_text(b, at->object), b->search));
}

static void add_row(struct browser *b, uint32_t node, unsigned depth)
{
	b->rows = base_grow_list(b->rows, b->n_rows, &b->capacity, sizeof(*b->rows), &b->failed);
	if (!b->failed)
		b->rows[b->n_rows++] = (struct browser_row){ node, depth };
}

/* Adds @root and what is open below it. */
static void add_open_rows(struct browser *b, uint32_t root)
{
	const struct profile *p = &b->job->profile;
	unsigned depth = 0;

	for (uint32_t node = root; node != NO_NODE && !b->failed;) {
		add_row(b, node, depth);
		if (b->is_open[node] && b->first[node] != NO_NODE) {
			node = b->first[node];
			depth++;
			continue;
		}
		while (node != root && b->next[node] == NO_NODE) {
			node = p->nodes[node].parent;
			depth--;
		}
		node = node == root ? NO_NODE : b->next[node];
	}
}

/* Finds the rows; the chosen one stays in the list. */
static void find_rows(struct browser *b)
{
	uint32_t root = b->first[b->job->profile.n_nodes];

	b->n_rows = 0;
	for (; root != NO_NODE && !b->failed; root = b->next[root])
		if (is_shown(b, root))
			add_open_rows(b, root);
	if (b->chosen >= b->n_rows)
		b->chosen = b->n_rows ? b->n_rows - 1 : 0;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static const char *const help[] = {
	"up, down, page up, page down: move",
	"enter, right: show the callers of the function; enter, left: hide them",
	"/: search for functions and objects; escape shows all again",
	"a: instructions and source lines of the function",
	"e: next event",
	"h: this help",
	"q: back, or end",
};

static size_t count_body_lines(void)
{
	size_t columns, lines;

	screen_size(&columns, &lines);
	return lines > FRAME_LINES ? lines - FRAME_LINES : 1;
}

static void put_row(const struct browser *b, size_t i)
{
	const struct browser_row *row = &b->rows[i];
	const struct profile *p = &b->job->profile;
	const struct profile_node *n = &p->nodes[row->node];
	const struct profile_place *at = get_place(b, row->node);
	const struct profile_sum *sum = get_place_sum(p, at);
	double share = (double)n->weight / (double)sum->weight;
	char line[3 * NAME_LINE], function[NAME_LINE], object[NAME_LINE];
	char sign = b->first[row->node] == NO_NODE ? ' ' : b->is_open[row->node] ? '-' : '+';
	unsigned steps = row->depth < DEPTH_SHOWN ? row->depth : DEPTH_SHOWN;

	profile_format_line(get_text(b, at->function), function);
	profile_format_line(base_name(get_text(b, at->object)), object);
	snprintf(line, sizeof(line),
	         *object == '[' ? "%c %c %6.2f%%  %*s%s  %s" : "%c %c %6.2f%%  %*s%s  [%s]",
	         i == b->chosen ? '>' : ' ', sign, 100 * share, (int)(2 * steps), "", function,
	         object);
	screen_put_line(line, i == b->chosen);
}

static void put_rows(struct browser *b)
{
	size_t n = count_body_lines();

	if (b->chosen < b->top)
		b->top = b->chosen;
	if (b->chosen >= b->top + n)
		b->top = b->chosen - n + 1;
	for (size_t i = 0; i < n; i++)
		if (b->top + i < b->n_rows)
			put_row(b, b->top + i);
		else
			screen_put_line("", false);
}

static void put_code_lines(const struct browser *b)
{
	size_t n = count_body_lines();

	for (size_t i = 0; i < n; i++)
		screen_put_line(b->text.top + i < b->text.n ? b->text.lines[b->text.top + i] : "",
		                false);
}

static void put_help(void)
{
	size_t n = count_body_lines();

	for (size_t i = 0; i < n; i++)
		screen_put_line(i < sizeof(help) / sizeof(help[0]) ? help[i] : "", false);
}

static void put_bottom(const struct browser *b)
{
	char line[SEARCH_MAX + 64];

	if (b->is_searching || *b->search)
		snprintf(line, sizeof(line), "/%s%s", b->search, b->is_searching ? "_" : "");
	else
		snprintf(line, sizeof(line), "h: keys  /: search  enter: callers  a: code  q: end");
	screen_put_line(line, false);
}

static void draw(struct browser *b)
{
	const struct profile *p = &b->job->profile;
	char line[2 * NAME_LINE], event[NAME_LINE], number[GROUPED_MAX];

	snprintf(line, sizeof(line), "%s: %s samples, %s",
	         profile_format_line(get_event_name(p, b->event), event),
	         group_digits(p->samples[b->event], number), b->path);
	screen_begin();
	screen_put_line(line, true);
	screen_put_line(b->text.n ? "" : "      share  function", false);
	if (b->has_help)
		put_help();
	else if (b->text.n)
		put_code_lines(b);
	else
		put_rows(b);
	put_bottom(b);
	screen_end();
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void free_text(struct browser_text *t)
{
	free(t->bytes);
	free(t->lines);
	*t = (struct browser_text){ .n = 0 };
}

/* Becomes pfm annotate, which writes to @to. */
static _Noreturn void become_annotate(const struct browser *b, const char *function, int to)
{
	char event[256];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	snprintf(event, sizeof(event), "%s", get_event_name(&b->job->profile, b->event));
	dup2(null, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	dup2(to, STDERR_FILENO);
	execl("/proc/self/exe", "pfm", "annotate", "-e", event, "--", function, b->path,
	      (char *)NULL);
	_exit(EXIT_REFUSED);
}

static bool ends_in_inlined(const char *function)
{
	static const char suffix[] = " (inlined)";
	size_t len = strlen(function), n = sizeof(suffix) - 1;

	return len > n && strcmp(function + len - n, suffix) == 0;
}

static void read_text(struct browser_text *t, int from)
{
	size_t size = 0, room = 0;
	bool failed = false;

	while (size < TEXT_MAX) {
		ssize_t got;

		if (size + 1 >= room) {
			char *more = realloc(t->bytes, 2 * room + 4096);

			if (!more)
				break;
			t->bytes = more;
			room = 2 * room + 4096;
		}
		got = read(from, t->bytes + size, room - size - 1);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	if (!t->bytes)
		return;
	t->bytes[size] = '\0';
	for (char *line = t->bytes; *line && !failed; line += strcspn(line, "\n") + 1) {
		t->lines = base_grow_list(t->lines, t->n, &t->capacity, sizeof(char *), &failed);
		if (!failed)
			t->lines[t->n++] = line;
	}
	for (char *c = t->bytes; *c; c++)
		*c = *c == '\n' ? '\0' : *c;
}

/* The chosen node, or the function into which its function was inlined. */
static uint32_t find_symbol_node(const struct browser *b)
{
	const struct profile_node *nodes = b->job->profile.nodes;
	uint32_t node = b->rows[b->chosen].node, outer = node;

	while (outer != NO_NODE && ends_in_inlined(get_text(b, get_place(b, outer)->function)))
		outer = b->job->options.tree == CALLER_TREE ? nodes[outer].parent : b->first[outer];
	return outer == NO_NODE ? node : outer;
}

static void show_code(struct browser *b)
{
	const char *function = get_text(b, get_place(b, find_symbol_node(b))->function);
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return;
	fflush(NULL);
	child = fork();
	if (child == 0)
		become_annotate(b, function, ends[1]);
	close(ends[1]);
	if (child > 0) {
		read_text(&b->text, ends[0]);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Moves by @lines down, or up. */
static void move(struct browser *b, long lines)
{
	size_t *at = b->text.n ? &b->text.top : &b->chosen;
	size_t n = b->text.n ? b->text.n : b->n_rows;

	if (lines < 0)
		*at -= (size_t)-lines < *at ? (size_t)-lines : *at;
	else
		*at = *at + (size_t)lines < n ? *at + (size_t)lines : n ? n - 1 : 0;
}

static void open_chosen(struct browser *b, bool opens)
{
	if (b->n_rows && !b->text.n) {
		b->is_open[b->rows[b->chosen].node] = opens;
		find_rows(b);
	}
}

static void choose_next_event(struct browser *b)
{
	const struct profile *p = &b->job->profile;

	for (unsigned i = 1; i <= p->n_events; i++)
		if (p->samples[(b->event + i) % p->n_events]) {
			b->event = (b->event + i) % p->n_events;
			break;
		}
	b->chosen = b->top = 0;
	find_rows(b);
}

static void go_back(struct browser *b)
{
	if (b->has_help)
		b->has_help = false;
	else if (b->text.n)
		free_text(&b->text);
	else if (*b->search)
		*b->search = '\0';
	else
		b->is_over = true;
	find_rows(b);
}

static void obey_search_key(struct browser *b, int key)
{
	size_t n = strlen(b->search);

	if (key == KEY_ESCAPE)
		*b->search = '\0';
	if (key == KEY_ENTER || key == KEY_ESCAPE)
		b->is_searching = false;
	else if ((key == 8 || key == 127) && n)
		b->search[n - 1] = '\0';
	else if (key >= ' ' && key < 127 && n + 1 < SEARCH_MAX)
		snprintf(b->search + n, 2, "%c", key);
	b->chosen = b->top = 0;
	find_rows(b);
}

static void obey_key(struct browser *b, int key)
{
	long page = (long)count_body_lines();

	switch (key) {
	case KEY_END: b->is_over = true; break;
	case KEY_UP: move(b, -1); break;
	case KEY_DOWN: move(b, 1); break;
	case KEY_PAGE_UP: move(b, -page); break;
	case KEY_PAGE_DOWN:
	case ' ': move(b, page); break;
	case KEY_ENTER: open_chosen(b, b->n_rows && !b->is_open[b->rows[b->chosen].node]); break;
	case KEY_RIGHT: open_chosen(b, true); break;
	case KEY_LEFT: open_chosen(b, false); break;
	case '/': b->is_searching = !b->text.n; break;
	case 'a':
		if (b->n_rows && !b->text.n)
			show_code(b);
		break;
	case 'e': choose_next_event(b); break;
	case 'h':
	case '?': b->has_help = !b->has_help; break;
	case KEY_ESCAPE:
		if (b->has_help || b->text.n || *b->search)
			go_back(b);
		break;
	case 'q': go_back(b); break;
	default: break;
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

static volatile sig_atomic_t ended, resized;

static void on_end(int sig)
{
	(void)sig;
	ended = 1;
}

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = on_end };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &act, NULL);
	act.sa_handler = on_resize;
	sigaction(SIGWINCH, &act, NULL);
}

static void run_browser(struct browser *b)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	catch_signals();
	while (!b->is_over && !b->failed && !ended) {
		resized = 0;
		draw(b);
		/* A signal just before poll() does not end it. */
		while (!ended && !resized && poll(&input, 1, 1000) == 0)
			continue;
		for (int key; !b->is_over && (key = screen_read_key()) != KEY_NOTHING;)
			if (b->is_searching)
				obey_search_key(b, key);
			else
				obey_key(b, key);
	}
}

int browse_report(const struct report_job *job, const char *path)
{
	struct browser b = { .job = job, .path = path };
	int status;

	while (b.event + 1 < job->profile.n_events && !job->profile.samples[b.event])
		b.event++;
	b.failed = !link_nodes(&b);
	if (!b.failed) {
		find_rows(&b);
		if (screen_open())
			run_browser(&b);
		screen_close();
	}
	status = b.failed ? report_no_memory() : EXIT_DONE;
	free(b.first);
	free(b.next);
	free(b.is_open);
	free(b.rows);
	free_text(&b.text);
	return status;
}
