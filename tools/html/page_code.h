/* SPDX-License-Identifier: MIT */
/* The code of the hottest functions of a recording, as objdump prints it, with source text. */
#ifndef PFM_HTML_PAGE_CODE_H
#define PFM_HTML_PAGE_CODE_H

#include "common/json.h"
#include "export/export.h"

/* Puts the member "code". @shares: of each location of @r, as the innermost one.
 * @numbers: in the page, of each function. Sets the line of code of each location that has one: 1 +
 * its number among the lines of all functions. False without memory. */
bool put_page_code(struct json *j, struct export_reader *r, const double *shares,
                   const uint32_t *numbers, uint32_t *lines);

#endif
