/* SPDX-License-Identifier: MIT */
/* The libpfm 3 way: names to registers on one selected processor, which need not be this machine's.
 *
 *     libpfm3_dispatch [EVENT...]
 *
 * Build: cc libpfm3_dispatch.c $(pkg-config --cflags --libs libpfm3) */
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib.h>

static pfmlib_input_param_t in; /* some 32 KiB each: not for the stack */
static pfmlib_output_param_t out;

static int find(const char *text, pfmlib_event_t *event)
{
	int rc = pfm_find_full_event(text, event);

	if (rc != PFMLIB_SUCCESS)
		fprintf(stderr, "%s: %s\n", text, pfm_strerror(rc));
	return rc;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "L3_READS_ALL_ALL:M", "IA64_INST_RETIRED" };
	unsigned n = argc > 1 ? (unsigned)argc - 1 : 2;
	char name[128];
	int rc;

	rc = pfm_force_pmu(PFMLIB_MONTECITO_PMU); /* pfm_initialize() would take this machine's */
	if (rc != PFMLIB_SUCCESS || n >= PFMLIB_MAX_PMCS)
		return 1;
	pfm_get_cycle_event(&in.pfp_events[0]);
	for (unsigned i = 0; i < n; i++)
		if (find(argc > 1 ? argv[i + 1] : usual[i], &in.pfp_events[i + 1]) !=
		    PFMLIB_SUCCESS)
			return 1;
	in.pfp_event_count = n + 1;
	in.pfp_dfl_plm = PFM_PLM3; /* user level */

	rc = pfm_dispatch_events(&in, NULL, &out, NULL);
	if (rc != PFMLIB_SUCCESS) {
		fprintf(stderr, "cannot be measured together: %s\n", pfm_strerror(rc));
		return 1;
	}
	/* The first control registers are the events', in their order; further ones may follow. */
	for (unsigned i = 0; i < out.pfp_pmc_count; i++) {
		if (i < in.pfp_event_count)
			pfm_get_full_event_name(&in.pfp_events[i], name, sizeof(name));
		else
			strcpy(name, "(set up)");
		printf("PMC%-3u 0x%016llx  %s\n", out.pfp_pmcs[i].reg_num,
		       out.pfp_pmcs[i].reg_value, name);
	}
	for (unsigned i = 0; i < out.pfp_pmd_count; i++)
		printf("PMD%-3u to be read\n", out.pfp_pmds[i].reg_num);
	return 0;
}
