// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"

int loci_cmd_analyse(int argc, char **argv)
{
	return loci_usage("analyse", "under construction");
}
