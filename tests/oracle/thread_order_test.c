// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs of threads whose words arrive in many orders: what comes out must keep each
 * thread's order and all that happens before something else (by vector clocks), be the same
 * whatever the arrival, and the same as a plain model says that has all words before it begins. */
#include "order_story.h"

#define TURN 64

/* The plain model: all words are there. */
struct model_thread {
	size_t item;
	uint64_t times; /* of the RUN at hand */
	uint64_t clock;
	int64_t left;
	enum { M_NONE, M_READY, M_WAITS } state;
	bool midway;             /* the execution it gave last was left early .. */
	bool interrupted_midway; /* .. or that which a handler interrupts */
};
struct model {
	const struct program *program;
	struct model_thread t[PROGRAM_THREADS + 1];
	uint64_t next[64]; /* of each gate */
	uint64_t released[64];
	uint64_t now, origin; /* of rounds */
	bool in_rounds;
	unsigned at; /* whose turn it is; 0: nobody's */
};

static unsigned gate_of(const struct model *m, uint64_t object)
{
	unsigned i = 0;

	while (m->program->gate[i].object != object)
		i++;
	return i;
}

static const struct program_item *front(const struct model *m, unsigned t)
{
	const struct program_thread *thread = &m->program->thread[t];

	return m->t[t].item < thread->n_items ? &thread->item[m->t[t].item] : NULL;
}

/* A turn goes to the end of the round. */
static uint64_t round_of(const struct model *m, const struct model_thread *t)
{
	return t->clock - (t->clock - m->origin) % TURN;
}

static void reach(struct model *m, const struct model_thread *t)
{
	if (m->now < round_of(m, t))
		m->now = round_of(m, t);
}

static int64_t turn_of(const struct model *m, const struct model_thread *t)
{
	return TURN - (int64_t)(t->clock - round_of(m, t));
}

/* Rounds begin when there is a second thread. */
static void restart(struct model *m, struct model_thread *t)
{
	if (t->left <= TURN)
		return;
	if (!m->in_rounds) {
		m->origin = m->now = t->clock;
		m->in_rounds = true;
	}
	t->left = turn_of(m, t);
}

/* One that was made is where the others are; one that waited where it was. */
static void make_ready(struct model *m, unsigned t)
{
	struct model_thread *turn = &m->t[m->at];

	restart(m, turn);
	if (m->t[t].state == M_NONE && m->t[t].clock < m->now)
		m->t[t].clock = m->now;
	m->t[t].state = M_READY;
	if (round_of(m, &m->t[t]) + (t > m->at) <= round_of(m, turn))
		turn->left = 0;
}

/* What lets others go says how far its thread is; who was let go is not before that: not at all
 * behind a barrier, where a round begins, nor where it begins itself; a turn otherwise. */
static void model_sync(struct model *m, uint64_t *released, uint64_t kind)
{
	struct model_thread *t = &m->t[m->at];
	uint64_t least = *released;

	switch (kind) {
	case LOCI_SYNC_RELEASE:
	case LOCI_SYNC_BARRIER_ARRIVE:
	case LOCI_SYNC_THREAD_CREATE:
	case LOCI_SYNC_THREAD_FINISH:
		*released = least > t->clock ? least : t->clock;
		return;
	case LOCI_SYNC_ACQUIRE:
		least = least > TURN ? least - TURN : 0;
		break;
	case LOCI_SYNC_BARRIER_LEAVE:
		while ((least - m->origin) % TURN)
			least++;
		break;
	default:
		break;
	}
	if (t->clock < least) {
		t->clock = least;
		t->left = 0;
	}
}

static unsigned least(const struct model *m)
{
	unsigned found = 0;

	for (unsigned t = 1; t <= PROGRAM_THREADS; t++)
		if (m->t[t].state == M_READY && front(m, t) &&
			(!found || round_of(m, &m->t[t]) < round_of(m, &m->t[found])))
			found = t;
	return found;
}

static bool is_alone(const struct model *m, unsigned t)
{
	for (unsigned u = 1; u <= PROGRAM_THREADS; u++)
		if (u != t && m->t[u].state == M_READY && front(m, u))
			return false;
	return true;
}

static void model_run(struct model *m, const struct program_item *item, struct story *s)
{
	struct model_thread *t = &m->t[m->at];
	unsigned thread = m->at;
	uint64_t done = item->times - t->times, n = t->times;

	if (item->times > 1 && (int64_t)(n * item->cost) > t->left)
		n = ((uint64_t)t->left + item->cost - 1) / item->cost;
	for (uint64_t i = done * item->refs; i < (done + n) * item->refs; i++)
		tell(s, (struct happening){ .thread = thread, .ordinal = item->first_ref + i });
	t->times -= n;
	t->left -= (int64_t)(n * item->cost);
	t->clock += n * item->cost;
	reach(m, t);
	t->midway = item->left_early;
}

/* False: it has to wait. */
static bool model_tell(struct model *m, const struct program_item *item, struct story *s)
{
	uint64_t *next = &m->next[item->number ? gate_of(m, item->object) : 0];
	unsigned thread = m->at;
	const uint64_t *word = m->program->thread[thread].word + item->at;

	if (loci_word_kind(*word) == LOCI_MARK_SIGNAL_ENTER) {
		m->t[thread].interrupted_midway = m->t[thread].midway;
		m->t[thread].midway = false;
	} else if (loci_word_kind(*word) == LOCI_MARK_SIGNAL_LEAVE) {
		m->t[thread].midway = m->t[thread].interrupted_midway;
	}
	if (!item->number)
		return true;
	if (item->number > *next) {
		m->t[thread].state = M_WAITS;
		return false;
	}
	++*next;
	tell(s, (struct happening){ item->object, item->number, thread, 0 });
	for (unsigned u = 1; u <= PROGRAM_THREADS; u++)
		if (m->t[u].state == M_WAITS && front(m, u)->object == item->object &&
			front(m, u)->number == *next)
			make_ready(m, u);
	if (loci_word_kind(*word) == LOCI_MARK_SYNC)
		model_sync(m, &m->released[gate_of(m, item->object)], loci_word_payload(*word));
	if (loci_word_kind(*word) == LOCI_MARK_SYNC &&
		loci_word_payload(*word) == LOCI_SYNC_THREAD_CREATE)
		make_ready(m, (unsigned)item->object);
	return true;
}

static void model_story(const struct program *p, struct story *s)
{
	struct model m = { .program = p };

	for (unsigned i = 0; i < 64; i++)
		m.next[i] = 1;
	m.t[1].state = M_READY;
	while ((m.at = least(&m))) {
		struct model_thread *t = &m.t[m.at];
		const struct program_item *item;

		t->left = is_alone(&m, m.at) ? INT64_MAX / 2 : turn_of(&m, t);
		reach(&m, t);
		while ((item = front(&m, m.at))) {
			if (t->left <= 0 && (!t->midway || item->kind == ITEM_RUNS))
				break;
			if (item->kind == ITEM_TELLS) {
				if (!model_tell(&m, item, s))
					break;
			} else {
				if (!t->times)
					t->times = item->times;
				model_run(&m, item, s);
			}
			t->item += !t->times;
		}
	}
}

/* Each thread's own order, all of it once, and nothing before what happens before it. */
static bool is_legal(const struct program *p, const struct story *s)
{
	size_t item[PROGRAM_THREADS + 1] = { 0 };
	uint64_t ordinal[PROGRAM_THREADS + 1] = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct happening *h = &s->item[i];
		const struct program_thread *t = &p->thread[h->thread];
		const struct program_item *at;

		/* what leaves no trace in the story */
		while (item[h->thread] < t->n_items &&
			t->item[item[h->thread]].kind == ITEM_TELLS &&
			!t->item[item[h->thread]].number)
			item[h->thread]++;
		at = &t->item[item[h->thread]];
		if (item[h->thread] == t->n_items || at->number != h->number ||
			at->object != h->object)
			return false;
		if (h->number) {
			item[h->thread]++;
		} else {
			if (h->ordinal != ordinal[h->thread]++)
				return false;
			if (ordinal[h->thread] == at->first_ref + at->refs * at->times)
				item[h->thread]++;
		}
		for (unsigned u = 1; u <= p->n_threads; u++) {
			const struct program_thread *other = &p->thread[u];

			if (u == h->thread)
				continue;
			while (item[u] < at->before[u] && other->item[item[u]].kind == ITEM_TELLS &&
				!other->item[item[u]].number)
				item[u]++;
			if (item[u] < at->before[u])
				return false;
		}
	}
	for (unsigned t = 1; t <= p->n_threads; t++)
		if (ordinal[t] != p->thread[t].ordinal)
			return false;
	return true;
}

static void make(struct program *p, uint64_t seed)
{
	*p = (struct program){ .syncs = true,
		.runs = seed % 3 != 0,
		.signals = seed % 2,
		.allocates = seed % 5 != 0 };
	program_execute(p, seed, 20 + (unsigned)(seed % 100));
}

static void test_arrivals(uint64_t seed, unsigned arrivals)
{
	static const unsigned pieces[] = { 3, 40, 700, 100000 };
	struct story model = { 0 };
	struct program p;

	make(&p, seed);
	model_story(&p, &model);
	if (!is_legal(&p, &model))
		CHECK_FAIL("program %" PRIu64 ": the model is wrong", seed);
	for (unsigned i = 0; i < arrivals; i++) {
		struct mix mix = {
			.seed = seed * 1000 + i + 1, .piece = pieces[i % 4], .which = i / 4 % 3
		};
		struct story story = { 0 };
		struct arrival a;

		mix_words(&p, mix, &a);
		hear(&a, &(struct loci_order_options){ .turn_refs = TURN }, &story);
		number(&story);
		CHECK(story.ended && !story.failed);
		if (!is_legal(&p, &story))
			CHECK_FAIL("program %" PRIu64 ", arrival %u: not legal", seed, i);
		if (!same(&story, &model))
			CHECK_FAIL("program %" PRIu64 ", arrival %u: not as the model", seed, i);
		CHECK_U64(story.counts.went_on, 0);
		CHECK_U64(story.counts.given_up, 0);
		forget(&story);
		free(a.word);
	}
	forget(&model);
	program_free(&p);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= check_turns(100) && check_failures < 10; seed++)
		test_arrivals(seed, 12);
	return check_status();
}
