// SPDX-License-Identifier: BSD-2-Clause
/* Faults on watched pages, and what the processor traps behind: the one instruction that is let
 * through a page, with signals that can wait blocked, or a call of the kernel (led_calls.c).
 *
 * Only the first byte of a reference is told. Of string instructions with a count the rest follows
 * from their registers. */
#include "collect/runtime/own_signals.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"

#include <string.h>
#include <sys/mman.h>

#define TRAP_FLAG      0x100
#define DIRECTION_FLAG 0x400
#define SIGSET_BYTES   8

#define ERROR_WRITE 2
#define ERROR_FETCH 16

/* So often a fault may find its page open already, in a row, before it is the program's. */
#define OPEN_FAULTS 1000
/* Around the stack pointer. Frames of signals, with all vectors, go below it. */
#define STACK_BELOW 16384
#define STACK_ABOVE RT_PAGE_BYTES

#define BIT(signal) (1ull << ((signal)-1))
#define FAULTS      (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static greg_t *registers(ucontext_t *context)
{
	return context->uc_mcontext.gregs;
}

static struct rt_wait *last_wait(void)
{
	return rt_page_self.n_waits ? &rt_page_self.wait[rt_page_self.n_waits - 1] : NULL;
}

/* Lock held. */
bool rt_wait_begin(ucontext_t *context, const struct rt_wait *wait)
{
	greg_t *reg = registers(context);
	struct rt_wait *new = &rt_page_self.wait[rt_page_self.n_waits];

	if (rt_page_self.n_waits == RT_WAITS)
		return false;
	rt_page_self.n_waits++;
	rt_pages.n_waits++;
	*new = *wait;
	new->had_trap = (reg[REG_EFL] & TRAP_FLAG) != 0;
	new->stack = (uintptr_t)reg[REG_RSP];
	reg[REG_EFL] |= TRAP_FLAG;
	rt_pages_open(new->pages);
	return true;
}

/* The last one ends, wherever the thread is now. */
static void end_wait(ucontext_t *context)
{
	const struct rt_wait *wait = last_wait();
	uint64_t step_mask = ~FAULTS, now;

	memcpy(&now, &context->uc_sigmask, SIGSET_BYTES);
	if (wait->is_step && (now | BIT(SIGKILL) | BIT(SIGSTOP)) == step_mask)
		memcpy(&context->uc_sigmask, &wait->mask, SIGSET_BYTES);
	rt_pages_close(wait->pages);
	rt_page_self.n_waits--;
	rt_pages.n_waits--;
}

static bool is_on(const stack_t *stack, uintptr_t address)
{
	return address - (uintptr_t)stack->ss_sp < stack->ss_size;
}

static bool parts(const stack_t *stack, uintptr_t one, uintptr_t other)
{
	return is_on(stack, one) != is_on(stack, other);
}

bool rt_pages_was_left(uintptr_t stack, const ucontext_t *context)
{
	uintptr_t now = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	return now > stack && !parts(&context->uc_stack, now, stack) &&
		!parts(rt_own_stack_program(), now, stack);
}

static bool was_left(const struct rt_wait *wait, ucontext_t *context)
{
	return wait->is_step ? wait->at != (uintptr_t)registers(context)[REG_RIP]
			     : rt_pages_was_left(wait->stack, context);
}

void rt_wait_drop_left(ucontext_t *context)
{
	while (last_wait() && was_left(last_wait(), context))
		end_wait(context);
}

/* A string instruction with a count, which stores from one place on and may load from another. */
struct string {
	uintptr_t to, from;
	size_t bytes;
	bool loads;
};

static bool decode_string(ucontext_t *context, struct string *ret)
{
	const greg_t *reg = registers(context);
	const uint8_t *code = (const uint8_t *)reg[REG_RIP];
	bool repeats = false, is_short = false, is_wide = false;
	size_t each;

	for (;; code++) {
		if (*code == 0xf3)
			repeats = true;
		else if (*code == 0x66)
			is_short = true;
		else
			break;
	}
	if ((*code & 0xf0) == 0x40)
		is_wide = (*code++ & 8) != 0;
	if (!repeats || (*code & 0xfe) != 0xa4) {
		if (!repeats || (*code & 0xfe) != 0xaa)
			return false;
	}
	each = !(*code & 1) ? 1 : is_wide ? 8 : is_short ? 2 : 4;
	*ret = (struct string){ (uintptr_t)reg[REG_RDI], (uintptr_t)reg[REG_RSI],
		(size_t)reg[REG_RCX] * each, (*code & 0xfe) == 0xa4 };
	if (reg[REG_EFL] & DIRECTION_FLAG) {
		ret->to -= ret->bytes - each;
		ret->from -= ret->bytes - each;
	}
	return true;
}

static bool overlaps(uintptr_t block, uintptr_t start, size_t bytes)
{
	return start < block + ((size_t)1 << rt_pages.block_shift) && start + bytes > block;
}

/* Where in the block; 0: the reference does not reach it. */
static uintptr_t touched(uintptr_t block, uintptr_t address, const struct string *string)
{
	if (overlaps(block, address, 1))
		return address;
	if (overlaps(block, string->to, string->bytes))
		return string->to > block ? string->to : block;
	if (string->loads && !rt_pages.writes_only && overlaps(block, string->from, string->bytes))
		return string->from > block ? string->from : block;
	return 0;
}

struct fired {
	unsigned n;
	unsigned watch[LOCI_RESERVOIR];
	uintptr_t address[LOCI_RESERVOIR];
};

static void fire(
	const struct rt_page *page, uintptr_t address, ucontext_t *context, struct fired *fired)
{
	struct string string = { 0 };

	decode_string(context, &string);
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct rt_page_watch *watch = &rt_pages.watch[i];
		uintptr_t at = watch->page == page ? touched(watch->block, address, &string) : 0;

		if (!at)
			continue;
		rt_page_unwatch(watch);
		fired->watch[fired->n] = i;
		fired->address[fired->n++] = at;
	}
}

static void count_false(const struct rt_page *page)
{
	count(&rt.control->watching.false_faults);
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct rt_page_watch *watch = &rt_pages.watch[i];

		if (watch->page == page && ++watch->false_faults == watch->next_lot)
			rt_page_watch_lot(watch);
	}
}

/* The instruction again, with the page open, and only that. Others may be open for it already. */
static void step(struct rt_page *page, ucontext_t *context)
{
	struct rt_wait wait = { .is_step = true, .pages = rt_page_bit(page) };
	struct rt_wait *last = last_wait();
	uint64_t mask = ~FAULTS;

	rt_page_open_often(page);
	if (last && last->is_step) {
		last->pages |= wait.pages;
		rt_pages_open(wait.pages);
		return;
	}
	wait.at = (uintptr_t)registers(context)[REG_RIP];
	memcpy(&wait.mask, &context->uc_sigmask, SIGSET_BYTES);
	if (!rt_wait_begin(context, &wait)) {
		rt_pages_give_up(wait.pages);
		return;
	}
	memcpy(&context->uc_sigmask, &mask, SIGSET_BYTES);
	count(&rt.control->watching.steps);
}

/* Another thread has opened it, or its watches are gone: the instruction may simply be tried again.
 * But if it fails for ever the program has the page in a way that we do not know of. */
static bool try_again(struct rt_page *page, uintptr_t address, ucontext_t *context)
{
	struct rt_page_thread *self = &rt_page_self;
	uintptr_t at = (uintptr_t)registers(context)[REG_RIP];

	if (self->last_address != address || self->last_at != at)
		self->n_last = 0;
	self->last_address = address;
	self->last_at = at;
	if (++self->n_last < OPEN_FAULTS)
		return true;
	if (page) {
		rt_pages_give_up(rt_page_bit(page));
		page->address = 0;
	}
	return false;
}

static bool is_near_stack(const struct rt_page *page, ucontext_t *context)
{
	uintptr_t stack = (uintptr_t)registers(context)[REG_RSP];

	return page->address < stack + STACK_ABOVE &&
		page->address + RT_PAGE_BYTES > stack - STACK_BELOW;
}

static bool allows(int protection, greg_t error)
{
	if (error & ERROR_FETCH)
		return false;
	return protection & (error & ERROR_WRITE ? PROT_WRITE : PROT_READ);
}

/* The thread may have waited long since its fault, and the page be forgotten. Where nothing says
 * how it is mapped it is tried again, some times. */
static bool is_over(uintptr_t address, greg_t error)
{
	struct rt_mapping mapping;

	return !rt_mapping_of(address, &mapping) || allows(mapping.protection, error);
}

static void meet(struct rt_page *page, uintptr_t address, ucontext_t *context, struct fired *fired)
{
	rt_page_self.n_last = 0;
	if (rt_pages_in_runtime(context) || is_near_stack(page, context)) {
		rt_pages_give_up(rt_page_bit(page));
		return;
	}
	fire(page, address, context, fired);
	if (!fired->n)
		count_false(page);
	if (page->watches)
		step(page, context);
}

/* The program's own fault, also in the midst of a step: it sees nothing of it. */
static bool leave_it(ucontext_t *context)
{
	const struct rt_wait *wait = last_wait();

	rt_page_self.n_last = 0;
	if (wait && wait->is_step) {
		if (!wait->had_trap)
			registers(context)[REG_EFL] &= ~TRAP_FLAG;
		end_wait(context);
	}
	return false;
}

bool rt_pages_leave_step(ucontext_t *context)
{
	const struct rt_wait *wait = last_wait();

	if (!wait || !wait->is_step || was_left(wait, context))
		return false;
	rt_block(); /* no handler may want the lock meanwhile */
	rt_pages_lock();
	leave_it(context);
	rt_pages_unlock();
	return true;
}

bool rt_page_fault(int signal, siginfo_t *info, ucontext_t *context)
{
	uint64_t begun = rt_own_ns();
	uintptr_t address = (uintptr_t)info->si_addr;
	struct fired fired = { 0 };
	bool is_ours = true;
	struct rt_page *page;
	greg_t error;

	(void)signal;
	if (info->si_code <= 0 || !context)
		return false;
	if (rt_page_probe_met(address))
		return true;
	error = registers(context)[REG_ERR];
	rt_pages_lock();
	rt_wait_drop_left(context);
	rt_pages_look_at_stack(context);
	page = rt_page_at(address);
	if (info->si_code != SEGV_ACCERR ||
		(page ? !allows(page->own, error) : !is_over(address, error)))
		is_ours = leave_it(context);
	else if (page && page->is_closed)
		meet(page, address, context, &fired);
	else
		is_ours = try_again(page, address, context) || leave_it(context);
	rt_pages_unlock();
	if (is_ours)
		begun = rt_watch_took(fired.n ? RT_WATCH_BEFORE : RT_WATCH_BESIDE, begun);
	rt_page_self.stepped_ns = is_ours && !fired.n ? begun : 0;
	for (unsigned i = 0; i < fired.n; i++)
		rt_watch_fired(fired.watch[i], fired.address[i], context);
	rt_pages_tell(context);
	return is_ours;
}

/* A thread's first moment: it has its maker's trap flag, but its calls are not led. */
static bool begin_thread(ucontext_t *context)
{
	registers(context)[REG_EFL] &= ~TRAP_FLAG;
	rt_pages_lock();
	if (rt_pages.is_on && (!rt_refuse_thread() || !rt_pages_lead()))
		rt_pages_stop(LOCI_STOP_THREADS);
	rt_calls_self->n = 1; /* it is in the slot still */
	rt_pages_unlock();
	return true;
}

bool rt_page_trap(int signal, siginfo_t *info, ucontext_t *context)
{
	struct rt_wait *wait = last_wait();
	uint64_t begun = rt_own_ns(), stepped = 0;
	greg_t *reg;
	bool had_trap;

	(void)signal;
	if (info->si_code != TRAP_TRACE || !context)
		return false;
	reg = registers(context);
	if (!wait)
		return !rt_page_self.is_led && rt_is_slot_of_thread((uintptr_t)reg[REG_RIP]) &&
			begin_thread(context);
	rt_pages_lock();
	had_trap = wait->had_trap;
	if (wait->is_step)
		stepped = rt_page_self.stepped_ns;
	rt_page_self.stepped_ns = 0;
	if (!had_trap)
		reg[REG_EFL] &= ~TRAP_FLAG;
	if (wait->changed)
		reg[wait->changed - 1] = wait->value;
	end_wait(context);
	rt_pages_unlock();
	rt_pages_tell(context);
	rt_watch_took(stepped ? RT_WATCH_BEFORE : RT_WATCH_BESIDE, stepped ? stepped : begun);
	return !had_trap;
}
