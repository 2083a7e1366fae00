# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by command-line tests (. "$SRC/tests/cli/expect.sh").
failures=0

# expect STATUS COMMAND..: runs it; leaves what it printed in the files out and err.
expect() {
	local want=$1 got
	shift
	"$@" >out 2>err </dev/null
	got=$?
	if [ "$got" != "$want" ]; then
		fail "exit status $got, want $want: $*"
		sed 's/^/	out: /' out >&2
		sed 's/^/	err: /' err >&2
	fi
}

# has FILE TEXT: the file holds the text.
has() {
	grep -qF -- "$2" "$1" || { fail "$1 lacks \"$2\""; sed 's/^/	/' "$1" >&2; }
}

lacks() {
	! grep -qF -- "$2" "$1" || { fail "$1 has \"$2\""; sed 's/^/	/' "$1" >&2; }
}

fail() {
	echo "${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]}: $*" >&2
	failures=$((failures + 1))
}

# Is loci built with sanitizers? They find faults, and need no oracle of what it prints.
is_sanitized() {
	[ "${BUILD##*/}" = asan ]
}

# The last line of every test.
finish() {
	[ ! -e "${documents-}/list" ] || # of valid
		python3 "$SRC/tests/cli/schema.py" "$documents/list" || failures=$((failures + 1))
	[ "$failures" = 0 ] && echo passed
	exit $((failures != 0))
}
