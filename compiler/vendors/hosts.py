# SPDX-License-Identifier: MIT
"""Hosts of tables: the lines of mapfile.csv as matches.

Intel's mapfile names files and has plain CPU models in it. Linux's names folders and has patterns;
they are turned into numbers where an architecture has them, and into what identities start with
elsewhere. Patterns from outside are kept short and simple: none may take for ever."""

import os
import re
import warnings
from collections import namedtuple

from language import tables as pt
from vendors.drafts import Sheet, format_counters, quote_text
from vendors.heads import is_small, make_table_title
from vendors.untrusted import RefusedValue, read_source

try:
    import re._parser as parser
except ImportError:
    import sre_parse as parser

MAX_BEGINNINGS = 256        # largest number of texts for one pattern
CORE_TYPE_CORE, CORE_TYPE_ATOM = 0x40, 0x20


def read_mapfile_lines(reading):
    """All lines but the first one, which has the column names."""
    if not reading.model.mapfile:
        return []
    shown, source = reading.model.mapfile
    try:
        return read_source(source).decode("utf-8", "replace").splitlines()[1:]
    except (OSError, ValueError) as why:
        reading.file = shown
        reading.report_refusal("-", "-", str(why))
        return []


def add_match(sheet, what):
    """Adds a host to a sheet. @what has the arguments of pt.Match."""
    words = ["match"]
    for key in ("arch", "vendor", "prefix", "exact"):
        if what.get(key):
            words.append("%s=%s" % (key, quote_text(what[key])))
    if what.get("family", pt.ANY32) != pt.ANY32:
        words.append("family=%d" % what["family"])
    if "model_lo" in what and (what["model_lo"], what["model_hi"]) != (0, pt.ANY32):
        low, high = what["model_lo"], what["model_hi"]
        words.append("model=0x%x" % low if low == high else "model=0x%x..0x%x" % (low, high))
    if what.get("stepping_mask"):
        words.append("stepping=" + format_counters(what["stepping_mask"]))
    if "value" in what:
        words.append("id=0x%x/0x%x" % (what["value"], what["mask"]))
    if what.get("core_type") is not None:
        words.append("core_type=0x%x" % what["core_type"])
    if what.get("native_model", pt.ANY32) != pt.ANY32:
        words.append("native_model=0x%x" % what["native_model"])
    if what.get("nearest"):
        words.append("nearest")
    sheet.matches.append(" ".join(words))


# ---- Intel's folders -----------------------------------------------------------------------------

# A CPU and a file with its events. core_type, native (CPUID values in hexadecimal) and core_name
# (Intel's name) distinguish the cores of a hybrid.
Host = namedtuple("Host", "cpu file kind core_type native core_name")


def select_intel_hosts(reading):
    """The lines of the mapfile with files of this folder."""
    hosts = []
    folder = reading.model.folder.lower() + "/"
    for line in read_mapfile_lines(reading):
        cells = [c.strip() for c in line.split(",")]
        if len(cells) < 4 or not cells[2].lstrip("/").lower().startswith(folder):
            continue
        cells += [""] * (7 - len(cells))
        hosts.append(Host(cells[0], cells[2].rsplit("/", 1)[-1], *cells[3:7]))
    return hosts


def list_hosts_without_mapfile(reading):
    """Hosts of a folder according to the heads."""
    processor = reading.model.find_processor()
    hosts = []
    for _, inner, _ in reading.model.files if processor else ():
        file = os.path.basename(inner)
        core = find_core_in_name(reading, file)
        for what in processor.host_matches():
            if core:
                hosts.append(Host(what, file, "hybridcore", "0x20" if is_small(core) else "0x40",
                                  "", ""))
            else:
                hosts.append(Host(what, file, "core" if "_core" in file else "uncore", "", "", ""))
    return hosts


def find_core_in_name(reading, file):
    """Returns the core of a hybrid processor in a file name, or ''."""
    return next((core for core in reading.cores if core and "_%s_core" % core in file), "")


def add_intel_matches(reading, hosts):
    """Adds matches to all tables of a folder: to cores those of their lines, to boxes every CPU of
    the folder."""
    hosts = hosts or list_hosts_without_mapfile(reading)
    everywhere, alone = {}, []
    for h in hosts:
        what = h.cpu if type(h.cpu) is dict else parse_intel_cpu(h.cpu)
        if what is None:
            reading.file = reading.model.mapfile[
                0] if reading.model.mapfile else reading.model.folder
            reading.report_refusal(h.cpu[:60], "Family-model", "not understood")
            continue
        everywhere.setdefault(tuple(sorted(what.items())), what)
        core = find_core_in_name(reading, h.file.lower())
        name = reading.cores.get(core)
        if name is None or h.kind not in ("core", "hybridcore"):
            continue
        if h.kind == "hybridcore":
            add_hybrid_match(reading, name, h, what)
        elif core:
            alone.append((name, what))
        else:
            add_match(reading.builders[name], what)
    for name, what in alone:
        add_match(make_table_of_core_sold_alone(reading, name), what)
    for sheet in reading.builders.values():
        if sheet.uncore:
            for what in everywhere.values():
                add_match(sheet, what)


def parse_intel_cpu(text):
    """Converts 'GenuineIntel-6-55-[01234]' to the arguments of a match; None for other texts."""
    m = re.fullmatch(r"(?:GenuineIntel-)?([0-9]{1,3})-([0-9A-F]{1,3})(?:-\[?([0-9A-F]+)\]?)?", text)
    if not m:
        return None
    steppings = 0
    for c in m[3] or "":
        steppings |= 1 << int(c, 16)
    return {"arch": "x86", "vendor": "GenuineIntel", "family": int(m[1]), "model_lo": int(m[2], 16),
            "model_hi": int(m[2], 16), "stepping_mask": steppings}


def add_hybrid_match(reading, name, h, what):
    """Adds the host @h to the table of its core type."""
    try:
        core_type = int(h.core_type, 16) if h.core_type else None
        native = int(h.native, 16) if h.native else pt.ANY32
    except ValueError:
        reading.report_refusal(h.cpu[:60], "Core Type", "not a number")
        return
    if core_type is not None and core_type > 255 or native > pt.ANY32:
        reading.report_refusal(h.cpu[:60], "Core Type", "does not fit")
        return
    add_match(reading.builders[name], dict(what, core_type=core_type, native_model=native))


def make_table_of_core_sold_alone(reading, name):
    """Makes the table of a hybrid's core that is also sold alone: the same rows for a machine with
    one core PMU."""
    own = reading.model.name + "_n"

    def make_sheet():
        """Makes a sheet that shares the rows of another one."""
        old = reading.builders[name]
        sheet = Sheet(own, make_table_title(own, old.desc), old.uses)
        sheet.same_as = old
        sheet.source = old.source
        sheet.device, sheet.perf_type = "cpu", 4
        processor = reading.model.find_processor()
        sheet.aliases = [processor.linux[0] + "n"] if processor else []
        return sheet
    return reading.get_sheet(own, make_sheet)


# ---- Linux's lists -------------------------------------------------------------------------------

def add_linux_matches(reading):
    """Adds matches to all tables of a Linux list from the lines of the mapfile with its folder."""
    rows = [r for r in map(parse_linux_line, read_mapfile_lines(reading)) if r]
    if reading.model.mapfile:
        reading.file = reading.model.mapfile[0]
    arch = reading.model.arch
    # the head has the hosts
    known = list(
        reading.processor.host_matches()) if reading.processor and not reading.intel else []
    matches = list(known)
    for i, (pattern, folder) in enumerate(rows):
        if folder != reading.model.inner or known:
            continue
        try:
            matches += MATCHERS.get(arch, match_text)([p for p, _ in rows[:i + 1]], arch)
        except (re.error, ValueError) as why:
            reading.report_refusal(pattern[:60], "CPUID", "not understood: %s" % why)
    kinds = {"cpu_core": {"core_type": CORE_TYPE_CORE}, "cpu_atom": {"core_type": CORE_TYPE_ATOM},
             "cpu_lowpower": {"core_type": CORE_TYPE_ATOM}}
    for sheet in reading.builders.values():
        for what in matches:
            add_match(sheet, dict(what, **kinds.get(sheet.device, {})))


def parse_linux_line(line):
    """Parses a line of the mapfile to (pattern, folder); None for other lines. A comma inside
    brackets or braces is part of the pattern."""
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    cells, depth, start = [], 0, 0
    for i, c in enumerate(line):
        if c in "[{(":
            depth += 1
        elif c in "]})":
            depth = max(0, depth - 1)
        elif c == "," and not depth:
            cells.append(line[start:i].strip())
            start = i + 1
    cells.append(line[start:].strip())
    return (cells[0], cells[2].strip("/")) if len(cells) >= 3 else None


# Each function gets the patterns of the mapfile up to the current one and returns arguments of
# matches.

def match_text(patterns, arch):
    """Matches hosts by the beginning of their identities. Patterns of s390 have any character in
    place of the separator."""
    texts, is_open = expand_to_prefixes(patterns[-1], "," if arch == "s390" else None)
    return [{"prefix" if is_open else "exact": text, "arch": arch[:11]} for text in texts]


def expand_to_prefixes(pattern, any_character=None):
    """Returns the prefixes of the texts that a pattern matches, and whether more may follow. A
    prefix ends at an unbounded repetition; the rest of the pattern is ignored."""
    if not is_bounded(pattern):
        raise ValueError("a pattern that could take for ever")
    compile_pattern(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts, is_open = expand_pattern(parser.parse(convert_posix_to_python(pattern)),
                                        any_character)
    if "" in texts:
        raise ValueError("a pattern that could mean anything")
    return texts, is_open


def expand_to_identifiers(pattern):
    """Returns the kernel's identifiers that a pattern matches, separated by blanks, with * after
    open-ended ones."""
    try:
        texts, is_open = expand_to_prefixes(pattern)
    except (ValueError, re.error) as why:
        raise RefusedValue("Compat", str(why)) from None
    return " ".join(t + "*" * is_open for t in texts)


def expand_pattern(items, any_character):
    """Returns expand_to_prefixes() of a parsed pattern."""
    texts, is_open = [""], False
    for op, what in items:
        op, more = str(op), None
        if op == "AT":
            continue
        if op == "LITERAL":
            more = [chr(what)]
        elif op == "ANY" and any_character:
            more = [any_character]
        elif op == "IN" and all(str(kind) in ("LITERAL", "RANGE") for kind, _ in what):
            more = [chr(c) for kind, v in what
                    for c in ([v] if str(kind) == "LITERAL" else range(v[0], v[1] + 1))]
        elif op == "SUBPATTERN":
            more, is_open = expand_pattern(what[3], any_character)
        elif op == "BRANCH":
            branches = [expand_pattern(sheet, any_character) for sheet in what[1]]
            more, is_open = [t for sheet, _ in branches for t in sheet], any(o for _, o in branches)
        elif op == "MAX_REPEAT":
            low, high, inner = what
            one, is_open = expand_pattern(inner, any_character)
            more = [""]
            for _ in range(low if low <= 32 and not is_open else 1 if low else 0):
                more = [m + o for m in more for o in one][:MAX_BEGINNINGS + 1]
            is_open |= high != low
            if is_open and any(str(k) in ("ANY", "IN") for k, _ in inner):
                more = [""]      # "any digits": how many does not matter
        texts = [t + m for t in texts for m in more or [""]]
        if len(texts) > MAX_BEGINNINGS:
            raise ValueError("a pattern with too many meanings")
        if is_open or more is None:
            return texts, True
    return texts, is_open


def is_bounded(pattern):
    """True for a short pattern that repeats nothing with a repetition or a choice in it."""
    return len(pattern) <= 200 and not re.search(r"\)[*+{?]|[*+}][*+{]|\\[0-9]", pattern) and \
        len(re.findall(r"[*+{]", pattern)) <= 8


def convert_posix_to_python(pattern):
    """Converts an extended regular expression to Python's syntax."""
    return pattern.replace("[:xdigit:]", "0-9a-fA-F")


def compile_pattern(pattern):
    """Compiles a POSIX pattern, as lists have them for processors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)      # "[[" may be a set within a set one day
        return re.compile(convert_posix_to_python(pattern))


def match_x86(patterns, arch):
    """Matches all models and steppings of the pattern that no earlier pattern matched."""
    head = re.match(r"([A-Za-z]+)-([0-9]+)-", patterns[-1])
    if not head:
        raise ValueError("no vendor and family")
    same = [p for p in patterns if p.startswith(head[0]) and is_bounded(p)]
    if not same or same[-1] != patterns[-1]:
        raise ValueError("a pattern that could take for ever")
    # Three dashes outside brackets: the pattern includes the stepping.
    tests = [(compile_pattern(p),
              re.sub(r"\[[^]]*\]", "", convert_posix_to_python(p)).count("-") >= 3) for p in same]
    out = []
    for model in range(256):
        *earlier, mask = [
            find_matching_steppings("%s%X" % (head[0], model), *test) for test in tests
        ]
        for taken in earlier:
            mask &= ~taken
        if not mask:
            continue
        mask = 0 if mask == 0xFFFF else mask
        if out and out[-1]["model_hi"] == model - 1 and out[-1]["stepping_mask"] == mask:
            out[-1]["model_hi"] = model
        else:
            out.append({"arch": "x86", "vendor": head[1], "family": int(head[2]), "model_lo": model,
                        "model_hi": model, "stepping_mask": mask})
    return out


def find_matching_steppings(cpu, test, with_stepping):
    """Returns the steppings of a CPU that a pattern matches."""
    if with_stepping:
        return sum(1 << s for s in range(16) if test.fullmatch("%s-%X" % (cpu, s)))
    return 0xFFFF if test.fullmatch(cpu) else 0


def match_arm64(patterns, arch):
    """Matches equal implementer, architecture and part, and at least the given variant and
    revision."""
    midr = int(patterns[-1], 16)
    if midr > pt.ALL64:
        raise ValueError("not a MIDR")
    fixed, low = midr & 0xFF0FFFF0, midr & 15
    variant = midr >> 20 & 15
    if not variant and not low:
        return [{"arch": "arm64", "value": fixed, "mask": 0xFF0FFFF0}]
    out = [{"arch": "arm64", "value": fixed | variant << 20 | r, "mask": 0xFFFFFFFF}
           for r in range(low, 16)]
    return out + [{"arch": "arm64", "value": fixed | v << 20, "mask": 0xFFFFFFF0}
                  for v in range(variant + 1, 16)]


def match_powerpc(patterns, arch):
    """Matches the upper half of the PVR in a pattern such as '0x004[bcd][[:xdigit:]]{4}', with or
    without 0x."""
    m = re.fullmatch(r"(?:0x)?((?:[0-9a-fA-F]|\[[0-9a-fA-F]+\]){4})\[\[:xdigit:\]\]\{4\}",
                     patterns[-1])
    if not m:
        return match_text(patterns, arch)
    uppers = [0]
    for part in re.findall(r"\[([0-9a-fA-F]+)\]|([0-9a-fA-F])", m[1]):
        uppers = [u << 4 | int(draft, 16) for u in uppers for draft in part[0] or part[1]]
    return [{"arch": "powerpc", "value": u << 16, "mask": 0xFFFF0000} for u in uppers]


MATCHERS = {"x86": match_x86, "arm64": match_arm64, "powerpc": match_powerpc}
