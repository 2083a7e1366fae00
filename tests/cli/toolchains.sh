# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of `loci cc`.
. "$(dirname "${BASH_SOURCE[0]}")/in_turn.sh"

# clangs: the major versions that this build has a pass for and this machine a clang, newest first.
clangs() {
	ls "$BUILD"/lib/loci 2>/dev/null | sed -n 's/^loci-pass-\([0-9]*\)\.so$/\1/p' | sort -rn |
		while read -r version; do
			! command -v "clang-$version" >/dev/null || echo "$version"
		done
}

# need_clang: leaves the list in $versions; a build without the pass skips the test.
need_clang() {
	versions=$(clangs)
	[ -n "$versions" ] && [ -f "$BUILD/lib/loci/libloci-rt.so" ] && return
	echo "skipped: this build has no pass for a clang that is installed"
	exit 77
}

# need_flang: leaves the path of a flang that this build has a pass for in $flang.
need_flang() {
	local version name
	for version in $(ls "$BUILD"/lib/loci 2>/dev/null | sed -n 's/^loci-pass-\([0-9]*\)\.so$/\1/p' | sort -rn); do
		for name in flang-$version flang-new-$version; do
			flang=$(command -v $name) && return
		done
	done
	echo "skipped: this build has no pass for a flang that is installed"
	exit 77
}

# need_gcc [DRIVER..]: gcc, or these; a machine without skips the test.
need_gcc() {
	local driver
	for driver in "${@:-gcc}"; do
		command -v "$driver" >/dev/null && [ -f "$BUILD/lib/loci/libloci-rt.so" ] && continue
		echo "skipped: there is no $driver, or no runtime in this build"
		exit 77
	done
}

# A tree as if installed, with passes that are only names, for what happens before clang runs.
#	fake_tree DIR VERSION..
fake_tree() {
	mkdir -p "$1/bin" "$1/lib/loci" && cp "$LOCI" "$1/bin/loci" || exit 1
	: >"$1/lib/loci/libloci-rt.so"
	: >"$1/lib/loci/libloci-rt.a"
	printf '# functions\nmalloc\n\nfree\n' >"$1/lib/loci/wrapped.txt"
	local dir=$1 version
	shift
	for version; do
		: >"$dir/lib/loci/loci-pass-$version.so"
	done
}

# A compiler that shows its words, one a line.	fake_clang FILE MAJOR [NAME]
fake_clang() {
	mkdir -p "${1%/*}"
	cat >"$1" <<-END
		#!/bin/sh
		if [ "\$*" = --version ]; then
			echo "Debian ${3-clang} version $2.0.6"
			exit
		fi
		echo "lto=\${LOCI_LTO-} only=\${LOCI_ONLY-} skip=\${LOCI_SKIP-}" >told
		echo "\${LOCI_OPS-}" >told_ops
		printf '%s\n' "\$@" >words
	END
	chmod +x "$1"
}
