! SPDX-License-Identifier: GPL-2.0-or-later
! Calls what closed_fortran.f90 has, in a file of its own so that nothing is inlined.
program closed_fortran
  use forms
  implicit none
  character(len=16) :: word
  integer :: n, i
  real(8), allocatable :: x(:), y(:), z(:), a(:, :), b(:, :), c(:, :)
  type(point), allocatable :: points(:)
  real(8) :: sums(2)
  call get_command_argument(1, word)
  read (word, *) n
  allocate(x(n))
  allocate(y(n))
  allocate(z(n))
  allocate(a(n, n))
  allocate(b(n, n))
  allocate(c(n, n))
  allocate(points(n))
  do i = 1, n
    x(i) = i
    y(i) = 2 * i
    z(i) = 3 * i
    points(i)%x = i
    points(i)%y = i * 0.25d0
    a(:, i) = i
    b(:, i) = i * i
  end do
  call fill()
  call loop(n, x, y, z, 2d0)
  call whole(n, x, y, z, 3d0)
  call strided(n, x, y)
  call section(a(1:n:2, :), x)
  call turn(n, a, b)
  call derived(n, points)
  sums(1) = allocating(n, 3d0)
  sums(2) = intrinsics(n, x, a, b, c)
  write (*, '(a, i0, 4(1x, f0.2))') 'n ', n, sums, c(1, n), sum(table)
  if (points(n)%key < n) error stop
end program
