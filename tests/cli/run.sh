#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs one command-line test in an empty directory of its own, which is removed afterwards. Signals do
# what they usually do, also where a shell in the background has them ignored.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
PATH=$(dirname "$LOCI"):$PATH LC_ALL=C.UTF-8 env --default-signal bash "$1"
