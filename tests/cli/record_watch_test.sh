# SPDX-License-Identifier: GPL-2.0-or-later
# loci record -m watch: programs built by loci cc whose time distances are known. References are
# counted exactly; reuses within the burst have their exact distances, and those that debug registers
# find, where debug information says where code keeps its count; else they are within the error that
# is stated. Status and output are the program's.
# Not under sanitizers: the recorder is tested by what it writes.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 cc "$major" -g -O1 -o watched "$SRC/tests/workloads/known_reuses.c" -lpthread

# What does not go together.
expect 2 loci record --watches 2 ./watched short
has err "give -m watch, too"
expect 2 loci record -m watch -c 20000 --overhead 5% ./watched short
expect 2 loci record -m watch -c 1000 ./watched short
has err "--burst"
expect 2 loci record -m watch --far 101% ./watched short
has err "--far"
expect 2 loci record -m watch --delay 1 ./watched short
expect 2 loci record -m watch --error 5% ./watched short
expect 2 loci record -m watch -b 8,64 ./watched short
expect 2 loci record -m watch --watch-by registers -b 64 ./watched short
has err "8 bytes at most"
expect 2 loci record -m watch --watch-by magic ./watched short
expect 2 loci record --light -m sample ./watched short
expect 1 loci record -m watch /bin/true
has err "built without loci cc"
expect 1 loci record -m watch --collector any ./watched short

sql() {
	sqlite3 p.loci "$1"
}
# holds WHAT CONDITION: of the samples, and of bins of time distances with their share of reuses
holds() {
	[ "$(sql "with s as (select * from sampling),
		bins as (select low, weight / (select sum(weight) from bin join histogram i on i.id = histogram_id
			where i.owner = 'whole' and i.distance = 'time') as share
			from bin join histogram h on h.id = histogram_id
			where h.owner = 'whole' and h.distance = 'time')
		select $2")" = 1 ] || fail "$1: not $2: $(sql 'select * from sampling'; sql "select low, weight, cold
		from histogram left join bin on histogram_id = id where owner = 'whole' and distance = 'time'")"
}
# near WHAT DISTANCE: nearly all, as far as time tells, and as many as can be but those of the beginning within half of it
near() {
	holds "$1" "total(share) > 0.9 from bins where low between $(($2 * 17 / 20)) and $(($2 * 23 / 20))"
	holds "$1" "total(share) > 0.96 from bins where low between $(($2 / 2)) and $(($2 * 3 / 2))"
}
# exactly WHAT DISTANCE: all but those of the beginning; a bin is 1 % wide
exactly() {
	holds "$1" "total(share) > 0.93 from bins where low between $(($2 * 99 / 100)) and $2"
}
# watched PART OPTION..: as alone, with all references counted
watched() {
	local part=$1 refs
	shift
	./watched "$part" >alone
	expect 3 loci record -m count ./watched "$part"
	refs=$(sed -n 's/^loci: \([0-9]*\) references.*/\1/p' err)
	expect 3 loci record -m watch --seed 1 -o p.loci "$@" ./watched "$part"
	cmp -s alone out || fail "$part: prints something else"
	[ "$part" = interrupted ] || [ "$part" = left ] || holds "$part" "refs = $refs from s"
}

# In the burst: exactly, whatever can be watched.
watched short -c 20000
holds short "samples > 400 from s"
holds short "count(*) = 1 and min(low) = 500 from bins"
# Handlers' references come between; a bin is 2 % wide.
watched interrupted -c 20000
holds interrupted "total(share) > 0.8 from bins where low between 2990 and 3010"
holds interrupted "total(share) > 0.999 from bins where low between 2990 and 20000"
# After a handler is left by a jump samples go on.
watched left -c 20000
holds left "samples > 400 and lost < samples / 20 from s"
holds left "total(share) > 0.98 from bins where low = 500"

expect 0 loci doctor --json
if python3 -c 'import json, sys
row = [row for row in json.load(open("out"))["collectors"] if row["name"] == "watch"][0]
sys.exit(not row["works"])'; then
	watched long -c 20000
	exactly long 50000
	holds long "samples > 400 from s"
	watched calls -c 20000
	exactly calls 40000
	watched steadily -c 20000
	exactly steadily 100000
	# Without debug information time tells.
	mv watched with
	expect 0 cc "$major" -O1 -o watched "$SRC/tests/workloads/known_reuses.c" -lpthread
	watched long -c 20000
	near "long, without -g" 50000
	# Loops that are told of at their end do not run over samples.
	expect 0 cc "$major" -O2 -o watched "$SRC/tests/workloads/known_reuses.c" -lpthread
	watched nest -c 100000
	holds nest "lost * 10 < samples from s"
	mv with watched
	# A long reuse among many short ones: a ninth. Who always gives way to the next finds none.
	watched among -c 20000
	holds among "abs(share - 8.0 / 9) < 0.01 from bins where low = 9"
	holds among "abs(total(share) - 1.0 / 9) < 0.01 from bins where low between 350000 and 390000"
	watched among -c 20000 --replace oldest --watches 1 --weights plain
	holds "among, naively" "total(share) < 0.04 from bins where low between 350000 and 390000"
	# As many long ones as short ones: references around samples tell, not chance.
	watched half -c 20000
	holds half "abs(share - 0.5) < 0.03 from bins where low = 2"
	holds half "abs(total(share) - 0.5) < 0.05 from bins where low between 190000 and 215000"
	for part in threads fork; do
		watched $part -c 20000
		exactly $part 30000
	done
	# Only writes are reuses: there are none but those of the beginning.
	watched long -c 20000 --watch w
	holds "long, writes" "count(*) = 0 from bins"
	watched long -c 20000 -b 8 --watch w --watch-by pages
	holds "long, writes, by pages" "count(*) = 0 from bins"
	# All by the other thread, which is counted apart; but one in 25 is still followed when its thread waits for the other.
	others() { # WHAT SHARE: of all reuses, at least
		holds "$1" "by_watch > 20 and (select total(weight) from bin join histogram on id = histogram_id
			where owner = 'whole' and distance = 'time_remote') >= $2 * (select total(weight) from bin
			join histogram on id = histogram_id where owner = 'whole' and distance = 'time') from s"
	}
	for by in registers pages; do
		watched turns -c 20000 -b 8 --watch-by $by
		others "turns, by $by" 0.85
		watched turns -c 20000 -b 8 --watch-by $by --burst 0
		others "turns, by $by at once" 0.999
	done
	watched threads -c 20000
	holds "threads of their own" "count(*) = 0 from histogram join bin on histogram_id = id where distance = 'time_remote'"
	# The overhead chooses the period.
	expect 3 loci record --light -v -o p.loci ./watched long
	has err "120 a second, for at most 3 % of the time"
	has err " traps, "
	holds light "last_period >= 10000 and samples > 0 from s"
fi

finish
