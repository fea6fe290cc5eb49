# SPDX-License-Identifier: MIT
"""Writes images. Data that several tables share (rows, lists of values and fields, strings) is
stored once."""

import collections
import functools
import hashlib
import itertools
import operator
import os
import re
import struct

from language.tables import (
    ALL64, ANY32, ANY_COUNTER, ComputedDict, ENCODERS, MAX_NAMES, MAX_RANGES, NAME_EVENT,
    NAME_UNSUPPORTED, ROW_METRIC, ROW_SHADOWED, TABLE_VALUES_OVERRIDE, TABLE_HAS_FOLDED_TWINS,
    TABLE_UNCORE, TEXT, TOP, fold, has_letter_with_value, read_keys, name_hash, find_first_existing)
from image.layout import (
    ARRAYS, PMU_NAME_IS_ALIAS, CHUNK, DIRECTORY, FORMATS, HEAD_SIZE, HOST_ARCH, HOST_DEVICE,
    IMAGE_FORMAT, IMAGE_MAGIC, IMAGE_MAX_TABLES, IMAGE_SIZE, IMAGE_VERSION, LIMITS,
    MATCH_NEAREST, MATCH_WHOLE_ID, N_DIRECTORY, POOL_PAD, ROW_SOURCES_SHIFT, SHARED, SIZES,
    SLICES, SOURCE_LIBPFM4, STEPS, STORE, TABLE_MAGIC, VALUE_IS_WIDE, CODE_HASHES,
    CODE_INDEX_ANY_UMASK, compute_checksum, find_config1_fields, get_config1, extra_register,
    make_filter_words, find_first_pieces, hash_host, list_host_keys, pack_row, pack_slots,
    place_entries, compute_sparse_slot_count)
from image.rule_keys import compute_rule_keys, mark_rows_without_rule

# Strings must not contain terminal control characters, because they are printed.
CONTROLS = {c: " " for c in range(1, 0xa0) if c < 0x20 or c > 0x7e} | {0: ""}
_field_counter = operator.itemgetter(0, 1)


def find_row_shapes(rows):
    """Returns the distinct (fields, counters) of the values in rows."""
    return {tuple(zip(*row.values))[:2] for row in rows} - {()}


def is_plain_text(text):
    """True if each byte is a printable character."""
    return text.isascii() and (text.isprintable() or not text)


def encode_utf8(text):
    """Encodes a text; bytes that were not UTF-8 stay as they were."""
    return text.encode("utf-8", "surrogateescape")


def count_bytes(text):
    """Length of a text in bytes."""
    return len(encode_utf8(text))


def map_suffixes(texts):
    """Returns {text: the longest of @texts that ends with it}."""
    mirrored = sorted([t[::-1] for t in texts], reverse=True)
    inside = {}
    for longer, text in itertools.compress(zip(mirrored, mirrored[1:]),
                                           map(str.startswith, mirrored, mirrored[1:])):
        inside[text[::-1]] = inside.get(longer[::-1], longer[::-1])
    return inside


class StringPool(dict):
    """Strings, each stored once, and their offsets; offset 0 is the empty one. A text that is the
    end of another one shares its bytes."""

    def __init__(self, texts=()):
        """Places all texts that will be asked for; the end of a text can be another one."""
        odd = set() if is_plain_text("".join(texts)) else {text
                                                           for text in texts
                                                           if not is_plain_text(text)}
        inside = map_suffixes([text for text in texts if text and text not in odd])
        wholes = dict.fromkeys(["", *map(inside.get, texts, texts)])
        self.parts = [text.translate(CONTROLS) if text in odd else text
                      for text in wholes] if odd else list(wholes)
        sizes = map(count_bytes if odd else len, self.parts)
        *places, self.size = itertools.accumulate([size + 1 for size in sizes], initial=0)
        super().__init__(zip(wholes, places))
        for text, whole in inside.items():
            self[text] = self[whole] + len(whole) - len(text)

    def __missing__(self, text):
        """Appends a text that was not foreseen."""
        harmless, at = text.translate(CONTROLS), self.size
        self[text] = at
        self.parts.append(harmless)
        self.size += count_bytes(harmless) + 1
        return at

    def add_text(self, text):
        """Returns the offset of a text."""
        return self[text]

    def join_texts(self):
        """Returns all bytes, padded because look-up compares eight bytes at a time."""
        pad = POOL_PAD + -(self.size + POOL_PAD) % 8
        self.size += pad
        return encode_utf8("\0".join(self.parts)) + b"\0" * (1 + pad)


def list_texts(tables, values, entries):
    """Returns all texts in the order of the pool. @values has the values of each table's rows,
    @entries its list_names(). Names of tables and words of hosts are first, because every look-up
    compares them; names are adjacent and separate from texts that few calls read."""
    texts = dict.fromkeys(x for t in tables
                          for x in (t.name, *t.aliases,
                                    *(x for m in t.matches for x in (m.arch, m.vendor))))
    for names in entries:
        texts.update(dict.fromkeys([text for text, _, _ in names]))
    for t, of_rows in zip(tables, values):
        texts.update(dict.fromkeys([v for row in of_rows for _, _, v in row if type(v) is str]))
        texts.update(dict.fromkeys(list_rare_texts(t)))
        texts.update(
            dict.fromkeys([x for row in t.rows + t.alias_rows for x in (row.name, row.desc)]))
    return texts


def list_rare_texts(t):
    """Texts of a table that few calls read, without values of rows."""
    yield from (t.name, t.desc, t.source, " ".join(t.aliases), t.unit, t.device, t.family_name)
    for of in (*t.fields, *t.groups, *(g for row in t.alias_rows for g in row.groups)):
        yield from (x for w in sort_spellings_last(of.words) for x in (w.name, w.desc))
        yield of.name
    yield from (why for _, why in t.unsupported)
    yield from (x for m in t.matches for x in (m.arch, m.vendor, m.prefix))
    yield from (x for name, value in t.features for x in (name, value) if type(x) is str)
    yield from (x for r in t.rules for x in (r.name, r.text, r.source))
    yield from (x for e in t.errata for x in e.list_texts())


def sort_spellings_last(words):
    """Returns words in the order of the image: words with the value of an earlier one are last."""
    first, more, values = [], [], set()
    for w in words:
        (more if w.value in values else first).append(w)
        values.add(w.value)
    return first + more


class ArrayBytes:
    """Growing bytes of the image, for one or several arrays."""

    def __init__(self):
        """Begins an empty array."""
        self.parts, self.size = [], 0

    def append_bytes(self, raw, step):
        """Stores @raw in the body. Returns its position in steps."""
        gap = -self.size % step
        at = (self.size + gap) // step
        self.parts.append(b"\0" * gap + raw if gap else raw)
        self.size += gap + len(raw)
        return at


class RecordArray:
    """A growing array of the image. Equal elements or slices are stored once."""

    def __init__(self, name, order, body):
        """Begins an array of records in the part @body of the image."""
        self.pack = struct.Struct(order + FORMATS[name]).pack
        self.step = STEPS.get(name, SIZES[name])
        self.body, self.seen = body, {}

    def store_slice(self, records):
        """Stores elements. Returns the number of the first one."""
        key = tuple(records)
        at = self.seen.get(key)
        if at is None:
            at = self.seen[key] = self.append_elements(key)
        return at

    def append_elements(self, records):
        """Appends records, and returns the number of the first."""
        pack = self.pack
        return self.body.append_bytes(b"".join([pack(*r) for r in records]), self.step)

    def store_record(self, record):
        """Stores one record once, and returns its number."""
        return self.store_slice((record,))

    def store_each(self, records):
        """Stores elements, each once, new ones side by side. Returns their numbers."""
        seen = self.seen
        new = [r for r in dict.fromkeys(records) if r not in seen]
        if new:
            seen.update(zip(new, itertools.count(self.append_elements(new))))
        return [seen[r] for r in records]

    @property
    def n_records(self):
        """Number of elements of an array with its own body."""
        return self.body.size // self.step


LONGEST_PIECE = 10      # numbers


class NumberArray(RecordArray):
    """A growing array of numbers. Equal slices are stored once."""

    def __init__(self, name, order, body):
        """Begins an array of numbers in the part @body of the image."""
        super().__init__(name, order, body)
        form = order + "%d" + FORMATS[name]
        self.packs, self.within = ComputedDict(lambda n: struct.Struct(form % n).pack), {}

    def plan_overlaps(self, slices):
        """Finds the @slices that are part of longer ones, which are stored in their place."""
        short, lengths, within = set(), {}, self.within
        for s in slices:
            if 0 < len(s) <= LONGEST_PIECE:
                short.add(s)
                lengths.setdefault(s[0], set()).add(len(s))
        for s in sorted(slices, key=len, reverse=True):
            if s in within:
                continue
            size = len(s)
            for i, first in enumerate(s):
                for n in lengths.get(first, ()):
                    if n <= size - i and n < size:
                        piece = s[i:i + n]
                        if piece in short and piece not in within:
                            within[piece] = s, i

    def store_slices(self, several):
        """Calls store_slice() for each; new ones are stored side by side."""
        seen, new, at = self.seen, [], -(-self.body.size // self.step)
        for numbers in several:
            if numbers not in seen:
                whole, i = self.within.get(numbers, (numbers, 0))
                if whole not in seen:
                    seen[whole] = at
                    new += whole
                    at += len(whole)
                seen[numbers] = seen[whole] + i
        self.body.append_bytes(self.packs[len(new)](*new), self.step)
        return list(map(seen.__getitem__, several))

    def append_elements(self, numbers):
        """Appends numbers, or finds them inside of longer runs, and returns the number of the
        first."""
        if numbers in self.within:
            whole, i = self.within[numbers]
            return self.store_slice(whole) + i
        return self.body.append_bytes(self.packs[len(numbers)](*numbers), self.step)


class ImageWriter:
    """Places tables in an image, whose pool begins with @texts."""

    def __init__(self, byteorder, texts=()):
        """Begins an image whose texts are known."""
        self.order = "<" if byteorder == "little" else ">"
        self.pool = StringPool(texts)
        self.heads = []
        self.folded = []        # names of each table
        self.bodies = {name: ArrayBytes() for name, _ in ARRAYS if name not in ("tables", "pool")}
        for name, fmt in ARRAYS + STORE:
            if name not in ("tables", "pool", "store"):
                body = self.bodies.get(name) or self.bodies["store"]
                setattr(self, name, (NumberArray if fmt in "IHQ" else RecordArray)(name, self.order,
                                                                                   body))

    def index_names(self, t, entries):
        """Adds aliases of the table and the index of all names. Returns the numbers of the first
        elements."""
        add, rows = self.pool.add_text, len(t.rows)
        folded = [fold(text) for text, _, _ in entries]
        for name, (text, _, _) in zip(folded, entries):
            if b"=" in name and has_letter_with_value(name):
                raise ValueError("%s: a part of '%s' would be read as a modifier with a value" %
                                 (t.name, text))
        if len(set(folded)) < len(folded):
            once = {}
            for entry, name in zip(entries, folded):
                if once.setdefault(name, entry)[1] != entry[1]:
                    raise ValueError("%s: '%s' means two rows" % (t.name, entry[0]))
            # without spellings that folding makes equal
            entries, folded = list(once.values()), list(once)
        self.folded.append(folded)
        events = [target for _, target, kind in entries if kind == NAME_EVENT]
        names = [(add(text), kind << 30 | (add(target) if kind == NAME_UNSUPPORTED else target))
                 for text, target, kind in entries[len(events):]]
        slots = pack_slots(list(map(name_hash, folded)),
                           events + list(range(rows, rows + len(names))))
        return (self.names.store_slice(names), len(names)), (self.slots.store_slice(slots),
                                                             len(slots))

    def add_words(self, of):
        """Returns (first word, number of words, number of values)."""
        words, add = sort_spellings_last(of), self.pool.add_text
        return self.named_values.store_slice([(w.value, add(w.name), add(w.desc))
                                       for w in words]), len(of), len({w.value for w in of})

    def add_fields(self, t):
        """Returns (first byte of the keys, first field)."""
        known, add = read_keys(), self.pool.add_text
        field_of_key, fields = [0] * 64, []
        for i, f in enumerate(t.fields):
            key = known.get(f.name, (0, False))[0]
            if key:
                field_of_key[key] = i + 1
            first, n, _ = self.add_words(f.words)
            ranges = list(f.ranges) + [(0, 0, 0)] * (MAX_RANGES - len(f.ranges))
            fields.append((add(f.name), key, f.kind, 32 if f.kind == TEXT else f.width,
                           len(f.ranges), int(f.modifier), n, first,
                           0, 0, f.min, f.max & ALL64, f.preset)
                          + tuple(x for r in ranges for x in (r[0], r[1], r[2], 0)))
        return self.keys.store_record(tuple(field_of_key)), self.fields.store_slice(fields)

    def add_groups(self, groups):
        """Adds groups after their words, which leaves no gaps. Returns their numbers."""
        records = []
        for g in groups:
            first, n, distinct = self.add_words(g.words)
            records.append((self.pool.add_text(g.name), g.flags, g.field, first, n, distinct,
                            g.preset, g.mask))
        return [self.groups.store_record(r) for r in records]

    def add_row_groups(self, t):
        """Returns (numbers of the table's groups, those of each row). Groups of alias rows are not
        the table's."""
        own = len(t.groups)
        groups = self.add_groups(t.groups + [g for row in t.alias_rows for g in row.groups])
        of_alias_rows = iter(groups[own:])
        return groups[:own], [
            *(tuple([groups[k] for k in row.groups]) if row.groups else () for row in t.rows),
            *(tuple([next(of_alias_rows) for _ in row.groups]) for row in t.alias_rows)
        ]

    def add_match(self, m):
        """Makes the record of a host match."""
        add = self.pool.add_text
        return (add(m.arch), add(m.vendor), m.family, m.model_lo, m.model_hi, m.stepping_mask,
                m.value, m.mask, add(m.prefix),
                m.core_type or 0, int(m.core_type is not None), m.version_lo, m.version_hi,
                m.native_model,
                MATCH_WHOLE_ID * m.exact | MATCH_NEAREST * m.nearest)

    def add_feature(self, name, value):
        """Makes the record of a feature, which is a text or a number."""
        text = value if isinstance(value, str) else ""
        return self.pool.add_text(name), self.pool.add_text(
            text), 0 if text or value == "" else value

    def add_rule(self, r):
        """Makes the record of a rule."""
        tests = [*r.tests, *((mask, 0, 0, word, 0) for mask, word in r.parts)]
        return (*map(self.pool.add_text, (r.name, r.text, r.source)),
                self.rule_tests.store_slice(tests), r.number, r.effect, len(r.tests), len(r.parts),
                r.first, r.value)

    def add_erratum(self, e, first_match):
        """Makes the record of an erratum, whose matches begin at @first_match."""
        return (*map(self.pool.add_text, e.list_texts()), self.rule_tests.store_slice(e.tests),
                self.erratum_rows.store_slice(e.rows), len(e.rows),
                0 if e.instead is None else e.instead + 1, first_match, len(e.tests),
                len(e.matches), e.count, int(e.is_for_all), 0)

    def add_errata(self, t):
        """Returns the number of the first erratum. Matches of errata follow those of the table."""
        at, records = len(t.matches), []
        for e in t.errata:
            records.append(self.add_erratum(e, at))
            at += len(e.matches)
        return self.errata.store_slice(records)

    def pack_wide_value(self, field, counter, value):
        """Stores a value that has many bits or is for one counter, and packs its number."""
        number = self.wide_values.store_record((value, counter, 0))
        if number >= VALUE_IS_WIDE:
            raise ValueError("more values than an image can hold")
        return field << 24 | VALUE_IS_WIDE | number

    def pack_value(self, value):
        """Returns a value of a row in the form of the image."""
        f, c, v = value
        if type(v) is str:
            v = self.pool[v]
        return f << 24 | v if c == ANY_COUNTER and v < VALUE_IS_WIDE else self.pack_wide_value(
            f, c, v)

    def add_rows(self, t, row_groups, values):
        """Adds rows, those of aliases last, with their values close to them. Returns their
        numbers."""
        at = self.pool
        first_group = ComputedDict(self.row_groups.store_slice)
        mask_index = ComputedDict(self.counter_masks.store_record)
        rows, numbers = t.rows + t.alias_rows, []
        for start in range(0, len(rows), CHUNK):
            runs, lists = values[start:start + CHUNK], row_groups[start:start + CHUNK]
            firsts = self.values.store_slices(runs)
            numbers += self.rows.store_each([
                pack_row(self.order, (at[row.name], at[row.desc], first, first_group[groups],
                                      mask_index[row.counters], row.flags, len(run), len(groups)))
                for row, first, run, groups in zip(rows[start:start + CHUNK], firsts, runs, lists)])
        for i in range(len(t.rows), len(rows)):
            numbers[i] |= SOURCE_LIBPFM4 << ROW_SOURCES_SHIFT
        for i, sources in t.sources.items():
            numbers[i] |= sources << ROW_SOURCES_SHIFT
        if self.row_groups.n_records > 65536:
            raise ValueError("more groups of unit masks than an image can hold")
        return self.row_numbers.store_slice(numbers)

    def add_code_index(self, t, found):
        """Returns (first slot, number of slots) of the index of code and unit mask; none if a code
        depends on the counter, if either is not in the first word alone, or if users may set it.
        @found are the find_row_shapes() of all rows."""
        code, umask = t.field_at.get("code"), t.field_at.get("umask")
        if code is None or any(t.fields[f].modifier
                               or {word for word, _, _ in t.fields[f].ranges} != {0}
                               for f in (code, umask) if f is not None):
            return 0, 0
        wanted = [f for f in (code, umask) if f is not None]

        def depends_on_counter(found):
            """True if counters give a row different codes."""
            return any(f in wanted and c != ANY_COUNTER for shape in found for f, c in zip(*shape))
        rows = [(i, row) for i, row in enumerate(t.rows, 1)
                if not row.flags & ROW_METRIC]
        taken = {t.groups[g].field for _, row in rows for g in row.groups}
        if code in taken or depends_on_counter(found) and depends_on_counter(
                find_row_shapes([row for _, row in rows])):
            return 0, 0
        entries = self.list_code_index_entries(t, rows, code, umask)
        # Keys of many rows, which differ in an extra register, are added last, so that other keys
        # get their first slot.
        often = collections.Counter([h for h, _ in entries])
        entries.sort(key=lambda entry: often[entry[0]])
        bits = len(t.rows).bit_length()
        entries = [(h, (h & 0xFFFF) >> bits << bits | number) for h, number in entries]
        # few look-ups: a small table
        slots = place_entries(entries, n=len(entries) * 5 // 4 + 2)
        return self.code_index.store_slice(slots), len(slots)

    def list_code_index_entries(self, t, rows, code, umask):
        """Returns [(hash, number)] of the numbered rows in the index of code and unit mask."""
        second, found, msr = find_config1_fields(t), [], t.field_at.get("msr")
        in_second = second.keys()
        by_words = {i for i, g in enumerate(t.groups) if g.field in (code, umask)}
        defaults = {f: t.fields[f].preset for f in (code, umask) if f is not None}
        beside = self.list_fields_over(t, list(defaults))
        for number, row in rows:
            has = {**defaults, **{f: v for f, _, v in row.values}}
            register = extra_register(t, has) if msr in has else ()
            extra = get_config1([*row.values, *register],
                                second) if register or not in_second.isdisjoint(has) else 0
            for f, _, v in row.values if beside else ():
                for g, move in beside.get(f, ()):
                    has[g] |= move(v)
            by_name = row.groups and not by_words.isdisjoint(row.groups)
            mask = CODE_INDEX_ANY_UMASK if by_name else has.get(umask, 0) & ANY32
            found.append((number, row, has[code] & ANY32, mask, extra, register))
        entries, seen = [], set()
        crowded = {entry[2:4] for entry in found if entry[4]}
        beyond, registers = set(second), {t.field_at.get("msr"), t.field_at.get("msr_value")}
        for number, row, has_code, mask, extra, register in found:
            if extra:
                entries.append((CODE_HASHES[has_code, mask, extra], number))
            if (has_code, mask) in crowded:
                # The first of several rows that differ only in config1 represents an event with
                # another config1.
                without = beyond | registers if register else beyond
                alike = row.flags, row.counters, tuple(row.groups), tuple([v for v in row.values
                                                                          if v[0] not in without])
                if extra and alike in seen:
                    continue
                seen.add(alike)
            entries.append((CODE_HASHES[has_code, mask, 0], number))
        return entries

    @staticmethod
    def list_fields_over(t, wanted):
        """Returns the fields that overlap those in @wanted: {field: [(wanted field, function from
        value to value)]}."""
        def list_bits(f):
            """The bits of a field, lowest first."""
            return [(word, lsb + i) for word, lsb, width in t.fields[f].ranges
                    for i in range(width)]

        def make_mover(pairs):
            """Makes a function that moves bits of a value to other places."""
            return lambda v: sum((v >> a & 1) << b for a, b in pairs)
        out = {}
        for w in wanted:
            place = {at: i for i, at in enumerate(list_bits(w))}
            for f in range(len(t.fields)):
                pairs = [(i, place[at]) for i,
                         at in enumerate(list_bits(f)) if at in place] if f not in wanted else []
                if pairs:
                    out.setdefault(f, []).append((w, make_mover(pairs)))
        return out

    @staticmethod
    def has_overlapping_bits(t, found):
        """True if some row sets a bit twice. @found are the find_row_shapes() of all rows."""
        bits = [[(word, lsb + i) for word, lsb, width in f.ranges for i in range(width)]
                for f in t.fields]
        for shape in found:
            taken = [bit for f, counter in zip(*shape) if counter == ANY_COUNTER for bit in bits[f]]
            if len(taken) > len(set(taken)):
                return True
        return False

    def find_flags(self, t, found):
        """Returns the flags of a table with those that follow from its rows."""
        flags = t.flags | (TABLE_VALUES_OVERRIDE if any(f.preset and f.ranges for f in t.fields)
                           or self.has_overlapping_bits(t, found) else 0)
        return flags | (TABLE_HAS_FOLDED_TWINS if any(row.flags & ROW_SHADOWED
                                                      for row in t.rows) else 0)

    def add_table(self, t, found, flags, values, entries):
        """Adds a table with these @flags, find_row_shapes() and @values of rows, and
        list_names()."""
        add = self.pool.add_text
        texts = [add(x) for x in (t.name, t.desc, t.source, " ".join(t.aliases), t.unit, t.device,
                                  t.family_name)]
        keys_at, fields = self.add_fields(t)
        groups, row_groups = self.add_row_groups(t)
        (names, n_names), (slots, n_slot) = self.index_names(t, entries)
        if len(t.rows) + n_names > MAX_NAMES:
            raise ValueError("table %s is too big" % t.name)
        code_index, n_code_index = self.add_code_index(t, found)
        slices = {"keys": keys_at, "fields": fields, "names": names, "slots": slots,
                  "code_index": code_index,
                  "group_numbers": self.group_numbers.store_slice(groups),
                  "counters": self.counters.store_slice([(c.first, c.last, c.width, int(c.fixed),
                                                          c.control, c.value, c.step)
                                                         for c in t.counters]),
                  "matches": self.matches.store_slice(
                      [self.add_match(m) for of in (t, *t.errata) for m in of.matches]),
                  "features": self.features.store_slice([self.add_feature(*f) for f in t.features]),
                  "row_numbers": self.add_rows(t, row_groups, values)}
        self.heads.append((t.name, t.get_all_counters(), texts,
                           (t.perf_type, t.libpfm_type, flags, ENCODERS.index(t.encoder),
                            t.n_general()),
                           (len(t.counters), len(t.fields), len(t.matches), len(t.features),
                            len(t.rows), n_names, n_slot, n_code_index,
                            len(groups)), slices, len(t.alias_rows),
                           (len(t.rules), self.rules.store_slice(map(self.add_rule, t.rules)),
                            len(t.errata), self.add_errata(t)), compute_rule_keys(t)))

    def index_tables(self, tables):
        """Makes the index of table names; own names precede aliases."""
        names = [(t.name, i) for i,
                 t in enumerate(tables)] + [(n, i | PMU_NAME_IS_ALIAS) for i, t in enumerate(tables)
                                            for n in t.aliases]
        families = {}
        for i, t in enumerate(tables):
            if t.family_name:
                families.setdefault(t.family_name, []).append(i)
        records = []
        for name, members in families.items():
            names.append((name, len(tables) + len(records)))
            words = self.name_filter(members, [i for i, t in enumerate(tables) if t.name == name])
            records.append((self.pool.add_text(name), self.family_members.store_slice(members),
                            len(members), self.name_filters.store_slice(words), len(words)))
        self.families.store_slice(records)
        self.family_plus1 = {name: i + 1 for i, name in enumerate(families)}
        # A name is searched in one image after the other: most searches end at an empty slot.
        self.pmu_names.store_slice(
            pack_slots([name_hash(fold(name)) for name, _ in names], [i for _, i in names],
                       count_slots=lambda n: 3 * compute_sparse_slot_count(n)))

    def name_filter(self, members, own):
        """Makes the filter of all names in @members. A name with a separator also represents its
        prefix. @own: tables that have the name of the family. Both are numbers of tables."""
        folded = set().union(*[self.folded[i] for i in members])
        folded |= {name[:-1] for name in folded if name.endswith(b".")}
        folded |= find_first_pieces(folded.union(*[self.folded[i] for i in own]))
        return make_filter_words(list(map(name_hash, folded)))

    def index_hosts(self, tables):
        """Makes the hash table of the keys of hosts. Units of any processor have the kernel's name
        as key."""
        entries = {}
        for i, t in enumerate(tables):
            for key in [k for m in t.matches for k in list_host_keys(m)]:
                entries[key, i] = None
            if not t.matches and t.encoder == "perf":
                entries[hash_host(HOST_ARCH, name_hash(b"")), i] = None
            elif not t.matches and t.flags & TABLE_UNCORE and t.device:
                entries[hash_host(HOST_DEVICE, name_hash(fold(t.device))), i] = None
        self.hosts.store_slice(place_entries([(key, (key, i + 1)) for key, i in entries], (0, 0)))

    def pack_head(self, at, size, offsets, table):
        """Offsets are relative to the head."""
        name, everything, texts, types, counts, slices, n_alias_rows, limits, keys = table
        perf_type, libpfm_type, flags, encoder, n_general = types
        n_rules, rules, n_errata, errata = limits
        first = {"rules": rules, "errata": errata}
        return struct.pack(
            self.order + FORMATS["tables"], TABLE_MAGIC, size - at, everything, *texts,
            offsets["pool"] - at, self.pool.size,
            perf_type, libpfm_type, flags, encoder, n_general, *counts,
            *[offsets[a] + slices[a] * STEPS[a] - at for a in SLICES],
            *[offsets[a] - at for a in SHARED], n_alias_rows,
            self.family_plus1.get(name, 0), keys & ANY32, keys >> 32, n_rules, n_errata,
            *[offsets[a] + first.get(a, 0) * SIZES[a] - at for a in LIMITS])

    def finish_image(self, digest, built, byteorder):
        """Joins the parts, after a head that has their offsets."""
        bodies = {name: b"".join(body.parts) for name, body in self.bodies.items()}
        bodies["pool"] = self.pool.join_texts()
        bodies["tables"] = b"\0" * (HEAD_SIZE * len(self.heads))
        offsets, at = {}, IMAGE_SIZE
        for name, _ in ARRAYS:
            offsets[name] = at
            at += -(-len(bodies[name]) // 8) * 8
        offsets.update((name, offsets["store"]) for name, _ in STORE)
        counts = {name: len(bodies[name]) // SIZES[name] for name in DIRECTORY}
        if at > 0x7FFFFFF0:
            raise ValueError("the image is too big")
        bodies["tables"] = b"".join(
            self.pack_head(offsets["tables"] + i * HEAD_SIZE, at, offsets, h)
            for i, h in enumerate(self.heads))
        rest = b"".join(bodies[name].ljust(-(-len(bodies[name]) // 8) * 8, b"\0") for name,
                        _ in ARRAYS)
        directory = [x for name in DIRECTORY for x in (offsets[name], counts[name])]
        head = struct.pack(self.order + IMAGE_FORMAT, IMAGE_MAGIC, IMAGE_VERSION, at,
                           len(self.heads), compute_checksum(
            struct.pack(self.order + "II" * N_DIRECTORY, *directory,
                        *[0] * (2 * N_DIRECTORY - len(directory))) + rest, byteorder),
            built, digest.ljust(32, b"\0"), *directory, *[0] * (2 * N_DIRECTORY - len(directory)))
        return head + rest


def make_image(tables, byteorder="little", digest=b"", built=0):
    """Returns a complete image of Tables."""
    if len(tables) > IMAGE_MAX_TABLES:
        raise ValueError("an image holds at most %d tables" % IMAGE_MAX_TABLES)
    for t in tables:
        mark_rows_without_rule(t)
    in_order = [[sorted(row.values, key=_field_counter) for row in t.rows + t.alias_rows]
                for t in tables]
    entries = [t.list_names() for t in tables]
    w = ImageWriter(byteorder, list_texts(tables, in_order, entries))
    found = [find_row_shapes(t.rows + t.alias_rows) for t in tables]
    flags = list(map(w.find_flags, tables, found))
    pack = ComputedDict(w.pack_value).__getitem__
    values = [[tuple(map(pack, row)) for row in rows] for rows in in_order]
    w.values.plan_overlaps(dict.fromkeys(run for rows in values for run in rows))
    for of in zip(tables, found, flags, values, entries):
        w.add_table(*of)
    w.index_tables(tables)
    w.index_hosts(tables)
    return w.finish_image(digest, built, byteorder)


def make_embedding(path, raw):
    """Returns assembler text that embeds the image @raw of file @path in the library. The text
    changes with the image, so that builds notice. Its own section follows the constants of the
    code, near the start of the image."""
    return """/* SPDX-License-Identifier: MIT */
/* Written by pmuc.py: the image with checksum %s */
#ifdef __CET__
#include <cet.h>
#endif
	.section .tables, "a", %%progbits
	.globl pfmi_builtin_image
	.hidden pfmi_builtin_image
	.type pfmi_builtin_image, %%object
	.balign 64
pfmi_builtin_image:
	.incbin "%s"
	.size pfmi_builtin_image, . - pfmi_builtin_image
	.section .note.GNU-stack, "", %%progbits
""" % (hashlib.sha256(raw).hexdigest(),
       os.path.abspath(path).replace("\\", "\\\\").replace('"', '\\"'))


@functools.lru_cache(None)
def compute_compiler_digest():
    """Digest of the compiler and the key names, so that images are remade after a change of
    either."""
    h = hashlib.sha256()
    parts = [os.path.join(TOP, "pmuc.py")]
    heads = find_first_existing("../lib/events/heads", "heads")
    errata = find_first_existing("../lib/events/errata", "errata")
    for folder in (os.path.join(TOP, "language"), os.path.join(TOP, "vendors"),
                   os.path.join(TOP, "image"), heads, errata):
        parts += [os.path.join(folder, name)
                  for name in sorted(os.listdir(folder)) if name.endswith((".py", ".pmu"))]
    for path in parts + [find_first_existing("../lib/table/keys.def", "keys.def")]:
        with open(path, "rb") as f:
            h.update(f.read())
    return h.digest()
