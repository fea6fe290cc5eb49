# SPDX-License-Identifier: MIT
"""Reads images and looks up names exactly as the C code does."""

import struct

from language.tables import (
    ANY_COUNTER, FOLD, NAME_EVENT, NAME_UNSUPPORTED, fold, read_keys, name_hash)
from image.layout import (
    DIRECTORY, FORMATS, HEAD_SIZE, IMAGE_FORMAT, IMAGE_MAGIC, IMAGE_SIZE, IMAGE_VERSION,
    LIMITS, N_DIRECTORY, ROW_SOURCES_SHIFT, SHARED, SIZES, SLICES, TABLE_MAGIC,
    VALUE_IS_WIDE, compute_checksum, find_first_slot, unpack_row)


class TableView:
    """One table of an image."""

    def __init__(self, raw, byteorder="little", at=None):
        """Reads the head of the table at @at of an image, by default the first one."""
        self.order = "<" if byteorder == "little" else ">"
        self.raw = raw
        head_at = IMAGE_SIZE if at is None else at
        head = struct.unpack_from(self.order + FORMATS["tables"], raw, head_at)
        if head[0] != TABLE_MAGIC:
            raise ValueError("not a table")
        self.size, self.get_all_counters = head[1:3]
        self.perf_type, self.libpfm_type, self.flags, self.encoder, self.n_general = head[12:17]
        self.count = dict(zip(("counters", "fields", "matches", "features", "rows", "names",
                               "slots", "code_index", "group_numbers"),
                              head[17:26]))
        self.count["pool"], self.n_alias_rows = head[11], head[43]
        self.at = {name: head_at + offset for name, offset in zip(SLICES + SHARED, head[26:43])}
        self.count["rules"], self.count["errata"] = head[47:49]
        self.at.update((name, head_at + offset) for name, offset in zip(LIMITS, head[49:53]))
        self.at["pool"] = head_at + head[10]
        self.field_of_key = self.read_element("keys", 0)
        self.name, self.desc, self.source, aliases, self.unit, self.device, self.family_name = (
            self.read_text(o) for o in head[3:10])
        self.aliases = aliases.split()

    def read_text(self, offset):
        """Reads a text of the pool."""
        if offset >= self.count["pool"]:
            raise ValueError("string outside the pool")
        at = self.at["pool"] + offset
        return self.raw[at:self.raw.index(b"\0", at)].decode("utf-8", "surrogateescape")

    def read_element(self, array_name, i):
        """Element of an array, counted from the start of the table's slice."""
        return struct.unpack_from(self.order + FORMATS[array_name], self.raw,
                                  self.at[array_name] + i * SIZES[array_name])

    def read_record(self, array_name, i):
        """Element @i of the table's own elements; rows and groups in the table's order."""
        array_name = "group_numbers" if array_name == "groups" else array_name
        if array_name in ("counter_masks", "named_values", "values", "wide_values",
                          "row_groups", "rule_tests", "erratum_rows"):
            return self.read_element(array_name, i)
        if not 0 <= i < self.count[array_name] + (self.n_alias_rows if array_name == "rows" else 0):
            raise IndexError("%s %d" % (array_name, i))
        if array_name == "rows":
            number = self.read_element("row_numbers", i)[0] & (1 << ROW_SOURCES_SHIFT) - 1
            return unpack_row(self.order, self.read_element("rows", number))
        if array_name == "group_numbers":
            return self.read_element("groups", self.read_element("group_numbers", i)[0])
        return self.read_element(array_name, i)

    def read_records(self, array_name):
        """Reads all elements of an array that the table has for itself."""
        return [self.read_record(array_name, i)
                for i in range(self.count["group_numbers" if array_name == "groups"
                                          else array_name])]

    def read_name(self, i):
        """Returns name number @i: (text offset, row or reason, kind)."""
        if i < self.count["rows"]:
            return self.read_record("rows", i)[0], i, NAME_EVENT
        text, target = self.read_record("names", i - self.count["rows"])
        return text, target & 0x3FFFFFFF, target >> 30

    def find_folded(self, folded):
        """Returns (text offset, row or reason, kind), or None."""
        h, n = name_hash(folded), self.count["slots"]
        at = find_first_slot(h, n)
        while True:
            slot = self.read_element("slots", at)[0]
            if slot <= (h & 0xFFFF) << 16:
                return None
            if slot >> 16 == h & 0xFFFF:
                entry = self.read_name((slot & 0xFFFF) - 1)
                start = self.at["pool"] + entry[0]
                if self.raw[start:self.raw.index(b"\0", start)].translate(FOLD, b" \t-_") == folded:
                    return entry
            at = at + 1 if at + 1 < n else 0

    def find_row(self, text):
        """Row number of a name, or None."""
        found = self.find_folded(fold(text))
        return found[1] if found and found[2] != NAME_UNSUPPORTED else None

    def find_field(self, key):
        """Index of the field of that name, or None: key fields by number as in C, others by
        name."""
        number = read_keys().get(key, (0, False))[0]
        if number:
            return self.field_of_key[number] - 1 if self.field_of_key[number] else None
        for i in range(self.count["fields"]):
            if self.read_text(self.read_record("fields", i)[0]) == key:
                return i
        return None

    def read_field_ranges(self, index):
        """Reads the bits of a field: (word, lowest bit, width), lowest bits of the value first."""
        f = self.read_record("fields", index)
        return [f[13 + 4 * i:16 + 4 * i] for i in range(f[4])]

    def unpack_value(self, packed):
        """Unpacks a value: (field, counter, value)."""
        field, value = packed >> 24, packed & VALUE_IS_WIDE - 1
        if not packed & VALUE_IS_WIDE:
            return field, ANY_COUNTER, value
        wide, counter, _ = self.read_element("wide_values", value)
        return field, counter, wide

    def read_row(self, i):
        """A row; its takes are numbers among the table's own groups."""
        name, desc, value, group, counters, flags, n_values, n_groups = self.read_record("rows", i)
        own = {self.read_element("group_numbers", k)[0]: k
               for k in range(self.count["group_numbers"])} if n_groups else {}
        return {"name": self.read_text(name), "desc": self.read_text(desc),
                "counters": self.read_element("counter_masks", counters)[0], "flags": flags,
                "values": [self.unpack_value(self.read_element("values", value + k)[0])
                           for k in range(n_values)],
                "groups": [own.get(self.read_element("row_groups", group + k)[0])
                           for k in range(n_groups)]}

    def read_value(self, i, key, counter=ANY_COUNTER):
        """Reads the value of field @key of row @i on a counter; the preset if the row has none."""
        f = self.find_field(key)
        if f is None:
            return 0
        general = None
        for field, c, v in self.read_row(i)["values"]:
            if field == f and c == counter:
                return v
            if field == f and c == ANY_COUNTER and general is None:
                general = v
        return self.read_record("fields", f)[12] if general is None else general

    def read_value_list(self, i, key):
        """Reads all values of field @key of row @i."""
        f = self.find_field(key)
        return [v for field, _, v in self.read_row(i)["values"] if field == f]

    def read_texts(self, i, key):
        """Reads all texts of field @key of row @i."""
        return [self.read_text(v) for v in self.read_value_list(i, key)]

    def read_value_text(self, i, key, counter=ANY_COUNTER):
        """Reads the text of field @key of row @i."""
        return self.read_text(self.read_value(i, key, counter))


def read_image_head(raw):
    """Reads the head of an image in either byte order. Raises ValueError."""
    for byteorder, order in (("little", "<"), ("big", ">")):
        if len(raw) >= IMAGE_SIZE and struct.unpack_from(order + "I", raw)[0] == IMAGE_MAGIC:
            break
    else:
        raise ValueError("not an image")
    _, version, size, n, crc, built, digest, *directory = struct.unpack_from(order + IMAGE_FORMAT,
                                                                             raw)
    return {"byteorder": byteorder, "version": version, "size": size, "n_tables": n,
            "checksum": crc, "built": built,
            "digest": digest, "tables": directory[2 * DIRECTORY.index("tables")]}


def read_image(raw):
    """Returns (tables, header dict) of an image in either byte order. Raises ValueError."""
    head = read_image_head(raw)
    if (
        head["version"] != IMAGE_VERSION
        or head["size"] != len(raw)
        or head["checksum"]
        != compute_checksum(raw[IMAGE_SIZE - 8 * N_DIRECTORY :], head["byteorder"])
    ):
        raise ValueError("damaged image")
    return [TableView(raw, head["byteorder"], head["tables"] + i * HEAD_SIZE)
            for i in range(head["n_tables"])], head
