/* SPDX-License-Identifier: MIT */
/* Calls a tool as Kokkos does: the library that KOKKOS_TOOLS_LIBS names, its functions where it has
 * them. */
#include <dlfcn.h>
#include <stdint.h>
#include "marked.h"

typedef void (*begin_function)(const char *name, uint32_t device, uint64_t *id);
typedef void (*end_function)(uint64_t id);
typedef void (*push_function)(const char *name);
typedef void (*pop_function)(void);

int main(void)
{
	const char *path = getenv("KOKKOS_TOOLS_LIBS");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	begin_function begin =
		tool ? (begin_function)dlsym(tool, "kokkosp_begin_parallel_for") : NULL;
	end_function end = tool ? (end_function)dlsym(tool, "kokkosp_end_parallel_for") : NULL;
	push_function push =
		tool ? (push_function)dlsym(tool, "kokkosp_push_profile_region") : NULL;
	pop_function pop = tool ? (pop_function)dlsym(tool, "kokkosp_pop_profile_region") : NULL;
	uint64_t id;

	if (!begin || !end || !push || !pop)
		return 1;
	push("time step");
	for (unsigned i = 0; i < 3; i++) {
		begin("axpy", 0, &id);
		cause_faults(4);
		end(id);
		cause_faults(1);
	}
	pop();
	dlclose(tool);
	return 0;
}
