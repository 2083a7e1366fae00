// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/options.h"

struct options options = { .kernel = True, .start = True };

Bool options_process(const HChar *arg)
{
	const HChar *start;

	if VG_STR_CLO (arg, "--run-dir", options.run_dir) {
	} else if VG_BOOL_CLO (arg, "--kernel", options.kernel) {
	} else if VG_BOOL_CLO (arg, "--windows", options.windows) {
	} else if VG_STR_CLO (arg, "--start", start) {
		options.start = VG_(strcmp)(start, "off") != 0;
		options.windows = options.windows || !options.start;
	} else if VG_STR_CLO (arg, "--only", options.only) {
	} else if VG_STR_CLO (arg, "--skip", options.skip) {
	} else {
		return False;
	}
	return True;
}

void options_print(void)
{
	VG_(printf)
	("    --run-dir=DIR             where the process makes its ring [none]\n"
	 "    --kernel=yes|no           references made by system calls [yes]\n"
	 "    --windows=yes|no          obey DIR/control, which starts and stops [no]\n"
	 "    --start=on|off            off: do not record until told so; implies --windows\n"
	 "    --only=NAME,...           references of these functions only (* and ?)\n"
	 "    --skip=NAME,...           references of all but these functions\n");
}

void options_print_debug(void)
{
	VG_(printf)("    (none)\n");
}
