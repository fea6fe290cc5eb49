/* SPDX-License-Identifier: MIT */
#ifndef PFM_CHAINS_INTERNAL_H
#define PFM_CHAINS_INTERNAL_H

#include "profile/unwind/chains.h"

/* Frees the records that are held. (deferred_chains.c) */
void chains_free_waiting(struct chains *c);

#endif
