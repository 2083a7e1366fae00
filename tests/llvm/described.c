// SPDX-License-Identifier: GPL-2.0-or-later
/* What definitions are made of, one thing after the other. A comment that begins with a colon lists
 * what references of its line may be named, but for plain locals. Without optimisation there is one
 * of the first name, unless a question mark follows the colon. */
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next;
	int key;
	double weight[4];
	struct {
		short low, high;
	} range;
	union {
		float f;
		int i;
	} either;
	union {
		long only;
	};
	unsigned first : 3, second : 5;
	unsigned alone : 20;
};

struct tail {
	int n;
	double before[3], after[3];
	double rest[];
};

double matrix[16][32];
struct node pool[100];
static struct node *root;
int counter;
char text[64];
volatile int never;

__attribute__((noinline)) int walk(struct node *head)
{
	int sum = 0;

	for (struct node *n = head; n; n = n->next) /*: n->next */
		sum += n->key                       /*: n->key */
			+ n->range.high;            /*: n->range.high */
	return sum;
}

__attribute__((noinline)) double sweep(int k)
{
	double sum = 0;

	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 32; j++)
			sum += matrix[i][j]              /*: matrix[][] */
				* pool[k].weight[j & 3]; /*: pool[].weight[] */
	return sum;
}

static inline int add_up(const int *v, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i]; /*: v[] */
	return sum;
}

__attribute__((noinline)) int twice(const int *p, int n)
{
	counter++; /*: counter */
	return add_up(p, n) + add_up(p + n, n);
}

__attribute__((noinline)) void fill(struct node *q, int value)
{
	struct node local;

	memset(&local, 0, sizeof(local)); /*: local *q q->range q->next q->weight */
	local.key = value;                /*: local.key q->key */
	memcpy(q, &local, sizeof(local)); /*: local *q q->next q->key q->weight[] q->range */
	q->range.low = 1;                 /*: q->range.low */
	q->weight[2] = 2;                 /*: q->weight[] */
}

__attribute__((noinline)) int odd_members(struct node *p, struct node **pp)
{
	p->either.f = 1;      /*: p->either */
	p->only = 2;          /*: p->only */
	p->first = 3;         /*: *p */
	p->alone = 4;         /*: *p */
	(*pp)->key = 5;       /*: (*pp)->key *pp */
	pp[1]->next->key = 6; /*: pp[] pp[]->next pp[]->next->key */
	return **(int **)pp;  /*: (*pp)->next *pp */
}

__attribute__((noinline)) double arrays(struct tail *t, int i, double out[static 8])
{
	static int calls;
	double vla[t->n]; /*: t->n */

	calls++;                               /*: calls */
	vla[i] = t->rest[i];                   /*: vla[] t->rest[] */
	out[i] = t->after[i - 1];              /*: out[] t->after[] */
	out[i + 1] = t->before[i];             /*: out[] t->before[] */
	memset(t->after, 0, sizeof(t->after)); /*: t->after */
	return vla[i];                         /*: vla[] */
}

__attribute__((noinline)) char *pointers(char *to, const char *from)
{
	char *p = to;

	while ((*p++ = *from++)) /*: *p *from p[] from[] to[] *to */
		;
	do {
		*--p = 'x'; /*: p[] *p to[] */
	} while (p > to);
	return p;
}

__attribute__((noinline)) int included(const int *v)
{
	int sum = 0;

	for (int i = 0; i < never; i++) { /*: never */
#include "described_body.h"
	}
	return sum;
}

__attribute__((noinline)) int jumps(const int *v, int n)
{
	int sum = 0, i = 0;

again:
	sum += v[i]; /*: v[] */
	if (++i < n)
		goto again;
	return sum;
}

__attribute__((noinline)) int recursive(struct node *n)
{
	if (!n)
		return 0;
	return n->key + recursive(n->next); /*: n->key n->next */
}

void unused(struct node *n)
{
	n->key = 1; /*: n->key */
}

int main(int argc, char **argv)
{
	int numbers[8] = { argc }; /*: numbers numbers[] */
	struct tail *t = calloc(1, sizeof(*t) + 8 * sizeof(double));
	struct node *other[2];
	double out[8];

	root = &pool[argc];                              /*: root */
	fill(root, argc);                                /*: root */
	pool[0].next = root;                             /*: pool[].next root */
	other[0] = other[1] = pool;                      /*: other[] */
	t->n = 8;                                        /*: t->n */
	pointers(text, argv[0] ? "abc" : "");            /*: *argv */
	counter += walk(root) + (int)sweep(argc);        /*: counter root numbers[] */
	counter += twice(numbers, 4);                    /*: counter numbers[] */
	counter += jumps(numbers, 4);                    /*: counter numbers[] */
	counter += odd_members(pool, other);             /*: counter */
	counter += (int)arrays(t, 1, out);               /*: counter */
	counter += included(numbers);                    /*: counter numbers[] */
	return counter + recursive(root->next) == 12345; /*: root->next counter root */
}
