# SPDX-License-Identifier: MIT
"""A reader of protocol buffers, which knows no schema."""

import struct

FIXED = {1: "<Q", 5: "<I"}    # wire types of 8 and of 4 bytes


def fields(data):
    """The fields of a protocol buffer message: (number, value or bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            digit = data[at]
            at += 1
            value |= (digit & 0x7f) << shift
            shift += 7
            if digit < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            size = varint()
            if at + size > len(data):
                raise ValueError("field %d ends behind its message" % (tag >> 3))
            yield tag >> 3, data[at:at + size]
            at += size
        elif tag & 7 in FIXED:
            number = struct.Struct(FIXED[tag & 7])
            yield tag >> 3, number.unpack_from(data, at)[0]
            at += number.size
        else:
            raise ValueError("wire type %d" % (tag & 7))


def packed(data):
    """The integers of a packed field."""
    values, value, shift = [], 0, 0
    for digit in data:
        value |= (digit & 0x7f) << shift
        shift += 7
        if digit < 0x80:
            values.append(value)
            value = shift = 0
    return values
