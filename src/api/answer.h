/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the handles of the public interface share: errors, questions and answers in both worlds. */
#ifndef LOCI_API_ANSWER_H
#define LOCI_API_ANSWER_H

#include "base/err.h"
#include "loci.h"
#include "model/predict.h"

/* Copies the message out where r is an error, and returns r. error may be NULL. */
int loci_api_result(int r, const struct loci_err *err, struct loci_error *error);
/* Refuses flags that no version knows. */
int loci_api_options(unsigned flags, struct loci_predict_options *ret, struct loci_err *err);
/* Refuses a hierarchy of more levels than there is room for. */
int loci_api_room(const struct loci_hierarchy *hierarchy, size_t n, struct loci_err *err);
void loci_api_answer(const struct loci_prediction *prediction, struct loci_answer *ret);

#endif
