// SPDX-License-Identifier: GPL-2.0-or-later
#define KERNEL_NAME loci_levels_run_avx2
#include "engine/levels_kernel.h"
