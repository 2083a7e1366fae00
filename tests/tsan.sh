#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a program built with the thread sanitizer. Its runtime cannot start where addresses are
# randomised over more bits than it knows, so without randomisation where that is allowed.
if setarch -R true 2>/dev/null; then
	exec setarch -R "$@"
fi
exec "$@"
