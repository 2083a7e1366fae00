// SPDX-License-Identifier: GPL-2.0-or-later
#define KERNEL_NAME loci_levels_run_avx512
#include "engine/levels_kernel.h"
