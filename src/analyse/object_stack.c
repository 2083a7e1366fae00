// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_stack.h"

#include "base/cleanup.h"

#include <string.h>

enum { FIRST_BITS = 8, PINS_TRIED = 8 };

int loci_stack_init(struct loci_stack *stack, struct loci_err *err)
{
	stack->function = calloc((size_t)1 << FIRST_BITS, sizeof(*stack->function));
	if (!stack->function)
		return loci_err_nomem(err);
	stack->function_bits = FIRST_BITS;
	return 0;
}

void loci_stack_fini(struct loci_stack *stack)
{
	for (size_t i = 0; stack->function && i < (size_t)1 << stack->function_bits; i++)
		if (stack->function[i]) {
			free(stack->function[i]->object);
			free(stack->function[i]);
		}
	for (size_t i = 0; i < stack->n_pins; i++)
		free(stack->pin[i]);
	free(stack->function);
	free(stack->pin);
}

void loci_stack_forget_addresses(struct loci_stack *stack)
{
	memset(stack->memo, 0, sizeof(stack->memo));
}

static size_t slot_of(const struct loci_stack *stack, uint32_t module, uint64_t entry)
{
	return ((entry ^ (uint64_t)module << 40) * 0x9e3779b97f4a7c15) >>
		(64 - stack->function_bits);
}

/* Where the function is, or would be. */
static size_t find_slot(const struct loci_stack *stack, uint32_t module, uint64_t entry)
{
	size_t mask = ((size_t)1 << stack->function_bits) - 1, i = slot_of(stack, module, entry);

	while (stack->function[i] &&
		(stack->function[i]->entry != entry || stack->function[i]->symbol_module != module))
		i = (i + 1) & mask;
	return i;
}

static int grow_functions(struct loci_stack *stack, struct loci_err *err)
{
	size_t old = (size_t)1 << stack->function_bits;
	struct loci_function **was = stack->function,
			     **table = calloc(old * 2, sizeof(struct loci_function *));

	if (!table)
		return loci_err_nomem(err);
	stack->function = table;
	stack->function_bits++;
	for (size_t i = 0; i < old; i++)
		if (was[i])
			table[find_slot(stack, was[i]->symbol_module, was[i]->entry)] = was[i];
	free(was);
	return 0;
}

static int get_function(struct loci_stack *stack, uint32_t module, uint64_t entry,
	struct loci_function **ret, struct loci_err *err)
{
	size_t i = find_slot(stack, module, entry);

	if (!stack->function[i]) {
		struct loci_function *function;

		if (stack->n_functions * 2 >= (size_t)1 << stack->function_bits) {
			int r = grow_functions(stack, err);

			if (r < 0)
				return r;
			i = find_slot(stack, module, entry);
		}
		function = calloc(1, sizeof(*function));
		if (!function)
			return loci_err_nomem(err);
		function->symbol_module = module;
		function->entry = entry;
		stack->function[i] = function;
		stack->n_functions++;
	}
	*ret = stack->function[i];
	return 0;
}

int loci_stack_function(struct loci_stack *stack, struct loci_modules *modules,
	const struct loci_shadow_frame *frame, struct loci_function **ret, uint64_t *ret_bias,
	struct loci_err *err)
{
	struct loci_function_memo *memo =
		&stack->memo[(frame->entry * 0x9e3779b97f4a7c15) >> 54 & (LOCI_FUNCTION_MEMO - 1)];

	if (!memo->function || memo->entry != frame->entry || memo->module != frame->module) {
		const struct loci_loaded *loaded = loci_modules_by_id(modules, frame->module);
		int r = get_function(stack, loaded ? loaded->symbol_module : UINT32_MAX,
			frame->entry - (loaded ? loaded->bias : 0), &memo->function, err);

		if (r < 0)
			return r;
		memo->entry = frame->entry;
		memo->module = frame->module;
	}
	*ret = memo->function;
	*ret_bias = frame->entry - memo->function->entry;
	return 0;
}

static int ask(struct loci_function *function, struct loci_symbols *symbols, struct loci_err *err)
{
	int r;

	if (function->asked || function->symbol_module == UINT32_MAX)
		return 0;
	function->asked = true;
	r = loci_symbols_locals(symbols, function->symbol_module, function->entry, &function->local,
		&function->n, err);
	if (r < 0) {
		function->n = 0;
		return r;
	}
	function->object = calloc(function->n + 1, sizeof(*function->object));
	if (!function->object) {
		function->n = 0;
		return loci_err_nomem(err);
	}
	return 0;
}

/* How much a variable has to say at pc: less is more. Whether a place is its does not matter here,
 * so that of two variables the same one wins wherever both are. */
static uint64_t weakness(const struct loci_variable *variable, uint64_t pc)
{
	if (!variable->pc_low && !variable->pc_high)
		return UINT64_MAX - 1;
	if (pc - variable->pc_low < variable->pc_high - variable->pc_low)
		return variable->pc_high - variable->pc_low;
	return UINT64_MAX;
}

static int64_t end_of(const struct loci_variable *variable)
{
	return variable->low + (int64_t)variable->bytes;
}

static bool holds(const struct loci_variable *variable, int64_t offset)
{
	return variable->low <= offset && offset < end_of(variable);
}

static void seek_place(
	const struct loci_function *function, int64_t offset, uint64_t pc, struct loci_place *ret)
{
	uint64_t least = UINT64_MAX;

	*ret = (struct loci_place){ .low = INT64_MIN, .high = INT64_MAX };
	for (size_t i = 0; i < function->n; i++) {
		const struct loci_variable *variable = &function->local[i];

		if (holds(variable, offset) && (!ret->variable || weakness(variable, pc) < least)) {
			ret->variable = variable;
			ret->index = i;
			least = weakness(variable, pc);
		}
	}
	if (ret->variable) {
		ret->low = ret->variable->low;
		ret->high = end_of(ret->variable);
	}
	for (size_t i = 0; i < function->n; i++) {
		const struct loci_variable *other = &function->local[i];
		bool stronger = !ret->variable || weakness(other, pc) < least ||
			(weakness(other, pc) == least && i < ret->index);

		if (other == ret->variable || !other->bytes || end_of(other) <= ret->low ||
			other->low >= ret->high)
			continue;
		ret->shared |= ret->variable != NULL;
		if (!stronger)
			continue;
		if (end_of(other) <= offset)
			ret->low = end_of(other);
		else if (other->low > offset)
			ret->high = other->low;
	}
}

int loci_function_place(struct loci_stack *stack, struct loci_function *function,
	struct loci_symbols *symbols, int64_t offset, uint64_t pc, struct loci_place *ret,
	struct loci_err *err)
{
	uint64_t key = ((uintptr_t)function ^ pc << 16 ^ (uint64_t)offset >> 3);
	struct loci_place_memo *memo =
		&stack->place[key * 0x9e3779b97f4a7c15 >> 52 & (LOCI_PLACE_MEMO - 1)];
	int r = ask(function, symbols, err);

	if (r < 0)
		return r;
	if (memo->function != function || memo->pc != pc || offset < memo->place.low ||
		offset >= memo->place.high) {
		seek_place(function, offset, pc, &memo->place);
		memo->function = function;
		memo->pc = pc;
	}
	*ret = memo->place;
	return 0;
}

void loci_function_prefer(const struct loci_function *function, int64_t offset, const char *name,
	size_t length, struct loci_place *place)
{
	for (size_t i = 0; i < function->n; i++) {
		const struct loci_variable *variable = &function->local[i];

		if (!holds(variable, offset) || strncmp(variable->name, name, length) != 0 ||
			variable->name[length])
			continue;
		*place = (struct loci_place){ .variable = variable,
			.index = i,
			.low = variable->low,
			.high = end_of(variable),
			.shared = true };
		return;
	}
}

int loci_function_object(struct loci_function *function, struct loci_object_table *table,
	const struct loci_place *place, uint32_t *ret, struct loci_err *err)
{
	uint32_t *known = place->variable ? &function->object[place->index] : &function->rest;
	bool is_new = false;
	int r = 0;

	if (!*known)
		r = loci_object_table_get(table,
			place->variable ? LOCI_OBJECT_LOCAL : LOCI_OBJECT_FRAME,
			(uintptr_t)function, place->index, known, &is_new, err);
	if (is_new) {
		struct loci_object *object = &table->object[*known];

		object->symbol_module = function->symbol_module;
		object->entry = function->entry;
		object->variable = place->variable;
		if (place->variable)
			object->size_bytes = place->variable->whole_bytes
				? place->variable->whole_bytes
				: place->variable->bytes;
	}
	*ret = *known;
	return r;
}

int loci_stack_pin(struct loci_stack *stack, struct loci_shadow_frame *frame, uint32_t **ret,
	struct loci_err *err)
{
	struct loci_pin *pin = NULL;

	for (size_t i = 0; !frame->pin && !pin && i < PINS_TRIED && i < stack->n_pins; i++) {
		stack->next_pin = stack->next_pin + 1 < stack->n_pins ? stack->next_pin + 1 : 0;
		pin = stack->pin[stack->next_pin];
		if (pin->serial == pin->expected)
			pin = NULL;
	}
	if (!frame->pin && !pin) {
		if (stack->n_pins == stack->cap_pins) {
			size_t cap = stack->cap_pins ? stack->cap_pins * 2 : 32;
			struct loci_pin **grown = realloc(stack->pin, cap * sizeof(*grown));

			if (!grown)
				return loci_err_nomem(err);
			stack->pin = grown;
			stack->cap_pins = cap;
		}
		pin = calloc(1, sizeof(*pin));
		if (!pin)
			return loci_err_nomem(err);
		stack->pin[stack->n_pins++] = pin;
	}
	if (!frame->pin) {
		pin->expected = pin->serial;
		frame->pin = &pin->serial;
	}
	*ret = frame->pin;
	return 0;
}

void loci_stack_advance_pins(struct loci_stack *stack)
{
	for (size_t i = 0; i < stack->n_pins; i++) {
		stack->pin[i]->serial++;
		stack->pin[i]->expected++;
	}
}
