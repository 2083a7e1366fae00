# SPDX-License-Identifier: GPL-2.0-or-later
# The misses of six first-level caches from one profile, against Cachegrind simulating each: within
# 0.1 %. Both count references; doc/method.md says where else the two differ.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }
loci doctor 2>/dev/null | grep -q '^ *any *yes' || { echo "the any collector does not work here"; exit 77; }

cachegrind="valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null"
record="loci record -q --no-kernel --sets --pairs none -b 64,32 -o p.loci --"

# Where things lie moves the misses of a direct-mapped cache by several per cent. The stack begins
# below the environment, to which each of the two adds something of its own, and the loader puts
# the path of Valgrind's library before thread-local data. So both get a path of the same length,
# and as many variables of as many bytes.
ours="env -i PATH=$PATH HOME=$HOME PWD=$PWD LC_ALL=C" theirs=$ours
our_library=$($ours $record env | sed -n 's,^LD_PRELOAD=\(.*\)/.*,\1,p')
ln -s "$($theirs $cachegrind env 2>/dev/null | sed -n 's,^LD_PRELOAD=\(.*\)/.*,\1,p')" v
their_library=$PWD/v
while [ ${#their_library} -lt ${#our_library} ]; do their_library+=/; done
theirs+=" VALGRIND_LIB=$their_library"
read -r our_lines our_bytes <<<"$($ours $record env | wc -lc)"
read -r their_lines their_bytes <<<"$($theirs $cachegrind env 2>/dev/null | wc -lc)"
for ((i = 100; our_lines < their_lines; i++, our_lines++, our_bytes += 6)); do ours+=" P$i="; done
for ((i = 100; their_lines < our_lines; i++, their_lines++, their_bytes += 6)); do theirs+=" P$i="; done
most=$((our_bytes > their_bytes ? our_bytes : their_bytes))
ours+=" PAD=$(printf '%0*d' $((1 + most - our_bytes)) 0)"
theirs+=" PAD=$(printf '%0*d' $((1 + most - their_bytes)) 0)"
[ "$($ours $record env | wc -lc)" = "$($theirs $cachegrind env 2>/dev/null | wc -lc)" ] ||
	fail "the environments differ in size"

# misses SIZE,WAYS,LINE COMMAND..: Cachegrind's
misses() {
	local cache=$1
	shift
	$theirs $cachegrind "--D1=$cache" "$@" 2>&1 >/dev/null </dev/null |
		sed -n 's/.*D1  misses: *\([0-9,]*\) .*/\1/p' | tr -d ,
}

# Three of the caches for each program, in turn; in make check-long all.
turn=0
compare() {
	local cache size ways line want got
	expect 0 $ours $record "$@"
	turn=$((turn + 1))
	for cache in 32768,8,64 49152,12,64 16384,4,64 8192,1,64 65536,2,64 32768,8,32; do
		turn=$((turn + 1))
		[ $((turn % 2)) = 0 ] || [ -n "${LONG-}" ] || continue
		IFS=, read -r size ways line <<<"$cache"
		want=$(misses "$cache" "$@")
		got=$(sqlite3 p.loci "select cast(reference_misses as integer), cast(misses as integer)
			from v_cache where ways = $ways and block_bytes = $line and
			sets = $((size / ways / line))")
		echo "$(basename "$1") $cache: Cachegrind $want, loci ${got%|*} (${got#*|} by touch)"
		awk "BEGIN { d = ${got%|*} - $want; if (d < 0) d = -d; exit !(d <= 0.001 * $want) }" ||
			fail "$* at $cache: ${got%|*} misses, Cachegrind has $want"
	done
}

head -c 60000 "$LOCI" >text
base64 text >lines
compare "$BUILD/examples/matmul" ijk
compare "$(command -v gzip)" -9 -c text
compare "$(command -v sort)" lines
compare "$(command -v sqlite3)" :memory: 'with recursive n(i) as (select 1 union all
	select i + 1 from n where i < 5000) select sum(length(hex(i * i))) from n'
finish
