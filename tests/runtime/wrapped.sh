#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The list that static programs are linked with names what the archive puts itself in front of, all
# of it and nothing else; and the shared runtime has no names but the library's and its own.
#
#	tests/runtime/wrapped.sh NM FOLDER
set -eu
export LC_ALL=C
failures=0
archive=$("$1" "$2/libloci-rt.a" | sed -n 's/.* T __wrap_//p' | sort -u)
list=$(grep -v '^#' "$2/wrapped.txt" | sort -u)
if [ -z "$list" ] || [ "$archive" != "$list" ]; then
	echo "wrapped.txt: has [$list]" >&2
	echo "libloci-rt.a has [$archive]" >&2
	failures=1
fi
# What only the shared one can be in front of: the loader, C++, OpenMP, what a static exit ends in; and what gcc
# calls.
extra='^(__cxa_guard_[a-z]*|GOMP_[a-z_]*|__kmpc_[a-z0-9_]*|omp_[a-z_]*|ompt_start_tool|dlclose|quick_exit|bsd_signal|_Zn[wa]m.*|__loci_[a-z_]*|__tsan_[a-z0-9_]*|__wrap_[a-z_]*)$'
others=$("$1" -D --defined-only "$2/libloci-rt.so" | awk '{ print $3 }' | grep -vE "$extra" | sort -u)
if [ "$others" != "$list" ]; then
	echo "libloci-rt.so: has [$others], wrapped.txt [$list]" >&2
	failures=1
fi
# And what is in front of code of gcc only, which is linked with the other list.
wrapped=$("$1" -D --defined-only "$2/libloci-rt.so" | sed -n 's/.* T __wrap_//p' | sort -u)
touched=$(grep -v '^#' "$2/touched.txt" | sort -u)
if [ -z "$touched" ] || [ "$wrapped" != "$touched" ]; then
	echo "libloci-rt.so: has [$wrapped], touched.txt [$touched]" >&2
	failures=1
fi
exit $failures
