! SPDX-License-Identifier: MIT
! Marks of PAPI's high-level interface in Fortran. The first visit is of a region of its own: it
! also touches the pages of the code.
program marked
  implicit none
  integer :: i

  call visit("first")
  do i = 1, 3
     call visit("solve")
  end do
contains
  subroutine visit(name)
    character(*), intent(in) :: name
    integer :: check

    call PAPIf_hl_region_begin(name, check)
    if (check /= 0) error stop 1
    call touch_pages(4)
    call PAPIf_hl_region_end(name, check)
    if (check /= 0) error stop 1
  end subroutine visit
end program marked
