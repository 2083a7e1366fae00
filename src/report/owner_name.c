// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/owner_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *loci_name_file(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path ? path : "";
}

/* Where the bracket opened at s closes, or the end. */
static const char *closing(const char *s, char open, char close)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (*s == open)
			depth++;
		else if (*s == close && --depth == 0)
			return s + 1;
	}
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "operator" as a word: what follows may hold brackets that do not pair. */
static bool is_operator(const char *name, const char *s)
{
	return !strncmp(s, "operator", 8) && (s == name || !is_word(s[-1])) && !is_word(s[8]);
}

const char *loci_name_function(const char *name, char *buf, size_t size)
{
	const char *s = name;
	size_t used = 0;

	while (*s && used + 3 < size) {
		const char *end;

		if (is_operator(name, s)) {
			s += 8;
			end = s[0] == '(' && s[1] == ')' ? s + 2 : s + strcspn(s, "(");
			used += (size_t)snprintf(
				buf + used, size - used, "operator%.*s", (int)(end - s), s);
			break;
		}
		if (*s == '<' && s > name) {
			end = closing(s, '<', '>');
			memcpy(buf + used, "<>", 2);
			used += 2;
			s = end;
		} else if (*s == '(') {
			end = closing(s, '(', ')');
			if (strncmp(end, "::", 2)) /* parameters, not (anonymous namespace):: */
				break;
			used += (size_t)snprintf(
				buf + used, size - used, "%.*s", (int)(end - s), s);
			s = end;
		} else {
			buf[used++] = *s++;
		}
	}
	buf[used < size ? used : size - 1] = '\0';
	return buf;
}

const char *loci_name_clip(char *name, size_t bytes)
{
	if (strlen(name) <= bytes || bytes < 2)
		return name;
	bytes -= 2;
	while (bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
		bytes--; /* no half characters */
	strcpy(name + bytes, "..");
	return name;
}

const char *loci_name_line(const struct loci_catalogue *catalogue, int64_t source_id, unsigned line,
	char *buf, size_t size)
{
	const struct loci_source_row *source = loci_catalogue_find_source(catalogue, source_id);

	buf[0] = '\0';
	if (source && line)
		snprintf(buf, size, "%s:%u", loci_name_file(source->path), line);
	return buf;
}

static const char *function_name(
	const struct loci_catalogue *catalogue, int64_t id, char *buf, size_t size)
{
	const struct loci_function_row *function = loci_catalogue_find_function(catalogue, id);

	buf[0] = '\0';
	return function && function->name ? loci_name_function(function->name, buf, size) : buf;
}

const char *loci_name_site(const struct loci_catalogue *catalogue, const struct loci_site_row *site,
	char *buf, size_t size)
{
	char line[LOCI_NAME_MAX], function[LOCI_NAME_MAX];
	const struct loci_module_row *module;

	if (!site) {
		snprintf(buf, size, "(unknown)");
		return buf;
	}
	loci_name_line(catalogue, site->source_id, site->line, line, sizeof(line));
	function_name(
		catalogue, loci_catalogue_function_of(catalogue, site), function, sizeof(function));
	if (line[0]) {
		snprintf(buf, size, "%s%s%s", line, function[0] ? " " : "", function);
		return buf;
	}
	module = loci_catalogue_find_module(catalogue, loci_catalogue_module_of(catalogue, site));
	snprintf(buf, size, "%s%s%s+0x%" PRIx64 "%s", function, function[0] ? " (" : "",
		module ? loci_name_file(module->path) : "code", site->code_offset,
		function[0] ? ")" : "");
	return buf;
}

bool loci_name_is_origin(const struct loci_object_row *object)
{
	return object->line && object->kind && !strcmp(object->kind, "heap") &&
		(!object->name || !strncmp(object->name, "allocated in ", 13));
}

const char *loci_name_object(const struct loci_catalogue *catalogue,
	const struct loci_object_row *object, char *buf, size_t size)
{
	char line[LOCI_NAME_MAX];

	if (!object)
		snprintf(buf, size, "(unknown)");
	else if (loci_name_is_origin(object))
		snprintf(buf, size, "heap %s",
			loci_name_line(
				catalogue, object->source_id, object->line, line, sizeof(line)));
	else if (object->name && object->name[0])
		snprintf(buf, size, "%s", object->name);
	else
		snprintf(buf, size, "(%s)", object->kind ? object->kind : "unknown");
	return buf;
}

const char *loci_name_origin(const struct loci_catalogue *catalogue,
	const struct loci_object_row *object, char *buf, size_t size)
{
	char line[LOCI_NAME_MAX], function[LOCI_NAME_MAX];
	const struct loci_module_row *module;

	buf[0] = '\0';
	if (!object)
		return buf;
	module = loci_catalogue_find_module(catalogue, object->module_id);
	loci_name_line(catalogue, object->source_id, object->line, line, sizeof(line));
	function_name(catalogue, object->function_id, function, sizeof(function));
	if (!line[0] && !function[0] && module)
		snprintf(line, sizeof(line), "%s", loci_name_file(module->path));
	snprintf(buf, size, "%s%s%s%s%s", object->kind ? object->kind : "",
		line[0] || function[0] ? ", " : "", line, line[0] && function[0] ? " " : "",
		function);
	return buf;
}

const char *loci_name_place(const struct loci_catalogue *catalogue,
	const struct loci_site_row *site, char *buf, size_t size)
{
	buf[0] = '\0';
	if (site)
		loci_name_line(catalogue, site->source_id, site->line, buf, size);
	if (site && !buf[0])
		function_name(catalogue, loci_catalogue_function_of(catalogue, site), buf, size);
	return buf[0] ? buf : loci_name_site(catalogue, site, buf, size);
}

const char *loci_name_pair(const struct loci_catalogue *catalogue, const struct loci_pair_row *pair,
	const char *arrow, char *buf, size_t size)
{
	const struct loci_site_row *use = loci_catalogue_find_site(catalogue, pair->use_site_id);
	const struct loci_site_row *reuse =
		loci_catalogue_find_site(catalogue, pair->reuse_site_id);
	char from[LOCI_NAME_MAX], to[LOCI_NAME_MAX];

	snprintf(buf, size, "%s %s %s", loci_name_place(catalogue, use, from, sizeof(from)), arrow,
		loci_name_place(catalogue, reuse, to, sizeof(to)));
	return buf;
}

const char *loci_name_carrier(const struct loci_catalogue *catalogue,
	const struct loci_pair_row *pair, char *buf, size_t size)
{
	const struct loci_loop_row *loop = loci_catalogue_find_loop(catalogue, pair->loop_id);
	const struct loci_context_row *common =
		loci_catalogue_find_context(catalogue, pair->common_context_id);
	char name[LOCI_NAME_MAX];

	buf[0] = '\0';
	if (loop) {
		loci_name_line(catalogue, loop->source_id, loop->line, name, sizeof(name));
		if (!name[0])
			function_name(catalogue, loci_catalogue_loop_function(catalogue, loop),
				name, sizeof(name));
		snprintf(buf, size, "loop at %s", name[0] ? name : "an unknown line");
	} else if (common) {
		snprintf(buf, size, "within %s",
			loci_name_context(catalogue, common, name, sizeof(name)));
	}
	return buf;
}

const char *loci_name_context(const struct loci_catalogue *catalogue,
	const struct loci_context_row *context, char *buf, size_t size)
{
	function_name(catalogue, context->function_id, buf, size);
	if (!buf[0])
		snprintf(buf, size, "(unknown)");
	return buf;
}

static void name_loop(
	const struct loci_catalogue *c, const struct loci_loop_row *loop, char *buf, size_t size)
{
	char line[LOCI_NAME_MAX], function[LOCI_NAME_MAX];

	loci_name_line(c, loop->source_id, loop->line, line, sizeof(line));
	function_name(c, loci_catalogue_loop_function(c, loop), function, sizeof(function));
	snprintf(buf, size, "%s%s%s", line, line[0] && function[0] ? " " : "", function);
	if (!buf[0])
		snprintf(buf, size, "loop %" PRId64, loop->id);
}

const char *loci_name_region(const struct loci_catalogue *c, const struct loci_region_row *region,
	char *buf, size_t size)
{
	char inner[LOCI_NAME_MAX];

	snprintf(buf, size, "%s", region->name);
	while ((region = loci_catalogue_find_region(c, region->parent_id))) {
		snprintf(inner, sizeof(inner), "%s", buf);
		snprintf(buf, size, "%s/%s", region->name, inner);
	}
	return buf;
}

/* Those of no function, file .. at all. */
static const char *const none[LOCI_BLAME_KINDS] = {
	[LOCI_BLAME_FUNCTION] = "(no function known)",
	[LOCI_BLAME_LOOP] = "(in no loop)",
	[LOCI_BLAME_FILE] = "(no file known)",
	[LOCI_BLAME_MODULE] = "(no module known)",
	[LOCI_BLAME_PROCESS] = "(no process known)",
};

const char *loci_name_row(const struct loci_blame *blame, const struct loci_blame_row *row,
	const char *arrow, char *buf, size_t size)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_access_row *access = row->owner;
	const struct loci_process_row *process = row->owner;
	const struct loci_field_row *field = row->owner;

	if (!row->owner) {
		snprintf(buf, size, "%s", none[blame->kind] ? none[blame->kind] : "(unknown)");
		return buf;
	}
	switch (blame->kind) {
	case LOCI_BLAME_SITE:
	case LOCI_BLAME_LINE:
		return loci_name_site(c, row->owner, buf, size);
	case LOCI_BLAME_SPOT:
		return loci_name_site(c, loci_catalogue_find_site(c, access->site_id), buf, size);
	case LOCI_BLAME_FUNCTION:
		return function_name(
			c, ((const struct loci_function_row *)row->owner)->id, buf, size);
	case LOCI_BLAME_LOOP:
		name_loop(c, row->owner, buf, size);
		return buf;
	case LOCI_BLAME_FILE:
		snprintf(buf, size, "%s", ((const struct loci_source_row *)row->owner)->path);
		return buf;
	case LOCI_BLAME_MODULE:
		snprintf(buf, size, "%s", ((const struct loci_module_row *)row->owner)->path);
		return buf;
	case LOCI_BLAME_OBJECT:
		return loci_name_object(c, row->owner, buf, size);
	case LOCI_BLAME_FIELD:
		snprintf(buf, size, "%s", field->name ? field->name : "");
		return buf;
	case LOCI_BLAME_CONTEXT:
		return loci_name_context(c, row->owner, buf, size);
	case LOCI_BLAME_PAIR:
	case LOCI_BLAME_LINK:
		return loci_name_pair(c, row->owner, arrow, buf, size);
	case LOCI_BLAME_THREAD:
		snprintf(buf, size, "thread %" PRId64,
			((const struct loci_blame_thread *)row->owner)->id);
		return buf;
	case LOCI_BLAME_REGION:
		return loci_name_region(c, row->owner, buf, size);
	case LOCI_BLAME_PHASE:
		snprintf(buf, size, "%s",
			((const struct loci_phase_row *)row->owner)->name
				? ((const struct loci_phase_row *)row->owner)->name
				: "(before the first phase)");
		return buf;
	case LOCI_BLAME_PROCESS:
		snprintf(buf, size, "%" PRId64 "%s%s", process->pid, process->command ? " " : "",
			process->command ? process->command : "");
		return buf;
	}
	return buf;
}
