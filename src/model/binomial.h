/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binomial probabilities for any number of trials. */
#ifndef LOCI_MODEL_BINOMIAL_H
#define LOCI_MODEL_BINOMIAL_H

/* Above this variance the tail is the normal one with the first Edgeworth correction: off by less
 * than 2e-5. Below it is summed, to about 1e-12. */
#define LOCI_BINOMIAL_SUMMED 4096.0

/* P(X = k) of X ~ Binomial(n, p); n and k whole. */
double loci_binomial_point(double n, double p, double k);
/* P(X >= k). */
double loci_binomial_at_least(double n, double p, double k);

#endif
