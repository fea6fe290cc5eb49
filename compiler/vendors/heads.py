# SPDX-License-Identifier: MIT
"""Facts about processors beside their lists: the sections of lib/events/heads.

    list NAME... [linux=NAME,...] [libpfm=NAME,...] [alias=NAME,...]    folders of lists this
    section
                                                        is for, and other names of its PMU
    core big|small|NAME use=SECTION,...                 sections of its cores; NAME in hybrids
    boxes FAMILY                                        prefix of its boxes' sections
    unit UNIT [device=NAME] [use=SECTION,...] [core=1]  the kernel's name of a unit, and its head
    topdown SECTION                                     rows for PERF_METRICS
    title NAME "WORDS"                                  title of a processor, core or box
    match ...                                           its hosts, for lists that do not say
    mend EVENT KEY=VALUE... "REASON"                    values that an event's row lacks in the list
"""

import functools
import re

from language import tables as pt
from language.table_compiler import Compiler, Library, FilePart
from language.statements import Token, split_statements

LIBRARY = Library()         # cache of this process
_processors, _skeletons = {}, {}


class Processor:
    """A section with `list`, or the section of an architecture."""

    def __init__(self, part):
        """Reads the statements about a processor."""
        self.section = part.name
        self.names, self.linux, self.libpfm, self.alias = [], [], [], []
        self.cores = {}         # name, '' for the only one -> (small, sections)
        self.units = {}         # kernel's or list's name of a unit -> {key: value}
        self.boxes = self.topdown = ""
        self.titles = {}        # name of a table, core or unit -> words for people
        self.matches = []       # statements
        self.mends = []         # (event, [(key, value)], reason)
        for words in part.statements:
            if type(words) is not list:
                continue
            method = getattr(self, "on_" + words[0].raw, None)
            if method:
                method([w.get_text() for w in words[1:]])
            if words[0].raw == "match":
                self.matches.append(words)

    def on_list(self, words):
        """Keeps the names of its lists, and names in other projects."""
        for w in words:
            key, equals, value = w.partition("=")
            if equals:
                setattr(self, key, value.split(","))
            else:
                self.names.append(key)

    def on_core(self, words):
        """Keeps a kind of core: big or small, and the sections for its table."""
        kind, pairs = words[0], dict(w.split("=", 1) for w in words[1:])
        sections = [s for s in pairs.get("use", "").split(",") if s not in ("", "none")]
        if kind in ("big", "small"):
            self.cores[""] = kind == "small", sections
        else:
            self.cores[kind] = is_small(kind), sections
        self.libpfm += [pairs["libpfm"]] if "libpfm" in pairs else []

    def on_mend(self, words):
        """Keeps a correction of an event of the list."""
        name, *values, reason = words
        pairs = [v.split("=", 1) for v in values]
        self.mends.append((name, [(key, int(value, 0)) for key, value in pairs], reason))

    def on_boxes(self, words):
        """Keeps the section of its boxes."""
        self.boxes = words[0]

    def on_topdown(self, words):
        """Keeps the section with its rows for PERF_METRICS."""
        self.topdown = words[0]

    def on_title(self, words):
        """Keeps the title of a table."""
        self.titles[words[0]] = words[1]

    def on_unit(self, words):
        """Keeps the keys of a unit."""
        self.units[words[0]] = dict(w.split("=", 1) for w in words[1:])

    def host_matches(self):
        """The arguments of its matches."""
        if self.matches and type(self.matches[0]) is list:
            c = Compiler(LIBRARY)
            c.table, c.origins, c.origin = pt.Table("", ""), {}, None
            for words in self.matches:
                c.do_match(words)
            self.matches = [match_arguments(m) for m in c.table.matches]
        return self.matches

    def short_name(self):
        """Returns the first name as part of a table's name."""
        return self.names[0].replace("-", "_")

    def is_hybrid(self):
        """True if it has several kinds of cores."""
        return "" not in self.cores and bool(self.cores)

    def find_core_named(self, small):
        """The first of a hybrid's cores of that kind."""
        return next((c for c in self.cores if c and self.cores[c][0] == small), "")


def match_arguments(m):
    """Converts a match to arguments of pmmatch.add_match()."""
    what = {k: getattr(m, k) for k in pt.Match.__slots__ if m.mask or k not in ("value", "mask")}
    if what.pop("exact"):
        what["exact"] = what.pop("prefix")
    return what


def find_section(name):
    """Returns a section as a Processor, or None."""
    if name not in _processors:
        part = LIBRARY.read_sections().get(name)
        _processors[name] = Processor(part) if part else None
    return _processors[name]


_by_list = {}


def index_by_folder():
    """Returns {folder in lower case: Processor}."""
    if not _by_list:
        for name, part in LIBRARY.read_sections().items():
            if any(type(s) is list and s[0].raw == "list" for s in part.statements):
                p = find_section(name)
                for n in p.names + p.linux:
                    _by_list[n.lower()] = p
    return _by_list


def find_processor(folder):
    """Returns the Processor of a folder of Intel, Linux or Arm; None for a new one."""
    return index_by_folder().get(folder.lower())


@functools.lru_cache(None)
def get_section_order():
    """Returns {section of a head: its position among all sections}."""
    return {name: i for i, name in enumerate(LIBRARY.read_sections())}


def find_rank(folder):
    """Position of a folder's processor in its head, next to similar ones; new ones are last."""
    known = find_processor(folder)
    return get_section_order()[known.section] if known else len(get_section_order())


def find_architecture(arch):
    """Returns the section of an architecture."""
    return find_section("arch." + arch) or find_section("arch.any")


def is_small(core):
    """True for the small cores of hybrid processors."""
    p = find_section("intel.core." + core)
    return p is not None and "" in p.cores and p.cores[""][0]


def is_big(core):
    """True if the core @core of Intel's lists is a big one."""
    p = find_section("intel.core." + core)
    return p is not None and "" in p.cores and not p.cores[""][0]


def get_core_libpfm_name(core):
    """libpfm's short name of a hybrid's core, or ''."""
    p = find_section("intel.core." + core)
    return p.libpfm[0] if p and p.libpfm else ""


def make_table_title(name, given, core="", unit=""):
    """Title of a table: the title of its processor in the heads, else @given by the list; followed
    by its core or unit."""
    words = find_section("titles").titles.get(name, given or name)
    if core:
        known = find_section("titles.cores").titles.get(core)
        words += ", %s" % known if known else ""
    if unit:
        known = find_section("titles.boxes").titles.get(unit.lower())
        words += ", %s: %s" % (unit, known) if known else ", " + unit
    return words


@functools.lru_cache(None)
def find_unit_device(unit):
    """The kernel's name of the box that a list calls @unit."""
    known = {k.lower(): v for k, v in find_section("units").units.items()}
    u = unit.lower()
    if u in known:
        return known[u]["device"]
    if u.startswith(("hisi_", "imx", "ali_", "arm_", "cpu_")):
        # 'hisi_sccl,ddrc' is a pattern for hisi_sccl1_ddrc0 and similar names
        return u.replace(",", "_").replace(" ", "_")
    u = re.sub(r"cbo$", "cbox", u)
    u = re.sub(r"^sbo$", "sbox", u)
    return "uncore_" + u.replace(" ", "_")


def find_box_section(family, box):
    """The section of an Intel box."""
    if re.search(r"free_running(_\d+)?$", box):
        return "intel.free_running"
    known = LIBRARY.read_sections()
    return next(s for s in ("intel." + box, "%s.%s" % (family, box), family + ".box", "intel.box")
                if s in known and not s.startswith(("intel.core.",)) and not is_processor(s))


def is_processor(name):
    """True if the section @name is one of a processor."""
    p = find_section(name)
    return bool(p.names)


def build_skeleton(uses):
    """Builds a head from those sections: (table, extra registers and their fields)."""
    key = tuple(uses)
    if key not in _skeletons:
        text = "pmu head \"A head.\"\n" + "".join("use %s\n" % u for u in uses)
        part = FilePart("head", "head", False)
        part.statements = list(split_statements(text, "head", []))
        LIBRARY.files.setdefault("head", [])
        c = Compiler(LIBRARY)
        c.compile_head(part)
        if c.errors:
            raise ValueError("%s: %s" % (" ".join(uses), c.errors[0][1]))
        _skeletons[key] = c.table, c.registers
    return _skeletons[key]


def sort_sections(uses):
    """Sorts sections by their position in the file. Tables of Intel's cores depend on that
    order."""
    order = list(LIBRARY.read_sections())
    return sorted(dict.fromkeys(uses), key=order.index)


def parse_bits(text):
    """Parses 'config1:0-7,9' to ranges."""
    return Compiler.parse_bit_ranges(Token(text, "", 0, 0))


def list_row_names(name):
    """Names and aliases of the rows of a section."""
    part = LIBRARY.read_sections()[name]
    out = []
    for s in part.statements:
        if type(s) is not list:
            words, _ = s.find_words()
            out.append(words[1])
            out += [a for w in words if w.startswith("alias=") for a in w[6:].split(",")]
        elif s[0].raw == "use":
            out += list_row_names(s[1].raw)
    return out
