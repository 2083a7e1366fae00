#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SQLite's amalgamation, made of the source package of Debian's archive:	bench/sqlite_source.sh DIR
#
# Leaves sqlite3.c, sqlite3.h and shell.c in DIR. Asks the archive that this machine installs from,
# by a configuration of its own in DIR: nothing of the system's is changed. Exit status 77: it cannot
# be had here, and why.
set -u
mkdir -p "$1" || exit 1
dir=$(realpath "$1")
cd "$dir" || exit 1
[ ! -s sqlite3.c ] || [ ! -s shell.c ] || exit 0

skip() {
	echo "sqlite: left out, $1" >&2
	exit 77
}

for tool in apt-get tclsh tar xz make cc; do
	command -v $tool >/dev/null || skip "$tool is missing"
done
mkdir -p lists/partial archives/partial sources
# The same places, for sources.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	case $list in
	*.list) sed -n 's/^deb /deb-src /p' "$list" >"sources/$(basename "$list")" ;;
	*.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"sources/$(basename "$list")" ;;
	esac 2>/dev/null
done
cat >apt.conf <<CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$dir/sources";
Dir::State::Lists "$dir/lists";
Dir::Cache "$dir";
APT::Sandbox::User "";
CONF
export APT_CONFIG=$dir/apt.conf
timeout 300 apt-get -q update >apt.log 2>&1 || skip "the archive's list of sources cannot be read ($dir/apt.log)"
timeout 300 apt-get -q --download-only source sqlite3 >>apt.log 2>&1 ||
	skip "the source package cannot be fetched ($dir/apt.log)"
rm -rf tree lists archives
mkdir tree
tar -C tree --strip-components=1 -xf sqlite3_*.orig.tar.xz || skip "the source package cannot be unpacked"
(cd tree && ./configure -q && make -s sqlite3.c shell.c) >make.log 2>&1 ||
	skip "the amalgamation cannot be made ($dir/make.log)"
mv tree/sqlite3.c tree/sqlite3.h tree/shell.c .
rm -rf tree
