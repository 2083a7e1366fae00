# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels, built by loci cc in every way: they compute what they compute without, on their own and
# recorded, and the counting copy counts as many references as the tracing copy streams.
# Not under sanitizers: slow, and nothing new.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

# Of each kernel, a small size.
sizes="product:24 triad:5000 stencil2:60 stencil3:16 adi:50 fft:9 lu:40 cg:16 bfs:2000 join:8 list:2000
	quicksort:3000 btree:500 backprop:100 diffusion:40 hydro:50 sp:12 sweep3d:10"

# try WHAT: every kernel of ./kernels, against ./native
try() {
	local name variant size streamed counted
	while read -r name variant _; do
		size=$(echo $sizes | tr ' ' '\n' | sed -n "s/^$name://p")
		[ -n "$size" ] || continue
		expect 0 ./native "$name" "$variant" "$size" 1
		cut -d ' ' -f 1-5 out >native.out
		expect 0 ./kernels "$name" "$variant" "$size" 1
		cut -d ' ' -f 1-5 out | cmp -s native.out - || fail "$1: $name $variant: $(cat out), natively $(cat native.out)"
		expect 0 loci record -q --collector cc --pairs none -o p.loci ./kernels "$name" "$variant" "$size" 1
		cut -d ' ' -f 1-5 out | cmp -s native.out - || fail "$1: $name $variant recorded: $(cat out), natively $(cat native.out)"
		streamed=$(sqlite3 p.loci 'select refs from run where complete and not lost')
		counted=$(count ./kernels "$name" "$variant" "$size" 1)
		[ -n "$streamed" ] && [ "$streamed" = "$counted" ] ||
			fail "$1: $name $variant: $streamed references streamed, $counted counted"
	done < <(./native list)
}

# count COMMAND..: what its counting copies say
count() {
	loci record --collector cc -m count "$@" 2>&1 >/dev/null | grep -oE '[0-9]+ references' | cut -d ' ' -f 1
}

major=${clangs##* }
CC=clang-$major CXX=clang++-$major expect 0 "$SRC/bench/kernels/compile.sh" "$PWD/native" plain -O1
for major in $clangs; do
	export CC="loci cc --loci-clang=$major" CXX="loci c++ --loci-clang=$major"
	for way in 'plain -O0' 'plain -O2' 'plain -O3 -march=native' 'static -O2' 'shared -O2' 'lto -O2'; do
		expect 0 "$SRC/bench/kernels/compile.sh" "$PWD/kernels" $way
		try "clang $major, $way"
	done
done
finish
