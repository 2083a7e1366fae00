#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that a purpose needs and this machine lacks:
#
#	scripts/deps.sh [--dry-run] demo|build|test|long|lint|fuzz|bench|deb..
#
# On Debian and its kin, as root or with sudo. Anywhere else, or when installing fails, it names
# what is needed and goes on: the build leaves out what it cannot make and says so. "a|b" means
# the first of them that the archive has. Nothing is fetched when nothing is missing.
set -u

build="gcc libc6-dev make cmake pkg-config|pkgconf libsqlite3-dev libzstd-dev zlib1g-dev libdw-dev valgrind"
lint="git clang-format-14 clang-tidy-14|clang-tidy"
fuzz="clang-14|clang libclang-rt-14-dev|libclang-rt-dev"
# What loci cc is built from and tried with: some 200 MB to fetch, 1.2 GB on disk.
pass="clang-14 llvm-14-dev clang-19 llvm-19-dev libomp-14-dev|libomp-dev g++"
# Fortran: some 60 MB to fetch, 900 MB on disk.
fortran="flang-19 gfortran"
compile="$pass $fortran lld-14 lld-19 libomp-14-dev|libomp-dev meson"
deb="dpkg-dev file"
# The viewer is tried in a browser, driven by tools from npm (scripts/web_tools.sh). npm may have come
# with a node that is no package of Debian's, beside which Debian's cannot be installed.
web="chromium"
command -v npm >/dev/null 2>&1 || web="$web nodejs npm"
tools="bash g++ binutils python3 python3-jsonschema sqlite3 valgrind zstd gzip groff-base xz-utils dwz"

dry_run=
wanted=
for purpose; do
	case $purpose in
	--dry-run) dry_run=1 ;;
	demo | build) wanted="$wanted $build" ;;
	lint) wanted="$wanted $build $lint" ;;
	fuzz) wanted="$wanted $build $fuzz" ;;
	bench) wanted="$wanted $build $pass bash g++ valgrind gzip sqlite3 python3 binutils tcl xz-utils" ;;
	deb) wanted="$wanted $build $pass $deb lintian" ;;
	test) wanted="$wanted $build $lint $fuzz $compile $deb $tools $web" ;;
	long) wanted="$wanted $build $compile $deb libopenmpi-dev openmpi-bin tcl xz-utils" ;;
	*)
		echo "deps.sh: there is no purpose \"$purpose\"" >&2
		exit 2
		;;
	esac
done

# What a machine without dpkg can be asked: the programs and libraries themselves.
if ! command -v dpkg-query >/dev/null 2>&1; then
	missing=
	for tool in cc cmake pkg-config; do
		command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
	done
	for library in sqlite3 libzstd zlib libdw; do
		pkg-config --exists $library 2>/dev/null || missing="$missing $library"
	done
	[ -z "$missing" ] || echo "loci needs these, which are missing:$missing" >&2
	exit 0
fi

installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
	sed -n 's/^installed //p' | tr '\n' ' ') "

missing=
for choice in $wanted; do
	have=
	for package in $(echo "$choice" | tr '|' ' '); do
		case $installed in *" $package "*) have=1 ;; esac
	done
	case " $missing " in *" $choice "*) have=1 ;; esac
	[ -n "$have" ] || missing="$missing $choice"
done
[ -n "$missing" ] || exit 0

by_hand() {
	echo "loci: $1; to install by hand: apt-get install$(echo "$missing" | sed 's/|[^ ]*//g')" >&2
	exit 0
}

[ -z "$dry_run" ] || by_hand "packages are missing"
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root=sudo
else
	by_hand "packages are missing, and installing them takes root"
fi

echo "loci: installing$missing"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null
}
apt update || echo "loci: apt-get update failed; trying with the lists at hand" >&2
chosen=
for choice in $missing; do
	pick=
	for package in $(echo "$choice" | tr '|' ' '); do
		if [ -z "$pick" ] && apt-cache show "$package" >/dev/null 2>&1; then
			pick=$package
		fi
	done
	[ -n "$pick" ] || echo "loci: the archive has no $choice; going on without it" >&2
	chosen="$chosen $pick"
done
if ! apt install -y --no-install-recommends $chosen; then
	tail -n 5 "$log" >&2
	by_hand "installing failed"
fi
