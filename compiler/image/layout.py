# SPDX-License-Identifier: MIT
"""Layout of an image: lib/table/image.h in Python. What its arrays hold and in which order,
what its indices are keyed by and where their entries are, and the checksum. The image inside the
library and an image file differ in nothing."""

import array
import re
import struct

from language.tables import ANY32, ANY_COUNTER, ComputedDict, fold, name_hash

IMAGE_MAGIC = 0x62646D70
IMAGE_VERSION = 14
TABLE_MAGIC = 0x32746D70
IMAGE_MAX_TABLES = 4096
PMU_NAME_IS_ALIAS = 0x8000  # marks an alias in the index of table names
POOL_PAD = 8  # zero bytes at the end of every pool

ROW_SOURCES_SHIFT = 29  # bits of a row's number in its table; the sources are above it
SOURCE_LIBPFM4 = 4
VALUE_IS_WIDE = 0x800000
CHUNK = 256          # number of rows whose values are adjacent
CODE_INDEX_ANY_UMASK = ANY32

# Arrays of the image in the order after its head: name, struct format of an element. The system
# reads neighbouring pages together: arrays for finding a table come first, up to its name at the
# start of the pool; the data of one look-up is adjacent in the store. Positions in the store are
# relative to its start.
ARRAYS = (
    ("pmu_names", "I"),
    ("tables", "IIQ7IIIiiIHH4H5I10I7I4I2H4I"),
    ("counter_masks", "Q"),
    ("keys", "64B"),
    ("counters", "BBBBIII"),
    ("row_groups", "I"),
    ("group_numbers", "I"),
    ("pool", "B"),
    ("hosts", "II"),
    ("matches", "IIIIIIQQIBBBBII"),
    ("features", "IIQ"),
    ("rules", "IIIIIBBBBQ"),
    ("rule_tests", "QQQII"),
    ("errata", "IIIIIIIIHHHBBBBH"),
    ("erratum_rows", "H"),
    ("families", "IIIII"),
    ("family_members", "H"),
    ("name_filters", "Q"),
    ("store", "Q"),
    ("wide_values", "QII"),
    ("code_index", "H"),
)
STORE = (
    ("fields", "IHBBBBHIIIQQQ" + "BBBB" * 4), ("named_values", "QII"), ("groups", "IHHIHHQQ"),
    ("names", "II"),
    ("slots", "I"), ("row_numbers", "I"), ("values", "I"), ("rows", "IIIHH"),
)
FORMATS = dict(ARRAYS + STORE)
SIZES = {name: struct.calcsize("<" + fmt) for name, fmt in FORMATS.items()}
# Arrays whose positions are in the head of the image, in the order of enum image_array.
DIRECTORY = ("tables", "pmu_names", "families", "family_members", "pool", "hosts", "name_filters")
N_DIRECTORY = 16
# Offsets in the head of a table, in the order of struct table: its own slices, shared arrays,
# then rules and errata.
SLICES = ("keys", "counters", "fields", "group_numbers", "matches", "features", "row_numbers",
          "names", "slots", "code_index")
SHARED = ("counter_masks", "named_values", "groups", "rows", "values", "wide_values", "row_groups")
LIMITS = ("rules", "rule_tests", "errata", "erratum_rows")
# Units of element numbers: size of an element in shared arrays, alignment of elements in slices.
STEPS = {name: next(n for code, n in (("Q", 8), ("I", 4), ("H", 2), ("B", 1))
                    if code in FORMATS[name]) for name in SLICES}
HEAD_SIZE = SIZES["tables"]
IMAGE_FORMAT = "IIQIIQ32s" + "II" * N_DIRECTORY
IMAGE_SIZE = struct.calcsize("<" + IMAGE_FORMAT)


# Members of a row that share a word: (bits of the first one, text for messages).
ROW_WORDS = ((24, "names"), (28, "texts"), (24, "values"))


def pack_row(order, row):
    """Packs (name, desc, first value, first group, counter set, flags, number of values, number of
    groups) to the numbers of a row in the image. In C, the members of a word are bit-fields."""
    name, desc, value, group, counters, flags, n_values, n_groups = row
    words = []
    for (bits, what), first, second in zip(ROW_WORDS, (name, desc, value),
                                           (n_values, n_groups, counters)):
        if first >> bits or second >> (32 - bits):
            raise ValueError("more %s or counter masks than an image can hold" % what)
        words.append(first | second << bits if order == "<" else first << (32 - bits) | second)
    return *words, group, flags


def unpack_row(order, numbers):
    """The reverse of pack_row()."""
    *words, group, flags = numbers
    (name, n_values), (desc, n_groups), (value,
                                         counters) = ((w & (1 << bits) - 1,
                                                       w >> bits) if order == "<" else
                                                      (w >> (32 - bits), w & (1 << (32 - bits)) - 1)
                                                      for w, (bits, _) in zip(words, ROW_WORDS))
    return name, desc, value, group, counters, flags, n_values, n_groups


def find_first_slot(h, n):
    """First slot of a search: table_get_first_slot() in table.h."""
    return (h * 0x9E3779B1 & ANY32) * n >> 32


def compute_slot_count(n):
    """Number of slots for the names of a table."""
    return max(2, n * 5 // 4 + 1)


def compute_sparse_slot_count(n):
    """Number of slots for a small index."""
    return max(2, n * 3 // 2 + 1)


def _name_bits(h):
    """Bits that a hash sets in the filter of names."""
    h = h * 0x85EBCA6B & ANY32
    return 1 << (h >> 26) | 1 << (h >> 20 & 63) | 1 << (h >> 14 & 63) | 1 << (h >> 8 & 63)


# the bits of a name in a word of a filter: table.h, table_make_name_filter_bits()
name_bits = ComputedDict(_name_bits).__getitem__


def make_filter_words(hashes):
    """Words of a filter of @hashes, seven bits for each hash. One in thirty other hashes passes."""
    n = len(hashes) * 7 // 64 + 1
    words = [0] * n
    for h in hashes:
        words[(h * 0x9E3779B1 & ANY32) * n >> 32] |= name_bits(h)       # slot_of(h, n)
    return words


# Prefix of a folded name up to the first separator, which is not at its start: lib/lookup/spec.c.
first_piece = ComputedDict(lambda name: name[:1] + name[1:].partition(b".")[0]).__getitem__


def find_first_pieces(names):
    """Prefixes of the names up to the first separator; also the empty prefix if ignored characters
    precede a leading separator."""
    pieces = set(map(first_piece, names))
    return pieces | {b"" for piece in pieces if piece[:1] == b"."}


def hash_code(code, umask, config1=0):
    """Hash of a code in the index of codes."""
    return ((code * 0x9E3779B1 ^ umask ^
             (config1 ^ config1 >> 32) * 0xC2B2AE35 & ANY32) * 0x85EBCA6B) & ANY32


CODE_HASHES = ComputedDict(lambda code: hash_code(*code))    # many models share codes

# table/image.h, enum match_flags
MATCH_WHOLE_ID, MATCH_NEAREST = 1, 2

HOST_ARCH, HOST_MODEL, HOST_FAMILY, HOST_PART, HOST_UPPER, HOST_ID, HOST_DEVICE = range(7)
# bits of MIDR and of PVR in keys: machine/host_tables.c
PART_MASK, UPPER_MASK = 0xFF00FFF0, 0xFFFF0000


def find_config1_fields(t):
    """Fields in the second configuration word: {index: [(position in the value, bits, position in
    the word)]}."""
    out = {}
    for i, f in enumerate(t.fields):
        at = 0
        for word, lsb, width in f.ranges:
            if word == 1:
                out.setdefault(i, []).append((at, (1 << width) - 1, lsb))
            at += width
    return out


# Linux's field in config1 for the value of an extra register (lib/pmu/x86_config.c, extra_fields).
FIELD_OF_MSR = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat", 0x3F7: "frontend",
                0x1328: "snoop_rsp", 0x1329: "snoop_rsp"}


def extra_register(t, values):
    """Combines the @values, by field, that name an extra register and its value to one value of the
    kernel's field."""
    field = t.field_at.get(FIELD_OF_MSR.get(values[t.field_at["msr"]]))
    return () if field is None else ((field, ANY_COUNTER,
                                      values.get(t.field_at.get("msr_value"), 0)), )


def get_config1(values, fields):
    """Bits of @values in the second configuration word; @fields are find_config1_fields() of their
    table."""
    extra = 0
    for f, _, v in values:
        for at, bits, lsb in fields.get(f, ()):
            extra |= (v >> at & bits) << lsb
    return extra


def hash_host(kind, a):
    """table_hash_host_key() in table.h."""
    return (((a & ANY32) * 0x9E3779B1 ^ kind) * 0x85EBCA6B) & ANY32


def get_identity_words(text):
    """The first two words of a textual identity, which are the key of its index; None if @text
    lacks one."""
    m = re.match(r"[^-,]*[-,][^-,]*(?=[-,])", text)
    return m and m[0]


def list_host_keys(m):
    """Keys of a host line in the index."""
    if m.family != ANY32:
        if m.model_hi - m.model_lo >= 8:    # one slot instead of one for each model
            return [hash_host(HOST_FAMILY, m.family)]
        return [hash_host(HOST_MODEL, m.family * 0x01000193 ^ model)
                for model in range(m.model_lo, m.model_hi + 1)]
    if m.mask & PART_MASK == PART_MASK:
        return [hash_host(HOST_PART, m.value & PART_MASK)]
    if m.mask & UPPER_MASK == UPPER_MASK:
        return [hash_host(HOST_UPPER, m.value & UPPER_MASK)]
    words = get_identity_words(m.prefix + "," if m.exact else m.prefix)
    if words:
        return [hash_host(HOST_ID, name_hash(fold(words)))]
    return [hash_host(HOST_ARCH, name_hash(fold(m.arch)))]


def place_entries(entries, empty=0, n=None):
    """Places (hash, value) entries in a hash table with @n slots, each in the first free slot after
    its hash."""
    n = n or compute_sparse_slot_count(len(entries))
    slots, taken = [empty] * n, bytearray(n)
    for h, what in entries:
        at = taken.find(0, (h * 0x9E3779B1 & ANY32) * n >> 32)     # slot_of(h, n)
        if at < 0:
            at = taken.find(0)
        taken[at] = 1
        slots[at] = what
    return slots


def pack_slots(hashes, numbers, count_slots=compute_slot_count):
    """Makes a hash table of numbers: 16 bits of hash, 16 bits of number plus one. Entries are added
    in descending order of their upper bits, so that no search passes a lower one."""
    n = len(hashes)
    high = [~h & 0xFFFF for h in hashes]
    order = sorted(range(n), key=high.__getitem__)
    return place_entries([(hashes[i], (hashes[i] & 0xFFFF) << 16 | numbers[i] + 1) for i in order],
                         n=count_slots(n))


def compute_checksum(raw, byteorder):
    """Two running sums over 64-bit words, folded to 32 bits; fast enough for every opening of an
    image."""
    total, at = sum_weighted(raw, byteorder)
    n = len(raw) // 8
    first, second = total % (1 << 64), (n * total - at) % (1 << 64)
    both = first ^ (second << 1 | second >> 63) % (1 << 64)
    return (both ^ both >> 32) & 0xFFFFFFFF


BLOCK = 4096                                                    # words
EVEN = int.from_bytes((b"\xff" * 8 + b"\0" * 8) * (BLOCK // 2), "little")
HALVES = [(1 << i, (1 << (128 << i)) - 1) for i in reversed(range(BLOCK.bit_length() - 2))]


def sum_weighted(raw, byteorder):
    """Returns (sum of the 64-bit words, sum of each times its number). Adds words in parallel: two
    of them are in each 128 bits of one large number, which is halved until 128 bits are left."""
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
