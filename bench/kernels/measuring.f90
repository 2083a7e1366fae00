! SPDX-License-Identifier: GPL-2.0-or-later
! What the kernels in Fortran share: a clock and a checksum. As in kernels.c, making the input and the
! checksum are not in the time.
module measuring
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc
  implicit none
  integer, parameter :: wide = selected_int_kind(18)
  integer(wide), private :: started
  real, private :: started_cpu
  real(8) :: seconds = 0, cpu_seconds = 0
contains
  subroutine start()
    call system_clock(started)
    call cpu_time(started_cpu)
  end subroutine

  subroutine finish()
    integer(wide) :: now, rate
    real :: now_cpu
    call cpu_time(now_cpu)
    call system_clock(now, rate)
    cpu_seconds = cpu_seconds + (now_cpu - started_cpu)
    seconds = seconds + real(now - started, 8) / real(rate, 8)
  end subroutine

  ! Of the bits, in the array's order. TRANSFER of each element would be a call with a temporary.
  integer(wide) function checksum(v) result(total)
    real(8), intent(in), target, contiguous :: v(:, :)
    integer(wide), pointer :: bits(:)
    integer :: i
    call c_f_pointer(c_loc(v), bits, [size(v)])
    total = 0
    do i = 1, size(bits)
      total = ieor(ishftc(total, 7), bits(i))
    end do
  end function
end module
