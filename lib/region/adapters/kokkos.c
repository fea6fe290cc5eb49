/* SPDX-License-Identifier: MIT */
/* Kokkos: KOKKOS_TOOLS_LIBS names this library, and every Kokkos program calls the functions below
 * around its kernels. A kernel's region is called after it; kernels with no name have the name of
 * their C++ type. */
#include "adapter.h"

static __thread struct open_regions open;

static void begin_kernel(const char *name, uint64_t *id)
{
	push_region(&open, pfm_find_region(name ? name : "unnamed kernel"));
	*id = open.depth;
}

static void end_kernel(void)
{
	pop_region(&open);
}

#define KERNEL(KIND)                                                                               \
	EXPORT void kokkosp_begin_##KIND(const char *name, uint32_t device, uint64_t *id);         \
	EXPORT void kokkosp_end_##KIND(uint64_t id);                                               \
	EXPORT void kokkosp_begin_##KIND(const char *name, uint32_t device, uint64_t *id)          \
	{                                                                                          \
		(void)device;                                                                      \
		begin_kernel(name, id);                                                            \
	}                                                                                          \
	EXPORT void kokkosp_end_##KIND(uint64_t id)                                                \
	{                                                                                          \
		(void)id;                                                                          \
		end_kernel();                                                                      \
	}

KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

EXPORT void kokkosp_init_library(int sequence, uint64_t version, uint32_t n_devices, void *devices);
EXPORT void kokkosp_finalize_library(void);
EXPORT void kokkosp_push_profile_region(const char *name);
EXPORT void kokkosp_pop_profile_region(void);

EXPORT void kokkosp_init_library(int sequence, uint64_t version, uint32_t n_devices, void *devices)
{
	(void)sequence;
	(void)version;
	(void)n_devices;
	(void)devices;
}

EXPORT void kokkosp_finalize_library(void)
{
}

EXPORT void kokkosp_push_profile_region(const char *name)
{
	push_region(&open, pfm_find_region(name ? name : "unnamed region"));
}

EXPORT void kokkosp_pop_profile_region(void)
{
	pop_region(&open);
}
