# SPDX-License-Identifier: GPL-2.0-or-later
# The viewer in Chromium: every view, by mouse and keys; accessibility; hostile names; a hundred thousand
# sites. Skipped where npm or Chromium cannot be had (scripts/web_tools.sh, scripts/deps.sh).
# By the clock.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
tools=$BUILD/web/tools
make_profile=$(dirname "$LOCI")/tests/make_profile
for name in chromium chromium-browser google-chrome; do
	CHROMIUM=${CHROMIUM:-$(command -v $name)}
done
[ -n "$CHROMIUM" ] && [ -d "$tools/node_modules/playwright-core" ] && command -v node >/dev/null || {
	echo "no Chromium, no node, or no $tools (make test installs them)"
	exit 77
}

"$make_profile" matrix.loci matrix && cp matrix.loci rich.loci && cp matrix.loci hostile.loci ||
	fail "make_profile"
sqlite3 rich.loci <"$SRC/tests/web/rich_profile.sql" || fail "rich.loci"
"$make_profile" bare.loci caches=L1=4K/4,L2=32K/8 random:500:9000
sqlite3 hostile.loci "
	UPDATE run SET command = '<script>window.broken=1</script> \"quoted\" ''' || char(27) || '[31m';
	UPDATE function SET name = '<script>window.broken=1</script>' || id;
	UPDATE source SET path = '/tmp/' || char(8238) || 'c.elif</td><b>' || id;
	UPDATE object SET name = '</script><img src=x onerror=window.broken=1>' || char(8238, 27) || id;
	UPDATE object SET type = 'a&lt;b\" onmouseover=\"window.broken=1';
	UPDATE field SET name = '\${alert(1)}' || char(10, 0x2028) || name;
	UPDATE module SET path = 'javascript:window.broken=1//' || id;
	UPDATE excerpt SET text = '/*</script><script>window.broken=1</script>*/' || char(0x202e) || text;" || fail "hostile.loci"
cp rich.loci large.loci && python3 "$SRC/tests/cli/many_sites.py" large.loci 100000 &&
	python3 "$SRC/tests/web/many_owners.py" large.loci 10000 || fail "large.loci"
expect 0 loci html -o demo.html rich.loci matrix.loci
expect 0 loci html -o large.html large.loci matrix.loci
for page in hostile bare; do
	expect 0 loci html $page.loci
done
"$make_profile" wide.loci caches=L1=4K/4,L2=32K/8 block=64,256 wrandom:700:20000 &&
	"$make_profile" plain.loci sets=no random:500:9000 && "$make_profile" sampled.loci error=1.5 sets=no wrandom:600:9000 &&
	"$make_profile" torn.loci complete=no lost=5 note='torn after 3' caches=L1=4K cyclic:40:3 &&
	"$make_profile" once.loci caches=L1=4K cyclic:40:1 && "$make_profile" objects.loci unit=object random:800:9000 || fail "make_profile"
expect 0 loci html -o others.html wide.loci plain.loci sampled.loci torn.loci once.loci "$SRC/tests/golden/profile-v1.loci"
expect 0 loci html objects.loci
python3 "$SRC/tests/web/product_trace.py" >product.lackey && cp rich.loci lines.loci && sqlite3 lines.loci <"$SRC/tests/web/watched_profile.sql" ||
	fail "lines.loci"
expect 0 loci analyse -q -o exact.loci product.lackey
expect 0 loci analyse -q --watch -c 50 -o watched.loci product.lackey
expect 0 loci analyse -q -b 8 --watch -c 50 -o eight.loci product.lackey
expect 0 loci html -o watched.html watched.loci exact.loci lines.loci eight.loci

export TOOLS=$tools CHROMIUM DEMO=rich.loci
timeout 500 node --test "$SRC/tests/web/browse.mjs" "$SRC/tests/web/clicks.mjs" >node.out 2>&1 || fail "$(grep -vE 'duration_ms|^ *---' node.out | head -150)"
grep milliseconds node.out

# A picture.
expect 0 loci html --png -o shot.png rich.loci
[ "$(head -c 4 shot.png | tail -c 3)" = PNG ] || fail "no picture"
finish
