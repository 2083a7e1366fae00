// SPDX-License-Identifier: GPL-2.0-or-later
#define KERNEL_NAME loci_stack_run_avx512
#include "engine/stack_kernel.h"
