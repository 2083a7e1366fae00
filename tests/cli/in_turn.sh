# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that try many ways of compiling with several versions of clang. make check-long
# (LONG is set) tries each with each; make test tries every way once and every version in turn.
turn=0

# in_turn "VERSION.." COMMAND [WORD..]: calls COMMAND VERSION WORD..
in_turn() {
	local -a all=($1)
	local version
	shift
	# Not by turns of two only: where pairs of ways are tried, the first would always have the same.
	[ -n "${LONG-}" ] || all=("${all[(turn + turn / 2 + turn / 4) % ${#all[@]}]}")
	turn=$((turn + 1))
	for version in "${all[@]}"; do
		"$1" "$version" "${@:2}"
	done
}
