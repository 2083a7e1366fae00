! SPDX-License-Identifier: GPL-2.0-or-later
! Alternating directions: a tridiagonal system along every row of a size x size grid, then along every
! column. By columns, as Fortran stores them, or by rows; each element is computed the same way.
!
! A round makes 26 n^2 - 14 n references to array elements, three arrays of them: for 50^2 and 100^2,
! 64.3 K and 258.6 K, as many as the ADI of Ding and Zhong (2001), Table 2, has; its text is not known.
module alternating
  use measuring
  implicit none
  private
  public :: run_alternating
contains
  subroutine by_columns(n, x, a, b)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n), a(n, n), b(n, n)
    integer :: i, j
    do i = 1, n
      x(i, 1) = x(i, 1) / b(i, 1)
    end do
    do j = 2, n
      do i = 1, n
        x(i, j) = x(i, j) - x(i, j - 1) * a(i, j) / b(i, j - 1)
        b(i, j) = b(i, j) - a(i, j)**2 / b(i, j - 1)
      end do
    end do
    do i = 1, n
      x(i, n) = x(i, n) / b(i, n)
    end do
    do j = n - 1, 1, -1
      do i = 1, n
        x(i, j) = x(i, j) - a(i, j + 1) * x(i, j + 1)
      end do
    end do
    do j = 1, n
      x(1, j) = x(1, j) / b(1, j)
    end do
    do j = 1, n
      do i = 2, n
        x(i, j) = x(i, j) - x(i - 1, j) * a(i, j) / b(i - 1, j)
        b(i, j) = b(i, j) - a(i, j)**2 / b(i - 1, j)
      end do
    end do
    do j = 1, n
      x(n, j) = x(n, j) / b(n, j)
    end do
    do j = 1, n
      do i = n - 1, 1, -1
        x(i, j) = x(i, j) - a(i + 1, j) * x(i + 1, j)
      end do
    end do
  end subroutine

  subroutine by_rows(n, x, a, b)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n), a(n, n), b(n, n)
    integer :: i, j
    do i = 1, n
      x(i, 1) = x(i, 1) / b(i, 1)
    end do
    do i = 1, n
      do j = 2, n
        x(i, j) = x(i, j) - x(i, j - 1) * a(i, j) / b(i, j - 1)
        b(i, j) = b(i, j) - a(i, j)**2 / b(i, j - 1)
      end do
    end do
    do i = 1, n
      x(i, n) = x(i, n) / b(i, n)
    end do
    do i = 1, n
      do j = n - 1, 1, -1
        x(i, j) = x(i, j) - a(i, j + 1) * x(i, j + 1)
      end do
    end do
    do j = 1, n
      x(1, j) = x(1, j) / b(1, j)
    end do
    do i = 2, n
      do j = 1, n
        x(i, j) = x(i, j) - x(i - 1, j) * a(i, j) / b(i - 1, j)
        b(i, j) = b(i, j) - a(i, j)**2 / b(i - 1, j)
      end do
    end do
    do j = 1, n
      x(n, j) = x(n, j) / b(n, j)
    end do
    do i = n - 1, 1, -1
      do j = 1, n
        x(i, j) = x(i, j) - a(i + 1, j) * x(i + 1, j)
      end do
    end do
  end subroutine

  integer(wide) function run_alternating(columns, n, rounds) result(total)
    logical, intent(in) :: columns
    integer, intent(in) :: n, rounds
    real(8), allocatable :: x(:, :), a(:, :), b(:, :)
    integer :: i, j, r
    allocate(x(n, n))
    allocate(a(n, n))
    allocate(b(n, n))
    do j = 1, n
      do i = 1, n
        x(i, j) = mod(i + 3 * j, 19)
        a(i, j) = 0.03125d0
        b(i, j) = 4
      end do
    end do
    call start()
    do r = 1, rounds
      if (columns) then
        call by_columns(n, x, a, b)
      else
        call by_rows(n, x, a, b)
      end if
    end do
    call finish()
    total = checksum(x)
  end function
end module
