! SPDX-License-Identifier: GPL-2.0-or-later
! Fast Fourier transform in two dimensions of a size x size grid, size a power of two: along every
! column, then along every row. A row is transformed as a whole before the next, or all advance
! together, column by column. The butterflies are the same ones.
!
! Four arrays of size^2 and two of size / 2: 16.4 K elements for 64^2 and 65.6 K for 128^2, of which the
! FFT of Ding and Zhong (2001), Table 2, has 16.5 K and 65.7 K.
module transform
  use measuring
  implicit none
  private
  public :: run_transform
contains
  integer function reversed(at, bits)
    integer, intent(in) :: at, bits
    integer :: k
    reversed = 0
    do k = 0, bits - 1
      if (btest(at, k)) reversed = ibset(reversed, bits - 1 - k)
    end do
  end function

  ! Of one column, or of one row by its stride.
  subroutine one(n, bits, re, im, stride, from_re, from_im, wr, wi)
    integer, intent(in) :: n, bits, stride
    real(8), intent(inout) :: re(*), im(*)
    real(8), intent(in) :: from_re(*), from_im(*), wr(n / 2), wi(n / 2)
    integer :: length, half, at, k, low, high
    real(8) :: hr, hi
    do k = 0, n - 1
      at = reversed(k, bits)
      re(k * stride + 1) = from_re(at * stride + 1)
      im(k * stride + 1) = from_im(at * stride + 1)
    end do
    length = 2
    do while (length <= n)
      half = length / 2
      do at = 0, n - 1, length
        do k = 0, half - 1
          low = (at + k) * stride + 1
          high = (at + k + half) * stride + 1
          hr = re(high) * wr(k * (n / length) + 1) - im(high) * wi(k * (n / length) + 1)
          hi = re(high) * wi(k * (n / length) + 1) + im(high) * wr(k * (n / length) + 1)
          re(high) = re(low) - hr
          im(high) = im(low) - hi
          re(low) = re(low) + hr
          im(low) = im(low) + hi
        end do
      end do
      length = 2 * length
    end do
  end subroutine

  subroutine together(n, bits, re, im, from_re, from_im, wr, wi)
    integer, intent(in) :: n, bits
    real(8), intent(inout) :: re(n, n), im(n, n)
    real(8), intent(in) :: from_re(n, n), from_im(n, n), wr(n / 2), wi(n / 2)
    integer :: length, half, at, i, k, low, high
    real(8) :: hr, hi
    do k = 1, n
      at = reversed(k - 1, bits) + 1
      do i = 1, n
        re(i, k) = from_re(i, at)
        im(i, k) = from_im(i, at)
      end do
    end do
    length = 2
    do while (length <= n)
      half = length / 2
      do at = 0, n - 1, length
        do k = 0, half - 1
          low = at + k + 1
          high = low + half
          do i = 1, n
            hr = re(i, high) * wr(k * (n / length) + 1) - im(i, high) * wi(k * (n / length) + 1)
            hi = re(i, high) * wi(k * (n / length) + 1) + im(i, high) * wr(k * (n / length) + 1)
            re(i, high) = re(i, low) - hr
            im(i, high) = im(i, low) - hi
            re(i, low) = re(i, low) + hr
            im(i, low) = im(i, low) + hi
          end do
        end do
      end do
      length = 2 * length
    end do
  end subroutine

  integer(wide) function run_transform(columns, n, rounds) result(total)
    logical, intent(in) :: columns
    integer, intent(in) :: n, rounds
    real(8), parameter :: pi = 3.14159265358979323846d0
    real(8), allocatable :: re(:, :), im(:, :), work_re(:, :), work_im(:, :), wr(:), wi(:)
    integer :: i, j, r, bits
    bits = bit_size(n) - 1 - leadz(n)
    if (n < 2 .or. n /= ibset(0, bits)) error stop 'transform: the size is no power of two'
    allocate(re(n, n))
    allocate(im(n, n))
    allocate(work_re(n, n))
    allocate(work_im(n, n))
    allocate(wr(n / 2))
    allocate(wi(n / 2))
    do i = 1, n / 2
      wr(i) = cos(2 * pi * (i - 1) / n)
      wi(i) = sin(2 * pi * (i - 1) / n)
    end do
    do j = 1, n
      do i = 1, n
        re(i, j) = mod(i + 5 * j, 23)
        im(i, j) = 0
      end do
    end do
    call start()
    do r = 1, rounds
      do j = 1, n
        call one(n, bits, work_re(1, j), work_im(1, j), 1, re(1, j), im(1, j), wr, wi)
      end do
      if (columns) then
        call together(n, bits, re, im, work_re, work_im, wr, wi)
      else
        do i = 1, n
          call one(n, bits, re(i, 1), im(i, 1), n, work_re(i, 1), work_im(i, 1), wr, wi)
        end do
      end if
      do j = 1, n
        do i = 1, n
          re(i, j) = re(i, j) / (real(n, 8) * n)
          im(i, j) = im(i, j) / (real(n, 8) * n)
        end do
      end do
    end do
    call finish()
    total = ieor(ishftc(checksum(re), 1), checksum(im))
  end function
end module
