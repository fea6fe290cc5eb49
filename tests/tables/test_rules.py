#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sets of events beside brute force, under the rules that the tables declare. This file has
its own reader of declarations and its own meaning of each effect; it shares no code with the
compiler or the library."""

import ctypes
import glob
import itertools
import os
import random
import re
import unittest

from tap import main

SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
EVENTS = os.path.join(SOURCE, "lib", "events")
# table: number of random sets in the long run; the short one has a quarter
FAMILIES = {
    "amdzen1": 400, "amdzen3": 400, "amdzen5": 400, "amd64_fam15h_interlagos": 1500, "spr": 1500,
    "emr": 500, "gnr": 500, "icx": 800, "skl": 800, "hsw": 500, "bdx": 500, "snb": 500,
    "adl_goldencove": 800, "adl_gracemont": 500, "lnl_lioncove": 800, "lnl_skymont": 500,
    "srf": 800, "glm": 800, "glp": 500, "slm": 500, "knl": 500, "core2": 300,
    "jkt_uncore_cbox": 1500, "ivt_uncore_cbox": 1000, "hsx_uncore_cbox": 1500,
    "bdx_uncore_cbox": 500, "skx_uncore_cha": 1500, "icx_uncore_cha": 500,
    "jkt_uncore_pcu": 1000, "hsx_uncore_pcu": 500, "jkt_uncore_qpi": 500, "hsx_uncore_r3qpi": 300,
    "nvl_coyotecove": 300,
}
MOST_EVENTS = 6
GENERAL = (1 << 32) - 1
GENERAL_ONLY = 0x13ff840000    # bits of PERFEVTSEL that fixed counters lack
STATES = ("precise", "levels", "htoff", "sampled", "counted")
EFFECTS = ("on", "place", "refuse", "pair", "share", "limit", "needs", "class", "note", "follow")


# ---- declarations --------------------------------------------------------------------------------

def split_words(line):
    """Words of a statement; texts keep their quotes."""
    return re.findall(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+', line)


def read_blocks(path):
    """Yields the statements of each section and table of a file: (kind, name, [words])."""
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    block = None
    for line in text.splitlines():
        words = split_words(line) if line and line[0] != "#" else []
        if words and words[0] in ("pmu", "section"):
            if block:
                yield block
            block = (words[0], words[1], [])
        elif words and block:
            block[2].append(words)
    if block:
        yield block


def read_all():
    sections, tables, of_file = {}, {}, {}
    for path in glob.glob(os.path.join(EVENTS, "heads", "*.pmu")):
        sections.update({name: body for kind, name, body in read_blocks(path)})
    for path in glob.glob(os.path.join(EVENTS, "*", "*.pmu")):
        if os.path.basename(os.path.dirname(path)) in ("heads", "libpfm4"):
            continue
        for kind, name, body in read_blocks(path):
            own = of_file.setdefault(os.path.basename(path), {})
            own[name] = body
            if kind == "pmu":
                tables[name] = (body, own)
    return sections, tables, of_file


def flatten(body, own, world):
    """The statements of a body with those of the parts that it uses."""
    sections, _, of_file = world
    for words in body:
        if words[0] != "use":
            yield words
        elif words[1].endswith(".pmu"):
            other = of_file[words[1]]
            if len(words) > 2:
                yield from flatten(other[words[2]], other, world)
        else:
            used = own.get(words[1]) or sections[words[1]]
            yield from flatten(used, own, world)


def parse_counters(text):
    mask = 0
    for part in [] if text in ("", "none") else text.split(","):
        m = re.fullmatch(r"(F?)(\d+)(?:\.\.F?(\d+))?", part)
        for n in range(int(m[2]), int(m[3] or m[2]) + 1):
            mask |= 1 << n + (32 if m[1] else 0)
    return mask


class Table:
    def __init__(self, name, world):
        self.name = name
        self.fields, self.rules, self.rows, self.groups = {}, {}, {}, {}
        self.counters, self.defaults, self.encoder = 0, {}, ""
        body, own = world[1][name]
        for words in flatten(body, own, world):
            handler = getattr(self, "read_" + words[0], None)
            if handler:
                handler(words[1:])

    def read_encoder(self, words):
        self.encoder = words[0]

    def read_field(self, words):
        at = next((w[3:] for w in words if w.startswith("at=")), None)
        self.fields[words[0]] = parse_bits(at) if at else []

    def read_nofield(self, words):
        self.fields.pop(words[0], None)

    def read_counter(self, words):
        self.counters |= parse_counters(words[0])

    def read_group(self, words):
        default = [w[8:] for w in words if w.startswith("default=")]
        field = [w[6:] for w in words if w.startswith("field=")]
        names = {}
        for w in words[2:]:
            spelt, _, value = w.partition("=")
            if spelt not in ("default", "field", "mask", "explicit"):
                value = int(value.split(":")[0], 0)
                names.update({s: value for s in spelt.split("/") if not s.startswith("BITS_")})
        self.groups[words[0]] = (field[0] if field else "umask", names,
                                 default[0] if default else None)

    def read_default(self, words):
        self.defaults.update(w.split("=", 1) for w in words)

    def read_rule(self, words):
        self.rules[words[0]] = Rule(words)

    def read_norule(self, words):
        del self.rules[words[0]]

    def read_drop(self, words):
        self.rows.pop(words[0], None)

    def read_event(self, words):
        values = dict(w.split("=", 1) for w in words[1:] if not w.startswith('"') and "=" in w)
        self.rows[words[0]] = values


def parse_bits(text):
    """Bits of a field, the lowest first: [(word, bit)]."""
    out, word = [], 0
    for part in text.split(","):
        if ":" in part:
            name, part = part.split(":")
            word = int(name[6:] or 0)
        low, _, high = part.partition("-")
        out += [(word, n) for n in range(int(low), int(high or low) + 1)]
    return out


class Rule:
    def __init__(self, words):
        self.name, self.conditions, self.per = words[0], [], []
        self.effect = self.value = self.other = self.place = None
        for w in words[1:]:
            key, _, value = w.partition("=")
            if w.startswith('"'):
                continue
            if key in EFFECTS:
                self.effect, self.value = key, value
            elif key == "else":
                self.other = value
            elif key == "per":
                self.per = value.split(",")
            elif key in ("first", "before"):
                self.place = key
            else:
                self.conditions.append((key, value))


# ---- events --------------------------------------------------------------------------------------

class Event:
    """A text with the configuration words and the counters that the declarations give it."""

    def __init__(self, table, name, rng):
        self.table, row = table, table.rows[name]
        self.text, self.bits, self.precise = "%s::%s" % (table.name, name), {}, 0
        self.alone = "alone" in row.get("flags", "")
        self.levels = 9
        for key, value in row.items():
            if table.fields.get(key):
                self.set_field(key, int(value, 0))
        for g in row.get("umasks", "").split(","):
            self.choose_umask(table.groups.get(g), rng)
        self.counters = parse_counters(row.get("on") or table.defaults.get("on", "")) \
            or table.counters
        self.registers, self.value = list_registers(row)
        self.must = row.get("precise") == "must"
        self.precision = row.get("precise")
        self.add_modifiers(rng)

    def choose_umask(self, group, rng):
        if not group:
            return
        field, names, default = group
        value = names.get(default, 0) if default not in (None, "!") else 0
        if default == "!" or rng.random() < 0.6:
            picked = rng.choice(sorted(names))
            self.text += ":" + picked
            value = names[picked]
        self.set_field(field, value)

    def set_field(self, name, value):
        for i, at in enumerate(self.table.fields[name]):
            if value >> i & 1:
                self.bits[at] = 1

    def get_field(self, name):
        return sum(self.bits.get(at, 0) << i for i, at in enumerate(self.table.fields[name]))

    def add_modifiers(self, rng):
        is_core = self.table.encoder == "x86"
        if is_core and self.precision in ("may", "must") and rng.random() < 0.5:
            self.precise = rng.choice((1, 3))
            self.text += ":" + "p" * self.precise
        elif is_core and "in_tx_cp" in self.table.fields and rng.random() < 0.15:
            self.set_field("in_tx_cp", 1)
            self.text += ":in_tx_cp=1"
        for name in self.table.fields:
            low = name.startswith(("filter_band", "filter_opc", "filter_nid", "filter_tid",
                                   "match0", "mask0", "filter_link"))
            if not is_core and (low or name == "tid_en") and rng.random() < 0.3 and \
                    not self.get_field(name):
                value = 1 if name == "tid_en" else rng.randint(0, 2)
                self.set_field(name, value)
                self.text += ":%s=%d" % (name, value)

    def holds(self, rule):
        return all(self.meets(key, value) for key, value in rule.conditions)

    def get_part(self, part):
        """The value of FIELD or FIELD/MASK, or the levels."""
        name, _, mask = part.partition("/")
        own = self.levels if name == "levels" else self.get_field(name)
        return own & int(mask, 0) if mask else own

    def meets(self, key, value):
        if key == "machine":
            return False    # facts of a machine are unknown to a plan
        if key == "levels":
            return {"user": self.levels == 8, "kernel": self.levels == 1,
                    "one": self.levels in (1, 8)}[value]
        state = {"precise": self.precise or int(self.must), "htoff": 0, "counted": 0,
                 "sampled": int(self.precise > 0)}
        own = state[key] if key in STATES else self.get_field(key)
        return any(is_within(own, part) for part in value.split(","))


def list_registers(row):
    """The extra registers that a row can use, its own first, and the value."""
    if "msr" not in row:
        return [], 0
    own, _, value = row["msr"].partition(":")
    others = [int(x.split(":")[2], 0) for x in row.get("alt", "").split(",") if x]
    return [int(own, 0), *others], int(value or "0", 0)


def is_within(own, part):
    part, _, mask = part.partition("/")
    low, _, high = part.partition("..")
    own &= int(mask, 0) if mask else -1
    return int(low, 0) <= own <= int(high or low, 0)


# ---- brute force ---------------------------------------------------------------------------------

class Refused(Exception):
    pass


class Model:
    """A set of events under the rules of its table."""

    def __init__(self, table, events):
        self.table, self.events = table, events
        self.masks = [e.counters for e in events]
        self.pairs, self.needed, self.parts = set(), set(), {}
        if table.encoder == "x86":
            for i, e in enumerate(events):
                word = sum(1 << n for (w, n), v in e.bits.items() if v and w == 0)
                self.masks[i] &= GENERAL if word & GENERAL_ONLY else -1
        for rule in table.rules.values():
            self.apply(rule, [i for i, e in enumerate(events) if e.holds(rule)])
        self.move()
        self.keep_alone()

    def apply(self, rule, held):
        if rule.effect in ("on", "place") and parse_counters(rule.value) & self.table.counters:
            for i in held:
                own = self.table.counters if rule.effect == "place" else self.masks[i]
                self.masks[i] = own & parse_counters(rule.value)
        elif rule.effect == "refuse" and held:
            raise Refused(rule.name)
        elif rule.effect == "pair":
            self.pairs |= set(held)
        elif rule.effect == "share" and not rule.other:
            for a, b in itertools.combinations(held, 2):
                if self.equal(rule.per, a, b) and not self.equal(rule.value.split(","), a, b):
                    raise Refused(rule.name)
        elif rule.effect == "limit" and len(held) > int(rule.value):
            raise Refused(rule.name)
        elif rule.effect == "needs" and held:
            self.check_needed(rule, held)

    def equal(self, fields, a, b):
        return all(self.events[a].get_part(f) == self.events[b].get_part(f) for f in fields)

    def check_needed(self, rule, held):
        other = self.table.rules[rule.value]
        found = [i for i, e in enumerate(self.events) if e.holds(other)]
        found = [i for i in found if (rule.place != "first" or i == 0) and
                 (rule.place != "before" or i < held[0])]
        if not found:
            raise Refused(rule.name)
        self.needed |= set(found)

    def move(self):
        """Events of a ring fit if it has no more values than parts."""
        ring = [r for r in self.table.rules.values() if r.other]
        values = {e.get_field(r.value) for e in self.events for r in ring if e.holds(r)}
        if ring and len(values) > len(ring):
            raise Refused("ring")

    def keep_alone(self):
        alone = [i for i, e in enumerate(self.events) if e.alone]
        for i in range(len(self.events)):
            if alone and i != alone[0] and i not in self.needed:
                self.masks[i] &= ~GENERAL

    def has_registers(self):
        """Is there an extra register for each event that needs one: free, or with its value?"""
        needy = [e for e in self.events if e.registers]
        for choice in itertools.product(*(e.registers for e in needy)):
            held = {}
            if all(held.setdefault(r, e.value) == e.value for r, e in zip(choice, needy)):
                return True
        return False

    def fits(self, i=0, used=0):
        """Is there a placement of events @i and later beside the @used counters?"""
        if i == len(self.events):
            return True
        for c in range(64):
            take = (3 if i in self.pairs else 1) << c
            if self.masks[i] >> c & 1 and not take & used and self.is_pair_place(i, c) and \
                    self.fits(i + 1, used | take):
                return True
        return False

    def is_pair_place(self, i, c):
        return i not in self.pairs or (c % 2 == 0 and self.table.counters >> c + 1 & 1)

    def accepts(self, counters):
        used = 0
        for i, c in enumerate(counters):
            take = (3 if i in self.pairs else 1) << c
            if c < 0 or not self.masks[i] >> c & 1 or take & used or not self.is_pair_place(i, c):
                return False
            used |= take
        return True


def expect(table, events):
    try:
        model = Model(table, events)
    except Refused:
        return None
    return model if model.has_registers() and model.fits() else None


# ---- the library ---------------------------------------------------------------------------------

class PfmSet(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("pmu", ctypes.c_int), ("n_events", ctypes.c_uint),
                ("n_pmcs", ctypes.c_uint), ("n_pmds", ctypes.c_uint),
                ("counter", ctypes.POINTER(ctypes.c_int))]


def open_library():
    lib = ctypes.CDLL(os.path.join(os.environ["PERFMON_BUILD"], "lib", "libperfmon.so"))
    lib.pfm_close_set.argtypes = [ctypes.c_void_p]
    return lib


def dispatch(lib, texts):
    """The counters of the events, or None if the set is refused."""
    out = ctypes.POINTER(PfmSet)()
    raw = (ctypes.c_char_p * len(texts))(*[t.encode() for t in texts])
    rc = lib.pfm_dispatch_set(ctypes.byref(out), None, raw, len(texts), None, None)
    if rc:
        return None
    counters = [out.contents.counter[i] for i in range(len(texts))]
    lib.pfm_close_set(ctypes.cast(out, ctypes.c_void_p))
    return counters


def is_simple(table, name):
    """Leaves out what this file does not model: registers whose value is made of unit masks,
    metrics, events that need no counter, other values for one counter."""
    row = table.rows[name]
    fields = {table.groups[g][0] for g in row.get("umasks", "").split(",") if g in table.groups}
    return not any("@" in key for key in row) and "offcore_rsp" not in fields and \
        "metric" not in row and "alias" not in row.get("flags", "") and \
        row.get("on") != "none" and ("msr" not in row or ":" in row["msr"]) and \
        "free_running" not in row.get("flags", "") and "hidden" not in row.get("flags", "") and \
        "params" not in row and not name.startswith("PERF_METRICS.")


def pick_names(table, rng):
    """Names of events, of which many are of rules."""
    names = sorted(n for n in table.rows if is_simple(table, n))
    ruled = [n for n in names if any(touches(table, n, r) for r in table.rules.values())]
    few = rng.sample(names, min(3, len(names)))
    return [rng.choice(ruled if ruled and rng.random() < 0.7 else few)
            for _ in range(rng.randint(1, MOST_EVENTS))]


def touches(table, name, rule):
    code = dict(rule.conditions).get("code")
    own = table.rows[name].get("code")
    return code and own and any(is_within(int(own, 0), part) for part in code.split(","))


class Rules(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.world, cls.lib = read_all(), open_library()

    def check_family(self, name, n_sets):
        rng, table = random.Random(name), Table(name, self.world)
        fitting, wrong = 0, []
        self.assertTrue(table.rules, name)
        for _ in range(n_sets):
            events = [Event(table, n, rng) for n in pick_names(table, rng)]
            counters = dispatch(self.lib, [e.text for e in events])
            model = expect(table, events)
            fitting += model is not None
            if (counters is None) != (model is None) or (model and not model.accepts(counters)):
                wrong.append(([e.text for e in events], counters, model and model.masks))
        self.assertEqual(wrong[:4], [], "%d of %d" % (len(wrong), n_sets))
        self.assertGreater(fitting, n_sets // 20)
        self.assertGreater(n_sets - fitting, n_sets // 50)

    def test_random_sets_are_placed_as_brute_force_does(self):
        for name, n_sets in FAMILIES.items():
            with self.subTest(name):
                self.check_family(name, n_sets if os.environ.get("PERFMON_LONG") else n_sets // 4)


if __name__ == "__main__":
    main()
