/* SPDX-License-Identifier: MIT */
/* A program as pfm(7) of Tru64 UNIX describes it: <sys/pfcntr.h>, longs, and the members that
 * the page names. It uses nothing else of this project. Its argument is the processor: ev4, ev5
 * or ev6. */
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/pfcntr.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NUM_OF_CPUS 4

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static int work(void)
{
	return usleep(2000); /* the device counts what passes of time */
}

/* The first of the two was selected, the other one was not. */
static int result(uint64_t selected, uint64_t other)
{
	printf("# %s, %s\n", selected ? "counted" : "nothing counted",
	       other ? "and what was not asked for" : "nothing else");
	return selected && !other ? 0 : 2;
}

static int ev4(int fd)
{
	struct pfcntrs cntrs[NUM_OF_CPUS];
	struct pfcntrs *pfcntrs = cntrs;
	struct pfipls ipls[NUM_OF_CPUS];
	struct pfipls *pfipls = ipls;
	struct iccsr iccsr;
	long items = PFM_COUNTERS | PFM_IPL;

	memset(&iccsr, 0, sizeof(iccsr));
	iccsr.iccsr_pc0 = 1;
	iccsr.iccsr_mux0 = PF_CYCLES;
	iccsr.iccsr_mux1 = PF_DCACHE;
	iccsr.iccsr_disable = 3;
	if (ioctl(fd, PCNTSETMUX, &iccsr) == 0)
		return failed("both counters cannot be disabled");
	iccsr.iccsr_disable = 2;
	if (ioctl(fd, PCNTSETMUX, &iccsr) || ioctl(fd, PCNTSETITEMS, &items) ||
	    ioctl(fd, PCNTLOGALL) || ioctl(fd, PCNTCLEARCNT) || ioctl(fd, PCNTRENABLE) || work() ||
	    ioctl(fd, PCNTDISABLE))
		return failed("counting");
	if (ioctl(fd, PCNTGETCNT, &pfcntrs) || ioctl(fd, PCNTGETIPLHIS, &pfipls))
		return failed("reading");
	return result(cntrs[0].pf_cntr0, cntrs[0].pf_cntr1);
}

static int ev5(int fd)
{
	struct pfcntrs_ev5 cntrs[NUM_OF_CPUS];
	struct pfcntrs_ev5 *pfcntrs = cntrs;
	union pmctrs_ev5 pmctrs;
	long mux = PF5_MUX0_CYCLES | PF5_MUX1_C_LOAD_INSTRUCTIONS | PF5_MUX2_C_DCACHE_MISSES;
	long rates = PF5_C0_INT_EVERY_65536 | PF5_C1_INT_EVERY_65536 | PF5_C2_INT_EVERY_16384;
	long items = PFM_COUNTERS, contexts = PF5_CTXT_EXEC_AND_SUPER;

	pmctrs.pmctrs_ev5_long = 0;
	pmctrs.pmctrs_ev5_cpu = PMCTRS_ALL_CPUS;
	pmctrs.pmctrs_ev5_select = PF5_SEL_COUNTER_0 | PF5_SEL_COUNTER_1;
	if (ioctl(fd, PCNT5MUX, &mux) || ioctl(fd, PCNT5FREQ, &rates) ||
	    ioctl(fd, PCNTSETITEMS, &items) || ioctl(fd, PCNT5CTXTS, &contexts) ||
	    ioctl(fd, PCNTCLEARCNT) || ioctl(fd, PCNT5RESTART, &pmctrs.pmctrs_ev5_long) || work() ||
	    ioctl(fd, PCNT5DISABLE, &pmctrs.pmctrs_ev5_long))
		return failed("counting");
	if (ioctl(fd, PCNT5READCNTRS, &pfcntrs))
		return failed("reading");
	return result(cntrs[0].pf_cntr0, cntrs[0].pf_cntr2);
}

static int ev6(int fd)
{
	struct pfcntrs_ev6 cntrs[NUM_OF_CPUS];
	struct pfcntrs_ev6 *pfcntrs = cntrs;
	union pmctrs_ev6 pmctrs;
	long mux = PF6_MUX0_CYCLES | PF6_MUX1_REPLAY_TRAP;
	long items = PFM_COUNTERS;

	pmctrs.pmctrs_ev6_long = 0;
	pmctrs.pmctrs_ev6_cpu = PMCTRS_ALL_CPUS;
	pmctrs.pmctrs_ev6_select = PF6_SEL_COUNTER_0;
	if (ioctl(fd, PCNT6MUX, &mux) || ioctl(fd, PCNTSETITEMS, &items) ||
	    ioctl(fd, PCNTLOGSELECT) || ioctl(fd, PCNTCLEARCNT) ||
	    ioctl(fd, PCNT6ENABWRITE, &pmctrs.pmctrs_ev6_long) || work() ||
	    ioctl(fd, PCNT6DISABLE, &pmctrs.pmctrs_ev6_long))
		return failed("counting");
	if (ioctl(fd, PCNT6READCNTRS, &pfcntrs))
		return failed("reading");
	return result(cntrs[0].pf_cntr0, cntrs[0].pf_cntr1);
}

int main(int argc, char **argv)
{
	const char *model = argc > 1 ? argv[1] : "ev5";
	int fd = open("/dev/pfcntr", O_RDONLY | PCNTOPENALL);

	if (fd < 0)
		return failed("/dev/pfcntr");
	return !strcmp(model, "ev4") ? ev4(fd) : !strcmp(model, "ev6") ? ev6(fd) : ev5(fd);
}
