// SPDX-License-Identifier: GPL-2.0-or-later
#define KERNEL_NAME loci_coherent_run_avx512
#include "engine/coherent_kernel.h"
