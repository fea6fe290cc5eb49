// SPDX-License-Identifier: MIT
// Kernels of the Kokkos that Debian has: "time step" has 3 faults of its own, "axpy" 4 in each of 3
// kernels.
#include "marked.h"
#include <Kokkos_Core.hpp>

int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	Kokkos::Profiling::pushRegion("time step");
	cause_faults(3);
	for (unsigned i = 0; i < 3; i++)
		Kokkos::parallel_for("axpy", Kokkos::RangePolicy<Kokkos::Serial>(0, 4),
		                     [](int) { cause_faults(1); });
	Kokkos::Profiling::popRegion();
	Kokkos::finalize();
	return 0;
}
