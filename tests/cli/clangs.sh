# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of programs that `loci cc` makes: $clangs are the major versions to try.
. "$(dirname "${BASH_SOURCE[0]}")/in_turn.sh"
clangs=
for major in 14 19; do
	[ ! -e "$BUILD/lib/loci/loci-pass-$major.so" ] || ! command -v clang-$major >/dev/null || clangs+=" $major"
done
[ -n "$clangs" ] || { echo "loci was built without a pass for a clang that is here"; exit 77; }

# cc MAJOR ARGUMENT.., cxx MAJOR ARGUMENT..: compiles with that version
cc() {
	local major=$1
	shift
	loci cc --loci-clang="$major" "$@"
}
cxx() {
	local major=$1
	shift
	loci c++ --loci-clang="$major" "$@"
}
