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

# breaks MESSAGE FILE TEXT..: with the file of these lines the check must fail and say so.
breaks() {
	local message=$1 file=$copy/$2
	shift 2
	mkdir -p "${file%/*}"
	[ ! -e "$file" ] || cp "$file" "$copy/build.saved"
	printf '%s\n' "$@" >"$file"
	if tests/layering.sh "$copy" >"$copy/build.out" 2>&1; then
		echo "layering_fails.sh: not noticed: $message" >&2
		failures=$((failures + 1))
	elif ! grep -qF -- "$message" "$copy/build.out"; then
		echo "layering_fails.sh: want \"$message\", got:" >&2
		cat "$copy/build.out" >&2
		failures=$((failures + 1))
	fi
	rm -f "$file"
	[ ! -e "$copy/build.saved" ] || mv "$copy/build.saved" "$file"
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

[ "$failures" = 0 ] && echo "every law is enforced"
exit $((failures != 0))
