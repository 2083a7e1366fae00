#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Links objects, and what they need of a library, into an archive of one object that exports only
# the names of a linker map:	archive.sh MAP ARCHIVE LD OBJCOPY AR OBJECT.. LIBRARY
set -eu
map=$1 archive=$2 ld=$3 objcopy=$4 ar=$5
shift 5
sed -n 's/^[[:space:]]*\(loci_[a-z0-9_]*\);.*/\1/p' "$map" >"$archive.names"
"$ld" -r -o "$archive.o" "$@"
"$objcopy" --keep-global-symbols="$archive.names" "$archive.o"
rm -f "$archive"
"$ar" rcsD "$archive" "$archive.o"
rm -f "$archive.o" "$archive.names"
