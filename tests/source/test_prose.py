# SPDX-License-Identifier: MIT
"""Prose of comments, messages and documents: no phrase that readers of the project stumbled
over."""

import ast
import io
import os
import re
import tokenize
import unittest

import tap

SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALLOWED = os.path.join(SOURCE, "tests", "prose", "allowed.txt")
MOST_ALLOWED = 40
MOST_COLUMNS = 100

# Pattern -> its replacement in plain English.
BANNED = {
    r"\b(?:is|are) none\b": "name the missing thing, or say 'is not'",
    r"\bthere (?:is|are) no such\b": "unknown X `token`",
    r"\b(?:is|are) told\b|\btold (?:of|apart|from|by|in|to)\b|\btells? of\b": (
        "reports, shows, says"
    ),
    r"\bwhom\b|\bof who \b": "name the person or the program",
    r"\bstands? in (?:for|the way)\b": "replaces; prevents",
    r"\bcomes? on top\b": "is added",
    r"\bthat (?:is|are) known here\b": "known",
    r"\bis no (?!longer\b|more\b|one\b|need\b|way\b)[a-z]+\b": "is not a; without; is missing",
    r"\bleft away\b|\bdoes not count then\b": "is omitted; is ignored",
    r"\bsay so\b|\bsays so\b": "name the statement",
    r"\bwhat stands (?:behind|before|there)\b": "name the text",
    r"\b[Tt]he way back\b": "decoding",
    r"\bcorridor\b": "encode path",
    r"\broom of\b|\brooms of\b": "module",
    r"\bwitness\b": "time reference event",
}
# Phrases refused outside the reference pages and headers.
BANNED_OUTSIDE_REFERENCE = {
    r"\b(?:no|any|some|every)body\b": "name the user, program or task; passive voice",
    r"\b[Ww]hoever\b": "name the user, program or task",
    r"\bstands?\b(?!.alone)": "represents, means; is, is placed",
    r"(?<!left.)(?<!@)\b[Bb]ehind\b": "after; of; through",
    r"\blies?\b": "is, are",
    r"\bknows\b": "has, supports, requires",
    r"(?<!who.)\bwants\b": "requires, needs, requests",
    r"\bfor want of\b": "because X is missing",
    r"\blent\b": "alias",
    r"\bis said\b": "is reported",
    r"\bnone (?:has|have|is|are)\b": "no X has; X is missing",
    r"\bhas got\b|\bhave got\b": "has, have",
    r"\bverdicts?\b|\bjudge(?:s|d)?\b|\bblame[sd]?\b": "count quality, cause",
    r"\bseam\b": "syscall table",
}
REFERENCE = ()


def compile_patterns(banned):
    return {re.compile(p.replace(" ", r"\s+")): better for p, better in banned.items()}


PATTERNS, OUTSIDE_REFERENCE = compile_patterns(BANNED), compile_patterns(BANNED_OUTSIDE_REFERENCE)
# A comment starts with the thing it is about.
FIRST_WORDS = re.compile(r"(?:The same|Else|What|Who|That|Whoever|Whatever)\b(?! [a-z-]+\?)")

C_FOLDERS = ("lib/", "tools/", "exporter/", "include/", "examples/")
PYTHON_FOLDERS = ("compiler/", "python/perfmon/")
# Strings here are data of tests; comments are read like all others.
COMMENT_FOLDERS = ("tests/", "bench/", "scripts/", "docs/", "python/", "examples/")
SCRIPTS = (".sh", "meson.build", "check", "quickstart")
PMU_FOLDERS = ("lib/events/", "tests/pmu/")
DOCUMENTS = ("docs/", "README", "CONTRIBUTING", "CHANGELOG", "python/README", "lib/events/README",
             "quickstart", "check")
GENERATED = ("docs/audit.md", "docs/metrics.md")
SKIPPED = (".", "build", "__pycache__", "obj-", "corpus")


def find_files(endings, below):
    """The project's files with one of @endings under one of @below, relative to the root."""
    found = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = sorted(f for f in folders if not f.startswith(SKIPPED))
        paths = [os.path.relpath(os.path.join(folder, name), SOURCE) for name in sorted(names)]
        found += [p for p in paths if p.endswith(endings) and p.startswith(below)]
    return found


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def blank(match):
    """Spaces in place of a match, so that positions stay."""
    return re.sub(r"[^\n]", " ", match[0])


LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def c_comments(text):
    """(position, text) of each comment."""
    for m in re.finditer(rf"{LITERAL}|/\*+<?(.*?)\*/|//([^\n]*)", text, re.S):
        comment = m[1] if m[1] is not None else m[2]
        if comment is not None:
            yield m.start(), re.sub(r"\n\s*\* ?", "\n", comment).strip()


def c_messages(text):
    """(position, text) of each string of two words or more; adjacent literals are one string."""
    without_comments = re.sub(r"(?s)/\*.*?\*/", blank, text)
    for m in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", without_comments):
        string = "".join(literal[1:-1] for literal in re.findall(LITERAL, m[0]))
        if " " in string:
            yield m.start(), string


def python_comments(text):
    """(position, text) of each comment and docstring."""
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    begins_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield at, token.string.lstrip("# ")
        elif token.type == tokenize.STRING and begins_statement:
            yield at, token.string.strip('r"').strip()
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def python_messages(text):
    """(position, text) of each string of two words or more."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def script_comments(text):
    """(position, text) of each comment of a shell or Meson file; rows of comments are one."""
    for m in re.finditer(r"(?m)^[ \t]*# (.*(?:\n[ \t]*# .*)*)", text):
        yield m.start(), re.sub(r"\n[ \t]*# ", "\n", m[1])


def pmu_comments(text):
    """(position, text) of each comment and of the processor's title."""
    for m in re.finditer(r'(?m)^# (.*)|  # (.*)|^pmu\s+\S+\s+"(.*)"', text):
        yield m.start(), next(g for g in m.groups() if g is not None)


def read_allowed():
    """(file, phrase) -> the reason why it may stay."""
    found = {}
    with open(ALLOWED, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                path, phrase, reason = line.rstrip("\n").split("\t")
                found[path, phrase] = reason
    return found


class Prose(unittest.TestCase):
    maxDiff = None

    def pieces(self):
        """(file, line, kind, text) of all prose."""
        for endings, folders, comments in (
                ((".c", ".h", ".hpp", ".cc"), C_FOLDERS + COMMENT_FOLDERS, c_comments),
                ((".py",), PYTHON_FOLDERS + COMMENT_FOLDERS, python_comments),
                (SCRIPTS, "", script_comments)):
            for path in find_files(endings, folders):
                text = read(path)
                for at, piece in comments(text):
                    yield path, text.count("\n", 0, at) + 1, "comment", piece
        for path in find_files((".c", ".h", ".hpp", ".cc"), C_FOLDERS):
            text = read(path)
            for at, piece in c_messages(text):
                yield path, text.count("\n", 0, at) + 1, "message", piece
        for path in find_files((".py",), PYTHON_FOLDERS):
            for line, piece in python_messages(read(path)):
                yield path, line, "message", piece
        for path in find_files((".pmu",), PMU_FOLDERS):
            text = read(path)
            for at, piece in pmu_comments(text):
                yield path, text.count("\n", 0, at) + 1, "table", piece
        for path in find_files((".md", ".1", ".3", ".5", ".7", "quickstart", "check"), DOCUMENTS):
            yield path, 1, "document", re.sub(r"(?ms)^ *```.*?^ *```$", blank, read(path))

    def find_banned(self):
        """(file, kind, phrase, sentence of the failure) of each banned phrase."""
        for path, first, kind, text in self.pieces():
            patterns = PATTERNS if path.startswith(REFERENCE) else {**PATTERNS, **OUTSIDE_REFERENCE}
            for pattern, better in patterns.items():
                for m in pattern.finditer(text):
                    phrase = " ".join(m[0].split())
                    line = first + text.count("\n", 0, m.start())
                    yield path, kind, phrase, f"{path}:{line}: {kind}: '{phrase}' ({better})"
            start = FIRST_WORDS.match(text) if kind == "comment" else None
            if start:
                yield path, kind, start[0], f"{path}:{first}: a comment starts with '{start[0]}'"

    def test_what_users_read_has_no_banned_pattern(self):
        """What users read has none. Of comments this prints advice."""
        allowed, used, wrong = read_allowed(), set(), []
        for path, kind, phrase, sentence in self.find_banned():
            if (path, phrase) in allowed:
                used.add((path, phrase))
            elif kind == "comment":
                print("# advice: " + sentence)
            else:
                wrong.append(sentence)
        self.assertEqual(wrong, [])
        self.assertEqual(sorted(set(allowed) - used), [], "unused entries of allowed.txt")

    def test_exceptions_are_few(self):
        self.assertLessEqual(len(read_allowed()), MOST_ALLOWED)

    def test_documents_have_short_lines(self):
        """Tables and addresses cannot be wrapped, nor can code."""
        wrong = []
        for path in find_files((".md",), DOCUMENTS):
            text = re.sub(r"(?ms)^ *```.*?^ *```$", blank, "" if path in GENERATED else read(path))
            for number, line in enumerate(text.splitlines(), 1):
                if len(line.rstrip()) > MOST_COLUMNS and not re.match(r" *\|",
                                                                      line) and "http" not in line:
                    wrong.append(f"{path}:{number}: {len(line)} columns")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    tap.main()
