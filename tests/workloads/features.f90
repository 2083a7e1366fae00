! SPDX-License-Identifier: GPL-2.0-or-later
! What there is in Fortran that compilers make unusual code of: it prints the same whoever compiled it.
module shapes
  implicit none
  type, abstract :: shape
    character(len=:), allocatable :: name
  contains
    procedure(area_of), deferred :: area
    procedure :: describe
  end type
  abstract interface
    real(8) function area_of(self)
      import :: shape
      class(shape), intent(in) :: self
    end function
  end interface
  type, extends(shape) :: circle
    real(8) :: r
  contains
    procedure :: area => circle_area
    final :: forget
  end type
  type, extends(shape) :: rectangle
    real(8) :: sides(2)
  contains
    procedure :: area => rectangle_area
  end type
  type node
    integer :: value
    type(node), pointer :: next => null()
  end type
  interface operator(.near.)
    module procedure near
  end interface
  integer :: forgotten = 0
contains
  real(8) function circle_area(self)
    class(circle), intent(in) :: self
    circle_area = 3 * self%r**2
  end function
  real(8) function rectangle_area(self)
    class(rectangle), intent(in) :: self
    rectangle_area = product(self%sides)
  end function
  subroutine describe(self)
    class(shape), intent(in) :: self
    print '(a, f8.2)', self%name, self%area()
  end subroutine
  subroutine forget(self)
    type(circle), intent(inout) :: self
    if (self%r > 0) forgotten = forgotten + 1
  end subroutine
  elemental logical function near(a, b)
    real(8), intent(in) :: a, b
    near = abs(a - b) < 1d-9
  end function
  recursive integer function depth(n) result(d)
    integer, intent(in) :: n
    if (n <= 1) then
      d = 1
    else
      d = depth(n / 2) + depth(n - n / 2)
    end if
  end function
  subroutine optional_arguments(a, b)
    integer, intent(in) :: a
    integer, intent(in), optional :: b
    if (present(b)) then
      print '(a, 2i4)', 'both', a, b
    else
      print '(a, i4)', 'one', a
    end if
  end subroutine
  function strings(n) result(words)
    integer, intent(in) :: n
    character(len=4), allocatable :: words(:)
    integer :: i
    allocate(words(n))
    do i = 1, n
      write (words(i), '(a, i0)') 'w', i
    end do
  end function
  subroutine sort(v, compare)
    integer, intent(inout) :: v(:)
    interface
      logical function compare(a, b)
        integer, intent(in) :: a, b
      end function
    end interface
    integer :: i, j, k
    do i = 2, size(v)
      k = v(i)
      do j = i - 1, 1, -1
        if (compare(v(j), k)) exit
        v(j + 1) = v(j)
      end do
      v(j + 1) = k
    end do
  end subroutine
end module

block data
  common /numbers/ first, second(3)
  integer :: first, second
  data first, second / 7, 1, 2, 3 /
end block data

program features
  use shapes
  implicit none
  common /numbers/ first, second(3)
  integer :: first, second
  class(shape), allocatable :: any_shape
  type(node), pointer :: list, at
  complex(8) :: wave(8), total
  integer :: i, v(20), unit, status
  integer, allocatable :: grown(:)
  real(8), target :: grid(6, 6)
  real(8), pointer :: inner(:, :)
  real(4) :: single
  integer(4) :: bits
  equivalence (single, bits)
  logical :: mask(6)
  character(len=40) :: line
  namelist /settings/ i, single

  allocate(any_shape, source=round(2d0))
  call any_shape%describe()
  deallocate(any_shape)
  allocate(rectangle :: any_shape)
  any_shape%name = 'rectangle'
  select type (any_shape)
  type is (rectangle)
    any_shape%sides = [2, 5]
  end select
  call any_shape%describe()

  nullify(list)
  do i = 1, 5
    allocate(at)
    at%value = i * i
    at%next => list
    list => at
  end do
  i = 0
  at => list
  do while (associated(at))
    i = i + at%value
    at => at%next
  end do
  print '(a, i4)', 'list', i

  wave = [(exp(cmplx(0, 0.5d0 * i, 8)), i = 1, 8)]
  total = sum(wave * conjg(wave))
  print '(a, f6.2, l2)', 'wave', real(total), total%im .near. 0d0

  do concurrent (i = 1:20)
    v(i) = mod(i * 7, 20)
  end do
  call sort(v, ascending)
  print '(a, 20i3)', 'sorted', v
  print '(a, i4)', 'depth', depth(100)
  call optional_arguments(1)
  call optional_arguments(1, b=2)
  print '(*(a, 1x))', strings(4)

  grid = reshape([(i, i = 1, 36)], [6, 6])
  inner => grid(2:5:3, 6:1:-2)
  inner = inner * 10
  mask = grid(:, 2) > 80
  where (mask) grid(:, 1) = 0
  print '(a, 6f6.0)', 'grid', grid(:, 1)
  print '(a, 6f6.0)', 'turned', matmul(transpose(grid(1:2, :)), [1d0, 1d0])
  print '(a, 2i4, f8.1)', 'found', maxloc(grid), maxval(grid, mask=grid < 100)

  grown = [1, 2, 3]
  grown = [grown, grown, [(i, i = 4, 6)]]
  print '(a, 9i2)', 'grown', grown
  single = 1
  print '(a, z8)', 'bits', bits
  print '(a, 4i3)', 'common', first, second

  open(newunit=unit, status='scratch', form='formatted')
  i = 3
  write (unit, nml=settings)
  rewind(unit)
  i = 0
  read (unit, nml=settings, iostat=status)
  close(unit)
  print '(a, 2i3)', 'namelist', i, status
  write (line, '(es10.3)') 12345.678d0
  print '(3a)', '|', trim(adjustl(line)), '|'
  block
    real(8) :: room(i * 100)
    room = [(i, i = 1, size(room))]
    print '(a, f9.1)', 'automatic', sum(room)
  end block
  print '(a, i2)', 'forgotten', merge(1, 0, forgotten > 0)
  goto 10
  print *, 'never'
10 select case (first)
  case (:5)
    print '(a)', 'low'
  case (6:9)
    print '(a)', 'middle'
  case default
    print '(a)', 'high'
  end select
contains
  type(circle) function round(r)
    real(8), intent(in) :: r
    round%r = r
    round%name = 'circle'
  end function
  logical function ascending(a, b)
    integer, intent(in) :: a, b
    ascending = a <= b
  end function
end program
