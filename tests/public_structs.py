# SPDX-License-Identifier: MIT
"""The structs of the public headers, read from their text.

A struct is growable if its first member is `size_t size`: later versions append members. A struct
whose last member is a growable struct grows with it. A struct whose comment says "Frozen:" keeps
its size, so it may stand anywhere in another struct."""

import re

STRUCT = re.compile(r"^(?:typedef\s+)?struct(?:\s+(?P<tag>\w+))?\s*\{(?P<body>[^{}]*)\}"
                    r"\s*(?P<name>\w*)\s*;", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
MARKER = "Frozen:"


class Member:
    """A member of a struct: its type, name, and whether it is a pointer or an array."""

    def __init__(self, text):
        words = re.match(r"(?:const\s+)?(?:struct\s+|enum\s+|unsigned\s+)?(\w+)", text)
        self.type = words[1] if words else ""
        self.is_pointer = "*" in text
        self.is_array = "[" in text
        names = re.findall(r"\w+", re.sub(r"\[.*?\]", "", text))
        self.name = names[-1] if names else ""


class Struct:
    """A struct of a header. @end is the offset of its closing brace in the text."""

    def __init__(self, text, match):
        self.name = match["name"] or match["tag"]
        self.end = match.end("body")
        before = text[:match.start()].rstrip()
        comment = before[before.rfind("/*"):] if before.endswith("*/") else ""
        self.is_marked_frozen = MARKER in comment
        body = COMMENT.sub("", match["body"])
        self.members = [Member(m.strip()) for m in body.split(";") if m.strip()]
        self.has_size = bool(re.match(r"\s*size_t\s+size\s*;", body))


def read_structs(text):
    """The structs that the text of a header defines, in its order."""
    return [Struct(text, m) for m in STRUCT.finditer(text)]


def find_growable(structs):
    """The names of the structs that later versions can enlarge."""
    growable = {s.name for s in structs if s.has_size and not s.is_marked_frozen}
    growing = True
    while growing:
        holders = {s.name for s in structs if s.members and not s.is_marked_frozen
                   and not s.members[-1].is_pointer and s.members[-1].type in growable}
        growing = not holders <= growable
        growable |= holders
    return growable


def find_faults(structs):
    """A sentence for each member that would move, or be moved, when an embedded struct grows."""
    growable, faults = find_growable(structs), []
    frozen = {s.name for s in structs if s.is_marked_frozen}
    for struct in structs:
        for member in struct.members:
            if member.is_pointer or member.type not in {s.name for s in structs} - frozen:
                continue
            place = f"{struct.name}.{member.name}: {member.type}"
            if member.type not in growable:
                faults.append(f"{place} has no size and is not marked '{MARKER}'")
            elif member.is_array:
                faults.append(place + " can grow, so an array of it has no fixed stride")
            elif member is not struct.members[-1]:
                faults.append(place + " can grow, so it must be the last member")
            elif struct.is_marked_frozen:
                faults.append(f"{place} can grow, so {struct.name} is not frozen")
    return faults


def append_member(text, name):
    """The text of a header in which each growable struct has one member more at its end."""
    for struct in reversed(read_structs(text)):
        if struct.has_size and not struct.is_marked_frozen:
            text = text[:struct.end] + f"\tuint64_t {name};\n" + text[struct.end:]
    return text
