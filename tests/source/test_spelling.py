#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Spelling of documents and manual pages: aspell with the project's words, tests/prose/words.txt.

    tests/source/test_spelling.py --unknown    prints the unknown words, one on each line
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import tap

SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = os.path.join(SOURCE, "tests", "prose", "words.txt")
GENERATED = ("docs/audit.md", "docs/metrics.md")
# British and American spelling are both known words; the glossary of style decides elsewhere.
LANGUAGES = ("en_US", "en_GB")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def prose_of_markdown(text):
    """The text without code, addresses and comments."""
    for code in (
        r"(?ms)^ *```.*?^ *```$",
        r"`[^`]*`",
        r"https?://\S+",
        r"\]\([^)]*\)",
        r"(?s)<!--.*?-->",
        r"(?m)^ {4}.*$",
    ):
        text = re.sub(code, " ", text)
    return text


def prose_of_page(text):
    """Lines of text: no requests, no displays, no columns."""
    text = re.sub(r"(?ms)^\.Bd -literal.*?^\.Ed$", " ", text)
    text = re.sub(r"(?ms)^\.Bl -column.*?^\.El$", " ", text)
    return re.sub(r"\\.", " ", re.sub(r"(?m)^\..*$", " ", text))


def without_names(text):
    """Names of options, functions, files and events are not words."""
    text = re.sub(r"\S*[_/@=<>$#~*|]\S*|--\S+", " ", text)
    return re.sub(r"\b\w*\d\w*\b|\b[A-Z][A-Z.]+s?\b|\w+\(\d*\)|\b\w+\.\w+\b", " ", text)


def documents():
    """Path -> prose."""
    paths = [
        os.path.join(SOURCE, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
    ]
    paths += glob.glob(os.path.join(SOURCE, "docs", "*.md")) + glob.glob(
        os.path.join(SOURCE, "docs", "guide", "*.md"))
    found = {os.path.relpath(p, SOURCE): prose_of_markdown(read(p)) for p in sorted(paths)}
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs", "man*", "*.[1-9]"))):
        found[os.path.relpath(path, SOURCE)] = prose_of_page(read(path))
    return {p: without_names(t) for p, t in found.items() if p not in GENERATED}


def misspelled(text):
    """Words that aspell has in neither language."""
    for language in LANGUAGES:
        done = subprocess.run(["aspell", "list", "-l", language, "--encoding=utf-8"], input=text,
                              capture_output=True, text=True, check=True)
        text = "\n".join(sorted(set(done.stdout.split())))
    return set(text.split())


def own_words():
    return {
        line.strip().lower() for line in read(WORDS).splitlines()
        if line.strip() and not line.startswith("#")
    }


def is_own(word, own):
    word = word.lower()
    return word in own or re.sub(r"'s$|s'$|'$", "", word) in own


def unknown_words():
    """(path, word) of each unknown word."""
    texts, own = documents(), own_words()
    wrong = {w for w in misspelled("\n".join(texts.values())) if not is_own(w, own)}
    return [(p, w) for p, t in texts.items()
            for w in sorted(wrong & set(re.findall(r"[A-Za-z][A-Za-z']*", t)))]


class Spelling(unittest.TestCase):
    maxDiff = None

    @unittest.skipUnless(shutil.which("aspell"),
                         "aspell is missing (Debian packages aspell, aspell-en)")
    def test_documents_and_pages(self):
        self.assertEqual(unknown_words(), [], "misspelled, or missing in tests/prose/words.txt")

    def test_words_are_sorted_and_in_use(self):
        lines = [
            line for line in read(WORDS).splitlines() if line.strip() and not line.startswith("#")
        ]
        self.assertEqual(lines, sorted(set(lines), key=str.lower))
        text = "\n".join(documents().values()).lower()
        self.assertEqual([w for w in lines if w.lower() not in text], [], "unused")


if __name__ == "__main__":
    if sys.argv[1:] == ["--unknown"]:
        print("\n".join(sorted({w for _, w in unknown_words()}, key=str.lower)))
    else:
        tap.main()
