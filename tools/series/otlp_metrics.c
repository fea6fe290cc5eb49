/* SPDX-License-Identifier: MIT */
/* opentelemetry.proto.metrics.v1 as of opentelemetry-proto 1.0: counters are cumulative monotonic
 * sums, everything else is a gauge; a state of a state set and an info are gauges of 0 and 1. */
#include "series/otlp_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of fields, by message. */
enum {
	REQUEST_RESOURCE_METRICS = 1,
	RESOURCE_METRICS_RESOURCE = 1,
	RESOURCE_METRICS_SCOPE_METRICS = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_METRICS_SCOPE = 1,
	SCOPE_METRICS_METRICS = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,

	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_GAUGE = 5,
	METRIC_SUM = 7,
	DATA_POINTS = 1, /* of a gauge and of a sum */
	SUM_TEMPORALITY = 2,
	SUM_IS_MONOTONIC = 3,
	TEMPORALITY_CUMULATIVE = 2,

	POINT_START_TIME = 2,
	POINT_TIME = 3,
	POINT_DOUBLE = 4,
	POINT_INT = 6,
	POINT_ATTRIBUTES = 7,

	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_INT = 3,
	VALUE_ARRAY = 5,
	ARRAY_VALUES = 1
};

/* Labels that the semantic conventions of OpenTelemetry have under other names. */
static const struct convention {
	const char *label, *attribute;
} conventions[] = {
	{ "namespace", "k8s.namespace.name" }, { "pod", "k8s.pod.name" },
	{ "pod_uid", "k8s.pod.uid" },          { "container", "k8s.container.name" },
	{ "container_id", "container.id" },    { "runtime", "container.runtime.name" },
	{ "cgroup", "linux.cgroup" },
};

/* Base units of OpenMetrics as UCUM writes them. */
static const char *get_ucum_unit(const char *unit)
{
	static const struct {
		const char *name, *ucum;
	} units[] = { { "seconds", "s" }, { "bytes", "By" },  { "joules", "J" },
		      { "ratio", "1" },   { "hertz", "Hz" },  { "celsius", "Cel" },
		      { "volts", "V" },   { "amperes", "A" }, { "watts", "W" } };

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ucum;
	return unit;
}

static void end_metric(struct otlp_metrics *o)
{
	if (o->has_metric && o->data.n) {
		message_add_message(&o->metric, o->is_sum ? METRIC_SUM : METRIC_GAUGE, &o->data);
		message_add_message(&o->scope, SCOPE_METRICS_METRICS, &o->metric);
	}
	message_clear(&o->metric);
	message_clear(&o->data);
	o->has_metric = false;
}

void otlp_begin_family(struct otlp_metrics *o, const char *name, enum family_type type,
                       const char *unit, const char *help)
{
	end_metric(o);
	o->has_metric = true;
	o->is_sum = type == FAMILY_COUNTER;
	message_add_text(&o->metric, METRIC_NAME, name);
	message_add_text(&o->metric, METRIC_DESCRIPTION, help);
	if (*unit)
		message_add_text(&o->metric, METRIC_UNIT, get_ucum_unit(unit));
}

static void add_attribute(struct otlp_metrics *o, struct message *to, unsigned field,
                          const char *name, const char *value)
{
	message_add_text(&o->pair, PAIR_KEY, name);
	message_add_text(&o->value, VALUE_STRING, value);
	message_add_message(&o->pair, PAIR_VALUE, &o->value);
	message_add_message(to, field, &o->pair);
}

static void add_number_attribute(struct otlp_metrics *o, const char *name, uint64_t value)
{
	message_add_text(&o->pair, PAIR_KEY, name);
	message_add_chosen_number(&o->value, VALUE_INT, value);
	message_add_message(&o->pair, PAIR_VALUE, &o->value);
	message_add_message(&o->point, POINT_ATTRIBUTES, &o->pair);
}

/* An attribute that is a list with one text. */
static void add_list_attribute(struct otlp_metrics *o, const char *name, const char *value)
{
	struct message item = { .bytes = NULL }, list = { .bytes = NULL };

	message_add_text(&item, VALUE_STRING, value);
	message_add_message(&list, ARRAY_VALUES, &item);
	message_add_text(&o->pair, PAIR_KEY, name);
	message_add_message(&o->value, VALUE_ARRAY, &list);
	message_add_message(&o->pair, PAIR_VALUE, &o->value);
	message_add_message(&o->point, POINT_ATTRIBUTES, &o->pair);
	o->point.failed |= item.failed || list.failed;
	message_free(&item);
	message_free(&list);
}

/* The name of an image, and its tag or digest: "registry:5000/postgres:16",
 * "postgres@sha256:...". */
static void add_image(struct otlp_metrics *o, const char *image)
{
	const char *slash = strrchr(image, '/'), *at = strchr(image, '@'),
		   *colon = strchr(slash ? slash : image, ':'), *end = at ? at : colon;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", end ? (int)(end - image) : (int)strlen(image), image);
	add_attribute(o, &o->point, POINT_ATTRIBUTES, "container.image.name", name);
	if (at)
		add_list_attribute(o, "container.image.repo_digests", image);
	else if (colon)
		add_list_attribute(o, "container.image.tags", colon + 1);
}

static void add_label(struct otlp_metrics *o, const struct label *label)
{
	const char *name = label->name;

	if (strcmp(name, "image") == 0) {
		add_image(o, label->value);
		return;
	}
	if (strcmp(name, "cpu") == 0 &&
	    strspn(label->value, "0123456789") == strlen(label->value)) {
		add_number_attribute(o, "cpu.logical_number", strtoull(label->value, NULL, 10));
		return;
	}
	for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++)
		if (strcmp(conventions[i].label, label->name) == 0)
			name = conventions[i].attribute;
	add_attribute(o, &o->point, POINT_ATTRIBUTES, name, label->value);
}

/* A counter that came later than the service starts later. */
static uint64_t compute_point_start(const struct otlp_metrics *o)
{
	const uint64_t start =
		o->start_ns + (o->point_start > o->opened ? o->point_start - o->opened : 0);

	return start < o->now_ns ? start : o->now_ns - 1;
}

static void begin_point(struct otlp_metrics *o, const struct label *labels,
                        const struct label *extra)
{
	if (o->is_sum && !o->data.n) {
		message_add_number(&o->data, SUM_TEMPORALITY, TEMPORALITY_CUMULATIVE);
		message_add_number(&o->data, SUM_IS_MONOTONIC, 1);
	}
	if (o->is_sum)
		message_add_fixed64(&o->point, POINT_START_TIME, compute_point_start(o));
	message_add_fixed64(&o->point, POINT_TIME, o->now_ns);
	for (; labels && labels->name; labels++)
		if (*labels->value)
			add_label(o, labels);
	if (extra)
		add_attribute(o, &o->point, POINT_ATTRIBUTES, extra->name, extra->value);
}

void otlp_add_whole(struct otlp_metrics *o, const struct label *labels, const struct label *extra,
                    uint64_t value)
{
	begin_point(o, labels, extra);
	/* The field is signed. */
	message_add_chosen_fixed64(&o->point, POINT_INT, value < INT64_MAX ? value : INT64_MAX);
	message_add_message(&o->data, DATA_POINTS, &o->point);
}

void otlp_add_real(struct otlp_metrics *o, const struct label *labels, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	begin_point(o, labels, NULL);
	message_add_chosen_fixed64(&o->point, POINT_DOUBLE, bits);
	message_add_message(&o->data, DATA_POINTS, &o->point);
}

struct message otlp_end(struct otlp_metrics *o, const char *version, const struct label *resource)
{
	struct message resource_metrics = { .bytes = NULL }, part = { .bytes = NULL },
		       request = { .bytes = NULL };

	end_metric(o);
	message_add_text(&part, SCOPE_NAME, "perfmon");
	message_add_text(&part, SCOPE_VERSION, version);
	message_add_message(&o->scope, SCOPE_METRICS_SCOPE, &part);
	for (; resource->name; resource++)
		add_attribute(o, &part, RESOURCE_ATTRIBUTES, resource->name, resource->value);
	message_add_message(&resource_metrics, RESOURCE_METRICS_RESOURCE, &part);
	message_add_message(&resource_metrics, RESOURCE_METRICS_SCOPE_METRICS, &o->scope);
	message_add_message(&request, REQUEST_RESOURCE_METRICS, &resource_metrics);
	request.failed |= o->pair.failed || o->value.failed;
	message_free(&part);
	message_free(&resource_metrics);
	message_free(&o->scope);
	message_free(&o->metric);
	message_free(&o->data);
	message_free(&o->point);
	message_free(&o->pair);
	message_free(&o->value);
	return request;
}
