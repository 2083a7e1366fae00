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

# valid NAME: out obeys doc/NAME.schema.json. It is kept for finish, which looks at all of them at once:
# what looks takes longer to start than to look. Sanitizers do not change what is printed.
documents=$PWD/documents
valid() {
	is_sanitized || {
		mkdir -p "$documents"
		n_documents=$((${n_documents-0} + 1))
		cp out "$documents/$n_documents"
		printf '%s\t%s\t%s\n' "$SRC/doc/$1.schema.json" "$documents/$n_documents" \
			"${BASH_SOURCE[-1]##*/}:${BASH_LINENO[0]}" >>"$documents/list"
	}
}

# narrow: no line of out is wider than 80 columns, nor ends in blanks, and all is ASCII.
narrow() {
	local wide
	wide=$(LC_ALL=C grep -nE '^.{81,}$|[[:space:]]$|[^ -~]' out) && fail "not plain: $wide"
	[ "$(wc -l <out)" -le "${1:-42}" ] || fail "more than ${1:-42} lines"
}

# threads and what they met of each other; the first id is a new group's
share_rows="
	INSERT INTO thread (id, refs) VALUES (5, 10), (9, 20);
	INSERT INTO thread_group VALUES (3, 2, 5, '5,9'), (4, 2, 0, '0');
	INSERT INTO coherence VALUES (1, 'whole', 0, 64, 100, 10, 5, 30), (2, 'thread', 9, 64, 60, 4, 1, 2),
		(3, 'thread_group', 3, 64, 70, 0, 2, 3), (4, 'site', 1, 64, 20, 1, 1, 1), (5, 'object', 2, 64, 7, 3, 1, 0);
	INSERT INTO shared_blocks VALUES (1, 64, 40, 20, 10);
	INSERT INTO sharing VALUES (1, 1, 2, 1, 2, NULL, NULL, 'true', 9, 1), (2, 1, 2, 1, 2, 1, NULL, 'true', 2, 3),
		(3, 1, 2, 1, 2, NULL, NULL, 'false', 4, 2);
	INSERT INTO histogram VALUES (9001, 'whole', 0, 'private', 64, 0, 'fine', 0, 4, 15),
		(9002, 'thread', 9, 'private', 64, 0, 'fine', 0, 3, 5), (9003, 'thread_group', 3, 'private', 64, 0, 'fine', 0, 1, 2),
		(9004, 'site', 1, 'private', 64, 0, 'coarse', 0, 1, 2);
	INSERT INTO bin VALUES (9001, 3, 4, 81, NULL), (9002, 3, 4, 52, NULL), (9003, 3, 4, 67, NULL), (9004, 3, 4, 17, NULL)"
