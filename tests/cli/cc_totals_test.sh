# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels, built by loci cc in every way: they compute what they compute without, on their own and
# recorded, and the counting copy counts as many references as the tracing copy streams. make check-long: every way with every clang.
# Not under sanitizers: slow, and nothing new.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

# Of each kernel, a small size.
sizes="product:24 triad:5000 stencil2:60 stencil3:16 adi:50 fft:9 lu:40 cg:16 bfs:2000 join:8 list:2000
	quicksort:3000 btree:500 backprop:100 diffusion:40 hydro:50 sp:12 sweep3d:10"

# natively: what every kernel prints, but for its time, into the file native.out
natively() {
	local name variant size
	while read -r name variant _; do
		size=$(echo $sizes | tr ' ' '\n' | sed -n "s/^$name://p")
		[ -z "$size" ] || ./native "$name" "$variant" "$size" 1
	done < <(./native list) | cut -d ' ' -f 1-5 >native.out
	[ "$(wc -l <native.out)" = 40 ] || fail "$(wc -l <native.out) kernels"
}

# as_native WHAT: the last command printed it too
as_native() {
	[ "$(cut -d ' ' -f 1-5 out)" = "$name $variant $size 1 $sum" ] || fail "$1: $(cat out), natively $sum"
}

# try WHAT: every kernel of ./kernels; every other one, and those next time, unless in make check-long
turn=0
try() {
	local name variant size sum streamed counted
	turn=$((turn + 1))
	while read -r name variant size _ sum; do
		turn=$((turn + 1))
		[ $((turn % 2)) = 0 ] || [ -n "${LONG-}" ] || continue
		expect 0 ./kernels "$name" "$variant" "$size" 1
		as_native "$1"
		expect 0 loci record -q --collector cc --pairs none -o p.loci ./kernels "$name" "$variant" "$size" 1
		as_native "$1, recorded"
		streamed=$(sqlite3 p.loci 'select refs from run where complete and not lost')
		expect 0 loci record --collector cc -m count ./kernels "$name" "$variant" "$size" 1
		as_native "$1, counting"
		counted=$(sed -n 's/^loci: \([0-9]*\) references.*/\1/p' err)
		[ -n "$streamed" ] && [ "$streamed" = "$counted" ] ||
			fail "$1: $name $variant: $streamed references streamed, $counted counted"
	done <native.out
}

major=${clangs##* }
CC=clang-$major CXX=clang++-$major expect 0 "$SRC/bench/kernels/compile.sh" "$PWD/native" plain -O1
natively
way() { # MAJOR KIND FLAG..
	local major=$1
	shift
	echo "clang $major, $*"
	CC="loci cc --loci-clang=$major" CXX="loci c++ --loci-clang=$major" \
		expect 0 "$SRC/bench/kernels/compile.sh" "$PWD/kernels" "$@"
	try "clang $major, $*"
}
in_turn "$clangs" way lto -O2
in_turn "$clangs" way plain -O3 -march=native
if [ -n "${LONG-}" ]; then
	in_turn "$clangs" way plain -O0
	in_turn "$clangs" way plain -O2
	in_turn "$clangs" way static -O2
	in_turn "$clangs" way shared -O2
fi
finish
