/* SPDX-License-Identifier: MIT */
/* Attributes of the service and its machine, by the semantic conventions of
 * OpenTelemetry. Machines with equal names stay apart by their numbers, and services of one machine
 * by their options. */
#include "common/otlp_resource.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

enum { TEXT_SIZE = 256 };

bool add_otlp_attribute(struct otlp_resource *r, const char *name, const char *value)
{
	unsigned i = 0;

	while (i < r->n && strcmp(r->at[i].name, name) != 0)
		i++;
	if (!*name || !*value || i == MAX_ATTRIBUTES || r->n_texts + 2 > 2 * MAX_ATTRIBUTES)
		return true;
	if (i == r->n) {
		r->texts[r->n_texts] = strdup(name);
		r->at[i].name = r->texts[r->n_texts++];
		r->n++;
	}
	r->texts[r->n_texts] = strdup(value);
	r->at[i].value = r->texts[r->n_texts++];
	return r->at[i].name && r->at[i].value;
}

/* Reads the first line of a file; "" if it cannot be read. */
static const char *read_line(const char *path, char text[TEXT_SIZE])
{
	FILE *f = fopen(path, "re");

	text[0] = '\0';
	if (f && !fgets(text, TEXT_SIZE, f))
		text[0] = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* FNV-1a of 64 bits. */
static uint64_t add_to_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (hash ^ 0xff) * 0x100000001b3;
}

/* Writes the same UUID (RFC 9562, version 8) at each start of this service on this machine. */
static void make_instance_id(const char *machine, const char *host, const char *command_line,
                             char id[TEXT_SIZE])
{
	uint64_t half[2] = { 0xcbf29ce484222325, 0x84222325cbf29ce4 };

	for (unsigned i = 0; i < 2; i++) {
		half[i] = add_to_hash(half[i], machine);
		half[i] = add_to_hash(half[i], host);
		half[i] = add_to_hash(half[i], command_line);
	}
	snprintf(id, TEXT_SIZE, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(half[0] >> 32),
	         (unsigned)(half[0] >> 16 & 0xffff), (unsigned)(half[0] & 0xfff),
	         (unsigned)(0x8000 | (half[1] >> 48 & 0x3fff)),
	         (unsigned long long)(half[1] & 0xffffffffffff));
}

/* Names of machines as OpenTelemetry has them. */
static const char *get_architecture(const char *machine)
{
	static const char *const names[][2] = {
		{ "x86_64", "amd64" }, { "aarch64", "arm64" }, { "i686", "x86" },
		{ "armv7l", "arm32" }, { "ppc64le", "ppc64" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], machine) == 0)
			return names[i][1];
	return machine;
}

/* Adds what the kernel prints of the first CPU, on x86 and Arm. */
static bool add_cpu(struct otlp_resource *r, FILE *f)
{
	static const char *const lines[][2] = {
		{ "vendor_id", "host.cpu.vendor.id" }, { "CPU implementer", "host.cpu.vendor.id" },
		{ "cpu family", "host.cpu.family" },   { "model", "host.cpu.model.id" },
		{ "CPU part", "host.cpu.model.id" },   { "model name", "host.cpu.model.name" },
		{ "stepping", "host.cpu.stepping" },   { "CPU revision", "host.cpu.stepping" },
	};
	char line[TEXT_SIZE];
	bool is_good = true;

	while (is_good && fgets(line, sizeof(line), f) && *line != '\n') {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		line[strcspn(line, "\t:")] = '\0';
		value += strspn(value, ": ");
		value[strcspn(value, "\n")] = '\0';
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
			if (strcmp(lines[i][0], line) == 0)
				is_good = add_otlp_attribute(r, lines[i][1], value);
	}
	return is_good;
}

static bool add_first_cpu(struct otlp_resource *r)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	const bool is_good = !f || add_cpu(r, f);

	if (f)
		fclose(f);
	return is_good;
}

void decode_percents(char *text)
{
	char *to = text;
	unsigned byte;

	for (; *text; text++)
		if (*text == '%' && sscanf(text + 1, "%2x", &byte) == 1 && byte && text[2]) {
			*to++ = (char)byte;
			text += 2;
		} else {
			*to++ = *text;
		}
	*to = '\0';
}

/* Adds "name=value,..." of OTEL_RESOURCE_ATTRIBUTES. */
static bool add_listed(struct otlp_resource *r, const char *list)
{
	char *copy = strdup(list), *rest = copy, *item;
	bool is_good = copy != NULL;

	while (is_good && (item = strsep(&rest, ","))) {
		char *value = strchr(item, '=');

		if (!value)
			continue;
		*value++ = '\0';
		decode_percents(value);
		is_good = add_otlp_attribute(r, item + strspn(item, " "), value);
	}
	free(copy);
	return is_good;
}

static const char *get_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

bool make_otlp_resource(struct otlp_resource *r, const char *command_line)
{
	char host[TEXT_SIZE] = "", machine[TEXT_SIZE], id[TEXT_SIZE];
	struct utsname system = { .machine = "" };

	*r = (struct otlp_resource){ 0 };
	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	uname(&system);
	read_line("/etc/machine-id", machine);
	make_instance_id(machine, host, command_line, id);
	return add_otlp_attribute(r, "service.name", "perfmon") &&
	       add_otlp_attribute(r, "service.version", PERFMON_VERSION) &&
	       add_otlp_attribute(r, "service.instance.id", id) &&
	       add_otlp_attribute(r, "host.name", host) &&
	       add_otlp_attribute(r, "host.id", machine) &&
	       add_otlp_attribute(r, "host.arch", get_architecture(system.machine)) &&
	       add_otlp_attribute(r, "os.type", "linux") &&
	       add_otlp_attribute(r, "os.version", system.release) && add_first_cpu(r) &&
	       add_otlp_attribute(r, "k8s.node.name", get_variable("NODE_NAME")) &&
	       add_listed(r, get_variable("OTEL_RESOURCE_ATTRIBUTES")) &&
	       add_otlp_attribute(r, "service.name", get_variable("OTEL_SERVICE_NAME"));
}

void free_otlp_resource(struct otlp_resource *r)
{
	while (r->n_texts)
		free(r->texts[--r->n_texts]);
}
