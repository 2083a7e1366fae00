#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A random program of hostile control flow:	random_flow.py SEED c|c++ >program

Labels anywhere and jumps to them from anywhere, also into loops; switches, computed jumps, calls
through pointers, recursion, variable arguments, structures by value, arrays of variable length,
and ways out by longjmp or exceptions past cleanups. It ends because every jump costs fuel. Between
them stand loops of equal steps, which may be told by one marker.

All accesses to `arena` are volatile or atomic, so that no optimiser may change what they are and
how they follow each other: this is the oracle. Built with -DNOTE the program itself writes each to
the file EXPECTED as word_log.c would list it, with the offset in the arena for the address; without
it, it writes the arena's address there ("arena LO HI"). What else it refers to is the compiler's
choice.
"""
import random
import sys

seed, language = int(sys.argv[1]), sys.argv[2]
r = random.Random(seed)
cxx = language == "c++"
TYPES = ("uint8_t", "uint16_t", "uint32_t", "uint64_t")

PRELUDE = r"""
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4096
typedef uint64_t u64;
static unsigned char arena[BYTES] __attribute__((aligned(4096)));
static unsigned char plain[BYTES];
static volatile int fuel = FUEL;
static FILE *out;
#ifdef NOTE
static void note(char op, size_t bytes, u64 at)
{
	fprintf(out, "%c %zu %#llx\n", op, bytes, (unsigned long long)at);
}
#else
#define note(op, bytes, at) ((void)0)
#endif
#define AT(type, i) ((u64)(i) % (BYTES / sizeof(type)) * sizeof(type))
#define HERE(type, at) (*(volatile type *)(arena + (at)))
/* Inlined always: what they refer to belongs to where they are called. */
#define ACCESSES(type) \
static inline __attribute__((always_inline)) u64 load_##type(u64 i) \
{ \
	u64 at = AT(type, i); \
	note('L', sizeof(type), at); \
	return HERE(type, at); \
} \
static inline __attribute__((always_inline)) void store_##type(u64 i, u64 x) \
{ \
	u64 at = AT(type, i); \
	note('S', sizeof(type), at); \
	HERE(type, at) = (type)x; \
} \
static inline __attribute__((always_inline)) u64 change_##type(u64 i, u64 x) \
{ \
	u64 at = AT(type, i); \
	note('L', sizeof(type), at); \
	note('S', sizeof(type), at); \
	x += HERE(type, at) * 5; \
	HERE(type, at) = (type)x; \
	return x; \
} \
static inline __attribute__((always_inline)) u64 add_##type(u64 i, u64 x) \
{ \
	u64 at = AT(type, i); \
	ADDED(type); \
	return __atomic_fetch_add(&HERE(type, at), (type)x, __ATOMIC_SEQ_CST); \
}
/* The same at a place that is known to be within. */
#define STEADY(type) \
static inline __attribute__((always_inline)) u64 peek_##type(u64 i) \
{ \
	note('L', sizeof(type), i * sizeof(type)); \
	return HERE(type, i * sizeof(type)); \
} \
static inline __attribute__((always_inline)) void poke_##type(u64 i, u64 x) \
{ \
	note('S', sizeof(type), i * sizeof(type)); \
	HERE(type, i * sizeof(type)) = (type)x; \
}
#define ADDED(type) (note('L', sizeof(type), at), note('S', sizeof(type), at))
ACCESSES(uint8_t)
ACCESSES(uint16_t)
ACCESSES(uint32_t)
ACCESSES(uint64_t)
STEADY(uint8_t)
STEADY(uint16_t)
STEADY(uint32_t)
STEADY(uint64_t)

struct big {
	u64 a[5];
	unsigned low : 5, middle : 14, high : 13;
	volatile unsigned short flags : 3, rest : 9;
};
"""


class Function:
    def __init__(self, number, n_functions):
        self.number, self.n = number, n_functions
        self.n_labels = r.randint(2, 14)
        self.computed = r.random() < 0.25
        self.catches = r.random() < 0.3
        self.jumping = self.catches and not cxx
        self.next_label = 0
        self.depth = 0

    def index(self):
        return r.choice(("x", "y", "x + i0", "i0 * 8 + i1", "x >> 7", "y * 3 + x", "%du" % r.randint(0, 4095), "n"))

    def value(self):
        t = r.choice(TYPES)
        return "(%s)" % r.choice((
            "x * 0x9e3779b97f4a7c15u + y", "y ^ x >> 3", "x + i0 + 1", "x + y + n",
            "load_%s(%s)" % (t, self.index()), "load_%s(load_%s(%s))" % (t, r.choice(TYPES), self.index()),
            "change_%s(%s, x)" % (t, self.index()), "add_%s(%s, y)" % (t, self.index())))

    def callee(self):
        return "f%d" % r.randrange(self.n)

    def simple(self):
        t = r.choice(TYPES)
        kind = r.randrange(17)
        v = r.choice("xy")
        if kind < 4:
            return "%s = %s;" % (v, self.value())
        if kind < 7:
            return "store_%s(%s, %s);" % (t, self.index(), self.value())
        if kind == 7:
            return "%s += %s(%s, n + 1);" % (v, self.callee(), self.value())
        if kind == 8:
            return "%s ^= table[(%s) %% COUNT](%s, n + 1);" % (v, self.value(), self.value())
        if kind == 9:
            return "%s += vary(%d, %s);" % (v, 3, ", ".join(self.value() for _ in range(3)))
        if kind == 10:
            return "b = mix(b, %s); %s += b.a[x %% 5] + b.middle + b.flags;" % (self.value(), v)
        if kind == 11:
            return "%s += lengthy(%s %% 50 + 1, %s);" % (v, self.value(), self.value())
        if kind == 12:
            return "memcpy(plain + x %% 1000, plain + 2000 + y %% 1000, %s %% 900);" % self.value()
        if kind == 13:
            return "{ unsigned char *m = (unsigned char *)alloca(y %% 64 + 1); memset(m, (int)x, y %% 64 + 1); m[x %% (y %% 64 + 1)] = 3; %s += m[0]; }" % v
        if kind == 14:
            return "b.low = (unsigned)x; b.high += 3; b.rest = (unsigned short)y; %s ^= b.high + b.rest;" % v
        if kind == 15:
            return "%s ? (void)store_%s(%s, y) : (void)(x += %s);" % (self.test(), t, self.index(), self.value())
        return self.leave()

    def leave(self):
        if cxx:
            return "if (catching && (%s) %% 4 == 0) throw x;" % self.value()
        return "if (target && (%s) %% 4 == 0) longjmp(*target, 1);" % self.value()

    def test(self):
        return r.choice(("(x & %d)" % (1 << r.randrange(8)), "(y %% %d == 0)" % r.randint(2, 5), "(x > y)",
                         "(load_uint8_t(%s) & 1)" % self.index(), "(x & 1 && load_uint32_t(%s) %% 3)" % self.index(),
                         "(y & 2 || add_uint16_t(%s, 1) & 1)" % self.index()))

    def label(self):
        return "l%d" % r.randrange(self.n_labels)

    def jump(self):
        if self.computed and r.random() < 0.4:
            return "goto *jumps[(%s) %% %d];" % (self.value(), self.n_labels)
        return "goto %s;" % self.label()

    def switch(self):
        n = r.randint(2, 12)
        body = []
        for i in range(n):
            body.append("case %d:" % (i if n < 8 else i * i * 37))
            body += self.statements(r.randint(0, 2))
            body.append(r.choice(("break;", "", self.jump())))
        return ["switch ((%s) %% %d) {" % (self.value(), n + 2 if n < 8 else 37 * n)] + body + ["default:"] + self.statements(1) + ["}"]

    def loop(self):
        i = "i%d" % r.randrange(3)
        bound = r.choice(("x % 5", "4", "y % 9", "load_uint8_t(y) % 6", "17", "1"))
        inner = self.statements(r.randint(1, 4))
        if r.random() < 0.3:
            inner.insert(r.randrange(len(inner) + 1), "if %s %s;" % (self.test(), r.choice(("break", "continue"))))
        if r.random() < 0.6:
            # Its counter may be changed by what is within: fuel ends it.
            return ["for (%s = 0; %s < (int)(%s); %s++) {" % (i, i, bound, i), "FUEL_OR(end);"] + inner + ["}"]
        return ["do {", "FUEL_OR(end);"] + inner + ["} while (%s);" % self.test()]

    def steady_access(self, i):
        """In an arena of 4096 bytes: i is below 40."""
        t = r.choice(TYPES)
        at = r.choice((i, "%s + %d" % (i, r.randrange(100)), "%s * %d + %d" % (i, r.randint(2, 8), r.randrange(100)),
                       "%s * (u64)(n + 1)" % i, "%d - %s" % (r.randint(40, 140), i), "%d" % r.randrange(200)))
        q = r.choice(("plain", "plain + 1024"))
        return r.choice((
            "sum += peek_%s(%s);" % (t, at), "poke_%s(%s, sum + %s);" % (t, at, i),
            "poke_%s(%s, peek_%s(%s) + 3);" % (t, at, t, at),
            "((%s *)(%s))[%s] += (%s)sum;" % (t, q, i, t), "sum += ((%s *)(%s))[%s];" % (t, q, i),
            "sum ^= sum << 7 ^ sum >> 3;"))

    def steady_loop(self, i, outer=None):
        """Of equal steps, or nearly: most are told by one marker."""
        bounds = ["(x %% %d)" % r.randint(2, 39), "(y % 40)", "%d" % r.randint(0, 39), "(u64)(n + 3)"]
        k = r.choice(bounds + ["(u64)%s" % outer] * 3 if outer else bounds)
        head = r.choice((
            "for (int {i} = 0; {i} < (int){k}; {i}++) {{", "for (unsigned {i} = 0; {i} < (unsigned){k}; {i} += {s}) {{",
            "for (u64 {i} = {k}; {i}-- > 0;) {{", "for (int {i} = (int){k}; {i} >= 0; {i} -= {s}) {{",
            "for (u64 {i} = 39; {i} > {k}; {i}--) {{", "for (uint8_t {i} = (uint8_t){k}; {i} != 40; {i}++) {{",
            "for (short {i} = 0; {i} <= (short){k}; {i} = (short)({i} + {s})) {{",
            "for (u64 {i} = 0, end = {k}; {i} < end; {i}++) {{"))
        body = [self.steady_access(i) for _ in range(r.randint(1, 5))]
        for chance, text in ((0.15, "if (sum %% %d == 0) break;" % r.randint(5, 50)),
                             (0.15, "if (sum & 8) sum += 5; else sum ^= %s;" % i),
                             (0.1, "if (sum & 2) poke_uint8_t(%s, 1);" % i), (0.1, "last = %s;" % i)):
            if r.random() < chance:
                body.insert(r.randrange(len(body) + 1), text)
        if not outer and r.random() < 0.4:
            body.insert(r.randrange(len(body) + 1), "\n\t".join(self.steady_loop("j", i)))
        return [head.format(i=i, k=k, s=r.randint(1, 3))] + body + ["}"]

    def steady(self):
        return ["{", "FUEL_OR(end);", "u64 sum = x, last = 0;"] + self.steady_loop("i") + ["x ^= sum + last;", "}"]

    def caught(self):
        inner = ["%s;" % s.rstrip(";") for s in (self.simple() for _ in range(r.randint(1, 3)))]
        call = "x += %s(%s, n + 1);" % (self.callee(), self.value())
        if cxx:
            handler = self.simple() if r.random() < 0.5 else "y++;"
            return ["try {", "struct cleanup c(y);", "catching++;"] + inner + [call] + [self.leave(), "catching--;",
                    "} catch (u64 thrown) {", "catching--;", "x += thrown;", handler, "}"]
        return ["{", "jmp_buf place, *before = target;", "if (setjmp(place) == 0) {", "target = &place;"] + inner + \
               [call, self.leave(), "}", "target = before;", "}"]

    def statements(self, n):
        got = []
        for _ in range(n):
            kind = r.random()
            if self.next_label < self.n_labels and kind < 0.3:
                got.append("l%d:" % self.next_label)
                got.append("FUEL_OR(end);")
                self.next_label += 1
            elif kind < 0.42 and self.depth < 3:
                self.depth += 1
                got += self.loop()
                self.depth -= 1
            elif kind < 0.47 and self.depth < 2:
                self.depth += 1
                got += self.switch()
                self.depth -= 1
            elif kind < 0.52 and self.depth < 2:
                got += self.steady()
            elif kind < 0.62:
                got.append("if %s" % self.test())
                got.append(self.jump())
            elif kind < 0.66 and self.catches:
                got += self.caught()
            else:
                got.append(self.simple())
        return got

    def text(self):
        body = self.steady() if r.random() < 0.7 else []
        body += self.statements(r.randint(6, 18))
        while self.next_label < self.n_labels:
            body.append("l%d:" % self.next_label)
            body.append("FUEL_OR(end);")
            self.next_label += 1
            body += self.statements(r.randint(1, 3))
            body.append("if %s %s" % (self.test(), self.jump()))
        v = "volatile " if self.jumping else ""
        head = ["%su64 x = x0, y = x0 * 3 + 1;" % v, "%sint i0 = 0, i1 = 1, i2 = 2, n = n0;" % v, "%sstruct big b;" % ("static " if self.jumping else "")]
        if self.computed:
            head.append("static void *const jumps[] = { %s };" % ", ".join("&&l%d" % i for i in range(self.n_labels)))
        head += ["memset(&b, 0, sizeof(b));", "(void)i1, (void)i2;", "if (n > 12) return x;", "FUEL_OR(end);"]
        return "%su64 f%d(u64 x0, int n0)\n{\n\t%s\nend:\n\treturn x ^ y;\n}\n" % (
            r.choice(("", "static ", "__attribute__((noinline)) static ")), self.number, "\n\t".join(head + body))


HELPERS = r"""
#define FUEL_OR(where) do { if (--fuel < 0) goto where; } while (0)
typedef u64 function(u64, int);
#ifdef __cplusplus
static int catching;
struct cleanup {
	u64 i;
	cleanup(u64 i) : i(i) {}
	~cleanup() { change_uint32_t(i, 1); }
};
#else
static jmp_buf *target;
#endif
static u64 vary(int n, ...)
{
	va_list list;
	u64 sum = 0;
	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += change_uint16_t(va_arg(list, u64), (u64)i);
	va_end(list);
	return sum;
}
__attribute__((noinline)) static struct big mix(struct big b, u64 x)
{
	b.a[x % 5] ^= load_uint64_t(x);
	b.low++;
	b.middle += (unsigned)x;
	b.flags = (unsigned short)(b.flags + 1);
	return b;
}
static u64 lengthy(u64 n, u64 x)
{
	u64 array[n];
	for (u64 i = 0; i < n; i++)
		array[i] = i * x;
	for (u64 i = 1; i < n; i++) {
		array[i] += array[i - 1] ^ load_uint8_t(array[i]);
		if (array[i] % 37 == 0)
			store_uint16_t(array[i], i);
	}
	return array[n - 1];
}
"""

MAIN = r"""
int main(void)
{
	u64 x = 1, sum = 0;
	out = fopen(getenv("EXPECTED") ? getenv("EXPECTED") : "/dev/null", "w");
#ifndef NOTE
	fprintf(out, "arena %p %p\n", (void *)arena, (void *)(arena + BYTES));
	fclose(out);
#endif
	for (int i = 0; fuel > 0 && i < 200; i++)
		x = table[i % COUNT](x + (u64)i, 0);
	for (int i = 0; i < BYTES; i++)
		sum = sum * 31 + ((volatile unsigned char *)plain)[i];
#ifdef NOTE
	fclose(out);
#endif
	for (int i = 0; i < BYTES; i++) {
		unsigned char c;
		__asm__ volatile("movb %1, %0" : "=r"(c) : "m"(arena[i]));
		sum = sum * 31 + c;
	}
	printf("%llx %llx\n", (unsigned long long)x, (unsigned long long)sum);
	return (int)(x & 63);
}
"""

n = r.randint(2, 7)
print("/* random_flow.py %d %s */" % (seed, language))
print(PRELUDE.replace("FUEL;", "%d;" % r.choice((300, 3000, 20000))))
print(HELPERS)
functions = [Function(i, n).text() for i in range(n)]
for i, text in enumerate(functions):
    print(text.split("\n")[0] + ";")
print("#define COUNT %d" % n)
print("static function *const table[] = { %s };" % ", ".join("f%d" % i for i in range(n)))
print("\n".join(functions))
print(MAIN)
