! SPDX-License-Identifier: GPL-2.0-or-later
! Shallow water equations on a size x size torus, after the pattern of SPEC's Swim (Sadourny 1975):
! thirteen arrays, three passes in a step, and the borders. Loops by columns, as Fortran stores them, or
! by rows; each element is computed the same way.
module shallow
  use measuring
  implicit none
  private
  public :: run_shallow
  real(8), parameter :: tdt = 90, fsdx = 4d-5, fsdy = 4d-5, alpha = 0.001d0
  real(8), allocatable, dimension(:, :) :: u, v, p, unew, vnew, pnew, uold, vold, pold, cu, cv, z, h
contains
  ! Mass fluxes, potential vorticity and height of one point.
  subroutine fluxes(i, j)
    integer, intent(in) :: i, j
    cu(i + 1, j) = 0.5d0 * (p(i + 1, j) + p(i, j)) * u(i + 1, j)
    cv(i, j + 1) = 0.5d0 * (p(i, j + 1) + p(i, j)) * v(i, j + 1)
    z(i + 1, j + 1) = (fsdx * (v(i + 1, j + 1) - v(i, j + 1)) - fsdy * (u(i + 1, j + 1) - u(i + 1, j))) &
      / (p(i, j) + p(i + 1, j) + p(i + 1, j + 1) + p(i, j + 1))
    h(i, j) = p(i, j) + 0.25d0 * (u(i + 1, j)**2 + u(i, j)**2 + v(i, j + 1)**2 + v(i, j)**2)
  end subroutine

  subroutine advance(i, j)
    integer, intent(in) :: i, j
    unew(i + 1, j) = uold(i + 1, j) + tdt / 8 * (z(i + 1, j + 1) + z(i + 1, j)) &
      * (cv(i + 1, j + 1) + cv(i, j + 1) + cv(i, j) + cv(i + 1, j)) - tdt * 1d-5 * (h(i + 1, j) - h(i, j))
    vnew(i, j + 1) = vold(i, j + 1) - tdt / 8 * (z(i + 1, j + 1) + z(i, j + 1)) &
      * (cu(i + 1, j + 1) + cu(i, j + 1) + cu(i, j) + cu(i + 1, j)) - tdt * 1d-5 * (h(i, j + 1) - h(i, j))
    pnew(i, j) = pold(i, j) - tdt * 1d-5 * (cu(i + 1, j) - cu(i, j)) - tdt * 1d-5 * (cv(i, j + 1) - cv(i, j))
  end subroutine

  subroutine smooth(i, j)
    integer, intent(in) :: i, j
    uold(i, j) = u(i, j) + alpha * (unew(i, j) - 2 * u(i, j) + uold(i, j))
    vold(i, j) = v(i, j) + alpha * (vnew(i, j) - 2 * v(i, j) + vold(i, j))
    pold(i, j) = p(i, j) + alpha * (pnew(i, j) - 2 * p(i, j) + pold(i, j))
    u(i, j) = unew(i, j)
    v(i, j) = vnew(i, j)
    p(i, j) = pnew(i, j)
  end subroutine

  ! What lies behind one border is what lies before the other.
  subroutine wrap(n, a)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n + 1, n + 1)
    integer :: k
    do k = 2, n
      a(1, k) = a(n + 1, k)
      a(k, 1) = a(k, n + 1)
      a(n + 1, k) = a(1, k)
      a(k, n + 1) = a(k, 1)
    end do
    a(1, 1) = a(n + 1, n + 1)
    a(n + 1, 1) = a(1, 1)
    a(1, n + 1) = a(1, 1)
  end subroutine

  subroutine step(n, columns)
    integer, intent(in) :: n
    logical, intent(in) :: columns
    integer :: i, j
    if (columns) then
      do j = 1, n
        do i = 1, n
          call fluxes(i, j)
        end do
      end do
    else
      do i = 1, n
        do j = 1, n
          call fluxes(i, j)
        end do
      end do
    end if
    call wrap(n, cu)
    call wrap(n, cv)
    call wrap(n, z)
    call wrap(n, h)
    if (columns) then
      do j = 1, n
        do i = 1, n
          call advance(i, j)
        end do
      end do
    else
      do i = 1, n
        do j = 1, n
          call advance(i, j)
        end do
      end do
    end if
    call wrap(n, unew)
    call wrap(n, vnew)
    call wrap(n, pnew)
    if (columns) then
      do j = 1, n + 1
        do i = 1, n + 1
          call smooth(i, j)
        end do
      end do
    else
      do i = 1, n + 1
        do j = 1, n + 1
          call smooth(i, j)
        end do
      end do
    end if
  end subroutine

  integer(wide) function run_shallow(columns, n, rounds) result(total)
    logical, intent(in) :: columns
    integer, intent(in) :: n, rounds
    integer :: i, j, r
    allocate(u(n + 1, n + 1))
    allocate(v(n + 1, n + 1))
    allocate(p(n + 1, n + 1))
    allocate(unew(n + 1, n + 1))
    allocate(vnew(n + 1, n + 1))
    allocate(pnew(n + 1, n + 1))
    allocate(uold(n + 1, n + 1))
    allocate(vold(n + 1, n + 1))
    allocate(pold(n + 1, n + 1))
    allocate(cu(n + 1, n + 1))
    allocate(cv(n + 1, n + 1))
    allocate(z(n + 1, n + 1))
    allocate(h(n + 1, n + 1))
    do j = 1, n + 1
      do i = 1, n + 1
        u(i, j) = mod(i, 7) - 3
        v(i, j) = mod(j, 5) - 2
        p(i, j) = 50000 + mod(i + j, 11)
        uold(i, j) = u(i, j)
        vold(i, j) = v(i, j)
        pold(i, j) = p(i, j)
        cu(i, j) = 0
        cv(i, j) = 0
        z(i, j) = 0
        h(i, j) = 0
        unew(i, j) = 0
        vnew(i, j) = 0
        pnew(i, j) = 0
      end do
    end do
    call start()
    do r = 1, rounds
      call step(n, columns)
    end do
    call finish()
    total = ieor(ishftc(checksum(u), 2), ieor(ishftc(checksum(v), 1), checksum(p)))
  end function
end module
