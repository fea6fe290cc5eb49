#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Regular expressions of the compiler: none takes more than linear time for each start of a match.

A pattern is ambiguous where two unbounded repeats with a common character follow each other, or
where the body of an unbounded repeat can match one text in two ways: before a match fails, each
division of that text between them is tried.
"""

import ast
import glob
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILER = os.path.join(os.path.dirname(HERE), "compiler")
sys.dont_write_bytecode = True
sys.path[:0] = [HERE]
from tap import main  # noqa: E402

try:
    from re import _constants as sre, _parser as parser
except ImportError:                         # before Python 3.11
    import sre_constants as sre
    import sre_parse as parser

CHARACTERS = [chr(c) for c in range(128)]
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
CATEGORIES = {sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
              sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w",
              sre.CATEGORY_NOT_WORD: r"\W"}
# Patterns whose input is short or our own, with the reason.
ALLOWED = {
    r"^(.*?)([0-9]+)([^0-9]*)$": "words of names, which have 240 characters at most",
    r'(?:[^\s"]+|"[^"]*")+': "nothing follows the repeat, so it never gives back",
    r"\s*((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*((?![0-9.]).*)":
        "the last repeat takes each character, so nothing fails after it",
    r"(.*?)(\d+)": "names of libpfm4's PMUs, at build time",
    r'^event +(\S+)([^"\n]*)"([^"]*)"': "our own tables, at build time",
}


def match_set(items):
    """The characters that a set of sre matches."""
    out, negated = set(), False
    for op, value in items:
        if op is sre.NEGATE:
            negated = True
        elif op is sre.LITERAL:
            out.add(chr(value))
        elif op is sre.RANGE:
            out |= {c for c in CHARACTERS if value[0] <= ord(c) <= value[1]}
        elif op is sre.CATEGORY:
            out |= {c for c in CHARACTERS if re.match(CATEGORIES[value], c)}
    return set(CHARACTERS) - out if negated else out


class Node:
    """Properties of a part of a pattern: the characters that it can begin with and contain, those
    of each part that it must contain, whether it can be empty, and whether it repeats without a
    bound."""

    def __init__(self, first=(), inside=(), is_empty=False, is_unbounded=False, is_optional=False,
                 steps=None):
        self.first, self.inside, self.is_empty = set(first), set(inside), is_empty
        self.is_unbounded, self.is_optional = is_unbounded, is_optional
        self.steps = [self.inside] if steps is None else steps

    def can_give_to(self, right):
        """True if @right can match a text that this node matches."""
        return self.inside & right.first and all(s & right.inside for s in self.steps)


class Search:
    def __init__(self):
        self.faults = []

    def visit_sequence(self, items, in_loop):
        nodes = [self.visit(op, value, in_loop) for op, value in items]
        for i, left in enumerate(nodes):
            if not (left.is_unbounded or in_loop and left.is_optional):
                continue
            for right in nodes[i + 1:]:
                if (right.is_unbounded or in_loop) and left.can_give_to(right):
                    self.faults.append("%s and what follows it" % "".join(sorted(
                        left.inside & right.first))[:10])
                if not right.is_empty:
                    break
        first = set()
        for n in nodes:
            first |= n.first
            if not n.is_empty:
                break
        return Node(first, set().union(*[n.inside for n in nodes]),
                    all(n.is_empty for n in nodes),
                    bool(nodes) and nodes[-1].is_unbounded, False,
                    [step for n in nodes if not n.is_empty for step in n.steps])

    def visit_repeat(self, low, high, items, in_loop):
        is_unbounded = high == sre.MAXREPEAT
        body = self.visit_sequence(items, in_loop or is_unbounded)
        if is_unbounded and body.is_unbounded and self.get_last(items).inside & body.first:
            self.faults.append("a repeat in a repeat")
        return Node(body.first, body.inside, low == 0 or body.is_empty, is_unbounded,
                    low != high, body.steps)

    def get_last(self, items):
        op, value = list(items)[-1]
        return Search().visit(op, value, False)

    def visit(self, op, value, in_loop):
        if op in REPEATS:
            return self.visit_repeat(*value, in_loop)
        if op is sre.SUBPATTERN:
            return self.visit_sequence(value[3], in_loop)
        if op is sre.BRANCH:
            parts = [self.visit_sequence(p, in_loop) for p in value[1]]
            return Node(set().union(*[p.first for p in parts]),
                        set().union(*[p.inside for p in parts]),
                        any(p.is_empty for p in parts), any(p.is_unbounded for p in parts))
        if op is sre.IN:
            got = match_set(value)
        elif op is sre.LITERAL:
            got = {chr(value)}
        elif op is sre.NOT_LITERAL:
            got = set(CHARACTERS) - {chr(value)}
        elif op is sre.ANY:
            got = set(CHARACTERS)
        else:
            return Node(is_empty=True)
        return Node(got, got)


def find_faults(pattern):
    s = Search()
    s.visit_sequence(parser.parse(pattern), False)
    return s.faults


def list_patterns():
    """Yields (file, line, pattern) of all constant texts that functions of re are called with, and
    of constants that parts of patterns are made of."""
    for path in sorted(glob.glob(os.path.join(COMPILER, "**", "*.py"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read())
        constants = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                constants[node.targets[0].id] = node.value
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and \
                    isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and \
                    node.args and node.func.attr != "escape":
                yield os.path.relpath(path, COMPILER), node.lineno, resolve(node.args[0], constants)


def resolve(node, constants):
    """The text of an expression; None for one that is not known before it runs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
    if isinstance(node, ast.Name) and node.id in constants:
        return resolve(constants[node.id], constants)
    if isinstance(node, ast.BinOp):
        right = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        parts = [resolve(n, constants) for n in [node.left] + right]
        if None in parts:
            return None
        return parts[0] % tuple(parts[1:]) if isinstance(node.op, ast.Mod) else "".join(parts)
    return None


class Patterns(unittest.TestCase):
    def test_the_search_finds_known_faults(self):
        for pattern in (r"[0-9]+\.?[0-9]*x", r"(a+)+x", r"(?:a=0?[0-9]+,)*x", r"\s*.*\s*x"):
            self.assertTrue(find_faults(pattern), pattern)
        for pattern in (r"[0-9]+(?:\.[0-9]*)?x", r"(?:a+,)+x", r"(?:a=(?:0x)?[0-9]+,)*x"):
            self.assertFalse(find_faults(pattern), pattern)

    def test_no_pattern_of_the_compiler_is_ambiguous(self):
        found = [p for p in list_patterns() if p[2] is not None]
        self.assertGreater(len(found), 80)
        for path, line, pattern in found:
            with self.subTest("%s:%d" % (path, line)):
                if pattern not in ALLOWED:
                    self.assertEqual(find_faults(pattern), [], pattern)


if __name__ == "__main__":
    main()
