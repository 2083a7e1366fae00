# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that build other people's packages.

# source_package NAME: unpacks Debian's source package NAME into ./NAME, from the archive that this
# machine installs from, by an apt configuration of its own: nothing of the system's is changed. What
# was fetched is kept in the build. Where it cannot be had the test is skipped.
source_package() {
	local kept=$BUILD/sources/$1 apt=$PWD/apt list tool
	for tool in apt-get dpkg-source; do
		command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
	done
	if ! ls "$kept"/*.dsc >/dev/null 2>&1; then
		mkdir -p "$kept" "$apt/lists/partial" "$apt/archives/partial" "$apt/sources"
		for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
			case $list in
			*.list) sed -n 's/^deb /deb-src /p' "$list" >"$apt/sources/${list##*/}" ;;
			*.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/sources/${list##*/}" ;;
			esac 2>/dev/null
		done
		cat >"$apt/apt.conf" <<-END
			Dir::Etc::SourceList "/dev/null";
			Dir::Etc::SourceParts "$apt/sources";
			Dir::State::Lists "$apt/lists";
			Dir::Cache "$apt";
			APT::Sandbox::User "";
		END
		# Some of the places may have no sources; the package is what matters.
		APT_CONFIG=$apt/apt.conf timeout 300 apt-get -q update >apt.log 2>&1
		(cd "$kept" && APT_CONFIG=$apt/apt.conf timeout 300 apt-get -q --download-only source "$1") >>apt.log 2>&1 || {
			rm -rf "$kept"
			echo "skipped: the source package $1 cannot be fetched: $(tail -n 1 apt.log)"
			exit 77
		}
		rm -rf "$apt"
	fi
	dpkg-source --no-check -x "$kept"/*.dsc "$1" >unpack.log 2>&1 || {
		fail "$1 cannot be unpacked: $(tail -n 3 unpack.log)"
		finish
	}
}
