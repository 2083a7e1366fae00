# SPDX-License-Identifier: GPL-2.0-or-later
# Traces that are none: every one gets a message that names it, status 1, and no profile.
. "$SRC/tests/cli/expect.sh"

refused() { # NAME TEXT [OPTIONS]: loci analyse NAME says TEXT
	local name=$1 text=$2
	shift 2
	expect 1 loci analyse "$@" -o out.loci "$name"
	has err "loci: "
	has err "$text"
	[ ! -e out.loci ] || fail "$name left a profile behind"
	[ -z "$(find . -name 'out.loci*')" ] || fail "$name left $(find . -name 'out.loci*') behind"
	[ "$(wc -l <err)" -le 3 ] || fail "$name: the message is long"
	rm -f out.loci*
}

: >empty
refused empty "empty"
refused missing "missing"
mkdir dir
refused dir "directory"
seq 1 100000 | gzip -n | tail -c 100000 >noise # the same each time
refused noise "noise"
printf ' L 1000,4\n L zzzz,4\n' >bad.lackey
refused bad.lackey "bad.lackey:2"
printf '0 1000\n2 zz\n' >bad.din
refused bad.din "bad.din:2" --format din
printf ' L 11112222333344445,4\n' >wide.lackey
refused wide.lackey "wide.lackey:1" --format lackey
printf ' L 1000,2147483648\n' >huge.lackey
refused huge.lackey "huge.lackey:1" --format lackey
head -c 1048576 /dev/zero | tr '\0' a >long.txt
refused long.txt "long.txt"
seq 1 100000 | gzip >cut.gz
truncate -s 50000 cut.gz
refused cut.gz "cut.gz"
seq 1 100000 | zstd -q >cut.zst
truncate -s 20000 cut.zst
refused cut.zst "cut.zst"
seq 1 100 >plain
refused plain "format" --format nosuch
printf '==1== nothing but chatter\n==1== \n' >chatter
refused chatter "chatter"

# Windows line ends are nothing to stumble over.
printf ' L 1000,4\r\n S 1008,8\r\n' >crlf.lackey
expect 0 loci analyse -o crlf.loci crlf.lackey
has err "2 references"

# A torn trace of our own is read up to its last whole frame, and says so; a damaged one is refused.
awk 'BEGIN { srand(2); for (i = 0; i < 1000000; i++) printf "0x%x\n", int(rand() * 1e9) }' >many.txt
expect 0 loci analyse -q -o many.loci --trace many.trace many.txt
size=$(stat -c %s many.trace)
head -c $((size - size / 4)) many.trace >torn.trace
expect 0 loci analyse -o torn.loci torn.trace
has err "torn"
cp many.trace broken.trace
printf 'XXXXXXXX' | dd of=broken.trace bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
refused broken.trace "broken.trace"

# A full disk: nothing is left behind.
if mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	expect 1 loci analyse -o small/p.loci many.txt
	has err "small/p.loci"
	[ -z "$(ls -A small)" ] || fail "left on the full disk: $(ls small)"
	umount small
fi
finish
