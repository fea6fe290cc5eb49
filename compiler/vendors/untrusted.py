# SPDX-License-Identifier: MIT
"""Reads foreign JSON files, and values of event keys.

Lists come from elsewhere and are not trusted. Sizes, types and widths are checked here, before
anything is made of them: a file that cannot be read raises ValueError with the reason, a row that
cannot be represented raises RefusedValue."""

import functools
import json
import os
import re
import sys

from language.tables import ALL64, ComputedDict

MAX_FILE = 64 << 20          # bytes of one list
MAX_TREE = 1 << 30           # bytes of all lists of one run
MAX_ROWS = 200000            # rows of one model
MAX_TEXT = 16384             # characters of one text
# characters of one expression: expanded nested metrics are long
MAX_FORMULA = 262144
MAX_NAME = 240
NOTHING = ("", "null", "na", "none", "tbd", "n/a")
LONGEST_NOTHING = 4


class RefusedValue(Exception):
    """A row that cannot be represented: the key and the reason."""

    def __init__(self, key, why):
        """Refuses the value of @key: @why."""
        super().__init__(key, why)
        self.key, self.why = key, why


# ---- files ---------------------------------------------------------------------------------------

def read_source(source):
    """Returns the bytes of a file of a model, from an archive or from its path."""
    if isinstance(source, bytes):
        return source
    size = os.path.getsize(source)
    if size > MAX_FILE:
        raise ValueError("larger than %d bytes" % MAX_FILE)
    with open(source, "rb") as f:
        return f.read(size + 1)   # not MAX_FILE, which would be allocated for every file


def parse_json(raw, note):
    """Parses JSON text of unknown origin. Raises ValueError with a reason; calls @note for harmless
    irregularities."""
    if len(raw) > MAX_FILE:
        raise ValueError("larger than %d bytes" % MAX_FILE)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        note("-", "-", "not UTF-8 at byte %d: read with replacement characters" % e.start)
        text = raw.decode("utf-8-sig", "replace")
    if "\\ud" in text or "\\uD" in text:
        text = replace_lone_surrogates(text, note)

    def make_object(items):
        """Makes a dictionary of the pairs; notes keys that occur twice."""
        d = dict(items)
        if len(d) != len(items):
            seen = set()
            twice = next(k for k, _ in items if k in seen or seen.add(k))
            note(str(d.get("EventName", d.get("MetricName", "-")))[:MAX_NAME], twice[:60],
                 "given twice in one object: the last one is taken")
        return d

    def parse_integer(digits):
        """Parses a number of at most 24 digits."""
        if len(digits) > 24:
            raise ValueError("a number of %d digits" % len(digits))
        return int(digits)
    try:
        return json.loads(text, object_pairs_hook=make_object, parse_int=parse_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as e:
        raise ValueError("not JSON: %s in line %d, column %d"
                         % (e.msg, e.lineno, e.colno)) from None


ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.S,
)


def replace_lone_surrogates(text, note):
    """Replaces unpaired surrogates in JSON text, which no encoding can represent."""
    halves = sum(1 for m in ESCAPE.finditer(text) if m[1])
    if halves:
        note("-", "-", "%d halves of characters: read with replacement characters" % halves)
        text = ESCAPE.sub(lambda m: "\\ufffd" if m[1] else m[0], text)
    return text


# ---- objects -------------------------------------------------------------------------------------

def convert_to_strings(e):
    """Returns @e with texts for values: Intel's values are all texts, Linux has some numbers."""
    try:
        size = len("".join(e.values()))
    except TypeError:
        e = {k: convert_to_text(k, v) for k, v in e.items()}
        size = sum(map(len, e.values()))
    if size > MAX_TEXT:
        longest = max(e, key=lambda k: len(e[k]))
        if len(e[longest]) > (MAX_FORMULA if longest == "MetricExpr" else MAX_TEXT):
            raise RefusedValue(longest[:60], "a text of more than %d characters" % MAX_TEXT)
    return e


def convert_to_text(key, value):
    """Returns a value of a list as text."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return str(int(value))
    if type(value) is int:
        return str(value)
    if value is None:
        return ""
    raise RefusedValue(key[:60], "a text or expected a number")


def name_of(e):
    """The event's name."""
    name = e.get("EventName", "").strip()
    if not name:
        raise RefusedValue("EventName", "missing")
    if len(name) > MAX_NAME:
        raise RefusedValue("EventName", "longer than %d characters" % MAX_NAME)
    if not name.isprintable():
        raise RefusedValue("EventName", "has characters that cannot be printed")
    # lists share most texts: return the same object, which caches find faster
    return sys.intern(name)


@functools.lru_cache(1 << 12)
def is_placeholder(text):
    """True for the texts in lists that mean "no value"."""
    return text.strip().lower() in NOTHING


@functools.lru_cache(1 << 16)
def clean_description(text):
    """Returns a description as one line, '' for placeholders."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        line = text         # most are one line already
    else:
        line = " ".join(text.split())
    if len(line) <= LONGEST_NOTHING and (line.lower() in NOTHING or line == "0"):
        return ""
    return text if line == text else line


# ---- values --------------------------------------------------------------------------------------

def parse_number_value(text):
    """Parses a number; blanks, placeholders and missing values are 0. Raises ValueError."""
    t = text.strip()
    if t.lower() in NOTHING:
        return 0
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,18}|[0-9]{1,20}", t):
        n = int(t, 16) if t[:2] in ("0x", "0X") else int(t)
        if n <= ALL64:
            return n
    raise ValueError("'%s' is not a number" % t[:40])


def parse_number_list(text):
    """Parses '0xB7,0xBB': one value for each encoding of an event."""
    return tuple(parse_number_value(t) for t in text.split(","))


def list_counters(text):
    """Returns (set of counters, number of the fixed counter or None)."""
    t = text.strip()
    m = re.fullmatch(r"[Ff]ixed(?: counter)? ?([0-9]{1,2})?", t, re.I)
    if m:
        n = int(m[1] or 0)
        if n > 31:
            raise ValueError("fixed counter %d does not exist" % n)
        return 1 << (32 + n), n
    total = 0
    if t.lower() in NOTHING:
        return 0, None
    for part in t.split(","):
        part = part.strip()
        if not part:
            continue                # some lists end in a comma
        if not re.fullmatch(r"[0-9]{1,2}", part) or int(part) > 63:
            raise ValueError("'%s' is not a set of counters" % t[:40])
        total |= 1 << int(part)
    high = total >> 32
    return total, high.bit_length() - 1 if high and not total & 0xFFFFFFFF else None


NUMBER = ComputedDict(parse_number_value)
NUMBERS = ComputedDict(parse_number_list)
COUNTERS = ComputedDict(list_counters)


def get_cached_value(cache, e, key):
    """Returns the cached meaning of a key, or raises RefusedValue with its name."""
    try:
        return cache[e.get(key, "")]
    except ValueError as why:
        raise RefusedValue(key, str(why)) from None
