# SPDX-License-Identifier: GPL-2.0-or-later
# loci record among programs that cannot be recorded, with another Valgrind, without memory: the
# program runs as it would, or does not begin, and the message has the remedy.
. "$SRC/tests/cli/expect.sh"
[ -x "$(dirname "$LOCI")/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null || {
	echo "no Valgrind, or built without"
	exit 77
}

# A program of 32 bits that ends with status 5.
printf '.globl _start\n_start: movl $1, %%eax\nmovl $5, %%ebx\nint $0x80\n' >short.s
as --32 -o short.o short.s && ld -m elf_i386 -o short short.o || fail "as"
expect 126 loci record ./short
has err "loci records programs for x86-64"
printf '#!%s\n' "$PWD/short" >script
chmod +x script
expect 126 loci record ./script
if ./short; [ $? = 5 ]; then # the kernel may know none
	for program in ./short ./script; do
		expect 7 loci record sh -c "$program; echo child \$?; exit 7"
		has out "child 5"
		lacks err valgrind
		has err "1 program ran unwatched"
		[ "$(sqlite3 sh.loci 'select note from run')" ] || fail "the profile does not tell"
	done
	expect 5 loci record sh -c "exec ./short"
fi

# Rights of another user.
cp /bin/echo rights
chmod u+s rights
expect 126 loci record ./rights
has err "cp ./rights copy"
expect 0 loci record sh -c './rights child; :'
has out child
has err "1 program ran unwatched"
# An exec that fails leaves all as it was: the file is no program, though it may be executed.
head -c 40 short >torn
chmod +x torn
expect 0 loci record bash -c 'shopt -s execfail; exec ./torn; echo goes on; exec /bin/echo child'
has out "goes on"
has out "child"
lacks err unwatched
[ "$(sqlite3 bash.loci 'select count(*) from process')" = 3 ] ||
	fail "processes: $(sqlite3 bash.loci 'select * from process')"

# Instructions that Valgrind does not know.
printf '.globl _start\n_start: vmovupd -64(%%rsp), %%zmm0\nmovl $60, %%eax\nxorl %%edi, %%edi\nsyscall\n' >wide.s
as -o wide.o wide.s && ld -o wide wide.o || fail "as"
expect 132 loci record ./wide
has err "of this program"
has err "-mno-avx512f"
expect 2 loci record sh -c './wide; exit 2'
has err "of a program that this one started"

# Valgrind of another version, something else of that name, no tool.
mkdir other alone
printf '#!/bin/sh\necho valgrind-3.99.0\n' >other/valgrind
chmod +x other/valgrind
expect 1 env PATH="$PWD/other:$PATH" loci record touch ran
has err "Valgrind 3.99.0 is installed"
has err "build loci again"
env PATH="$PWD/other:$PATH" loci doctor >out 2>err # 0 where loci cc works
tr -s ' \n' ' ' <out >flat
has flat "any no Valgrind 3.99.0 is installed"
printf '#!/bin/sh\nexit 1\n' >other/valgrind
expect 1 env PATH="$PWD/other:$PATH" loci record touch ran
has err "does not say its version"
cp "$LOCI" alone
expect 1 alone/loci record touch ran
has err "install loci whole"
[ -e ran ] && fail "a program ran without its collector"

# Little memory: a profile or none, but no crash, and a program that has the room goes on.
case $(nm "$LOCI" 2>/dev/null) in
*__asan_init*) echo "sanitizers take memory of their own: not tried with little" ;;
*)
	for kib in 80000 120000 160000 200000 240000 280000; do
		rm -f p.loci
		(ulimit -v $kib && loci record -o p.loci sh -c 'echo fine; exit 9' >out 2>err)
		status=$?
		case $status in
		9) has out fine ;;
		1) has err loci: ;;
		*) fail "status $status with $kib KiB: $(cat err)" ;;
		esac
		[ ! -e p.loci ] || loci report p.loci >/dev/null || fail "a bad profile with $kib KiB"
	done
	;;
esac

# What a new user tries.
expect 1 loci record -o . true
has err "is a directory"
expect 1 loci record -o /dev/full true
has err "is no file"
expect 127 loci record 'ls -l'
has err "words of their own"
for mode in exact count sample watch; do
	expect 127 loci record -m $mode ./nothere
	has err "there is no such program"
	expect 126 loci record -m $mode ./alone
	has err "is a directory"
done
finish
