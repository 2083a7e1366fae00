/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of a function's body: its code is in another file than the function. */
sum += v[i];     /*: v[] *v */
sum ^= v[i + 1]; /*: v[] */
