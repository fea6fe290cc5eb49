#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the manual page of a processor from its event table.

    processor.py [--out FILE] NAME.pmu

The compiler that makes the library's tables also reads the table for the page, so a page has
exactly the facts of the library. The output is mdoc.
"""

import argparse
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "compiler"))
from language import tables as pt  # noqa: E402
from language.table_compiler import compile_all  # noqa: E402

DATE = "November 20, 2026"
ALPHA = ("ev4", "ev5", "ev6", "ev67")
COLUMN = 78

# Longer texts for words of traits and choices that do not explain themselves.
WORDS = {
    "opcm": "opcode matching",
    "iarr": "code ranges",
    "darr": "data ranges",
    "active": "",
    "floating": "floating",
    "causal": "causal",
    "self_floating": "self-floating",
    "icache": "code EAR, cache",
    "itlb": "code EAR, TLB",
    "dcache": "data EAR, cache",
    "dtlb": "data EAR, TLB",
    "alat": "data EAR, ALAT",
    "half": "half units",
    "double": "two counts for each event",
    "aggregate": "",
    "event": "",
    "pair": "a pair: uses both counters",
    "profileme": "ProfileMe statistic",
    "ratio": "ProfileMe ratio",
    "mode": "ProfileMe counting mode",
    "name": "name derived from the constant",
    "header_only": "only in the system's header",
    "pin": "external pin",
    "disputed": "sources disagree",
    "cost": "lost cycles, not occurrences",
    "replayed": "replays count again",
    "over": "counts more than its name says",
    "not_built": "the hardware counts something else",
    "twice": "counts twice",
    "retired4": "error of up to 4 in both directions",
    "bcache_early3": "counted 3 cycles early",
    "replay_late1": "window 1 cycle late",
    "delay_window2": "at most the window minus 2 cycles",
    "approximate": "approximate",
    "cbr_only": "only correctly predicted conditional branches",
    "probes": "includes long probes by other processors",
}
FLAGS = {
    pt.ROW_DEPRECATED: "deprecated", pt.ROW_ALONE: "must be counted alone",
    pt.ROW_PER_PKG: "one count per package", pt.ROW_EXPERIMENTAL: "experimental",
    pt.ROW_ARCH: "architectural", pt.ROW_METRIC: "metric"
}
# Texts that have a line of their own, or that are not printed because they give the source of a
# fact or a print format.
TEXTS_APART = ("detail", "errata", "errata_class", "note", "const", "replaced", "unit", "scale",
               "formula", "source", "topic")


def clean(text):
    return text.replace("\\", "\\e")


def prose(text):
    """Text as lines that no formatter takes for requests, a sentence a line."""
    out = []
    for sentence in re.split(r"(?<=[.;:])\s+(?=[A-Z0-9])", " ".join(text.split())):
        out += textwrap.wrap(clean(sentence), COLUMN, break_long_words=False,
                             break_on_hyphens=False) or []
    return ["\\&" + line if line[0] in ".'" else line for line in out]


def word(text):
    """One argument of a macro."""
    text = clean(text)
    if re.fullmatch(r"[A-Z%][A-Za-z0-9]{1,2}|[.,:;?!()\[\]|]", text):
        return "\\&" + text
    return '"%s"' % text.replace('"', "\\(dq") if " " in text or '"' in text else text


def hexadecimal(n):
    return "%#x" % n if n > 9 else str(n)


def listing(items):
    """a, b and c."""
    items = list(items)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def counter_names(bits):
    """0..3,F1 as words."""
    return ["F%d" % (n - 32) if n > 31 else str(n) for n in range(64) if bits >> n & 1]


def runs(bits):
    """Counters as short text: 4-9, F0."""
    numbers = [n for n in range(64) if bits >> n & 1]
    out = []
    for n in numbers:
        if out and n == out[-1][1] + 1 and n != 32:
            out[-1][1] = n
        else:
            out.append([n, n])

    def name(n):
        return "F%d" % (n - 32) if n > 31 else str(n)
    return ", ".join(name(a) if a == b else "%s-%s" % (name(a), name(b)) for a, b in out)


class Page:
    def __init__(self, table, stem):
        self.t, self.stem = table, stem
        self.out = []

    # ---- table -----------------------------------------------------------------------------------

    def field(self, name):
        at = self.t.field_at.get(name)
        return (None, None) if at is None else (at, self.t.fields[at])

    def value(self, row, name, counter=pt.ANY_COUNTER):
        """Value of field @name in @row; the preset of the field if the row sets none."""
        at, f = self.field(name)
        if f is None:
            return None
        general = None
        for k, c, v in row.values:
            if k == at and c == counter:
                return v
            if k == at and c == pt.ANY_COUNTER:
                general = v
        return f.preset if general is None else general

    def text(self, row, name):
        at, _ = self.field(name)
        found = [v for k, _, v in row.values
                 if k == at and isinstance(v, str)] if at is not None else []
        return " ".join(dict.fromkeys(found))

    def words(self, f, value):
        if f.kind == pt.TRAIT:
            return [w.name for w in f.words if value & w.value]
        return [w.name for w in f.words if w.value == value][:1]

    def feature(self, name, default=None):
        return dict(self.t.features).get(name, default)

    # ---- output ----------------------------------------------------------------------------------

    def put(self, *lines):
        self.out += lines

    def say(self, text):
        self.out += prose(text)

    def column(self, widths, rows):
        self.put(".Bl -column " + " ".join('"%s"' % w for w in widths))
        for i, row in enumerate(rows):
            cells = [word(str(c)) if c != "" else "\\&" for c in row]
            self.put(".It " + " Ta ".join(("Sy " + c if i == 0 else c) for c in cells))
        self.put(".El")

    # ---- parts -----------------------------------------------------------------------------------

    def head(self):
        t = self.t
        self.put('.\\" SPDX-License-Identifier: MIT',
                 '.\\" Written by processor.py from %s.pmu.' % self.stem, ".Dd " + DATE,
                 ".Dt PERFMON_%s 7" % self.stem.upper(), ".Os perfmon", ".Sh NAME",
                 ".Nm perfmon_" + self.stem, ".Nd " + clean(self.title()), ".Sh DESCRIPTION")
        self.say("This page lists %s." %
                 ("the " + self.title() if t.encoder == "perf" else "the events of " + t.desc))
        self.say("The name of an event in a text is %s::EVENT.%s" % (
            t.name, "" if not t.aliases else " Aliases of %s: %s." % (t.name, listing(t.aliases))))
        if t.libpfm_type >= 0:
            self.say("Its type number in the libpfm 3 interface is %d." % t.libpfm_type)
        if t.source:
            self.say("Sources: %s." % t.source.rstrip("."))
        for line in self.introduction():
            self.say(line)

    def title(self):
        desc = self.t.desc
        return desc[0].lower() + desc[1:] if self.t.encoder == "perf" else "events of " + desc

    def introduction(self):
        t = self.t
        if t.encoder == "montecito":
            yield (
                "libpfm_montecito(3) describes thresholds, opcode matchers, address ranges, EARs"
                " and the trace buffer."
            )
        elif t.encoder in ALPHA:
            yield (
                "libpfm_alpha(3) describes rates, modes and profiling, and pfm_device(3) describes"
                " the counter device."
            )
        if t.flags & pt.TABLE_FALLBACK:
            yield "The table is the generic fallback for processors without a table of their own."
        if t.flags & pt.TABLE_UNCORE:
            yield "The PMU counts for a package, not for a task."

    def hosts(self):
        """The machines the table is for."""
        lines = []
        for m in self.t.matches:
            parts = [m.vendor or m.arch]
            if m.family != pt.ANY32:
                parts.append("family %d" % m.family)
            if (m.model_lo, m.model_hi) != (0, pt.ANY32):
                parts.append("model %d" %
                             m.model_lo if m.model_lo == m.model_hi else "models %d to %d" %
                             (m.model_lo, m.model_hi))
            if m.stepping_mask:
                parts.append("stepping " + runs(m.stepping_mask))
            if m.mask:
                parts.append("%s %s" % ("HWRPB type" if m.arch == "alpha" else "id",
                                        hexadecimal(m.value) if m.value > 255 else m.value))
            if m.prefix:
                parts.append(m.prefix if m.exact else m.prefix + "...")
            lines.append(", ".join(str(p) for p in parts))
        if lines:
            self.put(".Ss Processors")
            self.say("The following machines have these events:")
            self.put(".Bl -bullet -compact")
            for line in dict.fromkeys(lines):
                self.put(".It")
                self.say(line)
            self.put(".El")

    def counters(self):
        t = self.t
        if not t.counters:
            return
        self.put(".Ss Counters")
        rows = [("Counter", "Width", "Control register", "Counter register")]
        for c in t.counters:
            if c.last > c.first and not c.control and not c.value:
                rows.append((runs(c.get_mask()), "%d bits" % c.width, "", ""))
                continue
            for n in range(c.first, c.last + 1):
                k = n - c.first
                rows.append(
                    (("F%d" if c.fixed else "%d") % n, "%d bits" % c.width,
                     hexadecimal(c.control + (0 if c.fixed else k * c.step)) if c.control else "",
                     hexadecimal(c.value + k * c.step) if c.value else ""))
        keep = [i for i in range(4) if any(r[i] for r in rows[1:])]
        self.column(["Counter", "Width bits", "Control register", "Counter register"][:len(keep)],
                    [[r[i] for i in keep] for r in rows])
        if any(c.fixed for c in t.counters):
            self.put(".Pp")
            self.say(
                "F0 and higher are fixed counters, which count one event each. In sets of counters,"
                " fixed counter n is bit 32 + n."
            )

    def features(self):
        caps = [(n, v) for n, v in self.t.features if n.startswith("PMC_CAP_")]
        rest = [(n, v) for n, v in self.t.features if not n.startswith("PMC_CAP_")
                and not self.is_erratum(n) and not n.startswith("libpfm_")]
        if not caps and not rest:
            return
        self.put(".Ss Features")
        if caps:
            self.column(["PMC_CAP_INTERRUPT", "Support"],
                        [("Capability", "Support")] + [(n, "Yes" if v else "No")
                                                       for n, v in sorted(caps)])
        if rest:
            self.column(
                ["global_ovf_ctrl", "Value"], [("Feature", "Value")] +
                [(n,
                  hexadecimal(v) if re.search("ctrl|status|_max$", n) and isinstance(v, int) else v)
                 for n, v in rest])

    @staticmethod
    def is_erratum(name):
        return re.fullmatch(r"[A-Z]{2,4}[0-9]+", name) is not None

    def groups(self):
        t = self.t
        used = {g for r in t.rows for g in r.groups}
        modifiers = [f for f in t.fields if f.modifier]
        if not used and not modifiers and t.encoder != "x86":
            return
        self.put(".Ss Event Qualifiers")
        if t.encoder == "x86" or modifiers:
            self.say("Every event accepts these qualifiers:")
            self.put(".Bl -tag -width indent")
            for name, text in self.common(modifiers):
                self.put(".It Li " + word(name))
                self.say(text)
            self.put(".El")
        for i, g in enumerate(t.groups):
            if i in used:
                self.group(g, [r.name for r in t.rows if i in r.groups])

    def common(self, modifiers):
        meaning = {
            "cmask": (
                "Count the cycles in which the event occurs at least this many times. 0 counts"
                " occurrences. After a colon also c."
            ),
            "inv": (
                "With cmask: count the cycles in which the event occurs fewer times. After a colon"
                " also i."
            ),
            "edge": "Count how often the condition becomes true. After a colon also e.",
            "any": "Count for every thread of the core. After a colon also t.",
            "in_tx": "Count only inside transactions. After a colon also intx.",
            "in_tx_cp": "Exclude the counts of aborted transactions. After a colon also intxcp.",
            "thres": "Threshold: count the cycles in which the event occurs more often.",
            "period": "Number of events between two interrupts.",
            "long": "Use a counter of 64 bits.",
            "rdpmc": "Let user code read the counter.",
        }
        if self.t.encoder == "x86":
            yield "os", "Count at privilege level 0. After a colon, the name is k."
            yield "usr", ("Count at privilege levels 1, 2 and 3. After a colon, the name is u. "
                          "Without os and usr, the event counts at all levels.")
        for f in modifiers:
            text = meaning.get(f.name, "Set the field of this name.")
            yield (f.name if f.width == 1 else f.name + "=value"), text + (
                "" if f.width == 1 else " The maximum is %s." % hexadecimal(f.max))

    def group(self, g, rows):
        values = {}
        for w in g.words:
            values.setdefault(w.value, []).append(w)
        union = g.flags & pt.GROUP_COMBINABLE
        field = self.t.fields[g.field]
        self.put(".Pp")
        self.say("Qualifier %s accepts %s:" %
                 (g.name, "any combination of these values" if union else "one of these values"))
        self.put(".Bl -tag -width indent")
        for words in values.values():
            self.put(".It Li %s Pq %s %s" % (" , ".join(word(w.name) for w in words), field.name,
                                             hexadecimal(words[0].value)))
            self.say(next((w.desc for w in words if w.desc), "") or "No description.")
        self.put(".El")
        self.put(".Pp")
        if g.flags & pt.GROUP_REQUIRED:
            self.say("The text must name a value.")
        elif g.flags & pt.GROUP_HAS_DEFAULT:
            chosen = [
                ws[0].name for v, ws in values.items()
                if (v and v & ~g.preset == 0 and bin(v).count("1") == 1 if union else v == g.preset)
            ]
            self.say("The default is %s." % (listing(chosen) if chosen else hexadecimal(g.preset)))
        else:
            self.say("Without a value, the bits of the qualifier are 0.")
        if g.flags & pt.GROUP_EXPLICIT_IN_LIBPFM:
            self.say(
                "Versions of libpfm have different defaults: a text with values after colons and"
                " without a prefix must name a value."
            )
        if len(rows) <= 12:
            self.say("The following events accept it: %s." % listing(rows))

    # ---- events ----------------------------------------------------------------------------------

    def code(self, row):
        """Register contents of @row, in the words of the processor's manual."""
        t = self.t
        if t.encoder == "x86":
            umask = self.value(row, "umask") or 0
            takes = any(self.t.fields[t.groups[g].field].name == "umask" for g in row.groups)
            yield "Event %02XH" % self.value(row, "code")
            if umask or not takes:
                yield "Umask %02XH" % umask + (" and qualifiers" if takes else "")
            for name in ("cmask", "edge", "inv", "any"):
                if self.value(row, name):
                    yield "%s %s" % (name, hexadecimal(self.value(
                        row, name))) if name == "cmask" else name
        elif t.encoder == "montecito":
            yield "code %#x" % self.value(row, "code")
            if self.value(row, "umask"):
                yield "umask %#x" % self.value(row, "umask")
            if self.value(row, "max") > 1:
                yield "up to %d per cycle" % self.value(row, "max")
        elif t.encoder in ALPHA:
            kind = (self.words(self.field("kind")[1], self.value(row, "kind"))
                    or [""])[0] if "kind" in t.field_at else ""
            if kind == "pair":
                yield "mode %d" % self.value(row, "sel", 0)
            for c in range(64) if kind not in ("pair", "profileme", "ratio", "mode") else ():
                if row.counters >> c & 1:
                    sel, cbox = self.value(row, "sel", c), self.value(row, "cbox", c)
                    text = "counter %d: select %s" % (c, hexadecimal(sel))
                    yield text + (", cache box %d" % cbox if sel == 15 and cbox is not None else "")
            stat = self.value(row, "stat")
            if stat:
                yield "statistic %d" % stat
        else:
            config = self.value(row, "config")
            code = self.value(row, "code")
            if config is not None and code is None:
                yield "config %#x" % config
            elif code is not None:
                yield "event %#x" % code

    def traits(self, row):
        """Remaining fields that a row sets."""
        covered_fields = {
            "code", "umask", "cmask", "edge", "inv", "any", "max", "sel", "cbox", "stat", "config",
            "arch_bit", "flags", "msr", "alt", "precise"
        } | set(TEXTS_APART)
        given = {k for k, _, _ in row.values}
        for i, f in enumerate(self.t.fields):
            if f.name in covered_fields or i not in given:
                continue
            value = self.value(row, f.name)
            if f.kind == pt.TRAIT:
                names = [WORDS.get(w, w) for w in self.words(f, value)]
                if f.name == "accepts":
                    yield "supports " + listing(names)
                else:
                    yield from (n for n in names if n)
            elif f.kind == pt.CHOICE:
                name = (self.words(f, value) or ["?"])[0]
                if f.name == "set" and name != "none":
                    yield "set " + name.replace(":", " ")
                elif f.name == "pctr_mode":
                    yield "any counting mode" if name == "any" else "counting " + name.replace(
                        "mode", "mode ")
                elif name not in ("none", "one"):
                    text = WORDS.get(name, name)
                    if text:
                        yield text
            elif f.kind == pt.NUMBER and value:
                label = {
                    "ear_umask": "EAR umask %s", "ear_latency": "at least %s cycles",
                    "linux": "Linux raw %s", "etb": "trace buffer"
                }.get(f.name,
                      f.name.replace("%", "") + " %s")
                yield label % hexadecimal(value) if "%" in label else label
        for bit, text in FLAGS.items():
            if row.flags & bit:
                yield text

    def event(self, row):
        t = self.t
        takes = ["[,%s=%s]" % (t.groups[g].name, "value") for g in row.groups]
        self.put(".It Li " + " ".join([word(row.name)] + [word(x) for x in takes]))
        facts = list(self.code(row)) + list(self.traits(row))
        text = ("(%s) " % ", ".join(facts) if facts else "") + row.desc
        self.say(text)
        detail = self.text(row, "detail")
        if detail and detail != row.desc:
            self.say(detail)
        if row.counters != t.get_all_counters(
        ) and row.counters and t.encoder not in ALPHA and row.counters != self.usual:
            names = counter_names(row.counters)
            self.say("Only counter %s counts it." %
                     names[0] if len(names) == 1 else "Only counters %s count it." %
                     runs(row.counters))
        aliases = [a for a in row.aliases if a not in self.text(row, "const").split()]
        if aliases:
            self.say("Aliases: %s." % listing(aliases))
        if self.text(row, "const"):
            names = self.text(row, "const").split()
            self.say("Header constant%s: %s." % ("s" if len(names) > 1 else "", listing(names)))
        if self.text(row, "formula"):
            self.say("Formula: %s." % self.text(row, "formula").rstrip("."))
        if self.text(row, "note"):
            self.say(self.text(row, "note").rstrip(".") + ".")
        if self.text(row, "replaced"):
            self.say("Use %s instead." % self.text(row, "replaced"))
        unit = self.text(row, "unit")
        if unit:
            scale = self.text(row, "scale")
            self.say("The count multiplied by %s is in %s." %
                     (scale, unit) if scale else "The count is in %s." % unit)
        errata = [
            e for name in ("errata", "errata_class")
            for e in re.split(r"[ ,]+", self.text(row, name)) if e
        ]
        if errata:
            self.say("Errata: %s." % listing(dict.fromkeys(errata)))

    def events(self):
        t = self.t
        masks = [r.counters for r in t.rows]
        self.usual = max(set(masks), key=masks.count) if masks else 0
        if 2 * masks.count(self.usual) <= len(masks):
            self.usual = t.get_all_counters()
        self.put(".Ss Events")
        self.say("The library ignores case, blanks, hyphens and underscores in event names.")
        if self.usual != t.get_all_counters() and t.encoder not in ALPHA and self.usual:
            self.say("Unless stated otherwise, counters %s count the events." % runs(self.usual))
        listed = [r for r in t.rows if not r.flags & pt.ROW_HIDDEN]
        hidden = [r for r in t.rows if r.flags & pt.ROW_HIDDEN]
        self.put(".Bl -tag -width indent")
        for row in listed:
            self.event(row)
        self.put(".El")
        if hidden:
            self.put(".Ss Further Events")
            self.say("These are other forms of the events above. Listings omit them.")
            self.put(".Bl -tag -width indent")
            for row in hidden:
                self.event(row)
            self.put(".El")

    def aliases(self):
        t = self.t
        if not t.synonyms and not t.unsupported:
            return
        self.put(".Ss Event Name Aliases")
        self.say("An alias means a whole text and accepts no qualifiers.")
        self.column(["branch-mispredicts", "Unhalted_Core_Cycles"],
                    [("Alias", "Event")] + [(n, t.rows[i].name) for n, i in t.synonyms] +
                    [(n, "(unsupported)") for n, _ in t.unsupported])
        for n, why in t.unsupported:
            self.put(".Pp")
            self.say("The library refuses %s: %s." % (n, why.rstrip(".")))

    def constraints(self):
        t = self.t
        bound = {}
        for r in t.rows:
            if r.counters and r.counters not in (t.get_all_counters(), self.usual):
                bound.setdefault(r.counters, []).append(r.name)
        sets = {}
        at, f = self.field("set")
        if f is not None:
            for r in t.rows:
                name = (self.words(f, self.value(r, "set")) or ["none"])[0]
                if name != "none":
                    sets.setdefault(name, []).append(r.name)
        if not bound and not sets:
            return
        self.put(".Sh CONSTRAINTS")
        if bound and t.encoder not in ALPHA:
            self.say("Only some counters count the following events:")
            self.put(".Bl -tag -width indent")
            for bits, rows in sorted(bound.items()):
                self.put(".It Counter" + ("s " if len(counter_names(bits)) > 1 else " ") +
                         runs(bits))
                self.say(", ".join(rows))
            self.put(".El")
        elif bound:
            self.say(
                "The entry of an event names its counters. If there are several, the library"
                " selects one so that the set fits."
            )
        if sets:
            self.put(".Pp")
            self.say(
                "Events of the L1D group must belong to one set, and one of them must use PMC5."
                " Events of the L2D group may belong to two sets: one uses PMC4, 5 and 8, and the"
                " other PMC6, 7 and 9."
            )
            self.put(".Bl -tag -width indent")
            for name, rows in sorted(sets.items()):
                self.put(".It Set " + name.replace(":", " "))
                self.say(", ".join(rows))
            self.put(".El")

    def errata(self):
        known = [(n, v) for n, v in self.t.features if self.is_erratum(n)]
        if not known:
            return
        self.put(".Sh ERRATA")
        self.say("The following errata affect counts on these processors.")
        self.put(".Bl -tag -width AE100")
        for name, text in known:
            rows = [
                r.name for r in self.t.rows
                if name in re.split(r"[ ,]+",
                                    self.text(r, "errata") + " " + self.text(r, "errata_class"))
            ]
            self.put(".It Li " + name)
            self.say(str(text))
            if rows and len(rows) <= 16:
                self.say("Events: %s." % listing(rows))
            elif rows:
                self.say("%d events refer to it." % len(rows))
        self.put(".El")

    def example(self):
        t = self.t
        row = next((r for r in t.rows if r.groups and not r.flags & pt.ROW_HIDDEN), t.rows[0])
        self.put(".Sh EXAMPLES")
        self.say(
            "Describe an event, print its registers, and count it on a machine with this processor:"
        )
        self.put(".Bd -literal -offset indent")
        for command in ("show", "encode", "stat -e"):
            end = " -- true" if command == "stat -e" else ""
            self.put("$ pfm %s '%s::%s'%s" % (command, t.name, row.name, end))
        self.put(".Ed")

    def see_also(self):
        own = {
            "montecito": "libpfm_montecito 3", "ev4": "libpfm_alpha 3", "ev5": "libpfm_alpha 3",
            "ev6": "libpfm_alpha 3", "ev67": "libpfm_alpha 3"
        }.get(self.t.encoder, "")
        if self.t.name == "coreduo":
            own = "libpfm_coreduo 3"
        refs = (
            ["pfm 1"]
            + ([own] if own else [])
            + (["pfm_device 3"] if self.t.encoder in ALPHA else [])
            + ["pfm_encode_event 3", "perfmon_events 5", "perfmon 7"]
        )
        self.put(".Sh SEE ALSO")
        self.put(*[".Xr " + r + (" ," if i < len(refs) - 1 else "") for i, r in enumerate(refs)])

    def write(self):
        self.head()
        self.hosts()
        self.counters()
        self.features()
        self.groups()
        self.events()
        self.aliases()
        self.example()
        self.see_also()
        # Custom sections may be anywhere in a page; they follow the events.
        at = self.out.index(".Sh EXAMPLES")
        tail, self.out = self.out[at:], self.out[:at]
        self.constraints()
        self.errata()
        self.out += tail
        return "\n".join(references(self.out)) + "\n"


def references(lines):
    """name(3) inside a sentence becomes a cross-reference."""
    for line in lines:
        while not line.startswith("."):
            m = re.search(r"(\S+?)\((\d)\)([,.;:]*)", line)
            if not m or not re.fullmatch(r"(?:lib)?pfm_\w+", m[1]):
                break
            if line[:m.start()].strip():
                yield line[:m.start()].rstrip()
            yield ".Xr %s %s%s" % (m[1], m[2], " " + " ".join(m[3]) if m[3] else "")
            line = line[m.end():].lstrip()
        if line:
            yield line


def main():
    parser = argparse.ArgumentParser(
        description="write the manual page of a processor from its event table")
    parser.add_argument("--out")
    parser.add_argument("table")
    a = parser.parse_args()
    tables, _, errors = compile_all([a.table])
    if errors:
        for where, text in errors:
            print("%s:%d:%d: error: %s" % (where + (text,)), file=sys.stderr)
        return 1
    text = Page(tables[0], os.path.splitext(os.path.basename(a.table))[0]).write()
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
