# SPDX-License-Identifier: MIT
"""Writes two programs that have nothing but segments and symbols, elf32 and elf64, and a recording
of samples in both."""
import os
import struct
import sys

from recording import comm, mapped, sample, write

LOADED, NOTE, SYMBOLS, STRINGS, DATA, FUNCTION, IFUNC = 1, 4, 2, 3, 1, 2, 10
# offset, address, size
SEGMENTS = ((NOTE, 0, 0x10000, 0x1000), (LOADED, 0, 0x10000, 0x1000), (LOADED, 0x1000, 0x22000,
                                                                       0x1000))
FUNCTIONS = (("first", 0x10100, 0x10, FUNCTION, 1), ("endless", 0x10120, 0, FUNCTION, 1),
             ("small", 0x22000, 8, FUNCTION, 1), ("large", 0x22000, 0x20, FUNCTION, 1),
             ("chosen", 0x22040, 0x10, IFUNC, 1), ("data", 0x22060, 0x10, DATA, 1),
             ("undefined", 0x22080, 0x10, FUNCTION, 0), ("last", 0x220a0, 0x10, FUNCTION, 1))
PLACES = (0xff, 0x100, 0x10f, 0x110, 0x120, 0x200, 0x1000, 0x101f, 0x1020, 0x1045, 0x1065, 0x1085,
          0x10af, 0x10b0, 0x2000)


def elf(bits):
    wide = bits == 64
    header = "=16sHHIQQQIHHHHHH" if wide else "=16sHHIIIIIHHHHHH"
    strings, symbols = b"\0", b""
    for text, start, size, kind, section in FUNCTIONS:
        name = len(strings)
        strings += text.encode() + b"\0"
        symbols += (struct.pack("=IBBHQQ", name, kind, 0, section, start, size) if wide else
                    struct.pack("=IIIBBH", name, start, size, kind, 0, section))
    segments = b"".join(
        struct.pack("=IIQQQQQQ", kind, 5, at, address, address, size, size, 1) if wide else struct.
        pack("=IIIIIIII", kind, at, address, address, size, size, 5, 1)
        for kind, at, address, size in SEGMENTS)
    at = struct.calcsize(header) + len(segments)
    sections = b"".join(struct.pack("=IIQQQQIIQQ" if wide else "=IIIIIIIIII", 0, *s) for s in (
        (0, 0, 0, 0, 0, 0, 0, 0, 0), (SYMBOLS, 0, 0, at, len(symbols), 2, 0, 8, 0),
        (STRINGS, 0, 0, at + len(symbols), len(strings), 0, 0, 1, 0)))
    ident = b"\x7fELF" + bytes((2 if wide else 1, 1 if sys.byteorder == "little" else 2, 1))
    return struct.pack(header, ident, 2, 0, 1, 0,
                       struct.calcsize(header), at + len(symbols) + len(strings), 0, 0, 0,
                       len(SEGMENTS), 0, 3, 2) + segments + symbols + strings + sections


records = [comm(1, 1, "program")]
for base, bits in ((0x500000, 64), (0x600000, 32)):
    with open("elf%d" % bits, "wb") as f:
        f.write(elf(bits))
    records.append(mapped(1, base, 0x3000, 0, os.path.join(os.getcwd(), "elf%d" % bits)))
    records += [sample(1, 1, 1, base + at, at) for at in PLACES]
write(records)
