/* SPDX-License-Identifier: MIT */
/* pfm header --lang go: a Go file without cgo. */
#include "header/header.h"
#include "common/pfm.h"

#include <inttypes.h>
#include <stdlib.h>

/* Bits of perf_event_attr behind read_format, by perf_event_open(2). */
enum {
	EXCLUDE_USER = 4,
	EXCLUDE_KERNEL = 5,
	EXCLUDE_HV = 6,
	EXCLUDE_IDLE = 7,
	PRECISE_IP = 15,
	EXCLUDE_HOST = 19,
	EXCLUDE_GUEST = 20
};

/* The part of the file that is the same for all events: opens and reads them. */
static const char reader[] =
	"import (\n"
	"\t\"errors\"\n"
	"\t\"fmt\"\n"
	"\t\"os\"\n"
	"\t\"strconv\"\n"
	"\t\"strings\"\n"
	"\t\"syscall\"\n"
	"\t\"unsafe\"\n"
	")\n"
	"\n"
	"// Attr holds the members of perf_event_attr that select an event.\n"
	"type Attr struct {\n"
	"\tType    uint32\n"
	"\tDevice  string // PMU of the kernel; \"\" if Type is right everywhere\n"
	"\tConfig  uint64\n"
	"\tConfig1 uint64\n"
	"\tConfig2 uint64\n"
	"\tFlags   uint64 // exclude_user and other bits\n"
	"}\n"
	"\n"
	"// Count is a reading. Quality is \"exact\", \"scaled\" or \"not counted\".\n"
	"type Count struct {\n"
	"\tValue, Raw, Enabled, Running uint64\n"
	"\tQuality                      string\n"
	"}\n"
	"\n"
	"// Counter is an open event.\n"
	"type Counter struct{ fd int }\n"
	"\n"
	"// CPU returns the id of the first processor of this machine: vendor, "
	"family, model and stepping of\n"
	"// x86, the MIDR of Arm.\n"
	"func CPU() (string, error) {\n"
	"\tmidr, err := "
	"os.ReadFile(\"/sys/devices/system/cpu/cpu0/regs/identification/midr_el1\")\n"
	"\tif err == nil {\n"
	"\t\treturn strings.TrimSpace(string(midr)), nil\n"
	"\t}\n"
	"\ttext, err := os.ReadFile(\"/proc/cpuinfo\")\n"
	"\tif err != nil {\n"
	"\t\treturn \"\", err\n"
	"\t}\n"
	"\treturn parseCPU(string(text))\n"
	"}\n"
	"\n"
	"func parseCPU(text string) (string, error) {\n"
	"\tvalues := map[string]string{}\n"
	"\tfor _, line := range strings.Split(text, \"\\n\") {\n"
	"\t\tkey, value, found := strings.Cut(line, \":\")\n"
	"\t\tif _, known := values[strings.TrimSpace(key)]; found && !known {\n"
	"\t\t\tvalues[strings.TrimSpace(key)] = strings.TrimSpace(value)\n"
	"\t\t}\n"
	"\t}\n"
	"\tmodel, err := strconv.Atoi(values[\"model\"])\n"
	"\tif err != nil || values[\"vendor_id\"] == \"\" {\n"
	"\t\treturn \"\", errors.New(\"the processor cannot be identified\")\n"
	"\t}\n"
	"\treturn fmt.Sprintf(\"%s-%s-%X-%s\", values[\"vendor_id\"], "
	"values[\"cpu family\"], model,\n"
	"\t\tvalues[\"stepping\"]), nil\n"
	"}\n"
	"\n"
	"// Find returns the attributes of an event on the processor with an id.\n"
	"func Find(cpu, event string) (Attr, error) {\n"
	"\tfor key := cpu; key != \"\"; {\n"
	"\t\tif events, found := Attrs[key]; found {\n"
	"\t\t\tif attr, found := events[event]; found {\n"
	"\t\t\t\treturn attr, nil\n"
	"\t\t\t}\n"
	"\t\t\treturn Attr{}, fmt.Errorf(\"unknown event %q\", event)\n"
	"\t\t}\n"
	"\t\tcut := strings.LastIndexByte(key, '-')\n"
	"\t\tif cut < 0 {\n"
	"\t\t\tbreak\n"
	"\t\t}\n"
	"\t\tkey = key[:cut]\n"
	"\t}\n"
	"\treturn Attr{}, fmt.Errorf(\"no events of processor %q in this file\", cpu)\n"
	"}\n"
	"\n"
	"func (a Attr) kernelType() (uint32, error) {\n"
	"\tif a.Device == \"\" {\n"
	"\t\treturn a.Type, nil\n"
	"\t}\n"
	"\ttext, err := os.ReadFile(\"/sys/bus/event_source/devices/\" + "
	"a.Device + \"/type\")\n"
	"\tif err != nil {\n"
	"\t\treturn 0, err\n"
	"\t}\n"
	"\tnumber, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)\n"
	"\treturn uint32(number), err\n"
	"}\n"
	"\n"
	"// Open counts the event in task pid (0: the calling thread) on a CPU "
	"(-1: all) from now on.\n"
	"func (a Attr) Open(pid, cpu int) (*Counter, error) {\n"
	"\tconst size = 112 // PERF_ATTR_SIZE_VER5\n"
	"\tvar words [size / 8]uint64\n"
	"\tkernelType, err := a.kernelType()\n"
	"\tif err != nil {\n"
	"\t\treturn nil, err\n"
	"\t}\n"
	"\theader := (*[2]uint32)(unsafe.Pointer(&words[0]))\n"
	"\theader[0], header[1] = kernelType, size\n"
	"\twords[1] = a.Config\n"
	"\twords[4] = 3 // read_format: times enabled and running\n"
	"\twords[5] = a.Flags\n"
	"\twords[7], words[8] = a.Config1, a.Config2\n"
	"\tfd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN,\n"
	"\t\tuintptr(unsafe.Pointer(&words[0])), uintptr(pid), uintptr(cpu), "
	"^uintptr(0),\n"
	"\t\t8 /* PERF_FLAG_FD_CLOEXEC */, 0)\n"
	"\tif errno != 0 {\n"
	"\t\treturn nil, fmt.Errorf(\"perf_event_open: %w\", errno)\n"
	"\t}\n"
	"\treturn &Counter{int(fd)}, nil\n"
	"}\n"
	"\n"
	"// Read returns the count since Open.\n"
	"func (c *Counter) Read() (Count, error) {\n"
	"\tvar words [3]uint64\n"
	"\tbuf := (*[24]byte)(unsafe.Pointer(&words))\n"
	"\tn, err := syscall.Read(c.fd, buf[:])\n"
	"\tif err != nil {\n"
	"\t\treturn Count{}, err\n"
	"\t}\n"
	"\tif n != len(buf) {\n"
	"\t\treturn Count{}, errors.New(\"the kernel stopped counting the event\")\n"
	"\t}\n"
	"\treturn assess(words[0], words[1], words[2]), nil\n"
	"}\n"
	"\n"
	"func assess(raw, enabled, running uint64) Count {\n"
	"\tc := Count{raw, raw, enabled, running, \"exact\"}\n"
	"\tif running == 0 {\n"
	"\t\tc.Quality, c.Value = \"not counted\", 0\n"
	"\t} else if running < enabled {\n"
	"\t\tc.Quality = \"scaled\"\n"
	"\t\tc.Value = uint64(float64(raw) * float64(enabled) / float64(running))\n"
	"\t}\n"
	"\treturn c\n"
	"}\n"
	"\n"
	"// Close stops counting.\n"
	"func (c *Counter) Close() error { return syscall.Close(c.fd) }\n";

static unsigned combine_flags(const perfmon_attr_t *a)
{
	return (unsigned)a->exclude_user << EXCLUDE_USER |
	       (unsigned)a->exclude_kernel << EXCLUDE_KERNEL |
	       (unsigned)a->exclude_hv << EXCLUDE_HV | (unsigned)a->exclude_idle << EXCLUDE_IDLE |
	       (unsigned)a->precise << PRECISE_IP | (unsigned)a->exclude_host << EXCLUDE_HOST |
	       (unsigned)a->exclude_guest << EXCLUDE_GUEST;
}

/* Opens the context of processor @cpu on a machine without a kernel, so that the file does not
 * depend on the machine that writes it. */
static pfm_ctx_t *open_cpu(const char *cpu)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_ctx_t *ctx;
	char sentence[256];

	options.cpuid = cpu;
	options.sysfs_root = "/dev/null";
	if (pfm_open_context(&ctx, &options, &error) == PFMLIB_SUCCESS)
		return ctx;
	pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
	fprintf(stderr, "pfm header: %s: %s\n", cpu, sentence);
	return NULL;
}

static bool write_attr(FILE *out, const pfm_ctx_t *ctx, const char *cpu, const char *text,
                       unsigned plm)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);

	if (pfm_encode_event(ctx, text, plm, &e, &error) != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(ctx, e.pmu, &pmu) != PFMLIB_SUCCESS) {
		fprintf(stderr, "pfm header: %s has no such event.\n", cpu);
		report_refusal(ctx, text, &error, WANTED_EVENT);
		return false;
	}
	if (!e.attr.expressible || e.attr.config3 || e.attr.config4 ||
	    (!e.attr.type_known && !*pmu.device)) {
		fprintf(stderr,
		        "pfm header: %s: perf_event_open(2) cannot count %s, or needs config3. "
		        "Leave it out.\n",
		        cpu, text);
		return false;
	}
	fprintf(out, "\t\t\"%s\": {\n\t\t\t", text);
	if (e.attr.type_known)
		fprintf(out, "Type: %" PRIu32, e.attr.type);
	else
		fprintf(out, "Device: \"%s\"", pmu.device);
	fprintf(out, ", Config: 0x%" PRIx64, e.attr.config);
	if (e.attr.config1 || e.attr.config2)
		fprintf(out, ", Config1: 0x%" PRIx64 ", Config2: 0x%" PRIx64, e.attr.config1,
		        e.attr.config2);
	fprintf(out, ", Flags: 0x%x,\n\t\t},\n", combine_flags(&e.attr));
	return true;
}

/* Writes the attributes of @texts on each processor. */
static bool write_attrs(FILE *out, const char *const *cpus, unsigned n_cpus,
                        const char *const *texts, unsigned n, unsigned plm)
{
	bool ok = true;

	for (unsigned i = 0; i < n_cpus && ok; i++) {
		pfm_ctx_t *ctx = open_cpu(cpus[i]);

		if (!ctx)
			return false;
		fprintf(out, "\t\"%s\": {\n", cpus[i]);
		for (unsigned k = 0; k < n && ok; k++)
			ok = write_attr(out, ctx, cpus[i], texts[k], plm);
		fputs("\t},\n", out);
		pfm_close_context(ctx);
	}
	return ok;
}

int write_go(FILE *out, const char *package, const char *const *cpus, unsigned n_cpus,
             const char *const *texts, unsigned n, unsigned plm)
{
	char *attrs = NULL;
	size_t size;
	FILE *memory = open_memstream(&attrs, &size);
	bool ok;

	if (!memory)
		return report_no_memory();
	ok = write_attrs(memory, cpus, n_cpus, texts, n, plm);
	if (fclose(memory) != 0 || !attrs) {
		free(attrs);
		return report_no_memory();
	}
	if (ok)
		fprintf(out,
		        "// Code generated by pfm header, perfmon " PERFMON_VERSION
		        "; DO NOT EDIT.\n\n"
		        "// Package %s counts hardware events by perf_event_open(2).\npackage "
		        "%s\n\n%s\n"
		        "// Attrs holds the attributes of each event on each processor.\n"
		        "var Attrs = map[string]map[string]Attr{\n%s}\n",
		        package, package, reader, attrs);
	free(attrs);
	return ok ? EXIT_DONE : EXIT_REFUSED;
}
