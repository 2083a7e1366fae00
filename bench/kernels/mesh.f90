! SPDX-License-Identifier: GPL-2.0-or-later
! Mesh generation, after the pattern of SPEC's Tomcatv: of a size x size mesh in seven arrays, residuals
! from the eight neighbours, a tridiagonal system along every row, corrections. Loops by columns, as
! Fortran stores them, or by rows; each element is computed the same way.
module mesh
  use measuring
  implicit none
  private
  public :: run_mesh
contains
  ! Coefficients and residuals of one point.
  subroutine point(n, x, y, rx, ry, aa, dd, i, j)
    integer, intent(in) :: n, i, j
    real(8), intent(in) :: x(n, n), y(n, n)
    real(8), intent(inout) :: rx(n, n), ry(n, n), aa(n, n), dd(n, n)
    real(8) :: xx, yx, xy, yy, a, b, c
    xx = x(i + 1, j) - x(i - 1, j)
    yx = y(i + 1, j) - y(i - 1, j)
    xy = x(i, j + 1) - x(i, j - 1)
    yy = y(i, j + 1) - y(i, j - 1)
    a = 0.25d0 * (xy * xy + yy * yy)
    b = 0.25d0 * (xx * xx + yx * yx)
    c = 0.125d0 * (xx * xy + yx * yy)
    aa(i, j) = -b
    dd(i, j) = b + b + a * 2.01d0
    rx(i, j) = a * (x(i + 1, j) - 2 * x(i, j) + x(i - 1, j)) + b * (x(i, j + 1) - 2 * x(i, j) + x(i, j - 1)) &
      - c * (x(i + 1, j + 1) - x(i + 1, j - 1) - x(i - 1, j + 1) + x(i - 1, j - 1))
    ry(i, j) = a * (y(i + 1, j) - 2 * y(i, j) + y(i - 1, j)) + b * (y(i, j + 1) - 2 * y(i, j) + y(i, j - 1)) &
      - c * (y(i + 1, j + 1) - y(i + 1, j - 1) - y(i - 1, j + 1) + y(i - 1, j - 1))
  end subroutine

  ! One element of the elimination, and of the substitution.
  subroutine down(n, rx, ry, aa, dd, d, i, j)
    integer, intent(in) :: n, i, j
    real(8), intent(inout) :: rx(n, n), ry(n, n), aa(n, n), dd(n, n), d(n, n)
    real(8) :: r
    r = aa(i, j) * d(i, j - 1)
    d(i, j) = 1 / (dd(i, j) - aa(i, j - 1) * r)
    rx(i, j) = rx(i, j) - rx(i, j - 1) * r
    ry(i, j) = ry(i, j) - ry(i, j - 1) * r
  end subroutine

  subroutine up(n, rx, ry, aa, d, i, j)
    integer, intent(in) :: n, i, j
    real(8), intent(inout) :: rx(n, n), ry(n, n), aa(n, n), d(n, n)
    rx(i, j) = (rx(i, j) - aa(i, j) * rx(i, j + 1)) * d(i, j)
    ry(i, j) = (ry(i, j) - aa(i, j) * ry(i, j + 1)) * d(i, j)
  end subroutine

  subroutine by_columns(n, x, y, rx, ry, aa, dd, d)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n), y(n, n), rx(n, n), ry(n, n), aa(n, n), dd(n, n), d(n, n)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        call point(n, x, y, rx, ry, aa, dd, i, j)
      end do
    end do
    do i = 2, n - 1
      d(i, 2) = 1 / dd(i, 2)
    end do
    do j = 3, n - 1
      do i = 2, n - 1
        call down(n, rx, ry, aa, dd, d, i, j)
      end do
    end do
    do i = 2, n - 1
      rx(i, n - 1) = rx(i, n - 1) * d(i, n - 1)
      ry(i, n - 1) = ry(i, n - 1) * d(i, n - 1)
    end do
    do j = n - 2, 2, -1
      do i = 2, n - 1
        call up(n, rx, ry, aa, d, i, j)
      end do
    end do
    do j = 2, n - 1
      do i = 2, n - 1
        x(i, j) = x(i, j) + rx(i, j)
        y(i, j) = y(i, j) + ry(i, j)
      end do
    end do
  end subroutine

  subroutine by_rows(n, x, y, rx, ry, aa, dd, d)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n), y(n, n), rx(n, n), ry(n, n), aa(n, n), dd(n, n), d(n, n)
    integer :: i, j
    do i = 2, n - 1
      do j = 2, n - 1
        call point(n, x, y, rx, ry, aa, dd, i, j)
      end do
    end do
    do i = 2, n - 1
      d(i, 2) = 1 / dd(i, 2)
    end do
    do i = 2, n - 1
      do j = 3, n - 1
        call down(n, rx, ry, aa, dd, d, i, j)
      end do
    end do
    do i = 2, n - 1
      rx(i, n - 1) = rx(i, n - 1) * d(i, n - 1)
      ry(i, n - 1) = ry(i, n - 1) * d(i, n - 1)
    end do
    do i = 2, n - 1
      do j = n - 2, 2, -1
        call up(n, rx, ry, aa, d, i, j)
      end do
    end do
    do i = 2, n - 1
      do j = 2, n - 1
        x(i, j) = x(i, j) + rx(i, j)
        y(i, j) = y(i, j) + ry(i, j)
      end do
    end do
  end subroutine

  integer(wide) function run_mesh(columns, n, rounds) result(total)
    logical, intent(in) :: columns
    integer, intent(in) :: n, rounds
    real(8), allocatable :: x(:, :), y(:, :), rx(:, :), ry(:, :), aa(:, :), dd(:, :), d(:, :)
    integer :: i, j, r
    if (n < 4) error stop 'mesh: the size is less than 4'
    allocate(x(n, n))
    allocate(y(n, n))
    allocate(rx(n, n))
    allocate(ry(n, n))
    allocate(aa(n, n))
    allocate(dd(n, n))
    allocate(d(n, n))
    do j = 1, n
      do i = 1, n
        x(i, j) = i + 0.125d0 * mod(i * j, 3)
        y(i, j) = j + 0.125d0 * mod(i + j, 5)
      end do
    end do
    call start()
    do r = 1, rounds
      if (columns) then
        call by_columns(n, x, y, rx, ry, aa, dd, d)
      else
        call by_rows(n, x, y, rx, ry, aa, dd, d)
      end if
    end do
    call finish()
    total = ieor(ishftc(checksum(x), 1), checksum(y))
  end function
end module
