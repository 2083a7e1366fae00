#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the Debian packages, unpacks them into an empty root and runs what is there: as `make deb`
# does in make check-long, when lintian must find no error either (LINTIAN), else without an optimiser
# and with the library and the collectors of the build at hand. Run with SRC and BUILD.
set -u
if ! command -v dpkg-shlibdeps >/dev/null; then
	echo "package.sh: skipped, dpkg-dev is missing"
	exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
	echo "package.sh: $*" >&2
	failures=$((failures + 1))
}

made=$BUILD/deb options=()
if [ -z "${LONG-}" ]; then
	made=$BUILD/package
	options=(-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 "-DLOCI_COLLECTORS=$BUILD"
		"-DLOCI_LIBRARY=$BUILD/libloci-core.a")
fi
"$SRC/scripts/deb.sh" "$made" "${options[@]}" >"$dir/log" 2>&1 || {
	cat "$dir/log" >&2
	exit 1
}
for deb in "$made"/*.deb; do
	dpkg-deb -x "$deb" "$dir/root" || fail "$deb cannot be unpacked"
done
"$dir/root/usr/bin/loci" --version >/dev/null || fail "the packaged loci does not run"
for page in loci loci-record loci-annotate loci-doctor loci-cc loci-c++ loci-flang loci-mpicc; do
	[ -f "$dir/root/usr/share/man/man1/$page.1.gz" ] || fail "$page.1.gz is missing"
done

program=$(echo "$made"/loci_*.deb)
depends=$(dpkg-deb -f "$program" Depends)
for library in libc6 libsqlite3-0 libzstd1 zlib1g libdw1; do
	[[ $depends == *$library* ]] || fail "loci does not depend on $library: $depends"
done

# The collector comes along, stripped and with its links, and needs the Valgrind it was built for.
if [ -x "$BUILD/libexec/loci/loci-amd64-linux" ]; then
	version=$(pkg-config --modversion valgrind)
	for relation in ">=" "<<"; do
		[[ $depends =~ valgrind\ \($relation\ ([0-9]+:)?${version//./\\.} ]] ||
			fail "loci does not depend on valgrind ($relation $version): $depends"
	done
	if command -v valgrind >/dev/null; then
		(cd "$dir" && root/usr/bin/loci record -q true && root/usr/bin/loci report true.loci >/dev/null) ||
			fail "the packaged loci does not record"
	fi
fi

# And loci cc, with a pass for each clang that the build has one for. These are recommended.
if ls "$BUILD"/lib/loci/loci-pass-*.so >/dev/null 2>&1; then
	recommends=$(dpkg-deb -f "$program" Recommends)
	lib=$dir/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/loci
	for pass in "$BUILD"/lib/loci/loci-pass-*.so; do
		version=${pass##*-}
		version=${version%.so}
		[ -f "$lib/${pass##*/}" ] || fail "${pass##*/} is not packaged"
		[[ $recommends == *clang-$version* ]] || fail "loci does not recommend clang-$version: $recommends"
		command -v "clang-$version" >/dev/null || continue
		(cd "$dir" && echo 'int main(void) { return 0; }' >p.c &&
			root/usr/bin/loci-cc --loci-clang="$version" p.c -o p && ./p &&
			readelf -d p | grep -q "$lib/libloci-rt.so") || fail "the packaged loci-cc does not compile"
		(cd "$dir" && root/usr/bin/loci-cc --loci-clang="$version" -O0 p.c -o p &&
			root/usr/bin/loci record -q --collector cc -o p.loci ./p && root/usr/bin/loci report p.loci >/dev/null) ||
			fail "what the packaged loci-cc compiles is not recorded"
	done
	[[ $depends != *llvm* ]] || fail "loci depends on LLVM: $depends"
fi

if [ -n "${LINTIAN-}" ]; then
	lintian --allow-root --fail-on error \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$made"/*.deb || fail "lintian objects"
fi

[ "$failures" = 0 ] && echo passed
exit $((failures != 0))
