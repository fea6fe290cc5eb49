/* SPDX-License-Identifier: MIT */
/* Names of Rust before RFC 2603. */
#ifndef PERFMON_PROFILE_DEMANGLE_RUST_OLD_H
#define PERFMON_PROFILE_DEMANGLE_RUST_OLD_H

#include "profile/symbols/demangle/rust_text.h"

/* Reads a name up to its end, "4core3fmt5write17h0123456789abcdefE". */
void rust_read_old_name(struct rust_name *r);

#endif
