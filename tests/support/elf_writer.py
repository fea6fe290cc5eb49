# SPDX-License-Identifier: MIT
"""ELF files of 64 bits that a test composes of sections and segments, in any combination: sections
that share bytes, headers that repeat, sizes that are wrong. (System V ABI, chapters 4 and 5.)"""

import struct

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, DYNSYM = 1, 2, 3, 4, 7, 11
PT_LOAD, PT_NOTE = 1, 4
STT_FUNC = 2
TEXT = 0x1000  # offset in the file and address of the code


class Section:
    """A section: its contents, or those of another section."""

    def __init__(self, name, kind, data, **more):
        self.name, self.kind, self.data = name, kind, data
        self.address = more.get("address", 0)
        self.link = more.get("link", 0)
        self.entry = more.get("entry", 0)
        self.flags = more.get("flags", 0)
        self.size = more.get("size", len(data))
        self.shares = more.get("shares")
        self.offset = more.get("offset")


class Elf:
    """A file under construction. The code of @code_size bytes is at 0x1000, of the file and of
    memory."""

    def __init__(self, code=bytes(0x1000), machine=62):
        self.machine = machine
        self.sections = [Section("", 0, b"")]
        self.segments = [(PT_LOAD, 5, TEXT, TEXT, len(code))]
        self.add(".text", PROGBITS, code, address=TEXT, flags=6, offset=TEXT)

    def add(self, name, kind, data=b"", **more):
        """Adds a section; returns its index."""
        self.sections.append(Section(name, kind, data, **more))
        return len(self.sections) - 1

    def add_segment(self, kind, offset, size, address=0):
        self.segments.append((kind, 4, offset, address, size))

    def add_symbols(self, functions, kind=SYMTAB):
        """A table of functions: (name, value, size). Returns the index of the table."""
        names, table = b"\0", bytes(24)
        for name, value, size in functions:
            table += struct.pack("<IBBHQQ", len(names), 1 << 4 | STT_FUNC, 0, 1, value, size)
            names += name + b"\0"
        prefix = ".dyn" if kind == DYNSYM else "."
        strings = self.add(prefix + "str" + ("tab" if kind == SYMTAB else ""), STRTAB, names)
        return self.add(prefix + "sym" + ("tab" if kind == SYMTAB else ""), kind, table,
                        link=strings, entry=24)

    def add_note(self, build_id):
        """A segment with a build id; returns its place."""
        note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU") + build_id
        return self.add(".note.gnu.build-id", NOTE, note)

    def build(self):
        """The bytes of the file."""
        names = b"\0"
        name_at = []
        self.add(".shstrtab", STRTAB)
        for section in self.sections:
            name_at.append(len(names) if section.name else 0)
            names += section.name.encode() + b"\0" if section.name else b""
        self.sections[-1].data, self.sections[-1].size = names, len(names)
        body = bytearray(64 + 56 * len(self.segments))
        for section in self.sections:
            if section.shares is not None:
                continue
            if section.offset is None:
                section.offset = len(body) + -len(body) % 8
            # a gap, unless the place was taken already
            body += bytes(max(0, section.offset - len(body)))
            body += section.data
        body += bytes(-len(body) % 8)
        table_at = len(body)
        for at, section in zip(name_at, self.sections):
            offset = self.sections[section.shares].offset if section.shares is not None else \
                section.offset
            body += struct.pack("<IIQQQQIIQQ", at, section.kind, section.flags, section.address,
                                offset if section.kind else 0, section.size, section.link, 0, 1,
                                section.entry)
        body[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, self.machine, 1, 0, 64, table_at, 0, 64, 56,
            min(len(self.segments), 0xffff), 64, len(self.sections), len(self.sections) - 1)
        at = 64
        for kind, flags, offset, address, size in self.segments:
            if isinstance(offset, Section):
                offset, size = offset.offset, offset.size
            struct.pack_into("<IIQQQQQQ", body, at, kind, flags, offset, address, address, size,
                             size, 4)
            at += 56
        return bytes(body)
