! SPDX-License-Identifier: GPL-2.0-or-later
! An array with a name, a part of it, a region, a phase and a reference that is told.
program marks_fortran
  use loci_mark
  implicit none
  integer, parameter :: n = 1000
  real(8), allocatable :: a(:)
  character(20) :: name = "fill" ! with blanks behind it
  integer :: i
  allocate(a(n))
  call loci_object(a, 8_8 * n, 8_8, "fortran a")
  call loci_object_part(a, a(501), 80_8, "middle")
  call loci_region_begin(name)
  do i = 1, n
    a(i) = i
  end do
  call loci_region_end("fill")
  call loci_phase("rest")
  call loci_access(a(7), 8_8, loci_store)
  call loci_object_end(a)
  if (a(3) /= 3) stop 1
end program
