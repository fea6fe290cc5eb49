/* SPDX-License-Identifier: MIT */
#ifndef PFM_HTML_PAGE_DATA_H
#define PFM_HTML_PAGE_DATA_H

#include "export/export.h"

/* Writes a recording as members of an object, without the brackets around them. */
extern const struct export_format page_data_format;

#endif
