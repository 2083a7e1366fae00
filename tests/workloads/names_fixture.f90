! SPDX-License-Identifier: GPL-2.0-or-later
! Fortran as compilers meet it: see names_fixture.h.
module lattice
  implicit none
  type cell
    real(8) :: x, y
    integer :: id(4)
  end type
  real(8) :: field(10, 20)
  type(cell), allocatable :: cells(:)
  type(cell) :: corners(0:3)
  integer, save :: steps = 3
contains
  subroutine sweep(n, a)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), allocatable :: buffer(:)
    real(8) :: alpha, beta(8)
    integer, save :: counter = 0
    common /shared/ alpha, beta
    counter = counter + 1
    allocate(buffer(n))
    allocate(cells(n))
    buffer = a + field(1, 1) + alpha + beta(1)
    a = buffer * steps
    deallocate(buffer, cells)
  end subroutine
end module
program names
  use lattice
  real(8) :: v(10)
  v = 1
  call sweep(10, v)
  if (v(1) < 0) print *, v
end program
