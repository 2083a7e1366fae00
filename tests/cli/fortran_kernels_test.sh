# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels of bench/kernels in Fortran: both variants of each compute the same, whichever compiler made
# them; built by loci flang, the recording shows why one is slow.
# Not under sanitizers: slow, and nothing new.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
compile=$SRC/bench/kernels/compile_fortran.sh
need_flang
export FC="$LOCI flang --loci-flang=$flang"
expect 0 "$compile" "$PWD/kernels" -O2
sums() { # PROGRAM
	local name
	for name in alternating transform mesh shallow solvers; do
		"$1" $name row 16 2 | cut -d ' ' -f 1,3-5
		"$1" $name column 16 2 | cut -d ' ' -f 1,3-5
	done
}
sums ./kernels >sums
[ "$(uniq sums | wc -l)" = 5 ] && [ "$(wc -l <sums)" = 10 ] || fail "rows and columns differ: $(cat sums)"
cut -d ' ' -f 4 sums | grep -qx '0*' && fail "a sum is 0: $(cat sums)"
if command -v gfortran >/dev/null; then
	FC=gfortran expect 0 "$compile" "$PWD/other" -O2
	sums ./other | cmp -s sums - || fail "gfortran's say $(sums ./other), flang's $(cat sums)"
fi
expect 0 ./kernels list
[ "$(wc -l <out)" = 10 ] || fail "the list: $(cat out)"
expect 2 ./kernels alternating diagonal
has err "usage"

# The references of a round of alternating to its arrays, by formula: 26 n^2 - 14 n. -O0: each is one.
FC="$FC" expect 0 "$compile" "$PWD/plain" -O0
expect 0 loci record -q --collector cc -o adi.loci ./plain alternating row 50 1
[ "$(sqlite3 adi.loci "select sum(access.refs) from site join access on site_id = site.id join object on object_id = object.id
	join function on site.function_id = function.id where function.name = 'alternating::by_rows' and object.name in ('x', 'a', 'b')")" = 64300 ] ||
	fail "alternating: $(loci report --by object adi.loci)"

# By rows, every reference of a column's line comes back after a row of lines: 120 do not fit in 4 KiB.
for variant in row column; do
	expect 0 loci record -q --collector cc --cache L1=4K/64 -o $variant.loci ./kernels shallow $variant 120 1
done
misses() { sqlite3 $1.loci "select sum(misses) from level_count where owner = 'site'"; }
[ "$(misses row)" -gt $((4 * $(misses column))) ] || fail "misses by rows $(misses row), by columns $(misses column)"
expect 0 loci report row.loci
has out "shallow::"
finish
