#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make deb: the Debian packages loci, libloci0 and libloci-dev, in build/deb.
#
#	scripts/deb.sh [DIR [-DNAME=VALUE..]]	in DIR, configured so
set -eu
cd "$(dirname "$0")/.."
dir=${1:-${BUILD:-build}/deb}
[ $# = 0 ] || shift
command -v dpkg-shlibdeps >/dev/null || {
	echo "loci: dpkg-dev is missing; packages are made on Debian and its kin" >&2
	exit 1
}
scripts/build.sh "$dir" -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF -DLOCI_DEB=ON "$@"
rm -f "$dir"/*.deb
(umask 022 && cd "$dir" && cpack -G DEB >cpack.log 2>&1) || {
	tail -n 20 "$dir/cpack.log" >&2
	exit 1
}
ls "$dir"/*.deb
