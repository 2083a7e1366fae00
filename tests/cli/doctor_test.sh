# SPDX-License-Identifier: GPL-2.0-or-later
# loci doctor: what works here, and what is said of what does not.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

# word of a collector: "yes" or "no"
verdict() { sed -n "s/^  $1  *\([a-z]*\) .*/\1/p" out; }

# Without Valgrind in PATH: no, why, and the remedy.
mkdir empty
expect 1 env PATH="$PWD/empty" "$LOCI" doctor
[ "$(verdict any)" = no ] || fail "any works without Valgrind"
has out "apt install valgrind"
[ "$(verdict import)" = yes ] || fail "import does not work"
has out lackey
narrow
for collector in cc gcc pmu step mpi; do
	[ "$(verdict $collector)" = no ] || fail "$collector works"
done
has out "not in this version"

# What loci cc needs, and a clang that does not take the pass.
. "$SRC/tests/cli/toolchains.sh"
fake_tree tree
expect 1 env PATH="$PWD/empty" tree/bin/loci doctor
has out "loci-pass-N.so"
fake_tree tree 14
expect 1 env PATH="$PWD/empty" tree/bin/loci doctor
tr -s ' \n' ' ' <out >words
has words "there is none in PATH: apt install clang-14"
fake_clang bin/clang-14 14
expect 1 env PATH="$PWD/bin" tree/bin/loci doctor
tr -s ' \n' ' ' <out >words
has words "clang-14 does not compile a small program with loci's pass"
printf '#!/bin/sh\necho "error: unable to load plugin"\nexit 1\n' >bin/clang-14
expect 1 env PATH="$PWD/bin" tree/bin/loci doctor
tr -s ' \n' ' ' <out >words
has words "clang-14 does not take loci's pass: error: unable to load plugin"
rm tree/lib/loci/libloci-rt.so
expect 1 env PATH="$PWD/bin" tree/bin/loci doctor
tr -s ' \n' ' ' <out >words
has words "libloci-rt.so: No such file or directory; install loci whole"

# What calls itself Valgrind and is none, and one of another version.
mkdir fake
printf '#!/bin/sh\necho nonsense\n' >fake/valgrind
chmod +x fake/valgrind
expect 1 env PATH="$PWD/fake" "$LOCI" doctor
has out "does not say its version"
mkdir libexec
printf '#!/bin/sh\necho valgrind-3.19.0\n' >libexec/loci-amd64-linux
printf '#!/bin/sh\necho valgrind-3.99.0\n' >fake/valgrind
chmod +x libexec/loci-amd64-linux
expect 1 env PATH="$PWD/fake" LOCI_LIBEXEC="$PWD/libexec" "$LOCI" doctor
tr -s ' \n' ' ' <out >words
has words "Valgrind 3.99.0 is installed ($PWD/fake/valgrind), and loci was built for 3.19.0"
expect 1 env PATH="$PWD/fake" LOCI_LIBEXEC="$PWD/empty" "$LOCI" doctor
has out "LOCI_LIBEXEC"

# A launcher that starts and never sends anything.
printf '#!/bin/sh\n[ "$1" = --version ] && echo valgrind-3.19.0\nexit 0\n' >fake/valgrind
expect 1 env PATH="$PWD/fake" LOCI_LIBEXEC="$PWD/libexec" "$LOCI" doctor
has out "sent nothing"

expect 1 env PATH="$PWD/fake" LOCI_LIBEXEC="$PWD/libexec" "$LOCI" doctor --json
valid doctor
has out '"valgrind": "3.19.0"'
expect 1 env PATH="$PWD/empty" "$LOCI" doctor --json
has out '"valgrind": null'

# Here.
if [ -x "$BUILD/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null; then
	expect 0 loci doctor
	[ "$(verdict any)" = yes ] || fail "any does not work: $(cat out)"
	has out "references of /bin/true"
	narrow
	expect 0 loci doctor --json
	valid doctor
fi

# Fortran is another compiler's, and may be missing.
version=$(clangs | head -n 1)
if [ "$version" = 19 ] && [ -f "$BUILD/lib/loci/libloci-rt.so" ]; then
	mkdir only && ln -s "$(command -v clang-19)" "$(command -v ld)" only
	env PATH="$PWD/only" "$LOCI" doctor >out
	tr -s ' \n' ' ' <out >words
	has words "no Fortran: loci flang compiles with flang 19, and there is none in PATH: apt install flang-19"
	if (need_flang) >/dev/null; then
		loci doctor >out
		tr -s ' \n' ' ' <out >words
		has words "loci flang compiles with flang 19 ("
	fi
fi

expect 2 loci doctor now
has err '"now"'
expect 2 loci doctor --nonsense
finish
