#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a program in the place of another:
#
#	tests/runtime/instead.sh PROGRAM OTHER [ARGUMENT..]
program=$1
shift 2
exec "$program" "$@"
