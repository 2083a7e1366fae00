// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option.h"

#include "cli/command.h"

#include <getopt.h>
#include <string.h>

int loci_option_refused(const char *command, int option, char **argv)
{
	const char *last = argv[optind - 1];

	if (option == ':')
		return loci_usage(command, "%s needs a value", last);
	if (!strncmp(last, "--", 2) && strchr(last, '=') && optopt)
		return loci_usage(command, "%.*s takes no value", (int)strcspn(last, "="), last);
	if (!strncmp(last, "--", 2) && !optopt)
		return loci_usage(command, "there is no option %s, or it is cut too short", last);
	return loci_usage(command, "there is no option -%c", optopt);
}
