// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/options.h"

#define MAX_SIGNAL 64
#define MAX_MS     0x7fffffff

struct options options = { .kernel = True };

Bool options_process(const HChar *arg)
{
	if VG_STR_CLO (arg, "--run-dir", options.run_dir) {
	} else if VG_BOOL_CLO (arg, "--kernel", options.kernel) {
	} else if VG_BOOL_CLO (arg, "--start-disabled", options.start_disabled) {
	} else if VG_BINT_CLO (arg, "--toggle-signal", options.toggle_signal, 0, MAX_SIGNAL) {
	} else if VG_BINT_CLO (arg, "--delay-ms", options.delay_ms, 0, MAX_MS) {
	} else if VG_BINT_CLO (arg, "--duration-ms", options.duration_ms, 0, MAX_MS) {
	} else if VG_STR_CLO (arg, "--only", options.only) {
	} else if VG_STR_CLO (arg, "--skip", options.skip) {
	} else {
		return False;
	}
	return True;
}

Bool options_have_windows(void)
{
	return options.start_disabled || options.toggle_signal || options.delay_ms ||
		options.duration_ms;
}

void options_print(void)
{
	VG_(printf)
	("    --run-dir=DIR             where the process makes its ring [none]\n"
	 "    --kernel=yes|no           references made by system calls [yes]\n"
	 "    --start-disabled=yes|no   record nothing until the toggle signal comes [no]\n"
	 "    --toggle-signal=NUMBER    turns recording on and off; not the program's [none]\n"
	 "    --delay-ms=NUMBER         record nothing for that long [0]\n"
	 "    --duration-ms=NUMBER      then record for that long [0: to the end]\n"
	 "    --only=NAME,...           references of these functions only (* and ?)\n"
	 "    --skip=NAME,...           references of all but these functions\n");
}

void options_print_debug(void)
{
	VG_(printf)("    (none)\n");
}
