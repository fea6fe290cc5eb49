#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes programs for fuzz_program.c to start from, into the folder that is named: sections that
share bytes, links to debug files, and debugging information of random trees."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import dwarf_writer as dwarf  # noqa: E402
import elf_writer as elf  # noqa: E402


def make_program(seed):
    file = elf.Elf(code=bytes.fromhex("ff25000000006800000000e900000000") * 16)
    file.add_symbols([(b"work", 0x1000, 256), (b"_RNvC1a1b", 0x1010, 16)])
    table = file.add_symbols([(b"called", 0x1000, 16)], elf.DYNSYM)
    rela = file.add(".rela.plt", elf.RELA, struct.pack("<QQq", 0x1006, 1 << 32 | 7, 0), link=table)
    file.add(".plt", elf.PROGBITS, address=0x1000, size=256, shares=1)
    file.add(".rela.more", elf.RELA, link=table, size=24, shares=rela)
    file.add(".gnu_debuglink", elf.PROGBITS, b"x.debug\0" + bytes(4))
    file.add_segment(elf.PT_NOTE, file.sections[file.add_note(b"0123456789abcdef")], 0)
    return dwarf.random_tree(seed, 12).add_to(file).build()


for number in range(8):
    with open(os.path.join(sys.argv[1], "program%d" % number), "wb") as f:
        f.write(make_program(number))
