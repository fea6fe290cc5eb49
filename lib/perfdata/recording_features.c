/* SPDX-License-Identifier: MIT */
/* Sections of a recording about the machine, the command and the events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "perfdata/recording_writer.h"
#include "context/context.h"

static void write_event_desc(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;
	uint32_t n = 0;

	for (unsigned i = 0; i <= s->n_counts; i++)
		n += pfmi_perfdata_is_written_event(s, i);
	pfmi_perfdata_write_u32(r, n);
	pfmi_perfdata_write_u32(r, pfmi_perfdata_get_attr_size(s));
	for (unsigned i = 0; i <= s->n_counts; i++) {
		struct perf_attr a;

		if (!pfmi_perfdata_is_written_event(s, i))
			continue;
		pfmi_perfdata_fill_event_attr(s, i, &a);
		pfmi_perfdata_write_bytes(r, &a, a.size);
		pfmi_perfdata_write_u32(r, pfmi_perfdata_count_event_ids(s, i));
		pfmi_perfdata_write_padded_string(r, pfmi_perfdata_get_event_name(s, i));
		pfmi_perfdata_write_event_ids(r, i);
	}
}

/* Writes the arguments; r->command_line separates them by newlines. */
static void write_command_line(struct pfm_recording *r)
{
	uint32_t n = 1;

	for (const char *p = r->command_line; *p; p++)
		n += *p == '\n';
	pfmi_perfdata_write_u32(r, n);
	for (char *p = r->command_line, *end; p; p = end) {
		end = strchr(p, '\n');
		if (end)
			*end++ = '\0';
		pfmi_perfdata_write_padded_string(r, p);
	}
}

static uint64_t read_topology_number(struct pfm_recording *r, unsigned cpu, const char *what)
{
	char path[128];
	uint64_t v = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	return pfmi_machine_read_number(&r->session->sys, path, &v) ? 0 : v;
}

static void write_sibling_lists(struct pfm_recording *r, unsigned cpus, const char *what)
{
	char path[128], list[256], (*seen)[256] = calloc(cpus + 1, sizeof(*seen));
	uint32_t n = 0;

	for (unsigned cpu = 0; seen && cpu < cpus; cpu++) {
		unsigned k = 0;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
		         what);
		if (pfmi_machine_read_small_file(&r->session->sys, path, list, sizeof(list)) <= 0)
			continue;
		while (k < n && strcmp(seen[k], list) != 0)
			k++;
		if (k == n)
			memcpy(seen[n++], list, sizeof(list));
	}
	pfmi_perfdata_write_u32(r, n);
	for (uint32_t k = 0; k < n; k++)
		pfmi_perfdata_write_padded_string(r, seen[k]);
	free(seen);
}

static void write_topology(struct pfm_recording *r)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);

	write_sibling_lists(r, cpus, "core_siblings_list");
	write_sibling_lists(r, cpus, "thread_siblings_list");
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		pfmi_perfdata_write_u32(r, (uint32_t)read_topology_number(r, cpu, "core_id"));
		pfmi_perfdata_write_u32(
			r, (uint32_t)read_topology_number(r, cpu, "physical_package_id"));
	}
}

static void write_clock_data(struct pfm_recording *r)
{
	int id = r->session->sampling->config.clock;
	uint64_t times[2] = { pfmi_sampling_get_clock_ns(CLOCK_REALTIME),
		              pfmi_sampling_get_clock_ns(id) };

	pfmi_perfdata_write_u32(r, 1);
	pfmi_perfdata_write_u32(r, (uint32_t)id);
	pfmi_perfdata_write_bytes(r, times, sizeof(times));
}

/* Writes version (0, as perf does, because some readers accept nothing else), zstd, level, ratio,
 * and the buffer size that a reader needs. */
static void write_compression_info(struct pfm_recording *r)
{
	const uint32_t words[] = { 0, 1, (uint32_t)r->zstd_level,
		                   (uint32_t)(r->packed_size ? r->plain_size / r->packed_size : 1),
		                   UINT16_MAX + 1u };

	pfmi_perfdata_write_bytes(r, words, sizeof(words));
}

/* The description of a pretended machine's processor says so, as that in its cpuinfo does. */
static void write_pretence(struct pfm_recording *r)
{
	char text[128];

	snprintf(text, sizeof(text), PERFDATA_PRETENDED_CPU "%s",
	         r->session->ctx->kernel->pretended);
	pfmi_perfdata_write_padded_string(r, text);
}

static void write_feature(struct pfm_recording *r, unsigned bit, const struct utsname *u)
{
	uint64_t times[2] = { r->start_time,
		              pfmi_sampling_get_clock_ns(r->session->sampling->config.clock) };
	uint64_t memory =
			 (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
		 resolution = 1;

	switch (bit) {
	case PERFDATA_FEATURE_TRACING:
		pfmi_perfdata_write_bytes(r, r->tracing_data.data, r->tracing_data.end);
		break;
	case PERFDATA_FEATURE_HOSTNAME: pfmi_perfdata_write_padded_string(r, u->nodename); break;
	case PERFDATA_FEATURE_OSRELEASE: pfmi_perfdata_write_padded_string(r, u->release); break;
	case PERFDATA_FEATURE_VERSION: pfmi_perfdata_write_padded_string(r, "perfmon"); break;
	case PERFDATA_FEATURE_ARCH: pfmi_perfdata_write_padded_string(r, u->machine); break;
	case PERFDATA_FEATURE_CPUDESC: write_pretence(r); break;
	case PERFDATA_FEATURE_NRCPUS:
		pfmi_perfdata_write_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		pfmi_perfdata_write_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case PERFDATA_FEATURE_TOTAL_MEM:
		pfmi_perfdata_write_bytes(r, &memory, sizeof(memory));
		break;
	case PERFDATA_FEATURE_CMDLINE: write_command_line(r); break;
	case PERFDATA_FEATURE_EVENT_DESC: write_event_desc(r); break;
	case PERFDATA_FEATURE_CPU_TOPOLOGY: write_topology(r); break;
	case PERFDATA_FEATURE_NUMA_TOPOLOGY:
		pfmi_perfdata_write_bytes(r, r->numa_topology.data, r->numa_topology.end);
		break;
	case PERFDATA_FEATURE_MEM_TOPOLOGY:
		pfmi_perfdata_write_bytes(r, r->memory_topology.data, r->memory_topology.end);
		break;
	case PERFDATA_FEATURE_SAMPLE_TIME:
		pfmi_perfdata_write_bytes(r, times, sizeof(times));
		break;
	case PERFDATA_FEATURE_CLOCKID:
		pfmi_perfdata_write_bytes(r, &resolution, sizeof(resolution));
		break;
	case PERFDATA_FEATURE_COMPRESSED: write_compression_info(r); break;
	case PERFDATA_FEATURE_CLOCK_DATA: write_clock_data(r); break;
	default: break;
	}
}

/* True if the recording needs feature @bit. */
static bool has_feature(const struct pfm_recording *r, unsigned bit)
{
	switch (bit) {
	case PERFDATA_FEATURE_COMPRESSED: return r->zstd != NULL;
	case PERFDATA_FEATURE_CPUDESC: return context_is_pretended(r->session->ctx);
	case PERFDATA_FEATURE_TRACING: return r->tracing_data.end > 0;
	case PERFDATA_FEATURE_NUMA_TOPOLOGY: return r->numa_topology.end > 0;
	case PERFDATA_FEATURE_MEM_TOPOLOGY: return r->memory_topology.end > 0;
	case PERFDATA_FEATURE_SAMPLE_TIME:
	case PERFDATA_FEATURE_CLOCKID:
	case PERFDATA_FEATURE_CLOCK_DATA:
		return r->session->sampling->common_layout.fields & PFM_SAMPLE_TIME;
	default: return true;
	}
}

void pfmi_perfdata_write_features(struct pfm_recording *r)
{
	static const uint8_t bits[] = {
		PERFDATA_FEATURE_TRACING,      PERFDATA_FEATURE_HOSTNAME,
		PERFDATA_FEATURE_OSRELEASE,    PERFDATA_FEATURE_VERSION,
		PERFDATA_FEATURE_ARCH,         PERFDATA_FEATURE_NRCPUS,
		PERFDATA_FEATURE_CPUDESC,      PERFDATA_FEATURE_TOTAL_MEM,
		PERFDATA_FEATURE_CMDLINE,      PERFDATA_FEATURE_EVENT_DESC,
		PERFDATA_FEATURE_CPU_TOPOLOGY, PERFDATA_FEATURE_NUMA_TOPOLOGY,
		PERFDATA_FEATURE_SAMPLE_TIME,  PERFDATA_FEATURE_MEM_TOPOLOGY,
		PERFDATA_FEATURE_CLOCKID,      PERFDATA_FEATURE_COMPRESSED,
		PERFDATA_FEATURE_CLOCK_DATA
	};
	struct perfdata_section sections[sizeof(bits)];
	struct utsname u;
	uint64_t table = r->offset;
	unsigned n = 0;

	uname(&u);
	if (!pfmi_perfdata_build_tracing_data(r->session, &r->tracing_data))
		r->tracing_data.end = 0;
	if (!pfmi_perfdata_build_numa_topology(r->session, &r->numa_topology))
		r->numa_topology.end = 0;
	if (!pfmi_perfdata_build_memory_topology(r->session, &r->memory_topology))
		r->memory_topology.end = 0;
	for (unsigned i = 0; i < sizeof(bits); i++)
		n += has_feature(r, bits[i]);
	r->offset += n * sizeof(*sections);
	n = 0;
	for (unsigned i = 0; i < sizeof(bits); i++) {
		if (!has_feature(r, bits[i]))
			continue;
		sections[n].offset = r->offset;
		write_feature(r, bits[i], &u);
		sections[n].size = r->offset - sections[n].offset;
		r->header.features[bits[i] / 64] |= (uint64_t)1 << bits[i] % 64;
		n++;
	}
	r->offset = table;
	pfmi_perfdata_write_bytes(r, sections, n * sizeof(*sections));
}
