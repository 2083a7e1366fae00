// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/records.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct records {
	struct loci_source source;
	const struct loci_record_layout *layout;
	struct loci_input *input;
	struct loci_import_choice choice;
	struct loci_emitter emitter;
	uint64_t n_records, n_promised;
	int failed; /* -errno to return once the words before are delivered */
	struct loci_err err;
};

/* Gets, and what is unknown, are loads. An update in place is a store. A delete touches nothing. */
enum loci_request loci_request_of(unsigned op)
{
	static const enum loci_request requests[] = {
		[0] = LOCI_REQUEST_LOAD,     /* nop */
		[1] = LOCI_REQUEST_LOAD,     /* get */
		[2] = LOCI_REQUEST_LOAD,     /* gets */
		[3] = LOCI_REQUEST_STORE,    /* set */
		[4] = LOCI_REQUEST_STORE,    /* add */
		[5] = LOCI_REQUEST_STORE,    /* cas */
		[6] = LOCI_REQUEST_STORE,    /* replace */
		[7] = LOCI_REQUEST_STORE,    /* append */
		[8] = LOCI_REQUEST_STORE,    /* prepend */
		[9] = LOCI_REQUEST_LEFT_OUT, /* delete */
		[10] = LOCI_REQUEST_STORE,   /* incr */
		[11] = LOCI_REQUEST_STORE,   /* decr */
		[12] = LOCI_REQUEST_LOAD,    /* read */
		[13] = LOCI_REQUEST_STORE,   /* write */
		[14] = LOCI_REQUEST_STORE,   /* update */
	};

	return op < LOCI_ARRAY_SIZE(requests) ? requests[op] : LOCI_REQUEST_LOAD;
}

/* Objects are never divided into blocks: their sizes decide nothing, so that one too large for the
 * stream is no reason to refuse a trace. */
uint64_t *loci_emit_request(struct loci_emitter *emitter, uint64_t *out, uint64_t id,
	uint64_t size_bytes, enum loci_request request)
{
	if (request == LOCI_REQUEST_LEFT_OUT) {
		emitter->n_left_out++;
		return out;
	}
	if (size_bytes >= LOCI_SIZE_LIMIT) {
		emitter->n_huge++;
		size_bytes = LOCI_SIZE_LIMIT - 1;
	}
	return loci_emit(emitter, out, id, (uint32_t)size_bytes,
		request == LOCI_REQUEST_STORE ? LOCI_ACCESS_STORE : LOCI_ACCESS_LOAD);
}

static uint64_t *parse(struct records *r, uint64_t *out, const char *record)
{
	const struct loci_record_layout *l = r->layout;
	uint64_t size = loci_le(record + l->size, l->size_bytes);
	enum loci_request request =
		l->op ? loci_request_of((unsigned char)record[l->op]) : LOCI_REQUEST_LOAD;

	if (l->size_bytes == 8 && size >> 63) {
		r->failed = loci_err_set(&r->err, EBADMSG,
			"%s: record %" PRIu64 " at byte %" PRIu64 ": a size of %" PRId64
			" (format %s)",
			r->input->name, r->n_records,
			r->input->offset + (uint64_t)(record - r->input->data), (int64_t)size,
			r->choice.format->name);
		return NULL;
	}
	out = loci_emit_request(&r->emitter, out, loci_le(record + l->id, 8), size, request);
	if (!out)
		r->failed = loci_err_nomem(&r->err);
	return out;
}

/* True if a whole record is in the buffer. */
static bool have_record(struct records *r)
{
	struct loci_input *input = r->input;
	size_t need = r->layout->record_bytes;
	char chosen[LOCI_CHOICE_TEXT_MAX];

	if (input->end - input->pos >= need)
		return true;
	if (!input->eof)
		r->failed = loci_input_more(input, &r->err);
	if (r->failed || input->end == input->pos)
		return false;
	if (input->end - input->pos >= need)
		return true;
	r->failed = loci_err_set(&r->err, EBADMSG,
		"%s: the record at byte %" PRIu64 " has %zu of %zu bytes: truncated? %s",
		input->name, input->offset + input->pos, input->end - input->pos, need,
		loci_import_choice_text(&r->choice, chosen));
	return false;
}

static void fill_note(struct records *r)
{
	loci_import_fill_note(&r->source, &r->emitter);
	if (r->n_records < r->n_promised) {
		size_t used = strlen(r->source.note);

		r->source.incomplete = true;
		snprintf(r->source.note + used, sizeof(r->source.note) - used,
			"%s%" PRIu64 " of the %" PRIu64 " requests its header promises",
			used ? "; " : "", r->n_records, r->n_promised);
	}
}

static ssize_t records_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct records *r = (struct records *)source;
	uint64_t *out = words, *limit = words + cap - LOCI_EMIT_MAX;
	int failed;

	while (!r->failed && out <= limit && have_record(r)) {
		uint64_t *after = parse(r, out, r->input->data + r->input->pos);

		if (!after)
			break;
		out = after;
		r->input->pos += r->layout->record_bytes;
		r->n_records++;
	}
	if (out > words)
		return out - words;
	failed = r->failed;
	if (!failed) {
		fill_note(r);
		return 0;
	}
	loci_err_set(err, -failed, "%s", r->err.text);
	if (failed == -EINTR) {
		r->failed = 0;
		r->err.text[0] = 0;
	}
	return failed;
}

static void records_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	loci_input_progress(((const struct records *)source)->input, ret_done, ret_total);
}

static void records_close(struct loci_source *source)
{
	struct records *r = (struct records *)source;

	loci_emitter_fini(&r->emitter);
	loci_input_close(r->input);
	free(r);
}

static const struct loci_source_ops records_ops = { records_read, records_progress, records_close };

int loci_records_open(const struct loci_record_layout *layout, uint64_t n_promised,
	struct loci_input *input, const struct loci_import_choice *choice, struct loci_source **ret,
	struct loci_err *err)
{
	struct records *r = calloc(1, sizeof(*r));

	if (!r) {
		loci_input_close(input);
		return loci_err_nomem(err);
	}
	r->source.ops = &records_ops;
	r->layout = layout;
	r->n_promised = n_promised;
	r->input = input;
	r->choice = *choice;
	loci_import_fill_info(&r->source.info, choice, LOCI_UNIT_OBJECT,
		LOCI_CAP_COMPLETE | (layout->op ? LOCI_CAP_STORES : 0));
	*ret = &r->source;
	return 0;
}
