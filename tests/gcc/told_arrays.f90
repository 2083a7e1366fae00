! SPDX-License-Identifier: GPL-2.0-or-later
! Arrays as gfortran tells them, counted in tests/cli/gcc_told_test.sh.
module work
  implicit none
contains
  subroutine fill(a, n)
    integer, intent(in) :: n
    real(8), intent(out) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = i
    end do
  end subroutine fill

  subroutine add(a, b, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    real(8), intent(inout) :: b(n)
    integer :: i
    do i = 1, n
      b(i) = b(i) + a(i)
    end do
  end subroutine add
end module work

program arrays
  use work
  implicit none
  real(8), allocatable :: x(:), y(:)
  allocate (x(1000), y(1000))
  call fill(x, 1000)
  call fill(y, 1000)
  call add(x, y, 1000)
  print '(f10.1)', y(1000)
end program arrays
