! SPDX-License-Identifier: MIT
! Markers of likwid in Fortran. The first visit is of a region of its own: it also touches the pages
! of the code.
program marked
  implicit none
  integer :: i

  call likwid_markerInit()
  call visit("first")
  do i = 1, 3
     call visit("solve")
  end do
  call likwid_markerClose()
contains
  subroutine visit(name)
    character(*), intent(in) :: name

    call likwid_markerStartRegion(name)
    call touch_pages(4)
    call likwid_markerStopRegion(name)
  end subroutine visit
end program marked
