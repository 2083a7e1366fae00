#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make lint:	scripts/lint.sh [layering|format|tidy..]	all of them unless named.
# Exit status 77: the tool is missing (it says which).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}

sources() {
	if [ -e .git ]; then
		git ls-files -co --exclude-standard -- "$@" | while read -r file; do
			[ ! -f "$file" ] || echo "$file"
		done
	else
		find src include tests bench examples -name '*.[ch]' -o -name '*.cc' -o -name '*.[ch]pp'
	fi
}

layering() {
	tests/layering.sh
}

# Other versions format differently: only the one of Debian 12 is asked.
format() {
	local tool
	for tool in clang-format-14 clang-format; do
		if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
			sources '*.c' '*.h' '*.cc' '*.cpp' '*.hpp' | xargs "$tool" --dry-run -Werror && echo "format: in order"
			return
		fi
	done
	echo "format: skipped, clang-format 14 is missing (apt-get install clang-format-14)" >&2
	return 77
}

# once FILE: the compilation database in FILE with the first command of each source, or with all of
# them where LONG is set: the pass is compiled for each clang, and clang-tidy reads a source, with all
# of LLVM's headers, as often as it is. Its C++ is one source for each (cmake/llvm.cmake), in a folder
# that is named by the version.
once() {
	awk -v long="${LONG:+1}" '/^\{/ { entry = "" }
		{ entry = entry (entry == "" ? "" : "\n") $0 }
		/^ *"file":/ { file = $0; sub(/,$/, "", file); sub(/-[0-9]+\.dir/, "", file) }
		/^\},?$/ { if (long || !(file in seen)) { sub(/,$/, "", entry); all[n++] = entry } seen[file] }
		END {
			print "["
			for (i = 0; i < n; i++)
				print all[i] (i < n - 1 ? "," : "")
			print "]"
		}' "$1"
}

# The checks are named in .clang-tidy.
tidy() {
	local tool
	for tool in clang-tidy-14 clang-tidy; do
		command -v "$tool" >/dev/null || continue
		[ -f "$build/compile_commands.json" ] || {
			echo "tidy: $build has no compile_commands.json; run make first" >&2
			return 1
		}
		mkdir -p "$build/tidy" && once "$build/compile_commands.json" >"$build/tidy/compile_commands.json" ||
			return 1
		grep -o '"file": "[^"]*"' "$build/tidy/compile_commands.json" | cut -d '"' -f 4 | grep -v '\.S$' | sort -u |
			xargs -P "$jobs" -n 16 "$tool" --quiet --config-file=.clang-tidy -p "$build/tidy" 2>"$build/tidy.err" || {
			grep -vE 'warnings? generated' "$build/tidy.err" >&2
			return 1
		}
		echo "tidy: in order"
		return 0
	done
	echo "tidy: skipped, clang-tidy is missing (apt-get install clang-tidy)" >&2
	return 77
}

[ $# -gt 0 ] || set -- layering format tidy
result=0
for part; do
	case $part in
	layering | format | tidy) ;;
	*)
		echo "lint.sh: there is no part \"$part\"" >&2
		exit 2
		;;
	esac
	"$part"
	status=$?
	[ $status != 77 ] || [ $# = 1 ] || status=0
	[ $status = 0 ] || result=$status
done
exit $result
