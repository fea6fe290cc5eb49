# SPDX-License-Identifier: MIT
"""Splits .pmu files into words: a statement is a list of tokens with their positions."""

import re

from language import tables as pt

NAME = re.compile(r"[a-z0-9_]+")
NUMBER = re.compile(r"0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,20})")
IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class StatementError(Exception):
    """An error with its position."""

    def __init__(self, where, text):
        """Keeps position and text."""
        super().__init__(text)
        self.where, self.text = where, text


class Token:
    """A word of a line. A word that begins with a quote is a text; in other words, '=' separates
    key and value."""
    __slots__ = ("raw", "file", "line", "col")

    def __init__(self, raw, file, line, col):
        """Keeps a word and its position."""
        self.raw, self.file, self.line, self.col = raw, file, line, col

    def get_position(self, offset=0):
        """(file, line, column) of the word, or of a character in it."""
        return self.file, self.line, self.col + offset

    def is_text(self):
        """True for a quoted text."""
        return self.raw.startswith('"')

    def get_text(self):
        """The word without quotes."""
        return unquote_text(self.raw)

    def split_pair(self):
        """Returns (key, value token); the value is None without '='."""
        if self.is_text():
            raise StatementError(self.get_position(), "expected KEY=VALUE, got a text")
        key, equals, value = self.raw.partition("=")
        if '"' in key:
            raise StatementError(self.get_position(), "a quote inside a key")
        if not equals:
            return key, None
        return key, Token(value, self.file, self.line, self.col + len(key) + 1)

    def split_list(self, mark=","):
        """Splits at unquoted marks into tokens."""
        if '"' not in self.raw:
            parts, col = [], self.col
            for part in self.raw.split(mark):
                parts.append(Token(part, self.file, self.line, col))
                col += len(part) + 1
            return parts
        parts, start, quoted, i = [], 0, False, 0
        while i < len(self.raw):
            c = self.raw[i]
            if c == "\\" and quoted:
                i += 1
            elif c == '"':
                quoted = not quoted
            elif c == mark and not quoted:
                parts.append(Token(self.raw[start:i], self.file, self.line, self.col + start))
                start = i + 1
            i += 1
        parts.append(Token(self.raw[start:], self.file, self.line, self.col + start))
        return parts

    def parse_number(self):
        """The number that the word is."""
        m = NUMBER.fullmatch(self.raw)
        n = int(m[1], 16) if m and m[1] else int(m[2]) if m else None
        if n is None or n > pt.ALL64:
            raise StatementError(self.get_position(), "'%s' is not a number" % self.raw if self.raw
                                 else "a number is missing")
        return n


def unquote_text(raw):
    """A text without its quotes and backslashes."""
    return re.sub(r'\\(.)|"', lambda m: m[1] or "", raw)


class RowLine:
    """A line with an event or a metric. Most lines are rows, so they are split only when they are
    compiled, and into tokens only after an error."""
    __slots__ = ("file", "number", "text")

    def __init__(self, file, number, text):
        """Keeps the line of a row, which is split later."""
        self.file, self.number, self.text = file, number, text

    def split_row(self):
        """Returns (whether it is a metric, its name, the other words, its description, the long
        text or None) without quotes; None if only make_tokens() can parse the line."""
        words, texts = self.find_words()
        if not words or len(words) < 2 or len(texts) > 2:
            return None
        return words[0] == "metric", words[1], tuple(
            words[2:]), texts[0] if texts else "", texts[1] if len(texts) > 1 else None

    def find_words(self):
        """Returns (the line's words, the texts among them without quotes), or (None, None) if only
        make_tokens() can parse the line."""
        text = self.text
        head, quote, tail = text.partition(' "')
        if "\\" not in text and "#" not in head and '"' not in head:
            texts = tail[:-1].split('" "') if quote else []
            if not quote or tail[-1:] == '"' and '"' not in "".join(texts):
                return head.split(), texts
        return self.find_mixed_words()

    def find_mixed_words(self):
        """Returns find_words() of a line with texts among the words."""
        text = self.text
        words = WORD.findall(text)
        texts = [w[1:-1] for w in words[2:] if w[0] == '"']
        if (
            "\\" in text
            or text.count('"') & 1
            or words[1:2]
            and words[1][0] == '"'
            or '"' in "".join(texts)
            or "#" in text
            and "#" in "".join(text.split('"')[::2])
        ):
            return None, None
        return [w for w in words if w[0] != '"'], texts

    def make_tokens(self, errors):
        """Returns the line as tokens; [] if it is malformed."""
        return next(split_tokens(self.text, self.file, errors, self.number), [])


WORD = re.compile(r'(?:[^\s"]+|"[^"]*")+')
ROW_STARTS = ("event ", "metric ")


def split_statements(text, file, errors, start=1):
    """Statements of a text whose first line has the number @start: lists of tokens and RowLines."""
    waiting, first = [], 0
    for number, line in enumerate(text.split("\n"), start):
        if not waiting and line.startswith(ROW_STARTS) and not line.endswith(("\\", "\\\r")):
            yield RowLine(file, number, line)
            continue
        if not line or line[0] == "#" and not waiting:
            continue
        first = first if waiting else number
        waiting.append(line)
        if not line.rstrip().endswith("\\"):
            yield from split_tokens("\n".join(waiting), file, errors, first)
            waiting = []
    if waiting:
        yield from split_tokens("\n".join(waiting), file, errors, first)


def split_tokens(text, file, errors, first=1):
    """Statements of a text whose first line has the number @first: lists of tokens."""
    statement, broken = [], False
    for number, line in enumerate(text.split("\n"), first):
        line = line.rstrip("\r")
        if not statement and is_plain_line(line):
            words = [Token(m[0], file, number, m.start() + 1) for m in WORD.finditer(line)]
            if words:
                yield words
            continue
        i, n = 0, len(line)
        continued = False
        while i < n:
            c = line[i]
            if c in " \t":
                i += 1
                continue
            if c == "#":
                break
            if c == "\\" and not line[i + 1:].strip():
                continued = True
                break
            i, word = find_word(line, i)
            if word is None:
                errors.append(((file, number, i + 1), "a text that does not end"))
                broken = True
                break
            statement.append(Token(word, file, number, i - len(word) + 1))
        if not continued:
            if statement and not broken:
                yield statement
            statement, broken = [], False
    if statement and not broken:
        yield statement


def is_plain_line(line):
    """True if the words of a line are what a pattern finds."""
    return "\\" not in line and "#" not in line and not line.count('"') & 1


def find_word(line, i):
    """Returns (end of the word at @i, the word); (start, None) for a text that does not end."""
    start, n, quoted = i, len(line), None
    while i < n and (quoted is not None or line[i] not in ' \t#'):
        if quoted is not None and line[i] == "\\" and i + 1 < n:
            i += 1
        elif line[i] == '"':
            quoted = i if quoted is None else None
        elif quoted is None and line[i] == "\\" and not line[i + 1:].strip():
            break
        i += 1
    return (i, line[start:i]) if quoted is None else (quoted, None)
