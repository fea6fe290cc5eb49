# SPDX-License-Identifier: MIT
"""Debugging information that a test composes of entries: deep, shared and cyclic trees, which
changes of bytes do not make of a compiler's. (DWARF 4, chapter 7; one unit, 32-bit offsets.)"""

import random
import struct

# tags, attributes, forms
COMPILE_UNIT, SUBPROGRAM, INLINED, BLOCK, NAMESPACE, BASE_TYPE = 0x11, 0x2e, 0x1d, 0x0b, 0x39, 0x24
SIBLING, NAME, STMT_LIST, LOW_PC, HIGH_PC, COMP_DIR, ORIGIN, RANGES, LINKAGE_NAME = (
    0x01, 0x03, 0x10, 0x11, 0x12, 0x1b, 0x31, 0x55, 0x6e)
FORMS = {
    "address": (0x01, "<Q"), "number": (0x07, "<Q"), "reference": (0x13, "<I"),
    "section": (0x17, "<I"), "text": (0x08, None)
}


class Entry:
    """An entry; @attributes: number -> (form, value), of which a reference names an entry."""

    def __init__(self, tag, attributes=None, children=()):
        self.tag = tag
        self.attributes = dict(attributes or {})
        self.children = list(children)
        self.offset = 0

    def walk(self):
        """All entries below, in the order of the file, with None for the end of children."""
        stack = [self]
        while stack:
            entry = stack.pop()
            yield entry
            if entry is not None and entry.children:
                stack.append(None)
                stack.extend(reversed(entry.children))


def uleb(n):
    """An unsigned number of variable length."""
    out = bytearray()
    while True:
        out.append(n & 0x7f | (0x80 if n > 0x7f else 0))
        n >>= 7
        if not n:
            return bytes(out)


def inlined(name, begin, end, children=(), **more):
    """A function that is inlined at [begin, end)."""
    return Entry(INLINED, {
        NAME: ("text", name), LOW_PC: ("address", begin), HIGH_PC: ("number", end - begin), **more
    }, children)


def unit(children, begin=0x1000, size=0x1000, **more):
    """A unit that has all of the code."""
    return Entry(COMPILE_UNIT, {
        NAME: ("text", "made.c"), LOW_PC: ("address", begin), HIGH_PC: ("number", size), **more
    }, children)


class Dwarf:
    """The sections of a unit, with lists of ranges that entries share."""

    def __init__(self, root):
        self.root, self.ranges, self.line = root, b"", b""

    def add_ranges(self, ranges):
        """Adds a list; returns its offset, a value of the attribute RANGES."""
        at = len(self.ranges)
        self.ranges += b"".join(struct.pack("<QQ", *r) for r in ranges) + bytes(16)
        return at

    def sections(self):
        """The contents of each section, by name."""
        codes, abbreviations = {}, b""
        entries = list(self.root.walk())
        at = 11
        for entry in entries:
            if entry is None:
                at += 1
                continue
            entry.offset = at
            shape = (entry.tag, bool(entry.children),
                     tuple((key, form) for key, (form, _) in entry.attributes.items()))
            if shape not in codes:
                codes[shape] = len(codes) + 1
                abbreviations += uleb(codes[shape]) + uleb(entry.tag) + bytes([shape[1]])
                abbreviations += b"".join(uleb(key) + uleb(FORMS[form][0])
                                          for key, form in shape[2]) + b"\0\0"
            entry.code = uleb(codes[shape])
            at += len(entry.code) + sum(
                len(value.encode()) + 1 if form == "text" else struct.calcsize(FORMS[form][1])
                for form, value in entry.attributes.values())
        info = b"".join(self.encode(entry) for entry in entries)
        head = struct.pack("<IHIB", 7 + len(info), 4, 0, 8)
        return {
            ".debug_info": head + info, ".debug_abbrev": abbreviations + b"\0",
            ".debug_ranges": self.ranges, ".debug_line": self.line
        }

    @staticmethod
    def encode(entry):
        if entry is None:
            return b"\0"
        out = [entry.code]
        for form, value in entry.attributes.values():
            if form == "text":
                out.append(value.encode() + b"\0")
            else:
                number = value.offset if isinstance(value, Entry) else value
                out.append(struct.pack(FORMS[form][1], number))
        return b"".join(out)

    def add_to(self, elf):
        """Adds the sections to a file."""
        for name, data in self.sections().items():
            if data:
                elf.add(name, 1, data)
        return elf


def random_tree(seed, n):
    """A unit of about @n entries with the shapes that walks fear: depth, lists of ranges that many
    share, and attributes that lead back."""
    r = random.Random(seed)
    root = unit([])
    made = Dwarf(root)
    lists = [
        made.add_ranges(
            [sorted(r.sample(range(0x1000, 0x2000), 2)) for _ in range(r.randrange(40))])
        for _ in range(4)
    ]
    entries = [root]
    for i in range(n):
        parent = entries[-1 if r.random() < 0.6 else r.randrange(len(entries))]
        kind = r.choice((INLINED, INLINED, BLOCK, NAMESPACE, SUBPROGRAM, BASE_TYPE))
        entry = Entry(kind, {NAME: ("text", "f%d" % i * r.choice((1, 1, 300)))})
        if r.random() < 0.5:
            entry.attributes[RANGES] = ("section", r.choice(lists))
        elif r.random() < 0.8:
            begin, end = sorted(r.sample(range(0x1000, 0x2000), 2))
            entry.attributes.update({
                LOW_PC: ("address", begin), HIGH_PC: ("number", end - begin)
            })
        parent.children.append(entry)
        entries.append(entry)
    for entry in entries:
        if r.random() < 0.2:
            target = entry.children[0] if entry.children and r.random() < 0.5 else r.choice(entries)
            entry.attributes[SIBLING] = ("reference", target)
        if r.random() < 0.1:
            entry.attributes[ORIGIN] = ("reference", r.choice(entries))
    return made
