# SPDX-License-Identifier: GPL-2.0-or-later
# Fortran whose references follow from its source, built by loci flang and recorded: exactly as many as
# the formulas of tests/counted/closed_fortran.py say, at every level; the same program by gfortran and
# Valgrind has the same names.
# Not under sanitizers: slow, and nothing new.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_flang
counted=$SRC/tests/counted
sources="$counted/closed_fortran.f90 $counted/closed_fortran_main.f90"
want='n 37 2109.00 4518.00 101306.00 100352.00'

# way LEVEL FLAG..
way() {
	local level=$1 n
	shift
	expect 0 "$LOCI" flang --loci-flang="$flang" -g "$@" $sources -o forms
	for n in 37 64; do
		expect 0 "$LOCI" record -q --collector cc --pairs none -o forms.loci ./forms $n
		[ $n = 64 ] || [ "$(cat out)" = "$want" ] || fail "$*: says $(cat out)"
		python3 "$counted/closed_fortran.py" forms.loci $level $n >differs || fail "$*, n $n: $(cat differs)"
	done
	# counting sees as much as tracing
	expect 0 "$LOCI" record -m count ./forms 64
	[ "$(grep -o '[0-9]* references' err)" = "$(sqlite3 forms.loci 'select sum(refs) from site') references" ] ||
		fail "$*: counted $(cat err), traced $(sqlite3 forms.loci 'select sum(refs) from site')"
}
way O0 -O0
way opt -O1
way opt -O2
way opt -O3 -march=native
way opt -O2 -static
# What flang's library does is not seen, and that is said.
expect 0 "$LOCI" report forms.loci
has out "calls into unseen code: flang's run-time library"

# Names: of what flang's library allocates, too; the kinds and shapes of arrays.
expect 0 "$LOCI" flang --loci-flang="$flang" -g -O0 $sources -o forms
expect 0 "$LOCI" record -q --collector cc -o forms.loci ./forms 37
objects() {
	sqlite3 "$1" "select name || ' ' || ifnull(type, '-') || ' ' || size_bytes from object
		where kind in ('heap', 'global') and name in ('x', 'a', 'room', 'points', 'forms::table') order by name" | tr '\n' ';'
}
[ "$(objects forms.loci)" = 'a real(kind=8) 10952;forms::table real(kind=8)(64,32) 16384;points - 888;room real(kind=8) 296;x real(kind=8) 296;' ] ||
	fail "objects: $(objects forms.loci)"
functions() {
	sqlite3 "$1" "select distinct name from function where name like 'forms::%' or name = '$2' order by name" | tr '\n' ' '
}
all='forms::allocating forms::derived forms::fill forms::intrinsics forms::loop forms::section forms::strided forms::turn forms::whole '
[ "$(functions forms.loci 'main program')" = "${all}main program " ] || fail "functions: $(functions forms.loci 'main program')"

# A sweep of 2 KiB by columns stays near, by rows each line comes back after a whole row of lines.
cat >sweep.f90 <<'END'
program sweep
  implicit none
  real(8) :: field(128, 64)
  integer :: i, j
  field = 0
  do j = 1, 64
    do i = 1, 128
      field(i, j) = field(i, j) + i
    end do
  end do
  do i = 1, 128
    do j = 1, 64
      field(i, j) = field(i, j) + j
    end do
  end do
  print *, sum(field)
end program
END
expect 0 "$LOCI" flang --loci-flang="$flang" -g -O1 sweep.f90 -o sweep
expect 0 "$LOCI" record -q --collector cc --cache L1=2K/32 -o sweep.loci ./sweep
# 1024 lines, or one more where it does not begin with one: by columns one miss each; by rows every column's line was used 63 others ago, which 32 lines
# do not hold: one miss for each of 8192 elements.
[ "$(sqlite3 sweep.loci "select line, sum(misses) - (line = 8 and sum(misses) = 1025) from site join level_count on owner = 'site' and owner_id = site.id
	where line in (8, 13) group by line" | tr '\n' ' ')" = '8|1024 13|8192 ' ] ||
	fail "misses: $(sqlite3 sweep.loci "select line, sum(misses) from site join level_count on owner = 'site' and owner_id = site.id group by line")"
[ "$(sqlite3 sweep.loci "select name, type, kind from object where size_bytes = 65536")" = 'field (main program)|real(kind=8)(128,64)|global' ] ||
	fail "the field: $(sqlite3 sweep.loci 'select name, type, kind, size_bytes from object')"

# gfortran's program, any collector
if command -v gfortran >/dev/null && "$LOCI" doctor 2>/dev/null | grep -q '^ *any *yes'; then
	expect 0 gfortran -g -O1 -J. $sources -o gforms
	expect 0 "$LOCI" record -q --collector any -o gforms.loci ./gforms 37
	[ "$(objects gforms.loci)" = 'a real(kind=8) 10952;forms::table real(kind=8)(64,32) 16384;points point 888;room real(kind=8) 296;x real(kind=8) 296;' ] ||
		fail "objects of gfortran's: $(objects gforms.loci)"
	[ "$(functions gforms.loci closed_fortran)" = "closed_fortran $all" ] || fail "functions of gfortran's: $(functions gforms.loci closed_fortran)"
fi
finish
