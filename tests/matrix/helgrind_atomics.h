/* SPDX-License-Identifier: MIT */
/* Included before everything else in the build for helgrind, which does not model C11's atomic
 * operations: these macros report their ordering. The plain accesses that they guard are unchanged,
 * and helgrind checks those. */
/* The embedded image is an assembler source, which cannot include this. */
#if !defined PERFMON_HELGRIND_ATOMICS_H && !defined __ASSEMBLER__
#define PERFMON_HELGRIND_ATOMICS_H

#include <stdatomic.h>
#include <valgrind/helgrind.h>

/* All threads may access the atomic itself at once. */
#define HG_ATOMIC(P) VALGRIND_HG_DISABLE_CHECKING((P), sizeof(*(P)))

#define HG_LOAD(P, ORDER)                                                                          \
	__extension__({                                                                            \
		__auto_type hg_at = (P);                                                           \
		__typeof__((void)0, *hg_at) hg_value;                                              \
		HG_ATOMIC(hg_at);                                                                  \
		__atomic_load(hg_at, &hg_value, ORDER);                                            \
		ANNOTATE_HAPPENS_AFTER(hg_at);                                                     \
		hg_value;                                                                          \
	})

#define HG_STORE(P, V, ORDER)                                                                      \
	__extension__({                                                                            \
		__auto_type hg_at = (P);                                                           \
		__typeof__((void)0, *hg_at) hg_value = (V);                                        \
		HG_ATOMIC(hg_at);                                                                  \
		ANNOTATE_HAPPENS_BEFORE(hg_at);                                                    \
		__atomic_store(hg_at, &hg_value, ORDER);                                           \
	})

#define HG_CHANGE(OPERATION, P, V, ORDER)                                                          \
	__extension__({                                                                            \
		__auto_type hg_at = (P);                                                           \
		HG_ATOMIC(hg_at);                                                                  \
		ANNOTATE_HAPPENS_BEFORE(hg_at);                                                    \
		__auto_type hg_value = OPERATION(hg_at, (V), ORDER);                               \
		ANNOTATE_HAPPENS_AFTER(hg_at);                                                     \
		hg_value;                                                                          \
	})

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub
#define atomic_load(P)                     HG_LOAD(P, __ATOMIC_SEQ_CST)
#define atomic_load_explicit(P, ORDER)     HG_LOAD(P, ORDER)
#define atomic_store(P, V)                 HG_STORE(P, V, __ATOMIC_SEQ_CST)
#define atomic_store_explicit(P, V, ORDER) HG_STORE(P, V, ORDER)
#define atomic_fetch_add(P, V)             HG_CHANGE(__atomic_fetch_add, P, V, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(P, V)             HG_CHANGE(__atomic_fetch_sub, P, V, __ATOMIC_SEQ_CST)

#endif
