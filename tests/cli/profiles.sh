# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of commands that read profiles: small ones, made by make_profile.
make_profile() {
	"$BUILD/tests/make_profile" "$@" || fail "make_profile $*"
}

# same NAME: out equals the expected file. UPDATE=1 in the environment writes it instead.
same() {
	local want=$SRC/tests/cli/expected/$1.txt
	if [ -n "$UPDATE" ]; then
		cp out "$want"
	elif ! diff -u "$want" out >&2; then
		fail "$1.txt differs"
	fi
}

# valid NAME: out obeys doc/NAME.schema.json.
valid() {
	python3 "$SRC/tests/cli/schema.py" "$SRC/doc/$1.schema.json" out >&2 || fail "out is no $1"
}

# narrow: no line of out is wider than 80 columns, nor ends in blanks, and all is ASCII.
narrow() {
	local wide
	wide=$(LC_ALL=C grep -nE '^.{81,}$|[[:space:]]$|[^ -~]' out) && fail "not plain: $wide"
	[ "$(wc -l <out)" -le "${1:-42}" ] || fail "more than ${1:-42} lines"
}
