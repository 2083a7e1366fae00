// SPDX-License-Identifier: BSD-2-Clause
/* Names, regions, phases and pauses. Tables grow by a new one, published when it is complete: a
 * child that is made meanwhile finds one or the other. */
#include "collect/runtime/marking_table.h"

#define ROOM_BYTES  65536
#define NAME_BYTES  256 /* with a NUL; what is longer is cut */
#define WHAT_BYTES  (2 * NAME_BYTES + 64)
#define FIRST_NAMES 128
#define MAX_NAMES   32768u

static size_t length_of(const char *text, size_t n, size_t most)
{
	size_t i = 0;

	while (i < n && i < most && text[i])
		i++;
	/* a character of UTF-8 is not cut */
	for (size_t k = 0; i == most - k && i < n && k < 3 && (text[i] & 0xc0) == 0x80; k++)
		i--;
	return i;
}

static struct loci_marking_name **slot_of(
	struct loci_marking_names *names, uint64_t hash, const char *text, size_t n)
{
	for (size_t i = hash & names->mask;; i = (i + 1) & names->mask) {
		const struct loci_marking_name *name = names->slot[i];
		size_t k = 0;

		if (!name)
			return &names->slot[i];
		if (name->hash != hash || name->n != n)
			continue;
		while (k < n && name->text[k] == text[k])
			k++;
		if (k == n)
			return &names->slot[i];
	}
}

static bool grow_names(struct loci_marking *marking)
{
	struct loci_marking_names *old = marking->names, *new;
	size_t cap = old ? 2 * (old->mask + 1) : FIRST_NAMES;

	if (old && 2 * (old->n + 1) <= old->mask)
		return true;
	new = marking->ops->memory(sizeof(*new) + cap * sizeof(new->slot[0]));
	if (!new)
		return false;
	new->mask = cap - 1;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i]) {
			struct loci_marking_name *name = old->slot[i];

			*slot_of(new, name->hash, name->text, name->n) = name;
			new->n++;
		}
	__atomic_store_n(&marking->names, new, __ATOMIC_RELEASE);
	return true;
}

static struct loci_marking_name *new_name(
	struct loci_marking *marking, uint64_t hash, const char *text, size_t n)
{
	size_t bytes = (sizeof(struct loci_marking_name) + n + 1 + 7) & ~(size_t)7;
	struct loci_marking_name *name;

	if (bytes > marking->room_bytes) {
		char *room = marking->ops->memory(ROOM_BYTES);

		if (!room)
			return NULL;
		marking->room = room;
		marking->room_bytes = ROOM_BYTES;
	}
	name = (struct loci_marking_name *)marking->room;
	marking->room += bytes;
	marking->room_bytes -= bytes;
	name->hash = hash;
	name->n = n;
	for (size_t i = 0; i < n; i++)
		name->text[i] = text[i];
	name->text[n] = '\0';
	name->string = marking->ops->string(name->text);
	return name;
}

static struct loci_marking_name *intern(
	struct loci_marking *marking, const char *text, size_t n, size_t most)
{
	uint64_t hash = 0xcbf29ce484222325u;
	struct loci_marking_name **slot;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	hash ^= hash >> 32;
	if (!grow_names(marking))
		return NULL;
	slot = slot_of(marking->names, hash, text, n);
	if (*slot || marking->names->n >= most)
		return *slot;
	*slot = new_name(marking, hash, text, n);
	marking->names->n += *slot != NULL;
	return *slot;
}

struct loci_marking_name *loci_marking_name(
	struct loci_marking *marking, const char *text, size_t n)
{
	static const char others[] = "(too many names)";
	struct loci_marking_name *name;

	if (!text) {
		text = "?";
		n = 1;
	}
	marking->ops->lock();
	name = intern(marking, text, length_of(text, n, NAME_BYTES - 1), MAX_NAMES);
	if (!name)
		name = intern(marking, others, sizeof(others) - 1, SIZE_MAX);
	marking->ops->unlock();
	return name;
}

/* Mistakes. */

static char *append(char *at, const char *end, const char *text)
{
	while (*text && at < end)
		*at++ = *text++;
	return at;
}

void loci_marking_mistake(struct loci_marking *marking, void *to, const char *before,
	const struct loci_marking_name *one, const char *between,
	const struct loci_marking_name *other, const char *after)
{
	char what[WHAT_BYTES], *end = what + sizeof(what) - 1, *at = append(what, end, before);
	struct loci_marking_name *name;
	uint64_t raw[1];

	if (one)
		at = append(at, end, one->text);
	at = append(at, end, between);
	if (other)
		at = append(at, end, other->text);
	at = append(at, end, after);
	marking->ops->lock();
	name = intern(marking, what, (size_t)(at - what), MAX_NAMES);
	raw[0] = name ? ++name->times : 0;
	marking->ops->unlock();
	if (name)
		marking->ops->mark(to, LOCI_MARK_MISTAKE, name->string, 1, raw);
}

/* Regions. */

void loci_marking_region_begin(struct loci_marking *marking, struct loci_marking_thread *thread,
	void *to, const char *text, size_t n)
{
	struct loci_marking_name *name = loci_marking_name(marking, text, n);

	if (!name)
		return;
	if (thread->depth == LOCI_MARKING_DEPTH) {
		thread->beyond++;
		loci_marking_mistake(
			marking, to, "regions within more than 64 others", NULL, "", NULL, "");
		return;
	}
	thread->open[thread->depth++] = name;
	marking->ops->mark(to, LOCI_MARK_REGION_BEGIN, name->string, 0, NULL);
}

static void end_innermost(
	struct loci_marking *marking, struct loci_marking_thread *thread, void *to)
{
	thread->depth--;
	if (thread->inherited > thread->depth)
		thread->inherited = thread->depth;
	marking->ops->mark(to, LOCI_MARK_REGION_END, thread->open[thread->depth]->string, 0, NULL);
}

void loci_marking_region_end(struct loci_marking *marking, struct loci_marking_thread *thread,
	void *to, const char *text, size_t n)
{
	const struct loci_marking_name *name = loci_marking_name(marking, text, n);
	uint32_t i = thread->depth;

	if (!name)
		return;
	if (thread->beyond) {
		thread->beyond--;
		return;
	}
	while (i && thread->open[i - 1] != name)
		i--;
	if (!i) {
		loci_marking_mistake(marking, to, "region \"", name,
			"\" ended that was not begun in this thread", NULL, "");
		return;
	}
	while (thread->depth > i) {
		const struct loci_marking_name *inner = thread->open[thread->depth - 1];

		end_innermost(marking, thread, to);
		loci_marking_mistake(marking, to, "region \"", name, "\" ended before \"", inner,
			"\", which was begun in it");
	}
	end_innermost(marking, thread, to);
}

/* What a child was born into it need not end. */
void loci_marking_leave(struct loci_marking *marking, struct loci_marking_thread *thread, void *to)
{
	while (thread->depth) {
		const struct loci_marking_name *name = thread->open[thread->depth - 1];
		bool is_own = thread->depth > thread->inherited;

		end_innermost(marking, thread, to);
		if (is_own)
			loci_marking_mistake(marking, to, "region \"", name,
				"\" still open when its thread ended", NULL, "");
	}
	thread->beyond = 0;
}

/* The process. */

static void tell_phase(struct loci_marking *marking, void *to, const struct loci_marking_name *name)
{
	uint64_t raw[1] = { marking->ops->sequence() };

	marking->ops->mark(to, LOCI_MARK_PHASE, name->string, 1, raw);
}

void loci_marking_phase(struct loci_marking *marking, void *to, const char *text, size_t n)
{
	const struct loci_marking_name *name = loci_marking_name(marking, text, n);

	if (!name)
		return;
	__atomic_store_n(&marking->phase, name, __ATOMIC_RELAXED);
	tell_phase(marking, to, name); /* by now it may be another thread's */
}

static void tell_pause(struct loci_marking *marking, void *to, uint64_t paused)
{
	uint64_t raw[1] = { marking->ops->sequence() };

	marking->ops->mark(to, LOCI_MARK_PAUSE, paused, 1, raw);
}

void loci_marking_disable(struct loci_marking *marking, void *to)
{
	if (__atomic_fetch_add(&marking->pauses, 1, __ATOMIC_SEQ_CST) == 0)
		tell_pause(marking, to, 1);
}

void loci_marking_enable(struct loci_marking *marking, void *to)
{
	uint64_t was = __atomic_load_n(&marking->pauses, __ATOMIC_SEQ_CST);

	while (was &&
		!__atomic_compare_exchange_n(
			&marking->pauses, &was, was - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	if (!was)
		loci_marking_mistake(
			marking, to, "loci_enable without loci_disable", NULL, "", NULL, "");
	else if (was == 1)
		tell_pause(marking, to, 0);
}

void loci_marking_again(struct loci_marking *marking, struct loci_marking_thread *thread, void *to)
{
	const struct loci_marking_names *names = marking->names;

	marking->ops->lock();
	for (size_t i = 0; names && i <= names->mask; i++)
		if (names->slot[i]) {
			names->slot[i]->string = marking->ops->string(names->slot[i]->text);
			names->slot[i]->times = 0; /* the parent has told it */
		}
	loci_marking_blocks_again(marking);
	marking->ops->unlock();
	loci_marking_objects_again(marking, to);
	if (marking->phase)
		tell_phase(marking, to, marking->phase);
	if (marking->pauses)
		tell_pause(marking, to, 1);
	thread->inherited = thread->depth;
	for (uint32_t i = 0; i < thread->depth; i++)
		marking->ops->mark(to, LOCI_MARK_REGION_BEGIN, thread->open[i]->string, 0, NULL);
}
