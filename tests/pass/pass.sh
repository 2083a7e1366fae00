#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass without recorder and runtime:	pass.sh SOURCE-TREE PLUGIN CLANG-VERSION PROGRAM
#
# Builds a program natively and with the pass and word_log.c, at several levels of optimisation, and
# runs it counting, tracing, and changing between the two all the time. It must print what it prints
# natively; as many references must be counted in each mode, and as many addresses be in the words;
# and the verifier must find nothing. Programs that write what they expect to EXPECTED say every
# single reference of their functions named exact_*. Of programs named *steady*, the references are the
# same whether loops are told by one marker or not; of those named *bounded*, loops count where they are left. make check-long: more levels of optimisation.
set -u
src=$1 plugin=$2 version=$3 program=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
	echo "pass: $(basename "$program") $level: $*" >&2
	failures=$((failures + 1))
}
case $program in
*.cpp) compiler="clang++-$version -std=c++20" ;;
*) compiler="clang-$version" ;;
esac
if ! command -v "clang-$version" >/dev/null; then
	echo "no clang-$version"
	exit 77
fi
clang-"$version" -O1 -I"$src/src" -c "$src/tests/pass/word_log.c" -o log.o || exit 1

# So that addresses can be compared.
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

run() { # MODE [RUNS]
	rm -f words expected
	WORD_LOG=words WORD_LOG_MODE=$1 WORD_LOG_RUNS=${2-1} EXPECTED=expected $fixed timeout 120 ./watched >printed 2>&1
	[ $? = $status ] || fail "$1: exit status is not $status"
	cmp -s printed native.printed || fail "$1: prints something else: $(diff native.printed printed | head -3)"
	read -r _ counted _ traced _ errors _ runs _ idle < <(tail -1 words)
	[ "$errors" = 0 ] || fail "$1: $(head -3 words)"
}

levels=(-O0 "-O2 -g" "-O3 -march=native")
[ -z "${LONG-}" ] || levels+=("-O2 -fPIC -fexceptions -funroll-loops" "-O1")
# Before linking, and, where lld loads passes, when linking: LOCI_LTO is the environment's.
if [ -x "$(clang-"$version" -print-prog-name=ld.lld)" ]; then
	[ "$version" -lt 15 ] || levels+=("-O2 -flto -fuse-ld=lld -Wl,--load-pass-plugin=$plugin")
	[ "$version" -ge 15 ] && [ -z "${LONG-}" ] || levels+=("-O2 -flto -fuse-ld=lld")
	[ "$version" -lt 15 ] || [ -z "${LONG-}" ] ||
		levels+=("-O2 -flto=thin -fuse-ld=lld -Wl,--load-pass-plugin=$plugin")
fi
for level in "${levels[@]}"; do
	case $level in
	*--load-pass-plugin*) export LOCI_LTO=link ;;
	*) unset LOCI_LTO ;;
	esac
	# Those of C++, which takes long to compile, print the same at every level.
	if [ "${program%.cpp}" = "$program" ] || [ ! -e native ]; then
		$compiler ${level%-Wl,*} "$program" -o native -lm -lpthread || exit 1
		EXPECTED=/dev/null ./native >native.printed 2>&1
		status=$?
	fi
	if ! LOCI_PASS_VERIFY=1 $compiler $level -fpass-plugin="$plugin" "$program" log.o -o watched \
		-lm -lpthread; then
		fail "does not compile"
		continue
	fi
	run count
	total=$counted
	[ "$total" -gt 0 ] || fail "nothing is counted"
	[ "$traced" = 0 ] || fail "traces when it should count"
	run trace
	[ "$counted" = "$total" ] || fail "$counted references counted while tracing, $total otherwise"
	[ "$traced" = "$total" ] || fail "$traced references are in the words, $total were counted"
	run windows
	[ "$counted" = "$total" ] || fail "$counted references counted in windows, $total otherwise"
	[ "$traced" -gt 0 ] && [ "$traced" -lt "$total" ] || fail "$traced of $total in windows"
	case $program in
	*steady*)
		run list
		[ "$level" = -O0 ] || [ "$runs" -gt 30 ] || fail "only $runs loops are told by one marker"
		mv words with_runs
		run list 0
		[ "$traced" = "$total" ] || fail "$traced references are in the words without runs, $total were counted"
		[ -z "$fixed" ] || cmp -s <(grep -v '^counted' words) <(grep -v '^counted' with_runs) ||
			fail "other references with runs: $(diff words with_runs | head -5)"
		if [ "$level" = "-O2 -g" ] && [ "$version" -ge 19 ]; then # what has no test begins where code is fetched from
			$compiler $level -fpass-plugin="$plugin" "$program" -S -o code || fail "does not compile"
			aligned=$(grep -cE 'p2align[[:space:]]+5' code)
			[ "$aligned" -ge 20 ] || fail "only $aligned loops are aligned"
		fi
		;;
	*deep*) # code comes back to counting, at the latest when the next loop goes round
		run brief
		[ "$counted" = "$total" ] || fail "$counted references counted in brief windows, $total otherwise"
		[ "$level" = -O0 ] || [ "$idle" -lt $((total / 20)) ] || fail "$idle references of $total traced that were not wanted"
		;;
	*bounded*)
		if [ "$level" = "-O2 -g" ]; then # debug information says how they count: base - factor * counter
			$compiler $level -fpass-plugin="$plugin" "$program" -S -emit-llvm -o - >code || fail "does not compile"
			plain=$(grep -c 'DW_OP_consts, .*DW_OP_mul, DW_OP_minus, DW_OP_stack_value' code)
			[ "$plain" -ge 3 ] || fail "only $plain loops are plain"
		fi
		;;
	*exact*)
		LOCI_ONLY='exact_*' $compiler $level -fpass-plugin="$plugin" "$program" log.o -o watched \
			-lm -lpthread || fail "does not compile"
		run list
		grep -v '^counted' words >got
		cmp -s got expected || fail "other references: $(diff expected got | head -5)"
		;;
	esac
done

# Functions that are not wanted are as if there were no pass: nothing of the runtime is needed.
level=-O2
unset LOCI_LTO
LOCI_SKIP='nothing,?*' $compiler -O2 -fpass-plugin="$plugin" "$program" -o watched -lm -lpthread ||
	fail "functions are instrumented that should be skipped"
exit $((failures != 0))
