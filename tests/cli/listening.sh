# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of the collector for any binary: runs programs under it and writes their streams
# down as text (tests/listen.c), with nothing else of the environment than both tools compared get.
. "$SRC/tests/cli/expect.sh"
work=$BUILD/tests/workloads

if [ ! -x "$BUILD/libexec/loci/loci-amd64-linux" ]; then
	echo "built without Valgrind"
	exit 77
fi
# One folder for both tools: its name is part of the program's environment, and so of its stack.
mkdir lib
ln -s "$BUILD"/libexec/loci/* lib/
ln -s "$(dirname "$(readlink -f lib/default.supp)")"/{lackey,none}-amd64-linux lib/

under() {
	env -i PATH=/usr/bin:/bin LC_ALL=C VALGRIND_LIB="$PWD/lib" ${LISTEN:+"$BUILD/tests/listen" $LISTEN streams} \
		valgrind -q --vgdb=no --vex-guest-chase=no --vex-iropt-unroll-thresh=0 "$@"
}

# The stream of the process that no other one made: numbers of processes begin again some time.
first_stream() {
	local file pid
	for file in streams/*.0; do
		pid=${file##*/}
		[ "$(ls streams | wc -l)" = 1 ] ||
			! grep -qE "^FORK t[0-9]+ $(printf '%x' "${pid%.*}")( |\$)" streams/* || continue
		echo "$file"
		return
	done
}

# listen OPTION.. PROGRAM ARGUMENT..: streams/PID.N are the streams, stream the first
listen() {
	local status
	rm -rf streams
	mkdir streams
	LISTEN="${LISTEN:-" "}" under --tool=loci --log-file=log '--run-dir={}' "$@"
	status=$?
	stream=$(first_stream)
	return $status
}

# await COMMAND..: until what is written so far of the only stream, its input, satisfies it
await() {
	until cat streams/*.0 2>/dev/null | "$@" >/dev/null; do sleep 0.1; done
}

# The references of a stream: without the kernel's, threads and sites.
references() {
	awk '($1 == "L" || $1 == "S") && !/ K/ { print $1, $3, $4 }' "$1"
}

# count FILE PATTERN NUMBER
count() {
	local n
	n=$(grep -cE -- "$2" "$1")
	[ "$n" = "$3" ] || fail "$1 has $n lines, want $3: $2"
}
