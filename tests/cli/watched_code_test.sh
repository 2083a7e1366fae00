# SPDX-License-Identifier: GPL-2.0-or-later
# loci analyse --watch of a trace of code: sites, objects, contexts and pairs of samples against
# those of all references.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
. "$SRC/tests/cli/profiles.sh"

expect 0 cc "${clangs##* }" -g -O1 -o watched "$SRC/tests/workloads/watched_code.c"
expect 0 loci record -q --pairs all --trace all.trace -o exact.loci ./watched
expect 0 loci analyse -q --watch -c 100 -o watched.loci all.trace

# Every owner by a name that both profiles have, with its share of the references (of pairs: of the
# reuses), and the larger ones against each other.
cat >compare.py <<'END'
import sqlite3, sys

EXACT, SAMPLED, WITHIN = sys.argv[1], sys.argv[2], float(sys.argv[3])
NAMES = {
    "site": "select coalesce(f.name, '?') || ':' || s.line || ' ' || op, sum(s.refs) from site s"
            " left join function f on f.id = function_id group by 1",
    "object": "select kind || ' ' || name, sum(refs) from object group by 1",
    "context": "with recursive path(id, text) as (select c.id, coalesce(f.name, '?') from context c"
               " left join function f on f.id = function_id where parent_id is null union all"
               " select c.id, text || ' > ' || coalesce(f.name, '?') || ':' || coalesce(c.line, 0) from path"
               " join context c on parent_id = path.id left join function f on f.id = c.function_id)"
               " select text, sum(refs) from path join context using (id) group by 1",
    "pair": "select p.kind || ' ' || o.name || ' ' || u.line || ' ' || r.line, sum(p.refs) from pair p"
            " join site u on u.id = use_site_id join site r on r.id = reuse_site_id"
            " join object o on o.id = p.object_id group by 1",
}
bad = 0
for what, query in NAMES.items():
    shares = []
    for path in (EXACT, SAMPLED):
        rows = dict(sqlite3.connect(path).execute(query))
        whole = sum(rows.values())
        shares.append({name: n / whole for name, n in rows.items()})
    for name in sorted(set(shares[0]) | set(shares[1])):
        a, b = (s.get(name, 0) for s in shares)
        if abs(a - b) > WITHIN:
            print(f"{what} {name}: {a:.3f}, sampled {b:.3f}")
            bad += 1
    # a program frees memory and returns before the last samples are told
    unknown = {name for name in set(shares[1]) - set(shares[0]) if shares[1][name] > WITHIN / 2 - 0.01}
    if unknown:
        print(what, "not in the exact profile:", unknown)
        bad += 1
    if len(shares[1]) < (3 if what != "object" else 2):
        print(what, "few:", shares[1])
        bad += 1
sys.exit(bad > 0)
END
expect 0 python3 compare.py exact.loci watched.loci 0.02
cat out

# Time distances of owners: a walk of the far array comes back after all of it.
expect 0 sqlite3 watched.loci "select count(*) > 0, max(low) > 20000 from histogram h join bin on histogram_id = h.id
	where owner = 'object' and distance = 'time'"
has out '1|1'
expect 0 sqlite3 watched.loci "select watched_by, in_burst + by_watch + never <= samples, by_watch > 0 from sampling"
has out 'replay|1|1'

for by in site line function object context pair module; do
	expect 0 loci report --by $by watched.loci
	has out StatStack
done
lacks out irregular
expect 0 loci report watched.loci
has out "met by a watch"
expect 0 loci info watched.loci
has out "by replay"
expect 0 loci annotate watched.loci add
has out "total += a[i]"
expect 0 loci report --by site --json watched.loci
valid by
expect 0 loci export watched.loci
valid profile

# The same of the program itself, where debug registers can be had.
expect 0 loci record -q -b 8 --pairs all -o exact8.loci ./watched
expect 0 loci record -q -m watch --watch-by registers -b 8 -c 200 --burst 128 --seed 3 -o live.loci ./watched
if [ "$(sqlite3 live.loci 'select by_watch > 20 from sampling')" = 1 ]; then
	expect 0 python3 compare.py exact8.loci live.loci 0.12
	cat out
	expect 0 sqlite3 live.loci "select watched_by, traps >= by_watch, trap_ns > 0 from sampling"
	has out 'registers|1|1'
else
	echo "no debug registers here: programs are not tried"
fi
finish
