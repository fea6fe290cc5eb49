/* SPDX-License-Identifier: MIT */
/* The sections about NUMA nodes, byte for byte as perf's header.c describes them: nodes with their
 * CPUs, and sets of memory blocks. */
#include "bare_session.h"

static struct byte_buffer built;

static int begin(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	snprintf(s->sys.root, sizeof(s->sys.root), "/");
	built = (struct byte_buffer){ .data = NULL };
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(built.data);
	end_bare();
	return 0;
}

static uint64_t number(size_t at, size_t size)
{
	uint32_t narrow;
	uint64_t wide;

	assert_true(at + size <= built.end);
	memcpy(&narrow, built.data + at, sizeof(narrow));
	if (size == sizeof(narrow))
		return narrow;
	memcpy(&wide, built.data + at, sizeof(wide));
	return wide;
}

static void add_nodes(void)
{
	fake_file(&fake, "/sys/devices/system/node/node0/cpulist", "0-3,8\n");
	fake_file(&fake, "/sys/devices/system/node/node0/meminfo",
	          "Node 0 MemTotal:       65536 kB\nNode 0 MemFree:         1024 kB\n");
	/* memory without CPUs, such as CXL */
	fake_file(&fake, "/sys/devices/system/node/node10/cpulist", "\n");
	fake_file(&fake, "/sys/devices/system/node/node10/meminfo", "Node 10 MemTotal: 7 kB\n");
	fake_file(&fake, "/sys/devices/system/node/online", "0,10\n");
}

static void writes_nodes_with_memory_and_cpus(void **state)
{
	(void)state;
	add_nodes();
	assert_true(pfmi_perfdata_build_numa_topology(s, &built));
	assert_int_equal(number(0, 4), 2);
	assert_int_equal(number(4, 4), 0);
	assert_int_equal(number(8, 8), 65536);
	assert_int_equal(number(16, 8), 1024);
	assert_int_equal(number(24, 4), 64);
	assert_string_equal(built.data + 28, "0-3,8");
	assert_int_equal(number(92, 4), 10);
	assert_int_equal(number(96, 8), 7);
	assert_int_equal(number(104, 8), 0);
	assert_int_equal(number(112, 4), 64);
	assert_string_equal(built.data + 116, "");
	assert_int_equal(built.end, 180);
}

static void writes_blocks_of_memory_by_node(void **state)
{
	static const char *const names[] = { "node0/memory0/state", "node0/memory2/state",
		                             "node0/memory65/state", "node10/memory1/state" };
	char path[128];

	(void)state;
	add_nodes();
	fake_file(&fake, "/sys/devices/system/memory/block_size_bytes", "8000000\n");
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/%s", names[i]);
		fake_file(&fake, path, "online\n");
	}
	assert_true(pfmi_perfdata_build_memory_topology(s, &built));
	assert_int_equal(number(0, 8), 1); /* version */
	assert_int_equal(number(8, 8), 0x8000000);
	assert_int_equal(number(16, 8), 2);
	/* node, bits twice, words of bits */
	assert_int_equal(number(24, 8), 0);
	assert_true(number(32, 8) == 66 && number(40, 8) == 66);
	assert_true(number(48, 8) == 5 && number(56, 8) == 2);
	assert_int_equal(number(64, 8), 10);
	assert_true(number(72, 8) == 2 && number(80, 8) == 2 && number(88, 8) == 2);
	assert_int_equal(built.end, 96);
}

static void machines_without_nodes(void **state)
{
	(void)state;
	assert_false(pfmi_perfdata_build_numa_topology(s, &built));
	assert_false(pfmi_perfdata_build_memory_topology(s, &built));
	add_nodes();
	assert_false(pfmi_perfdata_build_memory_topology(s, &built));
	fake_file(&fake, "/sys/devices/system/memory/block_size_bytes", "8000000\n");
	assert_false(pfmi_perfdata_build_memory_topology(s, &built)); /* no node has blocks */
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(perfdata_numa_topology, CASE(writes_nodes_with_memory_and_cpus),
     CASE(writes_blocks_of_memory_by_node), CASE(machines_without_nodes));
