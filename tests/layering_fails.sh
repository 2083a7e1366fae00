#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Breaks each law of tests/layering.sh once, in a copy of the tree, and wants to hear of it.
set -u
cd "$(dirname "$0")/.." || exit 1
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
tar --exclude=./.git --exclude='./build*' --exclude=./tests/golden -cf - . | tar -xf - -C "$copy"
failures=0
spdx='// SPDX-License-Identifier: GPL-2.0-or-later'

if ! tests/layering.sh "$copy" >"$copy/build.out" 2>&1; then
	cat "$copy/build.out" >&2
	echo "layering_fails.sh: the tree itself is not in order" >&2
	exit 1
fi

# breaks MESSAGE FILE TEXT..: a file of these lines, of which the check must say so. It is run over many
# at once (notices), so those called bad get a number.
wanted=()
breaks() {
	local message=$1 name=${2/bad/bad_${#wanted[@]}} file
	file=$copy/$name
	shift 2
	mkdir -p "${file%/*}"
	[ ! -e "$file" ] || cp "$file" "$file.saved"
	printf '%s\n' "$@" >"$file"
	wanted+=("$name" "$message")
}

# notices: the check fails, and for each of the files says the message, of it or of one it names
notices() {
	local i name message
	! tests/layering.sh "$copy" >"$copy/build.out" 2>&1 || {
		echo "layering_fails.sh: in order, though broken" >&2
		failures=$((failures + 1))
	}
	for ((i = 0; i < ${#wanted[@]}; i += 2)); do
		name=${wanted[i]} message=${wanted[i + 1]}
		grep -F -- "$message" "$copy/build.out" | grep -qE "^layering: ($name|${message%%:*}):" || {
			echo "layering_fails.sh: $name: not noticed: $message" >&2
			failures=$((failures + 1))
		}
		rm -f "$copy/$name"
		[ ! -e "$copy/$name.saved" ] || mv "$copy/$name.saved" "$copy/$name"
	done
	wanted=()
}

breaks 'base may not include hist' src/base/bad.c "$spdx" '#include "hist/hist.h"'
breaks 'engine may not include stream' src/engine/bad.c "$spdx" '  #  include "stream/stream.h"'
breaks 'import may not include engine' src/import/bad.h "$spdx" '#include "engine/stack.h"'
breaks 'model may not include report' src/model/bad.c "$spdx" '#include "report/json.h"'
breaks 'report may not include engine' src/report/bad.c "$spdx" '#include "engine/stack.h"'
breaks 'analyse may not include model' src/analyse/bad.c "$spdx" '#include "model/cache.h"'
breaks 'api may not include analyse' src/api/bad.c "$spdx" '#include "analyse/analyse.h"'
breaks 'there is no src/base/gone.h' src/cli/bad.c "$spdx" '#include "base/gone.h"'
breaks 'include "err.h" by its room' src/base/bad.c "$spdx" '#include "err.h"'
breaks 'only src/api includes' src/cli/bad.c "$spdx" '#include "loci.h"'
breaks 'src/attic is no room' src/attic/bad.c "$spdx"
breaks 'no SPDX-License-Identifier' src/base/bad.c '/* nothing */'
breaks 'no SPDX-License-Identifier' scripts/bad.sh '#!/bin/sh'
breaks 'no SPDX-License-Identifier' doc/man/bad.1 '.Dd'
breaks 'unknown licence MIT' src/base/bad.c '// SPDX-License-Identifier: MIT'
breaks 'must be BSD-2-Clause' src/stream/stream.h "$spdx" '#include <stdint.h>'
notices
breaks 'src/base/err.h: runs inside' src/stream/stream.h \
	'/* SPDX-License-Identifier: BSD-2-Clause */' '#include "base/err.h"'
breaks 'is not part of what runs inside' src/base/bad.c '// SPDX-License-Identifier: BSD-2-Clause'
breaks 'has that name already' src/report/hist.c "$spdx"
breaks 'does not say what it is about' src/base/string_utils.c "$spdx"
breaks 'prints or exits' src/base/bad.c "$spdx" 'void f(void) { printf("x"); }'
breaks 'prints or exits' src/model/bad.c "$spdx" 'void f(void) { /* no */ exit(1); }'
breaks 'prints or exits' src/report/bad.c "$spdx" 'void f(void) { fputs("x", stderr); }'
breaks 'examples use what is installed' examples/bad.c "$spdx" '#include "base/err.h"'
breaks 'there is no doc/gone'.md src/base/bad.c "$spdx" '/* see doc/gone'.md' */'
breaks 'a path of somebody' src/base/bad.c "$spdx" "/* see /ho""me/me/notes */"
notices

[ "$failures" = 0 ] && echo "every law is enforced"
exit $((failures != 0))
