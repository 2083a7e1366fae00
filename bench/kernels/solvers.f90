! SPDX-License-Identifier: GPL-2.0-or-later
! Pentadiagonal systems along the three directions of a size^3 grid, after the pattern of NASA's SP. The
! systems of a direction are solved one after another, each as a whole, or side by side with the first
! index innermost, as Fortran stores them; each element is computed the same way.
module solvers
  use measuring
  implicit none
  private
  public :: run_solvers
contains
  ! An element from the two before it in a direction, di, dj or dk being 1.
  subroutine down(n, x, c, d, i, j, k, di, dj, dk)
    integer, intent(in) :: n, i, j, k, di, dj, dk
    real(8), intent(inout) :: x(n, n, n), c(n, n, n), d(n, n, n)
    real(8) :: pivot, one
    one = -1 - d(i - 2 * di, j - 2 * dj, k - 2 * dk) * 0.25d0
    pivot = 1 / (6 - 0.25d0 * c(i - di, j - dj, k - dk) + one * d(i - di, j - dj, k - dk))
    d(i, j, k) = pivot * (1 + one * c(i - di, j - dj, k - dk) * 0.5d0)
    c(i, j, k) = pivot * 0.25d0
    x(i, j, k) = (x(i, j, k) - 0.25d0 * x(i - 2 * di, j - 2 * dj, k - 2 * dk) - one * x(i - di, j - dj, k - dk)) * pivot
  end subroutine

  subroutine up(n, x, c, d, i, j, k, di, dj, dk)
    integer, intent(in) :: n, i, j, k, di, dj, dk
    real(8), intent(inout) :: x(n, n, n), c(n, n, n), d(n, n, n)
    x(i, j, k) = x(i, j, k) + d(i, j, k) * x(i + di, j + dj, k + dk) &
      - c(i, j, k) * x(i + 2 * di, j + 2 * dj, k + 2 * dk)
  end subroutine

  ! Along the first index it makes no difference: here only the order of the systems does.
  subroutine together(n, x, c, d)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n, n), c(n, n, n), d(n, n, n)
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 3, n
          call down(n, x, c, d, i, j, k, 1, 0, 0)
        end do
        do i = n - 2, 1, -1
          call up(n, x, c, d, i, j, k, 1, 0, 0)
        end do
      end do
    end do
    do k = 1, n
      do j = 3, n
        do i = 1, n
          call down(n, x, c, d, i, j, k, 0, 1, 0)
        end do
      end do
      do j = n - 2, 1, -1
        do i = 1, n
          call up(n, x, c, d, i, j, k, 0, 1, 0)
        end do
      end do
    end do
    do k = 3, n
      do j = 1, n
        do i = 1, n
          call down(n, x, c, d, i, j, k, 0, 0, 1)
        end do
      end do
    end do
    do k = n - 2, 1, -1
      do j = 1, n
        do i = 1, n
          call up(n, x, c, d, i, j, k, 0, 0, 1)
        end do
      end do
    end do
  end subroutine

  subroutine one_by_one(n, x, c, d)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n, n), c(n, n, n), d(n, n, n)
    integer :: i, j, k
    do j = 1, n
      do k = 1, n
        do i = 3, n
          call down(n, x, c, d, i, j, k, 1, 0, 0)
        end do
        do i = n - 2, 1, -1
          call up(n, x, c, d, i, j, k, 1, 0, 0)
        end do
      end do
    end do
    do i = 1, n
      do k = 1, n
        do j = 3, n
          call down(n, x, c, d, i, j, k, 0, 1, 0)
        end do
        do j = n - 2, 1, -1
          call up(n, x, c, d, i, j, k, 0, 1, 0)
        end do
      end do
    end do
    do i = 1, n
      do j = 1, n
        do k = 3, n
          call down(n, x, c, d, i, j, k, 0, 0, 1)
        end do
        do k = n - 2, 1, -1
          call up(n, x, c, d, i, j, k, 0, 0, 1)
        end do
      end do
    end do
  end subroutine

  integer(wide) function run_solvers(columns, n, rounds) result(total)
    logical, intent(in) :: columns
    integer, intent(in) :: n, rounds
    real(8), allocatable :: x(:, :, :), c(:, :, :), d(:, :, :)
    integer :: i, j, k, r
    allocate(x(n, n, n))
    allocate(c(n, n, n))
    allocate(d(n, n, n))
    do k = 1, n
      do j = 1, n
        do i = 1, n
          x(i, j, k) = mod(i + 3 * j + 7 * k, 17)
          c(i, j, k) = 0
          d(i, j, k) = 0
        end do
      end do
    end do
    call start()
    do r = 1, rounds
      if (columns) then
        call together(n, x, c, d)
      else
        call one_by_one(n, x, c, d)
      end if
    end do
    call finish()
    total = 0
    do k = 1, n
      total = ieor(ishftc(total, 3), checksum(x(:, :, k)))
    end do
  end function
end module
