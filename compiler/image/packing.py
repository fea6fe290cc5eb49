# SPDX-License-Identifier: MIT
"""Packs texts: struct packed_texts of lib/table/image.h.

Many descriptions are the same sentence but for a word. A packed text is a series of symbols; a
symbol is a character or a phrase, and a phrase is two symbols. Of all pairs of neighbours, the pair
that occurs most often becomes a phrase, until no pair occurs often enough (the method is known as
Re-Pair). A prefix code (Huffman's) then gives frequent symbols short codes."""

import collections
import heapq
import itertools
import re
import struct
import zlib

FEWEST = 3              # smallest number of occurrences for a phrase
BLOCK_SIZE = 4096       # bytes of a block of unpacked texts; no text crosses blocks
# bytes at the end of a block that hold no text: copies write eight at a time
BLOCK_SLACK = 16
N_CHARACTERS = 256
N_LENGTHS = N_DEPTHS = 24       # limit of the lengths of codes and the depths of phrases
MAX_SYMBOLS = 65535
HEAD_FORMAT = "IIIIIIII%dH" % (N_LENGTHS * N_DEPTHS)
HEAD_SIZE = struct.calcsize("<" + HEAD_FORMAT)
PAD = 8                 # zero bytes after the codes: they are read eight bytes at a time
WORDS = re.compile(rb" ?[A-Za-z]+|.", re.DOTALL)
END, GONE = -1, -2


class SymbolSeries:
    """All texts in sequence, as a list with removable elements."""

    def __init__(self, texts):
        self.symbols = [s for text in texts for s in (*text, END)]
        n = len(self.symbols)
        self.before, self.after = list(range(-1, n - 1)), list(range(1, n + 1))
        self.places = collections.defaultdict(set)
        for i, pair in enumerate(zip(self.symbols, self.symbols[1:])):
            if min(pair) >= 0:
                self.places[pair].add(i)

    def replace_pair(self, pair, symbol):
        """Replaces all occurrences of @pair by @symbol. Returns the new pairs."""
        symbols, before, after, places = self.symbols, self.before, self.after, self.places
        arisen = {}
        for i in sorted(places.pop(pair)):
            j = after[i]
            if symbols[i] != pair[0] or symbols[j] != pair[1]:
                continue        # overlaps the occurrence before it: "aaa"
            left, right = before[i], after[j]
            if left >= 0 and symbols[left] >= 0:
                places[symbols[left], pair[0]].discard(left)
                places[symbols[left], symbol].add(left)
                arisen[symbols[left], symbol] = None
            if symbols[right] >= 0:
                places[pair[1], symbols[right]].discard(j)
                places[symbol, symbols[right]].add(i)
                arisen[symbol, symbols[right]] = None
            symbols[i], symbols[j], after[i], before[right] = symbol, GONE, right, i
        return arisen

    def split_texts(self):
        text = []
        for s in self.symbols:
            if s == END:
                yield text
                text = []
            elif s != GONE:
                text.append(s)


class Grammar:
    """Phrases: symbol 256 + i is the pair @phrases[i]."""

    def __init__(self):
        self.phrases, self.depths = [], [0] * N_CHARACTERS

    def add_phrase(self, pair):
        """The symbol of a new phrase."""
        self.phrases.append(pair)
        self.depths.append(1 + max(self.depths[s] for s in pair))
        return N_CHARACTERS + len(self.phrases) - 1

    def pair_up(self, texts):
        """Replaces pairs in @texts, lists of symbols, by phrases."""
        series = SymbolSeries(texts)
        heap = [(-len(at), pair) for pair, at in series.places.items() if len(at) >= FEWEST]
        heapq.heapify(heap)
        while heap and len(self.depths) < MAX_SYMBOLS:
            often, pair = heapq.heappop(heap)
            n = len(series.places.get(pair, ()))
            if n < FEWEST or max(self.depths[s] for s in pair) + 1 >= N_DEPTHS:
                continue
            if n != -often:
                heapq.heappush(heap, (-n, pair))
                continue
            for new in series.replace_pair(pair, self.add_phrase(pair)):
                if len(series.places[new]) >= FEWEST:
                    heapq.heappush(heap, (-len(series.places[new]), new))
        return list(series.split_texts())

    def join_symbols(self, symbols):
        """Joins symbols to one: the halves form a phrase."""
        if len(symbols) == 1:
            return symbols[0]
        half = len(symbols) // 2
        return self.add_phrase(
            (self.join_symbols(symbols[:half]), self.join_symbols(symbols[half:])))

    def parse_texts(self, texts):
        """Returns the symbols of each of the @texts. Frequent words are symbols from the start,
        which is faster than starting with characters."""
        split = [WORDS.findall(text) for text in texts]
        often = collections.Counter(itertools.chain.from_iterable(split))
        frequent = [word for word, n in often.items() if n >= FEWEST and len(word) > 1]
        symbols = dict(zip(frequent,
                           ([self.join_symbols(part)] for part in self.pair_up(frequent))))
        return self.pair_up([[s for word in words for s in symbols.get(word, word)]
                             for words in split])


def compute_code_lengths(often):
    """Returns {symbol: length of its code} for counts of symbols, all shorter than N_LENGTHS."""
    while True:
        heap = [(n, i, (s,)) for i, (s, n) in enumerate(sorted(often.items()))]
        lengths = dict.fromkeys(often, 0 if len(often) > 1 else 1)
        heapq.heapify(heap)
        number = len(heap)
        while len(heap) > 1:
            (a, _, left), (b, _, right) = heapq.heappop(heap), heapq.heappop(heap)
            for s in left + right:
                lengths[s] += 1
            heapq.heappush(heap, (a + b, number, left + right))
            number += 1
        if max(lengths.values()) < N_LENGTHS:
            return lengths
        often = {s: n + 1 >> 1 for s, n in often.items()}       # flatter counts


def number_symbols(grammar, lengths):
    """Returns (symbols in the order of their numbers, counts by length and depth). Symbols are
    sorted by the length of their code, those without a code last, then by depth, then by their
    pairs."""
    groups = collections.defaultdict(list)
    used = {s for pair in grammar.phrases for s in pair} | set(lengths)
    for s, depth in enumerate(grammar.depths):
        if depth or s in used:
            groups[lengths.get(s, 0), depth].append(s)
    starts, at = {}, 0
    order = [(length, depth) for length in (*range(1, N_LENGTHS), 0) for depth in range(N_DEPTHS)]
    for key in order:
        starts[key] = at
        at += len(groups[key])
    numbers = {}
    # phrases consist of less deep ones, which are numbered already
    for depth in range(N_DEPTHS):
        for length in range(N_LENGTHS):
            group = groups[length, depth]
            if depth:
                group.sort(
                    key=lambda s: [numbers[part] for part in grammar.phrases[s - N_CHARACTERS]])
            for i, s in enumerate(group, starts[length, depth]):
                numbers[s] = i
    return numbers, [groups[key] for key in order]


def encode_gamma(n):
    """Returns Elias' gamma code of @n >= 1."""
    bits = bin(n)[2:]
    return "0" * (len(bits) - 1) + bits


def write_phrases(grammar, numbers, groups):
    """Returns the bits of characters and phrases in the order of their numbers."""
    right_bits = "{:0%db}" % max(1, (len(numbers) - 1).bit_length())
    out = []
    for group in groups:
        before = 0
        for s in group:
            if s < N_CHARACTERS:
                out.append("{:08b}".format(s))
                continue
            left, right = (numbers[part] for part in grammar.phrases[s - N_CHARACTERS])
            out += encode_gamma(left - before + 1), right_bits.format(right)
            before = left
    return "".join(out)


def convert_to_bytes(bits):
    """Converts bits, given as text, to bytes with padding."""
    n = -(-len(bits) // 8)
    return int(bits.ljust(8 * n, "0") or "0", 2).to_bytes(n, "big")


def lay_out(texts):
    """Returns ({text: offset among the unpacked texts}, texts of each block)."""
    places, blocks, at = {}, [], BLOCK_SIZE
    for text in texts:
        if at + len(text) + 1 > BLOCK_SIZE - BLOCK_SLACK:
            blocks.append([])
            at = 0
        places[text] = (len(blocks) - 1) * BLOCK_SIZE + at
        blocks[-1].append(text)
        at += len(text) + 1
    return places, blocks


def is_packable(text):
    return len(text) < BLOCK_SIZE - BLOCK_SLACK


def pack_texts(texts, order):
    """Returns ({text: offset}, packed bytes) for the @texts, distinct bytes; @order is the byte
    order."""
    places, blocks = lay_out(texts)
    grammar = Grammar()
    parsed = dict(zip(texts, grammar.parse_texts(texts)))
    often = collections.Counter(itertools.chain.from_iterable(parsed.values()))
    often[0] = len(texts)       # terminating NUL of each text
    lengths = compute_code_lengths(often)
    numbers, groups = number_symbols(grammar, lengths)
    codes, code, length = {}, 0, 1
    for s in sorted(lengths, key=numbers.get):
        code <<= lengths[s] - length
        length = lengths[s]
        codes[s] = "{:0{}b}".format(code, length)
        code += 1
    phrases = write_phrases(grammar, numbers, groups)
    bodies = ["".join([codes[s] for text in block for s in (*parsed[text], 0)]) for block in blocks]
    bits_at = HEAD_SIZE + 4 * (len(blocks) + 1)
    starts = list(itertools.accumulate(map(len, bodies), initial=8 * bits_at + len(phrases)))
    raw = convert_to_bytes(phrases + "".join(bodies))
    size = bits_at + len(raw) + PAD
    size += -size % 8
    counts = [0] * (N_LENGTHS * N_DEPTHS)
    for i, group in enumerate(groups):
        length, depth = i // N_DEPTHS + 1, i % N_DEPTHS
        counts[length % N_LENGTHS * N_DEPTHS + depth] = len(group)
    rest = struct.pack("%s%dI" % (order, len(starts)), *starts) + raw
    head = struct.pack(order + HEAD_FORMAT, size, len(blocks), len(numbers),
                       HEAD_SIZE, bits_at, zlib.crc32(rest), 0, 0, *counts)
    return places, (head + rest).ljust(size, b"\0")


def read_identity(packed, order):
    """Returns (number of bytes of the unpacked texts, their identity) from the head of each
    table."""
    head = struct.unpack_from(order + "IIIIII", packed)
    return BLOCK_SIZE * head[1], head[5]


def get_memory_size(packed, order):
    """Bytes of memory for unpacked texts: struct text_memory in lib/table/texts.c."""
    _, n_blocks, n_symbols = struct.unpack_from(order + "III", packed)
    return 8 * n_symbols + n_blocks + -n_blocks % 8 + N_CHARACTERS + BLOCK_SIZE * n_blocks


class BitReader:
    """Reads bits from bit number @at on."""

    def __init__(self, raw, at):
        self.text, self.at = bin(int.from_bytes(b"\1" + raw, "big"))[3:], at

    def read_bits(self, n):
        self.at += n
        return int(self.text[self.at - n:self.at] or "0", 2)

    def read_gamma(self):
        n = self.text.index("1", self.at) - self.at
        self.at += n
        return self.read_bits(n + 1)


def read_symbols(packed, order):
    """Returns (text of each symbol, {code as text of bits: symbol})."""
    _, _, n_symbols, _, at, _, _, _, *counts = struct.unpack_from(order + HEAD_FORMAT, packed)
    bits, right_bits, pairs, codes, code = BitReader(packed,
                                                     8 * at), max(1, (n_symbols -
                                                                      1).bit_length()), [], {}, 0
    for length in (*range(1, N_LENGTHS), 0):
        code <<= 1
        for depth in range(N_DEPTHS):
            left = 0
            for _ in range(counts[length * N_DEPTHS + depth]):
                if length:
                    codes["{:0{}b}".format(code, length)] = len(pairs)
                    code += 1
                if depth:
                    left += bits.read_gamma() - 1
                    pairs.append((left, bits.read_bits(right_bits)))
                else:
                    pairs.append(bytes([bits.read_bits(8)]))
    known = {}

    def expand_symbol(s):
        if s not in known:
            pair = pairs[s]
            known[s] = pair if isinstance(
                pair, bytes) else expand_symbol(pair[0]) + expand_symbol(pair[1])
        return known[s]
    return list(map(expand_symbol, range(n_symbols))), codes


def unpack_texts(packed, order):
    """Returns the unpacked texts, each block padded with zeros."""
    _, n_blocks, _, blocks = struct.unpack_from(order + "IIII", packed)
    texts, codes = read_symbols(packed, order)
    starts = struct.unpack_from("%s%dI" % (order, n_blocks + 1), packed, blocks)
    bits, out = BitReader(packed, 0).text, []
    for start, stop in zip(starts, starts[1:]):
        parts, code = [], ""
        for bit in bits[start:stop]:
            code += bit
            if code in codes:
                parts.append(texts[codes[code]])
                code = ""
        out.append(b"".join(parts).ljust(BLOCK_SIZE, b"\0"))
    return b"".join(out)
