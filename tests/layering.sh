#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tree's laws that a compiler does not know:	tests/layering.sh [TREE]
#
#  - a room of src/ includes only the rooms that the table below allows it;
#  - every source, script and build file says its licence in its first lines, and the code that runs
#    inside users' programs is BSD-2-Clause, all of it and nothing else;
#  - a file's name occurs once in the tree and says what the file is about;
#  - below src/cli nothing prints to the terminal or exits;
#  - documents that comments and texts refer to exist.
#
# tests/layering_fails.sh breaks each law once to see this script notice.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
failures=0

# room: rooms it may include besides itself
table='
base:
hist: base
stream: base
symbol: base
engine: base hist
profile: base hist
import: base stream
collect: base stream
analyse: base hist stream engine symbol profile
model: base hist profile
report: base hist profile model
api: base hist engine profile model
cli: base hist stream engine symbol profile model import collect analyse report
'
# What a collector puts into the target program starts from these.
in_target='src/stream/stream.h src/stream/ring_producer.h src/stream/ring_producer.c'

fail() {
	echo "layering: $*" >&2
	failures=$((failures + 1))
}

files() {
	if [ -e .git ]; then
		git ls-files -co --exclude-standard -- "$@" | while read -r file; do
			[ ! -f "$file" ] || echo "$file"
		done
	else
		find . -path './build*' -prune -o -type f -print | sed 's,^\./,,'
	fi
}
mapfile -t all < <(files | LC_ALL=C sort)

# includes FILE: what it includes in quotation marks
includes() {
	sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"
}

declare -A allowed
while IFS=: read -r room others; do
	[ -z "$room" ] || allowed[$room]=" $room $others "
done <<<"$table"

check_includes() {
	local room=${1#src/} header other
	room=${room%%/*}
	if [ -z "${allowed[$room]-}" ]; then
		fail "$1: src/$room is no room of the table in tests/layering.sh"
		return
	fi
	while read -r header; do
		case $header in
		version.h) continue ;; # made by the build; knows nothing but a number
		loci.h) [ "$room" = api ] || fail "$1: only src/api includes the public loci.h" ;;
		*/*)
			other=${header%%/*}
			[[ ${allowed[$room]} == *" $other "* ]] ||
				fail "$1: $room may not include $other ($header)"
			[ -f "src/$header" ] || fail "$1: there is no src/$header"
			;;
		*) fail "$1: include \"$header\" by its room: \"$room/$header\"" ;;
		esac
	done < <(includes "$1")
}

check_spdx() {
	local licence
	licence=$(head -n 3 "$1" | sed -n 's/.*SPDX-License-Identifier: \([^ ]*\).*/\1/p')
	case $licence in
	'') fail "$1: no SPDX-License-Identifier in its first three lines" ;;
	GPL-2.0-or-later) [ -z "${closure[$1]-}" ] ||
		fail "$1: runs inside users' programs, so it must be BSD-2-Clause" ;;
	BSD-2-Clause) [ -n "${closure[$1]-}" ] ||
		fail "$1: is not part of what runs inside users' programs: GPL-2.0-or-later" ;;
	*) fail "$1: unknown licence $licence" ;;
	esac
}

# The code without comments, line numbers kept.
code() {
	awk '{
		out = ""
		for (line = $0; line != ""; ) {
			if (inside) {
				at = index(line, "*/")
				if (!at) break
				line = substr(line, at + 2)
				inside = 0
			} else if ((at = match(line, /\/\*|\/\//)) == 0) {
				out = out line
				break
			} else {
				out = out substr(line, 1, at - 1)
				if (substr(line, at, 2) == "//") break
				line = substr(line, at + 2)
				inside = 1
			}
		}
		print NR ": " out
	}' "$1"
}

# Closure of in_target.
declare -A closure
pending=($in_target)
while [ ${#pending[@]} -gt 0 ]; do
	file=${pending[0]}
	pending=("${pending[@]:1}")
	if [ -f "$file" ] && [ -z "${closure[$file]-}" ]; then
		closure[$file]=1
		while read -r header; do
			pending+=("src/$header")
		done < <(includes "$file")
	fi
done

declare -A seen
for file in "${all[@]}"; do
	name=${file##*/}
	case $name in
	CMakeLists.txt | .gitignore) ;;
	*)
		case $file in
		tests/golden/* | tests/fuzz/corpus/*) ;; # data, named by what they hold
		*)
			[ -z "${seen[$name]-}" ] || fail "$file: ${seen[$name]} has that name already"
			seen[$name]=$file
			;;
		esac
		;;
	esac
	[[ ! ${name%%.*} =~ (^|_)(utils?|misc|helpers?|common|manager|v[0-9])(_|$) ]] ||
		fail "$file: the name does not say what it is about"

	case $name in
	*.c | *.h | *.cpp | *.h.in | *.sh | *.bash | *.py | *.awk | *.sql | *.cmake | CMakeLists.txt | \
		Makefile | *.map | *.pc.in | *.[1-8]) check_spdx "$file" ;;
	esac

	case $file in
	src/*/*.[ch])
		check_includes "$file"
		case $file in
		src/cli/*) ;;
		*)
			found=$(code "$file" | grep -E \
				'(^|[^_[:alnum:]])((v?printf|puts|putchar|perror|_?exit|abort)[[:space:]]*\(|stdout|stderr)')
			[ -z "$found" ] || fail "$file: prints or exits outside src/cli: $found"
			;;
		esac
		;;
	examples/*.[ch])
		while read -r header; do
			fail "$file: examples use what is installed: include <$header>"
		done < <(includes "$file")
		;;
	esac

	case $file in
	LICENSES/* | tests/golden/* | tests/fuzz/corpus/*) ;;
	*)
		while IFS=: read -r line document; do
			document=${document#SRC/} # as tests say it
			[ -e "$document" ] || [ -e "doc/$document" ] || [ -e "${file%/*}/$document" ] ||
				fail "$file:$line: there is no $document"
		done < <(grep -noIE '[[:alnum:]_./-]*[[:alnum:]]\.md\b' "$file")
		while read -r line; do
			fail "$file:$line: a path of somebody's machine"
		done < <(grep -noIE "(^|[[:space:]\"'=(])/(home|root|work|Users)/[[:alnum:]]+" "$file")
		;;
	esac
done

if [ "$failures" = 0 ]; then
	echo "layering: ${#all[@]} files in order"
fi
exit $((failures != 0))
