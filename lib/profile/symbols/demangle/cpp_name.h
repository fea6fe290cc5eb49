/* SPDX-License-Identifier: MIT */
/* A C++ name of the Itanium C++ ABI (section 5.1), read into a tree and printed from it.
 *
 *   cpp_reader.c         numbers, names, references and operators
 *   cpp_types.c          types and template arguments
 *   cpp_expressions.c    expressions
 *   cpp_entities.c       names, functions, and what compilers make (vtables, thunks)
 *   cpp_print_text.c     text, template parameters, lists
 *   cpp_print_types.c    types, which stand on both sides of a name
 *   cpp_print_values.c   expressions
 *   cpp_print.c          names
 *   demangle_cpp.c       the whole symbol
 *
 * Names refer to their own parts, so that 300 bytes can represent gigabytes. The tree has a node
 * for each part that is written out, never for one that is referred to; printing has a budget of
 * bytes, levels and nodes. */
#ifndef PERFMON_PROFILE_CPP_NAME_H
#define PERFMON_PROFILE_CPP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CPP_MAX_BYTES = 1 << 16, /* of a symbol */
	CPP_MAX_DEPTH = 384,     /* levels that are read, and printed */
	CPP_MAX_STEPS = 1 << 17  /* nodes that are printed */
};

enum cpp_kind {
	CPP_TEXT,      /* a name, or a type of one word: text */
	CPP_NESTED,    /* left::right */
	CPP_LOCAL,     /* right, in function left */
	CPP_TEMPLATE,  /* left<right> */
	CPP_LIST,      /* left, then the list right; both NULL: empty */
	CPP_PACK,      /* the list right, as one argument */
	CPP_FUNCTION,  /* left (NULL: no return type), parameters right, qualifiers text */
	CPP_TYPED,     /* function left with type right */
	CPP_OF_THIS,   /* name left with the qualifiers text of its function */
	CPP_QUALIFIED, /* type left, then text */
	CPP_EXTENDED,  /* type left, then the qualifier right */
	CPP_POINTER,   /* to left */
	CPP_REFERENCE,
	CPP_RVALUE,
	CPP_MEMBER_POINTER, /* to right, a member of left */
	CPP_ARRAY,          /* of right, with left elements (NULL: unknown) */
	CPP_VECTOR,         /* of right, with left elements */
	CPP_SIZED,          /* type text of number bits, then left (NULL: nothing) */
	CPP_PARAMETER,      /* template parameter number */
	CPP_PREFIXED,       /* text, then left */
	CPP_VTABLE_IN,      /* construction vtable for left in right */
	CPP_TEMPORARY,      /* number, of left */
	CPP_CONSTRUCTOR,    /* of class left */
	CPP_DESTRUCTOR,
	CPP_OPERATOR,         /* op */
	CPP_LITERAL_OPERATOR, /* with suffix left */
	CPP_CONVERSION,       /* to left */
	CPP_LAMBDA,           /* number, with parameters left */
	CPP_UNNAMED,          /* type number */
	CPP_DEFAULT,          /* default argument number */
	CPP_BINDING,          /* [left] */
	CPP_TAGGED,           /* left[abi:right] */
	CPP_CLONE,            /* left, [clone text] */
	CPP_EXPANSION,        /* left... */
	CPP_DECLTYPE,         /* decltype (left) */
	/* expressions */
	CPP_LITERAL,     /* text of type left */
	CPP_ARGUMENT,    /* function parameter number; 0: this */
	CPP_UNARY,       /* op left */
	CPP_POSTFIX,     /* left op */
	CPP_BINARY,      /* left op right */
	CPP_CHOICE,      /* left ? the two of the list right */
	CPP_CALL,        /* left(right) */
	CPP_CAST,        /* (left)(right) */
	CPP_NAMED_CAST,  /* op<left>(right) */
	CPP_NEW,         /* placement right of left; its list: type, then arguments */
	CPP_BRACES,      /* left{right} */
	CPP_FOLD,        /* text: order; op; left, right */
	CPP_COUNT,       /* number of elements of pack left */
	CPP_TYPE_OPERAND /* op (left) */
};

/* An operator: its code, its text and how many operands it has. */
struct cpp_operator {
	char code[3];
	char form; /* see cpp_reader.c */
	const char *text;
};

struct cpp_node {
	enum cpp_kind kind;
	uint32_t length; /* of text */
	const char *text;
	union {
		const struct cpp_operator *op;
		uint32_t number;
	};
	struct cpp_node *left, *right;
};

/* A name that is read. */
struct cpp_name {
	const char *next, *end;
	struct cpp_node *nodes, **parts; /* parts: that S_ refers to */
	uint32_t n_nodes, max_nodes, n_parts, max_parts;
	struct cpp_node *last_name; /* of a class, which its constructors have */
	unsigned depth;
	bool is_conversion; /* template arguments after a parameter are those of the conversion */
	bool failed;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* The operator with the two letters @code, or NULL. */
const struct cpp_operator *cpp_find_operator(const char *code);

/* The character after the next @i ones; 0 at the end. */
char cpp_peek(const struct cpp_name *n, size_t i);
/* Skips @text if it comes next. */
bool cpp_take(struct cpp_name *n, const char *text);
/* Skips @text, which has to come next. */
void cpp_expect(struct cpp_name *n, const char *text);
/* Makes a node. Never NULL: after a failure, which n->failed tells, its contents do not matter. */
struct cpp_node *cpp_add_node(struct cpp_name *n, enum cpp_kind kind, struct cpp_node *left,
                              struct cpp_node *right);
struct cpp_node *cpp_add_text(struct cpp_name *n, const char *text, size_t length);
struct cpp_node *cpp_add_number(struct cpp_name *n, enum cpp_kind kind, struct cpp_node *left,
                                uint32_t number);
/* Remembers @node for later references. Returns it. */
struct cpp_node *cpp_remember(struct cpp_name *n, struct cpp_node *node);
/* True if one more level may be read; false, with n->failed set, if there are too many. */
bool cpp_enter(struct cpp_name *n);
void cpp_leave(struct cpp_name *n);
uint32_t cpp_read_decimal(struct cpp_name *n);
/* "_" is 0, "0_" is 1, "1_" is 2. In base 36 with capital letters, or (not @is_base36) in base 10.
 */
uint32_t cpp_read_index(struct cpp_name *n, bool is_base36);
/* A length and a name of so many bytes. */
struct cpp_node *cpp_read_source_name(struct cpp_name *n);

struct cpp_node *cpp_read_type(struct cpp_name *n);
/* Parameters up to the end of the function, which stays; no parameters are an empty list. */
struct cpp_node *cpp_read_parameters(struct cpp_name *n);
struct cpp_node *cpp_read_template_arguments(struct cpp_name *n);
struct cpp_node *cpp_read_template_parameter(struct cpp_name *n);
struct cpp_node *cpp_read_decltype(struct cpp_name *n);
struct cpp_node *cpp_read_expression(struct cpp_name *n);
struct cpp_node *cpp_read_literal(struct cpp_name *n);
/* An array, function or template may follow. @in_prefix: it is a part of a nested name. */
struct cpp_node *cpp_read_substitution(struct cpp_name *n, bool in_prefix);
struct cpp_node *cpp_read_entity_name(struct cpp_name *n);
struct cpp_node *cpp_read_unqualified_name(struct cpp_name *n);
/* A function with its type, or a variable. */
struct cpp_node *cpp_read_encoding(struct cpp_name *n);
/* The name without qualifiers and without the function that it is local to. */
const struct cpp_node *cpp_get_own_name(const struct cpp_node *name);
/* const, volatile, restrict: the length of the letters, which are skipped. */
size_t cpp_take_qualifiers(struct cpp_name *n);

/* ---- printing -------------------------------------------------------------------------------- */

/* Template arguments that parameters refer to. */
struct cpp_scope {
	const struct cpp_node *arguments;
	const struct cpp_scope *outer;
};

struct cpp_text {
	char *bytes; /* SYMBOL_SIZE */
	size_t length;
	unsigned depth, steps;
	const struct cpp_scope *scope;
	int pack_index;    /* the element of packs to print; -1: all elements */
	bool is_in_lambda; /* in its parameters, of which those of templates are "auto:1" */
	bool is_full;      /* the text is cut */
	bool failed;       /* the budget is spent, or a reference leads nowhere */
};

void cpp_put(struct cpp_text *t, const char *text);
void cpp_put_bytes(struct cpp_text *t, const char *bytes, size_t length);
void cpp_put_number(struct cpp_text *t, uint32_t number);
/* The last character, or 0. */
char cpp_last_char(const struct cpp_text *t);
/* True if one more node may be printed. */
bool cpp_begin_node(struct cpp_text *t);
void cpp_end_node(struct cpp_text *t);
/* Returns the template argument that the template parameter @node stands for in t->scope, and sets
 * t->scope to that argument's scope. Returns other nodes as they are. */
const struct cpp_node *cpp_resolve(struct cpp_text *t, const struct cpp_node *node);
/* Elements of the first pack in @pattern; -1: it has none. */
int cpp_count_pack(struct cpp_text *t, const struct cpp_node *pattern);

/* Prints @node, or the part of a type after a name. */
void cpp_print(struct cpp_text *t, const struct cpp_node *node);
void cpp_print_after(struct cpp_text *t, const struct cpp_node *node);
/* Prints the part before a function of the type of its result, and the blank between them. */
void cpp_print_result(struct cpp_text *t, const struct cpp_node *type);
void cpp_print_list(struct cpp_text *t, const struct cpp_node *list);
void cpp_print_expansion(struct cpp_text *t, const struct cpp_node *node);
/* Prints @node in the parentheses that a function name or another simple operand does not need. */
void cpp_print_operand(struct cpp_text *t, const struct cpp_node *node);
void cpp_print_expression(struct cpp_text *t, const struct cpp_node *node);
void cpp_print_name(struct cpp_text *t, const struct cpp_node *node);
void cpp_print_parameters(struct cpp_text *t, const struct cpp_node *function);

/* The text of a symbol that begins with "_Z", which the caller frees. NULL if it is not a C++ name,
 * is too long, or without memory. */
char *symbols_demangle_cpp(const char *symbol);

#endif
