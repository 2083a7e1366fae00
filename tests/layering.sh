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
in_target='src/stream/stream.h src/stream/ring_producer.h src/stream/ring_producer.c
	src/collect/runtime/*.c src/collect/runtime/*.h src/collect/runtime/*.map include/loci/mark.h
	src/collect/fortran/*.c'

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

declare -A allowed closure licence seen
while IFS=: read -r room others; do
	[ -z "$room" ] || allowed[$room]=" $room $others "
done <<<"$table"

# matching PATTERN..: the files whose paths match one of the shell patterns
matching() {
	local file pattern
	for file in "${all[@]}"; do
		for pattern; do
			if [[ $file == $pattern ]]; then
				printf '%s\0' "$file"
				break
			fi
		done
	done
}

# includes PATTERN..: "file header" for every include in quotation marks
includes() {
	matching "$@" | xargs -0r awk 'match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
		split($0, part, "\"")
		print FILENAME, part[2]
	}'
}

# Who includes whom.
declare -A included
while read -r file header; do
	included[$file]+=" $header"
	room=${file#src/}
	room=${room%%/*}
	if [ -z "${allowed[$room]-}" ]; then
		fail "$file: src/$room is no room of the table in tests/layering.sh"
		continue
	fi
	case $header in
	version.h) ;; # made by the build; knows nothing but a number
	collect/runtime/cc_abi.h) # what stands in object files: a format, as the stream's words are
		[[ $room =~ ^(collect|symbol)$ ]] || fail "$file: $room may not include $header" ;;
	loci.h) [ "$room" = api ] || fail "$file: only src/api includes the public loci.h" ;;
	*/*)
		other=${header%%/*}
		[[ ${allowed[$room]} == *" $other "* ]] ||
			fail "$file: $room may not include $other ($header)"
		[ -f "src/$header" ] || fail "$file: there is no src/$header"
		;;
	*) fail "$file: include \"$header\" by its room: \"$room/$header\"" ;;
	esac
done < <(includes 'src/*.[ch]')
while read -r file header; do
	fail "$file: examples use what is installed: include <$header>"
done < <(includes 'examples/*.[ch]')

# Licences: what runs inside users' programs, and the rest.
pending=($in_target)
while [ ${#pending[@]} -gt 0 ]; do
	file=${pending[0]}
	pending=("${pending[@]:1}")
	if [ -f "$file" ] && [ -z "${closure[$file]-}" ]; then
		closure[$file]=1
		for header in ${included[$file]-}; do
			pending+=("src/$header")
		done
	fi
done
sources=('*.c' '*.h' '*.cpp' '*.h.in' '*.sh' '*.bash' '*.py' '*.awk' '*.sql' '*.cmake' '*CMakeLists.txt'
	Makefile '*.map' '*.pc.in' 'doc/man/*.[1-8]'
	'*.js' '*.mjs' '*.css')
while read -r file name; do
	licence[$file]=$name
done < <(matching "${sources[@]}" | xargs -0r awk 'FNR <= 3 && /SPDX-License-Identifier: / {
	sub(/.*SPDX-License-Identifier: /, "")
	print FILENAME, $1
}')
while IFS= read -r -d '' file; do
	case ${licence[$file]-} in
	'') fail "$file: no SPDX-License-Identifier in its first three lines" ;;
	GPL-2.0-or-later) [ -z "${closure[$file]-}" ] ||
		fail "$file: runs inside users' programs, so it must be BSD-2-Clause" ;;
	BSD-2-Clause) [ -n "${closure[$file]-}" ] ||
		fail "$file: is not part of what runs inside users' programs: GPL-2.0-or-later" ;;
	*) fail "$file: unknown licence ${licence[$file]}" ;;
	esac
done < <(matching "${sources[@]}")

# Names, and rooms that include nothing.
for file in "${all[@]}"; do
	name=${file##*/}
	case $file in
	*CMakeLists.txt | *.gitignore) ;;
	tests/golden/* | tests/fuzz/corpus/* | tests/cli/expected/*) ;; # data, named by what they hold
	*)
		[ -z "${seen[$name]-}" ] || fail "$file: ${seen[$name]} has that name already"
		seen[$name]=$file
		;;
	esac
	[[ ! ${name%%.*} =~ (^|_)(utils?|misc|helpers?|common|manager|v[0-9])(_|$) ]] ||
		fail "$file: the name does not say what it is about"
	case $file in
	src/*/*.[ch])
		room=${file#src/}
		[ -n "${allowed[${room%%/*}]-}" ] || [ -n "${included[$file]-}" ] ||
			fail "$file: src/${room%%/*} is no room of the table in tests/layering.sh"
		;;
	esac
done

# Below src/cli nothing prints or exits; comments may say so.
while read -r found; do
	case $found in
	src/cli/*) ;;
	*) fail "$found: prints or exits outside src/cli" ;;
	esac
done < <(matching 'src/*.[ch]' | xargs -0r awk '
	FNR == 1 { inside = 0 }
	{
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
	}
	out ~ /(^|[^_a-zA-Z0-9])((v?printf|puts|putchar|perror|_?exit|abort)[ \t]*\(|stdout|stderr)/ {
		print FILENAME ":" FNR
	}')

# Documents that are referred to, and paths that nobody else has.
texts() {
	for file in "${all[@]}"; do
		case $file in
		LICENSES/* | tests/golden/* | tests/fuzz/corpus/*) ;;
		*) printf '%s\0' "$file" ;;
		esac
	done
}
while IFS=: read -r file line document; do
	document=${document#SRC/} # as tests say it
	[ -e "$document" ] || [ -e "doc/$document" ] || [ -e "${file%/*}/$document" ] ||
		fail "$file:$line: there is no $document"
done < <(texts | xargs -0r grep -HnoIE '[[:alnum:]_./-]*[[:alnum:]]\.md\b')
while IFS=: read -r file line _; do
	fail "$file:$line: a path of somebody's machine"
done < <(texts | xargs -0r grep -HnoIE "(^|[[:space:]\"'=(])/(home|root|work|Users)/[[:alnum:]]+")

if [ "$failures" = 0 ]; then
	echo "layering: ${#all[@]} files in order"
fi
exit $((failures != 0))
