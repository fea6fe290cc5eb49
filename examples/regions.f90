! SPDX-License-Identifier: MIT
! Regions in Fortran.
!
! Build: gfortran perfmon_region.f90 regions.f90 $(pkg-config --libs perfmon)
program regions
  use perfmon_region
  implicit none
  type(perfmon_region_t) :: load
  integer, allocatable :: memory(:)
  integer :: i, total, code

  code = perfmon_regions_start("page-faults,instructions:u")
  if (code /= 0) stop 1
  load = perfmon_region_handle("load")
  total = 0
  do i = 1, 10
    call perfmon_region_begin("iteration")
    call perfmon_region_begin(load)
    allocate(memory(i * 16384))
    memory = i
    call perfmon_region_end(load)
    call perfmon_region_begin("sum")
    total = total + sum(memory)
    call perfmon_region_end("sum")
    deallocate(memory)
    call perfmon_region_end("iteration")
  end do
  if (total == 0) stop 1
  code = perfmon_regions_write(1, "table")
end program
