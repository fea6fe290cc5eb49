/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include <stdlib.h>
#include "units.h"

static struct profile p;

static struct profile_reader *make_reader(void)
{
	struct profile_reader *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	p = (struct profile){ .n_places = 0 };
	r->target_profile = &p;
	r->keys = KEY_CGROUP;
	return r;
}

static void free_reader(struct profile_reader *r)
{
	pfmi_base_free_hash(&r->tasks.table);
	pfmi_base_free_hash(&r->processes.table);
	pfmi_base_free_hash(&r->cgroup_table);
	mappings_free(&r->map_pool);
	free(r->tasks.list);
	free(r->processes.list);
	free(r->cgroups);
	free(r);
	profile_free(&p);
}

static const char *name_of(struct profile_reader *r, uint32_t tid)
{
	uint32_t name = tasks_find(r, tid)->name;

	return p.texts.text[name];
}

static const char *name_of_group(struct profile_reader *r, uint64_t id)
{
	uint32_t name = tasks_get_cgroup_name(r, id);

	return p.texts.text[name];
}

static void names_of_tasks(void **state)
{
	struct profile_reader *r = make_reader();
	pfm_record_t comm = PFM_INIT(comm), fork = PFM_INIT(fork);
	uint32_t generation;

	(void)state;
	assert_string_equal(name_of(r, 7), ":7");
	comm.pid = comm.tid = 7;
	comm.body.comm.name = "parent";
	tasks_read_comm(r, &comm);
	assert_string_equal(name_of(r, 7), "parent");
	fork.pid = fork.tid = 8;
	fork.body.task.ppid = fork.body.task.ptid = 7;
	tasks_read_fork(r, &fork);
	assert_string_equal(name_of(r, 8), "parent");
	generation = tasks_find_process(r, 7)->generation;
	tasks_forget_names(r);
	assert_int_not_equal(tasks_find_process(r, 7)->generation, generation);
	assert_int_not_equal(tasks_find_process(r, 7)->generation,
	                     tasks_find_process(r, 8)->generation);
	free_reader(r);
}

static void names_of_control_groups(void **state)
{
	struct profile_reader *r = make_reader();
	pfm_record_t record = PFM_INIT(record);

	(void)state;
	assert_string_equal(name_of_group(r, 5), "[cgroup 5]");
	record.body.cgroup.id = 5;
	record.body.cgroup.path = "/a.slice";
	tasks_read_cgroup(r, &record);
	assert_string_equal(name_of_group(r, 5), "/a.slice");
	free_reader(r);
}

UNIT(profile_tasks, cmocka_unit_test(names_of_tasks), cmocka_unit_test(names_of_control_groups));
