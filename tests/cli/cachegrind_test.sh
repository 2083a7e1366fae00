# SPDX-License-Identifier: GPL-2.0-or-later
# The misses of six first-level caches from one profile, against Cachegrind simulating each: within
# 0.1 %. Both count references; doc/method.md says where else the two differ.
. "$SRC/tests/cli/expect.sh"
command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }
loci doctor 2>/dev/null | grep -q '^ *any *yes' || { echo "the any collector does not work here"; exit 77; }

# misses SIZE,WAYS,LINE COMMAND..: Cachegrind's
misses() {
	local cache=$1
	shift
	valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null "--D1=$cache" "$@" \
		2>&1 >/dev/null </dev/null | sed -n 's/.*D1  misses: *\([0-9,]*\) .*/\1/p' | tr -d ,
}

compare() {
	local cache size ways line theirs ours
	expect 0 loci record -q --no-kernel --sets --pairs none -b 64,32 -o p.loci -- "$@"
	for cache in 32768,8,64 49152,12,64 16384,4,64 8192,1,64 65536,2,64 32768,8,32; do
		IFS=, read -r size ways line <<<"$cache"
		theirs=$(misses "$cache" "$@")
		ours=$(sqlite3 p.loci "select cast(reference_misses as integer) from v_cache where ways = $ways
			and block_bytes = $line and sets = $((size / ways / line))")
		echo "$(basename "$1") $cache: Cachegrind $theirs, loci $ours"
		awk "BEGIN { d = $ours - $theirs; if (d < 0) d = -d; exit !(d <= 0.001 * $theirs) }" ||
			fail "$* at $cache: $ours misses, Cachegrind has $theirs"
	done
}

head -c 200000 "$LOCI" >text
compare "$BUILD/examples/matmul" ijk
compare gzip -9 -c text
base64 text >lines
compare sort lines
compare sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
	select sum(length(hex(i * i))) from n'
finish
