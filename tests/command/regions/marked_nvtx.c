/* SPDX-License-Identifier: MIT */
/* Calls a tool as NVTX's headers do: tables of pointers to functions, by module and number. */
#include <dlfcn.h>
#include <stdint.h>
#include "marked.h"

typedef void (*function)(void);

static function core[16], core2[16], *core_table[16], *core2_table[16];

static int functions_of(int module, function ***table, unsigned *n)
{
	*n = 16;
	*table = module == 1 ? core_table : module == 5 ? core2_table : NULL;
	return *table != NULL;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*functions_of)(int module, function ***table, unsigned *n);
	} callbacks = { sizeof(callbacks), functions_of };

	return id == 1 ? &callbacks : NULL;
}

/* nvtxEventAttributes_t with a registered string. */
struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static int load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) =
		tool ? (int (*)(const void *(*)(uint32_t)))dlsym(tool, "InitializeInjectionNvtx2")
		     : NULL;

	for (unsigned i = 1; i < 16; i++) {
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	return initialize && initialize(get_table) == 1;
}

/* Ranges of two domains overlap: each pop ends the range of its own domain. */
static void visit_two_domains(void)
{
	void *(*create)(const char *) = (void *(*)(const char *))core2[12];
	int (*push)(void *, const struct attributes *) =
		(int (*)(void *, const struct attributes *))core2[4];
	int (*pop)(void *) = (int (*)(void *))core2[5];
	struct attributes a = { .version = 3, .size = sizeof(a), .message_type = 1 };
	void *first = create("first"), *second = create("second");

	a.message = "of first";
	push(first, &a);
	cause_faults(1);
	a.message = "of second";
	push(second, &a);
	cause_faults(2);
	pop(first);
	cause_faults(4);
	pop(second);
}

int main(void)
{
	struct attributes a = { .version = 3, .size = sizeof(a), .message_type = 3 };
	uint64_t id;

	if (!load())
		return 1;
	a.message = ((void *(*)(void *, const char *))core2[10])(NULL, "registered");
	for (unsigned i = 0; i < 3; i++) {
		((int (*)(const char *))core[9])("pushed");
		cause_faults(4);
		id = ((uint64_t(*)(const struct attributes *))core[4])(&a);
		cause_faults(2);
		((int (*)(void))core[11])();
		cause_faults(1);
		((void (*)(uint64_t))core[7])(id);
	}
	visit_two_domains();
	return ((int (*)(void))core[11])() != -2;
}
