// SPDX-License-Identifier: GPL-2.0-or-later
/* A function of the name NAME, with a reference of its own; with TWICE one that calls it. */
#ifdef TWICE
double NAME(double x);
double twice(double x)
{
	return NAME(x) + NAME(x + 1);
}
#else
double NAME(double x);
static volatile double kept;
double NAME(double x)
{
	kept = x;
	return x / 2;
}
#endif
