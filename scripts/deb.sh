#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make deb: the Debian packages loci, libloci0 and libloci-dev, in build/deb.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
command -v dpkg-shlibdeps >/dev/null || {
	echo "loci: dpkg-dev is missing; packages are made on Debian and its kin" >&2
	exit 1
}
scripts/build.sh "$build/deb" -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF -DLOCI_DEB=ON
rm -f "$build"/deb/*.deb
(umask 022 && cd "$build/deb" && cpack -G DEB >cpack.log 2>&1) || {
	tail -n 20 "$build/deb/cpack.log" >&2
	exit 1
}
ls "$build"/deb/*.deb
