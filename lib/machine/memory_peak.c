/* SPDX-License-Identifier: MIT */
/* The peak bandwidth of memory: the speed of a device in the firmware's DMI table times the number
 * of channels that the kernel's memory controllers (EDAC) have. If only root can read the table,
 * udev's copy of its devices is read:
 *
 *   E:MEMORY_DEVICE_0_SIZE=17179869184
 *   E:MEMORY_DEVICE_0_DATA_WIDTH=64
 *   E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2933
 *
 * The structures of the table follow each other:
 *
 *   offset 0  type        17: a memory device
 *          1  length      of the formatted part, this byte included
 *          2  handle
 *          4  the rest of the formatted part
 *   length    strings, each terminated; an empty one ends the structure
 *
 * DMTF DSP0134 ("SMBIOS") has the memory device: width of its data in bits at 0x0a, size at 0x0c
 * (0: the slot is empty), speed in transfers at 0x15, configured speed at 0x20, both in millions a
 * second, 0 if unknown and 0xffff if the 32 bits at 0x54 and 0x58 have them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine_internal.h"

enum { MEMORY_DEVICE = 17, END_OF_TABLE = 127, UNKNOWN = 0xffff };

static uint32_t read_structure_word(const unsigned char *s, unsigned length, unsigned at)
{
	return at + 2 <= length ? (uint32_t)(s[at] | s[at + 1] << 8) : 0;
}

/* Reads a speed of 16 bits at @at, or of 32 bits at @extended if that is unknown. */
static uint32_t read_structure_speed(const unsigned char *s, unsigned length, unsigned at,
                                     unsigned extended)
{
	uint32_t speed = read_structure_word(s, length, at);

	return speed != UNKNOWN
	               ? speed
	               : read_structure_word(s, length, extended) |
	                         (read_structure_word(s, length, extended + 2) & 0x7fff) << 16;
}

/* Millions of bytes a second that the device of structure @s moves; 0 for an empty slot. */
static double compute_device_peak(const unsigned char *s, unsigned length)
{
	uint32_t width = read_structure_word(s, length, 0x0a),
		 speed = read_structure_speed(s, length, 0x20, 0x58);

	if (!speed)
		speed = read_structure_speed(s, length, 0x15, 0x54);
	return read_structure_word(s, length, 0x0c) && width != UNKNOWN ? width / 8.0 * speed : 0;
}

/* Length of the structure at @s with its strings; 0 if it does not fit @size bytes. */
static size_t measure_structure(const unsigned char *s, size_t size)
{
	size_t at = size >= 4 ? s[1] : 0;

	if (at < 4)
		return 0;
	for (; at + 2 <= size; at++)
		if (!s[at] && !s[at + 1])
			return at + 2;
	return 0;
}

double pfmi_machine_compute_memory_peak(const unsigned char *table, size_t size, unsigned *devices)
{
	double peak = 0;
	size_t step;

	*devices = 0;
	for (; (step = measure_structure(table, size)) && table[0] != END_OF_TABLE;
	     table += step, size -= step) {
		double one = table[0] == MEMORY_DEVICE ? compute_device_peak(table, table[1]) : 0;

		peak += one;
		*devices += one > 0;
	}
	return peak;
}

/* ---- udev's copy ----------------------------------------------------------------------------- */

#define DEVICE_PREFIX "E:MEMORY_DEVICE_"

/* A memory device of the copy. */
struct udev_device {
	unsigned number;
	double size, width, speed, configured_speed;
};

static double compute_udev_peak(const struct udev_device *d)
{
	double speed = d->configured_speed > 0 ? d->configured_speed : d->speed;

	return d->size > 0 ? d->width / 8 * speed : 0;
}

/* Sets *@out to the value of property @key if the line at @text has it. */
static void parse_property(const char *text, const char *key, double *out)
{
	size_t len = strlen(key);

	if (strncmp(text, key, len) == 0 && text[len] == '=')
		*out = (double)strtoull(text + len + 1, NULL, 10);
}

double pfmi_machine_compute_udev_memory_peak(const char *text, unsigned *devices)
{
	struct udev_device d = { .number = 0 };
	double peak = 0, one;

	*devices = 0;
	for (; text; text = machine_find_next_line(text)) {
		char *key;
		unsigned number;

		if (strncmp(text, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) != 0)
			continue;
		number = (unsigned)strtoull(text + strlen(DEVICE_PREFIX), &key, 10);
		if (number != d.number) {
			one = compute_udev_peak(&d);
			peak += one;
			*devices += one > 0;
			d = (struct udev_device){ .number = number };
		}
		parse_property(key, "_SIZE", &d.size);
		parse_property(key, "_DATA_WIDTH", &d.width);
		parse_property(key, "_SPEED_MTS", &d.speed);
		parse_property(key, "_CONFIGURED_SPEED_MTS", &d.configured_speed);
	}
	one = compute_udev_peak(&d);
	*devices += one > 0;
	return peak + one;
}

/* ---- channels of the kernel's memory controllers --------------------------------------------- */

#define EDAC_FOLDER "/sys/devices/system/edac/mc"

enum { MAX_CHANNELS = 128, CHANNEL_LEN = 64 };

/* The channels that have memory, and the number of modules in them. */
struct edac_channels {
	const struct sys *sys;
	const char *controller;
	unsigned n_modules, n_channels;
	char channels[MAX_CHANNELS][CHANNEL_LEN];
};

/* Adds the channel of @location ("mc0 channel 1") if it is new. */
static void add_channel(struct edac_channels *e, const char *location)
{
	char name[CHANNEL_LEN];
	const char *slot = strstr(location, "slot");

	snprintf(name, sizeof(name), "%s %.*s", e->controller,
	         (int)(slot ? (size_t)(slot - location) : strlen(location)), location);
	for (unsigned i = 0; i < e->n_channels; i++)
		if (strcmp(e->channels[i], name) == 0)
			return;
	if (e->n_channels < MAX_CHANNELS)
		memcpy(e->channels[e->n_channels++], name, sizeof(name));
}

static int read_memory_module(void *arg, const char *name)
{
	struct edac_channels *e = arg;
	char path[128], location[CHANNEL_LEN];
	uint64_t size;

	if (strncmp(name, "dimm", 4) != 0)
		return 0;
	snprintf(path, sizeof(path), EDAC_FOLDER "/%.16s/%.16s/size", e->controller, name);
	if (pfmi_machine_read_number(e->sys, path, &size) || !size)
		return 0;
	snprintf(path, sizeof(path), EDAC_FOLDER "/%.16s/%.16s/dimm_location", e->controller, name);
	if (pfmi_machine_read_small_file(e->sys, path, location, sizeof(location)) < 0)
		return 0;
	e->n_modules++;
	add_channel(e, location);
	return 0;
}

static int read_memory_controller(void *arg, const char *name)
{
	struct edac_channels *e = arg;
	char path[128];

	if (strncmp(name, "mc", 2) != 0)
		return 0;
	snprintf(path, sizeof(path), EDAC_FOLDER "/%.16s", name);
	e->controller = name;
	e->sys->list_folder(e->sys, path, read_memory_module, e);
	return 0;
}

/* The number of channels of @devices memory devices; 0 if the kernel lists another number of
 * devices. */
static unsigned count_channels(const struct sys *sys, unsigned devices)
{
	struct edac_channels e = { .sys = sys };

	sys->list_folder(sys, EDAC_FOLDER, read_memory_controller, &e);
	return e.n_modules == devices ? e.n_channels : 0;
}

double pfmi_machine_read_memory_peak(const struct sys *sys)
{
	unsigned devices = 0, channels;
	double peak = 0;
	char *text;
	size_t size;

	if (!pfmi_machine_read_file(sys, "/sys/firmware/dmi/tables/DMI", &text, &size)) {
		peak = pfmi_machine_compute_memory_peak((const unsigned char *)text, size,
		                                        &devices);
		free(text);
	} else if (!pfmi_machine_read_file(sys, "/run/udev/data/+dmi:id", &text, &size)) {
		peak = pfmi_machine_compute_udev_memory_peak(text, &devices);
		free(text);
	}
	if (!(peak > 0))
		return 0;
	channels = count_channels(sys, devices);
	return channels ? peak / devices * channels : peak;
}
