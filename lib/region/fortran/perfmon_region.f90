! SPDX-License-Identifier: MIT
!
! Regions of a Fortran program: counts of a part of it, in every thread that runs it.
!
!     use perfmon_region
!     call perfmon_region_begin("solve")
!     ...
!     call perfmon_region_end("solve")
!
! Compile this file with your program, and link with -lperfmon. In loops, a handle saves the search for
! the name: type(perfmon_region_t) :: solve; solve = perfmon_region_handle("solve").
module perfmon_region
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: perfmon_region_t, perfmon_region_handle, perfmon_region_begin, perfmon_region_end
  public :: perfmon_regions_start, perfmon_regions_stop, perfmon_regions_write

  type :: perfmon_region_t
    private
    type(c_ptr) :: region = c_null_ptr
  end type

  interface perfmon_region_begin
    module procedure begin_by_name, begin_by_handle
  end interface

  interface perfmon_region_end
    module procedure end_by_name, end_by_handle
  end interface

  interface
    function c_region_by_name(name) bind(c, name="pfm_find_region") result(region)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: region
    end function
    subroutine c_region_begin(region) bind(c, name="pfm_begin_region")
      import :: c_ptr
      type(c_ptr), value :: region
    end subroutine
    subroutine c_region_end(region) bind(c, name="pfm_end_region")
      import :: c_ptr
      type(c_ptr), value :: region
    end subroutine
    subroutine c_regions_stop() bind(c, name="pfm_stop_regions")
    end subroutine
    function c_regions_start(options, error) bind(c, name="pfm_start_regions") result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: options, error
      integer(c_int) :: code
    end function
    function c_read_regions() bind(c, name="pfm_read_regions") result(results)
      import :: c_ptr
      type(c_ptr) :: results
    end function
    function c_write_regions(results, fd, format) bind(c, name="pfm_write_regions") result(code)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: results
      integer(c_int), value :: fd
      character(kind=c_char), intent(in) :: format(*)
      integer(c_int) :: code
    end function
    subroutine c_free_results(results) bind(c, name="pfm_close_region_results")
      import :: c_ptr
      type(c_ptr), value :: results
    end subroutine
  end interface

  ! pfm_regions_options_t
  type, bind(c) :: options_t
    integer(c_size_t) :: size
    integer(c_int) :: flags
    type(c_ptr) :: events, output, format
  end type

contains

  function perfmon_region_handle(name) result(handle)
    character(*), intent(in) :: name
    type(perfmon_region_t) :: handle
    handle%region = c_region_by_name(trim(name) // c_null_char)
  end function

  subroutine begin_by_handle(handle)
    type(perfmon_region_t), intent(in) :: handle
    call c_region_begin(handle%region)
  end subroutine

  subroutine end_by_handle(handle)
    type(perfmon_region_t), intent(in) :: handle
    call c_region_end(handle%region)
  end subroutine

  subroutine begin_by_name(name)
    character(*), intent(in) :: name
    call c_region_begin(c_region_by_name(trim(name) // c_null_char))
  end subroutine

  subroutine end_by_name(name)
    character(*), intent(in) :: name
    call c_region_end(c_region_by_name(trim(name) // c_null_char))
  end subroutine

  ! Starts counting the events of a list. The code is 0 or negative, as in C.
  function perfmon_regions_start(events) result(code)
    character(*), intent(in) :: events
    integer :: code
    character(kind=c_char), allocatable, target :: text(:)
    type(options_t), target :: options
    integer :: i
    allocate(text(len_trim(events) + 1))
    do i = 1, len_trim(events)
      text(i) = events(i:i)
    end do
    text(len_trim(events) + 1) = c_null_char
    options = options_t(c_sizeof(options), 0_c_int, c_loc(text), c_null_ptr, c_null_ptr)
    code = c_regions_start(c_loc(options), c_null_ptr)
  end function

  subroutine perfmon_regions_stop()
    call c_regions_stop()
  end subroutine

  ! Writes the results until now to descriptor fd (1: standard output) in a format such as "table".
  function perfmon_regions_write(fd, format) result(code)
    integer, intent(in) :: fd
    character(*), intent(in) :: format
    integer :: code
    type(c_ptr) :: results
    results = c_read_regions()
    code = c_write_regions(results, int(fd, c_int), trim(format) // c_null_char)
    call c_free_results(results)
  end function

end module
