# SPDX-License-Identifier: GPL-2.0-or-later
# Every query of the cookbook in doc/profile-format.md gives the answer printed there.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
docs=$SRC/doc

cp "$SRC/tests/golden/profile-v1.loci" mm.loci
expect 0 loci merge -o other.loci mm.loci mm.loci
make_profile matrix.loci matrix
awk '
	/^## / { profile = /code and data/ ? "matrix.loci" : "mm.loci" }
	/^```sql$/ { n++; file = sprintf("%02d.sql", n); print profile >sprintf("%02d.of", n); next }
	/^```text$/ { file = sprintf("%02d.want", n); next }
	/^```$/ { file = ""; next }
	file { print >file }
' "$docs"/profile-format.md
count=0
for query in *.sql; do
	sqlite3 -header -column "$(cat "${query%.sql}.of")" <"$query" 2>&1 | sed 's/ *$//' >got
	diff -u "${query%.sql}.want" got >&2 || fail "$(head -1 "$query") gives another answer"
	count=$((count + 1))
done
[ "$count" -ge 22 ] || fail "only $count queries were found"

# and the document names every table and view there is
for name in $(sqlite3 matrix.loci "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
	AND name NOT LIKE 'sqlite_%'"); do
	has "$docs"/profile-format.md "\`$name\`"
done
finish
