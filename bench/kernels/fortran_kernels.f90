! SPDX-License-Identifier: GPL-2.0-or-later
! Kernels in Fortran, called as those in C:	fortran_kernels NAME VARIANT [SIZE [ROUNDS]]
!						fortran_kernels list
!
! By rows is the slow variant of each, by columns the tuned one; see kernels.c for what is printed.
program fortran_kernels
  use measuring
  use alternating
  use transform
  use mesh
  use shallow
  use solvers
  implicit none
  type kernel
    character(len=16) :: name
    integer :: size, rounds
  end type
  type(kernel), parameter :: kernels(5) = [kernel('alternating', 500, 8), kernel('transform', 256, 8), &
    kernel('mesh', 400, 8), kernel('shallow', 300, 8), kernel('solvers', 64, 8)]
  character(len=16) :: name, variant, word
  integer :: i, at, n, rounds
  integer(wide) :: total
  call get_command_argument(1, name)
  if (name == 'list') then
    do i = 1, size(kernels)
      write (*, '(2a, i0, 1x, i0)') trim(kernels(i)%name), ' row ', kernels(i)%size, kernels(i)%rounds
      write (*, '(2a, i0, 1x, i0)') trim(kernels(i)%name), ' column ', kernels(i)%size, kernels(i)%rounds
    end do
    stop 0, quiet=.true.
  end if
  call get_command_argument(2, variant)
  at = 0
  do i = 1, size(kernels)
    if (kernels(i)%name == name) at = i
  end do
  if (at == 0 .or. (variant /= 'row' .and. variant /= 'column')) then
    write (0, '(a)') 'usage: fortran_kernels NAME row|column [SIZE [ROUNDS]] | fortran_kernels list'
    stop 2, quiet=.true.
  end if
  n = number(3, kernels(at)%size)
  rounds = number(4, kernels(at)%rounds)
  select case (name)
  case ('alternating')
    total = run_alternating(variant == 'column', n, rounds)
  case ('transform')
    total = run_transform(variant == 'column', n, rounds)
  case ('mesh')
    total = run_mesh(variant == 'column', n, rounds)
  case ('shallow')
    total = run_shallow(variant == 'column', n, rounds)
  case ('solvers')
    total = run_solvers(variant == 'column', n, rounds)
  end select
  write (*, '(4a, i0, 1x, i0, 1x, z16.16, 2(1x, f0.6))') trim(name), ' ', trim(variant), ' ', n, rounds, total, &
    seconds, cpu_seconds
contains
  integer function number(argument, default)
    integer, intent(in) :: argument, default
    integer :: status
    call get_command_argument(argument, word)
    read (word, *, iostat=status) number
    if (status /= 0 .or. number <= 0) number = default
  end function
end program
