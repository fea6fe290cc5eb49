// SPDX-License-Identifier: MIT
// A flow graph of oneTBB, whose library contains Intel's part of ITT: a task "body" for each of 5
// messages, with 4 faults.
#define TBB_USE_PROFILING_TOOLS 2
#include "marked.h"
#include <oneapi/tbb/flow_graph.h>

int main()
{
	tbb::flow::graph graph;
	tbb::flow::function_node<int, int> node(graph, tbb::flow::serial, [](int i) {
		cause_faults(4);
		return i;
	});

	for (int i = 0; i < 5; i++)
		node.try_put(i);
	graph.wait_for_all();
	return 0;
}
