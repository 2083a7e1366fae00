! SPDX-License-Identifier: BSD-2-Clause
! Marks: what a program says of itself to loci, in Fortran. What they mean stands in loci/mark.h and
! loci-mark(3). To be compiled with the program, and linked with libloci-mark.a:
!
!   gfortran program.f90 $(pkg-config --variable=fortran loci-mark) $(pkg-config --libs loci-mark)
!
!   use loci_mark
!   call loci_region_begin("assemble")
!   ...
!   call loci_region_end("assemble")
!   call loci_object(grid, 8_8 * size(grid), 8_8, "grid")
!
! Sizes are in bytes and of 8-byte integers. Trailing blanks of names do not count. Arrays are given
! by where they begin: one that is not contiguous is given by a copy, which is of no use.
! -DLOCI_MARK_OFF leaves empty subroutines.
module loci_mark
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_long, c_size_t
  implicit none
  private
  public :: loci_region_begin, loci_region_end, loci_phase, loci_object, loci_object_part
  public :: loci_object_end, loci_access, loci_disable, loci_enable

  integer(c_int), parameter, public :: loci_load = 0, loci_store = 1

#ifndef LOCI_MARK_OFF
  interface
    subroutine f_region_begin(name, n) bind(c, name="__loci_f_region_begin")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
    end subroutine
    subroutine f_region_end(name, n) bind(c, name="__loci_f_region_end")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
    end subroutine
    subroutine f_phase(name, n) bind(c, name="__loci_f_phase")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
    end subroutine
    subroutine f_object(base, bytes, element_bytes, name, n) bind(c, name="__loci_f_object")
      import :: c_char, c_long, c_size_t
      type(*), intent(in) :: base(*)
      integer(c_long), value :: bytes, element_bytes
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
    end subroutine
    subroutine f_object_part(base, entry, bytes, name, n) bind(c, name="__loci_f_object_part")
      import :: c_char, c_long, c_size_t
      type(*), intent(in) :: base(*), entry(*)
      integer(c_long), value :: bytes
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
    end subroutine
    subroutine loci_object_end(base) bind(c, name="__loci_f_object_end")
      type(*), intent(in) :: base(*)
    end subroutine
    subroutine loci_access(address, bytes, kind) bind(c, name="__loci_f_access")
      import :: c_int, c_long
      type(*), intent(in) :: address(*)
      integer(c_long), value :: bytes
      integer(c_int), value :: kind
    end subroutine
    subroutine loci_disable() bind(c, name="__loci_f_disable")
    end subroutine
    subroutine loci_enable() bind(c, name="__loci_f_enable")
    end subroutine
  end interface
#endif

contains

  subroutine loci_region_begin(name)
    character(*), intent(in) :: name
#ifndef LOCI_MARK_OFF
    call f_region_begin(name, len_trim(name, c_size_t))
#endif
  end subroutine

  subroutine loci_region_end(name)
    character(*), intent(in) :: name
#ifndef LOCI_MARK_OFF
    call f_region_end(name, len_trim(name, c_size_t))
#endif
  end subroutine

  subroutine loci_phase(name)
    character(*), intent(in) :: name
#ifndef LOCI_MARK_OFF
    call f_phase(name, len_trim(name, c_size_t))
#endif
  end subroutine

  subroutine loci_object(base, bytes, element_bytes, name)
    type(*), intent(in) :: base(*)
    integer(c_long), intent(in) :: bytes, element_bytes
    character(*), intent(in) :: name
#ifndef LOCI_MARK_OFF
    call f_object(base, bytes, element_bytes, name, len_trim(name, c_size_t))
#endif
  end subroutine

  subroutine loci_object_part(base, entry, bytes, name)
    type(*), intent(in) :: base(*), entry(*)
    integer(c_long), intent(in) :: bytes
    character(*), intent(in) :: name
#ifndef LOCI_MARK_OFF
    call f_object_part(base, entry, bytes, name, len_trim(name, c_size_t))
#endif
  end subroutine

#ifdef LOCI_MARK_OFF
  subroutine loci_object_end(base)
    type(*), intent(in) :: base(*)
  end subroutine

  subroutine loci_access(address, bytes, kind)
    type(*), intent(in) :: address(*)
    integer(c_long), value :: bytes
    integer(c_int), value :: kind
  end subroutine

  subroutine loci_disable()
  end subroutine

  subroutine loci_enable()
  end subroutine
#endif
end module
