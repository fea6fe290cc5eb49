/* SPDX-License-Identifier: MIT */
#ifndef PFM_PRETEND_EXPRESSION_H
#define PFM_PRETEND_EXPRESSION_H

#include "pretend/model.h"

/* True if a model may define @text as a name. */
bool is_model_name(const char *text);

/* Reads @text: numbers, clock, faults, switches, names of @m, + - * / and parentheses. A product
 * has one factor that is a number, a quotient is by a number. Returns NULL, or what is wrong. */
const char *read_expression(const struct model *m, const char *text, struct model_rate *out);

#endif
