# SPDX-License-Identifier: GPL-2.0-or-later
# loci record where memory for the rings is short, or there is none: the program is unharmed, and
# what is missing is said. /dev/shm is a file system of this test's own.
. "$SRC/tests/cli/expect.sh"
[ -x "$(dirname "$LOCI")/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null || {
	echo "no Valgrind, or built without"
	exit 77
}
if [ -z "${ROOM-}" ]; then
	unshare -m true 2>/dev/null || {
		echo "not permitted to make a mount namespace"
		exit 77
	}
	ROOM=own exec unshare -m bash "$0"
fi
mount --make-rprivate / 2>/dev/null

# shm OPTIONS: what /dev/shm is from here on
shm() {
	umount /dev/shm 2>/dev/null
	mount -t tmpfs -o "$1" shm /dev/shm || {
		echo "not permitted to mount"
		exit 77
	}
}
mkdir small
mkfifo fifo begun
mount -t tmpfs -o size=64k small small || exit 77

# Too small for a run, or not to be written: TMPDIR does as well.
kinds="size=64k size=1m ro"
! is_sanitized || kinds=size=64k
for options in $kinds; do
	shm $options
	expect 3 loci record -o p.loci sh -c 'echo fine; /bin/true; exit 3'
	has out fine
	has err "2 processes"
	lacks err "not recorded"
	[ -z "$(ls -A /dev/shm)" ] || fail "left behind: $(ls -A /dev/shm)"
	rm -f ran
	expect 1 env TMPDIR="$PWD/small" loci record -o p.loci touch ran
	has err "make room, or name another directory in TMPDIR"
	[ -e ran ] && fail "a program ran without a place for its ring"
done

# Twenty at once, in 64 MiB and in little more than a run is begun with.
sizes="64m 9m"
! is_sanitized || sizes=9m
for size in $sizes; do
	shm size=$size
	expect 0 loci record -o p.loci sh -c 'all="1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
		exec 3<>fifo 4<>begun
		for i in $all; do /bin/sh -c "echo >&4; read line <&3" & done
		for i in $all; do read line <&4; done
		for i in $all; do echo >&3; done
		wait'
	has err "21 processes"
	lacks err "not recorded"
	[ -z "$(ls -A /dev/shm)" ] || fail "left behind: $(ls -A /dev/shm)"
done

# It fills up while the program runs: its ring has been paid for, a child's cannot be.
shm size=9m
expect 4 loci record -o p.loci sh -c 'dd if=/dev/zero of=/dev/shm/full bs=1M 2>/dev/null; /bin/echo child; exit 4'
has out child
has err "1 process was not recorded: no room for the ring in /dev/shm"
expect 0 sqlite3 p.loci "select complete || note from run"
has out "01 process was not recorded"
rm /dev/shm/full
[ -z "$(ls -A /dev/shm)" ] || fail "left behind: $(ls -A /dev/shm)"

# The profile's own file system is full: no profile, none of its pieces, and the program's status.
for want in 0 3; do
	expect $((want ? want : 1)) loci record -o small/p.loci sh -c "exit $want"
	has err "small/p.loci"
	[ -z "$(ls -A small)" ] || fail "left behind: $(ls -A small)"
done
finish
