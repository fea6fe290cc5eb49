/* SPDX-License-Identifier: MIT */
/* Tables of memory devices: each speed and width that DSP0134 allows, and tables that end early. */
#include "units.h"
#include "machine_files.h"
#include "machine/machine.h"

#define MAX_TABLE 1024

struct dmi_table {
	unsigned char bytes[MAX_TABLE];
	size_t size;
};

static void put_word(unsigned char *s, unsigned at, unsigned value)
{
	s[at] = (unsigned char)value;
	s[at + 1] = (unsigned char)(value >> 8);
}

/* Appends a memory device of @length bytes with one string. */
static unsigned char *add_device(struct dmi_table *t, unsigned length, unsigned width,
                                 unsigned size, unsigned speed, unsigned configured)
{
	unsigned char *s = t->bytes + t->size;

	s[0] = 17;
	s[1] = (unsigned char)length;
	put_word(s, 0x0a, width);
	put_word(s, 0x0c, size);
	put_word(s, 0x15, speed);
	if (length >= 0x22)
		put_word(s, 0x20, configured);
	memcpy(s + length, "DIMM A1\0", 9);
	t->size += length + 9;
	return s;
}

static void add_other(struct dmi_table *t, unsigned char type)
{
	memcpy(t->bytes + t->size, (unsigned char[]){ type, 5, 0, 0, 9, 0, 0 }, 7);
	t->size += 7;
}

static double compute(const struct dmi_table *t)
{
	unsigned devices;

	return pfmi_machine_compute_memory_peak(t->bytes, t->size, &devices);
}

/* DDR4-3200 moves 25,600 MB/s on 64 bits: that is why a module is called PC4-25600. */
static void devices_add_up(void **state)
{
	struct dmi_table t = { .size = 0 };

	(void)state;
	assert_true(compute(&t) == 0);
	add_other(&t, 0);
	add_device(&t, 0x22, 64, 16384, 3200, 3200);
	assert_true(compute(&t) == 25600);
	add_device(&t, 0x22, 64, 0, 3200, 3200); /* an empty slot */
	add_other(&t, 19);
	add_device(&t, 0x22, 64, 16384, 3200, 2933); /* runs slower than it could */
	assert_true(compute(&t) == 25600 + 23464);
	add_device(&t, 0x1b, 32, 1024, 1600, 0); /* before configured speeds */
	assert_true(compute(&t) == 25600 + 23464 + 6400);
	add_device(&t, 0x22, 64, 1024, 2400, 0); /* configured speed unknown */
	assert_true(compute(&t) == 25600 + 23464 + 6400 + 19200);
	add_other(&t, 127);
	add_device(&t, 0x22, 64, 16384, 3200, 3200); /* after the end */
	assert_true(compute(&t) == 25600 + 23464 + 6400 + 19200);
}

static void speeds_beyond_16_bits(void **state)
{
	struct dmi_table t = { .size = 0 };
	unsigned char *s = add_device(&t, 0x5c, 64, 16384, 0xffff, 0xffff);

	(void)state;
	put_word(s, 0x54, 80000 & 0xffff);
	put_word(s, 0x56, 80000 >> 16);
	assert_true(compute(&t) == 80000 * 8);
	put_word(s, 0x58, 72000 & 0xffff);
	put_word(s, 0x5a, 72000 >> 16);
	assert_true(compute(&t) == 72000 * 8);
	put_word(s, 0x0a, 0xffff);
	assert_true(compute(&t) == 0);
}

/* Each length of a table: nothing beyond its end is read, which the sanitizers check. */
static void tables_that_end_early(void **state)
{
	struct dmi_table t = { .size = 0 };

	(void)state;
	add_other(&t, 1);
	add_device(&t, 0x22, 64, 16384, 3200, 3200);
	for (size_t size = 0; size < t.size; size++) {
		unsigned char *copy = malloc(size + !size);
		unsigned devices = 1;

		memcpy(copy, t.bytes, size);
		assert_true(pfmi_machine_compute_memory_peak(copy, size, &devices) == 0);
		assert_int_equal(devices, 0);
		free(copy);
	}
	t.bytes[1] = 3;
	assert_true(compute(&t) == 0);
}

/* Writes file @path of @n bytes below @root. */
static void put_bytes(const char *root, const char *path, const void *bytes, size_t n)
{
	char full[256];
	FILE *f;

	put(root, path, "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void copy_of_udev(void **state)
{
	static const char text[] = "I:1234\n"
				   "E:MEMORY_ARRAY_NUM_DEVICES=4\n"
				   "E:MEMORY_DEVICE_0_TOTAL_WIDTH=72\n"
				   "E:MEMORY_DEVICE_0_DATA_WIDTH=64\n"
				   "E:MEMORY_DEVICE_0_SIZE=17179869184\n"
				   "E:MEMORY_DEVICE_0_SPEED_MTS=3200\n"
				   "E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2933\n"
				   "E:MEMORY_DEVICE_1_PRESENT=0\n"
				   "E:MEMORY_DEVICE_10_DATA_WIDTH=32\n"
				   "E:MEMORY_DEVICE_10_SIZE=1073741824\n"
				   "E:MEMORY_DEVICE_10_SPEED_MTS=1600\n";
	unsigned devices;

	(void)state;
	assert_true(pfmi_machine_compute_udev_memory_peak(text, &devices) == 23464 + 6400);
	assert_int_equal(devices, 2);
	assert_true(pfmi_machine_compute_udev_memory_peak("", &devices) == 0);
	assert_int_equal(devices, 0);
}

/* Four modules in two channels of one controller. */
static void put_modules(const char *root)
{
	for (unsigned i = 0; i < 5; i++) {
		char path[96], text[48];

		snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc0/dimm%u/size", i);
		put(root, path, i < 4 ? "16384\n" : "0\n");
		snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc0/dimm%u/dimm_location",
		         i);
		snprintf(text, sizeof(text), "channel %u slot %u \n", i / 2, i % 2);
		put(root, path, text);
	}
}

static void the_table_of_a_machine(void **state)
{
	struct dmi_table t = { .size = 0 };
	char root[] = P_tmpdir "/perfmon-dmi-XXXXXX";
	pfm_ctx_t *ctx;

	(void)state;
	assert_non_null(mkdtemp(root));
	ctx = open_machine("GenuineIntel-6-55-4", root);
	assert_true(pfm_memory_bandwidth(ctx) == 0);
	put(root, "run/udev/data/+dmi:id",
	    "E:MEMORY_DEVICE_0_DATA_WIDTH=64\nE:MEMORY_DEVICE_0_SIZE=1\n"
	    "E:MEMORY_DEVICE_0_SPEED_MTS=1000\n");
	assert_true(pfm_memory_bandwidth(ctx) == 8000);
	put_modules(root); /* these are not the device of the copy */
	assert_true(pfm_memory_bandwidth(ctx) == 8000);
	for (unsigned i = 0; i < 4; i++)
		add_device(&t, 0x22, 64, 16384, 3200, 3200);
	put_bytes(root, "sys/firmware/dmi/tables/DMI", t.bytes, t.size);
	assert_true(pfm_memory_bandwidth(ctx) == 2 * 25600);
	add_device(&t, 0x22, 64, 16384, 3200, 3200);
	put_bytes(root, "sys/firmware/dmi/tables/DMI", t.bytes, t.size);
	assert_true(pfm_memory_bandwidth(ctx) == 5 * 25600);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

UNIT(machine_memory_peak, cmocka_unit_test(devices_add_up), cmocka_unit_test(speeds_beyond_16_bits),
     cmocka_unit_test(tables_that_end_early), cmocka_unit_test(copy_of_udev),
     cmocka_unit_test(the_table_of_a_machine));
