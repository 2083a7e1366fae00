/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of this process, as the kernel counts them. */
#ifndef LOCI_COLLECT_RUNTIME_KERNEL_THREADS_H
#define LOCI_COLLECT_RUNTIME_KERNEL_THREADS_H

/* The numbers of those beside this one, at most so many; returns how many there are. */
unsigned rt_other_threads(int *to, unsigned room);

#endif
