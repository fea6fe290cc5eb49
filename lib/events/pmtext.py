# SPDX-License-Identifier: MIT
"""The words of a .pmu file: a statement is a list of tokens, and each knows its place."""

import re

import pmtable as pt

NAME = re.compile(r"[a-z0-9_]+")
IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class Bad(Exception):
    """An error at a place."""

    def __init__(self, where, text):
        super().__init__(text)
        self.where, self.text = where, text


class Token:
    """A word of a line. A word that starts with a quote is a text; in another, '=' splits key and value."""
    __slots__ = ("raw", "file", "line", "col")

    def __init__(self, raw, file, line, col):
        self.raw, self.file, self.line, self.col = raw, file, line, col

    def at(self, offset=0):
        return self.file, self.line, self.col + offset

    def is_text(self):
        return self.raw.startswith('"')

    def text(self):
        return unquote(self.raw)

    def pair(self):
        """(key, value token); value None without '='."""
        if self.is_text():
            raise Bad(self.at(), "a text where KEY=VALUE is expected")
        key, equals, value = self.raw.partition("=")
        if '"' in key:
            raise Bad(self.at(), "a quote inside a key")
        if not equals:
            return key, None
        return key, Token(value, self.file, self.line, self.col + len(key) + 1)

    def split(self, mark=","):
        """Parts between unquoted marks, each a token."""
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

    def number(self):
        m = re.fullmatch(r"0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,20})", self.raw)
        n = int(m[1], 16) if m and m[1] else int(m[2]) if m else None
        if n is None or n > pt.ALL64:
            raise Bad(self.at(), "'%s' is not a number" % self.raw if self.raw else "a number is missing")
        return n


def unquote(raw):
    return re.sub(r'\\(.)|"', lambda m: m[1] or "", raw)


def tokens(text, file, errors):
    """Statements of a file: lists of tokens."""
    statement, broken = [], False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
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
            start, quoted = i, None
            while i < n and (quoted is not None or line[i] not in ' \t#'):
                if quoted is not None and line[i] == "\\" and i + 1 < n:
                    i += 1
                elif line[i] == '"':
                    quoted = i if quoted is None else None
                elif quoted is None and line[i] == "\\" and not line[i + 1:].strip():
                    break
                i += 1
            if quoted is not None:
                errors.append(((file, number, quoted + 1), "a text that does not end"))
                broken = True
                i = n
            else:
                statement.append(Token(line[start:i], file, number, start + 1))
        if not continued:
            if statement and not broken:
                yield statement
            statement, broken = [], False
    if statement and not broken:
        yield statement
