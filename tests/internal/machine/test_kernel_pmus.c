/* SPDX-License-Identifier: MIT */
/* PMUs that the kernel exports in sysfs become tables: recorded machines, odd and hostile files,
 * every system call and every allocation failing, and the real file system below a root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lookup/lookup.h"
#include "fake_sys.h"
#include "machine/machine.h"
#include "shared.h"
#include "starve.h"

static struct fake fake;
static struct kernel_info *kernel;

static struct slice slice(const char *s)
{
	return (struct slice){ s, (uint32_t)strlen(s) };
}

static void look(void)
{
	kernel = pfmi_machine_read_kernel_info(&fake.sys);
	assert_non_null(kernel);
	assert_int_equal(fake.n_open, 0);
}

static int done(void **state)
{
	(void)state;
	pfmi_machine_free_kernel_info(kernel);
	kernel = NULL;
	fake_end(&fake);
	return 0;
}

static const struct kernel_pmu *find(const char *name)
{
	return pfmi_machine_find_kernel_pmu(kernel, slice(name));
}

static void check_tables(void)
{
	for (unsigned i = 0; i < kernel->n_pmus; i++) {
		const struct table *t = kernel->pmus[i].table;
		const char *why;

		assert_int_equal(pfmi_table_verify(t, t->size, VERIFY_ALL, &why), PFMLIB_SUCCESS);
	}
}

/* Row called @name of PMU @p, or -1. */
static int row_of(const struct kernel_pmu *p, const char *name)
{
	for (uint32_t i = 0; i < p->table->n_rows; i++)
		if (strcmp(table_get_row_name(p->table, i), name) == 0)
			return (int)i;
	return -1;
}

static uint64_t config_of(const struct kernel_pmu *p, const char *row, unsigned word)
{
	struct event ev;
	uint64_t config[N_CONFIG_WORDS];
	int at = row_of(p, row);

	assert_true(at >= 0);
	pfmi_pmu_init_event(&ev, p->table, (uint32_t)at);
	pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
	return config[word];
}

/* ---- recorded machines ----------------------------------------------------------------------- */

static void hybrid_machine_has_two_core_pmus(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	look();
	assert_int_equal(kernel->paranoid, 2);
	assert_true(kernel->nmi_watchdog);
	assert_true(find("cpu_core")->is_core && !find("cpu_core")->is_uncore);
	assert_string_equal(find("cpu_core")->cpu_list, "0-3");
	assert_int_equal(find("cpu_atom")->instance_types[0], 10);
	assert_string_equal(find("cpu_atom")->cpu_list, "4-7");
	assert_int_equal(config_of(find("cpu_core"), "mem-loads", 0), 0x1cd);
	assert_int_equal(config_of(find("cpu_core"), "mem-loads", 1), 3);
	assert_int_equal(row_of(find("cpu_atom"), "slots"), -1);
	assert_null(find("cpu"));
	check_tables();
}

static void instances_are_one_pmu_in_the_order_of_their_numbers(void **state)
{
	const struct kernel_pmu *cha;

	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	cha = find("uncore_cha");
	assert_int_equal(cha->n_instances, 12);
	for (int i = 0; i < 12; i++)
		assert_int_equal(cha->instance_types[i], 30 + i);
	assert_string_equal(cha->instance_names[10], "uncore_cha_10");
	assert_true(cha->is_uncore);
	assert_string_equal(cha->instance_cpu_lists[11], "0,4");
	assert_ptr_equal(find("uncore_cha_7"), cha);
	assert_int_equal(find("uncore_imc")->n_instances, 2);
	assert_int_equal(find("uncore_imc_free_running")->n_instances, 2);
	check_tables();
}

static void names_that_only_look_numbered_stay_whole(void **state)
{
	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	assert_string_equal(find("amd_l3")->name, "amd_l3");
	assert_string_equal(find("hv_24x7")->name, "hv_24x7");
	assert_null(find("hv_24x"));
	assert_string_equal(find("cpu")->name, "cpu");
}

static void units_of_different_make_are_not_one(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/box_0/type", "8");
	fake_file(&fake, "/sys/bus/event_source/devices/box_0/format/event", "config:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/box_1/type", "9");
	fake_file(&fake, "/sys/bus/event_source/devices/box_1/format/event", "config:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/box_1/format/umask", "config:8-15");
	fake_file(&fake, "/sys/bus/event_source/devices/pair_0/type", "10");
	fake_file(&fake, "/sys/bus/event_source/devices/pair_0/format/event",
	          "config:0,1,2,3,4,5-7");
	look();
	assert_int_equal(kernel->n_pmus, 3);
	assert_null(find("box"));
	assert_string_equal(find("box_1")->name, "box_1");
	assert_string_equal(find("pair_0")->name, "pair");
	/* Neighbouring bits are one range, however they are written. */
	assert_int_equal(table_get_key_field(find("pair")->table, KEY_CODE)->n_ranges, 1);
	assert_int_equal(table_get_key_field(find("pair")->table, KEY_CODE)->width, 8);
	check_tables();
}

/* A PMU with a file of CPUs counts programs, so it is not a box, whatever its name and format
 * are. */
static void cores_and_boxes_are_not_one(void **state)
{
	(void)state;
	fake_begin(&fake);
	for (unsigned i = 0; i < 5; i++) {
		char path[96], type[8];

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/box_%u/type", i);
		snprintf(type, sizeof(type), "%u", 10 + i);
		fake_file(&fake, path, type);
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/box_%u/format/event",
		         i);
		fake_file(&fake, path, "config:0-7");
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/box_%u/%s", i,
		         i == 1 || i == 3 ? "cpus" : "cpumask");
		fake_file(&fake, path, "0-3");
	}
	look();
	assert_int_equal(kernel->n_pmus, 3);
	assert_null(find("box"));
	assert_ptr_equal(find("box_4"), find("box_0"));
	assert_ptr_not_equal(find("box_3"), find("box_1"));
	assert_true(!find("box_0")->is_core && find("box_0")->is_uncore &&
	            find("box_0")->n_instances == 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(find("box_0")->instance_types[i], 10 + 2 * i);
	assert_true(find("box_1")->is_core && !find("box_1")->is_uncore &&
	            find("box_1")->n_instances == 1);
	assert_true(find("box_3")->is_core && find("box_3")->n_instances == 1 &&
	            find("box_3")->instance_types[0] == 13);
	check_tables();
}

/* "hisi_sccl,ddrc" of the vendor's list is every hisi_sccl<die>_ddrc<number>. */
static void dies_and_their_units_are_one(void **state)
{
	static const char *const names[] = { "hisi_sccl1_ddrc0", "hisi_sccl1_ddrc1",
		                             "hisi_sccl3_ddrc0", "hisi_sccl11_ddrc0",
		                             "hisi_sccl3_l3c12", "hisi_sccl3_l3c2",
		                             "imx8_ddr0",        "hisi_sccl1_uncore" };
	char path[128];

	(void)state;
	fake_begin(&fake);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", names[i]);
		fake_file(&fake, path, "9");
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/event",
		         names[i]);
		fake_file(&fake, path, "config:0-7");
	}
	look();
	assert_int_equal(kernel->n_pmus, 4);
	assert_int_equal(find("hisi_sccl_ddrc")->n_instances, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(find("hisi_sccl_ddrc")->instance_names[i], names[i]);
		assert_ptr_equal(find(names[i]), find("hisi_sccl_ddrc"));
		assert_int_equal(
			pfmi_machine_find_instance(find("hisi_sccl_ddrc"), slice(names[i])), i + 1);
	}
	assert_string_equal(find("hisi_sccl_l3c")->instance_names[0], "hisi_sccl3_l3c2");
	assert_null(find("hisi_sccl1_ddrc"));
	assert_string_equal(find("imx8_ddr0")->name, "imx8_ddr0");
	assert_string_equal(find("hisi_sccl1_uncore")->name, "hisi_sccl1_uncore");
	check_tables();
}

static void hexadecimal_addresses_are_instance_numbers_too(void **state)
{
	const struct kernel_pmu *mesh;

	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	mesh = find("mesh");
	assert_non_null(mesh);
	assert_int_equal(mesh->n_instances, 2);
	assert_ptr_equal(find("mesh_fff40"), mesh);
	/* Each box has a CPU of its own. */
	assert_string_not_equal(mesh->instance_cpu_lists[0], mesh->instance_cpu_lists[1]);
}

static void alias_file_is_another_name(void **state)
{
	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	assert_non_null(find("uncore_upi"));
	assert_ptr_equal(find("uncore_upi"), find("uncore_type_5"));
	assert_int_equal(find("uncore_upi")->n_instances, 2);
}

static int (*fake_open)(const struct sys *sys, const char *path, int flags);
static unsigned n_asked, n_missing;

static int counting_open(const struct sys *sys, const char *path, int flags)
{
	int fd = fake_open(sys, path, flags);

	/* The marker of a pretended machine is no file of a PMU. */
	bool is_of_pmu = strncmp(path, "/sys/bus/event_source/", 22) == 0 &&
	                 strcmp(path, PFMI_PRETENDED_PATH) != 0;

	n_asked += is_of_pmu;
	n_missing += is_of_pmu && fd == -ENOENT;
	return fd;
}

/* Each file that is not there costs half of what it costs to list the folder. */
static void opens_only_files_that_the_folder_lists(void **state)
{
	(void)state;
	fake_recorded(&fake, "uncore");
	fake_open = fake.sys.open;
	fake.sys.open = counting_open;
	n_asked = n_missing = 0;
	look();
	assert_true(n_asked > kernel->n_pmus);
	assert_int_equal(n_missing, 0);
}

static int (*list)(const struct sys *sys, const char *path,
                   int (*each)(void *arg, const char *name), void *arg);
static unsigned n_listed;

/* Counts the folders of PMUs. */
static int counted_list(const struct sys *sys, const char *path,
                        int (*each)(void *arg, const char *name), void *arg)
{
	const char *pmu = strstr(path, "/devices/");

	n_listed += pmu && !strchr(pmu + sizeof("/devices/") - 1, '/');
	return list(sys, path, each, arg);
}

static void the_folder_of_a_pmu_is_listed_once(void **state)
{
	unsigned n = 0;

	(void)state;
	fake_recorded(&fake, "uncore");
	list = fake.sys.list_folder;
	fake.sys.list_folder = counted_list;
	n_listed = 0;
	look();
	for (unsigned i = 0; i < kernel->n_pmus; i++)
		n += kernel->pmus[i].n_instances;
	assert_true(kernel->n_pmus > 8);
	assert_int_equal(n_listed, n);
}

static void folders_of_any_number_of_files_are_read(void **state)
{
	char path[64];

	(void)state;
	fake_begin(&fake);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/big/a%03u", i);
		fake_file(&fake, path, "");
	}
	fake_file(&fake, "/sys/bus/event_source/devices/big/type", "77\n");
	fake_file(&fake, "/sys/bus/event_source/devices/big/cpumask", "0-1\n");
	fake_file(&fake, "/sys/bus/event_source/devices/big/format/event", "config:0-7\n");
	fake_file(&fake, "/sys/bus/event_source/devices/big/events/one", "event=0x1\n");
	look();
	assert_int_equal(find("big")->instance_types[0], 77);
	assert_string_equal(find("big")->cpu_list, "0-1");
	assert_int_equal(config_of(find("big"), "one", 0), 1);
}

static void companions_are_not_events(void **state)
{
	const struct kernel_pmu *imc;
	int row;

	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	imc = find("uncore_imc");
	assert_int_equal(imc->table->n_rows, 2);
	row = row_of(imc, "cas_count_read");
	assert_string_equal(pfmi_table_get_row_text(imc->table, (uint32_t)row, KEY_SCALE),
	                    "6.103515625e-5");
	assert_string_equal(pfmi_table_get_row_text(imc->table, (uint32_t)row, KEY_UNIT), "MiB");
	assert_true(table_get_row(imc->table, (uint32_t)row)->flags & ROW_PER_PKG);
	row = row_of(find("mesh"), "occupancy");
	assert_true(table_get_row(find("mesh")->table, (uint32_t)row)->flags & ROW_SNAPSHOT);
}

static void split_fields_keep_their_order(void **state)
{
	const struct table *t;
	const struct field *f;
	uint64_t config[N_CONFIG_WORDS] = { 0 };

	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	t = find("uncore_cha")->table;
	f = table_get_key_field(t, KEY_UMASK);
	assert_int_equal(f->n_ranges, 3);
	assert_int_equal(f->width, 8 + 12 + 11);
	field_insert(f, config, 0x7fffffff);
	assert_true(config[0] == 0x00ffefff0000ff00u);
	assert_true(pfmi_pmu_extract_field(f, config) == 0x7fffffff);
}

static void parameters_must_be_given(void **state)
{
	const struct kernel_pmu *hv;
	struct event ev;
	pfm_error_t why = PFM_INIT(why);
	int row;

	(void)state;
	fake_recorded(&fake, "uncore");
	look();
	hv = find("hv_24x7");
	/* An event whose value is not a number is dropped; the PMU stays. */
	assert_int_equal(row_of(hv, "HPM_INST"), -1);
	row = row_of(hv, "PM_PB_CYC");
	assert_string_equal(pfmi_table_get_row_text(hv->table, (uint32_t)row, KEY_PARAMS), "chip");
	pfmi_pmu_init_event(&ev, hv->table, (uint32_t)row);
	assert_int_equal(pfmi_pmu_check_event(&ev, &why), PFMLIB_ERR_ATTR_MISSING);
	assert_int_equal(why.kind, PFM_KIND_MISSING_VALUE);
	for (unsigned i = 0; i < hv->table->n_fields; i++)
		if (strcmp(table_get_text(hv->table, table_fields(hv->table)[i].name), "chip") == 0)
			assert_true(pfmi_pmu_set_user_field(&ev, i, 3));
	assert_int_equal(pfmi_pmu_check_event(&ev, &why), PFMLIB_SUCCESS);
}

static void core_pmu_with_a_number_answers_to_its_family(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_0/type", "8");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "0-3");
	look();
	assert_string_equal(find("armv8_pmuv3")->name, "armv8_pmuv3_0");
	done(NULL);
	/* With two of them the family says nothing. */
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_0/type", "8");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "0-3");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_1/type", "9");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3_1/cpus", "4-7");
	look();
	assert_null(find("armv8_pmuv3"));
	assert_int_equal(kernel->n_pmus, 2);
}

/* ---- hostile files --------------------------------------------------------------------------- */

#define DEV "/sys/bus/event_source/devices/"

static void odd_files_cost_only_themselves(void **state)
{
	static const char *const formats[][2] = {
		{ "word", "config5:0-7" },
		{ "high", "config:60-64" },
		{ "back", "config:7-0" },
		{ "none", "" },
		{ "text", "event" },
		{ "colon", "config" },
		{ "comma", "config:0-3," },
		{ "minus", "config:-3" },
		{ "many", "config:0,2,4,6,8,10" },
		{ "huge", "config:0-99999999999999999999" },
	};
	static const char *const events[][2] = {
		{ "empty", "" },
		{ "unknown", "nofield=1" },
		{ "toobig", "event=0x100" },
		{ "nan", "event=zz" },
		{ "comma", "event=1," },
		{ "twice", "event=1,event=2" },
		{ "equals", "event==1" },
		{ "question", "event=??" },
		{ "overflow", "event=0x10000000000000000" },
	};
	char path[256];

	(void)state;
	fake_recorded(&fake, "hybrid");
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(path, sizeof(path), DEV "cpu_core/format/x_%s", formats[i][0]);
		fake_file(&fake, path, formats[i][1]);
	}
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(path, sizeof(path), DEV "cpu_core/events/%s", events[i][0]);
		fake_file(&fake, path, events[i][1]);
	}
	fake_file(&fake, DEV "cpu_core/events/cpu-cycles.scale", "1,5");
	fake_file(&fake, DEV "notype/format/event", "config:0-7");
	fake_file(&fake, DEV "badtype/type", "seven");
	fake_file(&fake, DEV "bigtype/type", "4294967296");
	fake_file(&fake, DEV "badcpus/type", "33");
	fake_file(&fake, DEV "badcpus/cpumask", "0-");
	fake_file(&fake, "/sys/devices/system/cpu/online", "all");
	fake_file(&fake, "/proc/sys/kernel/perf_event_paranoid", "very");
	look();
	check_tables();
	assert_int_equal(kernel->paranoid, -100);
	assert_null(find("notype"));
	assert_null(find("badtype"));
	assert_null(find("bigtype"));
	assert_false(find("badcpus")->is_uncore);
	for (unsigned i = 0; i < find("cpu_core")->table->n_fields; i++)
		assert_null(strstr(table_get_text(find("cpu_core")->table,
		                                  table_fields(find("cpu_core")->table)[i].name),
		                   "x_"));
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_int_equal(row_of(find("cpu_core"), events[i][0]), -1);
	assert_string_equal(pfmi_table_get_row_text(
				    find("cpu_core")->table,
				    (uint32_t)row_of(find("cpu_core"), "cpu-cycles"), KEY_SCALE),
	                    "");
	assert_int_equal(config_of(find("cpu_core"), "instructions", 0), 0xc0);
}

/* The name of the row that is found by @name. */
static const char *found_as(const struct table *t, const char *name)
{
	struct slice s = pfmi_base_make_slice(name);

	return table_get_text(t, table_find_name(t, pfmi_table_hash_name(s), s.text, s.len).text);
}

/* Each is found by its exact spelling, and the first by any other. */
static void distinguishes_names_that_fold_together(void **state)
{
	const struct table *t;
	unsigned shadowed = 0;

	(void)state;
	fake_recorded(&fake, "hybrid");
	fake_file(&fake, DEV "cpu_core/events/cpu_cycles", "event=0x99");
	look();
	check_tables();
	t = find("cpu_core")->table;
	for (uint32_t i = 0; i < t->n_rows; i++)
		shadowed += (table_get_row(t, i)->flags & ROW_SHADOWED) != 0;
	assert_int_equal(shadowed, 1);
	assert_string_equal(found_as(t, "cpu_cycles"), "cpu_cycles");
	assert_string_equal(found_as(t, "CPU-CYCLES"), "cpu-cycles");
	assert_string_equal(found_as(t, "cpucycles"), "cpu-cycles");
}

static uint32_t seed = 12345;

static uint32_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

static void random_damage_never_breaks_a_table(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		fake_recorded(&fake, round % 2 ? "hybrid" : "uncore");
		for (unsigned i = 0; i < 60; i++) {
			struct fake_file *f = &fake.files[random_number() % fake.n_files];
			size_t len = strlen(f->text);
			static const char odd[] = "0123456789,-=?:.x_configevnt\n \xff";

			if (len)
				f->text[random_number() % len] =
					odd[random_number() % (sizeof(odd) - 1)];
		}
		look();
		check_tables();
		done(NULL);
	}
}

static void every_call_may_fail(void **state)
{
	static const int errors[] = { ENOENT, EACCES, EIO, EMFILE };

	(void)state;
	for (unsigned call = 0; call < N_FAKE_CALLS; call++)
		for (unsigned on = 0; on < 2; on++)
			for (unsigned at = 1;; at += at < 40 ? 1 : 37) {
				unsigned uses;

				fake_recorded(&fake, "hybrid");
				fake.fail = (enum fake_call)call;
				fake.fail_at = at;
				fake.fail_on = on;
				fake.fail_errno = errors[at % 4];
				look();
				check_tables();
				uses = fake.uses[call];
				done(NULL);
				if (uses < at)
					break;
			}
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	for (unsigned at = 1;; at++) {
		struct kernel_info *k;

		starve_at = at;
		starve_hit = false;
		k = pfmi_machine_read_kernel_info(&fake.sys);
		starve_at = 0;
		assert_int_equal(fake.n_open, 0);
		if (!starve_hit) {
			assert_non_null(k);
			pfmi_machine_free_kernel_info(k);
			return;
		}
		assert_null(k);
	}
}

/* ---- small parts ----------------------------------------------------------------------------- */

static void decimals_do_not_depend_on_the_locale(void **state)
{
	static const char *const locales[] = { "C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
		                               "ps_AF.UTF-8" };
	static const char *const bad[] = { "",    ".",   "1,5", "1.5 ",  " 1", "0x10",
		                           "nan", "inf", "1e",  "1.2.3", "--1" };
	double v;

	(void)state;
	for (unsigned i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
		if (!setlocale(LC_ALL, locales[i]))
			continue;
		assert_true(pfmi_base_parse_decimal("2.3283064365386962890625e-10", &v));
		assert_true(v == 1.0 / 4294967296.0);
		assert_true(pfmi_base_parse_decimal("6.103515625e-5", &v) && v == 1.0 / 16384);
		assert_true(pfmi_base_parse_decimal("1", &v) && v == 1);
		assert_true(pfmi_base_parse_decimal("-.5", &v) && v == -0.5);
		for (unsigned k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
			assert_false(pfmi_base_parse_decimal(bad[k], &v));
	}
	setlocale(LC_ALL, "C");
}

static void the_base_of_an_instance_ends_before_its_number(void **state)
{
	static const struct {
		const char *name;
		size_t base;
	} rows[] = {
		{ "uncore_cha_0", 10 },
		{ "uncore_cha_11", 10 },
		{ "cpu", 3 },
		{ "hisi_sccl1_ddrc0", 15 },
		{ "amd_l3", 5 },
		{ "smmuv3_pmcg_fff40", 11 },
		{ "cpum_cf", 7 },
		{ "i915", 1 },
		{ "_0", 1 },
		{ "0", 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(pfmi_machine_measure_instance_base(rows[i].name), rows[i].base);
}

/* ---- the real file system -------------------------------------------------------------------- */

static char folder[] = P_tmpdir "/perfmon-kernel-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", folder, path);
	for (char *p = full + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int collect(void *arg, const char *name)
{
	char *all = arg;

	strcat(strcat(all, name), " ");
	return 0;
}

static int follows(void *arg, const char *name)
{
	unsigned *n = arg;
	char expected[16];

	snprintf(expected, sizeof(expected), "name-%03u", (*n)++);
	assert_string_equal(name, expected);
	return 0;
}

static int follows_to_100(void *arg, const char *name)
{
	follows(arg, name);
	return *(unsigned *)arg == 100 ? -ECANCELED : 0;
}

static void real_files_below_a_root(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} numbers[] = {
		{ "0", 0, 0 },
		{ "0X1Ff", 0, 0x1ff },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -EINVAL, 77 },
		{ "0x10000000000000000", -EINVAL, 77 },
		{ "0x", -EINVAL, 77 },
		{ "12a", -EINVAL, 77 },
		{ "0xg", -EINVAL, 77 },
		{ "-1", -EINVAL, 77 },
		{ "1 ", -EINVAL, 77 },
	};
	struct sys sys;
	char buf[16], path[512], all[128] = "", deep[8 * sizeof(path)] = "";
	struct host host;
	uint64_t v;
	unsigned n = 0;
	int n_read;
	void *page;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s///", folder);
	pfmi_machine_init_real_sys(&sys, path);
	assert_string_equal(sys.root, folder);
	put("/a/text", "hello\n");
	put("/a/number", "0x1f\n");
	put("/a/long", "0123456789abcdef");
	put("/a/B", "12x\n");
	put("/a/empty", "");
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/a/text", buf, sizeof(buf)), 5);
	assert_string_equal(buf, "hello");
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/a/long", buf, sizeof(buf)), -EFBIG);
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/a/none", buf, sizeof(buf)), -ENOENT);
	assert_true(pfmi_machine_read_small_file(&sys, "/a", buf, sizeof(buf)) < 0);
	assert_int_equal(pfmi_machine_read_number(&sys, "/a/number", &v), 0);
	assert_int_equal(v, 0x1f);
	assert_int_equal(pfmi_machine_read_number(&sys, "/a/B", &v), -EINVAL);
	assert_int_equal(pfmi_machine_read_number(&sys, "/a/empty", &v), -EINVAL);
	assert_int_equal(sys.list_folder(&sys, "/a", collect, all), 0);
	assert_string_equal(all, "B empty long number text ");
	assert_int_equal(sys.list_folder(&sys, "/b", collect, all), -ENOENT);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		put("/n/number", numbers[i].text);
		v = 77;
		if (pfmi_machine_read_number(&sys, "/n/number", &v) != numbers[i].rc ||
		    v != numbers[i].value)
			fail_msg("%s is 0x%" PRIx64, numbers[i].text, v);
	}
	/* More names than fit the first buffer, in order all the same. */
	for (unsigned i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/many/name-%03u", 199 - i);
		put(path, "");
	}
	assert_int_equal(sys.list_folder(&sys, "/many", follows, &n), 0);
	assert_int_equal(n, 200);
	n = 0;
	assert_int_equal(sys.list_folder(&sys, "/many", follows_to_100, &n), -ECANCELED);
	assert_int_equal(n, 100);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (unsigned i = 0; i < 8; i++)
		strcat(deep, path);
	assert_int_equal(sys.open(&sys, deep, 0), -ENAMETOOLONG);
	assert_int_equal(sys.list_folder(&sys, deep, follows, &n), -ENAMETOOLONG);
	n = (unsigned)sys.open(&sys, "/a/text", 0);
	assert_int_equal(sys.mmap(&sys, (int)n, 4096, 0, &page), 0);
	assert_memory_equal(page, "hello\n", 7);
	assert_int_equal(sys.munmap(&sys, page, 4096), 0);
	assert_int_equal(sys.munmap(&sys, (char *)page + 1, 4096), -EINVAL);
	assert_int_equal(sys.mmap(&sys, (int)n, 4096, 1, &page),
	                 -EACCES); /* it was opened for reading */
	assert_int_equal(sys.close(&sys, (int)n), 0);
	assert_int_equal(sys.mmap(&sys, (int)n, 4096, 0, &page), -EBADF);
	assert_int_equal(sys.close(&sys, (int)n), -EBADF);
	assert_int_equal(sys.ioctl(&sys, (int)n, FIONREAD, &n_read),
	                 -EBADF); /* one that emulators know as well */
	assert_int_equal(sys.read(&sys, (int)n, path, 1), -EBADF);
	assert_false(sys.read_cpuid(&sys, 1, 0, (uint32_t[4]){ 0 })); /* not this machine's */
	/* A FIFO has no writer: reading it must not wait for one. */
	snprintf(path, sizeof(path), "%s/a/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/a/fifo", buf, sizeof(buf)), 0);
	put("/proc/stat", "");
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	pfmi_machine_identify_host(&sys, NULL, &host);
	pfmi_machine_read_core_types(&sys, NULL, &host);
	alarm(0);
	assert_false(host.is_known);
	unlink(path);
	/* Nothing is counted on a machine that is only recorded. */
	assert_int_equal(sys.perf_event_open(&sys, NULL, 0, -1, -1, 0), -ENOSYS);
}

static void recorded_machine_below_a_root(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	fake_recorded(&fake, "hybrid");
	for (unsigned i = 0; i < fake.n_files; i++)
		put(fake.files[i].path, fake.files[i].text);
	o.sysfs_root = folder;
	o.flags = PFM_CTX_NO_IMAGES;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(ctx, "cpu_atom/mem-stores/", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.attr.type, 10);
	assert_int_equal(e.attr.config, 0x6d0);
	assert_int_equal(pfm_encode_event(ctx, "syscalls:sys_enter_getppid", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.attr.config, 305);
	pfm_close_context(ctx);
}

static void too_long_a_root_is_no_machine(void **state)
{
	struct sys sys;
	char root[400], buf[16];

	(void)state;
	memset(root, 'a', sizeof(root));
	root[0] = '/';
	root[sizeof(root) - 1] = '\0';
	pfmi_machine_init_real_sys(&sys, root);
	assert_int_not_equal(sys.root[0], '\0');
	assert_true(pfmi_machine_read_small_file(&sys, "/proc/version", buf, sizeof(buf)) < 0);
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (strstr(folder, "XXXXXX") == NULL && system(command) != 0)
		perror(command);
}

/* Machines of the shared folder, where it is there. */
static void recorded_machines_have_their_pmus(void **state)
{
	static const struct {
		const char *name, *pmu;
		unsigned instances;
		const char *event;
		uint64_t config;
	} rows[] = {
		{ "adl", "cpu_core", 1, "instructions", 0xc0 },
		{ "hsw", "cpu", 1, "instructions", 0xc0 },
		{ "icx", "cpu", 1, "instructions", 0xc0 },
		{ "lnl", "cpu_atom", 1, "instructions", 0xc0 },
		{ "skx", "cpu", 1, "cycles-t", 0x10000003c },
		{ "spr", "cpu", 1, "instructions", 0xc0 },
		{ "zen4", "cpu", 1, "instructions", 0xc0 },
		{ "neoverse-n1", "armv8_pmuv3_0", 1, NULL, 0 },
		{ "power9", "cpu", 1, NULL, 0 },
		{ "riscv-u74", "cpu", 1, NULL, 0 },
		{ "z15", "cpum_cf", 1, NULL, 0 },
	};
	char path[512], name[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned folded = 0;

		snprintf(name, sizeof(name), "data/sysfs/%s.txt", rows[i].name);
		fake_begin(&fake);
		if (!fake_machine(&fake, shared_path(path, sizeof(path), name))) {
			fake_end(&fake);
			print_message("# %s is not there\n", path);
			skip();
		}
		look();
		check_tables();
		assert_non_null(find(rows[i].pmu));
		assert_true(find(rows[i].pmu)->is_core);
		assert_int_equal(find(rows[i].pmu)->n_instances, rows[i].instances);
		if (rows[i].event)
			assert_true(config_of(find(rows[i].pmu), rows[i].event, 0) ==
			            rows[i].config);
		for (unsigned k = 0; k < kernel->n_pmus; k++) {
			folded += kernel->pmus[k].n_instances;
			for (unsigned j = 0; j < kernel->pmus[k].n_instances; j++)
				assert_ptr_equal(find(kernel->pmus[k].instance_names[j]),
				                 &kernel->pmus[k]);
		}
		assert_true(folded >= kernel->n_pmus);
		done(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(hybrid_machine_has_two_core_pmus, done),
		cmocka_unit_test_teardown(instances_are_one_pmu_in_the_order_of_their_numbers,
		                          done),
		cmocka_unit_test_teardown(names_that_only_look_numbered_stay_whole, done),
		cmocka_unit_test_teardown(units_of_different_make_are_not_one, done),
		cmocka_unit_test_teardown(cores_and_boxes_are_not_one, done),
		cmocka_unit_test_teardown(dies_and_their_units_are_one, done),
		cmocka_unit_test_teardown(hexadecimal_addresses_are_instance_numbers_too, done),
		cmocka_unit_test_teardown(alias_file_is_another_name, done),
		cmocka_unit_test_teardown(opens_only_files_that_the_folder_lists, done),
		cmocka_unit_test_teardown(the_folder_of_a_pmu_is_listed_once, done),
		cmocka_unit_test_teardown(folders_of_any_number_of_files_are_read, done),
		cmocka_unit_test_teardown(companions_are_not_events, done),
		cmocka_unit_test_teardown(split_fields_keep_their_order, done),
		cmocka_unit_test_teardown(parameters_must_be_given, done),
		cmocka_unit_test_teardown(core_pmu_with_a_number_answers_to_its_family, done),
		cmocka_unit_test_teardown(odd_files_cost_only_themselves, done),
		cmocka_unit_test_teardown(distinguishes_names_that_fold_together, done),
		cmocka_unit_test_teardown(random_damage_never_breaks_a_table, done),
		cmocka_unit_test_teardown(every_call_may_fail, done),
		cmocka_unit_test_teardown(every_allocation_may_fail, done),
		cmocka_unit_test(decimals_do_not_depend_on_the_locale),
		cmocka_unit_test(the_base_of_an_instance_ends_before_its_number),
		cmocka_unit_test(real_files_below_a_root),
		cmocka_unit_test_teardown(recorded_machine_below_a_root, done),
		cmocka_unit_test(too_long_a_root_is_no_machine),
		cmocka_unit_test_teardown(recorded_machines_have_their_pmus, done),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
	remove_folder();
	return failed;
}
