# SPDX-License-Identifier: GPL-2.0-or-later
# loci html and loci view: pages of all kinds of profiles, what they hold, and a server that cannot be
# bothered. The page's modules and figures by node, where there is one.
. "$SRC/tests/cli/expect.sh"
make_profile=$(dirname "$LOCI")/tests/make_profile

"$make_profile" m.loci matrix || fail "make_profile"
"$make_profile" r.loci caches=L1=4K/4,L2=32K/8 block=64,256 wrandom:700:20000 stride:256:8:20 +wcyclic:300:12
"$make_profile" n.loci sets=no caches=L1=4K/4 random:500:9000 wcyclic:100:20
"$make_profile" s.loci error=1.5 sets=no wrandom:600:9000
"$make_profile" o.loci unit=object random:800:9000
"$make_profile" q.loci stores=no random:300:5000

# What is written, where, and what is refused.
expect 0 loci html m.loci
[ "$(cat out)" = m.html ] && [ -s m.html ] || fail "the page is not named for its profile"
expect 0 loci html -o page.html m.loci r.loci n.loci s.loci q.loci "$SRC/tests/golden/profile-v1.loci" \
	"$SRC/tests/golden/profile-v1-dimensions.loci"
[ ! -s out ] || fail "says where it wrote what it was told to"
expect 0 loci html -o - o.loci
cmp -s out page.html && fail "one page is like the other"
expect 0 loci html -o given.html --cache L1=16K/4,L2=64K m.loci
expect 0 loci html -o block.html -b 256 r.loci
expect 1 loci html -o none.html -b 128 r.loci
expect 1 loci html none.loci
expect 1 loci html -o missing/page.html m.loci
expect 2 loci html --cache nonsense m.loci
expect 2 loci html --png -o - m.loci
expect 1 loci html # which of them?
[ ! -e none.html ] || fail "wrote a page of nothing"
for page in *.html; do
	has "$page" "Content-Security-Policy"
	grep -qE '@(DATA|SCRIPT|STYLE)' "$page" && fail "$page: not filled in"
	[ "$(sed 's/id="data">[^<]*//' "$page" | wc -c)" -lt 1000000 ] || fail "$page: more than a megabyte of code"
	sed 's/id="data">[^<]*//' "$page" | grep -nE '(src|href|url\(|import\()[ =("]*https?:|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(' &&
		fail "$page: parses markup or loads something"
done
# Not without the program that draws.
mkdir empty
expect 1 env PATH="$PWD/empty" "$LOCI" html --png m.loci
has err "apt-get install chromium"

# The server: only its page, only this host, whatever comes.
start() {
	"$LOCI" view --no-open m.loci >url 2>view.err &
	server=$!
	for _ in $(seq 600); do
		[ -s url ] && break
		sleep 0.1
	done
	url=$(cat url)
}
start
python3 "$SRC/tests/web/bother.py" "$url" m.html || fail "the server"
kill -INT $server
wait $server || fail "loci view ends with status $?"
[ ! -s view.err ] || fail "loci view says: $(cat view.err)"
first=$url
start
[ "$first" != "$url" ] || fail "the address is the same again"
kill -TERM $server
wait $server || fail "loci view ends with status $? after SIGTERM"
# It opens a browser, and does without.
mkdir desktop
printf '#!/bin/sh\necho "$1" >%s/opened\n' "$PWD" >desktop/xdg-open
chmod +x desktop/xdg-open
PATH=$PWD/desktop:$PATH "$LOCI" view m.loci >url 2>view.err &
server=$!
for _ in $(seq 600); do
	[ -s opened ] && break
	sleep 0.1
done
kill -INT $server
wait $server
cmp -s url opened || fail "the browser was shown \"$(cat opened)\", not $(cat url)"

if is_sanitized; then # the figures are the page's, and loci cache's
	:
elif command -v node >/dev/null && node -e 'process.exit(Number(parseInt(process.versions.node) < 18))'; then
	cp m.loci k.loci && python3 "$SRC/tests/cli/many_sites.py" k.loci 300 || fail "k.loci"
	# caches that are known by counts alone
	cp m.loci c.loci && sqlite3 c.loci "DELETE FROM bin WHERE histogram_id IN (SELECT id FROM histogram
		WHERE distance LIKE 'set%'); DELETE FROM histogram WHERE distance LIKE 'set%'" || fail "c.loci"
	cp m.loci rich.loci && sqlite3 rich.loci <"$SRC/tests/web/rich_profile.sql" || fail "rich.loci"
	# samples that were watched: time distances alone, with an error
	python3 "$SRC/tests/web/product_trace.py" >product.lackey && "$LOCI" analyse -q --watch -c 50 -o w.loci product.lackey || fail "w.loci"
	export PROFILES=k.loci:r.loci:n.loci:s.loci:o.loci:q.loci:c.loci:rich.loci:w.loci
	for script in pure_test figures_test; do
		timeout 300 node --test "$SRC/tests/web/$script.mjs" >node.out 2>&1 || fail "$script: $(grep -vE 'duration_ms|^ *---' node.out | head -60)"
	done
	# All modules together are one: names at their tops differ.
	cp "$BUILD/web/page.js" page.mjs
	node --check page.mjs 2>err || fail "the page's script: $(cat err)"
else
	echo "no node: the page's figures are not compared"
fi
finish
