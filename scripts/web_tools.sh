#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what drives the viewer in tests into BUILD/web/tools, from npm, as web/package-lock.json pins
# it: by name, version and checksum. Where npm cannot it says so and goes on: the tests of the viewer
# in a browser are skipped then.
set -u
cd "$(dirname "$0")/.." || exit 1
tools=${BUILD:-build}/web/tools
cmp -s web/package-lock.json "$tools/package-lock.json" && [ -d "$tools/node_modules/playwright-core" ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
	echo "loci: there is no npm; the viewer is not tried in a browser" >&2
	exit 0
fi
rm -rf "$tools"
mkdir -p "$tools" || exit 1
cp web/package.json web/package-lock.json "$tools/" || exit 1
if (cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1); then
	exit 0
fi
tail -n 3 "$tools/npm.log" >&2
rm -f "$tools/package-lock.json"
echo "loci: npm ci failed; the viewer is not tried in a browser" >&2
exit 0
