#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs into an empty directory and uses what is there as a stranger would: runs the program,
# compiles the example against the header through pkg-config (shared, static and from C++), reads
# the manual pages. Run with SRC and BUILD.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
	echo "install.sh: $*" >&2
	failures=$((failures + 1))
}
must() {
	"$@" >"$dir/log" 2>&1 || {
		fail "failed: $*"
		cat "$dir/log" >&2
	}
}

DESTDIR=$dir/root cmake --install "$BUILD" >"$dir/log" 2>&1 || {
	cat "$dir/log" >&2
	exit 1
}
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:[^=]*=//p' "$BUILD/CMakeCache.txt")
root=$dir/root$prefix

for file in bin/loci share/man/man1/loci.1 share/man/man1/loci-record.1 share/man/man1/loci-annotate.1 \
	share/man/man1/loci-doctor.1 share/man/man1/loci-c++.1 bin/loci-cc bin/loci-gcc share/man/man1/loci-gcc.1 bin/loci-flang bin/loci-mpicxx share/bash-completion/completions/loci; do
	[ -f "$root/$file" ] || fail "$file is not installed"
done
must "$root/bin/loci" --version
must bash -n "$root/share/bash-completion/completions/loci"

# It records with what was installed, and with nothing of the build.
if [ -x "$BUILD/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null; then
	tools=$(find "$root" -name loci-amd64-linux)
	[ -x "$tools" ] || fail "the collector's tool is not installed"
	for file in vgpreload_core-amd64-linux.so default.supp; do
		[ -f "${tools%/*}/$file" ] || fail "$file is not beside the tool, or leads nowhere"
	done
	(cd "$dir" && "$root/bin/loci" record -q -o p.loci sh -c 'echo $VALGRIND_LIB; /bin/true' >lib 2>log) ||
		fail "the installed loci does not record: $(cat "$dir/log")"
	[ "$(cat "$dir/lib")" = "${tools%/*}" ] || fail "records with the tool in $(cat "$dir/lib")"
	must "$root/bin/loci" report "$dir/p.loci"
fi

# It compiles with what was installed, wherever that is moved.
if ls "$BUILD"/lib/loci/loci-pass-*.so >/dev/null 2>&1; then
	mv "$dir/root" "$dir/moved to"
	printf '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n' >"$dir/hello.c"
	printf 'volatile int cell;\nint main(void)\n{\n\tfor (int i = 0; i < 1000; i++)\n\t\tcell = i;\n\treturn 0;\n}\n' >"$dir/stores.c"
	moved="$dir/moved to$prefix"
	for kind in -O2 -static; do
		must "$moved/bin/loci" cc "$kind" "$dir/hello.c" -o "$dir/hello"
		[ "$("$dir/hello")" = hello ] || fail "what the installed loci cc $kind compiles does not run"
		readelf -SW "$dir/hello" | grep -q ' loci_fn ' || fail "the installed loci cc $kind does not instrument"
		# and what it compiles is recorded by it: a thousand stores
		must "$moved/bin/loci" cc -O1 -g $kind "$dir/stores.c" -o "$dir/stores"
		must "$moved/bin/loci" record -q --collector cc -o "$dir/stores.loci" "$dir/stores"
		stores=$(sqlite3 "$dir/stores.loci" "select sum(refs) from site join function on function.id = function_id where name = 'main'")
		[ "$stores" = 1000 ] || fail "the installed loci records $stores references of what it compiled ($kind)"
	done
	must "$moved/bin/loci-c++" -x c++ "$dir/hello.c" -o "$dir/hello"
	if command -v flang-new-19 >/dev/null && [ -e "$BUILD/lib/loci/loci-pass-19.so" ]; then
		printf "print '(a)', 'hello'\nend\n" >"$dir/hello.f90"
		for kind in -O2 -static; do
			must "$moved/bin/loci-flang" $kind "$dir/hello.f90" -o "$dir/hello90"
			[ "$("$dir/hello90")" = hello ] || fail "what the installed loci flang $kind compiles does not run"
			readelf -SW "$dir/hello90" | grep -q ' loci_fn ' || fail "the installed loci flang $kind does not instrument"
		done
	fi
	readelf -d "$dir/hello" | grep -q "moved to$prefix/.*/libloci-rt.so" || fail "not linked to the installed runtime"
	mv "$dir/moved to" "$dir/root"
fi

# A manual page renders without a warning.
if command -v groff >/dev/null; then
	for page in "$SRC"/doc/man/*.[1-8]; do
		warnings=$(groff -I "$root/share/man" -mandoc -Tutf8 -rLL=100n -ww -z "$page" 2>&1)
		[ -z "$warnings" ] || fail "$page: $warnings"
	done
else
	echo "install.sh: groff is missing: manual pages not checked"
fi

pc=$(find "$root" -name loci.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$dir/root
must pkg-config --exists --print-errors loci
flags=$(pkg-config --cflags --libs loci)
libdir=$dir/root$(pkg-config --variable=libdir loci | sed "s,^$dir/root,,")
strict='-Wall -Wextra -Wpedantic -Werror'

must cc -std=c99 $strict "$SRC/examples/misses.c" -o "$dir/misses" $flags
LD_LIBRARY_PATH=$libdir "$dir/misses" >"$dir/shared.out" 2>&1 || fail "misses: $(cat "$dir/shared.out")"
# Ten sweeps over 1024 blocks: too many for the first cache, not for the second.
for line in '^L1 *10240 *10240 ' '^L2 *10240 *1024 '; do
	grep -q "$line" "$dir/shared.out" || fail "misses: no $line in $(cat "$dir/shared.out")"
done

if [ -f "$libdir/libloci.a" ]; then
	libs=$(PKG_CONFIG_SYSROOT_DIR= pkg-config --libs --static sqlite3)
	must cc -std=c99 $strict $(pkg-config --cflags loci) "$SRC/examples/misses.c" \
		-o "$dir/misses-static" "$libdir/libloci.a" $libs -lm -pthread
	"$dir/misses-static" >"$dir/static.out" 2>&1
	cmp "$dir/shared.out" "$dir/static.out" || fail "static and shared library disagree"
fi

if command -v c++ >/dev/null; then
	printf '#include <loci.h>\nint main() { return loci_version() == nullptr; }\n' >"$dir/cxx.cpp"
	must c++ -std=c++11 $strict "$dir/cxx.cpp" -o "$dir/cxx" $flags
	must env LD_LIBRARY_PATH="$libdir" "$dir/cxx"
else
	echo "install.sh: c++ is missing: loci.h not tried from C++"
fi

# Marks: the example, from C and C++, and what Fortran compiles.
must pkg-config --exists --print-errors loci-mark
flags=$(pkg-config --cflags loci-mark)
must cc -std=c99 $strict -O2 -g "$SRC/examples/marked.c" -o "$dir/marked" $flags
[ "$("$dir/marked")" = 16.674 ] || fail "marked prints $("$dir/marked")"
if [ -x "$BUILD/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null; then
	must "$root/bin/loci" record -q --collector any -o "$dir/marked.loci" "$dir/marked"
	steps=$(sqlite3 "$dir/marked.loci" "select group_concat(name || entries) from (select * from region order by name)")
	[ "$steps" = relax4,residual4,step4 ] || fail "the installed marks tell $steps"
fi
if command -v c++ >/dev/null; then
	printf '#include <loci/mark.h>\nint main() { loci::region r("all"); loci_phase("x"); }\n' >"$dir/mark.cpp"
	for standard in c++98 c++17; do
		must c++ -std=$standard $strict "$dir/mark.cpp" -o "$dir/mark" $flags
		must "$dir/mark"
	done
fi
if command -v gfortran >/dev/null; then
	must gfortran -J "$dir" -O1 "$(pkg-config --variable=fortran loci-mark)" \
		"$SRC/tests/marks/marks_fortran.f90" -o "$dir/fortran" $(pkg-config --libs loci-mark)
	must "$dir/fortran"
fi

# The libraries export the names of the map, and no other.
sed -n 's/^[[:space:]]*\(loci_[a-z0-9_]*\);.*/\1/p' "$SRC/src/api/loci.map" | sort >"$dir/want"
grep -oE '\bloci_[a-z0-9_]+\(' "$root/include/loci.h" | tr -d '(' | sort -u >"$dir/declared"
diff "$dir/want" "$dir/declared" >&2 || fail "loci.map and loci.h differ"
nm -D --defined-only "$libdir/libloci.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$dir/got"
diff "$dir/want" "$dir/got" >&2 || fail "libloci.so exports other names than loci.map"
if [ -f "$libdir/libloci.a" ]; then
	nm -g --defined-only "$libdir/libloci.a" | awk 'NF == 3 { print $3 }' | sort >"$dir/got"
	diff "$dir/want" "$dir/got" >&2 || fail "libloci.a exports other names than loci.map"
fi
objdump -p "$libdir/libloci.so.0" | grep -q 'SONAME *libloci.so.0$' || fail "the SONAME is not libloci.so.0"

[ "$failures" = 0 ] && echo passed
exit $((failures != 0))
