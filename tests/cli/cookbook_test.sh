# SPDX-License-Identifier: GPL-2.0-or-later
# Every query of the cookbook in doc/profile-format.md gives the answer printed there.
. "$SRC/tests/cli/expect.sh"
docs=$SRC/doc

cp "$SRC/tests/golden/profile-v1.loci" mm.loci
expect 0 loci merge -o other.loci mm.loci mm.loci
awk '
	/^```sql$/ { n++; file = sprintf("%02d.sql", n); next }
	/^```text$/ { file = sprintf("%02d.want", n); next }
	/^```$/ { file = ""; next }
	file { print >file }
' "$docs"/profile-format.md
count=0
for query in *.sql; do
	sqlite3 -header -column mm.loci <"$query" 2>&1 | sed 's/ *$//' >got
	diff -u "${query%.sql}.want" got >&2 || fail "$(head -1 "$query") gives another answer"
	count=$((count + 1))
done
[ "$count" -ge 10 ] || fail "only $count queries were found"

# and the document names every table and view there is
for name in $(sqlite3 mm.loci "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
	AND name NOT LIKE 'sqlite_%'"); do
	has "$docs"/profile-format.md "\`$name\`"
done
finish
