// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_module.h"

#include "base/cleanup.h"

#include <string.h>

static void empty(struct loci_loaded *loaded)
{
	free(loaded->path);
	free(loaded->object);
	loaded->path = NULL;
	loaded->object = NULL;
}

static void fini(struct loci_loaded **array, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		empty(array[i]);
		free(array[i]);
	}
	free(array);
}

void loci_modules_fini(struct loci_modules *modules)
{
	fini(modules->module, modules->n);
	fini(modules->spare, modules->n_spare);
}

static int grow(struct loci_loaded ***array, size_t n, size_t *cap, struct loci_err *err)
{
	size_t more = *cap ? *cap * 2 : 32;
	struct loci_loaded **grown;

	if (n < *cap)
		return 0;
	grown = realloc(*array, more * sizeof(struct loci_loaded *));
	if (!grown)
		return loci_err_nomem(err);
	*array = grown;
	*cap = more;
	return 0;
}

/* The first that ends at or after address. */
static size_t index_of(const struct loci_modules *modules, uint64_t address)
{
	size_t low = 0, high = modules->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->module[middle]->last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int forget(struct loci_modules *modules, size_t i, struct loci_err *err)
{
	struct loci_loaded *loaded = modules->module[i];
	int r = grow(&modules->spare, modules->n_spare, &modules->cap_spare, err);

	if (r < 0)
		return r;
	empty(loaded);
	loaded->serial++;
	modules->spare[modules->n_spare++] = loaded;
	modules->last = modules->last_by_id = NULL;
	modules->n--;
	memmove(modules->module + i, modules->module + i + 1,
		(modules->n - i) * sizeof(*modules->module));
	return 0;
}

int loci_modules_unmap(
	struct loci_modules *modules, uint64_t low, uint64_t last, struct loci_err *err)
{
	size_t i = index_of(modules, low);
	int r = 0;

	while (r == 0 && i < modules->n && modules->module[i]->low <= last) {
		modules->module[i]->serial++;
		if (modules->module[i]->low >= low && modules->module[i]->last <= last)
			r = forget(modules, i, err);
		else
			i++;
	}
	return r;
}

int loci_modules_unload(struct loci_modules *modules, uint32_t id, struct loci_err *err)
{
	for (size_t i = 0; i < modules->n; i++)
		if (modules->module[i]->id == id)
			return forget(modules, i, err);
	return 0;
}

void loci_modules_part(struct loci_modules *modules, uint64_t low, uint64_t last)
{
	for (size_t i = index_of(modules, low); i < modules->n && modules->module[i]->low <= last;
		i++) {
		modules->module[i]->serial++;
		modules->module[i]->parted = true;
	}
}

int loci_modules_load(
	struct loci_modules *modules, const struct loci_loaded *loaded, struct loci_err *err)
{
	struct loci_loaded *record;
	size_t i = index_of(modules, loaded->low);
	uint32_t serial = 0;
	int r = loci_modules_unload(modules, loaded->id, err);

	while (r == 0 && (i = index_of(modules, loaded->low)) < modules->n &&
		modules->module[i]->low <= loaded->last)
		r = forget(modules, i, err);
	if (r == 0)
		r = grow(&modules->module, modules->n, &modules->cap, err);
	if (r < 0)
		return r;
	if (modules->n_spare) {
		record = modules->spare[--modules->n_spare];
		serial = record->serial;
	} else {
		record = malloc(sizeof(*record));
		if (!record)
			return loci_err_nomem(err);
	}
	*record = *loaded;
	record->serial = serial;
	memmove(modules->module + i + 1, modules->module + i,
		(modules->n - i) * sizeof(*modules->module));
	modules->module[i] = record;
	modules->n++;
	return 0;
}

struct loci_loaded *loci_modules_find(struct loci_modules *modules, uint64_t address)
{
	size_t i;

	if (modules->last &&
		address - modules->last->low <= modules->last->last - modules->last->low)
		return modules->last;
	i = index_of(modules, address);
	if (i == modules->n || modules->module[i]->low > address)
		return NULL;
	return modules->last = modules->module[i];
}

void loci_modules_narrow(
	const struct loci_modules *modules, uint64_t address, uint64_t *low, uint64_t *last)
{
	size_t i = index_of(modules, address);

	if (i && modules->module[i - 1]->last >= *low)
		*low = modules->module[i - 1]->last + 1;
	if (i < modules->n && modules->module[i]->low <= *last)
		*last = modules->module[i]->low - 1;
}

struct loci_loaded *loci_modules_by_id(struct loci_modules *modules, uint32_t id)
{
	if (modules->last_by_id && modules->last_by_id->id == id)
		return modules->last_by_id;
	for (size_t i = 0; i < modules->n; i++)
		if (modules->module[i]->id == id)
			return modules->last_by_id = modules->module[i];
	return NULL;
}

static int ask(struct loci_loaded *loaded, struct loci_symbols *symbols, struct loci_err *err)
{
	int r;

	if (loaded->asked)
		return 0;
	loaded->asked = true;
	r = loci_symbols_globals(
		symbols, loaded->symbol_module, &loaded->variable, &loaded->n, err);
	if (r < 0) {
		loaded->n = 0;
		return r;
	}
	loaded->object = calloc(loaded->n + 1, sizeof(*loaded->object));
	if (!loaded->object) {
		loaded->n = 0;
		return loci_err_nomem(err);
	}
	return 0;
}

/* A range of the file where it was loaded, as far as it is the module's. */
static void narrow(const struct loci_loaded *loaded, uint64_t begin, uint64_t bytes,
	uint64_t *ret_low, uint64_t *ret_last)
{
	begin += loaded->bias;
	*ret_low = begin > loaded->low ? begin : loaded->low;
	*ret_last = bytes - 1 < loaded->last - begin ? begin + (bytes - 1) : loaded->last;
}

static int variable_object(struct loci_loaded *loaded, struct loci_object_table *table, size_t i,
	uint32_t *ret, struct loci_err *err)
{
	bool is_new = false;
	int r = 0;

	if (!loaded->object[i])
		r = loci_object_table_get(table, LOCI_OBJECT_GLOBAL, loaded->symbol_module, i,
			&loaded->object[i], &is_new, err);
	if (is_new) {
		struct loci_object *object = &table->object[loaded->object[i]];

		object->variable = &loaded->variable[i];
		object->symbol_module = loaded->symbol_module;
		object->size_bytes = loaded->variable[i].bytes;
	}
	*ret = loaded->object[i];
	return r;
}

static int data_object(struct loci_loaded *loaded, struct loci_object_table *table, uint32_t *ret,
	struct loci_err *err)
{
	bool is_new = false;
	int r = 0;

	if (!loaded->data)
		r = loci_object_table_get(table, LOCI_OBJECT_DATA, loaded->symbol_module, 0,
			&loaded->data, &is_new, err);
	if (is_new) {
		struct loci_object *object = &table->object[loaded->data];

		object->symbol_module = loaded->symbol_module;
		object->text = strdup(loaded->path);
		if (!object->text)
			return loci_err_nomem(err);
	}
	*ret = loaded->data;
	return r;
}

int loci_loaded_object(struct loci_loaded *loaded, struct loci_symbols *symbols,
	struct loci_object_table *table, uint64_t address, uint32_t *ret, uint64_t *ret_low,
	uint64_t *ret_last, struct loci_err *err)
{
	uint64_t place = address - loaded->bias, begin, end;
	const struct loci_variable *variable;
	size_t low = 0, high;
	int r = ask(loaded, symbols, err);

	if (r < 0)
		return r;
	high = loaded->n;
	while (low < high) { /* the first that begins after it */
		size_t middle = low + (high - low) / 2;

		if ((uint64_t)loaded->variable[middle].low <= place)
			low = middle + 1;
		else
			high = middle;
	}
	variable = low ? &loaded->variable[low - 1] : NULL;
	if (variable && place - (uint64_t)variable->low < variable->bytes) {
		narrow(loaded, (uint64_t)variable->low, variable->bytes, ret_low, ret_last);
		return variable_object(loaded, table, low - 1, ret, err);
	}
	begin = variable ? (uint64_t)variable->low + variable->bytes : loaded->low - loaded->bias;
	end = low < loaded->n ? (uint64_t)loaded->variable[low].low
			      : loaded->last - loaded->bias + 1;
	narrow(loaded, begin, end - begin, ret_low, ret_last);
	return data_object(loaded, table, ret, err);
}
