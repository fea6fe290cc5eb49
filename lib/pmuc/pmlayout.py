# SPDX-License-Identifier: MIT
"""Layout of an image: lib/table/image.h in Python. What its arrays hold and in which order,
what its indices are keyed by and where their entries are, and the checksum. The image inside the
library and an image file differ in nothing."""

import array
import re
import struct

from pmtable import ANY32, ANYWHERE, Cache, fold, name_hash

IMAGE_MAGIC = 0x62646D70
IMAGE_VERSION = 9
TABLE_MAGIC = 0x32746D70
IMAGE_MAX_TABLES = 4096
CALL_OTHER = 0x8000  # a name beside the table's own, in the index over names of tables
# The number of the first packed text, beyond every offset in the pool: it and the last one fit into
# the values of rows (VALUE_WIDE).
PACKED_TEXTS_START = 0x400000
POOL_PAD = 8  # zero bytes at the end of every pool

ROW_SOURCES_SHIFT = 29  # of a row's number in its table: bits of the sources above it
SOURCE_LIBPFM4 = 4
VALUE_WIDE = 0x800000
CHUNK = 256          # rows whose values are together
WAY_ANY = ANY32

# Arrays of the image in the order they follow its head: name, struct format of an element. A page
# is read with those around it: what finds a table comes first, up to its name at the start of the
# pool, and what one look-up reads of it is together in the store, where each array is counted from
# the start of the store.
ARRAYS = (
    ("calls", "I"), ("tables", "IIQ7IIIiiIHH4H5I10I7I7I"),
    ("sets", "Q"), ("keys", "64B"), ("counters", "BBBBIII"), ("takes", "I"), ("group_numbers", "I"),
    ("pool", "B"),
    ("hosts", "II"), ("matches", "IIIIIIQQIBBBBII"), ("features", "IIQ"), ("wholes", "IIIII"),
    ("parts", "H"), ("filters", "Q"),
    ("store", "Q"), ("wides", "QII"), ("ways", "H"), ("packed_texts", "B"),
)
STORE = (
    ("fields", "IHBBBBHIIIQQQ" + "BBBB" * 4), ("words", "QII"), ("groups", "IHHIHHQQ"),
    ("names", "II"),
    ("slots", "I"), ("row_numbers", "I"), ("values", "I"), ("rows", "IIIHH"),
)
FORMATS = dict(ARRAYS + STORE)
SIZES = {name: struct.calcsize("<" + fmt) for name, fmt in FORMATS.items()}
# Arrays that the head of the image says where they are, in the order of enum image_array.
DIRECTORY = ("tables", "calls", "wholes", "parts", "pool", "hosts", "filters", "packed_texts")
N_DIRECTORY = 16
# Offsets in the head of a table, in the order of struct table: its own slices, then what all tables
# share.
SLICES = ("keys", "counters", "fields", "group_numbers", "matches", "features", "row_numbers",
          "names", "slots", "ways")
SHARED = ("sets", "words", "groups", "rows", "values", "wides", "takes")
# Units of element numbers: bytes from one element that all tables share to the next, and of
# the slices from one address to the next that an element may have.
STEPS = {name: next(n for code, n in (("Q", 8), ("I", 4), ("H", 2), ("B", 1))
                    if code in FORMATS[name]) for name in SLICES}
HEAD_SIZE = SIZES["tables"]
IMAGE_FORMAT = "IIQIIQ32s" + "II" * N_DIRECTORY
IMAGE_SIZE = struct.calcsize("<" + IMAGE_FORMAT)


# The members of a row that share a word: (bits of the first one, what there are too many of).
ROW_WORDS = ((24, "names"), (28, "texts"), (24, "values"))


def pack_row(order, row):
    """The numbers of a row of the image from (name, desc, first value, first group, counter set,
    flags, number of values, number of groups). In C, the members of a word are bit-fields."""
    name, desc, value, group, counters, flags, n_values, n_groups = row
    words = []
    for (bits, what), first, second in zip(ROW_WORDS, (name, desc, value), (n_values, n_groups, counters)):
        if first >> bits or second >> (32 - bits):
            raise ValueError("more %s or sets of counters than an image can hold" % what)
        words.append(first | second << bits if order == "<" else first << (32 - bits) | second)
    return *words, group, flags


def unpack_row(order, numbers):
    """The reverse of pack_row()."""
    *words, group, flags = numbers
    (name, n_values), (desc, n_groups), (value, counters) = (
        (w & (1 << bits) - 1, w >> bits) if order == "<" else (w >> (32 - bits), w & (1 << (32 - bits)) - 1)
        for w, (bits, _) in zip(words, ROW_WORDS))
    return name, desc, value, group, counters, flags, n_values, n_groups


def first_slot(h, n):
    """First slot of a probe: table_get_first_slot() in table.h."""
    return (h * 0x9E3779B1 & ANY32) * n >> 32


def slot_count(n):
    """For the names of a table, of which there are many."""
    return max(2, n * 5 // 4 + 1)


def sparse_slot_count(n):
    """For few entries."""
    return max(2, n * 3 // 2 + 1)


def _name_bits(h):
    h = h * 0x85EBCA6B & ANY32
    return 1 << (h >> 26) | 1 << (h >> 20 & 63) | 1 << (h >> 14 & 63) | 1 << (h >> 8 & 63)


# the bits of a name in a word of a filter: table.h, table_make_name_filter_bits()
name_bits = Cache(_name_bits).__getitem__


def filter_words(hashes):
    """Words that say which hashes are not among @hashes, seven bits for each: one in thirty of the
    others passes."""
    n = len(hashes) * 7 // 64 + 1
    words = [0] * n
    for h in hashes:
        words[(h * 0x9E3779B1 & ANY32) * n >> 32] |= name_bits(h)       # slot_of(h, n)
    return words


# Text before the first separator of a folded name: lib/lookup/spec.c takes none at the very start
# for one.
first_piece = Cache(lambda name: name[:1] + name[1:].partition(b".")[0]).__getitem__


def first_pieces(names):
    """Text before the first separator of texts that may be those names; nothing where
    characters that are left out are before a separator at the very start."""
    pieces = set(map(first_piece, names))
    return pieces | {b"" for piece in pieces if piece[:1] == b"."}


def code_hash(code, umask, config1=0):
    return ((code * 0x9E3779B1 ^ umask ^ (config1 ^ config1 >> 32) * 0xC2B2AE35 & ANY32) * 0x85EBCA6B) & ANY32


WAYS = Cache(lambda way: code_hash(*way))    # many models have the same codes

# table/image.h, enum match_flags
MATCH_WHOLE_ID, MATCH_NEAREST = 1, 2

HOST_ARCH, HOST_MODEL, HOST_FAMILY, HOST_PART, HOST_UPPER, HOST_ID, HOST_DEVICE = range(7)
# of MIDR and of PVR, as machine/host.c looks them up
PART_MASK, UPPER_MASK = 0xFF00FFF0, 0xFFFF0000


def config1_fields(t):
    """Fields that have bits in the second word of the configuration: index -> [(where in the value,
    bits, where in the word)]."""
    out = {}
    for i, f in enumerate(t.fields):
        at = 0
        for word, lsb, width in f.ranges:
            if word == 1:
                out.setdefault(i, []).append((at, (1 << width) - 1, lsb))
            at += width
    return out


# The field of config1 by which Linux takes the value of an extra register (lib/pmu/x86_config.c,
# extra_fields).
FIELD_OF_MSR = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat", 0x3F7: "frontend",
                0x1328: "snoop_rsp", 0x1329: "snoop_rsp"}


def extra_register(t, values):
    """The @values, by field, that name an extra register and say what goes in it, as one of the
    field the kernel has for it."""
    field = t.field_at.get(FIELD_OF_MSR.get(values[t.field_at["msr"]]))
    return () if field is None else ((field, ANYWHERE, values.get(t.field_at.get("msr_value"), 0)),)


def config1_of(values, fields):
    """Bits that @values put into the second word of the configuration; @fields are config1_fields()
    of their table."""
    extra = 0
    for f, _, v in values:
        for at, bits, lsb in fields.get(f, ()):
            extra |= (v >> at & bits) << lsb
    return extra


def host_hash(kind, a):
    """table.h, table_hash_host_key()."""
    return (((a & ANY32) * 0x9E3779B1 ^ kind) * 0x85EBCA6B) & ANY32


def identity_words(text):
    """The first two words of a textual identity, which its index is over; None if @text does not
    have them whole."""
    m = re.match(r"[^-,]*[-,][^-,]*(?=[-,])", text)
    return m and m[0]


def host_keys(m):
    """Keys under which a host line is indexed."""
    if m.family != ANY32:
        if m.model_hi - m.model_lo >= 8:    # one slot instead of one for each model
            return [host_hash(HOST_FAMILY, m.family)]
        return [host_hash(HOST_MODEL, m.family * 0x01000193 ^ model)
                for model in range(m.model_lo, m.model_hi + 1)]
    if m.mask & PART_MASK == PART_MASK:
        return [host_hash(HOST_PART, m.value & PART_MASK)]
    if m.mask & UPPER_MASK == UPPER_MASK:
        return [host_hash(HOST_UPPER, m.value & UPPER_MASK)]
    words = identity_words(m.prefix + "," if m.exact else m.prefix)
    if words:
        return [host_hash(HOST_ID, name_hash(fold(words)))]
    return [host_hash(HOST_ARCH, name_hash(fold(m.arch)))]


def place_entries(entries, empty=0, n=None):
    """A hash table of (hash, what) with @n slots: each in the first free slot from where its hash
    says."""
    n = n or sparse_slot_count(len(entries))
    slots, taken = [empty] * n, bytearray(n)
    for h, what in entries:
        at = taken.find(0, (h * 0x9E3779B1 & ANY32) * n >> 32)     # slot_of(h, n)
        if at < 0:
            at = taken.find(0)
        taken[at] = 1
        slots[at] = what
    return slots


def pack_slots(hashes, numbers, room=slot_count):
    """A hash table of numbers: 16 bits of hash, 16 bits 1 + number. What has the highest bits is
    entered first, so that none on the way to an entry is lower."""
    n = len(hashes)
    high = [~h & 0xFFFF for h in hashes]
    order = sorted(range(n), key=high.__getitem__)
    return place_entries([(hashes[i], (hashes[i] & 0xFFFF) << 16 | numbers[i] + 1) for i in order],
                         n=room(n))


def checksum(raw, byteorder):
    """Two running sums over 64-bit words, folded to 32 bits: cheap enough to take whenever an image
    is opened."""
    total, at = weighted(raw, byteorder)
    n = len(raw) // 8
    first, second = total % (1 << 64), (n * total - at) % (1 << 64)
    both = first ^ (second << 1 | second >> 63) % (1 << 64)
    return (both ^ both >> 32) & 0xFFFFFFFF


BLOCK = 4096                                                    # words
EVEN = int.from_bytes((b"\xff" * 8 + b"\0" * 8) * (BLOCK // 2), "little")
HALVES = [(1 << i, (1 << (128 << i)) - 1) for i in reversed(range(BLOCK.bit_length() - 2))]


def weighted(raw, byteorder):
    """(sum of the 64-bit words, sum of each times its number). The words of a block are added side
    by side: two of them are in each 128 bits of one great number, which is folded in the middle
    until 128 bits are left."""
    words = array.array("Q", raw)
    if byteorder == "big":
        words.byteswap()
    total, weights = 0, 0
    for start in range(0, len(words), BLOCK):
        block = int.from_bytes(words[start:start + BLOCK].tobytes(), "little")
        odd = block >> 64 & EVEN
        here, at = (block & EVEN) + odd, odd
        for half, lower in HALVES:
            upper = here >> 128 * half
            at = (at & lower) + (at >> 128 * half) + 2 * half * upper
            here = (here & lower) + upper
        total += here
        weights += at + start * here
    return total, weights
