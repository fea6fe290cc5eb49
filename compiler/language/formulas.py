# SPDX-License-Identifier: MIT
"""Formulas of metrics: what is written becomes a small postfix form that the library evaluates.

Two grammars are published, Intel's (letters that represent events) and perf's (names, with
backslashes before what perf would take for an operator), and .pmu files have one of their own that
both are turned into. All three are read by the one parser below; they differ in how a name looks
and in who says what it means. Loosest to tightest:

    A if C else B   | ||   ^   & &&   < > <= >= == = !=   + -   * / %   - (sign)   name number f()

The result is a graph in which equal parts are one node, printed as postfix code: characters from a
set that needs no quoting anywhere. lib/metric/run_code.c has the same list of instructions.

Formulas come with vendors' lists and are not trusted: length, depth, numbers and the size of the
code are bounded, and RefusedValue says what cannot be represented."""

import contextlib
import functools
import math
import re
import struct

from vendors.untrusted import MAX_FORMULA, RefusedValue

MAX_DEPTH = 100         # nesting of parentheses, signs and conditions
MAX_TOKENS = 60000
MAX_NODES = 20000
MAX_CODE = 16000        # characters of code
MAX_INPUTS = 224        # events and constants of one metric: its row has 255 values
MAX_STACK = 64          # of the evaluating machine, as in lib/metric/metric.h
MAX_SLOTS = 256
MAX_NUMBER = 64         # characters of a number

# instruction -> (character, operands)
OPS = {"+": ("+", 2), "-": ("-", 2), "*": ("*", 2), "/": ("/", 2), "%": ("%", 2), "<": ("<", 2),
       ">": (">", 2),
       "<=": ("[", 2), ">=": ("]", 2), "==": ("=", 2), "!=": ("!", 2), "&": ("&", 2), "|": ("|", 2),
       "^": ("^", 2),
       "min": ("m", 2), "max": ("M", 2), "d_ratio": ("d", 2), "neg": ("~", 1), "if": ("?", 3)}
FUNCTIONS = {"min": 2, "max": 2, "d_ratio": 2}
NAMED = ("source_count", "has_event", "strcmp_cpuid_str")    # their argument is a name, not a value
LEVELS = (("|", "||"), ("^",), ("&", "&&"), ("<", ">", "<=", ">=", "==", "=", "!="), ("+", "-"),
          ("*", "/", "%"))
BINDS = {op: level for level, ops in enumerate(LEVELS) for op in ops}
LEAVES = frozenset(("number", "input", "value"))    # nodes without operands
SAME = {"||": "|", "&&": "&", "=": "=="}
DIGITS = frozenset("0123456789.")
NO_NAME = DIGITS | frozenset("-+*/%<>=!()&|^,") | {""}    # characters that no name begins with
FORMULAS = 8192         # number of cached formulas

NUMBER = r"0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
OPERATOR = r"<\s*=|>\s*=|==|!=|&&|\|\||[-+*/%<>=()&|^,]"
SPACED = re.compile(r"[<>]\s+=")
NAMES = {
    "intel": r"#?[A-Za-z_][A-Za-z0-9_]*(?:\[0\])?",
    "perf": r"#?[A-Za-z_\\](?:\\.|[A-Za-z0-9_.:@?])*",
    "own": r"'[^']*'|#?[A-Za-z_][A-Za-z0-9_.@]*(?:::?[A-Za-z0-9_.]+(?:=[A-Za-z0-9_]+)?)*",
}
TOKEN = {k: re.compile(r"\s*(%s|%s|%s)" % (v, NUMBER, OPERATOR)) for k, v in NAMES.items()}
PLAIN = re.compile(NAMES["own"].replace("'[^']*'|", ""))


class Graph:
    """Expressions in which equal parts are stored once. A node is a number; operands have smaller
    numbers."""

    def __init__(self):
        """Begins an empty graph."""
        self.nodes = []
        self.known = {}

    def add_node(self, *what):
        """Returns the number of a node, which is new or known."""
        at = self.known.get(what)
        if at is None:
            if len(self.nodes) >= MAX_NODES:
                raise RefusedValue("Formula", "more than %d different parts" % MAX_NODES)
            at = self.known[what] = len(self.nodes)
            self.nodes.append(what)
        return at

    def add_number(self, value):
        """Returns the node of a number."""
        return self.add_node("number", value)


@contextlib.contextmanager
def limit_recursion():
    """Refuses formulas that exceed Python's recursion limit."""
    try:
        yield
    except RecursionError:
        raise RefusedValue("Formula", "nested too deeply") from None


# ---- text to postfix -----------------------------------------------------------------------------

class Formula:
    """A parsed formula, operands first: numbers as float, operators and functions by name, names as
    positions in @names, which has ("name", NAME) or (function, NAME)."""
    __slots__ = ("code", "names")

    def __init__(self, code, names):
        """Keeps the parts of a parsed formula."""
        self.code, self.names = tuple(code), tuple(names)


def split_words(text, grammar):
    """The words of a formula: names, numbers and operators; "" is the end."""
    if len(text) > MAX_FORMULA:
        raise RefusedValue("Formula", "more than %d characters" % MAX_FORMULA)
    text, pattern = text.rstrip(), TOKEN[grammar]
    parts = pattern.split(text)
    words = parts[1::2]
    if any(parts[::2]):
        at, m = 0, pattern.match(text)
        while m:
            at, m = m.end(), pattern.match(text, m.end())
        raise RefusedValue("Formula", "'%s' at character %d is not understood"
                           % (text[at:].lstrip()[:20], at))
    if len(words) > MAX_TOKENS:
        raise RefusedValue("Formula", "more than %d words" % MAX_TOKENS)
    if SPACED.search(text):
        words = ["".join(w.split()) if w[0] in "<>" else w for w in words]
    words.append("")
    return words


@functools.lru_cache(FORMULAS)
def parse_number(text):
    """Parses a decimal or hexadecimal number."""
    if len(text) > MAX_NUMBER:
        raise RefusedValue("Formula", "a number of %d characters" % len(text))
    value = float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
    if not math.isfinite(value):
        raise RefusedValue("Formula", "the number %s is too large" % text)
    return value


class Parser:
    """Parses one formula."""

    def __init__(self, text, grammar):
        """Splits a formula into words."""
        self.grammar = grammar
        self.words, self.at, self.depth = split_words(text, grammar), 0, 0
        self.code, self.names, self.known = [], {}, {}

    def parse_all(self):
        """Parses the whole formula."""
        self.parse_condition()
        if self.words[self.at]:
            raise RefusedValue("Formula", "'%s' is left over at the end" % self.words[self.at][:40])
        return Formula(self.code, self.names)

    def quote_next_word(self):
        """Returns the next word as quoted in messages."""
        return self.words[self.at][:40] or "the end"

    def expect_word(self, word):
        """Skips a word, or refuses another one."""
        if self.words[self.at] != word:
            raise RefusedValue("Formula",
                               "expected '%s' before %s" % (word, self.quote_next_word()))
        self.at += 1

    def enter_level(self):
        """Counts a nested part, of which there is a limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise RefusedValue("Formula", "nested more than %d deep" % MAX_DEPTH)

    def parse_condition(self):
        """Parses A if C else B."""
        self.enter_level()
        self.parse_operand()
        self.parse_operators(0)
        if self.words[self.at] == "if":
            self.at += 1
            self.parse_operand()
            self.parse_operators(0)
            self.expect_word("else")
            self.parse_condition()
            self.code.append("if")
        self.depth -= 1

    def parse_operators(self, level):
        """Parses the operators after an operand, of this level and higher ones, with their right
        operands."""
        words = self.words
        op = words[self.at]
        own = BINDS.get(op, -1)
        while own >= level:
            self.at += 1
            self.parse_operand()
            following = words[self.at]
            if BINDS.get(following, -1) > own:
                self.parse_operators(own + 1)
                following = words[self.at]
            self.code.append(SAME.get(op, op))
            op, own = following, BINDS.get(following, -1)

    def parse_operand(self):
        """Parses a number, a name, a call, a sign or parentheses."""
        word = self.words[self.at]
        if word == "(":
            self.at += 1
            self.parse_condition()
            self.expect_word(")")
            return
        what = self.known.get(word)
        if what is None or self.words[self.at + 1] == "(":
            self.parse_new_operand(word)
            return
        self.at += 1
        self.code.append(what)

    def parse_new_operand(self, word):
        """Parses an operand that is not a known name or number."""
        if word[:1] in NO_NAME or word in ("if", "else"):
            self.report_unexpected_word(word)
            return
        self.at += 1
        if self.words[self.at] == "(":
            self.parse_call(word)
            return
        self.code.append(self.known.setdefault(word, self.number_name("name", word)))

    def report_unexpected_word(self, word):
        """Parses the rarer operands, or refuses the word."""
        if word[:1] in DIGITS:
            self.at += 1
            self.code.append(self.known.setdefault(word, parse_number(word)))
        elif word == "-":
            self.at += 1
            self.enter_level()
            self.parse_operand()
            self.depth -= 1
            self.code.append("neg")
        else:
            raise RefusedValue("Formula", "expected a value before %s" % self.quote_next_word())

    def number_name(self, function, word):
        """Returns the position of a name."""
        return self.names.setdefault((function, self.strip_name_marks(word)), len(self.names))

    def parse_call(self, function):
        """Parses the arguments of a function."""
        self.at += 1
        if function in NAMED:
            word = self.words[self.at]
            if word[:1] in NO_NAME - DIGITS:
                raise RefusedValue("Formula", "%s takes a name" % function)
            self.at += 1
            self.expect_word(")")
            self.code.append(self.number_name(function, word))
            return
        if function not in FUNCTIONS:
            raise RefusedValue("Formula",
                               "no function '%s': min, max and d_ratio are known" % function[:40])
        self.parse_condition()
        for _ in range(FUNCTIONS[function] - 1):
            self.expect_word(",")
            self.parse_condition()
        self.expect_word(")")
        self.code.append(function)

    def strip_name_marks(self, name):
        """Removes the marks of perf's grammar from a name: pmu@a\\=1@ is pmu/a=1/."""
        if self.grammar == "perf":
            name = re.sub(r"@([^@]*)@:?", r"/\1/", name)
            return re.sub(r"\\(.)", r"\1", name)
        return name[1:-1] if name.startswith("'") else name


REWRITTEN = {}          # our text -> the Formula that it was formatted from


@functools.lru_cache(FORMULAS)
def parse_formula(text, grammar):
    """Returns the Formula of a text. Cached, because processors share most formulas."""
    known = REWRITTEN.get(text) if grammar == "own" else None
    if known:
        return known
    with limit_recursion():
        return Parser(text, grammar).parse_all()


# ---- postfix to text -----------------------------------------------------------------------------

# Operators with two sides: how tight they bind.
SIDES = {"|": 1, "^": 2, "&": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "==": 4, "!=": 4, "+": 5, "-": 5,
         "*": 6, "/": 6, "%": 6}
ATOM = 9


@functools.lru_cache(FORMULAS)
def get_number_text(value):
    """The shortest text that gives the number back."""
    short = "%g" % value
    return short if float(short) == value else repr(value)


def is_number(function, name):
    """True if a list has a number in place of a name."""
    return function == "name" and name[:1] in DIGITS


@functools.lru_cache(FORMULAS)
def get_name_text(function, name):
    """Returns a name, or a number in place of one, in the syntax of .pmu files."""
    if function != "name":
        return "%s('%s')" % (function, name)
    if is_number(function, name):
        try:
            return get_number_text(parse_number(name))
        except ValueError:
            raise RefusedValue("Formula",
                               "'%s' is neither a number nor a name" % name[:40]) from None
    return name if PLAIN.fullmatch(name) else "'%s'" % name


def add_parentheses(part, outer):
    """Returns a part, in parentheses if an operator of level @outer around it requires them."""
    text, own = part
    return "(%s)" % text if own < outer else text


def format_binary(op, left, right):
    """Returns (text, level) of an operator with two such operands."""
    (left, before), (right, behind), own = left, right, SIDES[op]
    return "%s %s %s" % (left if before >= own else "(%s)" % left, op,
                         right if behind > own else "(%s)" % right), own


def format_call(op, parts):
    """Formats a function, a condition or a sign over (text, level) pairs."""
    if op in FUNCTIONS:
        return "%s(%s)" % (op, ", ".join(text for text, _ in parts)), ATOM
    if op == "if":
        value, test, other = parts
        return "%s if %s else %s" % (add_parentheses(value, 1), add_parentheses(test,
                                                                                1), other[0]), 0
    return "-" + add_parentheses(parts[0], 7), 7


@functools.lru_cache(FORMULAS)
def format_formula(formula, names):
    """Formats a formula in the grammar of .pmu files; @names has the texts of its names."""
    stack, size = [], 0
    for what in formula.code:
        if type(what) is int:
            stack.append((names[what], ATOM))
            continue
        if type(what) is float:
            stack.append((get_number_text(what), ATOM))
            continue
        if what in SIDES:
            right = stack.pop()
            part = stack[-1] = format_binary(what, stack[-1], right)
        else:
            n = OPS[what][1]
            part = format_call(what, stack[-n:])
            stack[-n:] = [part]
        size += len(part[0])
        if size > 64 * MAX_FORMULA or len(part[0]) > MAX_FORMULA:
            raise RefusedValue("Formula", "more than %d characters when written out" % MAX_FORMULA)
    return stack[0][0]


def rewrite_formula(text, grammar, spell=None):
    """Translates a formula to the grammar of .pmu files; @spell(name) returns names in that
    grammar."""
    formula = parse_formula(text, grammar)
    names = tuple([(function, spell(name) if spell and function == "name" else name) for function,
                   name in formula.names])
    text = format_formula(formula, tuple([get_name_text(*name) for name in names]))
    if text not in REWRITTEN:
        REWRITTEN[text] = rename_inputs(formula, names)
    return text


def rename_inputs(formula, names):
    """Returns the Formula that parse() would return for the text with these names; None if it must
    be parsed."""
    if any([not PLAIN.fullmatch(name) and "'" in name or name in ("if", "else") for _,
            name in names]):
        return None
    at = {}
    places = [parse_number(name[1]) if is_number(*name) else at.setdefault(name, len(at))
              for name in names]
    return Formula([places[what] if type(what) is int else what for what in formula.code], at)


# ---- postfix to graph ----------------------------------------------------------------------------

def add_formula_to_graph(formula, graph, leaf):
    """Adds a formula to the graph. Returns its node; @leaf(function, name) returns the nodes of
    names."""
    nodes, stack, known, node = [leaf(*name)
                                 for name in formula.names], [], graph.known, graph.add_node
    for what in formula.code:
        if type(what) is int:
            stack.append(nodes[what])
        elif type(what) is float:
            stack.append(graph.add_number(what))
        elif what == "if":
            value, test, other = stack[-3:]
            stack[-3:] = [node("if", test, value, other)]
        elif what == "neg":
            stack[-1] = node("neg", stack[-1])
        else:
            right = stack.pop()
            part = what, stack[-1], right
            stack[-1] = known[part] if part in known else node(*part)
    return stack[0]


# ---- graph to code -------------------------------------------------------------------------------

@functools.lru_cache(FORMULAS)
def format_number(value, n):
    """Writes a number in @n characters of six bits each."""
    return "".join(chr(0x30 + (value >> 6 * i & 63)) for i in reversed(range(n)))


@functools.lru_cache(FORMULAS)
def encode_number(value):
    """Writes the instruction that pushes a number."""
    if value == int(value) and 0 <= value < 4096 and math.copysign(1, value) > 0:
        return "i" + format_number(int(value), 1) if value < 64 else "j" + format_number(int(value),
                                                                                         2)
    return "k" + format_number(int.from_bytes(struct.pack(">d", value), "big"), 11)


class CodeWriter:
    """Generates code for nodes. A value with several uses is computed once and stored in a slot."""

    def __init__(self, graph, inputs):
        """Begins code of a graph."""
        self.g, self.inputs = graph, inputs

    def write_code(self, root):
        """Returns the code that computes node @root."""
        uses = self.count_uses(root)
        self.out, self.slots = [], {}
        depth = self.emit_node(root, uses)
        text = "".join(self.out)
        if depth > MAX_STACK or len(text) > MAX_CODE or len(self.slots) > MAX_SLOTS:
            raise RefusedValue("Formula",
                               "too large: %d characters of code, %d deep" % (len(text), depth))
        return text

    def count_uses(self, root):
        """Counts the uses of each required node."""
        uses, todo, nodes = {root: 1}, [root], self.g.nodes
        while todo:
            node = nodes[todo.pop()]
            if node[0] in LEAVES:
                continue
            for a in node[1:]:
                if a in uses:
                    uses[a] += 1
                else:
                    uses[a] = 1
                    todo.append(a)
        return uses

    def emit_leaf(self, op, what):
        """The instruction of a node without operands."""
        return "e" + format_number(self.inputs.index_of(
            what), 2) if op == "input" else encode_number(what) if op == "number" else "v"

    def emit_node(self, at, uses):
        """Appends the code of a node. Returns the stack depth that it needs."""
        node = self.g.nodes[at]
        op, last = node[0], node[-1]
        if op in LEAVES:
            self.out.append(self.emit_leaf(op, last))
            return 1
        if at in self.slots:
            self.out.append("l" + format_number(self.slots[at], 2))
            return 1
        need, i = 0, 0
        for a in node[1:]:
            need = max(need, i + self.emit_node(a, uses))
            i += 1
        self.out.append(OPS[op][0])
        if uses[at] > 1:
            self.slots[at] = len(self.slots)
            self.out.append("s" + format_number(self.slots[at], 2))
        return need


class Inputs:
    """Inputs of a metric in the order of its code: names, and the list's spelling if it differs."""

    def __init__(self, names=()):
        """Begins with the names of other code."""
        self.names = list(names)
        self.at = {name: i for i, name in enumerate(names)}

    def index_of(self, name):
        """Returns the position of a name, which is new or known."""
        at = self.at.get(name)
        if at is None:
            if len(self.names) >= MAX_INPUTS:
                raise RefusedValue("Formula", "more than %d events" % MAX_INPUTS)
            at = self.at[name] = len(self.names)
            self.names.append(name)
        return at
