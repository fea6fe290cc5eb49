#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of the npm package, which compress better than an image:

    pack.py IMAGE OUTPUT

The words after the strings are stored as four rows of bytes, first all lowest bytes. Prints the
offset of these words. perfmon.js joins the bytes.
"""
import struct
import sys

# lib/table/image.h: ARRAY_POOL, and the place of its offset and size in the head.
ARRAY_POOL = 4
ARRAYS_AT = 64


def pack(image):
    """Returns (offset of the words, packed image)."""
    at, size = struct.unpack_from("<II", image, ARRAYS_AT + 8 * ARRAY_POOL)
    start = (at + size + 7) // 8 * 8
    return start, image[:start] + b"".join(image[start + i::4] for i in range(4))


def main(image_path, output):
    with open(image_path, "rb") as f:
        start, packed = pack(f.read())
    with open(output, "wb") as f:
        f.write(packed)
    print(start)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pack.py IMAGE OUTPUT")
    main(*sys.argv[1:])
