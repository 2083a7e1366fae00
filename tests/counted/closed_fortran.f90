! SPDX-License-Identifier: GPL-2.0-or-later
! Loops of Fortran whose references follow from their source, by formula:	closed_fortran N
!
! tests/counted/closed_fortran.py has the formulas, which count the bytes that each procedure loads
! from and stores to each array: vectors and unrolling change none of them. Every statement is written
! so that no value of an array can stay in a register from one to the next.
module forms
  implicit none
  type point
    real(8) :: x, y
    integer :: key, unused
  end type
  real(8) :: table(64, 32)
contains
  ! table: 64 * 32 * 8 stored. Without optimisation every scalar is loaded once in a statement and
  ! once to step it, and a loop of m rounds stores its variable m + 1 times.
  subroutine fill()
    integer :: i, j
    do j = 1, 32
      do i = 1, 64
        table(i, j) = i + j
      end do
    end do
  end subroutine

  ! y and z: 8 n loaded, x: 8 n stored
  subroutine loop(n, x, y, z, s)
    integer, intent(in) :: n
    real(8), intent(in) :: y(n), z(n), s
    real(8), intent(out) :: x(n)
    integer :: i
    do i = 1, n
      x(i) = y(i) + s * z(i)
    end do
  end subroutine

  ! The same; not optimised the sum goes to a temporary, which flang's runtime library copies unseen.
  subroutine whole(n, x, y, z, s)
    integer, intent(in) :: n
    real(8), intent(in) :: y(n), z(n), s
    real(8), intent(out) :: x(n)
    x = y + s * z
  end subroutine

  ! Every third: 8 bytes of each loaded from y, and stored to x
  subroutine strided(n, x, y)
    integer, intent(in) :: n
    real(8), intent(in) :: y(n)
    real(8), intent(inout) :: x(n)
    integer :: i
    do i = 1, n, 3
      x(i) = 2 * y(i)
    end do
  end subroutine

  ! The second column of every second row: an array section, of a descriptor
  subroutine section(a, x)
    real(8), intent(in) :: a(:, :)
    real(8), intent(inout) :: x(:)
    integer :: i
    do i = 1, size(a, 1)
      x(i) = a(i, 2) * 3
    end do
  end subroutine

  ! n n elements of b loaded by rows, of a stored by columns
  subroutine turn(n, a, b)
    integer, intent(in) :: n
    real(8), intent(in) :: b(n, n)
    real(8), intent(out) :: a(n, n)
    integer :: i, j
    do j = 1, n
      do i = 1, n
        a(i, j) = b(j, i) + 1
      end do
    end do
  end subroutine

  ! Of every point x and y loaded, 16 bytes, and key stored, 4
  subroutine derived(n, points)
    integer, intent(in) :: n
    type(point), intent(inout) :: points(n)
    integer :: i
    do i = 1, n
      points(i)%key = int(points(i)%x + points(i)%y)
    end do
  end subroutine

  ! room: 8 n stored, then 8 n loaded. The name is like that of a wrapper of malloc: room is named all the
  ! same.
  real(8) function allocating(n, s)
    integer, intent(in) :: n
    real(8), intent(in) :: s
    real(8), allocatable :: room(:)
    integer :: i
    allocate(room(n))
    do i = 1, n
      room(i) = s * i
    end do
    allocating = 0
    do i = n, 1, -1
      allocating = allocating + room(i)
    end do
  end function

  ! Optimised SUM is a loop of the program's, 8 n loaded; MATMUL is flang's runtime library's, unseen.
  real(8) function intrinsics(n, x, a, b, c)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n), a(n, n), b(n, n)
    real(8), intent(out) :: c(n, n)
    c = matmul(a, b)
    intrinsics = sum(x)
  end function
end module
