/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of source text as words and signs, without comments. */
#ifndef LOCI_SYMBOL_SOURCE_TOKEN_H
#define LOCI_SYMBOL_SOURCE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum loci_token_kind { LOCI_TOKEN_WORD, LOCI_TOKEN_LITERAL, LOCI_TOKEN_SIGN };

struct loci_token {
	const char *text;
	size_t length;
	size_t at; /* where it begins */
	enum loci_token_kind kind;
};

#define LOCI_TOKENS_MAX 1024

/* C and its kin, or Fortran. Returns how many there are; what goes beyond is left out. */
size_t loci_tokens_split(
	const char *text, size_t length, bool fortran, struct loci_token tokens[LOCI_TOKENS_MAX]);
bool loci_token_is(const struct loci_token *token, const char *text);
bool loci_token_is_nocase(const struct loci_token *token, const char *text);

/* The index of the sign that opens what the one at close closes, or of the one that closes what the
 * one at open opens; n: there is none. Round, square, curly brackets each by their own kind. */
size_t loci_tokens_opening(const struct loci_token *tokens, size_t n, size_t close);
size_t loci_tokens_closing(const struct loci_token *tokens, size_t n, size_t open);

#endif
