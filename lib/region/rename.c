/* SPDX-License-Identifier: MIT */
/* Names that the reader of results gives to regions. */
#include <stdlib.h>
#include <string.h>
#include "region/region.h"

int pfm_rename_region(pfm_region_results_t *results, unsigned i, const char *name)
{
	char **old, *copy;

	if (!results || !results->loaded || !name)
		return PFMLIB_ERR_INVAL;
	if (i >= results->n)
		return PFMLIB_ERR_NOTFOUND;
	copy = strdup(name);
	if (!copy)
		return PFMLIB_ERR_NOMEM;
	old = &results->loaded->names[results->rows[i].region];
	free(*old);
	*old = copy;
	return PFMLIB_SUCCESS;
}
