# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of what is said of threads: profiles of a few references, made by
# threads_profile.py.
threads_profile() {
	local out=$1
	shift
	rm -f "$out"
	python3 "$SRC/tests/cli/threads_profile.py" "$SRC/src/profile/schema.sql" "$out" "$@" ||
		fail "threads_profile.py $out $*"
}
