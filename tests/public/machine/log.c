/* SPDX-License-Identifier: MIT */
/* Messages that a context sends to its callback. */
#include "units.h"
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct messages {
	unsigned n;
	pfm_log_level_t level;
	char topic[16], text[1100];
};

static void store_message(void *data, pfm_log_level_t level, const char *topic, const char *text)
{
	struct messages *m = data;

	m->n++;
	m->level = level;
	snprintf(m->topic, sizeof(m->topic), "%s", topic);
	snprintf(m->text, sizeof(m->text), "%s", text);
}

static pfm_ctx_t *open_logged(struct messages *m, pfm_log_level_t level, const char *images)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx = NULL;

	o.flags = PFM_CTX_NO_HOST | (images ? 0 : PFM_CTX_NO_IMAGES);
	o.images = images;
	o.log = store_message;
	o.log_data = m;
	o.log_level = level;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	return ctx;
}

static void encode_in(pfm_ctx_t *ctx)
{
	pfm_encoding_t e = PFM_INIT(e);

	assert_int_equal(pfm_encode_event(ctx, "skl::INST_RETIRED:ANY_P", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
}

static void debug_level_names_the_table_and_the_row(void **state)
{
	struct messages m = { 0 };
	pfm_ctx_t *ctx = open_logged(&m, PFM_LOG_DEBUG, NULL);

	(void)state;
	encode_in(ctx);
	assert_int_equal(m.n, 1);
	assert_int_equal(m.level, PFM_LOG_DEBUG);
	assert_string_equal(m.topic, "lookup");
	assert_non_null(strstr(m.text, "table skl (built in): row INST_RETIRED"));
	pfm_close_context(ctx);
}

static void default_level_has_warnings_only(void **state)
{
	struct messages m = { 0 };
	pfm_ctx_t *ctx = open_logged(&m, PFM_LOG_NONE, NULL);

	(void)state;
	encode_in(ctx);
	assert_int_equal(m.n, 0);
	pfm_close_context(ctx);
}

static void a_damaged_image_is_a_warning_with_its_path(void **state)
{
	struct messages m = { 0 };
	char folder[] = P_tmpdir "/perfmon-log-XXXXXX", path[sizeof(folder) + 16];
	pfm_ctx_t *ctx;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/bad.pmdb", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("not an image", f);
	fclose(f);
	ctx = open_logged(&m, PFM_LOG_WARNING, folder);
	assert_true(pfm_count_pmus(ctx) > 0);
	assert_int_equal(m.n, 1);
	assert_int_equal(m.level, PFM_LOG_WARNING);
	assert_string_equal(m.topic, "image");
	assert_non_null(strstr(m.text, path));
	pfm_close_context(ctx);
	unlink(path);
	rmdir(folder);
}

static void an_unknown_level_is_refused_by_name(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);
	pfm_ctx_t *ctx = NULL;
	char text[200];

	(void)state;
	o.log_level = (pfm_log_level_t)4;
	assert_int_equal(pfm_open_context(&ctx, &o, &error), PFMLIB_ERR_INVAL);
	pfm_explain_error(NULL, NULL, &error, text, sizeof(text));
	assert_non_null(strstr(text, "log_level"));
}

UNIT(machine_log, cmocka_unit_test(debug_level_names_the_table_and_the_row),
     cmocka_unit_test(default_level_has_warnings_only),
     cmocka_unit_test(a_damaged_image_is_a_warning_with_its_path),
     cmocka_unit_test(an_unknown_level_is_refused_by_name));
