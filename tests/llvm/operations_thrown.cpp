// SPDX-License-Identifier: GPL-2.0-or-later
// As operations.c, in C++: calls that may throw, and what is done then.
void risky(int a);

//! -O2 calls _Z5riskyi 2
//! -O2 calls __cxa_begin_catch 1
//! -O2 calls __cxa_end_catch 1
//! -O2 call - 1 0 4
extern "C" int guarded(int a)
{
	try {
		risky(a);
		risky(a + 1);
		return a;
	} catch (...) {
		return -1;
	}
}

struct shape {
	virtual float area() const = 0;
};

//! -O2 load pointer 1 64 2
//! -O2 call_indirect - 1 0 1
//! -O2 float_mul f32 1 96 1
//! -O2 return f32 1 32 1
//! -O2 blocks 2
extern "C" float doubled(const shape *s)
{
	return s->area() * 3.0f;
}
