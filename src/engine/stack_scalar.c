// SPDX-License-Identifier: GPL-2.0-or-later
#define KERNEL_NAME loci_stack_run_scalar
#include "engine/stack_kernel.h"
