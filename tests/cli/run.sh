#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs one command-line test in an empty directory of its own, which is removed afterwards.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
PATH=$(dirname "$LOCI"):$PATH LC_ALL=C.UTF-8 bash "$1"
