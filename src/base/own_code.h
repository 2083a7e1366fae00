/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that our own code takes. */
#ifndef LOCI_BASE_OWN_CODE_H
#define LOCI_BASE_OWN_CODE_H

/* Code and constants of this program and its libraries are in memory no more, as far as this
 * process is concerned: what is needed again comes back, from the page cache, when it is. For who
 * has started up and will do little for long. */
void loci_own_code_release(void);

#endif
