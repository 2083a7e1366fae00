#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recording against Cachegrind: wall time of whole commands, medians of interleaved rounds.
#
#	bench/record.sh BUILD SCRATCH
#
# ROUNDS (5) and SCALE (1: gzip -9 of 20 MB, two seconds of SQLite, one of Python, a sort of 50 MB,
# two kernels; 0.1: a tenth) make it shorter.
set -u
build=$(realpath "$1") scratch=$(realpath -m "$2")
loci=$build/loci
rounds=${ROUNDS:-5} scale=${SCALE:-1}
missed=0
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$scratch"
export LC_ALL=C
python=$(python3 -c 'import sys; print(sys.executable)')

scaled() {
	awk "BEGIN { n = $1 * $scale; printf \"%d\", n < 1 ? 1 : n }"
}

inputs() {
	local rows i
	rows=$(scaled 1000000)
	find /usr/lib /usr/share -type f -size +20k 2>/dev/null | sort | xargs cat 2>/dev/null |
		head -c "$(scaled 20000000)" >"$scratch/text"
	head -c "$(scaled 50000000)" /dev/urandom | base64 -w 60 | head -c "$(scaled 50000000)" >"$scratch/lines"
	cat >"$scratch/mix.sql" <<-SQL
		create table t(a integer primary key, b int, c text);
		with recursive s(i) as (select 1 union all select i + 1 from s where i < $rows)
			insert into t select i, (i * 7919) % 100003, 'row ' || i from s;
		create index tb on t(b);
		select count(*) from t x join t y on x.b = y.b where x.a % 17 = 0;
		select b % 1000, count(*), sum(length(c)) from t group by 1 order by 2 desc limit 5;
		update t set c = c || 'x' where b < 20000;
		select count(distinct c) from t;
	SQL
	cat >"$scratch/script.py" <<-PY
		def fib(n):
		    return n if n < 2 else fib(n - 1) + fib(n - 2)
		d = {}
		for i in range($(scaled 3000000)):
		    d[i % 50021] = d.get(i % 50021, 0) + i
		print(fib(22), len(d), sorted((v, k) for k, v in d.items())[0])
		print(len("".join(str(x) for x in range($(scaled 1000000)))))
	PY
	CC=cc CXX=c++ "$here/kernels/compile.sh" "$scratch/kernels" plain -O2 || exit 1
}

# The command line of a program, by name.
program() {
	case $1 in
	gzip) echo "gzip -9 -c $scratch/text" ;;
	sqlite3) echo "sqlite3 :memory: '.read $scratch/mix.sql'" ;;
	python3) echo "$python $scratch/script.py" ;; # not a wrapper: Cachegrind follows no children
	sort) echo "sort --parallel=1 $scratch/lines" ;;
	stencil) echo "$scratch/kernels stencil2 row 1000 $(scaled 40)" ;;
	join) echo "$scratch/kernels join whole 17 $(scaled 20)" ;;
	esac
}

# What it is run under, by name.
under() {
	case $1 in
	native) ;;
	none) echo "valgrind -q --tool=none" ;;
	cachegrind) echo "valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null" ;;
	plain) echo "$loci record -q --pairs none -o $scratch/bench.loci --" ;;
	record) echo "$loci record -q -o $scratch/bench.loci --" ;;
	all) echo "$loci record -q --sets --pairs all -o $scratch/bench.loci --" ;;
	esac
}

# seconds COMMAND: wall time
seconds() {
	local TIMEFORMAT=%R
	{ time eval "$1" >/dev/null 2>"$scratch/stderr" </dev/null; } 2>&1 || {
		cat "$scratch/stderr" >&2
		exit 1
	}
}

median() {
	sort -g "$1" | sed -n "$(((rounds + 1) / 2))p"
}

judge() { # WHAT VALUE BAR
	local verdict=PASS
	awk "BEGIN { exit !($2 <= $3) }" || {
		verdict=FAIL
		missed=1
	}
	printf '%-56s %8.3f  bar %-5s %s\n' "$1" "$2" "$3" "$verdict"
}

# plain: sites, contexts, objects and the machine's caches; record: and pairs of far reuses, as by
# default; all: all pairs, and all set counts.
ways="native none cachegrind plain record all"
programs=${PROGRAMS:-gzip sqlite3 python3 sort stencil join}
inputs
rm -f "$scratch"/time.*
for ((round = 0; round < rounds; round++)); do
	for name in $programs; do
		for way in $ways; do
			seconds "$(under $way) $(program $name)" >>"$scratch/time.$name.$way" || exit 1
			[ "$name.$way" != sqlite3.record ] || stat -c %s "$scratch/bench.loci" >"$scratch/profile_bytes"
		done
	done
done
printf '%-8s %9s %9s %11s %9s %9s %9s   %s\n' seconds $ways 'of cachegrind: plain, record, all'
for name in $programs; do
	row=
	for way in $ways; do
		row="$row $(median "$scratch/time.$name.$way")"
	done
	echo "$name $row"
done | tee "$scratch/medians" |
	awk '{ printf "%-8s %9.2f %9.2f %11.2f %9.2f %9.2f %9.2f   %.2f  %.2f  %.2f\n", $1, $2, $3, $4, $5, $6, $7,
		$5 / $4, $6 / $4, $7 / $4 }'
geomean() {
	awk "{ s += log(\$$1 / \$4) } END { print exp(s / NR) }" "$scratch/medians"
}
judge "plain / cachegrind, the worst" "$(awk '{ r = $5 / $4; if (r > m) m = r } END { print m }' "$scratch/medians")" 1
judge "plain / cachegrind, geometric mean" "$(geomean 5)" 0.8
judge "with all set counts and pairs, geometric mean" "$(geomean 7)" 1.5
[ ! -s "$scratch/profile_bytes" ] ||
	judge "profile of the sqlite3 run, MB" "$(awk '{ print $1 / 1e6 }' "$scratch/profile_bytes")" 20
for ((round = 0; round < 5; round++)); do
	seconds "valgrind -q --tool=none true" >>"$scratch/time.true.none"
	seconds "$loci record -q -o $scratch/bench.loci true" >>"$scratch/time.true.record"
done
rounds=5
judge "record true, seconds above valgrind --tool=none true" \
	"$(awk "BEGIN { print $(median "$scratch/time.true.record") - $(median "$scratch/time.true.none") }")" 0.5
# What has a line, and an object with a name, in programs built with -g.
for kernel in 'stencil2 row 1000 1' 'join whole 17 1'; do
	"$loci" record -q -o "$scratch/bench.loci" -- "$scratch/kernels" $kernel >/dev/null 2>&1
	judge "${kernel%% *}: references without a line, %" "$(sqlite3 "$scratch/bench.loci" \
		"select 100.0 * sum(case when line is null then refs else 0 end) / sum(refs) from site")" 1
	judge "${kernel%% *}: references without a named object, %" "$(sqlite3 "$scratch/bench.loci" \
		"select 100.0 * sum(case when kind = 'other' or name is null then refs else 0 end) / sum(refs) from object")" 10
done
# What the recorder's memory grows by, a block: between a program of 1 and one of 4 million blocks.
for million in 1 4; do
	/usr/bin/env python3 - "$loci" "$scratch" $million <<-'PY'
		import os, resource, subprocess, sys
		loci, scratch, million = sys.argv[1:]
		subprocess.run([loci, "record", "-q", "-o", scratch + "/bench.loci", "--", scratch + "/kernels",
		                "unwritten", "read", million], stdout=subprocess.DEVNULL)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	PY
done >"$scratch/memory"
judge "recorder's memory, bytes a block" \
	"$(awk 'NR == 1 { a = $1 } NR == 2 { print ($1 - a) * 1024 / 3e6 }' "$scratch/memory")" 150
exit $missed
