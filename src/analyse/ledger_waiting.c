// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocations that nothing touched. They are not shown; but where one has the name of another that
 * was touched, in this process or another, the two are one object, which has been allocated that
 * many times. To name an allocation takes the debug information of the code that made it, most
 * often a library's own (a buffer of stdio), and to open that takes longer than all else of a short
 * recording. So they wait until it is known what was touched, and are named only if one of the
 * calls that may give them their name gave one to something touched. */
#include "analyse/grow.h"
#include "analyse/ledger_state.h"
#include "analyse/object_state.h"

#include "base/cleanup.h"

struct loci_ledger_waiting {
	struct loci_object object;
	uint32_t context; /* the ledger's */
};

int loci_ledger_wait(struct loci_ledger *ledger, const struct loci_object *object, uint32_t context)
{
	if (loci_grow(&ledger->waiting, &ledger->waiting_cap, ledger->n_waiting + 1,
		    sizeof(*ledger->waiting)) < 0) {
		free(object->origin);
		return -ENOMEM;
	}
	ledger->waiting[ledger->n_waiting++] =
		(struct loci_ledger_waiting){ .object = *object, .context = context };
	return 0;
}

void loci_ledger_fini_waiting(struct loci_ledger *ledger)
{
	for (size_t i = 0; i < ledger->n_waiting; i++) {
		free(ledger->waiting[i].object.origin);
		free(ledger->waiting[i].object.name);
	}
	free(ledger->waiting);
	ledger->waiting = NULL;
	ledger->n_waiting = ledger->waiting_cap = 0;
}

/* What objects that are the same have in common. */
static struct loci_digest call_key(uint32_t module, uint64_t address, uint32_t context)
{
	return (struct loci_digest){ address, (uint64_t)module << 32 | context };
}

static bool may_join(const struct loci_keymap *calls, const struct loci_ledger_waiting *waiting)
{
	const struct loci_origin *origin = waiting->object.origin;

	for (size_t i = 0; i < origin->n; i++) {
		struct loci_digest key = call_key(
			origin->call[i].symbol_module, origin->call[i].address, waiting->context);

		if (loci_keymap_get(calls, key.a, key.b) != LOCI_KEYMAP_NONE)
			return true;
	}
	return false;
}

static int join(
	struct loci_ledger *ledger, struct loci_ledger_waiting *waiting, struct loci_err *err)
{
	struct loci_object_info info;
	uint32_t number;
	int r = loci_object_released_info(ledger->symbols, &waiting->object, &info, err);

	if (r == 0 && loci_ledger_add_object(ledger, waiting->context, NULL, &info, &number) < 0)
		r = loci_err_nomem(err);
	return r;
}

int loci_ledger_settle(struct loci_ledger *ledger, struct loci_err *err)
{
	loci_cleanup(loci_keymap_fini) struct loci_keymap calls = { 0 };
	int r = 0;

	for (size_t i = 0; ledger->n_waiting && i < ledger->n_objects; i++) {
		const struct loci_ledger_object *object = &ledger->object[i];
		struct loci_digest key =
			call_key(object->module, object->code_address, object->context);

		if (object->touched && loci_keymap_put(&calls, key.a, key.b, 0) < 0)
			return loci_err_nomem(err);
	}
	for (size_t i = 0; r == 0 && i < ledger->n_waiting; i++)
		if (may_join(&calls, &ledger->waiting[i]))
			r = join(ledger, &ledger->waiting[i], err);
	loci_ledger_fini_waiting(ledger);
	return r;
}
