# SPDX-License-Identifier: GPL-2.0-or-later
# Signals that come anywhere, nest, and are left by siglongjmp, in threads that come and go: how often
# two arrays were referred to is in the profile exactly as the program says.
# Not under sanitizers: the program watched has none, and time is what it is about.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

for major in $clangs; do
	for level in -O0 '-O3 -march=native'; do
		expect 0 cc "$major" -g $level "$SRC/tests/counted/hammer.c" -o hammer -lpthread
		for way in threads landing; do
			expect 0 loci record -q --collector cc --pairs none -o p.loci ./hammer $way
			grep '|' err >said
			sqlite3 p.loci "select name, refs from object where name in ('arena', 'beats')
				order by name" >got
			[ "$(wc -l <said)" = 2 ] && cmp -s said got ||
				fail "clang $major $level, $way: says $(cat said), got $(cat got)"
			[ "$(sqlite3 p.loci 'select complete and not lost from run')" = 1 ] ||
				fail "clang $major $level, $way: not complete"
		done
	done
done
finish
