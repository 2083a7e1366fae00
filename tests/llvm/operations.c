/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose operations were counted by hand in the text of the intermediate code. What is to
 * be found stands before each, for the level of optimisation that it begins with:
 *
 *	//! LEVEL KIND TYPE LANES BITS COUNT, or LEVEL calls CALLEE COUNT, or LEVEL blocks N
 *
 * With `blocks` that is all there is; without, all of its kinds and types. */
#include <math.h>
#include <string.h>
#include <unistd.h>

//! -O0 store i32 1 32 2
//! -O0 load i32 1 32 2
//! -O0 int_add i32 1 96 1
//! -O0 return i32 1 32 1
//! -O0 blocks 1
//! -O2 int_add i32 1 96 1
//! -O2 return i32 1 32 1
//! -O2 blocks 1
int add(int a, int b)
{
	return a + b;
}

//! -O0 store i32 1 32 5
//! -O0 store pointer 1 64 1
//! -O0 load i32 1 32 7
//! -O0 load pointer 1 64 1
//! -O0 int_add i32 1 96 2
//! -O0 int_compare i32 1 65 1
//! -O0 convert i64 1 96 1
//! -O0 address pointer 1 192 1
//! -O0 branch - 1 0 3
//! -O0 branch_cond i1 1 1 1
//! -O0 return i32 1 32 1
//! -O0 blocks 5
int sum(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

//! -O0 store i32 1 32 5
//! -O0 load i32 1 32 2
//! -O0 switch i32 1 32 1
//! -O0 branch - 1 0 4
//! -O0 return i32 1 32 1
//! -O0 blocks 6
int pick(int k)
{
	switch (k) {
	case 1:
		return 10;
	case 5:
		return 7;
	case 9:
		return 3;
	default:
		return 0;
	}
}

//! -O2 float_sqrt f64 1 128 1
//! -O2 float_other f64 1 128 1
//! -O2 float_add f64 1 192 1
//! -O2 return f64 1 64 1
//! -O2 blocks 1
double root(double x)
{
	return sqrt(x) + fabs(x);
}

//! -O2 float_fma f32 1 128 1
//! -O2 float_compare f32 1 65 1
//! -O2 select i32 1 97 1
//! -O2 return i32 1 32 1
//! -O2 blocks 1
int above(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c) > 2.5f ? 17 : 3;
}

//! -O2 memset - 1 0 1
//! -O2 memcpy - 1 0 1
//! -O2 return - 1 0 1
//! -O2 blocks 1
void bulk(char *to, const char *from, unsigned long n)
{
	memset(to, 0, n);
	memcpy(to + 0, from, 40);
}

//! -O2 call_indirect - 1 0 1
//! -O2 return i32 1 32 1
//! -O2 blocks 2
int through(int (*f)(int))
{
	return f(3);
}

//! -O2 call - 1 0 3
//! -O2 return i32 1 32 1
//! -O2 calls usleep 2
//! -O2 calls getppid 1
//! -O2 blocks 4
int outside(unsigned a)
{
	usleep(a);
	usleep(a);
	return getppid();
}

//! -O2 load i32 1 32 1
//! -O2 store i32 1 32 1
//! -O2 int_add i32 1 96 1
//! -O2 return i32 1 32 1
//! -O2 blocks 1
int bump(int *p)
{
	return __atomic_fetch_add(p, 5, __ATOMIC_SEQ_CST);
}

//! -O2 load i64 1 64 1
//! -O2 store i64 1 64 1
//! -O2 int_compare i64 1 129 1
//! -O2 return i1 1 1 1
//! -O2 blocks 1
_Bool swap(long *p, long want, long to)
{
	return __sync_bool_compare_and_swap(p, want, to);
}

//! -O2 int_sub i64 1 192 1
//! -O2 int_logic i64 1 192 1
//! -O2 int_mul i64 1 192 1
//! -O2 int_div i64 1 192 1
//! -O2 int_shift i64 1 192 1
//! -O2 convert i32 1 96 1
//! -O2 return i32 1 32 1
//! -O2 blocks 1
int mix(unsigned long a, unsigned long b)
{
	return (int)(((a - b) * (a ^ 5)) / b >> 7);
}

//! -O0 store i32 1 32 2
//! -O0 load i32 1 32 3
//! -O0 load pointer 1 64 1
//! -O0 int_add i32 1 96 1
//! -O0 convert i64 1 96 1
//! -O0 address pointer 1 256 1
//! -O0 branch - 1 0 2
//! -O0 branch_indirect pointer 1 64 1
//! -O0 return i32 1 32 1
//! -O0 blocks 4
int jumping(int i)
{
	static const void *const to[] = { &&one, &&two };
	goto *to[i];
one:
	i += 1;
two:
	return i;
}

/* The loop of Byfl's paper (Anger et al. 2014, listing 2): four lanes each time, and one each time
 * for what is left. Every operation of the listing is here once with four lanes. */
//! -O3 load f32 4 128 1
//! -O3 float_other f32 4 256 1
//! -O3 float_add f32 4 384 1
//! -O3 float_compare f32 4 260 1
//! -O3 select f32 4 388 1
//! -O3 float_mul f32 4 384 1
//! -O3 store f32 4 128 1
//! -O3 load f32 1 32 1
//! -O3 float_other f32 1 64 1
//! -O3 float_add f32 1 96 1
//! -O3 float_compare f32 1 65 1
//! -O3 select f32 1 97 1
//! -O3 float_mul f32 1 96 1
//! -O3 store f32 1 32 1
void shape(long n, const float *restrict v, float *restrict vs)
{
#pragma clang loop vectorize_width(4) interleave_count(1) unroll(disable)
	for (long i = 0; i < n; i++) {
		float a = fabsf(v[i]);
		vs[i] = (1 - a) * (a <= 1 ? 1.0f : 0.0f);
	}
}

int main(void)
{
	return 0;
}
