! SPDX-License-Identifier: MIT
! Marks of PAPI's high-level interface in Fortran.
program marked
  implicit none
  integer :: i, check

  do i = 1, 3
     call PAPIf_hl_region_begin("solve", check)
     if (check /= 0) error stop 1
     call PAPIf_hl_region_end("solve", check)
     if (check /= 0) error stop 1
  end do
end program marked
