/* SPDX-License-Identifier: MIT */
#include "profile/tasks/tasks.h"
#include <stdlib.h>
#include "units.h"

static struct text_pool texts;

static struct recorded_tasks *make_tasks(void)
{
	struct recorded_tasks *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	texts = (struct text_pool){ .n = 0 };
	tasks_begin(t, &texts, NULL);
	return t;
}

static void free_tasks(struct recorded_tasks *t)
{
	tasks_free(t);
	free(t);
	text_pool_free(&texts);
}

static void read_as(struct recorded_tasks *t, pfm_record_t *record, uint32_t type)
{
	record->type = type;
	tasks_read_record(t, record);
}

static const char *name_of(struct recorded_tasks *t, uint32_t tid)
{
	uint32_t name = tasks_find(t, tid)->name;

	return texts.text[name];
}

static const char *name_of_group(struct recorded_tasks *t, uint64_t id)
{
	uint32_t name = tasks_get_cgroup_name(t, id);

	return texts.text[name];
}

static void names_of_tasks(void **state)
{
	struct recorded_tasks *t = make_tasks();
	pfm_record_t comm = PFM_INIT(comm), fork = PFM_INIT(fork);
	uint32_t generation;

	(void)state;
	assert_string_equal(name_of(t, 7), ":7");
	comm.pid = comm.tid = 7;
	comm.body.comm.name = "parent";
	read_as(t, &comm, PFM_RECORD_COMM);
	assert_string_equal(name_of(t, 7), "parent");
	fork.pid = fork.tid = 8;
	fork.body.task.ppid = fork.body.task.ptid = 7;
	read_as(t, &fork, PFM_RECORD_FORK);
	assert_string_equal(name_of(t, 8), "parent");
	generation = tasks_find_or_add_process(t, 7)->generation;
	tasks_forget_names(t);
	assert_int_not_equal(tasks_find_or_add_process(t, 7)->generation, generation);
	assert_int_not_equal(tasks_find_or_add_process(t, 7)->generation,
	                     tasks_find_or_add_process(t, 8)->generation);
	free_tasks(t);
}

static void names_of_control_groups(void **state)
{
	struct recorded_tasks *t = make_tasks();
	pfm_record_t record = PFM_INIT(record);

	(void)state;
	assert_string_equal(name_of_group(t, 5), "[cgroup 5]");
	record.body.cgroup.id = 5;
	record.body.cgroup.path = "/a.slice";
	read_as(t, &record, PFM_RECORD_CGROUP);
	assert_string_equal(name_of_group(t, 5), "/a.slice");
	free_tasks(t);
}

UNIT(profile_tasks, cmocka_unit_test(names_of_tasks), cmocka_unit_test(names_of_control_groups));
