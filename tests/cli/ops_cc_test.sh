# SPDX-License-Identifier: GPL-2.0-or-later
# From source to loci ops: programs whose operations are known by formula, vectorised and not, with
# every clang; recorded and counted. What the profile says is recomputed by SQL.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
oracle() { python3 "$SRC/tests/cli/ops_oracle.py" "$LOCI" "$1" || fail "$1 is not what SQL says"; }

# of FILE FUNCTION FIGURE: as loci ops --by function has it
of() {
	[ -e "$1.csv" ] || loci ops --by function --csv "$1" >"$1.csv"
	awk -F, -v name="$2" -v figure="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["name"] == "\"" name "\"" { print $at[figure] }' "$1.csv"
}

# is FILE FUNCTION FIGURE WANT
is() {
	local got
	got=$(of "$1" "$2" "$3")
	[ "$got" = "$4" ] || fail "$1: $3 of $2 is $got, want $4"
}

# elements FILE FUNCTION KIND: loads or stores of a function, each element of a vector one
elements() {
	sqlite3 "$1" "select coalesce(sum(executions * count * lanes), 0) from operation join block on block.id = block_id
		join function on function.id = function_id where name = '$2' and kind = '$3'"
}

# vectored FILE FLOPS: of shape on vectors, but for the last elements, of which there may be too few for one
vectored() {
	local got
	got=$(of "$1" shape vector_flops)
	((got <= $2 && got > $2 - 12 * 64)) || fail "$1: vector_flops of shape is $got, want $2"
}

# Byfl's example: 1000 elements and 3 rounds. abs, subtract, compare and multiply for each, and an
# addition in double precision, which may not be reordered.
shape() { # MAJOR NAME VECTORS FLAG..
	local major=$1 name=$1.$2 vectors=$3
	shift 3
	expect 0 cc "$major" --loci-ops -g "$@" -o shape "$SRC/tests/counted/shape.c" -lm
	expect 0 loci record -q --footprint -o "$name.loci" ./shape 1000 3
	is "$name.loci" shape invocations 3
	is "$name.loci" shape flops 15000
	is "$name.loci" shape loaded_bytes 24000
	is "$name.loci" shape stored_bytes 12000
	is "$name.loci" fill memset_calls 3
	is "$name.loci" fill memset_bytes 12000
	is "$name.loci" fill memcpy_calls 3
	is "$name.loci" fill memcpy_bytes 12000
	vectored "$name.loci" $((vectors ? 12000 : 0))
	[ "$(elements "$name.loci" shape load)" = 6000 ] || fail "$name: loads of shape"
	[ "$(elements "$name.loci" shape store)" = 3000 ] || fail "$name: stores of shape"
	[ "$(sqlite3 "$name.loci" "select loaded_bytes || ' ' || stored_bytes || ' ' || touched_bytes from footprint
		where owner_id = (select id from function where name = 'shape')")" = '8000 4000 8000' ] ||
		fail "$name: distinct bytes of shape"
	[ "$(sqlite3 "$name.loci" "select sum(executions * count) from invocation join block on block.id = block_id
		where callee in ('shape', 'malloc')")" = 5 ] || fail "$name: calls"
	oracle "$name.loci"
	# counted alone, all is the same but what only references tell
	expect 0 loci record -q -m count -o "$name.count.loci" ./shape 1000 3
	oracle "$name.count.loci"
	loci ops --csv "$name.loci" | grep -v '^mem.*_bytes' >one
	loci ops --csv "$name.count.loci" | grep -v '^mem.*_bytes' >two
	cmp one two || fail "$name: counted otherwise than recorded: $(diff one two)"
}

# Kernels: closed forms of their flops and stores, whatever the compiler makes of them and wherever it
# inlines it; of a file's lines before the first function that only prepares.
kernel() { # FILE NAME VARIANT SIZE ROUNDS FLOPS STORES SOURCE
	local file=$1 got end
	expect 0 loci record -q --pairs none -o "$file" ./kernels "$2" "$3" "$4" "$5"
	end=$(grep -n -m1 '^static uint64_t' "$SRC/bench/kernels/$8" | cut -d: -f1)
	got=$(sqlite3 "$file" "select sum(executions * count * lanes * (kind like 'float%')) || ' ' ||
		sum(executions * count * lanes * (kind = 'store')) from operation join block on block.id = block_id
		join source on source.id = source_id where path like '%/$8' and line < $end")
	[ "$got" = "$6 $7" ] || fail "$file: $got flops and stores, want $6 $7"
	oracle "$file"
}
kernels() { # MAJOR NAME FLAG..
	local major=$1 name=$1.$2 n
	shift 2
	expect 0 env CC="loci cc --loci-clang=$major --loci-ops" CXX="loci c++ --loci-clang=$major --loci-ops" \
		"$SRC/bench/kernels/compile.sh" kernels plain "$@"
	kernel "$name.triad.loci" triad row 1000 2 4000 2000 triad.c
	kernel "$name.strided.loci" triad strided 1000 2 4000 2000 triad.c
	n=21
	kernel "$name.ijk.loci" product ijk $n 2 $((4 * n * n * n)) $((2 * n * n)) matrix_product.c
	kernel "$name.stencil.loci" stencil2 row 30 2 $((2 * 4 * 28 * 28)) $((2 * 28 * 28)) stencil.c
	# of k: n - k - 1 quotients, and as many squared products and differences
	kernel "$name.lu.loci" lu column $n 1 $(((n - 1) * n / 2 + (n - 1) * n * (2 * n - 1) / 3)) \
		$(((n - 1) * n / 2 + (n - 1) * n * (2 * n - 1) / 6)) lu.c
}
for major in $clangs; do
	shape "$major" O1 0 -O1 -fno-vectorize
	shape "$major" O2 1 -O2
	shape "$major" wide 1 -O3 -march=native -ffp-contract=off
done
major=${clangs##* }
kernels "$major" O1 -O1
kernels "$major" O3 -O3
vectors=$(loci ops --csv "$major.O3.triad.loci" | sed -n 's/^vector_flops,//p')
[ "$vectors" -ge 3900 ] || fail "triad at -O3 has $vectors flops on vectors"

# Without operations there is no profile of a count.
expect 0 cc "$major" -g -O1 -o shape "$SRC/tests/counted/shape.c" -lm
expect 0 loci record -m count ./shape 10 1
[ ! -e shape.loci ] || fail "-m count made a profile of nothing"
expect 1 loci record -m count -o x.loci ./shape 10 1
has err 'none were counted'
expect 0 loci record -q ./shape 10 1
expect 1 loci ops shape.loci
has err 'loci cc --loci-ops'
finish
