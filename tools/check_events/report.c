/* SPDX-License-Identifier: MIT */
/* The report of pfm check-events as JSON, with facts about the machine. */
#include "check_events/check_events.h"
#include "common/pfm.h"

#include <string.h>
#include <sys/utsname.h>

/* Lines of /proc/cpuinfo that identify a processor, of all architectures. */
static const char *const identity_keys[] = {
	"vendor_id", "cpu family",   "model",    "stepping", "CPU implementer", "CPU variant",
	"CPU part",  "CPU revision", "uarch",    "isa",      "mvendorid",       "marchid",
	"mimpid",    "cpu",          "revision", "machine"
};

static void read_line_of(const char *file, char *out, size_t size)
{
	char path[256];
	FILE *f = fopen(make_machine_path(file, path, sizeof(path)), "re");

	*out = 0;
	if (!f)
		return;
	if (!fgets(out, (int)size, f))
		*out = 0;
	out[strcspn(out, "\n")] = 0;
	fclose(f);
}

/* The value in a line "KEY : VALUE" of /proc/cpuinfo, or NULL. */
static char *find_value(char *line, const char *key)
{
	size_t len = strlen(key);
	char *colon = strchr(line, ':');

	if (strncmp(line, key, len) != 0 || !colon || line[len + strspn(line + len, " \t")] != ':')
		return NULL;
	colon[strcspn(colon, "\n")] = 0;
	return colon + 1 + strspn(colon + 1, " \t");
}

static void read_processor(struct machine_facts *m)
{
	char path[256], line[512], *value;
	FILE *f = fopen(make_machine_path("/proc/cpuinfo", path, sizeof(path)), "re");
	unsigned seen = 0;
	size_t at = 0;

	while (f && fgets(line, sizeof(line), f)) {
		for (unsigned i = 0; i < sizeof(identity_keys) / sizeof(identity_keys[0]); i++) {
			value = find_value(line, identity_keys[i]);
			if (!value || seen >> i & 1 || at >= sizeof(m->processor))
				continue;
			seen |= 1U << i;
			at += (size_t)snprintf(m->processor + at, sizeof(m->processor) - at,
			                       "%s%s=%s", at ? ", " : "", identity_keys[i], value);
		}
		value = find_value(line, "microcode");
		if (value && !*m->microcode)
			snprintf(m->microcode, sizeof(m->microcode), "%.31s", value);
		if (strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor") &&
		    !*m->hypervisor)
			snprintf(m->hypervisor, sizeof(m->hypervisor), "yes");
	}
	if (f)
		fclose(f);
}

void read_machine_facts(struct machine_facts *m)
{
	struct utsname u;
	char smt[8];

	memset(m, 0, sizeof(*m));
	read_line_of("/sys/hypervisor/type", m->hypervisor, sizeof(m->hypervisor));
	read_processor(m);
	read_line_of("/sys/devices/system/cpu/smt/active", smt, sizeof(smt));
	m->smt = *smt ? *smt == '1' : -1;
	/* The release alone: the version names the machine that built the kernel. */
	if (uname(&u) == 0)
		snprintf(m->system, sizeof(m->system), "%.20s %.60s", u.sysname, u.release);
}

static void put_machine(struct json *j, const struct machine_facts *m, const char *emulator,
                        bool is_pretended)
{
	put_begin(j, "machine", '{');
	put_text(j, "processor", m->processor);
	put_text_if(j, "microcode", m->microcode);
	put_text(j, "system", m->system);
	if (m->smt >= 0)
		put_bool(j, "smt", m->smt == 1);
	put_text_if(j, "hypervisor", m->hypervisor);
	put_text_if(j, "emulator", is_pretended ? "pfm pretend" : emulator);
	put_text(j, "tables", PERFMON_VERSION);
	put_end(j, '}');
}

static void put_observation(struct json *j, const struct event_check *c,
                            const struct observation *o)
{
	put_begin(j, NULL, '{');
	put_text(j, "kernel", o->kernel->name);
	put_text_if(j, "control", o->kernel->control);
	put_real(j, "least", o->expected.low);
	put_real(j, "most", o->expected.high);
	put_real(j, "counted", o->mean * c->factor);
	put_real(j, "error", o->error * c->factor);
	put_end(j, '}');
}

static void put_check(struct json *j, const struct event_check *c)
{
	put_begin(j, NULL, '{');
	put_text(j, "event", c->text);
	put_text_if(j, "pmu", c->pmu);
	put_text_if(j, "meaning", c->meaning);
	put_text(j, "judgement", name_judgement(c->result.judgement));
	if (c->result.judgement == JUDGED_RIGHT && c->result.is_exact)
		put_real(j, "within", c->result.high);
	if (c->result.judgement == JUDGED_BIASED) {
		put_real(j, "low", c->result.low);
		put_real(j, "high", c->result.high);
	}
	put_text_if(j, "reason", c->reason);
	put_begin(j, "kernels", '[');
	for (unsigned i = 0; i < c->n; i++)
		put_observation(j, c, &c->seen[i]);
	put_end(j, ']');
	put_end(j, '}');
}

void put_check_report(struct json *j, const struct machine_facts *m, const char *emulator,
                      bool is_pretended, const struct check_list *list)
{
	put_begin(j, NULL, '{');
	put_machine(j, m, emulator, is_pretended);
	put_real(j, "seconds", list->seconds);
	put_begin(j, "events", '[');
	for (size_t i = 0; i < list->n; i++)
		put_check(j, &list->checks[i]);
	put_end(j, ']');
	put_end(j, '}');
	put_line(j);
}
